//! Roots of unity as constants.

use super::parts::{Parts, sliced};
use crate::eval::sin_cos_of_turn;
use crate::ir::{Data, ElementType, InstrId, Literal, Op};
use crate::passes::build::Build;
use crate::passes::rebuild::Rebuild;

/// As many roots as a constant holds; more are products of two.
const TABLE: i64 = 4096;

/// A constant of real numbers.
pub(super) fn constant(rebuild: &mut Rebuild<'_>, real: ElementType, extents: &[i64], values: Vec<f64>) -> InstrId {
    let data: Data = match real {
        ElementType::F64 => values.into(),
        _ => values.into_iter().map(|value| value as f32).collect::<Vec<f32>>().into(),
    };
    let literal = Literal::array(extents, data);
    rebuild.add(literal.shape.clone(), Op::Constant(literal), Vec::new())
}

/// A constant of complex numbers.
pub(super) fn complex(
    rebuild: &mut Rebuild<'_>,
    real: ElementType,
    extents: &[i64],
    values: impl Iterator<Item = (f64, f64)>,
) -> Parts {
    let (re, im): (Vec<f64>, Vec<f64>) = values.unzip();
    let re = constant(rebuild, real, extents, re);
    Parts { re, im: Some(constant(rebuild, real, extents, im)) }
}

/// `e^(2πi k/n)`, with the other sign for transforms that are not inverse.
pub(super) fn root(k: i64, n: i64, inverse: bool) -> (f64, f64) {
    let (sin, cos) = sin_cos_of_turn(k.rem_euclid(n) as u64, n as u64);
    (cos, if inverse { sin } else { -sin })
}

/// `[rows, columns]` of roots of unity of the order `n`, which is their product: of row `i` and column `j` the `i * j`th. A
/// constant, or where there are many products of those of two, of every `near`th row and of the rows between.
pub(super) fn table(rebuild: &mut Rebuild<'_>, real: ElementType, (rows, columns): (i64, i64), inverse: bool) -> Parts {
    let n = rows * columns;
    let of_rows = |rebuild: &mut Rebuild<'_>, count: i64, step: i64| {
        let places = (0..count).flat_map(|row| (0..columns).map(move |column| row * step * column));
        complex(rebuild, real, &[count, columns], places.map(|k| root(k, n, inverse)))
    };
    if n <= TABLE {
        return of_rows(rebuild, rows, 1);
    }
    let near = (1..=rows).filter(|near| rows % near == 0).min_by_key(|near| near + rows / near).unwrap_or(1);
    let extents = [rows / near, near, columns];
    let far = of_rows(rebuild, rows / near, near);
    let far = far.each(rebuild, |rebuild, part| rebuild.broadcast(part, &[0, 2], extents.to_vec()));
    let fine = of_rows(rebuild, near, 1);
    let fine = fine.each(rebuild, |rebuild, part| rebuild.broadcast(part, &[1, 2], extents.to_vec()));
    far.times(rebuild, fine).reshaped(rebuild, &[rows, columns])
}

/// The first `count` roots of unity of the order `n`: a constant, or where there are many products of those of two, of every
/// `near`th and of those between.
pub(super) fn line(rebuild: &mut Rebuild<'_>, real: ElementType, (n, count): (i64, i64), inverse: bool) -> Parts {
    let every = |rebuild: &mut Rebuild<'_>, count: i64, step: i64| {
        complex(rebuild, real, &[count], (0..count).map(|k| root(k * step, n, inverse)))
    };
    if count <= TABLE {
        return every(rebuild, count, 1);
    }
    let near = 1i64 << (i64::BITS - count.leading_zeros()).div_ceil(2);
    let extents = [(count + near - 1) / near, near];
    let far = every(rebuild, extents[0], near);
    let far = far.each(rebuild, |rebuild, part| rebuild.broadcast(part, &[0], extents.to_vec()));
    let fine = every(rebuild, near, 1);
    let fine = fine.each(rebuild, |rebuild, part| rebuild.broadcast(part, &[1], extents.to_vec()));
    let all = far.times(rebuild, fine).reshaped(rebuild, &[extents[0] * near]);
    all.each(rebuild, |rebuild, part| sliced(rebuild, part, 0, (0, count, 1)))
}
