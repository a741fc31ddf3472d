//! Diagnosis of remaining divisions: which laws were tried on each, and what each of them lacked.

use std::fmt;

use rustc_hash::FxHashMap;

use super::context::Context;
use super::rules::sum::{self, KNOWN_VALUE};
use super::rules::{floordiv, modulo};
use crate::expr::postorder;
use crate::law::{Condition, Relation};
use crate::range::Analysis;
use crate::{Atom, Constraint, Expr, Interval, Law, Ranges, Simplifier, Term};

/// Why the divisions and remainders of an expression are still there; [`why_not`] and [`Simplifier::why_not`] find it out.
///
/// Its text has a paragraph for each division or remainder, and a line for each law that was tried on it:
///
/// ```
/// use weft_affine::{Interval, Ranges, Var, why_not};
///
/// let [d0] = Var::dims();
/// let ranges = Ranges::of_dims([Interval::new(0, 3)]);
/// let why = why_not(&(d0 + 3).modulo(4), &ranges, &[]);
/// let text = why.to_string();
/// assert!(text.starts_with("(d0 + 3) mod 4 is in [0, 3]\n"), "{text}");
/// assert!(text.contains("\n  mod-in-range: needs 0 <= d0 + 3 < 4, but d0 + 3 is in [3, 6]\n"), "{text}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WhyNot {
    /// The expression whose divisions are asked about.
    pub expr: Expr,
    /// An entry for each distinct division or remainder in it, those within arguments before what contains them.
    pub divisions: Vec<RemainingDivision>,
}

/// A division or remainder that stayed, and the laws that were tried on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemainingDivision {
    /// The division or remainder, an expression of this one atom.
    pub expr: Expr,
    /// The values that it takes over the domain, as far as is known.
    pub range: Interval,
    /// The trials, in the order of the simplifier: that its value is known, the laws of its operation, and the laws of
    /// each sum that it is a term of. A law of another form is listed once.
    pub trials: Vec<Trial>,
}

/// One law, tried in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trial {
    /// The law.
    pub law: &'static Law,
    /// The expression that the law was tried on: the division itself, or a sum that it is a term of.
    pub on: Expr,
    /// The instantiation of the law as far as it matched: the expression for each letter.
    pub letters: Vec<(char, Expr)>,
    /// Why it changed nothing.
    pub obstacle: Obstacle,
}

/// Why a law changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// The expression has not the form of the side that the law is used from, or has the form of the other side already.
    OtherForm,
    /// The form fits, and these conditions do not follow from the ranges; at least one.
    Unproved(Vec<UnprovedCondition>),
    /// The law holds here, and the sum that the division stands in gets no cheaper by it.
    NotCheaper {
        /// The right side of the law, instantiated.
        becomes: Expr,
        /// The cost of the sum after the rewrite; see [`Expr::cost`].
        cost: u64,
        /// The cost of the sum as it is.
        instead_of: u64,
    },
    /// The law holds here and makes the sum cheaper, but less is known of its value then, so that later simplifications would
    /// suffer.
    WiderRange {
        /// The right side of the law, instantiated.
        becomes: Expr,
        /// The range of the sum then.
        range: Interval,
        /// The range of the sum.
        instead_of: Interval,
    },
    /// The law holds here and makes the sum cheaper, but hides digits that rules of the division around it look for.
    HidesDigits {
        /// The right side of the law, instantiated.
        becomes: Expr,
    },
    /// The law holds here and makes the sum cheaper: the expression was not simplified, or only within bounds on the work, see
    /// [`Config`](crate::Config).
    NotUsed {
        /// The right side of the law, instantiated.
        becomes: Expr,
    },
}

/// A condition of a law that the ranges do not prove: some value of `range` lies outside of `needs`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnprovedCondition {
    /// The condition over the letters of the law, such as `c*q <= z < c*q + c`.
    pub condition: String,
    /// The expression that the condition restricts, such as `d0 + 3`.
    pub expr: Expr,
    /// The values that it must have; an end of `i64` is no bound.
    pub needs: Interval,
    /// The values that it may have over the domain.
    pub range: Interval,
}

/// Simplifies the expression, and says of each division and remainder that is left which laws were tried on it, and what each
/// of them lacked.
pub fn why_not(expr: &Expr, ranges: &Ranges, constraints: &[Constraint]) -> WhyNot {
    let mut simplifier = Simplifier::new(ranges, constraints);
    let simple = simplifier.simplify(expr);
    simplifier.why_not(&simple)
}

