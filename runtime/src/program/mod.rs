//! Programs: what to launch, in which order and how often, on which buffers. No device is needed to make one.

mod arena;
mod assign;
pub(crate) mod bytes;
mod check;
mod donation;
mod front;
pub(crate) mod layout;
mod peak;
mod schedule;
pub(crate) mod step;
mod text;
pub(crate) mod whole;

pub use arena::Place;
pub use donation::Donated;
pub use layout::tensor_bytes;
pub use step::{Ahead, Conditional, Copy, Draw, Exchange, Gate, Host, Launch, Step, Updated, While};

use crate::{Error, Watch};
use std::fmt;
use weft_codegen_wgsl::Shader;
use weft_hlo::ir::{ArrayShape, Literal, Module, Op};
use weft_hlo::passes::{Optimized, PassRun, Pipeline};
use weft_partition::{Fused, Grouping, Site, Target};

/// A buffer of a [`Program`], printed as `b3`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub(crate) u32);

impl BufferId {
    /// The position in [`Program::buffers`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for BufferId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

/// What a buffer is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BufferKind {
    /// It holds the argument of this number and is never written by a launch.
    Parameter(usize),
    /// It holds the argument of this number first, and what the program puts in its place after.
    Donated(usize),
    /// It holds this constant of [`Program::constants`] and is never written by a launch.
    Constant(usize),
    /// It holds the sizes of the launches of a loop, these of [`Program::sizes`], and is never written by a launch.
    Sizes(usize),
    /// It holds a result in the end, and intermediate values of at most that size before.
    Result,
    /// It holds intermediate values, one after the other.
    Temporary,
}

/// A buffer that a run needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// What it is for.
    pub kind: BufferKind,
    /// Bytes to allocate, a multiple of 256.
    pub bytes: u64,
    /// Where it lies within a larger buffer of the device ([`Program::arenas`]); `None` if it is one itself.
    pub place: Option<Place>,
}

/// A tensor and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The instruction it is the value of; `name{k}` for the `k`-th output of several.
    pub name: String,
    /// Type and extents; on the device it is row-major whatever the layout.
    pub shape: ArrayShape,
    /// The buffer, from its first byte.
    pub buffer: BufferId,
    /// Bytes of content, 0 for an empty tensor.
    pub bytes: u64,
}

/// Bytes of all buffers of a program, by what they are for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferTotals {
    /// Buffers of parameters.
    pub parameters: u64,
    /// Buffers of constants.
    pub constants: u64,
    /// Buffers of results.
    pub results: u64,
    /// Buffers of intermediate values.
    pub temporaries: u64,
    /// What the intermediate values would take if each had a buffer of its own.
    pub temporaries_without_reuse: u64,
    /// What lives at one time at most: however values are given buffers, a run cannot hold less. Arguments that are not donated and constants
    /// live all the time.
    pub least: u64,
}

impl BufferTotals {
    /// Bytes that one run holds at most.
    pub fn allocated(&self) -> u64 {
        [self.parameters, self.constants, self.results, self.temporaries].into_iter().fold(0, u64::saturating_add)
    }

    /// Bytes that one run would hold if no buffer were used twice.
    pub fn without_reuse(&self) -> u64 {
        (self.allocated() - self.temporaries).saturating_add(self.temporaries_without_reuse)
    }
}

/// A compiled module: kernels, the steps that run them, and the buffers between them.
///
/// Made by [`compile`], a pure function; an [`Executable`](crate::Executable) binds it to a device. Its `Display` shows
/// schedule and buffers; [`text`](Program::text) is all of it, which [`parse`](Program::parse) reads, and [`to_bytes`](Program::to_bytes) the same
/// for files.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) module: Module,
    pub(crate) target: Target,
    pub(crate) shaders: Vec<Shader>,
    pub(crate) steps: Vec<Step>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) parameters: Vec<Tensor>,
    pub(crate) constants: Vec<(Site, Tensor)>,
    pub(crate) results: Vec<Tensor>,
    pub(crate) sizes: Vec<Vec<u32>>,
    pub(crate) temporaries_without_reuse: u64,
    pub(crate) least: u64,
    pub(crate) passes: Vec<PassRun>,
    pub(crate) loops: Vec<LoopDecision>,
    /// Whether it was read, and may come from anywhere: then its kernels keep all checks.
    pub(crate) is_foreign: bool,
}

