//! Programs on devices.

mod argument;
mod arranged;
mod constants;
mod kept;
mod record;
mod recorder;
mod run;

pub use argument::Argument;

use crate::buffer::{Stretch, read_all};
use crate::device::Waiting;
use crate::pipelines::{Pipeline, Pipelines, Wish};
use crate::program::BufferKind;
use crate::program::layout::{BUFFER_ALIGNMENT, WORD_BYTES, binding_bytes};
use crate::{Device, DeviceBuffer, Error, Program, Watch};
use kept::Sets;
use run::Run;
use std::sync::{Arc, Weak};
use tracing::Instrument;
use weft_codegen_wgsl::Shader;
use weft_hlo::eval::Chance;
use weft_hlo::ir::{Literal, Shape};
use weft_partition::Excess;

/// What kernels check while they run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checks {
    /// That indices are within their buffers and loops end, in kernels of which this is not proved
    /// ([`Proofs`](weft_codegen_wgsl::Proofs)): bounds checks cost products of matrices a fifth to two fifths of their time.
    /// A program that was read from text or bytes keeps them all.
    #[default]
    Unproved,
    /// The same in all kernels.
    All,
}

/// A [`Program`] bound to a [`Device`]: pipelines made, constants uploaded. Runs any number of times, from any thread.
#[derive(Clone, Debug)]
pub struct Executable {
    device: Device,
    program: Arc<Program>,
    pipelines: Vec<Pipeline>,
    /// For each kernel that has windows the blocks that tell its dispatches of them.
    windows: Vec<Option<wgpu::Buffer>>,
    constants: Vec<Stretch>,
    /// The sizes of launches that the device decides on.
    sizes: Vec<DeviceBuffer>,
    /// What executions leave for others.
    sets: Arc<Sets>,
    watch: Option<Watch>,
    /// How far random numbers have come.
    chance: Chance,
}

impl Executable {
    /// Binds `program` to `device`. Pipelines the device has already made for an equal kernel are used again.
    ///
    /// # Errors
    /// [`Error::TargetMismatch`] and [`Error::FeatureMissing`] if the program was compiled for more than the device offers, and
    /// whatever the device reports.
    pub async fn new_async(device: &Device, program: impl Into<Arc<Program>>) -> Result<Self, Error> {
        Executable::with_checks_async(device, program, Checks::default()).await
    }

    /// As [`new_async`](Executable::new_async), with a choice of what kernels check while they run.
    ///
    /// # Errors
    /// As [`new_async`](Executable::new_async).
    pub async fn with_checks_async(
        device: &Device,
        program: impl Into<Arc<Program>>,
        checks: Checks,
    ) -> Result<Self, Error> {
        let program = program.into();
        check_target(&program, device)?;
        let checks = if program.is_foreign { Checks::All } else { checks };
        let wish = Wish { checks, no_contraction: program.target().features.no_contraction };
        let pipelines = Pipelines::of(device, program.shaders(), wish);
        let pipelines = pipelines.instrument(tracing::debug_span!("pipelines")).await?;
        let constants = constants::upload(device, &program);
        let constants = constants.instrument(tracing::debug_span!("constants")).await?;
        let mut sizes = Vec::new();
        for own in program.sizes() {
            let count = i64::try_from(own.len()).unwrap_or(i64::MAX);
            sizes.push(DeviceBuffer::upload_async(device, &Literal::array([count], own.clone())).await?);
        }
        let blocks = |device: &Device| program.shaders().iter().map(|shader| window_blocks(device, shader)).collect();
        let windows = device.scoped(&format!("loading {}", program.name()), blocks).await?;
        let sets = Arc::new(Sets::default());
        let keeper: Weak<Sets> = Arc::downgrade(&sets);
        device.pool().add_keeper(keeper);
        Ok(Executable {
            device: device.clone(),
            program,
            pipelines,
            windows,
            constants,
            sizes,
            sets,
            watch: None,
            chance: Chance::new(),
        })
    }

