//! The number of points of a domain.
//!
//! Groups of variables that no constraint connects are counted apart and multiplied. Within a group an equality eliminates
//! a variable, a bounded sum of two variables is counted as lattice points under a line, and where all constraints repeat
//! with a period in a variable, its residue classes are counted once each. What is left is split by the values of its
//! narrowest variable, or enumerated.

mod eliminate;
mod lattice;
mod period;

use std::collections::BTreeSet;
use std::fmt;

use weft_affine::{Constraint, Expr, Interval, Simplifier, Var};

use crate::domain_set::fits;
use crate::{IndexingMap, Limits, Unknown, Variable};

/// A case of a variable costs as much as so many points: its domain is simplified again.
const POINTS_PER_CASE: u64 = 16;

/// The number of points of a domain, exactly or within bounds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Cardinality {
    /// The exact number of points.
    Exactly(u128),
    /// Bounds on the number of points.
    Between {
        /// A lower bound.
        at_least: u128,
        /// An upper bound; saturates.
        at_most: u128,
        /// Why there is no exact number.
        reason: Unknown,
    },
}

impl Cardinality {
    /// The number, where it is known.
    pub fn exact(self) -> Option<u128> {
        match self {
            Cardinality::Exactly(n) => Some(n),
            Cardinality::Between { .. } => None,
        }
    }

    /// The least and the greatest number that it can be.
    pub fn bounds(self) -> (u128, u128) {
        match self {
            Cardinality::Exactly(n) => (n, n),
            Cardinality::Between { at_least, at_most, .. } => (at_least, at_most),
        }
    }

    /// The number of both where they have no point in common.
    pub(crate) fn plus(self, other: Cardinality) -> Cardinality {
        let ((a, b), (c, d)) = (self.bounds(), other.bounds());
        let reason = match (self, other) {
            (Cardinality::Between { reason, .. }, _) | (_, Cardinality::Between { reason, .. }) => reason,
            _ if a.checked_add(c).is_some() => return Cardinality::Exactly(a + c),
            _ => Unknown::Overflow,
        };
        Cardinality::Between { at_least: a.saturating_add(c), at_most: b.saturating_add(d), reason }
    }
}

/// `12`, or `0 to 20 (…)` with the reason.
impl fmt::Display for Cardinality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cardinality::Exactly(n) => write!(f, "{n}"),
            Cardinality::Between { at_least, at_most, reason } => write!(f, "{at_least} to {at_most} ({reason})"),
        }
    }
}

impl IndexingMap {
    /// The number of points of the domain: choices of values for all dimension, range and runtime variables, as
    /// [`IndexingMap::points`] enumerates them. A variable without bounds has the values of `i64`.
    ///
    /// ```
    /// use weft_indexing::{Cardinality, IndexingMap, Limits};
    ///
    /// // A triangle under a line, and every fourth element of a large dimension.
    /// let map: IndexingMap = "(d0, d1, d2) -> (d0), domain: d0 in [0, 99999], d1 in [0, 99999], d2 in [0, 3999999], \
    ///     d0 + d1 in [0, 99999], d2 mod 4 in [1, 1]".parse()?;
    /// let triangle = 100_000 * 100_001 / 2;
    /// assert_eq!(map.cardinality(&Limits::default()), Cardinality::Exactly(triangle * 1_000_000));
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn cardinality(&self, limits: &Limits) -> Cardinality {
        if self.is_undefined() {
            return Cardinality::Between { at_least: 0, at_most: u128::MAX, reason: Unknown::Undefined };
        }
        let Some(mut domain) = dims_only(self) else {
            return Cardinality::Between { at_least: 0, at_most: self.box_size(), reason: Unknown::Overflow };
        };
        let given = domain.clone();
        domain.simplify();
        let given = given.within_bounds_of(&domain);
        if domain.is_known_empty() {
            return Cardinality::Exactly(0);
        }
        let counted = counted(&domain, limits);
        match counted {
            // The given constraints have values where simplified ones overflow.
            Cardinality::Between { .. } if given.box_size() <= u128::from(limits.points()) => {
                Cardinality::Exactly(given.points().count() as u128)
            }
            _ => counted,
        }
    }
}

