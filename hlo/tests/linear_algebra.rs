//! LAPACK's routines written out as loops, by the evaluator.

use crate::factorizations::{
    Case, FAMILIES, KINDS, called, condensed, definite, eliminated, eliminated_without_numbers, hermitian, nothing,
    numbers, pivoted, reflected, singular, tridiagonal,
};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Module, Op};
use weft_hlo::passes::{LinearAlgebra, Pass};
use weft_hlo::random::Rng;
use weft_hlo::verify::verify;

/// The module without calls.
fn expanded(module: &Module) -> Module {
    let after = LinearAlgebra.run(module).unwrap().module;
    verify(&after).unwrap_or_else(|found| panic!("{found}"));
    let mut instructions = after.computations.values().flat_map(|computation| computation.instructions.values());
    assert!(!instructions.any(|instruction| matches!(instruction.op, Op::CustomCall { .. })));
    after
}

/// The results of the module without calls.
fn written_out(module: &Module, operands: &[Literal]) -> Vec<Literal> {
    evaluate(&expanded(module), operands).unwrap()
}

/// Every type with every family and extents, of which each comes often enough.
fn cases(sizes: &[(usize, usize)], check: &mut dyn FnMut(&mut Rng, Case)) {
    let mut rng = Rng::new(3);
    for (number, &(rows, columns)) in sizes.iter().enumerate() {
        for (which, kind) in KINDS.into_iter().enumerate() {
            let turns = if rows * columns < 200 { 3 } else { 1 };
            for turn in 0..turns {
                let family = (number + 3 * which + 7 * turn) % FAMILIES;
                check(&mut rng, Case { kind, family, rows, columns });
            }
        }
    }
}

const SIZES: [(usize, usize); 11] =
    [(1, 1), (2, 2), (1, 5), (6, 1), (3, 3), (5, 7), (7, 4), (13, 13), (35, 35), (34, 41), (67, 33)];

#[test]
fn eliminated_matrices_are_their_factors() {
    cases(&SIZES, &mut |rng, case| eliminated(&written_out, rng, case));
}

#[test]
fn triangles_make_up_positive_definite_matrices() {
    cases(&[(1, 1), (2, 2), (3, 3), (5, 5), (16, 16), (31, 31), (33, 33), (65, 65)], &mut |rng, case| {
        definite(&written_out, rng, case);
    });
}

#[test]
fn nothing_is_factored_as_lapack_does() {
    KINDS.into_iter().for_each(|kind| nothing(&written_out, kind));
}

#[test]
fn pivots_that_are_no_numbers_are_lapacks() {
    cases(&[(1, 1), (2, 3), (5, 4), (34, 33)], &mut |rng, case| eliminated_without_numbers(&written_out, rng, case));
}

/// Whole panels, one less, one more, and several, in turn of each family; and columns so small beside others that their squares are none.
#[test]
fn larger_matrices_of_single_precision_are_their_factors() {
    let mut rng = Rng::new(11);
    let case =
        |family: usize, rows: usize, columns: usize| Case { kind: KINDS[0], family: family % FAMILIES, rows, columns };
    for (number, (rows, columns)) in
        [(16, 16), (17, 40), (31, 31), (33, 33), (64, 64), (65, 20)].into_iter().enumerate()
    {
        eliminated(&written_out, &mut rng, case(number, rows, columns));
        reflected(&written_out, &mut rng, case(number + 5, rows, columns));
    }
    singular(&written_out, &mut rng, case(9, 40, 40));
    hermitian(&written_out, &mut rng, case(6, 31, 31));
}

#[test]
fn reflected_matrices_are_their_factors() {
    cases(&SIZES, &mut |rng, case| reflected(&written_out, rng, case));
}

#[test]
fn columns_in_order_of_length_make_up_the_matrix() {
    cases(&SIZES[..10], &mut |rng, case| pivoted(&written_out, rng, case));
}

#[test]
fn hermitian_matrices_are_their_spectra() {
    cases(&[(1, 1), (2, 2), (3, 3), (5, 5), (8, 8), (13, 13), (34, 34)], &mut |rng, case| {
        hermitian(&written_out, rng, case)
    });
}

#[test]
fn condensed_matrices_are_similar() {
    cases(&[(1, 1), (2, 2), (3, 3), (5, 5), (8, 8), (17, 17)], &mut |rng, case| condensed(&written_out, rng, case));
}

#[test]
fn singular_values_and_vectors_make_up_the_matrix() {
    cases(&SIZES[..10], &mut |rng, case| singular(&written_out, rng, case));
}

#[test]
fn tridiagonal_systems_are_solved() {
    cases(&[(1, 1), (2, 3), (3, 1), (5, 2), (24, 3)], &mut |rng, case| tridiagonal(&written_out, rng, case));
}

#[test]
fn what_is_no_number_has_neither_spectrum_nor_singular_values() {
    for (target, config, results) in [
        (
            "lapack_ssyevd_ffi",
            "mode = 86 : ui8, uplo = 76 : ui8",
            vec![("f32", vec![2, 3, 3]), ("f32", vec![2, 3]), ("s32", vec![2])],
        ),
        (
            "lapack_sgesdd_ffi",
            "mode = 83 : ui8",
            vec![
                ("f32", vec![2, 3, 3]),
                ("f32", vec![2, 3]),
                ("f32", vec![2, 3, 3]),
                ("f32", vec![2, 3, 3]),
                ("s32", vec![2]),
            ],
        ),
    ] {
        let module = called(target, config, &[("f32", vec![2, 3, 3])], &results);
        for wrong in [f32::NAN, f32::INFINITY] {
            let mut elements = vec![1f32; 18];
            elements[4] = wrong;
            let operands = [Literal::array([2, 3, 3], elements)];
            let (found, expected) = (written_out(&module, &operands), evaluate(&module, &operands).unwrap());
            let info = found.len() - 1;
            assert_eq!(numbers(&found[info]), numbers(&expected[info]));
            let values = numbers(&found[1]);
            assert!(
                values[..3].iter().all(|value| value.re.is_nan()) && values[3..].iter().all(|value| !value.re.is_nan())
            );
        }
    }
}

#[test]
fn written_out_calls_have_a_size_independent_of_the_matrix() {
    let size = |routine: &str, rows: usize, columns: usize| {
        let steps = rows.min(columns);
        let shape = vec![1, rows, columns];
        let mut results = vec![("f32", shape.clone())];
        results.extend(match routine {
            "getrf" => vec![("s32", vec![1, steps]), ("s32", vec![1])],
            "geqrf" => vec![("f32", vec![1, steps])],
            "syevd" => vec![("f32", vec![1, steps]), ("s32", vec![1])],
            _ => vec![
                ("f32", vec![1, steps]),
                ("f32", vec![1, rows, steps]),
                ("f32", vec![1, steps, columns]),
                ("s32", vec![1]),
            ],
        });
        let config = if routine == "syevd" { "mode = 86 : ui8, uplo = 76 : ui8" } else { "mode = 83 : ui8" };
        expanded(&called(&format!("lapack_s{routine}_ffi"), config, &[("f32", shape)], &results)).instruction_count()
    };
    for (routine, rows) in [("getrf", 51), ("geqrf", 51), ("syevd", 45), ("gesdd", 51)] {
        assert_eq!(
            size(routine, rows, 45),
            size(routine, if rows == 45 { 30_001 } else { 40_001 }, 30_001),
            "{routine}"
        );
    }
}
