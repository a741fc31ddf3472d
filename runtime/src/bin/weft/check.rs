//! Comparison of results with the evaluator's.

use crate::args::Run;
use weft_hlo::ir::{Data, Literal};

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
    match (&found.data, &expected.data) {
        (Data::F32(found), Data::F32(expected)) if found.len() == expected.len() => {
            let accepted = |found: f64, expected: f64, absolute: f64| {
                let forgiven = arguments.absolute_tolerance + arguments.relative_tolerance * expected.abs();
                same(found, expected) || (absolute.is_finite() && absolute <= forgiven)
            };
            Some(fold(found, expected, |&value| f64::from(value), accepted))
        }
        (Data::S32(found), Data::S32(expected)) if found.len() == expected.len() => {
            Some(fold(found, expected, |&value| f64::from(value), |found, expected, _| found == expected))
        }
        (Data::U32(found), Data::U32(expected)) if found.len() == expected.len() => {
            Some(fold(found, expected, |&value| f64::from(value), |found, expected, _| found == expected))
        }
        (Data::Pred(found), Data::Pred(expected)) if found.len() == expected.len() => {
            Some(fold(found, expected, |&value| f64::from(u8::from(value)), |found, expected, _| found == expected))
        }
        _ => None,
    }
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

fn fold<T: std::fmt::Debug>(
    found: &[T],
    expected: &[T],
    number: impl Fn(&T) -> f64,
    accepted: impl Fn(f64, f64, f64) -> bool,
) -> Difference {
    let mut difference = Difference { absolute: 0.0, relative: 0.0, first: None, count: 0 };
    for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
        let (a, b) = (number(found), number(expected));
        let absolute = if same(a, b) { 0.0 } else { (a - b).abs() };
        let absolute = if absolute.is_nan() { f64::INFINITY } else { absolute };
        difference.absolute = difference.absolute.max(absolute);
        if b != 0.0 && absolute != 0.0 {
            let relative = absolute / b.abs();
            difference.relative = difference.relative.max(if relative.is_nan() { f64::INFINITY } else { relative });
        }
        if !accepted(a, b, absolute) {
            difference.count += 1;
            difference.first.get_or_insert_with(|| (position, format!("{found:?}"), format!("{expected:?}")));
        }
    }
    difference
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
