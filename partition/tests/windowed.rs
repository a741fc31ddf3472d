//! Which windows workgroups load into tiles, what they load, and why others are loops.

use weft_hlo::indexing::operand_map;
use weft_hlo::text::parse;
use weft_indexing::SymbolicTile;
use weft_partition::{DeviceKind, Emitter, FusionPlan, Target, WindowedDimension};

/// The plan of a `reduce-window` of sums: its first line, and why it is what it is.
fn plan(ty: &str, extents: &str, results: &str, window: &str, target: &Target) -> (FusionPlan, String, String) {
    let text = format!(
        "HloModule m\nadd {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  ROOT r = {ty}[] add(a, b)\n}}\n\
         f {{\n  x = {ty}[{extents}] parameter(0)\n  n = {ty}[{extents}] negate(x)\n  z = {ty}[] constant(0)\n  \
         ROOT w = {ty}[{results}] reduce-window(n, z), window={{{window}}}, to_apply=add\n}}\n\
         ENTRY e {{\n  x = {ty}[{extents}] parameter(0)\n  ROOT c = {ty}[{results}] fusion(x), kind=kLoop, calls=f\n}}\n"
    );
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let computation = module.computations.values().find(|it| it.name == "f").unwrap();
    let plan = FusionPlan::new(&module, computation, target).unwrap();
    let told = plan.text(computation);
    assert_eq!(FusionPlan::parse(&told, &module, computation, target).as_ref(), Ok(&plan), "{told}");
    if let Emitter::Windowed(windowed) = plan.emitter() {
        // Where the map has a tile for the results of a workgroup, it is what is loaded.
        let root = computation.root;
        let tile = SymbolicTile::of(&operand_map(computation, root, 0).unwrap());
        let boxes = tile.map(|tile| tile.evaluate(&windowed.tile()));
        if let Ok(Ok(boxes)) = boxes
            && let Ok(Some(axes)) = boxes.at(&vec![0; windowed.dimensions.len()], &[])
        {
            let sizes: Vec<i64> = axes.iter().map(|axis| axis.size).collect();
            // Where a workgroup has fewer results than others the tile is cut off, and between elements with holes it may begin later.
            let alike = |(size, (own, loaded)): (&i64, (&WindowedDimension, i64))| {
                let is_less = own.results < own.tile || own.window.base_dilation > 1;
                if is_less { *size <= loaded } else { *size == loaded }
            };
            let all = windowed.dimensions.iter().zip(windowed.loaded());
            assert!(sizes.iter().zip(all).all(alike), "{sizes:?}\n{told}");
        }
    }
    let (first, why) = (told.lines().next().unwrap_or_default().to_owned(), plan.why().to_owned());
    (plan, first, why)
}

/// A target whose cores have no caches, so that it is for workgroups to keep what windows share.
fn uncached() -> Target {
    Target::default().with(|target| target.hardware.l1_bytes_per_core = 0)
}

fn first(ty: &str, extents: &str, results: &str, window: &str) -> String {
    plan(ty, extents, results, window, &uncached()).1
}

fn why(ty: &str, extents: &str, results: &str, window: &str) -> String {
    plan(ty, extents, results, window, &uncached()).2
}

#[test]
fn workgroups_load_what_windows_share() {
    for (ty, extents, results, window, expected) in [
        (
            "f32",
            "32,112,112,64",
            "32,56,56,64",
            "size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0",
            "threads=256 results=[1, 2, 4, 32] loaded=[1, 5, 9, 32]",
        ),
        ("f32", "100,200", "98,198", "size=3x3", "threads=256 results=[8, 32] loaded=[10, 34]"),
        ("f32", "10000", "9992", "size=9", "threads=256 results=[256] loaded=[264]"),
        // An invocation has several results where there are enough.
        ("f32", "2000,2000", "1998,1998", "size=3x3", "threads=256 results=[32, 32] loaded=[34, 34]"),
        ("f32", "500", "484", "size=5 rhs_dilate=4", "threads=256 results=[256] loaded=[272]"),
        // Between elements of a base with holes there is nothing to load, and what is left out between places that are read neither.
        ("f32", "40,30", "80,60", "size=5x4 pad=3_2x1_3 lhs_dilate=2x2", "threads=256 results=[8, 32] loaded=[7, 18]"),
        (
            "f32",
            "400,90",
            "197,90",
            "size=4x1 stride=2x1 rhs_dilate=2x1",
            "threads=256 results=[8, 32] loaded=[11, 32]",
        ),
        ("f16", "40,68", "40,68", "size=3x3 pad=1_1x1_1", "threads=64 results=[8, 32] by 4 loaded=[10, 34]"),
    ] {
        assert_eq!(first(ty, extents, results, window), format!("plan windowed {expected}"), "{extents} {window}");
    }
    let told =
        "w: a workgroup loads 10 × 34 elements, 1360 bytes, once for the windows of 8 × 32 results, which read 2304";
    assert_eq!(why("f32", "100,200", "98,198", "size=3x3"), told);
}

#[test]
fn other_windows_are_loops_and_say_why() {
    for (ty, extents, results, window, expected) in [
        (
            "f32",
            "100,200",
            "50,100",
            "size=3x3 stride=2x2 pad=0_1x0_1",
            "its windows read 45000 elements, and tiles of them would load 30186",
        ),
        ("f32", "4,9", "2,7", "size=3x3", "tiles of 2 × 8 results are few"),
        ("f16", "40,70", "40,70", "size=3x3 pad=1_1x1_1", "rows of 70 results end within words"),
        ("f64", "40,70", "40,70", "size=3x3 pad=1_1x1_1", "tiles have elements of a word or less each, and not of f64"),
        ("s4", "40,70", "38,68", "size=3x3", "a word has 8 elements of s4"),
        (
            "f32",
            "4000,4000",
            "3901,3901",
            "size=100x100",
            "the windows of 1 × 8 results cover 42800 bytes, and half of the workgroup memory has 8192",
        ),
    ] {
        assert_eq!(why(ty, extents, results, window), format!("w: {expected}"), "{extents} {window}");
    }
    let software = Target::default().with(|target| target.kind = DeviceKind::Software);
    let (_, _, why) = plan("f32", "100,200", "98,198", "size=3x3", &software);
    assert_eq!(why, "w: in software an invocation shares what its windows have in common in registers");
    let (_, _, why) = plan("f32", "100,200", "98,198", "size=3x3", &Target::default());
    assert_eq!(
        why,
        "w: the windows of a workgroup cover 1360 bytes, of which a core's cache of 65536 holds 4 times as many"
    );
    let faulty = Target::default().with(|target| target.faults.barriers = true);
    let (_, _, why) = plan("f32", "100,200", "98,198", "size=3x3", &faulty);
    assert_eq!(why, "w: barriers do not work on the target");
}
