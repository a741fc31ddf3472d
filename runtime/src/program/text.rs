//! The text of a program: its schedule and its buffers.

use super::layout::WORD_BYTES;
use super::{BufferKind, Copy, Program, Step, Tensor, Updated};
use std::fmt;
use weft_codegen_wgsl::Binding;
use weft_hlo::ir::ArrayShape;

fn list(f: &mut fmt::Formatter<'_>, tensors: &[Tensor], bindings: &[Binding], updated: &[Updated]) -> fmt::Result {
    f.write_str("(")?;
    for (position, tensor) in tensors.iter().enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        let is_updated = updated.iter().any(|updated| updated.output == position);
        let updated = if is_updated { " updated" } else { "" };
        write!(f, "{comma}{}: {}{updated}", tensor.buffer, plain(&tensor.shape))?;
        if let Some(bytes) = bindings.get(position).and_then(bound_bytes) {
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

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A shape without its layout, which says nothing about the device.
fn plain(shape: &ArrayShape) -> ArrayShape {
    ArrayShape { layout: None, ..shape.clone() }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "program {}: {}, {}, {}",
            self.name(),
            counted(self.launches().count(), "launch", "launches"),
            counted(self.shaders.len(), "kernel", "kernels"),
            counted(self.buffers.len(), "buffer", "buffers"),
        )?;
        for (number, parameter) in self.parameters.iter().enumerate() {
            let shape = plain(&parameter.shape);
            writeln!(f, "parameter {number}: {} = {shape} {}", parameter.buffer, parameter.name)?;
        }
        for (_, constant) in &self.constants {
            writeln!(f, "constant: {} = {} {}", constant.buffer, plain(&constant.shape), constant.name)?;
        }
        let mut launches = 0..;
        for step in &self.steps {
            let (launch, number) = match step {
                Step::Copy(Copy { from, to }) => {
                    writeln!(f, "copy: {} -> {}: {}", from.buffer, to.buffer, plain(&to.shape))?;
                    continue;
                }
                Step::Launch(launch) => (launch, launches.next().unwrap_or(0)),
            };
            let [x, y, z] = launch.workgroups;
            write!(f, "launch {number}: {} [kernel {}, {x}x{y}x{z} workgroups", launch.name, launch.shader)?;
            if launch.windows > 1 {
                write!(f, ", {} windows", launch.windows)?;
            }
            f.write_str("] ")?;
            let (inputs, outputs) = self.shader(launch).bindings.split_at(launch.inputs.len());
            list(f, &launch.inputs, inputs, &[])?;
            f.write_str(" -> ")?;
            list(f, &launch.outputs, outputs, &launch.updated)?;
            writeln!(f)?;
        }
        for (number, result) in self.results.iter().enumerate() {
            let shape = plain(&result.shape);
            writeln!(f, "result {number}: {} = {shape} {}", result.buffer, result.name)?;
        }
        for (position, buffer) in self.buffers.iter().enumerate() {
            let kind = match buffer.kind {
                BufferKind::Parameter(number) => format!("parameter {number}"),
                BufferKind::Constant(_) => "constant".to_string(),
                BufferKind::Result => "result".to_string(),
                BufferKind::Temporary => "temporary".to_string(),
            };
            writeln!(f, "buffer b{position}: {} bytes, {kind}", buffer.bytes)?;
        }
        let totals = self.totals();
        write!(f, "{} bytes in all, {} without reuse", totals.allocated(), totals.without_reuse())
    }
}

impl Program {
    /// Why launches have windows, in comments that may stand before the text of the program; nothing where none has.
    pub fn explanation(&self) -> String {
        let most = self.target.max_storage_binding_bytes.min(self.target.max_buffer_bytes);
        let mut text = String::new();
        for (number, launch) in self.launches().enumerate() {
            let windowed = self.shader(launch).bindings.iter().filter_map(|binding| {
                let bytes = bound_bytes(binding)?;
                let first = binding.windows.get(1).map_or(String::new(), |second| {
                    format!(", the second from byte {} on", second.start.saturating_mul(WORD_BYTES))
                });
                Some(format!("//   {}: {bytes} bytes of {}{first}\n", binding.name, binding.shape))
            });
            let windowed: String = windowed.collect();
            if !windowed.is_empty() {
                let windows = counted(launch.windows as usize, "window", "windows");
                text += &format!(
                    "// launch {number}: {}: {windows}, for a kernel may bind {most} bytes of a buffer\n",
                    launch.name
                );
                text += &windowed;
            }
        }
        text
    }
}
