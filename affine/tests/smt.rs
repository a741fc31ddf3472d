//! Every law of the simplifier, proved by an SMT solver from its text.
//!
//! The letters are integers without bounds. A law is stated as its conditions and the negation of its claim, where a claim
//! also says that all its divisors have a meaning; the solver must find that impossible. Products of letters and division by
//! letters are beyond what solvers decide, so where this one gives up, the letters for numbers that stand in such places
//! take every value from 1 to 8 as divisors and from -8 to 8 as factors. Its work is bounded by its own count of steps, not by
//! time. It may give up on a law in one run and not in the next; with constants the questions are linear and it decides
//! them all with room to spare, so that the test passes or fails alike.

use std::fmt;
use std::time::Instant;

use easy_smt::{Context, ContextBuilder, Response, SExpr};
use weft_affine::law::{Claim, Condition, Operator, Pattern, Relation, Statement, is_number};
use weft_affine::{Law, laws};

use crate::support::cores::on_all_cores;

/// The solver's steps for a law over all integers: a second or two of its work.
const MAX_STEPS_OPEN: u64 = 800_000;
/// The solver's steps for a law with constants for some letters, which it can always decide.
const MAX_STEPS_FIXED: u64 = 50_000_000;
/// Seconds after which something is wrong with the solver; no verdict is near it.
const STUCK: &str = "-T:300";
/// The values of divisors, moduli and counts of summands.
const DIVISORS: std::ops::RangeInclusive<i64> = 1..=8;
/// The values of factors.
const FACTORS: std::ops::RangeInclusive<i64> = -8..=8;

fn solver(steps: u64) -> Context {
    let started = ContextBuilder::new().solver("z3").solver_args(["-smt2", "-in", STUCK]).build();
    let mut context = started.expect("the solver z3 proves the laws and must be on PATH: install the package `z3`");
    context.set_option(":rlimit", context.numeral(steps)).expect("the solver takes a limit of steps");
    context
}

/// A law as the solver is asked about it; letters with a value in `constants` are that number.
struct Question<'a> {
    context: &'a Context,
    constants: Vec<(char, i64)>,
    /// That the divisors of what was translated have a meaning.
    meaningful: Vec<SExpr>,
}

