//! What a program does, step by step.

use super::{BufferId, Tensor};
use std::fmt;
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::{Computation, Module, Op};
use weft_partition::Site;

/// How deep loops and branches stand in one another at most. What nests deeper is not compiled (`RUN004`), and all that is compiled can be read again.
pub(crate) const MAX_NESTED: usize = 64;

/// One step of a program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// A kernel runs.
    Launch(Launch),
    /// A tensor is copied.
    Copy(Copy),
    /// Steps run over and over.
    While(Box<While>),
    /// The steps of one of several branches run.
    Conditional(Conditional),
    /// The host computes what has no kernel.
    Host(Host),
    /// A random state is uploaded.
    Draw(Draw),
}

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The name of the fusion, behind that of its computation where that is not the entry.
    pub name: String,
    /// The fusion in [`Program::module`](super::Program::module), or the loop that is one kernel.
    pub fusion: Site,
    /// The kernel, an index into [`Program::shaders`](super::Program::shaders).
    pub shader: usize,
    /// Workgroups in each dimension, none of them 0.
    pub workgroups: [u32; 3],
    /// How long all of it is expected to take on the target at its best, in nanoseconds: a launch, what memory moves, and arithmetic as far as it is counted
    /// ([`Work::flops`](weft_partition::Work)); of a loop that is one kernel all rounds that a dispatch may make.
    pub nanoseconds: u64,
    /// How often the kernel is dispatched, each time with other [windows](weft_codegen_wgsl::Binding::windows) of what is larger than a kernel
    /// may bind.
    pub windows: u32,
    /// What is read: bindings 0, 1, ….
    pub inputs: Vec<Tensor>,
    /// What is written: the bindings after the inputs. None of their buffers is one of an input.
    pub outputs: Vec<Tensor>,
    /// The outputs that are updated in place.
    pub updated: Vec<Updated>,
}

/// An output whose buffer holds what it is an update of when the kernel starts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    /// Which output.
    pub output: usize,
    /// Bytes that the kernel writes.
    pub bytes: u64,
}

impl Launch {
    /// Bytes of what is read, each operand once, and of what is written.
    pub fn bytes_moved(&self) -> u64 {
        let updated = |output: usize| self.updated.iter().find(|updated| updated.output == output);
        let written = self.outputs.iter().enumerate();
        let written = written.map(|(output, tensor)| updated(output).map_or(tensor.bytes, |updated| updated.bytes));
        self.inputs.iter().map(|tensor| tensor.bytes).chain(written).fold(0, u64::saturating_add)
    }
}

/// A tensor that is copied into another buffer: a kernel updates it there and it is needed still, or a loop or a branch needs it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// What is copied.
    pub from: Tensor,
    /// What it becomes: a tensor of the same shape in another buffer.
    pub to: Tensor,
}

/// Steps that run over and over: as often as is known, or while a condition holds.
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    /// The name of the instruction, behind that of its computation where that is not the entry.
    pub name: String,
    /// How many rounds there are, where that is known. Then the condition is never computed.
    pub trip_count: Option<u64>,
    /// What computes the condition; nothing where the number of rounds is known, and where a launch of the round tells whether there is another.
    pub condition: Vec<Step>,
    /// The condition, of one `pred`.
    pub flag: Option<Tensor>,
    /// What is carried from round to round: before the first round its initial values, after the last its final ones. What the body passes
    /// on as it is does not belong to it.
    pub carried: Vec<Tensor>,
    /// A round.
    pub body: Vec<Step>,
    /// What follows each round, all at once: so what a round made becomes what the next one is given, and nothing is copied.
    pub exchanges: Vec<Exchange>,
    /// How rounds are handed to the device before it is known whether they take place, where their number is not known and they consist of
    /// launches alone.
    pub ahead: Option<Ahead>,
}

/// How rounds are handed to the device before it is known whether they take place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// They take place, and what is too much is forgotten: what each round makes has memory of its own, for so many rounds. For rounds that cost
    /// little.
    Kept(usize),
    /// The device decides.
    Gated(Box<Gate>),
}

impl While {
    /// The gate, if the device decides whether rounds take place.
    pub fn gate(&self) -> Option<&Gate> {
        match &self.ahead {
            Some(Ahead::Gated(gate)) => Some(gate),
            Some(Ahead::Kept(_)) | None => None,
        }
    }
}

/// What decides on the device whether the launches of a round run: after the condition a kernel writes their sizes, or zeros for ever after
/// ([`gate`](weft_codegen_wgsl::gate)). All launches of body and condition are dispatched by these sizes, but for those of the first condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The kernel. It reads the flag and what the sizes are, and writes the three below.
    pub launch: Launch,
    /// Whether the loop is over: `u32[1]`, 0 before the first round.
    pub over: Tensor,
    /// How many rounds took place: `u32[1]`, 0 before the first.
    pub rounds: Tensor,
    /// The sizes: three words for each launch of the body, in order, then for each of the condition.
    pub grids: Tensor,
    /// How many rounds are handed over at once at most.
    pub most: usize,
}

