//! Random modules over every type that the device holds, with chains of operations from type to type, on the default adapter against the
//! reference evaluator.
//!
//! What a result may be off by follows from how it was computed: [`evaluate_with_bounds`](weft_hlo::bounds::evaluate_with_bounds) tells.

use crate::bounded::{bounds, certainties, difference};
use crate::count::{cases, first_seed};
use crate::near::{is_double, types};
use crate::support::{compile, device};
use std::collections::BTreeMap;
use std::fmt::Write;
use weft_hlo::bounds::Bounded;
use weft_hlo::ir::{ElementType, InstrId, Instruction, Literal, Module, Op, Opcode, Shape};
use weft_hlo::passes::flatten_around;
use weft_hlo::random::{Numbers, Options, inputs, module};
use weft_hlo::text::print;
use weft_runtime::{Device, Executable};

/// All arrays of the entry of a module without calls, as its results.
fn with_all_arrays(flat: &Module) -> (Module, Vec<InstrId>) {
    let mut wide = flat.clone();
    let entry = &mut wide.computations[flat.entry];
    let arrays = entry.instructions.iter().filter(|(_, it)| it.shape.as_array().is_some());
    let (arrays, shapes): (Vec<InstrId>, Vec<Shape>) = arrays.map(|(id, it)| (id, it.shape.without_layout())).unzip();
    entry.root = entry.instructions.push(Instruction::new("all", Shape::Tuple(shapes), Op::Tuple, arrays.clone()));
    (wide, arrays)
}

/// Of each operation on elements of a type how many results were known exactly, within a bound, and not at all.
type Counts = BTreeMap<(&'static str, ElementType), [u64; 3]>;

/// Runs a module and compares all its results; the number of those compared.
fn check(device: &Device, module: &Module, inputs: &[Literal], counts: &mut Counts) -> Result<u32, String> {
    let target = device.target().clone().with(|target| target.forbid_contraction = true);
    let flat = flatten_around(module).map_err(|found| found.to_string())?;
    let (wide, arrays) = with_all_arrays(&flat);
    let all: BTreeMap<InstrId, Bounded> = arrays.into_iter().zip(bounds(&wide, inputs, &target)?).collect();
    let program = compile(module, &target).map_err(|error| format!("refused: {error}"))?;
    let actual = Executable::new(device, program).and_then(|program| program.run(inputs));
    let actual = actual.map_err(|error| format!("run: {error}"))?;
    let entry = flat.entry_computation();
    for (id, known) in &all {
        let instruction = &entry.instructions[*id];
        let types = instruction.operands.iter().filter_map(|operand| entry.instructions[*operand].shape.as_array());
        let own = instruction.shape.as_array();
        let Some(ty) = types.chain(own).next().map(|array| array.element_type) else { continue };
        let count = counts.entry((instruction.op.opcode().name(), ty)).or_default();
        count.iter_mut().zip(certainties(known)).for_each(|(all, more)| *all += more);
    }
    let root = &entry.instructions[entry.root];
    let results: Vec<InstrId> = if root.op == Op::Tuple { root.operands.clone() } else { vec![entry.root] };
    if results.len() != actual.len() {
        return Err(format!("{} results became {}", results.len(), actual.len()));
    }
    let mut compared = 0;
    for (number, (result, actual)) in results.iter().zip(&actual).enumerate() {
        if let Some((position, found)) = difference(&all[result], actual) {
            let instruction = &entry.instructions[*result];
            let from = instruction.operands.iter().filter_map(|operand| all.get(operand));
            let of: Vec<String> = from
                .filter(|known| known.error.len() == all[result].error.len())
                .filter_map(|known| Some(format!("{} ± {:e}", known.value.data.get(position)?, known.error[position])))
                .collect();
            return Err(format!("result {number}: {found}; {} of [{}]", instruction.op.name(), of.join(", ")));
        }
        let [exact, bounded, _] = certainties(&all[result]);
        compared += u32::from(exact + bounded > 0);
    }
    Ok(compared)
}

/// Every operation that kernels compute, on every type that the device has: those that HLO has for few types more often.
fn options(device: &Device) -> Options {
    let further = [
        Opcode::Complex,
        Opcode::Real,
        Opcode::Imag,
        Opcode::Gather,
        Opcode::DynamicSlice,
        Opcode::DynamicUpdateSlice,
        Opcode::Dot,
        Opcode::Convolution,
        Opcode::ReduceWindow,
        Opcode::ReducePrecision,
        Opcode::Map,
        Opcode::SelectAndScatter,
        Opcode::MultiplyHigh,
        Opcode::StochasticConvert,
        Opcode::RngBitGenerator,
        Opcode::OptimizationBarrier,
    ];
    let has_doubles = device.target().features.shader_f64;
    let mut options =
        Options { numbers: Numbers::Any, instructions: 12, elements: 60, nesting: 1, ..Options::computed() };
    options.types = types().filter(|ty| has_doubles || !is_double(*ty)).collect();
    // Fusions of a program's own are in other tests; calls vanish before anything is compiled.
    options.operations = weft_hlo::random::computed()
        .filter(|opcode| !matches!(opcode, Opcode::Fusion | Opcode::Call))
        .flat_map(|opcode| std::iter::repeat_n(opcode, if opcode == Opcode::Convert { 6 } else { 2 }))
        .chain(further)
        .collect();
    options
}

/// Modules are 100 in CI, 10,000 in the long run; `-- --nocapture` prints what they held.
#[test]
fn modules_of_all_types_agree_with_the_evaluator() {
    let device = device();
    let options = options(&device);
    let (first, modules) = (900_000 + first_seed(), cases(100));
    let (mut counts, mut report) = (Counts::new(), String::new());
    let (mut failures, mut refused, mut compared) = (0, 0, 0);
    for seed in first..first + modules {
        // No module has kernels of others, whose pipelines the device would keep for good.
        device.trim();
        let module = module(seed, &options);
        let inputs = inputs(&module, seed, &options);
        match check(&device, &module, &inputs, &mut counts) {
            Ok(results) => compared += results,
            // What is applied to elements may be more than arithmetic of scalars, which no kernel has yet.
            Err(found) if found.starts_with("refused: HLO401") || found.starts_with("refused: HLO411") => refused += 1,
            Err(found) => {
                failures += 1;
                println!("seed {seed}: {found}");
                if failures <= 3 {
                    writeln!(report, "seed {seed}: {found}\n{}", print(&module)).expect("strings can be written to");
                }
            }
        }
    }
    println!("{modules} modules from seed {first} on {}: {compared} results, {refused} refused", device.info().name);
    for ((operation, ty), [exact, near, open]) in &counts {
        println!("{operation} {ty}: {exact} exact, {near} within bounds, {open} not known");
    }
    assert!(failures == 0, "{failures} of {modules} modules differ on {}\n{report}", device.info().name);
    assert!(refused * 10 <= modules, "{refused} of {modules} modules are refused");
    assert!(u64::from(compared) >= modules, "{compared} results of {modules} modules are compared");
}
