//! The command line of `weft map`.

use super::list::{Integers, Names};
use crate::args::Simplify;
use clap::{Args, Subcommand};

/// An operation on maps, and what it is to work on.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Map {
    /// What to do.
    #[command(subcommand)]
    pub(crate) operation: Operation,
}

/// What `weft map --help` opens with.
pub(crate) const ABOUT: &str = "\
Compose, invert, evaluate and analyze indexing maps

MAP is the text of an indexing map. The domain may be left out, and variables may have names:

  (d0, d1)[s0]{rt0} -> (d0 + rt0, d1 floordiv 4 + s0),
    domain: d0 in [0, 19], d1 in [0, 29], s0 in [0, 3], rt0 in [0, 15], d1 mod 4 in [0, 0]

`@FILE` reads it from a file, `-` from standard input. Results go to standard output, so that one command reads what another
wrote. Exit codes: 0 done; 1 the answer is no or not known, or something failed; 2 a command line that cannot be meant.";

/// What it ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  weft map compose '(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 63]' \\
                   '(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 7]'
  weft map inverse @reshape.map | weft map simplify -
  weft map evaluate @window.map --dims 1,2 --symbols 3
  weft map range 'd0 floordiv 4 - s0' @window.map
  weft map equal @one.map @other.map
  weft map coalescing '(th_x, bl_x) -> (th_x, bl_x), domain: th_x in [0, 127], bl_x in [0, 63]' --shape 128,64
  weft map coalescing '(th_x, th_y) -> (th_y, th_x), domain: th_x in [0, 15], th_y in [0, 3]' --shape 4,16 --block 64,4
  weft map tile '(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 63]' --sizes 16
  weft map tile '(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 63]' --sizes 4 --origin 4";

/// An operation on maps.
#[derive(Subcommand, Debug)]
pub(crate) enum Operation {
    /// Simplify results, constraints and bounds, and show why; also one expression
    Simplify(Simplify),
    /// Show a map, or one expression, as it was read, in canonical text
    Fmt(Fmt),
    /// Read maps one after another, the first one first
    Compose(Compose),
    /// Count range variables that take every so many values only, and simplify
    RescaleSymbols(One),
    /// Remove variables that nothing uses
    RemoveUnused(RemoveUnused),
    /// Make dimensions of range and runtime variables
    SymbolsToDimensions(SymbolsToDimensions),
    /// From each result to the index that has it
    Inverse(Inverse),
    /// The results at one point
    Evaluate(Evaluate),
    /// The least and the greatest value of an expression over the domain of a map
    Range(Range),
    /// Whether two maps relate each index to the same elements
    Equal(Equal),
    /// The points of the domain, each with its results
    Points(Points),
    /// How many memory transactions threads need for what they read together
    Coalescing(Coalescing),
    /// How much of an operand is read, and how often
    Utilization(Utilization),
    /// What boxes the map makes of boxes, and for which sizes
    Tile(Tile),
}

/// How maps are written.
#[derive(Args, Debug)]
pub(crate) struct Written {
    /// Show under each runtime variable whose value it is and which element
    #[arg(long)]
    pub(crate) verbose: bool,
}

/// One map.
#[derive(Args, Debug)]
pub(crate) struct One {
    /// A map, `@FILE`, or `-` for standard input
    #[arg(value_name = "MAP")]
    pub(crate) map: String,
    #[command(flatten)]
    pub(crate) written: Written,
}

#[derive(Args, Debug)]
pub(crate) struct Fmt {
    /// A map or one expression, `@FILE`, or `-` for standard input
    #[arg(value_name = "MAP", allow_hyphen_values = true)]
    pub(crate) map: String,
    #[command(flatten)]
    pub(crate) written: Written,
}

#[derive(Args, Debug)]
pub(crate) struct Compose {
    /// The maps, the first one first: the results of each are the dimensions of the next
    #[arg(value_name = "MAP", num_args = 2.., required = true)]
    pub(crate) maps: Vec<String>,
    /// Leave the result as composition makes it
    #[arg(long)]
    pub(crate) unsimplified: bool,
    #[command(flatten)]
    pub(crate) written: Written,
}

