//! A finished kernel: WGSL that naga has accepted.

use crate::binding::{Binding, Held};
use crate::kernel::{Block, Combiner, Finding, Kernel, Statement};

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

impl Shader {
    /// The tensors that a launch gives it, binding by binding: those that are read, then those that are written.
    pub fn tensors(&self) -> impl Iterator<Item = (&Binding, &Held)> {
        self.bindings.iter().flat_map(|binding| binding.tensors.iter().map(move |held| (binding, held)))
    }

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
