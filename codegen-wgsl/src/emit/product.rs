//! Kernels that are shaped around a sum of products: invocations compute rectangles of results, of which each element of an operand serves a whole side.

mod apart;
mod fourier;
mod matrices;
mod own;
mod packed;
mod rows;
mod tiles;
mod tuples;

use super::entry::{append, call};
use super::loop_emitter::{Launched, Output};
use super::loops::sum_type;
use super::regions::Regions;
use super::statements::Statements;
use crate::elemental::{element_type, zero};
use crate::kernel::{
    Block, Function, FunctionId, Known, Memory, MemoryId, Operand, ScalarOp, Statement, Value, ValueId,
};
use crate::lower::indices_at;
use crate::wgsl::Names;
use matrices::Matrices;
use packed::factor_type;
use rows::Folding;
use std::collections::{BTreeMap, BTreeSet};
use tiles::{add_tile, is_deep};
use tuples::with_tuples;
use weft_affine::{Constraint, Error, Expr, Interval, Var};
use weft_hlo::ir::{Arena, ArenaId, BinaryOp, Computation, ElementType, InstrId, Op};
use weft_indexing::IndexingMap;
use weft_partition::{Factors, Fused, FusionPlan, Product, Target, TileOwner};

/// The memory of workgroups that have tiles.
pub(super) struct ProductTiles {
    /// The tiles of both operands.
    factors: [MemoryId; 2],
    /// The matrices of subgroups, if these multiply some.
    matrices: Option<Matrices>,
}

/// The tiles of both operands, where workgroups have some.
pub(super) fn add_product_tiles(
    product: &Product,
    computation: &Computation,
    plan: &FusionPlan,
    memories: &mut Arena<MemoryId, Memory>,
    names: &mut Names,
) -> Option<ProductTiles> {
    let factors = plan.factors().first().filter(|_| product.tiles == TileOwner::Workgroup)?;
    let ty = factor_type(product, computation, factors);
    let tiles = ["lhs.tile", "rhs.tile"].map(|name| names.take(name)).into_iter().enumerate().fold(
        [MemoryId::from_index(0); 2],
        |mut tiles, (operand, name)| {
            let is_deep = is_deep(plan, factors, operand);
            tiles[operand] = memories.push(add_tile(product, (operand, is_deep), ty, name));
            tiles
        },
    );
    let matrices = product.matrices.map(|matrix| Matrices::add(product, matrix, plan.factors().len(), memories, names));
    Some(ProductTiles { factors: tiles, matrices })
}

/// The functions of a kernel, with those by which it folds rows of results.
pub(super) fn folding<'r>(
    fused: &'r Fused,
    computation: &Computation,
    (plan, product): (&FusionPlan, &Product),
    functions: Arena<FunctionId, Function>,
    names: &mut Names,
) -> (Arena<FunctionId, Function>, Folding<'r>) {
    let first = plan.functions().len();
    let regions = Regions::new(fused, computation, first);
    let rows = usize::try_from(product.tile[0]).unwrap_or(1);
    if product.tiles != TileOwner::Workgroup || rows == 1 {
        return (functions, Folding { regions, tuples: BTreeMap::new() });
    }
    let folds = plan.passes().iter().flat_map(|pass| &pass.folds);
    let applied = folds.filter_map(|fold| match computation.instructions[fold.reduction].op {
        Op::Reduce { to_apply, .. } => regions.function(to_apply),
        _ => None,
    });
    let applied: BTreeSet<FunctionId> = applied.collect();
    let applied: Vec<FunctionId> = applied.into_iter().collect();
    let (functions, tuples) = with_tuples(functions, (first, &applied), rows, names);
    let regions = Regions::new(fused, computation, first + applied.len());
    (functions, Folding { regions, tuples })
}

