//! LAPACK's routines as JAX calls them on CPUs, in matrices' last two dimensions.
//!
//! Conventions are those of LAPACK's reference: pivots count from 1, `info` is 0 for success.

use super::literal;
use super::registry::{CustomCall, CustomCalls};
#[cfg(feature = "linalg")]
use crate::eval::linalg::Spectral;
use crate::eval::linalg::{self, Field, Matrix, Triangular, completed, singular};
use crate::ir::{ArrayShape, Data, ElementType, Literal};
use num_complex::Complex64;

/// From one matrix of each operand to what each result has of it; `info` is one of them.
type Routine<F> = fn(&[Matrix<F>], &CustomCall<'_>) -> Result<Vec<Out<F>>, String>;

/// What a routine leaves of one matrix.
enum Out<F> {
    Numbers(Vec<F>),
    Reals(Vec<f64>),
    Integers(Vec<i32>),
}

/// Registers all routines for all types.
pub(super) fn register(calls: &mut CustomCalls) {
    for letter in ['s', 'd', 'c', 'z'] {
        let complex = matches!(letter, 'c' | 'z');
        let mut add = |routine: &str, real: Routine<f64>, of_complex: Routine<Complex64>| {
            let target = format!("lapack_{letter}{routine}_ffi");
            match complex {
                false => calls.register(target, move |call, operands| batched(call, operands, real)),
                true => calls.register(target, move |call, operands| batched(call, operands, of_complex)),
            }
        };
        add("potrf", potrf, potrf);
        add("trsm", trsm, trsm);
        add("getrf", getrf, getrf);
        add("geqrf", geqrf, geqrf);
        add(if complex { "ungqr" } else { "orgqr" }, orgqr, orgqr);
        add("gesdd", gesdd, gesdd);
        add("gesvd", gesdd, gesdd);
        #[cfg(feature = "linalg")]
        add(if complex { "heevd" } else { "syevd" }, syevd, syevd);
    }
}

/// Applies a routine to each matrix of the operands' leading dimensions.
fn batched<F: Field>(call: &CustomCall<'_>, operands: &[Literal], routine: Routine<F>) -> Result<Vec<Literal>, String> {
    let first = operands.first().and_then(|operand| operand.shape.as_array()).ok_or("takes an array")?;
    let batch_rank = first.rank().checked_sub(2).ok_or_else(|| format!("takes matrices, not {first}"))?;
    let batch = &first.extents[..batch_rank];
    let count = product(batch)?;
    let results = call.results();
    let mut inputs = Vec::new();
    for operand in operands {
        let shape = operand.shape.as_array().ok_or("takes arrays")?;
        let real = !shape.element_type.is_complex();
        if !shape.extents.starts_with(batch) || real != F::IS_REAL || shape.element_type.is_integer() {
            return Err(format!("cannot take {shape} beside {first}"));
        }
        let values = linalg::read::<F>(&operand.data).map_err(|error| error.to_string())?;
        inputs.push((single(shape, batch_rank)?, values));
    }
    if let Some(shape) = results.iter().find(|shape| !shape.extents.starts_with(batch)) {
        return Err(format!("cannot give {shape} for {first}"));
    }
    // Without a matrix the routine makes nothing, and what the text says is not compared with it.
    let mut outs: Vec<Out<F>> = results.iter().map(|shape| Out::empty(shape.element_type)).collect();
    if count > 0 {
        results.iter().try_for_each(|shape| single(shape, batch_rank).map(|_| ()))?;
    }
    for number in 0..count {
        let matrices: Vec<Matrix<F>> = inputs
            .iter()
            .map(|((rows, columns), values)| {
                let size = rows * columns;
                Matrix { rows: *rows, columns: *columns, elements: values[number * size..][..size].to_vec() }
            })
            .collect();
        let made = routine(&matrices, call)?;
        if made.len() != outs.len() {
            return Err(format!("gives {} arrays, the text says {}", made.len(), outs.len()));
        }
        for (out, (made, shape)) in outs.iter_mut().zip(made.into_iter().zip(&results)) {
            let (rows, columns) = single(shape, batch_rank)?;
            if rows.checked_mul(columns) != Some(made.len()) || !out.append(made) {
                return Err(format!("gives other elements than the text says, {shape}"));
            }
        }
    }
    results.iter().zip(outs).map(|(shape, out)| Ok(literal(shape, out.into_data(shape.element_type)?))).collect()
}

/// The extents behind the batch, as those of a matrix: a vector is one column, a scalar one element.
fn single(shape: &ArrayShape, batch_rank: usize) -> Result<(usize, usize), String> {
    let extents = shape.extents.get(batch_rank..).unwrap_or(&[]);
    match extents {
        [] => Ok((1, 1)),
        [rows] => Ok((product(&[*rows])?, 1)),
        [rows, columns] => Ok((product(&[*rows])?, product(&[*columns])?)),
        _ => Err(format!("cannot take or give {shape}")),
    }
}

fn product(extents: &[i64]) -> Result<usize, String> {
    if extents.contains(&0) {
        return Ok(0);
    }
    let product = extents.iter().try_fold(1i64, |product, &extent| product.checked_mul(extent));
    product.and_then(|product| usize::try_from(product).ok()).ok_or_else(|| "takes too many elements".to_owned())
}

impl<F: Field> Out<F> {
    fn empty(element_type: ElementType) -> Self {
        match element_type {
            ElementType::S32 => Out::Integers(Vec::new()),
            element_type if element_type.is_complex() != F::IS_REAL => Out::Numbers(Vec::new()),
            _ => Out::Reals(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Out::Numbers(values) => values.len(),
            Out::Reals(values) => values.len(),
            Out::Integers(values) => values.len(),
        }
    }

    /// Whether there is no difference in kind. Real numbers are numbers where these are real.
    fn append(&mut self, more: Out<F>) -> bool {
        match (self, more) {
            (Out::Numbers(values), Out::Numbers(more)) => values.extend(more),
            (Out::Numbers(values), Out::Reals(more)) if F::IS_REAL => values.extend(more.into_iter().map(F::of_real)),
            (Out::Reals(values), Out::Reals(more)) => values.extend(more),
            (Out::Integers(values), Out::Integers(more)) => values.extend(more),
            _ => return false,
        }
        true
    }

    fn into_data(self, element_type: ElementType) -> Result<Data, String> {
        match self {
            Out::Numbers(values) => linalg::write(&values, element_type).map_err(|error| error.to_string()),
            Out::Reals(values) => linalg::write(&values, element_type).map_err(|error| error.to_string()),
            Out::Integers(values) => Ok(Data::S32(values)),
        }
    }
}

/// An option that is a letter.
fn letter(call: &CustomCall<'_>, name: &str, allowed: &str) -> Result<char, String> {
    let value = call.option(name).and_then(|code| u8::try_from(code).ok()).map(char::from);
    value
        .filter(|&letter| allowed.contains(letter))
        .ok_or_else(|| format!("has no option {name} that is one of {allowed}"))
}

fn square<F: Field>(a: &Matrix<F>) -> Result<(), String> {
    if a.rows == a.columns { Ok(()) } else { Err(format!("takes square matrices, not {} by {}", a.rows, a.columns)) }
}

fn one<F>(operands: &[Matrix<F>]) -> Result<&Matrix<F>, String> {
    match operands {
        [a] => Ok(a),
        _ => Err(format!("takes one operand, not {}", operands.len())),
    }
}

fn two<F>(operands: &[Matrix<F>]) -> Result<(&Matrix<F>, &Matrix<F>), String> {
    match operands {
        [a, b] => Ok((a, b)),
        _ => Err(format!("takes two operands, not {}", operands.len())),
    }
}

/// Cholesky's factor in one triangle, the other as it was. Where `info` says that there is none, the matrix is as it was.
fn potrf<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Out<F>>, String> {
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
    Ok(vec![Out::Numbers(a.elements), Out::Integers(vec![info as i32])])
}

/// The solution of a triangular system.
fn trsm<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Out<F>>, String> {
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
    Ok(vec![Out::Numbers(x.elements)])
}

/// Factors by elimination, pivots, and which of these was zero.
fn getrf<F: Field>(operands: &[Matrix<F>], _: &CustomCall<'_>) -> Result<Vec<Out<F>>, String> {
    let mut a = one(operands)?.clone();
    let pivots = linalg::lu(&mut a);
    let rows = pivots.rows.iter().map(|&row| row as i32 + 1).collect();
    Ok(vec![Out::Numbers(a.elements), Out::Integers(rows), Out::Integers(vec![pivots.zero as i32])])
}

/// The triangular factor and the vectors of the reflections, and their `tau`.
fn geqrf<F: Field>(operands: &[Matrix<F>], _: &CustomCall<'_>) -> Result<Vec<Out<F>>, String> {
    let mut a = one(operands)?.clone();
    let taus = linalg::qr(&mut a);
    Ok(vec![Out::Numbers(a.elements), Out::Numbers(taus)])
}

/// The product of reflections.
fn orgqr<F: Field>(operands: &[Matrix<F>], _: &CustomCall<'_>) -> Result<Vec<Out<F>>, String> {
    let (a, taus) = two(operands)?;
    if a.columns > a.rows || taus.elements.len() > a.columns {
        let (rows, columns, count) = (a.rows, a.columns, taus.elements.len());
        return Err(format!("takes no {count} reflections of {rows} by {columns} elements"));
    }
    let mut reflections = a.clone();
    Ok(vec![Out::Numbers(linalg::product(&mut reflections, &taus.elements).elements)])
}

/// What `info` is where iterations do not end.
const DIVERGED: i32 = 1;

/// Eigenvectors and eigenvalues; where they are not found, NaN.
#[cfg(feature = "linalg")]
fn syevd<F: Spectral>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Out<F>>, String> {
    let a = one(operands)?;
    square(a)?;
    let lower = letter(call, "uplo", "LU")? == 'L';
    letter(call, "mode", "NV")?;
    let mut whole = Matrix::zeros(a.rows, a.rows);
    for i in 0..a.rows {
        // Of the diagonal the real part counts.
        whole.set(i, i, F::of_real(a.at(i, i).re()));
        for j in 0..i {
            let below = if lower { a.at(i, j) } else { a.at(j, i).conjugate() };
            whole.set(i, j, below);
            whole.set(j, i, below.conjugate());
        }
    }
    Ok(match F::eigen(&whole) {
        Some(found) => {
            vec![Out::Numbers(found.vectors.elements), Out::Reals(found.values), Out::Integers(vec![0])]
        }
        None => vec![
            Out::Numbers(vec![F::NAN; a.elements.len()]),
            Out::Reals(vec![f64::NAN; a.rows]),
            Out::Integers(vec![DIVERGED]),
        ],
    })
}

/// The extents of the matrices in an array.
fn last_extents(shape: &ArrayShape) -> Result<(usize, usize), String> {
    single(shape, shape.rank().saturating_sub(2))
}

/// The matrix as it was, singular values, left vectors and adjoint right vectors: as many as there are values for the
/// mode `S`, all for `A`, zeros for `N`. What is not found is NaN.
fn gesdd<F: Field>(operands: &[Matrix<F>], call: &CustomCall<'_>) -> Result<Vec<Out<F>>, String> {
    let a = one(operands)?;
    let mode = letter(call, "mode", "ASN")?;
    let count = a.rows.min(a.columns);
    let declared = call.results();
    let [.., u, v, _] = &declared[..] else { return Err("gives five arrays".to_owned()) };
    // What is not computed has the shape that the text says.
    let (u_columns, v_rows) = match mode {
        'A' => (a.rows, a.columns),
        'S' => (count, count),
        _ => (last_extents(u)?.1, last_extents(v)?.0),
    };
    if last_extents(u)? != (a.rows, u_columns) || last_extents(v)? != (v_rows, a.columns) {
        return Err(format!("does not give {u} and {v} for {} by {} elements", a.rows, a.columns));
    }
    let given = Out::Numbers(a.elements.clone());
    let Some(found) = singular(a) else {
        return Ok(vec![
            given,
            Out::Reals(vec![f64::NAN; count]),
            Out::Numbers(vec![F::NAN; a.rows * u_columns]),
            Out::Numbers(vec![F::NAN; v_rows * a.columns]),
            Out::Integers(vec![DIVERGED]),
        ]);
    };
    let (u, v) = match mode {
        'N' => (Matrix::zeros(a.rows, u_columns), Matrix::zeros(v_rows, a.columns)),
        _ => (completed(&found.u, u_columns), completed(&found.v.adjoint(), v_rows).adjoint()),
    };
    Ok(vec![
        given,
        Out::Reals(found.values),
        Out::Numbers(u.elements),
        Out::Numbers(v.elements),
        Out::Integers(vec![0]),
    ])
}
