//! Random modules with loops and branches, donated and not, in four threads at once.

use super::data;
use crate::count::{cases, first_seed};
use crate::program_text::read_again;
use crate::support::device;
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{ElementType, Literal, Module, Opcode};
use weft_hlo::random::{Distribution, Options, inputs, module};
use weft_hlo::text::print;
use weft_runtime::program::{Donated, Step};
use weft_runtime::{Device, DeviceBuffer, Executable, Program, compile_with};

/// Whole numbers and truth values, so that results agree in every bit.
fn whole(operations: impl IntoIterator<Item = Opcode>) -> Options {
    let mut options = Options { instructions: 12, elements: 40, nesting: 3, ..Options::computed() };
    options.types = vec![ElementType::S32, ElementType::U32, ElementType::Pred, ElementType::S8, ElementType::U64];
    options.operations.extend(operations);
    options
}

/// What the programs of random modules hold.
#[derive(Debug, Default)]
struct Held {
    programs: usize,
    /// Loops that are one kernel, and those that are steps where all are; branches where all ask.
    whole_loops: usize,
    loops: usize,
    conditionals: usize,
    host_steps: usize,
    without_host: usize,
}

impl Held {
    fn add(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::While(step) => {
                    self.loops += 1;
                    self.add(&step.condition);
                    self.add(&step.body);
                }
                Step::Conditional(step) => {
                    self.conditionals += 1;
                    step.branches.iter().for_each(|branch| self.add(branch));
                }
                Step::Host(_) => self.host_steps += 1,
                _ => {}
            }
        }
    }
}

fn difference(
    device: &Device,
    module: &Module,
    inputs: &[Literal],
    donated: Donated,
    held: &mut Held,
) -> Result<(), String> {
    let expected = evaluate(module, inputs).map_err(|findings| findings.to_string())?;
    let mut seen: Vec<String> = Vec::new();
    for (whole_loops, all_branches) in [(false, false), (true, true), (false, true), (true, false)] {
        let options =
            weft_runtime::Options { donated: donated.clone(), whole_loops, all_branches, ..Default::default() };
        let mut program = compile_with(module, device.target(), &options).map_err(|error| error.to_string())?;
        // Where there is nothing to decide, it is the same again.
        let steps = program.to_string();
        if seen.contains(&steps) {
            continue;
        }
        seen.push(steps);
        held.whole_loops += program.loops().iter().filter(|decision| decision.is_kernel).count();
        held.programs += 1;
        if held.programs.is_multiple_of(4) {
            program = read_again(&program);
        }
        if !whole_loops && !all_branches {
            held.without_host += usize::from(program.host_steps().next().is_none());
            held.add(program.steps());
        }
        runs(device, &program, inputs, &expected)?;
    }
    Ok(())
}

/// Runs a program over and over.
fn runs(device: &Device, program: &Program, inputs: &[Literal], expected: &[Literal]) -> Result<(), String> {
    let executable = Executable::new(device, program.clone()).map_err(|error| error.to_string())?;
    let run = || {
        let actual = executable.run(inputs).map_err(|error| error.to_string())?;
        let agrees = data(&actual) == data(expected);
        if agrees { Ok(()) } else { Err(format!("{expected:?}\nbecame\n{actual:?}\n{program}")) }
    };
    run()?;
    keeps_what_is_borrowed(&executable, inputs, expected)?;
    // Executions in flight at once have memory of their own.
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into())))
    })
}

/// A run on what its caller keeps leaves that as it is, whatever the program takes donations of.
fn keeps_what_is_borrowed(executable: &Executable, inputs: &[Literal], expected: &[Literal]) -> Result<(), String> {
    let told = |error: weft_runtime::Error| error.to_string();
    let upload = |literal| DeviceBuffer::upload(executable.device(), literal).map_err(told);
    let kept = inputs.iter().map(upload).collect::<Result<Vec<_>, String>>()?;
    let results = executable.execute(&kept).map_err(told)?;
    let down = |buffers: &[DeviceBuffer]| {
        buffers.iter().map(|buffer| buffer.download().map_err(told)).collect::<Result<Vec<Literal>, String>>()
    };
    let (results, kept) = (down(&results)?, down(&kept)?);
    if data(&results) != data(expected) {
        return Err(format!("{expected:?}\nbecame\n{results:?}\n{}", executable.program()));
    }
    let is_kept = data(&kept) == data(inputs);
    if is_kept { Ok(()) } else { Err(format!("{inputs:?}\nwere overwritten by\n{kept:?}\n{}", executable.program())) }
}

/// Runs `standard` seeds, or many more; what their modules and programs hold, which `-- --nocapture` prints.
fn agree(first: u64, standard: u64, options: &Options) -> String {
    let (first, modules) = (first + first_seed(), cases(standard));
    let device = device();
    let (mut failures, mut report, mut steps) = (0, String::new(), Held::default());
    let mut held = Distribution::default();
    for seed in first..first + modules {
        let module = module(seed, options);
        held.add(&module);
        let inputs = inputs(&module, seed, options);
        let donated = if seed % 2 == 0 { Donated::AsGiven } else { Donated::All };
        if let Err(found) = difference(&device, &module, &inputs, donated, &mut steps) {
            failures += 1;
            if failures <= 3 {
                writeln!(report, "seed {seed}: {found}\n{}", print(&module)).expect("strings can be written to");
            }
        }
    }
    assert!(failures == 0, "{failures} modules of {modules} differ on {}\n{report}", device.info().name);
    format!("{modules} modules from seed {first}: {steps:?}\n{held}")
}

#[test]
fn loops_and_branches_agree_exactly() {
    let control = [Opcode::While, Opcode::Conditional].into_iter().flat_map(|opcode| std::iter::repeat_n(opcode, 40));
    println!("{}", agree(700_000, 200, &whole(control.chain([Opcode::DynamicUpdateSlice; 20]))));
}

#[test]
fn modules_of_all_operations_agree_exactly() {
    println!("{}", agree(800_000, 100, &whole(weft_hlo::random::operations())));
}
