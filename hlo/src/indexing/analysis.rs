//! The entry point of the analysis: indexing maps of the instructions and computations of a module.

use super::asynchronous::callees;
use super::calls::Callee;
use super::context::InstructionContext;
use super::links::Links;
use super::operation::operation;
use super::walk::Walk;
use super::{
    CustomCallMaps, Dependence, Direction, Domains, ElementMap, KnownValues, Owners, Relation, Undefined, movement,
};
use crate::ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The dependences of an instruction or of a whole computation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Dependences {
    /// The dependences between arrays; of a computation, those of the root on the parameters, which stand as operands
    /// by their numbers.
    pub dependences: Vec<Dependence>,
    /// The owners of the maps' runtime variables.
    pub owners: Owners,
}

impl Dependences {
    /// Those on one operand.
    pub fn on(&self, operand: usize) -> impl Iterator<Item = &Dependence> {
        self.dependences.iter().filter(move |dependence| dependence.operand == Some(operand))
    }
}

/// The indexing analysis of a verified module. What is called is analysed once.
#[derive(Clone, Debug)]
pub struct Analysis<'m> {
    module: &'m Module,
    domains: Domains,
    custom_calls: Option<&'m CustomCallMaps>,
    known: BTreeMap<(ComputationId, Direction), Arc<Dependences>>,
    links: BTreeMap<(ComputationId, Direction), Links>,
    /// For each tuple of which elements are taken where the arrays of each element begin.
    starts: BTreeMap<(ComputationId, InstrId), Arc<Vec<usize>>>,
}

impl<'m> Analysis<'m> {
    /// An analysis of a module that [`verify`](crate::verify::verify) has passed.
    pub fn new(module: &'m Module) -> Analysis<'m> {
        Analysis {
            module,
            domains: Domains::default(),
            custom_calls: None,
            known: BTreeMap::new(),
            links: BTreeMap::new(),
            starts: BTreeMap::new(),
        }
    }

    /// The same with other domains.
    #[must_use]
    pub fn with_domains(self, domains: Domains) -> Analysis<'m> {
        Analysis { domains, known: BTreeMap::new(), links: BTreeMap::new(), ..self }
    }

    /// The same with maps of custom calls.
    #[must_use]
    pub fn with_custom_calls(self, custom_calls: &'m CustomCallMaps) -> Analysis<'m> {
        Analysis { custom_calls: Some(custom_calls), known: BTreeMap::new(), links: BTreeMap::new(), ..self }
    }

    /// The dependences of an instruction's value on its operands, array by array. Maps of an operation are not
    /// simplified, those through called computations are.
    pub fn instruction(&mut self, computation: ComputationId, id: InstrId, direction: Direction) -> Dependences {
        let mut owners = Owners::default();
        let dependences = self.dependences(computation, id, direction, &mut owners);
        Dependences { dependences, owners }
    }

    /// The dependences of a computation's root on its parameters, array by array: distinct, simplified maps.
    pub fn computation(&mut self, computation: ComputationId, direction: Direction) -> Dependences {
        self.through(computation, direction).as_ref().clone()
    }

    /// Simplifies a map of [`Analysis::instruction`], whose maps are as the operation has them: with the values of runtime
    /// variables that are known, and without variables that then have no use. `owners` is what came with the map.
    pub fn simplify(&self, computation: ComputationId, owners: &Owners, map: &mut ElementMap) {
        let known = KnownValues::new(self.module, computation);
        map.simplify_knowing(&mut |owner, element| known.value(owners, owner, element));
    }

    pub(super) fn module(&self) -> &'m Module {
        self.module
    }

    /// The dependences of an instruction; `owners` learns of runtime variables within what is called.
    pub(super) fn dependences(
        &mut self,
        computation: ComputationId,
        id: InstrId,
        direction: Direction,
        owners: &mut Owners,
    ) -> Vec<Dependence> {
        let context = InstructionContext::new(&self.module.computations[computation], id, direction, self.domains)
            .of(self.module);
        let arrays = match &context.instruction.shape {
            shape @ Shape::Tuple(_) => shape.leaves(),
            _ => Vec::new(),
        };
        let starts = match context.instruction.op {
            Op::GetTupleElement { .. } => self.starts(computation, context.instruction.operands[0]),
            _ => Arc::default(),
        };
        self.of_site(&InstructionContext { arrays: &arrays, starts: &starts, ..context }, owners)
    }

    /// Where the arrays of each element of a tuple begin.
    fn starts(&mut self, computation: ComputationId, tuple: InstrId) -> Arc<Vec<usize>> {
        let shape = &self.module.computations[computation].instructions[tuple].shape;
        Arc::clone(self.starts.entry((computation, tuple)).or_insert_with(|| Arc::new(movement::starts(shape))))
    }

