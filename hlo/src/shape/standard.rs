//! The shape functions of HLO's operations.

use super::attributes::{InstructionAttributes, extents_of, known_leaf};
use super::function::{Extents, KnownShape, Library, ShapeError, Specialized};
use crate::ir::{Op, Shape};
use std::sync::OnceLock;

/// The texts of the library, each of which may call those before it.
const TEXTS: [&str; 8] = [
    include_str!("library/common.shape"),
    include_str!("library/elementwise.shape"),
    include_str!("library/movement.shape"),
    include_str!("library/dot.shape"),
    include_str!("library/window.shape"),
    include_str!("library/indexing.shape"),
    include_str!("library/structural.shape"),
    include_str!("library/collective.shape"),
];

/// The library of HLO's operations: for each opcode that has a rule about extents, the function that is the rule.
///
/// Clone it to add functions for custom calls, mapped to their targets ([`Library::extend_from_text`]).
///
/// ```
/// use weft_hlo::shape::function::AttributeTable;
/// use weft_hlo::shape::standard_library;
///
/// let add = standard_library().infer("add", &[&[2, 3], &[2, 3]], &AttributeTable::new())?;
/// assert_eq!(add[0].as_slice(), [2, 3]);
/// # Ok::<(), weft_hlo::shape::function::ShapeError>(())
/// ```
pub fn standard_library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut library = Library::new("hlo");
        for text in TEXTS {
            library.extend_from_text(text).expect("the library's text is well formed, as its tests check");
        }
        library
    })
}

/// The extents of the leaves of the operation's result, by its function in `library`. Operands that are tuples count leaf
/// by leaf.
///
/// # Errors
/// The error of the function; [`ErrorKind::Unknown`](super::function::ErrorKind::Unknown) if there is none.
pub fn infer_extents(
    library: &Library,
    op: &Op,
    operands: &[&Shape],
    declared: &Shape,
) -> Result<Vec<Extents>, ShapeError> {
    let leaves: Vec<Extents> = operands.iter().flat_map(|shape| shape.leaves()).map(extents_of).collect();
    let extents: Vec<&[i64]> = leaves.iter().map(|extents| extents.as_slice()).collect();
    library.infer(function_key(op), &extents, &InstructionAttributes { op, operands, declared })
}

/// As [`infer_extents`], where extents of operands or of the result may only be bounded: the extents, an error that there
/// is whatever they turn out to be, or what is left to evaluate ([`Library::infer_by`]).
///
/// # Errors
/// As [`Library::specialize_operation`].
pub fn specialize_extents(
    library: &Library,
    op: &Op,
    operands: &[&Shape],
    declared: &Shape,
) -> Result<Specialized, ShapeError> {
    let known: Vec<KnownShape> = operands.iter().flat_map(|shape| shape.leaves()).map(known_leaf).collect();
    library.specialize_operation(function_key(op), &known, &InstructionAttributes { op, operands, declared })
}

/// Under which name the function of an operation is mapped.
fn function_key(op: &Op) -> &str {
    match op {
        Op::CustomCall { custom_call_target, .. } => custom_call_target,
        op => op.opcode(),
    }
}
