//! The functions of `f64` against those of the evaluator, which are within a unit in the last place of what is right.

use super::accuracy::{self, Row};
use super::{gpu, sweep};
use weft_codegen_wgsl::math;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{BinaryOp, Data, ElementType, Literal, UnaryOp};
use weft_hlo::random::Rng;

/// A function of one number, the error allowed in units in the last place, and where to look closely.
type One = (UnaryOp, f64, (f64, f64));

/// Likewise of two numbers.
type Two = (BinaryOp, f64, [(f64, f64); 2]);

/// The accuracy that the library promises.
const ONE: &[One] = &[
    (UnaryOp::Abs, 0.0, (-2.0, 2.0)),
    (UnaryOp::Acos, 3.0, (-1.0, 1.0)),
    (UnaryOp::Acosh, 3.0, (1.0, 20.0)),
    (UnaryOp::Asin, 3.0, (-1.0, 1.0)),
    (UnaryOp::Asinh, 3.0, (-20.0, 20.0)),
    (UnaryOp::Atanh, 3.0, (-1.0, 1.0)),
    (UnaryOp::Cbrt, 2.0, (-30.0, 30.0)),
    (UnaryOp::Ceil, 0.0, (-10.0, 10.0)),
    (UnaryOp::Cosine, 2.0, (-100_000.0, 100_000.0)),
    (UnaryOp::Cosh, 3.0, (-712.0, 712.0)),
    (UnaryOp::Erf, 3.0, (-6.5, 6.5)),
    (UnaryOp::Exponential, 2.0, (-750.0, 712.0)),
    (UnaryOp::ExponentialMinusOne, 3.0, (-40.0, 40.0)),
    (UnaryOp::Floor, 0.0, (-10.0, 10.0)),
    (UnaryOp::Log, 2.0, (0.0, 3.0)),
    (UnaryOp::LogPlusOne, 2.0, (-1.0, 2.0)),
    (UnaryOp::Logistic, 3.0, (-40.0, 40.0)),
    (UnaryOp::Negate, 0.0, (-2.0, 2.0)),
    (UnaryOp::RoundNearestAfz, 0.0, (-10.0, 10.0)),
    (UnaryOp::RoundNearestEven, 0.0, (-10.0, 10.0)),
    (UnaryOp::Rsqrt, 2.0, (0.0, 10.0)),
    (UnaryOp::Sine, 2.0, (-100_000.0, 100_000.0)),
    (UnaryOp::Sinh, 3.0, (-712.0, 712.0)),
    (UnaryOp::Sqrt, 0.0, (0.0, 10.0)),
    (UnaryOp::Tan, 3.0, (-100.0, 100.0)),
    (UnaryOp::Tanh, 3.0, (-20.0, 20.0)),
];

const TWO: &[Two] = &[
    (BinaryOp::Add, 0.0, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Atan2, 3.0, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Divide, 0.0, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Multiply, 0.0, [(-2.0, 2.0), (-2.0, 2.0)]),
    (BinaryOp::Power, 2.0, [(0.0, 20.0), (-230.0, 230.0)]),
    (BinaryOp::Power, 2.0, [(0.9, 1.1), (-7000.0, 7000.0)]),
    (BinaryOp::Remainder, 0.0, [(-1000.0, 1000.0), (-10.0, 10.0)]),
    (BinaryOp::Subtract, 0.0, [(-2.0, 2.0), (-2.0, 2.0)]),
];

/// Values at which functions change their course.
const SPECIAL: &[f64] = &[
    0.0,
    0.3,
    0.4375,
    0.5,
    0.6744,
    0.6875,
    0.84375,
    0.975,
    1.0,
    1.1875,
    1.25,
    1.5,
    2.0,
    2.4375,
    2.5,
    2.857_142_857_142_857,
    3.0,
    6.0,
    10.0,
    22.0,
    0.1,
    1e-8,
    1e-9,
    1e-16,
    1e-17,
    1e-30,
    1e-300,
    1e-310,
    5e-324,
    f64::MIN_POSITIVE,
    1.000_000_000_000_000_2,
    0.999_999_999_999_999_9,
    53.0,
    709.782_712_893_384,
    709.782_712_893_384_1,
    745.133_219_101_941_1,
    745.133_219_101_941_2,
    1024.0,
    1074.0,
    1_048_575.9,
    1_048_576.0,
    4_503_599_627_370_495.5,
    9_007_199_254_740_991.0,
    9_007_199_254_740_993.0,
    1e9,
    1e10,
    1e22,
    1e280,
    1e300,
    // The double nearest to a multiple of pi / 2.
    5.319_372_648_326_541e255,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
    std::f64::consts::FRAC_PI_4,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::PI,
    std::f64::consts::LN_2,
    std::f64::consts::E,
];

/// All of them with both signs.
fn special() -> impl Iterator<Item = f64> + Clone {
    SPECIAL.iter().flat_map(|x| [*x, -*x])
}

