//! `cholesky` and `triangular-solve` written out compute what the operations compute, but for rounding.

use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Literal, Module};
use weft_hlo::passes::{LinearAlgebra, PASSES, Pass, Pipeline};
use weft_hlo::random::Rng;
use weft_hlo::text::{parse, print};
use weft_hlo::verify::verify;

/// Types with the rounding error that a result may have of its largest number.
const TYPES: [(&str, f64); 9] = [
    ("f8e5m2", 0.26),
    ("f8e4m3fn", 0.13),
    ("f8e4m3fnuz", 0.13),
    ("bf16", 8e-3),
    ("f16", 1e-3),
    ("f32", 2e-6),
    ("f64", 1e-14),
    ("c64", 2e-6),
    ("c128", 1e-14),
];

/// A list of matrices of `f64`.
struct Matrices {
    batch: Vec<i64>,
    rows: i64,
    columns: i64,
    elements: Vec<f64>,
}

impl Matrices {
    /// Each element by its row and column.
    fn new(batch: &[i64], rows: i64, columns: i64, mut element: impl FnMut(i64, i64) -> f64) -> Self {
        let mut elements = Vec::new();
        for _ in 0..batch.iter().product() {
            for row in 0..rows {
                elements.extend((0..columns).map(|column| element(row, column)));
            }
        }
        Matrices { batch: batch.to_vec(), rows, columns, elements }
    }

    fn extents(&self) -> Vec<i64> {
        [&self.batch[..], &[self.rows, self.columns]].concat()
    }

    fn literal(&self) -> Literal {
        Literal::array(self.extents(), self.elements.clone())
    }

    /// The extents as in text.
    fn text(&self) -> String {
        format!("[{}]", self.extents().iter().map(i64::to_string).collect::<Vec<_>>().join(","))
    }
}

/// A program of an operation of a type on operands that are given by their real and imaginary parts as `f64`, with the parts
/// of its result as `f64`.
fn program(element_type: &str, operands: &[&Matrices], operation: &str) -> Module {
    let is_complex = element_type.starts_with('c');
    let mut text = "HloModule m\n\nENTRY e {\n".to_owned();
    let mut names = Vec::new();
    for (number, operand) in operands.iter().enumerate() {
        let extents = operand.text();
        let (re, im) = (2 * number, 2 * number + 1);
        text += &format!("  re{number} = f64{extents} parameter({re})\n  im{number} = f64{extents} parameter({im})\n");
        let wide = if is_complex {
            text += &format!("  z{number} = c128{extents} complex(re{number}, im{number})\n");
            format!("z{number}")
        } else {
            format!("re{number}")
        };
        text += &format!("  x{number} = {element_type}{extents} convert({wide})\n");
        names.push(format!("x{number}"));
    }
    let extents = operands.last().unwrap().text();
    let (opcode, attributes) = operation.split_once(' ').unwrap();
    text += &format!("  y = {element_type}{extents} {opcode}({}), {attributes}\n", names.join(", "));
    text += &match is_complex {
        true => format!(
            "  wide = c128{extents} convert(y)\n  re = f64{extents} real(wide)\n  im = f64{extents} imag(wide)\n  \
             ROOT r = (f64{extents}, f64{extents}) tuple(re, im)\n}}\n"
        ),
        false => format!("  ROOT r = f64{extents} convert(y)\n}}\n"),
    };
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    verify(&module).unwrap_or_else(|found| panic!("{found}\n{text}"));
    module
}

/// The module with nothing left of the operations.
fn expanded(module: &Module) -> Module {
    let after = LinearAlgebra.run(module).unwrap().module;
    verify(&after).unwrap_or_else(|found| panic!("{found}\n{}", print(&after)));
    let again = LinearAlgebra.run(&after).unwrap();
    assert!(again.changes.is_empty(), "{:?}", again.changes);
    after
}

fn numbers(results: &[Literal]) -> Vec<f64> {
    let of_one = |literal: &Literal| match &literal.data {
        weft_hlo::ir::Data::F64(values) => values.clone(),
        other => panic!("{other:?}"),
    };
    results.iter().flat_map(of_one).collect()
}

/// Fails unless the expanded program gives the same, up to `tolerance` of the largest number, and exactly where that is no
/// number.
fn agree(module: &Module, inputs: &[Literal], tolerance: f64) -> Vec<f64> {
    let after = expanded(module);
    let (expected, found) = (evaluate(module, inputs).unwrap(), evaluate(&after, inputs).unwrap());
    let (expected, found) = (numbers(&expected), numbers(&found));
    assert_eq!(expected.len(), found.len());
    let largest = expected.iter().filter(|value| value.is_finite()).fold(0.0, |most: f64, value| most.max(value.abs()));
    let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * largest;
    let wrong = expected.iter().zip(&found).find(|(a, b)| !same(**a, **b));
    assert!(wrong.is_none(), "{wrong:?} in\n{}\n{expected:?}\n{found:?}\n{}", print(module), print(&after));
    // Further passes do what they like with it.
    let pipeline = PASSES.iter().copied().fold(Pipeline::new().with(LinearAlgebra), Pipeline::with);
    let optimized = pipeline.run(module).unwrap();
    assert!(optimized.is_fixed_point);
    assert_eq!(numbers(&evaluate(&optimized.module, inputs).unwrap()).len(), found.len());
    expected
}

/// Batch dimensions and an order; a few of them empty.
fn shape(rng: &mut Rng) -> (Vec<i64>, i64) {
    let batches: [&[i64]; 6] = [&[], &[], &[1], &[3], &[2, 2], &[0]];
    (rng.choose(&batches).unwrap().to_vec(), rng.choose(&[0, 1, 1, 2, 3, 4, 5, 37]).unwrap())
}