/// The indices in an array of other extents of the element that has the same row-major position.
fn in_shape(indices: Vec<Expr>, from: &[i64], extents: &[i64], known: &Known) -> Result<Vec<Expr>, Error> {
    if from == extents {
        return Ok(indices);
    }
    let mut position = Expr::constant(0);
    for (index, extent) in indices.iter().zip(from) {
        position = position.checked_mul(*extent)?.checked_add(index)?;
    }
    Ok(indices_at(&position, extents)?.iter().map(|index| known.simplified(index)).collect())
}

/// The entry: a workgroup for so many rows and columns of results.
pub(super) fn product_entry(
    product: &Product,
    computation: &Computation,
    plan: &FusionPlan,
    outputs: &[Output],
    (functions, folding): (&Arena<FunctionId, Function>, &Folding<'_>),
    tiles: Option<&ProductTiles>,
    target: &Target,
) -> Result<Launched, Error> {
    let groups = product.workgroups();
    let rank = groups.iter().rposition(|groups| *groups != 1).map_or(1, |last| last + 1);
    let mut extents = groups[..rank].to_vec();
    extents.push(product.places());
    let (parameters, values, body) = (Vec::new(), Arena::new(), Block::default());
    let mut entry = Function { name: "entry".to_owned(), parameters, values, body, extents };
    let Some(factors) = plan.factors().first().filter(|_| !entry.extents.contains(&0)) else {
        return Ok(Launched { entry, windows: 1 });
    };
    let known = Known::new(&entry.extents);
    let coordinate = |dimension: usize| match dimension < rank {
        true => Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX)),
        false => Expr::constant(0),
    };
    let thread = Expr::dim(u32::try_from(rank).unwrap_or(u32::MAX));
    let lanes = i64::from(product.lanes);
    let members = if product.matrices.is_some() { product.members } else { 1 };
    let invocation = known.simplified(&thread.checked_floor_div(lanes * members)?);
    let member = known.simplified(&thread.checked_floor_div(lanes)?.checked_modulo(members)?);
    let lane = known.simplified(&thread.checked_modulo(lanes)?);
    let [row, column] = [invocation.checked_floor_div(product.group[1])?, invocation.checked_modulo(product.group[1])?];
    let place = Place {
        group: [coordinate(1), coordinate(0)],
        beside: coordinate(2),
        within: [row, column].map(|index| known.simplified(&index)),
        thread,
        member,
        lane,
    };
    let mut emission = Emission {
        product,
        computation,
        plan,
        factors,
        outputs,
        functions,
        folding,
        values: &mut entry.values,
        place: &place,
        target,
        ty: sum_type(computation, factors.dot),
        factor: factor_type(product, computation, factors),
    };
    entry.body = match tiles {
        Some(ProductTiles { factors, matrices: Some(matrices) }) => emission.in_matrices(*factors, matrices, &known)?,
        Some(ProductTiles { factors, matrices: None }) => emission.shared(*factors, &known)?,
        None => emission.own(&known)?,
    };
    Ok(Launched { entry, windows: 1 })
}

/// Where an invocation is.
struct Place {
    /// The workgroup along rows, and along columns.
    group: [Expr; 2],
    /// The number of the matrix.
    beside: Expr,
    /// The invocation along rows of the workgroup, and along columns; the subgroup, where subgroups multiply matrices.
    within: [Expr; 2],
    /// The number of the place in the workgroup, that of its invocation in such a subgroup, and that of its lane.
    thread: Expr,
    member: Expr,
    lane: Expr,
}

/// The results that an invocation computes: their first row and column, and how many there are of either, a vector of columns one.
struct Results {
    first: [Expr; 2],
    counts: [i64; 2],
    /// Whether rows behind the last are the first ones again, so that all invocations compute alike.
    wraps: bool,
}

struct Emission<'e> {
    product: &'e Product,
    computation: &'e Computation,
    plan: &'e FusionPlan,
    factors: &'e Factors,
    outputs: &'e [Output],
    functions: &'e Arena<FunctionId, Function>,
    folding: &'e Folding<'e>,
    /// The values of the entry.
    values: &'e mut Arena<ValueId, Value>,
    place: &'e Place,
    target: &'e Target,
    /// The type that products are added in.
    ty: ElementType,
    /// The type of what is multiplied: that of sums, or of words.
    factor: ElementType,
}

