//! `ragged-dot` as dots of tiles, or of groups.

use super::slots::{Slots, tile_of};
use crate::eval::converted;
use crate::ir::{
    ArrayShape, BinaryOp, ComparisonDirection, ElementType, InstrId, Instruction, Op, Precision, Scalar, Shape, Window,
    WindowDimension,
};
use crate::passes::build::{Build, Callee};
use crate::passes::counted::counted;
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

/// The dimension numbers of a dot.
#[derive(Clone)]
struct Numbers {
    lhs_batch: Vec<i64>,
    lhs_summed: Vec<i64>,
    rhs_batch: Vec<i64>,
    rhs_summed: Vec<i64>,
    precision: Vec<Precision>,
}

impl Numbers {
    fn of(op: &Op) -> Option<Self> {
        let Op::RaggedDot {
            lhs_batch_dims: lhs_batch,
            lhs_contracting_dims: lhs_summed,
            rhs_batch_dims: rhs_batch,
            rhs_contracting_dims: rhs_summed,
            operand_precision: precision,
            ..
        } = op.clone()
        else {
            return None;
        };
        Some(Numbers { lhs_batch, lhs_summed, rhs_batch, rhs_summed, precision })
    }

    fn op(self) -> Op {
        Op::Dot {
            lhs_batch_dims: self.lhs_batch,
            lhs_contracting_dims: self.lhs_summed,
            rhs_batch_dims: self.rhs_batch,
            rhs_contracting_dims: self.rhs_summed,
            operand_precision: self.precision,
            algorithm: None,
        }
    }

    /// The dimensions of the left operand that the result has besides batch dimensions.
    fn lhs_free(&self, rank: usize) -> Vec<i64> {
        (0..rank as i64).filter(|at| !self.lhs_batch.contains(at) && !self.lhs_summed.contains(at)).collect()
    }
}

/// A dot with one dimension of the left operand cut into groups.
struct Ragged<'c> {
    numbers: Numbers,
    /// The dimension of the left operand that is cut.
    cut: i64,
    /// The dimension of the right operand that has an entry for each group, where a free dimension is cut.
    group: Option<i64>,
    /// The dimensions of the left operand for whose indices groups have sizes of their own.
    prefix: Vec<i64>,
    lhs: &'c ArrayShape,
    rhs: &'c ArrayShape,
    result: &'c ArrayShape,
    /// The type that products are added in.
    accumulated: ElementType,
}

pub(super) fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let Op::RaggedDot { lhs_ragged_dims, rhs_group_dims, .. } = &candidate.op else { return None };
    let numbers = Numbers::of(&candidate.op)?;
    let ([left, right, sizes], &[cut]) =
        (<[InstrId; 3]>::try_from(&candidate.operands[..]).ok()?, &lhs_ragged_dims[..])
    else {
        return None;
    };
    if numbers.lhs_batch.contains(&cut) {
        return Some(("groups of a batch dimension change nothing", Rewrite::Op(numbers.op(), vec![left, right])));
    }
    let result = candidate.shape.as_array().filter(|shape| shape.dynamic.is_empty())?;
    let (lhs, rhs, given) = (rebuild.array(left).clone(), rebuild.array(right).clone(), rebuild.array(sizes).clone());
    let accumulated = match result.element_type {
        narrow if narrow.is_float() && narrow.bits() < 32 => ElementType::F32,
        other => other,
    };
    let zero = converted(&Scalar::Pred(false).into(), accumulated)?.get(0)?;
    let zero = rebuild.scalar(zero);
    let start = rebuild.broadcast(zero, &[], result.extents.clone());
    if [&lhs, &rhs, result, &given].iter().any(|shape| shape.extents.contains(&0)) {
        let value = rebuild.converted(start, result.element_type);
        return Some(("the sum of no products is zero", Rewrite::Value(value)));
    }
    let is_summed = numbers.lhs_summed.contains(&cut);
    let outside = if is_summed { numbers.lhs_summed.clone() } else { numbers.lhs_free(lhs.rank()) };
    let before = outside.iter().take_while(|dimension| **dimension != cut);
    let prefix: Vec<i64> = numbers.lhs_batch.iter().chain(before).copied().collect();
    let prefix = if given.rank() == 1 { Vec::new() } else { prefix };
    let (groups, own) = given.extents.split_last()?;
    let is_known = prefix.iter().map(|dimension| lhs.extents[*dimension as usize]).eq(own.iter().copied());
    if !is_known || lhs.extents.iter().chain(&rhs.extents).any(|extent| i32::try_from(*extent).is_err()) {
        return None;
    }
    let group = if is_summed { None } else { Some(*rhs_group_dims.first()?) };
    let ragged = Ragged { numbers, cut, group, prefix, lhs: &lhs, rhs: &rhs, result, accumulated };
    let extent = lhs.extents[cut as usize];
    let ends = intervals(rebuild, sizes, extent);
    let made = match ragged.group {
        None => ragged.of_sums(rebuild, [left, right, start], ends, (extent, *groups)),
        Some(dimension) if ragged.prefix.is_empty() => {
            ragged.of_tiles(rebuild, [left, right, start], ends, (extent, *groups, dimension))
        }
        Some(dimension) => ragged.of_groups(rebuild, [left, right, start], ends, (*groups, dimension)),
    };
    let value = rebuild.converted(made, result.element_type);
    Some(("ragged-dot is dots of its groups", Rewrite::Value(value)))
}

