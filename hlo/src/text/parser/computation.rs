//! Parsing of computations.

use super::Parser;
use super::instruction::{Body, End, OperandShape};
use super::module::{MAX_SUGGESTED, unused_name};
use super::order::{dependencies_first, describe_cycle};
use super::shapeless::Shapeless;
use crate::diagnostic::did_you_mean;
use crate::ir::{ArenaId, Attribute, Computation, ComputationId, InstrId, Shape, Span};
use crate::text::codes;
use crate::text::lexer::{Failure, Name, failure, quote};
use std::collections::{BTreeMap, HashSet};

/// A computation that was read, well or not.
pub(super) struct Parsed<'a> {
    pub(super) name: Name<'a>,
    pub(super) entry: bool,
    /// `None` if there were findings that leave no sound computation.
    pub(super) computation: Option<Computation>,
    /// The references to the computations it calls.
    pub(super) callees: Vec<ComputationId>,
    /// What waits for the shapes of instructions that have none in the text.
    pub(super) shapeless: Option<Shapeless>,
}

/// What the header says of parameters and result.
#[derive(Clone)]
pub(super) struct Signature {
    parameters: Vec<Shape>,
    result: Shape,
    span: Span,
}

struct Header<'a> {
    name: Name<'a>,
    entry: bool,
    signature: Option<Signature>,
}

