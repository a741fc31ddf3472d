//! What can be compiled into kernels at all, and how what cannot is set apart.

use crate::form::Form;
use crate::live::live;
use crate::plan::FusionPlan;
use crate::scattered::Way;
use crate::target::{Features, Target};
use std::collections::BTreeSet;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{
    ArenaId, ArrayShape, BinaryOp, Computation, ComputationId, Data, ElementType, InstrId, Instruction, Layout, Module,
    Op, Shape, UnaryOp,
};
use weft_hlo::passes::RegionConstants;

/// A code, and a sentence.
pub(crate) type Reason = (&'static str, String);

/// How far kernels can compute an instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Support {
    /// As a part of any kernel that can be compiled.
    Compiled,
    /// Only its types, or those of what it reads, have no form in kernels, or none that the target computes with: it is divided as if they
    /// had, among its like.
    Typed(Reason),
    /// There is no code for it yet, but one kernel would compute it.
    Alone(Reason),
    /// It stays in the program as it is: because it connects kernels, or for a reason.
    Stays(Option<Reason>),
}

impl Support {
    /// Why it cannot be compiled, if it cannot.
    pub(crate) fn reason(&self) -> Option<&Reason> {
        match self {
            Support::Compiled | Support::Stays(None) => None,
            Support::Typed(reason) | Support::Alone(reason) | Support::Stays(Some(reason)) => Some(reason),
        }
    }
}

/// How far kernels of a target can compute each instruction of a flattened computation.
pub(crate) fn supports(module: &Module, computation: &Computation, target: &Target) -> Vec<Support> {
    computation.instructions.values().map(|instruction| support(module, computation, instruction, target)).collect()
}

fn support(module: &Module, computation: &Computation, instruction: &Instruction, target: &Target) -> Support {
    let finding = finding(computation, instruction, target);
    if let Op::Parameter { .. } | Op::GetTupleElement { .. } | Op::Tuple | Op::Fusion { .. } = instruction.op {
        return Support::Stays(None);
    }
    if is_control_flow(&instruction.op) || is_drawn(instruction) {
        return Support::Stays(None);
    }
    if let Op::Constant(_) = instruction.op {
        return Support::Stays(finding.filter(|(code, _)| *code == ELIDED));
    }
    let operands = || instruction.operands.iter().map(|operand| &computation.instructions[*operand].shape);
    let is_kernel = is_kernel_to_be(&instruction.op)
        && operands().all(|operand| operand.as_array().is_some())
        && instruction.shape.as_tuple().map_or(instruction.shape.as_array().is_some(), |elements| {
            elements.iter().all(|element| element.as_array().is_some())
        });
    let is_static = instruction.shape.is_static() && operands().all(Shape::is_static);
    let arrays = operands().chain([&instruction.shape]).flat_map(Shape::leaves);
    match finding {
        _ if !is_kernel => Support::Stays(finding.or_else(|| Some(no_kernel(&instruction.op)))),
        Some(reason) if reason.0 != TYPE || !is_static => Support::Alone(reason),
        // What it reads may be of another type than what it yields.
        found => match found.or_else(|| arrays.filter_map(Shape::as_array).find_map(type_finding)) {
            Some(reason) if is_static => Support::Typed(reason),
            Some(reason) => Support::Alone(reason),
            None => {
                let found = scatter_finding(module, computation, instruction, target);
                let found = found.or_else(|| region_finding(module, &instruction.op, target));
                found.map_or(Support::Compiled, Support::Alone)
            }
        },
    }
}

/// What cannot be compiled of the computations that an operation applies to elements, and of those that these apply: these are of
/// scalars.
fn region_finding(module: &Module, op: &Op, target: &Target) -> Option<Reason> {
    applied_findings(module, op.called_computations(), target, &is_applied).into_iter().next()
}

/// Whether kernels have no code for what a computation that is applied to elements does, even where its constants are written out. Types that a target does not compute with are another matter.
pub(crate) fn is_beyond_kernels(module: &Module, region: ComputationId, target: &Target) -> bool {
    let is_applied = |op: &Op| match op {
        Op::Constant(literal) => RegionConstants::has_few_runs(literal) || is_applied(op),
        op => is_applied(op),
    };
    let found = applied_findings(module, vec![region], target, &is_applied);
    !found.is_empty() && found.iter().all(|(code, _)| *code == OPERATION)
}