/// What appends statements for results of an invocation.
type Emit<'f, 'e> = &'f mut dyn FnMut(&mut Emission<'e>, &Results, &Known, &mut Block) -> Result<(), Error>;

/// An expression of the indices of matrices, of these.
fn at_indices(expr: &Expr, indices: &[Expr]) -> Result<Expr, Error> {
    expr.substitute(|variable| match variable {
        Var::Dim(index) => indices.get(index as usize).cloned(),
        _ => None,
    })
}

/// A function of the plan, as one of the kernel.
fn of_kernel(function: weft_partition::FunctionId) -> FunctionId {
    FunctionId::from_index(function.0 as usize)
}

impl Statements for Emission<'_> {
    fn values(&mut self) -> &mut Arena<ValueId, Value> {
        self.values
    }
}

impl<'e> Emission<'e> {
    fn zeros(&self, count: usize) -> Vec<Operand> {
        vec![Operand::Constant(zero(self.ty)); count]
    }

    /// The sums of all products, stretch by stretch; a stretch is told where it begins and how many products it has, and adds to zeros.
    fn stretches(
        &mut self,
        count: usize,
        known: &Known,
        block: &mut Block,
        stretch: impl Fn(&mut Self, &Expr, i64, &Known, &mut Block) -> Result<Vec<Operand>, Error>,
    ) -> Result<Vec<Operand>, Error> {
        let Product { stretch: length, .. } = *self.product;
        let (whole, left) = self.product.stretches();
        let mut sums = match whole {
            0 => self.zeros(count),
            1 => stretch(self, &Expr::constant(0), length, known, block)?,
            _ => self.looped(whole, self.zeros(count), known, block, |this, number, sums, known, block| {
                let own = stretch(this, &number.checked_mul(length)?, length, known, block)?;
                Ok(this.added(sums, own, block))
            })?,
        };
        if left > 0 {
            let own = stretch(self, &Expr::constant(whole * length), left, known, block)?;
            sums = if whole == 0 { own } else { self.added(sums, own, block) };
        }
        Ok(sums)
    }

    /// Sums two by two.
    fn added(&mut self, sums: Vec<Operand>, others: Vec<Operand>, block: &mut Block) -> Vec<Operand> {
        let [_, add] = self.operations();
        let pairs = sums.into_iter().zip(others);
        pairs.map(|(sum, other)| self.binary(add, [sum, other], "sum", block)).collect()
    }

    /// Adds the products of a column of the left operand and a row of the right one to sums, row by row.
    fn add_products(
        &mut self,
        sums: Vec<Operand>,
        lhs: &[Operand],
        rhs: &[Operand],
        block: &mut Block,
    ) -> Vec<Operand> {
        let factors = lhs.iter().flat_map(|row| rhs.iter().map(|column| [*row, *column]));
        sums.into_iter().zip(factors).map(|(sum, factors)| self.multiply_add(factors, sum, block)).collect()
    }

    /// A product and a sum, one operation where a device may round them once. Invocations of a workgroup with tiles say so, and those of devices with few registers: of vectors, these make all products before the first
    /// sum else, and put them aside. An invocation that reads for itself leaves both to the driver, but for those whose columns read each its own.
    fn multiply_add(&mut self, [lhs, rhs]: [Operand; 2], sum: Operand, block: &mut Block) -> Operand {
        let target = self.target;
        if let Some(packed) = self.product.packed {
            return self.add_words(packed, [lhs, rhs], sum, block);
        }
        let is_shared = self.product.tiles == TileOwner::Workgroup;
        let is_plain = !is_shared && self.product.members == 1 && self.product.apart == 0;
        let is_number = self.ty != ElementType::Pred && self.product.words == 1 && !is_plain;
        if is_number && !(target.forbid_contraction && target.arithmetic.contraction) {
            let is_one = (is_shared || target.hardware.few_registers) && !target.forbid_contraction;
            return self.define(self.ty, ScalarOp::MultiplyAdd { operands: [lhs, rhs, sum], is_one }, "sum", block);
        }
        let [multiply, add] = self.operations();
        let product = self.binary(multiply, [lhs, rhs], "product", block);
        self.binary(add, [sum, product], "sum", block)
    }

