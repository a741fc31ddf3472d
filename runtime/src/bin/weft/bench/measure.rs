//! From a program to its row.

use super::case::Case;
use super::clock::{Sample, timed};
use super::inputs;
use super::judge::largest_error;
use super::kernel::Kernels;
use super::reference::{COPY, Reference};
use super::rounds::{Budget, Contestant, measure};
use super::row::{Beside, Figures, Hand, Ours, Ratios, Reason, Row};
use super::stages::{Stages, Stopwatch};
use super::timestamps::Timestamps;
use crate::random::{self, Distribution};
use crate::report::Failure;
use std::time::Instant;
use weft_hlo::eval::{self, Config};
use weft_hlo::ir::{ArrayShape, Data, ElementType, Literal, Module};
use weft_partition::{Fusing, Grouping, Target, Work};
use weft_runtime::program::compile_fused;
use weft_runtime::{Argument, Device, DeviceBuffer, Error, Executable, Options, optimize};

/// How to measure.
#[derive(Copy, Clone, Debug)]
pub(super) struct Settings {
    pub(super) budget: Budget,
    pub(super) seed: u64,
    /// Whether errors are told.
    pub(super) is_checked: bool,
    /// Whether the default passes run first.
    pub(super) is_optimized: bool,
    /// Whether programs are measured beside what they are when nothing is fused.
    pub(super) beside_unfused: bool,
    /// Whether the device's own clock is read.
    pub(super) on_device: bool,
}

/// A device with what all programs are compared with.
pub(super) struct Bench {
    device: Device,
    /// What programs are compiled for.
    target: Target,
    references: Vec<Reference>,
    copy: Result<Copy, String>,
    settings: Settings,
    /// The device's own clock, where it is read.
    timestamps: Option<Timestamps>,
    stopwatch: Stopwatch,
}

/// The yardstick.
struct Copy {
    kernels: Kernels,
    /// Bytes that it reads and writes together.
    bytes: u64,
}

/// A program that can run.
struct Ready {
    executable: Executable,
    arguments: Vec<DeviceBuffer>,
    results: Vec<Literal>,
    /// Seconds by the cost model.
    predicted: Result<f64, String>,
    stages: Stages,
}

/// A reference and its result, or why it cannot run.
struct ByHand {
    reference: Reference,
    outcome: Result<(Kernels, Literal), String>,
}

/// What is measured of one program.
struct Contest {
    ready: Result<Ready, Reason>,
    by_hand: Vec<ByHand>,
    /// The program that it is measured beside, with its name.
    beside: Option<(String, Other)>,
}

/// What a program is measured beside.
enum Other {
    Program(Box<Ready>),
    Kernels(Kernels),
    /// A copy of these, sorted on the host.
    Sort(Vec<f32>),
}

impl Ready {
    fn contestant(&self) -> Contestant<'_> {
        let Ready { executable, arguments, .. } = self;
        let record = |encoder: &mut wgpu::CommandEncoder| {
            executable.record(encoder, arguments.iter().map(Argument::Borrowed).collect())
        };
        Contestant::new(|| run(executable, arguments).map(|_| ())).recorded(record)
    }
}

impl Other {
    fn contestant(&self) -> Contestant<'_> {
        match self {
            Other::Program(ready) => ready.contestant(),
            Other::Kernels(kernels) => kernels.contestant(),
            Other::Sort(values) => Contestant::new(|| {
                let mut values = values.clone();
                values.sort_by(f32::total_cmp);
                std::hint::black_box(values);
                Ok(())
            }),
        }
    }
}

impl Bench {
    /// Prepares the yardstick on `device`; programs are compiled for `target`.
    ///
    /// # Errors
    /// If what comes with the command is broken.
    pub(super) fn new(
        device: Device,
        target: Target,
        settings: Settings,
        stopwatch: &Stopwatch,
    ) -> Result<Bench, Failure> {
        let references = Reference::all().map_err(Failure::message)?;
        let copy = copy(&device, &references, settings.seed);
        let timestamps = settings.on_device.then(|| Timestamps::new(&device)).flatten();
        Ok(Bench { device, target, references, copy, settings, timestamps, stopwatch: stopwatch.clone() })
    }

