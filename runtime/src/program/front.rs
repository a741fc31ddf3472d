//! The one door to the compiler's crates.

use crate::{Error, Options, Progress, Watch};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft_codegen_wgsl::{Contents, LoopShader, Shader};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::Module;
use weft_partition::{Fused, Fusing, Site, Target};

/// The verified module, fused for `target`; what has no kernel stands between kernels.
pub(crate) fn fused(module: &Module, target: &Target, options: &Options) -> Result<Fused, Error> {
    let _span = tracing::debug_span!("fuse").entered();
    let fusing = Fusing { all_branches: options.all_branches, grouping: options.grouping };
    Ok(weft_partition::fuse_with(module, target, fusing)?)
}

/// The kernels of fusions, or why there are none. Those that are one but for names are compiled once, unless there is something to say of each.
pub(crate) fn kernels(
    fused: &Fused,
    sites: &[Site],
    target: &Target,
    watch: Option<&Watch>,
) -> BTreeMap<Site, Result<Arc<Shader>, Diagnostics>> {
    let first: Vec<Site> = fused.alike(sites).into_iter().map(|first| sites[first]).collect();
    let firsts: BTreeSet<Site> = first.iter().copied().collect();
    let open =
        |all: &BTreeSet<Site>| -> Vec<Site> { sites.iter().copied().filter(|site| all.contains(site)).collect() };
    let done = AtomicUsize::new(0);
    let all = AtomicUsize::new(firsts.len());
    let compile = |site: Site| {
        let made = weft_codegen_wgsl::compile(fused, site, target).map(Arc::new);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(watch) = watch {
            watch.tell(&Progress::Kernels { done, all: all.load(Ordering::Relaxed) });
        }
        made
    };
    let mut made = of_each(&open(&firsts), compile);
    let is_refused = |first: &Site| matches!(made.get(first), Some(Err(_)));
    let refused: BTreeSet<Site> = (sites.iter().zip(&first))
        .filter_map(|(site, first)| (site != first && is_refused(first)).then_some(*site))
        .collect();
    all.fetch_add(refused.len(), Ordering::Relaxed);
    let told = of_each(&open(&refused), compile);
    made.extend(told);
    for (site, first) in sites.iter().zip(&first) {
        if let (false, Some(Ok(shader))) = (made.contains_key(site), made.get(first)) {
            let shader = Arc::clone(shader);
            made.insert(*site, Ok(shader));
        }
    }
    made
}

/// The kernels of loops, or why they are none.
pub(crate) fn loops(fused: &Fused, sites: &[Site], target: &Target) -> BTreeMap<Site, Result<LoopShader, Diagnostics>> {
    of_each(sites, |site| weft_codegen_wgsl::compile_loop(fused, site, target))
}

/// What is made for each site, on all cores.
fn of_each<T: Send>(sites: &[Site], make: impl Fn(Site) -> T + Sync) -> BTreeMap<Site, T> {
    let make = |&site: &Site| (site, make(site));
    #[cfg(feature = "parallel")]
    let outcomes = {
        use rayon::prelude::*;
        sites.par_iter().map(make).collect()
    };
    #[cfg(not(feature = "parallel"))]
    let outcomes = sites.iter().map(make).collect();
    outcomes
}

/// The kernels of texts that tell of all lowerings, with what lies in their bindings; nothing is believed of them.
pub(crate) fn kernels_of_texts(texts: &[(String, Vec<Contents>)], target: &Target) -> Vec<Result<Shader, Diagnostics>> {
    let compile = |(text, contents): &(String, Vec<Contents>)| {
        weft_codegen_wgsl::compile_lowered(text, contents, target).map_err(|found| found.locate(text))
    };
    #[cfg(feature = "parallel")]
    let made = {
        use rayon::prelude::*;
        texts.par_iter().map(compile).collect()
    };
    #[cfg(not(feature = "parallel"))]
    let made = texts.iter().map(compile).collect();
    made
}
