//! Which replica holds an element that a collective reads.

use weft_affine::Expr;

use crate::ir::ReplicaGroups;

/// The replica that holds an element, as seen from the replica that asks for it: the exchanges in between, the first one asked
/// first.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaId {
    /// Never empty.
    pub hops: Vec<Hop>,
}

/// One exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// Who exchanges with whom.
    pub exchange: Exchange,
    /// Which member of the group, from 0, over the variables of the map; unused for pairs.
    pub member: Expr,
}

/// Who exchanges with whom.
#[derive(Clone, Debug, PartialEq)]
pub enum Exchange {
    /// Members of one group.
    Groups(ReplicaGroups),
    /// Each source sends to its target.
    Pairs(Vec<(i64, i64)>),
}
