//! Simplification of elementwise operations of two operands: neutral and absorbing elements, inverses, equal operands.

use super::filled::{filled_with, is_constant, is_constant_number, splat};
use super::laws::*;
use super::number::{Number, is_discrete, number};
use crate::ir::{BinaryOp, ElementType, InstrId, Instruction, Op, Scalar, Shape, UnaryOp};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn binary(rebuild: &mut Rebuild<'_>, candidate: &Instruction, op: BinaryOp) -> Option<Rule> {
    let &[a, b] = &candidate.operands[..] else { return None };
    let element_type = candidate.shape.as_array()?.element_type;
    if is_commutative(op) && !is_constant(rebuild, b) && is_constant_number(rebuild, a) {
        return Some(("c + x = x + c", Rewrite::Op(Op::Binary(op), vec![b, a])));
    }
    let (left, right) = (splat(rebuild, a), splat(rebuild, b));
    if right.is_some_and(|c| is_neutral(op, c)) {
        return Some((neutral_rule(op), Rewrite::Value(a)));
    }
    if right.is_some_and(|c| absorbs(op, c)) {
        return Some((absorbing_rule(op), Rewrite::Value(b)));
    }
    if left.is_some_and(|c| absorbs_from_the_left(op, c)) {
        return Some(("0 << x = 0, 0 % x = 0, 1 ^ x = 1", Rewrite::Value(a)));
    }
    if a == b
        && let Some(rule) = of_itself(rebuild, candidate, op, element_type)
    {
        return Some(rule);
    }
    if let Some(rule) = right.and_then(|c| with_constant(rebuild, candidate, op, c)) {
        return Some(rule);
    }
    if op == BinaryOp::Subtract && element_type.is_integer() && left.and_then(integer) == Some(0) {
        return Some(("0 - x = negate(x)", Rewrite::Op(Op::Unary(UnaryOp::Negate), vec![b])));
    }
    if is_discrete(element_type)
        && let Some(rule) = inverses(rebuild, candidate, op, [a, b]).or_else(|| absorption(rebuild, op, [a, b]))
    {
        return Some(rule);
    }
    constants_together(rebuild, candidate, op)
}

fn integer(scalar: Scalar) -> Option<i128> {
    number(scalar).integer()
}

fn neutral_rule(op: BinaryOp) -> &'static str {
    use BinaryOp::*;
    match op {
        Add => "x + 0 = x",
        Subtract => "x - 0 = x",
        Multiply => "x * 1 = x",
        Divide => "x / 1 = x",
        Power => "x ^ 1 = x",
        Maximum => "maximum(x, least) = x",
        Minimum => "minimum(x, greatest) = x",
        And => "x & 1…1 = x",
        Or => "x | 0 = x",
        Xor => "x xor 0 = x",
        ShiftLeft | ShiftRightArithmetic | ShiftRightLogical | Atan2 | Remainder => "x << 0 = x",
    }
}

fn absorbing_rule(op: BinaryOp) -> &'static str {
    use BinaryOp::*;
    match op {
        Multiply => "x * 0 = 0",
        And => "x & 0 = 0",
        Or => "x | 1…1 = 1…1",
        Maximum => "maximum(x, greatest) = greatest",
        Minimum => "minimum(x, least) = least",
        _ => "x or true = true",
    }
}

/// `x op x`.
fn of_itself(
    rebuild: &mut Rebuild<'_>,
    candidate: &Instruction,
    op: BinaryOp,
    element_type: ElementType,
) -> Option<Rule> {
    if is_idempotent(op, element_type) {
        return Some(("maximum(x, x) = x", Rewrite::Value(*candidate.operands.first()?)));
    }
    if is_discrete(element_type) && matches!(op, BinaryOp::Subtract | BinaryOp::Xor) {
        return Some(("x - x = 0", filled_with(rebuild, candidate, 0)?));
    }
    None
}

/// `x op c` for constants that are neither neutral nor absorbing.
fn with_constant(rebuild: &mut Rebuild<'_>, candidate: &Instruction, op: BinaryOp, c: Scalar) -> Option<Rule> {
    let x = *candidate.operands.first()?;
    let element_type = c.element_type();
    let of_x = |op: UnaryOp| Rewrite::Op(Op::Unary(op), vec![x]);
    match (op, number(c)) {
        (BinaryOp::Power, Number::Integer(0)) | (BinaryOp::Power, Number::Real(0.0)) => {
            Some(("x ^ 0 = 1", filled_with(rebuild, candidate, 1)?))
        }
        // The square of what has at most half the bits of f64 is exact before it is rounded.
        (BinaryOp::Power, Number::Integer(2)) => Some(("x ^ 2 = x * x", squared(x))),
        (BinaryOp::Power, Number::Real(2.0)) if element_type != ElementType::F64 => Some(("x ^ 2 = x * x", squared(x))),
        (BinaryOp::Remainder, Number::Integer(1 | -1)) => Some(("x % 1 = 0", filled_with(rebuild, candidate, 0)?)),
        (BinaryOp::Multiply | BinaryOp::Divide, Number::Integer(-1)) => {
            Some(("x * -1 = negate(x)", of_x(UnaryOp::Negate)))
        }
        (BinaryOp::Xor, Number::Integer(value)) if Some(value) == all_ones(element_type) => {
            Some(("x xor 1…1 = not(x)", of_x(UnaryOp::Not)))
        }
        _ => None,
    }
}

fn squared(x: InstrId) -> Rewrite {
    Rewrite::Op(Op::Binary(BinaryOp::Multiply), vec![x, x])
}

