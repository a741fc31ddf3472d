//! Evaluation of maps, point by point, with the values of runtime variables.

use super::cells::{cells, position};
use super::pairs::Pairs;
use super::scene::{Scene, leaf_extents};
use super::values::{Values, integer};
use weft_affine::Point;
use weft_hlo::indexing::Owners;
use weft_hlo::ir::{InstrId, Literal, Module, Op};
use weft_indexing::{IndexingMap, OutOfBounds, Owner, RuntimeVariable};

/// An array that runtime variables are elements of.
struct Known {
    extents: Vec<i64>,
    elements: Literal,
}

/// The pairs of a map from an array of extents `from` to one of extents `to`. What leads out of the latter is left out.
pub(crate) fn pairs(
    map: &IndexingMap,
    from: &[i64],
    to: &[i64],
    scene: Scene<'_>,
    owners: &Owners,
) -> Result<Pairs, String> {
    if map.dims().len() != from.len() || map.results().len() != to.len() {
        return Err(format!("{map} does not lead from rank {} to rank {}", from.len(), to.len()));
    }
    let mut found = Pairs::none(super::cells::count(from), super::cells::count(to));
    if map.is_known_empty() {
        return Ok(found);
    }
    let known: Vec<Known> =
        map.runtime().iter().map(|variable| known(variable, scene, owners)).collect::<Result<_, _>>()?;
    let ranges: Vec<Vec<i64>> = {
        let extents: Vec<i64> = map.ranges().iter().map(|range| range.bounds().hi - range.bounds().lo + 1).collect();
        let lows: Vec<i64> = map.ranges().iter().map(|range| range.bounds().lo).collect();
        cells(&extents).iter().map(|cell| cell.iter().zip(&lows).map(|(at, low)| at + low).collect()).collect()
    };
    let bounds = map.dims().iter().zip(from);
    if let Some((dimension, extent)) = bounds.into_iter().find(|(d, n)| d.bounds().lo < 0 || d.bounds().hi >= **n) {
        return Err(format!("{map}: {} exceeds the extent {extent}", dimension.bounds()));
    }
    for (row, dims) in cells(from).iter().enumerate() {
        for ranges in &ranges {
            let Some(runtime) = runtime(map, dims, ranges, &known)? else { continue };
            if !map.contains(dims, ranges, &runtime) {
                continue;
            }
            let reached = map.evaluate(dims, ranges, &runtime).map_err(|error| format!("{map}: {error}"))?;
            if let Some(column) = position(to, &reached) {
                found.add(row, column);
            }
        }
    }
    Ok(found)
}

/// The values of runtime variables at a point; `None` where that drops out of the domain.
fn runtime(map: &IndexingMap, dims: &[i64], ranges: &[i64], known: &[Known]) -> Result<Option<Vec<i64>>, String> {
    let mut values = Vec::with_capacity(known.len());
    let mut is_read = true;
    for (variable, array) in map.runtime().iter().zip(known) {
        let point = Point { dims, ranges, runtime: &values };
        let access: Result<Vec<i64>, _> = variable.access().iter().map(|expr| expr.evaluate_at(&point)).collect();
        let access = access.map_err(|error| format!("{map}: {error}"))?;
        let Some(at) = position(&array.extents, &access).filter(|_| access.len() == array.extents.len()) else {
            is_read = false;
            values.push(variable.bounds().lo);
            continue;
        };
        let value = integer(&array.elements, at);
        let (low, high) = (i128::from(variable.bounds().lo), i128::from(variable.bounds().hi));
        let is_within = (low..=high).contains(&value);
        if !is_within && variable.out_of_bounds() == OutOfBounds::Drop {
            return Ok(None);
        }
        values.push(value.min(high).max(low) as i64);
    }
    if !is_read && map.contains(dims, ranges, &values) {
        return Err(format!("{map}: a runtime variable is no element of its owner at {dims:?} {ranges:?}"));
    }
    Ok(is_read.then_some(values))
}

fn known(variable: &RuntimeVariable, scene: Scene<'_>, owners: &Owners) -> Result<Known, String> {
    let owner: Owner = variable.owner().ok_or("a runtime variable has no owner")?;
    let path = owners.path(owner).ok_or("the owner of a runtime variable is not known")?;
    let branches = owners.branches(owner).ok_or("the owner of a runtime variable is not known")?;
    value(scene.module, scene, &path, &branches)
}

/// The value of an instruction that a path of calls leads to.
fn value(module: &Module, scene: Scene<'_>, path: &[InstrId], branches: &[usize]) -> Result<Known, String> {
    let (first, rest) = path.split_first().ok_or("a path leads nowhere")?;
    let scene = Scene { id: *first, ..scene };
    let Some((branch, further)) = branches.split_first() else {
        if !rest.is_empty() {
            return Err("a path has more calls than branches".to_owned());
        }
        let elements = scene.values.of(*first).first().cloned().flatten().ok_or("an owner is no array")?;
        return Ok(Known { extents: leaf_extents(&scene.instruction().shape, 0), elements });
    };
    let (callee, operand) = match &scene.instruction().op {
        Op::Call { to_apply } | Op::Fusion { calls: to_apply, .. } => (*to_apply, 0),
        Op::Conditional { branches, .. } => (branches[*branch], branch + 1),
        other => return Err(format!("'{}' stands in a path of calls", other.name())),
    };
    let count = module.computations[callee].parameters().len();
    let arguments: Vec<Literal> =
        (operand..operand + count).flat_map(|operand| scene.value(operand).iter().flatten().cloned()).collect();
    let values = Values::new(module, callee, &arguments)?;
    let inner = Scene { computation: callee, values: &values, ..scene };
    value(module, inner, rest, further)
}
