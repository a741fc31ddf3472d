//! What the operations mean for one element; arrays and reductions both are built on this.

mod convert;
mod erf;
mod float;
mod pred;
mod signed;
mod unsigned;

pub(super) use convert::Element;

use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, UnaryOp};

/// A function of one element.
#[derive(Copy, Clone)]
pub(super) enum Unary {
    Pred(fn(bool) -> bool),
    S32(fn(i32) -> i32),
    U32(fn(u32) -> u32),
    F32(fn(f32) -> f32),
    /// A question about a number.
    Test(fn(f32) -> bool),
}

/// A function of two elements of one type.
#[derive(Copy, Clone)]
pub(super) enum Binary {
    Pred(fn(bool, bool) -> bool),
    S32(fn(i32, i32) -> i32),
    U32(fn(u32, u32) -> u32),
    F32(fn(f32, f32) -> f32),
}

/// A relation of two elements of one type.
#[derive(Copy, Clone)]
pub(super) enum Relation {
    Pred(fn(bool, bool) -> bool),
    S32(fn(i32, i32) -> bool),
    U32(fn(u32, u32) -> bool),
    F32(fn(f32, f32) -> bool),
}

/// What `op` does to an element, if it is defined for the type.
pub(super) fn unary(op: UnaryOp, element_type: ElementType) -> Option<Unary> {
    match (op, element_type) {
        (UnaryOp::IsFinite, ElementType::F32) => Some(Unary::Test(f32::is_finite)),
        (UnaryOp::Not, ElementType::Pred) => Some(Unary::Pred(|a| !a)),
        (_, ElementType::S32) => signed::unary(op).map(Unary::S32),
        (_, ElementType::U32) => unsigned::unary(op).map(Unary::U32),
        (_, ElementType::F32) => float::unary(op).map(Unary::F32),
        _ => None,
    }
}

/// What `op` does to two elements, if it is defined for the type.
pub(super) fn binary(op: BinaryOp, element_type: ElementType) -> Option<Binary> {
    match element_type {
        ElementType::Pred => pred::binary(op).map(Binary::Pred),
        ElementType::S32 => signed::binary(op).map(Binary::S32),
        ElementType::U32 => unsigned::binary(op).map(Binary::U32),
        ElementType::F32 => float::binary(op).map(Binary::F32),
        _ => None,
    }
}

/// The relation `compare` tests. Integers are ordered by their own type, whatever `order` says; the verifier sees to
/// it that the two agree.
pub(super) fn relation(
    direction: ComparisonDirection,
    order: Option<ComparisonType>,
    element_type: ElementType,
) -> Option<Relation> {
    match (element_type, order) {
        (ElementType::Pred, _) => Some(Relation::Pred(ordered(direction))),
        (ElementType::S32, _) => Some(Relation::S32(ordered(direction))),
        (ElementType::U32, _) => Some(Relation::U32(ordered(direction))),
        (ElementType::F32, Some(ComparisonType::TotalOrder)) => Some(Relation::F32(float::total_order(direction))),
        (ElementType::F32, _) => Some(Relation::F32(ordered(direction))),
        _ => None,
    }
}

/// The type's own order. Every relation of a NaN is false, but that it differs.
fn ordered<T: PartialOrd + Copy>(direction: ComparisonDirection) -> fn(T, T) -> bool {
    match direction {
        ComparisonDirection::Eq => |a, b| a == b,
        ComparisonDirection::Ne => |a, b| a != b,
        ComparisonDirection::Ge => |a, b| a >= b,
        ComparisonDirection::Gt => |a, b| a > b,
        ComparisonDirection::Le => |a, b| a <= b,
        ComparisonDirection::Lt => |a, b| a < b,
    }
}

impl Unary {
    /// The function on the bits of its element.
    pub(super) fn on_bits(self, a: u32) -> u32 {
        match self {
            Unary::Pred(f) => f(bool::from_bits(a)).to_bits(),
            Unary::S32(f) => f(i32::from_bits(a)).to_bits(),
            Unary::U32(f) => f(a),
            Unary::F32(f) => f(f32::from_bits(a)).to_bits(),
            Unary::Test(f) => f(f32::from_bits(a)).to_bits(),
        }
    }
}

impl Binary {
    /// The function on the bits of its elements.
    pub(super) fn on_bits(self, a: u32, b: u32) -> u32 {
        match self {
            Binary::Pred(f) => f(bool::from_bits(a), bool::from_bits(b)).to_bits(),
            Binary::S32(f) => f(i32::from_bits(a), i32::from_bits(b)).to_bits(),
            Binary::U32(f) => f(a, b),
            Binary::F32(f) => f(f32::from_bits(a), f32::from_bits(b)).to_bits(),
        }
    }
}

impl Relation {
    /// The relation of the elements with these bits.
    pub(super) fn on_bits(self, a: u32, b: u32) -> bool {
        match self {
            Relation::Pred(f) => f(bool::from_bits(a), bool::from_bits(b)),
            Relation::S32(f) => f(i32::from_bits(a), i32::from_bits(b)),
            Relation::U32(f) => f(a, b),
            Relation::F32(f) => f(f32::from_bits(a), f32::from_bits(b)),
        }
    }
}

#[cfg(test)]
mod tests;
