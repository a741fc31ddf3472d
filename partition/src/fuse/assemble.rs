//! Builds the fused module from the decisions.

use super::greedy::{Greedy, Kernel};
use super::results;
use crate::Site;
use crate::legal::{Support, supports};
use crate::splat::splats;
use crate::target::Target;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::eval::converted;
use weft_hlo::ir::UniqueNames;
use weft_hlo::ir::{
    Arena, ArenaId, Computation, ComputationId, ElementType, FusionKind, InstrId, Instruction, Literal, Module, Op,
    Scalar, Shape,
};
use weft_hlo::passes::trip_count;

/// What is known of loops, how many rounds they make, and of conditionals, why the host reads which branch is taken.
type Known = (BTreeMap<Site, u64>, BTreeMap<Site, String>);

/// The module whose programs call one fusion per kernel, and what is known of the loops and conditionals in it.
pub(super) fn assemble(
    flat: &Module,
    fused: &Arena<ComputationId, Option<Greedy>>,
    asked: &BTreeMap<Site, String>,
    target: &Target,
) -> (Module, Known) {
    let mut assembly = Assembly {
        flat,
        target,
        asked,
        computations: Arena::new(),
        copied: vec![None; flat.computations.len()],
        names: UniqueNames::default(),
        known: Known::default(),
    };
    // What a program runs stands before it.
    for (id, greedy) in fused.iter() {
        if let Some(greedy) = greedy {
            assembly.copied[id.index()] = Some(assembly.program(id, greedy));
        }
    }
    let entry = assembly.copied[flat.entry.index()].expect("the entry is a program");
    let mut module = Module::new(&flat.name, assembly.computations, entry);
    module.attributes.clone_from(&flat.attributes);
    module.tables.clone_from(&flat.tables);
    (module, assembly.known)
}

struct Assembly<'m> {
    flat: &'m Module,
    target: &'m Target,
    asked: &'m BTreeMap<Site, String>,
    computations: Arena<ComputationId, Computation>,
    copied: Vec<Option<ComputationId>>,
    names: UniqueNames,
    known: Known,
}

