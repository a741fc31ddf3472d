//! Long reductions, in one pass with several accumulators or in two, against the evaluator and against sums of `f64`.

use crate::count::cases;
use crate::support::compile;
use crate::support::{device, module};
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Complex, Data, ElementType, FloatFormat, Literal, Module, Scalar};
use weft_hlo::random::Rng;
use weft_partition::Form;
use weft_runtime::{Device, Executable};

/// The device of a test: drivers in software compile for one device after the other, and some take long to open one.
fn own() -> &'static Device {
    thread_local! {
        static DEVICE: &'static Device = Box::leak(Box::new(device()));
    }
    DEVICE.with(|device| *device)
}

fn run(module: &Module, inputs: &[Literal]) -> Literal {
    run_all(module, inputs).swap_remove(0)
}

fn run_all(module: &Module, inputs: &[Literal]) -> Vec<Literal> {
    let program = compile(module, own().target()).unwrap_or_else(|error| panic!("{error}"));
    let executable = Executable::new(own(), program).unwrap_or_else(|error| panic!("{error}"));
    executable.run(inputs).unwrap_or_else(|error| panic!("{error}"))
}

/// A reduction of an array by one operation, from an initial value that is an input.
fn reduction(element_type: &str, op: &str, extents: &[i64], dimensions: &[i64]) -> Module {
    let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let left: Vec<i64> =
        (0i64..).zip(extents).filter(|(own, _)| !dimensions.contains(own)).map(|(_, extent)| *extent).collect();
    module(&format!(
        "HloModule m\nregion {{\n  a = {element_type}[] parameter(0)\n  b = {element_type}[] parameter(1)\n  \
         ROOT r = {element_type}[] {op}(a, b)\n}}\nENTRY main {{\n  x = {element_type}[{}] parameter(0)\n  \
         i = {element_type}[] parameter(1)\n  ROOT r = {element_type}[{}] reduce(x, i), dimensions={{{}}}, \
         to_apply=region\n}}\n",
        list(extents),
        list(&left),
        list(dimensions)
    ))
}

/// Extents, and dimensions that disappear: one pass and two, even and uneven, stretches of dimensions and single ones.
const SHAPES: [(&[i64], &[i64]); 16] = [
    (&[64], &[0]),
    (&[79], &[0]),
    (&[15, 9], &[0, 1]),
    (&[5, 100], &[1]),
    (&[100, 5], &[0]),
    (&[3, 17, 40], &[0, 2]),
    (&[4096], &[0]),
    (&[4097], &[0]),
    (&[8192], &[0]),
    (&[10_007], &[0]),
    (&[3, 5000], &[1]),
    (&[5000, 3], &[0]),
    (&[70, 2, 90], &[0, 2]),
    (&[2, 70, 90], &[1, 2]),
    (&[70, 90, 2, 3], &[0, 1, 3]),
    (&[0, 9], &[0]),
];

