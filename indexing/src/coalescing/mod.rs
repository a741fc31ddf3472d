//! Coalescing: the number of memory transactions that a subgroup of threads needs for its reads.
//!
//! Threads run in subgroups (warps, waves) of, say, 32 *lanes*, which read by one instruction. The device fetches memory in
//! aligned *segments* of, say, 32 bytes. Where neighboring lanes read neighboring elements, a request for 32 floats takes four
//! segments; where each lane reads another row of a matrix it takes 32, of which most bytes are thrown away. So whether a
//! kernel runs at the speed of memory is decided by a map: from the index of a thread, its block and whatever else it loops
//! over, to the address of what it reads.
//!
//! ```
//! use weft_indexing::{IndexingMap, Launch, MemoryModel, Tensor, Var, Verdict};
//!
//! // 128 threads a block, element by element; a tensor of 64 × 128 floats.
//! let rows: IndexingMap = "(th_x, bl_x) -> (bl_x, th_x), domain: th_x in [0, 127], bl_x in [0, 63]".parse()?;
//! let launch = Launch::of_thread(Var::Dim(0));
//! let found = rows.coalescing(&Tensor::try_new(&[64, 128], 4)?, &launch, &MemoryModel::default())?;
//! assert_eq!(
//!     found.to_string(),
//!     "coalesced, since the elements that a subgroup reads are adjacent; 4 transactions per request; \
//!      4 bytes per lane (vectors of 1, since there is no vector variable); starts are multiples of 128 bytes; \
//!      strides th_x: 1, bl_x: 128"
//! );
//!
//! // The same threads read the transposed tensor: every lane a row of its own.
//! let columns: IndexingMap = "(th_x, bl_x) -> (th_x, bl_x), domain: th_x in [0, 127], bl_x in [0, 63]".parse()?;
//! let found = columns.coalescing(&Tensor::try_new(&[128, 64], 4)?, &launch, &MemoryModel::default())?;
//! let reads = found.reads.as_ref().expect("it is known");
//! assert_eq!((found.verdict, reads.best, reads.worst), (Verdict::Uncoalesced, 32, 32));
//! # Ok::<(), weft_indexing::Error>(())
//! ```
//!
//! # What is counted
//!
//! A *request* is what one subgroup reads together: for one value of each block, range and runtime variable, the elements of
//! all its lanes and, in each lane, of all values of the vector variable. It needs as many transactions as distinct segments
//! hold its elements. [`Reads`] says how many that is at best and at worst, and [`Totals`] what all requests of a launch need
//! together; these numbers are exact. Lanes outside the domain read nothing, and requests of which all lanes do are none.
//!
//! The verdict compares each request with the least number of segments that could hold as many bytes: see [`Verdict`].
//!
//! Several reads by one thread, one after another, can be one instruction where they are adjacent and aligned. The launch may
//! name the variable that counts them:
//!
//! ```
//! # use weft_indexing::{IndexingMap, Launch, MemoryModel, Tensor, Var};
//! let four: IndexingMap = "(th_x)[v] -> (th_x * 4 + v), domain: th_x in [0, 127], v in [0, 3]".parse()?;
//! let launch = Launch::of_thread(Var::Dim(0)).with_vector(Var::Range(0))?;
//! let found = four.coalescing(&Tensor::try_new(&[512], 4)?, &launch, &MemoryModel::default())?;
//! let reads = found.reads.expect("it is known");
//! assert_eq!((reads.vector_width, reads.bytes_per_lane, reads.worst), (4, 16, 16));
//! assert_eq!(reads.vector_limit.to_string(), "more does not divide the extent of the vector variable");
//! # Ok::<(), weft_indexing::Error>(())
//! ```
//!
//! # The block
//!
//! Of several thread indices, it is the block that says which threads are neighbors: in blocks of `64 × 4` the thread after
//! `(63, 0)` is `(0, 1)`. The extents are the launch's own ([`Launch::of_block`]), or else those of the variables' bounds.
//! Threads that a guard keeps from reading still have their place:
//!
//! ```
//! # use weft_indexing::{IndexingMap, Launch, MemoryModel, Tensor, Var};
//! let launch = Launch::of_block(&[(Var::Dim(0), 64), (Var::Dim(1), 4)])?;
//! let requests = |domain: &str| -> Result<u128, Box<dyn std::error::Error>> {
//!     let map: IndexingMap = format!("(th_x, th_y) -> (th_y, th_x), domain: {domain}").parse()?;
//!     let found = map.coalescing(&Tensor::try_new(&[4, 64], 4)?, &launch, &MemoryModel::default())?;
//!     Ok(found.reads.and_then(|reads| reads.totals.known().copied()).ok_or("it is known")?.requests)
//! };
//! // A quarter of each row: half of one of its two subgroups reads, however that is written.
//! assert_eq!(requests("th_x in [0, 15], th_y in [0, 3]")?, 4);
//! assert_eq!(requests("th_x in [0, 63], th_y in [0, 3], th_x floordiv 16 in [0, 0]")?, 4);
//! assert_eq!(requests("th_x in [0, 63], th_y in [0, 3], th_x * 2 + th_y in [0, 33], th_x in [0, 15]")?, 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With a block that is named, the verdict and the numbers follow from the set of points and their results alone: two spellings
//! of one domain have one answer, or one has none since its numbers leave `i64`. So do strides, but for the period of a
//! [piecewise](Stride::Piecewise) one. A thread that is read for and lies beyond the block is none that could be launched
//! ([`Unknown::BeyondBlock`]).
//!
//! # A whole fusion
//!
//! A kernel assigns elements of its *output* to threads. What it reads of each operand follows by composition with the
//! output-to-operand maps, and [`fusion_coalescing`] does that for all of them. Here a fusion adds a matrix, another that it
//! transposes, and a row that it broadcasts:
//!
//! ```
//! # use weft_indexing::{FusedOperand, IndexingMap, Launch, MemoryModel, Tensor, Var, Verdict, fusion_coalescing};
//! let threads: IndexingMap = "(th_x, bl_x) -> (bl_x * 2 + th_x floordiv 64, th_x mod 64), \
//!     domain: th_x in [0, 127], bl_x in [0, 31]".parse()?;
//! let reads = |map: &str| -> Result<Vec<IndexingMap>, weft_indexing::Error> {
//!     Ok(vec![format!("{map}, domain: d0 in [0, 63], d1 in [0, 63]").parse()?])
//! };
//! let square = Tensor::try_new(&[64, 64], 4)?;
//! let operands = [
//!     FusedOperand::try_new(square.clone(), reads("(d0, d1) -> (d0, d1)")?)?,
//!     FusedOperand::try_new(square, reads("(d0, d1) -> (d1, d0)")?)?,
//!     FusedOperand::try_new(Tensor::try_new(&[64], 4)?, reads("(d0, d1) -> (d0)")?)?,
//! ];
//! let launch = Launch::of_thread(Var::Dim(0));
//! let fusion = fusion_coalescing(&threads, &operands, &launch, &MemoryModel::default())?;
//! let verdicts: Vec<Verdict> = fusion.operands.iter().map(|operand| operand.verdict).collect();
//! assert_eq!(verdicts, [Verdict::Coalesced, Verdict::Uncoalesced, Verdict::Coalesced]);
//! # Ok::<(), weft_indexing::Error>(())
//! ```
//!
//! # How it is counted
//!
//! The position of a thread is written as `subgroup size · subgroup + lane`. The domain of all other variables is taken apart
//! until the address is affine on each part and differs between lanes by constants alone. There all requests look alike, up to
//! where they start; and since the address is a sum of independent digits, how often each start occurs modulo the segment is a
//! convolution of short cycles. So the work depends on the number of parts, not on the size of the grid.
//!
//! Runtime variables are unknown numbers in their bounds, one for all lanes: best and worst are over all their values, and
//! there are no totals. Where the lanes of one subgroup read different ones, as in a gather, nothing is known
//! ([`Unknown::RuntimePerLane`]).

