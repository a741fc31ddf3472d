//! The values of an expression over a domain.

use super::answers::point_json;
use super::args::Range;
use super::names;
use super::number::{interval, reason};
use super::points::narrowed;
use crate::args::Format;
use crate::reader::{Given, Reader};
use crate::report::{Failure, Outcome};
use crate::{is_json, output};
use serde_json::{Value, json};
use weft_affine::text::Cursor;
use weft_affine::{Expr, Interval, Simplifier, Var};
use weft_indexing::{DomainPoint, Error, IndexingMap, Unknown};

/// Corners of the box that are tried before all of its points.
const CORNERS: usize = 1024;

/// Values of each variable that are tried of a box which is too large to be walked.
const WIDEST: u64 = 1 << 16;

/// `weft map range`
pub(super) fn range(arguments: &Range, format: Format) -> Result<Outcome, Failure> {
    let (given, e) = read(arguments)?;
    let map = &given.subject.map;
    if map.is_undefined() {
        return Err(given.failure(&Error::Undefined));
    }
    let found = values(map, &e, arguments.effort.limit);
    if is_json(format) {
        output::json(&found.to_json(&names::expression(map, &e)))?;
    } else {
        output::text(&found.to_text())?;
    }
    Ok(Outcome::Done)
}

/// What has the domain, and the expression over it.
fn read(arguments: &Range) -> Result<(Given, Expr), Failure> {
    let Some(map) = &arguments.map else {
        let given = Reader::new(1, false).subject(&arguments.expression)?;
        return match given.subject.map.results() {
            [e] => {
                let e = e.clone();
                Ok((given, e))
            }
            results => {
                let what = "results, of which the range is wanted";
                Err(given.failure(&Error::Arity { what, expected: 1, found: results.len() }))
            }
        };
    };
    let mut reader = Reader::new(2, false);
    let source = reader.source(&arguments.expression)?;
    let given = reader.map(map)?;
    let read = Cursor::new(&source.text).and_then(|mut cursor| {
        let e = cursor.expression(&names::scope(&given.subject.map))?;
        cursor.expect_end()?;
        Ok(e)
    });
    let e = read.map_err(|error| Failure::from_indexing(&source, &error.into()))?;
    Ok((given, e))
}

/// What is known of the values.
struct Values {
    /// An interval that holds all values; nothing where there are none.
    range: Option<Interval>,
    /// Points at which the ends are reached.
    least: Option<DomainPoint>,
    greatest: Option<DomainPoint>,
    /// Why the ends are not known to be reached.
    unknown: Option<Unknown>,
}

fn values(map: &IndexingMap, e: &Expr, limit: u64) -> Values {
    let mut simple = map.clone();
    simple.set_results(vec![e.clone()]).expect("the expression is over the variables of the map");
    let narrow = narrowed(&simple);
    simple.simplify();
    if simple.is_known_empty() {
        return Values { range: None, least: None, greatest: None, unknown: None };
    }
    let mut facts = Simplifier::new(&simple.variable_ranges(), simple.constraints());
    let bounds = simple.results().iter().fold(Interval::EVERYTHING, |all, e| all.intersect(facts.range_of(e)));
    let mut ends = Ends::default();
    corners(&narrow, e)
        .into_iter()
        .filter(|p| narrow.contains(&p.dims, &p.ranges, &p.runtime))
        .for_each(|p| ends.meet(e, p));
    if ends.range() == Some(bounds) {
        return ends.into_values(Some(bounds), None);
    }
    let points = narrow.box_size();
    if points > u128::from(limit) {
        part(&narrow, e, limit).points().for_each(|point| ends.meet(e, point));
        if ends.range() == Some(bounds) {
            return ends.into_values(Some(bounds), None);
        }
        return ends.into_values(Some(bounds), Some(Unknown::TooManyPoints { points, limit }));
    }
    let mut ends = Ends::default();
    narrow.points().for_each(|point| ends.meet(e, point));
    let range = ends.range();
    if ends.overflows { ends.into_values(Some(bounds), Some(Unknown::Overflow)) } else { ends.into_values(range, None) }
}

/// The least and the greatest value met, each with a point that has it.
#[derive(Default)]
struct Ends {
    least: Option<(i64, DomainPoint)>,
    greatest: Option<(i64, DomainPoint)>,
    overflows: bool,
}

