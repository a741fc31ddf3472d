//! Products of numbers of 8 bits, four at a time.

use super::{Emission, of_kernel};
use crate::elemental::zero;
use crate::emit::loops::sum_type;
use crate::emit::statements::Statements;
use crate::kernel::{Block, Known, Operand, ScalarOp};
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{BinaryOp, Computation, ElementType};
use weft_partition::{Factors, Product};

/// The type of the factors of products: that of sums, of words of four, or of matrices.
pub(super) fn factor_type(product: &Product, computation: &Computation, factors: &Factors) -> ElementType {
    match product.matrices {
        Some(matrix) => matrix.factor,
        None if product.packed.is_some() => ElementType::U32,
        None => sum_type(computation, factors.dot),
    }
}

impl Emission<'_> {
    /// Adds the products of the numbers in two words to a sum.
    pub(super) fn add_words(
        &mut self,
        packed: ElementType,
        operands: [Operand; 2],
        sum: Operand,
        block: &mut Block,
    ) -> Operand {
        let is_signed = packed.is_signed();
        let ty = if is_signed { ElementType::S32 } else { ElementType::U32 };
        let mut products = self.define(ty, ScalarOp::PackedDot { operands, is_signed }, "products", block);
        if ty != self.ty {
            products = self.define(self.ty, ScalarOp::Bitcast { operand: products, to: self.ty }, "products", block);
        }
        self.binary(BinaryOp::Add, [sum, products], "sum", block)
    }

    /// A word of four elements of the matrices of an operand, zeros behind the last.
    pub(super) fn word(
        &mut self,
        operand: usize,
        indices: &[Expr; 3],
        known: &Known,
        block: &mut Block,
    ) -> Result<Operand, Error> {
        let (function, along) = [(self.factors.lhs, 2), (self.factors.rhs, 1)][operand];
        let depth = self.functions[of_kernel(function)].extents[along];
        let zero = Operand::Constant(zero(self.ty));
        let mut operands = [zero; 4];
        for (place, element) in (0..).zip(&mut operands) {
            let mut own = indices.clone();
            own[along] = known.simplified(&own[along].checked_mul(4)?.checked_add_constant(place)?);
            // Words that there are have all four elements but for the last.
            let bounds = Interval::of_extent(depth);
            let within = [Constraint { expr: own[along].clone(), bounds }];
            let open = if depth % 4 == 0 { Vec::new() } else { known.open(&within) };
            let found = self.where_holds(open, ("element", vec![zero]), known, block, |this, _, known, block| {
                let own = this.factor_indices(operand, &own, known)?;
                Ok(vec![this.factor_at(operand, own, block)])
            })?;
            *element = found.first().copied().unwrap_or(zero);
        }
        Ok(self.define(ElementType::U32, ScalarOp::Pack { operands }, "word", block))
    }
}
