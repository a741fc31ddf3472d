//! The plainest form of one constraint.

use super::bounds::{without_constant, without_division, without_factor, without_small_part};
use super::laws::{
    LARGE_PART, MULTIPLE, NEGATIVE, QUOTIENT, RANGE_ABOVE, RANGE_ALWAYS, RANGE_BELOW, REMAINDER_ALWAYS,
    REMAINDER_CLIPPED, REMAINDER_NEGATIVE, REMAINDER_TOO_LARGE, SHIFTED, SIMPLIFIED,
};
use super::residues::residue_of_multiple;
use super::{Constraint, ConstraintStep};
use crate::{Atom, Interval, Law, Simplifier};

/// What is left of a constraint in its plainest form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plain {
    /// It holds everywhere in the rest of the domain.
    Always,
    /// It holds nowhere in the rest of the domain.
    Never,
    /// A constraint that holds exactly where the original does.
    Open(Constraint),
}

impl Constraint {
    /// The constraint taken apart as far as what it says can be said of less: its expression simplified, then without
    /// constant (K3), factor (K1), floor division (K2) and summands that decide nothing (K4), remainders clipped (K7).
    ///
    /// `simplifier` knows the rest of the domain, without this constraint. Each law applied is added to `steps`.
    pub fn plainest(&self, simplifier: &mut Simplifier, steps: &mut Vec<ConstraintStep>) -> Plain {
        let mut current = self.clone();
        let mut step = |current: &mut Constraint, law: &'static Law, after: Constraint| {
            steps.push(ConstraintStep::new(law, &[current], &[&after]));
            *current = after;
        };
        loop {
            let simple = simplifier.simplify(&current.expr);
            if simple != current.expr {
                let after = Constraint::new(simple, current.bounds);
                step(&mut current, SIMPLIFIED, after);
            }
            if let Some(after) = without_constant(&current) {
                step(&mut current, SHIFTED, after);
            }
            if let Some((after, a)) = without_factor(&current) {
                step(&mut current, if a < 0 { NEGATIVE } else { MULTIPLE }, after);
            }
            if let Some((law, after)) = residue_of_multiple(&current) {
                step(&mut current, law, after);
            }
            if let Some((law, verdict)) = current.verdict(simplifier) {
                let never = Constraint::new(current.expr.clone(), Interval::EMPTY);
                if let Some(law) = law {
                    let after: &[&Constraint] = if verdict == Plain::Always { &[] } else { &[&never] };
                    steps.push(ConstraintStep::new(law, &[&current], after));
                }
                return verdict;
            }
            if let Some(after) = clipped(&current) {
                step(&mut current, REMAINDER_CLIPPED, after);
            }
            // Each of these leaves fewer divisions or fewer terms, so the loop ends.
            if let Some(after) = without_division(&current) {
                step(&mut current, QUOTIENT, after);
            } else if let Some(after) = without_small_part(&current, simplifier) {
                step(&mut current, LARGE_PART, after);
            } else if simplifier.proves(&current) {
                steps.push(ConstraintStep::new(RANGE_ALWAYS, &[&current], &[]));
                return Plain::Always;
            } else {
                return Plain::Open(current);
            }
        }
    }

    /// Whether the range of the expression decides the constraint, and the law that says so unless its bounds are empty.
    fn verdict(&self, simplifier: &mut Simplifier) -> Option<(Option<&'static Law>, Plain)> {
        let bounds = self.bounds;
        if bounds.is_empty() {
            return Some((None, Plain::Never));
        }
        if let Some(Atom::Mod(_, c)) = self.expr.as_atom() {
            let decided = if bounds.lo >= *c {
                Some((REMAINDER_TOO_LARGE, Plain::Never))
            } else if bounds.hi < 0 {
                Some((REMAINDER_NEGATIVE, Plain::Never))
            } else if bounds.contains_interval(Interval::new(0, c - 1)) {
                Some((REMAINDER_ALWAYS, Plain::Always))
            } else {
                None
            };
            if let Some((law, verdict)) = decided {
                return Some((Some(law), verdict));
            }
        }
        let range = simplifier.range_of(&self.expr);
        if bounds.contains_interval(range) {
            Some((Some(RANGE_ALWAYS), Plain::Always))
        } else if bounds.intersect(range).is_empty() {
            Some((Some(if range.hi < bounds.lo { RANGE_BELOW } else { RANGE_ABOVE }), Plain::Never))
        } else {
            None
        }
    }
}

/// K7: the bounds of a remainder within `[0, c - 1]`.
fn clipped(constraint: &Constraint) -> Option<Constraint> {
    let Some(Atom::Mod(_, c)) = constraint.expr.as_atom() else { return None };
    let bounds = constraint.bounds.intersect(Interval::new(0, c - 1));
    (bounds != constraint.bounds).then(|| Constraint::new(constraint.expr.clone(), bounds))
}
