//! Scatters whose updates may be combined in any order, though it makes a difference.

use crate::monoid::operation;
use weft_hlo::ir::{BinaryOp, ComputationId, ElementType, Instruction, Module, Op};

/// The attribute of the frontend that says so, and what it says.
const NAME: &str = "weft_scatter_order";
const ANY: &str = "any";

/// Whether an instruction says so.
pub(crate) fn is_marked(instruction: &Instruction) -> bool {
    instruction.frontend_attribute(NAME) == Some(ANY)
}

/// Has an instruction say so.
pub(crate) fn mark(instruction: &mut Instruction) {
    instruction.set_frontend_attribute(NAME, Some(ANY));
}

/// Why a scatter keeps to the order of its updates, whatever it says; `None` where devices can combine them in any order, by words that are exchanged for
/// what they come to as long as nobody else came between.
pub(crate) fn refusal(module: &Module, scatter: &Instruction) -> Option<String> {
    let Op::Scatter { to_apply, .. } = scatter.op else {
        return Some(format!("'{}' is no scatter", scatter.op.name()));
    };
    let Some(array) = scatter.shape.as_array() else {
        return Some("elements of several results are not exchanged in one step".to_owned());
    };
    if array.element_type != ElementType::F32 {
        return Some(format!("elements of {} are no words that are exchanged in one step", array.element_type));
    }
    match combiner(module, to_apply) {
        Some(_) => None,
        None => Some("its region is no sum, product, minimum or maximum of an element and an update".to_owned()),
    }
}

/// The operation of a region, if any order of the updates comes to the same but for rounding, and which NaN or zero it is.
fn combiner(module: &Module, region: ComputationId) -> Option<BinaryOp> {
    let region = &module.computations[region];
    let is_any =
        |op: &BinaryOp| matches!(op, BinaryOp::Add | BinaryOp::Multiply | BinaryOp::Minimum | BinaryOp::Maximum);
    operation(region, region.root, (0, 1)).filter(is_any)
}

#[cfg(test)]
mod tests {
    use super::{is_marked, mark};
    use weft_hlo::text::{parse, print};

    #[test]
    fn what_is_marked_keeps_its_attributes_and_is_text() {
        for attributes in ["", ", frontend_attributes={}", ", frontend_attributes={a=\"b\",c=\"}\"}"] {
            let text = format!("HloModule m\nENTRY e {{\n  ROOT x = f32[2]{{0}} parameter(0){attributes}\n}}\n");
            let mut module = parse(&text).expect("it is text");
            let entry = module.entry;
            let parameter = module.computations[entry].instructions.values_mut().next().expect("there is one");
            assert!(!is_marked(parameter));
            mark(parameter);
            let printed = print(&module);
            let read = parse(&printed).unwrap_or_else(|found| panic!("{found:?}\n{printed}"));
            assert!(read.entry_computation().instructions.values().all(is_marked), "{printed}");
            assert_eq!(printed.contains("a=\"b\",c=\"}\""), attributes.contains("a="), "{printed}");
        }
    }
}
