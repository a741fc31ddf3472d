//! Attention in one kernel: where it is, and where it is not, and why.

use weft_hlo::ir::Module;
use weft_hlo::passes::Pipeline;
use weft_hlo::text::parse;
use weft_partition::{Candidate, Emitter, Fused, FusionPlan, Move, Target, fuse_explained};

fn read(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    Pipeline::default().run(&module).unwrap().module
}

/// Heads of so many queries, keys, elements of these and of values; `more` is computed of the scores `s`, the exponentials `e` and the result `r`.
fn heads([heads, queries, keys, depth, columns]: [usize; 5], more: &str) -> String {
    let (row, scores) = (format!("f32[{heads},{queries}]"), format!("f32[{heads},{queries},{keys}]"));
    format!(
        "HloModule m
        max {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }}
        add {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }}
        ENTRY e {{
          q = f32[{heads},{queries},{depth}] parameter(0)
          k = f32[{heads},{keys},{depth}] parameter(1)
          v = f32[{heads},{keys},{columns}] parameter(2)
          d = {scores} dot(q, k), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}
          eighth = f32[] constant(0.125)
          scale = {scores} broadcast(eighth), dimensions={{}}
          s = {scores} multiply(d, scale)
          least = f32[] constant(-inf)
          zero = f32[] constant(0)
          m = {row} reduce(s, least), dimensions={{2}}, to_apply=max
          all_m = {scores} broadcast(m), dimensions={{0,1}}
          x = {scores} subtract(s, all_m)
          e = {scores} exponential(x)
          t = {row} reduce(e, zero), dimensions={{2}}, to_apply=add
          all_t = {scores} broadcast(t), dimensions={{0,1}}
          p = {scores} divide(e, all_t)
          r = f32[{heads},{queries},{columns}] dot(p, v), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}
          {more}
        }}"
    )
}

fn kernels(fused: &Fused) -> Vec<Emitter> {
    let plans = fused.module.computations.ids().filter_map(|id| fused.plan(id));
    plans.map(FusionPlan::emitter).filter(|emitter| *emitter != Emitter::Applied).collect()
}

fn considered(fused: &Fused) -> Vec<&Candidate> {
    fused.candidates.iter().filter(|one| one.kind == Move::Attention).collect()
}

fn targets() -> impl Iterator<Item = Target> {
    ["software", "discrete", "integrated", "floor"].into_iter().map(|name| Target::preset(name).unwrap())
}

/// The kernels of a program are attention alone, and its plan as text is read again.
fn is_one_kernel(text: &str, target: &Target) {
    let fused = fuse_explained(&read(text), target).unwrap();
    let found = kernels(&fused);
    assert!(matches!(found[..], [Emitter::Attention(_)]), "{:?}: {found:?}\n{:?}", target.kind, considered(&fused));
    assert!(matches!(considered(&fused)[..], [one] if one.is_taken), "{:?}", considered(&fused));
    for (id, computation) in fused.module.computations.iter() {
        let Some(plan) = fused.plan(id).filter(|plan| plan.attended().is_some()) else { continue };
        let text = plan.text(computation);
        assert_eq!(FusionPlan::parse(&text, &fused.module, computation, target).as_ref(), Ok(plan), "{text}");
    }
}

/// As JAX prints it, with masks and grouped heads; divided before the second product or behind it.
#[test]
fn attention_is_one_kernel() {
    let late = heads([4, 256, 256, 64, 32], "ROOT r2 = f32[4,256,32] negate(r)").replace("dot(p, v)", "dot(e, v)");
    let late = late.replace(
        "ROOT r2 = f32[4,256,32] negate(r)",
        "of_rows = f32[4,256,32] broadcast(t), dimensions={0,1}\n ROOT r2 = f32[4,256,32] divide(r, of_rows)",
    );
    let programs = [
        heads([8, 1024, 1024, 64, 64], "ROOT o = f32[8,1024,64] negate(r)"),
        heads([2, 127, 61, 5, 7], "ROOT o = f32[2,127,7] negate(r)"),
        late,
        include_str!("attention/causal.hlo").to_owned(),
        include_str!("attention/grouped.hlo").to_owned(),
    ];
    for text in programs {
        targets().for_each(|target| is_one_kernel(&text, &target));
    }
}

/// What a kernel of attention never writes is needed, or is too much for it: three kernels, and the reason.
#[test]
fn what_is_no_attention_says_why() {
    let needed = "needed elsewhere";
    let programs = [
        (heads([8, 512, 512, 64, 64], "ROOT o = (f32[8,512,64], f32[8,512,512]) tuple(r, p)"), needed),
        (heads([8, 512, 512, 64, 2048], "ROOT o = f32[8,512,2048] negate(r)"), "too many for the registers"),
        (
            heads([8, 512, 512, 64, 64], "ROOT o = f32[8,512,64] negate(r)").replace("constant(-inf)", "constant(0.5)"),
            "begins with something",
        ),
        (
            heads([8, 512, 512, 64, 64], "ROOT o = f32[8,512,64] negate(r)").replace("maximum(a, b)", "minimum(a, b)"),
            "no maximum and no sum",
        ),
        (include_str!("attention/causal_gradient.hlo").to_owned(), ""),
    ];
    for (text, reason) in &programs {
        for target in targets() {
            let fused = fuse_explained(&read(text), &target).unwrap();
            let found = kernels(&fused);
            assert!(!found.iter().any(|emitter| matches!(emitter, Emitter::Attention(_))), "{found:?}");
            let reasons: Vec<&str> = considered(&fused).iter().map(|one| one.reason.as_str()).collect();
            assert!(reasons.iter().any(|own| own.contains(reason)), "{:?}: {reasons:?}\n{text}", target.kind);
        }
    }
}

/// Few heads and queries leave most of a large device idle: three kernels have more to do side by side.
#[test]
fn the_model_decides() {
    let target = Target::preset("discrete").unwrap();
    let decided = |extents: [usize; 5]| {
        let [count, queries, .., columns] = extents;
        let text = heads(extents, &format!("ROOT o = f32[{count},{queries},{columns}] negate(r)"));
        let fused = fuse_explained(&read(&text), &target).unwrap();
        considered(&fused).iter().map(|one| (one.is_taken, one.reason.clone())).collect::<Vec<_>>()
    };
    assert!(matches!(&decided([16, 2048, 2048, 64, 64])[..], [(true, _)]));
    let few = decided([2, 32, 512, 128, 128]);
    assert!(matches!(&few[..], [(false, reason)] if reason.contains("saves no time")), "{few:?}");
}
