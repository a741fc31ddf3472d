//! The examples of the specification's three versions, by the command, from their HLO text.
#![allow(clippy::panic, reason = "a test that cannot go on says why")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::command::{fed, stderr, stdout};
use weft_indexing::{IndexingMap, OwnerNames};

/// A program, the arguments of the command, and what it prints.
struct Example {
    name: String,
    arguments: Vec<String>,
    program: String,
    printed: String,
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/indexing_spec.txt")
}

fn examples() -> Vec<Example> {
    let text = fs::read_to_string(file()).expect("the examples lie beside this file");
    let example = |block: &str| {
        let (given, printed) = block.split_once("----\n").expect("a line of dashes");
        let mut lines = given.splitn(3, '\n');
        let mut next = || lines.next().expect("a name, arguments and a program");
        let (name, arguments, program) = (next(), next(), next());
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        Example {
            name: name.to_owned(),
            arguments,
            program: program.to_owned(),
            printed: printed.trim_end().to_owned(),
        }
    };
    text.split("==== ").skip(1).map(example).collect()
}

fn printed(example: &Example) -> String {
    let mut arguments = vec!["indexing", "-"];
    arguments.extend(example.arguments.iter().map(String::as_str));
    let output = fed(&arguments, &example.program);
    assert_eq!(output.status.code(), Some(0), "{}: {}", example.name, stderr(&output));
    stdout(&output).trim_end().to_owned()
}

/// `SNAPSHOTS=overwrite` writes what is printed into the file.
#[test]
fn the_command_prints_every_example() {
    let mut examples = examples();
    let mut differ = Vec::new();
    for example in &mut examples {
        let found = printed(example);
        if found != example.printed {
            differ.push(format!("{}:\n{found}\nnot\n{}", example.name, example.printed));
            example.printed = found;
        }
    }
    if std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite") {
        let block = |Example { name, arguments, program, printed }: &Example| {
            format!("==== {name}\n{}\n{program}----\n{printed}\n", arguments.join(" "))
        };
        let text: Vec<String> = examples.iter().map(block).collect();
        fs::write(file(), text.join("\n")).expect("the file can be written");
    } else {
        assert!(differ.is_empty(), "{}", differ.join("\n\n"));
    }
}

/// A map without what the versions set differently: its text, and for each runtime variable who yields it, by name, and which
/// element of that it is.
fn told(text: &str) -> (String, Vec<(String, String)>) {
    let mut owners = OwnerNames::default();
    let map = IndexingMap::parse_with(text, &mut |name| Some(owners.owner(name))).unwrap_or_else(|error| {
        panic!("{error}: {text}");
    });
    let runtime = map.runtime().iter().filter_map(|variable| {
        let name = owners.name(variable.owner()?)?;
        let access: Vec<String> = variable.access().iter().map(ToString::to_string).collect();
        Some((name.split_whitespace().next().unwrap_or_default().to_owned(), access.join(", ")))
    });
    (map.to_string(), runtime.collect())
}

/// The maps in what the command printed, those of several lines too.
fn maps_in(printed: &str) -> Vec<String> {
    let mut maps: Vec<String> = Vec::new();
    for line in printed.lines() {
        let line = line.trim_start();
        let is_start = line.starts_with("operand")
            || line.starts_with("output")
            || line.starts_with("to ")
            || line.starts_with("no input");
        match line.split_once(": ") {
            Some((_, map)) if is_start => maps.push(map.to_owned()),
            _ if is_start => maps.push(String::new()),
            _ if line.starts_with("coarse: ") || line.starts_with("instruction ") => {}
            _ => {
                if let Some(last) = maps.last_mut() {
                    *last += "\n";
                    *last += line;
                }
            }
        }
    }
    maps
}

/// Blocks of the documents' maps, which the tests of the maps themselves read as well.
#[test]
fn no_map_of_the_documents_is_missing() {
    let found: BTreeSet<(String, Vec<(String, String)>)> =
        examples().iter().flat_map(|example| maps_in(&example.printed)).map(|map| told(&map)).collect();
    let versions = [
        include_str!("../../indexing/tests/spec/current.txt"),
        include_str!("../../indexing/tests/spec/earlier.txt"),
        include_str!("../../indexing/tests/spec/chinese.txt"),
    ];
    let mut count = 0;
    // All three versions map the right operand of dot to the output at its contracted dimension, which has other extents; the
    // dimension that is not contracted is meant.
    let (slip, meant) = ("(d0, d1, d2)[s0] -> (d0, s0, d1)", "(d0, d1, d2)[s0] -> (d0, s0, d2)");
    for text in versions.into_iter().flat_map(|version| version.split("\n\n")).filter(|text| !text.trim().is_empty()) {
        let expected = told(&text.replace(slip, meant));
        assert!(found.contains(&expected), "no example prints {}", expected.0);
        count += 1;
    }
    assert_eq!(count, 47 + 45 + 45);
}
