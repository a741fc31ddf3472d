//! Relations between the elements of two arrays: indexing maps, or a reason why there are none.

use std::fmt;

use weft_affine::{Error, Expr, Interval};
use weft_indexing::{IndexingMap, Owner};

use super::ReplicaId;

/// The domains of dynamic-update-slice's maps: whether they leave out the elements that it does not read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Domains {
    /// As XLA's document prints them: the map to the source does not leave out what is updated, that to the update leads out of
    /// it where nothing is updated.
    #[default]
    Documented,
    /// The map to the source leaves out what is updated, that to the update covers just what is.
    Exact,
}

/// The direction of maps.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Direction {
    /// From an element of a result to the elements of operands that it is computed from.
    #[default]
    OutputToInput,
    /// From an element of an operand to the elements of results that are computed from it.
    InputToOutput,
}

/// The dependence of one array of an instruction's value on one array of its operands.
///
/// `None` for an array stands only beside a relation that is undefined.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependence {
    /// The array of the instruction's value, from left to right, 0 where it is no tuple; `None` for all of them.
    pub result: Option<usize>,
    /// The number of the operand; `None` for an operation that has elements of its own (`iota`, `constant`).
    pub operand: Option<usize>,
    /// The array of the operand's value, from left to right, 0 where it is no tuple; `None` for all of them.
    pub leaf: Option<usize>,
    /// The relation between the elements of the two arrays.
    pub relation: Relation,
}

/// A relation between the elements of two arrays.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// Those that any of these maps leads to; without a map none.
    Maps(Vec<ElementMap>),
    /// Nothing is known: every element may depend on every other.
    Undefined(Undefined),
}

impl Relation {
    /// The maps; none where nothing is known.
    pub fn maps(&self) -> &[ElementMap] {
        match self {
            Relation::Maps(maps) => maps,
            Relation::Undefined(_) => &[],
        }
    }

    /// Why nothing is known.
    pub fn undefined(&self) -> Option<&Undefined> {
        match self {
            Relation::Maps(_) => None,
            Relation::Undefined(reason) => Some(reason),
        }
    }
}

impl From<IndexingMap> for Relation {
    fn from(map: IndexingMap) -> Relation {
        Relation::Maps(vec![ElementMap::exact(map)])
    }
}

/// One map of a relation.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementMap {
    /// From an index of the one array to indices of the other.
    pub map: IndexingMap,
    /// Why the map leads to more elements than are read; `None` where it leads to those and no others.
    pub coarse: Option<&'static str>,
    /// The replica that holds the elements; `None` for the one that asks.
    pub replica_id: Option<ReplicaId>,
}

impl ElementMap {
    /// A map to exactly the elements read.
    pub fn exact(map: IndexingMap) -> ElementMap {
        ElementMap { map, coarse: None, replica_id: None }
    }

    /// A map that leads to more elements than are read, for the given reason.
    pub fn coarse(map: IndexingMap, reason: &'static str) -> ElementMap {
        ElementMap { coarse: Some(reason), ..ElementMap::exact(map) }
    }
}

impl ElementMap {
    /// Simplifies the map, with what says which replica holds the elements; range and runtime variables that then have no use
    /// are gone.
    pub fn simplify(&mut self) {
        self.simplify_knowing(&mut |_, _| None);
    }

    /// As [`ElementMap::simplify`], with what `values` knows of runtime variables in their place: see
    /// [`IndexingMap::replace_known_values`].
    pub fn simplify_knowing(&mut self, values: &mut dyn FnMut(Owner, &[Interval]) -> Option<Expr>) {
        let own = self.map.results().len();
        let steps = self.replica_id.iter_mut().flat_map(|id| &mut id.steps);
        let members: Vec<&mut Expr> = steps.map(|step| &mut step.member).collect();
        // Members that are told by other variables than those of the map stay as they are.
        self.map.extend_results(members.iter().map(|member| (**member).clone())).unwrap_or_default();
        if self.map.simplify_knowing(values) {
            self.map.merge_runtime_variables();
        }
        self.map.remove_unused_symbols();
        for (member, simplified) in members.into_iter().zip(self.map.split_off_results(own)) {
            *member = simplified;
        }
    }
}

