//! Every stage of small modules, as text, in `tests/snapshots`. `SNAPSHOTS=overwrite` regenerates them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{Made, fusions, make, verified};
use snapbox::{Assert, Data, data::DataFormat};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use weft_codegen_wgsl::functions_text;

macro_rules! snapshots {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*
    };
}

snapshots! { argmax bytes concatenate diamond mask nothing outputs pad product softmax update_slice }

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

fn check(name: &str) {
    let text = fs::read_to_string(folder().join(format!("{name}.hlo"))).unwrap();
    let module = verified(&text);
    let made = make(&module).unwrap_or_else(|findings| panic!("{findings}"));
    let functions = fusions(&module).into_iter().map(|id| functions_text(&module, id).unwrap());
    compare(name, "functions", functions.collect());
    compare(name, "kernel", made.iter().map(|made| made.stages.kernel.to_string()).collect());
    compare(name, "lowered", made.iter().map(|made| made.stages.lowered.to_string()).collect());
    compare(name, "wgsl", made.iter().map(own_text).collect());
}

/// The shader without the library's functions, which follow the entry point and have tests of their own.
fn own_text(made: &Made) -> String {
    let source = &made.shader.source;
    let entry = source.find("@compute").unwrap();
    let end = source[entry..].find("\n}\n").unwrap() + entry + "\n}\n".len();
    source[..end].to_owned()
}

fn compare(name: &str, stage: &str, parts: Vec<String>) {
    let path = folder().join(format!("{name}.{stage}"));
    let expected = Data::read_from(&path, Some(DataFormat::Text)).raw();
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(parts.join("\n")), expected);
}

#[test]
fn every_module_is_listed_and_nothing_is_left_over() {
    let expected: BTreeSet<String> = NAMES
        .iter()
        .flat_map(|name| ["hlo", "functions", "kernel", "lowered", "wgsl"].map(|stage| format!("{name}.{stage}")))
        .collect();
    let found: BTreeSet<String> =
        fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(found, expected);
}
