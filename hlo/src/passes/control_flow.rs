//! Simplification of control flow: conditionals of one branch, and while loops.

use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use super::short_loops::is_short;
use super::side_effects::has_effect;
use super::trip_count::trip_count;
use crate::diagnostic::Diagnostics;
use crate::ir::{Arena, ArenaId, Computation, InstrId, Instruction, Module, Op, Scalar, Shape, UniqueNames};
use std::collections::BTreeMap;

/// A conditional whose choice is a constant, or that has one branch, is a call of the branch taken.
pub struct Conditionals;

impl Pass for Conditionals {
    fn name(&self) -> &'static str {
        "conditionals"
    }

    fn about(&self) -> &'static str {
        "takes the branch that a constant chooses"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| {
            let Op::Conditional { branches, .. } = &candidate.op else { return None };
            let choice = match &rebuild.get(candidate.operands[0]).op {
                Op::Constant(literal) => literal.data.get(0),
                _ => None,
            };
            // The first of two branches is for true; a number that is not one of a branch takes the last.
            let taken = match choice {
                _ if branches.len() == 1 => 0,
                Some(Scalar::Pred(chosen)) => usize::from(!chosen),
                Some(Scalar::S32(number)) => usize::try_from(number).unwrap_or(usize::MAX).min(branches.len() - 1),
                _ => return None,
            };
            let call = Op::Call { to_apply: branches[taken] };
            Some(("conditional(constant, …) calls one branch", Rewrite::Op(call, vec![candidate.operands[taken + 1]])))
        }))
    }
}

/// A loop of no round is the state it starts from, of one round a call of its body, and of up to eight rounds of few operations on each element by itself a call for each
/// round; what a body computes from parts of the state
/// that it passes on unchanged is computed once, before the loop, and carried along, unless that is larger than what it is
/// computed from.
pub struct WhileLoops;

impl Pass for WhileLoops {
    fn name(&self) -> &'static str {
        "while-loops"
    }

    fn about(&self) -> &'static str {
        "moves what does not change out of loops, and writes out those of few rounds of few operations"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| {
            let Op::While { body, .. } = candidate.op else { return None };
            match trip_count(rebuild.computations(), rebuild.made(), candidate) {
                Some(0) => Some(("a loop of no round is its start", Rewrite::Value(candidate.operands[0]))),
                Some(1) => {
                    let call = Op::Call { to_apply: body };
                    Some(("a loop of one round is its body", Rewrite::Op(call, candidate.operands.clone())))
                }
                Some(rounds) if is_short(&rebuild.computations()[body], rounds) => {
                    let call = Op::Call { to_apply: body };
                    let mut state = candidate.operands.clone();
                    for _ in 1..rounds {
                        state = vec![rebuild.add(candidate.shape.clone(), call.clone(), state)];
                    }
                    Some(("a short loop is its rounds, one after the other", Rewrite::Op(call, state)))
                }
                _ => hoisted(rebuild, candidate),
            }
        }))
    }
}

/// The loop with what does not change computed before it.
fn hoisted(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::While { condition, body } = candidate.op else { return None };
    let (condition, body) = (rebuild.computations()[condition].clone(), rebuild.computations()[body].clone());
    let elements = candidate.shape.as_tuple()?.to_vec();
    let unchanging = unchanging(&body)?;
    let moved = movable(&body, &unchanging);
    // Those that something else in the body reads have to be carried along.
    let read_inside: Vec<InstrId> = carried(&body, &moved);
    if read_inside.is_empty() {
        return None;
    }
    // Before the loop: the parts of the state that do not change, constants, and what is computed of them.
    let start = candidate.operands[0];
    let mut outside: BTreeMap<InstrId, InstrId> = BTreeMap::new();
    for (id, instruction) in body.instructions.iter() {
        let is_needed = moved.contains(&id);
        if !is_needed {
            continue;
        }
        let value = match (&instruction.op, unchanging.get(&id)) {
            (_, Some(&index)) => rebuild.element(start, index),
            (op, None) => {
                let operands = instruction.operands.iter().map(|operand| outside[operand]).collect();
                rebuild.add(instruction.shape.clone(), op.clone(), operands)
            }
        };
        outside.insert(id, value);
    }
    let count = elements.len();
    let mut shapes = elements.clone();
    shapes.extend(read_inside.iter().map(|&id| body.instructions[id].shape.clone()));
    let state = Shape::Tuple(shapes);
    let mut starts: Vec<InstrId> = (0..count).map(|index| rebuild.element(start, index)).collect();
    starts.extend(read_inside.iter().map(|id| outside[id]));
    let start = rebuild.add(state.clone(), Op::Tuple, starts);
    let condition = rebuild.add_computation(widened(&condition, &state, &[], count));
    let body = rebuild.add_computation(widened(&body, &state, &read_inside, count));
    let looped = rebuild.add(state, Op::While { condition, body }, vec![start]);
    let results = (0..count).map(|index| rebuild.element(looped, index)).collect();
    Some(("what does not change in a loop is computed before it", Rewrite::Op(Op::Tuple, results)))
}

/// The instructions of the body that read an element of the state which the body passes on, with its index.
fn unchanging(body: &Computation) -> Option<BTreeMap<InstrId, usize>> {
    let root = &body.instructions[body.root];
    if root.op != Op::Tuple {
        return None;
    }
    let element = |id: InstrId| match body.instructions[id].op {
        Op::GetTupleElement { index } => {
            let of = body.instructions[id].operands[0];
            matches!(body.instructions[of].op, Op::Parameter { .. }).then(|| usize::try_from(index).ok())?
        }
        _ => None,
    };
    let passed_on = |index: usize| root.operands.get(index).is_some_and(|&id| element(id) == Some(index));
    let found =
        body.instructions.ids().filter_map(|id| element(id).filter(|&index| passed_on(index)).map(|at| (id, at)));
    Some(found.collect())
}

