//! Shape functions: a small language for the rules about extents.
//!
//! A shape function computes the shapes of an operation's results from those of its operands, or says what is wrong with
//! them. The language is that of MLIR's [Shape dialect](https://mlir.llvm.org/docs/Dialects/ShapeDialect/): names, types
//! and text are taken from there. Functions are kept in a [`Library`] with a mapping from operations to functions;
//! [`standard_library`](super::standard_library) has those of HLO, and users add theirs.
//!
//! # Three forms
//!
//! A function is written in the *error-carrying* form (1): every value is a shape, a size, … or an error. An operation
//! on an error yields that error, and the error of a function is its first, in program order, whether or not the result
//! depends on it. So a constraint is an operation like any other: `shape.meet` is the value that both operands are, or
//! else an error.
//!
//! ```
//! use weft_hlo::shape::function::{AttributeTable, Form, Library};
//!
//! let library = Library::parse(r#"
//! shape.function_library @shplib {
//!
//! func.func @matmul(%lhs: !shape.value_shape, %rhs: !shape.value_shape) -> !shape.shape {
//!   %c1 = shape.const_size 1
//!   %c2 = shape.const_size 2
//!   %lhs_shape = shape.shape_of %lhs
//!   %rhs_shape = shape.shape_of %rhs
//!   %lhs_rank = shape.rank %lhs_shape
//!   %rhs_rank = shape.rank %rhs_shape
//!   %rank = shape.meet %c2, %lhs_rank, %rhs_rank, error="requires rank 2 operands"
//!   %l0, %l1 = shape.split_at %lhs_shape, %c1
//!   %r0, %r1 = shape.split_at %rhs_shape, %c1
//!   %c = shape.meet %l1, %r0, error="inner dimensions required to match"
//!   %res = shape.concat %l0, %r1
//!   return %res
//! }
//!
//! } mapping {
//!   foo.matmul = @matmul
//! }
//! "#)?;
//! let none = AttributeTable::new();
//! assert_eq!(library.infer("foo.matmul", &[&[2, 3], &[3, 4]], &none)?[0].as_slice(), [2, 4]);
//! let error = library.infer("foo.matmul", &[&[2, 3], &[5, 4]], &none).unwrap_err();
//! assert_eq!(error.message, "inner dimensions required to match");
//! let error = library.infer("foo.matmul", &[&[2], &[2, 4]], &none).unwrap_err();
//! assert_eq!(error.message, "requires rank 2 operands");
//! # let matmul = library.function("matmul")?;
//! # assert_eq!(matmul.form()?, Form::ErrorCarrying);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In the *constrained* form (2) constraints yield evidence, `!shape.witness`, and `shape.assuming` runs a region under
//! it. Evidence may be computed early, wherever its operands are there; what it guards stays inside of the region:
//!
//! ```
//! # use weft_hlo::shape::function::{AttributeTable, Form, parse_function};
//! # let matmul = parse_function(r#"
//! # func.func @matmul(%lhs: !shape.value_shape, %rhs: !shape.value_shape) -> !shape.shape {
//! #   %c1 = shape.const_size 1
//! #   %c2 = shape.const_size 2
//! #   %lhs_shape = shape.shape_of %lhs
//! #   %rhs_shape = shape.shape_of %rhs
//! #   %lhs_rank = shape.rank %lhs_shape
//! #   %rhs_rank = shape.rank %rhs_shape
//! #   %rank = shape.meet %c2, %lhs_rank, %rhs_rank, error="requires rank 2 operands"
//! #   %l0, %l1 = shape.split_at %lhs_shape, %c1
//! #   %r0, %r1 = shape.split_at %rhs_shape, %c1
//! #   %c = shape.meet %l1, %r0, error="inner dimensions required to match"
//! #   %res = shape.concat %l0, %r1
//! #   return %res
//! # }
//! # "#)?;
//! assert_eq!(matmul.lower(Form::Constrained)?.to_string(), r#"
//! func.func @matmul(%lhs: !shape.value_shape, %rhs: !shape.value_shape) -> !shape.shape {
//!   %c2 = shape.const_size 2
//!   %c1 = shape.const_size 1
//!   %lhs_shape = shape.shape_of %lhs : !shape.value_shape -> !shape.shape
//!   %rhs_shape = shape.shape_of %rhs : !shape.value_shape -> !shape.shape
//!   %lhs_rank = shape.rank %lhs_shape : !shape.shape -> !shape.size
//!   %rhs_rank = shape.rank %rhs_shape : !shape.shape -> !shape.size
//!   %w = shape.cstr_eq %c2, %lhs_rank, %rhs_rank, error="requires rank 2 operands" : !shape.size, !shape.size, !shape.size -> !shape.witness
//!   %res_2 = shape.assuming %w -> !shape.shape {
//!     %l0, %l1 = shape.split_at %lhs_shape, %c1 : !shape.shape, !shape.size -> !shape.shape, !shape.shape
//!     %r0, %r1 = shape.split_at %rhs_shape, %c1 : !shape.shape, !shape.size -> !shape.shape, !shape.shape
//!     %w_1 = shape.cstr_eq %l1, %r0, error="inner dimensions required to match" : !shape.shape, !shape.shape -> !shape.witness
//!     %res_1 = shape.assuming %w_1 -> !shape.shape {
//!       %res = shape.concat %l0, %r1 : !shape.shape, !shape.shape -> !shape.shape
//!       shape.assuming_yield %res : !shape.shape
//!     }
//!     shape.assuming_yield %res_1 : !shape.shape
//!   }
//!   return %res_2 : !shape.shape
//! }
//! "#.trim_start());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In the *imperative* form (3) evaluation stops at the first `assert` that does not hold:
//!
//! ```
//! # use weft_hlo::shape::function::{AttributeTable, Form, parse_function};
//! # let matmul = parse_function(r#"
//! # func.func @matmul(%lhs: !shape.value_shape, %rhs: !shape.value_shape) -> !shape.shape {
//! #   %c1 = shape.const_size 1
//! #   %c2 = shape.const_size 2
//! #   %lhs_shape = shape.shape_of %lhs
//! #   %rhs_shape = shape.shape_of %rhs
//! #   %lhs_rank = shape.rank %lhs_shape
//! #   %rhs_rank = shape.rank %rhs_shape
//! #   %rank = shape.meet %c2, %lhs_rank, %rhs_rank, error="requires rank 2 operands"
//! #   %l0, %l1 = shape.split_at %lhs_shape, %c1
//! #   %r0, %r1 = shape.split_at %rhs_shape, %c1
//! #   %c = shape.meet %l1, %r0, error="inner dimensions required to match"
//! #   %res = shape.concat %l0, %r1
//! #   return %res
//! # }
//! # "#)?;
//! assert_eq!(matmul.lower(Form::Imperative)?.to_string(), r#"
//! func.func @matmul(%lhs: !shape.value_shape, %rhs: !shape.value_shape) -> !shape.shape {
//!   %c2 = shape.const_size 2
//!   %c1 = shape.const_size 1
//!   %lhs_shape = shape.shape_of %lhs : !shape.value_shape -> !shape.shape
//!   %rhs_shape = shape.shape_of %rhs : !shape.value_shape -> !shape.shape
//!   %lhs_rank = shape.rank %lhs_shape : !shape.shape -> !shape.size
//!   %rhs_rank = shape.rank %rhs_shape : !shape.shape -> !shape.size
//!   %holds = shape.shape_eq %c2, %lhs_rank, %rhs_rank : !shape.size, !shape.size, !shape.size -> i1
//!   assert %holds, "requires rank 2 operands"
//!   %l0, %l1 = shape.split_at %lhs_shape, %c1 : !shape.shape, !shape.size -> !shape.shape, !shape.shape
//!   %r0, %r1 = shape.split_at %rhs_shape, %c1 : !shape.shape, !shape.size -> !shape.shape, !shape.shape
//!   %holds_1 = shape.shape_eq %l1, %r0 : !shape.shape, !shape.shape -> i1
//!   assert %holds_1, "inner dimensions required to match"
//!   %res = shape.concat %l0, %r1 : !shape.shape, !shape.shape -> !shape.shape
//!   return %res : !shape.shape
//! }
//! "#.trim_start());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All three have the same value, and the same error. Constraints are not the only errors: an index may be out of
//! range, and a size beyond 64 bits. The lowering keeps their places: evidence is assumed before the next operation that
//! may fail, and never later than that.
//!
//! # What the document does not have
//!
//! - `tensor<?xindex>` is a list of sizes of either sign, for attributes such as padding.
//! - `shape.attribute "name"` is an attribute of the instruction ([`Attributes`]).
//! - `!shape.shapes` is a list of shapes: the operands of a variadic operation, or its results.
//! - `shape.reduce` has any number of accumulators, and goes over lists of shapes as well; `shape.if` has two regions.
//! - `shape.require` is the constraint that a truth value holds. Any operation that may fail takes `error="…"`.
//! - A library may end in `without { operation = "reason" … }`: the operations that need no function, and why.
//! - The types after an operation may be left out wherever they follow from the operands.
//!
//! # Extents that are not known yet
//!
//! [`Library::specialize`] evaluates as much as is known, and leaves a function for the rest: loops over lists of known
//! length are unrolled, calls inlined, constants folded, and what cannot fail is dropped. Here a product of an unknown
//! batch is checked before anything runs, and only the batch is left to read:
//!
//! ```
//! use weft_affine::Interval;
//! use weft_hlo::shape::function::{AttributeTable, KnownShape, Specialized};
//! use weft_hlo::shape::standard_library;
//!
//! let dot = AttributeTable::new()
//!     .with_sizes("lhs_batch_dims", [])
//!     .with_sizes("rhs_batch_dims", [])
//!     .with_sizes("lhs_contracting_dims", [1])
//!     .with_sizes("rhs_contracting_dims", [0]);
//! let unknown_batch = |inner: i64| KnownShape::Ranked(vec![Interval::new(0, i64::MAX), Interval::point(inner)]);
//! let weights = KnownShape::exact(&[128, 10]);
//!
//! let library = standard_library();
//! let found = library.specialize_operation("dot", &[unknown_batch(64), weights.clone()], &dot)?;
//! let Specialized::Error(error) = found else { panic!("64 is not 128, whatever the batch") };
//! assert_eq!(error.message, "dimensions of the operands that belong together must have the same extent");
//!
//! let found = library.specialize_operation("dot", &[unknown_batch(128), weights], &dot)?;
//! let Specialized::Residual(left) = found else { panic!("the batch is not known") };
//! assert_eq!(left.to_string(), r#"
//! func.func @dot(%lhs: !shape.value_shape, %rhs: !shape.value_shape) -> !shape.shape {
//!   %c0 = shape.const_size 0
//!   %c10 = shape.const_size 10
//!   %lhs_shape = shape.shape_of %lhs : !shape.value_shape -> !shape.shape
//!   %extent = shape.get_extent %lhs_shape, %c0 : !shape.shape, !shape.size -> !shape.size
//!   %result = shape.from_extents %extent, %c10 : !shape.size, !shape.size -> !shape.shape
//!   return %result : !shape.shape
//! }
//! "#.trim_start());
//! let shape = library.infer_by(&left, "dot", &[&[32, 128], &[128, 10]], &AttributeTable::new())?;
//! assert_eq!(shape[0].as_slice(), [32, 10]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//!
//! Regions nest [`MAX_DEPTH`] deep, however many constraints need one another, and calls 32, lists have [`MAX_RANK`] extents, and one evaluation takes 2²²
//! operations: more is an error of kind [`ErrorKind::Limit`], which is the one kind of error that the forms need
//! not share.
//!
//! # Codes of findings in text
//!
//! | Code | Finding |
//! |---|---|
//! | `HLO401` | something else was expected here |
//! | `HLO402` | a string or a type is never closed |
//! | `HLO403` | regions nest too deep |
//! | `HLO404` | there is no such operation |
//! | `HLO405` | there is no such value here |
//! | `HLO406` | two values of one name are visible here |
//! | `HLO407` | an operation, a region or a function has other types |
//! | `HLO408` | an operation has more or fewer results, a region more or fewer arguments |
//! | `HLO409` | a number does not fit 64 bits |
//! | `HLO410` | the functions do not make a library ([`LibraryError`]) |

mod apply;
mod attributes;
mod builder;
mod error;
mod evaluate;
mod form;
mod ir;
mod kind;
mod known;
mod library;
mod lower;
mod simplify;
mod text;
mod tidy;
mod transfer;
mod typing;
mod unify;
mod unknowns;
mod value;

pub use attributes::{AttributeTable, Attributes};
pub use error::{ErrorKind, ShapeError};
pub use form::{Form, MixedForms};
pub use ir::{Function, Operation, Region, ValueData, ValueId};
pub use kind::Kind;
pub use known::{Known, KnownShape};
pub use library::{Library, LibraryError};
pub use lower::LowerError;
pub(super) use simplify::Results;
pub use simplify::Specialized;
pub use text::parse_function;
pub use unknowns::{Term, Unknown, Unknowns};
pub use value::{Extents, MAX_LIST, MAX_OPERAND_RANK, MAX_RANK, Type, Value};

/// The limit on nesting of regions, in text and after lowering.
pub const MAX_DEPTH: usize = 64;
