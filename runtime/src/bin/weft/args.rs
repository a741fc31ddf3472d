//! The command line.

use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

pub(crate) use crate::bench::args::Bench;
pub(crate) use crate::compiling::Compiling;
pub(crate) use crate::map::args::Map;
use crate::pass_list::{PassList, pass_list};
use weft_partition::{Grouping, Schedule, Target};

/// Compiles HLO to kernels for any GPU, runs them, and shows every stage between.
///
/// FILE is HLO text as JAX prints it; `-` reads standard input. Results go to standard output, everything else to
/// standard error. Exit codes: 0 done, 1 a finding or a failure, 2 a command line that cannot be meant.
#[derive(Parser, Debug)]
#[command(name = "weft", version, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Weft {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// How to write results and errors.
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// How results and errors are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON value.
    Json,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a program on the best GPU there is
    #[command(after_help = crate::loaded::FILES)]
    Run(Run),
    /// Show a program as launches and buffers, as it would run
    #[command(after_help = crate::loaded::FILES)]
    Compile(Compile),
    /// Show a program as it was read, as canonical text
    Fmt(File),
    /// Show the kernels of a program at a stage of their making
    Emit(Emit),
    /// Show a program after fusion, as HLO text
    Fuse(Fuse),
    /// Show how each fusion is divided into functions, and why
    Partition(Partition),
    /// Show which elements of its operands every element of an instruction is computed from, as indexing maps
    #[command(after_help = crate::indexing::EXAMPLES)]
    Indexing(Indexing),
    /// Simplify an indexing map, or one expression, and show why: short for `weft map simplify`
    Simplify(Simplify),
    /// Compose, invert, evaluate and analyze indexing maps
    #[command(long_about = crate::map::args::ABOUT, after_help = crate::map::args::EXAMPLES)]
    Map(Map),
    /// Check a program and report all findings
    Verify(Verify),
    /// Give a program of unknown extents those of one run, as plain static HLO
    Specialize(Specialize),
    /// Show the shape functions of operations in one of their three forms
    ShapeFunctions(ShapeFunctions),
    /// Simplify a program by passes from HLO to HLO
    Opt(Opt),
    /// Measure programs on a device, beside hand-written kernels and a plain copy
    #[command(long_about = crate::bench::args::ABOUT, after_help = crate::bench::args::EXAMPLES)]
    Bench(Bench),
    /// List the devices that programs can run on, with what they offer
    Devices(Devices),
    /// Show or clear what is kept on disk from one run to the next
    #[command(after_help = crate::cache::PLACES)]
    Cache(Cache),
}

/// A program to read.
#[derive(Args, Debug)]
pub(crate) struct File {
    /// HLO text, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// A program to check.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) source: File,
    #[command(flatten)]
    pub(crate) functions: FunctionFiles,
}

/// A program to compile for some device and look at.
#[derive(Args, Debug)]
pub(crate) struct Shown {
    #[command(flatten)]
    pub(crate) source: File,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) passes: Passes,
}

