//! The division of a computation into functions.

use super::reduced::Refused;
use super::update_slice::{Candidate, candidates};
use super::windowed::Loaded;
use super::{Emitter, Function, FunctionId, FusionPlan, Hero, Read, Root, leaf_extents, roots};
use crate::Target;
use crate::access::{
    Access, Counted, element_count, identity, is_bitcast, is_identity, is_long, loop_rounds, operand_access, read_map,
    row_major, same_access,
};
use crate::cost::operation_cost;
use crate::form::Form;
use crate::hero::HeroKind;
use crate::splat::splats;
use crate::tiling::{Space, Tiling};
use std::collections::BTreeMap;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::{ArenaId, Computation, InstrId, Instruction, Module, Op, Scalar, UniqueNames};

/// Why a kernel is a loop whose text says so, and nothing else does.
const SAYS_SO: &str = "the plan says so";

/// Where an instruction goes, given all the ways it is accessed.
pub(crate) enum Placement {
    /// With its users.
    Join(Counted),
    /// Into a function of its own, for this reason.
    Own { reason: String, evaluations: f64, depth: u32 },
}

/// The different ones among accesses, compared as functions.
pub(crate) fn distinct(accesses: &[Counted]) -> Vec<&Counted> {
    let mut distinct: Vec<&Counted> = Vec::new();
    for counted in accesses {
        if !distinct.iter().any(|seen| same_access(&seen.access, &counted.access)) {
            distinct.push(counted);
        }
    }
    distinct
}

/// Decides between joining the users and a function of one's own. `accesses` is not empty.
pub(crate) fn place(computation: &Computation, id: InstrId, accesses: &[Counted], sole_root: bool) -> Placement {
    let distinct = distinct(accesses);
    let evaluations = distinct.iter().map(|counted| counted.evaluations).sum();
    let depth = distinct.iter().map(|counted| counted.access.depth).max().unwrap_or(0);
    let own = |reason: String| Placement::Own { reason, evaluations, depth };
    if distinct.len() > 1 {
        return own(format!("its users access it in {} different ways", distinct.len()));
    }
    if !sole_root && let Some(hero) = HeroKind::of(computation, id) {
        return own(hero.reason().to_owned());
    }
    if !distinct[0].access.map.runtime().is_empty() {
        return own("it is accessed at indices that are values of the program".to_owned());
    }
    if is_long(&distinct[0].access) {
        return own("the indices it is accessed at have become long".to_owned());
    }
    Placement::Join(distinct[0].clone())
}

/// The cuts that a text gives, instead of those that the planner would make.
#[derive(Clone, Default)]
pub(super) struct Cuts {
    /// The instructions that root functions of their own, with the reasons.
    pub(super) own: BTreeMap<InstrId, String>,
    /// The launch.
    pub(super) tiling: Option<Tiling>,
    /// Whether all elements are computed even where updates would do.
    pub(super) is_loop: bool,
}

pub(super) struct Planner<'m> {
    pub(super) computation: &'m Computation,
    cuts: Option<Cuts>,
    /// Whether parameters are values that the function is given.
    is_applied: bool,
    names: UniqueNames,
    pub(super) functions: Vec<Function>,
    /// The functions that tell where updates start, and the instructions that they compute.
    pub(super) starts: Vec<(InstrId, FunctionId)>,
    pub(super) homes: Vec<Option<Counted>>,
    pub(super) accesses: Vec<Vec<Counted>>,
    pub(super) reads: Vec<Vec<Read>>,
    pub(super) splats: Vec<Option<Scalar>>,
    pub(super) excess: f64,
    depth: u32,
    repeated_iterations: f64,
    /// Elements of the largest output.
    pub(super) outputs: f64,
    /// Why the kernel is not shaped around reductions.
    pub(super) why_no_rows: Option<String>,
    /// What workgroups load for windows that overlap, where that is decided.
    loaded: Option<Loaded>,
    /// Whether the kernel is shaped around sums of products.
    pub(super) is_around_sums: bool,
    /// Why the kernel is not shaped around a sum of products.
    pub(super) why_no_tiles: Option<String>,
}

