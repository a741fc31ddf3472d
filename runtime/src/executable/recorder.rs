//! What is recorded for the device and not yet handed to it.

use super::{Executable, block_bytes, block_stride};
use crate::Error;
use crate::buffer::Stretch;
use crate::program::Launch;
use crate::program::layout::{WORD_BYTES, binding_bytes};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Commands recorded before they are handed to the device, so that it starts early.
const COMMANDS_PER_SUBMISSION: usize = 256;

/// Nanoseconds that what is handed over at once is expected to take at most, if it is more than one command: 200 ms. Systems reset a device whose submission
/// takes about 2 s, and what is [expected](Launch::nanoseconds) is the device's best, of which kernels reach a tenth at least as a rule. A loop that is one
/// kernel takes 50 ms at most where no target says otherwise, so four such dispatches are a submission.
const NANOSECONDS_PER_SUBMISSION: u64 = 200_000_000;

/// What is kept of what launches bound.
const MAX_KEPT: usize = 4096;

enum Command<'a> {
    Launch { launch: &'a Launch, memory: Vec<Stretch>, sizes: Option<Sizes>, is_kept: bool },
    Clear { memory: Stretch, bytes: u64 },
    Copy { from: Stretch, to: Stretch, bytes: u64 },
}

impl Command<'_> {
    /// The memory that it uses.
    fn memory(&self) -> Vec<&Stretch> {
        match self {
            Command::Launch { memory, sizes, .. } => {
                memory.iter().chain(sizes.as_ref().map(|sizes| &sizes.memory)).collect()
            }
            Command::Clear { memory, .. } => vec![memory],
            Command::Copy { from, to, .. } => vec![from, to],
        }
    }
}

/// Where the device finds the numbers of workgroups of a launch.
#[derive(Clone)]
pub(super) struct Sizes {
    /// What it finds there begins with them.
    pub(super) memory: Stretch,
}

/// Commands in order.
pub(super) struct Recorder<'a> {
    executable: &'a Executable,
    what: String,
    commands: Vec<Command<'a>>,
    /// Whether they are handed over by and by.
    submits: bool,
    /// How long they are expected to take, in nanoseconds.
    expected: u64,
    /// What launches bound before: rounds of a loop bind the same again, and so do other executions.
    bound: Bound,
    /// The addresses of the buffers that other executions will have: what lies in nothing else is bound again.
    kept: BTreeSet<usize>,
}

/// What launches bound, by the addresses of launch and memory.
#[derive(Debug, Default)]
pub(super) struct Bound {
    groups: HashMap<(usize, Vec<(usize, u64)>), Kept>,
}

impl Bound {
    /// Forgets what uses other buffers than those at these addresses.
    pub(super) fn retain(&mut self, addresses: &BTreeSet<usize>) {
        self.groups.retain(|(_, memory), _| memory.iter().all(|(address, _)| addresses.contains(address)));
    }
}

/// What the dispatches of a launch bind, and the memory that this keeps in its place.
#[derive(Debug)]
struct Kept {
    groups: Vec<wgpu::BindGroup>,
    _memory: Vec<Stretch>,
}

impl<'a> Recorder<'a> {
    /// One that hands over what is recorded by itself, unless it is for somebody else's encoder. Other executions will bind the buffers at the addresses
    /// `kept` again, as `bound` tells others did.
    pub(super) fn new(executable: &'a Executable, submits: bool, bound: Bound, kept: BTreeSet<usize>) -> Self {
        let what = format!("running {}", executable.program.name());
        Recorder { executable, what, commands: Vec::new(), submits, expected: 0, bound, kept }
    }

    /// What launches bound.
    pub(super) fn into_bound(self) -> Bound {
        self.bound
    }

