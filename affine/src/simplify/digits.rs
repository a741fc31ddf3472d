//! Digits of one number: where a sum holds several stretches of the digits of `x`, it is written over their common digits.
//!
//! `x // k` is what is left of `x` above `k`, `(x // k) mod c` the digit between `k` and `k·c`, and `x mod k` what lies below
//! `k`. A whole sum is cheapest where these overlap, as in `d0 mod 8 + 63·(d0 mod 2)`; but what a division or remainder does
//! to it shows only over digits that do not, here `2·((d0 // 2) mod 4) + 64·(d0 mod 2)`.

use smallvec::SmallVec;

use super::normal::Normalizer;
use super::recombine::factor_in;
use super::rules::floordiv;
use super::rules::sum::{DIFFERENCE_OF_MODS, JOIN_ADJACENT_DIGITS};
use crate::expr::Terms;
use crate::{Atom, Expr, Law, Term};

/// Sums with more terms than this are left alone: each term is compared with each.
const MANY: usize = 32;

/// `a` times the digits of a number from `low` up to `high`, which divides it, or to the top.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) a: i64,
    pub(super) low: i64,
    pub(super) high: Option<i64>,
}

impl Normalizer {
    /// The sum over digits of which no two overlap; nothing where that is what it is.
    pub(super) fn digits(&mut self, e: &Expr) -> Option<Expr> {
        if e.terms().len() > MANY || e.is_linear() {
            return None;
        }
        let whole = self.wholes_taken_out(e);
        let mut result = whole.clone();
        let e = whole.as_ref().unwrap_or(e);
        for (i, term) in e.terms().iter().enumerate() {
            let Some((x, _)) = stretch(term) else { continue };
            let is_known = |earlier: &Term| stretch(earlier).is_some_and(|(y, _)| x == y);
            if e.terms().iter().take(i).any(is_known) {
                continue;
            }
            if let Some(next) = self.refined(result.as_ref().unwrap_or(e), x) {
                result = Some(next);
            }
        }
        result
    }

    /// `a·((c·y + z) // c) = a·y + a·(z // c)`, the coefficients of `z` less than `c`.
    fn wholes_taken_out(&mut self, e: &Expr) -> Option<Expr> {
        let mut result: Option<Expr> = None;
        for term in e.terms() {
            let Atom::FloorDiv(x, c) = &term.atom else { continue };
            if x.terms().iter().all(|t| t.coefficient < *c) {
                continue;
            }
            let scaled = |f: fn(i64, i64) -> i64| -> Terms {
                let scaled = x.terms().iter().map(|t| (f(t.coefficient, *c), &t.atom));
                scaled
                    .filter(|(a, _)| *a != 0)
                    .map(|(coefficient, atom)| Term { coefficient, atom: atom.clone() })
                    .collect()
            };
            let y = Expr::from_sorted(0, scaled(|a, c| if a < c { 0 } else { a / c }));
            let z = Expr::from_sorted(x.constant_term(), scaled(|a, c| if a < c { a } else { a % c }));
            let after = y.checked_add(&z.checked_floor_div(*c).ok()?).ok()?;
            let before = Expr::from_atom(term.atom.clone());
            let Ok(without) = result.as_ref().unwrap_or(e).checked_add_scaled(&before, term.coefficient.checked_neg()?)
            else {
                continue;
            };
            let Ok(sum) = without.checked_add_scaled(&after, term.coefficient) else { continue };
            self.noted(floordiv::MULTIPLE, [('y', &y), ('z', &z)], [('c', *c)], &before, &after);
            result = Some(sum);
        }
        result
    }

