//! Stable orders of numbers, made of reductions, scans and scatters without overlap.

use super::build::{Build, Callee};
use super::counted::counted_all;
use super::rebuild::Rebuild;
use crate::ir::{
    BinaryOp, ComparisonDirection, ComputationId, ElementType, InstrId, Op, Scalar, Shape, SliceDimension, Window,
    WindowDimension,
};

/// Bits of a number by which one pass sorts, at most.
const DIGIT: u32 = 4;

/// Numbers of a block, each of which is told how many before it in the block have the same digit. Counts of 8 bits hold that. Blocks that fill rows are at least of so many.
const BLOCK: i64 = 248;
const LEAST_BLOCK: i64 = 64;

/// Numbers that are read as vectors.
const VECTORS: usize = 8;

/// Counts that a word holds.
const COUNTS: i64 = 4;

/// Words that are summed by one reduction.
const SUMMED: i64 = 4;

/// Rows of numbers, each of which is ordered by itself.
#[derive(Copy, Clone, Debug)]
pub(super) struct Rows {
    pub(super) count: i64,
    pub(super) length: i64,
}

impl Rows {
    /// Whether `s32` counts all that is counted of them.
    pub(super) fn are_counted(self) -> bool {
        let padded = self.length.checked_add(BLOCK).and_then(|length| length.checked_mul(self.count));
        padded.and_then(|count| count.checked_mul(2)).is_some_and(|count| i32::try_from(count).is_ok())
    }

    pub(super) fn extents(self) -> Vec<i64> {
        vec![self.count, self.length]
    }

    /// The numbers of rows, or places in them.
    pub(super) fn numbers(self, build: &mut dyn Build, dimension: i64) -> InstrId {
        build.iota(ElementType::S32, self.extents(), dimension)
    }

    /// The places in a line of all rows of these places `s32` in rows.
    pub(super) fn in_line(self, build: &mut dyn Build, places: InstrId) -> InstrId {
        let count = self.count * self.length;
        if self.count == 1 {
            return build.reshaped(places, vec![count]);
        }
        let row = self.numbers(build, 0);
        let length = constant(build, Scalar::S32(self.length as i32), self.extents());
        let start = build.binary(BinaryOp::Multiply, row, length);
        let places = build.binary(BinaryOp::Add, start, places);
        build.reshaped(places, vec![count])
    }

    /// The elements `[count, length]` at these places of their rows.
    pub(super) fn taken(self, build: &mut dyn Build, values: InstrId, places: InstrId) -> InstrId {
        let places = self.in_line(build, places);
        let line = build.reshaped(values, vec![self.count * self.length]);
        let taken = build.taken(line, places);
        build.reshaped(taken, self.extents())
    }
}

/// Numbers in ascending order.
pub(super) struct Ordered {
    /// The numbers.
    pub(super) numbers: InstrId,
    /// Where each was: of equal ones in ascending order.
    pub(super) places: InstrId,
}

/// Numbers `s32[count]` from 0 to `greatest` in ascending order.
pub(super) fn ordered(rebuild: &mut Rebuild<'_>, numbers: InstrId, greatest: i32) -> Ordered {
    let rows = Rows { count: 1, length: rebuild.array(numbers).extents[0] };
    let bits = u32::BITS - greatest.leading_zeros();
    let numbers = rebuild.converted(numbers, ElementType::U32);
    let numbers = rebuild.reshaped(numbers, rows.extents());
    let places = rebuild.iota(ElementType::U32, rows.extents(), 1);
    let moved = by_digits(rebuild, rows, bits, vec![numbers, places], &|_, carried| carried[0]);
    let mut results = moved.into_iter().map(|line| {
        let line = rebuild.reshaped(line, vec![rows.length]);
        rebuild.converted(line, ElementType::S32)
    });
    let (Some(numbers), Some(places)) = (results.next(), results.next()) else {
        unreachable!("what is carried is moved")
    };
    Ordered { numbers, places }
}

