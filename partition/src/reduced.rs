//! Kernels that are shaped around reductions and scans: how the elements of rows are shared out among invocations.

use crate::Target;
use crate::scan::MAX_CHAIN;
use std::fmt;

/// Reductions over the same rows, and what is computed of their results for each element of a row.
///
/// Elements are numbered `(o, r, i)`, in row-major order: result `(o, i)` is folded of the elements along `r`. Where `i` has one element, the elements of a
/// result lie side by side (*rows*), else those of neighboring results do (*columns*).
///
/// A workgroup folds [`rows`](Self::rows) × [`columns`](Self::columns) results. For each it has [`along`](Self::along) places: the one with number `j` folds the
/// elements `j`, `j + along`, `j + 2 along`, … of the result, or, where the order of elements is [kept](Self::is_ordered), a stretch of neighbors. Then what the places
/// have is folded together, in pairs. [`lanes`](Self::lanes) places that follow one another, along a row or from column to column, are one invocation, which
/// computes them as vectors.
///
/// # Schedules
/// For GPUs the formulae are those of XLA's emitters:
/// - rows of `R` elements: `min(1024, round_up(⌈R / 16⌉, 32))` invocations a row, or `⌈R / lanes⌉` of at most `32 lanes` elements; where these are
///   fewer than 256, as many as the next power of two, and so many rows that the workgroup has 256. Vectors of 2 lanes, of 4 where everything that is read and written is
///   packed in words, or four elements that are written share one, where `R` is a multiple;
/// - columns: 32 × 32 invocations, 32 columns side by side, or fewer, 32 × 8 at least, as long as each would fold fewer than 8 elements, or where the target has fewer in a workgroup; 128 of columns that are fewer than 32 side by side. Vectors of 4 columns where everything is
///   packed, of as many as share a word where some of what is written does.
///
/// On devices in software an invocation has a row of its own, which it reads as vectors of 4 lanes, or 4 columns: trees and barriers cost more there than they save. A
/// workgroup has 64 of them, or 8 where there are fewer than 1,024 results. Rows that later passes read again are as many as 256 KiB hold, what is written of them
/// included, the least second cache that a core has for itself, but at least 8, the lanes of its vectors.
///
/// For scans, rows have `⌈R / 4⌉` invocations, as many as the next power of two and at most 1,024 or what workgroup memory has room for, each with a stretch of neighbors, and a workgroup so many rows that it has 256 invocations; columns have
/// one invocation each. Two passes read what is scanned where invocations share a row: one folds what each of them has.
///
/// Results that later passes over the row need are [kept](Self::is_kept) in registers where an invocation has at most 32 values of each, and, where the order is kept, the stretches of a
/// row are equally long; else what is read is read again, and what is computed of it computed again.
///
/// Sums of exponentials less a maximum are folded in the pass of this maximum where nothing is kept ([`rounds_of_scale`](Self::rounds_of_scale)).
///
/// # Order
/// The same input gives the same bits. In each place elements are folded in ascending order, beginning with the region's neutral element; a loop over many may
/// have several such chains (`split` of `weft emit`). The lanes of an invocation are folded in pairs, then invocations: in a tree of workgroup memory invocation
/// `t` takes in `t + n / 2` for ever smaller halves of `n`, or, where the order is kept, `2 k s` takes in `(2 k + 1) s` for `s` = 1, 2, 4, …; with subgroups, those
/// of a subgroup in the order of its lanes, then subgroups by their numbers. What comes out is folded into the initial value last. A scan folds what invocations have before each of
/// them in `log2` rounds, in which `t` takes in `t - s` for `s` = 1, 2, 4, …, and each element then into what comes before it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// Elements along `o`.
    pub outer: i64,
    /// Elements along `r`, those of a result.
    pub reduced: i64,
    /// Elements along `i`.
    pub inner: i64,
    /// Results of a workgroup along `o`.
    pub rows: i64,
    /// Places for each result.
    pub along: i64,
    /// Results of a workgroup along `i`.
    pub columns: i64,
    /// Places of an invocation: 1, 2 or 4.
    pub lanes: u32,
    /// Whether elements are folded in their order.
    pub is_ordered: bool,
    /// Whether an invocation keeps what it computes of its elements from pass to pass.
    pub is_kept: bool,
}

