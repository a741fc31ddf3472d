//! Computations: the header, the instructions, and what is known once all of them are read.

use super::Parser;
use super::instruction::{Body, End};
use super::module::{MAX_ATTRIBUTES, MAX_SUGGESTED};
use super::order::{dependencies_first, describe_cycle};
use crate::ir::{ArenaId, Attribute, Computation, ComputationId, InstrId, Instruction, Shape, Span};
use crate::text::codes;
use crate::text::lexer::{Failure, Name, failure, quote};
use crate::text::suggest::nearest;

/// A computation that was read, well or not.
pub(super) struct Parsed<'a> {
    pub(super) name: Name<'a>,
    pub(super) entry: bool,
    /// `None` if there were findings that leave no sound computation.
    pub(super) computation: Option<Computation>,
    /// The references to the computations it calls.
    pub(super) callees: Vec<ComputationId>,
}

/// What the header says of parameters and result.
struct Signature {
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
        let known_findings = self.findings.len();
        loop {
            match self.cursor.peek() {
                Some(b'}') => {
                    self.cursor.bump();
                    break;
                }
                None => {
                    self.lost = true;
                    if self.findings.len() == known_findings {
                        let failure = self.cursor.unexpected("an instruction or `}`");
                        self.report(failure);
                    }
                    break;
                }
                Some(_) => {}
            }
            if self.stopped() {
                return None;
            }
            if self.instruction(&mut body) == End::Computation {
                break;
            }
        }
        let attributes = self.computation_attributes();
        let callees = body.callees();
        let computation = self.finish(&header, body, attributes);
        Some(Parsed { name: header.name, entry: header.entry, computation, callees })
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
                self.cursor.name("the name of a parameter")?;
                self.cursor.expect(b':', "`:` and the shape of the parameter")?;
                parameters.push(self.cursor.shape()?);
                if !self.cursor.eat(b',') {
                    break;
                }
            }
            self.cursor.expect(b')', "`,` or `)` after the shape of a parameter")?;
        }
        if !self.cursor.eat_token("->") {
            return Err(self.cursor.unexpected("`->` and the shape of the result"));
        }
        let result = self.cursor.shape()?;
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
        let Some(name) = self.cursor.word() else {
            return Err(self.cursor.unexpected("the name of an attribute of the computation"));
        };
        if known.iter().any(|attribute| attribute.name == name.text) {
            let message = format!("the computation has the attribute {} twice", quote(name.text));
            return Err(failure(codes::ATTRIBUTE_REPEATED, name.span, message));
        }
        if known.len() == MAX_ATTRIBUTES {
            let message = format!("the computation has more than {MAX_ATTRIBUTES} attributes");
            return Err(failure(codes::TOO_MANY, name.span, message));
        }
        self.cursor.expect(b'=', "`=` after the name of an attribute")?;
        Ok(Attribute::new(name.text, self.attribute_text(name)?))
    }

    /// Skips to the next line that looks like the header of a computation.
    pub(super) fn skip_to_computation(&mut self) {
        self.lost = true;
        loop {
            self.cursor.skip_line();
            let Some(rest) = self.cursor.rest().strip_prefix('\n') else { return };
            let line = rest.split('\n').next().unwrap_or("").trim_end();
            let starts = line.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '%');
            self.cursor.bump();
            if starts && line.ends_with('{') {
                return;
            }
        }
    }

    /// Resolves operands, orders the instructions, and checks the signature.
    fn finish(&mut self, header: &Header<'a>, mut body: Body<'a>, attributes: Vec<Attribute>) -> Option<Computation> {
        let forward = self.resolve(&mut body)?;
        let Some(last) = body.instructions.ids().next_back() else {
            if !self.lost {
                let message = "a computation has at least one instruction, found none";
                self.report(failure(codes::EMPTY_COMPUTATION, header.name.span, message));
            }
            return None;
        };
        self.check_operand_shapes(&body);
        // As in XLA, the last instruction is the root unless one is marked.
        let mut root = body.root.unwrap_or(last);
        let instructions = if forward {
            let dependency = |user: usize, k: usize| {
                let operands = &body.instructions[InstrId::from_index(user)].operands;
                operands.get(k).map(|operand| operand.index())
            };
            match dependencies_first(body.instructions.len(), dependency) {
                Ok(order) => reorder(body.instructions.values().cloned(), &order, &mut root),
                Err(cycle) => {
                    let at = |position: usize| &body.instructions[InstrId::from_index(position)];
                    let path = describe_cycle(&cycle, |position| &at(position).name);
                    let message = format!("instructions may not depend on themselves: {path}");
                    let first = at(cycle[0]);
                    self.report_about(&first.name, failure(codes::OPERAND_CYCLE, first.span, message));
                    return None;
                }
            }
        } else {
            body.instructions
        };
        let computation =
            Computation { name: header.name.text.to_owned(), instructions, root, attributes, span: header.name.span };
        if let Some(signature) = header.signature.as_ref().filter(|_| !body.failed) {
            self.check_signature(signature, &computation);
        }
        (!body.failed).then_some(computation)
    }

    /// Sets the operands that were defined after their use. Whether there were any; `None` if some are not defined.
    fn resolve(&mut self, body: &mut Body<'a>) -> Option<bool> {
        let pending = std::mem::take(&mut body.pending);
        let forward = !pending.is_empty();
        let mut sound = true;
        for operand in pending {
            let name = operand.name;
            if let Some(&id) = body.names.get(name.text) {
                body.instructions[operand.user].operands[operand.position] = id;
                continue;
            }
            sound = false;
            if self.stopped() {
                break;
            }
            let user = body.instructions[operand.user].name.clone();
            let names = body.instructions.values().take(MAX_SUGGESTED).map(|instruction| instruction.name.as_str());
            let hint = nearest(name.text, names.filter(|&near| near != user));
            let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let message = format!("there is no instruction {} in this computation{hint}", quote(name.text));
            self.report_about(&user, failure(codes::UNKNOWN_OPERAND, name.span, message));
        }
        sound.then_some(forward)
    }

    fn check_operand_shapes(&mut self, body: &Body<'a>) {
        for (user, position, shape, span) in &body.operand_shapes {
            let operands = &body.instructions[*user].operands;
            let Some(operand) = operands.get(*position).and_then(|&operand| body.instructions.get(operand)) else {
                continue;
            };
            if !body.failed && !operand.shape.is_compatible(shape) {
                let message =
                    format!("operand {} has the shape {}, found {shape}", quote(&operand.name), operand.shape);
                let user = body.instructions[*user].name.clone();
                self.report_about(&user, failure(codes::OPERAND_SHAPE, *span, message));
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

/// Instructions in another order, with operands and root renamed.
fn reorder(
    instructions: impl Iterator<Item = Instruction>,
    order: &[usize],
    root: &mut InstrId,
) -> crate::ir::Arena<InstrId, Instruction> {
    let mut ids = vec![InstrId::from_index(0); order.len()];
    for (index, &position) in order.iter().enumerate() {
        ids[position] = InstrId::from_index(index);
    }
    let mut placed: Vec<(InstrId, Instruction)> = ids.iter().copied().zip(instructions).collect();
    for (_, instruction) in &mut placed {
        for operand in &mut instruction.operands {
            *operand = ids[operand.index()];
        }
    }
    placed.sort_by_key(|(id, _)| *id);
    *root = ids[root.index()];
    placed.into_iter().map(|(_, instruction)| instruction).collect()
}
