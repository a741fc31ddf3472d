//! Which buffer each value lies in, and the steps on these.

use super::alias::Aliases;
use super::kernels::Kernels;
use super::memory::Memory;
use super::{Planned, PlannedAhead, PlannedGate, PlannedLaunch, Schedule};
use crate::Error;
use crate::program::donation::Donation;
use crate::program::layout::buffer_bytes;
use crate::program::{
    Ahead, Buffer, BufferId, Conditional, Copy, Draw, Exchange, Gate, Host, Launch, Step, Tensor, Updated, While,
};
use std::collections::HashMap;
use std::ops::Range;
use weft_codegen_wgsl::{Held, Shader};
use weft_hlo::ir::{ArenaId, ArrayShape, Op};
use weft_partition::{Form, Site, flops_of_computations};

/// Steps on buffers.
pub(super) struct Placed {
    pub(super) steps: Vec<Step>,
    pub(super) shaders: Vec<Shader>,
    pub(super) buffers: Vec<Buffer>,
    /// The tensor of each value.
    pub(super) tensors: Vec<Tensor>,
    /// Bytes of temporaries if none shared a buffer.
    pub(super) temporaries_without_reuse: u64,
    /// Bytes that live at one time at most.
    pub(super) least: u64,
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
pub(super) fn place(
    schedule: &Schedule<'_>,
    aliases: &Aliases,
    kernels: &Kernels,
    donation: &Donation,
) -> Result<Placed, Error> {
    let Memory { mut buffers, place, temporaries_without_reuse, least } = Memory::of(schedule, aliases, donation)?;
    for (value, own) in &schedule.in_arenas {
        buffers[place[*value]].place = Some(*own);
    }
    let tensors = (schedule.values.iter().zip(place))
        .map(|(value, place)| {
            let buffer = BufferId(u32::try_from(place).expect("a program has fewer than 2^32 values"));
            Tensor { name: value.name.clone(), shape: value.shape.clone(), buffer, bytes: value.bytes }
        })
        .collect();
    let flops = flops_of_computations(&schedule.fused.module);
    let mut writer = Writer { schedule, kernels, tensors, flops, shaders: Vec::new(), distinct: HashMap::new() };
    let steps = writer.block(&schedule.steps);
    let (tensors, shaders) = (writer.tensors, writer.shaders);
    Ok(Placed { steps, shaders, buffers, tensors, temporaries_without_reuse, least })
}

/// The windows of a kernel's bindings.
type Windows<'a> = Vec<&'a [Range<u64>]>;

/// For each binding that is an arena what lies in it, and where.
type InArenas<'a> = Vec<Vec<(u64, &'a ArrayShape)>>;

struct Writer<'a> {
    schedule: &'a Schedule<'a>,
    kernels: &'a Kernels,
    tensors: Vec<Tensor>,
    /// Of each computation, where they can be counted.
    flops: Vec<Option<u64>>,
    shaders: Vec<Shader>,
    /// Their numbers, by the kernel without its names, by windows and by what lies in arenas: one text may be run with windows of tensors of different sizes.
    distinct: HashMap<(&'a str, Windows<'a>, InArenas<'a>), usize>,
}

