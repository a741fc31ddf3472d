//! Collectives of one device as what they are given.

use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use super::stable_order::constant;
use crate::diagnostic::Diagnostics;
use crate::ir::{Alone, Instruction, Module, Op, Scalar, alone};

/// Replaces `all-gather`, `all-reduce`, `all-to-all`, `collective-broadcast`, `collective-permute` and `reduce-scatter` in modules for one device by what they are given, or by zeros where nobody sends
/// anything, and `partition-id` and `replica-id` by 0. The results are the same.
///
/// Modules of several replicas or partitions stay as they are, and so do pairs of operations that begin and end.
pub struct OneDevice;

impl Pass for OneDevice {
    fn name(&self) -> &'static str {
        "take-one-device"
    }

    fn about(&self) -> &'static str {
        "replaces collectives of one device by what they are given"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        if module.replica_count().unwrap_or(1) != 1 || module.num_partitions().unwrap_or(1) != 1 {
            return Ok(Rewritten { module: module.clone(), changes: Vec::new() });
        }
        Ok(rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
            Op::PartitionId | Op::ReplicaId => {
                Some(("there is one device", Rewrite::Value(rebuild.scalar(Scalar::U32(0)))))
            }
            _ => given(module, rebuild, candidate),
        }))
    }
}

fn given(module: &Module, rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let shapes: Vec<_> = candidate.operands.iter().map(|operand| rebuild.get(*operand).shape.clone()).collect();
    let alone = alone(module, candidate, shapes.iter())?;
    let values = match alone {
        Alone::Given => candidate.operands.clone(),
        Alone::Zeros => {
            let arrays = shapes.iter().filter_map(|shape| shape.as_array());
            arrays
                .map(|array| {
                    let zero = Scalar::from_bits(0, array.element_type);
                    constant(rebuild, zero, array.extents.clone())
                })
                .collect()
        }
    };
    let rewrite = match (candidate.shape.as_tuple(), &values[..]) {
        (None, [value]) => Rewrite::Value(*value),
        (Some(_), _) => Rewrite::Op(Op::Tuple, values),
        _ => return None,
    };
    Some(("nobody else is part of the collective", rewrite))
}
