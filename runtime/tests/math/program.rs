//! Functions of types that registers do not hold, as programs of one operation: floats of 16 bits and complex numbers, against the
//! evaluator in the widest types.

use super::accuracy::{Precision, Row, check};
use super::sweep;
use crate::support::{compile, device};
use weft_hlo::eval::{Config, evaluate_precisely};
use weft_hlo::ir::{BinaryOp, Complex, Data, ElementType, FloatFormat, Literal, Scalar, UnaryOp};
use weft_hlo::random::Rng;
use weft_runtime::{Device, Executable};

/// What a device makes of operands, and what is right; `None` where it does not compute with the type.
fn results(device: &Device, name: &str, result: ElementType, operands: &[Literal]) -> Option<[Literal; 2]> {
    let count = operands[0].data.len()?;
    let ty = operands[0].data.element_type()?;
    let parameters = ["x", "y"].iter().zip(0..operands.len());
    let parameters: String = parameters.map(|(x, n)| format!("  {x} = {ty}[{count}] parameter({n})\n")).collect();
    let arguments = &"x, y"[..3 * operands.len() - 2];
    let module = crate::support::entry(&format!("{parameters}  ROOT r = {result}[{count}] {name}({arguments})"));
    let is_double = matches!(ty, ElementType::F64 | ElementType::C128);
    if is_double && !device.target().features.shader_f64 {
        return None;
    }
    let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{name} of {ty}: {error}"));
    let got = Executable::new(device, program).and_then(|program| program.run(operands));
    let got = got.unwrap_or_else(|error| panic!("{name} of {ty}: {error}")).remove(0);
    let want = evaluate_precisely(&module, operands, &Config::default());
    Some([got, want.unwrap_or_else(|error| panic!("{name} of {ty}: {error}")).remove(0)])
}

/// The parts of an element; a number has no imaginary one.
fn parts(literal: &Literal, position: usize) -> [f64; 2] {
    match literal.data.get(position) {
        Some(Scalar::F32(value)) => [f64::from(value), 0.0],
        Some(Scalar::F64(value)) => [value, 0.0],
        Some(Scalar::C64(value)) => [f64::from(value.re), f64::from(value.im)],
        Some(Scalar::C128(value)) => [value.re, value.im],
        Some(other) => {
            let format = FloatFormat::of(other.element_type()).expect("a float");
            [f64::from(format.value(u16::try_from(other.bits()).expect("16 bits"))), 0.0]
        }
        None => [f64::NAN; 2],
    }
}

/// The worst result of an operation.
fn row(
    device: &Device,
    name: &str,
    result: ElementType,
    operands: &[Literal],
    (function, allowed): (&str, f64),
) -> Option<Row> {
    let [got, want] = results(device, name, result, operands)?;
    let ty = operands[0].data.element_type()?;
    let precision = Precision::of(ty);
    let points = (0..operands[0].data.len()?).map(|position| {
        let (got, want) = (parts(&got, position), parts(&want, position));
        // The unit is that of the larger part, if that is a number, or was one before it was too large.
        let given = || operands.iter().flat_map(|operand| parts(operand, position));
        let is_given_finite = given().all(f64::is_finite);
        // A NaN's sign is nobody's, and may have become an infinity's.
        let signless = |value: f64| if value.is_infinite() { value.abs() } else { value };
        let (got, want) = match given().any(f64::is_nan) {
            true => (got.map(signless), want.map(signless)),
            false => (got, want),
        };
        let size = |value: f64| match is_given_finite && value.is_infinite() {
            true => f64::MAX,
            false if value.is_finite() => value.abs(),
            false => 0.0,
        };
        let like = size(want[0]).max(size(want[1]));
        let error = (0..2).map(|part| precision.distance(got[part], want[part], like)).fold(0.0, f64::max);
        let describe = move || {
            let given: Vec<String> = operands.iter().map(|operand| format!("{:?}", parts(operand, position))).collect();
            format!("at {}: {got:?} for {want:?}", given.join(", "))
        };
        (error, describe)
    });
    Some(Row::worst(ty, function, allowed, points))
}

/// The image of each pattern of a type of 16 bits; a zero where a device may take it for one.
fn patterns(ty: ElementType, by: impl Fn(u16) -> u16) -> Literal {
    let format = FloatFormat::of(ty).expect("a float");
    let mut data = Data::filled(Scalar::from_bits(0, ty), 1 << 16);
    for position in 0..=u16::MAX {
        let pattern = by(position);
        let pattern = if format.value(pattern).is_subnormal() { pattern & 1 << 15 } else { pattern };
        data.set(usize::from(position), Scalar::from_bits(u128::from(pattern), ty));
    }
    Literal::array([1 << 16], data)
}

/// The largest error of a result that was computed with some bits more and rounded once.
const ROUNDED: f64 = 0.51;

