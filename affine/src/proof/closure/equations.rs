//! Linear equations over numbered unknowns in echelon form, exact and without fractions in between.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::reasons::Reasons;

/// A sum of unknowns and a constant, over one common denominator: in lowest terms, so that equal sums are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sum {
    terms: BTreeMap<u32, i128>,
    constant: i128,
    /// Positive.
    denominator: i128,
}

impl Sum {
    /// A constant.
    pub(super) fn constant(value: i64) -> Sum {
        Sum { terms: BTreeMap::new(), constant: i128::from(value), denominator: 1 }
    }

    /// One unknown.
    pub(super) fn unknown(id: u32) -> Sum {
        Sum { terms: BTreeMap::from([(id, 1)]), constant: 0, denominator: 1 }
    }

    /// `self + factor · other`, both without denominator; nothing on overflow.
    pub(super) fn plus(mut self, other: &Sum, factor: i128) -> Option<Sum> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (id, coefficient) in &other.terms {
            let slot = self.terms.entry(*id).or_insert(0);
            *slot = slot.checked_add(coefficient.checked_mul(factor)?)?;
            if *slot == 0 {
                self.terms.remove(id);
            }
        }
        Some(self)
    }

    /// The number that the sum is, with its denominator.
    pub(super) fn as_fraction(&self) -> Option<(i128, i128)> {
        self.terms.is_empty().then_some((self.constant, self.denominator))
    }

    fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.constant == 0
    }

    /// The sum with all numbers divided by a divisor of them, over the denominator one; nothing on overflow.
    fn divided(mut self, divisor: i128) -> Option<Sum> {
        for v in self.terms.values_mut() {
            *v = v.checked_div(divisor)?;
        }
        self.constant = self.constant.checked_div(divisor)?;
        self.denominator = 1;
        Some(self)
    }

    fn in_lowest_terms(mut self) -> Sum {
        let all = self.terms.values().copied().chain([self.constant]);
        let divisor = all.fold(self.denominator, gcd);
        if divisor > 1 {
            self.terms.values_mut().for_each(|v| *v /= divisor);
            self.constant /= divisor;
            self.denominator /= divisor;
        }
        self
    }
}

/// The greatest common divisor, or one where it leaves `i128`.
fn gcd(a: i128, b: i128) -> i128 {
    i128::try_from(num_integer::gcd(a.unsigned_abs(), b.unsigned_abs())).unwrap_or(1)
}

/// An equation `sum = 0`, kept under its unknown of the highest number.
#[derive(Debug)]
struct Row {
    sum: Sum,
    reasons: Reasons,
}

/// Equations, each of which says something that those before it do not.
#[derive(Debug)]
pub(super) struct Equations {
    rows: FxHashMap<u32, Row>,
    /// What a number was found to equal another from; then everything follows.
    contradiction: Option<Reasons>,
    /// Terms that may still be looked at.
    work_left: u64,
}

impl Equations {
    pub(super) fn new(work: u64) -> Equations {
        Equations { rows: FxHashMap::default(), contradiction: None, work_left: work }
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
    pub(super) fn reduce(&mut self, mut sum: Sum, reasons: &mut Reasons) -> Option<Sum> {
        let mut below = u32::MAX;
        // A row has no unknown above its own, so one walk from the highest down meets all.
        while let Some((&id, &a)) = sum.terms.range(..below).next_back() {
            below = id;
            if !self.spend(0) {
                return None;
            }
            let Some(row) = self.rows.get(&id) else { continue };
            let p = *row.sum.terms.get(&id)?;
            let common = gcd(a, p);
            let (scale, factor) = (p / common, (a / common).checked_neg()?);
            if scale != 1 {
                for v in sum.terms.values_mut() {
                    *v = v.checked_mul(scale)?;
                }
                sum.constant = sum.constant.checked_mul(scale)?;
                sum.denominator = sum.denominator.checked_mul(scale)?;
            }
            sum = sum.plus(&row.sum, factor)?;
            reasons.join(&row.reasons);
            let length = row.sum.terms.len() + if scale == 1 { 0 } else { sum.terms.len() };
            if !self.spend(length) {
                return None;
            }
        }
        Some(sum.in_lowest_terms())
    }

    /// True when `sum = 0` follows; joins what it follows from to the reasons.
    pub(super) fn vanishes(&mut self, sum: Sum, reasons: &mut Reasons) -> bool {
        if let Some(all) = &self.contradiction {
            reasons.join(all);
            return true;
        }
        self.reduce(sum, reasons).is_some_and(|rest| rest.is_zero())
    }

    /// Takes in `sum = 0`; true where that says something new.
    pub(super) fn add(&mut self, sum: Sum, mut reasons: Reasons) -> bool {
        let Some(rest) = self.reduce(sum, &mut reasons) else { return false };
        let Some((&id, &first)) = rest.terms.last_key_value() else {
            if rest.constant != 0 {
                self.contradict(reasons);
            }
            return false;
        };
        // An equation stays one when it is multiplied, so the denominator goes, and every common factor.
        let divisor = rest.terms.values().copied().fold(rest.constant, gcd) * first.signum();
        let Some(rest) = rest.divided(divisor) else { return false };
        self.rows.insert(id, Row { sum: rest, reasons });
        true
    }

    /// From here on everything follows.
    pub(super) fn contradict(&mut self, reasons: Reasons) {
        self.contradiction.get_or_insert(reasons);
    }
}
