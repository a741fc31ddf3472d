//! `rng` written out draws what the operation draws, and draws are what their distribution says.

use weft_hlo::eval::{Chance, Config, evaluate, evaluate_with};
use weft_hlo::ir::{Data, Literal, Module, Op};
use weft_hlo::passes::{Pass, RandomNumbers};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

/// Numbers of any float type.
fn numbers(literal: &Literal) -> Vec<f64> {
    let shape = literal.shape.as_array().unwrap();
    let extents = format!("{:?}", &shape.extents[..]).replace(' ', "");
    let kind = shape.element_type;
    let wide = module(&format!(
        "HloModule m\n\nENTRY e {{\n  a = {kind}{extents} parameter(0)\n  ROOT b = f64{extents} convert(a)\n}}\n"
    ));
    match &evaluate(&wide, std::slice::from_ref(literal)).unwrap()[0].data {
        Data::F64(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

/// The module without `rng`.
fn written_out(module: &Module) -> Module {
    let after = RandomNumbers.run(module).unwrap().module;
    verify(&after).unwrap_or_else(|found| panic!("{found}\n{}", print(&after)));
    let mut instructions = after.computations.values().flat_map(|computation| computation.instructions.values());
    assert!(!instructions.any(|instruction| matches!(instruction.op, Op::Rng { .. })));
    after
}

const KINDS: [&str; 24] = [
    "f64",
    "f32",
    "f16",
    "bf16",
    "f8e5m2",
    "f8e4m3fn",
    "f8e4m3fnuz",
    "f8e5m2fnuz",
    "f8e3m4",
    "f4e2m1fn",
    "s64",
    "s32",
    "s16",
    "s8",
    "s4",
    "s2",
    "u64",
    "u32",
    "u16",
    "u8",
    "u4",
    "u2",
    "pred",
    "f8e4m3",
];

/// Two ends for a type, by number.
fn ends(kind: &str, which: usize) -> (&'static str, &'static str) {
    match (kind.as_bytes()[0], which % 4) {
        (b'p', 0) => ("false", "true"),
        (b'p', _) => ("true", "false"),
        (b'u', 0) => ("0", "3"),
        (b'u', 1) => ("1", "2"),
        (b'u', _) => ("3", "1"),
        (b's', 0) => ("-2", "1"),
        (b's', 1) => ("0", "1"),
        (b's', _) => ("1", "-1"),
        (_, 0) => ("0", "1"),
        (_, 1) => ("-1.5", "3"),
        (_, 2) => ("2", "2"),
        _ if kind == "f4e2m1fn" => ("3", "1"),
        _ => ("nan", "1"),
    }
}

#[test]
fn uniform_numbers_are_those_of_the_operation() {
    for kind in KINDS {
        for which in 0..4 {
            let (low, high) = ends(kind, which);
            let extents = [&[][..], &[7], &[0], &[3, 50]][which];
            let extents = format!("{extents:?}").replace(' ', "");
            let module = module(&format!(
                "HloModule m\n\nENTRY e {{\n  a = {kind}[] constant({low})\n  b = {kind}[] constant({high})\n  \
                 x = {kind}{extents} rng(a, b), distribution=rng_uniform\n  \
                 y = {kind}[40] rng(a, b), distribution=rng_uniform\n  \
                 ROOT t = ({kind}{extents}, {kind}[40]) tuple(x, y)\n}}\n"
            ));
            let (expected, found) = (evaluate(&module, &[]).unwrap(), evaluate(&written_out(&module), &[]).unwrap());
            // NaNs of the same bits print alike.
            assert_eq!(format!("{expected:?}"), format!("{found:?}"), "{}", print(&module));
        }
    }
}

#[test]
fn the_widest_range_of_integers_is_no_overflow() {
    for (kind, low, high) in [
        ("s64", i64::MIN.to_string(), i64::MAX.to_string()),
        ("u64", "0".to_owned(), u64::MAX.to_string()),
        ("s32", i32::MIN.to_string(), i32::MAX.to_string()),
    ] {
        let module = module(&format!(
            "HloModule m\n\nENTRY e {{\n  a = {kind}[] constant({low})\n  b = {kind}[] constant({high})\n  \
             ROOT x = {kind}[99] rng(a, b), distribution=rng_uniform\n}}\n"
        ));
        assert_eq!(evaluate(&module, &[]).unwrap(), evaluate(&written_out(&module), &[]).unwrap());
    }
}

#[test]
fn normal_numbers_are_those_of_the_operation_but_for_rounding() {
    for (kind, near) in [("f64", 1e-14), ("f32", 4e-6), ("f16", 2e-3), ("bf16", 2e-2)] {
        let module = module(&format!(
            "HloModule m\n\nENTRY e {{\n  a = {kind}[] constant(0.5)\n  b = {kind}[] constant(0.25)\n  \
             ROOT x = {kind}[3,400] rng(a, b), distribution=rng_normal\n}}\n"
        ));
        let (expected, found) = (evaluate(&module, &[]).unwrap(), evaluate(&written_out(&module), &[]).unwrap());
        for (expected, found) in numbers(&expected[0]).iter().zip(numbers(&found[0])) {
            assert!((expected - found).abs() <= near, "{kind}: {expected} {found}");
        }
    }
}

/// Draws in a loop, in a branch and behind both.
#[test]
fn draws_are_counted_in_the_order_in_which_they_run() {
    let module = module(
        "HloModule m

condition {
  p = (s32[], f32[5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}

one {
  p = f32[5] parameter(0)
  a = f32[] constant(0)
  b = f32[] constant(1)
  r = f32[5] rng(a, b), distribution=rng_uniform
  ROOT s = f32[5] subtract(p, r)
}

two {
  ROOT p = f32[5] parameter(0)
}

body {
  p = (s32[], f32[5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[5] get-tuple-element(p), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  c = pred[] compare(i, o), direction=NE
  y = f32[5] conditional(c, x, x), true_computation=one, false_computation=two
  a = f32[] constant(-1)
  b = f32[] constant(1)
  r = f32[5] rng(a, b), distribution=rng_uniform
  z = f32[5] multiply(y, r)
  ROOT t = (s32[], f32[5]) tuple(j, z)
}

ENTRY main {
  x = f32[5] parameter(0)
  i = s32[] constant(0)
  s = (s32[], f32[5]) tuple(i, x)
  w = (s32[], f32[5]) while(s), condition=condition, body=body
  y = f32[5] get-tuple-element(w), index=1
  a = f32[] constant(0)
  b = f32[] constant(1)
  r = f32[5] rng(a, b), distribution=rng_uniform
  ROOT t = (f32[5], f32[5]) tuple(y, r)
}
",
    );
    let inputs = [Literal::array([5], vec![1f32, 2.0, 3.0, 4.0, 5.0])];
    assert_eq!(evaluate(&module, &inputs).unwrap(), evaluate(&written_out(&module), &inputs).unwrap());
    // Another evaluation goes on where one ended, and seeds tell beginnings apart.
    let run = |module: &Module, chance: &Chance| {
        evaluate_with(module, &inputs, &Config { chance: Some(chance.clone()), ..Config::default() }).unwrap()
    };
    let after = written_out(&module);
    let [one, other] = [Chance::seeded(9), Chance::seeded(9)];
    let first = run(&module, &one);
    assert_eq!(first, run(&after, &other));
    assert_ne!(first, run(&module, &Chance::seeded(10)));
    let second = run(&module, &one);
    assert_eq!(second, run(&after, &other));
    assert_ne!(first, second);
}

/// How many of so many draws lie in each of equal stretches between two ends.
fn bins(numbers: &[f64], low: f64, high: f64, count: usize) -> Vec<usize> {
    let mut bins = vec![0; count];
    for number in numbers {
        bins[((number - low) / (high - low) * count as f64) as usize] += 1;
    }
    bins
}

/// What Pearson's test sums, of bins that are to be equal.
fn chi_square(bins: &[usize]) -> f64 {
    let expected = bins.iter().sum::<usize>() as f64 / bins.len() as f64;
    bins.iter().map(|&found| (found as f64 - expected).powi(2) / expected).sum()
}

#[test]
fn draws_are_even_and_independent() {
    let count = 40_000;
    let module = module(&format!(
        "HloModule m\n\nENTRY e {{\n  a = f32[] constant(-1)\n  b = f32[] constant(3)\n  m = f32[] constant(2)\n  \
         x = f32[{count}] rng(a, b), distribution=rng_uniform\n  y = f32[{count}] rng(a, b), distribution=rng_uniform\n  \
         z = f32[{count}] rng(m, m), distribution=rng_normal\n  \
         ROOT t = (f32[{count}], f32[{count}], f32[{count}]) tuple(x, y, z)\n}}\n"
    ));
    let found = evaluate(&written_out(&module), &[]).unwrap();
    let [x, y, z] = [0, 1, 2].map(|at| numbers(&found[at]));
    // Of 63 degrees of freedom one in a thousand lies above 103.4.
    for drawn in [&x, &y] {
        let square = chi_square(&bins(drawn, -1.0, 3.0, 64));
        assert!((30.0..103.4).contains(&square), "{square}");
    }
    // Both together, in 16 times 16 bins: of 255 one in a thousand above 330.5.
    let mut both = vec![0; 256];
    for (x, y) in x.iter().zip(&y) {
        both[((x + 1.0) * 4.0) as usize * 16 + ((y + 1.0) * 4.0) as usize] += 1;
    }
    let square = chi_square(&both);
    assert!((180.0..330.5).contains(&square), "{square}");
    // Neighbors, likewise.
    let mut pairs = vec![0; 256];
    x.chunks(2).for_each(|pair| pairs[((pair[0] + 1.0) * 4.0) as usize * 16 + ((pair[1] + 1.0) * 4.0) as usize] += 1);
    let square = chi_square(&pairs);
    assert!((180.0..330.5).contains(&square), "{square}");
    let mean = z.iter().sum::<f64>() / count as f64;
    let moment = |power: i32| z.iter().map(|z| ((z - mean) / 2.0).powi(power)).sum::<f64>() / count as f64;
    // Mean, variance, skewness and kurtosis, within four standard deviations.
    assert!((mean - 2.0).abs() < 0.04, "{mean}");
    assert!((moment(2) - 1.0).abs() < 0.03 && moment(3).abs() < 0.08 && (moment(4) - 3.0).abs() < 0.2);
}

#[test]
fn states_and_counts_of_draws_move_on() {
    let module = module(
        "HloModule m\n\nENTRY e {\n  a = u64[2] rng-get-and-update-state(), delta=3\n  n = u64[] rng-get-and-update-state(), delta=5\n  \
         k = u64[] rng-get-and-update-state(), delta=-5\n  l = u64[] rng-get-and-update-state(), delta=0\n  \
         ROOT t = (u64[2], u64[], u64[], u64[]) tuple(a, n, k, l)\n}\n",
    );
    let scalar = |value: u64| Literal::array([], vec![value]);
    let expected = |state: u64, first: u64| {
        vec![Literal::array([2], vec![state, 0]), scalar(first), scalar(first + 5), scalar(first)]
    };
    let config = Config { chance: Some(Chance::new()), ..Config::default() };
    assert_eq!(evaluate_with(&module, &[], &config).unwrap(), expected(0x701_2395, 0));
    assert_eq!(evaluate_with(&module, &[], &config).unwrap(), expected(0x701_2398, 0));
}
