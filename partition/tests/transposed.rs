//! Which transpositions have tiles, of which elements, and why the others have none.

use weft_hlo::text::parse;
use weft_partition::{DeviceKind, Emitter, FusionPlan, Target};

/// Why a transposition of these extents by a permutation has no tiles, or its space, on a kind of device.
fn tiles(extents: &str, result: &str, permutation: &str, kind: DeviceKind) -> String {
    plan("f32", extents, result, permutation, kind).1
}

/// The first line of the plan of a transposition of elements of a type, and why it has no tiles, or its space.
fn plan(ty: &str, extents: &str, result: &str, permutation: &str, kind: DeviceKind) -> (String, String) {
    let text = format!(
        "HloModule m\nf {{\n  a = {ty}[{extents}] parameter(0)\n  ROOT t = {ty}[{result}] transpose(a), dimensions={{{permutation}}}\n}}\n\
         ENTRY e {{\n  a = {ty}[{extents}] parameter(0)\n  ROOT c = {ty}[{result}] fusion(a), kind=kLoop, calls=f\n}}\n"
    );
    let module = parse(&text).unwrap();
    let computation = module.computations.values().find(|it| it.name == "f").unwrap();
    let target = Target::default().with(|target| target.kind = kind);
    let plan = FusionPlan::new(&module, computation, &target).unwrap();
    let text = plan.text(computation);
    assert_eq!(FusionPlan::parse(&text, &module, computation, &target).as_ref(), Ok(&plan), "{text}");
    let what = match plan.emitter() {
        Emitter::Transposed(tiles) => format!("{:?}", [tiles.outer, tiles.rows, tiles.middle, tiles.columns]),
        _ => plan.why().to_owned(),
    };
    (text.lines().next().unwrap_or_default().to_owned(), what)
}

#[test]
fn transpositions_are_tiled_where_that_pays() {
    let discrete = |extents, result, permutation| tiles(extents, result, permutation, DeviceKind::Discrete);
    assert_eq!(discrete("100,70", "70,100", "1,0"), "[1, 70, 1, 100]");
    assert_eq!(discrete("5,100,70", "5,70,100", "0,2,1"), "[5, 70, 1, 100]");
    assert_eq!(discrete("20,30,40", "40,30,20", "2,1,0"), "[1, 40, 30, 20]");
    // Neighbors that stay neighbors are one dimension.
    assert_eq!(discrete("20,30,8,9", "8,9,20,30", "2,3,0,1"), "[1, 72, 1, 600]");
    assert_eq!(discrete("1,40,1,50", "50,1,1,40", "3,0,2,1"), "[1, 50, 1, 40]");
    let stays = "t: what lies side by side in the operand does so in the result";
    assert_eq!(discrete("20,30,40", "30,20,40", "1,0,2"), stays);
    assert_eq!(discrete("3,1000", "1000,3", "1,0"), "t: 1000 by 3 elements are few");
    assert_eq!(tiles("100,70", "70,100", "1,0", DeviceKind::Software), "[1, 70, 1, 100]");
}

#[test]
fn elements_that_share_words_are_moved_by_words() {
    let of = |ty, kind| plan(ty, "104,72", "72,104", "1,0", kind).0;
    let [gpu, software] = [DeviceKind::Discrete, DeviceKind::Software];
    assert_eq!(of("bf16", gpu), "plan transposed threads=128 tile=32 by 4 space=[1, 72, 1, 104]");
    assert_eq!(of("s8", gpu), "plan transposed threads=128 tile=32 by 4 space=[1, 72, 1, 104]");
    assert_eq!(of("s4", gpu), "plan transposed threads=128 tile=32 by 8 space=[1, 72, 1, 104]");
    assert_eq!(of("bf16", software), "plan transposed threads=32 tile=4 each by 4 space=[1, 72, 1, 104]");
    assert_eq!(of("s4", software), "plan transposed threads=16 tile=8 each by 8 space=[1, 72, 1, 104]");
    let why = |ty, extents, result| plan(ty, extents, result, "1,0", software).1;
    assert_eq!(why("s8", "72,70", "70,72"), "[1, 70, 1, 72]");
    assert_eq!(why("u2", "64,64", "64,64"), "t: a word has 16 elements of u2");
    assert_eq!(why("s64", "64,64", "64,64"), "t: tiles have elements of a word or less each, and not of s64");
}

