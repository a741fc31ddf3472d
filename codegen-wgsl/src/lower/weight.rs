//! How much code statements become.

use crate::kernel::{Block, Operand, ScalarOp, Statement, Value, ValueId};
use crate::math;
use weft_hlo::ir::{Arena, ArenaId, ElementType};

/// The function of the library that an operation calls, if it does; of floats of fewer bits than 32 that of `f32`, by which they are computed.
pub(super) fn library_function(op: &ScalarOp, values: &Arena<ValueId, Value>) -> Option<&'static str> {
    let ty = op.operands().first().map(|operand| match operand {
        Operand::Value(value) => values[*value].element_type,
        Operand::Constant(scalar) => scalar.element_type(),
    })?;
    let computed = if ty.is_float() && ty.bits() < 32 { ElementType::F32 } else { ty };
    let call = match op {
        ScalarOp::Unary { op, .. } => math::unary(*op, computed),
        ScalarOp::Binary { op, .. } => math::binary(*op, computed),
        ScalarOp::Compare { direction, order, .. } => math::compare(*direction, *order, ty),
        ScalarOp::Convert { to, .. } => math::convert(ty, *to),
        _ => None,
    };
    call.and_then(math::Call::function)
}

/// Statements of a block, with those of the functions it calls, of which `callees` says how many they have: drivers write both in place of the calls. What
/// the library computes counts as its [statements](math::statements) for each lane, everything else as one however many lanes it has.
pub(super) fn weight(block: &Block, values: &Arena<ValueId, Value>, callees: &[u64]) -> u64 {
    let of = |statement: &Statement| {
        let called = statement.callee().and_then(|callee| callees.get(callee.index()).copied()).unwrap_or(0);
        let own = match statement {
            Statement::Let { value, op } => {
                let lanes = u64::from(values[*value].lanes);
                library_function(op, values).map_or(1, |name| math::statements(name).saturating_mul(lanes))
            }
            _ => 1,
        };
        let within = statement.blocks().into_iter().map(|block| weight(block, values, callees));
        within.fold(called.saturating_add(own), u64::saturating_add)
    };
    block.statements.iter().map(of).fold(0, u64::saturating_add)
}
