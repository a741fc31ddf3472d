//! Derivations: proofs that one expression equals another, checked without the simplifier.
//!
//! Each step is an instance of a law, true by itself over the domain. Each link of the chain replaces one side of a step by the
//! other inside the whole expression. The law `equal-at-every-point` says no more than what it is used for: its condition is that both
//! sides agree at each point, and the checker tries the points itself.
//!
//! ```
//! use weft_affine::{Expr, Interval, Ranges, explain};
//!
//! let e: Expr = "(d0 * 8 + d1) floordiv 8".parse()?;
//! let ranges = Ranges::of_dims([Interval::new(0, 3), Interval::new(0, 7)]);
//! let (_, proof) = explain(&e, &ranges, &[]);
//! proof.check()?;
//! assert_eq!(
//!     proof.to_string(),
//!     "\
//! (d0 * 8 + d1) floordiv 8
//!   = d0 + d1 floordiv 8    by floordiv-of-multiple
//!   = d0                    by floordiv-in-range, since d1 in [0, 7]: d1 floordiv 8 = 0
//! where
//!   floordiv-of-multiple: (c*y + z) floordiv c = y + z floordiv c if c > 0
//!   floordiv-in-range: (c*y + z) floordiv c = y + q if c*q <= z < c*q + c"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chain;
mod check;
mod closure;
mod condition;
mod derive;
mod step;
#[cfg(test)]
mod tests;
mod text;

pub use check::{CheckError, Fault};
pub use step::Step;

use crate::{Constraint, Expr, Ranges};

/// A claim `before = after` over a domain, and its derivation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    before: Expr,
    after: Expr,
    ranges: Ranges,
    constraints: Vec<Constraint>,
    steps: Vec<Step>,
    links: Vec<Link>,
}

/// One link of the chain from the first form of the whole expression to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link {
    /// The indices of the steps that the link uses. One as a rule; several where the form follows from them together
    /// and no order of single replacements was found.
    pub steps: Vec<usize>,
    /// The whole expression after it.
    pub whole: Expr,
}

impl Proof {
    /// The expression that was simplified.
    pub fn before(&self) -> &Expr {
        &self.before
    }

    /// The simplified expression.
    pub fn after(&self) -> &Expr {
        &self.after
    }

    /// The equalities used. A step whose law has an equation among its conditions stands after those that prove the equation.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The calculation: what the whole expression becomes, link by link; empty where nothing changed.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The bounds of the variables under which the claim holds.
    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// The further constraints under which the claim holds.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }
}
