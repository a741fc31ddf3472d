//! Tests of each rule of constraints on every small instance: where it applies, both sides hold at the same points;
//! where its side condition fails, it does not apply.

use super::canonical::{without_constant, without_division, without_factor, without_small_part};
use super::{Canonical, Constraint, Merge};
use crate::{Expr, Interval, Ranges, Simplifier};

/// Bounds as rules meet them: closed, open at either end, and empty.
fn some_bounds() -> impl Iterator<Item = Interval> + Clone {
    (-9..=9)
        .step_by(3)
        .flat_map(|lo| (lo - 1..=lo + 9).step_by(2).map(move |hi| Interval::new(lo, hi)))
        .chain([-7, 0, 5].into_iter().flat_map(|end| [Interval::new(i64::MIN, end), Interval::new(end, i64::MAX)]))
}

fn holds(constraint: &Constraint, x: i64) -> bool {
    constraint.bounds.contains(constraint.expr.evaluate(|_| x).expect("small numbers"))
}

fn check_same(before: &[&Constraint], after: &[&Constraint], values: impl Iterator<Item = i64>) {
    for x in values {
        let all = |list: &[&Constraint]| list.iter().all(|c| holds(c, x));
        assert_eq!(all(before), all(after), "{before:?} and {after:?} at {x}");
    }
}

fn nothing_known() -> Simplifier {
    Simplifier::new(&Ranges::default(), &[])
}

#[test]
fn factors_and_constants() {
    for bounds in some_bounds() {
        for k in [-4, -1, 3] {
            let before = Constraint::new(Expr::dim(0) + k, bounds);
            let after = without_constant(&before).expect("there is a constant");
            check_same(&[&before], &[&after], -30..=30);
        }
        for a in (-6..=6).filter(|a| ![0, 1].contains(a)) {
            let before = Constraint::new(Expr::dim(0) * a, bounds);
            let (after, factor) = without_factor(&before).expect("there is a factor");
            assert_eq!((after.expr.clone(), factor), (Expr::dim(0), a));
            check_same(&[&before], &[&after], -30..=30);
        }
    }
}

#[test]
fn divisions() {
    for bounds in some_bounds() {
        for c in (-5..=5).filter(|c| ![-1, 0, 1].contains(c)) {
            let before = Constraint::new(Expr::dim(0).floor_div(c), bounds);
            let after = without_division(&before).expect("there is a division");
            check_same(&[&before], &[&after], -70..=70);
            let Canonical::Open(plain) = before.canonicalize(&mut nothing_known(), &mut Vec::new()) else {
                assert!(bounds.is_empty(), "{before}");
                continue;
            };
            assert_eq!(plain.expr, Expr::dim(0));
            check_same(&[&before], &[&plain], -70..=70);
        }
    }
    let negative = Constraint::new(Expr::range(0).floor_div(-3), Interval::new(-11, -5));
    let plain = Constraint::new(Expr::range(0), Interval::new(13, 33));
    assert_eq!(negative.canonicalize(&mut nothing_known(), &mut Vec::new()), Canonical::Open(plain));
}

#[test]
fn large_parts() {
    let (mut fired, mut refused) = (0, 0);
    for bounds in some_bounds() {
        for g in 2..=5 {
            for (b_lo, b_hi) in [(0, 0), (0, 1), (0, 3), (1, 4), (-2, 1), (0, 9)] {
                for sign in [1, -1] {
                    let e = Expr::dim(0) * (g * sign) + Expr::dim(1) + 1;
                    let ranges = Ranges::of_dims([Interval::EVERYTHING, Interval::new(b_lo, b_hi)]);
                    let before = Constraint::new(e, bounds);
                    let after = without_small_part(&before, &mut Simplifier::new(&ranges, &[]));
                    let at = |c: &Constraint, y: i64, b: i64| {
                        let value = c.expr.evaluate(|v| if v == crate::Var::Dim(0) { y } else { b });
                        c.bounds.contains(value.expect("small numbers"))
                    };
                    let decided = |y: i64| (b_lo..=b_hi).all(|b| at(&before, y, b) == at(&before, y, b_lo));
                    match after {
                        Some(after) => {
                            fired += 1;
                            assert_eq!(after.expr, Expr::dim(0) * sign);
                            for y in -12..=12 {
                                for b in b_lo..=b_hi {
                                    assert_eq!(at(&before, y, b), at(&after, y, b), "{before} and {after}");
                                }
                            }
                        }
                        // The rule may be refused where b does not matter only if that is so because nothing holds.
                        None => {
                            refused += 1;
                            let matters = (-12..=12).any(|y| !decided(y));
                            let never = (-12..=12).all(|y| (b_lo..=b_hi).all(|b| !at(&before, y, b)));
                            assert!(matters || never || bounds.is_empty(), "{before} for d1 in [{b_lo}, {b_hi}]");
                        }
                    }
                }
            }
        }
    }
    assert!(fired > 100 && refused > 100, "{fired} and {refused}");
    let trap: Expr = "d0 * 4 + d1".parse().expect("an expression");
    let trap = Constraint::new(trap, Interval::new(0, 10));
    for (d1, keeps) in [(2, false), (3, true), (9, true)] {
        let ranges = Ranges::of_dims([Interval::new(0, 9), Interval::new(0, d1)]);
        let after = without_small_part(&trap, &mut Simplifier::new(&ranges, &[]));
        assert_eq!(after.is_none(), keeps, "d1 in [0, {d1}]: {after:?}");
    }
}

