//! Emitters: from a fusion and its plan to a kernel.

mod attention;
mod bound;
mod branches;
mod entry;
mod function;
mod grid;
mod loop_emitter;
mod loop_kernel;
mod loops;
mod parts;
mod passes;
mod product;
mod reduced;
mod regions;
mod runs;
mod scatter;
mod scattered;
mod statements;
mod transposed;
mod update_slice;
mod windowed;
mod windows;

pub(crate) use loop_emitter::emit_loop;
pub(crate) use loop_kernel::{Rounds, emit_rounds};

/// The lanes of kernels that have them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// As the plan says.
    Planned,
    /// One: there are no vectors of what is computed.
    One,
}

/// Elements along one dimension of a tensor that a kernel reads, writes or indexes by a value: each index is a number of 32 bits.
const MAX_EXTENT: i64 = 1 << 32;
