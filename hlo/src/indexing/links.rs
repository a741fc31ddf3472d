//! The dependence graph of a computation, by arrays.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::analysis::Analysis;
use super::{Dependence, Direction, Owners};
use crate::ir::{ArenaId, Computation, ComputationId, InstrId};

/// What is known of a computation in one direction. Each instruction is asked for its dependences once, when a walk first
/// comes to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    /// Who yields the runtime variables of all maps found.
    pub(super) owners: Owners,
    found: BTreeMap<InstrId, Arc<InstructionLinks>>,
    onward: BTreeMap<InstrId, Arc<OutgoingDependences>>,
    /// The users of each instruction; found when first needed.
    users: Option<Arc<Vec<Users>>>,
}

/// Those that have an instruction for an operand, and which operand.
type Users = Vec<(InstrId, usize)>;

/// The dependences of one instruction.
#[derive(Debug)]
pub(super) struct InstructionLinks {
    pub(super) dependences: Vec<Dependence>,
    /// Operands and the positions of their dependences, in order.
    by_operand: Vec<(usize, usize)>,
}

/// A dependence: the instruction that it is of, and its position among those of the instruction. In the order in which walks
/// take them: those of users of a value before those of what is used.
pub(super) type LinkPosition = (Reverse<InstrId>, usize);

/// The dependences that lead on from a value.
#[derive(Debug, Default)]
pub(super) struct OutgoingDependences {
    /// Dependences that lead on from one array, in the order of arrays.
    from_one: Vec<(usize, LinkPosition)>,
    /// Dependences that lead on from every array.
    from_all: Vec<LinkPosition>,
}

impl OutgoingDependences {
    fn insert(&mut self, leaf: Option<usize>, place: LinkPosition) {
        match leaf {
            Some(leaf) => self.from_one.push((leaf, place)),
            None => self.from_all.push(place),
        }
    }

    /// The dependences that lead on from an array.
    pub(super) fn from(&self, leaf: usize) -> impl Iterator<Item = LinkPosition> {
        let first = self.from_one.partition_point(|(own, _)| *own < leaf);
        let own = self.from_one[first..].iter().take_while(move |(own, _)| *own == leaf).map(|(_, place)| *place);
        own.chain(self.from_all.iter().copied())
    }
}

impl InstructionLinks {
    fn new(dependences: Vec<Dependence>) -> InstructionLinks {
        let operands = dependences.iter().map(|dependence| dependence.operand);
        let mut by_operand: Vec<(usize, usize)> =
            operands.enumerate().filter_map(|(position, operand)| Some((operand?, position))).collect();
        by_operand.sort_unstable();
        InstructionLinks { dependences, by_operand }
    }

    /// The positions of the dependences on an operand.
    fn on(&self, operand: usize) -> impl Iterator<Item = usize> {
        let first = self.by_operand.partition_point(|(own, _)| *own < operand);
        self.by_operand[first..].iter().take_while(move |(own, _)| *own == operand).map(|(_, position)| *position)
    }
}

fn users(computation: &Computation) -> Vec<Users> {
    let mut users = vec![Users::new(); computation.instructions.len()];
    for (id, instruction) in computation.instructions.iter() {
        for (operand, of) in instruction.operands.iter().enumerate() {
            users[of.index()].push((id, operand));
        }
    }
    users
}

impl Analysis<'_> {
    /// The dependences of an instruction.
    pub(super) fn found(
        &mut self,
        links: &mut Links,
        computation: ComputationId,
        id: InstrId,
        direction: Direction,
    ) -> Arc<InstructionLinks> {
        if let Some(known) = links.found.get(&id) {
            return Arc::clone(known);
        }
        let found = Arc::new(InstructionLinks::new(self.dependences(computation, id, direction, &mut links.owners)));
        links.found.insert(id, Arc::clone(&found));
        found
    }

    /// The dependences that lead on from the value of an instruction: its own towards inputs, those of its users towards
    /// outputs.
    pub(super) fn onward(
        &mut self,
        links: &mut Links,
        computation: ComputationId,
        id: InstrId,
        direction: Direction,
    ) -> Arc<OutgoingDependences> {
        if let Some(known) = links.onward.get(&id) {
            return Arc::clone(known);
        }
        let mut onward = OutgoingDependences::default();
        match direction {
            Direction::OutputToInput => {
                for (position, dependence) in
                    self.found(links, computation, id, direction).dependences.iter().enumerate()
                {
                    if dependence.operand.is_some() {
                        onward.insert(dependence.result, (Reverse(id), position));
                    }
                }
            }
            Direction::InputToOutput => {
                let owner = &self.module().computations[computation];
                let users = Arc::clone(links.users.get_or_insert_with(|| Arc::new(users(owner))));
                for &(user, operand) in &users[id.index()] {
                    let found = self.found(links, computation, user, direction);
                    for position in found.on(operand) {
                        onward.insert(found.dependences[position].leaf, (Reverse(user), position));
                    }
                }
            }
        }
        onward.from_one.sort_unstable();
        let onward = Arc::new(onward);
        links.onward.insert(id, Arc::clone(&onward));
        onward
    }
}
