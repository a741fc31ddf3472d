//! The commands that show a program or the system and change nothing.

use crate::args::{File, Format, Fuse, Shown, TargetArgs, Verify};
use crate::report::{Failure, Outcome, findings_json, render, say};
use crate::source::Source;
use crate::{device, is_json, output, shapes};
use serde_json::{Value, json};
use std::sync::Arc;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::Op;
use weft_partition::{Decision, Fused, FusionPlan};
use weft_runtime::{AdapterInfo, Error, Selection, adapters, kind_name};

/// The program, fused for its target, with the reasons.
fn fused(source: &File, target: &TargetArgs) -> Result<(Arc<Source>, Fused), Failure> {
    let source = Source::read(source)?;
    let module = source.parse_valid()?;
    let target = device::target(target.device.as_deref())?;
    match weft_partition::fuse_explained(&module, &target) {
        Ok(fused) => Ok((source, fused)),
        Err(findings) => Err(Failure::Findings(source, findings)),
    }
}

/// `weft compile`
pub(crate) fn compile(arguments: &Shown, format: Format) -> Result<Outcome, Failure> {
    let source = Source::read(&arguments.source)?;
    let module = source.parse_valid()?;
    let target = device::target(arguments.target.device.as_deref())?;
    let program = weft_runtime::compile(&module, &target).map_err(|error| Failure::from_runtime(&source, error))?;
    if is_json(format) {
        let totals = program.totals();
        output::json(&json!({
            "program": program.name(),
            "launches": program.launches().iter().map(|launch| json!({
                "fusion": launch.name,
                "kernel": launch.shader,
                "workgroups": launch.workgroups,
                "inputs": launch.inputs.iter().map(|tensor| tensor.buffer.index()).collect::<Vec<_>>(),
                "outputs": launch.outputs.iter().map(|tensor| tensor.buffer.index()).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "buffers": program.buffers().iter().map(|buffer| buffer.bytes).collect::<Vec<_>>(),
            "bytes": totals.allocated(),
            "bytes_without_reuse": totals.without_reuse(),
        }))?;
    } else {
        output::text(&program.to_string())?;
    }
    Ok(Outcome::Done)
}

/// `weft fuse`
pub(crate) fn fuse(arguments: &Fuse, format: Format) -> Result<Outcome, Failure> {
    let (_, fused) = fused(&arguments.source, &arguments.target)?;
    if is_json(format) {
        let decision = |decision: &Decision| {
            let verdict = format!("{:?}", decision.verdict).to_lowercase();
            json!({ "instruction": decision.instruction, "verdict": verdict, "reason": decision.reason })
        };
        let decisions: Vec<Value> = fused.decisions.iter().map(decision).collect();
        output::json(&json!({ "hlo": fused.module.to_string(), "decisions": decisions }))?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    if arguments.explain {
        for Decision { instruction, verdict, reason, .. } in &fused.decisions {
            let verdict = format!("{verdict:?}").to_lowercase();
            text += &format!("// {instruction}: {verdict}: {reason}\n");
        }
    }
    output::text(&(text + &fused.module.to_string()))?;
    Ok(Outcome::Done)
}

/// `weft partition`
pub(crate) fn partition(arguments: &Shown, format: Format) -> Result<Outcome, Failure> {
    let (source, fused) = fused(&arguments.source, &arguments.target)?;
    let failed = |findings| Failure::Findings(Arc::clone(&source), findings);
    let mut plans = Vec::new();
    for instruction in fused.module.entry_computation().instructions.values() {
        if let Op::Fusion { calls, .. } = instruction.op {
            let computation = &fused.module.computations[calls];
            let plan = FusionPlan::new(computation).map_err(failed)?;
            plans.push((instruction.name.as_str(), plan.text(computation)));
        }
    }
    show_texts("fusion", &plans, format)
}

/// Named texts under one another, or a JSON array of objects.
fn show_texts(noun: &str, texts: &[(&str, String)], format: Format) -> Result<Outcome, Failure> {
    if is_json(format) {
        let values: Vec<Value> = texts.iter().map(|(name, text)| json!({ noun: name, "text": text })).collect();
        output::json(&Value::Array(values))?;
        return Ok(Outcome::Done);
    }
    let mut whole = String::new();
    for (name, text) in texts {
        let gap = if whole.is_empty() { "" } else { "\n" };
        whole += &format!("{gap}{noun} {name}\n");
        for line in text.lines() {
            whole += &format!("  {line}\n");
        }
    }
    output::text(&whole)?;
    Ok(Outcome::Done)
}

/// `weft verify`
pub(crate) fn verify(arguments: &Verify, format: Format) -> Result<Outcome, Failure> {
    let library = shapes::library(&arguments.functions)?;
    let source = Source::read(&arguments.source)?;
    let outcome = weft_hlo::text::parse(&source.text).and_then(|module| {
        weft_hlo::verify::verify_by(&module, &library)?;
        Ok(module)
    });
    let findings = match &outcome {
        Ok(_) => Diagnostics(Vec::new()),
        Err(findings) => findings.clone(),
    };
    if is_json(format) {
        output::json(&json!({ "valid": outcome.is_ok(), "findings": findings_json(&source, &findings) }))?;
    } else if let Ok(module) = &outcome {
        let (computations, instructions) = (module.computations.len(), module.instruction_count());
        let (computations, instructions) = (counted(computations, "computation"), counted(instructions, "instruction"));
        output::text(&format!("valid: {computations}, {instructions}"))?;
    } else {
        render(&source, &findings)?;
        say(&counted(findings.0.len(), "finding"))?;
    }
    Ok(if outcome.is_ok() { Outcome::Done } else { Outcome::Findings })
}

/// `1 finding`, `2 findings`
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `weft devices`
pub(crate) fn devices(format: Format) -> Result<Outcome, Failure> {
    let found = adapters();
    let best = match Selection::Best.choose(&found) {
        Ok(best) => best,
        Err(Error::NoAdapter(advice)) => {
            if is_json(format) {
                output::json(&json!({ "devices": [] }))?;
            }
            return Err(Error::NoAdapter(advice).into());
        }
        Err(error) => return Err(error.into()),
    };
    if is_json(format) {
        let devices: Vec<Value> = found.iter().map(|adapter| adapter_json(adapter, adapter.index == best)).collect();
        output::json(&json!({ "devices": devices }))?;
    } else {
        let lines: Vec<String> = found.iter().map(|adapter| adapter_text(adapter, adapter.index == best)).collect();
        output::text(&lines.join("\n"))?;
    }
    Ok(Outcome::Done)
}

fn adapter_text(adapter: &AdapterInfo, best: bool) -> String {
    let AdapterInfo { index, driver, target, .. } = adapter;
    let best = if best { "  taken by default" } else { "" };
    format!(
        "{index}  {adapter}{best}\n   driver {driver}\n   {} storage buffers, {} MiB each, {} invocations per workgroup",
        target.max_storage_buffers,
        target.max_storage_binding_bytes.min(target.max_buffer_bytes) >> 20,
        target.max_invocations_per_workgroup,
    )
}

fn adapter_json(adapter: &AdapterInfo, best: bool) -> Value {
    let AdapterInfo { index, name, backend, driver, target } = adapter;
    json!({
        "index": index,
        "name": name,
        "backend": backend,
        "driver": driver,
        "kind": kind_name(target.kind),
        "default": best,
        "limits": {
            "storage_buffers": target.max_storage_buffers,
            "storage_binding_bytes": target.max_storage_binding_bytes,
            "buffer_bytes": target.max_buffer_bytes,
            "invocations_per_workgroup": target.max_invocations_per_workgroup,
            "workgroup_size_x": target.max_workgroup_size_x,
            "workgroups_per_dimension": target.max_workgroups_per_dimension,
            "loop_iterations": target.max_loop_iterations,
        },
    })
}
