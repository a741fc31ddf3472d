//! Whether every element of every result is written exactly once.

mod cases;
mod parts;

use super::reads::domain;
use super::{Findings, elements};
use crate::kernel::{Access, Block, Condition, Kernel, Known, Memory, MemoryId, Space, Statement};
use cases::in_cases;
use parts::are_one_whole;
use std::collections::BTreeSet;
use weft_affine::{Atom, Constraint, Expr, Interval, Var, range_of};
use weft_hlo::ir::ArenaId;
use weft_indexing::{Answer, IndexingMap, Limits};

/// Finds elements of results that are written never or more than once.
pub(super) fn check(kernel: &Kernel, findings: &mut Findings, unproved: &mut Findings) {
    let in_cases = in_cases(&kernel.entry);
    let body = &in_cases.as_ref().unwrap_or(&kernel.entry).body;
    let stores = |joins_digits: bool| {
        let mut pass = Writes { kernel, joins_digits, stores: vec![Vec::new(); kernel.memories.len()] };
        pass.block(body, Known::new(&kernel.entry.extents), &BTreeSet::new());
        pass.stores
    };
    let (as_written, mut joined) = (stores(false), None);
    for (id, memory) in kernel.memories.iter() {
        if !matches!(memory.space, Space::Buffer { access: Access::Write, .. }) {
            continue;
        }
        let place = format!("%{}", memory.name);
        if elements(&memory.shape.extents) == Some(0) {
            continue;
        }
        let found = written_once(memory, &as_written[id.index()]);
        let found = match found {
            Err(Written::Unknown(message)) => {
                let joined = joined.get_or_insert_with(|| stores(true));
                written_once(memory, &joined[id.index()]).map_err(|other| match other {
                    Written::Refuted(_) => other,
                    Written::Unknown(_) => Written::Unknown(message),
                })
            }
            known => known,
        };
        match found {
            Ok(()) => {}
            Err(Written::Refuted(message)) => findings.add(&place, message),
            Err(Written::Unknown(message)) => unproved.add(&place, message),
        }
    }
}

/// The extents that so many indices are within: those of the dimensions, or all in one.
pub(in crate::kernel) fn indexed_extents(memory: &Memory, indices: usize) -> Vec<i64> {
    let extents = &memory.shape.extents;
    if indices == extents.len() { extents.clone() } else { vec![extents.iter().product()] }
}

enum Written {
    Refuted(String),
    Unknown(String),
}

/// From an invocation and its rounds to the row-major position it writes, and what such positions are within; `None` where that is not known,
/// because a value decides whether it writes.
type Position = Option<(IndexingMap, Interval)>;

struct Writes<'k> {
    kernel: &'k Kernel,
    /// Whether positions are simplified before they are compared: the digits of a number that dimensions divide come together again. Others are told apart as they are written.
    joins_digits: bool,
    stores: Vec<Vec<Position>>,
}

/// The row-major position of an element; `None` where that leaves 64 bits.
fn row_major(memory: &Memory, indices: &[Expr]) -> Option<Expr> {
    let mut position = Expr::constant(0);
    for (index, extent) in indices.iter().zip(&indexed_extents(memory, indices.len())) {
        position = position.checked_mul(*extent).ok()?.checked_add(index).ok()?;
    }
    Some(position)
}

/// From the indices in sight to the row-major position of an element, as it is written; `None` where that leaves 64 bits.
pub(super) fn position(memory: &Memory, indices: &[Expr], known: &Known) -> Option<IndexingMap> {
    domain(known, vec![row_major(memory, indices)?])
}

/// Numbers that are made one variable each at most.
const MAX_NUMBERS: usize = 4;

/// Expressions with the digits of index variables as variables of their own, where the digits are all that a variable is, there or in a fact: that tells no
/// points apart less, and what is linear is decided at once.
fn in_digits<const N: usize>(mut exprs: [Expr; N], known: &Known) -> Option<([Expr; N], Known)> {
    let mut known = known.clone();
    // What is one variable may have digits, and these may be digits of another number.
    for _ in 0..MAX_NUMBERS {
        let mut changes = joined(&mut exprs, &mut known);
        let found = |exprs: &[Expr], known: &Known| {
            let mut all = exprs.iter().chain(known.facts().iter().map(|fact| &fact.expr));
            all.find_map(|expr| digit(expr, known))
        };
        while let Some((variable, base)) = found(&exprs, &known) {
            changes = true;
            let before = known.divide(variable, base)?;
            for expr in &mut exprs {
                let written = expr.substitute(|found| (found == variable).then(|| before.clone())).ok()?;
                *expr = known.simplified(&written);
            }
        }
        if !changes {
            break;
        }
    }
    Some((exprs, known))
}

