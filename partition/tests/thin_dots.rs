//! Dots with few results, on devices of both kinds.

use weft_hlo::ir::Op;
use weft_hlo::text::parse;
use weft_partition::{Emitter, Fused, Target, Verdict, fuse};

fn fused(shapes: [&str; 3], dimensions: &str, preset: &str) -> Fused {
    let target = Target::preset(preset).unwrap();
    let [a, b, d] = shapes;
    let text = format!(
        "HloModule m\n\nENTRY e {{\n  a = {a} parameter(0)\n  b = {b} parameter(1)\n  ROOT d = {d} dot(a, b), {dimensions}\n}}\n"
    );
    fuse(&parse(&text).unwrap(), &target).unwrap_or_else(|findings| panic!("{findings}\n{text}"))
}

/// The emitters of all kernels, and the dots that are left.
fn kernels(fused: &Fused) -> (Vec<Emitter>, usize) {
    let plan = |site| match fused.instruction(site)?.op {
        Op::Fusion { calls, .. } => fused.plan(calls),
        _ => None,
    };
    let plans = fused.fusions().filter_map(plan);
    let all = fused.module.computations.values().flat_map(|computation| computation.instructions.values());
    (plans.map(|plan| plan.emitter()).collect(), all.filter(|it| matches!(it.op, Op::Dot { .. })).count())
}

const MATRIX: &str = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";

#[test]
fn dots_with_vectors_are_reductions_on_gpus() {
    for shapes in [
        ["f32[4096,4096]", "f32[4096]", "f32[4096]"],
        ["bf16[512,512]", "bf16[512,1]", "bf16[512,1]"],
        ["f32[1,512]", "f32[512,512]", "f32[1,512]"],
    ] {
        let gpu = fused(shapes, MATRIX, "discrete");
        let (emitters, dots) = kernels(&gpu);
        assert_eq!(dots, 0, "{}", gpu.module);
        assert!(emitters.iter().any(|emitter| matches!(emitter, Emitter::Reduced(_))), "{emitters:?}");
        let decision = gpu.decisions.iter().find(|decision| decision.instruction == "d").unwrap();
        assert_eq!((decision.verdict, decision.reason.contains("reduction")), (Verdict::Rewritten, true));
        assert_eq!(kernels(&fused(shapes, MATRIX, "software")).1, 1);
    }
    // Of so few products a launch is a loop either way.
    assert_eq!(kernels(&fused(["f32[64,16]", "f32[16]", "f32[64]"], MATRIX, "discrete")).1, 1);
}

#[test]
fn dots_with_few_results_are_cut_into_stretches_on_gpus() {
    let shapes = ["f32[8,4096]", "f32[4096,4096]", "f32[8,4096]"];
    let gpu = fused(shapes, MATRIX, "discrete");
    let (emitters, dots) = kernels(&gpu);
    assert_eq!((emitters.len(), dots), (2, 1), "{}", gpu.module);
    let is_of_parts =
        |emitter: &Emitter| matches!(emitter, Emitter::Product(product) if product.batch == 8 && product.depth == 512);
    assert!(emitters.iter().any(is_of_parts), "{emitters:?}");
    assert_eq!(kernels(&fused(shapes, MATRIX, "software")).0.len(), 1);
    // What no number of stretches divides is filled up with zeros.
    let (emitters, dots) = kernels(&fused(["f32[64,4097]", "f32[4097,64]", "f32[64,64]"], MATRIX, "discrete"));
    assert_eq!((emitters.len(), dots), (2, 1));
    // Enough results, and too few products.
    for shapes in [["f32[4096,4096]", "f32[4096,4096]", "f32[4096,4096]"], ["f32[64,512]", "f32[512,64]", "f32[64,64]"]]
    {
        assert_eq!(kernels(&fused(shapes, MATRIX, "discrete")).0.len(), 1, "{shapes:?}");
    }
}

/// What is deeper than a stretch would be added twice.
#[test]
fn stretches_of_workgroups_are_whole_tiles() {
    for depth in [4096, 4097, 4200, 5000, 9999] {
        let shapes = [format!("f32[4096,{depth}]"), format!("f32[{depth},4096]")];
        let gpu = fused([&shapes[0], &shapes[1], "f32[4096,4096]"], MATRIX, "discrete");
        let (emitters, _) = kernels(&gpu);
        let [Emitter::Product(product)] = emitters[..] else { panic!("{emitters:?}") };
        assert!(product.ahead && (product.stretch == depth || product.stretch % product.step == 0), "{product}");
    }
}
