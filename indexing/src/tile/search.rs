//! The search for the cases of a tile, in which every result is an arithmetic progression.

use std::collections::BTreeSet;

use weft_affine::{Canonical, Constraint, Expr, Interval, Ranges, Simplifier, Var};

use super::join::{Joined, Progression};
use super::refusal::TileRefusal;
use super::runs::{Run, Search};
use super::symbolic::{TileAxis, TileCase};
use crate::IndexingMap;

/// Searches looked at before the rest is given up.
const MAX_VISITED: usize = 300;
/// Cases of one tile.
const MAX_CASES: usize = 48;
/// Pairs of runs that are merged on the way to one case.
const MAX_MERGES: u32 = 3;

/// What a step found.
enum Step {
    Case(Vec<TileAxis>),
    /// Narrower searches that together hold what this one does; where there are none, the reason.
    Ways(Vec<Search>, TileRefusal),
}

/// The cases of a map, and whether that is all of them.
pub(super) fn cases(map: &IndexingMap) -> Result<(Vec<TileCase>, bool), TileRefusal> {
    let start = Search::of(map)?;
    let general = start.parameters.clone();
    let facts = start.facts.clone();
    let mut waiting = vec![start];
    let mut found: Vec<TileCase> = Vec::new();
    let mut refusal = None;
    let mut visited = 0;
    let mut seen = BTreeSet::new();
    while let Some(search) = waiting.pop() {
        visited += 1;
        if visited > MAX_VISITED || found.len() >= MAX_CASES {
            let none = found.is_empty();
            return if none { Err(TileRefusal::TooLarge) } else { Ok((found, false)) };
        }
        let mut search = search;
        if let Err(reason) = search.settle() {
            refusal = refusal.or(Some(reason));
            continue;
        }
        // The same choices in another order lead to the same place.
        if !seen.insert(search.signature()) {
            continue;
        }
        match search.step() {
            Ok(Step::Case(axes)) => {
                if let Some(conditions) = plain_conditions(&search.conditions, &general, &facts) {
                    add(&mut found, TileCase { conditions, axes }, &general, &facts);
                }
            }
            Ok(Step::Ways(ways, reason)) => {
                if ways.is_empty() {
                    refusal = refusal.or(Some(reason));
                }
                // The first way is to be looked at first.
                waiting.extend(ways.into_iter().rev());
            }
            Err(reason) => refusal = refusal.or(Some(reason)),
        }
    }
    match (found.is_empty(), refusal) {
        (true, reason) => Err(reason.unwrap_or(TileRefusal::TooLarge)),
        (false, _) => Ok((found, true)),
    }
}

/// The conditions without those that follow from the others, sorted; nothing where they contradict one another.
fn plain_conditions(conditions: &[Constraint], general: &Ranges, facts: &[Constraint]) -> Option<Vec<Constraint>> {
    let mut list = merged(conditions);
    list.sort();
    let mut i = 0;
    while i < list.len() {
        let condition = list.remove(i);
        let known: Vec<Constraint> = facts.iter().chain(&list).cloned().collect();
        match condition.canonicalize(&mut Simplifier::new(general, &known), &mut Vec::new()) {
            Canonical::Always => {}
            Canonical::Open(plain) => {
                list.insert(i, plain);
                i += 1;
            }
            Canonical::Never => return None,
        }
    }
    // Plainer conditions may turn out to be on one expression.
    list = merged(&list);
    // No bound beyond what the expression can be.
    let mut simplifier = Simplifier::new(general, &[]);
    for c in &mut list {
        c.bounds = c.bounds.intersect(simplifier.range_of(&c.expr));
    }
    list.sort();
    Some(list)
}

/// One condition for each expression.
fn merged(conditions: &[Constraint]) -> Vec<Constraint> {
    let mut list: Vec<Constraint> = Vec::new();
    for c in conditions {
        match list.iter_mut().find(|known| known.expr == c.expr) {
            Some(known) => known.bounds = known.bounds.intersect(c.bounds),
            None => list.push(c.clone()),
        }
    }
    list
}

