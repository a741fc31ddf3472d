//! The maps of every operation that calls no computation with whole values.

use super::collective::{self, Collective, ids, ids_of_channel};
use super::convolution::{Convolution, convolution};
use super::gather::Windows;
use super::product::Contraction;
use super::site::{Found, Site, index};
use super::{Dependence, Relation, Undefined};
use super::{
    asynchronous, dynamic, gather, linear, movement, normalization, product, ragged_dot, reduction, reshape,
    scaled_dot, scan, scatter, tuples, window,
};
use crate::ir::Op;

/// How an instruction depends on its operands.
///
/// # Errors
/// Where nothing is known; see [`Undefined`].
pub(super) fn operation(site: &Site<'_>) -> Found {
    if !site.is_static() {
        return Err(Undefined::DynamicExtents);
    }
    match &site.instruction.op {
        Op::Parameter { .. } => Ok(Vec::new()),
        Op::Constant(_) | Op::Iota { .. } | Op::PartitionId | Op::ReplicaId | Op::RngGetAndUpdateState { .. } => {
            Ok((0..site.results()).map(|result| of_nothing(site, result)).collect())
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
        | Op::Map { .. } => Ok(elementwise(site)),
        Op::Broadcast { dimensions } => {
            let pairs: Vec<(usize, usize)> = dimensions.iter().map(|&own| index(own)).zip(0..).collect();
            Ok(vec![site.matched(0, 0, &pairs)])
        }
        Op::Transpose { permutation } => {
            let pairs: Vec<(usize, usize)> = (0..).zip(permutation.iter().map(|&own| index(own))).collect();
            Ok(vec![site.matched(0, 0, &pairs)])
        }
        Op::Reshape => reshape::reshape(site),
        Op::Bitcast => reshape::bitcast(site),
        Op::BitcastConvert => reshape::bitcast_convert(site),
        // Of static shapes extents at run time are those of the text.
        Op::DynamicReshape => Ok(reshape::reshape(site)?.into_iter().chain(unread(site, 1)).collect()),
        Op::SetDimensionSize { .. } => Ok(std::iter::once(site.same(0, 0)).chain(unread(site, 1)).collect()),
        Op::GetDimensionSize { .. } => Ok(unread(site, 0).collect()),
        Op::Slice { dimensions } => movement::slice(site, dimensions),
        Op::Reverse { dimensions } => movement::reverse(site, dimensions),
        Op::Concatenate { dimension } => movement::concatenate(site, *dimension),
        Op::Pad { padding } => movement::pad(site, padding),
        Op::DynamicSlice { .. } => dynamic::slice(site),
        Op::DynamicUpdateSlice => dynamic::update_slice(site),
        Op::Gather {
            offset_dims,
            collapsed_slice_dims,
            start_index_map,
            operand_batching_dims,
            start_indices_batching_dims,
            index_vector_dim,
            slice_sizes,
            ..
        } => {
            let windows = Windows {
                within: offset_dims,
                dropped: collapsed_slice_dims,
                mapped: start_index_map,
                operand_batch: operand_batching_dims,
                indices_batch: start_indices_batching_dims,
                index_vector: *index_vector_dim,
                sizes: slice_sizes.clone(),
                operand: site.operand(0),
                indices: site.operand(1),
                rank: site.result(0).len(),
            };
            gather::gather(site, &windows)
        }
        Op::Scatter {
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            input_batching_dims,
            scatter_indices_batching_dims,
            index_vector_dim,
            ..
        } => {
            let inputs = site.operands() / 2;
            let (operand, updates) = (site.operand(0), site.operand(inputs + 1));
            let is_whole = |dimension: usize| {
                let mut dropped = inserted_window_dims.iter().chain(input_batching_dims);
                !dropped.any(|&own| index(own) == dimension)
            };
            let mut within = (0..updates.len())
                .filter(|&dimension| update_window_dims.iter().any(|&own| index(own) == dimension))
                .map(|dimension| updates[dimension]);
            let sizes = (0..operand.len())
                .map(|dimension| if is_whole(dimension) { within.next().unwrap_or(1) } else { 1 })
                .collect();
            let windows = Windows {
                within: update_window_dims,
                dropped: inserted_window_dims,
                mapped: scatter_dims_to_operand_dims,
                operand_batch: input_batching_dims,
                indices_batch: scatter_indices_batching_dims,
                index_vector: *index_vector_dim,
                sizes,
                operand,
                indices: site.operand(inputs),
                rank: updates.len(),
            };
            scatter::scatter(site, &windows)
        }
        Op::Reduce { dimensions, .. } => reduction::reduce(site, dimensions),
        Op::ReduceWindow { window, .. } => window::reduce_window(site, window),
        Op::SelectAndScatter { window, .. } => window::select_and_scatter(site, window),
        Op::Sort { dimension, .. } => reduction::sort(site, *dimension),
        Op::TopK { .. } => reduction::top_k(site),
        Op::Fft { fft_length, .. } => reduction::fft(site, fft_length),
        Op::Scan { dimension, num_carries, is_reverse, .. } => scan::scan(site, *dimension, *num_carries, *is_reverse),
        Op::Cholesky { .. } => linear::cholesky(site),
        Op::TriangularSolve { left_side, .. } => linear::triangular_solve(site, *left_side),
        Op::BatchNormTraining { feature_index, .. } => normalization::training(site, *feature_index),
        Op::BatchNormInference { feature_index, .. } => normalization::inference(site, *feature_index),
        Op::BatchNormGrad { feature_index, .. } => normalization::gradient(site, *feature_index),
        Op::Rng { .. } => Ok((0..site.operands()).map(|operand| site.all(0, operand)).collect()),
        Op::RngBitGenerator { .. } => {
            let reason = "which numbers of a state are the key and which the counter is not looked into";
            Ok((0..site.results()).map(|result| site.coarse(result, 0, &[], reason)).collect())
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
            match &site.instruction.op {
                Op::ScaledDot { .. } => scaled_dot::scaled_dot(site, &contraction),
                Op::RaggedDot { lhs_ragged_dims, rhs_group_dims, .. } => {
                    ragged_dot::ragged_dot(site, &contraction, lhs_ragged_dims, rhs_group_dims)
                }
                _ => product::dot(site, &contraction),
            }
        }
        Op::Convolution { window, dim_labels, feature_group_count, batch_group_count, .. } => {
            let of = Convolution {
                window,
                labels: dim_labels,
                feature_groups: *feature_group_count,
                batch_groups: *batch_group_count,
                input: site.operand(0),
                kernel: site.operand(1),
                output: site.result(0),
            };
            convolution(site, &of)
        }
        Op::Tuple => tuples::tuple(site),
        Op::GetTupleElement { index } => tuples::get_tuple_element(site, *index),
        Op::Copy | Op::OptimizationBarrier | Op::Domain { .. } | Op::AddDependency => tuples::copy(site),
        Op::AfterAll => Ok(Vec::new()),
        Op::While { .. } => Err(Undefined::Loop),
        Op::Infeed { .. }
        | Op::Outfeed { .. }
        | Op::Send { .. }
        | Op::SendDone { .. }
        | Op::Recv { .. }
        | Op::RecvDone { .. } => Err(Undefined::Outside),
        Op::RaggedAllToAll { .. } => Err(Undefined::RaggedExchange),
        Op::AsyncUpdate { .. } | Op::AllReduceDone => tuples::copy(site),
        Op::AsyncDone { .. } | Op::AllGatherDone | Op::CollectivePermuteDone => tuples::get_tuple_element(site, 1),
        Op::AsyncShorthand { phase, operation: None, .. } => asynchronous::shorthand(site, *phase),
        Op::CopyStart { .. } => asynchronous::copied(site),
        Op::CopyDone => tuples::get_tuple_element(site, 0),
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
        | Op::CollectivePermuteStart { .. } => exchange(site),
    }
}

/// Collectives.
fn exchange(site: &Site<'_>) -> Found {
    match &site.instruction.op {
        Op::AllGather { channel_id, replica_groups, dimension, use_global_device_ids, .. } => {
            let ids = ids(*channel_id, *use_global_device_ids, None);
            collective::all_gather(&Collective::new(site, replica_groups, ids)?, *dimension)
        }
        Op::AllGatherStart { channel_id, replica_groups, dimension, use_global_device_ids, .. } => {
            let ids = ids(*channel_id, *use_global_device_ids, None);
            asynchronous::started(site, |result| {
                collective::all_gather(&Collective::new(result, replica_groups, ids)?, *dimension)
            })
        }
        Op::AllReduce { channel_id, mode, replica_groups, use_global_device_ids, .. }
        | Op::AllReduceStart { channel_id, mode, replica_groups, use_global_device_ids, .. } => {
            let ids = ids(*channel_id, *use_global_device_ids, *mode);
            collective::all_reduce(&Collective::new(site, replica_groups, ids)?)
        }
        Op::ReduceScatter { channel_id, mode, replica_groups, use_global_device_ids, dimension, .. } => {
            let ids = ids(*channel_id, *use_global_device_ids, *mode);
            collective::reduce_scatter(&Collective::new(site, replica_groups, ids)?, *dimension)
        }
        Op::AllToAll { channel_id, replica_groups, dimension, .. } => {
            collective::all_to_all(&Collective::new(site, replica_groups, ids_of_channel(*channel_id))?, *dimension)
        }
        Op::CollectiveBroadcast { channel_id, replica_groups } => {
            collective::broadcast(&Collective::new(site, replica_groups, ids_of_channel(*channel_id))?)
        }
        Op::CollectivePermute { channel_id, source_target_pairs, slice_sizes } => {
            collective::permute(site, source_target_pairs, *channel_id, slice_sizes)
        }
        Op::CollectivePermuteStart { channel_id, source_target_pairs, slice_sizes } => {
            asynchronous::started(site, |result| {
                collective::permute(result, source_target_pairs, *channel_id, slice_sizes)
            })
        }
        _ => unreachable!("the caller has chosen the collectives"),
    }
}

/// Operands from `first` on of which only the shape, or not even that, counts.
fn unread(site: &Site<'_>, first: usize) -> impl Iterator<Item = Dependence> {
    (first..site.operands()).map(|operand| site.on(0, operand, Relation::Maps(Vec::new())))
}

/// Each element depends on those at the same index, and on scalars.
fn elementwise(site: &Site<'_>) -> Vec<Dependence> {
    let on = |operand| if site.operand(operand).is_empty() { site.all(0, operand) } else { site.same(0, operand) };
    (0..site.operands()).map(on).collect()
}

/// Elements that depend on no operand; the map leads from or to "no input", which has an empty index.
fn of_nothing(site: &Site<'_>, result: usize) -> Dependence {
    let extents = site.result(result);
    let map = if site.is_backward() {
        super::site::matched(extents, &[], &[])
    } else {
        super::site::matched(&[], extents, &[])
    };
    Dependence { result: Some(result), operand: None, leaf: None, relation: Relation::from(map) }
}