    /// Uploads `inputs`, runs, and downloads the results. Tuples are flattened on both sides.
    ///
    /// The future does not block while the device works: a thread of the device waits for it. What the host computes between launches
    /// is computed where the future is polled.
    ///
    /// # Errors
    /// [`Error::InputCount`], [`Error::InputMismatch`], and whatever the device reports.
    pub async fn run_async(&self, inputs: &[Literal]) -> Result<Vec<Literal>, Error> {
        self.run_on(inputs, Waiting::Elsewhere).await
    }

    async fn run_on(&self, inputs: &[Literal], waiting: Waiting) -> Result<Vec<Literal>, Error> {
        let buffers = self.upload_async(inputs).await?;
        let results = self.execute_on(buffers.into_iter().map(Argument::Donated).collect(), waiting).await?;
        read_all(&self.device, &results, waiting).await
    }

    /// Runs on tensors that lie on the device and leaves the results there. Returns once the work is queued, for which a program whose
    /// steps depend on values waits for these: loops whose rounds are not known, conditionals, what the host computes. A result may share
    /// its memory with an input or with another result.
    ///
    /// ```
    #[doc = include_str!("../../examples/buffers_on_device.rs")]
    /// ```
    ///
    /// # Errors
    /// [`Error::InputCount`], [`Error::InputMismatch`], [`Error::ForeignBuffer`], [`Error::Validation`] if a kernel reads an input as a
    /// uniform whose buffer was made elsewhere without the usage `UNIFORM`, and whatever the device reports.
    pub async fn execute_async(&self, inputs: &[DeviceBuffer]) -> Result<Vec<DeviceBuffer>, Error> {
        self.execute_with_async(inputs.iter().map(Argument::Borrowed).collect()).await
    }

    /// As [`execute_async`](Executable::execute_async), with tensors of which some are given away.
    ///
    /// # Errors
    /// As there, and [`Error::Donation`] for a tensor that is given away while something else holds its memory: a clone, a result that shares
    /// it, another argument.
    pub async fn execute_with_async(&self, inputs: Vec<Argument<'_>>) -> Result<Vec<DeviceBuffer>, Error> {
        self.execute_on(inputs, Waiting::Elsewhere).await
    }

    async fn execute_on(&self, inputs: Vec<Argument<'_>>, waiting: Waiting) -> Result<Vec<DeviceBuffer>, Error> {
        self.check_arguments(&inputs)?;
        Run::new(self, inputs, waiting, true).await?.finish().await
    }

    /// The same with a callback that is told of the rounds of loops, in every run.
    #[must_use]
    pub fn watched(self, watch: Watch) -> Self {
        Executable { watch: Some(watch), ..self }
    }

    /// The same with random numbers that begin where a seed says ([`Chance::seeded`]), and are the executable's own: its runs in the same order give
    /// the same numbers as those of another with this seed. Else they begin as for seed 0, and each run of it, or of a clone, goes on where the last one
    /// ended.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Executable { chance: Chance::seeded(seed), ..self }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    fn check_arguments(&self, inputs: &[Argument<'_>]) -> Result<(), Error> {
        let shapes: Vec<Shape> = inputs.iter().map(|input| Shape::Array(input.buffer().shape().clone())).collect();
        self.check_inputs(shapes.iter())?;
        for (number, input) in inputs.iter().enumerate() {
            if !input.buffer().device().is_same(&self.device) {
                return Err(Error::ForeignBuffer(format!("input {number}")));
            }
            if let Argument::Donated(buffer) = input
                && Arc::strong_count(buffer.memory()) > 1
                && !buffer.memory().is_arena()
            {
                let reason = "something else holds its memory: a clone, a result, another argument".into();
                return Err(Error::Donation { number, reason });
            }
        }
        self.check_usages(inputs)
    }

    fn check_inputs<'a>(&self, shapes: impl ExactSizeIterator<Item = &'a Shape>) -> Result<(), Error> {
        let parameters = self.program.parameters();
        if shapes.len() != parameters.len() {
            return Err(Error::InputCount { expected: parameters.len(), given: shapes.len() });
        }
        for (number, (parameter, shape)) in parameters.iter().zip(shapes).enumerate() {
            if !shape.as_array().is_some_and(|array| array.same_type_and_extents(&parameter.shape)) {
                return Err(Error::InputMismatch {
                    number,
                    name: parameter.name.clone(),
                    expected: Shape::Array(parameter.shape.clone()).without_layout().to_string(),
                    given: shape.without_layout().to_string(),
                });
            }
        }
        Ok(())
    }

    /// Whether inputs that kernels read as uniforms can be bound as such; those made here can.
    fn check_usages(&self, inputs: &[Argument<'_>]) -> Result<(), Error> {
        for launch in self.program.launches() {
            let shader = &self.program.shaders()[launch.shader];
            for (tensor, (binding, _)) in launch.inputs.iter().zip(shader.tensors()) {
                let BufferKind::Parameter(number) = self.program.buffers()[tensor.buffer.index()].kind else {
                    continue;
                };
                let usage = inputs[number].buffer().wgpu_buffer().usage();
                if binding.uniform && !usage.contains(wgpu::BufferUsages::UNIFORM) {
                    let what = format!("running {}", self.program.name());
                    let message = format!(
                        "the kernel {} reads input {number} as a uniform, and its buffer lacks the usage UNIFORM",
                        launch.name
                    );
                    return Err(Error::Validation { what, message });
                }
            }
        }
        Ok(())
    }
}

