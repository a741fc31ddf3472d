//! Rows of results that are folded: each invocation folds its own columns, then those that share a row combine what they have.

use super::{Emission, Results, of_kernel};
use crate::elemental::zero;
use crate::emit::entry::append;
use crate::emit::passes::{Yielded, initial_values, is_neutral, passes_on, providers, results_at};
use crate::emit::regions::Regions;
use crate::emit::statements::Statements;
use crate::kernel::{Block, Combination, FunctionId, Kernel, Known, Operand, ScalarOp, Scope, Statement};
use std::collections::BTreeMap;
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{ArenaId, InstrId, Op};
use weft_partition::{Folded, Pass, TileOwner};

/// The functions by which rows are folded.
pub(in crate::emit) struct Folding<'r> {
    /// Those of regions.
    pub(in crate::emit) regions: Regions<'r>,
    /// For each of these the one that combines what an invocation of a workgroup with tiles has of all of its rows.
    pub(in crate::emit) tuples: BTreeMap<FunctionId, FunctionId>,
}

/// What is known of the rows of an invocation.
pub(super) struct Rows {
    /// The sums of each dot, in the types of their results, row by row.
    sums: BTreeMap<InstrId, Vec<Operand>>,
    /// For each row results of reductions.
    folded: Vec<BTreeMap<InstrId, Vec<Operand>>>,
    /// For each row what functions of rows yield, and for each element what those of elements do.
    of_rows: Vec<Yielded>,
    of_elements: Vec<Yielded>,
    /// The function that computes an instruction for those that are given it.
    providers: BTreeMap<InstrId, weft_partition::FunctionId>,
    /// Columns of an invocation, a vector one.
    columns: usize,
}

/// A row of an invocation, or an element of one.
#[derive(Copy, Clone)]
struct At {
    row: usize,
    column: Option<usize>,
}

/// The numbers of so many things.
fn numbers(count: i64) -> impl Iterator<Item = usize> {
    0..usize::try_from(count).unwrap_or(0)
}

impl Rows {
    /// The values of an instruction that a function is given.
    fn value(&self, id: InstrId, at: At) -> Vec<Operand> {
        let element = at.column.map(|column| at.row * self.columns + column);
        if let Some(sum) = element.and_then(|element| self.sums.get(&id)?.get(element)) {
            return vec![*sum];
        }
        if let Some(values) = self.folded[at.row].get(&id) {
            return values.clone();
        }
        let known = self.providers.get(&id).and_then(|function| {
            let of_element = element.and_then(|element| self.of_elements[element].get(function));
            of_element.or_else(|| self.of_rows[at.row].get(function))
        });
        known.cloned().unwrap_or_default()
    }
}

