//! The one door to the compiler's crates.

use crate::Error;
use std::collections::BTreeMap;
use weft_codegen_wgsl::Shader;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::Module;
use weft_partition::{Fused, Site, Target};

/// The verified module, fused for `target`; what has no kernel stands between kernels.
pub(crate) fn fused(module: &Module, target: &Target) -> Result<Fused, Error> {
    Ok(weft_partition::fuse_explained(module, target)?)
}

/// The kernels of fusions, or why there are none.
pub(crate) fn kernels(fused: &Fused, sites: &[Site], target: &Target) -> BTreeMap<Site, Result<Shader, Diagnostics>> {
    let compile = |&site: &Site| (site, weft_codegen_wgsl::compile(fused, site, target));
    #[cfg(feature = "parallel")]
    let outcomes = {
        use rayon::prelude::*;
        sites.par_iter().map(compile).collect()
    };
    #[cfg(not(feature = "parallel"))]
    let outcomes = sites.iter().map(compile).collect();
    outcomes
}
