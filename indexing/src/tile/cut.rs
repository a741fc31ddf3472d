//! Constraints of a map, applied to its tile.

use weft_affine::{Atom, Constraint, Expr, Interval};

use super::join::Compound;
use super::refusal::TileRefusal;
use super::runs::{Linear, Run, Search};

impl Search {
    /// The searches in which a congruence is resolved, `y mod m in [r, r]` of a run `y` alone: every `m`-th value stays.
    /// Nothing where there is no such constraint.
    pub(super) fn congruence(&self) -> Result<Option<Vec<Search>>, TileRefusal> {
        let found = self.constraints.iter().enumerate().find_map(|(i, c)| {
            let Some(Atom::Mod(argument, m)) = c.expr.as_atom() else { return None };
            let sum = self.linear(argument)?;
            match (sum.terms.as_slice(), c.bounds.as_point()) {
                ([(run, sign @ (1 | -1))], Some(r)) => Some((i, *run, *sign, *m, r, sum)),
                _ => None,
            }
        });
        let Some((i, run, sign, m, r, sum)) = found else { return Ok(None) };
        // The values r + m·w between the least and the greatest: w from the ceiling of the one to the floor of the other.
        let (low, spread) = self.low_and_spread(&sum)?;
        let negative = r.checked_neg().ok_or(TileRefusal::Overflow)?;
        let low = low.checked_add_constant(negative)?;
        let first = low.checked_ceil_div(m)?;
        let last = low.checked_add(&spread)?.checked_floor_div(m)?;
        let count = last.checked_sub(&first)?.checked_add_constant(1)?;
        let divided = Expr::var(self.variable(run)).checked_mul(sign)?.checked_add(&sum.rest)?;
        let bounds = (self.simplifier().range_of(&divided) - Interval::point(r)).floor_div(m);
        let Run { size, is_free, .. } = self.run(run).clone();
        let mut ways = Vec::new();
        let mut add = |mut search: Search, size: Expr| -> Result<(), TileRefusal> {
            search.constraints.remove(i);
            let w = search.push_run(Run { offset: first.clone(), size, bounds, is_free })?;
            let value = w.checked_mul(m)?.checked_add_constant(r)?.checked_sub(&sum.rest)?.checked_mul(sign)?;
            search.substitute(run, &value)?;
            ways.push(search);
            Ok(())
        };
        let mut whole = self.clone();
        if whole.require(&size.checked_modulo(m)?, Interval::point(0)) {
            add(whole, size.checked_floor_div(m)?)?;
        }
        let mut some = self.clone();
        if some.require(&count, Interval::new(1, i64::MAX)) {
            add(some, count.clone())?;
        }
        ways.extend(self.empty_where(&count, Interval::new(i64::MIN, 0)));
        Ok(Some(ways))
    }

    /// The searches in which one linear constraint is resolved; nothing where none is left.
    pub(super) fn cut(&self) -> Result<Option<Vec<Search>>, TileRefusal> {
        for (i, c) in self.constraints.iter().enumerate() {
            let Some(sum) = self.linear(&c.expr) else { continue };
            let (sum, bounds) = self.without_private(i, c, &sum)?;
            return Ok(Some(match sum.terms.as_slice() {
                [] => self.open_or_shut(i, &bounds),
                [(run, factor)] if !self.is_movable(*run) => self.cut_run(i, &bounds, *run, *factor)?,
                terms => {
                    if let Some(masked) = self.masked(i, c)? {
                        return Ok(Some(vec![masked]));
                    }
                    match terms {
                        [(run, factor)] => self.cut_run(i, &bounds, *run, *factor)?,
                        _ => self.cut_sum(i, &bounds, &sum)?,
                    }
                }
            }));
        }
        Ok(None)
    }

