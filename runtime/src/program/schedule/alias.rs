//! Which values lie in one buffer because one follows from another, and what is copied because it cannot.

use super::kernels::Kernels;
use super::region::Region;
use super::{Carried, Origin, Planned, PlannedConditional, PlannedLaunch, PlannedWhile, Schedule, Update, Value};
use crate::Error;
use crate::program::layout::{WORD_BYTES, binding_bytes};
use std::collections::{BTreeMap, BTreeSet};
use weft_codegen_wgsl::{Binding, Content, Shader};
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::Instruction;

/// Which values share the buffer of another by right.
pub(super) struct Aliases {
    /// For each value one that lies where it does, and was there before it; itself where none was.
    pub(super) before: Vec<usize>,
    /// Values whose buffers a loop exchanges, with the steps between which nothing else may lie in them.
    pub(super) exchanged: Vec<(usize, usize, usize)>,
    /// Values of which rounds of a loop have more than one buffer at a time.
    pub(super) kept: Vec<usize>,
    /// The gates made so far, by the words that they write.
    pub(super) gates: BTreeMap<u32, Shader>,
}

impl Aliases {
    /// Decides for all steps, in their order.
    ///
    /// # Errors
    /// A kernel that binds otherwise than its fusion says, or more of a tensor than the target allows.
    pub(super) fn decide(schedule: &mut Schedule<'_>, kernels: &Kernels) -> Result<Self, Error> {
        let before = (0..).zip(&schedule.values).map(|(own, value)| value.view_of.unwrap_or(own)).collect();
        let mut aliases = Aliases { before, exchanged: Vec::new(), kept: Vec::new(), gates: BTreeMap::new() };
        let mut steps = std::mem::take(&mut schedule.steps);
        aliases.block(schedule, kernels, &mut steps)?;
        schedule.steps = steps;
        Ok(aliases)
    }

    /// The value whose buffer this one lies in.
    pub(super) fn home(&self, mut value: usize) -> usize {
        while self.before[value] != value {
            value = self.before[value];
        }
        value
    }

    fn block(&mut self, schedule: &mut Schedule<'_>, kernels: &Kernels, steps: &mut Vec<Planned>) -> Result<(), Error> {
        let mut arranged = Vec::with_capacity(steps.len());
        for mut step in std::mem::take(steps) {
            match &mut step {
                Planned::Launch(launch) => self.launch(schedule, kernels, launch)?,
                Planned::While(step) => {
                    self.initial(schedule, step, &mut arranged);
                    self.block(schedule, kernels, &mut step.condition)?;
                    self.block(schedule, kernels, &mut step.body)?;
                    self.exchange(schedule, step);
                    self.ahead(schedule, kernels, step)?;
                }
                Planned::Conditional(step) => self.branches(schedule, kernels, step)?,
                Planned::Copy { .. } | Planned::Host(_) | Planned::Draw(_) => {}
            }
            arranged.push(step);
        }
        *steps = arranged;
        Ok(())
    }

    /// Whether the step `at` of `region` may write where a value lies: it is the last that needs it, in every round, and what lies there
    /// is no constant, and no argument but one that is donated.
    fn is_free(&self, values: &[Value], value: usize, at: usize, region: Region) -> bool {
        let mut whole = value;
        while let Some(of) = values[whole].view_of {
            whole = of;
        }
        let Value { region: own, last, .. } = &values[whole];
        *own == region && *last <= at && values[self.home(value)].origin.is_free()
    }

