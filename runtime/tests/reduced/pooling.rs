//! Windows that overlap, by all schedules, against the evaluator.

use super::{check, targets};
use crate::count::{cases, first_seed};
use crate::support::device;
use std::fmt::Write;
use weft_hlo::random::{Numbers, Options, Rng};

/// A pooling: its extents are enough for vectors now and then, its windows short, with any stride, padding and dilation of either.
fn random(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let rank = 1 + rng.below(3);
    let minor = [64, 100, 67, 256][rng.below(4)];
    let mut extents: Vec<i64> = (1..rank).map(|_| [3, 8, 5, 12][rng.below(4)]).collect();
    extents.push(minor);
    let mut results = Vec::new();
    let (mut size, mut stride, mut pad, mut dilate, mut within) = (vec![], vec![], vec![], vec![], vec![]);
    for extent in &extents {
        let window = [1, 3, 2, 9, 5][rng.below(if *extent < 10 { 3 } else { 5 })];
        let (step, base, far) = match rng.below(4) {
            0 => (2, 1, 1),
            1 => (1 + rng.below(3) as i64, 1 + rng.below(2) as i64, 1 + rng.below(2) as i64),
            _ => (1, 1, 1),
        };
        let (low, high) = if rng.below(2) == 0 { (0, 0) } else { (rng.below(3) as i64, rng.below(3) as i64) };
        let whole = (extent - 1) * base + 1 + low + high;
        let reach = (window - 1) * far + 1;
        results.push(if whole < reach { 0 } else { (whole - reach) / step + 1 });
        size.push(window.to_string());
        stride.push(step.to_string());
        pad.push(format!("{low}_{high}"));
        dilate.push(base.to_string());
        within.push(far.to_string());
    }
    let list = |extents: &[i64]| extents.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let (op, initial) = [("add", "0"), ("maximum", "-100"), ("minimum", "100"), ("add", "3")][rng.below(4)];
    let ty = ["f32", "s32", "f16", "s8", "f32"][rng.below(5)];
    let (from, to) = (list(&extents), list(&results));
    let window = format!(
        "window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}}}",
        size.join("x"),
        stride.join("x"),
        pad.join("x"),
        dilate.join("x"),
        within.join("x")
    );
    // Now and then with something around it.
    let (before, after) = (rng.below(3) == 0, rng.below(3) == 0);
    let operand = if before { "y" } else { "x" };
    let root = if after { "s = " } else { "ROOT s = " };
    let mut text = format!(
        "HloModule m\nf {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  ROOT r = {ty}[] {op}(a, b)\n}}\n\
         ENTRY e {{\n  x = {ty}[{from}] parameter(0)\n  i = {ty}[] constant({initial})\n"
    );
    if before {
        writeln!(text, "  y = {ty}[{from}] negate(x)").expect("strings can be written to");
    }
    writeln!(text, "  {root}{ty}[{to}] reduce-window({operand}, i), {window}, to_apply=f")
        .expect("strings can be written to");
    if after {
        writeln!(text, "  ROOT t = {ty}[{to}] negate(s)").expect("strings can be written to");
    }
    text.push_str("}\n");
    text
}

#[test]
fn windows_agree_with_the_evaluator() {
    let device = device();
    let (mut report, mut failures, mut tiled) = (String::new(), 0, 0);
    let count = cases(60);
    for seed in first_seed()..first_seed() + count {
        let text = random(seed);
        let module = weft_hlo::text::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let numbers = if seed % 4 == 0 { Numbers::Any } else { Numbers::Small };
        let options = Options { numbers, ..Options::default() };
        // Those of GPUs are the same with and without subgroups.
        let [gpu, _, software] = targets(&device);
        for target in [gpu, software] {
            match check(&device, &target, &module, &options, seed) {
                Ok(shaped) => tiled += shaped.windows,
                Err(found) => {
                    failures += 1;
                    if failures <= 2 {
                        write!(report, "seed {seed}, {}: {found}\n{text}\n", target.effective_schedule())
                            .expect("strings can be written to");
                    }
                }
            }
        }
    }
    assert!(failures == 0, "{failures} of {count} differ\n{report}");
    assert!(tiled * 6 >= usize::try_from(count).unwrap_or(0), "{tiled} of {count} go through tiles");
}

/// Regions of the cases below: `any` has no neutral value, `first` is the greatest and where it is.
const REGIONS: &str = "add {\n  a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] add(a, b)\n}
max {\n  a = T[] parameter(0)\n  b = T[] parameter(1)\n  ROOT r = T[] maximum(a, b)\n}
any {\n  a = T[] parameter(0)\n  b = T[] parameter(1)\n  n = T[] subtract(b, a)\n  ROOT r = T[] maximum(n, b)\n}
first {\n  a = T[] parameter(0)\n  i = s32[] parameter(1)\n  b = T[] parameter(2)\n  k = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GE\n  v = T[] select(g, a, b)\n  n = s32[] select(g, i, k)
  ROOT r = (T[], s32[]) tuple(v, n)\n}