/// What decides the schedule of a kernel around reductions.
pub(crate) struct Facts {
    /// Elements along `o`, `r` and `i`.
    pub(crate) extents: [i64; 3],
    /// How many elements of a row follow one another without a gap.
    pub(crate) stretch: i64,
    /// Whether elements have to be folded in their order.
    pub(crate) is_ordered: bool,
    /// Whether what is folded of the elements before each is needed for it.
    pub(crate) is_scan: bool,
    /// Passes over the elements of a row.
    pub(crate) passes: usize,
    /// Values of an element that have to be kept at once, if any are kept.
    pub(crate) kept: usize,
    /// Whether there are vectors of what is computed with.
    pub(crate) has_vectors: bool,
    /// Whether all that is read and written for each element is packed in words.
    pub(crate) is_packed: bool,
    /// Elements in a word of what is written for each element, the most of them, 1 to 4.
    pub(crate) per_word: u32,
    /// Bytes that are read and written for the elements of a row.
    pub(crate) row_bytes: i64,
    /// Bytes of what is folded and scanned, an element of each.
    pub(crate) folded_bytes: i64,
}

/// Elements of a row that an invocation of a GPU folds at least, and what numbers of invocations are multiples of.
const EACH: i64 = 16;
const WARP: i64 = 32;
/// Elements of a row that an invocation of a GPU scans: as many as a vector has, so that invocations side by side read all bytes of what memory transfers. Rows of 1,024 take an NVIDIA H200 0.70 of the time
/// with 4 instead of 16, 2^24 elements in rows of 4,096 0.89.
const EACH_SCANNED: i64 = 4;
const MANY_THREADS: i64 = 1024;
const FEW_THREADS: i64 = 256;
/// Invocations that share columns of which fewer than [`WARP`] lie side by side.
const NARROW_THREADS: i64 = 128;
/// Elements of a column that an invocation folds at least, as long as so many invocations share a column. Measured on an NVIDIA H100: 2^20 columns of 64 elements take 0.52 of the time with 8 each instead of 2.
const LEAST_OF_COLUMN: i64 = 8;
/// Values of one kind that an invocation keeps at most, and of all kinds.
const MAX_KEPT: i64 = 32;
const MAX_KEPT_IN_ALL: i64 = 96;
/// Invocations of a workgroup of a device in software, and from so many results on; with fewer results there are more workgroups for its cores.
const SOFTWARE_THREADS: i64 = 64;
const FEW_SOFTWARE_THREADS: i64 = 8;
const MANY_RESULTS: i64 = 1024;
/// What a core of a CPU has for itself at least: its second cache.
const CORE_CACHE: i64 = 256 << 10;
/// Invocations that occupy a device in software.
const OCCUPIED: i64 = 32;
/// Rounds after which what is summed is scaled, at least and at most.
const LEAST_OF_SCALE: i64 = 4;
const MOST_OF_SCALE: i64 = 8;
/// Lanes of vectors of devices in software.
const SOFTWARE_LANES: u32 = 4;
/// Elements of columns on a device in software from which on their parts are read sooner by kernels of their own.
const FAR_ROWS: i64 = 256;

