//! A number of any element type, as an intermediate value of conversions.

/// The value of an element, exactly.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Number {
    /// Of an integer or a `pred`.
    Integer(i128),
    /// Of a float, which `f64` holds.
    Real(f64),
    /// The real and the imaginary part.
    Complex(f64, f64),
}

impl Number {
    /// A signed integer: the lowest 64 bits of one, in two's complement. Real numbers lose what is behind the point, keep to
    /// `least` and `greatest`, and a NaN is 0; complex numbers lose their imaginary part first.
    #[inline]
    pub(super) fn signed(self, least: i64, greatest: i64) -> i64 {
        match self {
            Number::Integer(value) => value as i64,
            // `as` saturates, and takes NaN to 0. To 32 bits there are vector instructions.
            Number::Real(value) | Number::Complex(value, _) => match (i32::try_from(least), i32::try_from(greatest)) {
                (Ok(least), Ok(greatest)) => i64::from((value as i32).clamp(least, greatest)),
                _ => (value as i64).clamp(least, greatest),
            },
        }
    }

    /// An unsigned integer, likewise; its least is 0.
    #[inline]
    pub(super) fn unsigned(self, greatest: u64) -> u64 {
        match self {
            Number::Integer(value) => value as u64,
            Number::Real(value) | Number::Complex(value, _) => (value as u64).min(greatest),
        }
    }

    /// The real part; integers of more than 53 bits are rounded.
    #[inline]
    pub(in crate::eval) fn real(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Real(value) | Number::Complex(value, _) => value,
        }
    }

    /// The imaginary part.
    #[inline]
    pub(super) fn imaginary(self) -> f64 {
        match self {
            Number::Complex(_, imaginary) => imaginary,
            _ => 0.0,
        }
    }

    /// Whether it is no number, or a part of it is none.
    pub(crate) fn is_nan(self) -> bool {
        match self {
            Number::Integer(_) => false,
            Number::Real(value) => value.is_nan(),
            Number::Complex(real, imaginary) => real.is_nan() || imaginary.is_nan(),
        }
    }

    /// The integer, if it is of an integer or a `pred`.
    pub(crate) fn integer(self) -> Option<i128> {
        match self {
            Number::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// Whether it differs from zero, as a NaN does.
    #[inline]
    pub(super) fn is_nonzero(self) -> bool {
        match self {
            Number::Integer(value) => value != 0,
            Number::Real(value) => value != 0.0,
            Number::Complex(real, imaginary) => real != 0.0 || imaginary != 0.0,
        }
    }
}
