//! Joining members of a set: without loss where two are one domain, else by overapproximation.

use weft_affine::{Constraint, Interval};

use crate::IndexingMap;
use crate::domain_set::has_results_of;
use crate::points::all_bounds;

/// Joins members that differ in one bound, where the two intervals make one.
pub(super) fn merged(mut maps: Vec<IndexingMap>) -> Vec<IndexingMap> {
    let mut i = 0;
    while i < maps.len() {
        let found = (i + 1..maps.len()).find_map(|j| Some((j, one_of_two(&maps[i], &maps[j])?)));
        match found {
            Some((j, both)) => {
                maps.remove(j);
                maps[i] = both;
                i = 0;
            }
            None => i += 1,
        }
    }
    maps
}

/// The map of both domains, where they differ in the interval of one variable or one constraint, and the intervals meet.
fn one_of_two(a: &IndexingMap, b: &IndexingMap) -> Option<IndexingMap> {
    if a.is_undefined() || b.is_undefined() || a.constraints.len() != b.constraints.len() || a.runtime != b.runtime {
        return None;
    }
    let (mut both, mut other) = (a.clone(), b.clone());
    let mut differences = 0;
    for (own, more) in all_bounds(&mut both).into_iter().zip(all_bounds(&mut other)) {
        if own != more {
            differences += 1;
            *own = joined_intervals(*own, *more)?;
        }
    }
    for own in &mut both.constraints {
        let more = b.constraints.iter().find(|c: &&Constraint| c.expr == own.expr)?;
        if own.bounds != more.bounds {
            differences += 1;
            own.bounds = joined_intervals(own.bounds, more.bounds)?;
        }
    }
    if differences > 1 {
        return None;
    }
    if !has_results_of(a, b) {
        if !has_results_of(b, a) {
            return None;
        }
        both.results.clone_from(&b.results);
    }
    both.settle();
    Some(both)
}

/// The interval of both, where there is no gap between them.
fn joined_intervals(a: Interval, b: Interval) -> Option<Interval> {
    let meets = i128::from(a.lo.max(b.lo)) <= i128::from(a.hi.min(b.hi)) + 1;
    meets.then(|| a.hull(b))
}

/// At most `most` maps with disjoint domains that hold all points of the given ones, which may overlap. The undefined map,
/// where no one result is right for two that must be joined.
pub(super) fn widened(mut maps: Vec<IndexingMap>, most: usize) -> Vec<IndexingMap> {
    maps.retain(|m| !m.is_known_empty());
    loop {
        let Some((i, j)) = overlapping(&maps).or_else(|| cheapest(&maps, most)) else { return maps };
        let Some(both) = maps[i].joined(&maps[j]) else { return vec![IndexingMap::undefined()] };
        maps.remove(j);
        maps[i] = both;
    }
}

fn pairs(maps: &[IndexingMap]) -> impl Iterator<Item = (usize, usize)> {
    let n = maps.len();
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

fn overlapping(maps: &[IndexingMap]) -> Option<(usize, usize)> {
    pairs(maps).find(|(i, j)| !maps[*i].is_apart_from(&maps[*j]))
}

/// The pair whose join adds the fewest points to the boxes, of those that have one result if there are any.
fn cheapest(maps: &[IndexingMap], most: usize) -> Option<(usize, usize)> {
    if maps.len() <= most.max(1) {
        return None;
    }
    let cost = |(i, j): &(usize, usize)| {
        let (mut a, mut b) = (maps[*i].clone(), maps[*j].clone());
        let differs = !has_results_of(&a, &b) && !has_results_of(&b, &a);
        let sizes = a.box_size().saturating_add(b.box_size());
        let sides = all_bounds(&mut a).into_iter().zip(all_bounds(&mut b)).map(|(x, y)| x.hull(*y).size());
        (differs, sides.fold(1, u128::saturating_mul).saturating_sub(sizes))
    };
    pairs(maps).min_by_key(cost)
}
