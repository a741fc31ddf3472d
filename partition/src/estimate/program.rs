//! How long a whole program takes.

use super::Estimate;
use crate::cost::READ_BACK_NANOSECONDS;
use crate::{Fused, LoopPlan, Site, Target};
use weft_hlo::ir::{ComputationId, Instruction, Op};

impl Fused {
    /// What the kernel of a fusion takes; `None` for what is none, and has no plan.
    pub fn estimate(&self, site: Site, target: &Target) -> Option<Estimate> {
        let Op::Fusion { calls, .. } = self.instruction(site)?.op else { return None };
        let plan = self.plan(calls)?;
        Some(Estimate::of(&self.module, &self.module.computations[calls], plan, target))
    }

    /// Nanoseconds that a run takes on the device: the [estimates](Estimate) of all launches, as often as they are made. A loop that is one kernel, where `with_loops` lets loops be that,
    /// takes what its [plan](LoopPlan) counts; a conditional takes its longest branch, and the time until the host knows which one it is.
    ///
    /// # Errors
    /// Why it is not known: the host computes something, or a loop makes a number of rounds that does not follow from the text.
    pub fn estimated_nanoseconds(&self, target: &Target, with_loops: bool) -> Result<f64, String> {
        self.of_program(self.module.entry, target, with_loops)
    }

    fn of_program(&self, program: ComputationId, target: &Target, with_loops: bool) -> Result<f64, String> {
        let mut all = 0.0;
        for (instruction, one) in self.module.computations[program].instructions.iter() {
            let site = Site { computation: program, instruction };
            all += self.of_instruction(site, one, target, with_loops)?;
        }
        Ok(all)
    }

    fn of_instruction(
        &self,
        site: Site,
        instruction: &Instruction,
        target: &Target,
        with_loops: bool,
    ) -> Result<f64, String> {
        if let Some(uncompiled) = self.uncompiled.iter().find(|one| one.site == site) {
            return Err(format!("the host computes {}: {}", self.name(site), uncompiled.reason.message));
        }
        match &instruction.op {
            Op::Fusion { .. } => {
                let unplanned = || format!("{} has no plan", self.name(site));
                Ok(self.estimate(site, target).ok_or_else(unplanned)?.nanoseconds)
            }
            Op::While { body, .. } => {
                let count = self.trip_counts.get(&site).copied();
                let rounds = count.ok_or_else(|| format!("{} makes an unknown number of rounds", self.name(site)))?;
                let round = match LoopPlan::new(self, site, target) {
                    Ok(plan) if with_loops => plan.nanoseconds as f64,
                    // The condition of a loop whose rounds are counted is not asked.
                    _ => self.of_program(*body, target, with_loops)?,
                };
                Ok(f64::from(target.hardware.launch_nanoseconds) + rounds as f64 * round)
            }
            Op::Conditional { branches, .. } => {
                let mut longest: f64 = 0.0;
                for branch in branches {
                    longest = longest.max(self.of_program(*branch, target, with_loops)?);
                }
                Ok(longest + READ_BACK_NANOSECONDS as f64)
            }
            _ => Ok(0.0),
        }
    }
}
