//! From a fused module to steps and buffers.
//!
//! The entry and what it runs are walked once ([`visit`]): what comes out are steps on values, numbered in the order in which they come
//! to be, and for each value where it is used. Then it is decided which values lie in one buffer because one is an update, a result or a
//! successor of another ([`alias`]), with a copy where they cannot, and which share one because they do not live at the same time
//! ([`memory`]); the steps are written on buffers then ([`place`]).
//!
//! Time is the number of a step, counted through loops and branches as they stand in the text. A value lives from the step that makes it
//! to the last that uses it; what is used in a loop that it comes from outside of lives until that loop ends.

mod ahead;
mod alias;
mod host;
mod in_arenas;
mod kernels;
mod memory;
mod needed;
mod order;
mod passed_on;
mod place;
mod region;
mod view;
mod visit;
mod whole_loop;

use super::arena::gather;
use super::donation::Donation;
use super::step::all;
use super::{Options, Place, Program, Step, Tensor};
use crate::{Error, Watch};
use alias::Aliases;
use kernels::Kernels;
use region::{Region, Regions};
use std::collections::BTreeMap;
use visit::Visit;
use weft_codegen_wgsl::Shader;
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::{ArrayShape, InstrId, Module};
use weft_partition::{Fused, Site, Target};

/// A tensor before it has a buffer, known by its number in [`Schedule::values`].
struct Value {
    name: String,
    shape: ArrayShape,
    bytes: u64,
    origin: Origin,
    /// Where it is made.
    region: Region,
    /// The step that makes it.
    made: usize,
    /// The steps that use it, and where they stand; those that use a value under another shape among them.
    uses: Vec<(usize, Region)>,
    /// The last of them, counted as they stand in the text.
    last: usize,
    /// The value that this is under another shape, with which it lies.
    view_of: Option<usize>,
}

impl Value {
    /// One that a step makes, or that is there before.
    fn new(name: String, shape: ArrayShape, bytes: u64, origin: Origin, (region, made): (Region, usize)) -> Self {
        Value { name, shape, bytes, origin, region, made, uses: Vec::new(), last: 0, view_of: None }
    }

    /// Has a step use it.
    fn used(&mut self, at: usize, region: Region) {
        self.uses.push((at, region));
        self.last = self.last.max(at);
    }
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Origin {
    Parameter(usize),
    /// A parameter whose memory may be written.
    Donated(usize),
    Constant(Site),
    /// These of [`Schedule::sizes`].
    Sizes(usize),
    /// A step makes it.
    Made,
}

impl Origin {
    /// Whether steps may write where it lies.
    fn is_free(self) -> bool {
        matches!(self, Origin::Made | Origin::Donated(_))
    }
}

/// A step before its tensors have buffers.
enum Planned {
    Launch(PlannedLaunch),
    Copy { from: usize, to: usize },
    While(Box<PlannedWhile>),
    Conditional(PlannedConditional),
    Host(PlannedHost),
    Draw(PlannedDraw),
}

struct PlannedLaunch {
    /// The fusion, or the loop that is one kernel.
    site: Site,
    /// Whether it makes the rounds that are left of such a loop.
    is_rest: bool,
    /// Its number.
    at: usize,
    region: Region,
    /// The operands.
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// The operands that the kernel reads, and the outputs that it writes, in the order of its bindings.
    read: Vec<usize>,
    written: Vec<usize>,
    /// The outputs that the kernel updates.
    updated: Vec<Update>,
    /// Which of the outputs are copied from an operand first.
    copied: Vec<(usize, usize)>,
}

/// An output that a kernel updates.
#[derive(Copy, Clone)]
struct Update {
    output: usize,
    /// The operand that it is an update of.
    operand: usize,
    /// How many elements are written.
    elements: u64,
}

struct PlannedWhile {
    site: Site,
    start: usize,
    end: usize,
    region: Region,
    /// Of the body.
    body_region: Region,
    trip_count: Option<u64>,
    condition: Vec<Planned>,
    flag: Option<usize>,
    carried: Vec<Carried>,
    body: Vec<Planned>,
    /// After each round the first takes the buffer of the second.
    exchanges: Vec<(usize, usize)>,
    ahead: Option<PlannedAhead>,
}

/// How rounds are handed to the device before it is known whether they take place.
enum PlannedAhead {
    Kept(usize),
    Gated(Box<PlannedGate>),
}

/// What decides on the device whether the launches of a round run.
struct PlannedGate {
    shader: Shader,
    /// The flag and the sizes.
    inputs: [usize; 2],
    /// Whether the loop is over, the number of rounds, the sizes to dispatch by.
    outputs: [usize; 3],
    /// How many rounds are handed over at once at most.
    rounds: usize,
}

/// An element of the state of a loop that the body does not pass on as it is.
#[derive(Copy, Clone)]
struct Carried {
    initial: usize,
    /// What condition and body are given.
    state: usize,
    /// What the body makes of it.
    next: usize,
    /// What is left of it after the loop.
    last: usize,
}

struct PlannedConditional {
    site: Site,
    /// The step at which the branch is chosen.
    start: usize,
    selector: usize,
    branches: Vec<Branch>,
    outputs: Vec<usize>,
}

struct Branch {
    start: usize,
    /// The step at which its results are there.
    end: usize,
    steps: Vec<Planned>,
    /// One for each output.
    results: Vec<usize>,
}

/// A random state that is uploaded.
struct PlannedDraw {
    site: Site,
    delta: i64,
    output: usize,
}

struct PlannedHost {
    reasons: Vec<Diagnostic>,
    module: Module,
    inputs: Vec<usize>,
    /// Constants that it is given behind those.
    constants: Vec<Site>,
    /// What its instructions make, with the instructions of the module that yield it.
    outputs: Vec<(usize, InstrId)>,
}

/// Values and steps.
struct Schedule<'a> {
    fused: &'a Fused,
    target: &'a Target,
    values: Vec<Value>,
    regions: Regions,
    steps: Vec<Planned>,
    parameters: Vec<usize>,
    results: Vec<usize>,
    /// For each loop with a gate the workgroups of its launches.
    sizes: Vec<Vec<u32>>,
    /// The arguments and results that kernels look for in arenas, and where.
    in_arenas: BTreeMap<usize, Place>,
}

