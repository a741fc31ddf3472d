//! Building while loops that count.

use crate::ir::{ArenaId, BinaryOp, ComparisonDirection, InstrId, Module, Op, Scalar};
use crate::passes::build::Build;
use crate::passes::build::Callee;
use crate::passes::rebuild::Rebuild;
use std::collections::BTreeSet;

/// A round of a loop.
pub(in crate::passes) struct Round {
    /// The computation that makes it.
    pub(in crate::passes) body: Callee,
    /// Its number, from 0: a scalar.
    pub(in crate::passes) number: InstrId,
    /// The number 0, of the same type.
    pub(in crate::passes) zero: InstrId,
}

/// The values after as many rounds, each of which `round` makes of those of the round before.
pub(in crate::passes) fn counted<const N: usize>(
    rebuild: &mut Rebuild<'_>,
    rounds: i64,
    values: [InstrId; N],
    round: impl FnOnce(&mut Round, [InstrId; N]) -> [InstrId; N],
) -> [InstrId; N] {
    const SAME: &str = "a round makes as many values as it is given";
    let all = counted_all(rebuild, rounds, values.to_vec(), |this, given| {
        round(this, given.try_into().expect(SAME)).to_vec()
    });
    all.try_into().expect(SAME)
}

/// As [`counted`], of any number of values.
pub(super) fn counted_all(
    rebuild: &mut Rebuild<'_>,
    rounds: i64,
    values: Vec<InstrId>,
    round: impl FnOnce(&mut Round, Vec<InstrId>) -> Vec<InstrId>,
) -> Vec<InstrId> {
    // Of the type that holds them all.
    let integer = |value: i64| match i32::try_from(rounds) {
        Ok(_) => Scalar::S32(value as i32),
        Err(_) => Scalar::S64(value),
    };
    let zero = rebuild.scalar(integer(0));
    let start = rebuild.tuple([&[zero], &values[..]].concat());
    let state = rebuild.get(start).shape.clone();

    let mut condition = Callee::new("condition", rebuild.span());
    let before = condition.parameter(state.clone());
    let number = condition.element(before, 0);
    let bound = condition.scalar(integer(rounds));
    let goes_on = condition.compared(ComparisonDirection::Lt, number, bound);
    let condition = rebuild.add_computation(condition.finish(goes_on));

    let mut body = Callee::new("body", rebuild.span());
    let before = body.parameter(state.clone());
    let number = body.element(before, 0);
    let given = (1..=values.len()).map(|index| body.element(before, index)).collect();
    let zero = body.scalar(integer(0));
    let mut this = Round { body, number, zero };
    let made = round(&mut this, given);
    let Round { mut body, number, .. } = this;
    let one = body.scalar(integer(1));
    let next = body.binary(BinaryOp::Add, number, one);
    let after = body.tuple([&[next], &made[..]].concat());
    let body = rebuild.add_computation(body.finish(after));

    let last = rebuild.add(state, Op::While { condition, body }, vec![start]);
    (1..=values.len()).map(|index| rebuild.element(last, index)).collect()
}

/// The names of the computations that run with whole values, in which there may be loops: the entry, and what it calls, branches to and repeats. Not those that are applied to elements, or that a
/// fusion is, besides.
pub(super) fn programs(module: &Module) -> BTreeSet<String> {
    let mut runs = vec![false; module.computations.len()];
    let mut is_part = runs.clone();
    runs[module.entry.index()] = true;
    let mut found = BTreeSet::new();
    // Callers before what they call.
    for (id, computation) in module.computations.iter().rev() {
        let (run, part) = (runs[id.index()], is_part[id.index()]);
        if run && !part {
            found.insert(computation.name.clone());
        }
        for instruction in computation.instructions.values() {
            let is_step = matches!(
                instruction.op,
                Op::While { .. } | Op::Conditional { .. } | Op::Call { .. } | Op::Scan { .. } | Op::AsyncStart { .. }
            );
            for callee in instruction.op.called_computations() {
                runs[callee.index()] |= run && is_step;
                is_part[callee.index()] |= part || !is_step;
            }
        }
    }
    found
}
