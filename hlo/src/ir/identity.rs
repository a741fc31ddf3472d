//! Neutral elements of associative operations.

use super::{BinaryOp, ElementType, FloatFormat, Scalar};

/// The value that `op`, associative and commutative, combines with any other to this other; `None` for other operations, and where a type has
/// no such value. Of sums of floats it is -0, since 0 + -0 is 0, and 0 in types without -0.
///
/// Sums and products of floats count as associative: HLO leaves the order of a reduction open. A product of complex numbers has no neutral
/// value, for 0 times an infinity is no number.
pub fn identity(op: BinaryOp, element_type: ElementType) -> Option<Scalar> {
    match element_type {
        ElementType::Pred => identity_of_pred(op),
        ElementType::C64 | ElementType::C128 => (op == BinaryOp::Add).then(|| negative_zeros(element_type)),
        _ if element_type.is_integer() => identity_of_integers(op, element_type),
        _ if element_type.is_float() => identity_of_floats(op, element_type),
        _ => None,
    }
}

/// On `pred` a sum is "or", and a product "and".
fn identity_of_pred(op: BinaryOp) -> Option<Scalar> {
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    match op {
        Add | Or | Xor | Maximum => Some(Scalar::Pred(false)),
        Multiply | And | Minimum => Some(Scalar::Pred(true)),
        _ => None,
    }
}

fn identity_of_integers(op: BinaryOp, element_type: ElementType) -> Option<Scalar> {
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    let all = u128::MAX >> (128 - element_type.bits());
    // All bits but the sign's.
    let greatest = if element_type.is_signed() { all >> 1 } else { all };
    let bits = match op {
        Add | Or | Xor => 0,
        Multiply => 1,
        And => all,
        Maximum => all ^ greatest,
        Minimum => greatest,
        _ => return None,
    };
    Some(Scalar::from_bits(bits, element_type))
}

fn identity_of_floats(op: BinaryOp, element_type: ElementType) -> Option<Scalar> {
    use BinaryOp::{Add, Maximum, Minimum, Multiply};
    let value = match op {
        Add => -0.0,
        Multiply => 1.0,
        Maximum => f64::NEG_INFINITY,
        Minimum => f64::INFINITY,
        _ => return None,
    };
    let Some(format) = FloatFormat::of(element_type) else {
        return match element_type {
            ElementType::F32 => Some(Scalar::F32(value as f32)),
            ElementType::F64 => Some(Scalar::F64(value)),
            _ => None,
        };
    };
    let greatest = f64::from(format.max());
    let bits = match op {
        // The least number that there is: of a type without a sign the one next to zero.
        Maximum => {
            format.infinity(true).or_else(|| format.nearest(-greatest)).or_else(|| format.nearest(f64::MIN_POSITIVE))
        }
        Minimum => format.infinity(false).or_else(|| format.nearest(greatest)),
        _ => format.nearest(value),
    };
    Some(Scalar::from_bits(u128::from(bits?), element_type))
}

/// The complex number of two negative zeros.
fn negative_zeros(element_type: ElementType) -> Scalar {
    let part = element_type.bits() / 2;
    Scalar::from_bits(1 << (part - 1) | 1 << (2 * part - 1), element_type)
}

#[cfg(test)]
mod tests {
    use super::identity;
    use crate::eval::evaluate;
    use crate::ir::{BinaryOp, Data, ElementType, FloatFormat, Literal, Scalar};
    use crate::text::parse;

    /// Elements of a type: all of a narrow one but NaNs, the ends and the middle of a wide one.
    fn samples(element_type: ElementType) -> Vec<Scalar> {
        match element_type {
            ElementType::Pred => [false, true].map(Scalar::Pred).to_vec(),
            ElementType::F32 => {
                [f32::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-30, 3.0, f32::INFINITY].map(Scalar::F32).to_vec()
            }
            ElementType::F64 => {
                [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 3.0, f64::INFINITY].map(Scalar::F64).to_vec()
            }
            ElementType::C64 | ElementType::C128 => {
                let (part, one) = if element_type == ElementType::C64 { (32, 0x3f80_0000) } else { (64, 0x3ff << 52) };
                let parts = [0, 1 << (part - 1), one, one | 1 << (part - 1)];
                let points = parts.iter().flat_map(|re| parts.iter().map(move |im| re | im << part));
                points.map(|bits: u128| Scalar::from_bits(bits, element_type)).collect()
            }
            _ if element_type.bits() <= 16 => {
                let is_number = |bits: u128| match FloatFormat::of(element_type) {
                    Some(format) => u16::try_from(bits).is_ok_and(|bits| !format.value(bits).is_nan()),
                    None => true,
                };
                let step = if element_type.bits() == 16 { 97 } else { 1 };
                let patterns = (0..1u128 << element_type.bits()).step_by(step).filter(|bits| is_number(*bits));
                patterns.map(|bits| Scalar::from_bits(bits, element_type)).collect()
            }
            _ => {
                let top = 1u128 << (element_type.bits() - 1);
                [0, 1, 9, top - 1, top, top + 1, 2 * top - 1].map(|bits| Scalar::from_bits(bits, element_type)).to_vec()
            }
        }
    }

    #[test]
    fn neutral_elements_change_nothing() {
        let mut checked = 0;
        for &element_type in ElementType::ALL {
            let samples = samples(element_type);
            for &op in BinaryOp::ALL {
                let Some(neutral) = identity(op, element_type) else { continue };
                let array = format!("{}[{}]", element_type.name(), samples.len());
                let text = format!(
                    "HloModule m\nENTRY e {{\n  a = {array} parameter(0)\n  b = {array} parameter(1)\n  \
                     c = {array} {op}(a, b)\n  d = {array} {op}(b, a)\n  ROOT r = ({array}, {array}) tuple(c, d)\n}}\n",
                    op = op.name()
                );
                let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
                let filled = Data::filled(neutral, samples.len());
                let mut given = filled.clone();
                for (position, sample) in samples.iter().enumerate() {
                    given.set(position, *sample);
                }
                let inputs = [given.clone(), filled].map(|data| Literal::array([samples.len() as i64], data));
                let results = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}\n{text}"));
                for result in results {
                    // Zeros of both signs differ in print.
                    assert_eq!(format!("{:?}", result.data), format!("{given:?}"), "{text}");
                    checked += samples.len();
                }
            }
        }
        assert!(checked > 10_000, "{checked}");
    }
}
