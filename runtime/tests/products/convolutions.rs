//! Convolutions as sums of products, by either schedule, against the evaluator.

use super::{TYPES, agree, check, list, of_few_cores, tiled, wide};
use crate::support::{self, compile};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Complex, Data, Literal};
use weft_hlo::random::{Numbers, Options, Rng, inputs};
use weft_partition::{Schedule, fuse};
use weft_runtime::Executable;

/// A convolution of random dimensions in random order, if asked for of groups of few features.
fn random_convolution(seed: u64, types: &[[&str; 3]], of_few: bool) -> String {
    let mut rng = Rng::new(seed);
    let [left, right, result] = types[rng.below(types.len())];
    let space = if of_few { [1, 2, 2, 2, 3, 4][rng.below(6)] } else { [0, 1, 2, 2, 2, 3, 4][rng.below(7)] };
    let groups = [1, 1, 1, 2, 3][rng.below(5)];
    let of_batch = rng.below(3) == 0;
    let is_spread = rng.below(6) == 0;
    let features = [1, 2, 3, 4, 5, 8, 16, 22, 25][rng.below(9)];
    let outputs = [1, 4, 5, 8, 16, 17, 20, 24][rng.below(8)];
    let (groups, features, outputs) = match of_few {
        false => (groups, features, outputs),
        true => ([1, 2, 4, 6, 8, 12][rng.below(6)], [1, 1, 1, 2, 3][rng.below(5)], [1, 1, 1, 2, 3][rng.below(5)]),
    };
    let batch = 1 + rng.below(3);
    let mut order = |seed: usize| -> Vec<usize> {
        let mut order: Vec<usize> = (0..space + 2).collect();
        match rng.below(4) {
            0 => {}
            1 => order.rotate_left(1),
            2 => order[1..].rotate_left(1),
            _ => rng.shuffle(&mut order),
        }
        if seed == 2 && rng.below(2) == 0 {
            order = (0..space + 2).collect();
        }
        order
    };
    let orders = [order(0), order(1), order(2)];
    let (mut inputs, mut kernel, mut results) = (Vec::new(), Vec::new(), Vec::new());
    let mut window: [Vec<String>; 6] = Default::default();
    for _ in 0..space {
        let (size, stride) = (1 + rng.below(4), 1 + rng.below(3));
        let (dilation, base) = (1 + rng.below(3) / 2, 1 + usize::from(is_spread && rng.below(2) == 0));
        let extent = [1, 2, 7, 5, 9, 12, 8, 13][rng.below([8, 8, 8, 4, 2][space])];
        let reach = (size - 1) * dilation + 1;
        let spread = (extent - 1) * base + 1;
        let low = rng.below(reach + 2) as i64 - 2;
        let high = rng.below(reach + 2) as i64 - 2;
        // A window that covers places beyond the input alone has results, too.
        let high = high.max(reach as i64 - spread as i64 - low);
        let places = (spread as i64 + low + high - reach as i64) / stride as i64 + 1;
        inputs.push(extent);
        kernel.push(size);
        results.push(usize::try_from(places).unwrap());
        window[0].push(size.to_string());
        window[1].push(stride.to_string());
        window[2].push(format!("{low}_{high}"));
        window[3].push(base.to_string());
        window[4].push(dilation.to_string());
        window[5].push(rng.below(2).to_string());
    }
    let names = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"];
    let window: Vec<String> =
        names.iter().zip(&window).map(|(name, all)| format!("{name}={}", all.join("x"))).collect();
    // Dimensions by their roles: the first, the second, space.
    let shape = |ty: &str, order: &[usize], first: usize, second: usize, rest: &[usize]| {
        let all: Vec<usize> = [first, second].into_iter().chain(rest.iter().copied()).collect();
        let extents: Vec<usize> = order.iter().map(|role| all[*role]).collect();
        format!("{ty}[{}]", list(&extents))
    };
    let label = |order: &[usize], names: [&str; 2]| -> String {
        order.iter().map(|role| if *role < 2 { names[*role].to_owned() } else { (role - 2).to_string() }).collect()
    };
    let labels = format!(
        "{}_{}->{}",
        label(&orders[0], ["b", "f"]),
        label(&orders[1], ["i", "o"]),
        label(&orders[2], ["b", "f"])
    );
    let (input_batch, input_features) = if of_batch { (batch * groups, features) } else { (batch, features * groups) };
    let a = shape(left, &orders[0], input_batch, input_features, &inputs);
    let b = shape(right, &orders[1], features, outputs * groups, &kernel);
    let c = shape(result, &orders[2], batch, outputs * groups, &results);
    let groups = format!("{}_group_count={groups}", if of_batch { "batch" } else { "feature" });
    let window = if space == 0 { String::new() } else { format!("window={{{}}}, ", window.join(" ")) };
    format!(
        "HloModule m\nENTRY e {{\n  a = {a} parameter(0)\n  b = {b} parameter(1)\n  \
         ROOT c = {c} convolution(a, b), {window}dim_labels={labels}, {groups}\n}}\n"
    )
}

