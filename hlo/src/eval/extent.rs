//! `get-dimension-size`.

use super::call::Call;
use crate::ir::Data;

/// The extent of a dimension; of one that has more than 32 bits the lowest.
pub(super) fn get_dimension_size(call: &Call<'_, '_>, dimension: usize) -> Data {
    Data::S32(vec![call.shape(0).extents[dimension] as i32])
}
