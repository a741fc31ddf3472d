//! What constraints say that a sum is.

use super::{Recombination, if_cheaper, letters_of};
use crate::simplify::normal::Normalizer;
use crate::simplify::rules::sum::KNOWN_SUM;
use crate::{Expr, Term};

impl Normalizer {
    /// `e − m·(s − q)` for a sum `s` that constraints leave the one value `q`, so that one of its atoms cancels.
    pub(super) fn by_known_sum(&mut self, e: &Expr) -> Option<Recombination> {
        for (known, q) in self.context.analysis.equalities().to_vec() {
            for part in known.terms() {
                let Ok(i) = e.terms().binary_search_by(|t| t.atom.cmp(&part.atom)) else { continue };
                let a = e.terms().get(i)?.coefficient;
                let Some(m) = a.checked_div(part.coefficient).filter(|_| a % part.coefficient == 0) else { continue };
                let zero = known.checked_add_constant(q.checked_neg()?).ok()?;
                let Ok(sum) = e.checked_add_scaled(&zero, m.checked_neg()?) else { continue };
                let Some(sum) = if_cheaper(e, sum) else { continue };
                let before = Expr::sum(0, [part.clone()]).ok()?;
                let y = known.checked_sub(&before).ok()?;
                let after = Expr::constant(q).checked_sub(&y).ok()?;
                let letters = letters_of([('x', &before), ('y', &y)], [('q', q)]);
                return Some(Recombination { letters, before, after, sum });
            }
        }
        None
    }

    /// What the variable of `term`, with factor 1 or −1, is in `sum = q`: the rest, on the other side.
    pub(in crate::simplify) fn solved(&mut self, sum: &Expr, q: i64, term: &Term) -> Option<Expr> {
        let x = Expr::sum(0, [term.clone()]).ok()?;
        let y = sum.checked_sub(&x).ok()?;
        let after = Expr::constant(q).checked_sub(&y).ok()?;
        self.context.forget();
        self.context.range(sum);
        self.context.bind('x', &x);
        self.context.bind('y', &y);
        self.context.number('q', q);
        self.context.record(KNOWN_SUM, &x, &after);
        after.checked_mul(term.coefficient).ok()
    }
}
