//! Kernels that are shaped around a sum of products.

mod of_fourier;
mod of_gpus;
mod of_matrices;
mod packed;
mod rows;
mod together;

use crate::access::element_count;
use crate::contraction::{Contraction, Rows};
use crate::transposed::TileOwner;
use crate::{CooperativeMatrix, Form, Target};
use rows::Folding;
use std::fmt;
use weft_affine::{Atom, Expr, Var};
use weft_hlo::ir::{Computation, ElementType, InstrId, Op};

/// The results of a dot or a convolution in tiles: an invocation computes a rectangle of them, and what it reads of either operand serves a whole side of it.
///
/// Results are numbered `(o * rows + r) * columns + c`, as the dot has them: batch dimensions, those of the left operand, those of the right. The left operand is
/// read at `(o, r, k)` and the right one at `(o, k, c)`, where `k` runs over what is contracted, row-major in the order in which the dot names its dimensions. What these are of a
/// convolution is said by its plan ([`Factors`](crate::Factors)): `k` runs over the window, then over the features of the input, and where the window covers no element there is no product.
///
/// Products are added in the order of `k`, those of a [stretch](Product::stretch) from zero, and the sums of the stretches in their order; an invocation whose subgroup reads together, or that
/// reads for itself by a [window](crate::Factors::window) that all columns share, adds those of a [step](Product::step) first, of several [places](Product::crosses) one place after the other, and then their sum to that of the stretch; where [columns read each its
/// own](Product::apart) those of a step come in another order if windows do not cover all of them. So rounding errors of a sum are those of about `2 sqrt(depth)` additions in a row, of no more than 136 in the latter
/// case, or of 4,096 where an invocation of a GPU has 8 × 8 results, and not of `depth` (blocked summation: Higham, "Accuracy and Stability of Numerical Algorithms", chapter 4).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Matrices side by side.
    pub batch: i64,
    /// Rows of a result.
    pub rows: i64,
    /// Columns of a result.
    pub columns: i64,
    /// Products that each result is the sum of; those of a word count as one.
    pub depth: i64,
    /// Registers that an element of the operands or of the results takes, at most: 1, or 2 or 4 where elements are [wide](crate::Form), without vectors.
    pub words: i64,
    /// The type of numbers of 8 bits of which four, that follow one another in the order of `k`, are a word, `s8` or `u8`: so their products are added at once. The last word is filled with zeros.
    pub packed: Option<ElementType>,
    /// Rows and columns of the results that an invocation computes.
    pub tile: [i64; 2],
    /// Invocations of a workgroup along rows, and along columns.
    pub group: [i64; 2],
    /// Products that an invocation adds to each of its results at a time; where workgroups have tiles of the operands, how deep these are.
    pub step: i64,
    /// Products that are added up before their sum is added to that of those before; the last are what is left.
    pub stretch: i64,
    /// Whose the tiles of the operands are: a workgroup's, in its memory, or an invocation's, which reads for itself.
    pub tiles: TileOwner,
    /// Columns that an invocation computes as a vector: 1 or 4.
    pub lanes: u32,
    /// Whether a workgroup reads its next tiles of the operands while it adds the products of those that it has; none of an operand that windows do not cover everywhere.
    pub ahead: bool,
    /// Columns that read the same of the left operand, if others do not: the features of a group, if these are too few for tiles. Then an invocation reads for its row of results what their windows cover, and each of
    /// it once. 0 where all columns read the same.
    pub apart: i64,
    /// How many products in a row are of one place of a window, where those of a step are of several, each of which may cover an element or not; 0 where they are of one.
    pub crosses: i64,
    /// Invocations of a subgroup, which is the workgroup, that each read other elements of a row of the left operand and hand them to one another; 1 where each reads all that it needs. Where there are
    /// [matrices](Product::matrices), those of each subgroup.
    pub members: i64,
    /// The matrices that subgroups multiply, if they do: then a [tile](Product::tile) has the results of a subgroup, and a [group](Product::group) subgroups.
    pub matrices: Option<CooperativeMatrix>,
    /// Whether the left operand is the matrix of a Fourier transform, [of which the dot says so](weft_hlo::passes::FourierMatrix::of), and an invocation reads none of it: it has all results of its columns then, and computes them by a
    /// [`LinearProgram`](crate::LinearProgram).
    pub transforms: bool,
}

