//! Random maps judged by their points: how many to run, the map of a case, its points, and a tally of what was answered.

use std::collections::BTreeMap;
use std::fmt;

use crate::parts::changed;
use weft_indexing::{DomainPoint, IndexingMap, RuntimeVariable, Var, Variable};

use crate::support::case::Case;

/// The map of a case with so many of its expressions as results. Runtime variables drop and clamp in turn.
pub(crate) fn map(case: &Case, results: usize) -> IndexingMap {
    changed(&clamping_map(case, results), |parts| {
        for variable in parts.runtime.iter_mut().skip(1).step_by(2) {
            *variable = variable.clone().dropping();
        }
    })
}

/// The map of a case with so many of its expressions as results. Runtime variables clamp.
pub(crate) fn clamping_map(case: &Case, results: usize) -> IndexingMap {
    let (mut dims, mut ranges, mut runtime) = (Vec::new(), Vec::new(), Vec::new());
    for (v, bounds) in &case.variables {
        match v {
            Var::Dim(_) => dims.push(Variable::new(*bounds)),
            Var::Range(_) => ranges.push(Variable::new(*bounds)),
            Var::Runtime(_) => runtime.push(RuntimeVariable::new(*bounds)),
        }
    }
    let exprs = case.exprs.iter().take(results).cloned().collect();
    IndexingMap::try_new(dims, ranges, runtime, exprs, case.constraints.clone()).expect("the parts fit together")
}

/// A point of a domain and the results there.
pub(crate) type Pair = (DomainPoint, Vec<i64>);

/// All points of the domain with their results; nothing where there are too many to be enumerated, or where a constraint or
/// a result overflows at one.
pub(crate) fn graph(case: &Case, map: &IndexingMap) -> Option<Vec<Pair>> {
    if !case.is_enumerated() {
        return None;
    }
    for point in case.points() {
        case.holds(&case.constraints, &point)?;
    }
    map.points().map(|p| Some((p.clone(), map.evaluate(&p.dims, &p.ranges, &p.runtime).ok()?))).collect()
}

/// How often each answer was given.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<String, usize>);

impl Tally {
    pub(crate) fn add(&mut self, answer: impl Into<String>) {
        *self.0.entry(answer.into()).or_default() += 1;
    }

    /// Adds the answers of another tally.
    pub(crate) fn join(&mut self, other: Tally) {
        for (answer, count) in other.0 {
            *self.0.entry(answer).or_default() += count;
        }
    }

    pub(crate) fn of(&self, answer: &str) -> usize {
        self.0.iter().filter(|(name, _)| name.starts_with(answer)).map(|(_, n)| n).sum()
    }

    pub(crate) fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// In percent, the share of answers that begin so.
    pub(crate) fn share(&self, answer: &str) -> f64 {
        self.of(answer) as f64 * 100.0 / self.total().max(1) as f64
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (answer, n) in &self.0 {
            writeln!(f, "  {n:7}  {answer}")?;
        }
        Ok(())
    }
}
