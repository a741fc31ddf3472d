//! Custom calls for eigenvalues, against the definitions of their results.

use super::cases::numbers;
use super::lapack::{FAMILIES, Kind, ORDERS, call, gees, geev, matrix, norm, value_shapes, values};
use super::{adjoint, far, identity, products};
use num_complex::{Complex, Complex64};
use weft_hlo::ir::Data;

fn trace(a: &[Complex64], order: usize) -> Complex64 {
    (0..order).map(|at| a[at * order + at]).sum()
}

/// `a` with its columns multiplied.
fn columns_times(a: &[Complex64], factors: &[Complex64]) -> Vec<Complex64> {
    a.iter().enumerate().map(|(at, value)| value * factors[at % factors.len()]).collect()
}

fn check_eigenvectors(kind: Kind, order: usize, a: &[Complex64], note: &str) {
    let a = kind.rounded(a);
    let results = geev(kind, order, &a);
    let count = results.len();
    let (values, left, right) = (values(kind, &results, 0), numbers(&results[count - 3]), numbers(&results[count - 2]));
    assert_eq!(results[count - 1].data, Data::S32(vec![0]), "{note}");
    let (scale, near) = (norm(&a), kind.tolerance(order, norm(&a)));
    let residual = far(&products(&a, &right, order, order, order), &columns_times(&right, &values));
    assert!(residual <= near, "{note}: {residual} on the right, {near} allowed");
    let conjugates: Vec<Complex64> = values.iter().map(|value| value.conj()).collect();
    let residual =
        far(&products(&adjoint(&a, order, order), &left, order, order, order), &columns_times(&left, &conjugates));
    assert!(residual <= near, "{note}: {residual} on the left, {near} allowed");
    for vectors in [&left, &right] {
        for column in 0..order {
            let vector: Vec<Complex64> = (0..order).map(|row| vectors[row * order + column]).collect();
            assert!((norm(&vector) - 1.0).abs() <= kind.tolerance(order, 1.0), "{note}: {vector:?}");
            let largest = vector.iter().map(|value| value.norm()).fold(0.0, f64::max);
            let is_real = |value: &Complex64| value.norm() >= largest * (1.0 - 8.0 * kind.epsilon) && value.im == 0.0;
            assert!(vector.iter().any(is_real), "{note}: {vector:?}");
        }
    }
    // Sums of powers: the eigenvalues are all there, each as often as it should be.
    let sum: Complex64 = values.iter().sum();
    assert!((sum - trace(&a, order)).norm() <= near * (order as f64 + 1.0), "{note}: {sum} is no trace");
    let squares: Complex64 = values.iter().map(|value| value * value).sum();
    let expected = trace(&products(&a, &a, order, order, order), order);
    assert!((squares - expected).norm() <= near * scale * (order as f64 + 1.0), "{note}: {squares} for {expected}");
    let mut at = 0;
    while kind.is_real() && at < order {
        if values[at].im != 0.0 {
            assert!(values[at].im > 0.0 && values[at + 1] == values[at].conj(), "{note}: {values:?}");
            at += 1;
        }
        at += 1;
    }
}

fn check_schur(kind: Kind, order: usize, a: &[Complex64], note: &str) {
    let a = kind.rounded(a);
    let results = gees(kind, order, &a);
    let (t, z, found) = (numbers(&results[0]), numbers(&results[1]), values(kind, &results, 2));
    assert!(results[results.len() - 2..].iter().all(|literal| literal.data == Data::S32(vec![0])), "{note}");
    let near = kind.tolerance(order, norm(&a));
    let product = products(&products(&z, &t, order, order, order), &adjoint(&z, order, order), order, order, order);
    let residual = far(&product, &a);
    assert!(residual <= near, "{note}: {residual}, {near} allowed");
    let square = products(&adjoint(&z, order, order), &z, order, order, order);
    assert!(far(&square, &identity(order)) <= kind.tolerance(order, 1.0), "{note}: the vectors are not orthonormal");
    let mut row = 0;
    for i in 0..order {
        for j in 0..i.saturating_sub(if kind.is_real() { 1 } else { 0 }) {
            assert_eq!(t[i * order + j], Complex64::default(), "{note}: ({i}, {j})");
        }
    }
    while row < order {
        let at = |i: usize, j: usize| t[(row + i) * order + row + j].re;
        if kind.is_real() && row + 1 < order && at(1, 0) != 0.0 {
            assert!(at(0, 0) == at(1, 1) && (at(0, 1) < 0.0) != (at(1, 0) < 0.0), "{note}: no standard block");
            assert!(row + 2 >= order || t[(row + 2) * order + row + 1] == Complex64::default(), "{note}: a long block");
            let imaginary = (at(0, 1) * at(1, 0)).abs().sqrt();
            assert!((found[row] - Complex::new(at(0, 0), imaginary)).norm() <= near, "{note}");
            assert_eq!(found[row + 1], found[row].conj(), "{note}");
            row += 1;
        } else {
            assert_eq!(found[row], t[row * order + row], "{note}");
        }
        row += 1;
    }
}

