//! Evaluation of single operations without regions.

use super::value::show;
use super::{ErrorKind, Extents, Kind, MAX_LIST, MAX_RANK, ShapeError, Value};
use smallvec::{SmallVec, smallvec};

/// The values an operation defines; nearly always one.
pub(super) type Values = SmallVec<[Value; 1]>;

/// The message of a constraint that says nothing else. Constant, since an `assert` has a constant message.
pub(super) fn default_message(kind: &Kind) -> &'static str {
    match kind {
        Kind::Meet | Kind::CstrEq => "operands that must be equal differ",
        Kind::Broadcast | Kind::CstrBroadcastable => "shapes do not broadcast",
        _ => "a requirement does not hold",
    }
}

/// Applies the operation. Not for `reduce`, `if`, `assuming`, `call` and `attribute`, which need more than operands.
///
/// # Errors
/// What [`Kind`] says of each operation, in the words of `error` where there are some.
pub(super) fn apply(kind: &Kind, error: Option<&str>, operands: &[&Value]) -> Result<Values, ShapeError> {
    let failed =
        |kind: ErrorKind, usual: &dyn Fn() -> String| ShapeError::new(kind, error.map_or_else(usual, str::to_owned));
    let constraint = || failed(ErrorKind::Constraint, &|| default_message(kind).to_owned());
    let evidence = |holds: bool| Value::Witness((!holds).then(constraint));
    let value = match (kind, operands) {
        (Kind::ConstSize(size), _) => Value::Size(*size),
        (Kind::ConstShape(extents) | Kind::ConstSizes(extents), _) => Value::Extents(extents.clone()),
        (Kind::ConstBool(value), _) => Value::Bool(*value),
        (Kind::ConstWitness(holds), _) => evidence(*holds),
        (Kind::ShapeOf | Kind::ToExtentTensor, [shape]) => (*shape).clone(),
        (Kind::Rank, [Value::Extents(extents)]) => Value::Size(length(extents)),
        (Kind::GetExtent, [Value::Extents(extents), Value::Size(index)]) => {
            match usize::try_from(*index).ok().and_then(|index| extents.get(index)) {
                Some(&extent) => Value::Size(extent),
                None => {
                    let usual = || format!("index {index} is outside of {}", show(extents));
                    return Err(failed(ErrorKind::Index, &usual));
                }
            }
        }
        (Kind::SplitAt, [Value::Extents(extents), Value::Size(index)]) => {
            let from_start = if *index < 0 { index.checked_add(length(extents)) } else { Some(*index) };
            match from_start.and_then(|index| usize::try_from(index).ok()).filter(|&index| index <= extents.len()) {
                Some(index) => {
                    let (head, tail) = extents.split_at(index);
                    return Ok([head, tail].into_iter().map(|part| Value::Extents(part.into())).collect());
                }
                None => {
                    let usual = || format!("{} cannot be split at {index}", show(extents));
                    return Err(failed(ErrorKind::Index, &usual));
                }
            }
        }
        (Kind::Concat, lists) => {
            let mut all = Extents::new();
            for list in lists.iter().filter_map(|list| list.as_extents()) {
                all.extend_from_slice(list);
            }
            if all.len() > MAX_RANK {
                return Err(failed(ErrorKind::Limit, &|| format!("a list of {} extents is too long", all.len())));
            }
            Value::Extents(all)
        }
        (Kind::FromExtents | Kind::FromElements, sizes) => {
            let extents: Extents = sizes.iter().map(|size| as_size(size)).collect();
            match extents.iter().find(|&&extent| extent < 0 && *kind == Kind::FromExtents) {
                Some(extent) => return Err(failed(ErrorKind::NegativeExtent, &|| negative(*extent))),
                None => Value::Extents(extents),
            }
        }
        (Kind::FromExtentTensor, [Value::Extents(extents)]) => match extents.iter().find(|&&extent| extent < 0) {
            Some(extent) => return Err(failed(ErrorKind::NegativeExtent, &|| negative(*extent))),
            None => Value::Extents(extents.clone()),
        },
        (Kind::NumElements, [Value::Extents(extents)]) => match product(extents) {
            Some(count) => Value::Size(count),
            None => {
                let usual = || format!("{} has more elements than 64 bits count", show(extents));
                return Err(failed(ErrorKind::Overflow, &usual));
            }
        },
        (
            Kind::Add | Kind::Sub | Kind::Mul | Kind::Div | Kind::CeilDiv | Kind::Mod | Kind::Min | Kind::Max,
            [Value::Size(a), Value::Size(b)],
        ) => match arithmetic(kind, *a, *b) {
            Some(size) => Value::Size(size),
            None if *b == 0 && *kind != Kind::Add && *kind != Kind::Sub && *kind != Kind::Mul => {
                return Err(failed(ErrorKind::DivisionByZero, &|| format!("{a} is divided by 0")));
            }
            None => {
                let usual = || format!("{} of {a} and {b} does not fit 64 bits", kind.name());
                return Err(failed(ErrorKind::Overflow, &usual));
            }
        },
        (Kind::Eq | Kind::Ne | Kind::Lt | Kind::Le | Kind::Gt | Kind::Ge, [Value::Size(a), Value::Size(b)]) => {
            Value::Bool(compare(kind, *a, *b))
        }
        (Kind::Select, [Value::Bool(condition), on_true, on_false]) => {
            (*if *condition { on_true } else { on_false }).clone()
        }
        (Kind::And, all) => Value::Bool(all.iter().all(|value| **value == Value::Bool(true))),
        (Kind::Or, all) => Value::Bool(all.iter().any(|value| **value == Value::Bool(true))),
        (Kind::Not, [Value::Bool(value)]) => Value::Bool(!value),
        (Kind::ShapeEq, all) => Value::Bool(all_equal(all)),
        (Kind::IsBroadcastable, all) => Value::Bool(broadcast(all).is_some()),
        (Kind::Broadcast, all) => Value::Extents(broadcast(all).ok_or_else(constraint)?),
        (Kind::Meet, [first, ..]) if all_equal(operands) => (*first).clone(),
        (Kind::Require, [Value::Bool(true)]) => Value::Bool(true),
        (Kind::Assert, [Value::Bool(true)]) => return Ok(smallvec![]),
        (Kind::Meet | Kind::Require | Kind::Assert, _) => return Err(constraint()),
        (Kind::Any, [first, ..]) => (*first).clone(),
        (Kind::Length, [Value::Shapes(shapes)]) => Value::Size(length(shapes)),
        (Kind::GetShape, [Value::Shapes(shapes), Value::Size(index)]) => {
            match usize::try_from(*index).ok().and_then(|index| shapes.get(index)) {
                Some(shape) => Value::Extents(shape.clone()),
                None => {
                    let usual = || format!("there is no shape {index} in a list of {}", shapes.len());
                    return Err(failed(ErrorKind::Index, &usual));
                }
            }
        }
        (Kind::ListOf, shapes) => Value::Shapes(shapes.iter().filter_map(|s| s.as_extents().cloned()).collect()),
        (Kind::Append, [Value::Shapes(shapes), Value::Extents(shape)]) => {
            if shapes.len() >= MAX_RANK {
                return Err(failed(ErrorKind::Limit, &|| format!("a list of {} shapes is too long", shapes.len() + 1)));
            }
            Value::Shapes(shapes.iter().chain([shape]).cloned().collect())
        }
        (Kind::Repeat, [Value::Size(count), Value::Extents(shape)]) => {
            match usize::try_from(*count).ok().filter(|&count| count <= MAX_LIST) {
                Some(count) => Value::Shapes(vec![shape.clone(); count]),
                None => {
                    let usual = || format!("a shape cannot be repeated {count} times");
                    return Err(failed(ErrorKind::Limit, &usual));
                }
            }
        }
        (Kind::CstrEq, all) => evidence(all_equal(all)),
        (Kind::CstrBroadcastable, all) => evidence(broadcast(all).is_some()),
        (Kind::CstrRequire, [condition]) => evidence(**condition == Value::Bool(true)),
        (Kind::AssumingAll, all) => Value::Witness(all.iter().find_map(|witness| match witness {
            Value::Witness(failure) => failure.clone(),
            _ => None,
        })),
        _ => return Err(ShapeError::new(ErrorKind::Arguments, format!("{} has other operands", kind.name()))),
    };
    Ok(smallvec![value])
}

