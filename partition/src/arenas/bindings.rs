//! How many buffers a kernel binds.

use super::Class;
use super::small::Small;
use crate::Target;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ArenaId, Computation, ComputationId, InstrId, Module, Op};

/// Counts what kernels of one program bind: a buffer for each tensor, or, where that would be too many, one for all of those that lie in one
/// [arena](super::Arenas).
#[derive(Clone, Debug)]
pub(crate) struct Bindings<'m> {
    program: &'m Computation,
    limit: usize,
    /// The small arguments and what can be results of the entry; of other programs nothing.
    small: Option<Small>,
    /// Who reads each value.
    users: Vec<Vec<InstrId>>,
    /// Bytes of the largest tensor that a kernel binds as a whole.
    most: u64,
}

impl<'m> Bindings<'m> {
    /// Of the kernels of a program of a flat module.
    pub(crate) fn of(module: &'m Module, program: ComputationId, target: &Target) -> Self {
        let computation = &module.computations[program];
        let mut users: Vec<Vec<InstrId>> = vec![Vec::new(); computation.instructions.len()];
        for (id, instruction) in computation.instructions.iter() {
            for operand in &instruction.operands {
                users[operand.index()].push(id);
            }
        }
        Bindings {
            program: computation,
            limit: target.max_storage_buffers as usize,
            small: (program == module.entry).then(|| Small::of(module, target)),
            users,
            most: target.max_storage_binding_bytes.min(target.max_buffer_bytes),
        }
    }

    /// How many buffers a kernel binds that reads these values and writes those results, given all instructions that it computes, and which of the results other kernels read.
    pub(crate) fn count<'i>(
        &self,
        inputs: impl IntoIterator<Item = &'i InstrId>,
        results: impl IntoIterator<Item = &'i InstrId>,
        members: &BTreeSet<InstrId>,
        is_read: impl Fn(InstrId) -> bool,
    ) -> usize {
        let inputs: Vec<InstrId> = inputs.into_iter().copied().collect();
        let leaves = |id: &InstrId| self.program.instructions[*id].shape.leaves().len();
        let results: Vec<InstrId> = results.into_iter().copied().collect();
        let apart = inputs.len() + results.iter().map(leaves).sum::<usize>();
        let is_updated = |id: &InstrId| is_updated(&self.program.instructions[*id].op);
        let is_whole = || inputs.iter().chain(&results).all(|id| self.is_bound_whole(*id));
        if apart <= self.limit || members.iter().any(is_updated) || !is_whole() {
            return apart;
        }
        let Some(small) = &self.small else { return apart };
        let mut arenas: BTreeSet<Class> = BTreeSet::new();
        let mut others = 0;
        for input in inputs {
            match small.argument(input) {
                Some(class) => drop(arenas.insert(class)),
                None => others += 1,
            }
        }
        for result in results {
            match small.result(result).filter(|_| self.is_result_alone(result, members) && !is_read(result)) {
                Some(class) => drop(arenas.insert(class)),
                None => others += leaves(&result),
            }
        }
        others + arenas.len()
    }

    /// How many buffers a fusion of the program binds that computes this.
    pub(crate) fn of_fusion(&self, fusion: InstrId, computation: &Computation) -> usize {
        let instruction = &self.program.instructions[fusion];
        let leaves = instruction.shape.leaves().len();
        let (Some((arguments, results)), Some(small)) = (self.in_arenas(fusion, computation), &self.small) else {
            return instruction.operands.len() + leaves;
        };
        let inputs: BTreeSet<InstrId> = instruction.operands.iter().copied().collect();
        let lie_in = arguments.iter().filter_map(|id| small.argument(*id));
        let arenas: BTreeSet<Class> = lie_in.chain(results.values().filter_map(|id| small.result(*id))).collect();
        inputs.len() - arguments.len() + leaves - results.len() + arenas.len()
    }

    /// The arguments and results that lie in arenas of a fusion that would bind too many buffers without; nothing for another. A result is known by its number, and is
    /// what `get-tuple-element` takes from the fusion, or the fusion itself.
    pub(super) fn in_arenas(
        &self,
        fusion: InstrId,
        computation: &Computation,
    ) -> Option<(Vec<InstrId>, BTreeMap<usize, InstrId>)> {
        let small = self.small.as_ref()?;
        if computation.instructions.values().any(|one| is_updated(&one.op)) {
            return None;
        }
        let instruction = &self.program.instructions[fusion];
        let inputs: BTreeSet<InstrId> = instruction.operands.iter().copied().collect();
        let leaves = instruction.shape.leaves().len();
        let is_whole = inputs.iter().chain([&fusion]).all(|id| self.is_bound_whole(*id));
        if inputs.len() + leaves <= self.limit || !is_whole {
            return None;
        }
        let arguments = inputs.into_iter().filter(|input| small.argument(*input).is_some()).collect();
        let mut results = BTreeMap::new();
        let mut add = |leaf: usize, value: InstrId| {
            if small.result(value).is_some() && self.is_result_alone(value, &BTreeSet::new()) {
                results.insert(leaf, value);
            }
        };
        if instruction.shape.as_array().is_some() {
            add(0, fusion);
        } else {
            // What several instructions take is known by no single value.
            let mut taken: BTreeMap<usize, Vec<InstrId>> = BTreeMap::new();
            for user in &self.users[fusion.index()] {
                if let Op::GetTupleElement { index } = self.program.instructions[*user].op
                    && let Ok(index) = usize::try_from(index)
                {
                    taken.entry(index).or_default().push(*user);
                }
            }
            for (index, values) in taken {
                if let [value] = values[..] {
                    add(index, value);
                }
            }
        }
        Some((arguments, results))
    }

    /// The arguments and results that are small enough for arenas, where there may be any.
    pub(super) fn small(&self) -> Option<&Small> {
        self.small.as_ref()
    }

    /// Whether one binding holds all of each tensor.
    fn is_bound_whole(&self, id: InstrId) -> bool {
        let leaves = self.program.instructions[id].shape.leaves();
        leaves.iter().filter_map(|leaf| crate::Form::tensor_bytes(leaf.as_array()?)).all(|bytes| bytes <= self.most)
    }

    /// Whether nobody reads a value but members of a kernel, and whoever takes the results of the program.
    fn is_result_alone(&self, id: InstrId, members: &BTreeSet<InstrId>) -> bool {
        let users = &self.users[id.index()];
        users.iter().all(|user| *user == self.program.root || members.contains(user))
    }
}

/// Whether an operation may update its operand in place: what it makes lies where this does, then, and in no arena.
fn is_updated(op: &Op) -> bool {
    matches!(op, Op::DynamicUpdateSlice | Op::Scatter { .. })
}
