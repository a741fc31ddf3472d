//! Division by a number known beforehand, as a multiplication: T. Granlund, P. Montgomery, *Division by Invariant Integers
//! using Multiplication*, PLDI 1994.

/// Dividends, shifted to be nonnegative, are less than this.
const MAX_DIVIDEND: i128 = 1 << 31;

/// `x floordiv c` for all `x` of a known range.
#[derive(Copy, Clone, Debug)]
pub(super) struct Divisor {
    c: i64,
    fast: Option<Fast>,
}

/// `x floordiv c = ((x + c·first)·factor >> shift) − first`.
#[derive(Copy, Clone, Debug)]
struct Fast {
    first: i64,
    factor: u64,
    shift: u32,
}

impl Divisor {
    pub(super) fn new(c: i64) -> Divisor {
        Divisor { c, fast: None }
    }

    pub(super) fn value(&self) -> i64 {
        self.c
    }

    /// Prepares for dividends from `lo` to `hi`; the division is right for all others as long as this is not asked for.
    pub(super) fn prepare(&mut self, lo: i128, hi: i128) {
        let c = i128::from(self.c);
        let first = -lo.div_euclid(c);
        // With 2^(shift − 31) >= c, factor·c exceeds 2^shift by less than c, so the error stays below one for dividends under 2^31.
        let shift = 31 + (64 - (self.c - 1).leading_zeros());
        self.fast = (hi + c * first < MAX_DIVIDEND && c < MAX_DIVIDEND).then_some(()).and_then(|()| {
            let factor = u64::try_from(((1i128 << shift) + c - 1) / c).ok()?;
            Some(Fast { first: i64::try_from(first).ok()?, factor, shift })
        });
    }

    /// Replaces each dividend by its quotient.
    pub(super) fn divide(&self, values: &mut [i64]) {
        match self.fast {
            Some(Fast { first, factor, shift }) => {
                let offset = first.wrapping_mul(self.c);
                for value in values {
                    let positive = value.wrapping_add(offset) as u64 & 0xffff_ffff;
                    *value = (positive.wrapping_mul(factor) >> shift) as i64 - first;
                }
            }
            None => values.iter_mut().for_each(|value| *value = value.div_euclid(self.c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_exact() {
        for c in (1..200).chain([255, 256, 257, 1000, 65_535, 65_536, 1 << 30, (1 << 31) - 1]) {
            for (lo, hi) in [(-1000, 1000), (-(1 << 30), 1 << 29), (0, (1 << 31) - 1 - c), (i64::MIN / 2, i64::MAX / 2)]
            {
                let mut divisor = Divisor::new(c);
                divisor.prepare(i128::from(lo), i128::from(hi));
                let near = |x: i64| (-3..=3).map(move |d| x.saturating_add(d).clamp(lo, hi));
                let multiples = [lo / c * c, hi / c * c, 0, hi / 2 / c * c, lo / 3 / c * c, hi - hi % c, c];
                let dividends: Vec<i64> = [lo, hi, 0].into_iter().chain(multiples).flat_map(near).collect();
                let mut quotients = dividends.clone();
                divisor.divide(&mut quotients);
                for (x, q) in dividends.iter().zip(quotients) {
                    assert_eq!(q, x.div_euclid(c), "{x} floordiv {c} prepared for {lo}..={hi}");
                }
            }
        }
    }
}
