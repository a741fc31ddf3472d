//! The domain: bringing constraints to their plainest form, and what follows from them for bounds.

use std::collections::BTreeSet;

use weft_affine::{Atom, Constraint, Expr, Interval, Simplifier, Term, Var};

use crate::IndexingMap;

/// Narrowing may go on for long where bounds creep towards each other; more rounds than this are not worth it.
const ROUNDS: usize = 16;

impl IndexingMap {
    /// Simplifies constraints, bounds and results; true when something changed.
    ///
    /// The domain stays the same set of points, and the results keep their values on it. A map whose domain is found empty
    /// becomes known empty. Bounds of runtime variables stay, since they are part of what the variable means.
    pub fn simplify(&mut self) -> bool {
        let mut changed = false;
        // The domain does not depend on the results, so they are simplified once, over what is finally known.
        for _ in 0..ROUNDS {
            if self.is_undefined() || self.is_known_empty() {
                return changed;
            }
            if self.constraints.is_empty() || !self.simplify_domain() {
                break;
            }
            changed = true;
        }
        (!self.is_known_empty() && self.simplify_results()) || changed
    }

    fn simplify_results(&mut self) -> bool {
        let mut simplifier = Simplifier::new(&self.variable_ranges(), &self.constraints);
        let mut changed = false;
        let accesses = self.runtime.iter_mut().flat_map(|v| &mut v.access);
        for e in self.results.iter_mut().chain(accesses) {
            let simple = simplifier.simplify(e);
            changed |= simple != *e;
            *e = simple;
        }
        changed
    }

    /// Rewrites the constraints one after another, each with the help of all others as they stand then.
    fn simplify_domain(&mut self) -> bool {
        let before = (self.constraints.clone(), self.variable_ranges());
        let mut i = 0;
        while i < self.constraints.len() && !self.is_known_empty() {
            let constraint = self.constraints.remove(i);
            let mut simplifier = Simplifier::new(&self.variable_ranges(), &self.constraints);
            let simple = simplifier.simplify(&constraint.expr);
            let range = simplifier.range_of(&simple);
            if constraint.bounds.contains_interval(range) {
                continue;
            }
            if constraint.bounds.intersect(range).is_empty() {
                self.set_known_empty();
                continue;
            }
            let plain = plainest(Constraint::new(simple, constraint.bounds), &mut simplifier);
            self.narrow(&plain);
            let narrows = matches!(plain.expr.as_var(), Some(Var::Dim(_) | Var::Range(_)));
            if narrows || plain.expr.as_constant().is_some() {
                self.add_constraint(plain.expr, plain.bounds);
            } else {
                self.constraints.insert(i, plain);
                i += 1;
            }
        }
        self.merge_equal();
        self.merge_residues();
        if self.variable_ranges().has_empty() {
            self.set_known_empty();
        }
        before != (self.constraints.clone(), self.variable_ranges())
    }

    /// Bounds of variables that follow from one constraint: for a sum, each summand against the range of the others; for a
    /// residue, the first and last value of the class.
    fn narrow(&mut self, constraint: &Constraint) {
        if let (Some(Atom::Mod(x, c)), Some(r)) = (constraint.expr.as_atom(), constraint.bounds.as_point()) {
            self.narrow_to_class(x, *c, r);
        }
        for term in constraint.expr.terms() {
            let Atom::Var(v @ (Var::Dim(_) | Var::Range(_))) = term.atom else { continue };
            let variable = Expr::var(v);
            let Ok(rest) = variable.checked_mul(term.coefficient).and_then(|own| constraint.expr.checked_sub(&own))
            else {
                continue;
            };
            let others = weft_affine::range_of(&rest, &self.variable_ranges());
            let (bounds, a) = (constraint.bounds, i128::from(term.coefficient));
            // a·v lies in [bounds.lo − others.hi, bounds.hi − others.lo]; the ends of i64 are no bounds.
            let low =
                (bounds.lo != i64::MIN && others.hi != i64::MAX).then(|| i128::from(bounds.lo) - i128::from(others.hi));
            let high =
                (bounds.hi != i64::MAX && others.lo != i64::MIN).then(|| i128::from(bounds.hi) - i128::from(others.lo));
            let allowed = solved(low, high, a);
            if let Some(known) = self.variable_mut(v) {
                known.bounds = known.bounds.intersect(allowed);
            }
        }
    }

