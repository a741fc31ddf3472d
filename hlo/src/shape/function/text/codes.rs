//! The stable codes of findings from reading shape functions; the table in the module's documentation explains each.

pub(super) const SYNTAX: &str = "HLO401";
pub(super) const UNTERMINATED: &str = "HLO402";
pub(super) const TOO_DEEP: &str = "HLO403";
pub(super) const OPERATION: &str = "HLO404";
pub(super) const VALUE: &str = "HLO405";
pub(super) const DUPLICATE: &str = "HLO406";
pub(super) const TYPE: &str = "HLO407";
pub(super) const COUNT: &str = "HLO408";
pub(super) const NUMBER: &str = "HLO409";
pub(super) const LIBRARY: &str = "HLO410";