fn applied_findings(
    module: &Module,
    mut pending: Vec<ComputationId>,
    target: &Target,
    is_applied: &dyn Fn(&Op) -> bool,
) -> Vec<Reason> {
    let mut reached: BTreeSet<ComputationId> = BTreeSet::new();
    let mut findings = Vec::new();
    while let Some(id) = pending.pop() {
        if !reached.insert(id) {
            continue;
        }
        let region = &module.computations[id];
        let (live, known) = (live(region), findings.len());
        for (_, instruction) in region.instructions.iter().filter(|(id, _)| live[id.index()]) {
            let own = finding(region, instruction, target);
            findings.extend(own.or_else(|| (!is_applied(&instruction.op)).then(|| within_region(&instruction.op))));
            pending.extend(instruction.op.called_computations());
        }
        if findings.len() == known {
            findings.extend(loop_within(region, &live).map(|found| (found.code, found.message)));
        }
    }
    findings
}

/// What of a region takes a loop of its own, where its parts are known: what is of scalars, element by element, is one function.
fn loop_within(region: &Computation, live: &[bool]) -> Option<Diagnostic> {
    let is_simple = |instruction: &Instruction| {
        instruction.shape.as_array().is_some_and(|array| array.extents.is_empty())
            && instruction.op.called_computations().is_empty()
    };
    let mut needed = region.instructions.iter().filter(|(id, _)| live[id.index()]);
    if needed.all(|(_, instruction)| is_simple(instruction)) {
        return None;
    }
    FusionPlan::of_applied(region).err()?.0.into_iter().next()
}

/// Whether kernels compute the operation in a region, where it is one of scalars.
fn is_applied(op: &Op) -> bool {
    // Elements of a constant that differ have no buffer there.
    if let Op::Constant(literal) = op {
        return literal.splat().is_some() || literal.data == Data::Elided;
    }
    op.is_computed() || matches!(op, Op::ReducePrecision { .. } | Op::Map { .. } | Op::Complex | Op::Real | Op::Imag)
}

fn within_region(op: &Op) -> Reason {
    let message = format!("'{}' cannot be compiled yet in a computation that is applied to elements", op.name());
    (OPERATION, message)
}

/// What cannot be compiled of a computation and of those that its instructions apply.
pub(crate) fn findings_within(module: &Module, id: ComputationId, target: &Target) -> impl Iterator<Item = Reason> {
    let computation = &module.computations[id];
    let own = computation.instructions.values().filter_map(move |instruction| {
        finding(computation, instruction, target)
            .or_else(|| scatter_finding(module, computation, instruction, target))
            .or_else(|| region_finding(module, &instruction.op, target))
    });
    own.collect::<Vec<_>>().into_iter()
}

/// Why no kernel computes a scatter, if none does.
fn scatter_finding(
    module: &Module,
    computation: &Computation,
    instruction: &Instruction,
    target: &Target,
) -> Option<Reason> {
    if !matches!(instruction.op, Op::Scatter { .. }) {
        return None;
    }
    let way = match Way::of(module, computation, instruction) {
        Ok(way) => way,
        Err(reason) => return Some(reason),
    };
    // Places that values tell are in no window of a part of the elements.
    let most = target.max_storage_binding_bytes.min(target.max_buffer_bytes);
    let arrays = instruction.shape.leaves().into_iter().filter_map(Shape::as_array);
    let large = arrays.into_iter().find(|array| Form::tensor_bytes(array).is_none_or(|bytes| bytes > most));
    let message = |array: &ArrayShape| {
        format!("{array}, of which elements are scattered, exceeds the {most} bytes that the target lets a kernel bind")
    };
    large.filter(|_| way.is_in_place()).map(|array| (OPERATION, message(array)))
}

/// Whether an instruction is a random state that whoever runs the program has ready: `u64[2]`, or `u64[]`.
pub fn is_drawn(instruction: &Instruction) -> bool {
    let is_state = |array: &ArrayShape| array.element_type == ElementType::U64 && matches!(array.extents[..], [] | [2]);
    matches!(instruction.op, Op::RngGetAndUpdateState { .. }) && instruction.shape.as_array().is_some_and(is_state)
}