/// The number of points of a simplified domain.
fn counted(domain: &IndexingMap, limits: &Limits) -> Cardinality {
    let mut counter = Counter { rest: limits.points(), limit: limits.points() };
    let mut product = Cardinality::Exactly(1);
    for group in groups(domain) {
        let size = group.box_size();
        let number = counter
            .group(group)
            .map_or_else(|reason| Cardinality::Between { at_least: 0, at_most: size, reason }, Cardinality::Exactly);
        product = times(product, number);
    }
    product
}

fn times(a: Cardinality, b: Cardinality) -> Cardinality {
    let ((a_lo, a_hi), (b_lo, b_hi)) = (a.bounds(), b.bounds());
    let reason = match (a, b) {
        (Cardinality::Exactly(0), _) | (_, Cardinality::Exactly(0)) => return Cardinality::Exactly(0),
        (Cardinality::Between { reason, .. }, _) | (_, Cardinality::Between { reason, .. }) => reason,
        _ => match a_lo.checked_mul(b_lo) {
            Some(n) => return Cardinality::Exactly(n),
            None => Unknown::Overflow,
        },
    };
    Cardinality::Between { at_least: a_lo.saturating_mul(b_lo), at_most: a_hi.saturating_mul(b_hi), reason }
}

/// The domain with all variables as dimensions, and no results. Nothing where there are more than can be numbered.
fn dims_only(map: &IndexingMap) -> Option<IndexingMap> {
    let ranges = map.variable_ranges();
    let first_range = u32::try_from(ranges.dims.len()).ok()?;
    let first_runtime = first_range.checked_add(u32::try_from(ranges.ranges.len()).ok()?)?;
    first_runtime.checked_add(u32::try_from(ranges.runtime.len()).ok()?)?;
    let renamed = |v: Var| match v {
        Var::Dim(_) => None,
        Var::Range(i) => Some(Expr::dim(first_range.saturating_add(i))),
        Var::Runtime(i) => Some(Expr::dim(first_runtime.saturating_add(i))),
    };
    let constraints: Option<Vec<Constraint>> =
        map.constraints.iter().map(|c| Some(Constraint::new(c.expr.substitute(renamed).ok()?, c.bounds))).collect();
    let all = [ranges.dims, ranges.ranges, ranges.runtime].concat();
    let mut domain = over(&all, constraints?);
    if map.is_known_empty() {
        domain.set_known_empty();
    }
    Some(domain)
}

fn over(bounds: &[Interval], constraints: Vec<Constraint>) -> IndexingMap {
    let dims = bounds.iter().map(|b| Variable::new(*b)).collect();
    IndexingMap::of_valid(dims, Vec::new(), Vec::new(), Vec::new(), constraints)
}

/// Domains whose product the domain is: each keeps the variables of one group and fixes the others.
fn groups(domain: &IndexingMap) -> Vec<IndexingMap> {
    let mut sets: Vec<BTreeSet<Var>> = (0..).map(|i| BTreeSet::from([Var::Dim(i)])).take(domain.dims.len()).collect();
    for constraint in &domain.constraints {
        let used = constraint.expr.variables();
        let (touched, apart): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| !set.is_disjoint(&used));
        sets = apart;
        sets.push(touched.into_iter().flatten().collect());
    }
    let group = |set: &BTreeSet<Var>| {
        let kept = |(i, v): (u32, &Variable)| if set.contains(&Var::Dim(i)) { v.bounds } else { Interval::point(0) };
        let bounds: Vec<Interval> = (0..).zip(&domain.dims).map(kept).collect();
        let is_own = |c: &&Constraint| !c.expr.variables().is_disjoint(set);
        over(&bounds, domain.constraints.iter().filter(is_own).cloned().collect())
    };
    sets.iter().map(group).collect()
}

/// Counts, and keeps account of what was enumerated.
struct Counter {
    /// Points that may still be looked at.
    rest: u64,
    limit: u64,
}

