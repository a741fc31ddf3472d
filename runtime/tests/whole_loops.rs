//! Loops that are one kernel, on the default adapter against the evaluator.

use crate::support::{self, device};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Scalar};
use weft_partition::Target;
use weft_runtime::program::Step;
use weft_runtime::{Executable, Options, Program, compile_with};

/// What tensors hold; NaNs are equal in every bit.
/// What arrays hold, every NaN as good as another.
fn data(literals: &[Literal]) -> Vec<Data> {
    let plain = |literal: &Literal| match &literal.data {
        Data::F32(values) => {
            Data::F32(values.iter().map(|value| if value.is_nan() { f32::NAN } else { *value }).collect())
        }
        data => data.clone(),
    };
    literals.iter().map(plain).collect()
}

/// A loop whose state is one array `x` besides a counter `i`, which goes on as `condition` says, a computation of `i`, `x` and the second argument `n`;
/// `body` makes `y` of `i`, `x` and `n`.
fn looped(shape: &str, condition: &str, body: &str) -> String {
    let taken = format!(
        "p = (s32[], {shape}, s32[]) parameter(0)
         i = s32[] get-tuple-element(p), index=0
         x = {shape} get-tuple-element(p), index=1
         n = s32[] get-tuple-element(p), index=2"
    );
    format!(
        "HloModule m
         add {{
            a = f32[] parameter(0)
            b = f32[] parameter(1)
            ROOT c = f32[] add(a, b)
         }}
         condition {{
            {taken}
            {condition}
         }}
         body {{
            {taken}
            one = s32[] constant(1)
            j = s32[] add(i, one)
            {body}
            ROOT t = (s32[], {shape}, s32[]) tuple(j, y, n)
         }}
         ENTRY main {{
            x = {shape} parameter(0)
            n = s32[] parameter(1)
            zero = s32[] constant(0)
            s = (s32[], {shape}, s32[]) tuple(zero, x, n)
            w = (s32[], {shape}, s32[]) while(s), condition=condition, body=body
            i = s32[] get-tuple-element(w), index=0
            y = {shape} get-tuple-element(w), index=1
            ROOT r = (s32[], {shape}) tuple(i, y)
         }}"
    )
}

const BELOW: &str = "ROOT c = pred[] compare(i, n), direction=LT";

/// The program of a text, every loop of which is one kernel that is proved.
fn whole(text: &str, target: &Target) -> Program {
    let options = Options { host: false, ..Options::default() };
    let program = compile_with(&support::module(text), target, &options).unwrap_or_else(|error| panic!("{error}"));
    assert!(!program.loops().is_empty(), "{text}");
    for decision in program.loops() {
        assert!(decision.is_kernel, "{}: {}\n{text}", decision.name, decision.reason);
    }
    for shader in program.shaders() {
        assert!(shader.proofs().are_complete(), "{:?}\n{}", shader.proofs(), shader.source);
    }
    program
}

/// Runs a program for each of several inputs, and compares in every bit.
fn agrees(text: &str, target: &Target, inputs: &[Vec<Literal>]) -> Program {
    let (module, program) = (support::module(text), whole(text, target));
    let executable = Executable::new(&device(), program.clone()).unwrap_or_else(|error| panic!("{error}"));
    for inputs in inputs {
        let expected = evaluate(&module, inputs).unwrap_or_else(|findings| panic!("{findings}"));
        let actual = executable.run(inputs).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(data(&actual), data(&expected), "{inputs:?}\n{program}");
    }
    program
}

fn numbers(count: i32) -> Literal {
    Literal::array([i64::from(count)], (0..count).map(|number| number * 7 - 3).collect::<Vec<i32>>())
}

fn rounds(number: i32) -> Literal {
    Literal::scalar(Scalar::S32(number))
}

#[test]
fn rounds_end_where_the_condition_says() {
    let device = device();
    for elements in [1, 3, 64, 100, 300] {
        let shape = format!("s32[{elements}]");
        let body = format!(
            "w = {shape} broadcast(i), dimensions={{}}\n v = {shape} reverse(x), dimensions={{0}}\n y = {shape} subtract(w, v)"
        );
        let inputs: Vec<Vec<Literal>> =
            [0, 1, 2, 3, 17, 200].into_iter().map(|count| vec![numbers(elements), rounds(count)]).collect();
        let program = agrees(&looped(&shape, BELOW, &body), device.target(), &inputs);
        // One dispatch, and others for as long as there are rounds left.
        assert_eq!(program.launches().count(), 2, "{program}");
    }
}

