//! Questions that may be answered with no: the inverse of a map, and equality.

use super::args::{Equal, Inverse};
use super::number::reason;
use super::transform::{read, written};
use crate::args::Format;
use crate::reader::Reader;
use crate::report::{Failure, Outcome, say};
use crate::{is_json, output};
use serde_json::{Value, json};
use weft_indexing::{Answer, Difference, DomainPoint, Limits, NoInverse};

/// `weft map inverse`
pub(super) fn inverse(arguments: &Inverse, format: Format) -> Result<Outcome, Failure> {
    let (reader, given) = read(&arguments.one)?;
    let limits = Limits::default().with_points(arguments.effort.limit);
    match given.subject.map.inverse(&limits) {
        Ok(inverse) => {
            written(&reader, &given.subject.like(inverse), json!({ "refusal": null }), format)?;
            Ok(Outcome::Done)
        }
        Err(refusal) => {
            if is_json(format) {
                output::json(&json!({ "map": null, "refusal": refusal_json(&refusal) }))?;
            } else {
                say(&format!("no inverse: {refusal}"))?;
            }
            Ok(Outcome::Findings)
        }
    }
}

/// The reason, and two points with the same result where that is the reason.
fn refusal_json(refusal: &NoInverse) -> Value {
    let mut value = reason(refusal.code(), refusal);
    value["points"] = match refusal {
        NoInverse::NotInjective(collision) => json!([point_json(&collision.first), point_json(&collision.second)]),
        _ => Value::Null,
    };
    value
}

/// A point, kind by kind.
pub(super) fn point_json(point: &DomainPoint) -> Value {
    json!({ "dims": point.dims, "symbols": point.ranges, "runtime": point.runtime })
}

/// `weft map equal`
pub(super) fn equal(arguments: &Equal, format: Format) -> Result<Outcome, Failure> {
    let mut reader = Reader::new(2, false);
    let first = reader.map(&arguments.first)?.subject.map;
    let second = reader.map(&arguments.second)?.subject.map;
    let limits = Limits::default().with_points(arguments.effort.limit);
    let answer = first.equals(&second, &limits);
    if is_json(format) {
        output::json(&answer_json(&answer, first.has_text_of(&second)))?;
    } else {
        output::text(&match &answer {
            Answer::Yes => "equal".to_owned(),
            Answer::No(difference) => format!("different: {difference}"),
            Answer::Unknown(unknown) => format!("unknown: {unknown}"),
        })?;
    }
    Ok(if answer.is_yes() { Outcome::Done } else { Outcome::Findings })
}

fn answer_json(answer: &Answer<Difference>, is_same_text: bool) -> Value {
    let (told, difference, unknown) = match answer {
        Answer::Yes => ("yes", Value::Null, Value::Null),
        Answer::No(difference) => ("no", difference_json(difference), Value::Null),
        Answer::Unknown(unknown) => ("unknown", Value::Null, reason(unknown.code(), unknown)),
    };
    json!({ "equal": told, "same_text": is_same_text, "difference": difference, "unknown": unknown })
}

fn difference_json(difference: &Difference) -> Value {
    let mut value = match difference {
        Difference::Dimensions(..) => reason("dimensions", difference),
        Difference::Results(..) => reason("results", difference),
        Difference::Result { .. } => reason("result", difference),
    };
    value["counterexample"] = match difference {
        Difference::Result { dims, runtime, result, is_of_first } => {
            let of = if *is_of_first { "first" } else { "second" };
            json!({ "dims": dims, "runtime": runtime, "result": result, "of": of })
        }
        Difference::Dimensions(..) | Difference::Results(..) => Value::Null,
    };
    value
}
