//! Scatters of floats whose updates are combined in any order, where that is asked for.

use super::{Decision, Verdict};
use crate::scattered::Way;
use crate::{Target, unordered};
use std::borrow::Cow;
use weft_hlo::ir::{ComputationId, InstrId, Module, Op};

/// The module with its scatters marked that would keep to the order of their updates and need not, if the target [wishes so](Target::fast_scatter).
pub(super) fn mark(module: &mut Cow<'_, Module>, target: &Target, decisions: &mut Vec<Decision>) {
    if !target.fast_scatter {
        return;
    }
    let mut marked: Vec<(ComputationId, InstrId)> = Vec::new();
    for (id, computation) in module.computations.iter() {
        for (scatter, instruction) in computation.instructions.iter() {
            let keeps_order = matches!(instruction.op, Op::Scatter { .. })
                && !Way::of(module, computation, instruction).is_ok_and(Way::is_in_place);
            if !keeps_order {
                continue;
            }
            let reason = match unordered::refusal(module, instruction) {
                _ if target.faults.atomics => {
                    "updates keep their order: the target has no atomics that work".to_owned()
                }
                Some(refusal) => format!("updates keep their order: {refusal}"),
                None => {
                    marked.push((id, scatter));
                    "updates are combined as they come, in any order, as was asked for".to_owned()
                }
            };
            let is_entry = id == module.entry;
            let name = &instruction.name;
            let instruction = if is_entry { name.clone() } else { format!("{}/{name}", computation.name) };
            decisions.push(Decision { instruction, verdict: Verdict::Kept, reason });
        }
    }
    if !marked.is_empty() {
        let changed = module.to_mut();
        for (computation, scatter) in marked {
            unordered::mark(&mut changed.computations[computation].instructions[scatter]);
        }
    }
}
