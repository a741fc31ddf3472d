//! Plans around sums of products whose rows are folded: reductions over all columns of a dot, and what is computed of these and of the sums.
//!
//! The division is that of a kernel around [reductions](super): functions of elements and of rows, and passes. What is an element there is a sum of each dot here, which functions are
//! given, so that no pass reads one again; the map from the sums' indices to those of the functions is the plan's [`rows`](FusionPlan::rows_of_sums).

use super::order::distinct;
use super::{Division, Heroes, Level, Refused, same_map};
use crate::Target;
use crate::access::{Counted, identity, is_bitcast, read_map};
use crate::contraction::{Contraction, branches, feeding, has_columns_side_by_side};
use crate::form::Form;
use crate::live;
use crate::plan::planner::Planner;
use crate::plan::product::{Factors, MOST_SUMS, types};
use crate::plan::{Emitter, FunctionId, FusionPlan, leaf_extents};
use crate::product::Product;
use crate::transposed::TileOwner;
use std::collections::{BTreeMap, BTreeSet};
use weft_affine::Var;
use weft_hlo::ir::{ArenaId, ElementType, InstrId, Op};
use weft_indexing::{IndexingMap, Limits};

/// Sums of products that are the elements of rows.
pub(super) struct Sums {
    dots: Vec<InstrId>,
    contractions: Vec<Contraction>,
    product: Product,
    /// From the indices `(o, r, i)` of elements to those of the first dot's results.
    elements: IndexingMap,
    /// From the indices `(o, r, c)` of sums to those of elements.
    rows: IndexingMap,
    factors: Vec<Factors>,
}

impl Planner<'_> {
    /// The plan that is shaped around dots and the reductions over all of their columns, or why there is none.
    pub(in crate::plan) fn plan_rows_of_sums(
        mut self,
        module: &weft_hlo::ir::Module,
        target: &Target,
    ) -> Result<FusionPlan, Refused> {
        let computation = self.computation;
        let live = live(computation);
        let of_kind = |is_meant: fn(&Op) -> bool| -> Vec<InstrId> {
            let all = computation.instructions.iter();
            all.filter(|(id, it)| live[id.index()] && is_meant(&it.op)).map(|(id, _)| id).collect()
        };
        let dots = of_kind(|op| matches!(op, Op::Dot { .. } | Op::Convolution { .. }));
        let dot = match dots[..] {
            [] => return Err("there are no sums of products".to_owned().into()),
            [dot, ..] if dots.len() <= MOST_SUMS => dot,
            _ => return Err(format!("{} sums of products are too many for a kernel", dots.len()).into()),
        };
        let name = |id: InstrId| &computation.instructions[id].name;
        let is_dot = |id: &&InstrId| matches!(computation.instructions[**id].op, Op::Dot { .. });
        if let Some(other) = dots.iter().find(|id| !is_dot(id)) {
            return Err(format!("{} is a convolution, whose rows are folded by another kernel", name(*other)).into());
        }
        let folds = of_kind(|op| matches!(op, Op::Reduce { .. }));
        let heroes = Heroes::of(computation, target).filter(|_| !folds.is_empty());
        let heroes = heroes.ok_or_else(|| "nothing is folded".to_owned())?;
        let reductions = heroes.reductions(module, computation)?;
        if let Some(other) = reductions.iter().find(|it| it.scan.is_some() || !it.fold.commutes) {
            return Err(format!("{} is folded in the order of its elements", name(other.id)).into());
        }
        if target.is_software() {
            let feeds = feeding(computation, |id| dots.contains(&id));
            let branch = computation.instructions.iter().find(|(id, it)| feeds[id.index()] && branches(&it.op));
            if let Some((_, branch)) = branch {
                return Err(format!("{} branches, and tiles would for each element", branch.name).into());
            }
        }
        let most = self.greatest_tensor();
        if most > target.max_storage_binding_bytes {
            let bound = target.max_storage_binding_bytes;
            return Err(format!("a kernel binds {bound} bytes of a tensor, which has {most}").into());
        }
        // Registers of a tuple that is folded, of the largest one.
        let registers = |id: InstrId| {
            let leaves = computation.instructions[id].shape.leaves().into_iter();
            leaves.filter_map(|leaf| Form::of(leaf.as_array()?.element_type)).map(Form::parts).sum::<u32>()
        };
        let tuple = reductions.iter().map(|it| registers(it.id)).max().unwrap_or(1);
        let results = self.result_types();
        let of = |dot: InstrId| Product::of_rows(computation, dot, (&results, dots.len(), tuple), target);
        let (product, contraction) = of(dot)?;
        let mut contractions = vec![contraction];
        for other in &dots[1..] {
            let (tiles, contraction) = of(*other)?;
            if tiles != product || types(computation, *other) != types(computation, dot) {
                return Err(format!("{} and {} are sums of different shapes", name(dot), name(*other)).into());
            }
            contractions.push(contraction);
        }
        let space = heroes.space;
        if space.count() != product.elements() || space.extents[1] != product.columns {
            let (folded, rows) = (space.extents[1], space.rows());
            let (columns, all) = (product.columns, product.batch * product.rows);
            let why = format!("{rows} rows of {folded} are folded, and there are {all} of {columns} sums");
            return Err(why.into());
        }
        let reduced = reductions.first().map(|it| computation.instructions[it.id].operands[0]);
        let towards = reduced.map(|operand| self.towards(operand, &dots)).transpose()?.flatten();
        let (found, map) = towards.ok_or_else(|| "what is folded is not computed of sums one by one".to_owned())?;
        let place = dots.iter().position(|dot| *dot == found).unwrap_or(0);
        let mut elements = space.elements.then(&map).map_err(|error| error.to_string())?;
        elements.simplify();
        let rows = rows_of(&contractions[place], &elements)?;
        check_rows(&rows, &product)?;
        let factors = Vec::with_capacity(dots.len());
        let sums = Some(Sums { dots, contractions, product, elements, rows, factors });
        self.is_around_sums = true;
        let (levels, nodes) = (Vec::new(), BTreeMap::new());
        let mut division = Division { planner: self, space, reductions, levels, nodes, sums };
        let outputs = division.divide()?;
        division.finished(outputs)
    }

    /// The sums of products that an instruction is computed of element by element, the first that is found, and the map to their indices.
    fn towards(&self, from: InstrId, dots: &[InstrId]) -> Result<Option<(InstrId, IndexingMap)>, Refused> {
        let computation = self.computation;
        let mut open = vec![(from, identity(&leaf_extents(&computation.instructions[from].shape)))];
        let mut seen = BTreeSet::new();
        while let Some((id, map)) = open.pop() {
            if dots.contains(&id) {
                return Ok(Some((id, map)));
            }
            if !seen.insert(id) {
                continue;
            }
            for (position, operand) in computation.instructions[id].operands.iter().enumerate() {
                if self.splats[operand.index()].is_some() {
                    continue;
                }
                let Some(step) = read_map(computation, id, position)? else { continue };
                let Ok(mut next) = map.then(&step) else { continue };
                next.simplify();
                let is_plain = next.ranges().is_empty() && next.runtime().is_empty() && next.constraints().is_empty();
                if is_plain {
                    open.push((*operand, next));
                }
            }
        }
        Ok(None)
    }
}

