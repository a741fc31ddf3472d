//! Verifier rules for single operations: operands, attributes, called computations, and the types of results.
//!
//! One function per operation, in one file per family. Each writes what it finds to the [`Rule`] and says what result
//! it expects. Ranks and extents are none of its business, nor are attributes that are legal only within them (dimension
//! numbers, entries for each dimension, windows): of these the operation's [shape function](crate::shape) speaks. What is
//! left of attributes is that lists of dimensions name none twice, and their order. The rules are those of XLA's operation
//! semantics document.

mod asynchronous;
mod collective;
mod contraction;
mod control;
mod elementwise;
mod expected;
mod groups;
mod indexed;
mod linear;
mod movement;
mod random;
mod reduction;
mod regional;
mod rule;
mod selection;
mod structural;
mod transfer;

pub(super) use expected::Expected;
pub(super) use rule::Rule;

use crate::ir::{AsyncPhase, Op, OperandAlias, ReplicaGroups};
use groups::{GroupRule, Members};

/// Checks one operation; the result that follows from its operands.
pub(super) fn check<'a>(rule: &mut Rule<'a>) -> Expected<'a> {
    dispatch(rule).unwrap_or(Expected::Open)
}

/// Every operation has its arm: one that is new does not compile until it has a rule.
fn dispatch<'a>(rule: &mut Rule<'a>) -> Option<Expected<'a>> {
    match rule.op {
        Op::Parameter { .. } => structural::parameter(rule),
        Op::Constant(literal) => structural::constant(rule, literal),
        Op::Unary(op) => elementwise::unary(rule, *op),
        Op::Binary(op) => elementwise::binary(rule, *op),
        Op::MultiplyHigh => elementwise::multiply_high(rule),
        Op::Compare { order, .. } => elementwise::compare(rule, *order),
        Op::Select => elementwise::select(rule),
        Op::Clamp => elementwise::clamp(rule),
        Op::Convert => elementwise::convert(rule),
        Op::BitcastConvert => elementwise::bitcast_convert(rule),
        Op::StochasticConvert => elementwise::stochastic_convert(rule),
        Op::ReducePrecision { exponent_bits, mantissa_bits } => {
            elementwise::reduce_precision(rule, *exponent_bits, *mantissa_bits)
        }
        Op::Complex => elementwise::complex(rule),
        Op::Real | Op::Imag => elementwise::part(rule),
        Op::Iota { .. } => movement::iota(rule),
        Op::Broadcast { dimensions } => movement::broadcast(rule, dimensions),
        Op::Reshape => movement::reshape(rule),
        Op::Bitcast => movement::bitcast(rule),
        Op::Transpose { permutation } => movement::transpose(rule, permutation),
        Op::Slice { .. } => movement::slice(rule),
        Op::Reverse { dimensions } => movement::reverse(rule, dimensions),
        Op::Concatenate { .. } => movement::concatenate(rule),
        Op::Pad { .. } => movement::pad(rule),
        Op::DynamicSlice { .. } => movement::dynamic_slice(rule),
        Op::DynamicUpdateSlice => movement::dynamic_update_slice(rule),
        Op::Copy | Op::OptimizationBarrier | Op::Domain { .. } => structural::same(rule),
        Op::Tuple => structural::tuple(rule),
        Op::GetTupleElement { index } => structural::get_tuple_element(rule, *index),
        Op::AfterAll => structural::after_all(),
        Op::AddDependency => structural::add_dependency(rule),
        Op::PartitionId | Op::ReplicaId => structural::own_id(rule),
        Op::GetDimensionSize { .. } => movement::get_dimension_size(rule),
        Op::SetDimensionSize { .. } => movement::set_dimension_size(rule),
        Op::DynamicReshape => movement::dynamic_reshape(rule),
        Op::Reduce { dimensions, to_apply } => reduction::reduce(rule, dimensions, *to_apply),
        Op::ReduceWindow { to_apply, .. } => reduction::reduce_window(rule, *to_apply),
        Op::SelectAndScatter { select, scatter, .. } => reduction::select_and_scatter(rule, *select, *scatter),
        Op::Map { to_apply, .. } => regional::map(rule, *to_apply),
        Op::Sort { to_apply, .. } => regional::sort(rule, *to_apply),
        Op::TopK { .. } => regional::top_k(rule),
        Op::Scan { num_carries, to_apply, .. } => regional::scan(rule, *num_carries, *to_apply),
        Op::Gather { .. } => indexed::gather(rule),
        Op::Scatter { to_apply, .. } => indexed::scatter(rule, *to_apply),
        Op::Dot { .. } => contraction::dot(rule),
        Op::RaggedDot { .. } => contraction::ragged_dot(rule),
        Op::ScaledDot { .. } => contraction::scaled_dot(rule),
        Op::Convolution { .. } => contraction::convolution(rule),
        Op::Fft { fft_type, .. } => linear::fft(rule, *fft_type),
        Op::Cholesky { .. } => linear::cholesky(rule),
        Op::TriangularSolve { transpose_a, .. } => linear::triangular_solve(rule, *transpose_a),
        Op::Rng { distribution } => random::rng(rule, *distribution),
        Op::RngBitGenerator { .. } => random::rng_bit_generator(rule),
        Op::RngGetAndUpdateState { .. } => random::rng_get_and_update_state(rule),
        Op::BatchNormTraining { .. } => reduction::training(rule),
        Op::BatchNormInference { .. } => reduction::inference(rule),
        Op::BatchNormGrad { .. } => reduction::gradient(rule),
        Op::Call { to_apply } => control::call(rule, *to_apply),
        Op::Fusion { output_to_operand_aliasing, calls, .. } => {
            control::fusion(rule, output_to_operand_aliasing, *calls)
        }
        Op::While { condition, body } => control::while_loop(rule, *condition, *body),
        Op::Conditional { branches, indexed } => control::conditional(rule, branches, *indexed),
        Op::CustomCall { operand_layout_constraints, output_to_operand_aliasing, .. } => {
            control::custom_call(rule, operand_layout_constraints.as_deref(), output_to_operand_aliasing)
        }
        Op::Infeed { .. } => transfer::infeed(rule),
        Op::Outfeed { outfeed_shape, .. } => transfer::outfeed(rule, outfeed_shape.as_ref()),
        Op::Send { .. } => transfer::send(rule),
        Op::SendDone { .. } => transfer::send_done(rule),
        Op::Recv { .. } => transfer::recv(rule),
        Op::RecvDone { .. } => transfer::recv_done(rule),
        Op::CopyStart { .. } => transfer::copy_start(rule),
        Op::CopyDone => transfer::element_done(rule, 0),
        Op::AllGatherDone | Op::CollectivePermuteDone => transfer::element_done(rule, 1),
        Op::AllReduceDone => structural::same(rule),
        Op::AllGather { channel_id, replica_groups, use_global_device_ids, .. } => {
            let members = members(replica_groups, *channel_id, *use_global_device_ids, GroupRule::CoverEvenly);
            collective::along(rule, members, None)
        }
        Op::AllGatherStart { channel_id, replica_groups, use_global_device_ids, .. } => {
            let members = members(replica_groups, *channel_id, *use_global_device_ids, GroupRule::CoverEvenly);
            collective::all_gather_start(rule, members)
        }
        Op::ReduceScatter { channel_id, replica_groups, use_global_device_ids, to_apply, .. } => {
            let members = members(replica_groups, *channel_id, *use_global_device_ids, GroupRule::CoverEvenly);
            collective::along(rule, members, Some(*to_apply))
        }
        Op::AllReduce { channel_id, replica_groups, use_global_device_ids, to_apply, .. }
        | Op::AllReduceStart { channel_id, replica_groups, use_global_device_ids, to_apply, .. } => {
            let members = members(replica_groups, *channel_id, *use_global_device_ids, GroupRule::Cover);
            collective::all_reduce(rule, members, *to_apply)
        }
        Op::AllToAll { channel_id, replica_groups, dimension, .. } => {
            let members = members(replica_groups, *channel_id, false, GroupRule::CoverEvenly);
            collective::all_to_all(rule, members, dimension.is_some())
        }
        Op::RaggedAllToAll { channel_id, replica_groups, .. } => {
            let members = members(replica_groups, *channel_id, false, GroupRule::CoverEvenly);
            collective::ragged_all_to_all(rule, members)
        }
        Op::CollectiveBroadcast { channel_id, replica_groups } => {
            let members = members(replica_groups, *channel_id, false, GroupRule::Disjoint);
            collective::broadcast(rule, members)
        }
        Op::CollectivePermute { channel_id, source_target_pairs, slice_sizes } => {
            collective::permute(rule, source_target_pairs, *channel_id, slice_sizes)
        }
        Op::CollectivePermuteStart { channel_id, source_target_pairs, slice_sizes } => {
            collective::permute_start(rule, source_target_pairs, *channel_id, slice_sizes)
        }
        Op::AsyncStart { async_execution_thread, output_to_operand_aliasing, calls } => {
            asynchronous::start(rule, async_execution_thread.as_deref(), output_to_operand_aliasing, *calls)
        }
        Op::AsyncUpdate { .. } => asynchronous::update(rule),
        Op::AsyncDone { .. } => asynchronous::done(rule),
        Op::AsyncShorthand { phase, operation, output_to_operand_aliasing, .. } => match operation {
            Some(operation) => shorthand(rule, operation, output_to_operand_aliasing),
            None if *phase == AsyncPhase::Done => asynchronous::done(rule),
            None => asynchronous::update(rule),
        },
    }
}

fn members(groups: &ReplicaGroups, channel: Option<i64>, global_ids: bool, demands: GroupRule) -> Members<'_> {
    Members { groups, channel, global_ids, demands }
}

/// What is started keeps its own rule, with the second element of what the start yields as its result.
fn shorthand<'a>(rule: &mut Rule<'a>, operation: &'a Op, aliases: &[OperandAlias]) -> Option<Expected<'a>> {
    let Some(result) = rule.declared.as_tuple().and_then(|elements| elements.get(1)) else {
        return Some(asynchronous::started(rule, Expected::Open));
    };
    let mut inner = Rule { op: operation, declared: result, findings: Vec::new(), ..*rule };
    let expected = check(&mut inner);
    control::operand_aliases(&mut inner, aliases);
    let (findings, sound) = (inner.findings, inner.sound);
    rule.findings.extend(findings);
    rule.sound &= sound;
    Some(asynchronous::started(rule, expected))
}
