//! The tests of `weft-codegen-wgsl`, one binary: `cargo test -p weft-codegen-wgsl snapshots::` runs those of a file.

#[path = "../../affine/tests/support/allocator.rs"]
mod allocator;
mod corpus;
mod flatten;
mod gate;
mod growth;
mod kernel_text;
mod kernel_verify;
mod limits;
mod matrices;
mod once;
mod operations;
mod protection;
mod reads;
mod reduced;
mod snapshots;
mod stages;
mod support;
mod together;
mod translate;
#[path = "../../hlo/tests/support/understood.rs"]
mod understood;
mod vectors;
mod whole_loops;
mod windows;
