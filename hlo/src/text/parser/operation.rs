//! What follows an instruction's shape: opcode, operands or payload, attributes.

use super::Parser;
use super::instruction::Body;
use super::module::MAX_ATTRIBUTES;
use crate::ir::{
    Attribute, AttributeValue, BinaryOp, ComparisonDirection, ComparisonType, ComputationId, FusionKind, Instruction,
    OPCODES, Op, PadDimension, Shape, SliceDimension, Span, UnaryOp, is_opcode,
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
    "control-predecessors",
    "origin",
    "original_value",
    "statistics",
];

/// Attributes that the instructions of one opcode may carry besides.
const CARRIED_BY: &[(&str, &[&str])] = &[
    ("call", &["is_composite"]),
    ("fusion", &["output_to_operand_aliasing", "async_execution_thread"]),
    ("parameter", &["parameter_replication"]),
    ("reshape", &["inferred_dimension"]),
];

/// Attributes of operations that are not understood which name computations.
const CALLING: &[&str] = &[
    "to_apply",
    "calls",
    "condition",
    "body",
    "true_computation",
    "false_computation",
    "branch_computations",
    "called_computations",
    "comparator",
    "update_computation",
];

/// The values of the attributes that operations own.
#[derive(Default)]
struct Owned {
    dimensions: Option<Vec<i64>>,
    number: Option<i64>,
    slice: Option<Vec<SliceDimension>>,
    padding: Option<Vec<PadDimension>>,
    direction: Option<ComparisonDirection>,
    order: Option<ComparisonType>,
    kind: Option<FusionKind>,
    computation: Option<ComputationId>,
}

/// The attributes of an operation that is understood, all but `type` required; `None` for others.
fn owned_names(opcode: &str) -> Option<&'static [&'static str]> {
    Some(match opcode {
        "parameter" | "constant" | "reshape" | "bitcast" | "copy" | "convert" | "select" | "clamp" | "tuple" => &[],
        "iota" => &["iota_dimension"],
        "broadcast" | "transpose" | "reverse" | "concatenate" => &["dimensions"],
        "slice" => &["slice"],
        "pad" => &["padding"],
        "compare" => &["direction", "type"],
        "reduce" => &["dimensions", "to_apply"],
        "get-tuple-element" => &["index"],
        "call" => &["to_apply"],
        "fusion" => &["kind", "calls"],
        _ if UnaryOp::from_name(opcode).is_some() || BinaryOp::from_name(opcode).is_some() => &[],
        _ => return None,
    })
}

fn is_carried(opcode: &str, attribute: &str) -> bool {
    CARRIED.contains(&attribute)
        || CARRIED_BY.iter().any(|(by, carried)| *by == opcode && carried.contains(&attribute))
        || (attribute == "result_accuracy" && UnaryOp::from_name(opcode).is_some())
}

