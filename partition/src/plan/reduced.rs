//! Plans around reductions and scans: functions of the elements of rows, and of rows, and the passes in which a kernel calls them.

mod online;
mod order;
mod rows;
mod sums;

pub use rows::Rows;

use super::planner::{Placement, Planner, place};
use super::{FunctionId, FusionPlan, Read, Root, Scanned, leaf_extents, roots};
use crate::access::{Access, Counted, same_access};
use crate::fold::Fold;
use crate::form::Form;
use crate::hero::HeroKind;
use crate::monoid::operation;
use crate::row_space::RowSpace;
use crate::scan::Scan;
use crate::{Target, live};
use std::collections::{BTreeMap, BTreeSet};
use sums::Sums;
use weft_hlo::diagnostic::Diagnostics;
use weft_hlo::ir::{ArenaId, BinaryOp, Computation, InstrId, Instruction, Module, Op};
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

/// A reduction or a scan that the kernel is shaped around.
struct Reduction {
    id: InstrId,
    scan: Option<Scanned>,
    space: RowSpace,
    fold: Fold,
    /// The operation that its region is, if it is just one.
    op: Option<BinaryOp>,
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
    fn of(computation: &Computation, target: &Target) -> Option<Heroes> {
        let live = live(computation);
        let shapes = |id: &InstrId| match Scan::of(&computation.instructions, &computation.instructions[*id]) {
            Some(scan) => scan.pays(target).is_ok(),
            None => true,
        };
        let ids = computation.instructions.ids().filter(|id| live[id.index()] && shapes(id));
        let spaces: Vec<(InstrId, RowSpace)> =
            ids.filter_map(|id| Some((id, RowSpace::of(computation, id)?))).collect();
        let most = spaces.iter().map(|(_, space)| space.count()).max()?;
        let (_, space) = spaces.iter().find(|(_, space)| space.count() == most)?.clone();
        let same = |(_, other): &&(InstrId, RowSpace)| other.extents == space.extents;
        let ids = spaces.iter().filter(same).map(|(id, _)| *id).collect();
        Some(Heroes { space, ids })
    }

    /// What their regions fold, and how they go over the rows.
    fn reductions(&self, module: &Module, computation: &Computation) -> Result<Vec<Reduction>, String> {
        let mut reductions = Vec::with_capacity(self.ids.len());
        for id in &self.ids {
            let instruction = &computation.instructions[*id];
            let (Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. }) = instruction.op else { continue };
            let space = RowSpace::of(computation, *id).ok_or_else(too_large)?;
            let region = &module.computations[to_apply];
            let (fold, op) = (Fold::of(region)?, operation(region, region.root, (0, 1)));
            let scan = Scan::of(&computation.instructions, instruction);
            let scan = scan
                .and_then(|scan| Some(Scanned { is_reversed: scan.is_reversed, is_exclusive: scan.is_exclusive()? }));
            reductions.push(Reduction { id: *id, scan, space, fold, op, function: None, initial: None });
        }
        Ok(reductions)
    }
}

impl Planner<'_> {
    /// The plan that is shaped around the reductions that fold the most elements, or why there is none.
    pub(super) fn plan_reduced(self, module: &Module, target: &Target) -> Result<FusionPlan, Refused> {
        let computation = self.computation;
        let heroes = Heroes::of(computation, target).ok_or_else(|| nothing(computation, target))?;
        worth(computation, &heroes, target)?;
        let reductions = heroes.reductions(module, computation)?;
        let space = heroes.space;
        one_direction(&reductions, space.extents[2] == 1, target)?;
        let (levels, nodes) = (Vec::new(), BTreeMap::new());
        let mut division = Division { planner: self, space, reductions, levels, nodes, sums: None };
        let outputs = division.divide()?;
        division.scheduled(outputs, target)
    }
}

fn too_large() -> String {
    "its indices leave 64 bits".to_owned()
}

/// Why there is nothing to shape a kernel around.
fn nothing(computation: &Computation, target: &Target) -> String {
    let scan = |instruction: &Instruction| Scan::of(&computation.instructions, instruction);
    let why = computation.instructions.values().find_map(|instruction| scan(instruction)?.pays(target).err());
    why.unwrap_or_else(|| "it reduces nothing".to_owned())
}

/// Whether all can be folded in one order: from the first element of a row on, or from the last.
fn one_direction(reductions: &[Reduction], has_rows: bool, target: &Target) -> Result<(), String> {
    let is_reversed = |reduction: &Reduction| reduction.scan.is_some_and(|scan| scan.is_reversed);
    let are_scans = |reversed: bool| reductions.iter().any(|it| it.scan.is_some() && is_reversed(it) == reversed);
    if !are_scans(true) {
        return Ok(());
    }
    if are_scans(false) {
        return Err("it scans in both directions".to_owned());
    }
    let is_shared = has_rows && !target.is_software();
    let keeps_order = |it: &&Reduction| !it.fold.commutes && (it.scan.is_none() || is_shared);
    match reductions.iter().find(keeps_order) {
        Some(_) => Err("its region does not commute, and it is folded from the last element on".to_owned()),
        None => Ok(()),
    }
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
    // Windows that grow with the element would be folded from the beginning for each.
    let has_scans = ids.iter().any(|id| matches!(computation.instructions[*id].op, Op::ReduceWindow { .. }));
    let is_read_again = has_scans || of_elements && ids.iter().any(|id| is_read_beside(computation, *id));
    if target.is_software() && !is_read_again {
        return Err("on a device in software an invocation folds a row by itself".to_owned().into());
    }
    if !target.is_software() {
        // An invocation scans columns by itself.
        if target.faults.barriers && !(has_scans && space.extents[2] > 1) {
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
    /// The sums of products whose rows are folded, where elements are these.
    sums: Option<Sums>,
}

impl Division<'_> {
    /// Divides the computation into functions; those of outputs, in their order.
    fn divide(&mut self) -> Result<Vec<FunctionId>, Refused> {
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
        Ok(outputs)
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
                _ if count == self.space.count() => (Level::Element, self.elements_of(root, &extents)?),
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
        if let Some(number) = self.sum(id) {
            return self.give_sum(number, common, &accesses);
        }
        if let Some(number) = self.reductions.iter().position(|reduction| reduction.id == id) {
            let expected = self.reductions[number].space.results.clone();
            let (own, of) = match self.reductions[number].scan {
                Some(_) => (Level::Element, "element"),
                None => (Level::Row, "row"),
            };
            if !common.is_some_and(|(level, map)| level == own && same_map(&map, &expected)) {
                return Err(format!("%{} is read at other results than those of the {of}", instruction.name).into());
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
            None => match place(computation, id, &accesses, self.sums.is_some() && self.is_moved(id)) {
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
                _ if self.reduction(id).is_some_and(|number| self.reductions[number].scan.is_none()) => return true,
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