impl<'e> Emission<'e> {
    /// Appends what folds the rows of an invocation's results, of which there are these sums of each dot, and computes what is computed of them. Rows behind the last are the first ones again.
    pub(super) fn rows(
        &mut self,
        results: &Results,
        (sums, stride): (&[Vec<Operand>], i64),
        known: &Known,
        block: &mut Block,
    ) -> Result<Rows, Error> {
        let plan = self.plan;
        let [count, columns] = results.counts;
        let mut of_dots = BTreeMap::new();
        for (place, factors) in plan.factors().iter().enumerate() {
            let mut own = Vec::new();
            for number in numbers(count).flat_map(|row| numbers(columns).map(move |column| (row, column))) {
                let number = number.0 * usize::try_from(stride).unwrap_or(0) + number.1;
                let all: Vec<Operand> = sums.iter().filter_map(|sums| sums.get(number)).copied().collect();
                own.push(self.sum(&all, place, block));
            }
            of_dots.insert(factors.dot, own);
        }
        let mut rows = Rows {
            sums: of_dots,
            folded: numbers(count).map(|_| BTreeMap::new()).collect(),
            of_rows: numbers(count).map(|_| Yielded::new()).collect(),
            of_elements: numbers(count * columns).map(|_| Yielded::new()).collect(),
            providers: providers(plan),
            columns: numbers(columns).count(),
        };
        for pass in plan.passes() {
            for (function, row) in pass.rows.iter().flat_map(|function| numbers(count).map(move |row| (function, row)))
            {
                let indices = self.row_indices(results, row, known)?;
                let values = self.yielded(*function, indices, At { row, column: None }, &rows, block);
                rows.of_rows[row].insert(*function, values);
            }
            let mut tuples = vec![Vec::new(); pass.folds.len()];
            for row in numbers(count) {
                let own = self.elements(pass, results, row, &mut rows, known, block)?;
                for (fold, (of_row, tuples)) in pass.folds.iter().zip(own.into_iter().zip(&mut tuples)) {
                    tuples.push(self.folded(fold, of_row, block));
                }
            }
            for (fold, tuples) in pass.folds.iter().zip(tuples) {
                for (row, tuple) in self.shared_by_row(fold, tuples, block).into_iter().enumerate() {
                    let computed = fold.initial.and_then(|function| rows.of_rows[row].get(&function)).cloned();
                    let initial = initial_values((plan, self.computation), fold, computed.unwrap_or_default());
                    let whole = match is_neutral(&initial, fold) {
                        true => tuple,
                        false => self.applied(fold, [initial, tuple], block),
                    };
                    rows.folded[row].insert(fold.reduction, whole);
                }
            }
        }
        Ok(rows)
    }

    /// As soon as there are the sums of all dots, folds the rows of a whole tile, and stores what is computed of those that there are: `blocks` is the number of the tile along rows, and along columns.
    pub(super) fn store_folded(
        &mut self,
        tile: &Results,
        sums: &[Vec<Operand>],
        blocks: &[Expr; 2],
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        if sums.len() < self.plan.factors().len() {
            return Ok(());
        }
        let rows = self.rows(tile, (sums, tile.counts[1]), known, block)?;
        self.of_size(blocks, &[], known, block, &mut |this, results, known, block| {
            this.store_rows(results, &rows, known, block)
        })
    }

    /// The indices of functions of elements, for a sum.
    fn element_indices(&self, [row, column]: &[Expr; 2], known: &Known) -> Result<Vec<Expr>, Error> {
        let at = [self.place.beside.clone(), row.clone(), column.clone()];
        let indices = self.plan.rows_of_sums().map_or(Ok(Vec::new()), |map| results_at(map, &at))?;
        Ok(indices.iter().map(|index| known.simplified(index)).collect())
    }

    /// Those of functions of rows.
    fn row_indices(&self, results: &Results, row: usize, known: &Known) -> Result<Vec<Expr>, Error> {
        let at = self.at(results, i64::try_from(row).unwrap_or(i64::MAX), 0)?;
        let mut indices = self.element_indices(&at, known)?;
        if indices.len() > 1 {
            indices.remove(1);
        }
        Ok(indices)
    }

    /// What a function of the plan yields.
    fn yielded(
        &mut self,
        function: weft_partition::FunctionId,
        indices: Vec<Expr>,
        at: At,
        rows: &Rows,
        block: &mut Block,
    ) -> Vec<Operand> {
        let planned = self.plan.function(function);
        if passes_on(planned) {
            return planned.roots.iter().flat_map(|root| rows.value(root.instruction, at)).collect();
        }
        let arguments = planned.given.iter().flat_map(|given| rows.value(*given, at)).collect();
        self.call(of_kernel(function), indices, arguments, &planned.name, block)
    }

