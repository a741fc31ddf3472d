//! Unions of maps with disjoint domains.

mod text;
mod widen;

use std::fmt;

use weft_affine::Interval;

use crate::domain_set::{has_results_of, with_common_runtime, without};
use crate::{Answer, Cardinality, DomainPoint, Error, IndexingMap, Limits, Unknown};
use widen::{merged, widened};

/// Why a set of maps is an overapproximation: it holds every point that it should, and maybe others.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum OverapproximationReason {
    /// The exact set would have more members than [`Limits`] allow.
    Members,
    /// A value that decides about a point may leave `i64`.
    Overflow,
    /// A map is undefined: nothing is known about the relation.
    Undefined,
}

impl OverapproximationReason {
    const ALL: [Self; 3] = [Self::Members, Self::Overflow, Self::Undefined];

    /// The stable code of the reason, which also stands in the text of a set.
    pub fn code(self) -> &'static str {
        match self {
            Self::Members => "members",
            Self::Overflow => "overflow",
            Self::Undefined => "undefined",
        }
    }
}

/// A clause, such as `a map is undefined`.
impl fmt::Display for OverapproximationReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Members => "the exact set has too many members",
            Self::Overflow => "numbers leave their range",
            Self::Undefined => "a map is undefined",
        })
    }
}

/// A function given piece by piece: maps over the same variables, whose domains have no point in common.
///
/// An [`IndexingMap`] has a conjunction for a domain; a set of maps can also say "outside of the window", or take another
/// result in each part. An operation that would need more than [`Limits::members`] members gives a set of more points, which
/// then [is not exact](MapSet::is_exact): it holds every point that it should, and maybe others.
///
/// ```
/// use weft_indexing::{IndexingMap, Interval, Limits, MapSet};
///
/// let limits = Limits::default();
/// let window: IndexingMap = "(d0, d1) -> (d0, d1), domain: d0 in [2, 5], d1 in [0, 7]".parse()?;
/// let outside = window.complement_within(&[Interval::of_extent(8), Interval::of_extent(8)], &[], &limits)?;
/// assert_eq!(outside.to_string(), "{(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 7]; \
///     (d0, d1) -> (d0, d1), domain: d0 in [6, 7], d1 in [0, 7]}");
/// assert_eq!(outside.cardinality(&limits).exact(), Some(32));
///
/// let all = outside.union(&MapSet::from(window), &limits)?;
/// assert_eq!(all.to_string(), "{(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 7]}");
/// # Ok::<(), weft_indexing::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct MapSet {
    /// Never empty: a set without points keeps one map that is known to be empty, for its variables and results; an undefined
    /// set is the one undefined map.
    maps: Vec<IndexingMap>,
    overapproximation: Option<OverapproximationReason>,
}

/// The set of one map.
impl From<IndexingMap> for MapSet {
    fn from(map: IndexingMap) -> MapSet {
        MapSet::of(vec![map], None)
    }
}

impl MapSet {
    /// The set of maps that are known to be disjoint, in normal form. At least one map is given.
    fn of(mut maps: Vec<IndexingMap>, overapproximation: Option<OverapproximationReason>) -> MapSet {
        if maps.iter().any(IndexingMap::is_undefined) {
            return MapSet {
                maps: vec![IndexingMap::undefined()],
                overapproximation: overapproximation.or(Some(OverapproximationReason::Undefined)),
            };
        }
        maps.iter_mut().for_each(IndexingMap::settle);
        let spare = maps.first().cloned();
        maps.retain(|m| !m.is_known_empty());
        if maps.is_empty() {
            maps.extend(spare.map(|mut map| {
                map.set_known_empty();
                map.constraints.clear();
                map
            }));
        }
        with_common_runtime(&mut maps);
        MapSet { maps: merged(maps), overapproximation }
    }

    /// The maps; none where there are no points or the set is undefined.
    pub fn members(&self) -> impl Iterator<Item = &IndexingMap> {
        self.maps.iter().filter(|m| !m.is_known_empty() && !m.is_undefined())
    }

    /// True when the set holds no point but those it should.
    pub fn is_exact(&self) -> bool {
        self.overapproximation.is_none()
    }

    /// Why the set is an overapproximation; nothing where it is exact.
    pub fn overapproximation(&self) -> Option<OverapproximationReason> {
        self.overapproximation
    }

    /// True when nothing is known about the relation.
    pub fn is_undefined(&self) -> bool {
        self.maps.iter().any(IndexingMap::is_undefined)
    }

    /// True when the set was proved to have no point.
    pub fn is_known_empty(&self) -> bool {
        !self.is_undefined() && self.members().next().is_none()
    }

