//! Which transpositions have tiles, of which elements, and why the others have none.

use weft_hlo::text::parse;
use weft_partition::{DeviceKind, Emitter, FusionPlan, Target};

/// Why a transposition of these extents by a permutation has no tiles, or its space, on a kind of device.
fn tiles(extents: &str, result: &str, permutation: &str, kind: DeviceKind) -> String {
    let text = format!(
        "HloModule m\nf {{\n  a = f32[{extents}] parameter(0)\n  ROOT t = f32[{result}] transpose(a), dimensions={{{permutation}}}\n}}\n\
         ENTRY e {{\n  a = f32[{extents}] parameter(0)\n  ROOT c = f32[{result}] fusion(a), kind=kLoop, calls=f\n}}\n"
    );
    let module = parse(&text).unwrap();
    let computation = module.computations.values().find(|it| it.name == "f").unwrap();
    let target = Target::default().with(|target| target.kind = kind);
    let plan = FusionPlan::new(&module, computation, &target).unwrap();
    let text = plan.text(computation);
    assert_eq!(FusionPlan::parse(&text, &module, computation, &target).as_ref(), Ok(&plan), "{text}");
    match plan.emitter() {
        Emitter::Transposed(tiles) => format!("{:?}", [tiles.outer, tiles.rows, tiles.middle, tiles.columns]),
        _ => plan.why().to_owned(),
    }
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