/// Rows of a tile, and products of one, at least and at most.
const ROWS: [i64; 2] = [32, 128];
const PRODUCTS: [i64; 2] = [64, 4096];

impl Ragged<'_> {
    /// Results for each group, where products are cut: one dot for each slot.
    fn of_sums(
        &self,
        rebuild: &mut Rebuild<'_>,
        [left, right, start]: [InstrId; 3],
        [first, last]: [InstrId; 2],
        (extent, groups): (i64, i64),
    ) -> InstrId {
        if !self.prefix.is_empty() {
            let looped = counted(rebuild, groups, [left, right, first, last, start], |round, given| {
                let [left, right, first, last, sums] = given;
                let group = Group::new(&mut round.body, [first, last], [round.zero, round.number]);
                let added = self.summed(&mut round.body, [left, right, sums], &group, [round.zero, round.number]);
                [left, right, first, last, added]
            });
            return looped[4];
        }
        let slots = Slots::new(rebuild, first, extent, tile_of(extent, groups, PRODUCTS));
        let (lines, count) = ([first, last, slots.groups, slots.begins], slots.count);
        let operands = [left, right, lines[0], lines[1], lines[2], lines[3], start];
        let looped = counted(rebuild, count, operands, |round, given| {
            let [left, right, first, last, groups, begins, sums] = given;
            let (zero, body) = (round.zero, &mut round.body);
            let at = |body: &mut Callee, line: InstrId, place: InstrId| {
                let one = body.window(line, &[place], &[1]);
                body.reshaped(one, Vec::new())
            };
            let [group, begin] = [groups, begins].map(|line| at(body, line, round.number));
            let [first, last] = [first, last].map(|line| at(body, line, group));
            // Indices of the tile before are not of this one.
            let first = body.binary(BinaryOp::Maximum, first, begin);
            let start = slots.starts(body, begin);
            let ends = Group([first, last].map(|end| body.binary(BinaryOp::Subtract, end, start)));
            let [of_left, of_right] = [(left, self.cut, self.lhs), (right, self.of_right(self.cut), self.rhs)].map(
                |(value, dimension, shape)| {
                    let (mut extents, mut at) = (shape.extents.clone(), vec![zero; shape.rank()]);
                    (extents[dimension as usize], at[dimension as usize]) = (slots.tile, start);
                    body.window(value, &at, &extents)
                },
            );
            let added = self.summed(body, [of_left, of_right, sums], &ends, [zero, group]);
            [left, right, given[2], given[3], groups, begins, added]
        });
        looped[6]
    }

    /// Results where rows are cut: a batch of dots, one for each slot, of which each row takes its own.
    fn of_tiles(
        &self,
        rebuild: &mut Rebuild<'_>,
        [left, right, zeros]: [InstrId; 3],
        [first, last]: [InstrId; 2],
        (extent, groups, dimension): (i64, i64, i64),
    ) -> InstrId {
        let slots = Slots::new(rebuild, first, extent, tile_of(extent, 2 * groups, ROWS));
        let starts = slots.starts(rebuild, slots.begins);
        let mut rows = self.lhs.extents.clone();
        rows[self.cut as usize] = slots.tile;
        let left = boxes(rebuild, left, starts, (&[self.cut], &[]), &rows, 0);
        let mut entry = self.rhs.extents.clone();
        entry[dimension as usize] = 1;
        let right = boxes(rebuild, right, slots.groups, (&[dimension], &[dimension]), &entry, 0);
        let behind = |all: &[i64]| all.iter().map(|at| at + 1).collect::<Vec<i64>>();
        let own = |all: &[i64]| all.iter().map(|at| at + 1 - i64::from(*at > dimension)).collect::<Vec<i64>>();
        let numbers = &self.numbers;
        let of_slots = Numbers {
            lhs_batch: [&[0], &behind(&numbers.lhs_batch)[..]].concat(),
            lhs_summed: behind(&numbers.lhs_summed),
            rhs_batch: [&[0], &own(&numbers.rhs_batch)[..]].concat(),
            rhs_summed: own(&numbers.rhs_summed),
            precision: numbers.precision.clone(),
        };
        let place = self.place(self.cut);
        let mut extents = [&[slots.count], &self.result.extents[..]].concat();
        extents[place as usize + 1] = slots.tile;
        let products = rebuild.add(Shape::array(self.accumulated, extents.clone()), of_slots.op(), vec![left, right]);
        let cut = [0, place + 1];
        cut.iter().for_each(|dimension| extents[*dimension as usize] = 1);
        let places = slots.places(rebuild, first);
        let own = boxes(rebuild, products, places, (&cut, &cut), &extents, place);
        let count = self.lhs.extents[self.cut as usize];
        let line = rebuild.iota(ElementType::S32, vec![count], 0);
        let number = rebuild.scalar(Scalar::S32(i32::try_from(groups - 1).unwrap_or(i32::MAX)));
        let end = rebuild.window(last, &[number], &[1]);
        let end = rebuild.reshaped(end, Vec::new());
        let end = rebuild.broadcast(end, &[], vec![count]);
        let is_in = rebuild.compared(ComparisonDirection::Lt, line, end);
        let is_in = rebuild.broadcast(is_in, &[place], self.result.extents.clone());
        rebuild.selected(is_in, own, zeros)
    }

    /// Results where rows are cut, by ends of groups that differ: one dot of all rows for each group.
    fn of_groups(
        &self,
        rebuild: &mut Rebuild<'_>,
        [left, right, start]: [InstrId; 3],
        [first, last]: [InstrId; 2],
        (groups, dimension): (i64, i64),
    ) -> InstrId {
        let looped = counted(rebuild, groups, [left, right, first, last, start], |round, given| {
            let [left, right, first, last, sums] = given;
            let (at, body) = ([round.zero, round.number], &mut round.body);
            let group = Group::new(body, [first, last], at);
            let added = self.rows(body, [left, right, sums], (&group, dimension), at);
            [left, right, first, last, added]
        });
        looped[4]
    }

    /// The dimension of the right operand that a batch or contracting one of the left operand is.
    fn of_right(&self, dimension: i64) -> i64 {
        let Numbers { lhs_batch, lhs_summed, rhs_batch, rhs_summed, .. } = &self.numbers;
        let mut pairs = lhs_batch.iter().zip(rhs_batch).chain(lhs_summed.iter().zip(rhs_summed));
        pairs.find(|(left, _)| **left == dimension).map_or(0, |(_, right)| *right)
    }

    /// The place in the result of a batch or free dimension of the left operand.
    fn place(&self, dimension: i64) -> i64 {
        let mut all = self.numbers.lhs_batch.iter().copied().chain(self.numbers.lhs_free(self.lhs.rank()));
        all.position(|at| at == dimension).unwrap_or(0) as i64
    }

    /// The results with the sums of a group added to those of its number: of both operands elements of other groups count as 0.
    fn summed(
        &self,
        body: &mut Callee,
        [left, right, sums]: [InstrId; 3],
        group: &Group,
        [zero, number]: [InstrId; 2],
    ) -> InstrId {
        let of_prefix: Vec<i64> = self.prefix.iter().map(|dimension| self.of_right(*dimension)).collect();
        let left = group.masked(body, left, &self.prefix, self.cut);
        let right = group.masked(body, right, &of_prefix, self.of_right(self.cut));
        let shape = Shape::array(self.accumulated, &self.result.extents[1..]);
        let product = body.add(shape, self.numbers.clone().op(), vec![left, right]);
        let extents = [&[1], &self.result.extents[1..]].concat();
        let product = body.reshaped(product, extents.clone());
        let mut at = vec![zero; self.result.rank()];
        at[0] = number;
        let before = body.window(sums, &at, &extents);
        let both = body.binary(self.add(), before, product);
        body.updated(sums, both, &at)
    }

    /// What adds sums.
    fn add(&self) -> BinaryOp {
        if self.accumulated == ElementType::Pred { BinaryOp::Or } else { BinaryOp::Add }
    }

    /// The results with those of the rows of a group added, by the entry of the right operand for it.
    fn rows(
        &self,
        body: &mut Callee,
        [left, right, sums]: [InstrId; 3],
        (group, dimension): (&Group, i64),
        [zero, number]: [InstrId; 2],
    ) -> InstrId {
        let (numbers, at_group) = (&self.numbers, dimension as usize);
        let mut extents = self.rhs.extents.clone();
        extents[at_group] = 1;
        let mut at = vec![zero; self.rhs.rank()];
        at[at_group] = number;
        let entry = body.window(right, &at, &extents);
        extents.remove(at_group);
        let entry = body.reshaped(entry, extents);
        let less = |from: &[i64]| from.iter().map(|at| at - i64::from(*at > dimension)).collect();
        let own =
            Numbers { rhs_batch: less(&numbers.rhs_batch), rhs_summed: less(&numbers.rhs_summed), ..numbers.clone() };
        let shape = Shape::array(self.accumulated, self.result.extents.clone());
        let product = body.add(shape, own.op(), vec![left, entry]);
        let of_prefix: Vec<i64> = self.prefix.iter().map(|dimension| self.place(*dimension)).collect();
        let is_in = group.holds(body, &of_prefix, self.place(self.cut), &self.result.extents);
        let added = body.binary(self.add(), sums, product);
        body.selected(is_in, added, sums)
    }
}

