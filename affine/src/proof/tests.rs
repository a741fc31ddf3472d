//! Tests of derivations of random simplifications: all check, and damaged ones do not.

use super::Proof;
use crate::simplify::rules::laws::{Random, every_point};
use crate::{Constraint, Expr, Interval, Law, Ranges, explain, laws};

fn case(random: &mut Random) -> (Expr, Ranges, Vec<Constraint>) {
    (random.expression(3), random.ranges(), random.facts())
}

/// A derivation of something that changed.
fn derivation(random: &mut Random) -> Proof {
    loop {
        let (e, ranges, facts) = case(random);
        let (_, proof) = explain(&e, &ranges, &facts);
        if !proof.links.is_empty() {
            return proof;
        }
    }
}

#[test]
fn derivations_replay_and_hold_at_every_point() {
    let mut random = Random::new(99);
    let (mut links, mut changed, mut unordered) = (0, 0, 0);
    for _ in 0..1_000 {
        let (e, ranges, facts) = case(&mut random);
        let (simple, proof) = explain(&e, &ranges, &facts);
        assert_eq!((proof.before(), proof.after()), (&e, &simple));
        assert_eq!(proof.check(), Ok(()), "over {ranges:?} {facts:?}\n{proof}");
        every_point(&ranges, &facts, |point| {
            let value = e.evaluate_at(point);
            for link in proof.links() {
                assert_eq!(link.whole.evaluate_at(point), value, "at {point:?}\n{proof}");
            }
        });
        links += proof.links().len();
        changed += usize::from(!proof.links().is_empty());
        unordered += usize::from(proof.links().iter().any(|link| link.steps.len() > 1));
    }
    assert!(changed > 700 && links > changed * 3, "{changed} changed in {links} links");
    assert!(unordered * 100 < changed, "{unordered} of {changed} are no chains");
}

#[test]
fn no_step_can_be_left_out() {
    let mut random = Random::new(7);
    for _ in 0..200 {
        let proof = derivation(&mut random);
        for i in 0..proof.steps.len() {
            let mut without = proof.clone();
            without.steps.remove(i);
            for link in &mut without.links {
                link.steps.retain(|step| *step != i);
                link.steps.iter_mut().for_each(|step| *step -= usize::from(*step > i));
            }
            assert!(without.check().is_err(), "without step {}\n{proof}", i + 1);
        }
    }
}

/// The derivation with one thing changed, in many ways.
fn damaged(proof: &Proof) -> Vec<Proof> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Proof)| {
        let mut other = proof.clone();
        change(&mut other);
        all.push(other);
    };
    let more = |e: &Expr, by: i64| e + by;
    with(&|p| p.before = more(&p.before, 1));
    with(&|p| p.after = more(&p.after, -1));
    for i in 0..proof.links.len() {
        with(&|p| p.links[i].whole = more(&p.links[i].whole, 1));
        with(&|p| p.links[i].steps.clear());
        with(&|p| p.links[i].steps = vec![p.steps.len()]);
        with(&|p| drop(p.links.remove(i)));
    }
    for (i, step) in proof.steps.iter().enumerate() {
        with(&|p| p.steps[i].before = more(&p.steps[i].before, 1));
        with(&|p| p.steps[i].after = more(&p.steps[i].after, 1));
        for law in laws() {
            if law.equation != step.law.equation {
                with(&|p| p.steps[i].law = law);
            }
        }
        for j in 0..step.letters.len() {
            with(&|p| p.steps[i].letters[j].1 = more(&p.steps[i].letters[j].1, 1));
            with(&|p| p.steps[i].letters[j].1 = more(&p.steps[i].letters[j].1, -1));
            with(&|p| drop(p.steps[i].letters.remove(j)));
        }
        for j in 0..step.ranges.len() {
            with(&|p| p.steps[i].ranges[j].1.lo += 1);
            with(&|p| p.steps[i].ranges[j].1.hi -= 1);
        }
    }
    all
}

