//! Reductions to few elements, made in two passes.
//!
//! A reduction is divided if its region is a monoid's ([`Fold`]). Where that commutes, the parts of columns are interleaved: those of an element lie
//! side by side in what the first pass reads, and so do the invocations that make them. Else, where rows are folded by whole workgroups, and on devices in software, where
//! each invocation reads for itself, a part is a stretch of elements, and the second pass folds the parts in their order. Parts begin with the neutral value; the initial value
//! enters the second pass alone.

use super::given::name_in;
use super::{Decision, Verdict};
use crate::Target;
use crate::fold::Fold;
use std::collections::BTreeMap;
use weft_hlo::ir::{
    Arena, ArenaId, ArrayShape, Computation, ComputationId, ElementType, InstrId, Instruction, Literal, Module, Op,
    PadDimension, Scalar, Shape, UniqueNames,
};

/// Elements of a row, and of a column, that a workgroup of a GPU folds in one pass at most, however many there are: XLA's bounds.
const MAX_ROW: i64 = 16_384;
const MAX_COLUMN: i64 = 4096;

/// Elements that one invocation folds in one pass at most, where there are few of them.
const MAX_ROUNDS: i64 = 4096;

/// From so many elements of the result on there are enough invocations for one pass; of rows on a device in software, each of which is one invocation, from fewer
/// on: two passes over 256 rows take 1.4 of the time of one.
const MANY_ELEMENTS: i64 = 32_768;
const MANY_ROWS: i64 = 256;

/// Columns on a device in software: an invocation folds so many rows in one pass, of columns of at least [`LONG_COLUMN`] elements that lie at least
/// [`WIDE_ROW`] apart, where the operand has [`MANY_IN_COLUMNS`] elements. There an invocation runs through all its rows before its neighbor begins, and
/// comes to as many cache lines and pages as there are rows: what its neighbor needs of them has to be there still.
const COLUMN_ROUNDS: i64 = 32;
const LONG_COLUMN: i64 = 256;
const WIDE_ROW: i64 = 256;
const MANY_IN_COLUMNS: i64 = 1 << 18;

/// A reduction of arrays, several if its region folds tuples.
struct Reduction {
    extents: Vec<i64>,
    element_types: Vec<ElementType>,
    /// The dimensions that disappear, ascending.
    reduced: Vec<usize>,
    outputs: i64,
    /// Buffers that its last pass binds: what the parts were folded to, the initial values that are no constants, the results.
    buffers: usize,
    /// Whether the last array is "true" everywhere: of a region that was completed, that all tuples are there.
    is_there: bool,
    to_apply: ComputationId,
    device: Device,
}

/// Whether all elements of an array are the truth value "true".
fn is_true(instructions: &Arena<InstrId, Instruction>, mut id: InstrId) -> bool {
    while matches!(instructions[id].op, Op::Broadcast { .. } | Op::Reshape) {
        id = instructions[id].operands[0];
    }
    matches!(&instructions[id].op, Op::Constant(literal) if literal.splat() == Some(Scalar::Pred(true)))
}

/// What folds the elements of a result.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Device {
    /// An invocation of a device in software.
    Software,
    /// An invocation of a GPU that workgroups have no use on.
    Loops,
    /// A workgroup.
    Workgroups,
}

impl Device {
    fn of(target: &Target) -> Device {
        match target.is_software() {
            true => Device::Software,
            false if target.faults.barriers => Device::Loops,
            false => Device::Workgroups,
        }
    }
}

