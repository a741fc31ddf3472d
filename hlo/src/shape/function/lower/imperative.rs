//! Lowering of form 2 to form 3: evidence becomes assertions.

use crate::shape::function::apply::default_message;
use crate::shape::function::builder::Builder;
use crate::shape::function::tidy::tidy;
use crate::shape::function::{Function, Kind, Operation, Region, ValueId};
use std::collections::{HashMap, HashSet};

/// The function in form 3: where evidence was assumed, its conditions are asserted in order, those with one message
/// together.
pub(super) fn imperative(function: &Function) -> Function {
    let mut builder = Builder::new(function.name.clone());
    let mut images = vec![None; function.values.len()];
    for &id in &function.body.arguments {
        let data = function.value(id);
        images[id.index()] = Some(builder.argument(data.ty, data.name.clone()));
    }
    let mut lowering =
        Lowering { function, builder, images, conditions: HashMap::new(), asserted: HashSet::new(), order: Vec::new() };
    let results = lowering.region(&function.body);
    let lowered = lowering.builder.finish(results).expect("form 3 has the types of form 2");
    tidy(lowered, &HashSet::new())
}

/// A truth value, and what is said if it is false.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Condition {
    holds: ValueId,
    message: String,
}

struct Lowering<'a> {
    function: &'a Function,
    builder: Builder,
    images: Vec<Option<ValueId>>,
    /// What each evidence of form 2 stands for, in order.
    conditions: HashMap<ValueId, Vec<Condition>>,
    /// What was asserted already where the builder stands.
    asserted: HashSet<Condition>,
    /// The same, in order.
    order: Vec<Condition>,
}

impl Lowering<'_> {
    fn region(&mut self, region: &Region) -> Vec<ValueId> {
        for operation in &region.operations {
            self.operation(operation);
        }
        region.results.iter().map(|&id| self.image(id)).collect()
    }

    fn operation(&mut self, operation: &Operation) {
        let test = match operation.kind {
            Kind::CstrEq => Some(Kind::ShapeEq),
            Kind::CstrBroadcastable => Some(Kind::IsBroadcastable),
            Kind::ConstWitness(false) => Some(Kind::ConstBool(false)),
            _ => None,
        };
        let message = || operation.error.clone().unwrap_or_else(|| default_message(&operation.kind).to_owned());
        let conditions = match &operation.kind {
            Kind::ConstWitness(true) => Vec::new(),
            Kind::CstrRequire => vec![Condition { holds: self.image(operation.operands[0]), message: message() }],
            Kind::AssumingAll => {
                operation.operands.iter().flat_map(|id| self.conditions.get(id).cloned().unwrap_or_default()).collect()
            }
            Kind::Assuming => {
                let conditions = self.conditions.get(&operation.operands[0]).cloned().unwrap_or_default();
                self.assert(conditions);
                let results = self.region(&operation.regions[0]);
                for (&old, new) in operation.results.iter().zip(results) {
                    self.images[old.index()] = Some(new);
                }
                return;
            }
            _ => match test {
                None => return self.copy(operation),
                Some(test) => {
                    let operands = operation.operands.iter().map(|&id| self.image(id)).collect();
                    let holds = self.push(test, operands, Vec::new(), None)[0];
                    self.builder.rename(holds, "holds");
                    vec![Condition { holds, message: message() }]
                }
            },
        };
        self.conditions.insert(operation.results[0], conditions);
    }

    fn assert(&mut self, conditions: Vec<Condition>) {
        let mut groups: Vec<(Vec<ValueId>, String)> = Vec::new();
        for condition in conditions {
            if !self.asserted.insert(condition.clone()) {
                continue;
            }
            match groups.last_mut().filter(|(_, message)| *message == condition.message) {
                Some((all, _)) => all.push(condition.holds),
                None => groups.push((vec![condition.holds], condition.message.clone())),
            }
            self.order.push(condition);
        }
        for (all, message) in groups {
            let holds = match all.as_slice() {
                [one] => *one,
                _ => self.push(Kind::And, all, Vec::new(), None)[0],
            };
            self.builder.rename_unnamed(holds, "holds");
            self.push(Kind::Assert, vec![holds], Vec::new(), Some(message));
        }
    }

    fn copy(&mut self, operation: &Operation) {
        let operands = operation.operands.iter().map(|&id| self.image(id)).collect();
        let mut regions = Vec::new();
        for region in &operation.regions {
            self.builder.open();
            for &id in &region.arguments {
                let data = self.function.value(id);
                self.images[id.index()] = Some(self.builder.argument(data.ty, data.name.clone()));
            }
            // What a region asserts holds in it: the next iteration, or the other branch, asserts for itself.
            let before = self.order.len();
            let results = self.region(region);
            for condition in self.order.drain(before..) {
                self.asserted.remove(&condition);
            }
            regions.push(self.builder.close(results));
        }
        let results = self.push(operation.kind.clone(), operands, regions, operation.error.clone());
        for (&old, new) in operation.results.iter().zip(results) {
            self.builder.rename(new, self.function.value(old).name.clone());
            self.images[old.index()] = Some(new);
        }
    }

    fn push(
        &mut self,
        kind: Kind,
        operands: Vec<ValueId>,
        regions: Vec<Region>,
        error: Option<String>,
    ) -> Vec<ValueId> {
        self.builder.push(kind, operands, regions, error).expect("form 3 has the types of form 2")
    }

    fn image(&self, id: ValueId) -> ValueId {
        self.images[id.index()].expect("a value is defined before its uses, and evidence is used by what takes it")
    }
}
