//! Rewriting computations instruction by instruction.
//!
//! Operands come before users, so that one sweep sees every instruction with its operands rewritten already; it takes time
//! linear in the module.

use super::pass::{Change, Rewritten};
use super::{UniqueNames, control};
use crate::ir::{Arena, ArenaId, Computation, ComputationId, InstrId, Instruction, Literal, Module, Op, Shape};
use std::collections::BTreeSet;

/// What becomes of an instruction.
pub(super) enum Rewrite {
    /// An instruction already made has its value, of the same type and extents.
    Value(InstrId),
    /// It does something else, with these operands.
    Op(Op, Vec<InstrId>),
}

/// A rewrite and the rule that allows it.
pub(super) type Rule = (&'static str, Rewrite);

/// A computation while it is rewritten.
pub(super) struct Rebuild<'m> {
    /// The module as it was.
    pub(super) module: &'m Module,
    /// The computation as it was.
    pub(super) source: &'m Computation,
    /// How often each instruction of it is read there; the root once more.
    pub(super) uses: Vec<usize>,
    made: Arena<InstrId, Instruction>,
    names: UniqueNames,
    /// The instruction being rewritten.
    current: Option<Instruction>,
    /// For each instruction made how often it is read by those of the source, where it is one of them.
    uses_of_made: Vec<usize>,
}

/// The module with every instruction rewritten that `rewrite` has a rule for. The instruction given to it has its operands
/// among those made already.
///
/// Instructions whose order others depend on (`control-predecessors`) are left as they are.
pub(super) fn rewrite_module(
    module: &Module,
    rewrite: &mut dyn FnMut(&mut Rebuild<'_>, &Instruction) -> Option<Rule>,
) -> Rewritten {
    let mut changes = Vec::new();
    let mut computations: Option<Arena<ComputationId, Computation>> = None;
    for (id, computation) in module.computations.iter() {
        let before = changes.len();
        let rewritten = rewrite_computation(module, computation, rewrite, &mut changes);
        if changes.len() > before {
            computations.get_or_insert_with(|| module.computations.clone())[id] = rewritten;
        }
    }
    let computations = computations.unwrap_or_else(|| module.computations.clone());
    Rewritten { module: Module { computations, ..module.clone() }, changes }
}

fn rewrite_computation(
    module: &Module,
    source: &Computation,
    rewrite: &mut dyn FnMut(&mut Rebuild<'_>, &Instruction) -> Option<Rule>,
    changes: &mut Vec<Change>,
) -> Computation {
    let pinned = control::pinned(source);
    let mut rebuild = Rebuild {
        module,
        source,
        uses: uses(source),
        made: Arena::new(),
        names: UniqueNames::default(),
        current: None,
        uses_of_made: Vec::with_capacity(source.instructions.len()),
    };
    for instruction in source.instructions.values() {
        rebuild.names.take(&instruction.name);
    }
    let mut image: Vec<InstrId> = Vec::with_capacity(source.instructions.len());
    for (id, instruction) in source.instructions.iter() {
        let mut candidate = instruction.clone();
        candidate.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        rebuild.current = Some(candidate.clone());
        let rule = if pinned.contains(&id) { None } else { rewrite(&mut rebuild, &candidate) };
        let uses = rebuild.uses[id.index()];
        let made = match rule {
            None => rebuild.push(candidate),
            Some((rule, rewritten)) => {
                changes.push(Change { rule, place: format!("{}/{}", source.name, instruction.name) });
                match rewritten {
                    Rewrite::Value(value) => rebuild.laid_out(value, &candidate),
                    Rewrite::Op(op, operands) => rebuild.push(Instruction { op, operands, ..candidate }),
                }
            }
        };
        rebuild.uses_of_made[made.index()] = rebuild.uses_of_made[made.index()].saturating_add(uses);
        image.push(made);
    }
    Computation { instructions: rebuild.made, root: image[source.root.index()], ..source.clone() }
}

/// How often each instruction is read; the root once more.
pub(super) fn uses(computation: &Computation) -> Vec<usize> {
    let mut uses = vec![0; computation.instructions.len()];
    for instruction in computation.instructions.values() {
        instruction.operands.iter().for_each(|operand| uses[operand.index()] += 1);
    }
    uses[computation.root.index()] += 1;
    uses
}

impl Rebuild<'_> {
    /// An instruction made already.
    pub(super) fn get(&self, id: InstrId) -> &Instruction {
        &self.made[id]
    }

    /// The id of the next instruction made: the one being rewritten, if it is kept and nothing is added before it.
    pub(super) fn next(&self) -> InstrId {
        InstrId::from_index(self.made.len())
    }

    /// Whether at most one instruction of the source reads this one, which is one of the source or stands for one.
    pub(super) fn has_one_use(&self, id: InstrId) -> bool {
        self.uses_of_made[id.index()] <= 1
    }

    /// Another instruction on the way to the one being rewritten, whose name and metadata it goes by.
    pub(super) fn add(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        let current = self.current.as_ref().expect("instructions are added while one is rewritten");
        let mut added = Instruction::new(self.names.take(&current.name), shape, op, operands);
        added.span = current.span;
        added.attributes.extend(current.attributes.iter().filter(|kept| kept.name == "metadata").cloned());
        self.push(added)
    }

    /// A constant.
    pub(super) fn constant(&mut self, literal: Literal) -> InstrId {
        self.add(literal.shape.clone(), Op::Constant(literal), Vec::new())
    }

    fn push(&mut self, instruction: Instruction) -> InstrId {
        self.uses_of_made.push(0);
        self.made.push(instruction)
    }

    /// The value in the layout of the instruction it stands for, with a copy where that is another: what is read through
    /// `bitcast`, or leaves the program, keeps its order in memory.
    fn laid_out(&mut self, value: InstrId, instruction: &Instruction) -> InstrId {
        let (given, wanted) = (self.made[value].shape.as_array(), instruction.shape.as_array());
        let is_same = given.zip(wanted).is_none_or(|(given, wanted)| given.minor_to_major() == wanted.minor_to_major());
        if is_same {
            return value;
        }
        self.push(Instruction { op: Op::Copy, operands: vec![value], ..instruction.clone() })
    }
}

/// The module without the instructions that are not `kept`. Nothing that is kept reads them.
pub(super) fn retain(computation: &Computation, kept: &BTreeSet<InstrId>) -> Computation {
    let mut image: Vec<InstrId> = Vec::with_capacity(computation.instructions.len());
    let mut instructions = Arena::new();
    for (id, instruction) in computation.instructions.iter() {
        image.push(InstrId::from_index(instructions.len()));
        if kept.contains(&id) {
            let mut instruction = instruction.clone();
            instruction.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
            instructions.push(instruction);
        }
    }
    Computation { instructions, root: image[computation.root.index()], ..computation.clone() }
}
