//! Products of matrices that subgroups multiply, written out as loops, against the evaluator.

use super::{TYPES, products, random};
use crate::count::{cases, first_seed};
use crate::support::{self, compile};
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::ElementType;
use weft_hlo::random::{Numbers, Options, inputs};
use weft_partition::{CooperativeMatrix, DeviceKind, Product, Schedule, Subgroups, Target, Vendor};
use weft_runtime::{Device, Executable};

/// The device as one whose subgroups multiply such matrices, and which has so many cores.
fn target(device: &Device, matrices: &[(u32, ElementType)], cores: u32) -> Target {
    device.target().clone().with(|target| {
        target.schedule = Some(Schedule::Gpu);
        (target.kind, target.vendor) = (DeviceKind::Discrete, Vendor::Nvidia);
        target.hardware.cores = cores;
        target.emulate_matrices = true;
        let of = |(side, factor): &(u32, ElementType)| CooperativeMatrix::new([*side; 3], *factor, ElementType::F32);
        target.features.cooperative_matrices = matrices.iter().map(of).collect();
    })
}

const HALVES: (u32, ElementType) = (16, ElementType::F16);
const SMALL_HALVES: (u32, ElementType) = (8, ElementType::F16);
const WORDS: (u32, ElementType) = (8, ElementType::F32);

/// Matrices of halves, smaller ones where members of a subgroup have much to do in their place: SwiftShader takes minutes to make machine code of larger ones.
fn halves(device: &Device) -> (u32, ElementType) {
    let members = device.target().features.subgroup.map_or(0, |sizes| sizes.max);
    if members < 8 { SMALL_HALVES } else { HALVES }
}

/// Kernels of a text that have matrices.
fn with_matrices(text: &str, target: &Target) -> Vec<Product> {
    let found = products(&support::module(text), target);
    found.into_iter().filter(|product| product.matrices.is_some()).collect()
}

/// Runs a module and compares, to the bit: sums of numbers of few digits are exact in any order. What is proved of kernels with matrices the tests of `weft-codegen-wgsl` tell; of loops in their place less is.
fn check(device: &Device, target: &Target, text: &str) -> Result<(), String> {
    let module = &support::module(text);
    let arguments = inputs(module, 1, &Options { numbers: Numbers::Tame, ..Options::default() });
    let program = compile(module, target).map_err(|error| error.to_string())?;
    let expected = evaluate(module, &arguments).map_err(|error| error.to_string())?;
    let executable = Executable::new(device, program.clone()).map_err(|error| error.to_string())?;
    let results = executable.run(&arguments).map_err(|error| error.to_string())?;
    match results == expected {
        true => Ok(()),
        false => Err(format!("{expected:?} became {results:?}\n{program}")),
    }
}

/// A dot of operands of a type, each as it is or transposed, converted before, and with a bias and an activation behind it.
fn dot([ty, wide, result]: [&str; 3], [m, k, n]: [usize; 3], batch: usize, transposed: [bool; 2]) -> String {
    let shape = |[first, second]: [usize; 2], is_transposed: bool| {
        let [first, second] = if is_transposed { [second, first] } else { [first, second] };
        format!("[{batch},{first},{second}]")
    };
    let (a, b) = (shape([m, k], transposed[0]), shape([k, n], transposed[1]));
    let [left, right] = [if transposed[0] { 1 } else { 2 }, if transposed[1] { 2 } else { 1 }];
    let sums = format!("{result}[{batch},{m},{n}]");
    format!(
        "HloModule m\nENTRY e {{\n  a = {ty}{a} parameter(0)\n  b = {ty}{b} parameter(1)\n  c = {result}[{n}] parameter(2)\n  \
         x = {wide}{a} convert(a)\n  y = {wide}{b} convert(b)\n  d = {sums} dot(x, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, \
         lhs_contracting_dims={{{left}}}, rhs_contracting_dims={{{right}}}\n  bias = {sums} broadcast(c), dimensions={{2}}\n  \
         s = {sums} add(d, bias)\n  zero = {result}[] constant(0)\n  zeros = {sums} broadcast(zero), dimensions={{}}\n  \
         ROOT r = {sums} maximum(s, zeros)\n}}\n"
    )
}

