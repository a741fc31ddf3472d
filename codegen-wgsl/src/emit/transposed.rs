//! Kernels that are tiled around transpositions: elements are computed in the order in which operands hold them, and go through tiles into the
//! order of the results.

mod own;
mod pairs;

use super::loop_emitter::{Launched, Output};
use crate::elemental::zero;
use crate::kernel::{
    Block, Condition, Function, FunctionId, Kernel, Known, Memory, MemoryId, Operand, ScalarOp, Space, Statement,
    Value, ValueId, ValueType,
};
use crate::lower::indices_at;
use crate::wgsl::Names;
use weft_affine::{Constraint, Error, Expr, Interval};
use weft_hlo::ir::{Arena, ArrayShape};
use weft_partition::{TileOwner, Transposed};

/// The tiles of one hero: a memory for each value that its function yields.
pub(super) struct Tiles {
    pub(super) function: FunctionId,
    pub(super) memories: Vec<MemoryId>,
}

/// Adds the tiles of heroes, the functions that compute their elements, to the memories of a kernel.
pub(super) fn add_tiles(
    transposed: &Transposed,
    heroes: &[FunctionId],
    functions: &Arena<FunctionId, Function>,
    memories: &mut Arena<MemoryId, Memory>,
    names: &mut Names,
) -> Vec<Tiles> {
    let tiles = |function: &FunctionId| {
        let types = Kernel::result_types(&functions[*function]).into_iter();
        let memory = |ty: ValueType| {
            let name = names.take(&format!("{}.tile", functions[*function].name));
            let shape = ArrayShape::new(ty.element_type, transposed.tile_extents().to_vec());
            let space = match transposed.tiles {
                TileOwner::Workgroup => Space::Workgroup,
                TileOwner::Invocation => Space::Thread,
            };
            memories.push(Memory::new(name, shape, space))
        };
        Tiles { function: *function, memories: types.map(memory).collect() }
    };
    heroes.iter().map(tiles).collect()
}

/// The entry: a workgroup for each tile, or an invocation, or for each pair of tiles; the second tiles are the mirror images'.
pub(super) fn transposed_entry(
    transposed: &Transposed,
    outputs: &[Output],
    [tiles, mirror]: [&[Tiles]; 2],
    functions: &Arena<FunctionId, Function>,
) -> Result<Launched, Error> {
    let groups = transposed.workgroups();
    let rank = groups.iter().rposition(|groups| *groups != 1).map_or(1, |last| last + 1);
    let mut extents = groups[..rank].to_vec();
    extents.push(i64::from(transposed.threads));
    let (parameters, values, body) = (Vec::new(), Arena::new(), Block::default());
    let mut entry = Function { name: "entry".to_owned(), parameters, values, body, extents };
    if entry.extents.contains(&0) {
        return Ok(Launched { entry, windows: 1 });
    }
    let coordinate = |dimension: usize| match dimension < rank {
        true => Expr::dim(u32::try_from(dimension).unwrap_or(u32::MAX)),
        false => Expr::constant(0),
    };
    let group = [0, 1, 2].map(coordinate);
    let thread = Expr::dim(u32::try_from(rank).unwrap_or(u32::MAX));
    let known = Known::new(&entry.extents);
    let mut emission = Emission { transposed, tiles, mirror, outputs, functions, values: &mut entry.values };
    entry.body.statements = match transposed.tiles {
        _ if transposed.pairs => emission.pairs(&group, &thread, &known)?,
        TileOwner::Workgroup => emission.shared(&group, &thread, &known)?,
        TileOwner::Invocation => emission.own(&group, &thread, &known)?,
    };
    Ok(Launched { entry, windows: 1 })
}

/// Where in its tile an element is, and which it is in all.
struct Place {
    /// The indices in its tile: columns lie one after the other, as they are filled, of runs one after the other.
    in_tile: Vec<Expr>,
    /// The row, and the column.
    at: [Expr; 2],
    /// Which of its run it is.
    part: Expr,
    /// The number of what lies beside rows and columns.
    beside: Expr,
    /// What has to be tested for an element to be there.
    open: Vec<Constraint>,
    /// What is known where one is.
    known: Known,
}

impl Place {
    /// A place that is tested for an element to be there, unless it is known: by rows or columns, and along the side on which runs are neighbors (0 that of rows), by elements, of which those
    /// of a word are there or not.
    fn new(
        transposed: &Transposed,
        (within, part): ([&Expr; 2], &Expr),
        at: [Expr; 2],
        neighbors: usize,
        beside: Expr,
        known: &Known,
    ) -> Result<Place, Error> {
        let mut tests = Vec::with_capacity(at.len());
        for (side, (index, extent)) in at.iter().zip([transposed.rows, transposed.columns]).enumerate() {
            let run = if side == neighbors { transposed.run } else { 1 };
            let element = index.checked_mul(run)?.checked_add(part).map(|element| known.simplified(&element))?;
            let expr = if run > 1 { element } else { index.clone() };
            tests.push(Constraint { expr, bounds: Interval::of_extent(extent * run) });
        }
        // Where there is no element, there is a place in the tile all the same.
        let in_tile = in_tile((within, part), transposed.run, known)?;
        let open = known.open(&tests);
        let known = known.when(&open);
        Ok(Place { in_tile, at, part: part.clone(), beside, open, known })
    }

