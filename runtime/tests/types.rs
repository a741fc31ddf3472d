//! Operations on elements of every type on the default adapter against the reference evaluator, and what is moved bit for bit.

use crate::count::{cases, first_seed};
use crate::support::device;
use std::collections::BTreeMap;
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{ElementType, FloatFormat, Literal, Opcode, Scalar};
use weft_hlo::random::{Numbers, Options, inputs, instance};
use weft_hlo::text::print;
use weft_partition::Form;
use weft_runtime::{Device, Executable, compile};

/// The types that devices hold.
fn types() -> impl Iterator<Item = ElementType> {
    ElementType::ALL.iter().copied().filter(|&ty| Form::of(ty).is_some())
}

/// The parts of an element as numbers, one or two; `None` of what is no float.
fn numbers(scalar: Scalar) -> Option<Vec<f64>> {
    let ty = scalar.element_type();
    Some(match scalar {
        Scalar::F32(value) => vec![f64::from(value)],
        Scalar::C64(value) => vec![f64::from(value.re), f64::from(value.im)],
        _ => vec![f64::from(FloatFormat::of(ty)?.value(u16::try_from(scalar.bits()).ok()?))],
    })
}

/// The distance between numbers of a type near a value.
fn ulp(ty: ElementType, value: f64) -> f64 {
    let (mantissa_bits, least) = match FloatFormat::of(ty) {
        Some(format) => (format.mantissa_bits(), 1 - format.bias()),
        None => (23, -126),
    };
    let exponent = if value == 0.0 { least } else { value.abs().log2().floor() as i32 };
    f64::from(exponent.max(least) - mantissa_bits as i32).exp2()
}

/// Whether a float is what was expected, to so many units in the last place of the larger part. Subnormal numbers of `f32` may be zeros.
fn is_near(expected: Scalar, actual: Scalar, units: f64) -> bool {
    let (Some(a), Some(b)) = (numbers(expected), numbers(actual)) else { return expected == actual };
    let largest = a.iter().fold(0f64, |largest, part| largest.max(part.abs()));
    let allowed = units * ulp(expected.element_type(), largest) + f64::from(f32::MIN_POSITIVE);
    a.iter().zip(&b).all(|(a, b)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= allowed)
}

/// Runs a module on both, and says where they differ.
fn difference(device: &Device, module: &weft_hlo::ir::Module, inputs: &[Literal], units: f64) -> Result<(), String> {
    let expected = evaluate(module, inputs).map_err(|error| format!("evaluator: {error}"))?;
    let program = compile(module, device.target()).map_err(|error| format!("refused: {error}"))?;
    let actual = Executable::new(device, program).and_then(|program| program.run(inputs));
    let actual = actual.map_err(|error| format!("run: {error}"))?;
    for (expected, actual) in expected.iter().zip(&actual) {
        for position in 0..expected.data.len().unwrap_or(0) {
            let (Some(a), Some(b)) = (expected.data.get(position), actual.data.get(position)) else {
                return Err(format!("element {position} is missing"));
            };
            if !is_near(a, b, units) {
                return Err(format!("element {position} is {a} and became {b}"));
            }
        }
    }
    Ok(())
}

#[test]
fn single_operations_agree_on_every_type() {
    let device = device();
    let (mut report, mut counts) = (String::new(), BTreeMap::<(&str, &str), [u32; 3]>::new());
    for ty in types() {
        for opcode in weft_hlo::random::computed().chain([Opcode::Complex, Opcode::Real, Opcode::Imag]) {
            let options = Options {
                numbers: Numbers::Any,
                elements: 40,
                types: vec![ty],
                same_width: true,
                ..Options::computed()
            };
            for seed in first_seed()..first_seed() + cases(3) {
                let Some(module) = instance(seed, opcode, &options) else { continue };
                let inputs = inputs(&module, seed, &options);
                let units = if ty.is_complex() { 16.0 } else { 4.0 };
                let count = counts.entry((opcode.name(), ty.name())).or_default();
                count[0] += 1;
                match difference(&device, &module, &inputs, units) {
                    Ok(()) => {}
                    Err(found) if found.starts_with("refused") => {
                        count[1] += 1;
                        writeln!(report, "{opcode} {ty}, seed {seed}: {found}").unwrap();
                    }
                    Err(found) => {
                        count[2] += 1;
                        writeln!(report, "{opcode} {ty}, seed {seed}: {found}\n{}", print(&module)).unwrap();
                    }
                }
            }
        }
    }
    for ((opcode, ty), [made, refused, wrong]) in &counts {
        if refused + wrong > 0 {
            println!("{opcode} {ty}: {made} made, {refused} refused, {wrong} wrong");
        }
    }
    assert!(report.is_empty(), "{report}");
}
