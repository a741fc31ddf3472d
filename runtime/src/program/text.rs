//! The text of a program: its schedule and its buffers.

use super::layout::WORD_BYTES;
use super::step::all;
use super::{Ahead, BufferKind, Copy, Draw, Launch, Place, Program, Step, Tensor, Updated, While};
use std::fmt;
use weft_codegen_wgsl::Binding;
use weft_hlo::ir::ArrayShape;

fn list(f: &mut fmt::Formatter<'_>, tensors: &[Tensor], bindings: &[&Binding], updated: &[Updated]) -> fmt::Result {
    f.write_str("(")?;
    for (position, tensor) in tensors.iter().enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        let is_updated = updated.iter().any(|updated| updated.output == position);
        let updated = if is_updated { " updated" } else { "" };
        write!(f, "{comma}{}: {}{updated}", tensor.buffer, plain(&tensor.shape))?;
        if let Some(bytes) = bindings.get(position).copied().and_then(bound_bytes) {
            write!(f, " by {bytes} bytes")?;
        }
    }
    f.write_str(")")
}

/// How many bytes a dispatch binds at most; `None` where it binds all of them.
fn bound_bytes(binding: &Binding) -> Option<u64> {
    let words = binding.windows.iter().map(|window| window.end.saturating_sub(window.start)).max()?;
    words.checked_mul(WORD_BYTES)
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A shape without its layout, which says nothing about the device.
pub(super) fn plain(shape: &ArrayShape) -> ArrayShape {
    ArrayShape { layout: None, ..shape.clone() }
}

/// Steps as they are written, and the numbers of the next ones.
#[derive(Default)]
struct Steps {
    launches: usize,
    loops: usize,
    conditionals: usize,
    hosts: usize,
    depth: usize,
}

/// The number that is next, of which there is one more now.
fn next(count: &mut usize) -> usize {
    *count += 1;
    *count - 1
}

impl Steps {
    fn write(&mut self, f: &mut fmt::Formatter<'_>, program: &Program, steps: &[Step]) -> fmt::Result {
        for step in steps {
            self.indent(f)?;
            match step {
                Step::Copy(Copy { from, to }) => {
                    writeln!(f, "copy: {} -> {}: {}", from.buffer, to.buffer, plain(&to.shape))?;
                }
                Step::Draw(Draw { name, delta, output }) => {
                    writeln!(f, "draw: {name} by {delta} -> {}: {}", output.buffer, plain(&output.shape))?;
                }
                Step::Launch(launch) => self.launch(f, program, launch)?,
                Step::While(step) => self.repeated(f, program, step)?,
                Step::Conditional(step) => {
                    let number = next(&mut self.conditionals);
                    let selector = &step.selector;
                    write!(
                        f,
                        "conditional {number}: {} by {}: {} -> ",
                        step.name,
                        selector.buffer,
                        plain(&selector.shape)
                    )?;
                    list(f, &step.outputs, &[], &[])?;
                    f.write_str(" {\n")?;
                    for (number, branch) in step.branches.iter().enumerate() {
                        self.block(f, program, &format!("branch {number}"), branch)?;
                    }
                    self.indent(f)?;
                    f.write_str("}\n")?;
                }
                Step::Host(step) => {
                    let number = next(&mut self.hosts);
                    write!(f, "host {number}: {} ", step.operations().join(", "))?;
                    list(f, &step.inputs, &[], &[])?;
                    f.write_str(" -> ")?;
                    list(f, &step.outputs, &[], &[])?;
                    f.write_str("\n")?;
                }
            }
        }
        Ok(())
    }

    fn indent(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:1$}", "", 2 * self.depth)
    }

    fn block(&mut self, f: &mut fmt::Formatter<'_>, program: &Program, head: &str, steps: &[Step]) -> fmt::Result {
        self.depth += 1;
        self.indent(f)?;
        if steps.is_empty() {
            writeln!(f, "{head} {{}}")?;
        } else {
            writeln!(f, "{head} {{")?;
            self.depth += 1;
            self.write(f, program, steps)?;
            self.depth -= 1;
            self.indent(f)?;
            f.write_str("}\n")?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn launch(&mut self, f: &mut fmt::Formatter<'_>, program: &Program, launch: &Launch) -> fmt::Result {
        let number = next(&mut self.launches);
        let [x, y, z] = launch.workgroups;
        write!(f, "launch {number}: {} [kernel {}, {x}x{y}x{z} workgroups", launch.name, launch.shader)?;
        if launch.windows > 1 {
            write!(f, ", {} windows", launch.windows)?;
        }
        f.write_str("] ")?;
        let bindings: Vec<&Binding> = program.shader(launch).tensors().map(|(binding, _)| binding).collect();
        let (inputs, outputs) = bindings.split_at(launch.inputs.len().min(bindings.len()));
        list(f, &launch.inputs, inputs, &[])?;
        f.write_str(" -> ")?;
        list(f, &launch.outputs, outputs, &launch.updated)?;
        f.write_str("\n")
    }

    fn repeated(&mut self, f: &mut fmt::Formatter<'_>, program: &Program, step: &While) -> fmt::Result {
        write!(f, "while {}: {} ", next(&mut self.loops), step.name)?;
        list(f, &step.carried, &[], &[])?;
        match (step.trip_count, &step.flag) {
            (Some(count), _) => writeln!(f, ", {} {{", counted(count, "round", "rounds"))?,
            (None, Some(flag)) => match step.ahead {
                Some(Ahead::Kept(rounds)) => writeln!(f, ", while {}, {rounds} rounds ahead {{", flag.buffer)?,
                _ => writeln!(f, ", while {} {{", flag.buffer)?,
            },
            (None, None) => f.write_str(" {\n")?,
        }
        if let Some(gate) = step.gate() {
            self.depth += 1;
            self.indent(f)?;
            f.write_str("gate ")?;
            self.launch(f, program, &gate.launch)?;
            self.depth -= 1;
        }
        if step.trip_count.is_none() {
            self.block(f, program, "condition", &step.condition)?;
        }
        self.block(f, program, "body", &step.body)?;
        if !step.exchanges.is_empty() {
            let exchanges: Vec<String> = step.exchanges.iter().map(ToString::to_string).collect();
            self.depth += 1;
            self.indent(f)?;
            writeln!(f, "exchange {}", exchanges.join(", "))?;
            self.depth -= 1;
        }
        self.indent(f)?;
        f.write_str("}\n")
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "program {}: {}, {}, {}",
            self.name(),
            counted(self.launches().count() as u64, "launch", "launches"),
            counted(self.shaders.len() as u64, "kernel", "kernels"),
            counted(self.buffers.len() as u64, "buffer", "buffers"),
        )?;
        match self.host_steps().count() {
            0 => writeln!(f)?,
            count => writeln!(f, ", {}", counted(count as u64, "host step", "host steps"))?,
        }
        for (number, parameter) in self.parameters.iter().enumerate() {
            let shape = plain(&parameter.shape);
            writeln!(f, "parameter {number}: {} = {shape} {}", parameter.buffer, parameter.name)?;
        }
        for (_, constant) in &self.constants {
            writeln!(f, "constant: {} = {} {}", constant.buffer, plain(&constant.shape), constant.name)?;
        }
        Steps::default().write(f, self, &self.steps)?;
        for (number, result) in self.results.iter().enumerate() {
            let shape = plain(&result.shape);
            writeln!(f, "result {number}: {} = {shape} {}", result.buffer, result.name)?;
        }
        for (position, buffer) in self.buffers.iter().enumerate() {
            let kind = match buffer.kind {
                BufferKind::Parameter(number) => format!("parameter {number}"),
                BufferKind::Donated(number) => format!("parameter {number}, donated"),
                BufferKind::Constant(_) => "constant".to_string(),
                BufferKind::Sizes(_) => "sizes of launches".to_string(),
                BufferKind::Result => "result".to_string(),
                BufferKind::Temporary => "temporary".to_string(),
            };
            write!(f, "buffer b{position}: {} bytes, {kind}", buffer.bytes)?;
            match buffer.place {
                Some(Place { arena, offset }) => writeln!(f, ", in a{arena} from byte {offset} on")?,
                None => writeln!(f)?,
            }
        }
        for (number, arena) in self.arenas().iter().enumerate() {
            let of = match arena.kind {
                BufferKind::Parameter(_) => " of arguments",
                BufferKind::Result => " of results",
                _ => "",
            };
            writeln!(f, "arena a{number}: {} bytes{of}", arena.bytes)?;
        }
        let totals = self.totals();
        let (all, least, without) = (totals.allocated(), totals.least, totals.without_reuse());
        write!(f, "{all} bytes in all, {least} live at once at most, {without} without reuse")
    }
}

impl Program {
    /// Which loops are kernels and why others are none, why the host reads which branch is taken, why launches have windows, and why the host computes what it does, in comments that may stand before the text of the program; nothing
    /// where there are none.
    pub fn explanation(&self) -> String {
        let most = self.target.max_storage_binding_bytes.min(self.target.max_buffer_bytes);
        let mut text = String::new();
        for decision in &self.loops {
            text += &format!("// while {}: {}\n", decision.name, decision.reason);
        }
        for step in all(&self.steps) {
            if let Step::Conditional(step) = step {
                text += &format!("// conditional {}: {}\n", step.name, step.why);
            }
        }
        for (number, launch) in self.launches().enumerate() {
            let windowed = self.shader(launch).bindings.iter().filter_map(|binding| {
                let bytes = bound_bytes(binding)?;
                let first = binding.windows.get(1).map_or(String::new(), |second| {
                    format!(", the second from byte {} on", second.start.saturating_mul(WORD_BYTES))
                });
                let shape = &binding.tensors.first()?.shape;
                Some(format!("//   {}: {bytes} bytes of {shape}{first}\n", binding.name))
            });
            let windowed: String = windowed.collect();
            if !windowed.is_empty() {
                let windows = counted(u64::from(launch.windows), "window", "windows");
                text += &format!(
                    "// launch {number}: {}: {windows}, for a kernel may bind {most} bytes of a buffer\n",
                    launch.name
                );
                text += &windowed;
            }
        }
        for (number, host) in self.host_steps().enumerate() {
            for reason in &host.reasons {
                text += &format!("// host {number}: {}: {}: {}\n", reason.instruction, reason.code, reason.message);
            }
        }
        text
    }
}
