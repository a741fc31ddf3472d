//! LAPACK's routines, whatever computes them: what they leave makes up the matrix again, and what is unique is what the evaluator has.

use num_complex::{Complex, Complex64};
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal, Module};
use weft_hlo::random::Rng;
use weft_hlo::text::parse;

mod unusual;

pub(crate) use unusual::{definite, eliminated_without_numbers, nothing};

/// One of LAPACK's four types.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Kind {
    letter: char,
    pub(crate) name: &'static str,
    real: &'static str,
    epsilon: f64,
}

pub(crate) const KINDS: [Kind; 4] = [
    Kind { letter: 's', name: "f32", real: "f32", epsilon: f32::EPSILON as f64 },
    Kind { letter: 'd', name: "f64", real: "f64", epsilon: f64::EPSILON },
    Kind { letter: 'c', name: "c64", real: "f32", epsilon: f32::EPSILON as f64 },
    Kind { letter: 'z', name: "c128", real: "f64", epsilon: f64::EPSILON },
];

impl Kind {
    fn is_complex(self) -> bool {
        self.name != self.real
    }

    fn literal(self, extents: &[usize], values: &[Complex64]) -> Literal {
        let extents: Vec<i64> = extents.iter().map(|&extent| extent as i64).collect();
        let single = |value: &Complex64| Complex::new(value.re as f32, value.im as f32);
        match self.name {
            "f32" => Literal::array(extents, values.iter().map(|value| value.re as f32).collect::<Vec<_>>()),
            "f64" => Literal::array(extents, values.iter().map(|value| value.re).collect::<Vec<_>>()),
            "c64" => Literal::array(extents, values.iter().map(single).collect::<Vec<_>>()),
            _ => Literal::array(extents, values.to_vec()),
        }
    }
}

