//! Sums that are folded beside the maximum that scales them: [`Folded::online`].

use super::Emission;
use crate::kernel::{Block, Known, Operand, ScalarOp, Statement, Value};
use std::collections::BTreeMap;
use weft_affine::{Error, Expr};
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId, UnaryOp};
use weft_partition::{Folded, FunctionId, Pass};

impl Emission<'_> {
    /// The rounds of a place, in groups: in each the other folds take in its elements first, then every sum does, scaled by what its maximum has come to. Returns what is carried.
    pub(super) fn online(
        &mut self,
        pass: &Pass,
        init: Vec<Vec<Operand>>,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Vec<Operand>>, Error> {
        let rounds = self.reduced.rounds();
        let each = self.reduced.rounds_of_scale().unwrap_or(rounds);
        let groups = rounds / each;
        let known = known.in_loop(&[groups]);
        let first = Expr::range(0).checked_mul(each)?;
        let mut numbered = Vec::new();
        for number in 0..each {
            numbered.push(self.round(first.checked_add_constant(number)?, known.clone())?);
        }
        let all: Vec<&Folded> = pass.folds.iter().collect();
        let looped = self.carried(&all);
        let before = looped.before();
        let mut body = Block::default();

        let others: Vec<usize> = (0..all.len()).filter(|fold| all[*fold].online.is_none()).collect();
        let unscaled = Pass {
            rows: Vec::new(),
            elements: pass.elements.clone(),
            folds: others.iter().map(|fold| all[*fold].clone()).collect(),
            scans: Vec::new(),
        };
        let mut carried: Vec<Vec<Operand>> = others.iter().map(|fold| before[*fold].clone()).collect();
        let of_rows = self.kept.first().cloned().unwrap_or_default();
        let mut yielded = Vec::with_capacity(numbered.len());
        for round in &numbered {
            let (own, folded) = self.element(&unscaled, round, of_rows.clone(), &carried, false, &mut body)?;
            yielded.push(own);
            carried = folded;
        }
        let stored: Vec<FunctionId> =
            pass.elements.iter().copied().filter(|function| self.output(*function).is_some()).collect();
        self.stored.extend(stored);
        let mut after = before.clone();
        others.iter().zip(carried).for_each(|(fold, own)| after[*fold] = own);

        for (fold, sum) in all.iter().enumerate() {
            let Some(maximum) = sum.online else { continue };
            let Some(place) = all.iter().position(|other| other.reduction == maximum) else { continue };
            let [least, less, more] = [neutral(all[place]), before[place].clone(), after[place].clone()];
            self.of_rows.insert(maximum, more.clone());
            let mut elements = Vec::new();
            self.needed(sum.function, &mut elements);
            elements.retain(|function| !pass.elements.contains(function));
            let one = Pass {
                rows: Vec::new(),
                elements,
                folds: vec![Folded { online: None, ..(*sum).clone() }],
                scans: Vec::new(),
            };
            let mut own = vec![neutral(sum)];
            for (number, round) in numbered.iter().enumerate() {
                (_, own) = self.element(&one, round, yielded[number].clone(), &own, number == 0, &mut body)?;
            }
            self.of_rows.remove(&maximum);
            let scaled = self.scaled(sum, before[fold].clone(), [least, less, more], &mut body);
            after[fold] = self.apply(sum, scaled, own.into_iter().flatten().collect(), &mut body);
        }
        Ok(looped.in_rounds(groups, init, (body, after), block))
    }

    /// What a place has of a fold, if that is a sum: scaled by the maximum of the row; `own` is what the place has of each.
    pub(super) fn scaled_by_row(
        &mut self,
        fold: &Folded,
        carried: Vec<Operand>,
        own: &BTreeMap<InstrId, Vec<Operand>>,
        block: &mut Block,
    ) -> Vec<Operand> {
        let folds = self.plan.passes().iter().flat_map(|pass| &pass.folds);
        let Some(maximum) = folds.into_iter().find(|other| Some(other.reduction) == fold.online) else {
            return carried;
        };
        let of = |known: Option<&Vec<Operand>>| known.cloned().unwrap_or_default();
        let (before, after) = (of(own.get(&maximum.reduction)), of(self.of_rows.get(&maximum.reduction)));
        if before == after {
            return carried;
        }
        self.scaled(fold, carried, [neutral(maximum), before, after], block)
    }

    /// The functions of elements that a function needs the values of, and itself behind them.
    fn needed(&self, function: FunctionId, found: &mut Vec<FunctionId>) {
        for given in &self.plan.function(function).given {
            let provider = self.providers.get(given).filter(|_| !self.of_rows.contains_key(given));
            if let Some(provider) = provider
                && !found.contains(provider)
            {
                self.needed(*provider, found);
            }
        }
        found.push(function);
    }

    /// A sum for one maximum as that for a greater one: times the exponential of by how much less it was. Where there was none yet, there is no sum.
    fn scaled(
        &mut self,
        fold: &Folded,
        sum: Vec<Operand>,
        [least, before, after]: [Vec<Operand>; 3],
        block: &mut Block,
    ) -> Vec<Operand> {
        let ([sum], [least], [before], [after], [none]) =
            (&sum[..], &least[..], &before[..], &after[..], &neutral(fold)[..])
        else {
            return sum;
        };
        let ty = self.operand_type(*sum);
        let mut named = |name: &str, ty: ElementType, op: ScalarOp| {
            let value = self.values.push(Value::scalar(name, ty));
            block.statements.push(Statement::Let { value, op });
            Operand::Value(value)
        };
        let operands = [*before, *after];
        let less = named("less", ty, ScalarOp::Binary { op: BinaryOp::Subtract, operands });
        let factor = named("factor", ty, ScalarOp::Unary { op: UnaryOp::Exponential, operand: less });
        let product = named("scaled", ty, ScalarOp::Binary { op: BinaryOp::Multiply, operands: [*sum, factor] });
        let mut compared = |direction: ComparisonDirection, operands: [Operand; 2]| {
            named("is", ElementType::Pred, ScalarOp::Compare { direction, order: None, operands })
        };
        // Exponentials of a least element less a least maximum are no numbers, and stay so if no other one comes.
        let operands = [
            compared(ComparisonDirection::Eq, [*before, *least]),
            compared(ComparisonDirection::Gt, [*after, *before]),
        ];
        let is_first = named("first", ElementType::Pred, ScalarOp::Binary { op: BinaryOp::And, operands });
        vec![named("scaled", ty, ScalarOp::Select { operands: [is_first, *none, product] })]
    }
}

/// What a fold begins with.
fn neutral(fold: &Folded) -> Vec<Operand> {
    fold.neutral.iter().copied().map(Operand::Constant).collect()
}
