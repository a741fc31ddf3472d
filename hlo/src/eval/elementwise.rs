//! Operations that work element by element, on arrays.

use super::fill::{fill, map, zip};
use super::scalar::{self, Binary, Element, Relation, Unary};
use super::value::OutOfMemory;
use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, Data, ElementType, UnaryOp};

const DEFINED: &str = "the verifier has seen to it that the operation is defined for its operands";

pub(super) fn unary(op: UnaryOp, operand: &Data) -> Result<Data, OutOfMemory> {
    let function = operand.element_type().and_then(|element_type| scalar::unary(op, element_type)).expect(DEFINED);
    Ok(match (function, operand) {
        (Unary::Pred(f), Data::Pred(a)) => Data::Pred(map(a, f)?),
        (Unary::S32(f), Data::S32(a)) => Data::S32(map(a, f)?),
        (Unary::U32(f), Data::U32(a)) => Data::U32(map(a, f)?),
        (Unary::F32(f), Data::F32(a)) => Data::F32(map(a, f)?),
        (Unary::Test(f), Data::F32(a)) => Data::Pred(map(a, f)?),
        _ => unreachable!("{DEFINED}"),
    })
}

pub(super) fn binary(op: BinaryOp, left: &Data, right: &Data) -> Result<Data, OutOfMemory> {
    let function = left.element_type().and_then(|element_type| scalar::binary(op, element_type)).expect(DEFINED);
    Ok(match (function, left, right) {
        (Binary::Pred(f), Data::Pred(a), Data::Pred(b)) => Data::Pred(zip(a, b, f)?),
        (Binary::S32(f), Data::S32(a), Data::S32(b)) => Data::S32(zip(a, b, f)?),
        (Binary::U32(f), Data::U32(a), Data::U32(b)) => Data::U32(zip(a, b, f)?),
        (Binary::F32(f), Data::F32(a), Data::F32(b)) => Data::F32(zip(a, b, f)?),
        _ => unreachable!("{DEFINED}"),
    })
}

pub(super) fn compare(
    direction: ComparisonDirection,
    order: Option<ComparisonType>,
    left: &Data,
    right: &Data,
) -> Result<Data, OutOfMemory> {
    let relation =
        left.element_type().and_then(|element_type| scalar::relation(direction, order, element_type)).expect(DEFINED);
    Ok(Data::Pred(match (relation, left, right) {
        (Relation::Pred(f), Data::Pred(a), Data::Pred(b)) => zip(a, b, f)?,
        (Relation::S32(f), Data::S32(a), Data::S32(b)) => zip(a, b, f)?,
        (Relation::U32(f), Data::U32(a), Data::U32(b)) => zip(a, b, f)?,
        (Relation::F32(f), Data::F32(a), Data::F32(b)) => zip(a, b, f)?,
        _ => unreachable!("{DEFINED}"),
    }))
}

pub(super) fn convert(operand: &Data, target: ElementType) -> Result<Data, OutOfMemory> {
    match operand {
        Data::Pred(a) => convert_from(a, target),
        Data::S32(a) => convert_from(a, target),
        Data::U32(a) => convert_from(a, target),
        Data::F32(a) => convert_from(a, target),
        _ => unreachable!("{DEFINED}"),
    }
}

fn convert_from<T: Element>(a: &[T], target: ElementType) -> Result<Data, OutOfMemory> {
    Ok(match target {
        ElementType::Pred => Data::Pred(map(a, T::to_pred)?),
        ElementType::S32 => Data::S32(map(a, T::to_s32)?),
        ElementType::U32 => Data::U32(map(a, T::to_u32)?),
        ElementType::F32 => Data::F32(map(a, T::to_f32)?),
        _ => unreachable!("{DEFINED}"),
    })
}