mod lanes;
mod model;
mod report;
mod requests;
mod strides;
mod vector;

pub use model::{FusedOperand, Launch, MemoryModel, Tensor};
pub use report::{Coalescing, FusionCoalescing, Known, OperandCoalescing, Pattern, Reads, Totals, Verdict};
pub use strides::{Stride, VariableStride};
pub use vector::VectorLimit;

use lanes::Subgroups;
use requests::{Requests, requests};
use strides::strides;
use vector::vector_width;

use crate::pieces::{Program, may_overflow, pieces};
use crate::{Error, IndexingMap, Unknown};
use num_integer::gcd;

/// Parts of a domain that are counted one by one.
const MAX_PARTS: usize = 1 << 14;

/// The coalescing of a fusion's reads, where `threads` maps thread, block and other variables to the index of the
/// output.
///
/// # Errors
/// As [`IndexingMap::coalescing`], and when a use has not one dimension for each result of `threads`.
pub fn fusion_coalescing(
    threads: &IndexingMap,
    operands: &[FusedOperand],
    launch: &Launch,
    model: &MemoryModel,
) -> Result<FusionCoalescing, Error> {
    // What a use leaves out keeps threads from reading; the block is the same for all uses.
    let launch = launch.on(threads);
    let of_operand = |operand: &FusedOperand| {
        let uses = operand.uses.iter().map(|map| threads.then(map)?.coalescing(&operand.tensor, &launch, model));
        let uses: Vec<Coalescing> = uses.collect::<Result<_, _>>()?;
        let verdict = uses.iter().map(|one| one.verdict).max().unwrap_or(Verdict::Nothing);
        Ok(OperandCoalescing { verdict, uses })
    };
    Ok(FusionCoalescing { operands: operands.iter().map(of_operand).collect::<Result<_, Error>>()? })
}

