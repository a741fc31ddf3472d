//! Tiles of products on GPUs, by their makers.

use super::rows::Folding;
use super::{Product, VECTOR, balanced, parts, power_of_two};
use crate::{DeviceKind, Target, TileOwner, Vendor};

/// Results of an invocation along rows and columns, invocations of a workgroup along either, products at a time, and where the operands are read from.
#[derive(Copy, Clone)]
struct Shape {
    tile: [i64; 2],
    group: [i64; 2],
    step: i64,
    /// Whether the next tiles are read while products of those that there are are added.
    ahead: bool,
    /// Workgroups that each core is to have, at least.
    groups_of_core: i64,
    /// Sums of a kernel, at most.
    sums: i64,
}

/// Of GPUs that nothing else is known of, where there are many results, where there are few, and where there are so few that not every core would have a workgroup.
const MANY: Shape = Shape { tile: [4, 4], group: [16, 16], step: 8, ahead: false, groups_of_core: 2, sums: i64::MAX };
const FEW: Shape = Shape { group: [8, 8], groups_of_core: 1, ..MANY };
const LEAST: Shape = Shape { tile: [1, 4], group: [8, 8], step: 32, ahead: false, groups_of_core: 0, sums: i64::MAX };

/// Of GPUs with memory of their own, where there are enough workgroups: an element that is read from workgroup memory serves eight products. Of 4096³ `f32` on an NVIDIA H200
/// an invocation with 4 × 4 results makes 28 TFLOP/s, with 8 × 8 results 34, and 39 if tiles are read ahead. Two sums at most: 128 of an invocation's registers.
const LARGE: Shape = Shape { tile: [8, 8], group: [16, 16], step: 16, ahead: true, groups_of_core: 8, sums: 2 };

/// Of GPUs with memory of their own, where there are fewer results: what waits is the reading of tiles, so tiles are deep, or workgroups many. Nothing tells how many cores a device has, and large ones have four times
/// those of the card that they are taken for. On an NVIDIA H200 64 products of 128³ take 0.83 of the time with tiles 32 deep instead of 8, 512³ takes 0.65 with 256 workgroups instead of 64, a convolution with 25,088 results and
/// 1,152 products each 0.5 with as many workgroups as `LEAST` makes.
const DEEP: Shape = Shape { step: 32, groups_of_core: 8, ..MANY };
const SMALL: Shape = Shape { group: [8, 8], step: 16, groups_of_core: 4, ..MANY };

/// Of AMD's, half of a subgroup along columns.
const AMD: Shape = Shape { tile: [8, 4], group: [8, 32], step: 16, ahead: true, groups_of_core: 2, sums: 2 };

/// In browsers, and wherever neither maker nor kind is known.
const BROWSER: Shape = Shape { tile: [4, 4], group: [8, 8], step: 32, ahead: false, groups_of_core: 0, sums: i64::MAX };

/// Rows that an invocation has one of each, and four columns, in browsers.
const FEW_ROWS: i64 = 8;

/// Invocations of a workgroup along the columns of rows that are folded, at most.
const MOST_ALONG: i64 = 64;

/// Results, at most, that an invocation which reads for itself has of several sums.
const OWN_RESULTS: i64 = 64;

/// Products that an invocation with 8 × 8 results adds one after the other, at most: a second set of sums takes as many registers.
const LARGE_STRETCH: i64 = 4096;
const LARGE_RESULTS: i64 = 64;

/// Results of an invocation along rows and columns and invocations of a workgroup along either, of GPUs whose caches are as fast as workgroup memory, or where that lies in the same memory as all else.
fn own_shape(target: &Target) -> Option<([i64; 2], [i64; 2])> {
    let half = half_of_subgroup(target);
    match target.vendor {
        Vendor::Apple => Some(([4, 4], [1, 256])),
        Vendor::Arm => Some(([6, 4], [2, half])),
        Vendor::Qualcomm => Some(([16, 4], [2, half])),
        Vendor::Amd | Vendor::Intel | Vendor::Nvidia | Vendor::Unknown => None,
    }
}

