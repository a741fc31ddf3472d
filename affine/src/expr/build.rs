//! Constructors of expressions, all of which keep the canonical form.

use std::cmp::Ordering;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::hash::Structural;
use super::{Atom, Expr, Node, Term, Terms, Var};
use crate::Error;

pub(crate) const OPERATION_COST: u64 = 20;

impl Expr {
    /// The constant `value`.
    ///
    /// ```
    /// # use weft_affine::Expr;
    /// assert_eq!(Expr::constant(7).floor_div(-3), Expr::constant(-3));
    /// ```
    pub fn constant(value: i64) -> Expr {
        Expr::from_sorted(value, Terms::new())
    }

    /// The variable `v`.
    pub fn var(v: Var) -> Expr {
        Expr::from_atom(Atom::Var(v))
    }

    /// The dimension variable `d{i}`.
    pub fn dim(i: u32) -> Expr {
        Expr::var(Var::Dim(i))
    }

    /// The range variable `s{i}`.
    pub fn range(i: u32) -> Expr {
        Expr::var(Var::Range(i))
    }

    /// The runtime variable `rt{i}`.
    pub fn runtime(i: u32) -> Expr {
        Expr::var(Var::Runtime(i))
    }

    /// `1 * atom`, the atom taken as it is. Callers have checked the divisor.
    pub(crate) fn from_atom(atom: Atom) -> Expr {
        Expr::from_sorted(0, smallvec![Term { coefficient: 1, atom }])
    }

    /// A sum whose terms are already sorted, distinct and non-zero.
    pub(crate) fn from_sorted(constant: i64, terms: Terms) -> Expr {
        debug_assert!(terms.windows(2).all(|w| w[0].atom < w[1].atom) && terms.iter().all(|t| t.coefficient != 0));
        let (mut tree_size, mut cost, mut operations, mut depth) = (1u64, u64::from(constant != 0), 0u32, 0u32);
        for term in &terms {
            cost = cost.saturating_add(u64::from(term.coefficient != 1));
            match &term.atom {
                Atom::Var(_) => {
                    cost = cost.saturating_add(1);
                    tree_size = tree_size.saturating_add(1);
                }
                Atom::FloorDiv(inner, _) | Atom::Mod(inner, _) => {
                    cost = cost.saturating_add(OPERATION_COST).saturating_add(inner.cost());
                    tree_size = tree_size.saturating_add(1).saturating_add(inner.tree_size());
                    operations = operations.saturating_add(1).saturating_add(inner.operation_count());
                    depth = depth.max(inner.depth() + 1);
                }
            }
        }
        let hash = Structural::sum(constant, &terms);
        Expr(Arc::new(Node { hash, constant, terms, tree_size, cost, operations, depth }))
    }

    /// The sum of the terms and the constant, in any order and with repetitions.
    ///
    /// # Errors
    /// When equal atoms add up to a coefficient beyond `i64`, and for an atom with a divisor that has no meaning.
    ///
    /// ```
    /// use weft_affine::{Atom, Expr, Term, Var};
    ///
    /// let [d0] = Var::dims();
    /// let half = Term { coefficient: 3, atom: Atom::FloorDiv(d0.into(), 2) };
    /// let twice = Term { coefficient: -1, ..half.clone() };
    /// assert_eq!(Expr::sum(5, [half, twice])?, d0.floor_div(2) * 2 + 5);
    /// # Ok::<(), weft_affine::Error>(())
    /// ```
    pub fn sum(constant: i64, terms: impl IntoIterator<Item = Term>) -> Result<Expr, Error> {
        Expr::sum_of(constant, terms.into_iter().collect())
    }

    /// [`Expr::sum`], compiled once for all kinds of iterators.
    fn sum_of(constant: i64, mut all: SmallVec<[Term; 6]>) -> Result<Expr, Error> {
        if !all.iter().all(|t| t.atom.is_canonical()) {
            // Atoms made by hand: their division or remainder is built as the constructors build it.
            return all.iter().try_fold(Expr::constant(constant), |sum, term| {
                let atom = match &term.atom {
                    Atom::Var(v) => Expr::var(*v),
                    Atom::FloorDiv(x, c) => x.checked_floor_div(*c)?,
                    Atom::Mod(x, c) => x.checked_modulo(*c)?,
                };
                sum.checked_add_scaled(&atom, term.coefficient)
            });
        }
        all.sort_by(|a, b| a.atom.cmp(&b.atom));
        let mut merged = Terms::new();
        for term in all {
            match merged.last_mut() {
                Some(last) if last.atom == term.atom => {
                    last.coefficient =
                        last.coefficient.checked_add(term.coefficient).ok_or(Error::overflow("a coefficient"))?;
                }
                _ => merged.push(term),
            }
        }
        merged.retain(|t| t.coefficient != 0);
        Ok(Expr::from_sorted(constant, merged))
    }

