//! How long a kernel takes, as far as that follows from its maps and the target.

mod program;
mod reads;

pub(crate) use reads::{OperandReads, gathered_nanoseconds};

use crate::form::Form;
use crate::loop_plan::operations;
use crate::plan::{Emitter, FusionPlan, roots};
use crate::{Target, access::element_count};
use std::collections::BTreeMap;
use std::fmt;
use weft_hlo::ir::{Computation, InstrId, Module, Shape};

/// The share of the shorter of computing and moving that the longer hides; on a device in software, where a core that waits for memory has nothing else to compute but what stands next.
const HIDDEN: f64 = 0.95;
const SOFTWARE_HIDDEN: f64 = 0.6;

/// Cycles that a unit takes a lane of a device in software, twice that of its arithmetic: chains of transcendental functions take llvmpipe 8 times as long as their units at two
/// a cycle, since no other invocation runs while one waits for its operands, and functions of the library are many instructions.
const SOFTWARE_CYCLES: f64 = 8.0;

/// Units that it takes a device in software to read an element at a place which a value tells, one lane after the other: rows of 256 elements gathered out of 65,536 take llvmpipe 5 times as long
/// as their bytes.
const SOFTWARE_GATHERED: f64 = 32.0;

/// Units that it takes a device in software to write an element into a word that others write to as well, by two atomic operations: the greatest elements of 1024 rows of 1001 `bf16`, subtracted from these, take llvmpipe 15 ns an element more of a
/// core in one kernel than in two, the second of which writes whole words.
const SOFTWARE_SHARED: f64 = 64.0;

/// How many times as long as elsewhere functions of the library take a device in software whose compiler has few registers, which computes their lanes one by one.
const FEW_REGISTERS: f64 = 2.0;

/// A page of a host's memory, and how many of them a core has addresses of at hand; bytes of an element of most types, and of what an invocation in software reads at once.
const PAGE_BYTES: i64 = 4096;
const REMEMBERED_PAGES: i64 = 512;
const BYTES_OF_WORD: i64 = 4;
const VECTOR_BYTES: f64 = 16.0;

/// What a kernel moves and computes, and how long that takes.
///
/// The model is that of XLA's GPU compiler, with bytes and transactions that follow exactly from indexing maps where
/// XLA estimates them:
///
/// - **time** = launch + compute + memory - 0.95 · min(compute, memory): arithmetic hides nearly all of what is moved meanwhile, or the other way round; the 0.95 is XLA's, in software it is 0.6.
/// - **launch**: [`Hardware::launch_nanoseconds`](crate::Hardware::launch_nanoseconds).
/// - **memory**: an element that a kernel reads for the first time comes from memory ([`dram_bytes_per_second`](crate::Hardware::dram_bytes_per_second)), and so goes what it writes. The
///   elements that it reads of an operand at all are counted by [`operand_utilization`](weft_indexing::operand_utilization) of all its maps together.
/// - Where neighboring invocations do not read neighboring elements, each request takes as many transactions of
///   [`dram_transaction_bytes`](crate::Hardware::dram_transaction_bytes) as [`IndexingMap::coalescing`](weft_indexing::IndexingMap::coalescing) counts.
/// - What is read again comes from the smallest cache that holds what is read meanwhile: the second, faster than memory by [`l2_speed_percent`](crate::Hardware::l2_speed_percent), or that of
///   a core, faster again by [`l1_speed_percent`](crate::Hardware::l1_speed_percent) (2.5 and 8 times in XLA's model). A row that a pass reads again is held by the cache that holds the rows
///   which are folded at one time.
/// - **compute** = units of work / units per second. Units are those of [`operation_cost`](crate::operation_cost), an instruction of a region one, a product that is added to a sum two, and a device makes `cores · lanes · 2 · clock` of them a second
///   ([`flops_per_second`](crate::Hardware::flops_per_second)); one in software an eighth of that, as measured, and there reading an element at a place which a value
///   tells takes units, too, as does writing an element into a word that others write to as well, which takes other devices a transaction. What has [few registers](crate::Hardware::few_registers) takes twice as long for functions of the library.
/// - A kernel of fewer invocations than the device has lanes (a device in software: cores) has as small a part of both speeds.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Bytes that it reads for the first time, in whole transactions where neighbors do not read neighbors.
    pub bytes_read: f64,
    /// Bytes that it reads again.
    pub bytes_read_again: f64,
    /// Bytes that it writes.
    pub bytes_written: f64,
    /// Units of work, about one for an addition ([`operation_cost`](crate::operation_cost)).
    pub units: f64,
    /// Nanoseconds of moving bytes.
    pub memory_nanoseconds: f64,
    /// Nanoseconds of computing.
    pub compute_nanoseconds: f64,
    /// Nanoseconds of everything, the launch included.
    pub nanoseconds: f64,
}

