//! Indexing maps of asynchronous operations: async-start, async-update, async-done and their shorthands.
//!
//! A start yields its operands and, beside them, what will be the result; an end takes the result out of that.

use super::analysis::Analysis;
use super::calls::Callee;
use super::context::{InstructionContext, OperationMaps};
use super::{Dependence, Owners, Undefined, movement};
use crate::ir::{AsyncPhase, ComputationId, Instruction, Op};

/// The dependences of a start: its operands are passed on, and `result` gives those of the operation that it starts, whose
/// value is the second element of what the start yields.
pub(super) fn started(
    context: &InstructionContext<'_>,
    result: impl FnOnce(&InstructionContext<'_>) -> OperationMaps,
) -> OperationMaps {
    let Some([passed, shape, ..]) = context.instruction.shape.as_tuple() else { return Err(Undefined::Outside) };
    if !context.instruction.shape.is_static() {
        return Err(Undefined::DynamicExtents);
    }
    let before = passed.leaves().len();
    let mut found = movement::tuple(context)?;
    found.truncate(before);
    let inner = Instruction { shape: shape.clone(), ..context.instruction.clone() };
    let leaves = shape.leaves();
    let arrays = leaves.len();
    for dependence in result(&InstructionContext { instruction: &inner, arrays: &leaves, ..*context })? {
        let results = match dependence.result {
            Some(result) => result..result + 1,
            None => 0..arrays,
        };
        found.extend(results.map(|result| Dependence { result: Some(before + result), ..dependence.clone() }));
    }
    Ok(found)
}

/// A copy, what is copied, and a handle.
pub(super) fn copied(context: &InstructionContext<'_>) -> OperationMaps {
    let copy = movement::tuple(context)?;
    let arrays = copy.len();
    let source = copy.iter().map(|own| Dependence { result: own.result.map(|leaf| leaf + arrays), ..own.clone() });
    Ok(copy.iter().cloned().chain(source).collect())
}

/// A step of what was started, or its end.
pub(super) fn shorthand(context: &InstructionContext<'_>, phase: AsyncPhase) -> OperationMaps {
    if phase == AsyncPhase::Done { movement::get_tuple_element(context, 1) } else { movement::copy(context) }
}

impl Analysis<'_> {
    /// The dependences of the start of a computation.
    pub(super) fn start(
        &mut self,
        context: &InstructionContext<'_>,
        callee: ComputationId,
        owners: &mut Owners,
    ) -> OperationMaps {
        started(context, |inner| {
            Ok(self.call(inner.id, &inner.instruction.operands, Callee::only(callee), inner.direction, owners))
        })
    }

    /// The dependences of the start of one operation.
    pub(super) fn start_operation(
        &mut self,
        context: &InstructionContext<'_>,
        operation: &Op,
        owners: &mut Owners,
    ) -> OperationMaps {
        started(context, |inner| {
            let instruction = Instruction { op: operation.clone(), ..inner.instruction.clone() };
            Ok(self.of_site(&InstructionContext { instruction: &instruction, ..*inner }, owners))
        })
    }
}

/// The computations whose maps an operation's maps are made of.
pub(super) fn callees(op: &Op) -> Vec<ComputationId> {
    match op {
        Op::Fusion { calls: callee, .. } | Op::Call { to_apply: callee } | Op::AsyncStart { calls: callee, .. } => {
            vec![*callee]
        }
        Op::Conditional { branches, .. } => branches.clone(),
        Op::AsyncShorthand { operation: Some(operation), .. } => match operation.as_ref() {
            Op::Fusion { calls: callee, .. } | Op::Call { to_apply: callee } => vec![*callee],
            Op::Conditional { branches, .. } => branches.clone(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
