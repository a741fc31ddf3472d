//! Kernels that become one around sums of products whose rows are folded.

use super::super::group::Group;
use super::{Diagnostics, Merging, Move};
use crate::plan::FusionPlan;
use std::collections::BTreeSet;

/// Kernels that read the results of sums of products, which are tried with these at most.
const MOST_READERS: usize = 16;

impl Merging<'_> {
    /// Computes in the kernels of sums of products what folds rows of their results, and what is computed of these, where that is one kernel and takes less time.
    pub(super) fn fold_rows(&mut self) -> Result<(), Diagnostics> {
        for first in (0..self.states.len()).rev() {
            let (mut number, mut tried) = (first, BTreeSet::new());
            while let Some(reader) = self.next_reader(number, &tried) {
                tried.insert(reader);
                if self.consider(Move::Rows, reader, number)? {
                    // What was needed in between may be part of it now.
                    number = reader;
                    tried.clear();
                }
                if tried.len() >= MOST_READERS {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The nearest kernel that reads a result of a kernel with sums of products, where one of the two folds something.
    fn next_reader(&self, number: usize, tried: &BTreeSet<usize>) -> Option<usize> {
        let state = &self.states[number];
        let group = state.group.as_ref().filter(|_| state.is_open && state.products > 0)?;
        let readers: BTreeSet<usize> =
            group.roots.iter().filter_map(|root| self.readers.get(root)).flatten().copied().collect();
        readers.into_iter().find(|reader| {
            let other = &self.states[*reader];
            let folds = other.reduces || state.reduces;
            !tried.contains(reader) && other.is_open && other.products == 0 && folds && other.space <= state.space
        })
    }

    /// Why a group is no kernel around sums of products whose rows it folds, if it is none.
    pub(super) fn why_no_rows(&self, group: &Group) -> Result<Option<String>, Diagnostics> {
        let source = (self.source, &self.splats[..]);
        let computation = group.computation("merged".to_owned(), source, None, &mut |callee| callee);
        Ok(FusionPlan::of_rows_of_sums(self.module, &computation, self.target)?.err())
    }
}
