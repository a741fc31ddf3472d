//! The evaluator on operations that apply computations of their own, and on sorting: against what XLA computes
//! (`eval_regions/xla/values.txt`, by jaxlib 0.10.2 on a CPU), and against second formulas on random arrays.

use crate::cases;

mod common;
mod orders;
mod scans;
mod scatters;
mod types;
mod windows;

use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Scalar};
use weft_hlo::text::parse;

#[test]
fn values_are_those_of_xla() {
    let seen = cases::check("eval_regions/xla", |name, text| {
        let module = parse(text).unwrap_or_else(|found| panic!("{name}: {found}"));
        let results = evaluate(&module, &[]).unwrap_or_else(|found| panic!("{name}: {found}"));
        results.iter().map(shown).collect::<Vec<_>>().join("\n")
    });
    assert!(seen.count >= 75, "{} cases", seen.count);
}

/// Type and extents, and all elements in row-major order.
fn shown(literal: &Literal) -> String {
    let count = literal.data.len().unwrap();
    let elements: Vec<String> = (0..count).map(|position| element(literal.data.get(position).unwrap())).collect();
    let array = literal.shape.as_array().unwrap();
    let extents: Vec<String> = array.extents.iter().map(i64::to_string).collect();
    format!("{}[{}] {}", array.element_type, extents.join(","), elements.join(" "))
}

fn element(scalar: Scalar) -> String {
    match scalar {
        Scalar::Pred(value) => value.to_string(),
        Scalar::S8(value) => value.to_string(),
        Scalar::S32(value) => value.to_string(),
        Scalar::U32(value) => value.to_string(),
        Scalar::U64(value) => value.to_string(),
        Scalar::Bf16(value) => real(value.to_f64()),
        Scalar::F32(value) => real(f64::from(value)),
        Scalar::F64(value) => real(value),
        other => panic!("XLA's values hold no {other:?}"),
    }
}

fn real(value: f64) -> String {
    match (value.is_nan(), value.is_sign_negative()) {
        (true, true) => "-nan".to_owned(),
        (true, false) => "nan".to_owned(),
        (false, _) => value.to_string(),
    }
}
