//! The custom calls `ApproxTopK` and `PartialReduce`: the best elements of each line, exactly.

use crate::eval::call::Call;
use crate::eval::fold::{scalar, typed};
use crate::eval::movement::extents;
use crate::eval::sort::{self, Comparator, Rows};
use crate::eval::work::{PIECE, Stop};
use crate::ir::selection::Selection;
use crate::ir::{ArrayShape, Data, Instruction, Scalar};

/// Why a call is not evaluated.
pub(super) fn refusal(instruction: &Instruction) -> Option<String> {
    let of_what = match Selection::of_instruction(instruction) {
        None => "with a computation that is no comparator",
        Some(_) if !instruction.shape.is_static() => "of extents that are not known",
        Some(_) => return None,
    };
    Some(format!("unsupported: a selection {of_what}"))
}

/// The results of a call.
pub(super) fn select(call: &Call<'_, '_>) -> Result<Vec<Data>, Stop> {
    let Some(Ok(selection)) = Selection::of_instruction(call.instruction) else {
        unreachable!("the verifier has seen to the attributes, and others are refused")
    };
    let inputs = call.operands.len() / 2;
    let results = call.results();
    let places = extents(results[0])[selection.dimension];
    match selection.is_ordered {
        true => sort::sorted(call, inputs, selection.dimension, selection.comparator, places),
        false => classes(call, &selection, inputs, &results),
    }
}

/// Stands for a place of a class without elements.
const NOTHING: usize = usize::MAX;

/// The best elements of the classes of elements whose places leave the same remainder; the first of equal ones.
fn classes(
    call: &Call<'_, '_>,
    selection: &Selection,
    inputs: usize,
    results: &[&ArrayShape],
) -> Result<Vec<Data>, Stop> {
    let rows = Rows::new(&extents(call.shape(0)), selection.dimension);
    let to = Rows::new(&extents(results[0]), selection.dimension);
    let count = to.count();
    let _places = call.work().reserve_for::<usize>(count)?;
    let _scalars = call.work().reserve_for::<Scalar>(count)?;
    let piece = (PIECE / rows.length.div_ceil(to.length.max(1)).max(1)).max(1);
    let best = call.work().try_fill_by(count, piece, |start, best: &mut [usize]| {
        let mut comparator = Comparator::new(call, selection.comparator, &rows, inputs);
        for (offset, best) in best.iter_mut().enumerate() {
            let (row, class) = to.place(start + offset);
            comparator.row = row;
            let mut found = NOTHING;
            for place in (class..rows.length).step_by(to.length) {
                let is_better =
                    found == NOTHING || comparator.is_before(place, found)? && !comparator.is_before(found, place)?;
                found = if is_better { place } else { found };
            }
            *best = if found == NOTHING { NOTHING } else { rows.position(row, found) };
        }
        Ok(())
    })?;
    let of_input = |(number, shape): (usize, &&ArrayShape)| {
        let initial = scalar(call.data(inputs + number), 0);
        let taken = |&position: &usize| match position {
            NOTHING => initial,
            position => scalar(call.data(number), position),
        };
        typed(&best.iter().map(taken).collect::<Vec<Scalar>>(), shape)
    };
    results.iter().enumerate().map(of_input).collect()
}
