//! Whether every element of every result is written exactly once.

use super::reads::domain;
use super::{Findings, elements};
use crate::kernel::{Access, Block, Kernel, Known, Memory, MemoryId, Space, Statement};
use weft_affine::{Atom, Constraint, Expr, Interval, Var, range_of};
use weft_hlo::ir::ArenaId;
use weft_indexing::{Answer, IndexingMap, Limits};

/// Finds elements of results that are written never or more than once.
pub(super) fn check(kernel: &Kernel, findings: &mut Findings, unproved: &mut Findings) {
    let mut pass = Writes { kernel, stores: vec![Vec::new(); kernel.memories.len()] };
    pass.block(&kernel.entry.body, Known::new(&kernel.entry.extents));
    for (id, memory) in kernel.memories.iter() {
        if !matches!(memory.space, Space::Buffer { access: Access::Write, .. }) {
            continue;
        }
        let place = format!("%{}", memory.name);
        if elements(&memory.shape.extents) == Some(0) {
            continue;
        }
        match written_once(memory, &pass.stores[id.index()]) {
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

/// A position with the digits of index variables as variables of their own, where the digits are all that a variable is: that tells no points
/// apart less, and what is linear is decided at once.
fn in_digits(position: &Expr, known: &Known) -> Option<(Expr, Known)> {
    let (mut position, mut known) = (position.clone(), known.clone());
    while let Some((variable, base)) = digit(&position, &known) {
        let before = known.divide(variable, base)?;
        let position_of = position.substitute(|found| (found == variable).then(|| before.clone())).ok()?;
        position = known.simplified(&position_of);
    }
    Some((position, known))
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

/// The map to the positions of a series that begins at this one, simplified, with what such positions are within.
fn within(first: &Expr, series: &Series, known: &Known) -> Position {
    let (first, known) = &in_digits(first, known)?;
    // All of them, as loops over them would write them.
    let (mut position, mut loops) = (first.clone(), Vec::new());
    for (count, step) in [(series.stretches, series.step), (series.length, 1)] {
        if count > 1 {
            let number = Expr::range(u32::try_from(known.loops() + loops.len()).ok()?);
            position = position.checked_add_scaled(&number, step).ok()?;
            loops.push(count);
        }
    }
    let mut map = domain(&if loops.is_empty() { known.clone() } else { known.in_loop(&loops) }, vec![position])?;
    let range = known.range(map.results().first()?);
    let stretch = stretch(&map).unwrap_or(range);
    map.simplify();
    let range = match loops.is_empty() {
        true => Interval { lo: range.lo.max(stretch.lo), hi: range.hi.min(stretch.hi) },
        false => stretch,
    };
    Some((map, range))
}

/// Positions in stretches of one length, equally far apart.
struct Series {
    /// The constant of the first.
    first: i64,
    /// How many stretches there are.
    stretches: i64,
    /// From the first of a stretch to that of the next.
    step: i64,
    /// Positions side by side in each.
    length: i64,
}

/// What a block stores into a memory at positions that differ by constants.
struct Stored {
    memory: MemoryId,
    /// The position of the first element, but for its constant.
    base: Expr,
    /// The constants, one for each element.
    constants: Vec<i64>,
    /// What is known where the first is stored.
    known: Known,
}

impl Stored {
    /// The elements in series: one of all stretches where these are equally long and far apart, else one of each.
    fn series(&self) -> Vec<Series> {
        let stretches = self.stretches();
        let alone = |&(first, length)| Series { first, stretches: 1, step: length, length };
        let [(first, length), (second, _), ..] = stretches.as_slice() else {
            return stretches.iter().map(alone).collect();
        };
        let (step, count) = (second - first, i64::try_from(stretches.len()).unwrap_or(i64::MAX));
        let is_next = |pair: &[(i64, i64)]| pair[1].0 - pair[0].0 == step && pair[1].1 == *length;
        match step >= *length && stretches.windows(2).all(is_next) {
            true => vec![Series { first: *first, stretches: count, step, length: *length }],
            false => stretches.iter().map(alone).collect(),
        }
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
    fn block(&mut self, block: &Block, mut known: Known) {
        let mut stored: Vec<Stored> = Vec::new();
        for statement in &block.statements {
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
                            }),
                        }
                    }
                    None => self.stores[memory.index()].push(None),
                }
            }
            let blocks = statement.blocks().into_iter().zip(known.within(statement));
            blocks.for_each(|(block, known)| self.block(block, known));
            known.after(statement);
        }
        for stored in stored {
            for series in stored.series() {
                let position = stored.base.checked_add_constant(series.first).ok();
                let position = position.and_then(|position| within(&position, &series, &stored.known));
                self.stores[stored.memory.index()].push(position);
            }
        }
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
            for (_, range) in &parts {
                if range.lo != next {
                    return Err(unknown("several statements write it"));
                }
                next = range.hi.saturating_add(1);
            }
            if next != count {
                return Err(unknown("several statements write it"));
            }
            // What one of them leaves out of its stretch, another might write: then it is unknown.
            let whole = parts.iter().all(|(map, range)| part_written_once(map, *range).is_ok());
            if whole { Ok(()) } else { Err(unknown("several statements write it")) }
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
