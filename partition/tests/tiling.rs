//! How many elements an invocation of a loop computes.

use weft_hlo::text::parse;
use weft_partition::{Emitter, FusionPlan, Target};

/// The invocations of a workgroup of a loop over so many elements of `operation`, and the elements of each.
fn shared_out(preset: &str, ty: &str, count: u32, operation: &str) -> [u32; 2] {
    let text = format!(
        "HloModule m\nf {{\n  x = {ty}[{count}] parameter(0)\n  ROOT y = {ty}[{count}] {operation}(x)\n}}\n\
         ENTRY e {{\n  x = {ty}[{count}] parameter(0)\n  ROOT c = {ty}[{count}] fusion(x), kind=kLoop, calls=f\n}}\n"
    );
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let computation = module.computations.values().find(|it| it.name == "f").unwrap();
    let plan = FusionPlan::new(&module, computation, &Target::preset(preset).unwrap()).unwrap();
    let Emitter::Loop(tiling) = plan.emitter() else { panic!("{}", plan.text(computation)) };
    [tiling.threads, tiling.elements]
}

#[test]
fn invocations_have_as_many_elements_as_pays() {
    for (preset, ty, count, operation, expected) in [
        // On GPUs vectors, as long as there are invocations enough.
        ("discrete", "f32", (1 << 18) - 4, "negate", [256, 1]),
        ("discrete", "f32", 1 << 18, "negate", [256, 4]),
        ("discrete", "f32", 1 << 24, "exponential", [256, 4]),
        ("mobile", "f32", 1 << 24, "negate", [256, 4]),
        // Whole words in any case.
        ("discrete", "bf16", 1 << 10, "negate", [64, 4]),
        ("discrete", "s8", 1 << 24, "negate", [256, 4]),
        // In software vectors sooner, and more of them.
        ("software", "f32", 63, "negate", [64, 1]),
        ("software", "f32", 64, "negate", [64, 4]),
        ("software", "f32", 1 << 20, "exponential", [256, 8]),
        ("software", "s8", 1 << 24, "negate", [256, 32]),
        // Functions of complex numbers are long; their arithmetic is not.
        ("software", "c64", 1 << 20, "negate", [256, 8]),
        ("software", "c64", 1 << 20, "exponential", [256, 1]),
        ("software", "c128", 1 << 10, "tanh", [64, 1]),
        ("discrete", "c64", 1 << 24, "log", [256, 1]),
        ("discrete", "c64", 1 << 24, "negate", [256, 4]),
    ] {
        assert_eq!(shared_out(preset, ty, count, operation), expected, "{preset} {ty}[{count}] {operation}");
    }
}
