//! Tiles of workgroups, in their memory.

use super::{Emission, Emit, State, combining, count, within};
use crate::elemental::{element_type, zero};
use crate::emit::entry::append;
use crate::emit::loops::sum_type;
use crate::emit::statements::Statements;
use crate::kernel::{
    Block, Combination, Function, FunctionId, Known, Memory, MemoryId, Operand, ScalarOp, Scope, Space, Statement,
};
use crate::wgsl::Names;
use weft_affine::{Constraint, Error, Expr, Var};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape, BinaryOp, Computation, ElementType};
use weft_partition::{Attended, Attention};

/// What the invocations of a workgroup share.
pub(in crate::emit) struct Shared {
    /// Tiles of queries and of keys, with a row for each product, and of values, with a row for each key.
    operands: [MemoryId; 3],
    /// The tile of exponentials, with a row for each query.
    weights: MemoryId,
    /// The functions by which scores are compared, and sums added up: of each query of an invocation.
    greatest: FunctionId,
    total: FunctionId,
}

impl Shared {
    pub(super) fn add(
        attention: &Attention,
        computation: &Computation,
        attended: &Attended,
        (memories, functions): (&mut Arena<MemoryId, Memory>, &mut Arena<FunctionId, Function>),
        names: &mut Names,
    ) -> Shared {
        let [products, sums] = [attended.scores, attended.result].map(|dot| sum_type(computation, dot));
        let types = [products, products, sums, sums];
        let named = ["queries.tile", "keys.tile", "values.tile", "weights.tile"].into_iter().zip(types);
        let tiles: Vec<MemoryId> = named
            .zip(attention.tile_extents())
            .map(|((name, ty), extents)| {
                let (name, shape) = (names.take(name), ArrayShape::new(ty, extents.to_vec()));
                let space = Space::Workgroup;
                memories.push(Memory::new(name, shape, space))
            })
            .collect();
        let score = computation.instructions[attended.maximum].operands[0];
        let score = element_type(&computation.instructions[score]);
        let rows = count(attention.rows);
        let mut combining = |name: &str, op, ty: ElementType| {
            let function = combining(names.take(name), op, (ty, rows));
            let id = FunctionId::from_index(functions.len());
            functions.push(function);
            id
        };
        Shared {
            operands: [tiles[0], tiles[1], tiles[2]],
            weights: tiles[3],
            greatest: combining("greatest", BinaryOp::Maximum, score),
            total: combining("total", BinaryOp::Add, super::SUM),
        }
    }
}

/// A tile of queries, of keys or of values: which of them, and what the first of its rows and of its columns are.
#[derive(Copy, Clone)]
struct Tile<'t> {
    operand: usize,
    number: &'t Expr,
    along: &'t Expr,
}

