//! Indexing maps.
mod compose;
mod domain;
mod error;
mod map;
mod points;
pub mod text;

pub use error::Error;
pub use map::{IndexingMap, OutOfBounds, Owner, RuntimeVariable, Variable};
pub use points::{DomainPoint, Points};
pub use weft_affine::{Atom, Constraint, Expr, Interval, Ranges, Term, Var};
