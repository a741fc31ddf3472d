//! The verifier: every rule broken once, and nothing found in what XLA prints.

use crate::support::{FORMS, corpus};
use std::fmt::Write;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, ComputationId, InstrId, Layout, Module, Op, Shape};
use weft_hlo::text::parse;
use weft_hlo::verify::verify;

/// The name and the text of each case of a file of texts.
fn texts(file: &str) -> impl Iterator<Item = (&str, &str)> {
    file.split("=== ").skip(1).map(|case| case.split_once('\n').unwrap())
}

fn module(text: &str) -> Module {
    parse(&format!("HloModule test\n\n{text}\n")).unwrap_or_else(|found| panic!("{text}\n{found}"))
}

/// The findings in an entry made of these lines, the last of which is the root.
fn findings(lines: &str) -> Diagnostics {
    let (rest, root) = lines.trim().rsplit_once('\n').unwrap_or(("", lines.trim()));
    verify(&module(&format!("ENTRY main {{\n{rest}\nROOT {}\n}}", root.trim()))).expect_err(lines)
}

fn check(lines: &str, code: &str, words: &str) {
    let found = findings(lines);
    let hit = found.0.iter().any(|finding| finding.code == code && finding.message.contains(words));
    assert!(hit, "{lines}\ngave\n{found}\ninstead of {code} … {words}");
    assert!(found.0.iter().all(|finding| finding.span != Default::default()), "{found:?}");
}

#[test]
fn modules_printed_by_xla_verify() {
    let mut count = 0;
    for program in corpus() {
        for form in FORMS {
            let Some(module) = program.module(form) else { continue };
            count += 1;
            if let Err(found) = verify(&module) {
                panic!("{}/{form}:\n{}", program.name, found.locate(&program.text(form).unwrap()));
            }
        }
    }
    assert!(count >= 120, "{count} modules");
}

