//! Linear equations over numbered unknowns in echelon form, exact and without fractions in between.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::number::Number;
use super::reasons::Reasons;

/// A sum of unknowns and a constant, over one common denominator: in lowest terms, so that equal sums are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sum<N> {
    terms: BTreeMap<u32, N>,
    constant: N,
    /// Positive.
    denominator: N,
}

impl<N: Number> Sum<N> {
    /// A constant.
    pub(super) fn constant(value: N) -> Sum<N> {
        Sum { terms: BTreeMap::new(), constant: value, denominator: N::from(1) }
    }

    /// One unknown.
    pub(super) fn unknown(id: u32) -> Sum<N> {
        let mut sum = Sum::constant(N::from(0));
        sum.terms.insert(id, N::from(1));
        sum
    }

    /// `self + factor · other`, both without denominator; nothing on overflow.
    pub(super) fn plus(mut self, other: &Sum<N>, factor: &N) -> Option<Sum<N>> {
        self.constant = self.constant.plus_product(&other.constant, factor)?;
        for (id, coefficient) in &other.terms {
            let slot = self.terms.entry(*id).or_insert_with(|| N::from(0));
            *slot = slot.plus_product(coefficient, factor)?;
            if slot.is_zero() {
                self.terms.remove(id);
            }
        }
        Some(self)
    }

    /// The number that the sum is, with its denominator.
    pub(super) fn as_fraction(&self) -> Option<(&N, &N)> {
        self.terms.is_empty().then_some((&self.constant, &self.denominator))
    }

    fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.constant.is_zero()
    }

    /// The sum with all numbers divided by a divisor of them, over the denominator one; nothing on overflow.
    fn divided(mut self, divisor: &N) -> Option<Sum<N>> {
        for v in self.terms.values_mut() {
            *v = v.over(divisor)?;
        }
        self.constant = self.constant.over(divisor)?;
        self.denominator = N::from(1);
        Some(self)
    }

    /// The greatest divisor of `of` and of all numbers but the denominator.
    fn divisor(&self, of: N) -> Option<N> {
        let mut all = self.terms.values().chain([&self.constant]);
        all.try_fold(of, |divisor, v| if divisor.is_one() { Some(divisor) } else { divisor.common(v) })
    }

    fn in_lowest_terms(self) -> Option<Sum<N>> {
        let divisor = self.divisor(self.denominator.clone())?;
        if divisor.is_one() {
            return Some(self);
        }
        let denominator = self.denominator.over(&divisor)?;
        Some(Sum { denominator, ..self.divided(&divisor)? })
    }
}

/// An equation `sum = 0`, kept under its unknown of the highest number.
#[derive(Debug)]
struct Row<N> {
    sum: Sum<N>,
    reasons: Reasons,
}

/// Equations, each of which says something that those before it do not.
#[derive(Debug)]
pub(super) struct Equations<N> {
    rows: FxHashMap<u32, Row<N>>,
    /// What a number was found to equal another from; then everything follows.
    contradiction: Option<Reasons>,
    /// Terms that may still be looked at.
    work_left: u64,
    /// Whether something was left out since a number did not fit.
    has_overflown: bool,
}

impl<N: Number> Equations<N> {
    pub(super) fn new(work: u64) -> Equations<N> {
        Equations { rows: FxHashMap::default(), contradiction: None, work_left: work, has_overflown: false }
    }

    /// Whether something was left out since a number did not fit.
    pub(super) fn has_overflown(&self) -> bool {
        self.has_overflown
    }

    /// Notes where a result is missing since a number did not fit.
    pub(super) fn fitting<T>(&mut self, result: Option<T>) -> Option<T> {
        self.has_overflown |= result.is_none();
        result
    }

    /// What everything follows from, where the equations contradict each other.
    pub(super) fn contradiction(&self) -> Option<&Reasons> {
        self.contradiction.as_ref()
    }

    /// Counts work; false when none is left.
    pub(super) fn spend(&mut self, terms: usize) -> bool {
        self.work_left = self.work_left.saturating_sub(terms as u64 + 1);
        self.work_left > 0
    }

    /// Rewrites the sum with the equations as far as they go, and joins those it used to the reasons. The form depends
    /// on the equations and the value alone. Nothing on overflow, and when the work is used up.
    pub(super) fn reduce(&mut self, mut sum: Sum<N>, reasons: &mut Reasons) -> Option<Sum<N>> {
        let mut below = u32::MAX;
        // A row has no unknown above its own, so one walk from the highest down meets all.
        while let Some((&id, _)) = sum.terms.range(..below).next_back() {
            below = id;
            if !self.spend(0) {
                return None;
            }
            let Some(row) = self.rows.get(&id) else { continue };
            let terms = sum.terms.len();
            let reduced = without(sum, id, &row.sum);
            reasons.join(&row.reasons);
            let length = row.sum.terms.len();
            let (reduced, is_scaled) = self.fitting(reduced)?;
            sum = reduced;
            if !self.spend(length + if is_scaled { terms } else { 0 }) {
                return None;
            }
        }
        let lowest = sum.in_lowest_terms();
        self.fitting(lowest)
    }

    /// True when `sum = 0` follows; joins what it follows from to the reasons.
    pub(super) fn vanishes(&mut self, sum: Sum<N>, reasons: &mut Reasons) -> bool {
        if let Some(all) = &self.contradiction {
            reasons.join(all);
            return true;
        }
        self.reduce(sum, reasons).is_some_and(|rest| rest.is_zero())
    }

    /// Takes in `sum = 0`; true where that says something new.
    pub(super) fn add(&mut self, sum: Sum<N>, mut reasons: Reasons) -> bool {
        let Some(rest) = self.reduce(sum, &mut reasons) else { return false };
        let Some((&id, first)) = rest.terms.last_key_value() else {
            if !rest.constant.is_zero() {
                self.contradict(reasons);
            }
            return false;
        };
        // An equation stays one when it is multiplied, so the denominator goes, and every common factor.
        let sign = N::from(if first.is_negative() { -1 } else { 1 });
        let divisor = rest.divisor(N::from(0)).and_then(|divisor| divisor.times(&sign));
        let row = divisor.and_then(|divisor| rest.divided(&divisor));
        let Some(sum) = self.fitting(row) else { return false };
        self.rows.insert(id, Row { sum, reasons });
        true
    }

    /// From here on everything follows.
    pub(super) fn contradict(&mut self, reasons: Reasons) {
        self.contradiction.get_or_insert(reasons);
    }
}

/// The sum with the unknown `id` eliminated by an equation `row = 0`, where both have it, and whether all its numbers had to be
/// multiplied for that.
fn without<N: Number>(mut sum: Sum<N>, id: u32, row: &Sum<N>) -> Option<(Sum<N>, bool)> {
    let (a, p) = (sum.terms.get(&id)?, row.terms.get(&id)?);
    let common = a.common(p)?;
    let (scale, factor) = (p.over(&common)?, a.over(&common)?.times(&N::from(-1))?);
    if !scale.is_one() {
        for v in sum.terms.values_mut() {
            *v = v.times(&scale)?;
        }
        sum.constant = sum.constant.times(&scale)?;
        sum.denominator = sum.denominator.times(&scale)?;
    }
    Some((sum.plus(row, &factor)?, !scale.is_one()))
}
