//! Plans around reductions: functions of the elements of rows, and of rows, and the passes in which a kernel calls them.

use super::planner::{Placement, Planner, place};
use super::{Emitter, Folded, FunctionId, FusionPlan, Hero, Pass, Read, Root, Tail, leaf_extents, roots};
use crate::access::{Access, Counted, element_count, same_access};
use crate::cost::operation_cost;
use crate::fold::Fold;
use crate::form::Form;
use crate::hero::HeroKind;
use crate::reduced::{Facts, Reduced};
use crate::row_space::RowSpace;
use crate::{Target, live};
use std::collections::{BTreeMap, BTreeSet};
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, Computation, ElementType, InstrId, Instruction, Module, Op};
use weft_indexing::IndexingMap;

/// What the indices of a function are.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Level {
    /// `(o, i)`: it is called once for each result.
    Row,
    /// `(o, r, i)`: it is called for each element.
    Element,
}

/// Why there is no such plan: a reason for the reader, or a defect of the program.
pub(super) enum Refused {
    /// A loop is as good, or nothing else is possible.
    Reason(String),
    /// An instruction has no map.
    Undefined(Diagnostics),
}

impl From<Diagnostics> for Refused {
    fn from(findings: Diagnostics) -> Self {
        Refused::Undefined(findings)
    }
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Refused::Reason(reason)
    }
}

/// A reduction that the kernel is shaped around.
struct Reduction {
    id: InstrId,
    space: RowSpace,
    fold: Fold,
    /// The function that computes the elements that it folds.
    function: Option<FunctionId>,
    /// The function that computes its initial values, but for constants.
    initial: Option<FunctionId>,
}

/// The instructions that fold the same rows as the one that folds the most elements.
struct Heroes {
    space: RowSpace,
    ids: Vec<InstrId>,
}

impl Heroes {
    /// Those of a computation; `None` where it reduces nothing.
    fn of(computation: &Computation) -> Option<Heroes> {
        let live = live(computation);
        let ids = computation.instructions.ids().filter(|id| live[id.index()]);
        let spaces: Vec<(InstrId, RowSpace)> =
            ids.filter_map(|id| Some((id, RowSpace::of(computation, id)?))).collect();
        let most = spaces.iter().map(|(_, space)| space.count()).max()?;
        let (_, space) = spaces.iter().find(|(_, space)| space.count() == most)?.clone();
        let same = |(_, other): &&(InstrId, RowSpace)| other.extents == space.extents;
        let ids = spaces.iter().filter(same).map(|(id, _)| *id).collect();
        Some(Heroes { space, ids })
    }
}

/// What a kernel that is shaped around reductions is, and costs: what fusing asks before it decides.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// How elements are shared out.
    pub schedule: Reduced,
    /// Passes over the elements of a row.
    pub passes: usize,
    /// Bytes that it reads: those of an operand once, or in each pass that reads it where values are not kept; and no more than the operand has for each, also where
    /// elements are read several times.
    pub bytes_read: u64,
    /// Bytes that it writes.
    pub bytes_written: u64,
}

impl Rows {
    /// Those of a computation that would be one kernel of this kind, given as a fusion; `module` has its regions. It takes as long as its plan.
    ///
    /// # Errors
    /// Why it would be none, as part of a sentence: it reduces nothing, a loop is as good, or results are read at other rows.
    pub fn of(module: &Module, computation: &Computation, target: &Target) -> Result<Rows, String> {
        let plan = Planner::new(computation).plan_reduced(module, target).map_err(|refused| match refused {
            Refused::Reason(reason) => reason,
            Refused::Undefined(findings) => findings.to_string(),
        })?;
        let Emitter::Reduced(schedule) = plan.emitter() else { return Err("it is shaped otherwise".to_owned()) };
        let bytes = |id: InstrId| {
            let leaves = computation.instructions[id].shape.leaves();
            leaves.iter().filter_map(|leaf| Form::tensor_bytes(leaf.as_array()?)).fold(0, u64::saturating_add)
        };
        let of_pass =
            |pass: &Pass| parameters_of(&plan, computation, pass).into_iter().map(bytes).fold(0, u64::saturating_add);
        let passes = plan.passes().iter().filter(|pass| !pass.elements.is_empty()).count();
        let bytes_read = plan.passes().iter().map(of_pass).fold(0, u64::saturating_add);
        let bytes_written = roots(computation).into_iter().map(bytes).fold(0, u64::saturating_add);
        Ok(Rows { schedule, passes, bytes_read, bytes_written })
    }
}

