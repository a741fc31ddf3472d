//! The legality of windows.

use super::Rule;
use crate::ir::Window;
use crate::verify::code;

/// Checks that a window has `count` dimensions, those of `of`, and can be moved. Padding may be negative.
pub(super) fn check(rule: &mut Rule<'_>, window: &Window, count: usize, of: &str) {
    if window.dimensions.len() != count {
        let given = window.dimensions.len();
        let message =
            format!("the window must have one entry for each of the {count} dimensions of {of}, and has {given}");
        return rule.refuse(code::WINDOW, message);
    }
    for (dimension, entry) in window.dimensions.iter().enumerate() {
        let sizes = [
            ("size", entry.size),
            ("stride", entry.stride),
            ("lhs_dilate", entry.base_dilation),
            ("rhs_dilate", entry.window_dilation),
        ];
        for (name, value) in sizes.into_iter().filter(|(_, value)| *value < 1) {
            let message = format!("{name} of dimension {dimension} of the window must be at least 1 and is {value}");
            rule.refuse(code::WINDOW, message);
        }
    }
}
