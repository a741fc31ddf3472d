//! From opcodes and attributes to operations.

use super::{AsyncPhase, Field, FieldValues, Op, Opcode, Presence, Spelling, declared_fields, declared_op};

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

/// The attributes owned by an operation, in the order in which XLA prints them.
pub(crate) fn fields_of(opcode: Opcode) -> &'static [Field] {
    match opcode {
        Opcode::Conditional => CONDITIONAL,
        other => declared_fields(other).unwrap_or(&[]),
    }
}

/// What an asynchronous shorthand (`slice-start`) starts, goes on with or ends. Words that are opcodes themselves
/// (`copy-start`) are none.
pub(crate) fn async_shorthand(word: &str) -> Option<(Opcode, AsyncPhase)> {
    if Opcode::from_name(word).is_some() {
        return None;
    }
    let wrapped = |phase: AsyncPhase| Some((Opcode::from_name(word.strip_suffix(phase.name())?)?, phase));
    AsyncPhase::ALL.iter().find_map(|&phase| wrapped(phase))
}

/// The attributes of asynchronous shorthands that belong to them, not to what they start: of all of them, and of those
/// that start something.
pub(crate) fn shorthand_fields(phase: AsyncPhase) -> &'static [Field] {
    const START: &[Field] = &[THREAD, ALIASES];
    if phase == AsyncPhase::Start { START } else { &START[..1] }
}

/// The operation of an opcode that takes its attributes out of `values`; `None` for `parameter` and `constant`, which have a
/// syntax of their own. Fails with the name of an attribute that is missing.
pub(crate) fn from_fields(opcode: Opcode, values: &mut FieldValues) -> Option<Result<Op, &'static str>> {
    match opcode {
        Opcode::Conditional => Some(conditional(values)),
        other => declared_op(other, values),
    }
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