fn length<T>(list: &[T]) -> i64 {
    i64::try_from(list.len()).unwrap_or(i64::MAX)
}

fn as_size(value: &Value) -> i64 {
    match value {
        Value::Size(size) => *size,
        _ => 0,
    }
}

fn negative(extent: i64) -> String {
    format!("an extent would be {extent}, which is negative")
}

fn all_equal(values: &[&Value]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

/// The number of elements; 0 if an extent is, however long the others are.
fn product(extents: &[i64]) -> Option<i64> {
    if extents.contains(&0) {
        return Some(0);
    }
    extents.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent))
}

fn arithmetic(kind: &Kind, a: i64, b: i64) -> Option<i64> {
    match kind {
        Kind::Add => a.checked_add(b),
        Kind::Sub => a.checked_sub(b),
        Kind::Mul => a.checked_mul(b),
        Kind::Min => Some(a.min(b)),
        Kind::Max => Some(a.max(b)),
        Kind::Div => floor_div(a, b),
        // ceil(a / b) = floor(a / b) + 1 where b does not divide a.
        Kind::CeilDiv => floor_div(a, b)?.checked_add(i64::from(a.checked_rem(b)? != 0)),
        Kind::Mod => match a.checked_rem(b) {
            Some(rest) if rest != 0 && (rest < 0) != (b < 0) => Some(rest + b),
            Some(rest) => Some(rest),
            // i64::MIN has no quotient by -1, but the remainder is 0.
            None => (b == -1).then_some(0),
        },
        _ => None,
    }
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
}

pub(super) fn compare(kind: &Kind, a: i64, b: i64) -> bool {
    match kind {
        Kind::Eq => a == b,
        Kind::Ne => a != b,
        Kind::Lt => a < b,
        Kind::Le => a <= b,
        Kind::Gt => a > b,
        _ => a >= b,
    }
}

/// The common shape, if there is one.
fn broadcast(values: &[&Value]) -> Option<Extents> {
    let lists = || values.iter().filter_map(|value| value.as_extents());
    let rank = lists().map(|list| list.len()).max()?;
    let mut common: Extents = smallvec![1; rank];
    for list in lists() {
        for (have, &extent) in common[rank - list.len()..].iter_mut().zip(list) {
            match (*have, extent) {
                (have, extent) if have == extent || extent == 1 => {}
                (1, extent) => *have = extent,
                _ => return None,
            }
        }
    }
    Some(common)
}
