//! What a kernel costs.

use super::bytes;
use crate::Target;
use crate::access::{element_count, is_loop, loop_rounds};
use crate::cost::operation_cost;
use crate::plan::{Emitter, Function, FusionPlan, Rows, roots};
use weft_hlo::ir::{Computation, Op};

/// What a kernel moves and computes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cost {
    /// Bytes of operands, as often as passes over rows read them, and of results.
    bytes: f64,
    /// Invocations that share the work.
    invocations: f64,
    /// Units of work, and rounds of loops that are not those of passes over rows.
    units: f64,
    rounds: f64,
    shape: Shaped,
}

/// What a kernel is shaped around.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Shaped {
    Loop,
    /// So many transpositions go through tiles.
    Tiled(usize),
    Rows,
}

impl Cost {
    /// That of a computation by its plan.
    pub(super) fn of(computation: &Computation, plan: &FusionPlan) -> Cost {
        let written: u64 = roots(computation).iter().map(|root| bytes(&computation.instructions[*root].shape)).sum();
        let parameters = computation.instructions.values().filter(|it| matches!(it.op, Op::Parameter { .. }));
        let read: u64 = parameters.map(|parameter| bytes(&parameter.shape)).sum();
        let elements = roots(computation)
            .iter()
            .map(|root| element_count(&computation.instructions[*root].shape))
            .fold(0.0, f64::max);
        let (read, invocations, shape) = match plan.emitter() {
            Emitter::Reduced(reduced) => {
                let [inner, outer] = reduced.workgroups();
                let read = Rows::bytes_read(plan, computation);
                (read, inner as f64 * outer as f64 * reduced.threads() as f64, Shaped::Rows)
            }
            Emitter::Transposed(_) => {
                let tiled = plan.heroes().iter().filter(|hero| hero.why_loop.is_none()).count();
                (read, elements, Shaped::Tiled(tiled))
            }
            _ => (read, elements, Shaped::Loop),
        };
        // What a loop within a function computes has more elements than the function has.
        let of_function = |function: &Function| -> f64 {
            let units = function.members.iter().map(|id| {
                let instruction = &computation.instructions[*id];
                operation_cost(&instruction.op) * function.evaluations.max(element_count(&instruction.shape))
            });
            units.sum()
        };
        let units = plan.functions().iter().map(of_function).sum();
        let loops = |function: &Function| -> f64 {
            let rounds = function.members.iter().map(|id| {
                let instruction = &computation.instructions[*id];
                let each = if is_loop(&instruction.op) { loop_rounds(computation, instruction) } else { 0.0 };
                each * function.evaluations.max(element_count(&instruction.shape))
            });
            rounds.sum()
        };
        let rounds = plan.functions().iter().map(loops).sum();
        Cost { bytes: read as f64 + written as f64, invocations, units, rounds, shape }
    }

    /// How long a launch takes: what it takes besides its work, and as long as its bytes take from and to memory, where invocations that do not occupy the device move fewer at a time.
    pub(super) fn nanoseconds(&self, target: &Target) -> f64 {
        let hardware = &target.hardware;
        let lanes =
            f64::from(hardware.cores) * if target.is_software() { 1.0 } else { f64::from(hardware.lanes_per_core) };
        let share = (self.invocations / lanes).clamp(1e-6, 1.0);
        f64::from(hardware.launch_nanoseconds) + 1e9 * self.bytes / (hardware.dram_bytes_per_second as f64 * share)
    }

    /// Whether a kernel of two others computes more than these do together.
    pub(super) fn computes_more_than(&self, one: &Cost, two: &Cost) -> bool {
        self.units > one.units + two.units || self.rounds > one.rounds + two.rounds
    }

    /// Whether it is shaped around all that another is shaped around: rows, and as many transpositions.
    pub(super) fn is_at_least(&self, other: &Cost) -> bool {
        match (self.shape, other.shape) {
            (Shaped::Tiled(own), Shaped::Tiled(others)) => own >= others,
            (_, Shaped::Tiled(_)) => false,
            (Shaped::Rows, _) => true,
            (_, Shaped::Rows) => false,
            (_, Shaped::Loop) => true,
        }
    }
}
