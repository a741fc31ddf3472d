//! Canonical forms of domains: what they become, that the set of points stays, and that each step is recorded.

use crate::parts::changed;
use proptest::prelude::*;
use weft_indexing::{Constraint, Expr, IndexingMap, Interval, Owner, RuntimeVariable, Var, Variable};

fn read(text: &str) -> IndexingMap {
    text.parse().expect(text)
}

/// Simplifies a map from variables to nothing, in every order of its constraints, and compares the domain.
fn check(domain: &str, simple: &str) {
    let header = |domain: &str| {
        let of = |v: &str| (0..3).map(|i| format!("{v}{i}")).filter(|v| domain.contains(&format!("{v} in"))).collect();
        let lists: [Vec<String>; 2] = [of("d"), of("s")];
        lists.map(|list| list.join(", "))
    };
    let [dims, ranges] = header(domain);
    let map = read(&format!("({dims})[{ranges}] -> (), domain: {domain}"));
    let mut constraints = map.constraints().to_vec();
    for _ in 0..constraints.len().max(1) {
        let one = constraints.len().min(1);
        constraints.rotate_left(one);
        for turned in [constraints.clone(), constraints.iter().rev().cloned().collect()] {
            let mut one = changed(&map, |parts| parts.constraints = turned);
            one.simplify();
            if simple == "empty" {
                assert!(one.is_known_empty(), "{one}");
            } else {
                let text = one.to_string();
                assert_eq!(text.split_once("domain: ").map(|(_, domain)| domain), Some(simple), "of {domain}");
            }
            assert!(map.box_size() > 20_000 || map.points().eq(one.points()), "{map} became {one}");
            assert!(!one.clone().simplify(), "{one} is not a fixed point");
        }
    }
}

#[test]
fn one_constraint() {
    check("s0 in [-100, 100], s0 floordiv -3 in [-11, -5]", "s0 in [13, 33]");
    check("d0 in [0, 99], (d0 * 2 + 1) floordiv 4 in [1, 3]", "d0 in [2, 7]");
    check("d0 in [0, 9], d1 in [0, 3], d0 * 4 + d1 in [0, 11]", "d0 in [0, 2], d1 in [0, 3]");
    check("d0 in [0, 9], d1 in [0, 9], d0 * 4 + d1 in [0, 10]", "d0 in [0, 2], d1 in [0, 9], d0 * 4 + d1 in [0, 10]");
    check("d0 in [0, 5], d1 in [1, 3], d0 + d1 in [0, 20]", "d0 in [0, 5], d1 in [1, 3]");
    check("d0 in [0, 5], d1 in [1, 3], d0 + d1 in [9, 20]", "empty");
    check(
        "d0 in [0, 9], d1 in [0, 9], d2 in [0, 1], d0 * 6 + d1 * 4 + d2 in [0, 9]",
        "d0 in [0, 1], d1 in [0, 2], d2 in [0, 1], d0 * 3 + d1 * 2 in [0, 4]",
    );
}

#[test]
fn remainders() {
    check("d0 in [0, 9], d0 mod 2 in [2, 2]", "empty");
    check("d0 in [0, 9], d0 mod 2 in [-9, -1]", "empty");
    check("d0 in [0, 9], d0 mod 2 in [-3, 1]", "d0 in [0, 9]");
    check("d0 in [-10, 10], d0 mod 6 in [-3, 2]", "d0 in [-10, 8], d0 mod 6 in [0, 2]");
    check("d0 in [-10, 10], (d0 * 2) mod 4 in [1, 1]", "empty");
    check("d0 in [0, 99], d0 mod 6 in [0, 0], (d0 floordiv 6) mod 2 in [1, 1]", "d0 in [6, 90], d0 mod 12 in [6, 6]");
    check(
        "d0 in [0, 99], (d0 floordiv 12) mod 3 in [2, 2], (d0 + 1) mod 4 in [0, 0], (d0 floordiv 4) mod 3 in [1, 1]",
        "d0 in [31, 67], d0 mod 36 in [31, 31]",
    );
    check("d0 in [-10, 10], (-d0 + 5) mod 6 in [0, 0]", "d0 in [-7, 5], d0 mod 6 in [5, 5]");
    check("d0 in [0, 40], d0 mod 4 in [3, 3], (d0 + 1) mod 6 in [1, 1]", "empty");
    check("d0 in [0, 40], d0 mod 4 in [3, 3], (d0 + 1) mod 6 in [0, 0]", "d0 in [11, 35], d0 mod 12 in [11, 11]");
    check("d0 in [0, 40], d0 mod 4 in [0, 2], (d0 + 1) mod 4 in [3, 3]", "d0 in [2, 38], (d0 + 1) mod 4 in [3, 3]");
    check(
        "d0 in [0, 40], d0 mod 4 in [1, 3], (d0 + 1) mod 4 in [0, 2]",
        "d0 in [1, 39], (d0 + 1) mod 4 in [0, 2], d0 mod 4 in [1, 3]",
    );
    check("d0 in [3, 9], d0 mod 4 in [3, 3], d0 mod 6 in [3, 3]", "d0 in [3, 3]");
}

