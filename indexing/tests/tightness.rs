//! Tightness of the bounds of variables after simplification, judged by the least and greatest value among the
//! enumerated points.
//!
//! The rules: a sum `a·x + b` or a quotient `x // c` in an interval bounds `x`, a sum of a multiple and a small
//! rest bounds the multiple, congruences of one variable merge, a congruence moves both bounds inwards, and an
//! interval of a remainder that says everything or nothing goes.

use crate::support::random::Random;
use weft_indexing::{Constraint, Expr, IndexingMap, Interval, Variable};

/// Random domains of each kind.
const DOMAINS: usize = 1500;
/// The least share of domains, in percent, in which the constraints leave less than the bounds do.
const MIN_NARROWED: usize = 30;
/// Failures shown, the shortest first.
const MAX_SHOWN: usize = 6;

/// A sum or a chain of sums and quotients of one variable, each step undone by a law of one constraint.
fn chain(random: &mut Random, steps: usize) -> Expr {
    let mut e = Expr::dim(0);
    for _ in 0..steps {
        e = match random.below(5) {
            0 | 1 => e * random.pick(&[2, 3, 5, 7, 12, -1, -2, -3]) + random.between(-30, 30),
            2 => e + random.between(-50, 50),
            3 => e.floor_div(random.pick(&[2, 3, 4, 5, 8, 12])),
            _ => e.floor_div(-random.pick(&[1, 2, 3, 4, 5, 8, 12])),
        };
    }
    e
}

fn bounds(random: &mut Random) -> Interval {
    let lo = random.pick(&[0, 0, 0, -40, 17, -3]);
    Interval::new(lo, lo + random.between(0, 120))
}

fn value(e: &Expr, x: i64) -> i64 {
    e.evaluate(|_| x).expect("small numbers")
}

/// An interval around what the expression is at some value; open at one end now and then, or next to all values.
fn around(random: &mut Random, e: &Expr, b: Interval) -> Interval {
    let v = value(e, random.between(b.lo, b.hi));
    match random.below(12) {
        0 => Interval::new(v, i64::MAX),
        1 => Interval::new(i64::MIN, v),
        2 => Interval::new(v + 1000, v + 2000),
        3 | 4 => Interval::point(v),
        _ => Interval::new(v - random.between(0, 9), v + random.between(0, 9)),
    }
}

/// A congruence of the variable, shifted by a constant, true somewhere.
fn congruence(random: &mut Random, b: Interval) -> Constraint {
    let c = random.pick(&[2, 3, 4, 5, 6, 8, 9, 12, 16]);
    let e = (Expr::dim(0) + random.pick(&[0, 0, 1, -1, 5, -7])).modulo(c);
    let r = value(&e, random.between(b.lo, b.hi));
    Constraint::new(e, Interval::point(r))
}

/// An interval of a remainder that holds every remainder, or none.
fn all_or_nothing(random: &mut Random) -> Constraint {
    let c = random.pick(&[2, 3, 4, 8, 12]);
    let e = (Expr::dim(0) + random.between(-3, 3)).modulo(c);
    let all = Interval::new(-random.between(0, 3), c - 1 + random.between(0, 3));
    let none = [Interval::new(c, c + 4), Interval::new(-5, -1), Interval::point(c)];
    let bounds = if random.chance(85) { all } else { random.pick(&none) };
    Constraint::new(e, bounds)
}

/// Compares the bounds of `d0` after simplification with the least and greatest value among the points; a domain without
/// points must be known to be empty. True when there was something to narrow.
fn judge(dims: &[Interval], constraints: &[Constraint]) -> Result<bool, String> {
    let variables = dims.iter().map(|b| Variable::new(*b)).collect();
    let map = IndexingMap::try_new(variables, Vec::new(), Vec::new(), vec![Expr::dim(0)], constraints.to_vec())
        .expect("the parts fit together");
    let values: Vec<i64> = map.points().map(|p| p.dims[0]).collect();
    let mut simple = map.clone();
    simple.simplify();
    let given: Vec<String> = constraints.iter().map(|c| format!("{} in {}", c.expr, c.bounds)).collect();
    let given = format!("d in {dims:?}, {}", given.join(", "));
    match (values.iter().min(), values.iter().max()) {
        (Some(lo), Some(hi)) => {
            let exact = Interval::new(*lo, *hi);
            let found = simple.dims()[0].bounds();
            if found == exact && !simple.is_known_empty() {
                Ok(exact != dims[0])
            } else {
                Err(format!("{given}: d0 in {found}, could be {exact}"))
            }
        }
        _ if simple.is_known_empty() => Ok(true),
        _ => Err(format!("{given}: no points, but not known to be empty")),
    }
}

