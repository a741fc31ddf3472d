//! Emission of operations that are loops over elements of their operands: reductions, windows and sums of products.

use super::function::Emission;
use crate::elemental::{element_type, zero};
use crate::kernel::{Block, Condition, Kernel, Known, Operand, ScalarOp, Statement, Value, ValueId};
use weft_affine::Constraint;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{BinaryOp, Computation, ComputationId, ElementType, InstrId};
use weft_partition::Read;

impl Emission<'_, '_, '_> {
    /// The extents of the loop that `id` is, and what must hold in a round for it to read its operands.
    fn rounds(&self, id: InstrId, known: &Known) -> Result<(Vec<i64>, Known, Vec<Constraint>), Diagnostics> {
        let step = operand_map(self.computation, id, 0)?;
        let extents: Vec<i64> = step.ranges().iter().map(|range| range.bounds().hi + 1).collect();
        let inner = known.in_loop(&extents);
        let condition = inner.open(&self.domain(id, 0)?);
        Ok((extents, inner, condition))
    }

    pub(super) fn reduce(
        &mut self,
        id: InstrId,
        region: ComputationId,
        known: &Known,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        let inputs = self.computation.instructions[id].operands.len() / 2;
        let init = self.read_each(id, inputs..2 * inputs, out)?;
        if (0..inputs).any(|position| *self.plan.read(id, position) == Read::Never) {
            return Ok(init);
        }
        let (accumulators, values) = (self.result_values(id, ".acc"), self.result_values(id, ""));
        let (extents, inner, condition) = self.rounds(id, known)?;
        let carried: Vec<Operand> = accumulators.iter().map(|value| Operand::Value(*value)).collect();
        let round = if condition.is_empty() { Vec::new() } else { self.result_values(id, ".round") };
        let body = self.round(round, &condition, &inner, &carried, |this, known, block| {
            this.members(Some((id, 0)), known, block)?;
            let mut arguments = carried.clone();
            arguments.extend(this.read_each(id, 0..inputs, block)?);
            let results = this.result_values(id, ".next");
            this.apply(region, arguments, results.clone(), block)?;
            block.results = results.into_iter().map(Operand::Value).collect();
            Ok(())
        })?;
        out.statements.push(Statement::Loop { values: values.clone(), extents, init, accumulators, body });
        Ok(values.into_iter().map(Operand::Value).collect())
    }

    /// A round of a loop that changes what it carries where a condition holds; `values` are what it carries then.
    pub(super) fn round(
        &mut self,
        values: Vec<ValueId>,
        condition: &[Constraint],
        known: &Known,
        carried: &[Operand],
        emit: impl FnOnce(&mut Self, &Known, &mut Block) -> Result<(), Diagnostics>,
    ) -> Result<Block, Diagnostics> {
        let (_, round) = self.scoped(|this, block| emit(this, &known.when(condition), block))?;
        if condition.is_empty() {
            return Ok(round);
        }
        let otherwise = Block { statements: Vec::new(), results: carried.to_vec() };
        let condition = Condition::Indices(condition.to_vec());
        let results = values.iter().map(|value| Operand::Value(*value)).collect();
        let statement = Statement::If { values, condition, then: round, otherwise };
        Ok(Block { statements: vec![statement], results })
    }

    /// A sum of products of the elements of two operands, in the type of [`sum_type`].
    pub(super) fn products(
        &mut self,
        id: InstrId,
        known: &Known,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        let instruction = &self.computation.instructions[id];
        let result = element_type(instruction);
        let ty = sum_type(self.computation, id);
        if (0..2).any(|position| *self.plan.read(id, position) == Read::Never) {
            return Ok(vec![Operand::Constant(zero(result))]);
        }
        let (extents, inner, condition) = self.rounds(id, known)?;
        let mut named =
            |suffix: &str| self.function.values.push(Value::scalar(format!("{}{suffix}", instruction.name), ty));
        let (accumulator, value) = (named(".acc"), named(""));
        let round = if condition.is_empty() { Vec::new() } else { vec![named(".round")] };
        let body = self.round(round, &condition, &inner, &[Operand::Value(accumulator)], |this, known, block| {
            this.members(Some((id, 0)), known, block)?;
            let mut factors = Vec::with_capacity(2);
            for position in 0..2 {
                let factor = this.read_one(id, position, block)?;
                factors.push(match Kernel::operand_type(&this.function, factor) == ty {
                    true => factor,
                    false => this.define(block, "factor", ty, ScalarOp::Convert { operand: factor, to: ty }),
                });
            }
            let (multiply, add) = match ty {
                ElementType::Pred => (BinaryOp::And, BinaryOp::Or),
                _ => (BinaryOp::Multiply, BinaryOp::Add),
            };
            let product = ScalarOp::Binary { op: multiply, operands: [factors[0], factors[1]] };
            let product = this.define(block, "product", ty, product);
            let sum = ScalarOp::Binary { op: add, operands: [Operand::Value(accumulator), product] };
            block.results = vec![this.define(block, "sum", ty, sum)];
            Ok(())
        })?;
        let (values, accumulators) = (vec![value], vec![accumulator]);
        let init = vec![Operand::Constant(zero(ty))];
        out.statements.push(Statement::Loop { values, extents, init, accumulators, body });
        let value = Operand::Value(value);
        if ty == result {
            return Ok(vec![value]);
        }
        Ok(vec![self.define(out, &instruction.name, result, ScalarOp::Convert { operand: value, to: result })])
    }
}

/// The type that products are added in: that of complex numbers for a complex result, else a float where one of the three types is a
/// float, of 64 bits where one has them, else the result's type, which wraps around as the sum would; a `pred` tells whether a sum of 64 bits is not 0.
pub(super) fn sum_type(computation: &Computation, id: InstrId) -> ElementType {
    let instruction = &computation.instructions[id];
    let result = element_type(instruction);
    let read = |operand: &InstrId| element_type(&computation.instructions[*operand]);
    let types = || instruction.operands.iter().map(read).chain([result]);
    let is_mixed = instruction.operands.iter().any(|operand| read(operand) != result);
    match result {
        _ if result.is_complex() => result,
        _ if types().any(|ty| ty == ElementType::F64) => ElementType::F64,
        _ if types().any(ElementType::is_float) => ElementType::F32,
        // Whether it is 0 the lowest bits of the sum do not tell.
        ElementType::Pred if is_mixed => ElementType::S64,
        _ => result,
    }
}
