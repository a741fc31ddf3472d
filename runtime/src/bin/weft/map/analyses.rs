//! Analyses of how maps read memory. Their JSON is that of the library's feature `serde`.

use super::args::{Coalescing, Utilization};
use super::names;
use crate::args::Format;
use crate::reader::{Given, Reader};
use crate::report::{Failure, Outcome};
use crate::{is_json, output};
use serde_json::{Value, json, to_value};
use weft_affine::{Simplifier, Var};
use weft_indexing::{
    Error, IndexingMap, Launch, MemoryModel, OperandUtilization, Tensor, Verdict, operand_utilization,
};

/// Names that variables of a kernel have for thread indices.
const THREADS: [&str; 3] = ["th_x", "th_y", "th_z"];

/// `weft map coalescing`
pub(super) fn coalescing(arguments: &Coalescing, format: Format) -> Result<Outcome, Failure> {
    let given = Reader::new(1, false).map(&arguments.map)?;
    let map = &given.subject.map;
    let launch = launch(&given, arguments)?;
    let failure = |error| failure(&given, error);
    let tensor = Tensor::try_new(&shape(&given, arguments)?, arguments.element_bytes).map_err(failure)?;
    let Coalescing { subgroup_size, segment_bytes, base_alignment, vector_bytes, .. } = *arguments;
    let model = MemoryModel::try_new(subgroup_size, segment_bytes, base_alignment, vector_bytes).map_err(failure)?;
    let found = map.coalescing(&tensor, &launch, &model).map_err(failure)?;
    if is_json(format) {
        let named = |v: &Var| names::name(map, *v);
        let mut value = told(to_value(&found))?;
        value["threads"] = launch.threads().iter().map(named).collect();
        value["vector"] = json!(launch.vector().as_ref().map(named));
        value["shape"] = json!(tensor.shape());
        value["element_bytes"] = json!(tensor.element_bytes());
        value["model"] = told(to_value(model))?;
        output::json(&value)?;
    } else {
        output::text(&found.to_string())?;
    }
    Ok(if matches!(found.verdict, Verdict::Unknown(_)) { Outcome::Findings } else { Outcome::Done })
}

/// What the command line asks of a machine that cannot be is its misuse; all else is about the map.
fn failure(given: &Given, error: Error) -> Failure {
    match error {
        Error::Setting { what } => Failure::Misuse(what.to_owned()),
        other => given.failure(&other),
    }
}

/// The variables that the command line names, or those with the names of threads, or the first dimension; in a block of the
/// extents given there, or of the bounds given in the text.
fn launch(given: &Given, arguments: &Coalescing) -> Result<Launch, Failure> {
    let map = &given.subject.map;
    let named = |name: &String| {
        names::variable(map, name).ok_or_else(|| {
            let all: Vec<String> = names::variables(map).iter().map(|(v, _)| names::name(map, *v)).collect();
            Failure::Misuse(format!("the map has no variable `{name}`; it has {}", all.join(", ")))
        })
    };
    let threads: Vec<Var> = match &arguments.threads {
        Some(list) => list.0.iter().map(named).collect::<Result<_, _>>()?,
        None => THREADS.iter().filter_map(|name| names::variable(map, name)).collect(),
    };
    let first = map.dims().first().map(|_| Var::Dim(0));
    let threads = if threads.is_empty() { first.into_iter().collect() } else { threads };
    let block = arguments.block.as_ref().map(|extents| extents.0.clone()).or_else(|| block(given, &threads));
    let vector = arguments.vector.as_ref().map(named).transpose()?;
    Launch::try_new(threads, block, vector).map_err(|error| failure(given, error))
}

/// One more than the greatest value that the text gives each thread variable first, before conditions narrow it.
fn block(given: &Given, threads: &[Var]) -> Option<Vec<i64>> {
    let bounds = given.subject.given.as_ref()?;
    threads.iter().map(|v| Some(bounds.get(*v).hi.checked_add(1)?.max(1))).collect()
}

/// The extents given, or that of as many elements as the one result needs.
fn shape(given: &Given, arguments: &Coalescing) -> Result<Vec<i64>, Failure> {
    let map = &given.subject.map;
    if let Some(extents) = &arguments.shape {
        return Ok(extents.0.clone());
    }
    match map.results() {
        _ if map.is_undefined() => Ok(Vec::new()),
        [address] => {
            let mut simple = map.clone();
            simple.simplify();
            let found = Simplifier::new(&simple.variable_ranges(), simple.constraints()).range_of(address);
            found.hi.checked_add(1).map(|extent| vec![extent.max(1)]).ok_or_else(|| {
                Failure::Misuse("the address has no bound: --shape says how many elements there are".into())
            })
        }
        results => Err(Failure::Misuse(format!(
            "the map has {} results: --shape gives the extent of each dimension of the tensor",
            results.len()
        ))),
    }
}

/// `weft map utilization`
pub(super) fn utilization(arguments: &Utilization, format: Format) -> Result<Outcome, Failure> {
    let mut reader = Reader::new(arguments.maps.len(), false);
    let given: Vec<Given> = arguments.maps.iter().map(|map| reader.map(map)).collect::<Result<_, _>>()?;
    let maps: Vec<IndexingMap> = given.iter().map(|one| one.subject.map.clone()).collect();
    let found = operand_utilization(&maps, &arguments.shape.0).map_err(|error| {
        let culprit = given.iter().find(|one| one.subject.map.utilization(&arguments.shape.0).is_err());
        culprit.map_or_else(|| Failure::message(error.to_string()), |one| one.failure(&error))
    })?;
    if is_json(format) {
        let mut value = told(to_value(&found))?;
        value["shape"] = json!(arguments.shape.0);
        output::json(&value)?;
    } else {
        output::text(&text(&found))?;
    }
    Ok(Outcome::Done)
}

/// One line for a single use, which is all there is.
fn text(found: &OperandUtilization) -> String {
    match found.uses.as_slice() {
        [one] => one.to_string(),
        _ => found.to_string(),
    }
}

fn told(value: serde_json::Result<Value>) -> Result<Value, Failure> {
    value.map_err(|error| Failure::message(format!("cannot write this as JSON: {error}")))
}
