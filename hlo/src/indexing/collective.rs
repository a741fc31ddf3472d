//! Indexing maps of collectives, whose elements other replicas hold.
//!
//! Who is asked stands beside the map as its [`ReplicaId`]. Which part of an array belongs to whom follows from positions in a
//! group. That of whoever is asked is the member number itself. That of the one that asks is known only where it runs: it is a
//! runtime variable of the collective, [`Number::Position`](super::Number::Position).

use weft_affine::{Expr, Interval};
use weft_indexing::{IndexingMap, RuntimeVariable, Variable};

use super::context::{InstructionContext, OperationMaps, dims, index};
use super::replica::{Exchange, Ids, Participants};
use super::{Dependence, ElementMap, Owners, Relation, ReplicaId, Undefined};
use crate::ir::{CollectiveMode, ReplicaGroups, Shape};
use crate::shape::is_in_place;

/// The numbers of a collective that says whether they are of devices.
pub(super) fn ids(channel: Option<i64>, global: bool, mode: Option<CollectiveMode>) -> Ids {
    match mode {
        Some(CollectiveMode::CrossReplica) => Ids::Replicas,
        Some(CollectiveMode::CrossPartition) => Ids::Partitions,
        Some(CollectiveMode::CrossReplicaAndPartition) => Ids::ReplicasWithPartitions,
        Some(CollectiveMode::FlattenedId) => Ids::Devices,
        None if global => Ids::Devices,
        None if channel.is_some() => Ids::ReplicasWithPartitions,
        None => Ids::Replicas,
    }
}

/// The numbers of a collective that cannot say so.
pub(super) fn ids_of_channel(channel: Option<i64>) -> Ids {
    if channel.is_some() { Ids::Partitions } else { Ids::Replicas }
}

/// Of a group that cannot be counted.
const TOO_MANY: Undefined = Undefined::Overflow { what: "the number of members" };

/// A collective of groups among its operands.
pub(super) struct Collective<'s, 'a> {
    context: &'s InstructionContext<'a>,
    exchange: Exchange,
}

impl<'s, 'a> Collective<'s, 'a> {
    /// # Errors
    /// [`Undefined::Mesh`] for groups that are no lists of numbers.
    pub(super) fn new(
        context: &'s InstructionContext<'a>,
        groups: &ReplicaGroups,
        ids: Ids,
    ) -> Result<Collective<'s, 'a>, Undefined> {
        let is_mesh = match groups {
            ReplicaGroups::List(_) => false,
            ReplicaGroups::Iota { dimensions, .. } => dimensions.len() != 2,
            ReplicaGroups::Mesh(_) => true,
        };
        if is_mesh {
            return Err(Undefined::Mesh);
        }
        Ok(Collective { context, exchange: Exchange { participants: Participants::Group(groups.clone()), ids } })
    }

    /// How many members the largest group has.
    ///
    /// # Errors
    /// [`Undefined::Members`] where all are one group, and the header does not say how many there are.
    fn size(&self) -> Result<i64, Undefined> {
        let (replicas, partitions) = running(self.context);
        let everybody = || match (self.exchange.ids, replicas, partitions) {
            (_, None, None) => Err(Undefined::Members),
            (Ids::Replicas, replicas, _) => Ok(replicas.unwrap_or(1)),
            (Ids::Partitions, _, partitions) => Ok(partitions.unwrap_or(1)),
            (Ids::ReplicasWithPartitions | Ids::Devices, replicas, partitions) => {
                let (replicas, partitions) = (replicas.unwrap_or(1), partitions.unwrap_or(1));
                replicas.checked_mul(partitions).ok_or(TOO_MANY)
            }
        };
        let named = match &self.exchange.participants {
            Participants::Group(ReplicaGroups::List(groups)) => match groups.iter().map(Vec::len).max() {
                Some(size) => i64::try_from(size).map_err(|_| TOO_MANY)?,
                None => return everybody(),
            },
            Participants::Group(ReplicaGroups::Iota { dimensions, .. }) => dimensions.last().copied().unwrap_or(1),
            Participants::Group(ReplicaGroups::Mesh(_)) | Participants::Source(_) | Participants::Target(_) => {
                return Err(Undefined::Mesh);
            }
        };
        match self.exchange.ids {
            Ids::ReplicasWithPartitions => named.checked_mul(partitions.unwrap_or(1)).ok_or(TOO_MANY),
            _ => Ok(named),
        }
    }

