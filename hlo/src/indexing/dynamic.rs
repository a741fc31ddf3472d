//! Indexing maps of dynamic-slice and dynamic-update-slice.

use weft_affine::{Expr, Interval};
use weft_indexing::{IndexingMap, Limits, MapSet, RuntimeVariable, Variable};

use super::context::{InstructionContext, OperationMaps, dim, number};
use super::{Domains, ElementMap, Relation, Undefined};

/// The starts of a box of extents `sizes` within an array of extents `whole`, one for each dimension: clamped, so that the
/// box lies within the array. `first` is the operand that holds the first start.
fn starts(context: &InstructionContext<'_>, first: usize, whole: &[i64], sizes: &[i64]) -> Vec<RuntimeVariable> {
    // The starts are scalars, or one list of them.
    let is_list = !context.operand(first).is_empty();
    let start = |dimension: usize| {
        let (operand, access) = match i64::try_from(dimension) {
            Ok(position) if is_list => (first, vec![Expr::constant(position)]),
            _ => (first + dimension, Vec::new()),
        };
        context.clamped_start(operand, access, whole[dimension], sizes[dimension])
    };
    (0..whole.len()).map(start).collect()
}

/// From an array of extents `from`, with a box at `starts`: `d + start` to go from the box to what is around it, `d - start`
/// to go into the box. `within` restricts the latter to what lies in the box, of these extents.
fn moved(
    from: &[i64],
    starts: Vec<RuntimeVariable>,
    into: bool,
    within: Option<&[i64]>,
) -> Result<IndexingMap, Undefined> {
    let dims = from.iter().map(|extent| Variable::new(Interval::of_extent(*extent))).collect();
    let mut map = IndexingMap::try_new(dims, Vec::new(), starts, Vec::new(), Vec::new())?;
    let mut results = Vec::with_capacity(from.len());
    for dimension in 0..from.len() {
        let (d, start) = (dim(dimension), Expr::runtime(number(dimension)));
        let moved = if into { d.checked_sub(&start)? } else { d.checked_add(&start)? };
        if let Some(sizes) = within {
            map.add_constraint(moved.clone(), Interval::of_extent(sizes[dimension]))?;
        }
        results.push(moved);
    }
    map.set_results(results)?;
    Ok(map)
}

/// Every element depends on every start.
fn on_starts(context: &InstructionContext<'_>, first: usize) -> impl Iterator<Item = super::Dependence> {
    (first..context.operands()).map(|operand| context.all(0, operand))
}

/// A box of the operand.
pub(super) fn slice(context: &InstructionContext<'_>) -> OperationMaps {
    let (output, input) = (context.result(0), context.operand(0));
    let starts = match input {
        [] => Vec::new(),
        _ => starts(context, 1, input, output),
    };
    let map = if context.is_backward() {
        moved(output, starts, false, None)?
    } else {
        moved(input, starts, true, Some(output))?
    };
    Ok(std::iter::once(context.on(0, 0, map)).chain(on_starts(context, 1)).collect())
}

/// The operand, but for a box that is the update.
pub(super) fn update_slice(context: &InstructionContext<'_>) -> OperationMaps {
    let (output, update) = (context.result(0), context.operand(1));
    let starts = match output {
        [] => Vec::new(),
        _ => starts(context, 2, output, update),
    };
    let is_exact = context.domains == Domains::Exact;
    let source = if is_exact {
        outside(output, starts.clone(), update)?
    } else {
        let map = IndexingMap::identity(output);
        Relation::Maps(vec![ElementMap::coarse(map, "elements under the update are not read")])
    };
    let updated = if !context.is_backward() {
        ElementMap::exact(moved(update, starts, false, None)?)
    } else if is_exact {
        ElementMap::exact(moved(output, starts, true, Some(update))?)
    } else {
        let map = moved(output, starts, true, None)?;
        ElementMap::coarse(map, "elements outside of the update are not read")
    };
    let found = [context.on(0, 0, source), context.on(0, 1, Relation::Maps(vec![updated]))];
    Ok(found.into_iter().chain(on_starts(context, 2)).collect())
}

/// The identity on what lies outside of the box of extents `sizes` at `starts`.
fn outside(whole: &[i64], starts: Vec<RuntimeVariable>, sizes: &[i64]) -> Result<Relation, Undefined> {
    let mut covered = moved(whole, starts, true, Some(sizes))?;
    covered.set_results((0..whole.len()).map(dim).collect())?;
    let everything: Vec<Interval> = whole.iter().map(|extent| Interval::of_extent(*extent)).collect();
    let outside: MapSet = covered.complement_within(&everything, &[], &Limits::default())?;
    if outside.is_undefined() {
        return Err(weft_indexing::Error::Undefined.into());
    }
    let reason = "the part outside of the update takes too many boxes";
    let map = |map: &IndexingMap| match outside.overapproximation() {
        None => ElementMap::exact(map.clone()),
        Some(_) => ElementMap::coarse(map.clone(), reason),
    };
    Ok(Relation::Maps(outside.members().map(map).collect()))
}
