//! The inputs of a run.

use crate::args::{Format, Run};
use crate::random::Distribution;
use crate::report::{Failure, note};
use crate::source::Source;
use crate::{npy, random};
use std::path::Path;
use std::sync::Arc;
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::eval::Config;
use weft_hlo::ir::{ArrayShape, Instruction, Literal, Module, Shape};

/// An array that the program takes: a parameter, or an element of a tuple parameter.
pub(crate) struct Leaf<'a> {
    /// The parameter's name, with the element's number where it is a tuple.
    pub(crate) name: String,
    /// Its type and extents.
    pub(crate) shape: &'a ArrayShape,
    parameter: &'a Instruction,
}

/// The arrays that `module` takes, in order.
pub(crate) fn leaves(module: &Module) -> Result<Vec<Leaf<'_>>, Failure> {
    let entry = module.entry_computation();
    let mut found = Vec::new();
    for id in entry.parameters() {
        let parameter = &entry.instructions[id];
        let leaves = parameter.shape.leaves();
        let is_array = matches!(parameter.shape, Shape::Array(_));
        for (position, leaf) in leaves.into_iter().enumerate() {
            let name = if is_array { parameter.name.clone() } else { format!("{}{{{position}}}", parameter.name) };
            let Shape::Array(shape) = leaf else {
                return Err(Failure::inputs(format!("parameter {name} is {leaf}, which cannot be given")));
            };
            found.push(Leaf { name, shape, parameter });
        }
    }
    Ok(found)
}

/// Refuses a command line that gives inputs in a way they cannot be given.
pub(crate) fn check_arguments(arguments: &Run) -> Result<(), Failure> {
    if arguments.input.iter().any(|path| path == Path::new("-")) {
        let message = "--input - cannot be: standard input is for the program; give the input as a file";
        return Err(Failure::Misuse(message.into()));
    }
    Ok(())
}

/// Refuses more bytes of inputs than the evaluator lets the values of a program take, before any of them is held.
fn check_sizes(source: &Arc<Source>, module: &Module, leaves: &[Leaf<'_>]) -> Result<(), Failure> {
    let limit = Config::default().byte_limit;
    let mut total = 0u64;
    for Leaf { shape, parameter, .. } in leaves {
        let size = u64::from(shape.element_type.bits().div_ceil(8));
        let count = shape.element_count().and_then(|count| u64::try_from(count).ok());
        let bytes = count.and_then(|count| count.checked_mul(size));
        total = total.saturating_add(bytes.unwrap_or(u64::MAX));
        if total <= limit {
            continue;
        }
        let message = match bytes {
            None => format!("{shape} takes more bytes than memory has; at most {limit} may be used"),
            Some(bytes) if bytes > limit => format!("{shape} takes {bytes} bytes; at most {limit} may be used"),
            Some(_) => format!("the inputs up to {shape} take {total} bytes; at most {limit} may be used"),
        };
        let place = format!("{}/{}", module.entry_computation().name, parameter.name);
        let finding = Diagnostic::new("HLO205", parameter.span, message).about(place);
        return Err(Failure::Findings(Arc::clone(source), finding.into()));
    }
    Ok(())
}

/// One literal per array that `module` takes, from files or from chance.
pub(crate) fn read(
    source: &Arc<Source>,
    module: &Module,
    arguments: &Run,
    format: Format,
) -> Result<Vec<Literal>, Failure> {
    let leaves = leaves(module)?;
    check_sizes(source, module, &leaves)?;
    if arguments.input.is_empty() {
        if arguments.random.is_none() && !leaves.is_empty() {
            let noun = if leaves.len() == 1 { "the input" } else { "the inputs" };
            note(&format!("no --input: taking random values for {noun} (--random 0)"), format)?;
        }
        let seed = arguments.random.unwrap_or(0);
        let random = |(number, leaf): (usize, &Leaf<'_>)| {
            random::literal(seed, number, &leaf.name, leaf.shape, Distribution::default())
        };
        return leaves.iter().enumerate().map(random).collect();
    }
    if let Some((number, missing)) = leaves.iter().enumerate().nth(arguments.input.len()) {
        let (given, expected) = (arguments.input.len(), leaves.len());
        return Err(Failure::inputs(format!(
            "parameter {number} ({}) is missing: it is {}; {given} of {expected} inputs were given",
            missing.name,
            plain(missing.shape),
        )));
    }
    if let Some(superfluous) = arguments.input.get(leaves.len()) {
        return Err(Failure::inputs(format!(
            "input {} ({}) is superfluous: the program takes {}",
            leaves.len(),
            superfluous.display(),
            leaves.len(),
        )));
    }
    let mut literals = Vec::with_capacity(leaves.len());
    for (number, (leaf, path)) in leaves.iter().zip(&arguments.input).enumerate() {
        let literal = npy::read(path, leaf.shape).map_err(|problem| {
            Failure::inputs(format!("parameter {number} ({}) is {}: {problem}", leaf.name, plain(leaf.shape)))
        })?;
        literals.push(literal);
    }
    Ok(literals)
}

/// A shape without its layout.
pub(crate) fn plain(shape: &ArrayShape) -> Shape {
    Shape::Array(shape.clone()).without_layout()
}
