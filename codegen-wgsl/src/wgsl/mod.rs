//! Kernels as WGSL text.

mod accesses;
mod function;
mod index;
mod inline;
mod lanes;
mod matrices;
mod names;
mod pairs;
mod scalar;
mod together;
mod writer;

pub(crate) use names::Names;
pub(crate) use together::uses_subgroups;
pub(crate) use writer::bindings;
pub use writer::{ENTRY_POINT, write};
