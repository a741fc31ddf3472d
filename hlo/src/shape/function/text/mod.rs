//! The text of shape functions: parser and printer.

mod lexer;
mod parser;
mod printer;

pub use parser::parse_function;

/// The stable codes of findings; the table in the documentation of shape functions explains each.
mod codes {
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
}