#[test]
fn a_loop_goes_on_in_the_next_dispatch() {
    let device = device();
    // So few rounds of a dispatch that there are many of them.
    let few = device.target().clone().with(|target| target.max_loop_iterations = Some(150));
    let body =
        "w = s32[70] broadcast(i), dimensions={}\n v = s32[70] reverse(x), dimensions={0}\n y = s32[70] subtract(w, v)";
    let counts = [0, 1, 15, 16, 17, 18, 19, 20, 21, 22, 36, 37, 38, 39, 40, 100, 500, 501];
    let inputs: Vec<Vec<Literal>> = counts.into_iter().map(|count| vec![numbers(70), rounds(count)]).collect();
    agrees(&looped("s32[70]", BELOW, body), &few, &inputs);
    for count in [2, 16, 30, 97, 100, 131, 499] {
        let known = format!("k = s32[] constant({count})\n ROOT c = pred[] compare(i, k), direction=LT");
        let program = agrees(&looped("s32[70]", &known, body), &few, &inputs[..1]);
        let dispatched: u64 = program.steps().iter().map(dispatches).sum();
        assert!(u64::try_from(count).unwrap() <= 150 * dispatched, "{program}");
        assert!(count < 150 || dispatched > 1, "{program}");
    }
}

/// How many launches of a known number a step is.
fn dispatches(step: &Step) -> u64 {
    match step {
        Step::Launch(_) => 1,
        Step::While(step) => step.trip_count.unwrap_or(0) * step.body.iter().map(dispatches).sum::<u64>(),
        _ => 0,
    }
}

#[test]
fn a_hundred_thousand_rounds_are_few_dispatches() {
    let device = device();
    let body = "k = s32[] constant(1664525)\n m = s32[] multiply(x, k)\n y = s32[] add(m, i)";
    let start = Literal::scalar(Scalar::S32(7));
    agrees(&looped("s32[]", BELOW, body), device.target(), &[vec![start.clone(), rounds(100_003)]]);
    let known = "k = s32[] constant(100003)\n ROOT c = pred[] compare(i, k), direction=LT";
    agrees(&looped("s32[]", known, body), device.target(), &[vec![start, rounds(0)]]);
}

#[test]
fn conditions_on_numbers_that_are_none_end_loops() {
    let device = device();
    let scalar = |value: f32| Literal::scalar(Scalar::F32(value));
    let condition = "k = f32[] constant(1000)\n ROOT c = pred[] compare(x, k), direction=LT";
    let doubled = "y = f32[] add(x, x)";
    let starts = [f32::NAN, 1.0, 0.75, f32::INFINITY, 2000.0, 1e-30];
    let inputs: Vec<Vec<Literal>> = starts.into_iter().map(|start| vec![scalar(start), rounds(0)]).collect();
    agrees(&looped("f32[]", condition, doubled), device.target(), &inputs);
    // What becomes none in a round.
    let ends = "k = f32[] constant(1000)\n d = pred[] compare(x, k), direction=NE\n three = s32[] constant(3)\n\
                e = pred[] compare(i, three), direction=LT\n ROOT c = pred[] and(d, e)";
    let inputs = [vec![scalar(0.0), rounds(0)], vec![scalar(5.0), rounds(0)]];
    agrees(&looped("f32[]", ends, "y = f32[] divide(x, x)"), device.target(), &inputs);
}

/// What lies in memory of the workgroup is as opaque to drivers as what lies in buffers.
#[test]
fn sums_are_rounded_in_every_round() {
    let device = device();
    let array = Literal::array([5], vec![1.0f32, 0.1, f32::NAN, f32::INFINITY, -0.0]);
    let up = "b = f32[] constant(1e8)\n w = f32[5] broadcast(b), dimensions={}\n u = f32[5] add(x, w)\n v = f32[5] reverse(u), dimensions={0}\n\
              z = f32[5] reverse(v), dimensions={0}\n y = f32[5] subtract(z, w)";
    let same =
        "v = f32[5] reverse(x), dimensions={0}\n z = f32[5] reverse(v), dimensions={0}\n y = f32[5] subtract(z, x)";
    for body in [up, same] {
        let inputs: Vec<Vec<Literal>> =
            [0, 1, 2, 5].into_iter().map(|count| vec![array.clone(), rounds(count)]).collect();
        agrees(&looped("f32[5]", BELOW, body), device.target(), &inputs);
    }
}