/// A program to fuse.
#[derive(Args, Debug)]
pub(crate) struct Fuse {
    #[command(flatten)]
    pub(crate) shown: Shown,
    /// Take FILE as it is fused already, by whomever: fuse nothing, only show it
    #[arg(long, conflicts_with_all = ["no_opt", "explain"])]
    pub(crate) given: bool,
    /// Tell how many launches the program makes, the bytes of their operands and results, their arithmetic, and how long they should take on
    /// the target; bodies of loops once; on standard error
    #[arg(long)]
    pub(crate) stats: bool,
    /// Write a picture of the program to FILE, each fusion a box with its instructions, as SVG, or as DOT where the name ends in `.dot`; `-`
    /// writes DOT to standard output instead of the program
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// A program of which to show how its fusions are divided.
#[derive(Args, Debug)]
pub(crate) struct Partition {
    #[command(flatten)]
    pub(crate) shown: Shown,
    /// Only this fusion; `COMPUTATION/NAME` where it stands in another computation than the entry
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) fusion: Option<String>,
    /// Write a picture of the fusions to FILE, each function a box with its instructions, as SVG, or as DOT where the name ends in `.dot`; `-`
    /// writes DOT to standard output instead of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// A program to compile whole. FILE may be a compiled program too, as `--output` and `--whole` write it.
#[derive(Args, Debug)]
pub(crate) struct Compile {
    #[command(flatten)]
    pub(crate) shown: Shown,
    #[command(flatten)]
    pub(crate) compiling: Compiling,
    /// Show all of the program, kernels, constants and target too, in the text that `weft run` takes
    #[arg(long, conflicts_with = "explain")]
    pub(crate) whole: bool,
    /// Write the program to FILE as well, for `weft run` of the same version
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What is done to a program before it is fused.
#[derive(Args, Debug)]
pub(crate) struct Passes {
    /// Take the program as it is written: leave out the passes that simplify it first, those of `weft opt`
    #[arg(long)]
    pub(crate) no_opt: bool,
    /// Say what was done to the program, where, and by which rule: before the results, in comments, or of `run` on standard
    /// error
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) grouped: Grouped,
}

/// What is fused.
#[derive(Args, Copy, Clone, Debug)]
pub(crate) struct Grouped {
    /// Take the fusions that the program brings along apart, and fuse all of it anew
    #[arg(long)]
    pub(crate) refuse: bool,
    /// Fuse nothing: each instruction is a launch of its own, also those that fusions of the program hold
    #[arg(long, conflicts_with = "refuse")]
    pub(crate) no_fuse: bool,
}

impl Grouped {
    /// What the library is asked for.
    pub(crate) fn grouping(self) -> Grouping {
        match self {
            Grouped { no_fuse: true, .. } => Grouping::Alone,
            Grouped { refuse: true, .. } => Grouping::Refuse,
            _ => Grouping::Keep,
        }
    }
}

/// Which maps to show.
#[derive(Args, Debug)]
pub(crate) struct Indexing {
    #[command(flatten)]
    pub(crate) source: File,
    /// Only this instruction; `COMPUTATION/NAME` where several computations have one of that name
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) instruction: Option<String>,
    /// From elements of the output to those of the inputs, or the other way
    #[arg(long, value_enum, default_value_t = Direction::OutputToInput)]
    pub(crate) direction: Direction,
    /// The maps through a whole computation, to every instruction of it: of the fusion or call that --instruction names,
    /// or else of the entry
    #[arg(long, conflicts_with = "to")]
    pub(crate) fusion: bool,
    /// The maps from the instruction that --instruction names to this one of the same computation, before it or after it;
    /// named in the same ways, and a name alone is first looked for in that computation
    #[arg(long, value_name = "NAME", requires = "instruction", conflicts_with = "direction", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) to: Option<String>,
    /// Whether to simplify maps of single operations; those through several always are
    #[arg(long, value_name = "yes|no", default_value = "yes", action = ArgAction::Set, value_parser = yes_or_no(), hide_possible_values = true)]
    pub(crate) simplify: bool,
    /// How exactly the maps of dynamic-update-slice say which elements it does not read
    #[arg(long, value_enum, default_value_t = Domain::Documented)]
    pub(crate) domain: Domain,
    /// Between positions in memory, as the layouts have them, rather than indices
    #[arg(long)]
    pub(crate) physical: bool,
    /// Several lines for each map: under each runtime variable who yields it, and which element of that it is
    #[arg(long)]
    pub(crate) verbose: bool,
}

/// Which way maps lead.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// From elements of the output to the elements of inputs that they are computed from.
    OutputToInput,
    /// From elements of an input to the elements of the output that are computed from them.
    InputToOutput,
}

/// What the maps of dynamic-update-slice say.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Domain {
    /// As XLA's document prints them.
    Documented,
    /// The map to the source leaves out what is updated, that to the update covers just that.
    Exact,
}

fn yes_or_no() -> impl TypedValueParser<Value = bool> {
    clap::builder::PossibleValuesParser::new(["yes", "no"]).map(|word| word == "yes")
}