pub(crate) fn numbers(literal: &Literal) -> Vec<Complex64> {
    let real = |value: f64| Complex::new(value, 0.0);
    match &literal.data {
        Data::F32(values) => values.iter().map(|&value| real(f64::from(value))).collect(),
        Data::F64(values) => values.iter().map(|&value| real(value)).collect(),
        Data::S32(values) => values.iter().map(|&value| real(f64::from(value))).collect(),
        Data::C64(values) => values.iter().map(|v| Complex::new(f64::from(v.re), f64::from(v.im))).collect(),
        Data::C128(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

fn spelled(extents: &[usize]) -> String {
    let extents: Vec<String> = extents.iter().map(usize::to_string).collect();
    format!("[{}]", extents.join(","))
}

/// A call of a routine, on arrays of these types and extents.
pub(crate) fn called(
    target: &str,
    config: &str,
    operands: &[(&str, Vec<usize>)],
    results: &[(&str, Vec<usize>)],
) -> Module {
    let mut text = "HloModule m\n\nENTRY e {\n".to_owned();
    for (number, (name, extents)) in operands.iter().enumerate() {
        text += &format!("  x{number} = {name}{} parameter({number})\n", spelled(extents));
    }
    let mut names: Vec<String> = (0..operands.len()).map(|number| format!("x{number}")).collect();
    if target.contains("geqp3") {
        let columns = operands[0].1.last().unwrap();
        let batch = operands[0].1[0];
        text +=
            &format!("  zero = s32[] constant(0)\n  free = s32[{batch},{columns}] broadcast(zero), dimensions={{}}\n");
        names.push("free".to_owned());
    }
    let shapes: Vec<String> = results.iter().map(|(name, extents)| format!("{name}{}", spelled(extents))).collect();
    let shape = if let [shape] = &shapes[..] { shape.clone() } else { format!("({})", shapes.join(", ")) };
    text += &format!("  ROOT r = {shape} custom-call({}), custom_call_target=\"{target}\", ", names.join(", "));
    text += &format!("api_version=API_VERSION_TYPED_FFI, backend_config={{{config}}}\n}}\n");
    parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

/// What computes a program's results.
pub(crate) type Runner<'r> = dyn Fn(&Module, &[Literal]) -> Vec<Literal> + 'r;

/// A matrix of which kind is asked about.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) family: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Batches of matrices, row by row.
#[derive(Clone, Debug)]
struct Matrix {
    rows: usize,
    columns: usize,
    elements: Vec<Complex64>,
}

impl Matrix {
    fn new(rows: usize, columns: usize, mut element: impl FnMut(usize, usize) -> Complex64) -> Self {
        let elements = (0..rows * columns).map(|at| element(at / columns, at % columns)).collect();
        Matrix { rows, columns, elements }
    }

    fn of(rows: usize, columns: usize, elements: &[Complex64]) -> Self {
        Matrix { rows, columns, elements: elements.to_vec() }
    }

    fn identity(rows: usize, columns: usize) -> Self {
        Matrix::new(rows, columns, |i, j| Complex::new(f64::from(u8::from(i == j)), 0.0))
    }

    fn at(&self, row: usize, column: usize) -> Complex64 {
        self.elements[row * self.columns + column]
    }

    fn adjoint(&self) -> Self {
        Matrix::new(self.columns, self.rows, |i, j| self.at(j, i).conj())
    }

    fn times(&self, other: &Matrix) -> Self {
        assert_eq!(self.columns, other.rows);
        let mut product = Matrix::new(self.rows, other.columns, |_, _| Complex64::default());
        for i in 0..self.rows {
            for k in 0..self.columns {
                let factor = self.at(i, k);
                for j in 0..other.columns {
                    product.elements[i * other.columns + j] += factor * other.at(k, j);
                }
            }
        }
        product
    }

    fn norm(&self) -> f64 {
        self.elements.iter().map(|value| value.norm()).fold(0.0, f64::hypot)
    }

    fn far(&self, other: &Matrix) -> f64 {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns));
        self.elements.iter().zip(&other.elements).map(|(a, b)| (a - b).norm()).fold(0.0, f64::hypot)
    }

    fn far_from_orthonormal(&self) -> f64 {
        self.adjoint().times(self).far(&Matrix::identity(self.columns, self.columns))
    }
}

pub(crate) const FAMILIES: usize = 10;

/// A matrix of a family, in the precision of a type.
fn matrix(rng: &mut Rng, kind: Kind, family: usize, rows: usize, columns: usize) -> Matrix {
    let mut digit = || f64::from(rng.between(-1000, 1000) as i32) / 1000.0;
    let mut number = || Complex::new(digit(), if kind.is_complex() { digit() } else { 0.0 });
    let random = Matrix::new(rows, columns, |_, _| number());
    let one = Complex::new(1.0, 0.0);
    let made = match family {
        0 | 1 => random,
        2 => Matrix::new(rows, columns, |_, _| Complex64::default()),
        3 => Matrix::identity(rows, columns),
        4 => Matrix::new(rows, columns, |_, _| one),
        // Of rank two.
        5 => Matrix::new(rows, columns, |i, j| random.at(i, 0) * random.at(0, j) + one * (j as f64)),
        6 => Matrix::new(rows, columns, |i, j| random.at(i, j) * 1e-30),
        7 => Matrix::new(rows, columns, |i, j| random.at(i, j) * 1e30),
        // Whole numbers, of which many are alike.
        8 => Matrix::new(rows, columns, |i, j| one * (random.at(i, j).re * 2.0).round()),
        // Of columns that get shorter and shorter.
        _ => Matrix::new(rows, columns, |i, j| random.at(i, j) * 0.3f64.powi(j as i32)),
    };
    let rounded = numbers(&kind.literal(&[rows * columns], &made.elements));
    Matrix::of(rows, columns, &rounded)
}

/// Two matrices of a family and another, as an operand.
fn batch(rng: &mut Rng, kind: Kind, family: usize, rows: usize, columns: usize) -> ([Matrix; 2], Literal) {
    let matrices = [family, (family + 3) % FAMILIES].map(|family| matrix(rng, kind, family, rows, columns));
    let literal = literal(kind, &matrices);
    (matrices, literal)
}

fn literal(kind: Kind, matrices: &[Matrix; 2]) -> Literal {
    let elements = [&matrices[0].elements[..], &matrices[1].elements[..]].concat();
    kind.literal(&[2, matrices[0].rows, matrices[0].columns], &elements)
}

/// The matrices of a result.
fn matrices(literal: &Literal, rows: usize, columns: usize) -> [Matrix; 2] {
    let all = numbers(literal);
    [0, 1].map(|number| Matrix::of(rows, columns, &all[number * rows * columns..][..rows * columns]))
}

/// `getrf`: what is left makes up the matrix with its rows exchanged.
pub(crate) fn eliminated(run: &Runner<'_>, rng: &mut Rng, case: Case) {
    let Case { kind, family, rows, columns } = case;
    let steps = rows.min(columns);
    let (a, given) = batch(rng, kind, family, rows, columns);
    let module = called(
        &format!("lapack_{}getrf_ffi", kind.letter),
        "",
        &[(kind.name, vec![2, rows, columns])],
        &[(kind.name, vec![2, rows, columns]), ("s32", vec![2, steps]), ("s32", vec![2])],
    );
    let [found, expected] = both(run, &module, &[given]);
    for (number, a) in a.iter().enumerate() {
        let factors = &matrices(&found[0], rows, columns)[number];
        let pivots = numbers(&found[1])[number * steps..][..steps].to_vec();
        let l = Matrix::new(rows, steps, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => Complex64::default(),
            std::cmp::Ordering::Equal => Complex::new(1.0, 0.0),
            std::cmp::Ordering::Greater => factors.at(i, j),
        });
        let u = Matrix::new(steps, columns, |i, j| if i <= j { factors.at(i, j) } else { Complex64::default() });
        let mut permuted = a.clone();
        for (step, pivot) in pivots.iter().enumerate() {
            let pivot = pivot.re as usize - 1;
            assert!((step..rows).contains(&pivot));
            (0..columns).for_each(|column| permuted.elements.swap(step * columns + column, pivot * columns + column));
        }
        let largest = l.elements.iter().map(|value| value.norm()).fold(0.0, f64::max);
        assert!(largest <= 1.5, "{case:?}: {largest}");
        let near = 10.0 * rows.max(columns) as f64 * kind.epsilon * a.norm().max(u.norm());
        let far = l.times(&u).far(&permuted);
        assert!(far <= near, "{case:?}: {far} {near}");
        // Where rounding decides nothing pivots and zeros are the same.
        if [2, 3, 4].contains(&((family + 3 * number) % FAMILIES)) {
            let one = |results: &[Literal]| {
                (numbers(&results[1])[number * steps..][..steps].to_vec(), numbers(&results[2])[number])
            };
            assert_eq!(one(&found), one(&expected), "{case:?}");
        }
    }
}

/// `geqrf`, `orgqr` and `ormqr`: two factors make up the matrix, and the product of reflections is the same however it is asked for.
pub(crate) fn reflected(run: &Runner<'_>, rng: &mut Rng, case: Case) {
    let Case { kind, family, rows, columns } = case;
    let steps = rows.min(columns);
    let (a, given) = batch(rng, kind, family, rows, columns);
    let of = |routine: &str| format!("lapack_{}{routine}_ffi", kind.letter);
    let (square, triangle) = (vec![2, rows, columns], vec![2, steps]);
    let module = called(
        &of("geqrf"),
        "",
        &[(kind.name, square.clone())],
        &[(kind.name, square.clone()), (kind.name, triangle.clone())],
    );
    let [found, expected] = both(run, &module, std::slice::from_ref(&given));
    let near = |number: usize| 10.0 * rows.max(columns) as f64 * kind.epsilon * a[number].norm();
    // Reflections are unique: where nothing is nearly zero these are the evaluator's.
    let is_plain = [0, 1].contains(&family);
    let far = matrices(&found[0], rows, columns)[0].far(&matrices(&expected[0], rows, columns)[0]);
    assert!(!is_plain || far <= 100.0 * near(0), "{case:?}: {far}");

    let (orgqr, ormqr) = if kind.is_complex() { ("ungqr", "unmqr") } else { ("orgqr", "ormqr") };
    let packed = matrices(&found[0], rows, columns);
    let vectors = literal(kind, &[0, 1].map(|number| Matrix::new(rows, steps, |i, j| packed[number].at(i, j))));
    let module = called(
        &of(orgqr),
        "",
        &[(kind.name, vec![2, rows, steps]), (kind.name, triangle.clone())],
        &[(kind.name, vec![2, rows, steps])],
    );
    let [made, _] = both(run, &module, &[vectors.clone(), found[1].clone()]);
    let q = matrices(&made[0], rows, steps);
    // The whole product, by way of another routine.
    let identity = literal(kind, &[Matrix::identity(rows, rows), Matrix::identity(rows, rows)]);
    let mut products = Vec::new();
    let other = [(true, true), (false, false), (false, true)][family % 3];
    for (left, transpose) in [(true, false), other] {
        let module = called(
            &of(ormqr),
            &format!("left = {left}, transpose = {transpose}"),
            &[(kind.name, vec![2, rows, steps]), (kind.name, triangle.clone()), (kind.name, vec![2, rows, rows])],
            &[(kind.name, vec![2, rows, rows])],
        );
        let [made, _] = both(run, &module, &[vectors.clone(), found[1].clone(), identity.clone()]);
        products.push(matrices(&made[0], rows, rows));
    }
    for number in 0..2 {
        let r = Matrix::new(steps, columns, |i, j| if i <= j { packed[number].at(i, j) } else { Complex64::default() });
        let far = q[number].times(&r).far(&a[number]);
        assert!(far <= near(number), "{case:?}: {far} {}", near(number));
        let bound = 10.0 * rows as f64 * kind.epsilon;
        assert!(q[number].far_from_orthonormal() <= bound, "{case:?}");
        let whole = &products[0][number];
        assert!(whole.far_from_orthonormal() <= bound);
        assert!(Matrix::new(rows, steps, |i, j| whole.at(i, j)).far(&q[number]) <= bound);
        let expected = if other.1 { whole.adjoint() } else { whole.clone() };
        assert!(products[1][number].far(&expected) <= bound, "{case:?}");
    }
}

/// `geqp3`: the columns in order of length are the product of reflections and a triangle.
pub(crate) fn pivoted(run: &Runner<'_>, rng: &mut Rng, case: Case) {
    let Case { kind, family, rows, columns } = case;
    let steps = rows.min(columns);
    let (a, given) = batch(rng, kind, family, rows, columns);
    let shape = vec![2, rows, columns];
    let results = [(kind.name, shape.clone()), ("s32", vec![2, columns]), (kind.name, vec![2, steps])];
    let module = called(&format!("lapack_{}geqp3_ffi", kind.letter), "", &[(kind.name, shape)], &results);
    let [found, _] = both(run, &module, &[given]);
    let packed = matrices(&found[0], rows, columns);
    let taus = numbers(&found[2]);
    for number in 0..2 {
        let order: Vec<usize> =
            numbers(&found[1])[number * columns..][..columns].iter().map(|at| at.re as usize - 1).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..columns));
        let permuted = Matrix::new(rows, columns, |i, j| a[number].at(i, order[j]));
        let r = Matrix::new(rows, columns, |i, j| if i <= j { packed[number].at(i, j) } else { Complex64::default() });
        let reflect = |c: Matrix, step: usize| {
            let v = Matrix::new(rows, 1, |i, _| match i.cmp(&step) {
                std::cmp::Ordering::Less => Complex64::default(),
                std::cmp::Ordering::Equal => Complex::new(1.0, 0.0),
                std::cmp::Ordering::Greater => packed[number].at(i, step),
            });
            let inner = v.adjoint().times(&c);
            let less = v.times(&inner);
            Matrix::new(rows, c.columns, |i, j| c.at(i, j) - taus[number * steps + step] * less.at(i, j))
        };
        let far = (0..steps).rev().fold(r, reflect).far(&permuted);
        let near = 10.0 * rows.max(columns) as f64 * kind.epsilon * a[number].norm();
        assert!(far <= near, "{case:?}: {far} {near}");
        let lengths: Vec<f64> = (0..steps).map(|step| packed[number].at(step, step).norm()).collect();
        assert!(lengths.windows(2).all(|pair| pair[1] <= pair[0] + near), "{lengths:?}");
    }
}

