//! The double-shift QR algorithm for real matrices (Francis, 1961), with LAPACK's shifts, convergence criteria and blocks.

use super::Matrix;
use super::householder::Reflection;
use super::schur::{Spectral, split};

impl Spectral for f64 {
    fn iterate(h: &mut Matrix<f64>, z: &mut Matrix<f64>, mut steps: usize) -> Option<()> {
        let mut rest = h.rows;
        while rest > 0 {
            let last = rest - 1;
            let mut tries = 0;
            rest = loop {
                let first = split(h, last);
                if first == last {
                    break last;
                }
                if first + 1 == last {
                    standardize(h, z, first);
                    break first;
                }
                steps = steps.checked_sub(1)?;
                tries += 1;
                let shift = Shift::of(h, first, last, tries);
                step(h, z, (first, last), &shift);
            };
        }
        Some(())
    }
}

/// Two numbers near eigenvalues: a pair of conjugates, or the same real number twice.
struct Shift {
    re: f64,
    im: f64,
}

impl Shift {
    fn of(h: &Matrix<f64>, first: usize, last: usize, tries: usize) -> Shift {
        let unusual = |own: f64, s: f64| [[0.75 * s + own, -0.4375 * s], [s, 0.75 * s + own]];
        let [[a, b], [c, d]] = if tries.is_multiple_of(20) {
            unusual(h.at(last, last), h.at(last, last - 1).abs() + h.at(last - 1, last - 2).abs())
        } else if tries.is_multiple_of(10) {
            unusual(h.at(first, first), h.at(first + 1, first).abs() + h.at(first + 2, first + 1).abs())
        } else {
            [[h.at(last - 1, last - 1), h.at(last - 1, last)], [h.at(last, last - 1), h.at(last, last)]]
        };
        let scale = a.abs() + b.abs() + c.abs() + d.abs();
        if scale == 0.0 {
            return Shift { re: 0.0, im: 0.0 };
        }
        let [a, b, c, d] = [a, b, c, d].map(|element| element / scale);
        let mean = (a + d) / 2.0;
        let determinant = (a - mean) * (d - mean) - b * c;
        let root = determinant.abs().sqrt();
        if determinant >= 0.0 {
            return Shift { re: mean * scale, im: root * scale };
        }
        // Of two real eigenvalues the one nearer to the last element.
        let (one, other) = (mean + root, mean - root);
        Shift { re: scale * if (one - d).abs() <= (other - d).abs() { one } else { other }, im: 0.0 }
    }

    /// What the first column of `(h - s) (h - s̄)`, of the block from a row on, is a multiple of.
    fn start(&self, h: &Matrix<f64>, row: usize) -> [f64; 3] {
        let (own, below) = (h.at(row, row) - self.re, h.at(row + 1, row));
        let scale = own.abs() + self.im.abs() + below.abs();
        let ratio = below / scale;
        let start = [
            ratio * h.at(row, row + 1) + own * (own / scale) + self.im * (self.im / scale),
            ratio * (own + h.at(row + 1, row + 1) - self.re),
            ratio * h.at(row + 2, row + 1),
        ];
        let size: f64 = start.iter().map(|value| value.abs()).sum();
        start.map(|value| value / size)
    }
}

/// One double step on a block of at least three rows.
fn step(h: &mut Matrix<f64>, z: &mut Matrix<f64>, (first, last): (usize, usize), shift: &Shift) {
    // Where two elements in a row below the diagonal are small the step may start behind them.
    let mut from = last - 2;
    let mut start = shift.start(h, from);
    while from > first {
        let near = h.at(from - 1, from - 1).abs() + h.at(from, from).abs() + h.at(from + 1, from + 1).abs();
        let lost = h.at(from, from - 1).abs() * (start[1].abs() + start[2].abs());
        if lost <= f64::EPSILON * start[0].abs() * near {
            break;
        }
        from -= 1;
        start = shift.start(h, from);
    }
    for row in from..last {
        let rows = row..(row + 3).min(last + 1);
        let made = if row > from {
            let made = Reflection::make(h, row - 1, rows.clone());
            rows.skip(1).for_each(|below| h.set(below, row - 1, 0.0));
            made
        } else {
            let (made, _) = Reflection::of(row, start[..rows.len()].to_vec());
            if from > first {
                // What is left of the block is negligible, but its sign goes along.
                h.set(row, row - 1, h.at(row, row - 1) * (1.0 - made.tau));
            }
            made
        };
        made.left_of(h, row..h.columns);
        made.right_of(h, 0..(row + 4).min(last + 1));
        made.right_of(z, 0..z.rows);
    }
}

