//! What drivers get wrong when they are let: each program here once gave a wrong number on llvmpipe or SwiftShader, or
//! might give one under fast mathematics.

mod rounds;

use crate::near::{is_near, numbers as numbers_of};
use crate::support::{self, compile};
use std::sync::LazyLock;
use weft_hlo::eval::{converted, evaluate};
use weft_hlo::ir::{BinaryOp, Data, ElementType, Literal, Module, UnaryOp};
use weft_hlo::shape::unary_accepts;
use weft_partition::{DeviceKind, Target};
use weft_runtime::{Device, Executable, Options, compile_with};

/// One device for all tests: some drivers take long to open one.
static DEVICE: LazyLock<Device> = LazyLock::new(support::device);

fn run(module: &Module, inputs: &[Literal]) -> Vec<Literal> {
    run_for(DEVICE.target(), module, inputs)
}

fn run_for(target: &Target, module: &Module, inputs: &[Literal]) -> Vec<Literal> {
    let program = compile(module, target).expect("the module compiles");
    Executable::new(&DEVICE, program).expect("the program loads").run(inputs).expect("it runs")
}

/// Bits of every element, with one pattern for all NaNs.
fn bits(literal: &Literal) -> Vec<u32> {
    match &literal.data {
        Data::F64(values) => values
            .iter()
            .map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() })
            .flat_map(|bits| [bits as u32, (bits >> 32) as u32])
            .collect(),
        Data::F32(values) => {
            values.iter().map(|value| if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }).collect()
        }
        Data::Pred(values) => values.iter().map(|value| u32::from(*value)).collect(),
        _ => Vec::new(),
    }
}

const SPECIAL: [f32; 12] =
    [0.0, -0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.5, -2.5, 1e30, -1e30, 7.0];

