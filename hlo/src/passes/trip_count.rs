//! Trip counts of while loops.

use std::rc::Rc;

use crate::ir::{
    Arena, BinaryOp, ComparisonDirection, Computation, ComputationId, ElementType, InstrId, Instruction, Op, Scalar,
};

/// The number of iterations of a `while`, where it follows from its text: a counter that starts at a constant, moves by
/// a constant and is compared with a constant, whether it is the whole state or one element of it, directly or within fusions and calls.
/// `instructions` holds the loop and its initial state.
///
/// `None` where it does not follow, among others where the counter would leave its type.
pub fn trip_count(
    computations: &Arena<ComputationId, Computation>,
    instructions: &Arena<InstrId, Instruction>,
    while_loop: &Instruction,
) -> Option<u64> {
    let Op::While { condition, body } = while_loop.op else { return None };
    let (condition, body) = (&computations[condition], &computations[body]);
    let sight = |at| Sight { computations, at, outer: None };
    let (started, body_root, body) = (sight(instructions), body.root, sight(&body.instructions));
    let (tested, root) = sight(&condition.instructions).seen(condition.root);
    let Op::Compare { direction, .. } = tested.at[root].op else { return None };
    let [left, right] = tested.at[root].operands[..] else { return None };
    let initial = *while_loop.operands.first()?;
    let start_of = |state_part: StatePart| integer(constant_at(&started, initial, state_part)?);
    // A bound is a constant of the condition, or an element that the body passes on and that starts at a constant.
    let bound_of = |id: InstrId| match tested.constant(id) {
        Some(scalar) => integer(scalar),
        None => {
            let state_part = tested.state_part(id)?;
            (next(&body, body_root, state_part)? == StateUpdate::Same).then(|| start_of(state_part))?
        }
    };
    let (counter, direction, bound) = match (bound_of(right), bound_of(left)) {
        (Some(bound), _) => (left, direction, bound),
        (None, Some(bound)) => (right, direction.swapped(), bound),
        (None, None) => return None,
    };
    let state_part = tested.state_part(counter)?;
    let StateUpdate::Moved(step) = next(&body, body_root, state_part)? else { return None };
    let start = start_of(state_part)?;
    let element_type = tested.at[counter].shape.as_array()?.element_type;
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

/// Instructions, seen from within a computation that others call.
#[derive(Clone)]
struct Sight<'m> {
    computations: &'m Arena<ComputationId, Computation>,
    at: &'m Arena<InstrId, Instruction>,
    /// From where the computation is called, and the operands that it is given there.
    outer: Option<Rc<(Sight<'m>, &'m [InstrId])>>,
}

impl<'m> Sight<'m> {
    /// Where the value of an instruction comes from, looked for through copies, fusions and calls of arrays.
    fn seen(&self, id: InstrId) -> (Sight<'m>, InstrId) {
        let (mut sight, mut id) = (self.clone(), id);
        loop {
            let instruction = &sight.at[id];
            let is_array = instruction.shape.as_array().is_some();
            match (&instruction.op, instruction.operands.as_slice()) {
                (Op::Copy, [operand]) => id = *operand,
                (Op::Fusion { calls: callee, .. } | Op::Call { to_apply: callee }, operands) if is_array => {
                    let callee = &sight.computations[*callee];
                    let outer = Some(Rc::new((sight.clone(), operands)));
                    sight = Sight { at: &callee.instructions, outer, ..sight };
                    id = callee.root;
                }
                (Op::Parameter { number }, _) => {
                    let Some(outer) = sight.outer.clone() else { return (sight, id) };
                    let operand = usize::try_from(*number).ok().and_then(|number| outer.1.get(number));
                    let Some(operand) = operand else { return (sight, id) };
                    (sight, id) = (outer.0.clone(), *operand);
                }
                _ => return (sight, id),
            }
        }
    }

    /// The part of the state that an instruction of the condition or the body reads.
    fn state_part(&self, id: InstrId) -> Option<StatePart> {
        let (sight, id) = self.seen(id);
        let instruction = &sight.at[id];
        match instruction.op {
            Op::Parameter { .. } => Some(None),
            Op::GetTupleElement { index } => {
                let (sight, of) = sight.seen(instruction.operands[0]);
                matches!(sight.at[of].op, Op::Parameter { .. }).then_some(Some(index))
            }
            _ => None,
        }
    }

    fn constant(&self, id: InstrId) -> Option<Scalar> {
        let (sight, id) = self.seen(id);
        let instruction = &sight.at[id];
        match &instruction.op {
            Op::Constant(literal) if instruction.shape.as_array()?.rank() == 0 => literal.data.get(0),
            _ => None,
        }
    }
}

/// The update of a part of the state in one iteration.
#[derive(PartialEq, Eq)]
enum StateUpdate {
    Same,
    Moved(i128),
}

fn next(body: &Sight<'_>, root: InstrId, of: StatePart) -> Option<StateUpdate> {
    let instruction = &body.at[root];
    let id = match of {
        None => root,
        Some(index) if instruction.op == Op::Tuple => instruction.operands[usize::try_from(index).ok()?],
        Some(_) => return None,
    };
    if body.state_part(id) == Some(of) {
        return Some(StateUpdate::Same);
    }
    let (sight, id) = body.seen(id);
    let instruction = &sight.at[id];
    let (Op::Binary(op), [left, right]) = (&instruction.op, &instruction.operands[..]) else { return None };
    let is_counter = |id: InstrId| sight.state_part(id) == Some(of);
    match op {
        BinaryOp::Add if is_counter(*left) => Some(StateUpdate::Moved(integer(sight.constant(*right)?)?)),
        BinaryOp::Add if is_counter(*right) => Some(StateUpdate::Moved(integer(sight.constant(*left)?)?)),
        BinaryOp::Subtract if is_counter(*left) => Some(StateUpdate::Moved(-integer(sight.constant(*right)?)?)),
        _ => None,
    }
}

/// The constant at a part of a value.
fn constant_at(sight: &Sight<'_>, value: InstrId, state_part: StatePart) -> Option<Scalar> {
    let instruction = &sight.at[value];
    match state_part {
        None => sight.constant(value),
        Some(index) if instruction.op == Op::Tuple => {
            sight.constant(*instruction.operands.get(usize::try_from(index).ok()?)?)
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
