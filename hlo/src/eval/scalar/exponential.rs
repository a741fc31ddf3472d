//! The exponential function and its kin, for results of at most 24 bits.
//!
//! Loops over them have no branch and call nothing, so that they become vector instructions, which functions of the system's
//! library do not. Relative errors are below 2^-48: of 2^20 `f32`s, one at most is rounded to the other neighbor of the value.
//! They are the same on every machine.

/// Adding it leaves the integer nearest to a number of less than 2^51 in the lowest bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts; the first has so few bits that its multiples below 2^11 are exact.
const LN_2: [f64; 2] = [f64::from_bits(0x3FE6_2E42_FEFA_3800), 5.497_923_018_708_371e-14];

/// The polynomial that interpolates (e^r - 1) / r at the Chebyshev nodes of |r| <= ln 2 / 2, from r^9 down. It is off by 2^-49.5 at
/// most.
const POLYNOMIAL: [f64; 10] = [
    2.762_008_844_540_974_6e-7,
    2.763_265_575_933_203e-6,
    2.480_152_129_595_437_6e-5,
    1.984_119_061_583_585e-4,
    1.388_888_891_721_371_7e-3,
    8.333_333_367_332_009e-3,
    4.166_666_666_662_413e-2,
    1.666_666_666_661_560_7e-1,
    5.000_000_000_000_001e-1,
    1.000_000_000_000_001_3,
];

/// A power of two s and a p, so that e^x is s + sp. Where x is less than -160 or more than 130, these stand for it: no type of at
/// most 24 bits tells their powers from 0 and infinity.
#[inline]
fn power(x: f64) -> (f64, f64) {
    // As comparisons, which let a NaN pass.
    let x = if x < -160.0 { -160.0 } else { x };
    let x = if x > 130.0 { 130.0 } else { x };
    // x = n ln 2 + r, with r at most half of ln 2.
    let shifted = x * std::f64::consts::LOG2_E + TO_INTEGER;
    let n = shifted - TO_INTEGER;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    let two_to_n = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    // Odd and even powers apart, which do not wait for each other.
    let sum = |first: usize| {
        let (start, rest) = (POLYNOMIAL[first], POLYNOMIAL[first + 2..].iter().step_by(2));
        rest.fold(start, |sum, coefficient| sum * (r * r) + coefficient)
    };
    (two_to_n, r * (sum(0) * r + sum(1)))
}

/// e^x.
#[inline]
pub(super) fn exp(x: f64) -> f64 {
    let (s, p) = power(x);
    s * p + s
}

/// The hyperbolic tangent.
#[inline]
pub(super) fn tanh(x: f64) -> f64 {
    // Of the magnitude; e^2x - 1 keeps its bits where x is close to 0.
    let (s, p) = power(2.0 * x.abs());
    let less_one = s * p + (s - 1.0);
    (less_one / (less_one + 2.0)).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative errors against the system's library, and how often an `f32` is another.
    fn compare(name: &str, ours: fn(f64) -> f64, theirs: fn(f64) -> f64) {
        let (mut others, mut all) = (0u32, 0u32);
        for bits in (0..=u32::MAX).step_by(if cfg!(debug_assertions) { 1009 } else { 37 }) {
            let x = f32::from_bits(bits);
            let (a, b) = (ours(x.into()), theirs(x.into()));
            if x.is_nan() {
                assert!(a.is_nan(), "{name}");
                continue;
            }
            if b.abs() > 2f64.powi(-151) && b.abs() < 2f64.powi(129) {
                assert!(((a - b) / b).abs() < 2f64.powi(-48), "{name}({x}) is {a} and not {b}");
            }
            let (a, b) = (a as f32, b as f32);
            let apart = (i64::from(a.to_bits()) - i64::from(b.to_bits())).abs();
            assert!(apart <= 1, "{name}({x}) is {a} and not {b}");
            others += u32::try_from(apart).unwrap_or(u32::MAX);
            all += 1;
        }
        println!("{name}: {others} of {all} differ");
        assert!(others <= all >> 20, "{name}: {others} of {all} differ");
    }

    #[test]
    fn they_are_those_of_the_library() {
        compare("exp", exp, f64::exp);
        compare("tanh", tanh, f64::tanh);
    }

    #[test]
    fn ends_are_exact() {
        for (x, e, t) in
            [(0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (f64::INFINITY, f32::INFINITY, 1.0), (f64::NEG_INFINITY, 0.0, -1.0)]
        {
            assert_eq!((exp(x) as f32).to_bits(), e.to_bits());
            assert_eq!((tanh(x) as f32).to_bits(), f32::to_bits(t));
        }
    }
}