/// Evaluates `result` over the special values `x`, on the device and in the evaluator, and compares all bits: of `f32`, and likewise of `f64`
/// where the device computes with it.
fn check(definitions: &str, result: &str) {
    let text = format!(
        "  x = f32[12] parameter(0)\n  zero = f32[] constant(0)\n  zeros = f32[12] broadcast(zero), dimensions={{}}\n\
         \x20 big = f32[] constant(1e8)\n  bigs = f32[12] broadcast(big), dimensions={{}}\n{definitions}  ROOT r = {result}"
    );
    let check = |text: &str, input: Literal| {
        let module = support::entry(text);
        let expected = evaluate(&module, std::slice::from_ref(&input)).expect("the evaluator knows it");
        let found = run(&module, &[input]);
        assert_eq!(bits(&found[0]), bits(&expected[0]), "{text}: {:?} for {:?}", found[0], expected[0]);
    };
    check(&text, Literal::array([12], SPECIAL.to_vec()));
    if DEVICE.target().features.shader_f64 {
        let text = text.replace("f32", "f64").replace("1e8", "1e17");
        check(&text, Literal::array([12], SPECIAL.map(f64::from).to_vec()));
    }
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

/// A function may return a zero that its callers compute with: the imaginary part of what was real.
#[test]
fn zeros_that_functions_return_are_not_folded_with() {
    for operation in ["subtract(r, c)", "subtract(c, r)", "add(r, c)", "multiply(r, c)"] {
        let module = support::entry(&format!(
            "x = f32[4] parameter(0)\nc = c64[4] convert(x)\nr = c64[4] reverse(c), dimensions={{0}}\n\
             d = c64[4] {operation}\nROOT i = f32[4] imag(d)"
        ));
        let inputs = [Literal::array([4], vec![1.5f32, -2.0, 0.25, -8.0])];
        let expected = evaluate(&module, &inputs).expect("the evaluator knows it");
        assert_eq!(bits(&run(&module, &inputs)[0]), bits(&expected[0]), "{operation}");
    }
}

/// What depends on uniforms alone, as branches within a function of a known number do, drivers compile again with their values:
/// llvmpipe then knew every zero that hides something, and took the product of the loop for 0 at the first factor that is.
#[test]
fn uniforms_do_not_tell_what_is_hidden() {
    let region = "c {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] OP(a, b)\n}\n";
    for (op, function) in [("multiply", "acos"), ("add", "acosh"), ("multiply", "log"), ("multiply", "atanh")] {
        for rounds in [2, 3, 6, 7] {
            let text = format!(
                "HloModule m\n{}ENTRY e {{\n  x = f32[2,{rounds}] iota(), iota_dimension=1\n  \
                 y = f32[2,{rounds}] {function}(x)\n  k = f32[] constant(-1.18)\n  \
                 ROOT r = f32[2] reduce(y, k), dimensions={{1}}, to_apply=c\n}}\n",
                region.replace("OP", op)
            );
            let module = support::module(&text);
            let expected = evaluate(&module, &[]).expect("the evaluator knows it");
            // As it is written: the passes would fold it.
            let options = Options { optimize: false, host: false, ..Options::default() };
            let program = compile_with(&module, DEVICE.target(), &options).expect("the module compiles");
            let found = Executable::new(&DEVICE, program).expect("the program loads").run(&[]).expect("it runs");
            let close = |(found, expected): (&u32, &u32)| {
                let [found, expected] = [*found, *expected].map(f32::from_bits);
                found.is_nan() == expected.is_nan()
                    && (expected.is_nan() || found == expected || (found - expected).abs() <= 1e-5 * expected.abs())
                    && found.is_sign_negative() == expected.is_sign_negative()
            };
            let (found, expected) = (bits(&found[0]), bits(&expected[0]));
            assert!(found.iter().zip(&expected).all(close), "{op} of {function}, {rounds}: {found:x?} {expected:x?}");
        }
    }
}

/// A product with the inverse of a constant is no quotient, but where the constant is a power of two.
#[test]
fn quotients_by_constants_are_no_products() {
    let thirds: Vec<f32> = (1..3000).map(|number| number as f32 * 0.37).collect();
    let count = thirds.len();
    for constant in ["3", "10", "-7", "0.1", "1.0000001", "4", "-0.25", "1e30", "2.5e38"] {
        let module = support::entry(&format!(
            "x = f32[{count}] parameter(0)\nc = f32[] constant({constant})\nk = f32[{count}] broadcast(c), dimensions={{}}\n\
             ROOT r = f32[{count}] divide(x, k)"
        ));
        let inputs = [Literal::array([count as i64], thirds.clone())];
        let expected = evaluate(&module, &inputs).expect("the evaluator knows it");
        let found = run(&module, &inputs);
        let flushed = |bits: u32| if f32::from_bits(bits).is_subnormal() { bits & 1 << 31 } else { bits };
        for (found, expected) in bits(&found[0]).into_iter().zip(bits(&expected[0])) {
            assert_eq!(flushed(found), flushed(expected), "a quotient by {constant}");
        }
    }
}

/// Of a narrow float that is a constant, or an index, a driver can compute the number.
#[test]
fn narrow_zeros_are_not_folded_with() {
    for ty in ["bf16", "f16", "f8e5m2fnuz", "f8e4m3fn"] {
        let text = format!(
            "x = {ty}[6] parameter(0)
            p = pred[6] parameter(1)
            i = {ty}[6] iota(), iota_dimension=0
            r = {ty}[6] reverse(i), dimensions={{0}}
            z = {ty}[] constant(0)
            zeros = {ty}[6] broadcast(z), dimensions={{}}
            o = {ty}[] constant(1)
            ones = {ty}[6] broadcast(o), dimensions={{}}
            s = {ty}[6] select(p, zeros, ones)
            m = {ty}[6] minimum(i, zeros)
            a = {ty}[6] divide(m, m)
            b = {ty}[6] multiply(x, zeros)
            c = {ty}[6] multiply(x, s)
            d = {ty}[6] divide(r, zeros)
            e = {ty}[6] add(x, zeros)
            ROOT t = ({ty}[6], {ty}[6], {ty}[6], {ty}[6], {ty}[6]) tuple(a, b, c, d, e)"
        );
        let module = support::entry(&text);
        let numbers = Literal::array([6], vec![f32::NAN, -1.0, -0.0, 0.0, 2.0, f32::INFINITY]);
        let element_type = module.entry_computation().instructions.values().next().expect("x").shape.as_array();
        let element_type = element_type.expect("an array").element_type;
        let data = converted(&numbers.data, element_type).expect("numbers of every type");
        let inputs = [Literal::array([6], data), Literal::array([6], vec![true, true, false, true, false, true])];
        let expected = evaluate(&module, &inputs).expect("the evaluator knows it");
        for (number, (expected, found)) in expected.iter().zip(run(&module, &inputs)).enumerate() {
            for position in 0..6 {
                let [a, b] = [expected, &found].map(|literal| literal.data.get(position).expect("six elements"));
                let is_nan = numbers_of(a).is_some_and(|parts| parts[0].is_nan());
                let is_same = a.bits() == b.bits() || is_nan && is_near(a, b, 0.0);
                assert!(is_same, "{ty}, result {number}, element {position}: {b} for {a}");
            }
        }
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
    for (constant, op) in ["nan", "inf", "-inf"].into_iter().flat_map(|of| [(of, "subtract"), (of, "divide")]) {
        check(&format!("  c = f32[] constant({constant})\n"), &format!("f32[] {op}(c, c)"));
    }
}

#[test]
fn sums_are_not_reassociated() {
    check("  a = f32[12] add(x, bigs)\n", "f32[12] subtract(a, bigs)");
    check("  a = f32[12] subtract(x, bigs)\n", "f32[12] add(a, bigs)");
    check("  a = f32[12] multiply(x, bigs)\n", "f32[12] divide(a, bigs)");
    check("  a = f32[12] abs(x)\n  b = f32[12] add(a, bigs)\n  c = f32[12] abs(b)\n", "f32[12] subtract(c, bigs)");
}

/// A program that is one kernel: `body` within a fusion of these parameters, with regions `add`, `multiply` and `maximum`.
fn fusion(parameters: &[&str], body: &str, result: &str) -> Module {
    let mut text = String::from("HloModule m\n");
    for op in ["add", "multiply", "maximum"] {
        text +=
            &format!("{op} {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] {op}(a, b)\n}}\n");
    }
    text += "mean {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] add(a, b)\n  \
             h = f32[] constant(0.5)\n  ROOT d = f32[] multiply(c, h)\n}\n";
    let declared = parameters.iter().enumerate();
    let declared: String =
        declared.map(|(number, parameter)| format!("  p{number} = {parameter} parameter({number})\n")).collect();
    let names: Vec<String> = (0..parameters.len()).map(|number| format!("p{number}")).collect();
    let names = names.join(", ");
    text += &format!("f {{\n{declared}{body}\n}}\n");
    text += &format!("ENTRY main {{\n{declared}  ROOT all = {result} fusion({names}), kind=kLoop, calls=f\n}}\n");
    support::module(&text)
}

/// Runs a module that is a single kernel, and compares all bits with the evaluator's.
fn check_kernel(module: &Module, inputs: &[Literal]) {
    let program = compile(module, DEVICE.target()).expect("the module compiles");
    assert_eq!(program.launches().count(), 1, "{program}");
    let expected = evaluate(module, inputs).expect("the evaluator knows it");
    let found = run(module, inputs);
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(bits(found), bits(expected), "{module:?}");
    }
}

/// Whether a device may fold so many elements and a first value in another order than the evaluator, and come to another number.
fn is_order_open(region: &str, elements: i64) -> bool {
    elements > 1 && matches!(region, "add" | "multiply" | "mean") && DEVICE.target().kind != DeviceKind::Software
}

#[test]
fn what_a_loop_leaves_is_hidden() {
    let scalar = |value: f32| Literal::array([], vec![value]);
    for width in [1i64, 2, 3, 40] {
        let x = format!("f32[4,{width}]");
        let threes = Literal::array([4, width], vec![3.0f32; 4 * usize::try_from(width).expect("it is positive")]);
        let cases = [
            ("add", "subtract(r, i)", 1e8),
            ("add", "add(r, n)", 1e8),
            ("multiply", "divide(r, i)", 0.1),
            ("maximum", "subtract(r, i)", 0.5),
            ("mean", "subtract(r, i)", 1e8),
        ];
        for (region, last, init) in cases {
            if is_order_open(region, width) {
                continue;
            }
            let body = format!(
                "  i = f32[4] broadcast(p1), dimensions={{}}\n  n = f32[4] negate(i)\n  \
                 r = f32[4] reduce(p0, p1), dimensions={{1}}, to_apply={region}\n  ROOT s = f32[4] {last}"
            );
            check_kernel(&fusion(&[&x, "f32[]"], &body, "f32[4]"), &[threes.clone(), scalar(init)]);
            // In a function of its own, whose caller does the arithmetic.
            let body = format!(
                "  i = f32[4] broadcast(p1), dimensions={{}}\n  n = f32[4] negate(i)\n  \
                 q = f32[4] reduce(p0, p1), dimensions={{1}}, to_apply={region}\n  \
                 r = f32[4] reverse(q), dimensions={{0}}\n  t = f32[4] {last}\n  ROOT s = f32[4] add(t, q)"
            );
            check_kernel(&fusion(&[&x, "f32[]"], &body, "f32[4]"), &[threes.clone(), scalar(init)]);
        }
        if is_order_open("add", width) {
            continue;
        }
        // It begins with a sum, and is compared with a term.
        let body = "  b = f32[] constant(1e8)\n  j = f32[] add(p1, b)\n  c = f32[4] broadcast(b), dimensions={}\n  \
                    r = f32[4] reduce(p0, j), dimensions={1}, to_apply=add\n  ROOT s = pred[4] compare(r, c), direction=GT";
        check_kernel(&fusion(&[&x, "f32[]"], body, "pred[4]"), &[threes.clone(), scalar(1.0)]);
    }
}

#[test]
fn sums_are_not_compared_by_a_term() {
    check("  a = f32[12] add(bigs, x)\n", "pred[12] compare(a, bigs), direction=GT");
    check("  a = f32[12] add(x, bigs)\n", "pred[12] compare(bigs, a), direction=LT");
    check("  a = f32[12] add(bigs, x)\n", "pred[12] compare(a, x), direction=NE");
    check("  a = f32[12] subtract(x, bigs)\n", "pred[12] compare(x, a), direction=GE");
    check("  a = f32[12] multiply(bigs, x)\n", "pred[12] compare(a, x), direction=EQ");
}

#[test]
fn comparisons_with_nan_hold_when_they_are_negated() {
    for direction in ["EQ", "NE", "LE", "LT", "GE", "GT"] {
        for (a, b) in [("x", "turned"), ("x", "zeros"), ("bigs", "x"), ("x", "x")] {
            let compared = format!(
                "  turned = f32[12] reverse(x), dimensions={{0}}\n  a = pred[12] compare({a}, {b}), direction={direction}\n"
            );
            check(&compared, "pred[12] not(a)");
            check(&compared, "f32[12] select(a, x, turned)");
            check(&compared, "f32[12] select(a, turned, x)");
            check(&format!("{compared}  n = pred[12] not(a)\n"), "f32[12] select(n, x, turned)");
        }
    }
}

/// Where functions are held against themselves: near their zeros and poles, and far away.
fn sample() -> Vec<f32> {
    let positive = [1e-9f32, 1e-3, 0.1, 0.3, 0.7, 0.999, 1.0, 1.000_1, 1.5, 2.5, 3.3, 17.25, 1234.5, 1e8];
    positive.into_iter().flat_map(|x| [x, -x]).collect()
}

/// The unary functions of `f32` by name.
fn unary_names() -> impl Iterator<Item = &'static str> {
    let unary = UnaryOp::ALL.iter().filter(|op| unary_accepts(**op, ElementType::F32) && **op != UnaryOp::IsFinite);
    unary.map(|op| op.name())
}

