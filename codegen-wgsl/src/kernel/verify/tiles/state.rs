//! What has happened to the elements of tiles.

use crate::kernel::MemoryId;
use std::collections::BTreeMap;

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
    tiles: BTreeMap<MemoryId, Tile>,
}

/// What is known of a tile.
#[derive(Clone, Debug, Default)]
struct Tile {
    /// By position, as far as any has been touched.
    elements: Vec<Known>,
    /// The elements that something was done to since the last barrier.
    touched: Vec<usize>,
    /// What was done to elements that are not known since then.
    anywhere: Done,
}

/// What is known of an element.
#[derive(Copy, Clone, Debug, Default)]
struct Known {
    /// Whether it is written in any case.
    written: bool,
    /// Whether it may be written.
    maybe_written: bool,
    /// What was done to it since the last barrier.
    done: Option<Done>,
}

/// Who did what.
#[derive(Copy, Clone, Debug, Default)]
struct Done {
    writers: Who,
    readers: Who,
    updaters: Who,
    /// Whether some of it may not have been done at all.
    doubtful: bool,
}

/// Which invocations; two stand for all.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum Who {
    #[default]
    Nobody,
    One(i64),
    Several,
}

impl Who {
    fn add(&mut self, thread: i64) {
        *self = match *self {
            Who::Nobody => Who::One(thread),
            Who::One(other) if other == thread => return,
            Who::One(_) | Who::Several => Who::Several,
        };
    }

    fn or(&mut self, other: Who) {
        match other {
            Who::Nobody => {}
            Who::One(thread) => self.add(thread),
            Who::Several => *self = Who::Several,
        }
    }

    /// Whether another than this is among them.
    fn has_other(self, thread: i64) -> bool {
        match self {
            Who::Nobody => false,
            Who::One(other) => other != thread,
            Who::Several => true,
        }
    }
}

impl Done {
    fn add(&mut self, kind: Kind, thread: i64, certain: bool) {
        match kind {
            Kind::Read => self.readers.add(thread),
            Kind::Write => self.writers.add(thread),
            Kind::Update => self.updaters.add(thread),
        }
        self.doubtful |= !certain;
    }

    fn or(&mut self, other: Done) {
        self.writers.or(other.writers);
        self.readers.or(other.readers);
        self.updaters.or(other.updaters);
        self.doubtful |= other.doubtful;
    }

    /// What is wrong if this invocation does this besides.
    fn conflict(&self, kind: Kind, thread: i64) -> Option<&'static str> {
        let (written, updated) = (self.writers.has_other(thread), self.updaters.has_other(thread));
        match kind {
            Kind::Read if written || updated => {
                Some("an element is read that another invocation writes without a barrier between")
            }
            Kind::Write if written || updated => Some("two invocations write an element without a barrier between"),
            Kind::Update if written => Some("two invocations write an element without a barrier between"),
            Kind::Write | Kind::Update if self.readers.has_other(thread) => {
                Some("an element is written that another invocation reads without a barrier between")
            }
            _ => None,
        }
    }
}

const MAYBE_RACE: Doubt = "values decide whether two invocations touch an element without a barrier between";
const MAYBE_UNWRITTEN: Doubt = "values decide whether it is written";
const NO_ELEMENT: Doubt = "an element is touched that it does not have";

/// Elements of a tile that are looked at: more than workgroups have room for.
const MAX_ELEMENTS: usize = 1 << 24;

impl Tile {
    /// What is known of an element; nothing of one that the tile does not have, of which another check tells.
    fn element(&mut self, position: i64) -> Option<(usize, &mut Known)> {
        let position = usize::try_from(position).ok().filter(|position| *position < MAX_ELEMENTS)?;
        if position >= self.elements.len() {
            self.elements.resize(position + 1, Known::default());
        }
        Some((position, &mut self.elements[position]))
    }
}

impl State {
    /// All invocations have waited for each other.
    pub(super) fn wait(&mut self) {
        for tile in self.tiles.values_mut() {
            for position in tile.touched.drain(..) {
                tile.elements[position].done = None;
            }
            tile.anywhere = Done::default();
        }
    }

    /// Either this has happened or the other.
    pub(super) fn or(&mut self, mut other: State) {
        for memory in self.tiles.keys() {
            other.tiles.entry(*memory).or_default();
        }
        for (memory, other) in other.tiles {
            let tile = self.tiles.entry(memory).or_default();
            let most = tile.elements.len().max(other.elements.len());
            tile.elements.resize(most, Known::default());
            let others = other.elements.into_iter().chain(std::iter::repeat(Known::default()));
            for ((position, own), other) in tile.elements.iter_mut().enumerate().zip(others) {
                own.maybe_written |= own.written || other.written || other.maybe_written;
                own.written &= other.written;
                if let Some(done) = other.done {
                    if own.done.is_none() {
                        tile.touched.push(position);
                    }
                    own.done.get_or_insert_default().or(done);
                }
            }
            tile.anywhere.or(other.anywhere);
        }
    }

    /// An invocation touches an element. Returns what is wrong with that.
    pub(super) fn touch(
        &mut self,
        kind: Kind,
        (memory, position): Element,
        thread: i64,
        certain: bool,
    ) -> Result<Option<&'static str>, Doubt> {
        let tile = self.tiles.entry(memory).or_default();
        if tile.anywhere.conflict(kind, thread).is_some() {
            return Err(MAYBE_RACE);
        }
        let Some((position, element)) = tile.element(position) else { return Err(NO_ELEMENT) };
        let is_first = element.done.is_none();
        let done = element.done.get_or_insert_default();
        let finding = done.conflict(kind, thread);
        let is_certain = certain && !done.doubtful;
        done.add(kind, thread, certain);
        let Known { written, maybe_written, .. } = *element;
        match kind {
            Kind::Write if certain => element.written = true,
            Kind::Write => element.maybe_written = true,
            Kind::Read | Kind::Update => {}
        }
        if is_first {
            tile.touched.push(position);
        }
        if kind != Kind::Write && !written {
            if !certain || maybe_written {
                return Err(MAYBE_UNWRITTEN);
            }
            return Ok(Some("an element is read that was never written"));
        }
        match finding {
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
        let tile = self.tiles.entry(memory).or_default();
        let written = tile.elements.iter().filter(|element| element.written).count();
        if kind != Kind::Write && i64::try_from(written) != Ok(elements) {
            return Err(MAYBE_UNWRITTEN);
        }
        for thread in threads.iter().take(2) {
            let so_far = tile.touched.iter().filter_map(|position| tile.elements[*position].done);
            if so_far.chain([tile.anywhere]).any(|done| done.conflict(kind, *thread).is_some()) {
                return Err(MAYBE_RACE);
            }
            tile.anywhere.add(kind, *thread, false);
        }
        Ok(())
    }
}
