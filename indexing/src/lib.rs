//! Indexing maps: for each index of one tensor, the elements of another that belong to it.
//!
//! ```
#![doc = include_str!("../examples/indexing_front_page.rs")]
//! ```
//!
//! Longer examples are programs: `examples/inverse.rs`, `operand_tile.rs`, `coalescing.rs` and `equality.rs`.
//!
//! It is not for programs: it knows no operations, no devices but what an analysis is told of one by a [`MemoryModel`], and no
//! schedules. It is not a solver for all of Presburger arithmetic: what its laws and a bounded enumeration do not decide is
//! [unknown](Answer::Unknown). Unions of domains do not hide inside a map; they are a [`MapSet`].
//!
//! # Indexing maps
//!
//! A compiler that fuses operations on tensors asks of each which elements of an operand one element of the result depends on. The
//! transpose of a `[4, 6]` matrix has at `(d0, d1)` the element that the matrix has at `(d1, d0)`, for `d0` up to 5 and `d1` up to 3:
//!
//! ```text
//! (d0, d1) -> (d1, d0), domain: d0 in [0, 5], d1 in [0, 3]
//! ```
//!
//! This is an [`IndexingMap`]: a function, written with `+`, `-`, `*`, `floordiv` and `mod` by constants, and the *domain* on which
//! it holds, with bounds of each variable, both ends included, and constraints where bounds do not say it all. Three kinds of
//! variables tell what they are for. *Dimensions* are the index mapped from, *ranges* run over all their values for each index
//! (a reduced dimension), and *runtime* variables are read from a tensor when the program runs (the start of a dynamic slice):
//!
//! | Operation | From the index of its result to its operand |
//! |---|---|
//! | sum of two `[4, 6]` | `(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]` |
//! | a row of 6, broadcast to `[4, 6]` | `(d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 5]` |
//! | sums of the rows of a `[4, 6]` | `(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 5]` |
//! | 24 elements in a row, of a `[4, 6]` | `(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 23]` |
//! | 3 of 8 elements, from a start read at run time | `(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 5]` |
//! | 3 elements with a zero between each two | `(d0) -> (d0 floordiv 2), domain: d0 in [0, 4], d0 mod 2 in [0, 0]` |
//!
//! The map of a chain of operations is the composition of their maps; simplified, it is the map of the fused operation.
//!
//! The idea and the notation are those of the *indexing analysis* of the compiler XLA; this crate needs no compiler.
//!
//! # Semantics
//!
//! - The domain is the set of points within the bounds of all variables at which all constraints hold. Outside it the results
//!   mean nothing. It is one conjunction; unions of domains do not hide inside a map.
//! - Bounds are inclusive. Arithmetic is that of `weft-affine`: floor division, checked `i64`.
//! - *Known empty* (no point at all) and *undefined* (nothing known) are states of a map of their own.
//! - A range variable relates an index to one element for each of its values: the more values, the more elements.
//!
//! # Runtime variables
//!
//! A [`RuntimeVariable`] is told by what it is: an [`Owner`] that yields a tensor of values (a token of the layer above, which
//! this crate only compares), the element of it that is read, as expressions over the map's own variables, and what a
//! value beyond the bounds means. With [`OutOfBounds::Clamp`] the variable stands for the clamped value, so its bounds belong
//! to its meaning and nothing narrows them; with [`OutOfBounds::Drop`] the point is not in the domain, and the bounds are a
//! condition like others. Every operation rewrites the accesses with the rest; a variable that only an access mentions is
//! used; two variables with one owner, element and policy are one. Where the layer above knows what an owner yields before the
//! program runs, [`IndexingMap::simplify_knowing`] puts that in the variable's place.
//!
//! # Operations
//!
//! | To | Use |
//! |---|---|
//! | construct a map | [`try_new`](IndexingMap::try_new), [`of_extents`](IndexingMap::of_extents), [`identity`](IndexingMap::identity) |
//! | modify a map | [`add_constraint`](IndexingMap::add_constraint), [`narrow`](IndexingMap::narrow), [`set_results`](IndexingMap::set_results), [`extend_results`](IndexingMap::extend_results), [`add_dim`](IndexingMap::add_dim), [`set_runtime`](IndexingMap::set_runtime) |
//! | compose two maps, or many in order | [`then`](IndexingMap::then), [`compose_in_order`](IndexingMap::compose_in_order) |
//! | simplify results, constraints and bounds together | [`simplify`](IndexingMap::simplify), [`simplify_with`](IndexingMap::simplify_with) |
//! | derive each step | [`explain`](IndexingMap::explain), [`simplify_explained`](IndexingMap::simplify_explained) |
//! | remove unused variables | [`remove_unused_symbols`](IndexingMap::remove_unused_symbols), [`remove_unused_variables`](IndexingMap::remove_unused_variables) |
//! | eliminate range variables that an equality determines | [`eliminate_ranges`](IndexingMap::eliminate_ranges) |
//! | merge runtime variables of the same value | [`merge_runtime_variables`](IndexingMap::merge_runtime_variables) |
//! | substitute known values of runtime variables | [`replace_known_values`](IndexingMap::replace_known_values), [`simplify_knowing`](IndexingMap::simplify_knowing) |
//! | rescale range variables with a stride | [`rescale_symbols`](IndexingMap::rescale_symbols) |
//! | convert symbols to dimensions | [`symbol_to_dim`](IndexingMap::symbol_to_dim), [`ranges_to_dims`](IndexingMap::ranges_to_dims), [`symbols_to_dims`](IndexingMap::symbols_to_dims) |
//! | form products, concatenate results, or take one result | [`product`](IndexingMap::product), [`concatenate`](IndexingMap::concatenate), [`of_result`](IndexingMap::of_result) |
//! | evaluate and enumerate points | [`evaluate`](IndexingMap::evaluate), [`contains`](IndexingMap::contains), [`satisfies_constraints`](IndexingMap::satisfies_constraints), [`points`](IndexingMap::points) |
//! | parse and print | [`text`], [`parse_with`](IndexingMap::parse_with), [`verbose`](IndexingMap::verbose) |
//!
//! # What simplification does to a domain
//!
//! ```
//! use weft_indexing::IndexingMap;
//!
//! let simplified = |domain: &str| -> Result<String, weft_indexing::Error> {
//!     let mut map: IndexingMap = format!("(d0, d1) -> (), domain: {domain}").parse()?;
//!     map.simplify();
//!     Ok(map.to_string().replace("(d0, d1) -> (), domain: ", ""))
//! };
//! // Constants move out of sums, products and quotients; a negative divisor turns the bounds round.
//! assert_eq!(simplified("d0 in [0, 99], d1 in [0, 9], (d0 + d1) floordiv -3 in [-6, -4]")?,
//!     "d0 in [1, 18], d1 in [0, 9], d0 + d1 in [10, 18]");
//! // Residues of one sum become one, and move the bounds.
//! assert_eq!(simplified("d0 in [0, 99], d1 in [0, 9], d0 mod 4 in [3, 3], d0 mod 6 in [5, 5]")?,
//!     "d0 in [11, 95], d1 in [0, 9], d0 mod 12 in [11, 11]");
//! // What always holds goes, and so does what the others imply together.
//! assert_eq!(simplified("d0 in [0, 9], d1 in [0, 9], d0 + d1 in [2, 6], d0 - d1 in [0, 2], d0 * 2 - d1 in [-4, 12], d0 + d1 in [0, 20]")?,
//!     "d0 in [0, 6], d1 in [0, 6], d0 + d1 in [2, 6], d0 - d1 in [0, 2]");
//! // A contradiction is found.
//! assert!(simplified("d0 in [0, 9], d1 in [0, 9], d0 - d1 in [1, 9], d1 - d0 in [1, 9]")?.starts_with("KNOWN EMPTY"));
//! # Ok::<(), weft_indexing::Error>(())
//! ```
//!
//! Bounds that constraints imply are found by intervals, one constraint against the rest at a time, so they are right, and not
//! always the narrowest; a domain without points may stay unnoticed. What decides both is [`IndexingMap::points`].
//!
//! # Questions about functions and sets
//!
//! | Question | Answered by |
//! |---|---|
//! | Which index does a result belong to? | [`IndexingMap::inverse`] |
//! | Does it have each result once, and all results of a box? | [`IndexingMap::is_injective`], [`IndexingMap::is_surjective_onto`] |
//! | Do two maps relate the same elements? | [`IndexingMap::equals`] |
//! | Does another map relate all that this one does? | [`IndexingMap::is_subset_of`] |
//! | Is there no point at all? | [`IndexingMap::is_empty`], [`MapSet::is_empty`] |
//! | How many points are there? | [`IndexingMap::cardinality`] |
//! | Which points are in this domain and not in that? | [`IndexingMap::difference`], which is a [`MapSet`] |
//!
//! Questions to be answered with yes or no have an [`Answer`]. Structure decides where it can, enumeration within [`Limits`]
//! where it cannot; with [`Limits::STRUCTURE`] nothing is enumerated. What neither decides is [unknown](Unknown), a
//! [refusal](NoInverse) or an [overapproximation](OverapproximationReason), each with a reason of a closed list; a "no" comes with a counterexample.
//!
//! # Analyses
//!
//! What a compiler wants to know of a map, exactly, or with the reason why not. Each answer is a plain value with a text
//! (`Display`), and with a JSON form where the feature `serde` is on.
//!
//! | Analysis | Asks | By |
//! |---|---|---|
//! | operand [utilization] | how much of an operand is read to compute all of an output, and how often? | [`IndexingMap::utilization`], [`operand_utilization`] |
//! | [coalescing] | how many memory transactions does a subgroup of threads need, and may it read vectors? | [`IndexingMap::coalescing`], [`fusion_coalescing`] |
//! | [tile](SymbolicTile) propagation | which box of an operand does a box of the result need, and at which sizes is that a box at all? | [`SymbolicTile::of`], [`SymbolicTile::of_preimage`]; of a whole fusion [`FusionTiling::of`] |
//!
//! A map from threads to elements becomes one to addresses by [`IndexingMap::linearized`]. What cannot be decided is
//! [`Unknown`], and what has no tile a [refusal](TileRefusal), each with a reason of a closed list.
//!
//! ```
//! use weft_indexing::{IndexingMap, Launch, MemoryModel, SymbolicTile, Tensor, Var, Verdict};
//!
//! // Every second column of a [6, 8] matrix, transposed.
//! let map: IndexingMap = "(d0, d1) -> (d1, d0 * 2), domain: d0 in [0, 3], d1 in [0, 5]".parse()?;
//! let found = map.utilization(&[6, 8])?;
//! assert_eq!(found.to_string(), "used 24 of 48 (1/2); 24 reads, 0 to 1 each; exact, in closed form");
//!
//! // Were d1 the number of a thread, neighbors would read elements eight apart: each fetches 32 bytes for its 4.
//! let reads = map.coalescing(&Tensor::try_new(&[6, 8], 4)?, &Launch::of_thread(Var::Dim(1)), &MemoryModel::default())?;
//! assert_eq!(reads.verdict, Verdict::Uncoalesced);
//!
//! // A tile of the result, at offset (o0, o1) and of size (t0, t1), needs every second column of t0.
//! let tile = SymbolicTile::of(&map)?;
//! assert_eq!(tile.to_string(), "(o0, o1)[t0, t1] -> offsets (o1, o0 * 2), sizes (t1, t0), strides (1, 2),\n \
//!     domain: o0 in [0, 3], o1 in [0, 5], t0 in [1, 4], t1 in [1, 6], o0 + t0 in [1, 4], o1 + t1 in [1, 6]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Surroundings
//!
//! Of Weft it depends on nothing but `weft-affine`. It touches no file, clock or thread, and builds for `wasm32-unknown-unknown`.
//!
//! # Features
//!
//! | Feature | Default | Gains |
//! |---|---|---|
//! | `serde` | off | results of analyses implement `serde::Serialize`: their JSON form |