impl Reduced {
    /// The schedule for a target, or why a loop is as good.
    pub(crate) fn of(facts: &Facts, target: &Target) -> Result<Reduced, String> {
        let [outer, reduced, inner] = facts.extents;
        let most = i64::from(target.max_invocations_per_workgroup.min(target.max_workgroup_size_x)).max(1);
        let mut schedule = Reduced {
            outer,
            reduced,
            inner,
            rows: 1,
            along: 1,
            columns: 1,
            lanes: 1,
            is_ordered: facts.is_ordered,
            is_kept: false,
        };
        match (target.is_software(), inner == 1) {
            (true, true) if facts.is_scan => schedule.scan_rows_one_by_one(most),
            (false, true) if facts.is_scan => schedule.scan_rows(facts, most, target),
            (_, false) if facts.is_scan => schedule.scan_columns(facts, most, target),
            (true, _) => schedule.in_software(facts, most)?,
            (false, true) => schedule.of_rows(facts, most),
            (false, false) => schedule.of_columns(facts, most),
        }
        let values = schedule.rounds() * i64::from(schedule.lanes);
        let in_all = values.saturating_mul(i64::try_from(facts.kept).unwrap_or(i64::MAX));
        let fits = values <= MAX_KEPT && in_all <= MAX_KEPT_IN_ALL;
        // What an invocation writes of several stretches is proved where one statement writes it.
        let is_whole = facts.stretch == reduced;
        // So it is with stretches of which the last has fewer elements than it has rounds.
        let is_even = !facts.is_ordered || reduced % schedule.rounds().max(1) == 0;
        let has_later = facts.passes > 1 && facts.kept > 0;
        schedule.is_kept = !target.is_software() && !facts.is_scan && has_later && fits && is_whole && is_even;
        Ok(schedule)
    }

    fn of_rows(&mut self, facts: &Facts, most: i64) {
        let lanes = match facts {
            Facts { has_vectors: false, .. } | Facts { is_ordered: true, .. } => 1,
            Facts { is_packed: true, .. } => 4,
            _ => facts.per_word.max(2),
        };
        self.lanes = common_lanes(lanes, facts.stretch);
        let lanes = i64::from(self.lanes);
        let mut threads = match self.reduced <= WARP * lanes {
            true => power_of_two(divided(self.reduced, lanes)),
            false => round_up(divided(self.reduced, EACH), WARP).min(MANY_THREADS),
        };
        threads = threads.min(most);
        let packed = FEW_THREADS.min(most);
        if threads < packed {
            threads = power_of_two(threads).min(packed);
            self.rows = (packed / threads).min(power_of_two(self.outer)).max(1);
        }
        self.along = threads * lanes;
    }

    fn of_columns(&mut self, facts: &Facts, most: i64) {
        let lanes = match facts {
            Facts { has_vectors: false, .. } => 1,
            Facts { is_packed: true, .. } => 4,
            _ => facts.per_word,
        };
        self.lanes = common_lanes(lanes, self.inner);
        let lanes = i64::from(self.lanes);
        let is_narrow = self.inner < WARP * lanes;
        self.columns = self.inner.min(WARP * lanes);
        let threads = if is_narrow { NARROW_THREADS } else { MANY_THREADS };
        let each = (self.columns / lanes).max(1);
        let along = (threads.min(most) / each).max(1);
        self.along = along.min(power_of_two(self.reduced));
        // A tree with its barriers has more to do for each level than an invocation for an element.
        while !is_narrow && self.along > LEAST_OF_COLUMN && self.rounds() < LEAST_OF_COLUMN {
            self.along /= 2;
        }
        if is_narrow {
            // Short columns leave room for others.
            self.rows = (threads.min(most) / (each * self.along)).min(power_of_two(self.outer)).max(1);
        }
    }

