//! Range analysis: which values an expression can take, given ranges of its variables and facts about parts of it.
//!
//! Linear cancellation comes for free, since sums are canonical. Beyond that the analysis knows three things that plain
//! interval arithmetic does not: `x // c` and `x mod c` of one `x` move together, a sum of multiples of `g` stays in one
//! residue class, and a constraint bounds every expression that differs from it by a constant or a factor.

use rustc_hash::FxHashMap;

use crate::expr::postorder_past;
use crate::interval::gcd;
use crate::{Atom, Expr, Interval, Term, Var};

/// The bounds of the variables, by number. A variable without an entry may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranges {
    /// Bounds of `d0, d1, …`.
    pub dims: Vec<Interval>,
    /// Bounds of `s0, s1, …`.
    pub ranges: Vec<Interval>,
    /// Bounds of `rt0, rt1, …`.
    pub runtime: Vec<Interval>,
}

impl Ranges {
    /// Dimension variables with the given bounds and nothing else.
    pub fn of_dims(dims: impl IntoIterator<Item = Interval>) -> Ranges {
        Ranges { dims: dims.into_iter().collect(), ..Ranges::default() }
    }

    /// The bounds of `v`.
    pub fn get(&self, v: Var) -> Interval {
        let (list, i) = match v {
            Var::Dim(i) => (&self.dims, i),
            Var::Range(i) => (&self.ranges, i),
            Var::Runtime(i) => (&self.runtime, i),
        };
        usize::try_from(i).ok().and_then(|i| list.get(i)).copied().unwrap_or(Interval::EVERYTHING)
    }

    /// The bounds of `v`, to be changed, where there are any.
    pub fn get_mut(&mut self, v: Var) -> Option<&mut Interval> {
        let (list, i) = match v {
            Var::Dim(i) => (&mut self.dims, i),
            Var::Range(i) => (&mut self.ranges, i),
            Var::Runtime(i) => (&mut self.runtime, i),
        };
        usize::try_from(i).ok().and_then(|i| list.get_mut(i))
    }

    /// True when some variable has no value at all, so that every claim about the domain holds.
    pub fn has_empty(&self) -> bool {
        [&self.dims, &self.ranges, &self.runtime].into_iter().flatten().any(|i| i.is_empty())
    }
}

/// A fact about the domain: the value of `expr` lies in `bounds`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Constraint {
    /// The bounded expression.
    pub expr: Expr,
    /// The values it may have.
    pub bounds: Interval,
}

impl Constraint {
    /// `expr in bounds`.
    pub fn new(expr: Expr, bounds: Interval) -> Constraint {
        Constraint { expr, bounds }
    }
}

/// An interval that holds every value `expr` takes where the variables stay within `ranges`.
///
/// Sound always; exact for linear expressions and for many with divisions.
pub fn range_of(expr: &Expr, ranges: &Ranges) -> Interval {
    Analysis::new(ranges, &[]).range(expr)
}

/// The set `residue + modulus · k`; modulus zero means the single value, one means every integer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Congruence {
    pub(crate) modulus: u64,
    pub(crate) residue: i64,
}

impl Congruence {
    const ANY: Congruence = Congruence { modulus: 1, residue: 0 };
}

/// Ranges and residues of expressions over one domain, remembered by structural hash.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    ranges: Ranges,
    /// Bounds of sums, keyed by the sum without constant and divided by its leading factor.
    bounded: FxHashMap<u128, Interval>,
    /// Known residues of sums without their constant.
    residues: FxHashMap<u128, Congruence>,
    range_memo: FxHashMap<u128, Interval>,
}

/// Chains deeper than this are walked from the bottom, so that the recursion below stays shallow.
const DEEP: u32 = 48;

impl Analysis {
    pub(crate) fn new(ranges: &Ranges, constraints: &[Constraint]) -> Analysis {
        let mut analysis = Analysis {
            ranges: ranges.clone(),
            bounded: FxHashMap::default(),
            residues: FxHashMap::default(),
            range_memo: FxHashMap::default(),
        };
        for constraint in constraints {
            analysis.learn(constraint);
        }
        analysis
    }

    pub(crate) fn has_facts(&self) -> bool {
        !self.bounded.is_empty() || !self.residues.is_empty()
    }

