//! Whether a kernel is needed for another.

use super::Merging;
use std::collections::BTreeSet;
use weft_hlo::ir::{ArenaId, InstrId};

/// Kernels that are looked at to find out whether one is needed for another, at most: what is farther apart stays apart.
const MAX_SEARCH: usize = 256;

impl Merging<'_> {
    /// Why two kernels are not known to be neighbors: one needs the other by way of a third.
    pub(super) fn needed_between(&self, one: usize, two: usize) -> Option<String> {
        [(one, two), (two, one)].into_iter().find_map(|(user, producer)| self.needed_for(user, producer))
    }

    /// Why a kernel may need another by way of a third, if it may.
    fn needed_for(&self, user: usize, producer: usize) -> Option<String> {
        let first = self.states[producer].group.as_ref().and_then(|group| group.roots.first())?;
        let far = || Some(format!("more than {MAX_SEARCH} kernels are between them"));
        let mut seen: BTreeSet<usize> = BTreeSet::from([user]);
        let mut open = vec![user];
        while let Some(number) = open.pop() {
            let Some(group) = &self.states[number].group else { continue };
            for input in &group.inputs {
                let Some(next) = self.through(*input) else { return far() };
                let is_direct = number == user && self.home.contains_key(input);
                for home in next {
                    if home == producer && !is_direct {
                        let by = self.name(number).filter(|_| number != user);
                        let by = by.unwrap_or_else(|| self.source.instructions[*input].name.clone());
                        return Some(format!("{by} is needed between them"));
                    }
                    // What stands before the producer's first result is not computed of it.
                    let last = self.states[home].group.as_ref().and_then(|group| group.members.last());
                    if home != producer && last.is_some_and(|last| last > first) && seen.insert(home) {
                        open.push(home);
                    }
                }
            }
            if seen.len() > MAX_SEARCH {
                return far();
            }
        }
        None
    }

    /// The kernels that a value comes from: its own, or those of what is read for it, or has side effects before it, where it stays as it is; `None` where that is too much to look at.
    fn through(&self, value: InstrId) -> Option<Vec<usize>> {
        let (mut found, mut open, mut seen) = (Vec::new(), vec![value], BTreeSet::new());
        while let Some(id) = open.pop() {
            match self.home.get(&id) {
                Some(home) => found.push(*home),
                None if seen.insert(id) => {
                    open.extend(self.source.instructions[id].operands.iter().chain(&self.before[id.index()]));
                }
                None => {}
            }
            if seen.len() > MAX_SEARCH {
                return None;
            }
        }
        Some(found)
    }
}
