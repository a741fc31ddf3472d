//! The inputs of a run.

use crate::args::Run;
use crate::report::{Failure, say};
use crate::{npy, random};
use weft_hlo::ir::{ArrayShape, Literal, Module, Shape};

/// An array that the program takes: a parameter, or an element of a tuple parameter.
struct Leaf<'a> {
    name: String,
    shape: &'a ArrayShape,
}

/// The arrays that `module` takes, in order.
fn leaves(module: &Module) -> Result<Vec<Leaf<'_>>, Failure> {
    let entry = module.entry_computation();
    let mut found = Vec::new();
    for id in entry.parameters() {
        let parameter = &entry.instructions[id];
        let leaves = parameter.shape.leaves();
        let is_array = matches!(parameter.shape, Shape::Array(_));
        for (position, leaf) in leaves.into_iter().enumerate() {
            let name = if is_array { parameter.name.clone() } else { format!("{}{{{position}}}", parameter.name) };
            let Shape::Array(shape) = leaf else {
                return Err(Failure::message(format!("parameter {name} is {leaf}, which cannot be given")));
            };
            found.push(Leaf { name, shape });
        }
    }
    Ok(found)
}

/// One literal per array that `module` takes, from files or from chance.
pub(crate) fn read(module: &Module, arguments: &Run) -> Result<Vec<Literal>, Failure> {
    let leaves = leaves(module)?;
    if arguments.input.is_empty() {
        if arguments.random.is_none() && !leaves.is_empty() {
            let noun = if leaves.len() == 1 { "the input" } else { "the inputs" };
            say(&format!("no --input: taking random values for {noun} (--random 0)"))?;
        }
        let seed = arguments.random.unwrap_or(0);
        let random = |(number, leaf): (usize, &Leaf<'_>)| random::literal(seed, number, &leaf.name, leaf.shape);
        return leaves.iter().enumerate().map(random).collect();
    }
    if let Some((number, missing)) = leaves.iter().enumerate().nth(arguments.input.len()) {
        let (given, expected) = (arguments.input.len(), leaves.len());
        return Err(Failure::message(format!(
            "parameter {number} ({}) is missing: it is {}; {given} of {expected} inputs were given",
            missing.name,
            plain(missing.shape),
        )));
    }
    if let Some(superfluous) = arguments.input.get(leaves.len()) {
        return Err(Failure::message(format!(
            "input {} ({}) is superfluous: the program takes {}",
            leaves.len(),
            superfluous.display(),
            leaves.len(),
        )));
    }
    let mut literals = Vec::with_capacity(leaves.len());
    for (number, (leaf, path)) in leaves.iter().zip(&arguments.input).enumerate() {
        let literal = npy::read(path, leaf.shape).map_err(|problem| {
            Failure::message(format!("parameter {number} ({}) is {}: {problem}", leaf.name, plain(leaf.shape)))
        })?;
        literals.push(literal);
    }
    Ok(literals)
}

/// A shape without its layout.
pub(crate) fn plain(shape: &ArrayShape) -> Shape {
    Shape::Array(shape.clone()).without_layout()
}
