//! The best elements of lines: `ApproxTopK` and `PartialReduce`.

use super::comparator::Comparator;
use super::{COUNTED, Lines, in_order, radix, top_k, written};
use crate::ir::selection::Selection;
use crate::ir::{
    BinaryOp, ComparisonDirection, Computation, ComputationId, ElementType, InstrId, Instruction, Op, Scalar, Shape,
    UnaryOp,
};
use crate::passes::build::{Build, Callee};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};
use crate::passes::stable_order::{Rows, first};

pub(super) fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let selection = Selection::of_instruction(candidate)?.ok()?;
    let (inputs, initials) = candidate.operands.split_at(candidate.operands.len() / 2);
    let is_static = |id: &InstrId| rebuild.get(*id).shape.is_static();
    if !candidate.shape.is_static() || !inputs.iter().all(is_static) {
        return None;
    }
    let lines = Lines::new(rebuild.array(inputs[0]).extents.clone(), selection.dimension)?;
    let places = candidate.shape.leaves().first()?.as_array()?.extents[selection.dimension];
    let results = lines.with_length(places)?;
    let computation = rebuild.computations()[selection.comparator].clone();
    let comparator = Comparator::of(&computation)?;
    let inputs: Vec<InstrId> = inputs.iter().map(|input| lines.taken_apart(rebuild, *input)).collect();
    let (rule, selected) = if selection.is_ordered {
        ordered(rebuild, lines.rows, selection.comparator, comparator, inputs, places)
    } else {
        classes(rebuild, lines.rows, &computation, &inputs, initials, places)
    };
    let mut selected: Vec<InstrId> = selected.into_iter().map(|rows| results.put_together(rebuild, rows)).collect();
    Some(match candidate.shape {
        Shape::Tuple(_) => (rule, Rewrite::Value(rebuild.add(candidate.shape.clone(), Op::Tuple, selected))),
        _ => (rule, Rewrite::Value(selected.remove(0))),
    })
}

/// The first `places` elements of each row in the order of a comparator.
fn ordered(
    rebuild: &mut Rebuild<'_>,
    rows: Rows,
    to_apply: ComputationId,
    comparator: Comparator,
    mut inputs: Vec<InstrId>,
    places: i64,
) -> (&'static str, Vec<InstrId>) {
    let computation = &rebuild.computations()[to_apply].clone();
    if let Comparator::Keys { keys, is_reversed: false } = &comparator
        && rows.length > COUNTED
        && rows.count > 0
        && places <= top_k::ROUNDS
        && let [word] = radix::words(rebuild, computation, keys, rows, &inputs)[..]
    {
        let found = top_k::rounds(rebuild, rows, word, places);
        inputs.iter_mut().for_each(|input| *input = top_k::of_rows(rebuild, rows, *input, found, places));
        return ("the best few are found one after the other", inputs);
    }
    let (_, sorted) = in_order(rebuild, rows, to_apply, comparator, inputs);
    let sorted = sorted.into_iter().map(|row| first(rebuild, row, vec![rows.count, places])).collect();
    ("the best are the beginning of a sort", sorted)
}

/// The best elements of `places` classes of each row: of those whose places leave the same remainder.
fn classes(
    rebuild: &mut Rebuild<'_>,
    rows: Rows,
    computation: &Computation,
    inputs: &[InstrId],
    initials: &[InstrId],
    places: i64,
) -> (&'static str, Vec<InstrId>) {
    let result = vec![rows.count, places];
    if rows.length == 0 || places == 0 {
        let initials = initials.iter().map(|initial| rebuild.broadcast(*initial, &[], result.clone())).collect();
        return ("the best of nothing is what it begins with", initials);
    }
    let size = (rows.length + places - 1) / places;
    let place = rows.numbers(rebuild, 1);
    let nowhere = rebuild.scalar(NOWHERE);
    let values = inputs.iter().chain([&place]).zip(initials.iter().chain([&nowhere]));
    let values: Vec<(InstrId, InstrId)> = values.map(|(value, initial)| (*value, *initial)).collect();
    let behind = size * places - rows.length;
    let padded = values.iter().map(|(value, initial)| match behind {
        0 => *value,
        _ => {
            let padding = rebuild.broadcast(*initial, &[], vec![rows.count, behind]);
            rebuild.concatenated(vec![*value, padding], 1)
        }
    });
    let padded: Vec<InstrId> = padded.collect();
    if size == 1 {
        return ("the best of one element is that", padded[..inputs.len()].to_vec());
    }
    let mut operands: Vec<InstrId> =
        padded.iter().map(|value| rebuild.reshaped(*value, vec![rows.count, size, places])).collect();
    let shapes: Vec<Shape> =
        operands.iter().map(|value| Shape::array(rebuild.element_type(*value), result.clone())).collect();
    operands.extend(values.iter().map(|(_, initial)| *initial));
    let to_apply = better(rebuild, computation, inputs);
    let op = Op::Reduce { dimensions: vec![1], to_apply };
    let best = rebuild.add(Shape::Tuple(shapes), op, operands);
    let best = (0..inputs.len()).map(|number| rebuild.element(best, number)).collect();
    ("the best of each class is a reduction", best)
}

/// The place of what is no element.
const NOWHERE: Scalar = Scalar::S32(i32::MAX);

/// Of two elements with their places the better, and of equal ones the first, in whichever order they are combined.
fn better(rebuild: &mut Rebuild<'_>, computation: &Computation, inputs: &[InstrId]) -> ComputationId {
    let types: Vec<ElementType> = inputs.iter().map(|input| rebuild.element_type(*input)).collect();
    let mut callee = Callee::new("better", rebuild.span());
    let mut element = || -> (Vec<InstrId>, InstrId) {
        let values = types.iter().map(|ty| callee.parameter(Shape::scalar(*ty))).collect();
        (values, callee.parameter(Shape::scalar(ElementType::S32)))
    };
    let ((found, place), (next, next_place)) = (element(), element());
    let mut is_before = |left: &[InstrId], right: &[InstrId]| {
        let side = |number: usize| if number.is_multiple_of(2) { left[number / 2] } else { right[number / 2] };
        written::written(&mut callee, computation, computation.root, &[], &side)
    };
    let (is_before, is_behind) = (is_before(&next, &found), is_before(&found, &next));
    let is_first = callee.compared(ComparisonDirection::Lt, next_place, place);
    let is_alike = callee.compared(ComparisonDirection::Eq, is_before, is_behind);
    let is_first = callee.binary(BinaryOp::And, is_alike, is_first);
    let is_not_behind = callee.unary(UnaryOp::Not, is_behind);
    let is_better = callee.binary(BinaryOp::And, is_before, is_not_behind);
    let is_better = callee.binary(BinaryOp::Or, is_better, is_first);
    let nowhere = callee.scalar(NOWHERE);
    let is_nothing = callee.compared(ComparisonDirection::Eq, place, nowhere);
    let is_better = callee.binary(BinaryOp::Or, is_nothing, is_better);
    let is_there = callee.compared(ComparisonDirection::Ne, next_place, nowhere);
    let is_better = callee.binary(BinaryOp::And, is_there, is_better);
    let pairs = next.iter().chain([&next_place]).zip(found.iter().chain([&place]));
    let best = pairs.map(|(next, found)| callee.selected(is_better, *next, *found)).collect();
    let best = callee.tuple(best);
    rebuild.shared_computation(callee.finish(best))
}
