//! `weft run`.

use crate::args::{Format, Passes, Run};
use crate::bench::Stopwatch;
use crate::check::{Difference, compare};
use crate::compiling::Compiled;
use crate::device::{Place, place};
use crate::loaded::{Held, Loaded};
use crate::output::Shown;
use crate::progress::Progress;
use crate::report::{Failure, Outcome, note, say};
use crate::source::Source;
use crate::stats::Stats;
use crate::{inputs, is_json, npy, output, target};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::eval::{self, Chance, Config};
use weft_hlo::ir::{Literal, Module};
use weft_hlo::passes::{Optimized, PassRun};
use weft_partition::Target;
use weft_runtime::{Checks, Device, Executable, Program};

pub(crate) fn run(arguments: &Run, format: Format, stopwatch: &Stopwatch) -> Result<Outcome, Failure> {
    inputs::check_arguments(arguments)?;
    let loaded = Loaded::read(&arguments.source)?;
    let names_target = arguments.target.is_some() || arguments.wishes.are_any();
    loaded.check(&arguments.passes, &arguments.compiling, names_target)?;
    let (source, module) = (&loaded.source, loaded.module());
    // What may be refused without the inputs is refused before any of them is made or read.
    let device = if arguments.precise { "evaluator" } else { &arguments.device };
    if arguments.target.is_some() && device == "evaluator" {
        return Err(Failure::Misuse("--target is for devices: the evaluator compiles nothing".into()));
    }
    let target = arguments.target.as_deref().map(target::named).transpose()?;
    let place = place(device, arguments.compiling.memory_budget)?;
    let started = Instant::now();
    let place = match place {
        Place::Device(device) => {
            let (executable, is_found) = executable(&loaded, &device, target.as_ref(), arguments)?;
            Ran::On(executable, is_found)
        }
        Place::Evaluator(reason) => {
            if let Some(reason) = reason {
                note(&format!("running in the evaluator: {reason}"), format)?;
            }
            // Rounding, and how often loops run, is that of the program as it is written.
            let as_written = arguments.precise || arguments.max_iterations.is_some();
            let is_compiled = matches!(loaded.held, Held::Program(_));
            let passes = Passes { no_opt: arguments.passes.no_opt || as_written || is_compiled, ..arguments.passes };
            Ran::Evaluated(Box::new(passes.applied(source, module)?))
        }
    };
    if !is_json(format) {
        let told = arguments.passes.explanation(place.passes());
        if !told.is_empty() {
            say(told.trim_end())?;
        }
    }
    let compiled_in = started.elapsed();
    if let Ran::On(executable, _) = &place {
        tell_of_host(executable.program(), format)?;
    }
    let inputs = inputs::read(source, module, arguments, format)?;
    if let Some(directory) = &arguments.output_dir {
        std::fs::create_dir_all(directory).map_err(|error| Failure::not_written(directory, &error))?;
    }
    let started = Instant::now();
    let (results, ran_on) = match &place {
        Ran::On(executable, _) => {
            (on_device(source, executable, &inputs, arguments)?, device_json(executable.device()))
        }
        Ran::Evaluated(optimized) => (in_evaluator(source, &optimized.module, &inputs, arguments)?, json!("evaluator")),
    };
    let stats = match &place {
        Ran::On(executable, is_found) if arguments.stats => {
            let stages = stopwatch.take();
            Some(Stats::of(executable.program(), *is_found, &stages, compiled_in, started.elapsed()))
        }
        _ => None,
    };
    let differences = if arguments.check {
        let expected = in_evaluator(source, module, &inputs, arguments)?;
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
        let mut value = json!({ "program": module.name, "device": ran_on, "results": results });
        arguments.passes.explain_in(&mut value, place.passes());
        if let Some(stats) = &stats {
            value["stats"] = stats.to_json();
        }
        output::json(&value)?;
    } else {
        let lines: Vec<String> = shown.iter().map(Shown::to_text).collect();
        output::text(&lines.join("\n"))?;
        if let Some(stats) = &stats {
            say(&stats.to_text())?;
        }
    }
    let accepted = differences.iter().flatten().all(Difference::is_accepted);
    if !accepted && !is_json(format) {
        say("error: the results differ from the evaluator's by more than the tolerances")?;
    }
    Ok(if accepted { Outcome::Done } else { Outcome::Findings })
}

