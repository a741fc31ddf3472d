//! Traversals of the expression DAG: evaluation, substitution, and the variables that occur.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::{Atom, Expr, MAX_RECURSION, Term, Var};
use crate::Error;

/// Values for the variables of each kind, by number.
#[derive(Copy, Clone, Debug, Default)]
pub struct Point<'a> {
    /// Values of `d0, d1, …`.
    pub dims: &'a [i64],
    /// Values of `s0, s1, …`.
    pub ranges: &'a [i64],
    /// Values of `rt0, rt1, …`.
    pub runtime: &'a [i64],
}

impl Point<'_> {
    /// The value of `v`, where the point has one.
    pub fn get(&self, v: Var) -> Option<i64> {
        let (values, i) = match v {
            Var::Dim(i) => (self.dims, i),
            Var::Range(i) => (self.ranges, i),
            Var::Runtime(i) => (self.runtime, i),
        };
        values.get(usize::try_from(i).ok()?).copied()
    }
}

/// The distinct expressions reachable from `roots`, arguments before those that use them, roots included.
pub(crate) fn postorder<'a>(roots: impl IntoIterator<Item = &'a Expr>) -> Vec<Expr> {
    postorder_past(roots, |_| false)
}

/// As [`postorder`], passing over expressions for which `known` holds and what only they reach.
pub(crate) fn postorder_past<'a>(roots: impl IntoIterator<Item = &'a Expr>, known: impl Fn(u128) -> bool) -> Vec<Expr> {
    let mut order = Vec::new();
    let mut seen: FxHashSet<u128> = FxHashSet::default();
    let mut stack: Vec<(Expr, bool)> = Vec::new();
    for root in roots {
        stack.push((root.clone(), false));
        while let Some((node, ready)) = stack.pop() {
            if ready {
                order.push(node);
            } else if !known(node.structural_hash()) && seen.insert(node.structural_hash()) {
                let arguments: Vec<Expr> =
                    node.terms().iter().rev().filter_map(|t| t.atom.argument().cloned()).collect();
                stack.push((node, true));
                stack.extend(arguments.into_iter().map(|a| (a, false)));
            }
        }
    }
    order
}

/// Trees up to this size are walked directly; beyond, a table of results respects sharing.
const MAX_DIRECT_TREE: u64 = 512;

/// Trees up to this size are walked sooner, repeated parts included, than a table of those is made.
const MAX_TREE_WITHOUT_TABLE: u64 = 64;

impl Expr {
    fn is_small(&self) -> bool {
        self.tree_size() <= MAX_DIRECT_TREE && self.depth() <= MAX_RECURSION
    }

    /// The value of the expression where each variable has the value that `value` gives it.
    ///
    /// Sums are computed exactly, so only values of the sum and of its parts that do not fit `i64` are errors, not the order
    /// in which they are added.
    ///
    /// # Errors
    /// On overflow.
    ///
    /// ```
    /// # use weft_affine::Var;
    /// let [d0, d1] = Var::dims();
    /// let e = (d0 - d1).floor_div(4) * 10 + (d0 - d1).modulo(4);
    /// assert_eq!(e.evaluate(|v| if v == d0 { 1 } else { 3 }), Ok(-8));
    /// ```
    pub fn evaluate(&self, value: impl Fn(Var) -> i64) -> Result<i64, Error> {
        self.try_evaluate(&|v| Ok(value(v)))
    }

    /// The value of the expression at `point`.
    ///
    /// # Errors
    /// On overflow, and for a variable the point does not have.
    ///
    /// ```
    /// # use weft_affine::{Point, Var};
    /// let ([d0], [s0]) = (Var::dims(), Var::ranges());
    /// let e = d0 * 8 + s0;
    /// assert_eq!(e.evaluate_at(&Point { dims: &[2], ranges: &[5], ..Point::default() }), Ok(21));
    /// assert_eq!(e.evaluate_at(&Point { dims: &[2], ..Point::default() }).unwrap_err().code(), "AFF004");
    /// ```
    pub fn evaluate_at(&self, point: &Point<'_>) -> Result<i64, Error> {
        self.try_evaluate(&|v| point.get(v).ok_or_else(|| Error::Unbound { variable: v.to_string() }))
    }

    fn try_evaluate(&self, value: &dyn Fn(Var) -> Result<i64, Error>) -> Result<i64, Error> {
        if self.is_small() {
            return evaluate_tree(self, value);
        }
        let mut done: FxHashMap<u128, i64> = FxHashMap::default();
        let mut last = 0;
        for node in postorder([self]) {
            last = evaluate_sum(&node, value, &mut |inner| Ok(done[&inner.structural_hash()]))?;
            done.insert(node.structural_hash(), last);
        }
        Ok(last)
    }

    /// Replaces each variable for which `f` gives an expression, everywhere at once.
    ///
    /// # Errors
    /// When a coefficient or constant of the result leaves `i64`.
    ///
    /// ```
    /// # use weft_affine::Var;
    /// let [d0, d1] = Var::dims();
    /// let swapped = (d0 * 8 + d1).floor_div(4).substitute(|v| Some(if v == d0 { d1.into() } else { d0.into() }))?;
    /// assert_eq!(swapped, (d1 * 8 + d0).floor_div(4));
    /// # Ok::<(), weft_affine::Error>(())
    /// ```
    pub fn substitute(&self, f: impl Fn(Var) -> Option<Expr>) -> Result<Expr, Error> {
        self.substitute_sharing(&f, &mut Shared::new())
    }

