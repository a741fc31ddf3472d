//! Associative operations with a neutral element.

use weft_hlo::ir::{BinaryOp, Computation, ElementType, FloatFormat, InstrId, Op, Scalar};

/// The value that `op`, associative and commutative, combines with any other to this other; `None` for other operations, and for
/// element types that have no such value or that kernels do not have. Of sums of floats it is -0, since 0 + -0 is 0; 0 where a type has no other zero.
///
/// Sums and products of floats count as associative: HLO leaves the order of a reduction open.
pub fn identity(op: BinaryOp, element_type: ElementType) -> Option<Scalar> {
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    let bits = match element_type {
        // On pred a sum is "or", and a product "and".
        ElementType::Pred => match op {
            Add | Or | Xor | Maximum => 0,
            Multiply | And | Minimum => 1,
            _ => return None,
        },
        ElementType::F32 | ElementType::F64 => u128::from(of_float(op, element_type)?),
        // A complex sum is one of its parts.
        ElementType::C64 | ElementType::C128 if op == Add => {
            let part = if element_type == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            let bits = u128::from(of_float(op, part)?);
            bits | bits << part.bits()
        }
        _ => match FloatFormat::of(element_type) {
            Some(format) => u128::from(of_short_float(op, format)?),
            None if element_type.is_signed() || element_type.is_unsigned() => {
                let (all, top) = (u128::MAX >> (128 - element_type.bits()), 1 << (element_type.bits() - 1));
                match op {
                    Add | Or | Xor => 0,
                    Multiply => 1,
                    And => all,
                    Maximum => {
                        if element_type.is_signed() {
                            top
                        } else {
                            0
                        }
                    }
                    Minimum => {
                        if element_type.is_signed() {
                            all ^ top
                        } else {
                            all
                        }
                    }
                    _ => return None,
                }
            }
            None => return None,
        },
    };
    Some(Scalar::from_bits(bits, element_type))
}

/// The bits of that value of a float of 32 or 64 bits.
fn of_float(op: BinaryOp, element_type: ElementType) -> Option<u64> {
    let value = match op {
        BinaryOp::Add => -0.0,
        BinaryOp::Multiply => 1.0,
        BinaryOp::Maximum => f64::NEG_INFINITY,
        BinaryOp::Minimum => f64::INFINITY,
        _ => return None,
    };
    Some(if element_type == ElementType::F64 { value.to_bits() } else { u64::from((value as f32).to_bits()) })
}

/// The bits of that value of a float of at most 16 bits: some have no zero, no negative numbers or no infinity.
fn of_short_float(op: BinaryOp, format: FloatFormat) -> Option<u16> {
    let is_signed = format.sign() != 0;
    match op {
        BinaryOp::Add if format.has_negative_zero() => Some(format.sign()),
        BinaryOp::Add => (format.value(0) == 0.0).then_some(0),
        BinaryOp::Multiply => format.nearest(1.0).filter(|bits| format.value(*bits) == 1.0),
        BinaryOp::Maximum if is_signed => Some(format.infinity(true).unwrap_or(format.greatest() | format.sign())),
        BinaryOp::Minimum => Some(format.infinity(false).unwrap_or(format.greatest())),
        _ => None,
    }
}

/// The operation that an instruction of a region is, if it is just one of two of its parameters, in either order.
pub(crate) fn operation(region: &Computation, result: InstrId, parameters: (usize, usize)) -> Option<BinaryOp> {
    let root = &region.instructions[result];
    let (Op::Binary(op), [left, right]) = (&root.op, &root.operands[..]) else { return None };
    let number = |operand: &InstrId| match region.instructions[*operand].op {
        Op::Parameter { number } => usize::try_from(number).ok(),
        _ => None,
    };
    let pair = (number(left)?, number(right)?);
    (pair == parameters || (pair.1, pair.0) == parameters).then_some(*op)
}

#[cfg(test)]
mod tests {
    use super::identity;
    use weft_hlo::eval::evaluate;
    use weft_hlo::ir::{BinaryOp, ElementType, FloatFormat, Literal, Scalar};
    use weft_hlo::text::parse;

    fn is_nan(sample: Scalar) -> bool {
        match (sample, FloatFormat::of(sample.element_type())) {
            (Scalar::F32(value), _) => value.is_nan(),
            (Scalar::F64(value), _) => value.is_nan(),
            (Scalar::C64(value), _) => value.re.is_nan() || value.im.is_nan(),
            (Scalar::C128(value), _) => value.re.is_nan() || value.im.is_nan(),
            (_, Some(format)) => format.value(sample.bits() as u16).is_nan(),
            _ => false,
        }
    }

    /// The ends and the middle of a type, zeros, and some between; no NaN, which has many patterns.
    fn samples(element_type: ElementType) -> Vec<Scalar> {
        let part = if element_type.is_complex() { element_type.bits() / 2 } else { element_type.bits() };
        let top = 1u128 << (part - 1);
        let spread = (0..40u128).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> 64);
        let infinite = [0x7f80u128, 0x7c00, 0x7f80 << 16, 0x7ff0 << 48];
        let ends = [0, 1, 2, 9, top, top - 1, top + 1, top | (top - 1)].into_iter();
        let parts: Vec<u128> = ends.chain(infinite).flat_map(|bits| [bits, bits | top]).chain(spread).collect();
        let of_parts = |(low, high): (&u128, &u128)| {
            let low = low & (u128::MAX >> (128 - part));
            let bits = if element_type.is_complex() { low | high << part } else { low };
            Scalar::from_bits(bits, element_type)
        };
        parts.iter().zip(parts.iter().rev()).map(of_parts).filter(|sample| !is_nan(*sample)).collect()
    }

    #[test]
    fn neutral_elements_change_nothing() {
        let (mut checked, mut types) = (0, 0);
        for &element_type in ElementType::ALL {
            let before = checked;
            for &op in BinaryOp::ALL {
                let Some(neutral) = identity(op, element_type) else { continue };
                let (ty, name) = (element_type.name(), op.name());
                let text = format!(
                    "HloModule m\nENTRY e {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  \
                     ROOT r = {ty}[] {name}(a, b)\n}}\n"
                );
                let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
                for sample in samples(element_type) {
                    for pair in [[neutral, sample], [sample, neutral]] {
                        let result = evaluate(&module, &pair.map(Literal::scalar)).unwrap_or_else(|e| panic!("{e}"));
                        assert_eq!(result[0].data.get(0), Some(sample), "{name} of {pair:?}");
                        checked += 1;
                    }
                }
            }
            types += usize::from(checked > before);
        }
        assert!(checked > 1000 && types > 25, "{checked} of {types} types");
    }
}
