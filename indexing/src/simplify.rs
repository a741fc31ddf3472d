//! Simplification of a map: its domain first, then its results over that domain.

use std::collections::BTreeSet;

use weft_affine::{Atom, Config, Constraint, ConstraintStep, Expr, Interval, Ranges, Simplifier, Var};

use crate::overflow::adds_overflow;
use crate::{IndexingMap, OutOfBounds, RuntimeVariable};

/// Options of [`IndexingMap::simplify_with`].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SimplifyOptions {
    keep_point_variables: bool,
}

impl SimplifyOptions {
    /// Whether variables with a single value stay in results and accesses, where by default the value takes their place: a
    /// kernel whose grid has one block may still want to name the block.
    #[must_use]
    pub const fn with_point_variables(self, stay: bool) -> SimplifyOptions {
        SimplifyOptions { keep_point_variables: stay }
    }
}

impl IndexingMap {
    /// Simplifies constraints, bounds and results; true when something changed.
    ///
    /// The domain stays the same set of points, and the results keep their values on it. A map whose domain is found empty
    /// becomes known empty. Bounds of runtime variables that clamp stay, since they are part of what the variable means. What
    /// results does not depend on the order of the constraints, and simplifying it again changes nothing.
    ///
    /// All that is true of integers. A point at which a constraint as it was given leaves `i64` is not in the domain, and may
    /// come into it where a simpler form of the constraint has a value there. No point is lost.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let text = "(d0, d1) -> ((d0 * 8 + d1) floordiv 8, d1), domain: d0 in [0, 9], d1 in [0, 7], (d0 + 1) floordiv 2 in [1, 2]";
    /// let mut map: IndexingMap = text.parse()?;
    /// assert!(map.simplify());
    /// assert_eq!(map.to_string(), "(d0, d1) -> (d0, d1), domain: d0 in [1, 4], d1 in [0, 7]");
    /// assert!(!map.simplify());
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn simplify(&mut self) -> bool {
        self.simplify_with(&SimplifyOptions::default())
    }

    /// As [`IndexingMap::simplify`], with options.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, SimplifyOptions};
    ///
    /// let mut map: IndexingMap = "(d0, d1) -> ((d0 * 4 + d1) floordiv 4), domain: d0 in [2, 2], d1 in [0, 3]".parse()?;
    /// let mut replaced = map.clone();
    /// map.simplify_with(&SimplifyOptions::default().with_point_variables(true));
    /// assert_eq!(map.to_string(), "(d0, d1) -> (d0), domain: d0 in [2, 2], d1 in [0, 3]");
    /// replaced.simplify();
    /// assert_eq!(replaced.to_string(), "(d0, d1) -> (2), domain: d0 in [2, 2], d1 in [0, 3]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn simplify_with(&mut self, options: &SimplifyOptions) -> bool {
        self.simplify_logged(options, &mut Vec::new())
    }

    /// As [`IndexingMap::simplify`], for analyses that ask about each value of the runtime variables within their bounds: those
    /// that drop keep their bounds as well.
    pub(crate) fn simplify_keeping_runtime_bounds(&mut self) {
        let keeps = |v: &mut RuntimeVariable| std::mem::replace(&mut v.out_of_bounds, OutOfBounds::Clamp);
        let policies: Vec<OutOfBounds> = self.runtime.iter_mut().map(keeps).collect();
        self.simplify();
        for (variable, policy) in self.runtime.iter_mut().zip(policies) {
            variable.out_of_bounds = policy;
        }
    }

    /// As [`IndexingMap::simplify`], with the steps by which the domain became what it is. Each step is an equivalence that
    /// holds where the rest of the domain does, as it stood then. For how the results became what they are, see
    /// [`IndexingMap::explain`].
    pub fn simplify_explained(&mut self) -> Vec<ConstraintStep> {
        let mut steps = Vec::new();
        self.simplify_logged(&SimplifyOptions::default(), &mut steps);
        steps
    }

    pub(crate) fn simplify_logged(&mut self, options: &SimplifyOptions, steps: &mut Vec<ConstraintStep>) -> bool {
        if self.is_undefined() || self.is_known_empty() {
            return false;
        }
        let changed = !self.constraints.is_empty() && self.canonicalize_domain(steps);
        if self.is_known_empty() {
            // Those on the way to that verdict may say things that a domain says with bounds, and would not be read back.
            self.constraints.clear();
        }
        // The domain does not depend on the results, so they are simplified once, over what is finally known.
        (!self.is_known_empty() && self.simplify_results(options)) || changed
    }

    /// What results are simplified over.
    pub(crate) fn ranges_of_results(&self, options: &SimplifyOptions) -> Ranges {
        let mut ranges = self.variable_ranges();
        if options.keep_point_variables {
            widen_points(&mut ranges);
        }
        ranges
    }

    fn simplify_results(&mut self, options: &SimplifyOptions) -> bool {
        let ranges = self.ranges_of_results(options);
        let mut changed = simplify_all(&mut self.results, &ranges, &self.constraints);
        for (own, variable) in (0..).zip(&mut self.runtime) {
            // Whether a constraint on the value itself holds is known only once the element is: were the element rewritten by
            // it, points at which it does not hold would read other elements, and might come to satisfy it.
            let is_early = |v: &Var| !matches!(v, Var::Runtime(i) if *i >= own);
            let early = self.constraints.iter().filter(|c| c.expr.variables().iter().all(is_early));
            let early: Vec<Constraint> = if variable.access.is_empty() { Vec::new() } else { early.cloned().collect() };
            changed |= simplify_all(&mut variable.access, &ranges, &early);
        }
        changed
    }
}

