//! Constraints on remainders.

use super::laws::{
    ABOVE_CLASSES, BELOW_CLASSES, BOUNDS_OVERLAP, BOUNDS_WITHIN, IN_CLASS, RESIDUE_OF_MULTIPLE, RESIDUE_OF_NO_MULTIPLE,
    RESIDUES_APART, RESIDUES_CONTRADICT, RESIDUES_MEET, RESIDUES_MERGE, RESIDUES_OF_DIGITS,
};
use super::{Constraint, ConstraintStep};
use crate::range::{Congruence, primitive_sum, solve_exactly};
use crate::{Atom, Expr, Interval, Law};

/// The conjunction of two constraints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// They restrict different expressions, or their conjunction is no single constraint.
    Unrelated,
    /// One constraint that holds exactly where both do.
    One(Constraint),
    /// They never hold together.
    Never,
}

/// `sum mod modulus` is one of `count` successive residues from `first` on, beyond `modulus - 1` from zero again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Residues {
    pub(super) sum: Expr,
    modulus: i64,
    /// In `[0, modulus - 1]`.
    first: i64,
    /// In `[1, modulus]`.
    count: i64,
}

impl Constraint {
    /// Two constraints as one: bounds of one sum, up to a factor and a constant, are intersected; residues of one sum join by
    /// the Chinese remainder theorem, or contradict; a last digit joins the residue of the rest.
    ///
    /// The answer does not depend on which of the two comes first.
    pub fn merge(&self, other: &Constraint, steps: &mut Vec<ConstraintStep>) -> Merge {
        let (first, second) = if self <= other { (self, other) } else { (other, self) };
        let known = merged_bounds(first, second).or_else(|| merged_residues(first, second));
        let Some((law, merged)) =
            known.or_else(|| merged_digits(first, second)).or_else(|| merged_digits(second, first))
        else {
            return Merge::Unrelated;
        };
        let never = Constraint::new(Expr::constant(0), Interval::EMPTY);
        let after = match &merged {
            Merge::One(one) => one,
            _ => &never,
        };
        steps.push(ConstraintStep::new(law, &[first, second], &[after]));
        merged
    }

    /// Bounds of the same sum moved inwards to the first and last value that have a residue which `other` admits.
    /// Nothing where they do not move. Empty bounds where there is no such value.
    pub fn tightened_by(&self, other: &Constraint, steps: &mut Vec<ConstraintStep>) -> Option<Constraint> {
        let residues = Residues::of(other).filter(|r| r.sum == self.expr)?;
        let bounds = residues.within(self.bounds);
        if self.bounds.is_empty() || bounds == self.bounds {
            return None;
        }
        let tight = Constraint::new(self.expr.clone(), bounds);
        if residues.count == 1 {
            steps.push(ConstraintStep::new(IN_CLASS, &[self, other], &[&tight, other]));
            return Some(tight);
        }
        let above = residues.within(Interval::new(self.bounds.lo, i64::MAX));
        let raised = Constraint::new(self.expr.clone(), above.intersect(self.bounds));
        for (law, before, after) in [(ABOVE_CLASSES, self, &raised), (BELOW_CLASSES, &raised, &tight)] {
            if before != after && !before.bounds.is_empty() {
                steps.push(ConstraintStep::new(law, &[before, other], &[after, other]));
            }
        }
        Some(tight)
    }
}

/// `l <= x <= h, m <= x <= n` for `x` up to a factor and a constant.
fn merged_bounds(a: &Constraint, b: &Constraint) -> Option<(&'static Law, Merge)> {
    let ((x, f), (y, g)) = (primitive_sum(&a.expr)?, primitive_sum(&b.expr)?);
    if x != y {
        return None;
    }
    let (sum, first, second) = if a.expr == b.expr {
        (a.expr.clone(), a.bounds, b.bounds)
    } else {
        let first = solve_exactly(a.bounds, f, a.expr.constant_term())?;
        (x, first, solve_exactly(b.bounds, g, b.expr.constant_term())?)
    };
    let is_within = first.contains_interval(second) || second.contains_interval(first);
    let law = if is_within { BOUNDS_WITHIN } else { BOUNDS_OVERLAP };
    let both = Constraint::new(sum, first.intersect(second));
    Some((law, if both.bounds.is_empty() { Merge::Never } else { Merge::One(both) }))
}

/// `x mod c in [r, r]` and `(x floordiv c) mod m in [s, s]`, also for multiples of `c` and for `x` with factor and constant.
fn merged_digits(a: &Constraint, b: &Constraint) -> Option<(&'static Law, Merge)> {
    let (of_a, of_b) = (Residues::of(a)?, Residues::of(b)?);
    let Some(Atom::FloorDiv(x, c)) = of_b.sum.as_atom() else { return None };
    let (low, high) = (of_a.class()?, of_b.class()?);
    let (sum, factor) = primitive_sum(x)?;
    if sum != of_a.sum {
        return None;
    }
    let k = x.constant_term();
    let whole = high.after_digit(low.times(factor).plus(Congruence::exactly(k)), *c)?;
    let Some(whole) = whole.plus(Congruence::exactly(k.checked_neg()?)).divided(factor) else {
        return Some((RESIDUES_OF_DIGITS, Merge::Never));
    };
    let both = match low.meet(whole) {
        None => return Some((RESIDUES_OF_DIGITS, Merge::Never)),
        // As above, nothing may be lost.
        Some(both) if both.modulus % low.modulus != 0 || both.modulus % whole.modulus != 0 => return None,
        Some(both) => both,
    };
    Some((RESIDUES_OF_DIGITS, Merge::One(Residues::of_class(sum, both)?.constraint()?)))
}

