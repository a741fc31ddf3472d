//! Every operation on maps, and every analysis that goes from map to map, judged by what the maps relate: random maps with
//! runtime variables, in random worlds.
//!
//! A few hundred maps for each by default. The long run is a million maps and more in all:
//! `WEFT_CASES=100 cargo test --release -p weft-indexing operations:: -- --nocapture`.
//! Each test prints how many of its maps were judged, and of the others why not: `overflow`, where a number leaves `i64` at a point
//! of the box, `too large` to be enumerated, and what an analysis said instead of an answer, by its code. Then come the sums over
//! all tests that are done, of which the last is that of the run.

#![allow(clippy::print_stdout, reason = "the counts of the cases are for whoever runs them")]

mod analyses;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use crate::parts::changed;
use crate::support::count::cases;
use crate::support::random::Random;
use crate::worlds::{Related, World, map, pairs, related, set};
use weft_indexing::{Expr, IndexingMap, Interval, Owner, SimplifyOptions, Var};

/// Maps of each test by default.
const STANDARD: u64 = 200;

/// One map in so many is the undefined one.
const UNDEFINED: usize = 128;

/// The counts of all tests that are done.
static DONE: Mutex<Counts> = Mutex::new(Counts(BTreeMap::new()));

/// What became of the cases: how often each of these things was so.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, what: &str, is_so: bool) {
        *self.0.entry(what.to_owned()).or_default() += u64::from(is_so);
    }

    fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }

    fn add_map(&mut self, map: &IndexingMap) {
        let has_operations = map.results().iter().any(|e| e.operation_count() > 0);
        self.add("divisions or remainders", has_operations);
        self.add("undefined", map.is_undefined());
        self.add("constraints", !map.constraints().is_empty());
        self.add("runtime variables", !map.runtime().is_empty());
        self.add("negative bounds", map.dims().iter().chain(map.ranges()).any(|v| v.bounds().lo < 0));
        self.add(
            "near the ends",
            map.dims().iter().chain(map.ranges()).any(|v| v.bounds().lo.checked_abs().is_none_or(|lo| lo > 1 << 62)),
        );
    }

    /// Prints all, and makes sure that each is so in as many percent of the cases.
    fn expect(&self, name: &str, cases: u64, least: &[(&str, u64)]) {
        println!("{name}: {self}");
        for (what, percent) in least {
            let found = self.of(what);
            assert!(found * 100 >= cases * percent, "{what}: {found} of {cases}, less than {percent} %");
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(|(what, n)| format!("{what} {n}")).collect();
        f.write_str(&all.join(", "))
    }
}

/// Runs `check` on random maps and a world for each; it says what else was so, or nothing where a number left `i64`.
fn run(
    name: &str,
    seed: u64,
    least: &[(&str, u64)],
    mut check: impl FnMut(&mut Random, &IndexingMap, World, &mut Counts) -> Option<()>,
) {
    let mut counts = Counts::default();
    let cases = cases(STANDARD);
    for case in 0..cases {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9) ^ case.wrapping_mul(0xd129_0d3c_5bff_9a21));
        let (dims, results) = (random.pick(&[1, 1, 2, 2, 3]), random.pick(&[1, 1, 2]));
        let is_undefined = random.below(UNDEFINED) == 0;
        let made = if is_undefined { IndexingMap::undefined() } else { map(&mut random, dims, results) };
        counts.add("maps", true);
        counts.add_map(&made);
        let too_large = counts.of("too large");
        let checked = check(&mut random, &made, World::new(case), &mut counts);
        counts.add("overflow", checked.is_none());
        let is_judged = checked.is_some() && counts.of("too large") == too_large;
        counts.add("judged", is_judged);
    }
    let always = [
        ("divisions or remainders", 30),
        ("constraints", 40),
        ("runtime variables", 30),
        ("negative bounds", 10),
        ("judged", 85),
    ];
    counts.expect(name, cases, &[always.as_slice(), least].concat());
    let mut done = DONE.lock().expect("a test that fails has let go of the counts");
    for (what, n) in counts.0.iter().filter(|(what, _)| is_total(what)) {
        *done.0.entry(what.clone()).or_default() += n;
    }
    println!("all so far: {done}\n");
}

/// Whether something is counted over all tests: what was judged, and why not.
fn is_total(what: &str) -> bool {
    let reasons = ["refused", "bounds"];
    ["maps", "judged", "overflow", "undefined", "too large"].contains(&what)
        || reasons.iter().any(|reason| what.starts_with(reason))
}

