//! Dispatch from operations to the functions that compute them.

use super::call::Call;
use super::work::Stop;
use super::{
    bitcast, conversion, convolution, custom, dot, dynamic_slice, elementwise, fourier, gather, linalg, movement,
    normalization, precision, ragged_dot, ragged_exchange, random, reduce, scaled_dot, scan, scatter, sort, top_k,
    window,
};
use crate::ir::{Data, Op};

/// The elements of the results, one array per leaf of the shape.
pub(super) fn compute(call: &Call<'_, '_>) -> Result<Vec<Data>, Stop> {
    let one = match call.op() {
        Op::Iota { dimension } => movement::iota(call, *dimension as usize),
        Op::Broadcast { dimensions } => movement::broadcast(call, dimensions),
        Op::Bitcast => movement::bitcast(call),
        Op::BitcastConvert => bitcast::convert(call),
        Op::Transpose { permutation } => {
            let permutation: Vec<usize> = permutation.iter().map(|&dimension| dimension as usize).collect();
            movement::transpose(call.work(), &permutation, call.shape(0), call.data(0))
        }
        Op::Slice { dimensions } => movement::slice(call, dimensions),
        Op::Reverse { dimensions } => movement::reverse(call, dimensions),
        Op::Concatenate { dimension } => movement::concatenate(call, *dimension as usize),
        Op::Pad { padding } => movement::pad(call, padding),
        Op::Convert => conversion::convert(call.work(), call.data(0), call.result().element_type),
        Op::StochasticConvert => precision::stochastic_convert(call),
        Op::ReducePrecision { exponent_bits, mantissa_bits } => precision::reduce(call, *exponent_bits, *mantissa_bits),
        Op::Compare { direction, order } => elementwise::compare(call, *direction, *order),
        Op::Select => elementwise::select(call),
        Op::Clamp => elementwise::clamp(call),
        Op::Complex => elementwise::complex(call),
        Op::Real => elementwise::real(call),
        Op::Imag => elementwise::imag(call),
        Op::Unary(op) => elementwise::unary(call, *op),
        Op::Binary(op) => elementwise::binary(call, *op),
        // There is one device.
        Op::PartitionId | Op::ReplicaId => Ok(Data::U32(vec![0])),
        Op::RaggedAllToAll { dimension, .. } => {
            ragged_exchange::ragged_all_to_all(call, dimension.unwrap_or(0) as usize)
        }
        Op::Map { to_apply, .. } => elementwise::map(call, *to_apply),
        Op::Gather { .. } => gather::gather(call),
        Op::DynamicSlice { .. } => dynamic_slice::dynamic_slice(call),
        Op::DynamicUpdateSlice => dynamic_slice::dynamic_update_slice(call),
        Op::Dot { .. } => dot::dot(call),
        Op::RaggedDot { .. } => ragged_dot::ragged_dot(call),
        Op::ScaledDot { .. } => scaled_dot::scaled_dot(call),
        Op::Convolution { .. } => convolution::convolution(call),
        Op::BatchNormTraining { epsilon, feature_index } => {
            return normalization::training(call, epsilon.0, *feature_index as usize);
        }
        Op::BatchNormInference { epsilon, feature_index } => {
            normalization::inference(call, epsilon.0, *feature_index as usize)
        }
        Op::BatchNormGrad { epsilon, feature_index } => {
            return normalization::gradient(call, epsilon.0, *feature_index as usize);
        }
        Op::MultiplyHigh => elementwise::multiply_high(call),
        // Of an extent of more than 32 bits the lowest, as in XLA.
        Op::GetDimensionSize { dimension } => Ok(Data::S32(vec![call.shape(0).extents[*dimension as usize] as i32])),
        Op::Fft { fft_type, fft_length } => fourier::fft(call, *fft_type, fft_length),
        Op::Cholesky { lower } => linalg::cholesky_operation(call, *lower),
        Op::TriangularSolve { left_side, lower, unit_diagonal, transpose_a } => {
            linalg::triangular_solve(call, *left_side, *lower, *unit_diagonal, *transpose_a)
        }
        Op::Rng { distribution } => random::rng(call, *distribution),
        Op::RngGetAndUpdateState { .. } => random::state(call),
        Op::RngBitGenerator { algorithm } => return random::bit_generator(call, *algorithm),
        Op::CustomCall { custom_call_target, .. } => return custom::custom_call(call, custom_call_target),
        Op::Reduce { dimensions, to_apply } => return reduce::reduce(call, dimensions, *to_apply),
        Op::ReduceWindow { window, to_apply } => return window::reduce_window(call, window, *to_apply),
        Op::SelectAndScatter { window, select, scatter } => window::select_and_scatter(call, window, *select, *scatter),
        Op::Scatter { .. } => return scatter::scatter(call),
        Op::Sort { dimension, to_apply, .. } => return sort::sort(call, *dimension as usize, *to_apply),
        Op::TopK { k, largest } => return top_k::top_k(call, *k as usize, *largest),
        Op::Scan { .. } => return scan::scan(call),
        _ => unreachable!("these are seen to before, or refused"),
    };
    one.map(|data| vec![data])
}

