//! Passes from HLO to HLO.
//!
//! A pass is a pure function of a module. What it makes verifies whenever what it took verified, and computes the same values
//! bit for bit, NaNs and zeros of both signs included, except where its documentation says that rounding may differ.
//!
//! [`PASSES`] are those that a [`Pipeline`] runs by default, each of which says what it changed and by which rule; those
//! [`ON_REQUEST`] are for targets that need them, and may change rounding. [`expand_fourier`], [`expand_linear_algebra`], [`expand_random_numbers`], [`flatten`], [`flatten_around`], [`order_kernels`], [`order_scatters`], [`select_branches`], [`specialize`], [`thin_dots`] and [`widen_products`] are
//! transformations with a purpose of their own.

mod algebraic;
mod batch_normalization;
mod bitcast_widths;
mod branches;
mod build;
mod common_subexpressions;
mod constant_folding;
mod contractions;
mod control_flow;
mod convolutions;
mod counted;
mod custom_calls;
mod dead_code;
mod dimension_sizes;
mod flatten;
mod fourier;
mod free_order;
mod gather_scatter;
mod inline_calls;
mod layouts;
mod linear_algebra;
mod multiply_high;
mod one_device;
mod ordered_kernels;
mod ordered_scatter;
mod other_dots;
mod pass;
mod pipeline;
mod ragged_exchange;
mod random_bits;
mod random_numbers;
mod rebuild;
mod region_constants;
mod scalar_regions;
mod scans;
mod select_and_scatter;
mod short_loops;
mod side_effects;
mod sort;
mod specialize;
mod stable_order;
mod stochastic_convert;
mod thin_dots;
mod trip_count;
mod tuples;
mod wide_products;
mod wide_sums;

pub use algebraic::AlgebraicSimplification;
pub use batch_normalization::BatchNormalization;
pub use bitcast_widths::BitcastWidths;
pub use branches::select_branches;
pub use common_subexpressions::CommonSubexpressions;
pub use constant_folding::ConstantFolding;
pub use contractions::Contractions;
pub use control_flow::{Conditionals, WhileLoops};
pub use custom_calls::ExpandCustomCalls;
pub use dead_code::DeadCode;
pub use dimension_sizes::DimensionSizes;
pub use flatten::{flatten, flatten_around};
pub use fourier::{FourierMatrix, FourierParts, FourierTransforms, expand_fourier};
pub use free_order::FreeOrder;
pub use gather_scatter::{CanonicalGather, CanonicalScatter};
pub use inline_calls::InlineCalls;
pub use layouts::Layouts;
pub use linear_algebra::{LinearAlgebra, expand_linear_algebra};
pub use multiply_high::MultiplyHigh;
pub use one_device::OneDevice;
pub use ordered_kernels::order_kernels;
pub use ordered_scatter::order_scatters;
pub use other_dots::OtherDots;
pub use pass::{Change, Pass, Rewritten};
pub use pipeline::{MAX_ROUNDS, Optimized, PassRun, Pipeline};
pub use random_bits::RandomBits;
pub use random_numbers::{RandomNumbers, expand_random_numbers};
pub use region_constants::RegionConstants;
pub use scalar_regions::{ScalarRegions, expand_scalar_regions};
pub use scans::Scans;
pub use select_and_scatter::SelectAndScatter;
pub use sort::Sorts;
pub use specialize::specialize;
pub use stochastic_convert::StochasticConvert;
pub use thin_dots::{DotForm, thin_dots};
pub use trip_count::trip_count;
pub use tuples::Tuples;
pub use wide_products::widen_products;
pub use wide_sums::WideSums;

/// The passes of the default [`Pipeline`], in its order. Each keeps every value bit for bit.
pub const PASSES: &[&dyn Pass] = &[
    &Layouts,
    &ExpandCustomCalls,
    &Conditionals,
    &WhileLoops,
    &InlineCalls,
    &Tuples,
    &DimensionSizes,
    &CanonicalGather,
    &CanonicalScatter,
    &Contractions,
    &ConstantFolding,
    &AlgebraicSimplification,
    &CommonSubexpressions,
    &DeadCode,
];

/// Passes that run only where they are named: they write operations out that a target may well have, and may change rounding;
/// each says whether it does.
pub const ON_REQUEST: &[&dyn Pass] = &[
    &BatchNormalization,
    &BitcastWidths,
    &FourierTransforms,
    &FreeOrder,
    &LinearAlgebra,
    &MultiplyHigh,
    &OneDevice,
    &OtherDots,
    &RandomBits,
    &RandomNumbers,
    &RegionConstants,
    &ScalarRegions,
    &Scans,
    &SelectAndScatter,
    &Sorts,
    &StochasticConvert,
    &WideSums,
];

/// The pass of this name.
pub fn pass_named(name: &str) -> Option<&'static dyn Pass> {
    PASSES.iter().chain(ON_REQUEST).copied().find(|pass| pass.name() == name)
}
