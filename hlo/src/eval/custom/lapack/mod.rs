//! LAPACK's routines, as JAX calls them on CPUs, on batches of matrices.
//!
//! Conventions are those of LAPACK's reference: pivots count from 1, `info` is 0 for success. Results are computed in `f64`, or
//! pairs of it, by additions, multiplications, divisions and square roots alone, and rounded once: they have the same bits on
//! every machine.

mod batch;
mod factors;
mod spectra;

use super::registry::{CustomCall, CustomCalls};
use crate::eval::linalg::{Field, Matrix};
use batch::{OperandKinds, Routine, batched};
use num_complex::Complex64;

/// Registers all routines for all types.
pub(super) fn register(calls: &mut CustomCalls) {
    let matrix = OperandKinds::default();
    let bands = OperandKinds { matrix: 3, ..matrix };
    for letter in ['s', 'd', 'c', 'z'] {
        let complex = matches!(letter, 'c' | 'z');
        let mut add = |routine: &str, takes: OperandKinds, real: Routine<f64>, of_complex: Routine<Complex64>| {
            let target = format!("lapack_{letter}{routine}_ffi");
            match complex {
                false => calls.register(target, move |call, operands| batched(call, operands, takes, real)),
                true => calls.register(target, move |call, operands| batched(call, operands, takes, of_complex)),
            }
        };
        let named = |real: &'static str, of_complex: &'static str| if complex { of_complex } else { real };
        add("potrf", matrix, factors::potrf, factors::potrf);
        add("trsm", matrix, factors::trsm, factors::trsm);
        add("getrf", matrix, factors::getrf, factors::getrf);
        add("geqrf", matrix, factors::geqrf, factors::geqrf);
        add("geqp3", OperandKinds { integers: Some(1), ..matrix }, factors::geqp3, factors::geqp3);
        add(named("orgqr", "ungqr"), matrix, factors::orgqr, factors::orgqr);
        add(named("ormqr", "unmqr"), matrix, factors::ormqr, factors::ormqr);
        add("gtsv", bands, factors::gtsv, factors::gtsv);
        add("gesdd", matrix, spectra::gesdd, spectra::gesdd);
        add("gesvd", matrix, spectra::gesdd, spectra::gesdd);
        add(named("syevd", "heevd"), matrix, spectra::syevd, spectra::syevd);
        add(named("sytrd", "hetrd"), matrix, spectra::sytrd, spectra::sytrd);
        add("gehrd", matrix, spectra::gehrd, spectra::gehrd);
        add("geev", matrix, spectra::geev, spectra::geev);
        add("gees", matrix, spectra::gees, spectra::gees);
    }
    // This target is one for all types.
    calls.register("tridiagonal_solve_perturbed_ffi", move |call, operands| {
        let is_complex = call.results().iter().any(|shape| shape.element_type.is_complex());
        match is_complex {
            false => batched(call, operands, bands, factors::perturbed::<f64>),
            true => batched(call, operands, bands, factors::perturbed::<Complex64>),
        }
    });
}

/// An option that is a letter.
fn letter(call: &CustomCall<'_>, name: &str, allowed: &str) -> Result<char, String> {
    let value = call.option(name).and_then(|code| u8::try_from(code).ok()).map(char::from);
    value
        .filter(|&letter| allowed.contains(letter))
        .ok_or_else(|| format!("has no option {name} that is one of {allowed}"))
}

/// An option that is one of two letters: whether it is the first.
fn flag_letter(call: &CustomCall<'_>, name: &str, yes: char, no: char) -> Result<bool, String> {
    Ok(letter(call, name, &format!("{yes}{no}"))? == yes)
}

/// An option that is true or false.
fn flag(call: &CustomCall<'_>, name: &str) -> Result<bool, String> {
    match call.option(name) {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        _ => Err(format!("has no option {name} that is true or false")),
    }
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