/// Words `u32[count, length]` in the stable order of numbers of so many bits, which `number` computes of the words at a place.
///
/// They go to their places digit by digit from the lowest on: to the one that is told by how many have a lesser digit, how many before its block have the same one, and how many
/// before it in its block. A loop makes the passes, so that kernels are the same for all.
pub(super) fn by_digits(
    rebuild: &mut Rebuild<'_>,
    rows: Rows,
    bits: u32,
    carried: Vec<InstrId>,
    number: &dyn Fn(&mut dyn Build, &[InstrId]) -> InstrId,
) -> Vec<InstrId> {
    let passes = bits.div_ceil(DIGIT);
    if passes == 0 {
        return carried;
    }
    let regions = Regions::new(rebuild, carried.len());
    let pass = Pass { rows, digit: bits.div_ceil(passes), regions };
    if passes == 1 {
        let number = number(rebuild, &carried);
        return pass.moved(rebuild, &carried, number);
    }
    counted_all(rebuild, passes.into(), carried, |round, carried| {
        let own = number(&mut round.body, &carried);
        let pass_number = round.body.converted(round.number, ElementType::U32);
        let digit = round.body.scalar(Scalar::U32(pass.digit));
        let low = round.body.binary(BinaryOp::Multiply, pass_number, digit);
        let low = round.body.broadcast(low, &[], rows.extents());
        let own = round.body.binary(BinaryOp::ShiftRightLogical, own, low);
        pass.moved(&mut round.body, &carried, own)
    })
}

/// The numbers of a block of rows of so many: as many as divide them, whole vectors, where there is such a number, so that no block has to be filled up and tested for that.
fn block(length: i64) -> i64 {
    let whole = (LEAST_BLOCK..=BLOCK).rev().step_by(VECTORS).find(|block| length % block == 0);
    whole.unwrap_or(BLOCK).min(length)
}

/// The regions of reductions and scatters.
struct Regions {
    /// The sums of so many words, less one.
    sums: Vec<ComputationId>,
    /// The updates of a scatter.
    last: ComputationId,
}

impl Regions {
    fn new(rebuild: &mut Rebuild<'_>, carried: usize) -> Self {
        let sums = (1..=SUMMED as usize).map(|words| sums(rebuild, words)).collect();
        Regions { sums, last: last(rebuild, &vec![ElementType::U32; carried]) }
    }
}

/// One pass.
struct Pass {
    rows: Rows,
    /// Bits of the digit.
    digit: u32,
    regions: Regions,
}

impl Pass {
    /// Words in the order of the lowest digit of numbers `u32[count, length]`.
    fn moved(&self, build: &mut dyn Build, carried: &[InstrId], numbers: InstrId) -> Vec<InstrId> {
        let mask = constant(build, Scalar::U32((1 << self.digit) - 1), self.rows.extents());
        let digits = build.binary(BinaryOp::And, numbers, mask);
        let places = self.places(build, digits);
        scattered(build, carried, places, self.regions.last)
    }

