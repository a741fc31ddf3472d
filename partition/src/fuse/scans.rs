//! Long scans, made block by block.
//!
//! A [`Scan`] as a window takes time by the square of its dimension. If its region is a monoid's ([`Fold`]) it is made by reduce-then-scan (Merrill and Garland's name;
//! Blelloch, "Prefix sums and their applications", 1990):
//!
//! 1. Each block of neighboring elements is folded to one.
//! 2. What comes before each block is the exclusive scan of these, made the same way until a scan is short. It begins with the initial value.
//! 3. Each block is scanned by itself, and what comes before the block is folded with what each element comes to.
//!
//! Where kernels are shaped around scans ([`Reduced`](crate::Reduced)), the scan of a block, what it is computed of and what is folded with it are one kernel, which reads each element once:
//! blocks have [`ROW`] elements on devices in software, [`WORKGROUP_ROW`] on GPUs where they lie side by side, and [`COLUMN`] where they do not. Elsewhere blocks have
//! [`WINDOW`] elements, and their scans are windows over what comes before the block and its elements.
//!
//! So the order is the same in every run and on every device of a kind, time is linear, and no fold is a chain of more than [`MAX_CHAIN`] elements and one for each level. A scan
//! from the end is the mirror image, but for the order in which the region is given its operands: there what comes behind a block stands behind it, and the
//! initial value is that of the scans of the blocks.

use super::given::name_in;
use super::taken_apart::TakenApart;
use super::{Decision, Verdict};
use crate::Target;
use crate::elementwise::{applied, is_elementwise};
use crate::fold::Fold;
use crate::scan::{FEW_ROUNDS, MAX_CHAIN, Scan};
use std::collections::BTreeMap;
use weft_hlo::ir::{
    Arena, ArenaId, Computation, ComputationId, ElementType, InstrId, Instruction, Literal, Module, Op, PadDimension,
    Scalar, Shape, SliceDimension, UniqueNames, Window, WindowDimension,
};

/// A dimension of so many elements at most is scanned as windows in any case.
const SHORT: i64 = 64;

/// Elements of a block whose scan is windows: each of them is read by so many.
const WINDOW: i64 = 8;

/// Elements of a block that a kernel is shaped around: of one that an invocation of a device in software scans, so that the cache of a core holds a line of each of its lanes; of
/// one that a workgroup of a GPU scans; and of one whose elements lie apart.
const ROW: i64 = 256;
const WORKGROUP_ROW: i64 = 4096;
const COLUMN: i64 = 64;

/// The blocks that a scan is made in.
#[derive(Copy, Clone)]
struct Blocks {
    /// Elements of a block, about.
    block: i64,
    /// Elements of a dimension that is not divided.
    longest: i64,
    /// Whether kernels are shaped around their scans.
    are_shaping: bool,
}

impl Blocks {
    fn of(scan: &Scan, (fold, region): (&Fold, &Computation), target: &Target) -> Blocks {
        let minor = scan.minor();
        let keeps_order = !fold.commutes && scan.is_reversed && minor == 1 && !target.is_software();
        let block = match (target.is_software(), minor) {
            (true, 1) => ROW,
            (false, 1) => WORKGROUP_ROW,
            _ => COLUMN,
        };
        match scan.is_shaping(target).is_ok() && is_elementwise(region) && !keeps_order {
            true => Blocks { block, longest: Scan::longest(minor, target), are_shaping: true },
            false => Blocks { block: WINDOW, longest: SHORT, are_shaping: false },
        }
    }

    /// The elements of the blocks of a dimension: a number near those of a block that divides it, if there is one.
    fn of_extent(&self, extent: i64) -> i64 {
        // What comes before blocks is scanned in blocks, too: both have about as many where one is enough.
        let root = extent.isqrt();
        let most = if self.are_shaping && root < self.block { root } else { self.block };
        let least = most / 2;
        let divides = |own: &i64| extent % own == 0;
        let vectors = (least..=most).rev().find(|own| own % 4 == 0 && divides(own));
        vectors.or_else(|| (least..=most).rev().find(divides)).unwrap_or(most)
    }
}

