//! One execution of a program.

mod kept;

use super::arranged::arranged;
use super::kept::Set;
use super::recorder::{Recorder, Sizes};
use super::{Argument, Executable};
use crate::buffer::{Stretch, Use, read_all};
use crate::device::Waiting;
use crate::program::layout::encode;
use crate::program::step::all;
use crate::program::{
    Ahead, Buffer, BufferKind, Conditional, Copy, Draw, Gate, Host, Launch, Place, Step, Tensor, While,
};
use crate::{DeviceBuffer, Error, Progress};
use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use weft_hlo::eval::{Config, evaluate_borrowed};
use weft_hlo::ir::{ElementType, Literal, Scalar};

/// An execution in progress.
pub(super) struct Run<'a> {
    executable: &'a Executable,
    /// The memory of each buffer, which loops exchange.
    memory: Vec<Stretch>,
    /// What other executions left, and will be left.
    set: Set,
    recorder: Recorder<'a>,
    /// The launches that the device decides on, by their addresses.
    ahead: Option<Arc<HashMap<usize, Sizes>>>,
    /// How many loops the step that is run stands in.
    depth: usize,
    /// Who waits for values that steps depend on.
    waiting: Waiting,
}

/// Buffers and memory that they have or get.
type Memories = Vec<(usize, Stretch)>;

/// Steps in progress.
type Steps<'r> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'r>>;

impl<'a> Run<'a> {
    /// One on these arguments, with memory for everything else. It submits what it records, or leaves that to others.
    pub(super) async fn new(
        executable: &'a Executable,
        inputs: Vec<Argument<'_>>,
        waiting: Waiting,
        submits: bool,
    ) -> Result<Self, Error> {
        let given = |number: usize| inputs.get(number).map(Argument::buffer);
        let donated = |number: usize| match inputs.get(number) {
            Some(Argument::Donated(buffer)) => {
                let memory = buffer.memory();
                let is_free = memory.is_own() && !memory.is_arena() && !memory.is_leased();
                is_free.then(|| Stretch::from(buffer))
            }
            _ => None,
        };
        let program = &executable.program;
        // What somebody else submits, or gives up, is nobody's for as long.
        let mut set = if submits { executable.sets.take() } else { Set::default() };
        let take = |device: &crate::Device| -> Vec<Stretch> {
            let own =
                |bytes: u64| Stretch::whole(Arc::new(device.pool().take(device.wgpu_device(), Use::Tensor, bytes)));
            let (arenas, buffers) = (program.arenas(), program.buffers());
            set.arenas.resize(arenas.len(), None);
            set.buffers.resize(buffers.len(), None);
            let mut held: Vec<Option<Stretch>> = Vec::with_capacity(arenas.len());
            for ((number, arena), kept) in (0..).zip(&arenas).zip(&mut set.arenas) {
                held.push(match arena.kind {
                    BufferKind::Temporary => Some(kept.get_or_insert_with(|| own(arena.bytes)).clone()),
                    BufferKind::Parameter(_) => match arranged(program, number, &inputs) {
                        Some(as_they_lie) => Some(as_they_lie),
                        None => Some(kept.get_or_insert_with(|| own(arena.bytes)).clone()),
                    },
                    BufferKind::Result => {
                        let memory = device.pool().take(device.wgpu_device(), Use::Tensor, arena.bytes);
                        Some(Stretch::whole(memory.into_arena()))
                    }
                    // Those of constants are the executable's.
                    _ => None,
                });
            }
            let memory = |(buffer, kept): (&Buffer, &mut Option<Stretch>)| match (buffer.kind, buffer.place) {
                (
                    BufferKind::Parameter(_) | BufferKind::Temporary | BufferKind::Result,
                    Some(Place { arena, offset }),
                ) => {
                    let arena = held.get(arena as usize).and_then(Option::as_ref);
                    arena.map_or_else(|| own(buffer.bytes), |arena| arena.behind(offset))
                }
                (BufferKind::Parameter(number), None) => Stretch::from(inputs[number].buffer()),
                (BufferKind::Donated(number), _) => donated(number).unwrap_or_else(|| own(buffer.bytes)),
                (BufferKind::Constant(number), _) => executable.constants[number].clone(),
                (BufferKind::Sizes(number), _) => Stretch::from(&executable.sizes[number]),
                (BufferKind::Temporary, None) => kept.get_or_insert_with(|| own(buffer.bytes)).clone(),
                (BufferKind::Result, None) => own(buffer.bytes),
            };
            buffers.iter().zip(&mut set.buffers).map(memory).collect()
        };
        let what = format!("running {}", executable.program.name());
        let memory: Vec<Stretch> = executable.device.scoped(&what, take).await?;
        let bound = std::mem::take(&mut set.bound);
        let mut recorder = Recorder::new(executable, submits, bound, executable.kept_with(&set));
        let mut copied = 0;
        for (buffer, memory) in program.buffers().iter().zip(&memory) {
            if let BufferKind::Donated(number) | BufferKind::Parameter(number) = buffer.kind
                && let Some(given) = given(number).filter(|given| given.stretch().address() != memory.address())
                && given.bytes() > 0
            {
                recorder.copy(Stretch::from(given), memory.clone(), given.bytes()).await?;
                copied += 1;
            }
        }
        if copied > 0 {
            tracing::debug!(copied, "arguments are copied to where the program may write them, or looks for them");
        }
        Ok(Run { executable, memory, set, recorder, ahead: None, depth: 0, waiting })
    }