";

/// Programs with a type, and whether a GPU loads their windows into tiles.
const CASES: [(&str, &str, bool, &str); 13] = [
    (
        "two dimensions between channels",
        "f32",
        true,
        "x = T[2,17,16,32] parameter(0)\ni = T[] constant(-inf)
         ROOT r = T[2,8,8,32] reduce-window(x, i), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_0x0_1x0_0}, to_apply=max",
    ),
    (
        "two dimensions, the fastest",
        "s32",
        true,
        "x = T[3,20,45] parameter(0)\ni = T[] constant(5)
         ROOT r = T[3,20,45] reduce-window(x, i), window={size=1x5x3 pad=0_0x2_2x1_1}, to_apply=add",
    ),
    (
        "three dimensions",
        "f32",
        true,
        "x = T[9,10,33] parameter(0)\ni = T[] parameter(1)
         ROOT r = T[7,8,31] reduce-window(x, i), window={size=3x3x3}, to_apply=add",
    ),
    (
        "holes in the window",
        "s32",
        true,
        "x = T[500] parameter(0)\ni = T[] constant(0)
         ROOT r = T[484] reduce-window(x, i), window={size=5 rhs_dilate=4}, to_apply=add",
    ),
    (
        "holes in the base",
        "s32",
        true,
        "x = T[40,30] parameter(0)\ni = T[] constant(0)
         ROOT r = T[80,60] reduce-window(x, i), window={size=5x4 pad=3_2x1_3 lhs_dilate=2x2}, to_apply=add",
    ),
    (
        "less than the whole",
        "s32",
        true,
        "x = T[40,90] parameter(0)\ni = T[] constant(0)
         ROOT r = T[33,80] reduce-window(x, i), window={size=3x4 pad=-2_-3x-4_-3}, to_apply=add",
    ),
    (
        "computed before and behind",
        "s32",
        true,
        "x = T[30,70] parameter(0)\nw = T[30,70] parameter(1)\ni = T[] constant(0)\ny = T[30,70] multiply(x, w)
         s = T[28,68] reduce-window(y, i), window={size=3x3}, to_apply=add\nz = T[28,68] negate(s)
         ROOT t = (T[28,68], T[28,68]) tuple(s, z)",
    ),
    (
        "no neutral value",
        "s32",
        true,
        "x = T[30,70] parameter(0)\ni = T[] constant(3)
         ROOT r = T[28,68] reduce-window(x, i), window={size=3x3}, to_apply=any",
    ),
    (
        "no neutral value to pad with",
        "s32",
        false,
        "x = T[30,70] parameter(0)\ni = T[] constant(3)
         ROOT r = T[30,70] reduce-window(x, i), window={size=3x3 pad=1_1x1_1}, to_apply=any",
    ),
    (
        "halves",
        "f16",
        true,
        "x = T[30,68] parameter(0)\ni = T[] constant(-inf)
         ROOT r = T[30,68] reduce-window(x, i), window={size=3x3 pad=1_1x1_1}, to_apply=max",
    ),
    (
        "bytes",
        "u8",
        true,
        "x = T[30,70] parameter(0)\ni = T[] constant(0)
         ROOT r = T[28,68] reduce-window(x, i), window={size=3x3}, to_apply=max",
    ),
    (
        "the greatest, and where it is",
        "s32",
        true,
        "x = T[30,70] parameter(0)\nn = s32[30,70] iota(), iota_dimension=1\ni = T[] constant(-2147483648)\nj = s32[] constant(0)
         r = (T[28,68], s32[28,68]) reduce-window(x, n, i, j), window={size=3x3}, to_apply=first
         v = T[28,68] get-tuple-element(r), index=0\nk = s32[28,68] get-tuple-element(r), index=1
         ROOT t = T[28,68] add(v, k)",
    ),
    (
        "several results of an invocation",
        "s32",
        true,
        "x = T[262200] parameter(0)\ni = T[] constant(0)
         ROOT r = T[262198] reduce-window(x, i), window={size=3}, to_apply=add",
    ),
];

#[test]
fn windows_that_overlap_are_loaded_once() {
    let device = device();
    let [gpu, _, software] = targets(&device);
    for (name, ty, is_tiled, body) in CASES {
        let text = format!("HloModule m\n{REGIONS}ENTRY e {{\n{body}\n}}\n").replace("T[", &format!("{ty}["));
        let module = weft_hlo::text::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let options = Options { numbers: Numbers::Small, ..Options::default() };
        for (target, expected) in [(&gpu, usize::from(is_tiled)), (&software, 0)] {
            let shaped = check(&device, target, &module, &options, 1);
            let shaped = shaped.unwrap_or_else(|found| panic!("{name}: {found}\n{text}"));
            assert_eq!(shaped.windows, expected, "{name}, {}", target.effective_schedule());
        }
    }
}
