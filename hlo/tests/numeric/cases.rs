//! XLA's results, read from a text: modules with inputs and outputs, elements as their bits.

use half::{bf16, f16};
use num_complex::{Complex, Complex64};
use weft_hlo::ir::*;

/// A module and its outputs for inputs.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) text: String,
    /// How far numbers may lie apart, as a part of the largest; for 0 the bits are compared.
    pub(crate) tolerance: f64,
    pub(crate) inputs: Vec<Literal>,
    pub(crate) outputs: Vec<Expected>,
}

/// What is known of an output.
pub(crate) enum Expected {
    /// It may be anything.
    Free,
    /// The elements.
    Is(Literal),
    /// The elements' absolute values are those of these.
    Sizes(Literal),
}

impl Case {
    pub(crate) fn all() -> Vec<Case> {
        let texts = [include_str!("cases.txt"), include_str!("lapack.txt"), include_str!("programs.txt")];
        texts
            .iter()
            .flat_map(|text| text.split("\n\n").filter(|case| !case.trim().is_empty()))
            .map(Case::read)
            .collect()
    }

    fn read(text: &str) -> Case {
        let (head, rest) = text.trim_start().split_once('\n').unwrap();
        let (name, tolerance) = head.strip_prefix("case ").unwrap().split_once(" | ").unwrap();
        let mut case = Case {
            name: name.to_owned(),
            text: String::new(),
            tolerance: tolerance.parse().unwrap(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        for line in rest.lines() {
            match line.split_once(' ') {
                Some(("in", literal)) => case.inputs.push(read(literal)),
                Some(("out", literal)) => case.outputs.push(Expected::Is(read(literal))),
                Some(("sizes", literal)) => case.outputs.push(Expected::Sizes(read(literal))),
                None if line == "free" => case.outputs.push(Expected::Free),
                _ => case.text += &format!("{line}\n"),
            }
        }
        // What is no module is the entry's instructions.
        if !case.text.contains("HloModule") {
            case.text = format!("HloModule case\n\nENTRY main {{\n{}}}\n", case.text);
        }
        case
    }
}

/// As `f32[2,3] 0 3f800000 …`.
fn read(text: &str) -> Literal {
    let (shape, bits) = text.split_once(' ').unwrap();
    let (kind, extents) = shape.trim_end_matches(']').split_once('[').unwrap();
    let extents: Vec<i64> =
        extents.split(',').filter(|extent| !extent.is_empty()).map(|extent| extent.parse().unwrap()).collect();
    let bits: Vec<u128> = bits.split_whitespace().map(|word| u128::from_str_radix(word, 16).unwrap()).collect();
    of_bits(kind, &extents, &bits)
}

/// An array of a type by name, of the elements' bits.
pub(crate) fn of_bits(kind: &str, extents: &[i64], bits: &[u128]) -> Literal {
    macro_rules! elements {
        ($of:expr) => {
            bits.iter().map(|&bits| $of(bits)).collect::<Vec<_>>().into()
        };
    }
    let data: Data = match kind {
        "pred" => elements!(|bits| bits != 0),
        "u2" => elements!(|bits| U2::new(bits as u8).unwrap()),
        "u4" => elements!(|bits| U4::new(bits as u8).unwrap()),
        "s4" => elements!(|bits| S4::wrapping(bits as i8)),
        "u8" => elements!(|bits| bits as u8),
        "s8" => elements!(|bits| bits as i8),
        "u16" => elements!(|bits| bits as u16),
        "s16" => elements!(|bits| bits as i16),
        "u32" => elements!(|bits| bits as u32),
        "s32" => elements!(|bits| bits as i32),
        "u64" => elements!(|bits| bits as u64),
        "s64" => elements!(|bits| bits as i64),
        "f4e2m1fn" => elements!(|bits| F4E2M1Fn::from_bits(bits as u8)),
        "f8e4m3fn" => elements!(|bits| F8E4M3Fn::from_bits(bits as u8)),
        "f8e5m2" => elements!(|bits| F8E5M2::from_bits(bits as u8)),
        "f8e4m3" => elements!(|bits| F8E4M3::from_bits(bits as u8)),
        "f8e3m4" => elements!(|bits| F8E3M4::from_bits(bits as u8)),
        "f8e4m3b11fnuz" => elements!(|bits| F8E4M3B11Fnuz::from_bits(bits as u8)),
        "f8e5m2fnuz" => elements!(|bits| F8E5M2Fnuz::from_bits(bits as u8)),
        "f16" => elements!(|bits| f16::from_bits(bits as u16)),
        "bf16" => elements!(|bits| bf16::from_bits(bits as u16)),
        "f32" => elements!(|bits| f32::from_bits(bits as u32)),
        "f64" => elements!(|bits| f64::from_bits(bits as u64)),
        "c64" => elements!(|bits| Complex::new(f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32))),
        "c128" => elements!(|bits| Complex::new(f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64))),
        other => panic!("{other}"),
    };
    Literal::array(extents, data)
}

/// The elements as complex numbers.
pub(crate) fn numbers(literal: &Literal) -> Vec<Complex64> {
    let count = literal.data.len().unwrap();
    let real = |value: f64| Complex::new(value, 0.0);
    (0..count)
        .map(|position| match literal.data.get(position).unwrap() {
            Scalar::S2(value) => real(f64::from(value.get())),
            Scalar::S8(value) => real(f64::from(value)),
            Scalar::S32(value) => real(f64::from(value)),
            Scalar::U4(value) => real(f64::from(value.get())),
            Scalar::U64(value) => real(value as f64),
            Scalar::F4E2M1Fn(value) => real(f64::from(value.to_f32())),
            Scalar::F8E5M2(value) => real(f64::from(value.to_f32())),
            Scalar::F8E4M3Fnuz(value) => real(f64::from(value.to_f32())),
            Scalar::F16(value) => real(value.to_f64()),
            Scalar::Bf16(value) => real(value.to_f64()),
            Scalar::F32(value) => real(f64::from(value)),
            Scalar::F64(value) => real(value),
            Scalar::C64(value) => Complex::new(f64::from(value.re), f64::from(value.im)),
            Scalar::C128(value) => value,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// The largest difference, as a part of the largest expected number or of 1; infinite where one alone is NaN.
pub(crate) fn worst(expected: &Literal, found: &Literal) -> f64 {
    worst_of(&numbers(expected), &numbers(found))
}

/// As [`worst`], of absolute values.
pub(crate) fn worst_size(expected: &Literal, found: &Literal) -> f64 {
    let sizes = |literal: &Literal| -> Vec<Complex64> {
        numbers(literal)
            .into_iter()
            .map(|value| Complex::new(if value.is_nan() { f64::NAN } else { value.norm() }, 0.0))
            .collect()
    };
    worst_of(&sizes(expected), &sizes(found))
}

fn worst_of(expected: &[Complex64], found: &[Complex64]) -> f64 {
    let scale = expected.iter().map(|value| value.norm()).filter(|norm| norm.is_finite()).fold(1.0, f64::max);
    let apart = |a: &Complex64, b: &Complex64| match (a.is_nan(), b.is_nan()) {
        (true, true) => 0.0,
        (false, false) => (a - b).norm() / scale,
        _ => f64::INFINITY,
    };
    expected.iter().zip(found).map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
}
