//! Emitters: from a fusion and its plan to a kernel.

mod function;
mod grid;
mod loop_emitter;

pub(crate) use loop_emitter::emit_loop;