impl<'a> Writer<'a> {
    fn block(&mut self, planned: &'a [Planned]) -> Vec<Step> {
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
                    let why = self.schedule.fused.asked.get(&step.site).cloned().unwrap_or_default();
                    steps.push(Step::Conditional(Conditional { name, selector, branches, outputs, why }));
                }
                Planned::Draw(draw) => {
                    let name = self.schedule.fused.name(draw.site);
                    let output = self.tensors[draw.output].clone();
                    steps.push(Step::Draw(Draw { name, delta: draw.delta, output }));
                }
                Planned::Host(step) => {
                    let outputs: Vec<usize> = step.outputs.iter().map(|(value, _)| *value).collect();
                    steps.push(Step::Host(Host {
                        reasons: step.reasons.clone(),
                        module: step.module.clone(),
                        inputs: self.tensors_of(&step.inputs),
                        constants: step.constants.clone(),
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

    fn gate(&mut self, site: Site, gate: &'a PlannedGate) -> Gate {
        let [over, rounds, grids] = gate.outputs.map(|value| self.tensors[value].clone());
        let updated = [&over, &rounds].into_iter().enumerate();
        let updated = updated.map(|(output, tensor)| Updated { output, bytes: tensor.bytes }).collect();
        let launch = Launch {
            name: format!("{} gate", self.schedule.fused.name(site)),
            fusion: site,
            shader: self.shader(&gate.shader),
            workgroups: gate.shader.workgroups,
            nanoseconds: self.schedule.target.hardware.launch_nanoseconds.into(),
            windows: gate.shader.windows,
            inputs: self.tensors_of(&gate.inputs),
            outputs: self.tensors_of(&gate.outputs),
            updated,
        };
        Gate { launch, over, rounds, grids, most: gate.rounds }
    }

    /// The number of a kernel, the same for equal ones.
    fn shader(&mut self, shader: &'a Shader) -> usize {
        let windows = shader.bindings.iter().map(|binding| binding.windows.as_slice()).collect();
        let held = |held: &'a Held| (held.offset, &held.shape);
        let arenas = shader.bindings.iter().filter(|binding| binding.tensors.len() > 1);
        let arenas = arenas.map(|binding| binding.tensors.iter().map(held).collect()).collect();
        let shaders = &mut self.shaders;
        *self.distinct.entry((&shader.structure, windows, arenas)).or_insert_with(|| {
            shaders.push(shader.clone());
            shaders.len() - 1
        })
    }

    fn launch(&mut self, launch: &'a PlannedLaunch) -> Option<Step> {
        let shader = self.kernels.launched(launch)?;
        let updated = |update: &super::Update| {
            let form = Form::of(self.schedule.values[launch.outputs[update.output]].shape.element_type);
            let bytes = form.and_then(|form| form.bytes(update.elements)).unwrap_or(u64::MAX);
            Updated { output: update.output, bytes }
        };
        let updated = launch.updated.iter().map(updated).collect();
        let (workgroups, windows) = (shader.workgroups, shader.windows);
        let mut made = Launch {
            name: self.schedule.fused.name(launch.site),
            fusion: launch.site,
            shader: self.shader(shader),
            workgroups,
            nanoseconds: 0,
            windows,
            inputs: self.tensors_of(&launch.read),
            outputs: self.tensors_of(&launch.written),
            updated,
        };
        made.nanoseconds = self.nanoseconds(launch, &made);
        Some(Step::Launch(made))
    }

    /// How long a launch is expected to take.
    fn nanoseconds(&self, planned: &PlannedLaunch, launch: &Launch) -> u64 {
        let hardware = &self.schedule.target.hardware;
        let launched = u64::from(hardware.launch_nanoseconds).saturating_mul(launch.windows.into());
        if let Some(whole) = self.kernels.whole_loop(planned.site) {
            let rest =
                || whole.plan.trip_count.map_or(whole.rounds.into(), |count| count % u64::from(whole.rounds.max(1)));
            let rounds = if planned.is_rest { rest() } else { whole.rounds.into() };
            return launched.saturating_add(rounds.saturating_mul(whole.plan.nanoseconds));
        }
        let calls = match self.schedule.fused.instruction(planned.site).map(|instruction| &instruction.op) {
            Some(Op::Fusion { calls, .. }) => self.flops.get(calls.index()).copied().flatten(),
            _ => None,
        };
        let seconds = launch.bytes_moved() as f64 / hardware.dram_bytes_per_second as f64
            + calls.unwrap_or(0) as f64 / hardware.flops_per_second();
        // Casts of floats saturate.
        launched.saturating_add((seconds * 1e9) as u64)
    }
}
