//! Each element of a result is written once, and what a kernel is shaped to read once, it reads once: kernels are run on the host, and counted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::count::{Counted, counted};
use weft_codegen_wgsl::kernel::{Block, Kernel, ScalarOp, Statement};
use weft_codegen_wgsl::lower::Lowering;
use weft_codegen_wgsl::{kernel, lowered};
use weft_hlo::ir::BinaryOp;
use weft_hlo::text::parse;
use weft_hlo::verify::verify;
use weft_partition::{Emitter, Schedule, Site, Target, fuse};

/// How a kernel is shaped, as its plan has it.
fn shaped(emitter: &Emitter) -> &'static str {
    match emitter {
        Emitter::Loop(_) => "loop",
        Emitter::Transposed(tiles) if tiles.pairs => "pairs",
        Emitter::Transposed(_) => "tiles",
        Emitter::Windowed(_) => "windows",
        Emitter::Reduced(reduced) if reduced.is_kept => "kept",
        Emitter::Reduced(_) => "rows",
        Emitter::Product(_) => "products",
        Emitter::UpdateSlice(_) => "slice",
        _ => "other",
    }
}

/// The kernel of a program at three stages.
struct Stages {
    /// As it is made.
    made: Kernel,
    /// After the lowerings that decide what is read, and how often, but those that make words of packed elements, or trees of what invocations do together.
    elements: Kernel,
    /// After all lowerings.
    lowered: Kernel,
}

/// How the one kernel of a program is shaped for a device with a schedule, and its stages.
fn stages(text: &str, schedule: Schedule) -> (&'static str, Stages) {
    let module = parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    verify(&module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let preset = if schedule == Schedule::Gpu { "discrete" } else { "software" };
    // Without caches of cores it is for workgroups to keep what windows share.
    let target = Target::preset(preset).unwrap().with(|target| {
        target.schedule = Some(schedule);
        target.hardware.l1_bytes_per_core = 0;
    });
    let fused = fuse(&module, &target).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let sites: Vec<Site> = fused.fusions().collect();
    let [site] = sites.as_slice() else { panic!("{} kernels\n{text}", sites.len()) };
    let calls = fused.instruction(*site).unwrap().op.called_computations()[0];
    let made = kernel(&fused, *site, &target).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let mut stages = lowered(&fused, *site, &target, Lowering::LAST).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let (_, lowered) = stages.pop().unwrap();
    let (_, mut elements) = stages.into_iter().find(|(lowering, _)| *lowering == Lowering::Merged).unwrap();
    for lowering in Lowering::ALL.into_iter().skip_while(|lowering| *lowering <= Lowering::Merged) {
        if !matches!(lowering, Lowering::Moved | Lowering::Collective | Lowering::Words) {
            elements = lowering.apply(&elements, &target).unwrap_or_else(|found| panic!("{found}\n{text}"));
        }
    }
    (shaped(&fused.plan(calls).unwrap().emitter()), Stages { made, elements, lowered })
}

/// How often the kernel of a program reads and writes what, as it is made and before its elements are words.
fn run(text: &str, schedule: Schedule) -> (&'static str, [Vec<Counted>; 2]) {
    let (shape, Stages { made, elements, .. }) = stages(text, schedule);
    (shape, [made, elements].map(|kernel| counted(&kernel, 3)))
}

const ADD: &str = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }";
const MAX: &str = "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }";

/// What has to hold of a program that is one kernel: how it is shaped, and how often each element of each operand is read at most; at least once. All of its results are written once.
fn check(name: &str, body: &str, schedule: Schedule, shape: &str, reads: u32) {
    let text = format!("HloModule m\n{ADD}\n{MAX}\nENTRY main {{\n{body}\n}}");
    let (found, counts) = run(&text, schedule);
    assert_eq!(found, shape, "{schedule} {name}");
    for counted in counts.iter().flatten() {
        let told =
            format!("{schedule} {name}: {} is read {:?} and written {:?}", counted.name, counted.read, counted.written);
        match counted.name.ends_with("_out") {
            true => assert!(counted.written.iter().all(|times| *times == 1), "{told}"),
            false => assert!(counted.read.iter().all(|times| (1..=reads).contains(times)), "{told}"),
        }
    }
}

