//! Fusions whose outputs are operands but for slices or scattered elements that are updated: only the updates are computed and written.

use super::planner::Planner;
use super::{FunctionId, Read, Root, leaf_extents, roots};
use crate::access::{Access, Counted, element_count, identity};
use crate::scattered::Scattered;
use weft_affine::{Expr, Interval, Var};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::indexing::{operand_map, scattered_map};
use weft_hlo::ir::{ArenaId, Computation, InstrId, Module, Op};
use weft_indexing::{IndexingMap, RuntimeVariable, Variable};

/// An output that is an operand but for a window at a place that values tell. Where the operand's buffer holds the output, only the
/// window has to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The output: a dynamic-update-slice, or a scatter, of which each operand is an update.
    pub root: InstrId,
    /// The operand, a parameter of the fusion.
    pub operand: InstrId,
    /// The function that computes the update. It has the update's extents, and is given the element that it replaces where the update is
    /// computed from it.
    pub function: FunctionId,
    /// From an index of the update to the element of the output that it replaces. The owners of its runtime variables yield where the
    /// window starts.
    pub map: IndexingMap,
    /// How a scatter changes the element; a dynamic-update-slice replaces it.
    pub scattered: Option<Scattered>,
}

/// A root that could be updated in place, before anything is divided.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) root: InstrId,
    pub(super) operand: InstrId,
    /// What yields the elements that are written, or combined with those that are there.
    pub(super) update: InstrId,
    pub(super) map: IndexingMap,
    pub(super) scattered: Option<Scattered>,
}

/// The roots of a computation, if each of them is a dynamic-update-slice of a parameter, or if its only root is a scatter that is computed in place.
///
/// # Errors
/// Where an update has no indexing map.
pub(super) fn candidates(module: &Module, computation: &Computation) -> Result<Vec<Candidate>, Diagnostics> {
    let mut found = Vec::new();
    if let [root] = roots(computation)[..]
        && let Some(scattered) = Scattered::of(module, computation, root)
    {
        let operands = &computation.instructions[root].operands;
        let inputs = operands.len() / 2;
        let map = scattered_map(computation, root)?;
        for (operand, update) in operands[..inputs].iter().zip(&operands[inputs + 1..]) {
            let (operand, update, map) = (*operand, *update, map.clone());
            found.push(Candidate { root, operand, update, map, scattered: Some(scattered) });
        }
        return Ok(found);
    }
    for root in roots(computation) {
        let instruction = &computation.instructions[root];
        let is_parameter = |id: &InstrId| matches!(computation.instructions[*id].op, Op::Parameter { .. });
        let operand = instruction.operands.first().filter(|id| is_parameter(id)).copied();
        match (&instruction.op, operand) {
            (Op::DynamicUpdateSlice, Some(operand)) => {
                let (update, map) = (instruction.operands[1], written(computation, root)?);
                found.push(Candidate { root, operand, update, map, scattered: None });
            }
            _ => return Ok(Vec::new()),
        }
    }
    Ok(found)
}

/// From an index of the update of a dynamic-update-slice to the element that it replaces: what leads from elements to the update,
/// turned around.
fn written(computation: &Computation, root: InstrId) -> Result<IndexingMap, Diagnostics> {
    let instruction = &computation.instructions[root];
    let step = operand_map(computation, root, 1)?;
    let extents = leaf_extents(&computation.instructions[instruction.operands[1]].shape);
    let moved = || -> Result<IndexingMap, weft_indexing::Error> {
        let mut results = Vec::with_capacity(extents.len());
        for (dimension, into) in (0u32..).zip(step.results()) {
            // An index into the update is an index of the output less the start.
            let index = Expr::dim(dimension);
            results.push(index.checked_add(&index)?.checked_sub(into)?);
        }
        let dims = extents.iter().map(|extent| Variable::new(Interval::of_extent(*extent))).collect();
        let mut map = IndexingMap::try_new(dims, Vec::new(), step.runtime().to_vec(), results, Vec::new())?;
        map.simplify();
        map.remove_unused_symbols();
        Ok(map)
    };
    moved()
        .map_err(|error| Diagnostic::new("HLO302", instruction.span, error.to_string()).about(&instruction.name).into())
}

