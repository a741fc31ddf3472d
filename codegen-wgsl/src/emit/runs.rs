//! Emission of the elements of scatters of rows at ascending indices: each finds the rows that are for it by halves.

use super::function::Emission;
use crate::kernel::{Binding, Block, Condition, Known, Operand, OutOfBounds, ScalarOp, Statement, Value, ValueId};
use weft_affine::{Constraint, Expr, Interval};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ComputationId, ElementType, InstrId, Scalar};
use weft_partition::Runs;

fn number(value: i64) -> Operand {
    Operand::Constant(Scalar::U32(u32::try_from(value).unwrap_or(u32::MAX)))
}

impl Emission<'_, '_, '_> {
    /// What the elements of the operands come to by the rows that are for them.
    pub(super) fn runs(
        &mut self,
        id: InstrId,
        (region, runs): (ComputationId, &Runs),
        init: Vec<Operand>,
        known: &Known,
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        let element = self.home(id).results().to_vec();
        let own = element.iter().zip(&runs.sizes).enumerate().filter(|(dimension, _)| *dimension != runs.dimension);
        let within = |(_, (index, size)): (_, (&Expr, &i64))| Constraint {
            expr: index.clone(),
            bounds: Interval::of_extent(*size),
        };
        let inside: Vec<Constraint> = own.map(within).collect();
        let condition = known.open(&inside);
        let (_, then) = self.scoped(|this, block| {
            let rows = Rows { id, region, runs, element: &element };
            rows.fold(this, &init, block)
        })?;
        if condition.is_empty() {
            out.statements.extend(then.statements);
            return Ok(then.results);
        }
        let folded = self.conditional(id, Condition::Indices(condition), then, &init);
        out.statements.extend(folded.statements);
        Ok(folded.results)
    }
}

/// The rows of a scatter, looked at for one element.
struct Rows<'a> {
    id: InstrId,
    region: ComputationId,
    runs: &'a Runs,
    element: &'a [Expr],
}

/// A runtime variable that is the number of a row, and its index, clamped to the places that there are and one behind.
struct Row {
    number: u32,
    index: u32,
    value: Operand,
}

