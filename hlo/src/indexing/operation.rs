//! Indexing maps of single operations: dispatch from each opcode to the file of its family.

use super::collective::{self, Collective, ids, ids_of_channel};
use super::context::{InstructionContext, OperationMaps, index};
use super::convolution::{Convolution, convolution};
use super::dot::Contraction;
use super::{
    Dependence, Relation, Undefined, asynchronous, dot, dynamic, gather, movement, reduction, reshape, window,
};
use crate::ir::Op;

/// How an instruction depends on its operands.
///
/// # Errors
/// Where nothing is known; see [`Undefined`].
pub(super) fn operation(context: &InstructionContext<'_>) -> OperationMaps {
    if !context.is_static() {
        return Err(Undefined::DynamicExtents);
    }
    match &context.instruction.op {
        Op::Parameter { .. } => Ok(Vec::new()),
        Op::Constant(_) | Op::Iota { .. } | Op::PartitionId | Op::ReplicaId | Op::RngGetAndUpdateState { .. } => {
            Ok((0..context.results()).map(|result| of_nothing(context, result)).collect())
        }
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
        | Op::Map { .. } => Ok(elementwise(context)),
        Op::Broadcast { dimensions } => {
            let pairs: Vec<(usize, usize)> = dimensions.iter().map(|&own| index(own)).zip(0..).collect();
            Ok(vec![context.matched(0, 0, &pairs)])
        }
        Op::Transpose { permutation } => {
            let pairs: Vec<(usize, usize)> = (0..).zip(permutation.iter().map(|&own| index(own))).collect();
            Ok(vec![context.matched(0, 0, &pairs)])
        }
        Op::Reshape => reshape::reshape(context),
        Op::Bitcast => reshape::bitcast(context),
        Op::BitcastConvert => reshape::bitcast_convert(context),
        // Of static shapes extents at run time are those of the text.
        Op::DynamicReshape => Ok(reshape::reshape(context)?.into_iter().chain(unread(context, 1)).collect()),
        Op::SetDimensionSize { .. } => Ok(std::iter::once(context.same(0, 0)).chain(unread(context, 1)).collect()),
        Op::GetDimensionSize { .. } => Ok(unread(context, 0).collect()),
        Op::Slice { dimensions } => movement::slice(context, dimensions),
        Op::Reverse { dimensions } => movement::reverse(context, dimensions),
        Op::Concatenate { dimension } => movement::concatenate(context, *dimension),
        Op::Pad { padding } => movement::pad(context, padding),
        Op::DynamicSlice { .. } => dynamic::slice(context),
        Op::DynamicUpdateSlice => dynamic::update_slice(context),
        Op::Gather { .. } => gather::gather(context),
        Op::Scatter { .. } => gather::scatter(context),
        Op::Reduce { dimensions, .. } => reduction::reduce(context, dimensions),
        Op::ReduceWindow { window, .. } => window::reduce_window(context, window),
        Op::SelectAndScatter { window, .. } => window::select_and_scatter(context, window),
        Op::Sort { dimension, .. } => reduction::sort(context, *dimension),
        Op::TopK { .. } => reduction::top_k(context),
        Op::Fft { fft_length, .. } => reduction::fft(context, fft_length),
        Op::Scan { dimension, num_carries, is_reverse, .. } => {
            reduction::scan(context, *dimension, *num_carries, *is_reverse)
        }
        Op::Cholesky { .. } => reduction::cholesky(context),
        Op::TriangularSolve { left_side, .. } => reduction::triangular_solve(context, *left_side),
        Op::BatchNormTraining { feature_index, .. } => reduction::batch_norm_training(context, *feature_index),
        Op::BatchNormInference { feature_index, .. } => reduction::batch_norm_inference(context, *feature_index),
        Op::BatchNormGrad { feature_index, .. } => reduction::batch_norm_gradient(context, *feature_index),
        Op::Rng { .. } => Ok((0..context.operands()).map(|operand| context.all(0, operand)).collect()),
        Op::RngBitGenerator { .. } => {
            let reason = "which numbers of a state are the key and which the counter is not looked into";
            Ok((0..context.results()).map(|result| context.coarse(result, 0, &[], reason)).collect())
        }
        Op::Dot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. }
        | Op::ScaledDot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. }
        | Op::RaggedDot { lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims, .. } => {
            let contraction = Contraction {
                lhs_batch: lhs_batch_dims,
                lhs_contracting: lhs_contracting_dims,
                rhs_batch: rhs_batch_dims,
                rhs_contracting: rhs_contracting_dims,
            };
            match &context.instruction.op {
                Op::ScaledDot { .. } => dot::scaled_dot(context, &contraction),
                Op::RaggedDot { lhs_ragged_dims, rhs_group_dims, .. } => {
                    dot::ragged_dot(context, &contraction, lhs_ragged_dims, rhs_group_dims)
                }
                _ => dot::dot(context, &contraction),
            }
        }
        Op::Convolution { window, dim_labels, feature_group_count, batch_group_count, .. } => {
            let of = Convolution {
                window,
                labels: dim_labels,
                feature_groups: *feature_group_count,
                batch_groups: *batch_group_count,
                input: context.operand(0),
                kernel: context.operand(1),
                output: context.result(0),
            };
            convolution(context, &of)
        }
        Op::Tuple => movement::tuple(context),
        Op::GetTupleElement { index } => movement::get_tuple_element(context, *index),
        Op::Copy | Op::OptimizationBarrier | Op::Domain { .. } | Op::AddDependency => movement::copy(context),
        Op::AfterAll => Ok(Vec::new()),
        Op::While { .. } => Err(Undefined::Loop),
        Op::Infeed { .. }
        | Op::Outfeed { .. }
        | Op::Send { .. }
        | Op::SendDone { .. }
        | Op::Recv { .. }
        | Op::RecvDone { .. } => Err(Undefined::Outside),
        Op::RaggedAllToAll { .. } => Err(Undefined::RaggedExchange),
        Op::AsyncUpdate { .. } | Op::AllReduceDone => movement::copy(context),
        Op::AsyncDone { .. } | Op::AllGatherDone | Op::CollectivePermuteDone => movement::get_tuple_element(context, 1),
        Op::AsyncShorthand { phase, operation: None, .. } => asynchronous::shorthand(context, *phase),
        Op::CopyStart { .. } => asynchronous::copied(context),
        Op::CopyDone => movement::get_tuple_element(context, 0),
        Op::CustomCall { custom_call_target, .. } => Err(Undefined::CustomCall(custom_call_target.clone())),
        Op::Fusion { .. }
        | Op::Call { .. }
        | Op::Conditional { .. }
        | Op::AsyncStart { .. }
        | Op::AsyncShorthand { operation: Some(_), .. } => {
            unreachable!("the analysis goes into what these call before it asks for operations")
        }
        Op::AllGather { .. }
        | Op::AllGatherStart { .. }
        | Op::AllReduce { .. }
        | Op::AllReduceStart { .. }
        | Op::ReduceScatter { .. }
        | Op::AllToAll { .. }
        | Op::CollectiveBroadcast { .. }
        | Op::CollectivePermute { .. }
        | Op::CollectivePermuteStart { .. } => exchange(context),
    }
}

