//! The replica that holds an element which a collective reads.

use std::fmt;

use weft_affine::Expr;

use crate::ir::ReplicaGroups;

/// The replica that holds an element, as seen from the replica that asks for it: the exchanges in between, the first one asked
/// first.
///
/// # Text
///
/// The exchanges with ` then ` between them: who is asked by the last one holds the element. Each is written as
///
/// | exchange | text |
/// |---|---|
/// | of groups | `replica_groups={{0,1},{2,3}}[d0 floordiv 4]`: in the group of the one that asks the member of this number, from 0, in the order of the group |
/// | of one group, of all from 0 on in order | `d0 floordiv 4`: this number |
/// | of pairs | `source_target_pairs={{0,1},{1,2}}[source]`: the one that sends to the one that asks; `[target]`: the one that it sends to |
///
/// in the variables of the map that it stands beside. The numbers are those of replicas; `partition`, `replica and partition`
/// or `device` in front says that they are of those; see [`Ids`].
///
/// Whoever is in no group, or in no pair, asks nobody, and so does who asks for a member that its group does not have (groups
/// of one exchange may have different sizes): then the map leads nowhere.
///
/// ```
/// use weft_hlo::{indexing, text};
///
/// let module = text::parse(
///     "HloModule m\nENTRY e {\n p = f32[4] parameter(0)\n ROOT g = f32[8] all-gather(p), replica_groups={{0,1},{2,3}}, dimensions={0}\n}",
/// )?;
/// let root = module.entry_computation().root;
/// let found = indexing::Analysis::new(&module).instruction(module.entry, root, indexing::Direction::OutputToInput);
/// let gathered = &found.dependences[0].relation.maps()[0];
/// assert_eq!(gathered.map.to_string(), "(d0) -> (d0 mod 4), domain: d0 in [0, 7]");
/// let replica = gathered.replica_id.as_ref().map(ToString::to_string);
/// assert_eq!(replica.as_deref(), Some("replica_groups={{0,1},{2,3}}[d0 floordiv 4]"));
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaId {
    /// Never empty.
    pub steps: Vec<ExchangeStep>,
}

/// One exchange, and the member that is asked in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExchangeStep {
    /// The exchange of the collective.
    pub exchange: Exchange,
    /// The member of the asking participant's group, from 0, over the variables of the map; 0 for pairs.
    pub member: Expr,
}

/// The exchange of a collective: its participants, and the kind of their numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Exchange {
    /// The participants.
    pub participants: Participants,
    /// The kind of the participants' numbers.
    pub ids: Ids,
}

/// The participants of an exchange.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Participants {
    /// The members of the asking participant's group; without groups all are one group, in ascending order.
    Group(ReplicaGroups),
    /// The source in the pair of a source and a target whose target is the asking participant.
    Source(Vec<Vec<i64>>),
    /// The target in the pair whose source is the asking participant.
    Target(Vec<Vec<i64>>),
}

/// The kinds of numbers in groups and pairs.
///
/// A program runs on `replica_count` times `num_partitions` devices. The modes are those of XLA's operation semantics.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ids {
    /// Replicas; the member asked has the asking device's partition number. The default without a channel.
    Replicas,
    /// Partitions; the member asked has the asking device's replica number.
    Partitions,
    /// Replicas with all their partitions, in this order: all partitions of the group's first replica, of its second, …
    ReplicasWithPartitions,
    /// Devices: `replica * num_partitions + partition`.
    Devices,
}

impl ReplicaId {
    pub(super) fn of(exchange: Exchange, member: Expr) -> ReplicaId {
        ReplicaId { steps: vec![ExchangeStep { exchange, member }] }
    }
}

impl Participants {
    /// True where a member's number is its position in the one group that there is.
    fn is_everybody_in_order(&self) -> bool {
        match self {
            Participants::Group(ReplicaGroups::List(groups)) => match groups.as_slice() {
                [] => true,
                [only] => (0..).zip(only).all(|(position, &member): (i64, _)| position == member),
                _ => false,
            },
            Participants::Group(ReplicaGroups::Iota { dimensions, transpose, .. }) => {
                let is_in_order = (0..).zip(transpose).all(|(position, &of): (i64, _)| position == of);
                matches!(dimensions.as_slice(), [1, _]) && is_in_order
            }
            Participants::Group(ReplicaGroups::Mesh(_)) | Participants::Source(_) | Participants::Target(_) => false,
        }
    }
}

/// See [`ReplicaId`].
impl fmt::Display for ReplicaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.steps.iter().enumerate() {
            write!(f, "{}{step}", if position > 0 { " then " } else { "" })?;
        }
        Ok(())
    }
}

/// See [`ReplicaId`].
impl fmt::Display for ExchangeStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exchange { participants, ids } = &self.exchange;
        match ids {
            Ids::Replicas => {}
            Ids::Partitions => f.write_str("partition ")?,
            Ids::ReplicasWithPartitions => f.write_str("replica and partition ")?,
            Ids::Devices => f.write_str("device ")?,
        }
        match participants {
            participants if participants.is_everybody_in_order() => self.member.fmt(f),
            Participants::Group(groups) => write!(f, "replica_groups={groups}[{}]", self.member),
            Participants::Source(pairs) => write!(f, "source_target_pairs={}[source]", Braced(pairs)),
            Participants::Target(pairs) => write!(f, "source_target_pairs={}[target]", Braced(pairs)),
        }
    }
}

/// Pairs as a collective's attribute shows them.
struct Braced<'a>(&'a [Vec<i64>]);

impl fmt::Display for Braced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let pairs: Vec<String> = self.0.iter().map(|pair| format!("{{{}}}", list(pair))).collect();
        write!(f, "{{{}}}", pairs.join(","))
    }
}
