//! Rewriting computations instruction by instruction.
//!
//! Operands come before users, so that one sweep sees every instruction with its operands rewritten already; it takes time
//! linear in the module.

use super::build::Build;
use super::pass::{Change, Rewritten};
use super::side_effects;
use crate::ir::{
    Arena, ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op, Shape, Span, UniqueNames,
};
use std::collections::BTreeSet;

/// What becomes of an instruction.
#[allow(clippy::large_enum_variant, reason = "there is one at a time, and it is taken apart at once")]
pub(super) enum Rewrite {
    /// An instruction already made has its value, of the same type and extents.
    Value(InstrId),
    /// It does something else, with these operands.
    Op(Op, Vec<InstrId>),
}

/// A rewrite and the rule that allows it.
pub(super) type Rule = (&'static str, Rewrite);

/// A computation while it is rewritten.
///
/// It is no [`ComputationBuilder`](crate::build::ComputationBuilder), since instructions keep their names whatever is added
/// before them.
pub(super) struct Rebuild<'m> {
    /// The computation as it was.
    pub(super) source: &'m Computation,
    /// How often each instruction of it is read there; the root once more.
    pub(super) uses: Vec<usize>,
    /// The computations before it, rewritten already: what its instructions call.
    computations: &'m mut Arena<ComputationId, Computation>,
    /// The names of computations.
    computation_names: &'m mut UniqueNames,
    made: Arena<InstrId, Instruction>,
    names: UniqueNames,
    /// The instruction being rewritten.
    current: Option<Instruction>,
    /// For each instruction made how often it is read by those of the source, where it is one of them.
    uses_of_made: Vec<usize>,
}

