//! LAPACK's factorizations and solvers of equations.

use super::super::registry::CustomCall;
use super::batch::Output;
use super::{flag, letter, one, square, two};
use crate::eval::linalg::{self, Bands, Field, Matrix, Triangular};
use crate::ir::ElementType;

/// Cholesky's factor in one triangle, the other as it was. Where `info` says that there is none, the matrix is as it was.
pub(super) fn potrf<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let mut a = one(operands)?.clone();
    square(&a)?;
    let lower = letter(call, "uplo", "LU")? == 'L';
    let triangle = |i: usize, j: usize| if lower { a.at(i, j) } else { a.at(j, i).conjugate() };
    let info = match linalg::cholesky(a.rows, &triangle) {
        Ok(l) => {
            for i in 0..a.rows {
                for j in 0..=i {
                    if lower { a.set(i, j, l.at(i, j)) } else { a.set(j, i, l.at(i, j).conjugate()) }
                }
            }
            0
        }
        Err(order) => order,
    };
    Ok(vec![Output::Numbers(a.elements), Output::Integers(vec![info as i32])])
}

/// The solution of a triangular system.
pub(super) fn trsm<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let (a, b) = two(operands)?;
    square(a)?;
    let transposition = letter(call, "trans_x", "NTC")?;
    let which = Triangular {
        left_side: letter(call, "side", "LR")? == 'L',
        lower: letter(call, "uplo", "LU")? == 'L',
        unit_diagonal: letter(call, "diag", "NU")? == 'U',
        transposed: transposition != 'N',
        conjugated: transposition == 'C',
    };
    let facing = if which.left_side { b.rows } else { b.columns };
    if facing != a.rows {
        return Err(format!("cannot solve {} equations for {facing} unknowns", a.rows));
    }
    let mut x = b.clone();
    linalg::solve(a, &mut x, &which);
    Ok(vec![Output::Numbers(x.elements)])
}

/// Factors by elimination, pivots, and which of these was zero.
pub(super) fn getrf<F: Field>(operands: &[Matrix<F>], _: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let mut a = one(operands)?.clone();
    let pivots = linalg::lu(&mut a);
    let rows = pivots.rows.iter().map(|&row| row as i32 + 1).collect();
    Ok(vec![Output::Numbers(a.elements), Output::Integers(rows), Output::Integers(vec![pivots.zero as i32])])
}

/// The triangular factor and the vectors of the reflections, and their `tau`.
pub(super) fn geqrf<F: Field>(operands: &[Matrix<F>], _: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let mut a = one(operands)?.clone();
    let taus = linalg::qr(&mut a);
    Ok(vec![Output::Numbers(a.elements), Output::Numbers(taus)])
}

/// The product of reflections.
pub(super) fn orgqr<F: Field>(operands: &[Matrix<F>], _: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let (a, taus) = two(operands)?;
    if a.columns > a.rows || taus.elements.len() > a.columns {
        let (rows, columns, count) = (a.rows, a.columns, taus.elements.len());
        return Err(format!("takes no {count} reflections of {rows} by {columns} elements"));
    }
    Ok(vec![Output::Numbers(linalg::product(a, &taus.elements).elements)])
}

/// The product of reflections, or its adjoint, times a matrix, or that times the product.
pub(super) fn ormqr<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let [a, taus, c] = operands else { return Err(format!("takes three operands, not {}", operands.len())) };
    let (from_left, adjoint) = (flag(call, "left")?, flag(call, "transpose")?);
    let facing = if from_left { c.rows } else { c.columns };
    let count = taus.elements.len();
    if facing != a.rows || count > a.rows.min(a.columns) {
        let (rows, columns) = (a.rows, a.columns);
        return Err(format!("takes no {count} reflections of {rows} by {columns} elements for {facing}"));
    }
    let mut product = c.clone();
    linalg::apply(a, &taus.elements, &mut product, from_left, adjoint);
    Ok(vec![Output::Numbers(product.elements)])
}

/// As [`geqrf`], of the columns in an order that takes the longest rest first; the order, from 1; `tau`. Columns that the second
/// operand does not say 0 for come first.
pub(super) fn geqp3<F: Field>(operands: &[Matrix<F>], _: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let (a, order) = two(operands)?;
    let mut order: Vec<i32> = order.elements.iter().map(|value| value.re() as i32).collect();
    if order.len() != a.columns {
        return Err(format!("takes no order of {} for {} columns", order.len(), a.columns));
    }
    let mut a = a.clone();
    let taus = linalg::pivoted(&mut a, &mut order);
    Ok(vec![Output::Numbers(a.elements), Output::Integers(order), Output::Numbers(taus)])
}

/// The three diagonals and the right-hand sides of a tridiagonal system. The first of the elements below the diagonal and the
/// last of those above it stand for none.
fn bands<F: Field>(operands: &[Matrix<F>]) -> Result<(Bands<F>, Matrix<F>), String> {
    let [below, diagonal, above, b] = operands else {
        return Err(format!("takes four operands, not {}", operands.len()));
    };
    let order = b.rows;
    if [below, diagonal, above].iter().any(|band| band.elements.len() != order) {
        return Err(format!("takes three diagonals of {order} elements"));
    }
    let inner = order.saturating_sub(1);
    let bands = Bands {
        below: below.elements[order - inner..].to_vec(),
        diagonal: diagonal.elements.clone(),
        above: above.elements[..inner].to_vec(),
    };
    Ok((bands, b.clone()))
}

/// What the diagonals become, the solution, and which pivot is zero.
pub(super) fn gtsv<F: Field>(operands: &[Matrix<F>], _: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let (mut bands, mut x) = bands(operands)?;
    let zero = linalg::solve_bands(&mut bands, &mut x);
    let mut below: Vec<F> = operands[0].elements.first().copied().into_iter().collect();
    below.append(&mut bands.below);
    let mut above = bands.above;
    above.extend(operands[2].elements.last());
    let diagonals = [below, bands.diagonal, above].map(Output::Numbers);
    Ok(diagonals.into_iter().chain([Output::Numbers(x.elements), Output::Integers(vec![zero as i32])]).collect())
}

/// The solution for a matrix of which pivots that are zero are made a little more.
pub(super) fn perturbed<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Output<F>>, String> {
    let (mut bands, mut x) = bands(operands)?;
    let precision = match call.results()[..] {
        [shape] if matches!(shape.element_type, ElementType::F32 | ElementType::C64) => linalg::Precision::SINGLE,
        _ => linalg::Precision::DOUBLE,
    };
    linalg::solve_perturbed_bands(&mut bands, &mut x, precision);
    Ok(vec![Output::Numbers(x.elements)])
}