    /// A place in a tile that has all of its elements, by the numbers of the tile along rows and columns.
    fn of_whole(
        transposed: &Transposed,
        tile: &[Expr; 2],
        (within, part): ([&Expr; 2], &Expr),
        beside: &Expr,
        known: &Known,
    ) -> Result<Place, Error> {
        let side = transposed.side();
        let at = |dimension: usize| tile[dimension].checked_mul(side)?.checked_add(within[dimension]);
        let (at, beside, open) = ([at(0)?, at(1)?], beside.clone(), Vec::new());
        let in_tile = in_tile((within, part), transposed.run, known)?;
        Ok(Place { in_tile, at, part: part.clone(), beside, open, known: known.clone() })
    }
}

/// The indices in its tile of an element of a row and a column of runs of so many.
fn in_tile((within, part): ([&Expr; 2], &Expr), run: i64, known: &Known) -> Result<Vec<Expr>, Error> {
    let [row, column] = within;
    let row = row.checked_mul(run)?.checked_add(part)?;
    Ok(vec![column.clone(), known.simplified(&row)])
}

struct Emission<'e> {
    transposed: &'e Transposed,
    tiles: &'e [Tiles],
    /// Those of the mirror image, where there is one.
    mirror: &'e [Tiles],
    outputs: &'e [Output],
    functions: &'e Arena<FunctionId, Function>,
    /// The values of the entry.
    values: &'e mut Arena<ValueId, Value>,
}

/// So many rounds of a block that carries nothing.
fn in_rounds(extents: &[i64], body: Block) -> Statement {
    let (init, values, accumulators) = (Vec::new(), Vec::new(), Vec::new());
    Statement::Loop { values, extents: extents.to_vec(), init, accumulators, body }
}