mod answer;
mod bijectivity;
mod cardinality;
pub mod coalescing;
mod compose;
mod domain;
mod domain_set;
mod equality;
mod error;
mod explain;
mod hull;
mod inverse;
#[cfg(feature = "serde")]
mod json;
mod linearize;
mod map;
mod map_set;
mod overflow;
mod pieces;
mod points;
mod product;
mod rational;
mod simplify;
pub mod text;
mod tile;
pub mod utilization;
mod variable;
mod within;

pub use answer::{Answer, Limits, Unknown};
pub use bijectivity::{Collision, Missed};
pub use cardinality::Cardinality;
pub use coalescing::{
    Coalescing, FusedOperand, FusionCoalescing, Known, Launch, MemoryModel, OperandCoalescing, Pattern, Reads, Stride,
    Tensor, Totals, VariableStride, VectorLimit, Verdict, fusion_coalescing,
};
pub use equality::Difference;
pub use error::Error;
pub use explain::Explanation;
pub use inverse::NoInverse;
pub use map::IndexingMap;
pub use map_set::{MapSet, OverapproximationReason};
pub use points::{DomainPoint, Points};
pub use rational::Rational;
pub use simplify::SimplifyOptions;
pub use text::Verbose;
pub use tile::{
    BoxAxis, ConcreteTile, FusionTiling, SizeCondition, SizeConstraints, SymbolicTile, TileAxis, TileCase, TileDomain,
    TileMisfit, TilePart, TileRefusal,
};
pub use utilization::{Basis, CountRange, OperandUtilization, Utilization, operand_utilization};
pub use variable::{OutOfBounds, Owner, OwnerNames, Removed, Rescaled, RuntimeVariable, Variable};
pub use weft_affine::{
    Atom, CheckError, Constraint, ConstraintStep, Error as AffineError, Expr, Fault, Interval, Law, Link, Proof,
    Ranges, Step, Term, Var,
};

/// The examples of `README.md`, run as the documentation's are.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
