//! Statistics of the random cases, by which every class of them is kept frequent.

use std::fmt;

use weft_affine::{Atom, Expr, Interval, Var};

use super::case::{Case, EXTREME};

/// The least share of the cases, in percent, that each required class must hold.
pub(crate) const MIN_SHARE: usize = 5;

/// How many cases fall into each class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distribution {
    cases: usize,
    /// Classes in the order in which [`Distribution::add`] lists them; `true` for a class that must be frequent.
    classes: Vec<(&'static str, usize, bool)>,
}

impl Distribution {
    /// Counts a case. `has_points` is whether its domain has a point, where that is known. Classes about constraints are
    /// required only where cases are `constrained`.
    pub(crate) fn add(&mut self, case: &Case, has_points: Option<bool>, constrained: bool) {
        self.cases += 1;
        let subject = case.subject();
        let atoms = atoms(subject);
        let used = subject.variables();
        let bounds = |test: fn(Interval) -> bool| case.variables.iter().any(|(_, b)| !b.is_empty() && test(*b));
        let kinds = |test: fn(&Expr, Interval) -> bool| case.constraints.iter().any(|c| test(&c.expr, c.bounds));
        let as_mod = |e: &Expr| matches!(e.as_atom(), Some(Atom::Mod(..)));
        let open = |b: Interval| b.lo == i64::MIN || b.hi == i64::MAX;
        let classes = [
            ("floor division", atoms.iter().any(|a| matches!(a, Atom::FloorDiv(..))), true),
            ("remainder", atoms.iter().any(|a| matches!(a, Atom::Mod(..))), true),
            ("nested twice or deeper", subject.depth() >= 2, true),
            ("nested three times or deeper", subject.depth() >= 3, true),
            ("negative coefficients", atoms_are_subtracted(subject), true),
            ("range variables", used.iter().any(|v| matches!(v, Var::Range(_))), true),
            ("runtime variables", used.iter().any(|v| matches!(v, Var::Runtime(_))), true),
            ("negative bounds", bounds(|b| b.lo < 0 && b.lo > -EXTREME), true),
            ("bounds near the ends of i64", case.has_extreme_bounds(), true),
            ("variables without bound", bounds(open), true),
            ("empty by an interval", case.is_empty_by_bounds(), true),
            ("empty by constraints", !case.is_empty_by_bounds() && has_points == Some(false), constrained),
            ("constraints", !case.constraints.is_empty(), constrained),
            ("several constraints", case.constraints.len() >= 2, constrained),
            ("linear constraint", kinds(|e, _| e.is_linear()), constrained),
            ("equality", kinds(|e, b| e.is_linear() && b.as_point().is_some()), constrained),
            (
                "congruence",
                case.constraints.iter().any(|c| as_mod(&c.expr) && c.bounds.as_point().is_some()),
                constrained,
            ),
            (
                "interval of a remainder",
                case.constraints.iter().any(|c| as_mod(&c.expr) && c.bounds.size() > 1),
                constrained,
            ),
            ("division in a constraint", kinds(|e, _| has_division(e)), constrained),
        ];
        if self.classes.is_empty() {
            self.classes = classes.iter().map(|(name, _, required)| (*name, 0, *required)).collect();
        }
        for ((_, is_member, _), (_, count, _)) in classes.iter().zip(&mut self.classes) {
            *count += usize::from(*is_member);
        }
    }

    /// The required classes that are rare.
    pub(crate) fn rare(&self) -> Vec<&'static str> {
        let rare = |(_, count, required): &&(&str, usize, bool)| *required && count * 100 < self.cases * MIN_SHARE;
        self.classes.iter().filter(rare).map(|(name, ..)| *name).collect()
    }
}

/// A line for each class.
impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count, _) in self.classes.iter().filter(|(_, count, required)| *required || *count > 0) {
            let share = *count as f64 * 100.0 / self.cases.max(1) as f64;
            writeln!(f, "  {share:5.1} %  {name}")?;
        }
        Ok(())
    }
}

fn atoms(e: &Expr) -> Vec<Atom> {
    let inner = e.terms().iter().filter_map(|t| t.atom.argument()).flat_map(atoms);
    e.terms().iter().map(|t| t.atom.clone()).chain(inner).collect()
}

fn atoms_are_subtracted(e: &Expr) -> bool {
    e.terms().iter().any(|t| t.coefficient < 0 || t.atom.argument().is_some_and(atoms_are_subtracted))
}

fn has_division(e: &Expr) -> bool {
    atoms(e).iter().any(|a| matches!(a, Atom::FloorDiv(..)))
}
