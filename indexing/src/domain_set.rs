//! Intersection, difference and complement of domains.
//!
//! An intersection is a conjunction again, hence a map. A difference is a union: the points that break the first condition of
//! the other domain, those that keep it and break the second, and so on. Each condition `e in [l, h]` breaks below and above,
//! so a domain of `n` conditions leaves at most `2n` disjoint parts.

use std::ops::ControlFlow;

use weft_affine::{Constraint, Expr, Interval, Simplifier, Var};

use crate::map_set::{MapSet, OverapproximationReason};
use crate::pieces::{Lanes, Program, may_overflow, visit};
use crate::points::{Walk, all_bounds};
use crate::{Answer, DomainPoint, Error, IndexingMap, Limits, OutOfBounds, Unknown};

impl IndexingMap {
    /// The map restricted to the points that are in the domain of `other` as well.
    ///
    /// # Errors
    /// When the two have not the same numbers of dimension and range variables and the same runtime variables. Bounds of
    /// those that drop may differ.
    pub fn intersect_domain(&self, other: &IndexingMap) -> Result<IndexingMap, Error> {
        self.expect_same_variables(other)?;
        if self.is_undefined() || other.is_undefined() {
            return Ok(IndexingMap::undefined());
        }
        let mut both = self.clone();
        if other.is_known_empty() {
            both.set_known_empty();
        }
        for Constraint { expr, bounds } in conditions(other) {
            let is_known = expr.as_var().is_some_and(|v| bounds.contains_interval(self.variable_ranges().get(v)));
            if !is_known {
                both.constrain(expr, bounds);
            }
        }
        both.settle();
        Ok(both)
    }