    fn learn(&mut self, constraint: &Constraint) {
        let bounds = constraint.bounds;
        if bounds.is_empty() {
            return;
        }
        if let Some((key, factor)) = primitive(&constraint.expr) {
            let scaled = solve(bounds, factor, constraint.expr.constant_term());
            let known = self.bounded.entry(key).or_insert(Interval::EVERYTHING);
            *known = known.intersect(scaled);
        }
        if let (Some(Atom::Mod(inner, c)), Some(r)) = (constraint.expr.as_atom(), bounds.as_point())
            && (0..*c).contains(&r)
            && let Some(residue) = r.checked_sub(inner.constant_term())
        {
            let linear = inner.without_constant();
            let key = linear.structural_hash();
            if let Some(bounds) = linear.as_var().and_then(|v| self.ranges.get_mut(v)) {
                *bounds = within_class(*bounds, *c, residue);
            }
            let known = Congruence { modulus: c.unsigned_abs(), residue: residue.rem_euclid(*c) };
            // Of two residues of one sum the one of the greater modulus says more in practice.
            let slot = self.residues.entry(key).or_insert(known);
            if slot.modulus < known.modulus {
                *slot = known;
            }
        }
    }

    /// The known residue of a sum without constant, where a constraint gives one.
    pub(crate) fn known_residue(&self, linear: &Expr) -> Option<Congruence> {
        if self.residues.is_empty() { None } else { self.residues.get(&linear.structural_hash()).copied() }
    }

    /// The range of `e`.
    pub(crate) fn range(&mut self, e: &Expr) -> Interval {
        if e.depth() > DEEP {
            for node in postorder_past([e], |hash| self.range_memo.contains_key(&hash)) {
                self.range_shallow(&node);
            }
        }
        self.range_shallow(e)
    }

    fn range_shallow(&mut self, e: &Expr) -> Interval {
        if let Some(value) = e.as_constant() {
            return Interval::point(value);
        }
        if e.is_linear() && !self.has_facts() {
            return self.plain_sum(e);
        }
        let key = e.structural_hash();
        if let Some(&known) = self.range_memo.get(&key) {
            return known;
        }
        let mut found = self.correlated_sum(e);
        if let Some(bound) = self.fact_about(e) {
            let both = found.intersect(bound);
            // Contradicting facts mean that the domain is empty; then any claim holds and the wider one is harmless.
            if !both.is_empty() {
                found = both;
            }
        }
        self.range_memo.insert(key, found);
        found
    }

    fn fact_about(&self, e: &Expr) -> Option<Interval> {
        if self.bounded.is_empty() {
            return None;
        }
        let (key, factor) = primitive(e)?;
        let bound = *self.bounded.get(&key)?;
        (!bound.is_empty()).then(|| bound.scale(factor) + Interval::point(e.constant_term()))
    }

    fn plain_sum(&mut self, e: &Expr) -> Interval {
        let mut total = Total::new(e.constant_term());
        for term in e.terms() {
            let range = self.atom(&term.atom);
            total.add(term.coefficient, range);
        }
        total.finish()
    }

    /// As [`Analysis::plain_sum`], but takes `a·(x // c)` together with `b·(x mod c)` or with `b·x`, whichever is there.
    fn correlated_sum(&mut self, e: &Expr) -> Interval {
        let plain = self.plain_sum(e);
        let divisions = e.terms().iter().filter(|t| matches!(t.atom, Atom::FloorDiv(..))).count();
        if divisions == 0 || e.terms().len() < 2 || e.terms().len() > 32 {
            return plain;
        }
        let mut total = Total::new(e.constant_term());
        let mut rest: Vec<Option<&Term>> = e.terms().iter().map(Some).collect();
        for i in 0..rest.len() {
            let Some(Term { coefficient: a, atom: Atom::FloorDiv(x, c) }) = rest[i] else { continue };
            let remainder =
                rest.iter().position(|t| matches!(t, Some(Term { atom: Atom::Mod(y, d), .. }) if y == x && d == c));
            if let Some(j) = remainder
                && let Some(Term { coefficient: b, .. }) = rest[j]
            {
                let range = self.range_shallow(x);
                total.add_split(*a, *b, *c, range);
                (rest[i], rest[j]) = (None, None);
            } else if let Some(b) = multiple_of(x, &rest, i)
                && let Some(joint) = i64::try_from(i128::from(*a) + i128::from(b) * i128::from(*c)).ok()
                && let Some(shift) = b.checked_mul(x.constant_term())
            {
                // a·(x // c) + b·(x − k) = (a + b·c)·(x // c) + b·(x mod c) − b·k.
                let range = self.range_shallow(x);
                total.add_split(joint, b, *c, range);
                total.add_exact(Some(-i128::from(shift)), Some(-i128::from(shift)));
                for term in x.terms() {
                    if let Some(slot) = rest.iter_mut().find(|t| matches!(t, Some(t) if t.atom == term.atom)) {
                        *slot = None;
                    }
                }
                rest[i] = None;
            }
        }
        for term in rest.into_iter().flatten() {
            let range = self.atom(&term.atom);
            total.add(term.coefficient, range);
        }
        let joint = total.finish().intersect(plain);
        if joint.is_empty() { plain } else { joint }
    }

