//! How far the random numbers of an evaluation have come.

use super::random::FIRST_STATE;
use crate::ir::Op;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How far the random numbers have come of a program that several evaluations compute parts of: each goes on where the last one ended, so that no
/// two `rng` give the same numbers. Evaluations at the same time begin alike; one that fails leaves it as it was. The states of `rng-get-and-update-state` are known by the names of the computations that these stand in. Clones
/// are the same.
#[derive(Clone, Debug, Default)]
pub struct Chance(Arc<Mutex<Drawn>>);

impl Chance {
    /// At the beginning.
    pub fn new() -> Self {
        Chance::default()
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
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    /// How many operations have drawn random numbers.
    draws: u64,
    /// The states of the operations that read one, by computation and place.
    states: BTreeMap<(String, usize), u128>,
}

impl Drawn {
    /// What an operation that depends on chance is given, which stands in this computation at this place.
    pub(super) fn next(&mut self, op: &Op, computation: &str, place: usize) -> u128 {
        match op {
            Op::Rng { .. } => {
                self.draws += 1;
                u128::from(self.draws - 1)
            }
            Op::RngGetAndUpdateState { delta } => {
                let state = self.states.entry((computation.to_owned(), place)).or_insert(FIRST_STATE);
                std::mem::replace(state, state.wrapping_add(*delta as u128))
            }
            _ => 0,
        }
    }
}
