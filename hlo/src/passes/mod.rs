//! Passes from HLO to HLO.
//!
//! A pass is a pure function of a module. What it makes verifies whenever what it took verified, and computes the same values
//! bit for bit, NaNs and zeros of both signs included, except where its documentation says that rounding may differ.
//!
//! [`PASSES`] are those that a [`Pipeline`] runs, each of which says what it changed and by which rule; [`flatten`] and
//! [`specialize`] are transformations with a purpose of their own.

mod common_subexpressions;
mod constant_folding;
mod control;
mod dead_code;
mod flatten;
mod inline_calls;
mod names;
mod pass;
mod pipeline;
mod rebuild;
mod specialize;
mod tuples;

pub use common_subexpressions::CommonSubexpressions;
pub use constant_folding::ConstantFolding;
pub use dead_code::DeadCode;
pub use flatten::flatten;
pub use inline_calls::InlineCalls;
pub use names::UniqueNames;
pub use pass::{Change, Pass, Rewritten};
pub use pipeline::{Optimized, PASSES, PassRun, Pipeline, pass_named};
pub use specialize::specialize;
pub use tuples::Tuples;
