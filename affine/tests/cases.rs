//! Known expressions and their expected simplified forms, from the specification, the literature and reshape chains.

use crate::support;
use weft_affine::{Atom, Config, Constraint, Expr, Interval, Point, Ranges, Simplifier, Term};

/// `ranges` are those of `d0, d1, …`, as (lo, hi).
fn check(text: &str, ranges: &[(i64, i64)], facts: &[(&str, i64, i64)], wanted: &str) {
    let e: Expr = text.parse().expect(text);
    let domain = Ranges::of_dims(ranges.iter().map(|(lo, hi)| Interval::new(*lo, *hi)));
    let facts: Vec<Constraint> =
        facts.iter().map(|(t, lo, hi)| Constraint::new(t.parse().expect(t), Interval::new(*lo, *hi))).collect();
    let simple = weft_affine::simplify(&e, &domain, &facts);
    assert_eq!(support::replay(&e, &domain, &facts), simple, "a log changes the result of {text}");
    let hoped: Expr = wanted.parse().expect(wanted);
    assert!(
        simple.cost() <= hoped.cost(),
        "{text}\n became {simple} ({})\n hoped {hoped} ({})",
        simple.cost(),
        hoped.cost()
    );
    // A sparse sweep of the box: every variable at its ends and at a few values between.
    let choices: Vec<Vec<i64>> = ranges
        .iter()
        .map(|(lo, hi)| {
            (0..=12).map(|i| lo + (hi - lo) * i / 12).chain([lo + 1, hi - 1]).filter(|v| lo <= v && v <= hi).collect()
        })
        .collect();
    let mut index = vec![0; ranges.len()];
    loop {
        let dims: Vec<i64> = index.iter().zip(&choices).map(|(i, c)| c[*i]).collect();
        let point = Point { dims: &dims, ..Point::default() };
        if facts.iter().all(|c| c.bounds.contains(c.expr.evaluate_at(&point).expect("small numbers"))) {
            assert_eq!(e.evaluate_at(&point), simple.evaluate_at(&point), "{text} = {simple} at {dims:?}");
        }
        let Some(i) = (0..index.len()).rev().find(|i| index[*i] + 1 < choices[*i].len()) else { break };
        index[i] += 1;
        index[i + 1..].fill(0);
    }
}

#[test]
fn of_the_design_note() {
    check("(6d0 + 9) floordiv 18", &[(0, 99)], &[], "(d0 + 1) floordiv 3");
    check("(-d0) mod 2", &[(0, 99)], &[], "d0 mod 2");
    check("(15 - d0) floordiv 4 + d0 floordiv 4", &[(0, 99)], &[], "3");
    check("(d0 floordiv 8) * 8", &[(0, 99)], &[("d0 mod 8", 0, 0)], "d0");
    check("(4d0 + d1) floordiv 4", &[(0, 9), (0, 9)], &[("4d0 + d1", 8, 11)], "2");
    check("((4d0 + d1) floordiv 4) mod 8 + d1", &[(0, 9), (0, 9)], &[("4d0 + d1", 8, 11)], "d1 + 2");
    check("(16d0 + d1) floordiv 128", &[(0, 99), (0, 79)], &[("d0 mod 8", 3, 3)], "d0 floordiv 8");
    check("d0 floordiv 2 - (d0 floordiv 24) * 12", &[(0, 999)], &[], "(d0 floordiv 2) mod 12");
    let l = "(512 * (1023 - d0) + 4 * (127 - d1) + 3 - d2)";
    check(
        &format!("(({l} floordiv 1024) mod 64) * 1024 + {l} mod 1024"),
        &[(0, 1023), (0, 127), (0, 3)],
        &[],
        "((1023 - d0) mod 128) * 512 + 511 - d1 * 4 - d2",
    );
}

