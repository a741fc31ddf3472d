//! Transforms along the last dimension between real numbers and the first half of their spectrum, whose other half are the
//! conjugates of it.

use super::factors::factors;
use super::lines::{Lines, product};
use super::parts::{Parts, sliced};
use super::roots::{complex, line, root};
use crate::ir::{BinaryOp, ElementType, InstrId, Scalar};
use crate::passes::build::Build;
use crate::passes::rebuild::Rebuild;

/// Whether the length is transformed by one product.
fn is_one_step(length: i64) -> bool {
    factors(length).is_some_and(|factors| factors.len() <= 1)
}

/// Of `n` real numbers the first `n / 2 + 1` of the spectrum.
pub(super) fn to_half(rebuild: &mut Rebuild<'_>, values: InstrId) -> Option<Parts> {
    let given = rebuild.array(values).clone();
    let (last, length) = (given.rank() - 1, *given.extents.last()?);
    let half = length / 2 + 1;
    if is_one_step(length) {
        return Some(forward_product(rebuild, values, half));
    }
    if length % 2 == 1 {
        let values = Parts { re: values, im: None };
        let whole = Lines { length, inverse: false }.transform(rebuild, values, last)?;
        return Some(whole.each(rebuild, |rebuild, part| sliced(rebuild, part, last, (0, half, 1))));
    }
    // Those of even places and of odd ones as the parts of half as many complex numbers, whose spectra `E` and `O` are the parts
    // of theirs that are and are not their own conjugates mirrored: X[k] = E[k] + e^(-2πi k/n) O[k].
    let re = sliced(rebuild, values, last, (0, length, 2));
    let im = Some(sliced(rebuild, values, last, (1, length, 2)));
    let z = Lines { length: length / 2, inverse: false }.transform(rebuild, Parts { re, im }, last)?;
    let first = z.each(rebuild, |rebuild, part| sliced(rebuild, part, last, (0, 1, 1)));
    let rest = z.each(rebuild, |rebuild, part| sliced(rebuild, part, last, (1, length / 2, 1)));
    let there = joined(rebuild, &[z, first], last);
    let mirrored = rest.each(rebuild, |rebuild, part| rebuild.reversed(part, &[last as i64]));
    let back = joined(rebuild, &[first, mirrored, first], last).conjugated(rebuild);
    let [even, odd] = halves(rebuild, there, back);
    // `odd` is i O.
    let turned = spectrum_roots(rebuild, there, length, false).times(rebuild, odd).turned(rebuild);
    Some(even.minus(rebuild, turned))
}

/// The `n` real numbers of which these are the first `n / 2 + 1` of the spectrum, whose first, and last of an even `n`, count as
/// real.
pub(super) fn from_half(rebuild: &mut Rebuild<'_>, half: Parts, length: i64) -> Option<InstrId> {
    let last = rebuild.array(half.re).rank() - 1;
    let count = length / 2 + 1;
    if is_one_step(length) {
        return Some(inverse_product(rebuild, half, length));
    }
    let half = with_real_ends(rebuild, half, length);
    if length % 2 == 1 {
        let rest = half.each(rebuild, |rebuild, part| sliced(rebuild, part, last, (1, count, 1)));
        let mirrored = rest.each(rebuild, |rebuild, part| rebuild.reversed(part, &[last as i64]));
        let mirrored = mirrored.conjugated(rebuild);
        let whole = joined(rebuild, &[half, mirrored], last);
        return Some(Lines { length, inverse: true }.transform(rebuild, whole, last)?.re);
    }
    let back = half.each(rebuild, |rebuild, part| {
        let back = rebuild.reversed(part, &[last as i64]);
        sliced(rebuild, back, last, (0, count - 1, 1))
    });
    let back = back.conjugated(rebuild);
    let there = half.each(rebuild, |rebuild, part| sliced(rebuild, part, last, (0, count - 1, 1)));
    let [even, odd] = halves(rebuild, there, back);
    let odd = spectrum_roots(rebuild, there, length, true).times(rebuild, odd);
    let odd = odd.turned(rebuild);
    let both = even.plus(rebuild, odd);
    let z = Lines { length: length / 2, inverse: true }.transform(rebuild, both, last)?;
    let mut paired = rebuild.array(z.re).extents.clone();
    paired.push(1);
    let im = z.imaginary(rebuild);
    let [re, im] = [z.re, im].map(|part| rebuild.reshaped(part, paired.clone()));
    let numbers = rebuild.concatenated(vec![re, im], last + 1);
    let mut extents = paired;
    extents.pop();
    extents[last] = length;
    Some(rebuild.reshaped(numbers, extents))
}

