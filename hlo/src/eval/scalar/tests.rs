//! Element semantics against values written by hand.

use super::function::PROCESSOR;
use super::*;
use crate::ir::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, FloatFormat, UnaryOp};

fn one<T: Element>(op: UnaryOp, a: T) -> T {
    T::unary(op).unwrap_or_else(|| panic!("{} is not defined for {}", op.name(), T::ELEMENT_TYPE)).one(a)
}

fn two<T: Element>(op: BinaryOp, a: T, b: T) -> T {
    T::binary(op).unwrap_or_else(|| panic!("{} is not defined for {}", op.name(), T::ELEMENT_TYPE)).one(a, b)
}

fn f32_of(op: UnaryOp, a: f32) -> f32 {
    one(op, a)
}

fn f32_of_two(op: BinaryOp, a: f32, b: f32) -> f32 {
    two(op, a, b)
}

fn s32_of_two(op: BinaryOp, a: i32, b: i32) -> i32 {
    two(op, a, b)
}

fn u32_of_two(op: BinaryOp, a: u32, b: u32) -> u32 {
    two(op, a, b)
}

#[test]
fn every_operation_is_defined_exactly_where_the_shape_functions_accept_it() {
    for &element_type in ElementType::ALL {
        for &op in UnaryOp::ALL {
            // These give elements of another type.
            if op == UnaryOp::IsFinite || (op == UnaryOp::Abs && element_type.is_complex()) {
                continue;
            }
            let accepted = crate::shape::unary_accepts(op, element_type);
            let form = Form::of(element_type);
            let is_defined = elements_of!(element_type, T => <T as Held>::unary(op, form).is_some());
            assert_eq!(is_defined, accepted, "{} of {element_type}", op.name());
        }
        for &op in BinaryOp::ALL {
            // Complex numbers have no order, though the verifier lets these pass.
            let orders = matches!(op, BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::Remainder);
            if element_type.is_complex() && orders {
                continue;
            }
            let accepted = crate::shape::binary_accepts(op, element_type);
            let form = Form::of(element_type);
            let is_defined = elements_of!(element_type, T => <T as Held>::binary(op, form).is_some());
            assert_eq!(is_defined, accepted, "{} of {element_type}", op.name());
        }
    }
}

#[test]
fn floats() {
    for (op, a, value) in [
        (UnaryOp::Abs, -0.0, 0.0),
        (UnaryOp::Acos, 1.0, 0.0),
        (UnaryOp::Acosh, 1.0, 0.0),
        (UnaryOp::Asin, 1.0, std::f32::consts::FRAC_PI_2),
        (UnaryOp::Asinh, -0.0, -0.0),
        (UnaryOp::Atanh, 1.0, f32::INFINITY),
        (UnaryOp::Cbrt, -27.0, -3.0),
        (UnaryOp::Ceil, -0.5, -0.0),
        (UnaryOp::Cosine, 0.0, 1.0),
        (UnaryOp::Cosh, 0.0, 1.0),
        (UnaryOp::Exponential, 1.0, std::f32::consts::E),
        (UnaryOp::Exponential, 1000.0, f32::INFINITY),
        (UnaryOp::ExponentialMinusOne, 1e-20, 1e-20),
        (UnaryOp::Floor, -0.5, -1.0),
        (UnaryOp::Log, 0.0, f32::NEG_INFINITY),
        (UnaryOp::LogPlusOne, 1e-20, 1e-20),
        (UnaryOp::Logistic, 0.0, 0.5),
        (UnaryOp::Logistic, -1000.0, 0.0),
        (UnaryOp::RoundNearestAfz, 2.5, 3.0),
        (UnaryOp::RoundNearestAfz, -2.5, -3.0),
        (UnaryOp::RoundNearestAfz, 0.499_999_97, 0.0),
        (UnaryOp::RoundNearestEven, 2.5, 2.0),
        (UnaryOp::RoundNearestEven, -3.5, -4.0),
        (UnaryOp::Rsqrt, 4.0, 0.5),
        (UnaryOp::Rsqrt, 0.0, f32::INFINITY),
        (UnaryOp::Sign, -7.0, -1.0),
        (UnaryOp::Sign, -0.0, -0.0),
        (UnaryOp::Tan, 0.0, 0.0),
        (UnaryOp::Tanh, 100.0, 1.0),
        (UnaryOp::Tanh, 1e-8, 1e-8),
    ] {
        assert_eq!(f32_of(op, a).to_bits(), value.to_bits(), "{}({a}) = {}", op.name(), f32_of(op, a));
    }
    for op in [UnaryOp::Sign, UnaryOp::Log, UnaryOp::Sqrt, UnaryOp::Erf, UnaryOp::Logistic, UnaryOp::Tanh] {
        assert!(f32_of(op, f32::NAN).is_nan(), "{}", op.name());
    }
    assert!(f32_of(UnaryOp::Log, -1.0).is_nan());
    // A sum that cancels below 1 may leave a number whose logarithm is none of acosh.
    for a in [0.5, -1.0, -2.0, -1e5, -1_055_767.5, -3e7, f32::MIN, f32::NEG_INFINITY] {
        assert!(f32_of(UnaryOp::Acosh, a).is_nan(), "{a}");
    }
    assert!(f32_of(UnaryOp::Sqrt, -1.0).is_nan());
}

