//! How long a kernel is once its functions are written in place of their calls.

use super::{FusionPlan, Read};
use crate::access::is_loop;
use weft_hlo::ir::{ArenaId, Computation, Op};

/// The instructions of all functions, each as often as its function is called; what operations apply to elements is not counted. Of reads of one element in one block there is one call.
pub(super) fn instructions(plan: &FusionPlan, computation: &Computation) -> f64 {
    let mut copies = vec![0.0; plan.functions.len()];
    let mut all = 0.0;
    // Callers stand before callees; what no other calls, the entry does.
    for (number, function) in plan.functions.iter().enumerate() {
        let own = f64::max(copies[number], 1.0);
        all += own * function.members.len() as f64;
        let mut called = Vec::new();
        for member in &function.members {
            let instruction = &computation.instructions[*member];
            for (position, operand) in instruction.operands.iter().enumerate() {
                let read = &plan.reads[member.index()][position];
                let Some((callee, _)) = plan.home(*operand) else { continue };
                if !matches!(read, Read::At(_) | Read::Runtime) || callee.0 as usize == number {
                    continue;
                }
                let block = if opens_block(&instruction.op) { Some((*member, position)) } else { plan.block(*member) };
                let call = (*operand, block, read);
                if !called.contains(&call) {
                    called.push(call);
                    copies[callee.0 as usize] += own;
                }
            }
        }
    }
    all
}

/// Whether operands of an operation are read in blocks of their own.
fn opens_block(op: &Op) -> bool {
    matches!(op, Op::Concatenate { .. } | Op::Pad { .. } | Op::DynamicUpdateSlice) || is_loop(op)
}
