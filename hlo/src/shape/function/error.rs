//! The errors that a shape function may raise.

/// Why there is no shape. The list is closed; [`ErrorKind::code`] never changes its meaning.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A constraint of the function does not hold: `meet`, `require`, `broadcast`, `cstr_*`, `assert`.
    Constraint,
    /// A size does not fit 64 bits.
    Overflow,
    /// A divisor is 0.
    DivisionByZero,
    /// An index is outside of a list.
    Index,
    /// An extent would be negative.
    NegativeExtent,
    /// The instruction has no such attribute, or one of another type.
    Attribute,
    /// A list would be longer than [`MAX_RANK`](super::MAX_RANK) or [`MAX_LIST`](super::MAX_LIST), or too much would be computed.
    Limit,
    /// The arguments are not what the function takes: their number or their types.
    Arguments,
    /// No function of the library is mapped to the operation, or has the name.
    Unknown,
}

impl ErrorKind {
    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            ErrorKind::Constraint => "HLO440",
            ErrorKind::Overflow => "HLO441",
            ErrorKind::DivisionByZero => "HLO442",
            ErrorKind::Index => "HLO443",
            ErrorKind::NegativeExtent => "HLO444",
            ErrorKind::Attribute => "HLO445",
            ErrorKind::Limit => "HLO446",
            ErrorKind::Arguments => "HLO447",
            ErrorKind::Unknown => "HLO448",
        }
    }
}

/// The error of a shape function: the first in its program order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{}: {message}", kind.code())]
pub struct ShapeError {
    /// The reason.
    pub kind: ErrorKind,
    /// The message, by the function itself or the usual one of its kind.
    pub message: String,
}

impl ShapeError {
    /// An error of this kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ShapeError { kind, message: message.into() }
    }
}
