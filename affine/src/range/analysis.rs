//! The range and the residue class of an expression over one domain.

use std::sync::Arc;

use num_integer::gcd;
use rustc_hash::FxHashMap;

use super::congruence::bezout;
use super::facts::{Fact, Facts};
use super::linear_mod::range_of_linear_mod;
use super::total::Total;
use super::{Congruence, Ranges, allowed, primitive};
use crate::expr::postorder_past;
use crate::{Atom, Constraint, Expr, Interval, Term, Var};

/// Ranges and residues of expressions over one domain, remembered by structural hash.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    /// The bounds of the variables, narrowed by the facts.
    ranges: Ranges,
    /// Shared, since the search with an e-graph works on a copy of the analysis.
    facts: Arc<Facts>,
    range_memo: FxHashMap<u128, Interval>,
    /// Used where there are facts; without them a residue is as quick to find as to look up.
    class_memo: FxHashMap<u128, Congruence>,
}

/// Chains deeper than this are walked from the bottom, so that the recursion below stays shallow.
const MAX_RECURSION: u32 = 48;

/// So often do the facts narrow the bounds of variables; where bounds creep towards each other it would not end.
const MAX_ROUNDS: usize = 4;

/// So many facts are taken out of one sum together.
const MAX_FACTS_TOGETHER: usize = 2;

impl Analysis {
    pub(crate) fn new(ranges: &Ranges, constraints: &[Constraint]) -> Analysis {
        let mut facts = Facts::default();
        for constraint in constraints {
            facts.learn(constraint);
        }
        facts.settle();
        let mut analysis = Analysis {
            ranges: ranges.clone(),
            facts: Arc::new(facts),
            range_memo: FxHashMap::default(),
            class_memo: FxHashMap::default(),
        };
        if analysis.has_facts() {
            analysis.narrow_variables();
        }
        analysis
    }