/// Points of the domain and elements are the same.
#[track_caller]
fn assert_same(before: &IndexingMap, after: &IndexingMap, world: World) -> Option<Vec<Related>> {
    let (old, new) = (related(before, world)?, related(after, world)?);
    assert_eq!(old, new, "{before:?}\nbecame\n{after:?}");
    Some(old)
}

#[test]
fn simplify() {
    let least = [("has points", 50), ("changed", 50), ("known empty", 2)];
    run("simplify", 1, &least, |_, given, world, counts| {
        let mut simple = given.clone();
        let changed = simple.simplify();
        assert_eq!(changed, simple != *given, "{given:?}\nbecame\n{simple:?}");
        let mut again = simple.clone();
        assert!(!again.simplify() && again == simple, "{given:?}\nbecame\n{simple:?}\nthen\n{again:?}");
        counts.add("changed", changed);
        counts.add("known empty", simple.is_known_empty() && !given.is_known_empty());
        let old = assert_same(given, &simple, world)?;
        counts.add("has points", !old.is_empty());
        Some(())
    });
}

#[test]
fn simplify_keeping_points() {
    run("simplify, points kept", 2, &[("point variables stay", 5)], |_, given, world, counts| {
        let options = SimplifyOptions::default().with_point_variables(true);
        let mut simple = given.clone();
        simple.simplify_with(&options);
        assert!(!simple.clone().simplify_with(&options), "{simple:?}");
        let points = |v: &Var| simple.variable_ranges().get(*v).as_point().is_some();
        counts.add("point variables stay", simple.results().iter().any(|e| e.variables().iter().any(points)));
        assert_same(given, &simple, world)?;
        Some(())
    });
}

#[test]
fn compose() {
    run("compose", 3, &[("has pairs", 15), ("runtime variables became one", 1)], |random, first, world, counts| {
        let results = random.pick(&[1, 2]);
        let then = map(random, first.results().len(), results);
        let mut both = first.then(&then).ok()?;
        let apart = first.runtime().len() + then.runtime().len();
        counts.add("runtime variables became one", both.runtime().len() < apart);
        let (of_first, of_then) = (related(first, world)?, related(&then, world)?);
        let expected = of_first.iter().flat_map(|(d, s, middle)| {
            let from = of_then.iter().filter(move |(e, _, _)| e == middle);
            from.map(move |(_, t, e)| (d.clone(), [s.as_slice(), t].concat(), e.clone()))
        });
        let mut expected: Vec<Related> = expected.collect();
        expected.sort();
        counts.add("has pairs", !expected.is_empty());
        for _ in 0..2 {
            assert_eq!(related(&both, world)?, expected, "{first:?}\nthen {then:?}\nis {both:?}");
            both.simplify();
        }
        let all = IndexingMap::compose_in_order([first, &then]).ok()?;
        assert_eq!(pairs(&related(&all, world)?), pairs(&expected), "{first:?}\nthen {then:?}\nis {all:?}");
        let next = map(random, then.results().len(), 1);
        let three = IndexingMap::compose_in_order([first, &then, &next]).ok()?;
        let mut steps = both.then(&next).ok()?;
        steps.simplify();
        assert_eq!(pairs(&related(&three, world)?), pairs(&related(&steps, world)?), "{first:?}\n{then:?}\n{next:?}");
        Some(())
    });
}

#[test]
fn remove_unused_symbols() {
    run("remove unused symbols", 4, &[("removed", 15), ("constraints removed", 2)], |_, given, world, counts| {
        let mut fewer = given.clone();
        let removed = fewer.remove_unused_symbols();
        assert_eq!(removed.is_empty(), fewer == *given);
        assert_eq!(
            (given.ranges().len(), given.runtime().len()),
            (fewer.ranges().len() + removed.ranges.len(), fewer.runtime().len() + removed.runtime.len())
        );
        counts.add("removed", !removed.is_empty());
        counts.add("constraints removed", !removed.constraints.is_empty());
        assert!(fewer.clone().remove_unused_symbols().is_empty(), "{fewer:?}");
        let used = |v: Var| {
            fewer
                .results()
                .iter()
                .chain(fewer.constraints().iter().map(|c| &c.expr))
                .chain(fewer.runtime().iter().flat_map(|v| v.access()))
                .any(|e| e.variables().contains(&v))
        };
        assert!(fewer.is_known_empty() || (0..fewer.ranges().len()).all(|i| used(Var::Range(i as u32))), "{fewer:?}");
        let (old, new) = (related(given, world)?, related(&fewer, world)?);
        assert_eq!(set(pairs(&old)), set(pairs(&new)), "{given:?}\nbecame\n{fewer:?}");
        Some(())
    });
}