/// Makes a number of which variables are the digits one variable; whether there was one.
fn joined(exprs: &mut [Expr], known: &mut Known) -> bool {
    let number = exprs.iter().chain(known.facts().iter().map(|fact| &fact.expr)).find_map(number);
    let Some(number) = number else { return false };
    let mut apart = known.clone();
    let joined = apart.join(&number);
    let joined = joined.and_then(|joined| exprs.iter().map(|expr| joined.of(expr)).collect::<Option<Vec<_>>>());
    let Some(joined) = joined else { return false };
    exprs.clone_from_slice(&joined);
    *known = apart;
    true
}

/// A sum of several variables that an expression divides.
fn number(expr: &Expr) -> Option<Expr> {
    expr.terms().iter().find_map(|term| {
        let (Atom::FloorDiv(inner, _) | Atom::Mod(inner, _)) = &term.atom else { return None };
        let is_sum = inner.terms().len() > 1 && inner.is_linear();
        if is_sum { Some(inner.clone()) } else { number(inner) }
    })
}

/// A variable that an expression divides, and by what: a divisor of its extent.
fn digit(expr: &Expr, known: &Known) -> Option<(Var, i64)> {
    expr.terms().iter().find_map(|term| {
        let (Atom::FloorDiv(inner, base) | Atom::Mod(inner, base)) = &term.atom else { return None };
        let Some(variable) = inner.as_var() else { return digit(inner, known) };
        let range = known.range(&Expr::var(variable));
        let is_whole = range.lo == 0 && range.hi >= *base && (range.hi + 1) % base == 0;
        (is_whole && !matches!(variable, Var::Runtime(_))).then_some((variable, *base))
    })
}

/// The map to a position and so many behind it, simplified, with what such positions are within.
fn within(first: &Expr, count: i64, known: &Known) -> Position {
    let ([first], known) = &in_digits([first.clone()], known)?;
    let mut map = if count > 1 {
        // All of them, as a loop over them would write them.
        let further = Expr::range(u32::try_from(known.loops()).ok()?);
        domain(&known.in_loop(&[count]), vec![first.checked_add(&further).ok()?])?
    } else {
        domain(known, vec![first.clone()])?
    };
    let range = known.range(map.results().first()?);
    let stretch = stretch(&map).unwrap_or(range);
    map.simplify();
    let range =
        if count > 1 { stretch } else { Interval { lo: range.lo.max(stretch.lo), hi: range.hi.min(stretch.hi) } };
    Some((map, range))
}

/// What a block stores into a memory, where values decide nothing, at positions that differ by constants.
#[derive(Clone)]
struct Stored {
    memory: MemoryId,
    /// The position of the first element, but for its constant.
    base: Expr,
    /// The constants, one for each element.
    constants: Vec<i64>,
    /// What is known where the first is stored.
    known: Known,
    /// What has to hold for the last stretch to be stored, if anything has.
    last: Option<Constraint>,
}

impl Stored {
    /// The positions as loops over rows of stretches would write them: these are equally long, equally far apart within a row, and rows are of as many of them
    /// and equally far apart; `None` where they are not.
    fn rows(&self) -> Option<Position> {
        let stretches = self.stretches();
        let (first, count) = *stretches.first()?;
        let apart = stretches.get(1)?.0 - first;
        let is_end = |pair: &[(i64, i64)]| pair[1].0 - pair[0].0 != apart;
        let columns = stretches.windows(2).position(is_end)? + 1;
        let rows_apart = stretches.get(columns)?.0 - first;
        let is_row = |(row, own): (i64, &[(i64, i64)])| {
            let begin = first + row * rows_apart;
            own.len() == columns && (0..).zip(own).all(|(place, found)| *found == (begin + place * apart, count))
        };
        if self.last.is_some() || !(0..).zip(stretches.chunks(columns)).all(is_row) {
            return None;
        }
        let extents = [stretches.len() / columns, columns].map(|extent| i64::try_from(extent).ok());
        let [Some(rows), Some(columns)] = extents else { return None };
        let row = u32::try_from(self.known.loops()).ok()?;
        let known = self.known.in_loop(&[rows, columns]);
        let position =
            self.base.checked_add_constant(first).ok()?.checked_add_scaled(&Expr::range(row), rows_apart).ok()?;
        let position = position.checked_add_scaled(&Expr::range(row + 1), apart).ok()?;
        Some(within(&position, count, &known))
    }

