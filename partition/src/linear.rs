//! Products of a constant matrix with a vector in fewer operations than the matrix has elements.
//!
//! Where the elements of two columns are equal but for signs, the two numbers that they are multiplied by are added up first for the rows that have equal signs, and subtracted for the others: each half of the rows has a column
//! less then. The same goes for two rows, whose results are the sum and the difference of two parts. Both in turns take the matrix of a Fourier transform apart as its fast algorithm does (Cooley and Tukey, 1965), that of a prime
//! order into parts that are real, and that of Hadamard into sums alone; nothing of these is known here.

use std::collections::BTreeMap;

/// A product of a constant matrix with a vector as a sequence of operations.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearProgram {
    /// How many numbers the vector has. They are the first values, and each step makes the next one.
    pub inputs: usize,
    /// The operations, of values that are there before them.
    pub steps: Vec<LinearStep>,
    /// The value of each result; nothing where that is zero.
    pub results: Vec<Option<usize>>,
}

/// An operation of a linear program; values by their numbers.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum LinearStep {
    /// A sum.
    Sum([usize; 2]),
    /// A difference.
    Difference([usize; 2]),
    /// A value times a constant.
    Scaled(usize, f64),
    /// A value times a constant, added to another value.
    MultiplyAdd(usize, f64, usize),
}

/// A value, or its negative.
type Signed = (usize, bool);

/// Which rows, or columns, have equal signs in both of a pair: `None` where both are zero.
type Signs = Vec<Option<bool>>;

/// Pairs of columns, or of rows, all of which have equal signs in the same places.
struct Pairs {
    pairs: Vec<[usize; 2]>,
    equal: Vec<bool>,
}

impl LinearProgram {
    /// The program for a matrix of so many columns, row by row. Numbers are taken for finite: nothing is added of those that are multiplied by zero.
    ///
    /// Rounding errors are those of sums of each row's products in some order: nothing is multiplied by two constants, and no sum holds what its results do not.
    pub fn of(elements: &[f64], columns: usize) -> LinearProgram {
        let matrix = elements.chunks(columns.max(1)).map(<[f64]>::to_vec).collect();
        let mut making = Making { steps: Vec::new(), inputs: columns, known: BTreeMap::new() };
        let results = making.product(matrix, (0..columns).map(|input| (input, false)).collect());
        let results = results.into_iter().map(|result| Some(making.positive(result?))).collect();
        LinearProgram { inputs: columns, steps: making.steps, results }
    }

    /// The results for a vector.
    pub fn run(&self, vector: &[f64]) -> Vec<f64> {
        let mut values = vector.to_vec();
        for step in &self.steps {
            values.push(match *step {
                LinearStep::Sum([one, other]) => values[one] + values[other],
                LinearStep::Difference([one, other]) => values[one] - values[other],
                LinearStep::Scaled(value, factor) => values[value] * factor,
                LinearStep::MultiplyAdd(value, factor, sum) => values[value] * factor + values[sum],
            });
        }
        self.results.iter().map(|result| result.map_or(0.0, |result| values[result])).collect()
    }
}

struct Making {
    steps: Vec<LinearStep>,
    inputs: usize,
    /// Steps that are there, by what they do.
    known: BTreeMap<(u8, usize, u64, usize), usize>,
}

impl Making {
    fn add(&mut self, step: LinearStep) -> usize {
        let key = match step {
            LinearStep::Sum([one, other]) => (0, one, 0, other),
            LinearStep::Difference([one, other]) => (1, one, 0, other),
            LinearStep::Scaled(value, factor) => (2, value, factor.to_bits(), 0),
            LinearStep::MultiplyAdd(value, factor, sum) => (3, value, factor.to_bits(), sum),
        };
        let next = self.inputs + self.steps.len();
        let value = *self.known.entry(key).or_insert(next);
        if value == next {
            self.steps.push(step);
        }
        value
    }

    /// The sum of two values, the second taken off where that is said.
    fn sum(&mut self, (one, is_less): Signed, (other, other_is_less): Signed, takes: bool) -> Signed {
        let other_is_less = other_is_less != takes;
        match is_less == other_is_less {
            true => (self.add(LinearStep::Sum([one.min(other), one.max(other)])), is_less),
            false if is_less => (self.add(LinearStep::Difference([other, one])), false),
            false => (self.add(LinearStep::Difference([one, other])), false),
        }
    }