    /// A map with who is asked.
    fn asking(&self, map: IndexingMap, member: Expr) -> ElementMap {
        let replica_id = Some(ReplicaId::of(self.exchange.clone(), member));
        ElementMap { replica_id, ..ElementMap::exact(map) }
    }

    /// The position of the one that asks among `size` members.
    fn position(&self, size: i64) -> RuntimeVariable {
        RuntimeVariable::of(Owners::position(self.context.id), Vec::new(), Interval::of_extent(size))
    }

    /// Between arrays that lie on all members as parts along a dimension, and arrays of all the parts.
    fn along(&self, dimension: i64, is_to_part: bool) -> OperationMaps {
        let dimension = index(dimension);
        let map = |operand: usize| -> Result<Dependence, Undefined> {
            let (result, operand_extents) = (self.context.result(operand), self.context.operand(operand));
            let (from, to) =
                if self.context.is_backward() { (result, operand_extents) } else { (operand_extents, result) };
            let (whole, part) =
                if is_to_part { (from[dimension], to[dimension]) } else { (to[dimension], from[dimension]) };
            let mut results = dims(from.len());
            let d = results[dimension].clone();
            let found = if is_to_part {
                // An extent of zero has no index to lead from.
                let extent = part.max(1);
                results[dimension] = d.checked_modulo(extent)?;
                self.asking(IndexingMap::of_extents(from, &[], results)?, d.checked_floor_div(extent)?)
            } else {
                let members = if part > 0 { whole / part } else { 1 };
                results[dimension] = Expr::runtime(0).checked_mul(part)?.checked_add(&d)?;
                let map = over(from, &[members], vec![self.position(members)], results)?;
                self.asking(map, Expr::range(0))
            };
            Ok(self.context.on(operand, operand, Relation::Maps(vec![found])))
        };
        (0..self.context.operands()).map(map).collect()
    }
}

/// A map from an array of extents `from`.
fn over(
    from: &[i64],
    ranges: &[i64],
    runtime: Vec<RuntimeVariable>,
    results: Vec<Expr>,
) -> Result<IndexingMap, weft_indexing::Error> {
    let variables = |extents: &[i64]| extents.iter().map(|n| Variable::new(Interval::of_extent(*n))).collect();
    IndexingMap::try_new(variables(from), variables(ranges), runtime, results, Vec::new())
}

/// How many replicas and partitions the header says there are. A header that says one of them means one of the other.
fn running(context: &InstructionContext<'_>) -> (Option<i64>, Option<i64>) {
    context.module.map_or((None, None), |module| (module.replica_count(), module.num_partitions()))
}

/// The parts of all members, joined in the order of the group.
pub(super) fn all_gather(collective: &Collective<'_, '_>, dimension: i64) -> OperationMaps {
    collective.along(dimension, collective.context.is_backward())
}

/// The combined values of all members, of which each keeps the part of its own position.
pub(super) fn reduce_scatter(collective: &Collective<'_, '_>, dimension: i64) -> OperationMaps {
    collective.along(dimension, !collective.context.is_backward())
}

/// The combined values of all members: everybody's element at the same index.
pub(super) fn all_reduce(collective: &Collective<'_, '_>) -> OperationMaps {
    let size = collective.size()?;
    let same = |operand: usize| {
        let extents = collective.context.result(operand);
        let everybody = IndexingMap::of_extents(extents, &[size], dims(extents.len()))?;
        Ok(collective.context.on(operand, operand, Relation::Maps(vec![collective.asking(everybody, Expr::range(0))])))
    };
    (0..collective.context.operands()).map(same).collect()
}

