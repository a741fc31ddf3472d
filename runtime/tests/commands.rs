//! The command `weft`, and how the workspace is layered: `cargo test -p weft-runtime --test commands map_command::` runs the
//! tests of a file.

mod bench_command;
mod cache_command;
mod cli;
#[path = "support/command.rs"]
mod command;
mod fuse_command;
mod indexing_command;
mod indexing_spec;
mod inputs_command;
mod layering;
mod map_command;
mod opt_command;
mod picture_command;
mod program_command;
mod simplify_command;
mod stages;
mod target_command;
