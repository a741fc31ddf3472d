//! The one door to the compiler's crates.

use crate::Error;
use weft_codegen_wgsl::Shader;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{InstrId, Module};
use weft_partition::{Fused, Target};

/// The verified module, fused for `target`.
pub(crate) fn fused(module: &Module, target: &Target) -> Result<Fused, Error> {
    Ok(weft_partition::fuse(module, target)?)
}

/// The kernels of the fusions `ids` of the entry, in that order. All findings of all kernels are returned together.
pub(crate) fn kernels(fused: &Fused, ids: &[InstrId], target: &Target) -> Result<Vec<Shader>, Error> {
    let compile = |&id: &InstrId| -> Result<Shader, Diagnostics> { weft_codegen_wgsl::compile(fused, id, target) };
    #[cfg(feature = "parallel")]
    let outcomes: Vec<_> = {
        use rayon::prelude::*;
        ids.par_iter().map(compile).collect()
    };
    #[cfg(not(feature = "parallel"))]
    let outcomes: Vec<_> = ids.iter().map(compile).collect();
    let mut shaders = Vec::with_capacity(ids.len());
    let mut findings = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(shader) => shaders.push(shader),
            Err(found) => findings.extend(found.0),
        }
    }
    if findings.is_empty() { Ok(shaders) } else { Err(Diagnostics(findings).into()) }
}