/// From the indices of sums to those of elements of rows, of which the map leads to the results of a dot.
fn rows_of(contraction: &Contraction, elements: &IndexingMap) -> Result<IndexingMap, String> {
    let other = || "what is folded are other elements than the sums".to_owned();
    let inverse = elements.inverse(&Limits::default()).ok().filter(|map| map.constraints().is_empty());
    let mut rows = contraction.results.then(&inverse.ok_or_else(other)?).map_err(|error| error.to_string())?;
    rows.simplify();
    Ok(rows)
}

/// Whether rows of elements are those of sums: along columns, and along nothing else.
fn check_rows(rows: &IndexingMap, product: &Product) -> Result<(), String> {
    let uses = |result: usize, dimension: u32| {
        let index = rows.results().get(result);
        index.is_none_or(|index| index.variables().contains(&Var::Dim(dimension)))
    };
    if uses(0, 2) || uses(2, 2) || uses(1, 0) || uses(1, 1) {
        return Err("what is folded are not the columns of the sums".to_owned());
    }
    is_tiled(rows, product)
}

/// Whether tiles of sums are tiles of what a map from their indices leads to.
fn is_tiled(map: &IndexingMap, product: &Product) -> Result<(), String> {
    match map.results().iter().all(|index| product.divides(index)) {
        true => Ok(()),
        false => Err("tiles do not divide the dimensions of its results".to_owned()),
    }
}