/// Half of the invocations of the smallest subgroup, 8 at least and 32 at most; of 32 where there are none.
fn half_of_subgroup(target: &Target) -> i64 {
    let least = target.features.subgroup.map_or(32, |sizes| i64::from(sizes.min));
    (least / 2).clamp(8, 32)
}

impl Product {
    /// Tiles on a GPU for so many sums of a kernel.
    ///
    /// | | results of an invocation | invocations (rows × columns) | products at a time |
    /// |---|---|---|---|
    /// | Apple | 4 × 4, no tiles of workgroups | 1 × 256 | 4 |
    /// | Arm | 6 × 4, no tiles of workgroups | 2 × half a subgroup | 4 |
    /// | Qualcomm | 16 × 4, no tiles of workgroups | 2 × half a subgroup | 4 |
    /// | AMD, of at least 2 workgroups a core and at most 2 sums | 8 × 4 | 8 × half a subgroup | 16, read ahead |
    /// | others with memory of their own, of at least 8 workgroups a core and at most 2 sums | 8 × 8 | 16 × 16 | 16, read ahead |
    /// | the same, of at least 8 workgroups a core | 4 × 4 | 16 × 16 | 32 |
    /// | the same, of at least 4 workgroups a core | 4 × 4 | 8 × 8 | 16 |
    /// | neither maker nor kind known: browsers | 4 × 4, of at most 8 rows 1 × 4 | 8 × 8 | 32 |
    /// | without memory of their own, and AMD's, of at least 2 workgroups a core | 4 × 4 | 16 × 16 | 8 |
    /// | the same, of at least a workgroup a core | 4 × 4 | 8 × 8 | 8 |
    /// | else | 1 × 4 | 8 × 8 | 32 |
    /// | where that has no room, and browsers' neither | 4 × 4 | 8 × 8 | 8 |
    ///
    /// An invocation that reads for itself has so many rows, at most, as divide those that there are, if more than half do, and half as many as long as there are fewer invocations than lanes. Workgroups are
    /// smaller where there are fewer results, and tiles less deep where there are fewer products. The first shape is taken whose tiles fit into workgroup memory. Products of integers
    /// that take four to a word are added in one stretch: their sums are exact.
    ///
    /// Where rows are [folded](Product::of_rows) tiles are workgroups', which lie along all columns: of as many invocations, and on any GPU.
    pub(super) fn of_gpus(self, (sums, folding): (i64, Option<Folding>), target: &Target) -> Result<Product, String> {
        match own_shape(target).filter(|_| folding.is_none()) {
            Some(shape) => Ok(self.of_registers(shape, sums, target)),
            None => self.shared((sums, folding), target),
        }
    }

