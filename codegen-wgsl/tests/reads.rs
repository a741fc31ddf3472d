//! Where the text of a kernel reads what it needs once.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use weft_codegen_wgsl::kernel::Kernel;
use weft_codegen_wgsl::wgsl::write;

/// The text of an entry.
fn entry(body: &str) -> String {
    let text = format!(
        "kernel @k(in %x: s32[8], inout %y: s32[8]) {{
            func @f(d0 in [0, 7]) -> (s32) {{ %0: s32 = extract %y[d0] return %0 }}
            entry groups [1] threads 8 {{ {body} }}
        }}"
    );
    let kernel = Kernel::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    assert!(kernel.verify().is_ok(), "{kernel}");
    let wgsl = write(&kernel).unwrap_or_else(|error| panic!("{error}"));
    let start = wgsl.find("fn main").unwrap_or_default();
    let lines = wgsl[start..].lines().skip(2).map(str::trim).take_while(|line| *line != "}");
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn no_read_is_moved_across_a_write() {
    let reads = ["%0: s32 = extract %y[d1]", "%0: s32 = call @f(d1)"];
    let read = ["y[lane]", "f(lane)"];
    let writes = [
        ("store %y[d1], s32 1", "y[lane] = 1i;"),
        ("barrier", "workgroupBarrier();"),
        ("if d1 in [0, 3] { store %y[d1], s32 1 }", "if lane <= 3u {\ny[lane] = 1i;\n}"),
        ("loop for s0 in [0, 2] { barrier }", "for (var s0 = 0u; s0 < 3u; s0++) {\nworkgroupBarrier();\n}"),
    ];
    for (statement, text) in reads.into_iter().zip(read) {
        // With nothing between it stands where it is used.
        let moved = entry(&format!("{statement} store %y[7 - d1], %0"));
        assert_eq!(moved, format!("y[7u - lane] = {text};"));
        for (write, written) in writes {
            let kept = entry(&format!("{statement} {write} store %y[7 - d1], %0"));
            let written = written.split_once("{\n").map_or(written, |(head, _)| head);
            assert!(kept.starts_with(&format!("let v = {text};\n{written}")), "{kept}");
        }
    }
}

#[test]
fn what_is_within_bounds_is_read_once() {
    let text = entry("%0: s32 = extract %x[d1] if bind rt0 in [0, 7] = %0 { store %y[rt0], s32 1 }");
    assert!(text.starts_with("let v = x[lane];\nif (v >= 0i) & (v <= 7i) {"), "{text}");
}

#[test]
fn a_read_stays_out_of_loops_and_branches() {
    let uses = ["if d1 in [0, 3] { store %y[d1], %0 }", "loop for s0 in [0, 2] { store %y[d1], %0 }"];
    for use_of in uses {
        let kept = entry(&format!("%0: s32 = extract %y[d1] {use_of}"));
        assert!(kept.starts_with("let v = y[lane];\n"), "{kept}");
    }
}
