//! Lowerings of the kernel IR, each from kernel to kernel.

mod accumulators;
mod chains;
mod collective;
mod copy;
mod flatten;
mod hoist;
mod hold;
mod inline;
mod lane_by_lane;
mod legalize;
mod matrices;
mod merge;
mod neighbors;
mod pairs;
mod peel;
mod position;
mod protect;
mod registers;
mod roll;
mod rows;
mod settle;
mod shared;
mod tidy;
mod typed;
mod uniform;
mod unroll;
mod vectorize;
mod weight;
mod whole_words;
mod words;

use crate::kernel::Kernel;
pub use accumulators::split_accumulators;
pub use collective::collective;
pub use flatten::flatten;
pub(crate) use flatten::indices_at;
pub(crate) use hoist::alike_calls_before;
pub use hoist::hoist;
pub use hold::hold;
pub use inline::inline;
pub use lane_by_lane::lane_by_lane;
pub use legalize::legalize;
pub use matrices::matrices;
pub use merge::merge;
pub use neighbors::neighbors;
pub use pairs::pairs;
pub use peel::peel;
pub use protect::protect;
pub use registers::registers;
pub use roll::roll;
pub use shared::shared;
use std::fmt;
use std::str::FromStr;
pub use typed::typed;
pub use uniform::uniform;
pub use unroll::unroll;
pub use vectorize::{lanes_apart, merge_lanes, moved, vectorize};
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::Span;
use weft_partition::Target;
pub use whole_words::whole_words;
pub use words::words;

/// The code of a kernel whose invocations cannot be merged to lanes: it is made again without lanes.
pub(crate) const NO_LANES: &str = "HLO422";

/// One lowering. The kernels between them are the stages of a compilation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lowering {
    /// Functions of values are written in place of their calls: [`inline`].
    Inlined,
    /// Long loops that fold one operation have several accumulators: [`split_accumulators`]; longer chains of sums or products than of 1,024 are loops of loops.
    Split,
    /// Elements of all types are held in registers of 32 bits: [`typed`].
    Typed,
    /// Operations that WGSL does not have become those that it has: [`legalize`].
    Legal,
    /// Memories are indexed by row-major positions: [`flatten`].
    Flat,
    /// Slices of one buffer are one memory: [`merge`].
    Merged,
    /// Packed elements that are packed again, or only move, do so as the words that hold them: [`whole_words`], [`moved`].
    Moved,
    /// Small operands that are read over and over are uniforms, on devices where that is cheaper: [`uniform`].
    Uniform,
    /// Several elements of an invocation are vectors: [`vectorize`], or several invocations are lanes of one: [`merge_lanes`]. Where registers are few,
    /// functions of the library compute lane by lane: [`lanes_apart`].
    Vectorized,
    /// What subgroups do with matrices is loops over their elements, where the target wishes so: [`matrices`].
    Matrices,
    /// What invocations do together is done in workgroup memory and by atomic operations: [`collective`].
    Collective,
    /// Packed elements are bits of words: [`words`].
    Words,
    /// What the rounds of an invocation have in common is read once: [`hold`].
    Held,
    /// Loops have no bounds tests in full rounds: [`peel`].
    Peeled,
    /// Registers of an invocation are values: [`registers`].
    Registers,
    /// What an invocation reads, or has functions compute, at the same indices again, or computes of the same operands, is what it had: [`shared`].
    Shared,
    /// Floats are hidden from the algebra of drivers: [`protect`].
    Protected,
    /// Short loops are written out, and long ones as far as a device's limit demands: [`unroll`].
    Unrolled,
    /// Elements side by side that an invocation reads are read as vectors, and written as such: [`neighbors`].
    Neighbors,
    /// What is needed more than once, or in every round of a loop alike, is computed once before: [`hoist`].
    Hoisted,
    /// What is folded of vectors in a row is folded lane by lane, where registers are few: [`lane_by_lane`].
    LaneByLane,
    /// Buffers of vectors are of numbers of 64 bits, where a device takes as long for one as for a word: [`pairs`].
    Paired,
    /// Loops stay loops, where what drivers make of them takes longer to compile than to run: [`roll`].
    Rolled,
}

impl Lowering {
    /// All of them, in the order in which kernels go through them.
    pub const ALL: [Lowering; 23] = [
        Lowering::Inlined,
        Lowering::Split,
        Lowering::Typed,
        Lowering::Legal,
        Lowering::Flat,
        Lowering::Merged,
        Lowering::Moved,
        Lowering::Uniform,
        Lowering::Vectorized,
        Lowering::Matrices,
        Lowering::Collective,
        Lowering::Words,
        Lowering::Held,
        Lowering::Peeled,
        Lowering::Registers,
        Lowering::Shared,
        Lowering::Protected,
        Lowering::Unrolled,
        Lowering::Neighbors,
        Lowering::Hoisted,
        Lowering::LaneByLane,
        Lowering::Paired,
        Lowering::Rolled,
    ];

