//! Rescaling of range variables of which constraints leave one residue.

use std::collections::BTreeMap;

use weft_affine::{Atom, Expr, Interval, Var};

use crate::IndexingMap;

/// A range variable `s` that became `factor * s + offset`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rescaled {
    /// The number of the range variable.
    pub range: u32,
    /// The distance between its former values, greater than one.
    pub factor: i64,
    /// The former value at zero, in `[0, factor - 1]`.
    pub offset: i64,
}

impl IndexingMap {
    /// Replaces each range variable `s` with a constraint `s mod m in [r, r]` by `s * m + r`, drops the constraint, and
    /// [simplifies](IndexingMap::simplify), again and again until no such constraint is left; reports what became of which
    /// variable in all, in the order of their numbers.
    ///
    /// Constraints `(s + k) mod m in [r, r]` and `(k - s) mod m in [r, r]` count too, and what simplification makes of others.
    /// So the map is simplified whether or not a variable was rescaled, and rescaling it again changes nothing. The points of
    /// the domain correspond one to one, in the same order, and the results at them are the same. A variable stays where a
    /// coefficient, or its whole factor, would leave `i64`.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let text = "(d0)[s0] -> (d0, s0 floordiv 6), domain: d0 in [0, 3], s0 in [0, 20], s0 mod 6 in [3, 3]";
    /// let mut map: IndexingMap = text.parse()?;
    /// let rescaled = map.rescale_symbols();
    /// assert_eq!((rescaled[0].factor, rescaled[0].offset), (6, 3));
    /// assert_eq!(map.to_string(), "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 2]");
    /// assert!(!map.simplify() && map.rescale_symbols().is_empty());
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn rescale_symbols(&mut self) -> Vec<Rescaled> {
        let mut all = BTreeMap::new();
        // What the given constraints say first: simplification may leave a variable of one value no residue.
        self.rescale_by_constraints(&mut all);
        loop {
            self.simplify();
            if !self.rescale_by_constraints(&mut all) {
                return all.into_values().collect();
            }
        }
    }

    /// Rescales by the constraints as they stand; true when a variable was.
    fn rescale_by_constraints(&mut self, all: &mut BTreeMap<u32, Rescaled>) -> bool {
        let mut found = false;
        for range in (0..).take(self.ranges.len()) {
            while let Some(whole) = self.rescale(range, all.get(&range)) {
                all.insert(range, whole);
                found = true;
            }
        }
        found
    }

    /// Rescales one variable by one constraint; what it has become in all, where `before` it was rescaled already.
    fn rescale(&mut self, range: u32, before: Option<&Rescaled>) -> Option<Rescaled> {
        if self.is_undefined() || self.is_known_empty() {
            return None;
        }
        let s = Var::Range(range);
        let found = (0..).zip(&self.constraints).find_map(|(at, c)| Some((at, residue(&c.expr, c.bounds, s)?)));
        let (at, (factor, offset)) = found?;
        let whole = match before {
            // F·(f·s + o) + O
            Some(before) => Rescaled {
                range,
                factor: before.factor.checked_mul(factor)?,
                offset: before.factor.checked_mul(offset)?.checked_add(before.offset)?,
            },
            None => Rescaled { range, factor, offset },
        };
        let bounds = counted(self.variable(s)?.bounds, factor, offset)?;
        let mut rescaled = self.clone();
        rescaled.constraints.remove(at);
        *rescaled.bounds_mut(s)? = bounds;
        let former = Expr::var(s).checked_mul(factor).and_then(|e| e.checked_add_constant(offset)).ok()?;
        rescaled.substitute(|v| (v == s).then(|| former.clone())).ok()?;
        if bounds.is_empty() {
            rescaled.set_known_empty();
        }
        *self = rescaled;
        Some(whole)
    }
}

/// The modulus and the residue that the constraint leaves for `s` alone.
fn residue(e: &Expr, bounds: Interval, s: Var) -> Option<(i64, i64)> {
    let Atom::Mod(inner, m) = e.as_atom()? else { return None };
    let r = bounds.as_point().filter(|r| (0..*m).contains(r))?;
    let [term] = inner.terms() else { return None };
    let left = i128::from(r) - i128::from(inner.constant_term());
    let residue = match (&term.atom, term.coefficient) {
        (Atom::Var(v), 1) if *v == s => left,
        (Atom::Var(v), -1) if *v == s => -left,
        _ => return None,
    };
    Some((*m, i64::try_from(residue.rem_euclid(i128::from(*m))).ok()?))
}

/// The `t` with `factor * t + offset` within the bounds.
fn counted(bounds: Interval, factor: i64, offset: i64) -> Option<Interval> {
    let (factor, offset) = (i128::from(factor), i128::from(offset));
    let up = -(offset - i128::from(bounds.lo)).div_euclid(factor);
    let down = (i128::from(bounds.hi) - offset).div_euclid(factor);
    let found = Interval::new(i64::try_from(up).ok()?, i64::try_from(down).ok()?);
    Some(if found.is_empty() { Interval::EMPTY } else { found })
}
