//! Integer expressions with ranges: the algebra under index arithmetic.
//!
//! ```
#![doc = include_str!("../examples/affine_front_page.rs")]
//! ```
//!
//! It prints
//!
//! ```text
//! (d0 * 8 + d1) floordiv 8
//!   = d0 + d1 floordiv 8    by floordiv-of-multiple
//!   = d0                    by floordiv-in-range, since d1 in [0, 7]: d1 floordiv 8 = 0
//! where
//!   floordiv-of-multiple: (c*y + z) floordiv c = y + z floordiv c if c > 0
//!   floordiv-in-range: (c*y + z) floordiv c = y + q if c*q <= z < c*q + c
//! (d0, d1) -> (d0 * 2 + d1 floordiv 4, d1 mod 4)
//! d1 floordiv 4 is in [0, 1]
//!   known-value: needs d1 floordiv 4 = 0, but d1 floordiv 4 is in [0, 1]
//!   floordiv-in-range: needs 0 <= d1 < 4, but d1 is in [0, 7]
//!   …
//! ```
//!
//! The crate is for symbolic index arithmetic: row-major positions and their inverse, reshapes, tiles, strides, windows. It bounds expressions, makes them cheaper, says why the result is equal and why a division is still there,
//! composes maps, and reads and prints all of it.
//!
//! It is not for products of variables and divisions by variables, nor for systems of inequalities, quantifiers and counting
//! points: those are Presburger arithmetic, and [isl](https://libisl.sourceforge.io) is made for it. It does not know what a
//! tensor is; maps with domains live in `weft-indexing`.
//!
//! Two longer examples are programs: `examples/simplify.rs` prints a derivation, and `examples/reshape.rs` turns a
//! chain of reshapes and its inverse into the identity. [Writing a law](law#writing-a-law) says how the simplifier learns
//! something new.
//!
//! # Expressions
//!
//! An [`Expr`] is a constant plus a sum of terms `coefficient * atom`; an [`Atom`] is a variable, a floor division or
//! a remainder by a positive constant. Atoms of one sum are distinct and sorted, so what differs only by order or
//! grouping is one value, and no rule about it is ever needed:
//!
//! ```
//! # use weft_affine::{Expr, Var};
//! let [d0, d1] = Var::dims();
//! assert_eq!(d0 + d1 * 2 - 3 + d0, 2 * (d1 + d0) - 3);
//! assert_eq!((d0 + d1).to_string(), (d1 + d0).to_string());
//! // Constants are computed, signs of divisors moved inside, ceilings written as floors; nothing else is rewritten.
//! assert_eq!(d0.floor_div(-4), (-d0).floor_div(4));
//! assert_eq!(d0.ceil_div(4), (d0 + 3).floor_div(4));
//! assert_ne!(d0.floor_div(2).floor_div(3), d0.floor_div(6));
//! ```
//!
//! Expressions are immutable and shared: a clone copies a pointer, equality compares a hash kept in the node, and
//! walks meet each distinct node of the DAG once. A chain of thirty reshapes has some four hundred nodes and would
//! have 10¹⁴ as a tree.
//!
//! [`Var`] is `Copy`, so handwritten arithmetic needs no clones: `(d0 * 8 + d1).floor_div(4)`. Operators panic where
//! constants leave `i64`, as those of integers do; code that reads foreign numbers calls [`Expr::checked_add`],
//! [`Expr::checked_floor_div`] and their like. Products of two variables are outside the algebra: they do not
//! compile, and as text they are an error.
//!
//! # Division
//!
//! Quotients round towards minus infinity, and remainders are never negative; `/` and `%` of Rust, C and WGSL mean
//! something else.
//!
//! | x | c | `x floordiv c` | `x ceildiv c` | `x mod c` | Rust's `x / c` | Rust's `x % c` |
//! |---|---|---|---|---|---|---|
//! | 7 | 3 | 2 | 3 | 1 | 2 | 1 |
//! | 6 | 3 | 2 | 2 | 0 | 2 | 0 |
//! | -1 | 3 | -1 | 0 | 2 | 0 | -1 |
//! | -7 | 3 | -3 | -2 | 2 | -2 | -1 |
//! | 7 | -3 | -3 | -2 | refused | -2 | 1 |
//! | -7 | -3 | 2 | 3 | refused | 2 | -1 |
//!
//! Always `x = c * (x floordiv c) + x mod c`. Numbers are `i64`, computed with checks: an evaluation that overflows
//! has no value, a rewrite whose constants would overflow does not happen, and nothing ever wraps.
//!
//! # Ranges, congruences and constraints
//!
//! [`Ranges`] bound the variables by [`Interval`]s, inclusive at both ends; a variable without an entry may be any
//! integer. A [`Constraint`] bounds an expression. From both the analysis knows which values an expression takes, and
//! what is not proved is not assumed: a side condition holds only where intervals show it. Beyond plain interval
//! arithmetic it knows that
//!
//! - terms that are correlated move together: `d0 - d0` is 0, and so is what cancels between `x`, `x floordiv c` and
//!   `x mod c`;
//! - a sum of multiples stays in its residue class: `4d0 + 2` modulo 8 is 2 or 6;
//! - a constraint bounds every sum that contains a multiple of what it bounds, and `x mod c in [r, r]` is a
//!   congruence.
//!
//! ```
//! # use weft_affine::{Constraint, Interval, Ranges, Var, range_of, simplify};
//! let [d0, d1] = Var::dims();
//! let ranges = Ranges::of_dims([Interval::new(-5, 9), Interval::new(0, 9)]);
//! assert_eq!(range_of(&(d0.floor_div(4) * 4 + d0.modulo(4)), &ranges), Interval::new(-5, 9));
//! assert_eq!(range_of(&(4 * d0 + 2).modulo(8), &ranges), Interval::new(2, 6));
//!
//! let window = Constraint::new(4 * d0 + d1, Interval::new(8, 11));
//! assert_eq!(simplify(&(4 * d0 + d1).floor_div(4), &ranges, &[window]).to_string(), "2");
//! ```
//!
//! Constraints have an algebra of their own: [`Constraint::canonicalize`] takes one apart, [`Constraint::merge`] joins two
//! by intersection or the Chinese remainder theorem, and [`Constraint::narrow`] bounds a variable. Each of their steps is
//! an equivalence, so that a domain loses no point and gains none.
//!
//! # Simplification
//!
//! [`simplify`] returns an expression with the same value at every point of the domain, never dearer by
//! [`Expr::cost`]: 20 for a division or remainder, 1 for a variable, a factor or a constant. A [`Simplifier`] does
//! the same for many expressions over one domain, and remembers.
//!
//! | Stage | What it is for |
//! |---|---|
//! | directed normal form | almost everything: rules that can only help, applied from the leaves up, one pass over the DAG |
//! | recombination of sums | summands that belong together, kept where the whole gets cheaper and its range no wider |
//! | e-graph | what no order of directed rules finds: remainders have the tighter ranges, quotients cancel, and here one class holds both; entered only where several divisions are left that interact, or a constraint concerns them |
//! | trial of points | what is linear though no rule says so, because digits of different bases meet: a quasi-affine function repeats itself, so often few points decide about all; asked last, of what is left |
//! | memory | asking again, and shared subexpressions of many results |
//!
//! The e-graph applies a law only where the ranges prove its condition. [`Config`] bounds the work by counts of
//! steps, nodes, rounds and points, never by time, so the result depends on the input alone: not on the machine, on addresses
//! or on the order of a hash table. Simplifying a result again never makes it dearer.
//!
//! # Why is it equal?
//!
//! [`explain`] simplifies and returns the derivation as well: equations, each an instance of a law with what its
//! letters stand for and the ranges that prove its condition. [`Proof::check`] replays it, and uses nothing of the
//! simplifier: only the texts of the laws, ranges computed anew, and linear arithmetic.
//!
//! ```
//! # use weft_affine::{Interval, Ranges, Var, explain};
//! let [d0, d1] = Var::dims();
//! let ranges = Ranges::of_dims([Interval::of_extent(4), Interval::of_extent(8)]);
//! let (simple, proof) = explain(&(d0 * 8 + d1).floor_div(8), &ranges, &[]);
//! assert_eq!(simple.to_string(), "d0");
//! assert_eq!(proof.check(), Ok(()));
//! let last = proof.links().last().expect("something was simplified");
//! let law = proof.steps()[last.steps[0]].law;
//! assert_eq!((last.whole.to_string(), law.name), ("d0".into(), "floordiv-in-range"));
//! ```
//!
//! [`why_not`] says of each division that is left which laws were tried on it, and what each of them lacked: most often a
//! range that is too wide for a condition.
//!
//! [`laws`] lists all [laws](law) as text, such as
//!
//! ```
//! # use weft_affine::Law;
//! let law = Law::named("floordiv-common-factor").expect("a law of floor division");
//! assert_eq!(law.equation, "(g*y + b) floordiv (g*m) = (y + t) floordiv m");
//! assert_eq!(law.condition, "m > 0, g*t <= b < g*t + g");
//! ```
//!
//! That text is what is tested: `tests/laws.rs` evaluates both sides of every law over a box and makes sure that each
//! condition is needed, and `tests/smt.rs` has the solver z3 prove them: for all integers, or, where that is undecided,
//! for divisors up to 8.
//!
//! # Maps and text
//!
//! An [`AffineMap`] is a list of results over counted variables; [`AffineMap::then`] puts one after another, and
//! [`affine_map!`] writes one in Rust. Expressions and maps print in the notation of the specification and are read
//! back to the same value; [`text`] has the grammar.
//!
//! ```
//! # use weft_affine::{AffineMap, affine_map};
//! let map = affine_map!((d0, d1)[s0] -> (d0 * 8 + d1, (d0 + s0).floor_div(4)));
//! let text = "(d0, d1)[s0] -> (d0 * 8 + d1, (d0 + s0) floordiv 4)";
//! assert_eq!(map.to_string(), text);
//! assert_eq!(text.parse::<AffineMap>()?, map);
//! # Ok::<(), weft_affine::Error>(())
//! ```
//!
//! # Errors
//!
//! An [`Error`] has a stable [code](Error::code) and, where text was read, the [bytes](Error::span) that it is about.
//!
//! | Code | Says | For example |
//! |---|---|---|
//! | AFF001 | a coefficient, constant or value leaves `i64` | `d0` times 2⁶² plus itself |
//! | AFF002 | division by zero | `checked_floor_div(0)` |
//! | AFF003 | a modulus that is not positive | `checked_modulo(-3)` |
//! | AFF004 | a variable without a value, or not of the map | evaluating `s0` at a point without range variables |
//! | AFF005 | lists whose lengths should agree | composing with a map of other dimensions |
//! | AFF006 | text that is not of the language, and each of the above while text is read | `d0 * d1` |
//! | AFF007 | a number that depends on variables | a law's divisor that stands for `d0` |
//!
//! # Limits
//!
//! - A form that overflows in between may stand for one that does not: equality is that of integers.
//! - The e-graph finds much and not everything; what it finds in more rounds it may miss within the default bounds.
//! - The least form of an expression is not unique, and equal expressions may keep different forms.
//!
//! The crate has no features, no `unsafe`, no files, threads or environment. It builds for `wasm32-unknown-unknown`;
//! there the dependency `egg` asks the host for `performance.now`, which never influences a result.
//!
//! `benches/README.md` says how fast it is, against isl on a corpus of expressions and over long chains of
//! compositions.
//!
//! # Literature
//!
//! - R. Graham, D. Knuth, O. Patashnik, *Concrete Mathematics*, chapter 3: floors, ceilings, and Hermite's identity,
//!   laws `hermite-of-floordivs` and `hermite-of-mods`.
//! - M. Willsey and others, *egg: Fast and Extensible Equality Saturation*, POPL 2021.
//! - C. Nandi and others, *Rewrite Rule Inference Using Equality Saturation*, OOPSLA 2021, on finding and testing
//!   rules.
//! - S. Verdoolaege, *isl: An Integer Set Library for the Polyhedral Model*, ICMS 2010, and his *Presburger Formulas
//!   and Polyhedral Compilation*.
//! - J. L. Newcomb and others, *Verifying and Improving Halide's Term Rewriting System with Program Synthesis*,
//!   OOPSLA 2020.
//! - XLA's *Indexing analysis*, which is where the notation is from; TVM's `arith::Analyzer`; MLIR's *affine*
//!   dialect.

mod constraint;
mod error;
mod expr;
mod interval;
pub mod law;
mod map;
mod picture;
mod points;
pub mod proof;
mod range;
mod simplify;
pub mod text;

pub use constraint::{Canonical, Constraint, ConstraintStep, Merge};
pub use error::Error;
pub use expr::{Atom, Expr, Point, Term, Var};
pub use interval::Interval;
pub use law::Law;
pub use map::AffineMap;
pub use picture::{ClassPicture, EgraphPicture, NodePicture};
pub use proof::{CheckError, Fault, Link, Proof, Step};
pub use range::{Ranges, range_of};
pub use simplify::{
    Config, Obstacle, RemainingDivision, Simplifier, Statistics, Trial, UnprovedCondition, WhyNot, explain, laws,
    simplify, why_not,
};

/// The examples of `README.md`, run as the documentation's are.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