impl<'m> Planner<'m> {
    pub(super) fn new(computation: &'m Computation) -> Self {
        let count = computation.instructions.len();
        Planner {
            computation,
            cuts: None,
            is_applied: false,
            names: UniqueNames::default(),
            functions: Vec::new(),
            starts: Vec::new(),
            homes: vec![None; count],
            accesses: vec![Vec::new(); count],
            reads: vec![Vec::new(); count],
            splats: splats(computation),
            excess: 0.0,
            depth: 0,
            repeated_iterations: 0.0,
            outputs: 1.0,
            why_no_rows: None,
            loaded: None,
            is_around_sums: false,
            why_no_tiles: None,
        }
    }

    pub(super) fn with_cuts(computation: &'m Computation, cuts: Cuts) -> Self {
        Planner { cuts: Some(cuts), ..Planner::new(computation) }
    }

    pub(super) fn plan(self, module: &Module, target: &Target) -> Result<FusionPlan, Diagnostics> {
        let candidates = candidates(module, self.computation)?;
        if candidates.is_empty() {
            // A text that tells a launch is that of a loop.
            let is_loop = self.cuts.as_ref().is_some_and(|cuts| cuts.tiling.is_some());
            let refused = |plan| match plan {
                Ok(plan) if !is_loop => Ok(Ok(plan)),
                Ok(_) => Ok(Err(SAYS_SO.to_owned())),
                Err(Refused::Undefined(findings)) => Err(findings),
                Err(Refused::Reason(reason)) => Ok(Err(reason)),
            };
            if let Ok(plan) = refused(Planner::new(self.computation).plan_attention(module, target))? {
                return Ok(plan);
            }
            if let Ok(plan) = refused(Planner::new(self.computation).plan_rows_of_sums(module, target))? {
                return Ok(plan);
            }
            let why_no_rows = match refused(Planner::new(self.computation).plan_reduced(module, target))? {
                Ok(plan) => return Ok(plan),
                Err(reason) => Some(reason),
            };
            let why_no_tiles = match refused(Planner::new(self.computation).plan_product(target))? {
                Ok(plan) => return Ok(plan),
                Err(reason) => Some(reason),
            };
            return Planner { why_no_rows, why_no_tiles, ..self }.plan_loop(Some(module), None, target);
        }
        // The functions of a text that computes all elements are not those of updates.
        let is_loop = self.cuts.as_ref().is_some_and(|cuts| cuts.is_loop);
        let cuts = if is_loop { None } else { self.cuts.clone() };
        let planner = Planner { cuts, ..Planner::new(self.computation) };
        match planner.plan_updates(&candidates, target)? {
            Ok(plan) if !is_loop => Ok(plan),
            Ok(_) => self.plan_loop(Some(module), None, target),
            Err(reason) => self.plan_loop(Some(module), Some(reason), target),
        }
    }

    /// The plan that writes the updates of the candidates only, or why that is not safe.
    fn plan_updates(
        mut self,
        candidates: &[Candidate],
        target: &Target,
    ) -> Result<Result<FusionPlan, String>, Diagnostics> {
        let updates = self.add_updates(candidates);
        let mut outputs: Vec<FunctionId> = Vec::new();
        for update in &updates {
            if !outputs.contains(&update.function) {
                outputs.push(update.function);
            }
        }
        self.divide(&outputs)?;
        if let Err(reason) = self.give_replaced(&updates) {
            return Ok(Err(reason));
        }
        let elements = outputs.iter().map(|id| self.functions[id.0 as usize].evaluations).fold(0.0, f64::max);
        let given = self.cuts.as_ref().and_then(|cuts| cuts.tiling);
        let mut heroes = self.heroes(&outputs, target)?;
        heroes.iter_mut().for_each(|hero| {
            hero.why_loop.get_or_insert_with(|| "only updates are written".to_owned());
        });
        let results = self.result_forms();
        let space = Space::of(self.computation, &heroes, &results);
        let tiling = given.unwrap_or_else(|| Tiling::of_loop(elements as i64, space, &results, target));
        let is_scatter = updates.iter().any(|update| update.scattered.is_some());
        let (emitter, why) = match is_scatter {
            true => {
                (Emitter::Scatter(tiling), "every output is an operand but for its updates, each at a place of its own")
            }
            false => (Emitter::UpdateSlice(tiling), "every output is an operand but for its update"),
        };
        let starts = self.starts.iter().map(|(_, start)| *start).collect();
        let plan = self.finish(outputs, emitter, heroes, why.to_owned());
        Ok(Ok(FusionPlan { updates, starts, ..plan }))
    }

