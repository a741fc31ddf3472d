//! Loops written out: short ones for good, long ones as far as a device's limit on rounds demands.

use super::copy::{Copy, Room, rename};
use super::settle::settle;
use super::vectorize::overlap;
use super::weight::weight;
use crate::kernel::{
    Access, Block, Function, FunctionId, Kernel, Memory, MemoryId, Operand, ScalarOp, Space, Statement, Value, ValueId,
};
use std::cell::Cell;
use std::collections::HashMap;
use weft_affine::{Atom, Error, Expr, Term, Var};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{Arena, ArenaId, Span};
use weft_partition::Target;

/// Rounds of a loop that is written out.
const MAX_ROUNDS: u64 = 8;

/// Statements that such a loop may become, those of called functions and of the library included.
const MAX_STATEMENTS: u64 = 32;

/// The same of a loop whose rounds read again what other rounds do, as windows that overlap have it: written out, what they have in common is read once.
const MAX_OVERLAPPING_ROUNDS: u64 = 16;
const MAX_OVERLAPPING_STATEMENTS: u64 = 192;

/// The same of a loop that carries several values, where its rounds read the elements of a vector: a tile of products of 16 by 16.
const VECTOR_ROUNDS: u64 = 4;
const MIN_CARRIED: usize = 4;
const MAX_CARRYING_STATEMENTS: u64 = 4096;

/// Rounds of a loop that is written out although it writes results, where that stays proved, and statements that it may become: two vectors of an invocation. A chain of ten
/// operations takes 0.73 of the loop's time on SwiftShader so, and 0.89 on llvmpipe.
const MAX_WRITING_ROUNDS: u64 = 2;
const MAX_WRITING_STATEMENTS: u64 = 128;

/// The kernel with loops of at most 8 rounds that write nothing written out, where that makes at most 32 statements (4096 where a loop carries several values and four rounds read
/// a vector), with those of two that write results where that makes at most 128, and with long loops shortened:
/// where the loops of an invocation make more rounds than the target allows ([`Target::max_loop_iterations`]), called functions
/// counted at each call, the longest handle several elements a round, up to 512. What is left over of the last round stands after the loop.
///
/// Rounds stay in their order, so the kernel computes what it did to the bit.
///
/// # Errors
/// `HLO418` for loops that are too long even so, `HLO302` if an index leaves 64 bits.
pub fn unroll(kernel: &Kernel, target: &Target) -> Result<Kernel, Diagnostics> {
    let copies = match target.max_loop_iterations {
        Some(limit) => kernel.copies_within(limit).map_err(|least| too_long(limit, least))?,
        None => Vec::new(),
    };
    let mut unrolled = kernel.clone();
    let mut weights = vec![0u64; kernel.functions.len()];
    // Callees stand behind their callers.
    let ids: Vec<FunctionId> = kernel.functions.ids().collect();
    let copies = |number: usize| copies.get(number).map(Vec::as_slice).unwrap_or_default();
    for id in ids.into_iter().rev() {
        let function = &mut unrolled.functions[id];
        let is_short = |body: &Block, rounds: u64, values: &Arena<ValueId, Value>| {
            is_short(body, rounds, (values, &weights), &kernel.memories) != Short::No
        };
        write_out(function, copies(id.index()), &is_short)?;
        weights[id.index()] = weight(&function.body, &function.values, &weights);
    }
    let copies = copies(kernel.functions.len());
    let several_write = Cell::new(false);
    let also_writing = |body: &Block, rounds: u64, values: &Arena<ValueId, Value>| {
        let short = is_short(body, rounds, (values, &weights), &kernel.memories);
        several_write.set(several_write.get() || short == Short::Writing);
        short != Short::No
    };
    write_out(&mut unrolled.entry, copies, &also_writing)?;
    if several_write.get() && !unrolled.is_written_once() {
        // What one statement writes is easier to prove than what several do.
        unrolled.entry = kernel.entry.clone();
        let still = |body: &Block, rounds: u64, values: &Arena<ValueId, Value>| {
            is_short(body, rounds, (values, &weights), &kernel.memories) == Short::Still
        };
        write_out(&mut unrolled.entry, copies, &still)?;
    }
    Ok(unrolled)
}

