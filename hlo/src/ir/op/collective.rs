//! Who takes part in a collective.

use std::fmt;

use super::{CollectiveMode, Op};

/// The groups of a collective. Members of one group exchange data; no group at all means one group of everybody.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplicaGroups {
    /// `{{0,1},{2,3}}`
    List(Vec<Vec<i64>>),
    /// `[2,4]<=[4,2]T(1,0)`: the numbers from 0 on, laid out in an array of the extents `reshape`, transposed by
    /// `transpose`, and cut into rows: one group per row of the extents `dimensions`.
    Iota {
        /// Groups, then members of each; more than two extents name the axes of a mesh.
        dimensions: Vec<i64>,
        /// The extents of the array the numbers are laid out in.
        reshape: Vec<i64>,
        /// The transposition of that array; empty where there is none.
        transpose: Vec<i64>,
    },
    /// A form that names the axes of a device mesh, as in the text.
    Mesh(String),
}

impl Op {
    /// Whether this is a collective whose groups name replicas, each standing for all its partitions: one over a channel
    /// that does not say otherwise. A group then has as many members as it names, times the partitions of the module
    /// ([`Module::num_partitions`](crate::ir::Module::num_partitions)).
    pub fn names_replicas_of_all_partitions(&self) -> bool {
        let (channel, global, mode) = match self {
            Op::AllGather { channel_id, use_global_device_ids, .. }
            | Op::AllGatherStart { channel_id, use_global_device_ids, .. } => {
                (channel_id, *use_global_device_ids, &None)
            }
            Op::AllReduce { channel_id, use_global_device_ids, mode, .. }
            | Op::AllReduceStart { channel_id, use_global_device_ids, mode, .. }
            | Op::ReduceScatter { channel_id, use_global_device_ids, mode, .. } => {
                (channel_id, *use_global_device_ids, mode)
            }
            _ => return false,
        };
        match mode {
            Some(mode) => *mode == CollectiveMode::CrossReplicaAndPartition,
            None => channel.is_some() && !global,
        }
    }
}

impl Default for ReplicaGroups {
    fn default() -> Self {
        ReplicaGroups::List(Vec::new())
    }
}

/// Numbers with commas between them.
pub(super) struct Commas<'a>(pub(super) &'a [i64]);

impl fmt::Display for Commas<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, number) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if position > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

/// `{{0,1},{2,3}}`
pub(super) struct Braced<'a>(pub(super) &'a [Vec<i64>]);

impl fmt::Display for Braced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, group) in self.0.iter().enumerate() {
            write!(f, "{}{{{}}}", if position > 0 { "," } else { "" }, Commas(group))?;
        }
        f.write_str("}")
    }
}

impl fmt::Display for ReplicaGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplicaGroups::List(groups) => Braced(groups).fmt(f),
            ReplicaGroups::Iota { dimensions, reshape, transpose } => {
                write!(f, "[{}]<=[{}]", Commas(dimensions), Commas(reshape))?;
                if transpose.is_empty() { Ok(()) } else { write!(f, "T({})", Commas(transpose)) }
            }
            ReplicaGroups::Mesh(text) => f.write_str(text),
        }
    }
}