    /// How elements of the results are held, of those that have several: a scalar is one invocation's whatever it is.
    fn result_forms(&self) -> Vec<Form> {
        let results = self.computation.instructions[self.computation.root].shape.leaves();
        let arrays =
            results.into_iter().filter_map(|leaf| leaf.as_array()).filter(|array| array.element_count() != Some(1));
        arrays.filter_map(|array| Form::of(array.element_type)).collect()
    }

    /// The plan that computes every element; `unsafe_update` says why updates alone are not enough, where they could be. Without a module, whose regions it has, nothing is tiled around
    /// windows.
    pub(super) fn plan_loop(
        mut self,
        module: Option<&Module>,
        unsafe_update: Option<String>,
        target: &Target,
    ) -> Result<FusionPlan, Diagnostics> {
        let outputs = self.add_outputs()?;
        self.divide(&outputs)?;
        let elements = outputs.iter().map(|id| self.functions[id.0 as usize].evaluations).fold(0.0, f64::max);
        let mut heroes = self.heroes(&outputs, target)?;
        let given = self.cuts.as_ref().and_then(|cuts| cuts.tiling);
        match (given, self.transposed(&outputs, &mut heroes, target)) {
            (None, Some(transposed)) => {
                let why = self.reasons(&heroes);
                return Ok(self.finish(outputs, Emitter::Transposed(transposed), heroes, why));
            }
            (None, None) => {
                if let Some((windowed, loaded)) = self.windowed(module, &outputs, &mut heroes, target) {
                    if self.loaded.is_some() {
                        let why = self.reasons_with(&heroes, &windowed.told());
                        return Ok(self.finish(outputs, Emitter::Windowed(windowed), heroes, why));
                    }
                    // What is loaded is computed by functions of its own.
                    let Planner { computation, cuts, why_no_rows, .. } = self;
                    let again = Planner { cuts, why_no_rows, loaded: Some(loaded), ..Planner::new(computation) };
                    return again.plan_loop(module, unsafe_update, target);
                }
            }
            _ => {
                self.windowed(module, &outputs, &mut heroes, target);
                heroes.iter_mut().for_each(|hero| {
                    hero.why_loop.get_or_insert_with(|| SAYS_SO.to_owned());
                });
            }
        }
        let results = self.result_forms();
        let space = Space::of(self.computation, &heroes, &results);
        let tiling = || Tiling::of_loop(elements as i64, space, &results, target);
        let emitter = Emitter::Loop(given.unwrap_or_else(tiling));
        let shaped = (!heroes.is_empty()).then(|| self.reasons(&heroes));
        let reasons: Vec<String> = unsafe_update.into_iter().chain(shaped).collect();
        let why = if reasons.is_empty() { "nothing in it shapes a kernel".to_owned() } else { reasons.join("; ") };
        Ok(self.finish(outputs, emitter, heroes, why))
    }

    pub(super) fn plan_applied(mut self) -> Result<FusionPlan, Diagnostics> {
        self.is_applied = true;
        let given = self.computation.parameters();
        let outputs = self.add_outputs()?;
        self.divide(&outputs)?;
        if let [_, other, ..] = self.functions.as_slice() {
            let instruction = &self.computation.instructions[other.roots[0].instruction];
            let message = format!("'{}' cannot be applied to elements yet: {}", instruction.op.name(), other.reason);
            return Err(Diagnostic::new("HLO401", instruction.span, message).about(&instruction.name).into());
        }
        self.functions.iter_mut().for_each(|function| function.given.clone_from(&given));
        let why = "it is applied to the elements of others".to_owned();
        Ok(self.finish(outputs, Emitter::Applied, Vec::new(), why))
    }

