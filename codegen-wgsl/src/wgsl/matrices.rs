//! The WGSL of what subgroups do with matrices.

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
