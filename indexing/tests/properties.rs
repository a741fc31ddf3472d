//! Maps over small random domains, judged by enumeration.

use proptest::prelude::*;
use weft_indexing::{Constraint, Expr, IndexingMap, Interval, RuntimeVariable, Var, Variable};

/// Two dimensions, one range and one runtime variable.
fn variable() -> impl Strategy<Value = Expr> {
    prop_oneof![
        3 => (0..2u32).prop_map(Expr::dim),
        1 => Just(Expr::range(0)),
        1 => Just(Expr::runtime(0)),
    ]
}

fn factor() -> impl Strategy<Value = i64> {
    prop::sample::select(vec![1, 1, 1, -1, 2, 3, 4, 6, 8, -2, -4])
}

fn expression() -> impl Strategy<Value = Expr> {
    let linear = prop::collection::vec((variable(), factor()), 1..3)
        .prop_flat_map(|terms| (Just(terms), -9..9i64))
        .prop_map(|(terms, k)| terms.into_iter().fold(Expr::constant(k), |sum, (v, c)| sum + v * c));
    linear.prop_recursive(2, 8, 2, move |inner| {
        (inner.clone(), inner, prop::sample::select(vec![2, 3, 4, 8]), factor(), 0..4).prop_map(
            |(a, b, c, f, shape)| match shape {
                0 => a.floor_div(c),
                1 => a.modulo(c),
                2 => a.floor_div(c) * f + b,
                _ => a.modulo(c) * f + b,
            },
        )
    })
}

fn bounds() -> impl Strategy<Value = Interval> {
    (prop::sample::select(vec![0, 0, 0, 2, -3]), 0..7i64).prop_map(|(lo, width)| Interval::new(lo, lo + width))
}

fn map(results: usize) -> impl Strategy<Value = IndexingMap> {
    let constraint =
        (expression(), -6..12i64, 0..9i64).prop_map(|(e, lo, width)| Constraint::new(e, Interval::new(lo, lo + width)));
    (
        prop::collection::vec(bounds(), 2),
        bounds(),
        bounds(),
        prop::collection::vec(expression(), results),
        prop::collection::vec(constraint, 0..3),
    )
        .prop_map(|(dims, range, runtime, results, constraints)| {
            IndexingMap::try_new(
                dims.into_iter().map(Variable::new).collect(),
                vec![Variable::new(range)],
                vec![RuntimeVariable::new(runtime)],
                results,
                constraints,
            )
            .expect("the parts fit together")
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_round_trips(m in map(2)) {
        let read: IndexingMap = m.to_string().parse().expect("what was printed can be read");
        prop_assert_eq!(&read, &m);
        prop_assert_eq!(read.to_string(), m.to_string());
    }

    #[test]
    fn simplification_keeps_domain_and_values(m in map(2)) {
        let mut simple = m.clone();
        simple.simplify();
        let (before, after): (Vec<_>, Vec<_>) = (m.points().collect(), simple.points().collect());
        prop_assert_eq!(&before, &after, "{} became {}", m, simple);
        for p in before {
            let at = |map: &IndexingMap| map.evaluate(&p.dims, &p.ranges, &p.runtime);
            prop_assert_eq!(at(&m), at(&simple), "{} became {}", m, simple);
        }
        let mut again = simple.clone();
        again.simplify();
        prop_assert_eq!(again.constraints().len(), simple.constraints().len());
    }

    #[test]
    fn composition_is_pointwise(first in map(2), then in map(1)) {
        let mut both = first.then(&then).expect("the numbers fit");
        both.simplify();
        let mut count = 0;
        for p in first.points() {
            let middle = first.evaluate(&p.dims, &p.ranges, &p.runtime).expect("small numbers");
            let (range, runtime) = (then.ranges()[0].bounds(), then.runtime()[0].bounds());
            for s in range.lo..=range.hi {
                for rt in runtime.lo..=runtime.hi {
                    let ranges = [p.ranges[0], s];
                    let runtimes = [p.runtime[0], rt];
                    let inside = then.contains(&middle, &[s], &[rt]);
                    prop_assert_eq!(both.contains(&p.dims, &ranges, &runtimes), inside, "{} then {} is {}", first, then, both);
                    if inside {
                        count += 1;
                        prop_assert_eq!(
                            both.evaluate(&p.dims, &ranges, &runtimes),
                            then.evaluate(&middle, &[s], &[rt]),
                            "{} then {} is {}", first, then, both
                        );
                    }
                }
            }
        }
        prop_assert_eq!(both.points().count(), count);
    }

    #[test]
    fn unused_symbols_only_repeat(m in map(1)) {
        let mut fewer = m.clone();
        fewer.remove_unused_symbols();
        let values = |map: &IndexingMap| {
            let mut all: Vec<_> = map
                .points()
                .map(|p| (p.dims.clone(), map.evaluate(&p.dims, &p.ranges, &p.runtime).expect("small numbers")))
                .collect();
            all.sort();
            all.dedup();
            all
        };
        prop_assert_eq!(values(&m), values(&fewer));
        let used = |v: Var| fewer.results().iter().chain(fewer.constraints().iter().map(|c| &c.expr)).any(|e| e.variables().contains(&v));
        prop_assert!(fewer.is_known_empty() || fewer.ranges().is_empty() || used(Var::Range(0)));
    }
}

#[test]
fn zero_extents_have_no_points() {
    let m = IndexingMap::identity(&[3, 0]);
    assert!(m.is_known_empty());
    assert_eq!(m.points().count(), 0);
    assert_eq!(m.to_string(), "KNOWN EMPTY (d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, -1]");
    assert!(m.then(&IndexingMap::identity(&[3, 0])).unwrap().is_known_empty());
    assert!(m.then(&IndexingMap::undefined()).unwrap().is_undefined());
}
