//! A stable order of small numbers, made of reductions, scans and scatters without overlap.

use super::build::{Build, Callee};
use super::rebuild::Rebuild;
use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId, Op, Scalar, Shape, Window, WindowDimension};

/// Bits of a number by which one pass sorts.
const DIGIT: u32 = 4;

/// Numbers of a block, each of which counts how many before it in the block have the same digit.
const BLOCK: i64 = 32;

/// Numbers in ascending order.
pub(super) struct Ordered {
    /// The numbers.
    pub(super) numbers: InstrId,
    /// Where each was: of equal ones in ascending order.
    pub(super) places: InstrId,
}

/// Numbers `s32[count]` from 0 to `greatest` in ascending order: digit by digit from the lowest on, each number goes to the place that is told by how many have a lesser digit, how
/// many before its block have the same one, and how many before it in its block.
pub(super) fn ordered(rebuild: &mut Rebuild<'_>, numbers: InstrId, greatest: i32) -> Ordered {
    let count = rebuild.array(numbers).extents[0];
    let blocks = (count + BLOCK - 1) / BLOCK;
    let padded = blocks * BLOCK;
    let mut numbers = numbers;
    if padded > count {
        // What is filled up with stays behind all others.
        let last = constant(rebuild, greatest, vec![padded - count]);
        numbers = rebuild.concatenated(vec![numbers, last], 0);
    }
    let mut places = rebuild.iota(ElementType::S32, vec![padded], 0);
    let bits = u32::BITS - greatest.leading_zeros();
    for low in (0..bits).step_by(DIGIT as usize) {
        let values = 1i64 << DIGIT.min(bits - low);
        let lowest = constant(rebuild, low as i32, vec![padded]);
        let mask = constant(rebuild, values as i32 - 1, vec![padded]);
        let shifted = rebuild.binary(BinaryOp::ShiftRightLogical, numbers, lowest);
        let digit = rebuild.binary(BinaryOp::And, shifted, mask);
        let digits = rebuild.reshaped(digit, vec![blocks, BLOCK]);
        let to = place(rebuild, digits, (blocks, values));
        let to = rebuild.reshaped(to, vec![padded, 1]);
        [numbers, places] = moved(rebuild, [numbers, places], to);
    }
    let [numbers, places] = [numbers, places].map(|all| first(rebuild, all, count));
    Ordered { numbers, places }
}

/// Where numbers with these digits `[blocks, BLOCK]` go.
fn place(rebuild: &mut Rebuild<'_>, digits: InstrId, (blocks, values): (i64, i64)) -> InstrId {
    let pairs = vec![blocks, BLOCK, BLOCK];
    let own = rebuild.broadcast(digits, &[0, 1], pairs.clone());
    let other = rebuild.broadcast(digits, &[0, 2], pairs.clone());
    let is_same = rebuild.compared(ComparisonDirection::Eq, own, other);
    let [own, other] = [1, 2].map(|dimension| rebuild.iota(ElementType::S32, pairs.clone(), dimension));
    let is_before = rebuild.compared(ComparisonDirection::Lt, other, own);
    let counts = rebuild.binary(BinaryOp::And, is_same, is_before);
    let within = counted(rebuild, counts);

    let table = vec![blocks, values, BLOCK];
    let known = rebuild.broadcast(digits, &[0, 2], table.clone());
    let value = rebuild.iota(ElementType::S32, table, 1);
    let has = rebuild.compared(ComparisonDirection::Eq, known, value);
    let of_block = counted(rebuild, has);
    let of_block = rebuild.transposed(of_block, &[1, 0]);
    let of_block = rebuild.reshaped(of_block, vec![values * blocks]);
    let up_to = summed(rebuild, of_block);
    let before = rebuild.binary(BinaryOp::Subtract, up_to, of_block);

    let row = constant(rebuild, blocks as i32, vec![blocks, BLOCK]);
    let row = rebuild.binary(BinaryOp::Multiply, digits, row);
    let column = rebuild.iota(ElementType::S32, vec![blocks, BLOCK], 0);
    let entry = rebuild.binary(BinaryOp::Add, row, column);
    let begin = rebuild.taken(before, entry);
    rebuild.binary(BinaryOp::Add, begin, within)
}

/// The number everywhere.
pub(super) fn constant(rebuild: &mut Rebuild<'_>, number: i32, extents: Vec<i64>) -> InstrId {
    let scalar = rebuild.scalar(Scalar::S32(number));
    rebuild.broadcast(scalar, &[], extents)
}

/// The first elements of a line.
fn first(rebuild: &mut Rebuild<'_>, line: InstrId, count: i64) -> InstrId {
    if rebuild.array(line).extents[0] == count {
        return line;
    }
    let zero = rebuild.scalar(Scalar::S32(0));
    rebuild.window(line, &[zero], &[count])
}

/// How many hold along the last dimension.
fn counted(rebuild: &mut Rebuild<'_>, holds: InstrId) -> InstrId {
    let ones = rebuild.converted(holds, ElementType::S32);
    let mut extents = rebuild.array(ones).extents.clone();
    let last = extents.pop().map_or(0, |_| extents.len() as i64);
    let to_apply = sum(rebuild);
    let zero = rebuild.scalar(Scalar::S32(0));
    let op = Op::Reduce { dimensions: vec![last], to_apply };
    rebuild.add(Shape::array(ElementType::S32, extents), op, vec![ones, zero])
}

/// The sums of the elements of a line up to each.
fn summed(rebuild: &mut Rebuild<'_>, line: InstrId) -> InstrId {
    let extents = rebuild.array(line).extents.clone();
    let along = WindowDimension { size: extents[0], padding_low: extents[0] - 1, ..WindowDimension::default() };
    let to_apply = sum(rebuild);
    let zero = rebuild.scalar(Scalar::S32(0));
    let op = Op::ReduceWindow { window: Window { dimensions: vec![along] }, to_apply };
    rebuild.add(Shape::array(ElementType::S32, extents), op, vec![line, zero])
}

fn sum(rebuild: &mut Rebuild<'_>) -> crate::ir::ComputationId {
    let mut callee = Callee::new("sum", rebuild.span());
    let [left, right] = [(); 2].map(|()| callee.parameter(Shape::scalar(ElementType::S32)));
    let both = callee.binary(BinaryOp::Add, left, right);
    rebuild.shared_computation(callee.finish(both))
}

/// The elements of two lines, each where its place `[count, 1]` is.
fn moved(rebuild: &mut Rebuild<'_>, lines: [InstrId; 2], places: InstrId) -> [InstrId; 2] {
    let mut callee = Callee::new("last", rebuild.span());
    let parameters = [(); 4].map(|()| callee.parameter(Shape::scalar(ElementType::S32)));
    let given = callee.tuple(parameters[2..].to_vec());
    let to_apply = rebuild.shared_computation(callee.finish(given));
    let extents = rebuild.array(lines[0]).extents.clone();
    let nothing = constant(rebuild, 0, extents.clone());
    let other = constant(rebuild, -1, extents.clone());
    let op = Op::Scatter {
        update_window_dims: Vec::new(),
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        input_batching_dims: Vec::new(),
        scatter_indices_batching_dims: Vec::new(),
        index_vector_dim: 1,
        indices_are_sorted: false,
        unique_indices: true,
        to_apply,
    };
    let shapes = vec![Shape::array(ElementType::S32, extents); 2];
    let [numbers, own] = lines;
    let both = rebuild.add(Shape::Tuple(shapes), op, vec![nothing, other, places, numbers, own]);
    [0, 1].map(|index| rebuild.element(both, index))
}
