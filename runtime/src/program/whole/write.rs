//! Writing all of a program.

use super::FIRST;
use crate::program::{
    Ahead, Buffer, BufferKind, Conditional, Copy, Draw, Host, Launch, LoopDecision, Place, Program, Step, Tensor, While,
};
use std::fmt::{self, Display, Write};
use weft_codegen_wgsl::{Binding, Content};
use weft_hlo::ir::ArenaId;
use weft_partition::Site;

impl Program {
    /// All of the program as text, which [`Program::parse`] reads: steps, buffers, the target, the fused module with its constants, and each kernel in the
    /// text of the kernel IR, from which WGSL follows. What [passes](Program::passes) did on the way is no part of it, nor are places in the text that
    /// the module was read from.
    pub fn text(&self) -> String {
        self.written(true)
    }

    /// The same, with or without kernels.
    pub(crate) fn written(&self, with_kernels: bool) -> String {
        let mut writer = Writer { out: String::new(), depth: 0 };
        // Strings can be written to.
        let _ = writer.program(self, with_kernels);
        writer.out
    }
}

struct Writer {
    out: String,
    depth: usize,
}

impl Writer {
    fn line(&mut self, line: fmt::Arguments<'_>) -> fmt::Result {
        writeln!(self.out, "{:1$}{line}", "", 2 * self.depth)
    }

    /// A text of another language.
    fn foreign(&mut self, text: &str) -> fmt::Result {
        for line in text.lines() {
            let space = if line.is_empty() { "" } else { " " };
            self.line(format_args!("|{space}{line}"))?;
        }
        Ok(())
    }

    fn program(&mut self, program: &Program, with_kernels: bool) -> fmt::Result {
        self.line(format_args!("{FIRST}"))?;
        let target = serde_json::to_string(program.target()).map_err(|_| fmt::Error)?;
        self.line(format_args!("target {target}"))?;
        self.line(format_args!("module"))?;
        self.foreign(&program.module.to_string())?;
        for Buffer { kind, bytes, place } in &program.buffers {
            let kind = match kind {
                BufferKind::Parameter(number) => format!("parameter {number}"),
                BufferKind::Donated(number) => format!("donated {number}"),
                BufferKind::Constant(number) => format!("constant {number}"),
                BufferKind::Sizes(number) => format!("sizes {number}"),
                BufferKind::Result => "result".to_owned(),
                BufferKind::Temporary => "temporary".to_owned(),
            };
            let place =
                place.map(|Place { arena, offset }| format!(" in arena {arena} at {offset}")).unwrap_or_default();
            self.line(format_args!("buffer {bytes} {kind}{place}"))?;
        }
        for parameter in &program.parameters {
            self.line(format_args!("parameter {}", OfTensor(parameter)))?;
        }
        for (site, constant) in &program.constants {
            self.line(format_args!("constant {} {}", OfSite(*site), OfTensor(constant)))?;
        }
        for result in &program.results {
            self.line(format_args!("result {}", OfTensor(result)))?;
        }
        for sizes in &program.sizes {
            self.line(format_args!("sizes {}", listed(sizes)))?;
        }
        let (without_reuse, live) = (program.temporaries_without_reuse, program.least);
        self.line(format_args!("memory {without_reuse} without reuse, {live} live"))?;
        for LoopDecision { name, is_kernel, reason } in &program.loops {
            let what = if *is_kernel { "kernel" } else { "steps" };
            self.line(format_args!("loop {} {what} {}", quoted(name), quoted(reason)))?;
        }
        for shader in program.shaders.iter().filter(|_| with_kernels) {
            let content = |content: Content| match content {
                Content::Operand(number) => format!("operand {number}"),
                Content::Result(number) => format!("result {number}"),
                Content::Updated { result, operand, elements } => {
                    format!("updated {result} from {operand} by {elements}")
                }
            };
            let binding = |binding: &Binding| match &binding.tensors[..] {
                [held] if held.offset == 0 => content(held.content),
                several => {
                    let held =
                        several.iter().map(|it| format!("{} {} at {}", content(it.content), it.shape, it.offset));
                    format!("[{}]", held.collect::<Vec<_>>().join(", "))
                }
            };
            let contents: Vec<String> = shader.bindings.iter().map(binding).collect();
            self.line(format_args!("kernel ({})", contents.join(", ")))?;
            self.foreign(&shader.kernel)?;
        }
        self.block("steps", &program.steps)
    }

    fn block(&mut self, head: &str, steps: &[Step]) -> fmt::Result {
        self.line(format_args!("{head} {{"))?;
        self.depth += 1;
        steps.iter().try_for_each(|step| self.step(step))?;
        self.depth -= 1;
        self.line(format_args!("}}"))
    }

