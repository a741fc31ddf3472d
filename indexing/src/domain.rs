//! Canonicalization of a domain: its constraints, and the bounds of variables that follow from them.
//!
//! What a rule may do with constraints is the business of `weft-affine`; here they are applied to a whole domain until
//! none changes it.

use weft_affine::{Canonical, Config, Constraint, ConstraintStep, Merge, Ranges, Simplifier};

use crate::IndexingMap;
use crate::map::State;
use crate::overflow::constraint_adds_overflow;

/// Rounds in which bounds may narrow one another. Most domains need two; where bounds creep towards each other more are
/// not worth it.
const MAX_ROUNDS: usize = 128;

/// Whether bounds of variables follow from constraints on more than them.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Narrowing {
    On,
    Off,
}

impl IndexingMap {
    fn domain(&self) -> (Vec<Constraint>, Ranges, State) {
        (self.constraints.clone(), self.variable_ranges(), self.state)
    }

    /// Simplifies the domain until nothing changes; true when something did, other than the order of the constraints.
    ///
    /// Where narrowing does not come to an end it is left out, so that half of it is not taken for a result that simplifying
    /// again would move.
    pub(crate) fn canonicalize_domain(&mut self, steps: &mut Vec<ConstraintStep>) -> bool {
        let original = self.clone();
        for narrowing in [Narrowing::On, Narrowing::Off] {
            self.take_apart(steps);
            if self.reaches_a_fixed_point(narrowing, steps) || narrowing == Narrowing::Off {
                break;
            }
            *self = original.clone();
            steps.clear();
        }
        *self != original
    }

    /// Simplifies the domain round after round; true where that reaches a fixed point.
    ///
    /// Mostly the last round changes nothing. Where domains take turns, as those do where a sum and its negative simplify to
    /// different forms of one cost, the end is the first of them in the order of their constraints, wherever the turn began.
    fn reaches_a_fixed_point(&mut self, narrowing: Narrowing, steps: &mut Vec<ConstraintStep>) -> bool {
        // Each domain on the way, and how many steps led to it.
        let mut passed = vec![(self.domain(), steps.len())];
        while !self.is_known_empty() && passed.len() <= MAX_ROUNDS {
            self.simplify_domain(narrowing, steps);
            let now = self.domain();
            if let Some(turn) = passed.iter().position(|(domain, _)| *domain == now) {
                let turns = passed.drain(turn..).min_by(|(a, _), (b, _)| a.0.cmp(&b.0));
                // Bounds only ever get narrower, so those of domains that take turns are the same.
                if let Some(((constraints, ..), logged)) = turns {
                    self.constraints = constraints;
                    steps.truncate(logged);
                }
                return true;
            }
            passed.push((now, steps.len()));
        }
        self.is_known_empty()
    }

    /// Takes apart constraints of one variable as they are written, before anything is simplified, where that ends at bounds of
    /// the variable: bounds of a quotient are bounds of its dividend, which is no longer seen once the quotient is split into a
    /// sum.
    fn take_apart(&mut self, steps: &mut Vec<ConstraintStep>) {
        let as_written = Config { max_steps: 0, ..Config::directed() };
        let mut i = 0;
        while let Some(constraint) = self.constraints.get(i) {
            i += 1;
            let e = &constraint.expr;
            if e.terms().len() != 1 || e.is_linear() || e.variables().len() != 1 {
                continue;
            }
            let mut simplifier = Simplifier::with_config(&Ranges::default(), &[], as_written);
            let mut taken = Vec::new();
            let Canonical::Open(plain) = constraint.canonicalize(&mut simplifier, &mut taken) else { continue };
            if let Some(known) = plain.expr.as_var().and_then(|v| self.bounds_mut(v)) {
                *known = known.intersect(plain.bounds);
                steps.append(&mut taken);
                i -= 1;
                self.constraints.remove(i);
            }
        }
        if self.variable_ranges().has_empty() {
            self.set_known_empty();
        }
    }

    /// Rewrites the constraints one after another, each with the help of all others as they stand then.
    fn simplify_domain(&mut self, narrowing: Narrowing, steps: &mut Vec<ConstraintStep>) {
        // In one order, whatever the order before: of two constraints that follow from one another the first one goes.
        self.constraints.sort();
        self.merge_constraints(steps);
        let mut i = 0;
        while i < self.constraints.len() && !self.is_known_empty() {
            let constraint = self.constraints.remove(i);
            let ranges = self.variable_ranges();
            let mut simplifier = Simplifier::new(&ranges, &self.constraints);
            let logged = steps.len();
            match constraint.canonicalize(&mut simplifier, steps) {
                Canonical::Always => {}
                Canonical::Never => self.set_known_empty(),
                Canonical::Open(plain) => {
                    if let Some(known) = plain.expr.as_var().and_then(|v| self.bounds_mut(v)) {
                        *known = known.intersect(plain.bounds);
                    } else {
                        // A point at which only the plain form overflows would be lost.
                        let kept = if constraint_adds_overflow(&plain, &constraint, &ranges) {
                            steps.truncate(logged);
                            constraint
                        } else {
                            plain
                        };
                        if narrowing == Narrowing::On {
                            self.narrow_by(&kept, &mut simplifier, steps);
                        }
                        self.constraints.insert(i, kept);
                        i += 1;
                    }
                }
            }
            if self.variable_ranges().has_empty() {
                self.set_known_empty();
            }
        }
        self.constraints.sort();
    }

    /// Bounds of variables that follow from one constraint. Those of a runtime variable that clamps are part of its meaning.
    fn narrow_by(&mut self, constraint: &Constraint, simplifier: &mut Simplifier, steps: &mut Vec<ConstraintStep>) {
        for v in constraint.narrowed_variables() {
            if let Some(known) = self.bounds_mut(v) {
                *known = constraint.narrow(v, *known, simplifier, steps);
            }
        }
    }

    /// Constraints on one sum become one where one says what both say, and tighten one another where none does.
    fn merge_constraints(&mut self, steps: &mut Vec<ConstraintStep>) {
        let ranges = self.variable_ranges();
        let mut i = 0;
        while i < self.constraints.len() {
            let mut j = i + 1;
            while let (Some(first), Some(second)) = (self.constraints.get(i), self.constraints.get(j)) {
                let logged = steps.len();
                match first.merge(second, steps) {
                    Merge::Never => return self.set_known_empty(),
                    Merge::One(both) if [first, second].iter().all(|c| constraint_adds_overflow(&both, c, &ranges)) => {
                        steps.truncate(logged);
                        j += 1;
                    }
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