    /// The positions as a loop over stretches would write them, where these are equally long and equally far apart, or one; `None` where they are not.
    fn rounds(&self) -> Option<Position> {
        let stretches = self.stretches();
        let (first, count) = *stretches.first()?;
        let apart = match stretches.get(1) {
            Some((second, _)) => second - first,
            None => return None,
        };
        let rounds = i64::try_from(stretches.len()).ok()?;
        let is_next = |(number, (own, length)): (i64, &(i64, i64))| *own == first + number * apart && *length == count;
        if !(0..).zip(&stretches).all(is_next) {
            return None;
        }
        let zero = Constraint { expr: Expr::constant(0), bounds: Interval::point(0) };
        let Constraint { expr, bounds } = self.last.as_ref().unwrap_or(&zero);
        let ([base, expr], outside) = in_digits([self.base.clone(), expr.clone()], &self.known)?;
        let mut known = outside.in_loop(&[rounds]);
        let round = Expr::range(u32::try_from(outside.loops()).ok()?);
        if self.last.is_some() {
            // Of each round it is asked what is asked of the last one, so much less as it is written before that; of the others that holds.
            let term = expr.terms().first()?;
            let own = base.terms().iter().find(|own| own.atom == term.atom)?;
            let factor = (own.coefficient % term.coefficient == 0).then_some(own.coefficient / term.coefficient)?;
            let step = (factor > 0 && apart % factor == 0).then(|| apart / factor)?;
            let range = outside.range(&expr);
            let others_hold = bounds.lo <= range.lo && range.hi.checked_sub(step)? <= bounds.hi;
            let lo = range.lo.checked_sub(step.checked_mul(rounds)?)?;
            let behind = step.checked_mul(rounds - 1)?;
            let expr = expr.checked_add_constant(-behind).ok()?.checked_add_scaled(&round, step).ok()?;
            known = others_hold.then(|| known.when(&[Constraint { expr, bounds: Interval { lo, hi: bounds.hi } }]))?;
        }
        let position = base.checked_add_constant(first).ok()?.checked_add_scaled(&round, apart).ok()?;
        Some(within(&position, count, &known))
    }

    /// By what a position is more than the base, where a test holds: the test may say that some of the base is nothing there.
    fn constant_of(&self, position: &Expr, test: &Constraint) -> Option<i64> {
        let ([position, base, tested], _) =
            in_digits([position.clone(), self.base.clone(), test.expr.clone()], &self.known)?;
        let more = position.checked_sub(&base).ok()?;
        if let Some(constant) = more.as_constant() {
            return Some(constant);
        }
        let nothing = tested.checked_add_constant(-test.bounds.lo).ok().filter(|_| test.bounds.lo == test.bounds.hi)?;
        let term = nothing.terms().first()?;
        let own = more.terms().iter().find(|own| own.atom == term.atom)?;
        more.checked_add_scaled(&nothing, -(own.coefficient / term.coefficient)).ok()?.as_constant()
    }

    /// Whether what is stored where a test holds goes on as far apart as what is stored in any case.
    fn goes_on(&self, constants: &[i64]) -> bool {
        let mut all = self.clone();
        all.constants.extend(constants);
        let (own, all) = (self.stretches(), all.stretches());
        let steps: BTreeSet<i64> = all.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        self.last.is_none() && all.len() == own.len() + 1 && all[..own.len()] == own[..] && steps.len() == 1
    }

    /// The elements in stretches without gaps: the constant of the first, and how many there are. One that is stored twice begins a
    /// stretch of its own.
    fn stretches(&self) -> Vec<(i64, i64)> {
        let mut constants = self.constants.clone();
        constants.sort_unstable();
        let mut stretches: Vec<(i64, i64)> = Vec::new();
        for constant in constants {
            match stretches.last_mut() {
                Some((first, count)) if *first + *count == constant => *count += 1,
                _ => stretches.push((constant, 1)),
            }
        }
        stretches
    }
}

