//! Tiles of workgroups, in their memory.

use super::super::entry::append;
use super::{Emission, Results};
use crate::elemental::zero;
use crate::emit::statements::Statements;
use crate::kernel::{Block, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement};
use weft_affine::{Constraint, Error, Expr, Interval, Var};
use weft_hlo::ir::{ArrayShape, ElementType};
use weft_partition::{Factors, FusionPlan, Product};

/// The tile of an operand: for each of its products a row of what lies along the results. Neighbors that read what is contracted side by side store to several rows at once, which lie a vector further apart then, so
/// that they are in different banks of memory: of 4096³ `f32` an NVIDIA H100 makes 42.9 TFLOP/s, and 38.6 without. One that matrices are taken from has a row for each of what lies along the results, if what is contracted lies side by side.
pub(super) fn add_tile(product: &Product, (operand, is_deep): (usize, bool), ty: ElementType, name: String) -> Memory {
    let extents = match (product.matrices, is_deep) {
        (None, is_deep) => [product.step, product.side(operand) + if is_deep { Product::BETWEEN_PRODUCTS } else { 0 }],
        (Some(_), true) => [product.side(operand), product.step + Product::between_rows(ty)],
        (Some(_), false) => [product.step, product.side(operand) + Product::between_rows(ty)],
    };
    let shape = ArrayShape::new(ty, extents.to_vec());
    Memory::new(name, shape, Space::Workgroup)
}

/// Whether an operand has side by side what is contracted.
pub(super) fn is_deep(plan: &FusionPlan, factors: &Factors, operand: usize) -> bool {
    let (function, depth) = [(factors.lhs, 2), (factors.rhs, 1)][operand];
    let root = plan.function(function).roots.first().map(|root| &root.map);
    let map = factors.window.as_ref().filter(|_| operand == 0).or(root);
    let fastest = map.and_then(|map| map.results().last());
    fastest.is_some_and(|fastest| fastest.variables().contains(&Var::Dim(depth)))
}