    fn step(&mut self, step: &Step) -> fmt::Result {
        match step {
            Step::Launch(launch) => self.line(format_args!("{}", OfLaunch(launch))),
            Step::Copy(Copy { from, to }) => self.line(format_args!("copy {} -> {}", OfTensor(from), OfTensor(to))),
            Step::While(step) => self.repeated(step),
            Step::Conditional(step) => self.conditional(step),
            Step::Host(step) => self.host(step),
            Step::Draw(Draw { name, delta, output }) => {
                self.line(format_args!("draw {} by {delta} -> {}", quoted(name), OfTensor(output)))
            }
        }
    }

    fn repeated(&mut self, step: &While) -> fmt::Result {
        let rounds = step.trip_count.map(|count| format!(" rounds {count}")).unwrap_or_default();
        let flag = step.flag.as_ref().map(|flag| format!(" flag {}", OfTensor(flag))).unwrap_or_default();
        let (name, carried) = (quoted(&step.name), OfTensors(&step.carried));
        let ahead = match step.ahead {
            Some(Ahead::Kept(rounds)) => format!(" ahead {rounds}"),
            Some(Ahead::Gated(_)) | None => String::new(),
        };
        self.line(format_args!("while {name}{rounds}{flag} {carried}{ahead} {{"))?;
        self.depth += 1;
        if let Some(gate) = step.gate() {
            self.line(format_args!("gate {} {}", gate.most, OfLaunch(&gate.launch)))?;
        }
        self.block("condition", &step.condition)?;
        self.block("body", &step.body)?;
        if !step.exchanges.is_empty() {
            self.line(format_args!("exchange {}", listed(&step.exchanges)))?;
        }
        self.depth -= 1;
        self.line(format_args!("}}"))
    }

    fn conditional(&mut self, step: &Conditional) -> fmt::Result {
        let (name, selector, outputs) = (quoted(&step.name), OfTensor(&step.selector), OfTensors(&step.outputs));
        let why = quoted(&step.why);
        self.line(format_args!("conditional {name} by {selector} -> {outputs} because {why} {{"))?;
        self.depth += 1;
        step.branches.iter().try_for_each(|branch| self.block("branch", branch))?;
        self.depth -= 1;
        self.line(format_args!("}}"))
    }

    fn host(&mut self, step: &Host) -> fmt::Result {
        let constants: Vec<OfSite> = step.constants.iter().map(|site| OfSite(*site)).collect();
        let given = if constants.is_empty() { String::new() } else { format!(" given {}", listed(&constants)) };
        self.line(format_args!("host {}{given} -> {} {{", OfTensors(&step.inputs), OfTensors(&step.outputs)))?;
        self.depth += 1;
        for reason in &step.reasons {
            let (instruction, message) = (quoted(&reason.instruction), quoted(&reason.message));
            self.line(format_args!("reason {} {instruction} {message}", reason.code))?;
        }
        self.foreign(&step.module.to_string())?;
        self.depth -= 1;
        self.line(format_args!("}}"))
    }
}

fn quoted(name: &str) -> serde_json::Value {
    serde_json::Value::from(name)
}

fn listed<T: Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

struct OfSite(Site);

impl Display for OfSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {} {}", self.0.computation.index(), self.0.instruction.index())
    }
}

struct OfTensor<'t>(&'t Tensor);

impl Display for OfTensor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.0.buffer, self.0.shape, quoted(&self.0.name))
    }
}

struct OfTensors<'t>(&'t [Tensor]);

impl Display for OfTensors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tensors: Vec<OfTensor<'_>> = self.0.iter().map(OfTensor).collect();
        write!(f, "({})", listed(&tensors))
    }
}

struct OfLaunch<'l>(&'l Launch);

impl Display for OfLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Launch { name, fusion, shader, workgroups: [x, y, z], nanoseconds, windows, inputs, outputs, updated } =
            self.0;
        write!(f, "launch {} {} kernel {shader} groups {x} {y} {z} windows {windows}", quoted(name), OfSite(*fusion))?;
        write!(f, " nanoseconds {nanoseconds}")?;
        write!(f, " {} -> {}", OfTensors(inputs), OfTensors(outputs))?;
        if !updated.is_empty() {
            let updated: Vec<String> =
                updated.iter().map(|updated| format!("{} by {}", updated.output, updated.bytes)).collect();
            write!(f, " updated {}", updated.join(", "))?;
        }
        Ok(())
    }
}
