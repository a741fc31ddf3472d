//! Injectivity, surjectivity, cardinality and equality of random maps, judged by their points.
//!
//! The long run is `WEFT_CASES=100 cargo test --release -p weft-indexing functions:: -- --nocapture`.

use std::collections::{BTreeMap, BTreeSet};

use crate::judged::{Pair, Tally, graph, map};
use crate::parts::changed;
use crate::support::case::Case;
use crate::support::count::cases;
use crate::support::random::Random;
use crate::support::run::run;
use weft_indexing::{
    Answer, Cardinality, Collision, Constraint, Difference, DomainPoint, IndexingMap, Interval, Limits, Missed, Owner,
    RuntimeVariable, Unknown, Variable,
};

/// Cases that run by default.
const STANDARD: u64 = 300;
/// So many points that everything is walked that is enumerated here.
const FEW: Limits = Limits::STRUCTURE.with_points(4096).with_members(16);
/// So many that hardly anything is, so that answers come from structure.
const NONE: Limits = Limits::STRUCTURE.with_points(8).with_members(16);
/// The least shares of answers other than "unknown", in percent, of maps whose points are enumerated here.
const MIN_KNOWN: f64 = 99.0;
/// The same where nothing may be enumerated.
const MIN_KNOWN_BY_STRUCTURE: f64 = 80.0;

fn code<C>(answer: &Answer<C>) -> String {
    match answer {
        Answer::Yes => "yes".to_owned(),
        Answer::No(_) => "no".to_owned(),
        Answer::Unknown(reason) => format!("unknown: {}", reason.code()),
    }
}

fn known(tally: &Tally) -> f64 {
    100.0 - tally.share("unknown")
}

/// Runs a check over random maps, and returns how often each answer was given; of maps that were enumerated they must be known
/// as often as that.
fn judge(what: &str, least: f64, check: impl Fn(&Case) -> Result<(bool, String), String> + Sync) -> String {
    let (mut enumerated, mut others) = (Tally::default(), Tally::default());
    run(cases(STANDARD), true, check, |_, (walked, answer)| {
        let tally = if walked { &mut enumerated } else { &mut others };
        tally.add(answer);
    });
    assert!(known(&enumerated) >= least, "{what}:\n{enumerated}");
    format!("{what}, enumerated:\n{enumerated}{what}, others:\n{others}")
}

/// False where an answer is contradicted by the value at points at which nothing overflows.
fn is_collision(given: &IndexingMap, Collision { first: a, second: b }: &Collision) -> bool {
    let value = |p: &DomainPoint| given.evaluate(&p.dims, &p.ranges, &p.runtime).ok();
    let inside = |p: &DomainPoint| given.contains(&p.dims, &p.ranges, &p.runtime);
    a != b && a.runtime == b.runtime && inside(a) && inside(b) && value(a).is_some() && value(a) == value(b)
}

fn collides(graph: &[Pair]) -> bool {
    let mut seen = BTreeSet::new();
    !graph.iter().all(|(point, results)| seen.insert((results, &point.runtime)))
}

fn check_injective(case: &Case, limits: &Limits) -> Result<(bool, String), String> {
    let given = map(case, case.exprs.len());
    let graph = graph(case, &given);
    let answer = given.is_injective(limits);
    let is_right = match &answer {
        Answer::Yes => !graph.as_ref().is_some_and(|g| collides(g)),
        Answer::No(points) => is_collision(&given, points),
        Answer::Unknown(_) => true,
    };
    if is_right { Ok((graph.is_some(), code(&answer))) } else { Err(format!("{answer:?}: {given}")) }
}

#[test]
fn injectivity_is_decided_by_points() {
    println!("{}", judge("injective", MIN_KNOWN, |case| check_injective(case, &FEW)));
}

