//! Reductions and scans by regions that are associative and have no neutral value: divided all the same, and they come to the same.

use crate::fuse::read;
use std::fmt::Write;
use weft_hlo::ir::{Literal, Module, Op};
use weft_hlo::random::Rng;
use weft_hlo::text::print;
use weft_partition::{Emitter, Fused, FusionPlan, Schedule, Target, Verdict, fuse_explained};

/// A region of tuples of numbers of one type.
struct Region {
    name: &'static str,
    ty: &'static str,
    /// Places of a tuple.
    places: usize,
    /// Instructions over `a0`, `a1`, … and `b0`, `b1`, ….
    body: &'static str,
    results: &'static str,
}

const REGIONS: [Region; 5] = [
    Region {
        name: "affine functions, one behind the other",
        ty: "u32",
        places: 2,
        body: "x = u32[] multiply(a0, b0)\ny = u32[] multiply(a1, b0)\nz = u32[] add(y, b1)",
        results: "x, z",
    },
    Region {
        name: "matrices",
        ty: "s32",
        places: 4,
        body: "p = s32[] multiply(a0, b0)\nq = s32[] multiply(a1, b2)\nv = s32[] add(p, q)\nt = s32[] multiply(a0, b1)
            u = s32[] multiply(a1, b3)\nw = s32[] add(t, u)\ne = s32[] multiply(a2, b0)\nf = s32[] multiply(a3, b2)
            x = s32[] add(e, f)\ng = s32[] multiply(a2, b1)\nh = s32[] multiply(a3, b3)\ny = s32[] add(g, h)",
        results: "v, w, x, y",
    },
    Region {
        name: "the first of equals",
        ty: "s32",
        places: 2,
        body: "g = pred[] compare(a0, b0), direction=GE\nv = s32[] select(g, a0, b0)\nn = s32[] select(g, a1, b1)",
        results: "v, n",
    },
    Region {
        name: "products modulo a prime",
        ty: "u32",
        places: 1,
        body: "x = u32[] multiply(a0, b0)\np = u32[] constant(65521)\nm = u32[] remainder(x, p)",
        results: "m",
    },
    Region {
        name: "the least sum, and the sum",
        ty: "s64",
        places: 2,
        body: "s = s64[] add(a0, b0)\nl = s64[] add(a0, b1)\nm = s64[] minimum(a1, l)",
        results: "s, m",
    },
];

fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

impl Region {
    /// A program that folds arrays of these extents to such of others by an operation with attributes; `in_fusion` as one fusion.
    fn program(&self, from: &[i64], to: &[i64], (op, attributes): (&str, &str), in_fusion: bool) -> Module {
        let (ty, places) = (self.ty, self.places);
        let numbered = |name: &str| (0..places).map(|place| format!("{name}{place}")).collect::<Vec<_>>();
        let is_tuple = places > 1;
        let tuple = |extents: &[i64]| {
            let shapes = vec![format!("{ty}[{}]", list(extents)); places].join(", ");
            if is_tuple { format!("({shapes})") } else { shapes }
        };
        let mut text = "HloModule m\nf {\n".to_owned();
        let names = [numbered("a"), numbered("b")].concat();
        for (number, name) in names.iter().enumerate() {
            writeln!(text, "  {name} = {ty}[] parameter({number})").expect("strings can be written to");
        }
        match is_tuple {
            true => writeln!(text, "{}\n  ROOT r = {} tuple({})\n}}", self.body, tuple(&[]), self.results),
            false => writeln!(text, "{}\n}}", self.body.replace("m =", "ROOT m =")),
        }
        .expect("strings can be written to");
        let operands = [numbered("x"), numbered("i")].concat();
        let mut parameters = String::new();
        for (number, name) in operands.iter().enumerate() {
            let extents = if number < places { list(from) } else { String::new() };
            writeln!(parameters, "  {name} = {ty}[{extents}] parameter({number})").expect("strings can be written to");
        }
        let (operands, to) = (operands.join(", "), tuple(to));
        let body = format!("{parameters}  ROOT r = {to} {op}({operands}), {attributes}, to_apply=f\n}}\n");
        match in_fusion {
            false => writeln!(text, "ENTRY e {{\n{body}"),
            true => writeln!(
                text,
                "body {{\n{body}\nENTRY e {{\n{parameters}  ROOT r = {to} fusion({operands}), kind=kInput, calls=body\n}}"
            ),
        }
        .expect("strings can be written to");
        read(&text)
    }

