//! Simplification of comparisons.

use super::array;
use super::filled::{filled_with, is_constant, splat};
use super::number::{is_discrete, number};
use super::range::range;
use crate::ir::{ComparisonDirection, ComparisonType, ElementType, Instruction, Op, UnaryOp};
use crate::passes::rebuild::{Rebuild, Rewrite, Rule};

pub(super) fn compare(
    rebuild: &mut Rebuild<'_>,
    candidate: &Instruction,
    direction: ComparisonDirection,
    order: Option<ComparisonType>,
) -> Option<Rule> {
    use ComparisonDirection::*;
    let &[a, b] = &candidate.operands[..] else { return None };
    let element_type = array(rebuild, a)?.element_type;
    if is_constant(rebuild, a) && !is_constant(rebuild, b) {
        let compare = Op::Compare { direction: swapped(direction), order };
        return Some(("c < x = x > c", Rewrite::Op(compare, vec![b, a])));
    }
    let is_total = is_discrete(element_type) || order == Some(ComparisonType::TotalOrder);
    if a == b && is_total {
        let holds = i8::from(matches!(direction, Eq | Ge | Le));
        return Some(("x = x, not(x < x)", filled_with(rebuild, candidate, holds)?));
    }
    if let Some((a, b)) = range(rebuild, a).zip(range(rebuild, b))
        && let Some(holds) = decided(direction, a, b)
    {
        return Some(("the ranges of a and b decide a < b", filled_with(rebuild, candidate, i8::from(holds))?));
    }
    if element_type == ElementType::Pred {
        let c = number(splat(rebuild, b)?).integer()? == 1;
        return match (direction, c) {
            (Eq, true) | (Ne, false) => Some(("(p = true) = p", Rewrite::Value(a))),
            (Eq, false) | (Ne, true) => Some(("(p = false) = not(p)", Rewrite::Op(Op::Unary(UnaryOp::Not), vec![a]))),
            _ => None,
        };
    }
    None
}

/// What the relation of any integers of two ranges is, if it is the same for all.
fn decided(direction: ComparisonDirection, a: (i128, i128), b: (i128, i128)) -> Option<bool> {
    use ComparisonDirection::*;
    let less = match () {
        () if a.1 < b.0 => Some(true),
        () if a.0 >= b.1 => Some(false),
        () => None,
    };
    let greater = match () {
        () if a.0 > b.1 => Some(true),
        () if a.1 <= b.0 => Some(false),
        () => None,
    };
    let equal = match (less, greater) {
        (Some(true), _) | (_, Some(true)) => Some(false),
        (Some(false), Some(false)) => Some(true),
        _ => None,
    };
    match direction {
        Eq => equal,
        Ne => equal.map(|equal| !equal),
        Lt => less,
        Ge => less.map(|less| !less),
        Gt => greater,
        Le => greater.map(|greater| !greater),
    }
}

/// The relation with its sides exchanged.
fn swapped(direction: ComparisonDirection) -> ComparisonDirection {
    use ComparisonDirection::*;
    match direction {
        Eq => Eq,
        Ne => Ne,
        Ge => Le,
        Gt => Lt,
        Le => Ge,
        Lt => Gt,
    }
}

/// The relation that holds exactly where this one does not. A NaN is neither less than a number nor not less.
pub(super) fn inverse(
    direction: ComparisonDirection,
    order: Option<ComparisonType>,
    element_type: ElementType,
) -> Option<ComparisonDirection> {
    use ComparisonDirection::*;
    let is_total = is_discrete(element_type) || order == Some(ComparisonType::TotalOrder);
    match direction {
        Eq => Some(Ne),
        Ne => Some(Eq),
        _ if !is_total => None,
        Ge => Some(Lt),
        Gt => Some(Le),
        Le => Some(Gt),
        Lt => Some(Ge),
    }
}
