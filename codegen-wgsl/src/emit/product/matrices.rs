//! Tiles of workgroups of which subgroups take matrices that they multiply.

use super::super::entry::append;
use super::Emission;
use crate::elemental::zero;
use crate::emit::statements::Statements;
use crate::kernel::{
    Block, Known, MatrixOp, MatrixOrder, MatrixRole, Memory, MemoryId, Operand, ScalarOp, Space, Statement,
};
use crate::wgsl::Names;
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{Arena, ArenaId, ArrayShape};
use weft_partition::{CooperativeMatrix, FusionPlan, Product};

/// The matrices of a subgroup, and what their sums go through.
pub(super) struct Matrices {
    size: CooperativeMatrix,
    /// Of a column of the left tile, and of a row of the right one.
    factors: [Vec<MemoryId>; 2],
    /// For each dot those of the tile of results, row by row.
    sums: Vec<Vec<MemoryId>>,
    /// For each dot a tile of the workgroup with a row of matrices of each subgroup.
    rows: Vec<MemoryId>,
}

impl Matrices {
    pub(super) fn add(
        product: &Product,
        size: CooperativeMatrix,
        dots: usize,
        memories: &mut Arena<MemoryId, Memory>,
        names: &mut Names,
    ) -> Self {
        let [m, n, k] = [size.m, size.n, size.k].map(i64::from);
        let counts = [product.tile[0] / m, product.tile[1] / n];
        let members = u32::try_from(product.members).unwrap_or(u32::MAX);
        let mut add = |name: String, space, ty, extents: [i64; 2]| {
            let (name, shape) = (names.take(&name), ArrayShape::new(ty, extents.to_vec()));
            memories.push(Memory::new(name, shape, space))
        };
        let width = product.tile[1] + Product::between_rows(size.sum);
        let height = product.group[0] * product.group[1] * m;
        let rows = (0..dots).map(|_| add("sum.tile".to_owned(), Space::Workgroup, size.sum, [height, width])).collect();
        let mut matrix = |name: String, role, ty, extents| add(name, Space::Matrix { role, members }, ty, extents);
        let left = (0..counts[0]).map(|row| matrix(format!("lhs.{row}"), MatrixRole::Left, size.factor, [m, k]));
        let left = left.collect();
        let right =
            (0..counts[1]).map(|column| matrix(format!("rhs.{column}"), MatrixRole::Right, size.factor, [k, n]));
        let factors = [left, right.collect()];
        let mut sums = Vec::with_capacity(dots);
        for _ in 0..dots {
            let places = (0..counts[0]).flat_map(|row| (0..counts[1]).map(move |column| (row, column)));
            let own =
                places.map(|(row, column)| matrix(format!("sum.{row}.{column}"), MatrixRole::Sum, size.sum, [m, n]));
            sums.push(own.collect());
        }
        Matrices { size, factors, sums, rows }
    }
}

impl<'e> Emission<'e> {
    /// The invocations of a workgroup fill the tiles of both operands, and wait; each subgroup multiplies the matrices of its part, and so on. What comes of it goes through workgroup memory to who computes results of it.
    pub(super) fn in_matrices(
        &mut self,
        tiles: [MemoryId; 2],
        matrices: &Matrices,
        known: &Known,
    ) -> Result<Block, Error> {
        let mut block = Block::default();
        let plan: &'e FusionPlan = self.plan;
        for (number, factors) in plan.factors().iter().enumerate() {
            self.factors = factors;
            let clear = |matrix: &MemoryId| Statement::Matrix(MatrixOp::Clear { matrix: *matrix });
            block.statements.extend(matrices.sums[number].iter().map(clear));
            self.depth(tiles, matrices, number, known, &mut block)?;
            self.results_of_matrices(matrices, number, known, &mut block)?;
        }
        Ok(block)
    }