    /// The bounds of the variables, with what constraints say of them.
    pub(crate) fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// How many ranges and residues are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.range_memo.len() + self.class_memo.len()
    }

    /// Forgets all ranges and residues of expressions.
    pub(crate) fn forget(&mut self) {
        self.range_memo.clear();
        self.class_memo.clear();
    }

    /// True when some constraint says something about an expression.
    pub(crate) fn has_facts(&self) -> bool {
        !self.facts.is_empty()
    }

    /// The sums that constraints leave only one value, with that value, in the order of expressions. Each is without
    /// constant, its coefficients have no common divisor, and the first of them is positive.
    pub(crate) fn equalities(&self) -> &[(Expr, i64)] {
        self.facts.equalities()
    }

    /// The known residue of a sum without constant, where a constraint gives one.
    pub(crate) fn known_residue(&self, linear: &Expr) -> Option<Congruence> {
        if !self.facts.know_length(linear.terms().len()) {
            return None;
        }
        let (key, factor) = primitive(linear)?;
        let class = self.facts.about(key)?.class.times(factor);
        (!class.is_any()).then_some(class)
    }

    /// Bounds of variables that follow from a bounded sum and the ranges of its other terms, and from residues.
    fn narrow_variables(&mut self) {
        let facts = Arc::clone(&self.facts);
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for fact in facts.list() {
                for (k, term) in fact.sum.terms().iter().enumerate() {
                    let Atom::Var(v) = term.atom else { continue };
                    let known = self.ranges.get(v);
                    let mut bounds = if fact.sum.terms().len() == 1 { fact.class.within(known) } else { known };
                    if fact.bounds != Interval::EVERYTHING {
                        bounds = meet(bounds, allowed(fact.bounds, self.others(&fact.sum, k), term.coefficient));
                    }
                    if let Some(known) = self.ranges.get_mut(v).filter(|_| !bounds.is_empty() && bounds != known) {
                        *known = bounds;
                        changed = true;
                    }
                }
            }
            // What was found meanwhile is true, but not all that is known now.
            self.forget();
            if !changed {
                break;
            }
        }
    }

    /// The range of a sum without one of its terms.
    fn others(&mut self, sum: &Expr, without: usize) -> Interval {
        let mut total = Total::new(sum.constant_term());
        for (_, term) in sum.terms().iter().enumerate().filter(|(i, _)| *i != without) {
            if let Some(x) = term.atom.argument() {
                // From the bottom, where the argument is deep.
                self.range(x);
            }
            let range = self.atom(&term.atom);
            total.add(term.coefficient, range);
        }
        total.finish()
    }

    /// The range of `e`.
    pub(crate) fn range(&mut self, e: &Expr) -> Interval {
        if e.depth() > MAX_RECURSION {
            for node in postorder_past([e], |hash| self.range_memo.contains_key(&hash)) {
                self.range_shallow(&node);
            }
        }
        self.range_shallow(e)
    }

    fn range_shallow(&mut self, e: &Expr) -> Interval {
        if let Some(value) = e.as_constant() {
            return Interval::point(value);
        }
        if e.is_linear() && !self.has_facts() {
            return self.plain_sum(e);
        }
        let key = e.structural_hash();
        if let Some(&known) = self.range_memo.get(&key) {
            return known;
        }
        let mut found = self.correlated_sum(e);
        if self.has_facts() {
            found = self.meet_facts(e, found);
            let class = self.congruence(e);
            if !class.is_any() {
                found = meet(found, class.within(found));
            }
        }
        self.range_memo.insert(key, found);
        found
    }

    /// `found`, and what facts say of `e`: of its sum, and of sums that are part of it.
    fn meet_facts(&mut self, e: &Expr, found: Interval) -> Interval {
        let found = self.fact_about(e).map_or(found, |bound| meet(found, bound));
        if e.terms().len() < 2 { found } else { self.without_facts(e, found, 0, MAX_FACTS_TOGETHER) }
    }

    /// `found`, and the ranges of `f·s + rest = e` for bounded sums `s` from the fact at `from` on, `depth` of them at most.
    fn without_facts(&mut self, e: &Expr, mut found: Interval, from: usize, depth: usize) -> Interval {
        let facts = Arc::clone(&self.facts);
        for (i, fact) in
            facts.bounded().iter().enumerate().skip(from).filter_map(|(i, n)| Some((i, facts.list().get(*n)?)))
        {
            let bounds = fact.bounds;
            for (factor, rest) in fact.ways(e) {
                let mut range = self.correlated_sum(&rest);
                if depth > 1 {
                    range = self.without_facts(&rest, range, i + 1, depth - 1);
                }
                found = meet(found, bounds.scale(factor) + range);
            }
        }
        found
    }

    fn fact_about(&self, e: &Expr) -> Option<Interval> {
        if !self.facts.know_length(e.terms().len()) {
            return None;
        }
        let (key, factor) = primitive(e)?;
        let bounds = self.facts.about(key)?.bounds;
        Some(bounds.scale(factor) + Interval::point(e.constant_term()))
    }

    fn fact_about_atom(&self, atom: &Atom) -> Option<&Fact> {
        if !self.facts.know_length(1) {
            return None;
        }
        self.facts.about(Expr::hash_of_atom(atom))
    }

    fn plain_sum(&mut self, e: &Expr) -> Interval {
        let mut total = Total::new(e.constant_term());
        for term in e.terms() {
            let range = self.atom(&term.atom);
            total.add(term.coefficient, range);
        }
        total.finish()
    }

    /// As [`Analysis::plain_sum`], but takes `a·(x // c)` together with `b·(x mod c)` or with `b·x`, whichever is there, and
    /// `a·(x mod c)` with `b·x`.
    fn correlated_sum(&mut self, e: &Expr) -> Interval {
        let plain = self.plain_sum(e);
        if e.terms().iter().all(|t| matches!(t.atom, Atom::Var(_))) || e.terms().len() < 2 || e.terms().len() > 32 {
            return plain;
        }
        let mut total = Total::new(e.constant_term());
        let mut rest: Vec<Option<&Term>> = e.terms().iter().map(Some).collect();
        for i in 0..rest.len() {
            let Some(Term { coefficient: a, atom }) = rest[i] else { continue };
            let (x, c, is_quotient) = match atom {
                Atom::Var(_) => continue,
                Atom::FloorDiv(x, c) => (x, c, true),
                Atom::Mod(x, c) => (x, c, false),
            };
            // Quotients stand before remainders, so a pair is met at its quotient.
            let remainder = rest
                .iter()
                .position(|t| matches!(t, Some(Term { atom: Atom::Mod(y, d), .. }) if is_quotient && y == x && d == c));
            if let Some(j) = remainder
                && let Some(Term { coefficient: b, .. }) = rest[j]
            {
                let range = self.range_shallow(x);
                total.add_split(*a, *b, *c, range);
                (rest[i], rest[j]) = (None, None);
            } else if let Some(b) = multiple_of(x, &rest, i)
                && let Some((first, second)) = split_factors(*a, b, *c, is_quotient)
                && let Some(shift) = b.checked_mul(x.constant_term())
            {
                let range = self.range_shallow(x);
                total.add_split(first, second, *c, range);
                total.add_exact(Some(-i128::from(shift)), Some(-i128::from(shift)));
                for term in x.terms() {
                    if let Some(slot) = rest.iter_mut().find(|t| matches!(t, Some(t) if t.atom == term.atom)) {
                        *slot = None;
                    }
                }
                rest[i] = None;
            }
        }
        for term in rest.into_iter().flatten() {
            let range = self.atom(&term.atom);
            total.add(term.coefficient, range);
        }
        meet(plain, total.finish())
    }

    pub(crate) fn atom(&mut self, atom: &Atom) -> Interval {
        let known = match atom {
            Atom::Var(v) => self.ranges.get(*v),
            Atom::FloorDiv(inner, c) => self.range_shallow(inner).floor_div(*c),
            Atom::Mod(inner, c) => {
                let range = self.range_shallow(inner).modulo(*c);
                let by_residue = self.modulo_by_residue(inner, *c);
                meet(range, by_residue)
            }
        };
        match self.fact_about_atom(atom) {
            Some(fact) => meet(known, fact.bounds),
            None => known,
        }
    }

    /// `x ≡ r (mod g)` leaves of `x mod c` only the values `r, r + g', …` with `g' = gcd(g, c)`; exact for one variable.
    fn modulo_by_residue(&mut self, inner: &Expr, c: i64) -> Interval {
        if let [Term { coefficient, atom: Atom::Var(v) }] = inner.terms()
            && coefficient.unsigned_abs() > 1
            && let Some(exact) = self.modulo_of_multiple(inner.constant_term(), *coefficient, *v, c)
        {
            return exact;
        }
        let whole = Interval::new(0, c - 1);
        let class = self.congruence(inner);
        let step = gcd(class.modulus, c.unsigned_abs());
        let Ok(step) = i64::try_from(step) else { return whole };
        let least = class.residue.rem_euclid(step);
        Interval::new(least, c - step + least)
    }

    /// The range of `(a·v + k) mod c`, where `v` has too few values for all the residues it could have.
    fn modulo_of_multiple(&self, k: i64, a: i64, v: Var, c: i64) -> Option<Interval> {
        let bounds = self.ranges.get(v);
        let (lo, hi, wide) = (bounds.bound_below()?, bounds.bound_above()?, i128::from(c));
        let class = self.fact_about_atom(&Atom::Var(v)).map_or(Congruence::ANY, |fact| fact.class);
        if lo > hi || class.within(bounds) != bounds {
            return None;
        }
        // v = lo + step·t for t in 0..=n.
        let step = i128::from(class.modulus.max(1));
        let n = (hi - lo) / step;
        let (slope, start) = (i128::from(a) * step, i128::from(a) * lo + i128::from(k));
        let period = wide / bezout(slope, wide).0;
        (n + 1 < period).then(|| range_of_linear_mod(slope % wide, start % wide, c, n))
    }

    /// A residue class that holds every value of `e`.
    pub(crate) fn congruence(&mut self, e: &Expr) -> Congruence {
        if self.facts.is_empty() {
            return self.congruence_of_terms(e);
        }
        let key = e.structural_hash();
        if let Some(&known) = self.class_memo.get(&key) {
            return known;
        }
        let found = self.congruence_with_facts(e);
        self.class_memo.insert(key, found);
        found
    }

    fn congruence_with_facts(&mut self, e: &Expr) -> Congruence {
        let mut class = self.congruence_of_terms(e);
        let constant = Congruence::exactly(e.constant_term());
        if let Some(known) = self.known_residue(e) {
            class = class.meet(known.plus(constant)).unwrap_or(class);
        }
        if e.terms().len() < 2 {
            return class;
        }
        let facts = Arc::clone(&self.facts);
        for fact in facts.classed().iter().filter_map(|n| facts.list().get(*n)) {
            for (factor, rest) in fact.ways(e) {
                let whole = fact.class.times(factor).plus(self.congruence_of_terms(&rest));
                class = class.meet(whole).unwrap_or(class);
            }
        }
        class
    }

    fn congruence_of_terms(&mut self, e: &Expr) -> Congruence {
        let mut class = Congruence::exactly(e.constant_term());
        for term in e.terms() {
            class = class.plus(self.atom_congruence(&term.atom).times(term.coefficient));
            if class.is_any() {
                return class;
            }
        }
        class
    }

    fn atom_congruence(&mut self, atom: &Atom) -> Congruence {
        let class = match atom {
            Atom::Var(v) => match self.ranges.get(*v).as_point() {
                Some(value) => Congruence::exactly(value),
                None => Congruence::ANY,
            },
            // Residues are not remembered, so a few levels are all that is looked at.
            Atom::Mod(inner, c) if inner.depth() <= 2 => self.congruence(inner).modulo(*c),
            // Without facts the rules have taken what is a multiple of the divisor out of the argument.
            Atom::FloorDiv(inner, c) if inner.depth() <= 2 && self.has_facts() => self.congruence(inner).floor_div(*c),
            Atom::FloorDiv(..) | Atom::Mod(..) => Congruence::ANY,
        };
        match self.fact_about_atom(atom) {
            Some(fact) => class.meet(fact.class).unwrap_or(class),
            None => class,
        }
    }
}