/// Rows are one with others, or with what lies between rows and columns, where they would begin within words.
#[test]
fn rows_begin_with_words() {
    let of = |ty, extents, result, permutation| {
        let [gpu, software] = [DeviceKind::Discrete, DeviceKind::Software];
        let space = |kind| plan(ty, extents, result, permutation, kind).0.split_once(" space=").unwrap().1.to_owned();
        assert_eq!(space(gpu), space(software));
        space(gpu)
    };
    assert_eq!(of("s8", "70,72", "72,70", "1,0"), "[1, 36, 1, 140]");
    assert_eq!(of("s4", "36,72", "72,36", "1,0"), "[1, 36, 1, 72]");
    assert_eq!(of("s4", "35,72", "72,35", "1,0"), "[1, 9, 1, 280]");
    assert_eq!(of("s8", "4,37,53", "4,53,37", "0,2,1"), "[1, 53, 1, 148]");
    assert_eq!(of("s8", "42,6,40", "40,6,42", "2,1,0"), "[1, 40, 1, 252]");
    assert_eq!(of("s8", "33,6,40", "40,6,33", "2,1,0"), "[1, 20, 1, 396]");
    let why = plan("bf16", "37,53", "53,37", "1,0", DeviceKind::Discrete).1;
    assert_eq!(why, "t: 1961 elements end within a word");
    // Words of operands are read in parts.
    assert_eq!(of("s8", "72,70", "70,72", "1,0"), "[1, 70, 1, 72]");
}

#[test]
fn what_stays_side_by_side_is_moved_as_vectors() {
    let of = |ty, extents, result| plan(ty, extents, result, "1,0,2", DeviceKind::Software).0;
    assert_eq!(of("f32", "64,48,16", "48,64,16"), "plan loop threads=64 elements=4");
    assert_eq!(of("s8", "64,48,16", "48,64,16"), "plan loop threads=64 elements=16");
    assert_eq!(of("f32", "64,48,20", "48,64,20"), "plan loop threads=64 elements=4");
}

/// Runs that would leave vectors half empty go through tiles, rows of which are whole vectors, and whole words.
#[test]
fn short_runs_are_tiled() {
    let of = |ty, extents, result, kind| plan(ty, extents, result, "1,0,2", kind).0;
    let [gpu, software] = [DeviceKind::Discrete, DeviceKind::Software];
    let f32s = |extents, result, kind| of("f32", extents, result, kind);
    let runs = "plan transposed threads=16 tile=4 each of runs of 3 space=[1, 48, 1, 64]";
    assert_eq!(f32s("64,48,3", "48,64,3", software), runs);
    let runs = "plan transposed threads=128 tile=32 of runs of 3 space=[1, 48, 1, 64]";
    assert_eq!(f32s("64,48,3", "48,64,3", gpu), runs);
    // 32 by 33 runs of 5 would take 20 KiB.
    let runs = "plan transposed threads=128 tile=16 of runs of 5 space=[1, 48, 1, 64]";
    assert_eq!(f32s("64,48,5", "48,64,5", gpu), runs);
    assert_eq!(
        of("s8", "64,48,3", "48,64,3", gpu),
        "plan transposed threads=128 tile=32 by 4 of runs of 3 space=[1, 48, 1, 64]"
    );
    let why = |ty, extents, result, kind| plan(ty, extents, result, "1,0,2", kind).1;
    assert_eq!(why("f32", "64,48,17", "48,64,17", gpu), "t: runs of 17 elements are read and written as they lie");
    assert_eq!(why("f32", "9,12,3", "12,9,3", gpu), "t: 12 by 9 elements are few");
    let stays = "t: what lies side by side in the operand does so in the result";
    assert_eq!(why("s4", "64,48,8", "48,64,8", gpu), stays);
    assert_eq!(why("s8", "65,48,3", "48,65,3", software), "[1, 12, 1, 260]");
}

/// Where registers are few, what calls functions of the library comes in pairs of single tiles.
#[test]
fn dear_elements_come_in_smaller_squares() {
    let of = |body: &str, kind, few_registers| {
        let text = format!(
            "HloModule m\nf {{\n  a = f32[256,256] parameter(0)\n{body}  t = f32[256,256] transpose(b), dimensions={{1,0}}\n  \
             ROOT c = f32[256,256] add(b, t)\n}}\n\
             ENTRY e {{\n  a = f32[256,256] parameter(0)\n  ROOT c = f32[256,256] fusion(a), kind=kLoop, calls=f\n}}\n"
        );
        let module = parse(&text).unwrap();
        let computation = module.computations.values().find(|it| it.name == "f").unwrap();
        let target = Target::default().with(|target| {
            (target.kind, target.hardware.few_registers) = (kind, few_registers);
        });
        let plan = FusionPlan::new(&module, computation, &target).unwrap();
        match plan.emitter() {
            Emitter::Transposed(tiles) => (tiles.pairs, tiles.square()),
            _ => panic!("{}", plan.why()),
        }
    };
    let [log, negated] = ["  b = f32[256,256] log(a)\n", "  b = f32[256,256] negate(a)\n"];
    for (body, kind, few_registers, square) in [
        (log, DeviceKind::Software, true, 4),
        (log, DeviceKind::Software, false, 8),
        (negated, DeviceKind::Software, true, 8),
        (log, DeviceKind::Discrete, true, 32),
    ] {
        assert_eq!(of(body, kind, few_registers), (true, square), "{body}");
    }
}
