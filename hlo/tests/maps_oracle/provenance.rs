//! Provenance: the elements that each element of a result is computed from, by the operation's own loops.
//!
//! Everything here is written from the operation semantics alone, so that it shares no mistake with the maps it judges. An
//! operation reads what its plainest loop looks at: `select` all three operands, a slice all its starts. Where one
//! computation combines several inputs, every result reads all of them.

use super::scene::{Reads, Recorder, Scene};
use super::{calls, indexed, lines, matrices, movement, products, windows};
use weft_hlo::ir::Op;

/// What an instruction reads.
pub(crate) fn reads(scene: Scene<'_>) -> Result<Reads, String> {
    let mut recorder = Recorder::new(scene);
    let r = &mut recorder;
    match &scene.instruction().op {
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare { .. }
        | Op::Convert
        | Op::StochasticConvert
        | Op::ReducePrecision { .. }
        | Op::Select
        | Op::Clamp
        | Op::MultiplyHigh
        | Op::Complex
        | Op::Real
        | Op::Imag
        | Op::Rng { .. }
        | Op::Map { .. } => elementwise(r),
        Op::Parameter { .. }
        | Op::Constant(_)
        | Op::Iota { .. }
        | Op::AfterAll
        | Op::PartitionId
        | Op::ReplicaId
        | Op::GetDimensionSize { .. } => {}
        Op::Broadcast { dimensions } => movement::broadcast(r, dimensions),
        Op::Transpose { permutation } => movement::transpose(r, permutation),
        Op::Reverse { dimensions } => movement::reverse(r, dimensions),
        Op::Slice { dimensions } => movement::slice(r, dimensions),
        Op::Concatenate { dimension } => movement::concatenate(r, *dimension),
        Op::Pad { padding } => movement::pad(r, padding),
        Op::Reshape => movement::reshape(r),
        Op::Bitcast => movement::bitcast(r),
        Op::BitcastConvert => movement::bitcast_convert(r),
        Op::DynamicSlice { dynamic_slice_sizes } => movement::dynamic_slice(r, dynamic_slice_sizes),
        Op::DynamicUpdateSlice => movement::dynamic_update_slice(r),
        Op::Gather { .. } => indexed::gather(r),
        Op::Scatter { .. } => indexed::scatter(r),
        Op::Reduce { dimensions, .. } => lines::reduce(r, dimensions),
        Op::Sort { dimension, .. } => lines::sort(r, *dimension),
        Op::TopK { .. } => lines::top_k(r),
        Op::Fft { fft_type, fft_length } => lines::fft(r, *fft_type, fft_length),
        Op::RngBitGenerator { .. } => lines::state(r),
        Op::BatchNormTraining { feature_index, .. } => lines::batch_norm_training(r, *feature_index),
        Op::BatchNormInference { feature_index, .. } => lines::batch_norm_inference(r, *feature_index),
        Op::BatchNormGrad { feature_index, .. } => lines::batch_norm_gradient(r, *feature_index),
        Op::ReduceWindow { window, .. } => windows::reduce_window(r, window),
        Op::SelectAndScatter { window, select, .. } => windows::select_and_scatter(r, window, *select)?,
        Op::Convolution { .. } => products::convolution(r),
        Op::Dot { .. } | Op::ScaledDot { .. } => products::dot(r),
        Op::Cholesky { lower } => matrices::cholesky(r, *lower),
        Op::TriangularSolve { .. } => matrices::triangular_solve(r),
        Op::Tuple => return Ok(calls::tuple(scene)),
        Op::GetTupleElement { index } => return Ok(calls::get_tuple_element(scene, *index)),
        Op::Copy | Op::OptimizationBarrier | Op::AddDependency => return Ok(calls::same(scene)),
        Op::Call { to_apply } => return calls::call(scene, *to_apply, 0),
        Op::Fusion { calls, .. } => return calls::call(scene, *calls, 0),
        Op::Conditional { branches, .. } => return calls::conditional(scene, branches),
        Op::RaggedDot { .. } => products::ragged_dot(r),
        // What rounds and steps read is not found out: nothing is claimed, and maps that claim something must be coarse.
        Op::While { .. } | Op::Scan { .. } => {}
        other => return Err(format!("'{}' has no provenance", other.name())),
    }
    Ok(recorder.reads)
}

/// The elements at the same index, and scalars.
fn elementwise(r: &mut Recorder<'_>) {
    for output in r.outputs(0) {
        for operand in 0..r.scene.operands() {
            let cell = if r.scene.operand(operand).is_empty() { &[][..] } else { &output };
            r.one(0, &output, operand, cell);
        }
    }
}
