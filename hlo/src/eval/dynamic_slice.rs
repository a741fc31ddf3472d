//! `dynamic-slice` and `dynamic-update-slice`: slices at computed start indices.
//!
//! A start is clamped to where the slice lies within the operand, by its value, whatever its type.

use super::call::Call;
use super::movement::{Walk, extents, read, row_major_strides};
use super::product::reader;
use super::scalar::Number;
use super::work::{Stop, copied, words, words_as};
use crate::ir::{Data, Word, words_of};

const VERIFIED: &str = "the verifier has seen to the types and number of start indices";

pub(super) fn dynamic_slice(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let (sizes, strides) = (extents(call.result()), row_major_strides(&extents(call.shape(0))));
    let corner = corner(call, 1, &sizes);
    read(call.work(), call.data(0), call.result().element_type, &sizes, &strides, corner as isize)
}

pub(super) fn dynamic_update_slice(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let (sizes, strides) = (extents(call.shape(1)), row_major_strides(&extents(call.shape(0))));
    let corner = corner(call, 2, &sizes);
    words_of!(words(call.data(0)), operand, W => {
        let mut values = copied(operand)?;
        let mut walk = Walk::new(&sizes, &strides, corner as isize, 0);
        for &update in words_as::<W>(call.data(1)) {
            values[walk.step()] = update;
        }
        Ok(W::data(values, call.result().element_type))
    })
}

/// Where in the first operand a slice of these extents begins. The starts are the operands from `first` on: scalars, or one
/// list of them.
fn corner(call: &Call<'_, '_>, first: usize, sizes: &[usize]) -> usize {
    if sizes.contains(&0) {
        return 0;
    }
    let is_list = call.operands.len() == first + 1 && call.shape(first).rank() == 1;
    let (whole, strides) = (extents(call.shape(0)), row_major_strides(&extents(call.shape(0))));
    let mut corner = 0;
    for (dimension, &size) in sizes.iter().enumerate() {
        let (operand, element) = if is_list { (first, dimension) } else { (first + dimension, 0) };
        let start = reader(call.shape(operand).element_type)(call.data(operand), element);
        corner += clamped(start, whole[dimension] - size) * strides[dimension] as usize;
    }
    corner
}

/// A start, clamped to `0..=last`.
pub(super) fn clamped(start: Number, last: usize) -> usize {
    match start {
        Number::Integer(start) => start.clamp(0, last as i128) as usize,
        _ => unreachable!("{VERIFIED}"),
    }
}
