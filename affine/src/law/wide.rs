//! Sums whose numbers may leave `i64` on the way, so that only the result has to fit.

use std::collections::BTreeMap;

use crate::{Atom, Error, Expr, Term};

/// A constant plus a sum of coefficients times atoms.
pub(super) struct Wide {
    constant: i128,
    terms: BTreeMap<Atom, i128>,
}

impl Wide {
    pub(super) fn constant(value: i128) -> Wide {
        Wide { constant: value, terms: BTreeMap::new() }
    }

    pub(super) fn of(e: &Expr) -> Wide {
        let terms = e.terms().iter().map(|t| (t.atom.clone(), i128::from(t.coefficient)));
        Wide { constant: i128::from(e.constant_term()), terms: terms.collect() }
    }

    /// The value, where there are no atoms.
    pub(super) fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + factor · other`.
    pub(super) fn plus(mut self, other: &Wide, factor: i128) -> Result<Wide, Error> {
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

    /// The expression, where all numbers fit.
    pub(super) fn narrow(self) -> Result<Expr, Error> {
        let fitting = |v: i128, what: &'static str| i64::try_from(v).map_err(|_| Error::overflow(what));
        let term = |(atom, v)| Ok(Term { coefficient: fitting(v, "a coefficient")?, atom });
        let terms: Vec<Term> = self.terms.into_iter().map(term).collect::<Result<_, Error>>()?;
        Expr::sum(fitting(self.constant, "a constant")?, terms)
    }
}