    fn positive(&mut self, (value, is_less): Signed) -> usize {
        if is_less { self.add(LinearStep::Scaled(value, -1.0)) } else { value }
    }

    /// The product of a matrix with a vector.
    fn product(&mut self, mut matrix: Vec<Vec<f64>>, mut vector: Vec<Signed>) -> Vec<Option<Signed>> {
        for column in (0..vector.len()).rev() {
            if matrix.iter().all(|row| row[column] == 0.0) {
                matrix.iter_mut().for_each(|row| {
                    row.remove(column);
                });
                vector.remove(column);
            }
        }
        if vector.is_empty() {
            return vec![None; matrix.len()];
        }
        // Of several rows that are equal but for a sign one is left.
        let mut kept: Vec<usize> = Vec::new();
        let mut same: Vec<(usize, bool)> = Vec::new();
        for (place, row) in matrix.iter().enumerate() {
            let is_same = |other: usize, sign: f64| matrix[other].iter().zip(row).all(|(one, two)| *one == sign * two);
            let find = |sign: f64| kept.iter().position(|other| is_same(*other, sign));
            same.push(match (find(1.0), find(-1.0)) {
                (Some(other), _) => (other, false),
                (_, Some(other)) => (other, true),
                _ => {
                    kept.push(place);
                    (kept.len() - 1, false)
                }
            });
        }
        if kept.len() < matrix.len() {
            let rows = kept.into_iter().map(|row| matrix[row].clone()).collect();
            let made = self.product(rows, vector);
            return same
                .into_iter()
                .map(|(row, turns)| made[row].map(|(value, sign)| (value, sign != turns)))
                .collect();
        }
        let (rows, columns) = (matrix.len(), vector.len());
        let across = pairs(&transposed(&matrix));
        let down = pairs(&matrix);
        let gain = |found: &Option<Pairs>, others: usize| {
            let Some(Pairs { pairs, equal }) = found else { return 0 };
            let halves = if equal.contains(&true) && equal.contains(&false) { 2 } else { 1 };
            (others * pairs.len()).saturating_sub(halves * pairs.len())
        };
        match (gain(&across, rows), gain(&down, columns), across, down) {
            (gain, other, Some(across), _) if gain > 0 && gain >= other => self.by_columns(&matrix, &vector, &across),
            (_, gain, _, Some(down)) if gain > 0 => self.by_rows(&matrix, &vector, &down),
            _ => matrix.iter().map(|row| self.row(row, &vector)).collect(),
        }
    }

    /// The product where pairs of columns are equal but for signs: of the rows with equal signs, and of the others.
    fn by_columns(&mut self, matrix: &[Vec<f64>], vector: &[Signed], found: &Pairs) -> Vec<Option<Signed>> {
        let mut results = vec![None; matrix.len()];
        for half in [true, false] {
            let own: Vec<usize> = (0..matrix.len()).filter(|row| found.equal[*row] == half).collect();
            if own.is_empty() {
                continue;
            }
            let (mut rows, mut numbers) = (vec![Vec::new(); own.len()], Vec::new());
            let mut take = |column: usize, number: Signed| {
                rows.iter_mut().zip(&own).for_each(|(row, place)| row.push(matrix[*place][column]));
                numbers.push(number);
            };
            for &[one, other] in &found.pairs {
                let number = self.sum(vector[one], vector[other], self.takes(matrix, &own, [one, other]));
                take(one, number);
            }
            let is_alone = |column: &usize| !found.pairs.iter().any(|pair| pair.contains(column));
            (0..vector.len()).filter(is_alone).for_each(|column| take(column, vector[column]));
            for (place, result) in own.into_iter().zip(self.product(rows, numbers)) {
                results[place] = result;
            }
        }
        results
    }

    /// Whether the second of two columns is the negative of the first in these rows, where it is not zero.
    fn takes(&self, matrix: &[Vec<f64>], rows: &[usize], [one, other]: [usize; 2]) -> bool {
        rows.iter().any(|row| matrix[*row][one] != 0.0 && matrix[*row][one] == -matrix[*row][other])
    }