/// Why nothing is known of a relation.
///
/// The list is closed: whatever else an operation does, it has maps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undefined {
    /// The number of iterations of a `while`, and so what it reads, is known only at run time.
    Loop,
    /// A custom call for whose target no maps were given.
    CustomCall(String),
    /// The value comes from outside of the program, or goes there (`infeed`, `recv`, `outfeed`, `send`, …).
    Outside,
    /// The sizes that members of a group exchange are known only at run time (`ragged-all-to-all`).
    RaggedExchange,
    /// All take part in a collective, and the header does not say how many there are (`replica_count`, `num_partitions`).
    Members,
    /// The part that is sent, and its destination, are known only at run time (`collective-permute` in place).
    InPlace,
    /// The groups of a collective name the axes of a device mesh that is not known here.
    Mesh,
    /// A layout has tiles, so positions in memory are no matter of the order of dimensions alone.
    Tiles,
    /// An extent is not known: maps are of static shapes.
    DynamicExtents,
    /// The index arithmetic exceeds 64 bits, in a part that is named: `a sum`, `the extents of a shape`.
    Overflow {
        /// The part that does not fit.
        what: &'static str,
    },
    /// A map does not fit what it is put together with, or has no meaning there: one that was given for a custom call and is not of
    /// its shapes, or says itself that nothing is known; one to positions in an array of another rank; one that divides by
    /// nothing, as an attribute of a module that was not verified may have it. Maps of verified modules fit.
    Misfit(weft_indexing::Error),
    /// The value is reached through more than [`MAX_MAPS`](super::MAX_MAPS) different maps.
    TooManyMaps,
}

impl Undefined {
    /// The stable code of the reason.
    pub fn code(&self) -> &'static str {
        match self {
            Undefined::Loop
            | Undefined::CustomCall(_)
            | Undefined::Outside
            | Undefined::RaggedExchange
            | Undefined::Members
            | Undefined::InPlace
            | Undefined::Mesh
            | Undefined::Tiles => "HLO301",
            Undefined::Overflow { .. } => "HLO302",
            Undefined::TooManyMaps => "HLO303",
            Undefined::DynamicExtents => "HLO304",
            Undefined::Misfit(_) => "HLO305",
        }
    }
}

/// A sentence without its stop.
impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undefined::Loop => f.write_str("how often a loop runs, and so what it reads, is known only at run time"),
            Undefined::CustomCall(target) => write!(f, "no maps were given for the custom call '{target}'"),
            Undefined::Outside => f.write_str("the value comes from outside of the program or goes there"),
            Undefined::RaggedExchange => f.write_str("who sends how much to whom is known only at run time"),
            Undefined::Members => f.write_str("all take part, and the header does not say how many there are"),
            Undefined::InPlace => f.write_str("which part is sent, and where it goes, is known only at run time"),
            Undefined::Mesh => f.write_str("the groups name axes of a device mesh that is not known here"),
            Undefined::Tiles => f.write_str("a layout has tiles"),
            Undefined::DynamicExtents => {
                f.write_str("maps are of static shapes; give the unknown extents first (`weft specialize`)")
            }
            Undefined::Overflow { what } => write!(f, "the index arithmetic of this shape exceeds 64 bits in {what}"),
            Undefined::Misfit(error) => write!(f, "a map does not fit: {error}"),
            Undefined::TooManyMaps => {
                write!(f, "the value is reached through more than {} different maps", super::MAX_MAPS)
            }
        }
    }
}

impl std::error::Error for Undefined {}

impl From<Error> for Undefined {
    fn from(error: Error) -> Undefined {
        match error {
            Error::Overflow { what } => Undefined::Overflow { what },
            other => Undefined::Misfit(other.into()),
        }
    }
}

impl From<weft_indexing::Error> for Undefined {
    fn from(error: weft_indexing::Error) -> Undefined {
        match error {
            weft_indexing::Error::Affine(inner) => inner.into(),
            other => Undefined::Misfit(other),
        }
    }
}
