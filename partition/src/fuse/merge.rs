//! Kernels that become one: a producer and what reads it, and kernels that read the same.
//!
//! The walk from users to producers ([`greedy`](super::greedy)) gives each kernel one root. Here pairs of kernels become one with several results where that takes less time by the
//! model of [`Estimate`](crate::Estimate): a reduction with what is computed of its results for each element of its rows, a value that is needed as a result with what is computed of it, and kernels over the same elements that read the same
//! values; sums of products with what is computed of each, with what folds their rows ([`rows`]), and with each other where their tiles are alike. What is moved into one kernel is never computed more often than before. At last small kernels of which none needs another are launched together ([`horizontal`]).

mod attention;
mod horizontal;
mod kernel;
mod rows;
mod search;

use super::candidate::{Candidate, Comparison, Move};
use super::given::{feasible, name_in};
use super::group::Group;
use super::scans::LongScans;
use super::two_passes::LongReductions;
use super::{Decision, Verdict, effects};
use crate::Target;
use crate::access::element_count;
use crate::arenas::Bindings;
use crate::cost::Budget;
use crate::legal::{Support, supports};
use crate::plan::{Emitter, MOST_SUMS};
use crate::scattered::written_in_place;
use kernel::Kernel;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, Computation, ComputationId, InstrId, Module, Op, Scalar};

/// Kernels around sums of products that read what another one reads, which are tried with this one at most.
const MOST_NEAR: usize = 16;

/// Why nothing is done with a kernel that is none any more.
const PART_OF_ANOTHER: &str = "one of them is part of another";

