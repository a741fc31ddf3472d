//! Reasons why a map has no tile, or none of the sizes asked for.

use std::fmt;

/// Why no tile of a map was found at any size: the closed list.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum TileRefusal {
    /// The map is undefined, so nothing is known of what it reads.
    Undefined,
    /// A variable has no bound at one end, so there is no grid of tiles, or a range of values that never ends.
    Unbounded,
    /// A coefficient, a size or an offset would leave `i64`, or what a constraint bounds may.
    Overflow,
    /// The grid does not have one interval for each dimension of the map, or its origin not one index.
    Arity,
    /// One variable moves several results at once: what is read is a diagonal, or not known to be a box.
    Dependent,
    /// A result steps over some values and not over others: its values are not known to be an arithmetic progression.
    Gaps,
    /// A quotient or remainder of a sum that is not known to be one run of consecutive values.
    Division,
    /// A constraint of the domain is not known to leave a box.
    Cut,
    /// A runtime variable is read at several places within one tile, so its value is not one offset.
    Gathered,
    /// The expressions, or the ways to tell cases apart, are too many to follow.
    TooLarge,
}

impl TileRefusal {
    /// Every reason.
    pub const ALL: [TileRefusal; 10] = [
        TileRefusal::Undefined,
        TileRefusal::Unbounded,
        TileRefusal::Overflow,
        TileRefusal::Arity,
        TileRefusal::Dependent,
        TileRefusal::Gaps,
        TileRefusal::Division,
        TileRefusal::Cut,
        TileRefusal::Gathered,
        TileRefusal::TooLarge,
    ];

    /// The stable code of the reason.
    pub fn code(self) -> &'static str {
        match self {
            TileRefusal::Undefined => "TIL001",
            TileRefusal::Unbounded => "TIL002",
            TileRefusal::Overflow => "TIL003",
            TileRefusal::Arity => "TIL004",
            TileRefusal::Dependent => "TIL005",
            TileRefusal::Gaps => "TIL006",
            TileRefusal::Division => "TIL007",
            TileRefusal::Cut => "TIL008",
            TileRefusal::Gathered => "TIL009",
            TileRefusal::TooLarge => "TIL010",
        }
    }
}

impl fmt::Display for TileRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TileRefusal::Undefined => "the map is undefined",
            TileRefusal::Unbounded => "a variable has no bound at one end",
            TileRefusal::Overflow => "a number of the tile leaves i64",
            TileRefusal::Arity => "the grid does not have one interval and one origin for each dimension",
            TileRefusal::Dependent => "one variable moves several results at once",
            TileRefusal::Gaps => "the values of a result are not known to be an arithmetic progression",
            TileRefusal::Division => "a sum is divided that is not known to be without gaps",
            TileRefusal::Cut => "a constraint of the domain is not known to leave a box of the tile",
            TileRefusal::Gathered => "a runtime variable is read at several places within one tile",
            TileRefusal::TooLarge => "the expressions or the cases are too many to follow",
        })
    }
}

impl std::error::Error for TileRefusal {}

impl From<weft_affine::Error> for TileRefusal {
    fn from(_: weft_affine::Error) -> TileRefusal {
        TileRefusal::Overflow
    }
}

/// Why a tile has no value at the sizes asked for: the closed list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TileMisfit {
    /// There is not one size for each dimension.
    Arity {
        /// Dimensions of the tiled index.
        expected: usize,
        /// Sizes given.
        found: usize,
    },
    /// A size is zero or negative.
    Size {
        /// The dimension.
        dim: usize,
        /// The size given.
        size: i64,
    },
    /// No case of the tile is shown to hold at some position.
    NoCase {
        /// The first tile index found where that is so.
        position: Vec<i64>,
        /// True where it is shown that what the tile maps to is no box, by all its elements. Otherwise that is not known: the tile
        /// is too large to be looked at, or its elements are a box that no case describes.
        is_refuted: bool,
    },
    /// Different positions need so many different cases that they were not told apart.
    TooManyParts,
    /// An offset leaves `i64`.
    Overflow,
}

impl TileMisfit {
    /// The stable code of the reason.
    pub fn code(&self) -> &'static str {
        match self {
            TileMisfit::Arity { .. } => "TIL101",
            TileMisfit::Size { .. } => "TIL102",
            TileMisfit::NoCase { .. } => "TIL103",
            TileMisfit::TooManyParts => "TIL104",
            TileMisfit::Overflow => "TIL105",
        }
    }
}

impl fmt::Display for TileMisfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileMisfit::Arity { expected, found } => {
                write!(f, "{found} tile sizes for {expected} dimensions")
            }
            TileMisfit::Size { dim, size } => {
                write!(f, "the size {size} of dimension {dim} is less than one")
            }
            TileMisfit::NoCase { position, is_refuted } => {
                let verdict = if *is_refuted { "is not a box" } else { "is not known to be a box" };
                write!(f, "what the tile at {position:?} maps to {verdict}")
            }
            TileMisfit::TooManyParts => f.write_str("the tiles at different positions differ in too many ways"),
            TileMisfit::Overflow => f.write_str("an offset leaves i64"),
        }
    }
}

impl std::error::Error for TileMisfit {}

impl From<weft_affine::Error> for TileMisfit {
    fn from(_: weft_affine::Error) -> TileMisfit {
        TileMisfit::Overflow
    }
}
