//! Proofs of a law's conditions where its letters stand for expressions.

use super::Step;
use crate::law::{Goal, WideSum};
use crate::points::{is_implied, is_linear_form};
use crate::range::Analysis;
use crate::simplify::rules::sum::EQUAL_AT_EVERY_POINT;
use crate::{Constraint, Error, Expr, Interval, Ranges};

/// Points times operations that a condition may take; the simplifier's own bound is [`Config::max_points_work`](crate::Config::max_points_work).
const MAX_WORK: u128 = 1 << 24;

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
    fn is_given(&self, zero: &WideSum) -> bool {
        self.constraints.iter().any(|given| {
            let Some(value) = given.bounds.as_point() else { return false };
            let difference = WideSum::of(&given.expr).plus(&WideSum::constant(i128::from(value)), -1);
            difference.is_ok_and(|known| known == *zero || known.negated().is_ok_and(|known| known == *zero))
        })
    }

    /// True where trying all points that matter shows that both are equal, in [`MAX_WORK`] steps at most.
    fn is_equal_everywhere(&self, [x, y]: [&Expr; 2]) -> bool {
        let (ranges, constraints) = (self.analysis.ranges(), self.constraints);
        let is_zero = |e: Expr| is_implied(&Constraint::new(e, Interval::point(0)), ranges, constraints, MAX_WORK);
        x.checked_sub(y).is_ok_and(is_zero)
            || is_linear_form(x, y, ranges, constraints, MAX_WORK)
            || is_linear_form(y, x, ranges, constraints, MAX_WORK)
    }

    /// The least and the greatest value of the sum, as far as ranges tell. Ranges are those of integers, and their ends are cut
    /// off at those of `i64`; so the sum is looked at in several ways, each of which may be cut off where others are not.
    fn ends(&mut self, sum: &WideSum) -> Ends {
        let mut ends = Ends { below: sum.as_constant(), above: sum.as_constant() };
        if ends.below.is_some() {
            return ends;
        }
        let (shift, plain) = (sum.constant_term(), sum.without_constant());
        if let Ok(e) = sum.narrow() {
            ends.learn(Ends::of(self.analysis.range(&e)), 1, 0);
        }
        if let Ok(e) = plain.narrow() {
            ends.learn(Ends::of(self.analysis.range(&e)), 1, shift);
        }
        if let Ok(e) = plain.negated().and_then(|negated| negated.narrow()) {
            ends.learn(Ends::of(self.analysis.range(&e)), -1, shift);
        }
        let mut total = Ends { below: Some(0), above: Some(0) };
        for (atom, coefficient) in plain.terms() {
            let range = Ends::of(self.analysis.range(&Expr::from_atom(atom.clone())));
            total = total.plus(range.times(coefficient));
        }
        ends.learn(total, 1, shift);
        ends
    }

    /// True where the sum is zero or positive everywhere; it is the difference of `sides`, of which a range may be known where one
    /// of the difference is cut off.
    fn is_non_negative(&mut self, sum: &WideSum, sides: &[WideSum; 2]) -> bool {
        let mut ends = self.ends(sum);
        for side in sides {
            for factor in [1, -1] {
                let rest = sum.clone().plus(side, -factor).ok();
                if let Some(number) = rest.and_then(|rest| rest.as_constant()) {
                    let known = self.ends(side);
                    ends.learn(known, factor, number);
                }
            }
        }
        ends.below.is_some_and(|least| least >= 0)
    }
}

/// The least and the greatest value of something, exactly; nothing where there is no bound.
#[derive(Copy, Clone, Debug)]
struct Ends {
    below: Option<i128>,
    above: Option<i128>,
}

impl Ends {
    fn of(range: Interval) -> Ends {
        Ends { below: range.bound_below(), above: range.bound_above() }
    }

