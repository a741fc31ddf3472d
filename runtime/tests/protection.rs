//! Pairs of neighboring operations, each on 1,024 inputs with NaN, infinities, zeros and subnormal numbers: what the device computes is, bit for bit,
//! what each operation means, with as little hidden as `codegen-wgsl/docs/protection.md` says.

use crate::pairs::{FIRST, NEXT, OTHERS, Operation, operands, why};
use crate::support;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal};
use weft_runtime::{Device, Executable, Options, compile_with};

const COUNT: usize = 1024;

/// Inputs of one parameter: half of them special in all combinations, half of them any of moderate size.
fn values(parameter: u32) -> Vec<f32> {
    const SPECIAL: [f32; 16] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        3.0,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        1e-40,
        -3e-39,
        f32::MIN_POSITIVE,
        1e8,
        -1e8,
        f32::MAX,
        1e-30,
    ];
    let mut state = u64::from(parameter) + 7;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    (0..COUNT)
        .map(|at| {
            if at < COUNT / 2 {
                return SPECIAL[next() as usize % SPECIAL.len()];
            }
            let bits = next();
            f32::from_bits(bits & 0x807f_ffff | (117 + (next() % 20)) << 23)
        })
        .collect()
}

/// All forms of one pair as a program: the parts of one vector, so that they are one kernel, in which none sees another.
fn program(first: &Operation, next: &Operation, others: &[(&str, &str)]) -> String {
    let mut text = operands(COUNT);
    let mut names = Vec::new();
    for (number, (_, other)) in others.iter().enumerate() {
        let (a, r) = (format!("a{number}"), format!("r{number}"));
        let other = if *other == "A" { &a } else { *other };
        text += &first.write(&a, ["x", "y"], COUNT);
        text += &next.write(&r, [&a, other], COUNT);
        names.push(r);
    }
    text + &format!("  ROOT all = f32[{}] concatenate({}), dimensions={{0}}\n", COUNT * others.len(), names.join(", "))
}

fn check(device: &Device, first: &Operation, next: &Operation, failures: &mut Vec<String>) {
    let (Some(of_first), Some(of_next)) = (first.meaning, next.meaning) else { return };
    let others = if next.is_binary() { &OTHERS[..] } else { &OTHERS[..1] };
    let module = support::entry(&program(first, next, others));
    let inputs = [0, 1, 2].map(values);
    let literals = inputs.clone().map(|values| Literal::array([COUNT as i64], values));
    // As it is written: the passes would find the forms to be alike.
    let options = Options { optimize: false, host: false, ..Options::default() };
    // A product and a sum mean two roundings.
    let target = device.target().clone().with(|target| target.forbid_contraction = true);
    let program = compile_with(&module, &target, &options).expect("the module compiles");
    let found = Executable::new(device, program).expect("the program loads").run(&literals).expect("it runs");
    let evaluated = evaluate(&module, &literals).expect("the evaluator knows it");
    let [Data::F32(found), Data::F32(evaluated)] = [&found[0].data, &evaluated[0].data] else { panic!("both are f32") };
    let of_name = |text: &str| [first.name, next.name].iter().any(|name| name.contains(text));
    let arithmetic = device.target().arithmetic;
    let may_be_off = of_name("/") && !arithmetic.exact_division || of_name("sqrt") && !arithmetic.exact_sqrt;
    let keeps = device.target().arithmetic.flushes_denormals == Some(false);
    for (at, (found, evaluated)) in found.iter().zip(evaluated).enumerate() {
        let (form, at) = (others[at / COUNT], at % COUNT);
        let [x, y, z] = [0, 1, 2].map(|input| inputs[input][at]);
        let a = of_first(x, y);
        let other = match form.1 {
            "z" => z,
            "x" => x,
            "A" => a,
            _ => 0.5,
        };
        let expected = of_next(a, other);
        let same = |value: &f32| value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan();
        assert!(same(evaluated), "{} and {} mean {expected:e}, and not {evaluated:e}", first.name, next.name);
        // Other devices may take them for zero at any place, which is another test's business.
        if !keeps && [x, y, z, a, expected].iter().any(|value| value.is_subnormal()) {
            continue;
        }
        // Where a device does not round them to the nearest, quotients and square roots are corrected to the last place: what follows from a
        // neighbor of the first result is as good.
        let neighbors = [a.next_down(), a, a.next_up()].map(|a| of_next(a, if form.1 == "A" { a } else { other }));
        let is_near =
            neighbors.iter().any(|near| found.to_bits().abs_diff(near.to_bits()) <= 1) && expected.is_finite();
        if !(same(found) || may_be_off && is_near) {
            failures.push(format!(
                "{} and then {} with {}, at x = {x:e}, y = {y:e}, z = {z:e}: {found:e} instead of {expected:e} ({})",
                first.name,
                next.name,
                form.0,
                why(first.class, next.class)
            ));
            return;
        }
    }
}

fn check_all(device: &Device) {
    let mut failures = Vec::new();
    for first in &FIRST {
        for next in &NEXT {
            check(device, first, next, &mut failures);
        }
    }
    assert!(failures.is_empty(), "{} pairs\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn pairs_of_operations_mean_what_is_written() {
    check_all(&support::device());
}

/// With nothing hidden but zeros.
#[cfg(feature = "no-contraction")]
#[test]
fn pairs_mean_what_is_written_to_drivers_that_keep_to_the_order() {
    check_all(&support::ordered_device());
}
