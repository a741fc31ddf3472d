//! The layering of the workspace: a crate knows only those to its left, and only `runtime` names wgpu.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates from left to right.
const LAYERS: [&str; 6] =
    ["weft-affine", "weft-indexing", "weft-hlo", "weft-partition", "weft-codegen-wgsl", "weft-runtime"];

/// What stands at the top of the repository, dot-files aside.
const TOP_LEVEL: [&str; 18] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "affine",
    "clippy.toml",
    "codegen-wgsl",
    "deny.toml",
    "hlo",
    "indexing",
    "partition",
    "runtime",
    "rustfmt.toml",
    "typos.toml",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn metadata() -> serde_json::Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--locked"])
        .current_dir(workspace())
        .output()
        .expect("cargo can be run by its own test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

/// For each package its dependencies: names of all kinds, and whether each is for tests only.
fn packages() -> Vec<(String, Vec<(String, bool)>)> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("there are packages");
    packages
        .iter()
        .map(|package| {
            let name = package["name"].as_str().expect("a package has a name").to_owned();
            let dependencies = package["dependencies"].as_array().expect("a package lists dependencies");
            let dependencies = dependencies
                .iter()
                .map(|dependency| {
                    let name = dependency["name"].as_str().expect("a dependency has a name").to_owned();
                    (name, dependency["kind"].as_str() == Some("dev"))
                })
                .collect();
            (name, dependencies)
        })
        .collect()
}