impl Reduction {
    /// The reduction that an instruction is, if it folds many elements into each of few.
    fn long(instructions: &Arena<InstrId, Instruction>, instruction: &Instruction, device: Device) -> Option<Self> {
        let Op::Reduce { dimensions, to_apply } = &instruction.op else { return None };
        let operands = instruction.operands.get(..instruction.operands.len() / 2)?;
        let is_read = |operand: &&InstrId| !matches!(instructions[**operand].op, Op::Constant(_));
        let initial = instruction.operands[operands.len()..].iter().filter(is_read).count();
        let buffers = 2 * operands.len() + initial;
        let arrays: Vec<&ArrayShape> =
            operands.iter().map(|operand| instructions[*operand].shape.as_array()).collect::<Option<_>>()?;
        let extents = arrays.first()?.extents.clone();
        let is_static = arrays
            .iter()
            .all(|array| array.dynamic.is_empty() && array.extents == extents && array.element_count().is_some());
        let mut reduced =
            dimensions.iter().map(|dimension| usize::try_from(*dimension).ok()).collect::<Option<Vec<_>>>()?;
        reduced.sort_unstable();
        let outputs = instruction.shape.leaves().first()?.as_array()?.element_count()?;
        let element_types = arrays.iter().map(|array| array.element_type).collect();
        let is_there = operands.last().is_some_and(|last| is_true(instructions, *last));
        let to_apply = *to_apply;
        let reduction = Reduction { extents, element_types, reduced, outputs, buffers, is_there, to_apply, device };
        let (most, many) = match (device, reduction.has_rows()) {
            (Device::Workgroups, true) => (MAX_ROW, i64::MAX),
            (Device::Workgroups, false) => (MAX_COLUMN, i64::MAX),
            (Device::Software, true) => (MAX_ROUNDS, MANY_ROWS),
            (Device::Software | Device::Loops, _) => (MAX_ROUNDS, MANY_ELEMENTS),
        };
        let is_long = reduction.rounds() > most && (1..many).contains(&outputs);
        (is_static && (is_long || reduction.has_far_columns())).then_some(reduction)
    }

    /// How many elements lie between two that follow one another in what is folded.
    fn minor(&self) -> i64 {
        let last = self.reduced.last().map_or(0, |last| last + 1);
        self.extents.iter().skip(last).fold(1i64, |all, extent| all.saturating_mul(*extent))
    }

    /// Whether the elements of a result lie side by side.
    fn has_rows(&self) -> bool {
        self.minor() == 1
    }

    /// Whether these are columns whose elements lie too far apart for one pass on a device in software.
    fn has_far_columns(&self) -> bool {
        if self.device != Device::Software || self.rounds() < LONG_COLUMN {
            return false;
        }
        self.minor() >= WIDE_ROW && self.outputs.saturating_mul(self.rounds()) >= MANY_IN_COLUMNS
    }

    /// How many parts a stretch of so many elements is divided into.
    fn parts(&self, extent: i64) -> i64 {
        // Of several stretches one is divided at a time, so that the rounds of all decide.
        match self.has_far_columns() {
            true => divisor_near((self.rounds() / COLUMN_ROUNDS).max(2), extent),
            false => parts(extent, self.rounds()),
        }
    }

    /// Whether the parts are interleaved: where elements may be taken in any order, and the invocations that fold neighboring parts read neighboring elements best.
    fn is_interleaved(&self, commutes: bool) -> bool {
        let reads_stretches = match self.device {
            Device::Software => true,
            Device::Loops => false,
            Device::Workgroups => self.has_rows(),
        };
        commutes && !reads_stretches
    }

    /// Elements that are folded into one.
    fn rounds(&self) -> i64 {
        self.reduced.iter().fold(1, |all, dimension| all.saturating_mul(self.extents[*dimension]))
    }

    /// The stretch of neighbouring dimensions that disappear which is divided: the first and how many. Where elements may be taken in
    /// any order it is the longest, else the first, since its index is the most significant one.
    fn stretch(&self, commutes: bool) -> (usize, usize) {
        let mut chosen = (0, 0, 0);
        let mut position = 0;
        while let Some(&first) = self.reduced.get(position) {
            let count = self.reduced[position..].iter().zip(first..).take_while(|(own, next)| *own == next).count();
            let extent: i64 = self.extents[first..first + count].iter().product();
            if extent > chosen.2 && (commutes || chosen.2 <= 1) {
                chosen = (first, count, extent);
            }
            position += count;
        }
        (chosen.0, chosen.1)
    }
}

