//! Long scans, made block by block.
//!
//! A `reduce-window` whose window is as long as the dimension that it moves along, so that each result folds all elements up to its own, or all from its own on, is
//! a *scan*: cumulative sums, products, maxima. As a window it takes time by the square of the dimension. If its region is a monoid's ([`Fold`]) it is
//! made by reduce-then-scan (Merrill and Garland's name; Blelloch, "Prefix sums and their applications", 1990):
//!
//! 1. Each block of neighboring elements is folded to one.
//! 2. What comes before each block is the exclusive scan of these, made the same way until [`SHORT`] elements are left, which are a window again. It begins with the
//!    initial value.
//! 3. Each element of a block folds what comes before the block, then those of the block up to its own: a window over the block, before which that stands.
//!
//! So the order is the same in every run and on every device, time is linear, and no fold is a chain of more than [`SHORT`] elements and a block for each level. A scan
//! from the end is the mirror image, but for the order in which the region is given its operands: there what comes behind a block stands behind it, and the
//! initial value is that of the windows over the blocks.

use super::given::name_in;
use super::{Decision, Verdict};
use crate::fold::Fold;
use std::collections::BTreeMap;
use weft_hlo::ir::{
    Arena, ArenaId, Computation, ComputationId, ElementType, InstrId, Instruction, Literal, Module, Op, PadDimension,
    Scalar, Shape, SliceDimension, UniqueNames, Window, WindowDimension,
};

/// A dimension of so many elements at most is scanned as a window.
const SHORT: i64 = 64;

/// Windows fold so many elements in all at most where scans of [`MAX_CHAIN`] elements would take more launches instead: about the time of a launch on few cores.
const FEW_ROUNDS: i64 = 1 << 18;

/// Elements that one result folds one by one at most.
const MAX_CHAIN: i64 = 1024;

/// Elements of a block: each of them is read by so many windows.
const BLOCK: i64 = 8;

/// A scan along one dimension.
#[derive(Clone, Debug, PartialEq)]
struct Scan {
    /// The extents of what is scanned.
    extents: Vec<i64>,
    element_types: Vec<ElementType>,
    dimension: usize,
    /// Whether results fold all elements from their own on.
    is_reversed: bool,
    /// Result `i` folds the elements before number `i + ahead`; of a reversed one, those from number `i + ahead` on.
    ahead: i64,
    /// Elements of the result along the dimension.
    results: i64,
    to_apply: ComputationId,
}

impl Scan {
    /// The scan that an instruction is, of whatever length.
    fn of(instructions: &Arena<InstrId, Instruction>, instruction: &Instruction) -> Option<Scan> {
        let Op::ReduceWindow { window, to_apply } = &instruction.op else { return None };
        let operands = instruction.operands.get(..instruction.operands.len() / 2)?;
        let arrays: Option<Vec<_>> = operands.iter().map(|id| instructions[*id].shape.as_array()).collect();
        let arrays = arrays?;
        let extents = arrays.first()?.extents.clone();
        let is_static = |array: &&weft_hlo::ir::ArrayShape| array.dynamic.is_empty() && array.extents == extents;
        if !arrays.iter().all(is_static) || extents.contains(&0) {
            return None;
        }
        let mut moved = window.dimensions.iter().enumerate().filter(|(_, own)| **own != WindowDimension::default());
        let (dimension, own) = moved.next()?;
        let is_dense = own.stride == 1 && own.window_dilation == 1 && own.base_dilation == 1 && !own.reversal;
        if moved.next().is_some() || !is_dense {
            return None;
        }
        // Result `i` folds the elements of [i - low, i - low + size) that there are.
        let (extent, low, size) = (*extents.get(dimension)?, own.padding_low, own.size);
        let results = extent.checked_add(low)?.checked_add(own.padding_high)?.checked_sub(size)?.checked_add(1)?;
        let begins_at_first = results - 1 <= low && results.checked_add(size - low)? - 1 <= extent;
        let ends_at_last = low <= 0 && size.checked_sub(low)? >= extent && results - 1 - low <= extent;
        let (is_reversed, ahead) = match (begins_at_first, ends_at_last) {
            _ if results < 2 => return None,
            (true, _) => (false, size - low),
            (false, true) => (true, -low),
            (false, false) => return None,
        };
        let element_types = arrays.iter().map(|array| array.element_type).collect();
        Some(Scan { extents, element_types, dimension, is_reversed, ahead, results, to_apply: *to_apply })
    }

    /// The scan that an instruction is, if that takes longer as a window than in blocks.
    fn long(instructions: &Arena<InstrId, Instruction>, instruction: &Instruction) -> Option<Scan> {
        let scan = Scan::of(instructions, instruction)?;
        let extent = scan.extent();
        let rounds = scan.extents.iter().fold(extent, |all, extent| all.saturating_mul(*extent));
        (extent > MAX_CHAIN || (extent > SHORT && rounds > FEW_ROUNDS)).then_some(scan)
    }

    fn extent(&self) -> i64 {
        self.extents[self.dimension]
    }
}

/// The long scans of a module, and what their regions are.
pub(super) struct LongScans<'m> {
    module: &'m Module,
    folds: BTreeMap<ComputationId, Result<Fold, String>>,
}

