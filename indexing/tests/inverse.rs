//! Inverses: those of chains of reshapes, transposes, reversals and slices are found, and whatever is found for random maps is
//! right at every point.
//!
//! The long run is `WEFT_CASES=100 cargo test --release -p weft-indexing inverse:: -- --nocapture`.

use std::collections::BTreeMap;

use crate::judged::{Pair, Tally, graph, map};
use crate::support::case::Case;
use crate::support::chain::{Op, chain};
use crate::support::count::cases;
use crate::support::random::Random;
use crate::support::run::run;
use weft_indexing::{Collision, IndexingMap, Interval, Limits, NoInverse, Variable};

/// Cases that run by default.
const STANDARD: u64 = 300;
/// Chains of each kind by default.
const CHAINS: u64 = 150;
/// Maps of at most so many points are compared with their inverses point by point.
const MAX_ENUMERATED: u128 = 1000;
/// Random points at which the inverse leads back.
const SAMPLES: usize = 10;
/// Chains without an inverse that are shown, the shortest first.
const MAX_SHOWN: usize = 6;
/// Of chains without slices so many of a hundred have an inverse that is found; all should.
const MIN_SHARE_OF_BIJECTIONS: f64 = 99.0;
/// Of chains with slices so many of a hundred have an inverse that is found.
const MIN_SHARE_WITH_SLICES: f64 = 98.5;
/// Of injective random maps so many of a hundred have an inverse that is found.
const MIN_SHARE_OF_INJECTIVE: f64 = 80.0;
/// So many points that random maps are all walked whose graphs are.
const FEW: Limits = Limits::STRUCTURE.with_points(4096).with_members(16);
const ELEMENTS: [i64; 8] = [12, 24, 36, 48, 60, 120, 180, 360];
/// Numbers of elements of tensors that are too large to be walked.
const BINARY: [i64; 4] = [1 << 17, 1 << 20, 1 << 24, 1 << 31];
/// The same with many divisors.
const COMPOSITE: [i64; 4] = [720_720, 1_000_000, 1_441_440, 2_985_984];
/// Of chains on tensors of each kind so many of a hundred have an inverse that is found.
const MIN_SHARE_OF_BINARY: f64 = 99.0;
/// See [`MIN_SHARE_OF_BINARY`].
const MIN_SHARE_OF_COMPOSITE: f64 = 95.0;

fn to_operand(op: &Op) -> IndexingMap {
    let variables = op.result.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
    IndexingMap::try_new(variables, Vec::new(), Vec::new(), op.to_operand().into_results(), Vec::new())
        .expect("the parts fit together")
}

/// From the result of the chain to its source.
fn composed(ops: &[Op]) -> IndexingMap {
    let start = IndexingMap::identity(&ops[ops.len() - 1].result);
    ops.iter().rev().map(to_operand).fold(start, |walked, next| {
        let mut both = walked.then(&next).expect("shapes follow one another and the numbers are small");
        both.simplify();
        both
    })
}

fn pairs(map: &IndexingMap) -> Vec<Pair> {
    let value = |p: &weft_indexing::DomainPoint| map.evaluate(&p.dims, &p.ranges, &p.runtime).expect("small numbers");
    map.points().map(|p| (p.clone(), value(&p))).collect()
}

/// The inverse has exactly the results for points, and leads back.
fn check_inverse(graph: &[Pair], inverse: &IndexingMap) -> Result<(), String> {
    let mut back: BTreeMap<(Vec<i64>, Vec<i64>), Vec<i64>> = BTreeMap::new();
    for (point, results) in graph {
        back.insert((results.clone(), point.runtime.clone()), point.dims.clone());
    }
    let mut count = 0;
    for point in inverse.points() {
        count += 1;
        let found = inverse.evaluate(&point.dims, &[], &point.runtime).map_err(|e| e.to_string())?;
        if back.get(&(point.dims.clone(), point.runtime.clone())) != Some(&found) {
            return Err(format!("{point} leads to {found:?}: {inverse}"));
        }
    }
    if count == back.len() { Ok(()) } else { Err(format!("{count} of {} results are left: {inverse}", back.len())) }
}

/// What was answered for chains on tensors of so many elements, and some of those without an answer.
fn chains(seed: u64, elements: &[i64], slices: bool) -> (Tally, String) {
    let (mut random, mut samples) = (Random::new(seed), Random::new(seed));
    let (mut tally, mut missed) = (Tally::default(), Vec::new());
    for _ in 0..cases(CHAINS) {
        let (elements, length) = (random.pick(elements), 1 + random.below(6));
        let ops = chain(&mut random, elements, length, slices);
        let map = composed(&ops);
        match map.inverse(&Limits::default()) {
            Ok(inverse) => {
                if map.box_size() <= MAX_ENUMERATED {
                    assert_eq!(check_inverse(&pairs(&map), &inverse), Ok(()), "{map}");
                }
                for _ in 0..SAMPLES {
                    let point: Vec<i64> =
                        map.dims().iter().map(|v| samples.between(v.bounds().lo, v.bounds().hi)).collect();
                    let result = map.evaluate(&point, &[], &[]).expect("small numbers");
                    assert!(inverse.contains(&result, &[], &[]), "{result:?} in {inverse}");
                    assert_eq!(inverse.evaluate(&result, &[], &[]), Ok(point), "{map}");
                }
                tally.add(if inverse.constraints().is_empty() { "found, a box" } else { "found, with constraints" });
            }
            Err(reason) => {
                tally.add(reason.code());
                missed.push(format!("{map}: {reason}"));
            }
        }
    }
    missed.sort_by_key(String::len);
    (tally, missed.iter().take(MAX_SHOWN).map(|text| text.chars().take(400).collect::<String>() + "\n").collect())
}