/// Rotates a block of two rows so that it is zero below the diagonal if its eigenvalues are real, else so that its diagonal is
/// one number twice.
fn standardize(h: &mut Matrix<f64>, z: &mut Matrix<f64>, row: usize) {
    let block = [[h.at(row, row), h.at(row, row + 1)], [h.at(row + 1, row), h.at(row + 1, row + 1)]];
    let (block, (cosine, sine)) = standard(block);
    for column in row + 2..h.columns {
        let (x, y) = (h.at(row, column), h.at(row + 1, column));
        h.set(row, column, cosine * x + sine * y);
        h.set(row + 1, column, cosine * y - sine * x);
    }
    let rows = z.rows;
    for (matrix, rows) in [(&mut *h, row), (z, rows)] {
        for at in 0..rows {
            let (x, y) = (matrix.at(at, row), matrix.at(at, row + 1));
            matrix.set(at, row, cosine * x + sine * y);
            matrix.set(at, row + 1, cosine * y - sine * x);
        }
    }
    for (i, elements) in block.iter().enumerate() {
        elements.iter().enumerate().for_each(|(j, &element)| h.set(row + i, row + j, element));
    }
}

/// `[c s; -s c] m [c -s; s c]` in standard form, and `(c, s)` (Bai and Demmel, 1993).
fn standard([[a, b], [c, d]]: [[f64; 2]; 2]) -> ([[f64; 2]; 2], (f64, f64)) {
    if c == 0.0 {
        return ([[a, b], [c, d]], (1.0, 0.0));
    }
    if b == 0.0 {
        return ([[d, -c], [0.0, a]], (0.0, 1.0));
    }
    if a == d && (b < 0.0) != (c < 0.0) {
        return ([[a, b], [c, d]], (1.0, 0.0));
    }
    let difference = a - d;
    let half = difference / 2.0;
    let larger = b.abs().max(c.abs());
    let smaller = b.abs().min(c.abs()) * 1f64.copysign(b) * 1f64.copysign(c);
    let scale = half.abs().max(larger);
    // The square of half the distance of the eigenvalues, as a part of the scale.
    let square = half / scale * half + larger / scale * smaller;
    if square >= 4.0 * f64::EPSILON {
        let root = half + (scale.sqrt() * square.sqrt()).copysign(half);
        let length = libm::hypot(c, root);
        return ([[d + root, b - c], [0.0, d - larger / root * smaller]], (root / length, c / length));
    }
    // A pair of conjugates, or almost equal real numbers: the elements on the diagonal are made equal.
    let sum = b + c;
    let length = libm::hypot(sum, difference);
    let cosine = (0.5 * (1.0 + sum.abs() / length)).sqrt();
    let sine = -(half / (length * cosine)) * 1f64.copysign(sum);
    let (top, bottom) =
        ([a * cosine + b * sine, b * cosine - a * sine], [c * cosine + d * sine, d * cosine - c * sine]);
    let (a, b) = (top[0] * cosine + bottom[0] * sine, top[1] * cosine + bottom[1] * sine);
    let (c, d) = (bottom[0] * cosine - top[0] * sine, bottom[1] * cosine - top[1] * sine);
    let mean = (a + d) / 2.0;
    if c == 0.0 {
        return ([[mean, b], [c, mean]], (cosine, sine));
    }
    if b == 0.0 {
        return ([[mean, -c], [0.0, mean]], (-sine, cosine));
    }
    if (b < 0.0) != (c < 0.0) {
        return ([[mean, b], [c, mean]], (cosine, sine));
    }
    let (root_b, root_c) = (b.abs().sqrt(), c.abs().sqrt());
    let apart = (root_b * root_c).copysign(c);
    let factor = 1.0 / (b + c).abs().sqrt();
    let (more_cosine, more_sine) = (root_b * factor, root_c * factor);
    let rotation = (cosine * more_cosine - sine * more_sine, cosine * more_sine + sine * more_cosine);
    ([[mean + apart, b - c], [0.0, mean - apart]], rotation)
}