/// Whether an instruction folds so many elements into each of few that two passes pay, whatever it folds.
pub(super) fn is_long(instructions: &Arena<InstrId, Instruction>, instruction: &Instruction, target: &Target) -> bool {
    Reduction::long(instructions, instruction, Device::of(target)).is_some()
}

/// The long reductions of a module, and what their regions are.
pub(super) struct LongReductions<'m> {
    module: &'m Module,
    max_buffers: u32,
    device: Device,
    folds: BTreeMap<ComputationId, Result<Fold, String>>,
}

impl<'m> LongReductions<'m> {
    pub(super) fn new(module: &'m Module, target: &Target) -> Self {
        let (max_buffers, device) = (target.max_storage_buffers, Device::of(target));
        LongReductions { module, max_buffers, device, folds: BTreeMap::new() }
    }

    /// Whether a computation holds a reduction that is made in two passes.
    pub(super) fn are_in(&mut self, computation: &Computation) -> bool {
        let instructions = &computation.instructions;
        let long = |instruction| Reduction::long(instructions, instruction, self.device);
        let long: Vec<Reduction> = instructions.values().filter_map(long).collect();
        let mut found = long.into_iter();
        found.any(|reduction| self.fold(&reduction).is_ok())
    }

    /// What the region of a reduction folds, or why it is not divided.
    fn fold(&mut self, reduction: &Reduction) -> Result<&Fold, String> {
        let module = self.module;
        let fold = self.folds.entry(reduction.to_apply);
        let fold = fold.or_insert_with(|| Fold::of(&module.computations[reduction.to_apply]));
        let fold = fold.as_ref().map_err(Clone::clone)?;
        // Of parts that are all there no buffer says so, and nobody reads whether the result is.
        let buffers = reduction.buffers - if fold.is_completed && reduction.is_there { 2 } else { 0 };
        match buffers > self.max_buffers as usize {
            true => {
                Err(format!("its second pass would bind {buffers} buffers and the target allows {}", self.max_buffers))
            }
            false => Ok(fold),
        }
    }
}

/// How many parts a stretch of `extent` is divided into for a reduction of `rounds` elements to one: about the square root, so that
/// both passes are as long, but enough that the first is not longer than [`MAX_ROUNDS`]; a divisor of the extent where one is near.
fn parts(extent: i64, rounds: i64) -> i64 {
    let root = (1..).find(|power| (1i64 << power) * (1i64 << power) >= rounds).map_or(1, |power| 1i64 << power);
    divisor_near(root.max(divided(rounds, MAX_ROUNDS)), extent)
}

/// How many parts of so many elements there are, the last of which may be smaller.
fn divided(count: i64, part: i64) -> i64 {
    count / part + i64::from(count % part != 0)
}

/// A divisor of the extent near a number that is greater than 1, and not 1 itself; else this number; the extent where it is less.
fn divisor_near(wanted: i64, extent: i64) -> i64 {
    if wanted >= extent {
        return extent;
    }
    let near = (0..=wanted).flat_map(|distance| [wanted + distance, wanted - distance / 2]);
    near.into_iter().find(|divisor| *divisor > 1 && extent % divisor == 0).unwrap_or(wanted)
}

