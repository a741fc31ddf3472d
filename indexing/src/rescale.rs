//! Range variables that take every so many values only, counted instead.

use weft_affine::{Atom, Expr, Interval, Var};

use crate::IndexingMap;

/// A range variable `s` that became `factor * s + offset`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rescaled {
    /// The number of the range variable.
    pub range: u32,
    /// The distance between its former values, greater than one.
    pub factor: i64,
    /// The former value at zero, in `[0, factor - 1]`.
    pub offset: i64,
}

impl IndexingMap {
    /// Replaces each range variable `s` with a constraint `s mod m in [r, r]` by `s * m + r`, and drops the constraint;
    /// reports which. Afterwards the variable takes all values within its bounds, as far as that constraint goes.
    ///
    /// The points of the domain correspond one to one, in the same order, and the results at them are the same. Constraints
    /// `(s + k) mod m in [r, r]` and `(k - s) mod m in [r, r]` count too; what [`IndexingMap::simplify`] makes of others often
    /// does. A variable stays where a coefficient would leave `i64`.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let text = "(d0)[s0] -> (d0, s0 floordiv 6), domain: d0 in [0, 3], s0 in [0, 20], s0 mod 6 in [3, 3]";
    /// let mut map: IndexingMap = text.parse()?;
    /// let rescaled = map.rescale_symbols();
    /// assert_eq!((rescaled[0].factor, rescaled[0].offset), (6, 3));
    /// map.simplify();
    /// assert_eq!(map.to_string(), "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 2]");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn rescale_symbols(&mut self) -> Vec<Rescaled> {
        let mut all = Vec::new();
        for range in (0..).take(self.ranges.len()) {
            all.extend(self.rescale(range));
        }
        all
    }

    fn rescale(&mut self, range: u32) -> Option<Rescaled> {
        let s = Var::Range(range);
        let found = (0..).zip(&self.constraints).find_map(|(at, c)| Some((at, residue(&c.expr, c.bounds, s)?)));
        let (at, (factor, offset)) = found?;
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
        Some(Rescaled { range, factor, offset })
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
