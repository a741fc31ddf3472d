//! Explanations of random maps reach what simplification reaches, by derivations that check.

#![allow(clippy::print_stdout, reason = "the counts of the cases are for whoever runs them")]

use crate::support::count::cases;
use crate::support::random::Random;
use crate::worlds::map;
use weft_indexing::{Explanation, IndexingMap, SimplifyOptions};

/// Cases that run by default.
const STANDARD: u64 = 400;

/// The derivations lead from the results given to those of the map, one after another, and check. A check may give up where
/// numbers leave `i64`, which only bounds near its ends bring about.
#[track_caller]
fn assert_derived(given: &IndexingMap, simple: &IndexingMap, why: &Explanation) {
    assert_eq!(why.results.len(), given.results().len(), "{given:?}");
    for ((before, after), proofs) in given.results().iter().zip(simple.results()).zip(&why.results) {
        let mut form = before;
        for proof in proofs {
            assert_eq!(proof.before(), form, "{given:?}");
            assert!(is_far(given) || proof.check().is_ok(), "{given:?}\n{proof}");
            form = proof.after();
        }
        assert_eq!(form, after, "{given:?}");
    }
}

fn is_far(map: &IndexingMap) -> bool {
    map.dims().iter().chain(map.ranges()).any(|v| v.bounds().lo.unsigned_abs() > 1 << 32)
}

#[test]
fn explained_maps_are_the_simplified_ones() {
    let (mut changed, mut again) = (0, 0);
    let cases = cases(STANDARD);
    for case in 0..cases {
        let mut random = Random::new(0x77 ^ case.wrapping_mul(0xd129_0d3c_5bff_9a21));
        let (dims, results) = (random.pick(&[1, 2, 3]), random.pick(&[1, 2, 3]));
        let given = map(&mut random, dims, results);
        let options = SimplifyOptions::default().with_point_variables(random.chance(20));
        let (mut simple, mut explained) = (given.clone(), given.clone());
        simple.simplify_with(&options);
        let why = explained.explain_with(&options);
        assert_eq!(explained, simple, "{given:?}");
        if !simple.is_known_empty() {
            assert_derived(&given, &simple, &why);
        }
        changed += usize::from(why.results.iter().any(|proofs| !proofs.is_empty()));
        again += usize::from(why.results.iter().any(|proofs| proofs.len() > 1));
    }
    println!("{cases} maps: {changed} with results that changed, {again} with one that was simplified again");
}

/// What one simplification finds here is simplified again.
#[test]
fn a_form_that_is_simplified_again_is_derived_in_parts() {
    let text = "(d0)[s0, s1] -> ((s0 + s1 * 11 + (s0 * 4) floordiv 8) floordiv 3), \
        domain: d0 in [11, 15], s0 in [-7, -5], s1 in [0, 3], d0 * 2 - s0 - s1 * 3 in [28, 28]";
    let given: IndexingMap = text.parse().expect("a map");
    let (mut simple, mut explained) = (given.clone(), given.clone());
    simple.simplify();
    let why = explained.explain();
    assert_eq!(explained, simple);
    assert_derived(&given, &simple, &why);
}

#[test]
fn a_map_without_points_has_no_derivations_of_results() {
    assert!(IndexingMap::undefined().explain().results.is_empty());
    let mut empty: IndexingMap = "(d0) -> (d0 mod 2), domain: d0 in [0, 9], d0 * 2 in [5, 5]".parse().expect("a map");
    let why = empty.explain();
    assert!(empty.is_known_empty() && why.results.is_empty() && !why.domain.is_empty());
}
