//! Random modules over every type that the device holds, with chains of operations from type to type, on the default adapter against the
//! reference evaluator.
//!
//! What a result may be off by follows from how it was computed: it is exact where all that leads to it is, near where a function that is
//! only accurate comes last and its values are moved at most, and open behind that.

use crate::count::{cases, first_seed};
use crate::near::{is_double, is_near, numbers, types};
use crate::support::{compile, device};
use std::collections::BTreeMap;
use std::fmt::Write;
use weft_hlo::eval::evaluate;
use weft_hlo::ir::{
    ArenaId, BinaryOp, Computation, ElementType, Instruction, Literal, Module, Op, Opcode, Scalar, Shape, UnaryOp,
};
use weft_hlo::passes::flatten_around;
use weft_hlo::random::{Numbers, Options, inputs, module};
use weft_hlo::text::print;
use weft_partition::Target;
use weft_runtime::{Device, Executable};

/// How an array that a device computes may differ from the evaluator's; the greater is worse.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// In no bit, but for those of NaNs.
    Exact,
    /// By some units in the last place, and zeros for subnormal numbers.
    Near,
    /// Nothing is known.
    Open,
}

/// Units in the last place that what is near may be off by, of numbers and of complex ones.
const UNITS: [f64; 2] = [4.0, 16.0];

/// An array of the evaluator's and what is known of the device's.
#[derive(Clone)]
struct Known {
    certainty: Certainty,
    /// `None` of what is no array.
    value: Option<Literal>,
}

impl Known {
    fn has(&self, property: impl Fn(Scalar) -> bool) -> bool {
        let Some(Literal { data, .. }) = &self.value else { return false };
        (0..data.len().unwrap_or(0)).any(|position| data.get(position).is_some_and(&property))
    }
}

/// Whether a device may take a part of an element for zero.
fn is_flushed(scalar: Scalar) -> bool {
    let is_subnormal = |part: f64| part != 0.0 && part.abs() < f64::from(f32::MIN_POSITIVE);
    !is_double(scalar.element_type()) && numbers(scalar).is_some_and(|parts| parts.into_iter().any(is_subnormal))
}

/// Whether a part of a complex number is subnormal.
fn is_subnormal_pair(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::C128(number) if number.re.is_subnormal() || number.im.is_subnormal())
}

fn is_nan(scalar: Scalar) -> bool {
    numbers(scalar).is_some_and(|parts| parts.into_iter().any(f64::is_nan))
}

/// Whether every device computes an operation on elements of a type as the evaluator does.
fn is_exact(op: &Op, ty: ElementType, target: &Target) -> bool {
    if ty.is_integer() || ty == ElementType::Pred {
        return true;
    }
    let is_real = !ty.is_complex();
    match op {
        Op::Unary(op) => match op {
            UnaryOp::Negate | UnaryOp::IsFinite => true,
            UnaryOp::Abs
            | UnaryOp::Ceil
            | UnaryOp::Floor
            | UnaryOp::RoundNearestAfz
            | UnaryOp::RoundNearestEven
            | UnaryOp::Sign => is_real,
            UnaryOp::Sqrt => is_real && (ty != ElementType::F32 || target.arithmetic.exact_sqrt),
            _ => false,
        },
        Op::Binary(op) => match op {
            BinaryOp::Add | BinaryOp::Subtract => true,
            BinaryOp::Multiply | BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::Remainder => is_real,
            BinaryOp::Divide => is_real && (ty != ElementType::F32 || target.arithmetic.exact_division),
            _ => false,
        },
        _ => true,
    }
}

/// Whether a computation that is applied to elements only chooses among floats.
fn chooses(module: &Module, computation: &Computation) -> bool {
    let is_choice = |instruction: &Instruction| match &instruction.op {
        Op::Unary(_) | Op::Binary(_) | Op::Convert | Op::Map { .. } => {
            let is_extreme = matches!(instruction.op, Op::Binary(BinaryOp::Maximum | BinaryOp::Minimum));
            let is_integer = |shape: &Shape| {
                shape
                    .leaves()
                    .into_iter()
                    .filter_map(Shape::as_array)
                    .all(|array| array.element_type.is_integer() || array.element_type == ElementType::Pred)
            };
            is_extreme || is_integer(&instruction.shape)
        }
        Op::Call { to_apply } => chooses(module, &module.computations[*to_apply]),
        _ => true,
    };
    computation.instructions.values().all(is_choice)
}

