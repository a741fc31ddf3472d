//! Tests of zeros, infinities and NaNs; `tests/numeric/functions.rs` tests the values between.

use super::{complex, hypot, sin_cos_of_turn};
use crate::eval::scalar::Element;
use crate::ir::{BinaryOp, UnaryOp};
use num_complex::{Complex, Complex64};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Whether the numbers are the same, where of a NaN only that it is one counts.
fn is_same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Whether the numbers are the same, or neighbors.
fn is_close(a: f64, b: f64) -> bool {
    is_same(a, b) || (a.is_finite() && b.is_finite() && a != 0.0 && ((a - b) / b).abs() <= f64::EPSILON)
}

const ENDS: [f64; 22] = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    1e-17,
    -1e-17,
    0.5,
    -0.5,
    1.0,
    -1.0,
    2.0,
    -3.0,
    40.0,
    710.0,
    -750.0,
    1e300,
    f64::MAX,
    INF,
    -INF,
    NAN,
];

type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;

#[test]
fn ends_are_those_of_the_system() {
    let functions: [(UnaryOp, OfOne); 16] = [
        (UnaryOp::Acos, f64::acos),
        (UnaryOp::Acosh, |x| if x > 1e200 { x.ln() + LN_2 } else { x.acosh() }),
        (UnaryOp::Asin, f64::asin),
        (UnaryOp::Asinh, |x| if x.abs() > 1e200 { (x.abs().ln() + LN_2).copysign(x) } else { x.asinh() }),
        (UnaryOp::Atanh, f64::atanh),
        (UnaryOp::Cbrt, f64::cbrt),
        (UnaryOp::Cosine, f64::cos),
        (UnaryOp::Cosh, f64::cosh),
        (UnaryOp::Exponential, f64::exp),
        (UnaryOp::ExponentialMinusOne, f64::exp_m1),
        (UnaryOp::Log, f64::ln),
        (UnaryOp::LogPlusOne, f64::ln_1p),
        (UnaryOp::Sine, f64::sin),
        (UnaryOp::Sinh, f64::sinh),
        (UnaryOp::Tan, f64::tan),
        (UnaryOp::Tanh, f64::tanh),
    ];
    for (op, system) in functions {
        for x in ENDS {
            let found = f64::unary(op).unwrap().one(x);
            assert!(is_close(found, system(x)), "{} of {x:e} is {found:e} and not {:e}", op.name(), system(x));
        }
    }
    let functions: [(BinaryOp, OfTwo); 2] = [(BinaryOp::Atan2, f64::atan2), (BinaryOp::Power, f64::powf)];
    for (op, system) in functions {
        for (a, b) in ENDS.into_iter().flat_map(|a| ENDS.map(|b| (a, b))) {
            let found = f64::binary(op).unwrap().one(a, b);
            assert!(
                is_close(found, system(a, b)),
                "{} of {a:e} and {b:e} is {found:e} and not {:e}",
                op.name(),
                system(a, b)
            );
            assert!(is_close(hypot(a, b), a.hypot(b)), "the length of {a:e} and {b:e} is {:e}", hypot(a, b));
        }
    }
}

type Function = fn(Complex64) -> Complex64;

