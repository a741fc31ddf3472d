//! What drivers get wrong when they are let: each program here once gave a wrong number on llvmpipe.

mod support;

use weft_hlo::ir::{Data, Literal, Module};
use weft_runtime::{Executable, compile};

fn run(module: &Module, inputs: &[Literal]) -> Vec<Literal> {
    let device = support::device();
    let program = compile(module, device.target()).expect("the module compiles");
    Executable::new(&device, program).expect("the program loads").run(inputs).expect("it runs")
}

/// Bits of every element, with one pattern for all NaNs.
fn bits(literal: &Literal) -> Vec<u32> {
    match &literal.data {
        Data::F32(values) => {
            values.iter().map(|value| if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }).collect()
        }
        Data::Pred(values) => values.iter().map(|value| u32::from(*value)).collect(),
        _ => Vec::new(),
    }
}

const SPECIAL: [f32; 12] =
    [0.0, -0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.5, -2.5, 1e30, -1e30, 7.0];

/// Evaluates `result` over the special values `x`, on the device and in the evaluator, and compares all bits.
fn check(definitions: &str, result: &str) {
    let text = format!(
        "  x = f32[12] parameter(0)\n  zero = f32[] constant(0)\n  zeros = f32[12] broadcast(zero), dimensions={{}}\n\
         \x20 big = f32[] constant(1e8)\n  bigs = f32[12] broadcast(big), dimensions={{}}\n{definitions}  ROOT r = {result}"
    );
    let module = support::entry(&text);
    let inputs = [Literal::array([12], SPECIAL.to_vec())];
    let expected = weft_hlo::eval::evaluate(&module, &inputs).expect("the evaluator knows it");
    let found = run(&module, &inputs);
    assert_eq!(bits(&found[0]), bits(&expected[0]), "{definitions}{result}: {:?} for {:?}", found[0], expected[0]);
}

#[test]
fn zeros_are_not_folded_with() {
    for op in ["multiply", "divide", "add", "subtract"] {
        check("", &format!("f32[12] {op}(x, zeros)"));
        check("", &format!("f32[12] {op}(zeros, x)"));
        check("", &format!("f32[12] {op}(zeros, zeros)"));
        check("  n = f32[12] negate(zeros)\n", &format!("f32[12] {op}(n, x)"));
        let minus = "  m = f32[] constant(-0)\n  minus = f32[12] broadcast(m), dimensions={}\n";
        check(minus, &format!("f32[12] {op}(minus, x)"));
        check(minus, &format!("f32[12] {op}(x, minus)"));
        check(minus, &format!("f32[12] {op}(minus, zeros)"));
    }
}

#[test]
fn computed_zeros_are_not_folded_with() {
    let zeros = [
        "  i = s32[] constant(0)\n  is = s32[12] broadcast(i), dimensions={}\n  k = f32[12] convert(is)\n",
        "  p = pred[] constant(false)\n  ps = pred[12] broadcast(p), dimensions={}\n  k = f32[12] convert(ps)\n",
        "  i = f32[1] iota(), iota_dimension=0\n  j = f32[] reshape(i)\n  k = f32[12] broadcast(j), dimensions={}\n",
        "  k = f32[12] add(zeros, zeros)\n",
        "  h = f32[] constant(0.5)\n  hs = f32[12] broadcast(h), dimensions={}\n  k = f32[12] floor(hs)\n",
        "  k = f32[12] tanh(zeros)\n",
        "  k = f32[12] clamp(zeros, bigs, zeros)\n",
        "  t = pred[12] compare(bigs, zeros), direction=GT\n  k = f32[12] select(t, zeros, bigs)\n",
    ];
    for definition in zeros {
        for op in ["multiply", "divide", "add", "subtract"] {
            check(definition, &format!("f32[12] {op}(k, x)"));
            check(definition, &format!("f32[12] {op}(x, k)"));
        }
    }
}

#[test]
fn equal_values_are_not_taken_for_one() {
    for function in ["abs", "floor", "negate", "tanh", "sign", "exponential", "sqrt"] {
        let twice = format!("  a = f32[12] {function}(x)\n  b = f32[12] {function}(x)\n");
        for op in ["subtract", "divide"] {
            check("", &format!("f32[12] {op}(x, x)"));
            check(&twice, &format!("f32[12] {op}(a, b)"));
            check(&twice, &format!("f32[12] {op}(a, a)"));
        }
        for direction in ["EQ", "NE", "LE", "LT", "GE", "GT"] {
            check("", &format!("pred[12] compare(x, x), direction={direction}"));
            check(&twice, &format!("pred[12] compare(a, b), direction={direction}"));
        }
    }
    let chosen = "  p = pred[12] compare(x, zeros), direction=GT\n  a = f32[12] select(p, x, x)\n";
    check(chosen, "f32[12] subtract(a, x)");
    check(chosen, "f32[12] subtract(x, a)");
}