    /// What walks through a computation have learned so far.
    pub(super) fn take_links(&mut self, computation: ComputationId, direction: Direction) -> Links {
        self.links.remove(&(computation, direction)).unwrap_or_default()
    }

    pub(super) fn put_links(&mut self, computation: ComputationId, direction: Direction, links: Links) {
        self.links.insert((computation, direction), links);
    }

    /// The same for an instruction that need not stand in the module.
    pub(super) fn of_site(&mut self, context: &InstructionContext<'_>, owners: &mut Owners) -> Vec<Dependence> {
        let InstructionContext { id, instruction, direction, .. } = *context;
        match &instruction.op {
            Op::Fusion { calls: callee, .. } | Op::Call { to_apply: callee } => {
                self.call(id, &instruction.operands, Callee::only(*callee), direction, owners)
            }
            Op::Conditional { branches, .. } => {
                let mut found: Vec<Dependence> = if context.is_static() {
                    (0..context.results()).map(|result| context.all(result, 0)).collect()
                } else {
                    undefined(context, &Undefined::DynamicExtents).into_iter().take(1).collect()
                };
                found.extend(self.conditional(id, &instruction.operands, branches, direction, owners));
                found
            }
            Op::CustomCall { custom_call_target, .. } => {
                let rule = self.custom_calls.and_then(|known| known.get(custom_call_target));
                match rule {
                    Some(rule) => rule(context.computation, id, direction),
                    None => undefined(context, &Undefined::CustomCall(custom_call_target.clone())),
                }
            }
            Op::AsyncStart { calls, .. } => {
                self.start(context, *calls, owners).unwrap_or_else(|reason| undefined(context, &reason))
            }
            Op::AsyncShorthand { operation: Some(operation), .. } => {
                self.start_operation(context, operation, owners).unwrap_or_else(|reason| undefined(context, &reason))
            }
            _ => operation(context).unwrap_or_else(|reason| undefined(context, &reason)),
        }
    }

    /// The dependences of a computation's root on its parameters.
    pub(super) fn through(&mut self, id: ComputationId, direction: Direction) -> Arc<Dependences> {
        // A computation comes after those that it calls, so going through them in order needs no recursion.
        for callee in self.called(id, direction) {
            let found = Arc::new(self.walk_through(callee, direction));
            self.known.insert((callee, direction), found);
        }
        self.known.get(&(id, direction)).cloned().unwrap_or_default()
    }

    /// A computation and those it calls, as far as they are not known yet, in the order of the module.
    fn called(&self, id: ComputationId, direction: Direction) -> BTreeSet<ComputationId> {
        let mut found = BTreeSet::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if self.known.contains_key(&(id, direction)) || !found.insert(id) {
                continue;
            }
            for instruction in self.module.computations[id].instructions.values() {
                pending.extend(callees(&instruction.op));
            }
        }
        found
    }

    fn walk_through(&mut self, id: ComputationId, direction: Direction) -> Dependences {
        let computation = &self.module.computations[id];
        let parameters = computation.parameters();
        let mut dependences = Vec::new();
        let all = |_: InstrId| true;
        let mut walk = Walk::new(self, id, direction);
        match direction {
            Direction::OutputToInput => {
                let numbers: BTreeMap<InstrId, usize> = parameters.into_iter().zip(0..).collect();
                for (result, shape) in computation.result_shape().leaves().into_iter().enumerate() {
                    let reached = walk.from((computation.root, result, shape), &all);
                    let read = reached.iter().filter_map(|(at, leaves)| Some((*numbers.get(at)?, leaves)));
                    for (number, leaves) in read.collect::<BTreeMap<_, _>>() {
                        dependences.extend(leaves.iter().map(|(leaf, own)| found(result, number, *leaf, own)));
                    }
                }
            }
            Direction::InputToOutput => {
                for (number, parameter) in parameters.into_iter().enumerate() {
                    let leaves = computation.instructions[parameter].shape.leaves();
                    for (leaf, shape) in leaves.into_iter().enumerate() {
                        let reached = walk.from((parameter, leaf, shape), &all);
                        let results = reached.get(&computation.root).into_iter().flatten();
                        dependences.extend(results.map(|(result, own)| found(*result, number, leaf, own)));
                    }
                }
            }
        }
        Dependences { dependences, owners: walk.end() }
    }
}

fn found(result: usize, operand: usize, leaf: usize, relation: &Relation) -> Dependence {
    Dependence { result: Some(result), operand: Some(operand), leaf: Some(leaf), relation: relation.clone() }
}

/// Every array of the value may depend on every array of every operand.
fn undefined(context: &InstructionContext<'_>, reason: &Undefined) -> Vec<Dependence> {
    let on = |operand| Dependence {
        result: None,
        operand: Some(operand),
        leaf: None,
        relation: Relation::Undefined(reason.clone()),
    };
    (0..context.operands()).map(on).collect()
}