/// The parameters that the functions of a pass read, and those that they call.
fn parameters_of(plan: &FusionPlan, computation: &Computation, pass: &Pass) -> BTreeSet<InstrId> {
    let is_parameter = |id: &InstrId| matches!(computation.instructions[*id].op, Op::Parameter { .. });
    let mut open: Vec<FunctionId> = pass.rows.iter().chain(&pass.elements).copied().collect();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(function) = open.pop() {
        if !seen.insert(function) {
            continue;
        }
        let planned = plan.function(function);
        let roots = planned.roots.iter().map(|root| root.instruction).filter(|root| !planned.given.contains(root));
        let operands = planned.members.iter().flat_map(|member| {
            let operands = computation.instructions[*member].operands.iter().enumerate();
            operands.filter(|(position, _)| {
                !matches!(plan.read(*member, *position), Read::Given | Read::Splat | Read::Never)
            })
        });
        for read in roots.chain(operands.map(|(_, operand)| *operand)) {
            if is_parameter(&read) {
                found.insert(read);
            } else if let Some((home, _)) = plan.home(read) {
                open.push(home);
            }
        }
    }
    found
}

impl Planner<'_> {
    /// The plan that is shaped around the reductions that fold the most elements, or why there is none.
    pub(super) fn plan_reduced(self, module: &Module, target: &Target) -> Result<FusionPlan, Refused> {
        let computation = self.computation;
        let heroes = Heroes::of(computation).ok_or_else(|| "it reduces nothing".to_owned())?;
        worth(computation, &heroes, target)?;
        let mut reductions = Vec::with_capacity(heroes.ids.len());
        for id in &heroes.ids {
            let Op::Reduce { to_apply, .. } = computation.instructions[*id].op else { continue };
            let space = RowSpace::of(computation, *id).ok_or_else(too_large)?;
            let fold = Fold::of(&module.computations[to_apply])?;
            reductions.push(Reduction { id: *id, space, fold, function: None, initial: None });
        }
        let space = heroes.space;
        let division = Division { planner: self, space, reductions, levels: Vec::new(), nodes: BTreeMap::new() };
        division.plan(target)
    }
}

fn too_large() -> String {
    "its indices leave 64 bits".to_owned()
}

/// Whether such a kernel would be better than loops.
fn worth(computation: &Computation, heroes: &Heroes, target: &Target) -> Result<(), Refused> {
    let Heroes { space, ids } = heroes;
    if space.count() <= 0 || space.count() == i64::MAX {
        return Err("there are no elements, or too many to count".to_owned().into());
    }
    if space.extents[1] < 2 {
        return Err("rows have one element each".to_owned().into());
    }
    let of_elements = roots(computation).iter().any(|root| {
        let array = leaf_extents(&computation.instructions[*root].shape);
        array.iter().product::<i64>() == space.count()
    });
    let is_read_again = of_elements && ids.iter().any(|id| is_read_beside(computation, *id));
    if target.is_software() && !is_read_again {
        return Err("on a device in software an invocation folds a row by itself".to_owned().into());
    }
    if !target.is_software() {
        if target.faults.barriers {
            return Err("barriers do not work on the target".to_owned().into());
        }
        // Where elements are computed of the results, loops would be several kernels.
        for id in ids.iter().filter(|_| !is_read_again) {
            if let Some(kind) = HeroKind::of(computation, *id) {
                kind.pays()?;
            }
        }
    }
    let parameters = computation.instructions.iter().filter(|(_, it)| matches!(it.op, Op::Parameter { .. }));
    let shapes = parameters.map(|(_, it)| &it.shape).chain([&computation.instructions[computation.root].shape]);
    let arrays = shapes.flat_map(|shape| shape.leaves());
    let most = arrays.filter_map(|leaf| Form::tensor_bytes(leaf.as_array()?)).max().unwrap_or(0);
    if most > target.max_storage_binding_bytes {
        let bound = target.max_storage_binding_bytes;
        return Err(format!("a kernel binds {bound} bytes of a tensor, which has {most}").into());
    }
    Ok(())
}

