//! The domain that rules prove their conditions from, and the log of what they do.

use crate::proof::Step;
use crate::range::Analysis;
use crate::{Expr, Interval, Law};

/// The domain, and a log where somebody wants to read one.
pub(crate) struct Context {
    pub(crate) analysis: Analysis,
    log: Option<Log>,
}

/// Steps taken, and what the rule being tried has said so far.
#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    letters: Letters,
    ranges: Vec<(Expr, Interval)>,
    /// What rules failed for, where that is wanted.
    failures: Option<Failures>,
}

/// What the rule being tried has failed for so far.
#[derive(Default)]
struct Failures {
    /// What the letters stood for where a condition was not proved.
    refused: Vec<Letters>,
    /// Sums that got no cheaper, each with what it became.
    dearer: Vec<(Expr, Expr)>,
}

/// What letters of a law stand for.
pub(crate) type Letters = Vec<(char, Expr)>;

impl Context {
    pub(crate) fn new(analysis: Analysis) -> Context {
        Context { analysis, log: None }
    }

    pub(crate) fn start_log(&mut self) {
        self.log = Some(Log::default());
    }

    /// Keeps what rules fail for, too; [`Context::take_log`] ends it.
    pub(crate) fn start_probe(&mut self) {
        self.log = Some(Log { failures: Some(Failures::default()), ..Log::default() });
    }

    fn failures(&mut self) -> Option<&mut Failures> {
        self.log.as_mut()?.failures.as_mut()
    }

    /// What the letters stood for each time the rule being tried was refused.
    pub(crate) fn take_refused(&mut self) -> Vec<Letters> {
        self.failures().map(|failures| std::mem::take(&mut failures.refused)).unwrap_or_default()
    }

    /// What the rule being tried made of the sum, where that was no cheaper.
    pub(crate) fn take_dearer(&mut self, sum: &Expr) -> Option<Expr> {
        let all = std::mem::take(&mut self.failures()?.dearer);
        all.into_iter().find(|(before, _)| before == sum).map(|(_, after)| after)
    }

    /// `new` where it is cheaper than `old`.
    pub(crate) fn if_cheaper(&mut self, old: &Expr, new: Expr) -> Option<Expr> {
        if new.cost() < old.cost() {
            return Some(new);
        }
        if let Some(failures) = self.failures() {
            failures.dearer.push((old.clone(), new));
        }
        None
    }

    /// The quotient by `c` of every value of `e`, where it is one number: then the letter stands for it. Otherwise the rule is
    /// refused, with the quotient of one end of the range for the letter.
    pub(crate) fn one_quotient(&mut self, letter: char, e: &Expr, c: i64) -> Option<i64> {
        let range = self.range(e);
        let only = range.floor_div(c).as_point();
        if let Some(q) = only {
            self.number(letter, q);
        } else if self.failures().is_some() {
            let end = [range.lo, range.hi].into_iter().find(|end| !matches!(*end, i64::MIN | i64::MAX));
            self.number(letter, end.unwrap_or(0).div_euclid(c));
            if let Some(Log { letters, failures: Some(failures), .. }) = &mut self.log {
                failures.refused.push(letters.clone());
            }
        }
        only
    }

    pub(crate) fn take_log(&mut self) -> Vec<Step> {
        self.log.take().map(|log| log.steps).unwrap_or_default()
    }

    pub(crate) fn keeps_log(&self) -> bool {
        self.log.is_some()
    }

    /// Takes over steps that were found elsewhere.
    pub(crate) fn append(&mut self, steps: Vec<Step>) {
        if let Some(log) = &mut self.log {
            log.steps.extend(steps);
        }
    }

    /// The range of `e`, as a reason for what the rule does.
    pub(crate) fn range(&mut self, e: &Expr) -> Interval {
        let range = self.analysis.range(e);
        if let Some(log) = &mut self.log {
            log.ranges.push((e.clone(), range));
        }
        range
    }

    /// The letter of the law stands for `e`.
    pub(crate) fn bind(&mut self, letter: char, e: &Expr) {
        self.bind_with(letter, || Some(e.clone()));
    }

    /// The letter of the law stands for a number.
    pub(crate) fn number(&mut self, letter: char, value: i64) {
        self.bind_with(letter, || Some(Expr::constant(value)));
    }

    /// As [`Context::bind`], for what only the derivation needs.
    pub(crate) fn bind_with(&mut self, letter: char, e: impl FnOnce() -> Option<Expr>) {
        if let Some(log) = &mut self.log
            && let Some(e) = e()
        {
            log.letters.retain(|(known, _)| *known != letter);
            log.letters.push((letter, e));
        }
    }

    /// Forgets what a rule that did not apply has said.
    pub(crate) fn forget(&mut self) {
        if let Some(log) = &mut self.log {
            log.letters.clear();
            log.ranges.clear();
            if let Some(failures) = &mut log.failures {
                failures.refused.clear();
                failures.dearer.clear();
            }
        }
    }

    /// What the rule that applied has said, to be recorded later.
    pub(crate) fn notes(&mut self) -> Notes {
        match &mut self.log {
            Some(log) => (std::mem::take(&mut log.letters), std::mem::take(&mut log.ranges)),
            None => Notes::default(),
        }
    }

    /// Records `before = after` by `law`, with what was bound and asked since the last step.
    pub(crate) fn record(&mut self, law: &'static Law, before: &Expr, after: &Expr) {
        let notes = self.notes();
        self.record_noted(law, before, after, notes);
    }

    /// Records `before = after` by `law`, with notes taken earlier.
    pub(crate) fn record_noted(&mut self, law: &'static Law, before: &Expr, after: &Expr, notes: Notes) {
        if let Some(log) = &mut self.log {
            let (letters, ranges) = notes;
            log.steps.push(Step { law, before: before.clone(), after: after.clone(), letters, ranges });
        }
    }
}

/// The letters bound, and the ranges asked for.
pub(crate) type Notes = (Letters, Vec<(Expr, Interval)>);