/// Whether a loop became one kernel, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopDecision {
    /// The name of the instruction, behind that of its computation where that is not the entry.
    pub name: String,
    /// Whether it is one kernel; else its rounds are steps.
    pub is_kernel: bool,
    /// Why.
    pub reason: String,
}

/// How a module is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether the passes of the default [`Pipeline`] simplify the module before it is fused. They keep every value bit for bit,
    /// as the evaluator computes it; what they fold, the device no longer computes.
    pub optimize: bool,
    /// Whether the host may compute what has no kernel, between launches ([`Host`]). Else a program with such instructions is refused, with all
    /// of them.
    pub host: bool,
    /// The arguments whose memory the program may use for values of its own.
    pub donated: Donated,
    /// Bytes of device memory that a run may take at its [peak](Program::peak_bytes); a program that takes more is refused. `None` for any number.
    pub memory_budget: Option<u64>,
    /// Whether loops become kernels of one workgroup where that is no slower ([`LoopPlan`](weft_partition::LoopPlan)); else a round is launches.
    pub whole_loops: bool,
    /// Whether all branches of a conditional are computed where that takes no longer than that the host reads which one is taken
    /// ([`Fusing`](weft_partition::Fusing)); else the host reads.
    pub all_branches: bool,
    /// What is fused at all.
    pub grouping: Grouping,
}

/// With passes, with loops that are kernels and branches that are all computed, with the host's help, without a budget, and with the donations that the module asks for.
impl Default for Options {
    fn default() -> Self {
        Options {
            optimize: true,
            host: true,
            donated: Donated::AsGiven,
            memory_budget: None,
            whole_loops: true,
            all_branches: true,
            grouping: Grouping::Keep,
        }
    }
}

/// A verified module as it is going to be fused, and what the passes did to it: nothing, unless the options ask for them.
///
/// # Errors
/// [`Error::Program`] with what a pass refuses: what it would make is too large.
pub fn optimize(module: &Module, options: &Options) -> Result<Optimized, Error> {
    let _span = tracing::debug_span!("passes").entered();
    if options.optimize {
        Ok(Pipeline::default().run(module)?)
    } else {
        Ok(Optimized { module: module.clone(), runs: Vec::new(), is_fixed_point: true })
    }
}

/// Compiles `module` for `target`, with the default [`Options`]: verifies it, simplifies it, fuses it, writes a kernel for each
/// fusion and assigns buffers. What has no kernel the host will compute between launches; [`Program::host_steps`] tells what and why.
///
/// Pure: the same module and target give the same program on every machine, and no device is touched. The module is
/// simplified and fused first, so it may hold calls, tuples and any nesting the passes can remove.
///
/// # Errors
/// [`Error::Program`] with all findings where the module is invalid or holds an operation that has no kernel and that the evaluator does not
/// compute either; [`Error::BufferTooLarge`] where a tensor exceeds the target's limits; [`Error::NoDeviceForm`] for types that no
/// kernel can hold; [`Error::OverBudget`] for a program that takes more memory than it may; [`Error::Donation`] for an argument that there is not; [`Error::Target`] for a target that no device can be.
pub fn compile(module: &Module, target: &Target) -> Result<Program, Error> {
    compile_with(module, target, &Options::default())
}

/// As [`compile`], with other options.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(module: &Module, target: &Target, options: &Options) -> Result<Program, Error> {
    compile_telling(module, target, options, None)
}

/// As [`compile_with`], and tells a callback how many kernels are compiled.
///
/// # Errors
/// As [`compile`].
pub fn compile_watched(module: &Module, target: &Target, options: &Options, watch: &Watch) -> Result<Program, Error> {
    compile_telling(module, target, options, Some(watch))
}

pub(crate) fn compile_telling(
    module: &Module,
    target: &Target,
    options: &Options,
    watch: Option<&Watch>,
) -> Result<Program, Error> {
    let _span = tracing::debug_span!("compile", module = module.name).entered();
    target.check()?;
    weft_hlo::verify::verify(module)?;
    let Optimized { module, runs, .. } = optimize(module, options)?;
    Ok(Program { passes: runs, ..scheduled(front::fused(&module, target, options)?, target, options, watch)? })
}

