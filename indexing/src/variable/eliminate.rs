//! Elimination of range variables that an equality determines.

use weft_affine::{Atom, Constraint, Expr, Simplifier, Var};

use crate::{IndexingMap, Removed};

impl IndexingMap {
    /// Removes range variables that a constraint `s - e in [k, k]` determines (or one with the reverse sign), writing `e + k` for
    /// them everywhere, and reports which went. Their own bounds become a constraint on `e + k`, unless they are implied.
    ///
    /// Each point of the domain before is one point of the domain after, without the values of those variables, and the
    /// results at it are the same. A variable stays where a coefficient would leave `i64`, and where `e` mentions a runtime
    /// variable that is not before one whose access mentions `s`.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let text = "(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 9], s0 in [0, 5], s1 in [0, 3], d0 - s0 * 4 - s1 in [0, 0]";
    /// let mut map: IndexingMap = text.parse()?;
    /// assert_eq!(map.eliminate_ranges().ranges, [1]);
    /// map.simplify();
    /// assert_eq!(
    ///     map.to_string(),
    ///     "(d0)[s0] -> (s0, d0 - s0 * 4), domain: d0 in [0, 9], s0 in [0, 2], d0 - s0 * 4 in [0, 3]"
    /// );
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn eliminate_ranges(&mut self) -> Removed {
        let mut removed = Removed::default();
        if self.is_undefined() || self.is_known_empty() {
            return removed;
        }
        // The number that each variable left had before.
        let mut numbers: Vec<u32> = (0..).take(self.ranges.len()).collect();
        let mut at = numbers.len();
        // From the last variable on: composition puts those of later maps last, and the first ones are the caller's own.
        while let Some(i) = at.checked_sub(1) {
            at = i;
            if let Some(equality) = u32::try_from(i).ok().and_then(|i| self.eliminate(Var::Range(i))) {
                removed.ranges.push(numbers.remove(i));
                removed.constraints.push(equality);
                // What it was determined by may determine variables that were passed over.
                at = numbers.len();
            }
        }
        removed.ranges.sort_unstable();
        removed
    }

    fn eliminate(&mut self, s: Var) -> Option<Constraint> {
        let (without, equality) = (0..self.constraints.len()).find_map(|at| self.without(s, at))?;
        *self = without;
        Some(equality)
    }

    /// The map without `s`, where the constraint at this place determines it, and that constraint.
    fn without(&self, s: Var, at: usize) -> Option<(IndexingMap, Constraint)> {
        let value = self.determined(s, self.constraints.get(at)?)?;
        let mut without = self.clone();
        let equality = without.constraints.remove(at);
        without.substitute(|v| (v == s).then(|| value.clone())).ok()?;
        let bounds = self.variable(s)?.bounds;
        let range = Simplifier::new(&without.variable_ranges(), &without.constraints).range_of(&value);
        if !bounds.contains_interval(range) {
            without.constrain(value, bounds);
        }
        without.retain_variables(|v| v != s);
        Some((without, equality))
    }

    /// What `s` is by the constraint.
    fn determined(&self, s: Var, constraint: &Constraint) -> Option<Expr> {
        let k = constraint.bounds.as_point()?;
        let factor = constraint.expr.terms().iter().find(|t| t.atom == Atom::Var(s))?.coefficient;
        let rest = match factor {
            1 | -1 => constraint.expr.checked_add_scaled(&Expr::var(s), -factor).ok()?,
            _ => return None,
        };
        let used = rest.variables();
        let is_late = |i: usize| used.iter().any(|v| matches!(v, Var::Runtime(j) if *j as usize >= i));
        let reads = |access: &[Expr]| access.iter().any(|e| e.variables().contains(&s));
        let is_read_before = self.runtime.iter().enumerate().any(|(i, v)| is_late(i) && reads(&v.access));
        if used.contains(&s) || is_read_before {
            return None;
        }
        // factor·s + rest = k, and factor² = 1.
        rest.checked_mul(-factor).ok()?.checked_add_constant(k.checked_mul(factor)?).ok()
    }
}
