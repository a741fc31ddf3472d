//! A finished kernel: WGSL that naga has accepted.

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
    /// Storage buffers, in order: buffer `k` is `@group(0) @binding(k)`; the fusion's operands first, then its results.
    pub bindings: Vec<Binding>,
    /// The binding of the uniform parameter block: 16 bytes, all zero (the run-time zero of [`crate::math`]).
    pub parameter_binding: u32,
    /// Invocations per workgroup.
    pub workgroup_size: [u32; 3],
    /// Workgroups to dispatch.
    pub workgroups: [u32; 3],
    pub(crate) module: naga::Module,
    pub(crate) info: naga::valid::ModuleInfo,
}

/// One storage buffer of a [`Shader`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name in the text.
    pub name: String,
    /// The tensor it holds, row-major.
    pub shape: ArrayShape,
    /// Whether the kernel writes it (`read_write`) or only reads it.
    pub writable: bool,
}

impl Shader {
    /// The module, parsed from [`source`](Self::source) and validated.
    pub fn module(&self) -> &naga::Module {
        &self.module
    }

    /// What naga's validator found out about the module.
    pub fn info(&self) -> &naga::valid::ModuleInfo {
        &self.info
    }
}
