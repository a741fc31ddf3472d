//! Kernels that are shaped around attention: products of queries and keys, a softmax over the keys, and products with the values.

use crate::Target;
use crate::transposed::TileOwner;
use std::fmt;
use weft_affine::{Atom, Expr, Var};

/// Attention in one kernel: scores are never written, so memory grows with the sequence and not with its square.
///
/// For each of `batch` matrices and each query the scores of a block of keys are sums of products over [`depth`](Self::depth), in the order of these. The greatest score so far scales what has been added: where a block has
/// a greater one, the sum of exponentials and the [`columns`](Self::columns) of the result so far are multiplied by the exponential of the difference, once a block; then the exponentials of the block's scores, less
/// the greatest, are added to the sum, and their products with the values to the columns. At last columns are divided by the sum (online softmax: Milakov and Gimelshein, "Online normalizer calculation for softmax";
/// Dao et al., "FlashAttention").
///
/// So exponentials are divided by their sum after they are multiplied, wherever the program divides; where it rounds what it has divided to a narrower type, here the exponentials are rounded to it, and what divides is added up as the program says.
/// Relative errors are the same. A row all of whose scores are negative infinities is what the program says of such a row, and a block of these in another row is nothing.
///
/// # Schedules
/// - In software an invocation has up to 8 queries and all columns, so many that it has 256 sums; 8 keys at a time, or 4 where there would be more than 768 products with values in a round; 2 queries
///   and 4 keys of fewer than 2^22 multiply-adds in all. Where subgroups have 4 or 8 invocations
///   these are a workgroup and read keys and values together, else 8 invocations are.
/// - On GPUs a workgroup has 16 × 16 invocations, or 8 × 16, 8 × 8 or 4 × 8, so that tiles fit in workgroup memory, and if that makes two for each core. An invocation has the scores of 4 queries and 4 keys; tiles of queries, keys and values are
///   16 products deep, or 8 where that is all that fits, and the exponentials go through a tile of their own to who multiplies them with values: an invocation has its queries' sums for a part of the columns, 64 at most.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Attention {
    /// Matrices side by side.
    pub batch: i64,
    /// Rows of the scores, and of the result.
    pub queries: i64,
    /// Columns of the scores.
    pub keys: i64,
    /// Products that a score is the sum of.
    pub depth: i64,
    /// Columns of the result: those of the values.
    pub columns: i64,
    /// Queries of an invocation.
    pub rows: i64,
    /// Keys of an invocation in a block.
    pub across: i64,
    /// Invocations of a workgroup along queries, and along keys and columns.
    pub group: [i64; 2],
    /// Products, and keys, that are added at a time.
    pub step: i64,
    /// Whose the tiles are: a workgroup's, in its memory, or an invocation's, which reads for itself.
    pub tiles: TileOwner,
    /// Columns that an invocation computes as a vector: 1 or 4.
    pub lanes: u32,
    /// Words of workgroup memory that an invocation needs for each of its queries, where maxima and sums of all are folded together: those of both, unless they have registers of one type.
    pub folded_words: i64,
    /// Invocations of a subgroup, which is the workgroup, that read keys and values for one another; 1 where each reads all that it needs.
    pub members: i64,
}

/// Sums of products with values that an invocation in software has at most, its queries at most, its keys in a block, and such products of a block.
const OWN_SUMS: i64 = 256;
const OWN_ROWS: i64 = 8;
const OWN_KEYS: i64 = 8;
const OWN_PRODUCTS: i64 = 768;
/// Multiply-adds of scores and of values that take less time than compiling tiles of so many queries does, so that these and the blocks of keys are to be smaller. With 8 queries and 8 keys SwiftShader compiles 4 × 77 × 77 × 32 `f16` for 28 s,
/// and computes them for 12 ms.
const SMALL: f64 = (1 << 22) as f64;
const FEWER_ROWS: i64 = 4;
const FEWER_KEYS: i64 = 2;
/// Invocations of a workgroup in software.
const OWN_THREADS: i64 = 8;
/// Invocations that each core of a device in software is to have before queries of an invocation grow.
const OWN_INVOCATIONS: i64 = 8;
/// Products that are added at a time by an invocation that reads for itself.
const OWN_STEP: i64 = 4;

