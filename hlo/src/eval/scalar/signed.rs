//! Element semantics of signed integers, in two's complement.

use super::function::{of_one, of_two};
use super::integer::Signed;
use super::pred::ordered;
use super::{Binary, Number, Unary};
use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, UnaryOp};

pub(super) fn unary<T: Signed>(op: UnaryOp) -> Option<Unary<T>> {
    unary_of(op, T::BITS)
}

/// Of integers of so many bits, which may be less than their type has. The results are to be wrapped around.
pub(super) fn unary_of<T: Signed>(op: UnaryOp, bits: u32) -> Option<Unary<T>> {
    Some(match op {
        UnaryOp::CountLeadingZeros => {
            of_one!(move |a: T| T::wrap(i64::from(pattern(a, bits).leading_zeros() + bits - 64)))
        }
        UnaryOp::PopulationCount => of_one!(move |a: T| T::wrap(i64::from(pattern(a, bits).count_ones()))),
        UnaryOp::Abs => of_one!(|a: T| T::wrap(a.wide().wrapping_abs())),
        UnaryOp::Negate => of_one!(|a: T| T::wrap(a.wide().wrapping_neg())),
        UnaryOp::Not => of_one!(|a: T| T::wrap(!a.wide())),
        UnaryOp::Sign => of_one!(|a: T| T::wrap(a.wide().signum())),
        _ => return None,
    })
}

pub(super) fn binary<T: Signed>(op: BinaryOp) -> Option<Binary<T>> {
    binary_of(op, T::BITS)
}

/// As [`unary_of`], of two integers.
pub(super) fn binary_of<T: Signed>(op: BinaryOp, bits: u32) -> Option<Binary<T>> {
    Some(match op {
        // A negative amount is, as XLA reads it, a large one.
        BinaryOp::ShiftLeft => of_two!(move |a: T, by: T| match amount(by, bits) {
            Some(by) => T::wrap(a.wide() << by),
            None => T::wrap(0),
        }),
        BinaryOp::ShiftRightArithmetic => {
            of_two!(move |a: T, by: T| T::wrap(a.wide() >> amount(by, bits).unwrap_or(63)))
        }
        BinaryOp::ShiftRightLogical => of_two!(move |a: T, by: T| match amount(by, bits) {
            Some(by) => T::wrap((pattern(a, bits) >> by) as i64),
            None => T::wrap(0),
        }),
        BinaryOp::Add => of_two!(|a: T, b: T| T::wrap(a.wide().wrapping_add(b.wide()))),
        BinaryOp::And => of_two!(|a: T, b: T| T::wrap(a.wide() & b.wide())),
        BinaryOp::Divide => of_two!(|a: T, b: T| T::wrap(match b.wide() {
            0 => -1,
            b => a.wide().wrapping_div(b),
        })),
        BinaryOp::Maximum => of_two!(|a: T, b: T| a.max(b)),
        BinaryOp::Minimum => of_two!(|a: T, b: T| a.min(b)),
        BinaryOp::Multiply => of_two!(|a: T, b: T| T::wrap(a.wide().wrapping_mul(b.wide()))),
        BinaryOp::Or => of_two!(|a: T, b: T| T::wrap(a.wide() | b.wide())),
        BinaryOp::Power => of_two!(|a: T, b: T| T::wrap(power(a.wide(), b.wide()))),
        BinaryOp::Remainder => of_two!(|a: T, b: T| T::wrap(match b.wide() {
            0 => a.wide(),
            b => a.wide().wrapping_rem(b),
        })),
        BinaryOp::Subtract => of_two!(|a: T, b: T| T::wrap(a.wide().wrapping_sub(b.wide()))),
        BinaryOp::Xor => of_two!(|a: T, b: T| T::wrap(a.wide() ^ b.wide())),
        _ => return None,
    })
}

pub(super) fn relation<T: Signed>(
    direction: ComparisonDirection,
    _: Option<ComparisonType>,
) -> Option<Binary<T, bool>> {
    Some(ordered(direction))
}

#[inline]
pub(super) fn number<T: Signed>(a: T) -> Number {
    Number::Integer(i128::from(a.wide()))
}

#[inline]
pub(super) fn of<T: Signed>(value: Number) -> T {
    let unused = 64 - T::BITS;
    T::wrap(value.signed(i64::MIN >> unused, i64::MAX >> unused))
}

/// The bits of the type, without copies of the sign above them.
#[inline]
fn pattern<T: Signed>(a: T, bits: u32) -> u64 {
    a.wide() as u64 & (u64::MAX >> (64 - bits))
}

/// An amount to shift by that is less than the width.
#[inline]
fn amount<T: Signed>(by: T, bits: u32) -> Option<u32> {
    u32::try_from(by.wide()).ok().filter(|&by| by < bits)
}

/// Wraps around. A negative exponent gives 0, unless the base is its own inverse.
fn power(base: i64, exponent: i64) -> i64 {
    match (u64::try_from(exponent), base) {
        (Ok(exponent), _) => wrapping_power(base as u64, exponent) as i64,
        (Err(_), 1) => 1,
        (Err(_), -1) => 1 - 2 * (exponent & 1),
        (Err(_), _) => 0,
    }
}

/// By squaring, modulo 2^64.
pub(super) fn wrapping_power(mut base: u64, mut exponent: u64) -> u64 {
    let mut power = 1u64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    power
}
