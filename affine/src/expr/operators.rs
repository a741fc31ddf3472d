//! Arithmetic operators of expressions and variables.
//!
//! Variables are `Copy`, so `(d0 * 8 + d1).floor_div(4)` leaves `d0` and `d1` as they are; expressions that are used
//! again are borrowed, as in `&flat + 1`. Rust's `/` and `%` round towards zero on integers and are therefore not
//! defined here.
//!
//! Numbers written by hand fit. Where they do not, operators panic as those of `i64` do in a debug build; code that
//! reads foreign numbers calls the checked forms.

use std::ops::{Add, Mul, Neg, Sub};

use super::{Expr, Var};

const BY_HAND: &str = "operators are for numbers that fit; code that reads foreign numbers calls the checked forms";

macro_rules! sums {
    ($($left:ty: $($right:ty),+;)*) => {$($(
        /// Panics on overflow; see [`Expr::checked_add`].
        impl Add<$right> for $left {
            type Output = Expr;
            fn add(self, other: $right) -> Expr {
                Expr::from(self).checked_add(&Expr::from(other)).expect(BY_HAND)
            }
        }
        /// Panics on overflow; see [`Expr::checked_sub`].
        impl Sub<$right> for $left {
            type Output = Expr;
            fn sub(self, other: $right) -> Expr {
                Expr::from(self).checked_sub(&Expr::from(other)).expect(BY_HAND)
            }
        }
    )+)*};
}

sums! {
    Expr: Expr, &Expr, Var, i64;
    &Expr: Expr, &Expr, Var, i64;
    Var: Expr, &Expr, Var, i64;
    i64: Expr, &Expr, Var;
}

macro_rules! products {
    ($($factor:ty),*) => {$(
        /// Panics on overflow; see [`Expr::checked_mul`].
        impl Mul<i64> for $factor {
            type Output = Expr;
            fn mul(self, factor: i64) -> Expr {
                Expr::from(self).checked_mul(factor).expect(BY_HAND)
            }
        }
        /// Panics on overflow; see [`Expr::checked_mul`].
        impl Mul<$factor> for i64 {
            type Output = Expr;
            fn mul(self, factor: $factor) -> Expr {
                Expr::from(factor).checked_mul(self).expect(BY_HAND)
            }
        }
        /// Panics on overflow; see [`Expr::checked_neg`].
        impl Neg for $factor {
            type Output = Expr;
            fn neg(self) -> Expr {
                Expr::from(self).checked_neg().expect(BY_HAND)
            }
        }
    )*};
}

products! { Expr, &Expr, Var }

/// What can be done with a variable but for sums and products, which are operators.
///
/// ```
/// use weft_affine::Var;
///
/// let [d0, d1] = Var::dims();
/// let tile = (d0 * 8 + d1).floor_div(4);
/// assert_eq!(tile.to_string(), "(d0 * 8 + d1) floordiv 4");
/// assert_eq!((8 - d1.modulo(4) + 3 * d0).to_string(), "d0 * 3 - d1 mod 4 + 8");
/// ```
///
/// Two variables cannot be multiplied with each other:
///
/// ```compile_fail,E0277
/// use weft_affine::Var;
///
/// let [d0, d1] = Var::dims();
/// let semi_affine = d0 * d1;
/// ```
impl Var {
    /// The dimension variables `d0, d1, …`, as many as the pattern names.
    pub fn dims<const N: usize>() -> [Var; N] {
        numbered(Var::Dim)
    }

    /// The range variables `s0, s1, …`, as many as the pattern names.
    pub fn ranges<const N: usize>() -> [Var; N] {
        numbered(Var::Range)
    }

    /// The runtime variables `rt0, rt1, …`, as many as the pattern names.
    pub fn runtimes<const N: usize>() -> [Var; N] {
        numbered(Var::Runtime)
    }

    /// `⌊self / divisor⌋`.
    ///
    /// # Panics
    /// For a divisor of zero, and for the least `i64`; see [`Expr::checked_floor_div`].
    #[must_use]
    pub fn floor_div(self, divisor: i64) -> Expr {
        Expr::var(self).floor_div(divisor)
    }

    /// `⌈self / divisor⌉`.
    ///
    /// # Panics
    /// For a divisor of zero, and for the least `i64`; see [`Expr::checked_ceil_div`].
    #[must_use]
    pub fn ceil_div(self, divisor: i64) -> Expr {
        Expr::var(self).ceil_div(divisor)
    }

    /// `self mod modulus`, in `[0, modulus - 1]`.
    ///
    /// # Panics
    /// For a modulus that is not positive; see [`Expr::checked_modulo`].
    #[must_use]
    pub fn modulo(self, modulus: i64) -> Expr {
        Expr::var(self).modulo(modulus)
    }
}

/// The first `N` variables of a kind. A pattern never names more than `u32` counts.
fn numbered<const N: usize>(kind: fn(u32) -> Var) -> [Var; N] {
    let mut number = 0;
    [(); N].map(|()| {
        let variable = kind(number);
        number += 1;
        variable
    })
}