#[test]
fn floats_of_two() {
    let nan = f32::NAN;
    for op in [BinaryOp::Maximum, BinaryOp::Minimum] {
        assert!(f32_of_two(op, nan, 1.0).is_nan());
        assert!(f32_of_two(op, 1.0, nan).is_nan());
    }
    for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
        assert_eq!(f32_of_two(BinaryOp::Maximum, a, b).to_bits(), 0f32.to_bits(), "maximum({a}, {b})");
        assert_eq!(f32_of_two(BinaryOp::Minimum, a, b).to_bits(), (-0f32).to_bits(), "minimum({a}, {b})");
    }
    for a in [-0.0, 0.0, -1.5, f32::NEG_INFINITY] {
        assert_eq!(f32_of_two(BinaryOp::Maximum, a, a).to_bits(), a.to_bits());
        assert_eq!(f32_of_two(BinaryOp::Minimum, a, a).to_bits(), a.to_bits());
    }
    assert_eq!(f32_of_two(BinaryOp::Maximum, 2.0, 1.0), 2.0);
    assert_eq!(f32_of_two(BinaryOp::Minimum, 2.0, 1.0), 1.0);
    assert_eq!(f32_of_two(BinaryOp::Maximum, 1.0, 2.0), 2.0);
    assert_eq!(f32_of_two(BinaryOp::Minimum, 1.0, 2.0), 1.0);
    assert_eq!(f32_of_two(BinaryOp::Remainder, -7.5, 2.0), -1.5);
    assert_eq!(f32_of_two(BinaryOp::Remainder, 7.5, -2.0), 1.5);
    assert!(f32_of_two(BinaryOp::Remainder, 1.0, 0.0).is_nan());
    assert_eq!(f32_of_two(BinaryOp::Power, 0.0, 0.0), 1.0);
    assert_eq!(f32_of_two(BinaryOp::Power, -2.0, 3.0), -8.0);
    assert!(f32_of_two(BinaryOp::Power, -2.0, 0.5).is_nan());
    assert_eq!(f32_of_two(BinaryOp::Atan2, 0.0, -1.0), std::f32::consts::PI);
    assert_eq!(f32_of_two(BinaryOp::Atan2, 0.0, 0.0), 0.0);
}

