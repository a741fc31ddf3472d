//! The tests of `weft-indexing`, one binary: `cargo test -p weft-indexing tiles::` runs those of a file.

#[path = "../../affine/tests/support/allocator.rs"]
mod allocator;
mod chains;
mod coalescing;
mod covered;
mod domain;
mod ends;
mod examples;
mod explain;
mod functions;
mod fusion;
mod inverse;
mod json;
mod judged;
mod operations;
mod parts;
mod properties;
mod runtime;
mod sets;
mod soundness;
mod spec;
mod spelling;
#[path = "../../affine/tests/support/mod.rs"]
mod support;
mod text;
mod tightness;
mod tiles;
mod utilization;
mod worlds;
