//! Random modules on the default adapter against the reference evaluator.
//!
//! Integers, truth values and what is exact must agree in every bit. Other numbers must lie within the bounds that
//! [`evaluate_with_bounds`](weft_hlo::bounds::evaluate_with_bounds) propagates for what each function is allowed; most are known, because they
//! are tame: nothing discontinuous is applied to a number that is not known exactly.

use crate::bounded::{bounds, certainties, difference};
use crate::count::{cases, first_seed};
use crate::support::{compile, device};
use std::collections::BTreeMap;
use std::fmt::Write;
use weft_hlo::ir::{ElementType, Literal, Module, Opcode};
use weft_hlo::random::{Distribution, Numbers, Options, inputs, instance, module};
use weft_hlo::text::print;
use weft_partition::Target;
use weft_runtime::{Device, Error, Executable};

/// Compiles, runs and compares; how many elements were known exactly, within a bound, and not at all.
fn check(device: &Device, target: &Target, module: &Module, inputs: &[Literal]) -> Result<[u64; 3], String> {
    let expected = bounds(module, inputs, target)?;
    let actual = run(device, target, module, inputs).map_err(|error| error.to_string())?;
    if expected.len() != actual.len() {
        return Err(format!("{} results became {}", expected.len(), actual.len()));
    }
    let mut counts = [0; 3];
    for (number, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
        if let Some((_, found)) = difference(expected, actual) {
            return Err(format!("result {number}: {found}"));
        }
        counts.iter_mut().zip(certainties(expected)).for_each(|(all, more)| *all += more);
    }
    Ok(counts)
}

fn run(device: &Device, target: &Target, module: &Module, inputs: &[Literal]) -> Result<Vec<Literal>, Error> {
    let program = compile(module, target)?;
    Executable::new(device, program)?.run(inputs)
}

/// Runs `standard` seeds, or many more, and fails with up to three modules that differ; returns what the modules hold, which
/// `-- --nocapture` prints.
fn check_all(first: u64, standard: u64, options: &Options) -> String {
    let (first, modules) = (first + first_seed(), cases(standard));
    let device = device();
    let (mut failures, mut refused, mut report) = (0, 0, String::new());
    let (mut held, mut compared) = (Distribution::default(), [0u64; 3]);
    for seed in first..first + modules {
        let module = module(seed, options);
        held.add(&module);
        let inputs = inputs(&module, seed, options);
        // As many buffers as the device has, or as few as every adapter has.
        let floor = Target::default().max_storage_buffers;
        let buffers = if seed % 2 == 0 { device.target().max_storage_buffers } else { floor };
        let target = device.target().clone().with(|target| target.max_storage_buffers = buffers);
        // As few rounds of loops as make most of them handle several elements a round, where that is enough for the module.
        let short = target.clone().with(|target| target.max_loop_iterations = Some(40));
        let target = if seed % 3 == 0 && compile(&module, &short).is_ok() { short } else { target };
        let found = check(&device, &target, &module, &inputs);
        if let Ok(more) = found {
            compared.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        }
        if let Err(found) = found {
            // What is applied to elements may be more than arithmetic of scalars, which no kernel has yet.
            if options.operations.contains(&Opcode::Map) && is_refused(&found) {
                refused += 1;
                continue;
            }
            failures += 1;
            if failures <= 3 {
                let text = print(&module);
                writeln!(report, "seed {seed}: {found}\n{text}").expect("strings can be written to");
            }
        }
    }
    assert!(refused * 20 <= modules, "{refused} of {modules} modules are refused");
    assert!(failures == 0, "{failures} modules of {modules} differ on {}\n{report}", device.info().name);
    let [exact, bounded, unknown] = compared;
    assert!(unknown <= exact + bounded, "{unknown} elements of {} are not compared", exact + bounded + unknown);
    let elements = format!("{exact} elements exact, {bounded} within bounds, {unknown} not known");
    format!("{modules} modules from seed {first} on {}, {refused} refused: {elements}\n{held}", device.info().name)
}

fn tame() -> Options {
    Options { numbers: Numbers::Tame, elements: 150, ..Options::computed() }
}

#[test]
fn small_modules_agree_with_the_evaluator() {
    println!("{}", check_all(0, 400, &Options { instructions: 8, ..tame() }));
}

#[test]
fn modules_agree_with_the_evaluator() {
    println!("{}", check_all(100_000, 250, &tame()));
}

#[test]
fn large_modules_agree_with_the_evaluator() {
    println!("{}", check_all(200_000, 40, &Options { instructions: 90, ..tame() }));
}

/// NaN, infinities and numbers of every size, in chains too short for rounding to matter.
#[test]
fn special_numbers_agree_with_the_evaluator() {
    // Which bits a NaN has is not fixed.
    let options = Options::computed().without(Opcode::BitcastConvert);
    println!("{}", check_all(300_000, 300, &Options { instructions: 6, nesting: 1, elements: 60, ..options }));
}

/// Operations that kernels compute besides those of [`Options::computed`]: at places that values tell, sums of products, windows, random
/// bits.
const FURTHER: [Opcode; 11] = [
    Opcode::Gather,
    Opcode::DynamicSlice,
    Opcode::DynamicUpdateSlice,
    Opcode::Dot,
    Opcode::Convolution,
    Opcode::ReduceWindow,
    Opcode::ReducePrecision,
    Opcode::Map,
    Opcode::SelectAndScatter,
    Opcode::RngBitGenerator,
    Opcode::MultiplyHigh,
];

