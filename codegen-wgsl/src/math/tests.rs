//! Every function parses and validates with what it needs, and the tables name only what exists.

use super::{
    Call, Function, LaneWise, all, binary, closure, compare, convert, function, lane_wise, prelude, statements, unary,
};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use weft_hlo::ir::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, UnaryOp};

const TYPES: [ElementType; 4] = [ElementType::Pred, ElementType::S32, ElementType::U32, ElementType::F32];

/// Those that not all devices compute with, too.
fn all_types() -> impl Iterator<Item = ElementType> {
    TYPES.into_iter().chain([ElementType::F64])
}

/// Whether a function has no other form than that of single numbers, on few devices.
fn is_of_doubles(function: &Function) -> bool {
    function.name.ends_with("_f64")
}

fn wgsl(ty: ElementType) -> &'static str {
    match ty {
        ElementType::Pred => "bool",
        ElementType::S32 => "i32",
        ElementType::U32 => "u32",
        ElementType::F32 => "f32",
        ElementType::F64 => "f64",
        other => panic!("{other} is not held by kernels"),
    }
}

/// The whole shader: the prelude, what `functions` need, and `rest`.
fn validate(functions: &[&str], rest: &str) {
    let mut source = prelude(3);
    for function in closure(functions.iter().copied()) {
        source += function.source;
    }
    source += rest;
    let module = naga::front::wgsl::parse_str(&source).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&source)));
    let mut capabilities = Capabilities::empty();
    capabilities.set(Capabilities::FLOAT64 | Capabilities::SHADER_INT64, source.contains("f64"));
    Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|e| panic!("{}", e.emit_to_string(&source)));
}

/// A function `result` that computes `call`, which must therefore have the types given.
fn validate_call(call: Call, operands: &[ElementType], result: ElementType) {
    let names = &["x", "y"][..operands.len()];
    let parameters: Vec<_> = names.iter().zip(operands).map(|(name, ty)| format!("{name}: {}", wgsl(*ty))).collect();
    let body = call.write(names);
    let function = format!("fn result({}) -> {} {{ return {body}; }}", parameters.join(", "), wgsl(result));
    validate(&Vec::from_iter(call.function()), &function);
}

#[test]
fn each_function_is_valid_with_what_it_needs() {
    for function in all() {
        validate(&[function.name], "");
    }
}

#[test]
fn each_function_is_valid_in_lanes() {
    for lanes in [2, 4] {
        let of_words = |function: &&Function| !is_of_doubles(function) && !function.name.ends_with("_wide");
        for function in all().iter().filter(of_words) {
            let of_lanes = lane_wise([(function.name, lanes), ("keep", lanes)]);
            validate(&of_lanes.scalar, &of_lanes.declarations.concat());
        }
    }
    assert_eq!(lane_wise([("exp", 4)]), LaneWise::default());
}

#[test]
fn all_functions_together_are_valid() {
    validate(&all().iter().map(|function| function.name).collect::<Vec<_>>(), "");
}

/// Metal's and Direct3D's languages have what the library is written with, but for numbers of 64 bits.
#[test]
#[cfg(all(feature = "msl", feature = "hlsl"))]
fn all_functions_can_be_translated() {
    use naga::back::{hlsl, msl};
    let mut source = prelude(0);
    let known = all().iter().filter(|function| !is_of_doubles(function));
    closure(known.map(|function| function.name)).iter().for_each(|function| source += function.source);
    let module = naga::front::wgsl::parse_str(&source).expect("they are valid together");
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).expect("and sound");
    let options = msl::Options { fake_missing_bindings: true, ..msl::Options::default() };
    msl::write_string(&module, &info, &options, &msl::PipelineOptions::default()).expect("in Metal's language");
    let options = hlsl::Options { fake_missing_bindings: true, ..hlsl::Options::default() };
    let mut text = String::new();
    let pipeline = hlsl::PipelineOptions::default();
    let mut writer = hlsl::Writer::new(&mut text, &options, &pipeline);
    writer.write(&module, &info, None).expect("in Direct3D's language");
}

#[test]
fn needs_are_the_functions_called() {
    for function in all() {
        assert!(function.source.contains(&format!("fn {}(", function.name)), "{} is declared", function.name);
        assert!(function.source.starts_with("// "), "{} says what it computes", function.name);
        let lines = function.source.lines().filter(|line| !line.trim_start().starts_with("//"));
        let words: Vec<_> = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
        for other in all() {
            let called = other.name != function.name && words.contains(&other.name);
            assert_eq!(function.depends_on.contains(&other.name), called, "{} and {}", function.name, other.name);
        }
    }
}

