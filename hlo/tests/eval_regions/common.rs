//! Modules from text, and indices into arrays.

use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module};
use weft_hlo::random::Rng;
use weft_hlo::text::parse;

pub(crate) fn module(text: &str) -> Module {
    parse(&format!("HloModule test\n\n{text}\n")).unwrap_or_else(|found| panic!("{text}\n{found}"))
}

pub(crate) fn run(text: &str, inputs: &[Literal]) -> Vec<Literal> {
    evaluate(&module(text), inputs).unwrap_or_else(|found| panic!("{text}\n{found}"))
}

/// The codes of what is said about a module that cannot be evaluated.
pub(crate) fn codes(found: weft_hlo::diagnostic::Diagnostics) -> Vec<&'static str> {
    found.0.iter().map(|finding| finding.code).collect()
}

pub(crate) fn s32(literal: &Literal) -> &[i32] {
    match &literal.data {
        Data::S32(values) => values,
        other => panic!("{other:?}"),
    }
}

/// `a` times 3 less `b`: neither commutative nor associative.
pub(crate) fn combined(a: i32, b: i32) -> i32 {
    a.wrapping_mul(3).wrapping_sub(b)
}

/// A computation that is [`combined`].
pub(crate) const COMBINE: &str = "combine {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  k = s32[] constant(3)
  d = s32[] multiply(a, k)
  ROOT c = s32[] subtract(d, b)
}
";

pub(crate) fn listed(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

pub(crate) fn count(extents: &[i64]) -> usize {
    extents.iter().product::<i64>() as usize
}

/// Random numbers under these extents.
pub(crate) fn random(rng: &mut Rng, extents: &[i64], low: i64, high: i64) -> Literal {
    let values: Vec<i32> = (0..count(extents)).map(|_| rng.between(low, high) as i32).collect();
    Literal::array(extents, values)
}

/// All indices of an array, in row-major order.
pub(crate) fn indices(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for &extent in extents {
        all = all
            .into_iter()
            .flat_map(|index: Vec<i64>| (0..extent).map(move |last| index.iter().copied().chain([last]).collect()))
            .collect();
    }
    all
}

/// Where the element at an index lies in row-major order.
pub(crate) fn position(extents: &[i64], index: &[i64]) -> usize {
    extents.iter().zip(index).fold(0, |position, (extent, index)| position * extent + index) as usize
}