#[test]
fn constraints_on_one_sum() {
    check(
        "d0 in [0, 20], d1 in [0, 20], d0 * 2 + d1 * 2 + 4 in [10, 30], -d0 - d1 - 1 in [-9, -2]",
        "d0 in [0, 8], d1 in [0, 8], d0 + d1 in [3, 8]",
    );
    check("d0 in [0, 20], d1 in [0, 20], d0 - d1 in [1, 9], d1 - d0 in [1, 9]", "empty");
    check(
        "d0 in [0, 9], d1 in [0, 9], d0 + d1 in [1, 10], (d0 + d1) mod 4 in [3, 3]",
        "d0 in [0, 7], d1 in [0, 7], (d0 + d1) mod 4 in [3, 3], d0 + d1 in [3, 7]",
    );
    check(
        "d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], d0 + d1 in [0, 5], d0 + d1 + d2 in [0, 14]",
        "d0 in [0, 5], d1 in [0, 5], d2 in [0, 9], d0 + d1 in [0, 5]",
    );
}

#[test]
fn what_others_imply_together_goes() {
    let two = "d0 + d1 in [0, 5], d1 + d2 in [0, 5]";
    let bounds = "d0 in [0, 9], d1 in [-9, 9], d2 in [0, 9]";
    let settled = "d0 in [0, 9], d1 in [-9, 5], d2 in [0, 9], d0 + d1 in [0, 5], d1 + d2 in [0, 5]";
    check(&format!("{bounds}, {two}"), settled);
    check(&format!("{bounds}, {two}, d0 + d1 * 2 + d2 in [0, 10]"), settled);
    check(&format!("{bounds}, {two}, d0 - d2 in [-5, 5]"), settled);
    check(&format!("{bounds}, {two}, (d0 + d1 * 2 + d2) floordiv 11 in [0, 0]"), settled);
    check(&format!("{bounds}, {two}, d0 + d1 * 2 + d2 in [11, 20]"), "empty");
}

/// Over an equality a sum without divisions may have a cheaper form as well.
#[test]
fn sums_settle_over_equalities() {
    let mut map = read(
        "(d0, d1)[s0] -> (d1 * 3 + ((s0 * 2) floordiv 8) * 4 - 7), domain: d0 in [0, 7], d1 in [0, 4], s0 in [-3, 4], \
         d0 * 8 + d1 * 8 - s0 * 2 in [84, 84], d0 + d1 * 4 in [18, 23]",
    );
    map.simplify();
    let mut again = map.clone();
    assert!(!again.simplify(), "{map} became {again}");
}

/// A sum and its negative may simplify to two forms of one cost that turn into one another.
#[test]
fn forms_that_take_turns_settle() {
    let others = "(d1 + ((d0 + d1 + 1) floordiv 3) * 2) mod 6 in [0, 3]";
    let settled =
        format!("d0 in [0, 2], d1 in [5, 7], d2 in [0, 1], {others}, d1 * 3 - d2 * 2 - d1 floordiv 2 in [13, 16]");
    for form in [
        "d2 * 2 - (d1 * 5 + 1) floordiv 2 in [-16, -13]",
        "d1 * 3 - d2 * 2 - d1 floordiv 2 in [13, 16]",
        "d1 * 3 + (-d1 - d2 * 4 - 3) floordiv 2 - 3 in [8, 11]",
    ] {
        check(&format!("d0 in [0, 2], d1 in [0, 7], d2 in [0, 1], {others}, {form}"), &settled);
    }
    let mut map = read(
        "(d0, d1, d2) -> (-d0 - d1 + d2 * 8 + 1, (d0 * -2 + d1 * 6 + (-d0) mod 4 + 6) mod 4), \
         domain: d0 in [0, 2], d1 in [0, 7], d2 in [0, 4], \
         (d1 + ((d0 * 2 + d1 * 2 + 3) floordiv 6) * 2) mod 6 in [-1, 3], \
         d1 * 3 + (-d1 - d2 * 4 - 3) floordiv 2 - 3 in [8, 11], d2 * 4 + (d2 * -3 + 1) floordiv 3 - 2 in [-11, 1]",
    );
    let (given, steps) = (map.clone(), map.simplify_explained());
    assert!(steps.len() < 32, "turn after turn: {steps:?}");
    assert!(given.points().eq(map.points()), "{given} became {map}");
    let mut again = map.clone();
    assert!(!again.simplify(), "{map} became {again}");
}

