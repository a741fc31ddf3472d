//! Tests of ranges and residues against enumeration.

use proptest::prelude::*;

use super::{Analysis, Ranges, range_of};
use crate::{Constraint, Expr, Interval, Point};

fn read(text: &str) -> Expr {
    text.parse().expect(text)
}

fn fact(text: &str, lo: i64, hi: i64) -> Constraint {
    Constraint::new(read(text), Interval::new(lo, hi))
}

fn dims(bounds: &[(i64, i64)]) -> Ranges {
    Ranges::of_dims(bounds.iter().map(|(lo, hi)| Interval::new(*lo, *hi)))
}

/// The range of `e` where `d0`, `d1` and `d2` lie in `[0, 9]`, and the facts hold.
fn check(e: &str, facts: &[Constraint], lo: i64, hi: i64) {
    let mut analysis = Analysis::new(&dims(&[(0, 9), (0, 9), (0, 9)]), facts);
    assert_eq!(analysis.range(&read(e)), Interval::new(lo, hi), "{e}");
}

#[test]
fn one_variable_is_exact() {
    for a in -7..=7i64 {
        for k in [-5, -1, 0, 2, 9] {
            let x = Expr::dim(0) * a + k;
            if a == 0 {
                continue;
            }
            for c in [2, 3, 4, 6, 8] {
                for (lo, hi) in [(0, 0), (0, 3), (-2, 1), (1, 4), (0, 9), (-7, -3)] {
                    let forms = [x.clone(), x.floor_div(c), x.modulo(c), x.floor_div(c) * 3 + x.modulo(c) * -2];
                    for e in forms {
                        let value = |v: i64| e.evaluate(|_| v).expect("small numbers");
                        let least = (lo..=hi).map(value).min().expect("not empty");
                        let most = (lo..=hi).map(value).max().expect("not empty");
                        let range = range_of(&e, &dims(&[(lo, hi)]));
                        assert!(range.contains_interval(Interval::new(least, most)), "{e}");
                        let exact = e.terms().len() == 1 || a.abs() == 1;
                        assert!(!exact || range == Interval::new(least, most), "{e} for d0 in [{lo}, {hi}] is {range}");
                    }
                }
            }
        }
    }
}

#[test]
fn quotient_and_remainder_move_together() {
    check("(d0 floordiv 4) * 4 + d0 mod 4", &[], 0, 9);
    check("d0 - (d0 floordiv 4) * 4", &[], 0, 3);
    check("(d0 mod 4) * 2 - (d0 floordiv 4) * 3", &[], -6, 6);
}

#[test]
fn a_bounded_sum_bounds_sums_around_it() {
    let small = [fact("d0 + d1", 0, 5)];
    check("d0 + d1 + 3", &small, 3, 8);
    check("d0 * 2 + d1 * 2", &small, 0, 10);
    check("-d0 - d1", &small, -5, 0);
    check("d0 + d1 + d2", &small, 0, 14);
    check("d0 + d1 * 2", &small, 0, 10);
    check("(d0 + d1) floordiv 3 + d2", &small, 0, 10);
    check("d0", &small, 0, 5);
    let two = [fact("d0 + d1", 0, 5), fact("d1 - d2", 1, 2)];
    check("d0 + d1 * 2 - d2", &two, 2, 7);
    let chain = [fact("d0 - d1", 1, 9), fact("d1 - d2", 2, 4)];
    check("d0 - d2", &chain, 3, 9);
    check("(d0 * 4 + d1) floordiv 4", &[fact("d0 * 4 + d1", 8, 11)], 2, 2);
    check("d0 mod 3 + d1", &[fact("d0 mod 3", 1, 1), fact("d0 mod 3 + d1", 0, 4)], 1, 4);
}