/// `syevd`: values and vectors make up the matrix.
pub(crate) fn hermitian(run: &Runner<'_>, rng: &mut Rng, case: Case) {
    let Case { kind, family, rows: order, columns: _ } = case;
    let (given, operand) = batch(rng, kind, family, order, order);
    let square = vec![2, order, order];
    let routine = if kind.is_complex() { "heevd" } else { "syevd" };
    let lower = family % 2 == 0;
    let module = called(
        &format!("lapack_{}{routine}_ffi", kind.letter),
        &format!("mode = 86 : ui8, uplo = {} : ui8", if lower { 76 } else { 85 }),
        &[(kind.name, square.clone())],
        &[(kind.name, square), (kind.real, vec![2, order]), ("s32", vec![2])],
    );
    let [found, expected] = both(run, &module, &[operand]);
    assert_eq!(numbers(&found[2]), numbers(&expected[2]));
    let vectors = matrices(&found[0], order, order);
    for number in 0..2 {
        let a = Matrix::new(order, order, |i, j| match (i.cmp(&j), lower) {
            (std::cmp::Ordering::Equal, _) => Complex::new(given[number].at(i, i).re, 0.0),
            (std::cmp::Ordering::Greater, true) | (std::cmp::Ordering::Less, false) => given[number].at(i, j),
            _ => given[number].at(j, i).conj(),
        });
        let of = |results: &[Literal]| numbers(&results[1])[number * order..][..order].to_vec();
        let (values, expected) = (of(&found), of(&expected));
        let near = 10.0 * order as f64 * kind.epsilon;
        let v = &vectors[number];
        let scaled = Matrix::new(order, order, |i, j| v.at(i, j) * values[j]);
        let far = scaled.times(&v.adjoint()).far(&a);
        assert!(far <= near * a.norm(), "{case:?}: {far} {}", near * a.norm());
        assert!(v.far_from_orthonormal() <= near, "{case:?}: {}", v.far_from_orthonormal());
        assert!(values.windows(2).all(|pair| pair[0].re <= pair[1].re));
        let far = values.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(far <= near * a.norm(), "{case:?}: {far}");
    }
}