/// Bytes of the block that tells a dispatch of its windows.
fn block_bytes(shader: &Shader) -> u64 {
    let windowed = shader.bindings.iter().filter(|binding| !binding.windows.is_empty());
    binding_bytes((1 + windowed.map(|_| 1).sum::<u64>()) * WORD_BYTES)
}

/// Bytes from one such block to the next.
fn block_stride(shader: &Shader) -> u64 {
    block_bytes(shader).next_multiple_of(BUFFER_ALIGNMENT)
}

/// The blocks for all dispatches of a kernel, if it has windows. To be called inside a scope.
fn window_blocks(device: &Device, shader: &Shader) -> Option<wgpu::Buffer> {
    shader.window_binding?;
    let stride = usize::try_from(block_stride(shader)).ok()?;
    let mut bytes: Vec<u8> = Vec::new();
    for number in 0..shader.windows {
        let end = bytes.len() + stride;
        let firsts = shader.bindings.iter().filter_map(|binding| binding.windows.get(number as usize));
        let firsts = firsts.map(|window| u32::try_from(window.start).unwrap_or(u32::MAX));
        std::iter::once(number).chain(firsts).for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes.resize(end, 0);
    }
    let buffer = device.wgpu_device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("windows"),
        size: u64::try_from(bytes.len()).ok()?,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    device.wgpu_queue().write_buffer(&buffer, 0, &bytes);
    Some(buffer)
}

/// Whether the device offers whatever the program was allowed to use.
fn check_target(program: &Program, device: &Device) -> Result<(), Error> {
    match program.target().excess_over(device.target()) {
        None => Ok(()),
        Some(Excess::Limit { what, asked, offered }) => Err(Error::TargetMismatch { what, asked, offered }),
        Some(Excess::Feature(feature)) => Err(Error::FeatureMissing { feature }),
        Some(Excess::Fault(fault)) => Err(Error::FeatureMissing { feature: fault.to_owned() }),
    }
}

#[cfg(feature = "blocking")]
impl Executable {
    /// [`new_async`](Executable::new_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn new(device: &Device, program: impl Into<Arc<Program>>) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(device, program))
    }

    /// [`with_checks_async`](Executable::with_checks_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn with_checks(device: &Device, program: impl Into<Arc<Program>>, checks: Checks) -> Result<Self, Error> {
        pollster::block_on(Self::with_checks_async(device, program, checks))
    }

    /// [`run_async`](Executable::run_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn run(&self, inputs: &[Literal]) -> Result<Vec<Literal>, Error> {
        pollster::block_on(self.run_on(inputs, Waiting::Here))
    }

    /// [`execute_with_async`](Executable::execute_with_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn execute_with(&self, inputs: Vec<Argument<'_>>) -> Result<Vec<DeviceBuffer>, Error> {
        pollster::block_on(self.execute_on(inputs, Waiting::Here))
    }

    /// [`execute_async`](Executable::execute_async), waiting.
    ///
    /// # Errors
    /// As there.
    pub fn execute(&self, inputs: &[DeviceBuffer]) -> Result<Vec<DeviceBuffer>, Error> {
        self.execute_with(inputs.iter().map(Argument::Borrowed).collect())
    }
}