    /// Whether products with zeros may be something else, so that there are none where a window covers nothing; those of integers are zeros.
    fn has_infinities(&self) -> bool {
        self.ty.is_float() || self.ty.is_complex()
    }

    /// What makes a product, and what adds it.
    fn operations(&self) -> [BinaryOp; 2] {
        match self.ty {
            ElementType::Pred => [BinaryOp::And, BinaryOp::Or],
            _ => [BinaryOp::Multiply, BinaryOp::Add],
        }
    }

    /// An element of the matrices of an operand, in the type of sums, that a window covers if there is one.
    fn factor(
        &mut self,
        operand: usize,
        indices: [Expr; 3],
        known: &Known,
        block: &mut Block,
    ) -> Result<Operand, Error> {
        if self.product.packed.is_some() {
            return self.word(operand, &indices, known, block);
        }
        let indices = self.factor_indices(operand, &indices, known)?;
        Ok(self.factor_at(operand, indices, block))
    }

    /// The indices of the function of an operand for an element of its matrices.
    fn factor_indices(&self, operand: usize, indices: &[Expr], known: &Known) -> Result<Vec<Expr>, Error> {
        let own = match self.factors.window.as_ref().filter(|_| operand == 0) {
            None => indices.to_vec(),
            Some(window) => {
                let own = window.results().iter().map(|index| at_indices(index, indices));
                own.collect::<Result<Vec<_>, Error>>()?
            }
        };
        Ok(own.iter().map(|index| known.simplified(index)).collect())
    }

    /// What the function of an operand yields, in the type of sums, or of matrices.
    fn factor_at(&mut self, operand: usize, indices: Vec<Expr>, block: &mut Block) -> Operand {
        let ty = if self.product.matrices.is_some() { self.factor } else { self.ty };
        let (function, name) = [(self.factors.lhs, "lhs"), (self.factors.rhs, "rhs")][operand];
        let elements = self.call(of_kernel(function), indices, Vec::new(), name, block);
        match elements.first() {
            Some(element) => self.converted(*element, ty, name, block),
            None => Operand::Constant(zero(ty)),
        }
    }

    /// What has to be tested still of the indices `(o, r, k)`, or `(o, r, k, c)`, of an element of the left matrices for a window to cover one of the operand.
    fn open(&self, indices: &[Expr], known: &Known) -> Result<Vec<Constraint>, Error> {
        let mut domain = Vec::new();
        for Constraint { expr, bounds } in self.factors.domain() {
            domain.push(Constraint { expr: known.simplified(&at_indices(&expr, indices)?), bounds });
        }
        Ok(known.open(&domain))
    }

    fn call(
        &mut self,
        function: FunctionId,
        indices: Vec<Expr>,
        arguments: Vec<Operand>,
        name: &str,
        block: &mut Block,
    ) -> Vec<Operand> {
        call((self.functions, self.values), function, (indices, arguments), name, block)
    }

    /// The row of a result, and its column.
    fn at(&self, results: &Results, row: i64, column: i64) -> Result<[Expr; 2], Error> {
        let [first_row, first_column] = &results.first;
        let column = first_column.checked_add_constant(column * i64::from(self.product.lanes))?;
        let row = first_row.checked_add_constant(row)?;
        let row = if results.wraps { row.checked_modulo(self.product.rows)? } else { row };
        Ok([row, column])
    }