impl<'m> LongScans<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        LongScans { module, folds: BTreeMap::new() }
    }

    /// Whether a computation holds a scan that is made in blocks.
    pub(super) fn are_in(&mut self, computation: &Computation) -> bool {
        let instructions = &computation.instructions;
        let scans: Vec<Scan> = instructions.values().filter_map(|own| Scan::long(instructions, own)).collect();
        scans.iter().any(|scan| self.fold(scan).is_ok())
    }

    /// What the region of a scan folds, or why the scan stays a window.
    fn fold(&mut self, scan: &Scan) -> Result<&Fold, String> {
        let module = self.module;
        let fold = self.folds.entry(scan.to_apply);
        let fold = fold.or_insert_with(|| Fold::of(&module.computations[scan.to_apply]));
        fold.as_ref().map_err(Clone::clone)
    }
}

/// A number near [`BLOCK`] that divides the extent, if there is one, else this.
fn block_of(extent: i64) -> i64 {
    let near = (0..=BLOCK / 2).flat_map(|distance| [BLOCK + distance, BLOCK - distance]);
    near.into_iter().find(|own| extent % own == 0).unwrap_or(BLOCK)
}

/// Makes scans along dimensions of more than [`MAX_CHAIN`] elements, and of more than [`SHORT`] where windows would take [`FEW_ROUNDS`] in all, block by block.
/// One by a region that is no monoid's stays a window.
pub(super) fn split_long_scans(mut module: Module, id: ComputationId, decisions: &mut Vec<Decision>) -> Module {
    let program = &module.computations[id];
    let is_long = |instruction: &Instruction| Scan::long(&program.instructions, instruction).is_some();
    if !program.instructions.values().any(is_long) {
        return module;
    }
    let mut names = UniqueNames::default();
    program.instructions.values().for_each(|instruction| {
        names.take(&instruction.name);
    });
    let mut scans = LongScans::new(&module);
    let mut writer = Writer { instructions: Arena::new(), names };
    let mut image: Vec<InstrId> = Vec::with_capacity(program.instructions.len());
    // What the elements of tuples are that scans yield.
    let mut tuples: BTreeMap<InstrId, Vec<InstrId>> = BTreeMap::new();
    for (own, instruction) in program.instructions.iter() {
        let mut instruction = instruction.clone();
        instruction.operands.iter_mut().for_each(|operand| *operand = image[operand.index()]);
        if let Op::GetTupleElement { index } = instruction.op
            && let Some(elements) = instruction.operands.first().and_then(|tuple| tuples.get(tuple))
            && let Some(element) = usize::try_from(index).ok().and_then(|index| elements.get(index))
        {
            image.push(*element);
            continue;
        }
        let Some(scan) = Scan::long(&writer.instructions, &instruction) else {
            image.push(writer.instructions.push(instruction));
            continue;
        };
        let (extent, dimension) = (scan.extent(), scan.dimension);
        let of = format!("of {extent} elements along dimension {dimension}");
        let (verdict, reason) = match scans.fold(&scan) {
            Ok(fold) => {
                let block = block_of(extent);
                let results = writer.scan(&scan, &fold.neutral, &instruction);
                let result = match instruction.shape {
                    Shape::Tuple(_) => {
                        instruction.op = Op::Tuple;
                        instruction.operands.clone_from(&results);
                        let tuple = writer.instructions.push(instruction);
                        tuples.insert(tuple, results);
                        tuple
                    }
                    _ => results[0],
                };
                image.push(result);
                (Verdict::Rewritten, format!("a scan {of} is made in blocks of {block}"))
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
    fn scan(&mut self, scan: &Scan, neutral: &[Scalar], like: &Instruction) -> Vec<InstrId> {
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
            before: if scan.is_reversed { &neutral } else { initial },
            neutral: &neutral,
            is_reversed: scan.is_reversed,
            is_exclusive,
        };
        let values = self.line(line, scan.to_apply, like);
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
    fn line(&mut self, line: Line<'_>, to_apply: ComputationId, like: &Instruction) -> Vec<InstrId> {
        let Line { mut values, mut extents, dimension, first, before, neutral, is_reversed, is_exclusive } = line;
        let extent = extents[dimension];
        if extent <= SHORT {
            let (low, high) = if is_exclusive { (extent, -1) } else { (extent - 1, 0) };
            return self.window(
                like,
                to_apply,
                (values, before),
                &extents,
                Moved { dimension, size: extent, low, high, is_reversed },
            );
        }
        let whole = extents.clone();
        let block = block_of(extent);
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
        let blocks = extents[dimension] / block;
        extents.splice(dimension..=dimension, [blocks, block]);
        for value in &mut values {
            *value = self.array(like, *value, &extents, Op::Reshape, vec![*value]);
        }
        let mut left = extents.clone();
        left.remove(within);
        let along: Vec<i64> = i64::try_from(within).into_iter().collect();
        let op = Op::Reduce { dimensions: along.clone(), to_apply };
        let sums = self.folded(like, op, [&values, neutral].concat(), &left);
        let outer = Line {
            values: sums,
            extents: left.clone(),
            dimension,
            first: neutral,
            before,
            neutral,
            is_reversed,
            is_exclusive: true,
        };
        let others = self.line(outer, to_apply, like);
        // What comes before a block stands before its elements, or behind them.
        let mut one = extents.clone();
        one[within] = 1;
        extents[within] = block + 1;
        for (value, other) in values.iter_mut().zip(others) {
            let other = self.array(like, other, &one, Op::Reshape, vec![other]);
            let parts = if is_reversed { vec![*value, other] } else { vec![other, *value] };
            let op = Op::Concatenate { dimension: along.first().copied().unwrap_or(0) };
            *value = self.array(like, *value, &extents, op, parts);
        }
        let (low, high) = if is_exclusive { (block, -1) } else { (block - 1, 0) };
        let moved = Moved { dimension: within, size: block + 1, low, high, is_reversed };
        let mut folded = self.window(like, to_apply, (values, first), &extents, moved);
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
