//! The commands that show a program or the system and change nothing.

use crate::args::{Compile, Devices, File, Format, TargetArgs, Verify};
use crate::loaded::{Held, Loaded};
use crate::report::{Failure, Outcome, findings_json, note, render};
use crate::source::Source;
use crate::{device, is_json, output, shapes, target};
use serde_json::{Value, json};
use weft_hlo::diagnostic::Diagnostics;
use weft_runtime::program::{Launch, Step, Tensor};
use weft_runtime::{AdapterInfo, Error, Selection, adapters};

/// `weft fmt`
pub(crate) fn fmt(arguments: &File, format: Format) -> Result<Outcome, Failure> {
    let module = Source::read(arguments)?.parse()?;
    if is_json(format) {
        output::json(&json!({ "program": module.name, "hlo": module.to_string() }))?;
    } else {
        output::text(&module.to_string())?;
    }
    Ok(Outcome::Done)
}

fn buffer(tensor: &Tensor) -> usize {
    tensor.buffer.index()
}

fn launch(launch: &Launch) -> Value {
    json!({
        "fusion": launch.name,
        "kernel": launch.shader,
        "workgroups": launch.workgroups,
        "windows": launch.windows,
        "inputs": launch.inputs.iter().map(buffer).collect::<Vec<_>>(),
        "outputs": launch.outputs.iter().map(buffer).collect::<Vec<_>>(),
        "updated": launch.updated.iter().map(|updated| updated.output).collect::<Vec<_>>(),
    })
}

/// A launch or another step, as data.
fn step(step: &Step) -> Value {
    match step {
        Step::Launch(step) => launch(step),
        Step::Draw(draw) => json!({ "draw": draw.name, "delta": draw.delta, "output": buffer(&draw.output) }),
        Step::Copy(copy) => json!({ "copy": [buffer(&copy.from), buffer(&copy.to)], "bytes": copy.to.bytes }),
        Step::While(step) => json!({
            "while": step.name,
            "rounds": step.trip_count,
            "condition": steps(&step.condition),
            "flag": step.flag.as_ref().map(buffer),
            "carried": step.carried.iter().map(buffer).collect::<Vec<_>>(),
            "gate": step.gate().map(|gate| launch(&gate.launch)),
            "body": steps(&step.body),
            "exchanges": step.exchanges.iter().map(|it| [it.buffer.index(), it.with.index()]).collect::<Vec<_>>(),
        }),
        Step::Conditional(step) => json!({
            "conditional": step.name,
            "selector": buffer(&step.selector),
            "branches": step.branches.iter().map(|branch| steps(branch)).collect::<Vec<_>>(),
            "outputs": step.outputs.iter().map(buffer).collect::<Vec<_>>(),
            "why": step.why,
        }),
        Step::Host(step) => json!({
            "host": step.operations(),
            "reasons": step.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "inputs": step.inputs.iter().map(buffer).collect::<Vec<_>>(),
            "outputs": step.outputs.iter().map(buffer).collect::<Vec<_>>(),
        }),
        other => json!({ "unknown": format!("{other:?}") }),
    }
}

fn steps(all: &[Step]) -> Vec<Value> {
    all.iter().map(step).collect()
}

/// `weft compile`
pub(crate) fn compile(arguments: &Compile, format: Format) -> Result<Outcome, Failure> {
    let Compile { shown: arguments, compiling, whole, output } = arguments;
    let loaded = Loaded::read(&arguments.source)?;
    let TargetArgs { device, target, wishes } = &arguments.target;
    let names_target = device.is_some() || target.is_some() || wishes.are_any();
    loaded.check(&arguments.passes, compiling, names_target)?;
    let program = match loaded.held {
        Held::Program(program) => *program,
        Held::Module(module) => {
            let target = device::target(&arguments.target)?;
            let compiled = compiling.compile(&arguments.passes, &module, &target);
            compiled.map_err(|error| Failure::from_runtime(&loaded.source, error))?.program
        }
    };
    if let Some(file) = output {
        std::fs::write(file, program.to_bytes()).map_err(|error| Failure::not_written(file, &error))?;
    }
    if is_json(format) {
        let totals = program.totals();
        let mut value = json!({
            "program": program.name(),
            "steps": steps(program.steps()),
            "buffers": program.buffers().iter().map(|buffer| buffer.bytes).collect::<Vec<_>>(),
            "bytes": totals.allocated(),
            "bytes_live": totals.least,
            "bytes_without_reuse": totals.without_reuse(),
        });
        arguments.passes.explain_in(&mut value, program.passes());
        if *whole {
            value["text"] = program.text().into();
        }
        output::json(&value)?;
    } else if *whole {
        output::text(&program.text())?;
    } else {
        let reasons = if arguments.passes.explain { program.explanation() } else { String::new() };
        output::text(&format!("{}{reasons}{program}", arguments.passes.explanation(program.passes())))?;
    }
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
        note(&counted(findings.0.len(), "finding"), format)?;
    }
    Ok(if outcome.is_ok() { Outcome::Done } else { Outcome::Findings })
}

/// `1 finding`, `2 findings`
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `weft devices`
pub(crate) fn devices(arguments: &Devices, format: Format) -> Result<Outcome, Failure> {
    if let Some(word) = &arguments.target {
        let target = target::named(word)?;
        match format {
            Format::Json => output::json(&json!({ "target": target::to_json(&target)? }))?,
            Format::Text => output::text(&format!("{word} ({})\n   {}", target.kind, target::to_text(&target)))?,
        }
        return Ok(Outcome::Done);
    }
    let found = adapters();
    let best = best(&found, format)?;
    if is_json(format) {
        let devices = found.iter().map(|adapter| adapter_json(adapter, adapter.index == best));
        let devices = devices.collect::<Result<Vec<Value>, Failure>>()?;
        output::json(&json!({ "devices": devices }))?;
    } else {
        let lines: Vec<String> = found.iter().map(|adapter| adapter_text(adapter, adapter.index == best)).collect();
        output::text(&lines.join("\n"))?;
    }
    Ok(Outcome::Done)
}

/// The adapter that is taken by default. That there is none is told in JSON, too.
pub(crate) fn best(found: &[AdapterInfo], format: Format) -> Result<usize, Failure> {
    let best = Selection::Best.choose(found);
    if let (Err(Error::NoAdapter(_)), Format::Json) = (&best, format) {
        output::json(&json!({ "devices": [] }))?;
    }
    Ok(best?)
}

/// A device for people.
pub(crate) fn adapter_text(adapter: &AdapterInfo, best: bool) -> String {
    let AdapterInfo { index, driver, target, .. } = adapter;
    let best = if best { "  taken by default" } else { "" };
    format!("{index}  {adapter}{best}\n   driver {driver}\n   {}", target::to_text(target))
}

/// A device as data.
pub(crate) fn adapter_json(adapter: &AdapterInfo, best: bool) -> Result<Value, Failure> {
    let AdapterInfo { index, name, backend, driver, vendor, device, target } = adapter;
    Ok(json!({
        "index": index,
        "name": name,
        "backend": backend,
        "driver": driver,
        "vendor": vendor,
        "device": device,
        "kind": target.kind.name(),
        "default": best,
        "target": target::to_json(target)?,
    }))
}
