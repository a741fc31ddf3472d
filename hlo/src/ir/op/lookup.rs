//! From opcodes and attributes to operations.

use super::{BinaryOp, Field, FieldValues, Op, Presence, Spelling, UnaryOp, declared_fields, declared_op};

/// The attributes of `conditional`, of which those of one form must be there.
pub(super) const CONDITIONAL: &[Field] = &[
    Field { name: "true_computation", spelling: Spelling::Computation, presence: Presence::Optional },
    Field { name: "false_computation", spelling: Spelling::Computation, presence: Presence::Optional },
    Field { name: "branch_computations", spelling: Spelling::Computations, presence: Presence::Optional },
];

/// The attribute of the shorthands of asynchronous operations.
pub(super) const THREAD: Field =
    Field { name: "async_execution_thread", spelling: Spelling::Quoted, presence: Presence::Optional };

/// The attribute that the shorthands that start an operation have besides, unless the operation has it itself.
pub(super) const ALIASES: Field =
    Field { name: "output_to_operand_aliasing", spelling: Spelling::Aliases, presence: Presence::Optional };

/// How the shorthands of asynchronous operations end.
const PHASES: [&str; 3] = ["-start", "-update", "-done"];

/// The attributes owned by the operation of an opcode, in the order in which XLA prints them; `None` for an opcode that
/// HLO text does not know.
pub(crate) fn fields_of(opcode: &str) -> Option<&'static [Field]> {
    if let Some(fields) = declared_fields(opcode) {
        return Some(fields);
    }
    match opcode {
        "parameter" | "constant" => Some(&[]),
        "conditional" => Some(CONDITIONAL),
        other => (UnaryOp::from_name(other).is_some() || BinaryOp::from_name(other).is_some()).then_some(&[]),
    }
}

/// The opcode that an asynchronous shorthand (`slice-start`) starts, goes on with or ends, and whether it starts it.
pub(crate) fn async_shorthand(opcode: &str) -> Option<(&str, bool)> {
    if fields_of(opcode).is_some() {
        return None;
    }
    let (position, wrapped) =
        PHASES.iter().enumerate().find_map(|(position, phase)| Some((position, opcode.strip_suffix(phase)?)))?;
    fields_of(wrapped).is_some().then_some((wrapped, position == 0))
}

/// The attributes of asynchronous shorthands that belong to them, not to what they start: of all of them, and of those
/// that start something.
pub(crate) fn shorthand_fields(starts: bool) -> &'static [Field] {
    const START: &[Field] = &[THREAD, ALIASES];
    if starts { START } else { &START[..1] }
}

/// The operation of an opcode that takes its attributes out of `values`; `None` for `parameter`, `constant` and unknown
/// opcodes. Fails with the name of an attribute that is missing.
pub(crate) fn from_fields(opcode: &str, values: &mut FieldValues) -> Option<Result<Op, &'static str>> {
    if let Some(op) = declared_op(opcode, values) {
        return Some(op);
    }
    if opcode == "conditional" {
        return Some(conditional(values));
    }
    let unary = UnaryOp::from_name(opcode).map(Op::Unary);
    unary.or_else(|| BinaryOp::from_name(opcode).map(Op::Binary)).map(Ok)
}

fn conditional(values: &mut FieldValues) -> Result<Op, &'static str> {
    if let Some(branches) = values.take("branch_computations") {
        return Ok(Op::Conditional { branches, indexed: true });
    }
    let branches = ["true_computation", "false_computation"].map(|name| values.take(name).ok_or(name));
    let [on_true, on_false] = branches;
    match (on_true, on_false) {
        (Err(_), Err(_)) => Err("branch_computations"),
        (on_true, on_false) => Ok(Op::Conditional { branches: vec![on_true?, on_false?], indexed: false }),
    }
}