/// What to compile for.
#[derive(Args, Debug)]
pub(crate) struct TargetArgs {
    /// Compile for this device's limits: `gpu` for the best, a number of `weft devices`, or a part of a name.
    /// Without it, for the limits every device has; then no device is touched
    #[arg(long, value_name = "DEVICE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) device: Option<String>,
    /// Compile for this target, which no device here has to be: `floor`, `discrete`, `integrated`, `apple`, `mobile`, `software`,
    /// or a file of JSON as `weft devices --format json` writes it
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "device", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) wishes: Wishes,
}

/// What is asked for of any target.
#[derive(Args, Debug)]
pub(crate) struct Wishes {
    /// Round every product before something is added to it or taken from it, also on devices that would do both at once
    #[arg(long)]
    pub(crate) no_contraction: bool,
    /// Combine the updates of scatters as they come, also where results depend on the order: sums, products, minima and maxima of f32
    #[arg(long)]
    pub(crate) fast_scatter: bool,
    #[command(flatten)]
    pub(crate) scheduled: Scheduled,
}

impl Wishes {
    /// Whether anything is asked for.
    pub(crate) fn are_any(&self) -> bool {
        self.no_contraction || self.fast_scatter || self.scheduled.schedule.is_some()
    }

    /// Puts into a target what is asked for.
    pub(crate) fn apply(&self, target: Target) -> Target {
        self.scheduled.apply(target).with(|target| {
            target.forbid_contraction |= self.no_contraction;
            target.fast_scatter |= self.fast_scatter;
        })
    }
}

/// Which schedules kernels are given.
#[derive(Args, Debug)]
pub(crate) struct Scheduled {
    /// Give kernels the schedules of this kind of device, `gpu` or `software`, whatever the target is; without it, those that suit the target
    #[arg(long, value_name = "gpu|software", value_parser = schedules(), hide_possible_values = true)]
    pub(crate) schedule: Option<Schedule>,
}

impl Scheduled {
    /// Puts into a target what is asked for.
    pub(crate) fn apply(&self, target: Target) -> Target {
        target.with(|target| target.schedule = self.schedule.or(target.schedule))
    }
}

fn schedules() -> impl TypedValueParser<Value = Schedule> {
    let names = Schedule::ALL.map(Schedule::name);
    clap::builder::PossibleValuesParser::new(names).try_map(|word| word.parse::<Schedule>())
}