#[test]
fn integers_at_their_edges() {
    let (min, max) = (i32::MIN, i32::MAX);
    assert_eq!(s32_of_two(BinaryOp::Add, max, 1), min);
    assert_eq!(s32_of_two(BinaryOp::Multiply, min, -1), min);
    assert_eq!(s32_of_two(BinaryOp::Divide, 7, 0), -1);
    assert_eq!(s32_of_two(BinaryOp::Divide, min, -1), min);
    assert_eq!(s32_of_two(BinaryOp::Divide, -7, 2), -3);
    assert_eq!(s32_of_two(BinaryOp::Remainder, -7, 2), -1);
    assert_eq!(s32_of_two(BinaryOp::Remainder, -7, 0), -7);
    assert_eq!(s32_of_two(BinaryOp::Remainder, min, -1), 0);
    assert_eq!(u32_of_two(BinaryOp::Divide, 7, 0), u32::MAX);
    assert_eq!(u32_of_two(BinaryOp::Remainder, 7, 0), 7);
    assert_eq!(u32_of_two(BinaryOp::Subtract, 0, 1), u32::MAX);

    for by in [32, 33, -1, min] {
        assert_eq!(s32_of_two(BinaryOp::ShiftLeft, -1, by), 0);
        assert_eq!(s32_of_two(BinaryOp::ShiftRightLogical, -1, by), 0);
        assert_eq!(s32_of_two(BinaryOp::ShiftRightArithmetic, -5, by), -1);
        assert_eq!(s32_of_two(BinaryOp::ShiftRightArithmetic, 5, by), 0);
    }
    assert_eq!(s32_of_two(BinaryOp::ShiftRightLogical, -1, 31), 1);
    assert_eq!(u32_of_two(BinaryOp::ShiftRightArithmetic, 1 << 31, 40), u32::MAX);

    assert_eq!(s32_of_two(BinaryOp::Power, 3, 4), 81);
    assert_eq!(s32_of_two(BinaryOp::Power, 0, 0), 1);
    assert_eq!(s32_of_two(BinaryOp::Power, 2, -1), 0);
    assert_eq!(s32_of_two(BinaryOp::Power, 1, min), 1);
    assert_eq!(s32_of_two(BinaryOp::Power, -1, -3), -1);
    assert_eq!(s32_of_two(BinaryOp::Power, -1, -4), 1);
    assert_eq!(u32_of_two(BinaryOp::Power, 2, 33), 0);
}

#[test]
fn integers_of_one() {
    assert_eq!(one(UnaryOp::Abs, i32::MIN), i32::MIN);
    assert_eq!(one(UnaryOp::Negate, i32::MIN), i32::MIN);
    assert_eq!(one(UnaryOp::Not, 0i32), -1);
    assert_eq!(one(UnaryOp::Sign, -9i32), -1);
    assert_eq!(one(UnaryOp::CountLeadingZeros, 0i32), 32);
    assert_eq!(one(UnaryOp::CountLeadingZeros, -1i32), 0);
    assert_eq!(one(UnaryOp::PopulationCount, -1i32), 32);
}

fn to<T: Element, R: Element>(value: T) -> R {
    R::of(value.number())
}

#[test]
fn conversions_saturate_and_wrap() {
    assert_eq!([f32::NAN, 3e9, -3e9, -1.9].map(to::<f32, i32>), [0, i32::MAX, i32::MIN, -1]);
    assert_eq!([f32::NAN, 5e9, -1.0].map(to::<f32, u32>), [0, u32::MAX, 0]);
    assert_eq!(to::<i32, u32>(-1), u32::MAX);
    assert_eq!(to::<u32, i32>(u32::MAX), -1);
    assert_eq!([f32::NAN, -0.0, 0.5].map(to::<f32, bool>), [true, false, true]);
    assert!(to::<i32, bool>(7));
    assert_eq!((to::<bool, f32>(true), to::<bool, i32>(true), to::<bool, u32>(false)), (1.0, 1, 0));
    // Halfway between two numbers: to the even one.
    assert_eq!(to::<i32, f32>(16_777_217), 16_777_216.0);
}

/// The values about each tie of a format of 16 bits, and about the places where an `f32` between would be a tie itself.
fn about_ties(format: FloatFormat) -> Vec<f64> {
    // 65520 is the tie between the greatest `f16` and infinity.
    let mut values = vec![f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 0.0, 65520.0, 65520f64.next_down()];
    for bits in 0..u16::MAX >> 1 {
        let (low, high) = (f64::from(format.value(bits)), f64::from(format.value(bits + 1)));
        if high.is_finite() {
            let tie = (low + high) / 2.0;
            let far = (high - low) / 4096.0;
            let near = (high - low) * f64::EPSILON * 256.0;
            values.extend([low, tie, tie - far, tie + far, tie - near, tie + near, tie.next_down(), tie.next_up()]);
        }
    }
    values
}

#[test]
fn halves_are_rounded_once() {
    for element_type in [ElementType::F16, ElementType::Bf16] {
        let (form, format) = (Form::of(element_type), FloatFormat::of(element_type).unwrap());
        let rounded = |value: f64| <u16 as Held>::nearest(Number::Real(value), form);
        for value in about_ties(format) {
            for value in [value, -value] {
                let expected = format.nearest(value).or(format.infinity(value < 0.0)).unwrap();
                assert_eq!(rounded(value), expected, "{value:e}");
            }
        }
        assert!(format.value(rounded(f64::NAN)).is_nan());
    }
}

