//! Fusions that the program brings along.

use super::scans::LongScans;
use super::two_passes::LongReductions;
use super::{Decision, Verdict};
use crate::Target;
use crate::access::MAX_DEPTH;
use crate::arenas::Bindings;
use crate::cost::Budget;
use crate::legal::{Support, is_control_flow, programs, supports};
use crate::plan::{Emitter, FusionPlan};
use crate::splat::splats;
use std::borrow::Cow;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, Computation, ComputationId, InstrId, Instruction, Module, Op};
use weft_hlo::passes;

/// Turns fusions inside fusions and regions into calls: a kernel is one fusion, so what is nested in it is only code.
pub(super) fn dissolve_nested(module: &Module) -> Module {
    let programs = programs(module);
    let mut module = module.clone();
    let ids: Vec<ComputationId> = module.computations.ids().filter(|id| !programs[id.index()]).collect();
    for id in ids {
        for instruction in module.computations[id].instructions.values_mut() {
            if let Op::Fusion { calls, .. } = instruction.op {
                instruction.op = Op::Call { to_apply: calls };
            }
        }
    }
    module
}

/// Turns fusions that hold sorts, `topk` or scans into calls: what these are written out as is several kernels, and loops.
pub(super) fn dissolve_compound(module: &mut Cow<'_, Module>, decisions: &mut Vec<Decision>) {
    let mut holds: Vec<bool> = Vec::with_capacity(module.computations.len());
    for computation in module.computations.values() {
        let is_one = |instruction: &Instruction| match instruction.op {
            Op::Sort { .. } | Op::TopK { .. } | Op::Scan { .. } => true,
            Op::Fusion { calls, .. } | Op::Call { to_apply: calls } => holds.get(calls.index()) == Some(&true),
            _ => false,
        };
        holds.push(computation.instructions.values().any(is_one));
    }
    let mut dissolved = Vec::new();
    for (owner, computation) in module.computations.iter() {
        for (id, instruction) in computation.instructions.iter() {
            if let Op::Fusion { calls, .. } = instruction.op
                && holds.get(calls.index()) == Some(&true)
            {
                dissolved.push((owner, id, calls));
            }
        }
    }
    for (owner, id, calls) in dissolved {
        let instruction = name_in(module, owner, id);
        module.to_mut().computations[owner].instructions[id].op = Op::Call { to_apply: calls };
        let reason = "what it holds is several kernels".to_owned();
        decisions.push(Decision { instruction, verdict: Verdict::Dissolved, reason });
    }
}

/// Keeps the programs' fusions that can run as one kernel at reasonable cost, or that cannot be compiled yet, and inlines the
/// others.
pub(super) fn dissolve_costly(
    flat: Module,
    target: &Target,
    budget: &Budget,
    decisions: &mut Vec<Decision>,
) -> Result<Module, Diagnostics> {
    let mut dissolved: Vec<(ComputationId, InstrId)> = Vec::new();
    let programs = programs(&flat);
    let mut folds = (LongReductions::new(&flat, target), LongScans::new(&flat, target));
    for (program, owner) in flat.computations.iter().rev().filter(|(id, _)| programs[id.index()]) {
        let bindings = Bindings::of(&flat, program, target);
        for (id, instruction) in owner.instructions.iter() {
            let Op::Fusion { calls, .. } = instruction.op else { continue };
            let computation = &flat.computations[calls];
            let buffers = bindings.of_fusion(id, computation);
            // What has no code yet may have no maps either, and nobody knows what it will cost.
            let unknown = supports(&flat, computation, target).into_iter().find_map(|support| match support {
                Support::Alone((_, reason)) | Support::Stays(Some((_, reason))) => Some(reason),
                _ => None,
            });
            let (verdict, reason) = match unknown {
                Some(reason) => (Verdict::Kept, format!("the program asks for it; not yet compiled: {reason}")),
                None => match feasible(&flat, &mut folds, computation, buffers, target, budget)? {
                    Err(reason) => {
                        dissolved.push((program, id));
                        (Verdict::Dissolved, reason)
                    }
                    Ok(_) => (Verdict::Kept, "the program asks for it and it fits one kernel".to_owned()),
                },
            };
            decisions.push(Decision { instruction: name_in(&flat, program, id), verdict, reason });
        }
    }
    taken_apart(flat, dissolved)
}

/// The module without the fusions that the program brought along.
///
/// # Errors
/// Those of [`passes::flatten_around`].
pub(super) fn dissolve_all(flat: Module, decisions: &mut Vec<Decision>) -> Result<Module, Diagnostics> {
    let programs = programs(&flat);
    let mut dissolved = Vec::new();
    for (program, owner) in flat.computations.iter().rev().filter(|(id, _)| programs[id.index()]) {
        for (id, instruction) in owner.instructions.iter() {
            if matches!(instruction.op, Op::Fusion { .. }) {
                let (instruction, verdict) = (name_in(&flat, program, id), Verdict::Dissolved);
                decisions.push(Decision { instruction, verdict, reason: "so it was asked for".to_owned() });
                dissolved.push((program, id));
            }
        }
    }
    taken_apart(flat, dissolved)
}

