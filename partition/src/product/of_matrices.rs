//! Tiles of products for the matrices that subgroups multiply.

use super::{Product, parts, power_of_two};
use crate::contraction::Contraction;
use crate::{CooperativeMatrix, Target, TileOwner};
use weft_hlo::ir::{Computation, ElementType, InstrId, Op};

/// Results of a subgroup along rows and columns, subgroups of a workgroup along either, and workgroups that each core is to have, at least.
struct Shape {
    tile: [i64; 2],
    group: [i64; 2],
    groups_of_core: i64,
}

/// From many results to few: an element that a subgroup takes from workgroup memory serves as many products as its tile has columns, or rows. The last is taken in any case.
const SHAPES: [Shape; 3] = [
    Shape { tile: [64, 32], group: [2, 4], groups_of_core: 2 },
    Shape { tile: [32, 32], group: [2, 2], groups_of_core: 2 },
    Shape { tile: [16, 16], group: [2, 2], groups_of_core: 0 },
];

/// Sums that an invocation has a part of, at most: as many registers.
const REGISTERS: i64 = 128;

/// Matrices that tiles are deep: a barrier for so many multiplications.
const DEEP: i64 = 2;

/// Products of matrices that are added one after the other, at most.
const MOST_IN_A_ROW: i64 = 4096;

/// Bytes between the rows of a tile, so that the rows of a matrix lie in different banks of workgroup memory; rows begin at multiples of as many, as Vulkan asks of what matrices are taken from.
const BETWEEN_ROWS: i64 = 16;

/// Bytes of an element of the sums.
const SUM_BYTES: i64 = 4;

impl Product {
    /// Tiles of workgroups for so many sums of a kernel, of which subgroups take matrices, or why there are none.
    ///
    /// Nothing is lost by it, whatever precision the program asks for:
    ///
    /// - Where both operands are `f16`, or converted from `f16` and moved, matrices are of `f16` and sums of `f32`, as products of two `f16` are exact in `f32`. These ask for `f16` and integers of 16 bits in kernels,
    ///   of which elements are made bit by bit: subnormal numbers stay.
    /// - Other floats of at most 32 bits are matrices of `f32`, whose products are added as a loop over them does, fused; not where contraction is forbidden. No number is ever made narrower than it is.
    /// - Sums of `k` products come in an order of the device's choice, and are added one after the other, at most 4,096: errors are no larger than those of as many additions and `k` more. Units that cut sums off instead of
    ///   rounding them make twice the error of each.
    ///
    /// Sizes are square, 8 or 16, as WGSL has types for them, the larger ones first. Subgroups have to be of one size; results have more than half of a matrix along each side, and windows cover all elements.
    ///
    /// | | results of a subgroup | subgroups (rows × columns) |
    /// |---|---|---|
    /// | of at least 2 workgroups a core | 64 × 32 | 2 × 4 |
    /// | of at least 2 workgroups a core | 32 × 32 | 2 × 2 |
    /// | else | 16 × 16 | 2 × 2 |
    ///
    /// The first one is taken whose tiles fit into workgroup memory, with a row of matrices of each subgroup for each sum, and whose sums are at most 128 registers of an invocation; tiles are two matrices deep. There are fewer subgroups along a
    /// side that has fewer results.
    pub(super) fn of_matrices(
        self,
        contraction: &Contraction,
        (computation, id): (&Computation, InstrId),
        sums: i64,
        target: &Target,
    ) -> Result<Product, String> {
        let members = match target.features.subgroup {
            Some(sizes) if sizes.min == sizes.max => i64::from(sizes.min),
            _ => return Err("subgroups have several sizes".to_owned()),
        };
        if target.is_software() {
            return Err("a device in software has no units for them".to_owned());
        }
        if target.faults.barriers {
            return Err("barriers do not work on the target".to_owned());
        }
        if self.apart > 0 || contraction.lhs.is_partial {
            return Err("windows do not cover all elements".to_owned());
        }
        let matrix = matrix_of(computation, id, target)?;
        let [m, n, k] = [matrix.m, matrix.n, matrix.k].map(i64::from);
        let Product { rows, columns, depth, .. } = self;
        if [(rows, m), (columns, n), (depth, k)].iter().any(|(extent, side)| 2 * extent <= *side) {
            return Err(format!("{rows} by {columns} sums of {depth} products fill no half of a matrix"));
        }
        if parts(depth, k) > MOST_IN_A_ROW {
            return Err(format!("sums of {depth} products are too long"));
        }
        if m * n % members != 0 {
            return Err(format!("subgroups of {members} have no equal parts of {m} by {n} elements"));
        }
        let of = |shape: &Shape| {
            let tile = [shape.tile[0].min(m * parts(rows, m)), shape.tile[1].min(n * parts(columns, n))];
            let tile = tile.map(|side| power_of_two(side + 1) / 2);
            let blocks = [parts(rows, tile[0]), parts(columns, tile[1])];
            let group = [0, 1].map(|side| shape.group[side].min(power_of_two(blocks[side])));
            let step = k * DEEP.min(parts(depth, k));
            let ahead = depth > step;
            let matrices = Some(matrix);
            Product { tile, group, step, ahead, members, matrices, tiles: TileOwner::Workgroup, ..self }
        };
        let most = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x));
        let memory = i64::from(target.max_workgroup_storage_bytes);
        let fits = |product: &Product| {
            product.invocations() <= most
                && product.bytes_of_matrices(sums, target) <= memory
                && sums * product.tile[0] * product.tile[1] <= REGISTERS * members
        };
        let enough = |product: &Product, shape: &Shape| {
            let groups = product.workgroups().iter().fold(1, |all: i64, groups| all.saturating_mul(*groups));
            groups >= shape.groups_of_core * i64::from(target.hardware.cores)
        };
        SHAPES
            .iter()
            .map(|shape| (of(shape), shape))
            .find(|(product, shape)| fits(product) && enough(product, shape))
            .map(|(product, _)| product)
            .ok_or_else(|| format!("tiles for {sums} sums take more than the target has"))
    }

    /// Why a product has no matrices on a target whose subgroups multiply some. Where there could be some, its rows are folded: an invocation does not know which elements of a matrix it has.
    pub(crate) fn why_no_matrices(
        &self,
        contraction: &Contraction,
        (computation, id): (&Computation, InstrId),
        sums: usize,
        target: &Target,
    ) -> Option<String> {
        if self.matrices.is_some() || target.features.cooperative_matrices.is_empty() {
            return None;
        }
        let sums = power_of_two(i64::try_from(sums).unwrap_or(i64::MAX));
        let why = self.of_matrices(contraction, (computation, id), sums, target).err();
        Some(why.unwrap_or_else(|| "its rows are folded".to_owned()))
    }

    /// Elements between those of a row of a tile and the next row, for elements of a type.
    pub fn between_rows(ty: ElementType) -> i64 {
        if ty == ElementType::F16 { BETWEEN_ROWS / 2 } else { BETWEEN_ROWS / SUM_BYTES }
    }

    /// Bytes of workgroup memory of the tiles of both operands, which lie along whichever side is longer in memory, and of a row of matrices of each subgroup for each of so many sums.
    fn bytes_of_matrices(&self, sums: i64, target: &Target) -> i64 {
        let Some(CooperativeMatrix { m, factor, .. }) = self.matrices else { return 0 };
        let is_half = factor == ElementType::F16 && !target.emulate_matrices;
        let bytes = if is_half { 2 } else { 4 };
        let between = Product::between_rows(factor);
        let tile = |side: i64| (side * (self.step + between)).max(self.step * (side + between));
        let patch =
            self.group[0] * self.group[1] * i64::from(m) * (self.tile[1] + Product::between_rows(ElementType::F32));
        bytes * (tile(self.side(0)) + tile(self.side(1))) + SUM_BYTES * sums * patch
    }
}