    /// As [`Expr::substitute`], for one of several expressions that share arguments.
    pub(crate) fn substitute_sharing(
        &self,
        f: &dyn Fn(Var) -> Option<Expr>,
        shared: &mut Shared,
    ) -> Result<Expr, Error> {
        if self.is_small() {
            return substitute_tree(self, f, shared);
        }
        let mut done: FxHashMap<u128, Expr> = FxHashMap::default();
        for node in postorder([self]) {
            let new = rebuild(&node, f, &mut |inner| Ok(done[&inner.structural_hash()].clone()))?;
            done.insert(node.structural_hash(), new);
        }
        Ok(done[&self.structural_hash()].clone())
    }

    /// The variables that occur.
    pub fn variables(&self) -> BTreeSet<Var> {
        let mut found = BTreeSet::new();
        self.find_variable(&mut |v| {
            found.insert(v);
            false
        });
        found
    }

    /// Whether `wanted` holds for a variable that occurs; asks no further then, and may ask about a variable several times.
    pub fn find_variable(&self, wanted: &mut dyn FnMut(Var) -> bool) -> bool {
        if self.tree_size() <= MAX_TREE_WITHOUT_TABLE {
            return find_in_tree(self, wanted);
        }
        let mut is_wanted = |term: &Term| matches!(term.atom, Atom::Var(v) if wanted(v));
        postorder([self]).iter().any(|e| e.terms().iter().any(&mut is_wanted))
    }

    /// The number of distinct sums in the expression, itself included: its size as a DAG.
    pub fn node_count(&self) -> usize {
        postorder([self]).len()
    }
}

fn find_in_tree(e: &Expr, wanted: &mut dyn FnMut(Var) -> bool) -> bool {
    e.terms().iter().any(|term| match &term.atom {
        Atom::Var(v) => wanted(*v),
        Atom::FloorDiv(x, _) | Atom::Mod(x, _) => find_in_tree(x, wanted),
    })
}

fn evaluate_tree(e: &Expr, value: &dyn Fn(Var) -> Result<i64, Error>) -> Result<i64, Error> {
    evaluate_sum(e, value, &mut |inner| evaluate_tree(inner, value))
}

fn evaluate_sum(
    e: &Expr,
    value: &dyn Fn(Var) -> Result<i64, Error>,
    argument: &mut dyn FnMut(&Expr) -> Result<i64, Error>,
) -> Result<i64, Error> {
    let mut total = i128::from(e.constant_term());
    for term in e.terms() {
        let v = match &term.atom {
            Atom::Var(v) => value(*v)?,
            Atom::FloorDiv(inner, c) => argument(inner)?.div_euclid(*c),
            Atom::Mod(inner, c) => argument(inner)?.rem_euclid(*c),
        };
        total =
            total.checked_add(i128::from(term.coefficient) * i128::from(v)).ok_or(Error::overflow("an evaluation"))?;
    }
    i64::try_from(total).map_err(|_| Error::overflow("an evaluation"))
}

/// Arguments met and what became of them. There are few, so a list is searched sooner than a table.
pub(crate) type Shared = SmallVec<[(u128, Expr); 4]>;

/// So many arguments are remembered.
const MAX_SHARED: usize = 4;

fn substitute_tree(e: &Expr, f: &dyn Fn(Var) -> Option<Expr>, shared: &mut Shared) -> Result<Expr, Error> {
    rebuild(e, f, &mut |inner| {
        let hash = inner.structural_hash();
        if let Some((_, known)) = shared.iter().find(|(known, _)| *known == hash) {
            return Ok(known.clone());
        }
        let new = substitute_tree(inner, f, shared)?;
        if shared.len() < MAX_SHARED {
            shared.push((hash, new.clone()));
        }
        Ok(new)
    })
}

fn rebuild(
    e: &Expr,
    f: &dyn Fn(Var) -> Option<Expr>,
    argument: &mut dyn FnMut(&Expr) -> Result<Expr, Error>,
) -> Result<Expr, Error> {
    let mut constant = e.constant_term();
    let mut terms: SmallVec<[Term; 6]> = SmallVec::new();
    let mut changed = false;
    for term in e.terms() {
        let new = match &term.atom {
            Atom::Var(v) => match f(*v) {
                None => {
                    terms.push(term.clone());
                    continue;
                }
                Some(new) => new,
            },
            Atom::FloorDiv(inner, c) => {
                let new = argument(inner)?;
                if new == *inner {
                    terms.push(term.clone());
                    continue;
                }
                new.checked_floor_div(*c)?
            }
            Atom::Mod(inner, c) => {
                let new = argument(inner)?;
                if new == *inner {
                    terms.push(term.clone());
                    continue;
                }
                new.checked_modulo(*c)?
            }
        };
        changed = true;
        let scale = |v: i64| v.checked_mul(term.coefficient).ok_or(Error::overflow("a coefficient"));
        constant = constant.checked_add(scale(new.constant_term())?).ok_or(Error::overflow("a sum"))?;
        for t in new.terms() {
            terms.push(Term { coefficient: scale(t.coefficient)?, atom: t.atom.clone() });
        }
    }
    if changed { Expr::sum(constant, terms) } else { Ok(e.clone()) }
}
