//! Building operations on batches of matrices: arrays `[batch, rows, columns]`.

use crate::ir::{BinaryOp, ElementType, InstrId, Op, Precision, Scalar, Shape, UnaryOp};
use crate::passes::build::Build;
use num_complex::Complex;

/// The type that linear algebra of a type is computed in: floats narrower than `f32` in `f32`.
pub(super) fn working_type(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::F64 | ElementType::C64 | ElementType::C128 => element_type,
        _ => ElementType::F32,
    }
}

/// The type of the real parts of a working type.
pub(super) fn real_type(working: ElementType) -> ElementType {
    match working {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        real => real,
    }
}

/// What linear algebra on matrices takes besides what all passes do.
pub(super) trait Matrices: Build {
    /// The matrices of an array, whatever its batch dimensions, in the type to work in.
    fn matrices(&mut self, value: InstrId) -> InstrId {
        let shape = self.array(value).clone();
        let (outer, matrix) = shape.extents.split_at(shape.rank() - 2);
        let extents = [&[outer.iter().product()], matrix].concat();
        let value = self.reshaped(value, extents);
        self.converted(value, working_type(shape.element_type))
    }

    /// The number, in a working type; NaN is so in both parts.
    fn number(&mut self, working: ElementType, value: f64) -> InstrId {
        let imaginary = if value.is_nan() { value } else { 0.0 };
        self.scalar(match working {
            ElementType::F64 => Scalar::F64(value),
            ElementType::C64 => Scalar::C64(Complex::new(value as f32, imaginary as f32)),
            ElementType::C128 => Scalar::C128(Complex::new(value, imaginary)),
            _ => Scalar::F32(value as f32),
        })
    }

    /// The number everywhere.
    fn filled(&mut self, working: ElementType, value: f64, extents: &[i64]) -> InstrId {
        let number = self.number(working, value);
        self.broadcast(number, &[], extents.to_vec())
    }

    /// The conjugates; of real numbers themselves.
    fn conjugated(&mut self, value: InstrId) -> InstrId {
        let working = self.element_type(value);
        if !working.is_complex() {
            return value;
        }
        let real = self.like(value, real_type(working), Op::Real, vec![value]);
        let imaginary = self.like(value, real_type(working), Op::Imag, vec![value]);
        let opposite = self.unary(UnaryOp::Negate, imaginary);
        self.like(value, working, Op::Complex, vec![real, opposite])
    }

    /// Rows become columns.
    fn flipped(&mut self, matrices: InstrId) -> InstrId {
        self.transposed(matrices, &[0, 2, 1])
    }

    /// One number for each matrix, at every place of arrays of these extents.
    fn spread(&mut self, of_each: InstrId, extents: &[i64]) -> InstrId {
        let of_each = self.reshaped(of_each, vec![extents[0]]);
        self.broadcast(of_each, &[0], extents.to_vec())
    }

    /// `value - left * right`, where `summed` is the dimension of `right` that is summed over, as the last of `left` is.
    fn less_product(&mut self, value: InstrId, left: InstrId, right: InstrId, summed: i64) -> InstrId {
        let shape = Shape::Array(self.array(value).without_layout());
        let op = Op::Dot {
            lhs_batch_dims: vec![0],
            lhs_contracting_dims: vec![2],
            rhs_batch_dims: vec![0],
            rhs_contracting_dims: vec![summed],
            operand_precision: vec![Precision::Highest; 2],
            algorithm: None,
        };
        let product = self.add(shape, op, vec![left, right]);
        self.binary(BinaryOp::Subtract, value, product)
    }
}

impl<T: Build> Matrices for T {}
