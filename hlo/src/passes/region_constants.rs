//! Constants of arrays in computations of scalars, written out.

use super::build::Build;
use super::pass::{Pass, Rewritten};
use super::rebuild::{Rebuild, Rewrite, Rule, rewrite_module};
use crate::diagnostic::Diagnostics;
use crate::ir::{
    ArenaId, BinaryOp, ComparisonDirection, ComputationId, Data, ElementType, InstrId, Instruction, Literal, Module,
    Op, Scalar,
};

/// Replaces the constants whose elements differ, in computations that operations apply to elements, by choices among their elements by place;
/// one that has no elements becomes a broadcast. The results are the same.
///
/// The kernels of such an operation have nowhere to hold an array. A constant of more than [`RegionConstants::MOST`] runs of equal
/// elements stays as it is.
pub struct RegionConstants;

impl RegionConstants {
    /// The runs of equal elements, in row-major order, that a constant is written out for at most.
    pub const MOST: usize = 64;

    /// Whether a constant of an array has so few runs of equal elements that it is written out, or one, so that it needs not be.
    pub fn has_few_runs(literal: &Literal) -> bool {
        !matches!(literal.data, Data::Elided | Data::Tuple(_)) && runs(&literal.data).is_some()
    }
}

impl Pass for RegionConstants {
    fn name(&self) -> &'static str {
        "expand-region-constants"
    }

    fn about(&self) -> &'static str {
        "writes constants of arrays in computations of elements out as choices by place"
    }

    fn run(&self, module: &Module) -> Result<Rewritten, Diagnostics> {
        let names = applied(module);
        Ok(rewrite_module(module, &mut |rebuild, candidate| match &candidate.op {
            Op::Constant(literal) if names.contains(&rebuild.source.name.as_str()) => {
                expand(rebuild, candidate, literal)
            }
            _ => None,
        }))
    }
}

/// The names of the computations that operations apply to elements, and of those that these call.
pub(super) fn applied(module: &Module) -> Vec<&str> {
    let mut is_applied = vec![false; module.computations.len()];
    for (id, computation) in module.computations.iter().rev() {
        for instruction in computation.instructions.values() {
            let runs_whole = matches!(
                instruction.op,
                Op::While { .. }
                    | Op::Conditional { .. }
                    | Op::Call { .. }
                    | Op::Fusion { .. }
                    | Op::CustomCall { .. }
                    | Op::AsyncStart { .. }
                    | Op::AsyncShorthand { .. }
            );
            let mut mark = |callee: ComputationId| is_applied[callee.index()] |= !runs_whole;
            instruction.op.called_computations().into_iter().for_each(&mut mark);
            if is_applied[id.index()] {
                instruction.op.called_computations().into_iter().for_each(|callee| is_applied[callee.index()] = true);
            }
        }
    }
    let named = module.computations.iter().filter(|(id, _)| is_applied[id.index()]);
    named.map(|(_, computation)| computation.name.as_str()).collect()
}

fn expand(rebuild: &mut Rebuild<'_>, candidate: &Instruction, literal: &Literal) -> Option<Rule> {
    let array = candidate.shape.as_array().filter(|array| array.dynamic.is_empty())?;
    if literal.splat().is_some() || matches!(literal.data, Data::Elided | Data::Tuple(_)) {
        return None;
    }
    let (extents, element_type) = (array.extents.clone(), array.element_type);
    let runs = runs(&literal.data)?;
    let everywhere = |rebuild: &mut Rebuild<'_>, value: Scalar| {
        let value = rebuild.scalar(value);
        rebuild.broadcast(value, &[], extents.clone())
    };
    let Some(((_, last), others)) = runs.split_last() else {
        let value = everywhere(rebuild, Scalar::from_bits(0, element_type));
        return Some(("a constant without elements is a broadcast", Rewrite::Value(value)));
    };
    let place = place(rebuild, &extents);
    let mut value = everywhere(rebuild, *last);
    let ends = runs.iter().skip(1).map(|(start, _)| *start);
    for ((_, element), end) in others.iter().zip(ends).rev() {
        let end = everywhere(rebuild, Scalar::S32(end));
        let is_before = rebuild.compared(ComparisonDirection::Lt, place, end);
        let element = everywhere(rebuild, *element);
        value = rebuild.selected(is_before, element, value);
    }
    Some(("a constant where elements are computed is chosen by place", Rewrite::Value(value)))
}

/// Where runs of equal elements begin, and their elements; `None` for too many.
fn runs(data: &Data) -> Option<Vec<(i32, Scalar)>> {
    let mut runs: Vec<(i32, Scalar)> = Vec::new();
    for position in 0..data.len()? {
        let element = data.get(position)?;
        if runs.last().is_none_or(|(_, last)| *last != element) {
            runs.push((i32::try_from(position).ok()?, element));
        }
        if runs.len() > RegionConstants::MOST {
            return None;
        }
    }
    Some(runs)
}

/// The row-major place of each element.
fn place(rebuild: &mut Rebuild<'_>, extents: &[i64]) -> InstrId {
    let mut place = rebuild.iota(ElementType::S32, extents.to_vec(), 0);
    for dimension in 1..extents.len() {
        let extent = rebuild.scalar(Scalar::from_bits(extents[dimension] as u128, ElementType::S32));
        let extent = rebuild.broadcast(extent, &[], extents.to_vec());
        let rows = rebuild.binary(BinaryOp::Multiply, place, extent);
        let within = rebuild.iota(ElementType::S32, extents.to_vec(), dimension as i64);
        place = rebuild.binary(BinaryOp::Add, rows, within);
    }
    place
}
