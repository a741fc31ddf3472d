//! Literals: scalars, nested braces, tuples.

use crate::ir::{ArrayShape, Data, ElementType, Literal, Shape, Span};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, failure, quote};
use crate::text::printer::array_text;
use std::borrow::Cow;

impl<'a> Cursor<'a> {
    /// The literal of a shape, as it stands in the parentheses of `constant`.
    pub(super) fn literal(&mut self, shape: &Shape) -> Result<Literal, Failure> {
        let data = match shape {
            Shape::Array(array) => self.array_literal(array)?,
            Shape::Tuple(elements) => self.tuple_literal(elements)?,
            Shape::Token | Shape::Opaque => {
                let span = self.since(self.position());
                return Err(failure(codes::LITERAL_TYPE, span, format!("there are no literals of shape {shape}")));
            }
        };
        Ok(Literal { shape: shape.clone(), data })
    }

    /// The depth of recursion is that of the shape, which its reader bounds.
    fn tuple_literal(&mut self, shapes: &[Shape]) -> Result<Data, Failure> {
        if self.elided() {
            return Ok(Data::Elided);
        }
        self.expect(b'(', "`(` at the start of a tuple literal")?;
        let mut elements = Vec::with_capacity(shapes.len());
        for (position, shape) in shapes.iter().enumerate() {
            if position > 0 && !self.eat(b',') {
                return Err(self.unexpected(&format!("`,` and {} elements in this tuple literal", shapes.len())));
            }
            self.skip_element_shape(shape)?;
            elements.push(self.literal(shape)?);
        }
        if !self.eat(b')') {
            return Err(self.unexpected(&format!("`)` after {} elements of a tuple literal", shapes.len())));
        }
        Ok(Data::Tuple(elements))
    }

    /// Some printers repeat the shape before each element of a tuple.
    fn skip_element_shape(&mut self, shape: &Shape) -> Result<(), Failure> {
        self.skip_trivia();
        let start = self.position();
        let Some(word) = self.word() else { return Ok(()) };
        let repeated = self.byte() == Some(b'[');
        self.set_position(start);
        if !repeated {
            return Ok(());
        }
        let found = self.shape()?;
        if !found.is_compatible(shape) {
            let message = format!("expected an element of shape {}, found {found}", shape.without_layout());
            return Err(failure(codes::LITERAL_TYPE, word.span, message));
        }
        Ok(())
    }

    fn elided(&mut self) -> bool {
        self.eat_token("{...}")
    }

    fn array_literal(&mut self, shape: &ArrayShape) -> Result<Data, Failure> {
        if self.elided() {
            return Ok(Data::Elided);
        }
        Ok(match shape.element_type {
            ElementType::Pred => Data::Pred(self.elements(shape, Self::pred)?),
            ElementType::S32 => Data::S32(self.elements(shape, |cursor| cursor.parsed("s32", "an integer"))?),
            ElementType::U32 => {
                Data::U32(self.elements(shape, |cursor| cursor.parsed("u32", "an integer, not negative,"))?)
            }
            ElementType::F32 => Data::F32(self.elements(shape, Self::f32)?),
            element_type => {
                let tokens = self.elements(shape, |cursor| cursor.opaque_element(element_type))?;
                Data::Text(array_text(&shape.extents, &tokens))
            }
        })
    }

    /// Walks the braces of an array and reads each element. Refuses any count but that of the extents.
    fn elements<T>(
        &mut self,
        shape: &ArrayShape,
        mut element: impl FnMut(&mut Self) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        let rank = shape.rank();
        if rank == 0 {
            return Ok(vec![element(self)?]);
        }
        // An element takes at least two bytes, so the text bounds what is reserved.
        let count = shape.element_count().and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        let mut values = Vec::with_capacity(count.min(self.rest().len() / 2 + 1));
        self.skip_trivia();
        let start = self.position();
        if !self.eat(b'{') {
            return Err(self.unexpected(&format!("`{{` at the start of a literal of shape {shape}")));
        }
        // For each open brace, how many items it holds so far.
        let mut counts: Vec<i64> = vec![0];
        while let Some(count) = counts.last().copied() {
            let depth = counts.len();
            let extent = shape.extents[depth - 1];
            if self.eat(b'}') {
                let empty = depth == 1 && count == 0 && shape.element_count() == Some(0);
                if count != extent && !empty {
                    return Err(self.wrong_count(shape, depth, format!("found {count}")));
                }
                counts.pop();
                continue;
            }
            if count > 0 {
                self.expect(b',', "`,` or `}` in a literal")?;
            }
            if count == extent {
                return Err(self.wrong_count(shape, depth, "found more".to_owned()));
            }
            counts[depth - 1] += 1;
            if depth < rank {
                if self.at_end() {
                    let message = "this `{` is never closed";
                    return Err(failure(codes::UNBALANCED, Span::new(start..start + 1), message));
                }
                if !self.eat(b'{') {
                    return Err(self.unexpected(&format!("`{{`: the shape has {rank} dimensions")));
                }
                counts.push(0);
            } else {
                values.push(element(self)?);
            }
        }
        Ok(values)
    }

