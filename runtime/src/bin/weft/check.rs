//! Comparison of results with the evaluator's.

use crate::args::Run;
use crate::output::scalar_text;
use weft_hlo::eval;
use weft_hlo::ir::{Data, ElementType, Literal};

/// How far one result is from what was expected.
pub(crate) struct Difference {
    /// The largest absolute difference; infinite where one is NaN or infinite and the other is not.
    pub(crate) absolute: f64,
    /// The largest difference relative to the expected value, of elements that are expected not to be 0.
    pub(crate) relative: f64,
    /// The first element out of tolerance: its row-major position, what it is, what was expected.
    pub(crate) first: Option<(usize, String, String)>,
    /// How many elements are out of tolerance.
    pub(crate) count: usize,
}

impl Difference {
    /// Whether all elements are within tolerance.
    pub(crate) fn is_accepted(&self) -> bool {
        self.count == 0
    }
}

/// Compares `found` with `expected`; `None` if they are not even of one type and size.
pub(crate) fn compare(found: &Literal, expected: &Literal, arguments: &Run) -> Option<Difference> {
    let element_type = expected.data.element_type()?;
    if found.data.element_type() != Some(element_type) || found.data.len() != expected.data.len() {
        return None;
    }
    let forgives = element_type.is_float() || element_type.is_complex();
    let accepted = |position: usize, found_part: f64, expected_part: f64, absolute: f64| {
        let forgiven = arguments.absolute_tolerance + arguments.relative_tolerance * expected_part.abs();
        match forgives {
            true => same(found_part, expected_part) || (absolute.is_finite() && absolute <= forgiven),
            // Integers of 64 bits may differ and be the same `f64`.
            false => found.data.get(position) == expected.data.get(position),
        }
    };
    let parts = if element_type.is_complex() { 2 } else { 1 };
    let mut difference = Difference { absolute: 0.0, relative: 0.0, first: None, count: 0 };
    for (position, (&a, b)) in parts_of(&found.data)?.iter().zip(parts_of(&expected.data)?).enumerate() {
        let absolute = if same(a, b) { 0.0 } else { (a - b).abs() };
        let absolute = if absolute.is_nan() { f64::INFINITY } else { absolute };
        difference.absolute = difference.absolute.max(absolute);
        if b != 0.0 && absolute != 0.0 {
            let relative = absolute / b.abs();
            difference.relative = difference.relative.max(if relative.is_nan() { f64::INFINITY } else { relative });
        }
        let position = position / parts;
        if !accepted(position, a, b, absolute) {
            difference.count += 1;
            let text = |data: &Data| data.get(position).map(scalar_text).unwrap_or_default();
            difference.first.get_or_insert_with(|| (position, text(&found.data), text(&expected.data)));
        }
    }
    Some(difference)
}

/// The elements as numbers, of complex ones the parts one after the other.
fn parts_of(data: &Data) -> Option<Vec<f64>> {
    match eval::converted(data, if data.element_type()?.is_complex() { ElementType::C128 } else { ElementType::F64 })? {
        Data::F64(values) => Some(values),
        Data::C128(values) => Some(values.into_iter().flat_map(|value| [value.re, value.im]).collect()),
        _ => None,
    }
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn difference(found: f32, expected: f32) -> Difference {
        let arguments = crate::args::Weft::parse_from(["weft", "run", "-"]);
        let crate::args::Command::Run(run) = arguments.command else { panic!("the command is run") };
        let scalar = |value: f32| Literal::array([], vec![value]);
        compare(&scalar(found), &scalar(expected), &run).expect("both are f32[]")
    }

    #[test]
    fn infinities_and_nans_match_only_themselves() {
        let inf = f32::INFINITY;
        assert!(difference(inf, inf).is_accepted());
        assert!(difference(f32::NAN, -f32::NAN).is_accepted());
        for (found, expected) in
            [(1.0, inf), (inf, 1.0), (-inf, inf), (f32::NAN, inf), (inf, f32::NAN), (0.0, f32::NAN)]
        {
            assert!(!difference(found, expected).is_accepted(), "{found} for {expected}");
        }
    }

    #[test]
    fn tolerances_add() {
        assert!(difference(1.00005, 1.0).is_accepted());
        assert!(!difference(1.001, 1.0).is_accepted());
        assert!(difference(1e-6, 0.0).is_accepted());
        assert!(difference(-0.0, 0.0).is_accepted());
    }
}