#[test]
fn functions_of_16_bits_are_accurate() {
    let device = device();
    for ty in [ElementType::F16, ElementType::Bf16] {
        let mut rows = Vec::new();
        let all = patterns(ty, |pattern| pattern);
        for (op, ..) in super::ONE {
            let operands = std::slice::from_ref(&all);
            rows.extend(row(&device, op.name(), ty, operands, (op.name(), ROUNDED)));
        }
        // Each pattern with a number near it, and with any other.
        for op in [BinaryOp::Atan2, BinaryOp::Divide, BinaryOp::Multiply, BinaryOp::Power, BinaryOp::Remainder] {
            let others =
                [patterns(ty, |pattern| pattern ^ 0x155), patterns(ty, |pattern| pattern.wrapping_mul(40_503))];
            rows.extend(
                others
                    .into_iter()
                    .filter_map(|other| row(&device, op.name(), ty, &[all.clone(), other], (op.name(), ROUNDED))),
            );
        }
        check(rows);
    }
}

/// A function of one complex number, and the error allowed.
const ONE: &[(UnaryOp, f64)] = &[
    (UnaryOp::Abs, 8.0),
    (UnaryOp::Acos, 8.0),
    (UnaryOp::Acosh, 8.0),
    (UnaryOp::Asin, 8.0),
    (UnaryOp::Asinh, 8.0),
    (UnaryOp::Atanh, 8.0),
    (UnaryOp::Cbrt, 8.0),
    (UnaryOp::Cosine, 8.0),
    (UnaryOp::Cosh, 8.0),
    (UnaryOp::Exponential, 8.0),
    (UnaryOp::ExponentialMinusOne, 8.0),
    (UnaryOp::Log, 8.0),
    (UnaryOp::LogPlusOne, 8.0),
    (UnaryOp::Logistic, 8.0),
    (UnaryOp::Rsqrt, 8.0),
    (UnaryOp::Sign, 8.0),
    (UnaryOp::Sine, 8.0),
    (UnaryOp::Sinh, 8.0),
    (UnaryOp::Sqrt, 8.0),
    (UnaryOp::Tan, 8.0),
    (UnaryOp::Tanh, 8.0),
];

/// A complex number with parts of `f64`.
type Point = [f64; 2];

