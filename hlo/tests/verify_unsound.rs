//! Modules that are read but break a rule, and what the verifier says about each.
//!
//! Each file of `tests/unsound` holds cases: a line `=== name`, the text, a line `---`, and the findings expected, one
//! per line. `SNAPSHOTS=overwrite` rewrites the findings.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use weft_hlo::text::parse;
use weft_hlo::verify::verify;

#[test]
fn findings_are_those_expected() {
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unsound");
    let (mut count, mut codes, mut names, mut wrong) = (0, BTreeSet::new(), BTreeSet::new(), String::new());
    let mut paths: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let file = fs::read_to_string(&path).unwrap();
        let mut rewritten = String::new();
        for case in file.split("=== ").skip(1) {
            let (name, rest) = case.split_once('\n').expect("a name stands on a line of its own");
            let (text, expected) = rest.split_once("\n---\n").expect("`---` stands between text and findings");
            assert!(names.insert(name.to_owned()), "two cases are called {name}");
            let module = parse(text).unwrap_or_else(|found| panic!("{name} is not read:\n{found}"));
            let found = match verify(&module) {
                Ok(()) => panic!("{name} breaks no rule"),
                Err(found) => found.locate(text),
            };
            count += 1;
            for finding in &found.0 {
                codes.insert(finding.code);
                assert_ne!(finding.span, Default::default(), "{name}: {finding}");
            }
            let found = found.to_string();
            write!(rewritten, "=== {name}\n{text}\n---\n{found}\n\n").unwrap();
            if found != expected.trim_end() {
                writeln!(wrong, "{name}:\nfound\n{found}\nexpected\n{}\n", expected.trim_end()).unwrap();
            }
        }
        if overwrite {
            fs::write(&path, rewritten).unwrap();
        }
    }
    assert!(overwrite || wrong.is_empty(), "{wrong}");
    assert!(count >= 270, "{count} cases");
    let documented = include_str!("../src/verify/mod.rs");
    for code in &codes {
        assert!(documented.contains(&format!("| `{code}` |")), "{code} is not documented");
    }
    // Broken structure and impossible shapes are refused by the reader; `tests/verify.rs` makes them by hand.
    assert!(codes.len() >= 16, "{codes:?}");
}
