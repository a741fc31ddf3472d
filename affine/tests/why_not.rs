//! The diagnosis of remaining divisions: the trials of hand-picked ones, and the truth of what is reported for random
//! ones.

use crate::support::case::Case;
use crate::support::count::cases;
use crate::support::run::run;
use std::collections::BTreeSet;
use std::time::Instant;
use weft_affine::law::Condition;
use weft_affine::{
    Atom, Constraint, Expr, Interval, Law, Obstacle, Ranges, RemainingDivision, Simplifier, Trial, UnprovedCondition,
    WhyNot, why_not,
};

/// Random cases that run by default, with constraints and without.
const STANDARD: u64 = 400;
/// Points at which what is said of a case is tried.
const POINTS: usize = 8;

/// What is said of the text over `d0, d1, …` in these ranges, with facts such as `("d0 mod 8", 3)`.
fn said(text: &str, dims: &[(i64, i64)], facts: &[(&str, i64)]) -> WhyNot {
    let ranges = Ranges::of_dims(dims.iter().map(|(lo, hi)| Interval::new(*lo, *hi)));
    let fact = |(text, value): &(&str, i64)| Constraint::new(text.parse().expect(text), Interval::point(*value));
    why_not(&text.parse().expect(text), &ranges, &facts.iter().map(fact).collect::<Vec<_>>())
}

/// All of what is said.
fn expect(text: &str, dims: &[(i64, i64)], facts: &[(&str, i64)], wanted: &str) {
    assert_eq!(said(text, dims, facts).to_string(), wanted, "{text}");
}

#[test]
fn nothing_is_said_of_what_is_gone() {
    let why = said("(d0 * 8 + d1) floordiv 8", &[(0, 3), (0, 7)], &[]);
    assert_eq!((why.expr, why.divisions), (Expr::dim(0), Vec::new()));
}

#[test]
fn a_range_is_too_wide() {
    let wanted = "\
(d0 + 3) mod 4 is in [0, 3]
  known-value: needs (d0 + 3) mod 4 = 0, but (d0 + 3) mod 4 is in [0, 3]
  mod-in-range: needs 0 <= d0 + 3 < 4, but d0 + 3 is in [3, 6]
  mod-definition: gives d0 - ((d0 + 3) floordiv 4) * 4 + 3, at a cost of 25 instead of 22
  of another form: mod-of-multiple, mod-of-mod, mod-common-factor, mod-of-negation, mod-2-of-successor, mod-of-floordiv";
    expect("(d0 + 3) mod 4", &[(0, 3)], &[], wanted);
    let wanted = "\
(d0 * 16 + d1) floordiv 128 is in [0, 12]
  known-value: needs (d0 * 16 + d1) floordiv 128 = 0, but (d0 * 16 + d1) floordiv 128 is in [0, 12]
  floordiv-in-range: needs 0 <= d0 * 16 + d1 < 128, but d0 * 16 + d1 is in [0, 1663]
  floordiv-common-factor: needs 0 <= d1 < 16, but d1 is in [0, 79]
  of another form: floordiv-of-multiple, floordiv-of-mod, floordiv-of-floordiv, floordiv-of-negated-floordiv, \
floordiv-with-known-residue, floordiv-of-negation, floordiv-expand-mod, floordiv-split-multiple";
    expect("(d0 * 16 + d1) floordiv 128", &[(0, 99), (0, 79)], &[], wanted);
}

#[test]
fn a_sum_gets_no_cheaper() {
    let why = said("d0 mod 4 + d1", &[(0, 99), (0, 9)], &[]);
    let [remainder] = why.divisions.as_slice() else { panic!("{why}") };
    let definitions: Vec<&Trial> = remainder.trials.iter().filter(|t| t.law.name == "mod-definition").collect();
    let [definition] = definitions.as_slice() else { panic!("{why}") };
    let wanted = "mod-definition: gives d0 - (d0 floordiv 4) * 4, at a cost of 24 instead of 22";
    assert_eq!(definition.to_string(), wanted);
}

#[test]
fn constraints_leave_a_residue_open() {
    let why = said("(d0 * 16 + d1) floordiv 128", &[(0, 99), (0, 200)], &[("d0 mod 8", 3)]);
    let residue = why.divisions[0].trials.iter().find(|trial| trial.law.name == "floordiv-with-known-residue");
    let residue = residue.expect("it was tried");
    assert_eq!(
        residue.to_string(),
        "floordiv-with-known-residue: needs 0 <= d1 + 48 < 128, but d1 + 48 is in [48, 248]"
    );
    let Obstacle::Unproved(conditions) = &residue.obstacle else { panic!("{residue}") };
    let [open] = conditions.as_slice() else { panic!("{residue}") };
    assert_eq!((open.condition.as_str(), open.needs), ("c*q <= h*r + z < c*q + c", Interval::new(0, 127)));
    assert_eq!(open.range, Interval::new(48, 248));
}

