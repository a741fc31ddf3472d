//! The arguments and results that kernels look for in arenas.

use super::{Planned, Schedule};
use crate::program::Place;
use std::collections::BTreeMap;
use weft_partition::Slot;

/// Where they lie. Arenas that nothing lies in, since nobody needs it, have no number.
pub(super) fn places(schedule: &Schedule<'_>) -> BTreeMap<usize, Place> {
    let (module, arenas) = (&schedule.fused.module, &schedule.fused.arenas);
    let parameters = module.entry_computation().parameters().into_iter().zip(&schedule.parameters);
    let mut slots: Vec<(usize, Slot)> =
        parameters.filter_map(|(parameter, value)| Some((*value, arenas.argument(parameter)?))).collect();
    for step in &schedule.steps {
        let Planned::Launch(launch) = step else { continue };
        if launch.site.computation == module.entry {
            let results = launch.outputs.iter().enumerate();
            slots.extend(results.filter_map(|(number, value)| {
                let slot = arenas.result(launch.site.instruction, number)?;
                Some((*value, slot))
            }));
        }
    }
    let mut numbers: BTreeMap<usize, u32> = slots.iter().map(|(_, slot)| (slot.arena, 0)).collect();
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    let place = |Slot { arena, offset }: Slot| Place { arena: numbers.get(&arena).copied().unwrap_or(0), offset };
    slots.into_iter().map(|(value, slot)| (value, place(slot))).collect()
}
