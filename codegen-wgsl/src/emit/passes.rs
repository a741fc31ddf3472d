//! What emitters of passes over rows have in common, whatever the elements of rows are.

use crate::kernel::Operand;
use std::collections::BTreeMap;
use weft_affine::{Error, Expr, Var};
use weft_hlo::ir::{Computation, InstrId, Scalar};
use weft_indexing::IndexingMap;
use weft_partition::{Folded, Function, FunctionId, FusionPlan};

/// The elements that functions of a plan yield at a place.
pub(super) type Yielded = BTreeMap<FunctionId, Vec<Operand>>;

/// For each instruction the function that computes it for those that are given its value.
pub(super) fn providers(plan: &FusionPlan) -> BTreeMap<InstrId, FunctionId> {
    let provided = |(function, planned): (FunctionId, &Function)| {
        let first = planned.roots.first()?.instruction;
        let is_alone = planned.roots.iter().all(|root| root.instruction == first);
        (is_alone && !planned.given.contains(&first)).then_some((first, function))
    };
    (0..).map(FunctionId).zip(plan.functions()).filter_map(provided).collect()
}

/// Whether a function computes nothing, but passes on what it is given.
pub(super) fn passes_on(planned: &Function) -> bool {
    planned.members.is_empty() && planned.roots.iter().all(|root| planned.given.contains(&root.instruction))
}

/// The results of a map at indices.
pub(super) fn results_at(map: &IndexingMap, indices: &[Expr]) -> Result<Vec<Expr>, Error> {
    let at = |variable: Var| match variable {
        Var::Dim(dimension) => indices.get(dimension as usize).cloned(),
        _ => None,
    };
    map.results().iter().map(|result| result.substitute(at)).collect()
}

/// What a reduction begins with, of which these values are computed.
pub(super) fn initial_values(
    (plan, computation): (&FusionPlan, &Computation),
    fold: &Folded,
    computed: Vec<Operand>,
) -> Vec<Operand> {
    let operands = &computation.instructions[fold.reduction].operands;
    let mut computed = computed.into_iter();
    let one = |id: &InstrId| match plan.splat(*id) {
        Some(scalar) => Some(Operand::Constant(scalar)),
        None => computed.next(),
    };
    operands[operands.len() / 2..].iter().filter_map(one).collect()
}

/// Whether values are the neutral element of a fold.
pub(super) fn is_neutral(values: &[Operand], fold: &Folded) -> bool {
    let is_same = |(value, neutral): (&Operand, &Scalar)| match value {
        Operand::Constant(scalar) => scalar.bits() == neutral.bits(),
        Operand::Value(_) => false,
    };
    values.iter().zip(&fold.neutral).all(is_same)
}