    fn inputs(&self, extents: &[i64], rng: &mut Rng) -> Vec<Literal> {
        let count: i64 = extents.iter().product();
        let array = |count: i64, extents: &[i64], rng: &mut Rng| {
            let values = (0..count).map(|_| rng.between(if self.ty == "u32" { 1 } else { -4 }, 9));
            match self.ty {
                "u32" => Literal::array(extents, values.map(|own| own as u32).collect::<Vec<_>>()),
                "s32" => Literal::array(extents, values.map(|own| own as i32).collect::<Vec<_>>()),
                _ => Literal::array(extents, values.collect::<Vec<_>>()),
            }
        };
        let mut inputs: Vec<Literal> = (0..self.places).map(|_| array(count, extents, rng)).collect();
        inputs.extend((0..self.places).map(|_| array(1, &[], rng)));
        inputs
    }
}

/// Targets of both kinds of schedules, and one whose workgroups cannot wait for one another.
fn targets() -> [Target; 3] {
    let scheduled = |schedule| {
        Target::default().with(|target| {
            target.schedule = Some(schedule);
            target.max_storage_buffers = 16;
        })
    };
    let gpu = scheduled(Schedule::Gpu);
    let without = gpu.clone().with(|target| target.faults.barriers = true);
    [gpu, scheduled(Schedule::Software), without]
}

/// Fuses for a target, and fails unless everything can be compiled and the results are the same, bit for bit, and unless what comes out is fused as it is.
fn checked(module: &Module, inputs: &[Literal], target: &Target) -> Fused {
    let fused = crate::scans::checked(module, inputs, target);
    let text = print(&fused.module);
    let again = fuse_explained(&fused.module, target).unwrap_or_else(|found| panic!("{found}\n{text}"));
    assert_eq!(rewritten(&again), [0, 0], "{:#?}", again.decisions);
    assert_eq!(again.fusions().count(), fused.fusions().count(), "{text}");
    fused
}

/// How many instructions were given a neutral value, and how many were divided.
fn rewritten(fused: &Fused) -> [usize; 2] {
    let decisions = fused.decisions.iter().filter(|decision| decision.verdict == Verdict::Rewritten);
    let (completed, divided): (Vec<_>, Vec<_>) =
        decisions.partition(|decision| decision.reason.contains("no neutral value"));
    [completed.len(), divided.len()]
}

fn shaped(fused: &Fused) -> usize {
    let emitter = |site| match fused.instruction(site).map(|own| &own.op) {
        Some(Op::Fusion { calls, .. }) => fused.plan(*calls).map(FusionPlan::emitter),
        _ => None,
    };
    fused.fusions().filter(|site| matches!(emitter(*site), Some(Emitter::Reduced(_)))).count()
}

/// Of no elements, of one, of two, of primes, and of so many that two passes are made.
#[test]
fn reductions_come_to_the_same() {
    let mut rng = Rng::new(50);
    let cases: [(&[i64], i64, [usize; 3]); 12] = [
        (&[0], 0, [0, 0, 0]),
        (&[1], 0, [0, 0, 0]),
        (&[2], 0, [1, 0, 0]),
        (&[4099], 0, [1, 1, 1]),
        (&[16_384], 0, [1, 1, 1]),
        (&[20_011], 0, [1, 1, 1]),
        (&[3, 0], 1, [0, 0, 0]),
        (&[37, 101], 1, [1, 0, 0]),
        (&[97, 5], 0, [1, 0, 0]),
        (&[4801, 3], 0, [1, 1, 1]),
        (&[5, 4441], 1, [1, 1, 1]),
        (&[300, 1024], 0, [1, 1, 0]),
    ];
    for (number, (extents, dimension, completed)) in cases.into_iter().enumerate() {
        let region = &REGIONS[number % REGIONS.len()];
        let dropped = |own: usize| i64::try_from(own) == Ok(dimension);
        let to: Vec<i64> = (0..extents.len()).filter(|own| !dropped(*own)).map(|own| extents[own]).collect();
        let inputs = region.inputs(extents, &mut rng);
        let attributes = format!("dimensions={{{dimension}}}");
        for (target, completed) in targets().iter().zip(completed) {
            for in_fusion in [false, true] {
                let module = region.program(extents, &to, ("reduce", &attributes), in_fusion);
                let fused = checked(&module, &inputs, target);
                let (name, schedule) = (region.name, target.effective_schedule());
                assert_eq!(rewritten(&fused)[0], completed, "{name}, {extents:?}, {schedule}\n{:#?}", fused.decisions);
            }
        }
    }
}