    fn atom(&mut self, atom: &Atom) -> Interval {
        match atom {
            Atom::Var(v) => {
                let declared = self.ranges.get(*v);
                if self.bounded.is_empty() {
                    return declared;
                }
                let key = Expr::var(*v).structural_hash();
                match self.bounded.get(&key) {
                    Some(b) if !declared.intersect(*b).is_empty() => declared.intersect(*b),
                    _ => declared,
                }
            }
            Atom::FloorDiv(inner, c) => {
                let divided = self.range_shallow(inner).floor_div(*c);
                self.refine(atom, divided)
            }
            Atom::Mod(inner, c) => {
                let range = self.range_shallow(inner).modulo(*c);
                let by_residue = self.modulo_by_residue(inner, *c);
                let both = range.intersect(by_residue);
                let known = if both.is_empty() { range } else { both };
                self.refine(atom, known)
            }
        }
    }

    fn refine(&self, atom: &Atom, known: Interval) -> Interval {
        if self.bounded.is_empty() {
            return known;
        }
        match self.fact_about(&Expr::from_atom(atom.clone())) {
            Some(bound) if !known.intersect(bound).is_empty() => known.intersect(bound),
            _ => known,
        }
    }

    /// `x ≡ r (mod g)` leaves of `x mod c` only the values `r, r + g', …` with `g' = gcd(g, c)`.
    fn modulo_by_residue(&mut self, inner: &Expr, c: i64) -> Interval {
        let whole = Interval::new(0, c - 1);
        let class = self.congruence(inner);
        let step = gcd(class.modulus, c.unsigned_abs());
        let Ok(step) = i64::try_from(step) else { return whole };
        let least = class.residue.rem_euclid(step);
        Interval::new(least, c - step + least)
    }

    /// A residue class that holds every value of `e`.
    pub(crate) fn congruence(&mut self, e: &Expr) -> Congruence {
        let mut class = Congruence { modulus: 0, residue: 0 };
        if let Some(known) = self.known_residue(&e.without_constant()) {
            class = known;
        } else {
            for term in e.terms() {
                let one = self.atom_congruence(&term.atom);
                let Some(modulus) = one.modulus.checked_mul(term.coefficient.unsigned_abs()) else {
                    return Congruence::ANY;
                };
                let Some(residue) =
                    one.residue.checked_mul(term.coefficient).and_then(|r| r.checked_add(class.residue))
                else {
                    return Congruence::ANY;
                };
                class = Congruence { modulus: gcd(class.modulus, modulus), residue };
            }
        }
        let Some(residue) = class.residue.checked_add(e.constant_term()) else { return Congruence::ANY };
        Congruence { residue, ..class }
    }

    fn atom_congruence(&mut self, atom: &Atom) -> Congruence {
        match atom {
            Atom::Var(v) => match self.ranges.get(*v).as_point() {
                Some(value) => Congruence { modulus: 0, residue: value },
                None => self.known_residue(&Expr::var(*v)).unwrap_or(Congruence::ANY),
            },
            Atom::FloorDiv(..) => Congruence::ANY,
            // Residues are not remembered, so a few levels are all that is looked at.
            Atom::Mod(inner, c) if inner.depth() <= 2 => {
                let class = self.congruence(inner);
                let modulus = gcd(class.modulus, c.unsigned_abs());
                Congruence { modulus, residue: class.residue.rem_euclid(*c) }
            }
            Atom::Mod(..) => Congruence::ANY,
        }
    }
}

/// The hash of the sum without constant, divided by the greatest common divisor of its coefficients and by the sign of
/// the first, and that factor.
pub(crate) fn primitive(e: &Expr) -> Option<(u128, i64)> {
    let first = e.terms().first()?;
    let divisor = e.terms().iter().fold(0, |g, t| gcd(g, t.coefficient.unsigned_abs()));
    let magnitude = i64::try_from(divisor).ok()?;
    let factor = if first.coefficient < 0 { -magnitude } else { magnitude };
    if factor == 1 {
        return Some((e.without_constant().structural_hash(), 1));
    }
    let mut terms = e.terms().to_vec();
    for term in &mut terms {
        term.coefficient = term.coefficient.checked_div(factor)?;
    }
    Some((Expr::from_sorted(0, terms).structural_hash(), factor))
}

