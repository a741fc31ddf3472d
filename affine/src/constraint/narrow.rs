//! Bounds of a variable that follow from a constraint.

use super::laws::{NEGATIVE_SUMMAND, SUMMAND};
use super::residues::Residues;
use super::{Constraint, ConstraintStep};
use crate::range::allowed;
use crate::{Atom, Expr, Interval, Simplifier, Var};

impl Constraint {
    /// The variables whose bounds may follow from the constraint by [`Constraint::narrow`].
    pub fn narrowed_variables(&self) -> impl Iterator<Item = Var> {
        let residues = Residues::of(self).and_then(|r| r.sum.as_var());
        let summands = self.expr.terms().iter().filter_map(|t| match t.atom {
            Atom::Var(v) => Some(v),
            _ => None,
        });
        summands.chain(residues)
    }

    /// The bounds that are left of `known` for the variable `v` where the constraint holds: against the range of the other
    /// summands, or by the residues of the variable. `simplifier` knows the rest of the domain.
    pub fn narrow(
        &self,
        v: Var,
        known: Interval,
        simplifier: &mut Simplifier,
        steps: &mut Vec<ConstraintStep>,
    ) -> Interval {
        let variable = Constraint::new(Expr::var(v), known);
        if let Some(tight) = variable.tightened_by(self, steps) {
            return tight.bounds;
        }
        let Some(term) = self.expr.terms().iter().find(|t| t.atom == Atom::Var(v)) else { return known };
        let a = term.coefficient;
        let Some(rest) = a.checked_neg().and_then(|minus| self.expr.checked_add_scaled(&variable.expr, minus).ok())
        else {
            return known;
        };
        let bounds = known.intersect(allowed(self.bounds, simplifier.range_of(&rest), a));
        if bounds != known {
            let law = if a < 0 { NEGATIVE_SUMMAND } else { SUMMAND };
            let narrowed = Constraint::new(variable.expr.clone(), bounds);
            steps.push(ConstraintStep::new(law, &[self, &variable], &[self, &narrowed]));
        }
        bounds
    }
}