/// Rows and columns of the results of an invocation that reads for itself, at most, with vectors and without. Measured for 1024³ `f32` as multiples of the time with 4 × 4, on llvmpipe and
/// SwiftShader: 8 × 8 0.35 and 0.55, 16 × 16 0.23 and 0.33, 32 × 16 0.21 and 0.30, which takes drivers twice as long to compile.
const OWN_ROWS: i64 = 16;
const OWN_COLUMNS: i64 = 16;
const OWN_COLUMNS_APART: i64 = 8;

/// Invocations of a workgroup that read for themselves: those that a rasterizer runs side by side, so that workgroups go down columns while the right operand is in a cache.
const OWN_THREADS: i64 = 8;

/// Multiply-adds that take a processor far less time than a driver takes to compile a kernel of many results an invocation: of fewer an invocation has a quarter of the results. Their runs take as long, and a training step of a
/// transformer of 32 features is compiled in 17 s instead of 42 by SwiftShader, `qr` of 256² elements in 4.8 s instead of 5.8 by llvmpipe.
const SMALL_PRODUCT: f64 = (1 << 22) as f64;
const FEWER_RESULTS: i64 = 4;

/// Steps that have one sum, and no stretches.
const STEPS_IN_ONE: i64 = 128;

/// Invocations that each core of a device in software is to have before tiles grow.
const OWN_INVOCATIONS: i64 = 8;

/// Products that are added at a time by an invocation that reads for itself, where they are a multiple of it: a vector of the left operand.
const VECTOR: i64 = 4;

/// Numbers of 8 bits that a word holds.
const BYTES: i64 = 4;

/// Products of a stretch are a multiple of so many, which are whole steps of either kind of device.
const WHOLE_STEPS: i64 = 8;

/// Results along a line of places of an invocation whose columns read each its own: neighbors share what their windows cover; vectors of them in all lines. Lines beside each other, those first that share more; invocations of a
/// workgroup, and how many workgroups a core is to have.
const LINE: i64 = 8;
const LINE_VECTORS: i64 = 16;
const LINE_OF_GPUS: i64 = 4;
const LINES: [i64; 3] = [4, 2, 1];
const LINES_OF_GPUS: [i64; 2] = [2, 1];
const LINE_THREADS: i64 = 64;
const LINE_GROUPS: i64 = 4;

/// Products along such a line that are added at a time, at most: all of a window that has no more, else a divisor of these, or as many as there are if these have none.
const LINE_STEP: i64 = 9;
const LONG_LINE_STEP: i64 = 24;

/// Products, and results, that are too few for tiles.
const FEW_PRODUCTS: i64 = 4;
const FEW_RESULTS: i64 = 16;

/// Features of a group that are too few for tiles: an element of the input is read by so few results of a place. Measured for 64 groups of one feature of 56 × 56 places on llvmpipe: tiles take 1.5 times as long as
/// a loop.
const FEW_FEATURES: i64 = 4;

/// So many parts of a number, as equal as can be, that none has more than so many.
fn balanced(count: i64, most: i64) -> i64 {
    let parts = parts(count, most);
    (count + parts - 1) / parts
}

/// How many parts of so many a number has.
fn parts(count: i64, part: i64) -> i64 {
    ((count + part - 1) / part).max(1)
}

/// The least power of two that is no less.
fn power_of_two(count: i64) -> i64 {
    u64::try_from(count)
        .ok()
        .and_then(u64::checked_next_power_of_two)
        .and_then(|it| i64::try_from(it).ok())
        .unwrap_or(1)
}

impl Product {
    /// Words between the row of a product in the tile of an operand of a workgroup and the next one's, where invocations store to several rows at once.
    pub const BETWEEN_PRODUCTS: i64 = VECTOR;

