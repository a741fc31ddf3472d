//! Sums of products in words of their own, where their results share words.

use super::build::Build;
use super::pass::Rewritten;
use super::rebuild::{Rewrite, rewrite_meant};
use crate::ir::{Computation, ElementType, FloatFormat, InstrId, Module, Op, Shape};

/// Gives the dots and convolutions that `is_meant` names results of 32 bits, which are converted then: `f32` where an operand or the result are floats, else `s32` or `u32`. As products are added up in
/// these types, or modulo a power of two, results are the same to the bit. Results of 32 bits and more stay as they are, and so do those of `pred` and of operands of `pred` or of more than 32 bits.
pub fn widen_products(module: &Module, is_meant: &dyn Fn(&Computation, InstrId) -> bool) -> Rewritten {
    let is_meant = |computation: &Computation, id: InstrId| {
        matches!(computation.instructions[id].op, Op::Dot { .. } | Op::Convolution { .. }) && is_meant(computation, id)
    };
    rewrite_meant(module, &is_meant, &|rebuild, candidate| {
        let array = candidate.shape.as_array().filter(|array| array.dynamic.is_empty())?;
        let operands = candidate.operands.iter().map(|operand| rebuild.array(*operand).element_type);
        let types: Vec<ElementType> = operands.chain([array.element_type]).collect();
        let shape = Shape::array(sum_type(&types)?, array.extents.clone());
        let wide = rebuild.add(shape, candidate.op.clone(), candidate.operands.clone());
        Some(("sums of products have words of their own first", Rewrite::Op(Op::Convert, vec![wide])))
    })
}

/// The type of 32 bits in which products of these types are added up, the result's last; `None` where that is another.
fn sum_type(types: &[ElementType]) -> Option<ElementType> {
    let is_narrow = |ty: &ElementType| FloatFormat::of(*ty).is_some();
    let result = types.last().filter(|ty| ty.bits() < 32)?;
    if types.iter().any(|ty| ty.bits() > 32 || *ty == ElementType::Pred) {
        return None;
    }
    match result {
        _ if types.iter().any(|ty| *ty == ElementType::F32 || is_narrow(ty)) => Some(ElementType::F32),
        _ if result.is_signed() => Some(ElementType::S32),
        _ => Some(ElementType::U32),
    }
}
