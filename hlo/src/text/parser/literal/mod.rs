//! Literals: scalars, nested braces, tuples.
//!
//! Commas inside braces may be missing or repeated, and one may be missing between the elements of a tuple: XLA's
//! reader takes them for blanks.

mod decimal;
mod element;
mod number;

use crate::ir::{ArrayShape, Data, Layout, Literal, Shape, Span};
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, MAX_DEPTH, MAX_UNWRITTEN, failure};
use crate::text::printer::spelled_empty;

impl Cursor<'_> {
    /// The literal of a shape, as it stands in the parentheses of `constant`.
    pub(super) fn literal(&mut self, shape: &Shape) -> Result<Literal, Failure> {
        let data = match shape {
            Shape::Array(array) => self.array_literal(array)?,
            Shape::Tuple(elements) => self.tuple_literal(elements)?,
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                let span = self.since(self.position());
                return Err(failure(codes::LITERAL_TYPE, span, format!("there are no literals of shape {shape}")));
            }
        };
        Ok(Literal { shape: shape.clone(), data })
    }

    /// A literal with its shape before it, or those of a tuple between parentheses: `( f32[] 1, s32[2]{0} {1, 2} )`.
    pub(in crate::text::parser) fn shaped_literal(&mut self, depth: usize) -> Result<Literal, Failure> {
        if self.peek() != Some(b'(') {
            let mut shape = self.spaced_shape()?;
            // In text that is printed the braces of elements would be taken for a layout where none is.
            if let Shape::Array(array) = &mut shape
                && array.rank() > 0
            {
                let rank = array.rank();
                array.layout.get_or_insert_with(|| Layout::row_major(rank));
            }
            return self.literal(&shape);
        }
        if depth == MAX_DEPTH {
            let message = format!("tuple literals nest deeper than {MAX_DEPTH}");
            return Err(failure(codes::TOO_DEEP, Span::new(self.position()..self.position() + 1), message));
        }
        let elements = self.list(b'(', b')', "a shape and a literal", |cursor| cursor.shaped_literal(depth + 1))?;
        let shape = Shape::Tuple(elements.iter().map(|element| element.shape.clone()).collect());
        Ok(Literal { shape, data: Data::Tuple(elements) })
    }

    /// The depth of recursion is that of the shape, which its reader bounds.
    fn tuple_literal(&mut self, shapes: &[Shape]) -> Result<Data, Failure> {
        if self.eat_token("{...}") {
            return Ok(Data::Elided);
        }
        self.expect(b'(', "`(` at the start of a tuple literal")?;
        let mut elements = Vec::with_capacity(shapes.len());
        for (position, shape) in shapes.iter().enumerate() {
            if position > 0 && !self.eat(b',') && matches!(self.peek(), Some(b')') | None) {
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

    /// Walks the braces of an array and has its elements read; `false` where the printer left elements out. Refuses any count but
    /// that of the extents, and one number without braces.
    fn elements(&mut self, shape: &ArrayShape, elements: &mut dyn Elements) -> Result<bool, Failure> {
        let rank = shape.rank();
        let count = shape.element_count();
        if rank == 0 {
            elements.read(self, 1)?;
            return Ok(true);
        }
        // Complex numbers need their braces.
        if !shape.element_type.is_complex() && self.at_bare_number() {
            let start = self.position();
            elements.read(self, 1)?;
            elements.fill(self.count_of_first(shape, start)?);
            return Ok(true);
        }
        // An element takes at least two bytes, so the text bounds what is reserved.
        let reserved = count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        elements.reserve(reserved.min(self.rest().len() / 2 + 1));
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
            while self.eat(b',') {}
            match self.byte() {
                Some(b'}') => {
                    self.bump();
                    if count != extent && !is_short_form(shape, depth, count) {
                        let brace = Span::new(self.position() - 1..self.position());
                        return Err(wrong_count(shape, depth, brace, format!("found {count}")));
                    }
                    counts.pop();
                    continue;
                }
                Some(b'.') if depth == 1 && self.eat_token("...") => {
                    while self.eat(b',') {}
                    self.expect(b'}', "`}` after `...`")?;
                    return Ok(false);
                }
                _ => {}
            }
            if self.byte().is_none() {
                let message = "this `{` is never closed";
                return Err(failure(codes::UNBALANCED, Span::new(start..start + 1), message));
            }
            if count == extent {
                let length = self.rest().chars().next().map_or(0, char::len_utf8);
                let found = Span::new(self.position()..self.position() + length);
                return Err(wrong_count(shape, depth, found, "found more".to_owned()));
            }
            if depth < rank {
                counts[depth - 1] += 1;
                if !self.eat(b'{') {
                    return Err(self.unexpected(&format!("`{{`: the shape has {rank} dimensions")));
                }
                counts.push(0);
            } else {
                counts[depth - 1] += elements.read(self, extent - count)?;
            }
        }
        Ok(true)
    }
}

/// The elements of an array while they are read. The walk through braces is compiled once, what reads the elements between two
/// braces for each kind of them.
trait Elements {
    /// Makes room.
    fn reserve(&mut self, count: usize);

    /// Reads one element and those that follow it, at most so many in all, up to what is no element; says how many they were.
    fn read(&mut self, cursor: &mut Cursor<'_>, most: i64) -> Result<i64, Failure>;

    /// Adds zeros until there are so many.
    fn fill(&mut self, count: usize);
}

/// Elements that one function reads.
struct Read<T, F> {
    values: Vec<T>,
    element: F,
}

impl<T: Copy + Default, F: FnMut(&mut Cursor<'_>) -> Result<T, Failure>> Elements for Read<T, F> {
    fn reserve(&mut self, count: usize) {
        self.values.reserve_exact(count);
    }

    fn read(&mut self, cursor: &mut Cursor<'_>, most: i64) -> Result<i64, Failure> {
        let mut count = 0;
        loop {
            self.values.push((self.element)(cursor)?);
            count += 1;
            if count == most {
                return Ok(count);
            }
            while cursor.eat(b',') {}
            if matches!(cursor.byte(), Some(b'}' | b'.') | None) {
                return Ok(count);
            }
        }
    }

    fn fill(&mut self, count: usize) {
        self.values.resize(count, T::default());
    }
}

impl Cursor<'_> {
    /// Whether a number comes next, or a word in place of one.
    fn at_bare_number(&mut self) -> bool {
        self.peek().is_some_and(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
    }

    /// How many elements a literal has that is one number without braces, which started at `start`: as in XLA it is the first of
    /// them, and the others are zero.
    fn count_of_first(&mut self, shape: &ArrayShape, start: usize) -> Result<usize, Failure> {
        let span = self.since(start);
        let count = shape.element_count().and_then(|count| usize::try_from(count).ok());
        let Some(count) = count.filter(|&count| count > 0) else {
            let message = format!("one number is the first element of a literal, and none of shape {shape} has one");
            return Err(failure(codes::LITERAL_COUNT, span, message));
        };
        // The text says nothing of the others, so it does not bound their number.
        if !self.reserve_unwritten(count - 1) {
            let message = format!(
                "elements that are not written are at most {MAX_UNWRITTEN} in a text; {shape} has {count}, of which one is"
            );
            return Err(failure(codes::TOO_MANY, span, message));
        }
        Ok(count)
    }
}

/// The braces at this depth hold another number of items than the extent says.
fn wrong_count(shape: &ArrayShape, depth: usize, span: Span, found: String) -> Failure {
    let extents: Vec<String> = shape.extents.iter().map(i64::to_string).collect();
    let expected = shape.extents[depth - 1];
    let message = format!(
        "the literal does not have the shape {}[{}]: expected {expected} {} in these braces (dimension {}), {found}",
        shape.element_type,
        extents.join(","),
        if expected == 1 { "item" } else { "items" },
        depth - 1,
    );
    failure(codes::LITERAL_COUNT, span, message)
}

/// Whether these are the braces `{}` that the printer writes for an array without elements whose braces would be too
/// many.
fn is_short_form(shape: &ArrayShape, depth: usize, count: i64) -> bool {
    depth == 1 && count == 0 && shape.element_count() == Some(0) && spelled_empty(&shape.extents).is_none()
}