    /// The sum with all stretches of `x` cut where others begin or end; nothing where none is cut, or the cuts do not divide
    /// one another.
    fn refined(&mut self, e: &Expr, x: &Expr) -> Option<Expr> {
        let mut stretches: SmallVec<[Stretch; 6]> =
            e.terms().iter().filter_map(|t| stretch(t).filter(|(y, _)| *y == x)).map(|(_, stretch)| stretch).collect();
        let whole = if x.constant_term() == 0 { factor_in(x, e) } else { None };
        stretches.extend(whole.map(|a| Stretch { a, low: 1, high: None }));
        if stretches.len() < 2 {
            return None;
        }
        let mut cuts: SmallVec<[i64; 8]> = stretches.iter().flat_map(|s| [Some(s.low), s.high]).flatten().collect();
        cuts.sort_unstable();
        cuts.dedup();
        let is_cut = |s: &Stretch| cuts.iter().any(|cut| s.low < *cut && s.high.is_none_or(|high| *cut < high));
        if !stretches.iter().any(is_cut) || cuts.windows(2).any(|pair| pair[1] % pair[0] != 0) {
            return None;
        }
        let mut rest = e.clone();
        for s in &stretches {
            rest = rest.checked_add_scaled(&s.digit(x)?, s.a.checked_neg()?).ok()?;
        }
        for (i, low) in cuts.iter().enumerate() {
            let high = cuts.get(i + 1).copied();
            let covers = |s: &&Stretch| s.low <= *low && s.high.is_none_or(|end| high.is_some_and(|high| high <= end));
            let mut a: i64 = 0;
            for s in stretches.iter().filter(covers) {
                a = a.checked_add(s.a.checked_mul(low / s.low)?)?;
            }
            rest = rest.checked_add_scaled(&Stretch { a, low: *low, high }.digit(x)?, a).ok()?;
        }
        if self.context.keeps_log() {
            for s in &stretches {
                self.note_cuts(x, *s, &cuts);
            }
        }
        Some(rest)
    }

    /// The stretch as the sum of its parts, one step for each cut, from the top.
    fn note_cuts(&mut self, x: &Expr, whole: Stretch, cuts: &[i64]) -> Option<()> {
        let mut left = whole;
        for cut in cuts.iter().rev().filter(|cut| whole.low < **cut && whole.high.is_none_or(|high| **cut < high)) {
            let c = cut / whole.low;
            let (above, below) = (Stretch { low: *cut, ..left }, Stretch { high: Some(*cut), ..left });
            let all = left.digit(x)?;
            if let Some(high) = left.high {
                let (zero, inner) = (Expr::constant(0), x.checked_floor_div(whole.low).ok()?);
                let twice = inner.checked_floor_div(c).ok()?;
                if whole.low > 1 {
                    let (letters, numbers) = ([('x', x), ('z', &zero)], [('k', whole.low), ('c', c)]);
                    self.noted(floordiv::NESTED, letters, numbers, &twice, &x.checked_floor_div(*cut).ok()?);
                }
                let before = twice.checked_modulo(high / cut).ok()?.checked_mul(c).ok()?;
                let after = all.checked_sub(&below.digit(x)?).ok()?;
                self.noted(
                    DIFFERENCE_OF_MODS,
                    [('x', &inner), ('z', &zero)],
                    [('k', c), ('c', high / cut)],
                    &before,
                    &after,
                );
            } else {
                let both = below.digit(x)?.checked_add_scaled(&above.digit(x)?, c).ok()?;
                self.noted(JOIN_ADJACENT_DIGITS, [('x', x)], [('k', whole.low), ('c', c)], &both, &all);
            }
            left = below;
        }
        Some(())
    }

    /// Records an instance of the law with these letters.
    pub(super) fn noted<const N: usize, const M: usize>(
        &mut self,
        law: &'static Law,
        letters: [(char, &Expr); N],
        numbers: [(char, i64); M],
        before: &Expr,
        after: &Expr,
    ) {
        self.context.forget();
        for (letter, meaning) in letters {
            self.context.bind(letter, meaning);
        }
        for (letter, value) in numbers {
            self.context.number(letter, value);
        }
        self.context.record(law, before, after);
    }
}

impl Stretch {
    /// The digits of `x` in the stretch.
    pub(super) fn digit(&self, x: &Expr) -> Option<Expr> {
        let above = x.checked_floor_div(self.low).ok()?;
        match self.high {
            Some(high) => above.checked_modulo(high / self.low).ok(),
            None => Some(above),
        }
    }
}

/// The number that a term takes digits of, and which.
pub(super) fn stretch(term: &Term) -> Option<(&Expr, Stretch)> {
    let a = term.coefficient;
    match &term.atom {
        Atom::Var(_) => None,
        Atom::FloorDiv(x, low) => Some((x, Stretch { a, low: *low, high: None })),
        Atom::Mod(x, c) => match x.as_atom() {
            Some(Atom::FloorDiv(y, low)) => Some((y, Stretch { a, low: *low, high: Some(low.checked_mul(*c)?) })),
            _ => Some((x, Stretch { a, low: 1, high: Some(*c) })),
        },
    }
}