#[test]
fn statements_are_counted_with_those_of_callees() {
    let known = |name: &str| statements(name);
    assert_eq!((known("infinity_f32"), known("is_nan_f32"), known("exp_f32")), (1, 1, 2 + known("exp_inner_f32") + 2));
    assert_eq!(known("exp_inner_f32"), 4 + known("exponential_polynomial_f32"));
    assert_eq!(known("tan"), 0);
    for function in all() {
        let least: u64 = function.depends_on.iter().map(|name| known(name)).sum();
        assert!(known(function.name) > least, "{} has statements of its own", function.name);
    }
}

#[test]
fn names_differ() {
    for (i, a) in all().iter().enumerate() {
        assert_eq!(all().iter().position(|b| b.name == a.name), Some(i), "{}", a.name);
        assert_eq!(function(a.name), Some(a));
    }
    assert_eq!(function("exp"), None);
}

#[test]
fn a_closure_puts_callees_first_and_each_once() {
    let names: Vec<_> = closure(["tanh_f32", "exp_f32", "no_such", "log_f32"]).iter().map(|f| f.name).collect();
    for (i, name) in names.iter().enumerate() {
        assert!(!names[..i].contains(name), "{name} stands once");
        for needed in function(name).unwrap().depends_on {
            assert!(names[..i].contains(needed), "{needed} stands before {name}");
        }
    }
    let position = |name| names.iter().position(|other| *other == name);
    assert!(position("tanh_f32") < position("log_f32"), "names come in the order asked for");
    assert_eq!(names.last(), Some(&"log_f32"));
    assert!(closure([]).is_empty());
}

#[test]
fn unary_calls_are_valid() {
    for ty in all_types() {
        for op in UnaryOp::ALL {
            let result = if *op == UnaryOp::IsFinite { ElementType::Pred } else { ty };
            if let Some(call) = unary(*op, ty) {
                validate_call(call, &[ty], result);
            }
        }
    }
}

#[test]
fn binary_calls_are_valid() {
    for ty in all_types() {
        for op in BinaryOp::ALL {
            if let Some(call) = binary(*op, ty) {
                validate_call(call, &[ty, ty], ty);
            }
        }
    }
}

#[test]
fn calls_of_functions_that_loop_say_how_long() {
    for ty in all_types() {
        let unary = UnaryOp::ALL.iter().filter_map(|op| unary(*op, ty));
        let binary = BinaryOp::ALL.iter().filter_map(|op| binary(*op, ty));
        for call in unary.chain(binary) {
            let loops =
                |source: &str| source.contains("for (") || source.contains("while (") || source.contains("loop {");
            let is_looping = closure(call.function()).iter().any(|function| loops(function.source));
            assert_eq!(call.rounds() > 0, is_looping, "{call:?}");
        }
    }
}

#[test]
fn nan_is_told_by_bits() {
    for function in all() {
        let code = function.source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<String>();
        // The negation of a comparison of numbers holds for NaN as well, until a driver turns it around.
        assert!(!code.contains("!("), "{} negates a comparison", function.name);
    }
}

#[test]
fn least_and_greatest_floats_are_selected() {
    for function in all().iter().filter(|function| function.name.ends_with("_f32")) {
        // Those of whole numbers are compared with a literal of theirs.
        let lines = function.source.lines().filter(|line| !line.contains("u)") && !line.contains("i32("));
        let code: String = lines.filter(|line| !line.trim_start().starts_with("//")).collect();
        for called in [" clamp(", " min(", " max("] {
            assert!(!code.contains(called), "{} calls {called}", function.name);
        }
    }
}

#[test]
fn comparisons_are_valid() {
    let orders = ComparisonType::ALL.iter().copied().map(Some).chain([None]);
    for order in orders {
        for ty in all_types() {
            for direction in ComparisonDirection::ALL {
                if let Some(call) = compare(*direction, order, ty) {
                    validate_call(call, &[ty, ty], ElementType::Pred);
                }
            }
        }
    }
}

#[test]
fn conversions_are_total_and_valid() {
    for from in TYPES {
        for to in TYPES {
            validate_call(convert(from, to).expect("these types all convert"), &[from], to);
        }
    }
}

#[test]
fn tables_cover_what_hlo_defines() {
    let count = |ty| UnaryOp::ALL.iter().filter(|op| unary(**op, ty).is_some()).count();
    assert_eq!(TYPES.map(count), [1, 6, 4, 28]);
    assert_eq!(count(ElementType::F64), 27);
    let count = |ty| BinaryOp::ALL.iter().filter(|op| binary(**op, ty).is_some()).count();
    assert_eq!(TYPES.map(count), [7, 14, 14, 9]);
    assert_eq!(count(ElementType::F64), 7);
    // Without an order in the text, every comparison has a default; types that kernels do not hold have none.
    for ty in TYPES {
        assert!(ComparisonDirection::ALL.iter().all(|direction| compare(*direction, None, ty).is_some()));
    }
    assert_eq!(unary(UnaryOp::Exponential, ElementType::C64), None);
    assert_eq!(convert(ElementType::F64, ElementType::F32), None);
}
