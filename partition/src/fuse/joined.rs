//! Loops that carry their condition: a kernel of a round tells whether there is another.
//!
//! `while(s, c, b)` is `while((s, c(s)), (s, f) -> f, (s, f) -> (t, c(t)))` where `t = b(s)`. Where the condition is one kernel that computes little besides
//! what a kernel of the round makes, that one computes it too: so a round is one launch less, and nothing waits between the two.

mod rebuild;

use super::Fused;
use super::given::feasible;
use super::scans::LongScans;
use super::two_passes::LongReductions;
use crate::arenas::Arenas;
use crate::cost::Budget;
use crate::loop_plan::{LoopPlan, serial_nanoseconds, units};
use crate::plan::{Emitter, FusionPlan, roots};
use crate::{Site, Target};
use rebuild::{Source, body, condition, like, source, started};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use weft_hlo::ir::{
    Arena, ArenaId, Computation, ComputationId, ElementType, InstrId, Instruction, Op, Shape, UniqueNames,
};

impl Fused {
    /// The same program, in which loops of unknown numbers of rounds carry their conditions where a kernel of their rounds can compute them;
    /// [`joined`](Fused::joined) tells which.
    ///
    /// A kernel can if
    /// - the condition is one kernel, which reads nothing but the state, of which this one makes the last that is read;
    /// - it stays a loop over the elements of its results, launched as before, within the limits of the target;
    /// - what that kernel computes besides takes one invocation no longer than a launch takes besides its work
    ///   (`8 units` cycles, as of [`LoopPlan`]).
    ///
    /// Loops that may be kernels themselves stay what they are, if `whole_loops` are wanted.
    #[must_use]
    pub fn with_conditions_joined(mut self, target: &Target, whole_loops: bool) -> Fused {
        let mut callers = vec![0usize; self.module.computations.len()];
        for instruction in self.module.computations.values().flat_map(|one| one.instructions.values()) {
            instruction.op.called_computations().into_iter().for_each(|callee| callers[callee.index()] += 1);
        }
        // Callees stand before their callers: what a round holds is joined before the round itself is.
        let mut starts = Starts::new();
        for (looped, sites) in self.loops_in_steps(target, whole_loops) {
            if let Some(loops) = starts.remove(&looped.body) {
                self.start(looped.body, &loops);
            }
            if let Some(join) = Join::of(&self, &callers, looped, sites.len(), target) {
                // What the condition called is called before each of the loops.
                let tested = join.test.op.called_computations();
                tested.into_iter().for_each(|tested| callers[tested.index()] = sites.len());
                let start = join.apply(&mut self, looped);
                for site in sites {
                    starts.entry(site.computation).or_default().insert(site.instruction, Rc::clone(&start));
                }
            }
        }
        starts.iter().for_each(|(computation, loops)| self.start(*computation, loops));
        self.arenas = Arenas::of(&self.module, target);
        self
    }

    /// Has the conditions of loops that stand in a computation computed before these.
    fn start(&mut self, computation: ComputationId, loops: &BTreeMap<InstrId, Rc<Start>>) {
        let (made, places) = started(&self.module.computations[computation], loops);
        self.module.computations[computation] = made;
        let moved = Moved { computation, places };
        self.moved(&moved);
        for (instruction, start) in loops {
            self.joined.insert(moved.site(Site { computation, instruction: *instruction }), start.joined.clone());
        }
    }

    /// The loops of unknown numbers of rounds that are steps.
    fn loops_in_steps(&self, target: &Target, whole_loops: bool) -> Loops {
        let mut found = Loops::new();
        let mut seen: BTreeSet<ComputationId> = BTreeSet::new();
        let mut pending = vec![self.module.entry];
        while let Some(computation) = pending.pop() {
            if !seen.insert(computation) {
                continue;
            }
            for (instruction, one) in self.module.computations[computation].instructions.iter() {
                let site = Site { computation, instruction };
                match one.op {
                    Op::While { .. } if whole_loops && LoopPlan::new(self, site, target).is_ok() => continue,
                    Op::While { condition, body } if !self.trip_counts.contains_key(&site) => {
                        found.entry(Looped { body, condition }).or_default().push(site);
                    }
                    Op::While { .. } | Op::Conditional { .. } | Op::AsyncStart { .. } => {}
                    _ => continue,
                }
                pending.extend(one.op.called_computations());
            }
        }
        found
    }