/// Whether two maps lead to the same elements: their results agree, and so do the values that their runtime variables stand for.
fn leads_alike(map: &IndexingMap, other: &IndexingMap) -> bool {
    let mut map = map.clone();
    map.remove_unused_symbols();
    let number = |variable: &RuntimeVariable| other.runtime().iter().position(|known| known.is_same_value(variable));
    let Some(numbers) = map.runtime().iter().map(number).collect::<Option<Vec<_>>>() else { return false };
    let renamed = |result: &Expr| {
        result.substitute(|variable| match variable {
            Var::Runtime(index) => {
                let number = numbers.get(index as usize).and_then(|number| u32::try_from(*number).ok());
                number.map(Expr::runtime)
            }
            _ => None,
        })
    };
    let results = map.results().iter().map(renamed).collect::<Result<Vec<_>, _>>();
    map.dims() == other.dims() && results.is_ok_and(|results| results == other.results())
}

impl Planner<'_> {
    /// One function for each group of updates of the same extents, and one for each instruction that yields where some start.
    pub(super) fn add_updates(&mut self, candidates: &[Candidate]) -> Vec<Update> {
        let computation = self.computation;
        let mut updates: Vec<Update> = Vec::new();
        for Candidate { root, operand, update, map, scattered } in candidates {
            let extents = leaf_extents(&computation.instructions[*update].shape);
            let evaluations = element_count(&computation.instructions[*update].shape);
            let identity = identity(&extents);
            let own = Root { instruction: *update, map: identity.clone() };
            let same = updates.iter().map(|update| update.function);
            let same = same.into_iter().find(|id| self.functions[id.0 as usize].extents == extents);
            let function = match same {
                Some(function) => {
                    self.functions[function.0 as usize].roots.push(own);
                    function
                }
                None => self.add_function(own, extents, "it computes an update".to_owned(), evaluations),
            };
            let access = Access { function, block: None, depth: 0, is_guarded: false, map: identity };
            self.accesses[update.index()].push(Counted { access, evaluations });
            let (root, operand, map, scattered) = (*root, *operand, map.clone(), *scattered);
            updates.push(Update { root, operand, function, map, scattered });
        }
        for update in &updates {
            for variable in update.map.runtime() {
                let owner = variable.owner().and_then(|owner| usize::try_from(owner.0).ok()).map(InstrId::from_index);
                let Some(owner) = owner.filter(|owner| owner.index() < computation.instructions.len()) else {
                    continue;
                };
                let is_known = self.starts.iter().any(|(start, _)| *start == owner);
                let is_parameter = matches!(computation.instructions[owner].op, Op::Parameter { .. });
                if is_known || is_parameter || self.splats[owner.index()].is_some() {
                    continue;
                }
                let extents = leaf_extents(&computation.instructions[owner].shape);
                let map = identity(&extents);
                let root = Root { instruction: owner, map };
                // Every invocation needs to know.
                let evaluations = self.functions[update.function.0 as usize].evaluations;
                let function =
                    self.add_function(root, extents, "it tells where an update starts".to_owned(), evaluations);
                let start = self.of_function(function);
                self.accesses[owner.index()].push(start);
                self.starts.push((owner, function));
            }
        }
        updates
    }

    /// Gives the functions of updates the elements that these replace, where they are computed from them. What is not an update's
    /// own element may have been replaced already when it is read.
    ///
    /// # Errors
    /// Which instruction reads what else.
    pub(super) fn give_replaced(&mut self, updates: &[Update]) -> Result<(), String> {
        let computation = self.computation;
        let name = |id: InstrId| &computation.instructions[id].name;
        for update in updates {
            let operand = update.operand;
            let is_alone = updates.iter().filter(|other| other.operand == operand).count() == 1;
            for other in updates {
                if other.scattered.is_none() && computation.instructions[other.root].operands[1..].contains(&operand) {
                    return Err(format!("%{} reads %{} besides", name(other.root), name(operand)));
                }
            }
            for (user, instruction) in computation.instructions.iter() {
                let Some(home) = &self.homes[user.index()] else { continue };
                let function = home.access.function;
                for (position, _) in instruction.operands.iter().enumerate().filter(|(_, read)| **read == operand) {
                    match &self.reads[user.index()][position] {
                        Read::Splat | Read::Never => continue,
                        Read::At(map)
                            if is_alone
                                && update.scattered.is_none()
                                && function == update.function
                                && leads_alike(map, &update.map) => {}
                        _ => {
                            let (user, operand, root) = (name(user), name(operand), name(update.root));
                            return Err(format!("%{user} reads elements of %{operand} that %{root} may have replaced"));
                        }
                    }
                    self.reads[user.index()][position] = Read::Given;
                    let given = &mut self.functions[function.0 as usize].given;
                    if !given.contains(&operand) {
                        given.push(operand);
                    }
                }
            }
        }
        Ok(())
    }
}
