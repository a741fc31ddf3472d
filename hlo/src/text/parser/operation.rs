//! What follows an instruction's shape: opcode, operands or payload, attributes.

use super::Parser;
use super::instruction::Body;
use super::module::MAX_ATTRIBUTES;
use crate::ir::{
    Attribute, ComputationId, Field, FieldValue, FieldValues, Instruction, OPCODES, Op, Shape, UnaryOp,
    async_shorthand, fields_of, from_fields, thread_field,
};
use crate::text::codes;
use crate::text::lexer::{Failure, Name, failure, is_name_byte, quote};
use crate::text::suggest::nearest;

/// Attributes that any instruction may carry; they are kept as text.
const CARRIED: &[&str] = &[
    "metadata",
    "backend_config",
    "frontend_attributes",
    "sharding",
    "parameter_replication",
    "control-predecessors",
    "origin",
    "original_value",
    "statistics",
];

/// Attributes that the instructions of one opcode may carry besides.
const CARRIED_BY: &[(&str, &[&str])] =
    &[("call", &["is_composite"]), ("fusion", &["async_execution_thread"]), ("reshape", &["inferred_dimension"])];

/// What the text says of one operation.
#[derive(Copy, Clone)]
struct Opcode<'a> {
    name: Name<'a>,
    /// The opcode that owns the attributes: that of the operation, or of what an asynchronous shorthand starts.
    owner: &'a str,
    fields: &'static [Field],
    /// Whether this is an asynchronous shorthand (`slice-start`).
    shorthand: bool,
}

impl<'a> Opcode<'a> {
    fn find(name: Name<'a>) -> Result<Self, Failure> {
        if let Some(fields) = fields_of(name.text) {
            return Ok(Opcode { name, owner: name.text, fields, shorthand: false });
        }
        if let Some((owner, starts)) = async_shorthand(name.text) {
            let fields = if starts { fields_of(owner).unwrap_or(&[]) } else { &[] };
            return Ok(Opcode { name, owner, fields, shorthand: true });
        }
        let hint = nearest(name.text, OPCODES.iter().copied());
        let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let message = format!("expected an opcode, found {}{hint}", quote(name.text));
        Err(failure(codes::OPCODE, name.span, message))
    }

    fn owned(&self, attribute: &str) -> Option<&'static Field> {
        let thread = self.shorthand.then(thread_field);
        self.fields.iter().chain(thread).find(|field| field.name == attribute)
    }

    fn carries(&self, attribute: &str) -> bool {
        CARRIED.contains(&attribute)
            || CARRIED_BY.iter().any(|(by, carried)| *by == self.owner && carried.contains(&attribute))
            || (attribute == "result_accuracy" && UnaryOp::from_name(self.owner).is_some())
    }

    fn unknown_attribute(&self, attribute: Name<'_>) -> Failure {
        let names = self.fields.iter().map(|field| field.name);
        let hint = nearest(attribute.text, names.clone().chain(CARRIED.iter().copied()));
        let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let known: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let known = if known.is_empty() { "none of its own".to_owned() } else { known.join(", ") };
        let message = format!("`{}` has no attribute {}; it has {known}{hint}", self.name.text, quote(attribute.text));
        failure(codes::ATTRIBUTE_UNKNOWN, attribute.span, message)
    }

    /// The operation, once its attributes are read.
    fn build(&self, mut values: FieldValues) -> Result<Op, Failure> {
        let missing = |attribute: &str| {
            let message = format!("`{}` needs the attribute `{attribute}`, found none", self.name.text);
            failure(codes::ATTRIBUTE_MISSING, self.name.span, message)
        };
        if !self.shorthand {
            return match from_fields(self.name.text, &mut values) {
                Some(op) => op.map_err(missing),
                None => Err(failure(codes::OPCODE, self.name.span, "expected an operation of operands")),
            };
        }
        let async_execution_thread = values.take(thread_field().name);
        let operation = match async_shorthand(self.name.text) {
            Some((wrapped, true)) => match from_fields(wrapped, &mut values) {
                Some(op) => Some(Box::new(op.map_err(missing)?)),
                None => {
                    let message = format!("`{wrapped}` is nothing that can be started");
                    return Err(failure(codes::OPCODE, self.name.span, message));
                }
            },
            _ => None,
        };
        Ok(Op::AsyncShorthand { opcode: self.name.text.to_owned(), operation, async_execution_thread })
    }
}