/// The `x` with `factor·x + constant` in `bounds`. The ends of `i64` stay ends: they are no bounds.
pub(crate) fn solve(bounds: Interval, factor: i64, constant: i64) -> Interval {
    let (f, k) = (i128::from(factor), i128::from(constant));
    let below = |v: i64| (v != i64::MIN).then(|| i128::from(v) - k);
    let above = |v: i64| (v != i64::MAX).then(|| i128::from(v) - k);
    let floor = |n: i128, d: i128| if d > 0 { n.div_euclid(d) } else { (-n).div_euclid(-d) };
    let ceil = |n: i128, d: i128| -floor(-n, d);
    let (lo, hi) = (below(bounds.lo), above(bounds.hi));
    let (lo, hi) = match factor {
        0 => return Interval::EVERYTHING,
        1.. => (lo.map(|n| ceil(n, f)), hi.map(|n| floor(n, f))),
        _ => (hi.map(|n| ceil(n, f)), lo.map(|n| floor(n, f))),
    };
    // An end beyond i64 says nothing about x that could be kept, since the ends of i64 mean "no bound".
    let kept = |n: Option<i128>| n.map_or(Ok(None), |n| i64::try_from(n).map(Some));
    match (kept(lo), kept(hi)) {
        (Ok(lo), Ok(hi)) => Interval::new(lo.unwrap_or(i64::MIN), hi.unwrap_or(i64::MAX)),
        _ => Interval::EVERYTHING,
    }
}

/// The bounds moved inwards to the first and last value of a residue class; unchanged where there is none.
fn within_class(bounds: Interval, c: i64, residue: i64) -> Interval {
    let (lo, hi) = (i128::from(bounds.lo), i128::from(bounds.hi));
    let (c, residue) = (i128::from(c), i128::from(residue));
    let inner = (lo + (residue - lo).rem_euclid(c), hi - (hi - residue).rem_euclid(c));
    let unbounded = bounds.lo == i64::MIN || bounds.hi == i64::MAX;
    if unbounded || inner.0 > inner.1 { bounds } else { Interval::of_ends(Some(inner.0), Some(inner.1)) }
}

/// The factor `b` such that `rest` contains `b` times each term of `x`, looking past the term at `skip`.
fn multiple_of(x: &Expr, rest: &[Option<&Term>], skip: usize) -> Option<i64> {
    let mut factor = None;
    for term in x.terms() {
        let other = rest.iter().enumerate().find_map(|(i, t)| match t {
            Some(t) if i != skip && t.atom == term.atom => Some(t.coefficient),
            _ => None,
        })?;
        let ratio = other.checked_div(term.coefficient)?;
        if ratio.checked_mul(term.coefficient)? != other || *factor.get_or_insert(ratio) != ratio {
            return None;
        }
    }
    factor
}

/// The exact range of `a·(x // c) + b·(x mod c)` for `x` in the interval: linear in quotient and remainder, so the
/// extremes lie at the corners of the first, the middle and the last block of `c` values.
fn split_range(a: i64, b: i64, c: i64, x: Interval) -> (i128, i128) {
    let (first, last) = (x.lo.div_euclid(c), x.hi.div_euclid(c));
    let value = |q: i64, r: i64| i128::from(a) * i128::from(q) + i128::from(b) * i128::from(r);
    let (low, high) = (x.lo.rem_euclid(c), x.hi.rem_euclid(c));
    let mut corners = vec![value(first, low), value(last, high)];
    if first != last {
        corners.extend([value(first, c - 1), value(last, 0)]);
        if last.saturating_sub(first) >= 2 {
            for q in [first + 1, last - 1] {
                corners.extend([value(q, 0), value(q, c - 1)]);
            }
        }
    }
    let lo = corners.iter().copied().min().unwrap_or(0);
    let hi = corners.iter().copied().max().unwrap_or(0);
    (lo, hi)
}

/// A sum of ranges kept exact until the end; an end without bound, or beyond `i128`, is missing.
struct Total {
    lo: Option<i128>,
    hi: Option<i128>,
}

impl Total {
    fn new(constant: i64) -> Total {
        Total { lo: Some(i128::from(constant)), hi: Some(i128::from(constant)) }
    }

    fn add(&mut self, coefficient: i64, range: Interval) {
        let scaled = |end: Option<i128>| end.map(|v| v * i128::from(coefficient));
        let (low, high) = (scaled(range.bound_below()), scaled(range.bound_above()));
        match coefficient {
            0 => {}
            1.. => self.add_exact(low, high),
            _ => self.add_exact(high, low),
        }
    }

    /// Adds `a·(x // c) + b·(x mod c)`.
    fn add_split(&mut self, a: i64, b: i64, c: i64, x: Interval) {
        if x.bound_below().is_some() && x.bound_above().is_some() {
            let (lo, hi) = split_range(a, b, c, x);
            self.add_exact(Some(lo), Some(hi));
        } else {
            self.add(a, x.floor_div(c));
            self.add(b, x.modulo(c));
        }
    }

    fn add_exact(&mut self, lo: Option<i128>, hi: Option<i128>) {
        let plus = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        (self.lo, self.hi) = (plus(self.lo, lo), plus(self.hi, hi));
    }

    fn finish(self) -> Interval {
        Interval::of_ends(self.lo, self.hi)
    }
}
