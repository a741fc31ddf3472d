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
//! # Questions about functions and sets
//!
//! | Question | Answered by |
//! |---|---|
//! | Which index does a result belong to? | [`IndexingMap::inverse`] |
//! | Does it have each result once, and all results of a box? | [`IndexingMap::is_injective`], [`IndexingMap::is_surjective_onto`] |
//! | Do two maps relate the same elements? | [`IndexingMap::equals`] |
//! | How many points are there? | [`IndexingMap::cardinality`] |
//! | Which points are in this domain and not in that? | [`IndexingMap::difference`], which is a [`MapSet`] |
//!
//! Structure decides where it can, enumeration within [`Limits`] where it cannot. What neither decides is
//! [unknown](Unknown), a [refusal](NoInverse) or a [superset](Inexact), each with a reason of a closed list; a "no" comes with
//! points that show it.
//!
//! # What it does not do
//!
//! It knows no operations and no memory. Unions of domains do not hide inside a map; they are a [`MapSet`].

mod answer;
mod cardinality;
mod compose;
mod divisor;
mod domain;
mod domain_set;
mod enumeration;
mod equality;
mod error;
mod explain;
mod injectivity;
mod inverse;
mod map;
mod map_set;
mod points;
mod surjectivity;
mod symbols;
pub mod text;
mod tile;

pub use answer::{Answer, Limits, Unknown};
pub use cardinality::Cardinality;
pub use equality::Difference;
pub use error::Error;
pub use explain::Explanation;
pub use inverse::NoInverse;
pub use map::{IndexingMap, OutOfBounds, Owner, RuntimeVariable, Variable};
pub use map_set::{Inexact, MapSet};
pub use points::{DomainPoint, Points};
pub use surjectivity::Missed;
pub use tile::{
    BoxAxis, ConcreteTile, FusionTiling, SizeCondition, SizeConstraints, SymbolicTile, TileAxis, TileCase, TileMisfit,
    TilePart, TileRefusal,
};
pub use weft_affine::{Atom, Constraint, ConstraintStep, Expr, Interval, Ranges, Term, Var};
