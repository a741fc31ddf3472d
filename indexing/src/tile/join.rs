//! Sums of runs: when multiples of several runs are one arithmetic progression.

use weft_affine::{Expr, Interval};

use super::refusal::TileRefusal;
use super::runs::{Linear, Run, Search};

/// The values `offset + stride · k` for `k` in `[0, size − 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Progression {
    pub(super) offset: Expr,
    pub(super) size: Expr,
    pub(super) stride: i64,
}

/// What became of a sum.
#[derive(Debug)]
pub(super) enum Joined {
    /// Its values are a progression.
    One(Progression),
    /// They are in each of these narrower searches, and nowhere else.
    If(Vec<Search>),
}

/// What became of the runs of a sum.
#[derive(Debug)]
pub(super) enum Compound {
    /// They are one run.
    One(Box<Search>),
    /// They are in each of these narrower searches, and not otherwise.
    If(Vec<Search>),
    /// They cannot be: something mentions one of them, or several in another proportion.
    Separate,
}

impl Search {
    /// The values of a sum of multiples of runs, `Σ cᵢ · xᵢ`.
    ///
    /// With the multiples in ascending order of `|cᵢ|`, the first ones fill `0, g, …, (n − 1) · g` without a gap, and the next,
    /// `m · g`, goes on without one exactly if `m ≤ n`; together they then fill `m · (nᵢ − 1) + n` steps. A gap can be filled only by
    /// multiples no larger than it, so there is no other way, except that a run has a single value.
    pub(super) fn join(&self, sum: &Linear) -> Result<Joined, TileRefusal> {
        let magnitude = |c: i64| c.checked_abs().ok_or(TileRefusal::Overflow);
        let mut terms = sum.terms.clone();
        if terms.iter().any(|(_, c)| *c == i64::MIN) {
            return Err(TileRefusal::Overflow);
        }
        terms.sort_by_key(|(r, c)| (c.unsigned_abs(), *r));
        let mut rest = terms.iter();
        let Some((first, c)) = rest.next() else {
            return Ok(Joined::One(Progression { offset: sum.rest.clone(), size: Expr::constant(1), stride: 1 }));
        };
        let step = magnitude(*c)?;
        let mut size = self.run(*first).size.clone();
        let mut joined = vec![*first];
        for (r, c) in rest {
            let c = magnitude(*c)?;
            let enough = Interval::new(c / step, i64::MAX);
            if c % step != 0 || !self.implies(&size, enough) {
                return self.ways_to_join(&size, (c % step == 0).then_some(enough), &joined, *r);
            }
            let steps = self.run(*r).size.checked_add_constant(-1)?;
            size = size.checked_add_scaled(&steps, c / step)?;
            joined.push(*r);
        }
        // From the top downwards where every multiple is: a reversed dimension keeps its order.
        let descends = terms.iter().all(|(_, c)| *c < 0);
        let (low, spread) = self.low_and_spread(sum)?;
        let (offset, stride) = if descends { (low.checked_add(&spread)?, -step) } else { (low, step) };
        Ok(Joined::One(Progression { offset, size, stride }))
    }

    /// The runs so far are long enough for the next multiple, or that has one value, or they do.
    fn ways_to_join(
        &self,
        size: &Expr,
        enough: Option<Interval>,
        joined: &[u32],
        next: u32,
    ) -> Result<Joined, TileRefusal> {
        let mut ways = Vec::new();
        if let Some(enough) = enough {
            let mut long = self.clone();
            if long.require(size, enough) {
                ways.push(long);
            }
        }
        ways.extend(self.with_single(next)?);
        let mut single = Some(self.clone());
        for r in joined {
            single = single.map_or(Ok(None), |search| search.with_single(*r))?;
        }
        ways.extend(single);
        Ok(Joined::If(ways))
    }

    /// One run in place of the runs of a sum.
    pub(super) fn compound(&self, sum: &Linear) -> Result<Compound, TileRefusal> {
        let Some((kept, c)) = sum.terms.iter().min_by_key(|(r, c)| (c.unsigned_abs(), *r)).copied() else {
            return Ok(Compound::Separate);
        };
        let unit = c.checked_abs().ok_or(TileRefusal::Overflow)?;
        if sum.terms.iter().any(|(_, c)| c % unit != 0) {
            return Ok(Compound::Separate);
        }
        let terms = sum.terms.iter().map(|(r, c)| (*r, c / unit)).collect();
        let units = Linear { rest: Expr::constant(0), terms };
        // The kept run by the new one and the others, which then cancel out wherever the proportion is the same.
        let mut search = self.clone();
        let bounds = {
            let mut total = Expr::constant(0);
            for (r, c) in &units.terms {
                total = total.checked_add_scaled(&Expr::var(self.variable(*r)), *c)?;
            }
            self.simplifier().range_of(&total)
        };
        let is_free = units.terms.iter().all(|(r, _)| self.run(*r).is_free);
        let new = Run { offset: Expr::constant(0), size: Expr::constant(1), bounds, is_free };
        let mut value = search.push_run(new)?;
        for (r, c) in units.terms.iter().filter(|(r, _)| *r != kept) {
            value = value
                .checked_add_scaled(&Expr::var(self.variable(*r)), c.checked_neg().ok_or(TileRefusal::Overflow)?)?;
        }
        search.substitute(kept, &value.checked_mul(c.signum())?)?;
        let used = search.used();
        if units.terms.iter().any(|(r, _)| used.contains(r)) {
            return Ok(Compound::Separate);
        }
        let (low, _) = self.low_and_spread(&units)?;
        match self.join(&units)? {
            Joined::If(ways) => Ok(Compound::If(ways)),
            Joined::One(Progression { size, .. }) => {
                if let Some(run) = search.runs.last_mut() {
                    (run.offset, run.size) = (low, size);
                }
                Ok(Compound::One(Box::new(search)))
            }
        }
    }

    /// One run in place of a digit that takes all its values and of the run that counts its turns: `x = m·y + z` with `z` in
    /// `[0, m − 1]`, so that `y` is `x floordiv m` and `z` is `x mod m` wherever they stand.
    ///
    /// What a reshape divides was a single run once, and after simplification some results mention only one of the two. Since
    /// dividing undoes this, it is done a bounded number of times.
    pub(super) fn merge(&self, sum: &Linear) -> Result<Vec<Search>, TileRefusal> {
        let mut ways = Vec::new();
        if self.merges == 0 {
            return Ok(ways);
        }
        for ((z, low), (y, high)) in sum.terms.iter().flat_map(|z| sum.terms.iter().map(move |y| (*z, *y))) {
            let Some(m) = high.checked_div(low).filter(|m| *m > 1 && low * m == high) else { continue };
            let mut search = self.clone();
            search.merges -= 1;
            if !Interval::of_extent(m).contains_interval(self.run(z).bounds)
                || !search.require(&self.run(z).size, Interval::point(m))
            {
                continue;
            }
            let Run { offset, size, bounds, is_free } = self.run(y).clone();
            let is_free = is_free && self.run(z).is_free;
            let bounds = bounds.scale(m) + Interval::of_extent(m);
            let x =
                search.push_run(Run { offset: offset.checked_mul(m)?, size: size.checked_mul(m)?, bounds, is_free })?;
            search.substitute(y, &x.checked_floor_div(m)?)?;
            search.substitute(z, &x.checked_modulo(m)?)?;
            ways.push(search);
        }
        Ok(ways)
    }
}
