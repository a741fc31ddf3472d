//! Recombination: terms of a sum rewritten together where the whole gets cheaper.
//!
//! Each trial replaces summands by an equal expression and keeps the result when the whole sum gets cheaper, because something
//! cancelled, and its range no wider: outer rules and later compositions prove their side conditions from it.

mod digits;
mod hermite;
mod quotients;
mod remainders;

pub(super) use hermite::hermite;
pub(super) use quotients::multiple_taken_out;

use super::normal::Normalizer;
use super::numbers::Numbers;
use super::rules::sum::{self, DIFFERENCE_OF_MODS, JOIN_ADJACENT_DIGITS, KNOWN_SUM};
use crate::{Atom, Expr, Law, Term};
use smallvec::SmallVec;

/// Sums with more divisions and remainders than this are left alone: the search is quadratic.
const MAX_OPERATIONS: usize = 24;
/// A trial rewrites terms whose sums may be tried in turn; deeper trials find nothing that is worth their number.
const MAX_NESTED_TRIALS: usize = 2;

/// So many numbers may get dearer in a sum, before the search, when their digits are brought together.
const MAX_DEARER: u32 = 8;

/// An instance of a law of sums: `before = after`, with the letters it binds, and the sum that results.
pub(crate) struct Recombination {
    pub(crate) letters: Vec<(char, Expr)>,
    pub(crate) before: Expr,
    pub(crate) after: Expr,
    pub(crate) sum: Expr,
}

