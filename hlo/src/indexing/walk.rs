//! Maps along paths through a computation, by composition.

use std::collections::BTreeMap;

use super::analysis::Analysis;
use super::hops::composed;
use super::site::extents;
use super::{Dependence, Direction, ElementMap, MAX_MAPS, Owners, Relation, Undefined};
use crate::ir::{ArenaId, ComputationId, InstrId};
use weft_indexing::IndexingMap;

/// For each instruction the arrays of its value that are reached, and through which maps.
pub(super) type Reached = Vec<BTreeMap<usize, Relation>>;

impl Analysis<'_> {
    /// What is reached from the array `leaf` of the value of `from`, that array itself included. Instructions that `passes`
    /// refuses are reached but not passed through.
    pub(super) fn walk(
        &mut self,
        id: ComputationId,
        from: (InstrId, usize),
        direction: Direction,
        passes: &dyn Fn(InstrId) -> bool,
        owners: &mut Owners,
    ) -> Reached {
        let computation = &self.module().computations[id];
        let (from, leaf) = from;
        let mut reached: Reached = vec![BTreeMap::new(); computation.instructions.len()];
        let shape = &computation.instructions[from].shape;
        let start = match shape.is_static() {
            true => IndexingMap::identity(extents(shape, leaf)).into(),
            false => Relation::Undefined(Undefined::DynamicExtents),
        };
        reached[from.index()].insert(leaf, start);
        let ids = computation.instructions.ids();
        match direction {
            Direction::OutputToInput => {
                for at in ids.take(from.index() + 1).rev() {
                    let passed = at == from || passes(at);
                    if !passed || reached[at.index()].is_empty() {
                        continue;
                    }
                    let values = std::mem::take(&mut reached[at.index()]);
                    for dependence in self.dependences(id, at, direction, owners) {
                        let Some(operand) = dependence.operand else { continue };
                        let to = computation.instructions[at].operands[operand];
                        let leaves = || computation.instructions[to].shape.leaves().len();
                        step(
                            &values,
                            dependence.result,
                            dependence.leaf,
                            leaves,
                            &dependence,
                            &mut reached[to.index()],
                            owners,
                        );
                    }
                    reached[at.index()] = values;
                }
            }
            Direction::InputToOutput => {
                for at in ids.skip(from.index() + 1) {
                    let instruction = &computation.instructions[at];
                    let is_next = |operand: &InstrId| {
                        !reached[operand.index()].is_empty() && (*operand == from || passes(*operand))
                    };
                    if !instruction.operands.iter().any(is_next) {
                        continue;
                    }
                    let mut own = BTreeMap::new();
                    for dependence in self.dependences(id, at, direction, owners) {
                        let Some(operand) = dependence.operand.map(|operand| instruction.operands[operand]) else {
                            continue;
                        };
                        if is_next(&operand) {
                            let leaves = || instruction.shape.leaves().len();
                            let values = &reached[operand.index()];
                            step(values, dependence.leaf, dependence.result, leaves, &dependence, &mut own, owners);
                        }
                    }
                    reached[at.index()] = own;
                }
            }
        }
        reached
    }
}

/// Goes on from the arrays `of` of a value reached through `values` to the arrays `to` of another, of which there are
/// `leaves`.
fn step(
    values: &BTreeMap<usize, Relation>,
    of: Option<usize>,
    to: Option<usize>,
    leaves: impl Fn() -> usize,
    dependence: &Dependence,
    reached: &mut BTreeMap<usize, Relation>,
    owners: &mut Owners,
) {
    let from: Vec<&Relation> = match of {
        Some(leaf) => values.get(&leaf).into_iter().collect(),
        None => values.values().collect(),
    };
    for relation in from {
        match to {
            Some(leaf) => add(reached, leaf, relation, &dependence.relation, owners),
            None => (0..leaves()).for_each(|leaf| add(reached, leaf, relation, &dependence.relation, owners)),
        }
    }
}

/// Adds the composition of two relations to what an array is reached through.
fn add(reached: &mut BTreeMap<usize, Relation>, leaf: usize, first: &Relation, then: &Relation, owners: &mut Owners) {
    if then == &Relation::Maps(Vec::new()) || first == &Relation::Maps(Vec::new()) {
        return;
    }
    let known = reached.entry(leaf).or_insert_with(|| Relation::Maps(Vec::new()));
    let Relation::Maps(maps) = known else { return };
    let undefined = match (first, then) {
        (Relation::Undefined(reason), _) | (_, Relation::Undefined(reason)) => Some(reason.clone()),
        (Relation::Maps(first), Relation::Maps(then)) => through(first, then, maps, owners).err(),
    };
    if let Some(reason) = undefined {
        *known = Relation::Undefined(reason);
    } else if maps.is_empty() {
        reached.remove(&leaf);
    }
}

fn through(
    first: &[ElementMap],
    then: &[ElementMap],
    maps: &mut Vec<ElementMap>,
    owners: &mut Owners,
) -> Result<(), Undefined> {
    for first in first {
        for then in then {
            let composed = composed(first, then, owners)?;
            if !composed.map.is_known_empty() {
                insert(maps, composed);
            }
        }
    }
    if maps.len() > MAX_MAPS { Err(Undefined::TooManyMaps) } else { Ok(()) }
}

/// Adds a map to those that differ; of a map that is exact in one place and coarse in another the exact one is all that is needed.
fn insert(maps: &mut Vec<ElementMap>, new: ElementMap) {
    match maps.iter_mut().find(|known| known.map == new.map && known.replica_id == new.replica_id) {
        Some(known) => known.coarse = known.coarse.and(new.coarse),
        None => maps.push(new),
    }
}
