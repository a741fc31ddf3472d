//! The tests of `weft-partition`, one binary: `cargo test -p weft-partition fuse::` runs those of a file.
#![allow(clippy::panic, clippy::unwrap_used, reason = "the helpers of tests fail as tests do")]

#[path = "../../affine/tests/support/allocator.rs"]
mod allocator;
mod arenas;
mod attention;
mod corpus;
#[path = "../../affine/tests/support/count.rs"]
mod count;
mod estimate;
mod fourier;
mod fuse;
mod gathered;
mod grouping;
mod inlined;
mod joined;
mod merge;
mod plan;
mod products;
mod reduced;
mod rewritten;
mod rows_of_sums;
mod scans;
mod semigroups;
mod target;
mod thin_dots;
mod tiling;
mod traffic;
mod transposed;
mod uncompiled;
mod windowed;
