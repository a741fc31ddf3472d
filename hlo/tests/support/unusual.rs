//! LAPACK's routines on matrices that have no factor, no elements or no numbers.

use super::{Case, Kind, Matrix, Runner, both, called, literal, matrices, matrix, numbers};
use num_complex::{Complex, Complex64};
use weft_hlo::ir::Literal;
use weft_hlo::random::Rng;

/// `potrf`: a triangle makes up the matrix, the other one is as it was, and where a minor is not positive `info` is its order and nothing is changed.
pub(crate) fn definite(run: &Runner<'_>, rng: &mut Rng, case: Case) {
    let Case { kind, family, rows: order, .. } = case;
    let lower = family % 2 == 0;
    let given = [0, 1].map(|number| {
        let random = matrix(rng, kind, 0, order, order);
        let mut a = random.times(&random.adjoint());
        (0..order).for_each(|at| a.elements[at * (order + 1)].re += order as f64);
        // One of the matrices has a minor that is far from positive, or is no number.
        if number == family % 2 && family % 5 > 0 {
            let at = rng.below(order);
            let wrong = [-1.0, 0.0, f64::NAN, f64::NEG_INFINITY][family % 4];
            a.elements[at * (order + 1)] = Complex::new(wrong, 0.0);
        }
        let literal = kind.literal(&[order * order], &a.elements);
        Matrix::of(order, order, &numbers(&literal))
    });
    let square = vec![2, order, order];
    let module = called(
        &format!("lapack_{}potrf_ffi", kind.letter),
        &format!("uplo = {} : ui8", if lower { 76 } else { 85 }),
        &[(kind.name, square.clone())],
        &[(kind.name, square), ("s32", vec![2])],
    );
    let [found, expected] = both(run, &module, &[literal(kind, &given)]);
    assert_eq!(numbers(&found[1]), numbers(&expected[1]), "{case:?}");
    for (number, (a, found)) in given.iter().zip(&matrices(&found[0], order, order)).enumerate() {
        let is_factor = |i: usize, j: usize| if lower { i >= j } else { i <= j };
        let kept = |m: &Matrix, is_kept: &dyn Fn(usize, usize) -> bool| {
            Matrix::new(order, order, |i, j| if is_kept(i, j) { m.at(i, j) } else { Complex64::default() })
        };
        if numbers(&expected[1])[number] != Complex64::default() {
            // NaNs print alike.
            assert_eq!(format!("{:?}", found.elements), format!("{:?}", a.elements), "{case:?}");
            continue;
        }
        let others = |i: usize, j: usize| !is_factor(i, j);
        assert_eq!(kept(found, &others).elements, kept(a, &others).elements, "{case:?}");
        let factor = kept(found, &is_factor);
        let l = if lower { factor } else { factor.adjoint() };
        let far = l.times(&l.adjoint()).far(a);
        let near = 10.0 * order as f64 * kind.epsilon * a.norm();
        assert!(far <= near, "{case:?}: {far} {near}");
    }
}

