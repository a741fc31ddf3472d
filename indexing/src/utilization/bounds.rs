//! Bounds of utilization, where it is not counted exactly.

use super::exact::exact;
use super::{Basis, Containment, CountRange, Utilization};
use crate::{Expr, IndexingMap, Interval, Unknown, Var};

/// Bounds on what several uses read together, from what each reads alone.
pub(crate) fn together(each: &[Utilization], elements: u128, reason: Unknown) -> Utilization {
    let sum = |count: fn(&Utilization) -> u128| each.iter().map(count).fold(0u128, u128::saturating_add);
    let most = |count: fn(&Utilization) -> u128| each.iter().map(count).max().unwrap_or(0);
    let used = CountRange::between(most(|one| one.used.least()), sum(|one| one.used.greatest()).min(elements));
    let reads = CountRange::between(sum(|one| one.reads.least()), sum(|one| one.reads.greatest()));
    // What one element is read is what it is read by each use, so the least and the greatest sums lie between those of the
    // least and the greatest.
    let fewest = CountRange::between(sum(|one| one.fewest_reads.least()), fewest_at_most(used, reads, elements));
    let most_reads = CountRange::between(most(|one| one.most_reads.least()), sum(|one| one.most_reads.greatest()));
    Utilization { elements, used, reads, fewest_reads: fewest, most_reads, basis: Basis::Bounds(reason) }
}

/// The element read least is read no more than the average element, and not at all where some element is unused.
fn fewest_at_most(used: CountRange, reads: CountRange, elements: u128) -> u128 {
    if used.greatest() < elements { 0 } else { reads.greatest().checked_div(elements).unwrap_or(0) }
}

/// Bounds on what one map reads that is not known to be undefined. `reason` is why nothing exact is known.
pub(crate) fn alone(
    map: &IndexingMap,
    shape: &[i64],
    elements: u128,
    reason: Unknown,
    stays: Containment,
) -> Utilization {
    let inside = stays == Containment::Surely;
    let MapBounds { used, reads } = MapBounds::new(map, shape, inside);
    // That read most is read no less than the average used one, if reads are of elements at all.
    let most = if inside && used.greatest() > 0 { reads.least().div_ceil(used.greatest()) } else { 0 };
    Utilization {
        elements,
        used,
        reads,
        fewest_reads: CountRange::between(0, fewest_at_most(used, reads, elements)),
        most_reads: CountRange::between(most, reads.greatest()),
        basis: Basis::Bounds(reason),
    }
}

/// What is read of an operand by a map about which nothing is known.
pub(crate) fn nothing_known(elements: u128, reason: Unknown) -> Utilization {
    let any = |greatest: u128| CountRange::between(0, greatest);
    let reads = any(if elements == 0 { 0 } else { u128::MAX });
    Utilization {
        elements,
        used: any(elements),
        reads,
        fewest_reads: reads,
        most_reads: reads,
        basis: Basis::Bounds(reason),
    }
}

struct MapBounds {
    used: CountRange,
    reads: CountRange,
}

impl MapBounds {
    fn new(map: &IndexingMap, shape: &[i64], inside: bool) -> MapBounds {
        let fixed = with_least_runtime(map);
        let points = fixed.box_size();
        // Any value may be met, so with runtime variables free nothing that can be read is missing.
        let mut most_used = reachable(map, shape).min(points);
        if inside && let Ok((counts, _)) = exact(std::slice::from_ref(map), std::slice::from_ref(map), shape) {
            most_used = most_used.min(counts.used);
        }
        let open: Vec<usize> = (0..map.runtime.len()).filter(|i| map.runtime[*i].bounds.size() > 1).collect();
        let depends = |e: &Expr| {
            let is_open = |v: &Var| matches!(v, Var::Runtime(i) if open.contains(&(*i as usize)));
            e.variables().iter().any(is_open)
        };
        if map.constraints.iter().any(|c| depends(&c.expr)) {
            return MapBounds { used: CountRange::between(0, most_used), reads: CountRange::between(0, points) };
        }
        // The domain is the same for all runtime values, and indices that do not depend on them tell elements apart.
        let (results, extents): (Vec<Expr>, Vec<i64>) =
            map.results.iter().cloned().zip(shape).filter(|(e, _)| !depends(e)).unzip();
        let known = [IndexingMap { results, ..fixed }];
        let (least_used, reads) = if inside && let Ok((counts, _)) = exact(&known, &known, &extents) {
            (counts.used, CountRange::exactly(counts.reads))
        } else if map.constraints.is_empty() {
            (u128::from(inside), CountRange::exactly(points))
        } else if known.iter().any(has_first_point) {
            (u128::from(inside), CountRange::between(1, points))
        } else {
            (0, CountRange::between(0, points))
        };
        MapBounds { used: CountRange::between(least_used, most_used), reads }
    }
}

/// The map with the least value for each runtime variable.
fn with_least_runtime(map: &IndexingMap) -> IndexingMap {
    let mut fixed = map.clone();
    for variable in &mut fixed.runtime {
        variable.bounds = Interval::point(variable.bounds.lo);
    }
    fixed
}

/// Elements within the ranges of the results.
fn reachable(map: &IndexingMap, shape: &[i64]) -> u128 {
    let mut facts = weft_affine::Simplifier::new(&map.variable_ranges(), &map.constraints);
    let sizes = map.results.iter().zip(shape).map(|(e, n)| facts.range_of(e).intersect(Interval::of_extent(*n)).size());
    sizes.fold(1, |n, size| n.saturating_mul(size))
}

/// Whether the least point of the box is in the domain, which is then not empty.
fn has_first_point(map: &IndexingMap) -> bool {
    let first = |bounds: &[Interval]| -> Vec<i64> { bounds.iter().map(|b| b.lo).collect() };
    let ranges = map.variable_ranges();
    map.contains(&first(&ranges.dims), &first(&ranges.ranges), &first(&ranges.runtime))
}
