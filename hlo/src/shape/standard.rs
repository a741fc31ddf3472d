//! The standard library of shape functions.

use super::attributes::InstructionAttributes;
use super::function::{Attributes, ErrorKind, Extents, Known, Library, Results, ShapeError, Specialized, Value};
use crate::ir::{Op, UnaryOp};
use std::sync::OnceLock;

/// The texts of the library, each of which may call those before it.
const TEXTS: [&str; 9] = [
    include_str!("library/common.shape"),
    include_str!("library/elementwise.shape"),
    include_str!("library/movement.shape"),
    include_str!("library/dot.shape"),
    include_str!("library/window.shape"),
    include_str!("library/indexing.shape"),
    include_str!("library/structural.shape"),
    include_str!("library/collective.shape"),
    include_str!("library/control.shape"),
];

/// The library of HLO's operations: for each opcode the function that is its rule about extents, or the
/// reason why it has none.
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
        // Operations of one operand keep its extents, whatever they compute.
        let unary = UnaryOp::ALL.iter().map(|op| (op.name().to_owned(), "unary".to_owned())).collect();
        library.extend(Vec::new(), unary).expect("the library has the function, and no text maps these operations");
        library
    })
}

/// The extents of the leaves of the instruction's result, by the function of its operation in `library`.
///
/// An asynchronous shorthand such as `slice-start` yields what `async-start` does, of what the operation yields that it
/// starts.
///
/// # Errors
/// The error of the function; [`ErrorKind::Unknown`](super::function::ErrorKind::Unknown) if there is none.
pub fn infer_extents(library: &Library, instruction: &InstructionAttributes<'_>) -> Result<Vec<Extents>, ShapeError> {
    let leaves = instruction.operand_extents();
    let extents: Vec<&[i64]> = leaves.iter().map(|extents| extents.as_slice()).collect();
    let key = function_key(instruction.op);
    match started(instruction) {
        Some(inner) => {
            let yielded = Value::Shapes(infer_extents(library, &inner)?);
            library.infer(key, &extents, &Started { instruction, yielded })
        }
        None => library.infer(key, &extents, instruction),
    }
}

/// As [`infer_extents`], where extents of operands or of the result may only be bounded: the extents, an error that
/// arises for all extents within the bounds, or the function left to evaluate ([`Library::infer_by`], of
/// [`InstructionAttributes::operand_extents`]).
///
/// # Errors
/// As [`Library::specialize_operation`]; [`ErrorKind::Unknown`](super::function::ErrorKind::Unknown) also for an
/// asynchronous shorthand if something is left to evaluate of the operation that it starts, and the error of what always
/// fails there.
pub fn specialize_extents(
    library: &Library,
    instruction: &InstructionAttributes<'_>,
) -> Result<Specialized, ShapeError> {
    bound_extents(library, instruction).map(|(specialized, _)| specialized)
}

/// As [`specialize_extents`], and what is known of the results of the function.
pub(super) fn bound_extents(
    library: &Library,
    instruction: &InstructionAttributes<'_>,
) -> Result<(Specialized, Results), ShapeError> {
    let known = instruction.known_operands();
    let key = function_key(instruction.op);
    let Some(inner) = started(instruction) else {
        return library.bound_operation(key, &known, instruction);
    };
    match bound_extents(library, &inner)? {
        (Specialized::Known(values), _) => {
            let yielded = Value::Shapes(values.into_iter().flat_map(into_leaves).collect());
            library.bound_operation(key, &known, &Started { instruction, yielded })
        }
        (Specialized::Error(error), _) => Ok((Specialized::Error(error.clone()), Err(error))),
        (Specialized::Residual(_), Err(error)) => Err(error),
        (Specialized::Residual(_), Ok(_)) => {
            let message = format!("what {} starts has extents that are not known yet", instruction.op.name());
            Err(ShapeError::new(ErrorKind::Unknown, message))
        }
    }
}

/// The operation that a shorthand starts, with the second element of what the start yields as its result.
fn started<'a>(instruction: &InstructionAttributes<'a>) -> Option<InstructionAttributes<'a>> {
    let Op::AsyncShorthand { operation: Some(operation), .. } = instruction.op else { return None };
    Some(InstructionAttributes { op: operation, declared: instruction.declared.as_tuple()?.get(1)?, ..*instruction })
}

/// A shorthand with what the operation yields that it starts.
struct Started<'a> {
    instruction: &'a InstructionAttributes<'a>,
    yielded: Value,
}

impl Attributes for Started<'_> {
    fn attribute(&self, name: &str) -> Option<Value> {
        if name == "called" { Some(self.yielded.clone()) } else { self.instruction.attribute(name) }
    }

    fn known(&self, name: &str) -> Option<Known> {
        if name == "called" { Some(Known::Exact(self.yielded.clone())) } else { self.instruction.known(name) }
    }
}

/// The extents that a result of a function has for the leaves of a value.
pub(crate) fn into_leaves(value: Value) -> Vec<Extents> {
    match value {
        Value::Extents(extents) => vec![extents],
        Value::Shapes(shapes) => shapes,
        Value::Size(_) | Value::Bool(_) | Value::Witness(_) => Vec::new(),
    }
}

/// Under which name the function of an operation is mapped.
pub(crate) fn function_key(op: &Op) -> &str {
    match op {
        Op::CustomCall { custom_call_target, .. } => custom_call_target,
        op => op.opcode().name(),
    }
}