#[test]
fn state_of_every_form_is_carried() {
    let device = device();
    for ty in ["s8", "u8", "s4", "u16", "s64", "u64", "pred", "bf16", "f16", "c64", "f32"] {
        for elements in [1, 6, 90] {
            let shape = format!("{ty}[{elements}]");
            let number = match ty {
                "pred" => "true",
                "c64" => "(1, 2)",
                _ => "3",
            };
            let body = format!(
                "k = {ty}[] constant({number})\n w = {shape} broadcast(k), dimensions={{}}\n v = {shape} reverse(x), dimensions={{0}}\n y = {shape} {}(v, w)",
                if ty == "pred" { "xor" } else { "add" }
            );
            let text = looped(&shape, BELOW, &body);
            let module = support::module(&text);
            let options = weft_hlo::random::Options::computed();
            let mut inputs = weft_hlo::random::inputs(&module, 1, &options);
            inputs[1] = rounds(9);
            let mut none = inputs.clone();
            none[1] = rounds(0);
            agrees_unless_unproved(&text, device.target(), &[inputs, none]);
        }
    }
}

/// As [`agrees`]; updates of pairs of words are not proved yet.
fn agrees_unless_unproved(text: &str, target: &Target, inputs: &[Vec<Literal>]) {
    let module = support::module(text);
    let options = Options { host: false, ..Options::default() };
    let program = compile_with(&module, target, &options).unwrap_or_else(|error| panic!("{error}"));
    assert!(program.loops().iter().all(|decision| decision.is_kernel), "{:?}\n{text}", program.loops());
    let executable = Executable::new(&device(), program.clone()).unwrap_or_else(|error| panic!("{error}"));
    for inputs in inputs {
        let expected = evaluate(&module, inputs).unwrap_or_else(|findings| panic!("{findings}"));
        let actual = executable.run(inputs).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(data(&actual), data(&expected), "{inputs:?}\n{text}");
    }
}

#[test]
fn rounds_reduce_and_update() {
    let device = device();
    let reduced = "z = f32[] constant(0)\n s = f32[8] reduce(x, z), dimensions={0}, to_apply=add\n w = f32[12,8] broadcast(s), dimensions={1}\n\
                   k = f32[] constant(0.25)\n q = f32[12,8] broadcast(k), dimensions={}\n u = f32[12,8] subtract(w, x)\n y = f32[12,8] multiply(u, q)";
    let whole_numbers: Vec<f32> = (0..96u8).map(f32::from).collect();
    let matrix = Literal::array([12, 8], whole_numbers);
    // Quarters of small whole numbers: sums are exact in any order.
    let inputs: Vec<Vec<Literal>> = [0, 1, 2].into_iter().map(|count| vec![matrix.clone(), rounds(count)]).collect();
    agrees(&looped("f32[12,8]", BELOW, reduced), device.target(), &inputs);
    let updated = "z = s32[1] slice(x), slice={[3:4]}\n u = s32[1] reshape(i)\n v = s32[1] add(z, u)\n y = s32[90] dynamic-update-slice(x, v, i)";
    let inputs: Vec<Vec<Literal>> =
        [0, 1, 2, 90, 95].into_iter().map(|count| vec![numbers(90), rounds(count)]).collect();
    agrees(&looped("s32[90]", BELOW, updated), device.target(), &inputs);
}

/// A loop of `n` rounds over `x` and `y`, in each of which `INNER` makes `z` and `u` of these and the counter `i`; further computations stand before it.
fn nested(computations: &str, inner: &str, shape: &str) -> String {
    format!(
        "HloModule m
        {computations}
        condition {{
            p = (s32[], SHAPE, SHAPE, s32[]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            n = s32[] get-tuple-element(p), index=3
            ROOT c = pred[] compare(i, n), direction=LT
        }}
        body {{
            p = (s32[], SHAPE, SHAPE, s32[]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            x = SHAPE get-tuple-element(p), index=1
            y = SHAPE get-tuple-element(p), index=2
            n = s32[] get-tuple-element(p), index=3
            one = s32[] constant(1)
            zero = s32[] constant(0)
            j = s32[] add(i, one)
            {inner}
            ROOT t = (s32[], SHAPE, SHAPE, s32[]) tuple(j, z, u, n)
        }}
        ENTRY main {{
            x = SHAPE parameter(0)
            n = s32[] parameter(1)
            zero = s32[] constant(0)
            y = SHAPE negate(x)
            s = (s32[], SHAPE, SHAPE, s32[]) tuple(zero, x, y, n)
            w = (s32[], SHAPE, SHAPE, s32[]) while(s), condition=condition, body=body
            a = SHAPE get-tuple-element(w), index=1
            b = SHAPE get-tuple-element(w), index=2
            ROOT t = (SHAPE, SHAPE) tuple(a, b)
        }}"
    )
    .replace("SHAPE", shape)
}

/// A loop of `rounds` rounds whose state is a counter and two arrays, which become what `body` calls `a` and `b`.
fn counted(name: &str, rounds: u32, body: &str) -> String {
    format!(
        "condition_{name} {{
            p = (s32[], SHAPE, SHAPE) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            k = s32[] constant({rounds})
            ROOT c = pred[] compare(i, k), direction=LT
        }}
        body_{name} {{
            p = (s32[], SHAPE, SHAPE) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            x = SHAPE get-tuple-element(p), index=1
            y = SHAPE get-tuple-element(p), index=2
            one = s32[] constant(1)
            j = s32[] add(i, one)
            {body}
            ROOT t = (s32[], SHAPE, SHAPE) tuple(j, a, b)
        }}
        "
    )
}

