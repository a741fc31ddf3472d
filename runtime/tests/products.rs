//! Kernels that are shaped around sums of products, by either schedule, against the evaluator.

mod attention;

use crate::count::{cases, first_seed};
use crate::support::{self, compile};
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module};
use weft_hlo::random::{Numbers, Options, Rng, inputs};
use weft_partition::{Emitter, Schedule, Target, fuse};
use weft_runtime::{Device, Executable};

/// How many kernels of a module are shaped around sums of products.
fn tiled(module: &Module, target: &Target) -> usize {
    let fused = fuse(module, target).unwrap_or_else(|findings| panic!("{findings}"));
    let plans = fused.module.computations.ids().filter_map(|id| fused.plan(id));
    plans.filter(|plan| matches!(plan.emitter(), Emitter::Product(_))).count()
}

/// Runs a module and compares, to the bit: sums of numbers of few digits are exact in any order. Returns whether one of its kernels has tiles.
fn check(device: &Device, target: &Target, text: &str) -> Result<bool, String> {
    let module = &support::module(text);
    let arguments = inputs(module, 1, &Options { numbers: Numbers::Tame, ..Options::default() });
    let program = compile(module, target).map_err(|error| error.to_string())?;
    for shader in program.shaders() {
        assert!(shader.proofs().are_complete(), "{:?}\n{text}\n{}", shader.proofs(), shader.source);
    }
    let expected = evaluate(module, &arguments).map_err(|error| error.to_string())?;
    let executable = Executable::new(device, program.clone()).map_err(|error| error.to_string())?;
    let results = executable.run(&arguments).map_err(|error| error.to_string())?;
    for (result, expected) in results.iter().zip(&expected) {
        if result.data != expected.data {
            return Err(format!("{:?} became {:?}\n{program}", expected.data, result.data));
        }
    }
    Ok(tiled(module, target) > 0)
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

fn extent(rng: &mut Rng) -> usize {
    match rng.below(8) {
        0 => rng.below(4),
        1 => [15, 16, 17][rng.below(3)],
        2 => [31, 32, 33][rng.below(3)],
        3 => [5, 7, 11, 13][rng.below(4)],
        _ => 4 * (1 + rng.below(10)),
    }
}

/// Types of the operands, and of the result.
const TYPES: [[&str; 3]; 10] = [
    ["f32", "f32", "f32"],
    ["f32", "f32", "f32"],
    ["s32", "s32", "s32"],
    ["u32", "u32", "u32"],
    ["f16", "f16", "f16"],
    ["bf16", "bf16", "f32"],
    ["f32", "f16", "f32"],
    ["s8", "s8", "s32"],
    ["s8", "u8", "s16"],
    ["bf16", "f32", "bf16"],
];

/// A dot of random dimensions in random order, alone or with something before and behind it.
fn random(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let [left, right, result] = TYPES[rng.below(TYPES.len())];
    let (batch, rows): (Vec<usize>, Vec<usize>) = match rng.below(6) {
        0 => (vec![1 + rng.below(3)], vec![extent(&mut rng)]),
        1 => (vec![2, 1 + rng.below(2)], vec![3, 1 + rng.below(6)]),
        2 => (Vec::new(), vec![1 + rng.below(5), 1 + rng.below(9)]),
        3 => (Vec::new(), Vec::new()),
        _ => (Vec::new(), vec![extent(&mut rng)]),
    };
    let columns = match rng.below(6) {
        0 => Vec::new(),
        1 => vec![1 + rng.below(6), 4 * (1 + rng.below(3))],
        _ => vec![extent(&mut rng)],
    };
    let contracted = match rng.below(4) {
        0 => vec![1 + rng.below(5), 1 + rng.below(9)],
        _ => vec![extent(&mut rng)],
    };
    let mut operand = |name: &str, ty: &str, free: &[usize]| {
        let all: Vec<usize> = batch.iter().chain(&contracted).chain(free).copied().collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        if rng.below(3) > 0 {
            rng.shuffle(&mut order);
            // Free dimensions keep their order in the result.
            let first = batch.len() + contracted.len();
            let mut free = first..all.len();
            order.iter_mut().filter(|it| **it >= first).for_each(|it| *it = free.next().unwrap());
        }
        let extents: Vec<usize> = order.iter().map(|it| all[*it]).collect();
        let at = |range: std::ops::Range<usize>| -> Vec<usize> {
            range.map(|it| order.iter().position(|own| *own == it).unwrap()).collect()
        };
        let (batches, sums) = (at(0..batch.len()), at(batch.len()..batch.len() + contracted.len()));
        let mut layout: Vec<usize> = (0..all.len()).rev().collect();
        if rng.below(3) == 0 {
            rng.shuffle(&mut layout);
        }
        let shape = format!("{ty}[{}]{{{}}}", list(&extents), list(&layout));
        let numbers = format!("{name}_batch_dims={{{}}}, {name}_contracting_dims={{{}}}", list(&batches), list(&sums));
        (shape, numbers)
    };
    let (a, left_numbers) = operand("lhs", left, &rows);
    let (b, right_numbers) = operand("rhs", right, &columns);
    let extents: Vec<usize> = batch.iter().chain(&rows).chain(&columns).copied().collect();
    let shape = format!("{result}[{}]", list(&extents));
    let before = rng.below(5);
    let x = if before == 1 || before == 3 { "n" } else { "a" };
    let y = if before == 2 || before == 3 { "m" } else { "b" };
    let count: usize = extents.iter().product();
    let dot =
        |name: &str, x: &str, y: &str| format!("  {name} = {shape} dot({x}, {y}), {left_numbers}, {right_numbers}\n");
    let tail = match rng.below(10) {
        0 => format!("  ROOT r = {shape} negate(d)\n"),
        1 => format!("  ROOT r = {shape} add(d, c)\n"),
        2 => format!("  n2 = {shape} negate(d)\n  ROOT r = ({shape}, {shape}) tuple(n2, d)\n"),
        3 => format!("  f = {result}[{count}] reshape(d)\n  ROOT r = {result}[{count}] negate(f)\n"),
        4 | 5 => {
            let mut order: Vec<usize> = (0..extents.len()).collect();
            rng.shuffle(&mut order);
            let transposed: Vec<usize> = order.iter().map(|it| extents[*it]).collect();
            let (other, order) = (format!("{result}[{}]", list(&transposed)), list(&order));
            format!(
                "  t = {other} transpose(d), dimensions={{{order}}}\n  u = {other} transpose(c), dimensions={{{order}}}\n  \
                 ROOT r = {other} add(t, u)\n"
            )
        }
        6 => format!("{}  s = {shape} add(e, c)\n  ROOT r = ({shape}, {shape}) tuple(d, s)\n", dot("e", "n", "m")),
        7 => format!("{}  ROOT r = {shape} subtract(d, e)\n", dot("e", "a", "m")),
        _ => format!("  ROOT r = ({shape}) tuple(d)\n"),
    };
    let first = dot("d", x, y);
    format!(
        "HloModule m\nENTRY e {{\n  a = {a} parameter(0)\n  b = {b} parameter(1)\n  c = {shape} parameter(2)\n  \
         two = {left}[] constant(2)\n  twice = {a} broadcast(two), dimensions={{}}\n  \
         n = {a} multiply(a, twice)\n  m = {b} negate(b)\n{first}{tail}}}\n"
    )
}

#[test]
fn dots_agree_with_the_evaluator() {
    let device = support::device();
    for schedule in Schedule::ALL {
        let target = device.target().clone().with(|target| target.schedule = Some(schedule));
        let (mut tiled, mut report) = (0, String::new());
        let (first, count) = (first_seed(), cases(12));
        for seed in first..first + count {
            let text = random(seed);
            match check(&device, &target, &text) {
                Ok(is_tiled) => tiled += u64::from(is_tiled),
                Err(why) => writeln!(report, "seed {seed}: {why}\n{text}").unwrap(),
            }
        }
        assert!(report.is_empty(), "{schedule}: {report}");
        println!("{schedule}: {tiled} of {count} have tiles");
        assert!(tiled * 5 >= count * 2, "{schedule}: {tiled} of {count} have tiles");
    }
}

/// Sums of very many products are made of short ones, whatever the depth: their errors keep the bound of `2 sqrt(depth)` additions in a row, which a plain chain of as many does not.
#[test]
fn long_sums_are_no_chains() {
    let device = support::device();
    let (rows, depth, columns) = (16usize, 32_771usize, 16usize);
    let text = format!(
        "HloModule m\nENTRY e {{\n  a = f32[{rows},{depth}] parameter(0)\n  b = f32[{depth},{columns}] parameter(1)\n  \
         ROOT d = f32[{rows},{columns}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n"
    );
    // Equal summands: what a chain adds to a sum that has grown is rounded the same way again and again.
    let summand = |column: usize| 0.1 * (column + 1) as f32;
    let b: Vec<f32> = (0..depth * columns).map(|at| summand(at % columns)).collect();
    let inputs = [
        Literal::array([rows as i64, depth as i64], vec![1f32; rows * depth]),
        Literal::array([depth as i64, columns as i64], b),
    ];
    let bound = 2.0 * (depth as f64).sqrt() * f64::from(f32::EPSILON) / 2.0;
    let error = |found: f32, column: usize| {
        let exact = f64::from(summand(column)) * depth as f64;
        (f64::from(found) - exact).abs() / exact
    };
    let chain = |column: usize| (0..depth).fold(0f32, |sum, _| sum + summand(column));
    let beyond = (0..columns).filter(|column| error(chain(*column), *column) > bound).count();
    assert!(beyond > columns / 2, "{beyond} chains are beyond the bound");
    for schedule in Schedule::ALL {
        let target = device.target().clone().with(|target| target.schedule = Some(schedule));
        let module = support::module(&text);
        assert_eq!(tiled(&module, &target), 1, "{schedule}");
        let program = compile(&module, &target).unwrap_or_else(|error| panic!("{error}"));
        let results = Executable::new(&device, program).unwrap().run(&inputs).unwrap();
        let Data::F32(found) = &results[0].data else { panic!("{:?}", results[0].shape) };
        for (position, found) in found.iter().enumerate() {
            let error = error(*found, position % columns);
            assert!(error <= bound, "{schedule}, {position}: {error:e} of {bound:e}");
        }
    }
}

/// Members of a subgroup that read the left operand for one another: columns that leave some of them none, rows that fill no tile, products that fill no step, and those of several stretches.
#[test]
fn members_of_a_subgroup_read_together() {
    let device = support::device();
    let target = device.target().clone().with(|target| target.schedule = Some(Schedule::Software));
    let sizes = target.features.subgroup.filter(|sizes| sizes.min == sizes.max);
    for [batch, rows, depth, columns] in [[1, 33, 19, 64], [3, 5, 8, 24], [1, 2, 1037, 31], [2, 17, 4, 67]] {
        let text = format!(
            "HloModule m\nENTRY e {{\n  a = f32[{batch},{rows},{depth}] parameter(0)\n  b = f32[{batch},{depth},{columns}] parameter(1)\n  \
             n = f32[{batch},{rows},{depth}] negate(a)\n  \
             ROOT d = f32[{batch},{rows},{columns}] dot(n, b), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}\n}}\n"
        );
        let fused = fuse(&support::module(&text), &target).unwrap_or_else(|findings| panic!("{findings}"));
        let members = fused.module.computations.ids().find_map(|id| match fused.plan(id)?.emitter() {
            Emitter::Product(product) => Some(product.members),
            _ => None,
        });
        assert_eq!(members, Some(sizes.map_or(1, |sizes| i64::from(sizes.min))), "{text}");
        check(&device, &target, &text).unwrap_or_else(|why| panic!("{why}"));
    }
}