#[test]
fn the_workspace_is_the_six_crates() {
    let found: BTreeSet<String> = packages().into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, LAYERS.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn a_crate_depends_only_on_crates_to_its_left() {
    let layer = |name: &str| LAYERS.iter().position(|known| *known == name);
    for (package, dependencies) in packages() {
        let own = layer(&package).expect("every package has a layer");
        for (dependency, for_tests) in dependencies {
            // A crate's tests may ask the crate itself for a feature.
            if for_tests && dependency == package {
                continue;
            }
            if let Some(other) = layer(&dependency) {
                assert!(other < own, "{package} depends on {dependency}, which is not to its left");
            }
        }
    }
}

#[test]
fn only_the_runtime_names_wgpu() {
    for (package, dependencies) in packages() {
        let names_wgpu = dependencies.iter().any(|(name, _)| name.starts_with("wgpu"));
        assert_eq!(names_wgpu, package == "weft-runtime", "{package}");
    }
    for layer in &LAYERS[..5] {
        let folder = workspace().join(layer.trim_start_matches("weft-")).join("src");
        for (path, text) in sources(&folder) {
            assert!(!text.contains("wgpu::"), "{} names wgpu", path.display());
        }
    }
}

/// But for what is kept on disk, which is the business of one folder.
#[test]
fn only_the_command_prints_reads_files_or_parses_arguments() {
    let printing = ["println!", "eprintln!", "use clap", "clap::"];
    let reading = ["std::fs", "std::env"];
    let cache = workspace().join("runtime/src/cache");
    for layer in LAYERS {
        let folder = workspace().join(layer.trim_start_matches("weft-")).join("src");
        for (path, text) in sources(&folder) {
            if path.components().any(|part| part.as_os_str() == "bin") {
                continue;
            }
            let reads = path.starts_with(&cache);
            for word in printing.into_iter().chain(reading.into_iter().filter(|_| !reads)) {
                let used = shipped(&text).any(|line| line.contains(word) && !line.trim_start().starts_with("//"));
                assert!(!used, "{} uses {word}", path.display());
            }
        }
    }
}

/// One file may leave out checks that proofs stand for, and says why each time.
#[test]
fn one_file_is_unsafe() {
    let audited = Path::new("runtime/src/device/trusted.rs");
    for layer in LAYERS {
        let folder = workspace().join(layer.trim_start_matches("weft-")).join("src");
        for (path, text) in sources(&folder) {
            let blocks = text.matches("unsafe {").count()
                + text.matches("unsafe fn").count()
                + text.matches("unsafe impl").count();
            let proofs = text.matches("// SAFETY: ").count();
            assert!(blocks == 0 || path.ends_with(audited), "{} is unsafe", path.display());
            assert_eq!(blocks, proofs, "{}: a proof beside each use", path.display());
        }
    }
}

/// The rooms of `weft-hlo` from left to right. (`random` makes modules for tests, and stands behind all of them.)
const ROOMS: [&str; 11] =
    ["ir", "diagnostic", "shape", "verify", "build", "text", "eval", "indexing", "passes", "bounds", "random"];

#[test]
fn a_room_of_hlo_knows_only_those_before_it() {
    let root = workspace().join("hlo/src");
    let mut seen = BTreeSet::new();
    for (path, text) in sources(&root) {
        let inside = path.strip_prefix(&root).expect("sources lie below the folder");
        let mut modules: Vec<String> =
            inside.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if modules.last().is_some_and(|last| last == "mod" || last == "lib") {
            modules.pop();
        }
        let Some(room) = modules.first() else { continue };
        let own = ROOMS.iter().position(|known| known == room).unwrap_or_else(|| panic!("{room} is no room"));
        seen.insert(room.clone());
        for line in shipped(&text).filter(|line| !line.trim_start().starts_with("//")) {
            for other in named_rooms(line, modules.len()) {
                let other_at = ROOMS.iter().position(|known| *known == other);
                assert!(other_at.is_none_or(|at| at <= own), "{}: {room} names {other}:\n{line}", path.display());
            }
        }
    }
    assert_eq!(seen, ROOMS.iter().map(|room| (*room).to_owned()).collect());
}

/// The modules of the crate's top level that a line names, by way of `crate::` or, from a module of this depth, of enough
/// `super::`.
fn named_rooms(line: &str, depth: usize) -> Vec<String> {
    let (own, climb) = ("crate::".to_owned(), "super::".repeat(depth));
    let starts = [own.as_str(), climb.as_str()];
    let after = |prefix: &str| -> Vec<String> {
        let bounded = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        line.match_indices(prefix)
            .filter(|(at, _)| bounded(*at))
            .flat_map(|(at, _)| {
                let rest = &line[at + prefix.len()..];
                // `crate::{a, b::c}` names several.
                match rest.strip_prefix('{') {
                    Some(list) => list.split(',').map(first_word).collect(),
                    None => vec![first_word(rest)],
                }
            })
            .collect()
    };
    starts.into_iter().filter(|prefix| !prefix.is_empty()).flat_map(after).collect()
}

fn first_word(text: &str) -> String {
    text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn rooms_are_found_in_lines() {
    assert_eq!(named_rooms("use crate::ir::{A, B};", 2), ["ir"]);
    assert_eq!(named_rooms("use crate::{eval, text::parse};", 2), ["eval", "text"]);
    assert_eq!(named_rooms("use super::super::eval::x;", 2), ["eval"]);
    assert_eq!(named_rooms("use super::text::x; other_crate::ir", 2), Vec::<String>::new());
}

#[test]
fn the_top_level_holds_nothing_else() {
    let entries = std::fs::read_dir(workspace()).expect("the workspace can be listed");
    for entry in entries {
        let name = entry.expect("an entry can be read").file_name().to_string_lossy().into_owned();
        let allowed = name.starts_with('.') || name == "target" || TOP_LEVEL.contains(&name.as_str());
        assert!(allowed, "{name} stands at the top level");
    }
}

/// The lines of a source file that stand before its tests.
fn shipped(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| line.trim() != "#[cfg(test)]")
}

/// Every Rust file below a folder, with its text, but for modules that are compiled for tests only.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder).expect("a source folder can be listed") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file is text");
                found.push((path, text));
            }
        }
    }
    let test_modules: Vec<String> = found
        .iter()
        .flat_map(|(_, text)| text.split("#[cfg(test)]\nmod ").skip(1).filter_map(|rest| rest.split(';').next()))
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .map(str::to_owned)
        .collect();
    let is_test =
        |path: &Path| path.file_stem().is_some_and(|stem| test_modules.iter().any(|name| stem == name.as_str()));
    found.retain(|(path, _)| !is_test(path));
    found
}