    /// Runs all steps; the results.
    pub(super) async fn finish(mut self) -> Result<Vec<DeviceBuffer>, Error> {
        self.steps(self.executable.program.steps()).await?;
        self.recorder.submit().await?;
        let results = self.results();
        self.leave(&results);
        Ok(results)
    }

    /// Leaves memory and what was bound there to other executions, but for what results lie in. What loops exchanged stays so.
    fn leave(self, results: &[DeviceBuffer]) {
        let Run { executable, memory, mut set, recorder, .. } = self;
        let taken: BTreeSet<usize> = results.iter().map(|result| Arc::as_ptr(result.memory()).addr()).collect();
        for ((buffer, memory), kept) in executable.program.buffers().iter().zip(memory).zip(&mut set.buffers) {
            if buffer.kind == BufferKind::Temporary && buffer.place.is_none() {
                let is_free = !taken.contains(&Arc::as_ptr(&memory.memory).addr()) && memory.memory.is_own();
                let is_whole = memory.offset == 0 && memory.buffer().size() >= buffer.bytes;
                *kept = (is_free && is_whole).then_some(memory);
            }
        }
        set.bound = recorder.into_bound();
        set.bound.retain(&executable.kept_with(&set));
        executable.sets.keep(set);
    }

    /// Records all steps of a program that reads nothing back into an encoder; the results.
    pub(super) async fn record_into(mut self, encoder: &mut wgpu::CommandEncoder) -> Result<Vec<DeviceBuffer>, Error> {
        self.steps(self.executable.program.steps()).await?;
        self.recorder.record_into(encoder).await?;
        Ok(self.results())
    }

    fn results(&self) -> Vec<DeviceBuffer> {
        self.executable.program.results().iter().map(|tensor| self.tensor(tensor)).collect()
    }

    fn memory(&self, tensor: &Tensor) -> Stretch {
        self.memory[tensor.buffer.index()].clone()
    }

    fn tensor(&self, tensor: &Tensor) -> DeviceBuffer {
        DeviceBuffer::new(&self.executable.device, self.memory(tensor), tensor.shape.clone(), tensor.bytes)
    }

    fn steps<'r>(&'r mut self, steps: &'a [Step]) -> Steps<'r> {
        Box::pin(async move {
            for step in steps {
                match step {
                    Step::Launch(launch) => self.launch(launch).await?,
                    Step::Copy(Copy { from, to }) => {
                        self.recorder.copy(self.memory(from), self.memory(to), to.bytes).await?;
                    }
                    Step::While(step) => {
                        self.depth += 1;
                        match &step.ahead {
                            Some(Ahead::Gated(gate)) => self.repeat_gated(step, gate).await?,
                            Some(Ahead::Kept(rounds)) => self.repeat_kept(step, *rounds).await?,
                            None => self.repeat(step).await?,
                        }
                        self.depth -= 1;
                    }
                    Step::Conditional(step) => self.choose(step).await?,
                    Step::Host(step) => self.on_host(step).await?,
                    Step::Draw(draw) => self.draw(draw).await?,
                }
            }
            Ok(())
        })
    }