/// Adds a case, unless its conditions imply those of one that is there.
fn add(found: &mut Vec<TileCase>, case: TileCase, general: &Ranges, facts: &[Constraint]) {
    let known: Vec<Constraint> = facts.iter().chain(&case.conditions).cloned().collect();
    let mut simplifier = Simplifier::new(general, &known);
    let mut implied = |c: &Constraint| {
        case.conditions.contains(c) || {
            let simple = simplifier.simplify(&c.expr);
            c.bounds.contains_interval(simplifier.range_of(&simple))
        }
    };
    if !found.iter().any(|earlier| earlier.conditions.iter().all(&mut implied)) {
        found.push(case);
    }
}

impl Search {
    /// Where the search starts: every dimension of the map a run of the tile, every range variable a whole run.
    fn of(map: &IndexingMap) -> Result<Search, TileRefusal> {
        let bounds = map.variable_ranges();
        let offsets = u32::try_from(map.dims.len()).map_err(|_| TileRefusal::TooLarge)?;
        let (mut runs, mut sizes, mut facts) = (Vec::new(), Vec::new(), Vec::new());
        for (i, b) in (0..).zip(&bounds.dims) {
            let extent = extent(*b)?;
            sizes.push(Interval::new(1, extent));
            // The tile ends within the bounds: o + t ≤ hi + 1.
            let end = Expr::dim(i).checked_add(&Expr::range(i))?;
            let behind = b.hi.checked_add(1).ok_or(TileRefusal::Overflow)?;
            facts.push(Constraint::new(end, Interval::new(i64::MIN, behind)));
            runs.push(Run { offset: Expr::dim(i), size: Expr::range(i), bounds: *b, is_free: false });
        }
        for (v, b) in (0..).map(Var::Range).zip(&bounds.ranges) {
            // What nothing mentions need not end.
            let size = if mentions(map, v) { extent(*b)? } else { 1 };
            runs.push(Run { offset: Expr::constant(b.lo), size: Expr::constant(size), bounds: *b, is_free: true });
        }
        let (fixed, moving): (Vec<_>, Vec<_>) = map.constraints.iter().cloned().partition(is_on_runtime_alone);
        facts.extend(fixed);
        let mut search = Search {
            offsets,
            parameters: Ranges { dims: bounds.dims.clone(), ranges: sizes, runtime: bounds.runtime.clone() },
            facts,
            conditions: Vec::new(),
            runs,
            results: map.results.clone(),
            masks: vec![Interval::EVERYTHING; map.results.len()],
            constraints: moving,
            pinned: accesses(map),
            is_empty: false,
            merges: MAX_MERGES,
        };
        search.name_runs()?;
        for (i, b) in (0..).zip(bounds.dims) {
            if b.lo == b.hi {
                search.substitute(i, &Expr::constant(b.lo))?;
            }
        }
        Ok(search)
    }

    /// Dimension and range variables of the map become the runs.
    fn name_runs(&mut self) -> Result<(), TileRefusal> {
        let offsets = self.offsets;
        let run_of = |v: Var| match v {
            Var::Dim(i) => Some(Expr::dim(offsets.saturating_add(i))),
            Var::Range(i) => Some(Expr::dim(offsets.saturating_add(offsets).saturating_add(i))),
            Var::Runtime(_) => None,
        };
        let constraints = self.constraints.iter_mut().map(|c| &mut c.expr);
        for e in self.results.iter_mut().chain(constraints).chain(&mut self.pinned) {
            *e = e.substitute(run_of)?;
        }
        Ok(())
    }

    /// All that the rest of the search depends on, except for the bounds of runs and how often they may be merged.
    fn signature(&self) -> (Vec<Expr>, [Vec<Constraint>; 2], Vec<Interval>, bool) {
        let runs = self.used().into_iter().flat_map(|r| [self.run(r).offset.clone(), self.run(r).size.clone()]);
        let expressions = self.results.iter().chain(&self.pinned).cloned().chain(runs).collect();
        let mut conditions = self.conditions.clone();
        conditions.sort();
        (expressions, [self.constraints.clone(), conditions], self.masks.clone(), self.is_empty)
    }

