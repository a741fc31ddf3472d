//! Operations that kernels compute as others, written out.

use super::{Decision, Verdict, fast_scatters, given, unique_scatters};
use crate::Target;
use crate::legal::{computes, is_beyond_kernels};
use crate::runs::Runs;
use crate::scattered::Way;
use std::borrow::Cow;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{Computation, ComputationId, ElementType, InstrId, Instruction, Module, Op};
use weft_hlo::passes::{
    BatchNormalization, BitcastWidths, DeadCode, DimensionSizes, FreeOrder, MultiplyHigh, OneDevice, OtherDots, Pass,
    RandomBits, RegionConstants, Rewritten, Scans, SelectAndScatter, Sorts, StochasticConvert, Tuples, WideSums,
    expand_fourier, expand_linear_algebra, expand_random_numbers, expand_scalar_regions, order_scatters,
};

/// The module with what has no code of its own written out as operations that have:
/// - extents that are known, collectives of one device, copies and computations that begin and end, batch normalization, `cholesky`, `triangular-solve` and LAPACK's routines;
/// - `ragged-dot`, `scaled-dot`, `fft`, `rng`, `rng-bit-generator`, `scan`, `select-and-scatter`, `sort`, `topk`, the custom calls `ApproxTopK` and `PartialReduce`;
/// - `mulhi`, `stochastic-convert`, `bitcast-convert` between widths, scatters of many windows into many elements in an order, constants of arrays in computations of elements, arrays in comparators, and in computations of elements that kernels cannot compute otherwise, and sums of narrow floats, which are accumulated in `f32`.
///
/// Linear algebra, Fourier transforms and random numbers on types that the target does not compute with stay as they are: the host takes one step for each then.
pub(super) fn expand<'m>(
    module: &'m Module,
    target: &Target,
    decisions: &mut Vec<Decision>,
) -> Result<Cow<'m, Module>, Diagnostics> {
    let is_meant = |op: &Op| {
        matches!(
            op,
            Op::RaggedDot { .. }
                | Op::ScaledDot { .. }
                | Op::Fft { .. }
                | Op::Rng { .. }
                | Op::RngBitGenerator { .. }
                | Op::SelectAndScatter { .. }
                | Op::Sort { .. }
                | Op::TopK { .. }
                | Op::MultiplyHigh
                | Op::StochasticConvert
                | Op::BitcastConvert
                | Op::Scatter { .. }
                | Op::Map { .. }
                | Op::Reduce { .. }
                | Op::Scan { .. }
                | Op::ReduceWindow { .. }
                | Op::BatchNormTraining { .. }
                | Op::BatchNormInference { .. }
                | Op::BatchNormGrad { .. }
                | Op::AllGather { .. }
                | Op::AllGatherStart { .. }
                | Op::AllReduce { .. }
                | Op::AllReduceStart { .. }
                | Op::AllToAll { .. }
                | Op::RaggedAllToAll { .. }
                | Op::ReduceScatter { .. }
                | Op::CollectiveBroadcast { .. }
                | Op::CollectivePermute { .. }
                | Op::CollectivePermuteStart { .. }
                | Op::CopyStart { .. }
                | Op::AsyncStart { .. }
                | Op::AsyncShorthand { .. }
                | Op::AddDependency
                | Op::GetDimensionSize { .. }
                | Op::PartitionId
                | Op::ReplicaId
                | Op::Cholesky { .. }
                | Op::TriangularSolve { .. }
                | Op::CustomCall { .. }
        )
    };
    let mut instructions = module.computations.values().flat_map(|computation| computation.instructions.values());
    if !instructions.any(|instruction| is_meant(&instruction.op)) {
        return Ok(Cow::Borrowed(module));
    }
    let mut expanded = module.longhand();
    let computes = |element_type: ElementType| computes(target, element_type);
    run(&FreeOrder, &mut expanded, decisions)?;
    run(&OneDevice, &mut expanded, decisions)?;
    given::dissolve_compound(&mut expanded, decisions);
    run(&Scans, &mut expanded, decisions)?;
    rewritten(expand_linear_algebra(&expanded, &computes), &mut expanded, decisions);
    rewritten(expand_fourier(&expanded, &computes), &mut expanded, decisions);
    rewritten(expand_random_numbers(&expanded, &computes), &mut expanded, decisions);
    let regions = expand_scalar_regions(&expanded, &|region| is_beyond_kernels(&expanded, region, target));
    rewritten(regions, &mut expanded, decisions);
    let compound: [&dyn Pass; 7] =
        [&DimensionSizes, &RegionConstants, &BatchNormalization, &OtherDots, &RandomBits, &SelectAndScatter, &Sorts];
    for pass in compound {
        run(pass, &mut expanded, decisions)?;
    }
    unique_scatters::mark(&mut expanded, decisions);
    fast_scatters::mark(&mut expanded, target, decisions);
    let is_unordered = |module: &Module, computation: &Computation, scatter: &Instruction| {
        Way::of(module, computation, scatter).is_err()
    };
    let ordered = order_scatters(&expanded, Runs::MOST, &is_unordered)?;
    rewritten(ordered, &mut expanded, decisions);
    if let Cow::Owned(changed) = &expanded {
        // What stood between a state and its words is needed no longer.
        let taken_apart = Tuples.run(changed)?.module;
        expanded = Cow::Owned(DeadCode.run(&taken_apart)?.module);
    }
    for pass in [&WideSums as &dyn Pass, &MultiplyHigh, &StochasticConvert, &BitcastWidths] {
        run(pass, &mut expanded, decisions)?;
    }
    Ok(expanded)
}

/// Runs a pass, and tells what it rewrote.
fn run(pass: &dyn Pass, module: &mut Cow<'_, Module>, decisions: &mut Vec<Decision>) -> Result<(), Diagnostics> {
    rewritten(pass.run(module)?, module, decisions);
    Ok(())
}

/// Takes what was rewritten, and tells of it.
pub(super) fn rewritten(rewritten: Rewritten, module: &mut Cow<'_, Module>, decisions: &mut Vec<Decision>) {
    for change in &rewritten.changes {
        let (computation, name) = change.place.split_once('/').unwrap_or(("", &change.place));
        let is_entry = computation == module.entry_computation().name;
        let instruction = if is_entry { name.to_owned() } else { change.place.clone() };
        decisions.push(Decision { instruction, verdict: Verdict::Rewritten, reason: change.rule.to_owned() });
    }
    if !rewritten.changes.is_empty() {
        *module = Cow::Owned(rewritten.module);
    }
}

/// Whether an instruction is meant, and a transformation of those that are.
type IsMeant<'a> = dyn Fn(&Computation, InstrId) -> bool + 'a;
type OfMeant = fn(&Module, &IsMeant<'_>) -> Rewritten;

/// What a transformation makes of the instructions of programs that are meant, and tells of it.
pub(super) fn in_programs(
    module: Module,
    programs: &[ComputationId],
    (transformation, is_meant): (OfMeant, &IsMeant<'_>),
    decisions: &mut Vec<Decision>,
) -> Module {
    let names: Vec<&str> = programs.iter().map(|id| module.computations[*id].name.as_str()).collect();
    let is_in_program = |computation: &Computation, id: InstrId| {
        names.contains(&computation.name.as_str()) && is_meant(computation, id)
    };
    let made = transformation(&module, &is_in_program);
    let mut changed = Cow::Owned(module);
    rewritten(made, &mut changed, decisions);
    changed.into_owned()
}
