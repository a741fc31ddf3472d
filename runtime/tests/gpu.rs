//! What needs an adapter: programs on the device against the evaluator. `cargo test -p weft-runtime --test gpu drivers::`
//! runs the tests of a file; the judge runs this binary once on each adapter.
#![allow(clippy::panic, clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

#[path = "../../affine/tests/support/allocator.rs"]
mod allocator;
mod arenas;
#[path = "support/bounded.rs"]
mod bounded;
mod budget;
mod compound;
mod control_flow;
mod corpus;
#[path = "../../hlo/tests/support/mod.rs"]
mod corpus_support;
#[path = "../../affine/tests/support/count.rs"]
mod count;
mod device;
mod differential;
mod donation;
mod drivers;
mod expanded;
#[path = "../../hlo/tests/support/factorizations.rs"]
mod factorizations;
mod linear_algebra;
#[path = "../../codegen-wgsl/tests/support/lockstep.rs"]
mod lockstep;
mod math;
mod mixed;
#[path = "support/near.rs"]
mod near;
#[path = "../../codegen-wgsl/tests/support/pairs.rs"]
mod pairs;
mod products;
mod program;
mod program_cache;
mod program_text;
mod progress;
mod protection;
mod random_bits;
mod random_numbers;
mod recording;
mod reduced;
mod reductions;
mod run;
mod scatters;
mod self_test;
mod sorts;
mod support;
mod together;
#[path = "../../codegen-wgsl/tests/support/together.rs"]
mod together_support;
mod transposed;
mod types;
#[path = "../../hlo/tests/support/understood.rs"]
mod understood;
mod uniforms;
mod update_slice;
mod vectors;
mod whole_loops;
mod windows;
