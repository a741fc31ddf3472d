//! Shapes: `f32[2,<=3]{1,0:T(8,128)}`, `(s32[], token[])`.

use crate::ir::{ArrayShape, ElementType, Layout, Shape, Span};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, MAX_DEPTH, quote};
use crate::text::suggest::nearest;

use crate::text::lexer::failure;

/// How many dimensions an array may have.
const MAX_RANK: usize = 255;

impl Cursor<'_> {
    /// A shape. Tuples may nest [`MAX_DEPTH`] deep.
    pub(super) fn shape(&mut self) -> Result<Shape, Failure> {
        self.shape_at(0)
    }

    fn shape_at(&mut self, depth: usize) -> Result<Shape, Failure> {
        if self.peek() != Some(b'(') {
            return self.leaf_shape();
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
            elements.push(self.shape_at(depth + 1)?);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')', "`,` or `)` in a tuple shape")?;
        Ok(Shape::Tuple(elements))
    }

    fn leaf_shape(&mut self) -> Result<Shape, Failure> {
        let Some(word) = self.word() else {
            return Err(self.unexpected("a shape"));
        };
        match word.text {
            "token" | "opaque" => {
                self.expect(b'[', "`[]`")?;
                self.expect(b']', "`]`: tokens and opaque values have no extents")?;
                return Ok(if word.text == "token" { Shape::Token } else { Shape::Opaque });
            }
            _ => {}
        }
        let Ok(element_type) = word.text.parse::<ElementType>() else {
            let names = ElementType::ALL.iter().map(|element_type| element_type.name());
            let hint = nearest(word.text, names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
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
        if shape.element_count().is_none() {
            let span = self.since(word.span.range().start);
            let message = "the number of elements exceeds 64 bits";
            return Err(failure(codes::ELEMENT_COUNT, span, message));
        }
        // A layout follows without a blank; after a blank, a brace opens a computation or a literal.
        if self.byte() == Some(b'{') {
            let layout = self.layout(shape.rank())?;
            shape.layout = (shape.rank() > 0 || !layout.suffix.is_empty()).then_some(layout);
        }
        Ok(Shape::Array(shape))
    }

    fn extent(&mut self, shape: &mut ArrayShape) -> Result<(), Failure> {
        if shape.rank() == MAX_RANK {
            let message = format!("an array has at most {MAX_RANK} dimensions");
            return Err(failure(codes::SHAPE, self.since(self.position()), message));
        }
        if self.peek() == Some(b'?') {
            let span = Span::new(self.position()..self.position() + 1);
            let message = "dimensions without a bound are not supported, expected an extent or `<=` and a bound";
            return Err(failure(codes::SHAPE, span, message));
        }
        if self.eat_token("<=") {
            shape.dynamic.push(shape.rank());
        }
        self.skip_trivia();
        let start = self.position();
        let extent = self.integer("an extent")?;
        if extent < 0 {
            return Err(failure(codes::SHAPE, self.since(start), format!("an extent is at least 0, found {extent}")));
        }
        shape.extents.push(extent);
        Ok(())
    }

    fn layout(&mut self, rank: usize) -> Result<Layout, Failure> {
        let start = self.position();
        self.bump();
        let mut layout = Layout { minor_to_major: Vec::with_capacity(rank), suffix: String::new() };
        let mut seen = [false; MAX_RANK];
        while !matches!(self.peek(), Some(b'}' | b':')) {
            if !layout.minor_to_major.is_empty() {
                self.expect(b',', "`,`, `:` or `}` in a layout")?;
            }
            self.skip_trivia();
            let at = self.position();
            let dimension = self.integer("a dimension of the layout")?;
            match usize::try_from(dimension).ok().filter(|&dimension| dimension < rank && !seen[dimension]) {
                Some(dimension) => {
                    seen[dimension] = true;
                    layout.minor_to_major.push(dimension);
                }
                None => {
                    let message =
                        format!("a layout names each of {rank} dimensions once, found {dimension} out of place");
                    return Err(failure(codes::SHAPE, self.since(at), message));
                }
            }
        }
        if self.eat(b':') {
            layout.suffix = self.raw_value_until_brace()?;
        }
        self.expect(b'}', "`}` at the end of a layout")?;
        if layout.minor_to_major.len() != rank {
            let message = format!("a layout names all {rank} dimensions, found {}", layout.minor_to_major.len());
            return Err(failure(codes::SHAPE, self.since(start), message));
        }
        Ok(layout)
    }

    /// The raw text up to a closing brace, commas and blanks included.
    fn raw_value_until_brace(&mut self) -> Result<String, Failure> {
        let mut suffix = self.raw_value()?;
        while self.peek().is_some_and(|byte| byte != b'}') {
            if self.eat(b',') {
                suffix.push(',');
                continue;
            }
            let more = self.raw_value()?;
            if more.is_empty() {
                break;
            }
            suffix.push_str(&more);
        }
        Ok(suffix)
    }
}
