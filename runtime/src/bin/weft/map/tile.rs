//! Tiles as text and JSON.

use super::args::Tile;
use super::names;
use super::number::{interval, reason};
use super::points::tuple;
use crate::args::Format;
use crate::reader::Reader;
use crate::report::{Failure, Outcome, say};
use crate::{is_json, output};
use serde_json::{Value, json};
use weft_affine::{Constraint, Interval, Var};
use weft_indexing::{
    ConcreteTile, SizeCondition, SizeConstraints, SymbolicTile, TileCase, TileDomain, TileMisfit, TilePart, TileRefusal,
};

/// `weft map tile`
pub(super) fn tile(arguments: &Tile, format: Format) -> Result<Outcome, Failure> {
    let given = Reader::new(1, false).map(&arguments.map)?;
    let map = &given.subject.map;
    let found = match &arguments.back_from {
        Some(extents) => {
            let grid: Vec<Interval> = extents.0.iter().map(|extent| Interval::of_extent(*extent)).collect();
            SymbolicTile::of_preimage(map, &grid)
        }
        None => SymbolicTile::of(map),
    };
    let found = match &arguments.origin {
        Some(origin) => found.and_then(|tile| tile.with_origin(&origin.0)),
        None => found,
    };
    let tile = match found {
        Ok(tile) => tile,
        // The extents or the origin given are not the map's.
        Err(TileRefusal::Arity) => return Err(given.failure(&TileRefusal::Arity.into())),
        Err(refusal) => return refused(refusal, format),
    };
    let boxes = arguments.sizes.as_ref().map(|sizes| tile.evaluate(&sizes.0));
    if is_json(format) {
        output::json(&tile_json(&tile, boxes.as_ref()))?;
        return Ok(if matches!(boxes, Some(Err(_))) { Outcome::Findings } else { Outcome::Done });
    }
    match boxes {
        None => output::text(&format!("{tile}\nexact for sizes: {}", constraints_text(&tile.size_constraints())))?,
        Some(Ok(boxes)) => output::text(&concrete_text(&boxes))?,
        Some(Err(misfit)) => {
            say(&format!("no tile of these sizes: {}: {misfit}", misfit.code()))?;
            say(&format!("exact for sizes: {}", constraints_text(&tile.size_constraints())))?;
            return Ok(Outcome::Findings);
        }
    }
    Ok(Outcome::Done)
}

fn refused(refusal: TileRefusal, format: Format) -> Result<Outcome, Failure> {
    if is_json(format) {
        output::json(&json!({ "tile": null, "refusal": reason(refusal.code(), &refusal) }))?;
    } else {
        say(&format!("no tile: {}: {refusal}", refusal.code()))?;
    }
    Ok(Outcome::Findings)
}

fn constraints_text(constraints: &SizeConstraints) -> String {
    let more = if constraints.is_complete() { "" } else { " or others that were not followed" };
    format!("{constraints}{more}")
}

/// A line for all, and one for each part: the positions it is about, and the box there.
fn concrete_text(boxes: &ConcreteTile) -> String {
    let mut text = format!("{} tiles of {}", tuple(boxes.tiles()), tuple(boxes.sizes()));
    if boxes.first().iter().any(|first| *first != 0) {
        text += &format!(", the first at {}", tuple(boxes.first()));
    }
    if !boxes.runtime_conditions().is_empty() {
        text += &format!(", where {}", boxes.runtime_conditions().iter().map(condition).collect::<Vec<_>>().join(", "));
    }
    text += "\n";
    for part in boxes.parts() {
        let bounds = part.positions.iter().enumerate().map(|(i, b)| format!("p{i} in {b}"));
        let at: Vec<String> = bounds.collect();
        let at = if at.is_empty() { "everywhere".to_owned() } else { at.join(", ") };
        let offsets: Vec<String> = part.offsets.iter().map(|e| names::written(e, position)).collect();
        text += &format!(
            "{at}: offsets ({}), sizes {}, strides {}",
            offsets.join(", "),
            tuple(&part.sizes),
            tuple(&part.strides)
        );
        if part.masks.iter().any(|mask| *mask != Interval::EVERYTHING) {
            let masks = part
                .masks
                .iter()
                .map(|mask| if *mask == Interval::EVERYTHING { "all".into() } else { mask.to_string() });
            text += &format!(", within ({})", masks.collect::<Vec<_>>().join(", "));
        }
        text += "\n";
    }
    text
}

