//! Decimal spelling of floats.
//!
//! XLA writes an `f32` as C's `%.6g` does if that reads back as the same float, else as `%.9g`, which always does; an
//! `f64` with 15 or 17 digits likewise ([`super::double`]); and the smaller formats at once with as many digits as
//! always suffice. All roundings are exact: a float of up to 24 bits is an integer times a power of two, so its first
//! digits are a quotient of 128-bit integers for all but the smallest magnitudes; those go through the standard library.

use crate::ir::{Decoded, FloatFormat};

/// The mantissa of an `f32` NaN that needs no payload.
const PLAIN_NAN: u32 = 1 << 22;

/// The largest power of ten that times 24 bits fits 128 bits.
const MAX_POWER: i32 = 31;

/// How many digits any spelling has at most.
const MAX_DIGITS: usize = 17;

/// The first digits of a positive number: `digits` has as many digits as were asked for, and the first of them counts
/// `10^exponent`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: u64,
    pub(super) exponent: i32,
}

/// Appends `value` so that it reads back bit for bit.
pub(super) fn push_f32(out: &mut String, value: f32) {
    if value.is_nan() {
        let payload = value.to_bits() & 0x7f_ffff;
        push_nan(out, value.is_sign_negative(), (payload != PLAIN_NAN).then_some(u64::from(payload)));
    } else if let Some(magnitude) = push_special(out, f64::from(value)) {
        push_finite(out, magnitude as f32);
    }
}

/// Appends the number of a small format with these bits.
pub(super) fn push_small(out: &mut String, format: FloatFormat, bits: u16) {
    match format.decode(bits) {
        Decoded::Nan { negative, payload } => {
            let plain = format.nan(negative) == Some(bits);
            push_nan(out, negative, payload.filter(|_| !plain).map(u64::from));
        }
        Decoded::Value(value) => {
            if let Some(magnitude) = push_special(out, f64::from(value)) {
                let count = format.digits() as i32;
                push_decimal(out, count, decimal(magnitude as f32, count));
            }
        }
    }
}

/// Appends a NaN.
pub(super) fn push_nan(out: &mut String, negative: bool, payload: Option<u64>) {
    out.push_str(if negative { "-nan" } else { "nan" });
    if let Some(payload) = payload {
        out.push_str(&format!("(0x{payload:x})"));
    }
}

/// Appends the sign of a number and all of it if it is zero or infinite; else returns the magnitude, which is left.
pub(super) fn push_special(out: &mut String, value: f64) -> Option<f64> {
    if value.is_sign_negative() {
        out.push('-');
    }
    if value.is_infinite() {
        out.push_str("inf");
    } else if value == 0.0 {
        out.push('0');
    } else {
        return Some(value.abs());
    }
    None
}

fn push_finite(out: &mut String, value: f32) {
    // Small integers are their own six digits.
    if value < 1e6 && value.trunc() == value {
        push_decimal(out, 6, scale_up(value as u64));
        return;
    }
    let short = decimal(value, 6);
    if reads_back(short, value) {
        push_decimal(out, 6, short);
    } else {
        push_decimal(out, 9, decimal(value, 9));
    }
}

/// An integer from 1 to 999999 as six digits.
fn scale_up(mut digits: u64) -> Decimal {
    let mut exponent = 5;
    while digits < 100_000 {
        digits *= 10;
        exponent -= 1;
    }
    Decimal { digits, exponent }
}

/// `value` rounded to `count` digits, ties to even.
fn decimal(value: f32, count: i32) -> Decimal {
    let bits = value.to_bits();
    let (mantissa, exponent) = match bits >> 23 {
        0 => (bits, -149),
        biased => (bits & 0x7f_ffff | 0x80_0000, biased as i32 - 150),
    };
    let highest_bit = exponent + 31 - mantissa.leading_zeros() as i32;
    // 1262611 / 2^22 is the logarithm of 2 closely enough that this is its floor for the power of two; it is right or
    // one too small for the value, and then the quotient has a digit too many.
    let mut estimate = (highest_bit * 1_262_611) >> 22;
    let limit = 10u128.pow(count as u32);
    loop {
        let power = count - 1 - estimate;
        let Some(digits) = scaled(mantissa, exponent, power) else {
            return decimal_of_small(value, count);
        };
        if digits < limit {
            return Decimal { digits: digits as u64, exponent: estimate };
        }
        estimate += 1;
    }
}

/// `mantissa * 2^exponent * 10^power` rounded to an integer, ties to even; `None` where 128 bits do not hold it.
fn scaled(mantissa: u32, exponent: i32, power: i32) -> Option<u128> {
    if power > MAX_POWER || exponent < -126 {
        return None;
    }
    let (quotient, remainder, denominator) = if power >= 0 {
        let product = u128::from(mantissa) * 10u128.pow(power as u32);
        if exponent >= 0 {
            return (product.leading_zeros() > exponent as u32).then(|| product << exponent);
        }
        let denominator = 1u128 << -exponent;
        (product >> -exponent, product & (denominator - 1), denominator)
    } else {
        let ten = 10u128.pow(power.unsigned_abs());
        let (numerator, denominator) = if exponent >= 0 {
            (u128::from(mantissa) << exponent, ten)
        } else {
            (u128::from(mantissa), ten.checked_mul(1 << -exponent)?)
        };
        (numerator / denominator, numerator % denominator, denominator)
    };
    let half = denominator / 2;
    let up = remainder > half || (remainder == half && denominator % 2 == 0 && quotient % 2 == 1);
    Some(quotient + u128::from(up))
}

