//! What a round of a loop costs.

use super::RoundStep;
use crate::cost::weight;
use crate::{Fused, FusionPlan, Target, operation_cost};
use weft_hlo::indexing::operand_map;
use weft_hlo::ir::{Computation, InstrId, Module, Op};

/// Cycles that an operation takes if nothing else is done meanwhile.
const CYCLES: f64 = 8.0;

/// Cycles until the invocations of a workgroup have waited for each other, and have begun again.
const CYCLES_OF_STEP: f64 = 128.0;

/// The work of a round.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// Units of work.
    units: f64,
    /// The most elements that a step computes.
    pub(super) widest: i64,
    steps: u32,
}

impl Round {
    /// Adds a fusion.
    ///
    /// # Errors
    /// Where its work cannot be counted.
    pub(super) fn add(&mut self, fused: &Fused, step: &RoundStep) -> Result<(), String> {
        let calls = fused.instruction(step.fusion).and_then(|fusion| fusion.op.called_computations().first().copied());
        let computation = calls.map(|calls| &fused.module.computations[calls]).ok_or("a fusion in it calls nothing")?;
        self.units += units(&fused.module, computation, &step.plan)?;
        for output in step.plan.outputs() {
            self.widest = self.widest.max(step.plan.function(*output).extents.iter().product());
        }
        self.steps += 1;
        Ok(())
    }

    /// Adds elements that are moved.
    pub(super) fn add_moved(&mut self, elements: i64) {
        self.units += elements as f64;
        self.widest = self.widest.max(elements);
    }

    /// Nanoseconds of the round in launches.
    pub(super) fn launched(&self, target: &Target) -> u64 {
        let launches = u64::from(self.steps) * u64::from(target.hardware.launch_nanoseconds);
        launches.saturating_add((self.units / target.hardware.flops_per_second() * 1e9) as u64)
    }

    /// Nanoseconds of the round in one workgroup of so many invocations.
    pub(super) fn together(&self, threads: u32, target: &Target) -> u64 {
        let lanes = f64::from(threads.min(target.hardware.lanes_per_core).max(1));
        let cycles = CYCLES * self.units / lanes + CYCLES_OF_STEP * f64::from(self.steps);
        (cycles * 1e9 / target.hardware.clock_hertz.max(1) as f64).ceil() as u64
    }
}

/// The units of work of a kernel of this plan: those of its functions, as often as they run.
///
/// # Errors
/// Where they cannot be counted.
pub(crate) fn units(module: &Module, computation: &Computation, plan: &FusionPlan) -> Result<f64, String> {
    let mut all = 0.0;
    for function in plan.functions() {
        let mut units = 1.0;
        for member in &function.members {
            units += work(module, computation, plan, *member)?;
        }
        all += function.evaluations * units;
    }
    Ok(all)
}

/// Nanoseconds that so many units of work take an invocation that does nothing else meanwhile.
pub(crate) fn serial_nanoseconds(units: f64, target: &Target) -> u64 {
    (CYCLES * units * 1e9 / target.hardware.clock_hertz.max(1) as f64).ceil() as u64
}

/// The work of a member of a function each time that the function runs.
fn work(module: &Module, computation: &Computation, plan: &FusionPlan, id: InstrId) -> Result<f64, String> {
    let instruction = &computation.instructions[id];
    let rounds = |id: InstrId| -> Result<f64, String> {
        let map = operand_map(computation, id, 0).map_err(|findings| findings.to_string())?;
        Ok(map.ranges().iter().map(|range| (range.bounds().hi + 1) as f64).product())
    };
    let is_loop = |id: InstrId| {
        let op = &computation.instructions[id].op;
        matches!(op, Op::Reduce { .. } | Op::ReduceWindow { .. } | Op::Dot { .. } | Op::Convolution { .. })
    };
    let applied = instruction.op.called_computations().into_iter();
    let applied: usize = applied.map(|region| module.computations[region].instructions.len()).sum();
    let each = (1.0 + operation_cost(&instruction.op) + applied as f64) * weight(instruction);
    let mut times = if is_loop(id) { rounds(id)? } else { 1.0 };
    let mut block = plan.block(id);
    while let Some((owner, _)) = block {
        if is_loop(owner) {
            times *= rounds(owner)?;
        }
        block = plan.block(owner);
    }
    Ok(each * times)
}
