//! Constraints: facts `expr in [lo, hi]` about a domain, and the algebra of them.
//!
//! Each rule is an equivalence: where the rest of the domain holds, the constraints before hold exactly where those after
//! do. They are among the [`laws`](crate::laws). A rule that would need a bound beyond `i64` does not apply, and the
//! ends of `i64` are no bounds.

mod canonical;
mod laws;
mod narrow;
mod residues;

#[cfg(test)]
mod tests;

pub use canonical::Canonical;
pub use residues::Merge;

pub(crate) use laws::LAWS;

use std::fmt;

use crate::{Expr, Interval, Law};

/// A fact about the domain: the value of `expr` lies in `bounds`.
///
/// ```
/// use weft_affine::{Constraint, Interval, Merge, Canonical, Ranges, Simplifier, Var};
///
/// let [d0, d1] = Var::dims();
/// let (mut steps, mut domain) = (Vec::new(), Simplifier::new(&Ranges::default(), &[]));
/// let quotient = Constraint::new((d0 + 2).floor_div(4), Interval::new(1, 3));
/// let plain = Constraint::new(d0.into(), Interval::new(2, 13));
/// assert_eq!(quotient.canonicalize(&mut domain, &mut steps), Canonical::Open(plain));
/// assert_eq!(steps[0].before, [quotient]);
///
/// let odd = Constraint::new(d1.modulo(2), Interval::point(1));
/// let third = Constraint::new(d1.modulo(3), Interval::point(2));
/// let both = Constraint::new(d1.modulo(6), Interval::point(5));
/// assert_eq!(odd.merge(&third, &mut steps), Merge::One(both));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Constraint {
    /// The bounded expression.
    pub expr: Expr,
    /// The values it may have.
    pub bounds: Interval,
}

impl Constraint {
    /// `expr in bounds`.
    pub fn new(expr: Expr, bounds: Interval) -> Constraint {
        Constraint { expr, bounds }
    }
}

/// The text of the specification: `d0 + d1 in [0, 9]`.
impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.expr, self.bounds)
    }
}

/// One use of a law: where the rest of the domain holds, the constraints before hold exactly where those after do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConstraintStep {
    /// The law that was applied.
    pub law: &'static Law,
    /// A conjunction.
    pub before: Vec<Constraint>,
    /// A conjunction; without any constraint it always holds.
    pub after: Vec<Constraint>,
}

impl ConstraintStep {
    fn new(law: &'static Law, before: &[&Constraint], after: &[&Constraint]) -> ConstraintStep {
        let owned = |all: &[&Constraint]| all.iter().map(|c| (*c).clone()).collect();
        ConstraintStep { law, before: owned(before), after: owned(after) }
    }
}

/// `d0 * 2 in [1, 9] <=> d0 in [1, 4]    by bounds-of-multiple`.
impl fmt::Display for ConstraintStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_all(f, &self.before)?;
        f.write_str(" <=> ")?;
        write_all(f, &self.after)?;
        write!(f, "    by {}", self.law.name)
    }
}

fn write_all(f: &mut fmt::Formatter<'_>, all: &[Constraint]) -> fmt::Result {
    if all.is_empty() {
        return f.write_str("true");
    }
    if all.iter().any(|c| c.bounds.is_empty()) {
        return f.write_str("false");
    }
    for (i, constraint) in all.iter().enumerate() {
        write!(f, "{}{constraint}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}
