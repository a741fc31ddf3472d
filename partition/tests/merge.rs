//! Kernels that become one, and those that stay apart.

use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Module, Op};
use weft_hlo::text::parse;
use weft_partition::{Emitter, Fused, Target, Verdict, fuse};

fn read(body: &str) -> Module {
    let text = format!(
        "HloModule m\nsum {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}}\n\
         max {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT m = f32[] maximum(a, b)\n}}\nENTRY e {{\n{body}\n}}"
    );
    parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

fn desktop() -> Target {
    Target::preset("discrete").unwrap()
}

/// The fused module, which computes the same.
fn fused(body: &str, target: &Target) -> Fused {
    let module = read(body);
    let fused = fuse(&module, target).unwrap_or_else(|found| panic!("{found}"));
    let entry = module.entry_computation();
    let inputs: Vec<Literal> = (entry.parameters().iter())
        .map(|id| {
            let extents = entry.instructions[*id].shape.as_array().unwrap().extents.clone();
            let count = extents.iter().product::<i64>();
            Literal::array(extents, (0..count).map(|at| (at * 37 % 101) as f32 / 64.0).collect::<Vec<f32>>())
        })
        .collect();
    let (expected, found) = (evaluate(&module, &inputs).unwrap(), evaluate(&fused.module, &inputs).unwrap());
    assert_eq!(expected, found, "{}", weft_hlo::text::print(&fused.module));
    fused
}

fn kernels(fused: &Fused) -> usize {
    fused.fusions().count()
}

const SOFTMAX: &str = "
    x = f32[32,256] parameter(0)
    low = f32[] constant(-inf)
    zero = f32[] constant(0)
    m = f32[32] reduce(x, low), dimensions={1}, to_apply=max
    b = f32[32,256] broadcast(m), dimensions={0}
    d = f32[32,256] subtract(x, b)
    e = f32[32,256] exponential(d)
    s = f32[32] reduce(e, zero), dimensions={1}, to_apply=sum
    t = f32[32,256] broadcast(s), dimensions={0}
    ROOT q = f32[32,256] divide(e, t)";

#[test]
fn softmax_is_one_kernel_and_so_are_its_sides() {
    for target in [desktop(), Target::preset("software").unwrap()] {
        let one = fused(SOFTMAX, &target);
        assert_eq!(kernels(&one), 1, "{:#?}", one.decisions);
        let sum = one.decisions.iter().find(|decision| decision.instruction == "s").unwrap();
        assert!(sum.verdict == Verdict::Fused && sum.reason.contains("in one kernel with q: that saves"), "{sum:?}");
        // What the rows come to is a result, too.
        let both = fused(
            &SOFTMAX.replace("ROOT q", "q").replacen(
                "divide(e, t)",
                "divide(e, t)\n    ROOT r = (f32[32,256], f32[32]) tuple(q, s)",
                1,
            ),
            &target,
        );
        assert_eq!(kernels(&both), 1, "{:#?}", both.decisions);
    }
    let site = fused(SOFTMAX, &desktop());
    let plans: Vec<Emitter> = (site.fusions())
        .filter_map(|at| match site.instruction(at)?.op {
            Op::Fusion { calls, .. } => Some(site.plan(calls)?.emitter()),
            _ => None,
        })
        .collect();
    assert!(matches!(plans[..], [Emitter::Reduced(_)]), "{plans:?}");
}

#[test]
fn kernels_that_read_the_same_are_one() {
    let body = "x = f32[64,64] parameter(0)\ns = f32[64,64] sine(x)\nc = f32[64,64] cosine(x)\nn = f32[64,64] negate(s)\n\
        ROOT r = (f32[64,64], f32[64,64], f32[64,64]) tuple(s, c, n)";
    assert_eq!(kernels(&fused(body, &desktop())), 1);
    // More elements than the other has.
    let other = "x = f32[64,64] parameter(0)\ns = f32[64,64] sine(x)\ny = f32[32,64] slice(x), slice={[0:32], [0:64]}\n\
        c = f32[32,64] cosine(y)\nROOT r = (f32[64,64], f32[32,64]) tuple(s, c)";
    assert_eq!(kernels(&fused(other, &desktop())), 2);
}

/// The sum of all is needed between the two, which read the same.
#[test]
fn what_is_needed_in_between_keeps_kernels_apart() {
    let body = "x = f32[64,64] parameter(0)\nzero = f32[] constant(0)\np = f32[64,64] exponential(x)\n\
        w = f32[64,64] dot(p, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n\
        q = f32[64,64] subtract(x, w)\nROOT r = (f32[64,64], f32[64,64]) tuple(p, q)";
    let apart = fused(body, &desktop());
    assert_eq!(kernels(&apart), 3, "{:#?}", apart.decisions);
}

/// A value read in another order would be computed twice.
#[test]
fn nothing_is_computed_more_often() {
    let body = "x = f32[64,64] parameter(0)\nt = f32[64,64] tanh(x)\nv = f32[64,64] reverse(t), dimensions={0}\n\
        q = f32[64,64] add(v, x)\nROOT r = (f32[64,64], f32[64,64]) tuple(t, q)";
    assert_eq!(kernels(&fused(body, &desktop())), 2);
}

/// Layers of reductions with what is computed of them, of which some results are kept: as many kernels as layers at most, in time that grows with them.
#[test]
fn fusing_takes_time_by_the_number_of_kernels() {
    let seconds = |layers: usize| {
        let mut body = String::from("x0 = f32[64,64] parameter(0)\nzero = f32[] constant(0)\n");
        for layer in 0..layers {
            write!(
                body,
                "m{layer} = f32[64] reduce(x{layer}, zero), dimensions={{1}}, to_apply=sum\n\
                 b{layer} = f32[64,64] broadcast(m{layer}), dimensions={{1}}\n\
                 x{} = f32[64,64] subtract(x{layer}, b{layer})\n",
                layer + 1
            )
            .unwrap();
        }
        let module = read(&format!("{body}ROOT r = f32[64,64] negate(x{layers})"));
        let began = std::time::Instant::now();
        let fused = fuse(&module, &desktop()).unwrap();
        assert!(kernels(&fused) >= layers);
        began.elapsed().as_secs_f64()
    };
    let (few, many) = (seconds(100), seconds(1000));
    assert!(many < 40.0 * few.max(0.01), "{few} s for 100 layers, {many} s for 1,000");
}
