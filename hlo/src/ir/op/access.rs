//! Conversions between operations and their opcodes, attributes and called computations.

use super::{
    AsyncPhase, Field, FieldValues, FieldView, FusionKind, Op, Opcode, Presence, Spelling, declared_fields, declared_op,
};
use crate::ir::ComputationId;
use std::borrow::Cow;

impl Op {
    /// The opcode as HLO text spells it: the name of [`opcode`](Self::opcode), but `slice-start` and the like of
    /// asynchronous shorthands.
    pub fn name(&self) -> Cow<'static, str> {
        match self {
            Op::AsyncShorthand { wrapped, phase, .. } => Cow::Owned(format!("{wrapped}{phase}")),
            other => Cow::Borrowed(other.opcode().name()),
        }
    }

    /// Whether running it does something besides giving a value, or gives another value each time, leaving aside the
    /// computations that it calls.
    pub fn has_side_effects(&self) -> bool {
        match self {
            Op::CustomCall { custom_call_has_side_effect, .. } => *custom_call_has_side_effect,
            other => other.opcode().may_have_side_effects(),
        }
    }

    /// Whether code is generated for this operation: [`Opcode::is_computed`].
    pub fn is_computed(&self) -> bool {
        self.opcode().is_computed()
    }

    /// A fusion that shares no buffer between operands and result.
    pub fn fusion(kind: FusionKind, calls: ComputationId) -> Op {
        Op::Fusion { kind, output_to_operand_aliasing: Vec::new(), calls }
    }

    /// Shows the attributes that it owns, in the order of the text: all of them, or those that are printed.
    pub(crate) fn visit_fields<'a>(&'a self, all: bool, show: &mut dyn FnMut(&'static Field, FieldView<'a>)) {
        match self {
            Op::Conditional { branches, indexed: true } => {
                show(&CONDITIONAL[2], FieldView::Computations(branches));
            }
            Op::Conditional { branches, indexed: false } => {
                for (field, branch) in CONDITIONAL.iter().zip(branches) {
                    show(field, FieldView::Computation(branch));
                }
            }
            Op::AsyncShorthand { operation, async_execution_thread, output_to_operand_aliasing, .. } => {
                if let Some(thread) = async_execution_thread {
                    show(&THREAD, FieldView::Text(thread));
                }
                if let Some(operation) = operation {
                    operation.visit_fields(all, show);
                }
                if !output_to_operand_aliasing.is_empty() {
                    show(&ALIASES, FieldView::Aliases(output_to_operand_aliasing));
                }
            }
            _ => self.declared_visit(all, show),
        }
    }

    /// The computations this operation names, in the order of its attributes.
    pub fn called_computations(&self) -> Vec<ComputationId> {
        let mut called = Vec::new();
        if self.names_none() {
            return called;
        }
        self.visit_fields(false, &mut |_, value| match value {
            FieldView::Computation(computation) => called.push(*computation),
            FieldView::Computations(computations) => called.extend_from_slice(computations),
            _ => {}
        });
        called
    }

    /// Replaces every computation this operation names by its image under `rename`.
    pub fn rename_computations(&mut self, mut rename: impl FnMut(ComputationId) -> ComputationId) {
        self.visit_callees(&mut |computation| *computation = rename(*computation));
    }

    fn visit_callees(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        match self {
            _ if self.names_none() => {}
            Op::Conditional { branches, .. } => branches.iter_mut().for_each(visit),
            Op::AsyncShorthand { operation: Some(operation), .. } => operation.visit_callees(visit),
            _ => self.declared_callees(visit),
        }
    }

    /// Whether it is of the most frequent operations, which name no computation.
    fn names_none(&self) -> bool {
        matches!(self, Op::Parameter { .. } | Op::Constant(_) | Op::Unary(_) | Op::Binary(_))
    }
}

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