impl Emission<'_> {
    /// A tile of a workgroup: in each round its invocations fill as many elements as they are, neighbors along the rows, and after a
    /// barrier they read as many, neighbors along the columns, for what computes the outputs.
    fn shared(&mut self, group: &[Expr; 3], thread: &Expr, known: &Known) -> Result<Vec<Statement>, Error> {
        let Transposed { run, .. } = *self.transposed;
        let (side, rounds) = (self.transposed.side(), self.transposed.rounds());
        let extents: Vec<i64> = [rounds, run].into_iter().filter(|extent| *extent > 1).collect();
        let known = self.in_units(&known.in_loop(&extents));
        let round = if rounds > 1 { Expr::range(0) } else { Expr::constant(0) };
        let stretch = if run > 1 { Expr::range(u32::from(rounds > 1)) } else { Expr::constant(0) };
        let neighbor = u32::try_from(extents.len()).unwrap_or(u32::MAX);
        let ([slow, fast], part) = self.place_of_round([&round, &stretch], thread, neighbor, &known)?;
        let place = |row: &Expr, column: &Expr, neighbors: usize| {
            let at = |tile: &Expr, within: &Expr| tile.checked_mul(side)?.checked_add(within);
            let at = [at(&group[1], row)?, at(&group[0], column)?];
            Place::new(self.transposed, ([row, column], &part), at, neighbors, group[2].clone(), &known)
        };
        let (fill, write) = (place(&fast, &slow, 0)?, place(&slow, &fast, 1)?);
        let (filled, written) = (self.filled(&fill)?, self.written(&write)?);
        let [mut filled, written] = [filled, written].map(|body| {
            let around = |body: Block, extent: &i64| Block {
                statements: vec![in_rounds(&[*extent], body)],
                results: Vec::new(),
            };
            extents.iter().rev().fold(self.each(body), around).statements
        });
        filled.push(Statement::Barrier);
        filled.extend(written);
        Ok(filled)
    }

    /// What is known of each of the elements that an invocation moves at a time.
    fn in_units(&self, known: &Known) -> Known {
        if self.transposed.unit > 1 { known.in_loop(&[self.transposed.unit]) } else { known.clone() }
    }

    /// What is done for each of the elements that an invocation moves at a time.
    fn each(&self, body: Block) -> Block {
        match self.transposed.unit {
            1 => body,
            unit => Block { statements: vec![in_rounds(&[unit], body)], results: Vec::new() },
        }
    }

    /// Where in the tile of a workgroup an element of an invocation is that it moves in a round, of a stretch of as many elements as the tile has runs side by side: along the slow side, and
    /// along that on which its elements are neighbors, of which the loop variable of a number counts those that are moved at a time; and which of its run.
    fn place_of_round(
        &self,
        [round, stretch]: [&Expr; 2],
        thread: &Expr,
        neighbor: u32,
        known: &Known,
    ) -> Result<([Expr; 2], Expr), Error> {
        let Transposed { unit, threads, run, .. } = *self.transposed;
        let side = self.transposed.side();
        let element = round.checked_mul(i64::from(threads))?.checked_add(thread)?.checked_mul(unit)?;
        let [slow, mut fast] = [element.checked_floor_div(side)?, element.checked_modulo(side)?];
        if unit > 1 {
            fast = fast.checked_add(&Expr::range(neighbor))?;
        }
        let fast = known.simplified(&fast).checked_add_scaled(stretch, side)?;
        let [fast, part] = [fast.checked_floor_div(run)?, fast.checked_modulo(run)?];
        Ok(([slow, fast].map(|index| known.simplified(&index)), known.simplified(&part)))
    }

    /// The elements of the heroes at a place go into their tiles; beyond the last row and column, zeros.
    fn filled(&mut self, place: &Place) -> Result<Block, Error> {
        let mut block = Block::default();
        for tiles in self.tiles {
            let mut then = Block::default();
            let elements = self.call(tiles.function, place, Vec::new(), "hero", &mut then)?;
            let stored = if place.open.is_empty() {
                block.statements.extend(then.statements);
                elements
            } else {
                let types = Kernel::result_types(&self.functions[tiles.function]);
                let zeros = types.iter().map(|ty| Operand::Constant(zero(ty.element_type))).collect();
                let chosen = types.iter().map(|ty| self.values.push(Value::scalar("element", ty.element_type)));
                let chosen: Vec<ValueId> = chosen.collect();
                then.results = elements;
                let otherwise = Block { statements: Vec::new(), results: zeros };
                let condition = Condition::Indices(place.open.clone());
                block.statements.push(Statement::If { values: chosen.clone(), condition, then, otherwise });
                chosen.into_iter().map(Operand::Value).collect()
            };
            for (memory, value) in tiles.memories.iter().zip(stored) {
                block.statements.push(Statement::Store { memory: *memory, indices: place.in_tile.clone(), value });
            }
        }
        Ok(block)
    }

    /// What computes the outputs is given the elements of a place from the tiles.
    fn written(&mut self, place: &Place) -> Result<Block, Error> {
        let mut block = Block::default();
        let mut known_elements: Vec<(FunctionId, Vec<Operand>)> = Vec::new();
        for tiles in self.tiles {
            let types = Kernel::result_types(&self.functions[tiles.function]);
            let mut elements = Vec::with_capacity(types.len());
            for (memory, ty) in tiles.memories.iter().zip(types) {
                let value = self.values.push(Value::scalar("element", ty.element_type));
                let op = ScalarOp::Extract { memory: *memory, indices: place.in_tile.clone() };
                block.statements.push(Statement::Let { value, op });
                elements.push(Operand::Value(value));
            }
            known_elements.push((tiles.function, elements));
        }
        let tiled = |function: FunctionId| {
            known_elements.iter().find(|(of, _)| *of == function).map(|(_, elements)| elements.clone())
        };
        for output in self.outputs {
            let elements = match tiled(output.function) {
                Some(elements) => elements,
                None => {
                    let mut arguments = Vec::new();
                    for given in &output.given {
                        match tiled(*given) {
                            Some(elements) => arguments.extend(elements),
                            None => {
                                arguments.extend(self.call(*given, place, Vec::new(), "given", &mut block)?);
                            }
                        }
                    }
                    self.call(output.function, place, arguments, "output", &mut block)?
                }
            };
            for (value, (memory, extents)) in elements.into_iter().zip(&output.memories) {
                let indices = self.indices(place, extents)?;
                block.statements.push(Statement::Store { memory: *memory, indices, value });
            }
        }
        if place.open.is_empty() {
            return Ok(block);
        }
        let (condition, otherwise) = (Condition::Indices(place.open.clone()), Block::default());
        let statement = Statement::If { values: Vec::new(), condition, then: block, otherwise };
        Ok(Block { statements: vec![statement], results: Vec::new() })
    }

    /// The indices of a place in an array of these extents.
    fn indices(&self, place: &Place, extents: &[i64]) -> Result<Vec<Expr>, Error> {
        let Transposed { rows, middle, columns, run, .. } = self.transposed;
        let [row, column] = &place.at;
        let (outer, between) = (place.beside.checked_floor_div(*middle)?, place.beside.checked_modulo(*middle)?);
        let position = outer.checked_mul(*rows)?.checked_add(row)?.checked_mul(*middle)?.checked_add(&between)?;
        let position = position.checked_mul(*columns)?.checked_add(column)?;
        let position = position.checked_mul(*run)?.checked_add(&place.part)?;
        Ok(indices_at(&position, extents)?.iter().map(|index| place.known.simplified(index)).collect())
    }

    /// Calls a function at a place.
    fn call(
        &mut self,
        function: FunctionId,
        place: &Place,
        arguments: Vec<Operand>,
        name: &str,
        block: &mut Block,
    ) -> Result<Vec<Operand>, Error> {
        let called = &self.functions[function];
        let indices = self.indices(place, &called.extents)?;
        let results = Kernel::result_types(called).into_iter();
        let results: Vec<ValueId> = results.map(|ty| self.values.push(Value::scalar(name, ty.element_type))).collect();
        block.statements.push(Statement::Call { values: results.clone(), function, indices, arguments });
        Ok(results.into_iter().map(Operand::Value).collect())
    }
}
