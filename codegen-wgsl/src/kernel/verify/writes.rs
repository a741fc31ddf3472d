//! Whether every element of every result is written exactly once.

use super::reads::domain;
use super::{Findings, elements};
use crate::kernel::{Access, Block, Condition, Kernel, Known, Memory, Space, Statement};
use weft_affine::{Constraint, Expr, Interval, range_of};
use weft_hlo::ir::ArenaId;
use weft_indexing::{Answer, IndexingMap, Limits};

/// Finds elements of results that are written never or more than once.
pub(super) fn check(kernel: &Kernel, findings: &mut Findings, unproved: &mut Findings) {
    let mut pass = Writes { kernel, stores: vec![Vec::new(); kernel.memories.len()] };
    pass.block(&kernel.entry.body, Known::new(&kernel.entry.extents), true);
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
pub(super) fn indexed_extents(memory: &Memory, indices: usize) -> Vec<i64> {
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

/// From the indices in sight to the row-major position of an element, as it is written; `None` where that leaves 64 bits.
pub(super) fn position(memory: &Memory, indices: &[Expr], known: &Known) -> Option<IndexingMap> {
    let mut position = Expr::constant(0);
    for (index, extent) in indices.iter().zip(&indexed_extents(memory, indices.len())) {
        position = position.checked_mul(*extent).ok()?.checked_add(index).ok()?;
    }
    domain(known, vec![position])
}

/// The same simplified, with what such positions are within.
fn within(memory: &Memory, indices: &[Expr], lanes: u32, known: &Known) -> Position {
    let mut map = if lanes > 1 {
        // All lanes, as a loop over them would write them.
        let lane = Expr::range(u32::try_from(known.loops()).ok()?);
        let [first] = indices else { return None };
        position(memory, &[first.checked_add(&lane).ok()?], &known.in_loop(&[i64::from(lanes)]))?
    } else {
        position(memory, indices, known)?
    };
    let range = known.range(map.results().first()?);
    let stretch = stretch(&map).unwrap_or(range);
    map.simplify();
    let range =
        if lanes > 1 { stretch } else { Interval { lo: range.lo.max(stretch.lo), hi: range.hi.min(stretch.hi) } };
    Some((map, range))
}

impl Writes<'_> {
    /// `settled`: indices alone decide whether an invocation comes here.
    fn block(&mut self, block: &Block, mut known: Known, settled: bool) {
        for statement in &block.statements {
            match statement {
                Statement::Store { memory, indices, value } => {
                    let lanes = Kernel::operand_lanes(&self.kernel.entry, *value);
                    let memory_of = &self.kernel.memories[*memory];
                    let position = if settled { within(memory_of, indices, lanes, &known) } else { None };
                    self.stores[memory.index()].push(position);
                }
                Statement::Bind { binding, .. } => known.bind(binding),
                Statement::If { condition, then, otherwise, .. } => {
                    let by_indices = matches!(condition, Condition::Indices(_));
                    self.block(then, known.inside(condition), settled && by_indices);
                    let outside = known.outside(condition);
                    let is_exact = !outside.is_loose();
                    self.block(otherwise, outside, settled && is_exact);
                }
                Statement::Loop { extents, body, .. } => self.block(body, known.in_loop(extents), settled),
                _ => statement.blocks().into_iter().for_each(|block| self.block(block, known.clone(), false)),
            }
        }
    }
}

fn written_once(memory: &Memory, stores: &[Position]) -> Result<(), Written> {
    let unknown = |what: &str| Written::Unknown(format!("that every element is written once is not known: {what}"));
    let stores: Vec<&(IndexingMap, Interval)> = match stores.iter().map(Option::as_ref).collect::<Option<_>>() {
        Some(stores) => stores,
        None => return Err(unknown("values decide where")),
    };
    let count = elements(&memory.shape.extents).and_then(|count| i64::try_from(count).ok());
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
