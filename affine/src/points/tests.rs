//! Tests of linear forms and implied constraints against plain enumeration.

use super::{is_implied, linear_form};
use crate::simplify::rules::laws::{Random, every_point};
use crate::{Constraint, Expr, Interval, Point, Ranges};

const MAX_WORK: u128 = 1 << 20;

/// The values of `e` on the domain, point by point.
fn values(e: &Expr, ranges: &Ranges, facts: &[Constraint]) -> Vec<i64> {
    let mut values = Vec::new();
    every_point(ranges, facts, |p: &Point<'_>| values.push(e.evaluate_at(p).expect("the numbers are small")));
    values
}

#[test]
fn implied_is_decided() {
    let mut random = Random::new(1);
    let mut implied = 0;
    for _ in 0..3000 {
        let (ranges, facts) = (random.ranges(), random.facts());
        let e = random.expression(2);
        let all = values(&e, &ranges, &facts);
        let (lo, hi) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
        let bounds = Interval::new(lo + random.within(-2, 1), hi + random.within(-1, 2));
        if all.is_empty() {
            // What contradicts may be about variables that the expression does not have.
            continue;
        }
        let wanted = all.iter().all(|value| bounds.contains(*value));
        let constraint = Constraint::new(e, bounds);
        assert_eq!(is_implied(&constraint, &ranges, &facts, MAX_WORK), wanted, "{constraint} in {ranges:?} {facts:?}");
        implied += u32::from(wanted);
    }
    assert!((500..2500).contains(&implied), "{implied} of 3000 were implied");
}

#[test]
fn linear_forms_are_equal_and_found() {
    let mut random = Random::new(2);
    let mut linear = 0;
    for round in 0..3000 {
        let (ranges, mut facts) = (random.ranges(), random.facts());
        if round % 3 == 0 {
            // With these a form may be linear in several ways, some of which are not over integers.
            let known = random.expression(1);
            let some = values(&known, &ranges, &facts).first().copied().unwrap_or(0);
            facts.push(Constraint::new(known, Interval::new(some, some + random.within(0, 2))));
        }
        let mut e = random.expression(2);
        if round % 2 == 0 {
            // Zero, written with digits.
            let (x, c, a) = (random.expression(1), random.pick(&[2, 3, 5, 8]), random.pick(&[1, -2, 3]));
            let zero = (x.floor_div(c) * c + x.modulo(c) - x) * a;
            e = Expr::dim(0) * random.within(-3, 3) + Expr::dim(2) * random.within(-3, 3) + zero + 5;
        }
        match linear_form(&e, &ranges, &facts, MAX_WORK) {
            Some(form) => {
                assert!(form.is_linear());
                assert_eq!(values(&form, &ranges, &facts), values(&e, &ranges, &facts), "{e} is not {form}");
                linear += 1;
            }
            None => assert!(
                round % 2 == 1 || round % 3 == 0 || values(&e, &ranges, &facts).is_empty(),
                "{e} is linear in {ranges:?} {facts:?}"
            ),
        }
    }
    assert!(linear > 1500, "{linear} of 3000 were linear");
}

#[test]
fn one_period_stands_for_all_values() {
    let e: Expr = "(d0 floordiv 4) * 4 + d0 mod 4 + ((d1 * 3 + 7) floordiv 6) * 2 - d1".parse().expect("an expression");
    for bounds in [Interval::EVERYTHING, Interval::new(-1_000_000_000, -7), Interval::new(i64::MIN, 3)] {
        let ranges = Ranges::of_dims([bounds, Interval::new(4, 5)]);
        let form = linear_form(&e, &ranges, &[], MAX_WORK).map(|form| form.to_string());
        assert_eq!(form.as_deref(), Some("d0 - d1 + 6"), "{bounds}");
    }
    assert_eq!(linear_form(&e, &Ranges::of_dims([Interval::EVERYTHING, Interval::new(4, 90)]), &[], MAX_WORK), None);
}

#[test]
fn the_work_is_bounded() {
    let e: Expr = "(d0 floordiv 4) * 4 + d0 mod 4 + (d1 floordiv 5) * 5 + d1 mod 5".parse().expect("an expression");
    let ranges = Ranges::of_dims([Interval::of_extent(1000), Interval::of_extent(1000)]);
    assert_eq!(linear_form(&e, &ranges, &[], 100), None);
    assert_eq!(linear_form(&e, &ranges, &[], 200).map(|form| form.to_string()).as_deref(), Some("d0 + d1"));
}

#[test]
fn numbers_near_the_ends_are_left_alone() {
    let e = (Expr::dim(0) * (i64::MAX / 2) + 5).modulo(7);
    let ranges = Ranges::of_dims([Interval::new(-3, 3)]);
    assert_eq!(linear_form(&e, &ranges, &[], MAX_WORK), None);
    let constraint = Constraint::new(e, Interval::of_extent(7));
    assert!(!is_implied(&constraint, &ranges, &[], MAX_WORK));
}

#[test]
fn constraints_leave_a_variable() {
    let e: Expr = "d0 - 1".parse().expect("an expression");
    let ranges = Ranges::of_dims([Interval::of_extent(6), Interval::of_extent(2)]);
    let sum: Expr = "d0 * 2 + d1".parse().expect("an expression");
    let facts =
        [Constraint::new(sum.clone(), Interval::new(2, 5)), Constraint::new((sum + 1).modulo(3), Interval::point(0))];
    assert_eq!(linear_form(&e, &ranges, &facts, MAX_WORK), Some(Expr::dim(1)));
}

#[test]
fn beyond_a_period_the_form_grows_as_the_expression_does() {
    let sum: Expr = "d0 floordiv 2".parse().expect("an expression");
    let ranges = Ranges::of_dims([Interval::of_extent(6), Interval::of_extent(3), Interval::of_extent(3)]);
    let facts = [Constraint::new(sum, Interval::point(0))];
    for (text, wanted) in [
        ("d0 floordiv 2 + d1 * 4", Some("d1 * 4")),
        ("d0 floordiv 2 - d1", Some("-d1")),
        ("d0 floordiv 2 + d1", Some("d1")),
        ("d0 floordiv 2 + d1 + d2", Some("d1 + d2")),
        ("d0 floordiv 2 + d1 mod 2", None),
    ] {
        let e: Expr = text.parse().expect("an expression");
        let form = linear_form(&e, &ranges, &facts, MAX_WORK).map(|form| form.to_string());
        assert_eq!(form.as_deref(), wanted, "{text}");
    }
}
