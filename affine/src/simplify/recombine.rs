//! The search for summands that belong together; the laws it goes by are those of [`super::rules::sum`].
//!
//! Each trial replaces summands by an equal expression and keeps the result when the whole sum gets cheaper, because something
//! cancelled, and its range no wider: outer rules and later compositions prove their side conditions from it.

use smallvec::SmallVec;

use super::normal::Normalizer;
use super::numbers::Numbers;
use super::rules::floordiv;
use super::rules::modulo;
use super::rules::nearest;
use super::rules::sum::{BETWEEN, CLOSE_MOD, DIGIT, DIGITS, HERMITE, HERMITE_REMAINDERS, NEXT_DIGIT, QUOTIENT, SOLVE};
use crate::expr::Terms;
use crate::{Atom, Expr, Law, Term};

/// Sums with more divisions and remainders than this are left alone: the search is quadratic.
const MANY: usize = 24;
/// A trial rewrites terms whose sums may be tried in turn; deeper trials find nothing that is worth their number.
const TRIALS: usize = 2;

/// So many numbers may get dearer in a sum, before the search, when their digits are brought together.
const TOGETHER: u32 = 8;

/// An instance of a law: `before = after`, with the letters it binds, and the sum that results.
struct Found {
    law: &'static Law,
    letters: Vec<(char, Expr)>,
    before: Expr,
    after: Expr,
    sum: Expr,
}