/// Why a collective of several devices is not evaluated.
pub(super) const EXCHANGES: &str = "exchanges values with other devices, and is evaluated on none";

/// Why an operation is not evaluated: the closed list of those, but for collectives of several devices.
pub(super) fn refusal(op: &Op) -> Option<&'static str> {
    match op {
        Op::Parameter { .. }
        | Op::Constant(_)
        | Op::Iota { .. }
        | Op::Broadcast { .. }
        | Op::Reshape
        | Op::Bitcast
        | Op::BitcastConvert
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::Concatenate { .. }
        | Op::Pad { .. }
        | Op::Copy
        | Op::Convert
        | Op::StochasticConvert
        | Op::ReducePrecision { .. }
        | Op::Compare { .. }
        | Op::Select
        | Op::Clamp
        | Op::Complex
        | Op::Real
        | Op::Imag
        | Op::Unary(_)
        | Op::Binary(_)
        | Op::Map { .. }
        | Op::MultiplyHigh
        | Op::GetDimensionSize { .. }
        | Op::Fft { .. }
        | Op::Cholesky { .. }
        | Op::TriangularSolve { .. }
        | Op::Rng { .. }
        | Op::RngGetAndUpdateState { .. }
        | Op::RngBitGenerator { .. }
        | Op::CustomCall { .. }
        | Op::Reduce { .. }
        | Op::ReduceWindow { .. }
        | Op::SelectAndScatter { .. }
        | Op::Scatter { .. }
        | Op::Sort { .. }
        | Op::TopK { .. }
        | Op::Scan { .. }
        | Op::Gather { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice
        | Op::Dot { .. }
        | Op::RaggedDot { .. }
        | Op::ScaledDot { .. }
        | Op::Convolution { sparsity_config: None, .. }
        | Op::BatchNormTraining { .. }
        | Op::BatchNormInference { .. }
        | Op::BatchNormGrad { .. }
        | Op::Tuple
        | Op::GetTupleElement { .. }
        | Op::Call { .. }
        | Op::Fusion { .. }
        | Op::While { .. }
        | Op::Conditional { .. }
        | Op::OptimizationBarrier
        | Op::AddDependency
        | Op::AfterAll
        | Op::PartitionId
        | Op::ReplicaId
        | Op::AllGather { .. }
        | Op::AllGatherStart { .. }
        | Op::AllGatherDone
        | Op::AllReduce { .. }
        | Op::AllReduceStart { .. }
        | Op::AllReduceDone
        | Op::AllToAll { .. }
        | Op::RaggedAllToAll { .. }
        | Op::ReduceScatter { .. }
        | Op::CollectiveBroadcast { .. }
        | Op::CollectivePermute { .. }
        | Op::CollectivePermuteStart { .. }
        | Op::CollectivePermuteDone
        | Op::Domain { .. }
        | Op::AsyncStart { .. }
        | Op::AsyncUpdate { .. }
        | Op::AsyncDone { .. }
        | Op::CopyStart { .. }
        | Op::CopyDone => None,
        Op::Infeed { .. }
        | Op::Outfeed { .. }
        | Op::Send { .. }
        | Op::SendDone { .. }
        | Op::Recv { .. }
        | Op::RecvDone { .. } => Some("exchanges values with the world outside the program, and is not evaluated"),
        Op::SetDimensionSize { .. } | Op::DynamicReshape => {
            Some("makes extents that are known at run time only; specialize the program to static ones")
        }
        Op::AsyncShorthand { .. } => Some("does not say what it starts, or what becomes of it"),
        Op::Convolution { .. } => Some("with a sparse operand is read and printed, not yet evaluated"),
    }
}
