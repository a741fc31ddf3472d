//! The owners of runtime variables: the instructions that yield their values.

use std::collections::BTreeMap;

use super::Exchange;
use crate::ir::{ArenaId, Computation, InstrId, Op};
use weft_indexing::{IndexingMap, Owner};

/// Tokens of positions in the groups of the computation's own collectives begin here.
const FIRST_POSITION: u64 = 1 << 32;
/// Tokens of all that is not of the computation itself, or not of the replica that asks, begin here.
const FIRST_SOURCE: u64 = 1 << 33;

/// The instructions that the owner tokens of [`RuntimeVariable`](weft_indexing::RuntimeVariable)s stand for, seen from
/// one computation.
///
/// An instruction of the computation itself has its number for a token. One of a computation that is called has a token
/// for every path of calls that leads to it: what is called twice yields two values. What another replica yields is a value of
/// its own as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    sources: Vec<Source>,
    tokens: BTreeMap<Source, Owner>,
}

/// The source of a runtime variable's value: an instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The instruction: those that call, outermost first, and then the instruction itself.
    pub path: Vec<InstrId>,
    /// For each instruction of the path that calls which of the computations that it names holds the next one: the branch of a
    /// conditional, else 0.
    pub branches: Vec<usize>,
    /// The integer of that instruction.
    pub number: Number,
    /// On which replica: the exchanges from the one that asks to the one whose value it is, none for the one that asks. The
    /// last results of the variable's access map, one for each, are the members asked, as in
    /// [`ExchangeStep::member`](super::ExchangeStep::member).
    pub exchanges: Vec<Exchange>,
}

/// The kinds of integers that an instruction yields to a runtime variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Number {
    /// The element of its value that the access map leads to.
    Element,
    /// The position that a replica has in its group of that collective, from 0: it decides which part is its own.
    Position,
}

impl Owners {
    /// The token of the elements of an instruction of the computation itself.
    pub fn of(id: InstrId) -> Owner {
        Owner(id.index() as u64)
    }

    /// The token of the position in the group of a collective of the computation itself, on the replica that asks.
    pub fn position(id: InstrId) -> Owner {
        Owner(FIRST_POSITION + id.index() as u64)
    }

    /// The instruction that yields the value: those that call, outermost first, and then the instruction itself. `None` for
    /// a token that was not made here.
    pub fn path(&self, owner: Owner) -> Option<Vec<InstrId>> {
        self.source(owner).map(|source| source.path)
    }

    /// For each instruction of the [path](Self::path) that calls, in order, which of the computations that it names holds the
    /// next one: the branch of a conditional, else 0.
    pub fn branches(&self, owner: Owner) -> Option<Vec<usize>> {
        self.source(owner).map(|source| source.branches)
    }

    /// The source of a token; `None` for one that was not made here.
    pub fn source(&self, owner: Owner) -> Option<Source> {
        if let Some(position) = owner.0.checked_sub(FIRST_SOURCE) {
            return self.sources.get(usize::try_from(position).ok()?).cloned();
        }
        let (number, id) = match owner.0.checked_sub(FIRST_POSITION) {
            Some(id) => (Number::Position, id),
            None => (Number::Element, owner.0),
        };
        let path = vec![InstrId::from_index(usize::try_from(id).ok()?)];
        Some(Source { path, branches: Vec::new(), number, exchanges: Vec::new() })
    }

    /// The map of the computation that `call` calls as its branch number `branch`, with runtime variables as the caller sees
    /// them: what a parameter yields is yielded by the caller's operand.
    pub(super) fn lifted(
        &mut self,
        map: &IndexingMap,
        (call, branch): (InstrId, usize),
        operands: &[InstrId],
        callee: &Computation,
        inner: &Owners,
    ) -> IndexingMap {
        let mut map = map.clone();
        let mut runtime = map.runtime().to_vec();
        for variable in &mut runtime {
            let Some(source) = variable.owner().and_then(|owner| inner.source(owner)) else { continue };
            let passed_on = match (source.path.as_slice(), source.path.first().map(|id| &callee.instructions[*id].op)) {
                ([_], Some(Op::Parameter { number })) => {
                    usize::try_from(*number).ok().and_then(|number| operands.get(number))
                }
                _ => None,
            };
            let (path, branches) = match passed_on {
                Some(operand) => (vec![*operand], Vec::new()),
                None => {
                    let path = std::iter::once(call).chain(source.path).collect();
                    (path, std::iter::once(branch).chain(source.branches).collect())
                }
            };
            *variable = variable.clone().with_owner(self.token(Source { path, branches, ..source }));
        }
        map.set_runtime(runtime).expect("only the owners are others");
        map
    }

    /// The token of the same value on the replica that `exchanges` lead to.
    pub(super) fn elsewhere(&mut self, owner: Owner, exchanges: &[Exchange]) -> Owner {
        let Some(source) = self.source(owner) else { return owner };
        let exchanges = exchanges.iter().chain(&source.exchanges).cloned().collect();
        self.token(Source { exchanges, ..source })
    }

    fn token(&mut self, source: Source) -> Owner {
        match (source.path.as_slice(), source.number, source.exchanges.as_slice()) {
            ([own], Number::Element, []) => return Owners::of(*own),
            ([own], Number::Position, []) => return Owners::position(*own),
            _ => {}
        }
        if let Some(known) = self.tokens.get(&source) {
            return *known;
        }
        let owner = Owner(FIRST_SOURCE + self.sources.len() as u64);
        self.sources.push(source.clone());
        self.tokens.insert(source, owner);
        owner
    }
}
