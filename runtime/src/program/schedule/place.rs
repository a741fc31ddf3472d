//! Which buffer each value lies in, and the steps on these.

use super::alias::Aliases;
use super::{Kernels, Origin, Planned, PlannedAhead, PlannedGate, PlannedLaunch, Schedule};
use crate::Error;
use crate::program::assign::{Tenant, assign};
use crate::program::layout::buffer_bytes;
use crate::program::{
    Ahead, Buffer, BufferId, BufferKind, Conditional, Copy, Exchange, Gate, Host, Launch, Step, Tensor, Updated, While,
};
use indexmap::IndexMap;
use std::ops::Range;
use weft_codegen_wgsl::Shader;
use weft_partition::{Form, Site};

/// Steps on buffers.
pub(super) struct Placed {
    pub(super) steps: Vec<Step>,
    pub(super) shaders: Vec<Shader>,
    pub(super) buffers: Vec<Buffer>,
    /// The tensor of each value.
    pub(super) tensors: Vec<Tensor>,
    /// Bytes of temporaries if none shared a buffer.
    pub(super) temporaries_without_reuse: u64,
}

/// Whether every tensor fits in a buffer. What is allocated is rounded up; where even the rounding has no room, the tensor has none.
///
/// # Errors
/// [`Error::BufferTooLarge`] for the first that does not.
pub(super) fn check_limits(schedule: &Schedule<'_>) -> Result<(), Error> {
    let limit = schedule.target.max_buffer_bytes;
    match schedule.values.iter().find(|value| buffer_bytes(value.bytes).is_none_or(|bytes| bytes > limit)) {
        Some(value) => Err(Error::too_large(&value.name, &value.shape, Some(value.bytes), limit)),
        None => Ok(()),
    }
}

/// Gives every value a buffer.
///
/// # Errors
/// [`Error::BufferTooLarge`] where the bytes of one cannot be counted.
pub(super) fn place(schedule: &Schedule<'_>, aliases: &Aliases, kernels: &Kernels) -> Result<Placed, Error> {
    let (buffers, place, temporaries_without_reuse) = buffers(schedule, aliases)?;
    let tensors = (schedule.values.iter().zip(place))
        .map(|(value, place)| {
            let buffer = BufferId(u32::try_from(place).expect("a program has fewer than 2^32 values"));
            Tensor { name: value.name.clone(), shape: value.shape.clone(), buffer, bytes: value.bytes }
        })
        .collect();
    let mut writer = Writer { schedule, kernels, tensors, distinct: IndexMap::new() };
    let steps = writer.block(&schedule.steps);
    let (tensors, shaders) = (writer.tensors, writer.distinct.into_values().collect());
    Ok(Placed { steps, shaders, buffers, tensors, temporaries_without_reuse })
}

/// The steps between which each value that others lie with is needed, itself and all of those.
fn lives(schedule: &Schedule<'_>, aliases: &Aliases) -> Vec<(usize, usize)> {
    let mut lives: Vec<(usize, usize)> = vec![(usize::MAX, 0); schedule.values.len()];
    let mut extend = |value: usize, first: usize, last: usize| {
        let life = &mut lives[aliases.home(value)];
        *life = (life.0.min(first), life.1.max(last));
    };
    for (index, value) in schedule.values.iter().enumerate() {
        extend(index, value.made, value.made);
        for (at, user) in &value.uses {
            extend(index, value.made, schedule.regions.last(value.region, *at, *user));
        }
    }
    aliases.exchanged.iter().for_each(|(value, first, last)| extend(*value, *first, *last));
    lives
}

