//! `ragged-dot` as a loop over groups.

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
    let [first, last] = intervals(rebuild, sizes, lhs.extents[cut as usize]);
    let operands = [left, right, first, last, start];
    let looped = counted(rebuild, *groups, operands, |round, [left, right, first, last, sums]| {
        let at = [round.zero, round.number];
        let body = &mut round.body;
        let group = Group::new(body, [first, last], at);
        let made = match ragged.group {
            None => ragged.summed(body, [left, right, sums], &group, at),
            Some(dimension) => ragged.rows(body, [left, right, sums], (&group, dimension), at),
        };
        [left, right, first, last, made]
    });
    let value = rebuild.converted(looped[4], result.element_type);
    Some(("ragged-dot is a dot for each group", Rewrite::Value(value)))
}

impl Ragged<'_> {
    /// The results with those of a group put in place: of both operands elements of other groups count as 0.
    fn summed(
        &self,
        body: &mut Callee,
        [left, right, sums]: [InstrId; 3],
        group: &Group,
        [zero, number]: [InstrId; 2],
    ) -> InstrId {
        let Numbers { lhs_batch, lhs_summed, rhs_batch, rhs_summed, .. } = &self.numbers;
        let of_right = |dimension: &i64| {
            let pairs = lhs_batch.iter().zip(rhs_batch).chain(lhs_summed.iter().zip(rhs_summed));
            pairs.into_iter().find(|(left, _)| *left == dimension).map_or(0, |(_, right)| *right)
        };
        let of_prefix: Vec<i64> = self.prefix.iter().map(of_right).collect();
        let left = group.masked(body, left, &self.prefix, self.cut, self.lhs);
        let right = group.masked(body, right, &of_prefix, of_right(&self.cut), self.rhs);
        let shape = Shape::array(self.accumulated, &self.result.extents[1..]);
        let product = body.add(shape, self.numbers.clone().op(), vec![left, right]);
        let product = body.reshaped(product, [&[1], &self.result.extents[1..]].concat());
        let mut at = vec![zero; self.result.rank()];
        at[0] = number;
        body.updated(sums, product, &at)
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
        let of_left: Vec<i64> = [&numbers.lhs_batch[..], &numbers.lhs_free(self.lhs.rank())].concat();
        let place = |dimension: &i64| of_left.iter().position(|at| at == dimension).unwrap_or(0) as i64;
        let of_prefix: Vec<i64> = self.prefix.iter().map(place).collect();
        let is_in = group.holds(body, &of_prefix, place(&self.cut), &self.result.extents);
        let add = if self.accumulated == ElementType::Pred { BinaryOp::Or } else { BinaryOp::Add };
        let added = body.binary(add, sums, product);
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
    fn masked(&self, body: &mut Callee, value: InstrId, of_prefix: &[i64], along: i64, shape: &ArrayShape) -> InstrId {
        let is_in = self.holds(body, of_prefix, along, &shape.extents);
        let zero = converted(&Scalar::Pred(false).into(), shape.element_type).and_then(|zero| zero.get(0));
        let Some(zero) = zero else { return value };
        let zero = body.scalar(zero);
        let zeros = body.broadcast(zero, &[], shape.extents.clone());
        body.selected(is_in, value, zeros)
    }
}

/// Where groups of these sizes along the last dimension begin and end, cut off at 0 and at an extent. Sums of all sizes but of `u64` above
/// half its range are those that they are.
fn intervals(rebuild: &mut Rebuild<'_>, sizes: InstrId, extent: i64) -> [InstrId; 2] {
    let sizes = rebuild.converted(sizes, ElementType::S64);
    let extents = rebuild.array(sizes).extents.clone();
    let mut dimensions = vec![WindowDimension { size: 1, ..WindowDimension::default() }; extents.len()];
    if let (Some(last), Some(count)) = (dimensions.last_mut(), extents.last()) {
        *last = WindowDimension { size: *count, padding_low: count - 1, ..WindowDimension::default() };
    }
    let mut callee = Callee::new("sum", rebuild.span());
    let [left, right] = [(); 2].map(|()| callee.parameter(Shape::scalar(ElementType::S64)));
    let both = callee.binary(BinaryOp::Add, left, right);
    let to_apply = rebuild.shared_computation(callee.finish(both));
    let zero = rebuild.scalar(Scalar::S64(0));
    let op = Op::ReduceWindow { window: Window { dimensions }, to_apply };
    let last = rebuild.add(Shape::array(ElementType::S64, extents.clone()), op, vec![sizes, zero]);
    let first = rebuild.binary(BinaryOp::Subtract, last, sizes);
    let most = rebuild.scalar(Scalar::S64(extent));
    let [zero, most] = [zero, most].map(|bound| rebuild.broadcast(bound, &[], extents.clone()));
    [first, last].map(|ends| {
        let ends = rebuild.binary(BinaryOp::Maximum, ends, zero);
        let ends = rebuild.binary(BinaryOp::Minimum, ends, most);
        rebuild.converted(ends, ElementType::S32)
    })
}
