//! Memory layouts of arrays: the order of dimensions, tiles, and device-specific attributes.

use super::ElementType;
use std::fmt::{self, Write};

/// The memory layout of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Layout {
    /// Dimensions from the fastest varying to the slowest; a permutation.
    pub minor_to_major: Vec<usize>,
    /// The attributes after the colon: tiles, sizes, memory; `None` where there are none.
    pub physical: Option<Box<PhysicalLayout>>,
}

/// The device-specific part of a layout: how elements are grouped, packed and placed. The default is what a text
/// without these marks means.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PhysicalLayout {
    /// For each dimension how its coordinates are stored; empty for dense arrays (`D(D,C+)`).
    pub levels: Vec<DimensionLevel>,
    /// Tiles, the first over the array, each further one over the tile before it (`T(8,128)(2,1)`).
    pub tiles: Vec<Tile>,
    /// The number of elements is padded to a multiple of this, at least 1 (`L(4)`).
    pub tail_padding: i64,
    /// The type of the indices of a sparse array (`#(u32)`).
    pub index_type: Option<ElementType>,
    /// The type of the pointers of a sparse array (`*(u32)`).
    pub pointer_type: Option<ElementType>,
    /// Bits of an element in memory; 0 for those of its type (`E(4)`).
    pub element_bits: i64,
    /// The number of a memory; 0 for the device's main memory (`S(1)`).
    pub memory_space: i64,
    /// The splits of the array between memories (`SC(1:20,40)`).
    pub splits: Vec<SplitConfig>,
    /// Bytes before the elements that say how many of a dynamic array there are (`M(8)`).
    pub metadata_prefix_bytes: i64,
}

/// The storage of one dimension's coordinates in a sparse array.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct DimensionLevel {
    /// The format.
    pub format: LevelFormat,
    /// Whether coordinates may repeat (`+`).
    pub repeats: bool,
    /// Whether coordinates are in any order (`~`).
    pub unordered: bool,
}

/// The formats of a dimension of a sparse array.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LevelFormat {
    /// All coordinates (`D`).
    Dense,
    /// Only those that occur (`C`).
    Compressed,
    /// One for each of the dimension before (`S`).
    Singleton,
    /// Only those that occur, with room between them (`H`).
    LooseCompressed,
}

/// The extents of a tile, outermost first; `None` (`*`) joins a dimension with the next more minor one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Tile {
    /// One per dimension, the last for the most minor.
    pub extents: Vec<Option<i64>>,
}

/// The split of one dimension of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SplitConfig {
    /// The dimension.
    pub dimension: i64,
    /// The first index of each part but the first.
    pub indices: Vec<i64>,
}

impl Default for PhysicalLayout {
    fn default() -> Self {
        PhysicalLayout {
            levels: Vec::new(),
            tiles: Vec::new(),
            tail_padding: 1,
            index_type: None,
            pointer_type: None,
            element_bits: 0,
            memory_space: 0,
            splits: Vec::new(),
            metadata_prefix_bytes: 0,
        }
    }
}

impl Layout {
    /// A layout that says no more than the order of dimensions, from the fastest varying to the slowest.
    pub fn new(minor_to_major: impl Into<Vec<usize>>) -> Self {
        Layout { minor_to_major: minor_to_major.into(), physical: None }
    }

    /// The row-major layout of `rank` dimensions.
    pub fn row_major(rank: usize) -> Self {
        Layout::new((0..rank).rev().collect::<Vec<usize>>())
    }

    /// Whether elements do not simply lie one after the other in the order of dimensions.
    pub fn is_tiled(&self) -> bool {
        self.physical.as_ref().is_some_and(|physical| !physical.tiles.is_empty())
    }

    /// Whether nothing of this layout is printed: no dimension and nothing about a device.
    pub(crate) fn is_blank(&self) -> bool {
        self.minor_to_major.is_empty() && self.physical.is_none()
    }
}

impl LevelFormat {
    /// Every format with its letter.
    pub(crate) const LETTERS: [(LevelFormat, char); 4] = [
        (LevelFormat::Dense, 'D'),
        (LevelFormat::Compressed, 'C'),
        (LevelFormat::Singleton, 'S'),
        (LevelFormat::LooseCompressed, 'H'),
    ];
}

/// Items with commas between them, in parentheses.
fn in_parentheses<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    f.write_str("(")?;
    for (position, item) in items.into_iter().enumerate() {
        write!(f, "{}{item}", if position > 0 { "," } else { "" })?;
    }
    f.write_str(")")
}

impl fmt::Display for DimensionLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (format, letter) in LevelFormat::LETTERS {
            if format == self.format {
                f.write_char(letter)?;
            }
        }
        f.write_str(if self.repeats { "+" } else { "" })?;
        f.write_str(if self.unordered { "~" } else { "" })
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        in_parentheses(f, self.extents.iter().map(|extent| extent.map_or("*".to_owned(), |extent| extent.to_string())))
    }
}

impl fmt::Display for PhysicalLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.levels.is_empty() {
            f.write_str("D")?;
            in_parentheses(f, &self.levels)?;
        }
        f.write_str(if self.tiles.is_empty() { "" } else { "T" })?;
        for tile in &self.tiles {
            tile.fmt(f)?;
        }
        if self.tail_padding != 1 {
            write!(f, "L({})", self.tail_padding)?;
        }
        if let Some(index_type) = self.index_type {
            write!(f, "#({index_type})")?;
        }
        if let Some(pointer_type) = self.pointer_type {
            write!(f, "*({pointer_type})")?;
        }
        if self.element_bits != 0 {
            write!(f, "E({})", self.element_bits)?;
        }
        if self.memory_space != 0 {
            write!(f, "S({})", self.memory_space)?;
        }
        f.write_str(if self.splits.is_empty() { "" } else { "SC" })?;
        for split in &self.splits {
            write!(f, "({}:", split.dimension)?;
            for (position, index) in split.indices.iter().enumerate() {
                write!(f, "{}{index}", if position > 0 { "," } else { "" })?;
            }
            f.write_str(")")?;
        }
        if self.metadata_prefix_bytes != 0 {
            write!(f, "M({})", self.metadata_prefix_bytes)?;
        }
        Ok(())
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, dimension) in self.minor_to_major.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            write!(f, "{comma}{dimension}")?;
        }
        if let Some(physical) = &self.physical {
            write!(f, ":{physical}")?;
        }
        f.write_str("}")
    }
}
