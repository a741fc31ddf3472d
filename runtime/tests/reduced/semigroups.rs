//! Reductions and scans by associative regions that have no neutral value, against loops of the host in twice the precision, or exactly.

use super::scans::window;
use super::{list, targets};
use crate::support::{compile, device, module};
use std::fmt::Write;
use weft_hlo::ir::{Data, Literal, Op, Scalar};
use weft_partition::{Emitter, Schedule, Target, fuse};
use weft_runtime::{Device, Executable};

/// A region of tuples of places of one type, over `a0`, `a1`, … and `b0`, `b1`, ….
struct Region {
    types: &'static [&'static str],
    body: &'static str,
    results: &'static [&'static str],
}

/// Mean, sum of squared distances from it, and how many.
const WELFORD: Region = Region {
    types: &["f32"; 3],
    body: "n = f32[] add(a2, b2)\nd = f32[] subtract(b0, a0)\nw = f32[] divide(b2, n)\ns = f32[] multiply(d, w)
        m = f32[] add(a0, s)\ndd = f32[] multiply(d, d)\naw = f32[] multiply(a2, w)\nq = f32[] multiply(dd, aw)
        both = f32[] add(a1, b1)\nv = f32[] add(both, q)",
    results: &["m", "v", "n"],
};

/// `ln(exp a + exp b)`, as JAX writes it.
const LOG_ADD_EXP: Region = Region {
    types: &["f32"],
    body: "m = f32[] maximum(a0, b0)\nd = f32[] subtract(a0, b0)\nu = pred[] compare(d, d), direction=NE
        s = f32[] add(a0, b0)\nh = f32[] abs(d)\nn = f32[] negate(h)\ne = f32[] exponential(n)\nl = f32[] log-plus-one(e)
        k = f32[] add(m, l)\nv = f32[] select(u, s, k)",
    results: &["v"],
};

/// `x ↦ b0 (a0 x + a1) + b1`: it does not commute.
const AFFINE: Region = Region {
    types: &["u32"; 2],
    body: "x = u32[] multiply(a0, b0)\ny = u32[] multiply(a1, b0)\nz = u32[] add(y, b1)",
    results: &["x", "z"],
};

/// The first of the greatest, whatever the numbers beside them are.
const FIRST: Region = Region {
    types: &["s32"; 2],
    body: "g = pred[] compare(a0, b0), direction=GE\nv = s32[] select(g, a0, b0)\nn = s32[] select(g, a1, b1)",
    results: &["v", "n"],
};

impl Region {
    /// A program that folds arrays of these extents to such of others.
    fn program(&self, from: &[usize], to: &[usize], op: &str, attributes: &str) -> String {
        let names = |name: &str| (0..self.types.len()).map(|place| format!("{name}{place}")).collect::<Vec<_>>();
        let tuple = |extents: &[usize], operands: &str| {
            let shapes: Vec<String> = self.types.iter().map(|ty| format!("{ty}[{}]", list(extents))).collect();
            match shapes.as_slice() {
                [shape] => (shape.clone(), format!("{shape} copy({operands})")),
                _ => (format!("({})", shapes.join(", ")), format!("({}) tuple({operands})", shapes.join(", "))),
            }
        };
        let mut text = "HloModule m\nf {\n".to_owned();
        for (number, name) in [names("a"), names("b")].concat().iter().enumerate() {
            let ty = self.types[number % self.types.len()];
            writeln!(text, "  {name} = {ty}[] parameter({number})").expect("strings can be written to");
        }
        let operands = [names("x"), names("i")].concat();
        write!(text, "{}\n  ROOT r = {}\n}}\nENTRY e {{\n", self.body, tuple(&[], &self.results.join(", ")).1)
            .expect("strings can be written to");
        for (number, name) in operands.iter().enumerate() {
            let (ty, place) = (self.types[number % self.types.len()], number / self.types.len());
            let extents = if place == 0 { list(from) } else { String::new() };
            writeln!(text, "  {name} = {ty}[{extents}] parameter({number})").expect("strings can be written to");
        }
        let shape = tuple(to, "").0;
        format!("{text}  ROOT r = {shape} {op}({}), {attributes}, to_apply=f\n}}\n", operands.join(", "))
    }
}