#[test]
fn remove_unused_variables() {
    run("remove unused variables", 5, &[("dimensions removed", 15)], |_, given, world, counts| {
        let mut fewer = given.clone();
        let removed = fewer.remove_unused_variables();
        counts.add("dimensions removed", !removed.dims.is_empty());
        let (old, new) = (related(given, world)?, related(&fewer, world)?);
        let kept = |index: &[i64]| -> Vec<i64> {
            (0..).zip(index).filter(|(i, _)| !removed.dims.contains(i)).map(|(_, value)| *value).collect()
        };
        let old = set(old.iter().map(|(d, _, e)| (kept(d), e.clone())).collect());
        assert_eq!(old, set(pairs(&new)), "{given:?}\nbecame\n{fewer:?}");
        Some(())
    });
}

#[test]
fn rescale_symbols() {
    run("rescale symbols", 6, &[("rescaled", 5)], |_, given, world, counts| {
        let mut scaled = given.clone();
        let all = scaled.rescale_symbols();
        counts.add("rescaled", !all.is_empty());
        let (old, mut new) = (related(given, world)?, related(&scaled, world)?);
        for (_, symbols, _) in &mut new {
            for one in &all {
                let s = &mut symbols[one.range as usize];
                *s = *s * one.factor + one.offset;
            }
        }
        new.sort();
        assert_eq!(old, new, "{given:?}\nbecame\n{scaled:?}");
        // Nothing is left to do.
        let mut again = scaled.clone();
        assert!(!again.simplify(), "{given:?}\nbecame\n{scaled:?}\nand simplified\n{again:?}");
        assert!(again.rescale_symbols().is_empty() && again == scaled, "{scaled:?}\nbecame\n{again:?}");
        let mut simple = given.clone();
        simple.simplify();
        let mut scaled = simple.clone();
        scaled.rescale_symbols();
        assert_eq!(pairs(&related(given, world)?), pairs(&related(&scaled, world)?), "{simple:?}\nbecame\n{scaled:?}");
        Some(())
    });
}

#[test]
fn eliminate_ranges() {
    run("eliminate ranges", 7, &[("eliminated", 5)], |_, given, world, counts| {
        let mut fewer = given.clone();
        let removed = fewer.eliminate_ranges();
        counts.add("eliminated", !removed.is_empty());
        assert!(fewer.clone().eliminate_ranges().is_empty(), "{fewer:?}");
        let (old, new) = (related(given, world)?, related(&fewer, world)?);
        let kept = |values: &[i64]| -> Vec<i64> {
            (0..).zip(values).filter(|(i, _)| !removed.ranges.contains(i)).map(|(_, value)| *value).collect()
        };
        let mut old: Vec<Related> = old.into_iter().map(|(d, s, e)| (d, kept(&s), e)).collect();
        old.sort();
        assert_eq!(old, new, "{given:?}\nbecame\n{fewer:?}");
        Some(())
    });
}

#[test]
fn symbols_to_dims() {
    run("symbols to dimensions", 8, &[], |_, given, world, _| {
        let mut wider = given.clone();
        wider.ranges_to_dims();
        assert!(wider.ranges().is_empty());
        let old: Vec<Related> =
            related(given, world)?.into_iter().map(|(d, s, e)| ([d, s].concat(), vec![], e)).collect();
        assert_eq!(old, related(&wider, world)?, "{given:?}\nbecame\n{wider:?}");
        // One by one, the first one first.
        let mut step_by_step = given.clone();
        while step_by_step.symbol_to_dim(Var::Range(0)).is_some() {}
        assert_eq!(step_by_step, wider);
        if let [_, _, ..] = given.ranges() {
            let mut second = given.clone();
            assert_eq!(second.symbol_to_dim(Var::Range(1)), Some(Var::Dim(given.dims().len() as u32)));
            let mut old: Vec<Related> = related(given, world)?
                .into_iter()
                .map(|(d, mut s, e)| {
                    let moved = s.remove(1);
                    ([d, vec![moved]].concat(), s, e)
                })
                .collect();
            old.sort();
            assert_eq!(old, related(&second, world)?, "{given:?}\nbecame\n{second:?}");
        }
        let mut all = given.clone();
        all.symbols_to_dims();
        while step_by_step.symbol_to_dim(Var::Runtime(0)).is_some() {}
        assert_eq!(step_by_step, all);
        if given.box_size() <= 2000 {
            let as_index = given.points().map(|p| {
                let element = given.evaluate(&p.dims, &p.ranges, &p.runtime);
                ([p.dims, p.ranges, p.runtime].concat(), element)
            });
            let found = all.points().map(|p| (p.dims.clone(), all.evaluate(&p.dims, &[], &[])));
            assert!(as_index.eq(found), "{given:?}\nbecame\n{all:?}");
        }
        Some(())
    });
}

