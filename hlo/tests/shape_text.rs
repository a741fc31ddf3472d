//! The text of shape functions: the forms that parse, and the errors of those that do not.

use crate::count::cases;
use crate::shapes;
use weft_hlo::random::Rng;
use weft_hlo::shape::function::{Form, Library, MAX_DEPTH, parse_function};

/// A function of two operands with these lines.
fn function(lines: &str) -> String {
    format!("func.func @f(%a: !shape.value_shape, %b: !shape.shapes) -> !shape.shape {{\n{lines}\n}}")
}

fn check(lines: &str, wanted: &str) {
    let text = function(lines);
    let found = parse_function(&text).expect_err(&text).to_string();
    assert_eq!(found, wanted, "{text}");
}

#[test]
fn findings_have_a_span_and_a_code() {
    check("return %c", "2:8: HLO405: %c is not defined here");
    check("%a = shape.shape_of %a\nreturn %a", "2:1: HLO406: %a is defined already");
    check(
        "%s = shape.shape_off %a",
        "2:6: HLO404: there is no operation `shape.shape_off`; did you mean `shape.shape_of`?",
    );
    check(
        "%s = shape.shape_of %b",
        "2:6: HLO407: shape.shape_of takes an operand of the instruction, and is given !shape.shapes",
    );
    check("%s, %t = shape.shape_of %a", "2:10: HLO408: shape.shape_of has 1 results, 2 are named");
    check("%s = shape.const_size 9223372036854775808", "2:23: HLO409: 9223372036854775808 does not fit 64 bits");
    check("%s = shape.const_shape [-1]", "2:6: HLO407: the extents of a shape are at least 0");
    check("%s = shape.attribute \"x", "2:22: HLO402: this string is never closed");
    check("%s = shape.shape_of %a : tensor<?xindex", "2:32: HLO402: this `<` is never closed");
    check("%s = shape.shape_of %a\n", "4:1: HLO401: expected an operation or `return`, found `}`");
    check(
        "%s = shape.const_size 1\nreturn %s",
        "1:57: HLO407: the values returned are not of the types that the function declares",
    );
    check(
        "%s = shape.shape_of %a : !shape.size -> !shape.shape",
        "2:24: HLO407: shape.shape_of is here (!shape.value_shape) -> (!shape.shape)",
    );
    check(
        "%s = shape.shape_of %a, error=\"x\"",
        "2:6: HLO407: shape.shape_of does not fail, and takes no error message",
    );
    check("%s = shape.meet %a, ?", "2:21: HLO401: `?` begins nothing here");
    check(
        "%s = shape.attribute \"x\" : !shape.value_shape",
        "2:6: HLO407: an attribute is a size, a list of sizes, a shape, a list of shapes or a truth value, not !shape.value_shape",
    );
    check(
        "%s = shape.shape_of %a\n%r = shape.reduce(%s, %s) {\n^bb0(%i, %e):\nshape.yield %s\n}",
        "4:1: HLO408: this region takes 3 arguments",
    );
}

#[test]
fn libraries_are_checked_as_a_whole() {
    let library = |functions: &str, mapping: &str| {
        let text = format!("shape.function_library @l {{\n{functions}\n}} mapping {{ {mapping} }}");
        Library::parse(&text).expect_err(&text).to_string()
    };
    let call = |name: &str, callee: &str, types: &str| {
        format!(
            "func.func @{name}(%a: !shape.shape) -> !shape.shape {{\n%r = func.call @{callee}(%a) : {types}\nreturn %r\n}}"
        )
    };
    let sound = "(!shape.shape) -> !shape.shape";
    assert_eq!(library(&call("f", "g", sound), ""), "1:1: HLO410: there is no function @g");
    assert_eq!(library(&call("f", "f", sound), ""), "1:1: HLO410: @f calls itself");
    let both = format!("{}\n{}", call("f", "g", sound), call("g", "f", sound));
    assert_eq!(library(&both, ""), "1:1: HLO410: @f calls itself");
    let plain = "func.func @f(%a: !shape.shape) -> !shape.shape {\nreturn %a\n}";
    assert_eq!(library(&format!("{plain}\n{plain}"), ""), "5:1: HLO410: there are two functions @f");
    assert_eq!(library(plain, "add = @f add = @f"), "5:22: HLO410: two functions are mapped to add");
    assert_eq!(library(plain, "add = @g"), "1:1: HLO410: there is no function @g");
    let wrong = format!(
        "{plain}\n{}",
        call("g", "f", "(!shape.shape) -> !shape.size").replace("-> !shape.shape {", "-> !shape.size {")
    );
    assert_eq!(
        library(&wrong, ""),
        "1:1: HLO410: @g calls @f as (!shape.shape) -> (!shape.size), which is (!shape.shape) -> (!shape.shape)"
    );
}