/// A recombination, and the law that it is an instance of.
pub(super) type Candidate = (&'static Law, Recombination);

impl Normalizer {
    /// The sum with everything recombined that makes it cheaper.
    pub(super) fn recombined(&mut self, mut e: Expr) -> Expr {
        let mut rounds = 0;
        loop {
            if self.trials >= MAX_NESTED_TRIALS || self.steps_left == 0 {
                return e;
            }
            let operations = e.terms().iter().filter(|t| t.atom.argument().is_some()).count();
            let has_facts = self.context.analysis.has_facts();
            let is_one_atom = matches!(e.terms(), [Term { coefficient: -1 | 1, .. }]);
            if operations > MAX_OPERATIONS || ((operations == 0 || is_one_atom) && !has_facts) {
                return e;
            }
            self.steps_left -= 1;
            let numbers = Numbers::of(&e);
            let settled = if has_facts { SmallVec::default() } else { numbers.settled_positions(&e) };
            // In a whole sum, what knows the same variables may cancel better while the digits are as they are.
            let (inside, is_settled) = (self.inside, |position| settled.contains(&position));
            if let Some(together) = self.brought_together(&e, &numbers, |position| inside || is_settled(position))
                && (together.cost() < e.cost() || rounds < MAX_DEARER)
            {
                rounds += 1;
                e = together;
                continue;
            }
            rounds = MAX_DEARER;
            if settled.len() == operations && !has_facts {
                return e;
            }
            self.trials += 1;
            let found = self.cheaper(&e, &settled);
            self.trials -= 1;
            let Some((law, found)) = found else {
                match self.brought_together(&e, &numbers, |_| !inside) {
                    Some(together) => e = together,
                    None => return e,
                }
                continue;
            };
            self.context.forget();
            for (letter, meaning) in &found.letters {
                self.context.bind(*letter, meaning);
            }
            self.context.record(law, &found.before, &found.after);
            e = found.sum;
        }
    }

    /// The cheapest sum that one instance of a law gives, where that is cheaper than `e`, other than about the summands at
    /// the settled positions.
    fn cheaper(&mut self, e: &Expr, settled: &[usize]) -> Option<Candidate> {
        let mut best: Option<Candidate> = None;
        if let Some(known) = self.by_known_sum(e) {
            self.take_better(e, &mut best, (KNOWN_SUM, known));
        }
        for (position, term) in e.terms().iter().enumerate() {
            if settled.contains(&position) {
                continue;
            }
            let (rules, x, c) = match &term.atom {
                Atom::Var(_) => continue,
                Atom::FloorDiv(x, c) => (sum::OF_FLOORDIV, x, *c),
                Atom::Mod(x, c) => (sum::OF_MOD, x, *c),
            };
            for rule in rules {
                if let Some(found) = (rule.apply)(self, e, term, x, c) {
                    self.take_better(e, &mut best, (rule.law, found));
                }
            }
        }
        best
    }

    fn take_better(&mut self, e: &Expr, best: &mut Option<Candidate>, candidate: Candidate) {
        let cost = candidate.1.sum.cost();
        if best.as_ref().is_none_or(|(_, known)| cost < known.sum.cost()) && self.is_welcome(e, &candidate) {
            *best = Some(candidate);
        }
    }

    /// True where the cheaper sum may take the place of `e`: its range is no wider and, within arguments, digits are kept.
    pub(super) fn is_welcome(&mut self, e: &Expr, (law, found): &Candidate) -> bool {
        (!self.inside || keeps_digits(e, law, &found.sum))
            && (found.sum.is_linear()
                || (!self.inside && self.context.analysis.has_facts())
                || self.does_not_widen(e, &found.sum))
    }

    pub(super) fn does_not_widen(&mut self, old: &Expr, new: &Expr) -> bool {
        let (old, new) = (self.context.analysis.range(old), self.context.analysis.range(new));
        old.contains_interval(new)
    }
}

/// True where nothing is traded: summands vanish, and none takes the place of a digit. Rules of division and remainder find
/// alignment in sums of digits, `4·(x // 8) + x mod 8`, and not in the cheaper `x − 4·(x // 8)`.
fn keeps_digits(old: &Expr, law: &'static Law, new: &Expr) -> bool {
    let operations = |e: &Expr| e.terms().iter().filter(|t| t.atom.argument().is_some()).count();
    let is_smaller = new.terms().len() < old.terms().len() || operations(new) + 2 <= operations(old);
    let is_one_digit = [DIFFERENCE_OF_MODS, JOIN_ADJACENT_DIGITS].contains(&law) && operations(new) < operations(old);
    (is_smaller || is_one_digit) && overlaps(new) <= overlaps(old)
}

/// How many summands occur also within the argument of another, as in `x + 48·((x // 2) mod 3)`.
fn overlaps(e: &Expr) -> usize {
    let within = |atom: &Atom| e.terms().iter().any(|t| t.atom.argument().is_some_and(|x| occurs(atom, x)));
    e.terms().iter().filter(|t| within(&t.atom)).count()
}

/// True where the atom is a summand of `x`, or of its argument where `x` is a single operation.
fn occurs(atom: &Atom, x: &Expr) -> bool {
    x.terms()
        .iter()
        .any(|t| t.atom == *atom || (x.terms().len() == 1 && t.atom.argument().is_some_and(|y| occurs(atom, y))))
}

/// The factor with which all of `x` but its constant occurs in `e`.
pub(super) fn factor_in(x: &Expr, e: &Expr) -> Option<i64> {
    let mut factor = None;
    for term in x.terms() {
        let i = e.terms().binary_search_by(|t| t.atom.cmp(&term.atom)).ok()?;
        let ratio = e.terms().get(i)?.coefficient.checked_div(term.coefficient)?;
        if ratio.checked_mul(term.coefficient)? != e.terms().get(i)?.coefficient
            || *factor.get_or_insert(ratio) != ratio
        {
            return None;
        }
    }
    factor
}

fn letters_of<const N: usize, const M: usize>(
    expressions: [(char, &Expr); N],
    numbers: [(char, i64); M],
) -> Vec<(char, Expr)> {
    let expressions = expressions.into_iter().map(|(letter, e)| (letter, e.clone()));
    expressions.chain(numbers.into_iter().map(|(letter, value)| (letter, Expr::constant(value)))).collect()
}

impl Normalizer {
    /// `e − m·(s − q)` for a sum `s` that constraints leave the one value `q`, so that one of its atoms cancels.
    fn by_known_sum(&mut self, e: &Expr) -> Option<Recombination> {
        for (known, q) in self.context.analysis.equalities().to_vec() {
            for part in known.terms() {
                let Ok(i) = e.terms().binary_search_by(|t| t.atom.cmp(&part.atom)) else { continue };
                let a = e.terms().get(i)?.coefficient;
                let Some(m) = a.checked_div(part.coefficient).filter(|_| a % part.coefficient == 0) else { continue };
                let zero = known.checked_add_constant(q.checked_neg()?).ok()?;
                let Ok(sum) = e.checked_add_scaled(&zero, m.checked_neg()?) else { continue };
                let Some(sum) = self.context.if_cheaper(e, sum) else { continue };
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
    pub(super) fn solved(&mut self, sum: &Expr, q: i64, term: &Term) -> Option<Expr> {
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