/// Every `(d0·f + k) mod c in [p, q]` of a few kinds, bounds beyond the remainders included.
fn remainders() -> Vec<Constraint> {
    let mut all = Vec::new();
    for c in [2, 3, 4, 6, 9] {
        for (f, k) in [(1, 0), (1, 2), (-1, 0), (-1, 5), (3, 1), (2, 1)] {
            let e = (Expr::dim(0) * f + k).modulo(c);
            for p in [-2, 0, 1, 2, c - 1] {
                for width in [0, 1, 3, 9] {
                    all.push(Constraint::new(e.clone(), Interval::new(p, p + width)));
                }
            }
        }
    }
    all
}

#[test]
fn remainders_become_plain() {
    for before in remainders() {
        let mut steps = Vec::new();
        let plain = before.canonicalize(&mut nothing_known(), &mut steps);
        let after = match &plain {
            Canonical::Always => vec![],
            Canonical::Never => vec![Constraint::new(Expr::constant(0), Interval::EMPTY)],
            Canonical::Open(one) => vec![one.clone()],
        };
        check_same(&[&before], &after.iter().collect::<Vec<_>>(), -40..=40);
        for step in &steps {
            let lists = [&step.before, &step.after].map(|list| list.iter().collect::<Vec<_>>());
            check_same(&lists[0], &lists[1], -40..=40);
        }
        let count = (0..36).filter(|x| holds(&before, *x)).count();
        let known =
            matches!((count, &plain), (0, Canonical::Never) | (36, Canonical::Always) | (1..=35, Canonical::Open(_)));
        // With a factor the residues that there are may have gaps, into which an interval may fall.
        let has_gaps = before.expr.cost() > Expr::dim(0).modulo(2).cost() + 1;
        assert!(known || has_gaps, "{before} holds {count} times of 36 and became {plain:?}");
    }
}

#[test]
fn remainders_merge() {
    let mut merged = [0; 3];
    let all: Vec<Constraint> =
        remainders().into_iter().filter(|c| (0..9).any(|x| holds(c, x)) && (0..9).any(|x| !holds(c, x))).collect();
    for a in &all {
        for b in all.iter().step_by(3) {
            let found = a.merge(b, &mut Vec::new());
            assert_eq!(found, b.merge(a, &mut Vec::new()), "{a} and {b}");
            let both = |x: i64| holds(a, x) && holds(b, x);
            match found {
                Merge::Unrelated => merged[0] += 1,
                Merge::Never => {
                    merged[1] += 1;
                    assert!(!(-36..36).any(both), "{a} and {b}");
                }
                Merge::One(one) => {
                    merged[2] += 1;
                    assert!((-36..36).all(|x| both(x) == holds(&one, x)), "{a} and {b} as {one}");
                }
            }
            let points = [a, b].map(|c| c.bounds.intersect(Interval::new(0, 8)).as_point().is_some());
            let contradict = !(0..36).any(both);
            let noticed = found_never(a, b);
            assert!(!(contradict && points == [true, true]) || noticed, "{a} and {b} contradict");
        }
    }
    assert!(merged.iter().all(|n| *n > 100), "{merged:?}");
}

fn found_never(a: &Constraint, b: &Constraint) -> bool {
    a.merge(b, &mut Vec::new()) == Merge::Never
}