    /// `v + k ≡ r (mod c)` moves both bounds of `v` inwards to the class.
    fn narrow_to_class(&mut self, x: &Expr, c: i64, r: i64) {
        let [Term { coefficient: 1, atom: Atom::Var(v) }] = x.terms() else { return };
        let Some(residue) = r.checked_sub(x.constant_term()) else { return };
        let Some(known) = self.variable_mut(*v) else { return };
        let (lo, hi) = (i128::from(known.bounds.lo), i128::from(known.bounds.hi));
        if known.bounds.lo == i64::MIN || known.bounds.hi == i64::MAX {
            return;
        }
        let (residue, c) = (i128::from(residue), i128::from(c));
        let (lo, hi) = (lo + (residue - lo).rem_euclid(c), hi - (hi - residue).rem_euclid(c));
        known.bounds = match (i64::try_from(lo), i64::try_from(hi)) {
            (Ok(lo), Ok(hi)) if lo <= hi => Interval::new(lo, hi),
            _ => Interval::EMPTY,
        };
    }

    /// Constraints on one expression become one; then they are sorted, so that equal domains read alike.
    fn merge_equal(&mut self) {
        let all = std::mem::take(&mut self.constraints);
        for Constraint { expr, bounds } in all {
            self.add_constraint(expr, bounds);
        }
        self.constraints.sort();
    }

    /// `x ≡ r1 (mod c1)` and `x ≡ r2 (mod c2)` become one class modulo the least common multiple, or contradict.
    fn merge_residues(&mut self) {
        let mut i = 0;
        while i < self.constraints.len() {
            let later = self.constraints.get(i + 1..).unwrap_or_default();
            let merged = later
                .iter()
                .enumerate()
                .find_map(|(j, other)| Some((i + 1 + j, common_class(&self.constraints[i], other)?)));
            match merged {
                None => i += 1,
                Some((_, None)) => {
                    self.set_known_empty();
                    return;
                }
                Some((j, Some(class))) => {
                    self.constraints.remove(j);
                    self.constraints[i] = class;
                }
            }
        }
        self.constraints.sort();
    }

    /// Removes range and runtime variables that neither results nor constraints nor the accesses of used runtime variables
    /// mention, and renumbers the others. True when something was removed.
    ///
    /// The related elements stay the same: a range variable without a use only repeats them.
    pub fn remove_unused_symbols(&mut self) -> bool {
        if self.is_undefined() || self.is_known_empty() || self.variable_ranges().has_empty() {
            return false;
        }
        let mut used: BTreeSet<Var> = BTreeSet::new();
        for e in self.results.iter().chain(self.constraints.iter().map(|c| &c.expr)) {
            used.extend(e.variables());
        }
        // An access mentions only variables before its own, so one backward pass finds every use.
        let numbered: Vec<_> = (0..).map(Var::Runtime).zip(&self.runtime).collect();
        for (v, variable) in numbered.into_iter().rev() {
            if used.contains(&v) {
                used.extend(variable.access.iter().flat_map(Expr::variables));
            }
        }
        let kept =
            |kind: fn(u32) -> Var, n: usize| -> Vec<bool> { (0..).take(n).map(|i| used.contains(&kind(i))).collect() };
        let ranges = kept(Var::Range, self.ranges.len());
        let runtime = kept(Var::Runtime, self.runtime.len());
        if ranges.iter().chain(&runtime).all(|k| *k) {
            return false;
        }
        // Nothing for a variable that the map does not have: it keeps its number.
        let position = |flags: &[bool], i: u32| {
            let before = flags.get(..usize::try_from(i).ok()?).filter(|_| i as usize != flags.len())?;
            u32::try_from(before.iter().filter(|keep| **keep).count()).ok()
        };
        let renamed = |v: Var| match v {
            Var::Dim(_) => None,
            Var::Range(i) => position(&ranges, i).map(Expr::range),
            Var::Runtime(i) => position(&runtime, i).map(Expr::runtime),
        };
        retain(&mut self.ranges, &ranges);
        retain(&mut self.runtime, &runtime);
        let constraints = self.constraints.iter_mut().map(|c| &mut c.expr);
        let accesses = self.runtime.iter_mut().flat_map(|v| &mut v.access);
        for e in self.results.iter_mut().chain(constraints).chain(accesses) {
            *e = e.substitute(renamed).expect("renaming variables one to one changes no coefficient");
        }
        true
    }
}

fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
    let mut flags = keep.iter();
    list.retain(|_| flags.next().copied().unwrap_or(true));
}

/// The least and greatest `x` with `low ≤ a·x ≤ high`, where a missing end is no bound.
fn ends(low: Option<i128>, high: Option<i128>, a: i128) -> (Option<i128>, Option<i128>) {
    let floor = |n: i128| if a > 0 { n.div_euclid(a) } else { (-n).div_euclid(-a) };
    let ceil = |n: i128| -(if a > 0 { (-n).div_euclid(a) } else { n.div_euclid(-a) });
    if a > 0 { (low.map(ceil), high.map(floor)) } else { (high.map(ceil), low.map(floor)) }
}

/// Bounds that hold of every `x` with `low ≤ a·x ≤ high`.
fn solved(low: Option<i128>, high: Option<i128>, a: i128) -> Interval {
    let (low, high) = ends(low, high, a);
    // A bound beyond i64 is either no bound, or nothing satisfies it; the former is always safe to claim.
    let low = low.and_then(|n| i64::try_from(n).ok()).unwrap_or(i64::MIN);
    let high = high.and_then(|n| i64::try_from(n).ok()).unwrap_or(i64::MAX);
    Interval::new(low, high)
}

/// Takes a constraint apart as far as its side can be undone: constants, factors, floor divisions, and summands that do
/// not matter.
fn plainest(mut constraint: Constraint, simplifier: &mut Simplifier) -> Constraint {
    loop {
        let next = without_factor(&constraint)
            .or_else(|| without_division(&constraint))
            .or_else(|| without_small_part(&constraint, simplifier));
        match next {
            Some(plainer) => constraint = plainer,
            None => {
                if let Some(Atom::Mod(_, c)) = constraint.expr.as_atom() {
                    constraint.bounds = constraint.bounds.intersect(Interval::new(0, c - 1));
                }
                return constraint;
            }
        }
    }
}

/// `l ≤ a·x + k ≤ h` is `⌈(l − k)/a⌉ ≤ x ≤ ⌊(h − k)/a⌋` for positive `a`, and the reverse for negative.
fn without_factor(constraint: &Constraint) -> Option<Constraint> {
    let e = &constraint.expr;
    let first = e.terms().first()?;
    let divisor = e.terms().iter().fold(0u64, |g, t| gcd(g, t.coefficient.unsigned_abs()));
    let magnitude = i64::try_from(divisor).ok()?;
    let a = if first.coefficient < 0 { -magnitude } else { magnitude };
    if a == 1 && e.constant_term() == 0 {
        return None;
    }
    let k = i128::from(e.constant_term());
    let low = (constraint.bounds.lo != i64::MIN).then(|| i128::from(constraint.bounds.lo) - k);
    let high = (constraint.bounds.hi != i64::MAX).then(|| i128::from(constraint.bounds.hi) - k);
    let terms =
        e.terms().iter().map(|t| Some(Term { coefficient: t.coefficient.checked_div(a)?, atom: t.atom.clone() }));
    let x = Expr::sum(0, terms.collect::<Option<Vec<Term>>>()?).ok()?;
    Some(Constraint::new(x, exactly_solved(low, high, a)?))
}

/// As [`solved`], but nothing where an end does not fit: an exact rewrite may not lose a bound.
fn exactly_solved(low: Option<i128>, high: Option<i128>, a: i64) -> Option<Interval> {
    let (low, high) = ends(low, high, i128::from(a));
    let fitting = |end: Option<i128>, open: i64| end.map_or(Some(open), |n| i64::try_from(n).ok());
    Some(Interval::new(fitting(low, i64::MIN)?, fitting(high, i64::MAX)?))
}

/// `l ≤ x // c ≤ h` is `c·l ≤ x ≤ c·h + c − 1`.
fn without_division(constraint: &Constraint) -> Option<Constraint> {
    let Some(Atom::FloorDiv(x, c)) = constraint.expr.as_atom() else { return None };
    let Interval { lo, hi } = constraint.bounds;
    let lo = if lo == i64::MIN { lo } else { lo.checked_mul(*c)? };
    let hi = if hi == i64::MAX { hi } else { hi.checked_mul(*c)?.checked_add(c - 1)? };
    Some(Constraint::new(x.clone(), Interval::new(lo, hi)))
}

