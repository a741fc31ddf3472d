//! The instructions that yield runtime variables.

use std::collections::BTreeMap;

use crate::ir::{ArenaId, Computation, InstrId, Op};
use weft_indexing::{IndexingMap, Owner};

/// Tokens of instructions within called computations begin here.
const CALLED: u64 = 1 << 32;

/// Which instruction each token of a [`RuntimeVariable`](weft_indexing::RuntimeVariable) stands for, seen from one
/// computation.
///
/// An instruction of the computation itself has its number for a token. One of a computation that is called has a token
/// for every path of calls that leads to it: what is called twice yields two values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    called: Vec<Vec<InstrId>>,
    tokens: BTreeMap<Vec<InstrId>, Owner>,
}

impl Owners {
    /// The token of an instruction of the computation itself.
    pub fn of(id: InstrId) -> Owner {
        Owner(id.index() as u64)
    }

    /// The instruction that yields the value: those that call, outermost first, and then the instruction itself. `None` for
    /// a token that was not made here.
    pub fn path(&self, owner: Owner) -> Option<Vec<InstrId>> {
        match owner.0.checked_sub(CALLED) {
            None => Some(vec![InstrId::from_index(usize::try_from(owner.0).ok()?)]),
            Some(position) => self.called.get(usize::try_from(position).ok()?).cloned(),
        }
    }

    /// The map of a computation that `call` calls, with runtime variables as the caller sees them: what a parameter
    /// yields is yielded by the caller's operand.
    pub(super) fn lifted(
        &mut self,
        map: &IndexingMap,
        call: InstrId,
        operands: &[InstrId],
        callee: &Computation,
        inner: &Owners,
    ) -> IndexingMap {
        let mut map = map.clone();
        for variable in &mut map.runtime {
            let Some(path) = variable.owner.and_then(|owner| inner.path(owner)) else { continue };
            let passed_on = match (path.as_slice(), path.first().map(|first| &callee.instructions[*first].op)) {
                ([_], Some(Op::Parameter { number })) => {
                    usize::try_from(*number).ok().and_then(|number| operands.get(number))
                }
                _ => None,
            };
            variable.owner = Some(match passed_on {
                Some(operand) => Owners::of(*operand),
                None => self.token(std::iter::once(call).chain(path).collect()),
            });
        }
        map
    }

    fn token(&mut self, path: Vec<InstrId>) -> Owner {
        if let Some(known) = self.tokens.get(&path) {
            return *known;
        }
        let owner = Owner(CALLED + self.called.len() as u64);
        self.called.push(path.clone());
        self.tokens.insert(path, owner);
        owner
    }
}
