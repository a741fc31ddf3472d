//! Parsing of `origin`, the source of a value: `{({"x"}, {"y" {0}})}`.

use crate::ir::Span;
use crate::text::codes;
use crate::text::lexer::{Cursor, Failure, MAX_DEPTH, failure};

impl Cursor<'_> {
    /// A tree of arrays of another program, or that there are none.
    pub(super) fn origin(&mut self) -> Result<(), Failure> {
        self.expect(b'{', "`{` and where the value comes from")?;
        match self.peek() {
            Some(b'}') => {}
            Some(b'[') => {
                self.bump();
                let word = self.word();
                if word.is_none_or(|word| word.text != "synthetic_call") {
                    if let Some(word) = word {
                        self.set_position(word.span.range().start);
                    }
                    return Err(self.unexpected_as(codes::ATTRIBUTE_VALUE, "`synthetic_call]`"));
                }
                self.expect(b']', "`]` after `synthetic_call`")?;
            }
            _ => self.origin_tree()?,
        }
        self.expect(b'}', "`}` after where the value comes from")
    }

    /// `{"x" {0}}`, `()`, or `(…, …)` of such trees. Does not recurse.
    fn origin_tree(&mut self) -> Result<(), Failure> {
        let mut depth = 0usize;
        loop {
            self.skip_trivia();
            let at = self.position();
            if self.eat(b'(') {
                depth += 1;
                if depth > MAX_DEPTH {
                    let message = format!("tuples of origins nest deeper than {MAX_DEPTH}");
                    return Err(failure(codes::TOO_DEEP, Span::new(at..at + 1), message));
                }
                if !self.eat(b')') {
                    continue;
                }
                depth -= 1;
            } else {
                self.origin_array()?;
            }
            // After a tree comes the next of its tuple, or the tuple ends and is itself such a tree.
            loop {
                if depth == 0 {
                    return Ok(());
                }
                if self.eat(b',') {
                    break;
                }
                self.expect(b')', "`,` or `)` after an origin")?;
                depth -= 1;
            }
        }
    }

    /// `{"x" {0,1}}`: the name of an instruction and where in its value; nothing if nobody knows.
    pub(in crate::text::parser) fn origin_array(&mut self) -> Result<(), Failure> {
        self.expect(b'{', "`{\"name\"}` or `(` and such")?;
        if matches!(self.peek(), Some(b'"' | b'\'')) {
            self.skip_string()?;
            if self.peek() == Some(b'{') {
                self.integers(b'{', b'}', "an index into a tuple")?;
            }
        }
        self.expect(b'}', "`}` after the name of an instruction, in quotes, and an index in braces")
    }
}