    /// Whether the set has no point; a point shows that it has one.
    ///
    /// ```
    /// use weft_indexing::{Answer, IndexingMap, Limits, MapSet};
    ///
    /// let row: IndexingMap = "(d0) -> (d0), domain: d0 in [0, 7]".parse()?;
    /// let limits = Limits::default();
    /// assert_eq!(row.difference(&row, &limits)?.is_empty(&limits), Answer::Yes);
    /// assert_eq!(MapSet::from(row).is_empty(&limits).to_string(), "no: (0)");
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn is_empty(&self, limits: &Limits) -> Answer<DomainPoint> {
        if self.is_undefined() {
            return Answer::Unknown(Unknown::Undefined);
        }
        let mut reason = None;
        for member in self.members() {
            match (member.is_empty(limits), self.overapproximation) {
                (Answer::Yes, _) => {}
                (Answer::No(_), Some(why)) => reason = reason.or(Some(Unknown::Overapproximation(why))),
                (Answer::No(point), None) => return Answer::No(point),
                (Answer::Unknown(why), _) => reason = reason.or(Some(why)),
            }
        }
        reason.map_or(Answer::Yes, Answer::Unknown)
    }

    /// True when the point may be in the set: it is in the domain of some member, or the set is undefined. Of a set that
    /// [is exact](MapSet::is_exact) that is the answer; of another one only false is.
    pub fn may_contain(&self, dims: &[i64], ranges: &[i64], runtime: &[i64]) -> bool {
        self.is_undefined() || self.maps.iter().any(|m| m.contains(dims, ranges, runtime))
    }

    /// The results at a point of the domain; nothing elsewhere.
    ///
    /// # Errors
    /// When a number of values is wrong, the set is undefined, or the evaluation overflows.
    pub fn evaluate(&self, dims: &[i64], ranges: &[i64], runtime: &[i64]) -> Result<Option<Vec<i64>>, Error> {
        if self.is_undefined() {
            return Err(Error::Undefined);
        }
        let at = self.maps.iter().find(|m| m.contains(dims, ranges, runtime));
        match (at, self.maps.first()) {
            (Some(map), _) => map.evaluate(dims, ranges, runtime).map(Some),
            // A point of the wrong size is in no domain.
            (None, Some(map)) => match map.evaluate(dims, ranges, runtime) {
                Err(error @ Error::Arity { .. }) => Err(error),
                _ => Ok(None),
            },
            (None, None) => Ok(None),
        }
    }

    /// All points of the domain, member by member.
    pub fn points(&self) -> impl Iterator<Item = DomainPoint> {
        self.members().flat_map(IndexingMap::points)
    }

    /// The number of points of the domain; of a set that is not exact, of the points that it holds.
    pub fn cardinality(&self, limits: &Limits) -> Cardinality {
        if self.is_undefined() {
            return Cardinality::Between { at_least: 0, at_most: u128::MAX, reason: Unknown::Undefined };
        }
        self.members().map(|m| m.cardinality(limits)).fold(Cardinality::Exactly(0), Cardinality::plus)
    }

    /// The points of both; where both have a point, the result is that of `self`.
    ///
    /// # Errors
    /// When the variables or the number of results are not the same.
    pub fn union(&self, other: &MapSet, limits: &Limits) -> Result<MapSet, Error> {
        self.expect_same_variables(other)?;
        if let (Some(a), Some(b)) = (self.maps.first(), other.maps.first())
            && !self.is_undefined()
            && !other.is_undefined()
            && a.results.len() != b.results.len()
        {
            return Err(Error::Arity { what: "results", expected: a.results.len(), found: b.results.len() });
        }
        if self.is_undefined() || other.is_undefined() {
            return Ok(MapSet::of(vec![IndexingMap::undefined()], self.overapproximation.or(other.overapproximation)));
        }
        let overapproximation = self.overapproximation.or(other.overapproximation);
        // The points of `self` are taken away from `other` also where there may be too many of them: they stay in the union.
        let (mut rest, reason) = taken_away(other.maps.clone(), self.members(), limits);
        let mut maps = self.maps.clone();
        maps.append(&mut rest);
        if reason.is_some() {
            // Parts may overlap now.
            return Ok(MapSet::of(widened(maps, limits.members()), overapproximation.or(reason)));
        }
        Ok(MapSet::of(maps, overapproximation).capped(limits))
    }

    /// The points that are in both, with the results of `self`.
    ///
    /// # Errors
    /// When the variables are not the same.
    pub fn intersection(&self, other: &MapSet, limits: &Limits) -> Result<MapSet, Error> {
        self.expect_same_variables(other)?;
        let overapproximation = self.overapproximation.or(other.overapproximation);
        if self.is_undefined() || other.is_undefined() {
            return Ok(MapSet::of(vec![IndexingMap::undefined()], overapproximation));
        }
        let mut maps = Vec::new();
        for own in &self.maps {
            for theirs in &other.maps {
                let both = own.intersect_domain(theirs)?;
                if maps.is_empty() || !both.is_known_empty() {
                    maps.push(both);
                }
            }
            if maps.len() > limits.members().saturating_mul(4) {
                return Ok(MapSet {
                    overapproximation: overapproximation.or(Some(OverapproximationReason::Members)),
                    ..self.clone()
                }
                .capped(limits));
            }
        }
        Ok(MapSet::of(maps, overapproximation).capped(limits))
    }

