//! Fusion of programs of which not all can be compiled: what has no kernel is set apart, and the results stay.

use crate::fuse::{difference, read, target};
use std::collections::BTreeMap;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Computation, ElementType, Literal, Module, Op};
use weft_hlo::passes::{BatchNormalization, Pass};
use weft_hlo::random::{Options, inputs, module};
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;
use weft_partition::{Fusing, Target, Verdict, fuse, fuse_explained, fuse_with};

/// Whether two results are the same, where a NaN is any NaN.
fn alike(expected: &[Literal], actual: &[Literal]) -> bool {
    let parts = |literal: &Literal, element_type| weft_hlo::eval::converted(&literal.data, element_type);
    let same = |a: &Literal, b: &Literal| {
        let is_complex = a.data.element_type().is_some_and(ElementType::is_complex);
        let wide = if is_complex { ElementType::C128 } else { ElementType::F64 };
        let (wide_a, wide_b) = (parts(a, wide), parts(b, wide));
        a.shape.is_compatible(&b.shape)
            && (a.data == b.data || wide_a.zip(wide_b).is_some_and(|(a, b)| format!("{a:?}") == format!("{b:?}")))
    };
    expected.len() == actual.len() && expected.iter().zip(actual).all(|(a, b)| same(a, b))
}

/// Programs of every operation and type are fused, and compute what they did.
#[test]
fn what_cannot_be_compiled_is_set_apart() {
    let config = weft_hlo::eval::Config { iteration_limit: Some(64), ..weft_hlo::eval::Config::default() };
    let (mut evaluated, mut apart) = (0, BTreeMap::new());
    for seed in 0..180 {
        let module = module(seed, &Options::default());
        let fail = |found: &dyn std::fmt::Display, fused: &str| -> ! {
            panic!("seed {seed}: {found}\n{}\n{fused}", print(&module))
        };
        let fused = match fuse_explained(&module, &target(8)) {
            Ok(fused) => fused,
            Err(found) if found.0.iter().all(|finding| finding.code == "HLO404") => continue,
            Err(found) => fail(&found, ""),
        };
        let text = print(&fused.module);
        verify(&fused.module).unwrap_or_else(|found| fail(&found, &text));
        let again = parse(&text).unwrap_or_else(|found| fail(&found, &text));
        assert!(again == fused.module, "seed {seed}\n{text}");
        fused.uncompiled.iter().for_each(|one| *apart.entry(one.reason.code).or_insert(0) += 1);
        // Not the other way round: a parameter that only passes through needs no kernel, whatever its type.
        assert!(fuse(&module, &target(8)).is_err() || fused.uncompiled.is_empty(), "seed {seed}\n{text}");
        let inputs = inputs(&module, seed, &Options::default());
        let written = BatchNormalization.run(&module).unwrap_or_else(|found| fail(&found, &text)).module;
        let Ok(expected) = weft_hlo::eval::evaluate_with(&written, &inputs, &config) else { continue };
        let actual =
            weft_hlo::eval::evaluate_with(&fused.module, &inputs, &config).unwrap_or_else(|found| fail(&found, &text));
        // What is written out as sums of its own rounds otherwise; how much is tested where it is written out.
        let rounds = |op: &Op| matches!(op, Op::Fft { .. } | Op::Cholesky { .. } | Op::TriangularSolve { .. });
        let mut all = module.computations.values().flat_map(|computation| computation.instructions.values());
        if all.any(|instruction| rounds(&instruction.op)) {
            continue;
        }
        if !alike(&expected, &actual) {
            fail(&format!("{expected:?} became {actual:?}"), &text);
        }
        evaluated += 1;
    }
    println!("{evaluated} evaluated; not compiled: {apart:?}");
    assert!(evaluated > 100 && apart.len() > 1, "{evaluated} {apart:?}");
}

/// The kernels of a computation by name, and how many instructions each has, parameters aside.
fn kernels(module: &Module, computation: &Computation) -> Vec<(String, usize)> {
    let sizes = computation.instructions.values().filter_map(|instruction| match instruction.op {
        Op::Fusion { calls, .. } => {
            let members = module.computations[calls].instructions.values();
            let count = members.filter(|member| !matches!(member.op, Op::Parameter { .. })).count();
            Some((instruction.name.clone(), count))
        }
        _ => None,
    });
    sizes.collect()
}

