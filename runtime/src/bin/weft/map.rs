//! `weft map`: the library of indexing maps, operation by operation.
//!
//! With `--format json` each operation writes one object. Where it makes a map, `map` is the text of that map, and `known_empty`
//! and `undefined` say what state it is in; every reason is an object with a stable `code` and the `reason` in words. Counts
//! beyond 64 bits are strings of digits.

mod analyses;
mod answers;
pub(crate) mod args;
mod list;
mod names;
mod number;
mod points;
mod range;
mod tile;
mod transform;

use crate::args::Format;
use crate::report::{Failure, Outcome};
use crate::simplify::simplify;
use args::{Map, Operation};

/// `weft map`
pub(crate) fn map(arguments: &Map, format: Format) -> Result<Outcome, Failure> {
    match &arguments.operation {
        Operation::Simplify(simplified) => simplify(simplified, format),
        Operation::Fmt(one) => transform::fmt(one, format),
        Operation::Compose(composed) => transform::compose(composed, format),
        Operation::RescaleSymbols(one) => transform::rescale_symbols(one, format),
        Operation::RemoveUnused(removed) => transform::remove_unused(removed, format),
        Operation::SymbolsToDimensions(turned) => transform::symbols_to_dimensions(turned, format),
        Operation::Inverse(inverted) => answers::inverse(inverted, format),
        Operation::Evaluate(evaluated) => points::evaluate(evaluated, format),
        Operation::Range(range) => range::range(range, format),
        Operation::Equal(compared) => answers::equal(compared, format),
        Operation::Points(listed) => points::points(listed, format),
        Operation::Coalescing(read) => analyses::coalescing(read, format),
        Operation::Utilization(used) => analyses::utilization(used, format),
        Operation::Tile(tiled) => tile::tile(tiled, format),
    }
}