    /// Takes from a kernel what it binds. An output that updates an operand takes over its buffer where that is free and the kernel reads
    /// nothing else of it; else the operand is copied first.
    fn launch(&mut self, schedule: &Schedule<'_>, kernels: &Kernels, launch: &mut PlannedLaunch) -> Result<(), Error> {
        let (Some(shader), Some(instruction)) = (kernels.launched(launch), schedule.fused.instruction(launch.site))
        else {
            return Ok(());
        };
        for (binding, held) in shader.tensors() {
            let value = match held.content {
                Content::Operand(operand) => launch.inputs.get(operand),
                Content::Result(result) | Content::Updated { result, .. } => launch.outputs.get(result),
            };
            value.map_or(Ok(()), |value| check_binding(schedule, *value, binding))?;
        }
        let Bound { read, written, updated } =
            Bound::of(instruction, shader, launch.inputs.len(), launch.outputs.len())?;
        launch.read = read.into_iter().map(|operand| launch.inputs[operand]).collect();
        launch.written = written.into_iter().map(|output| launch.outputs[output]).collect();
        let homes: BTreeSet<usize> = launch.read.iter().map(|value| self.home(*value)).collect();
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for update in &updated {
            let (output, operand) = (launch.outputs[update.output], launch.inputs[update.operand]);
            let home = self.home(operand);
            let is_free = self.is_free(&schedule.values, operand, launch.at, launch.region);
            if is_free && !homes.contains(&home) && taken.insert(home) {
                self.before[output] = home;
            } else {
                launch.copied.push((operand, output));
            }
        }
        launch.updated = updated;
        Ok(())
    }

    /// A value that lies apart, to be copied to.
    fn apart(&mut self, schedule: &mut Schedule<'_>, like: usize, region: Region, at: usize) -> usize {
        let Value { name, shape, bytes, .. } = &schedule.values[like];
        let (name, shape, bytes, origin) = (name.clone(), shape.clone(), *bytes, Origin::Made);
        schedule.values.push(Value::new(name, shape, bytes, origin, (region, at)));
        let made = schedule.values.len() - 1;
        self.before.push(made);
        made
    }

    /// The state of a loop lies where its initial value does, if nothing else needs that; else that is copied.
    fn initial(&mut self, schedule: &mut Schedule<'_>, step: &PlannedWhile, before: &mut Vec<Planned>) {
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for Carried { initial, state, last, .. } in step.carried.iter().copied() {
            let is_free = self.is_free(&schedule.values, initial, step.start, step.region);
            let home = self.home(initial);
            self.before[state] = if is_free && taken.insert(home) {
                home
            } else {
                let copy = self.apart(schedule, state, step.region, step.start);
                before.push(Planned::Copy { from: initial, to: copy });
                copy
            };
            self.before[last] = self.before[state];
        }
    }

    /// What a round makes becomes what the next is given by an exchange of buffers, where it lies in one that the loop may write and that
    /// nothing else of the state needs; else by a copy at the end of the round.
    fn exchange(&mut self, schedule: &mut Schedule<'_>, step: &mut PlannedWhile) {
        let states: BTreeSet<usize> = step.carried.iter().map(|carried| self.home(carried.state)).collect();
        let mut sources: BTreeSet<usize> = BTreeSet::new();
        let mut moved: Vec<(usize, usize)> = Vec::new();
        let mut copied = Vec::new();
        for carried in &step.carried {
            let (state, next) = (self.home(carried.state), self.home(carried.next));
            let of_body = |value: &Value| value.origin == Origin::Made && value.region == step.body_region;
            if (states.contains(&next) || of_body(&schedule.values[next])) && sources.insert(next) {
                moved.push((state, next));
            } else {
                copied.push(*carried);
            }
        }
        for Carried { state, next, .. } in copied {
            let own = self.home(state);
            // Nothing of this round is taken from where the state lies, so the copy may be made there.
            if !sources.contains(&own) {
                step.body.push(Planned::Copy { from: next, to: state });
                continue;
            }
            let copy = self.apart(schedule, state, step.body_region, step.end);
            step.body.push(Planned::Copy { from: next, to: copy });
            moved.push((own, copy));
        }
        moved.retain(|(state, next)| state != next);
        // What no value is taken to any more takes what none is taken from at the other end of its chain, which is of the same shape; so every
        // buffer keeps a memory.
        let taken_to: BTreeMap<usize, usize> = moved.iter().map(|(state, next)| (*next, *state)).collect();
        let targets: BTreeSet<usize> = taken_to.values().copied().collect();
        for first in taken_to.keys().filter(|source| !targets.contains(source)) {
            let mut last = *first;
            while let Some(state) = taken_to.get(&last) {
                last = *state;
            }
            moved.push((*first, last));
        }
        for (value, _) in &moved {
            self.exchanged.push((*value, step.start, step.end));
        }
        step.exchanges = moved;
    }

