//! The atoms a search tries: divisions `x // m` of forms made from the numbers of the case.
//!
//! Up to a linear form `x mod m` is a multiple of `x // m`, a coefficient in `x` matters only modulo `m`, and common
//! factors can be divided out. So one fraction stands for many atoms, and [`super::realize`] picks among them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use weft_affine::{Atom, Expr, Term, Var};

use super::super::corpus::Case;
use super::Sample;
use super::field::{self, Residue};

/// Limits that keep one search within seconds.
const MAX_MODULI: usize = 16;
const MAX_RESIDUES: usize = 5;
const MAX_OFFSETS: usize = 12;
const MAX_INNER: usize = 40;
const MAX_FACTORS: usize = 24;
const MAX_FRACTIONS: usize = 60_000;

/// `x // modulus`, up to a linear form.
pub(super) struct Fraction {
    pub(super) x: Expr,
    pub(super) modulus: i64,
    pub(super) hash: Residue,
    /// No realization costs less.
    pub(super) bound: u64,
}

/// The numbers that occur in a case.
#[derive(Default)]
pub(super) struct Numbers {
    divisors: BTreeSet<i64>,
    coefficients: BTreeSet<i64>,
    constants: BTreeSet<i64>,
    by_variable: FxHashMap<Var, BTreeSet<i64>>,
    /// Coefficients of atoms, as they stand and times the divisor: the factors of fractions.
    factors: BTreeSet<i64>,
    atoms: BTreeSet<Atom>,
    /// The linear parts that stand beside an atom.
    beside: BTreeSet<Expr>,
}

impl Numbers {
    pub(super) fn of(case: &Case) -> Numbers {
        let mut numbers = Numbers::default();
        numbers.collect(&case.expr);
        for constraint in &case.constraints {
            numbers.collect(&constraint.expr);
        }
        for (_, bounds) in case.variables() {
            numbers.constants.extend([bounds.lo, bounds.hi].into_iter().filter(|v| v.unsigned_abs() < 1 << 30));
        }
        numbers
    }

    fn collect(&mut self, e: &Expr) {
        self.constants.insert(e.constant_term());
        let linear = e.terms().iter().filter(|t| matches!(t.atom, Atom::Var(_))).cloned();
        if let Ok(linear) = Expr::sum(0, linear) {
            self.beside.insert(linear);
        }
        for Term { coefficient, atom } in e.terms() {
            self.coefficients.insert(*coefficient);
            match atom {
                Atom::Var(v) => {
                    self.by_variable.entry(*v).or_default().insert(*coefficient);
                }
                Atom::FloorDiv(x, c) | Atom::Mod(x, c) => {
                    self.divisors.insert(*c);
                    self.factors
                        .extend([coefficient.saturating_abs(), coefficient.saturating_abs().saturating_mul(*c)]);
                    self.atoms.insert(atom.clone());
                    self.collect(x);
                }
            }
        }
    }

    /// Divisors to try: those of the case, then their quotients and common divisors, coefficients, and products.
    pub(super) fn moduli(&self) -> Vec<i64> {
        let seen: Vec<i64> = self.divisors.iter().copied().collect();
        let coefficients = self.coefficients.iter().map(|c| c.saturating_abs());
        let pairs = || seen.iter().flat_map(|a| seen.iter().map(move |b| (*a, *b)));
        let smaller = pairs().flat_map(|(a, b)| [if a % b == 0 { a / b } else { 1 }, gcd(a, b)]);
        let by_coefficient = coefficients.clone().flat_map(|k| {
            seen.iter().flat_map(move |c| [gcd(*c, k), if k > 0 && c % k == 0 { c / k } else { 1 }]).collect::<Vec<_>>()
        });
        let whole = seen.iter().fold(1, |product: i64, c| product.saturating_mul(*c));
        let products = std::iter::once(whole).chain(pairs().map(|(a, b)| a.saturating_mul(b)));
        let all = seen.iter().copied().chain(smaller).chain(by_coefficient).chain(coefficients).chain(products);
        distinct(all.filter(|m| (2..1 << 30).contains(m)), MAX_MODULI)
    }

    /// Factors of fractions to try, of either sign.
    pub(super) fn factors(&self) -> Vec<i64> {
        let base: Vec<i64> = std::iter::once(1).chain(self.factors.iter().copied()).chain(self.moduli()).collect();
        let divided = base.iter().flat_map(|a| self.divisors.iter().map(move |c| if a % c == 0 { a / c } else { 1 }));
        // Two atoms that are one fraction add up their factors.
        let differences = base.iter().flat_map(|a| base.iter().map(move |b| a - b));
        let all = base.iter().copied().chain(divided).chain(differences).filter(|f| (1..1 << 40).contains(f));
        distinct(all, MAX_FACTORS).into_iter().flat_map(|f| [f, -f]).collect()
    }

    fn residues(&self, v: Var, modulus: i64) -> Vec<i64> {
        let own = self.by_variable.get(&v).into_iter().flatten().copied();
        let divided =
            own.clone().flat_map(|k| self.coefficients.iter().map(move |c| if k % c == 0 { k / c } else { 1 }));
        let all = [0, 1].into_iter().chain(own.clone()).chain(own.map(|k| -k)).chain([-1]).chain(divided);
        distinct(all.map(|k| k.rem_euclid(modulus)), MAX_RESIDUES)
    }

    fn offsets(&self, modulus: i64, limit: usize) -> Vec<i64> {
        let own = || self.constants.iter().copied();
        let divided = own().flat_map(|k| self.coefficients.iter().map(move |c| k.div_euclid(c.abs())));
        let multiplied = own().flat_map(|k| self.divisors.iter().map(move |c| k.saturating_mul(*c)));
        let sums = own().flat_map(|a| own().map(move |b| a.saturating_add(b)));
        let all = [0, -1].into_iter().chain(own()).chain(divided).chain(multiplied).chain(sums);
        distinct(all.map(|k| k.rem_euclid(modulus)), limit)
    }
}

