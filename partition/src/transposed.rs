//! Kernels that are tiled around transpositions.

use crate::access::read_map;
use crate::hero::{merged, strides};
use crate::plan::leaf_extents;
use crate::{Form, Target};
use std::fmt;
use weft_hlo::ir::{Computation, ElementType, InstrId};

/// The elements of transpositions in tiles: what an operand has side by side becomes what a result has side by side.
///
/// Elements are numbered in the order of the result, `(((o * rows + r) * middle + m) * columns + c) * run + e`: side by side in the result along the
/// columns `c`, in the operand along the rows `r`, and in both along the few elements `e` of a run. A tile has so many rows and as many columns of runs. Where rows of packed results would
/// begin within words, several are one, and in the operand neighbors along these rows are as many apart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Transposed {
    /// Elements along what is left before the rows.
    pub outer: i64,
    /// Elements along the rows.
    pub rows: i64,
    /// Elements along what lies between rows and columns.
    pub middle: i64,
    /// Elements along the columns.
    pub columns: i64,
    /// Elements that stay side by side, of which rows and columns are counted: 1, or so few that reading, or writing, them alone would leave vectors and memory transactions half empty.
    pub run: i64,
    /// Invocations of a workgroup.
    pub threads: u32,
    /// Whose a tile is.
    pub tiles: TileOwner,
    /// Elements that an invocation reads or writes at a time, neighbors: 1, or where they share words 4 and at least those of a word, so that whole words are read and written.
    pub unit: i64,
    /// Whether squares are computed in pairs, each with its mirror image: a transposition that is its own inverse reads of one what the other one's elements are computed of, so that
    /// nothing is read, or computed before, twice.
    pub pairs: bool,
    /// Tiles along each side of such a square: 1 of a workgroup, 2 of an invocation, one tile after the other, which are rows of 32 bytes at least where a tile has 16; but 1 where
    /// a function of the library is computed of each element, and the target has [few registers](crate::Hardware::few_registers), which so many results do not fit.
    pub along: i64,
}

/// Whose a tile is, and where it lies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TileOwner {
    /// A workgroup's: 32 × 32 elements in workgroup memory, a column more against bank conflicts, that invocations wait for at a barrier.
    Workgroup,
    /// An invocation's: 4 × 4 elements in registers, which it reads as four vectors and writes as four others.
    Invocation,
}

/// Rows and columns of a tile, and invocations that share it: XLA's choice, four rows at a time. Of runs, half of them where a tile would take more bytes.
const SIDE: i64 = 32;
const THREADS: u32 = 128;
const TILE_BYTES: i64 = 16 << 10;

/// Elements that stay side by side at most for runs to go through tiles: longer ones fill what a GPU's memory moves at a time, of 64 bytes, and of so many a tile would not fit.
const MAX_RUN: i64 = 15;

/// Elements of a tile of runs of one invocation at most: of more, drivers write long kernels. Measured for 12 million `f32` in runs of 2 to 15 as multiples of the time of a copy: 1.2 to 1.7 on
/// llvmpipe and SwiftShader; one by one runs of 3 take 3.5 and 2.4, runs of 5 3.2 and 4.1.
const OWN_ELEMENTS: i64 = 256;

/// Rows and columns of a tile of one invocation at least, and elements that share words and are moved together at least: a vector; invocations of a workgroup at most, and tiles along the columns that are too few for these. Measured for 4096² elements: with 8 × 8 elements, or
/// neighbors in squares, it takes twice as long on SwiftShader or llvmpipe, and without tiles 2.5 times on llvmpipe and 1.5 times on SwiftShader.
const OWN_SIDE: i64 = 4;
const OWN_THREADS: u32 = 64;
const FEW_TILES: i64 = 8;

/// Elements of a word at most: a tile of an invocation has a register for each of as many rows and columns.
const MAX_PER_WORD: i64 = 8;

/// Tiles of one invocation along each side of a square that it computes together with its mirror image, and neighbors that there are at least. With one tile the sum of the logarithms of
/// 4096² elements and of their transposition takes 0.85 of the time on SwiftShader, and 1.1 times as long on llvmpipe.
const ALONG: i64 = 2;
const MIN_NEIGHBORS: i64 = 8;