    /// Records a launch on these memories: those of its inputs, then those of its outputs. Its sizes may be the device's to tell, and it may
    /// stand in a loop.
    pub(super) async fn launch(
        &mut self,
        launch: &'a Launch,
        memory: Vec<Stretch>,
        sizes: Option<Sizes>,
        is_repeated: bool,
    ) -> Result<(), Error> {
        let is_own = |stretch: &Stretch| self.kept.contains(&Arc::as_ptr(&stretch.memory).addr());
        let is_kept = is_repeated || memory.iter().all(is_own);
        self.push(Command::Launch { launch, memory, sizes, is_kept }).await
    }

    /// Records that so many bytes become zeros.
    pub(super) async fn clear(&mut self, memory: Stretch, bytes: u64) -> Result<(), Error> {
        self.push(Command::Clear { memory, bytes }).await
    }

    /// Records a copy of so many bytes.
    pub(super) async fn copy(&mut self, from: Stretch, to: Stretch, bytes: u64) -> Result<(), Error> {
        self.push(Command::Copy { from, to, bytes }).await
    }

    async fn push(&mut self, command: Command<'a>) -> Result<(), Error> {
        let nanoseconds = match &command {
            Command::Launch { launch, .. } => launch.nanoseconds,
            Command::Clear { bytes, .. } => self.moving(*bytes),
            Command::Copy { bytes, .. } => self.moving(bytes.saturating_mul(2)),
        };
        let expected = self.expected.saturating_add(nanoseconds);
        if self.submits && (self.commands.len() >= COMMANDS_PER_SUBMISSION || expected > NANOSECONDS_PER_SUBMISSION) {
            self.submit().await?;
        }
        self.expected = self.expected.saturating_add(nanoseconds);
        self.commands.push(command);
        Ok(())
    }

    /// Nanoseconds in which memory moves so many bytes.
    fn moving(&self, bytes: u64) -> u64 {
        let speed = self.executable.program.target().hardware.dram_bytes_per_second;
        u64::try_from(u128::from(bytes) * 1_000_000_000 / u128::from(speed.max(1))).unwrap_or(u64::MAX)
    }

    /// Hands to the device what is recorded.
    pub(super) async fn submit(&mut self) -> Result<(), Error> {
        if self.commands.is_empty() {
            return Ok(());
        }
        let device = &self.executable.device;
        let what = std::mem::take(&mut self.what);
        let outcome = device.scoped(&what, |_| self.record_and_submit()).await;
        self.what = what;
        outcome
    }

    /// Records all commands into somebody's encoder. Until that is done, or given up, nobody else is given the memory they use.
    pub(super) async fn record_into(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), Error> {
        let leases: Vec<Arc<()>> =
            self.commands.iter().flat_map(Command::memory).map(|stretch| stretch.memory.lease()).collect();
        encoder.on_submitted_work_done(move || drop(leases));
        let what = std::mem::take(&mut self.what);
        self.executable.device.scoped(&what, |_| self.record(encoder)).await
    }

    /// To be called inside a scope.
    fn record_and_submit(&mut self) {
        let _span = tracing::debug_span!("submit", program = self.executable.program.name()).entered();
        let device = &self.executable.device;
        let label = Some(self.executable.program.name());
        let mut encoder = device.wgpu_device().create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
        self.record(&mut encoder);
        device.wgpu_queue().submit([encoder.finish()]);
    }