#[test]
fn eigenvectors_are_what_the_matrix_only_scales() {
    for kind in Kind::ALL {
        for order in ORDERS {
            for family in 0..FAMILIES {
                let a = matrix(family, order, 7 * order as u64 + 1);
                check_eigenvectors(kind, order, &a, &format!("{kind:?} {order} {family}"));
            }
        }
    }
}

#[test]
fn schurs_form_makes_up_the_matrix() {
    for kind in Kind::ALL {
        for order in ORDERS {
            for family in 0..FAMILIES {
                let a = matrix(family, order, 11 * order as u64 + 3);
                check_schur(kind, order, &a, &format!("{kind:?} {order} {family}"));
            }
        }
    }
}

#[test]
fn eigenvectors_of_hermitian_matrices_are_orthonormal() {
    for kind in Kind::ALL {
        let all = ORDERS.iter().flat_map(|&order| (0..FAMILIES).map(move |family| (order, family)));
        // Of the last reductions leave ever less, in many rows.
        for (order, family) in all.chain([(90, 13)]) {
            for lower in [true, false] {
                let a = kind.rounded(&matrix(family, order, 5));
                let note = format!("{kind:?} {order} {family} {lower}");
                let square = vec![order, order];
                let routine = if kind.is_real() { "syevd" } else { "heevd" };
                let results = call(
                    &format!("lapack_{}{routine}_ffi", kind.letter),
                    &format!("mode = 86 : ui8, uplo = {} : ui8", if lower { 76 } else { 85 }),
                    &[(kind.name, kind.literal(&square, &a))],
                    &[(kind.name, square), (kind.real, vec![order]), ("s32", vec![])],
                );
                let (vectors, values) = (numbers(&results[0]), numbers(&results[1]));
                assert_eq!(results[2].data, Data::S32(vec![0]), "{note}");
                // The triangle that counts, and its adjoint.
                let whole: Vec<Complex64> = (0..order * order)
                    .map(|at| match (at / order, at % order) {
                        (i, j) if i == j => Complex::new(a[at].re, 0.0),
                        (i, j) if (i > j) == lower => a[i * order + j],
                        (i, j) => a[j * order + i].conj(),
                    })
                    .collect();
                assert!(values.windows(2).all(|pair| pair[0].re <= pair[1].re), "{note}: {values:?}");
                let residual = far(&products(&whole, &vectors, order, order, order), &columns_times(&vectors, &values));
                let near = kind.tolerance(order, norm(&whole));
                assert!(residual <= near, "{note}: {residual}, {near} allowed");
                let square = products(&adjoint(&vectors, order, order), &vectors, order, order, order);
                assert!(far(&square, &identity(order)) <= kind.tolerance(order, 1.0), "{note}");
            }
        }
    }
}

#[test]
fn batches_are_their_matrices() {
    for kind in Kind::ALL {
        let parts: Vec<Vec<Complex64>> = [0, 7, 9].iter().map(|&family| matrix(family, 4, 3)).collect();
        let operand = [(kind.name, kind.literal(&[3, 1, 4, 4], &parts.concat()))];
        let square = vec![3, 1, 4, 4];
        let mut shapes = value_shapes(kind, vec![3, 1, 4]);
        shapes.extend([(kind.complex, square.clone()), (kind.complex, square), ("s32", vec![3, 1])]);
        let config = "compute_left = 86 : ui8, compute_right = 86 : ui8";
        let whole = call(&format!("lapack_{}geev_ffi", kind.letter), config, &operand, &shapes);
        for (number, part) in parts.iter().enumerate() {
            for (whole, part) in whole.iter().zip(geev(kind, 4, part)) {
                let part = numbers(&part);
                assert_eq!(&numbers(whole)[number * part.len()..][..part.len()], part, "{kind:?}");
            }
        }
    }
}