/// `gesdd` and `gesvd`: values and vectors make up the matrix.
pub(crate) fn singular(run: &Runner<'_>, rng: &mut Rng, case: Case) {
    let Case { kind, family, rows, columns } = case;
    let count = rows.min(columns);
    let (a, operand) = batch(rng, kind, family, rows, columns);
    let mode = [b'A', b'S', b'N'][(family + rows) % 3];
    let (left, right) = if mode == b'A' { (rows, columns) } else { (count, count) };
    let module = called(
        &format!("lapack_{}{}_ffi", kind.letter, if family % 2 == 0 { "gesdd" } else { "gesvd" }),
        &format!("mode = {mode} : ui8"),
        &[(kind.name, vec![2, rows, columns])],
        &[
            (kind.name, vec![2, rows, columns]),
            (kind.real, vec![2, count]),
            (kind.name, vec![2, rows, left]),
            (kind.name, vec![2, right, columns]),
            ("s32", vec![2]),
        ],
    );
    let [found, expected] = both(run, &module, &[operand]);
    assert_eq!(numbers(&found[4]), numbers(&expected[4]), "{case:?}");
    let (u, v) = (matrices(&found[2], rows, left), matrices(&found[3], right, columns));
    for number in 0..2 {
        let of = |results: &[Literal]| numbers(&results[1])[number * count..][..count].to_vec();
        let (values, expected) = (of(&found), of(&expected));
        let near = 10.0 * rows.max(columns) as f64 * kind.epsilon;
        let norm = a[number].norm();
        let far = values.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(far <= near * norm, "{case:?}: {far}");
        assert!(values.windows(2).all(|pair| pair[0].re >= pair[1].re) && values.iter().all(|value| value.re >= 0.0));
        if mode == b'N' {
            continue;
        }
        let (u, v) = (&u[number], &v[number]);
        let scaled = Matrix::new(rows, count, |i, j| u.at(i, j) * values[j]);
        let far = scaled.times(&Matrix::new(count, columns, |i, j| v.at(i, j))).far(&a[number]);
        assert!(far <= near * norm, "{case:?}: {far} {}", near * norm);
        let far = u.far_from_orthonormal().max(v.adjoint().far_from_orthonormal());
        assert!(far <= near, "{case:?}: {far} {near}");
    }
}

