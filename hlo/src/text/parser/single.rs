//! Parsing of a text that is one instruction: `f32[2] add(f32[2] x, f32[2] y)`.

use super::Parser;
use super::instruction::{Body, Head};
use crate::ir::{HeaderAttribute, Module, Opcode};
use crate::text::codes;
use crate::text::lexer::{Failure, Name, failure, is_type};

/// The name that XLA gives to what has none.
const NAMELESS: &str = "_";

impl<'a> Parser<'a> {
    /// Whether the text starts with an instruction: a name and `=`, or a shape.
    pub(super) fn at_instruction(&mut self) -> bool {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let marked = self.keyword("ROOT");
        let found = match self.cursor.loose_name("") {
            Ok(name) => match self.cursor.peek() {
                Some(b'=') => true,
                Some(b'[') => is_type(name.text),
                Some(b'(') => Opcode::from_name(name.text).is_some(),
                _ => false,
            },
            Err(_) => self.cursor.peek() == Some(b'('),
        };
        self.cursor.set_position(start);
        marked || found
    }

    /// A module of that instruction; its operands are the parameters.
    pub(super) fn single_instruction(&mut self) -> Option<Module> {
        self.single = true;
        self.computation = NAMELESS;
        let mut body = Body::default();
        if let Err(failure) = self.only_instruction(&mut body) {
            self.report(failure);
            return None;
        }
        if !self.cursor.at_end() {
            let expected = "the end of the text after its one instruction, or `HloModule` and a name before it";
            let failure = self.cursor.unexpected_as(codes::HEADER, expected);
            self.report(failure);
            return None;
        }
        let span = self.cursor.since(0);
        let callees = body.callees();
        let name = Name { text: NAMELESS, span };
        let (computation, shapeless) = self.finish(name, None, body, Vec::new())?;
        let parsed = super::Parsed { name, entry: true, computation: Some(computation), callees, shapeless };
        let (computations, entry, shapeless) = self.link(vec![parsed])?;
        let attributes = vec![HeaderAttribute::IsScheduled(true)];
        let mut module = Module { name: NAMELESS.to_owned(), attributes, tables: Vec::new(), computations, entry };
        self.infer_shapes(&mut module, shapeless);
        Some(module)
    }

    fn only_instruction(&mut self, body: &mut Body<'a>) -> Result<(), Failure> {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let mut head = Head { root: self.keyword("ROOT"), ..Head::default() };
        self.cursor.skip_trivia();
        let at = self.cursor.position();
        if self.cursor.loose_name("").is_ok() && self.cursor.peek() == Some(b'=') {
            self.cursor.set_position(at);
            let name = self.cursor.name("the name of an instruction")?;
            head.name = Some(name);
            self.cursor.skip_trivia();
            self.equals_sign(name)?;
        } else {
            self.cursor.set_position(at);
        }
        let shape = match head.name {
            Some(_) => self.result_shape(&mut head)?,
            // Without a name and `=` nothing would tell an opcode from the name of a computation.
            None => Some(self.cursor.spaced_shape()?),
        };
        let Some(opcode) = self.cursor.word() else { return Err(self.cursor.unexpected("an opcode")) };
        let name = head.name.unwrap_or(Name { text: NAMELESS, span: opcode.span });
        let mark = body.mark();
        let mut instruction = self.operation(body, name, shape, opcode)?;
        instruction.span = self.cursor.since(start);
        if head.name.is_none() && body.names.contains_key(NAMELESS) {
            let message =
                format!("the operand `{NAMELESS}` has the name of the instruction, which has none of its own");
            return Err(failure(codes::NAME, name.span, message));
        }
        self.define(body, &head, instruction, mark);
        Ok(())
    }
}