/// All routines on matrices without rows, without columns and on none: what there is of results is the evaluator's.
pub(crate) fn nothing(run: &Runner<'_>, kind: Kind) {
    let of = |routine: &str| format!("lapack_{}{routine}_ffi", kind.letter);
    let named = |real: &str, complex: &str| of(if kind.is_complex() { complex } else { real });
    let t = kind.name;
    for (batch, rows, columns) in [(2usize, 0usize, 0usize), (0, 3, 3), (2, 0, 3), (2, 3, 0), (0, 2, 4)] {
        let steps = rows.min(columns);
        let (a, line, info) = (vec![batch, rows, columns], vec![batch, steps], ("s32", vec![batch]));
        let mut calls = vec![
            (of("getrf"), "", vec![(t, a.clone())], vec![(t, a.clone()), ("s32", line.clone()), info.clone()]),
            (of("geqrf"), "", vec![(t, a.clone())], vec![(t, a.clone()), (t, line.clone())]),
            (
                of("geqp3"),
                "",
                vec![(t, a.clone())],
                vec![(t, a.clone()), ("s32", vec![batch, columns]), (t, line.clone())],
            ),
            (
                of("gtsv"),
                "",
                vec![(t, vec![batch, rows]), (t, vec![batch, rows]), (t, vec![batch, rows]), (t, a.clone())],
                vec![
                    (t, vec![batch, rows]),
                    (t, vec![batch, rows]),
                    (t, vec![batch, rows]),
                    (t, a.clone()),
                    info.clone(),
                ],
            ),
        ];
        for (mode, left, right) in [("65", rows, columns), ("83", steps, steps), ("78", steps, steps)] {
            let config: &'static str = match mode {
                "65" => "mode = 65 : ui8",
                "83" => "mode = 83 : ui8",
                _ => "mode = 78 : ui8",
            };
            let (u, v) = (vec![batch, rows, left], vec![batch, right, columns]);
            let results = vec![(t, a.clone()), (kind.real, line.clone()), (t, u), (t, v), info.clone()];
            calls.push((of("gesdd"), config, vec![(t, a.clone())], results));
        }
        if rows == columns {
            let beside = vec![batch, rows.saturating_sub(1)];
            let both = vec![(t, a.clone()), (kind.real, line.clone()), info.clone()];
            calls.push((of("potrf"), "uplo = 76 : ui8", vec![(t, a.clone())], vec![(t, a.clone()), info.clone()]));
            calls.push((named("syevd", "heevd"), "mode = 86 : ui8, uplo = 76 : ui8", vec![(t, a.clone())], both));
            let results = vec![(t, a.clone()), (t, beside.clone()), info.clone()];
            let range = if rows == 0 { "low = 1 : i32, high = 0 : i32" } else { "low = 1 : i32, high = 3 : i32" };
            calls.push((of("gehrd"), range, vec![(t, a.clone())], results));
            let lines = vec![(t, a.clone()), (kind.real, line), (kind.real, beside.clone()), (t, beside), info];
            calls.push((named("sytrd", "hetrd"), "uplo = 85 : ui8", vec![(t, a)], lines));
        }
        for (target, config, operands, results) in calls {
            let module = called(&target, config, &operands, &results);
            let given: Vec<Literal> = operands
                .iter()
                .map(|(_, extents)| {
                    let count: usize = extents.iter().product();
                    kind.literal(extents, &vec![Complex::new(1.5, 0.0); count])
                })
                .collect();
            let [found, expected] = both(run, &module, &given);
            for (found, expected) in found.iter().zip(&expected) {
                // Zeros of both signs are the same.
                let what = format!("{target} of {batch} times {rows} by {columns}");
                assert_eq!((&found.shape, numbers(found)), (&expected.shape, numbers(expected)), "{what}");
            }
        }
    }
}

/// `getrf` of matrices with elements that are no numbers: pivots and zeros are LAPACK's.
pub(crate) fn eliminated_without_numbers(run: &Runner<'_>, rng: &mut Rng, case: Case) {
    let Case { kind, rows, columns, .. } = case;
    let steps = rows.min(columns);
    let given = [0, 1].map(|number| {
        let mut a = matrix(rng, kind, 8, rows, columns);
        a.elements[rng.below(rows * columns)].re = f64::NAN;
        if number == 1 {
            a.elements[0].re = f64::NAN;
        }
        a
    });
    let module = called(
        &format!("lapack_{}getrf_ffi", kind.letter),
        "",
        &[(kind.name, vec![2, rows, columns])],
        &[(kind.name, vec![2, rows, columns]), ("s32", vec![2, steps]), ("s32", vec![2])],
    );
    let [found, expected] = both(run, &module, &[literal(kind, &given)]);
    // The first pivots are those of what is given.
    for number in 0..2 {
        let first = |results: &[Literal]| numbers(&results[1])[number * steps];
        assert_eq!(first(&found), first(&expected), "{case:?}");
    }
    assert_eq!(numbers(&found[2]), numbers(&expected[2]), "{case:?}");
}