    /// The tiles of a dot for a target, or why there are none, in a kernel that writes results of these types and has so many such sums, of tiles alike.
    ///
    /// - On GPUs dots of numbers of 8 bits, or fewer, into `s32` or `u32` of at least 8 products add four products at a time ([`packed`](Product::packed)).
    /// - Columns are computed as vectors of four where they are a multiple of four, and elements are words.
    /// - Elements of several registers (`f64`, `s64`, `u64`, `c64`, `c128`): an invocation has so many times fewer results, and in software reads for itself. None for a matrix by a vector, of which each element is for one result, and where
    ///   columns read each its own: on llvmpipe both take as long as loops, or up to 1.3 times as long, and the latter 5 s to compile.
    /// - Devices in software whose subgroups are all of one size, 4 or 8: a workgroup is a subgroup, which lies along columns and has tiles of up to 4 × its size rows and columns, and 256 results, the columns of
    ///   which divide those that there are; 8 products of each result at a time. If half of a subgroup had no columns, there is none. Where registers are few, half as many rows again, but of small products and of windows that lie half outside.
    ///   Of such windows products of one place at a time: 8 where these divide those that a place has, else their greatest divisor from 12 down to 3, or, if there is none, 8 [of several places](Product::crosses), of half as many rows.
    /// - Devices in software where the left operand is the [matrix of a Fourier transform](Product::transforms): all rows and a vector of columns.
    /// - Other devices in software: tiles of up to 16 × 16 results (16 × 8 without vectors) that divide rows and columns as evenly as can be, and smaller ones as long as there are
    ///   fewer than 8 invocations a core; 8 invocations a workgroup, as many of them along the columns as there are tiles; 4 products of each result at a time where they are a multiple of 4.
    /// - GPUs whose subgroups multiply matrices that lose nothing of the operands: tiles of both in workgroup memory, [of which subgroups take matrices](Product::of_matrices).
    /// - Other GPUs, and other operands: tiles of both operands in workgroup memory, or none, [by their makers](Product::of_gpus).
    /// - In software, of fewer than 2^22 multiply-adds a quarter as many results an invocation.
    /// - Of several sums (a power of two, rounded up) an invocation that reads for itself has so many times fewer results of each: their registers are one kernel's. Complex products are four sums of real ones.
    /// - Convolutions of fewer than 4 features of a group, or places: columns are the features of all groups, each of which reads its own part of the input. An invocation has results of 4 or 2 lines of places, if
    ///   these divide a dimension whose windows overlap and have at most 16 elements with the line, else of one; 8 along a line, but no more than 16 vectors; on GPUs of two lines or one, 4 along it, or fewer if there were fewer invocations
    ///   than lanes. Its columns are a vector of features where these lie side by side, else those of a group. It adds as many products at a time as a window has along the lines (up to 9, or a divisor). A workgroup has 64
    ///   invocations, along the columns first, and fewer if there were fewer than 4 workgroups a core, but no fewer than columns as long as each core has one.
    /// - Else a stretch has about as many products as there are stretches: `sqrt(depth)`, rounded up to a multiple of 8; where subgroups read together about as many steps, and all of them where they are at most 128.
    pub(crate) fn of(
        computation: &Computation,
        id: InstrId,
        (results, sums): (&[ElementType], usize),
        target: &Target,
    ) -> Result<(Product, Contraction), String> {
        let contraction = Contraction::of(computation, id, Rows::Places)?;
        if let Op::Convolution { .. } = computation.instructions[id].op
            && contraction.rows.min(contraction.columns) < FEW_FEATURES
        {
            let lines: &[i64] = if target.is_software() { &LINES } else { &LINES_OF_GPUS };
            let of = |lines: &i64| {
                let contraction = Contraction::of(computation, id, Rows::Apart(*lines))?;
                Product::of_contraction(contraction, computation, id, (results, sums, None), target)
            };
            return lines.iter().map(of).reduce(Result::or).unwrap_or_else(|| Err("there are no lines".to_owned()));
        }
        Product::of_contraction(contraction, computation, id, (results, sums, None), target).or_else(|why| {
            let contraction = Contraction::of(computation, id, Rows::Line)?;
            Product::of_contraction(contraction, computation, id, (results, sums, None), target).map_err(|_| why)
        })
    }

