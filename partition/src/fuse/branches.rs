//! Conditionals of which all branches are computed, since that takes no longer than to ask which one is taken.

use super::given::name_in;
use super::{Decision, Fusing, Verdict};
use crate::access::{element_count, is_loop, loop_rounds};
use crate::cost::{READ_BACK_NANOSECONDS, operation_cost, weight};
use crate::form::Form;
use crate::legal::{Support, programs, supports};
use crate::live::live;
use crate::{Site, Target};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, Computation, ComputationId, Instruction, Module, Op, Shape};
use weft_hlo::passes::{flatten_around, select_branches};

/// The module in which conditionals are gone all of whose branches are computed, and why each other one asks.
///
/// All branches are computed where they hold nothing but what kernels compute and where
/// `k launches + operations / (operations per second) + bytes / (bytes per second)` is no more than 65 µs: `k` is how many reductions and sums of products
/// stand in them, each of which is a launch; everything else is fused with what reads the result. Bytes are what branches, reductions and sums read and
/// write.
///
/// # Errors
/// Those of [`flatten_around`].
pub(super) fn select_cheap(
    mut flat: Module,
    target: &Target,
    fusing: Fusing,
    decisions: &mut Vec<Decision>,
) -> Result<(Module, BTreeMap<Site, String>), Diagnostics> {
    if !fusing.all_branches {
        let asked = asked(&flat, target);
        return Ok((flat, asked));
    }
    loop {
        let judged = judged(&flat, target);
        let mut cheap: BTreeSet<(&str, &str)> = BTreeSet::new();
        let (mut asked, mut made) = (BTreeMap::new(), Vec::new());
        for (site, verdict) in judged {
            let owner = &flat.computations[site.computation];
            let reading = READ_BACK_NANOSECONDS;
            match verdict {
                Ok(nanoseconds) if nanoseconds <= reading => {
                    cheap.insert((&owner.name, &owner.instructions[site.instruction].name));
                    let reason = format!(
                        "all branches are computed, in {nanoseconds} ns: that the host reads which one is taken takes {reading} ns"
                    );
                    let instruction = name_in(&flat, site.computation, site.instruction);
                    made.push(Decision { instruction, verdict: Verdict::Rewritten, reason });
                }
                Ok(nanoseconds) => {
                    let reason = format!(
                        "the host reads which branch is taken, in {reading} ns: all of them would take {nanoseconds} ns"
                    );
                    asked.insert(site, reason);
                }
                Err(reason) => {
                    asked.insert(site, format!("the host reads which branch is taken: {reason}"));
                }
            }
        }
        if cheap.is_empty() {
            return Ok((flat, asked));
        }
        let rewritten = select_branches(&flat, &mut |owner, instruction| {
            cheap.contains(&(owner.name.as_str(), instruction.name.as_str()))
        });
        if rewritten.changes.is_empty() {
            return Ok((flat, asked));
        }
        decisions.extend(made);
        flat = flatten_around(&rewritten.module)?;
    }
}

/// Why each conditional of a module asks the host which branch is taken.
pub(super) fn asked(flat: &Module, target: &Target) -> BTreeMap<Site, String> {
    let reason = |verdict: Result<u64, String>| match verdict {
        Ok(_) => "the host reads which branch is taken, as it is asked to".to_owned(),
        Err(reason) => format!("the host reads which branch is taken: {reason}"),
    };
    judged(flat, target).into_iter().map(|(site, verdict)| (site, reason(verdict))).collect()
}

/// What computing something takes.
#[derive(Copy, Clone, Default)]
struct Cost {
    /// Launches that it is for sure.
    launches: u64,
    /// Units of work ([`operation_cost`]).
    units: f64,
    bytes: f64,
}

impl Cost {
    fn add(&mut self, other: Cost) {
        self.launches += other.launches;
        self.units += other.units;
        self.bytes += other.bytes;
    }

    fn nanoseconds(&self, target: &Target) -> u64 {
        let hardware = &target.hardware;
        let seconds = self.launches as f64 * hardware.launch_seconds()
            + self.units / hardware.flops_per_second()
            + self.bytes / hardware.dram_bytes_per_second as f64;
        // Casts of floats saturate.
        (seconds * 1e9) as u64
    }
}

/// For each conditional of the programs of a module how long all of its branches take, or why not all can be computed.
fn judged(module: &Module, target: &Target) -> BTreeMap<Site, Result<u64, String>> {
    let mut judged = BTreeMap::new();
    // Callees stand before their callers.
    let mut costs: Vec<Result<Cost, String>> = Vec::with_capacity(module.computations.len());
    for (id, is_program) in module.computations.ids().zip(programs(module)) {
        let cost = if is_program { of_program(module, id, target, &costs, &mut judged) } else { Ok(Cost::default()) };
        costs.push(cost);
    }
    judged
}

