//! Equations between the variables of a map and its results, and the laws by which they are solved.
//!
//! Two kinds of variables stand side by side in each equation: the unknown ones of the map, and the known ones, that is results
//! and runtime values. Everything that is added follows from what is there and from the domain, so that a solution is the
//! only one; see the laws at each function.

use std::collections::{BTreeMap, BTreeSet};

use weft_affine::{Atom, Expr, Interval, Ranges, Simplifier, Term, Var};

use super::canonical::canonical;
use crate::IndexingMap;
use crate::rational::common_divisor;

/// Equations that are kept at most; a map of rank five needs some forty.
const MAX_EQUATIONS: usize = 200;
/// Rounds of all laws over all equations.
const MAX_ROUNDS: usize = 24;
/// Values that are larger than this as trees are not worth having.
const MAX_SIZE: u64 = 2000;

/// `sum = 0`, or modulo `modulus` where that is not zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Equation {
    sum: Expr,
    modulus: i64,
}

/// Which laws to use.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Laws {
    /// Those that make few equations.
    Direct,
    /// Congruences for all remainders as well, of which few lead to anything.
    All,
}

/// An equation taken apart: the unknown terms add up to the known value, up to the modulus.
struct Split {
    unknown: Vec<Term>,
    value: Expr,
}

/// What is to be solved. Unknown variables are the dimensions and range variables of the map by their own names; results are
/// dimensions numbered after those.
pub(super) struct System {
    unknown_dims: u32,
    results: u32,
    equations: Vec<Equation>,
    seen: BTreeSet<Equation>,
    solved: BTreeMap<Var, Expr>,
    /// Known values of quotients and remainders of unknowns.
    atoms: BTreeMap<Atom, Expr>,
    simplifier: Simplifier,
}

impl System {
    /// The system of a map whose results lie in the dimensions of `image`; nothing where a number does not fit.
    pub(super) fn of(map: &IndexingMap, image: &Ranges) -> Option<System> {
        let unknown_dims = u32::try_from(map.dims.len()).ok()?;
        let results = u32::try_from(map.results.len()).ok()?;
        let mut ranges = map.variable_ranges();
        ranges.dims.extend(&image.dims);
        let mut system = System {
            unknown_dims,
            results,
            equations: Vec::new(),
            seen: BTreeSet::new(),
            solved: BTreeMap::new(),
            atoms: BTreeMap::new(),
            simplifier: Simplifier::new(&ranges, &map.constraints),
        };
        for (i, result) in (unknown_dims..).zip(&map.results) {
            system.add(result.checked_sub(&Expr::dim(i)).ok()?, 0);
        }
        // What an equality says of the domain.
        for constraint in &map.constraints {
            if let Some(value) = constraint.bounds.as_point() {
                system.add(constraint.expr.checked_add_constant(value.checked_neg()?).ok()?, 0);
            }
        }
        let dims = (0..).map(Var::Dim).zip(&map.dims);
        for (v, variable) in dims.chain((0..).map(Var::Range).zip(&map.ranges)) {
            if let Some(value) = variable.bounds.as_point() {
                system.solved.insert(v, Expr::constant(value));
            }
        }
        Some(system)
    }

    /// The unknown variables in terms of the results, as many as are found.
    pub(super) fn solve(mut self, laws: Laws) -> BTreeMap<Var, Expr> {
        for _ in 0..MAX_ROUNDS {
            let before = (self.seen.len(), self.solved.len(), self.atoms.len());
            let mut i = 0;
            while i < self.equations.len() && self.seen.len() < MAX_EQUATIONS {
                self.step(i, laws);
                i += 1;
            }
            if (self.seen.len(), self.solved.len(), self.atoms.len()) == before {
                break;
            }
        }
        let (first, end) = (self.unknown_dims, self.unknown_dims + self.results);
        let renamed = |v: Var| match v {
            Var::Dim(i) if (first..end).contains(&i) => Some(Expr::dim(i - first)),
            _ => None,
        };
        self.solved.iter().filter_map(|(v, e)| Some((*v, e.substitute(renamed).ok()?))).collect()
    }

    fn is_unknown(&self, v: Var) -> bool {
        match v {
            Var::Dim(i) => i < self.unknown_dims,
            Var::Range(_) => true,
            Var::Runtime(_) => false,
        }
    }

