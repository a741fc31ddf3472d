//! Time of composing and simplifying maps, by the number of maps composed.
//!
//! `cargo bench -p weft-indexing --bench maps` first prints microseconds of one composition with simplification for each pair
//! of `fusions.txt`, and of chains of reshapes of 10, 100 and 1,000 maps with the size of their result; then come criterion's
//! groups. A figure of the tables is the quickest of seven batches.

#![allow(clippy::print_stdout, reason = "a table on the terminal is what this program is for")]

#[path = "../../affine/tests/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use support::chain::Op;
use support::random::Random;
use weft_indexing::{Expr, IndexingMap};

/// How many reshapes are composed.
const LENGTHS: [usize; 3] = [10, 100, 1000];
/// The elements of every tensor of a chain: 5040 has many factorizations, few of them aligned.
const ELEMENTS: i64 = 5040;

fn main() {
    let fusions = fusions();
    println!("{:<44}{:>12}", "composed and simplified", "us");
    let mut all: Vec<f64> = Vec::new();
    for (name, first, then) in &fusions {
        let micros = quickest(&mut || composed(first, then)).as_nanos() as f64 / 1000.0;
        all.push(micros);
        println!("{name:<44}{micros:>12.2}");
    }
    all.sort_by(f64::total_cmp);
    println!("{:<44}{:>12.2}", "median", all[all.len() / 2]);
    println!("{:<44}{:>12.2}\n", "most", all[all.len() - 1]);
    println!("{:<24}{:>12}{:>16}{:>16}", "reshapes composed", "us each", "nodes of result", "result");
    for length in LENGTHS {
        let chain = reshapes(length);
        let run = || IndexingMap::compose_in_order(&chain).expect("shapes follow one another");
        let took = quickest(&mut || {
            run();
        });
        let result = run();
        let nodes: usize = result.results().iter().map(Expr::node_count).sum();
        let each = took.as_nanos() as f64 / 1000.0 / length as f64;
        println!("{length:<24}{each:>12.2}{nodes:>16}    {result}");
    }

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("compose and simplify");
    for (name, first, then) in &fusions {
        group.bench_function(name, |b| b.iter(|| composed(black_box(first), black_box(then))));
    }
    group.finish();
    let mut group = criterion.benchmark_group("compose reshapes");
    for length in LENGTHS {
        let chain = reshapes(length);
        group.throughput(criterion::Throughput::Elements(length as u64));
        group.bench_with_input(BenchmarkId::from_parameter(length), &chain, |b, chain| {
            b.iter(|| IndexingMap::compose_in_order(black_box(chain)))
        });
    }
    group.finish();
    criterion.final_summary();
}

fn composed(first: &IndexingMap, then: &IndexingMap) {
    let mut both = first.then(then).expect("the second map takes what the first one gives");
    both.simplify();
    black_box(both);
}

/// The quickest of seven batches of at least two milliseconds, for one call.
fn quickest(call: &mut dyn FnMut()) -> Duration {
    let batch = |n: u32, call: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..n).for_each(|_| call());
        start.elapsed()
    };
    let mut n = 1;
    while batch(n, call) < Duration::from_millis(2) {
        n *= 2;
    }
    (0..7).map(|_| batch(n, call) / n).min().unwrap_or_default()
}

fn fusions() -> Vec<(String, IndexingMap, IndexingMap)> {
    let text = include_str!("fusions.txt");
    let cases = text.split("\n\n").map(|case| case.lines().filter(|line| !line.starts_with('#')));
    let read = |text: Option<&str>| -> IndexingMap {
        text.and_then(|text| text.parse().ok()).expect("each case has a name and two maps")
    };
    cases
        .map(|mut lines| {
            let name = lines.next().unwrap_or_default().to_owned();
            (name, read(lines.next()), read(lines.next()))
        })
        .collect()
}

/// A chain of reshapes between random shapes, from result to operand, that ends with the shape it began with.
fn reshapes(length: usize) -> Vec<IndexingMap> {
    let mut random = Random::new(5);
    let first = shape(&mut random);
    let mut shapes = vec![first.clone()];
    shapes.extend((1..length).map(|_| shape(&mut random)));
    shapes.push(first);
    let map = |pair: &[Vec<i64>]| {
        let to_result = Op::reshape(pair[0].clone(), pair[1].clone()).to_result();
        IndexingMap::of_extents(&pair[0], &[], to_result.into_results()).expect("the results are over these variables")
    };
    shapes.windows(2).map(map).collect()
}

/// One to five extents.
fn shape(random: &mut Random) -> Vec<i64> {
    let mut left = ELEMENTS;
    let mut extents = Vec::new();
    for _ in 1..1 + random.below(5) {
        let divisors: Vec<i64> = (2..=left).filter(|n| left % n == 0).collect();
        if divisors.is_empty() {
            break;
        }
        let extent = random.pick(&divisors);
        extents.push(extent);
        left /= extent;
    }
    extents.push(left);
    extents
}