/// What Annex G of C says, for imaginary parts that are positive: a function, its name, and where it has which value.
fn annex_g() -> Vec<(&'static str, Function, Vec<[f64; 4]>)> {
    vec![
        (
            "exp",
            complex::exp,
            vec![
                [0.0, 0.0, 1.0, 0.0],
                [-0.0, 0.0, 1.0, 0.0],
                [1.0, INF, NAN, NAN],
                [1.0, NAN, NAN, NAN],
                [INF, 0.0, INF, 0.0],
                [-INF, 1.0, 0.0, 0.0],
                [-INF, 2.0, -0.0, 0.0],
                [INF, 1.0, INF, INF],
                [INF, 2.0, -INF, INF],
                [-INF, INF, 0.0, 0.0],
                [INF, INF, INF, NAN],
                [-INF, NAN, 0.0, 0.0],
                [INF, NAN, INF, NAN],
                [NAN, 0.0, NAN, 0.0],
                [NAN, 1.0, NAN, NAN],
            ],
        ),
        (
            "ln",
            complex::ln,
            vec![
                [-0.0, 0.0, -INF, PI],
                [0.0, 0.0, -INF, 0.0],
                [1.0, INF, INF, FRAC_PI_2],
                [1.0, NAN, NAN, NAN],
                [-INF, 1.0, INF, PI],
                [INF, 1.0, INF, 0.0],
                [-INF, INF, INF, 3.0 * FRAC_PI_4],
                [INF, INF, INF, FRAC_PI_4],
                [INF, NAN, INF, NAN],
                [NAN, 1.0, NAN, NAN],
                [NAN, INF, INF, NAN],
            ],
        ),
        (
            "sqrt",
            complex::sqrt,
            vec![
                [0.0, 0.0, 0.0, 0.0],
                [-0.0, 0.0, 0.0, 0.0],
                [1.0, INF, INF, INF],
                [NAN, INF, INF, INF],
                [1.0, NAN, NAN, NAN],
                [-INF, 1.0, 0.0, INF],
                [INF, 1.0, INF, 0.0],
                [-INF, NAN, NAN, INF],
                [INF, NAN, INF, NAN],
                [NAN, 1.0, NAN, NAN],
                [-4.0, 0.0, 0.0, 2.0],
                [4e-320, 0.0, 4e-320f64.sqrt(), 0.0],
                [1e300, 1e-150, 1e150, 5e-301],
            ],
        ),
        (
            "sinh",
            complex::sinh,
            vec![
                [0.0, 0.0, 0.0, 0.0],
                [0.0, INF, 0.0, NAN],
                [0.0, NAN, 0.0, NAN],
                [1.0, INF, NAN, NAN],
                [1.0, NAN, NAN, NAN],
                [INF, 0.0, INF, 0.0],
                [INF, 1.0, INF, INF],
                [INF, INF, INF, NAN],
                [INF, NAN, INF, NAN],
                [NAN, 0.0, NAN, 0.0],
                [NAN, 1.0, NAN, NAN],
                [-0.0, 1.0, -0.0, 1f64.sin()],
            ],
        ),
        (
            "cosh",
            complex::cosh,
            vec![
                [0.0, 0.0, 1.0, 0.0],
                [0.0, INF, NAN, 0.0],
                [0.0, NAN, NAN, 0.0],
                [1.0, INF, NAN, NAN],
                [1.0, NAN, NAN, NAN],
                [INF, 0.0, INF, 0.0],
                [INF, 1.0, INF, INF],
                [INF, INF, INF, NAN],
                [INF, NAN, INF, NAN],
                [NAN, 0.0, NAN, 0.0],
                [NAN, 1.0, NAN, NAN],
            ],
        ),
        (
            "tanh",
            complex::tanh,
            vec![
                [0.0, 0.0, 0.0, 0.0],
                [0.0, INF, 0.0, NAN],
                [1.0, INF, NAN, NAN],
                [1.0, NAN, NAN, NAN],
                [INF, 1.0, 1.0, 0.0],
                [INF, 2.0, 1.0, -0.0],
                [INF, INF, 1.0, 0.0],
                [NAN, 0.0, NAN, 0.0],
                [NAN, 1.0, NAN, NAN],
            ],
        ),
        (
            "acos",
            complex::acos,
            vec![
                [0.0, 0.0, FRAC_PI_2, -0.0],
                [-0.0, 0.0, FRAC_PI_2, -0.0],
                [0.0, NAN, FRAC_PI_2, NAN],
                [1.0, INF, FRAC_PI_2, -INF],
                [1.0, NAN, NAN, NAN],
                [-INF, 1.0, PI, -INF],
                [INF, 1.0, 0.0, -INF],
                [-INF, INF, 3.0 * FRAC_PI_4, -INF],
                [INF, INF, FRAC_PI_4, -INF],
                [NAN, 1.0, NAN, NAN],
                [NAN, INF, NAN, -INF],
                [1.0, 0.0, 0.0, -0.0],
            ],
        ),
        (
            "acosh",
            complex::acosh,
            vec![
                [0.0, 0.0, 0.0, FRAC_PI_2],
                [1.0, INF, INF, FRAC_PI_2],
                [1.0, NAN, NAN, NAN],
                [-INF, 1.0, INF, PI],
                [INF, 1.0, INF, 0.0],
                [-INF, INF, INF, 3.0 * FRAC_PI_4],
                [INF, INF, INF, FRAC_PI_4],
                [INF, NAN, INF, NAN],
                [NAN, 1.0, NAN, NAN],
                [NAN, INF, INF, NAN],
                [1.0, 0.0, 0.0, 0.0],
                [-1.0, 0.0, 0.0, PI],
            ],
        ),
        (
            "asinh",
            complex::asinh,
            vec![
                [0.0, 0.0, 0.0, 0.0],
                [1.0, INF, INF, FRAC_PI_2],
                [1.0, NAN, NAN, NAN],
                [INF, 1.0, INF, 0.0],
                [INF, INF, INF, FRAC_PI_4],
                [INF, NAN, INF, NAN],
                [NAN, 0.0, NAN, 0.0],
                [NAN, 1.0, NAN, NAN],
            ],
        ),
        (
            "atanh",
            complex::atanh,
            vec![
                [0.0, 0.0, 0.0, 0.0],
                [0.0, NAN, 0.0, NAN],
                [1.0, 0.0, INF, 0.0],
                [1.0, INF, 0.0, FRAC_PI_2],
                [1.0, NAN, NAN, NAN],
                [INF, 1.0, 0.0, FRAC_PI_2],
                [INF, INF, 0.0, FRAC_PI_2],
                [INF, NAN, 0.0, NAN],
                [NAN, 1.0, NAN, NAN],
                [1.0, 1e-200, 1e-200f64.ln() / -2.0 + LN_2 / 2.0, FRAC_PI_4],
            ],
        ),
    ]
}