impl Question<'_> {
    fn number(&self, value: i128) -> SExpr {
        let magnitude = self.context.numeral(value.unsigned_abs());
        if value < 0 { self.context.negate(magnitude) } else { magnitude }
    }

    fn value(&mut self, pattern: &Pattern) -> SExpr {
        if let Some(value) = pattern.evaluate(&self.constants) {
            return self.number(value);
        }
        let context = self.context;
        match pattern {
            Pattern::Number(value) => self.number(i128::from(*value)),
            Pattern::Letter(letter) => context.atom(letter.to_string()),
            Pattern::Neg(x) => context.negate(self.value(x)),
            Pattern::Binary(operator, operands) => {
                let [x, y] = &**operands;
                let x = self.value(x);
                match operator {
                    Operator::Add => context.plus(x, self.value(y)),
                    Operator::Sub => context.sub(x, self.value(y)),
                    Operator::Mul => context.times(x, self.value(y)),
                    Operator::FloorDiv => self.floor_div(x, y),
                    Operator::CeilDiv => context.negate(self.floor_div(context.negate(x), y)),
                    Operator::Mod => self.modulo(x, y),
                }
            }
            Pattern::Sum { index, count, body } => {
                let count = count.evaluate(&self.constants).expect("a count of summands is made a constant first");
                let mut total = vec![self.number(0)];
                for i in 0..i64::try_from(count).expect("a small count") {
                    self.constants.push((*index, i));
                    total.push(self.value(body));
                    self.constants.pop();
                }
                context.plus_many(total)
            }
        }
    }

    /// `div` of SMT-LIB leaves a remainder that is not negative, which makes it the floor for positive divisors. A divisor
    /// written with a minus sign moves it to the dividend; all must then prove to be positive.
    fn floor_div(&mut self, x: SExpr, divisor: &Pattern) -> SExpr {
        let (x, divisor) = match divisor {
            Pattern::Neg(divisor) => (self.context.negate(x), &**divisor),
            divisor => (x, divisor),
        };
        let divisor = self.positive(divisor);
        self.context.div(x, divisor)
    }

    fn modulo(&mut self, x: SExpr, modulus: &Pattern) -> SExpr {
        let value = self.positive(modulus);
        if modulus.evaluate(&self.constants).is_some() {
            return self.context.modulo(x, value);
        }
        // What SMT-LIB says `mod` is.
        self.context.sub(x, self.context.times(value, self.context.div(x, value)))
    }

    /// The value of a divisor, and the note that it must be positive.
    fn positive(&mut self, divisor: &Pattern) -> SExpr {
        let value = self.value(divisor);
        if divisor.evaluate(&self.constants).is_none_or(|constant| constant <= 0) {
            self.meaningful.push(self.context.gt(value, self.context.numeral(0)));
        }
        value
    }

    fn condition(&mut self, condition: &Condition) -> SExpr {
        match condition {
            Condition::Compare { left, relation, right } => {
                let (left, right) = (self.value(left), self.value(right));
                match relation {
                    Relation::Equal => self.context.eq(left, right),
                    Relation::Less => self.context.lt(left, right),
                    Relation::LessOrEqual => self.context.lte(left, right),
                    Relation::Greater => self.context.gt(left, right),
                    Relation::GreaterOrEqual => self.context.gte(left, right),
                }
            }
            Condition::Divides { divisor, dividend } => {
                let dividend = self.value(dividend);
                let rest = self.modulo(dividend, divisor);
                self.context.eq(rest, self.context.numeral(0))
            }
        }
    }

    fn all(&mut self, conditions: &[Condition]) -> SExpr {
        let conditions: Vec<SExpr> = conditions.iter().map(|condition| self.condition(condition)).collect();
        self.context.and_many(conditions)
    }

    /// The conditions with a meaning, that all divisors of the claim have one, and the claim.
    fn parts(mut self, statement: &Statement) -> (Vec<SExpr>, Vec<SExpr>, SExpr) {
        let mut conditions: Vec<SExpr> = statement.conditions.iter().map(|c| self.condition(c)).collect();
        conditions.append(&mut self.meaningful);
        let claim = match &statement.claim {
            Claim::Equal(left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.context.eq(left, right)
            }
            Claim::Equivalent(left, right) => {
                let (left, right) = (self.all(left), self.all(right));
                self.context.eq(left, right)
            }
        };
        (conditions, self.meaningful, claim)
    }
}

/// The two ways in which a law can fail.
#[derive(Copy, Clone)]
enum Failure {
    /// The conditions leave a divisor of the claim without a meaning.
    Meaningless,
    /// The claim has a meaning and is false.
    False,
}

/// Whether the law can fail in this way with some letters made constants.
fn ask(context: &mut Context, statement: &Statement, constants: &[(char, i64)], failure: Failure) -> Response {
    let question = Question { context, constants: constants.to_vec(), meaningful: Vec::new() };
    let (mut asserted, meaningful, claim) = question.parts(statement);
    match failure {
        // All divisors are positive constants.
        Failure::Meaningless if meaningful.is_empty() => return Response::Unsat,
        Failure::Meaningless => asserted.push(context.not(context.and_many(meaningful))),
        Failure::False => asserted.extend(meaningful.into_iter().chain([context.not(claim)])),
    }
    for letter in statement.letters() {
        context.declare_const(letter.to_string(), context.int_sort()).expect("the solver answers");
    }
    for formula in asserted {
        context.assert(formula).expect("the solver answers");
    }
    context.check().expect("the solver answers")
}

/// All conditions in a statement, those of an equivalence included.
fn all_conditions(statement: &Statement) -> Vec<&Condition> {
    let claimed = match &statement.claim {
        Claim::Equal(..) => [].iter().chain(&[]),
        Claim::Equivalent(left, right) => left.iter().chain(right),
    };
    statement.conditions.iter().chain(claimed).collect()
}

