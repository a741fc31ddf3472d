//! `topk`: the greatest or least elements of each row, with their indices.

use super::call::Call;
use super::movement::{extents, take};
use super::product::reader;
use super::scalar::Number;
use super::work::{PIECE, Stop};
use crate::ir::Data;
use std::cmp::Ordering;

/// The `k` largest or smallest elements of each row, the extreme ones first, and where in the row they are. Floats are in
/// IEEE 754's total order; of equal elements the first comes first.
pub(super) fn top_k(call: &Call<'_, '_>, k: usize, largest: bool) -> Result<Vec<Data>, Stop> {
    let length = extents(call.shape(0)).last().copied().unwrap_or(1);
    let element_type = call.shape(0).element_type;
    let read = reader(element_type);
    let places = places(call, length, k, largest, &|position| read(call.data(0), position))?;
    let values =
        take(call.work(), call.data(0), element_type, places.len(), &|number| number / k * length + places[number])?;
    let places = call.work().map(&places, |places, values| {
        places.iter().zip(values).for_each(|(&place, value)| *value = place as i32);
    })?;
    Ok(vec![values, places.into()])
}

/// The places in its row of the `k` elements of each row of `length` elements.
fn places(
    call: &Call<'_, '_>,
    length: usize,
    k: usize,
    largest: bool,
    number: &(dyn Fn(usize) -> Number + Sync),
) -> Result<Vec<usize>, Stop> {
    let count = extents(call.results()[0]).iter().product();
    let _scratch = call.work().reserve_for::<usize>(count)?;
    call.work().try_fill_by(count, k * (PIECE / length.max(1)).max(1), |start, places| {
        let _scratch = call.work().reserve_for::<(Number, usize)>(length)?;
        let mut row: Vec<(Number, usize)> = Vec::new();
        row.try_reserve_exact(length)?;
        for (offset, places) in places.chunks_mut(k).enumerate() {
            call.work().go_on()?;
            let base = (start / k + offset) * length;
            row.clear();
            row.extend((0..length).map(|place| (number(base + place), place)));
            row.sort_unstable_by(|a, b| {
                let values = order(a.0, b.0);
                if largest { values.reverse() } else { values }.then(a.1.cmp(&b.1))
            });
            places.iter_mut().zip(&row).for_each(|(place, taken)| *place = taken.1);
        }
        Ok(())
    })
}

/// The order of integers, and the total order of floats; complex numbers have none.
fn order(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a.cmp(&b),
        (Number::Real(a), Number::Real(b)) => a.total_cmp(&b),
        _ => Ordering::Equal,
    }
}