/// The matrices that a target offers for a dot without anything being lost, or why there are none.
fn matrix_of(computation: &Computation, id: InstrId, target: &Target) -> Result<CooperativeMatrix, String> {
    let dot = &computation.instructions[id];
    let operands = dot.operands.iter().take(2).map(|operand| &computation.instructions[*operand].shape);
    for shape in operands.chain([&dot.shape]) {
        let ty = shape.as_array().map(|array| array.element_type).ok_or("it has several results")?;
        if !ty.is_float() || ty.is_complex() || ty.bits() > 32 {
            return Err(format!("matrices are of floats of 32 bits at most, and not of {ty}"));
        }
    }
    let offered = |factor: ElementType| {
        let is_meant = |it: &&CooperativeMatrix| {
            let is_square = it.m == it.n && it.n == it.k && matches!(it.m, 8 | 16);
            is_square && it.factor == factor && it.sum == ElementType::F32
        };
        target.features.cooperative_matrices.iter().filter(is_meant).max_by_key(|it| it.m).copied()
    };
    let features = &target.features;
    let has_halves = target.emulate_matrices || features.shader_f16 && features.shader_i16;
    let are_halves = dot.operands.iter().take(2).all(|operand| is_half(computation, *operand));
    if let Some(matrix) = offered(ElementType::F16).filter(|_| are_halves && has_halves) {
        return Ok(matrix);
    }
    match offered(ElementType::F32) {
        Some(_) if target.forbid_contraction => Err("products of f32 would be fused with sums".to_owned()),
        Some(matrix) => Ok(matrix),
        None if are_halves => Err("there are none of f16, or no f16 and i16 in kernels, and none of f32".to_owned()),
        None => Err("there are none of f32, and f16 would lose digits of its operands".to_owned()),
    }
}

/// Whether all elements of an array are `f16`, as they are or converted to `f32` and moved.
fn is_half(computation: &Computation, id: InstrId) -> bool {
    let instruction = &computation.instructions[id];
    match instruction.shape.as_array().map(|array| array.element_type) {
        Some(ElementType::F16) => return true,
        Some(ElementType::F32) => {}
        _ => return false,
    }
    let moves = matches!(
        instruction.op,
        Op::Convert
            | Op::Copy
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Broadcast { .. }
            | Op::Slice { .. }
            | Op::Reverse { .. }
            | Op::DynamicSlice { .. }
    );
    moves && instruction.operands.first().is_some_and(|operand| is_half(computation, *operand))
}