/// Whether one device computes the operation on arrays, so that some kernel will.
fn is_kernel_to_be(op: &Op) -> bool {
    op.is_computed()
        || matches!(
            op,
            Op::Map { .. }
                | Op::Dot { .. }
                | Op::ScaledDot { .. }
                | Op::RaggedDot { .. }
                | Op::Convolution { .. }
                | Op::Gather { .. }
                | Op::Scatter { .. }
                | Op::DynamicSlice { .. }
                | Op::DynamicUpdateSlice
                | Op::DynamicReshape
                | Op::SetDimensionSize { .. }
                | Op::GetDimensionSize { .. }
                | Op::ReduceWindow { .. }
                | Op::SelectAndScatter { .. }
                | Op::Scan { .. }
                | Op::Sort { .. }
                | Op::TopK { .. }
                | Op::Fft { .. }
                | Op::Cholesky { .. }
                | Op::TriangularSolve { .. }
                | Op::BatchNormTraining { .. }
                | Op::BatchNormInference { .. }
                | Op::BatchNormGrad { .. }
                | Op::Rng { .. }
                | Op::RngBitGenerator { .. }
                | Op::ReducePrecision { .. }
                | Op::StochasticConvert
                | Op::Complex
                | Op::Real
                | Op::Imag
                | Op::MultiplyHigh
        )
}

/// Whether kernels compute the operation today.
fn is_compiled(op: &Op) -> bool {
    match op {
        Op::Convolution { sparsity_config, .. } => sparsity_config.is_none(),
        Op::Gather { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice
        | Op::Scatter { .. }
        | Op::Dot { .. }
        | Op::ReduceWindow { .. }
        | Op::ReducePrecision { .. }
        | Op::OptimizationBarrier
        | Op::Complex
        | Op::Real
        | Op::Imag
        | Op::Map { .. } => true,
        op => op.is_computed(),
    }
}

/// Whether the operation decides which programs run, and how often: a step of the program that it stands in, around kernels.
pub(crate) fn is_control_flow(op: &Op) -> bool {
    matches!(op, Op::While { .. } | Op::Conditional { .. })
}

/// The computations that an operation runs with whole values of its own: programs like the entry.
pub(crate) fn programs_of(op: &Op) -> Vec<ComputationId> {
    match op {
        Op::While { .. } | Op::Conditional { .. } | Op::AsyncStart { .. } | Op::CustomCall { .. } => {
            op.called_computations()
        }
        Op::AsyncShorthand { operation: Some(operation), .. } => programs_of(operation),
        _ => Vec::new(),
    }
}

/// Which computations are programs: the entry, and those that programs run.
pub(crate) fn programs(module: &Module) -> Vec<bool> {
    let mut programs = vec![false; module.computations.len()];
    programs[module.entry.index()] = true;
    for (id, computation) in module.computations.iter().rev() {
        if programs[id.index()] {
            let run = computation.instructions.values().flat_map(|instruction| programs_of(&instruction.op));
            run.for_each(|callee| programs[callee.index()] = true);
        }
    }
    programs
}

/// An instruction of a module, and where it stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The computation: of what a program runs, the entry, or one that a `while`, a `conditional` or the like runs.
    pub computation: ComputationId,
    /// The instruction.
    pub instruction: InstrId,
}

/// Something of a fused module that cannot be compiled yet: a kernel, or an instruction that stands between kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncompiled {
    /// The fusion or other instruction.
    pub site: Site,
    /// Why, with the code that a refusal to compile it has.
    pub reason: Diagnostic,
}

/// What of a fused module cannot be compiled yet for a target.
pub(crate) fn uncompiled(fused: &Module, target: &Target) -> Vec<Uncompiled> {
    let programs = programs(fused);
    let mut found = Vec::new();
    for (computation, owner) in fused.computations.iter().rev().filter(|(id, _)| programs[id.index()]) {
        for (id, instruction) in owner.instructions.iter() {
            let reason = match instruction.op {
                // An operation says more than the types of what it reads.
                Op::Fusion { calls, .. } => findings_within(fused, calls, target).min_by_key(|(code, _)| *code == TYPE),
                _ => support(fused, owner, instruction, target).reason().cloned(),
            };
            if let Some((code, message)) = reason {
                let about = format!("{}/{}", owner.name, instruction.name);
                let reason = Diagnostic::new(code, instruction.span, message).about(about);
                found.push(Uncompiled { site: Site { computation, instruction: id }, reason });
            }
        }
    }
    found
}

