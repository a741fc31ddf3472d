//! `fft` written out computes what the operation computes, within units in the last place of the largest number.

use crate::count::cases;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module};
use weft_hlo::passes::{FourierMatrix, FourierTransforms, PASSES, Pass, Pipeline};
use weft_hlo::random::Rng;
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

/// A program of one transform, of an array of these extents; for inverses to real numbers those of the result.
fn program(kind: &str, is_wide: bool, extents: &[i64], rank: usize) -> Module {
    let (real, complex) = if is_wide { ("f64", "c128") } else { ("f32", "c64") };
    let mut half = extents.to_vec();
    let last = half.len() - 1;
    half[last] = if half[last] == 0 { 0 } else { half[last] / 2 + 1 };
    let shape = |element_type: &str, extents: &[i64]| format!("{element_type}{extents:?}").replace(' ', "");
    let (operand, result) = match kind {
        "RFFT" => (shape(real, extents), shape(complex, &half)),
        "IRFFT" => (shape(complex, &half), shape(real, extents)),
        _ => (shape(complex, extents), shape(complex, extents)),
    };
    let lengths = format!("{:?}", &extents[extents.len() - rank..]).replace(' ', "");
    let lengths = lengths.trim_matches(['[', ']']);
    let text = format!(
        "HloModule m\n\nENTRY e {{\n  x = {operand} parameter(0)\n  \
         ROOT r = {result} fft(x), fft_type={kind}, fft_length={{{lengths}}}\n}}\n"
    );
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    verify(&module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    module
}

/// The module with nothing left of the operation.
fn expanded(module: &Module) -> Module {
    let after = FourierTransforms.run(module).unwrap().module;
    verify(&after).unwrap_or_else(|found| panic!("{found}\n{}", print(&after)));
    assert!(!print(&after).contains(" fft("), "{}", print(&after));
    // Dots say which matrix they multiply by, and are right.
    let mut verified = after.clone();
    verified.computations.values_mut().for_each(FourierMatrix::verify);
    assert_eq!(print(&verified), print(&after));
    after
}

fn numbers(literal: &Literal) -> Vec<f64> {
    match &literal.data {
        Data::F32(values) => values.iter().map(|value| f64::from(*value)).collect(),
        Data::F64(values) => values.clone(),
        Data::C64(values) => values.iter().flat_map(|value| [f64::from(value.re), f64::from(value.im)]).collect(),
        Data::C128(values) => values.iter().flat_map(|value| [value.re, value.im]).collect(),
        other => panic!("{other:?}"),
    }
}

/// Numbers between -1 and 1.
fn operand(module: &Module, rng: &mut Rng) -> Literal {
    let shape = module.entry_computation().instructions.values().next().unwrap().shape.as_array().unwrap().clone();
    let count = shape.element_count().unwrap();
    let mut parts =
        || -> Vec<f64> { (0..count).map(|_| rng.below(1 << 24) as f64 / f64::from(1 << 23) - 1.0).collect() };
    use num_complex::Complex;
    use weft_hlo::ir::ElementType::{C64, C128, F32};
    let data: Data = match shape.element_type {
        F32 => parts().into_iter().map(|value| value as f32).collect::<Vec<f32>>().into(),
        C64 => {
            parts().into_iter().zip(parts()).map(|(a, b)| Complex::new(a as f32, b as f32)).collect::<Vec<_>>().into()
        }
        C128 => parts().into_iter().zip(parts()).map(|(a, b)| Complex::new(a, b)).collect::<Vec<_>>().into(),
        _ => parts().into(),
    };
    Literal::array(shape.extents, data)
}

fn agree(module: &Module, is_wide: bool, lengths: &[i64], rng: &mut Rng) {
    let after = expanded(module);
    let input = operand(module, rng);
    let input = std::slice::from_ref(&input);
    let (expected, found) = (evaluate(module, input).unwrap(), evaluate(&after, input).unwrap());
    assert_eq!(expected[0].shape, found[0].shape);
    let (expected, found) = (numbers(&expected[0]), numbers(&found[0]));
    let largest = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let unit = largest * if is_wide { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let steps = (lengths.iter().product::<i64>().max(2) as f64).log2();
    let off = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= 4.0 * steps * unit, "{} units\n{}", off / unit, print(module));
}

const KINDS: [&str; 4] = ["FFT", "IFFT", "RFFT", "IRFFT"];

#[test]
fn transforms_of_every_length_agree() {
    let mut rng = Rng::new(23);
    let lengths = (0..=130).chain([179, 256, 257, 360, 509, 512, 1000, 1023, 1024, 2187, 4096, 4097]);
    for length in lengths {
        for kind in KINDS {
            let is_wide = rng.below(2) == 0;
            let batch = 1 + rng.below(3) as i64;
            agree(&program(kind, is_wide, &[batch, length], 1), is_wide, &[length], &mut rng);
        }
    }
}

#[test]
fn transforms_of_several_dimensions_agree() {
    let mut rng = Rng::new(24);
    for _ in 0..cases(60) {
        let rank = 1 + rng.below(3);
        let batch = rng.below(3);
        let most = [40, 14, 8][rank - 1];
        let mut extents: Vec<i64> = (0..batch).map(|_| rng.below(4) as i64).collect();
        let lengths: Vec<i64> = (0..rank).map(|_| 1 + rng.below(most) as i64).collect();
        extents.extend(&lengths);
        let kind = KINDS[rng.below(4)];
        let is_wide = rng.below(2) == 0;
        agree(&program(kind, is_wide, &extents, rank), is_wide, &lengths, &mut rng);
    }
}

/// More roots than one table holds, a long chirp, and what passes make of it.
#[test]
fn long_transforms_agree_and_are_short_programs() {
    let mut rng = Rng::new(25);
    for (kind, length) in [("FFT", 1 << 16), ("RFFT", 1 << 15), ("IRFFT", 3 * 5 * 7 * 11 * 13), ("IFFT", 10_007)] {
        let module = program(kind, false, &[length], 1);
        agree(&module, false, &[length], &mut rng);
        let after = PASSES.iter().copied().fold(Pipeline::new().with(FourierTransforms), Pipeline::with);
        let after = after.run(&module).unwrap().module;
        let count: usize = after.computations.values().map(|computation| computation.instructions.len()).sum();
        assert!(count < 400, "{count}");
    }
}

/// A number that is not finite spoils its line, and no other.
#[test]
fn lines_do_not_touch_each_other() {
    let module = program("FFT", false, &[2, 12], 1);
    let after = expanded(&module);
    let mut values = vec![num_complex::Complex::new(1.0f32, 0.5); 24];
    values[5].re = f32::INFINITY;
    let found = numbers(&evaluate(&after, &[Literal::array([2, 12], values)]).unwrap()[0]);
    assert!(found[..24].iter().all(|value| !value.is_finite()) && found[24..].iter().all(|value| value.is_finite()));
}