/// The same as [`decimal`] through the standard library, for magnitudes near the smallest.
fn decimal_of_small(value: f32, count: i32) -> Decimal {
    read(&format!("{value:.*e}", count as usize - 1))
}

/// The digits and the exponent of `d.ddde±x`.
pub(super) fn read(text: &str) -> Decimal {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let digits = digits.bytes().filter(u8::is_ascii_digit).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Decimal { digits, exponent: exponent.parse().unwrap_or(0) }
}

/// Whether six digits read as exactly `value`.
fn reads_back(decimal: Decimal, value: f32) -> bool {
    let power = decimal.exponent - 5;
    // Both factors are exact, so the product or quotient is rounded once, as reading the text would.
    let exact = 10u64.checked_pow(power.unsigned_abs()).filter(|&ten| ten <= 10_000_000_000);
    let read = match exact {
        Some(ten) if power >= 0 => decimal.digits as f32 * ten as f32,
        Some(ten) => decimal.digits as f32 / ten as f32,
        None => format!("{}e{power}", decimal.digits).parse().unwrap_or(f32::NAN),
    };
    read == value
}

/// Appends digits as C's `%g` does: without trailing zeros, with an exponent below `1e-4` and from `10^count`.
pub(super) fn push_decimal(out: &mut String, count: i32, decimal: Decimal) {
    let mut buffer = [b'0'; MAX_DIGITS];
    let mut rest = decimal.digits;
    for digit in buffer[..count as usize].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let significant = buffer.iter().rposition(|&digit| digit != b'0').map_or(1, |last| last + 1);
    let digits = str::from_utf8(&buffer[..significant]).unwrap_or("0");
    let exponent = decimal.exponent;
    if exponent < -4 || exponent >= count {
        out.push_str(&digits[..1]);
        if digits.len() > 1 {
            out.push('.');
            out.push_str(&digits[1..]);
        }
        out.push_str(if exponent < 0 { "e-" } else { "e+" });
        let exponent = exponent.unsigned_abs();
        if exponent >= 100 {
            out.push(char::from(b'0' + (exponent / 100) as u8));
        }
        out.push(char::from(b'0' + (exponent / 10 % 10) as u8));
        out.push(char::from(b'0' + (exponent % 10) as u8));
    } else if exponent < 0 {
        out.push_str("0.");
        out.push_str(&"000"[..(-exponent - 1) as usize]);
        out.push_str(digits);
    } else {
        let whole = exponent as usize + 1;
        if digits.len() <= whole {
            out.push_str(digits);
            out.push_str(&"0000000000000000"[..whole - digits.len()]);
        } else {
            out.push_str(&digits[..whole]);
            out.push('.');
            out.push_str(&digits[whole..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: f32) -> String {
        let mut out = String::new();
        push_f32(&mut out, value);
        out
    }

    #[test]
    fn floats_are_spelled_as_xla_does() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (0.797_884_6, "0.797884583"),
            (0.100_000_024, "0.100000024"),
            (123_456.0, "123456"),
            (1e6, "1e+06"),
            (16_777_216.0, "16777216"),
            (1e10, "1e+10"),
            (3e20, "3e+20"),
            (-2e-8, "-2e-08"),
            (f32::MIN, "-3.40282347e+38"),
            (f32::MIN_POSITIVE, "1.17549435e-38"),
            (f32::from_bits(1), "1.4013e-45"),
            (f32::NEG_INFINITY, "-inf"),
            (f32::from_bits(0x7fc0_0000), "nan"),
            (f32::from_bits(0xffc0_0000), "-nan"),
            (f32::from_bits(0x7f80_0001), "nan(0x1)"),
        ] {
            assert_eq!(text(value), expected);
        }
    }

    #[test]
    fn every_power_of_two_and_of_ten_reads_back() {
        for bits in (0..0x7f80_0000u32).step_by(0x2_0001).chain((0..255).map(|exponent| exponent << 23)) {
            for value in [f32::from_bits(bits), f32::from_bits(bits + 1)] {
                assert_eq!(text(value).parse::<f32>().unwrap().to_bits(), value.to_bits(), "{}", text(value));
            }
        }
    }

    proptest! {
        #[test]
        fn digits_are_those_of_exact_rounding(bits in 1u32..0x7f80_0000) {
            let value = f32::from_bits(bits);
            for count in [6, 9] {
                prop_assert_eq!(decimal(value, count), decimal_of_small(value, count));
            }
            prop_assert_eq!(text(value).parse::<f32>().unwrap().to_bits(), bits);
        }
    }
}
