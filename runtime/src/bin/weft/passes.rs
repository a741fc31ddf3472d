//! What passes do to a program before it is fused, and how that is told.

use crate::args::Passes;
use crate::report::Failure;
use crate::source::Source;
use serde_json::{Value, json};
use std::sync::Arc;
use weft_hlo::ir::Module;
use weft_hlo::passes::{Optimized, PassRun};
use weft_partition::Fusing;
use weft_runtime::Options;

impl Passes {
    /// What the library is asked for.
    pub(crate) fn options(&self) -> Options {
        Options { optimize: !self.no_opt, grouping: self.grouped.grouping(), ..Options::default() }
    }

    /// The program after the passes that were asked for.
    pub(crate) fn applied(&self, source: &Arc<Source>, module: &Module) -> Result<Optimized, Failure> {
        weft_runtime::optimize(module, &self.options()).map_err(|error| Failure::from_runtime(source, error))
    }

    /// How the program is fused.
    pub(crate) fn fusing(&self) -> Fusing {
        Fusing { grouping: self.grouped.grouping(), ..Fusing::default() }
    }

    /// What the passes did, if that was asked for: comments that may stand before a program.
    pub(crate) fn explanation(&self, runs: &[PassRun]) -> String {
        if self.explain { to_text(runs) } else { String::new() }
    }

    /// The same in an object of JSON.
    pub(crate) fn explain_in(&self, value: &mut Value, runs: &[PassRun]) {
        if self.explain {
            value["passes"] = to_json(runs);
        }
    }
}

/// The runs that changed something, each with its changes, in comments.
pub(crate) fn to_text(runs: &[PassRun]) -> String {
    let mut text = String::new();
    for run in runs.iter().filter(|run| !run.changes.is_empty()) {
        text += &format!("// {}, round {}: {} to {} instructions\n", run.pass, run.round, run.before, run.after);
        for change in &run.changes {
            text += &format!("//   {}: {}\n", change.place, change.rule);
        }
    }
    text
}

/// All runs.
pub(crate) fn to_json(runs: &[PassRun]) -> Value {
    let run = |run: &PassRun| {
        let changes = run.changes.iter().map(|change| json!({ "place": change.place, "rule": change.rule }));
        json!({
            "pass": run.pass,
            "round": run.round,
            "before": run.before,
            "after": run.after,
            "rules": run.rules(),
            "changes": changes.collect::<Vec<Value>>(),
        })
    };
    runs.iter().map(run).collect()
}
