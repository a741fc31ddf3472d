//! Sets of maps: what random intersections, differences, complements, unions and compositions hold, point by point.
//!
//! The long run is `WEFT_CASES=100 cargo test --release -p weft-indexing sets:: -- --nocapture`.

use std::collections::BTreeSet;

use crate::judged::{Tally, graph, map};
use crate::parts::changed;
use crate::support::case::Case;
use crate::support::count::cases;
use crate::support::random::Random;
use crate::support::run::run;
use weft_indexing::{
    Cardinality, Constraint, DomainPoint, Error, Expr, IndexingMap, Interval, Limits, MapSet, OverapproximationReason,
    Variable,
};

/// Cases that run by default.
const STANDARD: u64 = 300;
/// The least share of exact answers, in percent, of domains that are enumerated here.
const MIN_EXACT: f64 = 90.0;

fn read(text: &str) -> IndexingMap {
    text.parse().expect(text)
}

fn set(text: &str) -> MapSet {
    text.parse().expect(text)
}

/// Two maps over the variables of the case: some of the constraints each, the second with other bounds.
fn pair(case: &Case) -> (Case, Case) {
    let mut random =
        Random::new(case.anchor.iter().fold(1, |sum: u64, v| sum.wrapping_mul(37).wrapping_add(v.unsigned_abs())));
    let (mut first, mut second) = (case.clone(), case.clone());
    let half: Vec<Constraint> = case.constraints.iter().filter(|_| random.chance(60)).cloned().collect();
    second.constraints.retain(|_| random.chance(70));
    first.constraints = half;
    for ((v, bounds), anchor) in second.variables.iter_mut().zip(&case.anchor) {
        let is_parameter = matches!(v, weft_indexing::Var::Runtime(i) if *i % 2 == 0);
        if !is_parameter && random.chance(50) && !bounds.is_empty() {
            let near =
                Interval::new(anchor.saturating_sub(random.between(0, 3)), anchor.saturating_add(random.between(0, 3)));
            *bounds = bounds.intersect(near);
        }
    }
    (first, second)
}

fn points(set: &MapSet) -> BTreeSet<DomainPoint> {
    set.points().collect()
}

/// The set holds the expected points, and no others where it is exact; members are disjoint, the text reads back.
fn judged(name: &str, found: &MapSet, expected: &BTreeSet<DomainPoint>) -> Result<String, String> {
    let text = found.to_string();
    let again: Result<MapSet, Error> = text.parse();
    if !again.as_ref().is_ok_and(|again| again.to_string() == text) {
        return Err(format!("{name}: {text} reads as {again:?}"));
    }
    let list: Vec<DomainPoint> = found.points().collect();
    let all = points(found);
    let missing = expected.iter().find(|p| !found.may_contain(&p.dims, &p.ranges, &p.runtime));
    if let Some(point) = missing {
        return Err(format!("{name}: {point} is missing in {found}"));
    }
    if list.len() != all.len() {
        return Err(format!("{name}: members of {found} overlap"));
    }
    match found.overapproximation() {
        None if all != *expected => Err(format!("{name}: {found} has {} points, not {}", all.len(), expected.len())),
        None => Ok("exact".to_owned()),
        Some(reason) => Ok(format!("widened: {}", reason.code())),
    }
}