/// All patterns in a statement, each before its parts.
fn patterns(statement: &Statement) -> Vec<&Pattern> {
    let mut waiting: Vec<&Pattern> = Vec::new();
    if let Some((left, right)) = statement.equation() {
        waiting.extend([left, right]);
    }
    for condition in all_conditions(statement) {
        let (Condition::Compare { left: x, right: y, .. } | Condition::Divides { divisor: x, dividend: y }) = condition;
        waiting.extend([x, y]);
    }
    let mut found = Vec::new();
    while let Some(pattern) = waiting.pop() {
        found.push(pattern);
        match pattern {
            Pattern::Number(_) | Pattern::Letter(_) => {}
            Pattern::Neg(x) => waiting.push(x),
            Pattern::Binary(_, operands) => waiting.extend(operands.iter()),
            Pattern::Sum { count, body, .. } => waiting.extend([&**count, &**body]),
        }
    }
    found
}

/// The letters that must be constants for all products to be linear and all divisors numbers, with the values they take.
fn letters_to_fix(statement: &Statement) -> Vec<(char, Vec<i64>)> {
    let mut fixed: Vec<(char, Vec<i64>)> = Vec::new();
    let fix = |fixed: &mut Vec<(char, Vec<i64>)>, pattern: &Pattern, values: std::ops::RangeInclusive<i64>| {
        for letter in pattern.letters().into_iter().filter(|letter| is_number(*letter)) {
            if fixed.iter().all(|(known, _)| *known != letter) {
                fixed.push((letter, values.clone().collect()));
            }
        }
    };
    let all = patterns(statement);
    for pattern in &all {
        match pattern {
            Pattern::Binary(Operator::FloorDiv | Operator::CeilDiv | Operator::Mod, operands) => {
                fix(&mut fixed, &operands[1], DIVISORS);
            }
            Pattern::Sum { count, .. } => fix(&mut fixed, count, DIVISORS),
            _ => {}
        }
    }
    for condition in all_conditions(statement) {
        if let Condition::Divides { divisor, .. } = condition {
            fix(&mut fixed, divisor, DIVISORS);
        }
    }
    for pattern in &all {
        let Pattern::Binary(Operator::Mul, operands) = pattern else { continue };
        let is_open = |x: &Pattern| x.letters().iter().any(|letter| fixed.iter().all(|(known, _)| known != letter));
        if operands.iter().all(is_open) {
            let factor = operands.iter().find(|x| x.letters().into_iter().all(is_number)).unwrap_or(&operands[0]);
            fix(&mut fixed, factor, FACTORS);
        }
    }
    fixed
}

/// How far a law is proved.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// Over all integers.
    Everywhere,
    /// Over all integers but for these letters, which took so many values together.
    ForConstants(Vec<char>, usize),
    /// The solver's answer, and the constants for which it gave it.
    Failed(Response, Vec<(char, i64)>),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Everywhere => write!(f, "proved for all integers"),
            Verdict::ForConstants(letters, count) => {
                let letters: Vec<String> = letters.iter().map(ToString::to_string).collect();
                write!(f, "proved for constants 1..8 over all integers ({count} of {})", letters.join(", "))
            }
            Verdict::Failed(response, constants) => write!(f, "failed: {response:?} for {constants:?}"),
        }
    }
}