/// Where a group begins and ends, for each index of the dimensions that it has sizes of its own for.
struct Group([InstrId; 2]);

impl Group {
    /// The group of a number, of the ends of all.
    fn new(body: &mut Callee, ends: [InstrId; 2], [zero, number]: [InstrId; 2]) -> Self {
        Group(ends.map(|ends| {
            let mut extents = body.array(ends).extents.clone();
            let mut at = vec![zero; extents.len()];
            if let (Some(at), Some(extent)) = (at.last_mut(), extents.last_mut()) {
                (*at, *extent) = (number, 1);
            }
            let own = body.window(ends, &at, &extents);
            extents.pop();
            body.reshaped(own, extents)
        }))
    }

    /// Where the index along a dimension of an array belongs to it; `of_prefix` are the dimensions that it has ends of its own for.
    fn holds(&self, body: &mut Callee, of_prefix: &[i64], along: i64, extents: &[i64]) -> InstrId {
        let mut order: Vec<i64> = (0..of_prefix.len() as i64).collect();
        order.sort_by_key(|place| of_prefix[*place as usize]);
        let dimensions: Vec<i64> = order.iter().map(|place| of_prefix[*place as usize]).collect();
        let index = body.iota(ElementType::S32, extents.to_vec(), along);
        let [first, last] = self.0.map(|ends| {
            let ends = body.transposed(ends, &order);
            body.broadcast(ends, &dimensions, extents.to_vec())
        });
        let is_begun = body.compared(ComparisonDirection::Ge, index, first);
        let is_open = body.compared(ComparisonDirection::Lt, index, last);
        body.binary(BinaryOp::And, is_begun, is_open)
    }

