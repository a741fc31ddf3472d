//! Sums whose numbers may leave `i64` on the way, so that only the result has to fit.

use std::collections::BTreeMap;

use crate::{Atom, Error, Expr, Point, Term};

/// A constant plus a sum of coefficients times atoms, exact where an [`Expr`] would overflow: its numbers have 128 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WideSum {
    constant: i128,
    terms: BTreeMap<Atom, i128>,
}

impl WideSum {
    /// The exact value at a point.
    ///
    /// # Errors
    /// Where an atom has no value within `i64` there, and when the sum leaves `i128`.
    pub fn evaluate_at(&self, point: &Point<'_>) -> Result<i128, Error> {
        self.terms.iter().try_fold(self.constant, |sum, (atom, coefficient)| {
            let value = i128::from(Expr::from_atom(atom.clone()).evaluate_at(point)?);
            coefficient.checked_mul(value).and_then(|v| sum.checked_add(v)).ok_or(Error::overflow("a sum"))
        })
    }

    pub(crate) fn constant(value: i128) -> WideSum {
        WideSum { constant: value, terms: BTreeMap::new() }
    }

    pub(crate) fn of(e: &Expr) -> WideSum {
        let mut sum = WideSum::constant(i128::from(e.constant_term()));
        for term in e.terms() {
            sum.terms.insert(term.atom.clone(), i128::from(term.coefficient));
        }
        sum
    }

    /// The constant summand.
    pub(crate) fn constant_term(&self) -> i128 {
        self.constant
    }

    /// The other summands.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&Atom, i128)> {
        self.terms.iter().map(|(atom, coefficient)| (atom, *coefficient))
    }

    /// The value, where there are no atoms.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The sum without its constant.
    pub(crate) fn without_constant(&self) -> WideSum {
        WideSum { constant: 0, terms: self.terms.clone() }
    }

    /// `self + factor · other`.
    pub(crate) fn plus(mut self, other: &WideSum, factor: i128) -> Result<WideSum, Error> {
        let sum =
            |a: i128, b: i128| b.checked_mul(factor).and_then(|b| a.checked_add(b)).ok_or(Error::overflow("a sum"));
        self.constant = sum(self.constant, other.constant)?;
        for (atom, coefficient) in &other.terms {
            let slot = self.terms.entry(atom.clone()).or_insert(0);
            *slot = sum(*slot, *coefficient)?;
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
        Ok(self)
    }

    /// The negation.
    pub(crate) fn negated(&self) -> Result<WideSum, Error> {
        WideSum::constant(0).plus(self, -1)
    }

    /// The remainder of each number by a positive modulus: the same sum modulo that.
    pub(crate) fn modulo(&self, modulus: i128) -> WideSum {
        let terms = self.terms().map(|(atom, v)| (atom.clone(), v.rem_euclid(modulus)));
        WideSum { constant: self.constant.rem_euclid(modulus), terms: terms.filter(|(_, v)| *v != 0).collect() }
    }

    /// The expression, where all numbers fit.
    pub(crate) fn narrow(&self) -> Result<Expr, Error> {
        let fitting = |v: i128, what: &'static str| i64::try_from(v).map_err(|_| Error::overflow(what));
        let term =
            |(atom, v): (&Atom, i128)| Ok(Term { coefficient: fitting(v, "a coefficient")?, atom: atom.clone() });
        let terms: Vec<Term> = self.terms().map(term).collect::<Result<_, Error>>()?;
        Expr::sum(fitting(self.constant, "a constant")?, terms)
    }
}