    fn of_contraction(
        contraction: Contraction,
        computation: &Computation,
        id: InstrId,
        (results, sums, folding): (&[ElementType], usize, Option<Folding>),
        target: &Target,
    ) -> Result<(Product, Contraction), String> {
        let Contraction { batch, rows, columns, depth, run, line, .. } = contraction;
        if depth < FEW_PRODUCTS {
            return Err(format!("each result is the sum of {depth} products"));
        }
        let count = element_count(&computation.instructions[id].shape);
        let in_tiles = if contraction.apart.is_some() { count } else { rows as f64 * columns as f64 };
        if in_tiles < FEW_RESULTS as f64 || count >= i64::MAX as f64 {
            return Err(format!("{rows} by {columns} results are no tiles"));
        }
        let words = words(computation, id)?;
        if words > 1 && (columns == 1 || contraction.apart.is_some()) {
            return Err(format!("its elements take {words} registers each, and few results share one"));
        }
        let are_vectors =
            words == 1 && columns % VECTOR == 0 && (contraction.apart.is_none() || contraction.keeps_columns());
        let lanes = if are_vectors { 4 } else { 1 };
        let forms = results.iter().map(|ty| Form::of(*ty).ok_or_else(|| format!("it has results of {ty}")));
        for form in forms.collect::<Result<Vec<_>, _>>()? {
            if form.is_packed() && i64::from(lanes) % i64::from(form.per_word()) != 0 {
                return Err(format!("rows of {columns} results share words"));
            }
        }
        let packed = packed::of(computation, id, depth, target);
        let depth = if packed.is_some() { parts(depth, BYTES) } else { depth };
        let space = Product {
            batch,
            rows,
            columns,
            depth,
            words,
            packed,
            tile: [1, 1],
            group: [1, 1],
            step: 1,
            stretch: depth,
            tiles: TileOwner::Invocation,
            lanes,
            ahead: false,
            apart: contraction.apart.unwrap_or(0),
            crosses: 0,
            members: 1,
            matrices: None,
            transforms: false,
        };
        let sums = power_of_two(i64::try_from(sums).unwrap_or(i64::MAX)).saturating_mul(words);
        let product = match target.is_software() {
            _ if space.apart > 0 => space.along_lines(run, contraction.lines, target)?,
            true if folding.is_some() => space.own_rows(sums, target)?,
            true if let Some(product) = space.of_fourier(computation, id, target) => product,
            true if words > 1 => space.own(sums, target),
            true => match space.together(sums, contraction.lhs.is_partial, target) {
                Some(it) if contraction.lhs.is_partial => it.in_places(run),
                Some(it) => it,
                None => space.own(sums, target),
            },
            false => match space.of_matrices(&contraction, (computation, id), sums, target) {
                Ok(product) if folding.is_none() => product,
                _ => space.of_gpus((sums, folding), target)?,
            },
        };
        let product = match space.apart {
            0 if product.matrices.is_none() => product.in_lines(line).in_runs(run, contraction.lhs.is_partial),
            _ => product,
        };
        let product = Product { ahead: product.ahead && !contraction.lhs.is_partial, ..product };
        let groups = product.workgroups();
        let limit = i64::from(target.max_workgroups_per_dimension);
        if groups.iter().any(|groups| *groups > limit) {
            return Err(format!("its tiles are {groups:?}, and the target launches {limit} along each dimension"));
        }
        if !contraction.is_in_order && !contraction.results.results().iter().all(|index| product.divides(index)) {
            return Err("tiles do not divide the dimensions of its results".to_owned());
        }
        Ok((product, contraction))
    }

    /// Whether an index of elements is one of whole tiles with places in these: rows and columns are divided by themselves, and only by what divides a side of a tile, or is a multiple of it.
    pub(crate) fn divides(&self, index: &Expr) -> bool {
        index.terms().iter().all(|term| {
            let (argument, divisor) = match &term.atom {
                Atom::Var(_) => return true,
                Atom::FloorDiv(argument, divisor) | Atom::Mod(argument, divisor) => (argument, *divisor),
            };
            let lanes = i64::from(self.lanes);
            let fits = |dimension: u32, side: i64, unit: i64| {
                let is_divided = argument.variables().contains(&Var::Dim(dimension));
                let is_alone = argument.terms().len() == 1 && argument.constant_term() == 0;
                !is_divided || is_alone && (side % divisor == 0 || divisor % side == 0) && divisor % unit == 0
            };
            fits(1, self.tile[0], 1) && fits(2, self.tile[1], lanes) && self.divides(argument)
        })
    }

