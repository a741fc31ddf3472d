//! Random domains with expressions over them, their points, and shrinking of failing cases: shared by the tests of this
//! crate and of `weft-indexing`, which includes this folder by path.
//!
//! Every case follows from its number alone, on any machine.

#![allow(dead_code, reason = "each test program uses its own part of this folder")]

pub(crate) mod cancel;
pub(crate) mod case;
pub(crate) mod chain;
pub(crate) mod cores;
pub(crate) mod count;
pub(crate) mod distribution;
pub(crate) mod generate;
pub(crate) mod random;
pub(crate) mod run;
pub(crate) mod shrink;

use weft_affine::{Constraint, Expr, Ranges, explain};

/// As `simplify`, and sees to it that the derivation replays.
pub(crate) fn replay(expr: &Expr, ranges: &Ranges, constraints: &[Constraint]) -> Expr {
    let (simple, proof) = explain(expr, ranges, constraints);
    assert_eq!((proof.before(), proof.after()), (expr, &simple));
    assert_eq!(proof.check(), Ok(()), "over {ranges:?} {constraints:?}\n{proof:#}");
    simple
}
