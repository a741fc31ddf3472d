//! Tiles of invocations whose columns read each its own of the left operand, along a line of places.

use super::{Emission, Results};
use crate::emit::statements::Statements;
use crate::kernel::{Block, Known, Operand};
use weft_affine::{Constraint, Error, Expr};

/// A product of a result.
struct Term {
    /// The result, by its place among those of the tile, its column there, and the place of the product among those that are added.
    result: usize,
    column: usize,
    number: usize,
    /// The indices `(o, r, k, c)` of the left operand's element.
    indices: [Expr; 4],
    /// What has to be tested still for a window to cover it.
    open: Vec<Constraint>,
}

impl Emission<'_> {
    /// Adds to each sum so many products from a number on. What the windows of several results cover is read once.
    ///
    /// What all products demand is tested once; of the rest those that nothing is open of are added first, and then those of an element where a window covers it. There is no other way through for tiles that windows cover
    /// everywhere: devices in software go both.
    pub(super) fn along_line(
        &mut self,
        results: &Results,
        (first, count): (&Expr, i64),
        sums: Vec<Operand>,
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let terms = self.terms(results, (first, count), known)?;
        let Some(one) = terms.first() else { return Ok(sums) };
        let is_common = |test: &&Constraint| terms.iter().all(|term| term.open.contains(test));
        let common: Vec<Constraint> = one.open.iter().filter(is_common).cloned().collect();
        self.where_holds(common, ("sum", sums), known, block, |this, sums, known, block| {
            let mut rhs = Vec::new();
            for number in 0..count {
                rhs.push(this.across(results, &first.checked_add_constant(number)?, known, block)?);
            }
            let terms = this.terms(results, (first, count), known)?;
            this.one_by_one(&terms, sums, &rhs, known, block)
        })
    }

    /// The products from a number on of all results, but for those whose place no window covers.
    fn terms(&self, results: &Results, (first, count): (&Expr, i64), known: &Known) -> Result<Vec<Term>, Error> {
        let [rows, columns] = results.counts;
        let mut terms = Vec::new();
        for (number, place) in (0..count).zip(0..) {
            let product = first.checked_add_constant(number)?;
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                let [at_row, at_column] = self.at(results, row, column)?;
                let indices = [self.place.beside.clone(), at_row, product.clone(), at_column];
                let open = self.open(&indices, known)?;
                if open.iter().any(|test| test.bounds.is_empty()) {
                    continue;
                }
                let [result, column] = [row * columns + column, column].map(|it| usize::try_from(it).unwrap_or(0));
                terms.push(Term { result, column, number: place, indices, open });
            }
        }
        Ok(terms)
    }

    /// Adds products, those that demand the same together where that holds.
    fn one_by_one(
        &mut self,
        terms: &[Term],
        mut sums: Vec<Operand>,
        rhs: &[Vec<Operand>],
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let mut groups: Vec<Vec<&Term>> = Vec::new();
        for term in terms {
            match groups.iter_mut().find(|group| group[0].open == term.open) {
                Some(group) => group.push(term),
                None => groups.push(vec![term]),
            }
        }
        groups.sort_by_key(|group| !group[0].open.is_empty());
        for group in groups {
            let mut touched: Vec<usize> = group.iter().map(|term| term.result).collect();
            touched.sort_unstable();
            touched.dedup();
            let before = touched.iter().map(|result| sums[*result]).collect();
            let open = group[0].open.clone();
            let added = self.where_holds(open, ("sum", before), known, block, |this, before, known, block| {
                let mut all = sums.clone();
                touched.iter().zip(before).for_each(|(result, sum)| all[*result] = sum);
                let all = this.add_terms(&group, all, rhs, known, block)?;
                Ok(touched.iter().map(|result| all[*result]).collect())
            })?;
            touched.iter().zip(added).for_each(|(result, sum)| sums[*result] = sum);
        }
        Ok(sums)
    }

    /// Adds products to sums.
    fn add_terms(
        &mut self,
        terms: &[&Term],
        mut sums: Vec<Operand>,
        rhs: &[Vec<Operand>],
        known: &Known,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let mut read: Vec<(Vec<Expr>, Operand)> = Vec::new();
        for term in terms {
            let indices = self.factor_indices(0, &term.indices, known)?;
            let lhs = match read.iter().find(|(known, _)| *known == indices) {
                Some((_, element)) => *element,
                None => {
                    let element = self.factor_at(0, indices.clone(), block);
                    read.push((indices, element));
                    element
                }
            };
            let factors = [lhs, rhs[term.number][term.column]];
            sums[term.result] = self.multiply_add(factors, sums[term.result], block);
        }
        Ok(sums)
    }
}