/// Units of work from which on what is computed of an element has a function of the library.
const DEAR: f64 = 8.0;

/// The extents of what a transposition moves, in the order of the result, with the strides that they have in the operand; dimensions that are neighbors in both
/// alike are one. Why there are none where they are not known, or elements are repeated or reversed.
fn space(computation: &Computation, id: InstrId) -> Result<Vec<(i64, i64)>, String> {
    let unknown = || "where its elements come from is not known".to_owned();
    let map = read_map(computation, id, 0).ok().flatten().ok_or_else(unknown)?;
    let read = leaf_extents(&computation.instructions[computation.instructions[id].operands[0]].shape);
    let space = merged(&map, &strides(&map, &read).ok_or_else(unknown)?);
    match space.iter().all(|(_, stride)| *stride > 0) {
        true => Ok(space),
        false => Err("it repeats or reverses elements".to_owned()),
    }
}

/// How many elements lie side by side in the operand of a transposition and in its result alike, if any do.
pub(crate) fn side_by_side(computation: &Computation, id: InstrId) -> Option<i64> {
    let (run, stride) = *space(computation, id).ok()?.last()?;
    (stride == 1).then_some(run)
}

/// Elements that are moved at a time by a transposition and to results of these types: [`Transposed::unit`].
fn unit(computation: &Computation, id: InstrId, results: &[ElementType]) -> Result<i64, String> {
    let moved = computation.instructions[id].shape.leaves().into_iter();
    let moved = moved.filter_map(|leaf| Some(leaf.as_array()?.element_type));
    let mut unit = 1;
    for ty in moved.chain(results.iter().copied()) {
        let form = Form::of(ty).filter(|form| form.parts() == 1);
        let form = form.ok_or_else(|| format!("tiles have elements of a word or less each, and not of {ty}"))?;
        let per_word = i64::from(form.per_word());
        if per_word > MAX_PER_WORD {
            return Err(format!("a word has {per_word} elements of {ty}"));
        }
        if form.is_packed() {
            unit = unit.max(per_word).max(OWN_SIDE);
        }
    }
    Ok(unit)
}

impl Transposed {
    /// The tiles of a transposition for a target, or why there are none.
    ///
    /// Dimensions that are neighbors in operand and result alike are one. Invocations of GPUs share a tile in workgroup memory, 128 of them one; devices in software, where a
    /// barrier costs more than reading side by side saves, have one of their own in registers each. `results` are the types that a kernel writes.
    pub(crate) fn of(
        computation: &Computation,
        id: InstrId,
        results: &[ElementType],
        target: &Target,
    ) -> Result<Transposed, String> {
        let mut space = space(computation, id)?;
        let unit = unit(computation, id, results)?;
        let run = space.pop_if(|(_, stride)| *stride == 1).map_or(1, |(run, _)| run);
        if run % unit.max(OWN_SIDE) == 0 {
            return Err("what lies side by side in the operand does so in the result".to_owned());
        }
        if run > MAX_RUN {
            return Err(format!("runs of {run} elements are read and written as they lie"));
        }
        let fastest = space.iter().map(|(_, stride)| *stride).min().unwrap_or(1);
        let row = space.iter().position(|(_, stride)| *stride == fastest).unwrap_or(0);
        if row + 1 >= space.len() {
            return Err("what lies side by side in the operand does so in the result".to_owned());
        }
        let extents = |dimensions: &[(i64, i64)]| dimensions.iter().map(|(extent, _)| *extent).product::<i64>();
        let (rows, columns) = (space[row].0, space[space.len() - 1].0);
        let most = target.max_invocations_per_workgroup.min(target.max_workgroup_size_x);
        let (tiles, threads) = match target.is_software() {
            true => (TileOwner::Invocation, OWN_THREADS.min(most)),
            false => (TileOwner::Workgroup, THREADS.min(most)),
        };
        let (outer, middle) = (extents(&space[..row]), extents(&space[row + 1..space.len() - 1]));
        let (pairs, along) = (false, 1);
        let mut transposed = Transposed { outer, rows, middle, columns, run, threads, tiles, unit, pairs, along };
        let side = transposed.side();
        if tiles == TileOwner::Workgroup {
            let units = u32::try_from(side * side / unit).unwrap_or(threads);
            transposed.threads = threads.min(units);
            let threads = i64::from(transposed.threads);
            if threads * unit < side || side * side % (unit * threads.max(1)) != 0 {
                return Err(format!("{threads} invocations do not share a tile evenly"));
            }
        }
        let elements = side * side * run;
        if run > 1 && tiles == TileOwner::Invocation && elements > OWN_ELEMENTS {
            return Err(format!("a tile of runs of {run} elements has {elements}, and an invocation {OWN_ELEMENTS}"));
        }
        if results.iter().any(|ty| Form::of(*ty).is_some_and(Form::is_packed)) && columns * run % unit != 0 {
            let elements = transposed.elements();
            transposed = transposed.in_whole_words().ok_or_else(|| format!("{elements} elements end within a word"))?;
        }
        if tiles == TileOwner::Invocation {
            let along = transposed.tiles_along(if transposed.is_along_rows() { rows } else { columns });
            let needed = u32::try_from(along).ok().and_then(u32::checked_next_power_of_two);
            transposed.threads = threads.min(needed.unwrap_or(threads)).max(1);
        }
        let groups = transposed.workgroups();
        let limit = i64::from(target.max_workgroups_per_dimension);
        if groups.iter().any(|groups| *groups > limit) {
            return Err(format!("its tiles are {groups:?}, and the target launches {limit} along each dimension"));
        }
        Ok(transposed)
    }