    /// An array with 0 for what does not belong to it.
    fn masked(&self, body: &mut Callee, value: InstrId, of_prefix: &[i64], along: i64) -> InstrId {
        let shape = body.array(value).clone();
        let is_in = self.holds(body, of_prefix, along, &shape.extents);
        let zero = converted(&Scalar::Pred(false).into(), shape.element_type).and_then(|zero| zero.get(0));
        let Some(zero) = zero else { return value };
        let zero = body.scalar(zero);
        let zeros = body.broadcast(zero, &[], shape.extents);
        body.selected(is_in, value, zeros)
    }
}

/// Boxes of an array of these extents, each at an index along one dimension, or at indices along several, which are the last of
/// the places' dimensions then: one for each place, without dimensions that are told, and the number of the place for another.
fn boxes(
    rebuild: &mut Rebuild<'_>,
    value: InstrId,
    places: InstrId,
    (along, without): (&[i64], &[i64]),
    extents: &[i64],
    number: i64,
) -> InstrId {
    let count = rebuild.array(places).extents[0];
    let mut shape: Vec<i64> =
        (0i64..).zip(extents).filter(|(at, _)| !without.contains(at)).map(|(_, extent)| *extent).collect();
    let offset_dims = (0..=shape.len() as i64).filter(|at| *at != number).collect();
    shape.insert(number as usize, count);
    let op = Op::Gather {
        offset_dims,
        collapsed_slice_dims: without.to_vec(),
        start_index_map: along.to_vec(),
        operand_batching_dims: Vec::new(),
        start_indices_batching_dims: Vec::new(),
        index_vector_dim: 1,
        slice_sizes: extents.to_vec(),
        indices_are_sorted: true,
    };
    rebuild.add(Shape::array(rebuild.element_type(value), shape), op, vec![value, places])
}

