//! The rounds in which a place goes through its elements of a row.

use super::Emission;
use crate::elemental::zero;
use crate::emit::passes::Yielded;
use crate::kernel::{Block, Known, Operand, Statement, Value, ValueId};
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::ElementType;
use weft_partition::{Folded, Pass, Reduced};

/// One round: the number of its element along the row, what has to be tested for there to be one, and what is known then.
pub(super) struct Round {
    pub(super) element: Expr,
    pub(super) open: Vec<Constraint>,
    pub(super) known: Known,
}

/// What a loop carries of each fold and scan.
pub(super) struct Carried {
    accumulators: Vec<Vec<ValueId>>,
    values: Vec<Vec<ValueId>>,
}

impl Carried {
    /// What it is before a round.
    pub(super) fn before(&self) -> Vec<Vec<Operand>> {
        operands(&self.accumulators)
    }

    /// Appends so many rounds that begin with `init`, each of which leaves `after`; returns what the last one leaves.
    pub(super) fn in_rounds(
        self,
        rounds: i64,
        init: Vec<Vec<Operand>>,
        (mut body, after): (Block, Vec<Vec<Operand>>),
        block: &mut Block,
    ) -> Vec<Vec<Operand>> {
        body.results = after.into_iter().flatten().collect();
        let results = operands(&self.values);
        let flat = |values: Vec<Vec<ValueId>>| values.into_iter().flatten().collect();
        let (values, accumulators) = (flat(self.values), flat(self.accumulators));
        let (init, extents) = (init.into_iter().flatten().collect(), vec![rounds]);
        block.statements.push(Statement::Loop { values, extents, init, accumulators, body });
        results
    }
}

impl Emission<'_> {
    /// A loop over the rounds.
    pub(super) fn rounds(
        &mut self,
        pass: &Pass,
        rounds: i64,
        init: Vec<Vec<Operand>>,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Vec<Operand>>, Error> {
        let known = known.in_loop(&[rounds]);
        let round = self.round(Expr::range(0), known)?;
        let all: Vec<&Folded> = pass.folds.iter().chain(&pass.scans).collect();
        let carried = self.carried(&all);
        let mut body = Block::default();
        let before = self.kept.first().cloned().unwrap_or_default();
        let (_, folded) = self.element(pass, &round, before, &carried.before(), false, &mut body)?;
        Ok(carried.in_rounds(rounds, init, (body, folded), block))
    }

    /// The values of a loop that carries folds and scans, named after these.
    pub(super) fn carried(&mut self, all: &[&Folded]) -> Carried {
        let types: Vec<Vec<ElementType>> = all.iter().map(|fold| self.result_types(fold.function)).collect();
        let [accumulators, values] = [".acc", ""].map(|suffix| {
            let name = |fold: &Folded| format!("{}{suffix}", self.computation.instructions[fold.reduction].name);
            let of = |(fold, types): (&&Folded, &Vec<ElementType>)| {
                types.iter().map(|ty| self.values.push(Value::scalar(name(fold), *ty))).collect()
            };
            all.iter().zip(&types).map(of).collect()
        });
        Carried { accumulators, values }
    }

    pub(super) fn round(&self, number: Expr, known: Known) -> Result<Round, Error> {
        let Reduced { reduced, along, is_ordered, .. } = *self.reduced;
        let element = match is_ordered {
            false => number.checked_mul(along)?.checked_add(&self.place.along)?,
            true => self.place.along.checked_mul(self.reduced.rounds())?.checked_add(&number)?,
        };
        let element = match self.is_reversed {
            true => element.checked_neg()?.checked_add_constant(reduced - 1)?,
            false => element,
        };
        let element = known.simplified(&element);
        let within = Constraint { expr: element.clone(), bounds: Interval::of_extent(reduced) };
        let open = known.open(&[within]);
        let known = known.when(&open);
        Ok(Round { element, open, known })
    }

    /// What a pass does with one element; returns what functions yield there, and what has been folded. What there is no element for stays as it was.
    pub(super) fn element(
        &mut self,
        pass: &Pass,
        round: &Round,
        before: Yielded,
        carried: &[Vec<Operand>],
        is_first: bool,
        block: &mut Block,
    ) -> Result<(Yielded, Vec<Vec<Operand>>), Error> {
        let mut then = Block::default();
        let mut yielded = before;
        let (of_folds, of_scans) = carried.split_at(pass.folds.len());
        let scanned = self.scanned_element(pass, &round.element, &round.known, &mut yielded, of_scans, &mut then)?;
        let mut folded = Vec::with_capacity(carried.len());
        for (fold, carried) in pass.folds.iter().zip(of_folds) {
            let own = yielded.get(&fold.function).cloned().unwrap_or_default();
            folded.push(if is_first { own } else { self.folded_next(fold, carried.clone(), own, &mut then) });
        }
        folded.extend(scanned);
        if round.open.is_empty() {
            block.statements.extend(then.statements);
            return Ok((yielded, folded));
        }
        // What is needed behind the condition: what has been folded, and what is kept.
        let kept: Vec<weft_partition::FunctionId> =
            if self.reduced.is_kept { pass.elements.clone() } else { Vec::new() };
        let mut otherwise = Block { statements: Vec::new(), results: carried.iter().flatten().copied().collect() };
        then.results = folded.iter().flatten().copied().collect();
        for function in &kept {
            let values = yielded.get(function).cloned().unwrap_or_default();
            let zeros = values.iter().map(|value| Operand::Constant(zero(self.operand_type(*value))));
            otherwise.results.extend(zeros);
            then.results.extend(values);
        }
        let chosen: Vec<Operand> = self.chosen(&round.open, then, otherwise, block);
        let mut chosen = chosen.into_iter();
        let folded = folded.iter().map(|own| chosen.by_ref().take(own.len()).collect()).collect();
        for function in kept {
            let count = yielded.get(&function).map_or(0, Vec::len);
            yielded.insert(function, chosen.by_ref().take(count).collect());
        }
        Ok((yielded, folded))
    }
}

/// Values as operands.
fn operands(values: &[Vec<ValueId>]) -> Vec<Vec<Operand>> {
    values.iter().map(|own| own.iter().copied().map(Operand::Value).collect()).collect()
}
