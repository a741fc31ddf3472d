//! Printing of floats.
//!
//! XLA writes an `f32` as C's `%.6g` does if that reads back as the same float, else as `%.9g`, which always does; an
//! `f64` with 15 or 17 digits likewise; and the smaller formats at once with as many digits as always suffice.

use super::decimal::{Binary, Decimal};
use super::literal::push_unsigned;
use crate::ir::{Decoded, FloatFormat};

/// The mantissa of an `f32` NaN that needs no payload.
const PLAIN_NAN: u32 = 1 << 22;

/// The mantissa of an `f64` NaN that needs no payload.
const PLAIN_WIDE_NAN: u64 = 1 << 51;

/// How many digits any spelling has at most.
const MAX_DIGITS: usize = 17;

/// Appends `value` so that it reads back bit for bit.
pub(super) fn push_f32(out: &mut String, value: f32) {
    if value.is_nan() {
        let payload = value.to_bits() & 0x7f_ffff;
        push_nan(out, value.is_sign_negative(), (payload != PLAIN_NAN).then_some(u64::from(payload)));
    } else if let Some(magnitude) = push_special(out, f64::from(value))
        && !push_integer(out, magnitude, 1e6)
    {
        let (count, decimal) = digits_of_f32(magnitude as f32);
        push_decimal(out, count, decimal);
    }
}

/// Appends `value` so that it reads back bit for bit.
pub(super) fn push_f64(out: &mut String, value: f64) {
    if value.is_nan() {
        let payload = value.to_bits() & ((1 << 52) - 1);
        push_nan(out, value.is_sign_negative(), (payload != PLAIN_WIDE_NAN).then_some(payload));
    } else if let Some(magnitude) = push_special(out, value)
        && !push_integer(out, magnitude, 1e15)
    {
        let (count, decimal) = digits_of_f64(magnitude);
        push_decimal(out, count, decimal);
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
                let count = format.digits();
                let decimal = Binary::of_f64(magnitude).rounded(count);
                push_decimal(out, count, decimal.unwrap_or_else(|| Decimal::of_any(magnitude, count)));
            }
        }
    }
}

/// Appends `magnitude` if it is an integer below `limit`, which has all its digits and no exponent.
fn push_integer(out: &mut String, magnitude: f64, limit: f64) -> bool {
    let integer = magnitude as u64;
    let found = magnitude < limit && integer as f64 == magnitude;
    if found {
        push_unsigned(out, integer);
    }
    found
}

/// The digits to write, and how many they are.
fn digits_of_f32(value: f32) -> (u32, Decimal) {
    Binary::of_f32(value).shortest(6, 9).unwrap_or_else(|| either(value.into(), 6, 9, |text| text.parse() == Ok(value)))
}

/// The digits to write, and how many they are.
fn digits_of_f64(value: f64) -> (u32, Decimal) {
    Binary::of_f64(value).shortest(15, 17).unwrap_or_else(|| either(value, 15, 17, |text| text.parse() == Ok(value)))
}

/// The definition: `short` digits where they read back, else `long`.
fn either(value: f64, short: u32, long: u32, reads_back: impl Fn(&str) -> bool) -> (u32, Decimal) {
    let decimal = Decimal::of_any(value, short);
    if reads_back(&decimal.scientific(short)) { (short, decimal) } else { (long, Decimal::of_any(value, long)) }
}

/// Appends a NaN.
fn push_nan(out: &mut String, negative: bool, payload: Option<u64>) {
    out.push_str(if negative { "-nan" } else { "nan" });
    if let Some(payload) = payload {
        out.push_str(&format!("(0x{payload:x})"));
    }
}

