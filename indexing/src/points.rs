//! Enumeration of the points of a domain, and of boxes within it.

use std::fmt;

use weft_affine::{Interval, Point};

use crate::{IndexingMap, Limits, Unknown};

/// A point of the domain: a value for every variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainPoint {
    /// Values of the dimension variables.
    pub dims: Vec<i64>,
    /// Values of the range variables.
    pub ranges: Vec<i64>,
    /// Values of the runtime variables.
    pub runtime: Vec<i64>,
}

impl DomainPoint {
    /// The point as expressions take it.
    pub(crate) fn as_point(&self) -> Point<'_> {
        Point { dims: &self.dims, ranges: &self.ranges, runtime: &self.runtime }
    }
}

/// `(1, 2)[0]{5}`, as the variables stand in the header of a map.
impl fmt::Display for DomainPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        write!(f, "({})", list(&self.dims))?;
        if !self.ranges.is_empty() {
            write!(f, "[{}]", list(&self.ranges))?;
        }
        if !self.runtime.is_empty() {
            write!(f, "{{{}}}", list(&self.runtime))?;
        }
        Ok(())
    }
}

/// The points of a domain in lexicographic order; see [`IndexingMap::points`].
#[derive(Debug)]
pub struct Points<'a> {
    map: &'a IndexingMap,
    bounds: Vec<Interval>,
    next: Option<Vec<i64>>,
    /// Points of the box that may still be looked at.
    visits: u64,
}

impl IndexingMap {
    /// All points of the domain in lexicographic order of dimensions, ranges and runtime values.
    ///
    /// The iterator walks the box of all bounds, [`IndexingMap::box_size`] points, and passes over those that break a
    /// constraint. It has no points for an undefined map.
    pub fn points(&self) -> Points<'_> {
        let ranges = self.variable_ranges();
        let bounds: Vec<Interval> = [ranges.dims, ranges.ranges, ranges.runtime].concat();
        let possible = !self.is_undefined() && !self.is_known_empty() && bounds.iter().all(|b| !b.is_empty());
        let next = possible.then(|| bounds.iter().map(|b| b.lo).collect());
        Points { map: self, bounds, next, visits: u64::MAX }
    }

    /// The number of points within the bounds of all variables, constraints aside; saturates.
    pub fn box_size(&self) -> u128 {
        let ranges = self.variable_ranges();
        let all = [&ranges.dims, &ranges.ranges, &ranges.runtime];
        all.into_iter().flatten().fold(1, |n: u128, b| n.saturating_mul(b.size()))
    }
}

impl Points<'_> {
    /// Looks at no more than so many points of the box, those that break a constraint included: with it the walk ends soon even
    /// where a large box holds few points, or none.
    ///
    /// ```
    /// use weft_indexing::IndexingMap;
    ///
    /// let far: IndexingMap = "(d0) -> (), domain: d0 in [0, 999999999], d0 mod 1000 in [7, 7]".parse()?;
    /// let mut points = far.points().visiting_at_most(2000);
    /// assert_eq!(points.by_ref().map(|point| point.dims[0]).collect::<Vec<_>>(), [7, 1007]);
    /// assert!(points.is_cut_off());
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    #[must_use]
    pub fn visiting_at_most(self, visits: u64) -> Self {
        Points { visits, ..self }
    }

    /// True when the walk has ended before the end of the box, so that there may be more points.
    pub fn is_cut_off(&self) -> bool {
        self.visits == 0 && self.next.is_some()
    }
}

impl Iterator for Points<'_> {
    type Item = DomainPoint;

    fn next(&mut self) -> Option<DomainPoint> {
        loop {
            self.visits = self.visits.checked_sub(1)?;
            let values = self.next.take()?;
            let mut following = values.clone();
            for (value, bounds) in following.iter_mut().zip(&self.bounds).rev() {
                if *value < bounds.hi {
                    *value += 1;
                    self.next = Some(following);
                    break;
                }
                *value = bounds.lo;
            }
            let (dims, rest) = values.split_at(self.map.dims.len());
            let (ranges, runtime) = rest.split_at(self.map.ranges.len());
            if self.map.contains(dims, ranges, runtime) {
                return Some(DomainPoint { dims: dims.to_vec(), ranges: ranges.to_vec(), runtime: runtime.to_vec() });
            }
        }
    }
}

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
        if points <= u128::from(limits.points()) {
            return Walk { boxes: vec![map.clone()], left_out: None };
        }
        let widths = widths(map, u128::from(limits.points()) / 3);
        let placed = |place: fn(Interval, u128) -> Interval| {
            let mut part = map.clone();
            for (bounds, width) in all_bounds(&mut part).into_iter().zip(&widths) {
                *bounds = place(*bounds, *width);
            }
            part
        };
        let boxes = vec![placed(from_below), placed(from_above), placed(in_the_middle)];
        Walk { boxes, left_out: Some(Unknown::TooManyPoints { points, limit: limits.points() }) }
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