/// The next number in `[low, high)`.
fn between(rng: &mut Rng, (low, high): (f64, f64)) -> f64 {
    low + (high - low) * ((rng.next_u64() >> 11) as f64 / 2f64.powi(53))
}

/// How far `got` lies from `want`, in units in the last place of a number of the size of `want`; infinite where special values differ.
fn distance(got: f64, want: f64) -> f64 {
    if want.is_nan() || got.is_nan() || want == 0.0 || want.is_infinite() || got.is_infinite() {
        let is_same = got == want && got.is_sign_negative() == want.is_sign_negative();
        // What is rounded to an infinity may be rounded to what is next to it, and what to zero to the least number.
        let is_next = (got.abs() == f64::MAX || want.abs() == f64::MAX) && got.signum() == want.signum();
        let is_least = want == 0.0 && got.abs() <= 5e-324;
        return match (got.is_nan(), want.is_nan()) {
            (true, true) => 0.0,
            (false, false) if is_same => 0.0,
            (false, false) if is_next || is_least => 1.0,
            _ => f64::INFINITY,
        };
    }
    let exponent = ((want.abs().to_bits() >> 52) as i32).max(1) - 1075;
    (got - want).abs() / 2f64.powi(exponent.max(-1022)) / 2f64.powi(exponent.min(-1022) + 1022)
}

/// What an operation should give.
fn wanted(name: &str, inputs: &[&[f64]]) -> Vec<f64> {
    let count = inputs[0].len();
    let parameters = ["x", "y"].iter().zip(0..inputs.len());
    let parameters: String = parameters.map(|(x, n)| format!("  {x} = f64[{count}] parameter({n})\n")).collect();
    let operands = &"x, y"[..3 * inputs.len() - 2];
    let module = crate::support::entry(&format!("{parameters}  ROOT r = f64[{count}] {name}({operands})"));
    let inputs: Vec<Literal> = inputs.iter().map(|input| Literal::array(vec![count as i64], input.to_vec())).collect();
    match evaluate(&module, &inputs).expect("the evaluator has every function").remove(0).data {
        Data::F64(values) => values.to_vec(),
        _ => Vec::new(),
    }
}

/// Where an exponential overflows the evaluator's is 0 early.
fn logistic(x: f64) -> f64 {
    let power = (-x.abs()).exp();
    if x < 0.0 { power / (1.0 + power) } else { 1.0 / (1.0 + power) }
}

#[test]
fn functions_of_one_double_are_accurate() {
    let rows = ONE.iter().map_while(|(op, allowed, dense)| {
        let call = math::unary(*op, ElementType::F64).expect("the table has every function of f64");
        let rng = &mut Rng::new(3);
        let mut inputs: Vec<f64> = special().collect();
        inputs.extend((0..2_000u16).map(|i| f64::from(i) * std::f64::consts::FRAC_PI_2));
        for _ in 0..sweep::count().max(120_000) / 4 {
            inputs.push(f64::from_bits(rng.next_u64()));
            inputs.push(between(rng, *dense));
            inputs.push(between(rng, (-1.5, 1.5)));
            inputs.push(between(rng, (-1.0, 1.0)).powi(9));
        }
        let results = gpu::run_on_doubles(call, 1, [&inputs, &inputs])?;
        let wanted = match op {
            UnaryOp::Logistic => inputs.iter().map(|x| logistic(*x)).collect(),
            _ => wanted(op.name(), &[&inputs]),
        };
        let results = inputs.iter().zip(results).zip(wanted);
        let results =
            results.map(|((x, got), want)| (distance(got, want), move || format!("at {x:e}: {got:e} for {want:e}")));
        Some(Row::worst(ElementType::F64, op.name(), *allowed, results))
    });
    accuracy::check(rows);
}

#[test]
fn functions_of_two_doubles_are_accurate() {
    let rows = TWO.iter().map_while(|(op, allowed, [first, second])| {
        let call = math::binary(*op, ElementType::F64).expect("the table has every function of f64");
        let rng = &mut Rng::new(4);
        let mut pairs: Vec<(f64, f64)> = special().flat_map(|x| special().map(move |y| (x, y))).collect();
        for _ in 0..sweep::count().max(100_000) / 2 {
            pairs.push((f64::from_bits(rng.next_u64()), f64::from_bits(rng.next_u64())));
            pairs.push((between(rng, *first), between(rng, *second)));
        }
        let (xs, ys): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let results = gpu::run_on_doubles(call, 2, [&xs, &ys])?;
        let wanted = match op {
            // The evaluator's is 0 where a quotient is subnormal.
            BinaryOp::Atan2 => pairs.iter().map(|(x, y)| x.atan2(*y)).collect(),
            _ => wanted(op.name(), &[&xs, &ys]),
        };
        let results = pairs.iter().zip(results).zip(wanted).map(|(((x, y), got), want)| {
            (distance(got, want), move || format!("at {x:e}, {y:e}: {got:e} for {want:e}"))
        });
        Some(Row::worst(ElementType::F64, op.name(), *allowed, results))
    });
    accuracy::check(rows);
}