/// `l ≤ g·y + b ≤ h` bounds `y` alone, where `⌈(l − b)/g⌉` and `⌊(h − b)/g⌋` are the same for every value of `b`.
fn without_small_part(constraint: &Constraint, simplifier: &mut Simplifier) -> Option<Constraint> {
    let e = &constraint.expr;
    let mut factors: Vec<i64> =
        e.terms().iter().filter_map(|t| t.coefficient.checked_abs()).filter(|g| *g > 1).collect();
    factors.sort_unstable_by(|a, b| b.cmp(a));
    factors.dedup();
    for g in factors {
        let (multiples, rest): (Vec<Term>, Vec<Term>) = e.terms().iter().cloned().partition(|t| t.coefficient % g == 0);
        let rest = Expr::sum(e.constant_term(), rest).ok()?;
        if rest.as_constant().is_some() {
            continue;
        }
        let b = simplifier.range_of(&rest);
        let wide = i128::from(g);
        let floor = |n: i128| n.div_euclid(wide);
        let (b_lo, b_hi) = (i128::from(b.lo), i128::from(b.hi));
        // ⌈n/g⌉ = ⌊(n + g − 1)/g⌋.
        let low = |b: i128| floor(i128::from(constraint.bounds.lo) - b + wide - 1);
        let high = |b: i128| floor(i128::from(constraint.bounds.hi) - b);
        let unbounded_below = constraint.bounds.lo == i64::MIN;
        let unbounded_above = constraint.bounds.hi == i64::MAX;
        let b_is_bounded = b.lo != i64::MIN && b.hi != i64::MAX;
        if b.is_empty()
            || !b_is_bounded
            || (!unbounded_below && low(b_lo) != low(b_hi))
            || (!unbounded_above && high(b_lo) != high(b_hi))
        {
            continue;
        }
        let lo = if unbounded_below { i64::MIN } else { i64::try_from(low(b_lo)).ok()? };
        let hi = if unbounded_above { i64::MAX } else { i64::try_from(high(b_lo)).ok()? };
        let y = multiples.into_iter().map(|t| Term { coefficient: t.coefficient / g, atom: t.atom });
        return Some(Constraint::new(Expr::sum(0, y).ok()?, Interval::new(lo, hi)));
    }
    None
}

/// The class that two residues of one sum leave: nothing when they are not about one sum, `Some(None)` when they
/// contradict.
fn common_class(a: &Constraint, b: &Constraint) -> Option<Option<Constraint>> {
    let (x, c1, r1) = residue(a)?;
    let (y, c2, r2) = residue(b)?;
    if x != y {
        return None;
    }
    let (c1, c2, r1, r2) = (i128::from(c1), i128::from(c2), i128::from(r1), i128::from(r2));
    let (g, p, _) = bezout(c1, c2);
    if (r2 - r1) % g != 0 {
        return Some(None);
    }
    // x = r1 + c1·t with c1·t ≡ r2 − r1 (mod c2), so t = ((r2 − r1)/g)·p modulo c2/g, where p·c1 ≡ g (mod c2).
    let t = ((r2 - r1) / g % (c2 / g) * (p % (c2 / g))).rem_euclid(c2 / g);
    let common = i64::try_from(c1 / g * c2).ok()?;
    let r = i64::try_from((r1 + c1 * t).rem_euclid(i128::from(common))).ok()?;
    let expr = x.checked_modulo(common).ok()?;
    Some(Some(Constraint::new(expr, Interval::point(r))))
}

/// `(x without constant, c, r)` of a constraint `(x + k) mod c in [r + k, r + k]`.
fn residue(constraint: &Constraint) -> Option<(Expr, i64, i64)> {
    let Some(Atom::Mod(x, c)) = constraint.expr.as_atom() else { return None };
    let r = constraint.bounds.as_point().filter(|r| (0..*c).contains(r))?;
    let linear = x.checked_add_constant(x.constant_term().checked_neg()?).ok()?;
    Some((linear, *c, r.checked_sub(x.constant_term())?.rem_euclid(*c)))
}

/// `(g, p, q)` with `g = gcd(a, b) = p·a + q·b`.
fn bezout(a: i128, b: i128) -> (i128, i128, i128) {
    let (mut old, mut new) = ((a, 1, 0), (b, 0, 1));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1, old.2 - quotient * new.2));
    }
    old
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
