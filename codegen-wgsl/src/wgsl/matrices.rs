//! The WGSL of what subgroups do with matrices, as naga 30 has it. What is to be known of that:
//!
//! - There are types of 8 by 8 and 16 by 16 elements, of `f16` and `f32`; what a `coopLoad` yields has the elements of its pointer, whatever type it names, and the function without a `T` has columns side by side. The roles `A`,
//!   `B` and `C` are no roles where something in sight has such a name.
//! - A word is no `vec2<f16>` to `bitcast`, so halves are made of integers of 16 bits, which take `SHADER_I16`.
//! - The writers of HLSL and GLSL panic, so [`Shader`](crate::Shader) does not ask them; that of SPIR-V takes version 1.3, that of Metal's language 2.3.
//! - SPIR-V with matrices is under Vulkan's memory model, by which accesses to workgroup memory ought to be marked as seen by others, and barriers as making them so. naga marks neither; drivers treat workgroup memory alike under both
//!   models.
//! - Vulkan asks that matrices lie at multiples of 16 bytes. Rows of tiles do; where the array itself begins is the driver's to choose.

use super::function::FunctionText;
use super::writer::matrix_type;
use crate::kernel::{Known, MatrixOp, MatrixOrder, MemoryId};
use weft_affine::Expr;
use weft_hlo::diagnostic::Diagnostics;

impl FunctionText<'_, '_> {
    /// What is done with matrices, a line. WGSL has columns side by side unless the name of the function ends with `T`.
    pub(super) fn matrix(&mut self, op: &MatrixOp, known: &Known, depth: usize) -> Result<(), Diagnostics> {
        let memories = &self.writer.kernel.memories;
        let name = |memory: &MemoryId| memories[*memory].name.as_str();
        let ty = |memory: &MemoryId| matrix_type(&memories[*memory]).unwrap_or_default();
        let line = match op {
            MatrixOp::Clear { matrix } => format!("{} = {}();", name(matrix), ty(matrix)),
            MatrixOp::Load { matrix, memory, indices, order } => {
                let by = if *order == MatrixOrder::Rows { "T" } else { "" };
                let place = self.matrix_place(*memory, indices, known)?;
                format!("{} = coopLoad{by}<{}>({place});", name(matrix), ty(matrix))
            }
            MatrixOp::MultiplyAdd { sum, factors: [left, right] } => {
                format!("{0} = coopMultiplyAdd({1}, {2}, {0});", name(sum), name(left), name(right))
            }
            MatrixOp::Store { matrix, memory, indices } => {
                let place = self.matrix_place(*memory, indices, known)?;
                format!("coopStoreT({}, {place});", name(matrix))
            }
        };
        self.line(depth, &line);
        Ok(())
    }

    /// A pointer to the first element, and how far rows of the memory are apart.
    fn matrix_place(&self, memory: MemoryId, indices: &[Expr], known: &Known) -> Result<String, Diagnostics> {
        let element = self.element(memory, indices, 1, known)?;
        let stride = self.writer.kernel.memories[memory].shape.extents.last().copied().unwrap_or(1);
        Ok(format!("&{element}, {stride}u"))
    }
}
