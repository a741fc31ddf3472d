//! No text makes the reader panic, run out of stack or take more than linear time; what it accepts, it prints.

use proptest::prelude::*;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use weft_hlo::text::{PrintOptions, parse, print, print_with};

/// Programs that between them have every kind of literal, attribute and table.
const PROGRAMS: &[&str] = &[
    "argreduce/unoptimized.hlo",
    "cholesky_solve/optimized_cpu.hlo",
    "cond_switch/optimized_cpu.hlo",
    "constant_table/optimized_cpu.hlo",
    "constant_table/unoptimized.hlo",
    "ew_complex64/unoptimized.hlo",
    "random_all/unoptimized.hlo",
    "scalar_and_empty/optimized_cpu.hlo",
    "shape_ops/unoptimized.hlo",
    "sorting/unoptimized.hlo",
];

fn program(index: usize) -> String {
    let name = PROGRAMS[index % PROGRAMS.len()];
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)).unwrap()
}

/// What is accepted prints to a text that is accepted as the same module.
fn check(text: &str) {
    if let Ok(module) = parse(text) {
        let printed = print(&module);
        match parse(&printed) {
            Ok(again) => assert!(again == module, "printed as another module:\n{printed}"),
            Err(findings) => panic!("printed as no module: {findings}\n{printed}"),
        }
        print_with(&module, &PrintOptions::short());
    }
}

/// A place in a text, as a fraction of its length.
fn at(text: &[u8], fraction: f64) -> usize {
    ((text.len() as f64 * fraction) as usize).min(text.len())
}

