//! The error type of the crate, with stable codes and byte ranges in the source.

use std::ops::Range;

/// Every failure of this crate.
///
/// The [code](Error::code) of a variant never changes meaning; the message may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A coefficient, constant or value left the range of `i64`.
    #[error("integer overflow in {what}")]
    Overflow {
        /// The operation that overflowed.
        what: &'static str,
    },
    /// A floor or ceiling division by zero.
    #[error("division by zero")]
    ZeroDivisor,
    /// A modulus that is zero or negative; only positive moduli have a meaning here.
    #[error("modulus {modulus} is not positive")]
    BadModulus {
        /// The offending modulus.
        modulus: i64,
    },
    /// A variable that the point or the map has no value for.
    #[error("variable {variable} has no value")]
    Unbound {
        /// The variable, as printed.
        variable: String,
    },
    /// Lists whose lengths should agree do not.
    #[error("{what}: expected {expected}, found {found}")]
    Arity {
        /// The kind of things counted.
        what: &'static str,
        /// The expected number.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// Something that must be a number depends on variables.
    #[error("{what} is not a constant")]
    NotConstant {
        /// The part that must be a number.
        what: &'static str,
    },
    /// Text that is not an expression or a map.
    #[error("{message}")]
    Syntax {
        /// The message: the token expected or found.
        message: String,
        /// The bytes of the source concerned.
        span: Range<usize>,
    },
}

impl Error {
    /// The stable code of this kind of error, `AFF001` and up.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Overflow { .. } => "AFF001",
            Error::ZeroDivisor => "AFF002",
            Error::BadModulus { .. } => "AFF003",
            Error::Unbound { .. } => "AFF004",
            Error::Arity { .. } => "AFF005",
            Error::Syntax { .. } => "AFF006",
            Error::NotConstant { .. } => "AFF007",
        }
    }

    /// The byte range of the error in the source, where text was read.
    pub fn span(&self) -> Option<Range<usize>> {
        match self {
            Error::Syntax { span, .. } => Some(span.clone()),
            _ => None,
        }
    }

    pub(crate) fn overflow(what: &'static str) -> Error {
        Error::Overflow { what }
    }

    /// Gives an arithmetic error met while reading text the place where it was met.
    pub(crate) fn at(self, span: Range<usize>) -> Error {
        match self {
            Error::Syntax { .. } => self,
            other => Error::Syntax { message: other.to_string(), span },
        }
    }
}