/// Compiles a module that is fused already, as [`weft_partition::fuse_explained`] leaves it; [`Fused::of`] takes those that others fused. Of the
/// options those about passes play no part.
///
/// # Errors
/// As [`compile`].
pub fn compile_fused(fused: Fused, target: &Target, options: &Options) -> Result<Program, Error> {
    target.check()?;
    scheduled(fused, target, options, None)
}

fn scheduled(fused: Fused, target: &Target, options: &Options, watch: Option<&Watch>) -> Result<Program, Error> {
    let program = schedule::build(fused, target, options, watch)?;
    options.memory_budget.map_or(Ok(()), |budget| program.check_budget(budget))?;
    Ok(program)
}

impl Program {
    /// The name of the module.
    pub fn name(&self) -> &str {
        &self.module.name
    }

    /// What passes did to the module before it was fused, run by run; nothing where none ran, and of a program that was not compiled but read.
    pub fn passes(&self) -> &[PassRun] {
        &self.passes
    }

    /// The fused module that the launches come from.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// What it was compiled for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The arguments, in order; the elements of tuple parameters one by one.
    pub fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    /// The results, in order; the elements of tuples one by one. Several results may lie in one buffer, and a result
    /// may lie in that of a parameter or constant.
    pub fn results(&self) -> &[Tensor] {
        &self.results
    }

    /// Constants that lie in buffers, with their values.
    pub fn constants(&self) -> impl ExactSizeIterator<Item = (&Tensor, &Literal)> {
        self.constants.iter().map(move |(site, tensor)| {
            let literal = match &self.module.computations[site.computation].instructions[site.instruction].op {
                Op::Constant(literal) => Some(literal),
                _ => None,
            };
            (tensor, literal.expect("the schedule lists only constants among the constants"))
        })
    }

    /// The values of the constants that the host reads in a step, in order.
    pub(crate) fn constants_of<'a>(&'a self, host: &'a Host) -> impl Iterator<Item = &'a Literal> {
        host.constants.iter().filter_map(|site| {
            let computation = self.module.computations.get(site.computation)?;
            match &computation.instructions.get(site.instruction)?.op {
                Op::Constant(literal) => Some(literal),
                _ => None,
            }
        })
    }

    /// For each loop whether it is one kernel, and why; nothing where [none was to be](Options::whole_loops).
    pub fn loops(&self) -> &[LoopDecision] {
        &self.loops
    }

    /// For each loop that has a [gate](Ahead::Gated) the numbers of workgroups of its launches, three for each.
    pub fn sizes(&self) -> &[Vec<u32>] {
        &self.sizes
    }

    /// The distinct kernels.
    pub fn shaders(&self) -> &[Shader] {
        &self.shaders
    }

    /// The kernel of a launch.
    pub fn shader(&self, launch: &Launch) -> &Shader {
        &self.shaders[launch.shader]
    }

    /// The steps in order; those of loops and branches within them.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The launches among the steps, in order, each once however often it runs: of a loop its gate, those of its condition, those of its
    /// body.
    pub fn launches(&self) -> impl Iterator<Item = &Launch> {
        step::all(&self.steps).filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            Step::While(step) => step.gate().map(|gate| &gate.launch),
            _ => None,
        })
    }

    /// The steps that the host computes, in order, each once however often it runs.
    pub fn host_steps(&self) -> impl Iterator<Item = &Host> {
        step::all(&self.steps).filter_map(|step| match step {
            Step::Host(host) => Some(host),
            _ => None,
        })
    }

    /// Bytes that launches read and write, and copies, each as often as it runs where that is known. What a loop moves whose rounds are
    /// known only when it runs is counted for one round, and of a conditional the branch that moves most.
    pub fn bytes_moved(&self) -> u64 {
        step::bytes_moved(&self.steps)
    }

    /// The buffers.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// How much memory a run takes.
    pub fn totals(&self) -> BufferTotals {
        let mut totals = BufferTotals {
            temporaries_without_reuse: self.temporaries_without_reuse,
            least: self.least,
            ..BufferTotals::default()
        };
        for buffer in &self.buffers {
            let total = match buffer.kind {
                BufferKind::Parameter(_) | BufferKind::Donated(_) => &mut totals.parameters,
                BufferKind::Constant(_) | BufferKind::Sizes(_) => &mut totals.constants,
                BufferKind::Result => &mut totals.results,
                BufferKind::Temporary => &mut totals.temporaries,
            };
            *total = total.saturating_add(buffer.bytes);
        }
        totals
    }
}