    /// The numbers of the invocation's tile along rows, and along columns.
    fn blocks(&self, known: &Known) -> Result<[Expr; 2], Error> {
        let block = |dimension: usize| {
            let first = self.place.group[dimension].checked_mul(self.product.group[dimension])?;
            Ok(known.simplified(&first.checked_add(&self.place.within[dimension])?))
        };
        Ok([block(0)?, block(1)?])
    }

    /// Appends what is done for the results of the invocation's tile: where the last rows or columns fill none, for a smaller one, and behind that nothing. `size` is how many
    /// rows it is known to have, and how many columns.
    fn of_size(
        &mut self,
        blocks: &[Expr; 2],
        size: &[i64],
        known: &Known,
        out: &mut Block,
        emit: Emit<'_, 'e>,
    ) -> Result<(), Error> {
        let Product { rows, columns, tile, lanes, .. } = *self.product;
        let dimension = size.len();
        let Some(block) = blocks.get(dimension) else {
            let [row, column] = [blocks[0].checked_mul(tile[0])?, blocks[1].checked_mul(tile[1])?];
            let counts = [size[0], size[1] / i64::from(lanes)];
            let first = [row, column.checked_add(&self.place.lane)?];
            return emit(self, &Results { first, counts, wraps: false }, known, out);
        };
        let (extent, side) = ([rows, columns][dimension], tile[dimension]);
        let (whole, left) = (extent / side, extent % side);
        let sizes = [(Interval { lo: 0, hi: whole - 1 }, side), (Interval::point(whole), left)];
        for (numbers, count) in sizes.into_iter().filter(|(numbers, count)| !numbers.is_empty() && *count > 0) {
            let open = known.open(&[Constraint { expr: block.clone(), bounds: numbers }]);
            let mut then = Block::default();
            self.of_size(blocks, &[size, &[count]].concat(), &known.when(&open), &mut then, emit)?;
            append(open, then, out);
        }
        Ok(())
    }

    /// Stores what is computed of the sums of the dots so far, of rows of so many, and of no others.
    fn store(
        &mut self,
        results: &Results,
        (sums, stride): (&[Vec<Operand>], i64),
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let [rows, columns] = results.counts;
        for row in 0..rows {
            for column in 0..columns {
                let of = |sums: &Vec<Operand>| sums.get(usize::try_from(row * stride + column).ok()?).copied();
                let sums: Vec<Operand> = sums.iter().filter_map(of).collect();
                let at = self.at(results, row, column)?;
                self.stored(&at, &sums, known, block)?;
            }
        }
        Ok(())
    }

    /// Sums of one dot after the other, each told how many there are still.
    fn each_sum(
        &mut self,
        mut sums: impl FnMut(&mut Self, usize, &mut Block) -> Result<Vec<Operand>, Error>,
        mut store: impl FnMut(&mut Self, &[Vec<Operand>], &mut Block) -> Result<(), Error>,
        block: &mut Block,
    ) -> Result<(), Error> {
        let all = self.plan.factors();
        let mut known = Vec::with_capacity(all.len());
        for (number, factors) in all.iter().enumerate() {
            self.factors = factors;
            known.push(sums(self, all.len() - 1 - number, block)?);
            store(self, &known, block)?;
        }
        Ok(())
    }

    /// The indices of a result in an array of these extents: dimension by dimension, where each is of the batch, of rows or of columns alone.
    fn indices(&self, at: &[Expr; 2], extents: &[i64], known: &Known) -> Result<Vec<Expr>, Error> {
        let Product { batch, rows, columns, .. } = *self.product;
        let [row, column] = at;
        let mut parts = Vec::new();
        let mut end = extents.len();
        for (index, count) in [(column, columns), (row, rows), (&self.place.beside, batch)] {
            let mut first = end;
            while first > 0 && (extents[first..end].iter().product::<i64>() < count || extents[first - 1] == 1) {
                first -= 1;
            }
            if extents[first..end].iter().product::<i64>() != count {
                let position = self.place.beside.checked_mul(rows)?.checked_add(row)?;
                parts = vec![(position.checked_mul(columns)?.checked_add(column)?, 0..extents.len())];
                break;
            }
            parts.push((index.clone(), first..end));
            end = first;
        }
        let mut indices = Vec::with_capacity(extents.len());
        for (index, dimensions) in parts.into_iter().rev() {
            let own = indices_at(&index, &extents[dimensions])?;
            indices.extend(own.iter().map(|index| known.simplified(index)));
        }
        Ok(indices)
    }

