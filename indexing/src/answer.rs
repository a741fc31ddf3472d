//! Answers to questions about domains and functions, the reasons for having none, and how much work a question may cause.

use std::fmt;

/// How much may be enumerated to answer a question. Counts, not times: the answer is the same on every machine.
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
    /// The most points of boxes that are looked at one by one, for one question.
    pub points: u64,
    /// The most members of a [`MapSet`](crate::MapSet) that an operation may return.
    pub members: usize,
}

/// 65,536 points and 64 members.
impl Default for Limits {
    fn default() -> Limits {
        Limits { points: 1 << 16, members: 64 }
    }
}

/// The answer to a question that may be too hard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<C> {
    /// It is so, everywhere in the domain.
    Yes,
    /// It is not so, and this shows it.
    No(C),
    /// Neither was found out.
    Unknown(Unknown),
}

impl<C> Answer<C> {
    /// True for [`Answer::Yes`] alone: what could not be found out is not taken to be so.
    pub fn is_yes(&self) -> bool {
        matches!(self, Answer::Yes)
    }

    /// What shows that it is not so.
    pub fn counterexample(&self) -> Option<&C> {
        match self {
            Answer::No(shown) => Some(shown),
            _ => None,
        }
    }
}

/// Why a question has no answer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// Nothing structural decides it, and there are more points than [`Limits`] allow to enumerate.
    TooManyPoints {
        /// How many points there are to look at, constraints aside; saturates.
        points: u128,
        /// How many were allowed.
        limit: u64,
    },
    /// A value on the way does not fit its type.
    Overflow,
    /// A map is undefined: nothing is known about the relation.
    Undefined,
    /// The runtime variables of the two maps are not known to have the same values.
    RuntimeVariables,
}

impl Unknown {
    /// The stable code of the reason.
    pub fn code(&self) -> &'static str {
        match self {
            Unknown::TooManyPoints { .. } => "too-many-points",
            Unknown::Overflow => "overflow",
            Unknown::Undefined => "undefined",
            Unknown::RuntimeVariables => "runtime-variables",
        }
    }
}

/// A sentence without its stop.
impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::TooManyPoints { points, limit } => {
                write!(f, "no law decides it, and its {points} points are more than the {limit} to be enumerated")
            }
            Unknown::Overflow => f.write_str("a value does not fit its type"),
            Unknown::Undefined => f.write_str("the map is undefined"),
            Unknown::RuntimeVariables => {
                f.write_str("the runtime variables of the two maps are not known to have the same values")
            }
        }
    }
}