#[test]
fn product_and_concatenation() {
    run("product and concatenation", 9, &[("both have points", 20)], |random, first, world, counts| {
        let second = map(random, first.dims().len(), 1);
        let (a, b) = (related(first, world)?, related(&second, world)?);
        counts.add("both have points", !a.is_empty() && !b.is_empty());
        let both = |same_index: bool| {
            let mut list: Vec<Related> = Vec::new();
            for (d, s, e) in &a {
                for (f, t, g) in &b {
                    let index = if same_index { d.clone() } else { [d.as_slice(), f].concat() };
                    if !same_index || d == f {
                        list.push((index, [s.as_slice(), t].concat(), [e.as_slice(), g].concat()));
                    }
                }
            }
            list.sort();
            list
        };
        let beside = first.concatenate(&second).expect("of one rank");
        assert_eq!(related(&beside, world)?, both(true), "{first:?}\n{second:?}\n{beside:?}");
        if first.box_size() * second.box_size() <= 4000 {
            let product = first.product(&second).expect("few variables");
            assert_eq!(related(&product, world)?, both(false), "{first:?}\n{second:?}\n{product:?}");
        }
        for i in 0..first.results().len() {
            let one = first.of_result(i).expect("it has this result");
            let only: Vec<Related> = a.iter().map(|(d, s, e)| (d.clone(), s.clone(), vec![e[i]])).collect();
            assert_eq!(related(&one, world)?, only);
        }
        assert!(first.of_result(first.results().len()).is_err());
        Some(())
    });
}

#[test]
fn merge_runtime_variables() {
    run("merge runtime variables", 10, &[("merged", 2)], |random, given, world, counts| {
        // One more variable, with the element of one that is there written differently.
        let mut doubled = given.clone();
        if let Some(known) = given.runtime().first() {
            let same = known.clone().with_access(known.access().iter().map(|e| e * 2 - e.clone()).collect());
            doubled = changed(given, |parts| {
                let i = parts.runtime.len() as u32;
                parts.runtime.push(same);
                parts.results[0] = &parts.results[0] + Expr::runtime(i) * random.pick(&[1, -1, 3]);
            });
        }
        let mut merged = doubled.clone();
        let removed = merged.merge_runtime_variables();
        counts.add("merged", !removed.is_empty());
        assert_eq!(merged.runtime().len() + removed.runtime.len(), doubled.runtime().len());
        assert!(given.runtime().is_empty() || !removed.is_empty(), "{doubled:?}");
        assert_same(&doubled, &merged, world)?;
        Some(())
    });
}

#[test]
fn replace_known_values() {
    let least = [("replaced", 5), ("clamped to a bound", 1), ("left", 1)];
    run("replace known values", 15, &least, |random, given, world, counts| {
        // Every second owner yields a line of numbers, or of numbers that repeat.
        let (a, b, c) = (random.pick(&[0, 0, 1, 1, -1, 2]), random.between(-4, 6), random.pick(&[1, 1, 2, 3]));
        let value = |element: &[Expr]| element.iter().fold(Expr::constant(b), |sum, x| sum + x.floor_div(c) * a);
        let world = world.with_lines(a, b, c);
        let mut replaced = given.clone();
        let removed = replaced.replace_known_values(&mut |owner: Owner, element: &[Interval]| {
            let coordinates: Vec<Expr> = (0..).map(Expr::dim).take(element.len()).collect();
            (owner.0 == 1).then(|| value(&coordinates))
        });
        assert_eq!(replaced.runtime().len() + removed.runtime.len(), given.runtime().len());
        counts.add("replaced", !removed.is_empty());
        counts.add("left", replaced.runtime().iter().any(|v| v.owner() == Some(Owner(1))));
        let is_a_bound = |i: &u32| a == 0 && !given.runtime()[*i as usize].bounds().contains(b);
        counts.add("clamped to a bound", removed.runtime.iter().any(is_a_bound));
        assert_same(given, &replaced, world)?;
        let mut simple = given.clone();
        simple.simplify_knowing(&mut |owner, element| {
            let coordinates: Vec<Expr> = (0..).map(Expr::dim).take(element.len()).collect();
            (owner.0 == 1).then(|| value(&coordinates))
        });
        assert!(!simple.clone().simplify(), "{simple:?}");
        assert_same(given, &simple, world)?;
        Some(())
    });
}
