//! Parsing of shapes: `f32[2,<=3]{1,0:T(8,128)}`, `(s32[], token[])`.

use crate::diagnostic::{did_you_mean, translated};
use crate::ir::{ArrayShape, ElementType, Shape, Span};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, MAX_DEPTH, failure, quote};

/// How many dimensions an array may have.
pub(super) const MAX_RANK: usize = 255;

impl Cursor<'_> {
    /// A shape. Tuples may nest [`MAX_DEPTH`] deep.
    pub(super) fn shape(&mut self) -> Result<Shape, Failure> {
        self.shape_at(0, false)
    }

    /// A shape whose layout may stand after a blank, which it cannot where a literal may follow.
    pub(super) fn spaced_shape(&mut self) -> Result<Shape, Failure> {
        self.shape_at(0, true)
    }

    fn shape_at(&mut self, depth: usize, spaced: bool) -> Result<Shape, Failure> {
        if self.peek() != Some(b'(') {
            return self.leaf_shape(spaced);
        }
        let start = self.position();
        if depth == MAX_DEPTH {
            let message = format!("tuple shapes nest deeper than {MAX_DEPTH}");
            return Err(failure(codes::TOO_DEEP, Span::new(start..start + 1), message));
        }
        self.bump();
        let mut elements = Vec::new();
        if self.eat(b')') {
            return Ok(Shape::Tuple(elements));
        }
        loop {
            elements.push(self.shape_at(depth + 1, spaced)?);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')', "`,` or `)` in a tuple shape")?;
        Ok(Shape::Tuple(elements))
    }

    fn leaf_shape(&mut self, spaced: bool) -> Result<Shape, Failure> {
        let Some(word) = self.word() else {
            return Err(self.unexpected("a shape"));
        };
        match word.text {
            "token" | "opaque" => {
                self.expect(b'[', "`[]`")?;
                self.expect(b']', "`]`: tokens and opaque values have no extents")?;
                return Ok(if word.text == "token" { Shape::Token } else { Shape::Opaque });
            }
            "b" if self.peek() == Some(b'(') => return self.buffer(spaced),
            _ => {}
        }
        let Ok(element_type) = word.text.parse::<ElementType>() else {
            let others = ["token", "opaque"];
            let names = ElementType::ALL.iter().map(|element_type| element_type.name()).chain(others);
            let hint = match translated(word.text) {
                Some(name) => format!("; HLO calls it `{name}`"),
                None => did_you_mean(word.text, names),
            };
            let message = format!("expected a shape, found {}, which is no element type{hint}", quote(word.text));
            return Err(failure(codes::ELEMENT_TYPE, word.span, message));
        };
        self.expect(b'[', "`[` after the element type")?;
        let mut shape = ArrayShape::new(element_type, Vec::new());
        if !self.eat(b']') {
            loop {
                self.extent(&mut shape)?;
                if !self.eat(b',') {
                    break;
                }
            }
            self.expect(b']', "`,` or `]` after an extent")?;
        }
        if !shape.is_unbounded() && shape.element_count().is_none() {
            let span = self.since(word.span.range().start);
            let message = "the number of elements exceeds 64 bits";
            return Err(failure(codes::ELEMENT_COUNT, span, message));
        }
        if self.rest().starts_with("{}") {
            let expected = format!("{} in this layout, or no layout", count(shape.rank()));
            self.bump();
            return Err(self.unexpected_as(codes::SHAPE, &expected));
        }
        if (spaced || self.byte() == Some(b'{')) && self.at_layout() {
            let layout = self.layout(shape.rank())?;
            shape.layout = (!layout.is_blank()).then_some(layout);
        }
        Ok(Shape::Array(shape))
    }

    /// `(f32[4]{0})`, after its `b`.
    fn buffer(&mut self, spaced: bool) -> Result<Shape, Failure> {
        self.skip_trivia();
        let start = self.position();
        self.bump();
        let is_array = self.word().is_some_and(|word| word.text.parse::<ElementType>().is_ok());
        self.set_position(start + 1);
        if !is_array {
            return Err(self.unexpected_as(codes::SHAPE, "the array that a buffer holds"));
        }
        let Shape::Array(array) = self.leaf_shape(spaced)? else {
            return Err(self.unexpected_as(codes::SHAPE, "the array that a buffer holds"));
        };
        self.expect(b')', "`)` after the array that a buffer holds")?;
        Ok(Shape::Buffer(array))
    }

    fn extent(&mut self, shape: &mut ArrayShape) -> Result<(), Failure> {
        if shape.rank() == MAX_RANK {
            let message = format!("an array has at most {MAX_RANK} dimensions");
            return Err(failure(codes::SHAPE, self.since(self.position()), message));
        }
        if self.peek() == Some(b'?') {
            self.bump();
            shape.dynamic.push(shape.rank());
            shape.extents.push(ArrayShape::UNBOUNDED);
            return Ok(());
        }
        if self.eat_token("<=") {
            shape.dynamic.push(shape.rank());
        }
        self.skip_trivia();
        let start = self.position();
        if !matches!(self.byte(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.unexpected("an extent, `<=` and a bound, or `?`"));
        }
        let extent = self.integer("an extent")?;
        if extent < 0 {
            return Err(failure(codes::SHAPE, self.since(start), format!("an extent is at least 0, found {extent}")));
        }
        shape.extents.push(extent);
        Ok(())
    }
}

/// What a layout of this rank names, in words.
fn count(rank: usize) -> String {
    match rank {
        0 => "no dimension".to_owned(),
        1 => "the dimension `0`".to_owned(),
        rank => format!("each of the dimensions `0` to `{}`", rank - 1),
    }
}