impl Estimate {
    /// Of the kernel of this plan; `computation` is what it was made of and `module` has its regions.
    pub fn of(module: &Module, computation: &Computation, plan: &FusionPlan, target: &Target) -> Estimate {
        Estimate::with_reads(module, computation, plan, &OperandReads::all(computation, plan, target), target)
    }

    /// As [`Estimate::of`], where it is known what the kernel reads of each operand.
    pub(crate) fn with_reads(
        module: &Module,
        computation: &Computation,
        plan: &FusionPlan,
        reads: &BTreeMap<InstrId, OperandReads>,
        target: &Target,
    ) -> Estimate {
        let written: u64 =
            roots(computation).iter().map(|root| Form::shape_bytes(&computation.instructions[*root].shape)).sum();
        let shared = in_shared_words(computation, plan);
        let (shared_bytes, shared_units) = match target.is_software() {
            true => (0.0, SOFTWARE_SHARED * shared),
            false => (shared * f64::from(target.hardware.dram_transaction_bytes), 0.0),
        };
        // What cannot be counted is taken for one unit an element.
        let few_registers = target.is_software() && target.hardware.few_registers;
        let counted = operations(module, computation, plan, if few_registers { FEW_REGISTERS } else { 1.0 }).ok();
        let own = || plan.functions().iter().map(|function| function.evaluations).sum();
        let moved =
            Moved::of(reads.values(), written as f64 + shared_bytes).times(transactions_of_columns(plan, target));
        let gathered: f64 = reads.values().map(|one| one.gathered).sum();
        let more = shared_units + if target.is_software() { SOFTWARE_GATHERED * gathered } else { 0.0 };
        Estimate::made_of(moved, counted.unwrap_or_else(own) + more, invocations(computation, plan), target)
    }

    /// Of a kernel that moves and computes so much, in so many invocations.
    pub(crate) fn made_of(moved: Moved, units: f64, invocations: f64, target: &Target) -> Estimate {
        let hardware = &target.hardware;
        let lanes =
            f64::from(hardware.cores) * if target.is_software() { 1.0 } else { f64::from(hardware.lanes_per_core) };
        let share = (invocations / lanes.max(1.0)).clamp(1e-6, 1.0);
        let first = 1e9 * (moved.read + moved.written) / hardware.dram_bytes_per_second as f64;
        let memory = (first + moved.again_nanoseconds) / share;
        let compute = compute_nanoseconds(units, target) / share;
        let launch = f64::from(hardware.launch_nanoseconds);
        let hidden = if target.is_software() { SOFTWARE_HIDDEN } else { HIDDEN };
        Estimate {
            bytes_read: moved.read,
            bytes_read_again: moved.read_again,
            bytes_written: moved.written,
            units,
            memory_nanoseconds: memory,
            compute_nanoseconds: compute,
            nanoseconds: launch + memory + compute - hidden * memory.min(compute),
        }
    }
}

/// Nanoseconds that all of a device takes for so many units of work.
pub(crate) fn compute_nanoseconds(units: f64, target: &Target) -> f64 {
    let cycles = if target.is_software() { SOFTWARE_CYCLES } else { 1.0 };
    1e9 * cycles * units / target.hardware.flops_per_second()
}

