//! Parsing of instructions and operands, and recovery after a finding.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::nearest;
use crate::ir::{Arena, ArenaId, ComputationId, InstrId, Instruction, Op, Shape, Span};
use crate::text::codes;
use crate::text::lexer::{Failure, Name, failure, is_name_byte, is_reserved, is_type, quote};
use std::collections::HashMap;

/// The instructions of a computation while it is read.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub(super) instructions: Arena<InstrId, Instruction>,
    pub(super) names: HashMap<&'a str, InstrId>,
    /// Operands that were not defined yet when they were used.
    pub(super) pending: Vec<Pending<'a>>,
    /// The shapes that stand before operands.
    pub(super) operand_shapes: Vec<OperandShape>,
    /// Instructions that others name as their control predecessors.
    pub(super) predecessors: Vec<Predecessor<'a>>,
    /// Instructions that stood in place of an operand; their names are not settled yet.
    pub(super) nameless: Vec<InstrId>,
    /// Instructions that stood without a shape, in their order; it follows once what they call is known.
    pub(super) shapeless: Vec<InstrId>,
    /// How many parameters were made of the operands of a single instruction.
    parameters: i64,
    pub(super) root: Option<InstrId>,
    /// Whether an instruction was not understood; a stand-in holds its name.
    pub(super) failed: bool,
}

/// An operand that was not defined yet.
pub(super) struct Pending<'a> {
    /// The instruction it is an operand of; `None` while that is being read.
    pub(super) user: Option<InstrId>,
    pub(super) position: usize,
    pub(super) name: Name<'a>,
}

/// A shape before an operand.
pub(super) struct OperandShape {
    /// The instruction it stands in; `None` while that is being read.
    pub(super) user: Option<InstrId>,
    pub(super) position: usize,
    pub(super) shape: Shape,
    pub(super) span: Span,
}

/// An instruction that another names as its control predecessor.
pub(super) struct Predecessor<'a> {
    /// The instruction that comes after it; `None` while that is being read.
    pub(super) user: Option<InstrId>,
    pub(super) name: Name<'a>,
}

/// How much was known of the uses of instructions before an instruction was read.
#[derive(Copy, Clone)]
pub(super) struct Mark {
    pending: usize,
    operand_shapes: usize,
    predecessors: usize,
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
pub(super) struct Head<'a> {
    pub(super) name: Option<Name<'a>>,
    pub(super) root: bool,
    /// Whether no shape stands after the `=`.
    pub(super) shapeless: bool,
}

