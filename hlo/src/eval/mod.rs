//! The reference evaluator.
//!
//! Whole tensors, one instruction after the other, in loops over indices; every compiled kernel is judged by it, so it
//! is written to be believed rather than to be fast. It uses all cores where that costs no clarity (feature
//! `parallel`), and serves as the fallback where there is no GPU. A value is freed after its last use, so memory is
//! linear in the values alive at one time.
//!
//! Semantics are those of XLA's operation semantics document; where that leaves something open:
//!
//! - `f32` sums and other reductions run sequentially, in row-major order of the reduced dimensions, in `f32`. XLA
//!   chooses its own order, so results agree up to rounding.
//! - Dot products and convolutions of floats narrower than `f32` add up in `f32`, those of integers wrap; each sum is rounded
//!   once. What padding and dilation add to a convolution is not multiplied. Batch normalization is computed in `f64`.
//! - Starts of slices are clamped by their value, whatever their type.
//! - Transcendental functions of `f32` are computed in `f64`, those of `f64` and of complex numbers in pairs of `f64`, and
//!   rounded once; complex ones have the special cases of C's Annex G.
//! - Results have the same bits on every machine and with any number of threads, whatever vectors its processor has: no function is
//!   the system library's. Only the sign and the payload of a NaN that is computed are the processor's.
//! - `maximum`, `minimum` and `clamp` propagate NaN. `convert` to integers saturates and turns NaN into 0.
//! - Integer division by zero gives all ones, the remainder by zero the dividend; `MIN / -1` is `MIN`, its remainder 0;
//!   sums and products wrap; shifts by the width or more give 0, or copies of the sign bit.
//! - `add` and `multiply` of `pred` are "or" and "and".
//! - A window that is folded passes over padding and the holes of dilation; the reversal of a window plays no part. The
//!   computations of `select-and-scatter` take the element selected so far and the next, and the source and the
//!   element that is there.
//! - `scatter` takes the scatter indices in row-major order, and for each the elements of its window.
//! - `sort` is a merge sort, and stable, whatever the comparator says. `topk` goes by IEEE 754's total order; of equal
//!   elements the first comes first.
//! - The computation of a `scan` takes the slices of the inputs without the dimension scanned, then what is carried.
//! - `rng-bit-generator` gives XLA's bits, `rng_default` being Philox. `rng` has no fixed numbers in XLA; here every
//!   evaluation gives the same: element `i` of the `d`-th `rng` that runs depends on `i`, `d` and nothing else, being made of
//!   Philox's words for the counter `i + 2^64 d`. Uniform floats are that many 2^24-ths of the way from one end to the other
//!   (2^53-rds for `f64`), rounded down; normal numbers are made by the method of Box and Muller. Each
//!   `rng-get-and-update-state` counts on from XLA's first state on CPUs; one of `u64[]`, which XLA has not, is how many
//!   `rng` have run. [`Config::chance`] says where both begin. Computations that are applied element by element begin
//!   anew each time.
//! - `reduce-precision` works on floats of less than 16 bits as on `f16`. `stochastic-convert` rounds to one of the two
//!   neighbors, as the random bits say, also to floats.
//! - `cholesky` of a matrix that is not positive definite is NaN throughout; `triangular-solve` divides by what is on the
//!   diagonal. Custom calls mean what [`CustomCalls`] says.
//!
//! # Codes
//!
//! | Code | Finding |
//! |---|---|
//! | `HLO201` | an operation that is not evaluated |
//! | `HLO202` | a shape that is not evaluated: a dynamic extent, an opaque value |
//! | `HLO203` | a constant whose value the text does not hold |
//! | `HLO204` | a layout that `bitcast` cannot be understood with |
//! | `HLO205` | too much memory |
//! | `HLO206` | computations that loop, applied element by element within one another too deep |
//! | `HLO207` | too many instructions |
//! | `HLO208` | a loop that makes too many rounds |
//! | `HLO209` | interrupted |
//! | `HLO210` | a wrong number of inputs |
//! | `HLO211` | an input of the wrong type or extents |
//! | `HLO212` | a custom call that failed |

mod bitcast;
mod call;
mod chance;
mod check;
mod conversion;
mod convolution;
mod custom;
mod dot;
mod dynamic_slice;
mod elementwise;
mod fold;
mod fourier;
mod gather;
mod input;
mod kernel;
mod linalg;
mod machine;
mod movement;
mod normalization;
mod plan;
mod precise;
mod precision;
mod product;
mod ragged_dot;
mod ragged_exchange;
mod random;
mod reduce;
mod region;
mod scalar;
mod scaled_dot;
mod scan;
mod scatter;
mod sort;
mod top_k;
mod value;
mod watch;
mod window;
mod work;

