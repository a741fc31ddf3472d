//! A case: variables with bounds, facts about them, expressions over them; and the points to judge them by.

use std::fmt;

use weft_affine::{Constraint, Expr, Interval, Ranges, Var};

use super::random::Random;

/// Boxes of at most this many points are enumerated; larger ones are sampled.
pub(crate) const MAX_ENUMERATED: u128 = 512;

/// Bounds of at least this magnitude are near the ends of `i64`.
pub(crate) const EXTREME: i64 = 1 << 62;

/// One domain and the expressions to simplify over it; the first is the subject, the others keep it company.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) variables: Vec<(Var, Interval)>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) exprs: Vec<Expr>,
    /// A point that constraints were built around, one value for each variable.
    pub(crate) anchor: Vec<i64>,
    /// Leave variables without bounds out of the list of ranges, where they are last, instead of writing "no bound".
    pub(crate) omits_unbounded: bool,
}

impl Case {
    pub(crate) fn subject(&self) -> &Expr {
        &self.exprs[0]
    }

    pub(crate) fn ranges(&self) -> Ranges {
        let mut ranges = Ranges::default();
        for (v, bounds) in &self.variables {
            match v {
                Var::Dim(_) => ranges.dims.push(*bounds),
                Var::Range(_) => ranges.ranges.push(*bounds),
                Var::Runtime(_) => ranges.runtime.push(*bounds),
            }
        }
        if self.omits_unbounded {
            for list in [&mut ranges.dims, &mut ranges.ranges, &mut ranges.runtime] {
                while list.last() == Some(&Interval::EVERYTHING) {
                    list.pop();
                }
            }
        }
        ranges
    }

    /// The value at a point; nothing where it overflows.
    pub(crate) fn value(&self, e: &Expr, point: &[i64]) -> Option<i64> {
        e.evaluate(|v| self.variables.iter().position(|(w, _)| *w == v).map_or(0, |i| point[i])).ok()
    }

    /// Whether the constraints hold; nothing where one of them overflows.
    pub(crate) fn holds(&self, constraints: &[Constraint], point: &[i64]) -> Option<bool> {
        let mut all = true;
        for c in constraints {
            all &= c.bounds.contains(self.value(&c.expr, point)?);
        }
        Some(all)
    }

    pub(crate) fn is_empty_by_bounds(&self) -> bool {
        self.variables.iter().any(|(_, b)| b.is_empty())
    }

    /// True when some variable that has values has a bound near the ends of `i64`; the ends themselves are no bounds.
    pub(crate) fn has_extreme_bounds(&self) -> bool {
        let far = |end: i64| end != i64::MIN && end != i64::MAX && end.unsigned_abs() >= EXTREME.unsigned_abs();
        self.variables.iter().any(|(_, b)| !b.is_empty() && (far(b.lo) || far(b.hi)))
    }

    /// True when [`Case::points`] are all points of the box.
    pub(crate) fn is_enumerated(&self) -> bool {
        self.variables.iter().fold(1u128, |n, (_, b)| n.saturating_mul(b.size())) <= MAX_ENUMERATED
    }

    /// The points of the box of all bounds, constraints aside: all where there are few, else points near its corners, near
    /// zero and near the anchor.
    pub(crate) fn points(&self) -> Vec<Vec<i64>> {
        if self.is_empty_by_bounds() {
            Vec::new()
        } else if self.is_enumerated() {
            self.all_points()
        } else {
            self.sampled_points()
        }
    }

    fn all_points(&self) -> Vec<Vec<i64>> {
        let mut points = vec![Vec::new()];
        for (_, bounds) in &self.variables {
            let longer = |p: &Vec<i64>, v: i64| p.iter().copied().chain([v]).collect();
            points = points.iter().flat_map(|p| (bounds.lo..=bounds.hi).map(move |v| longer(p, v))).collect();
        }
        points
    }

    fn sampled_points(&self) -> Vec<Vec<i64>> {
        let mut random = Random::new(0x5eed);
        let near = |bounds: Interval, random: &mut Random, anchor: i64| {
            let step = random.between(0, 24);
            let value = match random.below(8) {
                0 | 1 => bounds.lo.saturating_add(step),
                2 | 3 => bounds.hi.saturating_sub(step),
                4 => random.between(-24, 24),
                5 => random.between(bounds.lo, bounds.hi),
                _ => anchor.saturating_add(step - 12),
            };
            value.clamp(bounds.lo, bounds.hi)
        };
        let mut points: Vec<Vec<i64>> = (0..160)
            .map(|_| self.variables.iter().zip(&self.anchor).map(|((_, b), a)| near(*b, &mut random, *a)).collect())
            .collect();
        // Around the anchor at least one variable runs over consecutive values, so that congruences are met.
        points.push(self.anchor.clone());
        for i in 0..self.variables.len() {
            let bounds = self.variables[i].1;
            for step in -24..=24 {
                let mut point = self.anchor.clone();
                point[i] = point[i].saturating_add(step).clamp(bounds.lo, bounds.hi);
                points.push(point);
            }
        }
        points.sort();
        points.dedup();
        points
    }
}

/// As a user would write it down, one part a line.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, e) in self.exprs.iter().enumerate() {
            writeln!(f, "  {} {e}", if i == 0 { "expression" } else { "beside it " })?;
        }
        for (v, bounds) in &self.variables {
            writeln!(f, "  {v} in {bounds}")?;
        }
        for c in &self.constraints {
            writeln!(f, "  {} in {}", c.expr, c.bounds)?;
        }
        Ok(())
    }
}
