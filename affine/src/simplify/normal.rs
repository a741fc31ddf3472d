//! The directed pass: arguments first, then the rules of each division and remainder in order, then the sum.

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::context::Context;
use super::rules::sum::KNOWN_VALUE;
use super::rules::{OperationRule, floordiv, modulo};
use crate::expr::postorder;
use crate::{Atom, Expr};

/// Rewrites within rewrites nest at most this deep; beyond, terms stay as they are.
const MAX_NESTING: u32 = 96;

/// Words that tell apart how a form was asked for; any that do not occur as differences of hashes will do.
const SUM: u128 = 0x9216_d5d9_8979_fb1b_d131_0ba6_98df_b5ac;
const OPERATION: u128 = 0x5bd1_e995_97f4_a7c1_5851_f42d_4c95_7f2d;

/// Brings expressions over one domain into normal form; remembers what it has seen.
pub(crate) struct Normalizer {
    pub(crate) context: Context,
    /// Normal forms, by the hash of what was asked and a word for how it was asked.
    known: FxHashMap<u128, Expr>,
    pub(super) steps_left: usize,
    nesting: u32,
    /// True while the argument of a division or remainder is brought into normal form.
    pub(super) inside: bool,
    /// How many trial rewrites of sums the current one is nested in.
    pub(super) trials: usize,
}

impl Normalizer {
    pub(crate) fn new(context: Context, steps: usize) -> Normalizer {
        Normalizer {
            context,
            known: FxHashMap::with_capacity_and_hasher(14, FxBuildHasher),
            steps_left: steps,
            nesting: 0,
            inside: false,
            trials: 0,
        }
    }

    /// `e = q`, where the range says so.
    fn known_value(&mut self, e: &Expr) -> Option<Expr> {
        let value = self.context.analysis.range(e).as_point()?;
        let constant = Expr::constant(value);
        if *e != constant {
            self.context.forget();
            self.context.range(e);
            self.context.bind('x', e);
            self.context.number('q', value);
            self.context.record(KNOWN_VALUE, e, &constant);
        }
        Some(constant)
    }

    /// Grants rewrites for one simplification. Forms remembered while none were left are forgotten, so that a result never
    /// depends on what was asked before.
    pub(crate) fn allow_steps(&mut self, steps: usize) {
        if self.steps_left == 0 {
            self.known.clear();
        }
        self.steps_left = steps;
    }

    /// How many forms and ranges are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.known.len() + self.context.analysis.remembered()
    }

    /// Forgets all forms and ranges.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.context.analysis.forget();
    }

    /// The normal form of a whole expression.
    pub(crate) fn root(&mut self, e: &Expr) -> Expr {
        if e.depth() > MAX_NESTING / 4 {
            // Long chains go bottom up, so that below only remembered arguments are met.
            for node in postorder([e]) {
                self.sum(&node);
            }
        }
        self.sum(e)
    }

    /// The normal form of a part of an expression.
    pub(crate) fn sum(&mut self, e: &Expr) -> Expr {
        if e.as_constant().is_some() {
            return e.clone();
        }
        let key = self.key(e.structural_hash(), SUM);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        if self.nesting >= MAX_NESTING {
            return e.clone();
        }
        self.nesting += 1;
        let normal = self.normal_sum(e);
        self.nesting -= 1;
        self.known.insert(key, normal.clone());
        if normal != *e {
            self.known.insert(self.key(normal.structural_hash(), SUM), normal.clone());
        }
        normal
    }

    /// Trials look less far the deeper they are, and an operation asked for by itself is not recombined; each remembers
    /// its own forms.
    fn key(&self, hash: u128, word: u128) -> u128 {
        hash ^ word.rotate_left(2 * self.trials as u32 + u32::from(self.inside))
    }

    /// The normal form of an argument.
    pub(super) fn argument(&mut self, x: &Expr) -> Expr {
        let outer = std::mem::replace(&mut self.inside, true);
        let normal = self.sum(x);
        self.inside = outer;
        normal
    }

    fn normal_sum(&mut self, e: &Expr) -> Expr {
        let mut total = e.clone();
        for term in e.terms() {
            let new = match &term.atom {
                Atom::Var(v) => {
                    if self.context.analysis.atom(&term.atom).as_point().is_none() {
                        continue;
                    }
                    match self.known_value(&Expr::var(*v)) {
                        Some(constant) => constant,
                        None => continue,
                    }
                }
                Atom::FloorDiv(x, c) => {
                    let x = self.argument(x);
                    self.quotient(&x, *c)
                }
                Atom::Mod(x, c) => {
                    let x = self.argument(x);
                    self.remainder(&x, *c)
                }
            };
            if new.as_atom() == Some(&term.atom) {
                continue;
            }
            // Overflow means no rewrite.
            if let Ok(replaced) = total.with_replaced(&term.atom, &new) {
                total = replaced;
            }
        }
        if let Some(constant) = self.known_value(&total) {
            return constant;
        }
        let total = self.recombined(total);
        if self.inside { self.opened(total) } else { total }
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
        let key = self.key(Expr::hash_of_atom(&plain), OPERATION);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let plain = Expr::from_atom(plain);
        let mut normal = plain.clone();
        // What a constraint says of the argument is lost once a rule takes the argument apart.
        if self.context.analysis.has_facts()
            && let Some(constant) = self.known_value(&plain)
        {
            normal = constant;
        } else if self.steps_left > 0 && self.nesting < MAX_NESTING {
            if let Some(next) = self.rewritten(&plain, x, c, remainder) {
                normal = self.sum(&next);
            } else if self.trials == 0
                && let Some(simpler) = self.by_digits(x, c, remainder)
                && (self.inside || simpler.cost() < plain.cost())
            {
                normal = simpler;
            }
        }
        self.known.insert(key, normal.clone());
        normal
    }

    /// Digits that a whole sum did better without may be what a rule needs in an argument.
    fn by_digits(&mut self, x: &Expr, c: i64, remainder: bool) -> Option<Expr> {
        let digits = self.digits(x)?;
        let plain = if remainder { digits.checked_modulo(c) } else { digits.checked_floor_div(c) };
        let plain = plain.ok()?;
        let next = self.rewritten(&plain, &digits, c, remainder)?;
        let normal = self.sum(&next);
        let size = |e: &Expr| (e.operation_count(), e.depth());
        (size(&normal) < size(&plain)).then_some(normal)
    }

    /// What the first rule that applies makes of the division or remainder `plain` of `x` by `c`.
    fn rewritten(&mut self, plain: &Expr, x: &Expr, c: i64, remainder: bool) -> Option<Expr> {
        let rules: &[OperationRule] = if remainder { modulo::RULES } else { floordiv::RULES };
        for rule in rules {
            self.context.forget();
            if let Some(next) = (rule.apply)(&mut self.context, x, c)
                && next != *plain
            {
                self.steps_left -= 1;
                self.context.record(rule.law, plain, &next);
                return Some(next);
            }
        }
        None
    }
}
