//! The widest vector that one thread may read by one instruction.

use std::fmt;

use super::MemoryModel;
use crate::pieces::Piece;

/// Why a vector is not twice as wide.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum VectorLimit {
    /// The launch names no vector variable.
    NoVariable,
    /// The number of values of the vector variable is not a multiple of the next width.
    Extent,
    /// The device reads no more bytes by one instruction.
    Device,
    /// Elements that follow one another in the vector do not in memory.
    NotAdjacent,
    /// Not all vectors would start at a multiple of their size.
    Misaligned,
    /// Part of some vector lies outside the domain.
    Guarded,
    /// Nothing is read.
    NothingRead,
}

impl VectorLimit {
    /// A stable name, as in the JSON form.
    pub fn code(self) -> &'static str {
        match self {
            VectorLimit::NoVariable => "no-variable",
            VectorLimit::Extent => "extent",
            VectorLimit::Device => "device",
            VectorLimit::NotAdjacent => "not-adjacent",
            VectorLimit::Misaligned => "misaligned",
            VectorLimit::Guarded => "guarded",
            VectorLimit::NothingRead => "nothing-read",
        }
    }
}

impl fmt::Display for VectorLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VectorLimit::NoVariable => "there is no vector variable",
            VectorLimit::Extent => "more does not divide the extent of the vector variable",
            VectorLimit::Device => "the device reads no more at once",
            VectorLimit::NotAdjacent => "elements of a longer vector are not adjacent",
            VectorLimit::Misaligned => "longer vectors are not aligned",
            VectorLimit::Guarded => "longer vectors leave the domain",
            VectorLimit::NothingRead => "nothing is read",
        })
    }
}

/// The greatest power of two that is safe as the number of elements in a vector, and why it is not twice that. Lanes come with
/// the vector variable fastest, `extent` values each.
pub(crate) fn vector_width(
    pieces: &[Piece],
    extent: Option<usize>,
    element_bytes: u32,
    model: &MemoryModel,
) -> (u64, VectorLimit) {
    let Some(extent) = extent else { return (1, VectorLimit::NoVariable) };
    if pieces.is_empty() {
        return (1, VectorLimit::NothingRead);
    }
    let mut width = 1;
    loop {
        let wider = width * 2;
        let bytes = u64::from(element_bytes) * wider as u64;
        let limit = if extent % wider != 0 {
            Some(VectorLimit::Extent)
        } else if bytes > u64::from(model.vector_bytes) {
            Some(VectorLimit::Device)
        } else if u64::from(model.base_alignment) % bytes != 0 {
            Some(VectorLimit::Misaligned)
        } else {
            pieces.iter().find_map(|piece| obstacle(piece, wider))
        };
        match limit {
            Some(limit) => return (width as u64, limit),
            None => width = wider,
        }
    }
}

/// What keeps lanes of a part from reading vectors of the width. The extent of the vector variable is a multiple of it, so that
/// no vector spans two threads.
fn obstacle(piece: &Piece, width: usize) -> Option<VectorLimit> {
    let address = piece.results.first()?;
    let multiple = |a: i128| a % width as i128 == 0;
    for (constants, active) in address.constants.chunks(width).zip(piece.active.chunks(width)) {
        if !active.contains(&true) {
            continue;
        }
        if active.contains(&false) {
            return Some(VectorLimit::Guarded);
        }
        if constants.windows(2).any(|pair| pair[1] - pair[0] != 1) {
            return Some(VectorLimit::NotAdjacent);
        }
        if !constants.first().is_some_and(|first| multiple(*first)) {
            return Some(VectorLimit::Misaligned);
        }
    }
    (!address.coefficients.iter().all(|a| multiple(*a))).then_some(VectorLimit::Misaligned)
}
