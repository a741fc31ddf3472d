//! The table from operations to functions of `f64`.

use super::circular::{acos, asin, atan2, cos, cos_near, sin, sin_near, tan, tan_near};
use super::exponential::{cosh, exp, exp_m1, logistic, sinh, tanh};
use super::logarithm::{acosh, asinh, atanh, ln, ln_1p};
use super::power::pow;
use crate::eval::scalar::circular::is_near;
use crate::eval::scalar::function::{Inlined, STRETCH, each_inlined};
use crate::eval::scalar::{Binary, Unary};
use crate::ir::{BinaryOp, UnaryOp};

/// A function as one that becomes part of loops.
macro_rules! inlined {
    ($name:ident, |$argument:ident: $type:ty| $value:expr) => {
        struct $name;
        impl Inlined<$type> for $name {
            #[inline(always)]
            fn of($argument: $type) -> f64 {
                $value
            }
        }
    };
}

macro_rules! of_one {
    ($f:ident) => {{
        inlined!(Function, |x: f64| $f(x));
        Unary::new($f, |a, results| each_inlined::<_, Function>(a.iter().copied(), results))
    }};
    // The first function is for numbers that are near zero.
    ($near:ident, $f:ident) => {{
        inlined!(Function, |x: f64| $near(x));
        Unary::new($f, |a, results| each_near::<Function>(a, results, $f))
    }};
}

macro_rules! of_two {
    ($f:ident) => {{
        inlined!(Function, |pair: (f64, f64)| $f(pair.0, pair.1));
        Binary::new($f, |a, b, results| {
            each_inlined::<_, Function>(a.iter().copied().zip(b.iter().copied()), results);
        })
    }};
}

/// Of a stretch all of which are near zero, each by the function for those; of other stretches each by the other.
fn each_near<F: Inlined<f64>>(a: &[f64], results: &mut [f64], other: fn(f64) -> f64) {
    for (a, results) in a.chunks(STRETCH).zip(results.chunks_mut(STRETCH)) {
        if a.iter().all(|&a| is_near(a)) {
            each_inlined::<_, F>(a.iter().copied(), results);
        } else {
            results.iter_mut().zip(a).for_each(|(result, &a)| *result = other(a));
        }
    }
}

/// The function of one `f64` that an operation is, if it is one of those here.
pub(in crate::eval::scalar) fn unary(op: UnaryOp) -> Option<Unary<f64>> {
    Some(match op {
        UnaryOp::Acos => of_one!(acos),
        UnaryOp::Acosh => of_one!(acosh),
        UnaryOp::Asin => of_one!(asin),
        UnaryOp::Asinh => of_one!(asinh),
        UnaryOp::Atanh => of_one!(atanh),
        UnaryOp::Cosine => of_one!(cos_near, cos),
        UnaryOp::Cosh => of_one!(cosh),
        UnaryOp::Exponential => of_one!(exp),
        UnaryOp::ExponentialMinusOne => of_one!(exp_m1),
        UnaryOp::Log => of_one!(ln),
        UnaryOp::LogPlusOne => of_one!(ln_1p),
        UnaryOp::Logistic => of_one!(logistic),
        UnaryOp::Sine => of_one!(sin_near, sin),
        UnaryOp::Sinh => of_one!(sinh),
        UnaryOp::Tan => of_one!(tan_near, tan),
        UnaryOp::Tanh => of_one!(tanh),
        _ => return None,
    })
}

/// The same of two.
pub(in crate::eval::scalar) fn binary(op: BinaryOp) -> Option<Binary<f64>> {
    Some(match op {
        BinaryOp::Atan2 => of_two!(atan2),
        BinaryOp::Power => of_two!(pow),
        _ => return None,
    })
}
