//! The text of a program: its schedule and its buffers.

use super::{BufferKind, Copy, Program, Step, Tensor, Updated};
use std::fmt;
use weft_hlo::ir::ArrayShape;

fn list(f: &mut fmt::Formatter<'_>, tensors: &[Tensor], updated: &[Updated]) -> fmt::Result {
    f.write_str("(")?;
    for (position, tensor) in tensors.iter().enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        let is_updated = updated.iter().any(|updated| updated.output == position);
        let updated = if is_updated { " updated" } else { "" };
        write!(f, "{comma}{}: {}{updated}", tensor.buffer, plain(&tensor.shape))?;
    }
    f.write_str(")")
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
            write!(f, "launch {number}: {} [kernel {}, {x}x{y}x{z} workgroups] ", launch.name, launch.shader)?;
            list(f, &launch.inputs, &[])?;
            f.write_str(" -> ")?;
            list(f, &launch.outputs, &launch.updated)?;
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
