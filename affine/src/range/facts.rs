//! Facts that constraints state about sums: bounds, residues and values.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Congruence, primitive, primitive_sum, solve};
use crate::{Atom, Constraint, Expr, Interval, Term};

/// What is known of one sum.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    /// Without constant, its coefficients without common divisor and the first of them positive.
    pub(super) sum: Expr,
    pub(super) bounds: Interval,
    pub(super) class: Congruence,
}

/// Everything the constraints of a domain say, one fact for each sum. Facts that contradict what is known already are
/// passed over: then the domain is empty, where any claim holds, and the analysis stays free of empty intervals.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    list: Vec<Fact>,
    numbers: FxHashMap<u128, usize>,
    equalities: Vec<(Expr, i64)>,
    /// For sums of so many terms there are facts; the last bit stands for all longer ones.
    lengths: u64,
    /// The facts about sums of more than one term: with bounds, and with a residue.
    bounded: Vec<usize>,
    classed: Vec<usize>,
}

/// So often do bounds and residues, and the digits of one number, say more of one another.
const MAX_ROUNDS: usize = 4;

impl Facts {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn list(&self) -> &[Fact] {
        &self.list
    }

    /// The sums that have one value, with the value.
    pub(super) fn equalities(&self) -> &[(Expr, i64)] {
        &self.equalities
    }

    /// What is known of the sum, given the hash of its primitive form.
    pub(super) fn about(&self, primitive: u128) -> Option<&Fact> {
        self.numbers.get(&primitive).and_then(|i| self.list.get(*i))
    }

    /// True when there may be something about a sum of so many terms.
    pub(super) fn know_length(&self, terms: usize) -> bool {
        self.lengths & length_bit(terms) != 0
    }

    /// The numbers of the facts with bounds about sums of more than one term.
    pub(super) fn bounded(&self) -> &[usize] {
        &self.bounded
    }

    /// The numbers of the facts with a residue about sums of more than one term.
    pub(super) fn classed(&self) -> &[usize] {
        &self.classed
    }

    /// Takes in one constraint.
    pub(super) fn learn(&mut self, constraint: &Constraint) {
        let Constraint { expr, bounds } = constraint;
        if bounds.is_empty() {
            return;
        }
        let Some((sum, factor)) = primitive_sum(expr) else { return };
        let solved = solve(*bounds, factor, expr.constant_term());
        self.record_bounds(sum.clone(), solved);
        // factor·sum + k ≡ r (mod c)
        if let Some(Atom::Mod(x, c)) = sum.as_atom()
            && let Some(r) = solved.as_point().filter(|r| (0..*c).contains(r))
            && let Some((sum, factor)) = primitive_sum(x)
            && let class = Congruence::new(i128::from(*c), i128::from(r) - i128::from(x.constant_term()))
            && let Some(class) = class.divided(factor)
        {
            self.record(sum, Interval::EVERYTHING, class);
        }
    }

    /// Bounds of a sum, and where it is a quotient those of its argument: `l <= x floordiv c <= h` says that
    /// `c*l <= x <= c*h + c - 1`.
    fn record_bounds(&mut self, mut sum: Expr, mut bounds: Interval) {
        loop {
            self.record(sum.clone(), bounds, Congruence::ANY);
            let Some(Atom::FloorDiv(x, c)) = sum.as_atom() else { return };
            let Some((argument, factor)) = primitive_sum(x) else { return };
            let c = i128::from(*c);
            let within =
                Interval::of_ends(bounds.bound_below().map(|l| c * l), bounds.bound_above().map(|h| c * h + c - 1));
            bounds = solve(within, factor, x.constant_term());
            if bounds == Interval::EVERYTHING || bounds.is_empty() {
                return;
            }
            sum = argument;
        }
    }

