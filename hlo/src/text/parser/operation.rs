//! Parsing of operations: opcode, operands or payload, attributes.

use super::Parser;
use super::carried::{CARRIED, CARRIED_BY, Mentions};
use super::field::list;
use super::instruction::{Body, Predecessor};
use crate::diagnostic::did_you_mean;
use crate::ir::{
    AsyncPhase, Attribute, ComputationId, Field, FieldValue, FieldValues, Instruction, Op, Opcode, Presence, Shape,
    UnaryOp, async_shorthand, fields_of, from_fields, shorthand_fields,
};
use crate::text::codes;
use crate::text::lexer::{Failure, Name, failure, is_name_byte, quote};

/// How many attributes of an instruction may be wrong before the rest of it is passed over.
const MAX_FAILURES: usize = 256;

/// Whether it may be said how accurately an operation is computed: whether it is a function that is approximated.
fn has_accuracy(opcode: Opcode) -> bool {
    use UnaryOp::{
        Abs, Ceil, CountLeadingZeros, Floor, IsFinite, Negate, Not, PopulationCount, RoundNearestAfz, RoundNearestEven,
        Sign,
    };
    let exact = [
        Abs,
        Ceil,
        CountLeadingZeros,
        Floor,
        IsFinite,
        Negate,
        Not,
        PopulationCount,
        RoundNearestAfz,
        RoundNearestEven,
        Sign,
    ];
    UnaryOp::ALL.iter().any(|&op| Opcode::from(op) == opcode && !exact.contains(&op))
}

/// What the text says of one operation.
#[derive(Copy, Clone)]
struct Operation<'a> {
    name: Name<'a>,
    /// The opcode that owns the attributes: that of the operation, or of what an asynchronous shorthand starts.
    owner: Opcode,
    fields: &'static [Field],
    /// Which part of an asynchronous operation it is, as a shorthand (`slice-start`).
    phase: Option<AsyncPhase>,
}

/// The attributes of an instruction as far as they are read.
#[derive(Default)]
struct ParsedAttributes<'a> {
    seen: Vec<&'a str>,
    values: FieldValues,
    carried: Vec<Attribute>,
    mentions: Mentions<'a>,
    /// Whether an attribute is wrong or missing, which was reported.
    unsound: bool,
    /// Whether there was an attribute that the operation does not have.
    unknown: bool,
    failures: usize,
}

impl<'a> Operation<'a> {
    fn find(name: Name<'a>) -> Result<Self, Failure> {
        if let Some(owner) = Opcode::from_name(name.text) {
            return Ok(Operation { name, owner, fields: fields_of(owner), phase: None });
        }
        if let Some((owner, phase)) = async_shorthand(name.text) {
            let fields = if phase == AsyncPhase::Start { fields_of(owner) } else { &[] };
            return Ok(Operation { name, owner, fields, phase: Some(phase) });
        }
        let hint = did_you_mean(name.text, Opcode::NAMES.iter().copied());
        let message = format!("expected an opcode, found {}{hint}", quote(name.text));
        Err(failure(codes::OPCODE, name.span, message))
    }

    /// Whether its shape may be left out.
    fn shape_follows(&self) -> bool {
        self.phase.is_none() && self.owner.shape_follows_from_operands()
    }

