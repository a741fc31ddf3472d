//! The tests of `weft-affine`, one binary: `cargo test -p weft-affine soundness::` runs those of a file.

#[path = "support/allocator.rs"]
mod allocator;
mod cases;
mod chains;
mod corpus;
mod growth;
mod large;
mod laws;
mod notation;
mod properties;
mod quality;
mod smt;
mod soundness;
mod support;
mod why_not;