/// `gehrd` and `sytrd`: what has zeros below, or on both sides of, three diagonals is similar to the matrix.
pub(crate) fn condensed(run: &Runner<'_>, rng: &mut Rng, case: Case) {
    let Case { kind, family, rows: order, .. } = case;
    let (a, operand) = batch(rng, kind, family, order, order);
    let (square, line) = (vec![2, order, order], vec![2, order - 1]);
    let of = |routine: &str| format!("lapack_{}{routine}_ffi", kind.letter);
    let module = called(
        &of("gehrd"),
        &format!("low = 1 : i32, high = {order} : i32"),
        &[(kind.name, square.clone())],
        &[(kind.name, square.clone()), (kind.name, line.clone()), ("s32", vec![2])],
    );
    let [found, _] = both(run, &module, std::slice::from_ref(&operand));
    let lower = family % 2 == 0;
    let module = called(
        &of(if kind.is_complex() { "hetrd" } else { "sytrd" }),
        &format!("uplo = {} : ui8", if lower { 76 } else { 85 }),
        &[(kind.name, square.clone())],
        &[
            (kind.name, square),
            (kind.real, vec![2, order]),
            (kind.real, line.clone()),
            (kind.name, line),
            ("s32", vec![2]),
        ],
    );
    let [tridiagonal, expected] = both(run, &module, &[operand]);
    for number in 0..2 {
        let near = 10.0 * order as f64 * kind.epsilon * a[number].norm();
        let packed = &matrices(&found[0], order, order)[number];
        let taus = &numbers(&found[1])[number * (order - 1)..][..order - 1];
        let below = |i: usize, j: usize| i > j + 1;
        let h = Matrix::new(order, order, |i, j| if below(i, j) { Complex64::default() } else { packed.at(i, j) });
        let reflections = taus.iter().enumerate().map(|(step, tau)| {
            let v = Matrix::new(order, 1, |i, _| match i.cmp(&(step + 1)) {
                std::cmp::Ordering::Less => Complex64::default(),
                std::cmp::Ordering::Equal => Complex::new(1.0, 0.0),
                std::cmp::Ordering::Greater => packed.at(i, step),
            });
            let product = v.times(&v.adjoint());
            Matrix::new(order, order, |i, j| Matrix::identity(order, order).at(i, j) - tau * product.at(i, j))
        });
        let q = reflections.fold(Matrix::identity(order, order), |q, h| q.times(&h));
        let far = q.times(&h).times(&q.adjoint()).far(&a[number]);
        assert!(far <= near, "{case:?}: {far} {near}");
        assert!(q.far_from_orthonormal() <= 10.0 * order as f64 * kind.epsilon, "{case:?}");
        // Of nothing that is nearly zero the diagonals are the evaluator's.
        if number == 0 && [0, 1].contains(&family) {
            for result in 1..3 {
                let [found, expected] = [&tridiagonal, &expected].map(|results| numbers(&results[result]));
                let count = found.len() / 2;
                let far = found.iter().zip(&expected).take(count).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
                assert!(far <= 1000.0 * near, "{case:?}: {far} {near}");
            }
        }
    }
}