/// `{"tile": text, "refusal": null, "grid": [[lo, hi], …], "origin": […], "cases": […], "complete": true, "domain": {…},
/// "size_constraints": {…}, "boxes": …}`; `boxes` and `misfit` are `null` unless sizes are given.
fn tile_json(tile: &SymbolicTile, boxes: Option<&Result<ConcreteTile, TileMisfit>>) -> Value {
    let sizes = tile.size_constraints();
    let alternative = |all: &Vec<SizeCondition>| all.iter().map(|c| Value::from(c.to_string())).collect::<Vec<_>>();
    json!({
        "tile": tile.to_string(),
        "refusal": null,
        "grid": tile.grid().iter().map(|b| interval(*b)).collect::<Vec<_>>(),
        "origin": tile.origin(),
        "cases": tile.cases().iter().map(case_json).collect::<Vec<_>>(),
        "complete": tile.is_complete(),
        "domain": domain_json(&tile.domain()),
        "size_constraints": {
            "text": sizes.to_string(),
            "alternatives": sizes.alternatives().iter().map(alternative).collect::<Vec<_>>(),
            "complete": sizes.is_complete(),
        },
        "boxes": boxes.and_then(|found| found.as_ref().ok()).map(concrete_json),
        "misfit": boxes.and_then(|found| found.as_ref().err()).map(misfit_json),
    })
}

/// A reason; of a tile that no case fits also its `position`, and `is_box`: `false` where it is known to be none, else `null`.
fn misfit_json(misfit: &TileMisfit) -> Value {
    let mut value = reason(misfit.code(), misfit);
    if let TileMisfit::NoCase { position, is_refuted } = misfit {
        value["position"] = json!(position);
        value["is_box"] = json!(is_refuted.then_some(false));
    }
    value
}

/// Within what the cases hold: bounds, where tiles end, and the conditions on runtime variables.
fn domain_json(domain: &TileDomain) -> Value {
    let bounds = |all: &[Interval]| all.iter().map(|b| interval(*b)).collect::<Vec<_>>();
    json!({
        "text": domain.to_string(),
        "offsets": bounds(&domain.offsets),
        "sizes": bounds(&domain.sizes),
        "runtime": bounds(&domain.runtime),
        "ends": domain.ends.iter().map(condition).collect::<Vec<_>>(),
        "runtime_conditions": domain.runtime_conditions.iter().map(condition).collect::<Vec<_>>(),
    })
}

/// `t0 mod 8 in [0, 0]`, over `o0 …`, `t0 …` and `rt0 …`.
fn condition(c: &Constraint) -> String {
    format!("{} in {}", names::written(&c.expr, parameter), c.bounds)
}

/// Conditions and axes over `o0 …`, `t0 …` and `rt0 …`; a mask of `null` leaves nothing out.
fn case_json(case: &TileCase) -> Value {
    let axes = case.axes.iter().map(|axis| {
        json!({
            "offset": names::written(&axis.offset, parameter),
            "size": names::written(&axis.size, parameter),
            "stride": axis.stride,
            "mask": mask_json(axis.mask),
        })
    });
    json!({ "conditions": case.conditions.iter().map(condition).collect::<Vec<_>>(), "axes": axes.collect::<Vec<_>>() })
}

/// The boxes of given sizes; offsets are over the tile index `p0 …` and `rt0 …`.
fn concrete_json(boxes: &ConcreteTile) -> Value {
    json!({
        "sizes": boxes.sizes(),
        "tiles": boxes.tiles(),
        "first": boxes.first(),
        "runtime_conditions": boxes.runtime_conditions().iter().map(condition).collect::<Vec<_>>(),
        "parts": boxes.parts().iter().map(part_json).collect::<Vec<_>>(),
    })
}

fn part_json(part: &TilePart) -> Value {
    let axes = part.offsets.iter().zip(&part.sizes).zip(&part.strides).zip(&part.masks);
    let axes = axes.map(|(((offset, size), stride), mask)| {
        json!({ "offset": names::written(offset, position), "size": size, "stride": stride, "mask": mask_json(*mask) })
    });
    json!({
        "positions": part.positions.iter().map(|b| interval(*b)).collect::<Vec<_>>(),
        "clipped": part.clipped,
        "case": part.case,
        "axes": axes.collect::<Vec<_>>(),
    })
}

fn mask_json(mask: Interval) -> Option<Value> {
    (mask != Interval::EVERYTHING).then(|| interval(mask))
}

/// Offsets are `o0 …` and sizes `t0 …`, as in the text of a tile.
fn parameter(v: Var) -> Option<String> {
    match v {
        Var::Dim(i) => Some(format!("o{i}")),
        Var::Range(i) => Some(format!("t{i}")),
        Var::Runtime(_) => None,
    }
}

/// The tile index is `p0 …`.
fn position(v: Var) -> Option<String> {
    match v {
        Var::Dim(i) => Some(format!("p{i}")),
        Var::Range(_) | Var::Runtime(_) => None,
    }
}
