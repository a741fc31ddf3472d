//! Fourier transforms and linear algebra.

use super::{Expected, Rule};
use crate::ir::{ArrayShape, ElementType, FftType, TransposeKind};
use crate::verify::code;

pub(super) fn fft<'a>(rule: &mut Rule<'a>, kind: FftType, lengths: &[i64]) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    if !(1..=3).contains(&lengths.len()) {
        rule.attribute(format!("fft_length must have 1, 2 or 3 entries and has {}", lengths.len()));
    } else if lengths.len() > operand.rank() {
        let (count, rank) = (lengths.len(), operand.rank());
        rule.attribute(format!("fft_length has {count} entries for an operand of rank {rank}"));
    }
    if let Some(length) = lengths.iter().find(|&&length| length < 0) {
        rule.attribute(format!("an entry of fft_length must be at least 0 and is {length}"));
    }
    let element_type = operand.element_type;
    let result = match (kind, element_type) {
        (FftType::Forward | FftType::Inverse, ElementType::C64 | ElementType::C128) => element_type,
        (FftType::RealForward, ElementType::F32) => ElementType::C64,
        (FftType::RealForward, ElementType::F64) => ElementType::C128,
        (FftType::RealInverse, ElementType::C64) => ElementType::F32,
        (FftType::RealInverse, ElementType::C128) => ElementType::F64,
        _ => {
            let wanted = if kind == FftType::RealForward { "f32 or f64" } else { "c64 or c128" };
            let message =
                format!("operand 0 of fft must be {wanted} for fft_type={} and is {element_type}", kind.name());
            rule.report(code::ELEMENT_TYPE, message);
            return None;
        }
    };
    Some(Expected::Array(result))
}

pub(super) fn cholesky<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
    rule.typed(0, is_field, "a float or complex type");
    matrices(rule, 0, operand);
    Some(Expected::Same(rule.operands[0]))
}

pub(super) fn triangular_solve<'a>(rule: &mut Rule<'a>, transpose: TransposeKind) -> Option<Expected<'a>> {
    let [a, b] = rule.arrays()?;
    if rule.typed(0, is_field, "a float or complex type") {
        rule.typed_as(1, 0);
    }
    if matrices(rule, 0, a) && matrices(rule, 1, b) {
        rule.ranked(1, a.rank(), " as operand 0");
    }
    if transpose == TransposeKind::Invalid {
        rule.attribute("transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT".to_owned());
    }
    Some(Expected::Same(rule.operands[1]))
}

fn is_field(element_type: ElementType) -> bool {
    element_type.is_float() || element_type.is_complex()
}

fn matrices(rule: &mut Rule<'_>, position: usize, operand: &ArrayShape) -> bool {
    if operand.rank() < 2 {
        let message = format!("operand {position} of {} must have rank 2 or more and is {operand}", rule.opcode());
        rule.refuse(code::EXTENTS, message);
    }
    operand.rank() >= 2
}
