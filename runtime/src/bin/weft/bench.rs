//! `weft bench`: how fast programs are, beside kernels written by hand and a plain copy.

pub(crate) mod args;
mod baseline;
mod calibrate;
mod case;
mod clock;
mod inputs;
mod judge;
mod kernel;
mod measure;
mod prediction;
mod reference;
mod report;
mod rounds;
mod row;
mod stages;
mod statistics;
mod sweep;
mod table;
mod timestamps;

pub(crate) use stages::Stopwatch;

use crate::args::Format;
use crate::progress::Progress;
use crate::report::{Failure, Outcome};
use crate::{device, is_json, output, target};
use args::{Bench, Clock};
use baseline::{Baseline, Comparison};
use case::Case;
use measure::{Bench as Measuring, Settings};
use report::Section;
use rounds::{Budget, WARM_UP_TIME};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use sweep::Sweep;
use weft_partition::{Hardware, Schedule, Target};
use weft_runtime::Device;

/// `weft bench`
pub(crate) fn bench(arguments: &Bench, format: Format, stopwatch: &Stopwatch) -> Result<Outcome, Failure> {
    if arguments.markdown && is_json(format) {
        return Err(Failure::Misuse("--markdown and --format json exclude each other".into()));
    }
    if let Some(file) = &arguments.calibrate {
        return calibrated(arguments, file, format);
    }
    if let Some(most) = arguments.sweep {
        return swept(arguments, most, format);
    }
    // What may be refused before hours of measuring is.
    let cases = match arguments.all {
        true => Case::all(),
        false => arguments.programs.iter().map(|name| Case::named(name)).collect::<Result<_, _>>()?,
    };
    let baseline = arguments.baseline.as_deref().map(Baseline::read).transpose()?;
    let target = arguments.target.as_deref().map(target::named).transpose()?;
    let mut sections = Vec::with_capacity(arguments.device.len());
    for wanted in &arguments.device {
        sections.push(section(arguments, wanted, target.as_ref(), &cases, baseline.as_ref(), stopwatch)?);
    }
    if is_json(format) {
        let devices: Vec<Value> = sections.iter().map(Section::to_json).collect();
        output::json(&json!({ "devices": devices }))?;
    } else if arguments.markdown {
        let sections: Vec<String> = sections.iter().map(Section::to_markdown).collect();
        output::text(&format!("# Measured by `weft bench`\n\n{}", sections.join("\n")))?;
    } else {
        output::text(&sections.iter().map(Section::to_text).collect::<Vec<String>>().join("\n"))?;
    }
    let mut comparisons = sections.iter().flat_map(|section| section.comparisons.iter().flatten());
    let is_worse = comparisons.any(|comparison: &Comparison| comparison.verdict.is_regression());
    Ok(if is_worse { Outcome::Findings } else { Outcome::Done })
}

/// `weft bench --calibrate`
fn calibrated(arguments: &Bench, file: &Path, format: Format) -> Result<Outcome, Failure> {
    let [wanted] = &arguments.device[..] else {
        return Err(Failure::Misuse("--calibrate writes the target of one device".into()));
    };
    let device = Device::new(&device::selection(wanted))?;
    let target = calibrate::calibrated(&device, arguments.rounds)?;
    let value = target::to_json(&target)?;
    std::fs::write(file, format!("{value:#}\n")).map_err(|error| Failure::not_written(file, &error))?;
    if is_json(format) {
        output::json(&value["hardware"])?;
    } else {
        let Hardware { launch_nanoseconds, dram_bytes_per_second, clock_hertz, .. } = target.hardware;
        output::text(&format!(
            "{}: a launch takes {launch_nanoseconds} ns, memory moves {dram_bytes_per_second} bytes a second, the clock counts {clock_hertz} cycles a second\n",
            device.info()
        ))?;
    }
    Ok(Outcome::Done)
}

/// `weft bench --sweep`
fn swept(arguments: &Bench, most: u32, format: Format) -> Result<Outcome, Failure> {
    let target = arguments.target.as_deref().map(target::named).transpose()?;
    let mut sweeps = Vec::with_capacity(arguments.device.len());
    for wanted in &arguments.device {
        let device = Device::new(&device::selection(wanted))?;
        let settings = sweep::Settings {
            target: target.as_ref().unwrap_or_else(|| device.target()).clone(),
            schedules: arguments.scheduled.schedule.map_or(Schedule::ALL.to_vec(), |schedule| vec![schedule]),
            budget: budget(arguments),
            seed: arguments.seed,
            clock: arguments.clock,
            is_checked: !arguments.no_check,
        };
        let progress = Progress::start("measuring");
        sweeps.push(Sweep::of(&device, &settings, most, &mut |what| progress.tell(what))?);
    }
    if is_json(format) {
        output::json(&json!({ "devices": sweeps.iter().map(Sweep::to_json).collect::<Vec<Value>>() }))?;
    } else if arguments.markdown {
        let sections: Vec<String> = sweeps.iter().map(Sweep::to_markdown).collect();
        output::text(&format!("# Measured by `weft bench --sweep`\n\n{}", sections.join("\n")))?;
    } else {
        output::text(&sweeps.iter().map(Sweep::to_text).collect::<Vec<String>>().join("\n"))?;
    }
    Ok(if sweeps.iter().any(Sweep::has_findings) { Outcome::Findings } else { Outcome::Done })
}

fn budget(arguments: &Bench) -> Budget {
    let time = Duration::from_secs_f64(arguments.seconds);
    Budget { rounds: arguments.rounds as usize, time, warm_up: WARM_UP_TIME.min(time) }
}

/// Measures all programs on one device.
fn section(
    arguments: &Bench,
    wanted: &str,
    target: Option<&Target>,
    cases: &[Case],
    baseline: Option<&Baseline>,
    stopwatch: &Stopwatch,
) -> Result<Section, Failure> {
    // Some of the kernels written by hand use subgroups; compiled programs are the same with and without.
    let device = Device::with_features(&device::selection(wanted), wgpu::Features::SUBGROUP)?;
    let settings = Settings {
        budget: budget(arguments),
        seed: arguments.seed,
        is_checked: !arguments.no_check,
        is_optimized: !arguments.no_opt,
        beside_unfused: arguments.unfused,
        on_device: arguments.clock == Clock::Device,
    };
    let target = arguments.scheduled.apply(target.unwrap_or_else(|| device.target()).clone());
    let target = target.with(|target| target.fast_scatter |= arguments.fast_scatter);
    let measuring = Measuring::new(device.clone(), target, settings, stopwatch)?;
    let progress = Progress::start("measuring");
    let mut rows = Vec::with_capacity(cases.len());
    for (number, case) in cases.iter().enumerate() {
        progress.tell(format!("{} ({} of {})", case.name, number + 1, cases.len()));
        rows.push(measuring.row(case));
    }
    drop(progress);
    let adapter = device.info().clone();
    let compare = |baseline: &Baseline| baseline.compare(&adapter.name, &rows, arguments.clock, arguments.tolerance);
    let comparisons = baseline.map(compare).transpose()?;
    Ok(Section {
        subgroup_size: kernel::subgroup_size(&device),
        settings,
        clock: arguments.clock,
        target: arguments.target.clone(),
        schedule: arguments.scheduled.schedule,
        copy: measuring.copy_bytes().ok_or_else(|| measuring.copy_refusal().unwrap_or_default().to_owned()),
        adapter,
        rows,
        comparisons,
    })
}