    /// The next step of a search that was settled.
    fn step(&mut self) -> Result<Step, TileRefusal> {
        if self.is_empty {
            let nothing = TileAxis { offset: 0.into(), size: 0.into(), stride: 1, mask: Interval::EVERYTHING };
            return Ok(Step::Case(vec![nothing; self.results.len()]));
        }
        if let Some(solved) = self.solve()? {
            return Ok(Step::Ways(vec![solved], TileRefusal::Cut));
        }
        if let Some(ways) = self.congruence()? {
            return Ok(Step::Ways(ways, TileRefusal::Cut));
        }
        self.align_remainders()?;
        if let Some((atom, sum)) = self.innermost() {
            return Ok(Step::Ways(self.divide(&atom, &sum)?, TileRefusal::Division));
        }
        if let Some(ways) = self.cut()? {
            return Ok(Step::Ways(ways, TileRefusal::Cut));
        }
        if let Some(run) = self.pinned.iter().filter_map(|e| self.linear(e)).flat_map(|sum| sum.terms).next() {
            return Ok(Step::Ways(self.with_single(run.0)?.into_iter().collect(), TileRefusal::Gathered));
        }
        let mut seen = BTreeSet::new();
        for (run, _) in self.results.iter().filter_map(|e| self.linear(e)).flat_map(|sum| sum.terms) {
            if !seen.insert(run) {
                return Ok(Step::Ways(self.with_single(run)?.into_iter().collect(), TileRefusal::Dependent));
            }
        }
        let mut axes = Vec::new();
        let known: Vec<Constraint> = self.facts.iter().chain(&self.conditions).cloned().collect();
        let simplifier = &mut Simplifier::new(&self.parameters, &known);
        for (result, mask) in self.results.iter().zip(&self.masks) {
            let Some(sum) = self.linear(result) else { return Err(TileRefusal::Division) };
            match self.join(&sum)? {
                Joined::If(ways) => return Ok(Step::Ways(ways, TileRefusal::Gaps)),
                Joined::One(Progression { offset, size, stride }) => axes.push(TileAxis {
                    offset: simplifier.simplify(&offset),
                    size: simplifier.simplify(&size),
                    stride,
                    mask: *mask,
                }),
            }
        }
        Ok(Step::Case(axes))
    }
}

/// The accesses of the runtime variables that the results and constraints use, of those in turn, and so on.
fn accesses(map: &IndexingMap) -> Vec<Expr> {
    let mut found: Vec<Expr> = Vec::new();
    let numbered: Vec<_> = (0..).map(Var::Runtime).zip(&map.runtime).collect();
    // An access mentions only variables before its own, so one backward pass finds every use.
    for (v, variable) in numbered.into_iter().rev() {
        let is_used = |e: &Expr| e.variables().contains(&v);
        if found.iter().any(is_used)
            || map.results.iter().any(is_used)
            || map.constraints.iter().any(|c| is_used(&c.expr))
        {
            found.extend(variable.access.iter().cloned());
        }
    }
    found
}

fn mentions(map: &IndexingMap, v: Var) -> bool {
    let accesses = map.runtime.iter().flat_map(|r| &r.access);
    let mut all = map.results.iter().chain(map.constraints.iter().map(|c| &c.expr)).chain(accesses);
    all.any(|e| e.variables().contains(&v))
}

/// Whether a constraint says something of runtime variables and of nothing else.
pub(super) fn is_on_runtime_alone(constraint: &Constraint) -> bool {
    constraint.expr.variables().iter().all(|v| matches!(v, Var::Runtime(_)))
}

fn extent(bounds: Interval) -> Result<i64, TileRefusal> {
    if bounds.lo == i64::MIN || bounds.hi == i64::MAX {
        return Err(TileRefusal::Unbounded);
    }
    i64::try_from(bounds.size()).map_err(|_| TileRefusal::Unbounded)
}
