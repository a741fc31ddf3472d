//! Enumeration of a tile, to prove that it is not a box.

use std::collections::{BTreeMap, BTreeSet};

use weft_affine::Interval;

use super::symbolic::SymbolicTile;

/// Points of a tile that are looked at.
const MAX_POINTS: u128 = 1 << 12;

impl SymbolicTile {
    /// Whether the map takes a box of indices to something that is no box, for some values of the runtime variables. False where
    /// there are too many points to be looked at, or a result has no value.
    pub(super) fn is_refuted_over(&self, indices: &[Interval]) -> bool {
        let mut part = self.map.clone();
        for (variable, own) in part.dims.iter_mut().zip(indices) {
            variable.bounds = variable.bounds.intersect(*own);
        }
        if part.box_size() > MAX_POINTS {
            return false;
        }
        let mut read: BTreeMap<Vec<i64>, BTreeSet<Vec<i64>>> = BTreeMap::new();
        for point in part.points() {
            let Ok(index) = part.evaluate(&point.dims, &point.ranges, &point.runtime) else { return false };
            read.entry(point.runtime).or_default().insert(index);
        }
        !read.values().all(is_box)
    }
}

/// Whether the indices are all of a product of arithmetic progressions.
fn is_box(indices: &BTreeSet<Vec<i64>>) -> bool {
    let rank = indices.first().map_or(0, Vec::len);
    let mut product: usize = 1;
    for axis in 0..rank {
        let values: BTreeSet<i64> = indices.iter().filter_map(|index| index.get(axis).copied()).collect();
        let gaps = values.iter().zip(values.iter().skip(1)).map(|(a, b)| i128::from(*b) - i128::from(*a));
        if gaps.collect::<BTreeSet<i128>>().len() > 1 {
            return false;
        }
        product = product.saturating_mul(values.len());
    }
    // Each index lies in the product of what its axes have.
    product == indices.len()
}