    pub(super) fn finish(
        self,
        outputs: Vec<FunctionId>,
        emitter: Emitter,
        heroes: Vec<Hero>,
        why: String,
    ) -> FusionPlan {
        let elements = outputs.iter().map(|id| self.functions[id.0 as usize].evaluations).fold(1.0, f64::max);
        let walked = match &emitter {
            Emitter::Reduced(reduced) => elements.max(reduced.elements() as f64),
            Emitter::Product(product) => elements.max(product.elements() as f64) * product.products() as f64,
            Emitter::Attention(attention) => attention.scores() as f64 * (attention.depth + attention.columns) as f64,
            _ => elements.max(self.folded()),
        };
        let blocks = self.homes.iter().map(|home| home.as_ref().and_then(|home| home.access.block)).collect();
        let homes = self.homes.into_iter().map(|home| home.map(|home| (home.access.function, home.access.map)));
        FusionPlan {
            functions: self.functions,
            outputs,
            starts: Vec::new(),
            updates: Vec::new(),
            passes: Vec::new(),
            factors: Vec::new(),
            tails: Vec::new(),
            rows: None,
            attended: None,
            emitter,
            why,
            heroes,
            homes: homes.collect(),
            blocks,
            reads: self.reads,
            splats: self.splats,
            excess: self.excess / walked,
            depth: self.depth,
            repeated_iterations: self.repeated_iterations / elements,
        }
    }

    /// Elements that reductions fold, those of the one that folds most.
    fn folded(&self) -> f64 {
        let computed = self.computation.instructions.values().zip(&self.homes).filter(|(_, home)| home.is_some());
        let folds = computed.filter(|(instruction, _)| matches!(instruction.op, Op::Reduce { .. }));
        let of = |(instruction, _): (&Instruction, _)| {
            let operand = instruction.operands.first().map(|operand| &self.computation.instructions[*operand].shape);
            operand.map_or(0.0, element_count)
        };
        folds.map(of).fold(0.0, f64::max)
    }

    /// Divides what the functions added so far need into functions.
    fn divide(&mut self, outputs: &[FunctionId]) -> Result<(), Diagnostics> {
        self.outputs = self.functions.iter().map(|function| function.evaluations).fold(1.0, f64::max);
        for id in self.divided() {
            self.visit(id, outputs)?;
        }
        self.list_members();
        Ok(())
    }

    /// What is divided into functions, users before operands.
    pub(super) fn divided(&self) -> Vec<InstrId> {
        let is_root_tuple =
            |id: InstrId| id == self.computation.root && self.computation.instructions[id].op == Op::Tuple;
        self.computation.instructions.ids().rev().filter(|id| !is_root_tuple(*id)).collect()
    }

    /// Lists what each function computes.
    pub(super) fn list_members(&mut self) {
        for (id, home) in self.computation.instructions.ids().zip(&self.homes) {
            if let Some(home) = home {
                self.functions[home.access.function.0 as usize].members.push(id);
            }
        }
    }

    pub(super) fn add_function(
        &mut self,
        root: Root,
        extents: Vec<i64>,
        reason: String,
        evaluations: f64,
    ) -> FunctionId {
        let id = FunctionId(u32::try_from(self.functions.len()).unwrap_or(u32::MAX));
        let name = self.names.take(&self.computation.instructions[root.instruction].name);
        self.functions.push(Function {
            name,
            given: Vec::new(),
            roots: vec![root],
            extents,
            members: Vec::new(),
            reason,
            evaluations,
        });
        id
    }

    /// One function for each group of roots that are equal up to bitcast.
    pub(super) fn add_outputs(&mut self) -> Result<Vec<FunctionId>, Diagnostics> {
        self.add_outputs_by(|_| 0)
    }

