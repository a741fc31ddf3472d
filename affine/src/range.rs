//! Range analysis: the values that an expression can take, given ranges of its variables and facts about parts of it.
//!
//! Linear cancellation comes for free, since sums are canonical. Beyond that the analysis knows three things that plain
//! interval arithmetic does not: `x // c` and `x mod c` of one `x` move together, a sum of multiples of `g` stays in one
//! residue class, and a constraint bounds every sum that contains a multiple of what it bounds.
//!
//! The range is always sound. It is exact for sums of variables without constraints, for `(a·v + k) // c` and
//! `(a·v + k) mod c` of one variable, and for `a·(x // c) + b·(x mod c)` where `x` takes every value of its range. Sums of
//! quotients and remainders with different divisors are bounded one by one, so `d0 mod 2 + d0 mod 3` for `d0` in `[0, 1]`
//! is exact and `d0 mod 3 − d0 mod 2` there is not.

mod analysis;
mod congruence;
mod facts;
mod linear_mod;
mod solve;
mod total;

#[cfg(test)]
mod tests;

pub(crate) use analysis::Analysis;
pub(crate) use congruence::Congruence;
pub(crate) use solve::{allowed, ceil_div, exact_interval, primitive, primitive_sum, solve, solve_exactly};

use crate::{Expr, Interval, Var};

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

/// An interval that holds every value `expr` takes where the variables stay within `ranges`.
///
/// Sound always; exact for linear expressions and for many with divisions.
///
/// ```
/// use weft_affine::{Interval, Ranges, Var, range_of};
///
/// let ([d0], [s0]) = (Var::dims(), Var::ranges());
/// let ranges = Ranges { dims: vec![Interval::new(-4, 9)], ranges: vec![Interval::of_extent(3)], ..Ranges::default() };
/// assert_eq!(range_of(&(d0 * 2 - s0 - d0), &ranges), Interval::new(-6, 9));
/// assert_eq!(range_of(&d0.floor_div(4), &ranges), Interval::new(-1, 2));
/// assert_eq!(range_of(&(d0 - d0.modulo(4)), &ranges), Interval::new(-4, 8));
/// ```
pub fn range_of(expr: &Expr, ranges: &Ranges) -> Interval {
    Analysis::new(ranges, &[]).range(expr)
}