impl Assembly<'_> {
    fn program(&mut self, id: ComputationId, greedy: &Greedy) -> ComputationId {
        let flat = self.flat;
        let (program, source) = (id, &flat.computations[id]);
        let supports = supports(flat, source, self.target);
        let mut kernels = greedy.kernels.iter().peekable();
        let read = buffers_read(source, greedy, &supports);
        let users = source.users();
        let mut instructions: Arena<InstrId, Instruction> = Arena::new();
        let mut names = UniqueNames::default();
        let mut image: Vec<Option<InstrId>> = vec![None; source.instructions.len()];
        let mut counted: Vec<(InstrId, u64)> = Vec::new();
        let mut asking: Vec<(InstrId, String)> = Vec::new();
        // The results that kernels write, where that is not each of them.
        let mut written: BTreeMap<InstrId, Vec<i64>> = BTreeMap::new();
        for (id, instruction) in source.instructions.iter() {
            let mut instruction = Cow::Borrowed(instruction);
            if let Op::GetTupleElement { index } = instruction.op
                && let Some(numbers) = instruction.operands.first().and_then(|of| written.get(of))
            {
                let Ok(place) = numbers.binary_search(&index) else { continue };
                if numbers.len() == 1 {
                    image[id.index()] = image[instruction.operands[0].index()];
                    continue;
                }
                instruction.to_mut().op = Op::GetTupleElement { index: i64::try_from(place).unwrap_or(index) };
            }
            let made = if kernels.peek().is_some_and(|kernel| kernel.root == id) {
                let kernel = kernels.next().expect("it was just seen");
                let operands = kernel.inputs.iter().filter_map(|input| image[input.index()]).collect();
                let numbers = results::read_of(source, &users, id);
                let (calls, name) = self.kernel(source, kernel, numbers.as_deref(), &mut names);
                written.extend(numbers.map(|numbers| (id, numbers)));
                let kind = match instruction.op {
                    Op::Reduce { .. } => FusionKind::Input,
                    _ => FusionKind::Loop,
                };
                let op = Op::fusion(kind, calls);
                let shape = self.computations[calls].result_shape().clone();
                let mut fusion = Instruction::new(name, shape, op, operands);
                fusion.attributes.clone_from(&instruction.attributes);
                fusion.span = instruction.span;
                fusion
            } else {
                let stays = match &instruction.op {
                    Op::Constant(_) => read.contains(&id),
                    _ => matches!(supports[id.index()], Support::Stays(_)),
                };
                if !stays {
                    continue;
                }
                let mut copy = instruction.as_ref().clone();
                copy.name = names.take(&instruction.name);
                copy.operands = instruction.operands.iter().filter_map(|operand| image[operand.index()]).collect();
                copy.op.rename_computations(|callee| self.copy(callee));
                copy
            };
            let new = instructions.push(made);
            let count = trip_count(&flat.computations, &source.instructions, &instruction);
            counted.extend(count.map(|count| (new, count)));
            let asked = self.asked.get(&Site { computation: program, instruction: id });
            asking.extend(asked.map(|reason| (new, reason.clone())));
            image[id.index()] = Some(new);
        }
        let root = image[source.root.index()].expect("the root is an output and therefore stays");
        let name = self.names.take(&source.name);
        let mut computation = Computation::new(name, instructions, root);
        computation.attributes.clone_from(&source.attributes);
        computation.span = source.span;
        let made = self.computations.push(computation);
        let site = |instruction: InstrId| Site { computation: made, instruction };
        self.known.0.extend(counted.into_iter().map(|(instruction, count)| (site(instruction), count)));
        self.known.1.extend(asking.into_iter().map(|(instruction, reason)| (site(instruction), reason)));
        made
    }

    /// The computation of a kernel, of whose results those of some numbers may be all that it returns, and the name of the fusion that calls it.
    fn kernel(
        &mut self,
        source: &Computation,
        kernel: &Kernel,
        returned: Option<&[i64]>,
        names: &mut UniqueNames,
    ) -> (ComputationId, String) {
        let mut instructions: Arena<InstrId, Instruction> = Arena::new();
        let mut inner = UniqueNames::default();
        let mut image: Vec<(InstrId, InstrId)> = Vec::new();
        for (number, input) in (0i64..).zip(&kernel.inputs) {
            let from = &source.instructions[*input];
            let mut parameter =
                Instruction::new(inner.take(&from.name), from.shape.clone(), Op::Parameter { number }, Vec::new());
            parameter.span = from.span;
            image.push((*input, instructions.push(parameter)));
        }
        for id in with_constants(source, kernel) {
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
            copy.op.rename_computations(|callee| self.copy(callee));
            let made = instructions.push(copy);
            let place = image.partition_point(|(from, _)| *from < id);
            image.insert(place, (id, made));
        }
        let known = image.binary_search_by_key(&kernel.root, |(from, _)| *from).expect("the root is a member");
        let root = match returned {
            Some(numbers) => some_results(image[known].1, numbers, &mut inner, &mut instructions),
            None => image[known].1,
        };
        let name = names.take(&kernel_name(source, kernel));
        let mut computation = Computation::new(self.names.take(&format!("fused_{name}")), instructions, root);
        computation.span = source.instructions[kernel.root].span;
        (self.computations.push(computation), name)
    }

    /// A computation of the program in the new module, copied once.
    fn copy(&mut self, id: ComputationId) -> ComputationId {
        if let Some(made) = self.copied[id.index()] {
            return made;
        }
        let mut computation = self.flat.computations[id].clone();
        computation.name = self.names.take(&computation.name);
        for instruction in computation.instructions.values_mut() {
            instruction.op.rename_computations(|callee| self.copy(callee));
        }
        let made = self.computations.push(computation);
        self.copied[id.index()] = Some(made);
        made
    }
}

/// The values that kernels, what stays in the program and the outputs read through buffers.
fn buffers_read(source: &Computation, greedy: &Greedy, supports: &[Support]) -> BTreeSet<InstrId> {
    let mut read: BTreeSet<InstrId> = greedy.kernels.iter().flat_map(|kernel| kernel.inputs.iter().copied()).collect();
    read.insert(source.root);
    for (id, instruction) in source.instructions.iter() {
        if matches!(supports[id.index()], Support::Stays(_)) {
            read.extend(instruction.operands.iter().copied());
        }
    }
    read
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
fn with_constants(source: &Computation, kernel: &Kernel) -> Vec<InstrId> {
    let known = splats(source);
    let mut all = kernel.members.clone();
    let mut pending: Vec<InstrId> = kernel.members.iter().copied().collect();
    while let Some(id) = pending.pop() {
        for operand in &source.instructions[id].operands {
            let is_constant = known[operand.index()].is_some();
            if is_constant && !kernel.inputs.contains(operand) && all.insert(*operand) {
                pending.push(*operand);
            }
        }
    }
    all.into_iter().collect()
}

/// A name that tells what the kernel does: the operations that compute, in order, at most four of them.
fn kernel_name(source: &Computation, kernel: &Kernel) -> String {
    let mut words: Vec<&str> = Vec::new();
    for id in &kernel.members {
        let instruction = &source.instructions[*id];
        let computes =
            !instruction.op.opcode().only_moves_data() && !matches!(instruction.op, Op::Constant(_) | Op::Iota { .. });
        let word = instruction.name.split('.').next().unwrap_or("fusion");
        if (computes || *id == kernel.root) && words.last() != Some(&word) {
            words.push(word);
        }
    }
    let skipped = words.len().saturating_sub(4);
    let name = words.split_off(skipped).join("_");
    if name.is_empty() { "fusion".to_owned() } else { format!("{name}_fusion") }
}
