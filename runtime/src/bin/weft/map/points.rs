//! Points of a map: one that is asked for, or those of the domain.

use super::answers::point_json;
use super::args::{Evaluate, Points};
use super::names;
use super::number::{count, reason};
use crate::args::Format;
use crate::reader::Reader;
use crate::report::{Failure, Outcome, say};
use crate::{is_json, output};
use serde_json::{Value, json};
use weft_affine::{Expr, Point};
use weft_indexing::{Cardinality, DomainPoint, Error, IndexingMap, Limits};

/// Points of the box of all bounds that are looked at, however few of them are to be shown.
const VISITS: u64 = 1 << 20;

/// `weft map evaluate`
pub(super) fn evaluate(arguments: &Evaluate, format: Format) -> Result<Outcome, Failure> {
    let given = Reader::new(1, false).map(&arguments.map)?;
    let map = &given.subject.map;
    let point = DomainPoint {
        dims: arguments.dims.0.clone(),
        ranges: arguments.symbols.0.clone(),
        runtime: arguments.runtime.0.clone(),
    };
    let results = map.evaluate(&point.dims, &point.ranges, &point.runtime);
    let is_inside = map.contains(&point.dims, &point.ranges, &point.runtime);
    let has_results = match arguments.ignore_bounds {
        true => map.satisfies_constraints(&point.dims, &point.ranges, &point.runtime),
        false => is_inside,
    };
    match &results {
        Err(Error::Affine(_)) if !has_results => {}
        Err(error) => return Err(given.failure(error)),
        Ok(_) => {}
    }
    let broken = if has_results { Vec::new() } else { broken(map, &point, arguments.ignore_bounds) };
    // Elsewhere the results mean nothing.
    let results = results.ok().filter(|_| has_results);
    if is_json(format) {
        let told = json!({
            "point": point_json(&point),
            "in_domain": is_inside,
            "results": results,
            "broken": broken,
        });
        output::json(&told)?;
    } else if let Some(results) = &results {
        output::text(&tuple(results))?;
    } else {
        let why = if broken.is_empty() {
            "there is no point in it".to_owned()
        } else {
            format!("it breaks {}", broken.join(", "))
        };
        say(&format!("the point {point} is not in the domain: {why}"))?;
    }
    Ok(if has_results { Outcome::Done } else { Outcome::Findings })
}

/// What the domain asks for that does not hold at the point; where bounds are ignored, which constraints.
fn broken(map: &IndexingMap, DomainPoint { dims, ranges, runtime }: &DomainPoint, ignores_bounds: bool) -> Vec<String> {
    let known = map.variable_ranges();
    let at = Point { dims, ranges, runtime };
    let bounds = names::variables(map).into_iter().filter(|_| !ignores_bounds);
    let bounds = bounds.map(|(v, _)| (Expr::var(v), known.get(v)));
    let constraints = map.constraints().iter().map(|c| (c.expr.clone(), c.bounds));
    let fails = bounds.chain(constraints).filter(|(e, b)| !e.evaluate_at(&at).is_ok_and(|value| b.contains(value)));
    fails.map(|(e, b)| names::bounded(map, &e, b)).collect()
}

/// `weft map points`
pub(super) fn points(arguments: &Points, format: Format) -> Result<Outcome, Failure> {
    let given = Reader::new(1, false).map(&arguments.map)?;
    let map = &given.subject.map;
    if map.is_undefined() {
        return Err(given.failure(&Error::Undefined));
    }
    let narrow = narrowed(map);
    let mut walk = narrow.points().visiting_at_most(VISITS.max(arguments.limit));
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let shown: Vec<DomainPoint> = walk.by_ref().take(limit).collect();
    let is_complete = walk.next().is_none() && !walk.is_cut_off();
    let number = map.cardinality(&Limits::default());
    if is_json(format) {
        let points: Vec<Value> = shown.iter().map(|point| located(map, point)).collect();
        output::json(&json!({ "points": points, "complete": is_complete, "count": cardinality_json(number) }))?;
    } else {
        let line = |point: &DomainPoint| match results(map, point) {
            Some(results) => format!("{point} -> {}\n", tuple(&results)),
            None => format!("{point} -> overflow\n"),
        };
        let lines: String = shown.iter().map(line).collect();
        if !lines.is_empty() {
            output::text(&lines)?;
        }
        if !is_complete {
            say(&format!("note: {} of {number} points; --limit shows more", shown.len()))?;
        } else if shown.is_empty() {
            say("note: the domain has no point")?;
        }
    }
    Ok(Outcome::Done)
}

/// The same points within bounds that are no wider than simplification finds them, so that fewer others are passed over.
pub(super) fn narrowed(map: &IndexingMap) -> IndexingMap {
    let (mut narrow, mut simple) = (map.clone(), map.clone());
    simple.simplify();
    if simple.is_known_empty() {
        return simple;
    }
    narrow.narrow(&simple.variable_ranges());
    narrow
}

fn results(map: &IndexingMap, point: &DomainPoint) -> Option<Vec<i64>> {
    map.evaluate(&point.dims, &point.ranges, &point.runtime).ok()
}

/// A point with its results, which are `null` where they overflow.
fn located(map: &IndexingMap, point: &DomainPoint) -> Value {
    let mut value = point_json(point);
    value["results"] = json!(results(map, point));
    value
}

fn cardinality_json(number: Cardinality) -> Value {
    let (least, greatest) = number.bounds();
    let why = match number {
        Cardinality::Exactly(_) => Value::Null,
        Cardinality::Between { reason: unknown, .. } => reason(unknown.code(), &unknown),
    };
    json!({ "least": count(least), "greatest": count(greatest), "unknown": why })
}

/// `(1, 2)`
pub(super) fn tuple(values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    format!("({})", values.join(", "))
}
