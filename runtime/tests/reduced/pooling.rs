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
    let (mut report, mut failures) = (String::new(), 0);
    let count = cases(60);
    for seed in first_seed()..first_seed() + count {
        let text = random(seed);
        let module = weft_hlo::text::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let numbers = if seed % 4 == 0 { Numbers::Any } else { Numbers::Small };
        let options = Options { numbers, ..Options::default() };
        // Those of GPUs are the same with and without subgroups.
        let [gpu, _, software] = targets(&device);
        for target in [gpu, software] {
            if let Err(found) = check(&device, &target, &module, &options, seed) {
                failures += 1;
                if failures <= 2 {
                    write!(report, "seed {seed}, {}: {found}\n{text}\n", target.effective_schedule())
                        .expect("strings can be written to");
                }
            }
        }
    }
    assert!(failures == 0, "{failures} of {count} differ\n{report}");
}
