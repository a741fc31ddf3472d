//! Kernels that are tiled around transpositions, by either schedule, against the evaluator.

use crate::count::{cases, first_seed};
use crate::support::{self, compile};
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Module};
use weft_hlo::random::{Numbers, Options, Rng, inputs};
use weft_partition::{Emitter, Schedule, Target, fuse};
use weft_runtime::{Device, Executable};

/// The device with a schedule.
fn with(device: &Device, schedule: Schedule) -> Target {
    device.target().clone().with(|target| target.schedule = Some(schedule))
}

/// How many kernels of a module are tiled around transpositions.
fn tiled(module: &Module, target: &Target) -> usize {
    let fused = fuse(module, target).unwrap_or_else(|findings| panic!("{findings}"));
    let plans = fused.module.computations.ids().filter_map(|id| fused.plan(id));
    plans.filter(|plan| matches!(plan.emitter(), Emitter::Transposed(_))).count()
}

/// Runs a module and compares; returns whether one of its kernels is tiled.
fn check(device: &Device, target: &Target, module: &Module, text: &str) -> Result<bool, String> {
    let arguments = inputs(module, 1, &Options { numbers: Numbers::Any, ..Options::default() });
    let program = compile(module, target).map_err(|error| error.to_string())?;
    for shader in program.shaders() {
        assert!(shader.proofs().are_complete(), "{:?}\n{text}\n{}", shader.proofs(), shader.source);
    }
    let expected = evaluate(module, &arguments).map_err(|error| error.to_string())?;
    let executable = Executable::new(device, program.clone()).map_err(|error| error.to_string())?;
    for _ in 0..2 {
        let results = executable.run(&arguments).map_err(|error| error.to_string())?;
        for (result, expected) in results.iter().zip(&expected) {
            if result.data != expected.data {
                return Err(format!("{:?} became {:?}\n{program}", expected.data, result.data));
            }
        }
    }
    Ok(tiled(module, target) > 0)
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// A transposition of random extents by a random permutation, alone or with something before, behind and beside it.
fn random(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let rank = 2 + rng.below(3);
    let extents: Vec<usize> = (0..rank)
        .map(|_| match rng.below(5) {
            0 => 1 + rng.below(3),
            1 => 32,
            2 => 31 + rng.below(3),
            3 => 8 + rng.below(60),
            _ => 16 + rng.below(9),
        })
        .collect();
    let mut permutation: Vec<usize> = (0..rank).collect();
    rng.shuffle(&mut permutation);
    let result: Vec<usize> = permutation.iter().map(|dimension| extents[*dimension]).collect();
    let (from, to, by) = (list(&extents), list(&result), list(&permutation));
    let count: usize = extents.iter().product();
    let (before, tail) = (rng.below(3), rng.below(6));
    let operand = match before {
        0 => "a",
        1 => "m",
        _ => "r",
    };
    let mut text = format!(
        "HloModule m\nENTRY e {{\n  a = s32[{from}] parameter(0)\n  b = s32[{to}] parameter(1)\n  m = s32[{from}] multiply(a, a)\n  \
         r = s32[{from}] reverse(m), dimensions={{0}}\n  t = s32[{to}] transpose({operand}), dimensions={{{by}}}\n"
    );
    text += &match tail {
        0 => "  ROOT o = (s32[]) tuple(t)\n".replace("s32[]", &format!("s32[{to}]")),
        1 => format!("  ROOT o = s32[{to}] add(t, b)\n"),
        2 => format!("  n = s32[{to}] negate(t)\n  ROOT o = (s32[{to}], s32[{to}]) tuple(n, t)\n"),
        3 => format!("  f = s32[{count}] reshape(t)\n  ROOT o = s32[{count}] negate(f)\n"),
        4 => format!(
            "  u = s32[{to}] transpose(a), dimensions={{{by}}}\n  s = s32[{to}] subtract(t, u)\n  \
             c = s32[{to}] negate(b)\n  ROOT o = (s32[{to}], s32[{to}]) tuple(s, c)\n"
        ),
        _ => format!("  q = pred[{to}] compare(t, b), direction=LT\n  ROOT o = s32[{to}] select(q, t, b)\n"),
    };
    text + "}\n"
}

#[test]
fn transpositions_agree_with_the_evaluator() {
    let device = support::device();
    for schedule in Schedule::ALL {
        let target = with(&device, schedule);
        let (mut tiled, mut report) = (0, String::new());
        let (first, count) = (first_seed(), cases(120));
        for seed in first..first + count {
            let text = random(seed);
            match check(&device, &target, &support::module(&text), &text) {
                Ok(is_tiled) => tiled += u64::from(is_tiled),
                Err(why) => writeln!(report, "seed {seed}: {why}\n{text}").unwrap(),
            }
        }
        assert!(report.is_empty(), "{schedule}: {report}");
        println!("{schedule}: {tiled} of {count} are tiled");
        assert!(tiled * 3 >= count, "{schedule}: {tiled} of {count} are tiled");
    }
}

/// A transposition that is its own inverse, with what is computed before and behind it of the same elements.
fn random_pair(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let side = [16, 33, 64, 96, 120, 120, 128, 128][rng.below(8)];
    let (extents, permutation) = match rng.below(3) {
        0 => (vec![side, side], "1,0"),
        1 => (vec![1 + rng.below(3), side, side], "0,2,1"),
        _ => (vec![side, 1 + rng.below(3), side], "2,1,0"),
    };
    let shape = format!("s32[{}]", list(&extents));
    let text = format!(
        "HloModule m\nENTRY e {{\n  a = {shape} parameter(0)\n  b = {shape} parameter(1)\n  m = {shape} multiply(a, b)\n  \
         n = {shape} negate(m)\n  t = {shape} transpose({}), dimensions={{{permutation}}}\n",
        ["a", "m", "n"][rng.below(3)]
    );
    let read = ["a", "m", "n"][rng.below(3)];
    text + &match rng.below(4) {
        0 => format!("  ROOT o = {shape} add({read}, t)\n}}\n"),
        1 => format!("  s = {shape} subtract(t, {read})\n  ROOT o = ({shape}, {shape}) tuple(s, t)\n}}\n"),
        2 => format!(
            "  u = {shape} transpose(b), dimensions={{{permutation}}}\n  s = {shape} subtract(t, u)\n  \
             ROOT o = {shape} multiply({read}, s)\n}}\n"
        ),
        _ => format!(
            "  q = pred[] constant(true)\n  p = {shape} maximum({read}, t)\n  ROOT o = ({shape}) tuple(p)\n}}\n"
        )
        .replace("  q = pred[] constant(true)\n", ""),
    }
}

/// How many kernels of a module compute squares with their mirror images.
fn paired(module: &Module, target: &Target) -> usize {
    let fused = fuse(module, target).unwrap_or_else(|findings| panic!("{findings}"));
    let plans = fused.module.computations.ids().filter_map(|id| fused.plan(id));
    plans.filter(|plan| matches!(plan.emitter(), Emitter::Transposed(tiles) if tiles.pairs)).count()
}

#[test]
fn squares_and_their_mirror_images_agree_with_the_evaluator() {
    let device = support::device();
    for schedule in Schedule::ALL {
        let target = with(&device, schedule);
        let (mut pairs, mut report) = (0, String::new());
        let (first, count) = (first_seed(), cases(40));
        for seed in first..first + count {
            let text = random_pair(seed);
            let module = support::module(&text);
            pairs += u64::from(paired(&module, &target) > 0);
            if let Err(why) = check(&device, &target, &module, &text) {
                writeln!(report, "seed {seed}: {why}\n{text}").unwrap();
            }
        }
        assert!(report.is_empty(), "{schedule}: {report}");
        println!("{schedule}: {pairs} of {count} are in pairs");
        assert!(pairs * 8 >= count, "{schedule}: {pairs} of {count} are in pairs");
    }
}

/// What moves keeps its bits, whatever they mean.
#[test]
fn bits_survive_tiles() {
    let device = support::device();
    let types = [("f32", true), ("u32", true), ("s8", false), ("pred", false), ("s64", false)];
    for (schedule, (element_type, is_tiled)) in Schedule::ALL.into_iter().flat_map(|it| types.map(|ty| (it, ty))) {
        let target = with(&device, schedule);
        let text = format!(
            "HloModule m\nENTRY e {{\n  a = {element_type}[70,33] parameter(0)\n  \
             ROOT t = {element_type}[33,70] transpose(a), dimensions={{1,0}}\n}}\n"
        );
        let module = support::module(&text);
        let arguments = inputs(&module, 7, &Options { numbers: Numbers::Any, ..Options::default() });
        let program = compile(&module, &target).unwrap_or_else(|error| panic!("{error}"));
        let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
        let results = executable.run(&arguments).unwrap_or_else(|error| panic!("{error}"));
        let expected = evaluate(&module, &arguments).unwrap_or_else(|error| panic!("{error}"));
        match (&results[0].data, &expected[0].data) {
            (Data::F32(results), Data::F32(expected)) => {
                let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
                assert_eq!(bits(results), bits(expected));
            }
            (results, expected) => assert_eq!(results, expected, "{element_type}"),
        }
        assert_eq!(tiled(&module, &target) > 0, is_tiled, "{schedule}: {element_type}");
    }
}