/// With a dimension, part `i` of it goes to member `i`, and what comes from member `i` is part `i`. Without one, operand `i` goes
/// to member `i`, and array `i` of the value comes from it.
pub(super) fn all_to_all(collective: &Collective<'_, '_>, dimension: Option<i64>) -> OperationMaps {
    let context = collective.context;
    let Some(dimension) = dimension.map(index) else { return swapped(collective) };
    let extents = context.result(0);
    let size = collective.size()?;
    let part = match extents[dimension].checked_rem(size) {
        Some(0) => (extents[dimension] / size).max(1),
        _ => return Err(Undefined::Members),
    };
    let mut results = dims(extents.len());
    let d = results[dimension].clone();
    results[dimension] = Expr::runtime(0).checked_mul(part)?.checked_add(&d.checked_modulo(part)?)?;
    let map = over(extents, &[], vec![collective.position(size)], results)?;
    Ok(vec![context.on(0, 0, Relation::Maps(vec![collective.asking(map, d.checked_floor_div(part)?)]))])
}

fn swapped(collective: &Collective<'_, '_>) -> OperationMaps {
    let context = collective.context;
    let count = context.operands();
    let size = i64::try_from(count).unwrap_or(i64::MAX);
    let between = |result: usize, operand: usize| {
        // Who asks for what it yields asks that member for the operand of its own position, and the other way round.
        let (member, own) = if context.is_backward() { (result, operand) } else { (operand, result) };
        let number = |position: usize| i64::try_from(position).unwrap_or(i64::MAX);
        let extents = context.result(result);
        let mut map = over(extents, &[], vec![collective.position(size)], dims(extents.len()))?;
        map.add_constraint(Expr::runtime(0), Interval::new(number(own), number(own)))?;
        let map = collective.asking(map, Expr::constant(number(member)));
        Ok(context.on(result, operand, Relation::Maps(vec![map])))
    };
    (0..count).flat_map(|result| (0..count).map(move |operand| (result, operand))).map(|(r, o)| between(r, o)).collect()
}

/// The value of the first member of the group.
pub(super) fn broadcast(collective: &Collective<'_, '_>) -> OperationMaps {
    let context = collective.context;
    let sent = |operand: usize| -> Result<Dependence, Undefined> {
        let extents = context.result(operand);
        let found = if context.is_backward() {
            collective.asking(IndexingMap::identity(extents), Expr::constant(0))
        } else {
            let size = collective.size()?;
            let mut map = over(extents, &[size], vec![collective.position(size)], dims(extents.len()))?;
            map.add_constraint(Expr::runtime(0), Interval::new(0, 0))?;
            collective.asking(map, Expr::range(0))
        };
        Ok(context.on(operand, operand, Relation::Maps(vec![found])))
    };
    (0..context.operands()).map(sent).collect()
}

/// The value of the member that sends to this one.
///
/// # Errors
/// [`Undefined::InPlace`] for the form that moves parts between places.
pub(super) fn permute(
    context: &InstructionContext<'_>,
    pairs: &[Vec<i64>],
    channel: Option<i64>,
    slice_sizes: &[Vec<i64>],
) -> OperationMaps {
    let operands: Vec<&Shape> = (0..context.operands()).map(|operand| context.operand_shape(operand)).collect();
    if is_in_place(slice_sizes, &operands) {
        return Err(Undefined::InPlace);
    }
    let pairs = pairs.to_vec();
    let participants = if context.is_backward() { Participants::Source(pairs) } else { Participants::Target(pairs) };
    let exchange = Exchange { participants, ids: ids_of_channel(channel) };
    let sent = |operand: usize| {
        let replica_id = Some(ReplicaId::of(exchange.clone(), Expr::constant(0)));
        let map = IndexingMap::identity(context.result(operand));
        context.on(operand, operand, Relation::Maps(vec![ElementMap { replica_id, ..ElementMap::exact(map) }]))
    };
    Ok((0..context.operands()).map(sent).collect())
}