    /// Why there is no yardstick.
    pub(super) fn copy_refusal(&self) -> Option<&str> {
        self.copy.as_ref().err().map(String::as_str)
    }

    /// Bytes that the yardstick reads and writes.
    pub(super) fn copy_bytes(&self) -> Option<u64> {
        self.copy.as_ref().ok().map(|copy| copy.bytes)
    }

    /// Measures a program. Whatever goes wrong becomes a part of the row.
    pub(super) fn row(&self, case: &Case) -> Row {
        let mut row = Row::new(&case.name);
        // Nothing is left of the program before: neither its pipelines nor its buffers.
        self.device.trim();
        let (module, sample) = timed(|| {
            let module = weft_hlo::text::parse(&case.source.text)?;
            weft_hlo::verify::verify(&module).map(|()| module)
        });
        let module = match module {
            Ok(module) => module,
            Err(findings) => {
                row.ours = Err(Reason::of_error(&case.source, &findings.into()));
                return row;
            }
        };
        let work = Work::of(&module);
        row.work = Some(work);
        let inputs = match inputs::literals(&module, self.settings.seed) {
            Ok(inputs) => inputs,
            Err(failure) => {
                row.ours = Err(Reason::of_failure(failure));
                return row;
            }
        };
        let stages = Stages { parse: sample.wall, ..Stages::default() };
        let with_loops = case.may_have_whole_loops();
        let ready = self.ready(&module, &inputs, (with_loops, Grouping::Keep), stages);
        let ready = ready.map_err(|error| Reason::of_error(&case.source, &error));
        let by_hand = self.by_hand(case, &module, &inputs, ready.as_ref().ok());
        let beside = match self.settings.beside_unfused {
            true => self.unfused(case, &module, &inputs),
            false => self.beside(case, &inputs),
        };
        let is_checked = self.settings.is_checked && (ready.is_ok() || by_hand.iter().any(|it| it.outcome.is_ok()));
        let expected = is_checked.then(|| {
            eval::evaluate_precisely(&module, &inputs, &Config::default())
                .map_err(|findings| Reason::of_error(&case.source, &findings.into()))
        });
        drop(inputs);
        if let Err(error) = self.fill(&mut row, work, Contest { ready, by_hand, beside }, expected) {
            let reason = Reason::of_error(&case.source, &error);
            row.ours = Err(reason);
        }
        row
    }

    /// The program with a launch for each instruction, if it can run.
    fn unfused(&self, case: &Case, module: &Module, inputs: &[Literal]) -> Option<(String, Other)> {
        let how = (case.may_have_whole_loops(), Grouping::Alone);
        let ready = self.ready(module, inputs, how, Stages::default()).ok()?;
        Some(("unfused".to_owned(), Other::Program(Box::new(ready))))
    }

    /// What a case is measured beside, compiled and run once, if there is something that can run.
    fn beside(&self, case: &Case, inputs: &[Literal]) -> Option<(String, Other)> {
        if case.is_beside_sort() {
            let Data::F32(values) = &inputs.first()?.data else { return None };
            return Some(("slice::sort_by(total_cmp)".to_owned(), Other::Sort(values.clone())));
        }
        if let Some(count) = case.dispatches() {
            let reference = Reference::dispatch();
            let kernels = Kernels::new(&self.device, &reference, &[]).ok()?.times(count);
            return Some((format!("{count} {}", reference.name), Other::Kernels(kernels)));
        }
        let other = case.beside()?;
        let module = weft_hlo::text::parse(&other.source.text).ok()?;
        let inputs = inputs::literals(&module, self.settings.seed).ok()?;
        let ready = self.ready(&module, &inputs, (true, Grouping::Keep), Stages::default()).ok()?;
        Some((other.name, Other::Program(Box::new(ready))))
    }