impl Rows<'_> {
    fn named(&self, emission: &mut Emission<'_, '_, '_>, name: &str, element_type: ElementType) -> ValueId {
        emission.function.values.push(Value::scalar(name, element_type))
    }

    /// The place of the element along the dimension that indices are for.
    fn place(&self) -> &Expr {
        &self.element[self.runs.dimension]
    }

    /// How the index of a row has to lie to the element's.
    fn apart(&self, row: &Row, bounds: Interval) -> Result<Condition, Diagnostics> {
        let expr = Expr::runtime(row.index).checked_sub(self.place()).map_err(super::function::overflow)?;
        Ok(Condition::Indices(vec![Constraint { expr, bounds }]))
    }

    /// Looks up a row of which there is one.
    fn row(&self, emission: &mut Emission<'_, '_, '_>, row: Operand, block: &mut Block) -> Result<Row, Diagnostics> {
        let indices = emission.computation.instructions[self.id].operands
            [emission.computation.instructions[self.id].operands.len() / 2];
        let number = emission.variable();
        let binding = Binding { variable: number, bounds: Interval::of_extent(self.runs.rows), value: row };
        block.statements.push(Statement::Bind { binding, out_of_bounds: OutOfBounds::Clamp });
        let value = emission.start_value(indices, &self.runs.index_access(&Expr::runtime(number)), block)?;
        let index = emission.variable();
        let bounds = Interval { lo: 0, hi: self.runs.places };
        let binding = Binding { variable: index, bounds, value };
        block.statements.push(Statement::Bind { binding, out_of_bounds: OutOfBounds::Clamp });
        Ok(Row { number, index, value })
    }

    /// Folds the rows that are for the element.
    fn fold(
        &self,
        emission: &mut Emission<'_, '_, '_>,
        init: &[Operand],
        block: &mut Block,
    ) -> Result<(), Diagnostics> {
        let first = self.first(emission, block)?;
        let state = |this: &mut Emission<'_, '_, '_>, suffix: &str| {
            let mut values = this.result_values(self.id, suffix);
            values.push(self.named(this, "row", ElementType::U32));
            values.push(self.named(this, "goes_on", ElementType::Pred));
            values
        };
        let (accumulators, values) = (state(emission, ".acc"), state(emission, ""));
        let mut carried: Vec<Operand> = accumulators.iter().map(|value| Operand::Value(*value)).collect();
        let goes_on = carried.last().copied();
        let copies = (self.runs.rows + Runs::OF_ROUNDS - 1) / Runs::OF_ROUNDS;
        let (_, body) = emission.scoped(|this, body| {
            for _ in 0..copies {
                carried = self.step(this, &carried, body)?;
            }
            body.results = carried;
            Ok(())
        })?;
        let mut init = init.to_vec();
        init.extend([first, Operand::Constant(Scalar::Pred(true))]);
        let condition = Block { statements: Vec::new(), results: goes_on.into_iter().collect() };
        block.results = values[..values.len() - 2].iter().map(|value| Operand::Value(*value)).collect();
        block.statements.push(Statement::While { values, init, accumulators, condition, body });
        Ok(())
    }

    /// How many rows have lesser indices: by halves.
    fn first(&self, emission: &mut Emission<'_, '_, '_>, block: &mut Block) -> Result<Operand, Diagnostics> {
        let rows = self.runs.rows;
        let bits = i64::from(64 - rows.leading_zeros());
        let mut named = |name: &str| self.named(emission, name, ElementType::U32);
        let [count, step, first, last] = ["count", "step", "first", "last_step"].map(&mut named);
        let [there, found] = ["count", "count"].map(&mut named);
        let (_, body) = emission.scoped(|this, body| {
            let add = ScalarOp::Binary { op: BinaryOp::Add, operands: [count, step].map(Operand::Value) };
            let further = this.define(body, "further", ElementType::U32, add);
            let operands = [further, number(rows)];
            let fits = ScalarOp::Compare { direction: ComparisonDirection::Le, order: None, operands };
            let fits = this.define(body, "fits", ElementType::Pred, fits);
            let (_, then) = this.scoped(|this, block| {
                let last = ScalarOp::Binary { op: BinaryOp::Subtract, operands: [further, number(1)] };
                let last = this.define(block, "row", ElementType::U32, last);
                let row = self.row(this, last, block)?;
                let condition = self.apart(&row, Interval { lo: -self.runs.places, hi: -1 })?;
                let [then, otherwise] = [further, Operand::Value(count)]
                    .map(|result| Block { statements: Vec::new(), results: vec![result] });
                block.statements.push(Statement::If { values: vec![found], condition, then, otherwise });
                block.results = vec![Operand::Value(found)];
                Ok(())
            })?;
            let otherwise = Block { statements: Vec::new(), results: vec![Operand::Value(count)] };
            let condition = Condition::Value(fits);
            body.statements.push(Statement::If { values: vec![there], condition, then, otherwise });
            let half = [Operand::Value(step), number(1)];
            let half = ScalarOp::Binary { op: BinaryOp::ShiftRightLogical, operands: half };
            let half = this.define(body, "step", ElementType::U32, half);
            body.results = vec![Operand::Value(there), half];
            Ok(())
        })?;
        let (init, extents) = (vec![number(0), number(1 << (bits - 1))], vec![bits]);
        let (values, accumulators) = (vec![first, last], vec![count, step]);
        block.statements.push(Statement::Loop { values, extents, init, accumulators, body });
        Ok(Operand::Value(first))
    }

    /// Goes on by one row of the run, if there is another: the state is what is folded, the number of the row, and whether it is one of the run.
    fn step(
        &self,
        emission: &mut Emission<'_, '_, '_>,
        state: &[Operand],
        out: &mut Block,
    ) -> Result<Vec<Operand>, Diagnostics> {
        let [carried @ .., row, goes_on] = state else { return Ok(state.to_vec()) };
        let ended = |carried: &[Operand]| {
            let mut results = carried.to_vec();
            results.extend([*row, Operand::Constant(Scalar::Pred(false))]);
            Block { statements: Vec::new(), results }
        };
        let (_, there) = emission.scoped(|this, block| {
            let found = self.row(this, *row, block)?;
            let (_, mut inside) = this.scoped(|this, block| {
                let (_, then) = this.scoped(|this, block| self.combine(this, &found, carried, block))?;
                let bounds = Interval::of_extent(self.runs.places);
                let binding = Binding { variable: this.variable(), bounds, value: found.value };
                let changed = this.conditional(self.id, Condition::InBounds(vec![binding]), then, carried);
                block.statements = changed.statements;
                block.results = changed.results;
                Ok(())
            })?;
            let next = ScalarOp::Binary { op: BinaryOp::Add, operands: [*row, number(1)] };
            let next = this.define(&mut inside, "next_row", ElementType::U32, next);
            inside.results.extend([next, Operand::Constant(Scalar::Pred(true))]);
            let condition = self.apart(&found, Interval::point(0))?;
            self.chosen(this, condition, inside, ended(carried), block);
            Ok(())
        })?;
        let (_, further) = emission.scoped(|this, block| {
            let operands = [*row, number(self.runs.rows)];
            let below = ScalarOp::Compare { direction: ComparisonDirection::Lt, order: None, operands };
            let below = this.define(block, "is_row", ElementType::Pred, below);
            self.chosen(this, Condition::Value(below), there, ended(carried), block);
            Ok(())
        })?;
        let mut after = Block::default();
        self.chosen(emission, Condition::Value(*goes_on), further, ended(carried), &mut after);
        out.statements.extend(after.statements);
        Ok(after.results)
    }

    /// One of two blocks that yield states.
    fn chosen(
        &self,
        emission: &mut Emission<'_, '_, '_>,
        condition: Condition,
        then: Block,
        otherwise: Block,
        out: &mut Block,
    ) {
        let mut values = emission.result_values(self.id, ".step");
        values.push(self.named(emission, "row", ElementType::U32));
        values.push(self.named(emission, "goes_on", ElementType::Pred));
        out.results = values.iter().map(|value| Operand::Value(*value)).collect();
        out.statements.push(Statement::If { values, condition, then, otherwise });
    }

    /// Combines what is carried with the updates of a row.
    fn combine(
        &self,
        emission: &mut Emission<'_, '_, '_>,
        row: &Row,
        carried: &[Operand],
        block: &mut Block,
    ) -> Result<(), Diagnostics> {
        let inputs = carried.len();
        let access = self.runs.update_access(&Expr::runtime(row.number), self.element);
        let mut arguments = carried.to_vec();
        for position in inputs + 1..2 * inputs + 1 {
            let update = emission.computation.instructions[self.id].operands[position];
            let value = emission.start_value(update, &access, block)?;
            arguments.push(value);
        }
        let results = emission.result_values(self.id, ".next");
        emission.apply(self.region, arguments, results.clone(), block)?;
        block.results = results.into_iter().map(Operand::Value).collect();
        Ok(())
    }
}