/// Every two of a shape, an operation and a type; all three together in the long run.
#[test]
fn reductions_of_integers_and_truth_values_agree_exactly() {
    let is_long = cases(1) > 1;
    let (mut rng, mut wrong) = (Rng::new(11), String::new());
    let mut integer = |count: i64| -> Vec<u32> { (0..count).map(|_| (rng.next_u64() >> 32) as u32).collect() };
    for (row, (extents, dimensions)) in SHAPES.into_iter().enumerate() {
        let count = extents.iter().product();
        for (column, op) in ["add", "multiply", "minimum", "maximum", "and", "or", "xor"].into_iter().enumerate() {
            let (bits, init) = (integer(count), integer(1)[0]);
            // Products stay apart from zero.
            let bits: Vec<u32> = bits.into_iter().map(|bits| if op == "multiply" { bits | 1 } else { bits }).collect();
            let signed: Vec<i32> = bits.iter().map(|bits| bits.cast_signed()).collect();
            let truth: Vec<bool> = bits.iter().map(|bits| bits % 64 == 3).collect();
            let cases = [
                ("u32", Data::from(bits.clone()), Data::from(vec![init])),
                ("s32", Data::from(signed), Data::from(vec![init.cast_signed()])),
                ("pred", Data::from(truth), Data::from(vec![init % 2 == 0])),
            ];
            for (place, (element_type, data, init)) in cases.into_iter().enumerate() {
                if !is_long && (row + column + place) % 3 != 0 {
                    continue;
                }
                let module = reduction(element_type, op, extents, dimensions);
                let program = module.entry_computation();
                let parameters: Vec<_> =
                    program.parameters().iter().map(|id| program.instructions[*id].shape.clone()).collect();
                let inputs = [
                    Literal { shape: parameters[0].clone(), data },
                    Literal { shape: parameters[1].clone(), data: init },
                ];
                let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}")).swap_remove(0);
                let found = run(&module, &inputs);
                if expected.data != found.data {
                    writeln!(
                        wrong,
                        "{op} of {element_type}{extents:?} along {dimensions:?}: {expected:?} became {found:?}"
                    )
                    .expect("strings can be written to");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Dimensions that disappear on both sides of one that stays, before many that stay: one of them is divided after the other.
#[test]
fn long_columns_of_several_dimensions_agree_exactly() {
    let device = device();
    let first = "  ROOT r = s32[] add(a, b)\n";
    // The first of two that are not the least number: it does not commute.
    let chosen = "  m = s32[] constant(-2147483648)\n  c = pred[] compare(a, m), direction=NE\n  ROOT r = s32[] select(c, a, b)\n";
    let cases =
        [([16, 4, 16, 256], "0,2"), ([32, 4, 32, 256], "0,2"), ([2, 4, 600, 256], "0,2"), ([65, 1, 64, 256], "0,1,2")];
    for (extents, reduced) in cases {
        for (region, initial) in [(first, "0"), (chosen, "-2147483648")] {
            let [a, b, c, d] = extents;
            let left = if reduced == "0,2" { format!("{b},{d}") } else { format!("{d}") };
            let text = format!(
                "HloModule m\nf {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n{region}}}\n\
                 ENTRY main {{\n  x = s32[{a},{b},{c},{d}] parameter(0)\n  z = s32[] constant({initial})\n  \
                 ROOT r = s32[{left}] reduce(x, z), dimensions={{{reduced}}}, to_apply=f\n}}"
            );
            let module = weft_hlo::text::parse(&text).unwrap_or_else(|found| panic!("{found}"));
            let numbers: Vec<i32> = (0..a * b * c * d).map(|at| (at * 7919 % 10_007) as i32).collect();
            let inputs = [Literal::array(extents, numbers)];
            let expected = weft_hlo::eval::evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
            let program = compile(&module, device.target()).unwrap_or_else(|found| panic!("{text}: {found}"));
            let actual = Executable::new(&device, program).and_then(|program| program.run(&inputs));
            assert_eq!(actual.unwrap_or_else(|found| panic!("{text}: {found}")), expected, "{text}");
        }
    }
}

/// Columns that are long and far apart, with a dimension before them, of no multiple of anything, and with more computed before and behind.
#[test]
fn long_columns_agree_exactly() {
    let mut rng = Rng::new(16);
    for (extents, dimensions, op) in [
        ([1024i64, 256].as_slice(), 0i64, "add"),
        (&[1031, 257], 0, "maximum"),
        (&[3, 300, 300], 1, "xor"),
        (&[300, 1003], 0, "add"),
    ] {
        let count = extents.iter().product();
        let values: Vec<i32> = (0..count).map(|_| (rng.next_u64() >> 32) as i32).collect();
        let inputs = [Literal::array(extents, values), Literal::scalar(Scalar::S32(9))];
        let module = reduction("s32", op, extents, &[dimensions]);
        let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}")).swap_remove(0);
        assert_eq!(run(&module, &inputs), expected, "{op} of {extents:?} along {dimensions}");
    }
    let module = module(
        "HloModule m\nregion {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] add(a, b)\n}\nENTRY main {\n  \
         x = s32[520,512] parameter(0)\n  w = s32[512] parameter(1)\n  b = s32[520,512] broadcast(w), dimensions={1}\n  \
         p = s32[520,512] multiply(x, b)\n  z = s32[] constant(3)\n  \
         s = s32[512] reduce(p, z), dimensions={0}, to_apply=region\n  t = s32[512] subtract(w, s)\n  \
         ROOT r = (s32[512], s32[512]) tuple(t, s)\n}\n",
    );
    let mut values = |count: i64| -> Vec<i32> { (0..count).map(|_| (rng.next_u64() >> 32) as i32).collect() };
    let inputs = [Literal::array([520, 512], values(520 * 512)), Literal::array([512], values(512))];
    let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(run_all(&module, &inputs), expected);
}

/// What a float reduction makes of values that no order changes: small integers, and once NaN or zeros of a sign.
#[test]
fn reductions_of_floats_keep_exact_values() {
    let mut rng = Rng::new(12);
    for (extents, dimensions) in SHAPES {
        let count: i64 = extents.iter().product();
        let small: Vec<f32> = (0..count).map(|_| rng.between(-8, 8) as f32).collect();
        let zeros = vec![-0.0; small.len()];
        let mut with_nan = small.clone();
        if let Some(last) = with_nan.last_mut() {
            *last = f32::NAN;
        }
        for op in ["add", "minimum", "maximum"] {
            for (values, init) in [(&small, 3.0), (&zeros, -0.0), (&zeros, 0.0), (&with_nan, 0.0)] {
                let module = reduction("f32", op, extents, dimensions);
                let inputs =
                    [Literal::array(extents, values.clone()), Literal::scalar(weft_hlo::ir::Scalar::F32(init))];
                let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}")).swap_remove(0);
                let (expected, found) = (bits(&expected), bits(&run(&module, &inputs)));
                assert_eq!(expected, found, "{op} of f32{extents:?} along {dimensions:?} from {init:?}");
            }
        }
    }
}

/// Of ones in a narrow type, whose sum would stay where the next one is rounded away: what is summed up is of `f32`, and rounded once.
#[test]
fn sums_of_narrow_floats_are_rounded_once() {
    for (ty, element_type) in [("f16", ElementType::F16), ("bf16", ElementType::Bf16), ("f8e5m2", ElementType::F8E5M2)]
    {
        for (extents, dimensions) in [([2, 5120], [1i64]), ([5120, 2], [0])] {
            let module = reduction(ty, "add", &extents, &dimensions);
            let ones = Literal::array(extents, Data::filled(scalar(element_type, 1.0), 2 * 5120));
            let found = run(&module, &[ones, Literal::scalar(scalar(element_type, 0.0))]);
            let expected = Data::filled(scalar(element_type, 5120.0), 2);
            assert_eq!(found.data, expected, "{ty}{extents:?} along {dimensions:?}");
        }
    }
}

/// The same of constants.
#[test]
fn sums_of_narrow_constants_are_rounded_once() {
    let module = module(
        "HloModule m\nsum {\n  a = f8e4m3[] parameter(0)\n  b = f8e4m3[] parameter(1)\n  ROOT c = f8e4m3[] add(a, b)\n}\n\
         ENTRY main {\n  a = f8e4m3[2] constant({6.5, 0.5})\n  z = f8e4m3[] constant(2)\n  \
         ROOT r = f8e4m3[] reduce(a, z), dimensions={0}, to_apply=sum\n}\n",
    );
    let nine = Data::filled(scalar(ElementType::F8E4M3, 9.0), 1);
    assert_eq!(run(&module, &[]).data, nine);
}

/// Elements of a type whose sums, products and orders no order of reduction changes: of sums all but a few are zero, and of products
/// one. Any bits of integers, but for products.
fn unchanging(op: &str, ty: ElementType, count: i64, rng: &mut Rng) -> Data {
    let count = usize::try_from(count).expect("a count");
    let mask = u128::MAX >> (128 - ty.bits());
    let any = |rng: &mut Rng| (u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())) & mask;
    if !ty.is_float() && !ty.is_complex() {
        let odd = u128::from(op == "multiply");
        let mut data = Data::filled(Scalar::from_bits(0, ty), count);
        for position in 0..count {
            data.set(position, Scalar::from_bits(any(rng) | odd, ty));
        }
        return data;
    }
    let number = |value: f64| scalar(ty, value);
    let (all, few) = match op {
        "add" => (0.0, [1.0, 2.0]),
        "multiply" => (1.0, [1.0, 2.0]),
        _ => (1.0, [0.5, 4.0]),
    };
    let mut data = Data::filled(number(all), count);
    for value in few.into_iter().filter(|_| count > 0) {
        data.set(rng.below(count), number(value));
    }
    data
}

/// The element of a float type, or the complex number, with a value that it has.
fn scalar(ty: ElementType, value: f64) -> Scalar {
    match ty {
        ElementType::F32 => Scalar::F32(value as f32),
        ElementType::F64 => Scalar::F64(value),
        ElementType::C64 => Scalar::C64(Complex::new(value as f32, 0.0)),
        ElementType::C128 => Scalar::C128(Complex::new(value, 0.0)),
        _ => {
            let bits = FloatFormat::of(ty).and_then(|format| format.nearest(value)).unwrap_or(0);
            Scalar::from_bits(u128::from(bits), ty)
        }
    }
}

/// Of every type, folds that are divided among accumulators and passes.
#[test]
fn reductions_of_all_types_keep_exact_values() {
    let mut rng = Rng::new(14);
    let mut wrong = String::new();
    // In one pass and in two.
    let shapes = [SHAPES[1], SHAPES[3], SHAPES[5], SHAPES[9], SHAPES[11]];
    for (number, &ty) in ElementType::ALL.iter().enumerate() {
        for (turn, op) in ["add", "multiply", "minimum", "maximum", "and", "or", "xor"].into_iter().enumerate() {
            let is_of_bits = matches!(op, "and" | "or" | "xor");
            let is_ordered = matches!(op, "minimum" | "maximum");
            let has_none = is_of_bits && (ty.is_float() || ty.is_complex()) || is_ordered && ty.is_complex();
            let lacks_zero = op == "add" && ty == ElementType::F8E8M0Fnu;
            if Form::of(ty).is_none() || has_none || lacks_zero {
                continue;
            }
            let (extents, dimensions) = shapes[(number + turn) % shapes.len()];
            let module = reduction(ty.name(), op, extents, dimensions);
            let data = unchanging(op, ty, extents.iter().product(), &mut rng);
            let init = unchanging(op, ty, 1, &mut rng);
            let inputs = [Literal::array(extents, data), Literal::array([], init)];
            let program = match compile(&module, own().target()) {
                Ok(program) => program,
                Err(error) => {
                    let is_missing = error.to_string().contains("needs features that the target does not have");
                    assert!(is_missing && matches!(ty, ElementType::F64 | ElementType::C128), "{op} of {ty}: {error}");
                    continue;
                }
            };
            let executable = Executable::new(own(), program).unwrap_or_else(|error| panic!("{error}"));
            let found = executable.run(&inputs).unwrap_or_else(|error| panic!("{error}")).swap_remove(0);
            let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}")).swap_remove(0);
            if expected.data != found.data {
                writeln!(wrong, "{op} of {ty}{extents:?} along {dimensions:?}: {expected:?} became {found:?}")
                    .expect("strings can be written to");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The bits of each element; NaN is NaN.
fn bits(literal: &Literal) -> Vec<u32> {
    let Data::F32(values) = &literal.data else { panic!("{literal:?}") };
    values.iter().map(|value| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }).collect()
}

/// More rounds than llvmpipe makes in a loop, and more than a single chain of sums could round.
#[test]
fn a_sum_of_many_numbers_is_exact_to_the_last_digits() {
    let count = 1usize << 24;
    let mut rng = Rng::new(13);
    let values: Vec<f32> = (0..count).map(|_| (rng.next_u64() >> 40) as f32 / 16_777_216.0).collect();
    let exact: f64 = values.iter().map(|value| f64::from(*value)).sum();
    for (extents, dimensions) in [(vec![1 << 24], vec![0]), (vec![1 << 12, 1 << 12], vec![0, 1])] {
        let module = reduction("f32", "add", &extents, &dimensions);
        let inputs = [Literal::array(extents, values.clone()), Literal::scalar(weft_hlo::ir::Scalar::F32(0.0))];
        let Data::F32(sum) = run(&module, &inputs).data else { panic!("the sum is of f32") };
        let error = (f64::from(sum[0]) - exact).abs() / exact;
        println!("{} is off by {error:.1e} of {exact}", sum[0]);
        assert!(error < 1e-6, "{} is off by {error:.1e} of {exact}", sum[0]);
    }
}

/// The greatest (or least) number of each row and where it is, as JAX prints `argmax` and `argmin` along the last dimension.
fn argument(value: &str, better: &str, end: &str, rows: i64, columns: i64) -> Module {
    module(&format!(
        "HloModule m\nregion {{\n  a = {value}[] parameter(0)\n  i = s32[] parameter(1)\n  b = {value}[] parameter(2)\n  \
         k = s32[] parameter(3)\n  g = pred[] compare(a, b), direction={better}\n  \
         u = pred[] compare(a, a), direction=NE\n  o = pred[] or(g, u)\n  v = {value}[] select(o, a, b)\n  \
         e = pred[] compare(a, b), direction=EQ\n  l = pred[] compare(i, k), direction=LT\n  t = pred[] and(e, l)\n  \
         w = pred[] or(o, t)\n  n = s32[] select(w, i, k)\n  ROOT r = ({value}[], s32[]) tuple(v, n)\n}}\n\
         ENTRY main {{\n  x = {value}[{rows},{columns}] parameter(0)\n  \
         i = s32[{rows},{columns}] iota(), iota_dimension=1\n  c = {value}[] constant({end})\n  z = s32[] constant(0)\n  \
         ROOT r = ({value}[{rows}], s32[{rows}]) reduce(x, i, c, z), dimensions={{1}}, to_apply=region\n}}\n"
    ))
}

/// What that is, element by element, from a value that is worse than all: the least number where the greatest is looked for.
fn arguments(values: &[f32], columns: usize, end: f32) -> (Vec<u32>, Vec<i32>) {
    let mut found = (Vec::new(), Vec::new());
    for row in values.chunks(columns) {
        let (mut best, mut at) = (end, 0);
        for (index, value) in (0i32..).zip(row) {
            let is_better = if end < 0.0 { best > *value } else { best < *value };
            let stays = is_better || best.is_nan();
            at = if stays || (best == *value && at < index) { at } else { index };
            best = if stays { best } else { *value };
        }
        found.0.push(if best.is_nan() { f32::NAN.to_bits() } else { best.to_bits() });
        found.1.push(at);
    }
    found
}

/// More elements than a device makes rounds, with ties in different parts, NaN, zeros of both signs, and nothing but the initial value.
#[test]
fn arguments_of_many_numbers_are_the_first() {
    let mut rng = Rng::new(14);
    let count = (1usize << 20) + 3;
    for (rows, columns) in [(1, count), (3, 70_001), (5, 4097)] {
        let elements = rows * columns;
        let random: Vec<f32> = (0..elements).map(|_| rng.between(-900, 900) as f32).collect();
        let ends: Vec<f32> = random.iter().map(|value| value.clamp(-800.0, 800.0)).collect();
        let mut odd = random.clone();
        for at in [columns - 1, columns / 2 + 1, columns / 2 + 777, columns / 3, columns - 1025] {
            odd[at] = f32::NAN;
        }
        let zeros = random.iter().map(|value| if *value < 0.0 { -0.0 } else { 0.0 }).collect();
        let cases = [random, ends, odd, zeros, vec![f32::NEG_INFINITY; elements], vec![f32::INFINITY; elements]];
        for (better, end, from) in [("GT", "-inf", f32::NEG_INFINITY), ("LT", "inf", f32::INFINITY)] {
            let module = argument("f32", better, end, rows as i64, columns as i64);
            for (number, values) in cases.iter().enumerate() {
                let found = run_all(&module, &[Literal::array([rows as i64, columns as i64], values.clone())]);
                let (best, places) = arguments(values, columns, from);
                assert_eq!(bits(&found[0]), best, "case {number}, {better}, {rows} by {columns}");
                assert_eq!(found[1].data, Data::from(places), "case {number}, {better}, {rows} by {columns}");
            }
        }
    }
}

/// Parts of integers are interleaved.
#[test]
fn arguments_of_many_integers_are_the_first() {
    let mut rng = Rng::new(15);
    for (rows, columns) in [(1i64, 100_003i64), (4, 4100)] {
        let values: Vec<i32> = (0..rows * columns).map(|_| rng.between(-30, 30) as i32).collect();
        let inputs = [Literal::array([rows, columns], values)];
        for (better, end) in [("GT", "-2147483648"), ("LT", "2147483647")] {
            let module = argument("s32", better, end, rows, columns);
            let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
            let expected: Vec<Data> = expected.into_iter().map(|literal| literal.data).collect();
            let found: Vec<Data> = run_all(&module, &inputs).into_iter().map(|literal| literal.data).collect();
            assert_eq!(found, expected, "{better}, {rows} by {columns}");
        }
    }
}

/// Two ways to an element that lead to the same ones over all rounds of a loop, and in each round to different ones.
#[test]
fn what_is_read_forwards_and_backwards_is_read_twice() {
    let module = module(
        "HloModule m\nregion {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] add(a, b)\n}\nENTRY main {\n  \
         x = s32[2,1,4] parameter(0)\n  i = s32[] parameter(1)\n  y = s32[2,1,4] negate(x)\n  \
         z = s32[2,1,4] reverse(y), dimensions={0,2}\n  p = s32[2,1,4] multiply(y, z)\n  \
         ROOT r = s32[] reduce(p, i), dimensions={1,2,0}, to_apply=region\n}\n",
    );
    let inputs = [Literal::array([2, 1, 4], (1i32..9).collect::<Vec<_>>()), Literal::array([], vec![7i32])];
    assert_eq!(evaluate(&module, &inputs).expect("the evaluator knows it")[0], run(&module, &inputs));
}

/// Whether sums of products are 0 modulo 2^64, which their lower 32 bits do not tell.
/// What is gathered in one of the loops of a reduction is gathered in each round anew, though indices alone tell that.
#[test]
fn what_is_gathered_within_a_reduction_varies_with_its_rounds() {
    for (around, dimensions) in [("1,3", "0,1"), ("5,3", "0,1"), ("3,5", "0,1"), ("3,1", "0,1"), ("3,1", "1,0")] {
        let rows = if around.starts_with('3') { 0 } else { 1 };
        let module = module(&format!(
            "HloModule m
             add {{
                a = s32[] parameter(0)
                b = s32[] parameter(1)
                ROOT c = s32[] add(a, b)
             }}
             ENTRY main {{
                starts = s32[3,1] parameter(0)
                table = s32[6] iota(), iota_dimension=0
                rows = s32[3] gather(table, starts), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}},
                    index_vector_dim=1, slice_sizes={{1}}
                all = s32[{around}] broadcast(rows), dimensions={{{rows}}}
                zero = s32[] constant(0)
                ROOT sum = s32[] reduce(all, zero), dimensions={{{dimensions}}}, to_apply=add
             }}"
        ));
        let starts = Literal::array([3, 1], vec![5, -1, 3]);
        let expected = evaluate(&module, std::slice::from_ref(&starts)).expect("it is evaluated").swap_remove(0);
        assert_eq!(run(&module, &[starts]).data, expected.data, "{around}");
    }
}

#[test]
fn sums_of_integers_tell_whether_they_are_zero() {
    const LEAST: i32 = i32::MIN;
    let left: [[i32; 4]; 7] = [
        [0, 0, 0, 0],
        [1 << 16, 0, 0, 0],
        [3, -3, 0, 0],
        [LEAST, LEAST, LEAST, LEAST],
        [LEAST, LEAST, LEAST, 0],
        [-1, -1, 7, 0],
        [0, 0, 0, 5],
    ];
    let right: [[i32; 4]; 5] =
        [[1 << 16, 1, 1, 0], [1, 1, 0, 0], [LEAST, LEAST, LEAST, LEAST], [-1, 1, 0, 0], [7, 0, 1, 0]];
    let types = [
        ("s32", "s32"),
        ("s32", "u32"),
        ("u32", "s32"),
        ("u32", "u32"),
        ("pred", "s32"),
        ("s64", "s32"),
        ("u8", "s64"),
    ];
    for (first, second) in types {
        let dot = module(&format!(
            "HloModule m\nENTRY main {{\n  x = {first}[7,4] parameter(0)\n  y = {second}[5,4] parameter(1)\n  \
             ROOT r = pred[7,5] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n}}\n"
        ));
        let convolution = module(&format!(
            "HloModule m\nENTRY main {{\n  x = {first}[7,4] parameter(0)\n  y = {second}[5,4] parameter(1)\n  \
             a = {first}[7,1,4] reshape(x)\n  b = {second}[5,1,4] reshape(y)\n  \
             ROOT r = pred[7,5,6] convolution(a, b), window={{size=4 pad=3_2}}, dim_labels=bf0_oi0->bf0\n}}\n"
        ));
        let literal = |ty: &str, rows: &[[i32; 4]]| {
            let numbers = rows.concat();
            let extents = [i64::try_from(rows.len()).unwrap(), 4];
            match ty {
                "s32" => Literal::array(extents, numbers),
                "u32" => Literal::array(extents, numbers.into_iter().map(i32::cast_unsigned).collect::<Vec<u32>>()),
                "s64" => Literal::array(
                    extents,
                    numbers.into_iter().map(|number| i64::from(number) << 7).collect::<Vec<i64>>(),
                ),
                "u8" => {
                    let bytes = numbers.into_iter().map(|number| number.cast_unsigned().to_be_bytes()[0]);
                    Literal::array(extents, bytes.collect::<Vec<u8>>())
                }
                _ => Literal::array(extents, numbers.into_iter().map(|number| number != 0).collect::<Vec<bool>>()),
            }
        };
        let inputs = [literal(first, &left), literal(second, &right)];
        for module in [dot, convolution] {
            let expected = evaluate(&module, &inputs).unwrap().swap_remove(0);
            assert_eq!(run(&module, &inputs), expected, "{first} {second}");
            let Data::Pred(found) = &expected.data else { panic!("{expected:?}") };
            assert!(found.contains(&true) && found.contains(&false));
        }
    }
}

/// A complex sum of products has factors of both kinds.
#[test]
fn real_factors_of_complex_sums_are_complex() {
    let module = module(
        "HloModule m\nENTRY main {\n  x = f32[2,3] parameter(0)\n  y = f32[3] parameter(1)\n  z = c64[3] complex(y, y)\n  \
         ROOT r = c64[2] dot(x, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
    );
    let inputs =
        [Literal::array([2, 3], vec![1.0f32, 2.0, -3.0, 0.5, 4.0, 8.0]), Literal::array([3], vec![1.0f32, 3.0, 5.0])];
    assert_eq!(run(&module, &inputs), evaluate(&module, &inputs).unwrap().swap_remove(0));
}
