//! `weft run`.

use crate::args::{Format, Run};
use crate::check::{Difference, compare};
use crate::device::{Place, place};
use crate::output::Shown;
use crate::progress::Progress;
use crate::report::{Failure, Outcome, say};
use crate::source::Source;
use crate::{inputs, is_json, npy, output};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use weft_hlo::ir::{Literal, Module};
use weft_runtime::{Device, Executable, compile, kind_name};

pub(crate) fn run(arguments: &Run, format: Format) -> Result<Outcome, Failure> {
    let source = Source::read(&arguments.source)?;
    let module = source.parse_valid()?;
    let inputs = inputs::read(&module, arguments)?;
    let place = place(&arguments.device)?;
    let (results, ran_on) = match &place {
        Place::Device(device) => (on_device(&source, &module, device, &inputs)?, device_json(device)),
        Place::Evaluator(reason) => {
            if let Some(reason) = reason {
                say(&format!("running in the evaluator: {reason}"))?;
            }
            (in_evaluator(&source, &module, &inputs)?, json!("evaluator"))
        }
    };
    let differences = if arguments.check {
        let expected = in_evaluator(&source, &module, &inputs)?;
        Some(differences(&results, &expected, arguments)?)
    } else {
        None
    };
    let files = match &arguments.output_dir {
        Some(directory) => Some(write(directory, &results)?),
        None => None,
    };
    let shown: Vec<Shown<'_>> = (results.iter().enumerate())
        .map(|(number, literal)| Shown {
            name: format!("out_{number}"),
            literal,
            file: files.as_ref().map(|files| files[number].clone()),
            difference: differences.as_ref().map(|differences| &differences[number]),
        })
        .collect();
    if is_json(format) {
        let results: Vec<Value> = shown.iter().map(Shown::to_json).collect();
        output::json(&json!({ "program": module.name, "device": ran_on, "results": results }))?;
    } else {
        let lines: Vec<String> = shown.iter().map(Shown::to_text).collect();
        output::text(&lines.join("\n"))?;
    }
    let accepted = differences.iter().flatten().all(Difference::is_accepted);
    if !accepted && !is_json(format) {
        say("error: the results differ from the evaluator's by more than the tolerances")?;
    }
    Ok(if accepted { Outcome::Done } else { Outcome::Findings })
}

fn on_device(
    source: &Arc<Source>,
    module: &Module,
    device: &Device,
    inputs: &[Literal],
) -> Result<Vec<Literal>, Failure> {
    let failed = |error| Failure::from_runtime(source, error);
    let compiling = Progress::start("compiling");
    let program = compile(module, device.target()).map_err(failed)?;
    let executable = Executable::new(device, program).map_err(failed)?;
    drop(compiling);
    let _running = Progress::start("running");
    executable.run(inputs).map_err(failed)
}

fn in_evaluator(source: &Arc<Source>, module: &Module, inputs: &[Literal]) -> Result<Vec<Literal>, Failure> {
    let _evaluating = Progress::start("evaluating");
    weft_hlo::eval::evaluate(module, inputs).map_err(|findings| Failure::Findings(Arc::clone(source), findings))
}

fn differences(results: &[Literal], expected: &[Literal], arguments: &Run) -> Result<Vec<Difference>, Failure> {
    if results.len() != expected.len() {
        let (found, expected) = (results.len(), expected.len());
        return Err(Failure::message(format!("there are {found} results where the evaluator has {expected}")));
    }
    let each = |(number, (result, expected)): (usize, (&Literal, &Literal))| {
        let mismatch = || format!("out_{number} is {} where the evaluator has {}", result.shape, expected.shape);
        compare(result, expected, arguments).ok_or_else(|| Failure::message(mismatch()))
    };
    results.iter().zip(expected).enumerate().map(each).collect()
}

/// Writes each result to a file of `directory`; the files' names.
fn write(directory: &Path, results: &[Literal]) -> Result<Vec<String>, Failure> {
    let failed = |path: &Path, error| Failure::message(format!("cannot write {}: {error}", path.display()));
    std::fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
    let each = |(number, literal): (usize, &Literal)| {
        let path = directory.join(format!("out_{number}.npy"));
        npy::write(&path, literal).map_err(|error| failed(&path, error))?;
        Ok(path.display().to_string())
    };
    results.iter().enumerate().map(each).collect()
}

fn device_json(device: &Device) -> Value {
    let info = device.info();
    json!({ "name": info.name, "backend": info.backend, "kind": kind_name(info.target.kind) })
}
