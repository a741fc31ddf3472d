//! Element semantics of unsigned integers.

use super::function::{of_one, of_two};
use super::integer::Unsigned;
use super::pred::ordered;
use super::signed::wrapping_power;
use super::{Binary, Number, Unary};
use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, UnaryOp};

pub(super) fn unary<T: Unsigned>(op: UnaryOp) -> Option<Unary<T>> {
    unary_of(op, T::BITS)
}

/// Of integers of so many bits, which may be less than their type has. The results are to be wrapped around.
pub(super) fn unary_of<T: Unsigned>(op: UnaryOp, bits: u32) -> Option<Unary<T>> {
    Some(match op {
        UnaryOp::CountLeadingZeros => of_one!(move |a: T| T::wrap(u64::from(a.wide().leading_zeros() + bits - 64))),
        UnaryOp::PopulationCount => of_one!(|a: T| T::wrap(u64::from(a.wide().count_ones()))),
        UnaryOp::Negate => of_one!(|a: T| T::wrap(a.wide().wrapping_neg())),
        UnaryOp::Not => of_one!(|a: T| T::wrap(!a.wide())),
        _ => return None,
    })
}

pub(super) fn binary<T: Unsigned>(op: BinaryOp) -> Option<Binary<T>> {
    binary_of(op, T::BITS)
}

/// As [`unary_of`], of two integers.
pub(super) fn binary_of<T: Unsigned>(op: BinaryOp, bits: u32) -> Option<Binary<T>> {
    Some(match op {
        BinaryOp::ShiftLeft => of_two!(move |a: T, by: T| match amount(by, bits) {
            Some(by) => T::wrap(a.wide() << by),
            None => T::wrap(0),
        }),
        // The highest bit counts as a sign.
        BinaryOp::ShiftRightArithmetic => of_two!(move |a: T, by: T| {
            let unused = 64 - bits;
            let signed = ((a.wide() << unused) as i64) >> unused;
            T::wrap((signed >> amount(by, bits).unwrap_or(63)) as u64)
        }),
        BinaryOp::ShiftRightLogical => of_two!(move |a: T, by: T| match amount(by, bits) {
            Some(by) => T::wrap(a.wide() >> by),
            None => T::wrap(0),
        }),
        BinaryOp::Add => of_two!(|a: T, b: T| T::wrap(a.wide().wrapping_add(b.wide()))),
        BinaryOp::And => of_two!(|a: T, b: T| T::wrap(a.wide() & b.wide())),
        BinaryOp::Divide => of_two!(|a: T, b: T| T::wrap(a.wide().checked_div(b.wide()).unwrap_or(u64::MAX))),
        BinaryOp::Maximum => of_two!(|a: T, b: T| a.max(b)),
        BinaryOp::Minimum => of_two!(|a: T, b: T| a.min(b)),
        BinaryOp::Multiply => of_two!(|a: T, b: T| T::wrap(a.wide().wrapping_mul(b.wide()))),
        BinaryOp::Or => of_two!(|a: T, b: T| T::wrap(a.wide() | b.wide())),
        BinaryOp::Power => of_two!(|a: T, b: T| T::wrap(wrapping_power(a.wide(), b.wide()))),
        BinaryOp::Remainder => of_two!(|a: T, b: T| T::wrap(a.wide().checked_rem(b.wide()).unwrap_or(a.wide()))),
        BinaryOp::Subtract => of_two!(|a: T, b: T| T::wrap(a.wide().wrapping_sub(b.wide()))),
        BinaryOp::Xor => of_two!(|a: T, b: T| T::wrap(a.wide() ^ b.wide())),
        _ => return None,
    })
}

pub(super) fn relation<T: Unsigned>(
    direction: ComparisonDirection,
    _: Option<ComparisonType>,
) -> Option<Binary<T, bool>> {
    Some(ordered(direction))
}

#[inline]
pub(super) fn number<T: Unsigned>(a: T) -> Number {
    Number::Integer(i128::from(a.wide()))
}

#[inline]
pub(super) fn of<T: Unsigned>(value: Number) -> T {
    T::wrap(value.unsigned(u64::MAX >> (64 - T::BITS)))
}

/// An amount to shift by that is less than the width.
#[inline]
fn amount<T: Unsigned>(by: T, bits: u32) -> Option<u32> {
    u32::try_from(by.wide()).ok().filter(|&by| by < bits)
}
