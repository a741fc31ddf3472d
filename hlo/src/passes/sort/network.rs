//! Sorts by any comparator: a bitonic network.

use super::comparator::operands_read;
use super::compared;
use crate::ir::{
    BinaryOp, ComparisonDirection, Computation, ElementType, InstrId, Literal, Op, Scalar, Shape, UnaryOp,
};
use crate::passes::build::Build;
use crate::passes::counted::{Round, counted_all};
use crate::passes::rebuild::Rebuild;
use crate::passes::stable_order::{Rows, constant};

/// The places of elements in the order that scalar code tells, `s32`.
///
/// In stage after stage each element is compared with one other, the lesser of both goes to the lower place, and of equals that which stood lower at the beginning. Stages merge runs of 1, 2, 4, …
/// elements: first each place with its mirror image, then with those half, a quarter, … of a run away. All exchanges go one way, so whatever would fill rows up to a power of
/// two would stay where it is, and is left out. A loop makes the stages.
pub(super) fn places(
    rebuild: &mut Rebuild<'_>,
    rows: Rows,
    computation: &Computation,
    operands: &[InstrId],
) -> InstrId {
    let read = operands_read(computation, &[computation.root]);
    let mut values: Vec<InstrId> =
        operands.iter().zip(&read).filter(|(_, read)| **read).map(|(operand, _)| *operand).collect();
    values.push(rows.numbers(rebuild, 1));
    let masks = masks(rows.length);
    let sorted = counted_all(rebuild, masks.len() as i64, values, |round, values| {
        let mask = mask(round, &masks);
        stage(&mut round.body, rows, computation, &read, mask, &values)
    });
    sorted[sorted.len() - 1]
}

/// What the places of two elements that are compared differ in, stage by stage.
fn masks(length: i64) -> Vec<i32> {
    let mut masks = Vec::new();
    let mut run = 2;
    while run < 2 * length {
        masks.push((run - 1) as i32);
        let mut apart = run / 4;
        while apart > 0 {
            masks.push(apart as i32);
            apart /= 2;
        }
        run *= 2;
    }
    masks
}

/// That of a round.
fn mask(round: &mut Round, masks: &[i32]) -> InstrId {
    let literal = Literal::array([masks.len() as i64], masks.to_vec());
    let shape = Shape::array(ElementType::S32, vec![masks.len() as i64]);
    let all = round.body.add(shape, Op::Constant(literal), Vec::new());
    let own = round.body.window(all, &[round.number], &[1]);
    round.body.reshaped(own, Vec::new())
}

fn stage(
    build: &mut dyn Build,
    rows: Rows,
    computation: &Computation,
    read: &[bool],
    mask: InstrId,
    values: &[InstrId],
) -> Vec<InstrId> {
    let extents = rows.extents();
    let place = rows.numbers(build, 1);
    let mask = build.broadcast(mask, &[], extents.clone());
    let partner = build.binary(BinaryOp::Xor, place, mask);
    let length = constant(build, Scalar::S32(rows.length as i32), extents.clone());
    let is_there = build.compared(ComparisonDirection::Lt, partner, length);
    let partner = build.selected(is_there, partner, place);
    let is_lower = build.compared(ComparisonDirection::Lt, place, partner);
    let others: Vec<InstrId> = values.iter().map(|value| rows.taken(build, *value, partner)).collect();
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for (own, other) in values.iter().zip(&others) {
        lower.push(build.selected(is_lower, *own, *other));
        upper.push(build.selected(is_lower, *other, *own));
    }
    let of_operands = |side: &[InstrId]| -> Vec<Option<InstrId>> {
        let mut values = side.iter().copied();
        read.iter().map(|read| if *read { values.next() } else { None }).collect()
    };
    let (first, second) = (of_operands(&lower), of_operands(&upper));
    let changes = compared(build, computation, &extents, &second, &first);
    let stays = compared(build, computation, &extents, &first, &second);
    let is_open = build.unary(UnaryOp::Not, stays);
    let last = values.len() - 1;
    let stood_lower = build.compared(ComparisonDirection::Lt, upper[last], lower[last]);
    let of_equals = build.binary(BinaryOp::And, is_open, stood_lower);
    let changes = build.binary(BinaryOp::Or, changes, of_equals);
    values.iter().zip(&others).map(|(own, other)| build.selected(changes, *other, *own)).collect()
}