    /// The product where pairs of rows are equal but for signs: of the columns with equal signs, and of the others.
    fn by_rows(&mut self, matrix: &[Vec<f64>], vector: &[Signed], found: &Pairs) -> Vec<Option<Signed>> {
        let halves = [true, false].map(|half| {
            let own: Vec<usize> = (0..vector.len()).filter(|column| found.equal[*column] == half).collect();
            let part = |row: usize| own.iter().map(|column| matrix[row][*column]).collect();
            let rows = found.pairs.iter().map(|[one, _]| part(*one)).collect();
            self.product(rows, own.iter().map(|column| vector[*column]).collect())
        });
        let mut results = vec![None; matrix.len()];
        for (place, [one, other]) in found.pairs.iter().enumerate() {
            let [equal, opposite] = [halves[0][place], halves[1][place]];
            let mut both = |takes: bool| match (equal, opposite) {
                (Some(equal), Some(opposite)) => Some(self.sum(equal, opposite, takes)),
                (None, Some((value, sign))) => Some((value, sign != takes)),
                (equal, None) => equal,
            };
            results[*one] = both(false);
            let turned = both(true);
            // Signs that are equal in one place may be opposite for the whole of a pair.
            let equal = (0..vector.len()).find(|column| matrix[*one][*column] != 0.0);
            let turns =
                equal.is_some_and(|column| (matrix[*one][column] == matrix[*other][column]) != found.equal[column]);
            results[*other] = turned.map(|(value, sign)| (value, sign != turns));
        }
        let is_alone = |row: &usize| !found.pairs.iter().any(|pair| pair.contains(row));
        let alone: Vec<usize> = (0..matrix.len()).filter(is_alone).collect();
        let rows: Vec<Vec<f64>> = alone.iter().map(|row| matrix[*row].clone()).collect();
        if !rows.is_empty() {
            let made = self.product(rows, vector.to_vec());
            alone.into_iter().zip(made).for_each(|(row, result)| results[row] = result);
        }
        results
    }

    /// The sum of the products of one row.
    fn row(&mut self, row: &[f64], vector: &[Signed]) -> Option<Signed> {
        let mut products: Vec<(f64, Signed)> = row.iter().copied().zip(vector.iter().copied()).collect();
        products.retain(|(factor, _)| *factor != 0.0);
        // What is not multiplied comes first, as then every product is added to something.
        products.sort_by_key(|(factor, _)| factor.abs() != 1.0);
        let mut sum: Option<Signed> = None;
        for (factor, (value, is_less)) in products {
            let is_less = is_less != (factor < 0.0);
            sum = Some(match sum {
                None if factor.abs() == 1.0 => (value, is_less),
                None => (self.add(LinearStep::Scaled(value, factor.abs())), is_less),
                Some(sum) if factor.abs() == 1.0 => self.sum(sum, (value, is_less), false),
                Some((sum, sign)) => {
                    let factor = if is_less == sign { factor.abs() } else { -factor.abs() };
                    (self.add(LinearStep::MultiplyAdd(value, factor, sum)), sign)
                }
            });
        }
        sum
    }
}

fn transposed(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = matrix.first().map_or(0, Vec::len);
    (0..columns).map(|column| matrix.iter().map(|row| row[column]).collect()).collect()
}

