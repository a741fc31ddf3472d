//! Which parts of a result share their buffer with an operand.

use super::collective::Commas;
use std::fmt;

/// One entry of `output_to_operand_aliasing`: `{0}: (1, {})` in HLO text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperandAlias {
    /// Where in the result, as indices into nested tuples.
    pub output: Vec<i64>,
    /// Which operand.
    pub operand: i64,
    /// Where in that operand.
    pub operand_index: Vec<i64>,
}

impl fmt::Display for OperandAlias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}: ({}, {{{}}})", Commas(&self.output), self.operand, Commas(&self.operand_index))
    }
}
