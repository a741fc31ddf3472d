//! The single-shift QR algorithm for complex matrices, with LAPACK's shifts and convergence criteria.

use super::field::square_root;
use super::householder::Reflection;
use super::schur::{Spectral, split};
use super::{Field, Matrix};
use num_complex::{Complex, Complex64};

impl Spectral for Complex64 {
    fn iterate(h: &mut Matrix<Complex64>, z: &mut Matrix<Complex64>, mut steps: usize) -> Option<()> {
        let mut last = h.rows.saturating_sub(1);
        while last > 0 {
            let mut tries = 0;
            loop {
                let first = split(h, last);
                if first == last {
                    break;
                }
                steps = steps.checked_sub(1)?;
                tries += 1;
                let shift = shift(h, first, last, tries);
                step(h, z, (first, last), shift);
            }
            last -= 1;
        }
        Some(())
    }
}

/// A number near an eigenvalue: that of the last two rows which is nearer to the last element.
fn shift(h: &Matrix<Complex64>, first: usize, last: usize, tries: usize) -> Complex64 {
    if tries.is_multiple_of(20) {
        return h.at(last, last) + 0.75 * h.at(last, last - 1).size();
    }
    if tries.is_multiple_of(10) {
        return h.at(first, first) + 0.75 * h.at(first + 1, first).size();
    }
    let own = h.at(last, last);
    let product = square_root(h.at(last - 1, last)) * square_root(h.at(last, last - 1));
    let size = product.size();
    if size == 0.0 {
        return own;
    }
    let half = (h.at(last - 1, last - 1) - own) * 0.5;
    let scale = size.max(half.size());
    let (x, u) = (half.shared(scale), product.shared(scale));
    let root = square_root(x * x + u * u).times(scale);
    let is_same_side = half.re * root.re + half.im * root.im >= 0.0;
    own - product * product.over(half + if is_same_side { root } else { -root })
}

/// One step on a block of at least two rows.
fn step(h: &mut Matrix<Complex64>, z: &mut Matrix<Complex64>, (first, last): (usize, usize), shift: Complex64) {
    // What the first column of `h - shift`, of the block from a row on, is a multiple of.
    let start = |h: &Matrix<Complex64>, row: usize| {
        let (own, below) = (h.at(row, row) - shift, h.at(row + 1, row));
        let size = own.size() + below.size();
        [own.shared(size), below.shared(size)]
    };
    // Where two elements in a row below the diagonal are small the step may start behind them.
    let mut from = last - 1;
    let mut vector = start(h, from);
    while from > first {
        let near = h.at(from, from).size() + h.at(from + 1, from + 1).size();
        let lost = h.at(from, from - 1).size() * vector[1].size();
        if lost <= f64::EPSILON * (vector[0].size() * near) {
            break;
        }
        from -= 1;
        vector = start(h, from);
    }
    for row in from..last {
        let made = if row > from {
            let made = Reflection::make(h, row - 1, row..row + 2);
            h.set(row + 1, row - 1, Complex64::default());
            made.adjoint()
        } else {
            let made = Reflection::of(row, vector.to_vec()).0.adjoint();
            if from > first {
                // What is left of the block is negligible; its phase goes along.
                h.set(row, row - 1, h.at(row, row - 1) * (Complex::new(1.0, 0.0) - made.tau));
            }
            made
        };
        made.left_of(h, row..h.columns);
        let made = made.adjoint();
        made.right_of(h, 0..(row + 3).min(last + 1));
        made.right_of(z, 0..z.rows);
    }
}
