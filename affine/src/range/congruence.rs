//! Residue classes: the remainder of a value modulo a number, as far as it is known.

use num_integer::gcd;

use crate::Interval;

/// The set `residue + modulus · k`; modulus zero means the single value, one means every integer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Congruence {
    pub(crate) modulus: u64,
    /// In `[0, modulus)` unless the modulus is zero.
    pub(crate) residue: i64,
}

impl Congruence {
    /// Every integer.
    pub(crate) const ANY: Congruence = Congruence { modulus: 1, residue: 0 };

    /// The single value.
    pub(crate) const fn exactly(value: i64) -> Congruence {
        Congruence { modulus: 0, residue: value }
    }

    /// The class of `residue` modulo `modulus`; every integer where the numbers do not fit, which is always true.
    pub(crate) fn new(modulus: i128, residue: i128) -> Congruence {
        let residue = if modulus == 0 { residue } else { residue.rem_euclid(modulus) };
        match (i64::try_from(modulus), i64::try_from(residue)) {
            (Ok(modulus), Ok(residue)) => Congruence { modulus: modulus.unsigned_abs(), residue },
            _ => Congruence::ANY,
        }
    }

    pub(crate) fn is_any(self) -> bool {
        self.modulus == 1
    }

    fn parts(self) -> (i128, i128) {
        (i128::from(self.modulus), i128::from(self.residue))
    }

    /// The sums of a value of each.
    pub(crate) fn plus(self, other: Congruence) -> Congruence {
        if self.is_any() || other.is_any() {
            return Congruence::ANY;
        }
        let (r, s) = (i128::from(self.residue), i128::from(other.residue));
        Congruence::new(i128::from(gcd(self.modulus, other.modulus)), r + s)
    }

    /// The values times `factor`, or more where the numbers do not fit.
    pub(crate) fn times(self, factor: i64) -> Congruence {
        if factor == 1 {
            return self;
        }
        let ((m, r), f) = (self.parts(), i128::from(factor));
        Congruence::new(m * f.abs(), r * f)
    }

    /// The values in both. Nothing where no integer is in both: by the Chinese remainder theorem, when the residues
    /// differ by what the greatest common divisor of the moduli does not divide.
    pub(crate) fn meet(self, other: Congruence) -> Option<Congruence> {
        if self.is_any() || self == other {
            return Some(other);
        } else if other.is_any() {
            return Some(self);
        }
        let ((m, r), (n, s)) = (self.parts(), other.parts());
        let (g, p) = bezout(m, n);
        if (g == 0 && r != s) || (g != 0 && (s - r) % g != 0) {
            return None;
        }
        if m == 0 || n == 0 {
            return Some(if m == 0 { self } else { other });
        }
        // r + m·t ≡ s (mod n) for t = (s − r)/g · p modulo n/g, where p·m ≡ g (mod n).
        let t = ((s - r) / g % (n / g) * (p % (n / g))).rem_euclid(n / g);
        let both = Congruence::new(m / g * n, r + m * t);
        // A modulus that does not fit is no contradiction; then the one that says more is kept.
        Some(if !both.is_any() {
            both
        } else if m >= n {
            self
        } else {
            other
        })
    }

    /// The `x` with `factor·x` in the class. Nothing where there is none.
    pub(crate) fn divided(self, factor: i64) -> Option<Congruence> {
        if factor == 1 {
            return Some(self);
        }
        let ((m, r), f) = (self.parts(), i128::from(factor));
        let (g, p) = bezout(f, m);
        if g == 0 || r % g != 0 {
            return (f == 0 && r == 0).then_some(Congruence::ANY);
        }
        Some(match m / g {
            0 => Congruence::new(0, r / f),
            n => Congruence::new(n, (r / g % n) * (p % n)),
        })
    }

    /// `⌊x / c⌋` of the values, for positive `c`.
    pub(crate) fn floor_div(self, c: i64) -> Congruence {
        let ((m, r), c) = (self.parts(), i128::from(c));
        if m % c == 0 { Congruence::new(m / c, r.div_euclid(c)) } else { Congruence::ANY }
    }

    /// The `x` with `⌊x / c⌋` in the class, of those in `class`, for positive `c`: `c·s + r` modulo `c·m`, where the class is
    /// `s` modulo `m` and the others leave `r` when divided by `c`. Nothing where they do not all leave the same.
    pub(crate) fn after_digit(self, class: Congruence, c: i64) -> Option<Congruence> {
        let ((m, s), c) = (self.parts(), i128::from(c));
        if class.parts().0 % c != 0 {
            return None;
        }
        let r = class.parts().1.rem_euclid(c);
        let whole = Congruence::new(c.checked_mul(m)?, c.checked_mul(s)?.checked_add(r)?);
        (!whole.is_any()).then_some(whole)
    }

    /// `x mod c` of the values, for positive `c`, as residues within `[0, c − 1]`.
    pub(crate) fn modulo(self, c: i64) -> Congruence {
        let step = gcd(self.modulus, c.unsigned_abs());
        if step == c.unsigned_abs() {
            return Congruence::exactly(self.residue.rem_euclid(c));
        }
        Congruence::new(i128::from(step), i128::from(self.residue))
    }

    /// The bounds moved inwards to the first and the last value of the class, `lo + ((r − lo) mod c)` and
    /// `hi − ((hi − r) mod c)`; empty where there is none.
    pub(crate) fn within(self, bounds: Interval) -> Interval {
        if self.is_any() {
            return bounds;
        }
        let (m, r) = self.parts();
        if m == 0 {
            return bounds.intersect(Interval::point(self.residue));
        }
        let lo = bounds.bound_below().map(|lo| lo + (r - lo).rem_euclid(m));
        let hi = bounds.bound_above().map(|hi| hi - (hi - r).rem_euclid(m));
        if bounds.is_empty() { Interval::EMPTY } else { Interval::of_ends(lo, hi) }
    }
}

/// `(g, p)` with `g = gcd(a, b) ≥ 0` and `p·a ≡ g (mod b)`.
pub(super) fn bezout(a: i128, b: i128) -> (i128, i128) {
    let (mut old, mut new) = ((a, 1), (b, 0));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    if old.0 < 0 { (-old.0, -old.1) } else { old }
}
