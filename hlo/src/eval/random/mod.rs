//! Random number operations: `rng`, `rng-bit-generator` and `rng-get-and-update-state`.

mod counter_based;
mod distribution;
mod generator;

pub(super) use distribution::rng;
pub(super) use generator::{bit_generator, unsupported};

use super::call::Call;
use super::work::Stop;
use crate::ir::{ArrayShape, Data, ElementType, Shape};

/// The state that a run begins with: that of XLA on CPUs.
pub(super) const FIRST_STATE: u128 = 0x701_2395;

/// The key of Philox for all that `rng` draws.
pub(crate) const DRAWING_KEY: u64 = FIRST_STATE as u64;

/// The state, its lower half first, or how many `rng` have run; the run has moved on by `delta`.
pub(super) fn state(call: &Call<'_, '_>) -> Result<Data, Stop> {
    let words = [call.chance as u64, (call.chance >> 64) as u64];
    Ok(Data::U64(words[..if call.result().rank() == 0 { 1 } else { 2 }].to_vec()))
}

/// Whether a `rng-get-and-update-state` of this shape counts the `rng` that have run, and has no state of its own.
pub(super) fn is_count(shape: &Shape) -> bool {
    shape.as_array().is_some_and(|array| array.rank() == 0)
}

/// Why there is no state of this shape.
pub(super) fn no_state(state: &ArrayShape) -> Option<String> {
    let is_read = state.element_type == ElementType::U64 && matches!(state.extents[..], [] | [2]);
    (!is_read).then(|| format!("the state {state}; it has u64[2], or u64[] for how many rng have run"))
}
