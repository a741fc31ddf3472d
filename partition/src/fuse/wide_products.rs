//! Sums of products whose results share words that tiles of them do not write as a whole.

use super::Decision;
use super::expand::in_programs;
use crate::product::Product;
use crate::{Form, Target};
use weft_hlo::ir::{Computation, ComputationId, ElementType, InstrId, Module, Op};
use weft_hlo::passes;

/// Cycles of a lane, or of a core in software, that a product takes more in a loop whose results share words than in tiles. Measured with `bf16` on llvmpipe: 10 for a dot of 64 × 768 × 5001, 23 for a convolution of 64 features of
/// 28² places in each order of dimensions in which PyTorch has them.
const CYCLES_IN_LOOPS: f64 = 10.0;

/// The module with sums of products as words of their own, converted by another kernel, where tiles could not write them otherwise and that pays: columns that are no multiple of four, or not the last dimension of a result.
pub(super) fn rewrite(
    module: Module,
    programs: &[ComputationId],
    target: &Target,
    decisions: &mut Vec<Decision>,
) -> Module {
    let is_meant = |computation: &Computation, id: InstrId| {
        in_words(computation, id, target).is_some_and(|product| pays(&product, target))
    };
    in_programs(module, programs, (passes::widen_products, &is_meant), decisions)
}

/// The tiles of a sum of products with results of 32 bits, if there are none with those that it has.
fn in_words(computation: &Computation, id: InstrId, target: &Target) -> Option<Product> {
    let instruction = &computation.instructions[id];
    let result = instruction.shape.as_array()?.element_type;
    if !matches!(instruction.op, Op::Dot { .. } | Op::Convolution { .. })
        || !Form::of(result).is_some_and(Form::is_packed)
    {
        return None;
    }
    let tiles = |result| Product::of(computation, id, (&[result], 1), target);
    match tiles(result) {
        Ok((_, contraction)) if contraction.keeps_columns() => None,
        _ => tiles(ElementType::F32).ok().map(|(product, _)| product),
    }
}

/// Whether its products take longer in a loop than it takes to write and to read its results once more.
fn pays(product: &Product, target: &Target) -> bool {
    let hardware = &target.hardware;
    let lanes = if target.is_software() { 1.0 } else { f64::from(hardware.lanes_per_core) };
    let cycles = f64::from(hardware.cores) * lanes * hardware.clock_hertz as f64;
    let results = product.batch as f64 * product.rows as f64 * product.columns as f64;
    let [written, read] = [4.0 * results; 2];
    let saved = results * product.depth as f64 * CYCLES_IN_LOOPS / cycles;
    saved > hardware.launch_seconds() + (written + read) / hardware.dram_bytes_per_second as f64
}
