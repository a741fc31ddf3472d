//! Custom calls for reductions to condensed form, for reflections and for tridiagonal systems, against the definitions
//! of their results.

use super::cases::numbers;
use super::lapack::{FAMILIES, Kind, call, matrix, norm, reflections};
use super::{adjoint, far, products, waves};
use num_complex::{Complex, Complex64};
use proptest::prelude::*;
use weft_hlo::ir::{Data, Literal};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn other_forms_are_similar_to_the_matrix(order in 1..9usize, family in 0..FAMILIES, which in 0..4usize, seed: u64) {
        let kind = Kind::ALL[which];
        let a = kind.rounded(&matrix(family, order, seed));
        let near = kind.tolerance(order, norm(&a));
        let square = vec![order, order];
        let given = [(kind.name, kind.literal(&square, &a))];
        let results = call(&format!("lapack_{}gehrd_ffi", kind.letter), &format!("low = 1 : i32, high = {order} : i32"), &given,
            &[(kind.name, square.clone()), (kind.name, vec![order - 1]), ("s32", vec![])]);
        let packed = numbers(&results[0]);
        let q = reflections(&packed, &numbers(&results[1]), order, order, 1);
        let h: Vec<Complex64> =
            (0..order * order).map(|at| if at / order > at % order + 1 { Complex64::default() } else { packed[at] }).collect();
        let product = products(&products(&q, &h, order, order, order), &adjoint(&q, order, order), order, order, order);
        prop_assert!(far(&product, &a) <= near);

        let routine = if kind.is_real() { "sytrd" } else { "hetrd" };
        let results = call(&format!("lapack_{}{routine}_ffi", kind.letter), "uplo = 76 : ui8", &given,
            &[(kind.name, square), (kind.real, vec![order]), (kind.real, vec![order - 1]), (kind.name, vec![order - 1]), ("s32", vec![])]);
        let (diagonal, beside) = (numbers(&results[1]), numbers(&results[2]));
        let q = reflections(&numbers(&results[0]), &numbers(&results[3]), order, order, 1);
        let t: Vec<Complex64> = (0..order * order).map(|at| match (at / order, at % order) {
            (i, j) if i == j => diagonal[i],
            (i, j) if i.abs_diff(j) == 1 => beside[i.min(j)],
            _ => Complex64::default(),
        }).collect();
        let whole: Vec<Complex64> = (0..order * order).map(|at| match (at / order, at % order) {
            (i, j) if i == j => Complex::new(a[at].re, 0.0),
            (i, j) if i > j => a[at],
            (i, j) => a[j * order + i].conj(),
        }).collect();
        let product = products(&products(&q, &t, order, order, order), &adjoint(&q, order, order), order, order, order);
        prop_assert!(far(&product, &whole) <= near);
    }

    #[test]
    fn columns_in_order_of_length_make_up_the_matrix(
        rows in 1..8usize, columns in 1..8usize, fixed in 0..3usize, which in 0..4usize, seed: u64,
    ) {
        let kind = Kind::ALL[which];
        let a = kind.rounded(&waves(rows * columns, seed));
        let first: Vec<i32> = (0..columns).map(|column| i32::from(column % 3 == 1 && column < 3 * fixed)).collect();
        let least = rows.min(columns);
        let results = call(&format!("lapack_{}geqp3_ffi", kind.letter), "",
            &[(kind.name, kind.literal(&[rows, columns], &a)), ("s32", Literal::array([columns as i64], first.clone()))],
            &[(kind.name, vec![rows, columns]), ("s32", vec![columns]), (kind.name, vec![least])]);
        let packed = numbers(&results[0]);
        let Data::S32(order) = &results[1].data else { panic!() };
        let q = reflections(&packed, &numbers(&results[2]), rows, columns, 0);
        let r: Vec<Complex64> = (0..rows * columns)
            .map(|at| if at / columns > at % columns { Complex64::default() } else { packed[at] }).collect();
        let permuted: Vec<Complex64> =
            (0..rows * columns).map(|at| a[at / columns * columns + order[at % columns] as usize - 1]).collect();
        prop_assert!(far(&products(&q, &r, rows, rows, columns), &permuted) <= kind.tolerance(rows, norm(&a)));
        let count = first.iter().filter(|&&first| first != 0).count();
        prop_assert!(order[..count].iter().all(|&column| first[column as usize - 1] != 0));
        let lengths: Vec<f64> = (0..least).map(|at| r[at * columns + at].norm()).collect();
        prop_assert!(lengths.get(count..).unwrap_or(&[]).windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-3)));

        // The product of the reflections times the triangle is the matrix again, from either side.
        let routine = if kind.is_real() { "ormqr" } else { "unmqr" };
        for (left, transpose) in [(true, false), (true, true), (false, false), (false, true)] {
            let (n, m) = if left { (rows, 2) } else { (2, rows) };
            let c = kind.rounded(&waves(n * m, seed ^ 1));
            let held = kind.literal(&[rows, least], &(0..rows * least).map(|at| packed[at / least * columns + at % least]).collect::<Vec<_>>());
            let found = call(&format!("lapack_{}{routine}_ffi", kind.letter), &format!("left = {left}, transpose = {transpose}"),
                &[(kind.name, held), (kind.name, results[2].clone()), (kind.name, kind.literal(&[n, m], &c))], &[(kind.name, vec![n, m])]);
            let factor = if transpose { adjoint(&q, rows, rows) } else { q.clone() };
            let expected = if left { products(&factor, &c, n, n, m) } else { products(&c, &factor, n, m, m) };
            prop_assert!(far(&numbers(&found[0]), &expected) <= kind.tolerance(rows, norm(&c)));
        }
    }

    #[test]
    fn tridiagonal_systems_are_solved(order in 1..20usize, columns in 0..3usize, which in 0..4usize, is_singular: bool, seed: u64) {
        let kind = Kind::ALL[which];
        let mut bands = waves(3 * order, seed);
        if is_singular {
            bands.iter_mut().for_each(|value| *value = Complex::new(value.re.round(), 0.0));
        }
        let bands = kind.rounded(&bands);
        let b = kind.rounded(&waves(order * columns, seed ^ 5));
        let t: Vec<Complex64> = (0..order * order).map(|at| match (at / order, at % order) {
            (i, j) if i == j => bands[order + i],
            (i, j) if i == j + 1 => bands[i],
            (i, j) if j == i + 1 => bands[2 * order + i],
            _ => Complex64::default(),
        }).collect();
        let mut given: Vec<(&str, Literal)> = bands.chunks(order).map(|band| (kind.name, kind.literal(&[order], band))).collect();
        given.push((kind.name, kind.literal(&[order, columns], &b)));
        let band = (kind.name, vec![order]);
        let solved = (kind.name, vec![order, columns]);
        let results = call(&format!("lapack_{}gtsv_ffi", kind.letter), "", &given,
            &[band.clone(), band.clone(), band, solved.clone(), ("s32", vec![])]);
        let perturbed = call("tridiagonal_solve_perturbed_ffi", "", &given, &[solved]);
        for (x, is_exact) in [(numbers(&results[3]), true), (numbers(&perturbed[0]), false)] {
            if is_exact && results[4].data != Data::S32(vec![0]) {
                prop_assert!(is_singular);
                continue;
            }
            // It solves equations of which the matrix is a little another one.
            let residual = far(&products(&t, &x, order, order, columns), &b);
            prop_assert!(residual <= kind.tolerance(order, (norm(&t) + 1.0) * norm(&x)), "{}", residual);
        }
    }
}
