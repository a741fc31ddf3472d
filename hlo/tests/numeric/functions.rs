//! Functions of `f64` and `c128` against values in several hundred bits (`functions.txt`, written by `functions.py`).

use std::collections::BTreeMap;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{Data, Literal};
use weft_hlo::text::parse;

/// Half a unit in the last place, and what errors of pairs and the tables' thousandths come to.
const MOST: f64 = 0.515;

/// A number and the one it should be: the nearest `f64`, and how far the value lies from it, in units in the last place.
struct Known {
    nearest: f64,
    rest: f64,
}

/// A number by its bits.
fn number(word: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(word, 16).unwrap())
}

impl Known {
    fn read(words: &[&str]) -> Self {
        Known { nearest: number(words[0]), rest: words[1].parse::<f64>().unwrap() / 1000.0 }
    }

    /// How far a result is from the value, in units in the last place.
    fn error(&self, found: f64) -> f64 {
        if !self.nearest.is_finite() || !found.is_finite() {
            return if found == self.nearest { 0.0 } else { f64::INFINITY };
        }
        let power = f64::from_bits(self.nearest.abs().max(f64::MIN_POSITIVE).to_bits() & 0x7FF << 52);
        // Of powers of two below 2^-970 a unit is none that `f64` has; differences of what is so small are exact in any case.
        let scale = if power < 1e-290 { 2f64.powi(200) } else { 1.0 };
        ((found * scale - self.nearest * scale) / (power * scale * f64::EPSILON) - self.rest).abs()
    }
}

/// Of one operation: the arguments, each of as many numbers, and the parts of results.
#[derive(Default)]
struct Table {
    arguments: Vec<Vec<f64>>,
    parts: Vec<Vec<Known>>,
}

fn tables() -> BTreeMap<(&'static str, &'static str), Table> {
    let mut tables: BTreeMap<(&str, &str), Table> = BTreeMap::new();
    for line in include_str!("functions.txt").lines().filter(|line| !line.starts_with("roots")) {
        let words: Vec<&str> = line.split(' ').collect();
        let (kind, name) = (words[0], words[1]);
        let parts = if kind == "c128" { 2 } else { 1 };
        let (arguments, results) = words[2..].split_at(words.len() - 2 - 2 * parts);
        let table = tables.entry((kind, name)).or_default();
        table.arguments.push(arguments.iter().map(|word| number(word)).collect());
        table.parts.push(results.chunks(2).map(Known::read).collect());
    }
    tables
}

/// The numbers at one place of each list of arguments, or pairs of them.
fn column(table: &Table, first: usize, is_complex: bool) -> Literal {
    let count = table.arguments.len() as i64;
    let rows = table.arguments.iter();
    match is_complex {
        true => {
            let point = |row: &Vec<f64>| num_complex::Complex::new(row[first], row[first + 1]);
            Literal::array([count], rows.map(point).collect::<Vec<_>>())
        }
        false => Literal::array([count], rows.map(|row| row[first]).collect::<Vec<_>>()),
    }
}

#[test]
fn wide_functions_are_rounded_once() {
    let mut report = Vec::new();
    for ((kind, name), table) in tables() {
        let is_complex = kind == "c128" || name == "abs";
        let count = table.arguments[0].len() / if is_complex { 2 } else { 1 };
        let inputs: Vec<Literal> =
            (0..count).map(|index| column(&table, if is_complex { 2 * index } else { index }, is_complex)).collect();
        let of = |element: &str| format!("{element}[{}]", table.arguments.len());
        let (argument, result) =
            (of(if is_complex { "c128" } else { "f64" }), of(if kind == "c128" { "c128" } else { "f64" }));
        let lines = match count {
            1 => format!("x = {argument} parameter(0)\nROOT r = {result} {name}(x)"),
            _ => format!("x = {argument} parameter(0)\ny = {argument} parameter(1)\nROOT r = {result} {name}(x, y)"),
        };
        let results = evaluate(&parse(&format!("HloModule m\n\nENTRY e {{\n{lines}\n}}\n")).unwrap(), &inputs).unwrap();
        let found: Vec<Vec<f64>> = match &results[0].data {
            Data::F64(values) => values.iter().map(|&value| vec![value]).collect(),
            Data::C128(values) => values.iter().map(|value| vec![value.re, value.im]).collect(),
            other => panic!("{other:?}"),
        };
        for (arguments, (found, known)) in table.arguments.iter().zip(found.iter().zip(&table.parts)) {
            for (found, known) in found.iter().zip(known) {
                let error = known.error(*found);
                if error > MOST {
                    report
                        .push(format!("{kind} {name} of {arguments:?} is {found:?} for {:?}: {error}", known.nearest));
                }
            }
        }
    }
    assert!(report.is_empty(), "{}:\n{}", report.len(), report[..report.len().min(20)].join("\n"));
}

/// The transform of a one in the second place is the roots of unity; for prime lengths nothing else is rounded.
#[test]
fn roots_of_unity_are_rounded_once() {
    for line in include_str!("functions.txt").lines().filter_map(|line| line.strip_prefix("roots ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let length: usize = words[0].parse().unwrap();
        let mut values = vec![num_complex::Complex::default(); length];
        values[1] = num_complex::Complex::new(1.0, 0.0);
        let shape = format!("c128[{length}]");
        let text = format!(
            "HloModule m\n\nENTRY e {{\nx = {shape} parameter(0)\nROOT r = {shape} fft(x), fft_type=FFT, fft_length={{{length}}}\n}}\n"
        );
        let results = evaluate(&parse(&text).unwrap(), &[Literal::array([length as i64], values)]).unwrap();
        let Data::C128(found) = &results[0].data else { panic!() };
        for (found, known) in found.iter().zip(words[1..].chunks(4)) {
            let errors = [Known::read(&known[..2]).error(found.re), Known::read(&known[2..]).error(found.im)];
            assert!(errors.iter().all(|&error| error < MOST), "{length}: {found} is off by {errors:?}");
        }
    }
}
