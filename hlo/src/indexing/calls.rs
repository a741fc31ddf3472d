//! Operations that call computations: their maps are those of the computation from its root to its parameters.

use super::analysis::Analysis;
use super::{Dependence, Direction, ElementMap, Owners, Relation};
use crate::ir::{ComputationId, InstrId};

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
