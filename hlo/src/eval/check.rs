//! Static checks and the execution plan.

use super::Config;
use super::plan::Plan;
use super::region::Region;
use super::scan;
use super::value::byte_size;
use super::{custom, kernel, ragged_dot, random, scaled_dot};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::selection::Selection;
use crate::ir::{
    ArenaId, ArrayShape, BinaryOp, ComparisonDirection, Computation, ComputationId, Data, Instruction, Layout, Literal,
    Module, Op, Shape, alone, is_collective,
};
use crate::verify;
use std::collections::BTreeMap;

/// Checks everything reachable from the entry and prepares it.
pub(super) fn plan(module: &Module, config: &Config) -> Result<Plan, Diagnostics> {
    let reachable = reachable(module);
    let mut findings = Vec::new();
    for &id in reachable.keys() {
        let computation = &module.computations[id];
        for instruction in computation.instructions.values() {
            if let Some((code, message)) = refusal(module, computation, instruction, config) {
                let place = format!("{}/{}", computation.name, instruction.name);
                findings.push(Diagnostic::new(code, instruction.span, message).about(place));
            }
        }
    }
    if !findings.is_empty() {
        return Err(Diagnostics(findings));
    }
    // What is not reachable need not be understood, but the rest of this relies on every rule that there is.
    verify::verify(module)?;
    for &id in reachable.keys() {
        let computation = &module.computations[id];
        for instruction in computation.instructions.values() {
            if let Some(message) = scan::refusal(module, computation, instruction) {
                let place = format!("{}/{}", computation.name, instruction.name);
                findings.push(Diagnostic::new("HLO201", instruction.span, message).about(place));
            }
        }
    }
    if !findings.is_empty() {
        return Err(Diagnostics(findings));
    }
    bound_calls(module, config)?;
    let mut plan = Plan { regions: BTreeMap::new(), last_uses: BTreeMap::new() };
    for (id, is_region) in reachable {
        if is_region {
            plan.regions.insert(id, Region::compile(module, id));
        }
        plan.last_uses.insert(id, last_uses(&module.computations[id]));
    }
    Ok(plan)
}

/// The computations that the entry needs, with whether they are applied element by element.
fn reachable(module: &Module) -> BTreeMap<ComputationId, bool> {
    let mut reached: BTreeMap<ComputationId, bool> = BTreeMap::new();
    let mut pending = vec![(module.entry, false)];
    while let Some((id, is_region)) = pending.pop() {
        let Some(computation) = module.computations.get(id) else { continue };
        let known = reached.get(&id).copied();
        reached.insert(id, is_region || known == Some(true));
        if known.is_some() {
            continue;
        }
        for instruction in computation.instructions.values() {
            let is_region = applies(&instruction.op);
            pending.extend(instruction.op.called_computations().into_iter().map(|callee| (callee, is_region)));
        }
    }
    reached
}

/// Whether an operation applies the computations it calls element by element.
fn applies(op: &Op) -> bool {
    matches!(
        op,
        Op::Map { .. }
            | Op::Reduce { .. }
            | Op::ReduceWindow { .. }
            | Op::Scatter { .. }
            | Op::SelectAndScatter { .. }
            | Op::Sort { .. }
    ) || matches!(op, Op::CustomCall { custom_call_target, .. } if Selection::is_target(custom_call_target))
}

/// A few computations that call each other twice come to a number of instructions nobody waits for, in whichever way they
/// call.
fn bound_calls(module: &Module, config: &Config) -> Result<(), Diagnostics> {
    let mut counts: Vec<u64> = Vec::with_capacity(module.computations.len());
    for computation in module.computations.values() {
        let mut count = 0u64;
        for instruction in computation.instructions.values() {
            let callees = instruction.op.called_computations().into_iter();
            let called = callees.map(|callee| counts[callee.index()]).fold(0, u64::saturating_add);
            count = count.saturating_add(1).saturating_add(called);
        }
        counts.push(count);
    }
    let (count, limit) = (counts[module.entry.index()], config.instruction_limit);
    if count <= limit {
        return Ok(());
    }
    let entry = module.entry_computation();
    let message = format!("with its calls the program comes to {count} or more instructions; at most {limit} may run");
    Err(Diagnostic::new("HLO207", entry.span, message).about(&entry.name).into())
}

fn last_uses(computation: &Computation) -> Vec<usize> {
    let mut last_uses: Vec<usize> = (0..computation.instructions.len()).collect();
    for (id, instruction) in computation.instructions.iter() {
        for operand in &instruction.operands {
            last_uses[operand.index()] = id.index();
        }
    }
    last_uses[computation.root.index()] = usize::MAX;
    last_uses
}