fn check(case: &Case, limits: &Limits, tally: &mut Tally) -> Result<(), String> {
    let (first, second) = pair(case);
    let (a, b) = (map(&first, 1), map(&second, 1));
    let (Some(in_a), Some(in_b)) = (graph(&first, &a), graph(&second, &b)) else { return Ok(()) };
    let in_a: BTreeSet<DomainPoint> = in_a.into_iter().map(|(p, _)| p).collect();
    let in_b: BTreeSet<DomainPoint> = in_b.into_iter().map(|(p, _)| p).collect();
    let of = |result: Result<MapSet, Error>| result.map_err(|e| format!("{e}: {a} and {b}"));
    let (set_a, set_b) = (MapSet::from(a.clone()), MapSet::from(b.clone()));

    let both = of(a.intersect_domain(&b).map(MapSet::from))?;
    let common: BTreeSet<_> = in_a.intersection(&in_b).cloned().collect();
    judged("intersection of maps", &both, &common)?;
    tally.add(judged("intersection", &of(set_a.intersection(&set_b, limits))?, &common)?);

    let rest = of(a.difference(&b, limits))?;
    let only: BTreeSet<_> = in_a.difference(&in_b).cloned().collect();
    tally.add(judged("difference", &rest, &only)?);
    if let Cardinality::Exactly(n) = rest.cardinality(&Limits::default())
        && n != points(&rest).len() as u128
    {
        return Err(format!("{n} points in {rest}"));
    }

    // What is left and what was taken away are all; with the other map's result where only that has a point.
    let union = of(rest.union(&set_b, limits))?;
    let all: BTreeSet<_> = only.union(&in_b).cloned().collect();
    tally.add(judged("union", &union, &all)?);
    let again = of(set_b.union(&set_a, limits))?;
    tally.add(judged("union of overlapping", &again, &in_a.union(&in_b).cloned().collect())?);
    if again.is_exact() {
        for p in in_a.difference(&in_b) {
            let value = again.evaluate(&p.dims, &p.ranges, &p.runtime).ok().flatten();
            let expected = a.evaluate(&p.dims, &p.ranges, &p.runtime).ok();
            if value.is_some() && value != expected {
                return Err(format!("{value:?} at {p}, not {expected:?}: {again} of {b} and {a}"));
            }
        }
    }

    let dims: Vec<Interval> = a.dims().iter().map(|v| v.bounds()).collect();
    let ranges: Vec<Interval> = a.ranges().iter().map(|v| v.bounds()).collect();
    let outside = of(rest.complement_within(&dims, &ranges, limits))?;
    let (dims, ranges, runtime) = (a.dims().to_vec(), a.ranges().to_vec(), a.runtime().to_vec());
    let within = IndexingMap::try_new(dims, ranges, runtime, vec![], vec![]).expect("the variables are those of a map");
    let expected: BTreeSet<_> = within.points().filter(|p| !only.contains(p)).collect();
    if rest.is_exact() {
        tally.add(judged("complement", &outside, &expected)?);
    }
    let mut simple = outside.clone();
    simple.simplify();
    judged("simplified", &simple, &if rest.is_exact() { expected } else { BTreeSet::new() })?;
    if simple.simplify() {
        return Err(format!("{simple} was simplified twice"));
    }
    Ok(())
}

fn judge(limits: &Limits) -> Tally {
    let mut tally = Tally::default();
    let check = |case: &Case| {
        let mut own = Tally::default();
        check(case, limits, &mut own).map(|()| own)
    };
    run(cases(STANDARD), true, check, |_, own| tally.join(own));
    tally
}

#[test]
fn sets_hold_the_points_that_they_should() {
    let tally = judge(&Limits::default());
    println!("{tally}");
    assert!(tally.share("exact") >= MIN_EXACT, "{tally}");
}

#[test]
fn widened_sets_lose_no_point() {
    let tally = judge(&Limits::STRUCTURE.with_points(4096).with_members(2));
    println!("at most two members:\n{tally}");
    assert!(tally.of("widened: members") > 0, "{tally}");
}

