//! How the conditions of a law are shown to hold where its letters stand for expressions.

use super::Step;
use crate::law::Goal;
use crate::points::is_implied;
use crate::range::Analysis;
use crate::simplify::rules::sum::EVERY_POINT;
use crate::{Constraint, Error, Expr, Interval, Ranges};

/// Points times operations that a condition may take; the simplifier's own bound is [`Config::points`](crate::Config::points).
const WORK: u128 = 1 << 24;

/// What conditions are shown from.
pub(super) struct Domain<'a> {
    pub(super) analysis: Analysis,
    constraints: &'a [Constraint],
}

impl Domain<'_> {
    pub(super) fn new<'a>(ranges: &Ranges, constraints: &'a [Constraint]) -> Domain<'a> {
        Domain { analysis: Analysis::new(ranges, constraints), constraints }
    }

    /// True where a constraint says it in so many words. Where constraints contradict the ranges, the domain is empty, and
    /// the analysis takes the ranges' part; then only this shows what a constraint says.
    fn is_given(&self, zero: &Expr) -> bool {
        self.constraints.iter().any(|given| {
            let value = given.bounds.as_point().and_then(i64::checked_neg);
            value.is_some_and(|value| given.expr.checked_add_constant(value).is_ok_and(|e| e == *zero))
        })
    }

    /// True where trying all points that matter shows it, in [`WORK`] steps at most.
    fn is_zero_everywhere(&self, e: &Expr) -> bool {
        let zero = Constraint::new(e.clone(), Interval::point(0));
        is_implied(&zero, self.analysis.ranges(), self.constraints, WORK)
    }
}

/// What shows that a condition holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Its numbers, a constraint that says the same, or its value at every point.
    Given,
    /// The range of an expression over the domain.
    Range(Expr, Interval),
    /// Nothing yet: the expression must be zero by earlier steps.
    Owed(Expr),
    /// Nothing.
    Missing,
}

/// The evidence for each condition of the law of a step, with the condition's text.
///
/// # Errors
/// When the law's text cannot be read, or its conditions do not make sense of the letters.
pub(super) fn evidence(step: &Step, domain: &mut Domain<'_>) -> Result<Vec<(String, Evidence)>, Error> {
    let conditions = step.law.statement()?.conditions;
    let all = conditions.iter().map(|condition| {
        let goal = condition.goal(&step.letters)?;
        let shown = match &goal {
            Goal::Zero(e) if *step.law == *EVERY_POINT && domain.is_zero_everywhere(e) => Evidence::Given,
            goal => shown(goal, domain),
        };
        Ok((condition.to_string(), shown))
    });
    all.collect()
}

fn shown(goal: &Goal, domain: &mut Domain<'_>) -> Evidence {
    let analysis = &mut domain.analysis;
    match goal {
        Goal::Zero(e) => match e.as_constant() {
            Some(0) => Evidence::Given,
            Some(_) => Evidence::Missing,
            None if analysis.range(e).as_point() == Some(0) => claim(e, analysis),
            None if domain.is_given(e) || e.checked_neg().is_ok_and(|e| domain.is_given(&e)) => Evidence::Given,
            None => Evidence::Owed(e.clone()),
        },
        Goal::NonNegative(e) => match e.as_constant() {
            Some(0..) => Evidence::Given,
            None if analysis.range(e).lo >= 0 => claim(e, analysis),
            _ => Evidence::Missing,
        },
        Goal::Multiple(e, divisor) => {
            let mut numbers = e.terms().iter().map(|t| t.coefficient).chain([e.constant_term()]);
            match e.checked_modulo(*divisor) {
                _ if numbers.all(|n| n % divisor == 0) => Evidence::Given,
                Ok(rest) if analysis.range(&rest).as_point() == Some(0) => Evidence::Range(rest, Interval::point(0)),
                _ => Evidence::Missing,
            }
        }
    }
}

/// The range of the sum as a reader would ask for it: without the constant, and the first coefficient positive.
fn claim(e: &Expr, analysis: &mut Analysis) -> Evidence {
    let mut plain = e.without_constant();
    if plain.terms().first().is_some_and(|t| t.coefficient < 0) {
        plain = plain.checked_neg().unwrap_or(plain);
    }
    let range = analysis.range(&plain);
    Evidence::Range(plain, range)
}