/// The elements with the same bits, as another type of the same size.
pub(super) fn reinterpret(operand: &Data, target: ElementType) -> Result<Data, OutOfMemory> {
    match operand {
        Data::Pred(a) => reinterpret_from(a, target),
        Data::S32(a) => reinterpret_from(a, target),
        Data::U32(a) => reinterpret_from(a, target),
        Data::F32(a) => reinterpret_from(a, target),
        _ => unreachable!("{DEFINED}"),
    }
}

fn reinterpret_from<T: Element>(a: &[T], target: ElementType) -> Result<Data, OutOfMemory> {
    Ok(match target {
        ElementType::Pred => Data::Pred(map(a, |a| bool::from_bits(a.to_bits()))?),
        ElementType::S32 => Data::S32(map(a, |a| i32::from_bits(a.to_bits()))?),
        ElementType::U32 => Data::U32(map(a, T::to_bits)?),
        ElementType::F32 => Data::F32(map(a, |a| f32::from_bits(a.to_bits()))?),
        _ => unreachable!("{DEFINED}"),
    })
}

pub(super) fn select(condition: &Data, on_true: &Data, on_false: &Data) -> Result<Data, OutOfMemory> {
    let Data::Pred(condition) = condition else { unreachable!("{DEFINED}") };
    Ok(match (on_true, on_false) {
        (Data::Pred(a), Data::Pred(b)) => Data::Pred(choose(condition, a, b)?),
        (Data::S32(a), Data::S32(b)) => Data::S32(choose(condition, a, b)?),
        (Data::U32(a), Data::U32(b)) => Data::U32(choose(condition, a, b)?),
        (Data::F32(a), Data::F32(b)) => Data::F32(choose(condition, a, b)?),
        _ => unreachable!("{DEFINED}"),
    })
}

fn choose<T: Element>(condition: &[bool], a: &[T], b: &[T]) -> Result<Vec<T>, OutOfMemory> {
    Ok(fill(a.len(), |start, values| {
        for (offset, value) in values.iter_mut().enumerate() {
            let position = start + offset;
            *value = if at(condition, position) { a[position] } else { b[position] };
        }
    })?)
}

pub(super) fn clamp(low: &Data, operand: &Data, high: &Data) -> Result<Data, OutOfMemory> {
    let bounds = operand.element_type().and_then(|element_type| {
        let larger = scalar::binary(BinaryOp::Maximum, element_type)?;
        Some((larger, scalar::binary(BinaryOp::Minimum, element_type)?))
    });
    Ok(match (bounds.expect(DEFINED), low, operand, high) {
        ((Binary::Pred(max), Binary::Pred(min)), Data::Pred(low), Data::Pred(a), Data::Pred(high)) => {
            Data::Pred(between(low, a, high, max, min)?)
        }
        ((Binary::S32(max), Binary::S32(min)), Data::S32(low), Data::S32(a), Data::S32(high)) => {
            Data::S32(between(low, a, high, max, min)?)
        }
        ((Binary::U32(max), Binary::U32(min)), Data::U32(low), Data::U32(a), Data::U32(high)) => {
            Data::U32(between(low, a, high, max, min)?)
        }
        ((Binary::F32(max), Binary::F32(min)), Data::F32(low), Data::F32(a), Data::F32(high)) => {
            Data::F32(between(low, a, high, max, min)?)
        }
        _ => unreachable!("{DEFINED}"),
    })
}

/// `min(max(low, a), high)`: where the bounds cross, the upper one wins.
fn between<T: Element>(
    low: &[T],
    a: &[T],
    high: &[T],
    max: fn(T, T) -> T,
    min: fn(T, T) -> T,
) -> Result<Vec<T>, OutOfMemory> {
    Ok(fill(a.len(), |start, values| {
        for (offset, value) in values.iter_mut().enumerate() {
            let position = start + offset;
            *value = min(max(at(low, position), a[position]), at(high, position));
        }
    })?)
}

/// The element at `position` of an array, or of a scalar that stands for one.
fn at<T: Copy>(values: &[T], position: usize) -> T {
    if values.len() == 1 { values[0] } else { values[position] }
}
