//! Kernels that are shaped around reductions and scans: workgroups fold rows, and compute of the results what is computed of these for each element.

mod online;
mod rounds;
mod scans;

use super::entry::append;
use super::grid::grid;
use super::loop_emitter::{Launched, Output, too_large};
use super::passes::{Yielded, initial_values, passes_on, providers, results_at};
use super::regions::Regions;
use crate::elemental::zero;
use crate::kernel::{
    Block, Combination, Condition, Function, FunctionId, Kernel, Known, Operand, Scope, Statement, Value, ValueId,
};
pub(super) use scans::ScanTiles;
use std::collections::{BTreeMap, BTreeSet};
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{Arena, ArenaId, Computation, ElementType, InstrId, Op};
use weft_partition::{Folded, FusionPlan, Pass, Reduced, Target};

/// The entry, or why no launch is large enough: pass by pass each place computes its elements of a row, folds what is to be folded, and stores outputs.
pub(super) fn reduced_entry(
    reduced: &Reduced,
    computation: &Computation,
    plan: &FusionPlan,
    outputs: &[Output],
    functions: &Arena<FunctionId, Function>,
    (regions, tiles): (&Regions<'_>, &ScanTiles),
    target: &Target,
) -> Result<Launched, String> {
    let [along_inner, along_outer] = reduced.workgroups();
    let count = along_inner.checked_mul(along_outer).and_then(|count| u64::try_from(count).ok()).unwrap_or(u64::MAX);
    let groups = grid(count, target.max_workgroups_per_dimension).ok_or_else(|| {
        let most = target.max_workgroups_per_dimension;
        format!("the launch needs {count} workgroups and the target allows {most} along each dimension")
    })?;
    let rank = groups.iter().rposition(|groups| *groups != 1).map_or(1, |last| last + 1);
    let mut extents: Vec<i64> = groups[..rank].iter().map(|groups| i64::from(*groups)).collect();
    extents.push(reduced.places());
    let (parameters, values, body) = (Vec::new(), Arena::new(), Block::default());
    let mut entry = Function { name: "entry".to_owned(), parameters, values, body, extents };
    let place = Place::new(reduced, &entry.extents).map_err(too_large)?;
    let emission = Emission {
        reduced,
        computation,
        plan,
        outputs,
        functions,
        regions,
        values: &mut entry.values,
        place: &place,
        providers: providers(plan),
        given: plan.functions().iter().flat_map(|function| function.given.iter().copied()).collect(),
        of_rows: BTreeMap::new(),
        scanned: BTreeMap::new(),
        before: BTreeMap::new(),
        tiles,
        is_reversed: folded(plan).any(|fold| fold.scan.is_some_and(|scan| scan.is_reversed)),
        kept: Vec::new(),
        stored: BTreeSet::new(),
    };
    entry.body.statements = emission.passes().map_err(too_large)?;
    Ok(Launched { entry, windows: 1 })
}

/// All that the passes of a plan fold and scan.
fn folded(plan: &FusionPlan) -> impl Iterator<Item = &Folded> {
    plan.passes().iter().flat_map(|pass| pass.folds.iter().chain(&pass.scans))
}

/// The number of a function of the plan, as that of the kernel.
fn of_kernel(function: weft_partition::FunctionId) -> FunctionId {
    FunctionId::from_index(function.0 as usize)
}

/// Where in the rows the places of a workgroup are.
struct Place {
    /// The indices of the result.
    outer: Expr,
    inner: Expr,
    /// The number of the place among those of its result.
    along: Expr,
    /// What has to be tested for there to be such a result.
    open: Vec<Constraint>,
    known: Known,
}

impl Place {
    fn new(reduced: &Reduced, extents: &[i64]) -> Result<Place, Error> {
        let Reduced { rows, along, columns, .. } = *reduced;
        let known = Known::new(extents);
        let dim = |dimension: usize| Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX));
        let mut group = Expr::constant(0);
        for (dimension, extent) in extents[..extents.len() - 1].iter().enumerate().rev() {
            group = group.checked_mul(*extent)?.checked_add(&dim(dimension))?;
        }
        let place = dim(extents.len() - 1);
        let [of_inner, _] = reduced.workgroups();
        let [group_inner, group_outer] = [group.checked_modulo(of_inner)?, group.checked_floor_div(of_inner)?];
        let outer = group_outer.checked_mul(rows)?.checked_add(&place.checked_floor_div(along * columns)?)?;
        let inner = group_inner.checked_mul(columns)?.checked_add(&place.checked_modulo(columns)?)?;
        let number = place.checked_floor_div(columns)?.checked_modulo(along)?;
        let [outer, inner, number] = [outer, inner, number].map(|index| known.simplified(&index));
        let within = |expr: &Expr, extent| Constraint { expr: expr.clone(), bounds: Interval::of_extent(extent) };
        let open = known.open(&[within(&outer, reduced.outer), within(&inner, reduced.inner)]);
        Ok(Place { outer, inner, along: number, open, known })
    }
}