/// A call of such a loop on two arrays, with its results.
fn looping(name: &str, [x, y]: [&str; 2], [z, u]: [&str; 2]) -> String {
    format!(
        "s_{name} = (s32[], SHAPE, SHAPE) tuple(zero, {x}, {y})
         w_{name} = (s32[], SHAPE, SHAPE) while(s_{name}), condition=condition_{name}, body=body_{name}
         {z} = SHAPE get-tuple-element(w_{name}), index=1
         {u} = SHAPE get-tuple-element(w_{name}), index=2
         "
    )
}

/// Loops of known numbers of rounds, and branches, stand in the rounds of one kernel.
#[test]
fn loops_and_branches_stand_in_rounds() {
    let device = device();
    let options = Options { host: false, all_branches: false, ..Options::default() };
    let sum = "a = SHAPE add(x, y)\n b = SHAPE subtract(y, x)";
    let swapped = "a = SHAPE copy(y)\n b = SHAPE copy(x)";
    let passed_on =
        "a = SHAPE copy(x)\n w = SHAPE broadcast(i), dimensions={}\n v = SHAPE multiply(x, w)\n b = SHAPE add(v, y)";
    let one = counted("one", 5, sum);
    let within = looping("inner", ["x", "y"], ["v", "w"]);
    let within = format!("zero = s32[] constant(0)\n {within} a = SHAPE add(v, y)\n b = SHAPE copy(w)");
    let twice = counted("inner", 3, swapped) + &counted("outer", 4, &within);
    let branches = |first: &str, second: &str| {
        format!(
            "first {{
                p = (SHAPE, SHAPE, s32[]) parameter(0)
                x = SHAPE get-tuple-element(p), index=0
                y = SHAPE get-tuple-element(p), index=1
                zero = s32[] constant(0)
                {first}
            }}
            second {{
                p = (SHAPE, SHAPE, s32[]) parameter(0)
                x = SHAPE get-tuple-element(p), index=0
                y = SHAPE get-tuple-element(p), index=1
                zero = s32[] constant(0)
                {second}
            }}
            "
        )
    };
    let given = "g = (SHAPE, SHAPE, s32[]) tuple(x, y, zero)\n two = s32[] constant(2)\n m = s32[] remainder(i, two)\n";
    let taken = "z = SHAPE get-tuple-element(q), index=0\n u = SHAPE get-tuple-element(q), index=1";
    let by_pred = format!(
        "{given} k = pred[] compare(m, one), direction=EQ\n q = (SHAPE, SHAPE) conditional(k, g, g), true_computation=first, false_computation=second\n {taken}"
    );
    let by_number = format!(
        "{given} q = (SHAPE, SHAPE) conditional(m, g, g, g), branch_computations={{first, second, first}}\n {taken}"
    );
    let yields = "ROOT t = (SHAPE, SHAPE) tuple(a, b)";
    let sums = |name: &str| looping(name, ["x", "y"], ["a", "b"]) + yields;
    let given_back = "ROOT t = (SHAPE, SHAPE) tuple(y, x)";
    let cases = [
        (one.clone(), looping("one", ["x", "y"], ["z", "u"])),
        (counted("one", 7, swapped), looping("one", ["x", "y"], ["z", "u"])),
        (counted("one", 4, passed_on), looping("one", ["x", "y"], ["z", "u"])),
        // The state of the first is needed behind the second.
        (
            one.clone() + &counted("two", 2, swapped),
            looping("one", ["x", "y"], ["v", "w"])
                + &looping("two", ["w", "x"], ["q", "r"])
                + "z = SHAPE add(q, v)\n u = SHAPE subtract(r, y)",
        ),
        (twice.clone(), looping("outer", ["x", "y"], ["z", "u"])),
        (one.clone() + &branches(&sums("one"), given_back), by_pred.clone()),
        (one.clone() + &branches(given_back, &sums("one")), by_number.clone()),
        (twice + &one + &branches(&sums("outer"), &sums("one")), by_number),
        (one + &branches("ROOT t = (SHAPE, SHAPE) tuple(x, x)", &sums("one")), by_pred),
    ];
    for (shape, elements, every) in [("s32[9]", 9, 1), ("s32[]", 0, 3), ("s32[130]", 130, 4)] {
        for (computations, inner) in cases.iter().step_by(every) {
            let text = nested(computations, inner, shape);
            let text = if elements == 0 {
                text.replace("w = s32[] broadcast(i), dimensions={}", "w = s32[] copy(i)")
            } else {
                text
            };
            let module = support::module(&text);
            weft_hlo::verify::verify(&module).unwrap_or_else(|findings| panic!("{findings}\n{text}"));
            let program = compile_with(&module, device.target(), &options).unwrap_or_else(|error| panic!("{error}"));
            assert!(matches!(program.loops(), [decision] if decision.is_kernel), "{:?}\n{text}", program.loops());
            for shader in program.shaders() {
                assert!(shader.proofs().are_complete(), "{:?}\n{}", shader.proofs(), shader.source);
            }
            let few = device.target().clone().with(|target| target.max_loop_iterations = Some(2500));
            let again = compile_with(&module, &few, &options).unwrap_or_else(|error| panic!("{error}"));
            for program in [program, again] {
                let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
                for count in [0, 1, 2, 3, 20] {
                    let first = if elements == 0 { Literal::scalar(Scalar::S32(-3)) } else { numbers(elements) };
                    let inputs = [first, rounds(count)];
                    let expected = evaluate(&module, &inputs).unwrap_or_else(|findings| panic!("{findings}"));
                    let actual = executable.run(&inputs).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(data(&actual), data(&expected), "{count} rounds\n{text}");
                }
            }
        }
    }
}