#[test]
fn damaged_derivations_are_rejected() {
    let mut random = Random::new(5);
    let (mut rejected, mut accepted) = (0, 0);
    for _ in 0..250 {
        let proof = derivation(&mut random);
        for other in damaged(&proof) {
            if other.check().is_err() {
                rejected += 1;
                continue;
            }
            // Another law may say the same of the same letters: then the derivation is as good as before.
            accepted += 1;
            assert_eq!((&other.before, &other.after), (&proof.before, &proof.after));
            every_point(&other.ranges, &other.constraints, |point| {
                for step in &other.steps {
                    assert_eq!(step.before.evaluate_at(point), step.after.evaluate_at(point), "{step:#}");
                }
            });
        }
    }
    assert!(rejected > 20_000 && accepted * 1_000 < rejected, "{accepted} accepted, {rejected} rejected");
}

fn of(text: &str, dims: &[(i64, i64)]) -> Proof {
    let e: Expr = text.parse().expect("written by hand");
    explain(&e, &Ranges::of_dims(dims.iter().map(|(lo, hi)| Interval::new(*lo, *hi))), &[]).1
}

#[test]
fn errors_name_the_step_and_the_reason() {
    let proof = of("(d0 + 3) floordiv 8", &[(0, 4)]);
    let message = |change: &dyn Fn(&mut Proof)| {
        let mut other = proof.clone();
        change(&mut other);
        other.check().expect_err("it was damaged").to_string()
    };
    for (change, wanted) in [
        (
            &(|p: &mut Proof| p.ranges.dims[0].hi = 5) as &dyn Fn(&mut Proof),
            "step 1, floordiv-in-range: the condition z < c*q + c was not proved",
        ),
        (&|p| p.steps[0].ranges[0].1.hi = 3, "step 1, floordiv-in-range: d0 is in [0, 4], which [0, 3] does not hold"),
        (
            &|p| p.steps[0].letters.retain(|(letter, _)| *letter != 'y'),
            "step 1, floordiv-in-range: variable y has no value",
        ),
        (
            &|p| p.steps[0].before = Expr::dim(0),
            "step 1, floordiv-in-range: of these letters the law says (d0 + 3) floordiv 8 = 0",
        ),
        (&|p| p.steps[0].law = &Law { name: "zero", equation: "x = 0", condition: "" }, "step 1, zero: this is no law"),
        (&|p| p.links[0].steps.clear(), "link 1: 0 does not follow from (d0 + 3) floordiv 8"),
        (&|p| p.after = Expr::dim(1), "the chain ends in 0, not in d1"),
    ] {
        assert_eq!(message(change), wanted);
    }
}

#[test]
fn text_reads_like_a_calculation() {
    let proof = of("(d0 * 8 + d1) floordiv 8 + d0 mod 4", &[(0, 3), (0, 7)]);
    assert_eq!(
        proof.to_string(),
        "\
(d0 * 8 + d1) floordiv 8 + d0 mod 4
  = d0 + d1 floordiv 8 + d0 mod 4    by floordiv-of-multiple: (d0 * 8 + d1) floordiv 8 = d0 + d1 floordiv 8
  = d0 + d0 mod 4                    by floordiv-in-range, since d1 in [0, 7]: d1 floordiv 8 = 0
  = d0 * 2                           by mod-in-range, since d0 in [0, 3]: d0 mod 4 = d0
where
  floordiv-of-multiple: (c*y + z) floordiv c = y + z floordiv c if c > 0
  floordiv-in-range: (c*y + z) floordiv c = y + q if c*q <= z < c*q + c
  mod-in-range: (c*y + z) mod c = z - c*q if c*q <= z < c*q + c"
    );
    let step = format!("{:#}", proof.steps()[0]);
    assert_eq!(
        step,
        "(d0 * 8 + d1) floordiv 8 = d0 + d1 floordiv 8 by floordiv-of-multiple with c = 8, y = d0, z = d1"
    );
    assert_eq!(of("d0 + 1", &[(0, 9)]).to_string(), "d0 + 1");
}

#[test]
fn what_is_too_long_for_a_chain_still_replays() {
    let mut e = Expr::dim(0);
    for i in 0..40 {
        e = (e * 6 + Expr::dim(1) * 3 + i).floor_div(9) + Expr::dim(2 + i.unsigned_abs() as u32).modulo(4);
    }
    let proof = explain(&e, &Ranges::of_dims(vec![Interval::new(0, 3); 42]), &[]).1;
    assert!(proof.steps().len() > 64, "{} steps", proof.steps().len());
    assert_eq!(proof.links().len(), 1);
    assert_eq!(proof.check(), Ok(()));
    assert!(proof.to_string().contains("by all of these together"));
}

