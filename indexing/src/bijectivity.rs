//! Injectivity and surjectivity of maps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use weft_affine::{Atom, Expr, Interval, Simplifier, Term, Var};

use crate::inverse::LeftInverse;
use crate::points::Walk;
use crate::{Answer, DomainPoint, IndexingMap, Limits, RuntimeVariable, Unknown, Variable};

/// Two points of a domain with the same results and the same runtime values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Collision {
    /// One of the two.
    pub first: DomainPoint,
    /// The other.
    pub second: DomainPoint,
}

/// One sentence, without the full stop.
impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the points {} and {} have the same result", self.first, self.second)
    }
}

impl IndexingMap {
    /// Whether no two points of the domain have the same results, for any values of the runtime variables. Range variables
    /// count as part of the point: one that does not matter, and may have two values, makes a map not injective.
    ///
    /// ```
    /// use weft_indexing::{Answer, Collision, IndexingMap, Limits};
    ///
    /// let windows: IndexingMap = "(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 999999], s0 in [0, 2]".parse()?;
    /// let Answer::No(Collision { first, second }) = windows.is_injective(&Limits::default()) else { panic!("windows overlap") };
    /// assert_eq!((first.to_string(), second.to_string()), ("(0)[2]".to_owned(), "(1)[0]".to_owned()));
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn is_injective(&self, limits: &Limits) -> Answer<Collision> {
        if self.is_undefined() {
            return Answer::Unknown(Unknown::Undefined);
        }
        let mut map = self.clone();
        map.simplify();
        let given = self.within_bounds_of(&map);
        if map.is_known_empty() || LeftInverse::of(&map, &given, limits).is_ok() {
            return Answer::Yes;
        }
        given.injectivity_by_points(limits)
    }

    /// Two points of the domain with the same results and runtime values, where some are found.
    pub(crate) fn collision(&self, limits: &Limits) -> Option<Collision> {
        self.injectivity_by_points(limits).counterexample().cloned()
    }

    fn injectivity_by_points(&self, limits: &Limits) -> Answer<Collision> {
        let walk = Walk::of(self, limits);
        let mut overflows = false;
        for part in &walk.boxes {
            let mut seen: BTreeMap<(Vec<i64>, Vec<i64>), DomainPoint> = BTreeMap::new();
            for point in part.points() {
                let Ok(results) = part.evaluate(&point.dims, &point.ranges, &point.runtime) else {
                    overflows = true;
                    continue;
                };
                if let Some(first) = seen.insert((point.runtime.clone(), results), point.clone()) {
                    return Answer::No(Collision { first, second: point });
                }
            }
        }
        match walk.left_out {
            Some(reason) => Answer::Unknown(reason),
            None if overflows => Answer::Unknown(Unknown::Overflow),
            None => Answer::Yes,
        }
    }
}

/// Indices that are tried where a box is too large to be walked.
const MAX_TRIED: usize = 64;

/// An index of a box that no point of a domain leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Missed {
    /// The index.
    pub index: Vec<i64>,
    /// The values of the runtime variables for which it is missed.
    pub runtime: Vec<i64>,
}

/// One sentence, without the full stop.
impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        write!(f, "nothing leads to ({})", list(&self.index))?;
        if !self.runtime.is_empty() {
            write!(f, " for the runtime values {{{}}}", list(&self.runtime))?;
        }
        Ok(())
    }
}

