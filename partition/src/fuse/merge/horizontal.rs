//! Small kernels of which none needs another, launched together, and sums of products over tiles that are alike.
//!
//! The *height* of a kernel is the greatest number of kernels on a way from it to a result of the program. A kernel that needs another is less high, so those of one height do not need each
//! other, and however many of them become one, no kernel comes to need itself. The updates of all parameters of a training step, each of which is a result, have height 0.

use super::super::group::Group;
use super::{Comparison, Diagnostics, Kernel, Merging, Move, PART_OF_ANOTHER};
use crate::plan::MOST_SUMS;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{ArenaId, InstrId, Op};

/// A kernel that takes longer than so many launches of nothing occupies the device by itself.
const MOST_LAUNCHES: f64 = 4.0;

/// Reductions that are launched together on a device in software, at most: its compiler takes a time that grows with the square of their number. Of 1, 4, 8 and 15 sums of 1,024 elements in one kernel
/// llvmpipe makes machine code in 0.09, 0.42, 1.4 and 4.1 s, SwiftShader of 4 and 15 in 0.25 and 1.2 s; a launch takes microseconds.
const MOST_FOLDS: usize = 4;

impl Merging<'_> {
    /// Launches small loops of one height together, as many as a kernel may hold.
    pub(super) fn launch_together(&mut self) -> Result<(), Diagnostics> {
        let mut levels: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, height) in self.heights().into_iter().enumerate() {
            let state = &self.states[number];
            if state.is_open && state.group.as_ref().is_some_and(|group| !self.is_carried_alone(group)) {
                levels.entry(height).or_default().push(number);
            }
        }
        for level in levels.into_values() {
            // Loops whatever they go over, and sums of products over as many results.
            let mut first: BTreeMap<Option<u64>, usize> = BTreeMap::new();
            for number in level {
                let state = &self.states[number];
                let kind = (state.products > 0).then_some(state.results.to_bits());
                if kind.is_none() && !self.is_small(number)? {
                    continue;
                }
                if let Some(first) = first.get(&kind).copied()
                    && self.states[first].products + self.states[number].products <= MOST_SUMS
                    && self.consider(Move::Horizontal, first, number)?
                {
                    continue;
                }
                first.insert(kind, number);
            }
        }
        Ok(())
    }

    /// Whether a kernel of a loop's round computes one value that the loop carries, of this value alone: perhaps nobody needs it, as the counter of a loop whose rounds are counted.
    fn is_carried_alone(&self, group: &Group) -> bool {
        let instructions = &self.source.instructions;
        let root = &instructions[self.source.root];
        let [result] = group.roots[..] else { return false };
        let places = root.operands.iter().enumerate().filter(|(_, operand)| **operand == result);
        let carried = |input: &InstrId| match instructions[*input].op {
            Op::GetTupleElement { index } => Some(index),
            _ => None,
        };
        let mut read: Vec<Option<i64>> = group.inputs.iter().map(carried).collect();
        read.dedup();
        let [Some(index)] = read[..] else { return false };
        root.op == Op::Tuple && places.map(|(place, _)| i64::try_from(place).ok()).eq([Some(index)])
    }

    /// Whether a kernel is a loop that computes something, and takes no longer than [`MOST_LAUNCHES`].
    fn is_small(&mut self, number: usize) -> Result<bool, Diagnostics> {
        if self.states[number].results == 0.0 {
            return Ok(false);
        }
        let Ok(kernel) = self.kernel_of(number)? else { return Ok(false) };
        let launch = f64::from(self.target.hardware.launch_nanoseconds);
        Ok(kernel.is_loop() && kernel.estimate.nanoseconds <= MOST_LAUNCHES * launch)
    }

    /// The kernel of two of the same height, or why they stay apart.
    pub(super) fn judge_launch(
        &mut self,
        first: usize,
        number: usize,
        compared: &mut Option<Comparison>,
    ) -> Result<Result<(Group, Kernel), String>, Diagnostics> {
        let merged = match (&self.states[first].group, &self.states[number].group) {
            (Some(one), Some(two)) => {
                let roots: BTreeSet<InstrId> = one.roots.iter().chain(&two.roots).copied().collect();
                Group {
                    roots: roots.into_iter().collect(),
                    members: one.members.union(&two.members).copied().collect(),
                    inputs: one.inputs.union(&two.inputs).copied().collect(),
                }
            }
            _ => return Ok(Err(PART_OF_ANOTHER.to_owned())),
        };
        if let Some(reason) = self.exceeds(&merged) {
            return Ok(Err(reason));
        }
        let folds = self.folds(&merged);
        if self.target.is_software() && folds > MOST_FOLDS {
            return Ok(Err(format!("compilers of devices in software take long for {folds} reductions in one kernel")));
        }
        let (Ok(one), Ok(two)) = (self.kernel_of(first)?, self.kernel_of(number)?) else {
            return Ok(Err("one of them is no kernel".to_owned()));
        };
        let products = self.states[first].products + self.states[number].products;
        let kernel = match self.judged(&merged, true)? {
            Ok(kernel) if kernel.is_loop() && products == 0 => kernel,
            Ok(kernel) if kernel.is_product_of(products) && products > 0 => kernel,
            Ok(_) => return Ok(Err("it would be no loop over the elements of its results".to_owned())),
            Err(reason) => return Ok(Err(reason)),
        };
        let comparison = Comparison::of(&[&one.estimate, &two.estimate], &kernel.estimate);
        *compared = Some(comparison);
        if comparison.saved() <= 0.0 {
            return Ok(Err(format!("it saves no time: {}", kernel.estimate)));
        }
        Ok(Ok((merged, kernel)))
    }

    /// How many reductions a kernel holds.
    fn folds(&self, group: &Group) -> usize {
        let ops = group.members.iter().map(|member| &self.source.instructions[*member].op);
        ops.filter(|op| matches!(op, Op::Reduce { .. } | Op::ReduceWindow { .. })).count()
    }

    /// The height of each kernel.
    fn heights(&self) -> Vec<usize> {
        let instructions = &self.source.instructions;
        let mut of_kernel = vec![0; self.states.len()];
        // For each instruction the greatest height of what needs it, itself not counted where it is part of a kernel.
        let mut needed = vec![0; instructions.len()];
        for step in self.order() {
            match step {
                Step::Kernel(number) => {
                    let Some(group) = &self.states[number].group else { continue };
                    let height = group.roots.iter().map(|root| needed[root.index()]).max().unwrap_or(0);
                    of_kernel[number] = height;
                    for input in &group.inputs {
                        needed[input.index()] = needed[input.index()].max(height + 1);
                    }
                }
                Step::Stays(id) => {
                    for operand in instructions[id].operands.iter().chain(&self.before[id.index()]) {
                        needed[operand.index()] = needed[operand.index()].max(needed[id.index()]);
                    }
                }
            }
        }
        of_kernel
    }

    /// Kernels, and what stays, each before what it reads.
    fn order(&self) -> Vec<Step> {
        let instructions = &self.source.instructions;
        let mut members: Vec<bool> = vec![false; instructions.len()];
        for group in self.states.iter().filter_map(|state| state.group.as_ref()) {
            group.members.iter().for_each(|member| members[member.index()] = true);
        }
        let step = |id: InstrId| match self.home.get(&id) {
            Some(number) => Some(Step::Kernel(*number)),
            None => (!members[id.index()]).then_some(Step::Stays(id)),
        };
        let (mut done, mut after): (BTreeSet<Step>, Vec<Step>) = (BTreeSet::new(), Vec::new());
        for id in instructions.ids() {
            let mut open: Vec<Step> = step(id).into_iter().collect();
            while let Some(top) = open.last().copied() {
                if done.contains(&top) {
                    open.pop();
                    continue;
                }
                let waiting = open.len();
                let reads: Vec<InstrId> = match top {
                    Step::Kernel(number) => {
                        let group = self.states[number].group.as_ref();
                        group.map(|group| group.inputs.iter().copied().collect()).unwrap_or_default()
                    }
                    Step::Stays(id) => {
                        instructions[id].operands.iter().chain(&self.before[id.index()]).copied().collect()
                    }
                };
                open.extend(reads.into_iter().filter_map(step).filter(|read| !done.contains(read)));
                if open.len() == waiting {
                    open.pop();
                    done.insert(top);
                    after.push(top);
                }
            }
        }
        after.reverse();
        after
    }
}

/// A kernel, or an instruction that stays as it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Kernel(usize),
    Stays(InstrId),
}
