//! Passes from HLO to HLO.
//!
//! A pass is a pure function of a module. What it makes verifies whenever what it took verified.

mod flatten;
mod names;
mod specialize;

pub use flatten::flatten;
pub use names::UniqueNames;
pub use specialize::specialize;