/// Invocations of a workgroup of a GPU along queries, and along keys and columns; queries and keys of an invocation, how deep tiles are if they fit, and sums of products with values of an invocation. Where larger workgroups are fewer than
/// so many a core, smaller ones are taken. Eight heads of 1,024 queries take an NVIDIA H200 0.82 of the time with tiles 16 deep instead of 8, and 1.1 times as long with 32.
const SHARED_GROUPS: [[i64; 2]; 4] = [[16, 16], [8, 16], [8, 8], [4, 8]];
const SHARED_SIDE: i64 = 4;
const SHARED_STEPS: [i64; 2] = [16, 8];
const SHARED_SUMS: i64 = 64;
const GROUPS_OF_CORE: i64 = 2;

/// How many parts of so many a number has.
fn parts(count: i64, part: i64) -> i64 {
    ((count + part - 1) / part.max(1)).max(1)
}

impl Attention {
    /// The schedule for matrices of so many queries, keys, products of a score and columns, whose maxima and sums take so many words, or why there is none.
    pub(crate) fn of(
        [batch, queries, keys, depth, columns]: [i64; 5],
        folded_words: i64,
        target: &Target,
    ) -> Result<Attention, String> {
        let extents = [batch, queries, keys, depth, columns];
        if extents.contains(&0) {
            return Err("there are no elements".to_owned());
        }
        if extents.iter().map(|extent| *extent as f64).product::<f64>() >= i64::MAX as f64 {
            return Err("there are too many products to count".to_owned());
        }
        let most = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x));
        let space = Attention {
            batch,
            queries,
            keys,
            depth,
            columns,
            rows: 1,
            across: 1,
            group: [1, 1],
            step: 1,
            tiles: TileOwner::Invocation,
            lanes: 1,
            folded_words,
            members: 1,
        };
        let schedule = if target.is_software() { space.own(most, target)? } else { space.shared(most, target)? };
        let limit = i64::from(target.max_workgroups_per_dimension);
        let groups = schedule.workgroups();
        match groups.iter().any(|groups| *groups > limit) {
            true => Err(format!("its workgroups are {groups:?}, and the target launches {limit} along each dimension")),
            false => Ok(schedule),
        }
    }

    /// Invocations that read for themselves, or keys and values for their subgroup.
    fn own(self, most: i64, target: &Target) -> Result<Attention, String> {
        let Attention { batch, queries, columns, .. } = self;
        if columns > OWN_SUMS {
            return Err(format!("{columns} columns of values are too many for the registers of an invocation"));
        }
        let sizes = target.features.subgroup.filter(|sizes| sizes.min == sizes.max && matches!(sizes.min, 4 | 8));
        let members = sizes.map_or(1, |sizes| i64::from(sizes.min));
        let members = if members <= most && 2 * queries > members { members } else { 1 };
        let lanes = if columns % 4 == 0 { 4 } else { 1 };
        let wanted = OWN_INVOCATIONS.saturating_mul(i64::from(target.hardware.cores.max(1)));
        let most_rows = if self.is_small() { OWN_ROWS / FEWER_ROWS } else { OWN_ROWS };
        let mut rows = (OWN_SUMS / columns).clamp(1, most_rows);
        while rows > 1 && batch.saturating_mul(parts(queries, rows)) < wanted {
            rows /= 2;
        }
        rows = parts(queries, parts(queries, rows));
        let fits = |keys: i64| keys * rows * columns / i64::from(lanes) <= OWN_PRODUCTS;
        let across = if fits(OWN_KEYS) && !self.is_small() { OWN_KEYS } else { OWN_KEYS / FEWER_KEYS }.min(self.keys);
        let threads = if members > 1 { members } else { OWN_THREADS.min(most).min(parts(queries, rows)) };
        let step = if members > 1 { members } else { OWN_STEP };
        Ok(Attention { rows, across, group: [threads, 1], step, lanes, members, ..self })
    }

    /// Whether it takes less time than compiling large tiles does.
    fn is_small(&self) -> bool {
        let scores = [self.batch, self.queries, self.keys].iter().map(|extent| *extent as f64).product::<f64>();
        scores * (self.depth as f64 + self.columns as f64) < SMALL
    }

    /// Tiles of workgroups.
    fn shared(self, most: i64, target: &Target) -> Result<Attention, String> {
        if target.faults.barriers {
            return Err("barriers do not work on the target".to_owned());
        }
        let Attention { queries, keys, columns, batch, .. } = self;
        let bytes = i64::from(target.max_workgroup_storage_bytes);
        let lanes = if keys % 4 == 0 && columns % 4 == 0 { 4 } else { 1 };
        let of = |group: [i64; 2], step: i64| {
            let (rows, across) = (SHARED_SIDE.min(queries), SHARED_SIDE);
            Attention { rows, across, group, step, tiles: TileOwner::Workgroup, lanes, ..self }
        };
        let fits = |it: &Attention| {
            let is_held = it.rows * it.own_columns() <= SHARED_SUMS;
            is_held && it.group[0] * it.group[1] <= most && it.tile_bytes() <= bytes
        };
        let deepest = |group: &[i64; 2]| SHARED_STEPS.iter().map(|step| of(*group, *step)).find(fits);
        let wanted = GROUPS_OF_CORE * i64::from(target.hardware.cores);
        let is_enough = |it: &Attention| batch.saturating_mul(it.workgroups()[0]) >= wanted;
        let found: Vec<Attention> = SHARED_GROUPS.iter().filter_map(deepest).collect();
        let found = found.iter().find(|it| is_enough(it)).or(found.last());
        found.copied().ok_or_else(|| match columns > SHARED_SUMS / SHARED_SIDE * SHARED_GROUPS[0][1] {
            true => format!("{columns} columns of values are too many for the registers of an invocation"),
            false => format!("its tiles fit in none of {bytes} bytes of workgroup memory and {most} invocations"),
        })
    }

    /// The same with tiles that divide the dimensions of the results, whose indices these are of `(o, q, c)`: queries of an invocation divide what queries are divided by, or are a multiple of it, and so do columns.
    pub(crate) fn dividing<'i>(
        mut self,
        indices: impl Iterator<Item = &'i Expr> + Clone,
        target: &Target,
    ) -> Result<Attention, String> {
        let divides = |own: &Attention| {
            let columns = [own.own_columns(), i64::from(own.lanes)];
            let sides = [(1, [own.rows, 1]), (2, columns)];
            indices.clone().all(|index| sides.iter().all(|(side, units)| is_whole(index, *side, *units)))
        };
        while !divides(&self) {
            match (self.rows, self.lanes) {
                (rows @ 2.., _) => self.rows = rows - 1,
                (_, 4) => self = Attention::of(self.extents(), self.folded_words, target)?.without_vectors(),
                _ => return Err("tiles do not divide the dimensions of its results".to_owned()),
            }
        }
        Ok(self)
    }

    /// Matrices, queries, keys, products and columns.
    fn extents(&self) -> [i64; 5] {
        [self.batch, self.queries, self.keys, self.depth, self.columns]
    }

    /// Columns of the result that an invocation has.
    pub fn own_columns(&self) -> i64 {
        match self.tiles {
            TileOwner::Workgroup => {
                let lanes = i64::from(self.lanes);
                parts(self.columns, self.group[1] * lanes) * lanes
            }
            TileOwner::Invocation => self.columns,
        }
    }

    /// Queries of a workgroup.
    pub fn rows_of_group(&self) -> i64 {
        self.rows * self.group[0]
    }

    /// Keys of a block: those of a workgroup with tiles, or of an invocation.
    pub fn block(&self) -> i64 {
        self.across * self.group[1]
    }

    /// Whole blocks of keys, and how many keys are left behind them.
    pub fn blocks(&self) -> (i64, i64) {
        (self.keys / self.block(), self.keys % self.block())
    }

    /// Extents of the workgroup's tiles: of queries, of keys and of values, each with a row for each product or key, and of exponentials, with a row for each query.
    pub fn tile_extents(&self) -> [[i64; 2]; 4] {
        let (rows, block) = (self.rows_of_group(), self.block());
        [[self.step, rows], [self.step, block], [self.step, self.own_columns() * self.group[1]], [rows, block]]
    }

    /// Bytes of the workgroup's tiles, those in which scores are compared and exponentials added up included.
    fn tile_bytes(&self) -> i64 {
        let tiles: i64 = self.tile_extents().iter().map(|extents| extents[0] * extents[1]).sum();
        4 * (tiles + self.folded_words * self.rows * self.group[0] * self.group[1] * i64::from(self.lanes))
    }

    /// Workgroups along queries, and beside these.
    pub fn workgroups(&self) -> [i64; 2] {
        [parts(self.queries, self.rows_of_group()), self.batch]
    }

    /// Invocations of a workgroup, each lane one.
    pub fn places(&self) -> i64 {
        self.group[0] * self.group[1] * i64::from(self.lanes)
    }

    /// How many scores there are.
    pub fn scores(&self) -> i64 {
        self.batch * self.queries * self.keys
    }

    /// How often each element of the queries is read, and of keys and values: once for each block of keys, and once for each workgroup, or invocation, of queries.
    pub fn reads(&self) -> [i64; 2] {
        let readers = match (self.tiles, self.members) {
            (TileOwner::Invocation, 1) => parts(self.queries, self.rows),
            _ => self.workgroups()[0],
        };
        [parts(self.keys, self.block()), readers]
    }

    /// How often elements of queries, of keys and of values are computed.
    pub(crate) fn evaluations(&self) -> [f64; 3] {
        let Attention { batch, queries, keys, depth, columns, .. } = *self;
        let [of_queries, of_keys] = self.reads();
        [[queries, depth, of_queries], [keys, depth, of_keys], [keys, columns, of_keys]]
            .map(|counts| counts.iter().map(|count| *count as f64).product::<f64>() * batch as f64)
    }

    /// The same without vectors.
    #[must_use]
    pub fn without_vectors(self) -> Attention {
        Attention { lanes: 1, ..self }
    }

    /// The formulae behind the numbers, with what they are applied to.
    pub(crate) fn explanation(&self) -> String {
        let Attention { rows, across, group, columns, .. } = self;
        match self.tiles {
            TileOwner::Invocation => format!(
                "min({OWN_ROWS}, {OWN_SUMS} / {columns}) = {rows} queries an invocation by the formula, with all {columns} columns; {across} keys at a time"
            ),
            TileOwner::Workgroup => format!(
                "{rows} queries and {across} keys an invocation, {} × {} invocations a workgroup, tiles of {} bytes",
                group[0],
                group[1],
                self.tile_bytes()
            ),
        }
    }
}

