//! Operations that are expanded before anything is fused: collectives of one device and batch normalization. Nothing is left to the host.

use crate::support::{self, compile};
use std::sync::LazyLock;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal};
use weft_hlo::random::{self, Numbers, Options};
use weft_runtime::{Device, Executable};

/// One device for all tests: some drivers take long to open one.
static DEVICE: LazyLock<Device> = LazyLock::new(support::device);

/// Runs a program, and fails unless results are as near as a part of the greatest number among them.
fn check(text: &str, near: f32) {
    let module = support::module(text);
    let inputs = random::inputs(&module, 3, &Options { numbers: Numbers::Small, ..Options::default() });
    let expected = evaluate(&module, &inputs).expect("the evaluator knows it");
    let program = compile(&module, DEVICE.target()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(program.launches().count() > 0, "{program}");
    let found = Executable::new(&DEVICE, program).expect("it loads").run(&inputs).expect("it runs");
    let numbers = |results: &[Literal]| -> Vec<f32> {
        let of = |literal: &Literal| match &literal.data {
            Data::F32(numbers) => numbers.clone(),
            data => panic!("{data:?} are no floats of 32 bits"),
        };
        results.iter().flat_map(of).collect()
    };
    let [expected, found] = [numbers(&expected), numbers(&found)];
    let scale = expected.iter().fold(1.0, |most: f32, number| most.max(number.abs()));
    let is_near = expected.iter().zip(&found).all(|(a, b)| (a - b).abs() <= near * scale);
    assert!(is_near && expected.len() == found.len(), "{expected:?} became {found:?} on {}", DEVICE.info());
}

/// As JAX prints `shard_map` over one device.
#[test]
fn collectives_of_one_device_are_no_steps() {
    check(
        "HloModule test\nadd {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] add(a, b)\n}\nENTRY main {\n\
         x = f32[4,6] parameter(0)\n\
         s = f32[4,6] all-reduce(x), channel_id=1, replica_groups={{0}}, use_global_device_ids=true, to_apply=add\n\
         g = f32[4,6] all-gather(x), channel_id=1, replica_groups={{0}}, dimensions={0}, use_global_device_ids=true\n\
         a = f32[4,6] all-to-all(s), replica_groups={{0}}, dimensions={1}\n\
         p = f32[4,6] collective-permute(g), channel_id=1, source_target_pairs={{0,0}}\n\
         n = f32[4,6] collective-permute(x), channel_id=1, source_target_pairs={}\n\
         r = f32[4,6] reduce-scatter(p), channel_id=1, replica_groups={{0}}, use_global_device_ids=true, dimensions={0}, to_apply=add\n\
         i = u32[] partition-id()\nj = u32[] replica-id()\nk = u32[] add(i, j)\nf = f32[] convert(k)\n\
         w = f32[4,6] broadcast(f), dimensions={}\nt = f32[4,6] add(a, r)\nu = f32[4,6] subtract(t, n)\n\
         ROOT v = f32[4,6] add(u, w)\n}\n",
        0.0,
    );
}

/// As XLA prints collectives and copies that it overlaps with other work, and what ragged parts are sent in.
#[test]
fn pairs_and_ragged_exchanges_of_one_device_are_no_steps() {
    check(
        "HloModule test\nadd {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] add(a, b)\n}\nENTRY main {\n\
         x = f32[4,6] parameter(0)\no = f32[9,6] parameter(1)\n\
         rs = f32[4,6] all-reduce-start(x), replica_groups={{0}}, to_apply=add\nr = f32[4,6] all-reduce-done(rs)\n\
         gs = (f32[4,6], f32[4,6]) all-gather-start(r), replica_groups={{0}}, dimensions={0}\ng = f32[4,6] all-gather-done(gs)\n\
         ps = (f32[4,6], f32[4,6], u32[], u32[]) collective-permute-start(g), source_target_pairs={{0,0}}\n\
         p = f32[4,6] collective-permute-done(ps)\n\
         cs = (f32[4,6]{0,1}, f32[4,6], u32[]) copy-start(p)\nc = f32[4,6]{0,1} copy-done(cs), control-predecessors={r}\n\
         f = s32[2] constant({0, 2})\nz = s32[2] constant({2, 5})\nt = s32[2] constant({5, 1})\n\
         w = f32[9,6] ragged-all-to-all(c, o, f, z, t, z), replica_groups={{0}}\n\
         ROOT v = f32[9,6] negate(w)\n}\n",
        0.0,
    );
}

/// A sum of all elements so far, and a recurrence that cannot be regrouped, which yields other slices than it carries.
#[test]
fn scans_are_no_steps() {
    check(
        "HloModule test\nsum {\na = f32[5] parameter(0)\nb = f32[5] parameter(1)\nc = f32[5] add(a, b)\n\
         ROOT t = (f32[5], f32[5]) tuple(c, c)\n}\nENTRY main {\n\
         x = f32[300,5] parameter(0)\nz = f32[5] parameter(1)\n\
         ROOT s = (f32[300,5], f32[5]) scan(x, z), dimensions={0}, num_carries=1, is_associative=true, to_apply=sum\n}\n",
        1e-5,
    );
    check(
        "HloModule test\nstep {\na = f32[5] parameter(0)\nb = f32[5] parameter(1)\nn = f32[] parameter(2)\n\
         h = f32[] constant(0.5)\nw = f32[5] broadcast(h), dimensions={}\nc = f32[5] multiply(b, w)\nd = f32[5] add(c, a)\n\
         m = f32[] multiply(n, h)\ny = f32[5,2] broadcast(d), dimensions={0}\n\
         ROOT t = (f32[5,2], f32[5], f32[]) tuple(y, d, m)\n}\nENTRY main {\n\
         x = f32[5,9] parameter(0)\nz = f32[5] parameter(1)\nn = f32[] parameter(2)\n\
         ROOT s = (f32[5,9,2], f32[5], f32[]) scan(x, z, n), dimensions={1}, num_carries=2, is_reverse=true, to_apply=step\n}\n",
        0.0,
    );
}

/// Operations and computations that begin and end, as XLA prints those that it overlaps with others.
#[test]
fn what_begins_and_ends_is_no_step() {
    check(
        "HloModule test\nbefore {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = pred[] compare(a, b), direction=GT\n}\n\
         work {\nx = f32[70] parameter(0)\ny = f32[70] parameter(1)\nc = f32[70] add(x, y)\n\
         s = f32[70] sort(c), dimensions={0}, to_apply=before\nROOT t = (f32[70], f32[70]) tuple(s, y)\n}\nENTRY main {\n\
         x = f32[70] parameter(0)\ny = f32[70] parameter(1)\n\
         a = ((f32[70], f32[70]), (f32[70], f32[70]), s32[]) async-start(x, y), calls=work\n\
         b = ((f32[70]), f32[70], s32[]) sort-start(x), dimensions={0}, to_apply=before\nn = f32[70] negate(x)\n\
         u = ((f32[70]), f32[70], s32[]) sort-update(b)\nd = f32[70] sort-done(u), control-predecessors={n}\n\
         t = (f32[70], f32[70]) async-done(a)\ne = f32[70] get-tuple-element(t), index=0\nf = f32[70] get-tuple-element(t), index=1\n\
         g = f32[70] subtract(e, f)\nh = f32[70] add(d, n)\nROOT r = f32[70] add(g, h)\n}\n",
        0.0,
    );
}

/// Fusions that hold a sort, `topk` or a scan, in another one, too; extents that are known; and tokens that order nothing.
#[test]
fn fusions_of_several_kernels_are_no_steps() {
    check(
        "HloModule test\nbefore {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = pred[] compare(a, b), direction=GT\n}\n\
         step {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nc = f32[] subtract(a, b)\nROOT t = (f32[], f32[]) tuple(c, c)\n}\n\
         inner {\nx = f32[70] parameter(0)\ns = f32[70] sort(x), dimensions={0}, to_apply=before\nROOT n = f32[70] negate(s)\n}\n\
         outer {\nx = f32[70] parameter(0)\na = token[] after-all()\nd = f32[70] add-dependency(x, a)\n\
         f = f32[70] fusion(d), kind=kLoop, calls=inner\nz = f32[] constant(0)\n\
         ROOT r = (f32[70], f32[]) scan(f, z), dimensions={0}, num_carries=1, to_apply=step\n}\n\
         plain {\nx = f32[70] parameter(0)\na = token[] after-all()\nd = f32[70] add-dependency(x, a)\n\
         g = s32[] get-dimension-size(x), dimensions={0}\nh = f32[] convert(g)\nw = f32[70] broadcast(h), dimensions={}\n\
         m = f32[70] multiply(d, w)\nROOT y = f32[70] add-dependency(m, a)\n}\nENTRY main {\nx = f32[70] parameter(0)\n\
         p = f32[70] fusion(x), kind=kLoop, calls=plain\nROOT f = (f32[70], f32[]) fusion(p), kind=kLoop, calls=outer\n}\n",
        0.0,
    );
}

/// As XLA prints a fusion of scalars that computes what a reduction applies: one computation is called, and applied.
#[test]
fn a_computation_is_called_and_applied() {
    check(
        "HloModule test\nadd {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] add(a, b)\n}\nENTRY main {\n\
         x = f32[4,6] parameter(0)\ny = f32[] parameter(1)\nz = f32[] constant(2)\n\
         f = f32[] fusion(y, z), kind=kLoop, calls=add\n\
         ROOT r = f32[4] reduce(x, f), dimensions={1}, to_apply=add\n}\n",
        0.0,
    );
}

#[test]
fn batch_normalization_is_kernels() {
    let operations = [
        ("b = f32[5] parameter(2)\n", "(f32[6,5,4], f32[5], f32[5]) batch-norm-training(x, a, b)"),
        (
            "b = f32[5] parameter(2)\nm = f32[5] parameter(3)\nw = f32[5] parameter(4)\nv = f32[5] abs(w)\n",
            "f32[6,5,4] batch-norm-inference(x, a, b, m, v)",
        ),
        (
            "m = f32[5] parameter(2)\nw = f32[5] parameter(3)\nv = f32[5] abs(w)\ng = f32[6,5,4] parameter(4)\n",
            "(f32[6,5,4], f32[5], f32[5]) batch-norm-grad(x, a, m, v, g)",
        ),
    ];
    for (given, operation) in operations {
        check(
            &format!(
                "HloModule test\nENTRY main {{\nx = f32[6,5,4] parameter(0)\na = f32[5] parameter(1)\n{given}\
                 ROOT n = {operation}, epsilon=0.01, feature_index=1\n}}\n"
            ),
            1e-4,
        );
    }
}
