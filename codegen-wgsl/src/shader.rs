//! A finished kernel: WGSL that naga has accepted.

use crate::kernel::{Block, Combiner, Finding, Kernel, Statement};
use std::ops::Range;
use weft_hlo::ir::ArrayShape;

/// One kernel as WGSL, with what a runtime must know to bind and launch it.
#[derive(Clone, Debug)]
pub struct Shader {
    /// The name of the fusion it was made from.
    pub name: String,
    /// The text.
    pub source: String,
    /// The entry point's name in the text.
    pub entry_point: String,
    /// Storage buffers, and uniforms that hold operands, in order: buffer `k` is `@group(0) @binding(k)`; the fusion's operands first, each once however often it is given,
    /// or several times in a row where it is bound in parts, and but for those that it updates, then its results.
    pub bindings: Vec<Binding>,
    /// The binding of the uniform parameter block: 16 bytes, all zero (the run-time zero of [`crate::math`]).
    pub parameter_binding: u32,
    /// How often to dispatch it, each time with other [windows](Binding::windows) of the bindings that have some.
    pub windows: u32,
    /// The binding of the uniform block that tells a dispatch of its windows, if it has any: a `u32` for the number of the dispatch, from 0
    /// on, and then for each binding with windows the word at which its window begins.
    pub window_binding: Option<u32>,
    /// Invocations per workgroup.
    pub workgroup_size: [u32; 3],
    /// Workgroups of each dispatch.
    pub workgroups: [u32; 3],
    /// What it is apart from names ([`Kernel::structure`]): of two shaders with the same and with the same windows of their bindings one can be
    /// launched in place of the other; what these hold is told by other names.
    pub structure: String,
    /// The kernel that it was written from, after all lowerings, as text that [`Kernel::parse`] reads. [`compile_lowered`](crate::compile_lowered)
    /// makes the shader again.
    pub kernel: String,
    pub(crate) proofs: Proofs,
    pub(crate) module: naga::Module,
    pub(crate) info: naga::valid::ModuleInfo,
}

/// What [`Kernel::verify`] proved of a kernel. A device may leave out the checks that proofs stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proofs {
    /// What could be neither proved nor refuted: of indices, of the elements written, of tiles.
    pub unproved: Vec<Finding>,
    /// Whether every loop is known to end: none goes on for as long as a value holds, or until an update succeeds.
    pub loops_end: bool,
}

impl Proofs {
    /// The proofs of a kernel.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub(crate) fn of(kernel: &Kernel) -> Result<Proofs, Finding> {
        let unproved = kernel.verify().map_err(|mut findings| findings.swap_remove(0))?;
        let loops_end = kernel.bodies().all(|function| all_loops_end(&function.body));
        Ok(Proofs { unproved, loops_end })
    }

    /// Whether everything is proved: every index lies within its memory, every element of a result is written once, and what is
    /// read of workgroup memory was written before.
    pub fn are_complete(&self) -> bool {
        self.unproved.is_empty()
    }
}

fn all_loops_end(block: &Block) -> bool {
    block.statements.iter().all(|statement| {
        let goes_on =
            matches!(statement, Statement::While { .. } | Statement::Update { combiner: Combiner::Function(_), .. });
        !goes_on && statement.blocks().into_iter().all(all_loops_end)
    })
}

/// One storage buffer, or uniform, of a [`Shader`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name in the text, that of the first memory in it.
    pub name: String,
    /// The tensor it holds, row-major.
    pub shape: ArrayShape,
    /// Whether the kernel writes it (`read_write`) or only reads it.
    pub writable: bool,
    /// Whether it is a uniform and no storage buffer: the buffer needs the usage `UNIFORM`, and the binding covers the tensor's
    /// bytes rounded up to 16.
    pub uniform: bool,
    /// What it is to the fusion.
    pub content: Content,
    /// For each dispatch the words of 32 bits to bind, where the tensor is larger than what a kernel may bind; empty where all of it is bound. They begin
    /// at multiples of the target's alignment of offsets.
    pub windows: Vec<Range<u64>>,
}

/// What a buffer is to the fusion that a kernel computes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The operand of this number, which is read; the first of these where a tensor is given several times.
    Operand(usize),
    /// The result of this number, of which every element is written.
    Result(usize),
    /// The result of this number, which holds the operand of another number already: only what differs is written.
    Updated {
        /// The result.
        result: usize,
        /// The operand, which is bound nowhere else.
        operand: usize,
        /// How many elements are written, and read at most.
        elements: u64,
    },
}

impl Shader {
    /// What was proved of the kernel, and what was not.
    pub fn proofs(&self) -> &Proofs {
        &self.proofs
    }

    /// The module, parsed from [`source`](Self::source) and validated.
    pub fn module(&self) -> &naga::Module {
        &self.module
    }

    /// What naga's validator found out about the module.
    pub fn info(&self) -> &naga::valid::ModuleInfo {
        &self.info
    }
}