    /// The last of them; what comes after it is written as WGSL.
    pub const LAST: Lowering = Lowering::ALL[Lowering::ALL.len() - 1];

    /// The name of the stage that it leads to.
    pub fn name(self) -> &'static str {
        match self {
            Lowering::Inlined => "inlined",
            Lowering::Split => "split",
            Lowering::Typed => "typed",
            Lowering::Legal => "legal",
            Lowering::Collective => "collectives",
            Lowering::Flat => "flat",
            Lowering::Merged => "merged",
            Lowering::Moved => "moved",
            Lowering::Uniform => "uniform",
            Lowering::Vectorized => "vectorized",
            Lowering::Matrices => "matrices",
            Lowering::Words => "words",
            Lowering::Held => "held",
            Lowering::Peeled => "peeled",
            Lowering::Registers => "registers",
            Lowering::Shared => "shared",
            Lowering::Protected => "protected",
            Lowering::Unrolled => "unrolled",
            Lowering::Neighbors => "neighbors",
            Lowering::Hoisted => "hoisted",
            Lowering::LaneByLane => "lanes",
            Lowering::Paired => "paired",
            Lowering::Rolled => "rolled",
        }
    }

    /// The kernel after this lowering, for a target.
    ///
    /// # Errors
    /// `HLO302` if an index leaves 64 bits, `HLO414` as [`typed`], `HLO413`, `HLO417` and `HLO420` as [`collective`], `HLO418` as [`unroll`];
    /// `HLO420` also where [`typed`] leads to numbers of 64 bits, which the target does not compute with.
    pub fn apply(self, kernel: &Kernel, target: &Target) -> Result<Kernel, Diagnostics> {
        let too_large =
            |error: weft_affine::Error| Diagnostic::new("HLO302", Span::default(), error.to_string()).into();
        match self {
            Lowering::Inlined => inline(kernel).map_err(too_large),
            Lowering::Split => {
                split_accumulators(kernel, target).and_then(|kernel| chains::shorten_chains(&kernel)).map_err(too_large)
            }
            Lowering::Typed => typed(kernel).and_then(|kernel| with_f64(kernel, target)),
            Lowering::Legal => Ok(legalize(kernel, target)),
            Lowering::Collective => collective(kernel, target),
            Lowering::Flat => flatten(kernel).map_err(too_large),
            Lowering::Merged => merge(kernel).map_err(too_large),
            Lowering::Moved => whole_words(kernel).and_then(|kernel| moved(&kernel)).map_err(too_large),
            Lowering::Uniform => Ok(uniform(kernel, target)),
            Lowering::Vectorized if kernel.lanes > 1 => match merge_lanes(kernel) {
                Ok(vectors) => Ok(lanes_apart(vectors, target)),
                Err(reason) => {
                    let message = format!("its invocations are no lanes of vectors: {reason}");
                    Err(Diagnostic::new(NO_LANES, Span::default(), message).about(&kernel.name).into())
                }
            },
            Lowering::Vectorized => Ok(lanes_apart(vectorize(kernel), target)),
            Lowering::Matrices => matrices(kernel, target).map_err(too_large),
            Lowering::Words => words(kernel).map_err(too_large),
            Lowering::Held => hold(kernel, target).map_err(too_large),
            Lowering::Peeled => peel(kernel).map_err(too_large),
            Lowering::Registers => registers(kernel).map_err(too_large),
            Lowering::Shared => shared(kernel).map_err(too_large),
            Lowering::Protected => Ok(protect(kernel, target)),
            Lowering::Unrolled => unroll(kernel, target),
            Lowering::Neighbors => neighbors(kernel).map_err(too_large),
            Lowering::Hoisted => hoist(kernel).map_err(too_large),
            Lowering::LaneByLane => Ok(lane_by_lane(kernel, target)),
            Lowering::Paired => Ok(pairs(kernel, target)),
            Lowering::Rolled => Ok(roll(kernel, target)),
        }
    }
}

/// The kernel, if the target has the numbers that it computes with.
fn with_f64(kernel: Kernel, target: &Target) -> Result<Kernel, Diagnostics> {
    if !kernel.has_f64() || target.features.shader_f64 && target.features.shader_int64 {
        return Ok(kernel);
    }
    let message = "numbers of 64 bits cannot be compiled for a target without shader_f64 and shader_int64";
    Err(Diagnostic::new("HLO420", Span::default(), message).about(&kernel.name).into())
}

impl fmt::Display for Lowering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Lowering {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Lowering::ALL.into_iter().find(|lowering| lowering.name() == name);
        known.ok_or_else(|| {
            format!("there is no lowering '{name}'; there are: {}", Lowering::ALL.map(Lowering::name).join(", "))
        })
    }
}