    /// Compiles the program and runs it once.
    fn ready(
        &self,
        module: &Module,
        inputs: &[Literal],
        (whole_loops, grouping): (bool, Grouping),
        mut stages: Stages,
    ) -> Result<Ready, Error> {
        // What the host computed would be the evaluator's speed.
        let options = Options { optimize: self.settings.is_optimized, host: false, whole_loops, ..Options::default() };
        let started = Instant::now();
        self.stopwatch.take();
        let (optimized, sample) = timed(|| optimize(module, &options));
        stages.passes = sample.wall;
        let optimized = optimized?.module;
        let target = &self.target;
        let fusing = Fusing { grouping, ..Fusing::default() };
        let (fused, sample) = timed(|| weft_partition::fuse_with(&optimized, target, fusing));
        stages.fuse = sample.wall;
        let fused = fused?;
        let predicted = fused.estimated_nanoseconds(target, whole_loops).map(|nanoseconds| nanoseconds / 1e9);
        let program = compile_fused(fused, target, &options)?;
        stages.add_kernels(&self.stopwatch.take());
        let (executable, sample) = timed(|| Executable::new(&self.device, program));
        stages.pipelines = sample.wall;
        let executable = executable?;
        let compiled = started.elapsed().as_secs_f64();
        let arguments = executable.upload(inputs)?;
        self.device.wait("uploading the inputs")?;
        let (results, sample) = timed(|| run(&executable, &arguments));
        stages.first_run = sample.wall;
        stages.ready = stages.parse + compiled + sample.wall;
        let results = results?.iter().map(DeviceBuffer::download).collect::<Result<_, _>>()?;
        Ok(Ready { executable, arguments, results, predicted, stages })
    }

    /// The reference kernels of the case after a first run, each with its result, or why it cannot run.
    fn by_hand(&self, case: &Case, module: &Module, inputs: &[Literal], ready: Option<&Ready>) -> Vec<ByHand> {
        let references = self.references.iter().filter(|reference| case.is_known && reference.is_of(&case.name));
        let mut uploaded: Option<Result<Vec<DeviceBuffer>, Error>> = None;
        references
            .map(|reference| {
                // The program's own arguments serve, where it has any.
                let arguments = match ready {
                    Some(ready) => Ok(&ready.arguments),
                    None => uploaded
                        .get_or_insert_with(|| {
                            inputs.iter().map(|input| DeviceBuffer::upload(&self.device, input)).collect()
                        })
                        .as_ref(),
                };
                let outcome = arguments.map_err(Error::to_string).and_then(|arguments| {
                    let kernels = Kernels::new(&self.device, reference, arguments)?;
                    let shape = module.entry_computation().result_shape().as_array();
                    let shape = shape.ok_or("the program has several results")?;
                    let result =
                        kernels.run().and_then(|()| kernels.result(shape)).map_err(|error| error.to_string())?;
                    Ok((kernels, result))
                });
                ByHand { reference: reference.clone(), outcome }
            })
            .collect()
    }

