//! Fusion, HLO to HLO.
//!
//! The entry computation is walked from users to producers. A producer is fused into the kernels of all its users
//! unless something forbids it; then it becomes a kernel of its own:
//! - it is an output of the program, or a reduction (a reduction roots its kernel); a scan may be computed in a kernel that reads it at its own elements;
//! - some kernel would bind more buffers than the target allows, or grow too long;
//! - the work that is done again because it is fused, accumulated over the kernel, would pass the [`Budget`].
//!
//! Then kernels become one where that takes less time ([`merge`]): those that read each other's results, or the same, over as many elements. So what is computed of sums of products comes into
//! their kernels; what these are made of is computed again for each tile that reads it, where that takes less time than a kernel that writes it ([`prologues`]).
//!
//! What cannot be compiled yet is set apart: an operation without code is a kernel of its own, instructions of types without a form
//! are fused with their like only, and what no kernel will compute stays between kernels. The computations that a `while` or a
//! `conditional` runs are programs like the entry, and are fused by themselves.

mod alike;
mod assemble;
mod branches;
mod candidate;
mod effects;
mod expand;
mod fast_scatters;
mod given;
mod greedy;
mod group;
mod joined;
mod leaves;
mod legalize;
mod merge;
mod ordered_kernels;
mod oriented;
mod prologues;
mod results;
mod scans;
mod semigroups;
mod taken_apart;
mod thin_dots;
mod two_passes;
mod unique_scatters;
mod wide_products;

use crate::arenas::{Arenas, Slot};
use crate::cost::Budget;
use crate::plan::FusionPlan;
use crate::{Site, Target, Uncompiled, legal};
pub use candidate::{Candidate, Comparison, Move};
use greedy::Greedy;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{Arena, ArenaId, ComputationId, Instruction, Module, Op};
use weft_hlo::passes::{self, FourierMatrix};

/// What became of one instruction of the program, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The instruction, by its name in the flattened program; of another computation than the entry as `computation/instruction`.
    pub instruction: String,
    /// What became of it.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
}

/// What became of an instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is computed in the kernels of its users.
    Fused,
    /// It is a kernel's result.
    Kernel,
    /// A fusion of the program was taken apart.
    Dissolved,
    /// A fusion of the program was kept, or an operation that others might have been written for.
    Kept,
    /// It was written as other operations, which decisions of their own follow.
    Rewritten,
    /// It stays in the program as it is: no kernel computes it yet, or it decides which programs run.
    Stays,
}

/// A fused module with the decisions that led to it.
#[derive(Clone, Debug)]
pub struct Fused {
    /// The module. Its entry computation holds parameters, constants, fusions, `get-tuple-element` of fusions with
    /// several outputs, and at its root possibly a flat `tuple`; besides, what stays because no kernel computes it, with tuples
    /// as it needs them. Computations that such instructions run look the same.
    pub module: Module,
    /// One per instruction considered, in the order of the decisions (users before producers).
    pub decisions: Vec<Decision>,
    /// What could be fused and what kernels take before and after it, in the order in which it was considered.
    pub candidates: Vec<Candidate>,
    /// The computations that are programs: the entry, and those that a `while`, a `conditional` or the like runs.
    pub programs: BTreeSet<ComputationId>,
    /// The kernels and other instructions that cannot be compiled yet, and why; the entry's first.
    pub uncompiled: Vec<Uncompiled>,
    /// How many rounds a `while` makes, where it followed from the text before its counter was fused.
    pub trip_counts: BTreeMap<Site, u64>,
    /// Why the host reads which branch of a `conditional` is taken.
    pub asked: BTreeMap<Site, String>,
    /// The loops that carry their condition ([`with_conditions_joined`](Fused::with_conditions_joined)), with the fusion of the round that computes it.
    pub joined: BTreeMap<Site, String>,
    /// Small arguments and results of the entry that lie side by side, for kernels that would bind too many buffers.
    pub arenas: Arenas,
    plans: BTreeMap<ComputationId, FusionPlan>,
    /// Those of computations that are applied to elements: one may be called by a fusion, too.
    applied: BTreeMap<ComputationId, FusionPlan>,
}

