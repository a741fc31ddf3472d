//! How much memory a run takes, and whether that is too much.

use super::step::all;
use super::{Ahead, BufferId, Program, Step, Tensor, While};
use crate::Error;
use std::collections::{BTreeMap, BTreeSet};

/// How many tensors are named where a program takes too much.
const NAMED: usize = 3;

impl Program {
    /// Bytes of device memory that one run takes at most: [all buffers](super::BufferTotals::allocated), and what loops keep besides whose rounds
    /// are made before it is known whether they are needed. Not counted: what is on its way to or from the host, the blocks of windows, copies of arguments that are borrowed where they
    /// are donated or lie elsewhere than in the arena where kernels look for them, and that a buffer which is used again may be larger than what it is used for, up to twice.
    pub fn peak_bytes(&self) -> u64 {
        self.totals().allocated().saturating_add(self.kept_within(&self.steps))
    }

    /// Bytes that loops keep for their rounds besides their buffers: each gives that back before the next one begins.
    fn kept_within(&self, steps: &[Step]) -> u64 {
        let kept = steps.iter().map(|step| match step {
            Step::While(step) => match step.ahead {
                // Nothing but launches stands in it.
                Some(Ahead::Kept(rounds)) => self.kept_bytes(step, rounds),
                _ => self.kept_within(&step.condition).max(self.kept_within(&step.body)),
            },
            step => step.blocks().into_iter().map(|block| self.kept_within(block)).max().unwrap_or(0),
        });
        kept.max().unwrap_or(0)
    }

    /// Bytes that a loop keeps for its rounds besides its buffers.
    fn kept_bytes(&self, step: &While, rounds: usize) -> u64 {
        let written: BTreeSet<BufferId> = (step.body.iter().chain(&step.condition))
            .filter_map(|step| match step {
                Step::Launch(launch) => Some(launch.outputs.iter().map(|output| output.buffer)),
                _ => None,
            })
            .flatten()
            .collect();
        let round = written.iter().filter_map(|buffer| self.buffers.get(buffer.index()));
        let round = round.map(|buffer| buffer.bytes).fold(0, u64::saturating_add);
        round.saturating_mul(rounds.saturating_add(step.carried.len() + 1) as u64)
    }

    /// That a run takes no more than so many bytes.
    ///
    /// # Errors
    /// [`Error::OverBudget`] with the largest tensors.
    pub fn check_budget(&self, budget: u64) -> Result<(), Error> {
        let peak = self.peak_bytes();
        if peak <= budget {
            return Ok(());
        }
        Err(Error::OverBudget { program: self.name().to_owned(), peak, budget, largest: self.largest() })
    }

    /// The largest tensors with their sizes, the largest first.
    fn largest(&self) -> Vec<(String, u64)> {
        let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
        let mut add = |tensor: &Tensor| {
            let shape = super::text::plain(&tensor.shape);
            sizes.insert(format!("{} {shape}", tensor.name), tensor.bytes);
        };
        self.parameters.iter().chain(&self.results).for_each(&mut add);
        self.constants.iter().for_each(|(_, constant)| add(constant));
        for step in all(&self.steps) {
            match step {
                Step::Launch(launch) => launch.outputs.iter().for_each(&mut add),
                Step::Host(host) => host.outputs.iter().for_each(&mut add),
                Step::Copy(copy) => add(&copy.to),
                Step::Draw(draw) => add(&draw.output),
                Step::While(step) => step.carried.iter().for_each(&mut add),
                Step::Conditional(step) => step.outputs.iter().for_each(&mut add),
            }
        }
        let mut sizes: Vec<(String, u64)> = sizes.into_iter().collect();
        sizes.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        sizes.truncate(NAMED);
        sizes
    }
}
