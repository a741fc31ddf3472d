//! The context of a verifier rule: the instruction that it checks, and the report of its findings.

use crate::ir::{
    ArenaId, ArrayShape, Computation, ComputationId, ElementType, InstrId, Instruction, Module, Op, Shape,
};
use crate::verify::code;
use crate::verify::shapes::ShortShape;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// One operation under examination, and what was found about it.
pub(in crate::verify) struct Rule<'a> {
    pub(in crate::verify) module: &'a Module,
    /// The parameters of each of its computations, by number.
    pub(in crate::verify) parameters: &'a [Vec<InstrId>],
    pub(in crate::verify) instruction: &'a Instruction,
    /// The operation, which an asynchronous shorthand wraps.
    pub(in crate::verify) op: &'a Op,
    pub(in crate::verify) operands: &'a [&'a Shape],
    /// The shape that the text gives the result.
    pub(in crate::verify) declared: &'a Shape,
    pub(in crate::verify) findings: Vec<(&'static str, String)>,
    /// Whether number and kinds of operands and all attributes are legal, so that asking for extents makes sense.
    pub(in crate::verify) sound: bool,
}

impl<'a> Rule<'a> {
    /// The opcode as the text spells it, for messages.
    pub(super) fn name(&self) -> Cow<'static, str> {
        self.op.name()
    }

    /// A finding after which extents mean nothing.
    pub(super) fn refuse(&mut self, code: &'static str, message: String) {
        self.sound = false;
        self.findings.push((code, message));
    }

    /// A finding about element types or computations, which leaves extents meaningful.
    pub(super) fn report(&mut self, code: &'static str, message: String) {
        self.findings.push((code, message));
    }

    /// A finding about an attribute.
    pub(super) fn attribute(&mut self, message: String) {
        self.refuse(code::ATTRIBUTE, message);
    }

    /// Checks the number of operands.
    pub(super) fn count(&mut self, count: usize) -> Option<()> {
        if self.operands.len() == count {
            return Some(());
        }
        let plural = if count == 1 { "operand" } else { "operands" };
        let message = format!("{} takes {count} {plural} and has {}", self.name(), self.operands.len());
        self.refuse(code::OPERAND_COUNT, message);
        None
    }

    /// Checks that there are at least so many operands.
    pub(super) fn at_least(&mut self, count: usize) -> Option<()> {
        if self.operands.len() >= count {
            return Some(());
        }
        let plural = if count == 1 { "operand" } else { "operands" };
        let message = format!("{} takes at least {count} {plural} and has {}", self.name(), self.operands.len());
        self.refuse(code::OPERAND_COUNT, message);
        None
    }

    /// The operands, of which there must be so many.
    pub(super) fn operands<const COUNT: usize>(&mut self) -> Option<[&'a Shape; COUNT]> {
        self.count(COUNT)?;
        self.operands.try_into().ok()
    }

    /// The operands, of which there must be so many, all of them arrays.
    pub(super) fn arrays<const COUNT: usize>(&mut self) -> Option<[&'a ArrayShape; COUNT]> {
        self.count(COUNT)?;
        self.all_arrays(0)?.try_into().ok()
    }

    /// The operands from `from` on, all of which must be arrays.
    pub(super) fn all_arrays(&mut self, from: usize) -> Option<Vec<&'a ArrayShape>> {
        let operands = self.operands.get(from..)?;
        let mut arrays = Vec::with_capacity(operands.len());
        for (offset, shape) in operands.iter().enumerate() {
            match shape.as_array() {
                Some(array) => arrays.push(array),
                None => self.wrong_kind(from + offset, "an array"),
            }
        }
        (arrays.len() == operands.len()).then_some(arrays)
    }

    /// The operand at a position that exists, which must be an array.
    pub(super) fn array(&mut self, position: usize) -> Option<&'a ArrayShape> {
        let array = self.operands.get(position)?.as_array();
        if array.is_none() {
            self.wrong_kind(position, "an array");
        }
        array
    }

    /// Checks that the operand at a position is a token.
    pub(super) fn token(&mut self, position: usize) {
        if self.operands.get(position).is_some_and(|shape| **shape != Shape::Token) {
            self.wrong_kind(position, "a token");
        }
    }

    fn wrong_kind(&mut self, position: usize, wanted: &str) {
        let shape = ShortShape(self.operands[position]);
        let message = format!("operand {position} of {} must be {wanted} and is {shape}", self.name());
        self.refuse(code::ELEMENT_TYPE, message);
    }

    /// The declared shape, which must be an array.
    pub(super) fn declared_array(&mut self) -> Option<&'a ArrayShape> {
        let array = self.declared.as_array();
        if array.is_none() {
            let message =
                format!("{} yields an array, the declared shape is {}", self.name(), ShortShape(self.declared));
            self.refuse(code::RESULT_SHAPE, message);
        }
        array
    }

    /// Checks that the operand at a position has elements of a type that `accepts`; `wanted` says which.
    pub(super) fn typed(&mut self, position: usize, accepts: impl Fn(ElementType) -> bool, wanted: &str) -> bool {
        let Some(array) = self.operands.get(position).and_then(|shape| shape.as_array()) else { return false };
        let fits = accepts(array.element_type);
        if !fits {
            let message = format!(
                "operand {position} of {} must have elements of {wanted} and has {}",
                self.name(),
                array.element_type
            );
            self.report(code::ELEMENT_TYPE, message);
        }
        fits
    }

    /// Checks that the array at a position has the type of another operand.
    pub(super) fn typed_as(&mut self, position: usize, other: usize) -> bool {
        let operands = self.operands;
        let element_type = |position: usize| operands.get(position)?.as_array().map(|array| array.element_type);
        let (Some(given), Some(wanted)) = (element_type(position), element_type(other)) else { return false };
        if given != wanted {
            let message =
                format!("operand {position} of {} must be {wanted} as operand {other} and is {given}", self.name());
            self.report(code::ELEMENT_TYPE, message);
        }
        given == wanted
    }

    /// Checks that the array at a position has elements of this type.
    pub(super) fn of_type(&mut self, position: usize, element_type: ElementType) -> bool {
        self.typed(position, |given| given == element_type, element_type.name())
    }

    /// Checks that no dimension is named twice.
    pub(super) fn distinct(&mut self, name: &str, dimensions: &[i64]) -> bool {
        let mut seen = BTreeSet::new();
        let repeated: BTreeSet<i64> = dimensions.iter().copied().filter(|&dimension| !seen.insert(dimension)).collect();
        for dimension in &repeated {
            self.attribute(format!("{name} names dimension {dimension} twice"));
        }
        repeated.is_empty()
    }

    /// Checks that dimensions are named in order, none of them twice.
    pub(super) fn ascending(&mut self, name: &str, dimensions: &[i64]) {
        if self.distinct(name, dimensions) && !dimensions.is_sorted() {
            self.attribute(format!("{name}={} must be sorted", show(dimensions)));
        }
    }

    /// Checks that two lists have no dimension in common.
    pub(super) fn disjoint(&mut self, names: [&str; 2], one: &[i64], other: &[i64]) -> bool {
        let other: BTreeSet<&i64> = other.iter().collect();
        let common = one.iter().find(|dimension| other.contains(dimension));
        if let Some(common) = common {
            self.attribute(format!("{} and {} both name dimension {common}", names[0], names[1]));
        }
        common.is_none()
    }

    /// A computation that the operation names, if it exists and has a root; that it must is another rule.
    pub(super) fn callee(&self, id: ComputationId) -> Option<&'a Computation> {
        let computation = self.module.computations.get(id)?;
        computation.instructions.get(computation.root).map(|_| computation)
    }

    /// The parameters of a computation.
    pub(super) fn parameters_of(&self, id: ComputationId) -> &'a [InstrId] {
        self.parameters.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// Checks that a computation that is applied to elements takes and returns these shapes; `roles` says what the
    /// parameters are.
    pub(super) fn region(&mut self, id: ComputationId, wanted: &[Shape], roles: &str, result: &Shape) {
        let Some(computation) = self.callee(id) else { return };
        let (name, parameters, returned) = (&computation.name, self.parameters_of(id), computation.result_shape());
        let mut faults = Vec::new();
        if parameters.len() != wanted.len() {
            let (count, given) = (wanted.len(), parameters.len());
            let message = format!("{name} must take {count} parameters, {roles}, and takes {given}");
            return self.report(code::REGION, message);
        }
        for (number, (&id, wanted)) in parameters.iter().zip(wanted).enumerate() {
            let given = &computation.instructions[id].shape;
            if !given.is_compatible(wanted) {
                faults.push(format!("parameter {number} of {name} must be {wanted} and is {}", ShortShape(given)));
            }
        }
        if !returned.is_compatible(result) {
            faults.push(format!("{name} must return {result} and returns {}", ShortShape(returned)));
        }
        // Several faults have one cause: this is another computation.
        let message = match faults.len() {
            0 => return,
            1 => faults.remove(0),
            _ => {
                let given: Vec<&Shape> = parameters.iter().map(|&id| &computation.instructions[id].shape).collect();
                let wanted: Vec<&Shape> = wanted.iter().collect();
                let (wanted, given) = (function(&wanted, result), function(&given, returned));
                format!("{name} must be {wanted}, its parameters {roles}, and is {given}")
            }
        };
        self.report(code::REGION, message);
    }

    /// Checks that a computation takes these whole values; its result, if it can be called with them.
    pub(super) fn signature(&mut self, id: ComputationId, passed: &[&'a Shape], first: usize) -> Option<&'a Shape> {
        let computation = self.callee(id)?;
        let (name, parameters) = (&computation.name, self.parameters_of(id));
        if parameters.len() != passed.len() {
            let (count, opcode, given) = (parameters.len(), self.name(), passed.len());
            self.refuse(code::SIGNATURE, format!("{name} takes {count} parameters, {opcode} passes {given}"));
        }
        for (number, (&id, given)) in parameters.iter().zip(passed).enumerate() {
            let wanted = &computation.instructions[id].shape;
            if !wanted.is_compatible(given) {
                let message = format!(
                    "parameter {number} of {name} is {}, operand {} is {}",
                    ShortShape(wanted),
                    first + number,
                    ShortShape(given)
                );
                self.refuse(code::SIGNATURE, message);
            }
        }
        Some(computation.result_shape())
    }
}

/// A signature as text spells it.
fn function(parameters: &[&Shape], result: &Shape) -> String {
    let parameters: Vec<String> = parameters.iter().map(|shape| ShortShape(shape).to_string()).collect();
    format!("({}) -> {}", parameters.join(", "), ShortShape(result))
}

/// Dimensions as text spells them.
pub(super) fn show(dimensions: &[i64]) -> String {
    let parts: Vec<String> = dimensions.iter().map(i64::to_string).collect();
    format!("{{{}}}", parts.join(","))
}
