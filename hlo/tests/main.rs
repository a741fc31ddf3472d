//! The tests of `weft-hlo`, one binary: `cargo test -p weft-hlo maps_oracle::` runs those of a file.
#![allow(clippy::panic, clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

#[path = "../../affine/tests/support/allocator.rs"]
mod allocator;
mod bounds;
mod build;
#[path = "support/cases.rs"]
mod cases;
mod compound;
#[path = "../../affine/tests/support/count.rs"]
mod count;
mod eval_corpus;
mod eval_numeric;
mod eval_ops;
mod eval_products;
mod eval_regions;
#[cfg(feature = "parallel")]
mod eval_threads;
mod expansions;
mod expansions_exact;
#[path = "support/factorizations.rs"]
mod factorizations;
mod flatten;
mod fourier;
mod fuzz_replay;
#[path = "../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "it is a crate of its own, too")]
mod fuzzed;
mod linear_algebra;
mod literals;
mod maps;
mod maps_collectives;
mod maps_constants;
mod maps_corpus;
mod maps_inverse;
mod maps_oracle;
mod maps_subgraph;
mod maps_undefined;
mod maps_windows;
mod ordered_kernels;
mod other_dots;
mod passes;
mod random_distribution;
mod random_modules;
mod random_numbers;
mod scalar_regions;
mod selections;
mod shape_depth;
mod shape_forms;
mod shape_functions;
mod shape_library;
mod shape_rules;
mod shape_text;
#[path = "support/shapes.rs"]
mod shapes;
mod sorts;
mod specialize;
mod support;
mod text_broken;
mod text_corpus;
mod text_forms;
mod text_operations;
mod text_robust;
mod thin_dots;
#[path = "support/values.rs"]
mod values;
mod verify;
mod verify_mutated;
mod verify_unsound;
mod wide_products;