impl Fused {
    /// A module that is fused already, whoever fused it, with the plans of its kernels for a target.
    ///
    /// # Errors
    /// What cannot be compiled is refused: `HLO401`–`HLO403`, and the errors of [`FusionPlan::new`].
    pub fn of(module: Module, target: &Target) -> Result<Fused, Diagnostics> {
        legal::check(&module, target)?;
        let mut trip_counts = BTreeMap::new();
        for (computation, owner) in module.computations.iter() {
            for (id, instruction) in owner.instructions.iter() {
                if let Some(count) = passes::trip_count(&module.computations, &owner.instructions, instruction) {
                    trip_counts.insert(Site { computation, instruction: id }, count);
                }
            }
        }
        let asked = branches::asked(&module, target);
        Fused::planned(module, (trip_counts, asked), (Vec::new(), Vec::new()), target)
    }

    /// The fusions of all programs, each of which is a kernel: the entry's first.
    pub fn fusions(&self) -> impl Iterator<Item = Site> {
        self.programs.iter().rev().flat_map(|&computation| {
            let instructions = self.module.computations[computation].instructions.iter();
            let fusions = instructions.filter(|(_, instruction)| matches!(instruction.op, Op::Fusion { .. }));
            fusions.map(move |(instruction, _)| Site { computation, instruction })
        })
    }

    /// How many buffers the kernel of a fusion binds: one for each operand and each result, and one for all of those that lie in one of its
    /// [arenas](Fused::arenas). 0 where there is no fusion.
    pub fn bindings(&self, site: Site) -> usize {
        let Some(fusion) = self.instruction(site).filter(|one| matches!(one.op, Op::Fusion { .. })) else { return 0 };
        let slots = self.slots(site);
        if slots.is_empty() {
            return fusion.operands.len() + fusion.shape.leaves().len();
        }
        let operands = fusion.operands.iter().enumerate();
        let again = operands
            .filter(|(position, operand)| fusion.operands[..*position].contains(operand))
            .map(|(position, _)| position);
        let again: BTreeSet<usize> = again.collect();
        let (mut arenas, mut others) = (BTreeSet::new(), 0);
        for (position, slot) in slots.into_iter().enumerate() {
            match slot {
                Some(slot) => drop(arenas.insert(slot.arena)),
                None => others += usize::from(!again.contains(&position)),
            }
        }
        others + arenas.len()
    }

    /// Where the operands of a fusion lie, and behind them its results, if it binds [arenas](Fused::arenas); nothing for another.
    fn slots(&self, site: Site) -> Vec<Option<Slot>> {
        let is_in_arenas = site.computation == self.module.entry && self.arenas.are_bound_by(site.instruction);
        let Some(fusion) = self.instruction(site).filter(|_| is_in_arenas) else { return Vec::new() };
        let read = fusion.operands.iter().map(|operand| self.arenas.argument(*operand));
        let results = 0..fusion.shape.leaves().len();
        read.chain(results.map(|number| self.arenas.result(site.instruction, number))).collect()
    }

    /// The instruction at a site; `None` where there is none.
    pub fn instruction(&self, site: Site) -> Option<&Instruction> {
        self.module.computations.get(site.computation)?.instructions.get(site.instruction)
    }

    /// What is said of a site to a reader: the name of an instruction of the entry, `computation/instruction` of another.
    pub fn name(&self, site: Site) -> String {
        given::name_in(&self.module, site.computation, site.instruction)
    }

    /// The plan of a computation that a fusion calls; `None` for any other, and where it cannot be compiled yet.
    pub fn plan(&self, computation: ComputationId) -> Option<&FusionPlan> {
        self.plans.get(&computation)
    }

