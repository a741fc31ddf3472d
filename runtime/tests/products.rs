//! Kernels that are shaped around sums of products, by either schedule, against the evaluator.

mod attention;
mod beside;
mod convolutions;
mod matrices;
mod rows;

use crate::count::{cases, first_seed};
use crate::support::{self, compile};
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module};
use weft_hlo::random::{Numbers, Options, Rng, inputs};
use weft_partition::{DeviceKind, Emitter, Product, Schedule, Subgroups, Target, TileOwner, Vendor, Verdict, fuse};
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
const TYPES: [[&str; 3]; 15] = [
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
    ["bf16", "bf16", "bf16"],
    ["s8", "s8", "s8"],
    ["f8e4m3fn", "f8e5m2", "f32"],
    ["s4", "s4", "s32"],
    ["u4", "u8", "u32"],
];

/// Types whose elements take several registers, those last that need `f64`.
const WIDE: [[&str; 3]; 8] = [
    ["s64", "s64", "s64"],
    ["u64", "u64", "u64"],
    ["s32", "s64", "s64"],
    ["c64", "c64", "c64"],
    ["c64", "c64", "c64"],
    ["f64", "f64", "f64"],
    ["f32", "f64", "f64"],
    ["c128", "c128", "c128"],
];

/// Those that a device computes with.
fn wide(device: &Device) -> &'static [[&'static str; 3]] {
    if device.target().features.shader_f64 { &WIDE } else { &WIDE[..5] }
}

/// A dot of random dimensions in random order, alone or with something before and behind it.
fn random(seed: u64, types: &[[&str; 3]]) -> String {
    let mut rng = Rng::new(seed);
    let [left, right, result] = types[rng.below(types.len())];
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
    let two = if left.starts_with('c') { "(2, 0)" } else { "2" };
    format!(
        "HloModule m\nENTRY e {{\n  a = {a} parameter(0)\n  b = {b} parameter(1)\n  c = {shape} parameter(2)\n  \
         two = {left}[] constant({two})\n  twice = {a} broadcast(two), dimensions={{}}\n  \
         n = {a} multiply(a, twice)\n  m = {b} negate(b)\n{first}{tail}}}\n"
    )
}

/// The device's target with this schedule, for which a few results are as many as a large device needs, and launches cost nothing, so that what pays for large products does for small ones.
fn of_few_cores(device: &Device, schedule: Schedule) -> Target {
    device.target().clone().with(|target| {
        target.schedule = Some(schedule);
        target.hardware.cores = target.hardware.cores.min(2);
        target.hardware.lanes_per_core = target.hardware.lanes_per_core.min(8);
        target.hardware.launch_nanoseconds = 0;
    })
}

/// Runs programs of seeds with both schedules, every other one as if the device had no subgroups; of so many in so many, at least, a kernel has tiles.
fn agree(device: &Device, program: impl Fn(u64) -> String, count: u64, least: u64, of: u64) {
    for schedule in Schedule::ALL {
        let target = of_few_cores(device, schedule);
        let (mut tiled, mut report) = (0, String::new());
        let (first, count) = (first_seed(), cases(count));
        let without_subgroups = support::without_subgroups(target.clone());
        for seed in first..first + count {
            let text = program(seed);
            match check(device, if seed % 2 == 0 { &target } else { &without_subgroups }, &text) {
                Ok(is_tiled) => tiled += u64::from(is_tiled),
                Err(why) => writeln!(report, "seed {seed}: {why}\n{text}").unwrap(),
            }
        }
        assert!(report.is_empty(), "{schedule}: {report}");
        assert!(tiled * of >= count * least, "{schedule}: {tiled} of {count} have tiles");
    }
}

#[test]
fn dots_agree_with_the_evaluator() {
    agree(&support::device(), |seed| random(seed, &TYPES), 12, 2, 5);
}

#[test]
fn dots_of_several_registers_agree_with_the_evaluator() {
    let device = support::device();
    agree(&device, |seed| random(seed, wide(&device)), 12, 2, 5);
}

/// Weights of 8 and of 4 bits, with a scale for each column and a zero point, and tiles of their products.
#[test]
fn products_of_weights_of_few_bits_agree_with_the_evaluator() {
    let device = support::device();
    for (weights, depth) in [("s8", 64), ("u8", 33), ("s4", 65), ("u4", 64)] {
        let text = format!(
            "HloModule m\nENTRY e {{\n  x = f32[48,{depth}] parameter(0)\n  w = {weights}[{depth},64] parameter(1)\n  s = f32[64] parameter(2)\n  \
             z = f32[64] parameter(3)\n  f = f32[{depth},64] convert(w)\n  zs = f32[{depth},64] broadcast(z), dimensions={{1}}\n  \
             c = f32[{depth},64] subtract(f, zs)\n  ss = f32[{depth},64] broadcast(s), dimensions={{1}}\n  v = f32[{depth},64] multiply(c, ss)\n  \
             ROOT d = f32[48,64] dot(x, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n"
        );
        for schedule in Schedule::ALL {
            let target = of_few_cores(&device, schedule);
            let is_tiled = check(&device, &target, &text).unwrap_or_else(|why| panic!("{schedule}: {why}"));
            assert!(is_tiled, "{schedule}: {text}");
        }
    }
}

