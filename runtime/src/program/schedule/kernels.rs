//! The kernels of a program.

use super::PlannedLaunch;
use super::visit;
use crate::Watch;
use crate::program::{LoopDecision, front};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_codegen_wgsl::{LoopShader, Shader};
use weft_hlo::diagnostic::Diagnostics;
use weft_partition::{Fused, Site, Target};

/// What kernels were made for which fusions and loops, and why none was for others.
pub(super) struct Kernels {
    fusions: BTreeMap<Site, Result<Arc<Shader>, Diagnostics>>,
    loops: BTreeMap<Site, Result<LoopShader, Diagnostics>>,
}

impl Kernels {
    /// Those of a fused module: of each loop that is one kernel that one, if that is wanted; of all else, and of what other loops run, those of the
    /// fusions.
    pub(super) fn of(fused: &Fused, target: &Target, with_loops: bool, watch: Option<&Watch>) -> Self {
        let mut loops: BTreeMap<Site, Result<LoopShader, Diagnostics>> = BTreeMap::new();
        if with_loops {
            // What stands in a loop is asked only where the loop is no kernel.
            loop {
                let found = visit::sites(fused, |site| matches!(loops.get(&site), Some(Err(_)))).loops;
                let open: Vec<Site> = found.into_iter().filter(|site| !loops.contains_key(site)).collect();
                if open.is_empty() {
                    break;
                }
                loops.extend(front::loops(fused, &open, target));
            }
        }
        let sites = visit::sites(fused, |site| !matches!(loops.get(&site), Some(Ok(_)))).fusions;
        Kernels { fusions: front::kernels(fused, &sites, target, watch), loops }
    }

    /// The kernel of a fusion, or why there is none.
    pub(super) fn fusion(&self, site: Site) -> Option<&Result<Arc<Shader>, Diagnostics>> {
        self.fusions.get(&site)
    }

    /// The kernel of a loop.
    pub(super) fn whole_loop(&self, site: Site) -> Option<&LoopShader> {
        self.loops.get(&site)?.as_ref().ok()
    }

    /// For each loop whether it is one kernel, and why, in the order of their sites.
    pub(super) fn decisions(&self, fused: &Fused) -> Vec<LoopDecision> {
        let decision = |(site, outcome): (&Site, &Result<LoopShader, Diagnostics>)| LoopDecision {
            name: fused.name(*site),
            is_kernel: outcome.is_ok(),
            reason: match outcome {
                Ok(whole) => format!("it is one kernel of {} rounds at most: {}", whole.rounds, whole.plan.why()),
                Err(findings) => {
                    let why = findings.0.iter().map(|one| one.message.as_str());
                    let joined = fused.joined.get(site);
                    let joined =
                        joined.map(|fusion| format!("%{fusion} computes its condition with what a round makes"));
                    why.map(str::to_owned).chain(joined).collect::<Vec<_>>().join("; ")
                }
            },
        };
        self.loops.iter().map(decision).collect()
    }

    /// The kernel of a launch.
    pub(super) fn launched(&self, launch: &PlannedLaunch) -> Option<&Shader> {
        match self.whole_loop(launch.site) {
            Some(whole) if launch.is_rest => whole.rest.as_ref(),
            Some(whole) => Some(&whole.shader),
            None => self.fusions.get(&launch.site)?.as_ref().ok().map(Arc::as_ref),
        }
    }
}