impl Simplifier {
    /// The laws that were tried on each division and remainder of `simple`, with the obstacle of each. The expression
    /// is taken as it is, and should be a result of [`Simplifier::simplify`]: the trials are those of simplifying it
    /// again. The laws that only the e-graph tries are among them. Linearity of the whole, which is decided by trying
    /// points, concerns no division and is not listed.
    ///
    /// The answer is computed when it is asked for: it takes about as long as a simplification, and costs those nothing.
    pub fn why_not(&mut self, simple: &Expr) -> WhyNot {
        let sums = postorder([simple]);
        self.normalizer.context.start_probe();
        let mut divisions: Vec<RemainingDivision> = Vec::new();
        for occurrences in occurrences(&sums) {
            let Some((_, term)) = occurrences.first() else { continue };
            let expr = Expr::from_atom(term.atom.clone());
            let trials = distinct(self.trials(simple, &term.atom, &occurrences));
            let range = self.range_of(&expr);
            divisions.push(RemainingDivision { expr, range, trials });
        }
        self.normalizer.context.take_log();
        WhyNot { expr: simple.clone(), divisions }
    }

    fn trials(&mut self, whole: &Expr, atom: &Atom, occurrences: &[Occurrence<'_>]) -> Vec<Trial> {
        let (x, c, of_operation, of_sums) = match atom {
            Atom::Var(_) => return Vec::new(),
            Atom::FloorDiv(x, c) => (x, *c, [floordiv::RULES, floordiv::EXPLORING], sum::OF_FLOORDIV),
            Atom::Mod(x, c) => (x, *c, [modulo::RULES, modulo::EXPLORING], sum::OF_MOD),
        };
        let division = Expr::from_atom(atom.clone());
        let mut trials: Vec<Trial> = self.known_value_trial(&division).into_iter().collect();
        for rule in of_operation.into_iter().flatten() {
            let context = &mut self.normalizer.context;
            context.forget();
            let becomes = (rule.apply)(context, x, c).filter(|becomes| *becomes != division);
            let trial = |letters, obstacle| Trial { law: rule.law, on: division.clone(), letters, obstacle };
            match becomes {
                Some(becomes) => {
                    let (letters, _) = self.normalizer.context.notes();
                    trials.push(trial(letters, self.obstacle_of_operation(atom, &becomes, occurrences)));
                }
                None => {
                    let unproved = unproved_trials(context, rule.law, &division);
                    let is_other = unproved.is_empty();
                    trials.extend(unproved);
                    trials.extend(is_other.then(|| trial(Vec::new(), Obstacle::OtherForm)));
                }
            }
        }
        let has_facts = self.normalizer.context.analysis.has_facts();
        for (sum, term) in occurrences {
            let is_one_atom = matches!(sum.terms(), [term] if matches!(term.coefficient, -1 | 1));
            if is_one_atom && !has_facts {
                continue;
            }
            for rule in of_sums {
                let normalizer = &mut self.normalizer;
                normalizer.allow_steps(self.config.max_steps);
                normalizer.context.forget();
                let outer = std::mem::replace(&mut normalizer.inside, *sum != whole);
                normalizer.trials += 1;
                let found = (rule.apply)(normalizer, sum, term, x, c);
                normalizer.trials -= 1;
                let dearer = normalizer.context.take_dearer(sum);
                let (letters, obstacle) = match (found, dearer) {
                    (Some(found), _) => {
                        let range = normalizer.context.analysis.range(&found.sum);
                        let instead_of = normalizer.context.analysis.range(sum);
                        let candidate = (rule.law, found);
                        let is_welcome = normalizer.is_welcome(sum, &candidate);
                        let (letters, becomes) = (candidate.1.letters, candidate.1.sum);
                        let obstacle = if is_welcome {
                            Obstacle::NotUsed { becomes }
                        } else if instead_of.contains_interval(range) {
                            Obstacle::HidesDigits { becomes }
                        } else {
                            Obstacle::WiderRange { becomes, range, instead_of }
                        };
                        (letters, obstacle)
                    }
                    (None, Some(becomes)) => {
                        let (cost, instead_of) = (becomes.cost(), sum.cost());
                        (Vec::new(), Obstacle::NotCheaper { becomes, cost, instead_of })
                    }
                    (None, None) => (Vec::new(), Obstacle::OtherForm),
                };
                normalizer.inside = outer;
                trials.push(Trial { law: rule.law, on: (*sum).clone(), letters, obstacle });
            }
        }
        trials
    }

    /// That the division has one value.
    fn known_value_trial(&mut self, division: &Expr) -> Option<Trial> {
        let context = &mut self.normalizer.context;
        context.forget();
        context.bind('x', division);
        context.one_quotient('q', division, 1);
        unproved_trials(context, KNOWN_VALUE, division).pop()
    }

    /// Why a law that holds of the division was not used, by the first of the sums that it would make cheaper.
    fn obstacle_of_operation(&mut self, atom: &Atom, becomes: &Expr, occurrences: &[Occurrence<'_>]) -> Obstacle {
        let mut obstacle = None;
        for (sum, _) in occurrences {
            let Ok(new) = sum.with_replaced(atom, becomes) else { continue };
            let (cost, instead_of) = (new.cost(), sum.cost());
            if cost >= instead_of {
                let becomes = becomes.clone();
                obstacle = obstacle.or(Some(Obstacle::NotCheaper { becomes, cost, instead_of }));
                continue;
            }
            let analysis = &mut self.normalizer.context.analysis;
            let (range, instead_of) = (analysis.range(&new), analysis.range(sum));
            return match instead_of.contains_interval(range) {
                true => Obstacle::NotUsed { becomes: becomes.clone() },
                false => Obstacle::WiderRange { becomes: becomes.clone(), range, instead_of },
            };
        }
        // Where a coefficient would overflow there is no rewrite.
        obstacle.unwrap_or(Obstacle::OtherForm)
    }
}

/// A sum, and the one of its terms that is the division asked about.
type Occurrence<'a> = (&'a Expr, &'a Term);

/// Where each distinct division or remainder stands, those that are met first before others.
fn occurrences(sums: &[Expr]) -> Vec<Vec<Occurrence<'_>>> {
    let mut all: Vec<Vec<Occurrence<'_>>> = Vec::new();
    let mut position: FxHashMap<u128, usize> = FxHashMap::default();
    for sum in sums {
        for term in sum.terms().iter().filter(|term| term.atom.argument().is_some()) {
            let own = *position.entry(Expr::hash_of_atom(&term.atom)).or_insert(all.len());
            if own == all.len() {
                all.push(Vec::new());
            }
            all[own].push((sum, term));
        }
    }
    all
}

/// The ways in which the law was tried that failed for a condition.
fn unproved_trials(context: &mut Context, law: &'static Law, on: &Expr) -> Vec<Trial> {
    let refused = context.take_refused().into_iter().filter_map(|letters| {
        let unproved = unproved_conditions(law, &letters, &mut context.analysis);
        (!unproved.is_empty()).then(|| Trial { law, on: on.clone(), letters, obstacle: Obstacle::Unproved(unproved) })
    });
    refused.collect()
}

/// The conditions that the ranges leave open, those of one chain together.
fn unproved_conditions(law: &Law, letters: &[(char, Expr)], analysis: &mut Analysis) -> Vec<UnprovedCondition> {
    let Ok(statement) = law.statement() else { return Vec::new() };
    let mut all: Vec<UnprovedCondition> = Vec::new();
    let mut before: Option<&Condition> = None;
    for condition in &statement.conditions {
        let Some((expr, needs)) = subject(condition, letters) else { continue };
        let follows = match (before.replace(condition), condition) {
            (Some(Condition::Compare { right: middle, .. }), Condition::Compare { left, relation, right })
                if left == middle =>
            {
                Some(format!(" {relation} {right}"))
            }
            _ => None,
        };
        match (follows, all.last_mut()) {
            (Some(end), Some(chain)) if chain.expr == expr => {
                chain.condition += &end;
                chain.needs = chain.needs.intersect(needs);
            }
            _ => {
                let range = analysis.range(&expr);
                all.push(UnprovedCondition { condition: condition.to_string(), expr, needs, range });
            }
        }
    }
    all.retain(|condition| !condition.needs.contains_interval(condition.range));
    all
}

/// What a condition is about, and which values it must have.
fn subject(condition: &Condition, letters: &[(char, Expr)]) -> Option<(Expr, Interval)> {
    match condition {
        Condition::Compare { left, relation, right } => {
            let (left, right) = (left.instantiate(letters).ok()?, right.instantiate(letters).ok()?);
            match (left.as_constant(), right.as_constant()) {
                (_, Some(number)) => Some((left, allowed(*relation, number)?)),
                (Some(number), None) => Some((right, allowed(reversed(*relation), number)?)),
                (None, None) => Some((left.checked_sub(&right).ok()?, allowed(*relation, 0)?)),
            }
        }
        Condition::Divides { divisor, dividend } => {
            let divisor = divisor.instantiate(letters).ok()?.as_constant()?.checked_abs()?;
            let rest = dividend.instantiate(letters).ok()?.checked_modulo(divisor).ok()?;
            Some((rest, Interval::point(0)))
        }
    }
}

/// The relation read from right to left.
fn reversed(relation: Relation) -> Relation {
    match relation {
        Relation::Equal => Relation::Equal,
        Relation::Less => Relation::Greater,
        Relation::LessOrEqual => Relation::GreaterOrEqual,
        Relation::Greater => Relation::Less,
        Relation::GreaterOrEqual => Relation::LessOrEqual,
    }
}

/// The values that stand in the relation to the number.
fn allowed(relation: Relation, number: i64) -> Option<Interval> {
    Some(match relation {
        Relation::Equal => Interval::point(number),
        Relation::Less => Interval::new(i64::MIN, number.checked_sub(1)?),
        Relation::LessOrEqual => Interval::new(i64::MIN, number),
        Relation::Greater => Interval::new(number.checked_add(1)?, i64::MAX),
        Relation::GreaterOrEqual => Interval::new(number, i64::MAX),
    })
}

/// Each trial once, and that a law has another form only where nothing else is known of it.
fn distinct(trials: Vec<Trial>) -> Vec<Trial> {
    let mut kept: Vec<Trial> = Vec::new();
    for trial in &trials {
        let is_other = trial.obstacle == Obstacle::OtherForm;
        let says_more = |other: &&Trial| other.law == trial.law && other.obstacle != Obstacle::OtherForm;
        let is_said = if is_other {
            trials.iter().any(|other| says_more(&other)) || kept.iter().any(|known| known.law == trial.law)
        } else {
            kept.iter().any(|known| known.law == trial.law && is_same(&known.obstacle, &trial.obstacle))
        };
        if !is_said {
            kept.push(trial.clone());
        }
    }
    kept
}

/// True for equal obstacles, and for one law of an operation and of a sum that leads to one and the same cost.
fn is_same(a: &Obstacle, b: &Obstacle) -> bool {
    match (a, b) {
        (
            Obstacle::NotCheaper { cost: x, instead_of: before, .. },
            Obstacle::NotCheaper { cost: y, instead_of: other, .. },
        ) => (x, before) == (y, other),
        _ => a == b,
    }
}

/// `needs 0 <= d0 + 3 < 4, but d0 + 3 is in [3, 6]`.
impl fmt::Display for UnprovedCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnprovedCondition { expr, needs, range, .. } = self;
        f.write_str("needs ")?;
        match (needs.bound_below(), needs.bound_above()) {
            (Some(low), Some(high)) if low == high => write!(f, "{expr} = {low}")?,
            (Some(low), Some(high)) => write!(f, "{low} <= {expr} < {}", high + 1)?,
            (Some(low), None) => write!(f, "{expr} >= {low}")?,
            (None, Some(high)) => write!(f, "{expr} < {}", high + 1)?,
            (None, None) => write!(f, "{expr} to have a value")?,
        }
        write!(f, ", but {expr} is in {range}")
    }
}

