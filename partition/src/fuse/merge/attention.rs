//! Kernels that become one around attention: sums of products, what folds rows of these, and sums of products of what comes out.

use super::super::candidate::Candidate;
use super::super::group::Group;
use super::{Comparison, Diagnostics, Kernel, Merging, Move};
use crate::plan::FusionPlan;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ArenaId, InstrId};

/// Kernels between two sums of products that are looked at, at most.
const MOST_BETWEEN: usize = 8;

impl Merging<'_> {
    /// Makes one kernel of what lies between two sums of products, and of these, where that is attention and takes less time.
    pub(super) fn attend(&mut self) -> Result<(), Diagnostics> {
        for number in (0..self.states.len()).rev() {
            let state = &self.states[number];
            if !state.is_open || state.products != 1 || state.group.is_none() {
                continue;
            }
            let Some(parts) = self.around_rows(number) else { continue };
            let mut candidate = Candidate {
                kind: Move::Attention,
                kernels: parts.iter().rev().filter_map(|part| self.name(*part)).collect(),
                nanoseconds: None,
                is_taken: false,
                reason: String::new(),
            };
            match self.attended(number, &parts, &mut candidate.nanoseconds)? {
                Ok((merged, kernel)) => {
                    candidate.is_taken = true;
                    let saved = candidate.nanoseconds.map_or(0.0, |compared| compared.saved());
                    candidate.reason = format!("{}; it saves {saved:.0} ns", kernel.estimate);
                    self.apply(merged, (number, &parts), kernel, saved);
                    self.states[number].is_open = false;
                }
                Err(reason) => candidate.reason = reason,
            }
            self.candidates.push(candidate);
        }
        Ok(())
    }

    /// A kernel with one sum of products, what folds rows that it reads, and the sum of products that these are of; ascending. `None` where there is nothing of the kind.
    fn around_rows(&self, number: usize) -> Option<Vec<usize>> {
        // For each kernel that is read without another sum of products in between, those that read it.
        let mut readers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut open = vec![number];
        while let Some(reader) = open.pop() {
            let group = self.states[reader].group.as_ref()?;
            for home in group.inputs.iter().filter_map(|input| self.home.get(input)).copied() {
                let is_new = !readers.contains_key(&home);
                readers.entry(home).or_default().insert(reader);
                if is_new && self.states[home].products == 0 {
                    open.push(home);
                }
            }
            if readers.len() > MOST_BETWEEN {
                return None;
            }
        }
        let reached = |from: usize| {
            let (mut found, mut open) = (BTreeSet::from([from]), vec![from]);
            while let Some(part) = open.pop() {
                for reader in readers.get(&part).into_iter().flatten() {
                    if found.insert(*reader) {
                        open.push(*reader);
                    }
                }
            }
            found
        };
        let first =
            readers.keys().copied().filter(|part| self.states[*part].products == 1 && self.states[*part].is_open);
        let folds = |parts: &BTreeSet<usize>| parts.iter().any(|part| self.states[*part].reduces);
        first.map(reached).find(folds).map(|parts| parts.into_iter().collect())
    }

    /// The kernel of all of these, or why they stay apart.
    fn attended(
        &mut self,
        number: usize,
        parts: &[usize],
        compared: &mut Option<Comparison>,
    ) -> Result<Result<(Group, Kernel), String>, Diagnostics> {
        let groups: Vec<Group> = parts.iter().filter_map(|part| self.states[*part].group.clone()).collect();
        let members: BTreeSet<InstrId> = groups.iter().flat_map(|group| &group.members).copied().collect();
        let inputs = groups.iter().flat_map(|group| &group.inputs).copied();
        let inputs = inputs.filter(|input| !members.contains(input)).collect();
        let own: Vec<InstrId> = self.states[number].group.iter().flat_map(|group| &group.roots).copied().collect();
        for root in groups.iter().flat_map(|group| &group.roots).filter(|root| !own.contains(root)) {
            let mut readers = self.readers.get(root).into_iter().flatten();
            if self.read_whole[root.index()] || readers.any(|reader| !parts.contains(reader)) {
                let name = &self.source.instructions[*root].name;
                return Ok(Err(format!("{name} is needed elsewhere, and attention in one kernel writes no scores")));
            }
        }
        let merged = Group { roots: own, members, inputs };
        if let Some(reason) = self.exceeds(&merged) {
            return Ok(Err(reason));
        }
        let mut before = Vec::with_capacity(parts.len());
        for part in parts {
            match self.kernel_of(*part)? {
                Ok(kernel) => before.push(kernel),
                Err(reason) => return Ok(Err(reason)),
            }
        }
        let source = (self.source, &self.splats[..]);
        let computation = merged.computation("merged".to_owned(), source, None, &mut |callee| callee);
        let plan = match FusionPlan::of_attention(self.module, &computation, self.target)? {
            Ok(plan) => plan,
            Err(reason) => return Ok(Err(reason)),
        };
        let kernel = Kernel::of((self.module, self.source, &merged), &computation, &plan, self.target);
        let estimates: Vec<_> = before.iter().map(|kernel| &kernel.estimate).collect();
        let comparison = Comparison::of(&estimates, &kernel.estimate);
        *compared = Some(comparison);
        if comparison.saved() <= 0.0 {
            return Ok(Err(format!("it saves no time: {}", kernel.estimate)));
        }
        Ok(Ok((merged, kernel)))
    }
}
