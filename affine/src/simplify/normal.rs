//! The directed pass: arguments first, then the rules of each division and remainder in order, then the sum.

use rustc_hash::FxHashMap;

use super::proof::Step;
use super::recombine::TRIALS;
use super::rules::{Rule, floordiv, modulo};
use crate::expr::postorder;
use crate::range::Analysis;
use crate::{Atom, Expr};

/// Rewrites within rewrites nest at most this deep; beyond, terms stay as they are.
const NESTING: u32 = 96;

/// Brings expressions over one domain into normal form; remembers what it has seen.
pub(crate) struct Normalizer {
    pub(crate) analysis: Analysis,
    /// Normal forms by hash; a table for each depth of trials, since deeper ones look less far.
    sums: [FxHashMap<u128, Expr>; TRIALS + 1],
    atoms: [FxHashMap<(u128, i64, bool), Expr>; TRIALS + 1],
    pub(super) steps_left: usize,
    nesting: u32,
    /// How many trial rewrites of sums the current one is nested in.
    pub(super) trials: usize,
    log: Option<Vec<Step>>,
}

impl Normalizer {
    pub(crate) fn new(analysis: Analysis, steps: usize) -> Normalizer {
        Normalizer {
            analysis,
            sums: Default::default(),
            atoms: Default::default(),
            steps_left: steps,
            nesting: 0,
            trials: 0,
            log: None,
        }
    }

    pub(crate) fn start_log(&mut self) {
        self.log = Some(Vec::new());
    }

    pub(crate) fn take_log(&mut self) -> Vec<Step> {
        self.log.take().unwrap_or_default()
    }

    pub(crate) fn record(&mut self, rule: &'static str, before: &Expr, after: &Expr) {
        if let Some(log) = &mut self.log {
            log.push(Step { rule, before: before.clone(), after: after.clone() });
        }
    }

    /// Grants rewrites for one simplification. Forms remembered while none were left are forgotten, so that a result never
    /// depends on what was asked before.
    pub(crate) fn allow_steps(&mut self, steps: usize) {
        if self.steps_left == 0 {
            self.sums = Default::default();
            self.atoms = Default::default();
        }
        self.steps_left = steps;
    }

    /// The normal form of a whole expression.
    pub(crate) fn root(&mut self, e: &Expr) -> Expr {
        if e.depth() > NESTING / 4 {
            // Long chains go bottom up, so that below only remembered arguments are met.
            for node in postorder([e]) {
                self.sum(&node);
            }
        }
        self.sum(e)
    }

    /// The normal form of a part of an expression.
    pub(crate) fn sum(&mut self, e: &Expr) -> Expr {
        let key = e.structural_hash();
        if let Some(known) = self.sums[self.trials].get(&key) {
            return known.clone();
        }
        if self.nesting >= NESTING {
            return e.clone();
        }
        self.nesting += 1;
        let normal = self.normal_sum(e);
        self.nesting -= 1;
        self.sums[self.trials].insert(key, normal.clone());
        self.sums[self.trials].insert(normal.structural_hash(), normal.clone());
        normal
    }

    fn normal_sum(&mut self, e: &Expr) -> Expr {
        let mut total = e.clone();
        for term in e.terms() {
            let new = match &term.atom {
                Atom::Var(v) => match self.analysis.range(&Expr::var(*v)).as_point() {
                    Some(value) => Expr::constant(value),
                    None => continue,
                },
                Atom::FloorDiv(x, c) => {
                    let x = self.sum(x);
                    self.quotient(&x, *c)
                }
                Atom::Mod(x, c) => {
                    let x = self.sum(x);
                    self.remainder(&x, *c)
                }
            };
            if new.as_atom() == Some(&term.atom) {
                continue;
            }
            let old = Expr::from_atom(term.atom.clone());
            let replaced = total.with_replaced(&term.atom, &new);
            // Overflow means no rewrite.
            if let Ok(replaced) = replaced {
                if matches!(term.atom, Atom::Var(_)) {
                    self.record("known-value", &old, &new);
                }
                total = replaced;
            }
        }
        if let Some(value) = self.analysis.range(&total).as_point() {
            let constant = Expr::constant(value);
            if total != constant {
                self.record("known-value", &total, &constant);
            }
            return constant;
        }
        self.recombined(total)
    }

    /// The normal form of `x // c` for `x` in normal form.
    pub(crate) fn quotient(&mut self, x: &Expr, c: i64) -> Expr {
        self.operation(x, c, false)
    }

    /// The normal form of `x mod c` for `x` in normal form.
    pub(crate) fn remainder(&mut self, x: &Expr, c: i64) -> Expr {
        self.operation(x, c, true)
    }

    fn operation(&mut self, x: &Expr, c: i64, remainder: bool) -> Expr {
        let plain = match (x.as_constant(), remainder) {
            (Some(v), true) => return Expr::constant(v.rem_euclid(c)),
            (Some(v), false) => return Expr::constant(v.div_euclid(c)),
            (None, true) if c == 1 => return Expr::constant(0),
            (None, false) if c == 1 => return x.clone(),
            (None, true) => Atom::Mod(x.clone(), c),
            (None, false) => Atom::FloorDiv(x.clone(), c),
        };
        let key = (x.structural_hash(), c, remainder);
        if let Some(known) = self.atoms[self.trials].get(&key) {
            return known.clone();
        }
        let plain = Expr::from_atom(plain);
        let rules: &[Rule] = if remainder { modulo::RULES } else { floordiv::RULES };
        let mut normal = plain.clone();
        // What a constraint says of the argument is lost once a rule takes the argument apart.
        if self.analysis.has_facts()
            && let Some(value) = self.analysis.range(&plain).as_point()
        {
            normal = Expr::constant(value);
            self.record("known-value", &plain, &normal);
        } else if self.steps_left > 0 && self.nesting < NESTING {
            for rule in rules {
                if let Some(next) = (rule.apply)(&mut self.analysis, x, c) {
                    self.steps_left -= 1;
                    self.record(rule.name, &plain, &next);
                    normal = self.sum(&next);
                    break;
                }
            }
        }
        self.atoms[self.trials].insert(key, normal.clone());
        normal
    }
}