/// The buffers, which of them each value lies in, and the bytes of temporaries if none shared a buffer.
fn buffers(schedule: &Schedule<'_>, aliases: &Aliases) -> Result<(Vec<Buffer>, Vec<usize>, u64), Error> {
    let lives = lives(schedule, aliases);
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut place: Vec<usize> = vec![usize::MAX; schedule.values.len()];
    let mut tenants: Vec<(usize, Tenant)> = Vec::new();
    let mut without_reuse = 0u64;
    let mut constants = 0;
    for (index, value) in schedule.values.iter().enumerate() {
        if aliases.home(index) != index {
            continue;
        }
        let too_large = || Error::too_large(&value.name, &value.shape, None, schedule.target.max_buffer_bytes);
        let bytes = buffer_bytes(value.bytes).ok_or_else(too_large)?;
        let (first, last) = lives[index];
        let kind = match value.origin {
            Origin::Parameter(number) => BufferKind::Parameter(number),
            Origin::Constant(_) => {
                constants += 1;
                BufferKind::Constant(constants - 1)
            }
            Origin::Sizes(number) => BufferKind::Sizes(number),
            Origin::Made if last == usize::MAX => BufferKind::Result,
            Origin::Made => {
                tenants.push((index, Tenant { bytes, first, last }));
                without_reuse = without_reuse.saturating_add(bytes);
                continue;
            }
        };
        place[index] = buffers.len();
        buffers.push(Buffer { kind, bytes });
    }
    tenants.sort_by_key(|(_, tenant)| tenant.first);
    let assignment = assign(&tenants.iter().map(|(_, tenant)| *tenant).collect::<Vec<_>>());
    for ((value, _), temporary) in tenants.iter().zip(&assignment.place) {
        place[*value] = buffers.len() + temporary;
    }
    let temporary = |&bytes: &u64| Buffer { kind: BufferKind::Temporary, bytes };
    buffers.extend(assignment.buffers.iter().map(temporary));
    let place: Vec<usize> = (0..place.len()).map(|value| place[aliases.home(value)]).collect();
    equalize(&schedule.steps, &place, &mut buffers);
    Ok((buffers, place, without_reuse))
}

/// Buffers that exchange their memory are of one size, whatever else lies in them at other times.
fn equalize(steps: &[Planned], place: &[usize], buffers: &mut [Buffer]) {
    let mut pairs = Vec::new();
    exchanges(steps, &mut pairs);
    let mut group: Vec<usize> = (0..buffers.len()).collect();
    let find = |group: &mut Vec<usize>, mut buffer: usize| {
        while group[buffer] != buffer {
            group[buffer] = group[group[buffer]];
            buffer = group[buffer];
        }
        buffer
    };
    for (one, other) in pairs {
        let (one, other) = (find(&mut group, place[one]), find(&mut group, place[other]));
        group[one] = other;
        buffers[other].bytes = buffers[other].bytes.max(buffers[one].bytes);
    }
    for buffer in 0..buffers.len() {
        buffers[buffer].bytes = buffers[find(&mut group, buffer)].bytes;
    }
}

fn exchanges(steps: &[Planned], pairs: &mut Vec<(usize, usize)>) {
    for step in steps {
        match step {
            Planned::While(step) => {
                pairs.extend(&step.exchanges);
                [&step.condition, &step.body].into_iter().for_each(|steps| exchanges(steps, pairs));
            }
            Planned::Conditional(step) => step.branches.iter().for_each(|branch| exchanges(&branch.steps, pairs)),
            Planned::Launch(_) | Planned::Copy { .. } | Planned::Host(_) => {}
        }
    }
}

/// What a pipeline is made of: the kernel without its names, and windows.
type Distinct = (String, Vec<Vec<Range<u64>>>);

struct Writer<'a> {
    schedule: &'a Schedule<'a>,
    kernels: &'a Kernels,
    tensors: Vec<Tensor>,
    distinct: IndexMap<Distinct, Shader>,
}

