//! What a kernel that is shaped around reductions reads and writes.

use super::Refused;
use crate::Target;
use crate::form::Form;
use crate::plan::planner::Planner;
use crate::plan::{Emitter, FunctionId, FusionPlan, Pass, Read, roots};
use crate::reduced::Reduced;
use std::collections::BTreeSet;
use weft_hlo::ir::{Computation, InstrId, Module, Op};

/// What a kernel that is shaped around reductions is, and costs: what fusing asks before it decides.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// How elements are shared out.
    pub schedule: Reduced,
    /// Passes over the elements of a row.
    pub passes: usize,
    /// Bytes that it reads: those of an operand once, or in each pass that reads it where values are not kept; and no more than the operand has for each, also where
    /// elements are read several times.
    pub bytes_read: u64,
    /// Bytes that it writes.
    pub bytes_written: u64,
}

impl Rows {
    /// Those of a computation that would be one kernel of this kind, given as a fusion; `module` has its regions. It takes as long as its plan.
    ///
    /// # Errors
    /// Why it would be none, as part of a sentence: it reduces nothing, a loop is as good, or results are read at other rows.
    pub fn of(module: &Module, computation: &Computation, target: &Target) -> Result<Rows, String> {
        let plan = Planner::new(computation).plan_reduced(module, target).map_err(|refused| match refused {
            Refused::Reason(reason) => reason,
            Refused::Undefined(findings) => findings.to_string(),
        })?;
        let Emitter::Reduced(schedule) = plan.emitter() else { return Err("it is shaped otherwise".to_owned()) };
        let passes = plan.passes().iter().filter(|pass| !pass.elements.is_empty()).count();
        let bytes_read = Rows::bytes_read(&plan, computation);
        let written = roots(computation).into_iter().map(|root| bytes(computation, root));
        let bytes_written = written.fold(0, u64::saturating_add);
        Ok(Rows { schedule, passes, bytes_read, bytes_written })
    }

    /// Bytes of the operands that a kernel around reductions reads, as often as its passes read them.
    pub(crate) fn bytes_read(plan: &FusionPlan, computation: &Computation) -> u64 {
        let read = plan.passes().iter().flat_map(|pass| parameters_of(plan, computation, pass));
        read.map(|parameter| bytes(computation, parameter)).fold(0, u64::saturating_add)
    }
}

/// Bytes of the arrays that an instruction yields.
fn bytes(computation: &Computation, id: InstrId) -> u64 {
    Form::shape_bytes(&computation.instructions[id].shape)
}

/// The parameters that the functions of a pass read, and those that they call.
fn parameters_of(plan: &FusionPlan, computation: &Computation, pass: &Pass) -> BTreeSet<InstrId> {
    let is_parameter = |id: &InstrId| matches!(computation.instructions[*id].op, Op::Parameter { .. });
    let folded = pass.folds.iter().map(|fold| fold.function);
    let mut open: Vec<FunctionId> = pass.rows.iter().chain(&pass.elements).copied().chain(folded).collect();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(function) = open.pop() {
        if !seen.insert(function) {
            continue;
        }
        let planned = plan.function(function);
        let roots = planned.roots.iter().map(|root| root.instruction).filter(|root| !planned.given.contains(root));
        let operands = planned.members.iter().flat_map(|member| {
            let operands = computation.instructions[*member].operands.iter().enumerate();
            operands.filter(|(position, _)| {
                !matches!(plan.read(*member, *position), Read::Given | Read::Splat | Read::Never)
            })
        });
        for read in roots.chain(operands.map(|(_, operand)| *operand)) {
            if is_parameter(&read) {
                found.insert(read);
            } else if let Some((home, _)) = plan.home(read) {
                open.push(home);
            }
        }
    }
    found
}