#[derive(Clone, Debug)]
enum Edit {
    Replace(f64, u8),
    Insert(f64, &'static str),
    Remove(f64, usize),
    Repeat(f64, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let token = prop::sample::select(vec![
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ",",
        "=",
        "%",
        "\"",
        "/*",
        "*/",
        "//",
        "->",
        "\n",
        "ROOT ",
        "ENTRY ",
        "-",
        "9",
        ".",
        "nan",
        "{...}",
        "f32[2]",
        "9223372036854775808",
        ", dimensions={0}",
        "<=",
        "?",
        "é",
        "\\",
        "x",
        ":T(8)",
    ]);
    prop_oneof![
        (0.0..1.0, 0x20u8..0x7f).prop_map(|(place, byte)| Edit::Replace(place, byte)),
        (0.0..1.0, token).prop_map(|(place, token)| Edit::Insert(place, token)),
        (0.0..1.0, 1usize..40).prop_map(|(place, length)| Edit::Remove(place, length)),
        (0.0..1.0, 1usize..200).prop_map(|(place, length)| Edit::Repeat(place, length)),
    ]
}

fn apply(text: &mut Vec<u8>, edit: &Edit) {
    match *edit {
        Edit::Replace(place, byte) => {
            let place = at(text, place);
            if let Some(old) = text.get_mut(place) {
                *old = byte;
            }
        }
        Edit::Insert(place, token) => {
            let place = at(text, place);
            text.splice(place..place, token.bytes());
        }
        Edit::Remove(place, length) => {
            let place = at(text, place);
            text.drain(place..(place + length).min(text.len()));
        }
        Edit::Repeat(place, length) => {
            let place = at(text, place);
            let part = text[place..(place + length).min(text.len())].to_vec();
            text.splice(place..place, part);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(400), ..ProptestConfig::default() })]

    #[test]
    fn truncated_programs_do_not_panic(index in 0usize..100, end in 0.0..1.0) {
        let text = program(index);
        check(&String::from_utf8_lossy(&text.as_bytes()[..at(text.as_bytes(), end)]));
    }

    #[test]
    fn edited_programs_do_not_panic(index in 0usize..100, edits in prop::collection::vec(edit(), 1..6)) {
        let mut text = program(index).into_bytes();
        for edit in &edits {
            apply(&mut text, edit);
        }
        check(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn short_texts_do_not_panic(text in "(HloModule m\n)?[-A-Za-z0-9_ %{}()\\[\\],=\"/*:.<>\n\\\\é]{0,60}") {
        check(&text);
    }

    #[test]
    fn instructions_of_random_tokens_do_not_panic(edits in prop::collection::vec(edit(), 1..8)) {
        let mut text = b"HloModule m\nENTRY e {\n ROOT x = f32[2]{0} constant({1, 2}), metadata={op_name=\"a\"}\n}\n".to_vec();
        for edit in &edits {
            apply(&mut text, edit);
        }
        check(&String::from_utf8_lossy(&text));
    }
}

fn entry(body: &str) -> String {
    format!("HloModule m\nENTRY e {{\n{body}\n}}\n")
}

#[test]
fn nesting_is_bounded() {
    let many = 100_000;
    for text in [
        entry(&format!("ROOT x = {}f32[]{} parameter(0)", "(".repeat(many), ")".repeat(many))),
        entry(&format!("ROOT x = f32[] parameter(0), metadata={}{}", "{".repeat(many), "}".repeat(many))),
        entry(&format!("ROOT x = f32[{}1] parameter(0)", "1,".repeat(many))),
        entry(&format!("ROOT x = f32[1] constant({})", "{".repeat(many))),
        entry(&format!("ROOT x = f32[] parameter(0){}", ", a=1".repeat(many))),
        entry(&format!(
            "ROOT x = f32[] custom-call(){}",
            (0..many).fold(String::new(), |mut text, number| {
                write!(text, ", a{number}=1").unwrap();
                text
            })
        )),
        format!("HloModule m, a={}", "(".repeat(many)),
    ] {
        assert!(parse(&text).is_err());
    }
    // Each bracket that a value of an attribute, a layout or the header may have.
    for (before, open, close, after) in [
        ("metadata=", "{", "}", ""),
        ("sharding=", "{", "}", ""),
        ("sharding={devices=", "[", "]", "}"),
        ("frontend_attributes={a=", "[", "]", "}"),
        ("origin={", "(", ")", "}"),
        ("origin=", "{", "}", ""),
        ("statistics=", "{", "}", ""),
        ("control-predecessors=", "{", "}", ""),
        ("parameter_replication=", "{", "}", ""),
        ("foo=", "{", "}", ""),
        ("foo=", "(", ")", ""),
    ] {
        for closed in [many, many - 1, 0] {
            let value = format!("{before}{}{}{after}", open.repeat(many), close.repeat(closed));
            assert!(parse(&entry(&format!("ROOT x = f32[] parameter(0), {value}"))).is_err(), "{before}{open}");
        }
        assert!(parse(&format!("HloModule m, input_output_alias={}", open.repeat(many))).is_err());
        assert!(parse(&format!("HloModule m, entry_computation_layout={}", open.repeat(many))).is_err());
        assert!(parse(&format!("HloModule m, frontend_attributes={}", open.repeat(many))).is_err());
    }
    for text in [
        entry(&format!("ROOT x = f32[2]{{0:T{}}} parameter(0)", "(".repeat(many))),
        entry(&format!("ROOT x = f32[2]{{0:P{}}} parameter(0)", "(".repeat(many))),
        entry(&format!("ROOT x = {}", "f32[] negate(".repeat(many))),
        entry(&format!("ROOT x = {}", "f32[] call(), to_apply={ a = ".repeat(many))),
        "f32[] negate(".repeat(many),
        "(".repeat(many),
        "{".repeat(many),
        "ROOT ".repeat(many),
        "ENTRY ".repeat(many),
    ] {
        assert!(parse(&text).is_err());
    }
    // What only braces count in may nest as it likes.
    let braces = format!("{}{}", "{".repeat(many), "}".repeat(many));
    check(&entry(&format!("ROOT x = f32[] parameter(0), backend_config={braces}, frontend_attributes={{a={braces}}}")));
    let nested = |depth| format!("{}p{}", "f32[] negate(".repeat(depth), ")".repeat(depth));
    check(&entry(&format!("p = f32[] parameter(0)\nROOT x = {}", nested(33))));
    assert!(parse(&entry(&format!("p = f32[] parameter(0)\nROOT x = {}", nested(34)))).is_err());
    let depth = 200;
    check(&entry(&format!("ROOT x = {}f32[]{} parameter(0)", "(".repeat(depth), ")".repeat(depth))));
    check(&entry(&format!(
        "ROOT x = {}f32[]{} constant({}1{})",
        "(".repeat(depth),
        ")".repeat(depth),
        "(".repeat(depth),
        ")".repeat(depth)
    )));
    let ones = vec!["1"; 255].join(",");
    check(&entry(&format!("ROOT x = f32[{ones}] constant({}1{})", "{".repeat(255), "}".repeat(255))));
}

#[test]
fn long_texts_take_linear_time() {
    let many = 50_000;
    // Chains of instructions, with shapes and without, and one in which each stands before its operand.
    for (shape, negated) in [("f32[]", false), ("", false), ("f32[]", true)] {
        let mut lines = vec![String::from("x0 = f32[] parameter(0)")];
        lines.extend((0..many).map(|number| format!("x{} = {shape} negate(x{number})", number + 1)));
        if negated {
            lines.reverse();
        }
        let chain = entry(&lines.join("\n"));
        match parse(&chain) {
            Ok(module) => assert_eq!(module.instruction_count(), many + 1),
            Err(findings) => assert!(negated && findings.0.len() == 101, "{}", findings.0.len()),
        }
        check(&chain);
    }
    // Chains of computations, each before its caller, and after it.
    for reversed in [false, true] {
        let mut functions = vec![String::from("fun0 {\nROOT p = f32[] parameter(0)\n}")];
        functions.extend((0..many).map(|number| {
            let name = format!("fun{}", number + 1);
            format!("{name} {{\np = f32[] parameter(0)\nROOT c = call(p), to_apply=fun{number}\n}}")
        }));
        if reversed {
            functions.reverse();
        }
        match parse(&format!("HloModule m\n{}", functions.join("\n"))) {
            Ok(module) => assert_eq!(module.computations.len(), many + 1),
            Err(findings) => assert!(reversed && findings.0.len() == 101, "{}", findings.0.len()),
        }
    }
    // One wide instruction, one long name, one long comment, many unknown names.
    let operands = vec!["x"; many].join(", ");
    let shapes = vec!["f32[]"; many].join(", ");
    check(&entry(&format!("x = f32[] parameter(0)\nROOT t = ({shapes}) tuple({operands})")));
    check(&entry(&format!("ROOT {} = f32[] parameter(0)", "x".repeat(1_000_000))));
    check(&entry(&format!("/*{}*/ ROOT x = f32[] parameter(0)", "* /".repeat(1_000_000))));
    let mut known = String::new();
    for number in 0..3000 {
        writeln!(known, "x{number} = f32[] parameter({number})").unwrap();
    }
    let unknown = (0..many).map(|number| format!("y{number}")).collect::<Vec<_>>().join(", ");
    assert_eq!(parse(&entry(&format!("{known}ROOT t = ({shapes}) tuple({unknown})"))).unwrap_err().0.len(), 101);
    assert!(parse(&entry(&"x = f32[] add(\"\n".repeat(many))).is_err());
    assert!(parse(&entry(&"x = f32[] negate(x), metadata={\n".repeat(many))).is_err());
    assert!(parse(&"HloModule m {\n".repeat(many)).is_err());
}

#[test]
fn long_lists_and_lines_take_linear_time() {
    let many = 50_000;
    let list = |item: &str, separator: &str| vec![item; many].join(separator);
    // Long values of attributes.
    for value in [
        format!("sharding={{{}}}", list("{replicated}", ", ")),
        format!("sharding={{devices=[{many}]{}}}", list("1", ",")),
        format!("control-predecessors={{{}}}", list("p", ", ")),
        format!("frontend_attributes={{{}}}", list("a=\"b\"", ",")),
        format!("statistics={{visualizing_index=0,{}}}", list("a=1", ",")),
        format!("origin={{({})}}", list("{\"x\"}", ", ")),
        format!("backend_config=\"{}\"", list("\\n", "")),
        format!("metadata={{op_name=\"{}\"}}", "x".repeat(1_000_000)),
        format!("metadata={{/*{}*/ op_name=\"a\"}}", list("/ *", "")),
        format!("metadata={{{} op_name=\"a\"}}", list("/**/", " ")),
    ] {
        check(&entry(&format!("p = f32[] parameter(0)\nROOT x = f32[] negate(p), {value}")));
    }
    // Many instructions without names, many computations without names.
    let nameless = list("f32[] negate(p)", ", ");
    let shapes = list("f32[]", ", ");
    let text = entry(&format!("p = f32[] parameter(0)\nROOT x = ({shapes}) tuple({nameless})"));
    assert_eq!(parse(&text).unwrap().instruction_count(), many + 2);
    let body = "{ ROOT a = f32[] parameter(0) }";
    let text = entry(&format!(
        "p = f32[] parameter(0)\nROOT x = f32[] custom-call(p), custom_call_target=\"f\", \
                               called_computations={{{}}}",
        list(body, ", ")
    ));
    assert_eq!(parse(&text).unwrap().computations.len(), many + 1);
    assert!(parse(&format!("f32[] add({})", list("f32[]", ", "))).is_ok());
    // A long header, long tables, long layouts.
    check(&format!(
        "HloModule m, input_output_alias={{ {} }}\n{}",
        list("{}: (0, {})", ", "),
        &entry("p = f32[] parameter(0)")[12..]
    ));
    let layout = format!("f32[2]{{0:T{}}}", list("(2,1)", ""));
    check(&entry(&format!("ROOT x = {layout} parameter(0)")));
    // Many findings far out on one line, and many on lines of their own.
    let padding = "x".repeat(5_000_000);
    let wrong = list("foo={1}", ", ");
    let text = entry(&format!("ROOT x = f32[] parameter(0), metadata={{op_name=\"{padding}\"}}, {wrong}"));
    assert_eq!(parse(&text).unwrap_err().0.len(), 101);
    assert!(parse(&entry(&list("x = f32[] negat(y)", " "))).is_err());
    assert!(parse(&entry(&list("x = f32[] parameter(0), foo={", " "))).is_err());
    assert!(parse(&entry(&list("x y = f32[]", "\n"))).is_err());
    assert!(parse(&entry(&list("ROTO y = f32[] parameter(0)", "\n"))).is_err());
    assert!(parse(&list("FileNames", "\n")).is_err());
    assert!(parse(&list("HloModule m,", " ")).is_err());
}

#[test]
fn a_shape_reserves_no_memory() {
    for literal in ["{}", "{1}", "{1, 2", "1", ""] {
        for element_type in ["f32", "s32", "pred", "f64"] {
            assert!(parse(&entry(&format!("ROOT x = {element_type}[1000000000000] constant({literal})"))).is_err());
        }
    }
}
