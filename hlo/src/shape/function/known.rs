//! The lattice of partial knowledge of a value.

use super::value::MAX_OPERAND_RANK;
use super::{Extents, MAX_LIST, MAX_RANK, Type, Value};
use weft_affine::Interval;

/// The extents a list may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownShape {
    /// The rank is known, and of every extent an interval: a point where it is known, `[0, N]` for `<=N`,
    /// `[0, i64::MAX]` for `?`.
    Ranked(Vec<Interval>),
    /// The rank is in an interval, and every extent in another.
    Unranked {
        /// The number of extents.
        rank: Interval,
        /// The range of each extent.
        extent: Interval,
    },
}

/// Every extent.
pub(super) const EXTENT: Interval = Interval::new(0, i64::MAX);

impl KnownShape {
    /// A shape of which nothing is known.
    pub fn unknown() -> Self {
        KnownShape::Unranked { rank: Interval::new(0, MAX_RANK as i64), extent: EXTENT }
    }

    /// A shape that is known.
    pub fn exact(extents: &[i64]) -> Self {
        KnownShape::Ranked(extents.iter().map(|&extent| Interval::point(extent)).collect())
    }

    /// Whether the extents may be these.
    pub fn admits(&self, extents: &[i64]) -> bool {
        match self {
            KnownShape::Ranked(dims) => {
                dims.len() == extents.len() && dims.iter().zip(extents).all(|(dim, &extent)| dim.contains(extent))
            }
            KnownShape::Unranked { rank, extent } => {
                rank.contains(extents.len() as i64) && extents.iter().all(|&given| extent.contains(given))
            }
        }
    }

    pub(super) fn as_exact(&self) -> Option<Extents> {
        match self {
            KnownShape::Ranked(dims) => dims.iter().map(|dim| dim.as_point()).collect(),
            KnownShape::Unranked { rank, .. } => (rank.hi == 0).then(Extents::new),
        }
    }

    pub(super) fn rank(&self) -> Interval {
        match self {
            KnownShape::Ranked(dims) => Interval::point(dims.len() as i64),
            KnownShape::Unranked { rank, .. } => *rank,
        }
    }

    /// What is known of an extent at an index in `at`.
    pub(super) fn extent(&self, at: Interval) -> Interval {
        match self {
            KnownShape::Ranked(dims) => {
                let within = (0i64..).zip(dims).filter(|(index, _)| at.contains(*index));
                within.fold(Interval::EMPTY, |all, (_, dim)| all.hull(*dim))
            }
            KnownShape::Unranked { extent, .. } => *extent,
        }
    }

    /// What is known if both hold.
    pub(super) fn meet(&self, other: &KnownShape) -> KnownShape {
        use KnownShape::{Ranked, Unranked};
        match (self, other) {
            (Ranked(a), Ranked(b)) if a.len() == b.len() => {
                Ranked(a.iter().zip(b).map(|(a, b)| a.intersect(*b)).collect())
            }
            (Ranked(_), Ranked(_)) => self.clone(),
            (Ranked(dims), Unranked { extent, .. }) | (Unranked { extent, .. }, Ranked(dims)) => {
                Ranked(dims.iter().map(|dim| dim.intersect(*extent)).collect())
            }
            (Unranked { rank: a, extent: x }, Unranked { rank: b, extent: y }) => {
                Unranked { rank: a.intersect(*b), extent: x.intersect(*y) }.normal()
            }
        }
    }

    /// What is known if one of the two holds.
    pub(super) fn join(&self, other: &KnownShape) -> KnownShape {
        use KnownShape::{Ranked, Unranked};
        match (self, other) {
            (Ranked(a), Ranked(b)) if a.len() == b.len() => Ranked(a.iter().zip(b).map(|(a, b)| a.hull(*b)).collect()),
            _ => {
                let all = Interval::EVERYTHING;
                Unranked { rank: self.rank().hull(other.rank()), extent: self.extent(all).hull(other.extent(all)) }
            }
        }
    }

    /// Ranked, if only one rank is left and it is small.
    pub(super) fn normal(self) -> KnownShape {
        match self {
            KnownShape::Unranked { rank, extent } => match rank.as_point() {
                Some(rank @ 0..=64) => KnownShape::Ranked(vec![extent; rank as usize]),
                _ => KnownShape::Unranked { rank, extent },
            },
            ranked => ranked,
        }
    }
}

/// The partial knowledge of a value of any type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// A size in an interval.
    Size(Interval),
    /// A truth value, or evidence, that may be true, false, or either.
    Truth {
        /// Whether it may be true.
        may_hold: bool,
        /// Whether it may be false.
        may_fail: bool,
    },
    /// A shape or a list of sizes.
    List(KnownShape),
    /// A list of shapes: all of them, or nothing but the number.
    Shapes(Result<Vec<KnownShape>, Interval>),
    /// The value.
    Exact(Value),
}

impl Known {
    /// Nothing but the type.
    pub fn of_type(ty: Type) -> Known {
        let rank = Interval::new(0, MAX_RANK as i64);
        match ty {
            Type::ValueShape => {
                let rank = Interval::new(0, MAX_OPERAND_RANK as i64);
                Known::List(KnownShape::Unranked { rank, extent: EXTENT })
            }
            Type::Shape => Known::List(KnownShape::unknown()),
            Type::Sizes => Known::List(KnownShape::Unranked { rank, extent: Interval::EVERYTHING }),
            Type::Size => Known::Size(Interval::EVERYTHING),
            Type::Bool | Type::Witness => Known::Truth { may_hold: true, may_fail: true },
            Type::Shapes => Known::Shapes(Err(Interval::new(0, MAX_LIST as i64))),
        }
    }