    fn wrong_count(&self, shape: &ArrayShape, depth: usize, found: String) -> Failure {
        let at = self.position();
        let extents: Vec<String> = shape.extents.iter().map(i64::to_string).collect();
        let expected = shape.extents[depth - 1];
        let message = format!(
            "the literal does not have the shape {}[{}]: expected {expected} {} in these braces (dimension {}), {found}",
            shape.element_type,
            extents.join(","),
            if expected == 1 { "item" } else { "items" },
            depth - 1,
        );
        failure(codes::LITERAL_COUNT, Span::new(at.saturating_sub(1)..at), message)
    }

    /// A number or a word.
    #[inline]
    fn token(&mut self) -> &'a str {
        self.skip_trivia();
        let bytes = self.bytes();
        let start = self.position();
        let mut end = start;
        while bytes.get(end).is_some_and(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')) {
            end += 1;
        }
        self.set_position(end);
        self.slice(start..end)
    }

    fn not_an_element(&mut self, token: &str, element_type: &str, expected: &str) -> Failure {
        let end = self.position();
        self.set_position(end - token.len());
        if token.is_empty() {
            return self.unexpected_as(codes::LITERAL_ELEMENT, &format!("an element of type {element_type}"));
        }
        let message = format!("expected {expected} that {element_type} can hold, found {}", quote(token));
        failure(codes::LITERAL_ELEMENT, Span::new(end - token.len()..end), message)
    }

    fn pred(&mut self) -> Result<bool, Failure> {
        match self.token() {
            "1" | "true" => Ok(true),
            "0" | "false" => Ok(false),
            other => Err(self.not_an_element(other, "pred", "`true`, `false`, `1` or `0`")),
        }
    }

    #[inline]
    fn parsed<T: std::str::FromStr>(&mut self, element_type: &str, expected: &str) -> Result<T, Failure> {
        let token = self.token();
        token.parse().map_err(|_| self.not_an_element(token, element_type, expected))
    }

    #[inline]
    pub(super) fn f32(&mut self) -> Result<f32, Failure> {
        let token = self.token();
        let magnitude = token.strip_prefix('-').unwrap_or(token);
        if magnitude.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
            return match token.parse::<f32>() {
                Ok(value) if value.is_finite() => Ok(value),
                _ => Err(self.not_an_element(token, "f32", "a number")),
            };
        }
        let bits = match magnitude {
            "inf" => f32::INFINITY.to_bits(),
            "nan" => f32::INFINITY.to_bits() | self.nan_payload()?,
            _ => return Err(self.not_an_element(token, "f32", "a number, `inf` or `nan`")),
        };
        let sign = if magnitude.len() < token.len() { 1 << 31 } else { 0 };
        Ok(f32::from_bits(sign | bits))
    }

    /// The mantissa of a NaN: what `(0x…)` says, else only its highest bit.
    fn nan_payload(&mut self) -> Result<u32, Failure> {
        if self.byte() != Some(b'(') {
            return Ok(1 << 22);
        }
        let start = self.position();
        self.bump();
        let token = self.token();
        let payload = token.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.expect(b')', "`)` after the payload of a NaN")?;
        match payload {
            Some(payload) if payload > 0 && payload < 1 << 23 => Ok(payload),
            _ => {
                let message = format!("the payload of an f32 NaN is from 0x1 to 0x7fffff, found {}", quote(token));
                Err(failure(codes::LITERAL_ELEMENT, self.since(start), message))
            }
        }
    }

    /// An element of a type that is kept as text. Only its outer form is checked, and the range of integers.
    fn opaque_element(&mut self, element_type: ElementType) -> Result<Cow<'a, str>, Failure> {
        self.skip_trivia();
        let start = self.position();
        if element_type.is_complex() {
            if !self.eat(b'(') {
                return Err(self.unexpected(&format!("an element of type {element_type}, `(real, imaginary)`")));
            }
            let real = self.real(element_type)?;
            self.expect(b',', "`,` between the real and the imaginary part")?;
            let imaginary = self.real(element_type)?;
            self.expect(b')', "`)` after the imaginary part")?;
            return Ok(Cow::Owned(format!("({real}, {imaginary})")));
        }
        if element_type.is_integer() {
            let token = self.token();
            let bits = element_type.bits();
            let (low, high) = if element_type.is_signed() {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            } else {
                (0, (1i128 << bits) - 1)
            };
            if !token.parse::<i128>().is_ok_and(|value| (low..=high).contains(&value)) {
                return Err(self.not_an_element(token, element_type.name(), "an integer"));
            }
        } else {
            self.real(element_type)?;
        }
        Ok(Cow::Borrowed(self.slice(start..self.position())))
    }

    fn real(&mut self, element_type: ElementType) -> Result<&'a str, Failure> {
        let token = self.token();
        let start = self.position() - token.len();
        let magnitude = token.strip_prefix('-').unwrap_or(token);
        if magnitude == "nan" && self.byte() == Some(b'(') {
            self.bump();
            self.token();
            if self.byte() != Some(b')') {
                return Err(self.unexpected("`)` after the payload of a NaN"));
            }
            self.bump();
            return Ok(self.slice(start..self.position()));
        }
        let number = magnitude.starts_with(|first: char| first.is_ascii_digit() || first == '.');
        if magnitude == "nan" || magnitude == "inf" || (number && token.parse::<f64>().is_ok()) {
            return Ok(token);
        }
        Err(self.not_an_element(token, element_type.name(), "a number"))
    }
}