#[test]
fn convolutions_agree_with_the_evaluator() {
    agree(&support::device(), |seed| random_convolution(seed, &TYPES, false), 16, 1, 6);
}

#[test]
fn convolutions_of_several_registers_agree_with_the_evaluator() {
    let device = support::device();
    agree(&device, |seed| random_convolution(seed, wide(&device), false), 12, 1, 6);
}

/// Depthwise convolutions, those of groups of two or three features, and of one group.
#[test]
fn convolutions_of_few_features_agree_with_the_evaluator() {
    agree(&support::device(), |seed| random_convolution(seed, &TYPES, true), 16, 1, 4);
}

/// Kernels whose features do not lie side by side are transposed first where invocations read for themselves, and what reads them is tiles.
#[test]
fn kernels_of_convolutions_are_transposed_once() {
    let device = support::device();
    let target = device.target().clone().with(|target| target.schedule = Some(Schedule::Software));
    for (x, w, y, labels) in [
        ("[1,12,16,16]", "[64,12,3,3]", "[1,64,16,16]", "bf01_oi01->bf01"),
        ("[1,16,16,12]", "[3,3,64,12]", "[1,16,16,64]", "b01f_01oi->b01f"),
    ] {
        let text = format!(
            "HloModule m\nENTRY e {{\n  x = f32{x} parameter(0)\n  w = f32{w} parameter(1)\n  n = f32{w} negate(w)\n  \
             ROOT y = f32{y} convolution(x, n), window={{size=3x3 pad=1_1x1_1}}, dim_labels={labels}\n}}\n"
        );
        let fused = fuse(&support::module(&text), &target).unwrap_or_else(|findings| panic!("{findings}"));
        assert_eq!((fused.fusions().count(), tiled(&support::module(&text), &target)), (2, 1), "{}", fused.module);
        check(&device, &target, &text).unwrap_or_else(|why| panic!("{why}"));
    }
}

/// Sets the first number and the last one.
fn set_ends(data: &mut Data, [first, last]: [f32; 2]) {
    fn set<T>(values: &mut [T], [first, last]: [T; 2]) {
        let end = values.len() - 1;
        (values[0], values[end]) = (first, last);
    }
    match data {
        Data::F32(values) => set(values, [first, last]),
        Data::F64(values) => set(values, [first, last].map(f64::from)),
        Data::C64(values) => set(values, [first, last].map(|number| Complex::new(number, 0.0))),
        data => panic!("{data:?} are no floats"),
    }
}

/// The numbers, of complex ones both parts.
fn parts(data: &Data) -> Vec<f64> {
    match data {
        Data::F32(values) => values.iter().map(|value| f64::from(*value)).collect(),
        Data::F64(values) => values.clone(),
        Data::C64(values) => values.iter().flat_map(|value| [value.re, value.im].map(f64::from)).collect(),
        data => panic!("{data:?} are no floats"),
    }
}

