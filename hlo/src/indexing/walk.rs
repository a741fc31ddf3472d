//! Maps along paths through a computation, by composition.

use std::collections::BTreeMap;

use super::analysis::Analysis;
use super::hops::composed;
use super::links::{Links, Place};
use super::site::extents;
use super::{Direction, ElementMap, MAX_MAPS, Owners, Relation, Undefined};
use crate::ir::{Computation, ComputationId, InstrId, Shape};
use weft_indexing::IndexingMap;

/// For each instruction that is reached the arrays of its value, and through which maps.
pub(super) type Reached = BTreeMap<InstrId, BTreeMap<usize, Relation>>;

/// A dependence, and an array that is reached and that it leads on from.
type Step = (Place, usize, InstrId);

/// Walks through one computation in one direction.
pub(super) struct Walk<'w, 'm> {
    analysis: &'w mut Analysis<'m>,
    links: Links,
    id: ComputationId,
    computation: &'m Computation,
    direction: Direction,
}

impl<'w, 'm> Walk<'w, 'm> {
    pub(super) fn new(analysis: &'w mut Analysis<'m>, id: ComputationId, direction: Direction) -> Walk<'w, 'm> {
        let links = analysis.take_links(id, direction);
        let computation = &analysis.module().computations[id];
        Walk { analysis, links, id, computation, direction }
    }

    /// Keeps what was learned for later walks; who yields the runtime variables of the maps.
    pub(super) fn end(self) -> Owners {
        let owners = self.links.owners.clone();
        self.analysis.put_links(self.id, self.direction, self.links);
        owners
    }

    /// What is reached from the array `leaf` of the value of `from`, of this shape, that array itself included. Instructions that
    /// `passes` refuses are reached but not passed through.
    pub(super) fn from(
        &mut self,
        (from, leaf, shape): (InstrId, usize, &Shape),
        passes: &dyn Fn(InstrId) -> bool,
    ) -> Reached {
        let start = match shape.is_static() {
            true => IndexingMap::identity(extents(shape, 0)).into(),
            false => Relation::Undefined(Undefined::DynamicExtents),
        };
        let mut reached = Reached::from([(from, BTreeMap::from([(leaf, start)]))]);
        let mut pending: BTreeMap<InstrId, Vec<Step>> = BTreeMap::new();
        let mut next = Some((from, Vec::new()));
        while let Some((at, mut steps)) = next {
            steps.sort_unstable();
            let own = self.arrived(at, &steps, &reached);
            if !own.is_empty() {
                reached.insert(at, own);
            }
            if at == from || passes(at) {
                self.go_on(at, &reached, &mut pending);
            }
            // Whatever leads to an instruction lies on one side of it.
            next = match self.direction {
                Direction::OutputToInput => pending.pop_last(),
                Direction::InputToOutput => pending.pop_first(),
            };
        }
        reached
    }

    /// Notes for the instructions that follow `at` how they are reached from it.
    fn go_on(&mut self, at: InstrId, reached: &Reached, pending: &mut BTreeMap<InstrId, Vec<Step>>) {
        let Some(values) = reached.get(&at) else { return };
        let onward = self.analysis.onward(&mut self.links, self.id, at, self.direction);
        for &leaf in values.keys() {
            for place in onward.from(leaf) {
                let holder = place.0.0;
                let to = match self.direction {
                    Direction::InputToOutput => Some(holder),
                    Direction::OutputToInput => {
                        let found = self.analysis.found(&mut self.links, self.id, holder, self.direction);
                        let operand = found.dependences[place.1].operand;
                        operand.map(|operand| self.computation.instructions[holder].operands[operand])
                    }
                };
                if let Some(to) = to {
                    pending.entry(to).or_default().push((place, leaf, at));
                }
            }
        }
    }

    /// The arrays of `at` that these steps lead to.
    fn arrived(&mut self, at: InstrId, steps: &[Step], reached: &Reached) -> BTreeMap<usize, Relation> {
        let mut own = BTreeMap::new();
        let mut everything = None;
        for &(place, leaf, of) in steps {
            // One step from one array to all of which nothing is known says all that another could.
            if everything == Some(place) {
                continue;
            }
            let found = self.analysis.found(&mut self.links, self.id, place.0.0, self.direction);
            let dependence = &found.dependences[place.1];
            let Some(first) = reached.get(&of).and_then(|values| values.get(&leaf)) else { continue };
            let to = match self.direction {
                Direction::OutputToInput => dependence.leaf,
                Direction::InputToOutput => dependence.result,
            };
            let owners = &mut self.links.owners;
            if let Some(leaf) = to {
                add(&mut own, leaf, first, &dependence.relation, owners);
                continue;
            }
            for leaf in 0..self.computation.instructions[at].shape.leaves().len() {
                add(&mut own, leaf, first, &dependence.relation, owners);
            }
            if dependence.relation.undefined().is_some() {
                everything = Some(place);
            }
        }
        own
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

/// Adds a map to those that differ, and leaves out what another one covers; of a map that is exact in one place and coarse in
/// another the exact one is all that is needed.
fn insert(maps: &mut Vec<ElementMap>, new: ElementMap) {
    if let Some(known) = maps.iter_mut().find(|known| known.map == new.map && known.replica_id == new.replica_id) {
        known.coarse = known.coarse.and(new.coarse);
        return;
    }
    if maps.iter().any(|known| is_covered(&new, known)) {
        return;
    }
    maps.retain(|known| !is_covered(known, &new));
    maps.push(new);
}

/// True when all that the map says, the other one says as well. A coarse map does not say of any element that it is read.
fn is_covered(map: &ElementMap, other: &ElementMap) -> bool {
    let is_here = map.replica_id.is_none() && other.replica_id.is_none();
    let is_as_exact = map.coarse.is_some() || other.coarse.is_none();
    // Simplified results that differ are rarely the same.
    is_here && is_as_exact && map.map.results == other.map.results && map.map.is_covered_by(&other.map)
}