/// A derivation that holds is accepted, wherever its numbers lie.
#[test]
fn derivations_at_the_ends_of_the_numbers_replay() {
    let (most, least) = (i64::MAX, i64::MIN);
    let mut changed = 0;
    let mut check = |e: &Expr, ranges: &Ranges, facts: &[Constraint]| {
        let (_, proof) = explain(e, ranges, facts);
        assert_eq!(proof.check(), Ok(()), "{e} over {ranges:?} {facts:?}\n{proof:#}");
        changed += usize::from(!proof.links().is_empty());
    };
    // The quotient's next multiple of the divisor is beyond the numbers.
    for (text, bounds) in [
        ("d0 floordiv 10", (most - 7, most - 1)),
        ("d0 mod 10", (most - 7, most - 1)),
        ("d0 floordiv 10", (least + 1, least + 7)),
        ("d0 mod 10", (least + 1, least + 7)),
        ("(d0 * 3 + 5) floordiv 9223372036854775807", (least / 3 + 2, -2)),
        ("(5 - d0) floordiv 9223372036854775807", (6, most - 1)),
        ("(d0 * 4611686018427387904 + 4611686018427387903) floordiv 4611686018427387904", (-1, 0)),
        ("(d0 + 9223372036854775800) floordiv 9223372036854775807", (-9, 6)),
        ("(d0 floordiv 4294967296) floordiv 2147483647", (0, most - 1)),
        ("(d0 * 9223372036854775807 - 1) mod 9223372036854775807", (-1, 1)),
    ] {
        let e = text.parse().expect("written by hand");
        check(&e, &Ranges::of_dims([Interval::new(bounds.0, bounds.1)]), &[]);
    }
    let zero = |text: &str| Constraint::new(text.parse().expect("written by hand"), Interval::point(0));
    let twice: Expr = "d0 * 4611686018427387904 - d1 * 4611686018427387904".parse().expect("written by hand");
    let wide = Ranges::of_dims([Interval::EVERYTHING, Interval::EVERYTHING]);
    check(&twice, &wide, &[zero("d0 - d1")]);
    check(&Expr::dim(0), &wide, &[Constraint::new(Expr::dim(0), Interval::point(least))]);
    let mut random = Random::new(31);
    let large = [most, most - 1, least, least + 1, most / 3, 1 << 62, -(1 << 61), 1_000_000_000_000_000_003];
    for _ in 0..1_500 {
        let bounds = |random: &mut Random| {
            let width = random.pick(&[0, 1, 3, 7, 100]);
            match random.within(0, 3) {
                0 => Interval::new(most - 1 - width, most - 1),
                1 => Interval::new(least + 1, least + 1 + width),
                2 => Interval::new(-width, width),
                _ => Interval::new(0, width),
            }
        };
        let ranges = Ranges::of_dims([bounds(&mut random), bounds(&mut random), bounds(&mut random)]);
        let huge = |random: &mut Random| random.pick(&large) / random.pick(&[1, 1, 2, 7, 1 << 20]);
        let mut e = Expr::constant(if random.within(0, 1) == 0 { huge(&mut random) } else { random.within(-9, 9) });
        for _ in 0..random.within(1, 4) {
            let v = Expr::dim(random.pick(&[0, 0, 1, 2]) as u32);
            let factor = if random.within(0, 2) == 0 { huge(&mut random) } else { random.pick(&[1, -1, 2, 3, -10]) };
            let divisor = match random.within(0, 3) {
                0 => huge(&mut random).checked_abs().unwrap_or(most).max(2),
                _ => random.pick(&[2, 3, 8, 10, 97]),
            };
            let sum = e.checked_add_scaled(&v, factor).unwrap_or_else(|_| e.clone());
            e = match random.within(0, 4) {
                0 => sum.floor_div(divisor),
                1 => sum.modulo(divisor),
                2 => sum
                    .floor_div(divisor)
                    .checked_mul(divisor)
                    .and_then(|q| q.checked_add(&sum.modulo(divisor)))
                    .unwrap_or(sum),
                3 => sum.modulo(divisor).checked_add(&e).unwrap_or(sum),
                _ => sum,
            };
        }
        check(&e, &ranges, &[]);
    }
    assert!(changed > 700, "{changed} changed");
}
