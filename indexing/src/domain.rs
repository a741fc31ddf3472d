//! The domain: its constraints in their plainest form, and what follows from them for bounds.
//!
//! What a rule may do with constraints is the business of `weft-affine`; here they are applied to a whole domain until
//! none changes it.

use weft_affine::{Constraint, ConstraintStep, Merge, Plain, Ranges, Simplifier};

use crate::IndexingMap;
use crate::map::State;

/// Rounds in which bounds may narrow one another. Most domains need two; where bounds creep towards each other more are
/// not worth it.
const ROUNDS: usize = 128;

/// Whether bounds of variables follow from constraints on more than them.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Narrowing {
    On,
    Off,
}

impl IndexingMap {
    /// Simplifies constraints, bounds and results; true when something changed.
    ///
    /// The domain stays the same set of points, and the results keep their values on it. A map whose domain is found empty
    /// becomes known empty. Bounds of runtime variables stay, since they are part of what the variable means. The domain that
    /// results does not depend on the order of the constraints, and simplifying it again changes nothing.
    pub fn simplify(&mut self) -> bool {
        self.simplify_logged(&mut Vec::new())
    }

    /// As [`IndexingMap::simplify`], with the steps by which the domain became what it is. Each step is an equivalence that
    /// holds where the rest of the domain does, as it stood then. For how the results became what they are, see
    /// [`weft_affine::explain`].
    pub fn simplify_explained(&mut self) -> Vec<ConstraintStep> {
        let mut steps = Vec::new();
        self.simplify_logged(&mut steps);
        steps
    }

    fn simplify_logged(&mut self, steps: &mut Vec<ConstraintStep>) -> bool {
        if self.is_undefined() || self.is_known_empty() {
            return false;
        }
        let changed = !self.constraints.is_empty() && self.settle_domain(steps);
        if self.is_known_empty() {
            // Those on the way to that verdict may say things that a domain says with bounds, and would not be read back.
            self.constraints.clear();
        }
        // The domain does not depend on the results, so they are simplified once, over what is finally known.
        (!self.is_known_empty() && self.simplify_results()) || changed
    }

    fn simplify_results(&mut self) -> bool {
        let mut simplifier = Simplifier::new(&self.variable_ranges(), &self.constraints);
        let mut changed = false;
        let accesses = self.runtime.iter_mut().flat_map(|v| &mut v.access);
        for e in self.results.iter_mut().chain(accesses) {
            let simple = simplifier.simplify(e);
            changed |= simple != *e;
            *e = simple;
        }
        changed
    }

    fn domain(&self) -> (Vec<Constraint>, Ranges, State) {
        (self.constraints.clone(), self.variable_ranges(), self.state)
    }

    /// Simplifies the domain until nothing changes; true when something did.
    ///
    /// Where narrowing does not come to an end it is left out, so that half of it is not taken for a result that simplifying
    /// again would move.
    fn settle_domain(&mut self, steps: &mut Vec<ConstraintStep>) -> bool {
        let original = (self.dims.clone(), self.ranges.clone(), self.domain());
        for narrowing in [Narrowing::On, Narrowing::Off] {
            let mut rounds = 0;
            while self.simplify_domain(narrowing, steps) && !self.is_known_empty() && rounds < ROUNDS {
                rounds += 1;
            }
            if rounds < ROUNDS || narrowing == Narrowing::Off {
                break;
            }
            (self.dims, self.ranges) = (original.0.clone(), original.1.clone());
            self.constraints = original.2.0.clone();
            steps.clear();
        }
        self.domain() != original.2
    }

    /// Rewrites the constraints one after another, each with the help of all others as they stand then; true when something
    /// changed.
    fn simplify_domain(&mut self, narrowing: Narrowing, steps: &mut Vec<ConstraintStep>) -> bool {
        let before = self.domain();
        // In one order, whatever the order before: of two constraints that follow from one another the first one goes.
        self.constraints.sort();
        self.merge_constraints(steps);
        let mut i = 0;
        while i < self.constraints.len() && !self.is_known_empty() {
            let constraint = self.constraints.remove(i);
            let mut simplifier = Simplifier::new(&self.variable_ranges(), &self.constraints);
            match constraint.plainest(&mut simplifier, steps) {
                Plain::Always => {}
                Plain::Never => self.set_known_empty(),
                Plain::Open(plain) => {
                    if let Some(known) = plain.expr.as_var().and_then(|v| self.variable_mut(v)) {
                        known.bounds = known.bounds.intersect(plain.bounds);
                    } else {
                        if narrowing == Narrowing::On {
                            self.narrow(&plain, &mut simplifier, steps);
                        }
                        self.constraints.insert(i, plain);
                        i += 1;
                    }
                }
            }
            if self.variable_ranges().has_empty() {
                self.set_known_empty();
            }
        }
        self.constraints.sort();
        before != self.domain()
    }

    /// Bounds of dimension and range variables that follow from one constraint. Those of a runtime variable are part of its
    /// meaning.
    fn narrow(&mut self, constraint: &Constraint, simplifier: &mut Simplifier, steps: &mut Vec<ConstraintStep>) {
        for v in constraint.narrowed_variables() {
            if let Some(known) = self.variable_mut(v) {
                known.bounds = constraint.narrow(v, known.bounds, simplifier, steps);
            }
        }
    }

    /// Constraints on one sum become one where one says what both say, and tighten one another where none does.
    fn merge_constraints(&mut self, steps: &mut Vec<ConstraintStep>) {
        let mut i = 0;
        while i < self.constraints.len() {
            let mut j = i + 1;
            while let (Some(first), Some(second)) = (self.constraints.get(i), self.constraints.get(j)) {
                match first.merge(second, steps) {
                    Merge::Never => return self.set_known_empty(),
                    Merge::One(both) => {
                        self.constraints.remove(j);
                        self.constraints[i] = both;
                        j = i + 1;
                    }
                    Merge::Unrelated => {
                        if let Some(tight) = first.tightened_by(second, steps) {
                            self.constraints[i] = tight;
                        } else if let Some(tight) = second.tightened_by(first, steps) {
                            self.constraints[j] = tight;
                        }
                        j += 1;
                    }
                }
            }
            i += 1;
        }
    }
}
