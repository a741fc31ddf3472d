//! Squares that are computed together with their mirror images.

use super::{Emission, Place, Tiles, in_rounds};
use crate::kernel::{Binding, Block, Condition, Known, Operand, OutOfBounds, ScalarOp, Statement, Value, ValueId};
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{ComparisonDirection, ElementType};
use weft_partition::TileOwner;

/// The runtime variables that are the row and the column of a square.
const ROW: u32 = 0;
const COLUMN: u32 = 1;

impl Emission<'_> {
    /// Each workgroup, or invocation, has a square and its mirror image: it fills the tiles of both, and then has the outputs of both computed.
    pub(super) fn pairs(&mut self, group: &[Expr; 3], thread: &Expr, known: &Known) -> Result<Vec<Statement>, Error> {
        let [width, _] = self.transposed.grid_of_pairs();
        let place = match self.transposed.tiles {
            TileOwner::Workgroup => [group[1].clone(), group[0].clone()],
            TileOwner::Invocation => {
                let number = group[0].checked_mul(i64::from(self.transposed.threads))?.checked_add(thread)?;
                [number.checked_floor_div(width)?, number.checked_modulo(width)?]
            }
        };
        let place = place.map(|index| known.simplified(&index));
        let squares = self.transposed.rows / self.transposed.square();
        let mut statements = Vec::new();
        self.square(&place, squares, known, &mut statements)?;
        let mut known = known.clone();
        [ROW, COLUMN].into_iter().for_each(|variable| known.set(variable, Interval::of_extent(squares)));
        let [row, column] = [ROW, COLUMN].map(Expr::runtime);
        // On the diagonal the square is its own mirror image.
        let apart = Constraint { expr: column.checked_sub(&row)?, bounds: Interval { lo: 1, hi: squares - 1 } };
        let is_apart = Condition::Indices(vec![apart]);
        match self.transposed.tiles {
            TileOwner::Workgroup => {
                self.shared_pair([&row, &column], group, thread, &known, is_apart, &mut statements)?
            }
            TileOwner::Invocation => {
                let along = self.transposed.along;
                let tile = |square: &Expr, number: Expr| square.checked_mul(along)?.checked_add(&number);
                let at = [tile(&row, Expr::range(0))?, tile(&column, Expr::range(1))?];
                let extents = [along, along];
                let statements_of_tile = self.own_pair(&at, group, &known.in_loop(&extents), &is_apart)?;
                statements.push(in_rounds(&extents, Block { statements: statements_of_tile, results: Vec::new() }));
            }
        }
        Ok(statements)
    }

    /// Binds the row and the column of the square at a place of the rectangle of pairs.
    fn square(
        &mut self,
        place: &[Expr; 2],
        squares: i64,
        known: &Known,
        out: &mut Vec<Statement>,
    ) -> Result<(), Error> {
        let [k, j] = place;
        // In row `k` stand the squares of row `k` from the diagonal on, and before them those of another row.
        let (direction, first, last) = match squares % 2 {
            0 => (ComparisonDirection::Gt, -1, squares - 1),
            _ => (ComparisonDirection::Ge, 0, squares),
        };
        let other_row = k.checked_neg()?.checked_add_constant(last)?;
        let row = [k.clone(), other_row.clone()];
        let column = [j.checked_add_constant(first)?, other_row.checked_add(j)?];
        let mut index = |name: &str, index: &Expr| {
            let value = self.values.push(Value::scalar(name, ElementType::S32));
            let op = ScalarOp::Index { element_type: ElementType::S32, index: known.simplified(index) };
            out.push(Statement::Let { value, op });
            Operand::Value(value)
        };
        let operands = [index("along", j), index("down", k)];
        let chosen = [row, column].map(|[own, other]| [index("own", &own), index("other", &other)]);
        let is_own = self.values.push(Value::scalar("is_own", ElementType::Pred));
        out.push(Statement::Let { value: is_own, op: ScalarOp::Compare { direction, order: None, operands } });
        for ([own, other], (variable, name)) in chosen.into_iter().zip([(ROW, "row"), (COLUMN, "column")]) {
            let value: ValueId = self.values.push(Value::scalar(name, ElementType::S32));
            let op = ScalarOp::Select { operands: [Operand::Value(is_own), own, other] };
            out.push(Statement::Let { value, op });
            let binding = Binding { variable, bounds: Interval::of_extent(squares), value: Operand::Value(value) };
            out.push(Statement::Bind { binding, out_of_bounds: OutOfBounds::Clamp });
        }
        Ok(())
    }

    /// A tile of an invocation, and its mirror image, in a round of two loops.
    fn own_pair(
        &mut self,
        at: &[Expr; 2],
        group: &[Expr; 3],
        known: &Known,
        is_apart: &Condition,
    ) -> Result<Vec<Statement>, Error> {
        let transposed = self.transposed;
        let side = transposed.side();
        let known = known.in_loop(&[side, side]);
        let [slow, fast] = [Expr::range(2), Expr::range(3)];
        let mirrored = [at[1].clone(), at[0].clone()];
        let alone = Expr::constant(0);
        let place = |tile: &[Expr; 2], within: [&Expr; 2]| {
            Place::of_whole(transposed, tile, (within, &alone), &group[2], &known)
        };
        let nested = |body: Block| {
            let rounds = in_rounds(&[side], body);
            in_rounds(&[side], Block { statements: vec![rounds], results: Vec::new() })
        };
        let (fill, fill_mirror) = (place(at, [&fast, &slow])?, place(&mirrored, [&fast, &slow])?);
        let (write, write_mirror) = (place(at, [&slow, &fast])?, place(&mirrored, [&slow, &fast])?);
        let (tiles, mirror) = (self.tiles, self.mirror);
        let filled = nested(self.through(tiles, |emission| emission.filled(&fill))?);
        let filled_mirror = nested(self.through(mirror, |emission| emission.filled(&fill_mirror))?);
        let written = nested(self.through(tiles, |emission| emission.written(&write))?);
        let written_mirror = nested(self.through(mirror, |emission| emission.written(&write_mirror))?);
        Ok(vec![filled, filled_mirror, written, only(is_apart.clone(), vec![written_mirror])])
    }

    /// A tile of a workgroup, and its mirror image. Rounds are written out, so that it shows what is read again.
    fn shared_pair(
        &mut self,
        square: [&Expr; 2],
        group: &[Expr; 3],
        thread: &Expr,
        known: &Known,
        is_apart: Condition,
        out: &mut Vec<Statement>,
    ) -> Result<(), Error> {
        let transposed = self.transposed;
        let at = square.map(Expr::clone);
        let mirrored = [at[1].clone(), at[0].clone()];
        let (tiles, mirror) = (self.tiles, self.mirror);
        let known = self.in_units(known);
        let [mut filled, mut written, mut written_mirror] = [const { Vec::new() }; 3];
        let alone = Expr::constant(0);
        for round in 0..self.transposed.rounds() {
            let round = [&Expr::constant(round), &alone];
            let ([slow, fast], part) = self.place_of_round(round, thread, 0, &known)?;
            let place = |tile: &[Expr; 2], within: [&Expr; 2]| {
                Place::of_whole(transposed, tile, (within, &part), &group[2], &known)
            };
            let (fill, fill_mirror) = (place(&at, [&fast, &slow])?, place(&mirrored, [&fast, &slow])?);
            let (write, write_mirror) = (place(&at, [&slow, &fast])?, place(&mirrored, [&slow, &fast])?);
            let done = [
                self.through(tiles, |emission| emission.filled(&fill))?,
                self.through(mirror, |emission| emission.filled(&fill_mirror))?,
                self.through(tiles, |emission| emission.written(&write))?,
                self.through(mirror, |emission| emission.written(&write_mirror))?,
            ];
            let [fill, fill_mirror, write, write_mirror] = done.map(|body| self.each(body).statements);
            filled.extend(fill.into_iter().chain(fill_mirror));
            written.extend(write);
            written_mirror.extend(write_mirror);
        }
        out.extend(filled);
        out.push(Statement::Barrier);
        out.extend(written);
        out.push(only(is_apart, written_mirror));
        Ok(())
    }

    /// What is done with these tiles.
    fn through<T>(
        &mut self,
        tiles: &[Tiles],
        work: impl FnOnce(&mut Emission<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Emission { transposed, mirror, outputs, functions, values, .. } = self;
        work(&mut Emission { transposed, tiles, mirror, outputs, functions, values })
    }
}

/// Statements under a condition.
fn only(condition: Condition, statements: Vec<Statement>) -> Statement {
    let (then, otherwise) = (Block { statements, results: Vec::new() }, Block::default());
    Statement::If { values: Vec::new(), condition, then, otherwise }
}
