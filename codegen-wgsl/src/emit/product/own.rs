//! Tiles of single invocations, which read for themselves, or the left operand for all of their subgroup.

use super::{Emission, Results};
use crate::elemental::zero;
use crate::emit::statements::Statements;
use crate::kernel::{Block, Known, Operand, ScalarOp};
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{BinaryOp, ElementType, Scalar};
use weft_hlo::passes::FourierMatrix;
use weft_partition::Product;

/// An element of the left operand, and all bits set where a window covers it, or none; nothing where that is known, or makes no difference.
struct Element {
    element: Operand,
    covered: Option<Operand>,
}

impl Emission<'_> {
    /// Each invocation computes its tile; where the last rows or columns fill none, a smaller one.
    pub(super) fn own(&mut self, known: &Known) -> Result<Block, Error> {
        let mut entry = Block::default();
        let [row, column] = self.blocks(known)?;
        let [_, columns] = self.product.blocks();
        // All invocations of a subgroup compute, those that nothing is left for what others do.
        let computed = match self.product.members {
            1 => column.clone(),
            _ => known.simplified(&column.checked_modulo(columns)?),
        };
        if self.plan.rows_of_sums().is_some() {
            let Product { tile, lanes, .. } = *self.product;
            let first = [row.checked_mul(tile[0])?, computed.checked_mul(tile[1])?.checked_add(&self.place.lane)?];
            let whole = Results { first, counts: [tile[0], tile[1] / i64::from(lanes)], wraps: true };
            let blocks = [row, column];
            let sums = |this: &mut Self, _: usize, out: &mut Block| this.tile(&whole, known, out);
            let store = |this: &mut Self, sums: &[Vec<Operand>], out: &mut Block| {
                this.store_folded(&whole, sums, &blocks, known, out)
            };
            self.each_sum(sums, store, &mut entry)?;
            return Ok(entry);
        }
        let within = Constraint { expr: column, bounds: Interval::of_extent(columns) };
        let mut emit = |this: &mut Self, results: &Results, known: &Known, out: &mut Block| {
            let open = known.open(std::slice::from_ref(&within));
            let sums = |this: &mut Self, _: usize, out: &mut Block| this.tile(results, known, out);
            let store = |this: &mut Self, sums: &[Vec<Operand>], out: &mut Block| {
                let mut then = Block::default();
                this.store(results, (sums, results.counts[1]), &known.when(&open), &mut then)?;
                super::append(open.clone(), then, out);
                Ok(())
            };
            this.each_sum(sums, store, out)
        };
        self.of_size(&[row, computed], &[], known, &mut entry, &mut emit)?;
        Ok(entry)
    }

    /// Appends what computes a tile of results: rounds that each add a step's products, or their sums.
    fn tile(&mut self, results: &Results, known: &Known, out: &mut Block) -> Result<Vec<Operand>, Error> {
        if self.product.transforms
            && let Some(matrix) = FourierMatrix::of(self.computation, self.factors.dot)
        {
            return self.transformed(results, &matrix, known, out);
        }
        let step = self.product.step;
        let [rows, columns] = results.counts;
        let count = usize::try_from(rows * columns).unwrap_or(0);
        if self.product.members == 1 && self.factors.window.is_none() {
            return self.stretches(count, known, out, |this, first, length, known, block| {
                this.looped(length / step, this.zeros(count), known, block, |this, round, sums, known, block| {
                    let first = first.checked_add_scaled(round, step)?;
                    this.looped(step, sums, known, block, |this, number, sums, known, block| {
                        this.products(results, &first.checked_add(number)?, sums, known, block)
                    })
                })
            });
        }
        self.stretches(count, known, out, |this, first, length, known, block| {
            let (whole, left) = (length / step, length % step);
            let sums = this.looped(whole, this.zeros(count), known, block, |this, round, sums, known, block| {
                this.step(results, (&first.checked_add_scaled(round, step)?, step), sums, known, block)
            })?;
            match left {
                0 => Ok(sums),
                _ => {
                    let first = first.checked_add_constant(whole * step)?;
                    this.step(results, (&first, left), sums, known, block)
                }
            }
        })
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
        let [rows, _] = results.counts;
        let beside = self.place.beside.clone();
        let rhs = self.across(results, number, known, block)?;
        let mut lhs = Vec::new();
        for row in 0..rows {
            let [row, _] = self.at(results, row, 0)?;
            lhs.push(self.factor(0, [beside.clone(), row, number.clone()], known, block)?);
        }
        Ok(self.add_products(sums, &lhs, &rhs, block))
    }

    /// The elements of a row of the right operand.
    pub(super) fn across(
        &mut self,
        results: &Results,
        number: &Expr,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let [_, columns] = results.counts;
        let beside = self.place.beside.clone();
        let mut elements = Vec::new();
        for column in 0..columns {
            let [_, column] = self.at(results, 0, column)?;
            elements.push(self.factor(1, [beside.clone(), number.clone(), column], known, block)?);
        }
        Ok(elements)
    }

    /// Adds to each sum that of so many products from a number on, which are of one place of a window, if there is one. An invocation goes from result to result, and not from product to product: so a
    /// sum is in a register once a step.
    fn step(
        &mut self,
        results: &Results,
        (first, count): (&Expr, i64),
        sums: Vec<Operand>,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let [rows, columns] = results.counts;
        if self.product.apart > 0 {
            return self.along_line(results, (first, count), sums, known, block);
        }
        let beside = self.place.beside.clone();
        let mut rhs = Vec::new();
        for number in 0..count {
            rhs.push(self.across(results, &first.checked_add_constant(number)?, known, block)?);
        }
        let mut sums = sums.into_iter();
        let mut added = Vec::new();
        for row in 0..rows {
            let [row, _] = self.at(results, row, 0)?;
            let before = (&mut sums).take(usize::try_from(columns).unwrap_or(0)).collect();
            let open = match self.product.crosses {
                true => Vec::new(),
                false => self.open(&[beside.clone(), row.clone(), first.clone()], known)?,
            };
            added.extend(self.where_holds(open, ("sum", before), known, block, |this, before, known, block| {
                let lhs = this.along(&row, (first, count), known, block)?;
                Ok(this.add_row(before, &lhs, &rhs, block))
            })?);
        }
        Ok(added)
    }

    /// Adds to the sums of a row those of the products of some elements.
    fn add_row(
        &mut self,
        before: Vec<Operand>,
        lhs: &[Element],
        rhs: &[Vec<Operand>],
        block: &mut Block,
    ) -> Vec<Operand> {
        let [multiply, add] = self.operations();
        let mut added = Vec::with_capacity(before.len());
        for (column, before) in before.into_iter().enumerate() {
            let mut sum = None;
            for (Element { element, covered }, rhs) in lhs.iter().zip(rhs) {
                let rhs = match covered {
                    Some(covered) => self.where_covered(rhs[column], *covered, block),
                    None => rhs[column],
                };
                let factors = [*element, rhs];
                sum = Some(match sum {
                    None => self.binary(multiply, factors, "product", block),
                    Some(sum) => self.multiply_add(factors, sum, block),
                });
            }
            added.push(match sum {
                None => before,
                Some(sum) => self.binary(add, [before, sum], "sum", block),
            });
        }
        added
    }

    /// The other factor of an element that a window covers, all bits set of `covered`, or zero as the element is then: it may be an infinity. Nothing goes one way or the other, as devices in software would do both.
    fn where_covered(&mut self, rhs: Operand, covered: Operand, block: &mut Block) -> Operand {
        let bits = ScalarOp::Bitcast { operand: rhs, to: ElementType::U32 };
        let bits = self.define(ElementType::U32, bits, "bits", block);
        let kept = ScalarOp::Binary { op: BinaryOp::And, operands: [bits, covered] };
        let kept = self.define(ElementType::U32, kept, "bits", block);
        self.define(self.ty, ScalarOp::Bitcast { operand: kept, to: self.ty }, "rhs", block)
    }

    /// So many elements of a row of the left operand, from a number on: where members of a subgroup read together, one each.
    fn along(
        &mut self,
        row: &Expr,
        (first, count): (&Expr, i64),
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Element>, Error> {
        let members = self.product.members;
        let beside = self.place.beside.clone();
        let mut elements = Vec::new();
        let mut begin = 0;
        while begin < count {
            let own = members.min(count - begin);
            let place = known.simplified(&self.place.within[1].checked_modulo(own)?);
            let number = first.checked_add_constant(begin)?.checked_add(&place)?;
            let element = self.covered([beside.clone(), row.clone(), number], known, block)?;
            if members == 1 {
                elements.push(element);
                begin += 1;
                continue;
            }
            let Element { element, covered } = element;
            for number in 0..own {
                let (number, apart) = (u32::try_from(number).unwrap_or(0), self.product.lanes);
                let of = |operand: Operand| ScalarOp::Member { operand, number, apart };
                let element = self.define(self.ty, of(element), "lhs", block);
                let covered = covered.map(|covered| self.define(ElementType::U32, of(covered), "covered", block));
                elements.push(Element { element, covered });
            }
            begin += own;
        }
        Ok(elements)
    }

    /// An element of the left operand; where that is still to be told, whether a window covers it.
    fn covered(&mut self, indices: [Expr; 3], known: &Known, block: &mut Block) -> Result<Element, Error> {
        let open = match self.product.crosses {
            true => self.open(&indices, known)?,
            false => Vec::new(),
        };
        if open.is_empty() {
            return Ok(Element { element: self.factor(0, indices, known, block)?, covered: None });
        }
        let [all, none] = [u32::MAX, 0].map(|bits| Operand::Constant(Scalar::U32(bits)));
        let nothing = Operand::Constant(zero(self.ty));
        let found = self.where_holds(open, ("lhs", vec![nothing, none]), known, block, |this, _, known, block| {
            Ok(vec![this.factor(0, indices, known, block)?, all])
        })?;
        let covered = found.last().copied().filter(|_| self.ty.is_float());
        Ok(Element { element: found.first().copied().unwrap_or(nothing), covered })
    }
}
