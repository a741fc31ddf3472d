//! Loops, branches and what the host computes, on the default adapter against the evaluator.

mod random;

use crate::support::{self, compile, device};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module, Scalar};
use weft_partition::Target;
use weft_runtime::program::{Ahead, Donated, Step};
use weft_runtime::{Executable, Program, compile_with};

/// What tensors hold, whatever layout their shapes have.
fn data(literals: &[Literal]) -> Vec<&Data> {
    literals.iter().map(|literal| &literal.data).collect()
}

/// A program whose loops and branches are steps, compiled without the host's help.
fn in_steps(module: &Module, target: &Target) -> Program {
    let options = weft_runtime::Options { host: false, whole_loops: false, all_branches: false, ..Default::default() };
    compile_with(module, target, &options).unwrap_or_else(|error| panic!("{error}"))
}

/// What a program gives that was compiled without the host's help, its loops and branches as steps and as kernels, and the evaluator's answer. The program
/// whose loops and branches are steps.
fn agrees(text: &str, inputs: &[Literal]) -> Program {
    let module = support::module(text);
    weft_hlo::verify::verify(&module).unwrap_or_else(|findings| panic!("{findings}"));
    let device = device();
    let expected = evaluate(&module, inputs).unwrap_or_else(|findings| panic!("{findings}"));
    let whole = compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}"));
    let steps = in_steps(&module, device.target());
    for program in [&whole, &steps] {
        let executable = Executable::new(&device, program.clone()).unwrap_or_else(|error| panic!("{error}"));
        // What a run leaves in pooled buffers must not matter to the next.
        for _ in 0..2 {
            let actual = executable.run(inputs).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(data(&actual), data(&expected), "{program}");
        }
    }
    steps
}

fn numbers(values: &[i32]) -> Literal {
    Literal::array([i64::try_from(values.len()).unwrap()], values.to_vec())
}

fn loops(program: &Program) -> Vec<Option<u64>> {
    let counts = program.steps().iter().filter_map(|step| match step {
        Step::While(step) => Some(step.trip_count),
        _ => None,
    });
    counts.collect()
}

/// A loop over a counter and `state`, a list of shapes; `body` yields `n0`, `n1`, … of `v0`, `v1`, … and may read the counter `i`.
fn looped(state: &[&str], initial: &str, body: &str, rounds: &str) -> String {
    let shapes = [&["s32[]"], state].concat().join(", ");
    let taken = |from: &str| -> String {
        let each = state.iter().enumerate();
        each.map(|(at, shape)| format!("v{at} = {shape} get-tuple-element({from}), index={}\n", at + 1)).collect()
    };
    let next: String = (0..state.len()).map(|at| format!(", n{at}")).collect();
    let results: String = (0..state.len()).map(|at| format!("v{at}")).collect::<Vec<_>>().join(", ");
    format!(
        "HloModule m
         condition {{
            p = ({shapes}) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            k = s32[] constant({rounds})
            ROOT c = pred[] compare(i, k), direction=LT
         }}
         body {{
            p = ({shapes}) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            {}
            one = s32[] constant(1)
            next = s32[] add(i, one)
            {body}
            ROOT t = ({shapes}) tuple(next{next})
         }}
         ENTRY main {{
            x = s32[3] parameter(0)
            y = s32[3] parameter(1)
            start = s32[] constant(0)
            init = ({shapes}) tuple(start, {initial})
            w = ({shapes}) while(init), condition=condition, body=body
            {}
            ROOT r = ({}) tuple({results})
         }}",
        taken("p"),
        taken("w"),
        state.join(", "),
    )
}

fn inputs_of_two() -> [Literal; 2] {
    [numbers(&[1, 2, 3]), numbers(&[10, 20, 30])]
}

#[test]
fn state_is_carried_through_every_kind_of_exchange() {
    let bodies = [
        // Each made anew, one passed on, one handed to the other, both swapped, turned in a circle.
        "n0 = s32[3] add(v0, v1)\nn1 = s32[3] multiply(v1, v0)",
        "n0 = s32[3] add(v0, v1)\nn1 = s32[3] copy(v1)",
        "n0 = s32[3] copy(v1)\nn1 = s32[3] add(v0, v1)",
    ];
    for body in bodies {
        // Up to eight rounds of so little are written out.
        for (rounds, is_loop) in [("0", false), ("1", false), ("2", false), ("8", false), ("9", true), ("12", true)] {
            let program = agrees(&looped(&["s32[3]", "s32[3]"], "x, y", body, rounds), &inputs_of_two());
            assert_eq!(loops(&program).len(), usize::from(is_loop), "{program}");
        }
    }
}

