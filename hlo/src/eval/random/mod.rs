//! Random number operations: `rng`, `rng-bit-generator` and `rng-get-and-update-state`.

mod counter_based;
mod distribution;
mod generator;

pub(super) use distribution::rng;
pub(super) use generator::{bit_generator, unsupported};

use super::call::Call;
use super::work::Stop;
use crate::ir::Data;

/// The state that a run begins with: that of XLA on CPUs.
pub(super) const FIRST_STATE: u128 = 0x701_2395;

/// The state, its lower half first; the run has moved on by `delta`.
pub(super) fn state(call: &Call<'_, '_>) -> Result<Data, Stop> {
    Ok(Data::U64(vec![call.chance as u64, (call.chance >> 64) as u64]))
}
