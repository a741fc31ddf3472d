//! The steps by which a domain becomes plain.

use std::fmt;

use super::Constraint;
use crate::Law;

/// One use of a law: where the rest of the domain holds, the constraints before hold exactly where those after do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConstraintStep {
    /// What was applied.
    pub law: &'static Law,
    /// A conjunction.
    pub before: Vec<Constraint>,
    /// A conjunction; without any constraint it always holds.
    pub after: Vec<Constraint>,
}

impl ConstraintStep {
    pub(super) fn new(law: &'static Law, before: &[&Constraint], after: &[&Constraint]) -> ConstraintStep {
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