#[test]
fn residues_of_one_sum_join() {
    let mut analysis =
        Analysis::new(&dims(&[(0, 99), (0, 99)]), &[fact("(d0 + d1) mod 4", 3, 3), fact("(d0 + d1 + 1) mod 6", 0, 0)]);
    let class = analysis.congruence(&read("d0 + d1"));
    assert_eq!((class.modulus, class.residue), (12, 11));
    assert_eq!(analysis.range(&read("(d0 * 2 + d1 * 2 + 1) mod 24")), Interval::point(23));
    assert_eq!(analysis.range(&read("d0 + d1")), Interval::new(11, 191));
    let sum = analysis.congruence(&read("d0 + d1 * 25"));
    assert_eq!((sum.modulus, sum.residue), (12, 11));
    let mut analysis = Analysis::new(&dims(&[(0, 99), (0, 9)]), &[fact("d0 mod 8", 3, 3)]);
    assert_eq!(analysis.range(&read("d0")), Interval::new(3, 99));
    assert_eq!(analysis.range(&read("(d0 * 3 + d1 * 16) mod 8")), Interval::point(1));
    let quotient = analysis.congruence(&read("(d0 * 4 + d1 * 32) floordiv 2"));
    assert_eq!((quotient.modulus, quotient.residue), (16, 6));
    let multiple = analysis.congruence(&read("d0 * 4 + d1 * 8"));
    assert_eq!((multiple.modulus, multiple.residue), (8, 4));
}

#[test]
fn quotients_bound_their_arguments() {
    let mut analysis = Analysis::new(&dims(&[(0, 99), (0, 9)]), &[fact("d0 floordiv 12", 2, 2)]);
    for (e, lo, hi) in [("d0", 24, 35), ("d0 floordiv 4", 6, 8), ("d0 * 2 + d1", 48, 79)] {
        assert_eq!(analysis.range(&read(e)), Interval::new(lo, hi), "{e}");
    }
    let nested = fact("((d0 * 2 + d1 - 3) floordiv 4 + 1) floordiv 5 * -3 + 7", -2, 3);
    let mut analysis = Analysis::new(&dims(&[(0, 99), (0, 9)]), &[nested]);
    assert_eq!(analysis.range(&read("d0 * 2 + d1")), Interval::new(39, 78));
    let open = fact("d0 floordiv 12", i64::MIN, 3);
    assert_eq!(Analysis::new(&Ranges::default(), &[open]).range(&read("d0")), Interval::new(i64::MIN, 47));
    let far = fact("d0 floordiv 12", i64::MAX / 4, i64::MAX - 1);
    assert_eq!(Analysis::new(&Ranges::default(), &[far]).range(&read("d0")), Interval::new(i64::MAX - 1, i64::MAX));
}

#[test]
fn digits_of_one_number_join() {
    let digits = [fact("d0 mod 6", 0, 0), fact("(d0 floordiv 12) mod 5", 3, 3), fact("(d0 floordiv 6) mod 2", 1, 1)];
    let mut analysis = Analysis::new(&dims(&[(0, 999), (0, 9)]), &digits);
    let class = analysis.congruence(&read("d0"));
    assert_eq!((class.modulus, class.residue), (60, 42));
    let shifted = [fact("(d0 * 2 + d1 * 2 + 1) mod 6", 3, 3), fact("((d0 * 2 + d1 * 2 + 1) floordiv 3) mod 4", 3, 3)];
    let class = Analysis::new(&dims(&[(0, 99), (0, 9)]), &shifted).congruence(&read("d0 + d1"));
    assert_eq!((class.modulus, class.residue), (6, 4));
}

#[test]
fn equalities_are_listed() {
    let analysis = Analysis::new(
        &dims(&[(0, 9), (0, 9), (0, 99)]),
        &[fact("-d0 * 2 - d1 * 2 + 1", -9, -8), fact("d2 mod 4", 1, 1), fact("d1", 2, 3)],
    );
    let listed: Vec<String> = analysis.equalities().iter().map(|(e, v)| format!("{e} = {v}")).collect();
    assert_eq!(listed, ["d0 + d1 = 5", "d2 mod 4 = 1"]);
}

