//! What could be fused, with the numbers by which it was decided.

use crate::Estimate;
use std::fmt;

/// A move that was considered, whether it was made, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What would be done.
    pub kind: Move,
    /// The kernels that it concerns, each by the instruction whose value it writes first; of another computation than the entry as
    /// `computation/instruction`. Of [`Move::IntoUsers`] the instruction comes first, then the kernels that read it.
    pub kernels: Vec<String>,
    /// What the kernels take by the [model](Estimate) as they are, together, and after the move, in nanoseconds; `None` where the move is not possible.
    pub nanoseconds: Option<Comparison>,
    /// Whether it was made.
    pub is_taken: bool,
    /// Why, or why not.
    pub reason: String,
}

/// What kernels take before a move and after it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Nanoseconds before.
    pub before: f64,
    /// Nanoseconds after.
    pub after: f64,
}

impl Comparison {
    /// Nanoseconds that the move saves; negative where it costs time.
    pub fn saved(&self) -> f64 {
        self.before - self.after
    }

    /// Of some kernels, and the one of all.
    pub(super) fn of(parts: &[&Estimate], whole: &Estimate) -> Comparison {
        Comparison { before: parts.iter().map(|part| part.nanoseconds).sum(), after: whole.nanoseconds }
    }
}

/// How kernels could become fewer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// A value is computed in all kernels that read it, and written by none.
    IntoUsers,
    /// A kernel is computed in one that reads its results; those that others read, too, are results of both.
    Producer,
    /// Two kernels that read the same become one.
    Sibling,
    /// Sums of products, what folds rows of these and sums of products of what comes out become attention in one kernel.
    Attention,
    /// What folds rows of the results of sums of products is computed in their kernel.
    Rows,
    /// Two small kernels of which neither needs the other are launched together.
    Horizontal,
}

impl Move {
    /// A stable name, as in texts and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Move::IntoUsers => "into-users",
            Move::Producer => "producer",
            Move::Sibling => "sibling",
            Move::Attention => "attention",
            Move::Rows => "rows",
            Move::Horizontal => "horizontal",
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `sibling of b with a: 2100 ns become 1200: taken`
impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, others) =
            self.kernels.split_first().map_or(("", &[][..]), |(first, others)| (first.as_str(), others));
        write!(f, "{} {first}", self.kind)?;
        if !others.is_empty() {
            write!(f, " with {}", others.join(", "))?;
        }
        if let Some(Comparison { before, after }) = self.nanoseconds {
            write!(f, ": {before:.0} ns become {after:.0}")?;
        }
        write!(f, ": {}: {}", if self.is_taken { "taken" } else { "not taken" }, self.reason)
    }
}
