//! Rows of single invocations, which read for themselves, or keys and values for all of their subgroup.

use super::{Emission, Emit, State, count};
use crate::elemental::zero;
use crate::emit::statements::Statements;
use crate::kernel::{Block, Known, Operand, ScalarOp};
use weft_affine::Expr;
use weft_hlo::ir::BinaryOp;

impl Emission<'_> {
    /// Each invocation goes over all keys for its queries; those that no query is left for do what others do, and store nothing.
    pub(super) fn own(&mut self, known: &Known) -> Emit<Block> {
        let mut entry = Block::default();
        let attention = *self.attention;
        let (first, rows) = (self.place.first.checked_add(&self.place.own)?, attention.rows);
        let mut queries = Vec::new();
        for row in 0..rows {
            let number = first.checked_add_constant(row)?;
            queries.push(known.simplified(&number.checked_modulo(attention.queries)?));
        }
        let (whole, left) = attention.blocks();
        let begin = self.begin(rows, attention.columns / i64::from(attention.lanes)).all();
        let mut all = self.looped(whole, begin, known, &mut entry, |this, round, all, known, block| {
            let first = round.checked_mul(attention.across)?;
            this.block((&first, attention.across), &queries, all, known, block)
        })?;
        if left > 0 {
            let first = Expr::constant(whole * attention.across);
            all = self.block((&first, left), &queries, all, known, &mut entry)?;
        }
        let state = State::of(all, count(rows));
        self.store(&state, [&first, &Expr::constant(0)], &[], known, &mut entry)?;
        Ok(entry)
    }

    /// Takes in a block of so many keys from one on.
    fn block(
        &mut self,
        (first, keys): (&Expr, i64),
        queries: &[Expr],
        all: Vec<Operand>,
        known: &Known,
        block: &mut Block,
    ) -> Emit<Vec<Operand>> {
        let mut state = State::of(all, queries.len());
        let mut numbers = Vec::new();
        for key in 0..keys {
            numbers.push(first.checked_add_constant(key)?);
        }
        let sums = self.scores((first, keys), queries, known, block)?;
        let mut weights = Vec::with_capacity(sums.len());
        for (row, query) in queries.iter().enumerate() {
            let own = &sums[row * numbers.len()..][..numbers.len()];
            let mut scores = Vec::with_capacity(own.len());
            let mut maximum = state.maxima[row];
            for (key, sum) in numbers.iter().zip(own) {
                let score = self.score([query, key], *sum, known, block);
                maximum = self.binary(BinaryOp::Maximum, [maximum, score], "maximum", block);
                scores.push(score);
            }
            let (factor, of_row) = self.raised(query, [state.maxima[row], maximum], known, block);
            state.maxima[row] = maximum;
            let mut added = Vec::with_capacity(scores.len());
            for (key, score) in numbers.iter().zip(scores) {
                let [own, weight] = self.exponential(&of_row, key, score, known, block);
                added.push(own);
                weights.push(weight);
            }
            self.scaled(&mut state, row, (factor, added), block);
        }
        self.add_values((first, keys), &weights, &mut state, known, block)?;
        Ok(state.all())
    }

    /// The sums of products of the queries with so many keys from one on, row by row.
    fn scores(&mut self, keys: (&Expr, i64), queries: &[Expr], known: &Known, block: &mut Block) -> Emit<Vec<Operand>> {
        let (depth, step) = (self.attention.depth, self.attention.step);
        let (whole, left) = (depth / step, depth % step);
        let zeros = vec![Operand::Constant(zero(self.types.products)); queries.len() * count(keys.1)];
        let sums = self.looped(whole, zeros, known, block, |this, round, sums, known, block| {
            let first = round.checked_mul(step)?;
            this.products(keys, queries, (&first, step), sums, known, block)
        })?;
        match left {
            0 => Ok(sums),
            _ => self.products(keys, queries, (&Expr::constant(whole * step), left), sums, known, block),
        }
    }

    /// Adds to each score the sum of so many products from one on.
    fn products(
        &mut self,
        (key, keys): (&Expr, i64),
        queries: &[Expr],
        (first, products): (&Expr, i64),
        sums: Vec<Operand>,
        known: &Known,
        block: &mut Block,
    ) -> Emit<Vec<Operand>> {
        let attended = self.attended;
        let mut of_keys = Vec::new();
        for number in 0..keys {
            let key = key.checked_add_constant(number)?;
            of_keys.push(self.together(products, known, block, |this, place, known, block| {
                let number = first.checked_add(place)?;
                Ok(this.element(attended.key, [&key, &number], known, block))
            })?);
        }
        let mut sums = sums.into_iter();
        let mut added = Vec::with_capacity(sums.len());
        for query in queries {
            let mut of_query = Vec::new();
            for number in 0..products {
                let number = first.checked_add_constant(number)?;
                of_query.push(self.element(attended.query, [query, &number], known, block));
            }
            for of_key in &of_keys {
                let mut sum = None;
                for factors in of_query.iter().zip(of_key) {
                    let factors = [*factors.0, *factors.1];
                    sum = Some(match sum {
                        None => self.binary(BinaryOp::Multiply, factors, "product", block),
                        Some(sum) => self.multiply_add(factors, sum, block),
                    });
                }
                if let (Some(before), Some(sum)) = (sums.next(), sum) {
                    added.push(self.binary(BinaryOp::Add, [before, sum], "sum", block));
                }
            }
        }
        Ok(added)
    }

    /// So many elements, each told its place: where members of a subgroup read together, one each.
    fn together(
        &mut self,
        elements: i64,
        known: &Known,
        block: &mut Block,
        mut read: impl FnMut(&mut Self, &Expr, &Known, &mut Block) -> Emit<Operand>,
    ) -> Emit<Vec<Operand>> {
        let members = self.attention.members;
        let mut found = Vec::with_capacity(count(elements));
        let mut begin = 0;
        while begin < elements {
            let own = members.min(elements - begin);
            let place = known.simplified(&self.place.invocation.checked_modulo(own)?);
            let element = read(self, &place.checked_add_constant(begin)?, known, block)?;
            begin += own;
            if members == 1 {
                found.push(element);
                continue;
            }
            for number in 0..own {
                let (number, apart) = (u32::try_from(number).unwrap_or(0), self.attention.lanes);
                let ty = self.type_of(element);
                found.push(self.define(ty, ScalarOp::Member { operand: element, number, apart }, "element", block));
            }
        }
        Ok(found)
    }

    /// Adds the products of exponentials with the values of so many keys from one on.
    fn add_values(
        &mut self,
        (first, keys): (&Expr, i64),
        weights: &[Operand],
        state: &mut State,
        known: &Known,
        block: &mut Block,
    ) -> Emit<()> {
        let columns = self.columns(&Expr::constant(0))?;
        let attended = self.attended;
        for (number, column) in columns.iter().enumerate() {
            let values = self.together(keys, known, block, |this, place, known, block| {
                let key = first.checked_add(place)?;
                Ok(this.element(attended.value, [&key, column], known, block))
            })?;
            for row in 0..state.maxima.len() {
                let result = &mut state.results[row * columns.len() + number];
                for (weight, value) in weights[row * values.len()..].iter().zip(&values) {
                    *result = self.multiply_add([*weight, *value], *result, block);
                }
            }
        }
        Ok(())
    }
}
