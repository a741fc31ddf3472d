//! Complex numbers as arrays of their real and their imaginary parts.

use crate::ir::{BinaryOp, ElementType, InstrId, Op, Scalar, Shape, SliceDimension, UnaryOp};
use crate::passes::build::Build;
use crate::passes::rebuild::Rebuild;

/// Complex numbers; without imaginary parts where they are all 0.
#[derive(Copy, Clone)]
pub(super) struct Parts {
    pub(super) re: InstrId,
    pub(super) im: Option<InstrId>,
}

/// Zeros.
pub(super) fn zero(rebuild: &mut Rebuild<'_>, real: ElementType, extents: Vec<i64>) -> InstrId {
    let zero = rebuild.scalar(match real {
        ElementType::F64 => Scalar::F64(0.0),
        _ => Scalar::F32(0.0),
    });
    rebuild.broadcast(zero, &[], extents)
}

/// Those along a dimension from `start` on to `limit`, every `stride`th.
pub(super) fn sliced(
    rebuild: &mut Rebuild<'_>,
    value: InstrId,
    dimension: usize,
    (start, limit, stride): (i64, i64, i64),
) -> InstrId {
    let shape = rebuild.array(value).clone();
    if (start, limit, stride) == (0, shape.extents[dimension], 1) {
        return value;
    }
    let whole = |extent: &i64| SliceDimension { start: 0, limit: *extent, stride: 1 };
    let mut dimensions: Vec<SliceDimension> = shape.extents.iter().map(whole).collect();
    dimensions[dimension] = SliceDimension { start, limit, stride };
    let mut extents = shape.extents;
    extents[dimension] = (limit - start + stride - 1) / stride;
    rebuild.add(Shape::array(shape.element_type, extents), Op::Slice { dimensions }, vec![value])
}

impl Parts {
    /// The parts of an array of real or complex numbers.
    pub(super) fn of(rebuild: &mut Rebuild<'_>, value: InstrId) -> Self {
        let given = rebuild.element_type(value);
        match super::real_type(given) {
            Some(real) if given.is_complex() => {
                let re = rebuild.like(value, real, Op::Real, vec![value]);
                let im = rebuild.like(value, real, Op::Imag, vec![value]);
                Parts { re, im: Some(im) }
            }
            _ => Parts { re: value, im: None },
        }
    }

    /// Complex numbers of this type.
    pub(super) fn together(self, rebuild: &mut Rebuild<'_>, complex: ElementType) -> InstrId {
        let im = self.imaginary(rebuild);
        rebuild.like(self.re, complex, Op::Complex, vec![self.re, im])
    }

    /// The imaginary parts, also where they are all 0.
    pub(super) fn imaginary(self, rebuild: &mut Rebuild<'_>) -> InstrId {
        let shape = rebuild.array(self.re).clone();
        self.im.unwrap_or_else(|| zero(rebuild, shape.element_type, shape.extents))
    }

    /// Both parts in one array along dimension 0, of which each has one; only the real ones where all others are 0.
    pub(super) fn stacked(self, rebuild: &mut Rebuild<'_>) -> InstrId {
        let parts = [self.re].into_iter().chain(self.im).collect();
        rebuild.concatenated(parts, 0)
    }

    /// The parts of such an array.
    pub(super) fn unstacked(rebuild: &mut Rebuild<'_>, both: InstrId) -> Self {
        let [re, im] = [0, 1].map(|part| sliced(rebuild, both, 0, (part, part + 1, 1)));
        Parts { re, im: Some(im) }
    }

    /// Both arrays through the same change.
    pub(super) fn each(
        self,
        rebuild: &mut Rebuild<'_>,
        mut change: impl FnMut(&mut Rebuild<'_>, InstrId) -> InstrId,
    ) -> Self {
        let re = change(rebuild, self.re);
        Parts { re, im: self.im.map(|im| change(rebuild, im)) }
    }

    pub(super) fn reshaped(self, rebuild: &mut Rebuild<'_>, extents: &[i64]) -> Self {
        self.each(rebuild, |rebuild, part| rebuild.reshaped(part, extents.to_vec()))
    }

    pub(super) fn conjugated(self, rebuild: &mut Rebuild<'_>) -> Self {
        Parts { im: self.im.map(|im| rebuild.unary(UnaryOp::Negate, im)), ..self }
    }

    pub(super) fn plus(self, rebuild: &mut Rebuild<'_>, other: Self) -> Self {
        let re = rebuild.binary(BinaryOp::Add, self.re, other.re);
        let im = match (self.im, other.im) {
            (Some(one), Some(other)) => Some(rebuild.binary(BinaryOp::Add, one, other)),
            (one, other) => one.or(other),
        };
        Parts { re, im }
    }

    pub(super) fn minus(self, rebuild: &mut Rebuild<'_>, other: Self) -> Self {
        let re = rebuild.unary(UnaryOp::Negate, other.re);
        let im = other.im.map(|im| rebuild.unary(UnaryOp::Negate, im));
        self.plus(rebuild, Parts { re, im })
    }

    /// `i` times the numbers.
    pub(super) fn turned(self, rebuild: &mut Rebuild<'_>) -> Self {
        let im = self.imaginary(rebuild);
        Parts { re: rebuild.unary(UnaryOp::Negate, im), im: Some(self.re) }
    }

    /// The products element by element.
    pub(super) fn times(self, rebuild: &mut Rebuild<'_>, other: Self) -> Self {
        let product = |rebuild: &mut Rebuild<'_>, one: Option<InstrId>, other: Option<InstrId>| {
            one.zip(other).map(|(one, other)| rebuild.binary(BinaryOp::Multiply, one, other))
        };
        let mut re = rebuild.binary(BinaryOp::Multiply, self.re, other.re);
        if let Some(square) = product(rebuild, self.im, other.im) {
            re = rebuild.binary(BinaryOp::Subtract, re, square);
        }
        let across = product(rebuild, Some(self.re), other.im);
        let down = product(rebuild, self.im, Some(other.re));
        let im = match (across, down) {
            (Some(across), Some(down)) => Some(rebuild.binary(BinaryOp::Add, across, down)),
            (across, down) => across.or(down),
        };
        Parts { re, im }
    }
}
