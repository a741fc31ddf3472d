//! Windows that move over the dimensions of an array: those of convolutions and of reduce-window.

use std::fmt;

/// One dimension of a [`Window`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowDimension {
    /// Elements the window covers.
    pub size: i64,
    /// How far the window moves each time; at least 1.
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