#[test]
fn another_order_is_no_change() {
    let mut map =
        read("(d0, d1) -> (), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 9], d0 mod 2 + d1 in [1, 8]");
    map.simplify();
    assert_eq!(map.constraints().len(), 2);
    let mut map = changed(&map, |parts| parts.constraints.reverse());
    assert!(!map.simplify(), "{map}");
}

#[test]
fn bounds_that_creep_are_left_alone() {
    // Each variable is less than the one before, all around: nothing satisfies that, and narrowing goes on for a million rounds.
    let all: Vec<String> = (0..4).map(|i| format!("d{i} in [0, 1000000]")).collect();
    let circle: Vec<String> = (0..4).map(|i| format!("d{i} - d{} in [1, 1000000]", (i + 1) % 4)).collect();
    let mut map = read(&format!("(d0, d1, d2, d3) -> (), domain: {}, {}", all.join(", "), circle.join(", ")));
    let before = map.variable_ranges();
    map.simplify();
    assert_eq!(map.variable_ranges(), before);
    let mut again = map.clone();
    assert!(!again.simplify(), "{again}");
    check(
        "d0 in [0, 1000000], d1 in [0, 1000000], d2 in [0, 1000000], \
         d0 - d1 in [1, 1000000], d1 - d2 in [1, 1000000], d2 - d0 in [1, 1000000]",
        "empty",
    );
}

#[test]
fn a_variable_that_is_not_there_is_refused() {
    let constraint = Constraint::new(Expr::dim(7), Interval::new(0, 3));
    let error = IndexingMap::try_new(vec![], vec![], vec![], vec![], vec![constraint]).expect_err("there is no d7");
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("IDX004", "a constraint mentions d7, which the map does not have")
    );

    let [d0, d1, s0] = [Expr::dim(0), Expr::dim(1), Expr::range(0)];
    let given = IndexingMap::identity(&[4]);
    let mut map = given.clone();
    assert!(map.add_constraint(d0.modulo(2) + &d1, Interval::point(0)).is_err());
    assert!(map.set_results(vec![d0.clone(), s0.clone()]).is_err() && map.extend_results([d0.clone(), s0]).is_err());
    assert!(map.replace_runtime_variable(0, &d0).is_err());
    assert_eq!(map, given, "what is refused changes nothing");

    let chained = |first: Expr| {
        let runtime = [first, Expr::runtime(0)].map(|e| RuntimeVariable::of(Owner(1), vec![e], Interval::new(0, 3)));
        IndexingMap::try_new(vec![Variable::new(Interval::of_extent(4))], vec![], runtime.to_vec(), vec![], vec![])
    };
    assert!(chained(d0).is_ok());
    let error = chained(Expr::runtime(1)).expect_err("rt1 is read after rt0");
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("IDX005", "the access of rt0 mentions rt1, which does not come before it")
    );
}

#[test]
fn changes_keep_what_is_known_of_a_map() {
    let mut empty = read("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 3]");
    empty.add_constraint(Expr::dim(0), Interval::new(5, 9)).expect("d0 is there");
    assert!(empty.is_known_empty());
    assert_eq!(empty.add_dim(Variable::new(Interval::of_extent(2))), Ok(Var::Dim(1)));
    empty.set_results(vec![Expr::dim(1)]).expect("d1 is there");
    empty.set_runtime(vec![RuntimeVariable::new(Interval::new(1, 2))]).expect("the bounds are narrower");
    assert!(empty.is_known_empty());
    let wider = empty.set_runtime(vec![RuntimeVariable::new(Interval::new(0, 9))]);
    assert_eq!(wider.map_err(|error| error.code()), Err("IDX003"));

    let mut undefined = IndexingMap::undefined();
    assert!(undefined.set_results(vec![Expr::constant(0)]).is_err() && undefined.set_results(vec![]).is_ok());
    assert!(undefined.add_dim(Variable::new(Interval::of_extent(2))).is_err() && undefined.dims().is_empty());
}

