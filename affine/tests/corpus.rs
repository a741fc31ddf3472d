//! The quality of the simplifier, on a corpus of ranged expressions whose best known forms were found without it.
//!
//! `SEARCH=overwrite cargo test -p weft-affine corpus::best_forms` searches every case again and writes cheaper
//! forms, and how they were checked, into `tests/corpus/ranged.txt`; see `quality/search.rs`.
//! `cargo test -p weft-affine corpus:: -- --nocapture` prints the misses.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::quality::corpus::{self, Case, Grade};
use crate::quality::points::Points;
use crate::quality::search::search;
use weft_affine::{Config, Expr, Simplifier, explain};

fn cases() -> Vec<Case> {
    corpus::read(corpus::TEXT).expect("the corpus can be read")
}

fn simplified(case: &Case, config: Config) -> Expr {
    Simplifier::with_config(&case.ranges, &case.constraints, config).simplify(&case.expr)
}

/// The line with the best form and the note in place of what it has.
fn rewritten(line: &str, best: &str, note: &str) -> String {
    let kept: Vec<&str> = line.split('|').map(str::trim).take(3).collect();
    format!("{} | {best} | {note}", kept.join(" | "))
}

/// The text with what the search finds.
fn searched(text: &str) -> String {
    let mut written = String::new();
    for line in text.lines() {
        if corpus::is_case(line) {
            let case = corpus::read(line).expect("the corpus can be read").remove(0);
            let points = Points::of(&case);
            let known = if case.best.cost() < case.expr.cost() { &case.best } else { &case.expr };
            let found = search(&case, &points).unwrap_or_else(|| known.clone());
            let best = if found == case.expr { "=".to_owned() } else { found.to_string() };
            writeln!(written, "{}", rewritten(line, &best, &points.note())).expect("a String takes any text");
        } else {
            writeln!(written, "{line}").expect("a String takes any text");
        }
    }
    written
}

#[test]
fn best_forms_hold() {
    let overwrite = std::env::var("SEARCH").is_ok_and(|value| value == "overwrite");
    let text = if overwrite { searched(corpus::TEXT) } else { corpus::TEXT.to_owned() };
    if overwrite {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/ranged.txt");
        std::fs::write(path, &text).expect("the corpus can be written");
    }
    let cases = corpus::read(&text).expect("the corpus can be read");
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let mut names = BTreeMap::new();
    for case in &cases {
        assert_eq!(names.insert(&case.name, ()), None, "{} is there twice", case.name);
        let points = Points::of(case);
        assert!(!points.points.is_empty(), "{}: the domain is empty", case.name);
        assert_eq!(
            points.first_difference(&case.expr, &case.best),
            None,
            "{}: {} = {}",
            case.name,
            case.expr,
            case.best
        );
        assert!(case.best.cost() <= case.expr.cost(), "{}: {} is dearer than {}", case.name, case.best, case.expr);
        assert_eq!(case.checked, points.note(), "{}: SEARCH=overwrite brings the note up to date", case.name);
    }
}

#[test]
fn simplified_forms_are_equal_and_never_dearer() {
    for case in cases() {
        let points = Points::of(&case);
        for config in [Config::default(), Config::directed()] {
            let simple = simplified(&case, config);
            let witness = points.first_difference(&case.expr, &simple);
            assert_eq!(witness, None, "{}: {} = {simple}", case.name, case.expr);
            assert!(simple.cost() <= case.expr.cost(), "{}: {} became {simple}", case.name, case.expr);
        }
    }
}

/// What is said of a case that is not solved.
fn miss(case: &Case, got: &Expr) -> Option<String> {
    let Case { name, expr, best, .. } = case;
    let line = || format!("{name}: {expr}\n  got  {got} ({})\n  best {best} ({})", got.cost(), best.cost());
    (case.grade(got.cost()) != Grade::Solved).then(line)
}

#[test]
fn the_best_forms_are_found() {
    let cases = cases();
    let misses: Vec<String> =
        cases.iter().filter_map(|case| miss(case, &simplified(case, Config::default()))).collect();
    let (missed, listed) = (misses.len(), misses.join("\n"));
    println!("{listed}\n{missed} of {} missed; the directed pass alone: {}", cases.len(), directed_misses(&cases));
    assert!(missed * 100 <= cases.len() * 3, "{missed} of {} cases are more than 3 in 100:\n{listed}", cases.len());
}

