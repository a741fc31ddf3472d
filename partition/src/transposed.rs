//! Kernels that are tiled around transpositions.

use crate::Target;
use crate::access::read_map;
use crate::hero::{merged, strides};
use crate::plan::leaf_extents;
use std::fmt;
use weft_hlo::ir::{Computation, InstrId};

/// The elements of transpositions in tiles: what an operand has side by side becomes what a result has side by side.
///
/// Elements are numbered in the order of the result, `((o * rows + r) * middle + m) * columns + c`: side by side in the result along the
/// columns `c`, in the operand along the rows `r`. A tile has so many rows and as many columns.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Transposed {
    /// Elements along what is left before the rows.
    pub outer: i64,
    /// Elements along the rows.
    pub rows: i64,
    /// Elements along what lies between rows and columns.
    pub middle: i64,
    /// Elements along the columns.
    pub columns: i64,
    /// Invocations of a workgroup.
    pub threads: u32,
}

/// Rows and columns of a tile, and invocations that share it: XLA's choice, four rows at a time.
const SIDE: i64 = 32;
const THREADS: u32 = 128;

impl Transposed {
    /// The tiles of a transposition for a target, or why there are none.
    ///
    /// Dimensions that are neighbors in operand and result alike are one. A tile has 32 × 32 elements in workgroup memory, a column more against bank
    /// conflicts, for 128 invocations. Devices in software have none: there a barrier costs more than reading side by side saves.
    pub(crate) fn of(computation: &Computation, id: InstrId, target: &Target) -> Result<Transposed, String> {
        if target.is_software() {
            return Err("on a device in software a barrier costs more than its tile would save".to_owned());
        }
        let unknown = || "where its elements come from is not known".to_owned();
        let map = read_map(computation, id, 0).ok().flatten().ok_or_else(unknown)?;
        let instruction = &computation.instructions[id];
        let read = leaf_extents(&computation.instructions[instruction.operands[0]].shape);
        let strides = strides(&map, &read).ok_or_else(unknown)?;
        let space = merged(&map, &strides);
        if space.iter().any(|(_, stride)| *stride <= 0) {
            return Err("it repeats or reverses elements".to_owned());
        }
        let fastest = space.iter().map(|(_, stride)| *stride).min().unwrap_or(1);
        let row = space.iter().position(|(_, stride)| *stride == fastest).unwrap_or(0);
        if row + 1 >= space.len() {
            return Err("what lies side by side in the operand does so in the result".to_owned());
        }
        let extents = |dimensions: &[(i64, i64)]| dimensions.iter().map(|(extent, _)| *extent).product::<i64>();
        let (rows, columns) = (space[row].0, space[space.len() - 1].0);
        let most = target.max_invocations_per_workgroup.min(target.max_workgroup_size_x);
        let threads = THREADS.min(most);
        if SIDE * SIDE % i64::from(threads.max(1)) != 0 || i64::from(threads) < SIDE {
            return Err(format!("{threads} invocations do not share a tile evenly"));
        }
        let (outer, middle) = (extents(&space[..row]), extents(&space[row + 1..space.len() - 1]));
        let transposed = Transposed { outer, rows, middle, columns, threads };
        let groups = transposed.workgroups();
        let limit = i64::from(target.max_workgroups_per_dimension);
        if groups.iter().any(|groups| *groups > limit) {
            return Err(format!("its tiles are {groups:?}, and the target launches {limit} along each dimension"));
        }
        Ok(transposed)
    }

    /// How many elements there are.
    pub fn elements(&self) -> i64 {
        self.outer * self.rows * self.middle * self.columns
    }

    /// Rows of a tile, and columns.
    pub fn side(&self) -> i64 {
        SIDE
    }

    /// Tiles along columns, along rows, and beside these.
    pub fn workgroups(&self) -> [i64; 3] {
        let tiles = |extent: i64| (extent + SIDE - 1) / SIDE;
        [tiles(self.columns), tiles(self.rows), self.outer * self.middle]
    }

    /// Extents of the memory of a tile: a column more than there are, so that rows begin in different banks.
    pub fn tile_extents(&self) -> [i64; 2] {
        [SIDE, SIDE + 1]
    }
}

impl fmt::Display for Transposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Transposed { outer, rows, middle, columns, threads } = self;
        write!(f, "threads={threads} tile={SIDE} space=[{outer}, {rows}, {middle}, {columns}]")
    }
}
