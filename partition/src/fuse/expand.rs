//! Operations that kernels compute as others, written out.

use super::{Decision, Verdict};
use std::borrow::Cow;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{Module, Op};
use weft_hlo::passes::{BitcastWidths, DeadCode, Pass, RandomBits, SelectAndScatter, Tuples};

/// The module with `rng-bit-generator`, `select-and-scatter` and `bitcast-convert` between widths written out as operations that have code.
pub(super) fn expand<'m>(module: &'m Module, decisions: &mut Vec<Decision>) -> Result<Cow<'m, Module>, Diagnostics> {
    let is_meant =
        |op: &Op| matches!(op, Op::RngBitGenerator { .. } | Op::SelectAndScatter { .. } | Op::BitcastConvert);
    let mut instructions = module.computations.values().flat_map(|computation| computation.instructions.values());
    if !instructions.any(|instruction| is_meant(&instruction.op)) {
        return Ok(Cow::Borrowed(module));
    }
    let mut expanded = Cow::Borrowed(module);
    for pass in [&RandomBits as &dyn Pass, &SelectAndScatter, &BitcastWidths] {
        let rewritten = pass.run(&expanded)?;
        for change in &rewritten.changes {
            let (computation, name) = change.place.split_once('/').unwrap_or(("", &change.place));
            let is_entry = computation == module.entry_computation().name;
            let instruction = if is_entry { name.to_owned() } else { change.place.clone() };
            decisions.push(Decision { instruction, verdict: Verdict::Rewritten, reason: change.rule.to_owned() });
        }
        if !rewritten.changes.is_empty() {
            expanded = Cow::Owned(rewritten.module);
        }
    }
    if let Cow::Borrowed(_) = expanded {
        return Ok(expanded);
    }
    // What stood between a state and its words is needed no longer.
    let taken_apart = Tuples.run(&expanded)?.module;
    Ok(Cow::Owned(DeadCode.run(&taken_apart)?.module))
}