/// Where a window covers no element there is no product: not of what is no number, nor of infinity.
#[test]
fn nothing_is_multiplied_where_a_window_covers_nothing() {
    let device = support::device();
    for (input, kernel, result, labels, window) in [
        ("f32[1,6,7,8]", "f32[3,3,8,16]", "f32[1,6,7,16]", "b01f_01io->b01f", "size=3x3 pad=1_1x1_1"),
        ("f32[1,3,6,7]", "f32[16,3,3,3]", "f32[1,16,6,7]", "bf01_oi01->bf01", "size=3x3 pad=1_1x1_1"),
        ("c64[1,6,7,8]", "c64[3,3,8,16]", "c64[1,6,7,16]", "b01f_01io->b01f", "size=3x3 pad=1_1x1_1"),
        ("c64[2,9,12,3]", "c64[5,4,3,64]", "c64[2,5,6,64]", "b01f_01io->b01f", "size=5x4 stride=2x2 pad=2_2x1_1"),
        ("f64[1,6,7,8]", "f64[3,3,8,16]", "f64[1,6,7,16]", "b01f_01io->b01f", "size=3x3 pad=1_1x1_1"),
        ("f32[2,5,8]", "f32[3,8,4]", "f32[2,10,4]", "b0f_0io->b0f", "size=3 pad=1_2 lhs_dilate=2"),
        ("f32[2,9,12,3]", "f32[5,4,3,64]", "f32[2,5,6,64]", "b01f_01io->b01f", "size=5x4 stride=2x2 pad=2_2x1_1"),
        ("f32[1,10,48,3]", "f32[5,4,3,64]", "f32[1,5,24,64]", "b01f_01io->b01f", "size=5x4 stride=2x2 pad=2_2x1_1"),
        ("f32[2,9,12,2]", "f32[5,4,2,64]", "f32[2,5,6,64]", "b01f_01io->b01f", "size=5x4 stride=2x2 pad=2_2x1_1"),
        ("f32[2,9,12,2]", "f32[3,3,2,64]", "f32[2,9,12,64]", "b01f_01io->b01f", "size=3x3 pad=1_1x1_1"),
        ("f32[2,9,12,10]", "f32[5,4,10,64]", "f32[2,5,6,64]", "b01f_01io->b01f", "size=5x4 stride=2x2 pad=2_2x1_1"),
        ("f32[2,9,12,13]", "f32[5,4,13,64]", "f32[2,5,6,64]", "b01f_01io->b01f", "size=5x4 stride=2x2 pad=2_2x1_1"),
        (
            "f32[1,6,7,8]",
            "f32[3,3,1,8]",
            "f32[1,6,7,8]",
            "b01f_01io->b01f, feature_group_count=8",
            "size=3x3 pad=1_1x1_1",
        ),
    ] {
        let text = format!(
            "HloModule m\nENTRY e {{\n  a = {input} parameter(0)\n  b = {kernel} parameter(1)\n  \
             ROOT c = {result} convolution(a, b), window={{{window}}}, dim_labels={labels}\n}}\n"
        );
        if input.starts_with("f64") && !device.target().features.shader_f64 {
            continue;
        }
        let module = &support::module(&text);
        let mut arguments = inputs(module, 1, &Options { numbers: Numbers::Tame, ..Options::default() });
        // The first element of the kernel's window, and one of its last.
        set_ends(&mut arguments[1].data, [f32::INFINITY, f32::NAN]);
        let expected = evaluate(module, &arguments).unwrap();
        for schedule in Schedule::ALL {
            let target = of_few_cores(&device, schedule);
            assert!(tiled(module, &target) > 0, "{schedule}: {text}");
            let program = compile(module, &target).unwrap();
            assert!(program.shaders().iter().all(|shader| shader.proofs().are_complete()), "{schedule}: {text}");
            let executable = Executable::new(&device, program).unwrap();
            let results = executable.run(&arguments).unwrap();
            let kinds = |literal: &Literal| -> Vec<Option<f64>> {
                parts(&literal.data).into_iter().map(|value| (!value.is_nan()).then_some(value)).collect()
            };
            assert_eq!(kinds(&results[0]), kinds(&expected[0]), "{schedule}: {text}");
        }
    }
}
