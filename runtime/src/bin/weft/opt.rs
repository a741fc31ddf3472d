//! `weft opt`.

use crate::args::{Format, Opt};
use crate::report::{Failure, Outcome, say};
use crate::source::Source;
use crate::{is_json, output};
use serde_json::{Value, json};
use std::sync::Arc;
use weft_hlo::passes::{PassRun, Pipeline, pass_named};

pub(crate) fn opt(arguments: &Opt, format: Format) -> Result<Outcome, Failure> {
    let source = Source::read(&arguments.source)?;
    let module = source.parse_valid()?;
    let pipeline = match &arguments.passes {
        Some(names) => Pipeline::new(names.iter().filter_map(|name| pass_named(name)).collect()),
        None => Pipeline::default(),
    };
    let mut stages: Vec<(String, String)> = Vec::new();
    let optimized = pipeline.run_watched(&module, &mut |run, module| {
        if !run.changes.is_empty() && arguments.print_after.iter().any(|name| name == run.pass) {
            stages.push((format!("after {} (round {})", run.pass, run.round), module.to_string()));
        }
    });
    let optimized = optimized.map_err(|findings| Failure::Findings(Arc::clone(&source), findings))?;
    if is_json(format) {
        output::json(&json!({
            "program": module.name,
            "instructions": { "before": module.instruction_count(), "after": optimized.module.instruction_count() },
            "is_fixed_point": optimized.is_fixed_point,
            "runs": optimized.runs.iter().map(to_json).collect::<Vec<Value>>(),
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
    for run in optimized.runs.iter().filter(|run| !run.changes.is_empty()) {
        if !arguments.explain {
            break;
        }
        text += &format!("// {}, round {}: {} to {} instructions\n", run.pass, run.round, run.before, run.after);
        for change in &run.changes {
            text += &format!("//   {}: {}\n", change.place, change.rule);
        }
    }
    output::text(&(text + &optimized.module.to_string()))?;
    if !optimized.is_fixed_point {
        say("the passes were still changing something when they were stopped")?;
    }
    Ok(Outcome::Done)
}

fn to_json(run: &PassRun) -> Value {
    json!({
        "pass": run.pass,
        "round": run.round,
        "before": run.before,
        "after": run.after,
        "rules": run.rules(),
        "changes": run.changes.iter().map(|change| json!({ "place": change.place, "rule": change.rule }))
            .collect::<Vec<Value>>(),
    })
}
