//! The table of operations that random modules hold.

use super::body::Body;
use super::{contraction, control_flow, elementwise, function, indexed, linear, movement, reduction, structure};
use crate::ir::{BinaryOp, InstrId, Opcode, UnaryOp};

/// Adds an operation with operands that suit it; `None` where nothing came of it.
pub(super) type Make = fn(&mut Body<'_>) -> Option<InstrId>;

/// What makes an operation.
#[derive(Copy, Clone)]
pub(super) enum Maker {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Other { name: &'static str, make: Make, kind: Kind },
}

/// What a body must know of an operation before it makes one.
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

const OTHERS: &[(&str, Make, Kind)] = &[
    ("parameter", structure::parameter, Plain),
    ("constant", structure::constant, Plain),
    ("tuple", structure::tuple, Plain),
    ("get-tuple-element", structure::get_tuple_element, Plain),
    ("opt-barrier", structure::opt_barrier, Plain),
    ("copy", structure::copy, Plain),
    ("after-all", structure::after_all, Plain),
    ("add-dependency", structure::add_dependency, Plain),
    ("partition-id", structure::partition_id, Plain),
    ("replica-id", structure::replica_id, Plain),
    ("get-dimension-size", structure::get_dimension_size, Plain),
    ("mulhi", elementwise::multiply_high, Elementwise),
    ("compare", elementwise::compare, Elementwise),
    ("select", elementwise::select, Elementwise),
    ("clamp", elementwise::clamp, Elementwise),
    ("convert", elementwise::convert, Elementwise),
    ("complex", elementwise::complex, Elementwise),
    ("real", elementwise::real, Elementwise),
    ("imag", elementwise::imag, Elementwise),
    ("reduce-precision", elementwise::reduce_precision, Elementwise),
    ("stochastic-convert", elementwise::stochastic_convert, Elementwise),
    ("bitcast-convert", movement::bitcast_convert, Plain),
    ("bitcast", movement::bitcast, Plain),
    ("iota", movement::iota, Plain),
    ("broadcast", movement::broadcast, Plain),
    ("reshape", movement::reshape, Plain),
    ("transpose", movement::transpose, Plain),
    ("slice", movement::slice, Plain),
    ("reverse", movement::reverse, Plain),
    ("concatenate", movement::concatenate, Plain),
    ("pad", movement::pad, Plain),
    ("dynamic-slice", indexed::dynamic_slice, Plain),
    ("dynamic-update-slice", indexed::dynamic_update_slice, Plain),
    ("gather", indexed::gather, Plain),
    ("scatter", indexed::scatter, Nested),
    ("reduce", reduction::reduce, Nested),
    ("reduce-window", reduction::reduce_window, Nested),
    ("select-and-scatter", reduction::select_and_scatter, Nested),
    ("sort", reduction::sort, Nested),
    ("topk", reduction::top_k, Plain),
    ("scan", reduction::scan, Nested),
    ("map", function::map, Nested),
    ("dot", contraction::dot, Plain),
    ("ragged-dot", contraction::ragged_dot, Plain),
    ("scaled-dot", contraction::scaled_dot, Plain),
    ("convolution", contraction::convolution, Plain),
    ("batch-norm-training", reduction::batch_norm_training, Plain),
    ("batch-norm-inference", reduction::batch_norm_inference, Plain),
    ("batch-norm-grad", reduction::batch_norm_gradient, Plain),
    ("rng-bit-generator", linear::rng_bit_generator, Plain),
    ("fft", linear::fft, Plain),
    ("cholesky", linear::cholesky, Plain),
    ("triangular-solve", linear::triangular_solve, Plain),
    ("call", function::call, Control),
    ("fusion", function::fusion, Control),
    ("while", control_flow::while_loop, Control),
    ("conditional", control_flow::conditional, Control),
];

/// What has no fixed value, so that it stands alone only.
const ALONE: &[(&str, Make, Kind)] = &[("rng", linear::rng, Plain)];

/// Every operation that random modules hold, by opcode.
pub fn operations() -> impl Iterator<Item = &'static str> {
    makers().map(|maker| maker.name())
}

/// Those of the [`operations`] that one device computes of arrays by going through elements, with what connects them:
/// [`Op::is_computed`](crate::ir::Op::is_computed).
pub fn computed() -> impl Iterator<Item = &'static str> {
    let is_computed = |maker: &Maker| Opcode::from_name(maker.name()).is_some_and(Opcode::is_computed);
    makers().filter(is_computed).map(|maker| maker.name())
}

pub(super) fn makers() -> impl Iterator<Item = Maker> {
    let unary = UnaryOp::ALL.iter().map(|&op| Maker::Unary(op));
    let binary = BinaryOp::ALL.iter().map(|&op| Maker::Binary(op));
    unary.chain(binary).chain(OTHERS.iter().map(|&(name, make, kind)| Maker::Other { name, make, kind }))
}

/// What makes an operation, by opcode.
pub(super) fn maker(name: &str) -> Option<Maker> {
    makers().find(|maker| maker.name() == name)
}

/// What makes an operation that stands alone.
pub(super) fn maker_alone(name: &str) -> Option<Maker> {
    let alone = ALONE.iter().map(|&(name, make, kind)| Maker::Other { name, make, kind });
    makers().chain(alone).find(|maker| maker.name() == name)
}

impl Maker {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Maker::Unary(op) => op.name(),
            Maker::Binary(op) => op.name(),
            Maker::Other { name, .. } => name,
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
