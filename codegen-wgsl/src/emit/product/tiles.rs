//! Tiles of workgroups, in their memory.

use super::super::entry::append;
use super::{Emission, Results};
use crate::elemental::zero;
use crate::kernel::{Block, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement};
use weft_affine::{Constraint, Error, Expr, Interval, Var};
use weft_hlo::ir::{ArrayShape, ElementType};
use weft_partition::Product;

/// The tile of an operand: for each of its products a row of what lies along the results.
pub(super) fn add_tile(product: &Product, operand: usize, ty: ElementType, name: String) -> Memory {
    let shape = ArrayShape::new(ty, vec![product.step, product.side(operand)]);
    Memory { name, shape, packed: None, space: Space::Workgroup, window: None, part_of: None }
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
        let own = Results { first: within.clone(), counts };
        let count = usize::try_from(counts[0] * counts[1]).unwrap_or(0);
        let is_once = depth <= step;
        let mut block = Block::default();
        let blocks = self.blocks(known)?;
        let sums = |this: &mut Self, others: usize, block: &mut Block| {
            this.stretches(count, known, block, |this, begin, length, known, block| {
                let rounds = (length + step - 1) / step;
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
        let store = |this: &mut Self, sums: &[Vec<Operand>], block: &mut Block| {
            this.of_size(&blocks, &[], known, block, &mut |this, results, known, block| {
                this.store(results, (sums, counts[1]), known, block)
            })
        };
        self.each_sum(sums, store, &mut block)?;
        Ok(block)
    }

    /// Appends what fills the tile of an operand, from a row or column of results on, and from a product on: neighbors read what lies side by side, and beyond the operand there are zeros.
    fn fill(
        &mut self,
        operand: usize,
        tile: MemoryId,
        first: [&Expr; 2],
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let (side, places) = (self.product.side(operand), self.product.places());
        let count = self.product.tile_elements(operand);
        let rounds = (count + places - 1) / places;
        let body = |this: &mut Self, round: &Expr, known: &Known, block: &mut Block| {
            let element = round.checked_mul(places)?.checked_add(&this.place.thread)?;
            let step = this.product.step;
            let (along, number) = match this.is_deep(operand) {
                true => (element.checked_floor_div(step)?, element.checked_modulo(step)?),
                false => (element.checked_modulo(side)?, element.checked_floor_div(side)?),
            };
            let [along, number] = [along, number].map(|index| known.simplified(&index));
            let open = known.open(&[Constraint { expr: element, bounds: Interval::of_extent(count) }]);
            let mut then = Block::default();
            let at = [first[0].checked_add(&along)?, first[1].checked_add(&number)?];
            let value = this.element(operand, at, &known.when(&open), &mut then)?;
            then.statements.push(Statement::Store { memory: tile, indices: vec![number, along], value });
            append(open, then, block);
            Ok::<(), Error>(())
        };
        self.looped(rounds, Vec::new(), known, block, |this, round, none, known, block| {
            body(this, round, known, block)?;
            Ok(none)
        })?;
        Ok(())
    }

    /// Whether an operand has side by side what is contracted.
    fn is_deep(&self, operand: usize) -> bool {
        let (function, depth) = [(self.factors.lhs, 2), (self.factors.rhs, 1)][operand];
        let root = self.plan.function(function).roots.first().map(|root| &root.map);
        let map = self.factors.window.as_ref().filter(|_| operand == 0).or(root);
        let fastest = map.and_then(|map| map.results().last());
        fastest.is_some_and(|fastest| fastest.variables().contains(&Var::Dim(depth)))
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
        let nothing = self.zeros(1);
        let elements =
            self.where_holds(open, ("element", nothing.clone()), known, block, |this, _, known, block| {
                Ok(vec![this.factor(operand, indices, known, block)?])
            })?;
        Ok(elements.into_iter().chain(nothing).next().unwrap_or(Operand::Constant(zero(self.ty))))
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
            rhs.push(self.define(self.ty, op, "rhs", block));
        }
        for row in 0..rows {
            let [row, _] = self.at(own, row, 0)?;
            let op = ScalarOp::Extract { memory: tiles[0], indices: vec![number.clone(), row] };
            lhs.push(self.define(self.ty, op, "lhs", block));
        }
        let mut sums = sums.into_iter();
        let mut added = Vec::new();
        for (row, lhs) in (0..rows).zip(lhs) {
            let before = (&mut sums).take(rhs.len()).collect();
            let open = match self.ty.is_float() {
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
