//! Replays the corpus of every fuzz target.

use crate::fuzzed::CHECKS;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry of a folder that was just listed").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

#[test]
fn every_input_passes_every_check() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let inputs = files(&root.join("fuzz/corpus"));
    assert!(!inputs.is_empty(), "there is no corpus");
    for input in inputs {
        let data = fs::read(&input).expect("a file that was just listed");
        for (name, check) in CHECKS {
            println!("{name}: {}", input.display());
            check(&data);
        }
    }
}