/// What is known of an instruction's value.
fn certainty(
    module: &Module,
    instruction: &Instruction,
    operands: &[&Known],
    value: &Known,
    target: &Target,
) -> Certainty {
    let worst = |operands: &[&Known]| operands.iter().map(|known| known.certainty).max().unwrap_or(Certainty::Exact);
    let all = worst(operands);
    let flushes = value.has(is_flushed) || operands.iter().any(|known| known.has(is_flushed));
    let if_exact = |found: Certainty, indices: &[&Known]| {
        if worst(indices) == Certainty::Exact { found } else { Certainty::Open }
    };
    let moved = |operands: &[&Known]| {
        if value.has(is_flushed) { worst(operands).max(Certainty::Near) } else { worst(operands) }
    };
    let types = operands.iter().filter_map(|known| known.value.as_ref()?.data.element_type());
    let ty = types.clone().next().unwrap_or(ElementType::Pred);
    match &instruction.op {
        Op::Parameter { .. } | Op::Constant(_) | Op::Iota { .. } => moved(&[]),
        Op::Broadcast { .. }
        | Op::Reshape
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::Copy
        | Op::Concatenate { .. }
        | Op::Pad { .. }
        | Op::OptimizationBarrier
        | Op::Tuple
        | Op::GetTupleElement { .. } => moved(operands),
        Op::Bitcast if value.value.as_ref().and_then(|value| value.data.element_type()) == Some(ty) => moved(operands),
        Op::Bitcast | Op::BitcastConvert => match operands[0].has(is_nan) || flushes {
            true => Certainty::Open,
            false => if_exact(Certainty::Exact, operands),
        },
        Op::DynamicSlice { .. } | Op::Gather { .. } => if_exact(moved(&operands[..1]), &operands[1..]),
        Op::DynamicUpdateSlice => if_exact(moved(&operands[..2]), &operands[2..]),
        Op::Select => if_exact(moved(&operands[1..]), &operands[..1]),
        Op::Unary(UnaryOp::Negate) | Op::Real | Op::Imag | Op::Complex => moved(operands),
        Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. } | Op::Map { to_apply, .. } => {
            let is_plain = chooses(module, &module.computations[*to_apply]) && !flushes;
            if is_plain { if_exact(Certainty::Exact, operands) } else { Certainty::Open }
        }
        Op::SelectAndScatter { scatter, .. } => {
            let is_plain = chooses(module, &module.computations[*scatter]) && !flushes;
            if is_plain { if_exact(Certainty::Exact, operands) } else { Certainty::Open }
        }
        Op::Dot { .. } | Op::Convolution { .. } => {
            let is_integer = types.clone().all(|ty| ty.is_integer() || ty == ElementType::Pred);
            if is_integer { if_exact(Certainty::Exact, operands) } else { Certainty::Open }
        }
        Op::RngBitGenerator { .. } => if_exact(Certainty::Exact, operands),
        op if all == Certainty::Exact && op.opcode().is_elementwise() => match (flushes, is_exact(op, ty, target)) {
            (true, _) => Certainty::Open,
            (_, true) => Certainty::Exact,
            // Next to its cuts, of which there are many, an angle is half a turn to either side.
            _ if *op == Op::Binary(BinaryOp::Atan2) && ty.is_complex() => Certainty::Open,
            // Squares of parts that are that small vanish.
            _ if ty == ElementType::C128 && (value.has(is_subnormal_pair) || operands[0].has(is_subnormal_pair)) => {
                Certainty::Open
            }
            _ => Certainty::Near,
        },
        _ => Certainty::Open,
    }
}

