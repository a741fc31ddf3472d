//! Operations that call computations: their maps are those of the computation from its root to its parameters.

use super::analysis::Analysis;
use super::{Dependence, Direction, ElementMap, Owners, Relation};
use crate::ir::{ComputationId, InstrId, Instruction};

impl Analysis<'_> {
    /// The dependences of an instruction whose operands from `first` on are the parameters of what it calls, and whose value
    /// is that of the callee's root.
    pub(super) fn call(
        &mut self,
        id: InstrId,
        instruction: &Instruction,
        callee: ComputationId,
        first: usize,
        direction: Direction,
        owners: &mut Owners,
    ) -> Vec<Dependence> {
        let inner = self.through(callee, direction);
        let operands = &instruction.operands[first..];
        let computation = &self.module().computations[callee];
        let mut found = Vec::with_capacity(inner.dependences.len());
        for dependence in &inner.dependences {
            let relation = match &dependence.relation {
                Relation::Maps(maps) => Relation::Maps(
                    maps.iter()
                        .map(|map| ElementMap {
                            map: owners.lifted(&map.map, id, operands, computation, &inner.owners),
                            ..map.clone()
                        })
                        .collect(),
                ),
                undefined @ Relation::Undefined(_) => undefined.clone(),
            };
            let operand = dependence.operand.map(|parameter| first + parameter);
            found.push(Dependence { operand, relation, ..dependence.clone() });
        }
        found
    }

    /// One of several computations runs, as the first operand chooses.
    pub(super) fn conditional(
        &mut self,
        id: InstrId,
        instruction: &Instruction,
        branches: &[ComputationId],
        direction: Direction,
        owners: &mut Owners,
    ) -> Vec<Dependence> {
        let mut found = Vec::new();
        for (position, branch) in branches.iter().enumerate() {
            let only = Instruction { operands: instruction.operands[..position + 2].into(), ..instruction.clone() };
            found.extend(self.call(id, &only, *branch, position + 1, direction, owners));
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
