//! Reductions and scans by associative regions that have no neutral value, written as such that have one.
//!
//! A truth value beside each element says that there is one, and the region takes the other side where there is none ([`completed`]). Everything else is as
//! it was: the initial value is there, too, so the result is the same to the bit where elements are folded one after the other, and where there are no elements it is
//! the initial value. What divides folds part by part begins a part with a tuple that is none.
//!
//! That is done where it lets a fold be divided: where two passes, blocks or a kernel shaped around it would be made of it.

use super::given::name_in;
use super::taken_apart::TakenApart;
use super::two_passes::is_long;
use super::{Decision, Verdict, scans};
use crate::Target;
use crate::completed::completed;
use crate::elementwise::is_elementwise;
use crate::fold::Semigroup;
use crate::hero::HeroKind;
use crate::legal::programs;
use crate::plan::{Emitter, FusionPlan};
use crate::scan::Scan;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{
    Arena, ArenaId, Computation, ComputationId, ElementType, InstrId, Instruction, Literal, Module, Op, Scalar, Shape,
    UniqueNames,
};

/// Makes regions of reductions and scans monoids' where that pays, in programs and in fusions that they bring along.
pub(super) fn complete(module: Module, target: &Target, decisions: &mut Vec<Decision>) -> Module {
    let found = Found::of(&module, target);
    if found.rewritten.is_empty() {
        return module;
    }
    for (owner, instructions) in &found.rewritten {
        for id in instructions {
            decisions.push(Decision {
                instruction: name_in(&module, *owner, *id),
                verdict: Verdict::Rewritten,
                reason: "its region has no neutral value: a truth value says which parts have elements".to_owned(),
            });
        }
    }
    found.written(&module)
}

/// The instructions whose regions are completed, for each computation that has any.
struct Found {
    rewritten: BTreeMap<ComputationId, BTreeSet<InstrId>>,
}

impl Found {
    fn of(module: &Module, target: &Target) -> Found {
        let mut regions = Regions { module, known: BTreeMap::new() };
        let programs = programs(module);
        let mut rewritten = BTreeMap::new();
        let mut given: BTreeSet<ComputationId> = BTreeSet::new();
        for (id, computation) in module.computations.iter().filter(|(id, _)| programs[id.index()]) {
            let fusions = computation.instructions.values().filter_map(|instruction| match instruction.op {
                Op::Fusion { calls, .. } => Some(calls),
                _ => None,
            });
            given.extend(fusions);
            let mut paying = paying(computation, target);
            paying.retain(|own| regions.lack_neutral(&computation.instructions, *own));
            if !paying.is_empty() {
                rewritten.insert(id, paying);
            }
        }
        // Others may still be what a whole kernel is shaped around.
        let mut tried = Found { rewritten: BTreeMap::new() };
        for id in given {
            let computation = &module.computations[id];
            let mut meant = paying(computation, target);
            meant.retain(|own| regions.lack_neutral(&computation.instructions, *own));
            if !meant.is_empty() {
                rewritten.insert(id, meant);
                continue;
            }
            let reductions = computation.instructions.iter().filter(|(_, own)| matches!(own.op, Op::Reduce { .. }));
            let all = reductions.map(|(own, _)| own);
            let all: BTreeSet<InstrId> =
                all.filter(|own| regions.lack_neutral(&computation.instructions, *own)).collect();
            if !all.is_empty() {
                tried.rewritten.insert(id, all);
            }
        }
        if !tried.rewritten.is_empty() {
            let trial = tried.written(module);
            let named = trial.computations.values().map(|computation| (computation.name.as_str(), computation));
            let named: BTreeMap<&str, &Computation> = named.collect();
            tried.rewritten.retain(|id, _| {
                let computation = named.get(module.computations[*id].name.as_str());
                computation.is_some_and(|computation| is_shaped(&trial, computation, target))
            });
            rewritten.extend(tried.rewritten);
        }
        Found { rewritten }
    }

    /// The module with regions completed.
    fn written(&self, module: &Module) -> Module {
        let region = |owner: ComputationId, id: &InstrId| match module.computations[owner].instructions[*id].op {
            Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. } => Some(to_apply),
            _ => None,
        };
        let regions: BTreeSet<ComputationId> = (self.rewritten.iter())
            .flat_map(|(owner, instructions)| instructions.iter().filter_map(|id| region(*owner, id)))
            .collect();
        let mut names = UniqueNames::default();
        module.computations.values().for_each(|computation| {
            names.take(&computation.name);
        });
        let mut computations: Arena<ComputationId, Computation> = Arena::new();
        let mut image: Vec<ComputationId> = Vec::with_capacity(module.computations.len());
        let mut completed_of: BTreeMap<ComputationId, ComputationId> = BTreeMap::new();
        for (id, computation) in module.computations.iter() {
            let mut copy = computation.clone();
            for instruction in copy.instructions.values_mut() {
                instruction.op.rename_computations(|callee| image[callee.index()]);
            }
            if let Some(meant) = self.rewritten.get(&id) {
                copy = with_truth(&copy, meant, |own| region(id, &own).and_then(|region| completed_of.get(&region)));
            }
            image.push(computations.push(copy));
            if regions.contains(&id) {
                let name = names.take(&computation.name);
                completed_of.insert(id, computations.push(completed(computation, name)));
            }
        }
        let mut written = module.clone();
        written.entry = image[module.entry.index()];
        written.computations = computations;
        written
    }
}

/// What is known of regions.
struct Regions<'m> {
    module: &'m Module,
    known: BTreeMap<ComputationId, bool>,
}

