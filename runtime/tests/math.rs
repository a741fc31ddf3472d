//! The WGSL functions of `weft_codegen_wgsl::math` on the default adapter, against `f64` and whole-number arithmetic.

mod accuracy;
mod double;
mod gpu;
mod program;
mod reference;
mod sweep;

use accuracy::Row;
use weft_codegen_wgsl::math;
use weft_hlo::ir::ElementType::{self, F32, Pred, S32, U32};
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ComparisonType, UnaryOp};

/// A function of one number, what it should be, the error allowed in units in the last place, and where to look closely.
type One = (UnaryOp, fn(f64) -> f64, f64, (f32, f32));

/// Likewise of two numbers.
type Two = (BinaryOp, fn(f64, f64) -> f64, f64, [(f32, f32); 2]);

/// The accuracy that the library promises.
const ONE: &[One] = &[
    (UnaryOp::Abs, f64::abs, 0.0, (-2.0, 2.0)),
    (UnaryOp::Acos, f64::acos, 2.5, (-1.0, 1.0)),
    (UnaryOp::Acosh, f64::acosh, 3.5, (1.0, 20.0)),
    (UnaryOp::Asin, f64::asin, 2.5, (-1.0, 1.0)),
    (UnaryOp::Asinh, f64::asinh, 3.5, (-20.0, 20.0)),
    (UnaryOp::Atanh, f64::atanh, 3.5, (-1.0, 1.0)),
    (UnaryOp::Cbrt, f64::cbrt, 2.0, (-30.0, 30.0)),
    (UnaryOp::Ceil, f64::ceil, 0.0, (-10.0, 10.0)),
    (UnaryOp::Cosine, f64::cos, 3.0, (-100_000.0, 100_000.0)),
    (UnaryOp::Cosh, f64::cosh, 2.5, (-90.0, 90.0)),
    (UnaryOp::Erf, reference::erf, 2.0, (-5.0, 5.0)),
    (UnaryOp::Exponential, f64::exp, 2.0, (-90.0, 90.0)),
    (UnaryOp::ExponentialMinusOne, f64::exp_m1, 2.0, (-20.0, 21.0)),
    (UnaryOp::Floor, f64::floor, 0.0, (-10.0, 10.0)),
    (UnaryOp::Log, f64::ln, 2.0, (0.0, 3.0)),
    (UnaryOp::LogPlusOne, f64::ln_1p, 2.0, (-1.0, 2.0)),
    (UnaryOp::Logistic, |x| 1.0 / (1.0 + (-x).exp()), 3.0, (-90.0, 20.0)),
    (UnaryOp::Negate, |x| -x, 0.0, (-2.0, 2.0)),
    (UnaryOp::RoundNearestAfz, f64::round, 0.0, (-10.0, 10.0)),
    (UnaryOp::RoundNearestEven, f64::round_ties_even, 0.0, (-10.0, 10.0)),
    (UnaryOp::Rsqrt, |x| 1.0 / x.sqrt(), 2.5, (0.0, 10.0)),
    (UnaryOp::Sign, reference::sign, 0.0, (-2.0, 2.0)),
    (UnaryOp::Sine, f64::sin, 3.0, (-100_000.0, 100_000.0)),
    (UnaryOp::Sinh, f64::sinh, 2.5, (-90.0, 90.0)),
    (UnaryOp::Sqrt, f64::sqrt, 1.0, (0.0, 10.0)),
    (UnaryOp::Tan, f64::tan, 4.0, (-100.0, 100.0)),
    (UnaryOp::Tanh, f64::tanh, 2.0, (-10.0, 10.0)),
];