    async fn launch(&mut self, launch: &'a Launch) -> Result<(), Error> {
        let tensors = launch.inputs.iter().chain(&launch.outputs);
        let memory = tensors.map(|tensor| self.memory(tensor)).collect();
        let sizes = self.ahead.as_ref().and_then(|ahead| ahead.get(&std::ptr::from_ref(launch).addr()).cloned());
        self.recorder.launch(launch, memory, sizes, self.depth > 0).await
    }

    /// Hands over rounds before it is known whether they take place. Those that do not leave all memory as it is, so afterwards buffers have the
    /// memory that they had behind the last round that did.
    async fn repeat_gated(&mut self, step: &'a While, gate: &'a Gate) -> Result<(), Error> {
        for tensor in [&gate.over, &gate.rounds] {
            let memory = self.memory(tensor);
            self.recorder.clear(memory, tensor.bytes).await?;
        }
        self.steps(&step.condition).await?;
        self.launch(&gate.launch).await?;
        let memory = self.memory(&gate.grids);
        let launches = all(&step.body).chain(all(&step.condition)).filter_map(|step| match step {
            Step::Launch(launch) => Some(std::ptr::from_ref(launch).addr()),
            _ => None,
        });
        let offsets = (0..).step_by(3 * size_of::<u32>());
        let ahead: HashMap<usize, Sizes> =
            launches.zip(offsets).map(|(launch, offset)| (launch, Sizes { memory: memory.behind(offset) })).collect();
        let ahead = Arc::new(ahead);
        let loops = all(&step.body).chain(all(&step.condition)).filter_map(|step| match step {
            Step::While(step) => Some(step.as_ref()),
            _ => None,
        });
        let exchanged: BTreeSet<usize> = loops.chain([step]).flat_map(exchanged_by).collect();
        let (mut rounds, mut behind) = (0u32, 2.min(gate.most));
        loop {
            let mut after = vec![self.memories(&exchanged)];
            for _ in 0..behind {
                self.ahead = Some(Arc::clone(&ahead));
                self.steps(&step.body).await?;
                self.exchange(step);
                self.steps(&step.condition).await?;
                self.ahead = None;
                self.launch(&gate.launch).await?;
                after.push(self.memories(&exchanged));
            }
            let is_over = self.read(&gate.over).await? != 0;
            if is_over {
                let all = self.read(&gate.rounds).await?;
                // Counted modulo 2^32, as the kernel does.
                let last = u32::try_from(all).unwrap_or(0).wrapping_sub(rounds) as usize;
                self.restore(after.into_iter().nth(last).ok_or_else(|| not_counted(step))?);
                return Ok(());
            }
            rounds = rounds.wrapping_add(u32::try_from(behind).unwrap_or(0));
            self.tell(step, u64::from(rounds));
            behind = (2 * behind).min(gate.most);
        }
    }

    /// Says how many rounds of a loop are handed over.
    fn tell(&self, step: &While, done: u64) {
        if let Some(watch) = &self.executable.watch {
            watch.tell(&Progress::Rounds { name: &step.name, done, all: step.trip_count });
        }
    }

    /// What memory these buffers have.
    fn memories(&self, buffers: &BTreeSet<usize>) -> Memories {
        buffers.iter().map(|buffer| (*buffer, self.memory[*buffer].clone())).collect()
    }

    /// Gives buffers these memories.
    fn restore(&mut self, memories: Memories) {
        for (buffer, memory) in memories {
            self.memory[buffer] = memory;
        }
    }

    /// What follows a round.
    fn exchange(&mut self, step: &While) {
        let from: Vec<Stretch> =
            step.exchanges.iter().map(|exchange| self.memory[exchange.with.index()].clone()).collect();
        for (exchange, memory) in step.exchanges.iter().zip(from) {
            self.memory[exchange.buffer.index()] = memory;
        }
    }

    async fn repeat(&mut self, step: &'a While) -> Result<(), Error> {
        let mut rounds = 0;
        loop {
            let goes_on = match (step.trip_count, &step.flag) {
                (Some(count), _) => rounds < count,
                (None, Some(flag)) => {
                    self.steps(&step.condition).await?;
                    self.read(flag).await? != 0
                }
                (None, None) => false,
            };
            if !goes_on {
                return Ok(());
            }
            self.steps(&step.body).await?;
            self.exchange(step);
            rounds += 1;
            self.tell(step, rounds);
        }
    }