impl<'a> Parser<'a> {
    /// The next computation; `None` if none was recognised. Always moves on.
    pub(super) fn computation(&mut self) -> Option<Parsed<'a>> {
        let start = self.cursor.position();
        let mut name = None;
        let header = match self.computation_header(&mut name) {
            Ok(header) => header,
            Err(failure) => {
                let from = failure.span.range().start.max(start);
                self.report(failure);
                self.cursor.set_position(from);
                self.cursor.skip_line();
                // If the line opens a body, read it, so that its findings are reported too.
                let opens = self.cursor.slice(start..self.cursor.position()).trim_end().ends_with('{');
                match name {
                    Some((name, entry)) if opens => Header { name, entry, signature: None },
                    _ => {
                        self.skip_to_computation();
                        return None;
                    }
                }
            }
        };
        self.computation = header.name.text;
        let mut body = Body::default();
        self.instructions(&mut body)?;
        let attributes = self.computation_attributes();
        let callees = body.callees();
        let finished = self.finish(header.name, header.signature.as_ref(), body, attributes);
        let (computation, shapeless) = finished.map_or((None, None), |(computation, open)| (Some(computation), open));
        Some(Parsed { name: header.name, entry: header.entry, computation, callees, shapeless })
    }

    /// A computation that stands in place of its name, `{ … }`; its placeholder.
    pub(super) fn nested_computation(&mut self) -> Result<ComputationId, Failure> {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        self.cursor.expect(b'{', "`{`")?;
        let name = Name { text: "_", span: self.cursor.since(start) };
        self.descend(name.span)?;
        let outer = std::mem::replace(&mut self.computation, name.text);
        let mut body = Body::default();
        let ended = self.instructions(&mut body);
        let callees = body.callees();
        let finished = self.finish(name, None, body, Vec::new());
        let (computation, shapeless) = finished.map_or((None, None), |(computation, open)| (Some(computation), open));
        self.computation = outer;
        self.depth -= 1;
        self.nested.push(Parsed { name, entry: false, computation, callees, shapeless });
        let position = self.nested.len() - 1;
        match ended {
            Some(End::Instruction) => Ok(self.nested_reference(name, position)),
            _ => Err(self.cursor.unexpected("`}` after a computation in place of its name")),
        }
    }

    /// The instructions up to and with the closing brace; `None` after too many findings.
    fn instructions(&mut self, body: &mut Body<'a>) -> Option<End> {
        let known_findings = self.findings.len();
        loop {
            match self.cursor.peek() {
                Some(b'}') => {
                    self.cursor.bump();
                    return Some(End::Instruction);
                }
                None => {
                    self.lost = true;
                    if self.findings.len() == known_findings {
                        let name = if self.depth > 0 { "a computation".to_owned() } else { quote(self.computation) };
                        let failure = self.cursor.unexpected(&format!("an instruction or the `}}` that closes {name}"));
                        self.report(failure);
                    }
                    return Some(End::Computation);
                }
                Some(_) => {}
            }
            if self.stopped() {
                return None;
            }
            if self.instruction(body) == End::Computation {
                return Some(End::Computation);
            }
        }
    }

    fn computation_header(&mut self, found: &mut Option<(Name<'a>, bool)>) -> Result<Header<'a>, Failure> {
        let entry = self.keyword("ENTRY");
        let name = self.cursor.name("a computation")?;
        *found = Some((name, entry));
        let signature = match self.cursor.peek() {
            Some(b'(') => Some(self.signature()?),
            _ => None,
        };
        self.cursor.expect(b'{', "`{` and the instructions of the computation")?;
        Ok(Header { name, entry, signature })
    }

    fn signature(&mut self) -> Result<Signature, Failure> {
        let start = self.cursor.position();
        self.cursor.expect(b'(', "`(`")?;
        let mut parameters = Vec::new();
        if !self.cursor.eat(b')') {
            loop {
                if self.cursor.word().is_none() {
                    return Err(self.cursor.unexpected("the name of a parameter, without `%`"));
                }
                // As in XLA, the colon may be missing.
                self.cursor.eat(b':');
                parameters.push(self.cursor.spaced_shape()?);
                if !self.cursor.eat(b',') {
                    break;
                }
            }
            self.cursor.expect(b')', "`,` or `)` after the shape of a parameter")?;
        }
        if !self.cursor.eat_token("->") {
            return Err(self.cursor.unexpected("`->` and the shape of the result"));
        }
        let result = self.cursor.spaced_shape()?;
        Ok(Signature { parameters, result, span: self.cursor.since(start) })
    }

    /// What stands after the closing brace.
    fn computation_attributes(&mut self) -> Vec<Attribute> {
        let mut attributes = Vec::new();
        while self.cursor.eat(b',') {
            match self.computation_attribute(&attributes) {
                Ok(attribute) => attributes.push(attribute),
                Err(failure) => {
                    self.report(failure);
                    self.cursor.skip_line();
                    break;
                }
            }
        }
        attributes
    }

    fn computation_attribute(&mut self, known: &[Attribute]) -> Result<Attribute, Failure> {
        const THREAD: &str = "execution_thread";
        let name = self.cursor.attribute_name("the name of an attribute of the computation")?;
        if name.text != THREAD {
            let hint = did_you_mean(name.text, std::iter::once(THREAD));
            let message = format!("a computation has no attribute {}; it has `{THREAD}`{hint}", quote(name.text));
            return Err(failure(codes::ATTRIBUTE_UNKNOWN, name.span, message));
        }
        if !known.is_empty() {
            let message = format!("the computation has the attribute {} twice", quote(name.text));
            return Err(failure(codes::ATTRIBUTE_REPEATED, name.span, message));
        }
        Ok(Attribute::new(THREAD, format!("\"{}\"", self.cursor.quoted(name)?)))
    }

    /// Skips to the next line that looks like the header of a computation.
    pub(super) fn skip_to_computation(&mut self) {
        self.lost = true;
        while self.cursor.next_line() {
            let line = self.cursor.line().trim_end();
            let starts = line.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '%');
            if starts && line.ends_with('{') {
                return;
            }
        }
    }

    /// Resolves operands and checks their order and the signature. Where instructions have no shape yet, what depends on
    /// it is left for later.
    pub(super) fn finish(
        &mut self,
        name: Name<'a>,
        signature: Option<&Signature>,
        mut body: Body<'a>,
        attributes: Vec<Attribute>,
    ) -> Option<(Computation, Option<Shapeless>)> {
        if !self.resolve(&mut body) {
            return None;
        }
        settle_names(&mut body);
        let Some(last) = body.instructions.ids().next_back() else {
            if !self.lost {
                let message = "a computation has at least one instruction, found none";
                self.report(failure(codes::EMPTY_COMPUTATION, name.span, message));
            }
            return None;
        };
        // As in XLA, the last instruction is the root unless one is marked.
        let root = body.root.unwrap_or(last);
        let Body { instructions, operand_shapes, shapeless, failed, .. } = body;
        let computation = Computation { name: name.text.to_owned(), instructions, root, attributes, span: name.span };
        if failed {
            // Of an instruction that was not understood the shape is not known.
            return None;
        }
        if shapeless.is_empty() {
            self.check_shapes(&operand_shapes, signature, &computation);
            return Some((computation, None));
        }
        let shapeless = Shapeless { instructions: shapeless, operand_shapes, signature: signature.cloned() };
        Some((computation, Some(shapeless)))
    }

    /// Checks the shapes before operands and the signature.
    pub(super) fn check_shapes(
        &mut self,
        operand_shapes: &[OperandShape],
        signature: Option<&Signature>,
        computation: &Computation,
    ) {
        self.check_operand_shapes(operand_shapes, computation);
        if let Some(signature) = signature {
            self.check_signature(signature, computation);
        }
    }

    /// Sets the operands that were not defined when they were used. Whether all are well; as in XLA an instruction stands
    /// before its users, and before those whose control predecessor it is.
    fn resolve(&mut self, body: &mut Body<'a>) -> bool {
        let pending = std::mem::take(&mut body.pending);
        let mut late: Vec<(InstrId, Name<'a>)> = Vec::new();
        let mut unknown: Vec<(InstrId, Name<'a>)> = Vec::new();
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for operand in pending {
            let Some(user) = operand.user else { continue };
            match body.names.get(operand.name.text) {
                Some(&id) => {
                    body.instructions[user].operands[operand.position] = id;
                    late.push((user, operand.name));
                }
                None => unknown.push((user, operand.name)),
            }
        }
        for predecessor in &body.predecessors {
            let Some(user) = predecessor.user else { continue };
            match body.names.get(predecessor.name.text) {
                Some(&id) if id < user => before.entry(user.index()).or_default().push(id.index()),
                Some(&id) => {
                    before.entry(user.index()).or_default().push(id.index());
                    late.push((user, predecessor.name));
                }
                None => unknown.push((user, predecessor.name)),
            }
        }
        let sound = late.is_empty() && unknown.is_empty();
        for (user, name) in unknown {
            if self.stopped() {
                return false;
            }
            self.unknown_instruction(body, user, name);
        }
        if late.is_empty() || self.cycle(body, &before) {
            return sound;
        }
        for (user, name) in late {
            self.late_instruction(body, user, name);
        }
        false
    }

    /// Whether instructions depend on themselves, by operands and by what runs before them, which is reported: of a cycle
    /// the whole is the finding, not that one of its uses comes first.
    fn cycle(&mut self, body: &Body<'a>, before: &BTreeMap<usize, Vec<usize>>) -> bool {
        let dependency = |user: usize, k: usize| {
            let operands = &body.instructions.get(InstrId::from_index(user))?.operands;
            let predecessor = || before.get(&user)?.get(k - operands.len()).copied();
            operands.get(k).map(|operand| operand.index()).or_else(predecessor)
        };
        let Err(cycle) = dependencies_first(body.instructions.len(), dependency) else { return false };
        let at = |position: usize| &body.instructions[InstrId::from_index(position)];
        let path = describe_cycle(&cycle, |position| &at(position).name);
        let message = format!("instructions may not depend on themselves: {path}");
        let first = at(cycle[0]);
        self.report_about(&first.name, failure(codes::OPERAND_CYCLE, first.span, message));
        true
    }

    fn late_instruction(&mut self, body: &Body<'a>, user: InstrId, name: Name<'a>) {
        let message = format!("the instruction {} stands after its use, and must stand before", quote(name.text));
        let user = body.instructions[user].name.clone();
        self.report_about(&user, failure(codes::UNKNOWN_OPERAND, name.span, message));
    }

    fn unknown_instruction(&mut self, body: &Body<'a>, user: InstrId, name: Name<'a>) {
        let user = body.instructions[user].name.clone();
        let names = body.instructions.values().take(MAX_SUGGESTED).map(|instruction| instruction.name.as_str());
        let hint = did_you_mean(name.text, names.filter(|&near| near != user));
        // In a single instruction the shape of an operand is all there is of it.
        let why = if self.single { "; before its name its shape would do" } else { "" };
        let message = format!("there is no instruction {} in this computation{why}{hint}", quote(name.text));
        self.report_about(&user, failure(codes::UNKNOWN_OPERAND, name.span, message));
    }

    fn check_operand_shapes(&mut self, operand_shapes: &[OperandShape], computation: &Computation) {
        let instructions = &computation.instructions;
        for OperandShape { user, position, shape, span } in operand_shapes {
            let Some(user) = user.and_then(|user| instructions.get(user)) else { continue };
            let Some(operand) = user.operands.get(*position).and_then(|&operand| instructions.get(operand)) else {
                continue;
            };
            if !operand.shape.is_compatible(shape) {
                let message =
                    format!("operand {} has the shape {}, found {shape}", quote(&operand.name), operand.shape);
                self.report(
                    failure(codes::OPERAND_SHAPE, *span, message).about(format!("{}/{}", computation.name, user.name)),
                );
            }
        }
    }

    fn check_signature(&mut self, signature: &Signature, computation: &Computation) {
        let parameters = computation.parameters();
        let mut complain = |message: String| self.report(failure(codes::SIGNATURE, signature.span, message));
        if parameters.len() != signature.parameters.len() {
            let (named, found) = (signature.parameters.len(), parameters.len());
            complain(format!("the signature names {named} parameters, the computation has {found}"));
            return;
        }
        for (number, (shape, &id)) in signature.parameters.iter().zip(&parameters).enumerate() {
            let found = &computation.instructions[id].shape;
            if !found.is_compatible(shape) {
                complain(format!("the signature gives parameter {number} the shape {shape}, it has {found}"));
            }
        }
        let (expected, found) = (&signature.result, computation.result_shape());
        if !found.is_compatible(expected) {
            complain(format!("the signature gives the result the shape {expected}, the root has {found}"));
        }
    }
}

/// Gives instructions that stood in place of operands names that nobody has.
fn settle_names(body: &mut Body<'_>) {
    if body.nameless.is_empty() {
        return;
    }
    let mut taken: HashSet<String> = body.names.keys().map(|name| (*name).to_owned()).collect();
    for &id in &body.nameless {
        let name = unused_name(&body.instructions[id].name, &mut taken);
        body.instructions[id].name = name;
    }
}