impl Emission<'_> {
    /// The invocations of a workgroup go over blocks of keys together.
    pub(super) fn shared(&mut self, shared: &Shared, known: &Known) -> Emit<Block> {
        let mut entry = Block::default();
        let attention = *self.attention;
        let lanes = i64::from(attention.lanes);
        let own = (attention.rows, attention.own_columns() / lanes);
        let blocks = (attention.keys + attention.block() - 1) / attention.block();
        let begin = self.begin(own.0, own.1).all();
        let all = self.looped(blocks, begin, known, &mut entry, |this, round, all, known, block| {
            let first = round.checked_mul(attention.block())?;
            let state = State::of(all, count(attention.rows));
            Ok(this.shared_block(shared, &first, state, known, block)?.all())
        })?;
        let mut state = State::of(all, count(attention.rows));
        state.sums = self.combined(shared.total, state.sums, &mut entry);
        let first = self.place.across.checked_mul(attention.own_columns())?;
        let query = self.place.first.checked_add(&self.place.own)?;
        self.store(&state, [&query, &first], &[], known, &mut entry)?;
        Ok(entry)
    }

    /// The number of a query of the invocation.
    fn query(&self, row: usize) -> Result<Expr, Error> {
        let first = self.place.first.checked_add(&self.place.own)?;
        first.checked_add_constant(i64::try_from(row).unwrap_or(i64::MAX))
    }

    /// Takes in a block of keys from one on.
    fn shared_block(
        &mut self,
        shared: &Shared,
        first: &Expr,
        mut state: State,
        known: &Known,
        block: &mut Block,
    ) -> Emit<State> {
        let attention = *self.attention;
        let lanes = i64::from(attention.lanes);
        let (rows, across) = (count(attention.rows), count(attention.across / lanes));
        let mut own_keys = Vec::with_capacity(across);
        let own = self.place.across.checked_mul(attention.across)?.checked_add(&self.place.lane)?;
        for number in 0..attention.across / lanes {
            own_keys.push(own.checked_add_constant(number * lanes)?);
        }
        let sums = self.shared_scores(shared, first, &own_keys, known, block)?;
        let mut scores = Vec::with_capacity(sums.len());
        let least = Operand::Constant(self.attended.least);
        let mut maxima = Vec::with_capacity(rows);
        for row in 0..rows {
            let query = self.query(row)?;
            let mut greatest = None;
            for (number, own) in own_keys.iter().enumerate() {
                let key = first.checked_add(own)?;
                let open = known.open(&[within(&query, attention.queries), within(&key, attention.keys)]);
                let sum = sums[row * across + number];
                let found = self.where_holds(open, ("score", vec![least]), known, block, |this, _, known, block| {
                    Ok(vec![this.score([&query, &key], sum, known, block)])
                })?;
                let score = found.first().copied().unwrap_or(least);
                scores.push(score);
                greatest = Some(match greatest {
                    None => score,
                    Some(other) => self.binary(BinaryOp::Maximum, [other, score], "maximum", block),
                });
            }
            maxima.push(greatest.unwrap_or(least));
        }
        let maxima = self.combined(shared.greatest, maxima, block);
        for (row, maximum) in maxima.into_iter().enumerate() {
            let query = self.query(row)?;
            let maximum = self.binary(BinaryOp::Maximum, [state.maxima[row], maximum], "maximum", block);
            let open = known.open(&[within(&query, attention.queries)]);
            let zeros = [super::SUM, self.types.sums].map(|ty| Operand::Constant(zero(ty)));
            let before = state.maxima[row];
            let mut added = Vec::with_capacity(across);
            let own: Vec<Operand> = scores[row * across..(row + 1) * across].to_vec();
            let elsewhere: Vec<Operand> = std::iter::once(zeros[0]).chain(own.iter().flat_map(|_| zeros)).collect();
            let found = self.where_holds(open, ("row", elsewhere), known, block, |this, _, known, block| {
                let (factor, of_row) = this.raised(&query, [before, maximum], known, block);
                let mut found = vec![factor];
                for (own, score) in own_keys.iter().zip(own) {
                    let key = first.checked_add(own)?;
                    let open = known.open(&[within(&key, attention.keys)]);
                    found.extend(this.where_holds(
                        open,
                        ("weight", zeros.to_vec()),
                        known,
                        block,
                        |this, _, known, block| Ok(this.exponential(&of_row, &key, score, known, block).to_vec()),
                    )?);
                }
                Ok(found)
            })?;
            let (factor, found) = found.split_first().map_or((zeros[0], &[][..]), |(factor, found)| (*factor, found));
            let row_of_tile = self.place.own.checked_add_constant(i64::try_from(row).unwrap_or(i64::MAX))?;
            for (pair, own) in found.chunks(2).zip(&own_keys) {
                added.extend(pair.first());
                let value = pair.last().copied().unwrap_or(zeros[1]);
                let indices = vec![known.simplified(&row_of_tile), known.simplified(own)];
                block.statements.push(Statement::Store { memory: shared.weights, indices, value });
            }
            state.maxima[row] = maximum;
            self.scaled(&mut state, row, (factor, added), block);
        }
        self.shared_values(shared, first, state, known, block)
    }

    /// The sums of products of the invocation's queries and keys, of which the tile has these numbers.
    fn shared_scores(
        &mut self,
        shared: &Shared,
        first: &Expr,
        own_keys: &[Expr],
        known: &Known,
        block: &mut Block,
    ) -> Emit<Vec<Operand>> {
        let attention = *self.attention;
        let (step, rows) = (attention.step, count(attention.rows));
        let zeros = vec![Operand::Constant(zero(self.types.products)); rows * own_keys.len()];
        let rounds = (attention.depth + step - 1) / step;
        self.looped(rounds, zeros, known, block, |this, round, sums, known, block| {
            let number = round.checked_mul(step)?;
            for (operand, along) in [&this.place.first, first].into_iter().enumerate() {
                this.fill(Tile { operand, number: &number, along }, shared, known, block)?;
            }
            block.statements.push(Statement::Barrier);
            let sums = this.looped(step, sums, known, block, |this, number, sums, known, block| {
                let mut queries = Vec::with_capacity(rows);
                for row in 0..attention.rows {
                    let own = this.place.own.checked_add_constant(row)?;
                    queries.push(this.read((shared.operands[0], this.types.products), [number, &own], known, block));
                }
                let mut keys = Vec::with_capacity(own_keys.len());
                for own in own_keys {
                    keys.push(this.read((shared.operands[1], this.types.products), [number, own], known, block));
                }
                Ok(this.add_products(sums, &queries, &keys, block))
            })?;
            block.statements.push(Statement::Barrier);
            Ok(sums)
        })
    }

    /// Adds the products of a block's exponentials, which lie in their tile, with the values.
    fn shared_values(
        &mut self,
        shared: &Shared,
        first: &Expr,
        state: State,
        known: &Known,
        block: &mut Block,
    ) -> Emit<State> {
        let attention = *self.attention;
        let step = attention.step;
        let own = self.place.across.checked_mul(attention.own_columns())?;
        let columns = self.columns(&own)?;
        let State { maxima, sums, results } = state;
        let results =
            self.looped(attention.block() / step, results, known, block, |this, round, results, known, block| {
                let begin = round.checked_mul(step)?;
                let number = first.checked_add(&begin)?;
                this.fill(Tile { operand: 2, number: &number, along: &Expr::constant(0) }, shared, known, block)?;
                block.statements.push(Statement::Barrier);
                let results = this.looped(step, results, known, block, |this, number, results, known, block| {
                    let key = begin.checked_add(number)?;
                    let mut weights = Vec::with_capacity(maxima.len());
                    for row in 0..attention.rows {
                        let own = this.place.own.checked_add_constant(row)?;
                        weights.push(this.read((shared.weights, this.types.sums), [&own, &key], known, block));
                    }
                    let mut values = Vec::with_capacity(columns.len());
                    for column in &columns {
                        values.push(this.read((shared.operands[2], this.types.sums), [number, column], known, block));
                    }
                    Ok(this.add_products(results, &weights, &values, block))
                })?;
                block.statements.push(Statement::Barrier);
                Ok(results)
            })?;
        Ok(State { maxima, sums, results })
    }

    fn add_products(
        &mut self,
        sums: Vec<Operand>,
        rows: &[Operand],
        columns: &[Operand],
        block: &mut Block,
    ) -> Vec<Operand> {
        let factors = rows.iter().flat_map(|row| columns.iter().map(|column| [*row, *column]));
        sums.into_iter().zip(factors).map(|(sum, factors)| self.multiply_add(factors, sum, block)).collect()
    }

    fn read(
        &mut self,
        (tile, ty): (MemoryId, ElementType),
        at: [&Expr; 2],
        known: &Known,
        block: &mut Block,
    ) -> Operand {
        let indices = at.map(|index| known.simplified(index)).to_vec();
        self.define(ty, ScalarOp::Extract { memory: tile, indices }, "element", block)
    }

    /// What all invocations of a row of them have, together.
    fn combined(&mut self, function: FunctionId, operands: Vec<Operand>, block: &mut Block) -> Vec<Operand> {
        let values = self.named("all", &operands);
        let count = self.attention.group[1] * i64::from(self.attention.lanes);
        let scope = Scope::Part { count: u32::try_from(count).unwrap_or(1), apart: 1 };
        let results = values.iter().copied().map(Operand::Value).collect();
        let (combination, tiles) = (Combination::Combine, Vec::new());
        block.statements.push(Statement::Collective { values, scope, combination, function, operands, tiles });
        results
    }

    /// Appends what fills a tile: neighbors read what lies side by side, and beyond the operand there are zeros.
    fn fill(&mut self, tile: Tile<'_>, shared: &Shared, known: &Known, block: &mut Block) -> Emit<()> {
        let Tile { operand, .. } = tile;
        let attention = *self.attention;
        let [step, side] = attention.tile_extents()[operand];
        let places = attention.places();
        let function = [self.attended.query, self.attended.key, self.attended.value][operand];
        let (extents, ty) = match operand {
            0 => ([attention.queries, attention.depth], self.types.products),
            1 => ([attention.keys, attention.depth], self.types.products),
            _ => ([attention.columns, attention.keys], self.types.sums),
        };
        let is_deep = operand < 2 && self.is_deep(function);
        self.looped(
            (step * side + places - 1) / places,
            Vec::new(),
            known,
            block,
            |this, round, none, known, block| {
                let element = round.checked_mul(places)?.checked_add(&this.place.thread)?;
                let [along, number] = match is_deep {
                    true => [element.checked_floor_div(step)?, element.checked_modulo(step)?],
                    false => [element.checked_modulo(side)?, element.checked_floor_div(side)?],
                };
                let open = known.open(&[within(&element, step * side)]);
                let known = known.when(&open);
                let [along, number] = [along, number].map(|index| known.simplified(&index));
                let at = [tile.along.checked_add(&along)?, tile.number.checked_add(&number)?];
                let tests: Vec<Constraint> =
                    at.iter().zip(extents).map(|(index, extent)| within(index, extent)).collect();
                let mut then = Block::default();
                let nothing = Operand::Constant(zero(ty));
                let open_element = known.open(&tests);
                let found = this.where_holds(
                    open_element,
                    ("element", vec![nothing]),
                    &known,
                    &mut then,
                    |this, _, known, block| {
                        let [along, number] = &at;
                        let indices = if operand == 2 { [number, along] } else { [along, number] };
                        Ok(vec![this.element(function, indices, known, block)])
                    },
                )?;
                let value = found.first().copied().unwrap_or(nothing);
                let memory = shared.operands[operand];
                then.statements.push(Statement::Store { memory, indices: vec![number, along], value });
                append(open, then, block);
                Ok(none)
            },
        )?;
        Ok(())
    }

    /// Whether an operand has side by side what is contracted.
    fn is_deep(&self, function: weft_partition::FunctionId) -> bool {
        let root = self.plan.function(function).roots.first();
        let fastest = root.and_then(|root| root.map.results().last());
        fastest.is_some_and(|fastest| fastest.variables().contains(&Var::Dim(2)))
    }
}
