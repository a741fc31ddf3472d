//! Loops divided into the rounds in which a bounds test holds for certain, and the rest.

use super::copy::{Copy, Room};
use super::settle::settle;
use super::weight::weight;
use crate::kernel::{
    Access, Block, Condition, Function, FunctionId, Kernel, Known, Operand, Space, Statement, ValueId,
};
use std::collections::HashMap;
use weft_affine::{Atom, Constraint, Error, Expr, Interval, Var};
use weft_hlo::ir::ArenaId;

/// Statements that a round may have to be written a second time, those of called functions and of the library included.
const MAX_STATEMENTS: u64 = 64;

/// The kernel in which a loop whose rounds test an index against a bound, as in the last, ragged part of a tensor, becomes two: one over the
/// rounds in which the test holds whatever else the index depends on, without the test, and one over the rest.
///
/// That costs a second copy of the round, and saves a test in each full round: it is done where at least half of the rounds are full, two
/// or more, and the round has at most 64 statements. Where the test chooses between two computations, one full round is enough: it loses
/// one of them. Of a launch in windows those come first in which the test holds in every round, told apart by the number of the window; the
/// rounds of the last one are divided in turn. A loop is divided only where each round writes behind what those before it wrote. What is updated in place, or seen by other invocations, is still written by one
/// statement: of several it is not proved that invocations do so apart.
///
/// # Errors
/// If an index leaves 64 bits.
pub fn peel(kernel: &Kernel) -> Result<Kernel, Error> {
    let mut peeled = kernel.clone();
    let mut weights = vec![0u64; kernel.functions.len()];
    // Callees stand behind their callers.
    let ids: Vec<FunctionId> = kernel.functions.ids().collect();
    for id in ids.into_iter().rev() {
        divide(kernel, &mut peeled.functions[id], None, &weights)?;
        let function = &peeled.functions[id];
        weights[id.index()] = weight(&function.body, &function.values, &weights);
    }
    divide(kernel, &mut peeled.entry, kernel.window_coordinate(), &weights)?;
    Ok(peeled)
}

fn divide(kernel: &Kernel, function: &mut Function, window: Option<usize>, callees: &[u64]) -> Result<(), Error> {
    let mut body = std::mem::take(&mut function.body);
    let room = Room::new(&mut function.values, &body);
    let mut pass = Pass { kernel, room, window, callees, changes: false };
    pass.block(&mut body, &mut Known::new(&function.extents))?;
    let changes = pass.changes;
    function.body = body;
    if changes {
        settle(function);
    }
    Ok(())
}

struct Pass<'f> {
    kernel: &'f Kernel,
    room: Room<'f>,
    /// The coordinate that is the number of the window, if this is the entry and there are several.
    window: Option<usize>,
    /// Statements of each function that may be called.
    callees: &'f [u64],
    changes: bool,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block, known: &mut Known) -> Result<(), Error> {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            let within = known.within(&statement);
            for (block, mut known) in statement.blocks_mut().into_iter().zip(within) {
                self.block(block, &mut known)?;
            }
            known.after(&statement);
            if let Some(full) = self.full_windows(&statement, known) {
                statements.push(self.divided_windows(statement, full, known)?);
                continue;
            }
            match self.full_rounds(&statement, known) {
                Some(full) => self.divided(statement, full, known.loops(), &mut statements)?,
                None => statements.push(statement),
            }
        }
        block.statements = statements;
        Ok(())
    }

    /// The rounds of a loop's first variable, from the first on, in which a test holds for certain, where it pays to divide the loop there.
    fn full_rounds(&self, statement: &Statement, known: &Known) -> Option<i64> {
        let Statement::Loop { extents, body, .. } = statement else { return None };
        let rounds = *extents.first()?;
        let variable = Var::Range(u32::try_from(known.loops()).ok()?);
        let (full, chooses) = most_held(body, variable, rounds, known.in_loop(extents));
        // What is written in other windows as well lies between what the rounds write.
        let window = self.window.and_then(|coordinate| known.ranges.dims.get(coordinate));
        let is_alone = window.is_none_or(|window| window.lo == window.hi) || !writes(body);
        if !is_alone || !writes_in_order(body, variable, &known.in_loop(extents)) || !self.only_results(body) {
            return None;
        }
        let is_worth_it = full >= 1 && chooses || full >= 2 && full >= rounds - full;
        let pays = is_worth_it && weight(body, self.room.values, self.callees) <= MAX_STATEMENTS;
        pays.then_some(full)
    }

    /// The coordinate of the window, and how many windows there are in sight, where there are several.
    fn open_window(&self, known: &Known) -> Option<(usize, i64)> {
        let coordinate = self.window?;
        let range = known.ranges.dims.get(coordinate)?;
        (range.lo == 0 && range.hi > 0).then_some((coordinate, range.hi + 1))
    }

    /// The windows, from the first on, in which a test holds for certain in all rounds of a loop, where it pays to tell them apart.
    fn full_windows(&self, statement: &Statement, known: &Known) -> Option<(usize, i64)> {
        let Statement::Loop { values, extents, body, .. } = statement else { return None };
        let (coordinate, windows) = self.open_window(known)?;
        let variable = Var::Dim(u32::try_from(coordinate).ok()?);
        let (full, chooses) = most_held(body, variable, windows, known.in_loop(extents));
        let is_worth_it = full >= 1 && (chooses || full >= windows - full);
        let may_be = values.is_empty()
            && self.only_results(body)
            && weight(body, self.room.values, self.callees) <= MAX_STATEMENTS;
        (is_worth_it && may_be).then_some((coordinate, full))
    }

    /// A loop in the first windows, and again in the others.
    fn divided_windows(
        &mut self,
        statement: Statement,
        (coordinate, full): (usize, i64),
        known: &Known,
    ) -> Result<Statement, Error> {
        let then = Block { statements: vec![statement], results: Vec::new() };
        let mut otherwise =
            Copy { from: None, known: HashMap::new(), variable: &|_| None }.of(&then, &mut self.room)?;
        let expr = Expr::dim(u32::try_from(coordinate).unwrap_or(u32::MAX));
        let tests = vec![Constraint { expr, bounds: Interval::of_extent(full) }];
        self.block(&mut otherwise, &mut known.unless(&tests))?;
        self.changes = true;
        Ok(Statement::If { values: Vec::new(), condition: Condition::Indices(tests), then, otherwise })
    }

    /// Whether nothing is written but results.
    fn only_results(&self, block: &Block) -> bool {
        block.statements.iter().all(|statement| match statement {
            Statement::Store { memory, .. } | Statement::Merge { memory, .. } => {
                matches!(self.kernel.memories[*memory].space, Space::Buffer { access: Access::Write, .. })
            }
            _ if statement.is_effect() => false,
            _ => statement.blocks().into_iter().all(|block| self.only_results(block)),
        })
    }

    fn divided(
        &mut self,
        statement: Statement,
        full: i64,
        loops: usize,
        out: &mut Vec<Statement>,
    ) -> Result<(), Error> {
        let Statement::Loop { values, extents, init, accumulators, body } = statement else { return Ok(()) };
        let variable = u32::try_from(loops).unwrap_or(u32::MAX);
        let later = Expr::range(variable).checked_add_constant(full)?;
        let become_of = |found: Var| (found == Var::Range(variable)).then(|| later.clone());
        let halfway: Vec<ValueId> = values.iter().map(|value| self.value_like(*value)).collect();
        let carried: Vec<ValueId> = accumulators.iter().map(|value| self.value_like(*value)).collect();
        let known: HashMap<ValueId, Operand> =
            accumulators.iter().copied().zip(carried.iter().copied().map(Operand::Value)).collect();
        let rest = Copy { from: None, known, variable: &become_of }.of(&body, &mut self.room)?;
        let (mut first, mut last) = (extents.clone(), extents);
        if let (Some(first), Some(last)) = (first.first_mut(), last.first_mut()) {
            (*first, *last) = (full, *last - full);
        }
        let between = halfway.iter().copied().map(Operand::Value).collect();
        out.push(Statement::Loop { values: halfway, extents: first, init, accumulators, body });
        out.push(Statement::Loop { values, extents: last, init: between, accumulators: carried, body: rest });
        self.changes = true;
        Ok(())
    }

    fn value_like(&mut self, value: ValueId) -> ValueId {
        let like = self.room.values[value].clone();
        self.room.values.push(like)
    }
}