/// Whether a loop of so many rounds of a body is written out.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Short {
    No,
    /// It is, and no second statement writes a result because of that.
    Still,
    /// It is, and several statements write what one wrote.
    Writing,
}

/// Given the function's values, how many statements the functions it calls have, and what there is to be written.
fn is_short(
    body: &Block,
    rounds: u64,
    (values, callees): (&Arena<ValueId, Value>, &[u64]),
    memories: &Arena<MemoryId, Memory>,
) -> Short {
    // What is updated, and what invocations share, is proved by single statements.
    let writes = Writes::of(body, memories);
    let (most_rounds, most_statements) = match writes {
        Writes::Nothing if reads_vectors(body, rounds) => (VECTOR_ROUNDS, MAX_CARRYING_STATEMENTS),
        Writes::Nothing if overlaps(body, rounds) => (MAX_OVERLAPPING_ROUNDS, MAX_OVERLAPPING_STATEMENTS),
        Writes::Nothing => (MAX_ROUNDS, MAX_STATEMENTS),
        Writes::Results => (MAX_WRITING_ROUNDS, MAX_WRITING_STATEMENTS),
        Writes::Others => (1, MAX_STATEMENTS),
    };
    match rounds <= most_rounds && rounds.saturating_mul(weight(body, values, callees)) <= most_statements {
        false => Short::No,
        true if rounds > 1 && writes == Writes::Results => Short::Writing,
        true => Short::Still,
    }
}

/// Whether a loop carries several values, and its rounds read elements side by side that fill a vector.
fn reads_vectors(body: &Block, rounds: u64) -> bool {
    let own = |statement: &Statement| match statement {
        Statement::Let { op: ScalarOp::Extract { indices, .. }, .. } => innermost(indices.first()?),
        _ => None,
    };
    let reads = |statement: &Statement, innermost: u32| match statement {
        Statement::Let { op: ScalarOp::Extract { indices, .. }, .. } => {
            indices.iter().any(|index| advances(index, innermost as usize))
        }
        _ => false,
    };
    rounds == VECTOR_ROUNDS
        && body.results.len() >= MIN_CARRIED
        && body
            .statements
            .iter()
            .filter_map(own)
            .max()
            .is_some_and(|innermost| body.statements.iter().any(|statement| reads(statement, innermost)))
}

/// Whether an index is one more in each round of the loop whose variable has a number.
pub(super) fn advances(index: &Expr, number: usize) -> bool {
    let is_own = |term: &Term| matches!(term.atom, Atom::Var(Var::Range(own)) if own as usize == number);
    index.terms().iter().any(|term| term.coefficient == 1 && is_own(term))
}

/// The highest number of a loop variable in an index: that of the innermost loop.
fn innermost(index: &Expr) -> Option<u32> {
    let number = |term: &Term| match term.atom {
        Atom::Var(Var::Range(number)) => Some(number),
        _ => None,
    };
    index.terms().iter().filter_map(number).max()
}

/// Whether rounds of a loop read what other rounds do: two elements of one memory that the body reads itself are as far apart as those of two rounds.
fn overlaps(body: &Block, rounds: u64) -> bool {
    let mut read: Vec<(MemoryId, &Expr)> = Vec::new();
    for statement in &body.statements {
        if let Statement::Let { op: ScalarOp::Extract { memory, indices }, .. } = statement
            && let [index] = indices.as_slice()
        {
            read.push((*memory, index));
        }
    }
    let Some((memory, first)) = read.first() else { return false };
    let Some(innermost) = innermost(first) else { return false };
    let mut loops = vec![0; innermost as usize];
    loops.push(signed(rounds));
    let is_again = |(other, index): &(MemoryId, &Expr)| {
        let apart = index.checked_sub(first).ok().and_then(|apart| apart.as_constant());
        other == memory && apart.is_some_and(|apart| overlap(first, apart, &loops))
    };
    read[1..].iter().any(is_again)
}

