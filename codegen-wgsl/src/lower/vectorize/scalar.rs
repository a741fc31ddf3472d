//! Statements for one lane at a time.

use super::Refusal;
use super::branches::decided;
use super::function::Growing;
use super::steps::divided;
use crate::kernel::{Binding, Block, Condition, Known, Operand, Statement, Value, ValueId};
use std::collections::BTreeMap;
use weft_affine::{Constraint, Expr};

/// Statements in the making for one lane, and what they have defined.
struct OneLane<'g, 'p, 'k> {
    growing: &'g mut Growing<'p, 'k>,
    lane: u32,
    values: BTreeMap<ValueId, Operand>,
    runtime: BTreeMap<u32, u32>,
}

impl<'p, 'k> Growing<'p, 'k> {
    /// A statement of the source once for each lane; returns for each value that it defines its lanes.
    pub(super) fn lane_by_lane(
        &mut self,
        statement: &Statement,
        values: &[ValueId],
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<Vec<Vec<Operand>>, Refusal> {
        let mut lanes: Vec<Vec<Operand>> = vec![Vec::new(); values.len()];
        for lane in 0..self.pass.held.lanes() {
            let mut own = OneLane { growing: &mut *self, lane, values: BTreeMap::new(), runtime: BTreeMap::new() };
            own.statement(statement, &mut known.clone(), out)?;
            for (value, lanes) in values.iter().zip(&mut lanes) {
                lanes.push(own.values.get(value).copied().ok_or(Refusal::Effects)?);
            }
        }
        Ok(lanes)
    }
}

impl OneLane<'_, '_, '_> {
    fn operand(&mut self, operand: Operand, out: &mut Vec<Statement>) -> Operand {
        match operand {
            Operand::Value(value) if self.values.contains_key(&value) => self.values[&value],
            _ => self.growing.lane(operand, self.lane, out),
        }
    }

    fn index(&self, index: &Expr, known: &Known) -> Result<Expr, Refusal> {
        let own = |number: u32| self.runtime.get(&number).copied();
        Ok(self.growing.analysis.substitution.in_lane(index, self.lane, &own, known)?)
    }

    /// A value of the source in this lane.
    fn define(&mut self, value: ValueId) -> ValueId {
        let image = self.growing.values.push(Value { lanes: 1, ..self.growing.source.values[value].clone() });
        self.values.insert(value, Operand::Value(image));
        image
    }

    fn binding(&mut self, binding: &Binding, value: Operand) -> Binding {
        let variable = self.growing.next_runtime;
        self.growing.next_runtime += 1;
        self.runtime.insert(binding.variable, variable);
        Binding { variable, bounds: binding.bounds, value }
    }

    fn block(&mut self, block: &Block, mut known: Known) -> Result<Block, Refusal> {
        let mut statements = Vec::new();
        for statement in &block.statements {
            self.statement(statement, &mut known, &mut statements)?;
        }
        let results = block.results.iter().map(|result| self.operand(*result, &mut statements)).collect();
        Ok(Block { statements, results })
    }

    fn statement(&mut self, statement: &Statement, known: &mut Known, out: &mut Vec<Statement>) -> Result<(), Refusal> {
        self.growing.pass.count_copy()?;
        let operands: Vec<Operand> =
            statement.operands().into_iter().map(|operand| self.operand(operand, out)).collect();
        if let Statement::If { values, condition, then, otherwise } = statement {
            let condition = match self.condition(condition, &operands, known)? {
                Ok(holds) => {
                    let block = self.block(if holds { then } else { otherwise }, known.clone())?;
                    out.extend(block.statements);
                    self.values.extend(values.iter().copied().zip(block.results));
                    return Ok(());
                }
                Err(condition) => condition,
            };
            let then = self.block(then, known.inside(&condition))?;
            let otherwise = self.block(otherwise, known.outside(&condition))?;
            let values = values.iter().map(|value| self.define(*value)).collect();
            out.push(Statement::If { values, condition, then, otherwise });
            return Ok(());
        }
        // All but the blocks, which would be copied twice.
        let mut own = without_blocks(statement);
        own.operands_mut().into_iter().zip(operands).for_each(|(operand, here)| *operand = here);
        for index in own.indices_mut() {
            *index = self.index(index, known)?;
        }
        own.defines_mut().into_iter().for_each(|value| *value = self.define(*value));
        if let Statement::Bind { binding, .. } = &mut own {
            *binding = self.binding(binding, binding.value);
        }
        for ((block, source), known) in
            own.blocks_mut().into_iter().zip(statement.blocks()).zip(known.within(statement))
        {
            *block = self.block(source, known)?;
        }
        known.after(&own);
        out.push(own);
        Ok(())
    }

    /// Whether a condition holds in this lane, where that is known; else what has to be tested.
    fn condition(
        &mut self,
        condition: &Condition,
        operands: &[Operand],
        known: &Known,
    ) -> Result<Result<bool, Condition>, Refusal> {
        Ok(match condition {
            Condition::Indices(constraints) => {
                let mut tested = Vec::with_capacity(constraints.len());
                for Constraint { expr, bounds } in constraints {
                    tested.push(divided(Constraint { expr: self.index(expr, known)?, bounds: *bounds }));
                }
                decided(&tested, known).map_err(Condition::Indices)
            }
            Condition::Value(_) => Err(Condition::Value(operands[0])),
            Condition::InBounds(bindings) => {
                let renamed = bindings.iter().zip(operands);
                Err(Condition::InBounds(renamed.map(|(binding, value)| self.binding(binding, *value)).collect()))
            }
        })
    }
}

/// A statement with empty blocks.
fn without_blocks(statement: &Statement) -> Statement {
    match statement {
        Statement::Loop { values, extents, init, accumulators, .. } => Statement::Loop {
            values: values.clone(),
            extents: extents.clone(),
            init: init.clone(),
            accumulators: accumulators.clone(),
            body: Block::default(),
        },
        Statement::While { values, init, accumulators, .. } => Statement::While {
            values: values.clone(),
            init: init.clone(),
            accumulators: accumulators.clone(),
            condition: Block::default(),
            body: Block::default(),
        },
        other => other.clone(),
    }
}
