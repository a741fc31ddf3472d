//! Lowerings of the kernel IR, each from kernel to kernel.

mod flatten;

pub use flatten::flatten;
