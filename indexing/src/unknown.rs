//! Why something is not known: one closed list for all questions and analyses.

use std::fmt;

/// Why a question or an analysis has no exact answer. It never guesses instead.
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
pub enum Unknown {
    /// A map is undefined: nothing is known about what it relates.
    Undefined,
    /// The runtime variables of two maps are not known to have the same values.
    RuntimeVariables,
    /// The map may lead out of the shape that it should index, so its results are no addresses.
    OutOfBounds,
    /// A value on the way leaves `i64`, or a count leaves `u128`.
    Overflow,
    /// Nothing structural decides it, and there are more points than [`Limits`](crate::Limits) allow to enumerate.
    TooManyPoints {
        /// How many points there are to look at, constraints aside; saturates.
        points: u128,
        /// How many were allowed.
        limit: u64,
    },
    /// The domain falls into more affine parts than the analysis takes apart.
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
            Unknown::RuntimeVariables => "runtime-variables",
            Unknown::RuntimeValues => "runtime-values",
            Unknown::RuntimePerLane => "runtime-per-lane",
        }
    }
}

/// A sentence without its stop.
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
            Unknown::RuntimeVariables => "the runtime variables of the two maps are not known to have the same values",
            Unknown::RuntimeValues => "it depends on runtime values",
            Unknown::RuntimePerLane => "the lanes of a subgroup read different runtime values",
        })
    }
}
