//! What has happened to the elements of tiles.

use crate::kernel::MemoryId;
use std::collections::{BTreeMap, BTreeSet};

/// Why something is not known.
pub(super) type Doubt = &'static str;

/// What an invocation does with an element.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    /// Reads and writes, undivided.
    Update,
}

/// An element: the tile, and the row-major position.
type Element = (MemoryId, i64);

/// What is known at a place of the text.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Elements that are written in any case.
    written: BTreeSet<Element>,
    /// Elements that may be written.
    maybe_written: BTreeSet<Element>,
    /// What was done to elements since the last barrier.
    done: BTreeMap<Element, Done>,
    /// What was done to elements that are not known since then.
    anywhere: BTreeMap<MemoryId, Done>,
}

/// Who did what; two invocations stand for all.
#[derive(Clone, Debug, Default)]
struct Done {
    writers: Vec<i64>,
    readers: Vec<i64>,
    updaters: Vec<i64>,
    /// Whether some of it may not have been done at all.
    doubtful: bool,
}

impl Done {
    fn add(&mut self, kind: Kind, thread: i64, certain: bool) {
        let who = match kind {
            Kind::Read => &mut self.readers,
            Kind::Write => &mut self.writers,
            Kind::Update => &mut self.updaters,
        };
        if who.len() < 2 && !who.contains(&thread) {
            who.push(thread);
        }
        self.doubtful |= !certain;
    }

    fn or(&mut self, other: Done) {
        let Done { writers, readers, updaters, doubtful } = other;
        for (kind, who) in [(Kind::Write, writers), (Kind::Read, readers), (Kind::Update, updaters)] {
            who.into_iter().for_each(|thread| self.add(kind, thread, !doubtful));
        }
    }

    /// What is wrong if this invocation does this besides.
    fn conflict(&self, kind: Kind, thread: i64) -> Option<&'static str> {
        let by_other = |who: &[i64]| who.iter().any(|other| *other != thread);
        let (written, updated) = (by_other(&self.writers), by_other(&self.updaters));
        match kind {
            Kind::Read if written || updated => {
                Some("an element is read that another invocation writes without a barrier between")
            }
            Kind::Write if written || updated => Some("two invocations write an element without a barrier between"),
            Kind::Update if written => Some("two invocations write an element without a barrier between"),
            Kind::Write | Kind::Update if by_other(&self.readers) => {
                Some("an element is written that another invocation reads without a barrier between")
            }
            _ => None,
        }
    }
}

const MAYBE_RACE: Doubt = "values decide whether two invocations touch an element without a barrier between";
const MAYBE_UNWRITTEN: Doubt = "values decide whether it is written";

impl State {
    /// All invocations have waited for each other.
    pub(super) fn wait(&mut self) {
        self.done.clear();
        self.anywhere.clear();
    }

    /// Either this has happened or the other.
    pub(super) fn or(&mut self, other: State) {
        self.maybe_written.extend(self.written.iter().chain(&other.written).chain(&other.maybe_written));
        self.written.retain(|element| other.written.contains(element));
        for (element, done) in other.done {
            self.done.entry(element).or_default().or(done);
        }
        for (memory, done) in other.anywhere {
            self.anywhere.entry(memory).or_default().or(done);
        }
    }

    /// An invocation touches an element. Returns what is wrong with that.
    pub(super) fn touch(
        &mut self,
        kind: Kind,
        element: Element,
        thread: i64,
        certain: bool,
    ) -> Result<Option<&'static str>, Doubt> {
        if self.anywhere.get(&element.0).is_some_and(|done| done.conflict(kind, thread).is_some()) {
            return Err(MAYBE_RACE);
        }
        let done = self.done.entry(element).or_default();
        let mut finding = done.conflict(kind, thread);
        let is_certain = certain && !done.doubtful;
        done.add(kind, thread, certain);
        if kind != Kind::Write && !self.written.contains(&element) {
            if !certain || self.maybe_written.contains(&element) {
                return Err(MAYBE_UNWRITTEN);
            }
            return Ok(Some("an element is read that was never written"));
        }
        if kind == Kind::Write {
            if certain {
                self.written.insert(element)
            } else {
                self.maybe_written.insert(element)
            };
        }
        match finding.take() {
            Some(_) if !is_certain => Err(MAYBE_RACE),
            finding => Ok(finding),
        }
    }

    /// Invocations touch any elements of a tile that has so many.
    pub(super) fn touch_anywhere(
        &mut self,
        kind: Kind,
        memory: MemoryId,
        elements: i64,
        threads: &[i64],
    ) -> Result<(), Doubt> {
        if kind != Kind::Write {
            let written = self.written.range((memory, 0)..(memory, elements)).count();
            if i64::try_from(written) != Ok(elements) {
                return Err(MAYBE_UNWRITTEN);
            }
        }
        for thread in threads.iter().take(2) {
            let so_far = self.done.range((memory, 0)..(memory, elements)).map(|(_, done)| done);
            let conflicts = so_far.chain(self.anywhere.get(&memory)).any(|done| done.conflict(kind, *thread).is_some());
            if conflicts {
                return Err(MAYBE_RACE);
            }
            self.anywhere.entry(memory).or_default().add(kind, *thread, false);
        }
        Ok(())
    }
}
