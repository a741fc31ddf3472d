//! Laws of the constructors: operations that expressions do not keep as they are written.
//!
//! [`Expr`](crate::Expr) has floor division and remainder by positive constants only; these laws are how everything else
//! becomes them when it is built, and they leave no step in a derivation.

use crate::law::laws;

laws! {
    NEGATIVE_DIVISOR = "floordiv-by-negative": "x floordiv (-c) = (-x) floordiv c" if "c > 0";
    CEILING = "ceildiv-as-floordiv": "ceildiv(x, c) = (x + c - 1) floordiv c" if "c > 0";
    DIVISOR_ONE = "floordiv-by-one": "x floordiv 1 = x";
    MODULUS_ONE = "mod-by-one": "x mod 1 = 0";
}