/// All functions of `a`, of `count` elements, of which each is computed by a kernel of its own.
struct Functions {
    calls: Vec<String>,
    vector: String,
    /// The instructions after `a`.
    text: String,
    /// The program whose parameter `a` is.
    apart: Executable,
}

impl Functions {
    fn new(count: usize) -> Functions {
        let vector = format!("f32[{count}]");
        let binary = [BinaryOp::Atan2, BinaryOp::Power, BinaryOp::Remainder, BinaryOp::Maximum];
        let binary = binary.iter().flat_map(|op| [format!("{}(a, h)", op.name()), format!("{}(h, a)", op.name())]);
        let calls: Vec<String> = unary_names().map(|name| format!("{name}(a)")).chain(binary).collect();
        let mut text = format!("q = f32[] constant(0.75)\nh = {vector} broadcast(q), dimensions={{}}\n");
        for (number, call) in calls.iter().enumerate() {
            text += &format!("r{number} = {vector} {call}\n");
        }
        let names: Vec<String> = (0..calls.len()).map(|number| format!("r{number}")).collect();
        text += &format!("ROOT t = ({}) tuple({})", vec![vector.clone(); calls.len()].join(", "), names.join(", "));
        let apart = load(&format!("a = {vector} parameter(0)\n{text}"));
        Functions { calls, vector, text, apart }
    }