/// So often is a form simplified again until it is its own simplest form.
pub(crate) const MAX_PASSES: usize = 8;

/// Simplifies expressions over one domain; true when something changed. The forms are fixed points: simplifying them over
/// this domain gives the same again.
fn simplify_all(all: &mut [Expr], ranges: &Ranges, constraints: &[Constraint]) -> bool {
    let constrained: BTreeSet<Var> = constraints.iter().flat_map(|c| c.expr.variables()).collect();
    // A linear sum is its own simplest form where nothing says more of its variables than a range of several values.
    let is_open = |v: &Var| ranges.get(*v).as_point().is_none() && !constrained.contains(v);
    let is_simple = |e: &Expr| e.terms().iter().all(|t| matches!(&t.atom, Atom::Var(v) if is_open(v)));
    // Of a variable without bounds nobody says that it comes near the ends of `i64`.
    let is_bounded = |e: &Expr| e.variables().iter().all(|v| ranges.get(*v) != Interval::EVERYTHING);
    let mut simplifier = None;
    // A simplifier gives back what it found before, so whether that is its own simplest form is for another one to say. Without
    // constraints the e-graph has seen the form already and found nothing, so the directed pass decides.
    let config = if constraints.is_empty() { Config::directed() } else { Config::default() };
    let mut another = None;
    let mut changed = false;
    for e in all.iter_mut().filter(|e| !is_simple(e)) {
        let mut simple = simplifier.get_or_insert_with(|| Simplifier::new(ranges, constraints)).simplify(e);
        if simple != *e && !is_simple(&simple) {
            let fresh = || Simplifier::with_config(ranges, constraints, config);
            let again = another.get_or_insert_with(fresh).simplify(&simple);
            if again != simple {
                simple = settled(vec![simple], ranges, constraints);
            }
        }
        if simple != *e && !(is_bounded(e) && adds_overflow(&simple, e, ranges)) {
            *e = simple;
            changed = true;
        }
    }
    changed
}

/// The form that simplifying again does not change, from forms of which each came of the one before; where forms take turns,
/// the first of them in the order of expressions.
fn settled(mut forms: Vec<Expr>, ranges: &Ranges, constraints: &[Constraint]) -> Expr {
    loop {
        let last = &forms[forms.len() - 1];
        let next = Simplifier::new(ranges, constraints).simplify(last);
        let turn = forms.iter().position(|form| *form == next);
        if turn.is_some() || forms.len() >= MAX_PASSES {
            return forms.drain(turn.unwrap_or(MAX_PASSES - 1)..).fold(next, Expr::min);
        }
        forms.push(next);
    }
}

/// Adds the next value to each single one: what holds of more values holds of fewer, and nothing knows a constant for the
/// variable.
fn widen_points(ranges: &mut Ranges) {
    let all = ranges.dims.iter_mut().chain(&mut ranges.ranges).chain(&mut ranges.runtime);
    for bounds in all {
        if let Some(value) = bounds.as_point() {
            *bounds = match value.checked_add(1) {
                Some(next) => Interval::new(value, next),
                None => Interval::new(value - 1, value),
            };
        }
    }
}