/// Makes every reduction of many elements two: to parts, then of the parts. On GPUs those of rows of more than [`MAX_ROW`] elements and of columns of more than
/// [`MAX_COLUMN`]; where an invocation folds a result, those of more than [`MAX_ROUNDS`] elements to each of less than [`MANY_ELEMENTS`] (or [`MANY_ROWS`]), and
/// in software also those of columns whose elements lie far apart ([`COLUMN_ROUNDS`]). Where the elements cannot be divided evenly neutral ones are added. One by a region that is no monoid's stays.
pub(super) fn split_long_reductions(
    mut module: Module,
    id: ComputationId,
    target: &Target,
    decisions: &mut Vec<Decision>,
) -> Module {
    let program = &module.computations[id];
    let device = Device::of(target);
    let is_long = |instruction: &Instruction| Reduction::long(&program.instructions, instruction, device).is_some();
    if !program.instructions.values().any(is_long) {
        return module;
    }
    let mut names = UniqueNames::default();
    program.instructions.values().for_each(|instruction| {
        names.take(&instruction.name);
    });
    let mut pass = Pass { reductions: LongReductions::new(&module, target), instructions: Arena::new(), names };
    let mut image: Vec<InstrId> = Vec::with_capacity(program.instructions.len());
    for (own, instruction) in program.instructions.iter() {
        let mut instruction = instruction.clone();
        instruction.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        if let Some(reduction) = Reduction::long(&pass.instructions, &instruction, device) {
            let (rounds, outputs) = (reduction.rounds(), reduction.outputs);
            let (verdict, how) = match pass.reductions.fold(&reduction) {
                Ok(fold) if reduction.has_far_columns() => {
                    let order = if fold.commutes { "" } else { ", which keep the order of the elements" };
                    let why = "since its columns are long and their elements far apart";
                    (Verdict::Rewritten, format!("two passes{order}, {why}"))
                }
                Ok(Fold { commutes: true, .. }) => (Verdict::Rewritten, "two passes".to_owned()),
                Ok(_) => (Verdict::Rewritten, "two passes, which keep the order of the elements".to_owned()),
                Err(reason) => (Verdict::Kept, format!("one pass: {reason}")),
            };
            let reason = format!("of {rounds} elements for each of {outputs} it is made in {how}");
            decisions.push(Decision { instruction: name_in(&module, id, own), verdict, reason });
        }
        image.push(pass.reduction(instruction));
    }
    let (instructions, root) = (pass.instructions, image[program.root.index()]);
    let program = &mut module.computations[id];
    program.root = root;
    program.instructions = instructions;
    module
}

struct Pass<'m> {
    reductions: LongReductions<'m>,
    instructions: Arena<InstrId, Instruction>,
    names: UniqueNames,
}