const OPERATION: &str = "HLO401";
const TYPE: &str = "HLO402";
const ELIDED: &str = "HLO403";

fn no_kernel(op: &Op) -> Reason {
    let message = match op {
        Op::Sort { .. } => {
            "no kernels compute this 'sort': its comparator is more than code of scalars, or s32 does not count its places".to_owned()
        }
        Op::CustomCall { custom_call_target, .. } => {
            format!("the custom call '{custom_call_target}' cannot be compiled to a kernel yet")
        }
        op => format!("'{}' cannot be compiled to a kernel yet", op.name()),
    };
    (OPERATION, message)
}

/// Refuses what no kernel of a target can express yet, all findings at once.
///
/// # Errors
/// `HLO401` for an operation, `HLO402` for an element type, also one that the target does not compute with, or a dynamic shape, `HLO403` for a
/// constant whose elements the text left out.
pub(crate) fn check(module: &Module, target: &Target) -> Result<(), Diagnostics> {
    let programs = programs(module);
    let mut needed = vec![false; module.computations.len()];
    // Which of them are applied to elements, rather than run with whole values.
    let mut applied = vec![false; module.computations.len()];
    needed[module.entry.index()] = true;
    let mut findings = Vec::new();
    for (id, computation) in module.computations.iter().rev() {
        if !needed[id.index()] {
            continue;
        }
        let is_region = applied[id.index()];
        let live = if is_region { live(computation) } else { vec![true; computation.instructions.len()] };
        let known = findings.len();
        for (instruction, _) in computation.instructions.values().zip(&live).filter(|(_, live)| **live) {
            let runs = matches!(instruction.op, Op::Fusion { .. } | Op::Call { .. })
                || !programs_of(&instruction.op).is_empty();
            for callee in instruction.op.called_computations() {
                needed[callee.index()] = true;
                applied[callee.index()] |= is_region || !runs;
            }
            let is_step = programs[id.index()] && is_control_flow(&instruction.op);
            let own = if is_step { None } else { finding(computation, instruction, target) };
            let own = own.or_else(|| scatter_finding(module, computation, instruction, target));
            let reason =
                own.or_else(|| (is_region && !is_applied(&instruction.op)).then(|| within_region(&instruction.op)));
            if let Some((code, message)) = reason {
                let about = format!("{}/{}", computation.name, instruction.name);
                findings.push(Diagnostic::new(code, instruction.span, message).about(about));
            }
        }
        if is_region && findings.len() == known {
            findings.extend(loop_within(computation, &live));
        }
    }
    findings.sort_by_key(|finding| finding.span);
    if findings.is_empty() { Ok(()) } else { Err(Diagnostics(findings)) }
}

/// What no kernel can hold of an array.
fn type_finding(array: &ArrayShape) -> Option<Reason> {
    if Form::of(array.element_type).is_none() {
        return Some((TYPE, format!("elements of type {} cannot be compiled yet", array.element_type)));
    }
    if !array.dynamic.is_empty() {
        return Some((TYPE, format!("the shape {array} is dynamic; kernels need static extents")));
    }
    None
}

/// Whether an instruction reads or yields numbers of 64 bits, or complex ones of such parts.
fn holds_f64(computation: &Computation, instruction: &Instruction) -> bool {
    let is_f64 = |array: &ArrayShape| matches!(array.element_type, ElementType::F64 | ElementType::C128);
    let read = instruction.operands.iter().map(|operand| &computation.instructions[*operand].shape);
    let arrays = read.chain([&instruction.shape]).flat_map(Shape::leaves).filter_map(Shape::as_array);
    arrays.into_iter().any(is_f64)
}

/// Whether an instruction computes with numbers of 64 bits, or with complex ones of such parts, other than by looking at their bits.
fn computes_with_f64(computation: &Computation, instruction: &Instruction) -> bool {
    let looks_at_bits = match &instruction.op {
        Op::Unary(op) => {
            let is_complex = instruction.operands.first().is_some_and(|operand| {
                let array = computation.instructions[*operand].shape.as_array();
                array.is_some_and(|array| array.element_type.is_complex())
            });
            match op {
                UnaryOp::Abs | UnaryOp::Sign | UnaryOp::IsFinite => !is_complex,
                UnaryOp::Negate => true,
                _ => false,
            }
        }
        Op::Binary(op) => matches!(op, BinaryOp::Maximum | BinaryOp::Minimum),
        Op::Dot { .. } | Op::Convolution { .. } | Op::ReducePrecision { .. } => false,
        _ => true,
    };
    !looks_at_bits && holds_f64(computation, instruction)
}

