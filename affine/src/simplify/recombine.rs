//! Rules of sums: divisions and remainders of one argument that belong together.
//!
//! Each replaces one summand by an equal expression and keeps the result when the whole sum gets cheaper, because something
//! cancelled, and its range no wider: outer rules and later compositions prove their side conditions from it.

use super::normal::Normalizer;
use crate::{Atom, Expr};

/// Sums with more divisions and remainders than this are left alone: the search is quadratic.
const MANY: usize = 24;
/// A trial rewrites terms whose sums may be tried in turn; deeper trials find nothing that is worth their number.
pub(super) const TRIALS: usize = 2;

impl Normalizer {
    /// The sum with everything recombined that makes it cheaper.
    pub(super) fn recombined(&mut self, mut e: Expr) -> Expr {
        loop {
            if self.trials >= TRIALS || self.steps_left == 0 {
                return e;
            }
            let operations = e.terms().iter().filter(|t| t.atom.argument().is_some()).count();
            if operations == 0 || operations > MANY || (e.terms().len() < 2 && !self.analysis.has_facts()) {
                return e;
            }
            self.trials += 1;
            self.steps_left -= 1;
            let found = self.cheaper(&e);
            self.trials -= 1;
            match found {
                Some((rule, better)) => {
                    self.record(rule, &e, &better);
                    e = better;
                }
                None => return e,
            }
        }
    }

    fn cheaper(&mut self, e: &Expr) -> Option<(&'static str, Expr)> {
        for (i, term) in e.terms().iter().enumerate() {
            let a = term.coefficient;
            let whole = match &term.atom {
                Atom::Var(_) => continue,
                Atom::FloorDiv(x, c) => {
                    let definition = self.by_remainder(e, a, x, *c).map(|new| ("sum-div-mod", new));
                    definition.or_else(|| self.divided_twice(e, i, a, x, *c).map(|new| ("sum-div-div", new)))
                }
                Atom::Mod(x, c) => {
                    let joined = self.joined_remainders(e, a, x, *c).map(|new| ("sum-mod-mod", new));
                    joined.or_else(|| self.by_quotient(e, a, x, *c).map(|new| ("sum-mod-div", new)))
                }
            };
            if let Some((rule, new)) = whole
                && self.does_not_widen(e, &new)
            {
                return Some((rule, new));
            }
        }
        None
    }

    fn does_not_widen(&mut self, old: &Expr, new: &Expr) -> bool {
        let (old, new) = (self.analysis.range(old), self.analysis.range(new));
        old.contains_interval(new)
    }

    /// `a·c·(x // c) = a·x − a·(x mod c)`.
    fn by_remainder(&mut self, e: &Expr, coefficient: i64, x: &Expr, c: i64) -> Option<Expr> {
        if coefficient % c != 0 {
            return None;
        }
        let a = coefficient / c;
        let remainder = self.remainder(x, c);
        let old = x.checked_floor_div(c).ok()?;
        let new = e.checked_add_scaled(&old, coefficient.checked_neg()?).ok()?.checked_add_scaled(x, a).ok()?;
        if_cheaper(e, new.checked_add_scaled(&remainder, a.checked_neg()?).ok()?)
    }

    /// `a·(x mod c) = a·x − a·c·(x // c)`.
    fn by_quotient(&mut self, e: &Expr, a: i64, x: &Expr, c: i64) -> Option<Expr> {
        let coefficient = a.checked_mul(c)?;
        let quotient = self.quotient(x, c);
        let old = x.checked_modulo(c).ok()?;
        let new = e.checked_add_scaled(&old, a.checked_neg()?).ok()?.checked_add_scaled(x, a).ok()?;
        if_cheaper(e, new.checked_add_scaled(&quotient, coefficient.checked_neg()?).ok()?)
    }

    /// `a·k·((x // k + r) mod c) = a·((x + k·r) mod (k·c)) − a·((x + k·r) mod k)`.
    fn joined_remainders(&mut self, e: &Expr, coefficient: i64, u: &Expr, c: i64) -> Option<Expr> {
        let old = u.checked_modulo(c).ok()?;
        for term in u.terms() {
            let Atom::FloorDiv(x, k) = &term.atom else { continue };
            if term.coefficient != 1 || coefficient % k != 0 {
                continue;
            }
            let a = coefficient / k;
            let quotient = Expr::from_atom(term.atom.clone());
            let rest = u.checked_sub(&quotient).ok()?;
            let whole = x.checked_add_scaled(&rest, *k).ok()?;
            let whole = self.sum(&whole);
            let (long, short) = (self.remainder(&whole, k.checked_mul(c)?), self.remainder(&whole, *k));
            let new = e
                .checked_add_scaled(&old, coefficient.checked_neg()?)
                .and_then(|rest| rest.checked_add_scaled(&long, a))
                .and_then(|rest| rest.checked_add_scaled(&short, a.checked_neg().unwrap_or(0)));
            if a != i64::MIN
                && let Ok(new) = new
                && let Some(new) = if_cheaper(e, new)
            {
                return Some(new);
            }
        }
        None
    }

    /// `a·(x // k) − a·c·(x // (k·c)) = a·((x // k) mod c)`.
    fn divided_twice(&mut self, e: &Expr, i: usize, a: i64, x: &Expr, k: i64) -> Option<Expr> {
        for (j, other) in e.terms().iter().enumerate() {
            let Atom::FloorDiv(_, kc) = &other.atom else { continue };
            if j == i || *kc == k || kc % k != 0 || Some(other.coefficient) != a.checked_mul(kc / k)?.checked_neg() {
                continue;
            }
            let inner = x.checked_floor_div(k).ok()?;
            let outer = self.quotient(&inner, kc / k);
            if outer.as_atom() != Some(&other.atom) {
                continue;
            }
            let remainder = self.remainder(&inner, kc / k);
            let new = e
                .checked_add_scaled(&inner, a.checked_neg()?)
                .and_then(|rest| rest.checked_add_scaled(&outer, other.coefficient.checked_neg().unwrap_or(0)))
                .and_then(|rest| rest.checked_add_scaled(&remainder, a));
            if other.coefficient != i64::MIN
                && let Ok(new) = new
                && let Some(new) = if_cheaper(e, new)
            {
                return Some(new);
            }
        }
        None
    }
}

fn if_cheaper(old: &Expr, new: Expr) -> Option<Expr> {
    (new.cost() < old.cost()).then_some(new)
}
