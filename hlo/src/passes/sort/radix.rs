//! Sorts by the digits of numbers.

use super::comparator::Key;
use super::keys::{self, Word};
use super::written::written;
use crate::ir::{Computation, ElementType, InstrId};
use crate::passes::build::Build;
use crate::passes::rebuild::Rebuild;
use crate::passes::stable_order::{Rows, by_digits};

/// Operands of at most so many words go along; of more, numbers and places do.
const CARRIED: usize = 2;

/// The words of all keys, the most significant first.
pub(super) fn words(
    build: &mut dyn Build,
    computation: &Computation,
    keys: &[Key],
    rows: Rows,
    operands: &[InstrId],
) -> Vec<Word> {
    let mut words = Vec::new();
    for key in keys {
        let value = written(build, computation, key.root, &rows.extents(), &|number| operands[number / 2]);
        words.extend(keys::words(build, value, key));
    }
    words
}

/// Operands in the order of keys, those before the others.
pub(super) fn sorted(
    rebuild: &mut Rebuild<'_>,
    computation: &Computation,
    keys: &[Key],
    rows: Rows,
    operands: &[InstrId],
) -> Vec<InstrId> {
    let types: Vec<ElementType> = operands.iter().map(|operand| rebuild.element_type(*operand)).collect();
    if operands.len() > CARRIED || !types.iter().all(|ty| keys::is_carried(*ty)) {
        let words = words(rebuild, computation, keys, rows, operands);
        let places = places(rebuild, rows, &words);
        return super::taken(rebuild, rows, operands, places);
    }
    let widths: Vec<u32> = keys.iter().flat_map(|key| keys::widths(key.element_type)).collect();
    let mut carried: Vec<InstrId> = operands.iter().map(|operand| keys::carried(rebuild, *operand)).collect();
    for (position, bits) in widths.into_iter().enumerate().rev() {
        carried = by_digits(rebuild, rows, bits, carried, &|build, carried| {
            let restored: Vec<InstrId> =
                carried.iter().zip(&types).map(|(word, ty)| keys::restored(build, *word, *ty)).collect();
            words(build, computation, keys, rows, &restored)[position].value
        });
    }
    carried.iter().zip(&types).map(|(word, ty)| keys::restored(rebuild, *word, *ty)).collect()
}

/// The places of elements in the order of these words, `s32`.
pub(super) fn places(rebuild: &mut Rebuild<'_>, rows: Rows, words: &[Word]) -> InstrId {
    let mut places = rows.numbers(rebuild, 1);
    for (number, word) in words.iter().rev().enumerate() {
        let value = if number == 0 { word.value } else { rows.taken(rebuild, word.value, places) };
        let carried = vec![value, rebuild.converted(places, ElementType::U32)];
        let moved = by_digits(rebuild, rows, word.bits, carried, &|_, carried| carried[0]);
        places = rebuild.converted(moved[1], ElementType::S32);
    }
    places
}
