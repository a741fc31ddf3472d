//! Statements for one lane at a time.

use super::function::{Growing, decided};
use super::steps::divided;
use super::{LANES, Refusal};
use crate::kernel::{Binding, Block, Condition, Known, Operand, Statement, Value, ValueId};
use std::collections::BTreeMap;
use weft_affine::{Constraint, Expr, Var, simplify};

/// What a statement for one lane has defined.
struct Copy {
    lane: u32,
    values: BTreeMap<ValueId, Operand>,
    runtime: BTreeMap<u32, u32>,
}

impl Growing<'_, '_> {
    /// A statement of the source once for each lane; returns for each value that it defines its lanes.
    pub(super) fn lane_by_lane(
        &mut self,
        statement: &Statement,
        values: &[ValueId],
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<Vec<Vec<Operand>>, Refusal> {
        let mut lanes: Vec<Vec<Operand>> = vec![Vec::new(); values.len()];
        for lane in 0..LANES {
            let mut copy = Copy { lane, values: BTreeMap::new(), runtime: BTreeMap::new() };
            self.copied(statement, &mut copy, &mut known.clone(), out)?;
            for (value, lanes) in values.iter().zip(&mut lanes) {
                lanes.push(copy.values.get(value).copied().ok_or(Refusal::Effects)?);
            }
        }
        Ok(lanes)
    }

    fn copied_operand(&mut self, operand: Operand, copy: &Copy, out: &mut Vec<Statement>) -> Operand {
        match operand {
            Operand::Value(value) if copy.values.contains_key(&value) => copy.values[&value],
            _ => self.lane(operand, copy.lane, out),
        }
    }

    fn copied_index(&self, index: &Expr, copy: &Copy, known: &Known) -> Result<Expr, Refusal> {
        let own = &self.analysis.substitution;
        let axis = own.axis.map(|axis| {
            Expr::dim(axis)
                .checked_mul(i64::from(LANES))
                .and_then(|first| first.checked_add_constant(i64::from(copy.lane)))
        });
        let axis = axis.transpose()?;
        let substituted = index.substitute(|variable| match variable {
            Var::Dim(dimension) if Some(dimension) == own.axis => axis.clone(),
            Var::Runtime(number) => {
                let number = copy.runtime.get(&number).copied().unwrap_or_else(|| own.runtime(number, copy.lane));
                Some(Expr::runtime(number))
            }
            Var::Dim(_) | Var::Range(_) => None,
        })?;
        Ok(simplify(&substituted, &known.ranges, known.facts()))
    }

    fn copied_binding(&mut self, binding: &Binding, value: Operand, copy: &mut Copy) -> Binding {
        let variable = self.next_runtime;
        self.next_runtime += 1;
        copy.runtime.insert(binding.variable, variable);
        Binding { variable, bounds: binding.bounds, value }
    }

    fn copied_block(&mut self, block: &Block, copy: &mut Copy, known: &Known) -> Result<Block, Refusal> {
        let (mut statements, mut known) = (Vec::new(), known.clone());
        for statement in &block.statements {
            self.copied(statement, copy, &mut known, &mut statements)?;
        }
        let results = block.results.iter().map(|result| self.copied_operand(*result, copy, &mut statements)).collect();
        Ok(Block { statements, results })
    }

    fn copied(
        &mut self,
        statement: &Statement,
        copy: &mut Copy,
        known: &mut Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        self.pass.count_copy()?;
        let operands: Vec<Operand> =
            statement.operands().into_iter().map(|operand| self.copied_operand(operand, copy, out)).collect();
        if let Statement::If { values, condition, then, otherwise } = statement {
            return self.copied_if(values, condition, &operands, [then, otherwise], copy, known, out);
        }
        // All but the blocks, which would be copied twice.
        let mut own = without_blocks(statement);
        own.operands_mut().into_iter().zip(operands).for_each(|(operand, here)| *operand = here);
        for index in own.indices_mut() {
            *index = self.copied_index(index, copy, known)?;
        }
        for value in own.defines_mut() {
            let image = self.values.push(Value { lanes: 1, ..self.source.values[*value].clone() });
            copy.values.insert(*value, Operand::Value(image));
            *value = image;
        }
        match (&mut own, statement) {
            (Statement::Bind { binding, .. }, _) => {
                *binding = self.copied_binding(&binding.clone(), binding.value, copy);
                known.bind(binding);
            }
            (Statement::Loop { body, .. }, Statement::Loop { body: source, extents, .. }) => {
                *body = self.copied_block(source, copy, &known.in_loop(extents))?;
            }
            (Statement::While { condition, body, .. }, Statement::While { condition: test, body: source, .. }) => {
                *condition = self.copied_block(test, copy, known)?;
                *body = self.copied_block(source, copy, known)?;
            }
            _ => {}
        }
        out.push(own);
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one statement")]
    fn copied_if(
        &mut self,
        values: &[ValueId],
        condition: &Condition,
        operands: &[Operand],
        [then, otherwise]: [&Block; 2],
        copy: &mut Copy,
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let condition = match condition {
            Condition::Indices(constraints) => {
                let mut tested = Vec::with_capacity(constraints.len());
                for Constraint { expr, bounds } in constraints {
                    let expr = self.copied_index(expr, copy, known)?;
                    tested.push(divided(Constraint { expr, bounds: *bounds }));
                }
                match decided(&tested, known) {
                    Ok(holds) => {
                        let block = self.copied_block(if holds { then } else { otherwise }, copy, known)?;
                        out.extend(block.statements);
                        copy.values.extend(values.iter().copied().zip(block.results));
                        return Ok(());
                    }
                    Err(open) => Condition::Indices(open),
                }
            }
            Condition::Value(_) => Condition::Value(operands[0]),
            Condition::InBounds(bindings) => {
                let renamed = bindings.iter().zip(operands);
                Condition::InBounds(
                    renamed.map(|(binding, value)| self.copied_binding(binding, *value, copy)).collect(),
                )
            }
        };
        let then = self.copied_block(then, copy, &known.inside(&condition))?;
        let otherwise = self.copied_block(otherwise, copy, &known.outside(&condition))?;
        let mut images = Vec::with_capacity(values.len());
        for value in values {
            let image = self.values.push(Value { lanes: 1, ..self.source.values[*value].clone() });
            copy.values.insert(*value, Operand::Value(image));
            images.push(image);
        }
        out.push(Statement::If { values: images, condition, then, otherwise });
        Ok(())
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