    fn in_software(&mut self, facts: &Facts, most: i64) -> Result<(), String> {
        let results = self.outer.saturating_mul(self.inner);
        let lanes = if facts.has_vectors && !facts.is_ordered { SOFTWARE_LANES } else { 1 };
        let threads = if results >= MANY_RESULTS { SOFTWARE_THREADS } else { FEW_SOFTWARE_THREADS }.min(most);
        if self.inner == 1 {
            self.lanes = common_lanes(lanes, facts.stretch);
            self.along = i64::from(self.lanes);
            self.rows = match facts.passes {
                ..=1 => threads,
                // What a pass reads the next one finds in the cache of its core.
                _ => threads.min(power_of_two_below(CORE_CACHE / facts.row_bytes.max(1)).max(FEW_SOFTWARE_THREADS)),
            };
        } else {
            if self.reduced >= FAR_ROWS && self.inner >= FAR_ROWS {
                return Err(format!("in software columns of {} elements are read sooner in parts", self.reduced));
            }
            self.lanes = common_lanes(if facts.has_vectors { SOFTWARE_LANES } else { 1 }, self.inner);
            let lanes = i64::from(self.lanes);
            self.columns = self.inner.min(threads * lanes);
            self.rows = (threads * lanes / self.columns).max(1);
        }
        let invocations = match self.inner {
            1 => self.outer,
            _ => results / i64::from(self.lanes),
        };
        if invocations < OCCUPIED {
            return Err(format!("{results} results occupy too few invocations of a device in software"));
        }
        Ok(())
    }

    /// An invocation scans a row.
    fn scan_rows_one_by_one(&mut self, most: i64) {
        let threads = if self.outer >= MANY_RESULTS { SOFTWARE_THREADS } else { FEW_SOFTWARE_THREADS };
        self.rows = threads.min(most);
    }

    /// Invocations scan [`EACH_SCANNED`] elements of a row each, more where there are no more invocations, and a workgroup so many rows as it has invocations for.
    fn scan_rows(&mut self, facts: &Facts, most: i64, target: &Target) {
        // Two rows of tiles, which rounds write in turns.
        let held = i64::from(target.max_workgroup_storage_bytes) / facts.folded_bytes.saturating_mul(2).max(1);
        let most = power_of_two_below(MANY_THREADS.min(most).min(held));
        self.along = power_of_two(divided(self.reduced, EACH_SCANNED)).min(most);
        self.rows = (FEW_THREADS.min(most) / self.along).clamp(1, power_of_two(self.outer));
    }

    /// An invocation scans a column, or as many side by side as it has lanes.
    fn scan_columns(&mut self, facts: &Facts, most: i64, target: &Target) {
        let lanes = match facts {
            Facts { has_vectors: false, .. } => 1,
            _ if facts.is_packed || target.is_software() => SOFTWARE_LANES,
            _ => facts.per_word,
        };
        self.lanes = common_lanes(lanes, self.inner);
        let lanes = i64::from(self.lanes);
        let threads = if target.is_software() { SOFTWARE_THREADS } else { FEW_THREADS }.min(most);
        self.columns = self.inner.min(threads * lanes);
        self.rows = (threads * lanes / self.columns).min(power_of_two(self.outer)).max(1);
    }

    /// The formulae behind the numbers, with what they are applied to.
    pub(crate) fn explanation(&self, target: &Target) -> String {
        let Reduced { reduced, inner, rows, along, columns, lanes, .. } = self;
        let threads = self.threads();
        let each = along / if self.inner == 1 { i64::from(*lanes) } else { 1 };
        let vectors = if *lanes > 1 { format!(", vectors of {lanes}") } else { String::new() };
        let shape = match (target.is_software(), *inner) {
            (true, 1) => format!("rows of {reduced} elements, an invocation each, a workgroup for every {rows}"),
            (true, _) => {
                format!("columns of {reduced} elements, {lanes} an invocation, {threads} invocations a workgroup")
            }
            (false, 1) if *reduced <= WARP * i64::from(*lanes) => format!(
                "rows of {reduced} elements, {each} invocations each, a workgroup of {threads} for every {rows}"
            ),
            (false, 1) => format!(
                "rows of {reduced} elements, of min(1024, round_up(⌈{reduced} / 16⌉, 32)) = {} by the formula {each} invocations each, a workgroup of {threads} for every {rows}",
                round_up(divided(*reduced, EACH), WARP).min(MANY_THREADS),
            ),
            (false, _) => format!(
                "columns of {reduced} elements, {columns} of {inner} side by side × {each} invocations, a workgroup of {threads} for every {rows}"
            ),
        };
        let values = match self.is_kept {
            true => format!(", {} values of a kind kept by an invocation", self.rounds() * i64::from(*lanes)),
            false => String::new(),
        };
        format!("{shape}{vectors}{values}")
    }