#[test]
fn complex_ends_are_those_of_annex_g() {
    for (name, f, cases) in annex_g() {
        for [x, y, re, im] in cases {
            let found = f(Complex::new(x, y));
            assert!(is_close(found.re, re) && is_close(found.im, im), "{name} of {x:e} + {y:e} i is {found:e}");
        }
    }
}

/// The functions are symmetric about the real axis, and odd or even those of Annex G that are.
#[test]
fn complex_functions_are_symmetric() {
    for (name, f, _) in annex_g() {
        for (x, y) in ENDS.into_iter().flat_map(|x| ENDS.map(|y| (x, y))) {
            let (found, below) = (f(Complex::new(x, y)), f(Complex::new(x, -y)));
            // Of a NaN the sign says nothing, nor does that of what goes with it.
            let is_open = [x, y, found.re, found.im].iter().any(|part| part.is_nan());
            let is_mirrored = |a: f64, b: f64| is_same(a, b) || (is_open && a.abs() == b.abs());
            assert!(
                is_mirrored(found.re, below.re) && is_mirrored(found.im, -below.im),
                "{name} of {x:e} +- {y:e} i is {found:e} and {below:e}"
            );
            if ["sinh", "tanh", "asinh", "atanh"].contains(&name) {
                let other = -f(Complex::new(-x, -y));
                assert!(
                    is_mirrored(found.re, other.re) && is_mirrored(found.im, other.im),
                    "{name} of {x:e} + {y:e} i"
                );
            }
        }
    }
}

/// Roots of unity are rounded once: on the circle to the last place, and each as exact as the sine of a smaller angle.
#[test]
fn turns_are_exact_where_they_can_be() {
    for n in [1u64, 2, 3, 4, 5, 7, 8, 12, 61, 1000, 1009, 1 << 20, (1 << 53) - 1] {
        for k in (0..n).step_by((n / 97).max(1) as usize) {
            let (sine, cosine) = sin_cos_of_turn(k, n);
            let error = (sine * sine + cosine * cosine - 1.0).abs();
            assert!(error <= 4.0 * f64::EPSILON, "{k} / {n}: {error:e}");
            // A quarter turn on, sine and cosine change places, exactly.
            if n % 4 == 0 {
                let (next_sine, next_cosine) = sin_cos_of_turn((k + n / 4) % n, n);
                assert!(next_sine == cosine && next_cosine == -sine, "{k} / {n}");
            }
        }
    }
    assert_eq!(sin_cos_of_turn(1, 12), (0.5, 0.866_025_403_784_438_6));
}

#[test]
fn the_size_of_an_angle_does_not_matter_beside_an_infinite_logarithm() {
    for im in [f64::MAX, -f64::MAX] {
        assert_eq!(complex::pow(Complex64::new(-0.0, 0.0), Complex64::new(2.0, im)), Complex64::default());
    }
}

