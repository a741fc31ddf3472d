//! Conditionals of which all branches are computed.

use super::build::Build;
use super::pass::Rewritten;
use super::rebuild::{Rebuild, Rewrite, rewrite_module};
use super::side_effects::effects;
use crate::ir::{
    ArenaId, ComparisonDirection, Computation, ComputationId, ElementType, InstrId, Instruction, Module, Op, Scalar,
    Shape,
};

/// The module in which a `conditional` that is wanted calls all of its branches, and selects among what they yield: so nothing waits for the
/// selector, and what branches compute is fused with what surrounds them. It is the same in every bit, since a branch that is not taken computes a value
/// that nobody sees.
///
/// `is_wanted` is asked once of each `conditional`, with the computation of the module that it stands in, those within branches first. What has an
/// effect, or yields anything but arrays of known extents, is not asked, and stays.
pub fn select_branches(module: &Module, is_wanted: &mut dyn FnMut(&Computation, &Instruction) -> bool) -> Rewritten {
    let effects = effects(module);
    // Callees are rewritten one for one, so those of a candidate have the effects of those of the source.
    let has_effect = |id: ComputationId| effects.get(id.index()).copied().unwrap_or(true);
    rewrite_module(module, &mut |rebuild, candidate| {
        let Op::Conditional { branches, .. } = &candidate.op else { return None };
        let is_array = |leaf: &&Shape| leaf.as_array().is_some_and(|array| array.dynamic.is_empty());
        let is_pure = !candidate.op.has_side_effects() && !branches.iter().copied().any(has_effect);
        if !is_pure || !candidate.shape.leaves().iter().all(is_array) || !is_wanted(rebuild.source, candidate) {
            return None;
        }
        let values: Vec<InstrId> = (branches.iter().zip(candidate.operands.iter().skip(1)))
            .map(|(branch, operand)| {
                let shape = rebuild.computations()[*branch].result_shape().clone();
                rebuild.add(shape, Op::Call { to_apply: *branch }, vec![*operand])
            })
            .collect();
        let choices = choices(rebuild, *candidate.operands.first()?, values.len());
        Some(("conditional(s, …) selects among all branches", selected(rebuild, &choices, &values, &candidate.shape)?))
    })
}

/// For each branch but the last whether it is the one that is taken.
fn choices(rebuild: &mut Rebuild<'_>, selector: InstrId, branches: usize) -> Vec<InstrId> {
    if rebuild.element_type(selector) == ElementType::Pred {
        return vec![selector];
    }
    (0..branches.saturating_sub(1))
        .map(|branch| {
            let number = rebuild.scalar(Scalar::S32(i32::try_from(branch).unwrap_or(i32::MAX)));
            rebuild.compared(ComparisonDirection::Eq, selector, number)
        })
        .collect()
}

/// The first of some values whose choice is true, else the last.
fn selected(rebuild: &mut Rebuild<'_>, choices: &[InstrId], values: &[InstrId], shape: &Shape) -> Option<Rewrite> {
    let (last, others) = values.split_last()?;
    match shape {
        Shape::Tuple(elements) => {
            let mut made = Vec::with_capacity(elements.len());
            for (index, element) in elements.iter().enumerate() {
                let values: Vec<InstrId> = values.iter().map(|value| rebuild.element(*value, index)).collect();
                made.push(match selected(rebuild, choices, &values, element)? {
                    Rewrite::Value(value) => value,
                    Rewrite::Op(op, operands) => rebuild.add(element.clone(), op, operands),
                });
            }
            Some(Rewrite::Op(Op::Tuple, made))
        }
        Shape::Array(array) => {
            let mut rest = Rewrite::Value(*last);
            for (choice, value) in choices.iter().zip(others).rev() {
                let otherwise = match rest {
                    Rewrite::Value(value) => value,
                    Rewrite::Op(op, operands) => rebuild.add(shape.clone(), op, operands),
                };
                let choice = match array.extents.is_empty() {
                    true => *choice,
                    false => rebuild.broadcast(*choice, &[], array.extents.clone()),
                };
                rest = Rewrite::Op(Op::Select, vec![choice, *value, otherwise]);
            }
            Some(rest)
        }
        _ => None,
    }
}