impl Division<'_> {
    /// The sums of products that an instruction is, where elements are these.
    pub(super) fn sum(&self, id: InstrId) -> Option<usize> {
        self.sums.as_ref()?.dots.iter().position(|dot| *dot == id)
    }

    /// Whether an instruction is a transposition: its elements are the sums', in whatever order.
    pub(super) fn is_moved(&self, id: InstrId) -> bool {
        matches!(self.planner.computation.instructions[id].op, Op::Transpose { .. })
    }

    /// From the indices of elements to those of an output: the element that is computed of the sum there, else the one that lies where the folded operand's does.
    pub(super) fn elements_of(&self, root: InstrId, extents: &[i64]) -> Result<Option<IndexingMap>, Refused> {
        let plain = || self.space.elements_of(extents);
        let Some(sums) = &self.sums else { return Ok(plain()) };
        let Some((_, map)) = self.planner.towards(root, &sums.dots)? else { return Ok(plain()) };
        let inverse = map.inverse(&Limits::default()).ok().filter(|map| map.constraints().is_empty());
        let map = inverse.and_then(|inverse| sums.elements.then(&inverse).ok());
        Ok(map.map(|mut map| {
            map.simplify();
            map
        }))
    }

    /// Has all that read a sum be given it, and adds the functions of its operands.
    pub(super) fn give_sum(
        &mut self,
        number: usize,
        common: Option<(Level, IndexingMap)>,
        accesses: &[Counted],
    ) -> Result<(), Refused> {
        let Some(sums) = &self.sums else { return Ok(()) };
        let dot = sums.dots[number];
        let name = &self.planner.computation.instructions[dot].name;
        let other = || format!("%{name} is read at other elements than those of the rows");
        let (contraction, product) = (sums.contractions[number].clone(), sums.product);
        let map = common.filter(|(level, _)| *level == Level::Element).map(|(_, map)| map).ok_or_else(other)?;
        if !same_map(&rows_of(&contraction, &map)?, &sums.rows) {
            return Err(other().into());
        }
        self.give(dot, accesses);
        let factors = self.planner.factors(dot, &contraction, &product);
        if let Some(sums) = &mut self.sums {
            sums.factors.push(factors);
        }
        Ok(())
    }

    /// The plan, all functions of which are there.
    fn finished(mut self, outputs: Vec<FunctionId>) -> Result<FusionPlan, Refused> {
        let Some(Sums { dots, product, rows, mut factors, .. }) = self.sums.take() else {
            return Err("there are no sums of products".to_owned().into());
        };
        if factors.len() != dots.len() {
            return Err("sums are not read".to_owned().into());
        }
        factors.reverse();
        let computation = self.planner.computation;
        let order = self.order(false);
        let needed = self.needed(&order, &BTreeMap::new(), &outputs, false);
        let passes = self.listed((&order, &needed), &BTreeMap::new(), false, true);
        let is_packed = |ty: ElementType| Form::of(ty).is_some_and(Form::is_packed);
        let extents = [product.batch, product.rows, product.columns];
        for function in &outputs {
            for root in &self.planner.functions[function.0 as usize].roots {
                let of_elements = self.level(*function) == Some(Level::Element);
                let own = leaf_extents(&computation.instructions[root.instruction].shape);
                let from = if of_elements { rows.clone() } else { self.of_rows(&rows)? };
                let mut map = from.then(&root.map).map_err(|error| error.to_string())?;
                map.simplify();
                let extents = if of_elements { &extents[..] } else { &extents[..2] };
                if is_bitcast(&map, extents, &own) {
                    continue;
                }
                is_tiled(&map, &product)?;
                // Of tiles that are all alike it is proved that each element is written once, in whatever order.
                if product.rows % product.tile[0] != 0 || product.columns % product.tile[1] != 0 {
                    return Err("results are in another order than the sums, which tiles do not divide"
                        .to_owned()
                        .into());
                }
                let is_own = of_elements && product.tiles == TileOwner::Invocation;
                if is_own && !has_columns_side_by_side(&map) {
                    return Err("columns of the sums do not lie side by side in a result".to_owned().into());
                }
                let array = computation.instructions[root.instruction].shape.as_array();
                if array.is_some_and(|array| is_packed(array.element_type)) {
                    return Err("results that share words are in another order than the sums".to_owned().into());
                }
            }
        }
        let name = |id: &InstrId| computation.instructions[*id].name.as_str();
        let sums: Vec<&str> = dots.iter().map(name).collect();
        let folded: Vec<&str> = self.reductions.iter().map(|it| name(&it.id)).collect();
        let why = format!(
            "{}: they go through tiles, and rows of {} are folded into {} there: {}",
            sums.join(", "),
            product.columns,
            folded.join(", "),
            product.rows_explanation()
        );
        let plan = self.planner.finish(distinct(outputs), Emitter::Product(product), Vec::new(), why);
        Ok(FusionPlan { factors, passes, rows: Some(rows), ..plan })
    }

    /// From the indices `(o, r)` of rows of sums to those of rows.
    fn of_rows(&self, rows: &IndexingMap) -> Result<IndexingMap, String> {
        let extents: Vec<i64> = rows.dims().iter().take(2).map(|dim| dim.bounds().hi + 1).collect();
        let results = [0, 2].into_iter().filter_map(|result| rows.results().get(result).cloned()).collect();
        let mut map = IndexingMap::of_extents(&extents, &[], results).map_err(|error| error.to_string())?;
        map.simplify();
        Ok(map)
    }
}