/// Whether a block, or one within it, writes.
fn writes(block: &Block) -> bool {
    block.statements.iter().any(Statement::has_effects)
}

/// Whether each round writes behind all that the rounds before it do: then full rounds and the others write stretches of their own.
fn writes_in_order(body: &Block, variable: Var, known: &Known) -> bool {
    body.statements.iter().all(|statement| match statement {
        Statement::Store { indices, .. } | Statement::Merge { indices, .. } => {
            let [index] = indices.as_slice() else { return false };
            let own = index.terms().iter().find(|term| term.atom == Atom::Var(variable));
            let coefficient = own.map_or(0, |term| term.coefficient);
            let rest = Expr::var(variable).checked_mul(coefficient).and_then(|own| index.checked_sub(&own));
            rest.is_ok_and(|rest| {
                let Interval { lo, hi } = known.range(&rest);
                hi.saturating_sub(lo) < coefficient
            })
        }
        _ => statement.blocks().into_iter().all(|block| writes_in_order(block, variable, known)),
    })
}

/// How many values of a variable, from the first on, most of the tests of a block hold for that do not hold for all; and whether the one
/// chooses between two computations.
fn most_held(body: &Block, variable: Var, values: i64, mut known: Known) -> (i64, bool) {
    let (mut full, mut chooses) = (0, false);
    for statement in &body.statements {
        if let Statement::If { condition: Condition::Indices(tests), otherwise, .. } = statement {
            let held = tests.iter().map(|test| held(test, variable, &known)).min().unwrap_or(0);
            if held < values && held > full {
                (full, chooses) = (held, !otherwise.statements.is_empty());
            }
        }
        known.after(statement);
    }
    (full, chooses)
}

/// How many values of a variable, from 0 on, a test holds for, whatever else it depends on.
fn held(test: &Constraint, variable: Var, known: &Known) -> i64 {
    let own = test.expr.terms().iter().find(|term| term.atom == Atom::Var(variable));
    let Some(coefficient) = own.map(|term| term.coefficient).filter(|coefficient| *coefficient > 0) else { return 0 };
    let rest = Expr::var(variable).checked_mul(coefficient).and_then(|own| test.expr.checked_sub(&own));
    let Ok(rest) = rest else { return 0 };
    let Interval { lo, hi } = known.range(&rest);
    if rest.find_variable(&mut |found| found == variable) || lo < test.bounds.lo {
        return 0;
    }
    let last = test.bounds.hi.checked_sub(hi).map_or(-1, |room| room.div_euclid(coefficient));
    last.saturating_add(1).max(0)
}