/// `gtsv`: what is left of the diagonals and the unknowns are the evaluator's.
pub(crate) fn tridiagonal(run: &Runner<'_>, rng: &mut Rng, case: Case) {
    let Case { kind, family, rows: order, columns } = case;
    let mut line = |family: usize| matrix(rng, kind, family, 2, order).elements;
    // Some have a zero on the diagonal, some nothing at all in the first column.
    let family = [0, 8][family % 2];
    let (below, mut diagonal, above) = (line(family), line(family), line(family));
    if family == 0 {
        diagonal[0] = Complex64::default();
    }
    let b = matrix(rng, kind, 0, 2 * order, columns).elements;
    let shapes = [vec![2, order], vec![2, order], vec![2, order], vec![2, order, columns]];
    let named: Vec<(&str, Vec<usize>)> = shapes.iter().map(|extents| (kind.name, extents.clone())).collect();
    let results = [&named[..], &[("s32", vec![2])]].concat();
    let module = called(&format!("lapack_{}gtsv_ffi", kind.letter), "", &named, &results);
    let operands: Vec<Literal> = [below, diagonal, above, b]
        .iter()
        .zip(&shapes)
        .map(|(values, extents)| kind.literal(extents, values))
        .collect();
    let [found, expected] = both(run, &module, &operands);
    assert_eq!(numbers(&found[4]), numbers(&expected[4]));
    for (result, shape) in shapes.iter().enumerate() {
        let (found, expected) = (numbers(&found[result]), numbers(&expected[result]));
        let largest = expected.iter().map(|value| value.norm()).fold(1.0, f64::max);
        let far = found.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        // What a small pivot makes large has errors as large.
        let near = 1000.0 * order as f64 * kind.epsilon * largest * largest;
        assert!(far <= near, "{case:?} {result} {shape:?}: {far} {near} {found:?} {expected:?}");
    }
}

/// What the runner gives, and the evaluator.
fn both(run: &Runner<'_>, module: &Module, operands: &[Literal]) -> [Vec<Literal>; 2] {
    [run(module, operands), evaluate(module, operands).unwrap_or_else(|found| panic!("{found}"))]
}