    /// The points of `self` that are not in `other`.
    ///
    /// # Errors
    /// When the variables are not the same.
    pub fn difference(&self, other: &MapSet, limits: &Limits) -> Result<MapSet, Error> {
        self.expect_same_variables(other)?;
        if self.is_undefined() {
            return Ok(self.clone());
        }
        if let Some(reason) = other.overapproximation {
            // Points that are not really in `other` may not be taken away.
            return Ok(
                MapSet { overapproximation: self.overapproximation.or(Some(reason)), ..self.clone() }.capped(limits)
            );
        }
        let (maps, reason) = taken_away(self.maps.clone(), other.members(), limits);
        if maps.is_empty() {
            let mut nothing = self.maps.clone();
            nothing.iter_mut().for_each(IndexingMap::set_known_empty);
            return Ok(MapSet::of(nothing, self.overapproximation));
        }
        Ok(MapSet::of(maps, self.overapproximation.or(reason)).capped(limits))
    }

    /// The points of a box of dimensions and range variables that are not in the set; runtime variables keep their bounds.
    /// The results are those of the first member.
    ///
    /// # Errors
    /// When the numbers of bounds are not those of the variables.
    pub fn complement_within(&self, dims: &[Interval], ranges: &[Interval], limits: &Limits) -> Result<MapSet, Error> {
        match self.maps.first() {
            Some(map) if !map.is_undefined() => MapSet::from(map.over_box(dims, ranges)?).difference(self, limits),
            _ => Ok(self.clone()),
        }
    }

    /// The composition that applies `self` first and `next` to its results; see [`IndexingMap::then`].
    ///
    /// # Errors
    /// As for maps.
    pub fn then(&self, next: &IndexingMap) -> Result<MapSet, Error> {
        let maps = self.maps.iter().map(|m| m.then(next)).collect::<Result<_, _>>()?;
        Ok(MapSet::of(maps, self.overapproximation))
    }

    /// Simplifies the domains of all members, drops those without points and joins those that are one domain; true when
    /// something changed. Results keep their form, by which parts of one map are known to be that.
    pub fn simplify(&mut self) -> bool {
        let before = self.clone();
        *self = MapSet::of(std::mem::take(&mut self.maps), self.overapproximation);
        *self != before
    }

    fn capped(self, limits: &Limits) -> MapSet {
        if self.maps.len() <= limits.members() {
            return self;
        }
        MapSet::of(
            widened(self.maps, limits.members()),
            self.overapproximation.or(Some(OverapproximationReason::Members)),
        )
    }

    fn expect_same_variables(&self, other: &MapSet) -> Result<(), Error> {
        match (self.maps.first(), other.maps.first()) {
            (Some(a), Some(b)) => a.expect_same_variables(b),
            _ => Ok(()),
        }
    }
}

impl IndexingMap {
    /// The composition that applies `self` first and the set to its results: the points that lead to a point of some member.
    ///
    /// # Errors
    /// As [`IndexingMap::then`].
    pub fn then_set(&self, next: &MapSet) -> Result<MapSet, Error> {
        let maps = next.maps.iter().map(|m| self.then(m)).collect::<Result<_, _>>()?;
        Ok(MapSet::of(maps, next.overapproximation))
    }

    /// True when the domains have no point in common, as far as simplification shows.
    pub(crate) fn is_apart_from(&self, other: &IndexingMap) -> bool {
        self.intersect_domain(other).is_ok_and(|both| both.is_known_empty())
    }

    /// One map for two, over a domain that holds the domains of both; nothing where no result is right for both.
    pub(crate) fn joined(&self, other: &IndexingMap) -> Option<IndexingMap> {
        let mut both = crate::domain_set::hull(self, other);
        if !has_results_of(self, other) {
            if !has_results_of(other, self) {
                return None;
            }
            both.results.clone_from(&other.results);
        }
        Some(both)
    }
}

/// The maps without the points of the others. Past the cap the rest is not taken away.
fn taken_away<'a>(
    mut maps: Vec<IndexingMap>,
    others: impl Iterator<Item = &'a IndexingMap>,
    limits: &Limits,
) -> (Vec<IndexingMap>, Option<OverapproximationReason>) {
    let mut overapproximation = None;
    for other in others {
        let mut parts = Vec::new();
        for map in &maps {
            let (mut rest, reason) = without(map, other);
            overapproximation = overapproximation.or(reason);
            parts.append(&mut rest);
        }
        let parts = merged(parts);
        if parts.len() > limits.members() {
            overapproximation = overapproximation.or(Some(OverapproximationReason::Members));
        } else {
            maps = parts;
        }
    }
    (maps, overapproximation)
}