    /// The map restricted to the points that are not in the domain of `other`, as disjoint parts.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, Limits};
    ///
    /// // What a dynamic-update-slice of 4 of 10 elements leaves of its source.
    /// let source: IndexingMap = "(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 6]".parse()?;
    /// let updated: IndexingMap = "(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 9], rt0 in [0, 6], d0 - rt0 in [0, 3]".parse()?;
    /// let kept = source.difference(&updated, &Limits::default())?;
    /// assert_eq!(kept.to_string(), "{(d0){rt0} -> (d0), domain: d0 in [0, 5], rt0 in [0, 6], d0 - rt0 in [-6, -1]; \
    ///     (d0){rt0} -> (d0), domain: d0 in [4, 9], rt0 in [0, 6], d0 - rt0 in [4, 9]}");
    /// assert!(kept.is_exact());
    /// assert!(kept.may_contain(&[9], &[], &[5]) && !kept.may_contain(&[8], &[], &[5]));
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`IndexingMap::intersect_domain`].
    pub fn difference(&self, other: &IndexingMap, limits: &Limits) -> Result<MapSet, Error> {
        MapSet::from(self.clone()).difference(&MapSet::from(other.clone()), limits)
    }

    /// The map over the points of a box of dimensions and range variables that are not in its domain; runtime variables keep
    /// their bounds. The results mean there what they say.
    ///
    /// # Errors
    /// When the numbers of bounds are not those of the variables.
    pub fn complement_within(&self, dims: &[Interval], ranges: &[Interval], limits: &Limits) -> Result<MapSet, Error> {
        MapSet::from(self.clone()).complement_within(dims, ranges, limits)
    }

    /// The map without constraints, over other bounds of dimensions and range variables.
    pub(crate) fn over_box(&self, dims: &[Interval], ranges: &[Interval]) -> Result<IndexingMap, Error> {
        for (what, expected, found) in [
            ("bounds of dimensions", self.dims.len(), dims.len()),
            ("bounds of range variables", self.ranges.len(), ranges.len()),
        ] {
            if expected != found {
                return Err(Error::Arity { what, expected, found });
            }
        }
        let mut whole = self.clone();
        for (variable, bounds) in whole.dims.iter_mut().chain(&mut whole.ranges).zip(dims.iter().chain(ranges)) {
            variable.bounds = *bounds;
        }
        Ok(IndexingMap::of_valid(whole.dims, whole.ranges, whole.runtime, whole.results, Vec::new()))
    }

    /// Fails unless points of the one are points of the other: as many variables, and the same runtime variables.
    pub(crate) fn expect_same_variables(&self, other: &IndexingMap) -> Result<(), Error> {
        if self.is_undefined() || other.is_undefined() {
            return Ok(());
        }
        for (what, expected, found) in [
            ("dimension variables", self.dims.len(), other.dims.len()),
            ("range variables", self.ranges.len(), other.ranges.len()),
            ("runtime variables", self.runtime.len(), other.runtime.len()),
        ] {
            if expected != found {
                return Err(Error::Arity { what, expected, found });
            }
        }
        let mut others = other.runtime.iter();
        let is_same = self.runtime.iter().all(|own| {
            others.next().is_some_and(|other| {
                let mut moved = other.clone();
                if own.out_of_bounds == OutOfBounds::Drop {
                    moved.bounds = own.bounds;
                }
                moved == *own
            })
        });
        if is_same { Ok(()) } else { Err(Error::RuntimeVariables) }
    }

    /// Simplifies the domain alone: results and accesses keep their form, so that parts of one map still have the same.
    ///
    /// Constraints keep theirs as well where simplified ones might overflow; then only bounds are narrowed.
    pub(crate) fn settle(&mut self) {
        let mut given = self.clone();
        self.results.clear();
        self.runtime.iter_mut().for_each(|v| v.access.clear());
        self.simplify();
        let mut facts = Simplifier::new(&self.variable_ranges(), &[]);
        if self.constraints.iter().all(|c| fits(&c.expr, &mut facts)) {
            given.constraints.clone_from(&self.constraints);
        }
        for (own, narrow) in all_bounds(&mut given).into_iter().zip(all_bounds(self)) {
            *own = *narrow;
        }
        if self.is_known_empty() {
            given.constraints.clear();
            given.set_known_empty();
        }
        *self = given;
    }

    /// Drops constraints that the rest of the domain implies, where its points are few enough to be tried.
    pub(crate) fn drop_implied(&mut self, limits: &Limits) {
        let mut i = self.constraints.len();
        while i > 0 && !self.is_known_empty() {
            i -= 1;
            let mut without = self.clone();
            let dropped = without.constraints.remove(i);
            if without.box_size().saturating_mul(self.constraints.len() as u128) > u128::from(limits.points()) {
                return;
            }
            let holds = |p: DomainPoint| {
                dropped.expr.evaluate_at(&p.as_point()).is_ok_and(|value| dropped.bounds.contains(value))
            };
            if without.points().all(holds) {
                *self = without;
            }
        }
    }

    /// Whether the domain has no point, and that is found out: by taking it apart, or by counting within the limits.
    pub(crate) fn is_shown_empty(&self, limits: &Limits) -> bool {
        if self.is_known_empty() || self.variable_ranges().has_empty() {
            return true;
        }
        let Ok(program) = Program::new(self) else { return false };
        let mut has_part = false;
        let taken_apart = visit(&program, &Lanes::default(), &mut |_| {
            has_part = true;
            ControlFlow::Break(())
        });
        match taken_apart {
            // Parts hold all integer points, of which those are in the domain at which nothing leaves `i64`.
            Ok(()) if !has_part => true,
            Ok(()) if self.constraints.is_empty() || !may_overflow(&program) => false,
            _ => self.cardinality(limits).exact() == Some(0),
        }
    }

    /// Whether the domain has no point; a point shows that it has one.
    ///
    /// ```
    /// use weft_indexing::{Answer, IndexingMap, Limits};
    ///
    /// let text = "(d0, d1) -> (d0), domain: d0 in [0, 99999], d1 in [0, 99999], d0 * 2 - d1 * 4 in [1, 1]";
    /// assert_eq!(text.parse::<IndexingMap>()?.is_empty(&Limits::default()), Answer::Yes);
    /// let text = text.replace("[1, 1]", "[2, 2]");
    /// assert_eq!(text.parse::<IndexingMap>()?.is_empty(&Limits::default()).to_string(), "no: (1, 0)");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn is_empty(&self, limits: &Limits) -> Answer<DomainPoint> {
        if self.is_undefined() {
            return Answer::Unknown(Unknown::Undefined);
        }
        let mut simple = self.clone();
        simple.settle();
        let given = self.within_bounds_of(&simple);
        if simple.is_known_empty() || given.is_shown_empty(limits) {
            return Answer::Yes;
        }
        match given.some_point(limits) {
            (Some(point), _) => Answer::No(point),
            (None, Some(reason)) => Answer::Unknown(reason),
            (None, None) => Answer::Yes,
        }
    }

    /// Some point of the domain, where one is found; with the reason why not all were looked at.
    pub(crate) fn some_point(&self, limits: &Limits) -> (Option<DomainPoint>, Option<Unknown>) {
        let walk = Walk::of(self, limits);
        let found = walk.boxes.iter().find_map(|part| part.points().next());
        (found, walk.left_out)
    }
}

/// What the domain says. Bounds of variables come last, since they often follow from the constraints.
fn conditions(map: &IndexingMap) -> Vec<Constraint> {
    let ranges = map.variable_ranges();
    let dims = (0..).map(Expr::dim).zip(ranges.dims);
    let range_variables = (0..).map(Expr::range).zip(ranges.ranges);
    let runtime = (0..).map(Expr::runtime).zip(ranges.runtime);
    let bounds = dims.chain(range_variables).chain(runtime).map(|(v, b)| Constraint::new(v, b));
    map.constraints.iter().cloned().chain(bounds).collect()
}

