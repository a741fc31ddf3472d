//! Expansion of select-and-scatter into a reduction and what it has selected.

mod spread;

use super::build::{Build, Callee};
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::eval::converted;
use crate::ir::{
    ArenaId, ArrayShape, BinaryOp, ComparisonDirection, Computation, ComputationId, ElementType, InstrId, Instruction,
    Module, Op, Scalar, Shape, Span, UnaryOp, Window, WindowDimension,
};

/// Replaces `select-and-scatter` by two reductions: a `reduce-window` that finds which element each position of the window
/// selects, and a `reduce` that combines, for each element of the operand, the source's elements of those positions around it that
/// have selected it. Both combine in the order of the operation, so the result is the same bit for bit.
///
/// Where windows are without holes and at most 16 meet in an element, it is no `reduce` but elementwise, of slices of the positions, each
/// repeated as the strides say: what is read of either side by side is known then.
///
/// Arrays whose places `s32` cannot count stay as they are.
pub struct SelectAndScatter;

impl Pass for SelectAndScatter {
    fn name(&self) -> &'static str {
        "expand-select-and-scatter"
    }

    fn about(&self) -> &'static str {
        "writes select-and-scatter out as a reduction and what it has selected"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        Ok(rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
            Op::SelectAndScatter { window, select, scatter } => expand(rebuild, candidate, window, *select, *scatter),
            _ => None,
        }))
    }
}

fn expand(
    rebuild: &mut Rebuild<'_>,
    candidate: &Instruction,
    window: &Window,
    select: ComputationId,
    scatter: ComputationId,
) -> Option<Rule> {
    let [operand, source, initial] = candidate.operands[..] else { return None };
    let (base, positions) = (rebuild.array(operand).clone(), rebuild.array(source).clone());
    let is_counted = |array: &ArrayShape| {
        array.dynamic.is_empty() && array.element_count().is_some_and(|count| i32::try_from(count).is_ok())
    };
    let along: Vec<Along> = window
        .dimensions
        .iter()
        .zip(base.extents.iter().zip(&positions.extents))
        .map(|(window, (&base, &positions))| Along { window: *window, base, positions })
        .collect();
    let taps = window.dimensions.iter().try_fold(1i64, |product, window| product.checked_mul(window.size));
    let is_small = taps.is_some_and(|taps| i32::try_from(taps).is_ok());
    if !is_small || !is_counted(&base) || !is_counted(&positions) || !along.iter().all(Along::is_counted) {
        return None;
    }
    if base.extents.contains(&0) || positions.extents.contains(&0) {
        let value = rebuild.broadcast(initial, &[], base.extents);
        return Some(("select-and-scatter of no windows is the initial value", Rewrite::Value(value)));
    }
    let selected = selected(rebuild, operand, &positions, window, select)?;
    let reason = "select-and-scatter combines the source where a window has selected";
    if let Some(value) = spread::combined(rebuild, (source, selected, initial), &base, &along, scatter) {
        return Some((reason, Rewrite::Value(value)));
    }

    // Arrays of an element's indices, and then of those of the window where it is wide.
    let wide: Vec<i64> = along.iter().map(|along| along.window.size).filter(|size| *size > 1).collect();
    let extents = [&base.extents[..], &wide].concat();
    let (own, windows): (Vec<i64>, Vec<i64>) =
        (0..extents.len() as i64).partition(|dimension| *dimension < base.rank() as i64);
    let element = numbered(rebuild, &base.extents);
    let element = rebuild.broadcast(element, &own, extents.clone());
    let tap = numbered(rebuild, &wide);
    let tap = rebuild.broadcast(tap, &windows, extents.clone());
    let to_apply = rebuild.shared_computation(position(rebuild.span(), &along));
    let op = Op::Map { dimensions: (0..extents.len() as i64).collect(), to_apply };
    let number = rebuild.add(Shape::array(ElementType::S32, extents.clone()), op, vec![element, tap]);

    let values = gathered(rebuild, source, number);
    let chosen = gathered(rebuild, selected, number);
    let is_chosen = rebuild.compared(ComparisonDirection::Eq, chosen, element);
    let zero = rebuild.scalar(Scalar::S32(0));
    let zero = rebuild.broadcast(zero, &[], extents);
    let is_position = rebuild.compared(ComparisonDirection::Ge, number, zero);
    let hits = rebuild.binary(BinaryOp::And, is_chosen, is_position);

    let region = combine_hits(rebuild, base.element_type, scatter);
    let to_apply = rebuild.add_computation(region);
    let shape = [base.element_type, ElementType::Pred].map(|ty| Shape::array(ty, base.extents.clone()));
    let is_initial = rebuild.scalar(Scalar::Pred(true));
    let op = Op::Reduce { dimensions: windows, to_apply };
    let combined = rebuild.add(Shape::Tuple(shape.to_vec()), op, vec![values, hits, initial, is_initial]);
    let value = rebuild.element(combined, 0);
    Some((reason, Rewrite::Value(value)))
}

