//! Types of values.

use std::fmt;
use std::str::FromStr;
use weft_hlo::ir::ElementType;

/// The type of a value: an element type, in one lane or several.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ValueType {
    /// The type of each lane.
    pub element_type: ElementType,
    /// How many lanes there are.
    pub lanes: u32,
}

impl ValueType {
    /// How many lanes a value may have.
    pub const LANES: [u32; 3] = [1, 2, 4];

    /// The type of a value of one lane.
    pub fn scalar(element_type: ElementType) -> Self {
        ValueType { element_type, lanes: 1 }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            1 => write!(f, "{}", self.element_type),
            lanes => write!(f, "{}x{lanes}", self.element_type),
        }
    }
}

impl FromStr for ValueType {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let several = ValueType::LANES[1..].iter().find_map(|lanes| {
            let element_type = text.strip_suffix(&format!("x{lanes}"))?;
            Some(ValueType { element_type: element_type.parse().ok()?, lanes: *lanes })
        });
        several.or_else(|| text.parse().ok().map(ValueType::scalar)).ok_or(())
    }
}
