//! Methods of the computation builder, one for each common operation.

use super::ComputationBuilder;
use crate::diagnostic::Diagnostic;
use crate::ir::{
    BinaryOp, ComparisonDirection, ComputationId, ElementType, FusionKind, InstrId, Op, PadDimension, Shape,
    SliceDimension, Span, UnaryOp,
};
use crate::verify::code;

/// An instruction that was added, or the rule that it breaks.
type Added = Result<InstrId, Diagnostic>;

/// Each method fails as [`ComputationBuilder::add`] does.
impl ComputationBuilder<'_> {
    /// An elementwise operation of one array.
    pub fn unary(&mut self, op: UnaryOp, operand: InstrId) -> Added {
        self.add(Op::Unary(op), [operand])
    }

    /// An elementwise operation of two arrays of one type and the same extents.
    pub fn binary(&mut self, op: BinaryOp, left: InstrId, right: InstrId) -> Added {
        self.add(Op::Binary(op), [left, right])
    }

    /// The elementwise comparison of two arrays.
    pub fn compare(&mut self, direction: ComparisonDirection, left: InstrId, right: InstrId) -> Added {
        self.add(Op::Compare { direction, order: None }, [left, right])
    }

    /// The elements of `on_true` where `predicate` is true, else those of `on_false`.
    pub fn select(&mut self, predicate: InstrId, on_true: InstrId, on_false: InstrId) -> Added {
        self.add(Op::Select, [predicate, on_true, on_false])
    }

    /// The elements of `operand`, no less than those of `least` and no more than those of `most`.
    pub fn clamp(&mut self, least: InstrId, operand: InstrId, most: InstrId) -> Added {
        self.add(Op::Clamp, [least, operand, most])
    }

    /// Each element as another type.
    pub fn convert(&mut self, operand: InstrId, element_type: ElementType) -> Added {
        let shape = Shape::array(element_type, self.extents(operand)?);
        self.add_shaped(shape, Op::Convert, [operand])
    }

    /// The index along `dimension` as a number, for each index of an array of these extents.
    pub fn iota(&mut self, element_type: ElementType, extents: &[i64], dimension: i64) -> Added {
        self.add_shaped(Shape::array(element_type, extents), Op::Iota { dimension }, [])
    }

    /// The array repeated: its dimension `i` is dimension `dimensions[i]` of the result, which has these extents.
    pub fn broadcast(&mut self, operand: InstrId, extents: &[i64], dimensions: &[i64]) -> Added {
        let shape = Shape::array(self.element_type(operand)?, extents);
        self.add_shaped(shape, Op::Broadcast { dimensions: dimensions.to_vec() }, [operand])
    }

    /// An array of these extents whose elements are all the one of a scalar.
    pub fn splat(&mut self, scalar: InstrId, extents: &[i64]) -> Added {
        self.broadcast(scalar, extents, &[])
    }

    /// The same elements in row-major order under other extents.
    pub fn reshape(&mut self, operand: InstrId, extents: &[i64]) -> Added {
        let shape = Shape::array(self.element_type(operand)?, extents);
        self.add_shaped(shape, Op::Reshape, [operand])
    }

    /// The array with its dimensions in another order: dimension `i` of the result is dimension `permutation[i]` of it.
    pub fn transpose(&mut self, operand: InstrId, permutation: &[i64]) -> Added {
        self.add(Op::Transpose { permutation: permutation.to_vec() }, [operand])
    }

    /// The box of each dimension's `start..limit`, of which every `stride`-th index is taken.
    pub fn slice(&mut self, operand: InstrId, dimensions: &[SliceDimension]) -> Added {
        let extent = |it: &SliceDimension| {
            let length = it.limit.checked_sub(it.start)?;
            length.checked_add(it.stride.checked_sub(1)?)?.checked_div(it.stride)
        };
        let extents: Option<Vec<i64>> = dimensions.iter().map(extent).collect();
        let shape = Shape::array(self.element_type(operand)?, extents.unwrap_or_default());
        self.add_shaped(shape, Op::Slice { dimensions: dimensions.to_vec() }, [operand])
    }

    /// The array mirrored along some dimensions.
    pub fn reverse(&mut self, operand: InstrId, dimensions: &[i64]) -> Added {
        self.add(Op::Reverse { dimensions: dimensions.to_vec() }, [operand])
    }

    /// The array with a scalar around and between its elements.
    pub fn pad(&mut self, operand: InstrId, value: InstrId, padding: &[PadDimension]) -> Added {
        self.add(Op::Pad { padding: padding.to_vec() }, [operand, value])
    }

    /// The arrays one after the other along a dimension.
    pub fn concatenate(&mut self, operands: &[InstrId], dimension: i64) -> Added {
        self.add(Op::Concatenate { dimension }, operands)
    }

    /// The box of these extents that starts at the clamped indices, scalars, one for each dimension.
    pub fn dynamic_slice(&mut self, operand: InstrId, starts: &[InstrId], extents: &[i64]) -> Added {
        let shape = Shape::array(self.element_type(operand)?, extents);
        let op = Op::DynamicSlice { dynamic_slice_sizes: extents.to_vec() };
        self.add_shaped(shape, op, [&[operand], starts].concat())
    }

    /// The array with the box that starts at the clamped indices replaced by another array.
    pub fn dynamic_update_slice(&mut self, operand: InstrId, update: InstrId, starts: &[InstrId]) -> Added {
        let shape = self.shape_of(operand)?.without_layout();
        self.add_shaped(shape, Op::DynamicUpdateSlice, [&[operand, update], starts].concat())
    }

    /// The product of two matrices, or of a matrix and a vector: sums over the last dimension of the left operand and the
    /// first of the right one. Others are an [`Op::Dot`].
    pub fn matmul(&mut self, left: InstrId, right: InstrId) -> Added {
        let last = self.extents(left)?.len() as i64 - 1;
        let op = Op::Dot {
            lhs_batch_dims: Vec::new(),
            lhs_contracting_dims: vec![last],
            rhs_batch_dims: Vec::new(),
            rhs_contracting_dims: vec![0],
            operand_precision: Vec::new(),
            algorithm: None,
        };
        self.add(op, [left, right])
    }

    /// Arrays folded along `dimensions` with a computation that takes as many accumulators and elements.
    pub fn reduce(
        &mut self,
        operands: &[InstrId],
        init_values: &[InstrId],
        dimensions: &[i64],
        to_apply: ComputationId,
    ) -> Added {
        self.add(Op::Reduce { dimensions: dimensions.to_vec(), to_apply }, [operands, init_values].concat())
    }

    /// An array folded along `dimensions` with an operation of two scalars.
    pub fn reduce_by(&mut self, op: BinaryOp, operand: InstrId, init_value: InstrId, dimensions: &[i64]) -> Added {
        let scalar = Shape::scalar(self.element_type(operand)?);
        let mut region = self.callee(op.name());
        let (accumulator, element) = (region.parameter(scalar.clone()), region.parameter(scalar));
        let root = region.binary(op, accumulator, element)?;
        let to_apply = region.finish(root)?;
        self.reduce(&[operand], &[init_value], dimensions, to_apply)
    }

    /// Arrays sorted along a dimension by a comparator, which takes a pair of elements of each.
    pub fn sort(&mut self, operands: &[InstrId], dimension: i64, is_stable: bool, to_apply: ComputationId) -> Added {
        self.add(Op::Sort { dimension, is_stable, to_apply }, operands)
    }

    /// The values as one.
    pub fn tuple(&mut self, elements: &[InstrId]) -> Added {
        self.add(Op::Tuple, elements)
    }

    /// One element of a tuple.
    pub fn get_tuple_element(&mut self, tuple: InstrId, index: i64) -> Added {
        self.add(Op::GetTupleElement { index }, [tuple])
    }

    /// The value of a computation.
    pub fn call(&mut self, to_apply: ComputationId, operands: &[InstrId]) -> Added {
        self.add(Op::Call { to_apply }, operands)
    }

    /// The value of a computation that is to run as one kernel.
    pub fn fusion(&mut self, kind: FusionKind, calls: ComputationId, operands: &[InstrId]) -> Added {
        let shape = self.result_of(calls).map(Shape::without_layout);
        self.add_shaped(shape.unwrap_or(Shape::Tuple(Vec::new())), Op::fusion(kind, calls), operands)
    }

    /// `body` applied to a value as long as `condition` holds.
    pub fn while_loop(&mut self, condition: ComputationId, body: ComputationId, init: InstrId) -> Added {
        self.add(Op::While { condition, body }, [init])
    }

    /// The value of `on_true` or of `on_false`, each of its own operand.
    pub fn conditional(
        &mut self,
        predicate: InstrId,
        on_true: (ComputationId, InstrId),
        on_false: (ComputationId, InstrId),
    ) -> Added {
        let op = Op::Conditional { branches: vec![on_true.0, on_false.0], indexed: false };
        self.add(op, [predicate, on_true.1, on_false.1])
    }

    fn shape_of(&self, id: InstrId) -> Result<&Shape, Diagnostic> {
        let missing =
            || Diagnostic::new(code::OPERAND_ORDER, Span::default(), "the operand is not of this computation");
        self.instructions().get(id).map(|instruction| &instruction.shape).ok_or_else(missing)
    }

    fn element_type(&self, id: InstrId) -> Result<ElementType, Diagnostic> {
        // Of what is no array the rule of the operation speaks.
        Ok(self.shape_of(id)?.as_array().map_or(ElementType::Pred, |array| array.element_type))
    }

    fn extents(&self, id: InstrId) -> Result<Vec<i64>, Diagnostic> {
        Ok(self.shape_of(id)?.as_array().map_or_else(Vec::new, |array| array.extents.clone()))
    }
}
