//! Conditions in a function of vectors: those that hold in all lanes or in none, and those that each lane has its own of.

use super::Refusal;
use super::function::Growing;
use super::steps::{Selection, Test};
use crate::kernel::{Binding, Block, Condition, Known, Operand, ScalarOp, Statement, Value, ValueId};
use weft_affine::Constraint;
use weft_hlo::ir::{ArenaId, BinaryOp};

impl Growing<'_, '_> {
    pub(super) fn conditional(
        &mut self,
        statement: &Statement,
        values: &[ValueId],
        condition: &Condition,
        [then, otherwise]: [&Block; 2],
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let condition = match condition {
            Condition::Indices(_) => match self.analysis.test(then).cloned().ok_or(Refusal::Effects)? {
                Test::Uniform(tested) => match decided(&tested, known) {
                    Ok(holds) => return self.inlined(values, if holds { then } else { otherwise }, known, out),
                    Err(open) => Condition::Indices(open),
                },
                Test::Split(tested) => return self.split(statement, values, &tested, then, known, out),
                Test::Selected(selection) => {
                    return self.selected(values, &selection, [then, otherwise], known, out);
                }
            },
            Condition::Value(operand) if self.analysis.varies(*operand) => {
                return self.chosen(values, *operand, [then, otherwise], known, out);
            }
            Condition::Value(operand) => Condition::Value(self.image(*operand)),
            Condition::InBounds(bindings) => {
                let renamed = |Binding { variable, bounds, value }: &Binding| Binding {
                    variable: self.analysis.substitution.runtime(*variable, 0),
                    bounds: *bounds,
                    value: self.image(*value),
                };
                Condition::InBounds(bindings.iter().map(renamed).collect())
            }
        };
        let then = self.block(then, values, known.inside(&condition))?;
        let otherwise = self.block(otherwise, values, known.outside(&condition))?;
        let values = self.defined(values);
        out.push(Statement::If { values, condition, then, otherwise });
        Ok(())
    }

    /// A condition that each lane has its own of: vectors wherever it holds in any, of which each lane takes its own where it holds there. The block computes values of others, the other one
    /// yields what is known already.
    fn chosen(
        &mut self,
        values: &[ValueId],
        condition: Operand,
        [then, otherwise]: [&Block; 2],
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        if !self.pass.held.is_vector() {
            return Err(Refusal::Branch);
        }
        let mut any = self.lane(condition, 0, out);
        for lane in 1..self.lanes() {
            let operands = [any, self.lane(condition, lane, out)];
            any = self.push(condition, 1, ScalarOp::Binary { op: BinaryOp::Or, operands }, out);
        }
        let is_chosen = self.image(condition);
        let mut statements = Vec::new();
        self.statements(then, known.clone(), &mut statements)?;
        let mut results = Vec::with_capacity(values.len());
        for (value, (here, there)) in values.iter().zip(then.results.iter().zip(&otherwise.results)) {
            let operands =
                [is_chosen, self.vector_value(*here, &mut statements), self.vector_value(*there, &mut statements)];
            let op = ScalarOp::Select { operands };
            results.push(self.push(Operand::Value(*value), self.lanes(), op, &mut statements));
        }
        let otherwise = self.block(otherwise, values, known.clone())?;
        let then = Block { statements, results };
        let values = self.defined(values);
        out.push(Statement::If { values, condition: Condition::Value(any), then, otherwise });
        Ok(())
    }

    /// A block in place of the values that it yields.
    fn inlined(
        &mut self,
        values: &[ValueId],
        block: &Block,
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        self.statements(block, known.clone(), out)?;
        for (value, result) in values.iter().zip(&block.results) {
            let image = match self.analysis.varies(Operand::Value(*value)) {
                true => self.vector_value(*result, out),
                false => self.image(*result),
            };
            self.images[value.index()] = Some(image);
        }
        Ok(())
    }

