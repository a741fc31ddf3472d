//! What goes to memories and comes from them.

use super::function::{FunctionText, strip};
use super::lanes::vector_text;
use super::together::element_of;
use crate::kernel::{Kernel, Known, MemoryId, Operand};
use weft_affine::Expr;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, ElementType};

impl FunctionText<'_, '_> {
    /// An element of a memory, or a vector of so many lanes, as a value.
    pub(super) fn read(
        &mut self,
        memory: MemoryId,
        indices: &[Expr],
        lanes: u32,
        known: &Known,
    ) -> Result<String, Diagnostics> {
        let element = self.element(memory, indices, lanes, known)?;
        let read = &self.writer.kernel.memories[memory];
        let (element_type, is_of_pairs) = (read.shape.element_type, read.pairs);
        if self.writer.atomic[memory.index()] {
            return Ok(element_of(element_type, &format!("atomicLoad(&{element})")));
        }
        let element = if is_of_pairs { self.read_from_pairs(element_type, lanes, &element) } else { element };
        Ok(match (element_type == ElementType::Pred, lanes) {
            (false, _) => element,
            (true, 1) => format!("({element} != 0u)"),
            (true, _) => format!("({element} != {}(0u))", vector_text("u32", lanes)),
        })
    }

    /// Writes the statement that stores a value.
    pub(super) fn store(
        &mut self,
        (memory, indices): (MemoryId, &[Expr]),
        value: Operand,
        known: &Known,
        depth: usize,
    ) -> Result<(), Diagnostics> {
        let lanes = Kernel::operand_lanes(self.function, value);
        let target = self.element(memory, indices, lanes, known)?;
        if self.writer.atomic[memory.index()] {
            let stored = self.atomic_store(memory, &target, value);
            self.line(depth, &stored);
            return Ok(());
        }
        let written = &self.writer.kernel.memories[memory];
        let (element_type, is_of_pairs) = (written.shape.element_type, written.pairs);
        let value = self.operand(value);
        let value = match element_type {
            // Bits of a half, of which arithmetic would take subnormal numbers for zeros.
            ElementType::F16 => format!("bitcast<f16>(u16({}))", strip(&value)),
            ElementType::Pred => format!("{}({})", vector_text("u32", lanes), strip(&value)),
            _ => strip(&value).to_owned(),
        };
        let value = if is_of_pairs { self.written_in_pairs(element_type, lanes, &value) } else { value };
        self.line(depth, &format!("{target} = {value};"));
        Ok(())
    }
}
