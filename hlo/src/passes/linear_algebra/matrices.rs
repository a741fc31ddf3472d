//! Building operations on batches of matrices: arrays `[batch, rows, columns]`.

use crate::ir::{BinaryOp, ElementType, InstrId, Op, PadDimension, Precision, Scalar, Shape, SliceDimension, UnaryOp};
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

    /// The extents of matrices.
    fn extents(&self, matrices: InstrId) -> [i64; 3] {
        self.array(matrices).extents[..].try_into().expect("matrices have three dimensions")
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

    /// The number wherever another array has elements, in its type.
    fn filled_like(&mut self, like: InstrId, value: f64) -> InstrId {
        let shape = self.array(like).clone();
        self.filled(shape.element_type, value, &shape.extents)
    }

    /// The conjugates; of real numbers themselves.
    fn conjugated(&mut self, value: InstrId) -> InstrId {
        let working = self.element_type(value);
        if !working.is_complex() {
            return value;
        }
        let [real, imaginary] = self.parts(value);
        let opposite = self.unary(UnaryOp::Negate, imaginary);
        self.like(value, working, Op::Complex, vec![real, opposite])
    }

    /// Real and imaginary parts of complex numbers.
    fn parts(&mut self, value: InstrId) -> [InstrId; 2] {
        let real = real_type(self.element_type(value));
        [Op::Real, Op::Imag].map(|part| self.like(value, real, part, vec![value]))
    }

    /// The real parts.
    fn real(&mut self, value: InstrId) -> InstrId {
        match self.element_type(value) {
            complex if complex.is_complex() => self.parts(value)[0],
            _ => value,
        }
    }

    /// Real numbers in a working type.
    fn of_real(&mut self, working: ElementType, value: InstrId) -> InstrId {
        if !working.is_complex() {
            return value;
        }
        let nothing = self.filled_like(value, 0.0);
        self.like(value, working, Op::Complex, vec![value, nothing])
    }

    /// Numbers times real ones, or divided by them.
    fn scaled(&mut self, op: BinaryOp, value: InstrId, factor: InstrId) -> InstrId {
        let working = self.element_type(value);
        if !working.is_complex() {
            return self.binary(op, value, factor);
        }
        let parts = self.parts(value).map(|part| self.binary(op, part, factor));
        self.like(value, working, Op::Complex, parts.to_vec())
    }

    /// Absolute values.
    fn absolute(&mut self, value: InstrId) -> InstrId {
        self.like(value, real_type(self.element_type(value)), Op::Unary(UnaryOp::Abs), vec![value])
    }

    /// The squares of absolute values.
    fn squares(&mut self, value: InstrId) -> InstrId {
        if !self.element_type(value).is_complex() {
            return self.binary(BinaryOp::Multiply, value, value);
        }
        let [real, imaginary] = self.parts(value).map(|part| self.binary(BinaryOp::Multiply, part, part));
        self.binary(BinaryOp::Add, real, imaginary)
    }

    /// The sums of the parts' absolute values, by which LAPACK compares pivots.
    fn sizes(&mut self, value: InstrId) -> InstrId {
        if !self.element_type(value).is_complex() {
            return self.unary(UnaryOp::Abs, value);
        }
        let [real, imaginary] = self.parts(value).map(|part| self.unary(UnaryOp::Abs, part));
        self.binary(BinaryOp::Add, real, imaginary)
    }

    /// Rows become columns.
    fn flipped(&mut self, matrices: InstrId) -> InstrId {
        self.transposed(matrices, &[0, 2, 1])
    }

    /// Rows become columns, conjugated.
    fn adjoint(&mut self, matrices: InstrId) -> InstrId {
        let flipped = self.flipped(matrices);
        self.conjugated(flipped)
    }

    /// One number for each matrix, at every place of arrays of these extents.
    fn spread(&mut self, of_each: InstrId, extents: &[i64]) -> InstrId {
        let of_each = self.reshaped(of_each, vec![extents[0]]);
        self.broadcast(of_each, &[0], extents.to_vec())
    }

    /// The first of two arrays where `choice` is true of a matrix.
    fn selected_of_each(&mut self, choice: InstrId, first: InstrId, second: InstrId) -> InstrId {
        let extents = self.array(first).extents.clone();
        let choice = self.spread(choice, &extents);
        self.selected(choice, first, second)
    }

    /// The products of the matrices of a batch, by the dimension of each that is summed over; vectors `[batch, elements]` are
    /// allowed for one of them.
    fn product(&mut self, left: InstrId, right: InstrId, summed: [i64; 2]) -> InstrId {
        let rest = |value: InstrId, summed: i64| {
            let kept = (0..).zip(&self.array(value).extents).filter(|(at, _)| *at != 0 && *at != summed);
            kept.map(|(_, extent)| *extent).collect::<Vec<i64>>()
        };
        let batch = self.array(left).extents[0];
        let extents = [vec![batch], rest(left, summed[0]), rest(right, summed[1])].concat();
        let op = Op::Dot {
            lhs_batch_dims: vec![0],
            lhs_contracting_dims: vec![summed[0]],
            rhs_batch_dims: vec![0],
            rhs_contracting_dims: vec![summed[1]],
            operand_precision: vec![Precision::Highest; 2],
            algorithm: None,
        };
        self.add(Shape::array(self.element_type(left), extents), op, vec![left, right])
    }

    /// `value - left * right`, where `summed` is the dimension of `right` that is summed over, as the last of `left` is.
    fn less_product(&mut self, value: InstrId, left: InstrId, right: InstrId, summed: i64) -> InstrId {
        let product = self.product(left, right, [2, summed]);
        self.binary(BinaryOp::Subtract, value, product)
    }

    /// The array with zeros behind its elements, up to these extents.
    fn extended(&mut self, value: InstrId, extents: &[i64]) -> InstrId {
        let given = self.array(value).clone();
        if given.extents == extents {
            return value;
        }
        let behind = |(to, from): (&i64, &i64)| PadDimension { low: 0, high: to - from, interior: 0 };
        let padding = extents.iter().zip(&given.extents).map(behind).collect();
        let zero = match given.element_type {
            ElementType::S32 => self.scalar(Scalar::S32(0)),
            ElementType::S64 => self.scalar(Scalar::S64(0)),
            working => self.number(working, 0.0),
        };
        self.add(Shape::array(given.element_type, extents), Op::Pad { padding }, vec![value, zero])
    }

    /// The first elements, as many as these extents say.
    fn first(&mut self, value: InstrId, extents: &[i64]) -> InstrId {
        let given = self.array(value).clone();
        let starts = vec![0; extents.len()];
        if given.extents == extents {
            return value;
        }
        self.part(value, &starts, extents)
    }

    /// The box of these extents that starts at these places.
    fn part(&mut self, value: InstrId, starts: &[i64], extents: &[i64]) -> InstrId {
        let kept = |(start, extent): (&i64, &i64)| SliceDimension { start: *start, limit: start + extent, stride: 1 };
        let dimensions = starts.iter().zip(extents).map(kept).collect();
        self.add(Shape::array(self.element_type(value), extents), Op::Slice { dimensions }, vec![value])
    }

    /// Of each of a batch the lines across a dimension at its places: `[batch, count]` of them, or one, `[batch]`, of which the
    /// result does not have the dimension then.
    fn lines(&mut self, value: InstrId, places: InstrId, dimension: i64) -> InstrId {
        let (given, of_each) = (self.array(value).clone(), self.array(places).extents.clone());
        let mut slice_sizes = given.extents.clone();
        (slice_sizes[0], slice_sizes[dimension as usize]) = (1, 1);
        let mut extents = given.extents.clone();
        let offset_dims = match of_each[1..] {
            [count] => {
                extents[dimension as usize] = count;
                (1..given.rank() as i64).filter(|at| *at != dimension).collect()
            }
            _ => {
                extents.remove(dimension as usize);
                (1..given.rank() as i64 - 1).collect()
            }
        };
        let op = Op::Gather {
            offset_dims,
            collapsed_slice_dims: vec![dimension],
            start_index_map: vec![dimension],
            operand_batching_dims: vec![0],
            start_indices_batching_dims: vec![0],
            index_vector_dim: of_each.len() as i64,
            slice_sizes,
            indices_are_sorted: false,
        };
        self.add(Shape::array(given.element_type, extents), op, vec![value, places])
    }

    /// The lines across a dimension at places that are the same for all of a batch.
    fn lines_of_all(&mut self, value: InstrId, places: InstrId, dimension: i64) -> InstrId {
        let given = self.array(value).clone();
        let mut extents = given.extents.clone();
        extents[dimension as usize] = self.array(places).extents[0];
        let mut slice_sizes = given.extents.clone();
        slice_sizes[dimension as usize] = 1;
        let op = Op::Gather {
            offset_dims: (0..given.rank() as i64).filter(|at| *at != dimension).collect(),
            collapsed_slice_dims: vec![dimension],
            start_index_map: vec![dimension],
            operand_batching_dims: Vec::new(),
            start_indices_batching_dims: Vec::new(),
            index_vector_dim: 1,
            slice_sizes,
            indices_are_sorted: false,
        };
        self.add(Shape::array(given.element_type, extents), op, vec![value, places])
    }
}

impl<T: Build> Matrices for T {}