/// What a loop runs is a program of its own, with kernels of its own.
#[test]
fn loops_and_branches_are_programs() {
    let module = read(
        "HloModule control
        less {
            s = (s32[], f32[4]) parameter(0)
            i = s32[] get-tuple-element(s), index=0
            n = s32[] constant(3)
            ROOT l = pred[] compare(i, n), direction=LT
        }
        step {
            s = (s32[], f32[4]) parameter(0)
            i = s32[] get-tuple-element(s), index=0
            x = f32[4] get-tuple-element(s), index=1
            one = s32[] constant(1)
            j = s32[] add(i, one)
            e = f32[4] exponential(x)
            y = f32[4] tanh(e)
            ROOT t = (s32[], f32[4]) tuple(j, y)
        }
        up {
            p = f32[4] parameter(0)
            a = f32[4] add(p, p)
            ROOT m = f32[4] multiply(a, a)
        }
        down {
            p = f32[4] parameter(0)
            ROOT n = f32[4] negate(p)
        }
        twice {
            p = f32[4] parameter(0)
            ROOT a = f32[4] add(p, p)
        }
        ENTRY main {
            x = f32[4] parameter(0)
            k = s32[] parameter(1)
            c = f32[4] call(x), to_apply=twice
            l = f32[4] log(c)
            s = (s32[], f32[4]) tuple(k, l)
            w = (s32[], f32[4]) while(s), condition=less, body=step
            y = f32[4] get-tuple-element(w), index=1
            b = f32[4] conditional(k, y, y), branch_computations={up, down}
            ROOT r = f32[4] floor(b)
        }",
    );
    let asks = Fusing { all_branches: false, ..Fusing::default() };
    let fused = fuse_with(&module, &Target::default(), asks).unwrap_or_else(|found| panic!("{found}"));
    verify(&fused.module).unwrap_or_else(|found| panic!("{found}\n{}", print(&fused.module)));
    let named = |name: &str| {
        let found = fused.module.computations.values().find(|computation| computation.name == name);
        kernels(&fused.module, found.unwrap_or_else(|| panic!("{name}\n{}", print(&fused.module))))
    };
    let kernel = |name: &str, size| (name.to_owned(), size);
    assert_eq!(named("main"), [kernel("a_l_fusion", 2), kernel("r_fusion", 1)]);
    assert_eq!(named("less"), [kernel("l_fusion", 2)]);
    assert_eq!(named("step"), [kernel("j_fusion", 2), kernel("e_y_fusion", 2)]);
    assert_eq!((named("up"), named("down")), (vec![kernel("a_m_fusion", 2)], vec![kernel("n_fusion", 1)]));
    assert_eq!(fused.programs.len(), 5);
    assert!(fused.uncompiled.is_empty(), "{:?}", fused.uncompiled);
    let decision = |name: &str| fused.decisions.iter().find(|decision| decision.instruction == name);
    assert_eq!(decision("w").map(|decision| decision.verdict), Some(Verdict::Stays));
    assert_eq!(decision("step/e").map(|decision| decision.verdict), Some(Verdict::Fused));
    let inputs = [Literal::array([4], vec![1f32, 2.0, 3.0, 4.0]), Literal::scalar(weft_hlo::ir::Scalar::S32(1))];
    let expected = evaluate(&module, &inputs).unwrap_or_else(|found| panic!("{found}"));
    let actual = evaluate(&fused.module, &inputs).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(difference(&expected, &actual), None);
    assert_eq!(fused.asked.len(), 1, "{:?}", fused.asked);
    // It takes no longer to compute both branches, in the kernel that reads what they yield.
    let fused = fuse_explained(&module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
    verify(&fused.module).unwrap_or_else(|found| panic!("{found}\n{}", print(&fused.module)));
    assert_eq!((fused.programs.len(), fused.asked.len()), (3, 0));
    assert_eq!(kernels(&fused.module, fused.module.entry_computation()).len(), 2);
    let decision = fused.decisions.iter().find(|decision| decision.instruction == "b");
    assert_eq!(decision.map(|decision| decision.verdict), Some(Verdict::Rewritten));
    let actual = evaluate(&fused.module, &inputs).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(difference(&expected, &actual), None);
}

/// Branches that take long, run loops or decide about others that do are asked for, each with the reason; what is cheap within them is not.
#[test]
fn branches_that_take_longer_than_to_ask_are_asked_for() {
    let text = |extent: i64, body: &str| {
        format!(
            "HloModule asked
            less {{
                s = (s32[], f32[EXTENT]) parameter(0)
                i = s32[] get-tuple-element(s), index=0
                n = s32[] constant(3)
                ROOT l = pred[] compare(i, n), direction=LT
            }}
            step {{
                s = (s32[], f32[EXTENT]) parameter(0)
                i = s32[] get-tuple-element(s), index=0
                x = f32[EXTENT] get-tuple-element(s), index=1
                one = s32[] constant(1)
                j = s32[] add(i, one)
                ROOT t = (s32[], f32[EXTENT]) tuple(j, x)
            }}
            left {{
                p = f32[EXTENT] parameter(0)
                ROOT n = f32[EXTENT] negate(p)
            }}
            right {{
                p = f32[EXTENT] parameter(0)
                ROOT n = f32[EXTENT] exponential(p)
            }}
            other {{
                p = f32[EXTENT] parameter(0)
                k = pred[] constant(false)
                z = s32[] constant(0)
                s = (s32[], f32[EXTENT]) tuple(z, p)
                {body}
            }}
            ENTRY main {{
                x = f32[EXTENT] parameter(0)
                k = pred[] parameter(1)
                ROOT c = f32[EXTENT] conditional(k, x, x), true_computation=left, false_computation=other
            }}"
        )
        .replace("EXTENT", &extent.to_string())
    };
    let plain = "ROOT a = f32[EXTENT] add(p, p)";
    let looping = "w = (s32[], f32[EXTENT]) while(s), condition=less, body=step\n ROOT a = f32[EXTENT] get-tuple-element(w), index=1";
    let inner = "ROOT a = f32[EXTENT] conditional(k, p, p), true_computation=left, false_computation=right";
    for (extent, body, expected) in [
        (8, plain, None),
        (8, inner, None),
        (40_000_000, plain, Some("all of them would take")),
        (8, looping, Some("'while' stands in one of them")),
        (40_000_000, inner, Some("decides about branches of its own")),
    ] {
        let fused =
            fuse_explained(&read(&text(extent, body)), &Target::default()).unwrap_or_else(|found| panic!("{found}"));
        verify(&fused.module).unwrap_or_else(|found| panic!("{found}\n{}", print(&fused.module)));
        let reasons: Vec<&String> = fused.asked.values().collect();
        let found =
            fused.decisions.iter().find(|decision| decision.instruction == "c").map(|decision| decision.verdict);
        match expected {
            None => assert_eq!((reasons.len(), found), (0, Some(Verdict::Rewritten))),
            Some(expected) => {
                assert!(reasons.iter().any(|reason| reason.contains(expected)), "{reasons:?}");
                assert_eq!(found, Some(Verdict::Stays));
            }
        }
    }
}

/// What a target does not compute with is fused with its like; operations without code are kernels of their own.
#[test]
fn types_and_operations_without_code_stand_apart() {
    let module = read(
        "HloModule apart
        ENTRY main {
            x = f64[4,4] parameter(0)
            a = f64[4,4] exponential(x)
            b = f64[4,4] negate(a)
            n = f32[4,4] convert(b)
            t = f32[4,4] tanh(n)
            g = u64[] rng-get-and-update-state(), delta=1
            d = f32[4,4] cholesky(t), lower=true, control-predecessors={x}
            s = f32[4,4] sqrt(d)
            ROOT u = f32[4,4] floor(s)
        }",
    );
    let fused = fuse_explained(&module, &Target::default()).unwrap_or_else(|found| panic!("{found}"));
    let own = kernels(&fused.module, fused.module.entry_computation());
    let sizes: Vec<(&str, usize)> = own.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    assert_eq!(sizes, [("a_fusion", 1), ("b_n_t_fusion", 3), ("d_fusion", 1), ("s_u_fusion", 2)]);
    let reasons: Vec<(&str, &str)> =
        fused.uncompiled.iter().map(|one| (one.reason.code, one.reason.instruction.as_str())).collect();
    assert_eq!(reasons, [("HLO402", "main/a_fusion"), ("HLO401", "main/d_fusion")]);
    let found = fuse(&module, &Target::default()).expect_err("kernels cannot be made of all of it");
    assert!(found.0.iter().any(|finding| finding.code == "HLO401"), "{found}");
    let message = "'exponential' of f64 needs features that the target does not have: shader_f64 and shader_int64";
    assert!(found.0.iter().any(|finding| finding.code == "HLO402" && finding.message == message), "{found}");
    let able =
        Target::default().with(|target| (target.features.shader_f64, target.features.shader_int64) = (true, true));
    let fused = fuse_explained(&module, &able).unwrap_or_else(|found| panic!("{found}"));
    let names: Vec<&str> = fused.uncompiled.iter().map(|one| one.reason.instruction.as_str()).collect();
    assert_eq!(names, ["main/d_fusion"]);
}

/// An operation that only expansions have code for names the features that these need; a call names what it calls.
#[test]
fn what_is_not_expanded_says_what_it_needs() {
    let text = "HloModule m
        ENTRY main {
            x = c128[3,8] parameter(0)
            y = f64[3,8] imag(x)
            f = c128[3,8] fft(x), fft_type=FFT, fft_length={8}
            ROOT c = f64[3,8] custom-call(y), custom_call_target=\"of_the_user\"
        }";
    let messages = |target: &Target| {
        let found = fuse(&read(text), target).expect_err("no kernel makes the call");
        found.0.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    let needs = "f64 needs features that the target does not have: shader_f64 and shader_int64";
    let call = "the custom call 'of_the_user' cannot be compiled to a kernel yet";
    let fft = format!("'fft' cannot be compiled to a kernel yet; {needs}");
    assert_eq!(messages(&Target::default()), [fft, call.to_owned()]);
    let able =
        Target::default().with(|target| (target.features.shader_f64, target.features.shader_int64) = (true, true));
    assert_eq!(messages(&able), [call]);
}

/// On every target bits of 64-bit floats are moved, compared and converted, and nothing else is done with them but where they are computed
/// with.
#[test]
fn bits_of_doubles_need_no_feature() {
    let check = |instructions: &str| {
        let text = format!(
            "HloModule bits
            add {{
                p = f64[] parameter(0)
                q = f64[] parameter(1)
                ROOT s = f64[] add(p, q)
            }}
            ENTRY main {{
                x = f64[4,4] parameter(0)
                y = f64[4,4] parameter(1)
                z = c128[4,4] parameter(2)
                zero = f64[] constant(0)
                {instructions}
            }}"
        );
        fuse(&read(&text), &Target::default()).err().map(|found| found.0[0].code)
    };
    let allowed = [
        "ROOT r = f64[4,4] maximum(x, y)",
        "ROOT r = pred[4,4] compare(x, y), direction=LT",
        "ROOT r = pred[4,4] is-finite(x)",
        "ROOT r = bf16[4,4] convert(x)",
        "ROOT r = f64[4,4] transpose(x), dimensions={1,0}",
        "ROOT r = f64[4,4] imag(z)",
        "ROOT r = c128[4,4] negate(z)",
        "ROOT r = f64[4,4] iota(), iota_dimension=0",
    ];
    for instructions in allowed {
        assert_eq!(check(instructions), None, "{instructions}");
    }
    let refused = [
        "ROOT r = f64[4,4] add(x, y)",
        "ROOT r = f64[4,4] abs(z)",
        "ROOT r = f64[4,4] ceil(x)",
        "ROOT r = f64[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "ROOT r = f64[4] reduce(x, zero), dimensions={1}, to_apply=add",
        "ROOT r = f64[4,4] reduce-precision(x), exponent_bits=5, mantissa_bits=10",
    ];
    for instructions in refused {
        assert_eq!(check(instructions), Some("HLO402"), "{instructions}");
    }
}

/// What a function that is applied to elements computes in loops of its own is written out; a loop of many rounds, and what has no such form, no kernel computes yet.
#[test]
fn what_is_applied_to_elements_may_reduce() {
    let module = |length: usize, sum: &str| {
        let text = format!(
            "HloModule m
            sum {{
                a = s32[] parameter(0)
                b = s32[] parameter(1)
                ROOT s = s32[] add(a, b)
            }}
            mapped {{
                a = s32[] parameter(0)
                all = s32[{length}] broadcast(a), dimensions={{}}
                s = s32[] {sum}
                ROOT d = s32[] add(s, s)
            }}
            ENTRY main {{
                x = s32[5] parameter(0)
                y = s32[5] negate(x)
                m = s32[5] map(y), dimensions={{0}}, to_apply=mapped
                ROOT z = s32[5] negate(m)
            }}"
        );
        parse(&text).unwrap()
    };
    let (reduce, dot) = (
        "reduce(all, a), dimensions={0}, to_apply=sum",
        "dot(all, all), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    );
    for (module, codes) in
        [(module(4, reduce), &[][..]), (module(9000, reduce), &["HLO401"]), (module(4, dot), &["HLO401"])]
    {
        let fused = fuse_explained(&module, &target(8)).unwrap_or_else(|found| panic!("{found}"));
        let found: Vec<&str> = fused.uncompiled.iter().map(|one| one.reason.code).collect();
        assert_eq!(found, codes, "{}", print(&fused.module));
        assert_eq!(fuse(&module, &target(8)).is_ok(), codes.is_empty());
        let input = [Literal::array([5], vec![1, 2, 3, 4, 5])];
        assert_eq!(evaluate(&fused.module, &input).unwrap(), evaluate(&module, &input).unwrap());
    }
}

/// What kernels refuse for types, or tiles, stays as it is written.
#[test]
fn regions_that_scalars_do_not_help_stay() {
    let text = |region: &str, ty: &str, layout: &str| {
        format!(
            "HloModule m
            sum {{
                a = {ty}[] parameter(0)
                b = {ty}[] parameter(1)
                ROOT s = {ty}[] add(a, b)
            }}
            mapped {{
                a = {ty}[] parameter(0)
                z = {ty}[] constant(0)
                all = {ty}[2,4]{layout} broadcast(a), dimensions={{}}
                {region}
                ROOT d = {ty}[] add(s, s)
            }}
            ENTRY main {{
                x = {ty}[5] parameter(0)
                ROOT m = {ty}[5] map(x), dimensions={{0}}, to_apply=mapped
            }}"
        )
    };
    let reduce = "s = f64[] reduce(all, z), dimensions={0,1}, to_apply=sum";
    let bitcast = "flat = f32[8]{0} bitcast(all)\n s = f32[] reduce(flat, z), dimensions={0}, to_apply=sum";
    let mixed = "h = bf16[2,4] convert(all)\n s = f32[] reduce(h, z), dimensions={0,1}, to_apply=sum";
    for (text, code) in [
        (text(reduce, "f64", ""), "HLO402"),
        (text(bitcast, "f32", "{1,0:T(2,2)}"), "HLO401"),
        (text(mixed, "f32", ""), "HLO401"),
    ] {
        let module = parse(&text).unwrap_or_else(|found| panic!("{found}"));
        let fused = fuse_explained(&module, &target(8)).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(fused.uncompiled.first().map(|one| one.reason.code), Some(code), "{}", print(&fused.module));
        let mapped = fused.module.computations.values().find(|one| one.name == "mapped");
        let holds_arrays =
            mapped.is_some_and(|one| one.instructions.values().any(|it| it.shape != *one.result_shape()));
        assert!(holds_arrays, "{}", print(&fused.module));
    }
}

/// A sum in another type than that of its inputs is none that kernels have.
#[test]
fn reductions_of_mixed_types_are_refused() {
    let module = parse(
        "HloModule m
        sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        ENTRY main {
            x = bf16[5,4] parameter(0)
            z = f32[] constant(0)
            ROOT r = f32[5] reduce(x, z), dimensions={1}, to_apply=sum
        }",
    )
    .unwrap_or_else(|found| panic!("{found}"));
    let fused = fuse_explained(&module, &target(8)).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(fused.uncompiled.first().map(|one| one.reason.code), Some("HLO401"));
}
