//! The oracle of operations that pass whole values on: calls, tuples, copies.

use super::movement::number;
use super::pairs::Pairs;
use super::provenance::reads;
use super::scene::{Reads, Scene, leaf_extents};
use super::values::{Values, integer};
use std::collections::BTreeMap;
use weft_hlo::ir::{ArenaId, Computation, ComputationId, Literal, Op};

pub(crate) fn tuple(scene: Scene<'_>) -> Reads {
    let mut reads = Reads::nothing(&scene);
    let mut result = 0;
    for operand in 0..scene.operands() {
        for leaf in 0..scene.operand_shape(operand).leaves().len() {
            hand_on(&mut reads, result, operand, leaf);
            result += 1;
        }
    }
    reads
}

pub(crate) fn get_tuple_element(scene: Scene<'_>, index: i64) -> Reads {
    let mut reads = Reads::nothing(&scene);
    let elements = scene.operand_shape(0).as_tuple().unwrap_or_default();
    let mut leaves =
        elements.iter().enumerate().flat_map(|(at, element)| element.leaves().into_iter().map(move |_| at));
    let first = leaves.position(|at| at == number(index)).unwrap_or(0);
    (0..scene.results()).for_each(|result| hand_on(&mut reads, result, 0, first + result));
    reads
}

/// The first operand as it is.
pub(crate) fn same(scene: Scene<'_>) -> Reads {
    let mut reads = Reads::nothing(&scene);
    (0..scene.results()).for_each(|leaf| hand_on(&mut reads, leaf, 0, leaf));
    reads
}

fn hand_on(reads: &mut Reads, result: usize, operand: usize, leaf: usize) {
    if let Some(pairs) = reads.of_pair(result, operand, leaf) {
        *pairs = Pairs::diagonal(pairs.rows);
    }
}

/// What a computation yields is computed from the operands from `first` on.
pub(crate) fn call(scene: Scene<'_>, callee: ComputationId, first: usize) -> Result<Reads, String> {
    let computation = &scene.module.computations[callee];
    let count = computation.parameters().len();
    let arguments: Vec<Literal> =
        (first..first + count).flat_map(|operand| scene.value(operand).iter().flatten().cloned()).collect();
    let values = Values::new(scene.module, callee, &arguments)?;
    let mut found = Reads::nothing(&scene);
    for ((leaf, parameter, of_parameter), pairs) in through(scene, callee, &values)? {
        if let Some(own) = found.of_pair(leaf, first + parameter, of_parameter) {
            own.join(&pairs);
        }
    }
    Ok(found)
}

/// For arrays of a value, which elements of which arrays of parameters it is computed from.
type Reached = BTreeMap<(usize, usize, usize), Pairs>;

fn through(scene: Scene<'_>, callee: ComputationId, values: &Values) -> Result<Reached, String> {
    let computation: &Computation = &scene.module.computations[callee];
    let mut reached: Vec<Reached> = Vec::new();
    for (id, instruction) in computation.instructions.iter() {
        let mut own = Reached::new();
        let parameter = match instruction.op {
            Op::Parameter { number } => Some(number),
            _ => None,
        };
        if let Some(parameter) = parameter {
            for leaf in 0..instruction.shape.leaves().len() {
                let count = super::cells::count(&leaf_extents(&instruction.shape, leaf));
                own.insert((leaf, number(parameter), leaf), Pairs::diagonal(count));
            }
        } else {
            let inner = reads(Scene { computation: callee, id, values, ..scene })?;
            for ((result, operand, leaf), step) in &inner.pairs {
                let before = &reached[instruction.operands[*operand].index()];
                for ((_, parameter, of_parameter), pairs) in before.iter().filter(|(key, _)| key.0 == *leaf) {
                    let key = (*result, *parameter, *of_parameter);
                    let composed = step.then(pairs);
                    own.entry(key).or_insert_with(|| Pairs::none(composed.rows, composed.columns)).join(&composed);
                }
            }
        }
        reached.push(own);
    }
    Ok(reached.swap_remove(computation.root.index()))
}

/// The branch that is chosen; a number that names none chooses the last.
pub(crate) fn conditional(scene: Scene<'_>, branches: &[ComputationId]) -> Result<Reads, String> {
    let branch = chosen(scene, branches.len());
    let mut found = call(scene, branches[branch], branch + 1)?;
    for result in 0..scene.results() {
        if let Some(all) = found.of_pair(result, 0, 0) {
            *all = Pairs::all(all.rows, all.columns);
        }
    }
    Ok(found)
}

fn chosen(scene: Scene<'_>, branches: usize) -> usize {
    let Op::Conditional { indexed, .. } = scene.instruction().op else { return 0 };
    let chooser = integer(scene.value(0)[0].as_ref().expect("the operand is an array"), 0);
    match indexed {
        // `pred` names the branch of what is true first.
        false => usize::from(chooser == 0),
        true => usize::try_from(chooser).ok().filter(|&at| at < branches).unwrap_or(branches - 1),
    }
}