/// A body that returns `list` of the elements of its state.
fn returning(list: &str, rounds: &str) -> String {
    let state = ["s32[3]", "s32[3]", "s32[3]"];
    let text = looped(&state, "x, y, x", "sum = s32[3] add(v0, v1)", rounds);
    text.replace("tuple(next, n0, n1, n2)", &format!("tuple(next, {list})"))
}

#[test]
fn state_is_returned_in_any_order_and_more_than_once() {
    for list in [
        "v1, v0, v2",
        "v1, v2, v0",
        "v0, v0, v0",
        "v1, v1, sum",
        "sum, sum, sum",
        "sum, v0, v1",
        "v2, sum, v2",
        "v0, sum, v1",
    ] {
        for rounds in ["3", "10", "11", "12"] {
            agrees(&returning(list, rounds), &inputs_of_two());
        }
    }
}

#[test]
fn constants_and_arguments_stay_what_they_are() {
    let state = ["s32[3]", "s32[3]"];
    let text =
        looped(&state, "x, x", "c = s32[3] constant({7, 8, 9})\nn0 = s32[3] add(v0, v1)\nn1 = s32[3] add(v0, c)", "12");
    agrees(&text, &inputs_of_two());
    let constant = text.replace("n1 = s32[3] add(v0, c)", "").replace("n0, n1)", "n0, c)");
    agrees(&constant, &inputs_of_two());
}

#[test]
fn updates_of_the_state_are_made_in_place() {
    let body = "one_of = s32[1] broadcast(i), dimensions={}\nn0 = s32[64] dynamic-update-slice(v0, one_of, i)";
    let text = looped(&["s32[64]"], "zeros", body, "40").replace(
        "start = s32[] constant(0)",
        "start = s32[] constant(0)\nzero = s32[] constant(0)\nzeros = s32[64] broadcast(zero), dimensions={}",
    );
    let program = agrees(&text, &inputs_of_two());
    let Some(Step::While(step)) = program.steps().iter().find(|step| matches!(step, Step::While(_))) else {
        panic!("there is no loop: {program}")
    };
    // Neither copied nor exchanged.
    assert!(step.body.iter().all(|step| matches!(step, Step::Launch(_))), "{program}");
    assert_eq!(step.exchanges.len() % 2, 0, "{program}");
    assert_eq!(step.trip_count, Some(40));
}

#[test]
fn what_is_updated_and_read_again_is_copied() {
    let body = "one_of = s32[1] broadcast(i), dimensions={}\nu = s32[3] dynamic-update-slice(v0, one_of, i)\n\
                n0 = s32[3] add(u, v0)\nn1 = s32[3] add(u, v1)";
    agrees(&looped(&["s32[3]", "s32[3]"], "x, y", body, "3"), &inputs_of_two());
}

/// A reshape between launches is another name for what lies where it lay; what is updated in place is copied if that is needed still under another.
#[test]
fn a_reshape_that_stands_alone_is_no_launch() {
    let alone = "HloModule m\nENTRY main {\nx = s32[2,3] parameter(0)\nROOT y = s32[6] reshape(x)\n}";
    let device = device();
    let inputs = [Literal::array([2, 3], vec![1, 2, 3, 4, 5, 6])];
    let module = support::module(alone);
    let program = compile(&module, device.target()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (program.steps().len(), program.results()[0].shape.extents.as_slice()),
        (0, [6].as_slice()),
        "{program}"
    );
    let actual = Executable::new(&device, program).unwrap().run(&inputs).unwrap();
    assert_eq!(actual, evaluate(&module, &inputs).unwrap());
    for needed in ["r", "n", "x"] {
        let text = format!(
            "HloModule m
             ENTRY main {{
                x = s32[2,3] parameter(0)
                n = s32[2,3] negate(x)
                r = s32[6] reshape(n)
                one = s32[1] constant({{9}})
                at = s32[] constant(4)
                u = s32[6] dynamic-update-slice(r, one, at)
                v = s32[3,2] reshape(u)
                ROOT t = (s32[6], s32[3,2], {} ) tuple(u, v, {needed})
             }}",
            if needed == "r" { "s32[6]" } else { "s32[2,3]" }
        );
        let module = support::module(&text);
        for (optimize, donated) in [(true, Donated::AsGiven), (false, Donated::AsGiven), (false, Donated::All)] {
            let options = weft_runtime::Options { host: false, optimize, donated, ..Default::default() };
            let program = compile_with(&module, device.target(), &options).unwrap_or_else(|error| panic!("{error}"));
            let actual = Executable::new(&device, program.clone()).unwrap().run(&inputs).unwrap();
            assert_eq!(actual, evaluate(&module, &inputs).unwrap(), "{program}");
        }
    }
}