#[test]
fn the_way_there_is_told() {
    let mut map = read("(d0) -> (d0), domain: d0 in [0, 99], (d0 * 2) floordiv 4 in [1, 3], d0 mod 4 in [3, 3]");
    let steps: Vec<String> = map.simplify_explained().iter().map(ToString::to_string).collect();
    assert_eq!(
        steps,
        [
            "(d0 * 2) floordiv 4 in [1, 3] <=> d0 * 2 in [4, 15]    by bounds-of-quotient",
            "d0 * 2 in [4, 15] <=> d0 in [2, 7]    by bounds-of-multiple",
            "d0 in [2, 7], d0 mod 4 in [3, 3] <=> d0 in [3, 7], d0 mod 4 in [3, 3]    by bounds-in-class",
        ]
    );
    assert_eq!(map.to_string(), "(d0) -> (d0), domain: d0 in [3, 7], d0 mod 4 in [3, 3]");
}

fn sum() -> impl Strategy<Value = Expr> {
    let variable =
        prop_oneof![4 => (0..2u32).prop_map(Expr::dim), 1 => Just(Expr::range(0)), 1 => Just(Expr::runtime(0))];
    let factor = prop::sample::select(vec![1, 1, 1, -1, 2, 3, 4, 6, -2]);
    prop::collection::vec((variable, factor), 1..4)
        .prop_flat_map(|terms| (Just(terms), -6..7i64))
        .prop_map(|(terms, k)| terms.into_iter().fold(Expr::constant(k), |sum, (v, c)| sum + v * c))
}

fn constraint() -> impl Strategy<Value = Constraint> {
    let divisor = || prop::sample::select(vec![2, 3, 4, 6, 8]);
    let expr = prop_oneof![
        3 => sum(),
        3 => (sum(), divisor()).prop_map(|(x, c)| x.modulo(c)),
        2 => (sum(), divisor(), any::<bool>()).prop_map(|(x, c, n)| x.floor_div(if n { -c } else { c })),
        1 => (sum(), divisor(), sum()).prop_map(|(x, c, y)| x.floor_div(c) * c + y),
    ];
    (expr, -6..9i64, prop::sample::select(vec![0, 0, 0, 2, 5, 9]))
        .prop_map(|(e, lo, width)| Constraint::new(e, Interval::new(lo, lo + width)))
}

fn map() -> impl Strategy<Value = IndexingMap> {
    (prop::collection::vec((-3..4i64, 0..7i64), 4), prop::collection::vec(constraint(), 1..5)).prop_map(
        |(b, constraints)| {
            let bounds: Vec<Interval> = b.into_iter().map(|(lo, width)| Interval::new(lo, lo + width)).collect();
            let dims = bounds[..2].iter().map(|b| Variable::new(*b)).collect();
            IndexingMap::try_new(
                dims,
                vec![Variable::new(bounds[2])],
                vec![RuntimeVariable::new(bounds[3])],
                vec![],
                constraints,
            )
            .expect("the parts fit together")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn domains_stay_the_same_set(m in map(), turn in 0..4usize) {
        let mut simple = m.clone();
        let steps = simple.simplify_explained();
        prop_assert!(m.points().eq(simple.points()), "{} became {}", m, simple);
        // Each step holds at every point of the domain, and some step of each kind of end is told.
        for p in m.points() {
            for step in &steps {
                for c in step.before.iter().chain(&step.after) {
                    let value = c.expr.evaluate(|v| match v {
                        Var::Dim(i) => p.dims[i as usize],
                        Var::Range(i) => p.ranges[i as usize],
                        Var::Runtime(i) => p.runtime[i as usize],
                    });
                    prop_assert!(c.bounds.contains(value.expect("small numbers")), "{} at {:?}", step, p);
                }
            }
        }
        let mut again = simple.clone();
        prop_assert!(!again.simplify(), "{} became {}, then {}", m, simple, again);
        let by = turn % m.constraints().len().max(1);
        let mut turned = changed(&m, |parts| {
            parts.constraints.reverse();
            parts.constraints.rotate_left(by);
        });
        turned.simplify();
        prop_assert_eq!(turned.is_known_empty(), simple.is_known_empty());
        prop_assert!(simple.is_known_empty() || turned == simple, "{} became {} or {}", m, simple, turned);
        if m.points().next().is_none() && simple.constraints().is_empty() {
            prop_assert!(simple.is_known_empty(), "{}", simple);
        }
    }
}
