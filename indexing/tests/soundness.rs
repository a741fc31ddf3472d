//! Simplifying a map keeps its domain and its values: random maps, judged point by point.
//!
//! A few thousand cases run by default. The long run is
//! `WEFT_CASES=100 cargo test --release -p weft-indexing soundness:: -- --nocapture`.
//! The cases are those that the simplifier of expressions is judged by.

use crate::judged::map;
use crate::support::case::Case;
use crate::support::count::cases;
use crate::support::distribution::Distribution;
use crate::support::run::run;
use weft_indexing::{IndexingMap, Interval, Var};

/// Cases that run by default.
const STANDARD: u64 = 2000;

/// What was found out about a case.
struct Verdict {
    in_domain: usize,
    compared: usize,
    known_empty: bool,
    narrowed: bool,
    /// Constraints before and after.
    constraints: (usize, usize),
}

#[test]
fn domains_and_values_stay() {
    let mut distribution = Distribution::default();
    let (mut points, mut empty, mut known_empty, mut narrowed, mut before, mut after) = (0, 0, 0, 0, 0, 0);
    let count = cases(STANDARD);
    run(count, true, check, |case, verdict| {
        let known = (case.is_enumerated() || verdict.in_domain > 0).then_some(verdict.in_domain > 0);
        distribution.add(case, known, true);
        points += verdict.compared;
        empty += usize::from(known == Some(false));
        known_empty += usize::from(known == Some(false) && verdict.known_empty);
        narrowed += usize::from(verdict.narrowed);
        before += verdict.constraints.0;
        after += verdict.constraints.1;
    });
    println!(
        "{count} maps: {points} points compared, {known_empty} of {empty} without points became known empty, {narrowed} with \
         narrower bounds, constraints {before} before and {after} after\n{distribution}"
    );
    assert_eq!(distribution.rare(), Vec::<&str>::new(), "these classes are too rare to be called tested");
}

fn check(case: &Case) -> Result<Verdict, String> {
    let given = map(case, case.exprs.len());
    let mut simple = given.clone();
    simple.simplify();
    let narrowed = bounds_are_only_narrowed(case, &simple)?;
    let mut twice = map(case, case.exprs.len());
    twice.simplify();
    if twice != simple {
        return Err(format!("{simple} at first, then {twice}"));
    }
    // The text leaves out what a runtime value beyond its bounds means, so texts are compared.
    let text = simple.to_string();
    let read: Result<IndexingMap, _> = text.parse();
    if !read.as_ref().is_ok_and(|read| read.to_string() == text) {
        return Err(format!("the text of {simple} reads as {read:?}"));
    }
    let known_empty = simple.is_known_empty();
    let mut verdict = Verdict {
        in_domain: 0,
        compared: 0,
        known_empty,
        narrowed,
        constraints: (case.constraints.len(), if known_empty { 0 } else { simple.constraints().len() }),
    };
    for point in case.points() {
        let Some(inside) = case.holds(&case.constraints, &point) else { continue };
        verdict.in_domain += usize::from(inside);
        let within = bounds(case, &simple).iter().zip(&point).all(|(b, v)| b.contains(*v));
        // Where a constraint overflows nothing is known, unless another keeps the point out.
        let still = match case.holds(simple.constraints(), &point) {
            Some(holds) => holds && within && !known_empty,
            None if within && !known_empty => continue,
            None => false,
        };
        if inside != still {
            let which = if inside { "lost" } else { "gained" };
            return Err(format!("{point:?} was {which}: {given} became {simple}"));
        }
        if !inside {
            continue;
        }
        for (before, after) in given.results().iter().zip(simple.results()) {
            if let (Some(a), Some(b)) = (case.value(before, &point), case.value(after, &point)) {
                verdict.compared += 1;
                if a != b {
                    return Err(format!("{before} is {a} at {point:?}, but {after} is {b}: {given} became {simple}"));
                }
            }
        }
    }
    Ok(verdict)
}

/// Bounds of the variables in the order of the case.
fn bounds(case: &Case, map: &IndexingMap) -> Vec<Interval> {
    let ranges = map.variable_ranges();
    case.variables.iter().map(|(v, _)| ranges.get(*v)).collect()
}

/// Whether some bounds are narrower; an error where some are wider, or where those of a clamped variable changed.
fn bounds_are_only_narrowed(case: &Case, simple: &IndexingMap) -> Result<bool, String> {
    let mut narrowed = false;
    for ((v, before), after) in case.variables.iter().zip(bounds(case, simple)) {
        let clamps = matches!(v, Var::Runtime(i) if i % 2 == 0);
        if !before.contains_interval(after) || (clamps && *before != after) {
            return Err(format!("{v} in {before} became {v} in {after}: {simple}"));
        }
        narrowed |= *before != after;
    }
    Ok(narrowed)
}

/// A bound that lands on an end of `i64` when a constant moves over is a bound still, not "no bound".
#[test]
fn bounds_that_land_on_an_end_stay_bounds() {
    let max = i64::MAX;
    let text = format!(
        "(d0)[s0] -> (0), domain: d0 in [{}, {}], s0 in [0, 1], d0 + s0 * 3 - 3 in [{}, {}]",
        max - 3,
        max - 2,
        max - 6,
        max - 3
    );
    let mut map: IndexingMap = text.parse().expect("a map");
    assert!(!map.contains(&[max - 2], &[1], &[]));
    map.simplify();
    assert!(!map.contains(&[max - 2], &[1], &[]), "{map}");
}
