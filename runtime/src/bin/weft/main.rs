//! The command `weft`.
//!
//! It reads arguments and files and prints; whatever it shows or runs is one call of a library away.

mod args;
mod check;
mod device;
mod emit;
mod excerpt;
mod headless;
mod indexing;
mod inputs;
mod map;
mod npy;
mod opt;
mod output;
mod partition;
mod pass_list;
mod passes;
mod progress;
mod random;
mod reader;
mod report;
mod run;
mod shapes;
mod show;
mod simplify;
mod source;
mod subject;

use args::{Command, Format, Weft};
use clap::Parser;
use report::{Failure, Outcome};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Weft::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return report::report_command_line(&error),
    };
    headless::ensure(&arguments.command);
    listen();
    let format = arguments.format;
    match execute(&arguments) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(failure) => report::report(&failure, format),
    }
}

fn execute(arguments: &Weft) -> Result<Outcome, Failure> {
    let format = arguments.format;
    match &arguments.command {
        Command::Run(run) => run::run(run, format),
        Command::Compile(shown) => show::compile(shown, format),
        Command::Fmt(file) => show::fmt(file, format),
        Command::Emit(emit) => emit::emit(emit, format),
        Command::Fuse(fuse) => partition::fuse(fuse, format),
        Command::Partition(shown) => partition::partition(shown, format),
        Command::Indexing(arguments) => indexing::indexing(arguments, format),
        Command::Simplify(simplify) => simplify::simplify(simplify, format),
        Command::Map(map) => map::map(map, format),
        Command::Verify(file) => show::verify(file, format),
        Command::Specialize(arguments) => shapes::specialize(arguments, format),
        Command::ShapeFunctions(arguments) => shapes::functions(arguments, format),
        Command::Opt(arguments) => opt::opt(arguments, format),
        Command::Devices => show::devices(format),
    }
}

/// Writes what the libraries trace to standard error, if `RUST_LOG` asks for it.
fn listen() {
    use tracing_subscriber::EnvFilter;
    if let Ok(filter) = EnvFilter::try_from_default_env() {
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
}

/// Whether results are to be one JSON value.
fn is_json(format: Format) -> bool {
    format == Format::Json
}
