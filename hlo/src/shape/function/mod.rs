//! Shape functions.

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
mod ty;
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
pub use simplify::Specialized;
pub use text::parse_function;
pub use ty::Type;
pub use unknowns::{Term, Unknown, Unknowns};
pub use value::{Extents, MAX_LIST, MAX_OPERAND_RANK, MAX_RANK, Value};

/// How deep regions nest, in text and after lowering.
pub const MAX_DEPTH: usize = 200;