impl Regions<'_> {
    /// Whether the region of a reduction or a window is associative and has no neutral value.
    fn lack_neutral(&mut self, instructions: &Arena<InstrId, Instruction>, id: InstrId) -> bool {
        let instruction = &instructions[id];
        let (Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. }) = instruction.op else { return false };
        let is_static = |id: &InstrId| instructions[*id].shape.as_array().is_some_and(|array| array.dynamic.is_empty());
        let is_known = instruction.operands.iter().all(is_static);
        is_known
            && *self.known.entry(to_apply).or_insert_with(|| {
                let region = &self.module.computations[to_apply];
                is_elementwise(region) && Semigroup::of(region).is_ok_and(|semigroup| semigroup.neutral.is_none())
            })
    }
}

/// The reductions and scans of a computation that would be divided, whatever they fold.
fn paying(computation: &Computation, target: &Target) -> BTreeSet<InstrId> {
    let instructions = &computation.instructions;
    let pays = |id: InstrId, instruction: &Instruction| {
        match instruction.op {
            Op::Reduce { .. } => {
                let is_tiled = || {
                    let kind = HeroKind::of(computation, id).filter(|kind| kind.pays().is_ok());
                    matches!(
                        kind,
                        Some(
                            HeroKind::RowReduction { length: 2.., .. } | HeroKind::ColumnReduction { length: 2.., .. }
                        )
                    )
                };
                let has_workgroups = !target.is_software() && !target.faults.barriers;
                is_long(instructions, instruction, target) || has_workgroups && is_tiled()
            }
            Op::ReduceWindow { .. } => Scan::of(instructions, instruction).is_some_and(|scan| {
                let initial = instruction.operands.iter().skip(scan.element_types.len());
                let is_read = |id: &&InstrId| !matches!(instructions[**id].op, Op::Constant(_));
                // What blocks are folded to is read and written, with whether it is there.
                let buffers = 2 * (scan.element_types.len() + 1) + initial.filter(is_read).count();
                let fits = buffers <= target.max_storage_buffers as usize;
                fits && (scan.pays(target).is_ok() || scans::is_costly(&scan))
            }),
            _ => false,
        }
    };
    instructions.iter().filter(|(id, instruction)| pays(*id, instruction)).map(|(id, _)| id).collect()
}

/// Whether a fusion is shaped around its reductions.
fn is_shaped(module: &Module, computation: &Computation, target: &Target) -> bool {
    FusionPlan::new(module, computation, target).is_ok_and(|plan| matches!(plan.emitter(), Emitter::Reduced(_)))
}

/// A computation of which some instructions fold tuples that tell whether they are there.
fn with_truth<'c>(
    computation: &Computation,
    meant: &BTreeSet<InstrId>,
    completed: impl Fn(InstrId) -> Option<&'c ComputationId>,
) -> Computation {
    let mut names = UniqueNames::default();
    computation.instructions.values().for_each(|instruction| {
        names.take(&instruction.name);
    });
    let mut writer = Writer { instructions: Arena::new(), names };
    let mut image: Vec<InstrId> = Vec::with_capacity(computation.instructions.len());
    let mut tuples = TakenApart::of(computation);
    for (id, instruction) in computation.instructions.iter() {
        if let Some(element) = tuples.element(instruction) {
            image.push(element);
            continue;
        }
        let mut copy = instruction.clone();
        copy.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        let (true, Some(to_apply)) = (meant.contains(&id), completed(id)) else {
            image.push(writer.instructions.push(copy));
            continue;
        };
        let results = writer.folded(&copy, *to_apply);
        image.push(tuples.result(id, results, copy, &mut writer.instructions));
    }
    let mut written = computation.clone();
    written.root = image[computation.root.index()];
    written.instructions = writer.instructions;
    written
}

struct Writer {
    instructions: Arena<InstrId, Instruction>,
    names: UniqueNames,
}

impl Writer {
    /// The results of a reduction or a window by a region that was completed.
    fn folded(&mut self, like: &Instruction, completed: ComputationId) -> Vec<InstrId> {
        let (operands, initial) = like.operands.split_at(like.operands.len() / 2);
        let extents = |instructions: &Arena<InstrId, Instruction>, id: &InstrId| {
            instructions[*id].shape.as_array().map(|array| array.extents.clone()).unwrap_or_default()
        };
        let extents = operands.first().map(|id| extents(&self.instructions, id)).unwrap_or_default();
        let truth = Op::Constant(Literal::scalar(Scalar::Pred(true)));
        let truth = self.add(like, Shape::scalar(ElementType::Pred), truth, Vec::new());
        let everywhere = Op::Broadcast { dimensions: Vec::new() };
        let everywhere = self.add(like, Shape::array(ElementType::Pred, extents), everywhere, vec![truth]);
        let mut shapes: Vec<Shape> = like.shape.leaves().into_iter().cloned().collect();
        let count = shapes.len();
        let left = shapes.first().and_then(Shape::as_array).map(|array| array.extents.clone()).unwrap_or_default();
        shapes.push(Shape::array(ElementType::Pred, left));
        let mut op = like.op.clone();
        op.rename_computations(|_| completed);
        let operands = [operands, &[everywhere], initial, &[truth]].concat();
        let tuple = self.add(like, Shape::Tuple(shapes.clone()), op, operands);
        let elements = (0i64..).zip(shapes).take(count);
        elements.map(|(index, shape)| self.add(like, shape, Op::GetTupleElement { index }, vec![tuple])).collect()
    }

    fn add(&mut self, like: &Instruction, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        let mut added = Instruction::new(self.names.take(&like.name), shape, op, operands);
        added.span = like.span;
        self.instructions.push(added)
    }
}