/// A function of two complex numbers, where it is looked at, and the error allowed.
type Two = (BinaryOp, &'static str, fn(ElementType, [Point; 2]) -> bool, f64);

const TWO: &[Two] = &[
    (BinaryOp::Atan2, " away from poles, cuts and zeros", is_plain_angle, 8.0),
    (BinaryOp::Divide, "", |_, _| true, 8.0),
    (BinaryOp::Multiply, " without overflow of a product of parts", does_not_overflow, 8.0),
    (BinaryOp::Power, " with an exponent times logarithm up to 1", |_, pair| is_moderate(1.0, pair), 8.0),
    (BinaryOp::Power, " with an exponent times logarithm up to 10", |_, pair| is_moderate(10.0, pair), 8.0),
    (BinaryOp::Power, " with an exponent times logarithm up to 100", |_, pair| is_moderate(100.0, pair), 8.0),
    (
        BinaryOp::Power,
        " with an exponent times logarithm up to 1000",
        |ty, pair| is_finite_power(ty, 1000.0, pair),
        8.0,
    ),
];

/// Whether an angle has one value, and the evaluator's formula finds it: `x^2 + y^2`, which vanishes at poles and whose root has a cut, must
/// neither cancel nor be next to the cut, where it underflows, and its root must differ from `x + i y`, of which the quotient
/// is 1 else; and half a turn to the left is none to the right.
fn is_plain_angle(ty: ElementType, [[c, d], [a, b]]: [Point; 2]) -> bool {
    let most = [a, b, c, d].into_iter().fold(0.0, |most: f64, part| most.max(part.abs()));
    let [a, b, c, d] = [a, b, c, d].map(|part| part / most);
    let lengths = (a - d).hypot(b + c) * (a + d).hypot(b - c);
    let (least, small) = if ty == ElementType::C64 { (1e-4, 1e-6) } else { (0.5, 0.5) };
    let [re, im] = [a * a - b * b + c * c - d * d, 2.0 * (a * b + c * d)];
    let is_apart = (re > 0.0 || im.abs() > 1e-30) && (a * c + b * d).abs() > 1e-6;
    !most.is_normal() || lengths >= least && is_apart && c.hypot(d) >= small * a.hypot(b)
}

/// Whether no product of finite parts is infinite. As XLA does it, sums are of the parts' products, and differences of infinities NaNs.
fn does_not_overflow(ty: ElementType, [a, b]: [Point; 2]) -> bool {
    let greatest = if ty == ElementType::C64 { f64::from(f32::MAX) } else { f64::MAX };
    let products = a.into_iter().flat_map(|x| b.into_iter().map(move |y| (x, y)));
    products.into_iter().all(|(x, y)| !x.is_finite() || !y.is_finite() || (x * y).abs() <= greatest)
}

/// Whether a product of parts is no zero and below the normal numbers.
fn has_subnormal_product(ty: ElementType, [a, b]: [Point; 2]) -> bool {
    let least = if ty == ElementType::C64 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let mut products = a.into_iter().flat_map(|x| b.into_iter().map(move |y| (x, y)));
    products.any(|(x, y)| x != 0.0 && y != 0.0 && (x * y).abs() < least)
}

/// Whether the exponential that a power is has an argument of at most so many units.
fn is_moderate(most: f64, [base, exponent]: [Point; 2]) -> bool {
    let logarithm = base[0].hypot(base[1]).ln().abs() + base[1].atan2(base[0]).abs();
    let size = exponent[0].hypot(exponent[1]) * logarithm;
    size.is_nan() || size <= most || base == [0.0; 2]
}

/// The same of powers whose parts have room in the type, or would not have any in a wider one.
fn is_finite_power(ty: ElementType, most: f64, [base, exponent]: [Point; 2]) -> bool {
    let greatest = if ty == ElementType::C64 { 88.0 } else { 709.0 };
    let logarithm = [base[0].hypot(base[1]).ln(), base[1].atan2(base[0])];
    let size = exponent[0] * logarithm[0] - exponent[1] * logarithm[1];
    is_moderate(most, [base, exponent]) && (size <= greatest || !size.is_finite())
}

/// Numbers of this type, of as many as `points` says.
fn literal(ty: ElementType, points: &[Point]) -> Literal {
    // What a device may take for zero is left out.
    let single = |part: f64| {
        let part = part as f32;
        if part.is_subnormal() { 0f32.copysign(part) } else { part }
    };
    let double = |part: f64| if part.is_subnormal() { 0f64.copysign(part) } else { part };
    let data = match ty {
        ElementType::C64 => Data::C64(points.iter().map(|[re, im]| Complex::new(single(*re), single(*im))).collect()),
        _ => Data::C128(points.iter().map(|[re, im]| Complex::new(double(*re), double(*im))).collect()),
    };
    Literal::array([points.len() as i64], data)
}

/// The values at which complex functions change their course.
fn special(ty: ElementType) -> Vec<f64> {
    let of_all = [0.0, 0.5, 1.0, 2.0, 3.0, 10.0, 80.0, 100.0, f64::INFINITY, f64::NAN];
    let own: [f64; 4] = match ty {
        ElementType::C64 => [1e-30, 1e30, f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)],
        _ => [1e-200, 1e200, f64::MAX, f64::MIN_POSITIVE],
    };
    of_all.into_iter().chain(own).flat_map(|value| [value, -value]).collect()
}

/// A number in `[-1, 1)`.
fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / 2f64.powi(52) - 1.0
}

/// The next complex number: of all magnitudes, of moderate ones, near the unit circle, 1 or the axes.
fn point(rng: &mut Rng, ty: ElementType) -> Point {
    let any = |rng: &mut Rng| loop {
        let part = match ty {
            ElementType::C64 => f64::from(f32::from_bits(sweep::word(rng))),
            _ => f64::from_bits(rng.next_u64()),
        };
        if part.is_finite() {
            return part;
        }
    };
    let small = |rng: &mut Rng| unit(rng) * 2f64.powi(-(rng.below(60) as i32));
    match rng.below(8) {
        0 => [any(rng), any(rng)],
        1 => [unit(rng) * 4.0, unit(rng) * 4.0],
        2 => [unit(rng) * 100.0, unit(rng) * 100.0],
        3 => [unit(rng) * 20.0, unit(rng) * 100_000.0],
        4 => {
            let (sine, cosine) = (unit(rng) * std::f64::consts::PI).sin_cos();
            let length = 1.0 + small(rng);
            [length * cosine, length * sine]
        }
        5 => {
            let (re, sign) = (1.0 + small(rng), if rng.chance(50) { 1.0 } else { -1.0 });
            let im = small(rng);
            if rng.chance(50) { [sign * re, im] } else { [im, sign * re] }
        }
        6 => [small(rng), small(rng)],
        _ => {
            let part = unit(rng) * 30.0;
            let rest = part * small(rng);
            if rng.chance(50) { [part, rest] } else { [rest, part] }
        }
    }
}

/// Special values in both parts, and random ones.
fn points(ty: ElementType) -> Vec<Point> {
    let special = special(ty);
    let mut points: Vec<Point> = special.iter().flat_map(|re| special.iter().map(|im| [*re, *im])).collect();
    let rng = &mut Rng::new(5);
    while points.len() < sweep::count() {
        points.push(point(rng, ty));
    }
    points
}