    /// The same elements in rows that begin with words, if they end with one: what lies between rows and columns is columns, and as many rows are one as it takes.
    fn in_whole_words(self) -> Option<Transposed> {
        let columns = self.middle * self.columns;
        let together = self.unit / greatest_divisor(columns * self.run, self.unit);
        let rows = self.outer * self.rows;
        match together {
            1 => Some(Transposed { middle: 1, columns, ..self }),
            _ if rows % together != 0 => None,
            _ => Some(Transposed { outer: 1, rows: rows / together, middle: 1, columns: together * columns, ..self }),
        }
    }

    /// The same elements in pairs of squares, if rows and columns are as many, a multiple of what a square has, and the transposition of which this is the space is its own inverse; it takes
    /// so many units of work to compute what is moved.
    pub(crate) fn in_pairs(
        &self,
        computation: &Computation,
        id: InstrId,
        units: f64,
        target: &Target,
    ) -> Option<Transposed> {
        let instruction = &computation.instructions[id];
        let read = leaf_extents(&computation.instructions[instruction.operands[0]].shape);
        let map = read_map(computation, id, 0).ok().flatten()?;
        let strides = strides(&map, &read)?;
        let Transposed { outer, rows, middle, columns, .. } = *self;
        // The strides that result and operand would have, were rows and columns swapped.
        let mut swapped =
            vec![(outer, rows * middle * columns), (rows, 1), (middle, columns), (columns, middle * columns)];
        swapped.retain(|(extent, _)| *extent > 1);
        if self.run > 1
            || rows != columns
            || merged(&map, &strides) != swapped
            || read != leaf_extents(&instruction.shape)
        {
            return None;
        }
        let along = match self.tiles {
            TileOwner::Workgroup => 1,
            TileOwner::Invocation if target.hardware.few_registers && units >= DEAR => 1,
            TileOwner::Invocation => ALONG,
        };
        let mut pairs = Transposed { pairs: true, along, ..*self };
        if rows % pairs.square() != 0 {
            return None;
        }
        let [width, height] = pairs.grid_of_pairs();
        if self.tiles == TileOwner::Invocation {
            let most =
                i64::from(OWN_THREADS.min(target.max_invocations_per_workgroup).min(target.max_workgroup_size_x));
            let shares = |threads: &i64| *threads <= most && (width * height) % threads == 0;
            let threads =
                (0..).map(|power| 1i64 << power).take_while(|threads| *threads <= most).filter(shares).last()?;
            if threads < MIN_NEIGHBORS {
                return None;
            }
            pairs.threads = u32::try_from(threads).ok()?;
        }
        let limit = i64::from(target.max_workgroups_per_dimension);
        pairs.workgroups().iter().all(|groups| *groups <= limit).then_some(pairs)
    }