/// The instructions that can be computed before the loop: of unchanging elements and constants only.
fn movable(body: &Computation, unchanging: &BTreeMap<InstrId, usize>) -> std::collections::BTreeSet<InstrId> {
    let mut moved = std::collections::BTreeSet::new();
    for (id, instruction) in body.instructions.iter() {
        let is_leaf = unchanging.contains_key(&id) || matches!(instruction.op, Op::Constant(_));
        let is_computed = !instruction.operands.is_empty()
            && instruction.operands.iter().all(|operand| moved.contains(operand))
            && !matches!(
                instruction.op,
                Op::While { .. } | Op::Tuple | Op::GetTupleElement { .. } | Op::OptimizationBarrier
            )
            && instruction.attributes.iter().all(|attribute| attribute.name == "metadata")
            && !has_effect(instruction, &|_| true);
        if is_leaf || is_computed {
            moved.insert(id);
        }
    }
    moved
}

/// What is computed before the loop and read by instructions that stay in it: only what is no larger than what it is computed
/// of.
fn carried(body: &Computation, moved: &std::collections::BTreeSet<InstrId>) -> Vec<InstrId> {
    let size = |id: InstrId| {
        let leaves = body.instructions[id].shape.leaves();
        leaves.into_iter().filter_map(|leaf| leaf.as_array()?.element_count()).fold(0i64, i64::saturating_add)
    };
    let mut stays_read = vec![false; body.instructions.len()];
    stays_read[body.root.index()] = true;
    for (id, instruction) in body.instructions.iter() {
        if !moved.contains(&id) {
            instruction.operands.iter().for_each(|operand| stays_read[operand.index()] = true);
        }
    }
    let is_computed = |id: InstrId| !body.instructions[id].operands.is_empty() && !is_element(body, id);
    // Something of one element that depends on nothing but constants is left to constant folding.
    let reads_state = |id: InstrId| depends_on_state(body, id);
    let is_worth = |id: InstrId| {
        let read: i64 =
            body.instructions[id].operands.iter().map(|&operand| size(operand)).fold(0, i64::saturating_add);
        size(id) <= read
    };
    let all = body.instructions.ids();
    all.filter(|&id| {
        moved.contains(&id) && stays_read[id.index()] && is_computed(id) && is_worth(id) && reads_state(id)
    })
    .collect()
}

fn is_element(body: &Computation, id: InstrId) -> bool {
    matches!(body.instructions[id].op, Op::GetTupleElement { .. })
}

/// Whether an instruction that can be moved reads an element of the state, and not only constants.
fn depends_on_state(body: &Computation, id: InstrId) -> bool {
    let mut pending = vec![id];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(id) = pending.pop() {
        if is_element(body, id) {
            return true;
        }
        if seen.insert(id) {
            pending.extend(&body.instructions[id].operands);
        }
    }
    false
}

/// The condition or the body of a loop whose state has further elements, which stand for the instructions `given`.
fn widened(computation: &Computation, state: &Shape, given: &[InstrId], count: usize) -> Computation {
    let mut instructions: Arena<InstrId, Instruction> = Arena::new();
    let mut image: Vec<InstrId> = Vec::with_capacity(computation.instructions.len());
    let mut names = UniqueNames::default();
    for instruction in computation.instructions.values() {
        names.take(&instruction.name);
    }
    let parameter = computation.parameters()[0];
    let mut carried: Vec<InstrId> = Vec::new();
    let mut whole = None;
    // The parameter comes first, so that what it carries can stand for instructions before it.
    let first = [parameter].into_iter().chain(computation.instructions.ids().filter(|&id| id != parameter));
    let mut placed: BTreeMap<InstrId, InstrId> = BTreeMap::new();
    for id in first {
        let mut instruction = computation.instructions[id].clone();
        if id == parameter {
            instruction.shape = state.clone();
            let wide = instructions.push(instruction);
            let shapes = state.as_tuple().unwrap_or_default();
            for (index, shape) in shapes.iter().enumerate() {
                let op = Op::GetTupleElement { index: index as i64 };
                let name = names.take("carried");
                carried.push(instructions.push(Instruction::new(name, shape.clone(), op, vec![wide])));
            }
            // The state as it was, for whatever reads it as a whole.
            let old = Shape::Tuple(shapes[..count].to_vec());
            let name = names.take("state");
            let narrow = Instruction::new(name, old, Op::Tuple, carried[..count].to_vec());
            let narrow = instructions.push(narrow);
            whole = Some(narrow);
            placed.insert(id, narrow);
            continue;
        }
        if let Some(position) = given.iter().position(|&other| other == id) {
            placed.insert(id, carried[count + position]);
            continue;
        }
        instruction.operands.iter_mut().for_each(|operand| *operand = placed[operand]);
        placed.insert(id, instructions.push(instruction));
    }
    image.extend(computation.instructions.ids().map(|id| placed[&id]));
    let mut root = image[computation.root.index()];
    if computation.instructions[computation.root].shape.as_tuple().is_some() && whole.is_some() {
        // The body gives the further elements on as they are.
        let shapes = state.as_tuple().unwrap_or_default();
        let mut results = Vec::with_capacity(shapes.len());
        for (index, shape) in shapes.iter().enumerate().take(count) {
            let op = Op::GetTupleElement { index: index as i64 };
            let name = names.take("next");
            results.push(instructions.push(Instruction::new(name, shape.clone(), op, vec![root])));
        }
        results.extend(&carried[count..]);
        let name = names.take("next_state");
        root = instructions.push(Instruction::new(name, state.clone(), Op::Tuple, results));
    }
    Computation { instructions, root, ..computation.clone() }
}