    /// Where functions of `a`, which the instructions `before` compute of the inputs, differ from those of its value, `argument`.
    fn differences(&self, argument: &str, before: &str, inputs: &[Literal], value: &[Literal]) -> Vec<String> {
        let fused = load(&format!("{before}a = {} {argument}\n{}", self.vector, self.text)).run(inputs);
        let (fused, apart) = (fused.expect("it runs"), self.apart.run(value).expect("it runs"));
        let pairs =
            self.calls.iter().zip(fused.iter().zip(&apart)).filter(|(_, (fused, apart))| bits(fused) != bits(apart));
        pairs.map(|(call, (fused, apart))| format!("{call} of {argument}: {fused:?} for {apart:?}")).collect()
    }
}

fn load(text: &str) -> Executable {
    let program = compile(&support::entry(text), DEVICE.target()).expect("the module compiles");
    Executable::new(&DEVICE, program).expect("the program loads")
}

/// Arithmetic before a function must not merge with that inside: computed in one kernel, its value is the same as where the
/// arithmetic is done beforehand, which the evaluator rounds as a device does.
#[test]
fn functions_take_their_arguments_as_they_are() {
    let xs = sample();
    let functions = Functions::new(xs.len());
    let vector = &functions.vector;
    let inputs = [Literal::array([xs.len() as i64], xs)];
    let mut failures = Vec::new();
    for (argument, constant) in [
        ("add(x, k)", "1"),
        ("subtract(x, k)", "1"),
        ("subtract(k, x)", "1"),
        ("add(k, x)", "1.5707964"),
        ("subtract(x, k)", "0.5"),
        ("multiply(x, x)", "0"),
        ("multiply(x, k)", "3"),
        ("divide(k, x)", "3"),
    ] {
        let before = format!("c = f32[] constant({constant})\nk = {vector} broadcast(c), dimensions={{}}\n");
        let before = format!("x = {vector} parameter(0)\n{before}");
        let value = evaluate(&support::entry(&format!("{before}ROOT a = {vector} {argument}")), &inputs);
        failures.extend(functions.differences(argument, &before, &inputs, &value.expect("the evaluator knows it")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Neither must functions merge with each other: llvmpipe took the least of a number and the magnitude of what was chosen by a test
/// for NaN, and hidden, for some subnormal number.
#[test]
fn functions_take_each_others_values() {
    let xs = sample();
    let functions = Functions::new(xs.len());
    let inputs = [Literal::array([xs.len() as i64], xs)];
    let before = format!("x = {} parameter(0)\n", functions.vector);
    let mut failures = Vec::new();
    for name in unary_names() {
        let argument = format!("{name}(x)");
        let value = load(&format!("{before}ROOT a = {} {argument}", functions.vector)).run(&inputs).expect("it runs");
        failures.extend(functions.differences(&argument, &before, &inputs, &value));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn functions_near_their_zeros_are_right() {
    for (x, argument, function) in [(1e-9f32, "add(x, one)", "acosh(a)"), (1e-3, "subtract(x, one)", "log-plus-one(a)")]
    {
        let module = support::entry(&format!(
            "x = f32[] parameter(0)\none = f32[] constant(1)\na = f32[] {argument}\nROOT r = f32[] {function}"
        ));
        let inputs = [Literal::array([], vec![x])];
        let expected = evaluate(&module, &inputs).expect("the evaluator knows it");
        let found = run(&module, &inputs);
        let [Data::F32(found), Data::F32(expected)] = [&found[0].data, &expected[0].data] else {
            panic!("both are f32")
        };
        let distance = found[0].to_bits().abs_diff(expected[0].to_bits());
        assert!(distance <= 3, "{function} of {argument} at {x:e}: {found:?} for {expected:?}");
    }
}

#[test]
fn accumulators_do_not_start_from_a_zero_to_fold_with() {
    for (op, width) in [("add", 1), ("add", 3), ("multiply", 1), ("multiply", 2), ("divide", 3), ("maximum", 2)] {
        if is_order_open(op, width) {
            continue;
        }
        let text = format!(
            "HloModule m\nregion {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] {op}(a, b)\n}}\n\
             ENTRY main {{\n  x = f32[12,{width}] parameter(0)\n  zero = f32[] constant(0)\n  \
             ROOT r = f32[12] reduce(x, zero), dimensions={{1}}, to_apply=region\n}}\n"
        );
        let module = support::module(&text);
        let values: Vec<f32> = SPECIAL.iter().flat_map(|value| std::iter::repeat_n(*value, width as usize)).collect();
        let inputs = [Literal::array([12, width], values)];
        let expected = evaluate(&module, &inputs).expect("the evaluator knows it");
        assert_eq!(bits(&run(&module, &inputs)[0]), bits(&expected[0]), "{text}");
    }
}

/// A grid of several rows or planes numbers its invocations without gaps.
#[test]
fn grids_of_three_dimensions_cover_everything() {
    let module = support::entry(
        "  x = s32[5003] parameter(0)\n  i = s32[5003] iota(), iota_dimension=0\n  ROOT s = s32[5003] subtract(x, i)",
    );
    let inputs = [Literal::array([5003], (0..5003).map(|i| 3 * i).collect::<Vec<i32>>())];
    let expected = evaluate(&module, &inputs).expect("the evaluator knows it");
    for (limit, dimensions) in [(65_535, 1), (40, 2), (8, 3), (7, 3)] {
        let target = DEVICE.target().clone().with(|target| {
            target.max_workgroups_per_dimension = limit;
            target.max_invocations_per_workgroup = 16;
        });
        let program = compile(&module, &target).expect("the module compiles");
        let [x, y, z] = program.launches().next().expect("there is one").workgroups;
        assert_eq!(1 + usize::from(y > 1) + usize::from(z > 1), dimensions, "{x} x {y} x {z}");
        assert!([x, y, z].iter().all(|side| *side <= limit), "{x} x {y} x {z}");
        assert_eq!(run_for(&target, &module, &inputs), expected, "{x} x {y} x {z}");
    }
}

/// Subnormal numbers are what IEEE 754 says on adapters that keep them. Others may take an operand, a result or both for
/// zero, and nothing else; what only moves keeps its bits on all.
#[test]
fn subnormal_numbers_are_kept_or_flushed_and_nothing_between() {
    let flushed = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    let some = [1e-40f32, -1e-40, 3e-39, f32::MIN_POSITIVE, -f32::MIN_POSITIVE, 1.5e-38, 0.0, -0.0, 1.0, -2.0, 1e30];
    let pairs: Vec<(f32, f32)> = some.iter().flat_map(|x| some.iter().map(|y| (*x, *y))).collect();
    let count = pairs.len();
    let literal = |values: Vec<f32>| Literal::array([count as i64], values);
    let inputs = [pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()].map(literal);
    let as_zeros = [
        &pairs.iter().map(|pair| flushed(pair.0)).collect::<Vec<_>>(),
        &pairs.iter().map(|pair| flushed(pair.1)).collect(),
    ]
    .map(|values| literal(values.clone()));
    let probe = support::entry("x = f32[1] parameter(0)\nROOT y = f32[1] multiply(x, x)");
    let least = run(&probe, &[Literal::array([1], vec![1e-20f32])]);
    let keeps = bits(&least[0]) == [(1e-20f32 * 1e-20).to_bits()];
    let told = DEVICE.target().arithmetic.flushes_denormals;
    assert!(told.is_none_or(|flushes| flushes != keeps), "the target says {told:?}");
    println!("{} {} subnormal numbers", DEVICE.info().name, if keeps { "keeps" } else { "flushes" });
    let binary = ["add", "subtract", "multiply", "divide", "maximum", "minimum"].map(|op| format!("{op}(x, y)"));
    let unary = ["negate", "abs", "sqrt", "floor"].map(|op| format!("{op}(x)"));
    for op in binary.into_iter().chain(unary) {
        let module = support::entry(&format!(
            "x = f32[{count}] parameter(0)\ny = f32[{count}] parameter(1)\nROOT r = f32[{count}] {op}"
        ));
        let values = |inputs: &[Literal]| match &evaluate(&module, inputs).expect("the evaluator knows it")[0].data {
            Data::F32(values) => values.clone(),
            other => panic!("{other:?}"),
        };
        let (exact, zeros) = (values(&inputs), values(&as_zeros));
        let found = bits(&run(&module, &inputs)[0]);
        for (((x, y), found), (exact, zero)) in pairs.iter().zip(found).zip(exact.into_iter().zip(zeros)) {
            let accepted: &[f32] = if keeps { &[exact] } else { &[exact, flushed(exact), zero, flushed(zero)] };
            let is_accepted = accepted
                .iter()
                .any(|value| value.to_bits() == found || (value.is_nan() && f32::from_bits(found).is_nan()));
            assert!(is_accepted, "{op} at {x:e}, {y:e} is {:e} instead of one of {accepted:?}", f32::from_bits(found));
        }
    }
    let module =
        support::entry(&format!("x = f32[{count}] parameter(0)\nROOT r = f32[{count}] reverse(x), dimensions={{0}}"));
    let expected = evaluate(&module, &inputs[..1]).expect("the evaluator knows it");
    assert_eq!(bits(&run(&module, &inputs[..1])[0]), bits(&expected[0]));
}
