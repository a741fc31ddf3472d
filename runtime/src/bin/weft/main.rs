//! The command `weft`.
//!
//! It reads arguments and files and prints; whatever it shows or runs is one call of a library away.

mod args;
mod bench;
mod cache;
mod check;
mod compiling;
mod device;
mod emit;
mod excerpt;
mod graph;
mod headless;
mod indexing;
mod inputs;
mod launches;
mod loaded;
mod map;
mod npy;
mod opt;
mod output;
mod partition;
mod pass_list;
mod passes;
mod picture;
mod progress;
mod random;
mod reader;
mod report;
mod run;
mod self_test;
mod shapes;
mod show;
mod simplify;
mod source;
mod stats;
mod subject;
mod target;

use args::{Command, Format, Weft};
use bench::Stopwatch;
use clap::Parser;
use report::{Failure, Outcome};
use std::process::ExitCode;

/// Indices are trees of counted terms: a fifth of the time of compiling goes to the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match Weft::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return report::report_command_line(&error),
    };
    headless::ensure(&arguments.command);
    let stopwatch = Stopwatch::default();
    let is_timed = match &arguments.command {
        Command::Bench(_) => true,
        Command::Run(run) => run.stats,
        _ => false,
    };
    listen(is_timed.then(|| stopwatch.clone()));
    let format = arguments.format;
    match execute(&arguments, &stopwatch) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(failure) => report::report(&failure, format),
    }
}

fn execute(arguments: &Weft, stopwatch: &Stopwatch) -> Result<Outcome, Failure> {
    let format = arguments.format;
    match &arguments.command {
        Command::Run(run) => run::run(run, format, stopwatch),
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
        Command::Bench(arguments) => bench::bench(arguments, format, stopwatch),
        Command::Devices(arguments) if arguments.self_test => self_test::self_test(format),
        Command::Devices(arguments) => show::devices(arguments, format),
        Command::Cache(arguments) => cache::cache(arguments.action, format),
    }
}

/// Writes what the libraries trace to standard error, if `RUST_LOG` asks for it, and has the stages of compilation timed
/// by a stopwatch, if there is one.
fn listen(stopwatch: Option<Stopwatch>) {
    use tracing_subscriber::layer::{Layer, SubscriberExt};
    use tracing_subscriber::util::SubscriberInitExt;
    use tracing_subscriber::{EnvFilter, fmt};
    let log = EnvFilter::try_from_default_env().ok();
    if log.is_none() && stopwatch.is_none() {
        return;
    }
    let log = log.map(|filter| fmt::layer().with_writer(std::io::stderr).with_filter(filter));
    let timed = stopwatch.map(|stopwatch| stopwatch.with_filter(Stopwatch::filter()));
    tracing_subscriber::registry().with(log).with(timed).init();
}

/// Whether results are to be one JSON value.
fn is_json(format: Format) -> bool {
    format == Format::Json
}