/// A box around the results, cut, moved or grown by the number of the case.
fn target(case: &Case, graph: &[Pair], results: usize) -> Vec<Interval> {
    let mut random = Random::new(case.anchor.iter().fold(7, |sum: u64, v| sum.wrapping_add(v.unsigned_abs())));
    let side = |i: usize| {
        let values = || graph.iter().map(|(_, results)| results[i]);
        let (lo, hi) = (values().min().unwrap_or(0), values().max().unwrap_or(3));
        let shift = random.pick(&[0, 0, 0, 1, -1]);
        let hi = hi.min(lo.saturating_add(random.pick(&[0, 1, 3, 40])));
        Interval::new(lo.saturating_add(shift), hi)
    };
    (0..results).map(side).collect()
}

fn check_surjective(case: &Case, limits: &Limits) -> Result<(bool, String), String> {
    let given = map(case, 1);
    let Some(graph) = graph(case, &given) else { return Ok((false, "not judged".to_owned())) };
    let target = target(case, &graph, given.results().len());
    let answer = given.is_surjective_onto(&target, limits);
    let hit: BTreeSet<Missed> =
        graph.iter().map(|(p, index)| Missed { index: index.clone(), runtime: p.runtime.clone() }).collect();
    let within = |values: &[i64], bounds: &[Interval]| bounds.iter().zip(values).all(|(b, v)| b.contains(*v));
    let runtime: Vec<Interval> = given.runtime().iter().map(|v| v.bounds()).collect();
    let is_right = match &answer {
        Answer::Yes => {
            let dims = target.iter().map(|b| weft_indexing::Variable::new(*b)).collect();
            let all = IndexingMap::try_new(dims, vec![], given.runtime().to_vec(), vec![], vec![])
                .expect("the parts fit together");
            all.points().all(|p| hit.contains(&Missed { index: p.dims, runtime: p.runtime }))
        }
        Answer::No(missed) => {
            !hit.contains(missed) && within(&missed.index, &target) && within(&missed.runtime, &runtime)
        }
        Answer::Unknown(_) => true,
    };
    if is_right { Ok((true, code(&answer))) } else { Err(format!("{answer:?} onto {target:?}: {given}")) }
}

#[test]
fn surjectivity_is_decided_by_points() {
    println!("{}", judge("surjective", MIN_KNOWN, |case| check_surjective(case, &FEW)));
}

fn check_cardinality(case: &Case, limits: &Limits) -> Result<(bool, String), String> {
    let given = map(case, 0);
    let graph = graph(case, &given);
    let answer = given.cardinality(limits);
    let (at_least, at_most) = answer.bounds();
    if let Some(graph) = &graph
        && !(at_least..=at_most).contains(&(graph.len() as u128))
    {
        return Err(format!("{answer}, but there are {}: {given}", graph.len()));
    }
    let answer = match answer {
        Cardinality::Exactly(_) => "exact".to_owned(),
        Cardinality::Between { reason, .. } => format!("unknown: {}", reason.code()),
    };
    Ok((graph.is_some(), answer))
}

#[test]
fn cardinality_is_the_number_of_points() {
    println!("{}", judge("cardinality", MIN_KNOWN, |case| check_cardinality(case, &FEW)));
}

#[test]
fn structure_alone_decides_much_and_never_wrongly() {
    println!("{}", judge("injective by structure", MIN_KNOWN_BY_STRUCTURE, |case| check_injective(case, &NONE)));
    println!("{}", judge("surjective by structure", MIN_KNOWN_BY_STRUCTURE, |case| check_surjective(case, &NONE)));
    println!("{}", judge("cardinality by structure", MIN_KNOWN_BY_STRUCTURE, |case| check_cardinality(case, &NONE)));
}