fn complex_functions_of_one(ty: ElementType) {
    let (device, operand) = (device(), literal(ty, &points(ty)));
    let mut rows = Vec::new();
    for (op, allowed) in ONE {
        let result = match (op, ty) {
            (UnaryOp::Abs, ElementType::C64) => ElementType::F32,
            (UnaryOp::Abs, _) => ElementType::F64,
            _ => ty,
        };
        let operands = std::slice::from_ref(&operand);
        rows.extend(row(&device, op.name(), result, operands, (op.name(), *allowed)));
    }
    check(rows);
}

fn complex_functions_of_two(ty: ElementType) {
    let device = device();
    let special = special(ty);
    let corners: Vec<Point> = special.iter().flat_map(|re| special.iter().map(|im| [*re, *im])).collect();
    let rng = &mut Rng::new(6);
    let mut pairs: Vec<[Point; 2]> = (0..sweep::count() / 4)
        .map(|_| [corners[rng.below(corners.len())], corners[rng.below(corners.len())]])
        .collect();
    while pairs.len() < sweep::count() {
        pairs.push([point(rng, ty), point(rng, ty)]);
    }
    let keeps = device.target().arithmetic.flushes_denormals == Some(false);
    let rows = TWO.iter().filter_map(|(op, domain, is_within, allowed)| {
        // A device may take the product of two parts for zero, of which the sum has more than its last place.
        let is_summed = |pair| keeps || *op != BinaryOp::Multiply || !has_subnormal_product(ty, pair);
        let is_meant = |pair: &&[Point; 2]| is_within(ty, **pair) && is_summed(**pair);
        let within: Vec<&[Point; 2]> = pairs.iter().filter(is_meant).collect();
        let operands = [0, 1].map(|side| literal(ty, &within.iter().map(|pair| pair[side]).collect::<Vec<_>>()));
        row(&device, op.name(), ty, &operands, (&format!("{}{domain}", op.name()), *allowed))
    });
    check(rows);
}

/// Half a turn to the left is none to the right, also where nothing is left of the rest of the angle; and small angles are not lost.
fn complex_angles(ty: ElementType) {
    let pairs: [[Point; 2]; 14] = [
        [[-2.4637, 6e-28], [-9.2, -1.66e30]],
        [[2.4637, -6e-28], [-9.2, -1.66e30]],
        [[0.0, 0.0], [-0.7, 0.3]],
        [[0.0, 0.0], [-0.7, -0.3]],
        [[0.0, 0.0], [-1.0, 0.0]],
        [[0.0, 0.0], [-1.0, -0.0]],
        [[-0.0, 0.0], [-3e7, -1e-20]],
        [[0.0, 0.0], [3.0, -4.0]],
        [[1e-20, 0.0], [-1.0, 1e-3]],
        [[-1e-20, 0.0], [-1.0, 1e-3]],
        [[1e-20, 3e-20], [-1.0, -2.0]],
        [[1e-20, 3e-20], [1.0, 2.0]],
        [[1.0, 0.0], [-1.0, 0.0]],
        [[5.0, 3.0], [3e38, 1e-38]],
    ];
    let operands = [0, 1].map(|side| literal(ty, &pairs.map(|pair| pair[side])));
    let Some([given, wanted]) = results(&device(), "atan2", ty, &operands) else { return };
    let unit = if ty == ElementType::C64 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    for (at, pair) in pairs.iter().enumerate() {
        let [given, wanted] = [&given, &wanted].map(|literal| parts(literal, at));
        let allowed = 8.0 * unit * wanted[0].abs().max(wanted[1].abs()) + f64::from(f32::MIN_POSITIVE);
        let is_right = given.iter().zip(&wanted).all(|(given, wanted)| (given - wanted).abs() <= allowed);
        assert!(is_right, "{ty} {pair:?} has the angle {wanted:?} and not {given:?}");
    }
}

#[test]
fn complex_angles_keep_to_their_side_of_the_cut() {
    complex_angles(ElementType::C64);
}

#[test]
fn wide_complex_angles_keep_to_their_side_of_the_cut() {
    complex_angles(ElementType::C128);
}

#[test]
fn functions_of_one_complex_number_are_accurate() {
    complex_functions_of_one(ElementType::C64);
}

#[test]
fn functions_of_two_complex_numbers_are_accurate() {
    complex_functions_of_two(ElementType::C64);
}

#[test]
fn functions_of_one_wide_complex_number_are_accurate() {
    complex_functions_of_one(ElementType::C128);
}

#[test]
fn functions_of_two_wide_complex_numbers_are_accurate() {
    complex_functions_of_two(ElementType::C128);
}
