//! What can be compiled into kernels at all.

use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, Computation, Data, ElementType, Instruction, Layout, Module, Op, Shape};

/// Refuses what no kernel can express yet, all findings at once.
///
/// # Errors
/// `HLO401` for an operation, `HLO402` for an element type or a dynamic shape, `HLO403` for a constant whose elements
/// the text left out.
pub(crate) fn check(module: &Module) -> Result<(), Diagnostics> {
    let mut needed = vec![false; module.computations.len()];
    needed[module.entry.index()] = true;
    let mut findings = Vec::new();
    for (id, computation) in module.computations.iter().rev() {
        if !needed[id.index()] {
            continue;
        }
        for instruction in computation.instructions.values() {
            instruction.op.called_computations().into_iter().for_each(|callee| needed[callee.index()] = true);
            if let Some((code, message)) = finding(computation, instruction) {
                let about = format!("{}/{}", computation.name, instruction.name);
                findings.push(Diagnostic::new(code, instruction.span, message).about(about));
            }
        }
    }
    findings.sort_by_key(|finding| finding.span);
    if findings.is_empty() { Ok(()) } else { Err(Diagnostics(findings)) }
}

fn finding(computation: &Computation, instruction: &Instruction) -> Option<(&'static str, String)> {
    if !instruction.op.is_computed() {
        let opcode = instruction.op.opcode();
        return Some(("HLO401", format!("'{opcode}' cannot be compiled to a kernel yet")));
    }
    for leaf in instruction.shape.leaves() {
        let Shape::Array(array) = leaf else {
            return Some(("HLO402", format!("a value of shape {leaf} cannot live in a kernel's buffers")));
        };
        let known = [ElementType::Pred, ElementType::S32, ElementType::U32, ElementType::F32];
        if !known.contains(&array.element_type) {
            let known = known.map(ElementType::name).join(", ");
            let message = format!("elements of type {} cannot be compiled yet; {known} can", array.element_type);
            return Some(("HLO402", message));
        }
        if !array.dynamic.is_empty() {
            return Some(("HLO402", format!("the shape {array} is dynamic; kernels need static extents")));
        }
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
            tiled.then(|| ("HLO401", "a bitcast of a tiled layout cannot be compiled yet".to_owned()))
        }
        Op::Constant(literal) if literal.data == Data::Elided => {
            Some(("HLO403", "the text leaves out this constant's elements ('{...}')".to_owned()))
        }
        _ => None,
    }
}
