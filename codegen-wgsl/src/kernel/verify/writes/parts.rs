//! Whether several statements together write every element once.

use std::collections::BTreeSet;
use weft_affine::{Config, Expr, Interval, Simplifier};
use weft_indexing::{Answer, IndexingMap, Limits};

/// Digits of positions that are tried to tell two statements apart.
const MAX_DIGITS: usize = 32;

/// Whether the positions that these maps lead to are `[0, count - 1]`, each once: every map is injective, no two have a position in common, and there are as many
/// points in all.
pub(super) fn are_one_whole(maps: &[&IndexingMap], count: i64) -> Result<(), &'static str> {
    let limits = Limits::default();
    let mut points: u128 = 0;
    let mut writing = Vec::with_capacity(maps.len());
    for map in maps {
        let own = map.cardinality(&limits).exact().ok_or("how many elements a statement writes")?;
        // The positions of a statement that writes nothing are apart from all others, however they look.
        if own > 0 {
            writing.push(*map);
        }
        points = points.checked_add(own).ok_or("how many elements statements write")?;
    }
    if u128::try_from(count) != Ok(points) {
        return Err("statements write other numbers of elements than there are");
    }
    if !writing.iter().all(|map| map.is_injective(&limits) == Answer::Yes) {
        return Err("two invocations may write one");
    }
    let digits = digits(&writing);
    let mut parts: Vec<Part<'_>> =
        writing.iter().map(|map| Part { map, digits: Vec::new(), ranges: Vec::new() }).collect();
    for number in 1..parts.len() {
        let (before, rest) = parts.split_at_mut(number);
        let Some(own) = rest.first_mut() else { continue };
        if !before.iter_mut().all(|other| are_apart(own, other, &digits)) {
            return Err("several statements may write one");
        }
    }
    Ok(())
}

/// What a statement writes.
struct Part<'m> {
    map: &'m IndexingMap,
    /// The digits of the positions, as far as they were asked for, and their ranges.
    digits: Vec<Expr>,
    ranges: Vec<Interval>,
}

impl Part<'_> {
    /// The range of an expression over the domain.
    fn range(&self, expr: &Expr) -> Interval {
        self.simplifier().range_of(expr)
    }

    fn simplifier(&self) -> Simplifier {
        let config = Config { max_points_work: 0, ..Config::default() };
        Simplifier::with_config(&self.map.variable_ranges(), self.map.constraints(), config)
    }

    /// The digit of a number, and its range; `None` where an index leaves 64 bits.
    fn digit(&mut self, number: usize, all: &[Digit]) -> Option<(&Expr, Interval)> {
        while self.digits.len() <= number {
            let Digit { unit, base } = all.get(self.digits.len())?;
            let mut digit = self.map.results().first()?.checked_floor_div(*unit).ok()?;
            if let Some(base) = base {
                digit = digit.checked_modulo(*base).ok()?;
            }
            let digit = self.simplifier().simplify(&digit);
            self.ranges.push(self.range(&digit));
            self.digits.push(digit);
        }
        Some((&self.digits[number], self.ranges[number]))
    }
}

/// Whether some digit of the positions lies in stretches apart, or the difference of two.
fn are_apart(one: &mut Part<'_>, other: &mut Part<'_>, digits: &[Digit]) -> bool {
    let apart = |left: Interval, right: Interval| left.hi < right.lo || right.hi < left.lo;
    for number in 0..digits.len() {
        let (Some((left, of_left)), Some((right, of_right))) = (one.digit(number, digits), other.digit(number, digits))
        else {
            return false;
        };
        let (left, right) = (left.clone(), right.clone());
        if apart(of_left, of_right) {
            return true;
        }
        for before in 0..number {
            let differences = (left.checked_sub(&one.digits[before]), right.checked_sub(&other.digits[before]));
            if let (Ok(left), Ok(right)) = differences
                && apart(one.range(&left), other.range(&right))
            {
                return true;
            }
        }
    }
    false
}

/// A digit of a position: `(position floordiv unit) mod base`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Digit {
    unit: i64,
    base: Option<i64>,
}

/// The digits that the coefficients of positions suggest, those of the greatest units first.
fn digits(maps: &[&IndexingMap]) -> Vec<Digit> {
    let terms = maps.iter().flat_map(|map| map.results().first().map(Expr::terms).unwrap_or_default());
    let units = terms.map(|term| term.coefficient.saturating_abs()).filter(|unit| *unit > 0).chain([1]);
    let units: BTreeSet<i64> = units.collect();
    let mut digits: Vec<Digit> = units.iter().rev().map(|unit| Digit { unit: *unit, base: None }).collect();
    for unit in units.iter().rev() {
        let bases = units.range(unit + 1..).filter(|next| *next % unit == 0).map(|next| next / unit);
        digits.extend(bases.map(|base| Digit { unit: *unit, base: Some(base) }));
    }
    digits.truncate(MAX_DIGITS);
    digits
}