    /// Adds all products of a dot, tile by tile; the next ones are read while those of these are added.
    fn depth(
        &mut self,
        tiles: [MemoryId; 2],
        matrices: &Matrices,
        dot: usize,
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let Product { depth, step, ahead, .. } = *self.product;
        let (place, product) = (self.place, self.product);
        let first = |dimension: usize| place.group[dimension].checked_mul(product.side(dimension));
        let first = [first(0)?, first(1)?];
        let rounds = (depth + step - 1) / step;
        let is_once = rounds == 1 && self.plan.factors().len() == 1;
        let read = |this: &mut Self, begin: &Expr, known: &Known, block: &mut Block| {
            let mut elements = Vec::new();
            for (operand, first) in first.iter().enumerate() {
                for part in 0..this.parts(operand) {
                    elements.push(this.read_part(operand, part, [first, begin], known, block)?);
                }
            }
            Ok::<Vec<Operand>, Error>(elements)
        };
        let carried = if ahead { read(self, &Expr::constant(0), known, block)? } else { Vec::new() };
        self.looped(rounds, carried, known, block, |this, round, elements, known, block| {
            let begin = round.checked_mul(step)?;
            let mut elements = elements.into_iter();
            for (operand, tile) in tiles.into_iter().enumerate() {
                if !ahead {
                    this.fill(operand, tile, [&first[operand], &begin], known, block)?;
                    continue;
                }
                for part in 0..this.parts(operand) {
                    if let Some(element) = elements.next() {
                        this.store_part(operand, tile, part, element, known, block)?;
                    }
                }
            }
            block.statements.push(Statement::Barrier);
            let next = match ahead {
                true => read(this, &begin.checked_add_constant(step)?, known, block)?,
                false => Vec::new(),
            };
            this.multiply(tiles, matrices, dot, known, block)?;
            if !is_once {
                block.statements.push(Statement::Barrier);
            }
            Ok(next)
        })?;
        Ok(())
    }

    /// Multiplies the matrices of the tiles.
    fn multiply(
        &mut self,
        tiles: [MemoryId; 2],
        matrices: &Matrices,
        dot: usize,
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let [m, n, k] = [matrices.size.m, matrices.size.n, matrices.size.k].map(i64::from);
        self.looped(self.product.step / k, Vec::new(), known, block, |this, number, none, known, block| {
            let number = number.checked_mul(k)?;
            for (operand, side) in [m, n].into_iter().enumerate() {
                // A row of the left operand, and a column of the right one, is what lies along the depth.
                let is_deep = this.is_tile_deep(operand);
                let order = if is_deep == (operand == 0) { MatrixOrder::Rows } else { MatrixOrder::Columns };
                let begin = this.place.within[operand].checked_mul(this.product.tile[operand])?;
                for (place, matrix) in (0..).zip(&matrices.factors[operand]) {
                    let along = known.simplified(&begin.checked_add_constant(place * side)?);
                    let indices = this.in_tile(operand, number.clone(), along);
                    let load = MatrixOp::Load { matrix: *matrix, memory: tiles[operand], indices, order };
                    block.statements.push(Statement::Matrix(load));
                }
            }
            let [left, right] = &matrices.factors;
            let factors = left.iter().flat_map(|left| right.iter().map(|right| [*left, *right]));
            for (factors, sum) in factors.zip(&matrices.sums[dot]) {
                block.statements.push(Statement::Matrix(MatrixOp::MultiplyAdd { sum: *sum, factors }));
            }
            Ok(none)
        })?;
        Ok(())
    }

    /// The dots whose sums are wanted by outputs that need none behind this one, but this.
    fn wanted(&self, dot: usize) -> Vec<bool> {
        let all = self.plan.factors();
        let place = |id| all.iter().position(|factors| factors.dot == id);
        let mut wanted = vec![false; all.len()];
        for output in self.outputs {
            let planned = &self.plan.functions()[output.function.index()];
            let given = planned.given.iter().copied().chain(planned.roots.iter().map(|root| root.instruction));
            let needed: Vec<usize> = given.filter_map(place).collect();
            if needed.iter().copied().max().unwrap_or(0) == dot {
                needed.into_iter().for_each(|dot| wanted[dot] = true);
                wanted[dot] = true;
            }
        }
        wanted
    }