    /// Where in a line of all rows numbers with these digits go: `s32[count * length]`.
    fn places(&self, build: &mut dyn Build, digits: InstrId) -> InstrId {
        let Rows { count, length } = self.rows;
        let block = block(length);
        let blocks = (length + block - 1) / block;
        let padded = blocks * block;
        let values = 1i64 << self.digit;
        let mut digits = digits;
        if padded > length {
            // What fills the last block of a row up comes behind all others.
            let last = constant(build, Scalar::U32(values as u32 - 1), vec![count, padded - length]);
            digits = build.concatenated(vec![digits, last], 1);
        }
        let extents = vec![count * blocks, block];
        let digits = build.reshaped(digits, extents.clone());
        let number =
            |build: &mut dyn Build, value: u32| constant(build, Scalar::U32(value), vec![count * blocks, block]);

        // A count is a byte of the word of the digit's upper bits.
        let [low, bits, eight, one, none] = [2, 3, 8, 1, 0].map(|value| number(build, value));
        let word = build.binary(BinaryOp::ShiftRightLogical, digits, low);
        let byte = build.binary(BinaryOp::And, digits, bits);
        let shift = build.binary(BinaryOp::Multiply, byte, eight);
        let unit = build.binary(BinaryOp::ShiftLeft, one, shift);
        let words = (values + COUNTS - 1) / COUNTS;
        let mut units = Vec::with_capacity(words as usize);
        for own in 0..words {
            let own = number(build, own as u32);
            let is_own = build.compared(ComparisonDirection::Eq, word, own);
            units.push((is_own, build.selected(is_own, unit, none)));
        }

        let table = self.table(build, &units, (blocks, values));
        let up_to = self.summed(build, table);
        let before = build.binary(BinaryOp::Subtract, up_to, table);

        // How many up to each in its block have the same digit.
        let mut counts = none;
        for (is_own, units) in &units {
            let up_to = self.summed(build, *units);
            counts = build.selected(*is_own, up_to, counts);
        }
        let counts = build.binary(BinaryOp::ShiftRightLogical, counts, shift);
        let all = number(build, 255);
        let counts = build.binary(BinaryOp::And, counts, all);

        let of_row = number(build, blocks as u32);
        let entry = build.binary(BinaryOp::Multiply, digits, of_row);
        let whole = vec![count, blocks, block];
        let along = |build: &mut dyn Build, dimension: i64, stride: i64| {
            let index = build.iota(ElementType::U32, whole.clone(), dimension);
            let index = build.reshaped(index, extents.clone());
            let stride = number(build, stride as u32);
            build.binary(BinaryOp::Multiply, index, stride)
        };
        let column = along(build, 1, 1);
        let mut entry = build.binary(BinaryOp::Add, entry, column);
        if count > 1 {
            let row = along(build, 0, values * blocks);
            entry = build.binary(BinaryOp::Add, entry, row);
        }
        let entry = build.converted(entry, ElementType::S32);
        let begin = build.taken(before, entry);
        let mut place = build.binary(BinaryOp::Add, begin, counts);
        let behind = number(build, 1);
        place = build.binary(BinaryOp::Subtract, place, behind);
        if count > 1 && padded > length {
            let row = along(build, 0, padded - length);
            place = build.binary(BinaryOp::Subtract, place, row);
        }
        let place = build.converted(place, ElementType::S32);
        let place = build.reshaped(place, vec![count, padded]);
        let place = first(build, place, self.rows.extents());
        build.reshaped(place, vec![count * length])
    }

    /// How many numbers of each block have each digit: of each row, each digit, each block in a line.
    fn table(&self, build: &mut dyn Build, units: &[(InstrId, InstrId)], (blocks, values): (i64, i64)) -> InstrId {
        let count = self.rows.count;
        let mut tables = Vec::with_capacity(units.len());
        for units in units.chunks(SUMMED as usize) {
            let zero = build.scalar(Scalar::U32(0));
            let op = Op::Reduce { dimensions: vec![1], to_apply: self.regions.sums[units.len() - 1] };
            let shapes = vec![Shape::array(ElementType::U32, vec![count * blocks]); units.len()];
            let mut operands: Vec<InstrId> = units.iter().map(|(_, units)| *units).collect();
            operands.extend(vec![zero; units.len()]);
            let sums = match &shapes[..] {
                [shape] => vec![build.add(shape.clone(), op, operands)],
                _ => {
                    let all = build.add(Shape::Tuple(shapes), op, operands);
                    (0..units.len()).map(|index| build.element(all, index)).collect()
                }
            };
            for sums in sums {
                let sums = build.reshaped(sums, vec![count, blocks]);
                let extents = vec![count, COUNTS.min(values), blocks];
                let sums = build.broadcast(sums, &[0, 2], extents.clone());
                let byte = build.iota(ElementType::U32, extents.clone(), 1);
                let eight = constant(build, Scalar::U32(8), extents.clone());
                let shift = build.binary(BinaryOp::Multiply, byte, eight);
                let sums = build.binary(BinaryOp::ShiftRightLogical, sums, shift);
                let all = constant(build, Scalar::U32(255), extents);
                tables.push(build.binary(BinaryOp::And, sums, all));
            }
        }
        let table = build.concatenated(tables, 1);
        build.reshaped(table, vec![count * values * blocks])
    }