/// Composition on either side of a difference is that of the points.
#[test]
fn sets_compose_point_by_point() {
    let limits = Limits::default();
    let mut random = Random::new(5);
    for _ in 0..cases(STANDARD) {
        let n = random.between(4, 12);
        let (lo, width) = (random.between(0, n - 1), random.between(0, 4));
        let index = Expr::dim(0)
            .checked_mul(random.pick(&[1, 1, 2, -1]))
            .and_then(|e| e.checked_add_constant(random.between(-3, 9)));
        let outer = IndexingMap::of_extents(&[random.between(1, 9)], &[], vec![index.expect("small numbers")])
            .expect("the results are over these variables");
        let whole = IndexingMap::of_extents(&[n], &[], vec![Expr::dim(0).modulo(random.between(1, 5)), Expr::dim(0)])
            .expect("the results are over these variables");
        let hole = IndexingMap::try_new(
            vec![Variable::new(Interval::new(lo, lo + width))],
            vec![],
            vec![],
            vec![],
            vec![Constraint::new(Expr::dim(0).modulo(3), Interval::new(0, random.between(0, 2)))],
        )
        .expect("the parts fit together");
        let set = whole.difference(&hole, &limits).expect("the same variables");
        let before = outer.then_set(&set).expect("one result");
        for p in outer.points() {
            let middle = outer.evaluate(&p.dims, &[], &[]).expect("small numbers");
            assert_eq!(before.evaluate(&p.dims, &[], &[]), set.evaluate(&middle, &[], &[]), "{outer} then {set}");
        }
        let swap =
            read("(d0, d1)[s0] -> (d1 + s0, d0), domain: d0 in [0, 2], d1 in [1, 9], s0 in [0, 1], d1 + s0 in [0, 8]");
        let after = set.then(&swap).expect("two results");
        for x in 0..n {
            for s in 0..2 {
                let middle = set.evaluate(&[x], &[], &[]).expect("small numbers");
                let expected = middle.filter(|m| swap.contains(m, &[s], &[])).map(|m| vec![m[1] + s, m[0]]);
                assert_eq!(after.evaluate(&[x], &[s], &[]), Ok(expected), "{set} then {swap} is {after}");
            }
        }
    }
}

#[test]
fn the_source_of_a_dynamic_update_slice_is_what_is_not_updated() {
    let limits = Limits::default();
    let source =
        read("(d0, d1){rt0, rt1} -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 29], rt0 in [0, 15], rt1 in [0, 20]");
    let updated = read(
        "(d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1), domain: d0 in [0, 19], d1 in [0, 29], rt0 in [0, 15], rt1 in [0, 20], \
         d0 - rt0 in [0, 4], d1 - rt1 in [0, 9]",
    );
    let kept = source.difference(&updated, &limits).expect("the same variables");
    assert!(kept.is_exact() && kept.members().count() <= 4, "{kept:#}");
    assert_eq!(kept.cardinality(&limits), Cardinality::Exactly((20 * 30 - 5 * 10) * 16 * 21));
    let both = kept.union(&MapSet::from(updated), &limits).expect("the same variables");
    assert_eq!(both.cardinality(&limits), Cardinality::Exactly(20 * 30 * 16 * 21));
    assert_eq!(both.evaluate(&[7, 12], &[], &[5, 10]), Ok(Some(vec![2, 2])));
    assert_eq!(both.evaluate(&[7, 12], &[], &[8, 10]), Ok(Some(vec![7, 12])));
    assert_eq!(set(&kept.to_string()).to_string(), kept.to_string());
    assert_eq!(set(&format!("{kept:#}")), set(&kept.to_string()));
}

#[test]
fn congruences_have_intervals_of_residues_for_a_complement() {
    let limits = Limits::default();
    let middle = read("(d0) -> (d0), domain: d0 in [0, 99], d0 mod 8 in [2, 4]");
    let rest = middle.complement_within(&[Interval::of_extent(100)], &[], &limits).expect("one dimension");
    assert_eq!(
        rest.to_string(),
        "{(d0) -> (d0), domain: d0 in [0, 97], d0 mod 8 in [0, 1]; (d0) -> (d0), domain: d0 in [5, 95], d0 mod 8 in [5, 7]}"
    );
    let all = rest.union(&MapSet::from(middle), &limits).expect("the same variables");
    assert_eq!(all.cardinality(&limits), Cardinality::Exactly(100));
}