const TWO: &[Two] = &[
    (BinaryOp::Add, |x, y| x + y, 0.5, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Atan2, f64::atan2, 3.5, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Divide, |x, y| x / y, 2.5, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Maximum, reference::maximum, 0.0, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Minimum, |x, y| -reference::maximum(-x, -y), 0.0, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Multiply, |x, y| x * y, 0.5, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Power, f64::powf, 4.0, [(0.0, 20.0), (-30.0, 30.0)]),
    (BinaryOp::Power, f64::powf, 4.0, [(0.9, 1.1), (-900.0, 900.0)]),
    (BinaryOp::Remainder, |x, y| x % y, 0.0, [(-1000.0, 1000.0), (-10.0, 10.0)]),
    (BinaryOp::Subtract, |x, y| x - y, 0.5, [(-2.0, 2.0), (-2.0, 2.0)]),
];

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The values that a driver may see for `x`: subnormal numbers may be flushed.
fn seen(x: f32) -> impl Iterator<Item = f64> + Clone {
    let flushed = x.is_subnormal().then_some(f64::from(0f32.copysign(x)));
    std::iter::once(f64::from(x)).chain(flushed)
}

/// Fails with every line of `failures`.
fn none(failures: &[String]) {
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn functions_of_one_number_are_accurate() {
    let rows = ONE.iter().map(|(op, reference, bound, dense)| {
        let call = math::unary(*op, F32).expect("the table has every function of f32");
        let inputs = sweep::one(*dense);
        let words = bits(&inputs);
        let results = gpu::run(call, &[F32], F32, [&words, &words]);
        let results = inputs.iter().zip(&results).map(|(x, got)| {
            let got = f32::from_bits(*got);
            // What is subnormal and comes out as it went in is one of those that may be flushed.
            let gots = std::iter::once(got).chain((got.is_subnormal() && got == *x).then_some(0f32.copysign(got)));
            let errors = gots.flat_map(|got| seen(*x).map(move |x| reference::distance(got, reference(x))));
            let error = errors.fold(f64::INFINITY, f64::min);
            (error, move || format!("at {x:e}: {got:e} for {:e}", reference(f64::from(*x))))
        });
        Row::worst(F32, op.name(), *bound, results)
    });
    accuracy::check(rows);
}

#[test]
fn functions_of_two_numbers_are_accurate() {
    let rows = TWO.iter().map(|(op, reference, bound, [first, second])| {
        let call = math::binary(*op, F32).expect("the table has every function of f32");
        let [xs, ys] = sweep::two(*first, *second);
        // No more is said of a bare quotient, which the compiler writes of moderate numbers alone where it is not exact.
        let is_bare = *op == BinaryOp::Divide && !crate::support::device().target().arithmetic.exact_division;
        let is_moderate = |x: &f32| x.abs() > 1e-18 && x.abs() < 1e18;
        let (xs, ys): (Vec<f32>, Vec<f32>) =
            xs.into_iter().zip(ys).filter(|(x, y)| !is_bare || is_moderate(x) && is_moderate(y)).unzip();
        let results = gpu::run(call, &[F32, F32], F32, [&bits(&xs), &bits(&ys)]);
        let results = xs.iter().zip(&ys).zip(&results).map(|((x, y), got)| {
            let got = f32::from_bits(*got);
            let wants = seen(*x).flat_map(|x| seen(*y).map(move |y| reference(x, y)));
            let error = wants.map(|want| reference::distance(got, want)).fold(f64::INFINITY, f64::min);
            (error, move || format!("at {x:e}, {y:e}: {got:e} for {:e}", reference(f64::from(*x), f64::from(*y))))
        });
        Row::worst(F32, op.name(), *bound, results)
    });
    accuracy::check(rows);
}

/// What `call` gives, compared with `reference` word by word.
fn exact(
    name: &str,
    (call, operands, result): (Option<math::Call>, &[ElementType], ElementType),
    [xs, ys]: [&[u32]; 2],
    reference: impl Fn(u32, u32) -> u32,
) -> Option<String> {
    let call = call.expect("the tables have every operation on these types");
    let results = gpu::run(call, operands, result, [xs, ys]);
    let wrong = xs.iter().zip(ys).zip(results).find(|((x, y), got)| *got != reference(**x, **y));
    wrong.map(|((x, y), got)| {
        let want = reference(*x, *y);
        format!("{name} on {operands:?}: {got:#x} for {want:#x} at {x:#x}, {y:#x}")
    })
}

#[test]
fn whole_numbers_of_one_operand_are_exact() {
    type Row = (UnaryOp, ElementType, fn(u32) -> u32);
    let rows: [Row; 10] = [
        (UnaryOp::Abs, S32, |x| x.cast_signed().wrapping_abs().cast_unsigned()),
        (UnaryOp::Negate, S32, u32::wrapping_neg),
        (UnaryOp::Sign, S32, |x| x.cast_signed().signum().cast_unsigned()),
        (UnaryOp::Negate, U32, u32::wrapping_neg),
        (UnaryOp::Not, S32, |x| !x),
        (UnaryOp::Not, U32, |x| !x),
        (UnaryOp::CountLeadingZeros, S32, u32::leading_zeros),
        (UnaryOp::CountLeadingZeros, U32, u32::leading_zeros),
        (UnaryOp::PopulationCount, S32, u32::count_ones),
        (UnaryOp::PopulationCount, U32, u32::count_ones),
    ];
    let [xs, _] = sweep::words();
    let failures: Vec<_> = rows
        .iter()
        .filter_map(|(op, ty, want)| exact(op.name(), (math::unary(*op, *ty), &[*ty], *ty), [&xs, &xs], |x, _| want(x)))
        .collect();
    none(&failures);
}

/// A row of a table of whole-number operations, with signed operands.
type Signed = (BinaryOp, fn(i32, i32) -> i32);

/// A row of a table of whole-number operations, with unsigned operands.
type Unsigned = (BinaryOp, fn(u32, u32) -> u32);

const SIGNED: &[Signed] = &[
    (BinaryOp::Add, i32::wrapping_add),
    (BinaryOp::Subtract, i32::wrapping_sub),
    (BinaryOp::Multiply, i32::wrapping_mul),
    (BinaryOp::Divide, |x, y| if y == 0 { -1 } else { x.wrapping_div(y) }),
    (BinaryOp::Remainder, |x, y| if y == 0 { x } else { x.wrapping_rem(y) }),
    (BinaryOp::Maximum, |x, y| x.max(y)),
    (BinaryOp::Minimum, |x, y| x.min(y)),
    (BinaryOp::Power, |x, y| match (x, y.cast_unsigned()) {
        (1, _) => 1,
        (-1, exponent) => 1 - 2 * (exponent & 1).cast_signed(),
        (_, exponent) if y >= 0 => x.wrapping_pow(exponent),
        _ => 0,
    }),
    (BinaryOp::ShiftLeft, |x, y| x.checked_shl(y.cast_unsigned()).unwrap_or(0)),
    (BinaryOp::ShiftRightArithmetic, |x, y| x >> y.cast_unsigned().min(31)),
    (BinaryOp::ShiftRightLogical, |x, y| x.cast_unsigned().checked_shr(y.cast_unsigned()).unwrap_or(0).cast_signed()),
];

const UNSIGNED: &[Unsigned] = &[
    (BinaryOp::Add, u32::wrapping_add),
    (BinaryOp::Subtract, u32::wrapping_sub),
    (BinaryOp::Multiply, u32::wrapping_mul),
    (BinaryOp::Divide, |x, y| x.checked_div(y).unwrap_or(u32::MAX)),
    (BinaryOp::Remainder, |x, y| x.checked_rem(y).unwrap_or(x)),
    (BinaryOp::Maximum, |x, y| x.max(y)),
    (BinaryOp::Minimum, |x, y| x.min(y)),
    (BinaryOp::Power, u32::wrapping_pow),
    (BinaryOp::ShiftLeft, |x, y| x.checked_shl(y).unwrap_or(0)),
    (BinaryOp::ShiftRightArithmetic, |x, y| (x.cast_signed() >> y.min(31)).cast_unsigned()),
    (BinaryOp::ShiftRightLogical, |x, y| x.checked_shr(y).unwrap_or(0)),
    (BinaryOp::And, |x, y| x & y),
    (BinaryOp::Or, |x, y| x | y),
    (BinaryOp::Xor, |x, y| x ^ y),
];

#[test]
fn whole_numbers_of_two_operands_are_exact() {
    let [xs, ys] = sweep::words();
    let check = |op: BinaryOp, ty, want: &dyn Fn(u32, u32) -> u32| {
        exact(op.name(), (math::binary(op, ty), &[ty, ty], ty), [&xs, &ys], want)
    };
    let signed = SIGNED
        .iter()
        .filter_map(|(op, want)| check(*op, S32, &|x, y| want(x.cast_signed(), y.cast_signed()).cast_unsigned()));
    let unsigned = UNSIGNED.iter().filter_map(|(op, want)| check(*op, U32, want));
    none(&signed.chain(unsigned).collect::<Vec<_>>());
}

/// Vectors have the bits of their lanes, NaNs as such.
#[test]
fn functions_of_vectors_are_those_of_their_lanes() {
    let [xs, ys] = sweep::two((-20.0, 20.0), (-30.0, 30.0)).map(|numbers| bits(&numbers));
    let unary = |ty: ElementType| UnaryOp::ALL.iter().map(move |op| (math::unary(*op, ty), vec![ty]));
    let binary = |ty: ElementType| BinaryOp::ALL.iter().map(move |op| (math::binary(*op, ty), vec![ty, ty]));
    let calls = [F32, S32, U32].into_iter().flat_map(|ty| unary(ty).chain(binary(ty)));
    let converted =
        [(F32, S32), (F32, U32), (F32, Pred), (U32, F32)].map(|(from, to)| (math::convert(from, to), vec![from]));
    let mut failures = Vec::new();
    for (call, operands) in calls.chain(converted) {
        let Some(call @ math::Call::Function(name)) = call else { continue };
        let result = match name {
            "is_finite_f32" | "f32_to_bool" => Pred,
            "f32_to_i32" => S32,
            "f32_to_u32" => U32,
            "u32_to_f32" => F32,
            _ => operands[0],
        };
        let [vectors, lanes] =
            [gpu::run_on_vectors(name, &operands, result, [&xs, &ys]), gpu::run(call, &operands, result, [&xs, &ys])];
        let is_nan = |word: u32| result == F32 && f32::from_bits(word).is_nan();
        let differ =
            |(of_vector, of_lane): &(&u32, &u32)| of_vector != of_lane && !(is_nan(**of_vector) && is_nan(**of_lane));
        let wrong = vectors.iter().zip(&lanes).zip(xs.iter().zip(&ys)).find(|(words, _)| differ(words));
        failures.extend(wrong.map(|((got, want), (x, y))| format!("{name}: {got:#x} for {want:#x} at {x:#x}, {y:#x}")));
    }
    none(&failures);
}

#[test]
fn truth_values_are_exact() {
    let rows: [Unsigned; 7] = [
        (BinaryOp::Add, |x, y| x | y),
        (BinaryOp::Or, |x, y| x | y),
        (BinaryOp::Maximum, |x, y| x | y),
        (BinaryOp::Multiply, |x, y| x & y),
        (BinaryOp::And, |x, y| x & y),
        (BinaryOp::Minimum, |x, y| x & y),
        (BinaryOp::Xor, |x, y| x ^ y),
    ];
    let [xs, ys] = [[0, 0, 1, 1], [0, 1, 0, 1]];
    let not = (math::unary(UnaryOp::Not, Pred), &[Pred][..], Pred);
    let failures: Vec<_> = rows
        .iter()
        .filter_map(|(op, want)| exact(op.name(), (math::binary(*op, Pred), &[Pred, Pred], Pred), [&xs, &ys], want))
        .chain(exact("not", not, [&xs, &ys], |x, _| 1 - x))
        .collect();
    none(&failures);
}

/// Whether `x` stands to `y` as `direction` says.
fn relation<T: PartialOrd>(direction: ComparisonDirection, x: T, y: T) -> u32 {
    u32::from(match direction {
        ComparisonDirection::Eq => x == y,
        ComparisonDirection::Ne => x != y,
        ComparisonDirection::Ge => x >= y,
        ComparisonDirection::Gt => x > y,
        ComparisonDirection::Le => x <= y,
        _ => x < y,
    })
}

#[test]
fn comparisons_are_exact() {
    // Subnormal numbers are left out: a driver may take them for zero.
    let floats: Vec<_> = sweep::SPECIAL.iter().copied().chain([-f32::NAN]).filter(|x| !x.is_subnormal()).collect();
    let pairs = floats.iter().flat_map(|x| floats.iter().map(|y| (x.to_bits(), y.to_bits())));
    let (fx, fy): (Vec<_>, Vec<_>) = pairs.unzip();
    let [ix, iy] = sweep::words();
    let key = |x: u32| x.cast_signed() ^ ((x.cast_signed() >> 31) & i32::MAX);
    let mut failures = Vec::new();
    for direction in ComparisonDirection::ALL.iter().copied() {
        let mut check = |ty, order, inputs, want: &dyn Fn(u32, u32) -> u32| {
            let call = math::compare(direction, order, ty);
            failures.extend(exact(direction.name(), (call, &[ty, ty], Pred), inputs, want));
        };
        let float = |x, y| relation(direction, f32::from_bits(x), f32::from_bits(y));
        check(F32, None, [&fx, &fy], &float);
        check(F32, Some(ComparisonType::TotalOrder), [&fx, &fy], &|x, y| relation(direction, key(x), key(y)));
        check(S32, None, [&ix, &iy], &|x, y| relation(direction, x.cast_signed(), y.cast_signed()));
        check(U32, None, [&ix, &iy], &|x, y| relation(direction, x, y));
        check(Pred, None, [&[0, 0, 1, 1], &[0, 1, 0, 1]], &|x, y| relation(direction, x, y));
    }
    none(&failures);
}

#[test]
fn conversions_are_exact() {
    let floats = bits(&sweep::one((-3.0, 3.0)));
    let [words, _] = sweep::words();
    let truths = [0, 1];
    type Row<'a> = (ElementType, ElementType, &'a [u32], fn(u32) -> u32);
    // Rust's `as` truncates and saturates and takes NaN to 0, as HLO's conversions do.
    let rows: [Row<'_>; 13] = [
        (F32, F32, &floats, |x| x),
        (F32, S32, &floats, |x| (f32::from_bits(x) as i32).cast_unsigned()),
        (F32, U32, &floats, |x| f32::from_bits(x) as u32),
        (F32, Pred, &floats, |x| u32::from(f32::from_bits(x) != 0.0)),
        (S32, F32, &words, |x| (x.cast_signed() as f32).to_bits()),
        (U32, F32, &words, |x| (x as f32).to_bits()),
        (S32, U32, &words, |x| x),
        (U32, S32, &words, |x| x),
        (S32, Pred, &words, |x| u32::from(x != 0)),
        (U32, Pred, &words, |x| u32::from(x != 0)),
        (Pred, F32, &truths, |x| (x as f32).to_bits()),
        (Pred, S32, &truths, |x| x),
        (Pred, U32, &truths, |x| x),
    ];
    let failures: Vec<_> = rows
        .iter()
        .filter_map(|(from, to, xs, want)| {
            exact(&format!("convert to {to}"), (math::convert(*from, *to), &[*from], *to), [xs, xs], |x, _| want(x))
        })
        .collect();
    none(&failures);
}

#[test]
fn finite_numbers_are_told_from_others() {
    let floats = bits(&sweep::one((-3.0, 3.0)));
    let call = (math::unary(UnaryOp::IsFinite, F32), &[F32][..], Pred);
    none(&Vec::from_iter(exact("is-finite", call, [&floats, &floats], |x, _| {
        u32::from(f32::from_bits(x).is_finite())
    })));
}
