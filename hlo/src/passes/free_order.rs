//! Control predecessors where no order shows.

use super::inline_calls::same_layouts;
use super::pass::{Change, Pass, Rewritten};
use super::side_effects::{effects_but, is_value_alone};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArenaId, Computation, InstrId, Module, Op};

/// Drops `control-predecessors`, and reads what `add-dependency` takes instead of its value, in computations in which nothing has side effects, nor in what they call: then an order is part of no result, and would keep passes from
/// rewriting what it names, as other passes leave it as it is. Collectives of modules for one device, and copies that begin and end, count as values.
pub struct FreeOrder;

impl Pass for FreeOrder {
    fn name(&self) -> &'static str {
        "free-order"
    }

    fn about(&self) -> &'static str {
        "drops control predecessors and tokens where nothing has side effects"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        let is_one = module.replica_count().unwrap_or(1) == 1 && module.num_partitions().unwrap_or(1) == 1;
        let mut made = module.clone();
        let mut changes = Vec::new();
        let effects = effects_but(module, &|op| is_one && is_value_alone(op));
        for (computation, has_effect) in made.computations.values_mut().zip(effects) {
            if has_effect {
                continue;
            }
            drop_tokens(computation, &mut changes);
            for instruction in computation.instructions.values_mut() {
                let before = instruction.attributes.len();
                instruction.attributes.retain(|attribute| attribute.name != "control-predecessors");
                if instruction.attributes.len() < before {
                    let place = format!("{}/{}", computation.name, instruction.name);
                    changes.push(Change { rule: "an order without side effects shows in no result", place });
                }
            }
        }
        Ok(Rewritten { module: if changes.is_empty() { module.clone() } else { made }, changes })
    }
}

const NO_TOKEN: &str = "a token without side effects orders nothing";

/// Reads what each `add-dependency` takes instead of it; where its layout is another, it is a copy.
fn drop_tokens(computation: &mut Computation, changes: &mut Vec<Change>) {
    let mut changed =
        |name: &str| changes.push(Change { rule: NO_TOKEN, place: format!("{}/{name}", computation.name) });
    let mut image: Vec<InstrId> = Vec::with_capacity(computation.instructions.len());
    let mut copies: Vec<InstrId> = Vec::new();
    for (id, instruction) in computation.instructions.iter() {
        let operand = match instruction.op {
            Op::AddDependency => instruction.operands[0],
            _ => id,
        };
        let is_same = same_layouts(&computation.instructions[operand].shape, &instruction.shape);
        image.push(if operand == id || !is_same { id } else { image[operand.index()] });
        if !is_same {
            copies.push(id);
        }
    }
    for copy in copies {
        let instruction = &mut computation.instructions[copy];
        instruction.op = Op::Copy;
        instruction.operands.truncate(1);
        changed(&instruction.name);
    }
    for instruction in computation.instructions.values_mut() {
        let operands = instruction.operands.iter().map(|operand| image[operand.index()]).collect();
        if instruction.operands != operands {
            instruction.operands = operands;
            changed(&instruction.name);
        }
    }
    let root = image[computation.root.index()];
    if root != computation.root {
        changed(&computation.instructions[computation.root].name);
        computation.root = root;
    }
}
