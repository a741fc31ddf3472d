//! Calls of LAPACK's routines, in all four types, and matrices of many kinds to call them with.

use super::cases::{numbers, of_bits};
use super::{identity, products, run, waves};
use num_complex::{Complex, Complex64};
use weft_hlo::ir::Literal;

/// One of LAPACK's four types.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) letter: char,
    pub(crate) name: &'static str,
    pub(crate) real: &'static str,
    pub(crate) complex: &'static str,
    pub(crate) epsilon: f64,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [
        Kind { letter: 's', name: "f32", real: "f32", complex: "c64", epsilon: f32::EPSILON as f64 },
        Kind { letter: 'd', name: "f64", real: "f64", complex: "c128", epsilon: f64::EPSILON },
        Kind { letter: 'c', name: "c64", real: "f32", complex: "c64", epsilon: f32::EPSILON as f64 },
        Kind { letter: 'z', name: "c128", real: "f64", complex: "c128", epsilon: f64::EPSILON },
    ];

    pub(crate) fn is_real(self) -> bool {
        self.name == self.real
    }

    /// An array of the type.
    pub(crate) fn literal(self, extents: &[usize], values: &[Complex64]) -> Literal {
        let extents: Vec<i64> = extents.iter().map(|&extent| extent as i64).collect();
        let single = |value: f64| u128::from((value as f32).to_bits());
        let double = |value: f64| u128::from(value.to_bits());
        let bits = |value: &Complex64| match self.name {
            "f32" => single(value.re),
            "f64" => double(value.re),
            "c64" => single(value.re) | single(value.im) << 32,
            _ => double(value.re) | double(value.im) << 64,
        };
        of_bits(self.name, &extents, &values.iter().map(bits).collect::<Vec<_>>())
    }

    /// What numbers become in an array.
    pub(crate) fn rounded(self, values: &[Complex64]) -> Vec<Complex64> {
        numbers(&self.literal(&[values.len()], values))
    }

    /// How far apart results may be for numbers as large as `scale`, of matrices of an order.
    pub(crate) fn tolerance(self, order: usize, scale: f64) -> f64 {
        30.0 * (order as f64 + 1.0) * self.epsilon * scale
    }
}

pub(crate) fn spelled(extents: &[usize]) -> String {
    let extents: Vec<String> = extents.iter().map(usize::to_string).collect();
    format!("[{}]", extents.join(","))
}

/// The results of a routine; these have kinds and extents.
pub(crate) fn call(
    target: &str,
    config: &str,
    operands: &[(&str, Literal)],
    results: &[(&str, Vec<usize>)],
) -> Vec<Literal> {
    run(
        &text(target, config, operands, results),
        &operands.iter().map(|(_, literal)| literal.clone()).collect::<Vec<_>>(),
    )
}

pub(crate) fn text(target: &str, config: &str, operands: &[(&str, Literal)], results: &[(&str, Vec<usize>)]) -> String {
    let mut lines = String::new();
    for (number, (kind, literal)) in operands.iter().enumerate() {
        let extents: Vec<usize> =
            literal.shape.as_array().unwrap().extents.iter().map(|&extent| extent as usize).collect();
        lines += &format!("x{number} = {kind}{} parameter({number})\n", spelled(&extents));
    }
    let names: Vec<String> = (0..operands.len()).map(|number| format!("x{number}")).collect();
    let shapes: Vec<String> = results.iter().map(|(kind, extents)| format!("{kind}{}", spelled(extents))).collect();
    let shapes = if shapes.len() == 1 { shapes[0].clone() } else { format!("({})", shapes.join(", ")) };
    format!(
        "{lines}r = {shapes} custom-call({}), custom_call_target=\"{target}\", backend_config={{{config}}}",
        names.join(", ")
    )
}

