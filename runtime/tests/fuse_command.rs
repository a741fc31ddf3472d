//! `weft fuse`: what was considered, and what is not fused at all; targets that were measured.

use crate::command::{Folder, fed, stderr, stdout, weft};
use serde_json::Value;

/// A fusion of the program, two functions of one value, and what is computed of both.
const PROGRAM: &str = "HloModule m\n\
    f { p = f32[64] parameter(0)\n a = f32[64] negate(p)\n ROOT b = f32[64] exponential(a) }\n\
    ENTRY e { x = f32[64] parameter(0)\n c = f32[64] fusion(x), kind=kLoop, calls=f\n s = f32[64] sine(c)\n \
    t = f32[64] cosine(c)\n ROOT r = (f32[64], f32[64]) tuple(s, t) }\n";

fn kernels(arguments: &[&str]) -> usize {
    let output = fed(arguments, PROGRAM);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output).matches(" fusion(").count()
}

#[test]
fn what_was_considered_is_told_with_its_numbers() {
    let output = fed(&["fuse", "-", "--explain"], PROGRAM);
    let text = stdout(&output);
    let taken = text.lines().find(|line| line.starts_with("// sibling t with s: ")).unwrap_or_else(|| panic!("{text}"));
    assert!(taken.contains(" ns become ") && taken.contains(": taken: "), "{taken}");
    let output = fed(&["fuse", "-", "--format", "json"], PROGRAM);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("one JSON value");
    let candidates = value["candidates"].as_array().expect("a list");
    let sibling = candidates.iter().find(|one| one["move"] == "sibling").unwrap_or_else(|| panic!("{value:#}"));
    assert_eq!((&sibling["taken"], &sibling["kernels"][1]), (&Value::Bool(true), &Value::from("s")));
    assert!(sibling["nanoseconds_after"].as_f64() < sibling["nanoseconds_before"].as_f64(), "{sibling}");
}

#[test]
fn fusions_are_kept_taken_apart_or_left_in_pieces() {
    assert_eq!(kernels(&["fuse", "-", "--no-opt"]), 2);
    assert_eq!(kernels(&["fuse", "-", "--no-opt", "--refuse"]), 1);
    assert_eq!(kernels(&["fuse", "-", "--no-opt", "--no-fuse"]), 4);
    let output = fed(&["fuse", "-", "--refuse", "--no-fuse"], PROGRAM);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    for how in ["--refuse", "--no-fuse"] {
        let folder = Folder::new();
        let file = folder.file("program.hlo", PROGRAM);
        let output = weft(&["run", &file, "--device", "gpu", "--check", "--no-cache", how]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

/// The target that is written is the device's, with what was measured, and programs are compiled for it.
#[test]
fn what_a_device_costs_is_measured() {
    let folder = Folder::new();
    let file = folder.file("measured.json", "");
    let output = weft(&["bench", "--calibrate", &file, "--rounds", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("a launch takes"), "{}", stdout(&output));
    let text = std::fs::read_to_string(&file).expect("it is written");
    let target: Value = serde_json::from_str(&text).expect("it is JSON");
    for cost in ["launch_nanoseconds", "dram_bytes_per_second", "clock_hertz"] {
        assert!(target["hardware"][cost].as_u64() > Some(0), "{target:#}");
    }
    assert_eq!(kernels(&["fuse", "-", "--no-opt", "--target", &file]), 2);
    let output = weft(&["bench", "--calibrate", &file, "--all"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn programs_are_measured_beside_what_is_not_fused() {
    let folder = Folder::new();
    let file = folder.file("program.hlo", PROGRAM);
    let output = weft(&["bench", &file, "--unfused", "--rounds", "2", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let value: Value = serde_json::from_str(&stdout(&output)).expect("one JSON value");
    let row = &value["devices"][0]["cases"][0];
    assert_eq!(row["beside"]["case"], "unfused");
    assert!(row["beside"]["weft_over_it"]["wall"]["median"].as_f64() > Some(0.0), "{row:#}");
    assert!(row["weft"]["predicted_seconds"].as_f64() > Some(0.0), "{row:#}");
    let output = weft(&["bench", &file, "--unfused", "--rounds", "2"]);
    assert!(stdout(&output).contains("cost model") && stdout(&output).contains("× unfused"), "{}", stdout(&output));
}