    /// Whether it takes less time than compiling it does, so that its kernel is to be small.
    fn is_small(&self) -> bool {
        let extents = [self.batch, self.rows, self.depth, self.columns].map(|extent| extent as f64);
        extents.iter().product::<f64>() < SMALL_PRODUCT
    }

    /// Tiles of invocations that read for themselves.
    fn own(self, sums: i64, target: &Target) -> Product {
        let lanes = i64::from(self.lanes);
        let most = target.max_invocations_per_workgroup.min(target.max_workgroup_size_x);
        let threads = OWN_THREADS.min(i64::from(most)).max(1);
        let wanted = OWN_INVOCATIONS.saturating_mul(i64::from(target.hardware.cores.max(1)));
        let mut limits = [OWN_ROWS, if lanes > 1 { OWN_COLUMNS } else { OWN_COLUMNS_APART }];
        let results = limits[0] * limits[1] / sums / if self.is_small() { FEWER_RESULTS } else { 1 };
        while limits[0] * limits[1] > results.max(lanes) {
            let larger = usize::from(limits[1] > limits[0]);
            limits[larger] /= 2;
        }
        limits[1] = limits[1].max(lanes);
        loop {
            let [rows, columns] = limits;
            let tile = [balanced(self.rows, rows), lanes * balanced(self.columns / lanes, columns / lanes)];
            let own = Product { tile, ..self };
            let [along_rows, along_columns] = own.blocks();
            let is_small = tile[0] == 1 && tile[1] == lanes;
            if is_small || self.batch.saturating_mul(along_rows).saturating_mul(along_columns) >= wanted {
                let columns = power_of_two(along_columns).min(power_of_two(threads + 1) / 2);
                let rows = (threads / columns).max(1).min(power_of_two(along_rows));
                let step = if self.depth % VECTOR == 0 { VECTOR } else { 1 };
                return Product { group: [rows, columns], step, ..own }.in_stretches();
            }
            match tile[0] * lanes > tile[1] || tile[1] == lanes {
                true => limits[0] = tile[0] / 2,
                false => limits[1] = lanes * (tile[1] / lanes / 2),
            }
            limits = [limits[0].max(1), limits[1].max(lanes)];
        }
    }

