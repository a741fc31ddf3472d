//! Fourier transforms on the device, within units in the last place of the largest number of what the evaluator computes; and
//! dots of groups and with scales.

use crate::support::{compile, device, module};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal};
use weft_hlo::random::Rng;
use weft_partition::{DeviceKind, Schedule, Target};
use weft_runtime::{Device, Executable};

/// The device as it is, and with the schedules of GPUs.
fn targets(device: &Device) -> [Target; 2] {
    let of_gpu = |target: &mut Target| (target.kind, target.schedule) = (DeviceKind::Discrete, Some(Schedule::Gpu));
    [device.target().clone(), device.target().clone().with(of_gpu)]
}

fn numbers(literals: &[Literal]) -> Vec<f64> {
    let of_one = |literal: &Literal| match &literal.data {
        Data::F32(values) => values.iter().map(|value| f64::from(*value)).collect::<Vec<f64>>(),
        Data::F64(values) => values.clone(),
        other => panic!("{other:?}"),
    };
    literals.iter().flat_map(of_one).collect()
}

/// A transform of the last dimensions of an array of these extents, of the real numbers or of all; complex ones come and go as
/// their parts.
fn check(device: &Device, target: &Target, (kind, real): (&str, &str), extents: &[i64], rank: usize, rng: &mut Rng) {
    let complex = if real == "f64" { "c128" } else { "c64" };
    let mut half = extents.to_vec();
    let last = half.len() - 1;
    half[last] = extents[last] / 2 + 1;
    let list = |extents: &[i64]| extents.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let (given, made) = match kind {
        "RFFT" => (extents, &half[..]),
        "IRFFT" => (&half[..], extents),
        _ => (extents, extents),
    };
    let (given_list, made_list) = (list(given), list(made));
    let operand = match kind {
        "RFFT" => format!("  x = {real}[{given_list}] parameter(0)\n"),
        _ => format!(
            "  re = {real}[{given_list}] parameter(0)\n  im = {real}[{given_list}] parameter(1)\n  \
             x = {complex}[{given_list}] complex(re, im)\n"
        ),
    };
    let lengths = &extents[extents.len() - rank..];
    let attributes = format!("fft_type={kind}, fft_length={{{}}}", list(lengths));
    let result = match kind {
        "IRFFT" => format!("  ROOT y = {real}[{made_list}] fft(x), {attributes}\n"),
        _ => format!(
            "  y = {complex}[{made_list}] fft(x), {attributes}\n  a = {real}[{made_list}] real(y)\n  \
             b = {real}[{made_list}] imag(y)\n  ROOT r = ({real}[{made_list}], {real}[{made_list}]) tuple(a, b)\n"
        ),
    };
    let text = format!("HloModule m\n\nENTRY e {{\n{operand}{result}}}\n");
    let module = module(&text);
    let count = given.iter().product::<i64>();
    let mut part = || -> Literal {
        let values = (0..count).map(|_| rng.below(1 << 24) as f64 / f64::from(1 << 23) - 1.0);
        match real {
            "f64" => Literal::array(given, values.collect::<Vec<f64>>()),
            _ => Literal::array(given, values.map(|value| value as f32).collect::<Vec<f32>>()),
        }
    };
    let inputs: Vec<Literal> = (0..if kind == "RFFT" { 1 } else { 2 }).map(|_| part()).collect();
    let program = compile(&module, target).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let executable = Executable::new(device, program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found = executable.run(&inputs).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
    let (expected, found) = (numbers(&expected), numbers(&found));
    assert_eq!(expected.len(), found.len());
    let largest = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let unit = largest * if real == "f64" { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let steps = (lengths.iter().product::<i64>().max(2) as f64).log2();
    let off = expected.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= 4.0 * steps * unit, "{} units on {}\n{text}", off / unit, device.info());
}

/// Lengths of one step and of several, an odd one, and a prime that needs a chirp.
#[test]
fn transforms_of_one_dimension_agree() {
    let device = device();
    let mut rng = Rng::new(41);
    let [own, of_gpus] = targets(&device);
    for (kind, length) in [("FFT", 31), ("RFFT", 45), ("IRFFT", 64), ("IFFT", 67), ("FFT", 32), ("IFFT", 600)] {
        check(&device, &own, (kind, "f32"), &[3, length], 1, &mut rng);
    }
    for (kind, length) in [("IFFT", 48), ("RFFT", 16)] {
        check(&device, &of_gpus, (kind, "f32"), &[3, length], 1, &mut rng);
    }
}

#[test]
fn transforms_of_several_dimensions_agree() {
    let device = device();
    let mut rng = Rng::new(42);
    let [own, of_gpus] = targets(&device);
    check(&device, &own, ("RFFT", "f32"), &[3, 4, 9], 3, &mut rng);
    check(&device, &own, ("IFFT", "f32"), &[0, 4], 1, &mut rng);
    check(&device, &of_gpus, ("IRFFT", "f32"), &[2, 5, 12], 2, &mut rng);
    check(&device, &own, ("IRFFT", "f32"), &[5, 7, 12], 3, &mut rng);
}

#[test]
fn transforms_of_64_bits_agree_where_the_device_has_them() {
    let device = device();
    let mut rng = Rng::new(43);
    let program = module("HloModule m\n\nENTRY e {\n  x = f64[8] parameter(0)\n  ROOT r = f64[8] add(x, x)\n}\n");
    let has_them = compile(&program, device.target()).is_ok();
    for target in targets(&device).iter().filter(|_| has_them) {
        for (kind, length) in [("FFT", 12), ("IRFFT", 12), ("FFT", 67)] {
            check(&device, target, (kind, "f64"), &[2, length], 1, &mut rng);
        }
    }
}

/// More roots than one table holds: tables are products of two.
#[test]
fn long_transforms_agree() {
    let device = device();
    let mut rng = Rng::new(44);
    let target = device.target().clone();
    check(&device, &target, ("RFFT", "f32"), &[3 << 13], 1, &mut rng);
}

/// Ragged and scaled dots have no kernels of their own, and run without the host.
#[test]
fn dots_of_groups_and_with_scales_agree() {
    let text = "HloModule m\n\nENTRY e {\n  x = f32[75,6] parameter(0)\n  y = f32[3,6,5] parameter(1)\n  \
                s = s32[3] parameter(2)\n  \
                rows = f32[75,5] ragged-dot(x, y, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}, \
                lhs_ragged_dims={0}, rhs_group_dims={0}\n  \
                z = f32[75,4] slice(x), slice={[0:75], [0:4]}\n  \
                sums = f32[3,6,4] ragged-dot(x, z, s), lhs_contracting_dims={0}, rhs_contracting_dims={0}, \
                lhs_ragged_dims={0}, rhs_group_dims={}\n  \
                ls = f32[1,3] slice(x), slice={[0:1], [0:3]}\n  rs = f32[] constant(0.5)\n  \
                v = f32[1,6,5] slice(y), slice={[1:2], [0:6], [0:5]}\n  w = f32[6,5] reshape(v)\n  \
                scaled = f32[75,5] scaled-dot(x, w, ls, rs), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  \
                ROOT r = (f32[75,5], f32[3,6,4], f32[75,5]) tuple(rows, sums, scaled)\n}\n";
    let groups = Literal::array([3], vec![40, 0, 30]);
    agrees(text, 45, &[&[75, 6], &[3, 6, 5]], &[groups]);
}

/// Groups of each matrix of a batch, and of the batch itself.
#[test]
fn ragged_dots_of_batches_agree() {
    let text = "HloModule m\n\nENTRY e {\n  x = f32[2,9,6] parameter(0)\n  y = f32[2,3,6,5] parameter(1)\n  z = f32[2,6,5] parameter(2)\n  \
                s = s32[2,3] parameter(3)\n  t = s32[2] parameter(4)\n  \
                rows = f32[2,9,5] ragged-dot(x, y, s), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, \
                rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={1}\n  \
                batch = f32[2,9,5] ragged-dot(x, z, t), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, \
                rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={}\n  \
                ROOT r = (f32[2,9,5], f32[2,9,5]) tuple(rows, batch)\n}\n";
    let [groups, matrices] = [Literal::array([2, 3], vec![4, 0, 3, 2, 7, 9]), Literal::array([2], vec![1, 0])];
    agrees(text, 46, &[&[2, 9, 6], &[2, 3, 6, 5], &[2, 6, 5]], &[groups, matrices]);
}

/// Numbers of 8 and of 4 bits, with a power of two for each block of 32 of them.
#[test]
fn dots_with_scales_of_blocks_agree() {
    let text = "HloModule m\n\nENTRY e {\n  a = f32[32,64] parameter(0)\n  b = f32[64,48] parameter(1)\n  \
                c = f32[32,2] parameter(2)\n  d = f32[2,48] parameter(3)\n  x = f8e4m3fn[32,64] convert(a)\n  y = f4e2m1fn[64,48] convert(b)\n  \
                s = f8e8m0fnu[32,2] convert(c)\n  t = f8e8m0fnu[2,48] convert(d)\n  \
                ROOT r = f32[32,48] scaled-dot(x, y, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
    let powers = |extents: [i64; 2]| {
        let powers = (0..extents[0] * extents[1]).map(|at| [0.5, 1.0, 4.0][at as usize % 3]);
        Literal::array(extents, powers.collect::<Vec<f32>>())
    };
    agrees(text, 47, &[&[32, 64], &[64, 48]], &[powers([32, 2]), powers([2, 48])]);
}

/// Runs a program on small integers, which sums hold exactly in any order, and on what is given besides.
fn agrees(text: &str, seed: u64, extents: &[&[i64]], others: &[Literal]) {
    let device = device();
    let module = module(text);
    let mut rng = Rng::new(seed);
    let mut integers = |extents: &&[i64]| {
        let count: i64 = extents.iter().product();
        Literal::array(*extents, (0..count).map(|_| rng.below(9) as f32 - 4.0).collect::<Vec<f32>>())
    };
    let mut inputs: Vec<Literal> = extents.iter().map(&mut integers).collect();
    inputs.extend_from_slice(others);
    let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
    for target in targets(&device) {
        let program = compile(&module, &target).unwrap_or_else(|error| panic!("{error}"));
        let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
        let found = executable.run(&inputs).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(expected, found, "on {}", device.info());
    }
}
