//! Tiles of single invocations, in registers.

use super::{Emission, Place, in_rounds};
use crate::kernel::{Block, Condition, Known, Statement};
use weft_affine::{Constraint, Error, Expr, Interval};

/// The tile of an invocation.
struct Own<'o> {
    /// The number of the tile along rows, and along columns.
    tile: [Expr; 2],
    /// The number of what lies beside rows and columns.
    beside: &'o Expr,
}

impl Emission<'_> {
    /// Each invocation reads the elements of its tile column by column, and then has what computes the outputs take them row by row. Where the last rows or columns
    /// fill no tile, outputs are computed there element by element.
    pub(super) fn own(&mut self, group: &[Expr; 3], thread: &Expr, known: &Known) -> Result<Vec<Statement>, Error> {
        let [along_rows, along_columns] = self.transposed.tiles_of_workgroup();
        let [row, column] = [group[1].checked_mul(along_rows)?, group[0].checked_mul(along_columns)?];
        let tile = match along_rows > along_columns {
            true => [row.checked_add(thread)?, column],
            false => [row, column.checked_add(thread)?],
        };
        let own = Own { tile, beside: &group[2] };
        Ok(self.of_size(&own, &[], known)?.statements)
    }

    /// The statements where it is known how many rows the tile has, or how many rows and columns, or neither yet.
    fn of_size(&mut self, own: &Own<'_>, size: &[i64], known: &Known) -> Result<Block, Error> {
        let side = self.transposed.side();
        let extent = match size {
            [] => self.transposed.rows,
            [_] => self.transposed.columns,
            _ if size.iter().all(|own| *own == side) => return self.whole(own, known),
            _ => return self.part(own, size, known),
        };
        let (whole, left) = (extent / side, extent % side);
        let sizes = [(Interval { lo: 0, hi: whole - 1 }, side), (Interval::point(whole), left)];
        let (mut block, mut known) = (Block::default(), known.clone());
        let mut branches = Vec::new();
        for (tiles, rows_or_columns) in sizes.into_iter().filter(|(tiles, count)| !tiles.is_empty() && *count > 0) {
            let tests = known.open(&[Constraint { expr: own.tile[size.len()].clone(), bounds: tiles }]);
            let condition = Condition::Indices(tests);
            let size = [size, &[rows_or_columns]].concat();
            let then = self.of_size(own, &size, &known.inside(&condition))?;
            known = known.outside(&condition);
            branches.push((condition, then));
        }
        for (condition, then) in branches.into_iter().rev() {
            block = match condition.constraints() {
                [] => then,
                _ => {
                    let statement = Statement::If { values: Vec::new(), condition, then, otherwise: block };
                    Block { statements: vec![statement], results: Vec::new() }
                }
            };
        }
        Ok(block)
    }

    /// A tile that has all of its elements.
    fn whole(&mut self, own: &Own<'_>, known: &Known) -> Result<Block, Error> {
        let (side, run) = (self.transposed.side(), self.transposed.run);
        // A row has as many elements as so many whole vectors, or words, whatever runs are.
        let extents = if run == 1 { vec![side, side] } else { vec![side, run, side] };
        let known = known.in_loop(&extents);
        let slow = Expr::range(0);
        let element = match run {
            1 => Expr::range(1),
            _ => Expr::range(1).checked_mul(side)?.checked_add(&Expr::range(2))?,
        };
        let [fast, part] = [element.checked_floor_div(run)?, element.checked_modulo(run)?];
        let fill = self.place(own, ([&fast, &slow], &part), &known)?;
        let write = self.place(own, ([&slow, &fast], &part), &known)?;
        let nested = [self.filled(&fill)?, self.written(&write)?].map(|body| nested(&extents, body));
        Ok(Block { statements: nested.into(), results: Vec::new() })
    }

    /// A tile that has fewer rows or columns, each element by itself, or each row.
    fn part(&mut self, own: &Own<'_>, size: &[i64], known: &Known) -> Result<Block, Error> {
        let run = self.transposed.run;
        let extents = if run == 1 { size.to_vec() } else { [size, &[run]].concat() };
        let known = known.in_loop(&extents);
        let part = if run == 1 { Expr::constant(0) } else { Expr::range(2) };
        let place = self.place(own, ([&Expr::range(0), &Expr::range(1)], &part), &known)?;
        let tiles = std::mem::take(&mut self.tiles);
        let written = self.written(&place);
        self.tiles = tiles;
        Ok(Block { statements: vec![nested(&extents, written?)], results: Vec::new() })
    }

    /// A place where there is an element.
    fn place(&self, own: &Own<'_>, within: ([&Expr; 2], &Expr), known: &Known) -> Result<Place, Error> {
        Place::of_whole(self.transposed, &own.tile, within, own.beside, known)
    }
}

/// Loops of so many rounds, one in the other, around a block.
fn nested(extents: &[i64], body: Block) -> Statement {
    let [outer @ .., inner] = extents else { return in_rounds(&[], body) };
    let around = |rounds, extent: &i64| in_rounds(&[*extent], Block { statements: vec![rounds], results: Vec::new() });
    outer.iter().rev().fold(in_rounds(&[*inner], body), around)
}
