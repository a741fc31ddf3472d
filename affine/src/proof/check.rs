//! The checker of derivations, independent of the simplifier.

use super::closure::{Claim, reasons_for};
use super::condition::{Domain, Evidence, evidence};
use super::{Link, Proof, Step};
use crate::{Error, Expr, Interval};

/// Why a derivation does not hold. Steps and links count from one, as a reader would.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A step is no instance of a law.
    #[error("step {step}, {law}: {fault}")]
    Step {
        /// The index of the step.
        step: usize,
        /// The law it names.
        law: &'static str,
        /// The fault of the step.
        fault: Fault,
    },
    /// A form of the whole expression does not follow from the one before it by the steps it names.
    #[error("link {link}: {whole} does not follow from {before}")]
    Link {
        /// The index of the link.
        link: usize,
        /// The form before.
        before: Expr,
        /// The form that should follow.
        whole: Expr,
    },
    /// The last form is not what was claimed.
    #[error("the chain ends in {found}, not in {claimed}")]
    End {
        /// The last form.
        found: Expr,
        /// The last form, as claimed.
        claimed: Expr,
    },
}

/// A fault of a single step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is no such law, or its text is another one.
    #[error("this is no law")]
    UnknownLaw,
    /// The text of the law makes no sense of the letters.
    #[error("{0}")]
    Letters(Error),
    /// The law is an equivalence, which rewrites constraints and no expressions.
    #[error("the law is no equation")]
    NoEquation,
    /// The law says something else of these letters.
    #[error("of these letters the law says {left} = {right}")]
    OtherClaim {
        /// Its left side.
        left: Expr,
        /// Its right side.
        right: Expr,
    },
    /// A condition of the law was not proved.
    #[error("the condition {condition} was not proved")]
    Condition {
        /// The condition, over letters.
        condition: String,
    },
    /// A range is wider than the step says.
    #[error("{expr} is in {found}, which {claimed} does not hold")]
    Range {
        /// The expression.
        expr: Expr,
        /// The range that the step claims.
        claimed: Interval,
        /// The range that range analysis proves.
        found: Interval,
    },
}

impl Proof {
    /// Checks every step and every link. The work grows with the size of the derivation, and nothing that the simplifier
    /// computed is believed: the laws are read from their text, ranges are computed from [`Proof::ranges`] and
    /// [`Proof::constraints`], and links follow by replacing equals.
    ///
    /// # Errors
    /// The first fault found. Conditions and links are judged exactly, however large their numbers are; a true claim with a sound
    /// derivation may fail only where the expressions are too large for the bounds on the work.
    pub fn check(&self) -> Result<(), CheckError> {
        let mut domain = Domain::new(&self.ranges, &self.constraints);
        for (i, step) in self.steps.iter().enumerate() {
            check_step(step, &self.steps[..i], &mut domain).map_err(|fault| CheckError::Step {
                step: i + 1,
                law: step.law.name,
                fault,
            })?;
        }
        let mut before = &self.before;
        for (i, link) in self.links.iter().enumerate() {
            if !self.link_holds(before, link) {
                let (before, whole) = (before.clone(), link.whole.clone());
                return Err(CheckError::Link { link: i + 1, before, whole });
            }
            before = &link.whole;
        }
        if *before == self.after {
            Ok(())
        } else {
            Err(CheckError::End { found: before.clone(), claimed: self.after.clone() })
        }
    }

    fn link_holds(&self, before: &Expr, link: &Link) -> bool {
        let steps: Option<Vec<&Step>> = link.steps.iter().map(|i| self.steps.get(*i)).collect();
        steps.is_some_and(|steps| follows(Claim::Equal(before, &link.whole), steps.into_iter()))
    }
}

fn check_step(step: &Step, earlier: &[Step], domain: &mut Domain<'_>) -> Result<(), Fault> {
    if !crate::laws().iter().any(|law| **law == *step.law) {
        return Err(Fault::UnknownLaw);
    }
    let statement = step.law.statement().map_err(Fault::Letters)?;
    let (left, right) = statement.equation().ok_or(Fault::NoEquation)?;
    let left = left.instantiate(&step.letters).map_err(Fault::Letters)?;
    let right = right.instantiate(&step.letters).map_err(Fault::Letters)?;
    if (&left, &right) != (&step.before, &step.after) {
        return Err(Fault::OtherClaim { left, right });
    }
    for (condition, evidence) in evidence(step, domain).map_err(Fault::Letters)? {
        let holds = match evidence {
            Evidence::Given | Evidence::Range(..) => true,
            Evidence::Owed(zero) => follows(Claim::Zero(&zero), earlier.iter()),
            Evidence::Missing => false,
        };
        if !holds {
            return Err(Fault::Condition { condition });
        }
    }
    for (e, claimed) in &step.ranges {
        let found = domain.analysis.range(e);
        if !claimed.contains_interval(found) {
            return Err(Fault::Range { expr: e.clone(), claimed: *claimed, found });
        }
    }
    Ok(())
}

/// True when the claim holds by these steps.
fn follows<'a>(claim: Claim<'_>, steps: impl Iterator<Item = &'a Step> + Clone) -> bool {
    let equations = steps.enumerate().map(|(i, step)| (i, &step.before, &step.after));
    reasons_for(claim, equations).is_some()
}