/// Whether a kernel is shaped around a scan on a target, given what its region folds.
fn is_shaped(scan: &Scan, fold: &Fold, target: &Target) -> bool {
    // Invocations that share a line combine what they have in the order of its elements.
    let is_shared = scan.minor() == 1 && !target.is_software();
    scan.pays(target).is_ok() && (fold.commutes || !scan.is_reversed || !is_shared)
}

/// For each instruction the scan that it is, if a kernel is shaped around it.
pub(super) fn shaping(module: &Module, computation: &Computation, target: &Target) -> Vec<Option<Scan>> {
    let mut scans = LongScans::new(module, target);
    let instructions = &computation.instructions;
    let of = |instruction: &Instruction| {
        let scan = Scan::of(instructions, instruction).filter(|scan| scan.pays(target).is_ok())?;
        let is_meant = scans.fold(&scan).is_ok_and(|fold| is_shaped(&scan, fold, target));
        is_meant.then_some(scan)
    };
    instructions.values().map(of).collect()
}

/// The long scans of a module, and what their regions are.
pub(super) struct LongScans<'m> {
    module: &'m Module,
    target: &'m Target,
    folds: BTreeMap<ComputationId, Result<Fold, String>>,
}

impl<'m> LongScans<'m> {
    pub(super) fn new(module: &'m Module, target: &'m Target) -> Self {
        LongScans { module, target, folds: BTreeMap::new() }
    }

    /// Whether a computation, one that a kernel is shaped around if so told, holds a scan that is made in blocks.
    pub(super) fn are_in(&mut self, computation: &Computation, is_shaped: bool) -> bool {
        let instructions = &computation.instructions;
        let scans: Vec<Scan> = instructions.values().filter_map(|own| Scan::of(instructions, own)).collect();
        let target = self.target;
        let is_meant =
            |scan: &Scan, fold: &Fold| is_costly(scan) && !(is_shaped && self::is_shaped(scan, fold, target));
        scans.iter().any(|scan| self.fold(scan).is_ok_and(|fold| is_meant(scan, fold)))
    }

    /// What the region of a scan folds, or why the scan stays a window.
    fn fold(&mut self, scan: &Scan) -> Result<&Fold, String> {
        let module = self.module;
        let fold = self.folds.entry(scan.to_apply);
        let fold = fold.or_insert_with(|| Fold::of(&module.computations[scan.to_apply]));
        fold.as_ref().map_err(Clone::clone)
    }
}

/// Whether the windows of a scan take longer than blocks.
pub(super) fn is_costly(scan: &Scan) -> bool {
    scan.extent() > MAX_CHAIN || (scan.extent() > SHORT && scan.rounds() > FEW_ROUNDS)
}

/// Makes scans along dimensions of more than [`MAX_CHAIN`] elements, and of more than [`SHORT`] where windows would take [`FEW_ROUNDS`] in all, block by block, unless a kernel is shaped
/// around them as they are. One by a region that is no monoid's stays a window.
pub(super) fn split_long_scans(
    mut module: Module,
    id: ComputationId,
    target: &Target,
    decisions: &mut Vec<Decision>,
) -> Module {
    let program = &module.computations[id];
    let costly = |instructions: &Arena<InstrId, Instruction>, instruction: &Instruction| {
        Scan::of(instructions, instruction).filter(is_costly)
    };
    if !program.instructions.values().any(|own| costly(&program.instructions, own).is_some()) {
        return module;
    }
    let mut names = UniqueNames::default();
    program.instructions.values().for_each(|instruction| {
        names.take(&instruction.name);
    });
    let mut scans = LongScans::new(&module, target);
    let mut writer = Writer { instructions: Arena::new(), names };
    let mut image: Vec<InstrId> = Vec::with_capacity(program.instructions.len());
    let mut tuples = TakenApart::of(program);
    for (own, instruction) in program.instructions.iter() {
        if let Some(element) = tuples.element(instruction) {
            image.push(element);
            continue;
        }
        let mut instruction = instruction.clone();
        instruction.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        let Some(scan) = costly(&writer.instructions, &instruction) else {
            image.push(writer.instructions.push(instruction));
            continue;
        };
        let (extent, dimension) = (scan.extent(), scan.dimension);
        let of = format!("of {extent} elements along dimension {dimension}");
        let (verdict, reason) = match scans.fold(&scan) {
            Ok(fold) if is_shaped(&scan, fold, target) => {
                image.push(writer.instructions.push(instruction));
                continue;
            }
            Ok(fold) => {
                let region = &module.computations[scan.to_apply];
                let blocks = Blocks::of(&scan, (fold, region), target);
                let results = writer.scan(&scan, (&fold.neutral, region), blocks, &instruction);
                image.push(tuples.result(own, results, instruction, &mut writer.instructions));
                let reason = match extent > blocks.longest {
                    true => format!("a scan {of} is made in blocks of {}", blocks.of_extent(extent)),
                    false => format!("a scan {of} folds for each element those up to it"),
                };
                (Verdict::Rewritten, reason)
            }
            Err(reason) => {
                image.push(writer.instructions.push(instruction));
                (Verdict::Kept, format!("a scan {of} stays a window of each element: {reason}"))
            }
        };
        decisions.push(Decision { instruction: name_in(&module, id, own), verdict, reason });
    }
    let (instructions, root) = (writer.instructions, image[program.root.index()]);
    let program = &mut module.computations[id];
    program.root = root;
    program.instructions = instructions;
    module
}

