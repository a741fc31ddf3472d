//! Scatters no two of whose updates are for one element, as their indices tell.

use super::{Decision, Verdict};
use crate::scattered::{Way, is_of_points};
use std::borrow::Cow;
use std::collections::BTreeSet;
use weft_affine::{Expr, Var};
use weft_hlo::indexing::{KnownValues, Owners, scattered_map};
use weft_hlo::ir::{Computation, ComputationId, InstrId, Instruction, Literal, Module, Op};
use weft_indexing::{Answer, IndexingMap, Limits};

/// Indices of a constant that are looked at.
const MOST_INDICES: i64 = 1 << 16;

/// The module with its scatters of single elements said to be of unique indices that are, and are not said to be: each update is stored then, whatever combines it.
pub(super) fn mark(module: &mut Cow<'_, Module>, decisions: &mut Vec<Decision>) {
    let mut marked: Vec<(ComputationId, InstrId)> = Vec::new();
    for (id, computation) in module.computations.iter() {
        for (scatter, instruction) in computation.instructions.iter() {
            let Op::Scatter { unique_indices: false, .. } = instruction.op else { continue };
            if Way::of(module, computation, instruction) == Ok(Way::Stored) || !is_of_points(computation, instruction) {
                continue;
            }
            let reason = if is_constant_and_apart(computation, instruction) {
                "its indices are constants, all of them different"
            } else if is_apart(module, (id, scatter)) {
                "its indices lead each update to another element, as they are computed"
            } else {
                continue;
            };
            marked.push((id, scatter));
            let name = &instruction.name;
            let is_entry = id == module.entry;
            let instruction = if is_entry { name.clone() } else { format!("{}/{name}", computation.name) };
            let reason = format!("no two updates are for one element: {reason}");
            decisions.push(Decision { instruction, verdict: Verdict::Kept, reason });
        }
    }
    if marked.is_empty() {
        return;
    }
    let changed = module.to_mut();
    for (computation, scatter) in marked {
        if let Op::Scatter { unique_indices, .. } = &mut changed.computations[computation].instructions[scatter].op {
            *unique_indices = true;
        }
    }
}

/// Whether what the text tells of an index along some dimensions is different for all updates.
fn is_apart(module: &Module, (computation, scatter): (ComputationId, InstrId)) -> bool {
    let Ok(mut map) = scattered_map(&module.computations[computation], scatter) else { return false };
    let known = KnownValues::new(module, computation);
    map.simplify_knowing(&mut |owner, element| known.value(&Owners::default(), owner, element));
    // What is not known may be another number for each update.
    let is_told = |expr: &Expr| !expr.variables().iter().any(|variable| matches!(variable, Var::Runtime(_)));
    let results: Vec<Expr> = map.results().iter().filter(|result| is_told(result)).cloned().collect();
    let constraints = map.constraints().iter().filter(|constraint| is_told(&constraint.expr)).cloned().collect();
    let (dims, ranges) = (map.dims().to_vec(), map.ranges().to_vec());
    let told = IndexingMap::try_new(dims, ranges, Vec::new(), results, constraints);
    told.is_ok_and(|told| told.is_injective(&Limits::default()) == Answer::Yes)
}

/// Whether the indices are a constant in which no vector stands twice.
fn is_constant_and_apart(computation: &Computation, scatter: &Instruction) -> bool {
    let Op::Scatter { index_vector_dim, .. } = &scatter.op else { return false };
    let mut indices = &computation.instructions[scatter.operands[scatter.operands.len() / 2]];
    let extents = indices.shape.as_array().map(|array| array.extents.clone()).unwrap_or_default();
    while let (Op::Reshape | Op::Copy, [operand]) = (&indices.op, &indices.operands[..]) {
        indices = &computation.instructions[*operand];
    }
    let Op::Constant(Literal { data, .. }) = &indices.op else { return false };
    let along = usize::try_from(*index_vector_dim).unwrap_or(usize::MAX);
    let components = extents.get(along).copied().unwrap_or(1);
    let behind: i64 = extents.iter().skip(along.saturating_add(1)).product();
    let count: i64 = extents.iter().product();
    if count == 0 || count > MOST_INDICES {
        return false;
    }
    let vectors = count / components;
    let mut found = BTreeSet::new();
    (0..vectors).all(|vector| {
        let first = vector / behind * behind * components + vector % behind;
        let component = |number: i64| usize::try_from(first + number * behind).ok().and_then(|place| data.get(place));
        let bits: Option<Vec<u128>> = (0..components).map(|number| component(number).map(|it| it.bits())).collect();
        bits.is_some_and(|bits| found.insert(bits))
    })
}
