//! The equations between extents, and their solution.

use super::instance::Instances;
use crate::ir::{ArenaId, InstrId, Instruction, Module, Op, Shape};
use crate::shape::InstructionAttributes;
use crate::shape::function::{Library, Term, Unknowns};
use std::collections::BTreeMap;
use std::ops::Range;

/// The extents of all leaves of a value.
type Leaves = Vec<Vec<Term>>;

pub(super) struct Equations<'m> {
    module: &'m Module,
    instances: &'m Instances,
    /// By instance and instruction.
    values: Vec<Leaves>,
    unknowns: Unknowns,
}

impl<'m> Equations<'m> {
    pub(super) fn new(module: &'m Module, instances: &'m Instances) -> Self {
        let mut unknowns = Unknowns::default();
        let mut values = Vec::with_capacity(instances.instructions);
        for instance in 0..instances.all.len() {
            for instruction in instances.computation(module, instance).instructions.values() {
                values.push(instruction.shape.leaves().into_iter().map(|leaf| terms(leaf, &mut unknowns)).collect());
            }
        }
        Equations { module, instances, values, unknowns }
    }

    /// The parameters of the entry have these shapes.
    pub(super) fn give(&mut self, given: &BTreeMap<String, Shape>) {
        for (id, instruction) in self.module.entry_computation().instructions.iter() {
            if let (Op::Parameter { .. }, Some(shape)) = (&instruction.op, given.get(&instruction.name)) {
                let shape: Leaves = shape.leaves().into_iter().map(|leaf| terms(leaf, &mut self.unknowns)).collect();
                let value = self.index(0, id);
                self.equate(value, 0..shape.len(), &shape);
            }
        }
    }

    /// The extents of the leaves of a value, each if it is known.
    pub(super) fn extents(&mut self, instance: usize, id: InstrId) -> Vec<Vec<Option<i64>>> {
        let index = self.index(instance, id);
        let unknowns = &mut self.unknowns;
        let resolve = |leaf: &Vec<Term>| leaf.iter().map(|&term| unknowns.resolve(term).as_known()).collect();
        self.values[index].iter().map(resolve).collect()
    }

    /// Goes through the instructions that have open extents until nothing new follows.
    pub(super) fn solve(&mut self, library: &Library) {
        let mut pending: Vec<(usize, InstrId)> = Vec::new();
        for instance in 0..self.instances.all.len() {
            let computation = self.instances.computation(self.module, instance);
            pending.extend(computation.instructions.ids().map(|id| (instance, id)));
        }
        // Forward and backward in turn: what is known of parameters runs forward, what users demand runs backward.
        loop {
            let before = self.unknowns.settled();
            pending.retain(|&(instance, id)| self.is_pending(instance, id));
            for &(instance, id) in &pending {
                self.instruction(instance, id, library);
            }
            for &(instance, id) in pending.iter().rev() {
                self.instruction(instance, id, library);
            }
            if self.unknowns.settled() == before {
                return;
            }
        }
    }

    fn index(&self, instance: usize, id: InstrId) -> usize {
        self.instances.all[instance].base + id.index()
    }