    fn times(self, factor: i128) -> Ends {
        let scaled = |end: Option<i128>| end?.checked_mul(factor);
        let (below, above) = if factor < 0 { (self.above, self.below) } else { (self.below, self.above) };
        Ends { below: scaled(below), above: scaled(above) }
    }

    fn plus(self, other: Ends) -> Ends {
        let plus = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Ends { below: plus(self.below, other.below), above: plus(self.above, other.above) }
    }

    /// Takes in that the values are `factor` times others, and `shift`.
    fn learn(&mut self, others: Ends, factor: i128, shift: i128) {
        let found = others.times(factor).plus(Ends { below: Some(shift), above: Some(shift) });
        self.below = self.below.max(found.below);
        self.above = [self.above, found.above].into_iter().flatten().min();
    }
}

/// What shows that a condition holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Its numbers, a constraint that says the same, its value at every point, or ranges that no expression has.
    Given,
    /// The range of an expression over the domain.
    Range(Expr, Interval),
    /// Nothing yet: the sum must be zero by earlier steps.
    Owed(WideSum),
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
        let sides = condition.sides(&step.letters);
        let is_equal = *step.law == *EQUAL_AT_EVERY_POINT
            && match sides.as_ref().map(|sides| sides.each_ref().map(WideSum::narrow)) {
                Some([Ok(x), Ok(y)]) => domain.is_equal_everywhere([&x, &y]),
                _ => false,
            };
        let shown = if is_equal { Evidence::Given } else { shown(&goal, sides.as_ref(), domain) };
        Ok((condition.to_string(), shown))
    });
    all.collect()
}

fn shown(goal: &Goal, sides: Option<&[WideSum; 2]>, domain: &mut Domain<'_>) -> Evidence {
    match goal {
        Goal::Zero(sum) => match (sum.as_constant(), domain.ends(sum)) {
            (Some(0), _) => Evidence::Given,
            (Some(_), _) => Evidence::Missing,
            (None, Ends { below: Some(0), above: Some(0) }) => claim(sum, domain),
            (None, _) if domain.is_given(sum) => Evidence::Given,
            (None, _) => Evidence::Owed(sum.clone()),
        },
        Goal::NonNegative(sum) => match (sum.as_constant(), sides) {
            (Some(0..), _) => Evidence::Given,
            (Some(_), _) | (None, None) => Evidence::Missing,
            (None, Some(sides)) if domain.is_non_negative(sum, sides) => claim(sum, domain),
            (None, Some(_)) => Evidence::Missing,
        },
        Goal::Multiple(sum, divisor) => {
            let mut numbers = sum.terms().map(|(_, v)| v).chain([sum.constant_term()]);
            if numbers.all(|n| n % divisor == 0) {
                return Evidence::Given;
            }
            let Ok(modulus) = i64::try_from(*divisor) else { return Evidence::Missing };
            // The sum as it is, and where that does not fit, or says nothing, what is left of its numbers.
            for sum in [sum.narrow(), sum.modulo(*divisor).narrow()].into_iter().flatten() {
                if let Ok(rest) = sum.checked_modulo(modulus)
                    && domain.analysis.range(&rest).as_point() == Some(0)
                {
                    return Evidence::Range(rest, Interval::point(0));
                }
            }
            Evidence::Missing
        }
    }
}

/// The range of the sum as a reader would ask for it: without the constant, and the first coefficient positive.
fn claim(sum: &WideSum, domain: &mut Domain<'_>) -> Evidence {
    let plain = sum.without_constant();
    let is_negative = plain.terms().next().is_some_and(|(_, coefficient)| coefficient < 0);
    let signs = if is_negative { [plain.negated(), Ok(plain)] } else { [Ok(plain.clone()), plain.negated()] };
    let fitting = signs.into_iter().flatten().find_map(|sum| sum.narrow().ok());
    fitting.map_or(Evidence::Given, |e| {
        let range = domain.analysis.range(&e);
        Evidence::Range(e, range)
    })
}