/// The results on the device, the same twice, and how many kernels are shaped around what they fold.
fn run(device: &Device, target: &Target, text: &str, inputs: &[Literal]) -> (Vec<Literal>, usize) {
    let module = module(text);
    let program = compile(&module, target).unwrap_or_else(|found| panic!("{found}\n{text}"));
    for shader in program.shaders() {
        assert!(shader.proofs().are_complete(), "{:?}\n{}", shader.proofs(), shader.kernel);
    }
    let executable = Executable::new(device, program).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let [first, second] = [0, 1].map(|_| executable.run(inputs).unwrap_or_else(|found| panic!("{found}\n{text}")));
    assert!(first == second, "another run has other bits\n{text}");
    let fused = fuse(&module, target).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let is_shaped = |own: &Op| match own {
        Op::Fusion { calls, .. } => matches!(fused.plan(*calls).map(|plan| plan.emitter()), Some(Emitter::Reduced(_))),
        _ => false,
    };
    let shaped = fused.fusions().filter_map(|site| fused.instruction(site)).filter(|own| is_shaped(&own.op)).count();
    (first, shaped)
}

fn array(extents: &[usize], data: impl Into<Data>) -> Literal {
    let extents: Vec<i64> = extents.iter().map(|own| i64::try_from(*own).expect("it is a count")).collect();
    Literal::array(extents, data)
}

fn floats(literal: &Literal) -> &[f32] {
    let Data::F32(values) = &literal.data else { panic!("{:?}", literal.data.element_type()) };
    values
}

/// Numbers of `[-1, 1)`, the same each time.
fn noise(count: usize) -> Vec<f32> {
    let bits = (0..u32::try_from(count).expect("it is a count")).map(|at| at.wrapping_mul(0x9e37_79b1) >> 8);
    bits.map(|bits| bits as f32 * 2f32.powi(-23) - 1.0).collect()
}

/// The elements of each result, `[outer, length, inner]` folded along `length`.
fn lines(extents: &[usize], dimension: usize) -> Vec<Vec<usize>> {
    let inner: usize = extents[dimension + 1..].iter().product();
    let outer: usize = extents[..dimension].iter().product();
    let all = (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i)));
    let length = extents[dimension];
    all.map(|(o, i)| (0..length).map(|at| (o * length + at) * inner + i).collect()).collect()
}

fn without(extents: &[usize], dimension: usize) -> Vec<usize> {
    [&extents[..dimension], &extents[dimension + 1..]].concat()
}

/// Rows, columns, and so many elements that there are two passes.
const SHAPES: [(&[usize], usize); 5] =
    [(&[70, 300], 1), (&[301, 40], 0), (&[1 << 20], 0), (&[1_000_003], 0), (&[3, 3], 1)];

#[test]
fn moments_are_right() {
    let device = device();
    for (extents, dimension) in SHAPES {
        let text =
            WELFORD.program(extents, &without(extents, dimension), "reduce", &format!("dimensions={{{dimension}}}"));
        let count = extents.iter().product();
        let values: Vec<f32> = noise(count).iter().map(|own| own + 3.0).collect();
        let inputs = [
            array(extents, values.clone()),
            array(extents, vec![0f32; count]),
            array(extents, vec![1f32; count]),
            Literal::scalar(Scalar::F32(0.0)),
            Literal::scalar(Scalar::F32(0.0)),
            Literal::scalar(Scalar::F32(0.0)),
        ];
        for target in targets(&device) {
            let (results, shaped) = run(&device, &target, &text, &inputs);
            assert!(
                shaped > 0 || target.effective_schedule() == Schedule::Software || extents[dimension] < 32,
                "{extents:?}"
            );
            for (result, line) in lines(extents, dimension).iter().enumerate() {
                let length = line.len() as f64;
                let mean = line.iter().map(|at| f64::from(values[*at])).sum::<f64>() / length;
                let squares: f64 = line.iter().map(|at| (f64::from(values[*at]) - mean).powi(2)).sum();
                let found = [0, 1, 2].map(|place| f64::from(floats(&results[place])[result]));
                // Chains of about 1,000 in two passes, of which a loop over all elements would be far off.
                let bound = |wanted: f64| wanted.abs() * f64::from(f32::EPSILON) * 64.0;
                let what = format!("{extents:?}, {}, result {result}: {found:?}", target.effective_schedule());
                assert!(found[2] == length, "{what}");
                assert!((found[0] - mean).abs() <= bound(mean), "{what}, mean {mean}");
                assert!((found[1] - squares).abs() <= bound(squares), "{what}, squares {squares}");
            }
        }
    }
}

