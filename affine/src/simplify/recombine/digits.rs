//! Recombination of digits of one number that are neighbors, or lie around one that is missing.

use super::{Recombination, letters_of};
use crate::simplify::normal::Normalizer;
use crate::{Atom, Expr, Term};

impl Normalizer {
    /// `a·c·(x // n) + a·((x // k) mod c) = a·(x // k)` for `n = k·c`, where the digit in normal form is among the summands, as
    /// it is or turned.
    pub(in crate::simplify) fn joined_with_next_digit(
        &mut self,
        e: &Expr,
        term: &Term,
        x: &Expr,
        n: i64,
    ) -> Option<Recombination> {
        for other in e.terms() {
            let Atom::Mod(_, c) = &other.atom else { continue };
            if n % c != 0 || other.coefficient.checked_mul(*c)?.checked_abs() != term.coefficient.checked_abs() {
                continue;
            }
            let (a, k) = (term.coefficient / c, n / c);
            let quotient = self.quotient(x, k);
            let digit = self.remainder(&quotient, *c);
            let turned = matches!(digit.terms(), [only] if only.atom == other.atom && only.coefficient.checked_mul(a) == Some(other.coefficient));
            if !turned {
                continue;
            }
            let whole = x.checked_floor_div(n).ok()?;
            let sum = e
                .checked_add_scaled(&whole, term.coefficient.checked_neg()?)
                .and_then(|rest| rest.checked_add_scaled(&digit, a.checked_neg().unwrap_or(0)))
                .and_then(|rest| rest.checked_add_scaled(&quotient, a));
            let Ok(sum) = sum else { continue };
            let Some(sum) = self.context.if_cheaper(e, sum) else { continue };
            let after = x.checked_floor_div(k).ok()?;
            let before = after.checked_modulo(*c).ok()?.checked_add_scaled(&whole, *c).ok()?;
            let letters = letters_of([('x', x)], [('k', k), ('c', *c)]);
            return Some(Recombination { letters, before, after, sum });
        }
        None
    }

    /// `a·n·(x // n) + a·(x mod k) = a·x − a·k·((x // k) mod c)` for `n = k·c`, where the digit between the two is among the
    /// summands, or constraints leave it one value.
    pub(in crate::simplify) fn joined_around_digit(
        &mut self,
        e: &Expr,
        term: &Term,
        x: &Expr,
        n: i64,
    ) -> Option<Recombination> {
        if !self.context.analysis.has_facts() || term.coefficient % n != 0 {
            return None;
        }
        let a = term.coefficient / n;
        for other in e.terms() {
            let Atom::Mod(_, k) = &other.atom else { continue };
            if other.coefficient != a || *k >= n || n % k != 0 || self.remainder(x, *k).as_atom() != Some(&other.atom) {
                continue;
            }
            let (c, quotient) = (n / k, self.quotient(x, *k));
            let digit = self.remainder(&quotient, c);
            let without = Expr::sum(0, [term.clone(), other.clone()]).and_then(|present| e.checked_sub(&present));
            let Ok(sum) = without.and_then(|rest| rest.checked_add_scaled(x, a)) else { continue };
            let Ok(sum) = sum.checked_add_scaled(&digit, a.checked_mul(*k)?.checked_neg()?) else { continue };
            let Some(sum) = self.context.if_cheaper(e, sum) else { continue };
            let before =
                x.checked_floor_div(n).ok()?.checked_mul(n).ok()?.checked_add(&x.checked_modulo(*k).ok()?).ok()?;
            let between = x.checked_floor_div(*k).ok()?.checked_modulo(c).ok()?;
            let after = x.checked_add_scaled(&between, k.checked_neg()?).ok()?;
            let letters = letters_of([('x', x)], [('k', *k), ('c', c)]);
            return Some(Recombination { letters, before, after, sum });
        }
        None
    }
}
