//! Tiles of a dimension that is cut into groups, each with one group that it holds indices of.

use crate::ir::{BinaryOp, ComparisonDirection, ElementType, InstrId, Scalar};
use crate::passes::build::Build;
use crate::passes::rebuild::Rebuild;

/// Slots for all pairs of a tile `t` and a group `g` with common indices: the slot of a pair is `t + g`. Neither tile nor group
/// goes down from an index to the next, so that pairs that differ have slots that differ, and there are one fewer slots than
/// tiles and groups together. A slot without such a pair stands for one without common indices.
pub(super) struct Slots {
    /// How many there are.
    pub(super) count: i64,
    /// Indices of a tile; of the last one those that there are.
    pub(super) tile: i64,
    /// For each slot the number of its group.
    pub(super) groups: InstrId,
    /// For each slot the first index of its tile.
    pub(super) begins: InstrId,
    extent: i64,
}

/// The power of two that is no more than so many indices for each group, of these at least and at most, and no more than there
/// are.
pub(super) fn tile_of(extent: i64, groups: i64, [least, most]: [i64; 2]) -> i64 {
    let own = (extent / groups).max(1);
    let power = 1 << (i64::BITS - 1 - own.leading_zeros());
    i64::clamp(power, least, most).min(extent)
}

impl Slots {
    /// Those of groups that begin at these indices of so many, of which none begins before the one before it.
    pub(super) fn new(rebuild: &mut Rebuild<'_>, firsts: InstrId, extent: i64, tile: i64) -> Slots {
        let groups = rebuild.array(firsts).extents[0];
        let count = (extent + tile - 1) / tile + groups - 1;
        let (length, begin) = (rebuild.number(tile, groups), rebuild.iota(ElementType::S32, vec![groups], 0));
        let of_firsts = rebuild.binary(BinaryOp::Divide, firsts, length);
        let firsts = rebuild.binary(BinaryOp::Add, of_firsts, begin);
        let slots = rebuild.iota(ElementType::S32, vec![count], 0);
        let groups = last_at_most(rebuild, firsts, slots);
        let tiles = rebuild.binary(BinaryOp::Subtract, slots, groups);
        let length = rebuild.number(tile, count);
        let begins = rebuild.binary(BinaryOp::Multiply, tiles, length);
        Slots { count, tile, groups, begins, extent }
    }

    /// For each tile that begins at one of these indices where as many that there are begin, which hold those of the tile.
    pub(super) fn starts(&self, build: &mut dyn Build, begins: InstrId) -> InstrId {
        let extents = build.array(begins).extents.clone();
        let last = build.scalar(Scalar::S32(i32::try_from(self.extent - self.tile).unwrap_or(i32::MAX)));
        let last = build.broadcast(last, &[], extents);
        build.binary(BinaryOp::Minimum, begins, last)
    }

    /// For each index its slot and its place there, of groups that begin at these: a matrix of two columns.
    pub(super) fn places(&self, rebuild: &mut Rebuild<'_>, firsts: InstrId) -> InstrId {
        let count = self.extent;
        let indices = rebuild.iota(ElementType::S32, vec![count], 0);
        let groups = last_at_most(rebuild, firsts, indices);
        let length = rebuild.number(self.tile, count);
        let tiles = rebuild.binary(BinaryOp::Divide, indices, length);
        let slots = rebuild.binary(BinaryOp::Add, tiles, groups);
        let begins = rebuild.binary(BinaryOp::Multiply, tiles, length);
        let starts = self.starts(rebuild, begins);
        let places = rebuild.binary(BinaryOp::Subtract, indices, starts);
        let columns = [slots, places].map(|column| rebuild.reshaped(column, vec![count, 1]));
        rebuild.concatenated(columns.to_vec(), 1)
    }
}

/// For each number the place of the last of these, none of which is less than the one before and the first of which is 0, that is
/// no more.
fn last_at_most(rebuild: &mut Rebuild<'_>, firsts: InstrId, numbers: InstrId) -> InstrId {
    let [count, groups] = [numbers, firsts].map(|line| rebuild.array(line).extents[0]);
    let extents = vec![count, groups];
    let [numbers, firsts] =
        [(numbers, 0), (firsts, 1)].map(|(line, dimension)| rebuild.broadcast(line, &[dimension], extents.clone()));
    let is_begun = rebuild.compared(ComparisonDirection::Ge, numbers, firsts);
    let is_begun = rebuild.converted(is_begun, ElementType::S32);
    rebuild.reduced((BinaryOp::Add, "count"), is_begun, Scalar::S32(-1), &[1])
}

impl Rebuild<'_> {
    /// A line of a number.
    fn number(&mut self, number: i64, count: i64) -> InstrId {
        let number = self.scalar(Scalar::S32(i32::try_from(number).unwrap_or(i32::MAX)));
        self.broadcast(number, &[], vec![count])
    }
}