    /// The sum of those runs that something besides the constraint mentions, and what it may be.
    ///
    /// Some value of each other run must satisfy the constraint. `f·a + e in [lo, hi]` does for one of consecutive `a` exactly if
    /// `e` lies in `[lo − max f·a, hi − min f·a]`, provided that the steps leave no gap: `f ≤ hi − lo + 1`.
    fn without_private(&self, i: usize, c: &Constraint, sum: &Linear) -> Result<(Linear, SumBounds), TileRefusal> {
        let mut others = self.clone();
        others.constraints.remove(i);
        let used = others.used();
        let (mut terms, mut private): (Vec<_>, Vec<_>) = sum.terms.iter().partition(|(r, _)| used.contains(r));
        private.sort_by_key(|(r, f)| (f.unsigned_abs(), *r));
        let mut width = c.bounds.size();
        let (mut rest_lo, mut rest_hi) = (sum.rest.clone(), sum.rest.clone());
        for (r, f) in private {
            if u128::from(f.unsigned_abs()) > width {
                terms.push((r, f));
                continue;
            }
            let one = Linear { rest: Expr::constant(0), terms: vec![(r, f)] };
            let (low, spread) = self.low_and_spread(&one)?;
            rest_lo = rest_lo.checked_add(&low)?.checked_add(&spread)?;
            rest_hi = rest_hi.checked_add(&low)?;
            let steps = self.run(r).size.as_constant().map_or(0, |n| n.unsigned_abs().saturating_sub(1));
            width = width.saturating_add(u128::from(steps).saturating_mul(u128::from(f.unsigned_abs())));
        }
        terms.sort_unstable();
        let end = |bound: i64, open: i64, rest: &Expr| -> Result<Option<Expr>, TileRefusal> {
            Ok(if bound == open { None } else { Some(Expr::constant(bound).checked_sub(rest)?) })
        };
        let bounds = SumBounds { lo: end(c.bounds.lo, i64::MIN, &rest_lo)?, hi: end(c.bounds.hi, i64::MAX, &rest_hi)? };
        Ok((Linear { rest: Expr::constant(0), terms }, bounds))
    }

    /// Whether the values of a run depend on where the tile is.
    fn is_movable(&self, run: u32) -> bool {
        let Run { offset, size, .. } = self.run(run);
        offset.as_constant().is_none() || size.as_constant().is_none()
    }

    /// The empty tile, where a condition holds that leaves nothing.
    fn empty_where(&self, expr: &Expr, bounds: Interval) -> Option<Search> {
        let mut empty = self.clone();
        empty.is_empty = true;
        empty.require(expr, bounds).then_some(empty)
    }

    /// A constraint that is the same all over the tile: zero lies within the bounds, or not.
    fn open_or_shut(&self, i: usize, bounds: &SumBounds) -> Vec<Search> {
        let mut open = self.clone();
        open.constraints.remove(i);
        let (not_positive, not_negative) = (Interval::new(i64::MIN, 0), Interval::new(0, i64::MAX));
        let mut ways = Vec::new();
        if bounds.lo.as_ref().is_none_or(|lo| open.require(lo, not_positive))
            && bounds.hi.as_ref().is_none_or(|hi| open.require(hi, not_negative))
        {
            ways.push(open);
        }
        ways.extend(bounds.lo.as_ref().and_then(|lo| self.empty_where(lo, Interval::new(1, i64::MAX))));
        ways.extend(bounds.hi.as_ref().and_then(|hi| self.empty_where(hi, Interval::new(i64::MIN, -1))));
        ways
    }

    /// The constraint as a mask of a result: it bounds just that, and what it mentions moves nothing else.
    fn masked(&self, i: usize, c: &Constraint) -> Result<Option<Search>, TileRefusal> {
        let mut search = self.clone();
        search.constraints.remove(i);
        for (j, result) in self.results.iter().enumerate() {
            for sign in [1, -1] {
                let difference = result.checked_sub(&c.expr.checked_mul(sign)?)?;
                let Some(shift) = difference.as_constant() else { continue };
                let runs: Vec<_> = self.linear(&c.expr).into_iter().flat_map(|sum| sum.terms).map(|(r, _)| r).collect();
                let mut others = search.clone();
                others.results.remove(j);
                let used = others.used();
                let Some(mask) = search.masks.get_mut(j) else { continue };
                if runs.iter().all(|r| !used.contains(r)) {
                    *mask = mask.intersect(c.bounds.scale(sign) + Interval::point(shift));
                    return Ok(Some(search));
                }
            }
        }
        Ok(None)
    }

