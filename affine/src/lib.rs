//! Integer expressions with ranges.
mod error;
mod expr;
mod interval;
mod map;
mod range;
mod simplify;
pub mod text;

pub use error::Error;
pub use expr::{Atom, Expr, Point, Term, Var};
pub use interval::Interval;
pub use map::AffineMap;
pub use range::{Constraint, Ranges, range_of};
pub use simplify::{Config, Proof, Simplifier, Step, explain, simplify};
