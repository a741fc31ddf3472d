//! Cost of one composition by the length of the chain: time a step and nodes of the map, after 10, 30, 100 and 1,000
//! steps.
//!
//! `cargo bench -p weft-affine --bench growth`; after `--`, a number of steps where 1,000 are too many, words that the names
//! of the chains must hold, and `--directed` to go without the e-graph.
//!
//! A step is one composition: substituting the results into the next operation's map and simplifying all its results with one
//! simplifier, a fresh one for each step. Where the results move on, the domain stays, and the same is measured with one
//! simplifier *kept* for the whole chain, as a compiler would. A chain stops early where its map has grown beyond [`MAX_NODES`] or a step takes longer than
//! [`LONGEST_STEP`].

#![allow(clippy::print_stdout, reason = "a table on the terminal is what this program is for")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use support::chain::{Op, Shape, index_ranges, shape, simplified};
use support::random::Random;
use weft_affine::{AffineMap, Config, Expr, Ranges, Simplifier};

const CHECKPOINTS: [usize; 4] = [10, 30, 100, 1000];
/// Chains of each kind, each with its own seed.
const CHAINS: u64 = 3;
const MAX_NODES: usize = 100_000;
const LONGEST_STEP: Duration = Duration::from_secs(2);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let steps = arguments.iter().filter_map(|argument| argument.parse().ok()).max().unwrap_or(1000);
    let words: Vec<&String> = arguments.iter().filter(|argument| argument.parse::<usize>().is_err()).collect();
    let config =
        if std::env::args().any(|argument| argument == "--directed") { Config::directed() } else { Config::default() };
    let run = |name: &str, side: Side, chain: &dyn Fn(Random) -> Chain| {
        if words.iter().all(|word| name.contains(word.as_str())) {
            report(name, steps, side, config, chain);
        }
    };
    println!(
        "{:<58}{:>6} {:>11} {:>11} {:>8} {:>7} {:>7}",
        "chain", "steps", "median", "mean", "results", "nodes", "most"
    );
    let sides = [(Side::Results, "results"), (Side::ResultsKept, "kept results"), (Side::Variables, "variables")];
    for (side, grows) in sides {
        for rank in [None, Some(2), Some(3), Some(4)] {
            let of_rank = rank.map_or_else(|| "rank 1 to 5".to_owned(), |rank| format!("rank {rank}"));
            let name = |what: &str| format!("{what}, {of_rank}, {grows} move");
            run(&name("reshape, 5040"), side, &|r| reshapes(r, 5040, rank));
            run(&name("reshape, transpose, 32768"), side, &|r| transposes(r, 32768, rank));
        }
        run(&format!("reshape, transpose, 1440, {grows} move"), side, &|r| transposes(r, 1440, None));
    }
}

/// Which side of the map grows.
#[derive(Copy, Clone)]
enum Side {
    /// The results move on; the variables stay the index of the first tensor.
    Results,
    /// The same, with one simplifier for all steps.
    ResultsKept,
    /// The variables are replaced; the results stay the index of the first tensor.
    Variables,
}

type Chain = Box<dyn Iterator<Item = Op>>;

fn reshapes(mut random: Random, elements: i64, rank: Option<usize>) -> Chain {
    let mut last = of_rank(&mut random, elements, rank);
    Box::new(std::iter::repeat_with(move || {
        let next = of_rank(&mut random, elements, rank);
        Op::reshape(std::mem::replace(&mut last, next.clone()), next)
    }))
}

/// Reshapes and transposes in turn.
fn transposes(mut random: Random, elements: i64, rank: Option<usize>) -> Chain {
    let mut last = of_rank(&mut random, elements, rank);
    let mut turn = false;
    Box::new(std::iter::repeat_with(move || {
        turn = !turn;
        let op = if turn {
            let next = of_rank(&mut random, elements, rank);
            Op::reshape(last.clone(), next)
        } else {
            let mut permutation: Vec<usize> = (0..last.len()).collect();
            random.shuffle(&mut permutation);
            Op::transpose(last.clone(), permutation)
        };
        last = op.result.clone();
        op
    }))
}

