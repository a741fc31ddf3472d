//! Quality and time of simplifying the corpus of ranged expressions; `benches/README.md` says how to run and read it.
//!
//! Without arguments: how many cases are solved with and without the e-graph, the distribution of times, and criterion's
//! groups. With `--table`: the same summary, then one line for each case, which `benches/isl.py` reads.

mod isl;
mod measure;

#[path = "../../tests/quality/corpus.rs"]
mod corpus;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use corpus::{Case, Grade};
use criterion::Criterion;
use measure::{Percentiles, nanoseconds};
use weft_affine::{Config, Expr, Simplifier};

fn simplifier(case: &Case, config: Config) -> Simplifier {
    Simplifier::with_config(&case.ranges, &case.constraints, config)
}

fn simplified(case: &Case, config: Config) -> Expr {
    simplifier(case, config).simplify(&case.expr)
}

/// Nanoseconds of one simplification by a fresh simplifier.
fn cold(case: &Case, config: Config) -> f64 {
    nanoseconds(|| {
        black_box(simplified(black_box(case), config));
    })
}

/// Nanoseconds of asking the same simplifier again.
fn remembered(case: &Case) -> f64 {
    let mut simplifier = simplifier(case, Config::default());
    simplifier.simplify(&case.expr);
    nanoseconds(|| {
        black_box(simplifier.simplify(black_box(&case.expr)));
    })
}

/// How many cases are solved, solved in part and not, and how many hard kinds are solved entirely.
fn quality(cases: &[Case], config: Config) -> String {
    let grades: Vec<Grade> = cases.iter().map(|case| case.grade(simplified(case, config).cost())).collect();
    let count = |wanted: Grade| grades.iter().filter(|grade| **grade == wanted).count();
    let mut kinds: BTreeMap<&str, bool> = BTreeMap::new();
    for (case, grade) in cases.iter().zip(&grades) {
        if let Some(kind) = &case.hard {
            *kinds.entry(kind).or_insert(true) &= *grade == Grade::Solved;
        }
    }
    let hard = kinds.values().filter(|solved| **solved).count();
    let (solved, partly, not) = (count(Grade::Solved), count(Grade::Partly), count(Grade::Not));
    format!("solved/partly/not {solved}/{partly}/{not} of {}, hard kinds {hard} of {}", cases.len(), kinds.len())
}

/// One row of the table: what was measured of a case.
struct Row<'a> {
    case: &'a Case,
    cold: f64,
    directed: f64,
    remembered: f64,
}

impl Row<'_> {
    fn of(case: &Case) -> Row<'_> {
        let (cold, directed) = (cold(case, Config::default()), cold(case, Config::directed()));
        Row { case, cold, directed, remembered: remembered(case) }
    }

    /// Tab-separated: name, hard kind, times in nanoseconds, costs, and the case in isl's notation.
    fn line(&self) -> String {
        let Row { case, cold, directed, remembered } = self;
        let cost = |config| simplified(case, config).cost();
        [
            "case".to_owned(),
            case.name.clone(),
            case.hard.clone().unwrap_or_default(),
            format!("{cold:.1}\t{directed:.1}\t{remembered:.1}"),
            format!("{}\t{}", case.expr.cost(), case.best.cost()),
            format!("{}\t{}", cost(Config::default()), cost(Config::directed())),
            isl::function(case),
            isl::domain(case),
        ]
        .join("\t")
    }
}

#[allow(clippy::print_stdout, reason = "a bench's figures are its output")]
fn summary(cases: &[Case], rows: &[Row<'_>]) {
    let proved = cases.iter().filter(|case| case.checked.starts_with("all")).count();
    println!("{} cases, {proved} best forms compared on every point of the domain", cases.len());
    println!("everything on:              {}", quality(cases, Config::default()));
    println!("no trial of points:         {}", quality(cases, Config { max_points_work: 0, ..Config::default() }));
    println!("no e-graph:                 {}", quality(cases, Config { escalate_at: u32::MAX, ..Config::default() }));
    println!("the directed pass alone:    {}", quality(cases, Config::directed()));
    let times = |f: fn(&Row<'_>) -> f64| Percentiles::of(rows.iter().map(f).collect());
    println!("nanoseconds, cold:                {}", times(|row| row.cold));
    println!("nanoseconds, cold, directed pass: {}", times(|row| row.directed));
    println!("nanoseconds, remembered:          {}", times(|row| row.remembered));
}

/// One pass over the whole corpus, and the slowest case by itself.
fn groups(cases: &[Case], rows: &[Row<'_>]) {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("simplify");
    group.sample_size(10).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_millis(500));
    for (name, config) in [("corpus", Config::default()), ("corpus, directed pass", Config::directed())] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| cases.iter().for_each(|case| drop(black_box(simplified(case, config)))));
        });
    }
    if let Some(slowest) = rows.iter().max_by(|a, b| a.cold.total_cmp(&b.cold)) {
        let name = format!("slowest: {}", slowest.case.name);
        group.bench_function(name, |bencher| bencher.iter(|| simplified(slowest.case, Config::default())));
    }
    group.finish();
}

#[allow(clippy::print_stdout, reason = "a bench's figures are its output")]
fn main() {
    let cases = corpus::read(corpus::TEXT).expect("the corpus can be read, as its test shows");
    let asked = |name: &str| std::env::args().any(|argument| argument == name);
    if !asked("--bench") && !asked("--table") {
        // `cargo test --benches` asks only whether the bench runs.
        println!("{}", quality(&cases, Config::default()));
        return;
    }
    let rows: Vec<Row<'_>> = cases.iter().map(Row::of).collect();
    summary(&cases, &rows);
    if asked("--table") {
        rows.iter().for_each(|row| println!("{}", row.line()));
    } else {
        groups(&cases, &rows);
    }
}