#[test]
fn logarithms_of_sums_are_right() {
    let device = device();
    for (extents, dimension) in SHAPES {
        let count = extents.iter().product();
        let mut values: Vec<f32> = noise(count).iter().map(|own| own * 40.0).collect();
        // Nothing to add.
        values.iter_mut().skip(5).step_by(7).for_each(|own| *own = f32::NEG_INFINITY);
        let inputs = [array(extents, values.clone()), Literal::scalar(Scalar::F32(f32::NEG_INFINITY))];
        let attributes = format!("dimensions={{{dimension}}}");
        let reduction = LOG_ADD_EXP.program(extents, &without(extents, dimension), "reduce", &attributes);
        let is_scanned = count < 1 << 20;
        for target in targets(&device) {
            let schedule = target.effective_schedule();
            let (results, shaped) = run(&device, &target, &reduction, &inputs);
            assert!(
                shaped > 0 || target.effective_schedule() == Schedule::Software || extents[dimension] < 32,
                "{extents:?}"
            );
            // What is added up is positive: each addition is off by few roundings of the result, a logarithm.
            let is_near = |found: f32, sum: f64, of: usize| {
                let wanted = sum.ln();
                let bound = (of.min(4096) as f64 + 8.0) * 4.0 * f64::from(f32::EPSILON) * wanted.abs().max(1.0);
                assert!(
                    f64::from(found) == wanted || (f64::from(found) - wanted).abs() <= bound,
                    "{extents:?}, {schedule}: {found}, not {wanted}"
                );
            };
            let all = lines(extents, dimension);
            for (result, line) in all.iter().enumerate() {
                let sum = line.iter().map(|at| f64::from(values[*at]).exp()).sum();
                is_near(floats(&results[0])[result], sum, line.len());
            }
            for is_reversed in [false, true].into_iter().filter(|_| is_scanned) {
                let window = window(extents, dimension, is_reversed, false);
                let scan = LOG_ADD_EXP.program(extents, extents, "reduce-window", &window);
                let (results, _) = run(&device, &target, &scan, &inputs);
                for line in &all {
                    let mut sum = 0.0;
                    for number in 0..line.len() {
                        let at = line[if is_reversed { line.len() - 1 - number } else { number }];
                        sum += f64::from(values[at]).exp();
                        is_near(floats(&results[0])[at], sum, number + 1);
                    }
                }
            }
        }
    }
}

/// The tuples of two places before each element, or from the last on, folded in the order of elements.
fn scanned(
    f: impl Fn([u32; 2], [u32; 2]) -> [u32; 2],
    (values, first): (&[Vec<u32>; 2], [u32; 2]),
    line: &[usize],
    (is_reversed, is_exclusive): (bool, bool),
) -> Vec<[u32; 2]> {
    let tuple = |at: usize| [values[0][at], values[1][at]];
    let result = |number: usize| {
        let own = usize::from(is_exclusive);
        let range = if is_reversed { number + own..line.len() } else { 0..number + 1 - own };
        line[range].iter().fold(first, |folded, at| f(folded, tuple(*at)))
    };
    (0..line.len()).map(result).collect()
}

fn affine(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    [a[0].wrapping_mul(b[0]), a[1].wrapping_mul(b[0]).wrapping_add(b[1])]
}

