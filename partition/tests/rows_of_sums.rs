//! Rows of dots that are folded in the dots' own kernels: where they are, and where they are not, and why.

use weft_hlo::ir::Module;
use weft_hlo::text::parse;
use weft_partition::{
    Candidate, Emitter, Fused, FusionPlan, Move, Product, Subgroups, Target, TileOwner, fuse_explained,
};

/// Rows by columns of sums of so many products, and what is computed of the sums `d`: `row` of rows and `all` of all.
fn program([rows, depth, columns]: [usize; 3], more: &str) -> Module {
    let (row, all) = (format!("f32[{rows}]"), format!("f32[{rows},{columns}]"));
    let more = more.replace("row", &row).replace("all", &all);
    let text = format!(
        "HloModule m
        max {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }}
        add {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }}
        ENTRY e {{
          x = f32[{rows},{depth}] parameter(0)
          w = f32[{depth},{columns}] parameter(1)
          d = {all} dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
          least = f32[] constant(-inf)
          zero = f32[] constant(0)
          {more}
        }}"
    );
    parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

const SOFTMAX: &str = "m = row reduce(d, least), dimensions={1}, to_apply=max
    ms = all broadcast(m), dimensions={0}
    s = all subtract(d, ms)
    e = all exponential(s)
    l = row reduce(e, zero), dimensions={1}, to_apply=add
    ls = all broadcast(l), dimensions={0}
    ROOT p = all divide(e, ls)";

const MEAN: &str = "v = row reduce(d, zero), dimensions={1}, to_apply=add
    vs = all broadcast(v), dimensions={0}
    c = all subtract(d, vs)
    q = all multiply(c, c)
    r = row reduce(q, zero), dimensions={1}, to_apply=add
    ROOT p = (all, row) tuple(c, r)";

const MAXIMUM: &str = "ROOT m = row reduce(d, least), dimensions={1}, to_apply=max";

fn plans(fused: &Fused) -> Vec<&FusionPlan> {
    let plans = fused.module.computations.ids().filter_map(|id| fused.plan(id));
    plans.filter(|plan| plan.emitter() != Emitter::Applied).collect()
}

fn considered(fused: &Fused) -> Vec<&Candidate> {
    fused.candidates.iter().filter(|one| one.kind == Move::Rows).collect()
}

/// The targets with schedules of their own, software with subgroups of one size, too.
fn targets() -> Vec<Target> {
    let of_size = |size: u32| {
        let sizes = Some(Subgroups { min: size, max: size });
        Target::preset("software").unwrap().with(|target| target.features.subgroup = sizes)
    };
    let presets = ["software", "discrete", "integrated", "floor"].into_iter().map(|name| Target::preset(name).unwrap());
    presets.chain([4, 8].map(of_size)).collect()
}

/// The tiles of the one kernel of a program, whose plan as text is read again.
fn tiles(module: &Module, target: &Target) -> Product {
    let fused = fuse_explained(module, target).unwrap();
    let found = plans(&fused);
    let [plan] = found[..] else { panic!("{:?}: {:?}\n{}", target.kind, considered(&fused), fused.module) };
    assert!(plan.rows_of_sums().is_some(), "{}", plan.why());
    let (_, computation) = fused
        .module
        .computations
        .iter()
        .find(|(id, _)| fused.plan(*id).is_some_and(|own| std::ptr::eq(own, plan)))
        .unwrap();
    let text = plan.text(computation);
    assert_eq!(FusionPlan::parse(&text, &fused.module, computation, target).as_ref(), Ok(plan), "{text}");
    let Emitter::Product(product) = plan.emitter() else { panic!("{text}") };
    product
}

/// A softmax of 64 columns, a mean with what is computed of it twice, a maximum: one kernel, of tiles with all columns.
#[test]
fn rows_that_fit_are_folded_with_the_dot() {
    for (target, more) in targets().iter().flat_map(|target| [SOFTMAX, MEAN, MAXIMUM].map(|more| (target, more))) {
        let product = tiles(&program([4096, 256, 64], more), target);
        let along = if product.tiles == TileOwner::Workgroup { product.group[1] } else { product.members };
        assert!(product.tile[1] * along >= 64, "{product}");
    }
    let of_members: Vec<i64> =
        targets().iter().map(|target| tiles(&program([512, 64, 60], SOFTMAX), target).members).collect();
    assert_eq!(of_members, [1, 1, 1, 1, 4, 8]);
}

/// Rows that are too long, those that are no columns, and what is folded in an order of its own: kernels apart, and the reason.
#[test]
fn what_does_not_fit_says_why() {
    let rows = MAXIMUM.replace("dimensions={1}", "dimensions={0}").replace("row", "f32[64]");
    for (extents, more, reason) in [
        ([512, 64, 2048], SOFTMAX, "columns"),
        ([2048, 64, 64], rows.as_str(), "are folded, and there are"),
        ([64, 64, 64], rows.as_str(), "not the columns"),
    ] {
        for target in targets() {
            let fused = fuse_explained(&program(extents, more), &target).unwrap();
            assert!(plans(&fused).iter().all(|plan| plan.rows_of_sums().is_none()), "{:?}", target.kind);
            assert!(plans(&fused).len() > 1, "{:?}", target.kind);
            let reasons: Vec<&str> = considered(&fused).iter().map(|one| one.reason.as_str()).collect();
            assert!(reasons.iter().any(|own| own.contains(reason)), "{:?}: {reasons:?}", target.kind);
        }
    }
}
