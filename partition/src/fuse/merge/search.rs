//! Whether a kernel is needed for another.

use super::{Merging, State};
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
        let latest = self.states[producer].latest;
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
                    // What needs the producer needs what this needs.
                    if home != producer && self.states[home].latest >= latest && seen.insert(home) {
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

    /// Tells all kernels that need a result of this one, directly or by way of others, what the latest instruction is that it needs. Where kernels have one result each, instructions stand behind
    /// all that they need; where two have become one, it may stand behind what only one of the two needed.
    pub(super) fn tell_readers(&mut self, number: usize) {
        let mut open = vec![number];
        while let Some(number) = open.pop() {
            let State { group: Some(group), latest, .. } = &self.states[number] else { continue };
            let latest = *latest;
            let (mut values, mut seen) = (group.roots.clone(), BTreeSet::new());
            while let Some(value) = values.pop() {
                for reader in self.readers.get(&value).into_iter().flatten() {
                    if self.states[*reader].latest < latest {
                        self.states[*reader].latest = latest;
                        open.push(*reader);
                    }
                }
                // What is no result of a kernel stays in the program, or is computed where it is read.
                let users = self.users[value.index()].iter().copied();
                values.extend(
                    users.filter(|user| Some(*user) < latest && !self.home.contains_key(user) && seen.insert(*user)),
                );
            }
        }
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