    /// The plan of a computation that an operation of a fusion applies to elements; `None` for any other, and where it cannot be compiled yet.
    pub fn applied_plan(&self, computation: ComputationId) -> Option<&FusionPlan> {
        self.applied.get(&computation)
    }

    fn planned(
        module: Module,
        (trip_counts, asked): (BTreeMap<Site, u64>, BTreeMap<Site, String>),
        (decisions, candidates): (Vec<Decision>, Vec<Candidate>),
        target: &Target,
    ) -> Result<Fused, Diagnostics> {
        let known = legal::programs(&module);
        let programs: BTreeSet<ComputationId> = module.computations.ids().filter(|id| known[id.index()]).collect();
        let uncompiled = legal::uncompiled(&module, target);
        let refused: BTreeSet<Site> = uncompiled.iter().map(|one| one.site).collect();
        let _span = tracing::debug_span!("plan").entered();
        let (mut plans, mut applied) = (BTreeMap::new(), BTreeMap::new());
        for &program in &programs {
            for (id, instruction) in module.computations[program].instructions.iter() {
                let site = Site { computation: program, instruction: id };
                let Op::Fusion { calls, .. } = instruction.op else { continue };
                let computation = &module.computations[calls];
                let plan = match FusionPlan::new(&module, computation, target) {
                    Ok(plan) => plan,
                    // What has no code yet may have no maps either.
                    Err(_) if refused.contains(&site) => continue,
                    Err(findings) => return Err(findings),
                };
                plans.insert(calls, plan);
                if !refused.contains(&site) {
                    plan_applied(&module, calls, &mut applied)?;
                }
            }
        }
        let arenas = Arenas::of(&module, target);
        Ok(Fused {
            module,
            decisions,
            candidates,
            programs,
            uncompiled,
            trip_counts,
            asked,
            joined: BTreeMap::new(),
            arenas,
            plans,
            applied,
        })
    }
}

/// Plans the computations that operations of a computation apply to elements, and those that these apply.
fn plan_applied(
    module: &Module,
    within: ComputationId,
    plans: &mut BTreeMap<ComputationId, FusionPlan>,
) -> Result<(), Diagnostics> {
    let mut pending = vec![within];
    while let Some(within) = pending.pop() {
        let instructions = module.computations[within].instructions.values();
        for applied in instructions.flat_map(|instruction| instruction.op.called_computations()) {
            if let Entry::Vacant(vacant) = plans.entry(applied) {
                vacant.insert(FusionPlan::of_applied(&module.computations[applied])?);
                pending.push(applied);
            }
        }
    }
    Ok(())
}

/// Fuses a module for a target. The entry is walked from users to producers, and a producer goes into the kernels of all
/// its users unless it is an output or a reduction, a kernel would bind more buffers than the target allows or grow too
/// long, or the work done again would pass the [`Budget`](crate::Budget). Calls are inlined and tuples taken apart
/// first, so parameters and results of the entry computation are the leaves of the program's, in order.
///
/// # Errors
/// What cannot be compiled is refused: `HLO401`–`HLO404`, and the errors of [`passes::flatten`].
pub fn fuse(module: &Module, target: &Target) -> Result<Fused, Diagnostics> {
    let expanded = expand::expand(module, target, &mut Vec::new())?;
    legal::check(&expanded, target)?;
    fuse_explained(module, target)
}

/// As [`fuse`], with the reasons, and for any program: what cannot be compiled yet is set apart and reported.
///
/// # Errors
/// `HLO310` for what would become too large, `HLO404` for an instruction that reads and writes more buffers than a kernel binds.
pub fn fuse_explained(module: &Module, target: &Target) -> Result<Fused, Diagnostics> {
    fuse_with(module, target, Fusing::default())
}

/// How a program is fused.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Fusing {
    /// Whether all branches of a `conditional` are computed where that takes no longer than to ask which one is taken; else each one asks.
    pub all_branches: bool,
    /// What is fused at all.
    pub grouping: Grouping,
}

