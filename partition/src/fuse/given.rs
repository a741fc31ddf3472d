//! Fusions that the program brings along.

use super::{Decision, Verdict};
use crate::Target;
use crate::access::MAX_DEPTH;
use crate::cost::Budget;
use crate::plan::{FusionPlan, roots};
use crate::splat::splats;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{Computation, ComputationId, InstrId, Module, Op};
use weft_hlo::passes;

/// Turns fusions inside fusions and regions into calls: a kernel is one fusion, so what is nested in it is only code.
pub(super) fn dissolve_nested(module: &Module) -> Module {
    let mut module = module.clone();
    let entry = module.entry;
    let ids: Vec<ComputationId> = module.computations.ids().filter(|id| *id != entry).collect();
    for id in ids {
        for instruction in module.computations[id].instructions.values_mut() {
            if let Op::Fusion { calls, .. } = instruction.op {
                instruction.op = Op::Call { to_apply: calls };
            }
        }
    }
    module
}

/// Keeps the entry's fusions that can run as one kernel at reasonable cost and inlines the others.
pub(super) fn dissolve_costly(
    flat: Module,
    target: &Target,
    budget: &Budget,
    decisions: &mut Vec<Decision>,
) -> Result<Module, Diagnostics> {
    let mut dissolved: Vec<InstrId> = Vec::new();
    for (id, instruction) in flat.entry_computation().instructions.iter() {
        let Op::Fusion { calls, .. } = instruction.op else { continue };
        let reason = objection(&flat.computations[calls], instruction.operands.len(), target, budget)?;
        let (verdict, reason) = match reason {
            Some(reason) => {
                dissolved.push(id);
                (Verdict::Dissolved, reason)
            }
            None => (Verdict::Kept, "the program asks for it and it fits one kernel".to_owned()),
        };
        decisions.push(Decision { instruction: instruction.name.clone(), verdict, reason });
    }
    if dissolved.is_empty() {
        return Ok(flat);
    }
    let mut flat = flat;
    let entry = flat.entry;
    for id in dissolved {
        let instruction = &mut flat.computations[entry].instructions[id];
        if let Op::Fusion { calls, .. } = instruction.op {
            instruction.op = Op::Call { to_apply: calls };
        }
    }
    passes::flatten(&flat)
}

/// Why this computation should not be one kernel, if it should not.
fn objection(
    computation: &Computation,
    operands: usize,
    target: &Target,
    budget: &Budget,
) -> Result<Option<String>, Diagnostics> {
    let results: usize =
        roots(computation).iter().map(|root| computation.instructions[*root].shape.leaves().len()).sum();
    let buffers = operands + results;
    if buffers > target.max_storage_buffers as usize {
        let limit = target.max_storage_buffers;
        return Ok(Some(format!("it binds {buffers} buffers and the target allows {limit}")));
    }
    let known = splats(computation);
    let is_table = |(instruction, splat): (&weft_hlo::ir::Instruction, &Option<_>)| {
        matches!(instruction.op, Op::Constant(_)) && splat.is_none()
    };
    if computation.instructions.values().zip(&known).any(is_table) {
        return Ok(Some("it holds a constant of several values, which needs a buffer of its own".to_owned()));
    }
    let count = computation.instructions.len();
    if count > budget.instructions_per_kernel * 2 {
        return Ok(Some(format!("its {count} instructions are too many for one kernel")));
    }
    let plan = FusionPlan::new(computation)?;
    if plan.depth() > MAX_DEPTH {
        let depth = plan.depth();
        return Ok(Some(format!("{depth} branches and loops would stand in one another, more than {MAX_DEPTH}")));
    }
    let rounds = plan.repeated_iterations();
    // Nested loops count each level, so half of the limit is what is safe.
    if target.max_loop_iterations.is_some_and(|limit| rounds * 2.0 > f64::from(limit)) {
        return Ok(Some(format!(
            "its loops would make {rounds:.0} rounds for one element, more than the device makes"
        )));
    }
    let excess = plan.excess_per_element();
    if excess > budget.given_excess_per_element {
        return Ok(Some(format!(
            "it would do {excess:.0} units of work per element again, more than {:.0}",
            budget.given_excess_per_element
        )));
    }
    Ok(None)
}