/// The module without calls, and what is known of each value of its entry.
fn known(module: &Module, inputs: &[Literal], target: &Target) -> Result<(Module, Vec<Known>), String> {
    let flat = flatten_around(module).map_err(|found| found.to_string())?;
    // All arrays of the entry as its results.
    let mut wide = flat.clone();
    let entry = &mut wide.computations[flat.entry];
    let arrays: Vec<_> = entry.instructions.iter().filter(|(_, it)| it.shape.as_array().is_some()).collect();
    let shapes = arrays.iter().map(|(_, instruction)| instruction.shape.without_layout()).collect();
    let arrays: Vec<_> = arrays.into_iter().map(|(id, _)| id).collect();
    entry.root = entry.instructions.push(Instruction::new("all", Shape::Tuple(shapes), Op::Tuple, arrays.clone()));
    let mut values: BTreeMap<_, Literal> = BTreeMap::new();
    let results = evaluate(&wide, inputs).map_err(|found| format!("evaluator: {found}"))?;
    values.extend(arrays.into_iter().zip(results));
    let mut all: Vec<Known> = Vec::new();
    for (id, instruction) in flat.entry_computation().instructions.iter() {
        let mut own = Known { certainty: Certainty::Open, value: values.remove(&id) };
        let operands: Vec<&Known> = instruction.operands.iter().map(|operand| &all[operand.index()]).collect();
        own.certainty = certainty(&flat, instruction, &operands, &own, target);
        all.push(own);
    }
    Ok((flat, all))
}

/// Where an array of the device's differs from what is known of it.
fn difference(known: &Known, actual: &Literal) -> Option<String> {
    let expected = known.value.as_ref()?;
    let count = expected.data.len().unwrap_or(0);
    (0..count).find_map(|position| {
        let (a, b) = (expected.data.get(position)?, actual.data.get(position)?);
        let is_right = match known.certainty {
            Certainty::Exact => a.bits() == b.bits() || is_nan(a) && is_near(a, b, 0.0),
            Certainty::Near => is_near(a, b, UNITS[usize::from(a.element_type().is_complex())]),
            Certainty::Open => true,
        };
        (!is_right).then(|| format!("{:?} element {position} of {count} is {a} and became {b}", known.certainty))
    })
}

/// How often an operation on elements of a type was exact, near and open.
type Counts = BTreeMap<(&'static str, ElementType), [u32; 3]>;

/// Runs a module and compares all its results; the number of those compared.
fn check(device: &Device, module: &Module, inputs: &[Literal], counts: &mut Counts) -> Result<u32, String> {
    let target = device.target().clone().with(|target| target.forbid_contraction = true);
    let (flat, all) = known(module, inputs, &target)?;
    let program = compile(module, &target).map_err(|error| format!("refused: {error}"))?;
    let actual = Executable::new(device, program).and_then(|program| program.run(inputs));
    let actual = actual.map_err(|error| format!("run: {error}"))?;
    let entry = flat.entry_computation();
    for (instruction, known) in entry.instructions.values().zip(&all) {
        let types = instruction.operands.iter().filter_map(|operand| entry.instructions[*operand].shape.as_array());
        let own = instruction.shape.as_array();
        let Some(ty) = types.chain(own).next().map(|array| array.element_type) else { continue };
        counts.entry((instruction.op.opcode().name(), ty)).or_default()[known.certainty as usize] += 1;
    }
    let root = &entry.instructions[entry.root];
    let results: Vec<&Known> = match root.op {
        Op::Tuple => root.operands.iter().map(|operand| &all[operand.index()]).collect(),
        _ => vec![&all[entry.root.index()]],
    };
    if results.len() != actual.len() {
        return Err(format!("{} results became {}", results.len(), actual.len()));
    }
    for (number, (known, actual)) in results.iter().zip(&actual).enumerate() {
        if let Some(found) = difference(known, actual) {
            return Err(format!("result {number}: {found}"));
        }
    }
    Ok(results.iter().map(|known| u32::from(known.certainty != Certainty::Open)).sum())
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
        println!("{operation} {ty}: {exact} exact, {near} near, {open} open");
    }
    assert!(failures == 0, "{failures} of {modules} modules differ on {}\n{report}", device.info().name);
    assert!(refused * 10 <= modules, "{refused} of {modules} modules are refused");
    assert!(u64::from(compared) >= modules, "{compared} results of {modules} modules are compared");
}