    /// The attributes of the operation, then those of a shorthand.
    fn all_fields(&self) -> impl Iterator<Item = &'static Field> + Clone + use<> {
        let fields = self.fields;
        let own = self.phase.map_or(&[][..], shorthand_fields).iter();
        fields.iter().chain(own.filter(move |own| fields.iter().all(|field| field.name != own.name)))
    }

    fn owned(&self, attribute: &str) -> Option<&'static Field> {
        self.all_fields().find(|field| field.name == attribute)
    }

    fn carries(&self, attribute: &str) -> bool {
        CARRIED.contains(&attribute)
            || CARRIED_BY.contains(&(self.owner, attribute))
            || (attribute == "result_accuracy" && has_accuracy(self.owner))
    }

    fn unknown_attribute(&self, attribute: Name<'_>) -> Failure {
        let names = self.all_fields().map(|field| field.name);
        let hint = did_you_mean(attribute.text, names.clone().chain(CARRIED.iter().copied()));
        let known: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let known = if known.is_empty() { "none of its own".to_owned() } else { known.join(", ") };
        let message = format!("`{}` has no attribute {}; it has {known}{hint}", self.name.text, quote(attribute.text));
        failure(codes::ATTRIBUTE_UNKNOWN, attribute.span, message)
    }

    /// Reports the attributes that must be there and are not among those seen.
    fn missing(&self, seen: &[&str]) -> Option<Failure> {
        let required = self.fields.iter().filter(|field| field.presence == Presence::Required);
        let missing: Vec<&str> = required.map(|field| field.name).filter(|name| !seen.contains(name)).collect();
        let attributes = match missing.as_slice() {
            [] => return None,
            [one] => format!("attribute `{one}`"),
            several => format!("attributes `{}`", several.join("`, `")),
        };
        let message = format!("`{}` needs the {attributes}, found none", self.name.text);
        Some(failure(codes::ATTRIBUTE_MISSING, self.name.span, message))
    }

    /// The operation, once its attributes are read.
    fn build(&self, mut values: FieldValues) -> Result<Op, Failure> {
        let missing = |attribute: &str| {
            let message = format!("`{}` needs the attribute `{attribute}`, found none", self.name.text);
            failure(codes::ATTRIBUTE_MISSING, self.name.span, message)
        };
        let Some(phase) = self.phase else {
            return match from_fields(self.owner, &mut values) {
                Some(op) => op.map_err(missing),
                None => Err(failure(codes::OPCODE, self.name.span, "expected an operation of operands")),
            };
        };
        let async_execution_thread = values.take("async_execution_thread");
        let wrapped = self.owner;
        let operation = match phase {
            AsyncPhase::Start => match from_fields(wrapped, &mut values) {
                Some(op) => Some(Box::new(op.map_err(missing)?)),
                None => {
                    let message = format!("`{wrapped}` is nothing that can be started");
                    return Err(failure(codes::OPCODE, self.name.span, message));
                }
            },
            AsyncPhase::Update | AsyncPhase::Done => None,
        };
        // What the operation has itself it has taken.
        let output_to_operand_aliasing = values.take("output_to_operand_aliasing").unwrap_or_default();
        Ok(Op::AsyncShorthand { wrapped, phase, operation, async_execution_thread, output_to_operand_aliasing })
    }
}

/// Gives a `map` over arrays of the rank of `shape` that names no dimensions all of them, as XLA does.
pub(super) fn name_all_dimensions(op: &mut Op, shape: &Shape) {
    match (op, shape) {
        (Op::Map { dimensions, .. }, Shape::Array(array)) if dimensions.is_empty() => {
            dimensions.extend((0i64..).take(array.rank()));
        }
        (Op::AsyncShorthand { operation: Some(started), .. }, Shape::Tuple(elements)) => {
            if let Some(result) = elements.get(1) {
                name_all_dimensions(started, result);
            }
        }
        _ => {}
    }
}

impl<'a> Parser<'a> {
    /// The rest of an instruction, from the parenthesis after its opcode.
    pub(super) fn operation(
        &mut self,
        body: &mut Body<'a>,
        name: Name<'a>,
        shape: Option<Shape>,
        opcode: Name<'a>,
    ) -> Result<Instruction, Failure> {
        let opcode = Operation::find(opcode)?;
        if shape.is_none() && !opcode.shape_follows() {
            let message = format!("`{}` needs a shape before it: none follows from operands", opcode.name.text);
            return Err(failure(codes::SHAPE, opcode.name.span, message));
        }
        // Until it is known, a shape of nothing stands for one that is to follow.
        let shape = shape.unwrap_or(Shape::Tuple(Vec::new()));
        self.cursor.expect(b'(', "`(` after the opcode")?;
        let mut operands = Vec::new();
        let special = match opcode.owner {
            Opcode::Parameter if opcode.phase.is_none() => {
                let number = self.parameter_number()?;
                self.cursor.expect(b')', "`)` after the number of a parameter")?;
                Some(Op::Parameter { number })
            }
            Opcode::Constant if opcode.phase.is_none() => {
                let literal = self.cursor.literal(&shape)?;
                self.cursor.expect(b')', "`)` after a literal")?;
                Some(Op::Constant(literal))
            }
            _ => {
                operands = self.operands(body)?;
                None
            }
        };
        let mut found = ParsedAttributes::default();
        self.attributes(name, &opcode, &mut found)?;
        // An attribute that nobody knows may be the one that is missing, misspelled.
        if let Some(failure) = opcode.missing(&found.seen).filter(|_| !found.unknown) {
            self.report_about(name.text, failure);
            found.unsound = true;
        }
        if let Some(leaves) = found.mentions.replicated.filter(|_| matches!(special, Some(Op::Parameter { .. }))) {
            let expected = shape.leaves().len();
            if leaves != expected {
                let message = format!(
                    "`parameter_replication` says of each leaf of the shape whether it is replicated: expected {expected} of them, found {leaves}"
                );
                self.report_about(name.text, failure(codes::ATTRIBUTE_VALUE, name.span, message));
                found.unsound = true;
            }
        }
        body.predecessors.extend(found.mentions.predecessors.into_iter().map(|name| Predecessor { user: None, name }));
        let mut op = match special {
            _ if found.unsound => {
                body.failed = true;
                Op::Tuple
            }
            Some(op) => op,
            None => opcode.build(found.values)?,
        };
        name_all_dimensions(&mut op, &shape);
        let mut instruction = Instruction::new(name.text, shape, op, operands);
        instruction.attributes = found.carried;
        Ok(instruction)
    }