/// Merges the kernels of a program where that saves time.
///
/// # Errors
/// Those of [`FusionPlan::new`].
pub(super) fn merge(
    module: &Module,
    program: ComputationId,
    groups: Vec<Group>,
    (target, budget): (&Target, &Budget),
    (decisions, candidates): (&mut Vec<Decision>, &mut Vec<Candidate>),
) -> Result<Vec<Group>, Diagnostics> {
    let source = &module.computations[program];
    let supports = supports(module, source, target);
    let before = effects::predecessors(module, program);
    let mut merging = Merging {
        module,
        program,
        source,
        target,
        budget,
        splats: written_in_place(module, source),
        bindings: Bindings::of(module, program, target),
        users: users(source, &before),
        before,
        read_whole: read_whole(source, &supports),
        folds: (LongReductions::new(module, target), LongScans::new(module, target)),
        home: BTreeMap::new(),
        readers: BTreeMap::new(),
        states: Vec::with_capacity(groups.len()),
        decided: decisions.iter().enumerate().map(|(place, own)| (own.instruction.clone(), place)).collect(),
        decisions,
        candidates,
    };
    for group in groups {
        merging.push(group, &supports);
    }
    // A kernel of several results may have some before values that others are computed of.
    for number in 0..merging.states.len() {
        merging.tell_readers(number);
    }
    merging.run()?;
    merging.attend()?;
    merging.fold_rows()?;
    merging.launch_together()?;
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

/// The instructions that read each value, or have side effects just after it.
fn users(source: &Computation, before: &[Option<InstrId>]) -> Vec<Vec<InstrId>> {
    let mut users = vec![Vec::new(); source.instructions.len()];
    for (id, instruction) in source.instructions.iter() {
        for read in instruction.operands.iter().chain(&before[id.index()]) {
            users[read.index()].push(id);
        }
    }
    users
}

/// A kernel as it stands.
struct State {
    /// `None` once it is part of another.
    group: Option<Group>,
    /// Elements that it goes over: those of its results, or those that it reduces.
    space: f64,
    /// Elements of its results.
    results: f64,
    /// Whether it may become part of another at all.
    is_open: bool,
    /// How many sums of products it has: kernels around these take in what goes over their results element by element.
    products: usize,
    /// Whether it folds anything.
    reduces: bool,
    /// `None` until somebody asks.
    kernel: Option<Kernel>,
    /// The last instruction that it computes, or that a kernel computes whose results it needs, by way of others too.
    latest: Option<InstrId>,
}

struct Merging<'m> {
    module: &'m Module,
    program: ComputationId,
    source: &'m Computation,
    target: &'m Target,
    budget: &'m Budget,
    splats: Vec<Option<Scalar>>,
    bindings: Bindings<'m>,
    /// What has side effects just before an instruction that has some.
    before: Vec<Option<InstrId>>,
    /// The instructions that read each value, or have side effects just after it.
    users: Vec<Vec<InstrId>>,
    read_whole: Vec<bool>,
    folds: (LongReductions<'m>, LongScans<'m>),
    /// The kernel that writes a value, and those that read one.
    home: BTreeMap<InstrId, usize>,
    readers: BTreeMap<InstrId, BTreeSet<usize>>,
    states: Vec<State>,
    decisions: &'m mut Vec<Decision>,
    candidates: &'m mut Vec<Candidate>,
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
            let op = &self.source.instructions[*id].op;
            matches!(op, Op::ReduceWindow { .. } | Op::Map { .. } | Op::Scatter { .. })
        };
        let is_plain = |id: &InstrId| supports[id.index()] == Support::Compiled && !is_loop(id);
        let is_open = group.roots.iter().all(is_array) && group.members.iter().all(is_plain);
        let count = |is_meant: fn(&Op) -> bool| {
            group.members.iter().filter(|id| is_meant(&self.source.instructions[**id].op)).count()
        };
        let products = count(|op| matches!(op, Op::Dot { .. } | Op::Convolution { .. }));
        let reduces = count(|op| matches!(op, Op::Reduce { .. })) > 0;
        let (space, results) = (self.space(&group), self.results(&group));
        let latest = group.members.last().copied();
        self.states.push(State {
            group: Some(group),
            space,
            results,
            is_open,
            products,
            reduces,
            kernel: None,
            latest,
        });
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

    /// Elements of the results of a kernel, of the largest.
    fn results(&self, group: &Group) -> f64 {
        let of = |root: &InstrId| element_count(&self.source.instructions[*root].shape);
        group.roots.iter().map(of).fold(0.0, f64::max)
    }

    fn run(&mut self) -> Result<(), Diagnostics> {
        // A kernel that reads what another writes saves more with it than with one that reads the same: those come first.
        for kinds in [&[Move::Producer][..], &[Move::Producer, Move::Sibling]] {
            // From users to producers, as those have been fused that were no results.
            for number in (0..self.states.len()).rev() {
                let mut tried: BTreeSet<usize> = BTreeSet::new();
                while let Some((kind, other)) = self.next_candidate(number, kinds, &tried) {
                    tried.insert(other);
                    if self.consider(kind, number, other)? {
                        // What was needed in between may be part of it now.
                        tried.clear();
                    }
                }
            }
        }
        Ok(())
    }

    /// A kernel over as many elements that this one reads, or that reads what this one reads.
    fn next_candidate(&self, number: usize, kinds: &[Move], tried: &BTreeSet<usize>) -> Option<(Move, usize)> {
        let state = &self.states[number];
        let group = state.group.as_ref().filter(|_| state.is_open)?;
        let is_like = |(kind, other): &(Move, usize)| {
            let other_state = &self.states[*other];
            // What is computed of the results of a reduction has as many elements as these.
            let is_of_results = *kind == Move::Producer && other_state.results == state.space;
            let fits = other_state.is_open && other_state.group.is_some();
            // What is folded goes over its elements in passes, and a sum of products over its results once.
            let is_apart = state.products > 0 && other_state.reduces || other_state.products > 0 && state.reduces;
            fits && !is_apart
                && kinds.contains(kind)
                && state.products + other_state.products <= MOST_SUMS
                && (other_state.space == state.space || is_of_results)
                && *other != number
                && !tried.contains(other)
        };
        let producers = group.inputs.iter().filter_map(|input| self.home.get(input)).map(|it| (Move::Producer, *it));
        let same = |input: &InstrId| element_count(&self.source.instructions[*input].shape) == state.space;
        let siblings = group.inputs.iter().filter(|input| same(input)).filter_map(|input| {
            // The nearest before this one: of many that read a value each finds the next.
            self.readers.get(input)?.range(..number).next_back()
        });
        // Sums of products of which all read one matrix, those that are near.
        let products = group.inputs.iter().filter(|_| state.products > 0).flat_map(|input| {
            let readers = self.readers.get(input).into_iter().flat_map(|readers| readers.range(..number).rev());
            readers.take(MOST_NEAR).filter(|other| self.states[**other].products > 0)
        });
        producers.chain(siblings.chain(products).map(|it| (Move::Sibling, *it))).find(is_like)
    }

    /// Makes the two one, if that is possible and saves time; whether it did.
    fn consider(&mut self, kind: Move, number: usize, other: usize) -> Result<bool, Diagnostics> {
        let mut candidate = Candidate {
            kind,
            kernels: [number, other].into_iter().filter_map(|number| self.name(number)).collect(),
            nanoseconds: None,
            is_taken: false,
            reason: String::new(),
        };
        let judged = match kind {
            Move::Horizontal => self.judge_launch(number, other, &mut candidate.nanoseconds)?,
            _ => self.judge(kind, (number, other), &mut candidate.nanoseconds)?,
        };
        match judged {
            Ok((merged, kernel)) => {
                candidate.is_taken = true;
                let saved = candidate.nanoseconds.map_or(0.0, |compared| compared.saved());
                candidate.reason = format!("{}; it saves {saved:.0} ns", kernel.estimate);
                self.apply(merged, (number, &[number, other]), kernel, saved);
            }
            Err(reason) => candidate.reason = reason,
        }
        let is_taken = candidate.is_taken;
        self.candidates.push(candidate);
        Ok(is_taken)
    }

    /// The kernel of both, or why they stay apart.
    fn judge(
        &mut self,
        kind: Move,
        (number, other): (usize, usize),
        compared: &mut Option<Comparison>,
    ) -> Result<Result<(Group, Kernel), String>, Diagnostics> {
        if let Some(between) = self.needed_between(number, other) {
            return Ok(Err(between));
        }
        let merged = match (&self.states[number].group, &self.states[other].group) {
            (Some(one), Some(two)) => self.united(one, two, (number, other)),
            _ => return Ok(Err(PART_OF_ANOTHER.to_owned())),
        };
        if let Some(reason) = self.exceeds(&merged) {
            return Ok(Err(reason));
        }
        if kind == Move::Rows
            && let Some(reason) = self.why_no_rows(&merged)?
        {
            return Ok(Err(reason));
        }
        let before = match self.kernel_of(number)? {
            Ok(kernel) => kernel,
            Err(reason) => return Ok(Err(reason)),
        };
        let of_other = match self.kernel_of(other)? {
            Ok(kernel) => kernel,
            Err(reason) => return Ok(Err(reason)),
        };
        let after = match self.kernel_of_both((&before, &of_other), (number, other), &merged)? {
            Ok(kernel) => kernel,
            Err(reason) => return Ok(Err(reason)),
        };
        let comparison = Comparison::of(&[&before.estimate, &of_other.estimate], &after.estimate);
        *compared = Some(comparison);
        if !before.is_product_of(self.states[number].products) || !of_other.is_product_of(self.states[other].products) {
            return Ok(Err("its sums of products go through no tiles".to_owned()));
        }
        if kind == Move::Rows && !after.folds_products() {
            return Ok(Err("it would be shaped around something else".to_owned()));
        }
        if !after.is_at_least(&before) || !after.is_at_least(&of_other) {
            return Ok(Err("it would not be shaped around what one of them is shaped around".to_owned()));
        }
        if after.computes_more_than(&before, &of_other) {
            return Ok(Err(format!("something would be computed more often: {}", after.estimate)));
        }
        if comparison.saved() <= 0.0 {
            return Ok(Err(format!("it saves no time: {}", after.estimate)));
        }
        Ok(Ok((merged, after)))
    }

    /// Why a group is more than one kernel may be, if it is.
    fn exceeds(&self, group: &Group) -> Option<String> {
        let (count, most) = (group.members.len(), self.budget.instructions_per_kernel);
        if count > most {
            return Some(format!("it would have {count} instructions, more than {most}"));
        }
        let buffers = self.bindings(group);
        let limit = self.target.max_storage_buffers;
        let is_over = buffers > limit as usize;
        is_over.then(|| format!("it would bind {buffers} buffers and the target allows {limit}"))
    }

    /// How many buffers a group binds, of which others may be parts.
    fn bindings(&self, group: &Group) -> usize {
        let is_part = |reader: &usize| {
            let own = self.states[*reader].group.as_ref();
            own.is_none_or(|own| own.roots.iter().all(|root| group.members.contains(root)))
        };
        let is_read = |root: InstrId| self.readers.get(&root).into_iter().flatten().any(|reader| !is_part(reader));
        self.bindings.count(&group.inputs, &group.roots, &group.members, is_read)
    }

    /// The kernel of two groups, from what is known of each where that is enough.
    fn kernel_of_both(
        &mut self,
        kernels: (&Kernel, &Kernel),
        (number, other): (usize, usize),
        merged: &Group,
    ) -> Result<Result<Kernel, String>, Diagnostics> {
        if let (Some(one), Some(two)) = (&self.states[number].group, &self.states[other].group)
            && let Some(kernel) = Kernel::joined(kernels, (one, two, merged), self.source, self.target)
        {
            return Ok(Ok(kernel));
        }
        self.judged(merged, false)
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

    fn kernel_of(&mut self, number: usize) -> Result<Result<Kernel, String>, Diagnostics> {
        let state = &self.states[number];
        if let Some(kernel) = &state.kernel {
            return Ok(Ok(kernel.clone()));
        }
        let Some(group) = state.group.clone() else { return Ok(Err(PART_OF_ANOTHER.to_owned())) };
        let found = self.judged(&group, false)?;
        self.states[number].kernel = found.as_ref().ok().cloned();
        Ok(found)
    }

    /// A kernel by its plan; or why there is none, or why it is shaped in a way that is not looked at here. Its outputs may be of several shapes where it is launched for all of them.
    fn judged(&mut self, group: &Group, is_launched_together: bool) -> Result<Result<Kernel, String>, Diagnostics> {
        if group.roots.is_empty() {
            return Ok(Err("nobody reads its results".to_owned()));
        }
        let source = (self.source, &self.splats[..]);
        let computation = group.computation("merged".to_owned(), source, None, &mut |callee| callee);
        let count = self.bindings(group);
        let plan = match feasible(self.module, &mut self.folds, &computation, count, self.target, self.budget)? {
            Ok(plan) => plan,
            Err(reason) => return Ok(Err(reason)),
        };
        Ok(match plan.emitter() {
            Emitter::Loop(_) if plan.outputs().len() > 1 && !is_launched_together => {
                Err("its results would be of different elements".to_owned())
            }
            Emitter::UpdateSlice(_) | Emitter::Scatter(_) | Emitter::Applied => {
                Err("it updates a part of its result".to_owned())
            }
            // What a scan can be fused with is decided where it is read.
            _ if plan.passes().iter().any(|pass| !pass.scans.is_empty()) => Err("it scans".to_owned()),
            _ => Ok(Kernel::of((self.module, self.source, group), &computation, &plan, self.target)),
        })
    }

    /// What a kernel is called: its first result.
    fn name(&self, number: usize) -> Option<String> {
        let root = self.states[number].group.as_ref()?.roots.first()?;
        Some(name_in(self.module, self.program, *root))
    }

    /// Has a kernel stand for others, of which it is one.
    fn apply(&mut self, merged: Group, (number, parts): (usize, &[usize]), kernel: Kernel, saved: f64) {
        let names = |roots: &[InstrId]| -> Vec<String> {
            roots.iter().map(|root| name_in(self.module, self.program, *root)).collect()
        };
        let roots = names(&merged.roots);
        for part in parts {
            let Some(group) = self.states[*part].group.take() else { continue };
            for input in &group.inputs {
                if let Some(readers) = self.readers.get_mut(input) {
                    readers.remove(part);
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
        let all = || parts.iter().map(|part| &self.states[*part]);
        let space = all().map(|state| state.space).fold(0.0, f64::max);
        let (products, reduces) = (all().map(|state| state.products).sum(), all().any(|state| state.reduces));
        let latest = all().filter_map(|state| state.latest).max();
        let own = &mut self.states[number];
        (own.space, own.products, own.reduces, own.latest) = (space, products, reduces, latest);
        self.states[number].results = self.results(&merged);
        self.states[number].group = Some(merged);
        self.states[number].kernel = Some(kernel);
        self.tell_readers(number);
    }
}
