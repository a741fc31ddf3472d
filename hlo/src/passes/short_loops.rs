//! Which loops are written out, round after round.

use crate::ir::{ArenaId, BinaryOp, Computation, InstrId, Op, UnaryOp};

/// Rounds of a loop that is written out.
const MAX_ROUNDS: u64 = 8;

/// Operations that all its rounds may have together.
const MAX_OPERATIONS: u64 = 512;

/// What a transcendental function counts.
const TRANSCENDENTAL: u64 = 16;

/// Whether a loop of so many rounds is better written out: rounds and operations are few, and each element of the state is computed of the same element of others, of scalars and
/// of what rounds only pass on. Then all rounds together are one function of an element, to be fused with what is around the loop, as those of the counter-based generators of
/// random numbers are ("Threefry", Salmon et al., SC 2011). What reads other elements of the state would be computed again for each of them, so such loops stay.
pub(super) fn is_short(body: &Computation, rounds: u64) -> bool {
    rounds <= MAX_ROUNDS
        && operations(body).is_some_and(|operations| operations.saturating_mul(rounds) <= MAX_OPERATIONS)
}

/// The operations of a round, if no element of the state depends on several elements of another; `None` if one does, or may.
fn operations(body: &Computation) -> Option<u64> {
    let passed_on = passed_on(body)?;
    let mut operations = 0u64;
    // For each instruction whether it depends on nothing but constants and what is passed on.
    let mut fixed: Vec<bool> = Vec::with_capacity(body.instructions.len());
    for (id, instruction) in body.instructions.iter() {
        let of_fixed = instruction.operands.iter().all(|operand| fixed[operand.index()]);
        let is_single = |operand: &InstrId| {
            body.instructions[*operand].shape.as_array().and_then(|array| array.element_count()) == Some(1)
        };
        let (cost, is_fixed) = match &instruction.op {
            Op::Parameter { .. } => (0, false),
            Op::GetTupleElement { index } => {
                let is_state = matches!(body.instructions[instruction.operands[0]].op, Op::Parameter { .. });
                let index = usize::try_from(*index).ok().filter(|_| is_state)?;
                (0, *passed_on.get(index)?)
            }
            Op::Tuple if id == body.root => (0, false),
            Op::Constant(_) | Op::Iota { .. } => (0, true),
            Op::Slice { .. } | Op::Reshape | Op::Broadcast { .. }
                if of_fixed || instruction.operands.iter().all(is_single) =>
            {
                (1, of_fixed)
            }
            Op::Unary(op) => (if is_cheap(*op) { 1 } else { TRANSCENDENTAL }, of_fixed),
            Op::Binary(BinaryOp::Atan2 | BinaryOp::Power) => (TRANSCENDENTAL, of_fixed),
            Op::Binary(_) | Op::Compare { .. } | Op::Select | Op::Clamp | Op::Convert | Op::Copy => (1, of_fixed),
            _ => return None,
        };
        operations = operations.saturating_add(cost);
        fixed.push(is_fixed);
    }
    Some(operations)
}

/// For each element of the state whether it is one of those that the loop starts from in every one of [`MAX_ROUNDS`] rounds, be it another one in each.
fn passed_on(body: &Computation) -> Option<Vec<bool>> {
    let root = &body.instructions[body.root];
    if root.op != Op::Tuple {
        return None;
    }
    let source = |id: &InstrId| match body.instructions[*id].op {
        Op::GetTupleElement { index } => usize::try_from(index).ok(),
        _ => None,
    };
    let sources: Vec<Option<usize>> = root.operands.iter().map(source).collect();
    let mut passed: Vec<bool> = sources.iter().map(Option::is_some).collect();
    // What is given on of something computed is computed in the next round.
    for _ in 0..MAX_ROUNDS {
        let still = sources.iter().map(|source| source.is_some_and(|source| passed.get(source) == Some(&true)));
        passed = still.collect();
    }
    Some(passed)
}

/// Whether a function of one number is a few operations of a device.
fn is_cheap(op: UnaryOp) -> bool {
    use UnaryOp::{
        Abs, Ceil, CountLeadingZeros, Floor, IsFinite, Negate, Not, PopulationCount, RoundNearestAfz, RoundNearestEven,
        Sign,
    };
    matches!(
        op,
        Abs | Ceil
            | CountLeadingZeros
            | Floor
            | IsFinite
            | Negate
            | Not
            | PopulationCount
            | RoundNearestAfz
            | RoundNearestEven
            | Sign
    )
}
