//! The tiles of all instructions of a fusion, from those of its result.

use weft_affine::Interval;

use super::concrete::ConcreteTile;
use super::refusal::{TileMisfit, TileRefusal};
use super::sizes::SizeConstraints;
use super::symbolic::SymbolicTile;
use crate::IndexingMap;

/// The tiles that the instructions of a fusion compute for one tile of its result.
///
/// `Id` is whatever names an instruction. An instruction that is used in several ways has several maps from the result's index
/// to its own; where two of them give one tile, it is computed once. Tiles that are equal are stored once, even those of
/// different instructions.
///
/// ```
/// use weft_indexing::{FusionTiling, IndexingMap, Interval};
///
/// // Rows minus their mean: the mean of a row reads all of it, the rest only its own elements.
/// let element = IndexingMap::identity(&[64, 128]);
/// let mean: IndexingMap = "(d0, d1) -> (d0), domain: d0 in [0, 63], d1 in [0, 127]".parse()?;
/// let row: IndexingMap = "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 63], d1 in [0, 127], s0 in [0, 127]".parse()?;
/// let grid = [Interval::of_extent(64), Interval::of_extent(128)];
/// let maps = [("subtract", &element), ("input", &element), ("mean", &mean), ("input", &row)];
/// let tiling = FusionTiling::of(&grid, maps).map_err(|(_, reason)| reason)?;
/// assert_eq!(tiling.instructions(), [("subtract", 0), ("input", 0), ("mean", 1), ("input", 2)]);
/// let boxes = tiling.evaluate(&[4, 32]).map_err(|(_, misfit)| misfit)?;
/// let sizes: Vec<_> = boxes.iter().map(|tile| tile.largest()).collect();
/// assert_eq!(sizes, [vec![4, 32], vec![4], vec![4, 128]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusionTiling<Id> {
    grid: Vec<Interval>,
    tiles: Vec<SymbolicTile>,
    instructions: Vec<(Id, usize)>,
}

impl<Id> FusionTiling<Id> {
    /// The indices of the result that tiles divide up.
    pub fn grid(&self) -> &[Interval] {
        &self.grid
    }

    /// The distinct tiles, in the order in which they were first met.
    pub fn tiles(&self) -> &[SymbolicTile] {
        &self.tiles
    }

    /// The tile of each instruction, as an index into the tiles; no pair occurs twice.
    pub fn instructions(&self) -> &[(Id, usize)] {
        &self.instructions
    }
}

impl<Id: Clone + PartialEq> FusionTiling<Id> {
    /// The tiles of instructions, from the maps of the result's index to theirs.
    ///
    /// # Errors
    /// The first instruction that has no tile, and why.
    pub fn of<'a>(
        grid: &[Interval],
        maps: impl IntoIterator<Item = (Id, &'a IndexingMap)>,
    ) -> Result<FusionTiling<Id>, (Id, TileRefusal)> {
        let mut tiling = FusionTiling { grid: grid.to_vec(), tiles: Vec::new(), instructions: Vec::new() };
        for (id, map) in maps {
            let tile = match SymbolicTile::on_grid(map, grid) {
                Ok(tile) => tile,
                Err(reason) => return Err((id, reason)),
            };
            let known = tiling.tiles.iter().position(|known| known.is_same(&tile));
            let number = known.unwrap_or_else(|| {
                tiling.tiles.push(tile);
                tiling.tiles.len() - 1
            });
            let pair = (id, number);
            if !tiling.instructions.contains(&pair) {
                tiling.instructions.push(pair);
            }
        }
        Ok(tiling)
    }

    /// The constraints on sizes for all tiles; see [`SymbolicTile::size_constraints`].
    pub fn size_constraints(&self) -> SizeConstraints {
        self.tiles.iter().fold(SizeConstraints::none(), |all, tile| all.and(&tile.size_constraints()))
    }

    /// All tiles at given sizes, in the order of [`FusionTiling::tiles`].
    ///
    /// # Errors
    /// The number of the first tile that has no value, and why.
    pub fn evaluate(&self, sizes: &[i64]) -> Result<Vec<ConcreteTile>, (usize, TileMisfit)> {
        self.tiles.iter().enumerate().map(|(i, tile)| tile.evaluate(sizes).map_err(|misfit| (i, misfit))).collect()
    }
}

impl SymbolicTile {
    /// Whether both are the same boxes at all sizes and positions, as far as their cases show it: the same cases over the same
    /// grid, bounds and runtime variables.
    pub fn is_same(&self, other: &SymbolicTile) -> bool {
        self.grid == other.grid
            && self.origin == other.origin
            && self.cases == other.cases
            && self.is_complete == other.is_complete
            && self.map.is_known_empty() == other.map.is_known_empty()
            && self.map.dims == other.map.dims
            && self.map.runtime == other.map.runtime
            && self.runtime_conditions() == other.runtime_conditions()
    }
}