#[test]
fn chains_of_bijections_have_their_inverses() {
    let (tally, missed) = chains(22, &ELEMENTS, false);
    println!("without slices:\n{tally}{missed}");
    assert!(tally.share("found") >= MIN_SHARE_OF_BIJECTIONS, "{tally}{missed}");
}

#[test]
fn chains_with_slices_have_theirs() {
    let (tally, missed) = chains(21, &ELEMENTS, true);
    println!("with slices:\n{tally}{missed}");
    assert!(tally.share("found") >= MIN_SHARE_WITH_SLICES, "{tally}{missed}");
}

/// Tensors of powers of two, and of numbers with many divisors, too large for the inverse to be tried at all points.
#[test]
fn chains_on_large_tensors_have_theirs() {
    let (binary, missed) = chains(23, &BINARY, false);
    println!("powers of two:\n{binary}{missed}");
    assert!(binary.share("found") >= MIN_SHARE_OF_BINARY, "{binary}{missed}");
    let (composite, missed) = chains(24, &COMPOSITE, false);
    println!("many divisors:\n{composite}{missed}");
    assert!(composite.share("found") >= MIN_SHARE_OF_COMPOSITE, "{composite}{missed}");
}

/// Shapes too large to be walked, so that the proof is one of algebra.
#[test]
fn large_shapes_have_inverses() {
    for text in [
        "(d0, d1) -> (d1 floordiv 128, d0, d1 mod 128), domain: d0 in [0, 65535], d1 in [0, 1048575]",
        "(d0, d1) -> (d0 * 1048576 + d1), domain: d0 in [0, 65535], d1 in [0, 1048575]",
        "(d0) -> (d0 floordiv 1048576, (d0 floordiv 32) mod 32768, d0 mod 32), domain: d0 in [0, 1073741823]",
        "(d0, d1) -> (-d1 + 99999, d0 * 7 + 5), domain: d0 in [0, 99999], d1 in [0, 99999]",
        "(d0, d1){rt0} -> (d0 + rt0, d1), domain: d0 in [0, 9999], d1 in [0, 9999], rt0 in [0, 99999]",
        "(d0, d1) -> (d0 * 3 + d1, d0), domain: d0 in [0, 99999], d1 in [0, 99999]",
    ] {
        let map: IndexingMap = text.parse().expect("a map");
        let inverse = map.inverse(&Limits::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
        let again = inverse.inverse(&Limits::default()).unwrap_or_else(|e| panic!("{inverse}: {e}"));
        assert!(again.equals(&map, &Limits::default()).is_yes(), "{map} became {inverse}, then {again}");
    }
}

#[test]
fn inverses_of_random_maps_are_right() {
    let (mut tally, mut injective) = (Tally::default(), Tally::default());
    run(cases(STANDARD), true, check, |_, (answer, was)| {
        if was == Some(true) {
            injective.add(answer.clone());
        }
        tally.add(answer);
    });
    println!("all maps:\n{tally}of those known to be injective:\n{injective}");
    assert!(injective.share("found") >= MIN_SHARE_OF_INJECTIVE, "{injective}");
}

fn check(case: &Case) -> Result<(String, Option<bool>), String> {
    let given = map(case, case.exprs.len());
    let graph = graph(case, &given);
    let mut seen = BTreeMap::new();
    let clash = |(point, results): &Pair| seen.insert((results.clone(), point.runtime.clone()), point.dims.clone());
    let injective = graph.as_ref().map(|graph| !graph.iter().map(clash).any(|before| before.is_some()));
    let answer = given.inverse(&FEW);
    let is_empty = graph.as_ref().is_some_and(Vec::is_empty);
    if is_empty && !answer.as_ref().is_ok_and(IndexingMap::is_known_empty) {
        return Err(format!("the inverse of nothing is not known to be empty, but {answer:?}: {given}"));
    }
    match answer {
        Ok(inverse) => {
            match &graph {
                Some(graph) if inverse.box_size() <= 1 << 13 => check_inverse(graph, &inverse)?,
                _ => leads_back(case, &given, &inverse)?,
            }
            let empty = if inverse.is_known_empty() { "found, empty" } else { "found" };
            Ok((empty.to_owned(), injective))
        }
        Err(reason) => {
            if let NoInverse::NotInjective(points) = &reason {
                let Collision { first: a, second: b } = points.as_ref();
                let value = |p: &weft_indexing::DomainPoint| given.evaluate(&p.dims, &p.ranges, &p.runtime).ok();
                let inside = |p: &weft_indexing::DomainPoint| given.contains(&p.dims, &p.ranges, &p.runtime);
                if a == b || value(a) != value(b) || a.runtime != b.runtime || !inside(a) || !inside(b) {
                    return Err(format!("{reason}, which is wrong: {given}"));
                }
            }
            Ok((reason.code().to_owned(), injective))
        }
    }
}

/// The inverse leads from the results of sampled points to them.
fn leads_back(case: &Case, given: &IndexingMap, inverse: &IndexingMap) -> Result<(), String> {
    let counts = (given.dims().len(), given.ranges().len());
    for point in case.points() {
        let (mut dims, mut ranges, mut runtime) =
            (Vec::with_capacity(counts.0), Vec::with_capacity(counts.1), Vec::new());
        for ((v, _), value) in case.variables.iter().zip(point) {
            match v {
                weft_indexing::Var::Dim(_) => dims.push(value),
                weft_indexing::Var::Range(_) => ranges.push(value),
                weft_indexing::Var::Runtime(_) => runtime.push(value),
            }
        }
        if !given.contains(&dims, &ranges, &runtime) {
            continue;
        }
        let Ok(results) = given.evaluate(&dims, &ranges, &runtime) else { continue };
        if !inverse.contains(&results, &[], &runtime) {
            return Err(format!("{results:?} has no index in {inverse}, but is the result of {dims:?} in {given}"));
        }
        if inverse.evaluate(&results, &[], &runtime) != Ok(dims.clone()) {
            return Err(format!("{results:?} leads to another index than {dims:?}: {given} and {inverse}"));
        }
    }
    Ok(())
}

#[test]
fn refusals_say_why() {
    let code = |text: &str| {
        let map: IndexingMap = text.parse().expect("a map");
        map.inverse(&Limits::default()).expect_err("there is none").code()
    };
    assert_eq!(code("UNDEFINED"), "undefined");
    assert_eq!(code("(d0) -> (0), domain: d0 in [0, 1]"), "not-injective");
    assert_eq!(code("(d0) -> (d0 * 2 + 1), domain: d0 in [0, 9223372036854775807]"), "overflow");
    assert_eq!(
        code("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 9]\n hlo: #1\n (d0){rt0} -> (d0)"),
        "runtime-access"
    );
}

/// Whatever the results, however the domain says it, and whether or not simplification sees it.
#[test]
fn the_inverse_of_nothing_is_nothing() {
    for text in [
        "(d0) -> (d0), domain: d0 in [0, -1]",
        "(d0) -> (), domain: d0 in [0, -1]",
        "(d0, d1)[s0] -> (0, d0 + d1), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 4], d0 + d1 in [20, 30]",
        "(d0, d1) -> (7), domain: d0 in [0, 999999], d1 in [0, 999999], d0 * 3 + d1 * 5 in [7, 7]",
        "(d0) -> (0), domain: d0 in [0, 99999999], d0 mod 6 in [1, 2], d0 mod 4 in [0, 0], d0 mod 9 in [4, 4]",
        "(d0)[s0]{rt0} -> (d0 * 2 + s0, rt0), domain: d0 in [0, 9], s0 in [0, 3], rt0 in [4, 8], d0 - rt0 in [7, 9]",
        "KNOWN EMPTY (d0) -> (d0 + d0), domain: d0 in [0, 9]",
        "KNOWN EMPTY",
    ] {
        let map: IndexingMap = text.parse().expect("a map");
        let inverse = map.inverse(&Limits::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(inverse.is_known_empty(), "{text}: {inverse}");
        assert_eq!(inverse.points().next(), None, "{text}");
        assert_eq!((inverse.dims().len(), inverse.results().len()), (map.results().len(), map.dims().len()), "{text}");
        assert_eq!(inverse.to_string().parse(), Ok(inverse.clone()), "{text}");
        let again = inverse.inverse(&Limits::default()).expect("the inverse of nothing");
        assert!(again.equals(&map, &Limits::default()).is_yes(), "{text}");
    }
    // Runtime variables stay what they are.
    let text = "(d0){rt0} -> (d0 + rt0),\ndomain:\nd0 in [0, 3],\nrt0 in [0, 9]\n  hlo: #1\n  (d0) -> (d0 * 2 + 1),\nd0 + rt0 in [20, 30]";
    let map: IndexingMap = text.parse().expect("a map");
    let inverse = map.inverse(&Limits::default()).expect("the inverse of nothing");
    assert_eq!((inverse.runtime().len(), inverse.runtime()[0].owner()), (1, map.runtime()[0].owner()));
    assert_eq!(inverse.runtime()[0].access(), [weft_indexing::Expr::constant(1)]);
    assert_eq!(inverse.verbose().to_string().parse(), Ok(inverse));
}
