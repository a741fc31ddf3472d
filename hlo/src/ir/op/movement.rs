//! The attributes of operations that move elements.

/// The padding of one dimension: `low_high_interior` in HLO text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct PadDimension {
    /// Elements added before the first; negative removes elements.
    pub low: i64,
    /// Elements added after the last; negative removes elements.
    pub high: i64,
    /// Elements added between each two neighbours; at least 0.
    pub interior: i64,
}

/// The part of one dimension that `slice` keeps: `[start:limit:stride]` in HLO text.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct SliceDimension {
    /// The first index kept.
    pub start: i64,
    /// One past the last index that may be kept.
    pub limit: i64,
    /// Distance of the indices kept, at least 1.
    pub stride: i64,
}