/// A sum begins with zero, so that of negative zeros is no negative one.
#[test]
fn sums_of_negative_zeros_are_zero() {
    let device = support::device();
    let convolution = |features: i64, groups: i64| {
        let (of_group, window) = (features / groups, "size=1x4 pad=0_0x1_2");
        format!(
            "a = f32[2,4,4,{features}] parameter(0)\n  b = f32[1,4,{of_group},8] parameter(1)\n  ROOT c = f32[2,4,4,8] convolution(a, b), \
             window={{{window}}}, dim_labels=b01f_01io->b01f, feature_group_count={groups}"
        )
    };
    let dot = "a = f32[16,4] parameter(0)\n  b = f32[4,16] parameter(1)\n  \
               ROOT c = f32[16,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    for body in [dot.to_owned(), convolution(4, 4), convolution(2, 2), convolution(3, 1), convolution(8, 1)] {
        let module = &support::module(&format!("HloModule m\nENTRY e {{\n  {body}\n}}\n"));
        let mut arguments = inputs(module, 1, &Options { numbers: Numbers::Tame, ..Options::default() });
        for (argument, value) in arguments.iter_mut().zip([-1.0, 0.0]) {
            let Data::F32(values) = &mut argument.data else { panic!("{body}") };
            values.fill(value);
        }
        for schedule in Schedule::ALL {
            let target = device.target().clone().with(|target| target.schedule = Some(schedule));
            let executable = Executable::new(&device, compile(module, &target).unwrap()).unwrap();
            let results = executable.run(&arguments).unwrap();
            let Data::F32(values) = &results[0].data else { panic!("{body}") };
            assert!(values.iter().all(|value| value.to_bits() == 0), "{schedule}: {values:?}\n{body}");
        }
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
    let sizes = target.features.subgroup.filter(|sizes| sizes.min == sizes.max && matches!(sizes.min, 4 | 8));
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

/// Where registers are few tiles have half as many rows again, and the last rows a tile of their own.
#[test]
fn taller_tiles_of_few_registers_agree_with_the_evaluator() {
    let device = support::device();
    let target = device.target().clone().with(|target| {
        target.schedule = Some(Schedule::Software);
        target.hardware.few_registers = true;
    });
    let members = target.features.subgroup.map_or(1, |sizes| i64::from(sizes.min));
    let text = "HloModule m\nENTRY e {\n  a = f32[199,160] parameter(0)\n  b = f32[160,256] parameter(1)\n  \
                ROOT d = f32[199,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
    let fused = fuse(&support::module(text), &target).unwrap_or_else(|findings| panic!("{findings}"));
    let rows = fused.module.computations.ids().find_map(|id| match fused.plan(id)?.emitter() {
        Emitter::Product(product) => Some(product.tile[0]),
        _ => None,
    });
    assert!(rows.is_some_and(|rows| rows > 4 * members && 199 % rows != 0), "{rows:?}");
    check(&device, &target, text).unwrap_or_else(|why| panic!("{why}"));
}

/// A card of one core.
fn small_card(device: &Device) -> Target {
    device.target().clone().with(|target| {
        (target.kind, target.schedule, target.hardware.cores) = (DeviceKind::Discrete, Some(Schedule::Gpu), 1);
    })
}

/// Convolutions whose windows cover too little have large tiles as well, and none that are read ahead.
#[test]
fn large_tiles_of_convolutions_are_not_read_ahead() {
    let device = support::device();
    let target = small_card(&device);
    let text = "HloModule m\nENTRY e {\n  x = f32[2,16,16,8] parameter(0)\n  w = f32[3,3,8,136] parameter(1)\n  \
                ROOT y = f32[2,16,16,136] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f\n}\n";
    let fused = fuse(&support::module(text), &target).unwrap_or_else(|findings| panic!("{findings}"));
    let plans = fused.module.computations.ids().filter_map(|id| fused.plan(id));
    let is_meant =
        plans.filter(|plan| matches!(plan.emitter(), Emitter::Product(it) if !it.ahead && it.tile == [8, 8]));
    assert_eq!(is_meant.count(), 1, "{}", fused.module);
    check(&device, &target, text).unwrap_or_else(|why| panic!("{why}"));
}

/// Invocations with 8 by 8 results, whose tiles are read ahead: on a card, which the device is taken for, of so few cores that these dots have workgroups enough. Rows, columns and products that fill no tile, operands either of
/// which has side by side what is contracted, and what is computed of the sums.
#[test]
fn large_tiles_are_read_ahead() {
    let device = support::device();
    let target = small_card(&device);
    for ([rows, depth, columns], is_deep) in
        [([388, 24, 140], [true, false]), ([386, 33, 129], [true, true]), ([398, 17, 132], [false, false])]
    {
        let shape = |along: usize, is_deep: bool| match is_deep {
            true => (format!("f32[{along},{depth}]"), 1),
            false => (format!("f32[{depth},{along}]"), 0),
        };
        let ((a, of_a), (b, of_b)) = (shape(rows, is_deep[0]), shape(columns, is_deep[1]));
        let text = format!(
            "HloModule m\nENTRY e {{\n  a = {a} parameter(0)\n  b = {b} parameter(1)\n  c = f32[{columns}] parameter(2)\n  \
             d = f32[{rows},{columns}] dot(a, b), lhs_contracting_dims={{{of_a}}}, rhs_contracting_dims={{{of_b}}}\n  \
             w = f32[{rows},{columns}] broadcast(c), dimensions={{1}}\n  ROOT r = f32[{rows},{columns}] add(d, w)\n}}\n"
        );
        let fused = fuse(&support::module(&text), &target).unwrap_or_else(|findings| panic!("{findings}"));
        let plans = fused.module.computations.ids().filter_map(|id| fused.plan(id));
        let is_large =
            plans.filter(|plan| matches!(plan.emitter(), Emitter::Product(it) if it.ahead && it.tile == [8, 8]));
        assert_eq!(is_large.count(), 1, "{text}");
        check(&device, &target, &text).unwrap_or_else(|why| panic!("{why}"));
    }
}

/// The tiles of the products of a module.
fn products(module: &Module, target: &Target) -> Vec<Product> {
    let fused = fuse(module, target).unwrap_or_else(|findings| panic!("{findings}"));
    let of = |id| match fused.plan(id)?.emitter() {
        Emitter::Product(product) => Some(product),
        _ => None,
    };
    fused.module.computations.ids().filter_map(of).collect()
}

/// The shapes of tiles of each maker, on a device of one core that is taken for one of theirs: rows, columns and products that fill none, vectors and none, and windows.
#[test]
fn tiles_of_all_makers_agree_with_the_evaluator() {
    let device = support::device();
    let dot = |rows: usize, depth: usize, columns: usize| {
        format!(
            "  a = f32[{rows},{depth}] parameter(0)\n  b = f32[{columns},{depth}] parameter(1)\n  c = f32[{columns}] parameter(2)\n  \
             d = f32[{rows},{columns}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n  \
             w = f32[{rows},{columns}] broadcast(c), dimensions={{1}}\n  ROOT r = f32[{rows},{columns}] add(d, w)\n"
        )
    };
    let window = "  x = f32[2,9,12,6] parameter(0)\n  w = f32[3,3,6,20] parameter(1)\n  ROOT y = f32[2,9,12,20] convolution(x, w), \
                  window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f\n";
    let programs = [dot(72, 40, 136), dot(37, 67, 33), dot(7, 33, 64), window.to_owned()];
    for (place, (vendor, kind, tile, few, owner)) in [
        (Vendor::Apple, DeviceKind::Integrated, [4, 4], [4, 4], TileOwner::Invocation),
        (Vendor::Arm, DeviceKind::Integrated, [6, 4], [4, 4], TileOwner::Invocation),
        (Vendor::Qualcomm, DeviceKind::Integrated, [12, 4], [7, 4], TileOwner::Invocation),
        (Vendor::Amd, DeviceKind::Discrete, [8, 4], [7, 4], TileOwner::Workgroup),
        (Vendor::Unknown, DeviceKind::Unknown, [4, 4], [1, 4], TileOwner::Workgroup),
    ]
    .into_iter()
    .enumerate()
    {
        let target = device.target().clone().with(|target| {
            (target.vendor, target.kind, target.schedule) = (vendor, kind, Some(Schedule::Gpu));
            (target.hardware.cores, target.hardware.lanes_per_core) = (1, 8);
            target.features.subgroup = target.features.subgroup.map(|_| Subgroups { min: 4, max: 64 });
        });
        for number in [0, 1 + place % 3] {
            let program = &programs[number];
            let text = format!("HloModule m\nENTRY e {{\n{program}}}\n");
            let found = products(&support::module(&text), &target);
            let [product] = found[..] else { panic!("{vendor}: {found:?}\n{text}") };
            assert_eq!(product.tiles, owner, "{vendor}: {product}");
            let wanted = [Some(tile), None, Some(few), None][number];
            assert!(wanted.is_none_or(|wanted| wanted == product.tile), "{vendor}: {product}");
            check(&device, &target, &text).unwrap_or_else(|why| panic!("{vendor}: {why}"));
        }
    }
}

/// Dots of numbers of 8 bits, and fewer, add four products at a time: words that lie in an operand as they are, those that are put together of rows, sums of any number of products, types of either sign, and
/// numbers that have been converted first.
#[test]
fn numbers_of_8_bits_are_multiplied_four_at_a_time() {
    let device = support::device();
    let gpu = device.target().clone().with(|target| target.schedule = Some(Schedule::Gpu));
    let apple = gpu.clone().with(|target| target.vendor = Vendor::Apple);
    let card = small_card(&device);
    for (target, [x, y, sums], [rows, depth, columns], is_deep, is_converted, word) in [
        (&gpu, ["s8", "s8", "s32"], [33, 40, 24], true, false, "s8"),
        (&gpu, ["s8", "s8", "s32"], [18, 41, 20], false, true, "s8"),
        (&gpu, ["u8", "u8", "u32"], [8, 64, 17], true, true, "u8"),
        (&gpu, ["u8", "u4", "s32"], [20, 24, 16], false, false, "u8"),
        (&apple, ["s8", "s8", "s32"], [37, 36, 24], true, true, "s8"),
        (&card, ["s8", "s8", "s32"], [132, 72, 136], true, false, "s8"),
    ] {
        let (b, of_b) = if is_deep { (format!("[{columns},{depth}]"), 1) } else { (format!("[{depth},{columns}]"), 0) };
        let (p, q) = if is_converted { ("m", "n") } else { ("a", "b") };
        let text = format!(
            "HloModule m\nENTRY e {{\n  a = {x}[{rows},{depth}] parameter(0)\n  b = {y}{b} parameter(1)\n  \
                 m = {sums}[{rows},{depth}] convert(a)\n  n = {sums}{b} convert(b)\n  \
                 d = {sums}[{rows},{columns}] dot({p}, {q}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{of_b}}}\n  \
                 ROOT r = {sums}[{rows},{columns}] negate(d)\n}}\n"
        );
        let module = &support::module(&text);
        let found = products(module, target);
        let packed: Vec<String> = found.iter().filter_map(|it| it.packed).map(|ty| ty.to_string()).collect();
        assert_eq!(packed, [word], "{found:?}\n{text}");
        let arguments = inputs(module, 1, &Options { numbers: Numbers::Any, ..Options::default() });
        let program = compile(module, target).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for shader in program.shaders() {
            assert!(shader.proofs().are_complete(), "{:?}\n{text}\n{}", shader.proofs(), shader.source);
        }
        let source = &program.shaders()[0].source;
        // What lies in words is read as it is.
        let is_whole = is_deep && x == y;
        assert_eq!(source.contains("& vec4<u32>(255u)") || source.contains("& 255u"), !is_whole, "{text}\n{source}");
        let expected = evaluate(module, &arguments).unwrap_or_else(|error| panic!("{error}"));
        let executable = Executable::new(&device, program.clone()).unwrap_or_else(|error| panic!("{error}"));
        let results = executable.run(&arguments).unwrap_or_else(|error| panic!("{error}"));
        assert!(results == expected, "{text}\n{source}");
    }
}

/// On GPUs dots with few results are cut into stretches, and those with vectors are reductions.
#[test]
fn dots_with_few_results_agree_with_the_evaluator() {
    let device = support::device();
    let target = device.target().clone().with(|target| target.schedule = Some(Schedule::Gpu));
    for (a, b, d, ty) in [
        ("[16,2048]", "[2048,24]", "[16,24]", "f32"),
        ("[5,4096]", "[4096,12]", "[5,12]", "s32"),
        ("[96,200]", "[200]", "[96]", "f32"),
        ("[1,300]", "[300,77]", "[1,77]", "bf16"),
        ("[333]", "[333]", "[]", "s32"),
        ("[24,1024]", "[1024,16]", "[24,16]", "s64"),
        ("[65,300]", "[300]", "[65]", "c64"),
    ] {
        let contracted = a.matches(',').count();
        let text = format!(
            "HloModule m\nENTRY e {{\n  a = {ty}{a} parameter(0)\n  b = {ty}{b} parameter(1)\n  \
             ROOT d = {ty}{d} dot(a, b), lhs_contracting_dims={{{contracted}}}, rhs_contracting_dims={{0}}\n}}\n"
        );
        let fused = fuse(&support::module(&text), &target).unwrap_or_else(|findings| panic!("{findings}"));
        assert!(fused.decisions.iter().any(|decision| decision.verdict == Verdict::Rewritten), "{text}");
        check(&device, &target, &text).unwrap_or_else(|why| panic!("{why}"));
    }
}
