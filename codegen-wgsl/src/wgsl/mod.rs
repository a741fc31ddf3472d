//! Kernels as WGSL text.

mod index;
mod inline;
mod names;
mod repeated;
mod scalar;
mod writer;

pub(crate) use names::Names;
pub use writer::{ENTRY_POINT, write};
