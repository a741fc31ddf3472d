//! Kernels that become one: a producer and what reads it, and kernels that read the same.
//!
//! The walk from users to producers ([`greedy`](super::greedy)) gives each kernel one root. Here pairs of kernels become one with several results where that takes less time, by their
//! [`Cost`]: a reduction with what is computed of its results for each element of its rows, a value that is needed as a result with what is computed of it, and kernels over the same elements that read the same
//! values. What is moved into one kernel is never computed more often than before.

mod cost;

use super::given::{name_in, objection};
use super::group::Group;
use super::scans::LongScans;
use super::two_passes::LongReductions;
use super::{Decision, Verdict};
use crate::Target;
use crate::access::element_count;
use crate::cost::Budget;
use crate::legal::{Support, supports};
use crate::plan::{Emitter, FusionPlan};
use cost::Cost;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, Computation, ComputationId, InstrId, Module, Op, Shape};

/// Kernels that are looked at to find out whether one is needed for another, at most: what is farther apart stays apart.
const MAX_SEARCH: usize = 256;

/// Merges the kernels of a program where that saves time.
///
/// # Errors
/// Those of [`FusionPlan::new`].
pub(super) fn merge(
    module: &Module,
    program: ComputationId,
    groups: Vec<Group>,
    (target, budget): (&Target, &Budget),
    decisions: &mut Vec<Decision>,
) -> Result<Vec<Group>, Diagnostics> {
    let source = &module.computations[program];
    let supports = supports(module, source, target);
    let mut merging = Merging {
        module,
        program,
        source,
        target,
        budget,
        read_whole: read_whole(source, &supports),
        folds: (LongReductions::new(module, target), LongScans::new(module, target)),
        home: BTreeMap::new(),
        readers: BTreeMap::new(),
        states: Vec::with_capacity(groups.len()),
        decided: decisions.iter().enumerate().map(|(place, own)| (own.instruction.clone(), place)).collect(),
        decisions,
    };
    for group in groups {
        merging.push(group, &supports);
    }
    merging.run()?;
    let mut merged: Vec<Group> = merging.states.into_iter().filter_map(|state| state.group).collect();
    merged.sort_by_key(|group| group.roots.first().copied());
    Ok(merged)
}

/// The values that outputs and what stays in the program read.
fn read_whole(source: &Computation, supports: &[Support]) -> Vec<bool> {
    let mut read = vec![false; source.instructions.len()];
    let root = &source.instructions[source.root];
    read[source.root.index()] = true;
    if root.op == Op::Tuple {
        root.operands.iter().for_each(|operand| read[operand.index()] = true);
    }
    for (id, instruction) in source.instructions.iter() {
        if matches!(supports[id.index()], Support::Stays(_)) {
            instruction.operands.iter().for_each(|operand| read[operand.index()] = true);
        }
    }
    read
}

/// A kernel as it stands.
struct State {
    /// `None` once it is part of another.
    group: Option<Group>,
    /// Elements that it goes over: those of its results, or those that it reduces.
    space: f64,
    /// Whether it may become part of another at all.
    is_open: bool,
    /// `None` until somebody asks.
    cost: Option<Cost>,
}

struct Merging<'m> {
    module: &'m Module,
    program: ComputationId,
    source: &'m Computation,
    target: &'m Target,
    budget: &'m Budget,
    read_whole: Vec<bool>,
    folds: (LongReductions<'m>, LongScans<'m>),
    /// The kernel that writes a value, and those that read one.
    home: BTreeMap<InstrId, usize>,
    readers: BTreeMap<InstrId, BTreeSet<usize>>,
    states: Vec<State>,
    decisions: &'m mut Vec<Decision>,
    /// Where the decision about an instruction is.
    decided: BTreeMap<String, usize>,
}