    /// Tiles of invocations that read for themselves.
    fn of_registers(self, (tile, group): ([i64; 2], [i64; 2]), sums: i64, target: &Target) -> Product {
        let lanes = i64::from(self.lanes);
        let most = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x));
        let wanted = i64::from(target.hardware.cores).saturating_mul(i64::from(target.hardware.lanes_per_core));
        let columns = tile[1].max(lanes).min(self.columns);
        let mut limit = tile[0].min(OWN_RESULTS / sums / columns).max(1);
        let tiled = loop {
            let divisor = (limit / 2 + 1..=limit).rfind(|rows| self.rows % rows == 0);
            let tile = [divisor.unwrap_or_else(|| balanced(self.rows, limit)), columns];
            let tiled = Product { tile, ..self };
            let invocations = tiled.blocks().into_iter().fold(self.batch, i64::saturating_mul);
            if limit == 1 || invocations >= wanted {
                break tiled;
            }
            limit /= 2;
        };
        let [along_rows, along_columns] = tiled.blocks();
        let threads = power_of_two((group[0] * group[1]).min(most) + 1) / 2;
        let columns = power_of_two(along_columns).min(group[1]).min(threads);
        let rows = (threads / columns).min(power_of_two(along_rows));
        let step = if self.depth % VECTOR == 0 { VECTOR } else { 1 };
        let own = Product { group: [rows, columns], step, ..tiled };
        if self.packed.is_some() { own } else { own.in_stretches() }
    }

    /// Tiles of workgroups.
    fn shared(self, (sums, folding): (i64, Option<Folding>), target: &Target) -> Result<Product, String> {
        if target.faults.barriers {
            return Err("barriers do not work on the target".to_owned());
        }
        let most = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x));
        let of = |shape: &Shape| {
            let tile = [shape.tile[0].min(self.rows), shape.tile[1].min(self.columns)];
            let blocks = [parts(self.rows, tile[0]), parts(self.columns, tile[1])];
            let group = match folding {
                None => [0, 1].map(|side| shape.group[side].min(power_of_two(blocks[side]))),
                Some(_) => {
                    let columns = power_of_two(blocks[1]);
                    [(shape.group[0] * shape.group[1] / columns).clamp(1, power_of_two(blocks[0])), columns]
                }
            };
            Product {
                tile,
                group,
                step: shape.step.min(power_of_two(self.depth)),
                ahead: shape.ahead,
                tiles: TileOwner::Workgroup,
                ..self
            }
        };
        let cores = i64::from(target.hardware.cores);
        let memory = i64::from(target.max_workgroup_storage_bytes);
        // Sums count registers, and so do bytes.
        let bytes = |product: &Product| sums / self.words * product.tile_bytes() + product.folding_bytes(folding);
        let fits = |shape: &&Shape| {
            let product = of(shape);
            sums <= shape.sums
                && (folding.is_none() || product.group[1] <= MOST_ALONG)
                && product.group.iter().product::<i64>() <= most
                && product.workgroups().iter().fold(1, |all: i64, groups| all.saturating_mul(*groups))
                    >= shape.groups_of_core * cores
                && bytes(&product) <= memory
        };
        let browser = if self.rows <= FEW_ROWS { Shape { tile: [1, 4], ..BROWSER } } else { BROWSER };
        // Where rows are folded, their columns may leave no other choice.
        let any = Shape { groups_of_core: if folding.is_some() { 0 } else { LARGE.groups_of_core }, ..LARGE };
        let amd = Shape { group: [8, half_of_subgroup(target)], ..AMD };
        let shapes: &[Shape] = match (target.vendor, target.kind) {
            (Vendor::Amd, _) => &[amd, MANY, FEW, LEAST],
            (_, DeviceKind::Discrete) => &[LARGE, DEEP, SMALL, LEAST, any],
            (Vendor::Unknown, DeviceKind::Unknown) => &[browser, FEW],
            _ => &[MANY, FEW, LEAST],
        };
        let shared = of(shapes.iter().find(fits).unwrap_or(&FEW));
        if folding.is_some() && shared.group[1] > MOST_ALONG {
            let own = MOST_ALONG * shared.tile[1];
            return Err(format!("a row has {} columns, and the tiles of a workgroup {own} at most", self.columns));
        }
        if shared.group.iter().product::<i64>() > most {
            return Err(format!("the target has workgroups of {most} invocations"));
        }
        let bytes = bytes(&shared);
        if bytes > memory {
            return Err(format!("its tiles take {bytes} bytes of workgroup memory and the target has {memory}"));
        }
        let is_large = shared.tile.iter().product::<i64>() >= LARGE_RESULTS;
        Ok(match shared.packed.is_some() || is_large && shared.depth <= LARGE_STRETCH {
            true => shared,
            false => {
                // Of whole tiles: what is deeper than a stretch would be added twice.
                let Product { stretch, step, depth, .. } = shared.in_stretches();
                Product { stretch: (parts(stretch, step) * step).min(depth), ..shared }
            }
        })
    }
}