    /// The same for what there are no vectors of: as many invocations, each of one place.
    #[must_use]
    pub fn without_vectors(self) -> Reduced {
        let lanes = i64::from(self.lanes);
        let (along, columns) = match self.inner {
            1 => (self.along / lanes, self.columns),
            _ => (self.along, self.columns / lanes),
        };
        Reduced { along, columns, lanes: 1, ..self }
    }

    /// How many elements it folds.
    pub fn elements(&self) -> i64 {
        self.outer.saturating_mul(self.reduced).saturating_mul(self.inner)
    }

    /// Invocations of a workgroup.
    pub fn threads(&self) -> i64 {
        self.places() / i64::from(self.lanes)
    }

    /// Places of a workgroup: its invocations, each as often as it has lanes. Place `(a * along + j) * columns + b` is number `j` of the result `a` along `o` and `b` along `i`.
    pub fn places(&self) -> i64 {
        self.rows * self.along * self.columns
    }

    /// Elements that a place folds at most.
    pub fn rounds(&self) -> i64 {
        divided(self.reduced, self.along)
    }

    /// Rounds after which sums are scaled by a maximum that has grown meanwhile: the most of 4 to 8 that divide the rounds of a place; `None` where none does, where what is computed is kept, where elements
    /// are folded in their order, or where sums would be chains of more than 1,024 additions. A place holds so many elements in registers, and computes one exponential more for them.
    pub fn rounds_of_scale(&self) -> Option<i64> {
        let rounds = self.rounds();
        let is_whole = rounds.checked_mul(self.along) == Some(self.reduced) && !self.is_kept && !self.is_ordered;
        let is_short = |each: i64| rounds % each == 0 && rounds > each && rounds / each + each <= MAX_CHAIN;
        (LEAST_OF_SCALE..=MOST_OF_SCALE).rev().find(|each| is_whole && is_short(*each))
    }

    /// Workgroups along `i`, and along `o`.
    pub fn workgroups(&self) -> [i64; 2] {
        [divided(self.inner, self.columns), divided(self.outer, self.rows)]
    }
}

/// The most lanes, of so many or half as many each time, that divide an extent.
fn common_lanes(mut lanes: u32, extent: i64) -> u32 {
    while lanes > 1 && extent % i64::from(lanes) != 0 {
        lanes /= 2;
    }
    lanes
}

/// How many parts of so many elements there are, the last of which may be smaller.
fn divided(count: i64, part: i64) -> i64 {
    count / part + i64::from(count % part != 0)
}

/// The least power of two that is not less than a positive count.
fn power_of_two(count: i64) -> i64 {
    count.unsigned_abs().checked_next_power_of_two().and_then(|power| i64::try_from(power).ok()).unwrap_or(i64::MAX)
}

/// The greatest power of two that is not greater than a count, or 1.
fn power_of_two_below(count: i64) -> i64 {
    count.checked_ilog2().map_or(1, |power| 1 << power)
}

fn round_up(count: i64, multiple: i64) -> i64 {
    divided(count, multiple).saturating_mul(multiple)
}

impl fmt::Display for Reduced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reduced { outer, reduced, inner, rows, along, columns, lanes, .. } = self;
        let order = if self.is_ordered { "kept" } else { "free" };
        let values = if self.is_kept { "kept" } else { "computed again" };
        write!(
            f,
            "threads={} rows={rows} along={along} columns={columns} lanes={lanes} rounds={} order={order} values={values} space=[{outer}, {reduced}, {inner}]",
            self.threads(),
            self.rounds()
        )
    }
}
