//! Decision by enumeration: linear forms and implied constraints, from finitely many points of a domain.
//!
//! A quasi-affine expression repeats itself: it has a period in each variable, after which it has grown by a known amount.
//! So of each variable only one period counts, whatever its bounds. Where that leaves few points, all of them are tried,
//! which decides equalities that no rule reaches because digits of different bases meet:
//! `(9*d0 + d1 + 6*((d0 + d1 floordiv 3) mod 2)) floordiv 12` is `d0` for `d0 in [0, 1]` and `d1 in [0, 8]`.
//!
//! Two questions are decided so. [`linear_form`] reads coefficients off a few points, and then tries the rest; whether a
//! constraint [is implied](is_implied) is seen at some points first. Where the answer is no, both cost little.

mod divisor;
mod elimination;
mod linear;
mod period;
mod program;
mod region;
#[cfg(test)]
mod tests;

pub(crate) use linear::{is_linear_form, linear_form};
pub(crate) use region::is_implied;