impl IndexingMap {
    /// Whether each index of the box is the result of some point of the domain, for any values of the runtime variables within
    /// their bounds. The map may have other results as well; a box with another number of dimensions has none of its results.
    ///
    /// ```
    /// use weft_indexing::{Answer, IndexingMap, Interval, Limits};
    ///
    /// let strided: IndexingMap = "(d0) -> (d0 * 2), domain: d0 in [0, 499999]".parse()?;
    /// let Answer::No(missed) = strided.is_surjective_onto(&[Interval::of_extent(1_000_000)], &Limits::default()) else {
    ///     panic!("odd indices are missed");
    /// };
    /// assert_eq!(missed.index, [999_999]);
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn is_surjective_onto(&self, target: &[Interval], limits: &Limits) -> Answer<Missed> {
        if self.is_undefined() {
            return Answer::Unknown(Unknown::Undefined);
        }
        if target.iter().any(|b| b.is_empty()) || self.runtime.iter().any(|v| v.bounds.is_empty()) {
            return Answer::Yes;
        }
        if target.len() != self.results.len() {
            let runtime = self.runtime.iter().map(|v| v.bounds.lo).collect();
            return Answer::No(Missed { index: target.iter().map(|b| b.lo).collect(), runtime });
        }
        let mut map = self.clone();
        map.simplify();
        let given = self.within_bounds_of(&map);
        map.reaches(&given, target, limits)
    }

    /// The answer for the map of which this is the simplified form.
    fn reaches(&self, given: &IndexingMap, target: &[Interval], limits: &Limits) -> Answer<Missed> {
        let runtime: Vec<i64> = self.runtime.iter().map(|v| v.bounds.lo).collect();
        let mut facts = Simplifier::new(&self.variable_ranges(), &self.constraints);
        let mut corner: Vec<i64> = target.iter().map(|b| b.lo).collect();
        if self.is_known_empty() {
            return Answer::No(Missed { index: corner, runtime });
        }
        for ((own, result), bounds) in corner.iter_mut().zip(&self.results).zip(target) {
            let range = facts.range_of(result);
            if let Some(beyond) = [bounds.lo, bounds.hi].into_iter().find(|end| !range.contains(*end)) {
                *own = beyond;
                return Answer::No(Missed { index: corner, runtime });
            }
        }
        if self.covers_independently(target) {
            return Answer::Yes;
        }
        self.reaches_by_inverse(given, target, limits).unwrap_or_else(|| given.reaches_by_points(target, limits))
    }

    /// True where each result runs over an interval that holds the one of the box, by variables that no other result has:
    /// sums in which each term is at most one more than what the smaller ones add up to.
    fn covers_independently(&self, target: &[Interval]) -> bool {
        let mut used = BTreeSet::new();
        self.constraints.is_empty()
            && self.results.iter().zip(target).all(|(result, bounds)| {
                let (fixed, moving): (Vec<&Term>, Vec<&Term>) =
                    result.terms().iter().partition(|t| matches!(t.atom, Atom::Var(Var::Runtime(_))));
                let own = moving.iter().all(|t| variable_of(&t.atom).is_some_and(|v| used.insert(v)));
                let Some(sides) = own.then(|| self.interval_of_values(&moving)).flatten() else { return false };
                let shift = Expr::sum(result.constant_term(), fixed.into_iter().cloned());
                let Ok(shift) = shift else { return false };
                let shift = Simplifier::new(&self.variable_ranges(), &[]).range_of(&shift);
                let at = |end: i64, by: i64| end.checked_add(by);
                let (Some(lo), Some(hi)) = (at(sides.lo, shift.hi), at(sides.hi, shift.lo)) else { return false };
                Interval::new(lo, hi).contains_interval(*bounds)
            })
    }

    /// The values of a sum, where they are an interval.
    fn interval_of_values(&self, terms: &[&Term]) -> Option<Interval> {
        let mut facts = Simplifier::new(&self.variable_ranges(), &[]);
        let mut sorted = terms.to_vec();
        sorted.sort_by_key(|t| t.coefficient.unsigned_abs());
        let (mut sum, mut reach) = (Expr::constant(0), Interval::point(0));
        for term in sorted {
            let atom = Expr::sum(0, [Term { coefficient: 1, ..term.clone() }]).ok()?;
            let own = facts.range_of(&atom);
            let variable = self.variable(variable_of(&term.atom)?)?;
            let takes_all = !matches!(term.atom, Atom::Mod(..)) || own.size() <= variable.bounds.size();
            if !takes_all || u128::from(term.coefficient.unsigned_abs()) > reach.size() {
                return None;
            }
            sum = sum.checked_add_scaled(&atom, term.coefficient).ok()?;
            reach = facts.range_of(&sum);
        }
        Some(reach)
    }