struct Writer {
    instructions: Arena<InstrId, Instruction>,
    names: UniqueNames,
}

/// What is scanned along a dimension: arrays of the same extents.
struct Line<'a> {
    values: Vec<InstrId>,
    extents: Vec<i64>,
    dimension: usize,
    /// What the windows over blocks begin with, and those over what comes before all blocks: scalars.
    first: &'a [InstrId],
    before: &'a [InstrId],
    neutral: &'a [InstrId],
    is_reversed: bool,
    /// Whether a result leaves its own element out.
    is_exclusive: bool,
}

/// What is scanned within blocks, and what comes before each of them.
struct Block<'a> {
    values: Vec<InstrId>,
    others: Vec<InstrId>,
    /// What the scans begin with: scalars.
    first: &'a [InstrId],
    /// The dimension within blocks.
    within: usize,
    is_reversed: bool,
    is_exclusive: bool,
}

/// A window that moves along one dimension. If it is reversed, the padding before and behind are exchanged.
struct Moved {
    dimension: usize,
    size: i64,
    low: i64,
    high: i64,
    is_reversed: bool,
}

impl Writer {
    /// The results of a scan, one array for each operand.
    fn scan(
        &mut self,
        scan: &Scan,
        (neutral, region): (&[Scalar], &Computation),
        blocks: Blocks,
        like: &Instruction,
    ) -> Vec<InstrId> {
        let (operands, initial) = like.operands.split_at(scan.element_types.len());
        let neutral: Vec<InstrId> = neutral.iter().map(|value| self.scalar(like, *value)).collect();
        let extent = scan.extent();
        // An inclusive scan yields the others, with some of it left out and initial values added.
        let own = i64::from(!scan.is_reversed);
        let away = if scan.is_reversed { scan.ahead } else { own - scan.ahead };
        let is_exclusive = away == 1 && scan.results == extent;
        let line = Line {
            values: operands.to_vec(),
            extents: scan.extents.clone(),
            dimension: scan.dimension,
            first: if scan.is_reversed { initial } else { &neutral },
            // What lies behind the last block is nothing; a line that is not divided begins with the initial value.
            before: if scan.is_reversed && extent > blocks.longest { &neutral } else { initial },
            neutral: &neutral,
            is_reversed: scan.is_reversed,
            is_exclusive,
        };
        let values = self.line(line, (scan.to_apply, region), blocks, like);
        if is_exclusive {
            return values;
        }
        // Element `i` of the result is that of number `i + ahead` here, or `i + ahead - 1`; where there is none it is the initial value.
        let first = scan.ahead - own;
        let padding = PadDimension { low: -first, high: scan.results + first - extent, interior: 0 };
        if padding == (PadDimension { low: 0, high: 0, interior: 0 }) {
            return values;
        }
        let mut extents = scan.extents.clone();
        extents[scan.dimension] = scan.results;
        let padding = |dimension| match dimension == scan.dimension {
            true => padding,
            false => PadDimension { low: 0, high: 0, interior: 0 },
        };
        let op = Op::Pad { padding: (0..extents.len()).map(padding).collect() };
        let padded = values.iter().zip(initial);
        padded.map(|(value, initial)| self.array(like, *value, &extents, op.clone(), vec![*value, *initial])).collect()
    }

