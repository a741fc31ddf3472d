//! The walk over the entry and what it runs.

use super::host::Cluster;
use super::kernels::Kernels;
use super::order::{Kind, effects, order};
use super::passed_on::{leaf_count, passed_on};
use super::region::{Region, Regions};
use super::view::is_view;
use super::{
    Branch, Carried, Origin, Planned, PlannedConditional, PlannedDraw, PlannedLaunch, PlannedWhile, Schedule, Value,
};
use crate::Error;
use crate::program::layout::{buffer_bytes, encode};
use crate::program::step::MAX_NESTED;
use crate::program::tensor_bytes;
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::diagnostic::Diagnostic;
use weft_hlo::ir::{ArrayShape, Computation, ComputationId, InstrId, Instruction, Op, Shape};
use weft_partition::{Form, Fused, Site, Target, is_drawn};

/// Steps that a program may have: loops whose bodies hold loops which share bodies can double at every level.
const MAX_STEPS: usize = 1_000_000;

/// The leaves of a value, left to right: arrays, and nothing for a token.
pub(super) type Leaves = Vec<Option<usize>>;

/// What steps may be made for.
#[derive(Default)]
pub(super) struct Sites {
    pub(super) fusions: Vec<Site>,
    pub(super) loops: Vec<Site>,
}

/// The fusions and loops of the entry and of what it runs, loop by loop and branch by branch, each once; of loops what those run that are steps.
pub(super) fn sites(fused: &Fused, is_steps: impl Fn(Site) -> bool) -> Sites {
    let mut seen: BTreeSet<ComputationId> = BTreeSet::new();
    let mut pending = vec![fused.module.entry];
    let mut sites = Sites::default();
    while let Some(computation) = pending.pop() {
        if !seen.insert(computation) {
            continue;
        }
        for (id, instruction) in fused.module.computations[computation].instructions.iter() {
            let site = Site { computation, instruction: id };
            match &instruction.op {
                Op::Fusion { .. } if is_view(fused, site) => {}
                Op::Fusion { .. } => sites.fusions.push(site),
                Op::While { .. } => {
                    sites.loops.push(site);
                    if is_steps(site) {
                        pending.extend(instruction.op.called_computations());
                    }
                }
                Op::Conditional { .. } | Op::AsyncStart { .. } => {
                    pending.extend(instruction.op.called_computations());
                }
                _ => {}
            }
        }
    }
    sites
}

/// The walk.
pub(super) struct Visit<'a> {
    fused: &'a Fused,
    target: &'a Target,
    kernels: &'a Kernels,
    /// Why what is no kernel is not compiled.
    refused: BTreeMap<Site, &'a Diagnostic>,
    /// Of each computation whether what it runs has side effects.
    effects: Vec<bool>,
    pub(super) values: Vec<Value>,
    pub(super) regions: Regions,
    constants: BTreeMap<Site, usize>,
    /// The next step.
    now: usize,
    depth: usize,
}

/// A computation that is being walked.
pub(super) struct Frame<'a> {
    pub(super) id: ComputationId,
    pub(super) computation: &'a Computation,
    pub(super) region: Region,
    /// What each instruction yields.
    pub(super) of: BTreeMap<InstrId, Leaves>,
    pub(super) steps: Vec<Planned>,
    /// What the host is about to compute, with the number of that step.
    cluster: Option<(usize, Cluster<'a>)>,
}

impl<'a> Visit<'a> {
    pub(super) fn new(fused: &'a Fused, target: &'a Target, kernels: &'a Kernels) -> Self {
        let refused = fused.uncompiled.iter().map(|one| (one.site, &one.reason)).collect();
        Visit {
            fused,
            target,
            kernels,
            refused,
            effects: effects(&fused.module),
            values: Vec::new(),
            regions: Regions::default(),
            constants: BTreeMap::new(),
            now: 0,
            depth: 0,
        }
    }