#[test]
fn rounds_are_counted_or_decided_by_values() {
    let known = looped(&["s32[3]"], "x", "n0 = s32[3] add(v0, v0)", "9");
    assert_eq!(loops(&agrees(&known, &inputs_of_two())), [Some(9)]);
    let start = "start = s32[] reduce(x, zero), dimensions={0}, to_apply=add";
    let add = "add {\na = s32[] parameter(0)\nb = s32[] parameter(1)\nROOT c = s32[] add(a, b)\n}\ncondition {";
    let unknown = known.replace("start = s32[] constant(0)", &format!("zero = s32[] constant(0)\n{start}"));
    assert_eq!(loops(&agrees(&unknown.replacen("condition {", add, 1), &inputs_of_two())), [None]);
}

#[test]
fn branches_may_return_what_they_are_given() {
    for (p, list) in [("true", "a, b"), ("false", "a, b"), ("true", "b, b"), ("true", "s, s"), ("false", "s, a")] {
        let text = format!(
            "HloModule m
             one {{
                p = (s32[3], s32[3]) parameter(0)
                a = s32[3] get-tuple-element(p), index=0
                b = s32[3] get-tuple-element(p), index=1
                s = s32[3] multiply(a, b)
                ROOT t = (s32[3], s32[3]) tuple({list})
             }}
             other {{
                x = s32[3] parameter(0)
                c = s32[3] constant({{4, 5, 6}})
                n = s32[3] negate(x)
                ROOT t = (s32[3], s32[3]) tuple(n, c)
             }}
             ENTRY main {{
                x = s32[3] parameter(0)
                y = s32[3] parameter(1)
                d = s32[3] subtract(x, y)
                given = (s32[3], s32[3]) tuple(d, y)
                first = s32[1] slice(x), slice={{[0:1]}}
                scalar = s32[] reshape(first)
                one = s32[] constant(1)
                is = pred[] compare(scalar, one), direction=EQ
                taken = pred[] constant({p})
                both = pred[] compare(is, taken), direction=EQ
                r = (s32[3], s32[3]) conditional(both, given, x), true_computation=one, false_computation=other
                r0 = s32[3] get-tuple-element(r), index=0
                r1 = s32[3] get-tuple-element(r), index=1
                after = s32[3] add(d, r0)
                ROOT t = (s32[3], s32[3], s32[3]) tuple(r0, r1, after)
             }}"
        );
        let program = agrees(&text, &inputs_of_two());
        assert!(program.steps().iter().any(|step| matches!(step, Step::Conditional(_))), "{program}");
    }
}

/// What no kernel computes is computed on the host, in the same order with everything else, inside of loops as well.
#[test]
fn the_host_computes_what_has_no_kernel() {
    let body = "up = s32[3] add(v0, v1)\nsorted = s32[3] sort(up), dimensions={0}, to_apply=less\nn0 = s32[3] reverse(sorted), dimensions={0}\n\
                n1 = s32[3] add(v1, sorted)";
    let less = "less {\na = s32[] parameter(0)\nb = s32[] parameter(1)\ne = s32[1] reshape(a)\nf = s32[1] reshape(b)\n\
                v = s32[2] concatenate(e, f), dimensions={0}\ni = s32[2] constant({1, -1})\nz = s32[] constant(0)\n\
                m = s32[] dot(v, i), lhs_contracting_dims={0}, rhs_contracting_dims={0}\nROOT c = pred[] compare(m, z), direction=LT\n}\ncondition {";
    let text = looped(&["s32[3]", "s32[3]"], "x, y", body, "3").replacen("condition {", less, 1);
    let module = support::module(&text);
    let device = device();
    let program = compile_with(&module, device.target(), &weft_runtime::Options::default()).unwrap();
    let on_host: Vec<String> = program.host_steps().flat_map(|host| host.operations()).collect();
    assert_eq!(on_host, ["sort"], "{program}");
    let error = compile(&module, device.target()).expect_err("the host is needed");
    assert_eq!(error.code(), "HLO401", "{error}");
    let actual = Executable::new(&device, program).unwrap().run(&inputs_of_two()).unwrap();
    assert_eq!(data(&actual), data(&evaluate(&module, &inputs_of_two()).unwrap()));
}

