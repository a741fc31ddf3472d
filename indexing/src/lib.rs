//! Indexing maps: for each index of one tensor, the elements of another that belong to it.
//!
//! An [`IndexingMap`] is a function over three kinds of variables and the domain on which it holds. *Dimensions* are the index
//! mapped from, *ranges* run over all their values for each index (a reduced dimension), and *runtime* variables are read from a
//! tensor when the program runs (the start of a dynamic slice).
//!
//! ```
//! use weft_indexing::IndexingMap;
//!
//! // [10, 10, 10] reshaped to [50, 20] and back: from the result to the input.
//! let outer: IndexingMap = "(d0, d1, d2) -> (d0 * 5 + d1 floordiv 2, (d1 mod 2) * 10 + d2), \
//!     domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]".parse()?;
//! let inner: IndexingMap = "(d0, d1) -> (d0 floordiv 5, (d0 mod 5) * 2 + d1 floordiv 10, d1 mod 10), \
//!     domain: d0 in [0, 49], d1 in [0, 19]".parse()?;
//! let mut both = outer.compose(&inner)?;
//! both.simplify();
//! assert_eq!(both, IndexingMap::identity(&[10, 10, 10]));
//! # Ok::<(), weft_indexing::Error>(())
//! ```
//!
//! # What things mean
//!
//! - The domain is the set of points within the bounds of all variables at which all constraints hold. Outside it the results
//!   mean nothing.
//! - Bounds are inclusive. Arithmetic is that of `weft-affine`: floor division, checked `i64`.
//! - *Known empty* (no point at all) and *undefined* (nothing known) are states of a map of their own.
//! - A runtime variable of the policy [`OutOfBounds::Clamp`] stands for the clamped value, so its bounds belong to its
//!   meaning and no simplification narrows them.
//!
//! # Tiles
//!
//! [`SymbolicTile`] says which box of an operand a box of the result needs, at which sizes that is a box at all, and why where it
//! never is; [`FusionTiling`] says so of all instructions of a fusion together.
//!
//! # What it does not do
//!
//! It knows no operations and no memory. Unions of domains do not hide inside a map.

mod compose;
mod domain;
mod error;
mod explain;
mod map;
mod points;
mod symbols;
pub mod text;
mod tile;

pub use error::Error;
pub use explain::Explanation;
pub use map::{IndexingMap, OutOfBounds, Owner, RuntimeVariable, Variable};
pub use points::{DomainPoint, Points};
pub use tile::{
    BoxAxis, ConcreteTile, FusionTiling, SizeCondition, SizeConstraints, SymbolicTile, TileAxis, TileCase, TileMisfit,
    TilePart, TileRefusal,
};
pub use weft_affine::{Atom, Constraint, ConstraintStep, Expr, Interval, Ranges, Term, Var};