/// Operations of integers that undo each other.
fn inverses(rebuild: &mut Rebuild<'_>, candidate: &Instruction, op: BinaryOp, [a, b]: [InstrId; 2]) -> Option<Rule> {
    use BinaryOp::*;
    let unary = |id: InstrId, op: UnaryOp| match rebuild.get(id) {
        Instruction { op: Op::Unary(found), operands, .. } if *found == op => operands.first().copied(),
        _ => None,
    };
    let binary = |id: InstrId, op: BinaryOp| match rebuild.get(id) {
        Instruction { op: Op::Binary(found), operands, .. } if *found == op => Some((operands[0], operands[1])),
        _ => None,
    };
    let is_not = unary(a, UnaryOp::Not) == Some(b) || unary(b, UnaryOp::Not) == Some(a);
    let element_type = candidate.shape.as_array()?.element_type;
    match op {
        And if is_not => return Some(("x & not(x) = 0", filled_with(rebuild, candidate, 0)?)),
        Or | Xor if is_not => {
            let ones = if element_type == ElementType::Pred { 1 } else { -1 };
            return Some(("x | not(x) = 1…1", filled_with(rebuild, candidate, ones)?));
        }
        _ => {}
    }
    if op == Xor {
        for (a, b) in [(a, b), (b, a)] {
            match binary(a, Xor) {
                Some((x, y)) if y == b => return Some(("(x xor y) xor y = x", Rewrite::Value(x))),
                Some((y, x)) if y == b => return Some(("(x xor y) xor y = x", Rewrite::Value(x))),
                _ => {}
            }
        }
    }
    if !element_type.is_integer() {
        return None;
    }
    match op {
        Add => {
            for (a, b) in [(a, b), (b, a)] {
                match binary(a, Subtract) {
                    Some((x, y)) if y == b => return Some(("(x - y) + y = x", Rewrite::Value(x))),
                    _ => {}
                }
                if let Some(y) = unary(b, UnaryOp::Negate) {
                    return Some(("x + negate(y) = x - y", Rewrite::Op(Op::Binary(Subtract), vec![a, y])));
                }
            }
        }
        Subtract => {
            match binary(a, Add) {
                Some((x, y)) if y == b => return Some(("(x + y) - y = x", Rewrite::Value(x))),
                Some((y, x)) if y == b => return Some(("(x + y) - y = x", Rewrite::Value(x))),
                _ => {}
            }
            match binary(b, Subtract) {
                Some((x, y)) if x == a => return Some(("x - (x - y) = y", Rewrite::Value(y))),
                _ => {}
            }
            if let Some(y) = unary(b, UnaryOp::Negate) {
                return Some(("x - negate(y) = x + y", Rewrite::Op(Op::Binary(Add), vec![a, y])));
            }
        }
        _ => {}
    }
    None
}

/// `x & (x | y) = x` and `x & (x & y) = x & y`, also for the greater and the lesser of integers.
fn absorption(rebuild: &Rebuild<'_>, op: BinaryOp, [a, b]: [InstrId; 2]) -> Option<Rule> {
    use BinaryOp::*;
    let dual = match op {
        And => Or,
        Or => And,
        Maximum => Minimum,
        Minimum => Maximum,
        _ => return None,
    };
    for (x, other) in [(a, b), (b, a)] {
        let Instruction { op: Op::Binary(inner), operands, .. } = rebuild.get(other) else { continue };
        if !operands.contains(&x) {
            continue;
        }
        if *inner == op {
            return Some(("x & (x & y) = x & y", Rewrite::Value(other)));
        }
        if *inner == dual {
            return Some(("x & (x | y) = x", Rewrite::Value(x)));
        }
    }
    None
}

/// `(x op c) op d`, with the constants brought together.
fn constants_together(rebuild: &mut Rebuild<'_>, candidate: &Instruction, op: BinaryOp) -> Option<Rule> {
    let &[a, d] = &candidate.operands[..] else { return None };
    let shape = candidate.shape.as_array()?.clone();
    let inner = rebuild.get(a);
    let &[x, c] = &inner.operands[..] else { return None };
    if inner.op != Op::Binary(op) || !is_constant(rebuild, c) || !is_constant(rebuild, d) {
        return None;
    }
    if matches!(op, BinaryOp::Maximum | BinaryOp::Minimum) {
        let (c_value, d_value) = (splat(rebuild, c).map(number)?, splat(rebuild, d).map(number)?);
        if c_value.is_nan() || d_value.is_nan() {
            return None;
        }
        let order = match (c_value, d_value) {
            (Number::Integer(c), Number::Integer(d)) => c.cmp(&d),
            (Number::Real(c), Number::Real(d)) => c.total_cmp(&d),
            _ => return None,
        };
        let inner_suffices = if op == BinaryOp::Maximum { order.is_ge() } else { order.is_le() };
        let rewrite = if inner_suffices { Rewrite::Value(a) } else { Rewrite::Op(Op::Binary(op), vec![x, d]) };
        return Some(("maximum(maximum(x, c), d) = maximum(x, maximum(c, d))", rewrite));
    }
    if !is_exact(op, shape.element_type) || !rebuild.has_one_use(a) || is_constant(rebuild, x) {
        return None;
    }
    let together = rebuild.add(Shape::array(shape.element_type, shape.extents), Op::Binary(op), vec![c, d]);
    Some(("(x + c) + d = x + (c + d)", Rewrite::Op(Op::Binary(op), vec![x, together])))
}