    fn is_compiled(&self, site: Site) -> bool {
        self.uncompiled.iter().all(|one| one.site != site)
    }

    /// Has what is known of instructions that moved be known of where they stand.
    fn moved(&mut self, moved: &Moved) {
        fn all<T>(of: &mut BTreeMap<Site, T>, moved: &Moved) {
            let first = Site { computation: moved.computation, instruction: InstrId::from_index(0) };
            let within = of.range(first..).map(|(site, _)| *site);
            let within: Vec<Site> = within.take_while(|site| site.computation == moved.computation).collect();
            let taken: Vec<(Site, T)> =
                within.into_iter().filter_map(|site| Some((moved.site(site), of.remove(&site)?))).collect();
            of.extend(taken);
        }
        all(&mut self.trip_counts, moved);
        all(&mut self.asked, moved);
        all(&mut self.joined, moved);
        self.uncompiled.iter_mut().for_each(|one| one.site = moved.site(one.site));
    }
}

/// What a loop runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Looped {
    body: ComputationId,
    condition: ComputationId,
}

/// The loops that run the same, with where they stand.
type Loops = BTreeMap<Looped, Vec<Site>>;

/// The loops of each computation that begin with the condition computed.
type Starts = BTreeMap<ComputationId, BTreeMap<InstrId, Rc<Start>>>;

/// How a loop begins that carries its condition.
struct Start {
    /// The fusion of the condition, and for each operand of it which element of the state that is.
    test: Instruction,
    reads: Vec<Vec<usize>>,
    /// The fusion of the round that computes the condition from then on.
    joined: String,
}

/// Where the instructions of a computation stand now.
struct Moved {
    computation: ComputationId,
    places: Vec<InstrId>,
}

impl Moved {
    fn site(&self, site: Site) -> Site {
        match self.places.get(site.instruction.index()) {
            Some(place) if site.computation == self.computation => Site { instruction: *place, ..site },
            _ => site,
        }
    }
}

/// A condition that a kernel of the round computes.
struct Join {
    /// The fusion of the body that does.
    fusion: InstrId,
    /// What it calls, and what that is then.
    calls: ComputationId,
    computation: Computation,
    plan: FusionPlan,
    /// What it reads besides.
    operands: Vec<Source>,
    /// The fusion of the condition, and for each operand of it which element of the state that is.
    test: Instruction,
    reads: Vec<Vec<usize>>,
}