impl Ends {
    fn meet(&mut self, e: &Expr, point: DomainPoint) {
        let at = weft_affine::Point { dims: &point.dims, ranges: &point.ranges, runtime: &point.runtime };
        let Ok(value) = e.evaluate_at(&at) else {
            self.overflows = true;
            return;
        };
        if self.least.as_ref().is_none_or(|(known, _)| value < *known) {
            self.least = Some((value, point.clone()));
        }
        if self.greatest.as_ref().is_none_or(|(known, _)| value > *known) {
            self.greatest = Some((value, point));
        }
    }

    fn range(&self) -> Option<Interval> {
        Some(Interval::new(self.least.as_ref()?.0, self.greatest.as_ref()?.0))
    }

    /// The points are kept where they have the ends of the range.
    fn into_values(self, range: Option<Interval>, unknown: Option<Unknown>) -> Values {
        let at = |met: Option<(i64, DomainPoint)>, end: Option<i64>| met.filter(|(value, _)| Some(*value) == end);
        Values {
            range,
            least: at(self.least, range.map(|r| r.lo)).map(|(_, point)| point),
            greatest: at(self.greatest, range.map(|r| r.hi)).map(|(_, point)| point),
            unknown,
        }
    }
}

/// Points at which every variable of the expression has its least or its greatest value, and every other one its least.
fn corners(map: &IndexingMap, e: &Expr) -> Vec<DomainPoint> {
    let ranges = map.variable_ranges();
    let low = |all: &[Interval]| all.iter().map(|b| b.lo).collect::<Vec<_>>();
    let first = DomainPoint { dims: low(&ranges.dims), ranges: low(&ranges.ranges), runtime: low(&ranges.runtime) };
    let mut corners = vec![first];
    for v in e.variables() {
        if corners.len() * 2 > CORNERS {
            break;
        }
        let mut others = corners.clone();
        for point in &mut others {
            let (list, i) = match v {
                Var::Dim(i) => (&mut point.dims, i),
                Var::Range(i) => (&mut point.ranges, i),
                Var::Runtime(i) => (&mut point.runtime, i),
            };
            if let Some(value) = list.get_mut(i as usize) {
                *value = ranges.get(v).hi;
            }
        }
        corners.extend(others);
    }
    corners
}

/// A part of the domain with no more than so many points in its box: the first values of the variables of the expression. Most
/// expressions that repeat themselves have done so within it.
fn part(map: &IndexingMap, e: &Expr, limit: u64) -> IndexingMap {
    let used = e.variables();
    let mut width = 1u64;
    while let Ok(exponent) = u32::try_from(used.len())
        && exponent > 0
        && width < WIDEST
        && (width + 1).checked_pow(exponent).is_some_and(|points| points <= limit)
    {
        width += 1;
    }
    let mut ranges = map.variable_ranges();
    let dims = (0..).map(Var::Dim).zip(&mut ranges.dims);
    let own = (0..).map(Var::Range).zip(&mut ranges.ranges);
    let runtime = (0..).map(Var::Runtime).zip(&mut ranges.runtime);
    for (v, bounds) in dims.chain(own).chain(runtime) {
        let last = if used.contains(&v) { i64::try_from(width - 1).unwrap_or(i64::MAX) } else { 0 };
        bounds.hi = bounds.hi.min(bounds.lo.saturating_add(last));
    }
    let mut part = map.clone();
    part.narrow(&ranges);
    part
}

impl Values {
    fn to_text(&self) -> String {
        match (&self.range, &self.unknown) {
            (None, _) => "no values: the domain has no point".to_owned(),
            (Some(range), None) => range.to_string(),
            (Some(range), Some(unknown)) => format!("within {range}; {unknown}"),
        }
    }

    fn to_json(&self, expression: &str) -> Value {
        json!({
            "expression": expression,
            "range": self.range.map(interval),
            "exact": self.unknown.is_none(),
            "least_at": self.least.as_ref().map(point_json),
            "greatest_at": self.greatest.as_ref().map(point_json),
            "unknown": self.unknown.map(|unknown| reason(unknown.code(), &unknown)),
        })
    }
}