/// Why an instruction cannot be evaluated.
fn refusal(
    module: &Module,
    computation: &Computation,
    instruction: &Instruction,
    config: &Config,
) -> Option<(&'static str, String)> {
    if let Some(reason) = kernel::refusal(&instruction.op) {
        return Some(("HLO201", format!("unsupported: operation {} {reason}", instruction.op.name())));
    }
    if is_collective(&instruction.op) {
        let operands = instruction.operands.iter().filter_map(|id| computation.instructions.get(*id));
        if alone(module, instruction, operands.map(|operand| &operand.shape)).is_none() {
            let name = instruction.op.name();
            return Some(("HLO201", format!("unsupported: operation {name} {}", kernel::EXCHANGES)));
        }
    }
    for leaf in instruction.shape.leaves() {
        if let Some(what) = unsupported(leaf) {
            return Some(("HLO202", format!("unsupported: {what} is read and printed, not yet evaluated")));
        }
        let Some(array) = leaf.as_array() else { continue };
        let bytes = byte_size(array).filter(|&bytes| isize::try_from(bytes).is_ok());
        let held = matches!(instruction.op, Op::Parameter { .. } | Op::Constant(_));
        if bytes.is_none_or(|bytes| !held && bytes > config.byte_limit) {
            let size = bytes.map_or_else(|| "more bytes than memory has".to_owned(), |bytes| format!("{bytes} bytes"));
            let message = format!("{array} takes {size}; at most {} may be used", config.byte_limit);
            return Some(("HLO205", message));
        }
    }
    match &instruction.op {
        Op::Constant(literal) => unknown_value(literal),
        // XLA reads these and documents no order. What its CPU makes of them contradicts itself: 3 is both less than or equal
        // to and greater than 3 - i, and a remainder ends the process. JAX never prints them.
        Op::Binary(op @ (BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::Remainder)) => {
            let array = instruction.shape.as_array()?;
            let message = || format!("unsupported: {} of complex numbers, which have no order", op.name());
            array.element_type.is_complex().then(|| ("HLO202", message()))
        }
        Op::Compare { direction, .. } if !matches!(direction, ComparisonDirection::Eq | ComparisonDirection::Ne) => {
            let array = computation.instructions.get(*instruction.operands.first()?)?.shape.as_array()?;
            let message =
                || format!("unsupported: compare {} of complex numbers, which have no order", direction.name());
            array.element_type.is_complex().then(|| ("HLO202", message()))
        }
        Op::Clamp => {
            let message = || "unsupported: clamp of complex numbers, which have no order".to_owned();
            instruction.shape.as_array()?.element_type.is_complex().then(|| ("HLO202", message()))
        }
        // XLA reads reductions of mixed precision, and its CPU refuses to compile them.
        Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. } => {
            let element_type = |shape: &Shape| shape.as_array().map(|array| array.element_type);
            let operands = instruction.operands.iter().filter_map(|&operand| computation.instructions.get(operand));
            let given: Vec<_> = operands.map(|operand| element_type(&operand.shape)).collect();
            let region = module.computations.get(*to_apply)?;
            let taken = region.parameters().into_iter().map(|id| element_type(&region.instructions[id].shape));
            let (inputs, initials) = given.split_at(given.len() / 2);
            let is_mixed = inputs != initials || !taken.eq([inputs, inputs].concat());
            is_mixed.then(|| ("HLO202", "unsupported: a reduction in another type than that of its inputs".to_owned()))
        }
        Op::RaggedDot { .. } | Op::ScaledDot { .. } => {
            let operands = instruction.operands.iter().filter_map(|&operand| computation.instructions.get(operand));
            let arrays: Vec<&ArrayShape> = operands.filter_map(|operand| operand.shape.as_array()).collect();
            let reason = ragged_dot::refusal(&instruction.op, &arrays)
                .or_else(|| scaled_dot::refusal(&instruction.op, &arrays))?;
            Some(("HLO201", format!("unsupported: operation {} {reason}", instruction.op.name())))
        }
        Op::Bitcast => {
            let operands = instruction.operands.iter().filter_map(|&operand| computation.instructions.get(operand));
            let tiled =
                |shape: &Shape| shape.as_array().and_then(|array| array.layout.as_ref()).is_some_and(Layout::is_tiled);
            let tiled = tiled(&instruction.shape) || operands.map(|operand| &operand.shape).any(tiled);
            tiled.then(|| ("HLO204", "unsupported: bitcast of a tiled layout is not yet evaluated".to_owned()))
        }
        Op::CustomCall { .. } => custom::refusal(instruction, &config.custom_calls).map(|message| ("HLO201", message)),
        Op::RngGetAndUpdateState { .. } => {
            random::no_state(instruction.shape.as_array()?).map(|message| ("HLO202", format!("unsupported: {message}")))
        }
        Op::RngBitGenerator { algorithm } => {
            let state = computation.instructions.get(*instruction.operands.first()?)?.shape.as_array()?;
            random::unsupported(state, *algorithm).map(|message| ("HLO202", format!("unsupported: {message}")))
        }
        _ => None,
    }
}

fn unsupported(leaf: &Shape) -> Option<String> {
    match leaf {
        Shape::Array(array) if !array.dynamic.is_empty() => Some(format!("the bounded extent of {array}")),
        Shape::Array(_) | Shape::Token => None,
        _ => Some(format!("a value of shape {leaf}")),
    }
}

fn unknown_value(literal: &Literal) -> Option<(&'static str, String)> {
    let mut pending = vec![literal];
    while let Some(literal) = pending.pop() {
        match &literal.data {
            Data::Elided => {
                let message = "the value of this constant was left out of the text ({...}); print the module with \
                               large constants";
                return Some(("HLO203", message.to_owned()));
            }
            Data::Tuple(elements) => pending.extend(elements),
            _ => {}
        }
    }
    None
}
