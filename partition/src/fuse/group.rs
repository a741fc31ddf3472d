//! Kernels to be.

use std::collections::BTreeSet;
use weft_hlo::eval::converted;
use weft_hlo::ir::{
    Arena, ArenaId, Computation, ComputationId, ElementType, InstrId, Instruction, Literal, Op, Scalar, Shape,
    UniqueNames,
};

/// The instructions that one kernel computes.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The instructions whose values it writes, ascending.
    pub(super) roots: Vec<InstrId>,
    /// Everything it computes, the roots included, ascending.
    pub(super) members: BTreeSet<InstrId>,
    /// The values it reads from buffers, ascending. An operand of a member that is neither a member nor one of these is
    /// a constant written in place, or never read.
    pub(super) inputs: BTreeSet<InstrId>,
}

impl Group {
    /// What it computes, as a computation whose parameters are its inputs: several roots are a tuple, and of one that is a tuple those of some numbers may be all that is returned. It is part of a computation whose [`splats`](crate::splat::splats) are known. Computations that its members apply are named by `callee`.
    pub(super) fn computation(
        &self,
        name: String,
        (source, splats): (&Computation, &[Option<Scalar>]),
        returned: Option<&[i64]>,
        callee: &mut dyn FnMut(ComputationId) -> ComputationId,
    ) -> Computation {
        let mut instructions: Arena<InstrId, Instruction> = Arena::new();
        let mut inner = UniqueNames::default();
        let mut image: Vec<(InstrId, InstrId)> = Vec::new();
        for (number, input) in (0i64..).zip(&self.inputs) {
            let from = &source.instructions[*input];
            let mut parameter =
                Instruction::new(inner.take(&from.name), from.shape.clone(), Op::Parameter { number }, Vec::new());
            parameter.span = from.span;
            image.push((*input, instructions.push(parameter)));
        }
        for id in with_constants(source, splats, self) {
            let mut copy = source.instructions[id].clone();
            copy.name = inner.take(&copy.name);
            for operand in &mut copy.operands {
                *operand = match image.binary_search_by_key(operand, |(from, _)| *from) {
                    Ok(known) => image[known].1,
                    Err(place) => {
                        let stand_in = never_read(&source.instructions[*operand], &mut inner, &mut instructions);
                        image.insert(place, (*operand, stand_in));
                        stand_in
                    }
                };
            }
            copy.op.rename_computations(&mut *callee);
            let made = instructions.push(copy);
            let place = image.partition_point(|(from, _)| *from < id);
            image.insert(place, (id, made));
        }
        let made = |root: &InstrId| {
            let known = image.binary_search_by_key(root, |(from, _)| *from).expect("roots are members");
            image[known].1
        };
        let roots: Vec<InstrId> = self.roots.iter().map(made).collect();
        let root = match (&roots[..], returned) {
            ([root], Some(numbers)) => some_results(*root, numbers, &mut inner, &mut instructions),
            ([root], None) => *root,
            _ => {
                let shape = Shape::Tuple(roots.iter().map(|root| instructions[*root].shape.clone()).collect());
                instructions.push(Instruction::new(inner.take("results"), shape, Op::Tuple, roots))
            }
        };
        let mut computation = Computation::new(name, instructions, root);
        computation.span = self.roots.first().map(|root| source.instructions[*root].span).unwrap_or_default();
        computation
    }
}

/// Some results of an instruction: one, or a tuple.
fn some_results(
    of: InstrId,
    numbers: &[i64],
    names: &mut UniqueNames,
    instructions: &mut Arena<InstrId, Instruction>,
) -> InstrId {
    let like = instructions[of].clone();
    let mut add = |shape: Shape, op: Op, operands: Vec<InstrId>| {
        let mut added = Instruction::new(names.take(&like.name), shape, op, operands);
        added.span = like.span;
        instructions.push(added)
    };
    let shapes = like.shape.as_tuple().unwrap_or_default();
    let shape = |index: &i64| usize::try_from(*index).ok().and_then(|index| shapes.get(index)).cloned();
    let shapes: Vec<Shape> = numbers.iter().filter_map(shape).collect();
    let each = numbers.iter().zip(&shapes);
    let elements: Vec<InstrId> =
        each.map(|(index, shape)| add(shape.clone(), Op::GetTupleElement { index: *index }, vec![of])).collect();
    match elements[..] {
        [element] => element,
        _ => add(Shape::Tuple(shapes), Op::Tuple, elements),
    }
}

/// Something of the shape of a value none of whose elements is needed: zeros.
fn never_read(like: &Instruction, names: &mut UniqueNames, instructions: &mut Arena<InstrId, Instruction>) -> InstrId {
    let element_type = like.shape.as_array().map_or(ElementType::Pred, |array| array.element_type);
    let zero = converted(&Scalar::Pred(false).into(), element_type).and_then(|zero| zero.get(0));
    let zero = zero.expect("false becomes a number of every type");
    let name = names.take("never_read");
    let op = Op::Constant(Literal::scalar(zero));
    let scalar = instructions.push(Instruction::new(name, Shape::scalar(element_type), op, Vec::new()));
    let op = Op::Broadcast { dimensions: Vec::new() };
    instructions.push(Instruction::new(names.take("never_read"), like.shape.clone(), op, vec![scalar]))
}

/// The members of a kernel and the constants written in place that they read, ascending.
fn with_constants(source: &Computation, splats: &[Option<Scalar>], kernel: &Group) -> Vec<InstrId> {
    let mut all = kernel.members.clone();
    let mut pending: Vec<InstrId> = kernel.members.iter().copied().collect();
    while let Some(id) = pending.pop() {
        for operand in &source.instructions[id].operands {
            let is_constant = splats[operand.index()].is_some();
            if is_constant && !kernel.inputs.contains(operand) && all.insert(*operand) {
                pending.push(*operand);
            }
        }
    }
    all.into_iter().collect()
}

/// A name that tells what the kernel does: the operations that compute, in order, at most four of them.
pub(super) fn name_of(source: &Computation, kernel: &Group) -> String {
    let mut words: Vec<&str> = Vec::new();
    for id in &kernel.members {
        let instruction = &source.instructions[*id];
        let computes =
            !instruction.op.opcode().only_moves_data() && !matches!(instruction.op, Op::Constant(_) | Op::Iota { .. });
        let word = instruction.name.split('.').next().unwrap_or("fusion");
        if (computes || kernel.roots.contains(id)) && words.last() != Some(&word) {
            words.push(word);
        }
    }
    let skipped = words.len().saturating_sub(4);
    let name = words.split_off(skipped).join("_");
    if name.is_empty() { "fusion".to_owned() } else { format!("{name}_fusion") }
}
