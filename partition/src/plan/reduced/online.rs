//! Sums of exponentials that are folded beside the maximum that scales them, as a softmax has them: rows are read once for both.
//!
//! `sum(exp(x - max(x)))` takes two passes over a row as it is written. In one, a place folds so many elements into the maximum `m`, then adds `exp(x - m)` for the same ones to what it has of the
//! sum, which it has multiplied by `exp(before - m)`, where `before` is what the maximum was. In the end each place has a sum for its own maximum, which is scaled once more by that of the row.
//! After Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).

use super::{Division, Level, Reduction};
use crate::plan::FunctionId;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::ir::{BinaryOp, ElementType, InstrId, Op, UnaryOp};

impl Division<'_> {
    /// The sums that can be folded in the pass of a maximum that scales them, each with this: the passes after which reductions are known are given.
    pub(super) fn online(&self, passes: &[usize]) -> BTreeMap<usize, InstrId> {
        let sums = self.reductions.iter().zip(passes).enumerate();
        let scaled = sums.filter_map(|(number, (sum, pass))| {
            let maximum = self.scale(sum)?;
            let before = passes[self.reduction(maximum)?];
            let is_next = before + 1 == *pass && self.needs_only(sum.function?, maximum, passes, before);
            is_next.then_some((number, maximum))
        });
        scaled.collect()
    }

    /// The maximum of the elements of whose exponentials, each less this, a reduction is the sum.
    fn scale(&self, sum: &Reduction) -> Option<InstrId> {
        let instructions = &self.planner.computation.instructions;
        let is_sum = sum.op == Some(BinaryOp::Add) && sum.scan.is_none() && sum.initial.is_none();
        let exponential = &instructions[*instructions[sum.id].operands.first().filter(|_| is_sum)?];
        let is_f32 = exponential.shape.as_array()?.element_type == ElementType::F32;
        let is_exponential = matches!(exponential.op, Op::Unary(UnaryOp::Exponential)) && is_f32;
        let difference = &instructions[*exponential.operands.first().filter(|_| is_exponential)?];
        let (Op::Binary(BinaryOp::Subtract), [element, scale]) = (&difference.op, &difference.operands[..]) else {
            return None;
        };
        let mut scale = *scale;
        while self.reduction(scale).is_none() {
            let moved = &instructions[scale];
            let [operand] = moved.operands[..] else { return None };
            scale = Some(operand).filter(|_| moved.op.opcode().only_moves_data())?;
        }
        let maximum = &self.reductions[self.reduction(scale)?];
        let is_maximum = maximum.op == Some(BinaryOp::Maximum) && maximum.scan.is_none();
        let is_of_elements = instructions[scale].operands.first() == Some(element);
        (is_maximum && is_of_elements).then_some(scale)
    }

    /// Whether a function of elements is given, besides this maximum, nothing but what is known before the pass.
    fn needs_only(&self, function: FunctionId, maximum: InstrId, passes: &[usize], pass: usize) -> bool {
        let functions = self.closure(vec![function]);
        let given: BTreeSet<InstrId> =
            functions.iter().flat_map(|own| &self.planner.functions[own.0 as usize].given).copied().collect();
        given.iter().all(|given| match (self.reduction(*given), self.nodes.get(given)) {
            (Some(_), _) if *given == maximum => true,
            (Some(number), _) => passes[number] < pass,
            (None, Some(node)) => self.level(*node) == Some(Level::Element),
            (None, None) => false,
        })
    }
}