/// The spectrum as one product of each part.
fn forward_product(rebuild: &mut Rebuild<'_>, values: InstrId, half: i64) -> Parts {
    let given = rebuild.array(values).clone();
    let length = given.extents[given.rank() - 1];
    let lines = given.extents.iter().product::<i64>() / length;
    let places = (0..half).flat_map(|k| (0..length).map(move |j| k * j));
    let matrix = complex(rebuild, given.element_type, &[half, length], places.map(|k| root(k, length, false)));
    let values = rebuild.reshaped(values, vec![lines, length]);
    let parts = matrix.each(rebuild, |rebuild, part| {
        let made = product(rebuild, part, values, &[1]);
        rebuild.transposed(made, &[1, 0])
    });
    let mut extents = given.extents;
    extents.pop();
    extents.push(half);
    parts.reshaped(rebuild, &extents)
}

/// The real numbers as the sum of one product of each part. What is its own conjugate counts once, all others twice.
fn inverse_product(rebuild: &mut Rebuild<'_>, half: Parts, length: i64) -> InstrId {
    let given = rebuild.array(half.re).clone();
    let count = given.extents[given.rank() - 1];
    let lines = given.extents.iter().product::<i64>() / count;
    let weighted = |(j, k): (i64, i64)| {
        let (cos, sin) = root(j * k, length, true);
        let is_own = k == 0 || 2 * k == length;
        let weight = if is_own { 1.0 } else { 2.0 } / length as f64;
        (cos * weight, if is_own { 0.0 } else { -sin * weight })
    };
    let places = (0..length).flat_map(|j| (0..count).map(move |k| (j, k)));
    let matrix = complex(rebuild, given.element_type, &[length, count], places.map(weighted));
    let half = with_real_ends(rebuild, half, length).reshaped(rebuild, &[lines, count]);
    let mut sum = product(rebuild, matrix.re, half.re, &[1]);
    if let Some((left, right)) = matrix.im.zip(half.im) {
        let other = product(rebuild, left, right, &[1]);
        sum = rebuild.binary(BinaryOp::Add, sum, other);
    }
    let sum = rebuild.transposed(sum, &[1, 0]);
    let mut extents = given.extents;
    extents.pop();
    extents.push(length);
    rebuild.reshaped(sum, extents)
}

/// Half of the sum, and half of the difference.
fn halves(rebuild: &mut Rebuild<'_>, one: Parts, other: Parts) -> [Parts; 2] {
    let sum = one.plus(rebuild, other);
    let difference = one.minus(rebuild, other);
    [sum, difference].map(|parts| {
        parts.each(rebuild, |rebuild, part| {
            let shape = rebuild.array(part).clone();
            let half = rebuild.scalar(match shape.element_type {
                ElementType::F64 => Scalar::F64(0.5),
                _ => Scalar::F32(0.5),
            });
            let half = rebuild.broadcast(half, &[], shape.extents);
            rebuild.binary(BinaryOp::Multiply, part, half)
        })
    })
}

/// `e^(∓2πi k/n)` for each `k` along the last dimension.
fn spectrum_roots(rebuild: &mut Rebuild<'_>, like: Parts, length: i64, inverse: bool) -> Parts {
    let shape = rebuild.array(like.re).clone();
    let (last, count) = (shape.rank() - 1, shape.extents[shape.rank() - 1]);
    let roots = line(rebuild, shape.element_type, (length, count), inverse);
    roots.each(rebuild, |rebuild, part| rebuild.broadcast(part, &[last as i64], shape.extents.clone()))
}

/// One after the other along a dimension.
fn joined(rebuild: &mut Rebuild<'_>, parts: &[Parts], dimension: usize) -> Parts {
    let re = parts.iter().map(|parts| parts.re).collect();
    let re = rebuild.concatenated(re, dimension);
    let im: Vec<InstrId> = parts.iter().map(|parts| parts.imaginary(rebuild)).collect();
    Parts { re, im: Some(rebuild.concatenated(im, dimension)) }
}

/// The half spectrum, real at 0 and in the middle.
fn with_real_ends(rebuild: &mut Rebuild<'_>, half: Parts, length: i64) -> Parts {
    let Some(im) = half.im else { return half };
    let shape = rebuild.array(im).clone();
    let last = shape.rank() - 1;
    let zeros = |rebuild: &mut Rebuild<'_>, count: i64| {
        let mut extents = shape.extents.clone();
        extents[last] = count;
        super::parts::zero(rebuild, shape.element_type, extents)
    };
    let middle = (length + 1) / 2;
    let mut pieces = vec![zeros(rebuild, 1)];
    if middle > 1 {
        pieces.push(sliced(rebuild, im, last, (1, middle, 1)));
    }
    if middle < shape.extents[last] {
        pieces.push(zeros(rebuild, 1));
    }
    Parts { im: Some(rebuild.concatenated(pieces, last)), ..half }
}
