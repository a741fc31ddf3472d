//! Collectives of one device as what they are given.

use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::ragged_exchange::exchanged;
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use super::side_effects::{effects_but, is_value_alone, pinned};
use super::stable_order::constant;
use crate::diagnostic::Diagnostics;
use crate::ir::{Alone, InstrId, Instruction, Module, Op, Scalar, Shape, alone, keeps_what_it_was_given};
use std::collections::BTreeSet;

/// Replaces `all-gather`, `all-reduce`, `all-to-all`, `collective-broadcast`, `collective-permute` and `reduce-scatter` in modules for one device by what they are given, or by zeros where nobody sends
/// anything, `ragged-all-to-all` by a gather, and `partition-id` and `replica-id` by 0. Pairs of operations that begin and end one of them, or a `copy`, are replaced alike, and those that begin and end a computation without side effects by a
/// call. The results are the same.
///
/// Modules of several replicas or partitions stay as they are.
pub struct OneDevice;

impl Pass for OneDevice {
    fn name(&self) -> &'static str {
        "take-one-device"
    }

    fn about(&self) -> &'static str {
        "replaces collectives of one device by what they are given"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        if module.replica_count().unwrap_or(1) != 1 || module.num_partitions().unwrap_or(1) != 1 {
            return Ok(Rewritten { module: module.clone(), changes: Vec::new() });
        }
        let module = &*module.longhand();
        let kept = of_kept_ends(module);
        let effects = effects_but(module, &is_value_alone);
        let (ids, effects) = (module.computations.values(), effects.into_iter());
        let effects: BTreeSet<&str> = ids.zip(effects).filter(|it| it.1).map(|it| it.0.name.as_str()).collect();
        Ok(rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
            Op::PartitionId | Op::ReplicaId => {
                Some(("there is one device", Rewrite::Value(rebuild.scalar(Scalar::U32(0)))))
            }
            op if ends(op) => ended(rebuild, candidate),
            _ if kept.contains(&(rebuild.source.name.as_str(), candidate.name.as_str())) => None,
            Op::CopyStart { .. } => begun(rebuild, candidate, candidate.operands[0])
                .map(|rewrite| ("a copy that begins may end at once", rewrite)),
            Op::AsyncStart { calls, .. } if !effects.contains(rebuild.computations()[*calls].name.as_str()) => {
                let [_, result, contexts @ ..] = candidate.shape.as_tuple()? else { return None };
                if contexts.iter().flat_map(Shape::leaves).any(|leaf| !matches!(leaf, Shape::Array(_) | Shape::Token)) {
                    return None;
                }
                let result = result.clone();
                let call = rebuild.add(result, Op::Call { to_apply: *calls }, candidate.operands.clone());
                begun(rebuild, candidate, call).map(|rewrite| ("what begins may be called at once", rewrite))
            }
            _ => given(module, rebuild, candidate),
        }))
    }
}

/// Whether an operation ends what another has begun.
fn ends(op: &Op) -> bool {
    matches!(
        op,
        Op::AllReduceDone
            | Op::AllGatherDone
            | Op::CollectivePermuteDone
            | Op::CopyDone
            | Op::AsyncUpdate { .. }
            | Op::AsyncDone { .. }
    )
}

/// The computations and names of what begins something whose end stays as it is.
fn of_kept_ends(module: &Module) -> BTreeSet<(&str, &str)> {
    let mut kept = BTreeSet::new();
    for computation in module.computations.values() {
        // An end, or what goes on with what it ends, and so on.
        let mut steps = pinned(computation);
        while let Some(step) = steps.pop_last() {
            if ends(&computation.instructions[step].op) {
                let started = computation.instructions[step].operands[0];
                kept.insert((computation.name.as_str(), computation.instructions[started].name.as_str()));
                steps.insert(started);
            }
        }
    }
    kept
}

fn given(module: &Module, rebuild: &mut Rebuild<'_>, candidate: &Instruction) -> Option<Rule> {
    let shapes: Vec<_> = candidate.operands.iter().map(|operand| rebuild.get(*operand).shape.clone()).collect();
    let values = match alone(module, candidate, shapes.iter())? {
        Alone::Given => candidate.operands.clone(),
        Alone::Placed => vec![exchanged(rebuild, candidate)?],
        Alone::Zeros => shapes.iter().filter_map(|shape| zeros(rebuild, shape)).collect(),
    };
    let rewrite = if keeps_what_it_was_given(&candidate.op) {
        let result = match &values[..] {
            [value] => *value,
            _ => rebuild.tuple(values),
        };
        begun(rebuild, candidate, result)?
    } else {
        match (candidate.shape.as_tuple(), &values[..]) {
            (None, [value]) => Rewrite::Value(*value),
            (Some(_), _) => Rewrite::Op(Op::Tuple, values),
            _ => return None,
        }
    };
    Some(("nobody else is part of the collective", rewrite))
}

/// What an operation that only begins yields: what it was given, its result, and numbers that only its end understands.
fn begun(rebuild: &mut Rebuild<'_>, start: &Instruction, result: InstrId) -> Option<Rewrite> {
    let given = match (&start.op, &start.operands[..]) {
        (Op::AsyncStart { .. }, operands) => rebuild.tuple(operands.to_vec()),
        (_, [operand]) => *operand,
        (_, operands) => rebuild.tuple(operands.to_vec()),
    };
    let [_, _, contexts @ ..] = start.shape.as_tuple()? else { return None };
    let contexts: Option<Vec<InstrId>> = contexts.iter().map(|shape| context(rebuild, shape)).collect();
    Some(Rewrite::Op(Op::Tuple, [vec![given, result], contexts?].concat()))
}

/// The value of what ends what has been replaced.
fn ended(rebuild: &mut Rebuild<'_>, end: &Instruction) -> Option<Rule> {
    let started = rebuild.get(end.operands[0]);
    let value = match (&end.op, &started.op) {
        (Op::AllReduceDone, Op::AllReduceStart { .. }) => return None,
        (Op::AllReduceDone, _) | (Op::AsyncUpdate { .. }, Op::Tuple) => end.operands[0],
        (Op::CopyDone, Op::Tuple) => started.operands[0],
        (_, Op::Tuple) => started.operands[1],
        _ => return None,
    };
    let made = rebuild.get(value);
    // A tuple's elements may have layouts of their own.
    let rewrite = match made.op {
        Op::Tuple => Rewrite::Op(Op::Tuple, made.operands.clone()),
        _ => Rewrite::Value(value),
    };
    Some(("what began has ended", rewrite))
}

/// Something of this shape that nobody reads; `None` for what holds buffers.
fn context(rebuild: &mut Rebuild<'_>, shape: &Shape) -> Option<InstrId> {
    match shape {
        Shape::Tuple(elements) => {
            let values: Option<Vec<InstrId>> = elements.iter().map(|element| context(rebuild, element)).collect();
            Some(rebuild.tuple(values?))
        }
        Shape::Token => Some(rebuild.add(Shape::Token, Op::AfterAll, Vec::new())),
        _ => zeros(rebuild, shape),
    }
}

/// An array of zeros of this shape; `None` for what is none.
fn zeros(rebuild: &mut Rebuild<'_>, shape: &Shape) -> Option<InstrId> {
    let array = shape.as_array()?;
    Some(constant(rebuild, Scalar::from_bits(0, array.element_type), array.extents.clone()))
}
