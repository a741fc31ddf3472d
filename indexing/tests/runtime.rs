//! Identity of runtime variables: owner, element and policy stay right through every operation, whatever their number.

use crate::parts::changed;
use weft_indexing::{Expr, IndexingMap, Interval, Owner, RuntimeVariable, Variable};

fn read(text: &str) -> IndexingMap {
    text.parse().expect(text)
}

/// Ten elements, read at `d0 + rt0`, where the start is what the owner yields.
fn slice(owner: u64, bounds: Interval) -> IndexingMap {
    let start = RuntimeVariable::of(Owner(owner), Vec::new(), bounds);
    let index = Variable::new(Interval::of_extent(4));
    IndexingMap::try_new(vec![index], vec![], vec![start], vec![Expr::dim(0) + Expr::runtime(0)], vec![])
        .expect("the parts fit together")
}

#[test]
fn equal_ones_are_one() {
    let back = read("(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 7], rt0 in [0, 4] hlo: #7 (d0){rt0} -> ()");
    let both = slice(7, Interval::new(0, 4)).then(&back).expect("of one rank");
    assert_eq!(both.runtime().len(), 1);
    assert_eq!(both.results()[0].to_string(), "d0");
    let other = slice(7, Interval::new(0, 5)).then(&back).expect("of one rank");
    assert_eq!(other.runtime().len(), 2, "other bounds clamp to other values");
    let unknown = changed(&back, |parts| parts.runtime[0] = RuntimeVariable::new(Interval::new(0, 4)));
    let twice = unknown.then(&unknown).expect("of one rank");
    assert_eq!(twice.runtime().len(), 2, "nobody knows whether these are one");
}

#[test]
fn values_that_are_dropped_beyond_two_bounds_are_dropped_beyond_both() {
    let dropping = |bounds| changed(&slice(7, bounds), |parts| parts.runtime[0] = parts.runtime[0].clone().dropping());
    let both = dropping(Interval::new(0, 4)).concatenate(&dropping(Interval::new(2, 9))).expect("of one rank");
    assert_eq!((both.runtime().len(), both.runtime()[0].bounds()), (1, Interval::new(2, 4)));
    let apart = dropping(Interval::new(0, 4)).concatenate(&slice(7, Interval::new(0, 4))).expect("of one rank");
    assert_eq!(apart.runtime().len(), 2, "a clamped value is not the value");
    let never = dropping(Interval::new(0, 4)).concatenate(&dropping(Interval::new(5, 9))).expect("of one rank");
    assert!(never.is_known_empty());
}

/// Two slices whose owners differ, through a third map that has both in the other order: no value takes another's place.
#[test]
fn composition_does_not_rotate_them() {
    let starts = "rt0 in [0, 4] hlo: #1 (d0) -> (), rt1 in [0, 6] hlo: #2 (d0) -> ()";
    let first = read(&format!("(d0){{rt0, rt1}} -> (d0 + rt0, rt1), domain: d0 in [0, 3], {starts}"));
    let turned = "rt0 in [0, 9] hlo: #3 (d0, d1) -> (d1), rt1 in [0, 6] hlo: #2 (d0, d1) -> (), rt2 in [0, 4] hlo: #1 (d0, d1) -> ()";
    let then = read(&format!(
        "(d0, d1){{rt0, rt1, rt2}} -> (d0 - rt2, d1 - rt1, rt0), domain: d0 in [0, 9], d1 in [0, 9], {turned}"
    ));
    let both = IndexingMap::compose_in_order([&first, &then]).expect("of one rank");
    assert_eq!(
        both.verbose().to_string(),
        "(d0){rt0, rt1, rt2} -> (d0, 0, rt2),\ndomain:\nd0 in [0, 3],\nrt0 in [0, 4]\n  hlo: #1\n  (d0) -> (),\n\
         rt1 in [0, 6]\n  hlo: #2\n  (d0) -> (),\nrt2 in [0, 9]\n  hlo: #3\n  (d0){rt0, rt1, rt2} -> (rt1)"
    );
    let mut fewer = both.clone();
    assert_eq!(fewer.remove_unused_symbols().runtime, [0], "the second one is used for the element of the third");
    assert_eq!(fewer.runtime()[1].access(), [Expr::runtime(0)]);
}

#[test]
fn what_only_an_access_uses_is_used() {
    let text = "(d0)[s0, s1, s2]{rt0} -> (rt0), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 2], s2 in [0, 3], rt0 in [0, 9] hlo: #1 (d0)[s0, s1, s2] -> (d0, s1)";
    let mut map = read(text);
    let removed = map.remove_unused_variables();
    assert_eq!((removed.dims, removed.ranges, removed.runtime), (vec![], vec![0, 2], vec![]));
    assert_eq!(map.runtime()[0].access(), [Expr::dim(0), Expr::range(0)]);
}

