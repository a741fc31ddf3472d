//! Tiles of single invocations, which read for themselves.

use super::{Emission, Results};
use crate::kernel::{Block, Known, Operand};
use weft_affine::{Error, Expr};

impl Emission<'_> {
    /// Each invocation computes its tile; where the last rows or columns fill none, a smaller one.
    pub(super) fn own(&mut self, known: &Known) -> Result<Block, Error> {
        let mut entry = Block::default();
        let blocks = self.blocks(known)?;
        self.of_size(&blocks, &[], known, &mut entry, &mut |this, results, known, out| this.tile(results, known, out))?;
        Ok(entry)
    }

    /// Appends a tile of results.
    fn tile(&mut self, results: &Results, known: &Known, out: &mut Block) -> Result<(), Error> {
        let step = self.product.step;
        let [rows, columns] = results.counts;
        let count = usize::try_from(rows * columns).unwrap_or(0);
        let sums = |this: &mut Self, _: usize, out: &mut Block| {
            this.stretches(count, known, out, |this, first, length, known, block| {
                this.looped(length / step, this.zeros(count), known, block, |this, round, sums, known, block| {
                    let first = first.checked_add_scaled(round, step)?;
                    this.looped(step, sums, known, block, |this, number, sums, known, block| {
                        this.products(results, &first.checked_add(number)?, sums, known, block)
                    })
                })
            })
        };
        self.each_sum(sums, |this, sums, out| this.store(results, (sums, columns), known, out), out)
    }

    /// Adds the products of a number.
    fn products(
        &mut self,
        results: &Results,
        number: &Expr,
        sums: Vec<Operand>,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let [rows, columns] = results.counts;
        let beside = self.place.beside.clone();
        let mut rhs = Vec::new();
        for column in 0..columns {
            let [_, column] = self.at(results, 0, column)?;
            rhs.push(self.factor(1, [beside.clone(), number.clone(), column], known, block));
        }
        let mut lhs = Vec::new();
        for row in 0..rows {
            let [row, _] = self.at(results, row, 0)?;
            lhs.push(self.factor(0, [beside.clone(), row, number.clone()], known, block));
        }
        Ok(self.add_products(sums, &lhs, &rhs, block))
    }
}
