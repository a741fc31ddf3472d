//! `rng` and `rng-get-and-update-state` on the default adapter, without the host, against the evaluator.

use crate::factorizations::numbers;
use crate::support::{compile, device, module};
use weft_hlo::eval::{Chance, Config, evaluate, evaluate_with};
use weft_hlo::ir::{ElementType, Literal, Module};
use weft_partition::{Schedule, Target};
use weft_runtime::program::Step;
use weft_runtime::{Device, Executable, Options, Program, compile_with};

fn executable(device: &Device, module: &Module, target: &Target) -> Executable {
    let program = compile(module, target).unwrap_or_else(|error| panic!("{error}"));
    Executable::new(device, program).unwrap_or_else(|error| panic!("{error}"))
}

fn run(executable: &Executable, inputs: &[Literal]) -> Vec<Literal> {
    executable.run(inputs).unwrap_or_else(|error| panic!("{error}"))
}

/// What the evaluator draws, going on where it ended.
fn drawn(module: &Module, inputs: &[Literal], chance: &Chance) -> Vec<Literal> {
    let config = Config { chance: Some(chance.clone()), ..Config::default() };
    evaluate_with(module, inputs, &config).unwrap_or_else(|found| panic!("{found}"))
}

/// Draws of a type between two ends given as arguments, and of normal numbers where there are some.
fn draws(kind: &str) -> Module {
    let normal = kind.starts_with('f') || kind.starts_with("bf");
    let distribution = if normal { "rng_normal" } else { "rng_uniform" };
    module(&format!(
        "HloModule m\n\nENTRY e {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n  \
         x = {kind}[3,67] rng(a, b), distribution=rng_uniform\n  y = {kind}[100] rng(a, b), distribution={distribution}\n  \
         ROOT t = ({kind}[3,67], {kind}[100]) tuple(x, y)\n}}\n"
    ))
}

fn scalar(kind: ElementType, value: i64) -> Literal {
    let text =
        format!("HloModule m\n\nENTRY e {{\n  a = s32[] constant({value})\n  ROOT b = {kind}[] convert(a)\n}}\n");
    evaluate(&module(&text), &[]).unwrap().remove(0)
}

#[test]
fn numbers_of_all_types_are_the_evaluators() {
    let device = device();
    let has_f64 = device.target().features.shader_f64 && device.target().features.shader_int64;
    let kinds = ["f32", "bf16", "f16", "f8e4m3fn", "s32", "u8", "s64", "pred", "f64"];
    for (number, kind) in kinds.into_iter().filter(|kind| has_f64 || *kind != "f64").enumerate() {
        let target = device.target().clone().with(|target| target.schedule = Some(Schedule::ALL[number % 2]));
        let module = draws(kind);
        let element_type: ElementType = kind.parse().unwrap();
        let low = if element_type.is_unsigned() || kind == "pred" { 0 } else { -1 };
        let inputs = [scalar(element_type, low), scalar(element_type, 3)];
        let executable = executable(&device, &module, &target);
        let (found, expected) = (run(&executable, &inputs), drawn(&module, &inputs, &Chance::new()));
        for (position, (found, expected)) in found.iter().zip(&expected).enumerate() {
            if element_type.is_float() {
                // Products may be fused with sums; normal numbers have errors of the device's functions.
                let near = match (kind, position) {
                    ("f64", _) => 1e-14,
                    (_, 1) => 4e-5,
                    _ => 5e-7,
                };
                let step = match kind {
                    "bf16" => 0.0625,
                    "f16" => 0.0079,
                    "f8e4m3fn" => 1.1,
                    _ => 0.0,
                };
                let mut others = 0;
                for (found, expected) in numbers_of(found).into_iter().zip(numbers_of(expected)) {
                    let far = (found - expected).abs();
                    assert!(far <= near || far <= step, "{kind} {position}: {found} {expected}");
                    others += usize::from(far > near);
                }
                assert!(others <= 3, "{kind} {position}: {others} are rounded otherwise");
            } else {
                assert_eq!(found, expected, "{kind} {position}");
            }
        }
    }
}

/// Numbers of any float type.
fn numbers_of(literal: &Literal) -> Vec<f64> {
    let shape = literal.shape.as_array().unwrap();
    let extents = format!("{:?}", &shape.extents[..]).replace(' ', "");
    let text = format!(
        "HloModule m\n\nENTRY e {{\n  a = {}{extents} parameter(0)\n  ROOT b = f64{extents} convert(a)\n}}\n",
        shape.element_type
    );
    let wide = evaluate(&module(&text), std::slice::from_ref(literal)).unwrap();
    numbers(&wide[0]).into_iter().map(|number| number.re).collect()
}