#[derive(Args, Debug)]
pub(crate) struct Devices {
    /// Show this target instead of devices: `floor`, `discrete`, `integrated`, `apple`, `mobile`, `software`, or a file of JSON
    #[arg(long, value_name = "NAME|FILE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) target: Option<String>,
    /// Run small kernels on every device that find out what it gets wrong, and keep the answers: from then on programs are compiled
    /// without what fails. Exit with 1 if a device cannot be tested
    #[arg(long, conflicts_with = "target")]
    pub(crate) self_test: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Cache {
    /// What to do
    #[arg(value_enum)]
    pub(crate) action: CacheAction,
}

/// What to do with the cache.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheAction {
    /// Show the folder.
    Path,
    /// Show what is kept.
    List,
    /// Remove all that is kept; what is needed again is made again.
    Clear,
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) source: File,
    /// An input: a NumPy file or a constant as HLO writes it (`1.5`, `{1,2}`) for the next parameter, elements of tuples counted one by one; or a
    /// `.npz` or `.safetensors` file for all parameters that it names; `FILE:TENSOR` is one tensor of such a file. `NAME=INPUT` is for
    /// the parameter NAME. Without any, random values are taken, as with `--random 0`
    #[arg(long, value_name = "INPUT", conflicts_with = "random", allow_negative_numbers = true)]
    pub(crate) input: Vec<PathBuf>,
    /// Random inputs from this seed, the same on every machine: floats around 0, small integers, both truth values
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = seed)]
    pub(crate) random: Option<u64>,
    /// Where the random numbers that the program draws begin; the same on every machine
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed)]
    pub(crate) seed: u64,
    /// Write the results to DIR as out_0.npy, out_1.npy, …; tuples are flattened. DIR is made if there is none
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Where to run: `auto` (the best GPU, or the evaluator if there is none), `gpu`, `evaluator`, a number of
    /// `weft devices`, or a part of a device's name
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) device: String,
    /// Compile for this target instead of the device as it is; the device has to offer what the target allows. As for
    /// `weft compile`
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "precise", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) wishes: Wishes,
    #[command(flatten)]
    pub(crate) passes: Passes,
    /// End a `while` loop after N rounds with an error, in the evaluator; by default it may make any number. The program is
    /// then evaluated as it is written
    #[arg(long, value_name = "N")]
    pub(crate) max_iterations: Option<u64>,
    /// Compute in the evaluator with 64-bit floats wherever the program's are narrower, and the program as it is written: a
    /// reference for what rounding costs
    #[arg(long, conflicts_with_all = ["check", "no_host", "donate"])]
    pub(crate) precise: bool,
    #[command(flatten)]
    pub(crate) compiling: Compiling,
    /// Tell of launches, what the host computed, bytes moved and held, and times; on standard error
    #[arg(long, conflicts_with = "precise")]
    pub(crate) stats: bool,
    /// Let all kernels check their indices and loops while they run, also those of which it is proved that they need not
    #[arg(long, conflicts_with = "precise")]
    pub(crate) sanitize: bool,
    /// Compare the results with those of the reference evaluator; exit with 1 if any differs by more than the
    /// tolerances. Integers and truth values have to be equal
    #[arg(long)]
    pub(crate) check: bool,
    /// Difference that --check forgives in every float
    #[arg(long, value_name = "X", default_value_t = 1e-5, allow_negative_numbers = true, value_parser = tolerance)]
    pub(crate) absolute_tolerance: f64,
    /// Difference that --check forgives in addition, per unit of the expected value
    #[arg(long, value_name = "X", default_value_t = 1e-4, allow_negative_numbers = true, value_parser = tolerance)]
    pub(crate) relative_tolerance: f64,
}

#[derive(Args, Debug)]
pub(crate) struct Emit {
    #[command(flatten)]
    pub(crate) source: File,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) passes: Passes,
    /// The stage to show
    #[arg(long, value_enum, default_value_t = Stage::Wgsl)]
    pub(crate) stage: Stage,
    /// Only this kernel: its number, or the name of its fusion
    #[arg(long, value_name = "NAME|NUMBER")]
    pub(crate) kernel: Option<String>,
}

/// A stage in the making of a kernel.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// The plan: the functions a fusion is divided into, its heroes, its launch, and why
    Functions,
    /// The kernel with its loops, one index per dimension
    Kernel,
    /// The kernel with functions of values written in place of their calls
    Inlined,
    /// The kernel with several accumulators in long loops that fold one operation
    Split,
    /// The kernel with elements of all types in registers of 32 bits
    Typed,
    /// The kernel with operations that WGSL has
    Legal,
    /// The kernel with what invocations do together as trees in workgroup memory and atomic operations
    Collectives,
    /// The kernel with row-major positions for indices
    Flat,
    /// The kernel with slices of one buffer as one memory
    Merged,
    /// The kernel with packed elements that only move as the words that hold them
    Moved,
    /// The kernel with small operands bound as uniforms, where the target loads these sooner
    Uniform,
    /// The kernel with vectors for several elements of an invocation
    Vectorized,
    /// The kernel with loops for what subgroups do with matrices, where the target wishes so
    Matrices,
    /// The kernel with packed elements as bits of words
    Words,
    /// The kernel with what rounds of an invocation have in common read once
    Held,
    /// The kernel with loops that test no bounds in full rounds
    Peeled,
    /// The kernel with registers of an invocation as values
    Registers,
    /// The kernel with what an invocation reads or computes at the same indices again made once
    Shared,
    /// The kernel with floats hidden from the algebra of drivers
    Protected,
    /// The kernel with short loops written out, and long ones within the rounds that the target makes
    Unrolled,
    /// The kernel with elements side by side that an invocation reads or writes as vectors
    Neighbors,
    /// The kernel with names for what is needed more than once, or in every round of a loop alike
    Hoisted,
    /// The kernel with what is folded of vectors in a row folded lane by lane, for devices that have few registers
    Lanes,
    /// The kernel with buffers of vectors as numbers of 64 bits, for devices that take as long for one as for a word
    Paired,
    /// The kernel with loops whose rounds drivers are not told, so that they stay loops, where what drivers make of them takes longer to compile than to run
    Rolled,
    /// WGSL
    Wgsl,
    /// SPIR-V: binary into a pipe or file (of one kernel), words in hexadecimal on a terminal
    Spirv,
    /// Metal Shading Language
    Msl,
    /// HLSL
    Hlsl,
    /// GLSL
    Glsl,
    /// All from the functions to WGSL, one after the other
    All,
}

