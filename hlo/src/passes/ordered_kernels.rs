//! Convolutions whose kernels lie in the order in which sums of products read them.

use super::build::Build;
use super::pass::Rewritten;
use super::rebuild::{Rewrite, rewrite_meant};
use crate::ir::{Computation, InstrId, Module, Op};

/// Transposes the kernels of the convolutions that `is_meant` names: the features of the output become the last dimension, so that what is multiplied with one element of the input
/// lies side by side. Results are the same, to the bit.
pub fn order_kernels(module: &Module, is_meant: &dyn Fn(&Computation, InstrId) -> bool) -> Rewritten {
    let is_meant = |computation: &Computation, id: InstrId| {
        matches!(computation.instructions[id].op, Op::Convolution { .. }) && is_meant(computation, id)
    };
    rewrite_meant(module, &is_meant, &|rebuild, candidate| {
        let Op::Convolution { dim_labels, sparsity_config: None, .. } = &candidate.op else { return None };
        let [input, kernel] = candidate.operands[..] else { return None };
        let rank = i64::try_from(rebuild.array(kernel).rank()).ok()?;
        let last = dim_labels.kernel_output_feature;
        if last == rank - 1 || !rebuild.array(kernel).dynamic.is_empty() {
            return None;
        }
        let order: Vec<i64> = (0..rank).filter(|dimension| *dimension != last).chain([last]).collect();
        let mut op = candidate.op.clone();
        if let Op::Convolution { dim_labels, .. } = &mut op {
            let moved = |dimension: &mut i64| *dimension -= i64::from(*dimension > last);
            dim_labels.kernel_spatial.iter_mut().chain([&mut dim_labels.kernel_input_feature]).for_each(moved);
            dim_labels.kernel_output_feature = rank - 1;
        }
        let kernel = rebuild.transposed(kernel, &order);
        Some(("what a kernel has for one element of the input lies side by side", Rewrite::Op(op, vec![input, kernel])))
    })
}