    /// A constraint on a sum of several runs: it holds all over the tile, or nowhere on it, or it is one on a single run.
    fn cut_sum(&self, i: usize, bounds: &SumBounds, sum: &Linear) -> Result<Vec<Search>, TileRefusal> {
        match self.compound(sum)? {
            Compound::One(search) => return Ok(vec![*search]),
            Compound::If(ways) => return Ok(ways),
            Compound::Separate => {}
        }
        let (low, spread) = self.low_and_spread(sum)?;
        let high = low.checked_add(&spread)?;
        let mut all = self.clone();
        all.constraints.remove(i);
        let mut holds = true;
        let mut empty = Vec::new();
        if let Some(lo) = &bounds.lo {
            holds &= all.require(&low.checked_sub(lo)?, Interval::new(0, i64::MAX));
            empty.extend(self.empty_where(&high.checked_sub(lo)?, Interval::new(i64::MIN, -1)));
        }
        if let Some(hi) = &bounds.hi {
            holds &= all.require(&hi.checked_sub(&high)?, Interval::new(0, i64::MAX));
            empty.extend(self.empty_where(&hi.checked_sub(&low)?, Interval::new(i64::MIN, -1)));
        }
        let mut ways: Vec<Search> = holds.then_some(all).into_iter().chain(empty).collect();
        for (run, _) in &sum.terms {
            ways.extend(self.with_single(*run)?);
        }
        Ok(ways)
    }

    /// A constraint on one run: what it leaves is a run again, cut at neither end, at one of them, or at both.
    fn cut_run(&self, i: usize, bounds: &SumBounds, run: u32, factor: i64) -> Result<Vec<Search>, TileRefusal> {
        let (from, to) = if factor > 0 { (&bounds.lo, &bounds.hi) } else { (&bounds.hi, &bounds.lo) };
        let from = from.as_ref().map(|e| e.checked_ceil_div(factor)).transpose()?;
        let to = to.as_ref().map(|e| e.checked_floor_div(factor)).transpose()?;
        let Run { offset, size, .. } = self.run(run).clone();
        let last = offset.checked_add(&size)?.checked_add_constant(-1)?;
        let mut ways = Vec::new();
        for (cuts_low, cuts_high) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut part = self.clone();
            part.constraints.remove(i);
            let Some(first) = part.cut_end(&offset, from.as_ref(), cuts_low, 1)? else { continue };
            let Some(end) = part.cut_end(&last, to.as_ref(), cuts_high, -1)? else { continue };
            let size = end.checked_sub(&first)?.checked_add_constant(1)?;
            if part.require(&size, Interval::new(1, i64::MAX)) {
                if let Some(cut) = part.runs.get_mut(run as usize) {
                    (cut.offset, cut.size) = (first, size);
                }
                ways.push(part);
            }
        }
        let positive = Interval::new(1, i64::MAX);
        if let Some(from) = &from {
            ways.extend(self.empty_where(&from.checked_sub(&last)?, positive));
        }
        if let Some(to) = &to {
            ways.extend(self.empty_where(&offset.checked_sub(to)?, positive));
        }
        if let (Some(from), Some(to)) = (&from, &to) {
            // No multiple of the factor lies between the bounds.
            ways.extend(self.empty_where(&from.checked_sub(to)?, positive));
        }
        Ok(ways)
    }

    /// The end of a run where a limit cuts it, or where it does not; nothing where that never happens. The limit lies
    /// `inwards` of what it cuts off: above a lower end, below an upper one.
    fn cut_end(
        &mut self,
        end: &Expr,
        limit: Option<&Expr>,
        cuts: bool,
        inwards: i64,
    ) -> Result<Option<Expr>, TileRefusal> {
        let Some(limit) = limit else { return Ok((!cuts).then(|| end.clone())) };
        let beyond = limit.checked_sub(end)?.checked_mul(inwards)?;
        let (bounds, end) = if cuts { (Interval::new(1, i64::MAX), limit) } else { (Interval::new(i64::MIN, 0), end) };
        Ok(self.require(&beyond, bounds).then(|| end.clone()))
    }
}

/// What a sum of runs may be, over parameters; no limit where there is none.
struct SumBounds {
    lo: Option<Expr>,
    hi: Option<Expr>,
}
