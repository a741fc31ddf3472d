//! HLO, the language that JAX, TensorFlow and PyTorch/XLA lower to: its IR, its text, a verifier, a reference evaluator,
//! passes, and for every operation the map that says which elements it reads.
//!
//! ```
#![doc = include_str!("../examples/hlo_front_page.rs")]
//! ```
//!
//! computes `[2, 8, 4, 10, 6, 12]` and finds the map `(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]`.
//!
//! Take this crate to read, check, build, rewrite, analyse or evaluate HLO. It is not for running programs fast: the evaluator
//! is an oracle, and what runs HLO on a GPU is `weft-runtime`. It knows no device, reads no file, and reads neither StableHLO
//! nor HLO protocol buffers.
//!
//! | Module | Contents |
//! |---|---|
//! | [`ir`] | modules, computations, instructions, shapes and literals |
//! | [`build`] | modules made in Rust, with shapes inferred and rules checked |
//! | [`text`] | the parser and the printer of all of HLO's syntax, in XLA's spelling |
//! | [`verify`], [`shape`] | the verifier, which returns all findings at once, and shape functions |
//! | [`eval`] | the reference evaluator: plain loops, the oracle for everything else |
//! | [`passes`] | simplification, flattening of calls and tuples, specialization of unknown extents |
//! | [`indexing`] | the indexing maps of operations, computations and fusions |
//! | [`diagnostic`] | findings with codes and source locations |
//! | `random` | random modules, for tests (feature `random`) |
//!
//! Read, printed and verified is the whole language; evaluated is what one device computes, in every element type; every
//! operation has its indexing maps, or a reason of a closed list why it has none. Everything else is refused by an error with a code,
//! the place and the reason.
//!
//! | Feature | Gives | Default |
//! |---|---|---|
//! | `parallel` | the evaluator uses all cores | yes |
//! | `random` | random modules, for tests | no |

// What is computed here may be folded into programs and has the same bits on every machine: the functions that ../clippy.toml
// lists, which are the system's library's, are not used. Tests compare with them.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod bounds;
pub mod build;
pub mod diagnostic;
pub mod eval;
pub mod indexing;
pub mod ir;
pub mod passes;
#[cfg(feature = "random")]
pub mod random;
pub mod shape;
pub mod text;
pub mod verify;

/// The examples of `README.md`, run as the documentation's are.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