fn too_long(limit: u32, least: u64) -> Diagnostics {
    let message = format!(
        "its loops make {least} rounds or more for one element, and the device makes {limit}; the evaluator can run it"
    );
    Diagnostic::new("HLO418", Span::default(), message).into()
}

/// Whether a loop is written out, by its body, its rounds and the values of its function.
type IsShort<'f> = dyn Fn(&Block, u64, &Arena<ValueId, Value>) -> bool + 'f;

fn write_out(function: &mut Function, copies: &[Option<u64>], is_short: &IsShort<'_>) -> Result<(), Diagnostics> {
    let done = written_out(function, copies, is_short);
    done.map_err(|error| Diagnostic::new("HLO302", Span::default(), error.to_string()).into())
}

/// Writes those loops of a function out that are told to be short by their bodies, their rounds and the function's values, the inner ones first; and divides others, in the
/// order of the text, so that a round is so many.
///
/// # Errors
/// If an index leaves 64 bits.
pub(super) fn written_out(
    function: &mut Function,
    copies: &[Option<u64>],
    is_short: &IsShort<'_>,
) -> Result<(), Error> {
    let mut body = std::mem::take(&mut function.body);
    let room = Room::new(&mut function.values, &body);
    let mut pass = Pass { room, copies, number: 0, is_short, known: HashMap::new(), changes: false };
    let done = pass.block(&mut body, 0);
    let changes = pass.changes;
    function.body = body;
    done?;
    if changes {
        settle(function);
    }
    Ok(())
}

/// What a loop changes.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Writes {
    Nothing,
    /// Elements of results, each of which is written once.
    Results,
    /// What is updated in place or shared with other invocations; or it waits for these.
    Others,
}

impl Writes {
    /// What a block changes.
    fn of(block: &Block, memories: &Arena<MemoryId, Memory>) -> Writes {
        let by = |statement: &Statement| {
            let own = match statement {
                Statement::Store { memory, .. } => match memories[*memory].space {
                    Space::Buffer { access: Access::Write, .. } => Writes::Results,
                    _ => Writes::Others,
                },
                other if other.is_effect() => Writes::Others,
                _ => Writes::Nothing,
            };
            let within = statement.blocks().into_iter().map(|block| Writes::of(block, memories));
            within.fold(own, Writes::max)
        };
        block.statements.iter().map(by).max().unwrap_or(Writes::Nothing)
    }
}

struct Pass<'f> {
    room: Room<'f>,
    /// For each loop, in the order of the text, how many elements a round handles, where the limit on rounds demands more than one.
    copies: &'f [Option<u64>],
    /// Loops so far.
    number: usize,
    is_short: &'f IsShort<'f>,
    /// What the values of loops that are gone are.
    known: HashMap<ValueId, Operand>,
    changes: bool,
}

/// A loop, and how many of its rounds a round of it is to handle.
struct Divided<'s> {
    extents: &'s [i64],
    accumulators: &'s [ValueId],
    body: &'s Block,
    /// Loop variables around it.
    outer: usize,
    total: u64,
    copies: u64,
}