#[test]
fn a_value_that_decides_about_the_domain_is_used() {
    let mut map = read(
        "(d0){rt0, rt1} -> (d0), domain: d0 in [0, 3], rt0 in [0, 9] drop hlo: #1 (d0) -> (d0), rt1 in [0, 9] hlo: #1 (d0) -> (d0)",
    );
    assert_eq!(map.remove_unused_symbols().runtime, [1], "clamped, it never keeps a point out");
    let mut bounded =
        read("(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 9] hlo: #1 (d0) -> (d0), rt0 in [2, 3]");
    assert!(bounded.remove_unused_symbols().is_empty());
}

#[test]
fn bounds_of_values_that_are_dropped_are_narrowed() {
    let text = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 9] hlo: #1 (d0) -> (), rt0 * 2 in [3, 8]";
    let mut clamped = read(text);
    clamped.simplify();
    assert_eq!(clamped.to_string(), "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 9], rt0 in [2, 4]");
    let mut dropped = read(&text.replace("[0, 9]", "[0, 9] drop"));
    dropped.simplify();
    assert_eq!(dropped.to_string(), "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [2, 4]");
}

/// `rt0 = d0` where the point lies in the domain; but whether it does is known only once element `d0` is read.
#[test]
fn an_access_is_not_rewritten_by_what_the_value_must_be() {
    let text = "(d0){rt0, rt1} -> (rt1), domain: d0 in [0, 7], rt0 in [0, 7] hlo: #1 (d0) -> (d0 floordiv 2), rt1 in [0, 9] hlo: #2 (d0) -> (d0 floordiv 2), \
        d0 floordiv 2 - rt0 in [0, 0]";
    let mut map = read(text);
    map.simplify();
    assert_eq!(map.runtime()[0].access(), [Expr::dim(0).floor_div(2)]);
    assert_eq!(map.runtime()[1].access(), [Expr::runtime(0)], "known by then");
}

#[test]
fn every_operation_rewrites_accesses() {
    let text = "(d0)[s0]{rt0} -> (rt0), domain: d0 in [0, 15], s0 in [0, 9], rt0 in [0, 9] hlo: #1 (d0)[s0] -> (d0 floordiv 16 + s0), s0 mod 5 in [2, 2]";
    let map = read(text);
    let access = |map: &IndexingMap| map.runtime()[0].access()[0].to_string();
    let mut simple = map.clone();
    simple.simplify();
    assert_eq!(access(&simple), "s0");
    let mut scaled = simple.clone();
    assert_eq!(scaled.rescale_symbols().len(), 1);
    assert_eq!(access(&scaled), "s0 * 5 + 2");
    let mut wider = simple.clone();
    wider.ranges_to_dims();
    assert_eq!(access(&wider), "d1");
    let twice = simple.product(&simple).expect("few variables");
    assert_eq!((twice.runtime().len(), twice.runtime()[1].access()[0].to_string()), (2, "s1".to_owned()));
    let read_at = read("(d0) -> (d0 * 2 + 1), domain: d0 in [0, 7]").then(&map).expect("of one rank");
    assert_eq!(access(&read_at), "s0 + (d0 * 2 + 1) floordiv 16");
    let mut bound = read(
        "(d0)[s0]{rt0} -> (rt0), domain: d0 in [0, 15], s0 in [0, 9], rt0 in [0, 9] hlo: #1 (d0)[s0] -> (s0), s0 - d0 in [1, 1]",
    );
    assert_eq!(bound.eliminate_ranges().ranges, [0]);
    assert_eq!(bound.to_string(), "(d0){rt0} -> (rt0), domain: d0 in [0, 15], rt0 in [0, 9], d0 + 1 in [0, 9]");
    assert_eq!(access(&bound), "d0 + 1");
    let mut own = read(
        "(d0)[s0]{rt0} -> (rt0), domain: d0 in [0, 15], s0 in [0, 9], rt0 in [0, 9] hlo: #1 (d0)[s0] -> (s0), s0 - rt0 in [1, 1]",
    );
    assert!(own.eliminate_ranges().is_empty(), "the element would depend on its own value");
}

#[test]
fn an_access_mentions_only_variables_before_its_own() {
    let text = "(d0){rt0, rt1} -> (d0 + rt0),\ndomain:\nd0 in [0, 3],\nrt0 in [0, 5]\n  hlo: #1\n  (d0){rt0, rt1} -> (rt1),\nrt1 in [0, 5]";
    let error = text.parse::<IndexingMap>().expect_err("rt1 is read after rt0");
    assert!(error.to_string().contains("`rt0`"), "{error}");
}

#[test]
fn unused_symbols_without_values_stay() {
    let mut map = read("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3]");
    map.add_constraint(Expr::range(0), Interval::EMPTY).expect("s0 is there");
    assert!(map.remove_unused_symbols().is_empty(), "without s0 the domain would have points");
    assert_eq!(map.points().count(), 0);
}
