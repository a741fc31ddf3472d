//! Whether every element of every result is written exactly once.

use super::reads::domain;
use super::{Findings, elements};
use crate::kernel::{Access, Block, Condition, Kernel, Known, Memory, MemoryId, Space, Statement};
use weft_affine::{Expr, Interval};
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

/// From an invocation and its rounds to the row-major position it writes; `None` where that is not known, because a value
/// decides whether it writes.
type Position = Option<IndexingMap>;

struct Writes<'k> {
    kernel: &'k Kernel,
    stores: Vec<Vec<Position>>,
}

impl Writes<'_> {
    /// `settled`: indices alone decide whether an invocation comes here.
    fn block(&mut self, block: &Block, mut known: Known, settled: bool) {
        for statement in &block.statements {
            match statement {
                Statement::Store { memory, indices, .. } => {
                    let position = if settled { self.position(*memory, indices, &known) } else { None };
                    self.stores[memory.index()].push(position);
                }
                Statement::Bind { binding, .. } => known.bind(binding),
                Statement::If { condition, then, otherwise, .. } => {
                    // What is known where a conjunction does not hold is less than all that is so there.
                    let one_sided = matches!(condition, Condition::Indices(tests) if tests.len() <= 1);
                    let by_indices = matches!(condition, Condition::Indices(_));
                    self.block(then, known.inside(condition), settled && by_indices);
                    self.block(otherwise, known.outside(condition), settled && one_sided);
                }
                Statement::Loop { extents, body, .. } => self.block(body, known.in_loop(extents), settled),
                _ => statement.blocks().into_iter().for_each(|block| self.block(block, known.clone(), false)),
            }
        }
    }

    fn position(&self, memory: MemoryId, indices: &[Expr], known: &Known) -> Position {
        let extents = indexed_extents(&self.kernel.memories[memory], indices.len());
        let mut position = Expr::constant(0);
        for (index, extent) in indices.iter().zip(&extents) {
            position = position.checked_mul(*extent).ok()?.checked_add(index).ok()?;
        }
        let mut map = domain(known, vec![position])?;
        map.simplify();
        Some(map)
    }
}

fn written_once(memory: &Memory, stores: &[Position]) -> Result<(), Written> {
    let limits = Limits::default();
    let unknown = |what: &str| Written::Unknown(format!("that every element is written once is not known: {what}"));
    let maps: Vec<&IndexingMap> = match stores.iter().map(Option::as_ref).collect::<Option<_>>() {
        Some(maps) => maps,
        None => return Err(unknown("values decide where")),
    };
    let [map] = maps.as_slice() else {
        if maps.is_empty() {
            return Err(Written::Refuted("no element is ever written".to_owned()));
        }
        return Err(unknown("several statements write it"));
    };
    match map.is_injective(&limits) {
        Answer::Yes => {}
        Answer::No(_) => return Err(Written::Refuted("an element is written more than once".to_owned())),
        Answer::Unknown(_) => return Err(unknown("two invocations may write one")),
    }
    let count = elements(&memory.shape.extents).and_then(|count| i64::try_from(count).ok());
    let Some(count) = count else { return Err(unknown("there are too many")) };
    match map.is_surjective_onto(&[Interval { lo: 0, hi: count - 1 }], &limits) {
        Answer::Yes => Ok(()),
        Answer::No(_) => Err(Written::Refuted("an element is never written".to_owned())),
        Answer::Unknown(_) => Err(unknown("one may be left out")),
    }
}