impl<'a> Parser<'a> {
    /// The rest of an instruction, from the parenthesis after its opcode.
    pub(super) fn operation(
        &mut self,
        body: &mut Body<'a>,
        name: Name<'a>,
        shape: Shape,
        opcode: Name<'a>,
    ) -> Result<Instruction, Failure> {
        let opcode = Opcode::find(opcode)?;
        self.cursor.expect(b'(', "`(` after the opcode")?;
        let mut operands = Vec::new();
        let special = match opcode.name.text {
            "parameter" => {
                let number = self.parameter_number()?;
                self.cursor.expect(b')', "`)` after the number of a parameter")?;
                Some(Op::Parameter { number })
            }
            "constant" => {
                let literal = self.cursor.literal(&shape)?;
                self.cursor.expect(b')', "`)` after a literal")?;
                Some(Op::Constant(literal))
            }
            _ => {
                operands = self.operands(body)?;
                None
            }
        };
        let mut values = FieldValues::default();
        let mut carried = Vec::new();
        if self.cursor.peek() == Some(b',') {
            self.attributes(name, &opcode, &mut values, &mut carried)?;
        }
        let op = match special {
            Some(op) => op,
            None => opcode.build(values)?,
        };
        let mut instruction = Instruction::new(name.text, shape, op, operands);
        instruction.attributes = carried;
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

    fn attributes(
        &mut self,
        instruction: Name<'a>,
        opcode: &Opcode<'a>,
        values: &mut FieldValues,
        carried: &mut Vec<Attribute>,
    ) -> Result<(), Failure> {
        let mut seen: Vec<&str> = Vec::new();
        while self.cursor.eat(b',') {
            let Some(name) = self.cursor.word() else {
                return Err(self.cursor.unexpected("the name of an attribute"));
            };
            if !self.cursor.eat(b'=') {
                return Err(self.cursor.unexpected(&format!("`=` after the attribute {}", quote(name.text))));
            }
            if seen.contains(&name.text) {
                let message = format!("the attribute {} is repeated", quote(name.text));
                return Err(failure(codes::ATTRIBUTE_REPEATED, name.span, message));
            }
            if seen.len() == MAX_ATTRIBUTES {
                let message = format!("an instruction has at most {MAX_ATTRIBUTES} attributes");
                return Err(failure(codes::TOO_MANY, name.span, message));
            }
            seen.push(name.text);
            if let Some(field) = opcode.owned(name.text) {
                let value = self.field_value(instruction, name, field)?;
                if self.cursor.byte().is_some_and(is_name_byte) {
                    return Err(self.cursor.unexpected("`,` or the end of the instruction"));
                }
                values.insert(field.name, value);
            } else if opcode.carries(name.text) {
                carried.push(Attribute { name: name.text.to_owned(), value: self.attribute_text(name)? });
            } else {
                return Err(opcode.unknown_attribute(name));
            }
        }
        Ok(())
    }

    /// A value kept as text, which is not empty.
    pub(super) fn attribute_text(&mut self, name: Name<'a>) -> Result<String, Failure> {
        let value = self.cursor.raw_value()?;
        if value.is_empty() {
            return Err(self.cursor.unexpected(&format!("a value of the attribute {}", quote(name.text))));
        }
        Ok(value)
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
            Spelling::Computations => {
                FieldValue::Computations(
                    self.list(b'{', b'}', "the name of a computation", |parser| parser.called(instruction))?,
                )
            }
            Spelling::Raw => FieldValue::Text(self.attribute_text(name)?),
            spelling => self.cursor.field_value(name, spelling)?,
        })
    }

    /// Items with commas between two brackets.
    fn list<T>(
        &mut self,
        open: u8,
        close: u8,
        item: &str,
        mut read: impl FnMut(&mut Self) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        self.cursor.open_list(open, item)?;
        let mut items = Vec::new();
        if self.cursor.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(read(self)?);
            if self.cursor.list_ends(close, item)? {
                return Ok(items);
            }
        }
    }

    fn called(&mut self, instruction: Name<'a>) -> Result<ComputationId, Failure> {
        let name = self.cursor.name("the name of a computation")?;
        Ok(self.reference(name, instruction.text))
    }
}