/// A square matrix of a family, for any seed.
pub(crate) fn matrix(family: usize, order: usize, seed: u64) -> Vec<Complex64> {
    let random = waves(order * order, seed);
    let entry = |at: usize| random[at];
    let one = Complex::new(1.0, 0.0);
    let make = |element: &dyn Fn(usize, usize) -> Complex64| -> Vec<Complex64> {
        (0..order * order).map(|at| element(at / order.max(1), at % order.max(1))).collect()
    };
    let zero = Complex64::default();
    match family {
        0 => random,
        // Defective: one eigenvalue, one vector.
        1 => make(&|i, j| {
            if i == j {
                one * 2.0
            } else if j == i + 1 {
                one
            } else {
                zero
            }
        }),
        // Nilpotent.
        2 => make(&|i, j| if j == i + 1 { one } else { zero }),
        3 => vec![zero; order * order],
        4 => identity(order),
        // A cycle: the roots of 1, from which a step without another shift does not move.
        5 => make(&|i, j| if i == (j + 1) % order { one } else { zero }),
        // Of rank one.
        6 => make(&|i, j| entry(i * order) * entry(j)),
        7 => make(&|i, j| if i <= j { entry(i * order + j) } else { zero }),
        8 => make(&|i, j| if i >= j { entry(i * order + j) } else { zero }),
        // Repeated eigenvalues on a diagonal in blocks.
        9 => make(&|i, j| {
            if i == j {
                one * ((i / 3) as f64)
            } else if j == i + 1 && i % 3 == 1 {
                one
            } else {
                zero
            }
        }),
        // Blocks that rotate.
        10 => make(&|i, j| {
            if i == j {
                one * 0.5
            } else if i / 2 == j / 2 {
                one * if i < j { -2.0 } else { 3.0 }
            } else {
                zero
            }
        }),
        // Hermitian.
        11 => make(&|i, j| entry(i * order + j) + entry(j * order + i).conj()),
        // Small whole numbers.
        12 => random.iter().map(|value| Complex::new((value.re * 3.0).round(), (value.im * 3.0).round())).collect(),
        // All the same.
        13 => vec![one; order * order],
        // Very small and very large.
        14 => random.iter().map(|value| value * 1e-30).collect(),
        _ => random.iter().map(|value| value * 1e30).collect(),
    }
}

pub(crate) const FAMILIES: usize = 16;
pub(crate) const ORDERS: [usize; 7] = [0, 1, 2, 3, 5, 16, 33];

pub(crate) fn norm(a: &[Complex64]) -> f64 {
    a.iter().map(|value| value.norm()).fold(0.0, f64::hypot)
}

/// The eigenvalues among results, from a position on.
pub(crate) fn values(kind: Kind, results: &[Literal], at: usize) -> Vec<Complex64> {
    match kind.is_real() {
        true => {
            let (re, im) = (numbers(&results[at]), numbers(&results[at + 1]));
            re.iter().zip(&im).map(|(re, im)| Complex::new(re.re, im.re)).collect()
        }
        false => numbers(&results[at]),
    }
}

pub(crate) fn value_shapes(kind: Kind, extents: Vec<usize>) -> Vec<(&'static str, Vec<usize>)> {
    vec![(kind.name, extents); if kind.is_real() { 2 } else { 1 }]
}

pub(crate) fn geev(kind: Kind, order: usize, a: &[Complex64]) -> Vec<Literal> {
    let square = vec![order, order];
    let mut results = value_shapes(kind, vec![order]);
    results.extend([(kind.complex, square.clone()), (kind.complex, square.clone()), ("s32", vec![])]);
    let operand = (kind.name, kind.literal(&square, a));
    let config = "compute_left = 86 : ui8, compute_right = 86 : ui8";
    call(&format!("lapack_{}geev_ffi", kind.letter), config, &[operand], &results)
}

pub(crate) fn gees(kind: Kind, order: usize, a: &[Complex64]) -> Vec<Literal> {
    let square = vec![order, order];
    let mut results = vec![(kind.name, square.clone()), (kind.name, square.clone())];
    results.extend(value_shapes(kind, vec![order]));
    results.extend([("s32", vec![]), ("s32", vec![])]);
    let operand = (kind.name, kind.literal(&square, a));
    call(&format!("lapack_{}gees_ffi", kind.letter), "mode = 86 : ui8, sort = 78 : ui8", &[operand], &results)
}

/// What reflections in a packed matrix, whose vectors begin `below` the diagonal, multiply to, as they are defined.
pub(crate) fn reflections(
    packed: &[Complex64],
    taus: &[Complex64],
    rows: usize,
    columns: usize,
    below: usize,
) -> Vec<Complex64> {
    taus.iter().enumerate().fold(identity(rows), |q, (step, tau)| {
        let v: Vec<Complex64> = (0..rows)
            .map(|row| match row.cmp(&(step + below)) {
                std::cmp::Ordering::Less => Complex64::default(),
                std::cmp::Ordering::Equal => Complex::new(1.0, 0.0),
                std::cmp::Ordering::Greater => packed[row * columns + step],
            })
            .collect();
        let h: Vec<Complex64> =
            (0..rows * rows).map(|at| identity(rows)[at] - tau * v[at / rows] * v[at % rows].conj()).collect();
        products(&q, &h, rows, rows, rows)
    })
}
