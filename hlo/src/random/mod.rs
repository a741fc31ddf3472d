//! Random valid modules, the same for the same seed on every machine.
//!
//! A test of something that takes modules (the evaluator, a pass, the text, a compiler) asks for [`module`]s and [`inputs`],
//! and a [`Distribution`] tells what it was given; a test of single operations asks for [`instance`]s. Modules are valid by construction: every maker of an operation draws
//! operands that its [rule](crate::verify) allows, the extents of the result follow from the
//! [shape functions](crate::shape), and an attempt that comes to nothing is given up for another one.
//!
//! They hold every operation that computes on one device and gives the same value each time ([`operations`]), every element
//! type, ranks 0 to 6, extents 0 and 1, values with several readers and with none, tuples within tuples, computations that
//! are called, fused, looped over, chosen and applied element by element, several times and within one another, layouts, and
//! constants with NaNs, infinities, zeros of both signs, subnormal numbers and the ends of the integers. Loops have at
//! most [`MAX_TRIP_COUNT`] iterations. `indices_are_sorted`, `unique_indices` and `is_associative` are promises and are given only where
//! they hold.
//!
//! Which of all that is made [`Options`] say. [`Options::computed`] are for those who compile kernels, and
//! [tame numbers](Numbers::Tame) for those who compare with an implementation that rounds otherwise: [`error_bounds`] tells
//! how far its results may be off. A test that draws something else takes its numbers from [`Rng`].
//!
//! Not made are operations with effects or without a fixed value (`rng`, `infeed`, …), collectives, what runs
//! asynchronously, custom calls, and extents that are known at run time only.
//!
//! ```
//! use weft_hlo::ir::Opcode;
//! use weft_hlo::random::{self, Distribution, Options};
//!
//! let mut distribution = Distribution::default();
//! for seed in 0..10 {
//!     let module = random::module(seed, &Options::default());
//!     weft_hlo::verify::verify(&module)?;
//!     distribution.add(&module);
//! }
//! assert_eq!(distribution.modules, 10);
//!
//! // Modules around one operation: everything else is there to feed it.
//! let gathers = Options { operations: vec![Opcode::Gather], ..Options::default() };
//! let module = random::module(7, &gathers);
//! assert!(module.entry_computation().instructions.values().any(|instruction| instruction.op.opcode() == Opcode::Gather));
//! # Ok::<(), weft_hlo::diagnostic::Diagnostics>(())
//! ```

mod body;
mod contraction;
mod control_flow;
mod distribution;
mod elementwise;
mod error_bounds;
mod function;
mod indexed;
mod linear;
mod literal;
mod module;
mod movement;
mod operand;
mod operation;
mod options;
mod reduction;
mod region;
mod rng;
mod shape;
mod structure;
mod tame;
mod value_range;

pub use control_flow::MAX_TRIP_COUNT;
pub use distribution::Distribution;
pub use error_bounds::error_bounds;
pub use literal::inputs;
pub use module::{instance, module};
pub use operation::{computed, operations};
pub use options::{Numbers, Options};
pub use rng::Rng;