    fn has_unknown(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Var(v) => self.is_unknown(*v),
            _ => atom.argument().is_some_and(|e| e.variables().iter().any(|v| self.is_unknown(*v))),
        }
    }

    fn add(&mut self, sum: Expr, modulus: i64) {
        let Some(sum) = Some(sum).filter(|e| e.tree_size() <= MAX_SIZE).and_then(|e| canonical(&e)) else { return };
        let equation = Equation { sum, modulus };
        if self.seen.insert(equation.clone()) {
            self.equations.push(equation);
        }
    }

    /// Puts in what is known, and applies every law to one equation.
    fn step(&mut self, i: usize, laws: Laws) {
        let Some(equation) = self.equations.get(i).cloned() else { return };
        let Some(sum) = self.with_known(&equation.sum) else { return };
        let modulus = equation.modulus;
        self.equations[i] = Equation { sum: sum.clone(), modulus };
        let Some(split) = self.split(&sum) else { return };
        if split.unknown.is_empty() {
            return;
        }
        self.take_out_quotients(i, &sum, &split);
        self.put_in_digits(&sum, &split, modulus);
        if laws == Laws::All {
            self.reduce(&sum, &split, modulus);
        }
        self.eliminate(i, &split);
        self.divide(split, modulus);
    }

    /// The sum with solved variables and known quotients and remainders replaced by their values.
    fn with_known(&self, sum: &Expr) -> Option<Expr> {
        let mut sum = sum.substitute(|v| self.solved.get(&v).cloned()).ok()?;
        for term in sum.clone().terms() {
            let value = match self.atoms.get(&term.atom) {
                Some(value) => value.clone(),
                None => match self.remainder_of(&term.atom) {
                    Some(value) => value,
                    None => continue,
                },
            };
            let own = Expr::sum(0, [term.clone()]).ok()?;
            sum = sum.checked_sub(&own).ok()?.checked_add_scaled(&value, term.coefficient).ok()?;
        }
        canonical(&sum)
    }

    /// `x mod c`, where a congruence gives it.
    fn remainder_of(&self, atom: &Atom) -> Option<Expr> {
        match atom {
            Atom::Mod(x, c) if self.has_unknown(atom) => self.residue(x, *c),
            _ => None,
        }
    }

    /// The known value of `x mod c`: by a congruence `f = 0` modulo `m` and a factor `t` with `c` dividing `t*m`, where `x` and
    /// `t*f` differ, in their unknown terms, by multiples of `c`.
    fn residue(&self, x: &Expr, c: i64) -> Option<Expr> {
        let plain = self.residue_by_congruence(x, c);
        // f*(y mod m) and f*y are congruent modulo f*m.
        plain.or_else(|| {
            let mut wide = x.clone();
            for term in x.terms() {
                if let Atom::Mod(y, m) = &term.atom
                    && term.coefficient.checked_mul(*m)? % c == 0
                {
                    let own = Expr::sum(0, [term.clone()]).ok()?;
                    wide = wide.checked_sub(&own).ok()?.checked_add_scaled(y, term.coefficient).ok()?;
                }
            }
            if wide == *x { None } else { self.residue_by_congruence(&wide, c) }
        })
    }

    fn residue_by_congruence(&self, x: &Expr, c: i64) -> Option<Expr> {
        let leading = x.terms().iter().find(|t| self.has_unknown(&t.atom))?;
        self.equations.iter().find_map(|equation| {
            let same = equation.sum.terms().iter().find(|t| t.atom == leading.atom);
            let ratio =
                same.and_then(|t| leading.coefficient.checked_div(t.coefficient)).filter(|t| ![0, 1, -1].contains(t));
            [Some(1), Some(-1), ratio].into_iter().flatten().find_map(|factor| {
                if equation.modulus.checked_mul(factor)? % c != 0 {
                    return None;
                }
                let rest = x.checked_add_scaled(&equation.sum, factor.checked_neg()?).ok()?;
                let mut known = Vec::new();
                for term in rest.terms() {
                    if !self.has_unknown(&term.atom) {
                        known.push(term.clone());
                    } else if term.coefficient % c != 0 {
                        return None;
                    }
                }
                Expr::sum(rest.constant_term(), known).ok()?.checked_modulo(c).ok()
            })
        })
    }

    fn split(&self, sum: &Expr) -> Option<Split> {
        let (unknown, known): (Vec<Term>, Vec<Term>) =
            sum.terms().iter().cloned().partition(|t| self.has_unknown(&t.atom));
        let value = Expr::sum(sum.constant_term(), known).ok()?.checked_neg().ok()?;
        Some(Split { unknown, value })
    }

    /// Where `x mod c` is known, `x floordiv c` is `(x - x mod c) / c`: the equation times `c` needs no quotient.
    fn take_out_quotients(&mut self, i: usize, sum: &Expr, split: &Split) {
        for term in &split.unknown {
            let Atom::FloorDiv(x, c) = &term.atom else { continue };
            let Some(residue) = self.residue(x, *c) else { continue };
            let modulus = self.equations.get(i).map_or(0, |e| e.modulus);
            let made = || {
                let own = Expr::sum(0, [term.clone()]).ok()?;
                let scaled = sum.checked_sub(&own).ok()?.checked_mul(*c).ok()?;
                let multiple = x.checked_sub(&residue).ok()?.checked_mul(term.coefficient).ok()?;
                Some((scaled.checked_add(&multiple).ok()?, modulus.checked_mul(*c)?))
            };
            if let Some((sum, modulus)) = made() {
                self.add(sum, modulus);
            }
        }
    }

    /// Where a quotient or remainder of `x` by `c` stands beside a multiple of `x` itself, `x` is put in terms of both:
    /// `x = c * (x floordiv c) + x mod c`.
    fn put_in_digits(&mut self, sum: &Expr, split: &Split, modulus: i64) {
        for term in &split.unknown {
            let (Atom::FloorDiv(x, c) | Atom::Mod(x, c)) = &term.atom else { continue };
            let made = || {
                let leading = x.terms().iter().find(|t| self.has_unknown(&t.atom))?;
                let beside = split.unknown.iter().find(|t| t.atom == leading.atom)?;
                let factor = beside.coefficient.checked_div(leading.coefficient).filter(|k| *k != 0)?;
                let rest = sum.checked_add_scaled(x, factor.checked_neg()?).ok()?;
                let is_left = |t: &Term| rest.terms().iter().any(|own| own.atom == t.atom);
                if x.terms().iter().any(|t| self.has_unknown(&t.atom) && is_left(t)) {
                    return None;
                }
                let digits =
                    x.checked_floor_div(*c).ok()?.checked_mul(*c).ok()?.checked_add(&x.checked_modulo(*c).ok()?);
                rest.checked_add_scaled(&digits.ok()?, factor).ok()
            };
            if let Some(sum) = made() {
                self.add(sum, modulus);
            }
        }
    }

    /// Modulo `k*c` the term `k * (x mod c)` is `k * x`.
    fn reduce(&mut self, sum: &Expr, split: &Split, modulus: i64) {
        for term in &split.unknown {
            let Atom::Mod(x, c) = &term.atom else { continue };
            let made = || {
                let own = Expr::sum(0, [term.clone()]).ok()?;
                let wide = sum.checked_sub(&own).ok()?.checked_add_scaled(x, term.coefficient).ok()?;
                let modulus = common_divisor(modulus, c.checked_mul(term.coefficient)?)?;
                (modulus > 1).then_some((wide, modulus))
            };
            if let Some((sum, modulus)) = made() {
                self.add(sum, modulus);
            }
        }
    }

    /// Adds up two equations so that an unknown goes, where fewer are left than the longer one has.
    fn eliminate(&mut self, i: usize, split: &Split) {
        let Some(Equation { sum, modulus: 0 }) = self.equations.get(i).cloned() else { return };
        let mut made = Vec::new();
        for other in self.equations.iter().skip(i + 1).filter(|e| e.modulus == 0) {
            let Some(theirs) = self.split(&other.sum) else { continue };
            for term in &split.unknown {
                let Some(same) = theirs.unknown.iter().find(|t| t.atom == term.atom) else { continue };
                let (a, b) = (term.coefficient, same.coefficient);
                let Some(g) = common_divisor(a, b) else { continue };
                let difference = sum.checked_mul(b / g).and_then(|e| e.checked_add_scaled(&other.sum, -(a / g)));
                let Some(left) = difference.as_ref().ok().and_then(|e| self.split(e)) else { continue };
                if left.unknown.len() < split.unknown.len().max(theirs.unknown.len()) && !left.unknown.is_empty() {
                    made.extend(difference);
                }
            }
        }
        made.into_iter().for_each(|sum| self.add(sum, 0));
    }

    /// Divides by what all unknown terms are multiples of, turns congruences with few values into equations, and takes
    /// digits off.
    fn divide(&mut self, mut split: Split, mut modulus: i64) {
        let common = split.unknown.iter().try_fold(modulus, |g, t| common_divisor(g, t.coefficient));
        let Some(common) = common.filter(|g| *g > 0) else { return };
        if common > 1 {
            // The value is a multiple of it for every result that there is.
            let Ok(value) = split.value.checked_floor_div(common) else { return };
            split.value = value;
            split.unknown.iter_mut().for_each(|t| t.coefficient /= common);
            modulus /= common;
        }
        if modulus == 1 {
            return;
        }
        split.value = self.simplifier.simplify(&split.value);
        if split.value.tree_size() > MAX_SIZE {
            return;
        }
        let Some(range) = self.range(&split.unknown) else { return };
        if modulus > 0
            && range.size() <= u128::from(modulus.unsigned_abs())
            && let Some(value) = self.digit(&split.value, range.lo, modulus)
        {
            // So few values have different residues.
            (split.value, modulus) = (value, 0);
            self.add_split(&split.unknown, &split.value, modulus);
        }
        if modulus == 0
            && let [Term { coefficient: 1 | -1, .. }] = split.unknown[..]
        {
            return self.learn(split);
        }
        if common > 1 {
            self.add_split(&split.unknown, &split.value, modulus);
        }
        self.take_digits_off(split, modulus);
    }

    /// `low + g*high = value`, where `low` has at most `g` values: `low` is the digit of the value, and `high` the rest. Where
    /// the greatest term outweighs all others, whether or not it is a multiple, it is a quotient of the value.
    fn take_digits_off(&mut self, mut split: Split, modulus: i64) {
        split.unknown.sort_by_key(|t| t.coefficient.unsigned_abs());
        for n in 1..=split.unknown.len() {
            let (low, high) = split.unknown.split_at(n);
            let Some(g) = high.iter().try_fold(modulus, |g, t| common_divisor(g, t.coefficient)) else { return };
            let Some(range) = self.range(low) else { return };
            let (true, true) = (g > 1, range.size() <= u128::from(g.unsigned_abs())) else { continue };
            let Some(digit) = self.digit(&split.value, range.lo, g) else { return };
            self.add_split(low, &digit, 0);
            let Ok(rest) = split.value.checked_sub(&digit) else { return };
            self.add_split(high, &rest, modulus);
            return;
        }
        let Some((top, low)) = split.unknown.split_last() else { return };
        let Some(range) = self.range(low) else { return };
        let magnitude = top.coefficient.unsigned_abs();
        if modulus != 0 || low.is_empty() || range.size() > u128::from(magnitude) {
            return;
        }
        let quotient = || {
            let above = split.value.checked_add_constant(range.lo.checked_neg()?).ok()?;
            above.checked_floor_div(i64::try_from(magnitude).ok()?).ok()?.checked_mul(top.coefficient.signum()).ok()
        };
        if let Some(value) = quotient() {
            self.add_split(&[Term { coefficient: 1, ..top.clone() }], &value, 0);
        }
    }

    /// The one number from `lo` to `lo + g - 1` that is congruent to the value.
    fn digit(&mut self, value: &Expr, lo: i64, g: i64) -> Option<Expr> {
        let residue = value.checked_add_constant(lo.checked_neg()?).ok()?.checked_modulo(g).ok()?;
        Some(self.simplifier.simplify(&residue.checked_add_constant(lo).ok()?))
    }

    fn range(&mut self, terms: &[Term]) -> Option<Interval> {
        Some(self.simplifier.range_of(&Expr::sum(0, terms.iter().cloned()).ok()?)).filter(|r| !r.is_empty())
    }

    fn add_split(&mut self, unknown: &[Term], value: &Expr, modulus: i64) {
        let sum = Expr::sum(0, unknown.iter().cloned()).and_then(|sum| sum.checked_sub(value));
        if let Ok(sum) = sum {
            self.add(sum, modulus);
        }
    }

    /// A variable, quotient or remainder has become known. A quotient and a remainder say something of what they are of.
    fn learn(&mut self, split: Split) {
        let [Term { coefficient, atom }] = &split.unknown[..] else { return };
        let Ok(value) = split.value.checked_mul(*coefficient) else { return };
        let value = self.simplifier.simplify(&value);
        match atom {
            Atom::Var(v) => {
                self.solved.entry(*v).or_insert(value);
            }
            Atom::Mod(x, c) => {
                if let Ok(sum) = x.checked_sub(&value) {
                    self.add(sum, *c);
                }
                self.atoms.entry(atom.clone()).or_insert(value);
            }
            Atom::FloorDiv(x, c) => {
                // x = c * quotient + x mod c
                let sum =
                    x.checked_modulo(*c).and_then(|residue| x.checked_sub(&residue)?.checked_add_scaled(&value, -*c));
                if let Ok(sum) = sum {
                    self.add(sum, 0);
                }
                self.atoms.entry(atom.clone()).or_insert(value);
            }
        }
    }
}