#[test]
fn a_library_grows_and_stays_as_it_was_on_errors() {
    let mut library = weft_hlo::shape::standard_library().clone();
    let before = library.clone();
    let text = |mapping: &str| {
        format!(
            "shape.function_library @mine {{
               func.func @twice(%x: !shape.value_shape) -> !shape.shape {{
                 %s = shape.shape_of %x
                 %two = shape.const_size 2
                 %t = func.call @append(%s, %two) : (!shape.shape, !shape.size) -> !shape.shape
                 return %t
               }}
             }} mapping {{ {mapping} = @twice }}"
        )
    };
    assert!(library.extend_from_text(&text("add")).is_err());
    assert_eq!(library, before);
    library.extend_from_text(&text("\"my target, spaced\"")).unwrap();
    let none = weft_hlo::shape::function::AttributeTable::new();
    assert_eq!(library.infer("my target, spaced", &[&[3]], &none).unwrap()[0].as_slice(), [3, 2]);
    assert_eq!(Library::parse(&library.to_string()).unwrap(), library);
    assert!(
        library.infer("your target", &[&[3]], &none).unwrap_err().to_string().starts_with("HLO448: no shape function")
    );
    assert!(library.infer("add", &[&[3]], &none).unwrap_err().to_string().starts_with("HLO447: add takes 2 operands"));
}

#[test]
fn forms_are_told_apart() {
    let form = |lines: &str| parse_function(&function(lines)).unwrap().form();
    assert_eq!(form("%s = shape.shape_of %a\nreturn %s"), Ok(Form::Plain));
    assert_eq!(form("%s = shape.shape_of %a\n%m = shape.meet %s, %s\nreturn %s"), Ok(Form::ErrorCarrying));
    assert_eq!(form("%s = shape.shape_of %a\n%w = shape.cstr_eq %s, %s\nreturn %s"), Ok(Form::Constrained));
    assert_eq!(
        form("%s = shape.shape_of %a\n%t = shape.const_bool true\nassert %t, \"x\"\nreturn %s"),
        Ok(Form::Imperative)
    );
    let mixed =
        form("%s = shape.shape_of %a\n%w = shape.cstr_eq %s, %s\n%m = shape.meet %s, %s\nreturn %s").unwrap_err();
    assert_eq!(
        mixed.to_string(),
        "@f mixes forms: shape.cstr_eq is of the constrained form, shape.meet of the error-carrying form"
    );
    let imperative =
        parse_function(&function("%s = shape.shape_of %a\n%t = shape.const_bool true\nassert %t, \"x\"\nreturn %s"))
            .unwrap();
    assert!(imperative.lower(Form::Constrained).is_err());
}

#[test]
fn evidence_does_not_leave_its_region() {
    let lines = "%s = shape.shape_of %a\n%t = shape.const_bool true\n%w = shape.cstr_eq %s, %s\n%v = shape.if %t {\nshape.yield %w\n} else {\nshape.yield %w\n}\nreturn %s";
    check(lines, "5:6: HLO407: evidence is used where it is made; a region does not yield it");
}

#[test]
fn deep_texts_are_refused_and_long_ones_are_linear() {
    let nested = |depth: usize| {
        let open = "%x = shape.if %t {\n".repeat(depth);
        function(&format!("%s = shape.shape_of %a\n%t = shape.const_bool true\n{open}"))
    };
    assert!(parse_function(&nested(100_000)).unwrap_err().to_string().contains("HLO403"));
    assert!(parse_function(&nested(MAX_DEPTH - 1)).unwrap_err().to_string().contains("HLO401"));
    let chain: String = (0..20_000)
        .map(|index| format!("%s{} = shape.meet %s{index}, %s{index}, error=\"no {index}\"\n", index + 1))
        .collect();
    let long = parse_function(&function(&format!("%s0 = shape.shape_of %a\n{chain}return %s20000"))).unwrap();
    assert_eq!(long.lower(Form::Imperative).unwrap().operation_count(), 1, "what is met with itself cannot differ");
}

/// No text, however broken, does more than to be refused.
#[test]
fn broken_texts_are_refused() {
    let cases = cases(300);
    let mut refused = 0;
    for case in 0..cases {
        let mut rng = Rng::new(case ^ 0xb40c);
        let (text, _) = shapes::random_library(&mut rng);
        let mut bytes = text.into_bytes();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len());
            match rng.below(3) {
                0 => {
                    bytes.remove(at);
                }
                1 => bytes[at] = rng.choose(b"%@^(){}[],:=-\"<!aZ09 \n\\").unwrap(),
                _ => {
                    let end = (at + rng.below(40)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = rng.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        match Library::parse(&text) {
            Err(found) => {
                refused += 1;
                assert!(found.0.iter().all(|finding| finding.position.is_some()), "{found}");
            }
            Ok(library) => assert_eq!(Library::parse(&library.to_string()).unwrap(), library),
        }
    }
    println!("{refused} of {cases} broken texts are refused");
    assert!(refused * 2 > cases);
}
