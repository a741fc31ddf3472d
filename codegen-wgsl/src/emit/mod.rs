//! Emitters: from a fusion and its plan to a kernel.

mod branches;
mod function;
mod grid;
mod loop_emitter;
mod loops;
mod parts;
mod regions;
mod update_slice;
mod windows;

pub(crate) use loop_emitter::emit_loop;
