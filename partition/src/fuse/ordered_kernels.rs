//! Kernels of convolutions, in the order in which tiles of sums of products read them.
//!
//! On devices in software an invocation reads the right operand for itself, as vectors along the columns. Where these are not side by side each element is read alone, and again for each tile of rows: so the
//! kernel of the convolution is transposed once, by a kernel of its own, if that takes less time.

use super::Decision;
use super::expand::in_programs;
use crate::contraction::Contraction;
use crate::product::Product;
use crate::{Target, TileOwner};
use weft_hlo::ir::{ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op};
use weft_hlo::passes;

/// Cycles of a core that an element takes more which is read alone than one of a vector. Measured on llvmpipe: 4.7 for 1 million elements that are read in 2.6 ms, 7.9 for 4 million in 11 ms.
const CYCLES_ALONE: f64 = 5.0;

/// The module with the kernels of convolutions transposed that its programs have, where that pays.
pub(super) fn rewrite(
    module: Module,
    programs: &[ComputationId],
    target: &Target,
    decisions: &mut Vec<Decision>,
) -> Module {
    if !target.is_software() {
        return module;
    }
    let is_meant = |computation: &Computation, id: InstrId| {
        let apart = |(product, contraction): (Product, Contraction)| {
            !contraction.reads_columns_side_by_side() && pays(&product, target)
        };
        tiles(computation, id, target).is_some_and(apart)
    };
    in_programs(module, programs, (passes::order_kernels, &is_meant), decisions)
}

/// For each instruction whether it is a transposition that tiles of a convolution read side by side what was not, so that it is a kernel of its own.
pub(super) fn transposed(program: &Computation, target: &Target) -> Vec<bool> {
    let mut transposed = vec![false; program.instructions.len()];
    if !target.is_software() {
        return transposed;
    }
    for (id, Instruction { op, operands, .. }) in program.instructions.iter() {
        let (Op::Convolution { .. }, [_, kernel]) = (op, &operands[..]) else { continue };
        let Op::Transpose { permutation } = &program.instructions[*kernel].op else { continue };
        let last = i64::try_from(permutation.len()).unwrap_or(0) - 1;
        if permutation.last() != Some(&last)
            && let Some((product, contraction)) = tiles(program, id, target)
            && contraction.reads_columns_side_by_side()
            && pays(&product, target)
        {
            transposed[kernel.index()] = true;
        }
    }
    transposed
}

/// The tiles of a convolution that invocations have for themselves.
fn tiles(computation: &Computation, id: InstrId, target: &Target) -> Option<(Product, Contraction)> {
    let instruction = &computation.instructions[id];
    let result = instruction.shape.as_array().filter(|_| matches!(instruction.op, Op::Convolution { .. }))?;
    let found = Product::of(computation, id, (&[result.element_type], 1), target).ok()?;
    (found.0.tiles == TileOwner::Invocation).then_some(found)
}

/// Whether elements of the right operand take longer, read alone, than it takes to write them in order.
fn pays(product: &Product, target: &Target) -> bool {
    if product.lanes == 1 {
        return false;
    }
    let hardware = &target.hardware;
    let elements = product.depth as f64 * product.columns as f64;
    let cycles = f64::from(hardware.cores) * hardware.clock_hertz as f64;
    let alone = product.evaluations()[1] * CYCLES_ALONE / cycles;
    let [read, written] = [4.0 * elements; 2];
    alone > hardware.launch_seconds() + (read + written) / hardware.dram_bytes_per_second as f64
}