/// How often what was said.
#[derive(Default)]
struct Counts {
    divisions: usize,
    unproved: usize,
    dearer: usize,
    wider: usize,
    not_used: usize,
}

#[test]
fn what_is_said_is_so() {
    for constrained in [false, true] {
        let mut total = Counts::default();
        run(cases(STANDARD), constrained, check, |_, counts| {
            total.divisions += counts.divisions;
            total.unproved += counts.unproved;
            total.dearer += counts.dearer;
            total.wider += counts.wider;
            total.not_used += counts.not_used;
        });
        let Counts { divisions, unproved, dearer, wider, not_used } = total;
        let text = format!(
            "{divisions} divisions: {unproved} conditions not proved, {dearer} forms no cheaper, {wider} wider, {not_used} not used"
        );
        println!("{text}");
        assert!(divisions > 200 && unproved > divisions && dearer > 100 && not_used * 20 < divisions, "{text}");
    }
}

fn check(case: &Case) -> Result<Counts, String> {
    let mut simplifier = Simplifier::new(&case.ranges(), &case.constraints);
    let simple = simplifier.simplify(case.subject());
    let why = simplifier.why_not(&simple);
    if simplifier.simplify(&simple) != simple || simplifier.why_not(&simple) != why {
        return Err(format!("asking about {simple} changes the answers"));
    }
    let domain: Vec<Vec<i64>> = case.points();
    let domain: Vec<Vec<i64>> =
        domain.into_iter().filter(|point| case.holds(&case.constraints, point) == Some(true)).take(POINTS).collect();
    let mut counts = Counts::default();
    for division in divisions(&simple) {
        let entry = why.divisions.iter().find(|entry| entry.expr == division);
        let entry = entry.ok_or_else(|| format!("nothing is said of {division} in {simple}"))?;
        if entry.trials.is_empty() || entry.range != simplifier.range_of(&division) {
            return Err(format!("of {division}: {entry}"));
        }
        counts.divisions += 1;
        for trial in &entry.trials {
            check_trial(case, trial, &domain, &mut simplifier, &mut counts)
                .map_err(|wrong| format!("{wrong}\nin {trial}\nof {simple}"))?;
        }
    }
    if counts.divisions == why.divisions.len() {
        Ok(counts)
    } else {
        Err(format!("too much is said of {simple}: {why}"))
    }
}

fn divisions(e: &Expr) -> Vec<Expr> {
    let mut found: Vec<Expr> = Vec::new();
    let mut waiting = vec![e.clone()];
    while let Some(e) = waiting.pop() {
        for term in e.terms() {
            let (x, division) = match &term.atom {
                Atom::Var(_) => continue,
                Atom::FloorDiv(x, c) => (x, x.checked_floor_div(*c)),
                Atom::Mod(x, c) => (x, x.checked_modulo(*c)),
            };
            let division = division.expect("it is there already");
            if !found.contains(&division) {
                found.push(division);
                waiting.push(x.clone());
            }
        }
    }
    found
}

fn check_trial(
    case: &Case,
    trial: &Trial,
    domain: &[Vec<i64>],
    simplifier: &mut Simplifier,
    counts: &mut Counts,
) -> Result<(), String> {
    let becomes = match &trial.obstacle {
        Obstacle::OtherForm => return Ok(()),
        Obstacle::Unproved(conditions) => {
            counts.unproved += conditions.len();
            if conditions.is_empty() {
                return Err("no condition is named".into());
            }
            return conditions.iter().try_for_each(|c| check_condition(case, trial, c, domain, simplifier));
        }
        Obstacle::NotCheaper { becomes, cost, instead_of } => {
            counts.dearer += 1;
            if cost < instead_of {
                return Err("it is cheaper".into());
            }
            becomes
        }
        Obstacle::WiderRange { becomes, range, instead_of } => {
            counts.wider += 1;
            if instead_of.contains_interval(*range) {
                return Err("it is no wider".into());
            }
            becomes
        }
        Obstacle::NotUsed { becomes } => {
            counts.not_used += 1;
            becomes
        }
        Obstacle::HidesDigits { becomes } => becomes,
        other => return Err(format!("{other:?} is new")),
    };
    for point in domain {
        if let (Some(before), Some(after)) = (case.value(&trial.on, point), case.value(becomes, point))
            && before != after
        {
            return Err(format!("{} is {before} at {point:?}, but {becomes} is {after}", trial.on));
        }
    }
    Ok(())
}

