//! Recombination of quotients with other terms of a sum.

use super::{Recombination, factor_in, letters_of};
use crate::expr::Terms;
use crate::simplify::context::Context;
use crate::simplify::normal::Normalizer;
use crate::simplify::rules::nearest;
use crate::{Atom, Expr, Term};

impl Normalizer {
    /// `a·((m·x + z) // c) − a·p·(x // k) = a·((m·(x mod k) + z) // c)` for `m·k = c·p`, the first quotient given.
    pub(in crate::simplify) fn contracted(
        &mut self,
        e: &Expr,
        term: &Term,
        whole: &Expr,
        c: i64,
    ) -> Option<Recombination> {
        for other in e.terms() {
            let Atom::FloorDiv(x, k) = &other.atom else { continue };
            if other.atom == term.atom || other.coefficient.checked_rem(term.coefficient)? != 0 {
                continue;
            }
            let p = other.coefficient.checked_div(term.coefficient)?.checked_neg()?;
            let Some(m) = factor_in(x, whole) else { continue };
            if m.checked_mul(*k).is_none() || m.checked_mul(*k) != c.checked_mul(p) {
                continue;
            }
            let z = whole.checked_add_scaled(x, m.checked_neg()?).ok()?;
            let remainder = self.remainder(x, *k);
            let inner = z.checked_add_scaled(&remainder, m).ok()?;
            let inner = self.argument(&inner);
            let new = self.quotient(&inner, c);
            let (first, second) = (whole.checked_floor_div(c).ok()?, x.checked_floor_div(*k).ok()?);
            let sum = e
                .checked_add_scaled(&first, term.coefficient.checked_neg()?)
                .and_then(|rest| rest.checked_add_scaled(&second, other.coefficient.checked_neg().unwrap_or(0)))
                .and_then(|rest| rest.checked_add_scaled(&new, term.coefficient));
            if other.coefficient != i64::MIN
                && let Ok(sum) = sum
                && let Some(sum) = self.context.if_cheaper(e, sum)
            {
                let before = first.checked_add_scaled(&second, p.checked_neg()?).ok()?;
                let after = z.checked_add_scaled(&x.checked_modulo(*k).ok()?, m).ok()?.checked_floor_div(c).ok()?;
                let letters = letters_of([('x', x), ('z', &z)], [('m', m), ('k', *k), ('c', c), ('p', p)]);
                return Some(Recombination { letters, before, after, sum });
            }
        }
        None
    }

    /// `a·y + a·(z // c) = a·((c·y + z) // c)`, where summands of `z` take up those of `y`.
    pub(in crate::simplify) fn multiple_taken_in(
        &mut self,
        e: &Expr,
        term: &Term,
        z: &Expr,
        c: i64,
    ) -> Option<Recombination> {
        let a = term.coefficient;
        let mut y = Terms::new();
        for term in e.terms() {
            let shared = z.terms().binary_search_by(|t| t.atom.cmp(&term.atom)).is_ok();
            if shared && term.coefficient.checked_rem(a)? == 0 {
                y.push(Term { coefficient: term.coefficient.checked_div(a)?, atom: term.atom.clone() });
            }
        }
        if y.is_empty() {
            return None;
        }
        let y = Expr::from_sorted(0, y);
        let after = y.checked_add(&z.checked_floor_div(c).ok()?).ok()?;
        let inner = z.checked_add_scaled(&y, c).ok()?;
        let before = inner.checked_floor_div(c).ok()?;
        let inner = self.argument(&inner);
        let new = self.quotient(&inner, c);
        let sum = e.checked_add_scaled(&after, a.checked_neg()?).ok()?.checked_add_scaled(&new, a).ok()?;
        let sum = self.context.if_cheaper(e, sum)?;
        Some(Recombination { letters: letters_of([('y', &y), ('z', z)], [('c', c)]), before, after, sum })
    }

    /// `a·(x // k) − a·c·(x // (k·c)) = a·((x // k) mod c)`.
    pub(in crate::simplify) fn quotients_as_digit(
        &mut self,
        e: &Expr,
        term: &Term,
        x: &Expr,
        k: i64,
    ) -> Option<Recombination> {
        let a = term.coefficient;
        for other in e.terms() {
            let Atom::FloorDiv(_, kc) = &other.atom else { continue };
            if other.atom == term.atom
                || *kc == k
                || kc % k != 0
                || Some(other.coefficient) != a.checked_mul(kc / k)?.checked_neg()
            {
                continue;
            }
            let c = kc / k;
            let inner = x.checked_floor_div(k).ok()?;
            let outer = self.quotient(&inner, c);
            if outer.as_atom() != Some(&other.atom) {
                continue;
            }
            let remainder = self.remainder(&inner, c);
            let sum = e
                .checked_add_scaled(&inner, a.checked_neg()?)
                .and_then(|rest| rest.checked_add_scaled(&outer, other.coefficient.checked_neg().unwrap_or(0)))
                .and_then(|rest| rest.checked_add_scaled(&remainder, a));
            if other.coefficient != i64::MIN
                && let Ok(sum) = sum
                && let Some(sum) = self.context.if_cheaper(e, sum)
            {
                let letters = letters_of([('x', x)], [('k', k), ('c', c)]);
                let whole = x.checked_floor_div(*kc).ok()?;
                let before = inner.checked_add_scaled(&whole, c.checked_neg()?).ok()?;
                let after = inner.checked_modulo(c).ok()?;
                return Some(Recombination { letters, before, after, sum });
            }
        }
        None
    }
}

/// `a·((c·y + z) // c) = a·y + a·(z // c)`, where `a·y` cancels against the other summands.
pub(in crate::simplify) fn multiple_taken_out(
    context: &mut Context,
    e: &Expr,
    term: &Term,
    x: &Expr,
    c: i64,
) -> Option<Recombination> {
    let a = term.coefficient;
    let (y, z) = nearest(x, c, false)?;
    let before = x.checked_floor_div(c).ok()?;
    let after = y.checked_add(&z.checked_floor_div(c).ok()?).ok()?;
    let sum = e.checked_add_scaled(&before, a.checked_neg()?).ok()?.checked_add_scaled(&after, a).ok()?;
    let sum = context.if_cheaper(e, sum)?;
    Some(Recombination { letters: letters_of([('y', &y), ('z', &z)], [('c', c)]), before, after, sum })
}