    /// The sums of the elements up to each along the last dimension.
    fn summed(&self, build: &mut dyn Build, values: InstrId) -> InstrId {
        let extents = build.array(values).extents.clone();
        let mut dimensions = vec![WindowDimension::default(); extents.len()];
        if let (Some(along), Some(&size)) = (dimensions.last_mut(), extents.last()) {
            *along = WindowDimension { size, padding_low: size - 1, ..WindowDimension::default() };
        }
        let zero = build.scalar(Scalar::U32(0));
        let op = Op::ReduceWindow { window: Window { dimensions }, to_apply: self.regions.sums[0] };
        build.like(values, ElementType::U32, op, vec![values, zero])
    }
}

/// The number everywhere.
pub(super) fn constant(build: &mut dyn Build, number: Scalar, extents: Vec<i64>) -> InstrId {
    let scalar = build.scalar(number);
    build.broadcast(scalar, &[], extents)
}

/// The first elements along each dimension.
pub(super) fn first(build: &mut dyn Build, value: InstrId, extents: Vec<i64>) -> InstrId {
    if build.array(value).extents == extents {
        return value;
    }
    let shape = Shape::array(build.element_type(value), extents.clone());
    let dimensions = extents.iter().map(|&limit| SliceDimension { start: 0, limit, stride: 1 }).collect();
    build.add(shape, Op::Slice { dimensions }, vec![value])
}

/// The region that adds so many words to others.
fn sums(rebuild: &mut Rebuild<'_>, words: usize) -> ComputationId {
    let mut callee = Callee::new("sum", rebuild.span());
    let given: Vec<InstrId> = (0..2 * words).map(|_| callee.parameter(Shape::scalar(ElementType::U32))).collect();
    let (left, right) = given.split_at(words);
    let mut sums: Vec<InstrId> =
        left.iter().zip(right).map(|(left, right)| callee.binary(BinaryOp::Add, *left, *right)).collect();
    let root = if words == 1 { sums.remove(0) } else { callee.tuple(sums) };
    rebuild.shared_computation(callee.finish(root))
}

/// The region that gives the second of each pair of elements of these types.
pub(super) fn last(rebuild: &mut Rebuild<'_>, types: &[ElementType]) -> ComputationId {
    let mut callee = Callee::new("last", rebuild.span());
    let both = types.iter().chain(types);
    let parameters: Vec<InstrId> = both.map(|ty| callee.parameter(Shape::scalar(*ty))).collect();
    let given = &parameters[types.len()..];
    let root = if let [given] = given { *given } else { callee.tuple(given.to_vec()) };
    rebuild.shared_computation(callee.finish(root))
}

/// The elements of integers of 32 bits, each where its place in the line `[count]` of all of them is; no place is there twice. `last` is [that](last) of their types.
pub(super) fn scattered(
    build: &mut dyn Build,
    values: &[InstrId],
    places: InstrId,
    last: ComputationId,
) -> Vec<InstrId> {
    let count = build.array(places).extents[0];
    let places = build.reshaped(places, vec![count, 1]);
    let extents: Vec<Vec<i64>> = values.iter().map(|value| build.array(*value).extents.clone()).collect();
    let (mut operands, mut updates, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    for (number, value) in values.iter().enumerate() {
        let element_type = build.element_type(*value);
        // Not the same for two of them: each is written where it lies.
        let nothing = Scalar::from_bits(number as u128, element_type);
        operands.push(constant(build, nothing, vec![count]));
        updates.push(build.reshaped(*value, vec![count]));
        shapes.push(Shape::array(element_type, vec![count]));
    }
    let op = Op::Scatter {
        update_window_dims: Vec::new(),
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        input_batching_dims: Vec::new(),
        scatter_indices_batching_dims: Vec::new(),
        index_vector_dim: 1,
        indices_are_sorted: false,
        unique_indices: true,
        to_apply: last,
    };
    operands.push(places);
    operands.extend(updates);
    let lines = match &shapes[..] {
        [shape] => vec![build.add(shape.clone(), op, operands)],
        _ => {
            let all = build.add(Shape::Tuple(shapes), op, operands);
            (0..values.len()).map(|index| build.element(all, index)).collect()
        }
    };
    lines.into_iter().zip(extents).map(|(line, extents)| build.reshaped(line, extents)).collect()
}
