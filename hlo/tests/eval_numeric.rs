//! The evaluator's random numbers, transforms, linear algebra, bits and custom calls: against what XLA computes on a CPU
//! (`numeric/cases.txt`, written by `numeric/oracle.py`), and against formulae written naively.

#[path = "numeric/bits.rs"]
mod bits;
#[path = "numeric/cases.rs"]
mod cases;
#[path = "numeric/functions.rs"]
mod functions;
#[path = "numeric/lapack.rs"]
mod lapack;
#[path = "numeric/limits.rs"]
mod limits;
#[path = "numeric/reflections.rs"]
mod reflections;
#[path = "numeric/spectra.rs"]
mod spectra;

use self::cases::{Case, Expected, numbers, of_bits, worst, worst_size};
use half::bf16;
use num_complex::{Complex, Complex64};
use proptest::prelude::*;
use std::f64::consts::TAU;
use weft_hlo::eval::{Config, CustomCalls, check, evaluate, evaluate_with};
use weft_hlo::ir::{Data, Literal, Module, Scalar};
use weft_hlo::text::parse;

fn module(lines: &str) -> Module {
    let (rest, root) = lines.trim().rsplit_once('\n').unwrap_or(("", lines.trim()));
    let text = format!("HloModule test\n\nENTRY main {{\n{rest}\nROOT {}\n}}\n", root.trim());
    parse(&text).unwrap_or_else(|found| panic!("{text}\n{found}"))
}

fn run(lines: &str, inputs: &[Literal]) -> Vec<Literal> {
    evaluate(&module(lines), inputs).unwrap_or_else(|found| panic!("{lines}\n{found}"))
}

fn one(lines: &str, inputs: &[Literal]) -> Literal {
    run(lines, inputs).swap_remove(0)
}

/// The code of the one finding.
fn refused(lines: &str, inputs: &[Literal]) -> &'static str {
    evaluate(&module(lines), inputs).unwrap_err().0[0].code
}

fn f64s(literal: &Literal) -> &[f64] {
    match &literal.data {
        Data::F64(values) => values,
        other => panic!("{other:?}"),
    }
}