    /// A condition that may hold in some lanes only: vectors wherever it holds in any, of which each lane takes its own where it holds
    /// there. The other block yields what is known already.
    fn selected(
        &mut self,
        values: &[ValueId],
        selection: &Selection,
        [then, otherwise]: [&Block; 2],
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let any = match decided(&selection.any, known) {
            Ok(true) => None,
            Ok(false) => return self.inlined(values, otherwise, known, out),
            Err(open) => Some(Condition::Indices(open)),
        };
        let inside = any.as_ref().map_or_else(|| known.clone(), |any| known.inside(any));
        let mut statements = Vec::new();
        self.statements(then, inside.clone(), &mut statements)?;
        let mut lanes: Vec<Vec<Operand>> = vec![Vec::new(); values.len()];
        for (lane, tested) in (0..).zip(&selection.lanes) {
            let [mut here, mut there] = [Block::default(), Block::default()];
            here.results = self.lanes_of(then, lane, &mut here.statements);
            there.results = self.lanes_of(otherwise, lane, &mut there.statements);
            let chosen = match decided(tested, &inside) {
                Ok(holds) => {
                    let block = if holds { here } else { there };
                    statements.extend(block.statements);
                    block.results
                }
                Err(open) => {
                    let like = |value: &ValueId| Value { lanes: 1, ..self.source.values[*value].clone() };
                    let own: Vec<Value> = values.iter().map(like).collect();
                    let own: Vec<ValueId> = own.into_iter().map(|value| self.values.push(value)).collect();
                    let results = own.iter().copied().map(Operand::Value).collect();
                    let condition = Condition::Indices(open);
                    statements.push(Statement::If { values: own, condition, then: here, otherwise: there });
                    results
                }
            };
            lanes.iter_mut().zip(chosen).for_each(|(lanes, chosen)| lanes.push(chosen));
        }
        let Some(condition) = any else {
            out.extend(statements);
            for (value, lanes) in values.iter().zip(lanes) {
                self.compose(*value, lanes, out);
            }
            return Ok(());
        };
        let mut results = Vec::with_capacity(values.len());
        for (value, operands) in values.iter().zip(lanes) {
            let lanes = self.lanes();
            results.push(self.push(Operand::Value(*value), lanes, ScalarOp::Compose { operands }, &mut statements));
        }
        let then = Block { statements, results };
        let otherwise = self.block(otherwise, values, known.outside(&condition))?;
        let values = self.defined(values);
        out.push(Statement::If { values, condition, then, otherwise });
        Ok(())
    }

    /// One lane of what a block yields.
    fn lanes_of(&mut self, block: &Block, lane: u32, out: &mut Vec<Statement>) -> Vec<Operand> {
        block.results.iter().map(|result| self.lane(*result, lane, out)).collect()
    }

    /// A condition that may hold in some lanes only: vectors where it holds in all, else each lane for itself.
    fn split(
        &mut self,
        statement: &Statement,
        values: &[ValueId],
        tested: &[Constraint],
        then: &Block,
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let open = match decided(tested, known) {
            Ok(true) => return self.inlined(values, then, known, out),
            Ok(false) => None,
            Err(open) => Some(open),
        };
        let outside = open.as_ref().map_or_else(|| known.clone(), |open| known.unless(open));
        let mut each = Vec::new();
        let lanes = self.lane_by_lane(statement, values, &outside, &mut each)?;
        let Some(open) = open else {
            out.extend(each);
            for (value, lanes) in values.iter().zip(lanes) {
                self.compose(*value, lanes, out);
            }
            return Ok(());
        };
        let mut results = Vec::with_capacity(values.len());
        for (value, lanes) in values.iter().zip(lanes) {
            let op = ScalarOp::Compose { operands: lanes };
            results.push(self.push(Operand::Value(*value), self.lanes(), op, &mut each));
        }
        let otherwise = Block { statements: each, results };
        let condition = Condition::Indices(open);
        let then = self.block(then, values, known.inside(&condition))?;
        let values = self.defined(values);
        out.push(Statement::If { values, condition, then, otherwise });
        Ok(())
    }
}

/// Whether constraints are known to hold, or not to; else what has to be tested.
pub(super) fn decided(tested: &[Constraint], known: &Known) -> Result<bool, Vec<Constraint>> {
    let open = known.open(tested);
    match open.as_slice() {
        [] => Ok(true),
        open if open.iter().any(|constraint| constraint.bounds.is_empty()) => Ok(false),
        _ => Err(open),
    }
}