    /// The inclusive or exclusive scan along a dimension.
    fn line(
        &mut self,
        line: Line<'_>,
        applied: (ComputationId, &Computation),
        blocks: Blocks,
        like: &Instruction,
    ) -> Vec<InstrId> {
        let Line { mut values, mut extents, dimension, first, before, neutral, is_reversed, is_exclusive } = line;
        let (extent, to_apply) = (extents[dimension], applied.0);
        if extent <= blocks.longest {
            let (low, high) = if is_exclusive { (extent, -1) } else { (extent - 1, 0) };
            let moved = Moved { dimension, size: extent, low, high, is_reversed };
            return self.window(like, to_apply, (values, before), &extents, moved);
        }
        let whole = extents.clone();
        let block = blocks.of_extent(extent);
        let added = (block - extent % block) % block;
        if added > 0 {
            extents[dimension] += added;
            let padding = |own| PadDimension { low: 0, high: if own == dimension { added } else { 0 }, interior: 0 };
            let op = Op::Pad { padding: (0..extents.len()).map(padding).collect() };
            for (value, neutral) in values.iter_mut().zip(neutral) {
                *value = self.array(like, *value, &extents, op.clone(), vec![*value, *neutral]);
            }
        }
        let padded = extents.clone();
        // The dimension is that of blocks and that within them.
        let within = dimension + 1;
        extents.splice(dimension..=dimension, [extents[dimension] / block, block]);
        for value in &mut values {
            *value = self.array(like, *value, &extents, Op::Reshape, vec![*value]);
        }
        let mut left = extents.clone();
        left.remove(within);
        let along: Vec<i64> = i64::try_from(within).into_iter().collect();
        let op = Op::Reduce { dimensions: along, to_apply };
        let sums = self.folded(like, op, [&values, neutral].concat(), &left);
        let outer = Line {
            values: sums,
            extents: left,
            dimension,
            first: neutral,
            before,
            neutral,
            is_reversed,
            is_exclusive: true,
        };
        let others = self.line(outer, applied, blocks, like);
        let scanned = Block { values, others, first, within, is_reversed, is_exclusive };
        let mut folded = match blocks.are_shaping {
            true => self.scanned_and_folded(scanned, applied, extents, like),
            false => self.scanned_behind(scanned, to_apply, extents, like),
        };
        let slices = |(own, extent): (usize, &i64)| {
            let limit = if own == dimension { whole[dimension] } else { *extent };
            SliceDimension { start: 0, limit, stride: 1 }
        };
        let op = Op::Slice { dimensions: padded.iter().enumerate().map(slices).collect() };
        for value in &mut folded {
            *value = self.array(like, *value, &padded, Op::Reshape, vec![*value]);
            if added > 0 {
                *value = self.array(like, *value, &whole, op.clone(), vec![*value]);
            }
        }
        folded
    }

    /// The scans of blocks, with what comes before each block folded with all that they come to.
    fn scanned_and_folded(
        &mut self,
        block: Block<'_>,
        (to_apply, region): (ComputationId, &Computation),
        extents: Vec<i64>,
        like: &Instruction,
    ) -> Vec<InstrId> {
        let Block { values, others, first, within, is_reversed, is_exclusive } = block;
        let size = extents[within];
        let (low, high) = if is_exclusive { (size, -1) } else { (size - 1, 0) };
        let moved = Moved { dimension: within, size, low, high, is_reversed };
        let own = self.window(like, to_apply, (values, first), &extents, moved);
        let kept = (0..extents.len()).filter(|dimension| *dimension != within);
        let op = Op::Broadcast { dimensions: kept.filter_map(|dimension| i64::try_from(dimension).ok()).collect() };
        let others: Vec<InstrId> =
            others.iter().map(|other| self.array(like, *other, &extents, op.clone(), vec![*other])).collect();
        let arguments = if is_reversed { [own, others].concat() } else { [others, own].concat() };
        applied(region, &arguments, &extents, &mut |shape, op, operands| self.add(like, shape, op, operands))
    }