fn of_rank(random: &mut Random, elements: i64, rank: Option<usize>) -> Shape {
    loop {
        let shape = shape(random, elements);
        if shape.len() <= 5 && rank.is_none_or(|rank| shape.len() == rank) {
            return shape;
        }
    }
}

/// What was measured of one step.
struct Step {
    time: Duration,
    nodes: usize,
    results: usize,
}

/// Runs several chains of a kind and prints a line for each window of steps.
fn report(name: &str, steps: usize, side: Side, config: Config, chain: impl Fn(Random) -> Chain) {
    let runs: Vec<Vec<Step>> = (0..CHAINS).map(|seed| walk(chain(Random::new(seed)), steps, side, config)).collect();
    let mut first = 0;
    for last in CHECKPOINTS.into_iter().filter(|last| *last <= steps) {
        let window: Vec<&Step> = runs.iter().flat_map(|run| run.iter().take(last).skip(first)).collect();
        let finished = runs.iter().filter(|run| run.len() >= last).count();
        let mut times: Vec<Duration> = window.iter().map(|step| step.time).collect();
        times.sort();
        if let (Some(median), count) = (times.get(times.len() / 2), times.len() as u32) {
            let mean = times.iter().sum::<Duration>() / count;
            let results = window.iter().map(|step| step.results).sum::<usize>() as f64 / f64::from(count);
            let ends: Vec<usize> =
                runs.iter().filter_map(|run| run.iter().take(last).next_back()).map(|s| s.nodes).collect();
            let nodes = ends.iter().sum::<usize>() / ends.len().max(1);
            let most = window.iter().map(|step| step.nodes).max().unwrap_or(0);
            println!(
                "{name:<58}{last:>6} {:>8.1} µs {:>8.1} µs {results:>8.1} {nodes:>7} {most:>7}{}",
                median.as_secs_f64() * 1e6,
                mean.as_secs_f64() * 1e6,
                if finished < runs.len() { format!("  {} of {CHAINS} got there", finished) } else { String::new() },
            );
        }
        first = last;
    }
}

/// Composes operation after operation, starting with the index of the first operand.
fn walk(chain: Chain, steps: usize, side: Side, config: Config) -> Vec<Step> {
    let mut walked: Option<(AffineMap, Ranges, Simplifier)> = None;
    let mut measured = Vec::new();
    for op in chain.take(steps) {
        let (map, ranges, simplifier) = walked.get_or_insert_with(|| {
            let dims = u32::try_from(op.operand.len()).expect("tensors have few dimensions");
            let ranges = index_ranges(&op.operand);
            let simplifier = Simplifier::with_config(&ranges, &[], config);
            (AffineMap::identity(dims), ranges, simplifier)
        });
        let next = match side {
            Side::Results | Side::ResultsKept => op.to_result(),
            Side::Variables => op.to_operand(),
        };
        let start = Instant::now();
        let composed = match side {
            Side::Results | Side::ResultsKept => map.then(&next),
            Side::Variables => next.then(map),
        };
        let composed = composed.expect("shapes follow one another and the numbers are small");
        if let Side::Variables = side {
            *ranges = index_ranges(&op.result);
        }
        if !matches!(side, Side::ResultsKept) {
            *simplifier = Simplifier::with_config(ranges, &[], config);
        }
        *map = simplified(simplifier, &composed);
        let time = start.elapsed();
        let nodes = node_count(map.results());
        measured.push(Step { time, nodes, results: map.results().len() });
        if nodes > MAX_NODES || time > LONGEST_STEP {
            break;
        }
    }
    measured
}

/// Distinct sums that the results are made of, themselves included.
fn node_count(results: &[Expr]) -> usize {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<&Expr> = results.iter().collect();
    while let Some(e) = waiting.pop() {
        if seen.insert(e.structural_hash()) {
            waiting.extend(e.terms().iter().filter_map(|t| t.atom.argument()));
        }
    }
    seen.len()
}
