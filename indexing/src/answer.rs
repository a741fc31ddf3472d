//! Answers with counterexamples, limits on enumeration, and reasons for unknown answers.

use std::fmt;

use crate::OverapproximationReason;

/// Limits on the enumeration that answers a question: counts and not times, so that the answer is the same on every machine.
///
/// ```
/// use weft_indexing::{Answer, IndexingMap, Limits, Unknown};
///
/// let map: IndexingMap = "(d0, d1) -> (d0 * 2 + d1 floordiv 2 + d1 mod 2), domain: d0 in [0, 99], d1 in [0, 1]".parse()?;
/// assert_eq!(map.is_injective(&Limits::default()), Answer::Yes);
/// # Ok::<(), weft_indexing::Error>(())
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    points: u64,
    /// At least one.
    members: usize,
}

impl Limits {
    /// No points and one member: only the form of maps decides, and nothing is enumerated.
    pub const STRUCTURE: Limits = Limits { points: 0, members: 1 };

    /// With up to so many points of boxes that are looked at one by one, for one question.
    #[must_use]
    pub const fn with_points(self, points: u64) -> Limits {
        Limits { points, ..self }
    }

    /// With up to so many members of a [`MapSet`](crate::MapSet) that an operation returns. A set has a member at least, so that
    /// zero is taken for one.
    #[must_use]
    pub const fn with_members(self, members: usize) -> Limits {
        Limits { members: if members == 0 { 1 } else { members }, ..self }
    }

    /// The most points of boxes that are looked at one by one, for one question.
    pub const fn points(&self) -> u64 {
        self.points
    }

    /// The most members of a [`MapSet`](crate::MapSet) that an operation returns; at least one.
    pub const fn members(&self) -> usize {
        self.members
    }
}

/// 65,536 points and 64 members.
impl Default for Limits {
    fn default() -> Limits {
        Limits { points: 1 << 16, members: 64 }
    }
}

/// The answer to a question that may be too hard: yes, no with a counterexample, or unknown with the reason.
///
/// Properties that the form of a map does not decide, such as injectivity and equality, are answered by one, within [`Limits`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Answer<C> {
    /// The property holds everywhere in the domain.
    Yes,
    /// The property does not hold, and this is a counterexample.
    No(C),
    /// Neither was proved.
    Unknown(Unknown),
}

impl<C> Answer<C> {
    /// True for [`Answer::Yes`] alone: unknown is not yes.
    pub fn is_yes(&self) -> bool {
        matches!(self, Answer::Yes)
    }

    /// True for [`Answer::No`] alone.
    pub fn is_no(&self) -> bool {
        matches!(self, Answer::No(_))
    }

    /// The counterexample of [`Answer::No`].
    pub fn counterexample(&self) -> Option<&C> {
        match self {
            Answer::No(shown) => Some(shown),
            _ => None,
        }
    }

    /// The reason of [`Answer::Unknown`].
    pub fn unknown(&self) -> Option<Unknown> {
        match self {
            Answer::Unknown(reason) => Some(*reason),
            _ => None,
        }
    }
}

/// `yes`, `no: …` with what shows it, or `unknown: …` with the reason.
impl<C: fmt::Display> fmt::Display for Answer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Yes => f.write_str("yes"),
            Answer::No(shown) => write!(f, "no: {shown}"),
            Answer::Unknown(reason) => write!(f, "unknown: {reason}"),
        }
    }
}

/// Why a question or an analysis has no exact answer.
///
/// ```
/// use weft_indexing::{Answer, IndexingMap, Limits, Unknown};
///
/// let answer = IndexingMap::undefined().is_injective(&Limits::default());
/// assert_eq!(answer, Answer::Unknown(Unknown::Undefined));
/// assert_eq!(Unknown::Undefined.code(), "undefined");
/// assert_eq!(Unknown::Undefined.to_string(), "the map is undefined");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Unknown {
    /// A map is undefined: nothing is known about what it relates.
    Undefined,
    /// The runtime variables of two maps are not known to have the same values.
    RuntimeVariables,
    /// The map may lead out of the shape that it should index, so its results are no addresses.
    OutOfBounds,
    /// An intermediate value leaves `i64`, or a count leaves `u128`.
    Overflow,
    /// The form of the map does not decide it, and there are more points than [`Limits`](crate::Limits) allow to enumerate.
    TooManyPoints {
        /// The number of points to enumerate, constraints aside; saturates.
        points: u128,
        /// The limit on them.
        limit: u64,
    },
    /// The domain decomposes into more affine parts than the analysis looks at.
    TooManyPieces,
    /// A subgroup reads more elements at once than the analysis follows.
    LargeRequest,
    /// The answer depends on the values of runtime variables, of which only the bounds are known.
    RuntimeValues,
    /// The lanes of a subgroup read different values of a runtime variable, such as the indices of a gather.
    RuntimePerLane,
    /// A thread index may be negative, so that there is no first subgroup.
    NegativeThread,
    /// A thread index may lie beyond the extents of the block.
    BeyondBlock,
    /// The set that is asked about is an overapproximation.
    Overapproximation(OverapproximationReason),
}

impl Unknown {
    /// The stable code of the reason, as in the JSON form.
    pub fn code(&self) -> &'static str {
        match self {
            Unknown::Undefined => "undefined",
            Unknown::Overflow => "overflow",
            Unknown::TooManyPoints { .. } => "too-many-points",
            Unknown::TooManyPieces => "too-many-pieces",
            Unknown::LargeRequest => "large-request",
            Unknown::OutOfBounds => "out-of-bounds",
            Unknown::NegativeThread => "negative-thread",
            Unknown::BeyondBlock => "beyond-block",
            Unknown::Overapproximation(_) => "overapproximation",
            Unknown::RuntimeVariables => "runtime-variables",
            Unknown::RuntimeValues => "runtime-values",
            Unknown::RuntimePerLane => "runtime-per-lane",
        }
    }
}

impl std::error::Error for Unknown {}

/// One sentence, without the full stop.
impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unknown::TooManyPoints { points, limit } => {
                return write!(
                    f,
                    "no law decides it, and its {points} points are more than the {limit} to be enumerated"
                );
            }
            Unknown::Undefined => "the map is undefined",
            Unknown::Overflow => "numbers leave their range",
            Unknown::TooManyPieces => "the domain falls into too many affine parts",
            Unknown::LargeRequest => "a subgroup reads too many elements at once",
            Unknown::OutOfBounds => "the map may lead out of the shape",
            Unknown::NegativeThread => "a thread index may be negative",
            Unknown::BeyondBlock => "a thread index may lie beyond the block",
            Unknown::Overapproximation(_) => "the set may hold more points than it should",
            Unknown::RuntimeVariables => "the runtime variables of the two maps are not known to have the same values",
            Unknown::RuntimeValues => "it depends on runtime values",
            Unknown::RuntimePerLane => "the lanes of a subgroup read different runtime values",
        })
    }
}