impl Body<'_> {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            pending: self.pending.len(),
            operand_shapes: self.operand_shapes.len(),
            predecessors: self.predecessors.len(),
        }
    }

    /// Says of the uses since `mark`, as far as nobody has, that they are those of this instruction.
    fn settle(&mut self, mark: Mark, id: InstrId) {
        let pending = self.pending[mark.pending..].iter_mut().map(|pending| &mut pending.user);
        let shapes = self.operand_shapes[mark.operand_shapes..].iter_mut().map(|shape| &mut shape.user);
        let predecessors = self.predecessors[mark.predecessors..].iter_mut().map(|before| &mut before.user);
        for user in pending.chain(shapes).chain(predecessors) {
            user.get_or_insert(id);
        }
    }

    /// Forgets the uses since `mark`.
    fn forget(&mut self, mark: Mark) {
        self.pending.truncate(mark.pending);
        self.operand_shapes.truncate(mark.operand_shapes);
        self.predecessors.truncate(mark.predecessors);
    }

    /// The references to the computations its instructions call, in the order of the text.
    pub(super) fn callees(&self) -> Vec<ComputationId> {
        self.instructions.values().flat_map(|instruction| instruction.op.called_computations()).collect()
    }

    /// Adds a parameter, the next by number.
    fn add_parameter(&mut self, name: String, shape: Shape) -> InstrId {
        let number = self.parameters;
        self.parameters += 1;
        self.instructions.push(Instruction::new(name, shape, Op::Parameter { number }, Vec::new()))
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
        let mark = body.mark();
        let mut head = Head::default();
        match self.try_instruction(body, &mut head) {
            Ok(Some(mut instruction)) => {
                instruction.span = self.cursor.since(start);
                self.define(body, &head, instruction, mark);
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
                body.forget(mark);
                if let Some(name) = head.name {
                    let stand_in = Instruction::new(name.text, Shape::Token, Op::Tuple, Vec::new());
                    self.define(body, &head, stand_in, mark);
                }
                self.recover(from);
            }
        }
        End::Instruction
    }

    /// Adds an instruction, to which the uses since `mark` belong.
    pub(super) fn define(&mut self, body: &mut Body<'a>, head: &Head<'a>, instruction: Instruction, mark: Mark) {
        let id = body.next_id();
        body.settle(mark, id);
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
        if head.shapeless {
            body.shapeless.push(id);
        }
        body.instructions.push(instruction);
    }

    /// The instruction that comes next; `None` if that is the header of a computation.
    fn try_instruction(&mut self, body: &mut Body<'a>, head: &mut Head<'a>) -> Result<Option<Instruction>, Failure> {
        head.root = self.keyword("ROOT");
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let name = self.cursor.loose_name("an instruction or `}`")?;
        if self.cursor.peek() != Some(b'=') {
            let after = self.cursor.position();
            self.cursor.set_position(start);
            if !head.root && self.at_header_line() {
                return Ok(None);
            }
            self.cursor.set_position(after);
            head.name = Some(name);
            return Err(self.no_equals_sign(name, head));
        }
        head.name = Some(name);
        self.equals_sign(name)?;
        if is_type(name.text) {
            let message = format!("`{0}` is an element type and no name of an instruction; `{0}_` would be", name.text);
            return Err(failure(codes::NAME, name.span, message));
        }
        if name.is_bare() && is_reserved(name.text) {
            let message = format!("`{0}` is a word of HLO text; as the name of an instruction it is `%{0}`", name.text);
            return Err(failure(codes::NAME, name.span, message));
        }
        let shape = self.result_shape(head)?;
        let Some(opcode) = self.cursor.word() else {
            return Err(self.cursor.unexpected("an opcode"));
        };
        self.operation(body, name, shape, opcode).map(Some)
    }

    /// Moves past the `=` after the name of an instruction. As in XLA it may not stand right after a name without `%`,
    /// where it makes an attribute of it.
    pub(super) fn equals_sign(&mut self, name: Name<'a>) -> Result<(), Failure> {
        if name.is_bare() && name.span.range().end == self.cursor.position() {
            let message =
                format!("expected a blank between {0} and `=`, or `%` before the name, found `=`", quote(name.text));
            self.cursor.bump();
            return Err(failure(codes::SYNTAX, self.cursor.since(self.cursor.position() - 1), message));
        }
        self.cursor.bump();
        Ok(())
    }

    /// The shape after the `=`; `None` before an opcode, where it follows from the operands.
    pub(super) fn result_shape(&mut self, head: &mut Head<'a>) -> Result<Option<Shape>, Failure> {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        head.shapeless = self.nested_opcode().is_some_and(|word| !is_type(word.text) && word.text != "b");
        self.cursor.set_position(start);
        if head.shapeless { Ok(None) } else { self.cursor.spaced_shape().map(Some) }
    }

    /// What is wrong where a name has no `=`, which may be because `ROOT` is misspelled.
    fn no_equals_sign(&mut self, name: Name<'a>, head: &mut Head<'a>) -> Failure {
        let failure = self.cursor.unexpected("`=` after the name of an instruction");
        if head.root || nearest(name.text, std::iter::once("ROOT")).is_none() {
            return failure;
        }
        match self.cursor.name("") {
            Ok(second) if self.cursor.peek() == Some(b'=') => {
                head.name = Some(second);
                let message =
                    format!("expected `ROOT` or a name and `=`, found {}; did you mean `ROOT`?", quote(name.text));
                Box::new(Diagnostic::new(codes::SYNTAX, name.span, message))
            }
            _ => failure,
        }
    }

    /// Whether the header of a computation comes next: a name without `=`, on a line that ends with a brace.
    fn at_header_line(&mut self) -> bool {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let header = self.keyword("ENTRY")
            || (self.cursor.loose_name("").is_ok() && matches!(self.cursor.peek(), Some(b'{' | b'(')));
        self.cursor.set_position(start);
        header && self.cursor.line().trim_end().ends_with('{')
    }

    /// The operands up to and with the closing parenthesis.
    pub(super) fn operands(&mut self, body: &mut Body<'a>) -> Result<Vec<InstrId>, Failure> {
        let mut operands = Vec::new();
        loop {
            // As in XLA, commas without an operand between them do not count.
            while self.cursor.eat(b',') {}
            if self.cursor.eat(b')') {
                return Ok(operands);
            }
            let operand = self.operand(body, operands.len())?;
            operands.push(operand);
            if !matches!(self.cursor.peek(), Some(b',' | b')')) {
                return Err(self.cursor.unexpected("`,` or `)` after an operand"));
            }
        }
    }

    /// An operand: a name, or an instruction in its place.
    fn operand(&mut self, body: &mut Body<'a>, position: usize) -> Result<InstrId, Failure> {
        // Most operands are names of what stands before, and nothing else.
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        if let Ok(name) = self.cursor.loose_name("")
            && matches!(self.cursor.peek(), Some(b',' | b')'))
            && let Some(&operand) = body.names.get(name.text)
        {
            return Ok(operand);
        }
        self.cursor.set_position(start);
        let shape = self.operand_shape()?;
        if let Some(opcode) = self.nested_opcode() {
            return self.nested_instruction(body, shape, opcode);
        }
        if self.single
            && let Some((shape, _)) = &shape
            && matches!(self.cursor.peek(), Some(b',' | b')'))
        {
            return Ok(body.add_parameter(format!("_{position}"), shape.clone()));
        }
        let start = self.cursor.position();
        let name = self.cursor.loose_name("the name of an operand")?;
        let operand = body.names.get(name.text).copied();
        // Where an instruction has a name that is none, that was reported.
        if operand.is_none() {
            self.cursor.set_position(start);
            self.cursor.name("the name of an operand")?;
        }
        match (operand, shape) {
            (None, Some((shape, _))) if self.single => {
                let parameter = body.add_parameter(name.text.to_owned(), shape);
                body.names.insert(name.text, parameter);
                return Ok(parameter);
            }
            (_, Some((shape, span))) => {
                body.operand_shapes.push(OperandShape { user: None, position, shape, span });
            }
            _ => {}
        }
        if operand.is_none() {
            body.pending.push(Pending { user: None, position, name });
        }
        // What is pending is set once it is known.
        Ok(operand.unwrap_or(InstrId::from_index(0)))
    }

    /// The opcode of an instruction in place of an operand, if one starts here.
    fn nested_opcode(&mut self) -> Option<Name<'a>> {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let opcode = self.cursor.word();
        let found = opcode.is_some() && self.cursor.peek() == Some(b'(');
        if !found {
            self.cursor.set_position(start);
        }
        opcode.filter(|_| found)
    }

    /// An instruction in place of an operand, from the parenthesis after its opcode. As in XLA its name is made of the
    /// opcode.
    fn nested_instruction(
        &mut self,
        body: &mut Body<'a>,
        shape: Option<(Shape, Span)>,
        opcode: Name<'a>,
    ) -> Result<InstrId, Failure> {
        let (shape, span) = match shape {
            Some((shape, span)) => (Some(shape), span),
            None => (None, opcode.span),
        };
        let shapeless = shape.is_none();
        self.descend(span)?;
        let mark = body.mark();
        let result = self.operation(body, opcode, shape, opcode);
        self.depth -= 1;
        let mut instruction = result?;
        instruction.name = format!("{}.anon", opcode.text);
        instruction.span = self.cursor.since(span.range().start);
        body.settle(mark, body.next_id());
        let id = body.instructions.push(instruction);
        body.nameless.push(id);
        if shapeless {
            body.shapeless.push(id);
        }
        Ok(id)
    }

    /// The shape before an operand, if there is one.
    fn operand_shape(&mut self) -> Result<Option<(Shape, Span)>, Failure> {
        let start = match self.cursor.peek() {
            Some(b'%') => return Ok(None),
            Some(b'(') => self.cursor.position(),
            _ => {
                let start = self.cursor.position();
                let word = self.cursor.word();
                let is_buffer = word.is_some_and(|word| word.text == "b") && self.cursor.peek() == Some(b'(');
                let is_shape = is_buffer || (word.is_some() && self.cursor.byte() == Some(b'['));
                self.cursor.set_position(start);
                if !is_shape {
                    return Ok(None);
                }
                start
            }
        };
        let shape = self.cursor.spaced_shape()?;
        Ok(Some((shape, self.cursor.since(start))))
    }

    /// Moves to the next line that starts an instruction or closes the computation.
    fn recover(&mut self, from: usize) {
        self.cursor.set_position(from);
        while self.cursor.next_line() {
            if starts_instruction(self.cursor.line()) {
                return;
            }
        }
        self.lost = true;
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
    let after = line[name..].strip_prefix(':').unwrap_or(&line[name..]);
    name > 0 && (after.trim_start().starts_with('=') || line.ends_with('{'))
}