    /// Stores what is computed of the sums of the dots so far, where the last is needed: each subgroup puts a row of its matrices into workgroup memory, and its members take elements, lanes side by side.
    fn results_of_matrices(
        &mut self,
        matrices: &Matrices,
        dot: usize,
        known: &Known,
        block: &mut Block,
    ) -> Result<(), Error> {
        let wanted = self.wanted(dot);
        if !wanted.contains(&true) {
            return Ok(());
        }
        let Product { rows, columns, tile, group, members, .. } = *self.product;
        let lanes = i64::from(self.product.lanes);
        let [m, n] = [matrices.size.m, matrices.size.n].map(i64::from);
        let counts = [tile[0] / m, tile[1] / n];
        let vectors = tile[1] / lanes;
        let subgroup = self.place.within[0].checked_mul(group[1])?.checked_add(&self.place.within[1])?;
        let in_rows = known.simplified(&subgroup.checked_mul(m)?);
        self.looped(counts[0], Vec::new(), known, block, |this, number, none, known, block| {
            for row in 0..counts[0] {
                let mut then = Block::default();
                for (dot, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
                    for column in 0..counts[1] {
                        let place = usize::try_from(row * counts[1] + column).unwrap_or(usize::MAX);
                        let Some(matrix) = matrices.sums[dot].get(place) else { continue };
                        let indices = vec![in_rows.clone(), Expr::constant(column * n)];
                        let save = MatrixOp::Store { matrix: *matrix, memory: matrices.rows[dot], indices };
                        then.statements.push(Statement::Matrix(save));
                    }
                }
                let open = known.open(&[Constraint { expr: number.clone(), bounds: Interval::point(row) }]);
                append(open, then, block);
            }
            block.statements.push(Statement::Barrier);
            let elements = m * vectors;
            let rounds = (elements + members - 1) / members;
            this.looped(rounds, Vec::new(), known, block, |this, round, none, known, block| {
                let element = round.checked_mul(members)?.checked_add(&this.place.member)?;
                let within = Constraint { expr: element.clone(), bounds: Interval::of_extent(elements) };
                let row_of_matrix = known.simplified(&element.checked_floor_div(vectors)?);
                let vector = known.simplified(&element.checked_modulo(vectors)?);
                // Vectors of columns are tested as a whole.
                let blocks = this.place.group[1].checked_mul(group[1])?.checked_add(&this.place.within[1])?;
                let vector_of_all = known.simplified(&blocks.checked_mul(vectors)?.checked_add(&vector)?);
                let blocks = this.place.group[0].checked_mul(group[0])?.checked_add(&this.place.within[0])?;
                let row = blocks.checked_mul(tile[0])?.checked_add_scaled(number, m)?.checked_add(&row_of_matrix)?;
                let row = known.simplified(&row);
                let tests = [
                    within,
                    Constraint { expr: row.clone(), bounds: Interval::of_extent(rows) },
                    Constraint { expr: vector_of_all.clone(), bounds: Interval::of_extent(columns / lanes) },
                ];
                let open = known.open(&tests);
                let known = known.when(&open);
                let mut then = Block::default();
                let along = vector.checked_mul(lanes)?.checked_add(&this.place.lane)?;
                let indices = [in_rows.checked_add(&row_of_matrix)?, along];
                let mut sums = Vec::with_capacity(dot + 1);
                for (number, wanted) in wanted.iter().enumerate().take(dot + 1) {
                    sums.push(match wanted {
                        true => {
                            let indices = indices.iter().map(|index| known.simplified(index)).collect();
                            let op = ScalarOp::Extract { memory: matrices.rows[number], indices };
                            this.define(this.ty, op, "sum", &mut then)
                        }
                        false => Operand::Constant(zero(this.ty)),
                    });
                }
                let column = vector_of_all.checked_mul(lanes)?.checked_add(&this.place.lane)?;
                this.stored(&[row, column], &sums, &known, &mut then)?;
                append(open, then, block);
                Ok(none)
            })?;
            block.statements.push(Statement::Barrier);
            Ok(none)
        })?;
        Ok(())
    }
}
