//! Associative operations with a neutral element.

use weft_hlo::ir::{BinaryOp, Computation, ElementType, InstrId, Op, Scalar};

/// The value that `op`, associative and commutative, combines with any other to this other; `None` for other operations, and for
/// element types that kernels do not have. Of sums of floats it is -0, since 0 + -0 is 0.
///
/// Sums and products of floats count as associative: HLO leaves the order of a reduction open.
pub fn identity(op: BinaryOp, element_type: ElementType) -> Option<Scalar> {
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    Some(match (element_type, op) {
        // On pred a sum is "or", and a product "and".
        (ElementType::Pred, Add | Or | Xor | Maximum) => Scalar::Pred(false),
        (ElementType::Pred, Multiply | And | Minimum) => Scalar::Pred(true),
        (ElementType::S32, Add | Or | Xor) => Scalar::S32(0),
        (ElementType::S32, Multiply) => Scalar::S32(1),
        (ElementType::S32, And) => Scalar::S32(-1),
        (ElementType::S32, Maximum) => Scalar::S32(i32::MIN),
        (ElementType::S32, Minimum) => Scalar::S32(i32::MAX),
        (ElementType::U32, Add | Or | Xor | Maximum) => Scalar::U32(0),
        (ElementType::U32, Multiply) => Scalar::U32(1),
        (ElementType::U32, And | Minimum) => Scalar::U32(u32::MAX),
        (ElementType::F32, Add) => Scalar::F32(-0.0),
        (ElementType::F32, Multiply) => Scalar::F32(1.0),
        (ElementType::F32, Maximum) => Scalar::F32(f32::NEG_INFINITY),
        (ElementType::F32, Minimum) => Scalar::F32(f32::INFINITY),
        _ => return None,
    })
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
    use weft_hlo::ir::{BinaryOp, ElementType, Literal, Scalar};
    use weft_hlo::text::parse;

    /// The ends and the middle of a type.
    fn samples(element_type: ElementType) -> Vec<Scalar> {
        match element_type {
            ElementType::Pred => [false, true].map(Scalar::Pred).to_vec(),
            ElementType::S32 => [i32::MIN, -7, -1, 0, 1, 9, i32::MAX].map(Scalar::S32).to_vec(),
            ElementType::U32 => [0, 1, 12, 1 << 31, u32::MAX].map(Scalar::U32).to_vec(),
            _ => [f32::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-30, 3.0, f32::INFINITY].map(Scalar::F32).to_vec(),
        }
    }

    #[test]
    fn neutral_elements_change_nothing() {
        let mut checked = 0;
        for element_type in [ElementType::Pred, ElementType::S32, ElementType::U32, ElementType::F32] {
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
                        let bits = |scalar| format!("{:?}", Literal::scalar(scalar).data);
                        assert_eq!(format!("{:?}", result[0].data), bits(sample), "{name} of {pair:?}");
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 100, "{checked}");
    }
}
