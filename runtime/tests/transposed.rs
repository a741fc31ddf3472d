//! Kernels that are tiled around transpositions, by either schedule, against the evaluator.

use crate::count::{cases, first_seed};
use crate::support::{self, compile};
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Module, Scalar};
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

/// Integers that take a word each, share one by two or by four, or by eight.
fn random_type(rng: &mut Rng) -> &'static str {
    ["s32", "s32", "u32", "s16", "u8", "s8", "s8", "s4"][rng.below(8)]
}

/// A transposition of random extents by a random permutation, alone or with something before, behind and beside it.
fn random(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let ty = random_type(&mut rng);
    let rank = 2 + rng.below(3);
    let mut extents: Vec<usize> = (0..rank)
        .map(|_| match rng.below(5) {
            0 => 1 + rng.below(3),
            1 => 32,
            2 => 31 + rng.below(3),
            3 => 8 + rng.below(60),
            _ => 16 + rng.below(9),
        })
        .collect();
    // Whole words more often than chance would have them.
    let multiple = if ty.ends_with("32") { 1 } else { [1, 4, 4, 8][rng.below(4)] };
    extents.iter_mut().filter(|it| **it > 3).for_each(|it| *it = it.next_multiple_of(multiple));
    let mut permutation: Vec<usize> = (0..rank).collect();
    rng.shuffle(&mut permutation);
    if rng.below(3) == 0 {
        extents.push(2 + rng.below(8));
        permutation.push(rank);
    }
    let result: Vec<usize> = permutation.iter().map(|dimension| extents[*dimension]).collect();
    let (from, to, by) = (list(&extents), list(&result), list(&permutation));
    let count: usize = extents.iter().product();
    let (before, tail) = (rng.below(3), rng.below(8));
    let operand = match before {
        0 => "a",
        1 => "m",
        _ => "r",
    };
    let mut text = format!(
        "HloModule m\nENTRY e {{\n  a = T[{from}] parameter(0)\n  b = T[{to}] parameter(1)\n  m = T[{from}] multiply(a, a)\n  \
         r = T[{from}] reverse(m), dimensions={{0}}\n  t = T[{to}] transpose({operand}), dimensions={{{by}}}\n"
    );
    text += &match tail {
        0 | 1 => "  ROOT o = (T[]) tuple(t)\n".replace("T[]", &format!("T[{to}]")),
        2 => format!("  ROOT o = T[{to}] add(t, b)\n"),
        3 => format!("  n = T[{to}] negate(t)\n  ROOT o = (T[{to}], T[{to}]) tuple(n, t)\n"),
        4 => format!("  f = T[{count}] reshape(t)\n  ROOT o = T[{count}] negate(f)\n"),
        5 => format!(
            "  u = T[{to}] transpose(a), dimensions={{{by}}}\n  s = T[{to}] subtract(t, u)\n  \
             c = T[{to}] negate(b)\n  ROOT o = (T[{to}], T[{to}]) tuple(s, c)\n"
        ),
        // Elements of different sizes before and behind the transposition.
        6 => format!("  w = s16[{to}] convert(t)\n  ROOT o = (s16[{to}], T[{to}]) tuple(w, t)\n"),
        _ => format!("  q = pred[{to}] compare(t, b), direction=LT\n  ROOT o = T[{to}] select(q, t, b)\n"),
    };
    text.replace("T[", &format!("{ty}[")) + "}\n"
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
    let ty = random_type(&mut rng);
    let side = [16, 33, 64, 96, 120, 120, 128, 128][rng.below(8)];
    let (extents, permutation) = match rng.below(3) {
        0 => (vec![side, side], "1,0"),
        1 => (vec![1 + rng.below(3), side, side], "0,2,1"),
        _ => (vec![side, 1 + rng.below(3), side], "2,1,0"),
    };
    let shape = format!("{ty}[{}]", list(&extents));
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

/// The bits of elements, which tell any of them from any other.
fn bits(data: &Data) -> Vec<Option<u128>> {
    (0..data.len().unwrap_or(0)).map(|position| data.get(position).map(Scalar::bits)).collect()
}

/// A transposition from one shape to another, which keeps all bits on the device, and its kernels.
fn transposed_exactly(
    device: &Device,
    target: &Target,
    [from, to]: [String; 2],
    permutation: &str,
) -> (Module, String) {
    let text = format!(
        "HloModule m\nENTRY e {{\n  a = {from} parameter(0)\n  ROOT t = {to} transpose(a), dimensions={{{permutation}}}\n}}\n"
    );
    let module = support::module(&text);
    let arguments = inputs(&module, 7, &Options { numbers: Numbers::Any, ..Options::default() });
    let program = compile(&module, target).unwrap_or_else(|error| panic!("{error}"));
    let source: String = program.shaders().iter().map(|shader| shader.source.as_str()).collect();
    let executable = Executable::new(device, program).unwrap_or_else(|error| panic!("{error}"));
    let results = executable.run(&arguments).unwrap_or_else(|error| panic!("{error}"));
    let expected = evaluate(&module, &arguments).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(bits(&results[0].data), bits(&expected[0].data), "{text}\n{source}");
    (module, source)
}

/// What moves keeps its bits, whatever they mean: of elements of every size, of which tiles are whole or not, and words are or not.
#[test]
fn bits_survive_tiles() {
    let device = support::device();
    // Elements of a word that one is told to hold.
    let types = [
        ("f32", 1),
        ("u32", 1),
        ("s64", 0),
        ("bf16", 4),
        ("f16", 4),
        ("u16", 4),
        ("s8", 4),
        ("pred", 4),
        ("f8e5m2", 4),
        ("s4", 8),
        ("f4e2m1fn", 8),
        ("u2", 0),
    ];
    let moved = [
        ("72,68", "68,72", "1,0"),
        ("68,70", "70,68", "1,0"),
        ("70,33", "33,70", "1,0"),
        ("3,64,96", "3,96,64", "0,2,1"),
        ("40,3,24", "24,3,40", "2,1,0"),
        ("2,36,16,4", "16,4,2,36", "2,3,0,1"),
        ("4,37,53", "4,53,37", "0,2,1"),
        ("33,6,36", "36,6,33", "2,1,0"),
        ("37,53", "53,37", "1,0"),
    ];
    for (schedule, (element_type, unit)) in Schedule::ALL.into_iter().flat_map(|it| types.map(|ty| (it, ty))) {
        let target = with(&device, schedule);
        for (from, to, permutation) in moved {
            let shapes = [from, to].map(|extents| format!("{element_type}[{extents}]"));
            let (module, source) = transposed_exactly(&device, &target, shapes, permutation);
            let elements: i64 = to.split(',').map(|extent| extent.parse::<i64>().unwrap()).product();
            let is_tiled = unit > 0 && elements % unit == 0;
            assert_eq!(tiled(&module, &target) > 0, is_tiled, "{schedule}: {module}");
            // Eight elements that begin within a row and end in another are no lanes.
            let has_atomics = source.contains("atomic") && unit < 8;
            assert!(!is_tiled || !has_atomics, "{schedule}: {module}\n{source}");
        }
    }
}

/// What lies side by side in operand and result alike moves as vectors and words.
#[test]
fn runs_that_stay_together_move_as_vectors() {
    let device = support::device();
    let moved = [
        ("12,10,16", "10,12,16", "1,0,2", true),
        ("3,8,6,32", "3,6,8,32", "0,2,1,3", true),
        ("20,24,5", "24,20,5", "1,0,2", true),
        ("32,24,3", "24,32,3", "1,0,2", true),
        ("2,17,24,3", "2,24,17,3", "0,2,1,3", false),
        ("16,3,16,6", "16,3,16,6", "2,1,0,3", true),
        ("17,19,7", "19,17,7", "1,0,2", false),
        ("9,8,3", "8,9,3", "1,0,2", false),
    ];
    for (schedule, element_type) in
        Schedule::ALL.into_iter().flat_map(|it| ["f32", "bf16", "s8", "s4"].map(|ty| (it, ty)))
    {
        let target = with(&device, schedule);
        for (from, to, permutation, has_vectors) in moved {
            let shapes = [from, to].map(|extents| format!("{element_type}[{extents}]"));
            let (module, source) = transposed_exactly(&device, &target, shapes, permutation);
            // Eight by eight runs of more than four elements are more than an invocation moves.
            let run: i64 = from.rsplit(',').next().unwrap().parse().unwrap();
            let has_vectors = has_vectors && (element_type != "s4" || run <= 4 || run % 8 == 0);
            // Through tiles what is packed moves as words.
            let as_words = element_type != "f32" && tiled(&module, &target) > 0;
            let is_wide = as_words || source.contains("array<vec") || source.contains("_x8");
            assert!(is_wide || !has_vectors || schedule == Schedule::Gpu, "{schedule}: {module}\n{source}");
            assert!(!source.contains("atomic") || !has_vectors, "{schedule}: {module}\n{source}");
        }
    }
}