/// The most pairs of lines that are equal but for signs, these in the same places of all of them, or the other way round.
fn pairs(lines: &[Vec<f64>]) -> Option<Pairs> {
    let signs = |one: usize, other: usize| -> Option<Signs> {
        let of =
            |(one, other): (&f64, &f64)| (one.abs() == other.abs()).then_some((*one != 0.0).then_some(one == other));
        lines[one].iter().zip(&lines[other]).map(of).collect()
    };
    let count = lines.len();
    let all: Vec<([usize; 2], Signs)> = (0..count)
        .flat_map(|one| (one + 1..count).map(move |other| [one, other]))
        .filter_map(|pair| Some((pair, signs(pair[0], pair[1])?)))
        .collect();
    let mut best: Option<Pairs> = None;
    for (_, seed) in &all {
        let mut pattern = seed.clone();
        let (mut found, mut is_taken) = (Vec::new(), vec![false; count]);
        for (pair, own) in &all {
            if pair.iter().any(|line| is_taken[*line]) {
                continue;
            }
            let fits = |turns: bool| {
                let is_same = |(known, own): (&Option<bool>, &Option<bool>)| {
                    known.zip(*own).is_none_or(|(known, own)| known == (own != turns))
                };
                pattern.iter().zip(own).all(is_same)
            };
            let Some(turns) = [false, true].into_iter().find(|turns| fits(*turns)) else { continue };
            for (known, own) in pattern.iter_mut().zip(own) {
                *known = known.or(own.map(|own| own != turns));
            }
            found.push(*pair);
            pair.iter().for_each(|line| is_taken[*line] = true);
        }
        if best.as_ref().is_none_or(|best| best.pairs.len() < found.len()) {
            best = Some(Pairs { pairs: found, equal: pattern.into_iter().map(|sign| sign.unwrap_or(true)).collect() });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{LinearProgram, LinearStep};
    use weft_hlo::passes::{FourierMatrix, FourierParts};

    fn dense(elements: &[f64], vector: &[f64]) -> Vec<f64> {
        let row = |row: &[f64]| row.iter().zip(vector).map(|(one, other)| one * other).sum();
        elements.chunks(vector.len()).map(row).collect()
    }

    /// Numbers that no symmetry of a matrix is one of.
    fn numbers(count: usize) -> Vec<f64> {
        (0..count).map(|place| ((place * place + 7) % 31) as f64 / 8.0 - (place as f64).sin()).collect()
    }

    fn check(elements: &[f64], columns: usize) -> LinearProgram {
        let program = LinearProgram::of(elements, columns);
        let vector = numbers(columns);
        let (made, wanted) = (program.run(&vector), dense(elements, &vector));
        assert_eq!(made.len(), wanted.len());
        for (made, wanted) in made.iter().zip(&wanted) {
            assert!((made - wanted).abs() < 1e-12 * (1.0 + columns as f64), "{made} is not {wanted}");
        }
        program
    }

    fn fourier(order: i64, inverse: bool, parts: FourierParts) -> LinearProgram {
        let matrix = FourierMatrix { order, inverse, parts, divisor: 1 };
        check(&matrix.values(), usize::try_from(matrix.columns()).unwrap())
    }

    #[test]
    fn matrices_of_fourier_transforms_are_taken_apart() {
        use FourierParts::{Imaginary, OfComplex, OfReal, Real};
        for order in 1..=32 {
            for (inverse, parts) in
                [(false, OfComplex), (true, OfComplex), (false, OfReal), (true, Real), (false, Imaginary)]
            {
                let program = fourier(order, inverse, parts);
                let elements = usize::try_from(order * order).unwrap();
                assert!(order < 4 || program.steps.len() <= 2 * elements + 4, "{order}: {}", program.steps.len());
            }
        }
    }

    #[test]
    fn powers_of_two_take_as_many_operations_as_butterflies() {
        let counts = [2, 4, 8, 16, 32].map(|order| fourier(order, false, FourierParts::OfComplex).steps.len());
        assert_eq!(counts, [4, 17, 56, 159, 422]);
    }

    #[test]
    fn other_matrices_are_products_and_sums() {
        assert_eq!(LinearProgram::of(&[], 0).run(&[]), []);
        check(&[0.0, 0.0], 2);
        check(&[1.0, 2.0, 3.0, 4.0], 2);
        check(&[1.0, 2.0, -1.0, 2.0, -1.0, -2.0, 0.0, 0.0, 2.0, 1.0], 2);
        check(&[1.0, 0.0, 0.0, -1.0, 0.0, 0.5], 3);
        let hadamard: Vec<f64> =
            (0..256u32).map(|at| if ((at / 16) & (at % 16)).count_ones() % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let program = check(&hadamard, 16);
        assert_eq!(program.steps.len(), 64);
        assert!(program.steps.iter().all(|step| matches!(step, LinearStep::Sum(_) | LinearStep::Difference(_))));
    }

    mod random {
        use super::check;
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn random_matrices_of_few_values_keep_their_products(
                columns in 1..9usize,
                elements in proptest::collection::vec((-2..=2i8).prop_map(f64::from), 1..64)
            ) {
                let whole = elements.len() / columns * columns;
                check(&elements[..whole], columns);
            }
        }
    }
}
