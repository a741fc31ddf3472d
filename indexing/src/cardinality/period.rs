//! Periods of constraints in a variable.

use weft_affine::{Atom, Expr, Interval, Var};

use crate::IndexingMap;
use crate::rational::common_divisor;

/// The values of a variable by what the constraints say of them.
pub(super) struct Classes {
    bounds: Interval,
    period: i64,
}

impl Classes {
    /// How many classes there are; no more than values.
    pub(super) fn period(&self) -> u128 {
        u128::from(self.period.unsigned_abs()).min(self.bounds.size())
    }

    /// The least value of each class, and how many values are in it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, u128)> + '_ {
        let period = u128::from(self.period.unsigned_abs());
        let (whole, rest) = (self.bounds.size() / period, self.bounds.size() % period);
        let first = self.bounds.lo;
        (0..).map_while(move |i: u128| {
            let count = whole + u128::from(i < rest);
            let value = first.checked_add(i64::try_from(i).ok()?)?;
            (i < period && count > 0).then_some((value, count))
        })
    }
}

/// The classes of `v`, where every constraint repeats. Nothing where one does not, or its period is beyond `i64`.
pub(super) fn classes(domain: &IndexingMap, v: Var, bounds: Interval) -> Option<Classes> {
    let mut period = 1;
    for constraint in domain.constraints.iter().filter(|c| c.expr.variables().contains(&v)) {
        let shift = Shift::of(&constraint.expr, v)?;
        if shift.growth != 0 {
            return None;
        }
        period = least_common_multiple(period, shift.period)?;
    }
    Some(Classes { bounds, period })
}

/// `e(v + period) = e(v) + growth`, whatever `v`.
struct Shift {
    period: i64,
    growth: i64,
}

impl Shift {
    fn of(e: &Expr, v: Var) -> Option<Shift> {
        let mut total = Shift { period: 1, growth: 0 };
        for term in e.terms() {
            let own = match &term.atom {
                Atom::Var(w) => Shift { period: 1, growth: i64::from(*w == v) },
                Atom::FloorDiv(x, c) => {
                    let inner = Shift::of(x, v)?.until_multiple_of(*c)?;
                    Shift { growth: inner.growth / c, ..inner }
                }
                Atom::Mod(x, c) => Shift { growth: 0, ..Shift::of(x, v)?.until_multiple_of(*c)? },
            };
            let period = least_common_multiple(total.period, own.period)?;
            let growth = total.after(period)?.checked_add(own.after(period)?.checked_mul(term.coefficient)?)?;
            total = Shift { period, growth };
        }
        Some(total)
    }

    /// The growth over a multiple of the period.
    fn after(&self, period: i64) -> Option<i64> {
        self.growth.checked_mul(period / self.period)
    }

    /// The least multiple of the period over which the growth is a multiple of `c`.
    fn until_multiple_of(self, c: i64) -> Option<Shift> {
        let period = self.period.checked_mul(c / common_divisor(self.growth, c)?)?;
        Some(Shift { period, growth: self.after(period)? })
    }
}

fn least_common_multiple(a: i64, b: i64) -> Option<i64> {
    a.checked_mul(b / common_divisor(a, b)?)
}