    /// Rows and columns of a square that is computed together with its mirror image.
    pub fn square(&self) -> i64 {
        self.along * self.side()
    }

    /// A rectangle of as many places as there are pairs of squares, its width and its height. Of `n` squares along each side, the pairs of row `k` and those of row `n - 1 - k`,
    /// or `n - k` where `n` is odd, stand in one row of it.
    pub fn grid_of_pairs(&self) -> [i64; 2] {
        let squares = self.rows / self.square();
        match squares % 2 {
            0 => [squares + 1, squares / 2],
            _ => [squares, (squares + 1) / 2],
        }
    }

    /// How many elements there are.
    pub fn elements(&self) -> i64 {
        self.outer * self.rows * self.middle * self.columns * self.run
    }

    /// Rows of a tile, and columns.
    pub fn side(&self) -> i64 {
        match self.tiles {
            TileOwner::Workgroup if 4 * SIDE * (SIDE + 1) * self.run > TILE_BYTES => SIDE / 2,
            TileOwner::Workgroup => SIDE,
            TileOwner::Invocation => self.unit.max(OWN_SIDE),
        }
    }

    /// Rounds in which the invocations of a workgroup move the elements of a tile that they share: of each, as many as runs have elements.
    pub fn rounds(&self) -> i64 {
        self.side() * self.side() / (i64::from(self.threads) * self.unit).max(1)
    }

    /// Tiles of a workgroup along rows, and along columns: where they are the invocations' own, neighbors are neighbors along the columns, or along the rows where there
    /// are fewer than 8 tiles along the columns.
    pub fn tiles_of_workgroup(&self) -> [i64; 2] {
        match self.tiles {
            TileOwner::Workgroup => [1, 1],
            TileOwner::Invocation if self.is_along_rows() => [i64::from(self.threads), 1],
            TileOwner::Invocation => [1, i64::from(self.threads)],
        }
    }

    fn is_along_rows(&self) -> bool {
        self.tiles_along(self.columns) < FEW_TILES && self.tiles_along(self.columns) < self.tiles_along(self.rows)
    }

    /// Workgroups along columns, along rows, and beside these; of pairs, along the rectangle of these: its invocations are numbered row by row where tiles are their own.
    pub fn workgroups(&self) -> [i64; 3] {
        if self.pairs {
            let [width, height] = self.grid_of_pairs();
            let beside = self.outer * self.middle;
            return match self.tiles {
                TileOwner::Workgroup => [width, height, beside],
                TileOwner::Invocation => [width * height / i64::from(self.threads).max(1), 1, beside],
            };
        }
        let [along_rows, along_columns] = self.tiles_of_workgroup();
        let groups = |extent: i64, tiles: i64| (self.tiles_along(extent) + tiles - 1) / tiles;
        [groups(self.columns, along_columns), groups(self.rows, along_rows), self.outer * self.middle]
    }

    fn tiles_along(&self, extent: i64) -> i64 {
        (extent + self.side() - 1) / self.side()
    }

    /// Extents of the memory of a tile: in workgroup memory a run more than there are rows, so that columns begin in different banks.
    pub fn tile_extents(&self) -> [i64; 2] {
        let side = self.side();
        match self.tiles {
            TileOwner::Workgroup => [side, (side + 1) * self.run],
            TileOwner::Invocation => [side, side * self.run],
        }
    }
}

/// The greatest number that divides both, of which the second is positive.
fn greatest_divisor(a: i64, b: i64) -> i64 {
    if a % b == 0 { b } else { greatest_divisor(b, a % b) }
}

impl fmt::Display for Transposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Transposed { outer, rows, middle, columns, run, threads, tiles, unit, pairs, along } = self;
        let each = match tiles {
            TileOwner::Workgroup => "",
            TileOwner::Invocation => " each",
        };
        let pairs = if *pairs { format!(" in pairs of {}", along * self.side()) } else { String::new() };
        let unit = if *unit == 1 { String::new() } else { format!(" by {unit}") };
        let run = if *run == 1 { String::new() } else { format!(" of runs of {run}") };
        write!(
            f,
            "threads={threads} tile={}{each}{unit}{run}{pairs} space=[{outer}, {rows}, {middle}, {columns}]",
            self.side()
        )
    }
}
