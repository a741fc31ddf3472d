//! Trip counts of while loops.

use crate::ir::{
    Arena, BinaryOp, ComparisonDirection, Computation, ComputationId, ElementType, InstrId, Instruction, Op, Scalar,
};

/// The number of iterations of a `while`, where it follows from its text: a counter that starts at a constant, moves by
/// a constant and is compared with a constant, whether it is the whole state or one element of it. `instructions` holds
/// the loop and its initial state.
///
/// `None` where it does not follow, among others where the counter would leave its type.
pub fn trip_count(
    computations: &Arena<ComputationId, Computation>,
    instructions: &Arena<InstrId, Instruction>,
    while_loop: &Instruction,
) -> Option<u64> {
    let Op::While { condition, body } = while_loop.op else { return None };
    let (condition, body) = (&computations[condition], &computations[body]);
    let root = &condition.instructions[condition.root];
    let Op::Compare { direction, .. } = root.op else { return None };
    let [left, right] = root.operands[..] else { return None };
    let initial = *while_loop.operands.first()?;
    let start_of = |state_part: StatePart| integer(constant_at(instructions, initial, state_part)?);
    // A bound is a constant of the condition, or an element that the body passes on and that starts at a constant.
    let bound_of = |id: InstrId| match constant(condition, id) {
        Some(scalar) => integer(scalar),
        None => {
            let state_part = state_part(condition, id)?;
            (next(body, state_part)? == StateUpdate::Same).then(|| start_of(state_part))?
        }
    };
    let (counter, direction, bound) = match (bound_of(right), bound_of(left)) {
        (Some(bound), _) => (left, direction, bound),
        (None, Some(bound)) => (right, direction.swapped(), bound),
        (None, None) => return None,
    };
    let state_part = state_part(condition, counter)?;
    let StateUpdate::Moved(step) = next(body, state_part)? else { return None };
    let start = start_of(state_part)?;
    let element_type = condition.instructions[counter].shape.as_array()?.element_type;
    rounds(start, step, direction, bound, element_type)
}

/// How many times `start + k step` is in the relation to `bound`, for k = 0, 1, … until it is not.
fn rounds(start: i128, step: i128, direction: ComparisonDirection, bound: i128, ty: ElementType) -> Option<u64> {
    let first_past = |distance: i128, step: i128| {
        if distance <= 0 { Some(0) } else { (step > 0).then(|| (distance + step - 1) / step) }
    };
    let count = match direction {
        ComparisonDirection::Lt => first_past(bound - start, step)?,
        ComparisonDirection::Le => first_past(bound - start + 1, step)?,
        ComparisonDirection::Gt => first_past(start - bound, -step)?,
        ComparisonDirection::Ge => first_past(start - bound + 1, -step)?,
        ComparisonDirection::Ne if start == bound => 0,
        ComparisonDirection::Ne if step != 0 && (bound - start) % step == 0 => {
            Some((bound - start) / step).filter(|&k| k > 0)?
        }
        ComparisonDirection::Eq if start != bound => 0,
        ComparisonDirection::Eq if step != 0 => 1,
        _ => return None,
    };
    // Where the counter wraps around on the way, it is elsewhere.
    let last = start + step * count;
    let (least, greatest) = range(ty)?;
    ((least..=greatest).contains(&last) && (least..=greatest).contains(&start)).then(|| u64::try_from(count).ok())?
}

fn range(element_type: ElementType) -> Option<(i128, i128)> {
    let bits = element_type.bits();
    match () {
        () if element_type.is_signed() => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        () if element_type.is_unsigned() => Some((0, (1 << bits) - 1)),
        () => None,
    }
}

/// A part of the state of a loop: all of it, or one element.
type StatePart = Option<i64>;

/// The part of the state that an instruction of the condition or the body reads.
fn state_part(computation: &Computation, id: InstrId) -> Option<StatePart> {
    let instruction = &computation.instructions[id];
    match instruction.op {
        Op::Parameter { .. } => Some(None),
        Op::GetTupleElement { index } => {
            let of = &computation.instructions[instruction.operands[0]];
            matches!(of.op, Op::Parameter { .. }).then_some(Some(index))
        }
        _ => None,
    }
}

/// The update of a part of the state in one iteration.
#[derive(PartialEq, Eq)]
enum StateUpdate {
    Same,
    Moved(i128),
}

fn next(body: &Computation, of: StatePart) -> Option<StateUpdate> {
    let root = &body.instructions[body.root];
    let id = match of {
        None => body.root,
        Some(index) if root.op == Op::Tuple => root.operands[usize::try_from(index).ok()?],
        Some(_) => return None,
    };
    if state_part(body, id) == Some(of) {
        return Some(StateUpdate::Same);
    }
    let instruction = &body.instructions[id];
    let (Op::Binary(op), [left, right]) = (&instruction.op, &instruction.operands[..]) else { return None };
    let is_counter = |id: InstrId| state_part(body, id) == Some(of);
    match op {
        BinaryOp::Add if is_counter(*left) => Some(StateUpdate::Moved(integer(constant(body, *right)?)?)),
        BinaryOp::Add if is_counter(*right) => Some(StateUpdate::Moved(integer(constant(body, *left)?)?)),
        BinaryOp::Subtract if is_counter(*left) => Some(StateUpdate::Moved(-integer(constant(body, *right)?)?)),
        _ => None,
    }
}

fn constant(computation: &Computation, id: InstrId) -> Option<Scalar> {
    scalar(&computation.instructions[id])
}

fn scalar(instruction: &Instruction) -> Option<Scalar> {
    match &instruction.op {
        Op::Constant(literal) if instruction.shape.as_array()?.rank() == 0 => literal.data.get(0),
        _ => None,
    }
}

/// The constant at a part of a value.
fn constant_at(instructions: &Arena<InstrId, Instruction>, value: InstrId, state_part: StatePart) -> Option<Scalar> {
    let instruction = &instructions[value];
    match state_part {
        None => scalar(instruction),
        Some(index) if instruction.op == Op::Tuple => {
            scalar(&instructions[*instruction.operands.get(usize::try_from(index).ok()?)?])
        }
        Some(_) => None,
    }
}

fn integer(scalar: Scalar) -> Option<i128> {
    Some(match scalar {
        Scalar::S8(value) => value.into(),
        Scalar::S16(value) => value.into(),
        Scalar::S32(value) => value.into(),
        Scalar::S64(value) => value.into(),
        Scalar::U8(value) => value.into(),
        Scalar::U16(value) => value.into(),
        Scalar::U32(value) => value.into(),
        Scalar::U64(value) => value.into(),
        _ => return None,
    })
}