/// Whether an index divides a variable only by what divides a side, or is a multiple of it and of vectors.
fn is_whole(index: &Expr, variable: u32, [side, unit]: [i64; 2]) -> bool {
    index.terms().iter().all(|term| {
        let (Atom::FloorDiv(argument, divisor) | Atom::Mod(argument, divisor)) = &term.atom else { return true };
        let is_divided = argument.variables().contains(&Var::Dim(variable));
        let is_alone = argument.terms().len() == 1 && argument.constant_term() == 0;
        let fits = is_alone && (side % divisor == 0 || divisor % side == 0) && divisor % unit == 0;
        (!is_divided || fits) && is_whole(argument, variable, [side, unit])
    })
}

impl fmt::Display for Attention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Attention {
            batch, queries, keys, depth, columns, rows, across, group, step, tiles, lanes, members, ..
        } = self;
        let own = if *tiles == TileOwner::Invocation { "" } else { " shared" };
        let lanes = if *lanes == 1 { String::new() } else { format!(" lanes={lanes}") };
        let members = if *members == 1 { String::new() } else { format!(" members={members}") };
        write!(
            f,
            "group={}x{} tile={rows}x{across}{own} step={step}{lanes}{members} space=[{batch}, {queries}, {keys}, {depth}, {columns}]",
            group[0], group[1]
        )
    }
}