#[derive(Args, Debug)]
pub(crate) struct RemoveUnused {
    #[command(flatten)]
    pub(crate) one: One,
    /// Only range and runtime variables; dimensions stay
    #[arg(long)]
    pub(crate) symbols: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SymbolsToDimensions {
    #[command(flatten)]
    pub(crate) one: One,
    /// Only range variables; runtime variables stay what they are
    #[arg(long, conflicts_with = "only")]
    pub(crate) ranges: bool,
    /// Only these range and runtime variables, one after another, such as s1,rt0
    #[arg(long, value_name = "NAMES")]
    pub(crate) only: Option<Names>,
}

/// How much work a question may cause.
#[derive(Args, Debug)]
pub(crate) struct Effort {
    /// The most points that are looked at one by one where no law decides
    #[arg(long, value_name = "POINTS", default_value_t = 65_536)]
    pub(crate) limit: u64,
}

#[derive(Args, Debug)]
pub(crate) struct Inverse {
    #[command(flatten)]
    pub(crate) one: One,
    #[command(flatten)]
    pub(crate) effort: Effort,
}

#[derive(Args, Debug)]
pub(crate) struct Evaluate {
    /// A map, `@FILE`, or `-` for standard input
    #[arg(value_name = "MAP")]
    pub(crate) map: String,
    /// Values of the dimension variables, such as 1,2
    #[arg(long, value_name = "VALUES", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub(crate) dims: Integers,
    /// Values of the range variables
    #[arg(long, value_name = "VALUES", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub(crate) symbols: Integers,
    /// Values of the runtime variables
    #[arg(long, value_name = "VALUES", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub(crate) runtime: Integers,
    /// Let only constraints decide whether there are results, not the bounds of the variables
    #[arg(long)]
    pub(crate) ignore_bounds: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Range {
    /// An expression over the variables of the map, such as 'd0 * 4 - s0'
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) expression: String,
    /// A map, `@FILE`, or `-` for standard input. Without it the domain follows the expression: 'd0 mod 3, domain: d0 in [0, 9]'
    #[arg(value_name = "MAP")]
    pub(crate) map: Option<String>,
    #[command(flatten)]
    pub(crate) effort: Effort,
}

#[derive(Args, Debug)]
pub(crate) struct Equal {
    /// A map, `@FILE`, or `-` for standard input
    #[arg(value_name = "MAP")]
    pub(crate) first: String,
    /// The map to compare it with
    #[arg(value_name = "OTHER")]
    pub(crate) second: String,
    #[command(flatten)]
    pub(crate) effort: Effort,
}

#[derive(Args, Debug)]
pub(crate) struct Points {
    /// A map, `@FILE`, or `-` for standard input
    #[arg(value_name = "MAP")]
    pub(crate) map: String,
    /// The most points that are shown
    #[arg(long, value_name = "POINTS", default_value_t = 100)]
    pub(crate) limit: u64,
}

#[derive(Args, Debug)]
pub(crate) struct Coalescing {
    /// A map from threads and blocks to the index of a tensor, `@FILE`, or `-` for standard input
    #[arg(value_name = "MAP")]
    pub(crate) map: String,
    /// Extents of the tensor, such as 64,128. Without them the map has one result, which is an address
    #[arg(long, value_name = "EXTENTS", allow_hyphen_values = true)]
    pub(crate) shape: Option<Integers>,
    /// Bytes of an element
    #[arg(long, value_name = "BYTES", default_value_t = 4)]
    pub(crate) element_bytes: u32,
    /// The variables that are thread indices within a block, the fastest first. Without it those named th_x, th_y and th_z, or
    /// else the first dimension
    #[arg(long, value_name = "NAMES")]
    pub(crate) threads: Option<Names>,
    /// The extents of a block, such as 64,4, one for each of the threads. Without it the bounds that the map's text gives their
    /// variables first; conditions further on leave the block as it is
    #[arg(long, value_name = "EXTENTS", allow_hyphen_values = true)]
    pub(crate) block: Option<Integers>,
    /// The variable over the elements that a thread reads one after another, where it might read them as one vector
    #[arg(long, value_name = "NAME")]
    pub(crate) vector: Option<String>,
    /// Lanes that read together
    #[arg(long, value_name = "LANES", default_value_t = 32)]
    pub(crate) subgroup_size: u32,
    /// Bytes that the device fetches at once
    #[arg(long, value_name = "BYTES", default_value_t = 32)]
    pub(crate) segment_bytes: u32,
    /// What the address of the first element is a multiple of
    #[arg(long, value_name = "BYTES", default_value_t = 256)]
    pub(crate) base_alignment: u32,
    /// The most bytes that a lane reads by one instruction
    #[arg(long, value_name = "BYTES", default_value_t = 16)]
    pub(crate) vector_bytes: u32,
}

#[derive(Args, Debug)]
pub(crate) struct Utilization {
    /// The maps by which an operand is read, from the index of the output to its elements
    #[arg(value_name = "MAP", required = true)]
    pub(crate) maps: Vec<String>,
    /// Extents of the operand, such as 64,128; '' for a scalar
    #[arg(long, value_name = "EXTENTS", allow_hyphen_values = true)]
    pub(crate) shape: Integers,
}

#[derive(Args, Debug)]
pub(crate) struct Tile {
    /// A map, `@FILE`, or `-` for standard input
    #[arg(value_name = "MAP")]
    pub(crate) map: String,
    /// The boxes at these tile sizes, such as 16,4, one for each dimension that is tiled
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true)]
    pub(crate) sizes: Option<Integers>,
    /// In each dimension that is tiled an index at which a tile starts, the one of position zero; before it positions are negative.
    /// Without it the least index
    #[arg(long, value_name = "INDEX", allow_hyphen_values = true)]
    pub(crate) origin: Option<Integers>,
    /// Backwards: which indices the map takes into a tile of the tensor of these extents
    #[arg(long, value_name = "EXTENTS", allow_hyphen_values = true)]
    pub(crate) back_from: Option<Integers>,
}