impl Join {
    /// The condition of so many loops that run the same, if a kernel of their rounds can compute it.
    fn of(fused: &Fused, callers: &[usize], looped: Looped, loops: usize, target: &Target) -> Option<Join> {
        let module = &fused.module;
        let Looped { condition, body } = looped;
        if [condition, body].iter().any(|callee| callers[callee.index()] != loops) {
            return None;
        }
        let (test, reads) = test(fused, condition)?;
        let round = &module.computations[body];
        let parameter = *round.parameters().first()?;
        let is_taken_apart = |id: &InstrId| matches!(round.instructions[*id].op, Op::GetTupleElement { .. });
        let is_tuple = matches!(round.instructions[parameter].shape, Shape::Tuple(_));
        if is_tuple && (round.root == parameter || !round.users()[parameter.index()].iter().all(is_taken_apart)) {
            return None;
        }
        let sources: Vec<Source> = reads.iter().map(|path| source(round, round.root, path.clone())).collect();
        let fusion = sources.iter().map(|source| source.id).max()?;
        let Op::Fusion { calls, .. } = round.instructions[fusion].op else { return None };
        let is_compiled = fused.is_compiled(Site { computation: body, instruction: fusion });
        if !is_compiled || callers[calls.index()] != 1 {
            return None;
        }
        let own = fused.plan(calls)?;
        let tested = *test.op.called_computations().first()?;
        let regions = module.computations[tested].instructions.values().flat_map(|one| one.op.called_computations());
        let is_plain = matches!(own.emitter(), Emitter::Loop(_)) && own.updates().is_empty();
        if !is_plain || is_view(&module.computations[calls]) || regions.into_iter().any(|region| region >= calls) {
            return None;
        }
        let (computation, operands) = together(fused, (body, fusion), (calls, tested), &sources)?;
        let results: usize = computation.instructions[computation.root].shape.leaves().len();
        let count = round.instructions[fusion].operands.len() + operands.len() + results;
        let budget = Budget::default();
        let mut folds = (LongReductions::new(module, target), LongScans::new(module, target));
        if feasible(module, &mut folds, &computation, count, target, &budget).ok()?.is_err() {
            return None;
        }
        let plan = FusionPlan::new(module, &computation, target).ok()?;
        // What is shared is not computed again, and what is not takes no longer than the condition alone.
        let flag = *computation.instructions[computation.root].operands.last()?;
        let alone = like(&computation, computation.instructions.clone(), flag);
        let alone = units(module, &alone, &FusionPlan::new(module, &alone, target).ok()?).ok()?;
        let own_units = units(module, &module.computations[calls], own).ok()?;
        let besides = (units(module, &computation, &plan).ok()? - own_units).min(alone);
        let is_cheap = serial_nanoseconds(besides, target) <= u64::from(target.hardware.launch_nanoseconds);
        let stays = plan.emitter() == own.emitter() && plan.updates().is_empty();
        (is_cheap && stays).then_some(Join { fusion, calls, computation, plan, operands, test, reads })
    }

    /// Has the rounds of a loop carry the condition; how such loops begin then.
    fn apply(self, fused: &mut Fused, looped: Looped) -> Rc<Start> {
        let Join { fusion, calls, computation, plan, operands, test, reads } = self;
        let computations = &mut fused.module.computations;
        let joined = computations[looped.body].instructions[fusion].name.clone();
        computations[calls] = computation;
        let (made, places) = body(&computations[looped.body], fusion, &operands);
        computations[looped.condition] = condition(&computations[looped.condition], &made);
        computations[looped.body] = made;
        fused.plans.insert(calls, plan);
        fused.moved(&Moved { computation: looped.body, places });
        Rc::new(Start { test, reads, joined })
    }
}

/// The one fusion that a condition is, and for each of its operands which element of the state that is.
fn test(fused: &Fused, id: ComputationId) -> Option<(Instruction, Vec<Vec<usize>>)> {
    let condition = &fused.module.computations[id];
    let parameter = *condition.parameters().first()?;
    for (instruction, one) in condition.instructions.iter() {
        match one.op {
            Op::Parameter { .. } | Op::GetTupleElement { .. } => {}
            Op::Fusion { .. } if instruction == condition.root => {}
            _ => return None,
        }
    }
    let test = &condition.instructions[condition.root];
    let is_flag =
        test.shape.as_array().is_some_and(|shape| shape.element_type == ElementType::Pred && shape.rank() == 0);
    if !is_flag || !matches!(test.op, Op::Fusion { .. }) {
        return None;
    }
    if !fused.is_compiled(Site { computation: id, instruction: condition.root }) {
        return None;
    }
    let read = |operand: &InstrId| {
        let found = source(condition, *operand, Vec::new());
        (found.id == parameter).then_some(found.path)
    };
    Some((test.clone(), test.operands.iter().map(read).collect::<Option<_>>()?))
}

/// Whether a computation only gives what it is given another shape: then it may be no launch.
fn is_view(computation: &Computation) -> bool {
    let mut ops = computation.instructions.values().map(|instruction| &instruction.op);
    ops.all(|op| matches!(op, Op::Parameter { .. } | Op::Reshape | Op::Bitcast | Op::Tuple))
}