fn merged_residues(a: &Constraint, b: &Constraint) -> Option<(&'static Law, Merge)> {
    let (of_a, of_b) = (Residues::of(a)?, Residues::of(b)?);
    if of_a.sum != of_b.sum {
        return None;
    }
    let (law, both) = match (of_a.class(), of_b.class()) {
        (Some(first), Some(second)) => match first.meet(second) {
            None => return Some((RESIDUES_CONTRADICT, Merge::Never)),
            // A least common multiple beyond i64 leaves two constraints.
            Some(both) if both.modulus % first.modulus != 0 || both.modulus % second.modulus != 0 => return None,
            Some(both) => (RESIDUES_MERGE, Residues::of_class(of_a.sum.clone(), both)?),
        },
        _ if of_a.modulus == of_b.modulus => match of_a.meet(&of_b)? {
            None => return Some((RESIDUES_APART, Merge::Never)),
            Some(both) => (RESIDUES_MEET, both),
        },
        _ => return None,
    };
    // What one of the two says already keeps its spelling.
    let one = match (both == of_a, both == of_b) {
        (true, _) => a.clone(),
        (_, true) => b.clone(),
        _ => both.constraint()?,
    };
    Some((law, Merge::One(one)))
}

impl Residues {
    /// What a constraint `(±sum + k) mod c in [p, q]` says, or `(f·sum + k) mod c in [r, r]`.
    pub(super) fn of(constraint: &Constraint) -> Option<Residues> {
        let Some(Atom::Mod(x, c)) = constraint.expr.as_atom() else { return None };
        let Interval { lo: p, hi: q } = constraint.bounds.intersect(Interval::new(0, c - 1));
        if p > q {
            return None;
        }
        let (sum, factor) = primitive_sum(x)?;
        let k = i128::from(x.constant_term());
        if p == q {
            let class = Congruence::new(i128::from(*c), i128::from(p) - k).divided(factor)?;
            return Residues::of_class(sum, class);
        }
        let first = match factor {
            1 => i128::from(p) - k,
            -1 => k - i128::from(q),
            _ => return None,
        };
        let first = i64::try_from(first.rem_euclid(i128::from(*c))).ok()?;
        Some(Residues { sum, modulus: *c, first, count: q - p + 1 })
    }

    fn of_class(sum: Expr, class: Congruence) -> Option<Residues> {
        let modulus = i64::try_from(class.modulus).ok().filter(|m| *m > 0)?;
        Some(Residues { sum, modulus, first: class.residue, count: 1 })
    }

    fn class(&self) -> Option<Congruence> {
        (self.count == 1).then(|| Congruence::new(i128::from(self.modulus), i128::from(self.first)))
    }

    /// The constraint that says just this.
    fn constraint(&self) -> Option<Constraint> {
        let last = self.first.checked_add(self.count - 1)?;
        let (x, bounds) = if last < self.modulus {
            (self.sum.clone(), Interval::new(self.first, last))
        } else {
            (self.sum.checked_add_constant(-self.first).ok()?, Interval::new(0, self.count - 1))
        };
        Some(Constraint::new(x.checked_modulo(self.modulus).ok()?, bounds))
    }

    /// The residues in both, of one modulus: nothing where they are not successive, `Some(None)` where there are none.
    fn meet(&self, other: &Residues) -> Option<Option<Residues>> {
        let (n, c) = (i128::from(self.count), i128::from(self.modulus));
        // Counted from the first of self, the other ones are start..end, those from c on being 0.. again.
        let start = (i128::from(other.first) - i128::from(self.first)).rem_euclid(c);
        let end = start + i128::from(other.count);
        let (upper, lower) = ((start, end.min(n)), (0, (end - c).min(n)));
        let (from, to) = match (upper.0 < upper.1, lower.0 < lower.1) {
            (false, false) => return Some(None),
            (true, false) => upper,
            (false, true) => lower,
            (true, true) if lower.1 == upper.0 => (lower.0, upper.1),
            (true, true) => return None,
        };
        let first = i64::try_from((i128::from(self.first) + from).rem_euclid(c)).ok()?;
        Some(Some(Residues { first, count: i64::try_from(to - from).ok()?, ..self.clone() }))
    }

    /// The bounds moved inwards to the first and the last value with one of the residues.
    pub(super) fn within(&self, bounds: Interval) -> Interval {
        let (c, first, count) = (i128::from(self.modulus), i128::from(self.first), i128::from(self.count));
        let past = |v: i128| (v - first).rem_euclid(c);
        let up = |lo: i128| if past(lo) < count { lo } else { lo + c - past(lo) };
        let down = |hi: i128| if past(hi) < count { hi } else { hi - (past(hi) - count + 1) };
        Interval::of_ends(bounds.bound_below().map(up), bounds.bound_above().map(down))
    }
}

/// `(a·x + k) mod c in [r, r]` as a residue of `x` itself, where that is cheaper; empty bounds where `x` has none.
pub(super) fn residue_of_multiple(constraint: &Constraint) -> Option<(&'static Law, Constraint)> {
    let Some(Atom::Mod(x, c)) = constraint.expr.as_atom() else { return None };
    let r = constraint.bounds.as_point().filter(|r| (0..*c).contains(r))?;
    let (sum, factor) = primitive_sum(x)?;
    if factor == 1 {
        return None;
    }
    let class = Congruence::new(i128::from(*c), i128::from(r) - i128::from(x.constant_term()));
    let Some(class) = class.divided(factor) else {
        return Some((RESIDUE_OF_NO_MULTIPLE, Constraint::new(constraint.expr.clone(), Interval::EMPTY)));
    };
    let plain = Residues::of_class(sum, class)?.constraint()?;
    (plain.expr.cost() < constraint.expr.cost()).then_some((RESIDUE_OF_MULTIPLE, plain))
}