impl Normalizer {
    /// The sum with everything recombined that makes it cheaper.
    pub(super) fn recombined(&mut self, mut e: Expr) -> Expr {
        let mut rounds = 0;
        loop {
            if self.trials >= TRIALS || self.steps_left == 0 {
                return e;
            }
            let operations = e.terms().iter().filter(|t| t.atom.argument().is_some()).count();
            let has_facts = self.context.analysis.has_facts();
            let is_one_atom = matches!(e.terms(), [Term { coefficient: -1 | 1, .. }]);
            if operations > MANY || ((operations == 0 || is_one_atom) && !has_facts) {
                return e;
            }
            self.steps_left -= 1;
            let numbers = Numbers::of(&e);
            let settled = if has_facts { SmallVec::default() } else { numbers.settled_places(&e) };
            // In a whole sum, what knows the same variables may cancel better while the digits are as they are.
            let (inside, is_settled) = (self.inside, |place| settled.contains(&place));
            if let Some(together) = self.brought_together(&e, &numbers, |place| inside || is_settled(place))
                && (together.cost() < e.cost() || rounds < TOGETHER)
            {
                rounds += 1;
                e = together;
                continue;
            }
            rounds = TOGETHER;
            if settled.len() == operations && !has_facts {
                return e;
            }
            self.trials += 1;
            let found = self.cheaper(&e, &settled);
            self.trials -= 1;
            let Some(found) = found else {
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
            self.context.record(found.law, &found.before, &found.after);
            e = found.sum;
        }
    }

    /// The sum with `a·x − b·(x // c)` as the digits `a·(x mod c) + (a·c − b)·(x // c)`, wherever that makes the factor
    /// of the quotient smaller.
    pub(super) fn opened(&mut self, mut e: Expr) -> Expr {
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

    /// The cheapest sum that one instance of a law gives, where that is cheaper than `e`, other than about the summands at
    /// the settled places.
    fn cheaper(&mut self, e: &Expr, settled: &[usize]) -> Option<Found> {
        let mut best: Option<Found> = None;
        let known = self.by_known_sum(e);
        self.take_best(e, &mut best, [known]);
        for (place, term) in e.terms().iter().enumerate() {
            if settled.contains(&place) {
                continue;
            }
            let a = term.coefficient;
            match &term.atom {
                Atom::Var(_) => {}
                Atom::FloorDiv(x, c) => {
                    let candidates = [
                        self.by_remainder(e, a, x, *c),
                        self.divided_twice(e, term, x, *c),
                        self.around_digit(e, term, x, *c),
                        self.with_next_digit(e, term, x, *c),
                        self.closed(e, term, x, *c),
                        hermite(e, term, x, *c),
                        shifted(e, a, x, *c),
                        self.absorbed(e, a, x, *c),
                    ];
                    self.take_best(e, &mut best, candidates);
                }
                Atom::Mod(x, c) => {
                    let candidates =
                        [self.joined_remainders(e, a, x, *c), self.by_quotient(e, a, x, *c), hermite(e, term, x, *c)];
                    self.take_best(e, &mut best, candidates);
                }
            }
        }
        best
    }

    fn take_best(&mut self, e: &Expr, best: &mut Option<Found>, candidates: impl IntoIterator<Item = Option<Found>>) {
        for found in candidates.into_iter().flatten() {
            let cost = found.sum.cost();
            if best.as_ref().is_none_or(|known| cost < known.sum.cost())
                && (!self.inside || keeps_digits(e, &found))
                && (found.sum.is_linear()
                    || (!self.inside && self.context.analysis.has_facts())
                    || self.does_not_widen(e, &found.sum))
            {
                *best = Some(found);
            }
        }
    }

    /// `e − m·(s − q)` for a sum `s` that constraints leave the one value `q`, so that one of its atoms cancels.
    fn by_known_sum(&mut self, e: &Expr) -> Option<Found> {
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
                return Some(Found { law: SOLVE, letters, before, after, sum });
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
        self.context.record(SOLVE, &x, &after);
        after.checked_mul(term.coefficient).ok()
    }

    pub(super) fn does_not_widen(&mut self, old: &Expr, new: &Expr) -> bool {
        let (old, new) = (self.context.analysis.range(old), self.context.analysis.range(new));
        old.contains_interval(new)
    }

    fn by_remainder(&mut self, e: &Expr, coefficient: i64, x: &Expr, c: i64) -> Option<Found> {
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
        let sum = if_cheaper(e, sum_with)?;
        let after = x.checked_sub(&x.checked_modulo(c).ok()?).ok()?;
        let letters = vec![('x', x.clone()), ('c', Expr::constant(c))];
        Some(Found { law: QUOTIENT, letters, before: old.checked_mul(c).ok()?, after, sum })
    }

    fn by_quotient(&mut self, e: &Expr, a: i64, x: &Expr, c: i64) -> Option<Found> {
        let coefficient = a.checked_mul(c)?;
        let quotient = self.quotient(x, c);
        let old = x.checked_modulo(c).ok()?;
        let sum = e.checked_add_scaled(&old, a.checked_neg()?).ok()?.checked_add_scaled(x, a).ok()?;
        let sum = if_cheaper(e, sum.checked_add_scaled(&quotient, coefficient.checked_neg()?).ok()?)?;
        let after = x.checked_add_scaled(&x.checked_floor_div(c).ok()?, c.checked_neg()?).ok()?;
        let letters = vec![('x', x.clone()), ('c', Expr::constant(c))];
        Some(Found { law: modulo::DEFINITION, letters, before: old, after, sum })
    }

    fn joined_remainders(&mut self, e: &Expr, coefficient: i64, u: &Expr, c: i64) -> Option<Found> {
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
            let Some(sum) = if_cheaper(e, sum) else { continue };
            let after = w.checked_modulo(both).ok()?.checked_sub(&w.checked_modulo(*k).ok()?).ok()?;
            let before = x.checked_floor_div(*k).ok()?.checked_add(&z).ok()?.checked_modulo(c).ok()?;
            if term.coefficient != 1 {
                self.record_turned(term, *k);
            }
            let letters = letters_of([('x', x), ('z', &z)], [('k', *k), ('c', c)]);
            return Some(Found { law: DIGITS, letters, before: before.checked_mul(*k).ok()?, after, sum });
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

    /// `a·((m·x + z) // c) − a·p·(x // k) = a·((m·(x mod k) + z) // c)` for `m·k = c·p`, the first quotient given.
    fn closed(&mut self, e: &Expr, term: &Term, whole: &Expr, c: i64) -> Option<Found> {
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
                && let Some(sum) = if_cheaper(e, sum)
            {
                let before = first.checked_add_scaled(&second, p.checked_neg()?).ok()?;
                let after = z.checked_add_scaled(&x.checked_modulo(*k).ok()?, m).ok()?.checked_floor_div(c).ok()?;
                let letters = letters_of([('x', x), ('z', &z)], [('m', m), ('k', *k), ('c', c), ('p', p)]);
                return Some(Found { law: CLOSE_MOD, letters, before, after, sum });
            }
        }
        None
    }

    /// `a·y + a·(z // c) = a·((c·y + z) // c)`, where summands of `z` take up those of `y`.
    fn absorbed(&mut self, e: &Expr, a: i64, z: &Expr, c: i64) -> Option<Found> {
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
        let sum = if_cheaper(e, sum)?;
        Some(Found {
            law: floordiv::MULTIPLE,
            letters: letters_of([('y', &y), ('z', z)], [('c', c)]),
            before,
            after,
            sum,
        })
    }

    /// `a·c·(x // n) + a·((x // k) mod c) = a·(x // k)` for `n = k·c`, where the digit in normal form is among the summands, as
    /// it is or turned.
    fn with_next_digit(&mut self, e: &Expr, term: &Term, x: &Expr, n: i64) -> Option<Found> {
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
            let Some(sum) = if_cheaper(e, sum) else { continue };
            let after = x.checked_floor_div(k).ok()?;
            let before = after.checked_modulo(*c).ok()?.checked_add_scaled(&whole, *c).ok()?;
            let letters = letters_of([('x', x)], [('k', k), ('c', *c)]);
            return Some(Found { law: NEXT_DIGIT, letters, before, after, sum });
        }
        None
    }

    /// `a·n·(x // n) + a·(x mod k) = a·x − a·k·((x // k) mod c)` for `n = k·c`, where the digit between the two is among the
    /// summands, or constraints leave it one value.
    fn around_digit(&mut self, e: &Expr, term: &Term, x: &Expr, n: i64) -> Option<Found> {
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
            let Some(sum) = if_cheaper(e, sum) else { continue };
            let before =
                x.checked_floor_div(n).ok()?.checked_mul(n).ok()?.checked_add(&x.checked_modulo(*k).ok()?).ok()?;
            let between = x.checked_floor_div(*k).ok()?.checked_modulo(c).ok()?;
            let after = x.checked_add_scaled(&between, k.checked_neg()?).ok()?;
            let letters = letters_of([('x', x)], [('k', *k), ('c', c)]);
            return Some(Found { law: BETWEEN, letters, before, after, sum });
        }
        None
    }

