//! Proofs of coverage, for random maps and parts of them, judged by all pairs that they relate.
#![allow(clippy::print_stdout, reason = "the counts of the cases are for whoever runs them")]

use crate::support::count::cases;
use crate::support::random::Random;
use crate::worlds::{World, map, pairs, related};
use std::collections::BTreeSet;
use weft_indexing::{Constraint, Expr, IndexingMap, Interval, Limits, Owner, RuntimeVariable, Var, Variable};

/// The map where a sum of a dimension and a value of the program lies within some bounds; the value stands before the others.
fn part(random: &mut Random, whole: &IndexingMap) -> IndexingMap {
    let renamed = |e: &Expr| {
        e.substitute(|v| match v {
            Var::Runtime(i) => Some(Expr::runtime(i + 1)),
            _ => None,
        })
        .expect("numbers stay small")
    };
    let mut runtime = vec![RuntimeVariable::of(Owner(99), Vec::new(), Interval::new(0, 3))];
    runtime
        .extend(whole.runtime().iter().map(|own| own.clone().with_access(own.access().iter().map(renamed).collect())));
    let mut constraints: Vec<Constraint> =
        whole.constraints().iter().map(|own| Constraint::new(renamed(&own.expr), own.bounds)).collect();
    let lo = random.between(-2, 2);
    let within = Interval::new(lo, lo + random.between(0, 6));
    constraints.push(Constraint::new(Expr::dim(0) + Expr::runtime(0), within));
    let results = whole.results().iter().map(renamed).collect();
    IndexingMap::try_new(whole.dims().to_vec(), whole.ranges().to_vec(), runtime, results, constraints)
        .expect("the parts fit together")
}

/// False where the one relates in some world what the other does not; nothing where numbers leave `i64`.
fn holds(map: &IndexingMap, other: &IndexingMap) -> Option<bool> {
    let mut holds = true;
    for seed in 0..4 {
        let world = World::new(seed);
        let all: BTreeSet<_> = pairs(&related(other, world)?).into_iter().collect();
        holds &= pairs(&related(map, world)?).iter().all(|pair| all.contains(pair));
    }
    Some(holds)
}

#[test]
fn what_is_covered_is_related() {
    let count = cases(500);
    let (mut parts, mut others) = (0, 0);
    for seed in 0..count {
        let mut random = Random::new(seed);
        let whole = map(&mut random, 2, 1);
        let mut part = part(&mut random, &whole);
        if random.between(0, 1) == 1 {
            part.simplify();
        }
        let other = map(&mut random, 2, 1);
        for (one, another) in [(&part, &whole), (&whole, &part), (&whole, &whole), (&whole, &other), (&part, &other)] {
            if !one.is_subset_of(another, &Limits::STRUCTURE).is_yes() {
                continue;
            }
            parts += usize::from(std::ptr::eq(one, &part) && std::ptr::eq(another, &whole));
            others += usize::from(std::ptr::eq(another, &other) && !one.is_known_empty());
            assert_ne!(holds(one, another), Some(false), "case {seed}: {one}\nis not covered by {another}");
        }
        assert!(
            whole.is_undefined() || whole.is_subset_of(&whole, &Limits::STRUCTURE).is_yes(),
            "case {seed}: {whole}"
        );
    }
    assert!(parts as u64 > count / 2, "{parts} of {count} parts are seen to be some");
    println!("{parts} of {count} parts, {others} others");
}

#[test]
fn runtime_variables_are_told_by_what_they_are() {
    let start = |owner, access: Vec<Expr>| RuntimeVariable::of(Owner(owner), access, Interval::new(0, 3));
    let shifted = |runtime: Vec<RuntimeVariable>, by: u32| {
        let dims = vec![Variable::new(Interval::of_extent(8))];
        IndexingMap::try_new(dims, vec![], runtime, vec![Expr::dim(0) + Expr::runtime(by)], vec![])
            .expect("the parts fit together")
    };
    let one = shifted(vec![start(1, Vec::new())], 0);
    let same = shifted(vec![start(2, Vec::new()), start(1, Vec::new())], 1);
    let other = shifted(vec![start(2, Vec::new())], 0);
    let element = |of: u64| shifted(vec![start(of, Vec::new()), start(3, vec![Expr::runtime(0)])], 1);
    let covered = |one: &IndexingMap, other: &IndexingMap| one.is_subset_of(other, &Limits::STRUCTURE).is_yes();
    assert!(covered(&same, &one));
    assert!(!covered(&one, &other) && !covered(&other, &one));
    // Elements at the same place of a list, but the places are other values.
    assert!(covered(&element(1), &element(1)) && !covered(&element(1), &element(2)));
    // A dropped value is a condition, a clamped one is not.
    let dropped = shifted(vec![start(1, Vec::new()).dropping()], 0);
    let narrower = RuntimeVariable::of(Owner(1), Vec::new(), Interval::new(1, 2));
    let narrow = shifted(vec![narrower.clone().dropping()], 0);
    assert!(covered(&narrow, &dropped) && !covered(&dropped, &narrow) && !covered(&dropped, &one));
    let clamped = shifted(vec![narrower], 0);
    assert!(!covered(&clamped, &one) && !covered(&one, &clamped));
}