fn prove(statement: &Statement) -> Verdict {
    let failures = [Failure::Meaningless, Failure::False];
    if !patterns(statement).iter().any(|pattern| matches!(pattern, Pattern::Sum { .. })) {
        // A solver of its own for each: within `push` and `pop` it knows less.
        let responses = failures.map(|failure| ask(&mut solver(MAX_STEPS_OPEN), statement, &[], failure));
        if responses.contains(&Response::Sat) {
            return Verdict::Failed(Response::Sat, Vec::new());
        } else if responses == [Response::Unsat, Response::Unsat] {
            return Verdict::Everywhere;
        }
    }
    let fixed = letters_to_fix(statement);
    let mut constants: Vec<Vec<(char, i64)>> = vec![Vec::new()];
    for (letter, values) in &fixed {
        let with = |chosen: &Vec<(char, i64)>, value: i64| [chosen.as_slice(), &[(*letter, value)]].concat();
        constants = constants.iter().flat_map(|chosen| values.iter().map(move |value| with(chosen, *value))).collect();
        constants.retain(|chosen| statement.conditions.iter().all(|c| c.evaluate(chosen) != Some(false)));
    }
    let mut context = solver(MAX_STEPS_FIXED);
    for (chosen, failure) in constants.iter().flat_map(|chosen| failures.map(|failure| (chosen, failure))) {
        context.push().expect("the solver answers");
        let response = ask(&mut context, statement, chosen, failure);
        context.pop().expect("the solver answers");
        if response != Response::Unsat {
            return Verdict::Failed(response, chosen.clone());
        }
    }
    if constants.is_empty() {
        return Verdict::Failed(Response::Unknown, Vec::new());
    }
    Verdict::ForConstants(fixed.into_iter().map(|(letter, _)| letter).collect(), constants.len())
}

#[test]
fn every_law_is_proved() {
    let laws = laws();
    // The solver uses one core.
    let mut proved: Vec<(&Law, Verdict, u128)> = on_all_cores(laws, |law| {
        let start = Instant::now();
        let verdict = prove(&law.statement().expect("a law can be read"));
        (*law, verdict, start.elapsed().as_millis())
    });
    proved.sort_by_key(|(law, ..)| laws.iter().position(|other| other == law));
    for (law, verdict, milliseconds) in &proved {
        println!("{:30} {verdict} ({milliseconds} ms)", law.name);
    }
    let failed = proved.iter().filter(|(_, verdict, _)| matches!(verdict, Verdict::Failed(..)));
    let failed: Vec<String> = failed.map(|(law, verdict, _)| format!("{law}: {verdict}")).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn verdict(equation: &'static str, condition: &'static str) -> Verdict {
    prove(&Law { name: "trial", equation, condition }.statement().expect("it can be read"))
}

#[test]
fn false_laws_are_found_out() {
    let is_refuted = |equation, condition| matches!(verdict(equation, condition), Verdict::Failed(Response::Sat, _));
    assert!(is_refuted("(x + y) floordiv c = x floordiv c + y floordiv c", "c > 0"));
    assert!(is_refuted("x mod c = x mod c", ""), "a modulus of zero");
    assert!(is_refuted("sum(i, n, (x + i) floordiv n) = x + 1", "n > 0"));
    assert!(is_refuted("l <= a*x <= h <=> ceildiv(l, a) <= x <= h floordiv a", "a >= -1, l = 0, h = 8"));
    let merged = verdict("c | x, k | x <=> c*k | x", "c = 2, k = 3");
    assert!(!matches!(merged, Verdict::Failed(..)), "{merged}");
    assert!(is_refuted("c | x, k | x <=> c*k | x", "c = 2, k = 4"));
    assert!(matches!(verdict("x floordiv (c - 9) = 0", "c > 8, c < 9"), Verdict::Everywhere));
}

/// The solver's division agrees with the evaluator's, for both signs of both operands.
#[test]
fn division_means_the_same() {
    for (x, c) in (-5..=5).flat_map(|x| [-3, -2, -1, 1, 2, 3].map(|c: i64| (x, c))) {
        let condition: &'static str = format!("x = {x}, c = {}", c.abs()).leak();
        let divisor = if c < 0 { "(-c)" } else { "c" };
        for text in [format!("x floordiv {divisor}"), format!("ceildiv(x, {divisor})")] {
            let law = Law { name: "trial", equation: format!("{text} = x").leak(), condition };
            let statement = law.statement().expect("it can be read");
            let (quotient, _) = statement.equation().expect("an equation");
            let value = quotient.evaluate(&[('x', x), ('c', c.abs())]).expect("a value");
            assert_eq!(verdict(format!("{text} = {value}").leak(), condition), Verdict::Everywhere, "{text}: {x}, {c}");
        }
    }
}