impl Merging<'_> {
    fn push(&mut self, group: Group, supports: &[Support]) {
        let number = self.states.len();
        group.roots.iter().for_each(|root| {
            self.home.insert(*root, number);
        });
        for input in &group.inputs {
            self.readers.entry(*input).or_default().insert(number);
        }
        let is_array = |id: &InstrId| {
            let instruction = &self.source.instructions[*id];
            let array = instruction.shape.as_array();
            array.is_some_and(|array| array.dynamic.is_empty()) && !matches!(instruction.op, Op::DynamicUpdateSlice)
        };
        // A loop that is no reduction of rows would be made again in each pass over them.
        let is_loop = |id: &InstrId| {
            matches!(
                self.source.instructions[*id].op,
                Op::Dot { .. } | Op::Convolution { .. } | Op::ReduceWindow { .. } | Op::Map { .. }
            )
        };
        let is_plain = |id: &InstrId| supports[id.index()] == Support::Compiled && !is_loop(id);
        let is_open = group.roots.iter().all(is_array) && group.members.iter().all(is_plain);
        let space = self.space(&group);
        self.states.push(State { group: Some(group), space, is_open, cost: None });
    }

    /// Elements of the results of a kernel, or of what these are reduced of.
    fn space(&self, group: &Group) -> f64 {
        let of = |root: &InstrId| {
            let instruction = &self.source.instructions[*root];
            match (&instruction.op, instruction.operands.first()) {
                (Op::Reduce { .. }, Some(operand)) => element_count(&self.source.instructions[*operand].shape),
                _ => element_count(&instruction.shape),
            }
        };
        group.roots.iter().map(of).fold(0.0, f64::max)
    }

    fn run(&mut self) -> Result<(), Diagnostics> {
        // From users to producers, as those have been fused that were no results.
        for number in (0..self.states.len()).rev() {
            let mut tried: BTreeSet<usize> = BTreeSet::new();
            while let Some(other) = self.next_candidate(number, &tried) {
                tried.insert(other);
                if self.consider(number, other)? {
                    // What was needed in between may be part of it now.
                    tried.clear();
                }
            }
        }
        Ok(())
    }

    /// A kernel over as many elements that this one reads, or that reads what this one reads.
    fn next_candidate(&self, number: usize, tried: &BTreeSet<usize>) -> Option<usize> {
        let state = &self.states[number];
        let group = state.group.as_ref().filter(|_| state.is_open)?;
        let is_like = |other: &usize| {
            let other_state = &self.states[*other];
            let fits = other_state.is_open && other_state.space == state.space && other_state.group.is_some();
            fits && *other != number && !tried.contains(other)
        };
        let producers = group.inputs.iter().filter_map(|input| self.home.get(input)).copied();
        let same = |input: &InstrId| element_count(&self.source.instructions[*input].shape) == state.space;
        let siblings = group.inputs.iter().filter(|input| same(input)).filter_map(|input| {
            // The nearest before this one: of many that read a value each finds the next.
            self.readers.get(input)?.range(..number).next_back()
        });
        producers.chain(siblings.copied()).find(is_like)
    }

    /// Makes the two one, if that is possible and saves time; whether it did.
    fn consider(&mut self, number: usize, other: usize) -> Result<bool, Diagnostics> {
        if self.is_needed_between(number, other) {
            return Ok(false);
        }
        let (Some(one), Some(two)) = (&self.states[number].group, &self.states[other].group) else { return Ok(false) };
        let merged = self.united(one, two, (number, other));
        if merged.members.len() > self.budget.instructions_per_kernel {
            return Ok(false);
        }
        let Some(before) = self.cost_of(number)? else { return Ok(false) };
        let Some(of_other) = self.cost_of(other)? else { return Ok(false) };
        let Some(after) = self.judged(&merged)? else { return Ok(false) };
        let saved =
            before.nanoseconds(self.target) + of_other.nanoseconds(self.target) - after.nanoseconds(self.target);
        let keeps_shape = after.is_at_least(&before) && after.is_at_least(&of_other);
        if !keeps_shape || saved <= 0.0 || after.computes_more_than(&before, &of_other) {
            return Ok(false);
        }
        self.apply(merged, (number, other), after, saved);
        Ok(true)
    }

    /// Whether a kernel needs another by way of a third, either of the two the other.
    fn is_needed_between(&self, one: usize, two: usize) -> bool {
        [(one, two), (two, one)].into_iter().any(|(user, producer)| {
            let Some(first) = self.states[producer].group.as_ref().and_then(|group| group.roots.first()) else {
                return true;
            };
            let mut seen: BTreeSet<usize> = BTreeSet::from([user]);
            let mut open = vec![user];
            while let Some(number) = open.pop() {
                let Some(group) = &self.states[number].group else { continue };
                for input in &group.inputs {
                    let Some(next) = self.through(*input) else { return true };
                    let is_direct = number == user && self.home.contains_key(input);
                    for home in next {
                        if home == producer && !is_direct {
                            return true;
                        }
                        // What stands before the producer's first result is not computed of it.
                        let last = self.states[home].group.as_ref().and_then(|group| group.members.last());
                        if home != producer && last.is_some_and(|last| last > first) && seen.insert(home) {
                            open.push(home);
                        }
                    }
                }
                if seen.len() > MAX_SEARCH {
                    return true;
                }
            }
            false
        })
    }

    /// The kernels that a value comes from: its own, or those of what is read for it where it stays as it is; `None` where that is too much to look at.
    fn through(&self, value: InstrId) -> Option<Vec<usize>> {
        let (mut found, mut open, mut seen) = (Vec::new(), vec![value], BTreeSet::new());
        while let Some(id) = open.pop() {
            match self.home.get(&id) {
                Some(home) => found.push(*home),
                None if seen.insert(id) => open.extend(&self.source.instructions[id].operands),
                None => {}
            }
            if seen.len() > MAX_SEARCH {
                return None;
            }
        }
        Some(found)
    }

    /// The kernel of both. It writes what anybody else reads.
    fn united(&self, one: &Group, two: &Group, pair: (usize, usize)) -> Group {
        let members: BTreeSet<InstrId> = one.members.union(&two.members).copied().collect();
        let is_read = |root: &&InstrId| {
            let mut readers = self.readers.get(*root).into_iter().flatten();
            self.read_whole[root.index()] || readers.any(|reader| *reader != pair.0 && *reader != pair.1)
        };
        let mut roots: Vec<InstrId> = one.roots.iter().chain(&two.roots).filter(is_read).copied().collect();
        roots.sort_unstable();
        let inputs = one.inputs.union(&two.inputs).copied();
        Group { inputs: inputs.filter(|input| !members.contains(input)).collect(), members, roots }
    }

    fn cost_of(&mut self, number: usize) -> Result<Option<Cost>, Diagnostics> {
        if self.states[number].cost.is_none()
            && let Some(group) = self.states[number].group.clone()
        {
            self.states[number].cost = self.judged(&group)?;
        }
        Ok(self.states[number].cost.clone())
    }

    /// What a kernel costs; `None` for one that cannot be, or that is shaped in a way that is not looked at here.
    fn judged(&mut self, group: &Group) -> Result<Option<Cost>, Diagnostics> {
        if group.roots.is_empty() {
            return Ok(None);
        }
        let computation = group.computation("merged".to_owned(), self.source, None, &mut |callee| callee);
        let count = group.inputs.len();
        if objection(self.module, &mut self.folds, &computation, count, self.target, self.budget)?.is_some() {
            return Ok(None);
        }
        let plan = FusionPlan::new(self.module, &computation, self.target)?;
        Ok(match plan.emitter() {
            // Results of one launch are of the same elements.
            Emitter::Loop(_) if plan.outputs().len() > 1 => None,
            Emitter::UpdateSlice(_) | Emitter::Applied => None,
            // What a scan can be fused with is decided where it is read.
            _ if plan.passes().iter().any(|pass| !pass.scans.is_empty()) => None,
            _ => Some(Cost::of(&computation, &plan)),
        })
    }

    fn apply(&mut self, merged: Group, (number, other): (usize, usize), cost: Cost, saved: f64) {
        let names = |roots: &[InstrId]| -> Vec<String> {
            roots.iter().map(|root| name_in(self.module, self.program, *root)).collect()
        };
        let roots = names(&merged.roots);
        for part in [number, other] {
            let Some(group) = self.states[part].group.take() else { continue };
            for input in &group.inputs {
                if let Some(readers) = self.readers.get_mut(input) {
                    readers.remove(&part);
                }
            }
            for (root, name) in group.roots.iter().zip(names(&group.roots)) {
                self.home.remove(root);
                let Some(decision) = self.decided.get(&name).and_then(|place| self.decisions.get_mut(*place)) else {
                    continue;
                };
                let others: Vec<&str> = roots.iter().filter(|other| **other != name).map(String::as_str).collect();
                let with = if others.is_empty() { String::new() } else { format!(" with {}", others.join(", ")) };
                decision.reason = format!("in one kernel{with}: that saves {saved:.0} ns");
                if !merged.roots.contains(root) {
                    decision.verdict = Verdict::Fused;
                }
            }
        }
        merged.roots.iter().for_each(|root| {
            self.home.insert(*root, number);
        });
        for input in &merged.inputs {
            self.readers.entry(*input).or_default().insert(number);
        }
        self.states[number].group = Some(merged);
        self.states[number].cost = Some(cost);
    }
}

/// Bytes of the arrays of a shape.
fn bytes(shape: &Shape) -> u64 {
    let leaves = shape.leaves();
    let each = leaves.iter().filter_map(|leaf| crate::form::Form::tensor_bytes(leaf.as_array()?));
    each.fold(0, u64::saturating_add)
}
