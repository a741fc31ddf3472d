//! Verifier rules for Fourier transforms and linear algebra.

use super::{Expected, Rule};
use crate::ir::{ElementType, FftType, TransposeKind};
use crate::verify::code;

pub(super) fn fft<'a>(rule: &mut Rule<'a>, kind: FftType) -> Option<Expected<'a>> {
    let [operand] = rule.arrays()?;
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
    rule.arrays::<1>()?;
    rule.typed(0, is_field, "a float or complex type");
    Some(Expected::Same(rule.operands[0]))
}

pub(super) fn triangular_solve<'a>(rule: &mut Rule<'a>, transpose: TransposeKind) -> Option<Expected<'a>> {
    rule.arrays::<2>()?;
    if rule.typed(0, is_field, "a float or complex type") {
        rule.typed_as(1, 0);
    }
    if transpose == TransposeKind::Invalid {
        rule.attribute("transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT".to_owned());
    }
    Some(Expected::Same(rule.operands[1]))
}

fn is_field(element_type: ElementType) -> bool {
    element_type.is_float() || element_type.is_complex()
}