    /// As [`add_outputs`](Planner::add_outputs), where roots share a function if they are of the same kind besides.
    pub(super) fn add_outputs_by(&mut self, kind: impl Fn(InstrId) -> u64) -> Result<Vec<FunctionId>, Diagnostics> {
        let mut outputs: Vec<FunctionId> = Vec::new();
        for root in roots(self.computation) {
            let instruction = &self.computation.instructions[root];
            let shape = &instruction.shape;
            let extents = leaf_extents(shape);
            let count = |extents: &[i64]| extents.iter().product::<i64>();
            let same = |id: &&FunctionId| {
                let function = &self.functions[id.0 as usize];
                let known = &function.extents;
                let is_same_kind = function.roots.iter().all(|other| kind(other.instruction) == kind(root));
                is_same_kind && (*known == extents || (count(known) == count(&extents) && count(&extents) > 0))
            };
            let same = outputs.iter().find(same).copied();
            let (function, map) = match same {
                Some(function) => {
                    let known = &self.functions[function.0 as usize].extents;
                    let map = row_major(known, &extents).map_err(|error| {
                        let finding = Diagnostic::new("HLO302", instruction.span, error.to_string());
                        finding.about(&instruction.name)
                    })?;
                    self.functions[function.0 as usize].roots.push(Root { instruction: root, map: map.clone() });
                    (function, map)
                }
                None => {
                    let (evaluations, map) = (element_count(shape), identity(&extents));
                    let reason = "it computes an output".to_owned();
                    let root = Root { instruction: root, map: map.clone() };
                    let function = self.add_function(root, extents, reason, evaluations);
                    outputs.push(function);
                    (function, map)
                }
            };
            let evaluations = self.functions[function.0 as usize].evaluations;
            let access = Access { function, block: None, depth: 0, is_guarded: false, map };
            self.accesses[root.index()].push(Counted { access, evaluations });
        }
        Ok(outputs)
    }

    pub(super) fn visit(&mut self, id: InstrId, outputs: &[FunctionId]) -> Result<(), Diagnostics> {
        let computation = self.computation;
        let instruction = &computation.instructions[id];
        let accesses = std::mem::take(&mut self.accesses[id.index()]);
        let is_output = accesses.iter().any(|counted| {
            let function = &self.functions[counted.access.function.0 as usize];
            function.roots.iter().any(|root| root.instruction == id)
        });
        let is_immediate = self.splats[id.index()].is_some() && !is_output;
        if accesses.is_empty() || is_immediate || matches!(instruction.op, Op::Parameter { .. }) {
            return Ok(());
        }
        let sole_root = accesses.iter().all(|counted| {
            let function = &self.functions[counted.access.function.0 as usize];
            let is_alone = function.roots.iter().all(|root| root.instruction == id);
            counted.access.block.is_none() && is_alone && is_identity(&counted.access.map)
        });
        let start = self.starts.iter().find(|(start, _)| *start == id).map(|(_, function)| *function);
        let placement = match start {
            Some(function) => Placement::Join(self.of_function(function)),
            None => self.placement(id, &accesses, sole_root)?,
        };
        let home = match placement {
            Placement::Join(home) => home,
            Placement::Own { reason, evaluations, depth } => {
                let home = self.own(id, reason, evaluations, depth);
                self.give(id, &accesses, outputs);
                home
            }
        };
        self.settle(id, home)
    }

    /// A function of an instruction's elements.
    pub(super) fn own(&mut self, id: InstrId, reason: String, evaluations: f64, depth: u32) -> Counted {
        let extents = leaf_extents(&self.computation.instructions[id].shape);
        let map = identity(&extents);
        let root = Root { instruction: id, map: map.clone() };
        let function = self.add_function(root, extents, reason, evaluations);
        Counted { access: Access { function, block: None, depth, is_guarded: false, map }, evaluations }
    }

    /// Has an instruction be computed at a place, from which it reads its operands.
    pub(super) fn settle(&mut self, id: InstrId, home: Counted) -> Result<(), Diagnostics> {
        let computation = self.computation;
        let instruction = &computation.instructions[id];
        self.depth = self.depth.max(home.access.depth);
        let rounds = loop_rounds(computation, instruction);
        if rounds > 1.0 && home.evaluations > self.outputs {
            self.repeated_iterations += home.evaluations * rounds;
        }
        let again = (home.evaluations - element_count(&instruction.shape)).max(0.0);
        self.excess += again * operation_cost(&instruction.op);
        for position in 0..instruction.operands.len() {
            let read = self.read(id, &home, position)?;
            self.reads[id.index()].push(read);
        }
        self.homes[id.index()] = Some(home);
        Ok(())
    }

