//! In which order the instructions of a computation become steps.

use std::collections::BTreeSet;
use weft_hlo::ir::{ArenaId, Computation, ComputationId, InstrId, Instruction, Module};

/// What an instruction becomes.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing: it names values.
    Named,
    /// A step of the device.
    Device,
    /// Something that the host computes.
    Host,
}

/// For each computation whether what it runs has side effects, random numbers among them.
pub(super) fn effects(module: &Module) -> Vec<bool> {
    // Callees stand before their callers.
    let mut effects: Vec<bool> = Vec::with_capacity(module.computations.len());
    for computation in module.computations.values() {
        let has = computation.instructions.values().any(|instruction| has_effect(instruction, &effects));
        effects.push(has);
    }
    effects
}

/// Whether an instruction has side effects, or runs what has.
pub(super) fn has_effect(instruction: &Instruction, effects: &[bool]) -> bool {
    let runs = |callee: &ComputationId| effects.get(callee.index()).copied().unwrap_or(true);
    instruction.op.has_side_effects() || instruction.op.called_computations().iter().any(runs)
}

/// The instructions, operands before users, what has side effects in the order in which it stands, and besides as they stand; but what the host
/// computes as late as can be and as much of it in a row as can be, so that data goes to the host and back as few times.
pub(super) fn order(computation: &Computation, effects: &[bool], kind: impl Fn(InstrId) -> Kind) -> Vec<InstrId> {
    let instructions = &computation.instructions;
    let mut users = computation.users();
    let mut missing: Vec<usize> = vec![0; instructions.len()];
    let mut last_effect = None;
    let [mut named, mut device, mut host] = [(); 3].map(|()| BTreeSet::new());
    for (id, instruction) in instructions.iter() {
        let distinct: BTreeSet<InstrId> = instruction.operands.iter().copied().collect();
        missing[id.index()] = distinct.len();
        if has_effect(instruction, effects)
            && let Some(before) = last_effect.replace(id)
            && !distinct.contains(&before)
        {
            missing[id.index()] += 1;
            users[before.index()].push(id);
        }
        if missing[id.index()] == 0 {
            match kind(id) {
                Kind::Named => named.insert(id),
                Kind::Device => device.insert(id),
                Kind::Host => host.insert(id),
            };
        }
    }
    let mut ordered = Vec::with_capacity(instructions.len());
    let mut on_host = false;
    loop {
        let queues = if on_host { [&mut named, &mut host, &mut device] } else { [&mut named, &mut device, &mut host] };
        let Some(id) = queues.into_iter().find_map(BTreeSet::pop_first) else { return ordered };
        match kind(id) {
            Kind::Named => {}
            Kind::Device => on_host = false,
            Kind::Host => on_host = true,
        }
        ordered.push(id);
        for &user in &users[id.index()] {
            missing[user.index()] -= 1;
            if missing[user.index()] == 0 {
                match kind(user) {
                    Kind::Named => named.insert(user),
                    Kind::Device => device.insert(user),
                    Kind::Host => host.insert(user),
                };
            }
        }
    }
}
