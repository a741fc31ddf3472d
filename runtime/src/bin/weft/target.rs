//! What `--target` means, and how targets are shown.

use crate::args::File;
use crate::report::Failure;
use crate::source::Source;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use weft_hlo::diagnostic::{Diagnostic, Diagnostics};
use weft_hlo::ir::Span;
use weft_partition::{CooperativeMatrix, Features, Subgroups, Target};

/// The target that a word names: a preset, or else a file in which one is described.
pub(crate) fn named(word: &str) -> Result<Target, Failure> {
    match Target::preset(word) {
        Ok(target) => Ok(target),
        Err(error) if !is_file(word) => {
            let help = "or name a file of JSON, as `weft devices --format json` writes it under \"target\"";
            Err(Failure::Message { code: error.code(), text: error.to_string(), help: Some(help.to_owned()) })
        }
        Err(_) => from_json(&Source::read(&File { file: word.into() })?),
    }
}

/// Whether a word that is no preset is meant as a file, be there one or not.
fn is_file(word: &str) -> bool {
    word.contains(['/', '\\', '.']) || Path::new(word).is_file()
}

/// The target that a text describes.
fn from_json(source: &Arc<Source>) -> Result<Target, Failure> {
    serde_json::from_str(&source.text).map_err(|error| {
        let place = offset(&source.text, error.line(), error.column());
        // The place is told beside the message.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        let finding = Diagnostic::new("TGT003", Span::new(place..place), message);
        Failure::Findings(Arc::clone(source), Diagnostics(vec![finding]))
    })
}

/// The byte at a line and a column, both from 1; columns are bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// As `--target` takes it.
pub(crate) fn to_json(target: &Target) -> Result<Value, Failure> {
    serde_json::to_value(target).map_err(|error| Failure::message(format!("the target cannot be written: {error}")))
}

/// Two lines for people: limits, and features.
pub(crate) fn to_text(target: &Target) -> String {
    let limits = format!(
        "{} storage buffers, {} MiB each, {} invocations and {} KiB per workgroup",
        target.max_storage_buffers,
        target.max_storage_binding_bytes.min(target.max_buffer_bytes) >> 20,
        target.max_invocations_per_workgroup,
        target.max_workgroup_storage_bytes >> 10,
    );
    format!("{limits}\n   {}", features_text(target))
}

fn features_text(target: &Target) -> String {
    let Features {
        subgroup,
        shader_f16,
        shader_i16,
        shader_int64,
        int64_atomics,
        shader_f64,
        float32_atomics,
        cooperative_matrices,
        ..
    } = &target.features;
    let mut names = Vec::new();
    match subgroup {
        Some(Subgroups { min, max }) if min == max => names.push(format!("subgroups of {min}")),
        Some(Subgroups { min, max }) => names.push(format!("subgroups of {min} to {max}")),
        None => {}
    }
    for (is_there, name) in [
        (*shader_f16, "f16"),
        (*shader_i16, "i16"),
        (*shader_int64, "i64"),
        (*shader_f64, "f64"),
        (*float32_atomics, "atomics of f32"),
        (*int64_atomics, "atomics of i64"),
    ] {
        if is_there {
            names.push(name.to_owned());
        }
    }
    if !cooperative_matrices.is_empty() {
        let one = |it: &CooperativeMatrix| format!("{}x{}x{} {} into {}", it.m, it.n, it.k, it.factor, it.sum);
        let all: Vec<String> = cooperative_matrices.iter().map(one).collect();
        names.push(format!("cooperative matrices of {}", all.join(", ")));
    }
    if names.is_empty() { "no optional features".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bytes_of_the_text() {
        let text = "{\n  \"ä\": 1,\n  \"b\": 2\n}";
        assert_eq!(offset(text, 1, 1), 0);
        assert_eq!(&text[offset(text, 3, 3)..][..3], "\"b\"");
        assert_eq!(offset(text, 9, 9), text.len());
        assert_eq!(offset("", 0, 0), 0);
    }
}
