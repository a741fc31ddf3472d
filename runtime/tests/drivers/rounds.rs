//! How many rounds of loops drivers make.

use super::run;
use crate::support;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module};

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

fn sum_of_integers(body: &str, inputs: &[&str], result: &str) -> Module {
    let parameters = inputs.iter().enumerate();
    let parameters: String =
        parameters.map(|(number, input)| format!("  p{number} = {input} parameter({number})\n")).collect();
    let names: Vec<String> = (0..inputs.len()).map(|number| format!("p{number}")).collect();
    let names = names.join(", ");
    support::module(&format!(
        "HloModule m\nregion {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}}\n\
         f {{\n{parameters}  zero = s32[] constant(0)\n{body}}}\n\
         ENTRY main {{\n{parameters}  ROOT r = {result} fusion({names}), kind=kLoop, calls=f\n}}\n"
    ))
}

/// A loop in a function makes its rounds at every call.
#[test]
fn rounds_are_counted_through_calls() {
    // Called twice.
    let twice = sum_of_integers(
        "  a = s32[2] reduce(p0, zero), dimensions={1}, to_apply=region\n  t = s32[2] reverse(a), dimensions={0}\n  \
         b = s32[2] reduce(p1, zero), dimensions={1}, to_apply=region\n  \
         c = s32[2] reduce(p2, zero), dimensions={1}, to_apply=region\n  \
         s = s32[2] add(a, t)\n  u = s32[2] add(b, c)\n  ROOT r = s32[2] add(s, u)\n",
        &["s32[2,16000]", "s32[2,21000]", "s32[2,21000]"],
        "s32[2]",
    );
    let ones = |count: i64| Literal::array([2, count], vec![1i32; usize::try_from(2 * count).expect("it is positive")]);
    let inputs = [ones(16_000), ones(21_000), ones(21_000)];
    // Called in every round of a loop.
    let nested = sum_of_integers(
        "  a = s32[25000] reduce(p0, zero), dimensions={1}, to_apply=region\n  \
         ROOT r = s32[] reduce(a, zero), dimensions={0}, to_apply=region\n",
        &["s32[25000,1]"],
        "s32[]",
    );
    let column = Literal::array([25_000, 1], (0..25_000).collect::<Vec<i32>>());
    for (module, inputs) in [(&twice, &inputs[..]), (&nested, &[column])] {
        let expected = evaluate(module, inputs).expect("the evaluator knows it");
        assert_eq!(run(module, inputs), expected);
    }
}
