//! Shape inference: from the shapes of operands to that of the result.
//!
//! Extents are computed by shape functions, written in a [language of their own](function): the
//! [`standard_library`] has one for each of HLO's operations, but for a few that it lists with the reason
//! ([`Library::without`](function::Library::without)), and there is no other set of rules. Attributes that are legal only
//! for some ranks and extents (dimension numbers, entries for each dimension, windows) are part of these rules. Which element
//! types an operation takes and yields, and what else makes attributes legal (no dimension named twice, the order of some), is
//! the [verifier](crate::verify)'s. The rules are those of XLA's operation semantics document, without its implicit
//! broadcasting, which HLO text does not have. All arithmetic on extents is checked; rank 0 and extent 0 are ordinary.

mod attributes;
mod cache;
mod elementwise;
mod extents;
pub mod function;
mod parts;
mod standard;

pub use attributes::{InstructionAttributes, called_result, known_shape};
pub(crate) use cache::InferenceCache;
pub use elementwise::{binary_accepts, unary_accepts};
pub use extents::infer;
pub(crate) use extents::{check_open, finding, infer_cached};
pub(crate) use parts::{is_in_place, parts, seen};
pub(crate) use standard::{function_key, into_leaves};
pub use standard::{infer_extents, specialize_extents, standard_library};
