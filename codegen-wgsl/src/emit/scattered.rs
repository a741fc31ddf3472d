//! Emission of the elements of scatters: each folds the updates of its own, window by window.

use super::function::{Emission, overflow, renumbered};
use crate::kernel::{Block, Condition, Known, Operand, Statement};
use weft_affine::{Constraint, Expr};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{ComputationId, InstrId};
use weft_partition::{Read, Runs};

impl Emission<'_, '_, '_> {
    /// What the elements of the operands come to: a loop over the windows that the element may lie in, in their order, of which those that hold it and lie in
    /// the operands each change it.
    pub(super) fn scatter(
        &mut self,
        id: InstrId,
        region: ComputationId,
        known: &Known,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        let instruction = &self.computation.instructions[id];
        let inputs = instruction.operands.len() / 2;
        let init = self.read_each(id, 0..inputs, out)?;
        if let Some(runs) = Runs::of(self.computation, instruction) {
            return self.runs(id, (region, &runs), init, known, out);
        }
        let updates = inputs + 1..2 * inputs + 1;
        let step = operand_map(self.computation, id, inputs + 1)?;
        let is_empty = step.runtime().iter().any(|start| start.bounds().is_empty());
        if is_empty || updates.clone().any(|position| *self.plan.read(id, position) == Read::Never) {
            return Ok(init);
        }
        let extents: Vec<i64> = step.ranges().iter().map(|range| range.bounds().hi + 1).collect();
        let (accumulators, values) = (self.result_values(id, ".acc"), self.result_values(id, ""));
        let carried: Vec<Operand> = match extents.is_empty() {
            true => init.clone(),
            false => accumulators.iter().map(|value| Operand::Value(*value)).collect(),
        };
        let (_, body) =
            self.scoped(|this, block| this.window(id, region, (&carried, &known.in_loop(&extents)), block))?;
        if extents.is_empty() {
            out.statements.extend(body.statements);
            return Ok(body.results);
        }
        out.statements.push(Statement::Loop { values: values.clone(), extents, init, accumulators, body });
        Ok(values.into_iter().map(Operand::Value).collect())
    }

    /// A round: changes what is carried if the element lies in the window.
    fn window(
        &mut self,
        id: InstrId,
        region: ComputationId,
        (carried, known): (&[Operand], &Known),
        block: &mut Block,
    ) -> Result<(), Diagnostics> {
        let inputs = carried.len();
        self.members(Some((id, inputs)), known, block)?;
        let read = (inputs + 1..2 * inputs + 1).find_map(|position| match self.plan.read(id, position) {
            Read::At(map) => Some(map.clone()),
            _ => None,
        });
        let map = match read {
            Some(map) => map,
            None => self.place(id, inputs + 1)?,
        };
        let mut inner = known.clone();
        let (mut bindings, mut numbers) = (Vec::new(), Vec::new());
        for variable in map.runtime() {
            let start = self.start(variable)?;
            let value = self.start_value(start.0, start.1, block)?;
            let binding = self.binding(start, value);
            inner.bind(&binding);
            numbers.push(binding.variable);
            bindings.push(binding);
        }
        let step = operand_map(self.computation, id, inputs + 1)?;
        let home = self.home(id);
        let mut domain = Vec::new();
        for (index, variable) in home.results().iter().zip(step.dims()) {
            domain.push(Constraint { expr: index.clone(), bounds: variable.bounds() });
        }
        for constraint in map.constraints() {
            domain.push(Constraint { expr: renumbered(&constraint.expr, &numbers).map_err(overflow)?, ..*constraint });
        }
        for (number, variable) in (0..).zip(map.dims()) {
            domain.push(Constraint { expr: Expr::dim(number), bounds: variable.bounds() });
        }
        for (number, variable) in (0..).zip(map.ranges()) {
            domain.push(Constraint { expr: Expr::range(number), bounds: variable.bounds() });
        }
        let condition = inner.open(&domain);
        let results = self.result_values(id, ".next");
        let (_, changed) = self.scoped(|this, block| {
            this.members(Some((id, inputs + 1)), &inner.when(&condition), block)?;
            let mut arguments = carried.to_vec();
            arguments.extend(this.read_each(id, inputs + 1..2 * inputs + 1, block)?);
            this.apply(region, arguments, results.clone(), block)?;
            block.results = results.into_iter().map(Operand::Value).collect();
            Ok(())
        })?;
        let inside = match condition.is_empty() {
            true => changed,
            false => self.conditional(id, Condition::Indices(condition), changed, carried),
        };
        let round = match bindings.is_empty() {
            true => inside,
            false => self.conditional(id, Condition::InBounds(bindings), inside, carried),
        };
        block.statements.extend(round.statements);
        block.results = round.results;
        Ok(())
    }

    /// What a block yields where a condition holds, and what is carried where it does not.
    pub(super) fn conditional(&mut self, id: InstrId, condition: Condition, then: Block, carried: &[Operand]) -> Block {
        let values = self.result_values(id, ".round");
        let results = values.iter().map(|value| Operand::Value(*value)).collect();
        let otherwise = Block { statements: Vec::new(), results: carried.to_vec() };
        Block { statements: vec![Statement::If { values, condition, then, otherwise }], results }
    }
}