#[test]
fn scans_come_to_the_same_forwards_and_backwards() {
    let mut rng = Rng::new(51);
    let (mut completed, mut divided, mut of_kernels) = (0, 0, 0);
    for case in 0..25 {
        let region = &REGIONS[case % REGIONS.len()];
        let extent = [1, 2, 3, 67, 257, 1031, 1200][rng.below(7)];
        let (extents, dimension) = match rng.below(3) {
            0 => (vec![extent], 0),
            1 => (vec![3, extent], 1),
            _ => (vec![extent, 2], 0),
        };
        let (is_reversed, away) = (rng.chance(50), i64::from(rng.chance(50)));
        let (low, high) = if is_reversed { (-away, extent - 1 + away) } else { (extent - 1 + away, -away) };
        let all = |own: String, other: &str| {
            let each = (0..extents.len()).map(|at| if at == dimension { own.clone() } else { other.to_owned() });
            each.collect::<Vec<_>>().join("x")
        };
        let window =
            format!("window={{size={} pad={}}}", all(extent.to_string(), "1"), all(format!("{low}_{high}"), "0_0"));
        let inputs = region.inputs(&extents, &mut rng);
        let module = region.program(&extents, &extents, ("reduce-window", &window), false);
        for target in targets() {
            let fused = checked(&module, &inputs, &target);
            let [own, blocks] = rewritten(&fused);
            completed += own;
            divided += blocks;
            of_kernels += shaped(&fused);
            let is_long = extent > 1024;
            assert!(!is_long || own == 1, "{}, {extents:?}\n{:#?}", region.name, fused.decisions);
        }
    }
    println!("{completed} completed, {divided} in blocks, {of_kernels} kernels");
    assert!(completed > 30 && divided > 10 && of_kernels > 20, "{completed}, {divided}, {of_kernels}");
}

/// Elements are computed of what their row is folded to, in one kernel, in software too.
#[test]
fn kernels_are_shaped_around_what_the_program_fuses() {
    let module = read(
        "HloModule m
        first {
            a = s32[] parameter(0)
            i = s32[] parameter(1)
            b = s32[] parameter(2)
            k = s32[] parameter(3)
            g = pred[] compare(a, b), direction=GE
            v = s32[] select(g, a, b)
            n = s32[] select(g, i, k)
            ROOT r = (s32[], s32[]) tuple(v, n)
        }
        body {
            x = s32[64,40] parameter(0)
            k = s32[64,40] iota(), iota_dimension=1
            z = s32[] constant(-100)
            o = s32[] constant(-1)
            t = (s32[64], s32[64]) reduce(x, k, z, o), dimensions={1}, to_apply=first
            n = s32[64] get-tuple-element(t), index=1
            nb = s32[64,40] broadcast(n), dimensions={0}
            ROOT d = s32[64,40] subtract(k, nb)
        }
        ENTRY e {
            x = s32[64,40] parameter(0)
            ROOT d = s32[64,40] fusion(x), kind=kLoop, calls=body
        }",
    );
    let values: Vec<i32> = (0..64 * 40).map(|at| at * 7919 % 13).collect();
    let [gpu, software, without] = targets();
    for (target, expected) in [(gpu, 1), (software, 1), (without, 0)] {
        let fused = checked(&module, &[Literal::array([64, 40], values.clone())], &target);
        assert_eq!((shaped(&fused), rewritten(&fused)), (expected, [expected, 0]), "{:#?}", fused.decisions);
    }
}

/// What is not associative stays a loop, and the reader is told why, with the values.
#[test]
fn what_is_not_associative_is_told() {
    let region = |places, body, results| Region { name: "", ty: "s32", places, body, results };
    let difference = region(1, "m = s32[] subtract(a0, b0)", "m");
    let pair = region(2, "x = s32[] subtract(b1, a0)\ny = s32[] add(a1, b0)", "x, y");
    let mut rng = Rng::new(52);
    for region in [difference, pair] {
        let inputs = region.inputs(&[20_011], &mut rng);
        let module = region.program(&[20_011], &[], ("reduce", "dimensions={0}"), false);
        let fused = checked(&module, &inputs, &targets()[0]);
        assert_eq!(rewritten(&fused), [0, 0]);
        let kept = fused.decisions.iter().find(|decision| decision.verdict == Verdict::Kept);
        let kept = kept.map(|decision| decision.reason.as_str()).unwrap_or_default();
        assert!(kept.contains("is not associative: of "), "{kept}");
        let module = region.program(&[64, 1000], &[64], ("reduce", "dimensions={1}"), false);
        let fused = checked(&module, &region.inputs(&[64, 1000], &mut rng), &targets()[0]);
        let plans = fused.fusions().filter_map(|site| match fused.instruction(site)?.op {
            Op::Fusion { calls, .. } => Some(fused.plan(calls)?.text(&fused.module.computations[calls])),
            _ => None,
        });
        let plans: String = plans.collect();
        assert!(plans.contains("is not associative: of "), "{plans}");
    }
}