/// LAPACK's routines say with options what they are to compute: eigenvalues without vectors, and a Schur form with them.
#[test]
fn calls_on_the_host_keep_their_options() {
    let module = support::entry(
        "a = f32[5,5] parameter(0)
         b = f32[5,5] add(a, a)
         e = (f32[5], f32[5], c64[5,5]{0,1}, c64[5,5]{0,1}, s32[]) custom-call(b), custom_call_target=\"lapack_sgeev_ffi\", operand_layout_constraints={f32[5,5]{0,1}}, api_version=API_VERSION_TYPED_FFI, backend_config={compute_left = 78 : ui8, compute_right = 78 : ui8}
         re = f32[5] get-tuple-element(e), index=0
         im = f32[5] get-tuple-element(e), index=1
         s = (f32[5,5]{0,1}, f32[5,5]{0,1}, f32[5], f32[5], s32[], s32[]) custom-call(b), custom_call_target=\"lapack_sgees_ffi\", operand_layout_constraints={f32[5,5]{0,1}}, output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : ui8, sort = 78 : ui8}
         t = f32[5,5]{0,1} get-tuple-element(s), index=0
         v = f32[5,5]{0,1} get-tuple-element(s), index=1
         ROOT r = (f32[5], f32[5], f32[5,5]{0,1}, f32[5,5]{0,1}) tuple(re, im, t, v)",
    );
    let device = device();
    let program = compile_with(&module, device.target(), &weft_runtime::Options::default()).unwrap();
    assert!(program.host_steps().count() > 0, "{program}");
    let again = Program::parse(&program.text()).unwrap_or_else(|error| panic!("{error}\n{program}"));
    let values: Vec<f32> = (0..25u32).map(|at| ((at * 37) % 23) as f32 / 8.0 - 1.0).collect();
    let inputs = [Literal::array([5, 5], values)];
    let expected = evaluate(&module, &inputs).unwrap();
    for program in [program, again] {
        let actual = Executable::new(&device, program).unwrap().run(&inputs).unwrap();
        assert_eq!(data(&actual), data(&expected));
    }
}

/// A loop of as many rounds as its second argument says, which goes on as an element of its state says, and whose state is of this many elements.
fn counted_by_an_argument(elements: usize, is_updated: bool) -> String {
    let next = match is_updated {
        true => {
            "one_of = s32[1] reshape(i)\n start = s32[] remainder(i, two)\n y = STATE dynamic-update-slice(x, one_of, start)"
        }
        false => "wide = STATE broadcast(i), dimensions={}\n y = STATE subtract(wide, x)",
    };
    "HloModule m
     condition {
        p = (s32[], STATE, pred[], s32[]) parameter(0)
        ROOT c = pred[] get-tuple-element(p), index=2
     }
     body {
        p = (s32[], STATE, pred[], s32[]) parameter(0)
        i = s32[] get-tuple-element(p), index=0
        x = STATE get-tuple-element(p), index=1
        n = s32[] get-tuple-element(p), index=3
        one = s32[] constant(1)
        two = s32[] constant(2)
        j = s32[] add(i, one)
        NEXT
        c = pred[] compare(j, n), direction=LT
        ROOT t = (s32[], STATE, pred[], s32[]) tuple(j, y, c, n)
     }
     ENTRY main {
        x = STATE parameter(0)
        n = s32[] parameter(1)
        zero = s32[] constant(0)
        c = pred[] compare(zero, n), direction=LT
        s = (s32[], STATE, pred[], s32[]) tuple(zero, x, c, n)
        w = (s32[], STATE, pred[], s32[]) while(s), condition=condition, body=body
        i = s32[] get-tuple-element(w), index=0
        y = STATE get-tuple-element(w), index=1
        ROOT r = (s32[], STATE) tuple(i, y)
     }"
    .replace("NEXT", next)
    .replace("STATE", &format!("s32[{elements}]"))
}