/// `1200 ns: 4096 bytes read, 0 again, 4096 written in 180 ns, 1024 units in 90 ns`
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { bytes_read, bytes_read_again, bytes_written, units, .. } = self;
        let (memory, compute, all) = (self.memory_nanoseconds, self.compute_nanoseconds, self.nanoseconds);
        write!(
            f,
            "{all:.0} ns: {bytes_read:.0} bytes read, {bytes_read_again:.0} again, {bytes_written:.0} written in {memory:.0} ns, \
             {units:.0} units in {compute:.0} ns"
        )
    }
}

/// Bytes that a kernel moves.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Moved {
    pub(crate) read: f64,
    pub(crate) read_again: f64,
    /// Nanoseconds that reading again takes on the whole device.
    pub(crate) again_nanoseconds: f64,
    pub(crate) written: f64,
}

impl Moved {
    /// So many times as much from memory.
    fn times(self, times: f64) -> Moved {
        Moved { read: self.read * times, written: self.written * times, ..self }
    }

    /// Of a kernel that reads so much of its operands, and writes so many bytes.
    pub(crate) fn of<'r>(reads: impl Iterator<Item = &'r OperandReads>, written: f64) -> Moved {
        let mut moved = Moved { written, ..Moved::default() };
        for one in reads {
            moved.read += one.first;
            moved.read_again += one.again;
            moved.again_nanoseconds += one.again_nanoseconds;
        }
        moved
    }
}

/// How many times as many bytes a device in software moves for long columns as they have: an invocation that goes down one finds each of its rows on another page, and has more of these
/// than its core remembers, so that the next one begins anew. Cumulative sums down 1024 rows of 64 KiB take llvmpipe 4.4 times as long as a copy; SwiftShader, which is slower by itself,
/// takes no longer than that.
fn transactions_of_columns(plan: &FusionPlan, target: &Target) -> f64 {
    let Emitter::Reduced(reduced) = plan.emitter() else { return 1.0 };
    let is_page = reduced.inner.saturating_mul(BYTES_OF_WORD) >= PAGE_BYTES;
    if target.is_software() && is_page && reduced.reduced > REMEMBERED_PAGES {
        (f64::from(target.hardware.dram_transaction_bytes) / VECTOR_BYTES).max(1.0)
    } else {
        1.0
    }
}

/// Elements that a kernel writes into words of which other invocations write the rest: those of results that share words, one for each element that is folded, where invocations have no vectors of as many as a word holds.
fn in_shared_words(computation: &Computation, plan: &FusionPlan) -> f64 {
    let Emitter::Reduced(reduced) = plan.emitter() else { return 0.0 };
    let roots = roots(computation);
    let leaves = roots.iter().flat_map(|root| computation.instructions[*root].shape.leaves());
    let is_shared = |leaf: &&Shape| {
        let form = leaf.as_array().and_then(|array| Form::of(array.element_type));
        form.is_some_and(|form| form.is_packed() && reduced.lanes % form.per_word() != 0)
    };
    let folds = reduced.outer as f64 * reduced.inner as f64;
    leaves.filter(is_shared).map(element_count).filter(|count| *count > folds).sum()
}

/// Invocations that share the work of a kernel.
fn invocations(computation: &Computation, plan: &FusionPlan) -> f64 {
    match plan.emitter() {
        Emitter::Reduced(reduced) => {
            let [inner, outer] = reduced.workgroups();
            inner as f64 * outer as f64 * reduced.threads() as f64
        }
        Emitter::Product(product) => {
            let [columns, rows, beside] = product.workgroups();
            columns as f64 * rows as f64 * beside as f64 * product.invocations() as f64
        }
        Emitter::Attention(attention) => {
            let [rows, beside] = attention.workgroups();
            let invocations = attention.places() / i64::from(attention.lanes);
            rows as f64 * beside as f64 * invocations as f64
        }
        _ => {
            let of = |root: &InstrId| element_count(&computation.instructions[*root].shape);
            roots(computation).iter().map(of).fold(0.0, f64::max)
        }
    }
}
