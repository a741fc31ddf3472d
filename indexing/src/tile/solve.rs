//! Constraints that determine a run: equations, and intervals no wider than the step.
//!
//! They come from maps read backwards, where a range variable is asked for whose image is a given index.

use weft_affine::{Constraint, Expr, Interval};

use super::refusal::TileRefusal;
use super::runs::{Linear, Run, Search};

impl Search {
    /// This search with one run less, where a constraint leaves it one value at most; nothing where none does.
    ///
    /// With `f·a + z + e in [lo, hi]`, where `z` is the sum of all smaller steps and lies in `[z₀, z₁]`, `f·a + e` lies in
    /// `[lo − z₁, hi − z₀]`. Where that is less than `f` wide it leaves only `a = (hi − z₀ − e) floordiv f`: the digit of a flat
    /// index. The run takes all values of an interval wherever the tile is, so that `a` must lie there is all that is left to ask
    /// besides the constraint itself.
    pub(super) fn solve(&self) -> Result<Option<Search>, TileRefusal> {
        for (i, c) in self.constraints.iter().enumerate() {
            let Some(sum) = self.linear(&c.expr).filter(|sum| sum.terms.len() > 1) else { continue };
            // The largest step first, digit after digit.
            let mut terms = sum.terms.clone();
            terms.sort_by_key(|(r, f)| (std::cmp::Reverse(f.unsigned_abs()), *r));
            for (run, factor) in terms {
                if let Some(search) = self.solve_for(c, &sum, run, factor)? {
                    return Ok(Some(search));
                }
            }
            // An equation gives the run of step one, whatever that leaves of its interval to the others.
            if let (Some(value), Some((run, factor))) = (c.bounds.as_point(), self.least_step(&sum)) {
                return self.substituted(i, run, factor, value).map(Some);
            }
        }
        Ok(None)
    }

    /// A run that is the same wherever the tile is, of step one.
    fn least_step(&self, sum: &Linear) -> Option<(u32, i64)> {
        sum.terms.iter().copied().find(|(run, f)| f.unsigned_abs() == 1 && self.fixed_interval(*run).is_some())
    }

    /// The values of a free run, where they do not depend on where the tile is.
    fn fixed_interval(&self, run: u32) -> Option<Interval> {
        let Run { offset, size, is_free, .. } = self.run(run);
        let (lo, size) = (offset.as_constant().filter(|_| *is_free)?, size.as_constant()?);
        Some(Interval::new(lo, lo.checked_add(size)?.checked_sub(1)?))
    }

    fn solve_for(&self, c: &Constraint, sum: &Linear, run: u32, factor: i64) -> Result<Option<Search>, TileRefusal> {
        let Some(interval) = self.fixed_interval(run).filter(|_| factor != i64::MIN) else { return Ok(None) };
        let step = factor.abs();
        let mut big = sum.rest.clone();
        let mut small = Interval::point(0);
        for (r, f) in sum.terms.iter().filter(|(r, _)| *r != run) {
            match self.fixed_interval(*r) {
                Some(values) if f.unsigned_abs() < step.unsigned_abs() => small = small + values.scale(*f),
                _ => big = big.checked_add_scaled(&Expr::var(self.variable(*r)), *f)?,
            }
        }
        let left = c.bounds - small;
        let is_open = left.lo == i64::MIN || left.hi == i64::MAX;
        if is_open || left.is_empty() || left.size() > u128::from(step.unsigned_abs()) {
            return Ok(None);
        }
        // A run that counts downwards: the least multiple above, which is the greatest below of all signs turned.
        let most = if factor > 0 {
            Expr::constant(left.hi).checked_sub(&big)?
        } else {
            big.checked_add_constant(left.lo.checked_neg().ok_or(TileRefusal::Overflow)?)?
        };
        let value = most.checked_floor_div(step)?;
        let mut search = self.clone();
        search.substitute(run, &value)?;
        search.constraints.push(Constraint::new(value, interval));
        Ok(Some(search))
    }

    /// `± a + rest = value` solved for `a`, which must lie in the interval of the run.
    fn substituted(&self, i: usize, run: u32, factor: i64, value: i64) -> Result<Search, TileRefusal> {
        let mut search = self.clone();
        let equation = search.constraints.remove(i);
        let rest = equation.expr.checked_add_scaled(&Expr::var(self.variable(run)), -factor)?;
        let solution = Expr::constant(value).checked_sub(&rest)?.checked_mul(factor)?;
        if let Some(interval) = self.fixed_interval(run) {
            search.constraints.push(Constraint::new(solution.clone(), interval));
        }
        search.substitute(run, &solution)?;
        Ok(search)
    }
}