/// Whether a program was refused for what it applies to elements.
fn is_refused(found: &str) -> bool {
    found.starts_with("HLO401") || found.starts_with("HLO411")
}

/// Integers and truth values of any size, for which nothing is rounded.
fn integers() -> Options {
    let mut options = Options { instructions: 10, elements: 150, ..Options::computed() };
    // Of all widths, most of them those of registers.
    options.types = [ElementType::S32, ElementType::U32, ElementType::Pred].repeat(4);
    options.types.extend(ElementType::ALL.iter().filter(|ty| ty.is_integer()));
    options.operations.extend([Opcode::OptimizationBarrier; 4]);
    options.operations.extend(FURTHER.iter().flat_map(|opcode| std::iter::repeat_n(*opcode, 8)));
    options
}

/// Where the modules of [`integers`] begin, and how many there are unless more are asked for.
const INTEGERS: (u64, u64) = (500_000, 400);

#[test]
fn integers_agree_exactly() {
    println!("{}", check_all(INTEGERS.0, INTEGERS.1, &integers()));
}

/// What the modules of [`integers_agree_exactly`] hold; `-- --nocapture` prints it.
#[test]
fn the_modules_hold_every_operation_and_extent() {
    let (first, modules) = (INTEGERS.0 + first_seed(), cases(INTEGERS.1));
    let mut held = Distribution::default();
    (first..first + modules).for_each(|seed| held.add(&module(seed, &integers())));
    println!("{held}");
    let moved = [
        Opcode::Broadcast,
        Opcode::Reshape,
        Opcode::Bitcast,
        Opcode::Transpose,
        Opcode::Slice,
        Opcode::Pad,
        Opcode::Reverse,
        Opcode::Concatenate,
        Opcode::Iota,
        Opcode::Copy,
        Opcode::Reduce,
        Opcode::OptimizationBarrier,
    ];
    // What is of floats only is in the modules of single operations.
    let expected = moved.iter().chain(&FURTHER).filter(|opcode| **opcode != Opcode::ReducePrecision);
    for opcode in expected {
        let count = held.operations.get(opcode).copied().unwrap_or(0);
        assert!(count as u64 * 20 >= modules, "{count} of {opcode} in {modules} modules");
    }
    for extent in [0, 1, 2, 3, 5, 7, 11, 13] {
        assert!(held.extents.contains_key(&extent), "no extent is {extent}");
    }
}

/// One operation each of small numbers, whose sums are long enough to tell orders of summation apart and too short for these to
/// matter. `-- --nocapture` prints how many there are of each, and why some are refused.
#[test]
fn single_operations_agree_with_the_evaluator() {
    let device = device();
    let options = Options { numbers: Numbers::Small, elements: 120, ..Options::computed() };
    let (mut report, mut made, mut reasons) = (String::new(), 0, BTreeMap::<String, usize>::new());
    for opcode in FURTHER {
        let before = made;
        for seed in first_seed()..first_seed() + cases(25) {
            let Some(module) = instance(seed, opcode, &options) else { continue };
            let inputs = inputs(&module, seed, &options);
            made += 1;
            match check(&device, device.target(), &module, &inputs) {
                Err(found) if is_refused(&found) => *reasons.entry(found).or_default() += 1,
                Err(found) => writeln!(report, "{opcode}, seed {seed}: {found}\n{}", print(&module))
                    .expect("strings can be written to"),
                Ok(_) => {}
            }
        }
        println!("{:7} {opcode}", made - before);
    }
    reasons.iter().for_each(|(reason, count)| println!("{count:7} refused: {reason}"));
    let refused: usize = reasons.values().sum();
    assert!(report.is_empty(), "{report}");
    assert!(made > 100 && refused * 20 <= made, "{refused} of {made} modules are refused");
}

/// A fusion that the program brings along may return a value twice, or a parameter as it is.
#[test]
fn outputs_of_a_fusion_may_be_equal() {
    let text = "HloModule twice
        f {
            p = f32[5,2] parameter(0)
            e = f32[5,2] negate(p)
            s = f32[4,1] slice(p), slice={[0:4], [0:1]}
            ROOT t = (f32[5,2], f32[4,1], f32[5,2], f32[4,1], f32[5,2]) tuple(e, s, e, s, p)
        }
        ENTRY main {
            p = f32[5,2] parameter(0)
            o = (f32[5,2], f32[4,1], f32[5,2], f32[4,1], f32[5,2]) fusion(p), kind=kLoop, calls=f
            o0 = f32[5,2] get-tuple-element(o), index=0
            o1 = f32[4,1] get-tuple-element(o), index=1
            o2 = f32[5,2] get-tuple-element(o), index=2
            o3 = f32[4,1] get-tuple-element(o), index=3
            o4 = f32[5,2] get-tuple-element(o), index=4
            ROOT t = (f32[5,2], f32[4,1], f32[5,2], f32[4,1], f32[5,2]) tuple(o0, o1, o2, o3, o4)
        }";
    let module = weft_hlo::text::parse(text).unwrap_or_else(|found| panic!("{found}"));
    let inputs = [Literal::array([5, 2], (1..=10u8).map(f32::from).collect::<Vec<f32>>())];
    let device = device();
    assert_eq!(check(&device, device.target(), &module, &inputs), Ok([10 + 4 + 10 + 4 + 10, 0, 0]));
}
