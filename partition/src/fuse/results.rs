//! Which results of a kernel are read.

use std::collections::BTreeSet;
use weft_hlo::ir::{ArenaId, Computation, InstrId, Op, Shape};

/// The numbers of the results of an instruction that anything reads, ascending, where that is not each of them; `None` also where the tuple is read as a whole.
pub(super) fn read_of(computation: &Computation, users: &[Vec<InstrId>], id: InstrId) -> Option<Vec<i64>> {
    let Shape::Tuple(all) = &computation.instructions[id].shape else { return None };
    // What is updated in place is all results or none.
    if matches!(computation.instructions[id].op, Op::Scatter { .. }) {
        return None;
    }
    if id == computation.root || all.iter().any(|element| element.as_array().is_none()) {
        return None;
    }
    let mut read: BTreeSet<i64> = BTreeSet::new();
    for user in &users[id.index()] {
        let Op::GetTupleElement { index } = computation.instructions[*user].op else { return None };
        if *user == computation.root || !users[user.index()].is_empty() {
            read.insert(index);
        }
    }
    (!read.is_empty() && read.len() < all.len()).then(|| read.into_iter().collect())
}