    fn divided_twice(&mut self, e: &Expr, term: &Term, x: &Expr, k: i64) -> Option<Found> {
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
                && let Some(sum) = if_cheaper(e, sum)
            {
                let letters = letters_of([('x', x)], [('k', k), ('c', c)]);
                let whole = x.checked_floor_div(*kc).ok()?;
                let before = inner.checked_add_scaled(&whole, c.checked_neg()?).ok()?;
                let after = inner.checked_modulo(c).ok()?;
                return Some(Found { law: DIGIT, letters, before, after, sum });
            }
        }
        None
    }
}

/// True where nothing is traded: summands vanish, and none takes the place of a digit. Rules of division and remainder find
/// alignment in sums of digits, `4·(x // 8) + x mod 8`, and not in the cheaper `x − 4·(x // 8)`.
fn keeps_digits(old: &Expr, found: &Found) -> bool {
    let new = &found.sum;
    let operations = |e: &Expr| e.terms().iter().filter(|t| t.atom.argument().is_some()).count();
    let is_smaller = new.terms().len() < old.terms().len() || operations(new) + 2 <= operations(old);
    let is_one_digit = [DIGITS, NEXT_DIGIT].contains(&found.law) && operations(new) < operations(old);
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

/// `k − 1 − x`, whose quotient by `k` is the negative of that of `x`.
fn complement(x: &Expr, k: i64) -> Option<Expr> {
    x.checked_neg().ok()?.checked_add_constant(k - 1).ok()
}

/// `a·(x // n) + a·((x + 1) // n) + … + a·((x + n − 1) // n) = a·x`, and `a·n·(n − 1)/2` with remainders in place of the
/// quotients; also where some summands are missing.
fn hermite(e: &Expr, term: &Term, x: &Expr, n: i64) -> Option<Found> {
    let same_kind = |atom: &Atom| std::mem::discriminant(atom) == std::mem::discriminant(&term.atom);
    let is_one = |atom: &Atom| {
        same_kind(atom) && divisor(atom) == Some(n) && atom.argument().is_some_and(|y| y.terms() == x.terms())
    };
    if !most_are_there(e, n, is_one) {
        return None;
    }
    if n == 2 && x.constant_term() == 0 && e.constant_term() == 0 && !is_there(e, term, x) {
        return None;
    }
    let x = x.without_constant();
    let mut letters = letters_of([('x', &x)], [('n', n)]);
    let (law, after) = if matches!(term.atom, Atom::FloorDiv(..)) {
        (HERMITE, x.clone())
    } else {
        let q = Expr::constant(n.checked_mul(n - 1)? / 2);
        letters.push(('q', q.clone()));
        (HERMITE_REMAINDERS, q)
    };
    let mut before = Expr::constant(0);
    for i in 0..n {
        let shifted = x.checked_add_constant(i).ok()?;
        let one = if law == HERMITE { shifted.checked_floor_div(n) } else { shifted.checked_modulo(n) };
        before = before.checked_add(&one.ok()?).ok()?;
    }
    let a = term.coefficient;
    let sum = e.checked_add_scaled(&before, a.checked_neg()?).ok()?.checked_add_scaled(&after, a).ok()?;
    Some(Found { law, letters, before, after, sum: if_cheaper(e, sum)? })
}

/// True where the other of two halves of `x` is a summand, or some of `x` is: without, the half that is there gives way to
/// the other, which has a constant within and leaves one outside.
fn is_there(e: &Expr, half: &Term, x: &Expr) -> bool {
    e.terms().iter().any(|t| {
        x.terms().iter().any(|own| own.atom == t.atom)
            || (t.atom != half.atom && t.atom.argument().is_some_and(|y| y.terms() == x.terms()))
    })
}

fn divisor(atom: &Atom) -> Option<i64> {
    match atom {
        Atom::Var(_) => None,
        Atom::FloorDiv(_, c) | Atom::Mod(_, c) => Some(*c),
    }
}

/// True where at least half of `n` summands occur: fewer would leave more summands than they replace.
fn most_are_there(e: &Expr, n: i64, is_one: impl Fn(&Atom) -> bool) -> bool {
    let most = i64::try_from(e.terms().len()).unwrap_or(i64::MAX).saturating_mul(2);
    n <= most
        && i64::try_from(e.terms().iter().filter(|t| is_one(&t.atom)).count()).is_ok_and(|present| present * 2 >= n)
}

/// `a·((c·y + z) // c) = a·y + a·(z // c)`, where `a·y` cancels against the other summands.
fn shifted(e: &Expr, a: i64, x: &Expr, c: i64) -> Option<Found> {
    let (y, z) = nearest(x, c, false)?;
    let before = x.checked_floor_div(c).ok()?;
    let after = y.checked_add(&z.checked_floor_div(c).ok()?).ok()?;
    let sum = e.checked_add_scaled(&before, a.checked_neg()?).ok()?.checked_add_scaled(&after, a).ok()?;
    let sum = if_cheaper(e, sum)?;
    Some(Found { law: floordiv::MULTIPLE, letters: letters_of([('y', &y), ('z', &z)], [('c', c)]), before, after, sum })
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

fn if_cheaper(old: &Expr, new: Expr) -> Option<Expr> {
    (new.cost() < old.cost()).then_some(new)
}