/// The law, what it was tried on where that is not the division itself, and why it changed nothing.
impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.law.name)?;
        if self.on.as_atom().is_none_or(|atom| atom.argument().is_none()) {
            write!(f, " on {}", self.on)?;
        }
        f.write_str(": ")?;
        match &self.obstacle {
            Obstacle::OtherForm => f.write_str("has another form"),
            Obstacle::Unproved(conditions) => {
                for (i, condition) in conditions.iter().enumerate() {
                    write!(f, "{}{condition}", if i == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
            Obstacle::NotCheaper { becomes, cost, instead_of } => {
                write!(f, "gives {becomes}, at a cost of {cost} instead of {instead_of}")
            }
            Obstacle::WiderRange { becomes, range, instead_of } => {
                write!(f, "gives {becomes}, of which less is known: {range} instead of {instead_of}")
            }
            Obstacle::HidesDigits { becomes } => {
                write!(f, "gives {becomes}, which hides digits from the division around it")
            }
            Obstacle::NotUsed { becomes } => write!(f, "gives {becomes}, which is cheaper and was not reached"),
        }
    }
}

/// The division and its range, then a line for each law that was close, and one with the names of those of other forms.
impl fmt::Display for RemainingDivision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is in {}", self.expr, self.range)?;
        let (others, close): (Vec<&Trial>, Vec<&Trial>) =
            self.trials.iter().partition(|trial| trial.obstacle == Obstacle::OtherForm);
        for trial in close {
            write!(f, "\n  {trial}")?;
        }
        if !others.is_empty() {
            let names: Vec<&str> = others.iter().map(|trial| trial.law.name).collect();
            write!(f, "\n  of another form: {}", names.join(", "))?;
        }
        Ok(())
    }
}

/// A paragraph for each division or remainder; nothing where none is left.
impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, division) in self.divisions.iter().enumerate() {
            write!(f, "{}{division}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