/// Rounds that are handed to the device before it is known whether they take place leave nothing behind if they do not.
#[test]
fn rounds_ahead_end_where_the_condition_says() {
    let device = device();
    for (elements, is_updated, is_gated) in [(5, false, false), (20_000, false, true), (5, true, true)] {
        let module = support::module(&counted_by_an_argument(elements, is_updated));
        let program = in_steps(&module, device.target());
        let ahead = program.steps().iter().find_map(|step| match step {
            Step::While(step) => step.ahead.as_ref(),
            _ => None,
        });
        let as_expected = match ahead {
            Some(Ahead::Kept(_)) => !is_gated,
            Some(Ahead::Gated(_)) => is_gated,
            None => false,
        };
        assert!(as_expected, "{program}");
        let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
        let state: Vec<i32> = (0..i32::try_from(elements).unwrap()).collect();
        for rounds in [0, 1, 2, 3, 5, 6, 7, 13, 14, 15, 61, 62, 63, 64, 65, 125, 126, 127, 190, 200, 300] {
            let inputs = [numbers(&state), Literal::scalar(Scalar::S32(rounds))];
            let actual = executable.run(&inputs).unwrap_or_else(|error| panic!("{error}"));
            let expected = evaluate(&module, &inputs).unwrap_or_else(|findings| panic!("{findings}"));
            assert!(
                data(&actual) == data(&expected),
                "{elements} {is_updated}: {rounds} rounds became {:?}",
                actual[0]
            );
        }
    }
}

/// A round tells whether there is another, in the kernel that makes the state; what lies beside its conditions is read as it was after the loop.
#[test]
fn rounds_tell_whether_there_is_another() {
    let text = |extent: i64, round: &str| {
        format!(
            "HloModule m
             body {{
                s = (f32[{extent}], f32[]) parameter(0)
                x = f32[{extent}] get-tuple-element(s), index=0
                most = f32[] get-tuple-element(s), index=1
                {round}
                ROOT t = (f32[{extent}], f32[]) tuple(y, most)
             }}
             condition {{
                s = (f32[{extent}], f32[]) parameter(0)
                x = f32[{extent}] get-tuple-element(s), index=0
                most = f32[] get-tuple-element(s), index=1
                v = f32[1] slice(x), slice={{[0:1]}}
                e = f32[] reshape(v)
                ROOT c = pred[] compare(e, most), direction=LT
             }}
             ENTRY main {{
                x = f32[{extent}] parameter(0)
                most = f32[] parameter(1)
                s = (f32[{extent}], f32[]) tuple(x, most)
                w = (f32[{extent}], f32[]) while(s), condition=condition, body=body
                y = f32[{extent}] get-tuple-element(w), index=0
                v = f32[1] slice(y), slice={{[0:1]}}
                e = f32[] reshape(v)
                two = f32[] constant(2)
                k = f32[] multiply(most, two)
                again = (f32[{extent}], f32[]) tuple(y, k)
                z = (f32[{extent}], f32[]) while(again), condition=condition, body=body
                z0 = f32[{extent}] get-tuple-element(z), index=0
                c = pred[] compare(e, k), direction=LT
                ROOT r = (f32[{extent}], f32[{extent}], pred[]) tuple(y, z0, c)
             }}"
        )
    };
    let plain = |extent: i64| {
        text(
            extent,
            &format!(
                "k = f32[] constant(1)\n w = f32[{extent}] broadcast(k), dimensions={{}}\n y = f32[{extent}] add(x, w)"
            ),
        )
    };
    let device = device();
    for (extent, is_gated) in [(64, false), (30_000, true)] {
        let module = support::module(&plain(extent));
        let program = in_steps(&module, device.target());
        let loops: Vec<_> = program
            .steps()
            .iter()
            .filter_map(|step| if let Step::While(it) = step { Some(it) } else { None })
            .collect();
        assert_eq!(loops.len(), 2, "{program}");
        for step in loops {
            assert!((step.condition.len(), step.body.len()) == (0, 1), "{program}");
            assert_eq!(matches!(step.ahead, Some(Ahead::Gated(_))), is_gated, "{program}");
        }
        let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
        for most in [-1.0f32, 0.0, 1.0, 2.0, 3.0, 5.0, 6.0, 61.0, 62.0, 63.0, 64.0, 130.0] {
            let inputs = [Literal::array([extent], vec![0.0f32; extent as usize]), Literal::scalar(Scalar::F32(most))];
            let actual = executable.run(&inputs).unwrap_or_else(|error| panic!("{error}"));
            assert!(data(&actual) == data(&evaluate(&module, &inputs).unwrap()), "{most} rounds of {extent}");
        }
    }
}