#[test]
fn sums_are_not_reassociated() {
    check("  a = f32[12] add(x, bigs)\n", "f32[12] subtract(a, bigs)");
    check("  a = f32[12] subtract(x, bigs)\n", "f32[12] add(a, bigs)");
    check("  a = f32[12] multiply(x, bigs)\n", "f32[12] divide(a, bigs)");
    check("  a = f32[12] abs(x)\n  b = f32[12] add(a, bigs)\n  c = f32[12] abs(b)\n", "f32[12] subtract(c, bigs)");
}

#[test]
fn accumulators_do_not_start_from_a_zero_to_fold_with() {
    for (op, width) in [("add", 1), ("add", 3), ("multiply", 1), ("multiply", 2), ("divide", 3), ("maximum", 2)] {
        let text = format!(
            "HloModule m\nregion {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] {op}(a, b)\n}}\n\
             ENTRY main {{\n  x = f32[12,{width}] parameter(0)\n  zero = f32[] constant(0)\n  \
             ROOT r = f32[12] reduce(x, zero), dimensions={{1}}, to_apply=region\n}}\n"
        );
        let module = support::module(&text);
        let values: Vec<f32> = SPECIAL.iter().flat_map(|value| std::iter::repeat_n(*value, width)).collect();
        let inputs = [Literal::array([12, width as i64], values)];
        let expected = weft_hlo::eval::evaluate(&module, &inputs).expect("the evaluator knows it");
        assert_eq!(bits(&run(&module, &inputs)[0]), bits(&expected[0]), "{text}");
    }
}

/// llvmpipe leaves every loop after 65,535 rounds, silently.
#[test]
fn long_loops_are_run_to_their_end() {
    let cases: [(&[usize], &str); 8] = [
        (&[65_535], "0"),
        (&[65_536], "0"),
        (&[70_001], "0"),
        (&[300, 300], "0,1"),
        (&[10, 10_000], "0,1"),
        (&[10_000, 10], "0,1"),
        (&[40_000, 2, 3], "0,1,2"),
        (&[1_000_003], "0"),
    ];
    for (extents, dimensions) in cases {
        let shape: Vec<String> = extents.iter().map(usize::to_string).collect();
        let text = format!(
            "HloModule m\nregion {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}}\n\
             ENTRY main {{\n  x = s32[{}] parameter(0)\n  zero = s32[] constant(0)\n  \
             ROOT r = s32[] reduce(x, zero), dimensions={{{dimensions}}}, to_apply=region\n}}\n",
            shape.join(",")
        );
        let module = support::module(&text);
        let count: usize = extents.iter().product();
        let values: Vec<i32> = (0..count).map(|position| (position % 1009) as i32).collect();
        let total: i32 = values.iter().fold(0, |total, value| total.wrapping_add(*value));
        let extents: Vec<i64> = extents.iter().map(|extent| *extent as i64).collect();
        let found = run(&module, &[Literal::array(extents, values)]);
        assert_eq!(found[0].data, Data::S32(vec![total]), "{text}");
    }
}

/// Two long loops in one fusion share the rounds.
#[test]
fn loops_of_one_kernel_share_its_rounds() {
    let module = support::module(
        "HloModule m\nregion {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}\n\
         f {\n  x = s32[40000] parameter(0)\n  zero = s32[] constant(0)\n  y = s32[40000] reverse(x), dimensions={0}\n  \
         a = s32[] reduce(x, zero), dimensions={0}, to_apply=region\n  \
         b = s32[] reduce(y, zero), dimensions={0}, to_apply=region\n  ROOT c = s32[] add(a, b)\n}\n\
         ENTRY main {\n  x = s32[40000] parameter(0)\n  ROOT r = s32[] fusion(x), kind=kLoop, calls=f\n}\n",
    );
    let found = run(&module, &[Literal::array([40_000], vec![1i32; 40_000])]);
    assert_eq!(found[0].data, Data::S32(vec![80_000]));
}
