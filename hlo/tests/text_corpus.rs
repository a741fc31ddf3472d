//! Every program of the corpus is read, printed in both spellings, and read again.

use std::fs;
use std::path::{Path, PathBuf};
use weft_hlo::text::{PrintOptions, parse, print, print_with};

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut files = Vec::new();
    for program in fs::read_dir(root).expect("the corpus is there") {
        for file in fs::read_dir(program.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "hlo") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() >= 131, "found {} programs", files.len());
    files
}

fn is_optimized(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "optimized_cpu.hlo")
}

#[test]
fn every_program_is_read() {
    let mut failed = Vec::new();
    for path in corpus() {
        if let Err(findings) = parse(&fs::read_to_string(&path).unwrap()) {
            failed.push(format!("{}:\n{findings}", path.display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn both_spellings_read_back_as_the_same_module() {
    let shapes = PrintOptions { operand_shapes: true, ..PrintOptions::short() };
    for path in corpus() {
        let module = parse(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(module.to_string(), print(&module));
        for options in [PrintOptions::default(), PrintOptions::short(), shapes.clone()] {
            let text = print_with(&module, &options);
            let again = parse(&text).unwrap_or_else(|findings| panic!("{}:\n{findings}", path.display()));
            assert_eq!(again, module, "{}", path.display());
            assert_eq!(print_with(&again, &options), text, "{}", path.display());
        }
    }
}

#[test]
fn every_program_is_reproduced_byte_for_byte() {
    let mut differing = Vec::new();
    for path in corpus() {
        let text = fs::read_to_string(&path).unwrap();
        let options = if is_optimized(&path) { PrintOptions::default() } else { PrintOptions::short() };
        let printed = print_with(&parse(&text).unwrap(), &options);
        if let Some((line, (found, expected))) =
            printed.lines().zip(text.lines()).enumerate().find(|(_, (found, expected))| found != expected)
        {
            differing.push(format!("{}:{}\n  found    {found}\n  expected {expected}", path.display(), line + 1));
        } else if printed != text {
            differing.push(format!("{}: lengths differ", path.display()));
        }
    }
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}