#[test]
fn contradicting_facts_are_harmless() {
    let facts = [
        fact("d0 + d1", 0, 5),
        fact("d0 + d1", 7, 9),
        fact("d0 mod 4", 1, 1),
        fact("d0 mod 4", 2, 2),
        fact("d0 * 2 mod 4", 1, 1),
        fact("d0", 70, 80),
        fact("d0 + (d0 + d1) floordiv 2", 3, 3),
        fact("d1 + (d0 + (d0 + d1) floordiv 2) floordiv 2", -7, -7),
    ];
    let mut analysis = Analysis::new(&dims(&[(0, 9), (0, 9)]), &facts);
    for e in ["d0", "d0 + d1", "d0 mod 4", "(d0 + d1) floordiv 2", "d1 + (d0 + (d0 + d1) floordiv 2) floordiv 2"] {
        assert!(!analysis.range(&read(e)).is_empty());
        let _ = analysis.congruence(&read(e));
    }
}

fn linear() -> impl Strategy<Value = Expr> {
    let factor = prop::sample::select(vec![1, 1, 1, -1, 2, 3, 4, 6, -2, -4, 8]);
    prop::collection::vec((0..3u32, factor), 1..4)
        .prop_flat_map(|terms| (Just(terms), -5..6i64))
        .prop_map(|(terms, k)| terms.into_iter().fold(Expr::constant(k), |sum, (v, c)| sum + Expr::dim(v) * c))
}

fn expression() -> impl Strategy<Value = Expr> {
    linear().prop_recursive(2, 8, 2, |inner| {
        (inner.clone(), inner, prop::sample::select(vec![2, 3, 4, 6, 8]), -3..5i64, any::<bool>())
            .prop_map(|(a, b, c, f, divides)| if divides { a.floor_div(c) * f + b } else { a.modulo(c) * f + b })
    })
}

/// A fact that holds at the point: bounds around the value there, or its residue.
fn true_fact() -> impl Strategy<Value = (Expr, i64, i64, i64)> {
    (expression(), 0..4i64, 0..4i64, prop::sample::select(vec![0, 0, 2, 3, 4, 6]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_is_within(
        facts in prop::collection::vec(true_fact(), 0..4),
        at in prop::collection::vec(0..5i64, 3),
        e in expression(),
        parts in prop::collection::vec((0..4usize, -2..3i64), 2),
    ) {
        let at_point = |e: &Expr, p: &[i64]| {
            e.evaluate_at(&Point { dims: p, ..Point::default() }).expect("small numbers")
        };
        let facts: Vec<Constraint> = facts
            .into_iter()
            .map(|(e, below, above, m)| {
                let e = if m > 0 { e.modulo(m) } else { e };
                let value = at_point(&e, &at);
                let (below, above) = if m > 0 { (0, 0) } else { (below, above) };
                Constraint::new(e, Interval::new(value - below, value + above))
            })
            .collect();
        // Multiples of what is bounded, so that facts meet the expression.
        let e = parts.iter().fold(e, |sum, (i, f)| match facts.get(*i) {
            Some(fact) => sum + fact.expr.clone() * *f,
            None => sum,
        });
        let mut analysis = Analysis::new(&dims(&[(0, 4), (0, 4), (0, 4)]), &facts);
        let (range, class) = (analysis.range(&e), analysis.congruence(&e));
        for x in 0..5 {
            for y in 0..5 {
                for z in 0..5 {
                    let p = [x, y, z];
                    if facts.iter().all(|f| f.bounds.contains(at_point(&f.expr, &p))) {
                        let value = at_point(&e, &p);
                        prop_assert!(range.contains(value), "{} is {} beyond {} under {:?}", e, value, range, facts);
                        let inside = class.within(Interval::point(value)) == Interval::point(value);
                        prop_assert!(inside, "{} is {}, not {:?} under {:?}", e, value, class, facts);
                    }
                }
            }
        }
    }
}