/// Collectives.
fn exchange(context: &InstructionContext<'_>) -> OperationMaps {
    match &context.instruction.op {
        Op::AllGather { channel_id, replica_groups, dimension, use_global_device_ids, .. } => {
            let ids = ids(*channel_id, *use_global_device_ids, None);
            collective::all_gather(&Collective::new(context, replica_groups, ids)?, *dimension)
        }
        Op::AllGatherStart { channel_id, replica_groups, dimension, use_global_device_ids, .. } => {
            let ids = ids(*channel_id, *use_global_device_ids, None);
            asynchronous::started(context, |result| {
                collective::all_gather(&Collective::new(result, replica_groups, ids)?, *dimension)
            })
        }
        Op::AllReduce { channel_id, mode, replica_groups, use_global_device_ids, .. }
        | Op::AllReduceStart { channel_id, mode, replica_groups, use_global_device_ids, .. } => {
            let ids = ids(*channel_id, *use_global_device_ids, *mode);
            collective::all_reduce(&Collective::new(context, replica_groups, ids)?)
        }
        Op::ReduceScatter { channel_id, mode, replica_groups, use_global_device_ids, dimension, .. } => {
            let ids = ids(*channel_id, *use_global_device_ids, *mode);
            collective::reduce_scatter(&Collective::new(context, replica_groups, ids)?, *dimension)
        }
        Op::AllToAll { channel_id, replica_groups, dimension, .. } => {
            collective::all_to_all(&Collective::new(context, replica_groups, ids_of_channel(*channel_id))?, *dimension)
        }
        Op::CollectiveBroadcast { channel_id, replica_groups } => {
            collective::broadcast(&Collective::new(context, replica_groups, ids_of_channel(*channel_id))?)
        }
        Op::CollectivePermute { channel_id, source_target_pairs, slice_sizes } => {
            collective::permute(context, source_target_pairs, *channel_id, slice_sizes)
        }
        Op::CollectivePermuteStart { channel_id, source_target_pairs, slice_sizes } => {
            asynchronous::started(context, |result| {
                collective::permute(result, source_target_pairs, *channel_id, slice_sizes)
            })
        }
        _ => unreachable!("the caller has chosen the collectives"),
    }
}

/// Operands from `first` on of which only the shape, or not even that, counts.
fn unread(context: &InstructionContext<'_>, first: usize) -> impl Iterator<Item = Dependence> {
    (first..context.operands()).map(|operand| context.on(0, operand, Relation::Maps(Vec::new())))
}

/// Each element depends on those at the same index, and on scalars.
fn elementwise(context: &InstructionContext<'_>) -> Vec<Dependence> {
    let on =
        |operand| if context.operand(operand).is_empty() { context.all(0, operand) } else { context.same(0, operand) };
    (0..context.operands()).map(on).collect()
}

/// Elements that depend on no operand; the map leads from or to "no input", which has an empty index.
fn of_nothing(context: &InstructionContext<'_>, result: usize) -> Dependence {
    let extents = context.result(result);
    let map = if context.is_backward() {
        super::context::matched(extents, &[], &[])
    } else {
        super::context::matched(&[], extents, &[])
    };
    Dependence { result: Some(result), operand: None, leaf: None, relation: Relation::from(map) }
}