    fn parameter_number(&mut self) -> Result<i64, Failure> {
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        let number = self.cursor.integer("the number of a parameter")?;
        if number < 0 {
            let message = format!("the number of a parameter is at least 0, found {number}");
            return Err(failure(codes::NUMBER, self.cursor.since(start), message));
        }
        Ok(number)
    }

    /// Whether a comma and an attribute come next. Within the operands of another instruction a comma may also stand
    /// before its next operand, which is no name with `=` behind it.
    fn at_attribute(&mut self) -> bool {
        if self.cursor.peek() != Some(b',') || self.depth == 0 {
            return self.cursor.byte() == Some(b',');
        }
        let start = self.cursor.position();
        self.cursor.bump();
        let found = self.cursor.word().is_some() && self.cursor.byte() == Some(b'=');
        self.cursor.set_position(start);
        found
    }

    /// The attributes of an instruction. A finding in one does not end the others.
    fn attributes(
        &mut self,
        instruction: Name<'a>,
        opcode: &Operation<'a>,
        found: &mut ParsedAttributes<'a>,
    ) -> Result<(), Failure> {
        while self.at_attribute() {
            self.cursor.eat(b',');
            let name = self.cursor.attribute_name("the name of an attribute")?;
            let value = self.cursor.position();
            if let Err(failure) = self.attribute(instruction, opcode, name, found) {
                let failed = self.cursor.position();
                self.cursor.set_position(value);
                // Where the value has no end, nothing can be said of what follows it.
                if self.stopped() || found.failures == MAX_FAILURES || !self.cursor.skip_value() {
                    self.cursor.set_position(failed);
                    return Err(failure);
                }
                self.report_about(instruction.text, failure);
                found.unsound = true;
                found.failures += 1;
            }
        }
        Ok(())
    }

    fn attribute(
        &mut self,
        instruction: Name<'a>,
        opcode: &Operation<'a>,
        name: Name<'a>,
        found: &mut ParsedAttributes<'a>,
    ) -> Result<(), Failure> {
        if found.seen.contains(&name.text) {
            let message = format!("the attribute {} is repeated", quote(name.text));
            return Err(failure(codes::ATTRIBUTE_REPEATED, name.span, message));
        }
        if let Some(field) = opcode.owned(name.text) {
            found.seen.push(name.text);
            let value = self.field_value(instruction, name, field)?;
            found.values.insert(field.name, value);
        } else if opcode.carries(name.text) {
            found.seen.push(name.text);
            let value = self.cursor.carried(name, &mut found.mentions)?;
            found.carried.push(Attribute { name: name.text.to_owned(), value });
        } else {
            found.unknown = true;
            return Err(opcode.unknown_attribute(name));
        }
        if matches!(self.cursor.byte(), Some(byte) if is_name_byte(byte) || matches!(byte, b'{' | b'[' | b'(')) {
            return Err(self.cursor.unexpected("`,` or the end of the instruction"));
        }
        Ok(())
    }

    /// The value of an attribute that an operation owns.
    fn field_value(
        &mut self,
        instruction: Name<'a>,
        name: Name<'a>,
        field: &'static Field,
    ) -> Result<FieldValue, Failure> {
        use crate::ir::Spelling;
        Ok(match field.spelling {
            Spelling::Computation => FieldValue::Computation(self.called(instruction)?),
            Spelling::Computations => FieldValue::Computations(list(
                self,
                |parser| &mut parser.cursor,
                (b'{', b'}'),
                "the name of a computation",
                |parser| parser.called(instruction),
            )?),
            spelling => self.cursor.field_value(name, spelling)?,
        })
    }

    fn called(&mut self, instruction: Name<'a>) -> Result<ComputationId, Failure> {
        if self.cursor.peek() == Some(b'{') {
            return self.nested_computation();
        }
        let name = self.cursor.name("the name of a computation")?;
        Ok(self.reference(name, instruction.text))
    }
}