/// The same domain, said differently or bent a little.
fn variant(case: &Case, given: &IndexingMap) -> IndexingMap {
    let mut random =
        Random::new(case.anchor.iter().fold(3, |sum: u64, v| sum.wrapping_mul(31).wrapping_add(v.unsigned_abs())));
    let mut other = given.clone();
    match random.below(6) {
        0 => other = changed(&other, |parts| parts.constraints.reverse()),
        1 => {
            other.simplify();
        }
        2 => {
            other = changed(&other, |parts| drop(parts.constraints.pop()));
        }
        3 if !other.results().is_empty() => {
            if let Ok(more) = other.results()[0].checked_add_constant(1) {
                other = changed(&other, |parts| parts.results[0] = more);
            }
        }
        4 => {
            other = changed(&other, |parts| {
                if let Some(variable) = parts.dims.first_mut() {
                    let bounds = variable.bounds();
                    *variable = Variable::new(Interval::new(bounds.lo, bounds.hi.saturating_sub(1)));
                }
            });
        }
        _ => {
            if let Some(Ok(expr)) = other.constraints().first().map(|c| c.expr.checked_mul(2)) {
                other.add_constraint(expr, Interval::new(-200, 200)).expect("its variables are those of the map");
            }
        }
    }
    other
}

type Relation = BTreeMap<(Vec<i64>, Vec<i64>), BTreeSet<Vec<i64>>>;

fn relation(graph: &[Pair]) -> Relation {
    let mut all = Relation::new();
    for (p, results) in graph {
        all.entry((p.dims.clone(), p.runtime.clone())).or_default().insert(results.clone());
    }
    all
}

#[test]
fn equality_is_that_of_relations() {
    let told = judge("equal", MIN_KNOWN, |case| {
        let given = map(case, 2);
        let other = variant(case, &given);
        let answer = given.equals(&other, &FEW);
        if code(&other.equals(&given, &FEW)) != code(&answer) {
            return Err(format!("one way {answer:?}, the other not: {given} and {other}"));
        }
        let changed = Case { constraints: other.constraints().to_vec(), ..case.clone() };
        let (Some(first), Some(second)) = (graph(case, &given), graph(&changed, &other)) else {
            return Ok((false, code(&answer)));
        };
        let (first, second) = (relation(&first), relation(&second));
        let is_right = match &answer {
            Answer::Yes => first == second,
            Answer::No(Difference::Result { dims, runtime, result, is_of_first }) => {
                let at = (dims.clone(), runtime.clone());
                let has = |all: &Relation| all.get(&at).is_some_and(|results| results.contains(result));
                has(&first) == *is_of_first && has(&second) != *is_of_first
            }
            Answer::No(_) => false,
            Answer::Unknown(_) => true,
        };
        if is_right { Ok((true, code(&answer))) } else { Err(format!("{answer:?}: {given} and {other}")) }
    });
    println!("{told}");
}

fn read(text: &str) -> IndexingMap {
    text.parse().expect(text)
}

#[test]
fn large_domains_are_counted_in_closed_form() {
    let count = |text: &str| read(text).cardinality(&Limits::STRUCTURE.with_points(1000).with_members(1)).exact();
    let m: u128 = 1_000_000;
    for (domain, points) in [
        ("d0 in [0, 999999], d1 in [0, 999999]", m * m),
        ("d0 in [0, 999999], d1 in [0, 999999], d0 mod 4 in [1, 1], d1 mod 3 in [0, 1]", m / 4 * 666_667),
        ("d0 in [0, 999999], d1 in [0, 999999], d0 - d1 in [0, 0]", m),
        ("d0 in [0, 999999], d1 in [0, 999999], d0 - d1 * 3 in [1, 1]", 333_333),
        ("d0 in [0, 999999], d1 in [0, 999999], d0 + d1 in [0, 999998]", m * (m - 1) / 2),
        ("d0 in [0, 999999], d1 in [0, 999999], d0 - d1 in [-1, 1]", 3 * m - 2),
        ("d0 in [0, 999999], d1 in [0, 999999], (d0 + d1) mod 2 in [0, 0]", m * m / 2),
        ("d0 in [0, 999999], d1 in [0, 999999], (d0 floordiv 8 + d1) mod 4 in [0, 2]", m * m / 4 * 3),
        ("d0 in [0, 999999], d1 in [0, 9], d0 + d1 * 2 in [0, 999999]", 10 * m - 90),
        ("d0 in [0, -1], d1 in [0, 9]", 0),
    ] {
        assert_eq!(count(&format!("(d0, d1) -> (d0), domain: {domain}")), Some(points), "{domain}");
    }
}

