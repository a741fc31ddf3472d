//! Enumeration of the domain: the plain meaning of a map, against which everything cleverer is judged.

use std::fmt;

use weft_affine::{Interval, Point};

use crate::IndexingMap;

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

    /// How many points the bounds of all variables admit, constraints aside; saturates.
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