/// The value, or the finding that the attribute is missing.
fn required<T>(value: Option<T>, opcode: Name<'_>, attribute: &str) -> Result<T, Failure> {
    value.ok_or_else(|| {
        let message = format!("`{}` needs the attribute `{attribute}`, found none", opcode.text);
        failure(codes::ATTRIBUTE_MISSING, opcode.span, message)
    })
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
        let names = owned_names(opcode.text);
        if names.is_none() && !is_opcode(opcode.text) {
            let hint = nearest(opcode.text, OPCODES.iter().copied());
            let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let message = format!("expected an opcode, found {}{hint}", quote(opcode.text));
            return Err(failure(codes::OPCODE, opcode.span, message));
        }
        self.cursor.expect(b'(', "`(` after the opcode")?;
        let mut operands = Vec::new();
        let mut payload = String::new();
        let mut owned = Owned::default();
        let mut literal = None;
        match opcode.text {
            "parameter" => {
                owned.number = Some(self.parameter_number()?);
                self.cursor.expect(b')', "`)` after the number of a parameter")?;
            }
            "constant" => {
                literal = Some(self.cursor.literal(&shape)?);
                self.cursor.expect(b')', "`)` after a literal")?;
            }
            _ if names.is_none() && self.at_payload() => payload = self.payload()?,
            _ => operands = self.operands(body)?,
        }
        let mut others = Vec::new();
        let mut carried = Vec::new();
        if self.cursor.peek() == Some(b',') {
            self.attributes(name, opcode, &mut owned, &mut others, &mut carried)?;
        }
        let op = match (literal, names) {
            (Some(literal), _) => Op::Constant(literal),
            (None, Some(_)) => build(opcode, owned)?,
            (None, None) => Op::Other { opcode: opcode.text.to_owned(), payload, attributes: others },
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

    /// Whether the parentheses hold something else than operands.
    fn at_payload(&mut self) -> bool {
        self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'"' | b'{' | b'[' | b'-'))
    }

    /// What stands in the parentheses, as text, and the closing one.
    fn payload(&mut self) -> Result<String, Failure> {
        let mut payload = self.cursor.raw_value()?;
        while self.cursor.eat(b',') {
            payload.push_str(", ");
            payload.push_str(&self.cursor.raw_value()?);
        }
        self.cursor.expect(b')', "`,` or `)`")?;
        Ok(payload)
    }

    fn attributes(
        &mut self,
        instruction: Name<'a>,
        opcode: Name<'a>,
        owned: &mut Owned,
        others: &mut Vec<Attribute>,
        carried: &mut Vec<Attribute>,
    ) -> Result<(), Failure> {
        let names = owned_names(opcode.text);
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
            match names {
                _ if is_carried(opcode.text, name.text) => {
                    carried.push(Attribute::text(name.text, self.attribute_text(name)?));
                }
                Some(names) if names.contains(&name.text) => {
                    self.owned_attribute(instruction, opcode, name, owned)?;
                    if self.cursor.byte().is_some_and(is_name_byte) {
                        return Err(self.cursor.unexpected("`,` or the end of the instruction"));
                    }
                }
                Some(names) => return Err(unknown_attribute(opcode, name, names)),
                None => {
                    let value = self.other_attribute(instruction, opcode, name)?;
                    others.push(Attribute { name: name.text.to_owned(), value });
                }
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

    fn other_attribute(
        &mut self,
        instruction: Name<'a>,
        opcode: Name<'a>,
        name: Name<'a>,
    ) -> Result<AttributeValue, Failure> {
        let regions = opcode.text == "select-and-scatter" && matches!(name.text, "select" | "scatter");
        if !CALLING.contains(&name.text) && !regions {
            return Ok(AttributeValue::Text(self.attribute_text(name)?));
        }
        if !self.cursor.eat(b'{') {
            return Ok(AttributeValue::Computation(self.called(instruction)?));
        }
        let mut computations = Vec::new();
        if !self.cursor.eat(b'}') {
            loop {
                computations.push(self.called(instruction)?);
                if !self.cursor.eat(b',') {
                    break;
                }
            }
            self.cursor.expect(b'}', "`,` or `}` after the name of a computation")?;
        }
        Ok(AttributeValue::Computations(computations))
    }

    fn called(&mut self, instruction: Name<'a>) -> Result<ComputationId, Failure> {
        let name = self.cursor.name("the name of a computation")?;
        Ok(self.reference(name, instruction.text))
    }

    fn owned_attribute(
        &mut self,
        instruction: Name<'a>,
        opcode: Name<'a>,
        name: Name<'a>,
        owned: &mut Owned,
    ) -> Result<(), Failure> {
        if name.text == "padding" {
            owned.padding = Some(self.padding()?);
            return Ok(());
        }
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        match name.text {
            "dimensions" => {
                let dimensions = self.dimensions()?;
                if opcode.text == "concatenate" && dimensions.len() != 1 {
                    let message = format!("`concatenate` joins along one dimension, found {}", dimensions.len());
                    return Err(failure(codes::ATTRIBUTE_VALUE, self.cursor.since(start), message));
                }
                owned.dimensions = Some(dimensions);
            }
            "iota_dimension" => owned.number = Some(self.cursor.integer("a dimension")?),
            "index" => owned.number = Some(self.cursor.integer("the index of an element")?),
            "slice" => owned.slice = Some(self.slice_dimensions()?),
            "direction" => owned.direction = Some(self.one_of(name, ComparisonDirection::ALL, |it| it.name())?),
            "type" => owned.order = Some(self.one_of(name, ComparisonType::ALL, |it| it.name())?),
            "kind" => owned.kind = Some(self.one_of(name, FusionKind::ALL, |it| it.name())?),
            _ => owned.computation = Some(self.called(instruction)?),
        }
        Ok(())
    }

    /// `{0,1}`
    fn dimensions(&mut self) -> Result<Vec<i64>, Failure> {
        self.cursor.expect(b'{', "`{` and dimensions")?;
        let mut dimensions = Vec::new();
        if self.cursor.eat(b'}') {
            return Ok(dimensions);
        }
        loop {
            dimensions.push(self.cursor.integer("a dimension")?);
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.cursor.expect(b'}', "`,` or `}` after a dimension")?;
        Ok(dimensions)
    }

    /// `{[0:5], [1:20:2]}`
    fn slice_dimensions(&mut self) -> Result<Vec<SliceDimension>, Failure> {
        self.cursor.expect(b'{', "`{` and the bounds of each dimension")?;
        let mut dimensions = Vec::new();
        if self.cursor.eat(b'}') {
            return Ok(dimensions);
        }
        loop {
            self.cursor.expect(b'[', "`[start:limit]` or `[start:limit:stride]`")?;
            let start = self.cursor.integer("the start of a slice")?;
            self.cursor.expect(b':', "`:` and the limit of a slice")?;
            let limit = self.cursor.integer("the limit of a slice")?;
            let stride = if self.cursor.eat(b':') { self.cursor.integer("the stride of a slice")? } else { 1 };
            self.cursor.expect(b']', "`]` after the bounds of a slice")?;
            dimensions.push(SliceDimension { start, limit, stride });
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.cursor.expect(b'}', "`,` or `}` after the bounds of a slice")?;
        Ok(dimensions)
    }

    /// `1_4x0_0_2`; nothing for a scalar.
    fn padding(&mut self) -> Result<Vec<PadDimension>, Failure> {
        if self.cursor.byte().is_none_or(|byte| byte == b',' || byte == b'}' || byte.is_ascii_whitespace()) {
            return Ok(Vec::new());
        }
        let start = self.cursor.position();
        let text = self.cursor.raw_value()?;
        let mut dimensions = Vec::new();
        for part in text.split('x') {
            let numbers: Option<Vec<i64>> = part.split('_').map(|number| number.parse().ok()).collect();
            let dimension = match numbers.as_deref() {
                Some(&[low, high]) => PadDimension { low, high, interior: 0 },
                Some(&[low, high, interior]) => PadDimension { low, high, interior },
                _ => {
                    let message =
                        format!("expected `low_high` or `low_high_interior` joined by `x`, found {}", quote(&text));
                    return Err(failure(codes::ATTRIBUTE_VALUE, self.cursor.since(start), message));
                }
            };
            dimensions.push(dimension);
        }
        Ok(dimensions)
    }

    fn one_of<T: Copy>(
        &mut self,
        attribute: Name<'a>,
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Result<T, Failure> {
        let expected = || {
            let names: Vec<String> = all.iter().map(|&value| format!("`{}`", name(value))).collect();
            format!("one of {} as the attribute `{}`", names.join(", "), attribute.text)
        };
        let Some(word) = self.cursor.word() else {
            return Err(self.cursor.unexpected_as(codes::ATTRIBUTE_VALUE, &expected()));
        };
        all.iter().copied().find(|&value| name(value) == word.text).ok_or_else(|| {
            let message = format!("expected {}, found {}", expected(), quote(word.text));
            failure(codes::ATTRIBUTE_VALUE, word.span, message)
        })
    }
}

fn unknown_attribute(opcode: Name<'_>, attribute: Name<'_>, names: &[&str]) -> Failure {
    let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let known = if known.is_empty() { "none of its own".to_owned() } else { known.join(", ") };
    let message = format!("`{}` has no attribute {}; it has {known}", opcode.text, quote(attribute.text));
    failure(codes::ATTRIBUTE_UNKNOWN, Span::new(attribute.span.range()), message)
}

/// The operation of an opcode that is understood.
fn build(opcode: Name<'_>, owned: Owned) -> Result<Op, Failure> {
    let Owned { dimensions, number, slice, padding, direction, order, kind, computation } = owned;
    let dimensions = |needed: Name<'_>| required(dimensions, needed, "dimensions");
    Ok(match opcode.text {
        "parameter" => Op::Parameter { number: required(number, opcode, "number")? },
        "iota" => Op::Iota { dimension: required(number, opcode, "iota_dimension")? },
        "broadcast" => Op::Broadcast { dimensions: dimensions(opcode)? },
        "transpose" => Op::Transpose { permutation: dimensions(opcode)? },
        "reverse" => Op::Reverse { dimensions: dimensions(opcode)? },
        "concatenate" => {
            let dimension = dimensions(opcode)?.first().copied();
            Op::Concatenate { dimension: required(dimension, opcode, "dimensions")? }
        }
        "slice" => Op::Slice { dimensions: required(slice, opcode, "slice")? },
        "pad" => Op::Pad { padding: required(padding, opcode, "padding")? },
        "compare" => Op::Compare { direction: required(direction, opcode, "direction")?, order },
        "reduce" => {
            Op::Reduce { dimensions: dimensions(opcode)?, to_apply: required(computation, opcode, "to_apply")? }
        }
        "get-tuple-element" => Op::GetTupleElement { index: required(number, opcode, "index")? },
        "call" => Op::Call { to_apply: required(computation, opcode, "to_apply")? },
        "fusion" => {
            Op::Fusion { kind: required(kind, opcode, "kind")?, calls: required(computation, opcode, "calls")? }
        }
        "reshape" => Op::Reshape,
        "bitcast" => Op::Bitcast,
        "copy" => Op::Copy,
        "convert" => Op::Convert,
        "select" => Op::Select,
        "clamp" => Op::Clamp,
        "tuple" => Op::Tuple,
        other => match (UnaryOp::from_name(other), BinaryOp::from_name(other)) {
            (Some(op), _) => Op::Unary(op),
            (None, Some(op)) => Op::Binary(op),
            (None, None) => {
                let message = format!("expected an opcode, found {}", quote(other));
                return Err(failure(codes::OPCODE, opcode.span, message));
            }
        },
    })
}
