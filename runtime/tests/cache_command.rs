//! `weft cache`, and what `weft devices --self-test` keeps there.

use crate::command::{Folder, command, stderr, stdout, weft};
use serde_json::Value;

/// What the command writes with its cache in a folder.
fn json(folder: &str, arguments: &[&str]) -> Value {
    let output = command().env("WEFT_CACHE_DIR", folder).args(arguments).args(["--format", "json"]).output();
    let output = output.expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("the output is JSON")
}

fn text(folder: &str, arguments: &[&str]) -> String {
    let output = command().env("WEFT_CACHE_DIR", folder).args(arguments).output().expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn a_cache_is_shown_and_cleared() {
    let folder = Folder::new();
    let path = folder.path("cache");
    assert_eq!(text(&path, &["cache", "path"]).trim(), path);
    assert_eq!(json(&path, &["cache", "path"])["path"], path.as_str());
    let empty = json(&path, &["cache", "list"]);
    assert_eq!((&empty["entries"], &empty["bytes"]), (&serde_json::json!([]), &serde_json::json!(0)));
    assert!(!std::path::Path::new(&path).exists(), "looking makes no folder");
    assert_eq!(json(&path, &["cache", "clear"])["removed"], 0);
}

#[test]
fn without_a_cache_the_command_says_so() {
    let output = weft(&["cache", "path"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no cache: WEFT_CACHE_DIR is empty"), "{}", stderr(&output));
}

#[test]
fn answers_of_the_self_test_are_kept_and_used() {
    let folder = Folder::new();
    let path = folder.path("cache");
    let tested = json(&path, &["devices", "--self-test"]);
    let devices = tested["devices"].as_array().expect("it is a list");
    assert!(!devices.is_empty());
    for device in devices {
        let tests = device["self_test"]["tests"].as_array().expect("it was tested");
        for test in tests {
            assert!(test["name"].is_string() && test["found"].is_string(), "{test}");
            let answer = test["answer"].as_str().unwrap_or_default();
            assert!(["holds", "fails", "skipped"].contains(&answer), "{test}");
            assert!(test["decides"].is_string() != test["remark"].is_string(), "{test}");
        }
        let holds = |name: &str| tests.iter().any(|test| test["name"] == name && test["answer"] == "holds");
        let arithmetic = &device["target"]["arithmetic"];
        assert_eq!(arithmetic["contraction"], !holds("products-apart"), "{device}");
        assert_eq!(arithmetic["exact_division"], holds("division"), "{device}");
    }
    // What is listed from then on, and compiled for, is what was found.
    let listed = json(&path, &["devices"]);
    for (listed, tested) in listed["devices"].as_array().expect("it is a list").iter().zip(devices) {
        assert_eq!(listed["target"], tested["target"]);
    }
    let entries = json(&path, &["cache", "list"]);
    let entries = entries["entries"].as_array().expect("it is a list").clone();
    assert_eq!(entries.len(), devices.len());
    for (entry, device) in entries.iter().zip(devices) {
        assert_eq!(entry["kind"], "self-test");
        let key = entry["key"].as_str().unwrap_or_default();
        assert!(devices.len() > 1 || key.contains(device["name"].as_str().unwrap_or("?")), "{key}");
    }
    assert!(text(&path, &["cache", "list"]).contains(&path));
    // What is damaged is as if it were not there.
    let file = entries[0]["file"].as_str().expect("it is a name");
    folder.file(&format!("cache/{file}"), "damaged");
    assert_eq!(json(&path, &["cache", "list"])["entries"][0]["key"], Value::Null);
    assert_eq!(json(&path, &["devices"])["devices"].as_array().map(Vec::len), Some(devices.len()));
    assert_eq!(json(&path, &["cache", "clear"])["removed"], entries.len());
    let shown = text("", &["devices", "--self-test"]);
    for name in ["nan-bits", "workgroup-barrier", "decides arithmetic.contraction"] {
        assert!(shown.contains(name), "{name}: {shown}");
    }
}