    fn record(&mut self, sum: Expr, bounds: Interval, class: Congruence) {
        let next = self.list.len();
        let i = *self.numbers.entry(sum.structural_hash()).or_insert(next);
        if i == next {
            self.list.push(Fact { sum, bounds: Interval::EVERYTHING, class: Congruence::ANY });
        }
        if let Some(fact) = self.list.get_mut(i) {
            let both = fact.bounds.intersect(bounds);
            fact.bounds = if both.is_empty() { fact.bounds } else { both };
            fact.class = fact.class.meet(class).unwrap_or(fact.class);
        }
    }

    /// Lets bounds, residues and digits tighten one another, once all constraints are taken in.
    pub(super) fn settle(&mut self) {
        for _ in 0..MAX_ROUNDS {
            for fact in &mut self.list {
                fact.settle();
            }
            if !self.join_digits() {
                break;
            }
        }
        for (i, fact) in self.list.iter().enumerate() {
            let terms = fact.sum.terms().len();
            self.lengths |= length_bit(terms);
            if terms > 1 && fact.bounds != Interval::EVERYTHING {
                self.bounded.push(i);
            }
            if terms > 1 && !fact.class.is_any() {
                self.classed.push(i);
            }
            if let Some(value) = fact.value() {
                self.equalities.push((fact.sum.clone(), value));
            }
        }
        self.equalities.sort();
    }

    /// The residue of each `x` of which the remainder by `c` and the residue of `x floordiv c` are known; true when
    /// something was new.
    fn join_digits(&mut self) -> bool {
        let mut found = Vec::new();
        for high in self.list.iter().filter(|fact| !fact.class.is_any()) {
            if let Some(Atom::FloorDiv(x, c)) = high.sum.as_atom()
                && let Some((key, factor)) = primitive(x)
                && let Some(low) = self.about(key)
                && let constant = Congruence::exactly(x.constant_term())
                && let Some(whole) = high.class.after_digit(low.class.times(factor).plus(constant), *c)
                && let Some(class) = whole.plus(constant.times(-1)).divided(factor)
                && low.class.meet(class).is_some_and(|both| both != low.class)
            {
                found.push((low.sum.clone(), class));
            }
        }
        let is_new = !found.is_empty();
        for (sum, class) in found {
            self.record(sum, Interval::EVERYTHING, class);
        }
        is_new
    }
}

fn length_bit(terms: usize) -> u64 {
    1 << terms.min(63)
}

impl Fact {
    /// The only value, where there is one.
    fn value(&self) -> Option<i64> {
        self.bounds.as_point().filter(|v| *v != i64::MIN && *v != i64::MAX)
    }

    /// Lets bounds and residue tighten one another.
    fn settle(&mut self) {
        let inner = self.class.within(self.bounds);
        self.bounds = if inner.is_empty() { self.bounds } else { inner };
        if let Some(value) = self.value() {
            self.class = Congruence::exactly(value);
        }
    }

    /// The ways `e = factor·sum + rest` in which the sum may help: the factor takes at least one term of the sum out of `e`,
    /// as far as whole multiples go, and there are no more terms after than before.
    ///
    /// A sum with divisions or remainders must be in `e` with all its terms. Otherwise the rest could hold deeper ones than
    /// `e`, whose arguments may lead back to `e`, and the analysis would not end.
    pub(super) fn ways(&self, e: &Expr) -> SmallVec<[(i64, Expr); 2]> {
        let ratio = |t: &Term| {
            let i = e.terms().binary_search_by(|own| own.atom.cmp(&t.atom)).ok()?;
            e.terms().get(i)?.coefficient.checked_div(t.coefficient)
        };
        let mut factors: SmallVec<[i64; 4]> = self.sum.terms().iter().filter_map(ratio).collect();
        if factors.is_empty() || (!self.sum.is_linear() && factors.len() < self.sum.terms().len()) {
            return SmallVec::new();
        }
        factors.sort_unstable();
        factors.dedup();
        let rest = |f: i64| {
            let rest = e.checked_add_scaled(&self.sum, f.checked_neg()?).ok()?;
            (f != 0 && rest.terms().len() <= e.terms().len()).then_some((f, rest))
        };
        factors.into_iter().filter_map(rest).collect()
    }
}