impl Writes<'_> {
    /// Some statements of the block are part of what is stored around it.
    fn block(&mut self, block: &Block, mut known: Known, done: &BTreeSet<usize>) {
        let mut stored: Vec<Stored> = Vec::new();
        for (number, statement) in block.statements.iter().enumerate() {
            if done.contains(&number) {
                continue;
            }
            if let Statement::Store { memory, .. } | Statement::Merge { memory, .. } = statement {
                match self.elements(statement, &known).filter(|_| known.is_settled()) {
                    Some((position, count)) => {
                        let constant = position.constant_term();
                        let base = position.checked_add_constant(-constant).unwrap_or(position);
                        let constants = constant..constant.saturating_add(count);
                        let same = |stored: &&mut Stored| stored.memory == *memory && stored.base == base;
                        match stored.iter_mut().rev().find(same) {
                            Some(stored) => stored.constants.extend(constants),
                            None => stored.push(Stored {
                                memory: *memory,
                                base,
                                constants: constants.collect(),
                                known: known.clone(),
                                last: None,
                            }),
                        }
                    }
                    None => self.stores[memory.index()].push(None),
                }
            }
            let last = self.last(statement, &known, &mut stored);
            let blocks = statement.blocks().into_iter().zip(known.within(statement));
            let none = BTreeSet::new();
            let done = [&last, &none].into_iter().chain(std::iter::repeat(&none));
            blocks.zip(done).for_each(|((block, known), done)| self.block(block, known, done));
            known.after(statement);
        }
        for stored in stored {
            if let Some(position) = stored.rounds().or_else(|| stored.rows()) {
                self.stores[stored.memory.index()].push(position);
                continue;
            }
            if stored.last.is_some() {
                self.stores[stored.memory.index()].push(None);
                continue;
            }
            for (first, count) in stored.stretches() {
                let position = stored.base.checked_add_constant(first).ok();
                let position = position.and_then(|position| within(&position, count, &stored.known));
                self.stores[stored.memory.index()].push(position);
            }
        }
    }

    /// The statements of a condition's block that store what goes on behind what is stored so far: the last of several rounds that are written out, whose elements
    /// there may be fewer of.
    fn last(&self, statement: &Statement, known: &Known, stored: &mut [Stored]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let Statement::If { condition: Condition::Indices(tests), then, .. } = statement else { return found };
        let ([test], true) = (tests.as_slice(), known.is_settled()) else { return found };
        // By what is stored around it, what this block stores of it: the statements, and the constants of their elements.
        let mut further: Vec<(Vec<usize>, Vec<i64>)> = vec![Default::default(); stored.len()];
        for (number, statement) in then.statements.iter().enumerate() {
            let (Statement::Store { memory, .. } | Statement::Merge { memory, .. }) = statement else { continue };
            let Some((position, count)) = self.elements(statement, known) else { continue };
            let of = |(place, own): (usize, &Stored)| {
                Some((place, own.constant_of(&position, test).filter(|_| own.memory == *memory)?))
            };
            let Some((place, constant)) = stored.iter().enumerate().find_map(of) else { continue };
            further[place].0.push(number);
            further[place].1.extend(constant..constant.saturating_add(count));
        }
        for (own, (numbers, constants)) in stored.iter_mut().zip(further) {
            if constants.is_empty() || !own.goes_on(&constants) {
                continue;
            }
            let with_last = Stored { last: Some(test.clone()), ..own.clone() };
            let with_last = Stored { constants: [own.constants.clone(), constants].concat(), ..with_last };
            if with_last.rounds().is_some() {
                *own = with_last;
                found.extend(numbers);
            }
        }
        found
    }

    /// The row-major position of the first element that a statement stores, and how many it stores from there on.
    fn elements(&self, statement: &Statement, known: &Known) -> Option<(Expr, i64)> {
        let (Statement::Store { memory, indices, value } | Statement::Merge { memory, indices, value, .. }) = statement
        else {
            return None;
        };
        let memory = &self.kernel.memories[*memory];
        let lanes = i64::from(Kernel::operand_lanes(&self.kernel.entry, *value));
        let position = row_major(memory, indices)?;
        let position = if self.joins_digits { known.simplified(&position) } else { position };
        let Some(packed) = &memory.packed else { return Some((position, lanes)) };
        let per_word = i64::from(memory.per_word());
        let first = position.checked_mul(per_word).ok()?;
        if let Statement::Merge { place, .. } = statement {
            let bits = 32 / per_word;
            // The digits of a position come together again.
            let position = first.checked_add(&place.checked_floor_div(bits).ok()?).ok()?;
            return Some((known.simplified(&position), 1));
        }
        // The last word may hold less than it has room for.
        let left = match first.as_constant() {
            Some(first) => packed.element_count()?.saturating_sub(first),
            None => i64::MAX,
        };
        Some((first, lanes.saturating_mul(per_word).min(left)))
    }
}