#[test]
fn quotient_and_remainder_belong_together() {
    check("(d0 floordiv 8) * 8 + d0 mod 8", &[(0, 999)], &[], "d0");
    check("d0 - (d0 floordiv 8) * 8", &[(0, 999)], &[], "d0 mod 8");
    check("((d0 floordiv 4) mod 3) * 4 + d0 mod 4", &[(0, 999)], &[], "d0 mod 12");
    check("(d0 floordiv 12) * 3 + (d0 floordiv 4) mod 3", &[(0, 999)], &[], "d0 floordiv 4");
    check("((d0 mod 12) floordiv 4) * 4 + d0 mod 4", &[(0, 999)], &[], "d0 mod 12");
    check("(d0 mod 12) mod 4", &[(0, 999)], &[], "d0 mod 4");
    check("(d0 floordiv 4) floordiv 8", &[(0, 999)], &[], "d0 floordiv 32");
    check("((d0 floordiv 4) * 4 + d0 mod 4) floordiv 8", &[(0, 999)], &[], "d0 floordiv 8");
    check("((9 - d0) floordiv 4) * 4 + (9 - d0) mod 4", &[(0, 9)], &[], "9 - d0");
    check("(d0 * 3 + d1) floordiv 12", &[(0, 99), (0, 2)], &[], "d0 floordiv 4");
    check("(d0 * 3 + d1) mod 12", &[(0, 99), (0, 2)], &[], "(d0 mod 4) * 3 + d1");
    check("(7d0 + 7) floordiv 8", &[(0, 7)], &[], "d0");
    check("((d0 + 3) floordiv 7) - 1", &[(4, 60)], &[], "(d0 - 4) floordiv 7");
}

#[test]
fn reshapes() {
    // [4, 8, 12] read as [32, 3, 4], as [8, 48], and as [6, 64].
    let flat = "(d0 * 96 + d1 * 12 + d2)";
    let dims = [(0, 3), (0, 7), (0, 11)];
    check(&format!("{flat} floordiv 12"), &dims, &[], "d0 * 8 + d1");
    check(&format!("({flat} floordiv 4) mod 3"), &dims, &[], "d2 floordiv 4");
    check(&format!("{flat} mod 4"), &dims, &[], "d2 mod 4");
    check(&format!("{flat} floordiv 48"), &dims, &[], "d0 * 2 + d1 floordiv 4");
    check(&format!("{flat} mod 48"), &dims, &[], "(d1 mod 4) * 12 + d2");
    let six = format!("(({flat} floordiv 64) * 64 + {flat} mod 64)");
    check(&format!("{six} floordiv 96"), &dims, &[], "d0");
    check(&format!("({six} floordiv 12) mod 8"), &dims, &[], "d1");
    check(&format!("{six} mod 12"), &dims, &[], "d2");
    // The tail of a bitcast of a tiled layout.
    check("(d0 floordiv 32) * 32 + ((d0 mod 32) floordiv 4) * 4 + d0 mod 4", &[(0, 4095)], &[], "d0");
    check("((d0 * 128 + d1) floordiv 1024) * 1024 + (d0 mod 8) * 128 + d1", &[(0, 63), (0, 127)], &[], "d0 * 128 + d1");
}

#[test]
fn reversals() {
    check("(11 - d0) floordiv 4", &[(0, 11)], &[], "2 - d0 floordiv 4");
    check("(11 - d0) mod 4", &[(0, 11)], &[], "3 - d0 mod 4");
    check("((11 - d0) floordiv 4) * 4 + (11 - d0) mod 4", &[(0, 11)], &[], "11 - d0");
    check("11 - (((11 - d0) floordiv 4) * 4 + (11 - d0) mod 4)", &[(0, 11)], &[], "d0");
}

#[test]
fn the_egraph_finds_what_order_of_rules_misses() {
    // d0 mod 12 as quotient and remainder by 4 and by 3, both opened.
    check("(d0 mod 12) floordiv 4 + (d0 floordiv 12) * 3 + d1", &[(0, 999), (0, 3)], &[], "d0 floordiv 4 + d1");
    // Two operations instead of three, but of a range that proves nothing: not taken.
    let kept: Expr = "d1 + (d0 floordiv 4) mod 8 + (d0 mod 4) * 2".parse().unwrap();
    let ranges = Ranges::of_dims([Interval::new(0, 1000), Interval::new(0, 7)]);
    assert_eq!(weft_affine::simplify(&kept, &ranges, &[]), kept);
    check("(d0 + d0 mod 4 + 2) floordiv 4 - (d0 mod 4 + d0 mod 4 + 2) floordiv 4", &[(0, 99)], &[], "d0 floordiv 4");
}