    /// The indices of a function.
    pub(super) fn of_function(&self, function: FunctionId) -> Counted {
        let Function { extents, evaluations, .. } = &self.functions[function.0 as usize];
        let access = Access { function, block: None, depth: 0, is_guarded: false, map: identity(extents) };
        Counted { access, evaluations: *evaluations }
    }

    /// How `id`, evaluated at `home`, reads its operand number `position`.
    fn read(&mut self, id: InstrId, home: &Counted, position: usize) -> Result<Read, Diagnostics> {
        let computation = self.computation;
        let instruction = &computation.instructions[id];
        let operand = instruction.operands[position];
        let constant = self.splats[operand.index()].is_some();
        // Where an update that is one constant goes is told by values all the same.
        let is_update = match instruction.op {
            Op::DynamicUpdateSlice => position == 1,
            Op::Scatter { .. } => position > instruction.operands.len() / 2,
            _ => false,
        };
        if constant && !is_update {
            return Ok(Read::Splat);
        }
        if self.is_applied && matches!(computation.instructions[operand].op, Op::Parameter { .. }) {
            return Ok(Read::Given);
        }
        let Some(read) = operand_access(computation, id, home, position)? else {
            let is_runtime = read_map(computation, id, position)?.is_none();
            return Ok(if is_runtime { Read::Runtime } else { Read::Never });
        };
        for (owner, counted) in read.runtime {
            if self.splats[owner.index()].is_none() {
                self.accesses[owner.index()].push(counted);
            }
        }
        if constant {
            return Ok(Read::Splat);
        }
        let map = read.access.access.map.clone();
        self.accesses[operand.index()].push(read.access);
        Ok(Read::At(map))
    }

    fn placement(&self, id: InstrId, accesses: &[Counted], sole_root: bool) -> Result<Placement, Diagnostics> {
        if let Some(own) = self.loaded.as_ref().and_then(|loaded| loaded.placement(id, &distinct(accesses))) {
            return Ok(own);
        }
        // Sums are written in whatever order they are wanted.
        let is_plain = self.is_around_sums && matches!(self.computation.instructions[id].op, Op::Transpose { .. });
        let placement = place(self.computation, id, accesses, sole_root || is_plain);
        let Some(cuts) = &self.cuts else { return Ok(placement) };
        let distinct = distinct(accesses);
        match cuts.own.get(&id) {
            Some(reason) => {
                let evaluations = distinct.iter().map(|counted| counted.evaluations).sum();
                let depth = distinct.iter().map(|counted| counted.access.depth).max().unwrap_or(0);
                Ok(Placement::Own { reason: reason.clone(), evaluations, depth })
            }
            None if distinct.len() == 1 && distinct[0].access.map.runtime().is_empty() => {
                Ok(Placement::Join(distinct[0].clone()))
            }
            None => {
                let instruction = &self.computation.instructions[id];
                let message = "it cannot share a function with its users, who access it in different ways";
                Err(Diagnostic::new("HLO405", instruction.span, message).about(&instruction.name).into())
            }
        }
    }

    /// Gives a hero to the function that alone reads it, if that computes outputs from the same elements in the same order.
    fn give(&mut self, id: InstrId, accesses: &[Counted], outputs: &[FunctionId]) {
        let [only] = distinct(accesses)[..] else { return };
        let Access { function, block, map, .. } = &only.access;
        let extents = leaf_extents(&self.computation.instructions[id].shape);
        let index = function.0 as usize;
        let is_tail = block.is_none()
            && outputs.contains(function)
            && HeroKind::of(self.computation, id).is_some()
            && is_bitcast(map, &self.functions[index].extents, &extents);
        if !is_tail {
            return;
        }
        let function = *function;
        self.functions[index].given.push(id);
        for (user, instruction) in self.computation.instructions.iter() {
            if self.homes[user.index()].as_ref().is_none_or(|home| home.access.function != function) {
                continue;
            }
            for (read, operand) in self.reads[user.index()].iter_mut().zip(&instruction.operands) {
                if *operand == id && matches!(read, Read::At(_)) {
                    *read = Read::Given;
                }
            }
        }
    }
}
