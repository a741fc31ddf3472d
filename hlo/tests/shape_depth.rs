//! Shape functions with more dependent constraints than regions may nest.

use std::fmt::Write as _;
use weft_hlo::shape::function::{AttributeTable, Form, Function, Library, MAX_DEPTH, Value, parse_function};

/// The extent of the operand at the end of a path of `count` steps through it, each of which may fail, with a constraint
/// of its own on what it finds there.
fn path(count: usize) -> String {
    let mut text = "func.func @path(%operand: !shape.value_shape) -> !shape.shape {\n  %seven = shape.const_size 7\n  \
                    %shape = shape.shape_of %operand\n  %e_0 = shape.const_size 0\n"
        .to_owned();
    for step in 0..count {
        let next = step + 1;
        writeln!(text, "  %e_{next} = shape.get_extent %shape, %e_{step}, error=\"step {step}\"").unwrap();
        writeln!(text, "  %less_{step} = shape.lt %e_{next}, %seven").unwrap();
        writeln!(text, "  %sound_{step} = shape.require %less_{step}, error=\"constraint {step}\"").unwrap();
    }
    write!(text, "  %sum = shape.add %e_1, %e_{count}\n  %r = shape.from_extents %sum, %e_{count}\n  return %r\n}}")
        .unwrap();
    text
}

/// The same in the innermost of `loops` loops.
fn in_loops(count: usize, loops: usize) -> String {
    let (head, body) = path(count).split_once("  %e_0").map(|(a, b)| (a.to_owned(), format!("  %e_0{b}"))).unwrap();
    let body = body.replace("  return %r\n}", "");
    let mut text = format!("{head}  %none = shape.const_shape []\n  %zero = shape.const_size 0\n");
    for level in 0..loops {
        let before = if level == 0 { "%none".to_owned() } else { format!("%before_{}", level - 1) };
        writeln!(
            text,
            "  %sound_outside_{level} = shape.meet %shape, %shape\n  %first_{level} = shape.get_extent %shape, %zero\n  \
             %r_{level} = shape.reduce(%shape, {before}) {{\n  ^bb0(%i_{level}, %x_{level}, %before_{level}):"
        )
        .unwrap();
    }
    text.push_str(&body);
    for level in (0..loops).rev() {
        let result = if level + 1 == loops { "%r".to_owned() } else { format!("%r_{}", level + 1) };
        writeln!(text, "  shape.yield {result}\n  }}").unwrap();
    }
    text.push_str("  return %r_0\n}");
    text
}

fn depth(function: &Function) -> usize {
    let mut depth = 0;
    let mut deepest = 0;
    for line in function.to_string().lines() {
        depth = depth + usize::from(line.ends_with('{')) - usize::from(line.trim_start().starts_with('}'));
        deepest = deepest.max(depth + usize::from(line.contains("} else {")));
    }
    deepest - 1
}

fn check(text: &str, operands: &[&[i64]]) -> usize {
    let first = parse_function(text).unwrap();
    let forms = [first.lower(Form::Constrained).unwrap(), first.lower(Form::Imperative).unwrap()];
    let through = forms[0].lower(Form::Imperative).unwrap();
    let library = Library::new("none");
    for operand in operands {
        let run =
            |function| library.evaluate(function, &[Value::shape(operand.iter().copied())], &AttributeTable::new());
        let wanted = run(&first);
        for function in forms.iter().chain([&through]) {
            assert_eq!(run(function), wanted, "{operand:?}\n{function}");
            assert_eq!(&parse_function(&function.to_string()).unwrap(), function);
        }
    }
    depth(&forms[0])
}

const OPERANDS: [&[i64]; 7] =
    [&[1, 2, 3, 4, 5, 6, 0], &[0], &[], &[1, 2, 3, 4, 9, 6, 0], &[1, 2, 3, 4, 5, 6, 7], &[8, 0], &[1, 2, 3, 3]];

#[test]
fn chains_of_constraints_are_longer_than_regions_nest() {
    assert_eq!(check(&path(5), &OPERANDS), 5);
    for count in [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 3 * MAX_DEPTH + 7] {
        assert!(check(&path(count), &OPERANDS) <= MAX_DEPTH);
    }
}

#[test]
fn loops_find_room_inside_of_chains() {
    for loops in [1, 3, 10, 20] {
        let deepest = check(&in_loops(MAX_DEPTH + 20, loops), &[&[0], &[1], &[8], &[]]);
        assert!(deepest <= MAX_DEPTH, "{loops} loops nest {deepest} deep");
    }
}
