//! Traversal of a computation that composes the maps along every path.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::analysis::Analysis;
use super::compose::composed;
use super::context::extents;
use super::links::{LinkPosition, Links};
use super::{Dependence, Direction, ElementMap, KnownValues, MAX_MAPS, Owners, Relation, Undefined};
use crate::ir::{Computation, ComputationId, InstrId, Shape};
use weft_affine::Interval;
use weft_indexing::{IndexingMap, Limits, Variable};

/// For each instruction that is reached the arrays of its value, and through which maps.
pub(super) type Reached = BTreeMap<InstrId, BTreeMap<usize, Relation>>;

/// The maps by which an array is reached.
#[derive(Clone, Debug, Default)]
struct ReachedArray {
    /// Why it is not known which elements are reached.
    undefined: Option<Undefined>,
    /// The maps to it. Where it is not known which elements are reached, also those from where that was known last, to tell
    /// whether what follows is reached at all.
    maps: Vec<ElementMap>,
    /// True where any element may be reached, so that no further way tells more.
    is_whole: bool,
}

/// For each instruction the arrays of its value that are reached.
type ReachedArrays = BTreeMap<InstrId, BTreeMap<usize, ReachedArray>>;

/// A dependence, and an array that is reached and that it leads on from.
type Step = (LinkPosition, usize, InstrId);

/// Walks through one computation in one direction.
pub(super) struct Walk<'w, 'm> {
    analysis: &'w mut Analysis<'m>,
    links: Links,
    id: ComputationId,
    computation: &'m Computation,
    direction: Direction,
    /// The arrays of tuples that were reached.
    arrays: BTreeMap<InstrId, Arc<Vec<&'m Shape>>>,
}

impl<'w, 'm> Walk<'w, 'm> {
    pub(super) fn new(analysis: &'w mut Analysis<'m>, id: ComputationId, direction: Direction) -> Walk<'w, 'm> {
        let links = analysis.take_links(id, direction);
        let computation = &analysis.module().computations[id];
        Walk { analysis, links, id, computation, direction, arrays: BTreeMap::new() }
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
        let mut start = ReachedArray { maps: vec![ElementMap::exact(everything(shape))], ..ReachedArray::default() };
        if !shape.is_static() {
            start.lose(Undefined::DynamicExtents, shape);
        }
        let mut reached = BTreeMap::from([(from, BTreeMap::from([(leaf, start)]))]);
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
        let relations = |values: BTreeMap<usize, ReachedArray>| {
            values.into_iter().map(|(leaf, value)| (leaf, value.relation())).collect()
        };
        reached.into_iter().map(|(id, values)| (id, relations(values))).collect()
    }

    /// The arrays of an instruction's value.
    fn arrays(&mut self, id: InstrId) -> Arc<Vec<&'m Shape>> {
        let shape = &self.computation.instructions[id].shape;
        Arc::clone(self.arrays.entry(id).or_insert_with(|| Arc::new(shape.leaves())))
    }

    /// Notes for the instructions that follow `at` how they are reached from it.
    fn go_on(&mut self, at: InstrId, reached: &ReachedArrays, pending: &mut BTreeMap<InstrId, Vec<Step>>) {
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
    fn arrived(&mut self, at: InstrId, steps: &[Step], reached: &ReachedArrays) -> BTreeMap<usize, ReachedArray> {
        let mut own: BTreeMap<usize, ReachedArray> = BTreeMap::new();
        if steps.is_empty() {
            return own;
        }
        let arrays = self.arrays(at);
        let values = KnownValues::new(self.analysis.module(), self.id);
        let mut whole = None;
        for &(place, leaf, of) in steps {
            // One step from one array to all of which nothing is known says all that another could.
            if whole == Some(place) {
                continue;
            }
            let found = self.analysis.found(&mut self.links, self.id, place.0.0, self.direction);
            let Dependence { result, leaf: read, relation, .. } = &found.dependences[place.1];
            let Some(first) = reached.get(&of).and_then(|values| values.get(&leaf)) else { continue };
            let to = match self.direction {
                Direction::OutputToInput => *read,
                Direction::InputToOutput => *result,
            };
            let chosen = to.map_or(0..arrays.len(), |leaf| leaf..leaf + 1);
            for leaf in chosen {
                let Some(shape) = arrays.get(leaf) else { continue };
                let known = own.entry(leaf).or_default();
                known.add(first, relation, shape, &mut self.links.owners, values);
                if known.maps.is_empty() {
                    own.remove(&leaf);
                }
            }
            if to.is_none() && relation.undefined().is_some() && first.has_elements() {
                whole = Some(place);
            }
        }
        own
    }
}

/// The identity on an array; extents that are not known have no bounds.
fn everything(shape: &Shape) -> IndexingMap {
    let mut map = IndexingMap::identity(extents(shape, 0));
    if !shape.is_static() {
        let dims = vec![Variable::new(Interval::EVERYTHING); map.dims().len()];
        let results = map.results().to_vec();
        map = IndexingMap::try_new(dims, Vec::new(), Vec::new(), results, Vec::new())
            .expect("the results are the dimensions");
    }
    map
}

impl ReachedArray {
    fn relation(self) -> Relation {
        match self.undefined {
            Some(reason) => Relation::Undefined(reason),
            None => Relation::Maps(self.maps),
        }
    }

    /// True where any element may be reached.
    fn has_elements(&self) -> bool {
        self.maps.iter().any(|map| !map.map.is_known_empty())
    }

    /// Nothing more is known of an array of this shape; one without elements is not reached.
    fn lose(&mut self, reason: Undefined, shape: &Shape) {
        let whole = everything(shape);
        if !whole.is_known_empty() {
            let undefined = self.undefined.take().or(Some(reason));
            *self = ReachedArray { undefined, maps: vec![ElementMap::exact(whole)], is_whole: true };
        }
    }

    /// Adds a way to an array of this shape: `first`, and then `then`.
    fn add(
        &mut self,
        first: &ReachedArray,
        then: &Relation,
        shape: &Shape,
        owners: &mut Owners,
        values: KnownValues<'_>,
    ) {
        if self.is_whole {
            return;
        }
        match then {
            Relation::Undefined(reason) => {
                if first.has_elements() {
                    self.lose(first.undefined.as_ref().unwrap_or(reason).clone(), shape);
                }
            }
            Relation::Maps(then) => match through(&first.maps, then, &mut self.maps, owners, values) {
                Ok(true) => self.undefined = self.undefined.take().or_else(|| first.undefined.clone()),
                Ok(false) => {}
                Err(reason) => self.lose(first.undefined.clone().unwrap_or(reason), shape),
            },
        }
    }
}

/// Adds the compositions of maps to others; true where any has elements.
fn through(
    first: &[ElementMap],
    then: &[ElementMap],
    maps: &mut Vec<ElementMap>,
    owners: &mut Owners,
    values: KnownValues<'_>,
) -> Result<bool, Undefined> {
    let mut has_elements = false;
    for first in first {
        for then in then {
            if first.map.is_known_empty() || then.map.is_known_empty() {
                continue;
            }
            let composed = composed(first, then, owners, values)?;
            if !composed.map.is_known_empty() {
                has_elements = true;
                insert(maps, composed);
            }
        }
    }
    if maps.len() > MAX_MAPS { Err(Undefined::TooManyMaps) } else { Ok(has_elements) }
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
    is_here
        && is_as_exact
        && map.map.results() == other.map.results()
        && map.map.is_subset_of(&other.map, &Limits::STRUCTURE).is_yes()
}