/// For each position of the window the row-major number of the element that is selected, -1 where it covers none.
fn selected(
    rebuild: &mut Rebuild<'_>,
    operand: InstrId,
    positions: &ArrayShape,
    window: &Window,
    select: ComputationId,
) -> Option<InstrId> {
    let base = rebuild.array(operand).clone();
    let numbers = numbered(rebuild, &base.extents);
    // Any value: nothing is compared with it.
    let zero = converted(&Scalar::Pred(false).into(), base.element_type)?.get(0)?;
    let [none, nowhere] = [zero, Scalar::S32(-1)].map(|scalar| rebuild.scalar(scalar));
    let region = preferred(rebuild, base.element_type, select);
    let to_apply = rebuild.add_computation(region);
    let shape = [base.element_type, ElementType::S32].map(|ty| Shape::array(ty, positions.extents.clone()));
    let op = Op::ReduceWindow { window: window.clone(), to_apply };
    let both = rebuild.add(Shape::Tuple(shape.to_vec()), op, vec![operand, numbers, none, nowhere]);
    Some(rebuild.element(both, 1))
}

/// Of two elements with their numbers the one that is selected; an element with the number -1 is none.
fn preferred(rebuild: &Rebuild<'_>, element_type: ElementType, select: ComputationId) -> Computation {
    let mut callee = Callee::new("select", rebuild.span());
    let [kept, kept_number, other, other_number] =
        [element_type, ElementType::S32, element_type, ElementType::S32].map(|ty| callee.parameter(Shape::scalar(ty)));
    let keeps = applied(&mut callee, &rebuild.computations()[select], &[kept, other]);
    let zero = callee.scalar(Scalar::S32(0));
    let is_kept = callee.compared(ComparisonDirection::Ge, kept_number, zero);
    let is_other = callee.compared(ComparisonDirection::Ge, other_number, zero);
    let keeps = callee.binary(BinaryOp::And, keeps, is_kept);
    let changes = callee.unary(UnaryOp::Not, keeps);
    let changes = callee.binary(BinaryOp::And, changes, is_other);
    let value = callee.selected(changes, other, kept);
    let number = callee.selected(changes, other_number, kept_number);
    let pair = callee.tuple(vec![value, number]);
    callee.finish(pair)
}

/// What is there and a further element of the source, each with whether it counts, as one.
fn combine_hits(rebuild: &Rebuild<'_>, element_type: ElementType, scatter: ComputationId) -> Computation {
    let mut callee = Callee::new("scatter", rebuild.span());
    let [there, is_there, source, is_hit] = [element_type, ElementType::Pred, element_type, ElementType::Pred]
        .map(|ty| callee.parameter(Shape::scalar(ty)));
    let combined = applied(&mut callee, &rebuild.computations()[scatter], &[source, there]);
    let changed = callee.selected(is_there, combined, source);
    let value = callee.selected(is_hit, changed, there);
    let counts = callee.binary(BinaryOp::Or, is_there, is_hit);
    let pair = callee.tuple(vec![value, counts]);
    callee.finish(pair)
}

/// What a computation makes of these values, its instructions written out.
fn applied(callee: &mut Callee, computation: &Computation, arguments: &[InstrId]) -> InstrId {
    let mut image: Vec<InstrId> = Vec::with_capacity(computation.instructions.len());
    for instruction in computation.instructions.values() {
        image.push(match instruction.op {
            Op::Parameter { number } => arguments[number as usize],
            _ => {
                let operands = instruction.operands.iter().map(|operand| image[operand.index()]).collect();
                callee.add(instruction.shape.clone(), instruction.op.clone(), operands)
            }
        });
    }
    image[computation.root.index()]
}

/// One dimension: element `e` lies at `e * base_dilation`, element `w` of the window in position `p` at
/// `p * stride - padding_low + w * window_dilation`.
struct Along {
    window: WindowDimension,
    base: i64,
    positions: i64,
}