    /// Calls the functions of a pass for all elements of a row; what each fold is of, neutral where the row has no column.
    fn elements(
        &mut self,
        pass: &Pass,
        results: &Results,
        row: usize,
        rows: &mut Rows,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Vec<Vec<Operand>>>, Error> {
        let mut folded = vec![Vec::new(); pass.folds.len()];
        for column in 0..rows.columns {
            let [of_row, of_column] = [row, column].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
            let at = self.at(results, of_row, of_column)?;
            let within = Constraint { expr: at[1].clone(), bounds: Interval::of_extent(self.product.columns) };
            let open = known.open(&[within]);
            let nothing = pass.elements.iter().flat_map(|function| {
                let types = Kernel::result_types(&self.functions[of_kernel(*function)]);
                types.into_iter().map(|ty| Operand::Constant(zero(ty.element_type)))
            });
            let neutral = pass.folds.iter().flat_map(|fold| fold.neutral.iter().copied().map(Operand::Constant));
            let elsewhere: Vec<Operand> = nothing.chain(neutral).collect();
            let element = row * rows.columns + column;
            let own = &mut *rows;
            let found = self.where_holds(open, ("element", elsewhere), known, block, |this, _, known, block| {
                let indices = this.element_indices(&at, known)?;
                let mut found = Vec::new();
                for function in &pass.elements {
                    let at = At { row, column: Some(column) };
                    let values = this.yielded(*function, indices.clone(), at, own, block);
                    found.extend(values.iter().copied());
                    own.of_elements[element].insert(*function, values);
                }
                let of = |fold: &Folded| own.of_elements[element].get(&fold.function).cloned().unwrap_or_default();
                found.extend(pass.folds.iter().flat_map(of));
                Ok(found)
            })?;
            // What is in sight behind the test.
            let mut found = found.into_iter();
            for function in &pass.elements {
                if let Some(values) = rows.of_elements[element].get_mut(function) {
                    *values = found.by_ref().take(values.len()).collect();
                }
            }
            for (fold, folded) in pass.folds.iter().zip(&mut folded) {
                folded.push(found.by_ref().take(fold.neutral.len()).collect::<Vec<Operand>>());
            }
        }
        Ok(folded)
    }

    fn region(&self, fold: &Folded) -> Option<FunctionId> {
        match self.computation.instructions[fold.reduction].op {
            Op::Reduce { to_apply, .. } => self.folding.regions.function(to_apply),
            _ => None,
        }
    }

    /// What the region of a reduction makes of two tuples.
    fn applied(&mut self, fold: &Folded, [one, other]: [Vec<Operand>; 2], block: &mut Block) -> Vec<Operand> {
        let Some(region) = self.region(fold) else { return one };
        let name = &self.computation.instructions[fold.reduction].name;
        self.call(region, Vec::new(), [one, other].concat(), name, block)
    }

    /// What tuples come to, neighbors with neighbors.
    fn folded(&mut self, fold: &Folded, mut tuples: Vec<Vec<Operand>>, block: &mut Block) -> Vec<Operand> {
        while tuples.len() > 1 {
            let mut pairs = Vec::with_capacity(tuples.len().div_ceil(2));
            let mut left = tuples.into_iter();
            while let Some(one) = left.next() {
                pairs.push(match left.next() {
                    Some(other) => self.applied(fold, [one, other], block),
                    None => one,
                });
            }
            tuples = pairs;
        }
        tuples.pop().unwrap_or_default()
    }

    /// What all that share a row have, for each row of the invocation: the lanes of an invocation, then members of a subgroup, which hand what they have to one another; or the invocations of a workgroup along columns.
    fn shared_by_row(&mut self, fold: &Folded, tuples: Vec<Vec<Operand>>, block: &mut Block) -> Vec<Vec<Operand>> {
        let (product, lanes) = (self.product, i64::from(self.product.lanes));
        let Some(region) = self.region(fold) else { return tuples };
        if product.tiles == TileOwner::Workgroup {
            let sharing = product.group[1] * lanes;
            return match self.folding.tuples.get(&region).copied() {
                Some(function) => {
                    let width = fold.neutral.len().max(1);
                    let all = self.collective(function, sharing, tuples.concat(), block);
                    all.chunks(width).map(<[Operand]>::to_vec).collect()
                }
                None => tuples.into_iter().map(|own| self.collective(region, sharing, own, block)).collect(),
            };
        }
        let members = product.columns / product.tile[1];
        let mut shared = Vec::with_capacity(tuples.len());
        for own in tuples {
            let own = self.collective(region, lanes, own, block);
            if members == 1 {
                shared.push(own);
                continue;
            }
            let mut of_members = Vec::new();
            for number in 0..members {
                let number = u32::try_from(number).unwrap_or(0);
                let mut of_member = Vec::with_capacity(own.len());
                for operand in &own {
                    let op = ScalarOp::Member { operand: *operand, number, apart: product.lanes };
                    let ty = self.type_of(*operand);
                    of_member.push(self.define(ty, op, "member", block));
                }
                of_members.push(of_member);
            }
            shared.push(self.folded(fold, of_members, block));
        }
        shared
    }

    /// What so many places that follow one another have, together.
    fn collective(
        &mut self,
        function: FunctionId,
        count: i64,
        operands: Vec<Operand>,
        block: &mut Block,
    ) -> Vec<Operand> {
        if count == 1 {
            return operands;
        }
        let values = self.named("whole", &operands);
        let results = values.iter().copied().map(Operand::Value).collect();
        let scope = Scope::Part { count: u32::try_from(count).unwrap_or(u32::MAX), apart: 1 };
        let (combination, tiles) = (Combination::Combine, Vec::new());
        block.statements.push(Statement::Collective { values, scope, combination, function, operands, tiles });
        results
    }

    /// Stores what is computed of the rows of an invocation, and of their elements, as many as there are.
    pub(super) fn store_rows(
        &mut self,
        results: &Results,
        rows: &Rows,
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let [count, columns] = results.counts;
        let first = [&self.place.within[1], &self.place.lane];
        let first = first.map(|index| Constraint { expr: index.clone(), bounds: Interval::point(0) });
        let first = known.open(&first);
        let mut of_rows = Block::default();
        for row in numbers(count) {
            let known = known.when(&first);
            let at = self.row_indices(results, row, &known)?;
            self.store_outputs(At { row, column: None }, &at, rows, &known, &mut of_rows)?;
        }
        if !of_rows.statements.is_empty() {
            append(first, of_rows, block);
        }
        for (row, column) in numbers(count).flat_map(|row| numbers(columns).map(move |column| (row, column))) {
            let [of_row, of_column] = [row, column].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
            let at = self.element_indices(&self.at(results, of_row, of_column)?, known)?;
            self.store_outputs(At { row, column: Some(column) }, &at, rows, known, block)?;
        }
        Ok(())
    }

    /// Stores the outputs that functions of rows compute, or those of elements.
    fn store_outputs(
        &mut self,
        at: At,
        indices: &[Expr],
        rows: &Rows,
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let yielded = match at.column {
            Some(column) => &rows.of_elements[at.row * rows.columns + column],
            None => &rows.of_rows[at.row],
        };
        for output in self.outputs {
            let function = (0..).map(weft_partition::FunctionId).nth(output.function.index());
            let Some((function, values)) = function.and_then(|own| Some((own, yielded.get(&own)?))) else { continue };
            let (mut values, mut memories) = (values.iter(), output.memories.iter());
            for root in &self.plan.function(function).roots {
                let own = results_at(&root.map, indices)?;
                let own: Vec<Expr> = own.iter().map(|index| known.simplified(index)).collect();
                let leaves = self.computation.instructions[root.instruction].shape.leaves().len();
                for ((memory, _), value) in memories.by_ref().zip(values.by_ref()).take(leaves) {
                    block.statements.push(Statement::Store { memory: *memory, indices: own.clone(), value: *value });
                }
            }
        }
        Ok(())
    }
}