    /// Tiles of invocations whose columns read each its own of the left operand, along so many lines of places, of windows that have so many along these.
    fn along_lines(self, run: i64, lines: i64, target: &Target) -> Result<Product, String> {
        let (lanes, cores) = (i64::from(self.lanes), i64::from(target.hardware.cores.max(1)));
        let columns = if lanes > 1 { lanes } else { self.apart };
        let most = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x));
        let mut limit = match (target.is_software(), lanes) {
            (true, 1) => LINE,
            (true, _) => LINE.min(LINE_VECTORS / lines),
            (false, _) => LINE_OF_GPUS,
        };
        let wanted = if target.is_software() { 1 } else { cores * i64::from(target.hardware.lanes_per_core) };
        let tiled = loop {
            let tiled = Product { tile: [lines * balanced(self.rows / lines, limit), columns], ..self };
            let invocations = tiled.blocks().into_iter().fold(self.batch, i64::saturating_mul);
            if invocations >= wanted {
                break tiled;
            }
            if limit == 1 {
                return Err(format!("{invocations} invocations are few"));
            }
            limit /= 2;
        };
        let [along_rows, along_columns] = tiled.blocks();
        let mut threads = power_of_two(LINE_THREADS.min(most) + 1) / 2;
        let grouped = loop {
            let columns = power_of_two(along_columns).min(threads);
            let rows = (threads / columns).min(power_of_two(along_rows));
            let grouped = Product { group: [rows, columns], ..tiled };
            let groups = grouped.workgroups().into_iter().fold(1, i64::saturating_mul);
            let is_whole = threads > power_of_two(along_columns);
            if groups >= LINE_GROUPS * cores || groups >= cores && !is_whole || threads <= OWN_THREADS {
                break grouped;
            }
            threads /= 2;
        };
        let divisor = (VECTOR..=LINE_STEP).rfind(|step| run % step == 0);
        let step = match divisor {
            _ if run <= LINE_STEP || lines > 1 => run,
            Some(divisor) => divisor,
            None if run <= LONG_LINE_STEP => run,
            None => WHOLE_STEPS,
        };
        // Whole windows along the line, or steps of them.
        let root = (self.depth as f64).sqrt().ceil() as i64;
        let unit = if run % step == 0 { run } else { step };
        let stretch = (parts(root, unit) * unit).min(self.depth);
        let stretch = if self.depth <= STEPS_IN_ONE { self.depth } else { stretch };
        Ok(Product { step, stretch, ..grouped })
    }

    /// Bytes of the tiles of both operands in workgroup memory, with what may lie between their rows.
    fn tile_bytes(&self) -> i64 {
        BYTES * self.words * (self.tile_elements(0) + self.tile_elements(1) + 2 * self.step * Product::BETWEEN_PRODUCTS)
    }

    fn in_stretches(self) -> Product {
        let root = (self.depth as f64).sqrt().ceil() as i64;
        let stretch = (parts(root, WHOLE_STEPS) * WHOLE_STEPS).min(self.depth);
        Product { stretch, ..self }
    }

    fn in_stretches_of_steps(self) -> Product {
        let steps = parts(self.depth, self.step);
        let stretch = match steps <= STEPS_IN_ONE {
            true => self.depth,
            false => (steps as f64).sqrt().ceil() as i64 * self.step,
        };
        Product { stretch, ..self }
    }

    /// The same where rows are places of a window in lines, and an invocation reads for itself: tiles divide a line, if that leaves more than half of them, so that what is computed of a line serves
    /// a tile.
    fn in_lines(self, line: i64) -> Product {
        let Product { tile: [rows, columns], tiles, .. } = self;
        match tiles {
            TileOwner::Workgroup => self,
            TileOwner::Invocation => {
                let rows = (rows / 2 + 1..=rows).rfind(|rows| line % rows == 0).unwrap_or(rows);
                Product { tile: [rows, columns], ..self }
            }
        }
    }

    /// The same where products come in runs, each of one place of a window, so that what is computed of the place serves a step, or a stretch.
    ///
    /// - Where a run has whole steps of either kind of device, stretches divide runs.
    /// - Else an invocation that reads for itself and has places to test adds a part of a run at a time: 4 products, or as many up to 8 as divide it.
    fn in_runs(self, run: i64, is_partial: bool) -> Product {
        let Product { depth, stretch, tiles, members, .. } = self;
        if run >= depth || members > 1 {
            return self;
        }
        let whole = if tiles == TileOwner::Workgroup { self.step } else { WHOLE_STEPS };
        if run % whole == 0 {
            let least = (stretch..run).find(|stretch| stretch % whole == 0 && run % stretch == 0);
            return Product { stretch: least.unwrap_or(run), ..self };
        }
        if tiles == TileOwner::Workgroup || !is_partial {
            return self;
        }
        let step =
            if run % VECTOR == 0 { VECTOR } else { (1..=WHOLE_STEPS).rfind(|step| run % step == 0).unwrap_or(1) };
        Product { step, stretch: (parts(stretch, step) * step).min(depth), ..self }
    }

    /// How many whole stretches there are, and how many products are left behind them.
    pub fn stretches(&self) -> (i64, i64) {
        (self.depth / self.stretch, self.depth % self.stretch)
    }

    /// Tiles of results along rows, and along columns.
    pub fn blocks(&self) -> [i64; 2] {
        [parts(self.rows, self.tile[0]), parts(self.columns, self.tile[1])]
    }

    /// Workgroups along columns, along rows, and beside these.
    pub fn workgroups(&self) -> [i64; 3] {
        let [rows, columns] = self.blocks();
        [parts(columns, self.group[1]), parts(rows, self.group[0]), self.batch]
    }

    /// Invocations of a workgroup.
    pub fn invocations(&self) -> i64 {
        let members = if self.matrices.is_some() { self.members } else { 1 };
        self.group[0] * self.group[1] * members
    }

    /// Invocations of a workgroup, each lane one.
    pub fn places(&self) -> i64 {
        self.invocations() * i64::from(self.lanes)
    }

    /// How many elements results have.
    pub fn elements(&self) -> i64 {
        self.batch.saturating_mul(self.rows).saturating_mul(self.columns)
    }

    /// Rows, or columns, of the results of a workgroup.
    pub fn side(&self, dimension: usize) -> i64 {
        self.tile[dimension] * self.group[dimension]
    }

    /// Elements of the workgroup's tile of the left operand (0), or of the right (1).
    pub fn tile_elements(&self, operand: usize) -> i64 {
        self.side(operand) * self.step
    }

    /// How often each element of the left operand is read, and of the right: once for each tile that it is for.
    pub fn reads(&self) -> [i64; 2] {
        let [groups_along_columns, groups_along_rows, _] = self.workgroups();
        match self.tiles {
            _ if self.apart > 0 => [parts(self.columns, self.apart), self.blocks()[0]],
            TileOwner::Workgroup => [groups_along_columns, groups_along_rows],
            TileOwner::Invocation => {
                let [rows, columns] = self.blocks();
                [parts(columns, self.members), rows]
            }
        }
    }

    /// How often elements of the left operand are computed, and of the right.
    pub(crate) fn evaluations(&self) -> [f64; 2] {
        let [left, right] = self.reads();
        [[self.rows, left], [self.columns, right]]
            .map(|[side, times]| [self.batch, self.products(), side, times].map(|count| count as f64).iter().product())
    }

    /// Products that each result is the sum of, zeros that fill a word included.
    pub fn products(&self) -> i64 {
        if self.packed.is_some() { self.depth.saturating_mul(BYTES) } else { self.depth }
    }

    /// The same without vectors.
    pub fn without_vectors(self) -> Product {
        Product { lanes: 1, ..self }
    }
}