/// Schedules the entry of a fused module, and what it runs.
pub(super) fn build(fused: Fused, target: &Target, options: &Options, watch: Option<&Watch>) -> Result<Program, Error> {
    let fused = fused.with_conditions_joined(target, options.whole_loops);
    let kernels = Kernels::of(&fused, target, options.whole_loops, watch);
    let _span = tracing::debug_span!("schedule").entered();
    let mut schedule = Visit::new(&fused, target, &kernels).schedule()?;
    let donation = Donation::of(&fused.module, schedule.parameters.len(), &options.donated)?;
    needed::drop_unneeded(&mut schedule);
    schedule.in_arenas = in_arenas::places(&schedule);
    for number in donation.parameters.iter().copied() {
        let parameter = schedule.parameters[number];
        // An arena of arguments is not written: what takes their place lies in another one.
        if !schedule.in_arenas.contains_key(&parameter) {
            schedule.values[parameter].origin = Origin::Donated(number);
        }
    }
    host::settle(&mut schedule, options)?;
    place::check_limits(&schedule)?;
    let aliases = Aliases::decide(&mut schedule, &kernels)?;
    let placed = place::place(&schedule, &aliases, &kernels, &donation)?;
    let place::Placed { steps, shaders, mut buffers, tensors, temporaries_without_reuse, least } = placed;
    let tensor = |value: &usize| tensors[*value].clone();
    let parameters = schedule.parameters.iter().map(tensor).collect();
    let results: Vec<Tensor> = schedule.results.iter().map(tensor).collect();
    gather(&mut buffers, &steps, &results, target);
    let constants: Vec<(Site, Tensor)> = (schedule.values.iter().zip(&tensors))
        .filter_map(|(value, tensor)| match value.origin {
            Origin::Constant(site) => Some((site, tensor.clone())),
            _ => None,
        })
        .collect();
    let launches = all(&steps).filter(|step| matches!(step, Step::Launch(_))).count();
    tracing::debug!(launches, kernels = shaders.len(), buffers = buffers.len(), "scheduled");
    Ok(Program {
        target: target.clone(),
        shaders,
        steps,
        buffers,
        parameters,
        constants,
        results,
        sizes: schedule.sizes,
        loops: kernels.decisions(&fused),
        temporaries_without_reuse,
        least,
        passes: Vec::new(),
        is_foreign: false,
        module: fused.module,
    })
}
