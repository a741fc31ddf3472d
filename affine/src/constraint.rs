//! Constraints: facts `expr in [lo, hi]` about a domain, and the algebra of them.
//!
//! Each rule is an equivalence: where the rest of the domain holds, the constraints before hold exactly where those after
//! do. They are among the [`laws`](crate::laws), as K0 to K7. A rule that would need a bound beyond `i64` does not apply, and the
//! ends of `i64` are no bounds.

mod bounds;
mod laws;
mod narrow;
mod plain;
mod residues;
mod step;

#[cfg(test)]
mod tests;

pub use plain::Plain;
pub use residues::Merge;
pub use step::ConstraintStep;

pub(crate) use laws::LAWS;

use std::fmt;

use crate::{Expr, Interval};

/// A fact about the domain: the value of `expr` lies in `bounds`.
///
/// ```
/// use weft_affine::{Constraint, Interval, Merge, Plain, Ranges, Simplifier, Var};
///
/// let [d0, d1] = Var::dims();
/// let (mut steps, mut domain) = (Vec::new(), Simplifier::new(&Ranges::default(), &[]));
/// let quotient = Constraint::new((d0 + 2).floor_div(4), Interval::new(1, 3));
/// let plain = Constraint::new(d0.into(), Interval::new(2, 13));
/// assert_eq!(quotient.plainest(&mut domain, &mut steps), Plain::Open(plain));
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
