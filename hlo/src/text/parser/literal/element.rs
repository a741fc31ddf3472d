//! The elements of each type.

use super::Read;
use super::decimal;
use super::number::Real;
use crate::ir::{ArrayShape, Data, ElementType, FloatFormat, Span, Word, words_of};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, failure, quote};

impl Cursor<'_> {
    /// The elements of an array.
    pub(super) fn array_literal(&mut self, shape: &ArrayShape) -> Result<Data, Failure> {
        let element_type = shape.element_type;
        match element_type {
            ElementType::Pred => self.read(shape, |cursor| cursor.pred().map(u8::from)),
            ElementType::F32 => self.read(shape, |cursor| cursor.f32().map(f32::to_bits)),
            ElementType::F64 => self.read(shape, |cursor| cursor.f64_in(element_type).map(f64::to_bits)),
            ElementType::C64 => {
                self.read(shape, |cursor| cursor.complex(|part| part.f32_in(element_type).map(f32::to_bits)))
            }
            ElementType::C128 => {
                self.read(shape, |cursor| cursor.complex(|part| part.f64_in(element_type).map(f64::to_bits)))
            }
            _ => match FloatFormat::of(element_type) {
                Some(format) if element_type.bits() > 8 => {
                    self.read(shape, |cursor| cursor.small(element_type, format))
                }
                // A format of at most 8 bits has no others.
                Some(format) => self.read(shape, |cursor| cursor.small(element_type, format).map(|bits| bits as u8)),
                None => {
                    let range = IntegerRange::of(element_type);
                    words_of!(Data::no_words(element_type), _, W => {
                        self.read(shape, |cursor| Ok(W::of_bits(cursor.whole_in(&range)? as u128)))
                    })
                }
            },
        }
    }

    /// The elements of an array, each as the word that holds it.
    fn read<W: Word>(
        &mut self,
        shape: &ArrayShape,
        element: impl FnMut(&mut Cursor<'_>) -> Result<W, Failure>,
    ) -> Result<Data, Failure> {
        let mut elements = Read { values: Vec::new(), element };
        let is_whole = self.elements(shape, &mut elements)?;
        Ok(if is_whole { W::data(elements.values, shape.element_type) } else { Data::Elided })
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

    /// An integer of a type.
    #[inline]
    fn whole_in(&mut self, range: &IntegerRange) -> Result<i128, Failure> {
        self.skip_trivia();
        let start = self.position();
        match self.whole() {
            Some(value) if range.least <= value && value <= range.greatest => Ok(value),
            _ => {
                self.set_position(start);
                let expected = if range.element_type.is_signed() { "an integer" } else { "an integer, not negative," };
                Err(self.not_an_element(range.element_type, expected))
            }
        }
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
    fn complex<T>(&mut self, part: impl Fn(&mut Self) -> Result<T, Failure>) -> Result<[T; 2], Failure> {
        self.expect(b'(', "a complex number, `(real, imaginary)`")?;
        let re = part(self)?;
        self.expect(b',', "`,` between the real and the imaginary part")?;
        let im = part(self)?;
        self.expect(b')', "`)` after the imaginary part")?;
        Ok([re, im])
    }
}

/// The integers that a literal of an integer type may be spelled with.
struct IntegerRange {
    element_type: ElementType,
    least: i128,
    greatest: i128,
}

impl IntegerRange {
    fn of(element_type: ElementType) -> Self {
        let bits = element_type.bits();
        let (least, greatest) = match bits {
            // Both types of 64 bits take a word in either spelling, as XLA's reader does: -1 is the greatest u64.
            64 => (i64::MIN.into(), u64::MAX.into()),
            _ if element_type.is_signed() => (-(1i128 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => (0, (1 << bits) - 1),
        };
        IntegerRange { element_type, least, greatest }
    }
}