impl Along {
    /// `p * stride` for the element and the window's element 0; each further one is a step less.
    fn first(&self) -> i128 {
        let WindowDimension { size, window_dilation, padding_low, .. } = self.window;
        i128::from(padding_low) - i128::from(size - 1) * i128::from(window_dilation)
    }

    /// Whether each position has the one element of its own index.
    fn is_still(&self) -> bool {
        let WindowDimension { size, stride, base_dilation, padding_low, .. } = self.window;
        (size, stride, base_dilation, padding_low, self.positions) == (1, 1, 1, 0, self.base)
    }

    /// Whether `s32` holds all that is computed of it.
    fn is_counted(&self) -> bool {
        let WindowDimension { size, stride, window_dilation, base_dilation, .. } = self.window;
        let reach = |count: i64, step: i64| i128::from(count) * i128::from(step);
        let fits = |value: i128| i32::try_from(value).is_ok();
        let most = self.first().abs() + reach(self.base, base_dilation) + reach(size, window_dilation);
        fits(most) && fits(reach(self.positions, stride)) && fits(stride.into())
    }
}

/// The computation from the row-major number of an element, and from that of an element of the window, to the number of the
/// position in which they meet, -1 where there is none. Windows are run through from their ends, so that positions are in order.
fn position(span: Span, along: &[Along]) -> Computation {
    let mut callee = Callee::new("position", span);
    let scalar = Shape::scalar(ElementType::S32);
    let [mut element, mut tap] = [(); 2].map(|()| callee.parameter(scalar.clone()));
    let zero = callee.scalar(Scalar::S32(0));
    let mut number = zero;
    let mut is_position = callee.scalar(Scalar::Pred(true));
    let mut stride_of_position = 1;
    for along in along.iter().rev() {
        let WindowDimension { size, stride, window_dilation, base_dilation, .. } = along.window;
        let mut index;
        (element, index) = divided(&mut callee, element, along.base);
        if !along.is_still() {
            index = times(&mut callee, index, base_dilation);
            if size > 1 {
                let own;
                (tap, own) = divided(&mut callee, tap, size);
                let offset = times(&mut callee, own, window_dilation);
                index = callee.binary(BinaryOp::Add, index, offset);
            }
            let [first, last] = [along.first() as i64, (along.positions - 1) * stride]
                .map(|value| callee.scalar(Scalar::S32(value as i32)));
            let place = callee.binary(BinaryOp::Add, index, first);
            let rest;
            (index, rest) = divided(&mut callee, place, stride);
            let tests = [
                (ComparisonDirection::Ge, place, zero),
                (ComparisonDirection::Le, place, last),
                (ComparisonDirection::Eq, rest, zero),
            ];
            for (direction, left, right) in &tests[..if stride > 1 { 3 } else { 2 }] {
                let holds = callee.compared(*direction, *left, *right);
                is_position = callee.binary(BinaryOp::And, is_position, holds);
            }
        }
        let part = times(&mut callee, index, stride_of_position);
        number = callee.binary(BinaryOp::Add, number, part);
        stride_of_position *= along.positions;
    }
    let none = callee.scalar(Scalar::S32(-1));
    let chosen = callee.selected(is_position, number, none);
    callee.finish(chosen)
}

/// The quotient and the remainder of a number, which are towards zero.
fn divided(callee: &mut Callee, number: InstrId, divisor: i64) -> (InstrId, InstrId) {
    if divisor == 1 {
        return (number, callee.scalar(Scalar::S32(0)));
    }
    let divisor = callee.scalar(Scalar::S32(divisor as i32));
    (callee.binary(BinaryOp::Divide, number, divisor), callee.binary(BinaryOp::Remainder, number, divisor))
}

fn times(callee: &mut Callee, number: InstrId, factor: i64) -> InstrId {
    if factor == 1 {
        return number;
    }
    let factor = callee.scalar(Scalar::S32(factor as i32));
    callee.binary(BinaryOp::Multiply, number, factor)
}

/// The row-major number of each element of an array of these extents.
fn numbered(rebuild: &mut Rebuild<'_>, extents: &[i64]) -> InstrId {
    let numbers = rebuild.iota(ElementType::S32, vec![extents.iter().product()], 0);
    rebuild.reshaped(numbers, extents.to_vec())
}

/// The elements of an array with these row-major numbers, clamped into it.
fn gathered(rebuild: &mut Rebuild<'_>, value: InstrId, numbers: InstrId) -> InstrId {
    let array = rebuild.array(value).clone();
    let flat = rebuild.reshaped(value, vec![array.extents.iter().product()]);
    rebuild.taken(flat, numbers)
}
