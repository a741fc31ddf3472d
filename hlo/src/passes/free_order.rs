//! Control predecessors where no order shows.

use super::pass::{Change, Pass, Rewritten};
use super::side_effects::{effects_but, is_value_alone};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArenaId, InstrId, Module, Op};

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
            let mut image: Vec<InstrId> = Vec::with_capacity(computation.instructions.len());
            for (id, instruction) in computation.instructions.iter() {
                // Its layout may be another.
                let ordered = instruction.operands.first().filter(|&&operand| {
                    instruction.op == Op::AddDependency && computation.instructions[operand].shape == instruction.shape
                });
                image.push(ordered.map_or(id, |operand| image[operand.index()]));
            }
            let root = image[computation.root.index()];
            if std::mem::replace(&mut computation.root, root) != root {
                changes.push(Change { rule: NO_TOKEN, place: computation.name.clone() });
            }
            for instruction in computation.instructions.values_mut() {
                let operands = instruction.operands.iter().map(|operand| image[operand.index()]).collect();
                if instruction.operands != operands {
                    instruction.operands = operands;
                    let place = format!("{}/{}", computation.name, instruction.name);
                    changes.push(Change { rule: NO_TOKEN, place });
                }
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
