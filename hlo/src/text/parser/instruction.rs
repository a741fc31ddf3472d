//! Instructions, their operands, and recovery after a finding in one.

use super::Parser;
use crate::ir::{Arena, ArenaId, ComputationId, InstrId, Instruction, Op, Shape, Span};
use crate::text::codes;
use crate::text::lexer::{Failure, Name, failure, is_name_byte, quote};
use std::collections::HashMap;

/// The instructions of a computation while it is read.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub(super) instructions: Arena<InstrId, Instruction>,
    pub(super) names: HashMap<&'a str, InstrId>,
    /// Operands that were not defined yet when they were used.
    pub(super) pending: Vec<Pending<'a>>,
    /// The shapes that stand before operands: user, position, shape, place.
    pub(super) operand_shapes: Vec<(InstrId, usize, Shape, Span)>,
    pub(super) root: Option<InstrId>,
    /// Whether an instruction was not understood; a stand-in holds its name.
    pub(super) failed: bool,
}

/// An operand that was not defined yet.
pub(super) struct Pending<'a> {
    pub(super) user: InstrId,
    pub(super) position: usize,
    pub(super) name: Name<'a>,
}

/// Where an instruction left the reader.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Before another instruction or the closing brace.
    Instruction,
    /// Before another computation: the closing brace is missing.
    Computation,
}

/// What stands before the `=`.
#[derive(Default)]
struct Head<'a> {
    name: Option<Name<'a>>,
    root: bool,
}

impl Body<'_> {
    /// The references to the computations its instructions call, in the order of the text.
    pub(super) fn callees(&self) -> Vec<ComputationId> {
        self.instructions.values().flat_map(|instruction| instruction.op.called_computations()).collect()
    }

    fn next_id(&self) -> InstrId {
        InstrId::from_index(self.instructions.len())
    }
}

impl<'a> Parser<'a> {
    /// Reads one instruction into `body`. Reports what is wrong with it and moves on to the next.
    pub(super) fn instruction(&mut self, body: &mut Body<'a>) -> End {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let (pending, operand_shapes) = (body.pending.len(), body.operand_shapes.len());
        let mut head = Head::default();
        match self.try_instruction(body, &mut head) {
            Ok(Some(mut instruction)) => {
                instruction.span = self.cursor.since(start);
                self.define(body, &head, instruction);
            }
            Ok(None) => {
                self.cursor.set_position(start);
                let failure = self.cursor.unexpected("`}` before another computation");
                self.report(failure);
                body.failed = true;
                return End::Computation;
            }
            Err(failure) => {
                let from = failure.span.range().start.max(start);
                self.report_about(head.name.map_or("", |name| name.text), failure);
                body.failed = true;
                body.pending.truncate(pending);
                body.operand_shapes.truncate(operand_shapes);
                if let Some(name) = head.name {
                    let stand_in = Instruction::new(name.text, Shape::Token, Op::Tuple, Vec::new());
                    self.define(body, &head, stand_in);
                }
                self.recover(from);
            }
        }
        End::Instruction
    }

    fn define(&mut self, body: &mut Body<'a>, head: &Head<'a>, instruction: Instruction) {
        let id = body.next_id();
        if let Some(name) = head.name
            && *body.names.entry(name.text).or_insert(id) != id
        {
            let message = format!("there already is an instruction {} in this computation", quote(name.text));
            self.report_about(name.text, failure(codes::DUPLICATE_INSTRUCTION, name.span, message));
            body.failed = true;
        }
        if head.root {
            match body.root {
                None => body.root = Some(id),
                Some(first) => {
                    let first = quote(&body.instructions[first].name);
                    let message = format!("a computation has one root; {first} already is marked `ROOT`");
                    let span = head.name.map_or(instruction.span, |name| name.span);
                    self.report_about(&instruction.name, failure(codes::TWO_ROOTS, span, message));
                    body.failed = true;
                }
            }
        }
        body.instructions.push(instruction);
    }

    /// The instruction that comes next; `None` if that is the header of a computation.
    fn try_instruction(&mut self, body: &mut Body<'a>, head: &mut Head<'a>) -> Result<Option<Instruction>, Failure> {
        head.root = self.keyword("ROOT");
        let name = self.cursor.name("an instruction or `}`")?;
        if self.cursor.peek() != Some(b'=') {
            let header = matches!(self.cursor.byte(), Some(b'{' | b'(' | b'%')) || name.text == "ENTRY";
            if header && !head.root && self.at_header_line(name) {
                return Ok(None);
            }
            head.name = Some(name);
            return Err(self.cursor.unexpected("`=` after the name of an instruction"));
        }
        head.name = Some(name);
        self.cursor.bump();
        let shape = self.cursor.shape()?;
        let Some(opcode) = self.cursor.word() else {
            return Err(self.cursor.unexpected("an opcode"));
        };
        self.operation(body, name, shape, opcode).map(Some)
    }

    /// Whether the line on which a name stands ends as the header of a computation does.
    fn at_header_line(&self, name: Name<'a>) -> bool {
        let rest = self.cursor.slice(name.span.range().start..self.cursor.bytes().len());
        rest.split('\n').next().is_some_and(|line| line.trim_end().ends_with('{'))
    }

    /// The operands up to and with the closing parenthesis.
    pub(super) fn operands(&mut self, body: &mut Body<'a>) -> Result<Vec<InstrId>, Failure> {
        let mut operands = Vec::new();
        if self.cursor.eat(b')') {
            return Ok(operands);
        }
        let user = body.next_id();
        loop {
            if let Some((shape, span)) = self.operand_shape()? {
                body.operand_shapes.push((user, operands.len(), shape, span));
            }
            let name = self.cursor.name("the name of an operand")?;
            let operand = body.names.get(name.text).copied();
            if operand.is_none() {
                body.pending.push(Pending { user, position: operands.len(), name });
            }
            operands.push(operand.unwrap_or(user));
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.cursor.expect(b')', "`,` or `)` after an operand")?;
        Ok(operands)
    }

    /// The shape before an operand, if there is one.
    fn operand_shape(&mut self) -> Result<Option<(Shape, Span)>, Failure> {
        let start = match self.cursor.peek() {
            Some(b'%') => return Ok(None),
            Some(b'(') => self.cursor.position(),
            _ => {
                let start = self.cursor.position();
                let is_shape = self.cursor.word().is_some() && self.cursor.byte() == Some(b'[');
                self.cursor.set_position(start);
                if !is_shape {
                    return Ok(None);
                }
                start
            }
        };
        let shape = self.cursor.shape()?;
        Ok(Some((shape, self.cursor.since(start))))
    }

    /// Moves to the next line that starts an instruction or closes the computation.
    fn recover(&mut self, from: usize) {
        self.cursor.set_position(from);
        loop {
            self.cursor.skip_line();
            let Some(rest) = self.cursor.rest().strip_prefix('\n') else {
                self.lost = true;
                return;
            };
            if starts_instruction(rest.split('\n').next().unwrap_or("")) {
                return;
            }
            self.cursor.bump();
        }
    }
}

/// Whether a line closes a computation, opens another, or has a name and `=`.
fn starts_instruction(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with('}') || line.starts_with("ENTRY ") {
        return true;
    }
    let line = line.strip_prefix("ROOT ").map_or(line, str::trim_start);
    let line = line.strip_prefix('%').unwrap_or(line);
    let name = line.bytes().take_while(|&byte| is_name_byte(byte)).count();
    name > 0 && (line[name..].trim_start().starts_with('=') || line.ends_with('{'))
}