/// As [`check`], of programs that read some elements not at all.
fn written_once(name: &str, body: &str, schedule: Schedule, shape: &str) {
    let (found, counts) = run(&format!("HloModule m\nENTRY main {{\n{body}\n}}"), schedule);
    assert_eq!(found, shape, "{schedule} {name}");
    for counted in counts.iter().flatten().filter(|counted| counted.name.ends_with("_out")) {
        assert!(counted.written.iter().all(|times| *times == 1), "{schedule} {name}: {:?}", counted.written);
    }
}

#[test]
fn transpositions_read_and_write_once() {
    for (name, from, to, by, shape) in [
        ("whole", "f32[64,32]", "f32[32,64]", "1,0", "tiles"),
        ("ragged", "f32[37,53]", "f32[53,37]", "1,0", "tiles"),
        ("021", "f32[2,40,33]", "f32[2,33,40]", "0,2,1", "tiles"),
        ("210", "f32[20,2,40]", "f32[40,2,20]", "2,1,0", "tiles"),
        ("102", "f32[20,12,8]", "f32[12,20,8]", "1,0,2", "loop"),
        ("runs of three", "f32[18,24,3]", "f32[24,18,3]", "1,0,2", "tiles"),
        ("runs of five", "f32[2,17,19,5]", "f32[2,19,17,5]", "0,2,1,3", "tiles"),
        ("runs of three bytes", "s8[17,20,3]", "s8[20,17,3]", "1,0,2", "tiles"),
        ("halves", "f16[40,64]", "f16[64,40]", "1,0", "tiles"),
        ("bytes", "s8[36,50]", "s8[50,36]", "1,0", "tiles"),
        ("half bytes", "s4[64,50]", "s4[50,64]", "1,0", "tiles"),
        ("ragged bytes", "s8[50,36]", "s8[36,50]", "1,0", "tiles"),
        ("odd halves", "bf16[4,36,33]", "bf16[4,33,36]", "0,2,1", "tiles"),
        ("odd words", "bf16[4,33,37]", "bf16[4,37,33]", "0,2,1", "tiles"),
    ] {
        let body = format!("x = {from} parameter(0)\nROOT t = {to} transpose(x), dimensions={{{by}}}");
        Schedule::ALL.into_iter().for_each(|schedule| check(name, &body, schedule, shape, 1));
    }
}

