//! LAPACK's routines, `cholesky` and `triangular-solve` on the default adapter, without the host.

use crate::factorizations::{
    Case, FAMILIES, KINDS, Kind, Runner, condensed, definite, eliminated, eliminated_without_numbers, hermitian,
    nothing, numbers, pivoted, reflected, singular, tridiagonal,
};
use crate::support::{self, compile, device};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Module};
use weft_hlo::random::Rng;
use weft_partition::{Schedule, Target};
use weft_runtime::{Device, Executable};

/// The types that a device computes with.
fn kinds(target: &Target) -> impl Iterator<Item = Kind> {
    let has_f64 = target.features.shader_f64 && target.features.shader_int64;
    KINDS.into_iter().filter(move |kind| has_f64 || ["f32", "c64"].contains(&kind.name))
}

/// What the device gives.
fn computed(device: &Device, target: &Target, module: &Module, operands: &[Literal]) -> Vec<Literal> {
    let program = compile(module, target).unwrap_or_else(|error| panic!("{error}"));
    let executable = Executable::new(device, program).unwrap_or_else(|error| panic!("{error}"));
    executable.run(operands).unwrap_or_else(|error| panic!("{error}"))
}

/// `f32` and, for small matrices, another type in turn, each on one of both schedules: of others the tiles of products take drivers long.
fn cases(sizes: &[(usize, usize)], check: &dyn Fn(&Runner<'_>, &mut Rng, Case)) {
    let device = device();
    let kinds: Vec<Kind> = kinds(device.target()).collect();
    let mut rng = Rng::new(5);
    for (number, &(rows, columns)) in sizes.iter().enumerate() {
        let other = kinds[1 + (rows + number) % (kinds.len() - 1)];
        let count = if rows > 32 { 1 } else { 2 };
        for (turn, kind) in [kinds[0], other].into_iter().take(count).enumerate() {
            let schedule = Schedule::ALL[(number + turn) % 2];
            let target = device.target().clone().with(|target| target.schedule = Some(schedule));
            let family = (3 * number + 4 * turn) % FAMILIES;
            let run = |module: &Module, operands: &[Literal]| computed(&device, &target, module, operands);
            check(&run, &mut rng, Case { kind, family, rows, columns });
        }
    }
}

#[test]
fn eliminated_matrices_are_their_factors() {
    cases(&[(3, 3), (35, 36)], &|run, rng, case| eliminated(run, rng, case));
}

#[test]
fn triangles_make_up_positive_definite_matrices() {
    cases(&[(4, 4), (5, 5), (37, 37)], &|run, rng, case| definite(run, rng, case));
}

#[test]
fn pivots_that_are_no_numbers_are_lapacks() {
    cases(&[(5, 4)], &|run, rng, case| eliminated_without_numbers(run, rng, case));
}

#[test]
fn nothing_is_factored_as_lapack_does() {
    let device = device();
    let run = |module: &Module, operands: &[Literal]| computed(&device, device.target(), module, operands);
    nothing(&run, KINDS[0]);
}

#[test]
fn reflected_matrices_are_their_factors() {
    cases(&[(4, 3), (40, 34)], &|run, rng, case| reflected(run, rng, case));
}

#[test]
fn columns_in_order_of_length_make_up_the_matrix() {
    cases(&[(5, 4)], &|run, rng, case| pivoted(run, rng, case));
}

#[test]
fn hermitian_matrices_are_their_spectra() {
    cases(&[(5, 5), (34, 34)], &|run, rng, case| hermitian(run, rng, case));
}

#[test]
fn condensed_matrices_are_similar() {
    cases(&[(4, 4)], &|run, rng, case| condensed(run, rng, case));
}

#[test]
fn singular_values_and_vectors_make_up_the_matrix() {
    cases(&[(3, 6), (33, 35)], &|run, rng, case| singular(run, rng, case));
}

#[test]
fn tridiagonal_systems_are_solved() {
    cases(&[(5, 2)], &|run, rng, case| tridiagonal(run, rng, case));
}

/// A positive definite matrix and what it is multiplied by, and the solution of both systems of its factor.
#[test]
fn systems_with_cholesky_factors_are_solved() {
    let device = device();
    let mut rng = Rng::new(6);
    for (number, (order, lower)) in [(3, true), (20, false), (45, true)].into_iter().enumerate() {
        let schedule = Schedule::ALL[number % 2];
        let target = device.target().clone().with(|target| target.schedule = Some(schedule));
        let (first, second) = if lower { ("NO_TRANSPOSE", "ADJOINT") } else { ("ADJOINT", "NO_TRANSPOSE") };
        let module = support::entry(&format!(
            "a = f32[2,{order},{order}] parameter(0)
             b = f32[2,{order},3] parameter(1)
             l = f32[2,{order},{order}] cholesky(a), lower={lower}
             y = f32[2,{order},3] triangular-solve(l, b), left_side=true, lower={lower}, transpose_a={first}
             ROOT x = f32[2,{order},3] triangular-solve(l, y), left_side=true, lower={lower}, transpose_a={second}"
        ));
        let mut digit = || rng.between(-4, 4) as f32 / 8.0;
        let mut a = vec![0f32; 2 * order * order];
        for number in 0..2 {
            for row in 0..order {
                for column in 0..=row {
                    let value = if row == column { 4.0 + order as f32 / 2.0 } else { digit() };
                    a[(number * order + row) * order + column] = value;
                    a[(number * order + column) * order + row] = value;
                }
            }
        }
        let b: Vec<f32> = (0..2 * order * 3).map(|_| digit()).collect();
        let order = order as i64;
        let operands = [Literal::array([2, order, order], a), Literal::array([2, order, 3], b)];
        let expected = numbers(&evaluate(&module, &operands).unwrap_or_else(|found| panic!("{found}"))[0]);
        let found = numbers(&computed(&device, &target, &module, &operands)[0]);
        let largest = expected.iter().map(|value| value.norm()).fold(0.0, f64::max);
        let far = found.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(far <= 1e-5 * largest, "{order} {lower}: {far} of {largest}");
    }
}
