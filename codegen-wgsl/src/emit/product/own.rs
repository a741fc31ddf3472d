//! Tiles of single invocations, which read for themselves, or the left operand for all of their subgroup.

use super::{Emission, Results};
use crate::elemental::zero;
use crate::emit::statements::Statements;
use crate::kernel::{Block, Known, Operand, ScalarOp};
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{BinaryOp, ElementType, Scalar};
use weft_hlo::passes::FourierMatrix;
use weft_partition::{Product, Schedule};

/// Elements of the left operand that follow one another and are of one place of a window, and all bits set where that covers them, or none; nothing where it is known, or makes no difference.
struct Elements {
    elements: Vec<Operand>,
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

    /// Adds to each sum that of so many products from a number on, which are of one place of a window, or of [several](Product::crosses), if there is one. An invocation goes from result to result, and not from product to product: so a
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
        // On devices in software a branch takes longer than to set to zero what is not covered, of sums of a word.
        let branches = self.target.effective_schedule() == Schedule::Gpu || self.product.words > 1;
        let mut sums = sums.into_iter();
        let mut added = Vec::new();
        for row in 0..rows {
            let [row, _] = self.at(results, row, 0)?;
            let before = (&mut sums).take(usize::try_from(columns).unwrap_or(0)).collect();
            let open = match branches {
                true => self.open(&[beside.clone(), row.clone(), first.clone()], known)?,
                false => Vec::new(),
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
        lhs: &[Elements],
        rhs: &[Vec<Operand>],
        block: &mut Block,
    ) -> Vec<Operand> {
        let [multiply, add] = self.operations();
        let mut added = Vec::with_capacity(before.len());
        for (column, before) in before.into_iter().enumerate() {
            let mut rhs = rhs.iter();
            let mut sum: Option<Operand> = None;
            for Elements { elements, covered } in lhs {
                let mut own = if covered.is_none() { sum.take() } else { None };
                for (element, rhs) in elements.iter().zip(&mut rhs) {
                    let factors = [*element, rhs[column]];
                    own = Some(match own {
                        None => self.binary(multiply, factors, "product", block),
                        Some(own) => self.multiply_add(factors, own, block),
                    });
                }
                let own = own.map(|own| match covered {
                    Some(covered) => self.where_covered(own, *covered, block),
                    None => own,
                });
                sum = match (sum, own) {
                    (Some(sum), Some(own)) => Some(self.binary(add, [sum, own], "sum", block)),
                    (sum, own) => own.or(sum),
                };
            }
            added.push(match sum {
                None => before,
                Some(sum) => self.binary(add, [before, sum], "sum", block),
            });
        }
        added
    }

    /// A sum of products with elements that a window covers, all bits set of `covered`, or zero. The elements are zeros then, but the other factors may be infinities. Nothing goes one way or the other.
    fn where_covered(&mut self, sum: Operand, covered: Operand, block: &mut Block) -> Operand {
        let bits = ScalarOp::Bitcast { operand: sum, to: ElementType::U32 };
        let bits = self.define(ElementType::U32, bits, "bits", block);
        let kept = ScalarOp::Binary { op: BinaryOp::And, operands: [bits, covered] };
        let kept = self.define(ElementType::U32, kept, "bits", block);
        self.define(self.ty, ScalarOp::Bitcast { operand: kept, to: self.ty }, "sum", block)
    }

    /// So many elements of a row of the left operand, from a number on: where members of a subgroup read together, one each.
    fn along(
        &mut self,
        row: &Expr,
        (first, count): (&Expr, i64),
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Elements>, Error> {
        let Product { members, crosses, .. } = *self.product;
        let beside = self.place.beside.clone();
        let mut own = Vec::new();
        for begin in (0..count).step_by(usize::try_from(members).unwrap_or(1)) {
            let place = known.simplified(&self.place.within[1].checked_modulo(members.min(count - begin))?);
            own.push([beside.clone(), row.clone(), first.checked_add_constant(begin)?.checked_add(&place)?]);
        }
        if crosses == 0 {
            let open = self.open(&[beside, row.clone(), first.clone()], known)?;
            let (read, covered) = self.where_covers(open, &own, known, block)?;
            let elements = (0..count).map(|number| self.of_member(&read, number, block)).collect();
            return Ok(vec![Elements { elements, covered }]);
        }
        let (mut read, mut covers, mut is_open) = (Vec::new(), Vec::new(), false);
        for indices in own {
            let open = self.open(&indices, known)?;
            let (element, covered) = self.where_covers(open, &[indices], known, block)?;
            read.extend(element);
            is_open |= covered.is_some();
            covers.push(covered.unwrap_or(Operand::Constant(Scalar::U32(u32::MAX))));
        }
        let mut all = Vec::new();
        for begin in (0..count).step_by(usize::try_from(crosses).unwrap_or(1)) {
            let end = count.min(begin + crosses);
            let elements = (begin..end).map(|number| self.of_member(&read, number, block)).collect();
            let covered = is_open.then(|| self.of_member(&covers, begin, block));
            all.push(Elements { elements, covered });
        }
        Ok(all)
    }

    /// Of what members of the subgroup read each for themselves, one after the other, that of a number.
    fn of_member(&mut self, read: &[Operand], number: i64, block: &mut Block) -> Operand {
        let members = self.product.members;
        let operand = read[usize::try_from(number / members).unwrap_or(0)];
        if members == 1 || matches!(operand, Operand::Constant(_)) {
            return operand;
        }
        let number = u32::try_from(number % members).unwrap_or(0);
        let (ty, apart) = (self.type_of(operand), self.product.lanes);
        self.define(ty, ScalarOp::Member { operand, number, apart }, "lhs", block)
    }

    /// Elements of the left operand of one place of a window, zeros where that covers none; where that is still to be told, whether it does.
    fn where_covers(
        &mut self,
        open: Vec<Constraint>,
        all: &[[Expr; 3]],
        known: &Known,
        block: &mut Block,
    ) -> Result<(Vec<Operand>, Option<Operand>), Error> {
        let read = |this: &mut Self, known: &Known, block: &mut Block| {
            all.iter().map(|indices| this.factor(0, indices.clone(), known, block)).collect::<Result<Vec<_>, Error>>()
        };
        if open.is_empty() {
            return Ok((read(self, known, block)?, None));
        }
        let [every, none] = [u32::MAX, 0].map(|bits| Operand::Constant(Scalar::U32(bits)));
        let is_told = self.has_infinities();
        let mut nothing = vec![Operand::Constant(zero(self.ty)); all.len()];
        nothing.extend(is_told.then_some(none));
        let mut found = self.where_holds(open, ("lhs", nothing), known, block, |this, _, known, block| {
            let mut found = read(this, known, block)?;
            found.extend(is_told.then_some(every));
            Ok(found)
        })?;
        let covered = if is_told { found.pop() } else { None };
        Ok((found, covered))
    }
}