fn c128s(literal: &Literal) -> &[Complex64] {
    match &literal.data {
        Data::C128(values) => values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_is_as_xla_computes_it() {
    let cases = Case::all();
    let mut failures = Vec::new();
    let mut compared = 0;
    for case in &cases {
        let found = match evaluate(&parse(&case.text).unwrap(), &case.inputs) {
            Ok(found) => found,
            Err(errors) => {
                failures.push(format!("{}: {errors}", case.name));
                continue;
            }
        };
        assert_eq!(found.len(), case.outputs.len(), "{}", case.name);
        for (number, (found, expected)) in found.iter().zip(&case.outputs).enumerate() {
            let (expected, distance) = match expected {
                Expected::Free => continue,
                Expected::Is(expected) if case.tolerance == 0.0 => {
                    (expected, if found == expected { 0.0 } else { 1.0 })
                }
                Expected::Is(expected) => (expected, worst(expected, found)),
                Expected::Sizes(expected) => (expected, worst_size(expected, found)),
            };
            compared += 1;
            assert!(
                found.shape.is_compatible(&expected.shape),
                "{}: {} for {}",
                case.name,
                found.shape,
                expected.shape
            );
            if distance > case.tolerance {
                let (name, data) = (&case.name, (&found.data, &expected.data));
                failures.push(format!("{name}: result {number}: {distance:e}: {:?} for {:?}", data.0, data.1));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        cases.len(),
        failures[..failures.len().min(12)].join("\n")
    );
    assert!(compared > 1800, "{compared} results were compared");
}

/// The state in halves, as JAX holds it, is the state in whole numbers.
#[test]
fn states_of_four_words_are_those_of_two_numbers() {
    for algorithm in ["rng_three_fry", "rng_philox", "rng_default"] {
        let bits = |state: &str, given: Literal| {
            run(
                &format!(
                    "s = {state} parameter(0)\nr = ({state}, u16[3,5]) rng-bit-generator(s), algorithm={algorithm}"
                ),
                &[given],
            )
        };
        let wide = bits("u64[2]", Literal::array([2], vec![0x0000_0002_0000_0001u64, u64::MAX]));
        let narrow = bits("u32[4]", Literal::array([4], vec![1u32, 2, u32::MAX, u32::MAX]));
        assert_eq!(wide[1], narrow[1], "{algorithm}");
        let Data::U64(words) = &wide[0].data else { panic!() };
        let halves: Vec<u32> = words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
        assert_eq!(narrow[0].data, Data::U32(halves), "{algorithm}");
    }
}

#[test]
fn states_that_no_algorithm_has_are_refused_beforehand() {
    let check_one = |lines: &str| check(&module(lines), &Config::default()).unwrap_err().0[0].code;
    let of = |state: &str, algorithm: &str| {
        check_one(&format!(
            "s = {state} parameter(0)\nr = ({state}, u8[1]) rng-bit-generator(s), algorithm={algorithm}"
        ))
    };
    assert_eq!(of("u64[3]", "rng_three_fry"), "HLO202");
    assert_eq!(of("u64[1]", "rng_philox"), "HLO202");
    assert_eq!(of("u64[2,1]", "rng_default"), "HLO202");
    assert_eq!(of("u8[16]", "rng_default"), "HLO202");
    assert_eq!(check_one("s = u32[4] rng-get-and-update-state(), delta=1"), "HLO202");
}

/// A loop of three rounds that keeps what an operation gives in each.
fn rounds(operation: &str) -> Vec<Literal> {
    let text = format!(
        "HloModule m\n\nc {{\n  s = (s32[], u64[2], u64[2], u64[2]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  \
         n = s32[] constant(3)\n  ROOT l = pred[] compare(i, n), direction=LT\n}}\n\nb {{\n  \
         s = (s32[], u64[2], u64[2], u64[2]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  \
         o = s32[] constant(1)\n  j = s32[] add(i, o)\n  x = u64[2] get-tuple-element(s), index=2\n  \
         y = u64[2] get-tuple-element(s), index=3\n  low = u64[] constant(0)\n  high = u64[] constant(1000000007)\n  \
         z = u64[2] {operation}\n  ROOT t = (s32[], u64[2], u64[2], u64[2]) tuple(j, x, y, z)\n}}\n\nENTRY main {{\n  \
         i = s32[] constant(0)\n  v = u64[2] constant({{0,0}})\n  t = (s32[], u64[2], u64[2], u64[2]) tuple(i, v, v, v)\n  \
         ROOT w = (s32[], u64[2], u64[2], u64[2]) while(t), condition=c, body=b\n}}\n"
    );
    evaluate(&parse(&text).unwrap(), &[]).unwrap().split_off(1)
}

#[test]
fn states_move_on_with_every_execution() {
    let states = rounds("rng-get-and-update-state(), delta=9");
    let expected: Vec<Literal> = (0..3u64).map(|round| Literal::array([2], vec![0x701_2395 + 9 * round, 0])).collect();
    assert_eq!(states, expected);
}

#[test]
fn draws_differ_from_each_other_and_are_the_same_in_every_evaluation() {
    let draw = || rounds("rng(low, high), distribution=rng_uniform");
    let draws = draw();
    assert_eq!(draws, draw());
    let mut all: Vec<u64> = draws
        .iter()
        .flat_map(|draw| match &draw.data {
            Data::U64(values) => values.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|&value| value < 1_000_000_007));
}

#[test]
fn uniform_draws_lie_in_their_range_evenly() {
    for kind in ["f64", "f32", "f16", "bf16", "f8e5m2", "f8e4m3fnuz", "f4e2m1fn", "s8", "u4", "s2", "u64"] {
        let lines = format!(
            "a = {kind}[] constant({})\nb = {kind}[] constant({})\nr = {kind}[40,100] rng(a, b), distribution=rng_uniform",
            if kind.starts_with('u') { "1" } else { "-2" },
            if kind == "s2" { "1" } else { "3" }
        );
        let (low, high) = (if kind.starts_with('u') { 1.0 } else { -2.0 }, if kind == "s2" { 1.0 } else { 3.0 });
        let drawn = numbers(&one(&lines, &[]));
        assert!(drawn.iter().all(|value| low <= value.re && value.re < high), "{kind}");
        // Numbers are cut to their type's grid, so what counts is how many lie below one that is on all of them.
        let below =
            drawn.iter().filter(|value| value.re < (if kind == "u4" || kind == "u64" { 2.0 } else { 0.0 })).count();
        let expected = match kind {
            "u4" | "u64" => 0.5,
            "s2" => 2.0 / 3.0,
            _ => 0.4,
        };
        let share = below as f64 / 4000.0;
        // Three standard deviations of 4000 draws.
        assert!((share - expected).abs() < 0.03, "{kind}: {share}");
    }
}

#[test]
fn draws_from_nothing_are_the_lower_end() {
    for (kind, low, high) in [("f32", "2", "2"), ("s32", "5", "-5"), ("pred", "true", "false"), ("f32", "nan", "1")] {
        let lines = format!("a = {kind}[] constant({low})\nb = {kind}[] constant({high})\n");
        let drawn = one(&format!("{lines}r = {kind}[3] rng(a, b), distribution=rng_uniform"), &[]);
        assert_eq!(drawn, one(&format!("{lines}r = {kind}[3] broadcast(a), dimensions={{}}"), &[]), "{kind}");
    }
    let widest =
        "a = f64[] constant(-1.7e308)\nb = f64[] constant(1.7e308)\nr = f64[100] rng(a, b), distribution=rng_uniform";
    assert!(f64s(&one(widest, &[])).iter().all(|value| value.abs() <= 1.7e308));
}

#[test]
fn normal_draws_have_their_mean_and_deviation() {
    for kind in ["f64", "f32", "bf16"] {
        let lines = format!(
            "a = {kind}[] constant(3)\nb = {kind}[] constant(2)\nr = {kind}[20000] rng(a, b), distribution=rng_normal"
        );
        let drawn = numbers(&one(&lines, &[]));
        let mean = drawn.iter().map(|value| value.re).sum::<f64>() / 20000.0;
        let variance = drawn.iter().map(|value| (value.re - mean).powi(2)).sum::<f64>() / 20000.0;
        // Within one deviation lie 68.27 % of a normal distribution.
        let near = drawn.iter().filter(|value| (value.re - 3.0).abs() < 2.0).count() as f64 / 20000.0;
        assert!((mean - 3.0).abs() < 0.05 && (variance - 4.0).abs() < 0.15, "{kind}: {mean} {variance}");
        assert!((near - 0.6827).abs() < 0.015, "{kind}: {near}");
    }
}

/// What `reduce-precision` is by definition: the nearest number with that many bits, and then the range.
fn reduced(value: f64, exponent: i32, mantissa: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let place = value.abs().log2().floor() as i32;
    // The logarithm may be rounded up to a whole number.
    let place = if 2f64.powi(place) > value.abs() { place - 1 } else { place };
    let unit = 2f64.powi(place - mantissa);
    let rounded = (value / unit).round_ties_even() * unit;
    let largest_place = 2i32.pow(exponent as u32 - 1) - 1;
    if rounded.abs() >= 2f64.powi(largest_place + 1) {
        f64::INFINITY.copysign(value)
    } else if rounded.abs() < 2f64.powi(1 - largest_place) {
        0f64.copysign(value)
    } else {
        rounded
    }
}

/// Two words as the bits of 128.
fn wide_product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64, product as u64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn reduced_numbers_are_the_nearest_ones(
        values in prop::collection::vec((-1.0..1.0f64, -40..40i32), 1..20), exponent in 2..8i64, mantissa in 0..23i64,
    ) {
        let values: Vec<f32> = values.into_iter().map(|(part, power)| part as f32 * 2f32.powi(power)).collect();
        let lines = format!(
            "x = f32[{0}] parameter(0)\nr = f32[{0}] reduce-precision(x), exponent_bits={exponent}, \
             mantissa_bits={mantissa}", values.len()
        );
        let expected: Vec<f32> =
            values.iter().map(|&value| reduced(f64::from(value), exponent as i32, mantissa as i32) as f32).collect();
        let found = one(&lines, &[Literal::array([values.len() as i64], values)]);
        prop_assert_eq!(found.data, Data::F32(expected));
    }

    #[test]
    fn upper_halves_are_those_of_wide_products(a: u64, b: u64) {
        // Signed words are their bits less 2^64 where negative, which takes the other word from the upper half.
        let (high, _) = wide_product(a, b);
        let unsigned = one("a = u64[1] parameter(0)\nb = u64[1] parameter(1)\nr = u64[1] mulhi(a, b)",
            &[Literal::array([1], vec![a]), Literal::array([1], vec![b])]);
        prop_assert_eq!(unsigned.data, Data::U64(vec![high]));
        let (x, y) = (a as i64, b as i64);
        let signed = high.wrapping_sub(if x < 0 { b } else { 0 }).wrapping_sub(if y < 0 { a } else { 0 });
        let found = one("a = s64[1] parameter(0)\nb = s64[1] parameter(1)\nr = s64[1] mulhi(a, b)",
            &[Literal::array([1], vec![x]), Literal::array([1], vec![y])]);
        prop_assert_eq!(found.data, Data::S64(vec![signed as i64]));
        let found = one("a = s16[1] parameter(0)\nb = s16[1] parameter(1)\nr = s16[1] mulhi(a, b)",
            &[Literal::array([1], vec![a as i16]), Literal::array([1], vec![b as i16])]);
        let product = i32::from(a as i16) * i32::from(b as i16);
        prop_assert_eq!(found.data, Data::S16(vec![product.div_euclid(1 << 16) as i16]));
    }

    #[test]
    fn bits_go_to_other_types_and_back(words in prop::collection::vec(any::<u64>(), 1..8)) {
        let count = words.len();
        let given = [Literal::array([count as i64], words)];
        for kind in ["u8", "s8", "u4", "s2", "u1", "f8e5m2", "f4e2m1fn", "bf16", "f32", "f64", "s64"] {
            let bits = weft_hlo::ir::ElementType::ALL.iter().find(|ty| ty.name() == kind).unwrap().bits();
            let narrow = if bits == 64 { format!("[{count}]") } else { format!("[{count},{}]", 64 / bits) };
            let lines = format!(
                "x = u64[{count}] parameter(0)\ny = {kind}{narrow} bitcast-convert(x)\nz = u64[{count}] bitcast-convert(y)"
            );
            prop_assert_eq!(&one(&lines, &given), &given[0], "{}", kind);
        }
        let bytes = one(&format!("x = u64[{count}] parameter(0)\ny = u8[{count},8] bitcast-convert(x)"), &given);
        let Data::U64(words) = &given[0].data else { panic!() };
        prop_assert_eq!(bytes.data, Data::U8(words.iter().flat_map(|word| word.to_le_bytes()).collect()));
    }

    #[test]
    fn stochastic_rounding_to_floats_takes_a_neighbor_as_often_as_it_is_near(value in -300.0..300f32, word: u32) {
        let found = one(
            "x = f32[1] parameter(0)\nw = u32[1] parameter(1)\nr = bf16[1] stochastic-convert(x, w)",
            &[Literal::array([1], vec![value]), Literal::array([1], vec![word])],
        );
        // A bf16 is the upper half of an f32: adding to the lower half carries with that chance.
        let Data::Bf16(found) = &found.data else { panic!() };
        let (bits, lower) = (value.to_bits(), value.to_bits() << 16);
        let up = u64::from(word) < u64::from(lower);
        let expected = bf16::from_bits((bits >> 16) as u16 + u16::from(up));
        prop_assert_eq!(found[0], expected);
    }

    #[test]
    fn transforms_are_sums_of_waves(length in 1..160usize, seed: u64) {
        let values = waves(length, seed);
        let naive: Vec<Complex64> = (0..length)
            .map(|k| (0..length).map(|j| values[j] * Complex::from_polar(1.0, -TAU * (j * k % length) as f64 / length as f64)).sum())
            .collect();
        let transformed = one(
            &format!("x = c128[{length}] parameter(0)\nr = c128[{length}] fft(x), fft_type=FFT, fft_length={{{length}}}"),
            &[Literal::array([length as i64], values.clone())],
        );
        prop_assert!(worst(&Literal::array([length as i64], naive), &transformed) < 1e-12);
        let back = one(
            &format!("x = c128[{length}] parameter(0)\nr = c128[{length}] fft(x), fft_type=IFFT, fft_length={{{length}}}"),
            &[transformed],
        );
        prop_assert!(worst(&Literal::array([length as i64], values), &back) < 1e-12);
    }

    #[test]
    fn eigenvectors_are_orthonormal_and_only_scaled(order in 0..9usize, rank in 0..9usize, seed: u64) {
        let b = waves(order * rank, seed);
        let a: Vec<Complex64> = products(&b, &adjoint(&b, order, rank), order, rank, order);
        let results = run(&lapack("zheevd", &format!(
            "c128[{order},{order}], f64[{order}], s32[]"), &format!("c128[{order},{order}]"), "mode = 86 : ui8, uplo = 76 : ui8"),
            &[Literal::array([order as i64, order as i64], a.clone())]);
        let (vectors, values) = (c128s(&results[0]), f64s(&results[1]));
        prop_assert_eq!(&results[2].data, &Data::S32(vec![0]));
        prop_assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
        let scaled: Vec<Complex64> = (0..order * order).map(|at| vectors[at] * values[at % order]).collect();
        let scale = 1.0 + values.last().map_or(0.0, |value| value.abs());
        prop_assert!(far(&products(&a, vectors, order, order, order), &scaled) < 1e-11 * scale);
        let square = products(&adjoint(vectors, order, order), vectors, order, order, order);
        prop_assert!(far(&square, &identity(order)) < 1e-11);
    }

    #[test]
    fn singular_vectors_are_orthonormal_and_make_up_the_matrix(
        rows in 0..8usize, columns in 0..8usize, rank in 0..8usize, seed: u64,
    ) {
        let (left, right) = (waves(rows * rank, seed), waves(rank * columns, seed ^ 77));
        let a = products(&left, &right, rows, rank, columns);
        let least = rows.min(columns);
        let results = run(&lapack("zgesdd", &format!(
            "c128[{rows},{columns}], f64[{least}], c128[{rows},{rows}], c128[{columns},{columns}], s32[]"),
            &format!("c128[{rows},{columns}]"), "mode = 65 : ui8"),
            &[Literal::array([rows as i64, columns as i64], a.clone())]);
        let (values, u, v) = (f64s(&results[1]), c128s(&results[2]), c128s(&results[3]));
        prop_assert!(values.windows(2).all(|pair| pair[0] >= pair[1]) && values.iter().all(|&value| value >= 0.0));
        let scale = 1.0 + values.first().map_or(0.0, |value| value.abs());
        let mut scaled = vec![Complex64::default(); rows * columns];
        for row in 0..rows {
            (0..least).for_each(|at| scaled[row * columns + at] = u[row * rows + at] * values[at]);
        }
        prop_assert!(far(&products(&scaled, v, rows, columns, columns), &a) < 1e-11 * scale);
        prop_assert!(far(&products(&adjoint(u, rows, rows), u, rows, rows, rows), &identity(rows)) < 1e-11);
        prop_assert!(far(&products(v, &adjoint(v, columns, columns), columns, columns, columns), &identity(columns)) < 1e-11);
    }

    #[test]
    fn reflections_make_up_the_matrix(rows in 1..8usize, columns in 1..8usize, seed: u64) {
        prop_assume!(rows >= columns);
        let a = waves(rows * columns, seed);
        let text = format!("c128[{rows},{columns}]");
        let packed = run(&lapack("zgeqrf", &format!("{text}, c128[{columns}]"), &text, ""),
            &[Literal::array([rows as i64, columns as i64], a.clone())]);
        let q = one(&format!("x = {text} parameter(0)\nt = c128[{columns}] parameter(1)\n\
            r = {text} custom-call(x, t), custom_call_target=\"lapack_zungqr_ffi\", backend_config={{}}"), &packed);
        let mut r = vec![Complex64::default(); columns * columns];
        for row in 0..columns {
            (row..columns).for_each(|at| r[row * columns + at] = c128s(&packed[0])[row * columns + at]);
        }
        prop_assert!(far(&products(c128s(&q), &r, rows, columns, columns), &a) < 1e-11);
        let square = products(&adjoint(c128s(&q), rows, columns), c128s(&q), columns, rows, columns);
        prop_assert!(far(&square, &identity(columns)) < 1e-11);
    }
}

/// A custom call of a LAPACK routine with one operand and several results.
fn lapack(routine: &str, results: &str, operand: &str, config: &str) -> String {
    format!(
        "x = {operand} parameter(0)\nr = ({results}) custom-call(x), custom_call_target=\"lapack_{routine}_ffi\", \
         backend_config={{{config}}}"
    )
}

/// Numbers that look random.
fn waves(count: usize, seed: u64) -> Vec<Complex64> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| Complex::new(next(), next())).collect()
}

/// The product of a matrix of `n` by `k` and one of `k` by `m` elements.
fn products(a: &[Complex64], b: &[Complex64], n: usize, k: usize, m: usize) -> Vec<Complex64> {
    (0..n * m).map(|at| (0..k).map(|inner| a[at / m * k + inner] * b[inner * m + at % m]).sum()).collect()
}

fn adjoint(a: &[Complex64], rows: usize, columns: usize) -> Vec<Complex64> {
    (0..rows * columns).map(|at| a[at % rows * columns + at / rows].conj()).collect()
}

fn identity(order: usize) -> Vec<Complex64> {
    (0..order * order).map(|at| Complex::from(if at / order == at % order { 1.0 } else { 0.0 })).collect()
}

fn far(a: &[Complex64], b: &[Complex64]) -> f64 {
    assert_eq!(a.len(), b.len());
    // Where there is a NaN nothing is near.
    let apart = |a: &Complex64, b: &Complex64| if (a - b).is_nan() { f64::INFINITY } else { (a - b).norm() };
    a.iter().zip(b).map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
}

/// The last length is prime; a sum for each element would take an hour.
#[test]
fn long_transforms_end() {
    for length in [4096usize, 4099, 131_101] {
        let values = waves(length, 3);
        let text = format!(
            "x = c128[{length}] parameter(0)\nr = c128[{length}] fft(x), fft_type=FFT, fft_length={{{length}}}"
        );
        let found = one(&text, &[Literal::array([length as i64], values.clone())]);
        let k = length - 7;
        let wave = |j: usize| Complex::from_polar(1.0, -TAU * (j * k % length) as f64 / length as f64);
        let expected: Complex64 = (0..length).map(|j| values[j] * wave(j)).sum();
        assert!((c128s(&found)[k] - expected).norm() < 1e-7, "{length}");
    }
}

#[test]
fn what_has_no_spectrum_says_so() {
    let given = [Literal::array([2, 2], vec![1.0, f64::NAN, 0.0, 1.0])];
    let eigen =
        run(&lapack("dsyevd", "f64[2,2], f64[2], s32[]", "f64[2,2]", "mode = 86 : ui8, uplo = 85 : ui8"), &given);
    assert!(f64s(&eigen[1]).iter().all(|value| value.is_nan()));
    assert_ne!(eigen[2].data, Data::S32(vec![0]));
    let text = "f64[2,2], f64[2], f64[2,2], f64[2,2], s32[]";
    let singular = run(&lapack("dgesdd", text, "f64[2,2]", "mode = 83 : ui8"), &given);
    assert!(f64s(&singular[1]).iter().all(|value| value.is_nan()));
    assert_ne!(singular[4].data, Data::S32(vec![0]));
}

#[test]
fn extents_are_their_lowest_32_bits() {
    let given = [Literal::array([4_294_967_299, 0], Vec::<f32>::new())];
    let text = "x = f32[4294967299,0] parameter(0)\ng = s32[] get-dimension-size(x), dimensions={0}";
    assert_eq!(one(text, &given), Literal::scalar(Scalar::S32(3)));
}

#[test]
fn empty_and_huge_shapes_are_evaluated() {
    let huge = "9223372036854775807";
    let none = |text: &str, kind: &str, extents: &[i64]| {
        let empty = of_bits(kind, extents, &[]);
        let (shape, rest) = text.split_once(' ').unwrap();
        let found = one(&format!("x = {shape} parameter(0)\nr = {rest}"), &[empty]);
        assert_eq!(found.data.len(), Some(0), "{text}");
    };
    none(&format!("u8[{huge},0,8] u64[{huge},0] bitcast-convert(x)"), "u8", &[i64::MAX, 0, 8]);
    none(&format!("u64[{huge},0] u8[{huge},0,8] bitcast-convert(x)"), "u64", &[i64::MAX, 0]);
    none(
        &format!("f32[0,{huge}] f32[0,{huge}] reduce-precision(x), exponent_bits=5, mantissa_bits=2"),
        "f32",
        &[0, i64::MAX],
    );
    none(&format!("f64[{huge},0,0] f64[{huge},0,0] cholesky(x), lower=true"), "f64", &[i64::MAX, 0, 0]);
    none(
        &format!("f64[0,{huge},{huge}] f64[0,{huge},{huge}] cholesky(x), lower=true"),
        "f64",
        &[0, i64::MAX, i64::MAX],
    );
    none(&format!("c64[0,{huge}] c64[0,{huge}] fft(x), fft_type=FFT, fft_length={{{huge}}}"), "c64", &[0, i64::MAX]);
    let drawn = format!("a = s4[] constant(1)\nr = s4[{huge},0,{huge}] rng(a, a), distribution=rng_uniform");
    assert_eq!(one(&drawn, &[]).data.len(), Some(0));
    let bits = format!(
        "s = u64[2] constant({{1,2}})\nr = (u64[2], s4[{huge},0]) rng-bit-generator(s), algorithm=rng_three_fry"
    );
    assert_eq!(run(&bits, &[])[0], Literal::array([2], vec![1u64, 2]));
    let solve = format!(
        "a = f32[{huge},{huge},0,0] parameter(0)\nb = f32[{huge},{huge},0,{huge}] parameter(1)\n\
         r = f32[{huge},{huge},0,{huge}] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE"
    );
    let (a, b) =
        (of_bits("f32", &[i64::MAX, i64::MAX, 0, 0], &[]), of_bits("f32", &[i64::MAX, i64::MAX, 0, i64::MAX], &[]));
    assert_eq!(one(&solve, &[a, b]).data.len(), Some(0));
}

#[test]
fn the_largest_come_first_with_nan_and_ties() {
    let text = "x = f32[2,5] parameter(0)\nr = (f32[2,3], s32[2,3]) custom-call(x), custom_call_target=\"TopK\"";
    let given = Literal::array([2, 5], vec![1.0, f32::NAN, 3.0, 3.0, -0.0, 0.0, -0.0, 0.0, -1.0, f32::NEG_INFINITY]);
    let found = run(text, &[given]);
    assert_eq!(found[0], Literal::array([2, 3], vec![f32::NAN, 3.0, 3.0, 0.0, 0.0, -0.0]));
    assert_eq!(found[1], Literal::array([2, 3], vec![1, 2, 3, 0, 2, 1]));
    let wide = "x = s8[2] parameter(0)\nr = (s8[3], s32[3]) custom-call(x), custom_call_target=\"TopK\"";
    assert_eq!(refused(wide, &[Literal::array([2], vec![1i8, 2])]), "HLO212");
}

#[test]
fn custom_calls_mean_what_is_registered() {
    let text = "x = f32[2] parameter(0)\nr = (f32[2], token[], s32[]) custom-call(x), custom_call_target=\"mine\", \
                backend_config={scale = 3 : i64, name = 7 : ui8}";
    let given = [Literal::array([2], vec![1.5f32, -2.0])];
    assert_eq!(refused(text, &given), "HLO201");
    let mut custom_calls = CustomCalls::none();
    custom_calls.register("mine", |call, operands| {
        assert_eq!((call.target(), call.option("name"), call.option("other")), ("mine", Some(7), None));
        assert_eq!((call.results().len(), &*call.instruction().name), (2, "r"));
        let scale = call.option("scale").ok_or("there is no scale")? as f32;
        let Data::F32(values) = &operands[0].data else { return Err("takes f32".to_owned()) };
        let scaled: Vec<f32> = values.iter().map(|value| scale * value).collect();
        Ok(vec![Literal::array([2], scaled), Literal::scalar(Scalar::S32(1))])
    });
    assert_eq!(custom_calls.targets().collect::<Vec<_>>(), ["mine"]);
    assert_eq!(format!("{custom_calls:?}"), "{\"mine\"}");
    let config = Config { custom_calls: custom_calls.clone(), ..Config::default() };
    let found = evaluate_with(&module(text), &given, &config).unwrap();
    assert_eq!(found, [Literal::array([2], vec![4.5f32, -6.0]), Literal::scalar(Scalar::S32(1))]);
    for other in [vec![], given.to_vec(), vec![given[0].clone(), Literal::array([1], vec![1i32])]] {
        custom_calls.register("mine", move |_, _| Ok(other.clone()));
        let config = Config { custom_calls: custom_calls.clone(), ..Config::default() };
        assert_eq!(evaluate_with(&module(text), &given, &config).unwrap_err().0[0].code, "HLO212");
    }
}

#[test]
fn placements_are_the_value() {
    let given = [Literal::array([2], vec![1i32, 2])];
    for target in ["Sharding", "SPMDFullToShardShape", "annotate_device_placement", "MoveToHost"] {
        let text = format!("x = s32[2] parameter(0)\nr = s32[2] custom-call(x), custom_call_target=\"{target}\"");
        assert_eq!(one(&text, &given), given[0], "{target}");
    }
    let other = "x = s32[2] parameter(0)\nr = s32[1] custom-call(x), custom_call_target=\"SPMDFullToShardShape\"";
    assert_eq!(refused(other, &given), "HLO212");
}

/// Calls whose shapes or options do not fit are refused, however large what they declare is.
#[test]
fn routines_refuse_what_does_not_fit() {
    let given = |extents: &[i64]| {
        of_bits("f64", extents, &vec![0x3ff0_0000_0000_0000; extents.iter().product::<i64>() as usize])
    };
    let x = [given(&[2, 3])];
    for (routine, results, config) in [
        ("dpotrf", "f64[2,3], s32[]", "uplo = 76 : ui8"),
        ("dpotrf", "f64[2,3], s32[]", ""),
        ("dgetrf", "f64[2,3], s32[3], s32[]", ""),
        ("dgetrf", "f64[2,3], s32[2]", ""),
        ("dgetrf", "f64[2,3], f64[2], s32[]", ""),
        ("dgetrf", "f64[0,1099511627776,1099511627776], s32[2], s32[]", ""),
        ("zgetrf", "f64[2,3], s32[2], s32[]", ""),
        ("dgeqrf", "f64[2,3], f32[1]", ""),
        ("dsyevd", "f64[2,3], f64[2], s32[]", "mode = 86 : ui8, uplo = 76 : ui8"),
        ("dgesdd", "f64[2,3], f64[2], f64[2,2], f64[2,3], s32[]", "mode = 65 : ui8"),
        ("dgesdd", "f64[2,3], f64[2], f64[0,1099511627776], f64[2,3], s32[]", "mode = 78 : ui8"),
        ("dgesdd", "f64[2,3], f64[2], f64[0,2,1099511627776], f64[2,3], s32[]", "mode = 78 : ui8"),
        ("dgesdd", "f64[2,3]", "mode = 65 : ui8"),
    ] {
        assert_eq!(refused(&lapack(routine, results, "f64[2,3]", config), &x), "HLO212", "{routine} {results}");
    }
    let trsm = "x = f64[2,3] parameter(0)\nr = f64[2,3] custom-call(x), custom_call_target=\"lapack_dtrsm_ffi\"";
    assert_eq!(refused(trsm, &x), "HLO212");
    let flat = [given(&[6])];
    assert_eq!(refused(&lapack("dgetrf", "f64[6], s32[1], s32[]", "f64[6]", ""), &flat), "HLO212");
}