/// Whether anything but the root is computed of an instruction's value.
fn is_read_beside(computation: &Computation, id: InstrId) -> bool {
    let root = &computation.instructions[computation.root];
    let is_tuple = |instruction: &Instruction| std::ptr::eq(instruction, root) && root.op == Op::Tuple;
    computation.instructions.values().any(|it| it.operands.contains(&id) && !is_tuple(it))
}

/// The division of a computation into functions of elements and of rows.
struct Division<'m> {
    planner: Planner<'m>,
    space: RowSpace,
    reductions: Vec<Reduction>,
    /// For each function what its indices are; `None` for one that is called at any.
    levels: Vec<Option<Level>>,
    /// The function that computes an instruction for all that need it at an element, or for a row.
    nodes: BTreeMap<InstrId, FunctionId>,
}

impl Division<'_> {
    fn plan(mut self, target: &Target) -> Result<FusionPlan, Refused> {
        let outputs = self.outputs()?;
        self.planner.outputs = self.planner.functions.iter().map(|it| it.evaluations).fold(1.0, f64::max);
        let computation = self.planner.computation;
        let is_root_tuple = |id: InstrId| id == computation.root && computation.instructions[id].op == Op::Tuple;
        for id in computation.instructions.ids().rev().filter(|id| !is_root_tuple(*id)) {
            self.visit(id)?;
        }
        for (id, home) in computation.instructions.ids().zip(&self.planner.homes) {
            if let Some(home) = home {
                self.planner.functions[home.access.function.0 as usize].members.push(id);
            }
        }
        self.scheduled(outputs, target)
    }

    fn function(&mut self, root: Root, level: Level, reason: &str) -> FunctionId {
        let [outer, reduced, inner] = self.space.extents;
        let extents = match level {
            Level::Row => vec![outer, inner],
            Level::Element => vec![outer, reduced, inner],
        };
        let evaluations = extents.iter().map(|extent| *extent as f64).product();
        let function = self.planner.add_function(root, extents, reason.to_owned(), evaluations);
        self.levels.resize(function.0 as usize, None);
        self.levels.push(Some(level));
        function
    }

    fn level(&self, function: FunctionId) -> Option<Level> {
        self.levels.get(function.0 as usize).copied().flatten()
    }

    /// An access by a function at its own indices, or where these lead.
    fn accessed(&mut self, id: InstrId, function: FunctionId, map: IndexingMap) {
        let evaluations = self.planner.functions[function.0 as usize].evaluations;
        let access = Access { function, block: None, depth: 0, is_guarded: false, map };
        self.planner.accesses[id.index()].push(Counted { access, evaluations });
    }

    /// A function for each output, in their order.
    fn outputs(&mut self) -> Result<Vec<FunctionId>, Refused> {
        let computation = self.planner.computation;
        let mut outputs: Vec<FunctionId> = Vec::new();
        for root in roots(computation) {
            let instruction = &computation.instructions[root];
            let extents = leaf_extents(&instruction.shape);
            let count: i64 = extents.iter().product();
            let known =
                outputs.iter().find(|id| self.planner.functions[id.0 as usize].roots[0].instruction == root).copied();
            if let Some(function) = known {
                // The function returns it as often as it is an output.
                let again = self.planner.functions[function.0 as usize].roots[0].clone();
                self.planner.functions[function.0 as usize].roots.push(again);
                outputs.push(function);
                continue;
            }
            let (level, map) = match count {
                _ if count == self.space.count() => (Level::Element, self.space.elements_of(&extents)),
                _ if count == self.space.rows() => (Level::Row, self.space.results_of(&extents)),
                _ => {
                    let (name, all, rows) = (&instruction.name, self.space.count(), self.space.rows());
                    return Err(format!("{name} has {count} elements, and there are {all} in {rows} rows").into());
                }
            };
            let map = map.ok_or_else(too_large)?;
            let function = self.function(Root { instruction: root, map: map.clone() }, level, "it computes an output");
            self.accessed(root, function, map);
            outputs.push(function);
        }
        Ok(outputs)
    }

    fn visit(&mut self, id: InstrId) -> Result<(), Refused> {
        let computation = self.planner.computation;
        let instruction = &computation.instructions[id];
        let accesses = std::mem::take(&mut self.planner.accesses[id.index()]);
        if accesses.is_empty() {
            return Ok(());
        }
        let is_root = accesses.iter().any(|counted| {
            let function = &self.planner.functions[counted.access.function.0 as usize];
            function.roots.iter().any(|root| root.instruction == id)
        });
        if self.planner.splats[id.index()].is_some() && !is_root {
            return Ok(());
        }
        let common = self.common(&accesses);
        if let Some(number) = self.reductions.iter().position(|reduction| reduction.id == id) {
            let expected = self.reductions[number].space.results.clone();
            if !common.is_some_and(|(level, map)| level == Level::Row && same_map(&map, &expected)) {
                return Err(format!("%{} is read at other results than those of the row", instruction.name).into());
            }
            self.give(id, &accesses);
            return self.fold(number);
        }
        let readers: BTreeSet<FunctionId> = accesses.iter().map(|counted| counted.access.function).collect();
        if matches!(instruction.op, Op::Parameter { .. }) {
            // What several functions read of an element is read once.
            if let Some((Level::Element, map)) = common
                && readers.len() > 1
            {
                self.node(id, Level::Element, map, accesses);
            }
            return Ok(());
        }
        let home = match common {
            Some((level, map)) => {
                let joins = |own: &FunctionId| self.level(*own) == Some(level) || self.is_passed_on(id);
                let only = readers.first().copied().filter(|own| readers.len() == 1 && joins(own));
                match only {
                    Some(_) => accesses[0].clone(),
                    None => self.node(id, level, map, accesses),
                }
            }
            None => match place(computation, id, &accesses, false) {
                Placement::Join(home) => home,
                Placement::Own { reason, evaluations, depth } => self.planner.own(id, reason, evaluations, depth),
            },
        };
        self.planner.settle(id, home)?;
        Ok(())
    }

    /// Whether an instruction only moves the result of a reduction, which functions are given in any case.
    fn is_passed_on(&self, mut id: InstrId) -> bool {
        let computation = self.planner.computation;
        loop {
            let instruction = &computation.instructions[id];
            match instruction.operands.as_slice() {
                _ if self.reduction(id).is_some() => return true,
                [operand] if instruction.op.opcode().only_moves_data() => id = *operand,
                _ => return false,
            }
        }
    }

    /// Has a function compute an instruction for all that read it: one that yields nothing else, if there is one.
    fn node(&mut self, id: InstrId, level: Level, map: IndexingMap, mut accesses: Vec<Counted>) -> Counted {
        let yields = |counted: &Counted| {
            let function = counted.access.function;
            let roots = &self.planner.functions[function.0 as usize].roots;
            let is_alone = roots.iter().all(|root| root.instruction == id);
            (is_alone && self.level(function) == Some(level)).then_some(function)
        };
        let function = accesses.iter().find_map(yields).unwrap_or_else(|| {
            let reason = match level {
                Level::Row => "it is the same for all elements of a row",
                Level::Element => "several functions need it at the same element",
            };
            self.function(Root { instruction: id, map: map.clone() }, level, reason)
        });
        accesses.retain(|counted| counted.access.function != function);
        self.nodes.insert(id, function);
        self.give(id, &accesses);
        let evaluations = self.planner.functions[function.0 as usize].evaluations;
        Counted { access: Access { function, block: None, depth: 0, is_guarded: false, map }, evaluations }
    }

    /// The level and the map through which all of these read, if they do so for the element, or for the row, that they are called for.
    fn common(&self, accesses: &[Counted]) -> Option<(Level, IndexingMap)> {
        let mut found: Option<(Level, IndexingMap)> = None;
        for Counted { access, .. } in accesses {
            let Access { function, block, is_guarded, map, .. } = access;
            let is_plain = map.ranges().is_empty() && map.runtime().is_empty() && map.constraints().is_empty();
            let level = self.level(*function).filter(|_| block.is_none() && !is_guarded && is_plain)?;
            let own = match level {
                Level::Row => (Level::Row, map.clone()),
                Level::Element => match self.space.along_rows(map) {
                    Some(map) => (Level::Row, map),
                    None => (Level::Element, map.clone()),
                },
            };
            match &found {
                None => found = Some(own),
                Some((level, map)) if *level == own.0 && same_map(map, &own.1) => {}
                Some(_) => return None,
            }
        }
        found
    }

    /// Has all that read an instruction be given its value.
    fn give(&mut self, id: InstrId, accesses: &[Counted]) {
        let readers: BTreeSet<FunctionId> = accesses.iter().map(|counted| counted.access.function).collect();
        for function in &readers {
            self.planner.functions[function.0 as usize].given.push(id);
        }
        for (user, instruction) in self.planner.computation.instructions.iter() {
            let home = self.planner.homes[user.index()].as_ref().map(|home| home.access.function);
            if home.is_none_or(|home| !readers.contains(&home)) {
                continue;
            }
            for (read, operand) in self.planner.reads[user.index()].iter_mut().zip(&instruction.operands) {
                if *operand == id && matches!(read, Read::At(_)) {
                    *read = Read::Given;
                }
            }
        }
    }

    /// The functions of the elements that a reduction folds, and of what it begins with.
    fn fold(&mut self, number: usize) -> Result<(), Refused> {
        let computation = self.planner.computation;
        let Reduction { id, space, .. } = &self.reductions[number];
        let (id, map) = (*id, space.elements.clone());
        let operands = &computation.instructions[id].operands;
        let (elements, initial) = operands.split_at(operands.len() / 2);
        let same = |other: &&Reduction| {
            let others = &computation.instructions[other.id].operands;
            other.function.is_some() && others[..others.len() / 2] == *elements && same_map(&other.space.elements, &map)
        };
        let known = self.reductions.iter().find(same).and_then(|other| other.function);
        let of = |instruction: InstrId, map: &IndexingMap| Root { instruction, map: map.clone() };
        let function = known.unwrap_or_else(|| {
            let function = self.function(of(elements[0], &map), Level::Element, "its elements are folded");
            self.planner.functions[function.0 as usize].roots = elements.iter().map(|own| of(*own, &map)).collect();
            let distinct: BTreeSet<InstrId> = elements.iter().copied().collect();
            distinct.into_iter().for_each(|own| self.accessed(own, function, map.clone()));
            function
        });
        self.reductions[number].function = Some(function);
        let computed: Vec<InstrId> =
            initial.iter().copied().filter(|own| self.planner.splats[own.index()].is_none()).collect();
        if let Some(first) = computed.first() {
            let [outer, _, inner] = self.space.extents;
            let map = IndexingMap::of_extents(&[outer, inner], &[], Vec::new()).map_err(|error| error.to_string())?;
            let function = self.function(of(*first, &map), Level::Row, "it is what is folded into");
            self.planner.functions[function.0 as usize].roots = computed.iter().map(|own| of(*own, &map)).collect();
            for own in computed.into_iter().collect::<BTreeSet<InstrId>>() {
                self.accessed(own, function, map.clone());
            }
            self.reductions[number].initial = Some(function);
        }
        Ok(())
    }
}