use crate::diagnostic::Diagnostics;
pub use chance::Chance;
pub use conversion::{converted, reinterpreted};
pub use custom::{CustomCall, CustomCalls};
pub(crate) use fourier::Chirp;
pub use precise::evaluate_precisely;
pub(crate) use precise::{wide_literal, wide_module};
pub(crate) use random::DRAWING_KEY;
pub(crate) use region::{nearest, number};
pub(crate) use scalar::{Number, sin_cos_of_turn};
pub(crate) use scan::refusal as scan_refusal;
pub use watch::{Interrupt, Progress, Watch};

use crate::ir::{Literal, Module};
use crate::verify::verify;
use call::Run;
use std::borrow::Cow;
use std::sync::atomic::AtomicU64;
use value::Meter;
use work::Work;

/// Limits of an evaluation, and its progress callback.
#[derive(Clone, Debug)]
pub struct Config {
    /// The limit on bytes of values alive at one time, inputs and constants not counted; an element takes as many as
    /// its type has, and at least one. Temporary arrays of sorting and of folding by a computation count too. 16 GiB by
    /// default.
    pub byte_limit: u64,
    /// The limit on instructions that run, each counted as often as its computation is called. 2^32 by default.
    pub instruction_limit: u64,
    /// The limit on iterations of each `while`; none by default.
    pub iteration_limit: Option<u64>,
    /// The semantics of custom calls; by default of those that JAX prints for CPUs.
    pub custom_calls: CustomCalls,
    /// Where random numbers go on; by default they begin.
    pub chance: Option<Chance>,
    /// Is told of every instruction before it runs, and may stop the evaluation.
    pub watch: Option<Watch>,
    /// Stops the evaluation within an instruction, from another thread.
    pub interrupt: Option<Interrupt>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            byte_limit: 16 << 30,
            instruction_limit: 1 << 32,
            iteration_limit: None,
            custom_calls: CustomCalls::default(),
            chance: None,
            watch: None,
            interrupt: None,
        }
    }
}

/// The results of the module's entry for `inputs`, within the default [`Config`].
///
/// `inputs` are the arrays of the parameters in order, those of tuples left to right; the results are given likewise.
/// Layouts play no part: literals are row-major.
///
/// # Errors
/// All of [`check`]'s; an input of another number, type or extents than the parameters have; memory running out.
///
/// ```
/// use weft_hlo::build::ModuleBuilder;
/// use weft_hlo::ir::{BinaryOp, ElementType, Literal, Shape};
///
/// let mut module = ModuleBuilder::new("square");
/// let mut main = module.computation("main");
/// let x = main.parameter(Shape::array(ElementType::F32, [2]));
/// let y = main.binary(BinaryOp::Multiply, x, x)?;
/// let main = main.finish(y)?;
/// let module = module.finish(main)?;
/// let results = weft_hlo::eval::evaluate(&module, &[Literal::array([2], vec![1.5f32, -2.0])])?;
/// assert_eq!(results, [Literal::array([2], vec![2.25f32, 4.0])]);
/// # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
/// ```
pub fn evaluate(module: &Module, inputs: &[Literal]) -> Result<Vec<Literal>, Diagnostics> {
    evaluate_with(module, inputs, &Config::default())
}

/// The results of the module's entry for `inputs`; see [`evaluate`].
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_with(module: &Module, inputs: &[Literal], config: &Config) -> Result<Vec<Literal>, Diagnostics> {
    evaluate_borrowed(module, &inputs.iter().collect::<Vec<_>>(), config)
}

/// As [`evaluate_with`], with inputs that lie in different places.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_borrowed(module: &Module, inputs: &[&Literal], config: &Config) -> Result<Vec<Literal>, Diagnostics> {
    let module = &*longhand(module)?;
    let plan = check::plan(module, config)?;
    let arguments = input::arguments(module, inputs)?;
    let work = Work { meter: Meter::new(config.byte_limit), interrupt: config.interrupt.clone() };
    machine::run(&Run { module, plan: &plan, config, work, instructions: AtomicU64::new(0) }, arguments)
}

/// Whether the module can be evaluated, found out without computing anything.
///
/// # Errors
/// Every operation, type, constant or size reachable from the entry that the evaluator does not handle; else, where
/// the module breaks rules, the [verifier's](crate::verify) findings.
pub fn check(module: &Module, config: &Config) -> Result<(), Diagnostics> {
    check::plan(&*longhand(module)?, config).map(|_| ())
}

/// As [`Module::longhand`], of what has been verified where it is another module.
fn longhand(module: &Module) -> Result<Cow<'_, Module>, Diagnostics> {
    let longhand = module.longhand();
    if let Cow::Owned(_) = longhand {
        verify(module)?;
    }
    Ok(longhand)
}