#[test]
fn overflow_is_no_rewrite_and_no_panic() {
    let huge = i64::MAX;
    for text in [
        format!("(d0 * {huge} + {huge}) floordiv 3"),
        format!("((d0 floordiv {huge}) floordiv {huge}) mod {huge}"),
        format!("(d0 * -9223372036854775808 - 9223372036854775808) mod {huge}"),
        format!("(d0 mod {huge}) * {huge} + d0 floordiv 2"),
    ] {
        let e: Expr = text.parse().unwrap();
        assert_eq!(e.to_string().parse::<Expr>().unwrap(), e);
        for bounds in [Interval::EVERYTHING, Interval::new(0, 9), Interval::EMPTY, Interval::new(i64::MAX, i64::MIN)] {
            let simple = weft_affine::simplify(&e, &Ranges::of_dims([bounds]), &[]);
            assert!(simple.cost() <= e.cost());
        }
    }
}

#[test]
fn no_bound_proves_nothing() {
    // The argument of the division leaves i64 at most points of the domain, but not here.
    let x = "(d0 * -2 - d1 * 5 - 9223372036854775807)";
    let e: Expr = format!("(({x} floordiv 2) * -2 - {x} mod 2) floordiv 4").parse().unwrap();
    let bounds = [Interval::new(i64::MIN, i64::MIN + 2), Interval::EVERYTHING];
    let simple = weft_affine::simplify(&e, &Ranges::of_dims(bounds), &[]);
    let point = Point { dims: &[i64::MIN, 1], ..Point::default() };
    assert_eq!(e.evaluate_at(&point), Ok(-2_305_843_009_213_693_951));
    if let Ok(after) = simple.evaluate_at(&point) {
        assert_eq!(after, -2_305_843_009_213_693_951, "{e} = {simple}");
    }
    let remainder: Expr = "d0 - (d0 floordiv 8) * 8".parse().unwrap();
    let unbounded = Ranges::of_dims([Interval::EVERYTHING]);
    assert_eq!(weft_affine::simplify(&remainder, &unbounded, &[]), Expr::dim(0).modulo(8));
    assert_eq!(weft_affine::range_of(&remainder, &unbounded), Interval::new(0, 7));
}

#[test]
fn extreme_coefficients_do_not_panic() {
    let e: Expr = "d2 + ((d0 * 6 + d1 + d2) floordiv 8) * -9223372036854775808".parse().unwrap();
    let ranges = Ranges::of_dims([Interval::new(0, 3), Interval::new(-7, -5), Interval::new(0, 2)]);
    assert!(weft_affine::simplify(&e, &ranges, &[]).cost() <= e.cost());
    // A tree of more than 2^64 nodes, which no count of nodes may wrap on.
    let mut e = Expr::dim(0);
    for i in 0..80 {
        e = e.floor_div(2 + i % 3) + e.modulo(3 + i % 2);
    }
    assert_eq!(e.tree_size(), u64::MAX);
    let config = Config { max_steps: 200, ..Config::default() };
    let simple = Simplifier::with_config(&ranges, &[], config).simplify(&e);
    assert_eq!(simple.evaluate(|_| 2), e.evaluate(|_| 2));
}

#[test]
fn contradicting_facts_end() {
    let e: Expr =
        "((d2 * 7 - ((d0 * -6 + ((d2 * -4) floordiv 2) * 2) mod 5) * 6 + (((d2 * -2 - ((d0 * 7 - d1 * 4 + 9) \
        floordiv 12) * 2 - (d0 * 7 - d1 * 4 + 9) mod 12 + 11) mod 16) mod 16) * 16 + 21) floordiv 4) * 4 \
        + (d2 * 17 + (d0 mod 6) * 6) mod 36"
            .parse()
            .unwrap();
    let ranges = Ranges::of_dims([Interval::new(0, 5), Interval::new(0, 2), Interval::new(0, 11)]);
    let never = Constraint::new(Expr::dim(0).modulo(36), Interval::point(12));
    let larger = Config { max_nodes: 150, ..Config::default() };
    for config in [Config::default(), larger] {
        let simple = Simplifier::with_config(&ranges, std::slice::from_ref(&never), config).simplify(&e);
        assert!(simple.cost() <= e.cost());
    }
}

