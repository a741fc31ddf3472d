//! Kernels around reductions: all of them are proved, for every type, on targets of all kinds and with both schedules.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use weft_codegen_wgsl::{compile, kernel};
use weft_hlo::text::parse;
use weft_partition::{Emitter, Fused, Schedule, Site, Target, fuse};

/// `x / sum(x * x)` along a dimension, with the greatest of each row beside it.
fn normalized(ty: &str, extents: &str, dimension: usize, kept: &str, left: usize) -> String {
    format!(
        "HloModule m\nsum {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  ROOT s = {ty}[] add(a, b)\n}}\n\
         max {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  ROOT s = {ty}[] maximum(a, b)\n}}\n\
         f {{\n  x = {ty}[{extents}] parameter(0)\n  z = {ty}[] parameter(1)\n  q = {ty}[{extents}] multiply(x, x)\n  \
         s = {ty}[{kept}] reduce(q, z), dimensions={{{dimension}}}, to_apply=sum\n  \
         m = {ty}[{kept}] reduce(x, z), dimensions={{{dimension}}}, to_apply=max\n  \
         b = {ty}[{extents}] broadcast(s), dimensions={{{left}}}\n  d = {ty}[{extents}] divide(x, b)\n  \
         ROOT o = ({ty}[{extents}], {ty}[{kept}]) tuple(d, m)\n}}\n\
         ENTRY e {{\n  x = {ty}[{extents}] parameter(0)\n  z = {ty}[] parameter(1)\n  \
         ROOT c = ({ty}[{extents}], {ty}[{kept}]) fusion(x, z), kind=kLoop, calls=f\n}}\n"
    )
}

/// The one kernel of a program that is shaped around reductions, and whether an invocation keeps its elements.
fn shaped(fused: &Fused) -> Option<(Site, bool)> {
    let site = fused.fusions().next()?;
    let calls = *fused.instruction(site)?.op.called_computations().first()?;
    match fused.plan(calls)?.emitter() {
        Emitter::Reduced(reduced) => Some((site, reduced.is_kept)),
        _ => None,
    }
}

#[test]
fn every_kernel_is_proved() {
    let shapes = [
        ("64,200", 1, "64", 0),
        ("40,129", 1, "40", 0),
        ("100,36", 0, "36", 1),
        ("65,3", 0, "3", 1),
        ("40,6", 1, "40", 0),
    ];
    let (mut kept, mut count) = (0, 0);
    for ty in ["f32", "bf16", "s8", "u4", "s32", "u64", "pred", "f8e4m3fn"] {
        for (extents, dimension, left, broadcast) in shapes {
            let text = normalized(ty, extents, dimension, left, broadcast);
            let text =
                if ty == "pred" { text.replace("divide(x, b)", "xor(x, b)").replace("multiply", "and") } else { text };
            let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
            for (preset, schedule) in ["floor", "discrete", "software"]
                .into_iter()
                .flat_map(|preset| Schedule::ALL.map(|schedule| (preset, schedule)))
            {
                let target = Target::preset(preset).unwrap().with(|target| target.schedule = Some(schedule));
                let fused = fuse(&module, &target).unwrap_or_else(|found| panic!("{found}\n{text}"));
                let Some((site, is_kept)) = shaped(&fused) else {
                    assert_eq!(schedule, Schedule::Software, "{ty}[{extents}] along {dimension} on {preset}");
                    continue;
                };
                let shader = compile(&fused, site, &target)
                    .unwrap_or_else(|found| panic!("{preset}, {schedule}: {found}\n{text}"));
                assert!(shader.proofs().are_complete(), "{:?}\n{text}\n{}", shader.proofs(), shader.kernel);
                kept += usize::from(is_kept);
                count += 1;
            }
        }
    }
    assert!(count > 120 && kept > 80, "{kept} of {count}");
}

/// Where an invocation keeps its elements, each is read once, and what is computed of it computed once.
#[test]
fn what_is_kept_is_computed_once() {
    let module = parse(&normalized("f32", "64,1024", 1, "64", 0)).unwrap();
    let target = Target::preset("discrete").unwrap();
    let fused = fuse(&module, &target).unwrap();
    let (site, is_kept) = shaped(&fused).unwrap();
    let text = kernel(&fused, site, &target).unwrap().to_string();
    let calls = |name: &str| text.matches(&format!("call @{name}(")).count();
    // 64 invocations of 2 lanes in 8 rounds.
    assert!(is_kept && text.contains("threads 512 lanes 2"), "{text}");
    assert_eq!([calls("x_2"), calls("q"), calls("d"), text.matches("extract %x[").count()], [8, 8, 8, 1], "{text}");
}