fn digit(rng: &mut Rng) -> f64 {
    rng.between(-4, 4) as f64 / 8.0
}

#[test]
fn every_triangular_system_is_solved() {
    let mut rng = Rng::new(1);
    for (element_type, tolerance) in TYPES {
        for case in 0..48 {
            let [left_side, lower, unit_diagonal] = [1, 2, 4].map(|bit| case & bit != 0);
            let transpose = ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"][case / 8 % 3];
            let (batch, order) = shape(&mut rng);
            let other = rng.choose(&[0, 1, 2, 3]).unwrap();
            // What must not be read is NaN.
            let element = |rng: &mut Rng, row: i64, column: i64, is_real: bool| match row.cmp(&column) {
                std::cmp::Ordering::Equal if unit_diagonal => f64::NAN,
                std::cmp::Ordering::Equal => 2.0 * f64::from(u8::from(is_real)) + digit(rng),
                order if (order == std::cmp::Ordering::Greater) == lower => digit(rng),
                _ => f64::NAN,
            };
            let a = Matrices::new(&batch, order, order, |row, column| element(&mut rng, row, column, true));
            let a_imaginary = Matrices::new(&batch, order, order, |row, column| element(&mut rng, row, column, false));
            let (rows, columns) = if left_side { (order, other) } else { (other, order) };
            let [b, b_imaginary] = [(); 2].map(|()| Matrices::new(&batch, rows, columns, |_, _| digit(&mut rng)));
            let attributes =
                format!("left_side={left_side}, lower={lower}, unit_diagonal={unit_diagonal}, transpose_a={transpose}");
            let module = program(element_type, &[&a, &b], &format!("triangular-solve {attributes}"));
            let inputs = [a, a_imaginary, b, b_imaginary].map(|matrices| matrices.literal());
            // Errors of each row go on into the next.
            let solved = agree(&module, &inputs, tolerance * order as f64);
            assert!(solved.iter().all(|value| value.is_finite()), "{attributes}: {solved:?}");
        }
    }
}

#[test]
fn every_matrix_is_factored() {
    let mut rng = Rng::new(2);
    for (element_type, tolerance) in TYPES {
        for case in 0..16 {
            let lower = case % 2 == 0;
            let (batch, order) = shape(&mut rng);
            let element = |rng: &mut Rng, row: i64, column: i64| match row.cmp(&column) {
                std::cmp::Ordering::Equal => 4.0 + order as f64 / 2.0 + digit(rng),
                side if (side == std::cmp::Ordering::Greater) == lower => digit(rng),
                _ => f64::NAN,
            };
            // The imaginary part of the diagonal does not count.
            let [a, imaginary] = [(); 2]
                .map(|()| Matrices::new(&batch, order, order, |row, column| element(&mut rng, row, column)).literal());
            let like = Matrices::new(&batch, order, order, |_, _| 0.0);
            let module = program(element_type, &[&like], &format!("cholesky lower={lower}"));
            let factor = agree(&module, &[a, imaginary], tolerance * 2.0);
            assert!(factor.iter().all(|value| value.is_finite()), "{factor:?}");
        }
    }
}

/// Each matrix of a list for itself.
#[test]
fn a_matrix_that_is_not_positive_definite_has_no_factor() {
    for (element_type, tolerance) in TYPES {
        for lower in ["true", "false"] {
            let like = Matrices::new(&[6], 2, 2, |_, _| 0.0);
            let module = program(element_type, &[&like], &format!("cholesky lower={lower}"));
            // Negative at the start, 0 at the start, negative later, 0 later, not a number, and one that has a factor.
            let a = [
                [-1.0, 0.0, 0.0, 1.0],
                [0.0, 0.0, 0.0, 1.0],
                [1.0, 2.0, 2.0, 1.0],
                [1.0, 1.0, 1.0, 1.0],
                [1.0, f64::NAN, f64::NAN, 1.0],
                [1.0, 0.0, 0.0, 4.0],
            ];
            let inputs = [a.concat(), vec![0.0; 24]].map(|elements| Literal::array([6, 2, 2], elements));
            let factors = agree(&module, &inputs, tolerance);
            assert!(factors[..20].iter().all(|value| value.is_nan()), "{factors:?}");
            assert_eq!(factors[20..24], [1.0, 0.0, 0.0, 2.0]);
        }
    }
}

#[test]
fn a_zero_on_the_diagonal_is_divided_by() {
    let a = Matrices::new(&[], 2, 2, |row, column| f64::from(u8::from(row == 1 && column == 0)));
    let b = Matrices::new(&[], 2, 3, |_, column| (column - 1) as f64);
    let module = program("f32", &[&a, &b], "triangular-solve left_side=true, lower=true, transpose_a=NO_TRANSPOSE");
    let nothing = |like: &Matrices| Literal::array(like.extents(), vec![0.0; like.elements.len()]);
    let solved = agree(&module, &[a.literal(), nothing(&a), b.literal(), nothing(&b)], 0.0);
    assert_eq!((solved[0], solved[2]), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(solved[1].is_nan());
}

#[test]
fn expansions_have_a_size_independent_of_the_matrix() {
    let size = |order: i64| {
        let a = Matrices { batch: Vec::new(), rows: order, columns: order, elements: Vec::new() };
        let factor = program("f32", &[&a], "cholesky lower=false");
        let attributes = "left_side=false, lower=false, unit_diagonal=false, transpose_a=TRANSPOSE";
        let solve = program("c64", &[&a, &a], &format!("triangular-solve {attributes}"));
        [expanded(&factor).instruction_count(), expanded(&solve).instruction_count()]
    };
    assert_eq!(size(50), size(100_000));
    // Where s32 cannot count them.
    assert_eq!(size(50), size(3_000_000_001));
}