impl IndexingMap {
    /// The coalescing of reads through a map from thread, block and loop variables to the index of a tensor. The
    /// documentation of [this module](self) explains it.
    ///
    /// # Errors
    /// When there is not one result for each extent of the shape, and when the launch names a variable that the map does not have.
    pub fn coalescing(&self, tensor: &Tensor, launch: &Launch, model: &MemoryModel) -> Result<Coalescing, Error> {
        check(self, tensor, launch)?;
        let block = launch.on(self).block.unwrap_or_default();
        let without = |verdict: Verdict, strides: Vec<VariableStride>| {
            Ok(Coalescing { verdict, reads: None, block: block.clone(), strides })
        };
        if self.is_undefined() {
            return without(Verdict::Unknown(Unknown::Undefined), Vec::new());
        }
        // What is said follows from the points, and not from how bounds and constraints share them out.
        let map = self.within_least_bounds();
        let Ok(address) = map.linearized(&tensor.shape) else {
            return without(Verdict::Unknown(Unknown::Overflow), Vec::new());
        };
        let strides = strides(&address);
        if map.is_known_empty() || map.variable_ranges().has_empty() {
            return without(Verdict::Nothing, strides);
        }
        let mut simple = map.clone();
        simple.simplify_keeping_runtime_bounds();
        if let Some(reason) = map.stays_within(&simple, &tensor.shape).obstacle() {
            return without(Verdict::Unknown(reason), strides);
        }
        match reads(&address, &block, tensor.element_bytes, launch, model) {
            Ok(Some((verdict, reads))) => Ok(Coalescing { verdict, reads: Some(reads), block, strides }),
            Ok(None) => without(Verdict::Nothing, strides),
            Err(reason) => without(Verdict::Unknown(reason), strides),
        }
    }
}

fn check(map: &IndexingMap, tensor: &Tensor, launch: &Launch) -> Result<(), Error> {
    tensor.expect_indexed_by(map)?;
    let mut named = launch.threads.iter().copied().chain(launch.vector);
    if !map.is_undefined() && named.any(|v| map.variable(v).is_none()) {
        return Err(Error::Setting { what: "threads and vectors are dimension or range variables of the map" });
    }
    Ok(())
}

/// The verdict and the numbers behind it; nothing where nothing is read.
fn reads(
    given: &IndexingMap,
    block: &[i64],
    element_bytes: u32,
    launch: &Launch,
    model: &MemoryModel,
) -> Result<Option<(Verdict, Reads)>, Unknown> {
    if may_overflow(&Program::new(given)?) {
        return Err(Unknown::Overflow);
    }
    let subgroups = Subgroups::new(given, launch, block, model)?;
    if subgroups.map.is_known_empty() {
        return Ok(None);
    }
    let depends = subgroups.depends_on_runtime()?;
    let program = Program::new(&subgroups.map)?;
    let parts = pieces(&program, &subgroups.lanes(&program)?, MAX_PARTS)?;
    let Some(found) = requests(&parts, element_bytes, model)? else { return Ok(None) };
    let (verdict, pattern) = judge(&found);
    let extent = launch.vector.map(|_| subgroups.vector_extent());
    let (vector_width, vector_limit) = vector_width(&parts, extent, element_bytes, model);
    let bytes = |elements: u128| elements.checked_mul(u128::from(element_bytes)).ok_or(Unknown::Overflow);
    let alignment = gcd(bytes(found.starts)?, u128::from(model.base_alignment));
    Ok(Some((
        verdict,
        Reads {
            best: found.best,
            worst: found.worst,
            totals: if depends {
                Known::Unknown(Unknown::RuntimeValues)
            } else {
                Known::Known(Totals {
                    requests: found.requests,
                    transactions: found.transactions,
                    least_transactions: found.least_transactions,
                    bytes: found.bytes,
                })
            },
            alignment: u64::try_from(alignment).map_err(|_| Unknown::Overflow)?,
            vector_width,
            vector_limit,
            bytes_per_lane: vector_width * u64::from(element_bytes),
            pattern,
        },
    )))
}

fn judge(found: &Requests) -> (Verdict, Pattern) {
    let coalesced = found.excess <= 1;
    let pattern = match (found.uniform, found.contiguous, coalesced, found.shares) {
        (true, ..) => Pattern::Uniform,
        (_, true, ..) => Pattern::Contiguous,
        (_, _, true, _) => Pattern::Close,
        (_, _, _, true) => Pattern::Sparse,
        (_, _, _, false) => Pattern::Scattered,
    };
    let verdict = match (coalesced, found.shares) {
        (true, _) => Verdict::Coalesced,
        (false, true) => Verdict::Partial,
        (false, false) => Verdict::Uncoalesced,
    };
    (verdict, pattern)
}
