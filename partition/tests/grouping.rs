//! What is fused, and what is not, computes the same.

use crate::count::{cases, first_seed};
use crate::fuse::difference;
use weft_hlo::eval::{Config, converted, evaluate, evaluate_with};
use weft_hlo::ir::{Data, ElementType, Literal, Module, Op};
use weft_hlo::random::{Options, inputs, module};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;
use weft_partition::{Fused, Fusing, Grouping, Target, Verdict, fuse_with, splats};

const GROUPINGS: [Grouping; 3] = [Grouping::Keep, Grouping::Refuse, Grouping::Alone];

fn grouped(module: &Module, target: &Target, grouping: Grouping) -> Fused {
    let fused = fuse_with(module, target, Fusing { grouping, ..Fusing::default() });
    let fused = fused.unwrap_or_else(|found| panic!("{grouping:?}: {found}\n{}", print(module)));
    verify(&fused.module).unwrap_or_else(|found| panic!("{grouping:?}: {found}\n{}", print(&fused.module)));
    fused
}

/// The instructions of each fusion that compute or move something which is not one constant.
fn sizes(fused: &Fused) -> Vec<usize> {
    let of = |calls| {
        let computation = &fused.module.computations[calls];
        let is_glue = |op: &Op| matches!(op, Op::Parameter { .. } | Op::Tuple | Op::GetTupleElement { .. });
        let counted = computation.instructions.values().zip(splats(computation));
        counted.filter(|(instruction, splat)| splat.is_none() && !is_glue(&instruction.op)).count()
    };
    let sites = fused.fusions().filter_map(|site| fused.instruction(site));
    sites.filter_map(|fusion| if let Op::Fusion { calls, .. } = fusion.op { Some(of(calls)) } else { None }).collect()
}

#[test]
fn random_modules_compute_the_same_for_all_targets() {
    for seed in first_seed()..first_seed() + cases(40) {
        let options = Options::computed();
        let module = module(90_000 + seed, &options);
        let inputs = inputs(&module, seed, &options);
        let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
        for name in Target::PRESETS {
            let target = Target::preset(name).expect("a preset");
            for grouping in GROUPINGS {
                let fused = grouped(&module, &target, grouping);
                let actual = evaluate(&fused.module, &inputs).unwrap_or_else(|found| panic!("seed {seed}: {found}"));
                let found = difference(&expected, &actual);
                assert_eq!(
                    found,
                    None,
                    "seed {seed}, {name}, {grouping:?}\n{}\n{}",
                    print(&module),
                    print(&fused.module)
                );
                // The parameters of regions are no fusions, and what stands beside an instruction is constant.
                let is_alone = grouping != Grouping::Alone || sizes(&fused).iter().all(|size| *size <= 1);
                assert!(is_alone, "seed {seed}, {name}\n{}", print(&fused.module));
            }
        }
    }
}

/// Those that are quickly evaluated; all of them where more cases are asked for.
#[test]
fn the_corpus_computes_the_same_for_all_targets() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/corpus");
    let config = Config { instruction_limit: 100_000, ..Config::default() };
    let mut count = 0;
    for folder in std::fs::read_dir(corpus).expect("the corpus lies beside this crate").flatten() {
        let path = folder.path().join("unoptimized.hlo");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let module = parse(&text).unwrap_or_else(|found| panic!("{}: {found}", path.display()));
        let is_long = module.computations.values().map(|one| one.instructions.len()).sum::<usize>() > 400;
        if is_long && cases(1) == 1 {
            continue;
        }
        let inputs = inputs(&module, 1, &Options::default());
        let Ok(expected) = evaluate_with(&module, &inputs, &config) else { continue };
        for name in Target::PRESETS {
            let fused = grouped(&module, &Target::preset(name).expect("a preset"), Grouping::Keep);
            let actual = evaluate_with(&fused.module, &inputs, &config);
            let actual = actual.unwrap_or_else(|found| panic!("{}: {found}", path.display()));
            let found = close(&expected, &actual);
            assert!(found.is_none(), "{}, {name}: {found:?}", path.display());
        }
        count += 1;
    }
    assert!(count > 40, "{count}");
}

/// The first result that differs by more than another order of sums makes of it.
fn close(expected: &[Literal], actual: &[Literal]) -> Option<String> {
    if expected.len() != actual.len() {
        return Some(format!("{} results, then {}", expected.len(), actual.len()));
    }
    let numbers = |literal: &Literal| match converted(&literal.data, ElementType::F64) {
        Some(Data::F64(numbers)) => numbers,
        _ => Vec::new(),
    };
    expected.iter().zip(actual).enumerate().find_map(|(result, (one, other))| {
        if one.data == other.data {
            return None;
        }
        let (one, other) = (numbers(one), numbers(other));
        if one.is_empty() || one.len() != other.len() {
            return Some(format!("result {result}"));
        }
        one.iter().zip(&other).enumerate().find_map(|(at, (&one, &other))| {
            let is_same = one == other || one.is_nan() && other.is_nan();
            let is_close = (one - other).abs() <= 1e-4 * (1.0 + one.abs().max(other.abs()));
            (!is_same && !is_close).then(|| format!("result {result}, element {at}: {one} became {other}"))
        })
    })
}

/// A fusion of the program is kept, taken apart and fused anew, or left in pieces.
#[test]
fn fusions_of_the_program_are_kept_or_refused() {
    let text = "HloModule m\n\
        f { p = f32[8] parameter(0)\n a = f32[8] negate(p)\n ROOT b = f32[8] exponential(a) }\n\
        ENTRY e { x = f32[8] parameter(0)\n c = f32[8] fusion(x), kind=kLoop, calls=f\n ROOT d = f32[8] tanh(c) }";
    let module = parse(text).expect("it is a module");
    let target = Target::default();
    for (grouping, expected) in GROUPINGS.into_iter().zip([&[2, 1][..], &[3], &[1, 1, 1]]) {
        let fused = grouped(&module, &target, grouping);
        assert_eq!(sizes(&fused), expected, "{grouping:?}");
        let verdict = fused.decisions.iter().find(|decision| decision.instruction == "c").map(|it| it.verdict);
        let dissolved = if grouping == Grouping::Keep { Verdict::Kept } else { Verdict::Dissolved };
        assert_eq!(verdict, Some(dissolved), "{:?}", fused.decisions);
    }
}
