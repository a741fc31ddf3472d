//! Operations that run beside others: a start yields its operands and, beside them, what will be the result; an end takes the
//! result out of that.

use super::analysis::Analysis;
use super::calls::Callee;
use super::site::{Found, Site};
use super::{Dependence, Owners, Undefined, tuples};
use crate::ir::{AsyncPhase, ComputationId, Instruction, Op};

/// The dependences of a start: its operands are passed on, and `result` gives those of the operation that it starts, whose
/// value is the second element of what the start yields.
pub(super) fn started(site: &Site<'_>, result: impl FnOnce(&Site<'_>) -> Found) -> Found {
    let Some([passed, shape, ..]) = site.instruction.shape.as_tuple() else { return Err(Undefined::Outside) };
    if !site.instruction.shape.is_static() {
        return Err(Undefined::DynamicExtents);
    }
    let before = passed.leaves().len();
    let mut found = tuples::tuple(site)?;
    found.truncate(before);
    let inner = Instruction { shape: shape.clone(), ..site.instruction.clone() };
    let leaves = shape.leaves();
    let arrays = leaves.len();
    for dependence in result(&Site { instruction: &inner, arrays: &leaves, ..*site })? {
        let results = match dependence.result {
            Some(result) => result..result + 1,
            None => 0..arrays,
        };
        found.extend(results.map(|result| Dependence { result: Some(before + result), ..dependence.clone() }));
    }
    Ok(found)
}

/// A copy, what is copied, and a handle.
pub(super) fn copied(site: &Site<'_>) -> Found {
    let copy = tuples::tuple(site)?;
    let arrays = copy.len();
    let source = copy.iter().map(|own| Dependence { result: own.result.map(|leaf| leaf + arrays), ..own.clone() });
    Ok(copy.iter().cloned().chain(source).collect())
}

/// A step of what was started, or its end.
pub(super) fn shorthand(site: &Site<'_>, phase: AsyncPhase) -> Found {
    if phase == AsyncPhase::Done { tuples::get_tuple_element(site, 1) } else { tuples::copy(site) }
}

impl Analysis<'_> {
    /// The dependences of the start of a computation.
    pub(super) fn start(&mut self, site: &Site<'_>, callee: ComputationId, owners: &mut Owners) -> Found {
        started(site, |inner| {
            Ok(self.call(inner.id, &inner.instruction.operands, Callee::only(callee), inner.direction, owners))
        })
    }

    /// The dependences of the start of one operation.
    pub(super) fn start_operation(&mut self, site: &Site<'_>, operation: &Op, owners: &mut Owners) -> Found {
        started(site, |inner| {
            let instruction = Instruction { op: operation.clone(), ..inner.instruction.clone() };
            Ok(self.of_site(&Site { instruction: &instruction, ..*inner }, owners))
        })
    }
}

/// The computations whose maps an operation's maps are made of.
pub(super) fn callees(op: &Op) -> Vec<ComputationId> {
    match op {
        Op::Fusion { calls: callee, .. } | Op::Call { to_apply: callee } | Op::AsyncStart { calls: callee, .. } => {
            vec![*callee]
        }
        Op::Conditional { branches, .. } => branches.clone(),
        Op::AsyncShorthand { operation: Some(operation), .. } => match operation.as_ref() {
            Op::Fusion { calls: callee, .. } | Op::Call { to_apply: callee } => vec![*callee],
            Op::Conditional { branches, .. } => branches.clone(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