fn directed_misses(cases: &[Case]) -> usize {
    cases.iter().filter(|case| miss(case, &simplified(case, Config::directed())).is_some()).count()
}

/// The hard kinds, each with whether all of its cases are solved.
fn hard_kinds(cases: &[Case], config: Config) -> BTreeMap<&str, bool> {
    let mut kinds = BTreeMap::new();
    for case in cases {
        if let Some(kind) = &case.hard {
            let solved = case.grade(simplified(case, config).cost()) == Grade::Solved;
            *kinds.entry(kind.as_str()).or_insert(true) &= solved;
        }
    }
    kinds
}

/// With the e-graph they are solved, whether or not points are tried; without it many are lost, points tried or not.
#[test]
fn hard_kinds_need_the_egraph() {
    let cases = cases();
    let everything = Config::default();
    let settings = [
        ("everything", everything),
        ("no trial of points", Config { max_points_work: 0, ..everything }),
        ("no e-graph", Config { escalate_at: u32::MAX, ..everything }),
        ("directed pass alone", Config::directed()),
    ];
    let found: Vec<_> = settings.iter().map(|(_, config)| hard_kinds(&cases, *config)).collect();
    for kind in found[0].keys() {
        let words: Vec<String> =
            settings.iter().zip(&found).map(|((name, _), kinds)| format!("{name} {}", word(kinds[kind]))).collect();
        println!("{kind}: {}", words.join(", "));
    }
    let solved: Vec<usize> = found.iter().map(|kinds| kinds.values().filter(|solved| **solved).count()).collect();
    let kinds = found[0].len();
    println!("of {kinds} hard kinds: {:?}", settings.iter().map(|(name, _)| *name).zip(&solved).collect::<Vec<_>>());
    assert!(kinds >= 14, "{kinds} kinds");
    assert!(solved[0] * 14 >= kinds * 13 && solved[1] * 14 >= kinds * 13, "only {solved:?} of {kinds} hard kinds");
    assert!(solved[2] + 3 <= solved[1] && solved[3] + 3 <= solved[1], "the e-graph adds too little: {solved:?}");
}

fn word(solved: bool) -> &'static str {
    if solved { "solved" } else { "missed" }
}

#[test]
fn the_search_finds_known_forms() {
    for (line, cost) in [
        ("sum | (15 - d0) floordiv 4 + d0 floordiv 4 | d0 in [0, 99] | =", 1),
        ("division | (6d0 + 9) floordiv 18 | d0 in [0, 99] | =", 22),
        ("digits | d0 floordiv 2 - (d0 floordiv 24) * 12 | d0 in [0, 99] | =", 41),
        ("two | d0 floordiv 4 - (d1 mod 10) floordiv 2 - (d1 floordiv 10) * 5 | d0 in [0, 99], d1 in [0, 99] | =", 43),
        ("fact | (d0 floordiv 8) * 8 | d0 in [0, 99], d0 mod 8 in [0, 0] | =", 1),
        ("flat | (d0 + 3) floordiv 4 | d0 in [0, 99], d0 mod 4 in [0, 0] | =", 21),
        ("nothing | d0 floordiv 8 + d1 mod 3 | d0 in [0, 99], d1 in [0, 9] | =", 42),
    ] {
        let case = corpus::read(line).expect(line).remove(0);
        let points = Points::of(&case);
        let found = search(&case, &points).unwrap_or(case.best.clone());
        assert_eq!(found.cost(), cost, "{line} = {found}");
    }
}

#[test]
fn lines_that_are_no_case_are_refused() {
    for (line, reason) in [
        ("a | d0 | d0 in [0, 1]", "four or five fields"),
        ("a | d1 | d0 in [0, 1] | =", "`d1` has no bounds"),
        ("a | d0 + | d0 in [0, 1] | =", "found the end"),
        ("a | d0 | d0 in [0 | =", "expected"),
    ] {
        let refused = corpus::read(line).err().expect(line);
        assert!(refused.contains(reason), "{line}: {refused}");
    }
    assert!(corpus::read("# a remark\n\n").expect("remarks are fine").is_empty());
}

#[test]
fn every_derivation_replays() {
    for case in cases() {
        let (simple, proof) = explain(&case.expr, &case.ranges, &case.constraints);
        assert_eq!(simple, simplified(&case, Config::default()), "{}", case.name);
        assert_eq!((proof.before(), proof.after()), (&case.expr, &simple), "{}", case.name);
        assert_eq!(proof.check(), Ok(()), "{}\n{proof:#}", case.name);
    }
}