/// Sides around those of matrices, and of tiles of a subgroup and a workgroup.
#[test]
fn sides_of_all_sizes_agree_with_the_evaluator() {
    let device = support::device();
    let mut report = String::new();
    // Drivers take seconds to minutes for a kernel of more than a few matrices: one case has several, one several steps.
    let sides: [[usize; 3]; 4] = match halves(&device) == HALVES {
        true => [[17, 13, 12], [33, 7, 65], [7, 5, 8], [7, 129, 8]],
        false => [[7, 8, 8], [8, 7, 8], [8, 8, 7], [5, 6, 7]],
    };
    for (number, size) in sides.into_iter().enumerate() {
        let transposed = [number % 2 == 1, number / 2 % 2 == 1];
        // Drivers in software take seconds for each.
        let (types, matrix) = [
            (["f16", "f16", "f16"], halves(&device)),
            (["f16", "f32", "f32"], SMALL_HALVES),
            (["f32", "f32", "f32"], WORDS),
            (["bf16", "bf16", "f32"], WORDS),
        ][number];
        // Packed results fill words.
        let [m, k, n] = size;
        let n = if types[2] == "f16" { n.next_multiple_of(2) } else { n };
        let target = target(&device, &[matrix], 64);
        let text = dot(types, [m, k, n], 1 + number % 2, transposed);
        let found = with_matrices(&text, &target);
        let has_rows = types[2] != "f16" || n % 4 == 0;
        assert_eq!(found.len(), usize::from(has_rows), "{text}");
        if let Err(why) = check(&device, &target, &text) {
            writeln!(report, "{why}\n{text}").unwrap();
        }
    }
    assert!(report.is_empty(), "{report}");
}

/// Workgroups have shapes by how many results there are.
#[test]
fn shapes_of_workgroups_are_chosen_by_results() {
    let device = support::device();
    let (types, mut tiles) = (["f16", "f16", "f32"], Vec::new());
    for (size, cores) in [([160, 24, 144], 1), ([160, 24, 144], 3), ([72, 24, 80], 64)] {
        let target = target(&device, &[HALVES], cores).with(|it| {
            it.max_workgroup_storage_bytes = 1 << 18;
            (it.max_invocations_per_workgroup, it.max_workgroup_size_x) = (1024, 1024);
            it.features.subgroup = Some(Subgroups { min: 32, max: 32 });
        });
        let text = dot(types, size, 1, [false, true]);
        tiles.extend(with_matrices(&text, &target).iter().map(|product| (product.tile, product.group)));
    }
    assert_eq!(tiles, [([64, 32], [2, 4]), ([32, 32], [2, 2]), ([16, 16], [2, 2])]);
}

/// Dots of any dimensions in any order, alone or with something before and behind them.
#[test]
fn dots_agree_with_the_evaluator() {
    let device = support::device();
    let mut report = String::new();
    let (first, count) = (first_seed(), cases(if halves(&device) == HALVES { 4 } else { 1 }));
    for seed in first..first + count {
        let target = target(&device, &[halves(&device), WORDS], 64);
        let text = random(seed, &TYPES);
        if let Err(why) = check(&device, &target, &text) {
            writeln!(report, "seed {seed}: {why}\n{text}").unwrap();
        }
    }
    assert!(report.is_empty(), "{report}");
}

/// Matrices of the device itself, where it has some: without loops in their place.
#[test]
fn matrices_of_the_device_agree_with_the_evaluator() {
    let device = support::device();
    let target = device.target().clone().with(|target| {
        target.schedule = Some(Schedule::Gpu);
        target.hardware.cores = 1;
    });
    let features = &target.features;
    let is_offered = |(side, factor): (u32, ElementType)| {
        let matrix = CooperativeMatrix::new([side; 3], factor, ElementType::F32);
        features.cooperative_matrices.contains(&matrix)
            && (factor == ElementType::F32 || features.shader_f16 && features.shader_i16)
            && features.subgroup.is_some_and(|sizes| sizes.min == sizes.max)
    };
    for (types, matrix) in [
        (["f16", "f16", "f16"], HALVES),
        (["f16", "f32", "f32"], SMALL_HALVES),
        (["f32", "f32", "f32"], WORDS),
        (["f32", "f32", "f32"], (16, ElementType::F32)),
    ] {
        for (size, transposed) in
            [([33, 24, 36], [false, true]), ([64, 96, 68], [true, false]), ([129, 40, 132], [false; 2])]
        {
            let text = dot(types, size, 2, transposed);
            if is_offered(matrix) {
                assert!(!with_matrices(&text, &target).is_empty(), "{text}");
                check(&device, &target, &text).unwrap_or_else(|why| panic!("{why}\n{text}"));
            }
        }
    }
}
