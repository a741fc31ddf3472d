//! Products with matrices of Fourier transforms, by fewer operations than these have elements.

use super::{OWN_THREADS, Product, power_of_two};
use crate::{LinearProgram, Target};
use weft_hlo::ir::{Computation, ElementType, InstrId, Shape};
use weft_hlo::passes::{FourierMatrix, FourierParts};

/// Operations that an invocation writes out, at most, for all sums of a kernel: of real and of imaginary parts, by which the last step of a transform multiplies, it has four. Those of 32 complex numbers (422) run in
/// 0.3 to 0.65 of the time of tiles and compile in 0.6 to 0.8, on SwiftShader and llvmpipe; of 31 (1,050) they compile in 3 times the time.
const MOST_STEPS: usize = 640;

impl Product {
    /// Tiles of a dot whose left operand is such a matrix: all rows and a vector of columns, of invocations that read for themselves. None where operations would be more than half of the products.
    pub(super) fn of_fourier(self, computation: &Computation, id: InstrId, target: &Target) -> Option<Product> {
        let matrix = FourierMatrix::of(computation, id)?;
        let instruction = &computation.instructions[id];
        let shapes = instruction.operands.iter().map(|operand| &computation.instructions[*operand].shape);
        let is_of_f32 = |shape: &Shape| shape.as_array().is_some_and(|it| it.element_type == ElementType::F32);
        let is_whole = (self.batch, self.rows, self.depth) == (1, matrix.rows(), matrix.columns());
        if !is_whole || !shapes.chain([&instruction.shape]).all(is_of_f32) {
            return None;
        }
        let steps = program(&matrix).steps.len();
        let products = usize::try_from(self.rows.checked_mul(self.depth)?).ok()?;
        let sums = if matches!(matrix.parts, FourierParts::Real | FourierParts::Imaginary) { 4 } else { 1 };
        if sums * steps > MOST_STEPS || 2 * steps > products {
            return None;
        }
        let most = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x));
        let lanes = i64::from(self.lanes);
        let threads = OWN_THREADS.min(most).max(1).min(power_of_two(self.columns / lanes));
        let (tile, group) = ([self.rows, lanes], [1, threads]);
        Some(Product { tile, group, step: self.depth, stretch: self.depth, transforms: true, ..self })
    }

    /// The operations of the sums of a dot: a product and an addition each, or those of the linear program for each column.
    pub(crate) fn operations(&self, computation: &Computation, dot: InstrId) -> f64 {
        match FourierMatrix::of(computation, dot).filter(|_| self.transforms) {
            Some(matrix) => (self.batch * self.columns) as f64 * program(&matrix).steps.len() as f64,
            None => 2.0 * self.elements() as f64 * self.products() as f64,
        }
    }
}

fn program(matrix: &FourierMatrix) -> LinearProgram {
    LinearProgram::of(&matrix.values(), usize::try_from(matrix.columns()).unwrap_or(0))
}
