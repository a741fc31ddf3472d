//! Power series whose coefficients are computed at compile time.

/// 1/n! for n from `first` on in steps of `step`.
pub(super) const fn factorials<const N: usize>(first: u32, step: u32) -> [f64; N] {
    let mut coefficients = [0.0; N];
    let (mut number, mut factorial, mut index) = (0, 1.0, 0);
    // Up to 22! they are exact.
    while index < N {
        number += 1;
        factorial *= number as f64;
        if number >= first && (number - first).is_multiple_of(step) {
            coefficients[index] = 1.0 / factorial;
            index += 1;
        }
    }
    coefficients
}

/// The same with alternating signs; the first is positive.
pub(super) const fn alternating<const N: usize>(mut coefficients: [f64; N]) -> [f64; N] {
    let mut index = 1;
    while index < N {
        coefficients[index] = -coefficients[index];
        index += 2;
    }
    coefficients
}

/// 1/n for odd n from `first` on.
pub(super) const fn odd_reciprocals<const N: usize>(first: u32) -> [f64; N] {
    let mut coefficients = [0.0; N];
    let mut index = 0;
    while index < N {
        coefficients[index] = 1.0 / (first + 2 * index as u32) as f64;
        index += 1;
    }
    coefficients
}

/// The value of a polynomial of at least two coefficients, given from the constant on. Two sums do not wait for each other.
#[inline(always)]
pub(super) fn horner<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let square = x * x;
    let mut index = N - 2;
    let (mut upper, mut lower) = (coefficients[N - 1], coefficients[N - 2]);
    // Of a loop with an index the compiler makes straight code, which it must for vectors.
    while index >= 2 {
        index -= 2;
        upper = upper * square + coefficients[index + 1];
        lower = lower * square + coefficients[index];
    }
    let sum = upper * x + lower;
    if index == 1 { sum * x + coefficients[0] } else { sum }
}