/// Each element of an operand serves a side of each tile.
#[test]
fn products_write_once() {
    for (name, lhs, rhs, result, numbers) in [
        ("whole", "f32[64,32]", "f32[32,64]", "f32[64,64]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ("ragged", "f32[37,19]", "f32[19,41]", "f32[37,41]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ("transposed", "s32[16,33]", "s32[20,16]", "s32[33,20]", "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
        (
            "batched",
            "f32[3,9,8]",
            "f32[3,8,12]",
            "f32[3,9,12]",
            "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}",
        ),
    ] {
        let body = format!("x = {lhs} parameter(0)\ny = {rhs} parameter(1)\nROOT d = {result} dot(x, y), {numbers}");
        Schedule::ALL.into_iter().for_each(|schedule| check(name, &body, schedule, "products", 33));
    }
}

/// Each result of a convolution once, in whatever order its dimensions are.
#[test]
fn convolutions_write_once() {
    for (name, input, kernel, result, labels, rest) in [
        (
            "features minor",
            "f32[2,9,14,8]",
            "f32[3,3,8,20]",
            "f32[2,9,14,20]",
            "b01f_01io->b01f",
            "size=3x3 pad=1_1x1_1}",
        ),
        (
            "places minor",
            "f32[2,8,9,11]",
            "f32[20,8,3,3]",
            "f32[2,20,5,6]",
            "bf01_oi01->bf01",
            "size=3x3 stride=2x2 pad=1_1x1_1}",
        ),
        ("cropped", "s32[3,8,23]", "s32[4,8,2]", "s32[3,4,17]", "bf0_oi0->bf0", "size=2 pad=-2_-3}"),
        (
            "groups",
            "f32[2,7,6,12]",
            "f32[2,3,4,24]",
            "f32[2,7,6,24]",
            "b01f_01io->b01f",
            "size=2x3 pad=0_1x1_1}, feature_group_count=3",
        ),
        (
            "groups of the batch",
            "f32[6,9,8]",
            "f32[3,8,12]",
            "f32[2,9,12]",
            "b0f_0io->b0f",
            "size=3 pad=1_1}, batch_group_count=3",
        ),
        (
            "apart",
            "f32[2,5,6,8]",
            "f32[3,3,8,8]",
            "f32[2,10,12,8]",
            "b01f_01io->b01f",
            "size=3x3 pad=1_2x1_2 lhs_dilate=2x2}",
        ),
    ] {
        let body = format!(
            "x = {input} parameter(0)\ny = {kernel} parameter(1)\n\
             ROOT d = {result} convolution(x, y), window={{{rest}, dim_labels={labels}"
        );
        Schedule::ALL.into_iter().for_each(|schedule| written_once(name, &body, schedule, "products"));
    }
}

/// Squares that lie on the diagonal are their own mirror images, and filled as either; what lies elsewhere is read once.
#[test]
fn pairs_read_once_but_on_the_diagonal() {
    for (schedule, ty, side, square) in [
        (Schedule::Gpu, "f32", 96, 32),
        (Schedule::Gpu, "s8", 96, 32),
        (Schedule::Software, "f32", 128, 8),
        (Schedule::Software, "s16", 128, 8),
    ] {
        let shape = format!("{ty}[{side},{side}]");
        let text = format!(
            "HloModule m\nENTRY main {{\nx = {shape} parameter(0)\nt = {shape} transpose(x), dimensions={{1,0}}\n\
             ROOT y = {shape} add(x, t)\n}}"
        );
        let (found, Stages { lowered, .. }) = stages(&text, schedule);
        assert_eq!(found, "pairs", "{schedule} {shape}");
        for counted in &counted(&lowered, 3) {
            // Elements are read and written by words.
            let per_word = side * side / counted.read.len();
            for (word, (read, written)) in counted.read.iter().zip(&counted.written).enumerate() {
                let (row, column) = (word * per_word / side, word * per_word % side);
                let expected = match counted.name.ends_with("_out") {
                    true => (0, 1),
                    false => (1 + u32::from(row / square == column / square), 0),
                };
                assert_eq!((*read, *written), expected, "{schedule} {shape} {} [{row}, {column}]", counted.name);
            }
        }
    }
}

const SOFTMAX: &str = "x = f32[6,129] parameter(0)
l = f32[] constant(-inf)
m = f32[6] reduce(x, l), dimensions={1}, to_apply=max
w = f32[6,129] broadcast(m), dimensions={0}
s = f32[6,129] subtract(x, w)
e = f32[6,129] exponential(s)
z = f32[] constant(0)
t = f32[6] reduce(e, z), dimensions={1}, to_apply=add
b = f32[6,129] broadcast(t), dimensions={0}
ROOT y = f32[6,129] divide(e, b)";

#[test]
fn reductions_read_and_write_once() {
    let reduced = |from: &str, to: &str, by: &str| {
        format!(
            "x = {from} parameter(0)\nz = f32[] constant(0)\nROOT y = {to} reduce(x, z), dimensions={{{by}}}, to_apply=add"
        )
    };
    for (name, body) in [
        ("rows", reduced("f32[24,200]", "f32[24]", "1")),
        ("columns", reduced("f32[100,36]", "f32[36]", "0")),
        ("columns between", reduced("f32[3,70,9]", "f32[3,9]", "1")),
        ("everything", reduced("f32[500]", "f32[]", "0")),
    ] {
        for (schedule, shape) in [(Schedule::Gpu, "rows"), (Schedule::Software, "loop")] {
            check(name, &body, schedule, shape, 1);
        }
    }
    check("softmax", SOFTMAX, Schedule::Gpu, "kept", 1);
}

/// On GPUs a row is folded in stretches before it is gone through.
#[test]
fn scans_read_twice_at_most() {
    for (extents, window, schedule, reads) in [
        ("5,300", "size=1x300 pad=0_0x299_0", Schedule::Gpu, 2),
        ("5,300", "size=1x300 pad=0_0x299_0", Schedule::Software, 1),
        ("70,6", "size=70x1 pad=69_0x0_0", Schedule::Gpu, 2),
    ] {
        let body = format!(
            "x = f32[{extents}] parameter(0)\nz = f32[] constant(0)\n\
             ROOT y = f32[{extents}] reduce-window(x, z), window={{{window}}}, to_apply=add"
        );
        check(extents, &body, schedule, "rows", reads);
    }
}

/// Workgroups load what their windows cover once, so that only what several of them need is read again.
#[test]
fn windows_that_overlap_read_what_workgroups_share() {
    for (name, extents, results, window, reads) in [
        ("one dimension", "600", "596", "size=5", 2),
        ("two", "40,70", "40,70", "size=3x3 pad=1_1x1_1", 4),
        ("between channels", "9,11,32", "7,9,32", "size=3x3x1", 4),
    ] {
        let body = format!(
            "x = f32[{extents}] parameter(0)\nz = f32[] constant(0)\n\
             ROOT y = f32[{results}] reduce-window(x, z), window={{{window}}}, to_apply=add"
        );
        check(name, &body, Schedule::Gpu, "windows", reads);
    }
}

#[test]
fn loops_read_and_write_once() {
    for (name, body) in [
        ("elements", "x = f32[7,13] parameter(0)\nROOT y = f32[7,13] negate(x)"),
        ("reversed", "x = s8[9,16] parameter(0)\nROOT y = s8[9,16] reverse(x), dimensions={1}"),
        (
            "concatenated",
            "x = s16[4,12] parameter(0)\nw = s16[4,8] parameter(1)\nROOT y = s16[4,20] concatenate(x, w), dimensions={1}",
        ),
    ] {
        Schedule::ALL.into_iter().for_each(|schedule| check(name, body, schedule, "loop", 1));
    }
}

/// Of what is updated in place, what the update replaces is read and written once, and nothing else touched.
#[test]
fn updates_write_what_they_replace_once() {
    let text = "HloModule m\nENTRY main {\nx = f32[8,6] parameter(0)\ni = s32[] parameter(1)\nu = f32[3,6] parameter(2)\n\
                z = s32[] constant(0)\no = f32[3,6] dynamic-slice(x, i, z), dynamic_slice_sizes={3,6}\n\
                s = f32[3,6] add(o, u)\nROOT y = f32[8,6] dynamic-update-slice(x, s, i, z)\n}";
    for schedule in Schedule::ALL {
        let (found, counts) = run(text, schedule);
        assert_eq!(found, "slice", "{schedule}");
        for counted in counts.iter().flatten().filter(|counted| counted.name == "y_out") {
            // Rows 3 to 5, as the start says.
            let expected: Vec<u32> = (0..48).map(|position| u32::from((18..36).contains(&position))).collect();
            assert_eq!((&counted.read, &counted.written), (&expected, &expected), "{schedule}");
        }
    }
}

/// What the elements of a tile have in common, here a power of numbers, is computed once for all of them: of whole tiles and of those at the edge.
#[test]
fn what_elements_of_a_tile_have_in_common_is_computed_once() {
    fn powers(block: &Block) -> usize {
        let own = |statement: &Statement| {
            let is_power = matches!(statement, Statement::Let { op: ScalarOp::Binary { op: BinaryOp::Power, .. }, .. });
            usize::from(is_power) + statement.blocks().into_iter().map(powers).sum::<usize>()
        };
        block.statements.iter().map(own).sum()
    }
    let text = "HloModule m\nENTRY main {\n  x = f32[37,13] parameter(0)\n  y = f32[13,10] parameter(1)\n  \
        s = f32[] parameter(2)\n  c = f32[] constant(0.9)\n  p = f32[] power(c, s)\n  b = f32[37,10] broadcast(p), dimensions={}\n  \
        d = f32[37,10] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  ROOT r = f32[37,10] multiply(d, b)\n}\n";
    let (shape, Stages { lowered, .. }) = stages(text, Schedule::Software);
    assert_eq!(shape, "products");
    // A function with one would compute it again at each call.
    assert!(lowered.functions.values().all(|function| powers(&function.body) == 0), "{lowered}");
    assert!((1..=2).contains(&powers(&lowered.entry.body)), "{lowered}");
}
