//! What a simplifier has done so far.

/// Counts of what [`Simplifier::simplify`](crate::Simplifier::simplify) was asked and how it answered.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Expressions that were not constants.
    pub asked: u64,
    /// Answers from memory.
    pub remembered: u64,
    /// Expressions for which an e-graph was grown.
    pub escalated: u64,
    /// Expressions too large to be simplified as a whole, of which the upper levels were; see
    /// [`Config::tree`](crate::Config::tree).
    pub capped: u64,
}
