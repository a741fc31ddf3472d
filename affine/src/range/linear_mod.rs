//! The least and the greatest value of `(a·t + b) mod m`.

use crate::Interval;

/// The range of `(a·t + b) mod m` for `t` in `[0, n]`, exactly. `m` is positive, `n` is not negative, and both fit `i64`.
pub(super) fn range_of_linear_mod(a: i128, b: i128, m: i64, n: i128) -> Interval {
    let wide = i128::from(m);
    let least = least_remainder(a, b, wide, n);
    // m − 1 − (y mod m) = (−y − 1) mod m, so the greatest is where the mirrored one is least.
    let greatest = wide - 1 - least_remainder(-a, -b - 1, wide, n);
    Interval::of_ends(Some(least), Some(greatest))
}

/// The least `(a·t + b) mod m` for `t` in `[0, n]`, in as many steps as `m` has bits.
///
/// Going up in steps of `a`, the value is least at the start or right after it passed a multiple of `m`. After the k-th
/// passing it is `(b − k·m) mod a`, which is the same question with `a` for `m`. Walking backwards instead turns `a`
/// into `m − a`, so `a` can be held at most half of `m`.
fn least_remainder(a: i128, b: i128, m: i128, n: i128) -> i128 {
    let (mut a, mut b, mut m, mut n) = (a.rem_euclid(m), b.rem_euclid(m), m, n);
    let mut least = b;
    while a != 0 {
        if 2 * a > m {
            (a, b) = (m - a, (a * n + b).rem_euclid(m));
        }
        least = least.min(b);
        let passed = (a * n + b) / m;
        if passed == 0 {
            break;
        }
        (a, b, m, n) = ((-m).rem_euclid(a), (b - m).rem_euclid(a), a, passed - 1);
        least = least.min(b);
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_and_greatest_by_enumeration() {
        for m in 1..=14 {
            for a in -15..=15i128 {
                for b in [-9, -1, 0, 1, 5, 13] {
                    for n in 0..=16 {
                        let values = (0..=n).map(|t| i64::try_from((a * t + b).rem_euclid(m.into())).unwrap());
                        let exact = Interval::new(values.clone().min().unwrap(), values.max().unwrap());
                        assert_eq!(range_of_linear_mod(a, b, m, n), exact, "({a} t + {b}) mod {m}, t <= {n}");
                    }
                }
            }
        }
    }
}
