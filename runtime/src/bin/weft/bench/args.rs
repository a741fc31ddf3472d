//! The command line of `weft bench`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

use crate::args::Scheduled;

/// What `weft bench --help` opens with.
pub(crate) const ABOUT: &str = "\
Measure programs on a device, beside hand-written kernels and a plain copy

CASE is one of the programs that this command brings along; any other name is a FILE of HLO text. Of each program it
tells wall time and process CPU time of a run with inputs that lie on the device (median, and the range of the middle
half as a part of it), bytes and operations per second, kernels, compile time by stage, and the largest error against
64-bit floats. The program, the reference kernels of the case and the copy run in turns, so that whatever else the
machine does hits all alike; ratios are medians over turns. A program that cannot run is told with the reason.";

/// What it ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  weft bench softmax layernorm
  weft bench program.hlo --rounds 50 --no-check
  weft bench --all --format json > before.json
  weft bench --all --baseline before.json --tolerance 1.05
  weft bench --all --unfused --no-check
  weft bench --calibrate mine.json --device llvmpipe
  weft bench --sweep --device llvmpipe --rounds 5
  weft bench --all --device llvmpipe --device swiftshader --markdown > results.md";

/// What to measure, and how.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(false).args(["programs", "all", "sweep", "calibrate"]))]
pub(crate) struct Bench {
    /// Names of cases that come with this command, or files of HLO text; `-` is standard input
    #[arg(value_name = "CASE|FILE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) programs: Vec<String>,
    /// All cases that come with this command
    #[arg(long)]
    pub(crate) all: bool,
    /// Row sums, column sums, softmax of rows, transposes and products with 32 rows of f32 arrays of up to 2^LOG2 elements (24 if not told), rows and columns powers of 16 and
    /// some primes, each beside the plain loops that compute it, with all schedules or the one that `--schedule` tells. Exit with 1 if any takes more than
    /// twice as long with those that suit the device, or is wrong
    #[arg(long, value_name = "LOG2", num_args = 0..=1, require_equals = true, default_missing_value = "24", conflicts_with_all = ["baseline", "no_opt"], value_parser = clap::value_parser!(u32).range(0..=26))]
    pub(crate) sweep: Option<u32>,
    /// Measure what memory, arithmetic and launches cost on the device, and write its target with these costs to FILE, for `--target`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "no_opt", "unfused", "target", "schedule", "markdown"])]
    pub(crate) calibrate: Option<PathBuf>,
    /// Measure each program beside what it is when each of its instructions is a launch
    #[arg(long, conflicts_with = "sweep")]
    pub(crate) unfused: bool,
    /// Where to run: `gpu` (the best there is), a number of `weft devices`, or a part of a device's name. Given several
    /// times, on each of them in turn
    #[arg(long, value_name = "DEVICE", default_value = "gpu", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) device: Vec<String>,
    /// Compile programs for this target instead of each device as it is; the device has to offer what the target allows. As
    /// for `weft compile`
    #[arg(long, value_name = "NAME|FILE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) scheduled: Scheduled,
    /// Combine the updates of scatters as they come, also where results depend on the order
    #[arg(long)]
    pub(crate) fast_scatter: bool,
    /// Rounds to measure of each program, after those of 0.2 s that warm up, two at least
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Begin no further round of a program once its rounds have taken this long, if three were measured
    #[arg(long, value_name = "S", default_value_t = 20.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// The seed of the inputs: normal floats, or uniform in [0.5, 2] where a logarithm or a sum of all elements reads
    /// them; indices in range
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Do not compute the results in 64-bit floats, which takes seconds for large programs, and tell no errors
    #[arg(long)]
    pub(crate) no_check: bool,
    /// Compile programs as they are, without the passes of `weft opt`
    #[arg(long)]
    pub(crate) no_opt: bool,
    /// The clock that ratios are of
    #[arg(long, value_enum, default_value_t = Clock::Wall)]
    pub(crate) clock: Clock,
    /// Compare with what `--format json` wrote, program by program: the time as a multiple of the copy's in the same
    /// run. Exit with 1 if any is larger by more than the tolerance, can no longer run, or has become wrong
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// The ratio to the baseline from which a program counts as slower
    #[arg(long, value_name = "RATIO", default_value_t = 1.15, value_parser = ratio)]
    pub(crate) tolerance: f64,
    /// Write tables in Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Which time is compared.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clock {
    /// The time that passes.
    Wall,
    /// The time that all threads of this process compute, drivers included: for software devices on a busy machine.
    Cpu,
    /// The time between the beginning of a run and its end on the device, by its timestamps, in a run of its own in every round: without what it takes
    /// to hand a run over and to hear that it is done. Programs that the host takes part in have none.
    Device,
}

impl Clock {
    /// Its name on the command line and in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::Cpu => "cpu",
            Clock::Device => "device",
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("a number of seconds is not negative".into()),
    }
}

fn ratio(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 1.0 => Ok(value),
        _ => Err("a ratio is a number of at least 1".into()),
    }
}