#[test]
fn empty_and_undefined_sets_are_values() {
    let limits = Limits::default();
    let (some, undefined) = (read("(d0) -> (d0), domain: d0 in [0, 3]"), MapSet::from(IndexingMap::undefined()));
    let empty = some.difference(&some, &limits).expect("the same variables");
    assert!(empty.is_known_empty() && empty.is_exact() && empty.members().next().is_none());
    assert_eq!(empty.to_string(), "{KNOWN EMPTY (d0) -> (d0), domain: d0 in [0, 3]}");
    assert_eq!(set(&empty.to_string()), empty);
    assert_eq!(empty.union(&MapSet::from(some.clone()), &limits), Ok(MapSet::from(some.clone())));
    assert_eq!(empty.evaluate(&[1], &[], &[]), Ok(None));

    assert!(undefined.is_undefined() && undefined.may_contain(&[5], &[], &[]) && !undefined.is_known_empty());
    assert_eq!(undefined.overapproximation(), Some(OverapproximationReason::Undefined));
    assert_eq!(undefined.to_string(), "AT MOST (undefined) {UNDEFINED}");
    assert_eq!(set("{UNDEFINED}"), undefined);
    assert_eq!(undefined.evaluate(&[1], &[], &[]), Err(Error::Undefined));
    // Nothing is known of what to take away, so nothing is.
    let kept = MapSet::from(some.clone()).difference(&undefined, &limits).expect("nothing is known of its variables");
    assert_eq!((kept.members().count(), kept.overapproximation()), (1, Some(OverapproximationReason::Undefined)));
    assert_eq!(set(&kept.to_string()), kept);
    assert!(undefined.union(&kept, &limits).is_ok_and(|all| all.is_undefined()));
}

#[test]
fn variables_must_be_the_same() {
    let limits = Limits::default();
    let (one, two) =
        (read("(d0) -> (d0), domain: d0 in [0, 3]"), read("(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3]"));
    assert_eq!(one.intersect_domain(&two).expect_err("one is not two").code(), "IDX001");
    let clamping = |hi: i64| read(&format!("(d0){{rt0}} -> (d0), domain: d0 in [0, 3], rt0 in [0, {hi}]"));
    assert_eq!(clamping(3).difference(&clamping(4), &limits).expect_err("other parameters").code(), "IDX003");
    let dropping = |hi: i64| changed(&clamping(hi), |parts| parts.runtime[0] = parts.runtime[0].clone().dropping());
    let above = dropping(6).difference(&dropping(4), &limits).expect("the same parameter");
    assert_eq!(above.cardinality(&limits), Cardinality::Exactly(4 * 2));
    let all = above.union(&MapSet::from(dropping(4)), &limits).expect("the same parameter");
    assert_eq!(all.cardinality(&limits), Cardinality::Exactly(4 * 7));
    let error = MapSet::from(one.clone()).union(&MapSet::from(read("(d0) -> (d0, d0), domain: d0 in [5, 6]")), &limits);
    assert_eq!(error.expect_err("one result is not two").code(), "IDX001");
}

#[test]
fn what_is_no_set_is_refused_with_the_place() {
    let error = |text: &str| text.parse::<MapSet>().expect_err(text);
    for (text, span) in [
        ("(d0) -> (d0), domain: d0 in [0, 1]", 0..34),
        ("{(d0) -> (d0), domain: d0 in [0, 1]", 35..35),
        ("AT MOST (weariness) {}", 9..22),
        ("{(d0) -> (d0), domain: d0 in [0, 1]; (d0) -> (d7), domain: d0 in [2, 3]}", 46..48),
        ("{(d0) -> (d0), domain: d0 in [0, 1]; (d0, d1) -> (d0), domain: d0 in [2, 3], d1 in [0, 1]}", 36..89),
        ("{(d0) -> (d0), domain: d0 in [0, 2]; (d0) -> (d0), domain: d0 in [2, 3]}", 0..72),
    ] {
        assert_eq!(error(text).span(), Some(span), "{text}: {}", error(text));
    }
}