fn written_once(memory: &Memory, stores: &[Position]) -> Result<(), Written> {
    let unknown = |what: &str| Written::Unknown(format!("that every element is written once is not known: {what}"));
    let stores: Vec<&(IndexingMap, Interval)> = match stores.iter().map(Option::as_ref).collect::<Option<_>>() {
        Some(stores) => stores,
        None => return Err(unknown("values decide where")),
    };
    let count = elements(&memory.held().extents).and_then(|count| i64::try_from(count).ok());
    let Some(count) = count else { return Err(unknown("there are too many")) };
    let all = Interval { lo: 0, hi: count - 1 };
    match stores.as_slice() {
        [] => Err(Written::Refuted("no element is ever written".to_owned())),
        [(map, _)] => part_written_once(map, all),
        several => {
            // Each writes a stretch of its own, and the stretches stand side by side.
            let mut parts: Vec<&(IndexingMap, Interval)> = several.to_vec();
            parts.sort_by_key(|(_, range)| range.lo);
            let mut next = 0;
            let stand_side_by_side = parts.iter().all(|(_, range)| {
                let begins = range.lo == next;
                next = range.hi.saturating_add(1);
                begins
            });
            // What one of them leaves out of its stretch, another might write: then it is unknown.
            if stand_side_by_side
                && next == count
                && parts.iter().all(|(map, range)| part_written_once(map, *range).is_ok())
            {
                return Ok(());
            }
            let maps: Vec<&IndexingMap> = several.iter().map(|(map, _)| map).collect();
            are_one_whole(&maps, count).map_err(|_| unknown("several statements write it"))
        }
    }
}

/// Whether every element of a stretch is written once by one statement.
fn part_written_once(map: &IndexingMap, part: Interval) -> Result<(), Written> {
    let limits = Limits::default();
    let unknown = |what: &str| Written::Unknown(format!("that every element is written once is not known: {what}"));
    match map.is_injective(&limits) {
        Answer::Yes => {}
        Answer::No(_) => return Err(Written::Refuted("an element is written more than once".to_owned())),
        Answer::Unknown(_) => return Err(unknown("two invocations may write one")),
    }
    match map.is_surjective_onto(&[part], &limits) {
        Answer::Yes => Ok(()),
        Answer::No(_) => Err(Written::Refuted("an element is never written".to_owned())),
        Answer::Unknown(_) => Err(unknown("one may be left out")),
    }
}

/// The positions that a statement writes within: from the least to the greatest; `None` if it writes nothing.
fn stretch(map: &IndexingMap) -> Option<Interval> {
    let position = map.results().first()?;
    let ranges = map.variable_ranges();
    let mut stretch = range_of(position, &ranges);
    for Constraint { expr, bounds } in map.constraints() {
        // The position is a multiple of what is constrained, and something that ranges tell.
        let common = expr.terms().first()?;
        let own = position.terms().iter().find(|term| term.atom == common.atom);
        let factor = own.map_or(0, |own| own.coefficient / common.coefficient);
        if factor > 0
            && let Ok(rest) = position.checked_add_scaled(expr, -factor)
        {
            let rest = range_of(&rest, &ranges);
            let lo = bounds.lo.saturating_mul(factor).saturating_add(rest.lo);
            let hi = bounds.hi.saturating_mul(factor).saturating_add(rest.hi);
            stretch = Interval { lo: stretch.lo.max(lo), hi: stretch.hi.min(hi) };
        }
    }
    (!stretch.is_empty()).then_some(stretch)
}
