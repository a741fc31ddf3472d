//! Emitters: from a fusion and its plan to a kernel.

mod branches;
mod function;
mod grid;
mod loop_emitter;
mod loops;
mod regions;

pub(crate) use loop_emitter::emit_loop;