/// Every fraction to try, cheapest first; of those that are equal up to a linear form, the cheapest.
///
/// A fraction of hash zero is left out unless `flat` ones are wanted: those whose remainder is constant on the domain.
pub(super) fn fractions(numbers: &Numbers, sample: &Sample, flat: bool) -> Vec<Fraction> {
    let mut pool = Pool { sample, flat, found: FxHashMap::default() };
    for m in numbers.moduli() {
        for x in linear_forms(numbers, sample, m) {
            pool.add(&x, m);
        }
        for x in nested_forms(numbers, sample, m) {
            pool.add(&x, m);
        }
    }
    let mut all: Vec<Fraction> = pool.found.into_values().collect();
    all.sort_by(|a, b| (a.bound, a.modulus, &a.x).cmp(&(b.bound, b.modulus, &b.x)));
    all.truncate(MAX_FRACTIONS);
    all
}

/// Sums of all variables with residues of their coefficients, and an offset.
fn linear_forms(numbers: &Numbers, sample: &Sample, m: i64) -> Vec<Expr> {
    let mut forms: Vec<Expr> = vec![Expr::constant(0)];
    for v in &sample.variables {
        let residues = numbers.residues(*v, m);
        let grown = forms.iter().flat_map(|form| residues.iter().map(move |k| form + Expr::var(*v) * *k));
        forms = grown.take(MAX_FRACTIONS).collect();
    }
    with_offsets(forms, &numbers.offsets(m, MAX_OFFSETS))
}

/// Sums of one inner division or remainder and a linear part.
fn nested_forms(numbers: &Numbers, sample: &Sample, m: i64) -> Vec<Expr> {
    let small = numbers.moduli().into_iter().take(8);
    let seen = numbers.atoms.iter().flat_map(|atom| match atom {
        Atom::FloorDiv(x, c) | Atom::Mod(x, c) => vec![x.floor_div(*c), x.modulo(*c)],
        Atom::Var(v) => vec![Expr::var(*v)],
    });
    let parts = |v: Var, c: i64| [Expr::var(v).floor_div(c), Expr::var(v).modulo(c)];
    let digits = small.flat_map(|c| sample.variables.iter().flat_map(move |v| parts(*v, c)).collect::<Vec<_>>());
    let inner = distinct(seen.chain(digits), MAX_INNER);
    let factors = distinct([1, -1].into_iter().chain(numbers.coefficients.iter().copied()).map(|k| k.rem_euclid(m)), 5);
    let single = sample.variables.iter().flat_map(|v| numbers.residues(*v, m).into_iter().map(|k| Expr::var(*v) * k));
    let linear = distinct(numbers.beside.iter().cloned().chain([Expr::constant(0)]).chain(single), 12);
    let mut forms = Vec::new();
    for atom in &inner {
        for factor in factors.iter().filter(|f| **f != 0) {
            forms.extend(linear.iter().map(|rest| atom * *factor + rest));
        }
    }
    with_offsets(forms, &numbers.offsets(m, 4))
}

fn with_offsets(forms: Vec<Expr>, offsets: &[i64]) -> Vec<Expr> {
    forms.iter().flat_map(|form| offsets.iter().map(move |k| form + *k)).collect()
}

struct Pool<'a> {
    sample: &'a Sample,
    flat: bool,
    /// By hash; flat ones, whose hashes are all zero, by their values.
    found: FxHashMap<(Residue, Vec<i64>), Fraction>,
}

impl Pool<'_> {
    fn add(&mut self, x: &Expr, modulus: i64) {
        let common = x.terms().iter().fold(modulus, |g, t| gcd(g, t.coefficient));
        let (mut constant, mut terms) = (x.constant_term(), x.terms().to_vec());
        // (g·y + b) // (g·m) is (y + b // g) // m.
        let m = modulus / common;
        constant = constant.div_euclid(common).rem_euclid(m);
        terms.iter_mut().for_each(|t| t.coefficient = (t.coefficient / common).rem_euclid(m));
        terms.retain(|t| t.coefficient != 0);
        let Ok(x) = Expr::sum(constant, terms) else { return };
        if m < 2 || x.as_constant().is_some() {
            return;
        }
        let Some(column) = self.sample.column(&x) else { return };
        let quotients: Vec<i64> = column.iter().map(|v| v.div_euclid(m)).collect();
        let hash = field::hash(&quotients, &self.sample.weights);
        if hash == Residue::ZERO && !self.flat {
            return;
        }
        let key = (hash, if hash == Residue::ZERO { quotients } else { Vec::new() });
        let inner: u64 = x
            .terms()
            .iter()
            .map(|t| Expr::sum(0, [Term { coefficient: 1, ..t.clone() }]).map_or(1, |e| e.cost()))
            .sum();
        let bound = 20 + inner;
        let is_cheaper = self.found.get(&key).is_none_or(|f| (bound, m, &x) < (f.bound, f.modulus, &f.x));
        if is_cheaper {
            self.found.insert(key, Fraction { x, modulus: m, hash, bound });
        }
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// The first values without repetitions, as many as wanted.
fn distinct<T: Clone + Eq + std::hash::Hash>(values: impl IntoIterator<Item = T>, limit: usize) -> Vec<T> {
    let mut seen = rustc_hash::FxHashSet::default();
    values.into_iter().filter(|v| seen.insert(v.clone())).take(limit).collect()
}
