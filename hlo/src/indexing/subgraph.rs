//! Indexing maps between any two instructions of a computation.

use super::analysis::Analysis;
use super::walk::Walk;
use super::{Direction, Owners, Relation};
use crate::ir::{ComputationId, InstrId};

/// One array of an instruction's value.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The instruction.
    pub instruction: InstrId,
    /// The array of its value, from left to right; 0 where it is no tuple.
    pub leaf: usize,
}

/// All maps from one array to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The array that the maps lead from.
    pub from: Endpoint,
    /// The array that they lead to.
    pub to: Endpoint,
    /// The distinct, simplified maps.
    pub relation: Relation,
}

/// The maps from some instructions of a computation to others that they reach.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Subgraph {
    /// For each array that the maps lead from the arrays reached, in the order in which they are reached; each array is reached
    /// from itself.
    pub groups: Vec<Group>,
    /// The owners of the maps' runtime variables.
    pub owners: Owners,
}

impl Subgraph {
    /// The groups of maps that lead to an array of an instruction.
    pub fn to(&self, instruction: InstrId) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(move |group| group.to.instruction == instruction)
    }
}

impl Analysis<'_> {
    /// All maps from the values of `roots` to all instructions that they are computed from, or, from inputs to outputs, that
    /// are computed from them, going through the instructions of `within` only: those outside of it are reached but not
    /// passed through.
    ///
    /// With the members of a fusion for `within` it is the fusion's maps, with two instructions those of a producer and its
    /// consumer, and from a hero towards outputs those of an epilogue.
    pub fn subgraph(
        &mut self,
        computation: ComputationId,
        roots: &[InstrId],
        direction: Direction,
        within: impl Fn(InstrId) -> bool,
    ) -> Subgraph {
        let mut groups = Vec::new();
        let owner = &self.module().computations[computation];
        let mut walk = Walk::new(self, computation, direction);
        for &root in roots {
            for (leaf, shape) in owner.instructions[root].shape.leaves().into_iter().enumerate() {
                let reached = walk.from((root, leaf, shape), &within);
                let from = Endpoint { instruction: root, leaf };
                let own = reached.into_iter().flat_map(|(instruction, leaves)| {
                    leaves.into_iter().map(move |(leaf, relation)| {
                        let to = Endpoint { instruction, leaf };
                        Group { from, to, relation }
                    })
                });
                let first = groups.len();
                groups.extend(own);
                if direction == Direction::OutputToInput {
                    groups[first..].reverse();
                }
            }
        }
        Subgraph { groups, owners: walk.end() }
    }

    /// All maps from an instruction's value to another's: towards inputs where the other stands before it, else towards
    /// outputs. Without a group where neither is computed from the other.
    pub fn between(&mut self, computation: ComputationId, from: InstrId, to: InstrId) -> Subgraph {
        let direction = if to <= from { Direction::OutputToInput } else { Direction::InputToOutput };
        // No way leads past the one and back to it.
        let lies_between = |id: InstrId| if to <= from { id > to } else { id < to };
        let mut found = self.subgraph(computation, &[from], direction, lies_between);
        found.groups.retain(|group| group.to.instruction == to);
        found
    }
}
