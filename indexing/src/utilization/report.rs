//! Results of the utilization analysis, as values and as text.

use std::fmt;

use crate::{Error, Rational, Unknown};

/// A count between two ends, both included.
///
/// In an exact answer both ends are reached, and differ only where the count depends on runtime values; in bounds they may
/// not be.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CountRange {
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::count"))]
    least: u128,
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::count"))]
    greatest: u128,
}

impl CountRange {
    /// From `least` to `greatest`.
    ///
    /// # Errors
    /// When the least is above the greatest.
    pub fn try_new(least: u128, greatest: u128) -> Result<CountRange, Error> {
        if least > greatest {
            return Err(Error::Setting { what: "the least count is not above the greatest" });
        }
        Ok(CountRange { least, greatest })
    }

    /// The least range that holds both counts.
    pub(super) fn between(one: u128, other: u128) -> CountRange {
        CountRange { least: one.min(other), greatest: one.max(other) }
    }

    /// One count.
    pub fn exactly(count: u128) -> CountRange {
        CountRange { least: count, greatest: count }
    }

    /// The least it can be.
    pub fn least(self) -> u128 {
        self.least
    }

    /// The greatest it can be.
    pub fn greatest(self) -> u128 {
        self.greatest
    }

    /// The count, where there is only one.
    pub fn as_one(self) -> Option<u128> {
        (self.least == self.greatest).then_some(self.least)
    }

    /// The least range that holds both.
    #[must_use]
    pub fn hull(self, other: CountRange) -> CountRange {
        CountRange::between(self.least.min(other.least), self.greatest.max(other.greatest))
    }

    /// True when the count may be `count`.
    pub fn contains(self, count: u128) -> bool {
        self.least <= count && count <= self.greatest
    }
}

/// `5`, or `2 to 5`.
impl fmt::Display for CountRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_one() {
            Some(count) => write!(f, "{count}"),
            None => write!(f, "{} to {}", self.least, self.greatest),
        }
    }
}

/// The method by which utilization was counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Basis {
    /// Exact: counted from progressions, without walking the domain.
    ClosedForm,
    /// Exact: the points of the domain were counted one by one.
    Enumeration,
    /// The counts lie between the ends, which need not be reached; with the reason why more was not found out.
    Bounds(Unknown),
}

impl Basis {
    /// True when counts are exact.
    pub fn is_exact(self) -> bool {
        !matches!(self, Basis::Bounds(_))
    }

    /// A stable name, as in the JSON form.
    pub fn code(self) -> &'static str {
        match self {
            Basis::ClosedForm => "closed-form",
            Basis::Enumeration => "enumeration",
            Basis::Bounds(_) => "bounds",
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Basis::ClosedForm => f.write_str("exact, in closed form"),
            Basis::Enumeration => f.write_str("exact, by enumeration"),
            Basis::Bounds(reason) => write!(f, "bounds, since {reason}"),
        }
    }
}

/// The utilization of an operand: how much of it is read to compute all of an output, and how often; see
/// [`crate::IndexingMap::utilization`].
///
/// The fields keep their names in the JSON form (feature `serde`).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Utilization {
    /// Elements of the operand.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::count"))]
    pub elements: u128,
    /// Elements read at least once.
    pub used: CountRange,
    /// Reads of all elements together: the points of the domain.
    pub reads: CountRange,
    /// Reads of an element that is read least; zero where some element is not read.
    pub fewest_reads: CountRange,
    /// Reads of an element that is read most.
    pub most_reads: CountRange,
    /// The method by which these numbers were counted.
    pub basis: Basis,
}

impl Utilization {
    /// The fraction of elements that are used, from the least to the greatest it can be; nothing for an operand without
    /// elements, of which there is no fraction.
    ///
    /// ```
    /// use weft_indexing::{IndexingMap, Rational};
    ///
    /// // slice of [10] with start 1, limit 9, stride 2
    /// let slice: IndexingMap = "(d0) -> (d0 * 2 + 1), domain: d0 in [0, 3]".parse()?;
    /// let two_fifths = Rational::new(4, 10).expect("a denominator");
    /// assert_eq!(slice.utilization(&[10])?.fraction(), Some([two_fifths; 2]));
    /// # Ok::<(), weft_indexing::Error>(())
    /// ```
    pub fn fraction(&self) -> Option<[Rational; 2]> {
        let of = |used: u128| Rational::new(used, self.elements);
        Some([of(self.used.least)?, of(self.used.greatest)?])
    }
}

/// One line, as `used 4 of 10 (2/5); 4 reads, 0 to 1 each; exact, in closed form`.
impl fmt::Display for Utilization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "used {} of {}", self.used, self.elements)?;
        match self.fraction() {
            Some([least, greatest]) if least == greatest => write!(f, " ({least})")?,
            Some([least, greatest]) => write!(f, " ({least} to {greatest})")?,
            None => {}
        }
        let each = CountRange::between(self.fewest_reads.least, self.most_reads.greatest);
        write!(f, "; {} reads, {each} each; {}", self.reads, self.basis)
    }
}

/// The utilization of one operand by each of its uses, and by all together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OperandUtilization {
    /// By each map alone, in the order given.
    pub uses: Vec<Utilization>,
    /// By all maps: an element counts as used when some map reads it, and its reads are added up.
    pub union: Utilization,
}

/// A line for each use, and one for all.
impl fmt::Display for OperandUtilization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, one) in self.uses.iter().enumerate() {
            writeln!(f, "use {i}: {one}")?;
        }
        write!(f, "all: {}", self.union)
    }
}
