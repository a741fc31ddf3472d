//! Errors with a stable code and, for text, the byte range in the source.

use std::ops::Range;

use weft_affine::Var;

use crate::TileRefusal;

/// Every failure of this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An expression could not be built, evaluated or read.
    #[error(transparent)]
    Affine(#[from] weft_affine::Error),
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
    /// The map is undefined: nothing is known about the relation, so it has no values.
    #[error("the map is undefined")]
    Undefined,
    /// An expression mentions a variable that its map does not have.
    #[error("{what} mentions {variable}, which the map does not have")]
    Unbound {
        /// The part that mentions it: a result, a constraint, an access.
        what: &'static str,
        /// The variable.
        variable: Var,
    },
    /// The access of a runtime variable mentions that variable, or one after it.
    #[error("the access of {variable} mentions {mentioned}, which does not come before it")]
    Access {
        /// The runtime variable whose access it is.
        variable: Var,
        /// The variable that it mentions.
        mentioned: Var,
    },
    /// A map has no tile.
    #[error(transparent)]
    Tile(#[from] TileRefusal),
    /// Two maps should be over the same runtime variables, and are not.
    #[error("the runtime variables are not the same")]
    RuntimeVariables,
    /// A device, a launch, a tensor or a range of counts that is impossible, or a launch that does not fit its map.
    #[error("{what}")]
    Setting {
        /// The fault.
        what: &'static str,
    },
}

impl Error {
    /// The stable code of this kind of error: `IDX001` and up, or that of the reason within.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Affine(inner) => inner.code(),
            Error::Arity { .. } => "IDX001",
            Error::Undefined => "IDX002",
            Error::Tile(reason) => reason.code(),
            Error::RuntimeVariables => "IDX003",
            Error::Unbound { .. } => "IDX004",
            Error::Access { .. } => "IDX005",
            Error::Setting { .. } => "IDX020",
        }
    }

    /// The byte range of the error in the source, where text was read.
    pub fn span(&self) -> Option<Range<usize>> {
        match self {
            Error::Affine(inner) => inner.span(),
            _ => None,
        }
    }
}
