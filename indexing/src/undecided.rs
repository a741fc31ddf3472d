//! What an analysis could not decide, and why: a closed list.

use std::fmt;

/// Why an analysis has no exact answer. It never guesses instead.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Undecided {
    /// The map is undefined: nothing is known about what it relates.
    Undefined,
    /// The map may lead out of the shape that it should index, so its results are no addresses.
    OutOfBounds,
    /// A value leaves `i64`, or a count leaves `u128`.
    Overflow,
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
}

impl Undecided {
    /// Every reason.
    pub const ALL: [Undecided; 8] = [
        Undecided::Undefined,
        Undecided::OutOfBounds,
        Undecided::Overflow,
        Undecided::TooManyPieces,
        Undecided::LargeRequest,
        Undecided::RuntimeValues,
        Undecided::RuntimePerLane,
        Undecided::NegativeThread,
    ];

    /// A stable name, as in the JSON form.
    pub fn code(self) -> &'static str {
        match self {
            Undecided::Undefined => "undefined",
            Undecided::OutOfBounds => "out-of-bounds",
            Undecided::Overflow => "overflow",
            Undecided::TooManyPieces => "too-many-pieces",
            Undecided::LargeRequest => "large-request",
            Undecided::RuntimeValues => "runtime-values",
            Undecided::RuntimePerLane => "runtime-per-lane",
            Undecided::NegativeThread => "negative-thread",
        }
    }
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Undecided::Undefined => "the map is undefined",
            Undecided::OutOfBounds => "the map may lead out of the shape",
            Undecided::Overflow => "numbers leave their range",
            Undecided::TooManyPieces => "the domain falls into too many affine parts",
            Undecided::LargeRequest => "a subgroup reads too many elements at once",
            Undecided::RuntimeValues => "it depends on runtime values",
            Undecided::RuntimePerLane => "the lanes of a subgroup read different runtime values",
            Undecided::NegativeThread => "a thread index may be negative",
        })
    }
}
