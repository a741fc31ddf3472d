//! The inputs of an evaluation, checked against the parameters of the entry computation.

use super::value::{Buffer, Value};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Computation, InstrId, Literal, Module, Shape, Span};

/// One value per parameter of the entry.
///
/// # Errors
/// `HLO210` for a wrong number of inputs; `HLO211` for each input of a wrong type or extents.
pub(super) fn arguments<'a>(module: &Module, inputs: &[&'a Literal]) -> Result<Vec<Value<'a>>, Diagnostics> {
    let entry = module.entry_computation();
    let parameters = entry.parameters();
    let expected: usize = parameters.iter().map(|&id| entry.instructions[id].shape.leaves().len()).sum();
    if expected != inputs.len() {
        let message = format!("the program takes {expected} inputs, {}, and {} are given", list(entry), inputs.len());
        return Err(Diagnostic::new("HLO210", entry.span, message).about(&entry.name).into());
    }
    let mut findings = Vec::new();
    let mut rest = inputs.iter().copied();
    let mut arguments = Vec::with_capacity(parameters.len());
    for (number, id) in parameters.into_iter().enumerate() {
        let mut reader = Reader { entry, id, number, rest: &mut rest, findings: &mut findings };
        arguments.push(reader.value(&entry.instructions[id].shape));
    }
    if findings.is_empty() { Ok(arguments) } else { Err(Diagnostics(findings)) }
}

struct Reader<'r, 'a> {
    entry: &'r Computation,
    id: InstrId,
    number: usize,
    rest: &'r mut dyn Iterator<Item = &'a Literal>,
    findings: &'r mut Vec<Diagnostic>,
}

impl<'a> Reader<'_, 'a> {
    fn value(&mut self, shape: &Shape) -> Value<'a> {
        if let Shape::Tuple(elements) = shape {
            return Value::Tuple(elements.iter().map(|element| self.value(element)).collect());
        }
        let Some(literal) = self.rest.next() else { return Value::Tuple(Vec::new()) };
        let held = literal.data.len().and_then(|count| i64::try_from(count).ok());
        let consistent = literal.shape.as_array().is_some_and(|array| {
            array.element_count() == held && literal.data.element_type() == Some(array.element_type)
        });
        if !consistent || !literal.shape.is_compatible(shape) {
            let (wanted, given) = (shape.without_layout(), literal.shape.without_layout());
            let instruction = &self.entry.instructions[self.id];
            let but = if consistent { "" } else { ", whose elements are not held" };
            let message = format!("parameter {} must be {wanted}, and is given {given}{but}", self.number);
            let place = format!("{}/{}", self.entry.name, instruction.name);
            self.findings.push(Diagnostic::new("HLO211", self.span(), message).about(place));
        }
        Value::Array(Buffer::Given(&literal.data))
    }

    fn span(&self) -> Span {
        self.entry.instructions[self.id].span
    }
}

/// The parameters with their shapes.
fn list(entry: &Computation) -> String {
    let parameters: Vec<String> = entry
        .parameters()
        .into_iter()
        .map(|id| &entry.instructions[id])
        .map(|instruction| format!("{}: {}", instruction.name, instruction.shape.without_layout()))
        .collect();
    format!("({})", parameters.join(", "))
}
