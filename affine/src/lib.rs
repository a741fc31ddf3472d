//! Integer expressions with ranges: the algebra under index arithmetic.
//!
//! An [`Expr`] is built from variables, constants, sums, products with constants, floor division and remainder by constants. It
//! is an immutable value, canonical by construction, cheap to clone and to compare, and shared wherever it repeats.
//! Given [`Ranges`] of its variables, [`range_of`] bounds its value, and [`simplify`] finds a cheaper expression with the same
//! values there. [`explain`] says how.
//!
//! ```
//! use weft_affine::{Expr, Interval, Ranges, explain, range_of, simplify};
//!
//! // A [4, 8] tensor flattened and taken apart again.
//! let (d0, d1) = (Expr::dim(0), Expr::dim(1));
//! let flat = &d0 * 8 + &d1;
//! let ranges = Ranges::of_dims([Interval::new(0, 3), Interval::new(0, 7)]);
//! assert_eq!(range_of(&flat, &ranges), Interval::new(0, 31));
//! assert_eq!(simplify(&flat.floor_div(8), &ranges, &[]), d0);
//! assert_eq!(simplify(&flat.modulo(8), &ranges, &[]), d1);
//!
//! // Text in the notation of the specification, both ways; and the derivation.
//! let e: Expr = "(d0 floordiv 4) * 4 + d0 mod 4".parse()?;
//! assert_eq!(e.to_string(), "(d0 floordiv 4) * 4 + d0 mod 4");
//! let (simple, proof) = explain(&e, &ranges, &[]);
//! assert_eq!(simple, d0);
//! assert!(!proof.steps().is_empty());
//! # Ok::<(), weft_affine::Error>(())
//! ```
//!
//! # What things mean
//!
//! - Division rounds towards minus infinity, and a remainder is never negative. In WGSL, C and Rust `/` and `%` mean
//!   something else.
//! - Numbers are `i64`, computed with checks. An evaluation that overflows has no value, and a rewrite whose constants
//!   would overflow does not happen; nothing ever wraps.
//! - An [`Interval`] is inclusive at both ends. A side condition holds when intervals prove it: unknown is false.
//! - Results depend on the input alone: not on time, on addresses or on the order of a hash table.
//!
//! # Should I use it?
//!
//! For index arithmetic with known bounds, yes. It does not multiply variables with each other, solve systems, count points, or
//! know what a tensor is; domains, composition and inversion of maps live in `weft-indexing`.

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