fn all_tight(seed: u64, mut domain: impl FnMut(&mut Random) -> (Vec<Interval>, Vec<Constraint>)) {
    let mut random = Random::new(seed);
    let mut failures = Vec::new();
    let mut narrowed = 0;
    for _ in 0..DOMAINS {
        let (dims, constraints) = domain(&mut random);
        match judge(&dims, &constraints) {
            Ok(narrows) => narrowed += usize::from(narrows),
            Err(failure) => failures.push(failure),
        }
    }
    failures.sort_by_key(|text| text.len());
    let shown = failures.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {DOMAINS} are wider than need be\n{shown}", failures.len());
    assert!(narrowed * 100 >= DOMAINS * MIN_NARROWED, "only {narrowed} of {DOMAINS} had anything to narrow");
}

#[test]
fn sums_and_quotients_are_undone() {
    all_tight(1, |random| {
        let b = bounds(random);
        let e = Expr::dim(0) * random.pick(&[1, 2, 3, 5, 7, 12, -1, -2, -3]) + random.between(-30, 30);
        let e = if random.chance(50) { e } else { Expr::dim(0).floor_div(random.pick(&[2, 3, 5, 8, -1, -2, -3, -7])) };
        let interval = around(random, &e, b);
        (vec![b], vec![Constraint::new(e, interval)])
    });
}

#[test]
fn chains_of_sums_and_quotients_are_undone() {
    all_tight(2, |random| {
        let b = bounds(random);
        let facts = (0..random.pick(&[1, 1, 2])).map(|_| {
            let steps = 2 + random.below(3);
            let e = chain(random, steps);
            let interval = around(random, &e, b);
            Constraint::new(e, interval)
        });
        (vec![b], facts.collect())
    });
}

#[test]
fn congruences_move_bounds() {
    all_tight(3, |random| {
        let b = bounds(random);
        (vec![b], vec![congruence(random, b)])
    });
}

#[test]
fn congruences_merge() {
    all_tight(4, |random| {
        let b = bounds(random);
        let facts = (0..random.pick(&[2, 2, 3])).map(|_| congruence(random, b)).collect();
        (vec![b], facts)
    });
}

#[test]
fn remainders_of_all_or_nothing_go() {
    all_tight(5, |random| {
        let b = bounds(random);
        let mut facts = vec![all_or_nothing(random)];
        if random.chance(50) {
            facts.push(congruence(random, b));
        }
        (vec![b], facts)
    });
}

#[test]
fn all_facts_of_one_variable_meet() {
    all_tight(6, |random| {
        let b = bounds(random);
        let mut facts = Vec::new();
        for _ in 0..random.pick(&[2, 3, 3, 4]) {
            facts.push(match random.below(4) {
                0 => congruence(random, b),
                1 => all_or_nothing(random),
                _ => {
                    let steps = 1 + random.below(3);
                    let e = chain(random, steps);
                    let interval = around(random, &e, b);
                    Constraint::new(e, interval)
                }
            });
        }
        random.shuffle(&mut facts);
        (vec![b], facts)
    });
}

/// `l ≤ g·d0 + b ≤ h` where `⌈(l − b)/g⌉` and `⌊(h − b)/g⌋` are each one number for all values of `b`, a sum of other
/// variables: then they bound `d0`.
#[test]
fn small_rests_do_not_matter() {
    all_tight(7, |random| {
        loop {
            let g = random.pick(&[4, 6, 8, 10, 16]);
            let (b0, b1) = (bounds(random), Interval::new(0, random.between(0, 3)));
            let b2 = Interval::new(0, random.between(0, 1));
            let (shift, a) = (random.between(-20, 20), random.pick(&[1, 1, 2, -1]));
            let e = Expr::dim(0) * g + Expr::dim(1) * a + Expr::dim(2) + shift;
            let at = g * random.between(b0.lo, b0.hi) + shift;
            let (l, h) = (at - random.between(0, 3 * g), at + random.between(0, 3 * g));
            let rests: Vec<i64> =
                (b1.lo..=b1.hi).flat_map(|x| (b2.lo..=b2.hi).map(move |y| a * x + y + shift)).collect();
            let low = |b: i64| -(b - l).div_euclid(g);
            let high = |b: i64| (h - b).div_euclid(g);
            if rests.iter().all(|b| low(*b) == low(rests[0]) && high(*b) == high(rests[0])) {
                return (vec![b0, b1, b2], vec![Constraint::new(e, Interval::new(l, h))]);
            }
        }
    });
}