#[test]
fn uniform_fractions_have_the_same_bits() {
    let device = device();
    let module = module(
        "HloModule m\n\nENTRY e {\n  a = f32[] constant(0)\n  b = f32[] constant(1)\n  \
         ROOT x = f32[5,1000] rng(a, b), distribution=rng_uniform\n}\n",
    );
    assert_eq!(run(&executable(&device, &module, device.target()), &[]), evaluate(&module, &[]).unwrap());
}

/// Draws in a loop whose rounds are known or not, in a branch, and behind them; `rounds` is an argument.
fn mixed(kind: &str, bound: &str) -> Module {
    module(&format!(
        "HloModule m
condition {{
  p = (s32[], {kind}[6], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] {bound}
  ROOT c = pred[] compare(i, n), direction=LT
}}
yes {{
  p = {kind}[6] parameter(0)
  a = {kind}[] constant(0)
  b = {kind}[] constant(100)
  r = {kind}[6] rng(a, b), distribution=rng_uniform
  ROOT s = {kind}[6] add(p, r)
}}
no {{
  p = {kind}[6] parameter(0)
  ROOT q = {kind}[6] negate(p)
}}
body {{
  p = (s32[], {kind}[6], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = {kind}[6] get-tuple-element(p), index=1
  k = s32[] get-tuple-element(p), index=2
  o = s32[] constant(1)
  j = s32[] add(i, o)
  c = pred[] compare(i, o), direction=NE
  y = {kind}[6] conditional(c, x, x), true_computation=yes, false_computation=no
  a = {kind}[] constant(-5)
  b = {kind}[] constant(7)
  r = {kind}[6] rng(a, b), distribution=rng_uniform
  d = {kind}[6] subtract(y, r)
  ROOT t = (s32[], {kind}[6], s32[]) tuple(j, d, k)
}}
ENTRY main {{
  x = {kind}[6] parameter(0)
  n = s32[] parameter(1)
  a = {kind}[] constant(-1000)
  b = {kind}[] constant(1000)
  f = {kind}[6] rng(a, b), distribution=rng_uniform
  g = {kind}[6] add(f, x)
  i = s32[] constant(0)
  s = (s32[], {kind}[6], s32[]) tuple(i, g, n)
  w = (s32[], {kind}[6], s32[]) while(s), condition=condition, body=body
  y = {kind}[6] get-tuple-element(w), index=1
  r = {kind}[6] rng(a, b), distribution=rng_uniform
  ROOT t = ({kind}[6], {kind}[6], {kind}[6]) tuple(y, r, f)
}}"
    ))
}

#[test]
fn draws_in_loops_and_branches_are_the_evaluators_and_go_on() {
    let device = device();
    let inputs = [Literal::array([6], vec![1i32, 2, 3, 4, 5, 6]), Literal::array([], vec![4i32])];
    for bound in ["constant(3)", "get-tuple-element(p), index=2"] {
        let module = mixed("s32", bound);
        let executable = executable(&device, &module, device.target());
        let chance = Chance::new();
        let first = run(&executable, &inputs);
        assert_eq!(first, drawn(&module, &inputs, &chance), "{bound}");
        // A clone goes on, what is seeded begins anew.
        let second = run(&executable.clone(), &inputs);
        assert_eq!(second, drawn(&module, &inputs, &chance), "{bound}");
        assert_ne!(first, second);
        assert_eq!(run(&executable.clone().seeded(0), &inputs), first);
        let seeded = run(&executable.clone().seeded(77), &inputs);
        assert_eq!(seeded, drawn(&module, &inputs, &Chance::seeded(77)));
        assert_eq!(run(&executable.clone().seeded(77), &inputs), seeded);
        assert_ne!(seeded, first);
        assert_eq!(run(&executable, &inputs), drawn(&module, &inputs, &chance), "{bound}");
    }
}

/// Where the device has no `f64`, the host draws some, in the order in which all are drawn.
#[test]
fn the_host_and_the_device_draw_in_one_order() {
    let device = device();
    let target = device.target().clone().with(|target| target.features.shader_f64 = false);
    let module = module(
        "HloModule m\n\nENTRY e {\n  a = s32[] constant(0)\n  b = s32[] constant(1000000)\n  c = f64[] constant(0)\n  d = f64[] constant(1)\n  \
         x = s32[4] rng(a, b), distribution=rng_uniform\n  y = f64[4] rng(c, d), distribution=rng_uniform\n  \
         z = s32[4] rng(a, b), distribution=rng_uniform\n  w = f64[4] rng(c, d), distribution=rng_uniform\n  \
         v = s32[4] rng(a, b), distribution=rng_uniform\n  \
         ROOT t = (s32[4], f64[4], s32[4], f64[4], s32[4]) tuple(x, y, z, w, v)\n}\n",
    );
    let program = compile_with(&module, &target, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(program.host_steps().next().is_some(), "{program}");
    let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
    let chance = Chance::new();
    for _ in 0..2 {
        assert_eq!(run(&executable, &[]), drawn(&module, &[], &chance));
    }
}

#[test]
fn states_are_uploaded_and_move_on() {
    let device = device();
    let module = module(
        "HloModule m
condition {
  p = (s32[], u64[2], u64[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], u64[2], u64[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = u64[2] get-tuple-element(p), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  s = u64[2] rng-get-and-update-state(), delta=17
  y = u64[2] add(x, s)
  ROOT t = (s32[], u64[2], u64[2]) tuple(j, y, s)
}
ENTRY main {
  s = u64[2] rng-get-and-update-state(), delta=300
  b = (u64[2], u32[9]) rng-bit-generator(s), algorithm=rng_philox
  bits = u32[9] get-tuple-element(b), index=1
  i = s32[] constant(0)
  p = (s32[], u64[2], u64[2]) tuple(i, s, s)
  w = (s32[], u64[2], u64[2]) while(p), condition=condition, body=body
  x = u64[2] get-tuple-element(w), index=1
  y = u64[2] get-tuple-element(w), index=2
  again = u64[2] rng-get-and-update-state(), delta=1
  ROOT t = (u64[2], u32[9], u64[2], u64[2], u64[2]) tuple(s, bits, x, y, again)
}",
    );
    let executable = executable(&device, &module, device.target());
    let chance = Chance::new();
    for _ in 0..3 {
        assert_eq!(run(&executable, &[]), drawn(&module, &[], &chance));
    }
    assert_eq!(run(&executable.seeded(5), &[]), drawn(&module, &[], &Chance::seeded(5)));
}

#[test]
fn programs_that_draw_are_written_and_read_again() {
    let device = device();
    let module = mixed("s32", "constant(3)");
    let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}"));
    let is_draw = |step: &Step| matches!(step, Step::Draw(_));
    assert!(program.steps().iter().any(is_draw), "{program}");
    let text = program.text();
    let read: Program = text.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.text(), text);
    let inputs = [Literal::array([6], vec![0i32; 6]), Literal::array([], vec![4i32])];
    let executable = Executable::new(&device, read).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run(&executable, &inputs), evaluate(&module, &inputs).unwrap());
    // What is drawn has the form of a state.
    let wrong = text.replace("u64[] ", "u32[] ");
    assert!(wrong.parse::<Program>().is_err());
}

/// Means, variances and bins of what the device draws.
#[test]
fn draws_on_the_device_are_as_distributed() {
    let device = device();
    let count = 20_000;
    let module = module(&format!(
        "HloModule m\n\nENTRY e {{\n  a = f32[] constant(-1)\n  b = f32[] constant(3)\n  m = f32[] constant(2)\n  \
         x = f32[{count}] rng(a, b), distribution=rng_uniform\n  y = f32[{count}] rng(a, b), distribution=rng_uniform\n  \
         z = f32[{count}] rng(m, m), distribution=rng_normal\n  \
         ROOT t = (f32[{count}], f32[{count}], f32[{count}]) tuple(x, y, z)\n}}\n"
    ));
    let found = run(&executable(&device, &module, device.target()), &[]);
    let [x, y, z] = [0, 1, 2].map(|at| numbers(&found[at]).iter().map(|number| number.re).collect::<Vec<f64>>());
    assert!(x.iter().chain(&y).all(|number| (-1.0..3.0).contains(number)));
    let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / count as f64;
    let products: Vec<f64> = x.iter().zip(&y).map(|(x, y)| (x - 1.0) * (y - 1.0)).collect();
    let variance: Vec<f64> = z.iter().map(|z| (z - 2.0).powi(2)).collect();
    assert!((mean(&x) - 1.0).abs() < 0.04 && (mean(&y) - 1.0).abs() < 0.04 && mean(&products).abs() < 0.04);
    assert!((mean(&z) - 2.0).abs() < 0.06 && (mean(&variance) - 4.0).abs() < 0.2);
    let mut bins = [0f64; 32];
    x.iter().for_each(|x| bins[((x + 1.0) * 8.0) as usize] += 1.0);
    let expected = f64::from(count) / 32.0;
    // Of 31 degrees of freedom one in a thousand lies above 61.1.
    let square: f64 = bins.iter().map(|found| (found - expected).powi(2) / expected).sum();
    assert!((9.0..61.1).contains(&square), "{square}");
}
