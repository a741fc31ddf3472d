//! Kernels that become one, and those that stay apart.

use std::fmt::Write;
use weft_hlo::eval::{converted, evaluate};
use weft_hlo::ir::{Data, Literal, Module, Op, Shape};
use weft_hlo::random::Rng;
use weft_hlo::text::parse;
use weft_partition::{Emitter, Fused, Move, Target, Verdict, fuse};

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
            let shape = entry.instructions[*id].shape.as_array().unwrap().clone();
            let numbers = (0..shape.element_count().unwrap()).map(|at| (at * 37 % 101) as f32 / 64.0);
            let data = converted(&Data::from(numbers.collect::<Vec<f32>>()), shape.element_type).unwrap();
            Literal { shape: Shape::Array(shape), data }
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
    // More elements than the other has; small kernels are launched together all the same.
    let other = |rows: usize| {
        format!(
            "x = f32[{rows},64] parameter(0)\ns = f32[{rows},64] sine(x)\ny = f32[32,64] slice(x), slice={{[0:32], [0:64]}}\n\
             c = f32[32,64] cosine(y)\nROOT r = (f32[{rows},64], f32[32,64]) tuple(s, c)"
        )
    };
    assert_eq!(kernels(&fused(&other(64), &desktop())), 1);
    let large = fuse(&read(&other(1 << 16)), &desktop()).unwrap();
    assert_eq!(kernels(&large), 2);
}

/// Neither needs the other, and one needs what the host decides: those that are as far from the results are launched together, as many as bindings allow.
#[test]
fn small_kernels_are_launched_together() {
    let mut body = String::new();
    // Four of each type; arguments and results of one are an arena each.
    let ty = |number: usize| ["f32", "bf16", "f16"][number / 4];
    for number in 0..12 {
        write!(
            body,
            "x{number} = {ty}[{extent},3] parameter({number})\nw{number} = {ty}[{extent},3] sine(x{number})\n\
             t{number} = {ty}[3,{extent}] transpose(w{number}), dimensions={{1,0}}\n\
             e{number} = {ty}[3,{extent}] exponential(t{number})\n",
            extent = 5 + number,
            ty = ty(number)
        )
        .unwrap();
    }
    let list = |of: &dyn Fn(usize) -> String| (0..12).map(of).collect::<Vec<_>>().join(", ");
    let (shapes, results) =
        (list(&|number| format!("{}[3,{}]", ty(number), 5 + number)), list(&|number| format!("e{number}")));
    write!(body, "ROOT r = ({shapes}) tuple({results})").unwrap();
    for (buffers, expected) in [(16, 1), (6, 1), (4, 2), (2, 3)] {
        let target = desktop().with(|target| target.max_storage_buffers = buffers);
        let one = fused(&body, &target);
        assert_eq!(kernels(&one), expected, "{buffers}");
        let taken = one.candidates.iter().filter(|one| one.kind == Move::Horizontal && one.is_taken).count();
        assert_eq!(taken, 12 - expected);
        let mut refused = one.candidates.iter().filter(|one| one.kind == Move::Horizontal && !one.is_taken);
        assert!(refused.all(|one| one.to_string().contains("buffers and the target allows")));
        for site in one.fusions() {
            assert!(one.bindings(site) <= buffers as usize, "{}", one.bindings(site));
        }
    }
}

/// What two kernels need is read twice where it is little, and is a kernel where its bytes are worth one.
#[test]
fn what_several_kernels_need_is_computed_in_each_where_that_takes_less_time() {
    let body = |extents: [usize; 2], inputs: usize| {
        let [rows, columns] = extents;
        let (shape, other) = (format!("f32[{rows},{columns}]"), format!("f32[{columns},{rows}]"));
        let mut text = String::new();
        (0..inputs).for_each(|input| writeln!(text, "x{input} = {shape} parameter({input})").unwrap());
        text += &format!("v0 = {shape} negate(x0)\n");
        (1..inputs).for_each(|input| writeln!(text, "v{input} = {shape} add(v{}, x{input})", input - 1).unwrap());
        let last = inputs - 1;
        let reduced =
            format!("{other} transpose(v{last}), dimensions={{1,0}}\nt = {other} tanh(q)\nn = {shape} negate(v{last})");
        text + &format!("q = {reduced}\nROOT o = ({other}, {shape}) tuple(t, n)")
    };
    let read_of = |fused: &Fused| -> Vec<usize> {
        fused.fusions().filter_map(|site| Some(fused.instruction(site)?.operands.len())).collect()
    };
    let little = fused(&body([64, 64], 4), &desktop());
    assert!(read_of(&little).iter().all(|count| *count == 4), "{}", weft_hlo::text::print(&little.module));
    let much = fuse(&read(&body([4096, 4096], 1)), &desktop()).unwrap();
    assert!(read_of(&much).iter().all(|count| *count == 1), "{}", weft_hlo::text::print(&much.module));
    let more = fuse(&read(&body([4096, 4000], 4)), &desktop()).unwrap();
    let reads = read_of(&more);
    assert!(reads.iter().sum::<usize>() <= 5, "{reads:?}\n{}", weft_hlo::text::print(&more.module));
    assert!(more.candidates.iter().any(|one| one.kind == Move::IntoUsers), "{:?}", more.candidates);
}

/// Windows of all are needed between the two, which read the same.
#[test]
fn what_is_needed_in_between_keeps_kernels_apart() {
    let body = "x = f32[64,64] parameter(0)\nzero = f32[] constant(0)\np = f32[64,64] exponential(x)\n\
        w = f32[64,64] reduce-window(p, zero), window={size=3x3 pad=1_1x1_1}, to_apply=sum\n\
        q = f32[64,64] subtract(x, w)\nROOT r = (f32[64,64], f32[64,64]) tuple(p, q)";
    let apart = fused(body, &desktop());
    assert_eq!(kernels(&apart), 3, "{:#?}", apart.decisions);
}

/// Chains of windows and sums that read the same two values: kernels of several results have some before values that others of them are computed of, so that where instructions stand does not tell
/// which kernels need each other.
#[test]
fn kernels_that_become_one_do_not_come_to_need_themselves() {
    let software = Target::preset("software").unwrap();
    let mut of_several = 0;
    for seed in 0..100 {
        let (mut rng, mut body) = (Rng::new(seed), String::from("zero = f32[] constant(0)\n"));
        body += "p0 = f32[8,8] parameter(0)\np1 = f32[8,8] parameter(1)\n";
        let mut ends: Vec<String> = (0..3).map(|_| format!("p{}", rng.below(2))).collect();
        let mut results = Vec::new();
        for number in 0..8 + rng.below(24) {
            let chain = rng.below(3);
            let (end, result) = (&ends[chain], format!("x{number}"));
            match rng.below(2) {
                0 => writeln!(
                    body,
                    "{result} = f32[8,8] reduce-window({end}, zero), window={{size=3x3 pad=1_1x1_1}}, to_apply=sum"
                ),
                _ => {
                    results.push(result.clone());
                    writeln!(body, "{result} = f32[8,8] add({end}, p{})", rng.below(2))
                }
            }
            .unwrap();
            ends[chain] = result;
        }
        results.append(&mut ends);
        let types = vec!["f32[8,8]"; results.len()].join(", ");
        write!(body, "ROOT r = ({types}) tuple({})", results.join(", ")).unwrap();
        for target in [&desktop(), &software] {
            let fused = fused(&body, target);
            of_several += fused.candidates.iter().filter(|one| one.is_taken && one.kind == Move::Sibling).count();
        }
    }
    assert!(of_several > 100, "{of_several}");
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
