//! Attention in a program: which instruction is what of it.

use crate::live;
use crate::monoid::operation;
use weft_hlo::ir::{Arena, ArenaId, BinaryOp, Computation, InstrId, Instruction, Module, Op, UnaryOp};

/// What the program has where attention has it.
pub(super) struct Found {
    pub(super) scores: InstrId,
    pub(super) result: InstrId,
    /// The operand of the result's dot that is computed of scores.
    pub(super) weights: usize,
    pub(super) quotient: Option<InstrId>,
    pub(super) exponential: InstrId,
    /// What is subtracted in exponents, before it is broadcast.
    pub(super) shift: InstrId,
    pub(super) maximum: InstrId,
    pub(super) sum: InstrId,
}

impl Found {
    pub(super) fn of(module: &Module, computation: &Computation) -> Result<Found, String> {
        let live = live(computation);
        let instructions = &computation.instructions;
        let of_kind = |is_meant: fn(&Op) -> bool| -> Vec<InstrId> {
            instructions.iter().filter(|(id, it)| live[id.index()] && is_meant(&it.op)).map(|(id, _)| id).collect()
        };
        let dots = of_kind(|op| matches!(op, Op::Dot { .. } | Op::Convolution { .. }));
        let folds = of_kind(|op| matches!(op, Op::Reduce { .. } | Op::ReduceWindow { .. }));
        let (&[scores, result], &[one, other]) = (&dots[..], &folds[..]) else {
            return Err(format!("{} sums of products and {} reductions are no attention", dots.len(), folds.len()));
        };
        let reached = reached(computation, scores);
        let of_scores: Vec<usize> = (0..2)
            .filter(|operand| instructions[result].operands.get(*operand).is_some_and(|id| reached[id.index()]))
            .collect();
        let &[weights] = &of_scores[..] else {
            return Err(
                "one operand of the second sum of products is computed of the first, and the other is not".to_owned()
            );
        };
        let name = |id: InstrId| &instructions[id].name;
        let (mut at, mut quotient) = (instructions[result].operands[weights], None);
        let exponential = loop {
            at = moved(instructions, at, true);
            match (&instructions[at].op, &instructions[at].operands[..]) {
                (Op::Unary(UnaryOp::Exponential), _) => break at,
                (Op::Binary(BinaryOp::Divide), [numerator, _]) if quotient.is_none() => {
                    quotient = Some(at);
                    at = *numerator;
                }
                _ => return Err(format!("{} is no exponential, or one that is divided once", name(at))),
            }
        };
        let difference = moved(instructions, instructions[exponential].operands[0], true);
        let (Op::Binary(BinaryOp::Subtract), [_, less]) =
            (&instructions[difference].op, &instructions[difference].operands[..])
        else {
            return Err(format!("{} is no difference from a maximum", name(difference)));
        };
        let shift = moved(instructions, *less, false);
        let folded = |id: InstrId, op: BinaryOp| {
            let Op::Reduce { to_apply, .. } = instructions[id].op else { return false };
            let region = &module.computations[to_apply];
            instructions[id].operands.len() == 2 && operation(region, region.root, (0, 1)) == Some(op)
        };
        let (maximum, sum) = if folded(one, BinaryOp::Maximum) { (one, other) } else { (other, one) };
        if !folded(maximum, BinaryOp::Maximum) || !folded(sum, BinaryOp::Add) {
            return Err("its reductions are no maximum and no sum".to_owned());
        }
        Ok(Found { scores, result, weights, quotient, exponential, shift, maximum, sum })
    }
}

/// What a value is before it is broadcast, reshaped, transposed, or converted, too.
pub(super) fn moved(instructions: &Arena<InstrId, Instruction>, mut id: InstrId, converts: bool) -> InstrId {
    loop {
        let instruction = &instructions[id];
        let is_moved = matches!(
            instruction.op,
            Op::Broadcast { .. } | Op::Reshape | Op::Transpose { .. } | Op::Bitcast | Op::Copy
        ) || converts && instruction.op == Op::Convert;
        match instruction.operands[..] {
            [operand] if is_moved => id = operand,
            _ => return id,
        }
    }
}

/// For each instruction whether it is computed of another.
pub(super) fn reached(computation: &Computation, of: InstrId) -> Vec<bool> {
    let mut reached: Vec<bool> = Vec::with_capacity(computation.instructions.len());
    for (id, instruction) in computation.instructions.iter() {
        reached.push(id == of || instruction.operands.iter().any(|operand| reached[operand.index()]));
    }
    reached
}
