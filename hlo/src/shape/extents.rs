//! Inference of the extents of results from the shape functions of the operations.

use super::function::{ErrorKind, Extents, Known, KnownShape, ShapeError, Value};
use super::standard::bound_extents;
use super::{InferenceCache, InstructionAttributes, attributes, standard_library};
use crate::diagnostic::{Diagnostic, Diagnostics, code};
use crate::ir::{ArrayShape, Op, Shape, Span};

/// The shape that `op` gives its value, without layout: `declared` with the extents that follow from the operands.
///
/// Element types are those of `declared`. Some operations leave extents open too (`iota`, `broadcast`, `reshape`, …); these
/// are taken from `declared`, after checking that they are possible. An operation without a shape function has `declared`
/// itself, and so have those that call a computation: what that yields only the module says
/// ([`infer_extents`](super::infer_extents)).
///
/// # Errors
/// The first rule about extents that is broken, with a code of [`code`], without span and instruction, which the caller
/// knows.
///
/// ```
/// use weft_hlo::ir::{ElementType, Op, Shape};
///
/// let matrix = Shape::array(ElementType::F32, [2, 3]);
/// let op = Op::Transpose { permutation: vec![1, 0] };
/// let shape = weft_hlo::shape::infer(&op, &[&matrix], &matrix)?;
/// assert_eq!(shape, Shape::array(ElementType::F32, [3, 2]));
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn infer(op: &Op, operands: &[&Shape], declared: &Shape) -> Result<Shape, Diagnostics> {
    if matches!(op, Op::Call { .. } | Op::Fusion { .. } | Op::Conditional { .. } | Op::AsyncStart { .. }) {
        return Ok(declared.without_layout());
    }
    infer_cached(
        &InferenceCache::new(standard_library()),
        &InstructionAttributes { op, operands, declared, called: None, partitions: 1 },
    )
}

/// As [`infer`], for many instructions: equal ones are computed once.
pub(crate) fn infer_cached(
    cache: &InferenceCache<'_>,
    instruction: &InstructionAttributes<'_>,
) -> Result<Shape, Diagnostics> {
    let mut shape = instruction.declared.without_layout();
    let extents = match cache.infer(instruction) {
        Ok(extents) => extents,
        Err(error) if error.kind == ErrorKind::Unknown => return Ok(shape),
        Err(error) => return Err(finding(instruction, &error).into()),
    };
    if shape.leaves().len() == extents.len() {
        replace_extents(&mut shape, &mut extents.iter());
    }
    Ok(shape)
}

/// Checks the extents of an operation some of which are not known (`<=N`, `?`): what is known of those of the result, leaf
/// by leaf, as far as the function says anything about them.
///
/// # Errors
/// A rule that is surely broken, whatever the extents turn out to be: the first, of what is evaluated in any case.
pub(crate) fn check_open(
    cache: &InferenceCache<'_>,
    instruction: &InstructionAttributes<'_>,
) -> Result<Option<Vec<KnownShape>>, Diagnostics> {
    match bound_extents(cache.library, instruction) {
        Ok((_, Ok(results))) => Ok(known_leaves(&results)),
        Ok((_, Err(error))) => Err(finding(instruction, &error).into()),
        Err(error) if error.kind == ErrorKind::Unknown => Ok(None),
        Err(error) => Err(finding(instruction, &error).into()),
    }
}

/// What is known of all leaves; `None` if it is not even known how many there are.
fn known_leaves(results: &[Known]) -> Option<Vec<KnownShape>> {
    let mut leaves = Vec::with_capacity(results.len());
    for known in results {
        match known {
            Known::Shapes(shapes) => leaves.extend(shapes.clone().ok()?),
            Known::Exact(Value::Shapes(shapes)) => leaves.extend(shapes.iter().map(|it| KnownShape::exact(it))),
            Known::List(list) => leaves.push(list.clone()),
            Known::Exact(Value::Extents(extents)) => leaves.push(KnownShape::exact(extents)),
            _ => return None,
        }
    }
    Some(leaves)
}

/// What an error of a shape function says of an instruction.
pub(crate) fn finding(instruction: &InstructionAttributes<'_>, error: &ShapeError) -> Diagnostic {
    let code = match error.kind {
        ErrorKind::Constraint => code::EXTENTS,
        ErrorKind::Overflow | ErrorKind::Limit => code::SHAPE,
        ErrorKind::Arguments => code::OPERAND_COUNT,
        ErrorKind::DivisionByZero
        | ErrorKind::Index
        | ErrorKind::NegativeExtent
        | ErrorKind::Attribute
        | ErrorKind::Unknown => code::ATTRIBUTE,
    };
    let leaves: Vec<String> = instruction
        .operands
        .iter()
        .flat_map(|operand| operand.leaves())
        .filter_map(|leaf| leaf.as_array().map(bracketed))
        .collect();
    let mut message = format!("{}: {}", instruction.op.name(), error.message);
    if !leaves.is_empty() {
        let several = if leaves.len() == 1 { "operand has" } else { "operands have" };
        message.push_str(&format!("; the {several} extents {}", list(&leaves)));
    }
    let made_as_declared = matches!(instruction.op, Op::Iota { .. } | Op::Broadcast { .. } | Op::Reshape | Op::Bitcast);
    if let (true, Some(array)) = (made_as_declared, instruction.declared.as_array()) {
        message.push_str(&format!("; the result has {}", bracketed(array)));
    }
    for attribute in attributes::attributes(instruction.op, &error.message) {
        message.push_str("; ");
        message.push_str(&attribute);
    }
    Diagnostic::new(code, Span::default(), message)
}

/// Extents as the text spells them: `[2,<=3,?]`.
fn bracketed(array: &ArrayShape) -> String {
    let bare = ArrayShape { layout: None, ..array.clone() }.to_string();
    bare[array.element_type.name().len()..].to_owned()
}

/// `a`, `a and b`, `a, b and c`; of many the first four.
fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] if parts.len() <= 4 => format!("{} and {last}", rest.join(", ")),
        _ => format!("{} and {} more", parts[..4].join(", "), parts.len() - 4),
    }
}

fn replace_extents(shape: &mut Shape, extents: &mut std::slice::Iter<'_, Extents>) {
    match shape {
        Shape::Tuple(elements) => {
            for element in elements {
                replace_extents(element, extents);
            }
        }
        Shape::Array(array) => {
            if let Some(extents) = extents.next() {
                // Marks of dynamic dimensions stay with the dimensions that they mark.
                array.dynamic.retain(|&dimension| dimension < extents.len());
                array.extents.clear();
                array.extents.extend_from_slice(extents);
            }
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            extents.next();
        }
    }
}