/// How many registers an element of the operands or of the results takes, at most; an error where there are no sums of numbers.
pub(crate) fn words(computation: &Computation, id: InstrId) -> Result<i64, String> {
    let instruction = &computation.instructions[id];
    let shapes = instruction.operands.iter().map(|operand| &computation.instructions[*operand].shape);
    let mut words = 1;
    for shape in shapes.chain([&instruction.shape]) {
        let ty = shape.as_array().map(|array| array.element_type).ok_or("it has several results")?;
        let form = Form::of(ty).filter(|_| ty != ElementType::Pred);
        words = words.max(i64::from(form.ok_or_else(|| format!("tiles have no sums of {ty}"))?.parts()));
    }
    Ok(words)
}

/// Whether products are added in registers of 32 bits.
pub(crate) fn adds_words(computation: &Computation, id: InstrId) -> Result<(), String> {
    match words(computation, id)? {
        1 => Ok(()),
        words => Err(format!("its elements take {words} registers each, and are to be words")),
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Product {
            batch,
            rows,
            columns,
            depth,
            tile,
            group,
            step,
            stretch,
            tiles,
            lanes,
            ahead,
            apart,
            crosses,
            members,
            matrices,
            transforms,
            words,
            ..
        } = self;
        let own = if *tiles == TileOwner::Invocation { "" } else { " shared" };
        let of_stretches = if stretch == depth { String::new() } else { format!(" stretch={stretch}") };
        let lanes = if *lanes == 1 { String::new() } else { format!(" lanes={lanes}") };
        let ahead = if *ahead { " ahead" } else { "" };
        let apart = if *apart == 0 { String::new() } else { format!(" apart={apart}") };
        let crosses = if *crosses == 0 { String::new() } else { format!(" crosses={crosses}") };
        let packed = self.packed.map_or_else(String::new, |ty| format!(" packed={ty}"));
        let words = if *words == 1 { String::new() } else { format!(" words={words}") };
        let members = if *members == 1 { String::new() } else { format!(" members={members}") };
        let matrices = matrices.map_or_else(String::new, |CooperativeMatrix { m, n, k, factor, .. }| {
            format!(" matrices={m}x{n}x{k}:{factor}")
        });
        let transforms = if *transforms { " transforms" } else { "" };
        write!(
            f,
            "group={}x{} tile={}x{}{own} step={step}{ahead}{of_stretches}{words}{lanes}{apart}{members}{matrices}{transforms}{crosses}{packed} space=[{batch}, {rows}, {depth}, {columns}]",
            group[0], group[1], tile[0], tile[1]
        )
    }
}
