//! Periods: `e(v + L) = e(v) + s` wherever `v` and `v + L` are in the domain of integers.
//!
//! Along `v`, a sum grows as its terms do, `x floordiv c` by one `c`-th of what `x` does, and `x mod c` not at all, provided
//! that `x` grows by a multiple of `c`. So each part grows by a fixed fraction of `L`, and `L` must make all of them whole.

use num_integer::gcd;

use super::program::{Program, Slot, Step};

/// A fraction in lowest terms with a positive denominator.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    over: i128,
    under: i128,
}

impl Fraction {
    const ZERO: Fraction = Fraction { over: 0, under: 1 };

    fn new(over: i128, under: i128) -> Option<Fraction> {
        let common = i128::try_from(common(over.unsigned_abs(), under.unsigned_abs())?).ok()?.max(1);
        Some(Fraction { over: over / common, under: under / common })
    }

    fn plus_multiple(self, a: i64, other: Fraction) -> Option<Fraction> {
        let scaled = other.over.checked_mul(i128::from(a))?;
        let over = self.over.checked_mul(other.under)?.checked_add(scaled.checked_mul(self.under)?)?;
        Fraction::new(over, self.under.checked_mul(other.under)?)
    }

    fn divided(self, c: i64) -> Option<Fraction> {
        Fraction::new(self.over, self.under.checked_mul(i128::from(c))?)
    }

    pub(super) fn is_zero(self) -> bool {
        self.over == 0
    }

    /// The value, where it is whole.
    pub(super) fn as_whole(self) -> Option<i64> {
        if self.under == 1 { i64::try_from(self.over).ok() } else { None }
    }
}

fn common(a: u128, b: u128) -> Option<u128> {
    let (a, b) = (u64::try_from(a).ok()?, u64::try_from(b).ok()?);
    Some(u128::from(gcd(a, b)))
}

/// A period in one variable, and how much the first root of the program grows in it, by unit of the variable.
#[derive(Copy, Clone, Debug)]
pub(super) struct Period {
    pub(super) length: i64,
    pub(super) growth: Fraction,
}

/// The period of the program in the variable at `slot`; none where numbers get too large.
pub(super) fn period(program: &Program, slot: Slot) -> Option<Period> {
    let unit = |i: Slot| if i == slot { Fraction { over: 1, under: 1 } } else { Fraction::ZERO };
    let mut growth: Vec<Fraction> = (0..program.variables.len()).map(unit).collect();
    let mut length: i128 = 1;
    for step in &program.steps {
        let grown = match step {
            Step::Sum(_, terms) => {
                terms.iter().try_fold(Fraction::ZERO, |sum, (a, slot)| sum.plus_multiple(*a, growth[*slot]))?
            }
            Step::FloorDiv(slot, divisor) | Step::Mod(slot, divisor) => {
                let quotient = growth[*slot].divided(divisor.value())?;
                let shared = i128::try_from(common(length.unsigned_abs(), quotient.under.unsigned_abs())?).ok()?;
                length = length.checked_mul(quotient.under / shared)?;
                if matches!(step, Step::Mod(..)) { Fraction::ZERO } else { quotient }
            }
        };
        growth.push(grown);
    }
    let growth = *growth.get(*program.roots.first()?)?;
    Some(Period { length: i64::try_from(length).ok()?, growth })
}
