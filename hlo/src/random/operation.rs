//! The table of operations that random modules hold.

use super::body::Body;
use super::{contraction, control_flow, elementwise, function, indexed, linear, movement, reduction, structure};
use crate::ir::{BinaryOp, InstrId, Opcode, UnaryOp};

/// Adds an operation with operands that suit it; `None` where there are none.
pub(super) type Make = fn(&mut Body<'_>) -> Option<InstrId>;

/// The maker of an operation.
#[derive(Copy, Clone)]
pub(super) enum Maker {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Other { opcode: Opcode, make: Make, kind: Kind },
}

/// The kinds of operations, by which a body chooses its next one.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// It computes element by element, and so also of scalars.
    Elementwise,
    /// Any other operation by itself.
    Plain,
    /// It applies a computation to elements or slices.
    Nested,
    /// It calls computations with whole values.
    Control,
}

use Kind::{Control, Elementwise, Nested, Plain};

const OTHERS: &[(Opcode, Make, Kind)] = &[
    (Opcode::Parameter, structure::parameter, Plain),
    (Opcode::Constant, structure::constant, Plain),
    (Opcode::Tuple, structure::tuple, Plain),
    (Opcode::GetTupleElement, structure::get_tuple_element, Plain),
    (Opcode::OptimizationBarrier, structure::opt_barrier, Plain),
    (Opcode::Copy, structure::copy, Plain),
    (Opcode::AfterAll, structure::after_all, Plain),
    (Opcode::AddDependency, structure::add_dependency, Plain),
    (Opcode::PartitionId, structure::partition_id, Plain),
    (Opcode::ReplicaId, structure::replica_id, Plain),
    (Opcode::GetDimensionSize, structure::get_dimension_size, Plain),
    (Opcode::MultiplyHigh, elementwise::multiply_high, Elementwise),
    (Opcode::Compare, elementwise::compare, Elementwise),
    (Opcode::Select, elementwise::select, Elementwise),
    (Opcode::Clamp, elementwise::clamp, Elementwise),
    (Opcode::Convert, elementwise::convert, Elementwise),
    (Opcode::Complex, elementwise::complex, Elementwise),
    (Opcode::Real, elementwise::real, Elementwise),
    (Opcode::Imag, elementwise::imag, Elementwise),
    (Opcode::ReducePrecision, elementwise::reduce_precision, Elementwise),
    (Opcode::StochasticConvert, elementwise::stochastic_convert, Elementwise),
    (Opcode::BitcastConvert, movement::bitcast_convert, Plain),
    (Opcode::Bitcast, movement::bitcast, Plain),
    (Opcode::Iota, movement::iota, Plain),
    (Opcode::Broadcast, movement::broadcast, Plain),
    (Opcode::Reshape, movement::reshape, Plain),
    (Opcode::Transpose, movement::transpose, Plain),
    (Opcode::Slice, movement::slice, Plain),
    (Opcode::Reverse, movement::reverse, Plain),
    (Opcode::Concatenate, movement::concatenate, Plain),
    (Opcode::Pad, movement::pad, Plain),
    (Opcode::DynamicSlice, indexed::dynamic_slice, Plain),
    (Opcode::DynamicUpdateSlice, indexed::dynamic_update_slice, Plain),
    (Opcode::Gather, indexed::gather, Plain),
    (Opcode::Scatter, indexed::scatter, Nested),
    (Opcode::Reduce, reduction::reduce, Nested),
    (Opcode::ReduceWindow, reduction::reduce_window, Nested),
    (Opcode::SelectAndScatter, reduction::select_and_scatter, Nested),
    (Opcode::Sort, reduction::sort, Nested),
    (Opcode::TopK, reduction::top_k, Plain),
    (Opcode::Scan, reduction::scan, Nested),
    (Opcode::Map, function::map, Nested),
    (Opcode::Dot, contraction::dot, Plain),
    (Opcode::RaggedDot, contraction::ragged_dot, Plain),
    (Opcode::ScaledDot, contraction::scaled_dot, Plain),
    (Opcode::Convolution, contraction::convolution, Plain),
    (Opcode::BatchNormTraining, reduction::batch_norm_training, Plain),
    (Opcode::BatchNormInference, reduction::batch_norm_inference, Plain),
    (Opcode::BatchNormGrad, reduction::batch_norm_gradient, Plain),
    (Opcode::RngBitGenerator, linear::rng_bit_generator, Plain),
    (Opcode::Fft, linear::fft, Plain),
    (Opcode::Cholesky, linear::cholesky, Plain),
    (Opcode::TriangularSolve, linear::triangular_solve, Plain),
    (Opcode::Call, function::call, Control),
    (Opcode::Fusion, function::fusion, Control),
    (Opcode::While, control_flow::while_loop, Control),
    (Opcode::Conditional, control_flow::conditional, Control),
];

/// Operations whose value is not fixed: roots of [`instance`](super::instance)s, but no part of random modules.
const ALONE: &[(Opcode, Make, Kind)] = &[(Opcode::Rng, linear::rng, Plain)];

/// The operations that random modules hold.
pub fn operations() -> impl Iterator<Item = Opcode> {
    makers().map(|maker| maker.opcode())
}

/// Those of the [`operations`] for which code is generated: [`Opcode::is_computed`].
pub fn computed() -> impl Iterator<Item = Opcode> {
    operations().filter(|opcode| opcode.is_computed())
}

pub(super) fn makers() -> impl Iterator<Item = Maker> {
    let unary = UnaryOp::ALL.iter().map(|&op| Maker::Unary(op));
    let binary = BinaryOp::ALL.iter().map(|&op| Maker::Binary(op));
    unary.chain(binary).chain(OTHERS.iter().map(|&(opcode, make, kind)| Maker::Other { opcode, make, kind }))
}

/// The maker of an operation.
pub(super) fn maker(opcode: Opcode) -> Option<Maker> {
    makers().find(|maker| maker.opcode() == opcode)
}

/// The maker of an operation, also of those that have no fixed value.
pub(super) fn maker_alone(opcode: Opcode) -> Option<Maker> {
    let alone = ALONE.iter().map(|&(opcode, make, kind)| Maker::Other { opcode, make, kind });
    makers().chain(alone).find(|maker| maker.opcode() == opcode)
}

impl Maker {
    pub(super) fn opcode(&self) -> Opcode {
        match *self {
            Maker::Unary(op) => op.into(),
            Maker::Binary(op) => op.into(),
            Maker::Other { opcode, .. } => opcode,
        }
    }

    pub(super) fn is_elementwise(&self) -> bool {
        matches!(self, Maker::Unary(_) | Maker::Binary(_) | Maker::Other { kind: Elementwise, .. })
    }

    pub(super) fn is_nested(&self) -> bool {
        matches!(self, Maker::Other { kind: Nested | Control, .. })
    }

    pub(super) fn is_control(&self) -> bool {
        matches!(self, Maker::Other { kind: Control, .. })
    }

    pub(super) fn make(&self, body: &mut Body<'_>) -> Option<InstrId> {
        match *self {
            Maker::Unary(op) => elementwise::unary(body, op),
            Maker::Binary(op) => elementwise::binary(body, op),
            Maker::Other { make, .. } => make(body),
        }
    }
}
