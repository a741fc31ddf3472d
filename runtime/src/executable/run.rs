//! One execution of a program.

use super::Executable;
use super::recorder::Recorder;
use crate::buffer::{Pooled, Use, read_all};
use crate::program::layout::encode;
use crate::program::{BufferKind, Conditional, Copy, Host, Step, Tensor, While};
use crate::{DeviceBuffer, Error};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use weft_hlo::eval;
use weft_hlo::ir::{ElementType, Literal, Scalar};

/// An execution in progress.
pub(super) struct Run<'a> {
    executable: &'a Executable,
    /// The memory of each buffer, which loops exchange.
    memory: Vec<Arc<Pooled>>,
    recorder: Recorder<'a>,
}

/// Steps in progress.
type Steps<'r> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'r>>;

impl<'a> Run<'a> {
    /// One on these arguments, with memory for everything else.
    pub(super) async fn new(executable: &'a Executable, inputs: &[DeviceBuffer]) -> Result<Self, Error> {
        let take = |device: &crate::Device| {
            let memory = |kind: BufferKind, bytes: u64| match kind {
                BufferKind::Parameter(number) => Arc::clone(inputs[number].memory()),
                BufferKind::Constant(number) => Arc::clone(executable.constants[number].memory()),
                BufferKind::Result | BufferKind::Temporary => {
                    Arc::new(device.pool().take(device.wgpu_device(), Use::Tensor, bytes))
                }
            };
            executable.program.buffers().iter().map(|buffer| memory(buffer.kind, buffer.bytes)).collect()
        };
        let what = format!("running {}", executable.program.name());
        let memory = executable.device.scoped(&what, take).await?;
        Ok(Run { executable, memory, recorder: Recorder::new(executable) })
    }

    /// Runs all steps; the results.
    pub(super) async fn finish(mut self) -> Result<Vec<DeviceBuffer>, Error> {
        self.steps(self.executable.program.steps()).await?;
        self.recorder.submit().await?;
        Ok(self.executable.program.results().iter().map(|tensor| self.tensor(tensor)).collect())
    }

    fn memory(&self, tensor: &Tensor) -> Arc<Pooled> {
        Arc::clone(&self.memory[tensor.buffer.index()])
    }

    fn tensor(&self, tensor: &Tensor) -> DeviceBuffer {
        DeviceBuffer::new(&self.executable.device, self.memory(tensor), tensor.shape.clone(), tensor.bytes)
    }

    fn steps<'r>(&'r mut self, steps: &'a [Step]) -> Steps<'r> {
        Box::pin(async move {
            for step in steps {
                match step {
                    Step::Launch(launch) => {
                        let tensors = launch.inputs.iter().chain(&launch.outputs);
                        let memory = tensors.map(|tensor| self.memory(tensor)).collect();
                        self.recorder.launch(launch, memory).await?;
                    }
                    Step::Copy(Copy { from, to }) => {
                        self.recorder.copy(self.memory(from), self.memory(to), to.bytes).await?;
                    }
                    Step::While(step) => self.repeat(step).await?,
                    Step::Conditional(step) => self.choose(step).await?,
                    Step::Host(step) => self.on_host(step).await?,
                }
            }
            Ok(())
        })
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
            let from: Vec<Arc<Pooled>> =
                step.exchanges.iter().map(|exchange| Arc::clone(&self.memory[exchange.with.index()])).collect();
            for (exchange, memory) in step.exchanges.iter().zip(from) {
                self.memory[exchange.buffer.index()] = memory;
            }
            rounds += 1;
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
        let literals = read_all(&self.executable.device, &[self.tensor(tensor)]).await?;
        let value = literals.first().and_then(|literal| literal.data.get(0));
        Ok(match value {
            Some(Scalar::Pred(value)) => i64::from(value),
            Some(Scalar::S32(value)) => i64::from(value),
            _ => 0,
        })
    }

    async fn on_host(&mut self, step: &Host) -> Result<(), Error> {
        self.recorder.submit().await?;
        let inputs: Vec<DeviceBuffer> = step.inputs.iter().map(|tensor| self.tensor(tensor)).collect();
        let inputs = read_all(&self.executable.device, &inputs).await?;
        let results = eval::evaluate(&step.module, &inputs)?;
        let what = format!("running {}", self.executable.program.name());
        let write = |device: &crate::Device| -> Result<(), Error> {
            for (tensor, literal) in step.outputs.iter().zip(&results) {
                let bytes = encode(literal).filter(|bytes| bytes.len() as u64 == tensor.bytes);
                let bytes = bytes.ok_or_else(|| no_form(tensor, literal))?;
                if !bytes.is_empty() {
                    device.wgpu_queue().write_buffer(&self.memory(tensor).buffer, 0, &bytes);
                }
            }
            Ok(())
        };
        self.executable.device.scoped(&what, write).await?
    }
}

fn no_form(tensor: &Tensor, literal: &Literal) -> Error {
    let value = format!("{} {}", tensor.name, tensor.shape);
    Error::NoDeviceForm { value, reason: format!("the host made {} of it", literal.shape) }
}
