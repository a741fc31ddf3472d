//! Buffers that nobody uses, kept for whoever needs one next.

use super::pool::Use;
use std::collections::BTreeMap;

/// Idle bytes beyond which a buffer is freed instead of kept.
const MOST: u64 = 1 << 30;

/// A buffer that was not taken while so many others were is freed.
const PATIENCE: u64 = 1024;

/// What is idle, by use and size, and what is not.
///
/// Held and idle bytes together are kept below the budget as long as something idle can be freed for that; what is in use is nobody's to free.
#[derive(Debug)]
pub(super) struct Idle<B> {
    /// Of each list the last one became idle last.
    buffers: BTreeMap<(Use, u64), Vec<Kept<B>>>,
    /// Bytes of these.
    bytes: u64,
    /// Bytes of what is in use.
    held: u64,
    budget: u64,
    /// How many buffers were taken.
    taken: u64,
}

#[derive(Debug)]
struct Kept<B> {
    buffer: B,
    /// How many were taken before it became idle.
    since: u64,
}

impl<B> Idle<B> {
    pub(super) fn new(budget: Option<u64>) -> Self {
        Idle { buffers: BTreeMap::new(), bytes: 0, held: 0, budget: budget.unwrap_or(u64::MAX), taken: 0 }
    }

    /// An idle buffer of at least `bytes`, if there is one that wastes no more than half of itself, with its size. Else a new one of `bytes` will be
    /// held, for which room is made within the budget.
    pub(super) fn take(&mut self, usage: Use, bytes: u64) -> Option<B> {
        self.taken += 1;
        let found = self.find(usage, bytes);
        let held = found.as_ref().map_or(bytes, |(size, _)| *size);
        self.held = self.held.saturating_add(held);
        self.shrink();
        found.map(|(_, buffer)| buffer)
    }

    fn find(&mut self, usage: Use, bytes: u64) -> Option<(u64, B)> {
        let left = self.budget.saturating_sub(self.held).max(bytes);
        let largest = bytes.saturating_mul(2).min(left);
        let size = self.buffers.range((usage, bytes)..=(usage, largest)).next().map(|(&(_, size), _)| size)?;
        let list = self.buffers.get_mut(&(usage, size))?;
        let found = list.pop();
        if list.is_empty() {
            self.buffers.remove(&(usage, size));
        }
        self.bytes -= size;
        found.map(|kept| (size, kept.buffer))
    }

    /// Whether so many bytes more are held than the budget leaves room for.
    pub(super) fn is_short_of(&self, bytes: u64) -> bool {
        self.held.saturating_add(bytes) > self.budget
    }

    /// A buffer of this size is used no more.
    pub(super) fn release(&mut self, size: u64) {
        self.held = self.held.saturating_sub(size);
    }

    /// Keeps a buffer that was released.
    pub(super) fn keep(&mut self, usage: Use, size: u64, buffer: B) {
        self.bytes = self.bytes.saturating_add(size);
        self.buffers.entry((usage, size)).or_default().push(Kept { buffer, since: self.taken });
        self.shrink();
    }

    /// Frees what has been idle for long, and while there is too much, what has been so for longest.
    fn shrink(&mut self) {
        while let Some((key, since)) = self.oldest() {
            let is_old = self.taken - since > PATIENCE;
            let is_too_much = self.bytes > MOST || self.bytes.saturating_add(self.held) > self.budget;
            if !is_old && !is_too_much {
                break;
            }
            if let Some(list) = self.buffers.get_mut(&key) {
                list.remove(0);
                self.bytes -= key.1;
                if list.is_empty() {
                    self.buffers.remove(&key);
                }
            }
        }
    }

    fn oldest(&self) -> Option<((Use, u64), u64)> {
        let firsts = self.buffers.iter().filter_map(|(key, list)| Some((*key, list.first()?.since)));
        firsts.min_by_key(|(_, since)| *since)
    }

    /// Frees all that is idle.
    pub(super) fn clear(&mut self) {
        self.buffers.clear();
        self.bytes = 0;
    }

    /// Bytes in use, and idle.
    pub(super) fn bytes(&self) -> (u64, u64) {
        (self.held, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(idle: &Idle<u32>) -> Vec<u64> {
        idle.buffers.iter().flat_map(|((_, size), list)| list.iter().map(|_| *size)).collect()
    }

    fn give(idle: &mut Idle<u32>, size: u64, buffer: u32) {
        idle.release(size);
        idle.keep(Use::Tensor, size, buffer);
    }

    #[test]
    fn what_fits_is_used_again() {
        let mut idle = Idle::new(None);
        assert_eq!((idle.take(Use::Tensor, 100), idle.bytes()), (None, (100, 0)));
        give(&mut idle, 100, 7);
        assert_eq!(idle.take(Use::ReadBack, 100), None);
        assert_eq!(idle.take(Use::Tensor, 49), None, "more than half of it would be wasted");
        assert_eq!(idle.take(Use::Tensor, 101), None);
        assert_eq!((idle.take(Use::Tensor, 50), idle.bytes()), (Some(7), (350, 0)));
    }

    #[test]
    fn a_budget_leaves_what_is_in_use_and_frees_what_is_idle() {
        let mut idle = Idle::new(Some(300));
        for size in [100, 110, 120] {
            idle.take(Use::Tensor, size);
        }
        assert_eq!(idle.bytes(), (330, 0), "what is used is not refused");
        for (size, buffer) in [(100, 1), (110, 2), (120, 3)] {
            give(&mut idle, size, buffer);
        }
        assert_eq!((sizes(&idle), idle.bytes()), (vec![110, 120], (0, 230)), "the one that is idle for longest goes");
        idle.take(Use::Tensor, 290);
        assert_eq!((sizes(&idle), idle.bytes()), (vec![], (290, 0)));
    }

    #[test]
    fn what_nobody_takes_is_freed_after_a_while() {
        let mut idle = Idle::new(None);
        idle.take(Use::Tensor, 1000);
        give(&mut idle, 1000, 1);
        for _ in 0..PATIENCE + 1 {
            idle.take(Use::Tensor, 10);
            give(&mut idle, 10, 2);
        }
        assert_eq!(sizes(&idle), [10]);
        idle.clear();
        assert_eq!(idle.bytes(), (0, 0));
    }

    #[test]
    fn there_is_a_bound_without_a_budget() {
        let mut idle = Idle::new(None);
        for buffer in 0..5 {
            idle.take(Use::Tensor, MOST / 2);
            idle.take(Use::Tensor, MOST / 2);
            give(&mut idle, MOST / 2, buffer);
            give(&mut idle, MOST / 2, buffer);
        }
        assert!(idle.bytes().1 <= MOST);
    }
}
