//! Lowerings of the kernel IR, each from kernel to kernel.

mod flatten;
mod inline;

pub use flatten::flatten;
pub(crate) use flatten::indices_at;
pub use inline::inline;
