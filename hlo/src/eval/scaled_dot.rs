//! `scaled-dot`: dot products of operands with scales.
//!
//! A scale goes with a block of elements: of as many along each dimension as go into the operand's extent for each scale; a
//! scalar scales the whole operand. Elements are multiplied by their scales in `f32`, or in `f64` where either is one.

use super::call::Call;
use super::dot::Factors;
use super::movement::{extents, row_major_strides};
use super::product::{accumulator, bytes_of, reader, rounded, zeros};
use super::scalar::Number;
use super::work::Stop;
use crate::ir::{ArrayShape, Data, ElementType, Op};

pub(super) fn scaled_dot(call: &Call<'_, '_>) -> Result<Data, Stop> {
    if call.operands.iter().any(|(shape, _)| shape.extents.contains(&0)) {
        return zeros(call.work(), call.result());
    }
    let _bytes = call.work().reserve(bytes_of::<f64>(call.data(0).len().unwrap_or(0)))?;
    let _more = call.work().reserve(bytes_of::<f64>(call.data(1).len().unwrap_or(0)))?;
    let (left, right) = (scaled(call, 0)?, scaled(call, 1)?);
    Factors::new(call.op(), (&left.0, &left.1), (&right.0, &right.1)).dot(call.work(), call.result())
}

/// Why an instruction with these operands is not evaluated.
pub(super) fn refusal(op: &Op, operands: &[&ArrayShape]) -> Option<&'static str> {
    let (Op::ScaledDot { .. }, [left, right, scales @ ..]) = (op, operands) else { return None };
    let fits = |operand: &ArrayShape, scale: &ArrayShape| {
        let blocks = |(&extent, &scales): (&i64, &i64)| extent == 0 || scales > 0 && extent % scales == 0;
        operand.extents.iter().zip(&scale.extents).all(blocks)
    };
    if !left.element_type.is_float() || !right.element_type.is_float() {
        return Some("is evaluated for floats");
    }
    let fit = [left, right].into_iter().zip(scales).all(|(operand, scale)| fits(operand, scale));
    (!fit)
        .then_some("is evaluated where each scale goes with as many elements, so that its extents divide the operand's")
}

/// An operand with its scales multiplied in.
fn scaled(call: &Call<'_, '_>, position: usize) -> Result<(ArrayShape, Data), Stop> {
    let (shape, scale) = (call.shape(position), call.shape(position + 2));
    let element_type = accumulator([shape.element_type, scale.element_type, ElementType::F32]);
    let (extents, scales) = (extents(shape), extents(scale));
    let strides = row_major_strides(&scales);
    let (read, read_scale) = (reader(shape.element_type), reader(scale.element_type));
    let data = rounded(call.work(), element_type, extents.iter().product(), &|number| {
        let (mut rest, mut at) = (number, 0);
        for dimension in (0..scales.len()).rev() {
            let index = rest % extents[dimension];
            rest /= extents[dimension];
            at += index / (extents[dimension] / scales[dimension]) * strides[dimension] as usize;
        }
        match (read(call.data(position), number), read_scale(call.data(position + 2), at)) {
            (Number::Real(element), Number::Real(scale)) => Number::Real(element * scale),
            _ => unreachable!("the operands of scaled dot products that are not floats are refused"),
        }
    })?;
    Ok((ArrayShape::new(element_type, shape.extents.clone()), data))
}