impl Pass<'_> {
    /// Adds an instruction, in two passes where it is a long reduction; the passes may be long themselves.
    fn reduction(&mut self, instruction: Instruction) -> InstrId {
        let Some(reduction) = Reduction::long(&self.instructions, &instruction, self.reductions.device) else {
            return self.instructions.push(instruction);
        };
        let Ok(Fold { neutral, commutes, is_completed }) = self.reductions.fold(&reduction) else {
            return self.instructions.push(instruction);
        };
        let (neutral, commutes, is_completed) = (neutral.clone(), *commutes, *is_completed);
        let (operands, initial) = instruction.operands.split_at(reduction.element_types.len());
        let neutral: Vec<InstrId> = neutral
            .into_iter()
            .map(|value| {
                let shape = Shape::scalar(value.element_type());
                self.add(&instruction, shape, Op::Constant(Literal::scalar(value)), vec![])
            })
            .collect();
        // One dimension in place of the stretch.
        let (first, count) = reduction.stretch(commutes);
        let mut extents = reduction.extents.clone();
        let extent: i64 = extents.splice(first..first + count, [0]).product();
        extents[first] = extent;
        let others = reduction.reduced.iter().filter(|own| !(first..first + count).contains(own));
        let mut reduced: Vec<usize> = others.map(|own| if *own < first { *own } else { own + 1 - count }).collect();
        let is_interleaved = reduction.is_interleaved(commutes);
        let mut parts = reduction.parts(extent);
        if !is_interleaved {
            // None of them is only what is added.
            parts = divided(extent, divided(extent, parts));
        }
        let mut values: Vec<InstrId> =
            operands.iter().map(|operand| self.array(&instruction, &extents, Op::Reshape, vec![*operand])).collect();
        if extent % parts != 0 {
            let added = parts - extent % parts;
            extents[first] += added;
            // What keeps the order begins with what is added, as each part begins with a neutral element.
            let (low, high) = if commutes { (0, added) } else { (added, 0) };
            let padding = |dimension| match dimension == first {
                true => PadDimension { low, high, interior: 0 },
                false => PadDimension { low: 0, high: 0, interior: 0 },
            };
            for (value, neutral) in values.iter_mut().zip(&neutral) {
                let op = Op::Pad { padding: (0..extents.len()).map(padding).collect() };
                *value = self.array(&instruction, &extents, op, vec![*value, *neutral]);
            }
        }
        let each = extents[first] / parts;
        if each > 1 {
            let inner = if is_interleaved { [each, parts] } else { [parts, each] };
            extents.splice(first..=first, inner);
            for value in &mut values {
                *value = self.array(&instruction, &extents, Op::Reshape, vec![*value]);
            }
            reduced.iter_mut().filter(|own| **own > first).for_each(|own| *own += 1);
            reduced.push(if is_interleaved { first } else { first + 1 });
        }
        let kept = |dimension: &usize| !reduced.contains(dimension);
        let parts_at = first + usize::from(each > 1 && is_interleaved);
        let place = (0..parts_at).filter(kept).count();
        let left: Vec<i64> = (0..extents.len()).filter(kept).map(|dimension| extents[dimension]).collect();
        let dimensions = |reduced: &[usize]| reduced.iter().filter_map(|own| i64::try_from(*own).ok()).collect();
        let op = |reduced: &[usize]| Op::Reduce { dimensions: dimensions(reduced), to_apply: reduction.to_apply };
        reduced.sort_unstable();
        let shapes: Vec<Shape> = reduction.element_types.iter().map(|own| Shape::array(*own, left.clone())).collect();
        let mut partial = instruction.clone();
        partial.name = self.names.take(&instruction.name);
        let is_tuple = matches!(instruction.shape, Shape::Tuple(_));
        partial.shape = if is_tuple { Shape::Tuple(shapes.clone()) } else { shapes[0].clone() };
        partial.op = op(&reduced);
        partial.operands = values.into_iter().chain(neutral).collect();
        let partial = self.reduction(partial);
        let mut last = instruction.clone();
        last.op = op(&[place]);
        let is_there = is_completed && reduction.is_there;
        last.operands = match is_tuple {
            true => (0i64..)
                .zip(shapes)
                .take(reduction.element_types.len() - usize::from(is_there))
                .map(|(index, shape)| self.add(&instruction, shape, Op::GetTupleElement { index }, vec![partial]))
                .collect(),
            false => vec![partial],
        };
        if is_there {
            // Each part holds some tuple.
            let truth = Op::Constant(Literal::scalar(Scalar::Pred(true)));
            let truth = self.add(&instruction, Shape::scalar(ElementType::Pred), truth, Vec::new());
            let shape = Shape::array(ElementType::Pred, left);
            last.operands.push(self.add(&instruction, shape, Op::Broadcast { dimensions: Vec::new() }, vec![truth]));
        }
        last.operands.extend(initial);
        self.reduction(last)
    }

    fn add(&mut self, like: &Instruction, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        let mut added = Instruction::new(self.names.take(&like.name), shape, op, operands);
        added.span = like.span;
        self.instructions.push(added)
    }

    /// An array of these extents; the operand itself where it has them.
    fn array(&mut self, like: &Instruction, extents: &[i64], op: Op, operands: Vec<InstrId>) -> InstrId {
        let Some(given) = operands.first().and_then(|operand| self.instructions[*operand].shape.as_array()) else {
            return self.add(like, like.shape.clone(), op, operands);
        };
        if given.extents == extents {
            return operands[0];
        }
        let shape = Shape::array(given.element_type, extents);
        self.add(like, shape, op, operands)
    }
}
