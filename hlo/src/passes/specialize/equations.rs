//! Equations between the extents of a module, and their solution.

use super::instance::Instances;
use crate::ir::{ArenaId, InstrId, Instruction, Module, Op, Shape};
use crate::shape::function::{Library, Term, Unknowns};
use crate::shape::{InstructionAttributes, called_result, function_key, parts};
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
            Op::Conditional { branches, .. } => {
                for position in 0..branches.len() {
                    let own = operands.get(position + 1..position + 2).unwrap_or(&[]);
                    self.call(instance, id, position, own, Some((result, 0)));
                }
            }
            Op::Call { .. } | Op::Fusion { .. } => self.call(instance, id, 0, &operands, Some((result, 0))),
            op => {
                match op {
                    Op::While { .. } => {
                        self.call(instance, id, 0, &operands[..1], None);
                        self.call(instance, id, 1, &operands[..1], Some((result, 0)));
                    }
                    Op::AsyncStart { .. } => {
                        let before = operands.iter().map(|&operand| self.values[operand].len()).sum();
                        self.call(instance, id, 0, &operands, Some((result, before)));
                    }
                    _ => {}
                }
                let shapes: Vec<&Shape> =
                    instruction.operands.iter().map(|&operand| &self.instruction_at(instance, operand).shape).collect();
                let called = called_result(self.module, op);
                let attributes = InstructionAttributes {
                    op,
                    operands: &shapes,
                    declared: &instruction.shape,
                    called,
                    partitions: self.module.num_partitions().unwrap_or(1),
                };
                let leaves = self.seen(op, &operands, &shapes);
                let declared = self.resolved(result, None);
                let found = library.unify(function_key(op), &leaves, &declared, &attributes, &mut self.unknowns);
                for (position, leaf) in found.into_iter().flatten().enumerate() {
                    if let Some(leaf) = leaf {
                        self.equate(result, position..position + 1, &[leaf]);
                    }
                }
            }
        }
    }

    /// What an open computation takes are the operands, and what it yields are the leaves of the result from a given one
    /// on.
    fn call(
        &mut self,
        instance: usize,
        id: InstrId,
        position: usize,
        operands: &[usize],
        result: Option<(usize, usize)>,
    ) {
        let Some(&callee) = self.instances.all[instance].callees.get(&(id, position)) else { return };
        let computation = self.instances.computation(self.module, callee);
        for (parameter, &operand) in computation.parameters().into_iter().zip(operands) {
            let given = self.values[operand].clone();
            self.equate(self.index(callee, parameter), 0..given.len(), &given);
        }
        if let Some((result, first)) = result {
            let yielded = self.values[self.index(callee, computation.root)].clone();
            self.equate(result, first..first + yielded.len(), &yielded);
        }
    }

    /// The leaves that the shape function of an operation takes.
    fn seen(&mut self, op: &Op, operands: &[usize], shapes: &[&Shape]) -> Leaves {
        let Some(parts) = parts(op, shapes) else {
            return operands.iter().flat_map(|&operand| self.resolved(operand, None)).collect();
        };
        let mut leaves = Leaves::new();
        for part in parts {
            let (Some(&operand), Some(shape)) = (operands.get(part.operand), shapes.get(part.operand)) else {
                continue;
            };
            let Some(range) = part.leaves(shape) else { continue };
            leaves.extend(self.resolved(operand, range));
        }
        leaves
    }

    fn resolved(&mut self, value: usize, range: impl Into<Option<Range<usize>>>) -> Leaves {
        let unknowns = &mut self.unknowns;
        let leaves = &self.values[value];
        let leaves = range.into().map_or(Some(&leaves[..]), |range| leaves.get(range)).unwrap_or_default();
        leaves.iter().map(|leaf| leaf.iter().map(|&term| unknowns.resolve(term)).collect()).collect()
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