#[derive(Args, Debug)]
pub(crate) struct Simplify {
    /// An indexing map, such as '(d0, d1) -> ((d0 * 8 + d1) floordiv 8), domain: d0 in [0, 3], d1 in [0, 7]', or one
    /// expression; the domain may be left out. `@FILE` reads it from a file, `-` from standard input
    #[arg(value_name = "MAP", allow_hyphen_values = true)]
    pub(crate) map: String,
    /// Leave variables with a single value in the results, where otherwise the value takes their place
    #[arg(long)]
    pub(crate) keep_point_dimensions: bool,
    /// Show under each runtime variable whose value it is and which element
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Show the derivation of each result that changed
    #[arg(long)]
    pub(crate) why: bool,
    /// Show for each division and remainder that is left in a result which laws were tried on it, and what each of them
    /// lacked: a condition, with the range that does not prove it, or a gain
    #[arg(long)]
    pub(crate) why_not: bool,
    /// Write a picture of all equal forms of the first result to FILE, as SVG, or as DOT where the name ends in `.dot`;
    /// `-` writes DOT to standard output instead of the map
    #[arg(long, value_name = "FILE")]
    pub(crate) egraph: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Opt {
    #[command(flatten)]
    pub(crate) source: File,
    /// Only these passes, between commas, in this order, again and again until none changes anything; none for an empty
    /// list; by default all but those that change rounding
    #[arg(long, value_name = "PASSES", value_parser = pass_list())]
    pub(crate) passes: Option<PassList>,
    /// Show the program after every run of these passes that changed something, in comments of their own before it
    #[arg(long, value_name = "PASSES", value_parser = pass_list())]
    pub(crate) print_after: Option<PassList>,
    /// Say what each pass changed, where, and by which rule, in comments before the program
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Specialize {
    #[command(flatten)]
    pub(crate) source: File,
    /// The shape of a parameter of the entry computation, such as `x=f32[32,128]`; once for each parameter of unknown
    /// extents, unless these follow from the others
    #[arg(long, value_name = "NAME=SHAPE")]
    pub(crate) shape: Vec<String>,
    #[command(flatten)]
    pub(crate) functions: FunctionFiles,
}

/// Shape functions besides those of HLO's operations.
#[derive(Args, Debug)]
pub(crate) struct FunctionFiles {
    /// A file of shape functions for custom calls, mapped to their targets
    #[arg(long, value_name = "FILE")]
    pub(crate) shape_functions: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ShapeFunctions {
    /// Only the function of this operation, or target of custom calls, and those it calls
    #[arg(value_name = "OPERATION")]
    pub(crate) operation: Option<String>,
    /// The form to show them in; without it, that in which they were written
    #[arg(long, value_enum)]
    pub(crate) form: Option<FunctionForm>,
    #[command(flatten)]
    pub(crate) functions: FunctionFiles,
}

/// A form of shape functions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FunctionForm {
    /// Every value may be an error
    ErrorCarrying,
    /// Constraints are evidence, under which the rest runs
    Constrained,
    /// Assertions
    Imperative,
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("a tolerance is a number that is not negative".into()),
    }
}
