//! The text of shape functions: reader and writer.

mod codes;
mod lexer;
mod parser;
mod printer;

pub use parser::parse_function;