/// Appends the sign of a number and all of it if it is zero or infinite; else returns the magnitude, which is left.
fn push_special(out: &mut String, value: f64) -> Option<f64> {
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

/// Appends digits as C's `%g` does: without trailing zeros, with an exponent below `1e-4` and from `10^count`.
fn push_decimal(out: &mut String, count: u32, decimal: Decimal) {
    let mut buffer = [b'0'; MAX_DIGITS];
    let mut rest = decimal.digits;
    for digit in buffer[..count as usize].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let significant = buffer.iter().rposition(|&digit| digit != b'0').map_or(1, |last| last + 1);
    let digits = str::from_utf8(&buffer[..significant]).unwrap_or("0");
    let exponent = decimal.exponent;
    if exponent < -4 || exponent >= count as i32 {
        push_point(out, digits, 1);
        out.push_str(if exponent < 0 { "e-" } else { "e+" });
        let exponent = exponent.unsigned_abs();
        if exponent >= 100 {
            out.push(char::from(b'0' + (exponent / 100) as u8));
        }
        out.push(char::from(b'0' + (exponent / 10 % 10) as u8));
        out.push(char::from(b'0' + (exponent % 10) as u8));
    } else if exponent < 0 {
        out.push_str(&"0.000"[..(1 - exponent) as usize]);
        out.push_str(digits);
    } else {
        let whole = exponent as usize + 1;
        push_point(out, digits, whole);
        out.push_str(&"0000000000000000"[..whole.saturating_sub(digits.len())]);
    }
}

/// Appends digits with a point after so many of them, if there are more.
fn push_point(out: &mut String, digits: &str, whole: usize) {
    match digits.split_at_checked(whole).filter(|(_, fraction)| !fraction.is_empty()) {
        Some((whole, fraction)) => {
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        }
        None => out.push_str(digits),
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

    fn wide_text(value: f64) -> String {
        let mut out = String::new();
        push_f64(&mut out, value);
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

    #[test]
    fn doubles_are_spelled_as_xla_does() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e5, "100000"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (1_234_567_890_123_456.0, "1234567890123456"),
            (1e-5, "1e-05"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (f64::from_bits(1), "4.94065645841247e-324"),
            (1e-320, "9.99988867182683e-321"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::from_bits(0x7ff8_0000_0000_0000), "nan"),
            (f64::from_bits(0xffff_ffff_ffff_ffff), "-nan(0xfffffffffffff)"),
        ] {
            assert_eq!(wide_text(value), expected);
        }
    }

    proptest! {
        #[test]
        fn floats_have_the_digits_of_the_definition(bits in 1u32..0x7f80_0000) {
            let value = f32::from_bits(bits);
            let expected = either(value.into(), 6, 9, |text| text.parse() == Ok(value));
            prop_assert_eq!(digits_of_f32(value), expected);
            prop_assert_eq!(text(value).parse::<f32>().unwrap().to_bits(), bits);
        }

        #[test]
        fn doubles_have_the_digits_of_the_definition(bits in 1u64..0x7ff0_0000_0000_0000) {
            let value = f64::from_bits(bits);
            let expected = either(value, 15, 17, |text| text.parse() == Ok(value));
            prop_assert_eq!(digits_of_f64(value), expected);
            prop_assert_eq!(wide_text(value).parse::<f64>().unwrap().to_bits(), bits);
        }

        #[test]
        fn decimals_of_few_digits_keep_them(digits in 1u64..1_000_000_000_000_000, exponent in -340i32..290) {
            let value: f64 = format!("{digits}e{exponent}").parse().unwrap();
            prop_assume!(value > 0.0);
            prop_assert_eq!(digits_of_f64(value), either(value, 15, 17, |text| text.parse() == Ok(value)));
            let narrow: f32 = format!("{}e{}", digits % 10_000_000, exponent / 8).parse().unwrap();
            prop_assume!(narrow > 0.0 && narrow.is_finite());
            prop_assert_eq!(digits_of_f32(narrow), either(narrow.into(), 6, 9, |text| text.parse() == Ok(narrow)));
        }
    }

    #[test]
    fn small_numbers_have_the_digits_of_exact_rounding() {
        for format in [FloatFormat::F16, FloatFormat::BF16] {
            for bits in 0..=u16::MAX {
                let value = f64::from(format.value(bits)).abs();
                if value.is_finite() && value > 0.0 {
                    let found = Binary::of_f64(value).rounded(format.digits());
                    assert_eq!(found, Some(Decimal::of_any(value, format.digits())), "{value:e}");
                }
            }
        }
    }

    /// At the ends of subnormal numbers, and where the gaps between floats change.
    #[test]
    fn special_magnitudes_have_the_digits_of_the_definition() {
        for exponent in 0..2047u64 {
            for bits in (0..64).map(|low| (exponent << 52) + low).chain([(exponent << 52) - u64::from(exponent > 0)]) {
                let value = f64::from_bits(bits);
                if value > 0.0 {
                    assert_eq!(
                        digits_of_f64(value),
                        either(value, 15, 17, |text| text.parse() == Ok(value)),
                        "{value:e}"
                    );
                }
            }
        }
        for exponent in 0..255u32 {
            for bits in (0..64).map(|low| (exponent << 23) + low).chain([(exponent << 23) - u32::from(exponent > 0)]) {
                let value = f32::from_bits(bits);
                if value > 0.0 {
                    let expected = either(value.into(), 6, 9, |text| text.parse() == Ok(value));
                    assert_eq!(digits_of_f32(value), expected, "{value:e}");
                }
            }
        }
    }
}
