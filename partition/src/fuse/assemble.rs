//! Builds the fused module from the decisions.

use super::effects;
use super::greedy::Greedy;
use super::group::{Group, name_of};
use super::results;
use crate::Site;
use crate::legal::{Support, supports};
use crate::scattered::written_in_place;
use crate::target::Target;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{
    Arena, ArenaId, Computation, ComputationId, FusionKind, InstrId, Instruction, Module, Op, Scalar, Shape,
    UniqueNames,
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
        let read = buffers_read(source, greedy, &supports);
        let (users, splats) = (source.users(), written_in_place(flat, source));
        let mut instructions: Arena<InstrId, Instruction> = Arena::new();
        let mut names = UniqueNames::default();
        let mut image: Vec<Option<InstrId>> = vec![None; source.instructions.len()];
        let mut counted: Vec<(InstrId, u64)> = Vec::new();
        let mut asking: Vec<(InstrId, String)> = Vec::new();
        // The results that kernels of one root write, where that is not each of them.
        let mut written: BTreeMap<InstrId, Vec<i64>> = BTreeMap::new();
        let before = effects::predecessors(flat, program);
        for step in steps(source, greedy, &supports, (&read, &before)) {
            let id = match step {
                Step::Kernel(group) => {
                    let operands = group.inputs.iter().filter_map(|input| image[input.index()]).collect();
                    let single = if let [root] = group.roots[..] { Some(root) } else { None };
                    let numbers = single.and_then(|root| results::read_of(source, &users, root));
                    let (calls, name) = self.kernel((source, &splats), group, numbers.as_deref(), &mut names);
                    let shape = self.computations[calls].result_shape().clone();
                    let new = instructions.push(fusion(source, group, name, (shape, calls), operands));
                    if let Some(root) = single {
                        image[root.index()] = Some(new);
                        written.extend(numbers.map(|numbers| (root, numbers)));
                        continue;
                    }
                    for (index, root) in (0i64..).zip(&group.roots) {
                        let from = &source.instructions[*root];
                        let (name, op) = (names.take(&from.name), Op::GetTupleElement { index });
                        let mut element = Instruction::new(name, from.shape.clone(), op, vec![new]);
                        element.span = from.span;
                        image[root.index()] = Some(instructions.push(element));
                    }
                    continue;
                }
                Step::Stays(id) => id,
            };
            let mut instruction = Cow::Borrowed(&source.instructions[id]);
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
            let mut copy = instruction.as_ref().clone();
            copy.name = names.take(&instruction.name);
            copy.operands = instruction.operands.iter().filter_map(|operand| image[operand.index()]).collect();
            copy.op.rename_computations(|callee| self.copy(callee));
            let new = instructions.push(copy);
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
        (source, splats): (&Computation, &[Option<Scalar>]),
        group: &Group,
        returned: Option<&[i64]>,
        names: &mut UniqueNames,
    ) -> (ComputationId, String) {
        let name = names.take(&name_of(source, group));
        let own = self.names.take(&format!("fused_{name}"));
        let computation = group.computation(own, (source, splats), returned, &mut |callee| self.copy(callee));
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

/// An instruction of a program.
enum Step<'g> {
    Kernel(&'g Group),
    /// What stays as it is.
    Stays(InstrId),
}

/// Kernels and what stays, each behind what it reads, and behind what has side effects before it: in the order of the program, but that a kernel of several results, and what it reads, stands where the first of these is computed.
fn steps<'g>(
    source: &Computation,
    greedy: &'g Greedy,
    supports: &[Support],
    (read, before): (&BTreeSet<InstrId>, &[Option<InstrId>]),
) -> Vec<Step<'g>> {
    let mut of: Vec<Option<usize>> = vec![None; source.instructions.len()];
    for (number, group) in greedy.groups.iter().enumerate() {
        group.roots.iter().for_each(|root| of[root.index()] = Some(number));
    }
    let stays = |id: InstrId| match &source.instructions[id].op {
        Op::Constant(_) => read.contains(&id),
        _ => matches!(supports[id.index()], Support::Stays(_)),
    };
    let mut is_done = vec![false; source.instructions.len()];
    let mut steps = Vec::new();
    for first in source.instructions.ids() {
        let mut open = vec![first];
        while let Some(id) = open.last().copied() {
            let group = of[id.index()].map(|number| &greedy.groups[number]);
            if is_done[id.index()] || group.is_none() && !stays(id) {
                is_done[id.index()] = true;
                open.pop();
                continue;
            }
            let waits = open.len();
            match group {
                Some(group) => open.extend(group.inputs.iter().filter(|input| !is_done[input.index()])),
                None => {
                    let operands = source.instructions[id].operands.iter().chain(&before[id.index()]);
                    open.extend(operands.filter(|operand| !is_done[operand.index()]));
                }
            }
            if open.len() > waits {
                continue;
            }
            open.pop();
            is_done[id.index()] = true;
            match group {
                Some(group) => {
                    group.roots.iter().for_each(|root| is_done[root.index()] = true);
                    steps.push(Step::Kernel(group));
                }
                None => steps.push(Step::Stays(id)),
            }
        }
    }
    steps
}

/// The call of a kernel.
fn fusion(
    source: &Computation,
    group: &Group,
    name: String,
    (shape, calls): (Shape, ComputationId),
    operands: Vec<InstrId>,
) -> Instruction {
    let roots: Vec<&Instruction> = group.roots.iter().map(|root| &source.instructions[*root]).collect();
    let kind = match roots.iter().any(|root| matches!(root.op, Op::Reduce { .. })) {
        true => FusionKind::Input,
        false => FusionKind::Loop,
    };
    let mut fusion = Instruction::new(name, shape, Op::fusion(kind, calls), operands);
    if let Some(root) = roots.first() {
        fusion.attributes.clone_from(&root.attributes);
        fusion.span = root.span;
    }
    fusion
}

/// The values that kernels, what stays in the program and the outputs read through buffers.
fn buffers_read(source: &Computation, greedy: &Greedy, supports: &[Support]) -> BTreeSet<InstrId> {
    let mut read: BTreeSet<InstrId> = greedy.groups.iter().flat_map(|group| group.inputs.iter().copied()).collect();
    read.insert(source.root);
    for (id, instruction) in source.instructions.iter() {
        if matches!(supports[id.index()], Support::Stays(_)) {
            read.extend(instruction.operands.iter().copied());
        }
    }
    read
}