/// The memory of one buffer becomes that of another.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The buffer.
    pub buffer: BufferId,
    /// The buffer whose memory it has from now on. Over all exchanges of a round these are the same buffers.
    pub with: BufferId,
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <- {}", self.buffer, self.with)
    }
}

/// The steps of one of several branches run.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditional {
    /// The name of the instruction, behind that of its computation where that is not the entry.
    pub name: String,
    /// What decides: one `pred`, whose truth takes the first of two branches, or one `s32`, the number of the branch; a number that
    /// there is no branch for takes the last one.
    pub selector: Tensor,
    /// The branches. Each leaves its results in the same buffers.
    pub branches: Vec<Vec<Step>>,
    /// What the branches yield.
    pub outputs: Vec<Tensor>,
    /// Why the host reads what decides, and not all branches are computed.
    pub why: String,
}

/// Instructions that have no kernel, which the evaluator computes on the host, between launches.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// What is computed there, and why.
    pub reasons: Vec<Diagnostic>,
    /// The instructions, as a program of their own: its parameters are the inputs and, behind them, the constants, its results the outputs.
    pub module: Module,
    /// What is copied from the device.
    pub inputs: Vec<Tensor>,
    /// Constants of [`Program::module`](super::Program::module) that it reads and is not to hold again. Small ones it holds.
    pub constants: Vec<Site>,
    /// What is copied to the device.
    pub outputs: Vec<Tensor>,
}

/// A random state is uploaded, and moved on: that of an instruction, or how many `rng` the program has run. Nothing is read back for it, and nothing is
/// waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The name of the instruction, behind that of its computation where that is not the entry: by it its state is known.
    pub name: String,
    /// The amount by which the state is moved on.
    pub delta: i64,
    /// What the state becomes before it is moved on: `u64[2]`, its lower half first; or `u64[]` for how many `rng` have run.
    pub output: Tensor,
}

impl Host {
    /// The names of the operations that the host computes, each once; what a fusion stands for is told by what it computes.
    pub fn operations(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.operations_of(self.module.entry_computation(), &mut names);
        names
    }

    fn operations_of(&self, computation: &Computation, names: &mut Vec<String>) {
        for instruction in computation.instructions.values() {
            match &instruction.op {
                Op::Parameter { .. } | Op::Constant(_) | Op::Tuple | Op::GetTupleElement { .. } | Op::AfterAll => {}
                Op::Fusion { calls, .. } => self.operations_of(&self.module.computations[*calls], names),
                op if names.contains(&op.name().into_owned()) => {}
                op => names.push(op.name().into_owned()),
            }
        }
    }
}

impl Step {
    /// The steps within it, block by block.
    pub(crate) fn blocks(&self) -> Vec<&[Step]> {
        match self {
            Step::While(step) => vec![&step.condition, &step.body],
            Step::Conditional(Conditional { branches, .. }) => branches.iter().map(Vec::as_slice).collect(),
            Step::Launch(_) | Step::Copy(_) | Step::Host(_) | Step::Draw(_) => Vec::new(),
        }
    }
}

/// All steps, those within others behind them.
pub(crate) fn all(steps: &[Step]) -> impl Iterator<Item = &Step> {
    let mut pending: Vec<&Step> = steps.iter().rev().collect();
    std::iter::from_fn(move || {
        let step = pending.pop()?;
        pending.extend(step.blocks().into_iter().flatten().rev());
        Some(step)
    })
}

/// Bytes that steps move: see [`Program::bytes_moved`](super::Program::bytes_moved).
pub(crate) fn bytes_moved(steps: &[Step]) -> u64 {
    let of_step = |step: &Step| match step {
        Step::Launch(launch) => launch.bytes_moved(),
        Step::Copy(copy) => copy.from.bytes.saturating_add(copy.to.bytes),
        Step::While(step) => {
            let round = bytes_moved(&step.condition).saturating_add(bytes_moved(&step.body));
            round.saturating_mul(step.trip_count.unwrap_or(1))
        }
        Step::Conditional(Conditional { branches, .. }) => {
            branches.iter().map(|branch| bytes_moved(branch)).max().unwrap_or(0)
        }
        Step::Host(Host { inputs, outputs, .. }) => {
            inputs.iter().chain(outputs).map(|tensor| tensor.bytes).fold(0, u64::saturating_add)
        }
        Step::Draw(draw) => draw.output.bytes,
    };
    steps.iter().map(of_step).fold(0, u64::saturating_add)
}