/// What a program takes, and what the conditionals in it take.
fn of_program(
    module: &Module,
    id: ComputationId,
    target: &Target,
    costs: &[Result<Cost, String>],
    judged: &mut BTreeMap<Site, Result<u64, String>>,
) -> Result<Cost, String> {
    let computation = &module.computations[id];
    let live = live(computation);
    let mut all = Ok(Cost::default());
    for ((instruction_id, instruction), support) in
        computation.instructions.iter().zip(supports(module, computation, target))
    {
        if !live[instruction_id.index()] {
            continue;
        }
        let own = match (&instruction.op, support) {
            (Op::Conditional { branches, .. }, _) => {
                let found = of_conditional(instruction, branches, costs);
                let verdict = found.clone().map(|cost| cost.nanoseconds(target));
                judged.insert(Site { computation: id, instruction: instruction_id }, verdict.clone());
                match verdict {
                    Ok(nanoseconds) if nanoseconds > READ_BACK_NANOSECONDS => {
                        Err("one of them decides about branches of its own".to_owned())
                    }
                    _ => found,
                }
            }
            (Op::Fusion { calls, .. }, Support::Stays(None)) => {
                let mut cost = Cost { launches: 1, units: 0.0, bytes: moved(computation, instruction) };
                let inner = &module.computations[*calls];
                cost.units = inner.instructions.values().map(|one| units(module, inner, one)).sum();
                Ok(cost)
            }
            // A tuple is counted where it is taken apart.
            (Op::Parameter { .. } | Op::GetTupleElement { .. }, Support::Stays(None)) => {
                let read = if instruction.shape.as_array().is_some() { bytes(&instruction.shape) } else { 0.0 };
                Ok(Cost { bytes: read, ..Cost::default() })
            }
            (Op::Tuple | Op::Constant(_), Support::Stays(None)) => Ok(Cost::default()),
            (op, Support::Stays(None)) => Err(format!("'{}' stands in one of them", op.name())),
            (op, Support::Compiled) => {
                let is_launch = is_loop(op);
                Ok(Cost {
                    launches: u64::from(is_launch),
                    units: units(module, computation, instruction),
                    bytes: if is_launch { moved(computation, instruction) } else { 0.0 },
                })
            }
            (_, Support::Typed((_, reason)) | Support::Alone((_, reason)) | Support::Stays(Some((_, reason)))) => {
                Err(reason)
            }
        };
        all = all.and_then(|mut all| {
            all.add(own?);
            Ok(all)
        });
    }
    all
}

/// What all branches of a conditional take, and the choice among what they yield.
fn of_conditional(
    instruction: &Instruction,
    branches: &[ComputationId],
    costs: &[Result<Cost, String>],
) -> Result<Cost, String> {
    let is_array = |leaf: &&Shape| leaf.as_array().is_some_and(|array| array.dynamic.is_empty());
    if !instruction.shape.leaves().iter().all(is_array) {
        return Err("it yields something that is no array of known extents".to_owned());
    }
    let elements: f64 = instruction.shape.leaves().into_iter().map(element_count).sum();
    let mut all = Cost { launches: 0, units: elements * branches.len() as f64, bytes: bytes(&instruction.shape) };
    for branch in branches {
        let unknown = || Err("one of them is not known".to_owned());
        all.add(costs.get(branch.index()).cloned().unwrap_or_else(unknown)?);
    }
    Ok(all)
}

/// The work of an instruction for all of its elements.
fn units(module: &Module, computation: &Computation, instruction: &Instruction) -> f64 {
    let op = &instruction.op;
    let applied: usize =
        op.called_computations().into_iter().map(|region| module.computations[region].instructions.len()).sum();
    let own = if op.opcode().only_moves_data() { 0.0 } else { 1.0 };
    let each = (operation_cost(op).max(own) + applied as f64) * weight(instruction);
    each * element_count(&instruction.shape) * loop_rounds(computation, instruction)
}

/// Bytes of what an instruction reads and yields.
fn moved(computation: &Computation, instruction: &Instruction) -> f64 {
    let read = instruction.operands.iter().map(|operand| bytes(&computation.instructions[*operand].shape));
    read.sum::<f64>() + bytes(&instruction.shape)
}

/// Bytes of all arrays of a shape on a device; of those without a form there, none.
fn bytes(shape: &Shape) -> f64 {
    let of_array = |leaf: &Shape| {
        let array = leaf.as_array()?;
        Form::of(array.element_type)?.bytes(u64::try_from(array.element_count()?).ok()?)
    };
    shape.leaves().into_iter().filter_map(of_array).map(|bytes| bytes as f64).sum()
}
