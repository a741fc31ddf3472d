//! What constructors do: operations that are not kept as they are written.
//!
//! [`Expr`](crate::Expr) has floor division and remainder by positive constants only; these laws are how everything else
//! becomes them when it is built, and they leave no step in a derivation.

use super::law;
use crate::Law;

pub(crate) const LAWS: &[&Law] = &[
    &law!("divisor-negative", "R13", "x floordiv (-c) = (-x) floordiv c", "c > 0"),
    &law!("ceildiv", "R14", "ceildiv(x, c) = (x + c - 1) floordiv c", "c > 0"),
    &law!("divisor-one", "R1", "x floordiv 1 = x"),
    &law!("modulus-one", "R1", "x mod 1 = 0"),
];