#[test]
fn atoms_made_by_hand_are_made_canonical() {
    let term = |atom| [Term { coefficient: 3, atom }];
    assert_eq!(Expr::sum(1, term(Atom::FloorDiv(Expr::constant(9), 2))), Ok(Expr::constant(13)));
    assert_eq!(Expr::sum(0, term(Atom::Mod(Expr::dim(0), 1))), Ok(Expr::constant(0)));
    assert_eq!(Expr::sum(0, term(Atom::FloorDiv(Expr::dim(0), 0))).unwrap_err().code(), "AFF002");
    assert_eq!(Expr::sum(0, term(Atom::Mod(Expr::dim(0), -4))).unwrap_err().code(), "AFF003");
}

#[test]
fn long_sums_are_read_quickly() {
    let names: Vec<String> = (0..20_000).map(|i| format!("d{i}")).collect();
    let e: Expr = names.join(" + ").parse().unwrap();
    assert_eq!(e.terms().len(), 20_000);
    let max = i64::MAX;
    let nearly: Expr = format!("-d0 * 5 + d0 * {max} + d0 * 3").parse().unwrap();
    assert_eq!(nearly, Expr::dim(0) * (max - 2));
    assert_eq!(format!("d0 * {max} + d0 - d0").parse::<Expr>().unwrap_err().code(), "AFF006");
}

#[test]
fn long_chains_stay_small_and_quick() {
    // Without simplification the tree of this chain has 2^60 nodes; as a DAG it is a few hundred.
    let mut e = Expr::dim(0);
    for i in 0..60 {
        let (k, m) = (2 + i % 3, 5 + i % 4);
        e = e.modulo(1000 + i) + e.floor_div(k) * m;
    }
    assert!(e.node_count() < 300);
    let text = e.to_string();
    assert!(text.len() < 20_000, "{} bytes", text.len());
    assert_eq!(text.parse::<Expr>().unwrap(), e);
    let ranges = Ranges::of_dims([Interval::new(0, 999)]);
    let simple = Simplifier::with_config(&ranges, &[], Config::default()).simplify(&e);
    assert!(simple.node_count() <= e.node_count());
    let at = |e: &Expr| e.evaluate(|_| 77);
    assert_eq!(at(&simple), at(&e));
    // A chain so deep that recursion by depth would end the stack.
    let mut deep = Expr::dim(0);
    for i in 0..50_000 {
        deep = deep.modulo(1_000_003 + i % 7) + 1;
    }
    let text = deep.to_string();
    assert_eq!(text.parse::<Expr>().unwrap(), deep);
    let _ = weft_affine::simplify(&deep, &ranges, &[]);
    let _ = deep.substitute(|_| Some(Expr::range(0))).unwrap();
}

#[test]
fn the_egraph_can_be_looked_at() {
    let e: Expr = "(d0 * 8 + d1) floordiv 8".parse().unwrap();
    let ranges = Ranges::of_dims([Interval::new(0, 3), Interval::new(0, 7)]);
    let mut simplifier = Simplifier::new(&ranges, &[]);
    let picture = simplifier.egraph(&e);
    let root = &picture.classes[picture.root];
    assert_eq!((root.best.as_ref(), root.range), (Some(&Expr::dim(0)), Interval::new(0, 3)));
    assert_eq!(picture, simplifier.egraph(&e));
    let dot = picture.to_dot();
    assert!(dot.starts_with("digraph egraph {\n") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains("[label=\"{c0 in [0, 3]|d0|{<n0> d0"), "{dot}");
    for class in &picture.classes {
        assert!(class.nodes.iter().flat_map(|node| &node.children).all(|child| *child < picture.classes.len()));
    }
}
