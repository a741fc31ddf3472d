//! Steps whose results nobody needs: branches and loops, elements of the state of a loop, such as its counter where the number of rounds is known, and launches for
//! these alone.

use super::region::Region;
use super::{Carried, Planned, PlannedConditional, PlannedWhile, Schedule, Value};
use std::collections::BTreeSet;

/// Drops steps of whose results nothing is needed, and what only they need. What decides about a conditional would be read back, which stops the device; the
/// counter of a loop would be a launch a round. What the host computes and draws stays, and what it stands in.
pub(super) fn drop_unneeded(schedule: &mut Schedule<'_>) {
    let mut needed =
        Needed { values: &schedule.values, is_needed: vec![false; schedule.values.len()], has_changed: true };
    schedule.results.iter().for_each(|result| needed.need(*result));
    // What a round needs of the one before is found in the next turn.
    while std::mem::take(&mut needed.has_changed) {
        needed.block(&schedule.steps);
    }
    let is_needed = needed.is_needed;
    let mut dropped = Dropped::default();
    dropped.block(&mut schedule.steps, &is_needed);
    dropped.forget(&mut schedule.values);
}

/// Which values are needed, as far as that is known.
struct Needed<'v> {
    values: &'v [Value],
    is_needed: Vec<bool>,
    has_changed: bool,
}

impl Needed<'_> {
    /// A value is needed, and the one that it is under another shape.
    fn need(&mut self, value: usize) {
        let mut next = Some(value);
        while let Some(value) = next.filter(|value| !self.is_needed[*value]) {
            self.is_needed[value] = true;
            self.has_changed = true;
            next = self.values[value].view_of;
        }
    }

    /// Steps in a block need what they take to make what is needed of them.
    fn block(&mut self, steps: &[Planned]) {
        for step in steps.iter().rev() {
            if !stays(step, &self.is_needed) {
                continue;
            }
            match step {
                Planned::Launch(launch) => launch.inputs.iter().for_each(|input| self.need(*input)),
                Planned::Copy { from, .. } => self.need(*from),
                Planned::Host(host) => host.inputs.iter().for_each(|input| self.need(*input)),
                Planned::Draw(_) => {}
                Planned::While(step) => {
                    step.flag.iter().for_each(|flag| self.need(*flag));
                    for carried in &step.carried {
                        if is_carried(carried, &self.is_needed) {
                            self.need(carried.initial);
                            self.need(carried.next);
                        }
                    }
                    self.block(&step.body);
                    self.block(&step.condition);
                }
                Planned::Conditional(step) => {
                    self.need(step.selector);
                    for branch in &step.branches {
                        branch.results.iter().for_each(|result| self.need(*result));
                        self.block(&branch.steps);
                    }
                }
            }
        }
    }
}

/// Whether a step stays.
fn stays(step: &Planned, is_needed: &[bool]) -> bool {
    let any = |values: &[usize]| values.iter().any(|value| is_needed[*value]);
    match step {
        Planned::Launch(launch) => any(&launch.outputs),
        Planned::Copy { to, .. } => is_needed[*to],
        Planned::Host(_) | Planned::Draw(_) => true,
        Planned::While(step) => {
            step.carried.iter().any(|carried| is_needed[carried.last])
                || has_host_steps(&step.condition)
                || has_host_steps(&step.body)
        }
        Planned::Conditional(step) => {
            any(&step.outputs) || step.branches.iter().any(|branch| has_host_steps(&branch.steps))
        }
    }
}

/// Whether an element of the state of a loop is needed: behind the loop, or in a round.
fn is_carried(carried: &Carried, is_needed: &[bool]) -> bool {
    is_needed[carried.last] || is_needed[carried.state]
}

fn has_host_steps(steps: &[Planned]) -> bool {
    steps.iter().any(|step| match step {
        Planned::Host(_) | Planned::Draw(_) => true,
        Planned::While(step) => has_host_steps(&step.condition) || has_host_steps(&step.body),
        Planned::Conditional(step) => step.branches.iter().any(|branch| has_host_steps(&branch.steps)),
        Planned::Launch(_) | Planned::Copy { .. } => false,
    })
}

/// What is no longer there.
#[derive(Default)]
struct Dropped {
    /// Steps.
    steps: BTreeSet<usize>,
    /// Uses of values by what a loop carries no longer.
    uses: Vec<(usize, (usize, Region))>,
    /// What they made.
    values: Vec<usize>,
}

impl Dropped {
    fn block(&mut self, steps: &mut Vec<Planned>, is_needed: &[bool]) {
        steps.retain(|step| {
            let stays = stays(step, is_needed);
            if !stays {
                self.step(step);
            }
            stays
        });
        for step in steps {
            match step {
                Planned::While(step) => {
                    self.carried(step, is_needed);
                    self.block(&mut step.condition, is_needed);
                    self.block(&mut step.body, is_needed);
                }
                Planned::Conditional(step) => {
                    step.branches.iter_mut().for_each(|branch| self.block(&mut branch.steps, is_needed));
                }
                Planned::Launch(_) | Planned::Copy { .. } | Planned::Host(_) | Planned::Draw(_) => {}
            }
        }
    }

    /// A step with all that stands in it.
    fn step(&mut self, step: &Planned) {
        match step {
            Planned::Launch(launch) => {
                self.steps.insert(launch.at);
                self.values.extend(&launch.outputs);
            }
            Planned::While(step) => {
                let PlannedWhile { start, end, condition, body, carried, .. } = step.as_ref();
                self.steps.extend([*start, *end]);
                self.values.extend(carried.iter().flat_map(|carried| [carried.state, carried.last]));
                condition.iter().chain(body).for_each(|step| self.step(step));
            }
            Planned::Conditional(PlannedConditional { start, branches, outputs, .. }) => {
                self.steps.insert(*start);
                self.values.extend(outputs);
                for branch in branches {
                    self.steps.insert(branch.end);
                    branch.steps.iter().for_each(|step| self.step(step));
                }
            }
            Planned::Copy { .. } | Planned::Host(_) | Planned::Draw(_) => {}
        }
    }

    /// What a loop carries though nobody needs it.
    fn carried(&mut self, step: &mut PlannedWhile, is_needed: &[bool]) {
        let (start, end, region, body) = (step.start, step.end, step.region, step.body_region);
        step.carried.retain(|carried| {
            let stays = is_carried(carried, is_needed);
            if !stays {
                self.uses.extend([(carried.initial, (start, region)), (carried.next, (end, body))]);
                self.values.extend([carried.state, carried.last]);
            }
            stays
        });
    }

    /// Values are no longer used by what is dropped, and what that made lies nowhere.
    fn forget(self, values: &mut [Value]) {
        for (value, used) in self.uses {
            let mut next = Some(value);
            while let Some(value) = next {
                let value = &mut values[value];
                if let Some(at) = value.uses.iter().position(|one| *one == used) {
                    value.uses.remove(at);
                }
                next = value.view_of;
            }
        }
        for value in &mut *values {
            value.uses.retain(|(at, _)| !self.steps.contains(at));
            value.last = value.uses.iter().map(|(at, _)| *at).max().unwrap_or(0);
        }
        self.values.into_iter().for_each(|value| values[value].bytes = 0);
    }
}