/// The factors of `x // c` and of `x mod c` in `a·(x // c) + b·x` or in `a·(x mod c) + b·x`, since
/// `b·x = b·c·(x // c) + b·(x mod c)`.
fn split_factors(a: i64, b: i64, c: i64, is_quotient: bool) -> Option<(i64, i64)> {
    let whole = b.checked_mul(c)?;
    if is_quotient { Some((a.checked_add(whole)?, b)) } else { Some((whole, a.checked_add(b)?)) }
}

/// The values in both; where they contradict, the domain is empty, any claim holds, and the first will do.
fn meet(a: Interval, b: Interval) -> Interval {
    let both = a.intersect(b);
    if both.is_empty() { a } else { both }
}

/// The factor `b` such that `rest` contains `b` times each term of `x`, looking past the term at `skip`.
fn multiple_of(x: &Expr, rest: &[Option<&Term>], skip: usize) -> Option<i64> {
    let mut factor = None;
    for term in x.terms() {
        let other = rest.iter().enumerate().find_map(|(i, t)| match t {
            Some(t) if i != skip && t.atom == term.atom => Some(t.coefficient),
            _ => None,
        })?;
        let ratio = other.checked_div(term.coefficient)?;
        if ratio.checked_mul(term.coefficient)? != other || *factor.get_or_insert(ratio) != ratio {
            return None;
        }
    }
    factor
}