impl Pass<'_> {
    /// `loops` is how many loop variables are in sight.
    fn block(&mut self, block: &mut Block, loops: usize) -> Result<(), Error> {
        let mut statements = Vec::with_capacity(block.statements.len());
        for mut statement in std::mem::take(&mut block.statements) {
            statement.operands_mut().into_iter().for_each(|operand| rename(operand, &self.known));
            let Statement::Loop { values, extents, init, accumulators, body } = &mut statement else {
                for block in statement.blocks_mut() {
                    self.block(block, loops)?;
                }
                statements.push(statement);
                continue;
            };
            let demanded = self.copies.get(self.number).copied().flatten();
            self.number += 1;
            self.block(body, loops + extents.len())?;
            let total = extents.iter().map(|extent| u64::try_from(*extent).unwrap_or(0));
            let total = total.fold(1, u64::saturating_mul);
            let copies = match demanded {
                Some(copies) => copies.max(1),
                None if (self.is_short)(body, total, self.room.values) => total.max(1),
                None => {
                    statements.push(statement);
                    continue;
                }
            };
            self.changes = true;
            let divided = Divided { extents, accumulators, body, outer: loops, total, copies };
            let results = self.divided(&divided, init.clone(), &mut statements)?;
            for (value, result) in values.iter().zip(results) {
                let result = self.whole(*value, result, &mut statements);
                self.known.insert(*value, result);
            }
        }
        block.statements = statements;
        block.results.iter_mut().for_each(|result| rename(result, &self.known));
        Ok(())
    }

    /// Writes a divided loop, and returns what it leaves with.
    fn divided(
        &mut self,
        divided: &Divided<'_>,
        mut carried: Vec<Operand>,
        out: &mut Vec<Statement>,
    ) -> Result<Vec<Operand>, Error> {
        let laps = divided.total / divided.copies;
        let mut first = 0;
        if laps > 1 {
            let accumulators: Vec<ValueId> = divided.accumulators.iter().map(|value| self.value_like(*value)).collect();
            let values: Vec<ValueId> = accumulators.iter().map(|value| self.value_like(*value)).collect();
            let mut body = Block::default();
            let mut within: Vec<Operand> = accumulators.iter().copied().map(Operand::Value).collect();
            let lap = Expr::range(variable(divided.outer)).checked_mul(signed(divided.copies))?;
            for copy in 0..divided.copies {
                let position = lap.checked_add_constant(signed(copy))?;
                within = self.round(divided, &position, 1, within, &mut body.statements)?;
            }
            body.results = within;
            let results = values.iter().copied().map(Operand::Value).collect();
            let init = std::mem::replace(&mut carried, results);
            out.push(Statement::Loop { values, extents: vec![signed(laps)], init, accumulators, body });
            first = laps * divided.copies;
        }
        for round in first..divided.total {
            carried = self.round(divided, &Expr::constant(signed(round)), 0, carried, out)?;
        }
        Ok(carried)
    }

    /// Writes the round of a row-major position, inside `around` loops that stand for the divided one; returns what it leaves with.
    fn round(
        &mut self,
        divided: &Divided<'_>,
        position: &Expr,
        around: usize,
        carried: Vec<Operand>,
        out: &mut Vec<Statement>,
    ) -> Result<Vec<Operand>, Error> {
        let indices = super::indices_at(position, divided.extents)?;
        let become_of = |found: Var| {
            let Var::Range(number) = found else { return None };
            let own = (number as usize).checked_sub(divided.outer)?;
            Some(match own.checked_sub(indices.len()) {
                None => indices[own].clone(),
                Some(inner) => Expr::range(variable(divided.outer + around + inner)),
            })
        };
        let known = divided.accumulators.iter().copied().zip(carried).collect();
        let round = Copy { from: None, known, variable: &become_of }.of(divided.body, &mut self.room)?;
        out.extend(round.statements);
        Ok(round.results)
    }

    /// What stands for a value: of a constant that is left where no round is made, as many lanes as the value has.
    fn whole(&mut self, value: ValueId, result: Operand, out: &mut Vec<Statement>) -> Operand {
        if !matches!(result, Operand::Constant(_)) || self.room.values[value].lanes == 1 {
            return result;
        }
        let whole = self.value_like(value);
        out.push(Statement::Let { value: whole, op: ScalarOp::Splat { operand: result } });
        Operand::Value(whole)
    }

    fn value_like(&mut self, value: ValueId) -> ValueId {
        let like = self.room.values[value].clone();
        self.room.values.push(like)
    }
}

fn variable(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