#[test]
fn classes_tighten_bounds() {
    let mut tightened = 0;
    for residue in remainders() {
        for bounds in some_bounds().filter(|b| !b.is_empty()) {
            let variable = Constraint::new(Expr::dim(0), bounds);
            let mut steps = Vec::new();
            let Some(tight) = variable.tightened_by(&residue, &mut steps) else { continue };
            tightened += 1;
            assert!((1..=2).contains(&steps.len()));
            check_same(&[&variable, &residue], &[&tight, &residue], -60..=60);
            for step in &steps {
                let lists = [&step.before, &step.after].map(|list| list.iter().collect::<Vec<_>>());
                check_same(&lists[0], &lists[1], -60..=60);
            }
            let ends = [tight.bounds.lo, tight.bounds.hi];
            let admitted = |end: &i64| [i64::MIN, i64::MAX].contains(end) || holds(&residue, *end);
            assert!(tight.bounds.is_empty() || ends.iter().all(admitted), "{tight} by {residue}");
        }
    }
    assert!(tightened > 1000, "{tightened}");
}

#[test]
fn bounds_of_one_sum_merge() {
    let sum = |text: &str, lo: i64, hi: i64| Constraint::new(text.parse().expect(text), Interval::new(lo, hi));
    let merged = sum("d0 * 2 + d1 * 4 + 4", 0, 9).merge(&sum("-d0 - d1 * 2 - 1", -2, 7), &mut Vec::new());
    assert_eq!(merged, Merge::One(sum("d0 + d1 * 2", -2, 1)));
    assert_eq!(sum("d0 * 2", 0, 9).merge(&sum("1 - d0", -9, -5), &mut Vec::new()), Merge::Never);
    assert_eq!(sum("d0 + d1", 0, 9).merge(&sum("d0 - d1", 0, 9), &mut Vec::new()), Merge::Unrelated);
}

#[test]
fn bounds_beyond_the_numbers_stop_a_rule() {
    let big = i64::MAX - 1;
    let quotient = Constraint::new(Expr::dim(0).floor_div(4), Interval::new(0, big));
    assert_eq!(without_division(&quotient), None);
    let shifted = Constraint::new(Expr::dim(0) + 10, Interval::new(i64::MIN + 5, 0));
    assert_eq!(without_constant(&shifted), None);
    let moduli = [3_037_000_507, 3_037_000_511].map(|m| Constraint::new(Expr::dim(0).modulo(m), Interval::point(1)));
    assert_eq!(moduli[0].merge(&moduli[1], &mut Vec::new()), Merge::Unrelated);
    let least = Constraint::new(Expr::dim(0) * i64::MIN + i64::MIN, Interval::new(i64::MIN, i64::MIN));
    let _ = least.canonicalize(&mut nothing_known(), &mut Vec::new());
}

#[test]
fn summands_are_bounded() {
    for bounds in some_bounds() {
        for a in [1, 3, -1, -2] {
            let ranges = Ranges::of_dims([Interval::new(-9, 9), Interval::new(-1, 4)]);
            let e = Expr::dim(0) * a + Expr::dim(1) * 2;
            let constraint = Constraint::new(e, bounds);
            let mut steps = Vec::new();
            let known =
                constraint.narrow(crate::Var::Dim(0), ranges.dims[0], &mut Simplifier::new(&ranges, &[]), &mut steps);
            for x in -9..=9 {
                let possible = (-1..=4).any(|b| bounds.contains(a * x + 2 * b));
                assert!(!possible || known.contains(x), "{constraint} leaves {x}, not within {known}");
            }
            assert_eq!(steps.is_empty(), known == ranges.dims[0]);
        }
    }
}

#[test]
fn digits_join() {
    let residue = |text: &str, r: i64| Constraint::new(text.parse().expect(text), Interval::point(r));
    let merged = |a: &Constraint, b: &Constraint| {
        let mut steps = Vec::new();
        let found = a.merge(b, &mut steps);
        assert_eq!(found, b.merge(a, &mut Vec::new()));
        for x in -120..120 {
            for step in &steps {
                let all = |list: &[Constraint]| list.iter().all(|c| holds(c, x));
                assert_eq!(all(&step.before), all(&step.after), "{step} at {x}");
            }
        }
        found
    };
    let (low, high) = (residue("d0 mod 6", 0), residue("(d0 floordiv 6) mod 2", 1));
    assert_eq!(merged(&low, &high), Merge::One(residue("d0 mod 12", 6)));
    let (shifted, scaled) = (residue("(d0 + 3) mod 12", 4), residue("((d0 * 2 + 1) floordiv 3) mod 5", 2));
    assert_eq!(merged(&shifted, &scaled), Merge::One(residue("d0 mod 60", 25)));
    assert_eq!(merged(&residue("d0 mod 4", 0), &high), Merge::Unrelated);
    let never = residue("((d0 * 2) floordiv 4) mod 3", 1);
    assert_eq!(merged(&residue("d0 mod 2", 1), &never), Merge::One(residue("d0 mod 6", 3)));
}
