//! Detection of evaluation that may leave `i64`.
//!
//! What simplification proves is true of integers, and two forms with one value may differ in the values on the way to it: those
//! of the sums that are divided. The value of the whole is not on the way; where one form has it within `i64`, all do.

use std::collections::BTreeMap;

use weft_affine::{Atom, Config, Constraint, Expr, Interval, Ranges};

/// Whether evaluating `form` may leave `i64` within the bounds of the variables, in a sum that evaluating `given` does not compute.
/// Both have the same values. Forms that are too large to be simplified as a whole are not looked through.
pub(crate) fn adds_overflow(form: &Expr, given: &Expr, ranges: &Ranges) -> bool {
    !form.is_linear() && adds(form, given, ranges, &|e| arguments(e))
}

/// As [`adds_overflow`], for constraints that hold at the same points. Where one is without a bound, the ends of `i64`, the value of
/// the whole counts as well.
pub(crate) fn constraint_adds_overflow(form: &Constraint, given: &Constraint, ranges: &Ranges) -> bool {
    match is_bounded(form) {
        true => adds_overflow(&form.expr, &given.expr, ranges),
        false => adds(&form.expr, &given.expr, ranges, &|e| vec![e.clone()]),
    }
}

/// Whether the constraint may hold of integers at points within the bounds of the variables where evaluating it leaves `i64`: they
/// are not in its domain, and in that of a simpler form they may be. Where both bounds are within `i64`, a value of the whole
/// beyond it breaks the constraint anyway. Of a variable without bounds nobody says that it comes near the ends.
pub(crate) fn may_hold_beyond(constraint: &Constraint, ranges: &Ranges) -> bool {
    let e = &constraint.expr;
    let sums = if is_bounded(constraint) { arguments(e) } else { vec![e.clone()] };
    !sums.is_empty()
        && e.variables().iter().all(|v| ranges.get(*v) != Interval::EVERYTHING)
        && Computed::of(sums, ranges).may_overflow()
}

/// Whether neither end is one of `i64`, which are no bounds.
fn is_bounded(constraint: &Constraint) -> bool {
    constraint.bounds.lo != i64::MIN && constraint.bounds.hi != i64::MAX
}

fn adds(form: &Expr, given: &Expr, ranges: &Ranges, sums: &dyn Fn(&Expr) -> Vec<Expr>) -> bool {
    if [form, given].iter().any(|e| Config::default().caps(e)) {
        return false;
    }
    let computed = Computed::of(sums(form), ranges);
    computed.may_overflow() && {
        let known = Computed::of(sums(given), ranges);
        computed.0.iter().any(|(sum, values)| values.is_none() && !known.0.contains_key(sum))
    }
}

/// The sums that are divided on the way to this one's value.
fn arguments(e: &Expr) -> Vec<Expr> {
    e.terms().iter().filter_map(|t| t.atom.argument().cloned()).collect()
}

/// The least and the greatest value, judged sum by sum; nothing where they may leave `i64`.
type Values = Option<(i64, i64)>;

/// Sums with their values within the bounds of the variables, by their structural hash.
struct Computed(BTreeMap<u128, Values>);

impl Computed {
    /// These sums, and all that is computed on the way to them.
    fn of(mut waiting: Vec<Expr>, ranges: &Ranges) -> Computed {
        let mut computed = Computed(BTreeMap::new());
        while let Some(sum) = waiting.pop() {
            let mut open = arguments(&sum);
            open.retain(|x| !computed.0.contains_key(&x.structural_hash()));
            if open.is_empty() {
                let values = computed.values(&sum, ranges);
                computed.0.insert(sum.structural_hash(), values);
            } else {
                waiting.push(sum);
                waiting.append(&mut open);
            }
        }
        computed
    }

    fn values(&self, sum: &Expr, ranges: &Ranges) -> Values {
        let (mut lo, mut hi) = (i128::from(sum.constant_term()), i128::from(sum.constant_term()));
        for term in sum.terms() {
            let (least, greatest) = match &term.atom {
                Atom::Var(v) => (ranges.get(*v).lo, ranges.get(*v).hi),
                Atom::FloorDiv(x, c) => {
                    let (least, greatest) = self.0.get(&x.structural_hash()).copied().flatten()?;
                    (least.div_euclid(*c), greatest.div_euclid(*c))
                }
                Atom::Mod(_, c) => (0, c - 1),
            };
            let ends = [least, greatest].map(|end| i128::from(term.coefficient) * i128::from(end));
            lo = lo.checked_add(ends[0].min(ends[1]))?;
            hi = hi.checked_add(ends[0].max(ends[1]))?;
        }
        Some((i64::try_from(lo).ok()?, i64::try_from(hi).ok()?))
    }

    fn may_overflow(&self) -> bool {
        self.0.values().any(Option::is_none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_sums_that_are_divided_count() {
        let far = Interval::new(i64::MAX - 2, i64::MAX);
        let ranges = Ranges::of_dims([far, Interval::of_extent(8)]);
        let adds = |form: &str, given: &str| {
            let [form, given] = [form, given].map(|text| text.parse().expect("an expression"));
            adds_overflow(&form, &given, &ranges)
        };
        assert!(!adds("d0 * 2 + d0 mod 4", "d0"));
        assert!(!adds("(d0 floordiv 2 + d1) mod 4", "d0"));
        assert!(adds("(d0 * 2) mod 4", "d0 mod 4"));
        assert!(adds("(d0 + 7) mod 4", "(d0 + 3) mod 4"));
        assert!(!adds("(d0 + 3) mod 4 + d1", "(d0 + 3) mod 4"));
        let constraint = |text: &str, bounds: Interval| Constraint::new(text.parse().expect("an expression"), bounds);
        let adds =
            |bounds| constraint_adds_overflow(&constraint("d0 + d1", bounds), &constraint("d1", bounds), &ranges);
        assert!(adds(Interval::new(0, i64::MAX)));
        assert!(!adds(Interval::new(0, 9)));
    }

    #[test]
    fn beyond_i64_only_bounds_within_it_are_broken() {
        let ranges = Ranges::of_dims([Interval::new(i64::MAX - 2, i64::MAX - 1), Interval::of_extent(8)]);
        let may_hold = |text: &str, bounds: Interval| {
            may_hold_beyond(&Constraint::new(text.parse().expect("an expression"), bounds), &ranges)
        };
        assert!(may_hold("d0 + d1", Interval::point(i64::MAX)));
        assert!(!may_hold("d0 + d1", Interval::point(i64::MAX - 1)));
        assert!(!may_hold("d0 - d1", Interval::point(i64::MAX)));
        assert!(may_hold("(d0 + d1) mod 4", Interval::point(3)));
        assert!(!may_hold("d0 mod 4 + d2", Interval::new(0, i64::MAX)));
    }
}