/// The module with these fusions as what they compute.
fn taken_apart(mut flat: Module, fusions: Vec<(ComputationId, InstrId)>) -> Result<Module, Diagnostics> {
    if fusions.is_empty() {
        return Ok(flat);
    }
    for (program, id) in fusions {
        let instruction = &mut flat.computations[program].instructions[id];
        if let Op::Fusion { calls, .. } = instruction.op {
            instruction.op = Op::Call { to_apply: calls };
        }
    }
    passes::flatten_around(&flat)
}

/// Whether a kernel computes something for each element of long rows of which there are enough for all cores: two passes over them would be as many kernels
/// more, each of which reads the elements again.
fn occupies(plan: &FusionPlan, target: &Target) -> bool {
    if matches!(plan.emitter(), Emitter::Attention(_)) {
        return true;
    }
    let Emitter::Reduced(reduced) = plan.emitter() else { return false };
    let workgroups = reduced.workgroups().into_iter().fold(1, i64::saturating_mul);
    let passes = plan.passes().iter().filter(|pass| !pass.elements.is_empty()).count();
    passes > 1 && workgroups >= i64::from(target.hardware.cores)
}

/// What decisions call an instruction.
pub(super) fn name_in(module: &Module, program: ComputationId, id: InstrId) -> String {
    let owner = &module.computations[program];
    let name = &owner.instructions[id].name;
    if program == module.entry { name.clone() } else { format!("{}/{name}", owner.name) }
}

/// The plan of this computation as one kernel that binds so many buffers, or why it should not be one.
pub(super) fn feasible(
    module: &Module,
    (reductions, scans): &mut (LongReductions<'_>, LongScans<'_>),
    computation: &Computation,
    buffers: usize,
    target: &Target,
    budget: &Budget,
) -> Result<Result<FusionPlan, String>, Diagnostics> {
    if buffers > target.max_storage_buffers as usize {
        let limit = target.max_storage_buffers;
        return Ok(Err(format!("it binds {buffers} buffers and the target allows {limit}")));
    }
    if let Some(step) = computation.instructions.values().find(|instruction| is_control_flow(&instruction.op)) {
        return Ok(Err(format!("it holds a '{}', whose computations are kernels of their own", step.op.name())));
    }
    let known = splats(computation);
    let is_table = |(instruction, splat): (&weft_hlo::ir::Instruction, &Option<_>)| {
        matches!(instruction.op, Op::Constant(_)) && splat.is_none()
    };
    if computation.instructions.values().zip(&known).any(is_table) {
        return Ok(Err("it holds a constant of several values, which needs a buffer of its own".to_owned()));
    }
    let count = computation.instructions.len();
    if count > budget.instructions_per_kernel * 2 {
        return Ok(Err(format!("its {count} instructions are too many for one kernel")));
    }
    let plan = FusionPlan::new(module, computation, target)?;
    let scatters = |instruction: &weft_hlo::ir::Instruction| matches!(instruction.op, Op::Scatter { .. });
    if computation.instructions.values().any(scatters) && !matches!(plan.emitter(), Emitter::Scatter(_)) {
        return Ok(Err("it holds a scatter, which is a kernel of its own".to_owned()));
    }
    if scans.are_in(computation, matches!(plan.emitter(), Emitter::Reduced(_))) {
        return Ok(Err("it holds a long scan, which is made in blocks by several kernels".to_owned()));
    }
    if reductions.are_in(computation) && !occupies(&plan, target) {
        return Ok(Err("it folds many elements into each of few, which takes two passes".to_owned()));
    }
    if plan.depth() > MAX_DEPTH {
        let depth = plan.depth();
        return Ok(Err(format!("{depth} branches and loops would stand in one another, more than {MAX_DEPTH}")));
    }
    let rounds = plan.repeated_iterations();
    // Nested loops count each level, so half of the limit is what is safe.
    if target.max_loop_iterations.is_some_and(|limit| rounds * 2.0 > f64::from(limit)) {
        return Ok(Err(format!("its loops would make {rounds:.0} rounds for one element, more than the device makes")));
    }
    let (inlined, most) = (plan.inlined_instructions(computation), budget.inlined_per_kernel);
    if inlined > most as f64 {
        return Ok(Err(format!(
            "with its functions in place of calls it would have {inlined:.0} instructions, more than {most}"
        )));
    }
    let excess = plan.excess_per_element();
    if excess > budget.given_excess_per_element {
        return Ok(Err(format!(
            "it would do {excess:.0} units of work per element again, more than {:.0}",
            budget.given_excess_per_element
        )));
    }
    Ok(Ok(plan))
}
