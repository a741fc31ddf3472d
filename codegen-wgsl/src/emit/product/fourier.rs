//! Products with the matrix of a Fourier transform, which is in the code.

use super::{Emission, Results};
use crate::emit::statements::Statements;
use crate::kernel::{Block, Known, Operand};
use weft_affine::{Error, Expr};
use weft_hlo::ir::{BinaryOp, Scalar};
use weft_hlo::passes::FourierMatrix;
use weft_partition::{LinearProgram, LinearStep};

impl Emission<'_> {
    /// All sums of some columns: of each, every number is read once, and the operations of a linear program follow.
    pub(super) fn transformed(
        &mut self,
        results: &Results,
        matrix: &FourierMatrix,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let mut numbers = Vec::new();
        for number in 0..matrix.columns() {
            numbers.push(self.across(results, &Expr::constant(number), known, block)?);
        }
        let program = LinearProgram::of(&matrix.values(), numbers.len());
        let columns = numbers.first().map_or(0, Vec::len);
        let mut sums = self.zeros(program.results.len() * columns);
        for column in 0..columns {
            let mut values: Vec<Operand> = numbers.iter().map(|row| row[column]).collect();
            for step in &program.steps {
                values.push(self.operation(*step, &values, block));
            }
            for (row, result) in program.results.iter().enumerate() {
                if let Some(result) = *result {
                    sums[row * columns + column] = values[result];
                }
            }
        }
        Ok(sums)
    }

    fn operation(&mut self, step: LinearStep, values: &[Operand], block: &mut Block) -> Operand {
        // Sums of other types go through tiles.
        let constant = |factor: f64| Operand::Constant(Scalar::F32(factor as f32));
        match step {
            LinearStep::Sum([one, other]) => self.binary(BinaryOp::Add, [values[one], values[other]], "sum", block),
            LinearStep::Difference([one, other]) => {
                self.binary(BinaryOp::Subtract, [values[one], values[other]], "difference", block)
            }
            LinearStep::Scaled(value, factor) => {
                self.binary(BinaryOp::Multiply, [values[value], constant(factor)], "product", block)
            }
            LinearStep::MultiplyAdd(value, factor, sum) => {
                self.multiply_add([values[value], constant(factor)], values[sum], block)
            }
        }
    }
}