#[test]
fn runtime_variables_are_parameters() {
    let (limits, window) = (Limits::default(), "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]");
    assert_eq!(read(window).is_injective(&limits), Answer::Yes);
    let narrower = read("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 5]");
    assert!(
        matches!(read(window).equals(&narrower, &limits), Answer::No(Difference::Result { runtime, .. }) if runtime == [6])
    );

    // A bound of a variable that drops is a condition like any other.
    let dropping = |constraint: Option<Constraint>, bounds: Interval| {
        changed(&read(window), |parts| {
            parts.runtime[0] = RuntimeVariable::new(bounds).dropping();
            parts.constraints.extend(constraint);
        })
    };
    let said = Constraint::new(weft_indexing::Expr::runtime(0), Interval::new(0, 5));
    let (wide, narrow) = (dropping(Some(said), Interval::new(0, 6)), dropping(None, Interval::new(0, 5)));
    assert_eq!(wide.equals(&narrow, &limits), Answer::Yes);

    // Who yields the value decides what the variable is.
    let owned = |owners: [u64; 2], text: &str| {
        changed(&read(text), |parts| {
            for (variable, owner) in parts.runtime.iter_mut().zip(owners) {
                *variable = variable.clone().with_owner(Owner(owner));
            }
        })
    };
    let (first, turned) = (
        "(d0){rt0, rt1} -> (d0 + rt0 * 2 + rt1), domain: d0 in [0, 3], rt0 in [0, 6], rt1 in [0, 6]",
        "(d0){rt0, rt1} -> (d0 + rt0 + rt1 * 2), domain: d0 in [0, 3], rt0 in [0, 6], rt1 in [0, 6]",
    );
    assert_eq!(owned([1, 2], first).equals(&owned([2, 1], turned), &limits), Answer::Yes);
    assert!(matches!(owned([1, 2], first).equals(&owned([1, 2], turned), &limits), Answer::No(_)));
    let foreign = owned([1, 2], first).equals(&owned([1, 3], turned), &limits);
    assert_eq!(foreign, Answer::Unknown(Unknown::RuntimeVariables));
}

#[test]
fn undefined_and_empty_maps_have_answers() {
    let limits = Limits::default();
    let (undefined, empty) = (IndexingMap::undefined(), read("(d0) -> (d0), domain: d0 in [0, -1]"));
    assert_eq!(undefined.is_injective(&limits), Answer::Unknown(Unknown::Undefined));
    assert_eq!(undefined.is_surjective_onto(&[], &limits), Answer::Unknown(Unknown::Undefined));
    assert_eq!(undefined.equals(&undefined, &limits), Answer::Unknown(Unknown::Undefined));
    assert_eq!(undefined.cardinality(&limits).bounds(), (0, u128::MAX));
    assert_eq!(empty.is_injective(&limits), Answer::Yes);
    let missed = Missed { index: vec![0], runtime: vec![] };
    assert_eq!(empty.is_surjective_onto(&[Interval::of_extent(1)], &limits), Answer::No(missed));
    assert_eq!(empty.is_surjective_onto(&[Interval::EMPTY], &limits), Answer::Yes);
    assert_eq!(empty.cardinality(&limits), Cardinality::Exactly(0));
    let other = read("(d0) -> (d0 + 5), domain: d0 in [0, 9], d0 in [10, 12]");
    assert_eq!(empty.equals(&other, &limits), Answer::Yes);
    assert!(empty.is_surjective_onto(&[], &limits).is_no());
    assert!(!empty.has_text_of(&other) && empty.has_text_of(&empty.clone()));
}
