//! Instructions of several results that are written as several instructions.

use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{Arena, Computation, InstrId, Instruction, Op, Shape};

/// What the elements of tuples of a computation have become.
pub(super) struct TakenApart {
    /// The tuples that something else than `get-tuple-element` reads, or nothing within.
    whole: BTreeSet<InstrId>,
    elements: BTreeMap<InstrId, Vec<InstrId>>,
}

impl TakenApart {
    /// Of the computation that is written anew.
    pub(super) fn of(computation: &Computation) -> Self {
        let readers = computation.instructions.values();
        let readers = readers.filter(|instruction| !matches!(instruction.op, Op::GetTupleElement { .. }));
        let whole = readers.flat_map(|instruction| instruction.operands.iter().copied()).chain([computation.root]);
        TakenApart { whole: whole.collect(), elements: BTreeMap::new() }
    }

    /// What takes the place of a `get-tuple-element`, if its tuple is taken apart.
    pub(super) fn element(&self, instruction: &Instruction) -> Option<InstrId> {
        let Op::GetTupleElement { index } = instruction.op else { return None };
        self.elements.get(instruction.operands.first()?)?.get(usize::try_from(index).ok()?).copied()
    }

    /// What takes the place of instruction `id`, given as `like`, where its results are others': one of them, or a tuple, if anything reads that.
    pub(super) fn result(
        &mut self,
        id: InstrId,
        results: Vec<InstrId>,
        mut like: Instruction,
        made: &mut Arena<InstrId, Instruction>,
    ) -> InstrId {
        if !matches!(like.shape, Shape::Tuple(_)) {
            return results[0];
        }
        let mut result = results[0];
        if self.whole.contains(&id) {
            like.op = Op::Tuple;
            like.operands.clone_from(&results);
            result = made.push(like);
        }
        self.elements.insert(id, results);
        result
    }
}
