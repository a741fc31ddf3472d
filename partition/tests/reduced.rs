//! Plans around reductions: which functions there are, in which passes they are called, how many invocations share a row, and why others are loops.

use weft_hlo::ir::Module;
use weft_hlo::text::parse;
use weft_partition::{Emitter, FusionPlan, Reduced, Rows, Schedule, Target, fuse};

const SUM: &str = "HloModule m\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n\
    max {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, b)\n}\n\
    last {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] subtract(a, b)\n}\n";

fn read(body: &str) -> Module {
    let text = format!("{SUM}ENTRY body {{\n{body}\n}}");
    parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

fn desktop(schedule: Schedule) -> Target {
    Target::preset("discrete").unwrap().with(|target| target.schedule = Some(schedule))
}

/// The plan of a computation, which comes back from its text, and its text.
fn plan(body: &str, target: &Target) -> (FusionPlan, String) {
    let module = read(body);
    let computation = module.entry_computation();
    let plan = FusionPlan::new(&module, computation, target).unwrap_or_else(|found| panic!("{found}"));
    let text = plan.text(computation);
    assert_eq!(FusionPlan::parse(&text, &module, computation, target).as_ref(), Ok(&plan), "{text}");
    (plan, text)
}

fn reduced(body: &str, target: &Target) -> Result<Reduced, String> {
    let (plan, _) = plan(body, target);
    match plan.emitter() {
        Emitter::Reduced(reduced) => Ok(reduced),
        _ => Err(plan.why().to_owned()),
    }
}

const SOFTMAX: &str = "
    x = f32[64,1000] parameter(0)
    low = f32[] constant(-inf)
    zero = f32[] constant(0)
    m = f32[64] reduce(x, low), dimensions={1}, to_apply=max
    b = f32[64,1000] broadcast(m), dimensions={0}
    d = f32[64,1000] subtract(x, b)
    e = f32[64,1000] exponential(d)
    s = f32[64] reduce(e, zero), dimensions={1}, to_apply=sum
    t = f32[64,1000] broadcast(s), dimensions={0}
    ROOT q = f32[64,1000] divide(e, t)";

/// What is written for each element has vectors of as many as share a word. Where rows do not divide into words another kernel writes it, for words that invocations share are written element by element.
#[test]
fn what_shares_words_is_written_by_words() {
    let normalized = |ty: &str, extents: [i64; 2], dimension: i64| {
        let [rows, columns] = extents;
        let kept = extents[1 - dimension as usize];
        format!(
            "x = f32[{rows},{columns}] parameter(0)\nlow = f32[] constant(-inf)\n\
             m = f32[{kept}] reduce(x, low), dimensions={{{dimension}}}, to_apply=max\n\
             b = f32[{rows},{columns}] broadcast(m), dimensions={{{}}}\nd = f32[{rows},{columns}] subtract(x, b)\n\
             ROOT q = {ty}[{rows},{columns}] convert(d)",
            1 - dimension
        )
    };
    let gpu = desktop(Schedule::Gpu);
    for (ty, dimension, lanes) in
        [("f32", 1, 2), ("bf16", 1, 2), ("s8", 1, 4), ("f32", 0, 1), ("bf16", 0, 2), ("s8", 0, 4)]
    {
        let reduced = reduced(&normalized(ty, [2048, 1024], dimension), &gpu).unwrap();
        assert_eq!(reduced.lanes, lanes, "{ty} {dimension}");
    }
    for target in [gpu, Target::preset("software").unwrap()] {
        for (ty, columns, kernels) in [("f32", 1001, 1), ("bf16", 1000, 1), ("bf16", 1001, 2), ("s8", 1001, 2)] {
            let fused = fuse(&read(&normalized(ty, [2048, columns], 1)), &target).unwrap();
            assert_eq!(fused.fusions().count(), kernels, "{ty} {columns} {}", fused.module);
        }
    }
}

/// Each pass is given what those before it have folded and computed; nothing is computed twice where an invocation keeps its elements.
#[test]
fn softmax_is_three_passes() {
    let (plan, text) = plan(SOFTMAX, &desktop(Schedule::Gpu));
    assert_eq!(
        text,
        "\
plan reduced threads=256 rows=4 along=128 columns=1 lanes=2 rounds=8 order=free values=kept space=[64, 1000, 1]
  why: %m, %s: rows of 1000 elements, of min(1024, round_up(⌈1000 / 16⌉, 32)) = 64 by the formula 64 invocations each, a workgroup of 256 for every 4, vectors of 2, 16 values of a kind kept by an invocation
hero %m in x: row-reduction rows=64 length=1000
  tiling: threads=256 tile=[256]
hero %s in e: row-reduction rows=64 length=1000
  tiling: threads=256 tile=[256]
  prologues: x
  epilogue: q at [d0, d1, 0]
pass 0
  elements: x
  fold: %m of x from -inf
pass 1
  elements: e
  fold: %s of e from -0
pass 2
  elements: q
output function q [64, 1000, 1] given %s, %e -> %q[d0, d1]
  why: it computes an output
  %t = f32[64,1000] broadcast(%s)
  %q = f32[64,1000] divide(%e, %t)
function e [64, 1000, 1] given %m, %x -> %e[d0, d1]
  why: its elements are folded
  %b = f32[64,1000] broadcast(%m)
  %d = f32[64,1000] subtract(%x, %b)
  %e = f32[64,1000] exponential(%d)
function x [64, 1000, 1] -> %x[d0, d1]
  why: its elements are folded
"
    );
    // Nothing is computed more often than it has elements.
    assert_eq!(plan.excess_per_element(), 0.0);
    let (plan, text) = self::plan(SOFTMAX, &desktop(Schedule::Software));
    let first = "plan reduced threads=8 rows=8 along=4 columns=1 lanes=4 rounds=250 order=free values=computed again space=[64, 1000, 1]\n";
    assert!(text.starts_with(first) && text.contains("pass 1\n  elements: x, e, q\n"), "{text}");
    assert!(plan.excess_per_element() > 8.0, "{}", plan.excess_per_element());
}

/// What a text says is derived again, and refused where it does not follow.
#[test]
fn a_text_that_does_not_follow_is_refused() {
    let target = desktop(Schedule::Gpu);
    let (_, text) = plan(SOFTMAX, &target);
    let module = read(SOFTMAX);
    let wrong = [
        text.replace("threads=256 rows=4", "threads=128 rows=2"),
        text.replace("values=kept", "values=computed again"),
        text.replace("pass 2", "pass 3"),
        text.replace("given %m, %x", "given %m"),
        text.replacen("plan reduced", "plan transposed", 1),
    ];
    for text in wrong {
        let found = FusionPlan::parse(&text, &module, module.entry_computation(), &target).expect_err("it is no plan");
        assert!(found.to_string().contains("HLO405"), "{found}");
    }
    // A loop may be asked for, whatever else there could be.
    let loops = target.clone().with(|target| target.faults.barriers = true);
    let (_, text) = plan(SOFTMAX, &loops);
    let text = text.replace("barriers do not work on the target", "the plan says so");
    let plan = FusionPlan::parse(&text, &module, module.entry_computation(), &target)
        .unwrap_or_else(|found| panic!("{found}"));
    assert!(matches!(plan.emitter(), Emitter::Loop(_)));
}

/// What fusing asks: an operand is read once where its rows fit.
#[test]
fn bytes_are_those_of_rows_that_fit() {
    let bytes = 64 * 1000 * 4;
    let of = |text: &str, schedule| {
        let module = read(text);
        Rows::of(&module, module.entry_computation(), &desktop(schedule))
    };
    let kept = of(SOFTMAX, Schedule::Gpu).unwrap();
    assert_eq!((kept.passes, kept.bytes_read, kept.bytes_written), (3, bytes, bytes));
    let again = of(SOFTMAX, Schedule::Software).unwrap();
    assert_eq!((again.passes, again.bytes_read, again.bytes_written), (2, 2 * bytes, bytes));
    let long = of(&SOFTMAX.replace("64,1000", "64,100000"), Schedule::Gpu).unwrap();
    assert!(!long.schedule.is_kept && long.bytes_read == 300 * bytes);
    assert_eq!(
        of("x = f32[9] parameter(0)\nROOT y = f32[9] negate(x)", Schedule::Gpu),
        Err("it reduces nothing".to_owned())
    );
}

fn sum_of(extents: &str, dimensions: &str, result: &str) -> String {
    format!(
        "x = f32[{extents}] parameter(0)\nzero = f32[] constant(0)\n\
         ROOT r = f32[{result}] reduce(x, zero), dimensions={{{dimensions}}}, to_apply=sum"
    )
}

#[test]
fn invocations_follow_the_formulae() {
    let gpu = desktop(Schedule::Gpu);
    let of = |extents: &str, dimensions: &str, result: &str| {
        let reduced = reduced(&sum_of(extents, dimensions, result), &gpu).unwrap();
        (reduced.threads(), [reduced.rows, reduced.along, reduced.columns], reduced.lanes)
    };
    // Rows: a sixteenth of their elements, in whole subgroups of 32, and several rows where these are fewer than 256.
    assert_eq!(of("100,16384", "1", "100"), (1024, [1, 2048, 1], 2));
    assert_eq!(of("100,5000", "1", "100"), (320, [1, 640, 1], 2));
    assert_eq!(of("100,1024", "1", "100"), (256, [4, 128, 1], 2));
    assert_eq!(of("100,64", "1", "100"), (256, [8, 64, 1], 2));
    assert_eq!(of("100,63", "1", "100").2, 1);
    assert_eq!(of("1,1024", "1", "1"), (64, [1, 128, 1], 2));
    // Columns: 32 side by side; fewer share 128 invocations.
    assert_eq!(of("4096,4096", "0", "4096"), (1024, [1, 32, 32], 1));
    assert_eq!(of("7,4096,6", "1", "7,6"), (126, [1, 21, 6], 1));
    // Each invocation folds 8 elements of a column at least, as long as 8 share it.
    assert_eq!(of("128,4096", "0", "4096"), (512, [1, 16, 32], 1));
    assert_eq!(of("64,4096", "0", "4096"), (256, [1, 8, 32], 1));
    assert_eq!(of("33,4096", "0", "4096"), (256, [1, 8, 32], 1));
    let floor = reduced(&sum_of("4096,4096", "0", "4096"), &Target::default()).unwrap();
    assert_eq!((floor.threads(), floor.along), (256, 8));
    // Dimensions apart from each other are one, and vectors stay within a stretch.
    assert_eq!(of("6,25,7,3", "1,3", "6,7"), (256, [8, 32, 1], 1));
    assert_eq!(of("5,64,9,32", "1,3", "5,9").1, [2, 256, 1]);
}

#[test]
fn loops_are_told_why() {
    let gpu = desktop(Schedule::Gpu);
    let why = |body: &str, target: &Target| reduced(body, target).expect_err("it is a loop");
    assert_eq!(why(&sum_of("64,10", "1", "64"), &gpu), "r: rows of 10 are short and do not divide 32");
    let in_software = "r: on a device in software an invocation folds a row by itself";
    assert_eq!(why(&sum_of("64,1000", "1", "64"), &desktop(Schedule::Software)), in_software);
    let ordered = sum_of("64,1000", "1", "64").replace("to_apply=sum", "to_apply=last");
    assert_eq!(
        why(&ordered, &gpu),
        "r: its region is not associative: of 2, 1 and 2 it makes -1 or 3, depending on the grouping"
    );
    let reversed = "x = f32[64,1000] parameter(0)\nzero = f32[] constant(0)\n\
        r = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum\nv = f32[64] reverse(r), dimensions={0}\n\
        ROOT s = f32[64] add(r, v)";
    let elsewhere = "r: outputs read it at other elements than their own";
    assert_eq!(why(reversed, &gpu), elsewhere);
    let windowed = gpu.clone().with(|target| target.max_storage_binding_bytes = 1 << 16);
    assert_eq!(
        why(&sum_of("64,1000", "1", "64"), &windowed),
        "r: a kernel binds 65536 bytes of a tensor, which has 256000"
    );
    let other = SOFTMAX.replace("ROOT q", "q") + "\nROOT c = f32[128,1000] concatenate(q, q), dimensions={0}";
    assert!(why(&other, &gpu).contains("outputs read it at other elements"), "{}", why(&other, &gpu));
}

/// In software, and wherever an invocation has more elements than it keeps, the sum of a softmax is folded in the pass of its maximum, if nothing else needs that pass.
#[test]
fn exponentials_are_summed_beside_their_maximum() {
    let passes = |body: &str, target: &Target| {
        let (plan, text) = plan(body, target);
        (plan.passes().len(), text.contains("fold: %s of e from -0 scaled by %m"))
    };
    let software = desktop(Schedule::Software);
    let small = desktop(Schedule::Gpu).with(|target| target.max_invocations_per_workgroup = 8);
    let long = SOFTMAX.replace("1000", "1024");
    assert_eq!(passes(SOFTMAX, &software), (2, true));
    assert_eq!(passes(&long, &small), (2, true));
    assert_eq!(passes(&long, &desktop(Schedule::Gpu)), (3, false));
    // Rounds that no group divides; exponentials of something else; exponentials that are stored, which needs the maximum of the row; a minimum.
    for (from, to) in [
        ("1000", "1004"),
        ("exponential(d)", "exponential(x)"),
        (
            "ROOT q = f32[64,1000] divide(e, t)",
            "q = f32[64,1000] divide(e, t)\n    ROOT r = (f32[64,1000], f32[64,1000]) tuple(q, e)",
        ),
        ("to_apply=max", "to_apply=last"),
        ("subtract(x, b)", "subtract(b, x)"),
        ("zero = f32[] constant(0)", "zero = f32[] parameter(1)"),
    ] {
        let body = SOFTMAX.replace(from, to);
        assert!(!plan(&body, &software).1.contains("scaled by"), "{body}");
    }
}

/// What one reduction begins with may be the result of another one of the same elements: they come in two passes.
#[test]
fn a_reduction_may_begin_with_the_result_of_another_of_the_same_elements() {
    let body = "
    x = f32[64,1000] parameter(0)
    zero = f32[] constant(0)
    a = f32[] reduce(x, zero), dimensions={0,1}, to_apply=sum
    b = f32[] reduce(x, a), dimensions={0,1}, to_apply=max
    c = f32[64,1000] broadcast(b), dimensions={}
    d = f32[64,1000] subtract(x, c)
    ROOT r = (f32[], f32[], f32[64,1000]) tuple(a, b, d)";
    let (plan, text) = plan(body, &desktop(Schedule::Gpu));
    assert!(matches!(plan.emitter(), Emitter::Reduced(_)) && plan.passes().len() == 3, "{text}");
}