/// The computation of a fusion of a round together with that of the condition, which reads these values, and what it has to be given besides.
fn together(
    fused: &Fused,
    (body, fusion): (ComputationId, InstrId),
    (calls, tested): (ComputationId, ComputationId),
    reads: &[Source],
) -> Option<(Computation, Vec<Source>)> {
    let (round, own, test) =
        (&fused.module.computations[body], &fused.module.computations[calls], &fused.module.computations[tested]);
    let mut made: Arena<InstrId, Instruction> = Arena::new();
    let mut names = UniqueNames::default();
    let mut push = |mut instruction: Instruction, operands: Vec<InstrId>| {
        instruction.name = names.take(&instruction.name);
        instruction.operands = operands;
        made.push(instruction)
    };
    // What both are given is given once.
    let mut given: Vec<(Source, InstrId)> = Vec::new();
    let mut images: Vec<Option<InstrId>> = vec![None; own.instructions.len()];
    for (parameter, operand) in own.parameters().into_iter().zip(&round.instructions[fusion].operands) {
        let id = push(own.instructions[parameter].clone(), Vec::new());
        images[parameter.index()] = Some(id);
        given.push((source(round, *operand, Vec::new()), id));
    }
    let (mut besides, mut of_test) = (Vec::new(), vec![None; test.instructions.len()]);
    let parameters = test.parameters();
    for (parameter, read) in parameters.iter().zip(reads).filter(|(_, read)| read.id != fusion) {
        let known = given.iter().find(|(source, _)| source == read).map(|(_, id)| *id);
        let id = known.unwrap_or_else(|| {
            let number = i64::try_from(given.len()).unwrap_or(i64::MAX);
            let mut wanted = test.instructions[*parameter].clone();
            wanted.op = Op::Parameter { number };
            let id = push(wanted, Vec::new());
            given.push((read.clone(), id));
            besides.push(read.clone());
            id
        });
        of_test[parameter.index()] = Some(id);
    }
    let outputs = roots(own);
    for (id, instruction) in own.instructions.iter() {
        let is_result = id == own.root && instruction.op == Op::Tuple;
        if images[id.index()].is_none() && !is_result {
            let operands = instruction.operands.iter().map(|operand| images[operand.index()]).collect::<Option<_>>()?;
            images[id.index()] = Some(push(instruction.clone(), operands));
        }
    }
    let outputs = outputs.into_iter().map(|output| images[output.index()]).collect::<Option<Vec<InstrId>>>()?;
    for (parameter, read) in parameters.iter().zip(reads).filter(|(_, read)| read.id == fusion) {
        let output = match read.path[..] {
            [] => 0,
            [output] => output,
            _ => return None,
        };
        of_test[parameter.index()] = Some(*outputs.get(output)?);
    }
    for (id, instruction) in test.instructions.iter() {
        if of_test[id.index()].is_none() {
            let operands =
                instruction.operands.iter().map(|operand| of_test[operand.index()]).collect::<Option<_>>()?;
            of_test[id.index()] = Some(push(instruction.clone(), operands));
        }
    }
    let flag = of_test[test.root.index()]?;
    let outputs: Vec<InstrId> = outputs.into_iter().chain([flag]).collect();
    let is_alike = |(parameter, id): (&InstrId, InstrId)| test.instructions[*parameter].shape == made[id].shape;
    let mut given_to_test = parameters.iter().map(|parameter| Some((parameter, of_test[parameter.index()]?)));
    if !given_to_test.all(|given| given.is_some_and(is_alike)) {
        return None;
    }
    let shapes = outputs.iter().map(|output| made[*output].shape.clone()).collect();
    let mut tuple = Instruction::new(names.take("tuple"), Shape::Tuple(shapes), Op::Tuple, outputs);
    tuple.span = own.span;
    let root = made.push(tuple);
    Some((like(own, made, root), besides))
}
