//! Answers to questions about domains and functions, and how much work a question may cause.

use crate::Unknown;

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