/// Whether a target computes with numbers of a type.
pub(crate) fn computes(target: &Target, element_type: ElementType) -> bool {
    !matches!(element_type, ElementType::F64 | ElementType::C128) || missing_for_f64(target).is_empty()
}

/// The features that computing with numbers of 64 bits takes, and a target does not have.
fn missing_for_f64(target: &Target) -> Vec<&'static str> {
    let Features { shader_f64, shader_int64, .. } = target.features;
    let needed = [(shader_f64, "shader_f64"), (shader_int64, "shader_int64")];
    needed.into_iter().filter_map(|(has, name)| (!has).then_some(name)).collect()
}

fn finding(computation: &Computation, instruction: &Instruction, target: &Target) -> Option<Reason> {
    let missing = missing_for_f64(target);
    let needs = |what: &str| format!("{what} needs features that the target does not have: {}", missing.join(" and "));
    if !is_compiled(&instruction.op) {
        let (code, mut message) = no_kernel(&instruction.op);
        let is_expanded = matches!(instruction.op, Op::Fft { .. } | Op::Cholesky { .. } | Op::TriangularSolve { .. });
        if is_expanded && !missing.is_empty() && holds_f64(computation, instruction) {
            message = format!("{message}; {}", needs("f64"));
        }
        return Some((code, message));
    }
    for leaf in instruction.shape.leaves() {
        let Shape::Array(array) = leaf else {
            return Some((TYPE, format!("a value of shape {leaf} cannot live in a kernel's buffers")));
        };
        if let Some(reason) = type_finding(array) {
            return Some(reason);
        }
    }
    if !missing.is_empty() && computes_with_f64(computation, instruction) {
        return Some((TYPE, needs(&format!("'{}' of f64", instruction.op.name()))));
    }
    // Kernels see row-major elements; where tiles put them in memory is not known to the maps.
    let is_tiled = |instruction: &Instruction| {
        let layout = instruction.shape.as_array().and_then(|array| array.layout.as_ref());
        layout.is_some_and(Layout::is_tiled)
    };
    match &instruction.op {
        Op::Bitcast => {
            let mut operands = instruction.operands.iter().map(|operand| &computation.instructions[*operand]);
            let tiled = is_tiled(instruction) || operands.any(is_tiled);
            tiled.then(|| (OPERATION, "a bitcast of a tiled layout cannot be compiled yet".to_owned()))
        }
        Op::BitcastConvert => {
            let bits = |shape: &Shape| shape.as_array().map(|array| array.element_type.bits());
            let given = instruction.operands.first().and_then(|read| bits(&computation.instructions[*read].shape));
            let message = "'bitcast-convert' between elements of different widths cannot be compiled yet";
            (given != bits(&instruction.shape)).then(|| (OPERATION, message.to_owned()))
        }
        Op::Dot { .. } | Op::Convolution { .. } => {
            let of = |shape: &Shape| shape.as_array().map(|array| array.element_type);
            let mut types = instruction.operands.iter().map(|operand| of(&computation.instructions[*operand].shape));
            // The verifier refuses it too.
            let loses = of(&instruction.shape) == Some(ElementType::Pred)
                && types.any(|ty| ty.is_some_and(|ty| !ty.is_integer() && ty != ElementType::Pred));
            let message = format!("'{}' of fractions to pred has no meaning", instruction.op.name());
            loses.then_some((OPERATION, message))
        }
        Op::Reduce { .. } | Op::ReduceWindow { .. } => {
            let of = |id: &InstrId| computation.instructions[*id].shape.as_array().map(|array| array.element_type);
            let (inputs, initial) = instruction.operands.split_at(instruction.operands.len() / 2);
            let message = || format!("'{}' in another type than that of its inputs", instruction.op.name());
            let is_mixed = inputs.iter().zip(initial).any(|(input, initial)| of(input) != of(initial));
            is_mixed.then(|| (OPERATION, message()))
        }
        Op::Constant(literal) if literal.data == Data::Elided => {
            Some((ELIDED, "the text leaves out this constant's elements ('{...}')".to_owned()))
        }
        _ => None,
    }
}