impl Writer<'_> {
    fn block(&mut self, planned: &[Planned]) -> Vec<Step> {
        let mut steps = Vec::with_capacity(planned.len());
        for step in planned {
            match step {
                Planned::Launch(launch) => {
                    for (operand, output) in &launch.copied {
                        steps.extend(self.copy(*operand, *output));
                    }
                    steps.extend(self.launch(launch));
                }
                Planned::Copy { from, to } => steps.extend(self.copy(*from, *to)),
                Planned::While(step) => {
                    let exchange = |(value, with): &(usize, usize)| {
                        let [buffer, with] = [value, with].map(|value| self.tensors[*value].buffer);
                        Exchange { buffer, with }
                    };
                    let exchanges = step.exchanges.iter().map(exchange).collect();
                    let name = self.schedule.fused.name(step.site);
                    let flag = step.flag.map(|flag| self.tensors[flag].clone());
                    let carried = step.carried.iter().map(|carried| self.tensors[carried.state].clone()).collect();
                    let (condition, body) = (self.block(&step.condition), self.block(&step.body));
                    let trip_count = step.trip_count;
                    let ahead = step.ahead.as_ref().map(|ahead| match ahead {
                        PlannedAhead::Kept(rounds) => Ahead::Kept(*rounds),
                        PlannedAhead::Gated(gate) => Ahead::Gated(Box::new(self.gate(step.site, gate))),
                    });
                    let step = While { name, trip_count, condition, flag, carried, body, exchanges, ahead };
                    steps.push(Step::While(Box::new(step)));
                }
                Planned::Conditional(step) => {
                    let name = self.schedule.fused.name(step.site);
                    let selector = self.tensors[step.selector].clone();
                    let branches = step.branches.iter().map(|branch| self.block(&branch.steps)).collect();
                    let outputs = self.tensors_of(&step.outputs);
                    steps.push(Step::Conditional(Conditional { name, selector, branches, outputs }));
                }
                Planned::Host(step) => {
                    let outputs: Vec<usize> = step.outputs.iter().map(|(value, _)| *value).collect();
                    steps.push(Step::Host(Host {
                        reasons: step.reasons.clone(),
                        module: step.module.clone(),
                        inputs: self.tensors_of(&step.inputs),
                        outputs: self.tensors_of(&outputs),
                    }));
                }
            }
        }
        steps
    }

    fn tensors_of(&self, values: &[usize]) -> Vec<Tensor> {
        values.iter().map(|value| self.tensors[*value].clone()).collect()
    }

    /// A copy; nothing where there is nothing to copy.
    fn copy(&self, from: usize, to: usize) -> Option<Step> {
        let [from, to] = [from, to].map(|value| self.tensors[value].clone());
        (from.buffer != to.buffer && from.bytes > 0).then_some(Step::Copy(Copy { from, to }))
    }

    fn gate(&mut self, site: Site, gate: &PlannedGate) -> Gate {
        let [over, rounds, grids] = gate.outputs.map(|value| self.tensors[value].clone());
        let updated = [&over, &rounds].into_iter().enumerate();
        let updated = updated.map(|(output, tensor)| Updated { output, bytes: tensor.bytes }).collect();
        let launch = Launch {
            name: format!("{} gate", self.schedule.fused.name(site)),
            fusion: site,
            shader: self.shader(gate.shader.clone()),
            workgroups: gate.shader.workgroups,
            windows: gate.shader.windows,
            inputs: self.tensors_of(&gate.inputs),
            outputs: self.tensors_of(&gate.outputs),
            updated,
        };
        Gate { launch, over, rounds, grids }
    }

    /// The number of a kernel, the same for equal ones.
    fn shader(&mut self, shader: Shader) -> usize {
        // One text may be run with windows of tensors of different sizes.
        let of_bindings: Vec<_> = shader.bindings.iter().map(|binding| binding.windows.clone()).collect();
        let slot = self.distinct.entry((shader.structure.clone(), of_bindings));
        let index = slot.index();
        slot.or_insert(shader);
        index
    }

    fn launch(&mut self, launch: &PlannedLaunch) -> Option<Step> {
        let shader = self.kernels.get(&launch.site)?.as_ref().ok()?.clone();
        let updated = |update: &super::Update| {
            let form = Form::of(self.schedule.values[launch.outputs[update.output]].shape.element_type);
            let bytes = form.and_then(|form| form.bytes(update.elements)).unwrap_or(u64::MAX);
            Updated { output: update.output, bytes }
        };
        let updated = launch.updated.iter().map(updated).collect();
        let (workgroups, windows) = (shader.workgroups, shader.windows);
        Some(Step::Launch(Launch {
            name: self.schedule.fused.name(launch.site),
            fusion: launch.site,
            shader: self.shader(shader),
            workgroups,
            windows,
            inputs: self.tensors_of(&launch.read),
            outputs: self.tensors_of(&launch.outputs),
            updated,
        }))
    }
}