/// As [`rewrite_module`], of the instructions that are meant, as they stand in the module.
pub(super) fn rewrite_meant(
    module: &Module,
    is_meant: &dyn Fn(&Computation, InstrId) -> bool,
    rewrite: &dyn Fn(&mut Rebuild<'_>, &Instruction) -> Option<Rule>,
) -> Rewritten {
    let mut meant: BTreeSet<(&str, &str)> = BTreeSet::new();
    for computation in module.computations.values() {
        let ids = computation.instructions.ids().filter(|id| is_meant(computation, *id));
        meant.extend(ids.map(|id| (computation.name.as_str(), computation.instructions[id].name.as_str())));
    }
    if meant.is_empty() {
        return Rewritten { module: module.clone(), changes: Vec::new() };
    }
    rewrite_module(module, &mut |rebuild, candidate| {
        let is_meant = meant.contains(&(rebuild.source.name.as_str(), candidate.name.as_str()));
        if is_meant { rewrite(rebuild, candidate) } else { None }
    })
}

/// The module with every instruction rewritten that `rewrite` has a rule for. The instruction given to it has its operands
/// among those made already, and calls computations rewritten already.
///
/// Instructions whose order others depend on (`control-predecessors`) are left as they are.
pub(super) fn rewrite_module(
    module: &Module,
    rewrite: &mut dyn FnMut(&mut Rebuild<'_>, &Instruction) -> Option<Rule>,
) -> Rewritten {
    let mut changes = Vec::new();
    let mut computations: Arena<ComputationId, Computation> = Arena::new();
    let mut names = UniqueNames::default();
    for computation in module.computations.values() {
        names.take(&computation.name);
    }
    let mut image: Vec<ComputationId> = Vec::with_capacity(module.computations.len());
    for source in module.computations.values() {
        let pinned = side_effects::pinned(source);
        let mut rebuild = Rebuild {
            source,
            uses: uses(source),
            computations: &mut computations,
            computation_names: &mut names,
            made: Arena::new(),
            names: UniqueNames::default(),
            current: None,
            uses_of_made: Vec::with_capacity(source.instructions.len()),
        };
        let rewritten = rebuild.computation(&image, &pinned, rewrite, &mut changes);
        image.push(computations.push(rewritten));
    }
    if changes.is_empty() {
        return Rewritten { module: module.clone(), changes };
    }
    Rewritten { module: Module { entry: image[module.entry.index()], computations, ..module.clone() }, changes }
}

impl Rebuild<'_> {
    fn computation(
        &mut self,
        image_of_callees: &[ComputationId],
        pinned: &BTreeSet<InstrId>,
        rewrite: &mut dyn FnMut(&mut Rebuild<'_>, &Instruction) -> Option<Rule>,
        changes: &mut Vec<Change>,
    ) -> Computation {
        let source = self.source;
        for instruction in source.instructions.values() {
            self.names.take(&instruction.name);
        }
        let mut image: Vec<InstrId> = Vec::with_capacity(source.instructions.len());
        for (id, instruction) in source.instructions.iter() {
            let mut candidate = instruction.clone();
            candidate.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
            candidate.op.rename_computations(|callee| image_of_callees[callee.index()]);
            self.current = Some(candidate.clone());
            let rule = if pinned.contains(&id) { None } else { rewrite(self, &candidate) };
            let made = match rule {
                None => self.push(candidate),
                Some((rule, rewritten)) => {
                    changes.push(Change { rule, place: format!("{}/{}", source.name, instruction.name) });
                    match rewritten {
                        Rewrite::Value(value) => self.laid_out(value, &candidate),
                        Rewrite::Op(op, operands) => self.push(Instruction { op, operands, ..candidate }),
                    }
                }
            };
            let uses = self.uses[id.index()];
            self.uses_of_made[made.index()] = self.uses_of_made[made.index()].saturating_add(uses);
            image.push(made);
        }
        let root = image[source.root.index()];
        Computation { instructions: std::mem::take(&mut self.made), root, ..source.clone() }
    }
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
    /// The computations that instructions call.
    pub(super) fn computations(&self) -> &Arena<ComputationId, Computation> {
        self.computations
    }

    /// Another computation, to be called by instructions from here on.
    pub(super) fn add_computation(&mut self, mut computation: Computation) -> ComputationId {
        computation.name = self.computation_names.take(&computation.name);
        self.computations.push(computation)
    }

    /// As [`add_computation`](Self::add_computation), but one that is there already stands for another that does the same.
    pub(super) fn shared_computation(&mut self, computation: Computation) -> ComputationId {
        let is_same = |(_, other): &(ComputationId, &Computation)| {
            other.instructions == computation.instructions && other.root == computation.root
        };
        let known = self.computations.iter().find(is_same).map(|(id, _)| id);
        known.unwrap_or_else(|| self.add_computation(computation))
    }

    /// The instructions made already.
    pub(super) fn made(&self) -> &Arena<InstrId, Instruction> {
        &self.made
    }

    /// The id of the next instruction made: the one being rewritten, if it is kept and nothing is added before it.
    pub(super) fn next(&self) -> InstrId {
        InstrId::from_index(self.made.len())
    }

    /// Whether at most one instruction of the source reads this one, which is one of the source or stands for one.
    pub(super) fn has_one_use(&self, id: InstrId) -> bool {
        self.uses_of_made[id.index()] <= 1
    }

    /// An instruction made already.
    pub(super) fn get(&self, id: InstrId) -> &Instruction {
        &self.made[id]
    }

    /// Another instruction on the way to the one being rewritten, whose name and metadata it goes by.
    pub(super) fn add(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        let current = self.current.as_ref().expect("instructions are added while one is rewritten");
        let mut added = Instruction::new(self.names.take(&current.name), shape, op, operands);
        added.span = current.span;
        added.attributes.extend(current.attributes.iter().filter(|kept| kept.name == "metadata").cloned());
        self.push(added)
    }

    /// Has an instruction made already say something among its attributes of the frontend.
    pub(super) fn say(&mut self, id: InstrId, name: &str, value: &str) {
        self.made[id].set_frontend_attribute(name, Some(value));
    }

    /// Where in the text the instruction being rewritten stands.
    pub(super) fn span(&self) -> Span {
        self.current.as_ref().map(|current| current.span).unwrap_or_default()
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

impl Build for Rebuild<'_> {
    fn get(&self, id: InstrId) -> &Instruction {
        Rebuild::get(self, id)
    }

    fn add(&mut self, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        Rebuild::add(self, shape, op, operands)
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