    /// `self + other`.
    ///
    /// # Errors
    /// When a coefficient or the constant leaves `i64`.
    pub fn checked_add(&self, other: &Expr) -> Result<Expr, Error> {
        self.checked_add_scaled(other, 1)
    }

    /// `self - other`.
    ///
    /// # Errors
    /// When a coefficient or the constant leaves `i64`.
    pub fn checked_sub(&self, other: &Expr) -> Result<Expr, Error> {
        self.checked_add_scaled(other, -1)
    }

    /// `self + factor * other`, in one merge.
    ///
    /// # Errors
    /// When a coefficient or the constant leaves `i64`.
    pub fn checked_add_scaled(&self, other: &Expr, factor: i64) -> Result<Expr, Error> {
        let scaled = |v: i64| v.checked_mul(factor).ok_or(Error::overflow("a coefficient"));
        let plus = |a: i64, b: i64| a.checked_add(b).ok_or(Error::overflow("a sum"));
        if factor == 0 {
            return Ok(self.clone());
        }
        let constant = plus(self.constant_term(), scaled(other.constant_term())?)?;
        if other.terms().is_empty() {
            return Ok(if constant == self.constant_term() {
                self.clone()
            } else {
                Expr::from_sorted(constant, self.terms().into())
            });
        }
        let (a, b) = (self.terms(), other.terms());
        let mut terms = Terms::with_capacity(a.len().max(b.len()));
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let order = match (a.get(i), b.get(j)) {
                (Some(s), Some(t)) => s.atom.cmp(&t.atom),
                (Some(_), None) => Ordering::Less,
                _ => Ordering::Greater,
            };
            match order {
                Ordering::Less => {
                    terms.push(a[i].clone());
                    i += 1;
                }
                Ordering::Greater => {
                    terms.push(Term { coefficient: scaled(b[j].coefficient)?, atom: b[j].atom.clone() });
                    j += 1;
                }
                Ordering::Equal => {
                    let coefficient = plus(a[i].coefficient, scaled(b[j].coefficient)?)?;
                    if coefficient != 0 {
                        terms.push(Term { coefficient, atom: a[i].atom.clone() });
                    }
                    i += 1;
                    j += 1;
                }
            }
        }
        Ok(Expr::from_sorted(constant, terms))
    }

    /// `self + value`.
    ///
    /// # Errors
    /// When the constant leaves `i64`.
    pub fn checked_add_constant(&self, value: i64) -> Result<Expr, Error> {
        let constant = self.constant_term().checked_add(value).ok_or(Error::overflow("a sum"))?;
        Ok(if value == 0 { self.clone() } else { Expr::from_sorted(constant, self.terms().into()) })
    }

    /// `self * factor`.
    ///
    /// # Errors
    /// When a coefficient or the constant leaves `i64`.
    pub fn checked_mul(&self, factor: i64) -> Result<Expr, Error> {
        if factor == 1 {
            return Ok(self.clone());
        }
        Expr::constant(0).checked_add_scaled(self, factor)
    }

    /// `-self`.
    ///
    /// # Errors
    /// When a coefficient or the constant is the least `i64`.
    pub fn checked_neg(&self) -> Result<Expr, Error> {
        self.checked_mul(-1)
    }

    /// `⌊self / divisor⌋`. A negative divisor is moved into the argument: `x // -c = (-x) // c`.
    ///
    /// # Errors
    /// For a divisor of zero, and when the negation of a negative divisor's argument leaves `i64`.
    ///
    /// ```
    /// # use weft_affine::{Expr, Var};
    /// let [d0] = Var::dims();
    /// assert_eq!(Expr::from(d0).checked_floor_div(-4)?, (-d0).floor_div(4));
    /// assert_eq!(Expr::from(d0).checked_floor_div(0).unwrap_err().code(), "AFF002");
    /// # Ok::<(), weft_affine::Error>(())
    /// ```
    pub fn checked_floor_div(&self, divisor: i64) -> Result<Expr, Error> {
        if divisor == 0 {
            return Err(Error::ZeroDivisor);
        }
        if divisor < 0 {
            let positive = divisor.checked_neg().ok_or(Error::overflow("a divisor"))?;
            return self.checked_neg()?.checked_floor_div(positive);
        }
        Ok(match self.as_constant() {
            _ if divisor == 1 => self.clone(),
            Some(v) => Expr::constant(v.div_euclid(divisor)),
            None => Expr::from_atom(Atom::FloorDiv(self.clone(), divisor)),
        })
    }

    /// `⌈self / divisor⌉`, kept as a floor division: `(x + c - 1) // c`.
    ///
    /// # Errors
    /// For a divisor of zero, and when a constant leaves `i64`.
    pub fn checked_ceil_div(&self, divisor: i64) -> Result<Expr, Error> {
        if divisor < 0 {
            let positive = divisor.checked_neg().ok_or(Error::overflow("a divisor"))?;
            return self.checked_neg()?.checked_ceil_div(positive);
        }
        if divisor == 0 {
            return Err(Error::ZeroDivisor);
        }
        self.checked_add_constant(divisor - 1)?.checked_floor_div(divisor)
    }

    /// `self mod modulus`, in `[0, modulus - 1]`.
    ///
    /// # Errors
    /// For a modulus that is not positive.
    pub fn checked_modulo(&self, modulus: i64) -> Result<Expr, Error> {
        if modulus <= 0 {
            return Err(Error::BadModulus { modulus });
        }
        Ok(match self.as_constant() {
            _ if modulus == 1 => Expr::constant(0),
            Some(v) => Expr::constant(v.rem_euclid(modulus)),
            None => Expr::from_atom(Atom::Mod(self.clone(), modulus)),
        })
    }

    /// `⌊self / divisor⌋`, for numbers written by hand.
    ///
    /// # Panics
    /// Where [`Expr::checked_floor_div`] fails.
    #[must_use]
    pub fn floor_div(&self, divisor: i64) -> Expr {
        self.checked_floor_div(divisor).expect("the divisor is written by hand and not zero")
    }

    /// `⌈self / divisor⌉`, for numbers written by hand.
    ///
    /// # Panics
    /// Where [`Expr::checked_ceil_div`] fails.
    #[must_use]
    pub fn ceil_div(&self, divisor: i64) -> Expr {
        self.checked_ceil_div(divisor).expect("the divisor is written by hand and not zero")
    }

    /// `self mod modulus`, for numbers written by hand.
    ///
    /// # Panics
    /// Where [`Expr::checked_modulo`] fails.
    #[must_use]
    pub fn modulo(&self, modulus: i64) -> Expr {
        self.checked_modulo(modulus).expect("the modulus is written by hand and positive")
    }

    /// The sum with the expression `new` in place of the atom; unchanged where the atom is no term.
    pub(crate) fn with_replaced(&self, atom: &Atom, new: &Expr) -> Result<Expr, Error> {
        let Ok(i) = self.terms().binary_search_by(|t| t.atom.cmp(atom)) else { return Ok(self.clone()) };
        if let [Term { coefficient: 1, .. }] = self.terms() {
            return new.checked_add_constant(self.constant_term());
        }
        let mut rest = Terms::from(self.terms());
        let taken = rest.remove(i);
        Expr::from_sorted(self.constant_term(), rest).checked_add_scaled(new, taken.coefficient)
    }

    /// The structural hash of the expression without its constant and with its coefficients divided, which is not built;
    /// nothing where a quotient does not fit.
    pub(crate) fn hash_of_divided(&self, divisor: i64) -> Option<u128> {
        Structural::divided(self.terms(), divisor)
    }

    /// The structural hash of [`Expr::from_atom`], which is not built.
    pub(crate) fn hash_of_atom(atom: &Atom) -> u128 {
        Structural::single(atom)
    }

    /// The sum without its constant.
    pub(crate) fn without_constant(&self) -> Expr {
        if self.constant_term() == 0 { self.clone() } else { Expr::from_sorted(0, self.terms().into()) }
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::constant(value)
    }
}

impl From<Var> for Expr {
    fn from(v: Var) -> Expr {
        Expr::var(v)
    }
}

impl From<&Expr> for Expr {
    fn from(e: &Expr) -> Expr {
        e.clone()
    }
}