struct Emission<'e> {
    reduced: &'e Reduced,
    computation: &'e Computation,
    plan: &'e FusionPlan,
    outputs: &'e [Output],
    functions: &'e Arena<FunctionId, Function>,
    regions: &'e Regions<'e>,
    /// The values of the entry.
    values: &'e mut Arena<ValueId, Value>,
    place: &'e Place,
    /// The function that computes an instruction that others are given.
    providers: BTreeMap<InstrId, weft_partition::FunctionId>,
    /// What functions are given.
    given: BTreeSet<InstrId>,
    /// Results of reductions, and values of functions of rows.
    of_rows: BTreeMap<InstrId, Vec<Operand>>,
    /// Results of scans at the element that is at hand.
    scanned: BTreeMap<InstrId, Vec<Operand>>,
    /// What invocations before that of the place have of scans.
    before: BTreeMap<InstrId, Vec<Operand>>,
    /// The registers of scans.
    tiles: &'e ScanTiles,
    /// Whether rows are gone through from the last element to the first.
    is_reversed: bool,
    /// By round what is kept of its element.
    kept: Vec<Yielded>,
    /// The functions whose outputs are stored.
    stored: BTreeSet<weft_partition::FunctionId>,
}

impl Emission<'_> {
    fn passes(mut self) -> Result<Vec<Statement>, Error> {
        let mut block = Block::default();
        for pass in self.plan.passes() {
            self.rows(pass, &mut block)?;
            if !pass.elements.is_empty() || !pass.folds.is_empty() {
                self.pass(pass, &mut block)?;
            }
        }
        Ok(block.statements)
    }

    /// Calls functions of rows. What is nothing but an output is computed where it is stored, by the first place of the row.
    fn rows(&mut self, pass: &Pass, block: &mut Block) -> Result<(), Error> {
        let place = self.place;
        let (mut only_stored, mut stores) = (Vec::new(), Vec::new());
        for function in &pass.rows {
            let is_output = self.output(*function).is_some();
            let is_given =
                self.plan.function(*function).roots.iter().any(|root| self.given.contains(&root.instruction));
            let is_passed_on = self.passed_on(*function, &Yielded::new()).is_some();
            if is_output && (!is_given || is_passed_on) {
                only_stored.push(*function);
                continue;
            }
            let known = place.known.when(&place.open);
            let values = self.guarded(&place.open.clone(), block, &known, *function, |this, known, block| {
                this.called(*function, None, &Yielded::new(), known, block)
            })?;
            if let Some(root) = self.plan.function(*function).roots.first() {
                self.of_rows.insert(root.instruction, values.clone());
            }
            if self.initial(*function) {
                self.kept_rows(*function, values.clone());
            }
            if is_output {
                stores.push((*function, values));
            }
        }
        if only_stored.is_empty() && stores.is_empty() {
            return Ok(());
        }
        let first = Constraint { expr: place.along.clone(), bounds: Interval { lo: 0, hi: 0 } };
        let open = place.known.open(&place.open.iter().cloned().chain([first]).collect::<Vec<_>>());
        let known = place.known.when(&open);
        let mut then = Block::default();
        for function in only_stored {
            let values = self.called(function, None, &Yielded::new(), &known, &mut then)?;
            stores.push((function, values));
        }
        for (function, values) in stores {
            self.store(function, None, values, &known, &mut then)?;
        }
        append(open, then, block);
        Ok(())
    }

    /// Whether a function yields what a reduction begins with.
    fn initial(&self, function: weft_partition::FunctionId) -> bool {
        folded(self.plan).any(|fold| fold.initial == Some(function))
    }

    fn kept_rows(&mut self, function: weft_partition::FunctionId, values: Vec<Operand>) {
        if self.kept.is_empty() {
            self.kept.push(Yielded::new());
        }
        self.kept[0].insert(function, values);
    }

    /// The elements of a row: all that a place has of it, folded.
    fn pass(&mut self, pass: &Pass, block: &mut Block) -> Result<(), Error> {
        let rounds = self.reduced.rounds();
        let of = |fold: &Folded| fold.neutral.iter().copied().map(Operand::Constant).collect();
        let neutral: Vec<Vec<Operand>> = pass.folds.iter().map(of).collect();
        let known = self.place.known.when(&self.place.open);
        let mut then = Block::default();
        let before =
            pass.scans.iter().map(|scan| self.before.get(&scan.reduction).cloned().unwrap_or_else(|| of(scan)));
        let mut carried: Vec<Vec<Operand>> = neutral.iter().cloned().chain(before).collect();
        if self.tiles.are_used() {
            carried = self.side_by_side(pass, carried, &known, &mut then)?;
        } else if pass.folds.iter().any(|fold| fold.online.is_some()) {
            carried = self.online(pass, carried, &known, &mut then)?;
        } else if self.reduced.is_kept || rounds == 1 {
            let count = usize::try_from(rounds).unwrap_or(usize::MAX);
            self.kept.resize(self.kept.len().max(count), Yielded::new());
            for number in 0..rounds {
                let round = self.round(Expr::constant(number), known.clone())?;
                let kept = usize::try_from(number).unwrap_or(usize::MAX);
                let before = std::mem::take(&mut self.kept[kept]);
                let (yielded, folded) = self.element(pass, &round, before, &carried, number == 0, &mut then)?;
                self.kept[kept] = yielded;
                carried = folded;
            }
        } else {
            carried = self.rounds(pass, rounds, carried, &known, &mut then)?;
        }
        // What scans have come to behind the last element nobody needs.
        carried.truncate(neutral.len());
        let stored = pass.elements.iter().filter(|function| self.output(**function).is_some());
        let stored: Vec<weft_partition::FunctionId> = stored.copied().collect();
        self.stored.extend(stored);
        if self.place.open.is_empty() {
            block.statements.extend(then.statements);
        } else {
            carried = self.beside(pass, then, &neutral, carried, block);
        }
        let own: BTreeMap<InstrId, Vec<Operand>> =
            pass.folds.iter().map(|fold| fold.reduction).zip(carried.iter().cloned()).collect();
        // What is scaled comes behind what scales it.
        let (scaled, others): (Vec<_>, Vec<_>) =
            pass.folds.iter().zip(carried).partition(|(fold, _)| fold.online.is_some());
        for (fold, carried) in others.into_iter().chain(scaled) {
            match fold.scan {
                Some(_) => self.before(fold, carried, block),
                None => {
                    let carried = self.scaled_by_row(fold, carried, &own, block);
                    self.combine(fold, carried, block);
                }
            }
        }
        Ok(())
    }

    /// Appends a block for where there is a result; beside it nothing is folded, and zeros are kept. Returns what is folded.
    fn beside(
        &mut self,
        pass: &Pass,
        mut then: Block,
        neutral: &[Vec<Operand>],
        carried: Vec<Vec<Operand>>,
        block: &mut Block,
    ) -> Vec<Vec<Operand>> {
        let mut otherwise = Block { statements: Vec::new(), results: neutral.iter().flatten().copied().collect() };
        then.results = carried.iter().flatten().copied().collect();
        let functions = if self.reduced.is_kept { pass.elements.as_slice() } else { &[] };
        for yielded in &self.kept {
            for values in functions.iter().filter_map(|function| yielded.get(function)) {
                let zeros = values.iter().map(|value| Operand::Constant(zero(self.operand_type(*value))));
                otherwise.results.extend(zeros);
                then.results.extend(values.iter().copied());
            }
        }
        let open = self.place.open.clone();
        let mut chosen = self.chosen(&open, then, otherwise, block).into_iter();
        let carried = carried.iter().map(|own| chosen.by_ref().take(own.len()).collect()).collect();
        for yielded in &mut self.kept {
            for function in functions {
                if let Some(values) = yielded.get_mut(function) {
                    *values = chosen.by_ref().take(values.len()).collect();
                }
            }
        }
        carried
    }

    /// The outputs that a function yields.
    fn output(&self, function: weft_partition::FunctionId) -> Option<&Output> {
        self.outputs.iter().find(|output| output.function == of_kernel(function))
    }

    /// Appends a choice between two blocks; returns what it yields.
    fn chosen(&mut self, open: &[Constraint], then: Block, otherwise: Block, block: &mut Block) -> Vec<Operand> {
        let types: Vec<ElementType> = then.results.iter().map(|result| self.operand_type(*result)).collect();
        let values: Vec<ValueId> = types.iter().map(|ty| self.values.push(Value::scalar("chosen", *ty))).collect();
        let condition = Condition::Indices(open.to_vec());
        block.statements.push(Statement::If { values: values.clone(), condition, then, otherwise });
        values.into_iter().map(Operand::Value).collect()
    }

    /// What a block yields where there is a result, else zeros.
    fn guarded(
        &mut self,
        open: &[Constraint],
        block: &mut Block,
        known: &Known,
        function: weft_partition::FunctionId,
        emit: impl FnOnce(&mut Self, &Known, &mut Block) -> Result<Vec<Operand>, Error>,
    ) -> Result<Vec<Operand>, Error> {
        if open.is_empty() {
            return emit(self, known, block);
        }
        let mut then = Block::default();
        then.results = emit(self, known, &mut then)?;
        let types = self.result_types(function).into_iter();
        let results = types.map(|ty| Operand::Constant(zero(ty))).collect();
        let otherwise = Block { statements: Vec::new(), results };
        Ok(self.chosen(open, then, otherwise, block))
    }

    fn operand_type(&self, operand: Operand) -> ElementType {
        match operand {
            Operand::Value(value) => self.values[value].element_type,
            Operand::Constant(scalar) => scalar.element_type(),
        }
    }

    fn result_types(&self, function: weft_partition::FunctionId) -> Vec<ElementType> {
        let types = Kernel::result_types(&self.functions[of_kernel(function)]);
        types.into_iter().map(|ty| ty.element_type).collect()
    }

    /// The value of an instruction that a function is given.
    fn value(&self, id: InstrId, yielded: &Yielded) -> Vec<Operand> {
        if let Some(values) = self.of_rows.get(&id).or_else(|| self.scanned.get(&id)) {
            return values.clone();
        }
        let known = self.providers.get(&id).and_then(|function| yielded.get(function));
        let leaves = self.computation.instructions[id].shape.leaves().len();
        known.map(|values| values.iter().take(leaves).copied().collect()).unwrap_or_default()
    }

    /// What a function yields that computes nothing, but passes on what it is given.
    fn passed_on(&self, function: weft_partition::FunctionId, yielded: &Yielded) -> Option<Vec<Operand>> {
        let planned = self.plan.function(function);
        let values = || planned.roots.iter().flat_map(|root| self.value(root.instruction, yielded)).collect();
        passes_on(planned).then(values)
    }

    /// The elements that a function yields for the result of the place, and at an element of it.
    fn called(
        &mut self,
        function: weft_partition::FunctionId,
        element: Option<&Expr>,
        yielded: &Yielded,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        if let Some(values) = self.passed_on(function, yielded) {
            return Ok(values);
        }
        let planned = self.plan.function(function);
        let arguments = planned.given.iter().flat_map(|given| self.value(*given, yielded)).collect();
        let indices = self.indices(element).iter().map(|index| known.simplified(index)).collect();
        let types = self.result_types(function);
        let named = |ty: ElementType| Value::scalar(planned.name.clone(), ty);
        let values: Vec<ValueId> = types.into_iter().map(|ty| self.values.push(named(ty))).collect();
        let function = of_kernel(function);
        block.statements.push(Statement::Call { values: values.clone(), function, indices, arguments });
        Ok(values.into_iter().map(Operand::Value).collect())
    }

    fn indices(&self, element: Option<&Expr>) -> Vec<Expr> {
        let Place { outer, inner, .. } = self.place;
        match element {
            Some(element) => vec![outer.clone(), element.clone(), inner.clone()],
            None => vec![outer.clone(), inner.clone()],
        }
    }

    /// Stores what a function yields in the outputs that it computes.
    fn store(
        &mut self,
        function: weft_partition::FunctionId,
        element: Option<&Expr>,
        values: Vec<Operand>,
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let outputs = self.outputs;
        let Some(output) = outputs.iter().find(|output| output.function == of_kernel(function)) else { return Ok(()) };
        let indices = self.indices(element);
        let (mut values, mut memories) = (values.into_iter(), output.memories.iter());
        for root in &self.plan.function(function).roots {
            let at = results_at(&root.map, &indices)?;
            let at: Vec<Expr> = at.iter().map(|index| known.simplified(index)).collect();
            let leaves = self.computation.instructions[root.instruction].shape.leaves().len();
            for ((memory, _), value) in memories.by_ref().zip(values.by_ref()).take(leaves) {
                block.statements.push(Statement::Store { memory: *memory, indices: at.clone(), value });
            }
        }
        Ok(())
    }

    /// What the region of a reduction makes of two tuples.
    fn apply(&mut self, fold: &Folded, first: Vec<Operand>, second: Vec<Operand>, block: &mut Block) -> Vec<Operand> {
        let Some(function) = self.region(fold) else { return first };
        let name = &self.computation.instructions[fold.reduction].name;
        let types: Vec<ElementType> = second.iter().map(|operand| self.operand_type(*operand)).collect();
        let named = |ty: ElementType| Value::scalar(format!("{name}.next"), ty);
        let values: Vec<ValueId> = types.into_iter().map(|ty| self.values.push(named(ty))).collect();
        let arguments = first.into_iter().chain(second).collect();
        block.statements.push(Statement::Call { values: values.clone(), function, indices: Vec::new(), arguments });
        values.into_iter().map(Operand::Value).collect()
    }

    fn region(&self, fold: &Folded) -> Option<FunctionId> {
        match self.computation.instructions[fold.reduction].op {
            Op::Reduce { to_apply, .. } | Op::ReduceWindow { to_apply, .. } => self.regions.function(to_apply),
            _ => None,
        }
    }

    /// What all places of a result have, folded into the initial value.
    fn combine(&mut self, fold: &Folded, own: Vec<Operand>, block: &mut Block) {
        let combination = if self.reduced.is_ordered { Combination::Reduce } else { Combination::Combine };
        let whole = self.collective(fold, own.clone(), combination, block).unwrap_or(own);
        let whole = self.with_initial(fold, whole, block);
        self.of_rows.insert(fold.reduction, whole);
    }

    /// What the places of a result make together of what each has; `None` where there is one.
    fn collective(
        &mut self,
        fold: &Folded,
        operands: Vec<Operand>,
        combination: Combination,
        block: &mut Block,
    ) -> Option<Vec<Operand>> {
        let Reduced { rows, along, columns, .. } = *self.reduced;
        let function = self.region(fold).filter(|_| along > 1)?;
        let types: Vec<ElementType> = operands.iter().map(|operand| self.operand_type(*operand)).collect();
        let name = self.computation.instructions[fold.reduction].name.clone();
        let named = |ty: ElementType| Value::scalar(name.clone(), ty);
        let values: Vec<ValueId> = types.into_iter().map(|ty| self.values.push(named(ty))).collect();
        let word = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
        let scope = match rows * columns {
            1 => Scope::Workgroup,
            _ => Scope::Part { count: word(along), apart: word(columns) },
        };
        let (tiles, combined) = (Vec::new(), values.iter().copied().map(Operand::Value).collect());
        block.statements.push(Statement::Collective { values, scope, combination, function, operands, tiles });
        Some(combined)
    }

    /// What a reduction begins with.
    fn initial_values(&self, fold: &Folded) -> Vec<Operand> {
        let computed = fold.initial.and_then(|function| self.kept.first()?.get(&function)).cloned().unwrap_or_default();
        initial_values((self.plan, self.computation), fold, computed)
    }
}