    /// Whether this may be known of an operand or an attribute of the type.
    pub(super) fn fits(&self, ty: Type) -> bool {
        match (ty, self) {
            (ty, Known::Exact(value)) => value.is(ty),
            (Type::ValueShape | Type::Shape, Known::List(list)) => list.extent(Interval::EVERYTHING).lo >= 0,
            (Type::Sizes, Known::List(_))
            | (Type::Size, Known::Size(_))
            | (Type::Bool, Known::Truth { .. })
            | (Type::Shapes, Known::Shapes(_)) => true,
            _ => false,
        }
    }

    /// The value, if there is only one.
    pub fn exact(&self) -> Option<Value> {
        match self {
            Known::Size(size) => size.as_point().map(Value::Size),
            Known::Truth { .. } => None,
            Known::List(list) => list.as_exact().map(Value::Extents),
            Known::Shapes(shapes) => {
                shapes.as_ref().ok()?.iter().map(KnownShape::as_exact).collect::<Option<_>>().map(Value::Shapes)
            }
            Known::Exact(value) => Some(value.clone()),
        }
    }

    /// Whether the value may be this one.
    pub fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Known::Size(size), Value::Size(value)) => size.contains(*value),
            (Known::Truth { may_hold, may_fail }, Value::Bool(value)) => *if *value { may_hold } else { may_fail },
            (Known::Truth { may_hold, may_fail }, Value::Witness(failure)) => {
                *if failure.is_none() { may_hold } else { may_fail }
            }
            (Known::List(list), Value::Extents(extents)) => list.admits(extents),
            (Known::Shapes(Ok(known)), Value::Shapes(shapes)) => {
                known.len() == shapes.len() && known.iter().zip(shapes).all(|(known, shape)| known.admits(shape))
            }
            (Known::Shapes(Err(count)), Value::Shapes(shapes)) => count.contains(shapes.len() as i64),
            (Known::Exact(known), value) => known == value,
            _ => false,
        }
    }

    pub(super) fn as_size(&self) -> Interval {
        match self {
            Known::Size(size) => *size,
            Known::Exact(Value::Size(size)) => Interval::point(*size),
            _ => Interval::EVERYTHING,
        }
    }

    pub(super) fn as_list(&self) -> KnownShape {
        match self {
            Known::List(list) => list.clone(),
            Known::Exact(Value::Extents(extents)) => KnownShape::exact(extents),
            _ => KnownShape::Unranked { rank: Interval::new(0, MAX_RANK as i64), extent: Interval::EVERYTHING },
        }
    }

    pub(super) fn as_shapes(&self) -> Result<Vec<KnownShape>, Interval> {
        match self {
            Known::Shapes(shapes) => shapes.clone(),
            Known::Exact(Value::Shapes(shapes)) => Ok(shapes.iter().map(|shape| KnownShape::exact(shape)).collect()),
            _ => Err(Interval::new(0, MAX_LIST as i64)),
        }
    }

    /// Whether it may be true, and whether it may be false.
    pub(super) fn as_truth(&self) -> (bool, bool) {
        match self {
            Known::Truth { may_hold, may_fail } => (*may_hold, *may_fail),
            Known::Exact(Value::Bool(value)) => (*value, !value),
            Known::Exact(Value::Witness(failure)) => (failure.is_none(), failure.is_some()),
            _ => (true, true),
        }
    }

    /// What is known if one of the two holds.
    pub(super) fn join(&self, other: &Known) -> Known {
        if self == other {
            return self.clone();
        }
        let either = |known: &Known| match known {
            Known::Exact(Value::Size(_)) => Known::Size(known.as_size()),
            Known::Exact(Value::Extents(_)) => Known::List(known.as_list()),
            Known::Exact(Value::Shapes(_)) => Known::Shapes(known.as_shapes()),
            Known::Exact(Value::Bool(_) | Value::Witness(_)) => {
                let (may_hold, may_fail) = known.as_truth();
                Known::Truth { may_hold, may_fail }
            }
            _ => known.clone(),
        };
        match (either(self), either(other)) {
            (Known::Size(a), Known::Size(b)) => Known::Size(a.hull(b)),
            (Known::List(a), Known::List(b)) => Known::List(a.join(&b)),
            (Known::Shapes(Ok(a)), Known::Shapes(Ok(b))) if a.len() == b.len() => {
                Known::Shapes(Ok(a.iter().zip(&b).map(|(a, b)| a.join(b)).collect()))
            }
            (Known::Shapes(a), Known::Shapes(b)) => {
                let count = |shapes: Result<Vec<KnownShape>, Interval>| {
                    shapes.map_or_else(|count| count, |shapes| Interval::point(shapes.len() as i64))
                };
                Known::Shapes(Err(count(a).hull(count(b))))
            }
            _ => {
                let ((a, b), (c, d)) = (self.as_truth(), other.as_truth());
                Known::Truth { may_hold: a || c, may_fail: b || d }
            }
        }
    }
}
