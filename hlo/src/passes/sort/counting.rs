//! Orders of short rows: how many elements come before each.

use super::comparator::operands_read;
use super::compared;
use super::keys::Word;
use crate::ir::{BinaryOp, ComparisonDirection, Computation, ElementType, InstrId, Scalar, UnaryOp};
use crate::passes::build::Build;
use crate::passes::rebuild::Rebuild;
use crate::passes::stable_order::{Rows, last, scattered};

/// The places of elements in the order of their words, `s32`.
pub(super) fn by_words(rebuild: &mut Rebuild<'_>, rows: Rows, words: &[Word]) -> InstrId {
    let words: Vec<InstrId> = words.iter().map(|word| word.value).collect();
    let ranks = ranks(rebuild, rows, &words);
    inverse(rebuild, rows, ranks)
}

/// The places of elements in the order that scalar code tells, `s32`.
///
/// For each two of them the code is asked whether the latter comes before the former. An element's score is how many come before it so; scores are ranks where the code is a strict weak
/// order, and are put in order where it is not.
pub(super) fn by_code(
    rebuild: &mut Rebuild<'_>,
    rows: Rows,
    computation: &Computation,
    operands: &[InstrId],
) -> InstrId {
    let read = operands_read(computation, &[computation.root]);
    let pairs = pairs(rows);
    let mut side = |dimension: i64| -> Vec<Option<InstrId>> {
        let each = operands.iter().zip(&read);
        each.map(|(operand, read)| read.then(|| rebuild.broadcast(*operand, &[0, dimension], pairs.clone()))).collect()
    };
    let (own, other) = (side(1), side(2));
    let comes_first = compared(rebuild, computation, &pairs, &other, &own);
    let stays_behind = compared(rebuild, computation, &pairs, &own, &other);
    let stays_first = rebuild.unary(UnaryOp::Not, stays_behind);
    let [place, of_other] = [1, 2].map(|dimension| rebuild.iota(ElementType::S32, pairs.clone(), dimension));
    let [is_former, is_latter] = [ComparisonDirection::Lt, ComparisonDirection::Gt]
        .map(|direction| rebuild.compared(direction, of_other, place));
    let of_former = rebuild.binary(BinaryOp::And, is_former, stays_first);
    let of_latter = rebuild.binary(BinaryOp::And, is_latter, comes_first);
    let is_before = rebuild.binary(BinaryOp::Or, of_former, of_latter);
    let scores = counted(rebuild, is_before);
    let ranks = ranks(rebuild, rows, &[scores]);
    inverse(rebuild, rows, ranks)
}

fn pairs(rows: Rows) -> Vec<i64> {
    vec![rows.count, rows.length, rows.length]
}

/// How many elements of its row come before each in the order of words, and of places where these are the same.
fn ranks(rebuild: &mut Rebuild<'_>, rows: Rows, words: &[InstrId]) -> InstrId {
    let pairs = pairs(rows);
    let [place, of_other] = [1, 2].map(|dimension| rebuild.iota(ElementType::S32, pairs.clone(), dimension));
    let mut is_before = rebuild.compared(ComparisonDirection::Lt, of_other, place);
    for word in words.iter().rev() {
        let [own, other] = [1, 2].map(|dimension| rebuild.broadcast(*word, &[0, dimension], pairs.clone()));
        let is_less = rebuild.compared(ComparisonDirection::Lt, other, own);
        let is_equal = rebuild.compared(ComparisonDirection::Eq, other, own);
        let is_behind = rebuild.binary(BinaryOp::And, is_equal, is_before);
        is_before = rebuild.binary(BinaryOp::Or, is_less, is_behind);
    }
    counted(rebuild, is_before)
}

/// How many hold along the last dimension.
fn counted(rebuild: &mut Rebuild<'_>, holds: InstrId) -> InstrId {
    let ones = rebuild.converted(holds, ElementType::S32);
    let last = rebuild.array(ones).rank() as i64 - 1;
    rebuild.reduced((BinaryOp::Add, "sum"), ones, Scalar::S32(0), &[last])
}

/// Which element has each rank.
fn inverse(rebuild: &mut Rebuild<'_>, rows: Rows, ranks: InstrId) -> InstrId {
    let to = rows.in_line(rebuild, ranks);
    let places = rows.numbers(rebuild, 1);
    let last = last(rebuild, &[ElementType::S32]);
    scattered(rebuild, &[places], to, last)[0]
}