    /// As [`indices`](Self::indices), of an element of a function of outputs, which may have another order.
    fn indices_of(
        &self,
        function: FunctionId,
        at: &[Expr; 2],
        extents: &[i64],
        known: &Known,
    ) -> Result<Vec<Expr>, Error> {
        let tail = self.plan.tails().iter().find(|tail| of_kernel(tail.function) == function);
        let of_map = |map: &IndexingMap, indices: &[Expr]| {
            let own = map.results().iter().map(|index| Ok(known.simplified(&at_indices(index, indices)?)));
            own.collect::<Result<Vec<_>, Error>>()
        };
        let dot = self.computation.instructions[self.factors.dot].shape.as_array();
        let sums = dot.map_or(&[][..], |dot| &dot.extents);
        let sum = match (&self.factors.results, tail) {
            (None, None) => return self.indices(at, extents, known),
            (None, Some(_)) => self.indices(at, sums, known)?,
            (Some(results), _) => of_map(results, &[self.place.beside.clone(), at[0].clone(), at[1].clone()])?,
        };
        match tail {
            Some(tail) => {
                let own = of_map(&tail.map, &sum)?;
                in_shape(own, &self.functions[function].extents, extents, known)
            }
            // It reads none of the sums, or is of their shape.
            None => in_shape(sum, sums, extents, known),
        }
    }

    /// Stores what is computed of one sum of each dot so far, where the last is needed.
    fn stored(&mut self, at: &[Expr; 2], sums: &[Operand], known: &Known, block: &mut Block) -> Result<(), Error> {
        let all = self.plan.factors();
        let place = |id: InstrId| all.iter().position(|factors| factors.dot == id);
        let is_next = |output: &Output| {
            let planned = &self.plan.functions()[output.function.index()];
            let last = planned.given.iter().filter_map(|given| place(*given)).max().unwrap_or(0);
            last + 1 == sums.len()
        };
        for output in self.outputs.iter().filter(|output| is_next(output)) {
            let planned = &self.plan.functions()[output.function.index()];
            let roots: Vec<Option<usize>> = planned.roots.iter().map(|root| place(root.instruction)).collect();
            let is_sum = planned.members.is_empty() && roots.iter().all(Option::is_some);
            let elements = if is_sum {
                roots.into_iter().flatten().map(|place| self.sum(sums, place, block)).collect()
            } else {
                let mut arguments = Vec::new();
                for given in &planned.given {
                    match (place(*given), self.plan.home(*given)) {
                        (Some(place), _) => arguments.push(self.sum(sums, place, block)),
                        (None, Some((function, _))) => {
                            let function = of_kernel(function);
                            let extents = &self.functions[function].extents;
                            let at = self.indices_of(output.function, at, extents, known)?;
                            arguments.extend(self.call(function, at, Vec::new(), "given", block));
                        }
                        (None, None) => {}
                    }
                }
                let at = self.indices_of(output.function, at, &self.functions[output.function].extents, known)?;
                self.call(output.function, at, arguments, "output", block)
            };
            for (value, (memory, extents)) in elements.into_iter().zip(&output.memories) {
                let indices = self.indices_of(output.function, at, extents, known)?;
                block.statements.push(Statement::Store { memory: *memory, indices, value });
            }
        }
        Ok(())
    }

    /// The sum of a dot, in the type of its results.
    fn sum(&mut self, sums: &[Operand], place: usize, block: &mut Block) -> Operand {
        let dot = self.plan.factors()[place].dot;
        self.converted(sums[place], element_type(&self.computation.instructions[dot]), "sum", block)
    }
}