    /// The scans of what comes before each block and of its elements behind it; or of these in front.
    fn scanned_behind(
        &mut self,
        block: Block<'_>,
        to_apply: ComputationId,
        mut extents: Vec<i64>,
        like: &Instruction,
    ) -> Vec<InstrId> {
        let Block { mut values, others, first, within, is_reversed, is_exclusive } = block;
        let size = extents[within];
        let mut one = extents.clone();
        one[within] = 1;
        extents[within] = size + 1;
        for (value, other) in values.iter_mut().zip(others) {
            let other = self.array(like, other, &one, Op::Reshape, vec![other]);
            let parts = if is_reversed { vec![*value, other] } else { vec![other, *value] };
            let op = Op::Concatenate { dimension: i64::try_from(within).unwrap_or(0) };
            *value = self.array(like, *value, &extents, op, parts);
        }
        let (low, high) = if is_exclusive { (size, -1) } else { (size - 1, 0) };
        let moved = Moved { dimension: within, size: size + 1, low, high, is_reversed };
        self.window(like, to_apply, (values, first), &extents, moved)
    }

    /// Windows that move along one dimension.
    fn window(
        &mut self,
        like: &Instruction,
        to_apply: ComputationId,
        (mut operands, initial): (Vec<InstrId>, &[InstrId]),
        extents: &[i64],
        moved: Moved,
    ) -> Vec<InstrId> {
        let Moved { dimension, size, low, high, is_reversed } = moved;
        let (padding_low, padding_high) = if is_reversed { (high, low) } else { (low, high) };
        let own = WindowDimension { size, padding_low, padding_high, ..WindowDimension::default() };
        let mut dimensions = vec![WindowDimension::default(); extents.len()];
        dimensions[dimension] = own;
        let mut results = extents.to_vec();
        results[dimension] += low + high + 1 - size;
        operands.extend(initial);
        self.folded(like, Op::ReduceWindow { window: Window { dimensions }, to_apply }, operands, &results)
    }

    /// The results of a reduction or a window of several arrays, or of one.
    fn folded(&mut self, like: &Instruction, op: Op, operands: Vec<InstrId>, extents: &[i64]) -> Vec<InstrId> {
        let arrays = &operands[..operands.len() / 2];
        let shapes: Vec<Shape> = arrays.iter().map(|own| Shape::array(self.element_type(*own), extents)).collect();
        if !matches!(like.shape, Shape::Tuple(_)) {
            return vec![self.add(like, shapes[0].clone(), op, operands)];
        }
        let tuple = self.add(like, Shape::Tuple(shapes.clone()), op, operands);
        let elements = (0i64..).zip(shapes);
        elements.map(|(index, shape)| self.add(like, shape, Op::GetTupleElement { index }, vec![tuple])).collect()
    }

    fn element_type(&self, id: InstrId) -> ElementType {
        self.instructions[id].shape.as_array().map_or(ElementType::Pred, |array| array.element_type)
    }

    fn scalar(&mut self, like: &Instruction, value: Scalar) -> InstrId {
        self.add(like, Shape::scalar(value.element_type()), Op::Constant(Literal::scalar(value)), Vec::new())
    }

    /// An array of the type of a value.
    fn array(
        &mut self,
        like: &Instruction,
        value: InstrId,
        extents: &[i64],
        op: Op,
        operands: Vec<InstrId>,
    ) -> InstrId {
        let shape = Shape::array(self.element_type(value), extents);
        self.add(like, shape, op, operands)
    }

    fn add(&mut self, like: &Instruction, shape: Shape, op: Op, operands: Vec<InstrId>) -> InstrId {
        let mut added = Instruction::new(self.names.take(&like.name), shape, op, operands);
        added.span = like.span;
        self.instructions.push(added)
    }
}
