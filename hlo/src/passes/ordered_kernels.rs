//! Convolutions whose kernels lie in the order in which sums of products read them.

use super::build::Build;
use super::pass::Rewritten;
use super::rebuild::{Rewrite, rewrite_module};
use crate::ir::{Computation, InstrId, Module, Op};
use std::collections::BTreeSet;

/// Transposes the kernels of the convolutions that `is_meant` names: the features of the output become the last dimension, so that what is multiplied with one element of the input
/// lies side by side. Results are the same, to the bit.
pub fn order_kernels(module: &Module, is_meant: &dyn Fn(&Computation, InstrId) -> bool) -> Rewritten {
    let mut meant: BTreeSet<(&str, &str)> = BTreeSet::new();
    for computation in module.computations.values() {
        for (id, instruction) in computation.instructions.iter() {
            if matches!(instruction.op, Op::Convolution { .. }) && is_meant(computation, id) {
                meant.insert((&computation.name, &instruction.name));
            }
        }
    }
    if meant.is_empty() {
        return Rewritten { module: module.clone(), changes: Vec::new() };
    }
    rewrite_module(module, &mut |rebuild, candidate| {
        let Op::Convolution { dim_labels, sparsity_config: None, .. } = &candidate.op else { return None };
        let [input, kernel] = candidate.operands[..] else { return None };
        if !meant.contains(&(rebuild.source.name.as_str(), candidate.name.as_str())) {
            return None;
        }
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
