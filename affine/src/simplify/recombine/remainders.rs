//! Recombination of remainders: as quotients, and joined to longer ones.

use super::{Recombination, factor_in, letters_of};
use crate::simplify::normal::Normalizer;
use crate::simplify::rules::{floordiv, modulo};
use crate::{Atom, Expr, Term};

impl Normalizer {
    /// The sum with `a·x − b·(x // c)` as the digits `a·(x mod c) + (a·c − b)·(x // c)`, wherever that makes the factor
    /// of the quotient smaller.
    pub(in crate::simplify) fn opened(&mut self, mut e: Expr) -> Expr {
        let mut i = 0;
        while let Some(term) = e.terms().get(i) {
            i += 1;
            let Atom::FloorDiv(x, c) = &term.atom else { continue };
            let Some(a) = factor_in(x, &e) else { continue };
            let Some(joint) = a.checked_mul(*c).and_then(|ac| ac.checked_add(term.coefficient)) else { continue };
            if joint.unsigned_abs() >= term.coefficient.unsigned_abs() {
                continue;
            }
            let Ok(quotient) = x.checked_floor_div(*c) else { continue };
            let Ok(remainder) = x.checked_modulo(*c) else { continue };
            let after = remainder.checked_add_scaled(&quotient, *c);
            // a·x = a·(x mod c) + a·c·(x // c).
            let sum = a.checked_neg().and_then(|minus| e.checked_add_scaled(x, minus).ok());
            let (Ok(after), Some(sum)) = (after, sum) else { continue };
            let Ok(sum) = sum.checked_add_scaled(&after, a) else { continue };
            let Ok(definition) = x.checked_sub(&after).and_then(|zero| remainder.checked_add(&zero)) else { continue };
            self.context.forget();
            self.context.bind('x', x);
            self.context.number('c', *c);
            self.context.record(modulo::DEFINITION, &remainder, &definition);
            e = sum;
            i = 0;
        }
        e
    }

    /// `a·c·(x // c) = a·x − a·(x mod c)`.
    pub(in crate::simplify) fn quotient_as_remainder(
        &mut self,
        e: &Expr,
        term: &Term,
        x: &Expr,
        c: i64,
    ) -> Option<Recombination> {
        let coefficient = term.coefficient;
        if coefficient % c != 0 {
            return None;
        }
        let a = coefficient / c;
        let old = x.checked_floor_div(c).ok()?;
        let sum = e.checked_add_scaled(&old, coefficient.checked_neg()?).ok()?.checked_add_scaled(x, a).ok()?;
        let remainder = self.remainder(x, c);
        let mut sum_with = sum.checked_add_scaled(&remainder, a.checked_neg()?).ok()?;
        if c == 2 && x.constant_term() == 1 {
            // (x + 1) mod 2 = 1 − x mod 2, whose constant may cancel.
            let even = self.remainder(&x.without_constant(), 2);
            let turned = Expr::constant(1).checked_sub(&even).ok()?;
            let other = sum.checked_add_scaled(&turned, a.checked_neg()?).ok()?;
            if other.cost() < sum_with.cost() {
                self.context.forget();
                self.context.bind('x', &x.without_constant());
                if let (Ok(odd), Ok(even)) = (x.checked_modulo(2), x.without_constant().checked_modulo(2))
                    && let Ok(turned) = Expr::constant(1).checked_sub(&even)
                {
                    self.context.record(modulo::ODD, &odd, &turned);
                }
                sum_with = other;
            }
        }
        let sum = self.context.if_cheaper(e, sum_with)?;
        let after = x.checked_sub(&x.checked_modulo(c).ok()?).ok()?;
        let letters = vec![('x', x.clone()), ('c', Expr::constant(c))];
        Some(Recombination { letters, before: old.checked_mul(c).ok()?, after, sum })
    }

    /// `a·(x mod c) = a·x − a·c·(x // c)`.
    pub(in crate::simplify) fn remainder_as_quotient(
        &mut self,
        e: &Expr,
        term: &Term,
        x: &Expr,
        c: i64,
    ) -> Option<Recombination> {
        let a = term.coefficient;
        let coefficient = a.checked_mul(c)?;
        let quotient = self.quotient(x, c);
        let old = x.checked_modulo(c).ok()?;
        let sum = e.checked_add_scaled(&old, a.checked_neg()?).ok()?.checked_add_scaled(x, a).ok()?;
        let sum = self.context.if_cheaper(e, sum.checked_add_scaled(&quotient, coefficient.checked_neg()?).ok()?)?;
        let after = x.checked_add_scaled(&x.checked_floor_div(c).ok()?, c.checked_neg()?).ok()?;
        let letters = vec![('x', x.clone()), ('c', Expr::constant(c))];
        Some(Recombination { letters, before: old, after, sum })
    }

    /// `a·k·((x // k + z) mod c) = a·((x + k·z) mod (k·c)) − a·((x + k·z) mod k)`.
    pub(in crate::simplify) fn joined_remainders(
        &mut self,
        e: &Expr,
        sought: &Term,
        u: &Expr,
        c: i64,
    ) -> Option<Recombination> {
        let coefficient = sought.coefficient;
        let old = u.checked_modulo(c).ok()?;
        let rest = e.checked_add_scaled(&old, coefficient.checked_neg()?).ok()?;
        for term in u.terms() {
            let Atom::FloorDiv(x, k) = &term.atom else { continue };
            if !matches!(term.coefficient, 1 | -1) || coefficient % k != 0 {
                continue;
            }
            // u = x // k + z = w // k; a negative quotient is one of the complement.
            let quotient = Expr::sum(0, [term.clone()]).ok()?;
            let z = u.checked_sub(&quotient).ok()?;
            let turned = complement(x, *k)?;
            let x = if term.coefficient == 1 { x } else { &turned };
            let w = x.checked_add_scaled(&z, *k).ok()?;
            let (a, both) = (coefficient / k, k.checked_mul(c)?);
            let normal = self.sum(&w);
            let (long, short) = (self.remainder(&normal, both), self.remainder(&normal, *k));
            let sum = long.checked_sub(&short).and_then(|digit| rest.checked_add_scaled(&digit, a));
            let Ok(sum) = sum else { continue };
            let Some(sum) = self.context.if_cheaper(e, sum) else { continue };
            let after = w.checked_modulo(both).ok()?.checked_sub(&w.checked_modulo(*k).ok()?).ok()?;
            let before = x.checked_floor_div(*k).ok()?.checked_add(&z).ok()?.checked_modulo(c).ok()?;
            if term.coefficient != 1 {
                self.record_turned(term, *k);
            }
            let letters = letters_of([('x', x), ('z', &z)], [('k', *k), ('c', c)]);
            return Some(Recombination { letters, before: before.checked_mul(*k).ok()?, after, sum });
        }
        None
    }

    /// `x // k = −((k − 1 − x) // k)`.
    fn record_turned(&mut self, term: &Term, k: i64) {
        let Atom::FloorDiv(x, _) = &term.atom else { return };
        let quotient = Expr::from_atom(term.atom.clone());
        let turned = complement(x, k).and_then(|turned| turned.checked_floor_div(k).ok()?.checked_neg().ok());
        let Some(turned) = turned else { return };
        self.context.forget();
        self.context.bind('x', x);
        self.context.number('c', k);
        self.context.record(floordiv::REVERSED, &quotient, &turned);
    }
}

/// `k − 1 − x`, whose quotient by `k` is the negative of that of `x`.
fn complement(x: &Expr, k: i64) -> Option<Expr> {
    x.checked_neg().ok()?.checked_add_constant(k - 1).ok()
}
