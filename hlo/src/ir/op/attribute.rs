//! Attributes with several parts: windows, padding, slices, dimension labels of convolutions, replica groups, aliases.

use super::{CollectiveMode, Op};
use std::fmt;

/// One dimension of a [`Window`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowDimension {
    /// Elements the window covers.
    pub size: i64,
    /// The distance between neighboring positions of the window; at least 1.
    pub stride: i64,
    /// Elements added before the first; negative removes elements.
    pub padding_low: i64,
    /// Elements added after the last; negative removes elements.
    pub padding_high: i64,
    /// Distance between neighbouring elements of the window; 1 where there are no holes (`rhs_dilate`).
    pub window_dilation: i64,
    /// Distance between neighbouring elements of the base; 1 where there are no holes (`lhs_dilate`).
    pub base_dilation: i64,
    /// Whether the window is mirrored along this dimension (`rhs_reversal`).
    pub reversal: bool,
}

/// A window with one entry per dimension that it moves over: `{size=3x3 stride=2x2 pad=1_1x1_1}` in HLO text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Window {
    /// The dimensions, outermost first.
    pub dimensions: Vec<WindowDimension>,
}

impl Default for WindowDimension {
    /// A window of one element that moves by one.
    fn default() -> Self {
        WindowDimension {
            size: 1,
            stride: 1,
            padding_low: 0,
            padding_high: 0,
            window_dilation: 1,
            base_dilation: 1,
            reversal: false,
        }
    }
}

impl fmt::Display for Window {
    /// As XLA prints it: a property is left out where every dimension has its default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        let all = &self.dimensions;
        let mut first = true;
        let mut property = |name: &str, shown: bool, value: &dyn Fn(&WindowDimension) -> String| {
            if !shown {
                return Ok(());
            }
            let values: Vec<String> = all.iter().map(value).collect();
            let blank = if std::mem::take(&mut first) { "" } else { " " };
            write!(f, "{blank}{name}={}", values.join("x"))
        };
        property("size", !all.is_empty(), &|it| it.size.to_string())?;
        property("stride", all.iter().any(|it| it.stride != 1), &|it| it.stride.to_string())?;
        property("pad", all.iter().any(|it| (it.padding_low, it.padding_high) != (0, 0)), &|it| {
            format!("{}_{}", it.padding_low, it.padding_high)
        })?;
        property("lhs_dilate", all.iter().any(|it| it.base_dilation != 1), &|it| it.base_dilation.to_string())?;
        property("rhs_dilate", all.iter().any(|it| it.window_dilation != 1), &|it| it.window_dilation.to_string())?;
        property("rhs_reversal", all.iter().any(|it| it.reversal), &|it| i64::from(it.reversal).to_string())?;
        f.write_str("}")
    }
}

/// The padding of one dimension: `low_high_interior` in HLO text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct PadDimension {
    /// Elements added before the first; negative removes elements.
    pub low: i64,
    /// Elements added after the last; negative removes elements.
    pub high: i64,
    /// Elements added between each two neighbours; at least 0.
    pub interior: i64,
}

/// The part of one dimension that `slice` keeps: `[start:limit:stride]` in HLO text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct SliceDimension {
    /// The first index kept.
    pub start: i64,
    /// One past the last index that may be kept.
    pub limit: i64,
    /// Distance of the indices kept, at least 1.
    pub stride: i64,
}

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

/// The groups of a collective. Members of one group exchange data; no group at all means one group of everybody.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ReplicaGroups {
    /// `{{0,1},{2,3}}`
    List(Vec<Vec<i64>>),
    /// `[2,4]<=[4,2]T(1,0)`: the numbers from 0 on, laid out in an array of the extents `reshape`, transposed by
    /// `transpose`, and cut into rows: one group per row of the extents `dimensions`.
    Iota {
        /// Groups, then members of each; more than two extents name the axes of a mesh.
        dimensions: Vec<i64>,
        /// The extents of the array the numbers are laid out in.
        reshape: Vec<i64>,
        /// The transposition of that array; empty where there is none.
        transpose: Vec<i64>,
    },
    /// A form that names the axes of a device mesh, as in the text.
    Mesh(String),
}

impl Op {
    /// Whether this is a collective whose groups name replicas, each standing for all its partitions: one over a channel
    /// that does not say otherwise. A group then has as many members as it names, times the partitions of the module
    /// ([`Module::num_partitions`](crate::ir::Module::num_partitions)).
    pub fn names_replicas_of_all_partitions(&self) -> bool {
        let (channel, global, mode) = match self {
            Op::AllGather { channel_id, use_global_device_ids, .. }
            | Op::AllGatherStart { channel_id, use_global_device_ids, .. } => {
                (channel_id, *use_global_device_ids, &None)
            }
            Op::AllReduce { channel_id, use_global_device_ids, mode, .. }
            | Op::AllReduceStart { channel_id, use_global_device_ids, mode, .. }
            | Op::ReduceScatter { channel_id, use_global_device_ids, mode, .. } => {
                (channel_id, *use_global_device_ids, mode)
            }
            _ => return false,
        };
        match mode {
            Some(mode) => *mode == CollectiveMode::CrossReplicaAndPartition,
            None => channel.is_some() && !global,
        }
    }
}

impl Default for ReplicaGroups {
    fn default() -> Self {
        ReplicaGroups::List(Vec::new())
    }
}

/// Numbers with commas between them.
pub(super) struct Commas<'a>(pub(super) &'a [i64]);

impl fmt::Display for Commas<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, number) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if position > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

/// `{{0,1},{2,3}}`
pub(super) struct Braced<'a>(pub(super) &'a [Vec<i64>]);

impl fmt::Display for Braced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, group) in self.0.iter().enumerate() {
            write!(f, "{}{{{}}}", if position > 0 { "," } else { "" }, Commas(group))?;
        }
        f.write_str("}")
    }
}

impl fmt::Display for ReplicaGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplicaGroups::List(groups) => Braced(groups).fmt(f),
            ReplicaGroups::Iota { dimensions, reshape, transpose } => {
                write!(f, "[{}]<=[{}]", Commas(dimensions), Commas(reshape))?;
                if transpose.is_empty() { Ok(()) } else { write!(f, "T({})", Commas(transpose)) }
            }
            ReplicaGroups::Mesh(text) => f.write_str(text),
        }
    }
}

/// One entry of `output_to_operand_aliasing`: `{0}: (1, {})` in HLO text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperandAlias {
    /// The part of the result, as indices into nested tuples.
    pub output: Vec<i64>,
    /// The number of the operand.
    pub operand: i64,
    /// The part of that operand, as indices into nested tuples.
    pub operand_index: Vec<i64>,
}

impl fmt::Display for OperandAlias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}: ({}, {{{}}})", Commas(&self.output), self.operand, Commas(&self.operand_index))
    }
}