impl Emission<'_> {
    /// The invocations of a workgroup fill the tiles of both operands, wait, and add the products of these; and so on.
    pub(super) fn shared(&mut self, tiles: [MemoryId; 2], known: &Known) -> Result<Block, Error> {
        let Product { tile, group, depth, step, lanes, .. } = *self.product;
        let place = self.place;
        let within = |dimension: usize| {
            let own = place.within[dimension].checked_mul(tile[dimension])?;
            if dimension == 0 { Ok(own) } else { own.checked_add(&place.lane) }
        };
        let first = |dimension: usize| place.group[dimension].checked_mul(tile[dimension] * group[dimension]);
        let (within, first) = ([within(0)?, within(1)?], [first(0)?, first(1)?]);
        let counts = [tile[0], tile[1] / i64::from(lanes)];
        let own = Results { first: within.clone(), counts, wraps: false };
        let count = usize::try_from(counts[0] * counts[1]).unwrap_or(0);
        let is_once = depth <= step;
        let mut block = Block::default();
        let blocks = self.blocks(known)?;
        let sums = |this: &mut Self, others: usize, block: &mut Block| {
            this.stretches(count, known, block, |this, begin, length, known, block| {
                let rounds = (length + step - 1) / step;
                if this.product.ahead && rounds > 1 {
                    return this.ahead((&own, tiles, &first), (begin, rounds), count, known, block);
                }
                this.looped(rounds, this.zeros(count), known, block, |this, round, sums, known, block| {
                    let begin = begin.checked_add_scaled(round, step)?;
                    for operand in 0..2 {
                        this.fill(operand, tiles[operand], [&first[operand], &begin], known, block)?;
                    }
                    block.statements.push(Statement::Barrier);
                    let sums = this.looped(step, sums, known, block, |this, number, sums, known, block| {
                        let at = [&first[0], &begin];
                        this.products_of_tiles(&own, (tiles, at), number, sums, known, block)
                    })?;
                    if !is_once || others > 0 {
                        block.statements.push(Statement::Barrier);
                    }
                    Ok(sums)
                })
            })
        };
        let is_folded = self.plan.rows_of_sums().is_some();
        let begin = [first[0].checked_add(&within[0])?, first[1].checked_add(&within[1])?];
        let whole = Results { first: begin, counts, wraps: true };
        let store = |this: &mut Self, sums: &[Vec<Operand>], block: &mut Block| {
            if is_folded {
                return this.store_folded(&whole, sums, &blocks, known, block);
            }
            this.of_size(&blocks, &[], known, block, &mut |this, results, known, block| {
                this.store(results, (sums, counts[1]), known, block)
            })
        };
        self.each_sum(sums, store, &mut block)?;
        Ok(block)
    }

    /// The sums of a stretch, of which each round puts into the tiles what was read before, and reads what the next round puts there while it adds products: memory answers in that time.
    fn ahead(
        &mut self,
        (own, tiles, first): (&Results, [MemoryId; 2], &[Expr; 2]),
        (begin, rounds): (&Expr, i64),
        count: usize,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let step = self.product.step;
        let read = |this: &mut Self, begin: &Expr, known: &Known, block: &mut Block| {
            let mut elements = Vec::new();
            for (operand, first) in first.iter().enumerate() {
                for part in 0..this.parts(operand) {
                    elements.push(this.read_part(operand, part, [first, begin], known, block)?);
                }
            }
            Ok::<Vec<Operand>, Error>(elements)
        };
        let mut carried = self.zeros(count);
        carried.extend(read(self, begin, known, block)?);
        let mut sums = self.looped(rounds, carried, known, block, |this, round, mut sums, known, block| {
            let mut elements = sums.split_off(count).into_iter();
            for (operand, tile) in tiles.into_iter().enumerate() {
                for part in 0..this.parts(operand) {
                    if let Some(element) = elements.next() {
                        this.store_part(operand, tile, part, element, known, block)?;
                    }
                }
            }
            block.statements.push(Statement::Barrier);
            let next = begin.checked_add_scaled(round, step)?.checked_add_constant(step)?;
            let next = read(this, &next, known, block)?;
            let at = [&first[0], &begin.checked_add_scaled(round, step)?];
            for number in 0..step {
                let number = Expr::constant(number);
                sums = this.products_of_tiles(own, (tiles, at), &number, sums, known, block)?;
            }
            block.statements.push(Statement::Barrier);
            sums.extend(next);
            Ok(sums)
        })?;
        sums.truncate(count);
        Ok(sums)
    }

    /// How many elements of an operand's tile each place of the workgroup has.
    pub(super) fn parts(&self, operand: usize) -> i64 {
        let (count, places) = (self.product.tile_elements(operand), self.product.places());
        (count + places - 1) / places
    }

    /// Of an element of an operand's tile that a place has: its number in the order in which neighbors read, where it lies along the results and which product it is of, and what tells whether there is one.
    fn part(&self, operand: usize, part: &Expr, known: &Known) -> Result<([Expr; 2], Vec<Constraint>), Error> {
        let (side, places, step) = (self.product.side(operand), self.product.places(), self.product.step);
        let element = part.checked_mul(places)?.checked_add(&self.place.thread)?;
        let (along, number) = match is_deep(self.plan, self.factors, operand) {
            true => (element.checked_floor_div(step)?, element.checked_modulo(step)?),
            false => (element.checked_modulo(side)?, element.checked_floor_div(side)?),
        };
        let bounds = Interval::of_extent(self.product.tile_elements(operand));
        let open = known.open(&[Constraint { expr: element, bounds }]);
        Ok(([along, number].map(|index| known.simplified(&index)), open))
    }

    /// Reads an element of an operand's tile; zero where the tile or the operand has none.
    pub(super) fn read_part(
        &mut self,
        operand: usize,
        part: i64,
        first: [&Expr; 2],
        known: &Known,
        block: &mut Block,
    ) -> Result<Operand, Error> {
        let ([along, number], open) = self.part(operand, &Expr::constant(part), known)?;
        let at = [first[0].checked_add(&along)?, first[1].checked_add(&number)?];
        self.or_zero(open, known, block, |this, known, block| this.element(operand, at, known, block))
    }

    /// What is computed where some tests hold; zero elsewhere.
    pub(super) fn or_zero(
        &mut self,
        open: Vec<Constraint>,
        known: &Known,
        block: &mut Block,
        emit: impl FnOnce(&mut Self, &Known, &mut Block) -> Result<Operand, Error>,
    ) -> Result<Operand, Error> {
        let nothing = Operand::Constant(zero(self.factor));
        let elements = self.where_holds(open, ("element", vec![nothing]), known, block, |this, _, known, block| {
            Ok(vec![emit(this, known, block)?])
        })?;
        Ok(elements.first().copied().unwrap_or(nothing))
    }

    /// Puts an element into an operand's tile.
    pub(super) fn store_part(
        &mut self,
        operand: usize,
        tile: MemoryId,
        part: i64,
        value: Operand,
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let ([along, number], open) = self.part(operand, &Expr::constant(part), known)?;
        let store = Statement::Store { memory: tile, indices: self.in_tile(operand, number, along), value };
        append(open, Block { statements: vec![store], results: Vec::new() }, block);
        Ok(())
    }

    /// Appends what fills the tile of an operand, from a row or column of results on, and from a product on: neighbors read what lies side by side, and beyond the operand there are zeros.
    pub(super) fn fill(
        &mut self,
        operand: usize,
        tile: MemoryId,
        first: [&Expr; 2],
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let rounds = self.parts(operand);
        let body = |this: &mut Self, round: &Expr, known: &Known, block: &mut Block| {
            let ([along, number], open) = this.part(operand, round, known)?;
            let mut then = Block::default();
            let at = [first[0].checked_add(&along)?, first[1].checked_add(&number)?];
            let value = this.element(operand, at, &known.when(&open), &mut then)?;
            let indices = this.in_tile(operand, number, along);
            then.statements.push(Statement::Store { memory: tile, indices, value });
            append(open, then, block);
            Ok::<(), Error>(())
        };
        self.looped(rounds, Vec::new(), known, block, |this, round, none, known, block| {
            body(this, round, known, block)?;
            Ok(none)
        })?;
        Ok(())
    }

    /// Whether the tile of an operand has a row for each of what lies along the results: that of matrices is as the first sum wants it.
    pub(super) fn is_tile_deep(&self, operand: usize) -> bool {
        let first = self.plan.factors().first().filter(|_| self.product.matrices.is_some());
        first.is_some_and(|factors| is_deep(self.plan, factors, operand))
    }

    /// The indices in the tile of an operand of a product's number and what lies along the results.
    pub(super) fn in_tile(&self, operand: usize, number: Expr, along: Expr) -> Vec<Expr> {
        if self.is_tile_deep(operand) { vec![along, number] } else { vec![number, along] }
    }

    /// The element of an operand for a row or a column of results, and a product; zero where there is none.
    fn element(&mut self, operand: usize, at: [Expr; 2], known: &Known, block: &mut Block) -> Result<Operand, Error> {
        let Product { rows, columns, depth, .. } = *self.product;
        let extents = [[rows, columns][operand], depth];
        let within =
            |(index, extent): (&Expr, i64)| Constraint { expr: index.clone(), bounds: Interval::of_extent(extent) };
        let tests: Vec<Constraint> = at.iter().zip(extents).map(within).collect();
        let mut open = known.open(&tests);
        let [along, number] = at;
        let beside = self.place.beside.clone();
        let indices = if operand == 0 { [beside, along, number] } else { [beside, number, along] };
        if operand == 0 {
            open.extend(self.open(&indices, &known.when(&open))?);
        }
        self.or_zero(open, known, block, |this, known, block| this.factor(operand, indices, known, block))
    }

    /// Adds the products of a number, of elements of the tiles, which begin with a row and a number. What a window does not cover is zero there, which makes no difference to sums of integers; of floats
    /// the other operand may be none.
    fn products_of_tiles(
        &mut self,
        own: &Results,
        (tiles, [first, begin]): ([MemoryId; 2], [&Expr; 2]),
        number: &Expr,
        sums: Vec<Operand>,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let [rows, columns] = own.counts;
        let (mut lhs, mut rhs) = (Vec::new(), Vec::new());
        for column in 0..columns {
            let [_, column] = self.at(own, 0, column)?;
            let op = ScalarOp::Extract { memory: tiles[1], indices: vec![number.clone(), column] };
            rhs.push(self.define(self.factor, op, "rhs", block));
        }
        for row in 0..rows {
            let [row, _] = self.at(own, row, 0)?;
            let op = ScalarOp::Extract { memory: tiles[0], indices: vec![number.clone(), row] };
            lhs.push(self.define(self.factor, op, "lhs", block));
        }
        let mut sums = sums.into_iter();
        let mut added = Vec::new();
        for (row, lhs) in (0..rows).zip(lhs) {
            let before = (&mut sums).take(rhs.len()).collect();
            let open = match self.has_infinities() {
                true => {
                    let [row, _] = self.at(own, row, 0)?;
                    let (row, number) = (first.checked_add(&row)?, begin.checked_add(number)?);
                    self.open(&[self.place.beside.clone(), row, number], known)?
                }
                false => Vec::new(),
            };
            added.extend(self.where_holds(open, ("sum", before), known, block, |this, before, _, block| {
                Ok(this.add_products(before, &[lhs], &rhs, block))
            })?);
        }
        Ok(added)
    }
}
