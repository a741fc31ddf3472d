//! `weft opt`.

use crate::args::{Format, Opt};
use crate::pass_list::PassList;
use crate::report::{Failure, Outcome, note};
use crate::source::Source;
use crate::{is_json, output, passes};
use serde_json::{Value, json};
use std::sync::Arc;
use weft_hlo::passes::Pipeline;

pub(crate) fn opt(arguments: &Opt, format: Format) -> Result<Outcome, Failure> {
    let source = Source::read(&arguments.source)?;
    let module = source.parse_valid()?;
    let pipeline = arguments.passes.as_ref().map_or_else(Pipeline::default, PassList::pipeline);
    let is_shown = |pass: &str| arguments.print_after.as_ref().is_some_and(|list| list.holds(pass));
    let mut stages: Vec<(String, String)> = Vec::new();
    let optimized = pipeline.run_watched(&module, &mut |run, module| {
        if !run.changes.is_empty() && is_shown(run.pass) {
            stages.push((format!("after {} (round {})", run.pass, run.round), module.to_string()));
        }
    });
    let optimized = optimized.map_err(|findings| Failure::Findings(Arc::clone(&source), findings))?;
    if is_json(format) {
        output::json(&json!({
            "program": module.name,
            "instructions": { "before": module.instruction_count(), "after": optimized.module.instruction_count() },
            "is_fixed_point": optimized.is_fixed_point,
            "runs": passes::to_json(&optimized.runs),
            "stages": stages.iter().map(|(name, hlo)| json!({ "name": name, "hlo": hlo })).collect::<Vec<Value>>(),
            "hlo": optimized.module.to_string(),
        }))?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for (name, hlo) in &stages {
        text += &format!("// {name}\n");
        hlo.lines().for_each(|line| text += &format!("//   {line}\n"));
    }
    if arguments.explain {
        text += &passes::to_text(&optimized.runs);
    }
    output::text(&(text + &optimized.module.to_string()))?;
    if !optimized.is_fixed_point {
        note("the passes were still changing something when they were stopped", format)?;
    }
    Ok(Outcome::Done)
}