/// A loop that may not end within a dispatch is a kernel within the steps of another.
#[test]
fn an_inner_loop_is_one_kernel_within_the_steps_of_another() {
    let device = device();
    let computations = counted("one", 4, "a = SHAPE add(x, y)\n b = SHAPE subtract(y, x)")
        .replace("k = s32[] constant(4)", "v = s32[1] slice(q), slice={[0:1]}\n k = s32[] reshape(v)")
        .replace(
            "i = s32[] get-tuple-element(p), index=0\n            v",
            "i = s32[] get-tuple-element(p), index=0\n q = SHAPE get-tuple-element(p), index=1\n v",
        );
    let text = nested(&computations, &looping("one", ["x", "y"], ["z", "u"]), "s32[9]");
    let module = support::module(&text);
    let options = Options { host: false, ..Options::default() };
    let program = compile_with(&module, device.target(), &options).unwrap_or_else(|error| panic!("{error}"));
    let kernels: Vec<bool> = program.loops().iter().map(|decision| decision.is_kernel).collect();
    assert!(kernels.contains(&true) && kernels.contains(&false), "{:?}\n{program}", program.loops());
    assert!(program.explanation().contains("nobody knows how many rounds"), "{}", program.explanation());
    let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
    for count in [0, 1, 2, 5, 11] {
        let inputs = [numbers(9), rounds(count)];
        let actual = executable.run(&inputs).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(data(&actual), data(&evaluate(&module, &inputs).unwrap()), "{count} rounds");
    }
}

#[test]
fn what_is_large_or_slow_in_one_workgroup_stays_steps() {
    let device = device();
    let options = Options { host: false, ..Options::default() };
    for (shape, reason) in [("s32[100000]", "ns in one workgroup"), ("s32[9000]", "bytes and a workgroup")] {
        let body = format!("v = {shape} reverse(x), dimensions={{0}}\n y = {shape} negate(v)");
        let module = support::module(&looped(shape, BELOW, &body));
        let program = compile_with(&module, device.target(), &options).unwrap_or_else(|error| panic!("{error}"));
        let [decision] = program.loops() else { panic!("{:?}", program.loops()) };
        assert!(!decision.is_kernel && decision.reason.contains(reason), "{decision:?}");
        assert!(program.explanation().contains(&decision.reason), "{}", program.explanation());
    }
}