    async fn choose(&mut self, step: &'a Conditional) -> Result<(), Error> {
        let chosen = self.read(&step.selector).await?;
        let last = step.branches.len().saturating_sub(1);
        let branch = match step.selector.shape.element_type {
            ElementType::Pred => usize::from(chosen == 0),
            _ => usize::try_from(chosen).map_or(last, |branch| branch.min(last)),
        };
        match step.branches.get(branch) {
            Some(steps) => self.steps(steps).await,
            None => Ok(()),
        }
    }

    /// The number in a tensor of one element, which everything recorded before has to be done for.
    async fn read(&mut self, tensor: &Tensor) -> Result<i64, Error> {
        self.recorder.submit().await?;
        let literals = read_all(&self.executable.device, &[self.tensor(tensor)], self.waiting).await?;
        let value = literals.first().and_then(|literal| literal.data.get(0));
        Ok(match value {
            Some(Scalar::Pred(value)) => i64::from(value),
            Some(Scalar::S32(value)) => i64::from(value),
            Some(Scalar::U32(value)) => i64::from(value),
            _ => 0,
        })
    }

    /// The state goes to the device by way of a buffer of its own, so that launches which are recorded already see what they are to see.
    async fn draw(&mut self, step: &Draw) -> Result<(), Error> {
        let chance = &self.executable.chance;
        let state = match step.output.shape.rank() {
            0 => Literal::scalar(Scalar::U64(chance.move_draws(step.delta))),
            _ => {
                let state = chance.move_state(&step.name, step.delta);
                Literal::array([2], vec![state as u64, (state >> 64) as u64])
            }
        };
        let given = DeviceBuffer::upload_async(&self.executable.device, &state).await?;
        self.recorder.copy(Stretch::from(&given), self.memory(&step.output), step.output.bytes).await
    }

    async fn on_host(&mut self, step: &Host) -> Result<(), Error> {
        self.recorder.submit().await?;
        let inputs: Vec<DeviceBuffer> = step.inputs.iter().map(|tensor| self.tensor(tensor)).collect();
        let inputs = read_all(&self.executable.device, &inputs, self.waiting).await?;
        let config = Config { chance: Some(self.executable.chance.clone()), ..Config::default() };
        let constants = self.executable.program.constants_of(step);
        let inputs: Vec<&Literal> = inputs.iter().chain(constants).collect();
        let results = evaluate_borrowed(&step.module, &inputs, &config)?;
        let what = format!("running {}", self.executable.program.name());
        let write = |device: &crate::Device| -> Result<(), Error> {
            for (tensor, literal) in step.outputs.iter().zip(&results) {
                let bytes = encode(literal).filter(|bytes| bytes.len() as u64 == tensor.bytes);
                let bytes = bytes.ok_or_else(|| no_form(tensor, literal))?;
                if !bytes.is_empty() {
                    let memory = self.memory(tensor);
                    device.wgpu_queue().write_buffer(memory.buffer(), memory.offset, &bytes);
                }
            }
            Ok(())
        };
        self.executable.device.scoped(&what, write).await?
    }
}

impl Executable {
    /// The addresses of buffers that every execution with this set has.
    fn kept_with(&self, set: &Set) -> BTreeSet<usize> {
        let own = self.constants.iter().map(|constant| Arc::as_ptr(&constant.memory).addr());
        let sizes = self.sizes.iter().map(|sizes| Arc::as_ptr(sizes.memory()).addr());
        set.addresses().into_iter().chain(own).chain(sizes).collect()
    }
}

/// The buffers whose memory a loop exchanges itself.
fn exchanged_by(step: &While) -> impl Iterator<Item = usize> {
    step.exchanges.iter().map(|exchange| exchange.buffer.index())
}

fn not_counted(step: &While) -> Error {
    let message = format!("the device counted rounds of {} that it was not given", step.name);
    Error::Internal { what: "running a loop".into(), message }
}

fn no_form(tensor: &Tensor, literal: &Literal) -> Error {
    let value = format!("{} {}", tensor.name, tensor.shape);
    Error::NoDeviceForm { value, reason: format!("the host made {} of it", literal.shape) }
}
