//! Collectives of one device.

use super::{ElementType, Instruction, Module, Op, ReplicaGroups, Shape};

/// What a collective yields of which nobody else is part.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Alone {
    /// What it was given.
    Given,
    /// Zeros: nobody sends anything.
    Zeros,
    /// What is written to, with parts of what was given.
    Placed,
}

impl Alone {
    /// That of an operation in a module for one device; `None` for what is no collective, and for those that name others or end one that was begun.
    pub(crate) fn of(op: &Op) -> Option<Alone> {
        let given = |is_alone: bool| is_alone.then_some(Alone::Given);
        match op {
            Op::AllGather { replica_groups, .. }
            | Op::AllGatherStart { replica_groups, .. }
            | Op::AllReduce { replica_groups, .. }
            | Op::AllReduceStart { replica_groups, .. }
            | Op::ReduceScatter { replica_groups, .. }
            | Op::AllToAll { replica_groups, .. } => given(have_one(replica_groups)),
            Op::CollectiveBroadcast { replica_groups, .. } if have_one(replica_groups) => Some(match replica_groups {
                ReplicaGroups::List(groups) if groups.iter().all(|group| group != &[0]) && !groups.is_empty() => {
                    Alone::Zeros
                }
                _ => Alone::Given,
            }),
            Op::CollectivePermute { source_target_pairs, slice_sizes, .. }
            | Op::CollectivePermuteStart { source_target_pairs, slice_sizes, .. }
                if slice_sizes.is_empty() =>
            {
                match &source_target_pairs[..] {
                    [] => Some(Alone::Zeros),
                    pairs => given(pairs.iter().all(|pair| pair == &[0, 0])),
                }
            }
            Op::RaggedAllToAll { replica_groups, .. } if have_one(replica_groups) => Some(Alone::Placed),
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

/// Whether an operation exchanges values with other devices, or begins to.
pub(crate) fn is_collective(op: &Op) -> bool {
    matches!(
        op,
        Op::AllGather { .. }
            | Op::AllGatherStart { .. }
            | Op::AllReduce { .. }
            | Op::AllReduceStart { .. }
            | Op::ReduceScatter { .. }
            | Op::AllToAll { .. }
            | Op::RaggedAllToAll { .. }
            | Op::CollectiveBroadcast { .. }
            | Op::CollectivePermute { .. }
            | Op::CollectivePermuteStart { .. }
    )
}

/// Whether what an operation begins to exchange is the second element of its value, behind what it was given.
pub(crate) fn keeps_what_it_was_given(op: &Op) -> bool {
    matches!(op, Op::AllGatherStart { .. } | Op::CollectivePermuteStart { .. })
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
    let given: Vec<_> = operands.map(extents).collect();
    let fits = match &instruction.op {
        Op::RaggedAllToAll { dimension, .. } => {
            given.into_iter().collect::<Option<Vec<_>>>().is_some_and(|given| are_parts(&given, dimension.unwrap_or(0)))
        }
        op => {
            let second = || instruction.shape.as_tuple().and_then(|elements| elements.get(1));
            let result = if keeps_what_it_was_given(op) { second() } else { Some(&instruction.shape) };
            result.is_some_and(|result| result.leaves().into_iter().map(extents).eq(given))
        }
    };
    (is_one && fits).then_some(alone)
}

/// Whether the operands of a `ragged-all-to-all` are an input and an output that differ along the dimension at most, and
/// offsets and sizes of as many parts each.
fn are_parts(operands: &[(ElementType, Vec<i64>)], dimension: i64) -> bool {
    let [(_, input), (_, output), (_, first), rest @ ..] = operands else { return false };
    let Some(dimension) = usize::try_from(dimension).ok().filter(|dimension| *dimension < output.len()) else {
        return false;
    };
    let mut others = input.iter().zip(output).enumerate().filter(|(at, _)| *at != dimension);
    input.len() == output.len() && others.all(|(_, (a, b))| a == b) && rest.iter().all(|(_, extents)| extents == first)
}