/// One text for every opcode and form of attribute, and rare but valid forms: bounded extents, mixed types, empty arrays,
/// batches, transfers that a loop carries on.
#[test]
fn valid_texts_of_every_operation_verify() {
    let mut wrong = String::new();
    let files = [include_str!("operations/canonical.txt"), include_str!("operations/rare.txt")];
    for (name, text) in files.into_iter().flat_map(texts) {
        let module = parse(text).unwrap_or_else(|found| panic!("{name}: {found}"));
        if let Err(found) = verify(&module) {
            writeln!(wrong, "{name}:\n{}", found.locate(text)).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn elementwise_rules() {
    check("x = f32[2] parameter(0)\ny = f32[2] negate(x, x)", "HLO104", "negate takes 1 operand and has 2");
    check("x = f32[2] parameter(0)\ny = f32[2] not(x)", "HLO105", "not is not defined for f32");
    check("x = pred[2] parameter(0)\ny = pred[2] subtract(x, x)", "HLO105", "subtract is not defined for pred");
    check("x = s32[2] parameter(0)\nz = f32[2] parameter(1)\ny = s32[2] add(x, z)", "HLO105", "s32 and f32");
    check("x = s32[2] parameter(0)\nz = s32[3] parameter(1)\ny = s32[2] add(x, z)", "HLO108", "[2] and [3]");
    check("x = f32[2] parameter(0)\ny = f32[2] is-finite(x)", "HLO106", "yields pred[2], the text says f32[2]");
    check("x = f32[2] parameter(0)\ny = f32[3] negate(x)", "HLO106", "yields f32[2], the text says f32[3]");
    check("x = (f32[2]) parameter(0)\ny = f32[2] negate(x)", "HLO105", "must be an array");
    check("x = s32[2] parameter(0)\ny = pred[2] compare(x, x), direction=EQ, type=TOTALORDER", "HLO107", "TOTALORDER");
    check("x = f32[2] parameter(0)\ny = f32[2] select(x, x, x)", "HLO105", "must be pred");
    check(
        "c = pred[3] parameter(0)\nx = f32[2] parameter(1)\ny = f32[2] select(c, x, x)",
        "HLO108",
        "must be a scalar or have the extents of the others; the operands have extents [3], [2] and [2]",
    );
    check(
        "c = pred[2] parameter(0)\nx = f32[2] parameter(1)\nz = s32[2] parameter(2)\ny = f32[2] select(c, x, z)",
        "HLO105",
        "must be f32 as operand 1 and is s32",
    );
    check(
        "l = f32[3] parameter(0)\nx = f32[2] parameter(1)\ny = f32[2] clamp(l, x, x)",
        "HLO108",
        "clamp: an operand must be a scalar or have the extents of the others",
    );
}

#[test]
fn movement_rules() {
    check("i = f32[2] iota(), iota_dimension=1", "HLO107", "iota_dimension=1");
    check("i = pred[2] iota(), iota_dimension=0", "HLO105", "iota counts");
    check("x = f32[2] parameter(0)\ny = f32[2,3] broadcast(x), dimensions={}", "HLO108", "one entry per dimension");
    check(
        "x = f32[2] parameter(0)\ny = f32[2,3] broadcast(x), dimensions={1}",
        "HLO108",
        "has extents [2]; the result has [2,3]",
    );
    check("x = f32[2] parameter(0)\ny = f32[2,3] broadcast(x), dimensions={2}", "HLO107", "does not have");
    check("x = f32[2,2] parameter(0)\ny = f32[2,3] broadcast(x), dimensions={0,0}", "HLO107", "twice");
    check("x = f32[2] parameter(0)\ny = f32[3] reshape(x)", "HLO108", "same number of elements");
    check("x = f32[2] parameter(0)\ny = s32[2] reshape(x)", "HLO106", "yields f32[2]");
    check("x = f32[2] parameter(0)\ny = pred[2] bitcast(x)", "HLO105", "differ in size");
    check("x = f32[2,3] parameter(0)\ny = f32[2,3] transpose(x), dimensions={1,0}", "HLO106", "yields f32[3,2]");
    check("x = f32[2,3] parameter(0)\ny = f32[2,2] transpose(x), dimensions={0,0}", "HLO107", "twice");
    check("x = f32[2,3] parameter(0)\ny = f32[2,2] transpose(x), dimensions={0}", "HLO108", "permutation");
    check("x = f32[4] parameter(0)\ny = f32[4] slice(x), slice={[1:5]}", "HLO108", "0 <= start <= limit <= extent");
    check("x = f32[4] parameter(0)\ny = f32[4] slice(x), slice={[-1:4]}", "HLO108", "0 <= start <= limit");
    check("x = f32[4] parameter(0)\ny = f32[4] slice(x), slice={[0:4:0]}", "HLO108", "slice={[0:4:0]}");
    check("x = f32[4] parameter(0)\ny = f32[4] slice(x), slice={}", "HLO108", "one entry per");
    check("x = f32[4] parameter(0)\ny = f32[1] slice(x), slice={[0:4:2]}", "HLO106", "yields f32[2]");
    check("x = f32[4] parameter(0)\ny = f32[4] reverse(x), dimensions={1}", "HLO107", "dimensions={1}");
    check("x = f32[] parameter(0)\ny = f32[2] concatenate(x, x), dimensions={0}", "HLO107", "does not have");
    check(
        "x = f32[2,3] parameter(0)\nz = f32[2,4] parameter(1)\ny = f32[4,3] concatenate(x, z), dimensions={0}",
        "HLO108",
        "outside of the joined dimension",
    );
    check(
        "x = f32[9223372036854775807] parameter(0)\ny = f32[0] concatenate(x, x), dimensions={0}",
        "HLO116",
        "exceeds 64 bits",
    );
    check(
        "x = f32[4] parameter(0)\nv = s32[] parameter(1)\ny = f32[4] pad(x, v), padding=0_0",
        "HLO105",
        "must be f32 as operand 0",
    );
    check(
        "x = f32[4] parameter(0)\nv = f32[] parameter(1)\ny = f32[0] pad(x, v), padding=-3_-3",
        "HLO108",
        "would be negative",
    );
    check(
        "x = f32[4] parameter(0)\nv = f32[] parameter(1)\ny = f32[0] pad(x, v), padding=0_0_9223372036854775807",
        "HLO116",
        "exceeds 64 bits",
    );
}

#[test]
fn tuple_and_parameter_rules() {
    check("x = f32[2] parameter(0)\ny = f32[2] get-tuple-element(x), index=0", "HLO105", "must be a tuple");
    check("x = (f32[2]) parameter(0)\ny = f32[2] get-tuple-element(x), index=1", "HLO107", "outside a tuple of 1");
    check("x = f32[2] parameter(0)\ny = (f32[2]) tuple(x, x)", "HLO106", "yields (f32[2], f32[2])");
    check("x = f32[2] parameter(0)\nz = f32[2] parameter(2)\ny = f32[2] add(x, z)", "HLO103", "number 2 where 1");
    check("x = f32[2] parameter(0)\nz = f32[2] parameter(0)\ny = f32[2] add(x, z)", "HLO103", "number 0 where 1");
}

#[test]
fn calls_and_regions() {
    let with = |callee: &str, line: &str| {
        let text = format!(
            "f {{\n{callee}\n}}\nENTRY main {{\nx = f32[4] parameter(0)\nz = f32[] parameter(1)\nROOT {line}\n}}"
        );
        verify(&module(&text)).unwrap_err().to_string()
    };
    let id = "ROOT a = f32[4] parameter(0)";
    assert!(
        with(id, "y = f32[4] call(x, x), to_apply=f").contains("HLO111: main/y: f takes 1 parameters, call passes 2")
    );
    assert!(with(id, "y = f32[] call(z), to_apply=f").contains("parameter 0 of f is f32[4], operand 0 is f32[]"));
    assert!(with(id, "y = f32[5] fusion(x), kind=kLoop, calls=f").contains("HLO106"));

    let reduce = "y = f32[] reduce(x, z), dimensions={0}, to_apply=f";
    assert!(with(id, reduce).contains("HLO110: main/y: f must take 2 parameters"));
    let arrays = "a = f32[4] parameter(0)\nROOT b = f32[4] parameter(1)";
    assert!(with(arrays, reduce).contains("f must be (f32[], f32[]) -> f32[], its parameters the accumulators"));
    let wrong_type = "a = f32[] parameter(0)\nb = s32[] parameter(1)\nROOT c = f32[] negate(a)";
    assert!(with(wrong_type, reduce).contains("parameter 1 of f must be f32[] and is s32[]"));
    let wrong_result = "a = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = pred[] compare(a, b), direction=LT";
    assert!(with(wrong_result, reduce).contains("f must return f32[] and returns pred[]"));
    let sum = "a = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] add(a, b)";
    assert!(with(sum, "y = f32[] reduce(x, x), dimensions={0}, to_apply=f").contains("initial values must be scalars"));
    assert!(with(sum, "y = f32[] reduce(x, z, z), dimensions={0}, to_apply=f").contains("HLO104"));
    assert!(with(sum, "y = f32[] reduce(x, z), dimensions={0,0}, to_apply=f").contains("names dimension 0 twice"));
    assert!(with(sum, "y = f32[] reduce(x, z), dimensions={1}, to_apply=f").contains("HLO107"));
    assert!(with(sum, "y = f32[4] reduce(x, z), dimensions={0}, to_apply=f").contains("HLO106"));
}

#[test]
fn bounded_extents_are_checked_as_far_as_they_are_known() {
    let surely = "HLO108: main/y: add: the operands must have the same extents";
    let text = |shape: &str, result: &str| {
        let text = format!(
            "ENTRY main {{\nx = f32[<=4,3] parameter(0)\nz = {shape} parameter(1)\nROOT y = {result} add(x, z)\n}}"
        );
        verify(&module(&text))
    };
    assert_eq!(text("f32[<=4,3]", "f32[<=4,3]"), Ok(()));
    assert_eq!(text("f32[2,3]", "f32[<=4,3]"), Ok(()));
    assert!(text("f32[<=4,5]", "f32[<=4,3]").unwrap_err().to_string().contains(surely));
    assert!(text("f32[5,3]", "f32[<=4,3]").unwrap_err().to_string().contains(surely));
    assert!(text("f32[<=4]", "f32[<=4,3]").unwrap_err().to_string().contains(surely));
}

#[test]
fn extents_of_operations_that_nothing_runs_are_checked() {
    let check = |line: &str, words: &str| {
        let text = format!("ENTRY main {{\nx = bf16[2,3] parameter(0)\nROOT y = {line}\n}}");
        let found = verify(&module(&text)).expect_err(line);
        assert!(found.to_string().contains(words), "{found}");
    };
    check(
        "bf16[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "dot: dimensions of the operands that belong together must have the same extent; the operands have extents [2,3] and [2,3]",
    );
    check(
        "bf16[2,3] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        "dot yields bf16[2,2], the text says bf16[2,3]",
    );
    check("(bf16[2,3], s32[2,2]) topk(x), k=2, largest=true", "topk yields (bf16[2,2], s32[2,2])");
}

#[test]
fn replicas_over_a_channel_stand_for_all_their_partitions() {
    let check = |members: usize, attributes: &str| {
        let gathered = 4 * members;
        for [from, to, operation] in [
            ["4", &gathered.to_string(), "all-gather(p), dimensions={0}"],
            [&gathered.to_string(), "4", "reduce-scatter(p), dimensions={0}, to_apply=add"],
        ] {
            let text = format!(
                "HloModule m, replica_count=2, num_partitions=3\nadd {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n \
                 ROOT s = f32[] add(a, b)\n}}\nENTRY e {{\n p = f32[{from}] parameter(0)\n \
                 ROOT r = f32[{to}] {operation}, {attributes}\n}}"
            );
            let found = verify(&parse(&text).unwrap());
            assert!(found.is_ok(), "{text}\n{}", found.unwrap_err());
        }
    };
    check(2, "replica_groups={{0,1}}");
    check(6, "channel_id=1, replica_groups={{0,1}}");
    check(6, "channel_id=1, replica_groups=[1,2]<=[2]");
    check(3, "channel_id=1, replica_groups={{0},{1}}");
    check(2, "channel_id=1, replica_groups={{0,1},{2,3},{4,5}}, use_global_device_ids=true");
}

#[test]
fn every_finding_is_reported_at_once() {
    let found = findings("x = f32[2] parameter(0)\ny = f32[3] negate(x)\nz = f32[2] not(x)\nw = f32[2] add(x, y)");
    let found: Vec<(&str, &str)> = found.0.iter().map(|f| (f.code, f.instruction.as_str())).collect();
    assert_eq!(found, [("HLO106", "main/y"), ("HLO105", "main/z"), ("HLO108", "main/w")]);
}

#[test]
fn many_findings_about_a_large_value_stay_small() {
    let elements = vec!["f32[]"; 3000].join(", ");
    let mut text = format!("ENTRY main {{\nx = ({elements}) parameter(0)\n");
    for number in 0..3000 {
        writeln!(text, "n_{number} = f32[] negate(x)\nc_{number} = f32[] copy(x)").unwrap();
    }
    let found = verify(&module(&format!("{text}ROOT y = f32[] constant(0)\n}}"))).unwrap_err();
    assert_eq!(found.0.len(), 6000);
    assert!(found.0.iter().all(|finding| finding.message.len() < 600));
}

#[test]
fn the_entry_layout_must_describe_the_entry() {
    let text = |layout: &str| {
        let text = format!(
            "HloModule m, entry_computation_layout={{{layout}}}\n\nENTRY main {{\n  ROOT x = f32[2,3]{{1,0}} parameter(0)\n}}\n"
        );
        verify(&parse(&text).unwrap())
    };
    assert_eq!(text("(f32[2,3]{0,1})->f32[2,3]{1,0}"), Ok(()));
    assert_eq!(text("(f32[2,4]{1,0})->f32[2,3]{1,0}").unwrap_err().0[0].code, "HLO113");
    assert_eq!(text("()->f32[2,3]{1,0}").unwrap_err().0[0].code, "HLO113");
}

/// Modules no text can make, or that the reader refuses first.
#[test]
fn broken_structure_is_found_and_never_panics() {
    let good = module(
        "f {\nROOT a = f32[2] parameter(0)\n}\nENTRY main {\nx = f32[2] parameter(0)\nc = f32[2] call(x), to_apply=f\nROOT y = f32[2] negate(c)\n}",
    );
    assert_eq!(verify(&good), Ok(()));
    let (first, second, third): (InstrId, InstrId, InstrId) =
        (ArenaId::from_index(0), ArenaId::from_index(1), ArenaId::from_index(2));
    let nowhere: InstrId = ArenaId::from_index(1000);
    let entry = good.entry;
    let main = |change: &dyn Fn(&mut weft_hlo::ir::Computation)| {
        let mut module = good.clone();
        change(&mut module.computations[entry]);
        module
    };
    let mut no_entry = good.clone();
    no_entry.entry = ArenaId::from_index(9);
    let callee = |id: ComputationId| main(&|c| c.instructions[second].op = Op::Call { to_apply: id });
    let cases = [
        ("HLO101", main(&|c| c.instructions[third].operands = vec![third])),
        ("HLO101", main(&|c| c.instructions[second].operands = vec![third])),
        ("HLO101", main(&|c| c.instructions[third].operands = vec![nowhere])),
        ("HLO102", main(&|c| c.root = nowhere)),
        ("HLO102", no_entry),
        ("HLO103", main(&|c| c.instructions[first].op = Op::Parameter { number: -1 })),
        ("HLO112", callee(entry)),
        ("HLO112", callee(ArenaId::from_index(77))),
        ("HLO114", main(&|c| c.instructions[third].name = "x".to_owned())),
        ("HLO116", main(&|c| c.instructions[third].shape = Shape::array(weft_hlo::ir::ElementType::F32, [-1]))),
        (
            "HLO116",
            main(&|c| c.instructions[third].shape = Shape::array(weft_hlo::ir::ElementType::F32, [i64::MAX, 2])),
        ),
        ("HLO109", main(&|c| set_layout(c, third, vec![1]))),
        ("HLO109", main(&|c| set_layout(c, third, vec![0, 0]))),
    ];
    for (code, module) in cases {
        let found = verify(&module).expect_err(code);
        assert!(found.0.iter().any(|finding| finding.code == code), "{code}: {found}");
        assert!(weft_hlo::eval::check(&module, &Default::default()).is_err(), "{code}");
    }
}

fn set_layout(computation: &mut weft_hlo::ir::Computation, id: InstrId, minor_to_major: Vec<usize>) {
    if let Shape::Array(array) = &mut computation.instructions[id].shape {
        array.layout = Some(Layout::new(minor_to_major));
    }
}

#[test]
fn unknown_extents_are_not_reported() {
    for lines in [
        "x = f32[?,9] parameter(0)\ni = s32[7,1] parameter(1)\n\
         y = f32[7,9] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, \
         slice_sizes={1,9}",
        "x = f32[?,9] parameter(0)\ni = s32[] parameter(1)\ny = f32[2,3] dynamic-slice(x, i, i), dynamic_slice_sizes={2,3}",
        "x = f32[?,?] parameter(0)\ny = (f32[?,2], s32[?,2]) topk(x), k=2",
        "x = f32[?,8,8,4] parameter(0)\nk = f32[3,3,4,6] parameter(1)\n\
         y = f32[?,6,6,6] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f",
        "x = f32[?,4] parameter(0)\ny = f32[?] reshape(x)",
        "x = f32[?,4] parameter(0)\ny = f32[4,?] transpose(x), dimensions={1,0}",
    ] {
        let (rest, root) = lines.rsplit_once('\n').unwrap();
        let text = format!("ENTRY main {{\n{rest}\nROOT {root}\n}}");
        assert_eq!(verify(&module(&text)), Ok(()), "{lines}");
    }
    let (code, words) =
        ("HLO108", "topk: k must be at least 0 and at most the last extent; the operand has extents [?,1]");
    check("x = f32[?,1] parameter(0)\ny = (f32[?,2], s32[?,2]) topk(x), k=2", code, words);
}

/// Whatever the extents turn out to be, and also where something before it may fail.
#[test]
fn contradictions_between_unknown_extents_are_reported() {
    for (lines, code, words) in [
        ("x = f32[?,4] parameter(0)\ny = f32[?,4] reverse(x), dimensions={2}", "HLO107", "dimensions={2}"),
        ("x = f32[?,4] parameter(0)\ny = f32[4,?] transpose(x), dimensions={1,5}", "HLO107", "does not have"),
        ("x = f32[?,4] parameter(0)\ny = f32[?,4] transpose(x), dimensions={0}", "HLO108", "permutation"),
        ("y = f32[?,4] iota(), iota_dimension=2", "HLO107", "iota_dimension=2"),
        ("x = f32[?,4] parameter(0)\ny = f32[2,4] slice(x), slice={[0:2], [0:4:0]}", "HLO108", "[0:4:0]"),
        ("x = f32[?,4] parameter(0)\ny = f32[?,4] slice(x), slice={[3:2], [0:4]}", "HLO108", "[3:2:1]"),
        ("x = f32[?] parameter(0)\ny = f32[?] cholesky(x), lower=true", "HLO108", "two dimensions"),
        (
            "x = f32[?,4] parameter(0)\nz = f32[?,3,4] parameter(1)\ny = f32[?,4] concatenate(x, z), dimensions={0}",
            "HLO108",
            "same rank",
        ),
        (
            "x = f32[?,4] parameter(0)\nz = f32[?,4] parameter(1)\ny = f32[?,4] dot(x, z), lhs_batch_dims={0}, \
             rhs_batch_dims={0}, lhs_contracting_dims={7}, rhs_contracting_dims={1}",
            "HLO107",
            "lhs_contracting_dims={7}",
        ),
    ] {
        check(lines, code, words);
    }
}