fn first(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    if a[0].cast_signed() >= b[0].cast_signed() { a } else { b }
}

/// Pairs of integers, which come to the same whatever the grouping is.
#[test]
fn pairs_are_folded_in_their_order_exactly() {
    let device = device();
    let reductions: [(&[usize], usize); 8] = [
        (&[2], 0),
        (&[31, 97], 1),
        (&[64, 1000], 1),
        (&[257, 33], 0),
        (&[5, 4099], 1),
        (&[10_007, 3], 0),
        (&[65_537], 0),
        (&[200_003], 0),
    ];
    let scans: [(&[usize], usize); 7] =
        [(&[2], 0), (&[67], 0), (&[40, 257], 1), (&[300, 37], 0), (&[1031], 0), (&[3, 1500], 1), (&[4099], 0)];
    for (region, fold, ty) in [(&AFFINE, affine as fn(_, _) -> _, "u32"), (&FIRST, first, "s32")] {
        let data = |values: Vec<u32>| match ty {
            "u32" => Data::from(values),
            _ => Data::from(values.into_iter().map(u32::cast_signed).collect::<Vec<i32>>()),
        };
        let words = |literal: &Literal| match &literal.data {
            Data::U32(values) => values.clone(),
            Data::S32(values) => values.iter().map(|own| own.cast_unsigned()).collect(),
            other => panic!("{:?}", other.element_type()),
        };
        let given = |extents: &[usize]| -> ([Vec<u32>; 2], [u32; 2], Vec<Literal>) {
            let numbers = |of: u32| {
                (0..extents.iter().product::<usize>() as u32).map(move |at| (at + of).wrapping_mul(0x9e37_79b1))
            };
            // Many are equal.
            let first: Vec<u32> = numbers(1).map(|bits| if ty == "u32" { bits | 1 } else { bits >> 29 }).collect();
            let values = [first, numbers(7).collect()];
            let initial = [3, 9];
            let arrays = values.iter().map(|own| array(extents, data(own.clone())));
            let scalars = initial.iter().map(|own| array(&[], data(vec![*own])));
            (values.clone(), initial, arrays.chain(scalars).collect())
        };
        for (extents, dimension) in reductions {
            let (values, initial, inputs) = given(extents);
            let attributes = format!("dimensions={{{dimension}}}");
            let text = region.program(extents, &without(extents, dimension), "reduce", &attributes);
            for target in targets(&device) {
                let (results, shaped) = run(&device, &target, &text, &inputs);
                assert!(shaped > 0 || target.effective_schedule() == Schedule::Software, "{extents:?}");
                for (result, line) in lines(extents, dimension).iter().enumerate() {
                    let wanted = line.iter().fold(initial, |all, at| fold(all, [values[0][*at], values[1][*at]]));
                    let found = [0, 1].map(|place| words(&results[place])[result]);
                    assert_eq!(found, wanted, "{ty}, {extents:?}, {}, result {result}", target.effective_schedule());
                }
            }
        }
        for (number, (extents, dimension)) in scans.into_iter().enumerate() {
            let (values, initial, inputs) = given(extents);
            for (target_number, target) in targets(&device).iter().enumerate() {
                let is_reversed = (number + target_number) % 2 == 1;
                let is_exclusive = (number + target_number) % 3 == 1;
                let window = window(extents, dimension, is_reversed, is_exclusive);
                let text = region.program(extents, extents, "reduce-window", &window);
                let (results, _) = run(&device, target, &text, &inputs);
                let found = [0, 1].map(|place| words(&results[place]));
                for line in lines(extents, dimension) {
                    let wanted = scanned(fold, (&values, initial), &line, (is_reversed, is_exclusive));
                    for (at, wanted) in line.iter().zip(wanted) {
                        let found = [found[0][*at], found[1][*at]];
                        let how = format!("reversed {is_reversed}, exclusive {is_exclusive}");
                        assert_eq!(found, wanted, "{ty}, {extents:?}, {}, {how}, at {at}", target.effective_schedule());
                    }
                }
            }
        }
    }
}
