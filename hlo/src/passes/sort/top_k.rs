//! The greatest or least elements of each row.

use super::comparator::Key;
use super::counting;
use super::keys::{self, Word};
use super::{COUNTED, Lines, radix, taken};
use crate::ir::{BinaryOp, ComparisonDirection, ComputationId, ElementType, InstrId, Instruction, Op, Scalar, Shape};
use crate::passes::build::{Build, Callee};
use crate::passes::counted::counted;
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};
use crate::passes::stable_order::{Rows, constant, first};

/// So many elements are found one after the other, each by a pass over its row that reads it once; a sort by digits reads each about as often as a hundred such passes.
pub(super) const ROUNDS: i64 = 64;

pub(super) fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction, k: i64, largest: bool) -> Option<Rule> {
    let [operand] = candidate.operands[..] else { return None };
    let array = rebuild.get(operand).shape.as_array().filter(|array| array.dynamic.is_empty())?.clone();
    if array.element_type.is_complex() || array.rank() == 0 {
        return None;
    }
    let lines = Lines::new(array.extents.clone(), array.extents.len() - 1)?;
    let rows = lines.rows;
    let mut extents = array.extents;
    *extents.last_mut()? = k;
    let value = lines.taken_apart(rebuild, operand);
    let root = operand;
    let key = Key { root, element_type: array.element_type, is_descending: largest, is_total: true };
    let (rule, places) = if k == 0 || rows.count == 0 {
        let zero = constant(rebuild, Scalar::S32(0), rows.extents());
        ("topk of nothing", zero)
    } else if rows.length <= COUNTED {
        let words = keys::words(rebuild, value, &key);
        ("topk of few counts what comes before each", counting::by_words(rebuild, rows, &words))
    } else {
        let words = keys::words(rebuild, value, &key);
        match &words[..] {
            [word] if k <= ROUNDS => ("topk of a few finds one after the other", rounds(rebuild, rows, *word, k)),
            _ => ("topk of many is the beginning of a sort", radix::places(rebuild, rows, &words)),
        }
    };
    let places = first(rebuild, places, vec![rows.count, k]);
    let values = if k == 0 || rows.count == 0 {
        first(rebuild, value, vec![rows.count, k])
    } else if k == rows.length {
        taken(rebuild, rows, &[value], places)[0]
    } else {
        of_rows(rebuild, rows, value, places, k)
    };
    let results = [values, places].map(|all| rebuild.reshaped(all, extents.clone()));
    Some((rule, Rewrite::Op(Op::Tuple, results.to_vec())))
}

/// The elements at `k` places of each row.
pub(super) fn of_rows(build: &mut dyn Build, rows: Rows, value: InstrId, places: InstrId, k: i64) -> InstrId {
    let extents = vec![rows.count, k];
    let row = build.iota(ElementType::S32, extents.clone(), 0);
    let length = constant(build, Scalar::S32(rows.length as i32), extents);
    let start = build.binary(BinaryOp::Multiply, row, length);
    let place = build.binary(BinaryOp::Add, start, places);
    let line = build.reshaped(value, vec![rows.count * rows.length]);
    build.taken(line, place)
}

/// The places of the `k` elements of each row with the least words, one found in each round: that with the least word behind the one before.
pub(super) fn rounds(rebuild: &mut Rebuild<'_>, rows: Rows, word: Word, k: i64) -> InstrId {
    let region = lesser(rebuild);
    let line = vec![rows.count];
    let [value, place] = [Scalar::U32(0), Scalar::S32(-1)].map(|scalar| constant(rebuild, scalar, line.clone()));
    let found = constant(rebuild, Scalar::S32(0), vec![rows.count, k]);
    let [_, _, _, found] =
        counted(rebuild, k, [word.value, value, place, found], |round, [words, value, place, found]| {
            let number = round.number;
            let zero = round.zero;
            let body = &mut round.body;
            let places = rows.numbers(body, 1);
            let [before, place_before] = [value, place].map(|one| body.broadcast(one, &[0], rows.extents()));
            let is_behind = body.compared(ComparisonDirection::Gt, words, before);
            let is_same = body.compared(ComparisonDirection::Eq, words, before);
            let is_later = body.compared(ComparisonDirection::Gt, places, place_before);
            let is_later = body.binary(BinaryOp::And, is_same, is_later);
            let is_left = body.binary(BinaryOp::Or, is_behind, is_later);
            // What is found already is behind all that is not.
            let [most, nowhere] = [Scalar::U32(u32::MAX), Scalar::S32(i32::MAX)];
            let [most_of_each, nowhere_of_each] = [most, nowhere].map(|scalar| constant(body, scalar, rows.extents()));
            let left = body.selected(is_left, words, most_of_each);
            let places = body.selected(is_left, places, nowhere_of_each);
            let [most, nowhere] = [most, nowhere].map(|scalar| body.scalar(scalar));
            let shapes = [ElementType::U32, ElementType::S32].map(|ty| Shape::array(ty, vec![rows.count]));
            let op = Op::Reduce { dimensions: vec![1], to_apply: region };
            let both = body.add(Shape::Tuple(shapes.to_vec()), op, vec![left, places, most, nowhere]);
            let [value, place] = [0, 1].map(|index| body.element(both, index));
            let column = body.reshaped(place, vec![rows.count, 1]);
            let found = body.updated(found, column, &[zero, number]);
            [words, value, place, found]
        });
    found
}

/// Of two words with their places the lesser, and of equal ones the first.
fn lesser(rebuild: &mut Rebuild<'_>) -> ComputationId {
    let mut callee = Callee::new("lesser", rebuild.span());
    let types = [ElementType::U32, ElementType::S32, ElementType::U32, ElementType::S32];
    let [word, place, other, other_place] = types.map(|ty| callee.parameter(Shape::scalar(ty)));
    let is_less = callee.compared(ComparisonDirection::Lt, word, other);
    let is_same = callee.compared(ComparisonDirection::Eq, word, other);
    let is_before = callee.compared(ComparisonDirection::Lt, place, other_place);
    let is_before = callee.binary(BinaryOp::And, is_same, is_before);
    let is_first = callee.binary(BinaryOp::Or, is_less, is_before);
    let word = callee.selected(is_first, word, other);
    let place = callee.selected(is_first, place, other_place);
    let both = callee.tuple(vec![word, place]);
    rebuild.shared_computation(callee.finish(both))
}
