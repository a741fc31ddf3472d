//! Parsing and printing of expressions and maps.
//!
//! ```text
//! expression := product {(+ | -) product} [where NAME = expression {, NAME = expression}]
//! product    := factor {(* | floordiv | ceildiv | mod) factor}        from the left; one side of * is a constant
//! factor     := {-} (INTEGER | NAME | ( expression ))                 3d0 stands for d0 * 3
//! ```
//!
//! A sign binds before every operator, as in MLIR: `-d0 floordiv 4` is `(-d0) floordiv 4`, and `-2 * d0 mod 3` is
//! `((-2) * d0) mod 3`; a minus between two products subtracts the whole of the second. The specification's fourth simplifier
//! rule, `-(-11d0 - d1 + 109) floordiv 11 + 9`, leaves out the parentheses around the quotient that it negates.
//!
//! Terms that occur several times in something large are written once, after `where`, each definition using only
//! names defined before it; so text stays as small as the DAG.

mod lexer;
mod parser;
mod printer;

use std::fmt;

pub use parser::{Cursor, Header, Scope};
pub use printer::Printer;

use crate::{Error, Expr};

/// Writes `(d0, d1)` and the like.
pub(crate) fn write_variables(
    f: &mut fmt::Formatter<'_>,
    names: impl Iterator<Item = impl fmt::Display>,
    open: char,
    close: char,
) -> fmt::Result {
    write!(f, "{open}")?;
    for (i, name) in names.enumerate() {
        write!(f, "{}{name}", if i > 0 { ", " } else { "" })?;
    }
    write!(f, "{close}")
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = Printer::new([self]);
        printer.write(f, self)?;
        printer.write_where(f)
    }
}

/// Reads one expression over `d0, s0, rt0, …`.
impl std::str::FromStr for Expr {
    type Err = Error;

    fn from_str(source: &str) -> Result<Expr, Error> {
        let mut cursor = Cursor::new(source)?;
        let mut scope = Scope::standard();
        let start = cursor.position();
        cursor.skip_balanced("where")?;
        cursor.where_clause(&mut scope)?;
        cursor.expect_end()?;
        let mut body = cursor.at(start);
        let e = body.expression(&scope)?;
        if !body.at_end() && !body.peek_is("where") {
            return Err(body.unexpected("an operator or the end"));
        }
        Ok(e)
    }
}
