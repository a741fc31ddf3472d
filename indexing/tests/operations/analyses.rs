//! Inverses, operand utilization and tiles.

use std::collections::BTreeMap;

use weft_indexing::{Basis, Collision, DomainPoint, IndexingMap, Interval, Limits, NoInverse};

use super::{Counts, run};
use crate::tiles::judge as tiles;
use crate::worlds::{pairs, related, set};

/// So many points that random maps are all walked, whose graphs are.
const FEW: Limits = Limits::STRUCTURE.with_points(4096).with_members(16);
/// Inverses with larger boxes are not enumerated.
const MAX_POINTS: u128 = 1 << 13;
/// The most elements of an operand.
const MAX_ELEMENTS: i64 = 1 << 20;
/// Of a thousand sizes that give boxes everywhere, so many may be turned down; and of a thousand maps, so many may be refused that
/// give boxes for some size tried. These maps are of no operation: digits of sums with gaps.
const MAX_TURNED_DOWN: [usize; 2] = [200, 120];
/// The same where the map is read backwards.
const MAX_TURNED_DOWN_BACKWARDS: [usize; 2] = [350, 450];

/// The inverse has exactly the results for indices, and each belongs to the index that it came from.
#[test]
fn inverse() {
    let least = [("found", 15), ("found with points", 5), ("refused: not-injective", 15)];
    run("inverse", 11, &least, |_, given, world, counts| {
        let old = related(given, world)?;
        match given.inverse(&FEW) {
            Ok(inverse) if inverse.box_size() > MAX_POINTS => counts.add("too large", true),
            Ok(inverse) => {
                counts.add("found", true);
                counts.add("found with points", !old.is_empty());
                let expected = set(old.iter().map(|(index, _, element)| (element.clone(), index.clone())).collect());
                assert_eq!(pairs(&related(&inverse, world)?), expected, "{given:?}\nhas the inverse\n{inverse:?}");
            }
            Err(reason) => {
                counts.add(&format!("refused: {}", reason.code()), true);
                if let NoInverse::NotInjective(points) = &reason {
                    let Collision { first: a, second: b } = points.as_ref();
                    let value = |p: &DomainPoint| given.evaluate(&p.dims, &p.ranges, &p.runtime).ok();
                    let inside = |p: &DomainPoint| given.contains(&p.dims, &p.ranges, &p.runtime);
                    assert!(a != b && a.runtime == b.runtime && inside(a) && inside(b), "{reason}: {given:?}");
                    assert!(value(a).is_some() && value(a) == value(b), "{reason}: {given:?}");
                }
            }
        }
        Some(())
    });
}

/// The map with its results moved to begin at zero, and the extents that they stay within.
fn operand(given: &IndexingMap) -> Option<(IndexingMap, Vec<i64>)> {
    let mut map = given.clone();
    // A value that is dropped takes the point with it, and is no value within the bounds.
    map.set_runtime(map.runtime().iter().map(|v| v.clone().clamping()).collect()).expect("the same variables");
    let mut shape = Vec::new();
    let mut results = map.results().to_vec();
    for result in &mut results {
        let range = weft_affine::range_of(result, &given.variable_ranges());
        if range.lo == i64::MIN || range.hi == i64::MAX {
            return None;
        }
        *result = result.checked_add_constant(range.lo.checked_neg()?).ok()?;
        shape.push(range.hi.checked_sub(range.lo)?.checked_add(1).filter(|n| *n <= MAX_ELEMENTS)?);
    }
    map.set_results(results).expect("they are over the variables of the map");
    Some((map, shape))
}

/// What is read in one world is within what is said of all values of the runtime variables, and just that where there are none.
#[test]
fn utilization() {
    let least = [("exact", 60), ("exact with reads", 25)];
    run("utilization", 12, &least, |_, given, world, counts| {
        let Some((map, shape)) = operand(given) else {
            counts.add("too large", true);
            return Some(());
        };
        let found = map.utilization(&shape).expect("the shape has an extent for each result");
        let reads = related(&map, world)?;
        let mut each: BTreeMap<&[i64], u128> = BTreeMap::new();
        for (_, _, element) in &reads {
            *each.entry(element).or_default() += 1;
        }
        let used = each.len() as u128;
        let fewest = if used < found.elements { 0 } else { each.values().copied().min().unwrap_or(0) };
        let counted = [used, reads.len() as u128, fewest, each.values().copied().max().unwrap_or(0)];
        let is_exact = found.basis.is_exact() && map.runtime().is_empty();
        match found.basis {
            Basis::Bounds(reason) => counts.add(&format!("bounds: {}", reason.code()), true),
            exact => counts.add(exact.code(), true),
        }
        counts.add("exact", found.basis.is_exact());
        counts.add("exact with reads", is_exact && !reads.is_empty());
        let said = [found.used, found.reads, found.fewest_reads, found.most_reads];
        for (said, counted) in said.into_iter().zip(counted) {
            // The undefined map reads nothing that is known.
            let is_right = if is_exact { said.as_one() == Some(counted) } else { said.contains(counted) };
            assert!(is_right || given.is_undefined(), "{counted:?} of {found} for {map:?} over {shape:?}");
        }
        Some(())
    });
}

/// Judges the tiles of one map, and adds the reason where it has none.
fn tiles_of(all: &mut tiles::Counts, counts: &mut Counts, judge: impl FnOnce(&mut tiles::Counts)) {
    let (refused, skipped) = (all.refused.clone(), all.skipped);
    judge(all);
    for (code, now) in all.refused.iter().filter(|(code, now)| refused.get(*code) != Some(now)) {
        counts.add(&format!("refused: {code}"), now.0 > 0);
    }
    counts.add("too large", all.skipped > skipped);
}

/// What a map makes of the boxes of its index.
#[test]
fn tile_propagation() {
    let mut all = tiles::Counts::default();
    run("tile propagation", 13, &[], |random, given, _, counts| {
        let grid: Vec<Interval> = given.dims().iter().map(|v| v.bounds()).collect();
        tiles_of(&mut all, counts, |all| tiles::judge(random, given, &grid, all));
        Some(())
    });
    println!("{all}");
    assert!(all.needless_per_mille() <= MAX_TURNED_DOWN[0] && all.refused_per_mille() <= MAX_TURNED_DOWN[1], "{all}");
}

/// What a map takes into the boxes of its results.
#[test]
fn tile_propagation_backwards() {
    let mut all = tiles::Counts::default();
    run("tile propagation backwards", 14, &[], |random, given, _, counts| {
        let bounds = given.variable_ranges();
        let grid: Vec<Interval> = given.results().iter().map(|e| weft_affine::range_of(e, &bounds)).collect();
        let is_far = |b: &Interval| b.lo.unsigned_abs().max(b.hi.unsigned_abs()) > MAX_ELEMENTS.unsigned_abs();
        let is_judged = !grid.iter().any(is_far);
        counts.add("too large", !is_judged);
        if is_judged {
            tiles_of(&mut all, counts, |all| tiles::judge_back(random, given, &grid, all));
        }
        Some(())
    });
    println!("{all}");
    let [needless, refused] = MAX_TURNED_DOWN_BACKWARDS;
    assert!(all.needless_per_mille() <= needless && all.refused_per_mille() <= refused, "{all}");
}
