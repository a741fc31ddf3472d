//! One element of each type.

use super::decimal;
use super::number::Real;
use crate::ir::{self, ArrayShape, Complex, Data, ElementType, FloatFormat, S1, S2, S4, Span, U1, U2, U4, bf16, f16};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, failure, quote};

impl Cursor<'_> {
    /// The elements of an array.
    pub(super) fn array_literal(&mut self, shape: &ArrayShape) -> Result<Data, Failure> {
        macro_rules! elements {
            ($variant:ident, $element:expr) => {
                self.elements(shape, $element)?.map_or(Data::Elided, Data::$variant)
            };
        }
        macro_rules! whole {
            ($variant:ident, $convert:expr) => {
                elements!($variant, |cursor| cursor.whole_in(ElementType::$variant, $convert))
            };
        }
        macro_rules! small {
            ($variant:ident, $format:expr, $from_bits:expr) => {
                elements!($variant, |cursor| cursor.small(ElementType::$variant, $format).map($from_bits))
            };
        }
        macro_rules! mini {
            ($variant:ident) => {
                small!($variant, ir::$variant::FORMAT, |bits| ir::$variant::from_bits(bits as u8))
            };
        }
        Ok(match shape.element_type {
            ElementType::Pred => elements!(Pred, Self::pred),
            ElementType::S1 => whole!(S1, |value| i8::try_from(value).ok().and_then(S1::new)),
            ElementType::S2 => whole!(S2, |value| i8::try_from(value).ok().and_then(S2::new)),
            ElementType::S4 => whole!(S4, |value| i8::try_from(value).ok().and_then(S4::new)),
            ElementType::S8 => whole!(S8, |value| value.try_into().ok()),
            ElementType::S16 => whole!(S16, |value| value.try_into().ok()),
            ElementType::S32 => whole!(S32, |value| value.try_into().ok()),
            // Both types of 64 bits take a word in either spelling, as XLA's reader does: -1 is the greatest u64.
            ElementType::S64 => whole!(S64, |value| Some(value as i64)),
            ElementType::U1 => whole!(U1, |value| u8::try_from(value).ok().and_then(U1::new)),
            ElementType::U2 => whole!(U2, |value| u8::try_from(value).ok().and_then(U2::new)),
            ElementType::U4 => whole!(U4, |value| u8::try_from(value).ok().and_then(U4::new)),
            ElementType::U8 => whole!(U8, |value| value.try_into().ok()),
            ElementType::U16 => whole!(U16, |value| value.try_into().ok()),
            ElementType::U32 => whole!(U32, |value| value.try_into().ok()),
            ElementType::U64 => whole!(U64, |value| Some(value as u64)),
            ElementType::F4E2M1Fn => mini!(F4E2M1Fn),
            ElementType::F6E2M3Fn => mini!(F6E2M3Fn),
            ElementType::F6E3M2Fn => mini!(F6E3M2Fn),
            ElementType::F8E3M4 => mini!(F8E3M4),
            ElementType::F8E4M3 => mini!(F8E4M3),
            ElementType::F8E4M3B11Fnuz => mini!(F8E4M3B11Fnuz),
            ElementType::F8E4M3Fn => mini!(F8E4M3Fn),
            ElementType::F8E4M3Fnuz => mini!(F8E4M3Fnuz),
            ElementType::F8E5M2 => mini!(F8E5M2),
            ElementType::F8E5M2Fnuz => mini!(F8E5M2Fnuz),
            ElementType::F8E8M0Fnu => mini!(F8E8M0Fnu),
            ElementType::F16 => small!(F16, FloatFormat::F16, f16::from_bits),
            ElementType::Bf16 => small!(Bf16, FloatFormat::BF16, bf16::from_bits),
            ElementType::F32 => elements!(F32, Self::f32),
            ElementType::F64 => elements!(F64, |cursor| cursor.f64_in(ElementType::F64)),
            ElementType::C64 => elements!(C64, |cursor| cursor.complex(|part| part.f32_in(ElementType::C64))),
            ElementType::C128 => elements!(C128, |cursor| cursor.complex(|part| part.f64_in(ElementType::C128))),
        })
    }

    fn not_an_element(&mut self, element_type: ElementType, expected: &str) -> Failure {
        let token = self.token();
        let end = self.position();
        self.set_position(end - token.len());
        if token.is_empty() {
            return self.unexpected_as(codes::LITERAL_ELEMENT, &format!("an element of type {element_type}"));
        }
        let message = format!("expected {expected} that {element_type} can hold, found {}", quote(token));
        failure(codes::LITERAL_ELEMENT, Span::new(end - token.len()..end), message)
    }

    /// A truth value; a number is true if it is not zero.
    fn pred(&mut self) -> Result<bool, Failure> {
        if let Some(value) = self.whole() {
            return Ok(value != 0);
        }
        let start = self.position();
        match self.token() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => {
                self.set_position(start);
                Err(self.not_an_element(ElementType::Pred, "`true`, `false`, `1` or `0`"))
            }
        }
    }

    #[inline]
    fn whole_in<T>(
        &mut self,
        element_type: ElementType,
        convert: impl FnOnce(i128) -> Option<T>,
    ) -> Result<T, Failure> {
        self.skip_trivia();
        let start = self.position();
        if let Some(value) = self.whole().and_then(convert) {
            return Ok(value);
        }
        self.set_position(start);
        let expected = if element_type.is_signed() { "an integer" } else { "an integer, not negative," };
        Err(self.not_an_element(element_type, expected))
    }

    /// The bits of a number of a small format.
    #[inline]
    fn small(&mut self, element_type: ElementType, format: FloatFormat) -> Result<u16, Failure> {
        self.skip_trivia();
        let start = self.position();
        let bits = match self.real(element_type, u64::from(format.max_payload()))? {
            Some(Real::Decimal(text)) => text
                .parse()
                .ok()
                .and_then(|nearest: f64| format.nearest_of(nearest, || decimal::compare(text, nearest))),
            Some(Real::Infinity { negative }) => format.infinity(negative),
            Some(Real::Nan { negative, payload: None }) => format.nan(negative),
            // The payload is the mantissa below the highest exponent, which alone is an infinity.
            Some(Real::Nan { negative, payload: Some(payload) }) => {
                format.infinity(negative).map(|infinity| infinity | payload as u16)
            }
            None => None,
        };
        bits.ok_or_else(|| self.not_a_real(element_type, start))
    }

    /// An `f32`, as literals and attributes have it.
    #[inline]
    pub(in crate::text) fn f32(&mut self) -> Result<f32, Failure> {
        self.f32_in(ElementType::F32)
    }

    #[inline]
    fn f32_in(&mut self, element_type: ElementType) -> Result<f32, Failure> {
        self.skip_trivia();
        let start = self.position();
        let value = match self.real(element_type, (1 << 23) - 1)? {
            Some(Real::Decimal(text)) => text.parse().ok().filter(|value: &f32| value.is_finite()),
            Some(Real::Infinity { negative: true }) => Some(f32::NEG_INFINITY),
            Some(Real::Infinity { negative: false }) => Some(f32::INFINITY),
            Some(Real::Nan { negative, payload }) => {
                let sign = u32::from(negative) << 31;
                Some(f32::from_bits(sign | f32::INFINITY.to_bits() | payload.unwrap_or(1 << 22) as u32))
            }
            None => None,
        };
        value.ok_or_else(|| self.not_a_real(element_type, start))
    }

    #[inline]
    fn f64_in(&mut self, element_type: ElementType) -> Result<f64, Failure> {
        self.skip_trivia();
        let start = self.position();
        let value = match self.real(element_type, (1 << 52) - 1)? {
            Some(Real::Decimal(text)) => text.parse().ok().filter(|value: &f64| value.is_finite()),
            Some(Real::Infinity { negative: true }) => Some(f64::NEG_INFINITY),
            Some(Real::Infinity { negative: false }) => Some(f64::INFINITY),
            Some(Real::Nan { negative, payload }) => {
                let sign = u64::from(negative) << 63;
                Some(f64::from_bits(sign | f64::INFINITY.to_bits() | payload.unwrap_or(1 << 51)))
            }
            None => None,
        };
        value.ok_or_else(|| self.not_a_real(element_type, start))
    }

    fn not_a_real(&mut self, element_type: ElementType, start: usize) -> Failure {
        self.set_position(start);
        let format = FloatFormat::of(element_type);
        let has = |special: Option<Option<u16>>| special.is_none_or(|special| special.is_some());
        let infinity = has(format.map(|format| format.infinity(false)));
        let nan = has(format.map(|format| format.nan(false)));
        // What starts like a number is one beyond the range.
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest).starts_with(|first: char| first.is_ascii_digit());
        let expected = match (infinity && !digits, nan && !digits) {
            (true, _) => "a number, `inf` or `nan`",
            (false, true) => "a number or `nan`",
            (false, false) => "a number",
        };
        self.not_an_element(element_type, expected)
    }

    /// `(real, imaginary)`
    fn complex<T>(&mut self, part: impl Fn(&mut Self) -> Result<T, Failure>) -> Result<Complex<T>, Failure> {
        self.expect(b'(', "a complex number, `(real, imaginary)`")?;
        let re = part(self)?;
        self.expect(b',', "`,` between the real and the imaginary part")?;
        let im = part(self)?;
        self.expect(b')', "`)` after the imaginary part")?;
        Ok(Complex { re, im })
    }
}
