//! Broken texts and what is said about them.
//!
//! Each file of `tests/broken` holds cases: a line `=== name`, the text, a line `---`, and the findings expected, one
//! per line. `SNAPSHOTS=overwrite` rewrites the findings.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use weft_hlo::text::parse;

struct Case<'t> {
    name: &'t str,
    text: &'t str,
    expected: &'t str,
}

fn cases(file: &str) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    for part in file.split("=== ").skip(1) {
        let (name, rest) = part.split_once('\n').expect("a name stands on a line of its own");
        let (text, expected) = rest.split_once("\n---\n").expect("`---` stands between text and findings");
        cases.push(Case { name, text, expected: expected.trim_end() });
    }
    cases
}

fn findings(text: &str) -> String {
    match parse(text) {
        Ok(_) => "none".to_owned(),
        Err(findings) => findings.to_string(),
    }
}

#[test]
fn findings_are_those_expected() {
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut count = 0;
    let mut codes = BTreeSet::new();
    let mut wrong = String::new();
    let mut not_broken = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let file = fs::read_to_string(&path).unwrap();
        let mut rewritten = String::new();
        for case in cases(&file) {
            count += 1;
            let found = findings(case.text);
            if found == "none" {
                not_broken.push(case.name.to_owned());
            }
            codes.extend(found.lines().filter_map(|line| line.split(": ").nth(1)).map(str::to_owned));
            write!(rewritten, "=== {}\n{}\n---\n{found}\n\n", case.name, case.text).unwrap();
            if found != case.expected {
                writeln!(wrong, "{}:\nfound\n{found}\nexpected\n{}\n", case.name, case.expected).unwrap();
            }
        }
        if overwrite {
            fs::write(&path, rewritten).unwrap();
        }
    }
    assert!(not_broken.is_empty(), "these are not broken: {not_broken:?}");
    assert!(overwrite || wrong.is_empty(), "{wrong}");
    assert!(count >= 200, "{count} cases");
    let documented = include_str!("../src/text/mod.rs");
    for code in codes {
        assert!(documented.contains(&format!("| `{code}` |")), "{code} is not documented");
    }
}

#[test]
fn findings_are_bounded() {
    let mut text = String::from("HloModule m\nENTRY e {\n");
    for number in 0..1000 {
        writeln!(text, "  x{number} = f32[] frobnicate()").unwrap();
    }
    text.push_str("}\n");
    let findings = parse(&text).unwrap_err();
    assert_eq!(findings.0.len(), 101);
    assert_eq!(findings.0[100].code, "HLO040");
}
