//! The derivation: which rule turned what into what, each step checkable on its own.

use std::fmt;

use crate::{Constraint, Expr, Ranges};

/// One equality used on the way: `before = after` over the domain, by `rule`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The name of the rule.
    pub rule: &'static str,
    /// The expression before, a part of the whole.
    pub before: Expr,
    /// The expression after.
    pub after: Expr,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}    by {}", self.before, self.after, self.rule)
    }
}

/// A claim `before = after` over a domain, with the equalities from which it follows by replacing equals.
///
/// Each step is true by itself wherever the domain holds, so each can be checked alone. Steps stand in the order in which they
/// were found, and some may belong to trials that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    before: Expr,
    after: Expr,
    steps: Vec<Step>,
    ranges: Ranges,
    constraints: Vec<Constraint>,
}

impl Proof {
    pub(crate) fn new(
        before: Expr,
        after: Expr,
        steps: Vec<Step>,
        ranges: Ranges,
        constraints: Vec<Constraint>,
    ) -> Proof {
        Proof { before, after, steps, ranges, constraints }
    }

    /// What was simplified.
    pub fn before(&self) -> &Expr {
        &self.before
    }

    /// What it became.
    pub fn after(&self) -> &Expr {
        &self.after
    }

    /// The equalities used, in the order in which they were found.
    pub fn steps(&self) -> &[Step] {
        &self.steps
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

/// The claim on the first line, then a line for each step.
impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.before, self.after)?;
        for step in &self.steps {
            write!(f, "\n  {step}")?;
        }
        Ok(())
    }
}