    /// Whether the domain of the inverse holds the box; nothing where there is no inverse, or that was not found out.
    fn reaches_by_inverse(&self, given: &IndexingMap, target: &[Interval], limits: &Limits) -> Option<Answer<Missed>> {
        let inverse = LeftInverse::of(self, given, limits).ok()?.on_image(self, limits).ok()?;
        let missed = inverse.complement_within(target, &[], limits).ok()?;
        if missed.is_known_empty() {
            return Some(Answer::Yes);
        }
        let point = missed.members().find_map(|part| part.some_point(limits).0).filter(|_| missed.is_exact())?;
        Some(Answer::No(Missed { index: point.dims, runtime: point.runtime }))
    }

    fn reaches_by_points(&self, target: &[Interval], limits: &Limits) -> Answer<Missed> {
        let runtime: Vec<RuntimeVariable> = self.runtime.iter().map(|v| RuntimeVariable::new(v.bounds)).collect();
        let dims = target.iter().map(|b| Variable::new(*b)).collect();
        let wanted = IndexingMap::of_valid(dims, Vec::new(), runtime, Vec::new(), Vec::new());
        let points = self.box_size().max(wanted.box_size());
        if points > u128::from(limits.points()) {
            let missed = wanted.corners().find(|missed| self.surely_misses(missed, limits));
            let reason = Unknown::TooManyPoints { points, limit: limits.points() };
            return missed.map_or(Answer::Unknown(reason), Answer::No);
        }
        let mut hit = BTreeSet::new();
        for point in self.points() {
            match self.evaluate(&point.dims, &point.ranges, &point.runtime) {
                Ok(index) => hit.insert(Missed { index, runtime: point.runtime }),
                Err(_) => return Answer::Unknown(Unknown::Overflow),
            };
        }
        let all = wanted.points().map(|p| Missed { index: p.dims, runtime: p.runtime });
        all.into_iter().find(|wanted| !hit.contains(wanted)).map_or(Answer::Yes, Answer::No)
    }

    /// Indices near the corners of the box of all bounds.
    fn corners(&self) -> impl Iterator<Item = Missed> + '_ {
        let ranges = self.variable_ranges();
        let bounds = [ranges.dims, ranges.runtime].concat();
        (0..MAX_TRIED).map(move |choice| {
            // The first two choices are the two corners, the others mix ends and what is next to them.
            let pick = |(i, b): (usize, &Interval)| match (choice + choice / 4 * i) % 4 {
                0 => b.lo,
                1 => b.hi,
                2 => b.lo.saturating_add(1).min(b.hi),
                _ => b.hi.saturating_sub(1).max(b.lo),
            };
            let all: Vec<i64> = bounds.iter().enumerate().map(pick).collect();
            let (index, runtime) = all.split_at(self.dims.len());
            Missed { index: index.to_vec(), runtime: runtime.to_vec() }
        })
    }

    fn surely_misses(&self, wanted: &Missed, limits: &Limits) -> bool {
        let mut preimage = self.clone();
        for (result, value) in self.results.iter().zip(&wanted.index) {
            preimage.constrain(result.clone(), Interval::point(*value));
        }
        for (i, value) in (0..).zip(&wanted.runtime) {
            preimage.constrain(Expr::runtime(i), Interval::point(*value));
        }
        let mut simple = preimage.clone();
        simple.settle();
        simple.is_known_empty() || preimage.within_bounds_of(&simple).some_point(limits) == (None, None)
    }
}

/// The variable of an atom that is a variable, or a quotient or remainder of one.
fn variable_of(atom: &Atom) -> Option<Var> {
    match atom {
        Atom::Var(v) => Some(*v),
        Atom::FloorDiv(x, _) | Atom::Mod(x, _) => x.as_var(),
    }
}
