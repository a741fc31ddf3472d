//! Branches that nobody needs.

use super::{Planned, Schedule, Value};

/// Drops conditionals of whose results nothing is used: what decides would be read back for them, which stops the device. Those in which the host
/// computes something stay.
pub(super) fn drop_unneeded(schedule: &mut Schedule<'_>) {
    let mut steps = std::mem::take(&mut schedule.steps);
    drop_of_block(&mut steps, &schedule.values);
    schedule.steps = steps;
}

fn drop_of_block(steps: &mut Vec<Planned>, values: &[Value]) {
    steps.retain(|step| match step {
        Planned::Conditional(step) => {
            // At the end of each branch its outputs are used once: they are written.
            let is_needed = |output: &usize| values[*output].uses.len() > step.branches.len();
            step.outputs.iter().any(is_needed) || step.branches.iter().any(|branch| has_host_steps(&branch.steps))
        }
        _ => true,
    });
    for step in steps {
        match step {
            Planned::While(step) => {
                drop_of_block(&mut step.condition, values);
                drop_of_block(&mut step.body, values);
            }
            Planned::Conditional(step) => {
                step.branches.iter_mut().for_each(|branch| drop_of_block(&mut branch.steps, values));
            }
            Planned::Launch(_) | Planned::Copy { .. } | Planned::Host(_) => {}
        }
    }
}

fn has_host_steps(steps: &[Planned]) -> bool {
    steps.iter().any(|step| match step {
        Planned::Host(_) => true,
        Planned::While(step) => has_host_steps(&step.condition) || has_host_steps(&step.body),
        Planned::Conditional(step) => step.branches.iter().any(|branch| has_host_steps(&branch.steps)),
        Planned::Launch(_) | Planned::Copy { .. } => false,
    })
}
