//! Loops whose rounds are handed to the device before it is known whether they take place.

use super::alias::Aliases;
use super::kernels::Kernels;
use super::region::Region;
use super::{Origin, Planned, PlannedAhead, PlannedGate, PlannedWhile, Schedule, Value};
use crate::Error;
use crate::program::layout::buffer_bytes;
use crate::program::tensor_bytes;
use weft_codegen_wgsl::gate;
use weft_hlo::ir::{ArrayShape, ElementType};

/// Bytes that a round may read and write at most to be made whether it is needed or not: it costs less than to ask.
const MAX_KEPT_ROUND: u64 = 64 << 10;

/// Bytes that rounds which are made whether they are needed or not may keep at most, all together.
const MAX_KEPT: u64 = 256 << 10;

/// Rounds that are handed over at most before it is known whether they are needed.
const MAX_ROUNDS: u64 = 64;

/// Dispatches that are handed over at most before it is known whether they are needed.
const MAX_DISPATCHES: u64 = 1024;

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
        // A loop that is one kernel makes many rounds before it is asked whether there are more.
        if kernels.whole_loop(step.site).is_some() {
            return Ok(());
        }
        let mut sizes = Vec::new();
        if !sizes_of(&step.body, kernels, &mut sizes) || !sizes_of(&step.condition, kernels, &mut sizes) {
            return Ok(());
        }
        let Ok(words) = u32::try_from(sizes.len()) else { return Ok(()) };
        if words == 0 {
            return Ok(());
        }
        let dispatches = dispatches(&step.body, kernels).saturating_add(dispatches(&step.condition, kernels));
        let rounds = (MAX_DISPATCHES / dispatches.max(1)).min(MAX_ROUNDS);
        let Some(rounds) = usize::try_from(rounds).ok().filter(|rounds| *rounds > 1) else { return Ok(()) };
        if let Some((made, rounds)) = kept(schedule, step, rounds) {
            self.kept.extend(made);
            step.ahead = Some(PlannedAhead::Kept(rounds));
            return Ok(());
        }
        let shader = match self.gates.get(&words) {
            Some(known) => known.clone(),
            None => self.gates.entry(words).or_insert(gate(words, schedule.target)?).clone(),
        };
        let number = schedule.sizes.len();
        let mut value = |name: &str, count: u32, origin: Origin| {
            let shape = ArrayShape::new(ElementType::U32, [i64::from(count)]);
            let bytes = tensor_bytes(&shape).unwrap_or(u64::MAX);
            let (region, made) = match origin {
                Origin::Made => (step.region, step.start),
                _ => (Region::PROGRAM, 0),
            };
            schedule.values.push(Value::new(name.to_owned(), shape, bytes, origin, (region, made)));
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
        step.ahead = Some(PlannedAhead::Gated(Box::new(PlannedGate { shader, inputs, outputs, rounds })));
        Ok(())
    }
}

/// Adds the workgroups of all launches of a block; whether it holds nothing but launches, and loops of these that are gone through a known number of
/// times.
fn sizes_of(steps: &[Planned], kernels: &Kernels, sizes: &mut Vec<u32>) -> bool {
    steps.iter().all(|step| match step {
        Planned::Launch(launch) if launch.copied.is_empty() => match kernels.launched(launch) {
            Some(shader) => {
                sizes.extend(shader.workgroups);
                true
            }
            None => false,
        },
        Planned::While(step) => step.trip_count.is_some() && sizes_of(&step.body, kernels, sizes),
        _ => false,
    })
}

/// How many dispatches a block is.
fn dispatches(steps: &[Planned], kernels: &Kernels) -> u64 {
    let of_step = |step: &Planned| match step {
        Planned::Launch(launch) => match kernels.launched(launch) {
            Some(shader) => u64::from(shader.windows),
            None => 0,
        },
        Planned::While(step) => dispatches(&step.body, kernels).saturating_mul(step.trip_count.unwrap_or(1)),
        _ => 0,
    };
    steps.iter().map(of_step).fold(0, u64::saturating_add)
}

/// What rounds make, and how many of at most so many are made at once, if they may be made whether they are needed or not: they cost little, and write
/// nothing in place.
fn kept(schedule: &Schedule<'_>, step: &PlannedWhile, most: usize) -> Option<(Vec<usize>, usize)> {
    let (mut moved, mut made) = (0u64, Vec::new());
    for step in step.body.iter().chain(&step.condition) {
        let Planned::Launch(launch) = step else { return None };
        if !launch.updated.is_empty() {
            return None;
        }
        let values = launch.inputs.iter().chain(&launch.outputs);
        moved = values.map(|value| schedule.values[*value].bytes).fold(moved, u64::saturating_add);
        made.extend(launch.outputs.iter().copied());
    }
    let bytes = made.iter().filter_map(|value| buffer_bytes(schedule.values[*value].bytes));
    let bytes = bytes.fold(0, u64::saturating_add);
    // Besides those rounds, what is handed on from one element of the state to another is kept.
    let slots = usize::try_from(MAX_KEPT / bytes.max(1)).unwrap_or(usize::MAX);
    let rounds = most.min(slots.saturating_sub(step.carried.len() + 1));
    (moved <= MAX_KEPT_ROUND && rounds > 1).then_some((made, rounds))
}