/// What is drawn in one step is not drawn again in the next, nor in the next round.
#[test]
fn random_numbers_go_on() {
    let text = "HloModule m
        condition {
            p = (s32[], u32[4], f32[4]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            k = s32[] constant(3)
            ROOT c = pred[] compare(i, k), direction=LT
        }
        body {
            p = (s32[], u32[4], f32[4]) parameter(0)
            i = s32[] get-tuple-element(p), index=0
            x = u32[4] get-tuple-element(p), index=1
            s = f32[4] get-tuple-element(p), index=2
            one = s32[] constant(1)
            j = s32[] add(i, one)
            low = u32[] constant(0)
            high = u32[] constant(1000000)
            r = u32[4] rng(low, high), distribution=rng_uniform
            mixed = u32[4] multiply(x, r)
            f = f32[4] convert(mixed)
            q = u32[4] rng(low, high), distribution=rng_uniform
            y = u32[4] subtract(mixed, q)
            ROOT t = (s32[], u32[4], f32[4]) tuple(j, y, f)
        }
        ENTRY main {
            zero = s32[] constant(0)
            x = u32[4] constant({1, 2, 3, 4})
            f = f32[4] convert(x)
            s = (s32[], u32[4], f32[4]) tuple(zero, x, f)
            w = (s32[], u32[4], f32[4]) while(s), condition=condition, body=body
            ROOT y = u32[4] get-tuple-element(w), index=1
        }";
    let module = support::module(text);
    let device = device();
    let options = weft_runtime::Options { optimize: false, ..Default::default() };
    let program = compile_with(&module, device.target(), &options).unwrap_or_else(|error| panic!("{error}"));
    assert!(program.host_steps().next().is_none(), "{program}");
    let actual = Executable::new(&device, program).unwrap().run(&[]).unwrap();
    assert_eq!(data(&actual), data(&evaluate(&module, &[]).unwrap()));
}

/// What a round makes may be handed on from element to element of the state, so that it is needed many rounds later.
#[test]
fn rounds_ahead_keep_what_is_handed_on() {
    let list = (1..8).map(|at| format!("v{at}")).collect::<Vec<_>>().join(", ");
    let state = ["s32[3]"; 8];
    let text = looped(&state, "x, y, x, y, x, y, x, y", "sum = s32[3] add(v0, v3)", "0");
    let next: String = (0..8).map(|at| format!(", n{at}")).collect();
    let text = text.replace(&format!("tuple(next{next})"), &format!("tuple(next, {list}, sum)"));
    // As many rounds as the first argument's first element says.
    let text = text.replace(
        "k = s32[] constant(0)",
        "f = s32[3] get-tuple-element(p), index=9\nz = s32[1] slice(f), slice={[0:1]}\nk = s32[] reshape(z)",
    );
    let shapes = ["s32[]"].iter().chain(&state).copied().collect::<Vec<_>>().join(", ");
    let text = text.replace(&format!("({shapes})"), &format!("({shapes}, s32[3])"));
    let text =
        text.replace("sum = s32[3] add(v0, v3)", "sum = s32[3] add(v0, v3)\nf = s32[3] get-tuple-element(p), index=9");
    let text = text.replace(&format!("tuple(next, {list}, sum)"), &format!("tuple(next, {list}, sum, f)"));
    let text = text.replace("y, x, y, x, y, x, y)", "y, x, y, x, y, x, y, x)");
    let module = support::module(&text);
    let device = device();
    let program = in_steps(&module, device.target());
    let is_kept = |step: &Step| matches!(step, Step::While(step) if matches!(step.ahead, Some(Ahead::Kept(_))));
    assert!(program.steps().iter().any(is_kept), "{program}");
    let executable = Executable::new(&device, program).unwrap_or_else(|error| panic!("{error}"));
    for rounds in
        [0, 1, 5, 8, 62, 63, 64, 65, 66, 67, 68, 126, 127, 128, 129, 130, 131, 132, 190, 191, 192, 193, 194, 300]
    {
        let inputs = [numbers(&[rounds, 2, 3]), numbers(&[10, 20, 30])];
        let actual = executable.run(&inputs).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(data(&actual), data(&evaluate(&module, &inputs).unwrap()), "{rounds} rounds");
    }
}