impl Counter {
    fn domain(&mut self, mut domain: IndexingMap) -> Result<u128, Unknown> {
        domain.simplify();
        if domain.is_known_empty() {
            return Ok(0);
        }
        let mut product: u128 = 1;
        for group in groups(&domain) {
            product = product.checked_mul(self.group(group)?).ok_or(Unknown::Overflow)?;
            if product == 0 {
                break;
            }
        }
        Ok(product)
    }

    /// The points of a domain whose variables are connected.
    fn group(&mut self, domain: IndexingMap) -> Result<u128, Unknown> {
        let size = domain.box_size();
        if domain.constraints.is_empty() || size == 0 {
            return Ok(size);
        }
        let mut facts = Simplifier::new(&domain.variable_ranges(), &[]);
        if !domain.constraints.iter().all(|c| fits(&c.expr, &mut facts)) {
            return Err(Unknown::Overflow);
        }
        let variables: Vec<(Var, Interval)> =
            (0..).map(Var::Dim).zip(domain.dims.iter().map(|v| v.bounds)).filter(|(_, b)| b.size() > 1).collect();
        if let [(v, bounds)] = variables[..]
            && let Some(classes) = period::classes(&domain, v, bounds)
            && self.pay(classes.period()).is_ok()
        {
            return Ok(classes.iter().filter(|(value, _)| holds(&domain, v, *value)).map(|(_, count)| count).sum());
        }
        if let Some(fewer) = eliminate::eliminated(&domain) {
            return fewer.map_or(Ok(0), |fewer| self.domain(fewer));
        }
        if let Some(count) = lattice::points_between_lines(&domain, &variables) {
            return Ok(count);
        }
        let Some(cases) = variables.iter().map(|(v, b)| Cases::of(&domain, *v, *b)).min_by_key(Cases::count) else {
            return Ok(domain.points().count() as u128);
        };
        let enumerates = size <= cases.count().saturating_mul(u128::from(POINTS_PER_CASE));
        if enumerates || (size <= u128::from(self.rest) && size <= 1 << 10) {
            self.pay(size).map_err(|_| self.too_many(size))?;
            return Ok(domain.points().count() as u128);
        }
        self.pay(cases.count().saturating_mul(u128::from(POINTS_PER_CASE))).map_err(|_| self.too_many(size))?;
        let mut sum: u128 = 0;
        for (value, weight) in cases.values() {
            let mut case = domain.clone();
            if let Some(known) = case.bounds_mut(cases.variable) {
                *known = Interval::point(value);
            }
            let number = self.domain(case)?.checked_mul(weight).ok_or(Unknown::Overflow)?;
            sum = sum.checked_add(number).ok_or(Unknown::Overflow)?;
        }
        Ok(sum)
    }

    fn pay(&mut self, points: u128) -> Result<(), Unknown> {
        match u64::try_from(points).ok().and_then(|n| self.rest.checked_sub(n)) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.too_many(points)),
        }
    }

    fn too_many(&self, points: u128) -> Unknown {
        Unknown::TooManyPoints { points, limit: self.limit }
    }
}

/// The values of a variable to look at one after another, each for as many as are like it.
struct Cases {
    variable: Var,
    bounds: Interval,
    classes: Option<period::Classes>,
}

impl Cases {
    fn of(domain: &IndexingMap, variable: Var, bounds: Interval) -> Cases {
        let classes = period::classes(domain, variable, bounds).filter(|c| c.period() < bounds.size());
        Cases { variable, bounds, classes }
    }

    fn count(&self) -> u128 {
        self.classes.as_ref().map_or(self.bounds.size(), period::Classes::period)
    }

    fn values(&self) -> Box<dyn Iterator<Item = (i64, u128)> + '_> {
        match &self.classes {
            Some(classes) => Box::new(classes.iter()),
            None => Box::new((self.bounds.lo..=self.bounds.hi).map(|value| (value, 1))),
        }
    }
}

/// Whether the point holds where every other variable has its least value.
fn holds(domain: &IndexingMap, variable: Var, value: i64) -> bool {
    let at = |i: u32, v: &Variable| if Var::Dim(i) == variable { value } else { v.bounds.lo };
    let dims: Vec<i64> = (0..).zip(&domain.dims).map(|(i, v)| at(i, v)).collect();
    domain.contains(&dims, &[], &[])
}
