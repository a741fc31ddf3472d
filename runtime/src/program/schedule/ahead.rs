//! Loops whose rounds are handed to the device before it is known whether they take place.

use super::alias::Aliases;
use super::region::Region;
use super::{Kernels, Origin, Planned, PlannedAhead, PlannedGate, PlannedWhile, Schedule, Value};
use crate::Error;
use crate::program::tensor_bytes;
use weft_codegen_wgsl::gate;
use weft_hlo::ir::{ArrayShape, ElementType};

/// Bytes that a round may read and write at most to be made whether it is needed or not: it costs less than to ask.
const MAX_KEPT_ROUND: u64 = 64 << 10;

/// Bytes that may be taken for what rounds make which may not be needed.
const MAX_KEPT: u64 = 16 << 20;

/// Rounds that are made at most before it is known whether they are needed.
const MAX_KEPT_ROUNDS: u64 = 64;

impl Aliases {
    /// Decides how rounds of a loop are handed to the device before it is known whether they take place, where they are launches alone and their
    /// number is not known. Where they cost little and write nothing in place, all are made; else the device decides.
    ///
    /// # Errors
    /// As the compiler's.
    pub(super) fn ahead(
        &mut self,
        schedule: &mut Schedule<'_>,
        kernels: &Kernels,
        step: &mut PlannedWhile,
    ) -> Result<(), Error> {
        let (Some(flag), None) = (step.flag, step.trip_count) else { return Ok(()) };
        let mut sizes = Vec::new();
        if !sizes_of(&step.body, kernels, &mut sizes) || !sizes_of(&step.condition, kernels, &mut sizes) {
            return Ok(());
        }
        let Ok(words) = u32::try_from(sizes.len()) else { return Ok(()) };
        if words == 0 {
            return Ok(());
        }
        if let Some(rounds) = kept(schedule, step) {
            step.ahead = Some(PlannedAhead::Kept(rounds));
            return Ok(());
        }
        let shader = gate(words, schedule.target)?;
        let number = schedule.sizes.len();
        let mut value = |name: &str, count: u32, origin: Origin| {
            let shape = ArrayShape::new(ElementType::U32, [i64::from(count)]);
            let bytes = tensor_bytes(&shape).unwrap_or(u64::MAX);
            let (region, made) = match origin {
                Origin::Made => (step.region, step.start),
                _ => (Region::PROGRAM, 0),
            };
            schedule.values.push(Value { name: name.to_owned(), shape, bytes, origin, region, made, uses: Vec::new() });
            let made = schedule.values.len() - 1;
            self.before.push(made);
            if origin == Origin::Made {
                self.exchanged.push((made, step.start, step.end));
            }
            made
        };
        let inputs = [flag, value("sizes", words, Origin::Sizes(number))];
        let outputs = [("over", 1), ("rounds", 1), ("grids", words)];
        let outputs = outputs.map(|(name, count)| value(name, count, Origin::Made));
        schedule.sizes.push(sizes);
        step.ahead = Some(PlannedAhead::Gated(Box::new(PlannedGate { shader, inputs, outputs })));
        Ok(())
    }
}

/// Adds the workgroups of all launches of a block; whether it holds nothing but launches, and loops of these that are gone through a known number of
/// times.
fn sizes_of(steps: &[Planned], kernels: &Kernels, sizes: &mut Vec<u32>) -> bool {
    steps.iter().all(|step| match step {
        Planned::Launch(launch) if launch.copied.is_empty() => match kernels.get(&launch.site) {
            Some(Ok(shader)) => {
                sizes.extend(shader.workgroups);
                true
            }
            _ => false,
        },
        Planned::While(step) => step.trip_count.is_some() && sizes_of(&step.body, kernels, sizes),
        _ => false,
    })
}

/// How many rounds may be made that are not needed, if any.
fn kept(schedule: &Schedule<'_>, step: &PlannedWhile) -> Option<usize> {
    let (mut moved, mut made) = (0u64, 0u64);
    for step in step.body.iter().chain(&step.condition) {
        let Planned::Launch(launch) = step else { return None };
        if !launch.updated.is_empty() {
            return None;
        }
        let bytes =
            |values: &[usize]| values.iter().map(|value| schedule.values[*value].bytes).fold(0, u64::saturating_add);
        let written = bytes(&launch.outputs);
        made = made.saturating_add(written);
        moved = moved.saturating_add(written).saturating_add(bytes(&launch.inputs));
    }
    let rounds = (MAX_KEPT / made.max(1)).min(MAX_KEPT_ROUNDS);
    (moved <= MAX_KEPT_ROUND && rounds > 1).then(|| usize::try_from(rounds).unwrap_or(1))
}