    /// Records all commands. To be called inside a scope.
    fn record(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let commands = std::mem::take(&mut self.commands);
        self.expected = 0;
        let are_launches = |one: &Command<'_>, other: &Command<'_>| {
            matches!((one, other), (Command::Launch { .. }, Command::Launch { .. }))
        };
        for stretch in commands.chunk_by(are_launches) {
            match stretch {
                [Command::Copy { from, to, bytes }] => {
                    encoder.copy_buffer_to_buffer(from.buffer(), from.offset, to.buffer(), to.offset, *bytes);
                    continue;
                }
                [Command::Clear { memory, bytes }] => {
                    encoder.clear_buffer(memory.buffer(), memory.offset, Some(*bytes));
                    continue;
                }
                _ => {}
            }
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for command in stretch {
                let Command::Launch { launch, memory, sizes, is_kept } = command else { continue };
                let [x, y, z] = launch.workgroups;
                pass.set_pipeline(&self.executable.pipelines[launch.shader].pipeline);
                let made;
                let groups = if *is_kept {
                    self.bound(launch, memory)
                } else {
                    made = self.executable.bind_all(launch, memory);
                    &made
                };
                for group in groups {
                    pass.set_bind_group(0, group, &[]);
                    match sizes {
                        Some(Sizes { memory }) => pass.dispatch_workgroups_indirect(memory.buffer(), memory.offset),
                        None => pass.dispatch_workgroups(x, y, z),
                    }
                }
            }
        }
    }

    /// Forgets what rounds of loops bound in memory that is given back.
    pub(super) fn forget(&mut self) {
        self.bound.retain(&self.kept);
    }

    /// What the dispatches of a launch bind, as they bound it before.
    fn bound(&mut self, launch: &'a Launch, memory: &[Stretch]) -> &[wgpu::BindGroup] {
        if self.bound.groups.len() >= MAX_KEPT {
            self.bound.groups.clear();
        }
        let addresses = memory.iter().map(Stretch::address).collect();
        let key = (std::ptr::from_ref(launch).addr(), addresses);
        let executable = self.executable;
        let bind = || Kept { groups: executable.bind_all(launch, memory), _memory: memory.to_vec() };
        &self.bound.groups.entry(key).or_insert_with(bind).groups
    }
}

impl Executable {
    /// What the dispatches of a launch bind.
    fn bind_all(&self, launch: &Launch, memory: &[Stretch]) -> Vec<wgpu::BindGroup> {
        (0..launch.windows).map(|window| self.bind(launch, window, memory)).collect()
    }

    /// What the dispatch of this number binds.
    fn bind(&self, launch: &Launch, number: u32, memory: &[Stretch]) -> wgpu::BindGroup {
        let shader = &self.program.shaders()[launch.shader];
        let mut tensors = launch.inputs.iter().chain(&launch.outputs).zip(memory);
        let mut entries: Vec<wgpu::BindGroupEntry<'_>> = Vec::with_capacity(shader.bindings.len() + 2);
        for (binding, bound) in (0..).zip(&shader.bindings) {
            let held = tensors.by_ref().zip(&bound.tensors).map(|((tensor, memory), held)| (tensor, memory, held));
            let held: Vec<_> = held.take(bound.tensors.len()).collect();
            let Some((_, memory, first)) = held.first() else { continue };
            let bytes = match bound.windows.get(number as usize) {
                Some(window) => window.start * WORD_BYTES..window.end * WORD_BYTES,
                None => 0..held.iter().map(|(tensor, _, held)| held.offset + tensor.bytes).max().unwrap_or(0),
            };
            let size = wgpu::BufferSize::new(binding_bytes(bytes.end - bytes.start));
            // Where it is an arena all of them lie in it, each behind its beginning.
            let offset = memory.offset - first.offset + bytes.start;
            let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: memory.buffer(), offset, size });
            entries.push(wgpu::BindGroupEntry { binding, resource });
        }
        entries.push(wgpu::BindGroupEntry {
            binding: shader.parameter_binding,
            resource: self.device.parameter_block().as_entire_binding(),
        });
        if let (Some(binding), Some(buffer)) = (shader.window_binding, &self.windows[launch.shader]) {
            let offset = u64::from(number) * block_stride(shader);
            let size = wgpu::BufferSize::new(block_bytes(shader));
            let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset, size });
            entries.push(wgpu::BindGroupEntry { binding, resource });
        }
        let layout = &self.pipelines[launch.shader].layout;
        let descriptor = wgpu::BindGroupDescriptor { label: Some(&launch.name), layout, entries: &entries };
        self.device.wgpu_device().create_bind_group(&descriptor)
    }
}