    /// Walks the entry.
    pub(super) fn schedule(mut self) -> Result<Schedule<'a>, Error> {
        let entry = self.fused.module.entry;
        let computation = &self.fused.module.computations[entry];
        // Parameters first and by number, so that their buffers come first in every program.
        let mut parameters = Vec::new();
        let mut arguments = Vec::new();
        for id in computation.parameters() {
            let instruction = &computation.instructions[id];
            let Shape::Array(shape) = &instruction.shape else {
                return Err(refused(instruction, "a parameter of the fused entry is not an array"));
            };
            let origin = Origin::Parameter(parameters.len());
            let value = self.value(instruction.name.clone(), shape, origin, Region::PROGRAM, 0)?;
            parameters.push(value);
            arguments.push(Some(value));
        }
        let (steps, results) = self.block(entry, &arguments, Region::PROGRAM)?;
        let results: Vec<usize> = results.into_iter().flatten().collect();
        results.iter().for_each(|result| self.uses(*result, usize::MAX, Region::PROGRAM));
        let Visit { fused, target, values, regions, .. } = self;
        Ok(Schedule {
            fused,
            target,
            values,
            regions,
            steps,
            parameters,
            results,
            sizes: Vec::new(),
            in_arenas: BTreeMap::new(),
        })
    }

    /// The steps of a computation whose parameters have these leaves, and the leaves of its result.
    fn block(
        &mut self,
        id: ComputationId,
        arguments: &[Option<usize>],
        region: Region,
    ) -> Result<(Vec<Planned>, Leaves), Error> {
        let computation = &self.fused.module.computations[id];
        let mut frame = Frame { id, computation, region, of: BTreeMap::new(), steps: Vec::new(), cluster: None };
        let mut arguments = arguments.iter().copied();
        for parameter in computation.parameters() {
            let count = computation.instructions[parameter].shape.leaves().len();
            frame.of.insert(parameter, arguments.by_ref().take(count).collect());
        }
        let kernels = self.kernels;
        for id in order(computation, &self.effects, |id| self.kind(&frame, id)) {
            let instruction = &computation.instructions[id];
            match self.kind(&frame, id) {
                Kind::Named => {
                    // What the host makes may lie under another shape only when it lies on the device.
                    if let Op::Fusion { .. } = instruction.op {
                        self.finish_cluster(&mut frame);
                    }
                    self.name(&mut frame, id, instruction)?;
                }
                Kind::Host => self.on_host(&mut frame, id, instruction)?,
                Kind::Device => {
                    self.finish_cluster(&mut frame);
                    let leaves = match &instruction.op {
                        Op::While { .. } => match kernels.whole_loop(Site { computation: frame.id, instruction: id }) {
                            Some(whole) => self.whole_loop(&mut frame, id, instruction, whole)?,
                            None => self.repeated(&mut frame, id, instruction)?,
                        },
                        Op::Conditional { .. } => self.chosen(&mut frame, id, instruction)?,
                        Op::RngGetAndUpdateState { delta } => self.drawn(&mut frame, id, *delta)?,
                        Op::AsyncStart { .. } => self.called(&mut frame, instruction)?,
                        _ => self.launch(&mut frame, id, instruction)?,
                    };
                    frame.of.insert(id, leaves);
                }
            }
        }
        self.finish_cluster(&mut frame);
        let result = self.leaves(&mut frame, computation.root)?;
        Ok((frame.steps, result))
    }

    fn kind(&self, frame: &Frame<'a>, id: InstrId) -> Kind {
        let site = Site { computation: frame.id, instruction: id };
        match &frame.computation.instructions[id].op {
            Op::Parameter { .. }
            | Op::Constant(_)
            | Op::GetTupleElement { .. }
            | Op::Tuple
            | Op::AfterAll
            | Op::AddDependency
            | Op::AsyncUpdate { .. }
            | Op::AsyncDone { .. } => Kind::Named,
            Op::Fusion { .. } if self.too_large(frame.computation, id).is_some() => Kind::Host,
            Op::Fusion { .. } if is_view(self.fused, site) => Kind::Named,
            Op::Fusion { .. } if matches!(self.kernels.fusion(site), Some(Ok(_))) => Kind::Device,
            Op::While { .. } | Op::Conditional { .. } | Op::AsyncStart { .. } => Kind::Device,
            Op::RngGetAndUpdateState { .. } if is_drawn(&frame.computation.instructions[id]) => Kind::Device,
            _ => Kind::Host,
        }
    }

    /// Why no launch computes a fusion though it may have a kernel: what it reads or makes has no room in a buffer. Of a value that only the host needs
    /// there is none.
    fn too_large(&self, computation: &Computation, id: InstrId) -> Option<Diagnostic> {
        let limit = self.target.max_buffer_bytes;
        let instruction = &computation.instructions[id];
        let operands = instruction.operands.iter().map(|operand| &computation.instructions[*operand]);
        let large = |shape: &&ArrayShape| {
            let bytes = tensor_bytes(shape).and_then(buffer_bytes);
            shape.dynamic.is_empty()
                && Form::of(shape.element_type).is_some()
                && bytes.is_none_or(|bytes| bytes > limit)
        };
        let mut shapes = operands.chain([instruction]).flat_map(|of| of.shape.leaves()).filter_map(Shape::as_array);
        let shape = shapes.find(large)?;
        let message = format!("{shape} takes more than the {limit} bytes of a buffer of the target");
        Some(Diagnostic::new("RUN001", instruction.span, message).about(&instruction.name))
    }

    /// The number of the next step.
    pub(super) fn step(&mut self, instruction: &Instruction) -> Result<usize, Error> {
        self.now += 1;
        if self.now > MAX_STEPS {
            let reason = format!("the program has more than {MAX_STEPS} steps");
            return Err(refused(instruction, &reason));
        }
        Ok(self.now)
    }

    fn value(
        &mut self,
        name: String,
        shape: &ArrayShape,
        origin: Origin,
        region: Region,
        made: usize,
    ) -> Result<usize, Error> {
        let no_form = |reason: &str| Error::NoDeviceForm { value: format!("{name} {shape}"), reason: reason.into() };
        if !shape.dynamic.is_empty() {
            return Err(no_form("its extents are not known before it runs"));
        }
        if Form::of(shape.element_type).is_none() {
            return Err(no_form(&format!("tensors of {} cannot lie on a device yet", shape.element_type)));
        }
        let limit = self.target.max_buffer_bytes;
        let bytes = tensor_bytes(shape).ok_or_else(|| Error::too_large(&name, shape, None, limit))?;
        self.values.push(Value::new(name, shape.clone(), bytes, origin, (region, made)));
        Ok(self.values.len() - 1)
    }

    /// A value like another.
    pub(super) fn like(&mut self, other: usize, name: String, region: Region, made: usize) -> usize {
        let Value { shape, bytes, .. } = &self.values[other];
        let (shape, bytes, origin) = (shape.clone(), *bytes, Origin::Made);
        self.values.push(Value::new(name, shape, bytes, origin, (region, made)));
        self.values.len() - 1
    }

    /// New values for the leaves of what an instruction makes in a step.
    fn made(&mut self, frame: &Frame<'a>, instruction: &Instruction, at: usize) -> Result<Leaves, Error> {
        let is_tuple = matches!(instruction.shape, Shape::Tuple(_));
        let mut leaves = Vec::new();
        for (position, leaf) in instruction.shape.leaves().into_iter().enumerate() {
            let name = if is_tuple { format!("{}{{{position}}}", instruction.name) } else { instruction.name.clone() };
            leaves.push(match leaf {
                Shape::Array(shape) => Some(self.value(name, shape, Origin::Made, frame.region, at)?),
                Shape::Token => None,
                other => {
                    let value = format!("{name} {other}");
                    return Err(Error::NoDeviceForm { value, reason: "only arrays lie on a device".into() });
                }
            });
        }
        Ok(leaves)
    }

    pub(super) fn uses(&mut self, value: usize, at: usize, region: Region) {
        let mut used = Some(value);
        while let Some(value) = used {
            self.values[value].used(at, region);
            used = self.values[value].view_of;
        }
    }

    /// The value of a constant, which now gets a buffer.
    pub(super) fn constant(&mut self, site: Site) -> Result<usize, Error> {
        if let Some(value) = self.constants.get(&site) {
            return Ok(*value);
        }
        let instruction = &self.fused.module.computations[site.computation].instructions[site.instruction];
        let (Shape::Array(shape), Op::Constant(literal)) = (&instruction.shape, &instruction.op) else {
            return Err(refused(instruction, "a constant of a fused program is not an array"));
        };
        if encode(literal).is_none() {
            return Err(match self.refused.get(&site) {
                Some(reason) => (*reason).clone().into(),
                None => refused(instruction, "the constant's elements are not in the text"),
            });
        }
        let value = self.value(instruction.name.clone(), shape, Origin::Constant(site), Region::PROGRAM, 0)?;
        self.constants.insert(site, value);
        Ok(value)
    }

    /// A value under another shape.
    fn view(&mut self, of: usize, instruction: &Instruction) -> Result<usize, Error> {
        let Shape::Array(shape) = &instruction.shape else {
            return Err(refused(instruction, "a reshaped value is no array"));
        };
        let Value { region, made, .. } = self.values[of];
        let view = self.value(self.values[of].name.clone(), shape, Origin::Made, region, made)?;
        self.values[view].view_of = Some(of);
        Ok(view)
    }

    /// A value that a step makes.
    pub(super) fn made_by_step(
        &mut self,
        name: String,
        shape: &ArrayShape,
        region: Region,
        at: usize,
    ) -> Result<usize, Error> {
        self.value(name, shape, Origin::Made, region, at)
    }

    /// The leaves of what an instruction yields, a constant that now gets a buffer among them.
    fn leaves(&mut self, frame: &mut Frame<'a>, id: InstrId) -> Result<Leaves, Error> {
        let instruction = &frame.computation.instructions[id];
        match &instruction.op {
            Op::Constant(_) => Ok(vec![Some(self.constant(Site { computation: frame.id, instruction: id })?)]),
            Op::Tuple => {
                let mut leaves = Vec::new();
                for operand in &instruction.operands {
                    leaves.extend(self.leaves(frame, *operand)?);
                }
                Ok(leaves)
            }
            _ => frame.of.get(&id).cloned().ok_or_else(|| refused(instruction, "it has no value yet")),
        }
    }

    pub(super) fn operand(
        &mut self,
        frame: &mut Frame<'a>,
        instruction: &Instruction,
        position: usize,
    ) -> Result<Leaves, Error> {
        match instruction.operands.get(position) {
            Some(operand) => self.leaves(frame, *operand),
            None => Err(refused(instruction, "an operand is missing")),
        }
    }

    /// The leaves of all operands.
    fn operands(&mut self, frame: &mut Frame<'a>, instruction: &Instruction) -> Result<Leaves, Error> {
        let mut leaves = Vec::new();
        for operand in &instruction.operands {
            leaves.extend(self.leaves(frame, *operand)?);
        }
        Ok(leaves)
    }

    /// An instruction that only names values.
    fn name(&mut self, frame: &mut Frame<'a>, id: InstrId, instruction: &Instruction) -> Result<(), Error> {
        let leaves = match &instruction.op {
            // Parameters have their values; constants and tuples get them when they are asked for.
            Op::Parameter { .. } | Op::Constant(_) | Op::Tuple => return Ok(()),
            Op::GetTupleElement { index } => {
                let all = self.operand(frame, instruction, 0)?;
                let whole = &frame.computation.instructions[instruction.operands[0]].shape;
                let elements = whole.as_tuple().unwrap_or_default();
                let index = usize::try_from(*index).unwrap_or(usize::MAX);
                let first: usize = elements.iter().take(index).map(leaf_count).sum();
                let element = elements.get(index).map(leaf_count);
                let leaves = element.and_then(|count| all.get(first..first + count));
                leaves.ok_or_else(|| refused(instruction, "there is no such element"))?.to_vec()
            }
            Op::AfterAll => vec![None],
            Op::Fusion { .. } => {
                let of = self.operand(frame, instruction, 0)?.first().copied().flatten();
                vec![Some(self.view(of.ok_or_else(|| refused(instruction, "its operand has no value"))?, instruction)?)]
            }
            Op::AddDependency | Op::AsyncUpdate { .. } | Op::AsyncDone { .. } => self.operand(frame, instruction, 0)?,
            _ => return Err(refused(instruction, "it names no value")),
        };
        frame.of.insert(id, leaves);
        Ok(())
    }

    fn launch(&mut self, frame: &mut Frame<'a>, id: InstrId, instruction: &Instruction) -> Result<Leaves, Error> {
        let arrays = instruction.shape.leaves().into_iter().filter_map(Shape::as_array);
        let launched = arrays.into_iter().any(|shape| shape.element_count() != Some(0));
        let inputs: Vec<usize> = self.operands(frame, instruction)?.into_iter().flatten().collect();
        let at = self.step(instruction)?;
        let leaves = self.made(frame, instruction, at)?;
        if launched {
            inputs.iter().for_each(|input| self.uses(*input, at, frame.region));
            frame.steps.push(Planned::Launch(PlannedLaunch {
                site: Site { computation: frame.id, instruction: id },
                is_rest: false,
                at,
                region: frame.region,
                inputs,
                outputs: leaves.iter().flatten().copied().collect(),
                read: Vec::new(),
                written: Vec::new(),
                updated: Vec::new(),
                copied: Vec::new(),
            }));
        }
        Ok(leaves)
    }

    fn deeper<T>(
        &mut self,
        instruction: &Instruction,
        go: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.depth == MAX_NESTED {
            let reason = format!("more than {MAX_NESTED} loops and branches stand in one another");
            return Err(refused(instruction, &reason));
        }
        self.depth += 1;
        let outcome = go(self);
        self.depth -= 1;
        outcome
    }

    /// What an asynchronous operation runs is done where it starts.
    fn called(&mut self, frame: &mut Frame<'a>, instruction: &Instruction) -> Result<Leaves, Error> {
        let arguments = self.operands(frame, instruction)?;
        let calls = instruction.op.called_computations();
        let calls = *calls.first().ok_or_else(|| refused(instruction, "it calls nothing"))?;
        let (steps, leaves) = self.deeper(instruction, |visit| visit.block(calls, &arguments, frame.region))?;
        frame.steps.extend(steps);
        Ok(leaves)
    }

    fn repeated(&mut self, frame: &mut Frame<'a>, id: InstrId, instruction: &Instruction) -> Result<Leaves, Error> {
        let Op::While { condition, body } = instruction.op else {
            return Err(refused(instruction, "it is no loop"));
        };
        let site = Site { computation: frame.id, instruction: id };
        let trip_count = self.fused.trip_counts.get(&site).copied();
        let initial = self.operand(frame, instruction, 0)?;
        let start = self.step(instruction)?;
        let regions = self.regions.of_loop(frame.region);
        let passed_on = passed_on(&self.fused.module.computations[body]);
        // Each round is given what is passed on as it was given before the first.
        let mut state = Vec::with_capacity(initial.len());
        for (position, leaf) in initial.iter().enumerate() {
            state.push(match leaf {
                Some(value) if passed_on.get(position) != Some(&true) => {
                    let name = format!("{}{{{position}}}", instruction.name);
                    Some(self.like(*value, name, regions.body, start))
                }
                leaf => *leaf,
            });
        }
        let (tested, flag) = match trip_count {
            Some(_) => (Vec::new(), None),
            None => self.deeper(instruction, |visit| {
                let (steps, leaves) = visit.block(condition, &state, regions.condition)?;
                let flag = leaves.first().copied().flatten();
                let flag = flag.ok_or_else(|| refused(instruction, "its condition has no value"))?;
                let at = visit.step(instruction)?;
                visit.uses(flag, at, regions.condition);
                Ok((steps, Some(flag)))
            })?,
        };
        let (steps, next) = self.deeper(instruction, |visit| visit.block(body, &state, regions.body))?;
        let end = self.step(instruction)?;
        let (mut carried, mut leaves) = (Vec::new(), Vec::with_capacity(initial.len()));
        for (position, ((initial, state), next)) in initial.iter().zip(&state).zip(&next).enumerate() {
            let (Some(initial), Some(state), Some(next)) = (*initial, *state, *next) else {
                leaves.push(None);
                continue;
            };
            if initial == state {
                leaves.push(Some(initial));
                continue;
            }
            let last = self.like(state, format!("{}{{{position}}}", instruction.name), frame.region, end);
            self.uses(initial, start, frame.region);
            self.uses(next, end, regions.body);
            carried.push(Carried { initial, state, next, last });
            leaves.push(Some(last));
        }
        self.regions.ends(regions, end);
        frame.steps.push(Planned::While(Box::new(PlannedWhile {
            site,
            start,
            end,
            region: frame.region,
            body_region: regions.body,
            trip_count,
            condition: tested,
            flag,
            carried,
            body: steps,
            exchanges: Vec::new(),
            ahead: None,
        })));
        Ok(leaves)
    }

    fn chosen(&mut self, frame: &mut Frame<'a>, id: InstrId, instruction: &Instruction) -> Result<Leaves, Error> {
        let Op::Conditional { branches, .. } = &instruction.op else {
            return Err(refused(instruction, "it is no conditional"));
        };
        let selector = self.operand(frame, instruction, 0)?.first().copied().flatten();
        let selector = selector.ok_or_else(|| refused(instruction, "what it chooses by has no value"))?;
        let start = self.step(instruction)?;
        self.uses(selector, start, frame.region);
        let outputs = self.made(frame, instruction, start)?;
        let mut planned = Vec::with_capacity(branches.len());
        for (number, branch) in branches.iter().enumerate() {
            let arguments = self.operand(frame, instruction, number + 1)?;
            let first = self.now + 1;
            let (steps, results) = self.deeper(instruction, |visit| visit.block(*branch, &arguments, frame.region))?;
            let end = self.step(instruction)?;
            let results: Vec<usize> = results.into_iter().flatten().collect();
            // Each branch writes the outputs, used or not.
            results.iter().chain(outputs.iter().flatten()).for_each(|value| self.uses(*value, end, frame.region));
            planned.push(Branch { start: first, end, steps, results });
        }
        frame.steps.push(Planned::Conditional(PlannedConditional {
            site: Site { computation: frame.id, instruction: id },
            start,
            selector,
            branches: planned,
            outputs: outputs.iter().flatten().copied().collect(),
        }));
        Ok(outputs)
    }

    /// A random state, which is moved on whether it is used or not.
    fn drawn(&mut self, frame: &mut Frame<'a>, id: InstrId, delta: i64) -> Result<Leaves, Error> {
        let instruction = &frame.computation.instructions[id];
        let at = self.step(instruction)?;
        let leaves = self.made(frame, instruction, at)?;
        for &output in leaves.iter().flatten() {
            self.uses(output, at, frame.region);
            let site = Site { computation: frame.id, instruction: id };
            frame.steps.push(Planned::Draw(PlannedDraw { site, delta, output }));
        }
        Ok(leaves)
    }

    /// Something that the host computes, together with what it computes besides.
    fn on_host(&mut self, frame: &mut Frame<'a>, id: InstrId, instruction: &Instruction) -> Result<(), Error> {
        let site = Site { computation: frame.id, instruction: id };
        let (at, mut cluster) = match frame.cluster.take() {
            Some(open) => open,
            None => (self.step(instruction)?, Cluster::new(&self.fused.module, frame.computation, instruction)),
        };
        let too_large = self.too_large(frame.computation, id).filter(|_| matches!(instruction.op, Op::Fusion { .. }));
        let reasons: Vec<Diagnostic> = match (self.kernels.fusion(site), self.refused.get(&site)) {
            (_, Some(reason)) => vec![(*reason).clone()],
            (Some(Err(findings)), None) => findings.0.clone(),
            _ if too_large.is_some() => too_large.into_iter().collect(),
            _ => return Err(refused(instruction, "it stands outside of any fusion")),
        };
        let leaves = self.made(frame, instruction, at)?;
        let reads = cluster.add(frame, id, &leaves, reasons);
        for value in reads.map_err(|reason| refused(instruction, &reason))? {
            self.uses(value, at, frame.region);
        }
        frame.of.insert(id, leaves);
        frame.cluster = Some((at, cluster));
        Ok(())
    }

    fn finish_cluster(&mut self, frame: &mut Frame<'a>) {
        if let Some((_, cluster)) = frame.cluster.take() {
            frame.steps.push(Planned::Host(cluster.finish()));
        }
    }
}

/// An error about an instruction that cannot be a step.
pub(super) fn refused(instruction: &Instruction, reason: &str) -> Error {
    let message = format!("{} cannot be scheduled: {reason}", instruction.op.name());
    Diagnostic::new("RUN004", instruction.span, message).about(&instruction.name).into()
}
