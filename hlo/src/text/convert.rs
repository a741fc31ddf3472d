//! Conversions from text by `FromStr`.

use super::{parse, parse_shape};
use crate::diagnostic::Diagnostics;
use crate::ir::{Module, Shape};
use std::str::FromStr;

/// As [`parse`].
impl FromStr for Module {
    type Err = Diagnostics;

    fn from_str(text: &str) -> Result<Self, Diagnostics> {
        parse(text)
    }
}

/// As [`parse_shape`].
impl FromStr for Shape {
    type Err = Diagnostics;

    fn from_str(text: &str) -> Result<Self, Diagnostics> {
        parse_shape(text)
    }
}
