//! The commands about shapes: `weft specialize` and `weft shape-functions`.

use crate::args::{Format, FunctionFiles, FunctionForm, ShapeFunctions, Specialize};
use crate::report::{Failure, Outcome};
use crate::source::Source;
use crate::{args, is_json, output};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weft_hlo::ir::Shape;
use weft_hlo::shape::function::{Form, Function, Library};
use weft_hlo::shape::standard_library;
use weft_hlo::{passes, text};

/// `weft specialize`
pub(crate) fn specialize(arguments: &Specialize, format: Format) -> Result<Outcome, Failure> {
    let source = Source::read(&arguments.source)?;
    let module = source.parse()?;
    let mut given: BTreeMap<String, Shape> = BTreeMap::new();
    for argument in &arguments.shape {
        let Some((name, shape)) = argument.split_once('=') else {
            return Err(Failure::Misuse(format!(
                "--shape takes NAME=SHAPE, such as x=f32[32,128], and not '{argument}'"
            )));
        };
        let name = name.trim().trim_start_matches('%');
        let failed = |findings| Failure::Findings(Source::given("--shape", shape), findings);
        let shape = text::parse_shape(shape).map_err(failed)?;
        if given.insert(name.to_owned(), shape).is_some() {
            return Err(Failure::Misuse(format!("--shape gives the parameter {name} two shapes")));
        }
    }
    let library = library(&arguments.functions)?;
    let specialized = passes::specialize(&module, &given, &library)
        .map_err(|findings| Failure::Findings(Arc::clone(&source), findings))?;
    if is_json(format) {
        output::json(&json!({ "hlo": specialized.to_string() }))?;
    } else {
        output::text(&specialized.to_string())?;
    }
    Ok(Outcome::Done)
}

/// `weft shape-functions`
pub(crate) fn functions(arguments: &ShapeFunctions, format: Format) -> Result<Outcome, Failure> {
    let mut library = library(&arguments.functions)?;
    if let Some(operation) = &arguments.operation {
        library = only(&library, operation)?;
    }
    if let Some(form) = arguments.form {
        let form = match form {
            FunctionForm::ErrorCarrying => Form::ErrorCarrying,
            FunctionForm::Constrained => Form::Constrained,
            FunctionForm::Imperative => Form::Imperative,
        };
        library = library.lower(form).map_err(|error| Failure::message(error.to_string()))?;
    }
    if is_json(format) {
        let functions: Vec<_> = library
            .functions()
            .iter()
            .map(|function| json!({ "name": function.name(), "text": function.to_string() }))
            .collect();
        let mapping: BTreeMap<&str, &str> =
            library.mapping().map(|(operation, function)| (operation, function.name())).collect();
        let without: BTreeMap<&str, &str> = library.without().collect();
        output::json(&json!({ "functions": functions, "mapping": mapping, "without": without }))?;
    } else {
        output::text(&library.to_string())?;
    }
    Ok(Outcome::Done)
}

/// HLO's shape functions and those of the files given.
pub(crate) fn library(files: &FunctionFiles) -> Result<Library, Failure> {
    let mut library = standard_library().clone();
    for file in &files.shape_functions {
        let source = Source::read(&args::File { file: file.clone() })?;
        library.extend_from_text(&source.text).map_err(|findings| Failure::Findings(source, findings))?;
    }
    Ok(library)
}

/// The library of one operation's function and those it calls.
fn only(library: &Library, operation: &str) -> Result<Library, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::message(error.to_string());
    let root = library.of_operation(operation).map_err(|error| failed(&error))?;
    let mut needed = BTreeSet::new();
    let mut pending = vec![root];
    while let Some(function) = pending.pop() {
        if needed.insert(function.name()) {
            for callee in function.callees() {
                pending.push(library.function(callee).map_err(|error| failed(&error))?);
            }
        }
    }
    let functions: Vec<Function> =
        library.functions().iter().filter(|function| needed.contains(function.name())).cloned().collect();
    let mut only = Library::new(library.name());
    only.extend(functions, vec![(operation.to_owned(), root.name().to_owned())]).map_err(|error| failed(&error))?;
    Ok(only)
}