/// The points of `whole` that are not in `taken`, in disjoint parts; with the reason where they are more than that.
pub(crate) fn without(whole: &IndexingMap, taken: &IndexingMap) -> (Vec<IndexingMap>, Option<OverapproximationReason>) {
    if taken.is_known_empty() || taken.variable_ranges().has_empty() {
        return (vec![whole.clone()], None);
    }
    let (mut parts, mut rest) = (Vec::new(), whole.clone());
    for Constraint { expr, bounds } in conditions(taken) {
        if rest.is_known_empty() {
            break;
        }
        let mut facts = Simplifier::new(&rest.variable_ranges(), &rest.constraints);
        let range = facts.range_of(&expr);
        if bounds.contains_interval(range) {
            continue;
        }
        if !fits(&expr, &mut Simplifier::new(&rest.variable_ranges(), &[])) {
            // Where the value overflows a point is in neither part, so none may be taken away.
            parts.push(rest);
            return (parts, Some(OverapproximationReason::Overflow));
        }
        let below = bounds.lo.checked_sub(1).map(|h| Interval::new(range.lo, h.min(range.hi)));
        let above = bounds.hi.checked_add(1).map(|l| Interval::new(l.max(range.lo), range.hi));
        for broken in [below, above].into_iter().flatten().filter(|b| !b.is_empty()) {
            let mut part = rest.clone();
            part.constrain(expr.clone(), broken);
            part.settle();
            if !part.is_known_empty() {
                parts.push(part);
            }
        }
        rest.constrain(expr, bounds);
        rest.settle();
    }
    (parts, None)
}

/// True when no sum within the expression can leave `i64`. Variables cannot.
pub(crate) fn fits(e: &Expr, facts: &mut Simplifier) -> bool {
    let mut waiting = vec![e.clone()];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(part) = waiting.pop() {
        if !seen.insert(part.structural_hash()) || part.as_constant().is_some() || part.as_var().is_some() {
            continue;
        }
        let range = facts.range_of(&part);
        if range.lo == i64::MIN || range.hi == i64::MAX {
            return false;
        }
        waiting.extend(part.terms().iter().filter_map(|t| t.atom.argument().cloned()));
    }
    true
}

/// The least interval that holds the bounds of both, for each variable, in a copy of the first.
pub(crate) fn hull(a: &IndexingMap, b: &IndexingMap) -> IndexingMap {
    let mut both = a.clone();
    both.constraints.clear();
    let mut other = b.clone();
    for (own, more) in all_bounds(&mut both).into_iter().zip(all_bounds(&mut other)) {
        *own = own.hull(*more);
    }
    // What one says of an expression and the other as well, or implies.
    let range = |map: &IndexingMap, e: &Expr| {
        let said = map.constraints.iter().find(|c| c.expr == *e).map_or(Interval::EVERYTHING, |c| c.bounds);
        said.intersect(Simplifier::new(&map.variable_ranges(), &map.constraints).range_of(e))
    };
    for Constraint { expr, .. } in a.constraints.iter().chain(&b.constraints) {
        both.constrain(expr.clone(), range(a, expr).hull(range(b, expr)));
    }
    both.settle();
    both
}

/// True when the results of `a` are those of `b` wherever `b` is defined.
pub(crate) fn has_results_of(a: &IndexingMap, b: &IndexingMap) -> bool {
    let mut facts = Simplifier::new(&b.variable_ranges(), &b.constraints);
    a.results.len() == b.results.len()
        && a.results
            .iter()
            .zip(&b.results)
            .all(|(x, y)| x == y || x.checked_sub(y).is_ok_and(|e| facts.simplify(&e) == Expr::constant(0)))
}

/// The runtime variables of both with bounds that hold those of both, where they drop; others are the same.
pub(crate) fn with_common_runtime(maps: &mut [IndexingMap]) {
    let Some(mut common) = maps.first().map(|m| m.runtime.clone()) else { return };
    for map in maps.iter() {
        for (known, own) in common.iter_mut().zip(&map.runtime) {
            known.bounds = known.bounds.hull(own.bounds);
        }
    }
    for map in maps {
        let own = std::mem::replace(&mut map.runtime, common.clone());
        for ((i, variable), known) in (0..).zip(own).zip(&common) {
            if variable.bounds != known.bounds {
                map.constrain(Expr::var(Var::Runtime(i)), variable.bounds);
            }
        }
    }
}