/// `tan(f(y, x))` is `y / x`, and on which branch follows from the larger part of the quotient under the logarithm.
#[test]
fn complex_angles_have_the_ratio_as_their_tangent() {
    let parts = [0.0, -0.0, 1.0, -1.0, 0.3, -0.7, 1e-20, -1e-20, 1e-160, 3e7, -1e160];
    let points: Vec<Complex64> = parts.into_iter().flat_map(|re| parts.map(|im| Complex::new(re, im))).collect();
    let mut compared = 0;
    for (y, x) in points.iter().flat_map(|y| points.iter().map(move |x| (*y, *x))) {
        let found = complex::atan2_of(y, x);
        // A pole is where y is i x or -i x.
        let i = Complex64::i();
        let poles = [y - i * x, y + i * x].map(|difference| hypot(difference.re, difference.im));
        let size = hypot(y.re, y.im).max(hypot(x.re, x.im));
        if x.re == 0.0 && x.im == 0.0 || poles.iter().any(|pole| *pole < size * 0.1) {
            continue;
        }
        let (tangent, ratio) = (complex::tan(found), complex::div(y, x));
        let (off, length) = (tangent - ratio, hypot(ratio.re, ratio.im));
        // Half a turn is no number, and of what is large the inverse is near a pole of the tangent.
        let lost = if found.re.abs() > 1.0 { f64::EPSILON } else { 0.0 };
        let allowed = 1e-14 * length * length.max(1.0) + lost + f64::MIN_POSITIVE;
        let is_right = !length.is_finite() || length > 1e14 || hypot(off.re, off.im) <= allowed;
        assert!(is_right, "{y:e} over {x:e} has the angle {found:e}, whose tangent is {tangent:e} and not {ratio:e}");
        compared += 1;
    }
    assert!(compared > 8000, "{compared}");
    let close = |y: [f64; 2], x: [f64; 2], wanted: [f64; 2]| {
        let found = complex::atan2_of(Complex::new(y[0], y[1]), Complex::new(x[0], x[1]));
        let is_right = |a: f64, b: f64| (a - b).abs() <= 2.0 * f64::EPSILON * b.abs();
        assert!(is_right(found.re, wanted[0]) && is_right(found.im, wanted[1]), "{y:?} over {x:?}: {found:e}");
    };
    // What is small beside the other number is no less exact for it.
    close([5.0, 2.5], [f64::MAX, 0.0], [5.0 / f64::MAX, 2.5 / f64::MAX]);
    close([5e-324, 0.0], [1.0, 0.0], [5e-324, 0.0]);
    close([1e-30, 1e-40], [2.0, 0.0], [5e-31, 5e-41]);
    // Of what stands against x the angle is nearly half a turn, to the side of y; just so much of what is nothing.
    close([-2.4637, 6e-28], [-9.2, -1.66e30], [PI, -2.4637 / 1.66e30]);
    close([2.4637, -6e-28], [-9.2, -1.66e30], [-PI, 2.4637 / 1.66e30]);
    for x in [[-0.7, 0.3], [-0.7, -0.3], [-1.0, 0.0], [-1.0, -0.0], [-3e7, 1e-20]] {
        close([0.0, 0.0], x, [PI, 0.0]);
        close([-0.0, 0.0], x, [-PI, 0.0]);
        close([0.0, 0.0], [-x[0], x[1]], [0.0, 0.0]);
    }
    close([1.0, 0.0], [0.0, 0.0], [FRAC_PI_2, 0.0]);
    close([-1.0, 0.0], [1.0, 0.0], [-FRAC_PI_4, 0.0]);
    close([1.0, 0.0], [-1.0, 0.0], [3.0 * FRAC_PI_4, 0.0]);
}

/// As annex G of C99 has them, whose quotients have an infinity or a zero wherever one part tells.
#[test]
fn complex_quotients_are_infinite_or_zero_where_one_part_tells() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    for (a, b, wanted) in [
        ([1.0, 0.0], [0.0, 0.0], [INF, NAN]),
        ([1.0, 2.0], [-0.0, 0.0], [-INF, -INF]),
        ([1.0, NAN], [0.0, 0.0], [INF, NAN]),
        ([NAN, NAN], [0.0, 0.0], [NAN, NAN]),
        ([0.0, 0.0], [0.0, 0.0], [NAN, NAN]),
        ([1.0, 0.0], [INF, 0.0], [0.0, -0.0]),
        ([-1.0, 2.0], [INF, NAN], [-0.0, 0.0]),
        ([1.0, 1.0], [INF, -INF], [0.0, 0.0]),
        ([INF, NAN], [2.0, -1.0], [INF, INF]),
        ([INF, 1.0], [NAN, 1.0], [NAN, NAN]),
        ([INF, INF], [INF, INF], [NAN, NAN]),
    ] {
        let found = complex::div(Complex64::new(a[0], a[1]), Complex64::new(b[0], b[1]));
        let is_same = |a: f64, b: f64| a.is_nan() && b.is_nan() || a == b;
        assert!(is_same(found.re, wanted[0]) && is_same(found.im, wanted[1]), "{a:?} / {b:?} is {found}");
    }
}
