//! Which dimension of a convolution's operands and result is which.

use std::fmt;

/// How many dimensions an array may have.
const MAX_RANK: i64 = 255;

/// The roles of the dimensions of a convolution, `b01f_01io->b01f` in HLO text: for the input, the kernel and the output
/// the position of each role.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ConvolutionDimensions {
    /// The input's batch dimension (`b`).
    pub input_batch: i64,
    /// The input's feature dimension (`f`).
    pub input_feature: i64,
    /// The input's spatial dimensions (`0`, `1`, …).
    pub input_spatial: Vec<i64>,
    /// The kernel's input feature dimension (`i`).
    pub kernel_input_feature: i64,
    /// The kernel's output feature dimension (`o`).
    pub kernel_output_feature: i64,
    /// The kernel's spatial dimensions.
    pub kernel_spatial: Vec<i64>,
    /// The output's batch dimension (`b`).
    pub output_batch: i64,
    /// The output's feature dimension (`f`).
    pub output_feature: i64,
    /// The output's spatial dimensions.
    pub output_spatial: Vec<i64>,
}

impl fmt::Display for ConvolutionDimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |f: &mut fmt::Formatter<'_>, named: [(i64, char); 2], spatial: &[i64]| {
            // Of dimensions without a role those before the last that has one are shown, as `?`.
            let last = spatial.iter().copied().chain(named.map(|(at, _)| at)).max().unwrap_or(0);
            for position in 0..=last.min(MAX_RANK) {
                match named.iter().find(|(at, _)| *at == position) {
                    Some((_, letter)) => write!(f, "{letter}")?,
                    None => match spatial.iter().position(|&at| at == position) {
                        Some(number) => write!(f, "{number}")?,
                        None => f.write_str("?")?,
                    },
                }
            }
            Ok(())
        };
        side(f, [(self.input_batch, 'b'), (self.input_feature, 'f')], &self.input_spatial)?;
        f.write_str("_")?;
        side(f, [(self.kernel_input_feature, 'i'), (self.kernel_output_feature, 'o')], &self.kernel_spatial)?;
        f.write_str("->")?;
        side(f, [(self.output_batch, 'b'), (self.output_feature, 'f')], &self.output_spatial)
    }
}
