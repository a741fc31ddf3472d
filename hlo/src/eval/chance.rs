//! How far the random numbers of an evaluation have come.

use super::random::{FIRST_STATE, is_count};
use crate::ir::{Instruction, Op};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How far the random numbers have come of a program that several evaluations compute parts of: each goes on where the last one ended, so that no
/// two `rng` give the same numbers. Evaluations at the same time begin alike; one that fails leaves it as it was. The states of `rng-get-and-update-state` are known by the names of the computations that these stand in. Clones
/// are the same.
///
/// ```
/// use weft_hlo::eval::Chance;
///
/// let chance = Chance::seeded(7);
/// let first = chance.move_state("main/state", 100);
/// assert_eq!(chance.move_state("main/state", 1), first + 100);
/// assert_eq!(Chance::seeded(7).move_state("main/state", 1), first);
/// assert_ne!(Chance::new().move_state("main/state", 1), first);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Chance(Arc<Mutex<Drawn>>);

impl Chance {
    /// At the beginning: no `rng` has run, and states are that of XLA on CPUs, 0x7012395.
    pub fn new() -> Self {
        Chance::default()
    }

    /// At the beginning for a seed, of which 0 is the beginning of all others: as if 2^32 times as many `rng` had run, and with states that are 2^64
    /// times the seed further.
    pub fn seeded(seed: u64) -> Self {
        let first = FIRST_STATE.wrapping_add(u128::from(seed) << 64);
        Chance(Arc::new(Mutex::new(Drawn { draws: seed.wrapping_shl(32), first, states: BTreeMap::new() })))
    }

    /// How many `rng` have run, modulo 2^64; `delta` more from now on.
    pub fn move_draws(&self, delta: i64) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).move_draws(delta)
    }

    /// The state of a `rng-get-and-update-state`, by a name of its own; it is moved on by `delta`.
    pub fn move_state(&self, name: &str, delta: i64) -> u128 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).move_state((name.to_owned(), usize::MAX), delta)
    }

    /// How far it has come.
    pub(super) fn drawn(&self) -> Drawn {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Goes on from there.
    pub(super) fn keep(&self, drawn: Drawn) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = drawn;
    }
}

/// What has been drawn.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    /// How many operations have drawn random numbers.
    draws: u64,
    /// What a state begins with.
    first: u128,
    /// The states of the operations that read one, by computation and place.
    states: BTreeMap<(String, usize), u128>,
}

impl Default for Drawn {
    fn default() -> Self {
        Drawn { draws: 0, first: FIRST_STATE, states: BTreeMap::new() }
    }
}

impl Drawn {
    /// What an operation that depends on chance is given, which stands in this computation at this place.
    pub(super) fn next(&mut self, instruction: &Instruction, computation: &str, place: usize) -> u128 {
        match &instruction.op {
            Op::Rng { .. } => u128::from(self.move_draws(1)),
            Op::RngGetAndUpdateState { delta } if is_count(&instruction.shape) => u128::from(self.move_draws(*delta)),
            Op::RngGetAndUpdateState { delta } => self.move_state((computation.to_owned(), place), *delta),
            _ => 0,
        }
    }

    fn move_draws(&mut self, delta: i64) -> u64 {
        let draws = self.draws;
        self.draws = draws.wrapping_add(delta as u64);
        draws
    }

    fn move_state(&mut self, place: (String, usize), delta: i64) -> u128 {
        let state = self.states.entry(place).or_insert(self.first);
        let before = *state;
        *state = before.wrapping_add(delta as u128);
        before
    }
}
