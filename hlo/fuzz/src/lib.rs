//! The checks of the fuzz targets, which panic where a text breaks a promise of `weft-hlo`.
//!
//! `fuzz_targets/` runs them under libFuzzer (`./run TARGET SECONDS`), and `weft-hlo`'s own tests over everything in `corpus/`.

use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::shape::function::{
    AttributeTable, ErrorKind, Extents, Form, Function, Known, Library, Specialized, Type, Value,
};
use weft_hlo::text::{PrintOptions, parse, print, print_with};
use weft_hlo::verify::verify;

/// A check of one input.
pub type Check = fn(&[u8]);

/// Every check by the name of its target, which is also that of its corpus.
pub const CHECKS: &[(&str, Check)] = &[
    ("parse", check_parse),
    ("round_trip", check_round_trip),
    ("verify", check_verify),
    ("shape_functions", check_shape_functions),
];

/// Reading any bytes ends, and findings have codes, places within the text and something to say.
pub fn check_parse(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(findings) = parse(&text) {
        check_findings(&findings, &text);
    }
}

/// What was read is printed so that the same is read again, in both spellings; printing twice prints the same.
pub fn check_round_trip(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(module) = parse(&text) else { return };
    let long = print(&module);
    let again = parse(&long).unwrap_or_else(|findings| panic!("what was printed is not read:\n{findings}\n{long}"));
    assert_eq!(again, module, "what was printed reads as something else:\n{long}");
    assert_eq!(print(&again), long, "printing is not stable");
    let short = print_with(&module, &PrintOptions::short());
    let again = parse(&short).unwrap_or_else(|findings| panic!("the short form is not read:\n{findings}\n{short}"));
    assert_eq!(again, module, "the short form reads as something else:\n{short}");
}

/// Checking whatever was read ends.
pub fn check_verify(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(module) = parse(&text) else { return };
    if let Err(findings) = verify(&module) {
        check_findings(&findings.locate(&text), &text);
    }
}

/// A library of shape functions reads back as it was printed; its functions have one value or one error in all forms,
/// and so has what is left of them when some operands are known.
pub fn check_shape_functions(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let library = match Library::parse(&text) {
        Ok(library) => library,
        Err(findings) => return check_findings(&findings, &text),
    };
    let printed = library.to_string();
    let again = Library::parse(&printed).unwrap_or_else(|findings| panic!("not read: {findings}\n{printed}"));
    assert_eq!(again, library, "what was printed reads as something else:\n{printed}");
    let lowered: Vec<Library> =
        [Form::Constrained, Form::Imperative].into_iter().filter_map(|form| library.lower(form).ok()).collect();
    let attributes = AttributeTable::new().with_size("size", 2).with_sizes("sizes", [1, -1, 3]);
    for (function, seed) in library.functions().iter().zip(0..) {
        let arguments = arguments(function, seed);
        let wanted = library.evaluate(function, &arguments, &attributes);
        if wanted.as_ref().is_err_and(|error| error.kind == ErrorKind::Limit) {
            continue;
        }
        for other in &lowered {
            let same = other.function(function.name()).expect("a lowered library has the same functions");
            let found = other.evaluate(same, &arguments, &attributes);
            assert_eq!(found, wanted, "{arguments:?}\n{function}\n{same}");
        }
        let known: Vec<Known> = arguments
            .iter()
            .zip(function.parameters())
            .zip(seed..)
            .map(|((value, ty), number)| if number % 2 == 0 { Known::Exact(value.clone()) } else { Known::of_type(ty) })
            .collect();
        match library.specialize(function, &known, &attributes).expect("what is known is of the right types") {
            Specialized::Known(values) => assert_eq!(Ok(values), wanted, "{arguments:?}\n{function}"),
            Specialized::Error(error) => assert_eq!(Err(error), wanted, "{arguments:?}\n{function}"),
            Specialized::Residual(left) => {
                let found = library.evaluate(&left, &arguments, &attributes);
                assert_eq!(found, wanted, "{arguments:?}\n{function}\n{left}");
            }
        }
    }
}

/// Some operands of the types that the function takes.
fn arguments(function: &Function, seed: i64) -> Vec<Value> {
    let shape = |number: i64| (0..(number % 4)).map(|index| (number * 7 + index * 3) % 5).collect::<Extents>();
    function
        .parameters()
        .into_iter()
        .zip(seed..)
        .map(|(ty, number)| match ty {
            Type::Size => Value::Size(number % 5 - 1),
            Type::Bool => Value::Bool(number % 2 == 0),
            Type::Shapes => Value::Shapes((0..number % 3).map(shape).collect()),
            Type::ValueShape | Type::Shape | Type::Sizes | Type::Witness => Value::Extents(shape(number / 2)),
        })
        .collect()
}

fn check_findings(findings: &Diagnostics, text: &str) {
    assert!(!findings.0.is_empty(), "an error without a finding");
    for finding in &findings.0 {
        assert!(finding.code.starts_with("HLO"), "a finding without a code: {finding}");
        assert!(!finding.message.is_empty(), "a finding that says nothing: {finding}");
        assert!(finding.span.range().end <= text.len(), "a finding outside of the text: {finding}");
        assert!(finding.position.is_some(), "a finding without line and column: {finding}");
    }
}
