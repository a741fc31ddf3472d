//! Nothing that the simplifier claims is false: random expressions over random domains, judged point by point.
//!
//! Two thousand cases of each series run by default. The long run is
//! `WEFT_CASES=100 cargo test --release -p weft-affine soundness:: -- --nocapture`:
//! a hundred times as many without constraints and with, and the share of each class of cases. A failing case is made small and
//! printed.

use crate::support::case::Case;
use crate::support::count::cases;
use crate::support::distribution::Distribution;
use crate::support::run::run;
use weft_affine::{Constraint, Expr, Ranges, Simplifier, explain, range_of, simplify};

/// Cases of each series that run by default.
const STANDARD: u64 = 2000;
/// Points at which each step of a derivation is checked.
const STEP_POINTS: usize = 6;

/// What was found out about a case.
#[derive(Default)]
struct Verdict {
    /// Points of the domain at which both forms have a value.
    compared: usize,
    /// Points of the domain at which one of them overflows.
    overflowed: usize,
    in_domain: usize,
    is_cheaper: bool,
}

#[test]
fn without_constraints() {
    println!("{}", judge(false));
}

#[test]
fn with_constraints() {
    println!("{}", judge(true));
}

/// Runs one series and says what it was made of.
fn judge(constrained: bool) -> String {
    let mut distribution = Distribution::default();
    let mut total = Verdict::default();
    let (mut cheaper, mut sampled, mut far) = (0, 0, 0);
    let count = cases(STANDARD);
    run(count, constrained, check, |case, verdict| {
        let known = (case.is_enumerated() || verdict.in_domain > 0).then_some(verdict.in_domain > 0);
        distribution.add(case, known, constrained);
        total.compared += verdict.compared;
        total.overflowed += verdict.overflowed;
        cheaper += usize::from(verdict.is_cheaper);
        sampled += usize::from(!case.is_enumerated());
        far += if case.has_extreme_bounds() { verdict.compared } else { 0 };
    });
    assert_eq!(
        distribution.rare(),
        Vec::<&str>::new(),
        "these classes are too rare to be called tested\n{distribution}"
    );
    let Verdict { compared, overflowed, .. } = total;
    format!(
        "{count} cases {} constraints: {cheaper} became cheaper, {sampled} were sampled\n  \
         {compared} points compared, {far} of them in domains near the ends of i64; {overflowed} overflowed\n{distribution}",
        if constrained { "with" } else { "without" },
    )
}

fn check(case: &Case) -> Result<Verdict, String> {
    let (subject, ranges) = (case.subject(), case.ranges());
    let mut simplifier = Simplifier::new(&ranges, &case.constraints);
    let simple = simplifier.simplify(subject);
    if simple.cost() > subject.cost() {
        return Err(format!("{subject} became dearer: {simple}"));
    }
    let again = simplify(&simple, &ranges, &case.constraints);
    if again.cost() > simple.cost() {
        return Err(format!("simplifying {simple} again made it dearer: {again}"));
    }
    round_trips(subject)?;
    round_trips(&simple)?;
    results_depend_on_the_input_alone(case, &ranges, &simple)?;
    let bounds = [range_of(subject, &ranges), simplifier.range_of(subject), simplifier.range_of(&simple)];
    let mut verdict = Verdict { is_cheaper: simple.cost() < subject.cost(), ..Verdict::default() };
    let mut domain = Vec::new();
    for point in case.points() {
        if case.holds(&case.constraints, &point) != Some(true) {
            continue;
        }
        verdict.in_domain += 1;
        let (Some(before), Some(after)) = (case.value(subject, &point), case.value(&simple, &point)) else {
            verdict.overflowed += 1;
            continue;
        };
        verdict.compared += 1;
        if before != after {
            return Err(format!("{subject} is {before} at {point:?}, but {simple} is {after}"));
        }
        if let Some(wrong) = bounds.iter().find(|b| !b.contains(before)) {
            return Err(format!("{subject} is {before} at {point:?}, outside of {wrong}"));
        }
        domain.push(point);
    }
    steps_hold(case, &ranges, &simple, &domain)?;
    Ok(verdict)
}

fn round_trips(e: &Expr) -> Result<(), String> {
    match e.to_string().parse::<Expr>() {
        Ok(read) if read == *e => Ok(()),
        Ok(read) => Err(format!("the text of {e} reads as {read}")),
        Err(error) => Err(format!("the text of {e} does not read: {error}")),
    }
}

/// A fresh simplifier gives the same again, and so does one that has simplified and bounded other expressions before.
fn results_depend_on_the_input_alone(case: &Case, ranges: &Ranges, simple: &Expr) -> Result<(), String> {
    let fresh = simplify(case.subject(), ranges, &case.constraints);
    if fresh != *simple {
        return Err(format!("{simple} at first, then {fresh}"));
    }
    let mut used = Simplifier::new(ranges, &case.constraints);
    for other in &case.exprs[1..] {
        used.range_of(other);
        used.simplify(other);
    }
    let late = used.simplify(case.subject());
    if late != *simple {
        return Err(format!("{simple} by itself ({}), {late} after others ({})", simple.cost(), late.cost()));
    }
    Ok(())
}

fn steps_hold(case: &Case, ranges: &Ranges, simple: &Expr, domain: &[Vec<i64>]) -> Result<(), String> {
    let (explained, proof) = explain(case.subject(), ranges, &case.constraints);
    if explained != *simple {
        return Err(format!("simplified to {simple}, explained as {explained}"));
    }
    let stride = (domain.len() / STEP_POINTS).max(1);
    for point in domain.iter().step_by(stride) {
        for step in proof.steps() {
            let (before, after) = (case.value(&step.before, point), case.value(&step.after, point));
            if before.is_some() && after.is_some() && before != after {
                return Err(format!("at {point:?} this step is false: {step}"));
            }
        }
    }
    Ok(())
}

/// Contradicting facts leave no point, so that any result is right; it must still come, and be no dearer.
#[test]
fn contradicting_facts_end() {
    let e: Expr = "(d0 * 7 + 3) floordiv 5 + d0 mod 4".parse().expect("an expression");
    let facts = [("d0 mod 4", 1), ("d0 mod 6", 2), ("d0 floordiv 3", 5), ("d0 floordiv 3", 900)];
    let facts: Vec<Constraint> = facts
        .iter()
        .map(|(text, value)| {
            Constraint::new(text.parse().expect("an expression"), weft_affine::Interval::point(*value))
        })
        .collect();
    assert!(simplify(&e, &Ranges::of_dims([weft_affine::Interval::new(0, 9)]), &facts).cost() <= e.cost());
}
