//! The inputs of a run.

mod bundle;
mod given;

use crate::args::{Format, Run};
use crate::random;
use crate::random::Distribution;
use crate::report::{Failure, note};
use crate::source::Source;
use bundle::Files;
use given::Given;
use std::path::{Path, PathBuf};
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
    filled(&leaves, &arguments.input)
}

/// A literal for each leaf: first what is given by name, then the rest in order.
fn filled(leaves: &[Leaf<'_>], inputs: &[PathBuf]) -> Result<Vec<Literal>, Failure> {
    let mut literals: Vec<Option<Literal>> = leaves.iter().map(|_| None).collect();
    let mut in_order: Vec<(usize, Given)> = Vec::new();
    let mut files = Files::default();
    let mut unnamed = Vec::new();
    for (position, input) in inputs.iter().enumerate() {
        let (named, given) = Given::of(input, leaves);
        let Some(number) = named else {
            unnamed.push((position, given));
            continue;
        };
        let literal = read_one(number, &leaves[number], &given, &mut files)?;
        if literals[number].replace(literal).is_some() {
            return Err(Failure::inputs(format!("parameter {number} ({}) is given twice", leaves[number].name)));
        }
    }
    for (position, given) in unnamed {
        let Given::Bundle(path, None) = &given else {
            in_order.push((position, given));
            continue;
        };
        let bundle = files.open(path).map_err(Failure::inputs)?;
        let mut found = 0;
        for (number, leaf) in
            leaves.iter().enumerate().filter(|(number, _)| literals[*number].is_none()).collect::<Vec<_>>()
        {
            // NumPy numbers the arrays that are given no names.
            let keys = [leaf.name.clone(), format!("arr_{number}")];
            let Some(key) = keys.iter().find(|key| bundle.holds(key)) else { continue };
            literals[number] = Some(bundle.read(key, leaf.shape).map_err(|problem| unfit(number, leaf, &problem))?);
            found += 1;
        }
        if found == 0 && !leaves.is_empty() {
            let held = bundle.names().join(", ");
            let message = format!("{} holds no parameter that is missing; it holds {held}", path.display());
            return Err(Failure::inputs(message));
        }
    }
    let mut in_order = in_order.into_iter();
    let mut all = Vec::with_capacity(leaves.len());
    for (number, (leaf, literal)) in leaves.iter().zip(literals).enumerate() {
        let literal = match (literal, in_order.as_slice().is_empty()) {
            (Some(literal), _) => literal,
            (None, false) => {
                let given = in_order.next().map(|(_, given)| read_one(number, leaf, &given, &mut files));
                given.unwrap_or_else(|| Err(missing(leaves, inputs, number)))?
            }
            (None, true) => return Err(missing(leaves, inputs, number)),
        };
        all.push(literal);
    }
    if let Some((position, _)) = in_order.next() {
        return Err(Failure::inputs(format!(
            "input {position} ({}) is superfluous: the program takes {}",
            inputs[position].display(),
            leaves.len(),
        )));
    }
    Ok(all)
}

fn missing(leaves: &[Leaf<'_>], inputs: &[PathBuf], number: usize) -> Failure {
    let (given, expected) = (inputs.len(), leaves.len());
    Failure::inputs(format!(
        "parameter {number} ({}) is missing: it is {}; {given} of {expected} inputs were given",
        leaves[number].name,
        plain(leaves[number].shape),
    ))
}

fn read_one(number: usize, leaf: &Leaf<'_>, given: &Given, files: &mut Files) -> Result<Literal, Failure> {
    given.read(leaf.shape, files).map_err(|problem| unfit(number, leaf, &problem))
}

fn unfit(number: usize, leaf: &Leaf<'_>, problem: &str) -> Failure {
    Failure::inputs(format!("parameter {number} ({}) is {}: {problem}", leaf.name, plain(leaf.shape)))
}

/// A shape without its layout.
pub(crate) fn plain(shape: &ArrayShape) -> Shape {
    Shape::Array(shape.clone()).without_layout()
}
