//! Decimal spelling of `f64`: 15 significant digits if they suffice, else 17, as XLA writes it.

use super::float::{Decimal, push_decimal, push_nan, push_special, read};
use std::fmt::{self, Write};

/// The mantissa of a NaN that needs no payload.
const PLAIN_NAN: u64 = 1 << 51;

/// Appends `value` so that it reads back bit for bit.
pub(super) fn push_f64(out: &mut String, value: f64) {
    if value.is_nan() {
        let payload = value.to_bits() & ((1 << 52) - 1);
        push_nan(out, value.is_sign_negative(), (payload != PLAIN_NAN).then_some(payload));
    } else if let Some(magnitude) = push_special(out, value) {
        let (count, decimal) = digits(magnitude);
        push_decimal(out, count, decimal);
    }
}

/// The digits to write, and how many they are.
fn digits(value: f64) -> (i32, Decimal) {
    if !value.is_normal() {
        // Several decimals of 15 digits read as one subnormal number; the nearest of them is written.
        let short = rounded(value, 15);
        let read: Result<f64, _> = format!("{}e{}", short.digits, short.exponent - 14).parse();
        return if read == Ok(value) { (15, short) } else { (17, rounded(value, 17)) };
    }
    // Decimals of 15 digits are farther apart than normal floats, so the shortest spelling, if it has that many digits
    // or fewer, is the number rounded to 15.
    let shortest = written(format_args!("{value:e}")).decimal();
    match scaled_to(15, shortest) {
        Some(short) => (15, short),
        None => (17, rounded(value, 17)),
    }
}

/// `decimal` with zeros after it so that it has `count` digits; `None` if it has more.
fn scaled_to(count: u32, decimal: Decimal) -> Option<Decimal> {
    let missing = count.checked_sub(decimal.digits.checked_ilog10()? + 1)?;
    Some(Decimal { digits: decimal.digits * 10u64.pow(missing), exponent: decimal.exponent })
}

/// `value` rounded to `count` digits, ties to even.
fn rounded(value: f64, count: usize) -> Decimal {
    written(format_args!("{value:.*e}", count - 1)).decimal()
}

/// The scientific spelling of a float, of at most 17 digits, without a heap.
#[derive(Default)]
struct Spelling {
    bytes: [u8; 32],
    length: usize,
}

fn written(arguments: fmt::Arguments<'_>) -> Spelling {
    let mut spelling = Spelling::default();
    spelling.write_fmt(arguments).expect("a point, a sign, 17 digits and an exponent fit 32 bytes");
    spelling
}

impl Spelling {
    fn decimal(&self) -> Decimal {
        read(str::from_utf8(&self.bytes[..self.length]).unwrap_or("0e0"))
    }
}

impl Write for Spelling {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: f64) -> String {
        let mut out = String::new();
        push_f64(&mut out, value);
        out
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
            assert_eq!(text(value), expected);
        }
    }

    proptest! {
        /// The definition, spelled out: 15 digits where they read back, else 17.
        #[test]
        fn digits_are_those_of_exact_rounding(bits in 1u64..0x7ff0_0000_0000_0000) {
            let value = f64::from_bits(bits);
            let short = rounded(value, 15);
            let read: f64 = format!("{}e{}", short.digits, short.exponent - 14).parse().unwrap();
            let expected = if read == value { (15, short) } else { (17, rounded(value, 17)) };
            prop_assert_eq!(digits(value), expected);
            prop_assert_eq!(text(value).parse::<f64>().unwrap().to_bits(), bits);
        }

        #[test]
        fn decimals_of_few_digits_keep_them(digits in 1u64..1_000_000_000_000_000, exponent in -320i32..290) {
            let value: f64 = format!("{digits}e{exponent}").parse().unwrap();
            let short = rounded(value, 15);
            let read: f64 = format!("{}e{}", short.digits, short.exponent - 14).parse().unwrap();
            prop_assert_eq!(super::digits(value), if read == value { (15, short) } else { (17, rounded(value, 17)) });
        }
    }
}
