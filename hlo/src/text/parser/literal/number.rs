//! The spelling of numbers: decimal digits, infinities, NaNs.

use crate::ir::ElementType;
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, failure, is_name_byte, quote};

/// A real number as it is spelled.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Real<'a> {
    /// Digits.
    Decimal(&'a str),
    /// `inf`, `-inf`
    Infinity { negative: bool },
    /// `nan`, `-nan`, `nan(0x1)`
    Nan { negative: bool, payload: Option<u64> },
}

/// The digits of a number that may have a fraction.
#[derive(Copy, Clone)]
struct Digits<'a> {
    text: &'a str,
    /// Whether there is neither point nor exponent.
    integral: bool,
}

impl<'a> Cursor<'a> {
    /// An integer of up to 64 bits, from -2^63 to 2^64 - 1, if one stands here.
    #[inline]
    pub(super) fn whole(&mut self) -> Option<i128> {
        self.skip_trivia();
        let start = self.position();
        let digits = self.digits()?;
        let value = if digits.integral { word(digits.text) } else { None };
        if value.is_none() {
            self.set_position(start);
        }
        value
    }

    /// A real number, if one stands here. The payload of a NaN is from 1 to `max_payload`.
    #[inline]
    pub(super) fn real(&mut self, element_type: ElementType, max_payload: u64) -> Result<Option<Real<'a>>, Failure> {
        self.skip_trivia();
        let start = self.position();
        if let Some(digits) = self.digits() {
            // XLA's reader makes a number of 64 bits of what has neither point nor exponent.
            if !digits.integral || digits.text.len() < 19 || word(digits.text).is_some() {
                return Ok(Some(Real::Decimal(digits.text)));
            }
            self.set_position(start);
            return Ok(None);
        }
        let token = self.token();
        let magnitude = token.strip_prefix('-').unwrap_or(token);
        let negative = magnitude.len() < token.len();
        match magnitude {
            "inf" => Ok(Some(Real::Infinity { negative })),
            "nan" => Ok(Some(Real::Nan { negative, payload: self.payload(element_type, max_payload)? })),
            _ => {
                self.set_position(start);
                Ok(None)
            }
        }
    }

    /// Digits, at most one point, an exponent. A point before all digits needs a sign, and what follows must not look
    /// like a part of the number.
    #[inline]
    fn digits(&mut self) -> Option<Digits<'a>> {
        let bytes = self.bytes();
        let start = self.position();
        let skip = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let negative = bytes.get(start) == Some(&b'-');
        let whole = start + usize::from(negative);
        let mut end = skip(whole);
        let mut count = end - whole;
        let mut integral = true;
        if bytes.get(end) == Some(&b'.') && (negative || count > 0) {
            integral = false;
            let fraction = end + 1;
            end = skip(fraction);
            count += end - fraction;
        }
        if count == 0 {
            return None;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let after = skip(exponent);
            if after > exponent {
                integral = false;
                end = after;
            }
        }
        if bytes.get(end).is_some_and(|&byte| is_name_byte(byte) && byte != b'-') {
            return None;
        }
        self.set_position(end);
        Some(Digits { text: self.slice(start..end), integral })
    }

    /// A number or a word, whatever it is.
    pub(super) fn token(&mut self) -> &'a str {
        self.skip_trivia();
        let bytes = self.bytes();
        let start = self.position();
        let mut end = start;
        while bytes.get(end).is_some_and(|&byte| is_name_byte(byte) || byte == b'+') {
            end += 1;
        }
        self.set_position(end);
        self.slice(start..end)
    }

    /// What `(0x…)` right after `nan` says, if that is there.
    fn payload(&mut self, element_type: ElementType, max_payload: u64) -> Result<Option<u64>, Failure> {
        if self.byte() != Some(b'(') {
            return Ok(None);
        }
        let start = self.position();
        self.bump();
        let from = self.position();
        while self.byte().is_some_and(is_name_byte) {
            self.bump();
        }
        let text = self.slice(from..self.position());
        if self.byte() != Some(b')') {
            return Err(self.unexpected("`)` right after the payload of a NaN, without a blank"));
        }
        self.bump();
        let digits = text.strip_prefix("0x").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let payload = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        if let Some(payload) = payload.filter(|&payload| payload > 0 && payload <= max_payload) {
            return Ok(Some(payload));
        }
        let message = if max_payload == 0 {
            format!("a NaN of {element_type} has no payload")
        } else {
            format!("the payload of a NaN of {element_type} is from 0x1 to {max_payload:#x}, found {}", quote(text))
        };
        Err(failure(codes::LITERAL_ELEMENT, self.since(start), message))
    }
}

/// An integer of up to 64 bits, with or without sign.
#[inline]
fn word(text: &str) -> Option<i128> {
    // 19 characters hold no more than an i64 does.
    if text.len() < 19 {
        return text.parse::<i64>().ok().map(i128::from);
    }
    let value: i128 = text.parse().ok()?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(text: &str) -> Option<(Real<'_>, &str)> {
        let mut cursor = Cursor::new(text);
        let found = cursor.real(ElementType::F64, (1 << 52) - 1).ok()??;
        Some((found, cursor.rest()))
    }

    #[test]
    fn numbers_end_where_another_token_starts() {
        for text in ["0", "-0", "01", "1.", "-.5", "1.5e3", "1.e5", "1E+5", "-1.5E-3", "9223372036854775808"] {
            assert_eq!(real(text), Some((Real::Decimal(text), "")), "{text}");
        }
        assert_eq!(real("1-2"), Some((Real::Decimal("1"), "-2")));
        for text in [".5", "+1", "1e", "1e+", "1f", "1x2", "0x1", "1_0", "1.2.3", "-", "-.", "-.e3", "--1", ""] {
            assert_eq!(real(text), None, "{text}");
        }
        assert_eq!(real("18446744073709551616"), None);
        assert_eq!(real("-9223372036854775809"), None);
        assert_eq!(real("18446744073709551616."), Some((Real::Decimal("18446744073709551616."), "")));
    }

    #[test]
    fn words_are_infinities_and_nans() {
        assert_eq!(real("-inf"), Some((Real::Infinity { negative: true }, "")));
        assert_eq!(real("nan,"), Some((Real::Nan { negative: false, payload: None }, ",")));
        assert_eq!(real("-nan(0xFf)"), Some((Real::Nan { negative: true, payload: Some(255) }, "")));
        for text in ["Inf", "infinity", "NaN", "nan(0x0)", "nan(1)", "nan()", "nan(0X1)", "nan( 0x1)", "nan(0x1 )"] {
            assert_eq!(real(text), None, "{text}");
        }
        assert_eq!(real("nan(0x10000000000000)"), None);
        assert_eq!(real("nan(0x+1)"), None);
    }
}
