//! Parts of a domain that are small enough to be walked.

use weft_affine::Interval;

use crate::{IndexingMap, Limits, Unknown};

/// Boxes to walk in search of a point: the whole domain, or parts of it.
pub(crate) struct Walk {
    /// The same map with narrower bounds.
    pub(crate) boxes: Vec<IndexingMap>,
    /// The reason why the boxes are not the whole domain.
    pub(crate) left_out: Option<Unknown>,
}

impl Walk {
    /// The domain, where its box has at most so many points; else its least corner, its greatest and its middle.
    ///
    /// `map` has the narrow bounds of its simplified form; see [`IndexingMap::within_bounds_of`].
    pub(crate) fn of(map: &IndexingMap, limits: &Limits) -> Walk {
        let points = map.box_size();
        if points <= u128::from(limits.points) {
            return Walk { boxes: vec![map.clone()], left_out: None };
        }
        let widths = widths(map, u128::from(limits.points) / 3);
        let placed = |place: fn(Interval, u128) -> Interval| {
            let mut part = map.clone();
            for (bounds, width) in all_bounds(&mut part).into_iter().zip(&widths) {
                *bounds = place(*bounds, *width);
            }
            part
        };
        let boxes = vec![placed(from_below), placed(from_above), placed(in_the_middle)];
        Walk { boxes, left_out: Some(Unknown::TooManyPoints { points, limit: limits.points }) }
    }
}

impl IndexingMap {
    /// The same map within the bounds that simplification found for its variables. Its points are those of the given map:
    /// simplified constraints may overflow where the given ones do not.
    pub(crate) fn within_bounds_of(&self, simple: &IndexingMap) -> IndexingMap {
        let mut narrow = self.clone();
        let (mut bounds, mut known) = (all_bounds(&mut narrow), simple.clone());
        for (own, found) in bounds.iter_mut().zip(all_bounds(&mut known)) {
            **own = own.intersect(*found);
        }
        narrow
    }
}

/// The bounds of all variables of a map, in the order of its points.
pub(crate) fn all_bounds(map: &mut IndexingMap) -> Vec<&mut Interval> {
    let plain = map.dims.iter_mut().chain(&mut map.ranges).map(|v| &mut v.bounds);
    plain.chain(map.runtime.iter_mut().map(|v| &mut v.bounds)).collect()
}

/// A width for each variable, so that the product is at most `points`: narrow variables stay whole.
fn widths(map: &IndexingMap, points: u128) -> Vec<u128> {
    let ranges = map.variable_ranges();
    let sizes: Vec<u128> = [ranges.dims, ranges.ranges, ranges.runtime].concat().iter().map(|b| b.size()).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|i| sizes[*i]);
    let (mut rest, mut widths) = (points.max(1), vec![1; sizes.len()]);
    for (done, i) in order.iter().enumerate() {
        let root = (1..).take_while(|w: &u128| power_is_within(*w, sizes.len() - done, rest)).last().unwrap_or(1);
        widths[*i] = sizes[*i].min(root).max(1);
        rest /= widths[*i];
    }
    widths
}

fn power_is_within(base: u128, exponent: usize, most: u128) -> bool {
    u32::try_from(exponent).ok().and_then(|n| base.checked_pow(n)).is_some_and(|power| power <= most)
}

fn from_below(b: Interval, width: u128) -> Interval {
    let hi = i128::from(b.lo) + steps(width);
    Interval::new(b.lo, i64::try_from(hi).map_or(b.hi, |hi| hi.min(b.hi)))
}

fn from_above(b: Interval, width: u128) -> Interval {
    let lo = i128::from(b.hi) - steps(width);
    Interval::new(i64::try_from(lo).map_or(b.lo, |lo| lo.max(b.lo)), b.hi)
}

fn in_the_middle(b: Interval, width: u128) -> Interval {
    let middle = (i128::from(b.lo) + i128::from(b.hi)).div_euclid(2) - steps(width) / 2;
    from_below(Interval::new(i64::try_from(middle).map_or(b.lo, |lo| lo.max(b.lo)), b.hi), width)
}

fn steps(width: u128) -> i128 {
    i128::try_from(width).unwrap_or(i128::MAX / 2) - 1
}