/// Where a program runs, as it was prepared for that.
enum Ran {
    /// Whether the program was found in the cache; `None` where none was looked into.
    On(Executable, Option<bool>),
    Evaluated(Box<Optimized>),
}

impl Ran {
    /// What passes did to the program first.
    fn passes(&self) -> &[PassRun] {
        match self {
            Ran::On(executable, _) => executable.program().passes(),
            Ran::Evaluated(optimized) => &optimized.runs,
        }
    }
}

/// A program on its device, and whether it was found in the cache.
fn executable(
    loaded: &Loaded,
    device: &Device,
    target: Option<&Target>,
    arguments: &Run,
) -> Result<(Executable, Option<bool>), Failure> {
    let failed = |error| Failure::from_runtime(&loaded.source, error);
    let target = &arguments.wishes.apply(target.unwrap_or(device.target()).clone());
    let Compiled { program, is_found } = match &loaded.held {
        Held::Program(program) => {
            arguments.compiling.memory_budget.map_or(Ok(()), |budget| program.check_budget(budget))?;
            Compiled { program: program.as_ref().clone(), is_found: None }
        }
        Held::Module(module) => arguments.compiling.compile(&arguments.passes, module, target).map_err(failed)?,
    };
    let _loading = Progress::asked_for("loading", arguments.compiling.progress);
    let checks = if arguments.sanitize { Checks::All } else { Checks::default() };
    let executable = Executable::with_checks(device, program, checks).map_err(failed)?;
    Ok((executable.seeded(arguments.seed), is_found))
}

/// What the host computes, and why: each reason once.
fn tell_of_host(program: &Program, format: Format) -> Result<(), Failure> {
    let mut told: BTreeSet<(&str, &str)> = BTreeSet::new();
    for reason in program.host_steps().flat_map(|host| &host.reasons) {
        if told.insert((&reason.instruction, &reason.message)) {
            let Diagnostic { instruction, code, message, .. } = reason;
            note(&format!("the host computes {instruction}: {code}: {message}"), format)?;
        }
    }
    Ok(())
}

fn on_device(
    source: &Arc<Source>,
    executable: &Executable,
    inputs: &[Literal],
    arguments: &Run,
) -> Result<Vec<Literal>, Failure> {
    let running = Progress::asked_for("running", arguments.compiling.progress);
    let watched = running.watch_device().map(|watch| executable.clone().watched(watch));
    watched.as_ref().unwrap_or(executable).run(inputs).map_err(|error| Failure::from_runtime(source, error))
}

fn in_evaluator(
    source: &Arc<Source>,
    module: &Module,
    inputs: &[Literal],
    arguments: &Run,
) -> Result<Vec<Literal>, Failure> {
    let evaluating = Progress::asked_for("evaluating", arguments.compiling.progress);
    let config = Config {
        iteration_limit: arguments.max_iterations,
        chance: Some(Chance::seeded(arguments.seed)),
        watch: evaluating.watch(),
        ..Config::default()
    };
    let evaluate = if arguments.precise { eval::evaluate_precisely } else { eval::evaluate_with };
    evaluate(module, inputs, &config).map_err(|findings| Failure::Findings(Arc::clone(source), findings))
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
    let each = |(number, literal): (usize, &Literal)| {
        let path = directory.join(format!("out_{number}.npy"));
        npy::write(&path, literal).map_err(|error| Failure::not_written(&path, &error))?;
        Ok(path.display().to_string())
    };
    results.iter().enumerate().map(each).collect()
}

fn device_json(device: &Device) -> Value {
    let info = device.info();
    json!({ "name": info.name, "backend": info.backend, "kind": info.target.kind.name() })
}