fn compared<T: Element>(direction: ComparisonDirection, order: Option<ComparisonType>, a: T, b: T) -> bool {
    T::relation(direction, order).unwrap().one(a, b)
}

#[test]
fn relations() {
    let float = compared::<f32>;
    let total = Some(ComparisonType::TotalOrder);
    use ComparisonDirection::*;
    for direction in [Eq, Ge, Gt, Le, Lt] {
        assert!(!float(direction, None, f32::NAN, f32::NAN));
    }
    assert!(float(Ne, None, f32::NAN, f32::NAN));
    assert!(float(Eq, None, -0.0, 0.0));
    assert!(!float(Eq, total, -0.0, 0.0));
    assert!(float(Lt, total, -0.0, 0.0));
    assert!(float(Eq, total, f32::NAN, f32::NAN));
    assert!(float(Gt, total, f32::NAN, f32::INFINITY));
    assert!(float(Lt, total, -f32::NAN, f32::NEG_INFINITY));
    assert!(compared(Lt, None, -1i32, 0));
    assert!(!compared(Lt, None, u32::MAX, 0));
    assert!(compared(Lt, None, false, true));
}

#[test]
fn pred() {
    assert!(two(BinaryOp::Add, true, true));
    assert!(!two(BinaryOp::Multiply, true, false));
    assert!(two(BinaryOp::Maximum, true, false));
    assert!(!two(BinaryOp::Minimum, true, false));
    assert!(!two(BinaryOp::Xor, true, true));
}

/// What is computed in vectors, for stretches of all kinds, is what is computed one by one, bit for bit.
#[test]
fn many_are_as_each() {
    let mut bits = 1u32;
    let mut values: Vec<f32> = Vec::new();
    for stretch in 0..40 {
        for k in 0..200 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            values.push(match stretch % 4 {
                0 => f32::from_bits(bits),
                1 => (bits >> 16) as f32 / 4096.0,
                2 => (bits >> 29) as f32 + 4096.0 * (k % 3) as f32 + 1.0,
                _ => f32::from_bits(bits) * 1e-30,
            });
        }
    }
    values.extend([0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE]);
    // This processor's vectors, and those that every processor of its kind has.
    for processor in [pulp::Arch::new(), pulp::Arch::Scalar] {
        PROCESSOR.set(Some(processor));
        for &element_type in ElementType::ALL {
            if !element_type.is_complex() {
                elements_of!(element_type, T => as_each::<T>(element_type, &values));
            }
        }
    }
    PROCESSOR.set(None);
}

fn as_each<T: Held>(element_type: ElementType, values: &[f32]) {
    let form = Form::of(element_type);
    let number = |value: f32| Number::Real(f64::from(value) * std::f64::consts::E);
    let a: Vec<T> = values.iter().map(|&value| T::nearest(number(value), form)).collect();
    let mut b = a.clone();
    b.rotate_left(997);
    let is_same = |x: T, y: T| x.pattern(form) == y.pattern(form) || (x.value(form).is_nan() && y.value(form).is_nan());
    let mut results = vec![T::default(); a.len()];
    for &op in UnaryOp::ALL {
        let Some(function) = T::unary(op, form) else { continue };
        function.many(&a, &mut results);
        for (&a, &result) in a.iter().zip(&results) {
            assert!(is_same(result, function.one(a)), "{} of {:?} in {element_type}", op.name(), a.value(form));
        }
    }
    for &op in BinaryOp::ALL {
        let Some(function) = T::binary(op, form) else { continue };
        function.many(&a, &b, &mut results);
        for ((&a, &b), &result) in a.iter().zip(&b).zip(&results) {
            let (x, y) = (a.value(form), b.value(form));
            assert!(is_same(result, function.one(a, b)), "{} of {x:?} and {y:?} in {element_type}", op.name());
        }
    }
}

#[test]
fn every_type_is_held_in_what_has_its_size() {
    for &element_type in ElementType::ALL {
        let word = crate::ir::words_of!(crate::ir::Data::no_words(element_type), _, W => size_of::<W>());
        assert_eq!(elements_of!(element_type, T => size_of::<T>()), word, "{element_type}");
    }
}
