//! Slices at computed places, dot products, convolutions and batch normalization in the evaluator, against formulae written
//! a second time, naively, and against values that XLA's CPU backend (jaxlib 0.10.2) computed.

mod convolution;
mod dot;
mod normalization;
mod slices;

use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, ElementType, Literal, Module};
use weft_hlo::random::Rng;
use weft_hlo::text::parse;

/// So many numbers, each one of `least..=greatest`.
fn many(rng: &mut Rng, count: usize, least: i64, greatest: i64) -> Vec<i64> {
    (0..count).map(|_| rng.between(least, greatest)).collect()
}

fn shuffled<T>(rng: &mut Rng, mut items: Vec<T>) -> Vec<T> {
    rng.shuffle(&mut items);
    items
}

/// An operand: the type that it is converted to, its extents, and its elements.
type Operand = (ElementType, Vec<i64>, Vec<i64>);

fn module(text: &str) -> Module {
    parse(&format!("HloModule test\n\n{text}\n")).unwrap_or_else(|found| panic!("{text}\n{found}"))
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn shape(element_type: ElementType, extents: &[i64]) -> String {
    format!("{element_type}[{}]", list(extents))
}

/// A module of one operation on operands of any types, which are converted to them: `call` is the operation with
/// attributes, without operands (`dot;lhs_contracting_dims={1}` stands for `dot(x0, x1), lhs_contracting_dims={1}`).
fn text(operands: &[Operand], result: &str, call: &str, after: &str) -> String {
    let mut lines = String::new();
    for (number, (element_type, extents, _)) in operands.iter().enumerate() {
        let (given, wanted) = (shape(ElementType::S64, extents), shape(*element_type, extents));
        lines += &format!("p{number} = {given} parameter({number})\nx{number} = {wanted} convert(p{number})\n");
    }
    let names: Vec<String> = (0..operands.len()).map(|number| format!("x{number}")).collect();
    let (opcode, attributes) = call.split_once(';').unwrap_or((call, ""));
    let comma = if attributes.is_empty() { "" } else { ", " };
    let call = format!("{opcode}({}){comma}{attributes}", names.join(", "));
    let root = if after.is_empty() { "ROOT " } else { "" };
    format!("ENTRY main {{\n{lines}{root}r = {result} {call}\n{after}\n}}")
}

fn run(text: &str, inputs: &[Literal]) -> Vec<Literal> {
    evaluate(&module(text), inputs).unwrap_or_else(|found| panic!("{text}\n{found}"))
}

fn inputs(operands: &[Operand]) -> Vec<Literal> {
    operands.iter().map(|(_, extents, values)| Literal::array(&extents[..], values.clone())).collect()
}

/// The results of an operation, each converted to `s64`.
fn integers(operands: &[Operand], result: (ElementType, &[i64]), call: &str) -> Vec<i64> {
    let after = format!("ROOT s = {} convert(r)", shape(ElementType::S64, result.1));
    let text = text(operands, &shape(result.0, result.1), call, &after);
    match run(&text, &inputs(operands)).swap_remove(0).data {
        Data::S64(values) => values,
        other => panic!("{other:?}"),
    }
}

/// The results of an operation, each converted to `f64`.
fn reals(operands: &[Operand], result: (ElementType, &[i64]), call: &str) -> Vec<f64> {
    let after = format!("ROOT s = {} convert(r)", shape(ElementType::F64, result.1));
    let text = text(operands, &shape(result.0, result.1), call, &after);
    reals_of(run(&text, &inputs(operands)).swap_remove(0))
}

fn reals_of(literal: Literal) -> Vec<f64> {
    match literal.data {
        Data::F64(values) => values,
        other => panic!("{other:?}"),
    }
}

/// A number as a type holds it.
fn converted(element_type: ElementType, values: &[f64]) -> Vec<f64> {
    let (given, wanted) =
        (shape(ElementType::F64, &[values.len() as i64]), shape(element_type, &[values.len() as i64]));
    let text =
        format!("ENTRY main {{\nx = {given} parameter(0)\ny = {wanted} convert(x)\nROOT z = {given} convert(y)\n}}");
    reals_of(run(&text, &[Literal::array([values.len() as i64], values.to_vec())]).swap_remove(0))
}

/// An integer as a type holds it: its lowest bits.
fn wrapped(element_type: ElementType, value: i128) -> i128 {
    if element_type == ElementType::Pred {
        return i128::from(value != 0);
    }
    let modulus = 1i128 << element_type.bits();
    let value = value.rem_euclid(modulus);
    if element_type.is_signed() && value >= modulus / 2 { value - modulus } else { value }
}

/// The same numbers, bit for bit but for NaNs.
fn assert_same(given: &[f64], wanted: &[f64], of: impl std::fmt::Debug) {
    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    assert!(given.len() == wanted.len() && given.iter().zip(wanted).all(same), "{of:?}: {given:?} {wanted:?}");
}

/// All indices of an array, in row-major order.
fn indices(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for &extent in extents {
        all = all.iter().flat_map(|index| (0..extent).map(move |next| [&index[..], &[next]].concat())).collect();
    }
    all
}

/// The row-major number of an index.
fn number(index: &[i64], extents: &[i64]) -> usize {
    assert!(index.iter().zip(extents).all(|(at, extent)| (0..*extent).contains(at)), "{index:?} of {extents:?}");
    index.iter().zip(extents).fold(0, |number, (at, extent)| number * extent + at) as usize
}

fn count(extents: &[i64]) -> usize {
    extents.iter().product::<i64>() as usize
}

/// Types of a kind.
fn types(kind: impl Fn(ElementType) -> bool) -> Vec<ElementType> {
    ElementType::ALL.iter().copied().filter(|&element_type| kind(element_type)).collect()
}

fn is_integral(element_type: ElementType) -> bool {
    element_type.is_integer() || element_type == ElementType::Pred
}