    /// Runs the rounds and writes down what they say.
    fn fill(
        &self,
        row: &mut Row,
        work: Work,
        Contest { ready, by_hand, beside }: Contest,
        expected: Option<Result<Vec<Literal>, Reason>>,
    ) -> Result<(), Error> {
        let mut contestants: Vec<Contestant<'_>> = Vec::new();
        // The numbers say whose samples are whose.
        let copy = self.copy.as_ref().ok().map(|copy| enter(&mut contestants, copy.kernels.contestant()));
        let ours = ready.as_ref().ok().map(|ready| enter(&mut contestants, ready.contestant()));
        let hands: Vec<Option<usize>> = (by_hand.iter())
            .map(|it| it.outcome.as_ref().ok().map(|(kernels, _)| enter(&mut contestants, kernels.contestant())))
            .collect();
        let other = (beside.as_ref()).map(|(_, other)| enter(&mut contestants, other.contestant()));
        if ours.is_none() && hands.iter().all(Option::is_none) {
            // There is nothing to compare the copy with.
            contestants.clear();
        }
        let samples = measure(&contestants, self.settings.budget, self.timestamps.as_ref())?;
        drop(contestants);

        let of = |number: Option<usize>| -> &[Sample] {
            number.and_then(|number| samples.get(number)).map_or(&[], Vec::as_slice)
        };
        row.rounds = samples.first().map_or(0, Vec::len);
        let yardstick = of(copy);
        let share = self.copy_bytes().zip(work.bytes()).map(|(whole, bytes)| bytes as f64 / whole as f64);
        let judged = |results: &[Literal]| match &expected {
            None => Ok(None),
            Some(Ok(expected)) => match largest_error(results, expected) {
                Some(error) => Ok(Some(error)),
                None => Err(Reason::plain("the results are not of the shape expected")),
            },
            Some(Err(reason)) => Err(reason.clone()),
        };
        let figures = |samples: &[Sample], results: &[Literal]| {
            let times_copy = share.filter(|&share| share > 0.0).map(|share| Ratios::of(samples, yardstick, share));
            Figures::of(samples, times_copy.unwrap_or_default(), judged(results))
        };
        row.copy = Figures::of(yardstick, Ratios::default(), Ok(None));
        row.beside = beside.map(|(name, _)| Beside { name, ours_over_it: Ratios::of(of(ours), of(other), 1.0) });
        row.ours = ready.map(|ready| {
            let program = ready.executable.program();
            Ours {
                figures: figures(of(ours), &ready.results),
                kernels: program.shaders().len(),
                launches: program.launches().count(),
                bytes_moved: program.bytes_moved(),
                predicted: ready.predicted,
                stages: ready.stages,
            }
        });
        row.hands = (by_hand.into_iter().zip(hands))
            .map(|(ByHand { reference, outcome }, number)| Hand {
                ours_over_it: Ratios::of(of(ours), of(number), 1.0),
                outcome: outcome.map(|(_, result)| figures(of(number), &[result])),
                name: reference.name,
                form: reference.form,
            })
            .collect();
        Ok(())
    }
}

/// Adds a contestant and returns its number.
fn enter<'a>(contestants: &mut Vec<Contestant<'a>>, contestant: Contestant<'a>) -> usize {
    contestants.push(contestant);
    contestants.len() - 1
}

/// Runs a program and waits for it; the results stay on the device.
fn run(executable: &Executable, arguments: &[DeviceBuffer]) -> Result<Vec<DeviceBuffer>, Error> {
    let results = executable.execute(arguments)?;
    executable.device().wait("running the program")?;
    Ok(results)
}

/// The copy on its own argument, once it was seen to be right.
fn copy(device: &Device, references: &[Reference], seed: u64) -> Result<Copy, String> {
    let reference = references.iter().find(|reference| reference.name == COPY).ok_or("there is none")?;
    let bytes = reference.buffers[reference.output].bytes;
    let shape = ArrayShape::new(ElementType::F32, [bytes as i64 / 4]);
    let input = random::literal(seed, 0, COPY, &shape, Distribution::default()).map_err(|_| "there is no memory")?;
    let argument = DeviceBuffer::upload(device, &input).map_err(|error| error.to_string())?;
    let kernels = Kernels::new(device, reference, &[argument])?;
    let result = kernels.run().and_then(|()| kernels.result(&shape)).map_err(|error| error.to_string())?;
    let is_right = match (&input.data, &result.data) {
        // The kernel multiplies by 1.5, so that no driver makes it a copy of its own.
        (Data::F32(given), Data::F32(found)) => given.iter().zip(found).all(|(given, found)| given * 1.5 == *found),
        _ => false,
    };
    if !is_right {
        return Err("its result is wrong".into());
    }
    // It reads and writes as much.
    Ok(Copy { kernels, bytes: 2 * bytes })
}