/// The range is that of the expression, it does not prove the condition, and the condition is what it is said to be.
fn check_condition(
    case: &Case,
    trial: &Trial,
    unproved: &UnprovedCondition,
    domain: &[Vec<i64>],
    simplifier: &mut Simplifier,
) -> Result<(), String> {
    let UnprovedCondition { condition, expr, needs, range, .. } = unproved;
    if *range != simplifier.range_of(expr) {
        return Err(format!("{expr} is in {}", simplifier.range_of(expr)));
    }
    if needs.contains_interval(*range) {
        return Err(format!("{condition} holds"));
    }
    let law = Law { name: "trial", equation: "x = x", condition: condition.clone().leak() };
    let conditions: Vec<Condition> = law.statement().map_err(|e| format!("{condition}: {e}"))?.conditions;
    if !trial.law.statement().is_ok_and(|of_law| conditions.iter().all(|c| of_law.conditions.contains(c))) {
        return Err(format!("{condition} is no condition of {}", trial.law));
    }
    for point in domain {
        let value = |(letter, e): &(char, Expr)| Some((*letter, case.value(e, point)?));
        let (Some(letters), Some(value)) =
            (trial.letters.iter().map(value).collect::<Option<Vec<_>>>(), case.value(expr, point))
        else {
            continue;
        };
        let holds = conditions.iter().all(|c| c.evaluate(&letters) == Some(true));
        if holds != needs.contains(value) {
            return Err(format!("{condition} is {holds} at {point:?}, where {expr} is {value}"));
        }
    }
    Ok(())
}

/// Every law of operations and sums is tried on something.
#[test]
fn a_division_knows_the_laws_of_its_operation() {
    let why = said("(d0 + 3) mod 4 + d0 floordiv 4", &[(0, 99)], &[]);
    let names = |entry: &RemainingDivision| entry.trials.iter().map(|t| t.law.name).collect::<Vec<_>>();
    let of_operations = [("mod", "mod-in-range"), ("floordiv", "floordiv-in-range")];
    for (operation, law) in of_operations {
        let entry = why.divisions.iter().find(|entry| entry.expr.to_string().contains(operation)).expect(operation);
        assert!(names(entry).contains(&law) && names(entry)[0] == "known-value", "{entry}");
    }
}

/// Expressions with so many divisions: one within the other, side by side in one sum, and in sums of ten within each other.
fn with_divisions(n: u32) -> [(&'static str, Expr); 3] {
    let own = |i: u32| Expr::dim(i % 50) * (2 + i64::from(i / 50)) + Expr::dim((i + 1) % 50);
    let nested = (0..n).fold(Expr::dim(0), |e, i| (e * 3 + own(i)).floor_div(7 + i64::from(i % 5)));
    let sum = (0..n).fold(Expr::constant(0), |e, i| e + own(i).floor_div(7 + i64::from(i % 5)));
    let mut level: Vec<Expr> = (0..n).map(|i| own(i).modulo(7 + i64::from(i % 5))).collect();
    while level.len() > 1 {
        let joined = level.chunks(10).map(|ten| ten.iter().fold(Expr::constant(0), |e, one| e * 2 + one));
        level = joined.map(|e| e.floor_div(11)).collect();
    }
    [("nested", nested), ("one sum", sum), ("sums of ten", level.remove(0))]
}

/// Ten times the divisions are tried about ten times as often. What it takes is printed, since time is the machine's: it grows
/// alike where no sum has all of the divisions; of one sum of them, each form that a law gives is as long as the sum itself.
#[test]
fn the_trials_grow_with_the_divisions() {
    let ranges = Ranges::of_dims([Interval::of_extent(1000); 50]);
    let mut before: Option<[usize; 3]> = None;
    for n in [10, 100, 1000] {
        let trials = with_divisions(n).map(|(shape, e)| {
            let mut simplifier = Simplifier::new(&ranges, &[]);
            let began = Instant::now();
            let why = simplifier.why_not(&e);
            let took = began.elapsed();
            let distinct: BTreeSet<&Expr> = why.divisions.iter().map(|division| &division.expr).collect();
            assert!(distinct.len() == why.divisions.len() && distinct.len() >= n as usize, "{shape} of {n}: {why:?}");
            let trials = why.divisions.iter().map(|division| division.trials.len()).sum();
            println!("{shape} of {n}: {trials} trials in {took:?}");
            trials
        });
        if let Some(before) = before.replace(trials) {
            assert!(trials.iter().zip(before).all(|(now, before)| *now <= 12 * before), "{before:?} became {trials:?}");
        }
    }
}