    fn instruction_at(&self, instance: usize, id: InstrId) -> &'m Instruction {
        &self.instances.computation(self.module, instance).instructions[id]
    }

    /// Whether an extent of the value, of an operand, or of what a callee takes and yields is not known yet.
    fn is_pending(&mut self, instance: usize, id: InstrId) -> bool {
        let instruction = self.instruction_at(instance, id);
        let mut values: Vec<usize> = vec![self.index(instance, id)];
        values.extend(instruction.operands.iter().map(|&operand| self.index(instance, operand)));
        for position in 0..instruction.op.called_computations().len() {
            if let Some(&callee) = self.instances.all[instance].callees.get(&(id, position)) {
                let computation = self.instances.computation(self.module, callee);
                let edge = computation.parameters().into_iter().chain([computation.root]);
                values.extend(edge.map(|id| self.index(callee, id)));
            }
        }
        let unknowns = &mut self.unknowns;
        values
            .into_iter()
            .flat_map(|value| &self.values[value])
            .flatten()
            .any(|&term| unknowns.resolve(term).as_known().is_none())
    }

    fn instruction(&mut self, instance: usize, id: InstrId, library: &Library) {
        let instruction = self.instruction_at(instance, id);
        let result = self.index(instance, id);
        let operands: Vec<usize> = instruction.operands.iter().map(|&operand| self.index(instance, operand)).collect();
        match &instruction.op {
            Op::Parameter { .. } | Op::Constant(_) => {}
            Op::Tuple => {
                let mut from = 0;
                for operand in operands {
                    let leaves = self.values[operand].clone();
                    self.equate(result, from..from + leaves.len(), &leaves);
                    from += leaves.len();
                }
            }
            Op::GetTupleElement { index } => {
                let tuple = &self.instruction_at(instance, instruction.operands[0]).shape;
                if let Some(range) = element_leaves(tuple, *index) {
                    let element = self.values[operands[0]].get(range).map(<[_]>::to_vec).unwrap_or_default();
                    self.equate(result, 0..element.len(), &element);
                }
            }
            Op::While { .. } => {
                for position in 0..2 {
                    self.call(instance, id, position, &operands[..1], (position == 1).then_some(result));
                }
                let start = self.values[operands[0]].clone();
                self.equate(result, 0..start.len(), &start);
            }
            Op::Conditional { branches, .. } => {
                for position in 0..branches.len() {
                    let own = operands.get(position + 1..position + 2).unwrap_or(&[]);
                    self.call(instance, id, position, own, Some(result));
                }
            }
            Op::Call { .. } | Op::Fusion { .. } => self.call(instance, id, 0, &operands, Some(result)),
            op => {
                let shapes: Vec<&Shape> =
                    instruction.operands.iter().map(|&operand| &self.instruction_at(instance, operand).shape).collect();
                let attributes = InstructionAttributes { op, operands: &shapes, declared: &instruction.shape };
                let leaves: Leaves = operands.iter().flat_map(|&operand| self.resolved(operand)).collect();
                let declared = self.resolved(result);
                let name = match op {
                    Op::CustomCall { custom_call_target, .. } => custom_call_target.as_str(),
                    op => op.opcode(),
                };
                let found = library.unify(name, &leaves, &declared, &attributes, &mut self.unknowns);
                for (position, leaf) in found.into_iter().flatten().enumerate() {
                    if let Some(leaf) = leaf {
                        self.equate(result, position..position + 1, &[leaf]);
                    }
                }
            }
        }
    }

    /// What an open computation takes are the operands, and what it yields is the result.
    fn call(&mut self, instance: usize, id: InstrId, position: usize, operands: &[usize], result: Option<usize>) {
        let Some(&callee) = self.instances.all[instance].callees.get(&(id, position)) else { return };
        let computation = self.instances.computation(self.module, callee);
        for (parameter, &operand) in computation.parameters().into_iter().zip(operands) {
            let given = self.values[operand].clone();
            self.equate(self.index(callee, parameter), 0..given.len(), &given);
        }
        if let Some(result) = result {
            let yielded = self.values[self.index(callee, computation.root)].clone();
            self.equate(result, 0..yielded.len(), &yielded);
        }
    }

    fn resolved(&mut self, value: usize) -> Leaves {
        let unknowns = &mut self.unknowns;
        self.values[value].iter().map(|leaf| leaf.iter().map(|&term| unknowns.resolve(term)).collect()).collect()
    }

    /// These leaves of a value have these extents.
    fn equate(&mut self, value: usize, leaves: Range<usize>, extents: &[Vec<Term>]) {
        for (leaf, extents) in self.values[value].iter().skip(leaves.start).zip(extents) {
            if leaf.len() == extents.len() {
                leaf.iter().zip(extents).for_each(|(&a, &b)| self.unknowns.equate(a, b));
            }
        }
    }
}

/// The extents of a leaf, with an unknown for each that is open.
fn terms(leaf: &Shape, unknowns: &mut Unknowns) -> Vec<Term> {
    let Some(array) = leaf.as_array() else { return Vec::new() };
    let extents = array.extents.iter().enumerate();
    extents
        .map(|(dimension, &extent)| if array.is_open(dimension) { unknowns.fresh() } else { Term::Known(extent) })
        .collect()
}

/// Which leaves of a tuple are those of one of its elements.
fn element_leaves(tuple: &Shape, index: i64) -> Option<Range<usize>> {
    let elements = tuple.as_tuple()?;
    let index = usize::try_from(index).ok()?;
    let count = |shape: &Shape| shape.leaves().len();
    let before: usize = elements.get(..index)?.iter().map(count).sum();
    Some(before..before + count(elements.get(index)?))
}