/// With all branches, where that takes no longer, and with the fusions that the program brings along.
impl Default for Fusing {
    fn default() -> Self {
        Fusing { all_branches: true, grouping: Grouping::Keep }
    }
}

/// What is fused of a program that may bring fusions along.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// The fusions of the program are kept where each fits a kernel, and everything else is fused where that saves time.
    #[default]
    Keep,
    /// The fusions of the program are taken apart, and everything is fused where that saves time.
    Refuse,
    /// Nothing: each instruction is a kernel of its own, also those that fusions of the program hold. What a kernel would not be able to do is still
    /// written otherwise first, a reduction of many elements in two passes for instance.
    Alone,
}

/// As [`fuse_explained`], in a certain way.
///
/// # Errors
/// As there.
pub fn fuse_with(module: &Module, target: &Target, fusing: Fusing) -> Result<Fused, Diagnostics> {
    let budget = Budget::default();
    let (mut decisions, mut candidates) = (Vec::new(), Vec::new());
    let module = expand::expand(module, target, &mut decisions)?;
    let flat = passes::flatten_around(&given::dissolve_nested(&module))?;
    let flat = semigroups::complete(flat, target, &mut decisions);
    let flat = match fusing.grouping {
        Grouping::Keep => given::dissolve_costly(flat, target, &budget, &mut decisions)?,
        Grouping::Refuse | Grouping::Alone => given::dissolve_all(flat, &mut decisions)?,
    };
    let programs = legal::programs(&flat);
    let is_program = |id: &ComputationId| programs[id.index()];
    let ids: Vec<ComputationId> = flat.computations.ids().filter(is_program).collect();
    let flat = ids.iter().fold(flat, |flat, id| legalize::split_wide_concatenates(flat, *id, target));
    let flat = match fusing.grouping {
        Grouping::Alone => flat,
        _ => ids.iter().fold(flat, |flat, id| oriented::orient(flat, *id, target, &mut decisions)),
    };
    let flat = ids.iter().fold(flat, |flat, id| scans::split_long_scans(flat, *id, target, &mut decisions));
    let flat = thin_dots::rewrite(flat, target, &mut decisions);
    let flat = match fusing.grouping {
        Grouping::Alone => flat,
        _ => {
            let flat = wide_products::rewrite(flat, &ids, target, &mut decisions);
            ordered_kernels::rewrite(flat, &ids, target, &mut decisions)
        }
    };
    let flat = ids.iter().fold(flat, |flat, id| two_passes::split_long_reductions(flat, *id, target, &mut decisions));
    let (mut flat, asked) = branches::select_cheap(flat, target, fusing, &mut decisions)?;
    flat.computations.values_mut().for_each(FourierMatrix::verify);
    let programs = legal::programs(&flat);
    let ids: Vec<ComputationId> = flat.computations.ids().filter(|id| programs[id.index()]).collect();
    let mut fused: Arena<ComputationId, Option<Greedy>> = Arena::new();
    flat.computations.ids().for_each(|_| {
        fused.push(None);
    });
    // The entry comes last, and is told of first.
    for &id in ids.iter().rev() {
        let told = (&mut decisions, &mut candidates);
        let greedy = greedy::decide(&flat, id, (target, &budget, fusing.grouping), &asked, told)?;
        let groups = match fusing.grouping {
            Grouping::Alone => greedy.groups,
            _ => merge::merge(&flat, id, greedy.groups, (target, &budget), (&mut decisions, &mut candidates))?,
        };
        fused[id] = Some(Greedy { groups });
    }
    for decision in &decisions {
        tracing::debug!(
            instruction = %decision.instruction,
            verdict = ?decision.verdict,
            reason = %decision.reason,
            "fusion decision"
        );
    }
    let (module, known) = assemble::assemble(&flat, &fused, &asked, target);
    Fused::planned(module, known, (decisions, candidates), target)
}
