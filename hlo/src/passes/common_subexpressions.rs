//! Common subexpression elimination.

use super::pass::{Change, Pass, Rewritten};
use super::rebuild::{Rewrite, rewrite_module};
use super::side_effects::{effects, has_effect};
use crate::diagnostic::Diagnostics;
use crate::ir::{ArenaId, Computation, ComputationId, Data, InstrId, Instruction, Module, Op};
use std::collections::HashMap;
use std::fmt::Write;

/// Lets the first of several instructions with the same operation, operands and shape stand for all, and the first of several
/// computations that are alike but for names.
pub struct CommonSubexpressions;

/// Constants of more elements are compared only where they are the same instruction.
const MAX_ELEMENTS: usize = 1 << 12;

impl Pass for CommonSubexpressions {
    fn name(&self) -> &'static str {
        "common-subexpressions"
    }

    fn about(&self) -> &'static str {
        "computes once what is computed several times"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        let (module, mut changes) = with_common_computations(module);
        let effects = effects(&module);
        let callee_has = |id: ComputationId| effects[id.index()];
        let mut known: HashMap<String, InstrId> = HashMap::new();
        let mut within = None;
        let rewritten = rewrite_module(&module, &mut |rebuild, candidate| {
            // A new computation begins.
            if within != Some(std::ptr::from_ref(rebuild.source)) {
                within = Some(std::ptr::from_ref(rebuild.source));
                known.clear();
            }
            if matches!(candidate.op, Op::Parameter { .. }) || has_effect(candidate, &callee_has) {
                return None;
            }
            let key = key(candidate)?;
            let next = rebuild.next();
            match known.entry(key) {
                std::collections::hash_map::Entry::Occupied(first) => {
                    Some(("the same operation of the same operands", Rewrite::Value(*first.get())))
                }
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(next);
                    None
                }
            }
        });
        changes.extend(rewritten.changes);
        Ok(Rewritten { module: rewritten.module, changes })
    }
}

/// What two instructions have in common exactly when one can stand for the other: all but names and metadata.
fn key(instruction: &Instruction) -> Option<String> {
    if let Op::Constant(literal) = &instruction.op
        && (literal.data == Data::Elided || literal.data.len().is_none_or(|count| count > MAX_ELEMENTS))
    {
        return None;
    }
    let mut key = String::new();
    let attributes = instruction.attributes.iter().filter(|attribute| attribute.name != "metadata");
    write!(key, "{:?} {:?} {:?}", instruction.op, instruction.operands, instruction.shape).ok()?;
    attributes.for_each(|attribute| key.extend([" ", &attribute.name, "=", &attribute.value]));
    Some(key)
}

/// The module in which the callers of computations that are alike all call the first of them.
fn with_common_computations(module: &Module) -> (Module, Vec<Change>) {
    let mut common = module.clone();
    let (mut first, mut changes) = (HashMap::new(), Vec::new());
    let mut image: Vec<ComputationId> = Vec::with_capacity(module.computations.len());
    for id in module.computations.ids() {
        let computation = &mut common.computations[id];
        for instruction in computation.instructions.values_mut() {
            let mut is_renamed = false;
            instruction.op.rename_computations(|callee| {
                is_renamed |= image[callee.index()] != callee;
                image[callee.index()]
            });
            if is_renamed {
                let place = format!("{}/{}", computation.name, instruction.name);
                changes.push(Change { rule: "the same computation", place });
            }
        }
        let key = key_of_computation(computation).unwrap_or_else(|| computation.name.clone());
        let alike = *first.entry(key).or_insert(id);
        // The entry has no callers.
        image.push(if id == module.entry { id } else { alike });
    }
    (common, changes)
}

fn key_of_computation(computation: &Computation) -> Option<String> {
    let keys = computation.instructions.values().map(key).collect::<Option<Vec<String>>>()?;
    let attributes: Vec<String> =
        computation.attributes.iter().map(|attribute| format!("{}={}", attribute.name, attribute.value)).collect();
    Some(format!("{:?} {} {}", computation.root, keys.join("\n"), attributes.join("\n")))
}
