//! What rules prove their side conditions from, and the notes they leave for the derivation.

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
    letters: Vec<(char, Expr)>,
    ranges: Vec<(Expr, Interval)>,
}

impl Context {
    pub(crate) fn new(analysis: Analysis) -> Context {
        Context { analysis, log: None }
    }

    pub(crate) fn start_log(&mut self) {
        self.log = Some(Log::default());
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
pub(crate) type Notes = (Vec<(char, Expr)>, Vec<(Expr, Interval)>);
