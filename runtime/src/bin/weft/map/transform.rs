//! Operations that make a map of maps.

use super::args::{Compose, Fmt, One, RemoveUnused, SymbolsToDimensions};
use super::list::Names;
use super::names;
use crate::args::Format;
use crate::reader::{Given, Reader};
use crate::report::{Failure, Outcome, say};
use crate::subject::Subject;
use crate::{is_json, output};
use serde_json::{Map, Value, json};
use std::mem::discriminant;
use weft_affine::Var;
use weft_indexing::{Error, IndexingMap};

/// `weft map fmt`
pub(super) fn fmt(arguments: &Fmt, format: Format) -> Result<Outcome, Failure> {
    let mut reader = Reader::new(1, arguments.written.verbose);
    let given = reader.subject(&arguments.map)?;
    written(&reader, &given.subject, json!({}), format)?;
    Ok(Outcome::Done)
}

/// `weft map compose`
pub(super) fn compose(arguments: &Compose, format: Format) -> Result<Outcome, Failure> {
    let mut reader = Reader::new(arguments.maps.len(), arguments.written.verbose);
    let given: Vec<Given> = arguments.maps.iter().map(|map| reader.map(map)).collect::<Result<_, _>>()?;
    let composed = |count: usize| -> Result<IndexingMap, Error> {
        let mut maps = given.iter().take(count).map(|one| &one.subject.map);
        if arguments.unsimplified {
            let first = maps.next().map_or_else(IndexingMap::undefined, IndexingMap::clone);
            return maps.try_fold(first, |chain, next| chain.then(next));
        }
        IndexingMap::compose_in_order(maps)
    };
    let map = composed(given.len()).map_err(|error| {
        // The map at which the chain first fails is the one to look at.
        let place = (1..given.len()).find(|count| composed(*count).is_err()).unwrap_or(given.len());
        match given.get(place - 1) {
            Some(one) => one.failure(&error),
            None => Failure::message(error.to_string()),
        }
    })?;
    // One domain is enough for the result to have one.
    let model = given.iter().find(|one| !one.subject.is_affine()).or(given.first());
    let Some(model) = model else { return Err(Failure::message("there is no map to compose")) };
    written(&reader, &model.subject.like(map), json!({ "maps": given.len() }), format)?;
    Ok(Outcome::Done)
}

/// `weft map rescale-symbols`
pub(super) fn rescale_symbols(arguments: &One, format: Format) -> Result<Outcome, Failure> {
    let (reader, given) = read(arguments)?;
    let mut map = given.subject.map.clone();
    let rescaled = map.rescale_symbols();
    let before = &given.subject.map;
    let name = |range: u32| names::name(before, Var::Range(range));
    if !is_json(format) {
        for one in &rescaled {
            let name = name(one.range);
            let offset = if one.offset == 0 { String::new() } else { format!(" + {}", one.offset) };
            say(&format!("note: {name} became {name} * {}{offset}", one.factor))?;
        }
    }
    let list: Vec<Value> = rescaled
        .iter()
        .map(|one| {
            let v = Var::Range(one.range);
            json!({ "variable": v.to_string(), "name": name(one.range), "factor": one.factor, "offset": one.offset })
        })
        .collect();
    let about = json!({ "changed": map != *before, "rescaled": list });
    written(&reader, &given.subject.like(map), about, format)?;
    Ok(Outcome::Done)
}

/// `weft map remove-unused`
pub(super) fn remove_unused(arguments: &RemoveUnused, format: Format) -> Result<Outcome, Failure> {
    let (reader, given) = read(&arguments.one)?;
    let before = &given.subject.map;
    let mut map = before.clone();
    let removed = if arguments.symbols { map.remove_unused_symbols() } else { map.remove_unused_variables() };
    let numbered = |list: &[u32], kind: fn(u32) -> Var| list.iter().map(|i| kind(*i)).collect::<Vec<_>>();
    let variables = [
        numbered(&removed.dims, Var::Dim),
        numbered(&removed.ranges, Var::Range),
        numbered(&removed.runtime, Var::Runtime),
    ]
    .concat();
    let constraints: Vec<String> = removed.constraints.iter().map(|c| names::constraint(before, c)).collect();
    if !is_json(format) && !removed.is_empty() {
        let names = variables.iter().map(|v| names::name(before, *v));
        let all: Vec<String> = names.chain(constraints.iter().map(|c| format!("`{c}`"))).collect();
        say(&format!("note: removed {}", all.join(", ")))?;
    }
    let variable = |v: &Var| json!({ "variable": v.to_string(), "name": names::name(before, *v) });
    let about = json!({
        "changed": !removed.is_empty(),
        "removed": {
            "variables": variables.iter().map(variable).collect::<Vec<_>>(),
            "constraints": constraints,
        },
    });
    written(&reader, &given.subject.like(map), about, format)?;
    Ok(Outcome::Done)
}

/// `weft map symbols-to-dimensions`
pub(super) fn symbols_to_dimensions(arguments: &SymbolsToDimensions, format: Format) -> Result<Outcome, Failure> {
    let (reader, given) = read(&arguments.one)?;
    let before = &given.subject.map;
    let mut map = before.clone();
    match &arguments.only {
        Some(Names(all)) => {
            let mut left: Vec<Var> = Vec::with_capacity(all.len());
            for name in all {
                let known = names::variable(before, name).filter(|v| !matches!(v, Var::Dim(_)));
                let v = known.ok_or_else(|| {
                    Failure::Misuse(format!("the map has no range or runtime variable `{name}`; --only takes those"))
                })?;
                if !left.contains(&v) {
                    map.symbol_to_dim(renumbered(v, &left));
                    left.push(v);
                }
            }
        }
        None if arguments.ranges => map.ranges_to_dims(),
        None => map.symbols_to_dims(),
    }
    let about = json!({ "changed": map != given.subject.map });
    written(&reader, &given.subject.like(map), about, format)?;
    Ok(Outcome::Done)
}

/// The range or runtime variable after those of `gone` have left its kind.
fn renumbered(v: Var, gone: &[Var]) -> Var {
    let is_before = |other: &&Var| discriminant(*other) == discriminant(&v) && **other < v;
    let before = u32::try_from(gone.iter().filter(is_before).count()).unwrap_or_default();
    match v {
        Var::Dim(_) => v,
        Var::Range(i) => Var::Range(i - before),
        Var::Runtime(i) => Var::Runtime(i - before),
    }
}

/// The one map of a command.
pub(super) fn read(one: &One) -> Result<(Reader, Given), Failure> {
    let mut reader = Reader::new(1, one.written.verbose);
    let given = reader.map(&one.map)?;
    Ok((reader, given))
}

/// Writes a map, in JSON with the fields of `about`.
pub(super) fn written(reader: &Reader, subject: &Subject, about: Value, format: Format) -> Result<(), Failure> {
    if !is_json(format) {
        return Ok(output::text(&reader.text(subject))?);
    }
    let mut fields = Map::new();
    fields.insert("map".into(), json!(reader.text(subject)));
    fields.insert("known_empty".into(), json!(subject.map.is_known_empty()));
    fields.insert("undefined".into(), json!(subject.map.is_undefined()));
    if let Value::Object(about) = about {
        fields.extend(about);
    }
    Ok(output::json(&Value::Object(fields))?)
}