/// Where groups of these sizes along the last dimension begin and end, cut off at an extent; a size below 0 counts as 0, and one above half the range of `u64` as well.
fn intervals(rebuild: &mut Rebuild<'_>, sizes: InstrId, extent: i64) -> [InstrId; 2] {
    let extents = rebuild.array(sizes).extents.clone();
    let count = extents.last().copied().unwrap_or(0);
    // Sums of sizes that are no more than the extent.
    let (ty, [zero, most]) = match i32::try_from(extent.saturating_mul(count)) {
        Ok(_) => (ElementType::S32, [0, extent as i32].map(Scalar::S32)),
        Err(_) => (ElementType::S64, [0, extent].map(Scalar::S64)),
    };
    let bound = |rebuild: &mut Rebuild<'_>, bound: Scalar| {
        let bound = rebuild.scalar(bound);
        rebuild.broadcast(bound, &[], extents.clone())
    };
    let sizes = rebuild.converted(sizes, ElementType::S64);
    let [none, all] = [0, extent].map(|size| bound(rebuild, Scalar::S64(size)));
    let sizes = rebuild.binary(BinaryOp::Maximum, sizes, none);
    let sizes = rebuild.binary(BinaryOp::Minimum, sizes, all);
    let sizes = rebuild.converted(sizes, ty);
    let mut dimensions = vec![WindowDimension { size: 1, ..WindowDimension::default() }; extents.len()];
    if let Some(last) = dimensions.last_mut() {
        *last = WindowDimension { size: count, padding_low: count - 1, ..WindowDimension::default() };
    }
    let mut callee = Callee::new("sum", rebuild.span());
    let [left, right] = [(); 2].map(|()| callee.parameter(Shape::scalar(ty)));
    let both = callee.binary(BinaryOp::Add, left, right);
    let to_apply = rebuild.shared_computation(callee.finish(both));
    let zero = rebuild.scalar(zero);
    let op = Op::ReduceWindow { window: Window { dimensions }, to_apply };
    let last = rebuild.add(Shape::array(ty, extents.clone()), op, vec![sizes, zero]);
    let first = rebuild.binary(BinaryOp::Subtract, last, sizes);
    let most = bound(rebuild, most);
    [first, last].map(|ends| {
        let ends = rebuild.binary(BinaryOp::Minimum, ends, most);
        rebuild.converted(ends, ElementType::S32)
    })
}