    /// The results of a branch are made where the outputs of the conditional lie, if they are made in the branch and are given once; else they are
    /// copied there.
    fn branches(
        &mut self,
        schedule: &mut Schedule<'_>,
        kernels: &Kernels,
        step: &mut PlannedConditional,
    ) -> Result<(), Error> {
        for branch in &mut step.branches {
            self.block(schedule, kernels, &mut branch.steps)?;
            for (output, result) in step.outputs.iter().zip(&branch.results) {
                let home = self.home(*result);
                let Value { origin, made, .. } = schedule.values[home];
                if origin == Origin::Made && made >= branch.start && home != *output && !step.outputs.contains(&home) {
                    self.before[home] = *output;
                } else {
                    branch.steps.push(Planned::Copy { from: *result, to: *output });
                }
            }
        }
        Ok(())
    }
}

/// Whether a kernel may bind what it binds of a tensor, all of it or a window; what is bound is rounded up.
fn check_binding(schedule: &Schedule<'_>, value: usize, binding: &Binding) -> Result<(), Error> {
    let value = &schedule.values[value];
    let words = binding.windows.iter().map(|window| window.end.saturating_sub(window.start)).max();
    let bytes = words.map_or(value.bytes, |words| words.saturating_mul(WORD_BYTES));
    let limit = schedule.target.max_storage_binding_bytes.min(schedule.target.max_buffer_bytes);
    if !binding.uniform && binding_bytes(bytes) > limit {
        return Err(Error::too_large(&value.name, &value.shape, Some(bytes), limit));
    }
    Ok(())
}

/// What a kernel binds.
struct Bound {
    /// The operands that it reads, and the results that it writes, in the order of its bindings.
    read: Vec<usize>,
    written: Vec<usize>,
    /// The results that it updates, each with the operand that it updates.
    updated: Vec<Update>,
}

impl Bound {
    /// What a kernel binds of a fusion: all that it yields, and of the operands what it does not update; anything else is a fault of the compiler, told before a
    /// device meets it.
    fn of(instruction: &Instruction, shader: &Shader, operands: usize, results: usize) -> Result<Self, Error> {
        let fault = || {
            let message = format!(
                "the kernel binds {} tensors otherwise than the fusion has {operands} operands and {results} results; this is a fault of \
                 the compiler",
                shader.tensors().count(),
            );
            Diagnostic::new("RUN003", instruction.span, message).about(&instruction.name)
        };
        let mut bound = Bound { read: Vec::new(), written: Vec::new(), updated: Vec::new() };
        for (binding, held) in shader.tensors() {
            let is_expected = match held.content {
                Content::Operand(operand) => {
                    bound.read.push(operand);
                    operand < operands && !binding.writable && bound.written.is_empty()
                }
                Content::Result(result) | Content::Updated { result, .. } => {
                    if let Content::Updated { operand, elements, .. } = held.content {
                        bound.updated.push(Update { output: result, operand, elements });
                    }
                    bound.written.push(result);
                    result < results && binding.writable
                }
            };
            if !is_expected {
                return Err(fault().into());
            }
        }
        let are_distinct = bound.written.iter().collect::<BTreeSet<_>>().len() == results;
        let is_ordered = bound.updated.is_empty() || bound.written.is_sorted();
        let is_within = bound.updated.iter().all(|one| one.operand < operands && !bound.read.contains(&one.operand));
        let is_all = bound.written.len() == results && are_distinct;
        if is_all && is_ordered && is_within { Ok(bound) } else { Err(fault().into()) }
    }
}
