//! Sums of ranges.

use crate::Interval;

/// A sum of ranges kept exact until the end; an end without bound, or beyond `i128`, is missing.
pub(super) struct Total {
    lo: Option<i128>,
    hi: Option<i128>,
}

impl Total {
    pub(super) fn new(constant: i64) -> Total {
        Total { lo: Some(i128::from(constant)), hi: Some(i128::from(constant)) }
    }

    pub(super) fn add(&mut self, coefficient: i64, range: Interval) {
        let scaled = |end: Option<i128>| end.map(|v| v * i128::from(coefficient));
        let (low, high) = (scaled(range.bound_below()), scaled(range.bound_above()));
        match coefficient {
            0 => {}
            1.. => self.add_exact(low, high),
            _ => self.add_exact(high, low),
        }
    }

    /// Adds `a·(x // c) + b·(x mod c)`.
    pub(super) fn add_split(&mut self, a: i64, b: i64, c: i64, x: Interval) {
        if x.bound_below().is_some() && x.bound_above().is_some() {
            let (lo, hi) = split_range(a, b, c, x);
            self.add_exact(Some(lo), Some(hi));
        } else {
            self.add(a, x.floor_div(c));
            self.add(b, x.modulo(c));
        }
    }

    pub(super) fn add_exact(&mut self, lo: Option<i128>, hi: Option<i128>) {
        let plus = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        (self.lo, self.hi) = (plus(self.lo, lo), plus(self.hi, hi));
    }

    pub(super) fn finish(self) -> Interval {
        Interval::of_ends(self.lo, self.hi)
    }
}

/// The exact range of `a·(x // c) + b·(x mod c)` for `x` in the interval: linear in quotient and remainder, so the
/// extremes lie at the corners of the first, the middle and the last block of `c` values.
fn split_range(a: i64, b: i64, c: i64, x: Interval) -> (i128, i128) {
    let (first, last) = (x.lo.div_euclid(c), x.hi.div_euclid(c));
    let (mut lo, mut hi) = (i128::MAX, i128::MIN);
    let mut corner = |q: i64, r: i64| {
        let value = i128::from(a) * i128::from(q) + i128::from(b) * i128::from(r);
        (lo, hi) = (lo.min(value), hi.max(value));
    };
    corner(first, x.lo.rem_euclid(c));
    corner(last, x.hi.rem_euclid(c));
    if first != last {
        corner(first, c - 1);
        corner(last, 0);
        if last.saturating_sub(first) >= 2 {
            for q in [first + 1, last - 1] {
                corner(q, 0);
                corner(q, c - 1);
            }
        }
    }
    (lo, hi)
}
