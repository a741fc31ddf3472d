//! Operations that kernels compute as others, written out.

use super::{Decision, Verdict};
use std::borrow::Cow;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{Module, Op};
use weft_hlo::passes::{
    BitcastWidths, DeadCode, MultiplyHigh, Pass, RandomBits, SelectAndScatter, StochasticConvert, Tuples, WideSums,
};

/// The module with `rng-bit-generator`, `select-and-scatter`, `mulhi`, `stochastic-convert` and `bitcast-convert` between widths written out as
/// operations that have code, and sums of narrow floats accumulated in `f32`.
pub(super) fn expand<'m>(module: &'m Module, decisions: &mut Vec<Decision>) -> Result<Cow<'m, Module>, Diagnostics> {
    let is_meant = |op: &Op| {
        matches!(
            op,
            Op::RngBitGenerator { .. }
                | Op::SelectAndScatter { .. }
                | Op::MultiplyHigh
                | Op::StochasticConvert
                | Op::BitcastConvert
                | Op::Reduce { .. }
                | Op::ReduceWindow { .. }
        )
    };
    let mut instructions = module.computations.values().flat_map(|computation| computation.instructions.values());
    if !instructions.any(|instruction| is_meant(&instruction.op)) {
        return Ok(Cow::Borrowed(module));
    }
    let mut expanded = Cow::Borrowed(module);
    for pass in [&RandomBits as &dyn Pass, &SelectAndScatter] {
        run(pass, &mut expanded, decisions)?;
    }
    if let Cow::Owned(changed) = &expanded {
        // What stood between a state and its words is needed no longer.
        let taken_apart = Tuples.run(changed)?.module;
        expanded = Cow::Owned(DeadCode.run(&taken_apart)?.module);
    }
    for pass in [&WideSums as &dyn Pass, &MultiplyHigh, &StochasticConvert, &BitcastWidths] {
        run(pass, &mut expanded, decisions)?;
    }
    Ok(expanded)
}

/// Runs a pass, and tells what it rewrote.
fn run(pass: &dyn Pass, module: &mut Cow<'_, Module>, decisions: &mut Vec<Decision>) -> Result<(), Diagnostics> {
    let rewritten = pass.run(module)?;
    for change in &rewritten.changes {
        let (computation, name) = change.place.split_once('/').unwrap_or(("", &change.place));
        let is_entry = computation == module.entry_computation().name;
        let instruction = if is_entry { name.to_owned() } else { change.place.clone() };
        decisions.push(Decision { instruction, verdict: Verdict::Rewritten, reason: change.rule.to_owned() });
    }
    if !rewritten.changes.is_empty() {
        *module = Cow::Owned(rewritten.module);
    }
    Ok(())
}
