//! How far results are from those of 64-bit floats.

use weft_hlo::eval::converted;
use weft_hlo::ir::{Data, ElementType, Literal};

/// The error from which results count as wrong rather than rounded.
pub(super) const WRONG: f64 = 1e-3;

/// The largest relative error of any element of `found`, where `expected` was computed in wider floats; infinite where
/// an integer or truth value differs, or a NaN or infinity stands for something else. `None` if they are not of one
/// shape.
///
/// The error of a float is `|found - expected| / max(|expected|, scale)`, where the scale is the root mean square of
/// all finite elements expected of the array: an element that is small only because others cancelled is judged by what
/// cancelled. What is expected is first rounded to the type of what was found if it is infinite there.
pub(super) fn largest_error(found: &[Literal], expected: &[Literal]) -> Option<f64> {
    if found.len() != expected.len() {
        return None;
    }
    found.iter().zip(expected).try_fold(0.0f64, |worst, (found, expected)| Some(worst.max(error(found, expected)?)))
}

fn error(found: &Literal, expected: &Literal) -> Option<f64> {
    if found.data.len() != expected.data.len() {
        return None;
    }
    let element_type = found.data.element_type()?;
    if !element_type.is_float() && !element_type.is_complex() {
        return Some(if found.data == expected.data { 0.0 } else { f64::INFINITY });
    }
    let greatest = greatest(element_type);
    let (found, expected) = (parts(&found.data)?, parts(&expected.data)?);
    let finite = expected.iter().filter(|value| value.is_finite());
    let (count, squares) = finite.fold((0u64, 0.0), |(count, squares), value| (count + 1, squares + value * value));
    let scale = if count == 0 { 0.0 } else { (squares / count as f64).sqrt() };
    let worst = found.iter().zip(&expected).fold(0.0f64, |worst, (&found, &expected)| {
        let expected = if expected.abs() > greatest { expected.signum() * f64::INFINITY } else { expected };
        let error = if found == expected || (found.is_nan() && expected.is_nan()) {
            0.0
        } else {
            (found - expected).abs() / expected.abs().max(scale)
        };
        worst.max(if error.is_nan() { f64::INFINITY } else { error })
    });
    Some(worst)
}

/// What rounds to no finite number of the type any more lies above.
fn greatest(element_type: ElementType) -> f64 {
    match element_type {
        // Halfway from the largest finite number to the next that there would be.
        ElementType::F32 | ElementType::C64 => f64::from(f32::MAX) + 2f64.powi(103),
        _ => f64::INFINITY,
    }
}

/// The elements as `f64`, real and imaginary parts one after the other.
fn parts(data: &Data) -> Option<Vec<f64>> {
    match data {
        Data::F64(values) => Some(values.clone()),
        Data::C64(values) => Some(values.iter().flat_map(|value| [value.re.into(), value.im.into()]).collect()),
        Data::C128(values) => Some(values.iter().flat_map(|value| [value.re, value.im]).collect()),
        other => match converted(other, ElementType::F64)? {
            Data::F64(values) => Some(values),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(found: Vec<f32>, expected: Vec<f64>) -> f64 {
        let array = |count: usize, data: Data| Literal::array([count as i64], data);
        let (found, expected) = (array(found.len(), Data::F32(found)), array(expected.len(), Data::F64(expected)));
        largest_error(&[found], &[expected]).expect("they are of one shape")
    }

    #[test]
    fn errors_are_relative_to_the_element_or_to_the_scale_of_all() {
        assert_eq!(of(vec![3.0], vec![2.0]), 0.5);
        // The root mean square of 3 and 4 is sqrt(12.5); 4.5 for 4 is an eighth.
        assert_eq!(of(vec![3.0, 4.5], vec![3.0, 4.0]), 0.125);
        // An element that should be 0 is judged by the others.
        assert!(of(vec![1.0, 1.0, 1.0, 0.1f32.powi(3)], vec![1.0, 1.0, 1.0, 0.0]) < 2e-3);
        assert_eq!(of(vec![], vec![]), 0.0);
    }

    #[test]
    fn nan_and_infinities_stand_only_for_themselves() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert_eq!(of(vec![nan, inf, -inf], vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]), 0.0);
        for (found, expected) in [(nan, 1.0), (1.0, f64::NAN), (inf, 1.0), (1.0, f64::INFINITY), (-inf, f64::INFINITY)]
        {
            assert_eq!(of(vec![found], vec![expected]), f64::INFINITY, "{found} for {expected}");
        }
        // Beyond the range of f32 infinity is the right answer.
        assert_eq!(of(vec![inf, -inf], vec![1e39, -1e300]), 0.0);
        assert_eq!(of(vec![0.0], vec![0.0]), 0.0);
        assert_eq!(of(vec![1.0], vec![0.0]), f64::INFINITY);
    }

    #[test]
    fn integers_have_to_be_equal() {
        let array = |last: i32| [Literal::array([2], vec![1, last])];
        assert_eq!(largest_error(&array(2), &array(2)), Some(0.0));
        assert_eq!(largest_error(&array(2), &array(3)), Some(f64::INFINITY));
        assert_eq!(largest_error(&array(2), &[]), None);
    }
}
