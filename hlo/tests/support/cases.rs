//! Cases that pin findings: texts of `tests/FOLDER`, each a line `=== name`, the text, a line `---`, and the findings
//! expected, one per line. `SNAPSHOTS=overwrite` rewrites the findings.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What was seen of all cases of a folder.
pub(crate) struct Seen {
    pub(crate) count: usize,
    /// The codes of all findings.
    pub(crate) codes: BTreeSet<String>,
}

/// Compares the findings of `judge`, given name and text, with those expected; fails where they differ, and where two
/// cases have one name.
pub(crate) fn check(folder: &str, judge: impl Fn(&str, &str) -> String) -> Seen {
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let (mut seen, mut names) = (Seen { count: 0, codes: BTreeSet::new() }, BTreeSet::new());
    let mut wrong = String::new();
    let mut paths: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let file = fs::read_to_string(&path).unwrap();
        let mut rewritten = String::new();
        for case in file.split("=== ").skip(1) {
            let (name, rest) = case.split_once('\n').expect("a name stands on a line of its own");
            let (text, expected) = rest.split_once("\n---\n").expect("`---` stands between text and findings");
            let (file, expected) = (path.display(), expected.trim_end());
            assert!(names.insert((path.clone(), name.to_owned())), "{file}: two cases are called {name}");
            let found = judge(name, text);
            seen.count += 1;
            seen.codes.extend(found.lines().filter_map(|line| line.split(": ").nth(1)).map(str::to_owned));
            write!(rewritten, "=== {name}\n{text}\n---\n{found}\n\n").unwrap();
            if found != expected {
                writeln!(wrong, "{name}:\nfound\n{found}\nexpected\n{expected}\n").unwrap();
            }
        }
        if overwrite {
            fs::write(&path, rewritten).unwrap();
        }
    }
    assert!(overwrite || wrong.is_empty(), "{wrong}");
    seen
}