/// Whether two maps from the same indices are the same function.
fn same_map(one: &IndexingMap, other: &IndexingMap) -> bool {
    let access = |map: &IndexingMap| Access {
        function: FunctionId(0),
        block: None,
        depth: 0,
        is_guarded: false,
        map: map.clone(),
    };
    one == other || same_access(&access(one), &access(other))
}

/// In which pass each function and each reduction comes.
struct Order {
    functions: Vec<usize>,
    reductions: Vec<usize>,
}

impl Division<'_> {
    /// The passes, and what computes them on a target.
    fn scheduled(mut self, outputs: Vec<FunctionId>, target: &Target) -> Result<FusionPlan, Refused> {
        let order = self.order();
        let passes = order.reductions.iter().map(|pass| pass + 1).max().unwrap_or(0);
        let stored = |function: &FunctionId| outputs.contains(function);
        let of_elements: Vec<FunctionId> = self.of_level(Level::Element).collect();
        let last = of_elements.iter().filter(|it| stored(it)).map(|it| order.functions[it.0 as usize] + 1).max();
        let passes = passes.max(last.unwrap_or(0));
        // What each pass folds or stores, with all that it is computed of.
        let wanted = |pass: usize| -> Vec<FunctionId> {
            let own = of_elements.iter().copied().filter(|it| stored(it) && order.functions[it.0 as usize] == pass);
            let folded = self.reductions.iter().zip(&order.reductions).filter(|(_, own)| **own == pass);
            own.chain(folded.filter_map(|(reduction, _)| reduction.function)).collect()
        };
        let needed: Vec<BTreeSet<FunctionId>> = (0..passes).map(|pass| self.closure(wanted(pass))).collect();
        let kept = self.most_kept(&needed);
        let is_ordered = self.reductions.iter().any(|reduction| !reduction.fold.commutes);
        let (has_vectors, is_packed) = self.types();
        let extents = self.space.extents;
        let stretch = self.space.stretch;
        let facts = Facts { extents, stretch, is_ordered, passes, kept, has_vectors, is_packed };
        let schedule = Reduced::of(&facts, target)?;
        let mut done: BTreeSet<FunctionId> = BTreeSet::new();
        let mut listed: Vec<Pass> = Vec::new();
        for (pass, needed) in needed.iter().enumerate() {
            let is_new = |function: &FunctionId| !schedule.is_kept || !done.contains(function);
            let mut elements: Vec<FunctionId> = needed.iter().copied().filter(is_new).collect();
            self.sort(&mut elements);
            done.extend(&elements);
            listed.push(Pass { rows: self.rows_of(pass, &order), elements, folds: self.folds_of(pass, &order) });
        }
        let after = self.rows_of(passes, &order);
        if !after.is_empty() {
            listed.push(Pass { rows: after, elements: Vec::new(), folds: Vec::new() });
        }
        self.count_again(&listed);
        let heroes = self.heroes(&schedule, &outputs, target);
        let mut outputs = outputs;
        outputs.dedup();
        let mut distinct: Vec<FunctionId> = Vec::new();
        outputs.into_iter().for_each(|own| {
            if !distinct.contains(&own) {
                distinct.push(own);
            }
        });
        let names: Vec<String> = heroes
            .iter()
            .map(|hero| format!("%{}", self.planner.computation.instructions[hero.instruction].name))
            .collect();
        let why = format!("{}: {}", names.join(", "), schedule.explanation(target));
        let plan = self.planner.finish(distinct, Emitter::Reduced(schedule), heroes, why);
        Ok(FusionPlan { passes: listed, ..plan })
    }

    fn of_level(&self, level: Level) -> impl Iterator<Item = FunctionId> + use<'_> {
        let ids = (0..).map(FunctionId).zip(&self.levels);
        ids.filter(move |(_, own)| **own == Some(level)).map(|(id, _)| id)
    }

    /// The reduction that an instruction is.
    fn reduction(&self, id: InstrId) -> Option<usize> {
        self.reductions.iter().position(|reduction| reduction.id == id)
    }

    /// A function comes in the first pass behind those that fold what it is given; a reduction with what it folds.
    fn order(&self) -> Order {
        let mut order =
            Order { functions: vec![0; self.planner.functions.len()], reductions: vec![0; self.reductions.len()] };
        // What is given to a function is computed of instructions before its roots.
        let mut sorted: Vec<FunctionId> = self.of_level(Level::Row).chain(self.of_level(Level::Element)).collect();
        self.sort(&mut sorted);
        // What a reduction begins with may come behind what it folds.
        while self.put_in_order(&sorted, &mut order) {}
        order
    }

    /// Moves functions and reductions into later passes where what they need asks for it; whether any has been moved.
    fn put_in_order(&self, sorted: &[FunctionId], order: &mut Order) -> bool {
        let before = (order.functions.clone(), order.reductions.clone());
        for function in sorted {
            let own = &self.planner.functions[function.0 as usize];
            let of_given = own.given.iter().map(|given| match (self.reduction(*given), self.nodes.get(given)) {
                (Some(number), _) => order.reductions[number] + 1,
                (None, Some(node)) => order.functions[node.0 as usize],
                (None, None) => 0,
            });
            let pass = of_given.max().unwrap_or(0).max(order.functions[function.0 as usize]);
            order.functions[function.0 as usize] = pass;
        }
        for (reduction, pass) in self.reductions.iter().zip(&mut order.reductions) {
            let of = |function: Option<FunctionId>| function.map_or(0, |function| order.functions[function.0 as usize]);
            *pass = of(reduction.function).max(of(reduction.initial));
        }
        for (reduction, pass) in self.reductions.iter().zip(&order.reductions) {
            if let Some(function) = reduction.function {
                order.functions[function.0 as usize] = *pass;
            }
        }
        before != (order.functions.clone(), order.reductions.clone())
    }

    /// Puts functions behind those whose values they are given.
    fn sort(&self, functions: &mut [FunctionId]) {
        // A function that passes on what it is given comes behind the one that computes it.
        let key = |function: &FunctionId| {
            let planned = &self.planner.functions[function.0 as usize];
            let last = planned.roots.iter().map(|root| root.instruction).chain(planned.given.iter().copied()).max();
            let is_node = planned.roots.first().and_then(|root| self.nodes.get(&root.instruction)) == Some(function);
            let folds = self.reductions.iter().any(|reduction| reduction.function == Some(*function));
            (last, !is_node, !folds, *function)
        };
        functions.sort_by_key(key);
    }

    /// These functions of elements with all that they are given values of.
    fn closure(&self, wanted: Vec<FunctionId>) -> BTreeSet<FunctionId> {
        let mut found = BTreeSet::new();
        let mut open = wanted;
        while let Some(function) = open.pop() {
            if self.level(function) == Some(Level::Element) && found.insert(function) {
                let given = &self.planner.functions[function.0 as usize].given;
                open.extend(given.iter().filter_map(|given| self.nodes.get(given)));
            }
        }
        found
    }

    /// Values of an element that are computed in one pass and needed in a later one, the most at once.
    fn most_kept(&self, needed: &[BTreeSet<FunctionId>]) -> usize {
        let between = |pass: usize| {
            let before: BTreeSet<FunctionId> = needed[..=pass].iter().flatten().copied().collect();
            let after: BTreeSet<FunctionId> = needed[pass + 1..].iter().flatten().copied().collect();
            // Nothing but what a function that is yet to come is given has to be kept.
            let given = after.difference(&before).flat_map(|it| &self.planner.functions[it.0 as usize].given);
            given
                .filter_map(|given| self.nodes.get(given))
                .filter(|node| before.contains(node))
                .collect::<BTreeSet<_>>()
                .len()
        };
        (0..needed.len().saturating_sub(1)).map(between).max().unwrap_or(0)
    }

    fn rows_of(&self, pass: usize, order: &Order) -> Vec<FunctionId> {
        let mut rows: Vec<FunctionId> =
            self.of_level(Level::Row).filter(|function| order.functions[function.0 as usize] == pass).collect();
        self.sort(&mut rows);
        rows
    }

    fn folds_of(&self, pass: usize, order: &Order) -> Vec<Folded> {
        let own = self.reductions.iter().zip(&order.reductions).filter(|(_, own)| **own == pass);
        own.filter_map(|(reduction, _)| {
            let function = reduction.function?;
            let neutral = reduction.fold.neutral.clone();
            Some(Folded { reduction: reduction.id, function, initial: reduction.initial, neutral })
        })
        .collect()
    }

    /// Counts what passes compute again.
    fn count_again(&mut self, passes: &[Pass]) {
        let mut times: BTreeMap<FunctionId, usize> = BTreeMap::new();
        passes.iter().flat_map(|pass| &pass.elements).for_each(|function| *times.entry(*function).or_default() += 1);
        for (function, times) in times.into_iter().filter(|(_, times)| *times > 1) {
            let again = (times - 1) as f64 * self.planner.functions[function.0 as usize].evaluations;
            self.planner.functions[function.0 as usize].evaluations += again;
            let members = self.planner.functions[function.0 as usize].members.iter();
            let instructions = &self.planner.computation.instructions;
            let units: f64 = members.map(|member| operation_cost(&instructions[*member].op)).sum();
            self.planner.excess += again * units;
        }
    }

    /// Whether there are vectors of all that is computed with, and whether all that is read and written for each element is packed in words.
    fn types(&self) -> (bool, bool) {
        let computation = self.planner.computation;
        let types = |instruction: &Instruction| -> Vec<ElementType> {
            let leaves = instruction.shape.leaves();
            leaves.iter().filter_map(|leaf| Some(leaf.as_array()?.element_type)).collect()
        };
        let has_vectors = computation
            .instructions
            .values()
            .flat_map(types)
            .all(|ty| !matches!(ty, ElementType::F64 | ElementType::C128));
        let elements = self.space.count() as f64;
        let root = computation.root;
        let bound =
            computation.instructions.iter().filter(|(id, it)| matches!(it.op, Op::Parameter { .. }) || *id == root);
        let of_elements = bound.filter(|(_, it)| it.shape.leaves().iter().any(|leaf| element_count(leaf) == elements));
        let is_packed = |ty: ElementType| Form::of(ty).is_some_and(Form::is_packed);
        let mut of_elements = of_elements.flat_map(|(_, it)| types(it)).peekable();
        let is_any = of_elements.peek().is_some();
        (has_vectors, is_any && of_elements.all(is_packed))
    }

    fn heroes(&self, schedule: &Reduced, outputs: &[FunctionId], target: &Target) -> Vec<Hero> {
        let computation = self.planner.computation;
        let tail = |id: InstrId, function: &FunctionId| {
            let planned = &self.planner.functions[function.0 as usize];
            let level = self.level(*function)?;
            planned
                .given
                .contains(&id)
                .then(|| Tail { function: *function, map: self.space.identity(level == Level::Element) })
        };
        let hero = |reduction: &Reduction| {
            let kind = HeroKind::of(computation, reduction.id)?;
            let function = reduction.function?;
            let given = &self.planner.functions[function.0 as usize].given;
            let prologues = given.iter().filter_map(|given| self.nodes.get(given)).copied().collect();
            let mut epilogues: Vec<Tail> = outputs.iter().filter_map(|output| tail(reduction.id, output)).collect();
            epilogues.dedup();
            let mut tiling = kind.tiling(target);
            tiling.threads = u32::try_from(schedule.threads()).unwrap_or(u32::MAX);
            tiling.tile = if schedule.along > i64::from(schedule.lanes) || schedule.columns > 1 && schedule.along > 1 {
                vec![schedule.threads()]
            } else {
                Vec::new()
            };
            Some(Hero { instruction: reduction.id, kind, function, prologues, epilogues, tiling, why_loop: None })
        };
        self.reductions.iter().filter_map(hero).collect()
    }
}
