//! Indexing maps of operations that call computations: those from the callee's root to its parameters.

use super::analysis::Analysis;
use super::{Dependence, Direction, ElementMap, Owners, Relation};
use crate::ir::{Computation, ComputationId, InstrId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A computation that an instruction calls.
#[derive(Copy, Clone)]
pub(super) struct Callee {
    pub(super) computation: ComputationId,
    /// Which of the computations that the instruction names.
    pub(super) branch: usize,
    /// The operand that is the first parameter.
    pub(super) first: usize,
}

impl Callee {
    /// What a call or a fusion calls, with all its operands.
    pub(super) fn only(computation: ComputationId) -> Callee {
        Callee { computation, branch: 0, first: 0 }
    }
}

impl Analysis<'_> {
    /// The dependences of an instruction whose operands are the parameters of what it calls, and whose value is that of the
    /// callee's root.
    pub(super) fn call(
        &mut self,
        id: InstrId,
        operands: &[InstrId],
        callee: Callee,
        direction: Direction,
        owners: &mut Owners,
    ) -> Vec<Dependence> {
        let inner = self.through(callee.computation, direction);
        let operands = &operands[callee.first..];
        let computation = &self.module().computations[callee.computation];
        let mut found = Vec::with_capacity(inner.dependences.len());
        for dependence in &inner.dependences {
            let relation = match &dependence.relation {
                Relation::Maps(maps) => Relation::Maps(
                    maps.iter()
                        .map(|map| ElementMap {
                            map: owners.lifted(&map.map, (id, callee.branch), operands, computation, &inner.owners),
                            ..map.clone()
                        })
                        .collect(),
                ),
                undefined @ Relation::Undefined(_) => undefined.clone(),
            };
            let operand = dependence.operand.map(|parameter| callee.first + parameter);
            found.push(Dependence { operand, relation, ..dependence.clone() });
        }
        found
    }

    /// One of several computations runs, as the first operand chooses.
    pub(super) fn conditional(
        &mut self,
        id: InstrId,
        operands: &[InstrId],
        branches: &[ComputationId],
        direction: Direction,
        owners: &mut Owners,
    ) -> Vec<Dependence> {
        let mut found = Vec::new();
        for (branch, &computation) in branches.iter().enumerate() {
            let first = branch + 1;
            found.extend(self.call(id, &operands[..=first], Callee { computation, branch, first }, direction, owners));
        }
        for dependence in &mut found {
            if let Relation::Maps(maps) = &mut dependence.relation {
                for map in maps {
                    map.coarse = map.coarse.or(Some("which branch runs is known only at run time"));
                }
            }
        }
        found
    }
}

/// The dependences of one custom call, as [`Analysis::instruction`](super::Analysis::instruction) gives them.
pub type CustomCallRule = dyn Fn(&Computation, InstrId, Direction) -> Vec<Dependence> + Send + Sync;

/// For targets of custom calls the maps of their instructions.
#[derive(Clone, Default)]
pub struct CustomCallMaps {
    rules: BTreeMap<String, Arc<CustomCallRule>>,
}

impl CustomCallMaps {
    /// Adds the rule of a target, in place of one that was there.
    pub fn insert(
        &mut self,
        target: impl Into<String>,
        rule: impl Fn(&Computation, InstrId, Direction) -> Vec<Dependence> + Send + Sync + 'static,
    ) {
        self.rules.insert(target.into(), Arc::new(rule));
    }

    pub(super) fn get(&self, target: &str) -> Option<&CustomCallRule> {
        self.rules.get(target).map(AsRef::as_ref)
    }
}

impl fmt::Debug for CustomCallMaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.rules.keys()).finish()
    }
}
