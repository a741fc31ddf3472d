//! Matrices of roots of unity, by what they are.

use super::factors::MOST_PRIME;
use super::roots::root;
use crate::ir::{Computation, Data, InstrId, Op};
use std::fmt;
use std::str::FromStr;

/// The matrix of a Fourier transform of a few numbers, as the left operand of a [`dot`](Op::Dot) of real numbers. [`FourierTransforms`](super::FourierTransforms) says of its dots which one they multiply by
/// ([`FourierMatrix::of`]), so what computes them may do so with fewer operations than the matrix has elements, as if all numbers were finite.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct FourierMatrix {
    /// How many numbers are transformed, `r`.
    pub order: i64,
    /// Whether the exponents are positive, `w = e^(2πi/r)`; else they are negative.
    pub inverse: bool,
    /// Which parts of `w^(row * column) / divisor` are its elements.
    pub parts: FourierParts,
    /// What all elements are divided by.
    pub divisor: i64,
}

/// Which parts of complex numbers the elements of a matrix are.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum FourierParts {
    /// The real ones: `[r, r]`.
    Real,
    /// The imaginary ones: `[r, r]`.
    Imaginary,
    /// Real ones above imaginary ones, `[2r, r]`: of real numbers it makes real and imaginary parts.
    OfReal,
    /// `[2r, 2r]`: of real and imaginary parts of complex numbers it makes these of others.
    OfComplex,
}

const NAME: &str = "weft_fourier_matrix";

impl FourierMatrix {
    /// What a dot says that its left operand is.
    pub fn of(computation: &Computation, dot: InstrId) -> Option<FourierMatrix> {
        let instruction = &computation.instructions[dot];
        matches!(instruction.op, Op::Dot { .. }).then(|| instruction.frontend_attribute(NAME)?.parse().ok())?
    }

    /// The name and the value by which a dot says so, among its attributes of the frontend.
    pub(super) fn attribute(&self) -> (&'static str, String) {
        (NAME, self.to_string())
    }

    /// Takes away what dots of a computation say of matrices that are no such constants.
    pub fn verify(computation: &mut Computation) {
        let is_wrong = |dot: &InstrId| {
            let instruction = &computation.instructions[*dot];
            instruction.frontend_attribute(NAME).is_some()
                && !FourierMatrix::of(computation, *dot).is_some_and(|matrix| matrix.is_left(computation, *dot))
        };
        let wrong: Vec<InstrId> = computation.instructions.ids().filter(is_wrong).collect();
        for dot in wrong {
            computation.instructions[dot].set_frontend_attribute(NAME, None);
        }
    }

    /// Whether the left operand of a dot is this matrix, one dimension or several for its rows, the last ones for its columns, which are all that is contracted.
    fn is_left(&self, computation: &Computation, dot: InstrId) -> bool {
        let instruction = &computation.instructions[dot];
        let Op::Dot { lhs_batch_dims, lhs_contracting_dims, .. } = &instruction.op else { return false };
        let Some(left) = instruction.operands.first().map(|left| &computation.instructions[*left]) else {
            return false;
        };
        let (Op::Constant(literal), Some(shape)) = (&left.op, left.shape.as_array()) else { return false };
        let Some(rows) = shape.rank().checked_sub(lhs_contracting_dims.len()) else { return false };
        let [above, below] = [&shape.extents[..rows], &shape.extents[rows..]];
        lhs_batch_dims.is_empty()
            && lhs_contracting_dims.iter().copied().eq(rows as i64..shape.rank() as i64)
            && above.iter().product::<i64>() == self.rows()
            && below.iter().product::<i64>() == self.columns()
            && match &literal.data {
                Data::F32(values) => values.iter().copied().eq(self.values().into_iter().map(|value| value as f32)),
                Data::F64(values) => values.iter().copied().eq(self.values()),
                _ => false,
            }
    }

    /// How many rows it has.
    pub fn rows(&self) -> i64 {
        let parts = if matches!(self.parts, FourierParts::Real | FourierParts::Imaginary) { 1 } else { 2 };
        self.order * parts
    }

    /// How many columns it has.
    pub fn columns(&self) -> i64 {
        self.order * if self.parts == FourierParts::OfComplex { 2 } else { 1 }
    }

    /// The elements, row by row.
    pub fn values(&self) -> Vec<f64> {
        let (rows, columns) = (self.rows(), self.columns());
        let scale = 1.0 / self.divisor as f64;
        let mut values = Vec::new();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let (re, im) = root(row % self.order * (column % self.order), self.order, self.inverse);
            let value = match (self.parts, row / self.order, column / self.order) {
                (FourierParts::Imaginary, ..) => im,
                (_, 0, 0) | (_, 1, 1) => re,
                (_, 0, _) => -im,
                _ => im,
            };
            values.push(value * scale);
        }
        values
    }
}

/// `16 forward complex 1`: the order, which way, which parts, and the divisor.
impl fmt::Display for FourierMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.inverse { "inverse" } else { "forward" };
        let parts = match self.parts {
            FourierParts::Real => "re",
            FourierParts::Imaginary => "im",
            FourierParts::OfReal => "real",
            FourierParts::OfComplex => "complex",
        };
        write!(f, "{} {way} {parts} {}", self.order, self.divisor)
    }
}

/// Of an order that steps of transforms have, so that nobody can ask for more elements than these do.
impl FromStr for FourierMatrix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parsed(text).ok_or_else(|| format!("'{text}' is no matrix of a Fourier transform"))
    }
}

fn parsed(text: &str) -> Option<FourierMatrix> {
    let words: Vec<&str> = text.split(' ').collect();
    let [order, way, parts, divisor] = words[..] else { return None };
    let number = |text: &str| text.parse().ok().filter(|number: &i64| *number > 0);
    Some(FourierMatrix {
        order: number(order).filter(|order| *order <= MOST_PRIME)?,
        inverse: match way {
            "forward" => false,
            "inverse" => true,
            _ => return None,
        },
        parts: match parts {
            "re" => FourierParts::Real,
            "im" => FourierParts::Imaginary,
            "real" => FourierParts::OfReal,
            "complex" => FourierParts::OfComplex,
            _ => return None,
        },
        divisor: number(divisor)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{FourierMatrix, FourierParts};

    #[test]
    fn what_a_matrix_is_called_is_read_again() {
        use FourierParts::{Imaginary, OfComplex, OfReal, Real};
        for (parts, inverse) in [(Real, false), (Imaginary, true), (OfReal, true), (OfComplex, false)] {
            let matrix = FourierMatrix { order: 12, inverse, parts, divisor: 1 << 20 };
            assert_eq!(matrix.to_string().parse(), Ok(matrix));
            assert_eq!(matrix.values().len() as i64, matrix.rows() * matrix.columns());
        }
        for text in [
            "",
            "16 forward re",
            "0 forward re 1",
            "62 forward re 1",
            "16 sideways re 1",
            "16 forward all 1",
            "16 forward re -1",
            "16 forward re 1 1",
        ] {
            assert!(text.parse::<FourierMatrix>().is_err(), "{text}");
        }
    }
}
