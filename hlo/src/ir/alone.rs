//! Collectives of one device.

use super::{Instruction, Module, Op, ReplicaGroups, Shape};

/// What a collective yields of which nobody else is part.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Alone {
    /// What it was given.
    Given,
    /// Zeros: nobody sends anything.
    Zeros,
}

impl Alone {
    /// That of an operation in a module for one device; `None` for what is no collective, and for those that name others or go on with one that was begun.
    pub(crate) fn of(op: &Op) -> Option<Alone> {
        let given = |is_alone: bool| is_alone.then_some(Alone::Given);
        match op {
            Op::AllGather { replica_groups, .. }
            | Op::AllReduce { replica_groups, .. }
            | Op::ReduceScatter { replica_groups, .. }
            | Op::AllToAll { replica_groups, .. } => given(have_one(replica_groups)),
            Op::CollectiveBroadcast { replica_groups, .. } if have_one(replica_groups) => Some(match replica_groups {
                ReplicaGroups::List(groups) if groups.iter().all(|group| group != &[0]) && !groups.is_empty() => {
                    Alone::Zeros
                }
                _ => Alone::Given,
            }),
            Op::CollectivePermute { source_target_pairs, slice_sizes, .. } if slice_sizes.is_empty() => {
                match &source_target_pairs[..] {
                    [] => Some(Alone::Zeros),
                    pairs => given(pairs.iter().all(|pair| pair == &[0, 0])),
                }
            }
            _ => None,
        }
    }
}

/// Whether each group has one member.
fn have_one(groups: &ReplicaGroups) -> bool {
    match groups {
        ReplicaGroups::List(groups) => groups.iter().all(|group| group.len() == 1),
        ReplicaGroups::Iota { dimensions, .. } => dimensions.iter().product::<i64>() == 1,
        ReplicaGroups::Mesh(_) => true,
    }
}

/// Whether an operation exchanges values with other devices at once.
pub(crate) fn is_collective(op: &Op) -> bool {
    matches!(
        op,
        Op::AllGather { .. }
            | Op::AllReduce { .. }
            | Op::ReduceScatter { .. }
            | Op::AllToAll { .. }
            | Op::CollectiveBroadcast { .. }
            | Op::CollectivePermute { .. }
    )
}

/// What an instruction of these operands yields where nobody else is part of the collective that it is: the module is for one device, and what is given has the shape of what is
/// wanted.
pub(crate) fn alone<'s>(
    module: &Module,
    instruction: &Instruction,
    operands: impl Iterator<Item = &'s Shape>,
) -> Option<Alone> {
    let alone = Alone::of(&instruction.op)?;
    let is_one = module.replica_count().unwrap_or(1) == 1 && module.num_partitions().unwrap_or(1) == 1;
    let extents = |shape: &Shape| shape.as_array().map(|array| (array.element_type, array.extents.clone()));
    let wanted: Vec<_> = instruction.shape.leaves().into_iter().map(extents).collect();
    (is_one && operands.map(extents).eq(wanted)).then_some(alone)
}
